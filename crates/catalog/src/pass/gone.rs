//! Matches records without a file and files without a record, and handles the rest.

use std::collections::{HashMap, HashSet};
use std::mem;

use lanesum_checksum::Algorithms;
use lanesum_checksum::disk::{PathState, Probe};
use lanesum_list::{Digest, Digests};

use super::row::Row;
use super::state::{GoneContents, Pass, RootPass};
use crate::CatalogError;
use crate::birth::born;
use crate::model::{
    Class, Content, Entry, Finding, Loose, Pairing, Profile, Reason, Second, Stat, Verdict, agree,
    judge, pair,
};
use crate::scan::{Blind, NewFile};
use crate::store::batch::PendingRow;
use crate::store::digests::algorithms;
use crate::store::pending::{found_at, pending_of};
use crate::store::rows::{File, Files, Finder, State, with_inode};

/// By device and inode: the creation time of the file at a recorded path, the root of the path, and
/// its record.
type Replaced = HashMap<(u64, i64), (Option<i64>, usize, i64, Vec<u8>)>;

/// The facts of records without a file, by device and inode.
type Wanted = HashMap<(u64, i64), Vec<Stat>>;

/// Returns whether a file is the one recorded with its inode. Everything must be the same, and the
/// change time must have fractions of a second, so that no second file can have it. If there are
/// several records, none is proven.
fn is_proven(recorded: &[Stat], stat: &Stat) -> bool {
    recorded == [*stat] && stat.changed % 1_000_000_000 != 0
}

/// A record whose file was renamed over that of the record `over`, at a path of the root `there`.
pub(crate) struct RenamedOver {
    pub(crate) at: usize,
    pub(crate) file: File,
    pub(crate) there: usize,
    pub(crate) over: i64,
    path: Vec<u8>,
}

/// Moved records, with the stat of their files.
pub(crate) type MovedRows = Vec<(Row, Stat)>;

/// The index of a root in the pass, and of a record or file in it.
type Places = Vec<(usize, usize)>;

impl GoneContents {
    /// Returns the algorithms that show whether a file of this size belongs to a record without a
    /// file.
    pub(crate) fn algorithms_of(&self, size: i64) -> Algorithms {
        self.by_size.get(&size).copied().unwrap_or(Algorithms::NONE)
    }

    /// Returns whether a file of this size may belong to a record without a file.
    pub(crate) fn may_be(&self, size: i64) -> bool {
        size > 0 && self.by_size.contains_key(&size)
    }
}

