//! The ten promises as a model: from the records before a night and the files of that night, which
//! records there may be after it.
//!
//! Where two answers are right, the model allows both: of several links of a file any may be the
//! one that moved, and a damaged file that moved to another root may look like new content.

use std::collections::{BTreeMap, BTreeSet};

use super::disk::{Place, Seen};
use super::*;

/// A record as it is stored, and the inode that it should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) class: Class,
    pub(crate) is_damaged: bool,
    pub(crate) digest: String,
    pub(crate) size: i64,
    pub(crate) modified: i64,
    pub(crate) inode: u64,
}

pub(crate) type Records = BTreeMap<Place, Known>;
pub(crate) type Files = BTreeMap<Place, Seen>;

/// A class and the recorded digest.
type Answer = (Class, String);

/// Records before a night, and the files of that night.
pub(crate) struct Night<'a> {
    pub(crate) before: &'a Records,
    pub(crate) files: &'a Files,
    pub(crate) profile: Profile,
}

impl Night<'_> {
    /// What is wrong with the records after the night, if anything is.
    pub(crate) fn wrong(&self, after: &Records) -> Option<String> {
        let present = self.files.iter().find_map(|(place, seen)| {
            let allowed = self.allowed(place, seen);
            self.wrong_with(place, seen, after.get(place), &allowed)
        });
        let gone = || {
            self.loose().find_map(|(place, known)| {
                let found = after.get(place).map(|it| (it.class, it.digest.clone()));
                let allowed = self.allowed_of_gone(place, known);
                let is_allowed = allowed.contains(&found);
                let words = || format!("{place:?} is gone: {found:?} is not in {allowed:?}");
                (!is_allowed).then(words)
            })
        };
        let invented = || {
            let is_known =
                |it: &&Place| self.files.contains_key(*it) || self.before.contains_key(*it);
            let invented = after.keys().find(|place| !is_known(place));
            invented.map(|place| format!("{place:?} has a record, and never was a file"))
        };
        present.or_else(gone).or_else(invented)
    }

    fn wrong_with(
        &self,
        place: &Place,
        seen: &Seen,
        after: Option<&Known>,
        allowed: &BTreeSet<Answer>,
    ) -> Option<String> {
        let Some(after) = after else {
            return Some(format!("{place:?} has no record: {allowed:?} is allowed"));
        };
        let answer = (after.class, after.digest.clone());
        if !allowed.contains(&answer) {
            let before = self.before.get(place);
            return Some(format!(
                "{place:?}: {answer:?} is not in {allowed:?}\nbefore {before:?}\nseen {seen:?}"
            ));
        }
        let is_refreshed = (after.size, after.modified) == (seen.size, seen.modified);
        let words =
            || format!("{place:?} is ok, and its size or time is another: {after:?} {seen:?}");
        (after.class == Class::Ok && !is_refreshed).then(words)
    }

    /// Records without a file at their paths.
    fn loose(&self) -> impl Iterator<Item = (&Place, &Known)> {
        self.before.iter().filter(|(place, _)| !self.files.contains_key(*place))
    }

    /// Files without a record at their paths.
    fn fresh(&self) -> impl Iterator<Item = (&Place, &Seen)> {
        self.files.iter().filter(|(place, _)| !self.before.contains_key(*place))
    }

    /// Whether another recorded file was renamed over this one.
    fn is_over(&self, known: &Known, seen: &Seen) -> bool {
        known.inode != seen.inode && self.loose().any(|(_, it)| it.inode == seen.inode)
    }

    /// How a record may stand whose file is this one.
    fn judged(&self, known: &Known, seen: &Seen) -> Vec<Answer> {
        let recorded = (Class::Ok, seen.digest.clone());
        let kept = |class| (class, known.digest.clone());
        if seen.digest == known.digest {
            return vec![recorded];
        }
        if known.is_damaged {
            return vec![kept(Class::Damaged)];
        }
        if seen.modified != known.modified {
            return vec![recorded];
        }
        if self.is_over(known, seen) {
            // A hard link of the other file may have been taken for it.
            return vec![recorded, kept(Class::Damaged)];
        }
        if self.profile == Profile::Working && seen.inode != known.inode {
            // `update` does not read a file with the recorded size.
            return vec![recorded, kept(Class::Edited)];
        }
        vec![kept(Class::Damaged)]
    }

    fn allowed(&self, place: &Place, seen: &Seen) -> BTreeSet<Answer> {
        if let Some(known) = self.before.get(place) {
            return self.judged(known, seen).into_iter().collect();
        }
        let new = (Class::Ok, seen.digest.clone());
        let mut allowed = BTreeSet::new();
        let sources: Vec<_> = self.loose().filter(|(_, it)| it.inode == seen.inode).collect();
        for (from, known) in &sources {
            let answers = self.judged(known, seen);
            if from.0 != place.0 && answers.iter().any(|(class, _)| *class == Class::Damaged) {
                allowed.insert(new.clone());
            }
            allowed.extend(answers);
        }
        let links = self.fresh().filter(|(_, it)| it.inode == seen.inode).count();
        if links > sources.len() {
            allowed.insert(new);
        }
        allowed
    }

    /// How a record may stand that has no file at its path.
    fn allowed_of_gone(&self, place: &Place, known: &Known) -> Vec<Option<Answer>> {
        let missing = Some((Class::Missing, known.digest.clone()));
        if self.profile == Profile::Working {
            return vec![None];
        }
        let with_inode = |it: &&Known| it.inode == known.inode;
        let rivals = self.loose().filter(|(_, it)| with_inode(it)).count();
        let fresh = self.fresh().filter(|(_, it)| it.inode == known.inode).count();
        if fresh > 0 {
            return if rivals > fresh { vec![None, missing] } else { vec![None] };
        }
        let kept = self.files.iter().filter(|(_, it)| it.inode == known.inode);
        let mut kept = kept.filter_map(|(it, _)| self.before.get(it)).peekable();
        if kept.peek().is_some() {
            let is_link = kept.any(|it| it.inode == known.inode);
            return if is_link || rivals > 1 { vec![None, missing] } else { vec![None] };
        }
        let is_content = |seen: &Seen| seen.digest == known.digest && seen.size > 0;
        let copies: Vec<_> = self.fresh().filter(|(_, seen)| is_content(seen)).collect();
        if copies.is_empty() {
            return vec![missing];
        }
        // Another record may be the one that moved there.
        let is_free = |seen: &Seen| self.loose().all(|(_, it)| it.inode != seen.inode);
        let is_alone = self.loose().all(|(it, other)| it == place || other.digest != known.digest);
        let is_certain = is_alone && copies.iter().any(|(_, seen)| is_free(seen));
        if is_certain { vec![None] } else { vec![None, missing] }
    }
}

/// The stored records, with the inodes that they should know.
pub(crate) fn records(
    catalog: &Catalog,
    roots: &[Archive; 2],
    before: &Records,
    files: &Files,
) -> Records {
    let mut all = Records::new();
    let first = catalog.roots().unwrap()[0].id();
    let mut take = |file: FileStatus| {
        let root = usize::from(file.root != first);
        let place = (root, roots[root].below(&file.path));
        let known = before.get(&place).map(|it| it.inode);
        let seen = files.get(&place).map(|it| it.inode);
        // A record whose edit is not recorded knows the inode of the content that it has.
        let inode = if file.class == Class::Edited { known.or(seen) } else { seen.or(known) };
        let is_damaged = match file.class {
            Class::Damaged => true,
            Class::Missing => file.reason.is_some(),
            _ => false,
        };
        let known = Known {
            class: file.class,
            is_damaged,
            digest: file.recorded.digests[0].to_string(),
            size: file.recorded.size,
            modified: file.recorded.modified,
            inode: inode.unwrap_or(0),
        };
        all.insert(place, known);
        Ok(())
    };
    catalog.files(&FileFilter::default(), &mut take).unwrap();
    all
}
