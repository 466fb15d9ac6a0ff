//! What lists say of files, taken up without reading these.
//!
//! A row that comes of a list has the list's digests, and what is known of the file now; but no
//! time of its inode and no check. So whoever looks next reads it: the same digests are a first
//! good check, and others are [`Class::Altered`](crate::Class::Altered), since either the file or
//! the list is wrong. Where the list tells a time, an edit after it is one.
//!
//! What a list names and is not there is lost, as far as anybody knows: its row stands as missing
//! until it is back, moved or forgotten, also where other names have the same content: whether they
//! are as they should be only reading tells. But where more than half of the names are missing, the
//! list is of another folder, and none of them becomes a row.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::mem;
use std::path::{Path, PathBuf};

use lanesum_checksum::engine::look_at;
use lanesum_list::{Digests, Inode, Record};

use crate::batch::Batch;
use crate::check::require_shape;
use crate::class::{Class, Status};
use crate::digests::{agree, encode};
use crate::finding::Finding;
use crate::options::Options;
use crate::root::Root;
use crate::rows::{self, File};
use crate::sighting::Sightings;
use crate::stat::{NEVER, Stat, UNKNOWN_SIZE, UNKNOWN_TIME, is_second_of, nanoseconds};
use crate::volume::FolderId;
use crate::way::{There, Ways};
use crate::{Catalog, CatalogError};

/// What came of a file that a list names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Imported {
    /// It is cataloged now, and was not read.
    Taken,
    /// It is cataloged already, with the same digests.
    Known,
    /// It is cataloged already, with other digests, which stay.
    Differs,
    /// It is cataloged already, and with digests of other algorithms: whether they are of the same
    /// content is unknown.
    NotComparable,
    /// The lists contradict one another. It is cataloged as the first has it, and not read.
    Contradicted,
    /// The list says nothing of it that can be cataloged.
    NothingSaid,
    /// It is not there, and cataloged as missing.
    Missing,
    /// There is no regular file, or only behind a link; or nothing is there, as with most of the
    /// list.
    NoFile,
    /// Something is mounted there, which is no part of the folder.
    Mounted,
    /// It is in no folder that is cataloged.
    NoRoot,
    /// Its folder is not the one that was cataloged.
    Suspended,
}

impl Imported {
    /// Whether it is cataloged as the list says.
    #[must_use]
    pub const fn is_as_told(self) -> bool {
        matches!(self, Self::Taken | Self::Known)
    }

    /// Whether what the list says was taken, or held against what is cataloged.
    #[must_use]
    pub const fn is_heard(self) -> bool {
        use Imported::{Contradicted, Differs, Known, Missing, Taken};
        matches!(self, Taken | Known | Differs | Contradicted | Missing)
    }
}

/// What lists say of files, by their paths, until all of it is there.
#[derive(Debug, Default)]
pub struct Import {
    /// By their bytes: to order paths by their names takes ten times as long.
    files: BTreeMap<OsString, Said>,
    /// How many records were added.
    count: u64,
}

#[derive(Debug)]
struct Said {
    size: Option<i64>,
    modified: Option<i64>,
    digests: Digests,
    is_contradicted: bool,
    /// Whether its file is there by another way to write its name.
    is_written_otherwise: bool,
    /// How many were said before.
    order: u64,
}

/// No file has more bytes, and a list that says so is not believed: sizes are summed up.
const LARGEST: u64 = 1 << 44;

impl Import {
    /// Adds what a list says of the file at this path.
    pub fn add(&mut self, path: PathBuf, record: &Record<'_>) {
        let time = record.times.modified;
        let said = Said {
            size: record.size.filter(|size| *size <= LARGEST).and_then(|size| size.try_into().ok()),
            modified: time.map(|time| nanoseconds(time.seconds, i64::from(time.nanoseconds))),
            digests: record.digests.clone(),
            is_contradicted: false,
            is_written_otherwise: false,
            order: self.count,
        };
        self.count += 1;
        match self.files.entry(path.into_os_string()) {
            Entry::Occupied(mut before) => before.get_mut().join(said),
            Entry::Vacant(place) => _ = place.insert(said),
        }
    }

    /// Says that the file of a path that is not there is there by another way to write its name, as
    /// with slashes: it is no [missing](Imported::Missing) one.
    pub fn note_written_otherwise(&mut self, path: &Path) {
        if let Some(said) = self.files.get_mut(path.as_os_str()) {
            said.is_written_otherwise = true;
        }
    }

    /// Whether something was said of the file at this path.
    #[must_use]
    pub fn knows(&self, path: &Path) -> bool {
        self.files.contains_key(path.as_os_str())
    }

    /// The paths that lists name, in byte order.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.keys().map(Path::new)
    }

    /// Whether no list said anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

