//! The files of a root in byte order of their full paths, the order in which a walk finds them.
//!
//! Paths of directories end in `/`, so in byte order a directory comes when a walk would enter it.
//! The directories on the current path are a stack, each with the rest of its files. A file comes
//! before the next directory if its path does. Rows are read in pages, so that no read transaction
//! is long: the log cannot shrink during one.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::vec;

use lanesum_list::Digests;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use super::digests;
use super::table::{DIRECTORY, FILE, STATE};
use crate::CatalogError;
use crate::model::{Class, Reason, Stat};

/// The number of rows of a page.
const PAGE: i64 = 10_000;
/// The number of states that are collected.
const GATHERED: usize = 4096;

/// A record.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) id: i64,
    /// The path of its directory below the root, with a slash; empty for the root itself.
    pub(crate) directory: Arc<[u8]>,
    pub(crate) name: Box<[u8]>,
    /// Size and modification time of the recorded content, and the last change time and inode.
    pub(crate) stat: Stat,
    /// Whether any write after the recorded read would have changed the modification time.
    pub(crate) is_settled: bool,
    pub(crate) digests: Digests,
}

impl File {
    /// Its path below the root.
    pub(crate) fn path(&self) -> Vec<u8> {
        [&self.directory, &*self.name].concat()
    }

    /// Reads a row of `FILE`, from this column on.
    pub(crate) fn read(
        row: &Row<'_>,
        first: usize,
        directory: &Arc<[u8]>,
    ) -> Result<Self, CatalogError> {
        let values = FILE.verified::<10>(row, first)?;
        let number = |place: usize| values[place].as_i64().map_err(rusqlite::Error::from);
        let bytes = |place: usize| values[place].as_blob().map_err(rusqlite::Error::from);
        let id = number(0)?;
        let digests = digests::decode(number(8)?, bytes(9)?).ok_or_else(|| {
            CatalogError::Damaged(format!("file {id} has digests of no algorithm"))
        })?;
        Ok(Self {
            id,
            directory: Arc::clone(directory),
            name: bytes(2)?.into(),
            stat: Stat {
                size: number(3)?,
                modified: number(4)?,
                changed: number(4)?.wrapping_add(number(5)?),
                inode: number(6)?,
            },
            is_settled: number(7)? != 0,
            digests,
        })
    }
}

/// The state of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) id: i64,
    pub(crate) root: i64,
    /// The last verification, in seconds since 1970.
    pub(crate) verified: i64,
    pub(crate) class: Class,
    pub(crate) reason: Option<Reason>,
    /// The start of the class in seconds since 1970, or 0 for a file that is ok.
    pub(crate) since: i64,
}

impl State {
    pub(crate) const fn ok(id: i64, root: i64, verified: i64) -> Self {
        Self { id, root, verified, class: Class::Ok, reason: None, since: 0 }
    }

    pub(crate) fn is_ok(&self) -> bool {
        self.class == Class::Ok
    }

    pub(crate) fn has_io_error(&self) -> bool {
        self.class == Class::Unchecked && self.reason == Some(Reason::IoError)
    }

    pub(crate) fn read(row: &Row<'_>, first: usize) -> Result<Self, CatalogError> {
        Self::of(STATE.verified::<6>(row, first)?)
    }

