//! What somebody says about files: that they are right as they are, or to be cataloged no more.

use std::collections::{HashMap, HashSet};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use lanesum_checksum::engine::look_at;
use lanesum_checksum::error::message;
use lanesum_checksum::{Algorithms, Job, Source, engine};
use lanesum_list::Digests;
use rusqlite::Params;

use crate::batch::Batch;
use crate::check::require_shape;
use crate::class::{Class, Status};
use crate::digests::{agree, algorithms, encode, set_of};
use crate::finding::Finding;
use crate::moves::Gone;
use crate::options::{GoesOn, Options};
use crate::root::Root;
use crate::rows::{self, File, Files, Finder};
use crate::scan::{New, Other, scan};
use crate::sighting::{Sighting, Sightings};
use crate::stat::{NEVER, Stat, is_file_of, may_be_another, number, tells_births};
use crate::table::FILE;
use crate::volume::FolderId;
use crate::way::{self, There, Ways};
use crate::{Catalog, CatalogError};

impl Catalog {
    /// Accepts a file as it is, whatever it was: its digests and its stat are replaced, and the old
    /// digests kept; so are those of other names of it that are damaged, which the finding counts.
    /// Of a root it accepts the volume that it is on now, and no file.
    ///
    /// # Errors
    /// [`CatalogError::NoRoot`]; that the file cannot be read; and those of the catalog.
    pub fn accept(&mut self, path: &Path, options: &Options) -> Result<Finding, CatalogError> {
        require_shape(&self.db)?;
        let (root, below) = self.root_of(path)?;
        if below.is_empty() {
            return self.accept_volume(root, options);
        }
        if let Some(why) = root.why_not_there() {
            return Err(CatalogError::NotThere { path: root.path, why });
        }
        let whole = root.path_of(&below);
        if let Some(error) = way::refusal(&Ways::of(&root.path)?.look(&below)) {
            return Err(CatalogError::io(&whole)(error));
        }
        let known = rows::at(&self.db, root.id, &below)?;
        let statuses = self.statuses(root.id)?;
        let sightings = Sightings::of(&self.db, &root)?;
        let renamed = self.renamed_to(&root, (&statuses, &sightings), &below, known.is_some())?;
        // Of a row that has another name which is cataloged, too, this content was the last.
        let (before, beside) = if known.is_some() { (known, renamed) } else { (renamed, None) };
        let known = before.as_ref().map_or(Algorithms::NONE, |file| algorithms(&file.digests));
        let algorithms = root.policy.algorithms.union(known);
        let now = (options.clock)();
        let its = (&statuses, &sightings);
        let (before, (stat, digests)) = match before {
            Some(file) => (Some(file), read(&whole, algorithms, options)?),
            None => self.read_new(&root, its, &below, (algorithms, options))?,
        };
        let put_aside = match &before {
            Some(file) if file.path() == below => {
                self.put_aside(&root, (&statuses, &sightings), file, &stat)?
            }
            _ => None,
        };
        let others = [&before, &beside].map(|file| file.as_ref().map(|file| file.id));
        let links = self.links_of(&root, &statuses, (&whole, &stat), others)?;
        let mut batch = Batch::begin(&self.db, root, "accept", now)?;
        batch.is_right(stat.inode, true);
        let mut finding = Finding::new(Class::Accepted, below.clone()).after(&stat, &digests);
        finding.files += links.len() as u64;
        for file in links {
            let (digests, is_settled) = (digests.clone(), stat.is_settled_at(now));
            batch.state(file.id, now, Status::Fresh);
            let after = File { stat, digests, is_settled, was_moved: false, ..file.clone() };
            batch.event(Finding::new(Class::Accepted, file.path()), now);
            batch.replace(&file, after, None);
            batch.keep_old(file, now);
        }
        match before {
            Some(file) => {
                if let Some(PutAside { names, status }) = put_aside {
                    let known = (self.checked(file.id)?, status);
                    for (path, now) in names {
                        let stat = Stat { changed: NEVER, inode: now.inode, ..file.stat };
                        batch.insert_known(path, stat, file.digests.clone(), known);
                    }
                }
                finding = finding.before(&file.stat, &file.digests);
                let (is_settled, was_moved) = (stat.is_settled_at(now), false);
                batch.state(file.id, now, Status::Fresh);
                let after = File { stat, digests, is_settled, was_moved, ..file.clone() };
                let to = (file.path() != below).then(|| below.clone());
                finding.other = to.is_some().then(|| file.path());
                batch.replace(&file, after, to);
                batch.is_read_through(file.id);
                batch.keep_old(file, now);
            }
            None => batch.insert(below, stat, digests, now),
        }
        if let Some(file) = beside {
            batch.forget(vec![file.id], file.stat.bytes(), false);
            finding.other = Some(file.path());
            let gone = Finding::new(Class::Forgotten, file.path());
            batch.event(gone.before(&file.stat, &file.digests), now);
        }
        self.end(batch, finding, now)
    }

