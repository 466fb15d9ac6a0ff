//! Positions in partly read long files, from which a scrub continues.

use std::collections::{BTreeMap, HashSet};

use lanesum_checksum::Algorithms;
use lanesum_checksum::engine::{CHUNK_LEN, Midstate};
use rusqlite::Connection;

use super::table::{CHUNK, blob, int};
use crate::CatalogError;
use crate::model::Stat;

/// Files of at least this many bytes are read in chunks. The index `long_file` has the same number.
pub(crate) const LONG: i64 = 536_870_912;

/// Returns the length of a chunk in bytes, for these algorithms.
pub(crate) fn in_one_go(size: i64, algorithms: Algorithms) -> u64 {
    let is_in_chunks = size >= LONG && Midstate::exists_of(algorithms);
    if is_in_chunks { CHUNK_LEN } else { size.max(0).cast_unsigned() }
}

/// The position in a file.
#[derive(Clone, Debug)]
pub(crate) struct ResumePoint {
    pub(crate) file: i64,
    /// The stat of the file during all chunks so far, without the size.
    pub(crate) stat: Stat,
    /// The start of the first chunk in seconds since 1970.
    pub(crate) began: i64,
    pub(crate) midstate: Midstate,
}

impl ResumePoint {
    /// Returns whether the file of the next chunk is the same and unchanged.
    pub(crate) fn is_of(&self, stat: &Stat) -> bool {
        Stat { size: stat.size, ..self.stat } == *stat
    }

    pub(crate) fn find(db: &Connection, file: i64) -> Result<Option<Self>, CatalogError> {
        let found = CHUNK.find(db, file, |row| {
            let (modified, changed, inode) = (row.get(1)?, row.get(2)?, row.get(3)?);
            let stat = Stat { size: 0, modified, changed, inode };
            let began = row.get(4)?;
            // States of other versions of a crate are not resumed.
            let midstate = Midstate::from_bytes(&row.get::<_, Vec<u8>>(5)?);
            Ok(midstate.map(|midstate| Self { file, stat, began, midstate }))
        })?;
        Ok(found.flatten())
    }

    pub(crate) fn put(&self, db: &Connection) -> Result<(), CatalogError> {
        let Stat { modified, changed, inode, .. } = self.stat;
        let [file, modified, changed, inode, began] =
            [self.file, modified, changed, inode, self.began].map(int);
        let midstate = self.midstate.to_bytes();
        CHUNK.put(db, &[file, modified, changed, inode, began, blob(&midstate)])
    }
}

/// The records of partly read files.
pub(crate) fn partly_read_files(db: &Connection) -> Result<HashSet<i64>, CatalogError> {
    let mut statement = db.prepare_cached("SELECT file FROM chunk")?;
    let files = statement.query_map([], |row| row.get(0))?;
    Ok(files.collect::<Result<_, _>>()?)
}

/// By root: the number of partly read files, their bytes, and the bytes that were read.
pub(crate) fn partly_read(db: &Connection) -> Result<BTreeMap<i64, [u64; 3]>, CatalogError> {
    let sql = "SELECT t.file, d.root, f.size FROM chunk t \
               JOIN file f ON f.id = t.file JOIN directory d ON d.id = f.directory";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    let mut of_roots = BTreeMap::<i64, [u64; 3]>::new();
    while let Some(row) = rows.next()? {
        let Some(point) = ResumePoint::find(db, row.get(0)?)? else { continue };
        let [files, of, read] = of_roots.entry(row.get(1)?).or_default();
        *files += 1;
        *of += row.get::<_, i64>(2)?.max(0).cast_unsigned();
        *read += point.midstate.bytes();
    }
    Ok(of_roots)
}
