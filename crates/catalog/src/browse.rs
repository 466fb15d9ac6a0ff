//! What whoever shows a catalog asks for: a page of what is not well, one file, the runs of some
//! time.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use lanesum_checksum::engine::look_at;
use lanesum_list::{Digest, Digests, Inode};
use rusqlite::types::ValueRef;

use crate::check::require_rows;
use crate::class::{Class, Status};
use crate::finding::Finding;
use crate::overview::{event, run};
use crate::root::Root;
use crate::rows::{File, Files, Finder, State, have_same_content};
use crate::sighting::Rowless;
use crate::stat::Stat;
use crate::summary::Severity;
use crate::table::{EVENT, RUN, STATE};
use crate::way::{There, Ways};
use crate::{Catalog, CatalogError, Event, Run};

/// The newest events, among which those of a file are looked for: they have no index.
const EVENTS: i64 = 100_000;

/// A file of the catalog, and how it stands.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Known {
    /// What it is called by in the catalog, as long as it is there and under whatever name.
    pub id: i64,
    /// Where it is, as cataloged.
    pub path: PathBuf,
    /// Where it was found when it was told to stand as it does, if that was under another name.
    pub elsewhere: Option<PathBuf>,
    /// Whether it was gone when it was looked for last, under whatever name.
    pub is_gone: bool,
    /// How it stands.
    pub status: Status,
    /// When it was well the last time that it was looked at: seconds since 1970, and 0 where it
    /// never was.
    pub last_good: i64,
    /// Bytes that it has, as cataloged; -1 where a list told of it and not of those, and it was not
    /// there.
    pub size: i64,
    /// What is cataloged of its content.
    pub digests: Digests,
    /// What was told of it when it was found as it stands; nothing where it is well, or a hundred
    /// thousand things were found after.
    pub found: Option<Event>,
    /// Another cataloged file that should have the same content, is there and is well as far as is
    /// known, where [`Catalog::find_copies`] found one.
    pub copy: Option<PathBuf>,
    root: i64,
    below: Vec<u8>,
}

/// The inode of a row's file, if it is there with the size and time that the row has.
fn looks_as_cataloged(row: &File, root: &Root, ways: &mut Ways) -> Option<Inode> {
    if !matches!(ways.look(&row.path()), There::File) {
        return None;
    }
    let there = look_at(&root.path_of(&row.path())).ok()?;
    let (stat, inode) = Stat::of(&there)?;
    let is_it = (stat.size, stat.modified) == (row.stat.size, row.stat.modified);
    is_it.then_some(inode)
}

/// Whether a file has this inode now.
fn is_inode_of(file: &Known, inode: Inode) -> bool {
    let there = look_at(file.elsewhere.as_deref().unwrap_or(&file.path)).ok();
    there.as_ref().and_then(Stat::of).is_some_and(|(_, it)| it == inode)
}

impl Known {
    /// What there is to tell of it where it is not well: that it was found so, also where the event
    /// of that is too long ago.
    #[must_use]
    pub fn told(&self) -> Option<Event> {
        self.found.clone().or_else(|| {
            let class = Class::from_name(self.status.name())?;
            let finding = Finding::new(class, self.path.as_os_str().as_bytes().to_vec());
            Some(Event { at: self.last_good, root: None, finding })
        })
    }

    /// What it was found to be: an older version stands as changed, and what reads differently each
    /// time as rotted.
    #[must_use]
    pub fn class(&self) -> &'static str {
        match self.found.as_ref().map(|event| event.finding.class) {
            Some(class @ (Class::Older | Class::Unstable)) => class.name(),
            _ => self.status.name(),
        }
    }

    /// How it stands, in words: what was damaged and is gone since is both.
    #[must_use]
    pub fn standing(&self) -> Cow<'static, str> {
        let is_emptied = self.status == Status::Emptied;
        let word = if is_emptied { self.status.standing() } else { self.class() };
        let is_both = self.is_gone && self.status.is_kept();
        if is_both { Cow::Owned(format!("{word} and gone")) } else { Cow::Borrowed(word) }
    }

    /// Where it is now, as far as is known.
    #[must_use]
    pub fn place(&self) -> &Path {
        self.elsewhere.as_deref().unwrap_or(&self.path)
    }

    /// Whether it is a file of this folder, and of none in it that was added by itself.
    #[must_use]
    pub fn is_of(&self, root: &Root) -> bool {
        self.root == root.id
    }
}