    /// The rows, but for these, of other names of a file, which lead to the same bytes: those that
    /// are not known to be as cataloged, and those that have its number.
    fn links_of(
        &self,
        root: &Root,
        statuses: &HashMap<i64, Status>,
        (path, stat): (&Path, &Stat),
        but: [Option<i64>; 2],
    ) -> Result<Vec<File>, CatalogError> {
        if !look_at(path).is_ok_and(|stat| stat.st_nlink > 1) {
            return Ok(Vec::new());
        }
        let mut ids = kept(statuses, |_| true);
        // What was not looked at since is not known to be damaged.
        ids.extend(self.rows_of_number(root.id, stat.inode)?.into_iter().map(|row| row.id));
        ids.retain(|id| !but.contains(&Some(*id)));
        ids.sort_unstable();
        ids.dedup();
        let places = self.places(root, ids)?;
        Ok(places.into_iter().filter(|(_, there)| *there == Some(*stat)).map(|it| it.0).collect())
    }

    /// The new names of what was the file of a damaged row, in whose place another is accepted, and
    /// how that stands: they are known by that row alone.
    fn put_aside(
        &self,
        root: &Root,
        (statuses, sightings): (&HashMap<i64, Status>, &Sightings),
        file: &File,
        now: &Stat,
    ) -> Result<Option<PutAside>, CatalogError> {
        if !root.inodes_last || !tells_births(&root.path) {
            return Ok(None);
        }
        let status = statuses.get(&file.id).copied();
        let Some(status) = status.filter(|status| status.may_be_damaged()) else { return Ok(None) };
        // What is in its place was always there: to look at the whole root for each of many takes
        // hours.
        let is_there = |number| number == now.inode;
        let mut seen = sightings.of_rows(|row| row == file.id).map(|(number, _)| number);
        if is_there(file.stat.inode) && seen.all(is_there) {
            return Ok(None);
        }
        let found = scan(&self.db, root, &HashMap::new(), &self.own_files(), None, None)?;
        let is_it = |new: &New| {
            let path = root.path_of(&new.path);
            let seen = sightings.at(root, &new.stat, || new.path.clone());
            let is_seen = seen.is_some_and(|seen| seen.row == file.id);
            let is_another = new.stat.inode != now.inode;
            is_another && (is_seen || is_file_of(&file.stat, &path, &new.stat, true))
        };
        let names = found.new.into_iter().filter(is_it).map(|new| (new.path, new.stat)).collect();
        Ok(Some(PutAside { names, status }))
    }

