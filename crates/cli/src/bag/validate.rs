//! `lanesum bag validate`.

use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use anyhow::Context as _;
use indicatif::{DecimalBytes, HumanCount};
use lanesum_bag::{Finding, Oxum, QuickLook, Report, Validation};
use lanesum_checksum::engine::Options;

use super::machine::{Form, Printer};
use super::tell;
use crate::args::Validate;
use crate::console::{self, Console, fail_to_write, locale_of_process};
use crate::counts::{bytes_in, files};
use crate::progress::Display;
use crate::signals;

/// Validates bags.
///
/// # Errors
/// The command cannot start.
pub fn run(args: &Validate) -> anyhow::Result<ExitCode> {
    let console = Console::new(b"lanesum", locale_of_process()).context("standard output")?;
    let console = Arc::new(Mutex::new(console));
    signals::catch().handle(&console, None);
    let form = Form::of(args);
    if let Some(Err(error)) = form.map(|form| form.begin(&mut console::lock(&console))) {
        return Ok(fail_to_write(&error, &mut console::lock(&console)));
    }
    let mut all_well = true;
    for folder in &args.folders {
        let (quiet, fast) = (args.quiet, args.fast);
        let printer = form.map(|form| Printer { form, folder, quiet, fast });
        let done = match &printer {
            Some(printer) if fast => print_quick_look(printer, &console),
            Some(printer) => print_validation(args, printer, &console),
            None if fast => look_quickly(args, folder, &console),
            None => validate(args, folder, &console),
        };
        let mut console = console::lock(&console);
        let done = match done {
            Err(Failure::Read(error)) => {
                tell_unreadable(folder, &error, printer, &mut console).map(|()| false)
            }
            Err(Failure::Write(error)) => Err(error),
            Ok(is_well) => Ok(is_well),
        };
        match done {
            Ok(is_well) => all_well &= is_well,
            Err(error) => return Ok(fail_to_write(&error, &mut console)),
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

/// Prints that a bag cannot be read.
fn tell_unreadable(
    folder: &Path,
    error: &io::Error,
    printer: Option<Printer<'_>>,
    console: &mut Console,
) -> io::Result<()> {
    let why = lanesum_checksum::error::message(error);
    if printer.is_none_or(|printer| printer.form == Form::Csv) {
        console.about(folder.as_os_str().as_bytes(), &why);
    }
    match printer {
        Some(printer) => printer.unreadable(&why, console),
        None => print(folder, "NOT VALID", console),
    }
}

/// Prints the results of a bag for programs. Returns whether it is valid.
fn print_validation(
    args: &Validate,
    printer: &Printer<'_>,
    console: &Mutex<Console>,
) -> Result<bool, Failure> {
    let begin = Instant::now();
    let validation = Validation::prepare(printer.folder).map_err(Failure::Read)?;
    let version = validation.version();
    let mut written = Ok(());
    let report = with_bar(args, validation, console, |validation, options| {
        validation.read_each(options, |file| {
            if written.is_ok() {
                written = printer.file(file, &mut console::lock(console));
            }
        })
    });
    let mut console = console::lock(console);
    written.and_then(|()| printer.end(&report, version, &mut console)).map_err(Failure::Write)?;
    let name = printer.folder.as_os_str().as_bytes();
    if printer.form == Form::Csv && !(args.quiet && report.is_valid()) {
        console.about(name, &verdict(&report));
    }
    if printer.form == Form::Csv && !args.quiet && version.is_some() {
        console.about(name, &amount_read(&report, begin));
    }
    Ok(report.is_valid())
}

/// Prints the result of `--fast` for programs. Returns whether the bag agrees.
fn print_quick_look(printer: &Printer<'_>, console: &Mutex<Console>) -> Result<bool, Failure> {
    let look = QuickLook::at(printer.folder).map_err(Failure::Read)?;
    printer.quick_look(&look, &mut console::lock(console)).map_err(Failure::Write)?;
    Ok(look.agrees())
}

/// Reads the files of a bag, with a progress bar if one is to be shown.
fn with_bar(
    args: &Validate,
    validation: Validation,
    console: &Mutex<Console>,
    read: impl FnOnce(Validation, &Options) -> Report,
) -> Report {
    let to_count = validation.files();
    let display = Display::start_unless(false, args.run.progress, || Some(move || to_count));
    console::lock(console).set_bar(display.as_ref().map(|display| display.bar.clone()));
    let report = read(validation, &args.run.engine(display.as_ref()));
    drop(display);
    console::lock(console).set_bar(None);
    report
}

/// With `--quiet`, only errors are printed, and no warnings.
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
        // A user may wait for the rest.
        console.flush().map_err(Failure::Write)?;
    }
    let is_bag = validation.version().is_some();
    let mut written = Ok(());
    let report = with_bar(args, validation, console, |validation, options| {
        validation.read(options, |finding| {
            if written.is_ok() && is_told(args, finding) {
                written = tell(folder, finding, &mut console::lock(console));
            }
        })
    });
    let mut console = console::lock(console);
    written.map_err(Failure::Write)?;

    if !(args.quiet && report.is_valid()) {
        print(folder, &verdict(&report), &mut console).map_err(Failure::Write)?;
    }
    if !args.quiet && is_bag {
        console.about(folder.as_os_str().as_bytes(), &amount_read(&report, begin));
    }
    Ok(report.is_valid())
}

fn verdict(report: &Report) -> String {
    match (report.is_valid(), report.errors) {
        (true, _) => "valid".to_owned(),
        (false, 1) => "NOT VALID: 1 error".to_owned(),
        (false, errors) => format!("NOT VALID: {} errors", HumanCount(errors)),
    }
}

/// Returns how much was read since a moment, and how fast.
fn amount_read(report: &Report, begin: Instant) -> String {
    format!("{}, {}", files(report.files), bytes_in(report.bytes, begin.elapsed()))
}

/// Compares the size of the payload with Payload-Oxum. Returns whether they agree.
fn look_quickly(args: &Validate, folder: &Path, console: &Mutex<Console>) -> Result<bool, Failure> {
    let look = QuickLook::at(folder).map_err(Failure::Read)?;
    let mut console = console::lock(console);
    for finding in look.findings.iter().filter(|it| is_told(args, it)) {
        tell(folder, finding, &mut console).map_err(Failure::Write)?;
    }
    let Oxum { bytes, files: count, .. } = look.payload;
    let found = format!("{}, {}", files(count), DecimalBytes(bytes));
    let verdict = if look.agrees() {
        format!("size and count match Payload-Oxum ({found}); contents not checked")
    } else {
        "FAILED; only sizes were compared".to_owned()
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
