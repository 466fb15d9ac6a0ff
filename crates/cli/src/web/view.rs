//! The page as plain data: all decisions about it, without catalog and HTML.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use lanesum_catalog::{
    Attention, Class, Content, Counts, FileStatus, Outcome, PartlyRead, Pending, Profile, Reason,
    Root, RootStatus, Run, Settings, Steering, Verb,
};
use maud::{Markup, html};

use crate::web::words::{ago, minute, second};

/// All classes, the most important first.
pub const CLASSES: [Class; 8] = [
    Class::Damaged,
    Class::Missing,
    Class::Unchecked,
    Class::Offline,
    Class::Edited,
    Class::New,
    Class::Moved,
    Class::Ok,
];

/// The data that all parts of a page share.
#[derive(Clone, Debug)]
pub struct Context {
    /// The catalog, for commands.
    pub catalog: PathBuf,
    /// The name of this machine.
    pub host: String,
    /// The token that the forms carry.
    pub token: String,
    /// The time in seconds since 1970.
    pub now: i64,
    /// The time zone of the machine.
    pub zone: TimeZone,
}

impl Context {
    /// A time in seconds since 1970, local: `2026-11-24 21:03 +01:00`.
    pub fn time(&self, at: i64) -> Markup {
        let Ok(at) = Timestamp::from_second(at) else { return html! { "unknown time" } };
        html! { time datetime=(at) { (minute(at, &self.zone)) } }
    }

    /// A modification time in nanoseconds since 1970, to the second.
    pub fn modified(&self, at: i64) -> Markup {
        let Ok(at) = Timestamp::from_nanosecond(at.into()) else { return html! { "unknown time" } };
        html! { time datetime=(at) { (second(at, &self.zone)) } }
    }

    /// A time and its age: `2026-11-24 21:03 +01:00 (2 days ago)`.
    pub fn time_and_age(&self, at: i64) -> Markup {
        html! { (self.time(at)) " (" (ago(at, self.now)) ")" }
    }
}

/// A root.
#[derive(Clone, Debug)]
pub struct Folder {
    pub id: i64,
    pub path: PathBuf,
    pub files: u64,
    pub bytes: u64,
    pub settings: Settings,
    pub steering: Steering,
    pub attention: Attention,
    pub is_complete: bool,
    pub offline: Option<Away>,
    /// Records by their stored classes, and new files.
    pub counts: Counts,
    pub io_errors: u64,
    /// Files and directories that the last scan could not read, and records below them.
    pub unknown: u64,
    pub by_age: [u64; 31],
    pub oldest: Option<i64>,
    pub overdue: u64,
    pub due: u64,
    pub next_due: Option<i64>,
    pub last: Option<Past>,
    pub is_running: bool,
    pub partly_read: Option<PartlyRead>,
}

/// Why a folder is offline.
#[derive(Clone, Debug)]
pub struct Away {
    pub reason: Reason,
    pub since: i64,
    pub missing: u64,
}

/// A run.
#[derive(Clone, Debug)]
pub struct Past {
    pub root: i64,
    pub verb: Verb,
    pub started: i64,
    pub outcome: Outcome,
    pub counts: Counts,
    pub files: u64,
    pub bytes: u64,
}

/// A file, or a directory that could not be read.
#[derive(Clone, Debug)]
pub struct File {
    /// None without a record.
    pub id: Option<i64>,
    pub class: Class,
    pub reason: Option<Reason>,
    pub path: PathBuf,
    /// The path below the root.
    pub name: Vec<u8>,
    pub since: i64,
    pub verified: i64,
    pub recorded: Option<Content>,
    pub found: Option<Content>,
    pub error: Option<String>,
    pub moved_to: Option<PathBuf>,
    /// Recorded files below a directory.
    pub files: u64,
}

impl Folder {
    pub fn of(status: RootStatus) -> Self {
        let has_ended = |outcome| status.last.as_ref().is_some_and(|run| run.outcome == outcome);
        let attention = match has_ended(Outcome::CatalogDamaged) {
            true => Attention::Problem,
            false => status.attention(),
        };
        let RootStatus { root, mut standing, .. } = status;
        if status.new > 0 {
            standing.insert(Class::New, status.new);
        }
        let away = |offline: &lanesum_catalog::Offline| Away {
            reason: offline.reason,
            since: offline.since,
            missing: offline.missing,
        };
        Self {
            id: root.id(),
            files: status.files,
            bytes: root.bytes.max(0).cast_unsigned(),
            attention,
            is_complete: root.is_complete,
            offline: root.offline.as_ref().map(away),
            counts: standing,
            io_errors: status.io_errors,
            unknown: status.unknown + status.unreadable,
            by_age: status.by_age,
            oldest: status.oldest,
            overdue: status.overdue,
            due: status.due,
            next_due: status.next_due,
            last: status.last.map(Past::of),
            is_running: status.is_running,
            partly_read: status.partly_read,
            path: root.path,
            settings: root.settings,
            steering: root.steering,
        }
    }

