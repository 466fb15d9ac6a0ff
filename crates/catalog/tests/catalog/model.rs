//! The ten promises as a model: from the records before a night and the files of that night, which
//! records there may be after it.
//!
//! Where two answers are right, the model allows both: of several links of a file any may be the
//! one that moved, and a damaged file that moved to another root may look like new content.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::disk::{Inode, Place, Seen};
use super::*;

/// A record as it is stored, and the inode that it should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) class: Class,
    pub(crate) is_damaged: bool,
    pub(crate) digest: String,
    pub(crate) size: i64,
    pub(crate) modified: i64,
    pub(crate) inode: Inode,
    /// Where a run that records nothing found its file.
    pub(crate) moved_to: Option<Place>,
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

    /// What is wrong after a run that records nothing, if anything is. `has_read` says whether it
    /// read all files.
    pub(crate) fn wrong_unrecorded(&self, after: &Records, has_read: bool) -> Option<String> {
        if !after.keys().eq(self.before.keys()) {
            return Some("a run that records nothing changed which records there are".to_owned());
        }
        self.before.iter().zip(after.values()).find_map(|((place, known), now)| {
            let own = self.files.get(place);
            let same_inode = || self.files.values().filter(|it| it.inode == known.inode);
            let may_be = own.into_iter().chain(same_inode());
            let is_damage = |seen: &Seen| {
                self.judged(known, seen).iter().any(|(class, _)| *class == Class::Damaged)
            };
            // Its content is back, or it was renamed over another recorded file.
            let is_over = |(it, seen): (&Place, &Seen)| {
                it != place && seen.inode == known.inode && self.before.contains_key(it)
            };
            let is_back = || {
                self.files.values().any(|seen| seen.digest == known.digest)
                    || self.files.iter().any(is_over)
            };
            let what = if now.digest != known.digest {
                "has other digests"
            } else if known.is_damaged && !now.is_damaged && !is_back() {
                "is not damaged any more"
            } else if now.is_damaged && !known.is_damaged && !may_be.clone().any(is_damage) {
                "is called damaged"
            } else if has_read
                && own.is_some_and(|seen| {
                    let answers = self.judged(known, seen);
                    answers.iter().all(|(class, _)| *class == Class::Damaged) && !now.is_damaged
                })
            {
                "is damaged, and not called so"
            } else {
                return None;
            };
            Some(format!("{place:?} {what}: {known:?}, now {now:?}, seen {own:?}"))
        })
    }

    /// What is wrong after an update of one root alone.
    pub(crate) fn wrong_in_one(&self, root: usize, after: &Records) -> Option<String> {
        let own = self.files.iter().filter(|((it, _), _)| *it == root).find_map(|(place, seen)| {
            let mut allowed = self.allowed(place, seen);
            // It does not read files with the recorded size and time.
            let is_source =
                |it: &&Known| it.inode == seen.inode || it.moved_to.as_ref() == Some(place);
            let sources = self.loose().map(|(_, known)| known).filter(is_source);
            for known in self.before.get(place).into_iter().chain(sources) {
                if (known.size, known.modified) == (seen.size, seen.modified) {
                    allowed.insert((Class::Ok, known.digest.clone()));
                }
            }
            self.wrong_with(place, seen, after.get(place), &allowed)
        });
        let moved_away = |place: &Place, known: &Known| {
            let is_there = |(there, seen): (&Place, &Seen)| {
                there.0 == root && seen.inode == known.inode && !self.before.contains_key(there)
            };
            !self.files.contains_key(place) && self.files.iter().any(is_there)
        };
        let others = self.before.iter().filter(|((it, _), _)| *it != root);
        let other = || {
            others.clone().find_map(|(place, known)| {
                let is_right = match after.get(place) {
                    Some(now) => (now.class, &now.digest) == (known.class, &known.digest),
                    None => moved_away(place, known),
                };
                (!is_right).then(|| format!("{place:?} is of another root: {:?}", after.get(place)))
            })
        };
        own.or_else(other)
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
        // A file that an earlier run found by its content stays found while it looks the same.
        let found = self.loose().filter(|(_, it)| it.moved_to.as_ref() == Some(place));
        for (_, known) in found {
            allowed.extend(self.judged(known, seen));
            allowed.insert(new.clone());
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
        if known.moved_to.as_ref().is_some_and(|to| self.files.contains_key(to)) {
            return vec![None, missing];
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

/// By their ids, the inode numbers and change times that the records have.
pub(crate) type Stored = HashMap<i64, (u64, i64)>;

pub(crate) fn stored_inodes(catalog: &Catalog) -> Stored {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let db = rusqlite::Connection::open_with_flags(catalog.path(), flags).unwrap();
    let sql = "SELECT id, inode, mtime + ctime_after_mtime FROM file";
    let mut statement = db.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| {
        let number: i64 = row.get(1)?;
        Ok((row.get(0)?, (number.cast_unsigned(), row.get(2)?)))
    });
    rows.unwrap().map(Result::unwrap).collect()
}

/// The stored records, with the inodes that they should know after a night, or with those that they
/// have.
pub(crate) fn records(
    catalog: &Catalog,
    roots: &[Archive; 2],
    before: &Records,
    files: &Files,
    stored: Option<&Stored>,
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
        // Of the two files that may have the stored number, the one that was made before.
        let inode = stored.map_or(inode, |stored| {
            let (number, changed) = stored[&file.id];
            let is_it = |it: &Inode| it.0 == number && it.1 <= u128::from(changed.cast_unsigned());
            seen.filter(is_it).or(known.filter(is_it))
        });
        let known = Known {
            class: file.class,
            is_damaged,
            digest: file.recorded.digests[0].to_string(),
            size: file.recorded.size,
            modified: file.recorded.modified,
            inode: inode.unwrap_or((0, 0)),
            moved_to: file.moved_to.map(|to| {
                let root = usize::from(!to.starts_with(roots[0].tree()));
                (root, roots[root].below(&to))
            }),
        };
        all.insert(place, known);
        Ok(())
    };
    catalog.files(&FileFilter::default(), &mut take).unwrap();
    all
}