    fn of(values: [ValueRef<'_>; 6]) -> Result<Self, CatalogError> {
        let number = |place: usize| values[place].as_i64().map_err(rusqlite::Error::from);
        let id = number(0)?;
        let unknown = || CatalogError::Damaged(format!("file {id} has an unknown class"));
        Ok(Self {
            id,
            root: number(1)?,
            verified: number(2)?,
            class: Class::from_number(number(3)?).ok_or_else(unknown)?,
            reason: Reason::from_number(number(4)?).map_err(|()| unknown())?,
            since: number(5)?,
        })
    }

    /// Returns the state of a record.
    pub(crate) fn find(db: &Connection, id: i64) -> Result<Option<Self>, CatalogError> {
        let sql = format!("SELECT {} FROM state t WHERE id = ?1", STATE.select("t"));
        let mut statement = db.prepare_cached(&sql)?;
        let mut rows = statement.query([id])?;
        rows.next()?.map(|row| Self::read(row, 0)).transpose()
    }

    /// Returns the states of a root that are not ok, by file ids.
    pub(crate) fn not_ok(db: &Connection, root: i64) -> Result<HashMap<i64, Self>, CatalogError> {
        let mut states = HashMap::new();
        // SQLite must not filter the rows: a flipped bit could make a row ok, and its seal would
        // not be checked.
        Self::for_each(db, |state| {
            if state.root == root && !state.is_ok() {
                states.insert(state.id, state);
            }
            Ok(())
        })?;
        Ok(states)
    }

    /// Calls a function with every state, by file ids. SQLite collects many rows for each call,
    /// because stepping through rows and columns takes longer.
    pub(crate) fn for_each(
        db: &Connection,
        mut take: impl FnMut(Self) -> Result<(), CatalogError>,
    ) -> Result<(), CatalogError> {
        let gathered = Arc::new(Mutex::new(Gathered::default()));
        let gatherer = Arc::clone(&gathered);
        db.create_scalar_function("gather", 7, FunctionFlags::SQLITE_DIRECTONLY, move |row| {
            let value = |place| row.get_raw(place);
            let values = [value(0), value(1), value(2), value(3), value(4), value(5)];
            Ok(lock(&gatherer).add(values, value(6)))
        })?;
        let sql = format!("SELECT 1 FROM state t WHERE gather({})", STATE.select("t"));
        let mut statement = db.prepare(&sql)?;
        let mut rows = statement.query([])?;
        let mut states = Vec::new();
        loop {
            let is_last = rows.next()?.is_none();
            let mut gathered = lock(&gathered);
            states.clear();
            std::mem::swap(&mut states, &mut gathered.states);
            let error = gathered.error.take();
            drop(gathered);
            states.iter().try_for_each(|state| take(*state))?;
            match error {
                Some(error) => return Err(error),
                None if is_last => return Ok(()),
                None => {}
            }
        }
    }
}

/// States that SQLite returned, in order.
#[derive(Default)]
struct Gathered {
    states: Vec<State>,
    last: i64,
    /// The reason why the next one is invalid.
    error: Option<CatalogError>,
}

impl Gathered {
    /// Adds a row with its seal. Returns whether the collected ones must be taken.
    fn add(&mut self, values: [ValueRef<'_>; 6], seal: ValueRef<'_>) -> bool {
        match STATE.require_seal(&values, seal).and_then(|()| State::of(values)) {
            Ok(state) if state.id <= self.last => {
                let what = format!("file {} has its state twice, or out of order", state.id);
                self.error = Some(CatalogError::Damaged(what));
            }
            Ok(state) => {
                self.last = state.id;
                self.states.push(state);
            }
            Err(error) => self.error = Some(error),
        }
        self.error.is_some() || self.states.len() == GATHERED
    }
}

fn lock(gathered: &Mutex<Gathered>) -> MutexGuard<'_, Gathered> {
    gathered.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All files of a root.
pub(crate) struct Files<'db> {
    db: &'db Connection,
    root: i64,
    file_sql: String,
    directories: VecDeque<(i64, Arc<[u8]>)>,
    /// The path of the last directory that was read, or none at the end.
    last: Option<Vec<u8>>,
    is_first: bool,
    open: Vec<Open>,
    /// The number of files so far.
    seen: i64,
    /// The catalog's version at the first file. The result is complete only if it stays the same.
    version: Option<i64>,
}

/// A directory of the current path.
struct Open {
    id: i64,
    path: Arc<[u8]>,
    files: vec::IntoIter<File>,
    /// The last name of a full page, after which more may follow.
    last: Option<Box<[u8]>>,
}

impl<'db> Files<'db> {
    pub(crate) fn of(db: &'db Connection, root: i64) -> Self {
        let columns = FILE.select("t");
        let file_sql = format!(
            "SELECT {columns} FROM file t WHERE directory = ?1 AND name > ?2 ORDER BY name LIMIT {PAGE}"
        );
        Self {
            db,
            root,
            file_sql,
            directories: VecDeque::new(),
            last: Some(Vec::new()),
            is_first: true,
            open: Vec::new(),
            seen: 0,
            version: None,
        }
    }