/// What a file is looked at with.
struct Eyes {
    ways: Ways,
    /// Whether what is not there is missing.
    are_missed: bool,
    /// How rows stand that are not well.
    statuses: HashMap<i64, Status>,
    /// The files that the catalog itself consists of.
    own: Vec<Inode>,
    /// What was seen of damaged files.
    sightings: Sightings,
}

impl Eyes {
    fn is_known_missing(&self, row: &File) -> bool {
        self.statuses.get(&row.id) == Some(&Status::Missing)
    }
}

/// What is said of files of a root, by their paths below it.
struct OfRoot {
    root: Root,
    files: BTreeMap<Vec<u8>, Said>,
}

impl Said {
    fn join(&mut self, mut said: Self) {
        if said.order < self.order {
            mem::swap(self, &mut said);
        }
        self.is_contradicted |= said.is_contradicted;
        self.is_written_otherwise |= said.is_written_otherwise;
        let differ =
            |one: Option<i64>, other| one.zip(other).is_some_and(|(one, other)| one != other);
        self.is_contradicted |= agree(&self.digests, &said.digests) == Some(false)
            || differ(self.size, said.size)
            || differ(self.modified, said.modified);
        if self.is_contradicted {
            return;
        }
        for digest in said.digests.iter() {
            if !self.digests.contains(digest) {
                self.digests.push(*digest);
            }
        }
        (self.size, self.modified) = (self.size.or(said.size), self.modified.or(said.modified));
    }
}

