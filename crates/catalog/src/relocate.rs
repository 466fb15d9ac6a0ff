//! Roots that are at a new path, or on a new volume.

use std::path::Path;

use lanesum_checksum::engine::{self, look_at};
use lanesum_checksum::{Job, Source};

use crate::CatalogError;
use crate::model::{Stat, agree};
use crate::options::{Options, Verb};
use crate::root::{Root, real_directory};
use crate::store::batch::Batch;
use crate::store::catalog::Catalog;
use crate::store::check::require_rows;
use crate::store::digests::algorithms;
use crate::store::rows::{File, Finder};
use crate::store::run::RunRow;

/// The number of files in a sample, and their maximum bytes.
const SAMPLE: i64 = 100;
const BYTES: i64 = 256 << 20;

/// The result of a relocation.
#[derive(Debug)]
#[non_exhaustive]
pub struct Relocated {
    /// The root, at its new path.
    pub root: Root,
    /// The number of compared files.
    pub checked: u64,
    /// The number of files with the recorded size, time and content.
    pub matching: u64,
}

impl Catalog {
    /// Records the new path of a root, or for the same path the new volume. A sample of a hundred
    /// files proves that it is the same directory: at least nine in ten have the recorded size,
    /// time and content.
    ///
    /// # Errors
    /// [`CatalogError::OtherFiles`] if it is a different directory, and errors as of
    /// [`add_roots`](Self::add_roots).
    pub fn relocate(
        &mut self,
        old: &Path,
        new: &Path,
        options: &Options,
    ) -> Result<Relocated, CatalogError> {
        require_rows(&self.db)?;
        let (root, below) = self.root_of(old)?;
        if !below.is_empty() {
            return Err(CatalogError::NotARoot { path: old.to_owned(), root: root.path });
        }
        let (path, found) = real_directory(new)?;
        let mut others = self.roots()?;
        others.retain(|other| other.id() != root.id());
        self.require_apart(&others, new, &path, &found)?;
        let (checked, matching) = self.compare_sample(&root, &path, options)?;
        let is_same = found.is_that_of(&root.volume, root.inode);
        if !is_same && matching * 10 < checked * 9 {
            return Err(CatalogError::OtherFiles { path: new.to_owned(), checked, matching });
        }
        let (volume, inode) = (found.volume, found.inode);
        let root = Root { path, volume, inode, offline: None, ..root };
        self.put_relocated(&root, (options.clock)().max(1))?;
        Ok(Relocated { root, checked, matching })
    }

    /// Compares files of a root with those at a path. Returns how many were compared and how many
    /// are as recorded.
    fn compare_sample(
        &self,
        root: &Root,
        path: &Path,
        options: &Options,
    ) -> Result<(u64, u64), CatalogError> {
        let at_new = Root { path: path.to_owned(), ..root.clone() };
        let sample = self.sample(root)?;
        let checked = sample.len() as u64;
        let mut left = BYTES;
        let (mut matching, mut jobs) = (0, Vec::new());
        for file in sample {
            let path = at_new.path_of(&file.path());
            let there = look_at(&path).ok().and_then(|stat| Stat::of(&stat));
            if !there.is_some_and(|(stat, _)| stat.is_as_recorded(&file.stat)) {
                continue;
            }
            left -= file.stat.size;
            if left < 0 {
                matching += 1;
                continue;
            }
            let algorithms = algorithms(&file.digests);
            jobs.push(Job { source: Source::Regular(path), algorithms, context: file });
        }
        let outcomes = engine::run(&options.engine, jobs.into_iter());
        let is_same = |it: engine::Outcome<File>| {
            it.result.is_ok_and(|read| agree(&it.context.digests, &read.digests) == Some(true))
        };
        matching += outcomes.map(is_same).filter(|is_same| *is_same).count() as u64;
        Ok((checked, matching))
    }

    /// Returns files of a root, spread evenly over its records.
    fn sample(&self, root: &Root) -> Result<Vec<File>, CatalogError> {
        let sql = "SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id) - 1 AS place, \
                   count(*) OVER () AS files FROM state WHERE root = ?1 AND class = 0) \
                   WHERE place % max(files / ?2, 1) = 0 LIMIT ?2";
        let mut statement = self.db.prepare(sql)?;
        let ids = statement.query_map([root.id(), SAMPLE], |row| row.get(0))?;
        let ids: Vec<i64> = ids.collect::<Result<_, _>>()?;
        Finder::new(self.reader()?).find_all(&ids)
    }

    fn put_relocated(&mut self, root: &Root, now: i64) -> Result<(), CatalogError> {
        let run = RunRow::done(RunRow::next_id(&self.db)?, root.id(), Verb::Relocate, now);
        Batch::new(&self.db)?.commit(&mut self.db, [&run], |db| root.put(db))?;
        self.checkpoint()
    }
}
