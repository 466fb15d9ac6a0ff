//! Recording files as they are, whatever was found.

use std::path::PathBuf;

use crate::options::Options;
use crate::pass::OnFinding;
use crate::{Catalog, CatalogError};

/// What came of several paths.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Accepted {
    /// Files that were recorded as they are.
    pub files: u64,
    /// Paths that were not, and why.
    pub failed: Vec<(PathBuf, CatalogError)>,
}

impl Catalog {
    /// Records the content that files have now, in one transaction. A directory stands for all
    /// damaged files below it. Each file is reported as `ok`, with what was recorded and what is.
    ///
    /// # Errors
    /// Those of the catalog and of `on_finding`; those of one path are in the result.
    pub fn accept(
        &mut self,
        paths: &[PathBuf],
        options: &Options,
        on_finding: OnFinding<'_>,
    ) -> Result<Accepted, CatalogError> {
        let _ = (paths, options, on_finding);
        todo!()
    }
}
