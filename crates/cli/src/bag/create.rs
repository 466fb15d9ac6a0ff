//! `lanesum bag create`.

use std::env;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use anyhow::Context as _;
use indicatif::{DecimalBytes, HumanCount};
use lanesum_bag::{BagError, CreateOptions, Created, Creation, Finding, Prepared};

use super::{fail, software, tell};
use crate::args::Create;
use crate::console::{self, Console, fail_to_write, locale_of_process};
use crate::counts::files;
use crate::hints::{self, Problem};
use crate::progress::Display;
use crate::signals::{self, Interruptions};

/// Creates a bag.
///
/// # Errors
/// The command cannot start.
pub fn run(args: &Create) -> anyhow::Result<ExitCode> {
    let mut console = Console::new(b"lanesum", locale_of_process()).context("standard output")?;
    if let Some(problem) = of_home(&args.folder) {
        problem.print(args.folder.as_os_str().as_bytes(), &mut console);
        return Ok(ExitCode::FAILURE);
    }
    let console = Arc::new(Mutex::new(console));
    let interruptions = signals::catch().handle(&console, None);
    Ok(match create(args, &console, &interruptions) {
        Ok(code) => code,
        Err(error) => fail(&args.folder, &error, &mut console::lock(&console)),
    })
}

/// Returns the problem of a directory that is or contains the home directory of the user. Programs
/// would not find their files in a bag.
fn of_home(folder: &Path) -> Option<Problem> {
    let home = env::home_dir()?.canonicalize().ok()?;
    let folder = folder.canonicalize().ok()?;
    let is_root = folder.parent().is_none();
    if is_root || !home.starts_with(&folder) {
        return None;
    }
    let is = if home == folder { "is" } else { "contains" };
    let hint = "move the files for the bag into a directory of their own";
    Some(Problem::new(format!("{is} your home directory, which cannot be a bag"), hint))
}

/// Prints that the directory has hidden files, if it has any.
fn has_hidden(folder: &Path, creation: &Creation, console: &mut Console) -> bool {
    let mut hidden = creation.hidden();
    let Some(first) = hidden.next() else { return false };
    let first = console.shown(OsStr::from_bytes(first));
    let words = match hidden.count() as u64 {
        0 => format!("has a hidden file: {first}"),
        others => format!("has {} hidden files, as {first}", HumanCount(others + 1)),
    };
    let hint = "move hidden files elsewhere, or include them: --include-hidden";
    Problem::new(words, hint).print(folder.as_os_str().as_bytes(), console);
    true
}

/// Returns the command that turns a bag back into the directory that it was.
fn undo(folder: &Path) -> String {
    let left = ".lanesum-undo";
    format!(
        "to undo: (cd {} && rm bagit.txt bag-info.txt manifest-*.txt tagmanifest-*.txt && mv data \
         {left} && find {left} -mindepth 1 -maxdepth 1 -exec mv {{}} . \\; && rmdir {left})",
        hints::value(folder)
    )
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
        if !args.include_hidden && has_hidden(&args.folder, &creation, &mut console) {
            return Ok(ExitCode::FAILURE);
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
            let code = end(args, &format!("now a bag: {count}, {bytes}"), &beside, &mut console);
            console.hint(&undo(&args.folder));
            code
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
