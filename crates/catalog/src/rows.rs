//! The files of a root, in byte order of their whole paths: the order in which a walk finds them.
//!
//! Paths of folders end in `/`, so in byte order a folder comes when a walk would enter it. The
//! folders on the way to the current one are a stack, each with the rest of its files; a file comes
//! before the next folder if its path does. Rows are read in pages, so that no read transaction
//! lasts: while one does, the log cannot shrink.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::vec;

use lanesum_list::{Digest, Digests};
use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Row};

use crate::class::Status;
use crate::digests::agree;
use crate::stat::{REST, Stat, UNKNOWN_SIZE};
use crate::table::{FILE, FOLDER, STATE};
use crate::{CatalogError, digests};

/// Rows of a page.
const PAGE: i64 = 10_000;
/// States that are gathered.
const GATHERED: usize = 4096;

/// Whether what is cataloged with this size and these digests has the content of a file of that
/// size with those. Of a size that no list told, a digest has to be such that does not meet by
/// chance; and empty files match nothing then.
pub(crate) fn have_same_content(known: (i64, &Digests), there: (i64, &Digests)) -> bool {
    let is_telling = |digest: &&Digest| digest.as_bytes().len() >= 8;
    let mut telling = there.1.iter().filter(is_telling);
    let is_unknown = known.0 == UNKNOWN_SIZE && there.0 > 0;
    let is_as_long = known.0 == there.0 || is_unknown && telling.any(|it| known.1.contains(it));
    is_as_long && agree(known.1, there.1) == Some(true)
}

/// A file as it is cataloged.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) id: i64,
    /// The path of its folder below the root, with its slash; nothing for the root itself.
    pub(crate) folder: Arc<[u8]>,
    pub(crate) name: Box<[u8]>,
    pub(crate) stat: Stat,
    /// Whether it was at rest when its content was read.
    pub(crate) is_settled: bool,
    /// Whether its stat was taken after a move, and without a read: a time that moved may be that
    /// of the move, or of another content.
    pub(crate) was_moved: bool,
    pub(crate) digests: Digests,
    /// Where it is now, if that is under another name: no row has that yet.
    pub(crate) renamed: Option<Box<[u8]>>,
}

impl File {
    /// What is stored of whether it is settled, and whether it was moved since it was read.
    pub(crate) fn settled(&self) -> i64 {
        match (self.is_settled, self.was_moved) {
            (is_settled, false) => is_settled.into(),
            (true, true) => 2,
            (false, true) => 3,
        }
    }

    /// Where it is now, below the root.
    pub(crate) fn place(&self) -> Vec<u8> {
        self.renamed.as_deref().map_or_else(|| self.path(), <[u8]>::to_vec)
    }

    /// The path below the root that is cataloged.
    pub(crate) fn path(&self) -> Vec<u8> {
        [&self.folder, &*self.name].concat()
    }

    /// Whether it was at rest when this stat's content, which is the row's, was read. At rest
    /// before, and with the time of its content as it was: another mode or another link is no
    /// write.
    pub(crate) fn stays_settled(&self, stat: &Stat, now: i64) -> bool {
        let is_written_since = self.stat.modified != stat.modified;
        stat.is_settled_at(now) || self.is_settled && !is_written_since
    }

    /// Whether it looks as it did when it was read last, at `checked`, which is long enough ago: a
    /// change between the two would show. So a time in the future, which is never old, keeps no
    /// file from being at rest.
    pub(crate) fn was_so_at(&self, stat: &Stat, checked: i64, now: i64) -> bool {
        // Of one that was moved it is not known since when it looks so.
        let is_known = checked > 0 && !self.was_moved && !self.stat.is_of_list();
        is_known && self.stat == *stat && now.saturating_sub(checked) >= REST
    }

    /// A row of `FILE`, from this column on.
    pub(crate) fn read(
        row: &Row<'_>,
        first: usize,
        folder: &Arc<[u8]>,
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
            folder: Arc::clone(folder),
            name: bytes(2)?.into(),
            stat: Stat {
                size: number(3)?,
                modified: number(4)?,
                changed: number(5)?,
                inode: number(6)?,
            },
            is_settled: matches!(number(7)?, 1 | 2),
            was_moved: matches!(number(7)?, 2 | 3),
            digests,
            renamed: None,
        })
    }
}

/// When a file was checked last, and what came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) id: i64,
    pub(crate) root: i64,
    /// Seconds since 1970.
    pub(crate) checked: i64,
    pub(crate) status: Status,
}

