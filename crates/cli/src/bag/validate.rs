//! `lanesum bag validate`.

use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use anyhow::Context as _;
use indicatif::{DecimalBytes, HumanCount};
use lanesum_bag::{Finding, Oxum, QuickLook, Validation};

use super::tell;
use crate::args::Validate;
use crate::console::{self, Console, fail_to_write, locale_of_process};
use crate::counts::{bytes_in, files};
use crate::progress::Display;
use crate::signals;

/// Validates the bags.
///
/// # Errors
/// What keeps it from beginning.
pub fn run(args: &Validate) -> anyhow::Result<ExitCode> {
    let console = Console::new(b"lanesum", locale_of_process()).context("standard output")?;
    let console = Arc::new(Mutex::new(console));
    signals::catch().handle(&console, None);
    let mut all_well = true;
    for folder in &args.folders {
        let done = if args.fast {
            look_quickly(args, folder, &console)
        } else {
            validate(args, folder, &console)
        };
        match done {
            Ok(is_well) => all_well &= is_well,
            Err(Failure::Read(error)) => {
                all_well = false;
                let why = lanesum_checksum::error::message(&error);
                let mut console = console::lock(&console);
                console.about(folder.as_os_str().as_bytes(), &why);
                if let Err(error) = print(folder, "NOT VALID", &mut console) {
                    return Ok(fail_to_write(&error, &mut console));
                }
            }
            Err(Failure::Write(error)) => {
                return Ok(fail_to_write(&error, &mut console::lock(&console)));
            }
        }
    }
    let mut console = console::lock(&console);
    if let Err(error) = console.flush() {
        return Ok(fail_to_write(&error, &mut console));
    }
    Ok(if all_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

enum Failure {
    Read(io::Error),
    Write(io::Error),
}

/// With `--quiet` what makes a bag no valid one, and no warning.
fn is_told(args: &Validate, finding: &Finding) -> bool {
    !args.quiet || finding.is_error()
}

/// Whether the bag is valid.
fn validate(args: &Validate, folder: &Path, console: &Mutex<Console>) -> Result<bool, Failure> {
    let begin = Instant::now();
    let validation = Validation::prepare(folder).map_err(Failure::Read)?;
    {
        let mut console = console::lock(console);
        for finding in validation.findings().iter().filter(|it| is_told(args, it)) {
            tell(folder, finding, &mut console).map_err(Failure::Write)?;
        }
        // Somebody may have to wait for the rest.
        console.flush().map_err(Failure::Write)?;
    }
    let is_bag = validation.version().is_some();
    let to_count = validation.files();
    let display = Display::start_unless(false, args.run.progress, || Some(move || to_count));
    console::lock(console).set_bar(display.as_ref().map(|display| display.bar.clone()));
    let mut written = Ok(());
    let report = validation.read(&args.run.engine(display.as_ref()), |finding| {
        if written.is_ok() && is_told(args, finding) {
            written = tell(folder, finding, &mut console::lock(console));
        }
    });
    drop(display);
    let mut console = console::lock(console);
    console.set_bar(None);
    written.map_err(Failure::Write)?;

    let verdict = match (report.is_valid(), report.errors) {
        (true, _) => "valid".to_owned(),
        (false, 1) => "NOT VALID: 1 error".to_owned(),
        (false, errors) => format!("NOT VALID: {} errors", HumanCount(errors)),
    };
    if !(args.quiet && report.is_valid()) {
        print(folder, &verdict, &mut console).map_err(Failure::Write)?;
    }
    if !args.quiet && is_bag {
        let read = format!("{}, {}", files(report.files), bytes_in(report.bytes, begin.elapsed()));
        console.about(folder.as_os_str().as_bytes(), &read);
    }
    Ok(report.is_valid())
}

/// Whether the bag's payload is as much as it says.
fn look_quickly(args: &Validate, folder: &Path, console: &Mutex<Console>) -> Result<bool, Failure> {
    let look = QuickLook::at(folder).map_err(Failure::Read)?;
    let mut console = console::lock(console);
    for finding in look.findings.iter().filter(|it| is_told(args, it)) {
        tell(folder, finding, &mut console).map_err(Failure::Write)?;
    }
    let Oxum { bytes, files: count, .. } = look.payload;
    let found = format!("{}, {}", files(count), DecimalBytes(bytes));
    let verdict = if look.agrees() {
        format!("Payload-Oxum agrees ({found}); no content was looked at, so this is no validation")
    } else {
        "FAILED, by a look at sizes that is no validation".to_owned()
    };
    if !(args.quiet && look.agrees()) {
        print(folder, &verdict, &mut console).map_err(Failure::Write)?;
    }
    Ok(look.agrees())
}

fn print(folder: &Path, verdict: &str, console: &mut Console) -> io::Result<()> {
    let mut line = Vec::new();
    console.quote(&mut line, folder.as_os_str().as_bytes());
    line.extend_from_slice(format!(": {verdict}\n").as_bytes());
    console.line(&line)
}