    /// Returns the next file.
    ///
    /// # Errors
    /// At the end, if the root has more files, because an index is damaged.
    pub(crate) fn next(&mut self) -> Result<Option<File>, CatalogError> {
        if self.version.is_none() {
            self.version = Some(self.version()?);
        }
        let next = self.advance()?;
        self.seen += i64::from(next.is_some());
        if next.is_none() && self.version == Some(self.version()?) {
            let sql = "SELECT count(*) FROM state WHERE root = ?1";
            let files: i64 = self.db.query_row(sql, [self.root], |row| row.get(0))?;
            // Another process may have written between the two.
            if files != self.seen && self.version == Some(self.version()?) {
                let what =
                    format!("the indices find {} of {files} files of a directory", self.seen);
                return Err(CatalogError::Damaged(what));
            }
        }
        Ok(next)
    }

    /// The number changes when another connection writes.
    fn version(&self) -> rusqlite::Result<i64> {
        self.db.query_row("PRAGMA data_version", [], |row| row.get(0))
    }

    fn advance(&mut self) -> Result<Option<File>, CatalogError> {
        loop {
            self.fill_directories()?;
            self.fill_files()?;
            let Some(top) = self.open.last_mut() else {
                let Some((id, path)) = self.directories.pop_front() else { return Ok(None) };
                self.enter(id, path)?;
                continue;
            };
            let file = top.files.as_slice().first();
            let inner =
                self.directories.front().and_then(|(_, path)| path.strip_prefix(&*top.path));
            match (file, inner) {
                (Some(file), Some(inner)) if *file.name > *inner => {}
                (Some(_), _) => return Ok(top.files.next()),
                (None, Some(_)) => {}
                (None, None) => {
                    self.open.pop();
                    continue;
                }
            }
            let (id, path) = self.directories.pop_front().expect("there is an inner one");
            self.enter(id, path)?;
        }
    }

    fn enter(&mut self, id: i64, path: Arc<[u8]>) -> Result<(), CatalogError> {
        let (files, last) = self.page(id, &path, b"")?;
        self.open.push(Open { id, path, files, last });
        Ok(())
    }

    /// Returns the files of a directory after a name, and the last name if there may be more.
    #[expect(clippy::type_complexity, reason = "it is taken apart at once")]
    fn page(
        &self,
        id: i64,
        path: &Arc<[u8]>,
        behind: &[u8],
    ) -> Result<(vec::IntoIter<File>, Option<Box<[u8]>>), CatalogError> {
        let mut statement = self.db.prepare_cached(&self.file_sql)?;
        let mut rows = statement.query((id, behind))?;
        let mut files = Vec::new();
        while let Some(row) = rows.next()? {
            files.push(File::read(row, 0, path)?);
        }
        let is_full = files.len() as i64 == PAGE;
        let last = files.last().filter(|_| is_full).map(|file: &File| file.name.clone());
        Ok((files.into_iter(), last))
    }

    fn fill_files(&mut self) -> Result<(), CatalogError> {
        let Some(top) = self.open.last_mut() else { return Ok(()) };
        if !top.files.as_slice().is_empty() {
            return Ok(());
        }
        let Some(last) = top.last.take() else { return Ok(()) };
        let (id, path) = (top.id, Arc::clone(&top.path));
        let (files, last) = self.page(id, &path, &last)?;
        if let Some(top) = self.open.last_mut() {
            (top.files, top.last) = (files, last);
        }
        Ok(())
    }

