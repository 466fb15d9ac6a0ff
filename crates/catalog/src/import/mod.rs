//! Records the digests of checksum lists.
//!
//! Each listed file is read with the algorithms of its record, its root and the list. Without
//! `replace`, a record only changes if its digests, the listed ones and the content agree.

mod list;
mod place;
mod write;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use crate::CatalogError;
use crate::options::Options;
use crate::store::batch::Batch;
use crate::store::catalog::Catalog;
use crate::store::check::{require_rows, require_shape};
pub use list::{Import, Imported};
use place::Places;
use write::Writer;

impl Catalog {
    /// Reads the listed files, and records those with the listed content. With `replace`, listed
    /// digests replace contradictory ones of records. If [`Options::goes_on`] ends the run, the
    /// remaining files are not reported.
    ///
    /// # Errors
    /// Errors of the catalog and of `on_file`.
    pub fn import(
        &mut self,
        import: Import,
        replace: bool,
        options: &Options,
        on_file: &mut dyn FnMut(&Path, Imported) -> io::Result<()>,
    ) -> Result<(), CatalogError> {
        require_rows(&self.db)?;
        // A record that its index does not find would be recorded twice.
        require_shape(&self.db)?;
        let mut places = Places::of(self);
        let (files, mut results) = places.gather(import)?;
        let mut jobs = Vec::new();
        for ((root, below), listed) in files {
            match places.job(root, below, listed)? {
                Ok(job) => jobs.push(job),
                Err(result) => results.push(result),
            }
        }
        let (batch, runs) = (Batch::new(&self.db)?, BTreeMap::new());
        Writer { catalog: self, replace, options, on_file, batch, results, runs }.run(jobs)
    }
}
