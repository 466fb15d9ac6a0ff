//! How findings and summaries are printed: as text, and as JSON.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use indicatif::{DecimalBytes, HumanCount};
use lanesum_catalog::{Class, Finding, Halt, Severity, Status, Summary, Unseen};
use serde_json::{Map, Value, json};

use super::{command, command_about, moment, name};
use crate::args::Where;
use crate::console::Console;
use crate::counts::files;

/// The version of the form of JSON lines; a key that is added does not change it.
pub const SCHEMA: u32 = 1;

/// Paths that are told one by one of those that could not be looked at.
const UNSEEN: usize = 5;

/// Prints what is found in a root.
pub struct Printer<'run> {
    pub root: &'run Path,
    pub json: bool,
    /// Whether what is all well is not worth a word.
    pub quiet: bool,
    pub place: &'run Where,
}

impl Printer<'_> {
    /// Prints a finding.
    ///
    /// # Errors
    /// Standard output's.
    pub fn finding(&self, finding: &Finding, console: &mut Console) -> io::Result<()> {
        if self.json {
            let mut object = finding_object(self.root, finding);
            object.insert("event".to_owned(), "finding".into());
            return console.line(&line(object));
        }
        let mut text = finding.class.name().as_bytes().to_vec();
        if was_emptied(finding) {
            text.splice(..0, *b"was ");
        }
        text.push(b' ');
        if let Some(other) = &finding.other {
            console.quote(&mut text, &place(self.root, other, finding));
            text.extend_from_slice(b" -> ");
        }
        console.quote(&mut text, &place(self.root, &finding.path, finding));
        if finding.files > 1 {
            text.extend_from_slice(format!(" ({})", files(finding.files)).as_bytes());
        }
        if finding.class == Class::Touched {
            text.extend_from_slice(b" (its content is as cataloged again)");
        }
        if let Some(why) = finding.why() {
            text.extend_from_slice(format!(": {why}").as_bytes());
        }
        text.push(b'\n');
        console.line(&text)
    }

    /// Prints what came of a run.
    ///
    /// # Errors
    /// Standard output's.
    pub fn summary(&self, summary: &Summary, console: &mut Console) -> io::Result<()> {
        let is_well = summary.severity() == Severity::AsCataloged;
        if self.quiet && is_well && summary.is_all_done() && !summary.clock_is_behind {
            return Ok(());
        }
        if self.json {
            console.line(&line(summary_object(summary)))?;
        }
        console.flush()?;
        for mount in &summary.mounts {
            let path = whole(self.root, mount);
            let mut words = "something is mounted there, which is no part of the folder".to_owned();
            let there = Path::new(OsStr::from_bytes(&path));
            if there.is_dir() {
                let add = command_about(self.place, "add", there, console);
                words += &format!("; `{add}` takes it up by itself");
            }
            console.about(&path, &words);
        }
        if summary.clock_is_behind {
            let words =
                "the clock is behind an earlier run: what was checked later than now is due";
            console.about(name(self.root), words);
        }
        if !self.json {
            console.about(name(self.root), &words(summary, self.place, console));
        }
        Ok(())
    }
}

/// Whether a file was emptied, and has content again that is not accepted.
fn was_emptied(finding: &Finding) -> bool {
    let after = finding.after.as_deref().filter(|_| finding.class == Class::Emptied);
    after.is_some_and(|after| !after.starts_with("size=0 "))
}

