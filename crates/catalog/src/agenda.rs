//! What a daemon has to read, and when: an event for each file, in memory.

use std::io;

use jiff::tz::TimeZone;

use crate::model::Finding;
use crate::options::Options;
use crate::root::Root;
use crate::summary::Summary;
use crate::{Catalog, CatalogError, OnFinding};

/// When a root has something to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Next {
    /// Now.
    Now,
    /// Not before this time in seconds since 1970.
    At(i64),
    /// Not before `resume`.
    Paused,
}

/// A part of a round: files that are read in one run.
#[derive(Debug)]
#[non_exhaustive]
pub struct Part {
    /// Its files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Whether another part follows at once.
    pub goes_on: bool,
    /// Whether more is due, which the day's budget leaves for another day.
    pub is_capped: bool,
}

/// What is due of all roots.
#[derive(Debug)]
pub struct Agenda {}

impl Agenda {
    /// Computes it from the rows of a catalog.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn of(catalog: &Catalog, now: i64, zone: &TimeZone) -> Result<Self, CatalogError> {
        let _ = (catalog, now, zone);
        todo!()
    }

    /// Computes it anew if other runs or settings changed it.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn refresh(&mut self, catalog: &Catalog, now: i64) -> Result<(), CatalogError> {
        let _ = (catalog, now);
        todo!()
    }

    /// Computes it anew.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn load(&mut self, catalog: &Catalog, now: i64) -> Result<(), CatalogError> {
        let _ = (catalog, now);
        todo!()
    }

    /// When the day of a time began, in seconds since 1970.
    #[must_use]
    pub fn day(&self, now: i64) -> i64 {
        now
    }

    /// Lets the first round of the day be done again for a root.
    pub fn begin_again(&mut self, root: &Root) {
        let _ = root;
    }

    /// Files that it holds.
    #[must_use]
    pub fn files(&self) -> u64 {
        0
    }

    /// Bytes of memory that it takes.
    #[must_use]
    pub fn heap_size(&self) -> usize {
        0
    }

    /// When a root has something to be read; `is_asked` lets its hours not count.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn next(
        &mut self,
        catalog: &Catalog,
        root: &Root,
        is_asked: bool,
        now: i64,
    ) -> Result<Next, CatalogError> {
        let _ = (catalog, root, is_asked, now);
        todo!()
    }
}

impl Catalog {
    /// The next part of a root.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn next_part(
        &self,
        agenda: &mut Agenda,
        root: &Root,
        now: i64,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Part, CatalogError> {
        let _ = (agenda, root, now, goes_on);
        todo!()
    }

    /// Reads a part. Names are not compared before.
    ///
    /// # Errors
    /// As of [`run`](Self::run).
    pub fn scrub_part(
        &mut self,
        agenda: &mut Agenda,
        root: &Root,
        part: Part,
        options: &Options,
        on_finding: OnFinding<'_>,
    ) -> Result<Summary, CatalogError> {
        let _ = (agenda, root, part, options, on_finding);
        let _: Option<(Finding, io::Error)> = None;
        todo!()
    }
}