    pub fn count(&self, class: Class) -> u64 {
        self.counts.get(&class).copied().unwrap_or(0)
    }

    /// The attention that files of a class need.
    pub fn attention_of(&self, class: Class) -> Attention {
        Attention::of(class, None, self.settings.profile)
    }

    /// Classes of files that need attention, the most important first.
    pub fn problems(&self) -> impl Iterator<Item = Class> + '_ {
        let needs = |class: &Class| self.attention_of(*class) >= Attention::Incomplete;
        [Class::Damaged, Class::Missing, Class::Unchecked].into_iter().filter(needs)
    }

    /// Classes of files that `update` records.
    pub fn changes(&self) -> impl Iterator<Item = Class> + '_ {
        let is_change = |class: &Class| self.attention_of(*class) == Attention::Changes;
        [Class::Edited, Class::New, Class::Moved, Class::Missing].into_iter().filter(is_change)
    }

    /// Whether the last run ended so.
    pub fn has_ended(&self, outcome: Outcome) -> bool {
        self.last.as_ref().is_some_and(|run| run.outcome == outcome)
    }
}

impl Past {
    pub fn of(run: Run) -> Self {
        Self {
            root: run.root,
            verb: run.verb,
            started: run.started,
            outcome: run.outcome,
            counts: run.counts,
            files: run.files,
            bytes: run.bytes,
        }
    }

    /// Whether the run needs attention in a root of this profile: it found problems, or ended
    /// early.
    pub fn needs_attention(&self, profile: Profile) -> bool {
        let found = self.counts.iter().filter(|(_, count)| **count > 0);
        let mut found = found.map(|(class, _)| Attention::of(*class, None, profile));
        let is_usual = matches!(self.outcome, Outcome::Begun | Outcome::Complete | Outcome::Part);
        !is_usual || found.any(|attention| attention >= Attention::Incomplete)
    }
}

impl File {
    pub fn of(file: FileStatus, root: &Root) -> Self {
        Self {
            id: Some(file.id),
            class: file.class,
            reason: file.reason,
            name: name(&file.path, root),
            path: file.path,
            since: file.since,
            verified: file.verified,
            recorded: Some(file.recorded),
            found: file.found,
            error: file.error,
            moved_to: file.moved_to,
            files: 1,
        }
    }

    pub fn of_pending(it: Pending, root: &Root) -> Self {
        Self {
            id: None,
            class: it.class,
            reason: it.reason,
            name: name(&it.path, root),
            path: it.path,
            since: 0,
            verified: 0,
            recorded: None,
            found: None,
            error: it.error,
            moved_to: None,
            files: it.files,
        }
    }
}

impl File {
    /// Where the file is now.
    pub fn place(&self) -> &Path {
        self.moved_to.as_ref().unwrap_or(&self.path)
    }
}

fn name(path: &Path, root: &Root) -> Vec<u8> {
    root.below(path).unwrap_or_else(|| path.as_os_str().as_bytes()).to_vec()
}

/// A file whose record `update` deleted.
#[derive(Clone, Debug)]
pub struct Gone {
    /// The path below the root.
    pub name: Vec<u8>,
    pub at: i64,
}

/// The first files of each class in each root.
#[derive(Debug, Default)]
pub struct Lists {
    lists: BTreeMap<(i64, Class), Vec<File>>,
    deleted: BTreeMap<i64, Vec<Gone>>,
}

impl Lists {
    /// Files that are kept of a root and a class.
    pub const MOST: usize = 20;

    pub fn add(&mut self, root: i64, file: File) {
        let list = self.lists.entry((root, file.class)).or_default();
        if list.len() < Self::MOST {
            list.push(file);
        }
    }

    pub fn of(&self, root: i64, class: Class) -> &[File] {
        self.lists.get(&(root, class)).map_or(&[], Vec::as_slice)
    }

    pub fn add_deleted(&mut self, root: i64, deleted: Vec<Gone>) {
        self.deleted.insert(root, deleted);
    }

    pub fn deleted(&self, root: i64) -> &[Gone] {
        self.deleted.get(&root).map_or(&[], Vec::as_slice)
    }

    /// Sorts each list by path.
    pub fn sort(&mut self) {
        for list in self.lists.values_mut() {
            list.sort_by(|one, other| one.name.cmp(&other.name));
        }
    }
}