/// A run in a line. It says "complete" or "NOT complete", and never that there are no errors.
fn words(summary: &Summary, place: &Where, console: &Console) -> String {
    let verb = summary.verb.name();
    let say = |verb: &str| command(place, verb, console);
    if let Some(why) = &summary.suspended {
        let back = way_back(&summary.root, why, say, console);
        return format!("{verb} NOT done: suspended, and nothing was changed; {back}");
    }
    let counted = summary.counts.iter().filter(|(_, count)| **count > 0);
    let mut parts: Vec<_> =
        counted.map(|(class, count)| format!("{} {class}", HumanCount(*count))).collect();
    if summary.same > 0 {
        parts.push(format!("{} looked as they were", HumanCount(summary.same)));
    }
    for (count, what) in [
        (summary.unread, "not read"),
        (summary.unknown, "could not be looked at"),
        (summary.left, "more are due, which the day's budget leaves for another day"),
        (summary.late, "not read for longer than they may be"),
        (summary.not_well(), "known not to be well"),
    ] {
        if count > 0 {
            parts.push(format!("{} {what}", HumanCount(count)));
        }
    }
    let changed = match summary.may_be_rot {
        0 => format!("changed and not taken up (`{}` does)", say("update")),
        some => format!(
            "changed and not taken up, {} of them perhaps rotted (`{}` tells which)",
            HumanCount(some),
            say("report --bad")
        ),
    };
    for (status, what) in [
        (Status::Changed, changed),
        (Status::Busy, format!("busy when to be read (`{}` reads it again)", say("audit"))),
        (Status::Hidden, "hidden by what is mounted there, or was".to_owned()),
    ] {
        if let Some(count) = summary.known.get(&status) {
            parts.push(format!("{} known to be {what}", HumanCount(*count)));
        }
    }
    if !summary.unseen.is_empty() {
        let unseen = unseen(&summary.unseen, console);
        let audit = say("audit");
        parts.push(format!("not looked at: {unseen} (`{audit}` looks again)"));
    }
    parts.extend(emptiness(summary, say));
    if !summary.is_taken_up {
        parts.push(format!(
            "not all files are known, since no add or update came to its end (`{}` does it)",
            say("update")
        ));
    }
    let parts = match parts.is_empty() {
        true if summary.is_all_done() => "nothing to do".to_owned(),
        true if summary.bytes > 0 => "no file was read to its end".to_owned(),
        true => "nothing was read".to_owned(),
        false => parts.join(", "),
    };
    let complete = match summary.halt {
        _ if summary.is_all_done() => "complete".to_owned(),
        Some(Halt::Paused(since)) => {
            format!("NOT complete, paused since {} (`{}` goes on)", moment(since), say("resume"))
        }
        Some(Halt::Closed) if summary.bytes > 0 => {
            "NOT complete, its hours are over (--now reads all the same)".to_owned()
        }
        Some(Halt::Closed) => {
            "NOT complete, it is outside of its hours (--now reads all the same)".to_owned()
        }
        Some(Halt::More) => "goes on".to_owned(),
        None | Some(Halt::Limit) if !summary.is_complete => {
            "NOT complete, it stopped at its limit".to_owned()
        }
        _ => "NOT complete".to_owned(),
    };
    let read = format!("{} read, {}", files(summary.files), DecimalBytes(summary.bytes));
    format!("{verb} {complete}: {parts}; {read}")
}

/// What is said where no file of a folder is cataloged.
fn emptiness(summary: &Summary, say: impl Fn(&str) -> String) -> Option<String> {
    let counted = |class| summary.counts.get(&class).is_some_and(|count| *count > 0);
    if !summary.is_empty {
        return None;
    }
    if counted(Class::New) {
        let update = say("update");
        return Some(format!("none of its files is cataloged yet (`{update}` takes them up)"));
    }
    let is_seen = summary.unseen.is_empty() && summary.is_complete && summary.is_taken_up;
    if is_seen && !counted(Class::Unreadable) && !counted(Class::Busy) {
        let words = "nothing is cataloged: no regular file is in it; is its disk mounted?";
        return Some(words.to_owned());
    }
    Some("nothing of it is cataloged".to_owned())
}

/// The first of what could not be looked at, each with its reason.
pub fn unseen(unseen: &[Unseen], console: &Console) -> String {
    let one = |it: &Unseen| format!("{} ({})", console.shown(&it.path), it.why);
    let words: Vec<_> = unseen.iter().take(UNSEEN).map(one).collect();
    let words = words.join(", ");
    match unseen.len().saturating_sub(UNSEEN) {
        0 => words,
        more => format!("{words} and {} more", HumanCount(more as u64)),
    }
}

/// The same as objects, all of them.
pub fn unseen_objects(unseen: &[Unseen]) -> Value {
    let object = |it: &Unseen| {
        let mut object = Map::new();
        insert_path(&mut object, "path", name(&it.path));
        object.insert("why".to_owned(), it.why.as_str().into());
        Value::Object(object)
    };
    unseen.iter().map(object).collect()
}