    /// The row of a file that was cataloged under another name, which is gone: as a run takes it,
    /// but not where its number may have been given again. Only one that may be damaged, if that is
    /// what is asked for.
    fn renamed_to(
        &self,
        root: &Root,
        (statuses, sightings): (&HashMap<i64, Status>, &Sightings),
        path: &[u8],
        is_damaged: bool,
    ) -> Result<Option<File>, CatalogError> {
        let whole = root.path_of(path);
        let stat = look_at(&whole).map_err(CatalogError::io(&whole))?;
        let Some((stat, _)) = Stat::of(&stat) else { return Ok(None) };
        let seen = sightings.at(root, &stat, || path.to_vec()).map(|seen| seen.row);
        let mut gone = self.rows_of_number(root.id, stat.inode)?;
        if let Some(seen) = seen.filter(|seen| gone.iter().all(|row| row.id != *seen)) {
            gone.extend(Finder::new(self.reader()?).find(seen)?);
        }
        let may_be_damaged = |id| statuses.get(&id).is_some_and(|status| status.may_be_damaged());
        let mut ways = Ways::of(&root.path)?;
        // A link that was left in its place, or on the way, is no file of the root.
        gone.retain(|file| {
            (!is_damaged || may_be_damaged(file.id))
                && matches!(ways.look(&file.path()), There::Gone)
        });
        // Seen as another row's that is in its place, it is that of these as well: as a link was.
        let of_others = Sightings::default();
        let is_of_these = seen.is_some_and(|row| gone.iter().any(|file| file.id == row));
        let sightings = if is_of_these { sightings } else { &of_others };
        // Where births are not known, whoever accepts it knows.
        gone.retain(|file| !may_be_another(&file.stat, &stat, true));
        let mut gone = Gone::new(gone, root, statuses);
        Ok(gone.take_renamed(
            root,
            sightings,
            &New { path: path.to_vec(), stat, is_only_name: true },
        ))
    }

    /// Reads a file without a row; and the row of a name that is gone whose content it has.
    fn read_new(
        &self,
        root: &Root,
        its: (&HashMap<i64, Status>, &Sightings),
        path: &[u8],
        (algorithms, options): (Algorithms, &Options),
    ) -> Result<(Option<File>, (Stat, Digests)), CatalogError> {
        // Rows may have others than the folder by now.
        let of_rows = self.algorithms_in(root)?;
        let all = of_rows.iter().fold(algorithms, |all, set| all.union(*set));
        let (stat, digests) = read(&root.path_of(path), all, options)?;
        let file = self.moved_to(root, its, path, (&stat, &digests, &of_rows))?;
        let of_row = file.as_ref().map(|file| self::algorithms(&file.digests));
        let kept = algorithms.union(of_row.unwrap_or(Algorithms::NONE));
        let digests = digests.iter().filter(|digest| kept.contains(digest.algorithm()));
        let digests = digests.copied().collect();
        Ok((file, (stat, digests)))
    }

    /// The row of a name that is gone whose content a file has, as an update takes it; not where
    /// the row's file lies elsewhere. Its digests are of all algorithms that rows have.
    fn moved_to(
        &self,
        root: &Root,
        (statuses, sightings): (&HashMap<i64, Status>, &Sightings),
        path: &[u8],
        (stat, digests, of_rows): (&Stat, &Digests, &[Algorithms]),
    ) -> Result<Option<File>, CatalogError> {
        let sql = "SELECT f.id FROM folder d JOIN file f ON f.folder = d.id \
                   WHERE d.root = ?1 AND f.algorithms = ?2 AND f.digests = ?3";
        let mut statement = self.db.prepare_cached(sql)?;
        let (mut finder, mut ways) = (Finder::new(self.reader()?), Ways::of(&root.path)?);
        let mut gone = Vec::new();
        for set in of_rows {
            let known = digests.iter().filter(|digest| set.contains(digest.algorithm()));
            let (algorithms, bytes) = encode(&known.copied().collect())?;
            let ids = statement.query_map((root.id, algorithms, bytes), |row| row.get(0))?;
            for id in ids {
                let file = finder.find(id?)?;
                gone.extend(file.filter(|file| ways.look(&file.path()) == There::Gone));
            }
        }
        if !gone.is_empty() {
            let elsewhere = self.elsewhere(root, (statuses, sightings))?;
            gone.retain(|file| file.stat.inode == stat.inode || !elsewhere.has(root, file));
        }
        Ok(Gone::new(gone, root, statuses).take_same(path, stat.size, digests))
    }

    /// What the rows of a root have digests of.
    fn algorithms_in(&self, root: &Root) -> Result<Vec<Algorithms>, CatalogError> {
        let sql = "SELECT DISTINCT f.algorithms FROM folder d JOIN file f ON f.folder = d.id \
                   WHERE d.root = ?1";
        let mut statement = self.db.prepare_cached(sql)?;
        let sets = statement.query_map([root.id], |row| row.get(0))?;
        let sets = sets.collect::<Result<Vec<i64>, _>>()?;
        Ok(sets.into_iter().filter_map(set_of).collect())
    }

