//! Where damage was seen: the number of each file that was read and was not as cataloged, whatever
//! it was called, and what it should have held.
//!
//! A row knows one file. Once a good copy is in its place it says nothing more of what was put
//! aside for that, and of what came into its place and went on it never said anything.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, ErrorKind};

use lanesum_checksum::engine::look_at;
use lanesum_list::Digests;
use rusqlite::{Connection, Row};

use crate::class::{Case, Class, Status, case};
use crate::digests::agree;
use crate::root::{Kin, Root};
use crate::rows::{File, State, at};
use crate::stat::{NEVER, Stat, is_file_of, tells_births};
use crate::table::{FILE, SIGHTING, blob, int};
use crate::way::{There, Ways};
use crate::{CatalogError, digests};

/// The row of what was seen in another root.
const NONE: i64 = 0;
/// The same where that root is not there.
const AWAY: i64 = -1;

/// A damaged file, as it was read last.
#[derive(Clone, Debug)]
pub(crate) struct Sighting {
    /// The row that it was held against last.
    pub(crate) row: i64,
    pub(crate) stat: Stat,
    /// Its path below the root.
    pub(crate) place: Vec<u8>,
    /// When that row's content was last read as it is cataloged.
    pub(crate) checked: i64,
    pub(crate) status: Status,
    /// What it should be: size in bytes, time of its content in nanoseconds, and digests.
    pub(crate) size: i64,
    pub(crate) modified: i64,
    pub(crate) digests: Digests,
}

impl Sighting {
    /// Of a row whose file looked so when it was read.
    pub(crate) fn new(row: &File, stat: Stat, checked: i64, status: Status) -> Self {
        let (size, modified) = (row.stat.size, row.stat.modified);
        let (place, digests) = (row.place(), row.digests.clone());
        Self { row: row.id, stat, place, checked, status, size, modified, digests }
    }

    /// Whether it was seen in the root itself, and held against a row of that.
    pub(crate) fn is_of_root(&self) -> bool {
        self.row > NONE
    }

    /// Whether it was seen in another root, which is not there, so that it may be another file's: a
    /// row that has the number knows more.
    pub(crate) fn is_away(&self) -> bool {
        self.row == AWAY
    }

    /// What a row has that is made for the file: it was never as it should be under that name.
    pub(crate) fn row_stat(&self) -> Stat {
        let Self { size, modified, .. } = *self;
        Stat { size, modified, changed: NEVER, inode: self.stat.inode }
    }

    /// How the file stands now that it was read with this outcome; none where it is as it should
    /// be, or was edited since it could not be read.
    pub(crate) fn damage(&self, stat: &Stat, digests: &Digests) -> Option<Status> {
        if agree(&self.digests, digests) == Some(true) {
            return None;
        }
        // What may have rotted is no edit for that it was edited.
        if self.status.is_kept() || self.status == Status::Changed {
            return Some(self.status);
        }
        match case(&self.row_stat().completed_by(stat), stat, false) {
            Case::Is(Class::Changed | Class::Older) => None,
            Case::Is(class) => Status::of_class(class),
            Case::Suspicious => Some(Status::Altered),
        }
    }

    /// Whether the file is where it was seen, or that cannot be known.
    fn may_be_there(&self, eyes: &mut Eyes<'_>) -> bool {
        let Eyes { root, ways, births_are_known } = eyes;
        let Some(ways) = ways else { return true };
        let path = root.path_of(&self.place);
        let is_it = |now: Stat| is_file_of(&self.stat, &path, &now, *births_are_known);
        match ways.look(&self.place) {
            // What a mount hides is there, as far as anybody knows.
            There::Mount(_) => true,
            There::Gone => false,
            There::File => match look_at(&path) {
                Ok(now) => Stat::of(&now).is_some_and(|(now, _)| is_it(now)),
                Err(error) => !is_gone(&error),
            },
        }
    }

    pub(crate) fn put(&self, db: &Connection, id: i64, root: i64) -> Result<(), CatalogError> {
        let (algorithms, digests) = digests::encode(&self.digests)?;
        let Stat { size, modified, changed, inode } = self.stat;
        SIGHTING.put(
            db,
            &[
                int(id),
                int(root),
                int(inode),
                int(size),
                int(modified),
                int(changed),
                int(self.row),
                blob(&self.place),
                int(self.checked),
                int(self.status.number()),
                int(self.size),
                int(self.modified),
                int(algorithms),
                blob(&digests),
            ],
        )
    }

