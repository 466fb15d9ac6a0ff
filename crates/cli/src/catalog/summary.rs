//! The result of a run over a root as a line, with a hint.

use indicatif::{DecimalBytes, HumanCount};
use lanesum_catalog::{Class, Counts, Halt, Profile, Summary, Verb};

use super::commands::Commands;
use super::offline;
use super::times::moment;
use crate::counts::{counted, files};

/// Classes in the order of their importance.
pub const ORDER: [Class; 7] = [
    Class::Damaged,
    Class::Missing,
    Class::Unchecked,
    Class::Edited,
    Class::Moved,
    Class::New,
    Class::Ok,
];

/// Returns a run as a line: `update: 3 edited, 1 new; 12 files read, 4.10 MB`. `verb` names the
/// run, and `chosen` are the options that chose files.
pub fn words(verb: &str, it: &Summary, chosen: &str) -> String {
    if let Some(offline) = it.offline() {
        return format!("{verb}: offline ({}); not checked", offline::words(offline));
    }
    if let Some(Halt::TooManyEdits { edited, of }) = it.halt {
        return format!(
            "{verb}: incomplete, nothing was recorded: {} of {} were edited",
            HumanCount(edited),
            files(of)
        );
    }
    let (gaps, counts) = (gaps(it), counts(it).join(", "));
    let mut words = match (gaps.is_empty(), counts.is_empty()) {
        (true, true) if it.verb == Verb::Scrub && it.files == 0 => match chosen {
            " --bad" => format!("{verb}: no damaged, missing or unchecked files"),
            _ => format!("{verb}: nothing is due"),
        },
        (true, true) => format!("{verb}: no changes"),
        (true, false) => format!("{verb}: {counts}"),
        (false, true) => format!("{verb}: incomplete ({})", gaps.join(", ")),
        (false, false) => format!("{verb}: incomplete ({}): {counts}", gaps.join(", ")),
    };
    words += &match it.verb {
        Verb::Scan => "; contents not checked".to_owned(),
        _ => format!("; {} read, {}", files(it.files), DecimalBytes(it.bytes)),
    };
    if it.again > 0 {
        let they = if it.again == 1 { "it was" } else { "they were" };
        let their = if it.again == 1 { "its" } else { "their" };
        if it.files > 1 {
            words += &format!("; {} of them", HumanCount(it.again));
        }
        words += &format!(" again, because {they} written just before {their} last read");
    }
    let skipped = skipped(it);
    if !skipped.is_empty() {
        words += &format!("; skipped: {}", skipped.join(", "));
    }
    if it.clock_is_behind {
        words += "; the clock is behind an earlier run";
    }
    words
}

/// Returns the reasons why a run is incomplete.
fn gaps(it: &Summary) -> Vec<String> {
    let mut gaps = Vec::new();
    match it.halt {
        Some(Halt::Limit) => gaps.push("stopped at its limit".to_owned()),
        Some(Halt::Paused(since)) => gaps.push(format!("paused since {}", moment(since))),
        Some(Halt::Hours) => gaps.push("outside of its hours".to_owned()),
        Some(Halt::Stopped) => gaps.push("stopped".to_owned()),
        Some(Halt::MountsChanged) => {
            gaps.push("a file system was mounted or unmounted meanwhile".to_owned());
        }
        _ => {}
    }
    if !it.root.is_complete {
        gaps.push("no update has finished".to_owned());
    }
    if it.unknown > 0 {
        gaps.push(format!("{} in directories that cannot be read", files(it.unknown)));
    }
    if it.overdue > 0 {
        gaps.push(format!("{} overdue", HumanCount(it.overdue)));
    }
    gaps
}

/// Returns the numbers of files by class, and other findings.
fn counts(it: &Summary) -> Vec<String> {
    let mut words = Vec::new();
    if it.hardware_warnings > 0 {
        words.push(counted(it.hardware_warnings, "hardware warning", "hardware warnings"));
    }
    for class in ORDER {
        let count = count(it, class);
        let name = match class {
            Class::New if it.is_first => "recorded",
            class => class.name(),
        };
        if count > 0 {
            words.push(format!("{} {name}", HumanCount(count)));
        }
    }
    if it.verb == Verb::Scan && it.unread > 0 {
        words.push(format!("{} with the recorded size and time", HumanCount(it.unread)));
    }
    if it.left > 0 {
        words.push(format!("{} due and left for another day", HumanCount(it.left)));
    }
    words
}

/// Returns the number of files in a class: those that the run found, and those from earlier runs.
pub fn count(it: &Summary, class: Class) -> u64 {
    let of = |counts: &Counts| counts.get(&class).copied().unwrap_or(0);
    match class {
        Class::Damaged | Class::Missing | Class::Unchecked => of(&it.counts).max(of(&it.standing)),
        _ => of(&it.counts),
    }
}

fn skipped(it: &Summary) -> Vec<String> {
    let mounts = it.skipped.mounts.len() as u64;
    let counts = [
        (it.skipped.links, "symbolic link", "symbolic links"),
        (mounts, "mounted file system", "mounted file systems"),
        (
            it.skipped.special,
            "special file (pipe, socket or device)",
            "special files (pipes, sockets or devices)",
        ),
        (it.skipped.excluded, "excluded name", "excluded names"),
        (
            it.skipped.deleted,
            "record of an excluded file removed",
            "records of excluded files removed",
        ),
    ];
    let some = counts.into_iter().filter(|(count, ..)| *count > 0);
    some.map(|(count, one, many)| counted(count, one, many)).collect()
}

/// Returns whether there are edited, moved or new files, or deleted ones in a working root.
pub fn has_changes(it: &Summary) -> bool {
    let is_working = it.root.settings.profile == Profile::Working;
    let is_change = |class: Class| match class {
        Class::Edited | Class::Moved | Class::New => true,
        Class::Missing => is_working,
        _ => false,
    };
    let some =
        |counts: &Counts| counts.iter().any(|(class, count)| *count > 0 && is_change(*class));
    !it.is_first && (some(&it.counts) || some(&it.standing))
}

/// Returns the hint, if there is something to do. `chosen` are the options that chose files.
pub fn hint(it: &Summary, chosen: &str, commands: Commands<'_>) -> Option<String> {
    let root = &it.root;
    let command = |verb: &str| commands.about(verb, &root.path);
    if let Some(offline) = it.offline() {
        return Some(offline::hint(root, offline.reason, commands));
    }
    match it.halt {
        Some(Halt::TooManyEdits { .. }) => {
            return Some(format!("if the edits are right: {}", command("update --force")));
        }
        Some(Halt::Paused(_)) => return Some(command("resume")),
        Some(Halt::Hours) => return Some(command(&format!("scrub --now{chosen}"))),
        Some(Halt::MountsChanged) => {
            return Some(command(&format!("{}{chosen}", it.verb.name())));
        }
        _ => {}
    }
    if count(it, Class::Damaged) > 0 {
        return Some(format!("what to do about damaged files: {}", command("report")));
    }
    if count(it, Class::Missing) > 0 && root.settings.profile == Profile::Archive {
        let add = command("add --profile working");
        return Some(format!("if deletions are normal in this directory: {add}"));
    }
    if !root.is_complete {
        return Some(command("update"));
    }
    if count(it, Class::Unchecked) + it.unknown > 0 {
        return Some(format!("what to do about unchecked files: {}", command("status")));
    }
    if it.left + it.overdue > 0 {
        return Some(format!("to read all files now: {}", command("verify")));
    }
    None
}
