//! What was read is held against its row; what comes of that is written and told.

use std::cell::{Cell, RefCell};
use std::io::ErrorKind;
use std::path::Path;

use lanesum_checksum::Error;
use lanesum_checksum::engine::{Hashed, look_at};
use lanesum_list::Digests;

use super::{Work, no_direct};
use crate::CatalogError;
use crate::batch::old_name;
use crate::class::{Case, Class, Status, case};
use crate::confirm::{Confirmed, confirm};
use crate::digests::{agree, algorithms};
use crate::finding::Finding;
use crate::moves::is_altered;
use crate::options::{GoesOn, Verb};
use crate::rows::{self, File, Finder};
use crate::scrub::cost;
use crate::sighting::Sighting;
use crate::stat::{NEVER, Stat, birth, is_beyond, is_file_of, may_be_another, number};

/// Bytes of a file that is read within a second or two where archives live.
const SHORT: i64 = 16 << 20;

const UNCONFIRMED: &str =
    "it is not as cataloged; the second reading, which tells whether it rotted, was ended";

impl Work<'_> {
    /// What came of reading the file of a row.
    pub(crate) fn take_row(
        &mut self,
        path: &Path,
        file: File,
        result: Result<Hashed, Error>,
    ) -> Result<(), CatalogError> {
        match result {
            Ok(hashed) => self.judge(path, file, hashed),
            Err(Error::OwnOutput) => Ok(()),
            Err(error @ Error::NoDirect) => Err(no_direct(path, &error)),
            Err(Error::Changed) => self.is_busy(path.to_owned(), Some(Box::new(file))),
            Err(error) if error.is_not_found() => self.miss(&file),
            Err(error) => {
                let stat = look_at(path).ok().and_then(|stat| Stat::of(&stat));
                match (&error, stat) {
                    // What this user may not read is as well as it was.
                    (Error::Io(error), _) if error.kind() == ErrorKind::PermissionDenied => {}
                    (_, Some((stat, _))) => self.sight_doubt(&file, &stat, Status::Unreadable)?,
                    (_, None) => {}
                }
                let finding = of_row(Class::Unreadable, &file).because(error.to_string());
                self.is_damaged(&file, finding)
            }
        }
    }

    /// Holds what was read against its row.
    pub(super) fn judge(
        &mut self,
        path: &Path,
        file: File,
        hashed: Hashed,
    ) -> Result<(), CatalogError> {
        let Some(stat) = Stat::of_hashed(&hashed) else {
            return self.is_busy(path.to_owned(), Some(Box::new(file)));
        };
        let is_same = agree(&file.digests, &hashed.digests) == Some(true);
        if is_same && file.stat.is_of_list() {
            let seen = self.seen_of(&file, &stat).cloned();
            if let Some(seen) = seen
                && let Some(status) = seen.damage(&stat, &hashed.digests)
            {
                let seen = Sighting { status, ..seen };
                return self.is_listed_damage(file, seen, stat, &hashed.digests);
            }
        }
        if let (false, Some(_)) = (is_same, &file.renamed)
            && may_be_another(&file.stat, &stat, self.births_are_known)
        {
            self.judge_new(path, hashed)?;
            return self.miss(&File { renamed: None, ..file });
        }
        let digests = hashed.digests;
        let known = file.stat.completed_by(&stat);
        let class = match case(&known, &stat, is_same) {
            // A list told no time that an edit could have moved.
            Case::Is(Class::Changed)
                if file.stat.is_of_list() && known.modified == stat.modified =>
            {
                Case::Is(Class::Altered)
            }
            // What may have rotted is no more for that it is renamed, or has another mode.
            Case::Is(Class::Altered)
                if known.size == stat.size && self.is_seen_as_changed(&file, &stat) =>
            {
                return self.judged(Class::Changed, file, stat, digests);
            }
            // Whoever writes a file anew empties it first, and moves its time a moment later.
            Case::Is(class @ (Class::Altered | Class::Emptied)) => Case::Is(class),
            Case::Is(class) => return self.judged(class, file, stat, digests),
            // The time of the inode is that of a look after the move.
            Case::Suspicious if file.was_moved && is_beyond(stat.modified) => {
                return self.judged(Class::Changed, file, stat, digests);
            }
            Case::Suspicious if file.was_moved => Case::Is(Class::Altered),
            Case::Suspicious if !file.is_settled => {
                return self.judged(Class::Changed, file, stat, digests);
            }
            // What is another file did not rot.
            Case::Suspicious if self.numbers_tell() && stat.inode != file.stat.inode => {
                Case::Is(Class::Altered)
            }
            Case::Suspicious => Case::Suspicious,
        };
        // Whatever ends that: somebody has to look again at what is not as cataloged.
        if !self.statuses.contains_key(&file.id) {
            self.batch.state(file.id, self.catalog.checked(file.id)?, Status::Busy);
        }
        // The second reading may take minutes; that of a short file does not, and an audit may find
        // as many of these as there are.
        if self.verb == Verb::Scrub || stat.size > SHORT || self.batch.is_due() {
            self.commit()?;
        }
        match (self.confirm(path, &file, (&digests, &stat)), class) {
            (Confirmed::Busy, _) if self.is_unconfirmed => {
                self.batch.count(Class::Busy, 1);
                self.stands(&file, of_row(Class::Busy, &file).because(UNCONFIRMED))
            }
            (Confirmed::Busy, _) => self.is_busy(path.to_owned(), Some(Box::new(file))),
            (Confirmed::Unreadable(why), _) => {
                self.sight_doubt(&file, &stat, Status::Unreadable)?;
                let finding = of_row(Class::Unreadable, &file).because(why);
                self.is_damaged(&file, finding)
            }
            (Confirmed::Transient, _) => self.judged(Class::Transient, file, stat, digests),
            (Confirmed::Unstable, _) => self.judged(Class::Unstable, file, stat, digests),
            (Confirmed::Same, Case::Suspicious) => self.judged(Class::Rotted, file, stat, digests),
            (Confirmed::Same, Case::Is(class)) => self.judged(class, file, stat, digests),
        }
    }

    /// Looks once more at a file that differs, as slowly as a scrub is to be, and no longer than it
    /// may.
    pub(super) fn confirm(
        &mut self,
        path: &Path,
        file: &File,
        first: (&Digests, &Stat),
    ) -> Confirmed {
        let options = self.engine();
        let Self { catalog, options: asked, batch, pace, pressure, verb, .. } = self;
        let (pressure, has_ended) = (RefCell::new(pressure), Cell::new(false));
        let goes_on = || {
            let mut goes_on = asked.goes_on.as_ref().is_none_or(GoesOn::says);
            if *verb == Verb::Scrub {
                // Where the catalog cannot be read, whoever commits next says so.
                if let Ok(manners) = catalog.manners(&batch.root) {
                    goes_on &= manners.paused.is_none();
                    pace.set_rate(manners.rate);
                }
                if asked.yields {
                    pressure.borrow_mut().look(pace);
                }
            }
            has_ended.set(!goes_on);
            goes_on
        };
        let confirmed = confirm(path, file, first, &options, &goes_on);
        self.is_unconfirmed = has_ended.get();
        confirmed
    }

    pub(super) fn judged(
        &mut self,
        class: Class,
        file: File,
        stat: Stat,
        digests: Digests,
    ) -> Result<(), CatalogError> {
        if matches!(class, Class::Ok | Class::Touched) {
            return self.is_good(class, file, stat, digests);
        }
        let finding = of_reading(class, &file, &stat, &digests);
        match class {
            Class::Changed | Class::Older => self.is_edited(finding, file, stat, digests),
            _ => {
                self.sight(&file, (&stat, &digests), class)?;
                self.is_damaged(&file, finding)
            }
        }
    }

    /// What a list tells of a file that was damaged before it was made is no better for that: its
    /// row gets what the file should be.
    fn is_listed_damage(
        &mut self,
        file: File,
        seen: Sighting,
        stat: Stat,
        digests: &Digests,
    ) -> Result<(), CatalogError> {
        let (known, good) = (seen.row_stat(), seen.digests.clone());
        let after = File { stat: known, digests: good, is_settled: false, ..file.clone() };
        self.batch.replace(&file, after.clone(), None);
        let finding = of_reading(class_of(seen.status), &after, &stat, digests);
        self.keep_sighting(Sighting { row: file.id, stat, place: file.place(), ..seen });
        self.is_damaged(&after, finding)
    }

    /// Keeps in mind which file it is that a row's content is gone from; but not of one that is as
    /// it should be under another row's name.
    fn sight(
        &mut self,
        file: &File,
        (stat, digests): (&Stat, &Digests),
        class: Class,
    ) -> Result<(), CatalogError> {
        let status = Status::of_class(class).filter(|status| status.is_kept());
        let Some(status) = status.filter(|_| self.batch.root.inodes_last) else { return Ok(()) };
        if self.is_good_of_another(file, stat, digests)? {
            return Ok(());
        }
        let sighting = match self.seen_of(file, stat) {
            // What it should have been is what it was first held against.
            Some(seen) => {
                let status = if seen.status.is_kept() { seen.status } else { status };
                Sighting { row: file.id, stat: *stat, place: file.place(), status, ..seen.clone() }
            }
            None => Sighting::new(file, *stat, self.catalog.checked(file.id)?, status),
        };
        self.keep_sighting(sighting);
        Ok(())
    }

    /// Keeps in mind which file it is of which the disk gives nothing, or that may have rotted: it
    /// may be put aside, and be another file's one day. If more is known of it, that stays.
    fn sight_doubt(
        &mut self,
        file: &File,
        stat: &Stat,
        status: Status,
    ) -> Result<(), CatalogError> {
        if self.numbers_tell() && self.seen_of(file, stat).is_none() {
            let checked = self.catalog.checked(file.id)?;
            self.keep_sighting(Sighting::new(file, *stat, checked, status));
        }
        Ok(())
    }

    fn keep_sighting(&mut self, mut sighting: Sighting) {
        // With a clock that was ahead it was made after all that happened to it: what is known by
        // its number is to be older than what it is held against.
        if let Some(birth) = birth(&self.batch.root.path_of(&sighting.place)) {
            sighting.stat.changed = sighting.stat.changed.max(birth);
        }
        self.batch.sight(sighting.clone());
        self.sightings.insert(sighting);
    }

    /// What was seen of a file that looks so now, at a place below the root.
    pub(crate) fn seen(&self, stat: &Stat, place: impl FnOnce() -> Vec<u8>) -> Option<&Sighting> {
        self.sightings.at(&self.batch.root, stat, place)
    }

    /// The same of what is in the place of a row. Where a root that is away has a file of this
    /// number, and the row has it, too, that may be another file.
    fn seen_of(&self, file: &File, stat: &Stat) -> Option<&Sighting> {
        let is_its = file.stat.inode == stat.inode;
        self.seen(stat, || file.place()).filter(|seen| !(seen.is_away() && is_its))
    }

    /// Whether all that was seen of what is in the place of a row is that it may have rotted.
    fn is_seen_as_changed(&self, file: &File, stat: &Stat) -> bool {
        self.seen_of(file, stat).is_some_and(|seen| seen.status == Status::Changed)
    }

    /// Keeps in mind that nothing is wrong any more with a file that reads so.
    fn is_well(&mut self, stat: &Stat, digests: &Digests, place: impl FnOnce() -> Vec<u8>) {
        if self.seen(stat, place).is_some() {
            let is_so_everywhere = self.sightings.others_agree(stat, digests);
            self.batch.is_right(stat.inode, is_so_everywhere);
            self.sightings.remove(stat.inode, is_so_everywhere);
        }
    }

    pub(super) fn is_good(
        &mut self,
        class: Class,
        file: File,
        stat: Stat,
        digests: Digests,
    ) -> Result<(), CatalogError> {
        let now = self.now();
        self.is_well(&stat, &digests, || file.place());
        let is_settled = self.is_settled(&file, &stat)?;
        // A list knows too little for anything to be touched.
        let class = if file.stat.is_of_list() { Class::Ok } else { class };
        self.batch.state(file.id, self.began.unwrap_or(now), Status::Good);
        match self.statuses.remove(&file.id) {
            None => {
                self.batch.run.spent = self.batch.run.spent.saturating_add(cost(stat.size));
            }
            // None of these was told one by one.
            Some(Status::Hidden) => {}
            Some(_) => {
                // Whoever was told that it is not well is told that it is.
                let finding = of_reading(class, &file, &stat, &digests);
                self.batch.event(finding.clone(), now);
                self.batch.tell(finding);
            }
        }
        if let Some(to) = file.renamed.clone() {
            return self.moved(file, to.into(), stat, Some(digests));
        }
        self.batch.count(class, 1);
        // What had the row's number may have another name, for which a scrub does not look: whoever
        // does is to find it by what the row has. With another time, rot of this one would look
        // like an edit for as long. A file that a list told of before it was there has no number.
        let has_number = self.verb == Verb::Scrub && !file.stat.is_of_list();
        let is_another = has_number && stat.inode != file.stat.inode;
        let is_kept = is_another
            && (stat.modified == file.stat.modified || self.has_new_name(file.stat.inode)?);
        let stat = if is_kept { file.stat } else { stat };
        let has_same_digests = algorithms(&file.digests) == algorithms(&digests);
        let is_more_settled = is_settled && !file.is_settled || file.was_moved;
        if stat != file.stat || !has_same_digests || is_more_settled {
            let after = File { stat, digests, is_settled, was_moved: false, ..file.clone() };
            self.batch.replace(&file, after, None);
        }
        Ok(())
    }

    /// Whether a file without a row has this number. A scrub looks for it once, at all of the root.
    fn has_new_name(&mut self, number: i64) -> Result<bool, CatalogError> {
        if self.new_numbers.is_none() {
            let goes_on = self.options.goes_on.as_ref();
            let numbers = self.catalog.new_numbers(&self.batch.root, &self.statuses, goes_on)?;
            self.new_numbers = Some(numbers);
        }
        Ok(self.new_numbers.as_ref().is_some_and(|numbers| numbers.contains(&number)))
    }

    /// Whether the content of a row, which was read with this stat, is at rest.
    fn is_settled(&self, file: &File, stat: &Stat) -> Result<bool, CatalogError> {
        let began = self.began();
        Ok(file.stays_settled(stat, began)
            || file.was_so_at(stat, self.catalog.checked(file.id)?, began))
    }

    pub(super) fn is_edited(
        &mut self,
        mut finding: Finding,
        file: File,
        stat: Stat,
        digests: Digests,
    ) -> Result<(), CatalogError> {
        let now = self.now();
        if let Some(status) = self.statuses.get(&file.id).filter(|status| status.is_kept()) {
            // Its last good digest is the only one that there is: it stays until somebody says so.
            finding.class = class_of(*status);
            self.sight(&file, (&stat, &digests), finding.class)?;
            return self.is_damaged(&file, finding);
        }
        let seen = self.seen_of(&file, &stat).and_then(|seen| seen.damage(&stat, &digests));
        if seen.is_some_and(|status| status != Status::Changed) {
            finding.class = Class::Altered;
            self.sight(&file, (&stat, &digests), finding.class)?;
            return self.is_damaged(&file, finding);
        }
        // What another row leads to as well may turn out by that to be damaged.
        if self.shared.contains(&stat.inode) && self.deferred.insert(file.id) {
            self.later.push(file);
            return Ok(());
        }
        // A touch, or an edit of what is left, makes no rot an edit.
        if !finding.may_be_rot() && (seen.is_some() || self.is_perhaps_rotted(&file)?) {
            finding = finding.perhaps_rotted();
        }
        if finding.may_be_rot() {
            if !self.is_good_of_another(&file, &stat, &digests)? {
                self.sight_doubt(&file, &stat, Status::Changed)?;
            }
        } else {
            self.is_well(&stat, &digests, || file.place());
        }
        self.batch.count(finding.class, 1);
        if !self.verb.accepts() || finding.may_be_rot() {
            self.take_name(&file);
            return self.stands(&file, finding);
        }
        self.statuses.remove(&file.id);
        self.batch.event(finding.clone(), now);
        self.batch.state(file.id, now, Status::Fresh);
        let is_settled = stat.is_settled_at(self.began());
        let after = File { stat, digests, is_settled, was_moved: false, ..file.clone() };
        let to = file.renamed.clone().map(Vec::from);
        self.batch.replace(&file, after, to);
        self.batch.keep_old(file, now);
        self.batch.tell(finding);
        Ok(())
    }

    /// Whether a row stands as changed so that it may be rot, or did before it was seen otherwise.
    fn is_perhaps_rotted(&mut self, file: &File) -> Result<bool, CatalogError> {
        if !self.statuses.contains_key(&file.id) {
            return Ok(false);
        }
        if self.perhaps_rotted.is_none() {
            let ids = self.catalog.may_be_rot()?.remove(&self.batch.root.id);
            let mut ids = ids.unwrap_or_default();
            let seen = self.sightings.of_rows(|row| self.statuses.contains_key(&row));
            let seen = seen.filter(|(_, seen)| seen.status == Status::Changed);
            ids.extend(seen.map(|(_, seen)| seen.row));
            self.perhaps_rotted = Some(ids);
        }
        Ok(self.perhaps_rotted.as_ref().is_some_and(|ids| ids.contains(&file.id)))
    }

    /// Whether what is in the place of a row is the file of another, as it is cataloged there.
    fn is_good_of_another(
        &self,
        file: &File,
        stat: &Stat,
        digests: &Digests,
    ) -> Result<bool, CatalogError> {
        if stat.inode == file.stat.inode {
            return Ok(false);
        }
        let owner = self.owners.get(&stat.inode).map(|owner| owner.id);
        let owners = match owner.filter(|id| *id != file.id) {
            Some(owner) => Finder::new(self.catalog.reader()?).find(owner)?.into_iter().collect(),
            // It looked for no names.
            None if self.verb == Verb::Scrub => {
                let mut owners = self.catalog.rows_of_number(self.batch.root.id, stat.inode)?;
                owners.retain(|owner| owner.id != file.id);
                owners
            }
            None => Vec::new(),
        };
        let path = self.batch.root.path_of(&file.place());
        let is_its = |row: &File| {
            agree(&row.digests, digests) == Some(true)
                && is_file_of(&row.stat, &path, stat, self.births_are_known)
        };
        Ok(owners.iter().any(is_its) || self.gone.of_number(stat.inode).any(is_its))
    }

    /// Notes what is wrong with a row, whose digest and stat stay.
    pub(super) fn is_damaged(&mut self, file: &File, finding: Finding) -> Result<(), CatalogError> {
        if matches!(finding.class, Class::Missing | Class::Unreadable) && self.is_away() {
            return Ok(());
        }
        if self.vanished.is_some() {
            return Ok(());
        }
        self.batch.count(finding.class, 1);
        if finding.class != Class::Missing {
            self.take_name(file);
        }
        self.stands(file, finding)
    }

    /// Lets a row whose content is not taken up have the name that its file has now.
    fn take_name(&mut self, file: &File) {
        if self.verb.accepts() && file.renamed.is_some() {
            let to = file.renamed.clone().map(Vec::from);
            self.batch.replace(file, file.clone(), to);
        }
    }

    /// Notes how a row stands since now, until it is read as it was, taken up, accepted or
    /// forgotten; and tells of it.
    pub(super) fn stands(&mut self, file: &File, finding: Finding) -> Result<(), CatalogError> {
        let before = self.statuses.get(&file.id).copied();
        let status = Status::of_class(finding.class);
        if before == status && !self.is_told_at(file, finding.class)? {
            // It stands as before; where it is to be looked for is news.
            self.batch.event(finding.clone(), self.now());
            self.note_place(file, finding.class);
        } else if let Some(status) = status
            && before != Some(status)
        {
            // That it was looked at is no check of it.
            let checked = self.catalog.checked(file.id)?;
            let is_news = before.is_none_or(|before| before.gives_way_to(status));
            if is_news {
                self.batch.state(file.id, checked, status);
                self.statuses.insert(file.id, status);
            }
            // What stands as something worse is an event when it is found, and none at each run.
            let (root, row) = (self.batch.root.id, file.path());
            if is_news || self.catalog.last_class_of(root, &row)? != Some(finding.class) {
                self.batch.event(finding.clone(), self.now());
                self.note_place(file, finding.class);
            }
        }
        self.batch.tell(finding);
        Ok(())
    }

    /// Whether what was told last of a row that is not well named the place where it is now.
    fn is_told_at(&mut self, file: &File, class: Class) -> Result<bool, CatalogError> {
        if class == Class::Missing {
            return Ok(true);
        }
        if self.told_elsewhere.is_none() {
            self.told_elsewhere = Some(self.catalog.told_elsewhere(self.batch.root.id)?);
        }
        let told = self.told_elsewhere.as_ref().and_then(|told| told.get(&file.path()));
        Ok(match told {
            Some(place) => place.is_some() && place.as_deref() == file.renamed.as_deref(),
            None => file.renamed.is_none(),
        })
    }

    /// Keeps in mind where a row was told to be.
    fn note_place(&mut self, file: &File, class: Class) {
        let Some(told) = &mut self.told_elsewhere else { return };
        match &file.renamed {
            Some(to) => _ = told.insert(file.path(), Some(to.to_vec())),
            None if class == Class::Missing => _ = told.insert(file.path(), None),
            None => _ = told.remove(&file.path()),
        }
    }

    /// Notes that a row's file is not there.
    pub(crate) fn miss(&mut self, file: &File) -> Result<(), CatalogError> {
        // So many may be missing that no row counts; or it has another name.
        if self.verb == Verb::Scrub
            && !self.is_away()
            && !self.is_looked_over
            && let Some(why) = self.why_too_few()?
        {
            self.vanished.get_or_insert(why);
        }
        if file.renamed.is_none()
            && let Some(to) = self.elsewhere.remove(&file.id)
        {
            self.later.push(File { renamed: Some(to), ..file.clone() });
            return Ok(());
        }
        let finding = Finding::new(Class::Missing, file.path()).before(&file.stat, &file.digests);
        self.is_damaged(file, finding)
    }

    /// Something that has no row, or that its row says nothing of.
    pub(crate) fn found(&mut self, finding: Finding) {
        self.batch.count(finding.class, finding.files);
        if finding.class == Class::New && !self.verb.accepts() {
            self.note_name(&finding.path);
        }
        // What could not be looked at is known until another look sees it.
        if self.verb.accepts() || finding.class.is_damage() || finding.class == Class::Busy {
            let now = self.now();
            self.batch.event(finding.clone(), now);
        }
        self.batch.tell(finding);
    }

    /// Keeps in mind what is new or moved, and is not taken up.
    pub(crate) fn note_name(&mut self, path: &[u8]) {
        self.batch.note_name(self.catalog.jitter.hash(path));
    }

    /// A file without a row: perhaps one that was elsewhere.
    pub(super) fn judge_new(&mut self, path: &Path, hashed: Hashed) -> Result<(), CatalogError> {
        let Some(stat) = Stat::of_hashed(&hashed) else {
            return self.is_busy(path.to_owned(), None);
        };
        let (path, digests, now) = (self.below(path), hashed.digests, self.now());
        let seen = self.seen(&stat, || path.clone()).cloned();
        // A row that has the number knows more than a root that is away.
        let is_known = seen.as_ref().is_some_and(Sighting::is_away)
            && !self.catalog.rows_of_number(self.batch.root.id, stat.inode)?.is_empty();
        if let Some(seen) = seen.filter(|_| !is_known)
            && let Some(status) = seen.damage(&stat, &digests)
        {
            return self.inherit_damage(path, Sighting { status, ..seen }, stat, &digests);
        }
        self.is_well(&stat, &digests, || path.clone());
        if let Some(file) = self.gone.take_same(&path, stat.size, &digests) {
            self.moved(file, path, stat, Some(digests))?;
        } else if let Some(kin) = self.kin.remove(&path)
            && self.is_worse(&kin, &stat, &digests)
        {
            self.inherit(path, kin, &stat, &digests)?;
        } else if self.is_first {
            self.batch.count(Class::New, 1);
            self.batch.insert(path, stat, digests, now);
        } else if self.verb.accepts() {
            self.inserted.push((path.clone(), stat, digests.clone()));
            self.batch.insert(path, stat, digests, now);
        } else {
            self.found(Finding::new(Class::New, path).after(&stat, &digests));
        }
        Ok(())
    }

    /// Whether a new name of a row's file has what that row does not let pass for an edit.
    fn is_worse(&self, row: &File, stat: &Stat, digests: &Digests) -> bool {
        // What stands badly may have been another file, in its place.
        let of_another = self.sightings.of_rows(|id| id == row.id).any(|(it, _)| it != stat.inode);
        let is_kept = self.statuses.get(&row.id).is_some_and(|status| status.is_kept());
        let is_kept = is_kept && !of_another;
        agree(&row.digests, digests) == Some(false)
            && (is_kept || number(&row.stat) == number(stat) || is_altered(&row.stat, stat))
    }

    /// Gives a new name of a damaged file a row of its own: with what it should be, and how it
    /// stands.
    fn inherit_damage(
        &mut self,
        path: Vec<u8>,
        seen: Sighting,
        stat: Stat,
        digests: &Digests,
    ) -> Result<(), CatalogError> {
        let (known, state) = (seen.row_stat(), (seen.checked, seen.status));
        self.batch.insert_known(path.clone(), known, seen.digests.clone(), state);
        self.commit()?;
        let Some(file) = rows::at(&self.catalog.db, self.batch.root.id, &path)? else {
            return Ok(());
        };
        self.keep_sighting(Sighting { row: file.id, stat, place: path, ..seen });
        self.statuses.insert(file.id, seen.status);
        let mut finding = of_reading(class_of(seen.status), &file, &stat, digests);
        if seen.status == Status::Changed && !finding.may_be_rot() {
            finding = finding.perhaps_rotted();
        }
        self.batch.event(finding.clone(), self.now());
        self.batch.count(finding.class, 1);
        self.batch.tell(finding);
        Ok(())
    }

    /// Gives a new name a row of its own with what is known of its file by another.
    fn inherit(
        &mut self,
        path: Vec<u8>,
        kin: File,
        stat: &Stat,
        digests: &Digests,
    ) -> Result<(), CatalogError> {
        let checked = self.catalog.checked(kin.id)?;
        if let Some(&status) = self.statuses.get(&kin.id).filter(|status| status.is_kept()) {
            let seen = Sighting::new(&kin, *stat, checked, status);
            return self.inherit_damage(path, seen, *stat, digests);
        }
        // Never looked at under this name.
        let known = Stat { changed: NEVER, ..kin.stat };
        self.batch.insert_known(path.clone(), known, kin.digests, (checked, Status::Fresh));
        self.commit()?;
        self.later.extend(rows::at(&self.catalog.db, self.batch.root.id, &path)?);
        Ok(())
    }

    /// A row whose file has another path now; with what was read of it, if it was.
    pub(crate) fn moved(
        &mut self,
        file: File,
        to: Vec<u8>,
        stat: Stat,
        read: Option<Digests>,
    ) -> Result<(), CatalogError> {
        self.batch.count(Class::Moved, 1);
        self.moves.add(file.path(), to.clone());
        if !self.verb.accepts() {
            self.note_name(&to);
            // Perhaps it is accepted under a third one.
            self.note_name(&old_name(&file.path()));
            // The row stands as it did: what is not taken up may be gone again tomorrow.
            return Ok(());
        }
        if read.is_some() {
            let now = self.now();
            self.batch.state(file.id, now, Status::Good);
            self.statuses.remove(&file.id);
        }
        let after = match read {
            Some(digests) => {
                let is_settled = self.is_settled(&file, &stat)?;
                File { stat, digests, is_settled, was_moved: false, ..file.clone() }
            }
            // It was not read, so it stays known when it was last; but not that it is missing.
            None => {
                if self.statuses.get(&file.id).is_some_and(|status| !status.is_kept()) {
                    self.batch.state(file.id, self.catalog.checked(file.id)?, Status::Good);
                    self.statuses.remove(&file.id);
                }
                let was_moved = file.was_moved || stat.changed != file.stat.changed;
                File { stat, was_moved, ..file.clone() }
            }
        };
        self.batch.replace(&file, after, Some(to));
        Ok(())
    }
}

/// What a file is told as whose last good digest is kept, or that may have rotted.
const fn class_of(status: Status) -> Class {
    match status {
        Status::Changed => Class::Changed,
        Status::Altered => Class::Altered,
        Status::Emptied => Class::Emptied,
        _ => Class::Rotted,
    }
}

/// What is found of a row's file: under the name that it has now, with the one that it had.
pub(crate) fn of_row(class: Class, file: &File) -> Finding {
    let other = file.renamed.as_ref().map(|_| file.path());
    Finding { other, ..Finding::new(class, file.place()) }
}

/// The same of what was read of it.
fn of_reading(class: Class, file: &File, stat: &Stat, digests: &Digests) -> Finding {
    of_row(class, file).before(&file.stat, &file.digests).after(stat, digests)
}
