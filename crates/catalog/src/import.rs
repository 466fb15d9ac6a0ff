//! Recording what checksum lists say.

use std::io;
use std::path::{Path, PathBuf};

use lanesum_list::{Digests, Record};

use crate::options::Options;
use crate::root::Root;
use crate::{Catalog, CatalogError};

/// What lists say of files.
#[derive(Debug, Default)]
pub struct Import {
    listed: Vec<(PathBuf, Digests)>,
}

/// What came of a listed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Imported {
    /// It has the listed content, and is recorded now.
    Recorded,
    /// It was recorded with the listed digests already.
    Known,
    /// Its record got the listed digests in place of others.
    Replaced,
    /// Its content is not the listed one: it is recorded as damaged, with the listed digests.
    Differs,
    /// Its record has other digests than the list; nothing was changed.
    Conflict,
    /// It is not there.
    Missing,
    /// It is in no root.
    NoRoot,
    /// Its root is offline.
    Offline,
    /// It could not be read, or is no regular file.
    Unreadable,
}

impl Import {
    /// Adds what a list says of a file at a whole path.
    pub fn add(&mut self, path: PathBuf, record: &Record<'_>) {
        let _ = (path, record);
        todo!()
    }

    /// Whether no list says anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }
}

impl Catalog {
    /// Lists the records of a root as lines of a list, in the order of their paths: names are below
    /// the root, with size, modification time and digests.
    ///
    /// # Errors
    /// Those of the catalog and of `take`.
    pub fn records(
        &self,
        root: &Root,
        take: &mut dyn FnMut(Record<'_>) -> io::Result<()>,
    ) -> Result<(), CatalogError> {
        let _ = (root, take);
        todo!()
    }

    /// Reads the listed files, and records those that have the listed content. `replace` lets the
    /// lists replace digests of records that they contradict.
    ///
    /// # Errors
    /// Those of the catalog and of `on_file`.
    pub fn import(
        &mut self,
        import: Import,
        replace: bool,
        options: &Options,
        on_file: &mut dyn FnMut(&Path, Imported) -> io::Result<()>,
    ) -> Result<(), CatalogError> {
        let _ = (import, replace, options, on_file);
        todo!()
    }
}
