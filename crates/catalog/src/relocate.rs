//! A root that is at another path now, or on another volume.

use std::path::Path;

use crate::options::Options;
use crate::root::Root;
use crate::{Catalog, CatalogError};

/// What came of it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Relocated {
    /// The root, at its new path.
    pub root: Root,
    /// Files of a sample that were read.
    pub checked: u64,
    /// Those with the recorded content.
    pub matching: u64,
}

impl Catalog {
    /// Records that a root is at another path; of the same path, that another volume is there. A
    /// sample of files proves that it is the same directory.
    ///
    /// # Errors
    /// [`CatalogError::OtherFiles`] where it is not; as of [`add_roots`](Self::add_roots).
    pub fn relocate(
        &mut self,
        old: &Path,
        new: &Path,
        options: &Options,
    ) -> Result<Relocated, CatalogError> {
        let _ = (old, new, options);
        todo!()
    }
}