impl Catalog {
    /// Takes up what lists say of files in its roots, and tells what came of each, once all of its
    /// root's is on the medium. No file is read: all of them are due, and
    /// [`Overview::never`](crate::Overview::never) counts them until they are.
    ///
    /// # Errors
    /// Those of the catalog, and of `tell`. What came of a file is no error.
    pub fn import(
        &mut self,
        import: Import,
        options: &Options,
        tell: &mut dyn FnMut(&Path, Imported) -> std::io::Result<()>,
    ) -> Result<(), CatalogError> {
        require_shape(&self.db)?;
        let mut tell = |path: &Path, imported| tell(path, imported).map_err(CatalogError::Told);
        let mut roots: BTreeMap<i64, OfRoot> = BTreeMap::new();
        // Most files are where the one before was.
        let mut folders: HashMap<PathBuf, Option<(Root, Vec<u8>)>> = HashMap::new();
        for (path, said) in import.files {
            let path = PathBuf::from(path);
            let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
                tell(&path, Imported::NoRoot)?;
                continue;
            };
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            if !folders.contains_key(folder) {
                // A list may have been made by way of a link, and means what that leads to.
                let real = folder.canonicalize();
                let found = match self.root_of(real.as_deref().unwrap_or(folder)) {
                    Ok(found) => Some(found),
                    Err(CatalogError::NoRoot(_)) => None,
                    Err(error) => return Err(error),
                };
                folders.insert(folder.to_owned(), found);
            }
            let Some(Some((root, below))) = folders.get(folder) else {
                tell(&path, Imported::NoRoot)?;
                continue;
            };
            let mut below = below.clone();
            if !below.is_empty() {
                below.push(b'/');
            }
            below.extend_from_slice(std::os::unix::ffi::OsStrExt::as_bytes(name));
            let of_root = || OfRoot { root: root.clone(), files: BTreeMap::new() };
            // Lists write one path in several ways.
            match roots.entry(root.id).or_insert_with(of_root).files.entry(below) {
                Entry::Occupied(mut before) => before.get_mut().join(said),
                Entry::Vacant(place) => _ = place.insert(said),
            }
        }
        for OfRoot { root, files } in roots.into_values() {
            for (path, imported) in self.import_into(root, files, options)? {
                tell(&path, imported)?;
            }
        }
        Ok(())
    }

    fn import_into(
        &mut self,
        root: Root,
        files: BTreeMap<Vec<u8>, Said>,
        options: &Options,
    ) -> Result<Vec<(PathBuf, Imported)>, CatalogError> {
        let is_there =
            FolderId::of(&root.path).is_ok_and(|it| it.is_that_of(&root.volume, root.inode));
        let path_of = root.clone();
        let (ways, sightings) = (Ways::of(&root.path)?, Sightings::of(&self.db, &root)?);
        let (own, statuses) = (self.own_files(), self.statuses(root.id)?);
        let mut eyes = Eyes { ways, are_missed: false, statuses, own, sightings };
        let mut missed = 0;
        for below in files.keys() {
            if eyes.ways.have_nothing_at(below) {
                let row = rows::at(&self.db, path_of.id, below)?;
                missed += usize::from(row.is_none_or(|row| !eyes.is_known_missing(&row)));
            }
        }
        eyes.are_missed = 2 * missed <= files.len();
        let mut batch = Batch::begin(&self.db, root, "import", (options.clock)())?;
        let mut all = Vec::with_capacity(files.len());
        for (below, said) in files {
            let path = path_of.path_of(&below);
            let imported = if is_there {
                self.import_file(&mut batch, &mut eyes, &path, below, said)?
            } else {
                Imported::Suspended
            };
            all.push((path, imported));
            if batch.is_due() {
                batch.commit(&mut self.db)?;
            }
        }
        let is_whole = all.iter().all(|(_, imported)| imported.is_heard());
        let is_other = |it: Imported| matches!(it, Imported::Differs | Imported::Contradicted);
        let differs = all.iter().any(|(_, imported)| is_other(*imported));
        batch.run.ended = Some((options.clock)());
        batch.run.outcome = Some(match (is_whole, differs) {
            (false, _) => "partial",
            (true, true) => "differs",
            (true, false) => "complete",
        });
        batch.commit(&mut self.db)?;
        Ok(all)
    }

    fn import_file(
        &self,
        batch: &mut Batch,
        eyes: &mut Eyes,
        path: &Path,
        below: Vec<u8>,
        said: Said,
    ) -> Result<Imported, CatalogError> {
        if said.digests.is_empty() || encode(&said.digests).is_err() {
            return Ok(Imported::NothingSaid);
        }
        match eyes.ways.look(&below) {
            There::Gone if eyes.ways.have_nothing_at(&below) => {
                return self.import_missing(batch, eyes, below, said);
            }
            There::Gone => return Ok(Imported::NoFile),
            There::Mount(_) => return Ok(Imported::Mounted),
            There::File => {}
        }
        let Said { size, modified, digests, is_contradicted, .. } = said;
        if let Some(file) = rows::at(&self.db, batch.root.id, &below)? {
            return Ok(match agree(&file.digests, &digests) {
                Some(true) if is_contradicted => Imported::Contradicted,
                Some(true) => Imported::Known,
                Some(false) => Imported::Differs,
                None => Imported::NotComparable,
            });
        }
        let Some((stat, inode)) = look_at(path).ok().as_ref().and_then(Stat::of) else {
            return Ok(Imported::NoFile);
        };
        if eyes.own.contains(&inode) {
            return Ok(Imported::NothingSaid);
        }
        // A list that was made of it makes no damage well.
        let seen = eyes.sightings.at(&batch.root, &stat, || below.clone());
        if let Some(seen) = seen {
            let (state, good) = ((seen.checked, seen.status), seen.digests.clone());
            let is_good = agree(&good, &digests) == Some(true);
            batch.insert_known(below, seen.row_stat(), good, state);
            return Ok(if is_good { Imported::Taken } else { Imported::Differs });
        }
        // Most lists tell whole seconds, of a time that has more.
        let modified = modified.filter(|told| !is_second_of(*told, stat.modified));
        let (size, modified) = (size.unwrap_or(stat.size), modified.unwrap_or(stat.modified));
        batch.insert_unread(below, Stat { size, modified, changed: NEVER, ..stat }, digests);
        // Left out, it would be new to the next update, and right whatever it is.
        Ok(if is_contradicted { Imported::Contradicted } else { Imported::Taken })
    }

    /// What is not there, of which no row may tell yet.
    fn import_missing(
        &self,
        batch: &mut Batch,
        eyes: &Eyes,
        below: Vec<u8>,
        said: Said,
    ) -> Result<Imported, CatalogError> {
        if let Some(file) = rows::at(&self.db, batch.root.id, &below)? {
            return Ok(match agree(&file.digests, &said.digests) {
                Some(false) => Imported::Differs,
                None => Imported::NotComparable,
                Some(true) if eyes.is_known_missing(&file) => Imported::Missing,
                // It is gone since the last look, and nothing worse is known of it.
                Some(true) if eyes.are_missed && !eyes.statuses.contains_key(&file.id) => {
                    let finding =
                        Finding::new(Class::Missing, below).before(&file.stat, &file.digests);
                    batch.count(Class::Missing, 1);
                    batch.event(finding, batch.run.started);
                    batch.state(file.id, self.checked(file.id)?, Status::Missing);
                    Imported::Missing
                }
                Some(true) => Imported::NoFile,
            });
        }
        let Said { size, modified, digests, is_contradicted, is_written_otherwise, .. } = said;
        if !eyes.are_missed || is_written_otherwise {
            return Ok(Imported::NoFile);
        }
        let stat = Stat {
            size: size.unwrap_or(UNKNOWN_SIZE),
            modified: modified.unwrap_or(UNKNOWN_TIME),
            changed: NEVER,
            inode: 0,
        };
        let finding = Finding::new(Class::Missing, below.clone()).before(&stat, &digests);
        batch.count(Class::Missing, 1);
        batch.event(finding, batch.run.started);
        batch.insert_known(below, stat, digests, (0, Status::Missing));
        Ok(if is_contradicted { Imported::Contradicted } else { Imported::Missing })
    }
}