    fn accept_volume(&mut self, root: Root, options: &Options) -> Result<Finding, CatalogError> {
        // Where a disk is to be mounted there is an empty folder.
        if let Some(why) = self.why_blank(&root, root.policy.max_gone)? {
            return Err(CatalogError::NotThere { path: root.path, why });
        }
        let found = FolderId::of(&root.path).map_err(CatalogError::io(&root.path))?;
        let now = (options.clock)();
        let finding = Finding {
            before: Some(root.volume.clone()),
            after: Some(found.volume.clone()),
            ..Finding::new(Class::Accepted, Vec::new())
        };
        let is_another = !found.is_on(&root.volume);
        // Of the folder that it is already this says nothing: why it is suspended stands.
        let is_it = found.is_that_of(&root.volume, root.inode);
        let suspended = root.suspended.clone().filter(|_| is_it);
        let FolderId { volume, inode, .. } = found;
        let root = Root { volume, inode, suspended, ..root };
        let mut batch = Batch::begin(&self.db, root, "accept", now)?;
        if is_another {
            // Numbers are those of the other one's files.
            batch.unsee_all();
        }
        self.end(batch, finding, now)
    }

    fn end(
        &mut self,
        mut batch: Batch,
        finding: Finding,
        now: i64,
    ) -> Result<Finding, CatalogError> {
        batch.count(finding.class, finding.files);
        batch.event(finding.clone(), now);
        batch.run.ended = Some(now);
        batch.run.outcome = Some("complete");
        batch.commit(&mut self.db)?;
        self.bring_home()?;
        Ok(finding)
    }

    /// Catalogs a file, or all files in a folder, no more; a root with all of it. A path that is
    /// the name of both is the file; with a slash at its end it is the folder. What was told of
    /// them stays among the events. Files on the disk are not touched.
    ///
    /// # Errors
    /// [`CatalogError::NoRoot`], [`CatalogError::Unknown`], [`CatalogError::Elsewhere`],
    /// [`CatalogError::Unseen`], [`CatalogError::NotThere`] of a part of a root, and those of the
    /// catalog.
    pub fn forget(&mut self, path: &Path, options: &Options) -> Result<Finding, CatalogError> {
        self.take_out(path, false, options)
    }

    /// Of what [`forget`](Self::forget) takes out, that alone which was told to be missing, also
    /// where it was damaged before, and is not there now, under no name that is not cataloged;
    /// never the root. There may be none.
    ///
    /// # Errors
    /// The same.
    pub fn forget_missing(
        &mut self,
        path: &Path,
        options: &Options,
    ) -> Result<Finding, CatalogError> {
        self.take_out(path, true, options)
    }

    fn take_out(
        &mut self,
        path: &Path,
        is_of_missing: bool,
        options: &Options,
    ) -> Result<Finding, CatalogError> {
        let (root, below) = self.root_of(path)?;
        let is_folder = path.as_os_str().as_bytes().ends_with(b"/");
        let mut rows = self.rows_at(&root, &below, is_folder)?;
        if rows.ids.is_empty() && !below.is_empty() {
            return Err(CatalogError::Unknown(path.to_owned()));
        }
        let is_root = below.is_empty() && !is_of_missing;
        if !is_root && let Some(why) = root.why_not_there() {
            return Err(CatalogError::NotThere { path: root.path, why });
        }
        if is_of_missing {
            rows = self.missing_of(&root, &rows.ids)?;
            if rows.ids.is_empty() {
                return Ok(Finding { files: 0, ..Finding::new(Class::Forgotten, below) });
            }
        }
        let Rows { ids, bytes, damaged } = rows;
        // With a root all that is known of its files goes.
        let parting = if is_root { Parting::default() } else { self.parting(&root, &ids)? };
        let now = (options.clock)();
        // A root's event has nothing but this to tell of whom it is.
        let told = if is_root { root.path.as_os_str().as_bytes().to_vec() } else { below };
        let mut finding = Finding::new(Class::Forgotten, told);
        finding.files = ids.len() as u64;
        if damaged > 0 {
            let which = if damaged == 1 { "row was" } else { "rows were" };
            finding = finding.because(format!("{damaged} {which} not as written"));
        } else if parting.sightings_are_damaged {
            finding = finding.because("what it knows of damaged files is not as written");
        }
        let mut batch = Batch::begin(&self.db, root, "forget", now)?;
        if parting.sightings_are_damaged {
            batch.unsee(ids.clone());
        }
        batch.forget(ids, bytes, is_root);
        for sighting in parting.passed_on {
            batch.sight(sighting);
        }
        if damaged > 0 {
            batch.distrust_rows();
        }
        self.end(batch, finding, now)
    }