    fn fill_directories(&mut self) -> Result<(), CatalogError> {
        if !self.directories.is_empty() {
            return Ok(());
        }
        let Some(last) = &self.last else { return Ok(()) };
        // The root itself has no name, and all paths below it are longer.
        let behind = if self.is_first { ">=" } else { ">" };
        let which = format!("WHERE root = ?1 AND path {behind} ?2 ORDER BY path LIMIT {PAGE}");
        let page = DIRECTORY.query(self.db, &which, (self.root, last), |row| {
            Ok((row.get(0)?, row.get::<_, Vec<u8>>(2)?.into()))
        })?;
        self.directories.extend(page);
        self.is_first = false;
        let is_full = self.directories.len() as i64 == PAGE;
        self.last = self.directories.back().filter(|_| is_full).map(|(_, path)| path.to_vec());
        Ok(())
    }
}

/// Finds files by their ids.
pub(crate) struct Finder {
    db: Connection,
    sql: String,
    /// Paths of directories.
    directories: HashMap<i64, Arc<[u8]>>,
}

impl Finder {
    pub(crate) fn new(db: Connection) -> Self {
        let columns = FILE.select("t");
        Self {
            db,
            sql: format!("SELECT {columns} FROM file t WHERE id = ?1"),
            directories: HashMap::new(),
        }
    }

    pub(crate) fn db(&self) -> &Connection {
        &self.db
    }

    /// Returns the file with this id, if it still exists. A forgotten file has no state either. If
    /// there is a state, an index is damaged.
    pub(crate) fn find(&mut self, id: i64) -> Result<Option<File>, CatalogError> {
        let Self { db, sql, directories } = self;
        let mut statement = db.prepare_cached(sql)?;
        let mut rows = statement.query([id])?;
        let Some(row) = rows.next()? else {
            let sql = "SELECT EXISTS (SELECT 1 FROM state WHERE id = ?1)";
            let has_state: bool = db.prepare_cached(sql)?.query_row([id], |row| row.get(0))?;
            let damage = || CatalogError::Damaged(format!("file {id} has a state, but no row"));
            return if has_state { Err(damage()) } else { Ok(None) };
        };
        let directory: i64 = row.get(1)?;
        let path = match directories.get(&directory) {
            Some(path) => Arc::clone(path),
            None => {
                let path = directory_path(db, directory)?;
                directories.insert(directory, Arc::clone(&path));
                path
            }
        };
        File::read(row, 0, &path).map(Some)
    }

    /// Returns the files with these ids that still exist, in one transaction.
    pub(crate) fn find_all(&mut self, ids: &[i64]) -> Result<Vec<File>, CatalogError> {
        self.db.execute_batch("BEGIN")?;
        let found = ids.iter().filter_map(|&id| self.find(id).transpose()).collect();
        self.db.execute_batch("COMMIT")?;
        found
    }
}

/// Returns the path of a directory.
fn directory_path(db: &Connection, id: i64) -> Result<Arc<[u8]>, CatalogError> {
    let path = DIRECTORY.find(db, id, |row| Ok(row.get::<_, Vec<u8>>(2)?))?;
    let what = || format!("directory {id} is missing, but has files");
    path.map(Into::into).ok_or_else(|| CatalogError::Damaged(what()))
}

/// Returns the file at a path below a root.
pub(crate) fn at(db: &Connection, root: i64, path: &[u8]) -> Result<Option<File>, CatalogError> {
    let (directory, name) = split(path);
    let columns = FILE.select("t");
    let sql = format!(
        "SELECT {columns} FROM directory d JOIN file t ON t.directory = d.id \
         WHERE d.root = ?1 AND d.path = ?2 AND t.name = ?3"
    );
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = statement.query((root, directory, name))?;
    match rows.next()? {
        Some(row) => File::read(row, 0, &directory.into()).map(Some),
        None => Ok(None),
    }
}

/// Returns the ids of the record at a path of a root, and of all records below it. An empty path is
/// the root.
pub(crate) fn below(db: &Connection, root: i64, path: &[u8]) -> Result<Vec<i64>, CatalogError> {
    let mut ids: Vec<i64> = at(db, root, path)?.into_iter().map(|file| file.id).collect();
    let (from, to) = if path.is_empty() {
        (Vec::new(), vec![0xff; 4096])
    } else {
        // `0` is the byte after `/`.
        ([path, b"/"].concat(), [path, b"0"].concat())
    };
    let sql = "SELECT f.id FROM directory d JOIN file f ON f.directory = d.id \
               WHERE d.root = ?1 AND d.path >= ?2 AND d.path < ?3";
    let mut statement = db.prepare_cached(sql)?;
    let found = statement.query_map((root, from, to), |row| row.get(0))?;
    ids.extend(found.collect::<Result<Vec<i64>, _>>()?);
    Ok(ids)
}

/// Returns the records with this inode in all roots, with the ids of the roots.
pub(crate) fn with_inode(db: &Connection, inode: i64) -> Result<Vec<(i64, File)>, CatalogError> {
    let sql = format!(
        "SELECT {}, d.root FROM file t JOIN directory d ON d.id = t.directory WHERE t.inode = ?1 \
         ORDER BY t.id",
        FILE.select("t")
    );
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = statement.query([inode])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let path = directory_path(db, row.get(1)?)?;
        found.push((row.get(FILE.columns.len() + 1)?, File::read(row, 0, &path)?));
    }
    Ok(found)
}

