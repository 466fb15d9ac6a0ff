//! One pass over roots: scan, pair, read, judge, write. Verbs are policies over it.

use std::io;

use crate::model::Finding;
use crate::options::{Options, Target, Task};
use crate::root::Root;
use crate::summary::Summary;
use crate::{Catalog, CatalogError};

/// Takes the findings of a run, each with its root, once they are on disk.
pub type OnFinding<'a> = &'a mut dyn FnMut(&Root, &Finding) -> io::Result<()>;

impl Catalog {
    /// Runs a task over roots, and reports what it finds, each once it is on disk. A file that moved
    /// from one of the roots to another is found.
    ///
    /// # Errors
    /// Those of the catalog and of `on_finding`. What was found of a file is no error.
    pub fn run(
        &mut self,
        targets: &[Target],
        task: &Task,
        options: &Options,
        on_finding: OnFinding<'_>,
    ) -> Result<Vec<Summary>, CatalogError> {
        let _ = (targets, task, options, on_finding);
        todo!()
    }
}