    fn read(row: &Row<'_>) -> Result<Self, CatalogError> {
        let values = SIGHTING.verified::<14>(row, 0)?;
        let number = |place: usize| values[place].as_i64().map_err(rusqlite::Error::from);
        let bytes = |place: usize| values[place].as_blob().map_err(rusqlite::Error::from);
        let of_none = || CatalogError::Damaged(format!("sighting {:?} says nothing", values[0]));
        let stat =
            Stat { inode: number(2)?, size: number(3)?, modified: number(4)?, changed: number(5)? };
        Ok(Self {
            row: number(6)?,
            stat,
            place: bytes(7)?.to_vec(),
            checked: number(8)?,
            status: Status::of_number(number(9)?).ok_or_else(of_none)?,
            size: number(10)?,
            modified: number(11)?,
            digests: digests::decode(number(12)?, bytes(13)?).ok_or_else(of_none)?,
        })
    }
}

/// Whether nothing is at a path that was looked at.
pub(crate) fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Those of a root.
#[derive(Default)]
pub(crate) struct Sightings {
    by_number: HashMap<i64, Sighting>,
    /// Those of other roots of its device, since a file may come from there with its number. No row
    /// of this root is that of these.
    elsewhere: HashMap<i64, Vec<Sighting>>,
    births_are_known: bool,
}

impl Sightings {
    /// What was seen of a root.
    pub(crate) fn of(db: &Connection, root: &Root) -> Result<Self, CatalogError> {
        let (all, damaged) = Self::sound_of(db, root)?;
        damaged.map_or(Ok(all), Err)
    }

    /// The same without those that are damaged themselves; and the first of these.
    pub(crate) fn sound_of(
        db: &Connection,
        root: &Root,
    ) -> Result<(Self, Option<CatalogError>), CatalogError> {
        let births_are_known = tells_births(&root.path);
        let mut all = Self { births_are_known, ..Self::default() };
        let Every { sound, damaged } = every(db)?;
        let is_alone = sound.iter().all(|(of, _)| *of == root.id);
        let kin = if is_alone { Kin::default() } else { root.kin(db)? };
        for (of, seen) in sound {
            if of == root.id {
                all.insert(seen);
                continue;
            }
            let row = if kin.here.contains(&of) { NONE } else { AWAY };
            if row == NONE || kin.away.contains(&of) {
                let seen = Sighting { row, ..seen };
                all.elsewhere.entry(seen.stat.inode).or_default().push(seen);
            }
        }
        Ok((all, damaged))
    }

    /// What was seen of a file of this root, which looks so now; where it is is asked only if its
    /// number was seen.
    pub(crate) fn at(
        &self,
        root: &Root,
        stat: &Stat,
        place: impl FnOnce() -> Vec<u8>,
    ) -> Option<&Sighting> {
        let here = self.by_number.get(&stat.inode);
        let elsewhere = self.elsewhere.get(&stat.inode);
        if !root.inodes_last || here.is_none() && elsewhere.is_none() {
            return None;
        }
        let path = root.path_of(&place());
        let is_it = |seen: &&Sighting| is_file_of(&seen.stat, &path, stat, self.births_are_known);
        // What is on the device tells more than what may have been there.
        let on_device = elsewhere.into_iter().flatten().filter(|seen| !seen.is_away());
        let away = elsewhere.into_iter().flatten().filter(|seen| seen.is_away());
        here.into_iter().chain(on_device).chain(away).find(is_it)
    }

    /// Whether what was seen of a number in other roots says no more of a file that reads so.
    pub(crate) fn others_agree(&self, stat: &Stat, digests: &Digests) -> bool {
        let mut others = self.elsewhere.get(&stat.inode).into_iter().flatten();
        others.all(|seen| seen.damage(stat, digests).is_none())
    }

    /// What was seen of some rows' files, with their numbers.
    pub(crate) fn of_rows(
        &self,
        is_one: impl Fn(i64) -> bool,
    ) -> impl Iterator<Item = (i64, &Sighting)> {
        let all = self.by_number.iter().map(|(&number, seen)| (number, seen));
        all.filter(move |(_, seen)| is_one(seen.row))
    }

    pub(crate) fn insert(&mut self, sighting: Sighting) {
        self.by_number.insert(sighting.stat.inode, sighting);
    }

    pub(crate) fn remove(&mut self, number: i64, is_so_everywhere: bool) {
        self.by_number.remove(&number);
        if is_so_everywhere {
            self.elsewhere.remove(&number);
        }
    }
}

/// A damaged file that no row tells of since that was forgotten, and that is there all the same.
pub(crate) struct Rowless {
    pub(crate) root: i64,
    pub(crate) seen: Sighting,
}

impl Rowless {
    /// How it stands, as a row's file.
    pub(crate) fn state(&self) -> State {
        let Sighting { row: id, checked, status, .. } = self.seen;
        State { id, root: self.root, checked, status }
    }
}

/// What files of a root are looked at with.
struct Eyes<'r> {
    root: &'r Root,
    /// None where the root is not there.
    ways: Option<Ways>,
    births_are_known: bool,
}