    /// What rows leave that are forgotten, if all may be. A row goes, and no damage: what was seen
    /// of its file stays known.
    fn parting(&self, root: &Root, ids: &[i64]) -> Result<Parting, CatalogError> {
        let statuses = self.statuses(root.id)?;
        // What the catalog says of it may be damaged itself, and goes then.
        let (sightings, damaged) = Sightings::sound_of(&self.db, root)?;
        let sightings_are_damaged = damaged.is_some();
        self.require_gone(root, (&statuses, &sightings), ids)?;
        let is_parting = |row: i64| ids.binary_search(&row).is_ok();
        let mut seen: HashMap<i64, Sighting> =
            sightings.of_rows(is_parting).map(|(number, seen)| (number, seen.clone())).collect();
        // What is in its place now and was not read there may be the damaged file.
        let mut unseen = Vec::new();
        for (file, there) in self.places(root, kept(&statuses, is_parting))? {
            let Some(there) = there.filter(|_| root.inodes_last) else { continue };
            if sightings.at(root, &there, || file.path()).is_none() {
                let (checked, status) = (self.checked(file.id)?, statuses[&file.id]);
                unseen.push(Sighting::new(&file, there, checked, status));
            }
        }
        // All of the rows' go, and those that are as written come back.
        let sound =
            if sightings_are_damaged { seen.values().cloned().collect() } else { Vec::new() };
        seen.extend(unseen.iter().map(|seen| (seen.stat.inode, seen.clone())));
        // It is other rows' that have the file in their places as well, as links.
        let mut passed_on = sound;
        passed_on.extend(unseen);
        if !seen.is_empty() {
            let others = kept(&statuses, |id| !is_parting(id));
            for (file, there) in self.places(root, others)? {
                if let Some(seen) = there.and_then(|there| seen.get(&there.inode)) {
                    passed_on.push(Sighting { row: file.id, ..seen.clone() });
                }
            }
        }
        Ok(Parting { passed_on, sightings_are_damaged })
    }

    /// The rows of these ids, and how the regular files look that are in their places.
    fn places(
        &self,
        root: &Root,
        ids: impl IntoIterator<Item = i64>,
    ) -> Result<Vec<(File, Option<Stat>)>, CatalogError> {
        let mut finder = Finder::new(self.reader()?);
        let mut places = Vec::new();
        for id in ids {
            let file = match finder.find(id) {
                Ok(Some(file)) => file,
                // Of a damaged row nothing is known.
                Ok(None) | Err(CatalogError::Damaged(_)) => continue,
                Err(error) => return Err(error),
            };
            let there = look_at(&root.path_of(&file.path())).ok();
            let there = there.and_then(|stat| Stat::of(&stat));
            places.push((file, there.map(|(stat, _)| stat)));
        }
        Ok(places)
    }