impl Pass<'_> {
    /// Pairs records without a file and new files of all roots by inode. Removes the moved ones,
    /// and those that were renamed over another recorded file, from the lists and returns them.
    pub(crate) fn pair_moved(
        &mut self,
        replaced: &[HashMap<i64, (Vec<u8>, i64)>],
    ) -> Result<(MovedRows, Vec<RenamedOver>), CatalogError> {
        self.gather_from_others()?;
        let (loose, places) = self.loose()?;
        let mut wanted = Wanted::new();
        for record in &loose {
            let Some(device) = record.device else { continue };
            wanted.entry((device, record.stat.inode)).or_default().push(record.stat);
        }
        let (entries, files) = self.entries(&wanted);
        let replaced = self.replaced(replaced, &wanted);
        let made = replaced.iter().map(|(inode, it)| (*inode, it.0)).collect();
        let Pairing { moved, over } = pair(&loose, &entries, &made);
        let mut rows = Vec::new();
        let mut taken: Vec<HashSet<usize>> = vec![HashSet::new(); self.roots.len()];
        for (record, entry) in moved {
            let ((at, place), (there, index)) = (places[record], files[entry]);
            let Some(file) = self.roots[at].gone[place].take() else { continue };
            taken[there].insert(index);
            let to = Some((there, entries[entry].path.clone()));
            rows.push((Row { at, file, to }, entries[entry].stat));
        }
        for (pass, taken) in self.roots.iter_mut().zip(taken) {
            let mut index = 0;
            pass.new.retain(|_| (!taken.contains(&index), index += 1).0);
        }
        let mut renamed_over = Vec::new();
        for record in over {
            let (at, place) = places[record];
            let key = (self.roots[at].device(), loose[record].stat.inode);
            if let Some((_, there, over, path)) = replaced.get(&key).cloned()
                && let Some(file) = self.roots[at].gone[place].take()
            {
                renamed_over.push(RenamedOver { at, file, there, over, path });
            }
        }
        Ok((rows, renamed_over))
    }

    /// Returns all records without a file, with their indices.
    fn loose(&self) -> Result<(Vec<Loose>, Places), CatalogError> {
        let (mut loose, mut places) = (Vec::new(), Vec::new());
        for (at, pass) in self.roots.iter().enumerate() {
            let mut found = found_at(&self.catalog.db, pass.root.id())?;
            let device = pass.root.has_stable_inodes.then(|| pass.device());
            for (place, file) in pass.gone.iter().enumerate() {
                let Some(file) = file else { continue };
                let found_at = found.remove(&file.id);
                loose.push(Loose { name: file.name.clone(), stat: file.stat, device, found_at });
                places.push((at, place));
            }
        }
        Ok((loose, places))
    }

    /// Returns all new files, with their indices. If an inode is wanted and its times or size
    /// differ from the record, the creation time shows whether it is the same file.
    fn entries(&self, wanted: &Wanted) -> (Vec<Entry>, Places) {
        let (mut entries, mut places) = (Vec::new(), Vec::new());
        for (at, pass) in self.roots.iter().enumerate() {
            let device = pass.device();
            for (index, new) in pass.new.iter().enumerate() {
                let recorded = wanted.get(&(device, new.stat.inode));
                let is_open = recorded.is_some_and(|stats| !is_proven(stats, &new.stat));
                let born = if is_open { born(&pass.root.path_of(&new.path)) } else { None };
                entries.push(Entry { path: new.path.clone(), stat: new.stat, device, born });
                places.push((at, index));
            }
        }
        (entries, places)
    }

    fn replaced(&self, scans: &[HashMap<i64, (Vec<u8>, i64)>], wanted: &Wanted) -> Replaced {
        let mut all = HashMap::new();
        for ((at, pass), replaced) in self.roots.iter().enumerate().zip(scans) {
            let device = pass.device();
            for (inode, (path, id)) in replaced {
                let key = (device, *inode);
                if wanted.contains_key(&key) {
                    let made = born(&pass.root.path_of(path));
                    all.insert(key, (made, at, *id, path.clone()));
                }
            }
        }
        all
    }

    /// A record was renamed over another recorded file. The other file is edited, and this record
    /// is deleted.
    pub(crate) fn rename_over(&mut self, renamed: RenamedOver) -> Result<(), CatalogError> {
        let RenamedOver { at, file, there, over, path } = renamed;
        self.roots[there].renamed_over.insert(over);
        self.count(there, Class::Moved, 1);
        self.roots[there].renamed.entry(at).or_default().add(file.path(), path);
        if self.verb.records() {
            self.delete(at, &file);
        } else {
            self.set_state(at, file.id, Class::Moved, None)?;
        }
        Ok(())
    }

    /// Adds records without a file of roots outside of this run, if a new file has the inode of
    /// one.
    fn gather_from_others(&mut self) -> Result<(), CatalogError> {
        let own: HashSet<i64> = self.roots.iter().map(|pass| pass.root.id()).collect();
        let mut others = self.catalog.roots()?;
        others.retain(|root| !own.contains(&root.id()) && root.has_stable_inodes);
        if others.is_empty() {
            return Ok(());
        }
        let new = self.roots.iter().flat_map(|pass| &pass.new);
        let inodes: HashSet<i64> = new.map(|new| new.stat.inode).collect();
        for inode in inodes {
            for (id, file) in with_inode(&self.catalog.db, inode)? {
                let Some(root) = others.iter().find(|root| root.id() == id).cloned() else {
                    continue;
                };
                let is_gone = root.path_of(&file.path()).symlink_metadata().is_err();
                if is_gone && root.why_offline().is_none() {
                    let passive = self.passive(root)?;
                    self.roots[passive].gone.push(Some(file));
                }
            }
        }
        Ok(())
    }

    /// Indexes the records without a file of all available roots by their contents.
    pub(crate) fn index_contents(&mut self) {
        self.contents = GoneContents::default();
        for (at, pass) in self.roots.iter().enumerate().filter(|(_, pass)| pass.is_open()) {
            for (place, file) in pass.gone.iter().enumerate() {
                let Some(file) = file.as_ref().filter(|file| file.stat.size > 0) else { continue };
                for digest in file.digests.iter() {
                    self.contents.by_digest.entry(*digest).or_default().push((at, place));
                }
                let of_size = self.contents.by_size.entry(file.stat.size).or_default();
                *of_size = of_size.union(algorithms(&file.digests));
            }
        }
    }

    /// Handles a moved file with the recorded size and time, which need not be read.
    pub(crate) fn move_unread(&mut self, row: Row, stat: Stat) -> Result<(), CatalogError> {
        let known = self.roots[row.at].states.get(&row.file.id).copied();
        if let Some(state) = known.filter(|it| it.reason.is_some()) {
            return self.keep_unread(&row, stat, state);
        }
        let is_as_stored = known.is_none() && self.verb.records() && row.at == row.place().0;
        let verified = match known {
            _ if is_as_stored => None,
            Some(state) => Some(state.verified),
            None => Some(State::find(&self.catalog.db, row.file.id)?.map_or(0, |it| it.verified)),
        };
        if known.is_some() {
            self.batch.found(row.file.id, None);
        }
        let after = File { stat, ..row.file.clone() };
        self.set_moved(row, after, verified)
    }

    /// A moved file that is damaged or unchecked. Only a read changes that.
    fn keep_unread(&mut self, row: &Row, stat: Stat, state: State) -> Result<(), CatalogError> {
        let is_damaged = self.roots[row.at].is_damaged(row.file.id);
        let class = if is_damaged { Class::Damaged } else { state.class };
        let is_news = self.set_state(row.at, row.file.id, class, state.reason)?;
        let (there, finding) = self.finding(row, class, state.reason);
        self.set_pending_move(row, stat);
        self.report(there, finding, is_news);
        Ok(())
    }

    /// Handles the records of a root without any file.
    pub(crate) fn resolve_gone(&mut self, at: usize) -> Result<(), CatalogError> {
        let gone = mem::take(&mut self.roots[at].gone);
        if gone.is_empty() {
            return Ok(());
        }
        let probe = Probe::of(&self.roots[at].root.path)?;
        for file in gone.into_iter().flatten() {
            // The next run compares a file again that is back, or cannot be seen.
            let is_gone = probe.look(&file.path()) == PathState::Nothing;
            if is_gone {
                self.set_missing(at, &file)?;
            }
            if self.batch.is_due() {
                self.commit()?;
            }
        }
        Ok(())
    }

    fn set_missing(&mut self, at: usize, file: &File) -> Result<(), CatalogError> {
        let mut finding = Finding::new(Class::Missing, None, file.path());
        finding.recorded = Some(Content::new(&file.stat, &file.digests));
        let profile = self.roots[at].root.settings.profile;
        if self.verb.records() && profile == Profile::Working {
            let now = self.now();
            let root = self.roots[at].root.id();
            self.batch.keep_deleted(root, file, now);
            self.delete(at, file);
            self.report(at, finding, true);
            return Ok(());
        }
        // It stays known that its content was damaged.
        let known = self.roots[at].states.get(&file.id);
        let reason = known.filter(|_| self.roots[at].is_damaged(file.id)).and_then(|it| it.reason);
        finding.reason = reason;
        let is_news = self.set_state(at, file.id, Class::Missing, reason)?;
        self.report(at, finding, is_news);
        Ok(())
    }

    /// Reports files that are not read: those with a known problem, and those whose size or time
    /// differs, with their stat. A different size alone proves a different content.
    pub(crate) fn report_unread(
        &mut self,
        at: usize,
        unread: &[(i64, Option<&Stat>)],
    ) -> Result<(), CatalogError> {
        if unread.is_empty() {
            return Ok(());
        }
        let mut finder = Finder::new(self.catalog.reader()?);
        for &(id, stat) in unread {
            let Some(file) = finder.find(id)? else { continue };
            if let Some(&stat) = stat.filter(|it| it.size != file.stat.size) {
                let row = Row { at, file: file.clone(), to: None };
                let (known, read) = self.known_and_read(&row, stat, false);
                if let Verdict::Damaged(reason) = judge(&known, &read, Some(Second::LikeFirst)) {
                    self.set_damaged(&row, stat, &Digests::default(), reason)?;
                    continue;
                }
            }
            let state = self.roots[at].states.get(&id).copied();
            let (class, reason, is_news) = match state {
                // Only a read shows more about these.
                Some(it) if matches!(it.class, Class::Damaged | Class::Unchecked) => {
                    (it.class, it.reason, false)
                }
                _ => (Class::Edited, None, self.set_state(at, id, Class::Edited, None)?),
            };
            let mut finding = Finding::new(class, reason, file.path());
            finding.recorded = Some(Content::new(&file.stat, &file.digests));
            self.report(at, finding, is_news);
        }
        Ok(())
    }

    /// Deletes records whose files the settings now exclude. Damaged, missing and unchecked ones
    /// stay until they are forgotten.
    pub(crate) fn drop_excluded(&mut self, at: usize, excluded: &[File]) {
        if !self.verb.records() {
            return;
        }
        let (root, now) = (self.roots[at].root.id(), self.now());
        for file in excluded {
            let state = self.roots[at].states.get(&file.id);
            let is_bad =
                |it: &State| matches!(it.class, Class::Damaged | Class::Missing | Class::Unchecked);
            if state.is_some_and(is_bad) {
                continue;
            }
            self.roots[at].summary.skipped.deleted += 1;
            self.batch.keep_deleted(root, file, now);
            self.delete(at, file);
        }
    }

    /// Reports inserted files: new, or a copy of a file that was recorded before.
    pub(crate) fn report_inserted(&mut self, at: usize) -> Result<(), CatalogError> {
        let inserted = mem::take(&mut self.roots[at].inserted);
        let originals = self.originals_of(at, &inserted)?;
        for ((path, stat, digests), original) in inserted.into_iter().zip(originals) {
            let reason = original.as_ref().map(|_| Reason::Copy);
            let mut finding = Finding::new(Class::New, reason, path);
            finding.found = Some(Content::new(&stat, &digests));
            finding.other = original.map(|path| self.roots[at].root.path_of(&path));
            self.report(at, finding, true);
        }
        Ok(())
    }

    fn originals_of(
        &self,
        at: usize,
        inserted: &[(Vec<u8>, Stat, Digests)],
    ) -> Result<Vec<Option<Vec<u8>>>, CatalogError> {
        let mut originals: Vec<Option<Vec<u8>>> = vec![None; inserted.len()];
        let mut by_digest: HashMap<Digest, Vec<usize>> = HashMap::new();
        // An empty file is not a copy.
        for (place, (_, _, digests)) in inserted.iter().enumerate().filter(|it| it.1.1.size > 0) {
            for digest in digests.iter() {
                by_digest.entry(*digest).or_default().push(place);
            }
        }
        if by_digest.is_empty() {
            return Ok(originals);
        }
        let paths: HashSet<&[u8]> = inserted.iter().map(|(path, ..)| &**path).collect();
        let pass = &self.roots[at];
        let mut files = Files::of(&self.catalog.db, pass.root.id());
        while let Some(file) = files.next()? {
            let places = file.digests.first().and_then(|digest| by_digest.get(digest));
            for &place in places.into_iter().flatten() {
                let (_, stat, digests) = &inserted[place];
                let is_same =
                    file.stat.size == stat.size && agree(&file.digests, digests) == Some(true);
                let is_original = is_same && !pass.is_damaged(file.id);
                if is_original && originals[place].is_none() && !paths.contains(&*file.path()) {
                    originals[place] = Some(file.path());
                }
            }
        }
        Ok(originals)
    }

    /// Reports new files that the verb does not record, and stores them as pending. Those that the
    /// last update could not read stay unchecked.
    pub(crate) fn report_new(&mut self, at: usize) -> Result<(), CatalogError> {
        let taken = mem::take(&mut self.roots[at].taken);
        let known = pending_of(&self.catalog.db, self.roots[at].root.id())?.into_iter();
        let unread = known.filter(|row| row.class == Class::Unchecked);
        let mut unread: HashMap<_, _> = unread.map(|row| (row.path.clone(), row)).collect();
        for NewFile { path, stat } in mem::take(&mut self.roots[at].new) {
            if taken.contains(&path) {
                continue;
            }
            if let Some(PendingRow { reason: Some(reason), error, .. }) = unread.remove(&path) {
                self.report_blind(at, Blind { path, reason, error, files: 0 });
                continue;
            }
            let (class, file, below) = (Class::New, 0, path.clone());
            let row = PendingRow { class, reason: None, path, file, stat, files: 1, error: None };
            self.roots[at].pending.push(row);
            self.report(at, Finding::new(class, None, below), false);
        }
        Ok(())
    }

    /// Reports moved files, with one finding for a renamed directory.
    pub(crate) fn report_moved(&mut self, at: usize) {
        let is_news = self.verb.records();
        for (from, renamed) in mem::take(&mut self.roots[at].renamed) {
            for it in renamed.into_moves() {
                let mut finding = Finding::new(Class::Moved, None, it.to);
                finding.other = Some(self.roots[from].root.path_of(&it.from));
                finding.files = it.files;
                self.tell(at, finding, is_news);
            }
        }
    }
}

impl RootPass {
    /// Reports records without a file that were not missing before.
    pub(crate) fn newly_gone(&self) -> u64 {
        let is_new = |file: &&File| {
            self.states.get(&file.id).is_none_or(|state| state.class != Class::Missing)
        };
        self.gone.iter().flatten().filter(is_new).count() as u64
    }
}