impl Catalog {
    /// The files that are not well whose ids are greater than `after`, in the order of these, and
    /// so many at most. That there is none is said only of a catalog that has lost no rows.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn not_well_after(&self, after: i64, most: usize) -> Result<Vec<Known>, CatalogError> {
        let columns = STATE.select("t");
        let sql = format!(
            "SELECT {columns} FROM state t WHERE id > ?1 AND status >= ?2 ORDER BY id LIMIT ?3"
        );
        let mut statement = self.db.prepare_cached(&sql)?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let mut rows = statement.query((after, Status::FIRST_NOT_GOOD.number(), most))?;
        let mut states = Vec::new();
        while let Some(row) = rows.next()? {
            states.push(State::read(row)?);
        }
        if states.is_empty() {
            require_rows(&self.db)?;
        }
        let rowless = self.rowless()?.into_iter();
        states.extend(rowless.map(|it| it.state()).filter(|state| state.id > after));
        states.sort_by_key(|state| state.id);
        states.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        self.known(&states)
    }

    /// Finds for files that are damaged or missing what else is cataloged with their content, in
    /// whatever folder. All rows are read for it.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn find_copies(&self, files: &mut [Known]) -> Result<(), CatalogError> {
        let mut lost: HashMap<Digest, Vec<usize>> = HashMap::new();
        for (place, file) in files.iter().enumerate() {
            // Empty files match nothing.
            if file.size != 0 && file.status.severity() == Severity::Damage {
                for digest in file.digests.iter() {
                    lost.entry(*digest).or_default().push(place);
                }
            }
        }
        if lost.is_empty() {
            return Ok(());
        }
        let is_there = |root: &Root| root.suspended.is_none() && root.why_not_there().is_none();
        for root in self.roots()?.into_iter().filter(is_there) {
            let statuses = self.statuses(root.id)?;
            let (mut rows, mut ways) = (Files::of(&self.db, root.id), Ways::of(&root.path)?);
            while let Some(row) = rows.next()? {
                let Some(digest) = row.digests.iter().find(|digest| lost.contains_key(*digest))
                else {
                    continue;
                };
                if statuses.contains_key(&row.id) {
                    continue;
                }
                // Nothing may have looked there since it went, or was edited.
                let Some(inode) = looks_as_cataloged(&row, &root, &mut ways) else { continue };
                let path = root.path_of(&row.path());
                let places = lost.entry(*digest).or_default();
                places.retain(|&place| {
                    let file = &mut files[place];
                    let (known, there) =
                        ((file.size, &file.digests), (row.stat.size, &row.digests));
                    // Another name of the damaged file is no copy.
                    let is_copy = have_same_content(known, there) && !is_inode_of(file, inode);
                    if is_copy && file.copy.is_none() {
                        file.copy = Some(path.clone());
                    }
                    !is_copy
                });
                if places.is_empty() {
                    lost.remove(digest);
                }
            }
        }
        Ok(())
    }

    /// The ids of the files of each root, by its id, that are changed so that it may be rot.
    pub(crate) fn may_be_rot(&self) -> Result<HashMap<i64, HashSet<i64>>, CatalogError> {
        let mut states = Vec::new();
        State::for_each_not_well(&self.db, |state| {
            states.extend(Some(state).filter(|state| state.status == Status::Changed));
            Ok(())
        })?;
        let rowless = self.rowless()?.into_iter().map(|it| it.state());
        states.extend(rowless.filter(|state| state.status == Status::Changed));
        let mut ids: HashMap<i64, HashSet<i64>> = HashMap::new();
        for file in self.known(&states)? {
            if file.found.is_some_and(|event| event.finding.may_be_rot()) {
                ids.entry(file.root).or_default().insert(file.id);
            }
        }
        Ok(ids)
    }

    /// The file of this id, if it is cataloged.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn known_file(&self, id: i64) -> Result<Option<Known>, CatalogError> {
        let sql = format!("SELECT {} FROM state t WHERE id = ?1", STATE.select("t"));
        let mut statement = self.db.prepare_cached(&sql)?;
        let mut rows = statement.query([id])?;
        let state = match rows.next()? {
            Some(row) => Some(State::read(row)?),
            None => self.rowless()?.iter().map(Rowless::state).find(|state| state.id == id),
        };
        Ok(self.known(state.as_slice())?.pop())
    }

    fn known(&self, states: &[State]) -> Result<Vec<Known>, CatalogError> {
        let roots: HashMap<i64, Root> =
            self.roots()?.into_iter().map(|root| (root.id, root)).collect();
        let mut finder = Finder::new(self.reader()?);
        let mut rowless: Option<Vec<Rowless>> = None;
        let mut files = Vec::new();
        for &State { id, root, checked: last_good, status } in states {
            let Some(of) = roots.get(&root) else { continue };
            let (below, size, digests) = match finder.find(id)? {
                Some(file) => (file.path(), file.stat.size, file.digests),
                None => {
                    let rowless = match &rowless {
                        Some(rowless) => rowless,
                        None => rowless.insert(self.rowless()?),
                    };
                    let Some(Rowless { seen, .. }) = rowless.iter().find(|it| it.seen.row == id)
                    else {
                        continue;
                    };
                    (seen.place.clone(), seen.size, seen.digests.clone())
                }
            };
            files.push(Known {
                id,
                path: of.path_of(&below),
                elsewhere: None,
                is_gone: false,
                status,
                last_good,
                size,
                digests,
                found: None,
                copy: None,
                root,
                below,
            });
        }
        self.find_events(&mut files)?;
        Ok(files)
    }

    /// Gives each file that is not well the event that told of it.
    fn find_events(&self, files: &mut [Known]) -> Result<(), CatalogError> {
        let bad = files.iter().enumerate().filter(|(_, file)| !file.status.is_good());
        let mut open: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
        for (place, file) in bad {
            open.entry(file.below.clone()).or_default().push(place);
        }
        if open.is_empty() {
            return Ok(());
        }
        self.newest_events(&mut |root, [path, other], class, event| {
            // What has another name on the disk is told under that, and its row has the other one,
            // until an update takes the name up.
            for name in [other, path].into_iter().flatten() {
                let Some(places) = open.get_mut(name) else { continue };
                if class == Class::Missing {
                    for &place in &*places {
                        files[place].is_gone |= files[place].root == root;
                    }
                }
                let is_it = |&place: &usize| {
                    let file: &Known = &files[place];
                    file.root == root && Status::of_class(class) == Some(file.status)
                };
                let Some(at) = places.iter().position(is_it) else { continue };
                let file = &mut files[places.swap_remove(at)];
                let is_elsewhere = !file.is_gone && other == Some(&*file.below);
                let event = event()?;
                file.elsewhere = Some(event.path()).filter(|it| is_elsewhere && *it != file.path);
                file.found = Some(event);
                if places.is_empty() {
                    open.remove(name);
                }
                break;
            }
            Ok(!open.is_empty())
        })
    }

    /// What was found of a file under the name that it is cataloged by, and of what was cataloged
    /// by that, newest first and so many at most, among the newest hundred thousand events.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn events_of(&self, file: &Known, most: usize) -> Result<Vec<Event>, CatalogError> {
        let mut found = Vec::new();
        self.newest_events(&mut |root, paths, _, event| {
            if root == file.root && paths.contains(&Some(&file.below)) {
                found.push(event()?);
            }
            Ok(found.len() < most)
        })?;
        Ok(found)
    }

    /// The rows of a root that were not told last in their places, each with the other name under
    /// which it was, or none where it was told to be gone: among the newest 100,000 events.
    pub(crate) fn told_elsewhere(
        &self,
        root: i64,
    ) -> Result<HashMap<Vec<u8>, Option<Vec<u8>>>, CatalogError> {
        let (mut elsewhere, mut told) = (HashMap::new(), HashSet::new());
        self.newest_events(&mut |of, [path, other], class, _| {
            let name = other.or(path).unwrap_or_default();
            if of == root && Status::of_class(class).is_some() && told.insert(name.to_vec()) {
                let place = other.and(path).map(<[u8]>::to_vec);
                if place.is_some() || class == Class::Missing {
                    elsewhere.insert(name.to_vec(), place);
                }
            }
            Ok(true)
        })?;
        Ok(elsewhere)
    }

    /// Gives the newest events, until `take` has enough: of each its root, its path and the other
    /// one that it tells, its class, and what reads the rest.
    #[expect(clippy::type_complexity, reason = "it has two callers, both here")]
    fn newest_events(
        &self,
        take: &mut dyn FnMut(
            i64,
            [Option<&[u8]>; 2],
            Class,
            &mut dyn FnMut() -> Result<Event, CatalogError>,
        ) -> Result<bool, CatalogError>,
    ) -> Result<(), CatalogError> {
        let roots = self.roots()?.into_iter().map(|root| (root.id, root.path)).collect();
        let columns = EVENT.select("t");
        let sql = format!(
            "SELECT {columns} FROM event t WHERE id > (SELECT max(id) FROM event) - {EVENTS} \
             ORDER BY id DESC"
        );
        let mut statement = self.db.prepare_cached(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            // What is none is told of where it is read whole: `lanesum catalog check`.
            let (ValueRef::Blob(path), ValueRef::Text(class)) = (row.get_ref(4)?, row.get_ref(5)?)
            else {
                continue;
            };
            let class = str::from_utf8(class).ok().and_then(Class::from_name);
            let Some(class) = class else { continue };
            let other = row.get_ref(6)?.as_blob_or_null().ok().flatten();
            if !take(row.get(3)?, [Some(path), other], class, &mut || event(row, &roots))? {
                break;
            }
        }
        Ok(())
    }

    /// Gives the runs that began at this time or later, newest first, each with the id of its root.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn runs_since(
        &self,
        since: i64,
        take: &mut dyn FnMut(i64, Run),
    ) -> Result<(), CatalogError> {
        let columns = RUN.select("t");
        let sql = format!("SELECT {columns} FROM run t WHERE started >= ?1 ORDER BY id DESC");
        let mut statement = self.db.prepare_cached(&sql)?;
        let mut rows = statement.query([since])?;
        while let Some(row) = rows.next()? {
            take(row.get(2)?, run(row)?);
        }
        Ok(())
    }
}