    /// Of rows that are to be forgotten none that is not well may lie elsewhere: an update would
    /// take what is there up as new. What is in its place may be forgotten, and what is gone, as a
    /// look at the whole root tells.
    fn require_gone(
        &self,
        root: &Root,
        (statuses, sightings): (&HashMap<i64, Status>, &Sightings),
        ids: &[i64],
    ) -> Result<(), CatalogError> {
        let away = self.not_in_place(root, statuses, ids)?;
        if away.is_empty() {
            return Ok(());
        }
        if let Some(why) = root.why_not_there() {
            return Err(CatalogError::NotThere { path: root.path.clone(), why });
        }
        let found = scan(&self.db, root, &HashMap::new(), &self.own_files(), None, None)?;
        let births_are_known = tells_births(&root.path);
        let new = found.new.into_iter();
        let new = new.map(|New { path, stat, .. }| Name { path, stat, digests: None });
        let cataloged = self.cataloged_as(root, (statuses, sightings), &away, &found.others)?;
        for Name { path, stat, digests } in new.chain(cataloged) {
            let place = root.path_of(&path);
            let is_it = |(file, _): &&(File, Status)| {
                let seen = sightings.at(root, &stat, || path.clone());
                let is_seen = seen.is_some_and(|seen| seen.row == file.id);
                let is_it = is_seen || is_file_of(&file.stat, &place, &stat, births_are_known);
                // What that row says of it is the same, and stays.
                let is_known = |digests| agree(digests, &file.digests) == Some(true);
                is_it && !digests.as_ref().is_some_and(is_known)
            };
            if let Some((file, status)) = away.iter().find(is_it).filter(|_| root.inodes_last) {
                let (path, status) = (root.path_of(&file.path()), *status);
                return Err(CatalogError::Elsewhere { path, status, place });
            }
        }
        self.require_sight(root, sightings, &away)
    }

    /// Names that have the numbers of these rows and are cataloged themselves.
    fn cataloged_as(
        &self,
        root: &Root,
        (statuses, sightings): (&HashMap<i64, Status>, &Sightings),
        away: &[(File, Status)],
        others: &[Other],
    ) -> Result<Vec<Name>, CatalogError> {
        let own = away.iter().map(|(file, _)| file.stat.inode);
        let ids: HashSet<i64> = away.iter().map(|(file, _)| file.id).collect();
        let seen = sightings.of_rows(|row| ids.contains(&row)).map(|(number, _)| number);
        let numbers: HashSet<i64> = own.chain(seen).collect();
        let is_one = |number: &i64| numbers.contains(number);
        let has_one = |other: &&Other| other.there.as_ref().is_some_and(is_one);
        let ids: HashSet<i64> = others.iter().filter(has_one).map(|other| other.id).collect();
        let (mut rows, mut named) = (Files::of(&self.db, root.id), Vec::new());
        while let Some(file) = rows.next()? {
            let may_be = is_one(&file.stat.inode) || ids.contains(&file.id);
            // What is damaged there stays so.
            if !may_be || statuses.get(&file.id).is_some_and(|status| status.is_kept()) {
                continue;
            }
            let there = look_at(&root.path_of(&file.path())).ok();
            if let Some((stat, _)) = there.and_then(|stat| Stat::of(&stat)) {
                // What a row says is of the file that it had.
                let (path, is_its) = (file.path(), file.stat.inode == stat.inode);
                named.push(Name { path, stat, digests: is_its.then_some(file.digests) });
            }
        }
        Ok(named)
    }

    /// The rows of these ids that may be damaged and whose files are not in their places.
    fn not_in_place(
        &self,
        root: &Root,
        statuses: &HashMap<i64, Status>,
        ids: &[i64],
    ) -> Result<Vec<(File, Status)>, CatalogError> {
        let status = |id: &i64| statuses.get(id).copied().filter(|it| it.may_be_damaged());
        let damaged = ids.iter().copied().filter(|id| status(id).is_some());
        let places = self.places(root, damaged)?.into_iter();
        let away = places
            .filter(|(file, there)| there.is_none_or(|there| number(&there) != number(&file.stat)));
        Ok(away.filter_map(|(file, _)| status(&file.id).map(|status| (file, status))).collect())
    }

