//! What came of a run, and how bad it is.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::class::{Class, Status};
use crate::options::Verb;
use crate::overview::Unseen;

/// How bad the worst is that a run found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// All is as cataloged.
    AsCataloged,
    /// Edits, moves, new files; in an update missing ones.
    Differences,
    /// Something could not be looked at, or was left undone.
    NotAllDone,
    /// Content is lost, or may be.
    Damage,
}

/// Why a run ended before all was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Halt {
    /// It was to do no more than it did.
    Limit,
    /// Somebody paused it, at this time in seconds since 1970.
    Paused(i64),
    /// Its hours are over, or did not begin.
    Closed,
    /// The program is to end.
    Ended,
    /// It did a part, and goes on at once.
    More,
}

impl Halt {
    /// The outcome that is stored of such a run.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Limit => "limited",
            Self::Paused(_) => "paused",
            Self::Closed => "closed",
            Self::Ended => "ended",
            Self::More => "begun",
        }
    }
}

/// What came of a run over a root.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Summary {
    /// The root's path.
    pub root: PathBuf,
    /// What was done.
    pub verb: Verb,
    /// Whether all was new.
    pub is_first: bool,
    /// Whether a look at all of it ever came to its end, so that every file of it is known.
    pub is_taken_up: bool,
    /// How many files are of which class.
    pub counts: BTreeMap<Class, u64>,
    /// Files whose stat is as it was and that were therefore not read.
    pub same: u64,
    /// Files that were read.
    pub files: u64,
    /// Bytes that were read, of files that were not read to their end as well.
    pub bytes: u64,
    /// Files that look otherwise, and were not to be read.
    pub unread: u64,
    /// Files below what could not be looked at.
    pub unknown: u64,
    /// What the last look at the root could not look at, where that is a scrub: it looks for
    /// nothing that no row stands for.
    pub unseen: Vec<Unseen>,
    /// Files that are due, and have to wait for another day's budget.
    pub left: u64,
    /// Files that are known not to be as cataloged, read now or not.
    pub known: BTreeMap<Status, u64>,
    /// How many of these are changed so that an edit cannot be told from rot.
    pub may_be_rot: u64,
    /// Files that were not read for longer than
    /// [`Policy::late_after_days`](crate::Policy::late_after_days).
    pub late: u64,
    /// Whether no file of it is cataloged: all is well of nothing.
    pub is_empty: bool,
    /// Why the root was left alone.
    pub suspended: Option<String>,
    /// Whether all was done that was to be.
    pub is_complete: bool,
    /// Why it was not, where it was not suspended.
    pub halt: Option<Halt>,
    /// Whether the clock is behind an earlier run: what it said then is not believed.
    pub clock_is_behind: bool,
    /// File systems that are mounted in the root, and no part of it: paths below it.
    pub mounts: Vec<Vec<u8>>,
}

impl Summary {
    /// Nothing was done yet, and all of it.
    pub(crate) fn new(root: PathBuf, verb: Verb) -> Self {
        Self {
            root,
            verb,
            is_first: false,
            is_taken_up: true,
            counts: BTreeMap::new(),
            same: 0,
            files: 0,
            bytes: 0,
            unread: 0,
            unknown: 0,
            unseen: Vec::new(),
            left: 0,
            known: BTreeMap::new(),
            may_be_rot: 0,
            late: 0,
            is_empty: false,
            suspended: None,
            is_complete: true,
            halt: None,
            clock_is_behind: false,
            mounts: Vec::new(),
        }
    }

    /// Whether all was looked at that was to be.
    #[must_use]
    pub fn is_all_done(&self) -> bool {
        let busy = self.counts.get(&Class::Busy).copied().unwrap_or(0);
        let is_through = self.is_complete && self.is_taken_up && !self.is_empty;
        let is_through = is_through && self.suspended.is_none() && self.unseen.is_empty();
        let unreadable = self.counts.get(&Class::Unreadable).copied().unwrap_or(0);
        is_through && busy + unreadable + self.unread + self.unknown == 0
    }

    /// Whether all of it was looked at, now or before: nothing is left that was busy, hidden or
    /// could not be read when it was to be.
    #[must_use]
    pub fn is_all_seen(&self) -> bool {
        self.is_all_done() && !self.known.keys().any(|status| status.is_unseen())
    }

    /// Files that are known to be damaged or missing, read now or not.
    #[must_use]
    pub fn not_well(&self) -> u64 {
        let damaged = self.known.iter().filter(|(status, _)| status.severity() == Severity::Damage);
        damaged.map(|(_, count)| count).sum()
    }

    /// How bad it is.
    #[must_use]
    pub fn severity(&self) -> Severity {
        let count = |class| self.counts.get(&class).copied().unwrap_or(0);
        let is_damage = self.counts.iter().any(|(class, &count)| class.is_damage() && count > 0);
        // What was not read now is no better than it was. What is missing is what `update` is for.
        let is_update = self.verb.accepts();
        let known = self.known.keys().filter(|it| !is_update || **it != Status::Missing);
        let known = known.map(|status| status.severity()).max().unwrap_or(Severity::AsCataloged);
        let is_damage = is_damage || known == Severity::Damage;
        if is_damage || self.verb == Verb::Audit && count(Class::Missing) > 0 {
            return Severity::Damage;
        }
        if !self.is_all_done() || self.late > 0 || known == Severity::NotAllDone {
            return Severity::NotAllDone;
        }
        let new = if self.is_first { 0 } else { count(Class::New) + count(Class::Copied) };
        let edits = [Class::Changed, Class::Older, Class::Moved, Class::Missing].map(count);
        if new + edits.iter().sum::<u64>() > 0 || known == Severity::Differences {
            Severity::Differences
        } else {
            Severity::AsCataloged
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_counts() {
        let with = |verb, counts: &[Class], change: fn(&mut Summary)| {
            let mut summary = Summary::new(PathBuf::new(), verb);
            summary.counts = counts.iter().map(|&class| (class, 1)).collect();
            change(&mut summary);
            summary.severity()
        };
        let as_it_is: fn(&mut Summary) = |_| {};
        for (verb, counts, severity) in [
            (Verb::Audit, &[Class::Ok, Class::Touched][..], Severity::AsCataloged),
            (Verb::Update, &[Class::Changed], Severity::Differences),
            (Verb::Update, &[Class::Missing], Severity::Differences),
            (Verb::Audit, &[Class::Missing], Severity::Damage),
            (Verb::Scrub, &[Class::Busy, Class::Changed], Severity::NotAllDone),
            (Verb::Scrub, &[Class::Busy, Class::Rotted], Severity::Damage),
            (Verb::Update, &[Class::Transient], Severity::Damage),
        ] {
            assert_eq!(with(verb, counts, as_it_is), severity, "{verb:?} {counts:?}");
        }
        let undone: [fn(&mut Summary); 6] = [
            |it| it.is_empty = true,
            |it| it.is_complete = false,
            |it| it.is_taken_up = false,
            |it| it.suspended = Some("another volume".to_owned()),
            |it| it.unread = 1,
            |it| it.unknown = 1,
        ];
        assert!(Summary::new(PathBuf::new(), Verb::Audit).is_all_done());
        for change in undone {
            assert_eq!(with(Verb::Audit, &[Class::Changed], change), Severity::NotAllDone);
            assert_eq!(with(Verb::Audit, &[Class::Rotted], change), Severity::Damage);
        }
        assert_eq!(with(Verb::Add, &[Class::New], |it| it.is_first = true), Severity::AsCataloged);
    }
}
