//! `lanesum bag create`.

use std::os::unix::ffi::OsStrExt as _;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use anyhow::Context as _;
use indicatif::DecimalBytes;
use lanesum_bag::{BagError, CreateOptions, Created, Creation, Finding, Prepared};

use super::{fail, software, tell};
use crate::args::Create;
use crate::console::{self, Console, fail_to_write, locale_of_process};
use crate::counts::files;
use crate::hints;
use crate::progress::Display;
use crate::signals::{self, Interruptions};

/// Creates a bag.
///
/// # Errors
/// The command cannot start.
pub fn run(args: &Create) -> anyhow::Result<ExitCode> {
    let console = Console::new(b"lanesum", locale_of_process()).context("standard output")?;
    let console = Arc::new(Mutex::new(console));
    let interruptions = signals::catch().handle(&console, None);
    Ok(match create(args, &console, &interruptions) {
        Ok(code) => code,
        Err(error) => fail(&args.folder, &error, &mut console::lock(&console)),
    })
}

fn create(
    args: &Create,
    console: &Mutex<Console>,
    interruptions: &Interruptions,
) -> Result<ExitCode, BagError> {
    let mut options = CreateOptions::default();
    options.algorithms = args.algorithm.iter().copied().collect();
    options.info.clone_from(&args.info);
    let software = software();
    if !options.info.iter().any(|it| it.label().eq_ignore_ascii_case(software.label())) {
        options.info.push(software);
    }
    let folder = args.folder.as_os_str().as_bytes();
    let mut creation = match Creation::prepare(&args.folder, &options)? {
        Prepared::New(creation) => creation,
        Prepared::Finished(beside) => {
            let words =
                "now a bag: finished an interrupted run, with the -a and --info of that run";
            let mut console = console::lock(console);
            let code = end(args, words, &beside, &mut console);
            console.hint(&format!("lanesum bag validate {}", hints::value(&args.folder)));
            return Ok(code);
        }
        _ => unreachable!("a bag is begun, or was before"),
    };
    {
        let mut console = console::lock(console);
        if creation.was_taken_back() {
            let words = "undid an interrupted run";
            console.about(folder, words);
        }
        for warning in creation.warnings() {
            if let Err(error) = tell(&args.folder, warning, &mut console) {
                return Ok(fail_to_write(&error, &mut console));
            }
        }
    }
    let to_count = creation.files();
    let display = Display::start_unless(false, args.run.progress, || Some(move || to_count));
    console::lock(console).set_bar(display.as_ref().map(|display| display.bar.clone()));
    let read = creation.read(&args.run.engine(display.as_ref()));
    drop(display);
    console::lock(console).set_bar(None);
    read?;
    // This takes a moment, and an interruption can wait until the result is printed.
    let mut console = console::lock(console);
    let _held = interruptions.hold();
    Ok(match creation.finish() {
        Ok(Created { payload, beside, .. }) => {
            let (count, bytes) = (files(payload.files), DecimalBytes(payload.bytes));
            end(args, &format!("now a bag: {count}, {bytes}"), &beside, &mut console)
        }
        Err(error) => fail(&args.folder, &error, &mut console),
    })
}

/// Prints that the directory is a bag, and which files are not in it.
fn end(args: &Create, words: &str, beside: &[Finding], console: &mut Console) -> ExitCode {
    for warning in beside {
        if let Err(error) = tell(&args.folder, warning, console) {
            return fail_to_write(&error, console);
        }
    }
    console.about(args.folder.as_os_str().as_bytes(), words);
    if beside.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