    /// That files are gone is known only where they would be seen: in their places, and where they
    /// were found last.
    fn require_sight(
        &self,
        root: &Root,
        sightings: &Sightings,
        away: &[(File, Status)],
    ) -> Result<(), CatalogError> {
        let told = self.told_elsewhere(root.id)?;
        let mut ways = Ways::of(&root.path)?;
        for (file, status) in away {
            let path = file.path();
            let last = told.get(&path).cloned().flatten();
            let seen = sightings.of_rows(|row| row == file.id).map(|(_, seen)| seen.place.clone());
            for place in [Some(path.clone()), last].into_iter().flatten().chain(seen) {
                let whole = root.path_of(&place);
                let why = match ways.look(&place) {
                    There::Mount(_) => Some("something is mounted there".to_owned()),
                    There::Gone => None,
                    There::File => look_at(&whole).err().map(|error| message(&error)),
                };
                if let Some(why) = why {
                    let (path, status) = (root.path_of(&path), *status);
                    return Err(CatalogError::Unseen { path, status, place: whole, why });
                }
            }
        }
        Ok(())
    }

    /// Of these rows of a root those that stand as missing, or were damaged and told to be gone
    /// since, and of which nothing is there.
    fn missing_of(&self, root: &Root, ids: &[i64]) -> Result<Rows, CatalogError> {
        let statuses = self.statuses(root.id)?;
        let told = self.told_elsewhere(root.id)?;
        let (sightings, _) = Sightings::sound_of(&self.db, root)?;
        let mut finder = Finder::new(self.reader()?);
        let mut ways = Ways::of(&root.path)?;
        // What has another name since the last look is not gone.
        let elsewhere = self.elsewhere(root, (&statuses, &sightings))?;
        let mut missing = Rows::default();
        for &id in ids {
            let Some(status) = statuses.get(&id) else { continue };
            if !(*status == Status::Missing || status.is_kept()) {
                continue;
            }
            let Some(file) = finder.find(id)? else { continue };
            let path = file.path();
            let is_told = *status == Status::Missing || told.get(&path) == Some(&None);
            if is_told && !elsewhere.has(root, &file) && ways.have_nothing_at(&path) {
                missing.ids.push(id);
                missing.bytes = missing.bytes.saturating_add(file.stat.bytes());
            }
        }
        Ok(missing)
    }

    /// What lies in a root under names without a row.
    fn elsewhere(
        &self,
        root: &Root,
        (statuses, sightings): (&HashMap<i64, Status>, &Sightings),
    ) -> Result<Elsewhere, CatalogError> {
        let numbers = self.new_numbers(root, statuses, None)?;
        let seen = sightings.of_rows(|_| true).filter(|(number, _)| numbers.contains(number));
        let rows = seen.map(|(_, seen)| seen.row).collect();
        Ok(Elsewhere { numbers, rows })
    }

    /// The numbers of a root's files that have no row.
    pub(crate) fn new_numbers(
        &self,
        root: &Root,
        statuses: &HashMap<i64, Status>,
        goes_on: Option<&GoesOn>,
    ) -> Result<HashSet<i64>, CatalogError> {
        let found = scan(&self.db, root, statuses, &self.own_files(), None, goes_on)?;
        Ok(found.new.iter().map(|new| new.stat.inode).collect())
    }

    /// Whether a file at a path, or one below it, is cataloged.
    pub(crate) fn has_rows_at(&self, root: &Root, below: &[u8]) -> Result<bool, CatalogError> {
        Ok(!self.rows_at(root, below, false)?.ids.is_empty())
    }

    /// The rows of a root whose files have this number.
    pub(crate) fn rows_of_number(&self, root: i64, number: i64) -> Result<Vec<File>, CatalogError> {
        let sql = "SELECT f.id FROM folder d JOIN file f ON f.folder = d.id \
                   WHERE d.root = ?1 AND f.inode = ?2 ORDER BY f.id";
        let mut statement = self.db.prepare_cached(sql)?;
        let ids = statement.query_map([root, number], |row| row.get(0))?;
        let mut finder = Finder::new(self.reader()?);
        let mut files = Vec::new();
        for id in ids {
            files.extend(finder.find(id?)?);
        }
        Ok(files)
    }