/// Splits a path into its directory, with the slash, and its name.
pub(crate) fn split(path: &[u8]) -> (&[u8], &[u8]) {
    let slash = path.iter().rposition(|&byte| byte == b'/');
    path.split_at(slash.map_or(0, |slash| slash + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::schema;
    use crate::store::table::int;

    /// States of this many files: ok, but each seventh missing.
    fn states_of(files: usize) -> Connection {
        let mut db = Connection::open_in_memory().unwrap();
        schema::make(&mut db).unwrap();
        let mut putter = STATE.putter(&db).unwrap();
        for id in 1..=files as i64 {
            let class = if id % 7 == 0 { Class::Missing } else { Class::Ok };
            let row = [id, 1, 10 * id, class.number(), 0, 0].map(int);
            putter.put(&row).unwrap();
        }
        drop(putter);
        db
    }

    fn gathered(db: &Connection) -> (Vec<i64>, Option<String>) {
        let mut ids = Vec::new();
        let done = State::for_each(db, |state| {
            assert_eq!((state.root, state.verified), (1, 10 * state.id));
            assert_eq!(state.class == Class::Missing, state.id % 7 == 0);
            ids.push(state.id);
            Ok(())
        });
        (ids, done.err().map(|error| error.to_string()))
    }

    #[test]
    fn every_state_is_given_once_and_in_order_however_many_there_are() {
        for files in [0, 1, GATHERED - 1, GATHERED, GATHERED + 1, 2 * GATHERED, 3 * GATHERED + 5] {
            let db = states_of(files);
            let all: Vec<i64> = (1..=files as i64).collect();
            // A second time, too: what was left of the first is not given again.
            for _ in 0..2 {
                assert_eq!(gathered(&db), (all.clone(), None), "{files}");
            }
        }
    }

    #[test]
    fn an_altered_state_is_reported_after_those_before_it() {
        let last = GATHERED + 3;
        for id in [1, GATHERED - 1, GATHERED, GATHERED + 1, last] {
            for sql in [
                "UPDATE state SET class = class + 1 WHERE id = ?1",
                "UPDATE state SET verified = verified + 1 WHERE id = ?1",
                "UPDATE state SET seal = seal + 1 WHERE id = ?1",
            ] {
                let db = states_of(last);
                db.execute(sql, [id as i64]).unwrap();
                let (ids, error) = gathered(&db);
                assert_eq!(ids, (1..id as i64).collect::<Vec<_>>(), "{sql}");
                let words = format!("row {id} of the table `state` has a wrong seal");
                assert!(error.as_ref().is_some_and(|it| it.contains(&words)), "{sql}: {error:?}");
            }
        }
    }

    #[test]
    fn an_error_of_the_caller_ends_it() {
        let db = states_of(10);
        let mut taken = 0;
        let done = State::for_each(&db, |_| {
            taken += 1;
            if taken < 3 { Ok(()) } else { Err(CatalogError::Damaged("enough".to_owned())) }
        });
        assert_eq!((taken, done.unwrap_err().to_string().contains("enough")), (3, true));
        assert_eq!(gathered(&db).0.len(), 10);
    }
}