impl State {
    pub(crate) fn read(row: &Row<'_>) -> Result<Self, CatalogError> {
        Self::of(STATE.verified::<4>(row, 0)?)
    }

    fn of(values: [ValueRef<'_>; 4]) -> Result<Self, CatalogError> {
        let number = |place: usize| values[place].as_i64().map_err(rusqlite::Error::from);
        let id = number(0)?;
        let status = Status::of_number(number(3)?)
            .ok_or_else(|| CatalogError::Damaged(format!("file {id} has a status that is none")))?;
        Ok(Self { id, root: number(1)?, checked: number(2)?, status })
    }

    /// Every state, by the ids of the files. SQLite calls a function with each row, which says when
    /// it has many: to go on from row to row, and to ask for each column, takes longer.
    pub(crate) fn for_each(
        db: &Connection,
        mut take: impl FnMut(Self) -> Result<(), CatalogError>,
    ) -> Result<(), CatalogError> {
        let gathered = Arc::new(Mutex::new(Gathered::default()));
        let gatherer = Arc::clone(&gathered);
        db.create_scalar_function("gather", 5, FunctionFlags::SQLITE_DIRECTONLY, move |row| {
            let value = |place| row.get_raw(place);
            Ok(lock(&gatherer).add([value(0), value(1), value(2), value(3)], value(4)))
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

    /// Those of the files that are not well. SQLite must not leave the others out: a flipped bit
    /// would make one of them well, and its seal would not be looked at.
    pub(crate) fn for_each_not_well(
        db: &Connection,
        mut take: impl FnMut(Self) -> Result<(), CatalogError>,
    ) -> Result<(), CatalogError> {
        Self::for_each(db, |state| if state.status.is_good() { Ok(()) } else { take(state) })
    }
}

/// States that SQLite gave one after the other.
#[derive(Default)]
struct Gathered {
    states: Vec<State>,
    last: i64,
    /// Why the one behind these is none.
    error: Option<CatalogError>,
}

impl Gathered {
    /// Adds a row with its seal; whether somebody is to look at what is here.
    fn add(&mut self, values: [ValueRef<'_>; 4], seal: ValueRef<'_>) -> bool {
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
    folders: VecDeque<(i64, Arc<[u8]>)>,
    /// The path of the last folder that was read, until there are no more.
    last: Option<Vec<u8>>,
    is_first: bool,
    open: Vec<Open>,
    /// Files so far.
    seen: i64,
    /// The catalog's version when the first was read: these are all only if it is still that.
    version: Option<i64>,
}

/// A folder on the way to the current one.
struct Open {
    id: i64,
    path: Arc<[u8]>,
    files: vec::IntoIter<File>,
    /// The last name of a full page: more may follow.
    last: Option<Box<[u8]>>,
}

impl<'db> Files<'db> {
    pub(crate) fn of(db: &'db Connection, root: i64) -> Self {
        let columns = FILE.select("t");
        let file_sql = format!(
            "SELECT {columns} FROM file t WHERE folder = ?1 AND name > ?2 ORDER BY name LIMIT {PAGE}"
        );
        Self {
            db,
            root,
            file_sql,
            folders: VecDeque::new(),
            last: Some(Vec::new()),
            is_first: true,
            open: Vec::new(),
            seen: 0,
            version: None,
        }
    }

    /// The next file.
    ///
    /// # Errors
    /// At the end, that the root has others: an index that is not right leads past them.
    pub(crate) fn next(&mut self) -> Result<Option<File>, CatalogError> {
        if self.version.is_none() {
            self.version = Some(self.version()?);
        }
        let next = self.advance()?;
        self.seen += i64::from(next.is_some());
        if next.is_none() && self.version == Some(self.version()?) {
            let sql = "SELECT count(*) FROM state WHERE root = ?1";
            let files: i64 = self.db.query_row(sql, [self.root], |row| row.get(0))?;
            // Somebody may have written between the two.
            if files != self.seen && self.version == Some(self.version()?) {
                let what = format!("of {files} files of a folder its indices find {}", self.seen);
                return Err(CatalogError::Damaged(what));
            }
        }
        Ok(next)
    }

    /// Another number after another connection wrote.
    fn version(&self) -> rusqlite::Result<i64> {
        self.db.query_row("PRAGMA data_version", [], |row| row.get(0))
    }

    fn advance(&mut self) -> Result<Option<File>, CatalogError> {
        loop {
            self.fill_folders()?;
            self.fill_files()?;
            let Some(top) = self.open.last_mut() else {
                let Some((id, path)) = self.folders.pop_front() else { return Ok(None) };
                self.enter(id, path)?;
                continue;
            };
            let file = top.files.as_slice().first();
            let inner = self.folders.front().and_then(|(_, path)| path.strip_prefix(&*top.path));
            match (file, inner) {
                (Some(file), Some(inner)) if *file.name > *inner => {}
                (Some(_), _) => return Ok(top.files.next()),
                (None, Some(_)) => {}
                (None, None) => {
                    self.open.pop();
                    continue;
                }
            }
            let (id, path) = self.folders.pop_front().expect("there is an inner one");
            self.enter(id, path)?;
        }
    }

    fn enter(&mut self, id: i64, path: Arc<[u8]>) -> Result<(), CatalogError> {
        let (files, last) = self.page(id, &path, b"")?;
        self.open.push(Open { id, path, files, last });
        Ok(())
    }

    /// The files of a folder behind a name; and the last one's name, if there may be more.
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

    fn fill_folders(&mut self) -> Result<(), CatalogError> {
        if !self.folders.is_empty() {
            return Ok(());
        }
        let Some(last) = &self.last else { return Ok(()) };
        // The root itself has no name, and nothing is behind it that is not longer.
        let behind = if self.is_first { ">=" } else { ">" };
        let columns = FOLDER.select("t");
        let sql = format!(
            "SELECT {columns} FROM folder t WHERE root = ?1 AND path {behind} ?2 ORDER BY path LIMIT {PAGE}"
        );
        let mut statement = self.db.prepare_cached(&sql)?;
        let mut rows = statement.query((self.root, last))?;
        while let Some(row) = rows.next()? {
            FOLDER.verify(row, 0)?;
            let path: Vec<u8> = row.get(2)?;
            self.folders.push_back((row.get(0)?, path.into()));
        }
        self.is_first = false;
        let is_full = self.folders.len() as i64 == PAGE;
        self.last = self.folders.back().filter(|_| is_full).map(|(_, path)| path.to_vec());
        Ok(())
    }
}

/// Finds files by their ids.
pub(crate) struct Finder {
    db: Connection,
    sql: String,
    /// Paths of folders.
    folders: HashMap<i64, Arc<[u8]>>,
}

impl Finder {
    pub(crate) fn new(db: Connection) -> Self {
        let columns = FILE.select("t");
        Self {
            db,
            sql: format!("SELECT {columns} FROM file t WHERE id = ?1"),
            folders: HashMap::new(),
        }
    }

    pub(crate) fn db(&self) -> &Connection {
        &self.db
    }

    /// The file of this id, if it is there still. One that is forgotten has no state either; where
    /// there is one, a search for the file was led astray.
    pub(crate) fn find(&mut self, id: i64) -> Result<Option<File>, CatalogError> {
        let Self { db, sql, folders } = self;
        let mut statement = db.prepare_cached(sql)?;
        let mut rows = statement.query([id])?;
        let Some(row) = rows.next()? else {
            let sql = "SELECT EXISTS (SELECT 1 FROM state WHERE id = ?1)";
            let has_state: bool = db.prepare_cached(sql)?.query_row([id], |row| row.get(0))?;
            let damage = || CatalogError::Damaged(format!("file {id} has a state, and no row"));
            return if has_state { Err(damage()) } else { Ok(None) };
        };
        let folder: i64 = row.get(1)?;
        let path = match folders.get(&folder) {
            Some(path) => Arc::clone(path),
            None => {
                let path = folder_path(db, folder)?;
                folders.insert(folder, Arc::clone(&path));
                path
            }
        };
        File::read(row, 0, &path).map(Some)
    }

    /// The files of these ids that are there still, looked up at one moment.
    pub(crate) fn find_all(&mut self, ids: &[i64]) -> Result<Vec<File>, CatalogError> {
        self.db.execute_batch("BEGIN")?;
        let found = ids.iter().filter_map(|&id| self.find(id).transpose()).collect();
        self.db.execute_batch("COMMIT")?;
        found
    }
}

/// When a file was read last, and was as it had been; 0 if never.
pub(crate) fn checked(db: &Connection, id: i64) -> Result<i64, CatalogError> {
    let mut statement = db.prepare_cached("SELECT checked FROM state WHERE id = ?1")?;
    Ok(statement.query_row([id], |row| row.get(0)).optional()?.unwrap_or(0))
}

/// The path of a folder.
fn folder_path(db: &Connection, id: i64) -> Result<Arc<[u8]>, CatalogError> {
    let sql = format!("SELECT {} FROM folder t WHERE id = ?1", FOLDER.select("t"));
    let mut statement = db.prepare_cached(&sql)?;
    let found =
        statement.query_row([id], |row| Ok((FOLDER.verify(row, 0), row.get::<_, Vec<u8>>(2)?)));
    let Some((verified, path)) = found.optional()? else {
        return Err(CatalogError::Damaged(format!(
            "folder {id} is not there, and files are in it"
        )));
    };
    verified?;
    Ok(path.into())
}

/// The file at a path below a root.
pub(crate) fn at(db: &Connection, root: i64, path: &[u8]) -> Result<Option<File>, CatalogError> {
    let (folder, name) = split(path);
    let columns = FILE.select("t");
    let sql = format!(
        "SELECT {columns} FROM folder d JOIN file t ON t.folder = d.id \
         WHERE d.root = ?1 AND d.path = ?2 AND t.name = ?3"
    );
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = statement.query((root, folder, name))?;
    match rows.next()? {
        Some(row) => File::read(row, 0, &folder.into()).map(Some),
        None => Ok(None),
    }
}

/// A path as its folder, with the slash, and its name there.
pub(crate) fn split(path: &[u8]) -> (&[u8], &[u8]) {
    let slash = path.iter().rposition(|&byte| byte == b'/');
    path.split_at(slash.map_or(0, |slash| slash + 1))
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;
    use crate::table::int;
    use crate::{Catalog, Options, Policy, Verb, schema};

    /// SQLite, left to itself, plans a statement anew for each folder.
    #[test]
    fn statements_are_planned_once() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..20 {
            let inner = folder.path().join(format!("tree/{number}"));
            std::fs::create_dir_all(&inner).unwrap();
            std::fs::write(inner.join("file"), "content").unwrap();
        }
        let mut catalog = Catalog::open(&folder.path().join("catalog.db"), "test").unwrap();
        let root = catalog.add_root(&folder.path().join("tree"), Policy::default()).unwrap();
        catalog.run(&root, Verb::Add, &Options::default(), &mut |_| Ok(())).unwrap();
        let mut files = Files::of(&catalog.db, root.id);
        let mut count = 0;
        while files.next().unwrap().is_some() {
            count += 1;
        }
        let statement = catalog.db.prepare_cached(&files.file_sql).unwrap();
        assert_eq!((count, statement.get_status(StatementStatus::RePrepare)), (20, 0));
    }

    /// States of this many files, good ones but for each seventh.
    fn states_of(files: usize) -> Connection {
        let db = Connection::open_in_memory().unwrap();
        schema::STEPS.iter().for_each(|step| db.execute_batch(step).unwrap());
        let mut putter = STATE.putter(&db).unwrap();
        for id in 1..=files as i64 {
            let status = if id % 7 == 0 { Status::Missing } else { Status::Good };
            putter.put(&[int(id), int(1), int(10 * id), int(status.number())]).unwrap();
        }
        drop(putter);
        db
    }

    fn gathered(db: &Connection) -> (Vec<i64>, Option<String>) {
        let mut ids = Vec::new();
        let done = State::for_each(db, |state| {
            assert_eq!((state.root, state.checked), (1, 10 * state.id));
            assert_eq!(state.status == Status::Missing, state.id % 7 == 0);
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
    fn a_state_that_is_not_as_written_is_told_behind_those_before_it() {
        let last = GATHERED + 3;
        for id in [1, GATHERED - 1, GATHERED, GATHERED + 1, last] {
            for sql in [
                "UPDATE state SET status = status + 1 WHERE id = ?1",
                "UPDATE state SET checked = checked + 1 WHERE id = ?1",
                "UPDATE state SET seal = seal + 1 WHERE id = ?1",
            ] {
                let db = states_of(last);
                db.execute(sql, [id as i64]).unwrap();
                let (ids, error) = gathered(&db);
                assert_eq!(ids, (1..id as i64).collect::<Vec<_>>(), "{sql}");
                let words = format!("row {id} of the table state has a wrong seal");
                assert!(error.as_ref().is_some_and(|it| it.contains(&words)), "{sql}: {error:?}");
            }
        }
    }

    #[test]
    fn who_takes_states_ends_it() {
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