    /// The row of the file at a path; where there is none, or a folder is meant, those of all files
    /// below it.
    fn rows_at(&self, root: &Root, below: &[u8], is_folder: bool) -> Result<Rows, CatalogError> {
        let columns = FILE.select("f");
        let sql = format!(
            "SELECT {columns} FROM folder d JOIN file f ON f.folder = d.id WHERE d.root = ?1"
        );
        let found = if is_folder || below.is_empty() {
            // Of the root all is below; to SQLite a part of an empty path is no path.
            let sql = format!("{sql} AND (?2 = 0 OR substr(d.path, 1, ?2) = ?3)");
            let mut inside = below.to_vec();
            if !inside.is_empty() {
                inside.push(b'/');
            }
            self.rows(&sql, (root.id, inside.len() as i64, &inside))?
        } else {
            let (folder, name) = rows::split(below);
            let sql = format!("{sql} AND d.path = ?2 AND f.name = ?3");
            self.rows(&sql, (root.id, folder, name))?
        };
        let is_none = found.ids.is_empty() && !is_folder && !below.is_empty();
        if is_none { self.rows_at(root, below, true) } else { Ok(found) }
    }

    fn rows(&self, sql: &str, parameters: impl Params) -> Result<Rows, CatalogError> {
        let mut statement = self.db.prepare(sql)?;
        let mut rows = statement.query(parameters)?;
        let mut found = Rows::default();
        while let Some(row) = rows.next()? {
            found.ids.push(row.get(0)?);
            found.bytes = found.bytes.saturating_add(row.get::<_, i64>(3)?.max(0));
            found.damaged += u64::from(FILE.verify(row, 0).is_err());
        }
        found.ids.sort_unstable();
        Ok(found)
    }
}

/// Reads a file: how it looked then, and its digests.
fn read(
    path: &Path,
    algorithms: Algorithms,
    options: &Options,
) -> Result<(Stat, Digests), CatalogError> {
    let unreadable = |words: String| CatalogError::io(path)(std::io::Error::other(words));
    let job = Job { source: Source::Regular(path.to_owned()), algorithms, context: () };
    let outcome = engine::run(&options.engine, std::iter::once(job)).next();
    let hashed = match outcome.map(|outcome| outcome.result) {
        Some(Ok(hashed)) => hashed,
        Some(Err(error)) => return Err(unreadable(error.to_string())),
        None => return Err(unreadable("it was not read".to_owned())),
    };
    let stat = Stat::of_hashed(&hashed)
        .ok_or_else(|| unreadable("only regular files are cataloged".to_owned()))?;
    Ok((stat, hashed.digests))
}

/// The ids of the rows whose last good digest is kept, as far as they are wanted, in their order.
fn kept(statuses: &HashMap<i64, Status>, is_wanted: impl Fn(i64) -> bool) -> Vec<i64> {
    let is_it = |(id, status): &(&i64, &Status)| status.is_kept() && is_wanted(**id);
    let mut ids: Vec<i64> = statuses.iter().filter(is_it).map(|(&id, _)| id).collect();
    ids.sort_unstable();
    ids
}

/// The new names of a damaged file, and how that stands.
struct PutAside {
    names: Vec<(Vec<u8>, Stat)>,
    status: Status,
}

/// Files without a row.
struct Elsewhere {
    numbers: HashSet<i64>,
    /// The rows that some of them were held against.
    rows: HashSet<i64>,
}

impl Elsewhere {
    /// Whether the file of a row is one of them.
    fn has(&self, root: &Root, file: &File) -> bool {
        root.inodes_last
            && (self.numbers.contains(&file.stat.inode) || self.rows.contains(&file.id))
    }
}

/// What rows leave that are forgotten.
#[derive(Default)]
struct Parting {
    /// What is known of their files: as other rows' that have these, too, or by these numbers.
    passed_on: Vec<Sighting>,
    /// Whether what was seen is not as it was written, so that it goes with them.
    sightings_are_damaged: bool,
}

/// A name below a root, what is there, and the digests that this file is cataloged with there, if
/// it is.
struct Name {
    path: Vec<u8>,
    stat: Stat,
    digests: Option<Digests>,
}

/// Rows of files.
#[derive(Default)]
struct Rows {
    ids: Vec<i64>,
    /// Of their files together.
    bytes: i64,
    /// How many of them are not as they were written.
    damaged: u64,
}
