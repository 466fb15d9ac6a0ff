//! Handles a file that was read: judges it, and writes record, state and log as the verb requires.

use lanesum_checksum::Error;
use lanesum_checksum::engine::Hashed;
use lanesum_list::Digests;

use super::confirm::{Confirmed, read_again};
use super::read::{no_direct, reason_of_read};
use super::row::Row;
use super::state::Pass;
use crate::CatalogError;
use crate::birth::born;
use crate::due::cost;
use crate::model::{
    Class, Content, Finding, Known, Read, Reason, Stat, Verdict, agree, judge, match_content,
};
use crate::store::batch::{Found, Insert, PendingRow, Place};
use crate::store::rows::{File, State, split};

impl Pass<'_> {
    /// The result of reading the file of a record.
    pub(crate) fn take_row(
        &mut self,
        row: Row,
        result: Result<Hashed, Error>,
    ) -> Result<(), CatalogError> {
        if self.partly_read.remove(&row.file.id) {
            self.batch.is_read_to_end(row.file.id);
        }
        match result {
            Ok(hashed) => self.judge_row(row, hashed),
            Err(Error::OwnOutput) => Ok(()),
            Err(error @ Error::NoDirect) => {
                let (at, path) = row.place();
                Err(no_direct(self, at, &path, &error))
            }
            Err(Error::Changed) => self.retry_row(row),
            Err(error) if error.is_not_found() => {
                // It may be elsewhere. The next scan looks for it.
                if row.to.is_none() {
                    self.roots[row.at].gone.push(Some(row.file));
                }
                Ok(())
            }
            Err(error) => self.set_unchecked(&row, reason_of_read(&error), Some(error.to_string())),
        }
    }

    fn judge_row(&mut self, row: Row, hashed: Hashed) -> Result<(), CatalogError> {
        let Some(stat) = Stat::of_hashed(&hashed) else { return self.retry_row(row) };
        let is_again = !row.file.is_settled && stat.is_as_recorded(&row.file.stat);
        self.roots[self.at].summary.again += u64::from(is_again && self.verb.records());
        let digests = hashed.digests;
        let has_recorded_content = agree(&row.file.digests, &digests) == Some(true);
        let (known, read) = self.known_and_read(&row, stat, has_recorded_content);
        let mut verdict = judge(&known, &read, None);
        if verdict == Verdict::ReadAgain {
            let (there, path) = row.place();
            let path = self.roots[there].root.path_of(&path);
            let options = self.engine();
            let goes_on = || self.goes_on();
            let recorded = &row.file.digests;
            match read_again(&path, recorded, (&digests, &stat), &options, &goes_on) {
                Confirmed::Read(second) => verdict = judge(&known, &read, Some(second)),
                Confirmed::Busy => return self.retry_row(row),
                // The next run reads it again, because its verification keeps its age.
                Confirmed::Ended => return Ok(()),
                Confirmed::Failed(error) => {
                    let reason = reason_of_read(&error);
                    return self.set_unchecked(&row, reason, Some(error.to_string()));
                }
            }
        }
        match verdict {
            Verdict::Ok => self.set_ok(row, stat, digests),
            Verdict::Hardware => self.warn_of_hardware(row, stat, &digests),
            Verdict::Edited(reason) => self.set_edited(row, stat, digests, reason),
            Verdict::Damaged(reason) => self.set_damaged(&row, stat, &digests, reason),
            Verdict::ReadAgain => self.retry_row(row),
        }
    }

    /// Returns the recorded and the found facts about a file, for a judgement.
    pub(crate) fn known_and_read(
        &self,
        row: &Row,
        stat: Stat,
        has_recorded_content: bool,
    ) -> (Known, Read) {
        let (there, path) = row.place();
        let known = Known {
            stat: row.file.stat,
            is_settled: row.file.is_settled,
            is_damaged: self.roots[row.at].is_damaged(row.file.id),
            profile: self.roots[there].root.settings.profile,
            has_stable_inodes: self.roots[row.at].root.has_stable_inodes,
        };
        let is_made_later = !has_recorded_content
            && born(&self.roots[there].root.path_of(&path))
                .is_some_and(|born| born > row.file.stat.changed);
        let is_renamed_over = self.roots[row.at].renamed_over.contains(&row.file.id);
        (known, Read { stat, has_recorded_content, is_renamed_over, is_made_later })
    }

    /// Makes a finding about the file of a record at its current place.
    pub(crate) fn finding(
        &self,
        row: &Row,
        class: Class,
        reason: Option<Reason>,
    ) -> (usize, Finding) {
        let (there, path) = row.place();
        let mut finding = Finding::new(class, reason, path);
        finding.recorded = Some(Content::new(&row.file.stat, &row.file.digests));
        if row.to.is_some() {
            finding.other = Some(self.roots[row.at].root.path_of(&row.file.path()));
        }
        (there, finding)
    }

    fn place_of(&self, row: &Row) -> Option<Place> {
        let (there, path) = row.to.as_ref()?;
        Some(Place { root: self.roots[*there].root.id(), path: path.clone() })
    }

    /// The file has its recorded content.
    fn set_ok(&mut self, row: Row, stat: Stat, digests: Digests) -> Result<(), CatalogError> {
        let before = self.roots[row.at].take_state(row.file.id);
        if before.is_none() {
            let run = &mut self.roots[self.at].run;
            run.spent = run.spent.saturating_add(cost(stat.size));
        }
        let now = self.now();
        let is_settled = stat.is_settled_at(self.began.unwrap_or(self.roots[self.at].run.started));
        let after = File { stat, digests, is_settled, ..row.file.clone() };
        let is_refreshed = after.stat != row.file.stat
            || after.digests.len() != row.file.digests.len()
            || is_settled != row.file.is_settled;
        if let Some(state) = before {
            self.batch.found(row.file.id, None);
            self.report_restored(&row, state, &after);
        }
        if row.to.is_some() {
            return self.set_moved(row, after, Some(self.began.unwrap_or(now)));
        }
        let root = self.roots[row.at].root.id();
        self.put_state(row.at, State::ok(row.file.id, root, self.began.unwrap_or(now)));
        self.count(row.at, Class::Ok, 1);
        if is_refreshed {
            self.batch.update(root, &row.file, after, None);
        }
        Ok(())
    }

    fn report_restored(&mut self, row: &Row, before: State, after: &File) {
        let is_news = match before.class {
            Class::Damaged | Class::Unchecked => true,
            // If it moved, the finding is the move.
            Class::Missing => row.to.is_none(),
            _ => false,
        };
        if is_news {
            let (there, mut finding) = self.finding(row, Class::Ok, None);
            finding.found = Some(Content::new(&after.stat, &after.digests));
            (finding.was, finding.other) = (Some(before.class), None);
            self.tell(there, finding, true);
        }
    }

    /// Moves the record to the place of its file. If the verb does not record that, the move is
    /// pending. `verified` is `None` if the state is already stored.
    pub(crate) fn set_moved(
        &mut self,
        row: Row,
        after: File,
        verified: Option<i64>,
    ) -> Result<(), CatalogError> {
        let Some((there, path)) = row.to.clone() else { return Ok(()) };
        let (root, id) = (self.roots[row.at].root.id(), row.file.id);
        self.count(there, Class::Moved, 1);
        self.roots[there].renamed.entry(row.at).or_default().add(row.file.path(), path);
        if self.verb.records() {
            let target = self.roots[there].root.id();
            if let Some(verified) = verified {
                self.roots[row.at].take_state(id);
                self.put_state(there, State::ok(id, target, verified));
            }
            let to = self.place_of(&row);
            self.batch.update(root, &row.file, after, to);
            return Ok(());
        }
        let verified = verified.unwrap_or(0);
        let state = State { id, root, verified, class: Class::Moved, reason: None, since: 0 };
        let now = self.now();
        let known = self.roots[row.at].states.get(&id).filter(|it| it.class == Class::Moved);
        let state = State { since: known.map_or(now, |it| it.since), ..state };
        self.put_state(row.at, state);
        self.set_pending_move(&row, after.stat);
        Ok(())
    }

    /// Stores the new place of a record that stays at its old path.
    pub(crate) fn set_pending_move(&mut self, row: &Row, stat: Stat) {
        let Some((there, path)) = row.to.clone() else { return };
        let (file, class) = (row.file.id, Class::Moved);
        let row = PendingRow { class, reason: None, path, file, stat, files: 1, error: None };
        self.roots[there].pending.push(row);
    }

    /// Only the first read was wrong.
    fn warn_of_hardware(
        &mut self,
        row: Row,
        stat: Stat,
        digests: &Digests,
    ) -> Result<(), CatalogError> {
        let (there, mut finding) = self.finding(&row, Class::Ok, Some(Reason::Hardware));
        finding.found = Some(Content::new(&stat, digests));
        self.tell(there, finding, true);
        self.roots[there].summary.hardware_warnings += 1;
        let recorded = row.file.digests.clone();
        self.set_ok(row, stat, recorded)
    }

    fn set_edited(
        &mut self,
        row: Row,
        stat: Stat,
        digests: Digests,
        reason: Option<Reason>,
    ) -> Result<(), CatalogError> {
        if self.verb.records() {
            if let Some(staged) = &mut self.roots[self.at].staged {
                staged.push((row, stat, digests, reason));
                return Ok(());
            }
            return self.record_edit(row, stat, digests, reason);
        }
        self.leave_edit(&row, stat, digests, reason)
    }

    /// Stores that a file was edited, and keeps its record.
    pub(crate) fn leave_edit(
        &mut self,
        row: &Row,
        stat: Stat,
        digests: Digests,
        reason: Option<Reason>,
    ) -> Result<(), CatalogError> {
        let (there, mut finding) = self.finding(row, Class::Edited, reason);
        let found = Content::new(&stat, &digests);
        finding.found = Some(found.clone());
        let is_news = self.set_state(row.at, row.file.id, Class::Edited, reason)?;
        self.batch.found(row.file.id, Some(Found { content: found, error: None }));
        self.set_pending_move(row, stat);
        self.report(there, finding, is_news);
        Ok(())
    }

    /// Records the new content of a file.
    pub(crate) fn record_edit(
        &mut self,
        row: Row,
        stat: Stat,
        digests: Digests,
        reason: Option<Reason>,
    ) -> Result<(), CatalogError> {
        let (there, mut finding) = self.finding(&row, Class::Edited, reason);
        finding.found = Some(Content::new(&stat, &digests));
        if self.roots[row.at].take_state(row.file.id).is_some() {
            self.batch.found(row.file.id, None);
        }
        let target = self.roots[there].root.id();
        self.put_state(there, State::ok(row.file.id, target, self.now()));
        let is_settled = stat.is_settled_at(self.roots[self.at].run.started);
        let after = File { stat, digests, is_settled, ..row.file.clone() };
        let to = self.place_of(&row);
        self.batch.update(self.roots[row.at].root.id(), &row.file, after, to);
        self.report(there, finding, true);
        Ok(())
    }

    /// The record keeps its content, and gets the inode with the other content, so that the file is
    /// found again after a rename.
    pub(crate) fn set_damaged(
        &mut self,
        row: &Row,
        stat: Stat,
        digests: &Digests,
        reason: Reason,
    ) -> Result<(), CatalogError> {
        // It keeps its first reason.
        let known = self.roots[row.at].states.get(&row.file.id);
        let known = known.filter(|_| self.roots[row.at].is_damaged(row.file.id));
        let reason = known.and_then(|state| state.reason).or(Some(reason));
        let is_news = self.set_state(row.at, row.file.id, Class::Damaged, reason)?;
        let (there, mut finding) = self.finding(row, Class::Damaged, reason);
        let content = Content::new(&stat, digests);
        finding.found = Some(content.clone());
        self.batch.found(row.file.id, Some(Found { content, error: None }));
        // The inode of a file that was renamed over this one stays with its own record.
        let is_own = self.verb.records() || !self.roots[row.at].renamed_over.contains(&row.file.id);
        let seen = if is_own { stat } else { row.file.stat };
        let seen = Stat { changed: seen.changed, inode: seen.inode, ..row.file.stat };
        self.keep_record(row, seen, is_news);
        self.report(there, finding, is_news);
        Ok(())
    }

    /// Keeps a record whose new content is not recorded, under the name of its file.
    fn keep_record(&mut self, row: &Row, seen: Stat, is_news: bool) {
        let root = self.roots[row.at].root.id();
        let to = if self.verb.records() { self.place_of(row) } else { None };
        if let Some(to) = &to
            && to.root != root
            && let Some(state) = self.roots[row.at].take_state(row.file.id)
        {
            self.put_state(row.place().0, State { root: to.root, ..state });
        }
        if row.to.is_some() && to.is_none() {
            self.set_pending_move(row, seen);
        }
        if seen != row.file.stat || to.is_some() || is_news {
            let after = File { stat: seen, ..row.file.clone() };
            self.batch.update(root, &row.file, after, to);
        }
    }

    /// The file could not be verified.
    pub(crate) fn set_unchecked(
        &mut self,
        row: &Row,
        reason: Reason,
        error: Option<String>,
    ) -> Result<(), CatalogError> {
        let (there, mut finding) = self.finding(row, Class::Unchecked, Some(reason));
        finding.error.clone_from(&error);
        // A damaged file stays damaged.
        let is_damaged = self.roots[row.at].is_damaged(row.file.id);
        let mut is_news = false;
        if !is_damaged {
            is_news = self.set_state(row.at, row.file.id, Class::Unchecked, Some(reason))?;
            let found = Found { content: Content::default(), error };
            self.batch.found(row.file.id, Some(found));
        }
        self.keep_record(row, row.file.stat, false);
        self.report(there, finding, is_news);
        Ok(())
    }

    /// A program is writing to the file.
    pub(crate) fn set_busy(&mut self, row: &Row) -> Result<(), CatalogError> {
        self.set_unchecked(row, Reason::Busy, None)
    }

    /// Handles a file without a record. It may belong to a record without a file.
    pub(crate) fn judge_new(
        &mut self,
        at: usize,
        path: Vec<u8>,
        stat: Stat,
        digests: Digests,
    ) -> Result<(), CatalogError> {
        if let Some((gone_at, place)) = self.find_gone(&path, stat.size, &digests)
            && let Some(file) = self.roots[gone_at].gone[place].take()
        {
            self.roots[at].taken.insert(path.clone());
            return self.set_ok(Row { at: gone_at, file, to: Some((at, path)) }, stat, digests);
        }
        if !self.verb.records() {
            // It is reported with all new files.
            return Ok(());
        }
        let pass = &mut self.roots[at];
        let root = pass.root.id();
        let is_settled = stat.is_settled_at(pass.run.started);
        if !pass.new.is_empty() {
            pass.taken.insert(path.clone());
        }
        if pass.summary.is_first {
            self.count(at, Class::New, 1);
        } else {
            pass.inserted.push((path.clone(), stat, digests.clone()));
        }
        let state = State::ok(0, root, self.now());
        let found = None;
        self.batch.insert(Insert { root, path, stat, is_settled, digests, state, found });
        Ok(())
    }

    /// Returns the record without a file that has this content.
    fn find_gone(&self, path: &[u8], size: i64, digests: &Digests) -> Option<(usize, usize)> {
        let (_, name) = split(path);
        let mut candidates = Vec::new();
        for digest in digests.iter() {
            candidates.extend(self.contents.by_digest.get(digest).into_iter().flatten().copied());
        }
        let file = |(at, place): (usize, usize)| self.roots[at].gone[place].as_ref();
        let known = candidates.iter().enumerate().filter_map(|(index, &candidate)| {
            let file = file(candidate)?;
            Some((index, &*file.name, file.stat.size, &file.digests))
        });
        match_content(name, size, digests, known).map(|index| candidates[index])
    }
}