/// What to do about a folder that is suspended: as a rule its disk is not mounted.
pub fn way_back(root: &Path, why: &str, say: impl Fn(&str) -> String, console: &Console) -> String {
    let (verb, when) = if why.starts_with("another volume") {
        ("accept", "if its files are on this one from now on")
    } else if why == "nothing is in it" || why.ends_with(" % of them") {
        ("update --max-gone 100", "if they are to be gone")
    } else {
        (
            "forget",
            "if it lies elsewhere now, `lanesum help catalog` tells how to bring there what is known of it; if it is gone for good",
        )
    };
    let (command, root) = (say(verb), console.shown(root));
    let mut words = format!("mount or put back what belongs there; {when}: `{command} {root}`");
    if verb.starts_with("update") {
        let forget = say("forget --missing");
        words += &format!(", then `{forget} {root}`: until then each is told as gone");
    }
    words
}

/// The path of something below a root.
pub fn whole(root: &Path, below: &[u8]) -> Vec<u8> {
    let mut path = name(root).to_vec();
    if !below.is_empty() {
        // Of a root that is forgotten only the rest is known.
        if !path.is_empty() && !path.ends_with(b"/") {
            path.push(b'/');
        }
        path.extend_from_slice(below);
    }
    path
}

/// The path of what a finding is about: that of a folder, the root as well, ends in a slash.
pub fn place(root: &Path, below: &[u8], finding: &Finding) -> Vec<u8> {
    let mut path = whole(root, below);
    if finding.files > 1 && finding.class == Class::Moved && !path.ends_with(b"/") {
        path.push(b'/');
    }
    path
}

/// A path under its key, or in base64 under another where it is no UTF-8.
pub fn insert_path(object: &mut Map<String, Value>, key: &str, path: &[u8]) {
    match str::from_utf8(path) {
        Ok(path) => object.insert(key.to_owned(), path.into()),
        Err(_) => object.insert(format!("{key}_base64"), BASE64.encode(path).into()),
    };
}

/// A finding as an object.
pub fn finding_object(root: &Path, finding: &Finding) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("schema".to_owned(), SCHEMA.into());
    object.insert("class".to_owned(), finding.class.name().into());
    insert_path(&mut object, "path", &whole(root, &finding.path));
    if let Some(other) = &finding.other {
        insert_path(&mut object, "other", &whole(root, other));
    }
    object.insert("files".to_owned(), finding.files.into());
    for (key, words) in [("before", &finding.before), ("after", &finding.after)] {
        if let Some(words) = words {
            object.insert(key.to_owned(), words.as_str().into());
        }
    }
    // Where it stands in place of what is there, it is told already.
    let is_told = |why: &&str| finding.after.as_deref() == Some(*why);
    if let Some(why) = finding.why().filter(|why| !is_told(why)) {
        object.insert("why".to_owned(), why.into());
    }
    object
}

fn summary_object(summary: &Summary) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("schema".to_owned(), SCHEMA.into());
    object.insert("event".to_owned(), "summary".into());
    insert_path(&mut object, "root", name(&summary.root));
    let counts: Map<String, Value> = summary
        .counts
        .iter()
        .map(|(class, count)| (class.name().to_owned(), (*count).into()))
        .collect();
    let known: Map<String, Value> = summary
        .known
        .iter()
        .map(|(status, count)| (status.name().to_owned(), (*count).into()))
        .collect();
    let severity = match summary.severity() {
        Severity::AsCataloged => "as cataloged",
        Severity::Differences => "differences",
        Severity::NotAllDone => "not all done",
        Severity::Damage => "damage",
    };
    for (key, value) in [
        ("verb", json!(summary.verb.name())),
        ("severity", json!(severity)),
        ("complete", json!(summary.is_all_done())),
        ("empty", json!(summary.is_empty)),
        ("taken_up", json!(summary.is_taken_up)),
        ("suspended", json!(summary.suspended)),
        ("counts", Value::Object(counts)),
        ("same", json!(summary.same)),
        ("files_read", json!(summary.files)),
        ("bytes_read", json!(summary.bytes)),
        ("unread", json!(summary.unread)),
        ("unknown", json!(summary.unknown)),
        ("not_looked_at", unseen_objects(&summary.unseen)),
        ("left", json!(summary.left)),
        ("not_well", json!(summary.not_well())),
        ("late", json!(summary.late)),
        ("known", Value::Object(known)),
        ("clock_is_behind", json!(summary.clock_is_behind)),
    ] {
        object.insert(key.to_owned(), value);
    }
    object
}

/// An object on a line.
pub fn line(object: Map<String, Value>) -> Vec<u8> {
    let mut line = Value::Object(object).to_string().into_bytes();
    line.push(b'\n');
    line
}