impl<'r> Eyes<'r> {
    fn of(root: &'r Root) -> Result<Self, CatalogError> {
        let is_there = root.why_not_there().is_none();
        let ways = is_there.then(|| Ways::of(&root.path)).transpose()?;
        Ok(Self { root, ways, births_are_known: tells_births(&root.path) })
    }
}

/// All sightings of a catalog. None is chosen before it is held against its seal, or a flipped bit
/// in what it is chosen by would hide it.
#[derive(Default)]
struct Every {
    /// Each with the number of its root.
    sound: Vec<(i64, Sighting)>,
    /// Of those that are not as written, the first.
    damaged: Option<CatalogError>,
}

fn every(db: &Connection) -> Result<Every, CatalogError> {
    let sql = format!("SELECT {} FROM sighting t ORDER BY id", SIGHTING.select("t"));
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = statement.query([])?;
    let mut every = Every::default();
    while let Some(row) = rows.next()? {
        match Sighting::read(row) {
            Ok(seen) => every.sound.push((row.get(1)?, seen)),
            Err(error @ CatalogError::Damaged(_)) => _ = every.damaged.get_or_insert(error),
            Err(error) => return Err(error),
        }
    }
    Ok(every)
}

/// Those of a catalog, in the order of the rows that they had. Where a root is not there, all are.
pub(crate) fn rowless(db: &Connection, roots: &[Root]) -> Result<Vec<Rowless>, CatalogError> {
    let mut found: BTreeMap<i64, Rowless> = BTreeMap::new();
    let mut eyes: HashMap<i64, Eyes<'_>> = HashMap::new();
    let mut has_state = db.prepare_cached("SELECT 1 FROM state WHERE id = ?1")?;
    let Every { sound, damaged } = every(db)?;
    if let Some(damaged) = damaged {
        return Err(damaged);
    }
    for (root, seen) in sound {
        if has_state.exists([seen.row])? {
            continue;
        }
        let of = roots.iter().find(|of| of.id == root && of.inodes_last);
        let Some(of) = of else { continue };
        let eyes = match eyes.entry(root) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(Eyes::of(of)?),
        };
        if seen.may_be_there(eyes) && at(db, root, &seen.place)?.is_none() {
            found.insert(seen.row, Rowless { root, seen });
        }
    }
    Ok(found.into_values().collect())
}

/// Before there were sightings a row alone knew its damage: of each that does, its file is one.
pub(crate) fn take_up(db: &Connection) -> Result<(), CatalogError> {
    let mut damaged = Vec::new();
    State::for_each_not_well(db, |state| {
        if state.status.is_kept() {
            damaged.push(state);
        }
        Ok(())
    })?;
    let columns = FILE.select("f");
    let sql = format!(
        "SELECT {columns}, d.path FROM file f JOIN folder d ON f.folder = d.id WHERE f.id = ?1"
    );
    let mut statement = db.prepare(&sql)?;
    for (id, State { id: file, root, checked, status }) in (1..).zip(damaged) {
        let mut rows = statement.query([file])?;
        let Some(row) = rows.next()? else { continue };
        let folder: Vec<u8> = row.get(FILE.columns.len() + 1)?;
        match File::read(row, 0, &folder.into()) {
            Ok(file) if file.stat.is_of_list() => {}
            Ok(file) => Sighting::new(&file, file.stat, checked, status).put(db, id, root)?,
            // Whoever reads that row says so.
            Err(CatalogError::Damaged(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use lanesum_list::{Algorithm, Digest};

    use super::*;

    /// What could not be read may have been edited since, as any other file; what was damaged stays
    /// so.
    #[test]
    fn what_is_read_again_is_held_against_what_it_should_be() {
        let of = |byte: u8| Digests::from_iter([Digest::new(Algorithm::Md5, &[byte; 16]).unwrap()]);
        let stat = |size, modified| Stat { size, modified, changed: 9, inode: 1 };
        let seen = |status| Sighting {
            row: 1,
            stat: stat(5, 50),
            place: b"file".to_vec(),
            checked: 1,
            status,
            size: 5,
            modified: 50,
            digests: of(1),
        };
        for (now, unreadable) in [
            (stat(5, 50), Some(Status::Altered)),
            (stat(4, 50), Some(Status::Altered)),
            (stat(0, 50), Some(Status::Emptied)),
            (stat(5, 51), None),
            (stat(4, 49), None),
        ] {
            assert_eq!(seen(Status::Unreadable).damage(&now, &of(2)), unreadable, "{now:?}");
            for status in [Status::Rotted, Status::Changed] {
                assert_eq!(seen(status).damage(&now, &of(2)), Some(status), "{now:?}");
            }
            for status in [Status::Unreadable, Status::Rotted, Status::Changed] {
                assert_eq!(seen(status).damage(&now, &of(1)), None, "{now:?} {status:?}");
            }
        }
    }
}
