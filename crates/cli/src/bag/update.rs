//! `lanesum bag update`.

use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use anyhow::Context as _;
use indicatif::{DecimalBytes, HumanCount};
use lanesum_bag::{BagError, Change, TagChange, UpdateOptions};

use super::{fail, path, tell};
use crate::args::Update;
use crate::console::{self, Console, fail_to_write, locale_of_process};
use crate::counts::files;
use crate::progress::Display;
use crate::signals::{self, Interruptions};

/// Updates a bag.
///
/// # Errors
/// The command cannot start.
pub fn run(args: &Update) -> anyhow::Result<ExitCode> {
    let console = Console::new(b"lanesum", locale_of_process()).context("standard output")?;
    let console = Arc::new(Mutex::new(console));
    let interruptions = signals::catch().handle(&console, None);
    Ok(match update(args, &console, &interruptions) {
        Ok(code) => code,
        Err(error) => fail(&args.folder, &error, &mut console::lock(&console)),
    })
}

fn update(
    args: &Update,
    console: &Mutex<Console>,
    interruptions: &Interruptions,
) -> Result<ExitCode, BagError> {
    let mut options = UpdateOptions::default();
    let algorithms = args.algorithm.iter().copied();
    options.algorithms = (!args.algorithm.is_empty()).then(|| algorithms.collect());
    options.info.clone_from(&args.info);
    options.accept = args.accept;
    let folder = args.folder.as_os_str().as_bytes();
    let mut update = lanesum_bag::Update::prepare(&args.folder, &options)?;
    {
        let mut console = console::lock(console);
        if update.was_recovered() {
            let words = "finished or undid an interrupted run";
            console.about(folder, words);
        }
        for warning in update.warnings() {
            if let Err(error) = tell(&args.folder, warning, &mut console) {
                return Ok(fail_to_write(&error, &mut console));
            }
        }
    }
    let to_count = update.files();
    let display = Display::start_unless(false, args.run.progress, || Some(move || to_count));
    console::lock(console).set_bar(display.as_ref().map(|display| display.bar.clone()));
    let read = update.read(&args.run.engine(display.as_ref()));
    drop(display);
    console::lock(console).set_bar(None);
    read?;
    let mut console = console::lock(console);
    // Changes of the payload are printed before they are recorded, and those of tag files
    // afterwards.
    if let Err(error) = print_differences(args, &update, &mut console) {
        return Ok(fail_to_write(&error, &mut console));
    }
    let taken = taken_up(&update);
    let tag_changes = update.tag_changes();
    // This takes a moment, and an interruption can wait until the result is printed.
    let _held = interruptions.hold();
    Ok(match update.finish() {
        Ok(payload) => {
            if let Err(error) = print_tag_changes(args, &tag_changes, &mut console) {
                return Ok(fail_to_write(&error, &mut console));
            }
            let (count, bytes) = (files(payload.files), DecimalBytes(payload.bytes));
            console.about(folder, &format!("{taken}; payload: {count}, {bytes}"));
            ExitCode::SUCCESS
        }
        Err(error) => fail(&args.folder, &error, &mut console),
    })
}

/// Returns a short summary of the changes: `recorded 1 new, 2 missing`.
fn taken_up(update: &lanesum_bag::Update) -> String {
    let kinds: [(&str, &[Change]); 4] = [
        ("new", &[Change::New]),
        ("changed", &[Change::Changed, Change::Doubtful, Change::Untrusted]),
        ("moved", &[Change::Moved]),
        ("missing", &[Change::Missing, Change::Lost]),
    ];
    let counted = kinds.into_iter().filter_map(|(word, kind)| {
        let all = update.differences().iter();
        let count = all.filter(|it| kind.contains(&it.change)).count() as u64;
        (count > 0).then(|| format!("{} {word}", HumanCount(count)))
    });
    let counted: Vec<_> = counted.collect();
    if counted.is_empty() {
        "no file changed".to_owned()
    } else {
        format!("recorded {}", counted.join(", "))
    }
}

/// Prints a change of the payload.
fn print_differences(
    args: &Update,
    update: &lanesum_bag::Update,
    console: &mut Console,
) -> io::Result<()> {
    for difference in update.differences() {
        let mut line = Vec::new();
        console.quote(&mut line, &path(&args.folder, &difference.name));
        line.extend_from_slice(b": ");
        line.extend_from_slice(match difference.change {
            Change::New => b"new",
            Change::Missing | Change::Lost => b"missing",
            Change::Changed => b"changed",
            Change::Doubtful => b"changed, but its time is not newer than the manifest (damaged?)",
            Change::Untrusted => b"its digest is not in the tag manifests (changed?)",
            _ => b"moved",
        });
        if let Some(from) = &difference.from {
            line.extend_from_slice(b" from ");
            console.quote(&mut line, &path(&args.folder, from));
        }
        line.push(b'\n');
        console.line(&line)?;
    }
    console.flush()
}

/// Prints the changes of the tag files.
fn print_tag_changes(
    args: &Update,
    changes: &[TagChange],
    console: &mut Console,
) -> io::Result<()> {
    for change in changes {
        let mut line = Vec::new();
        console.quote(&mut line, &path(&args.folder, change.name().as_bytes()));
        line.extend_from_slice(format!(": {change}\n").as_bytes());
        console.line(&line)?;
    }
    console.flush()
}
