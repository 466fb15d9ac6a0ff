//! Reads files of a bag, each once for all of its algorithms.

use std::path::{Path, PathBuf};

use lanesum_checksum::engine::{self, Hashed, Outcome};
use lanesum_checksum::{Algorithms, Error, Job, Source};

use crate::contents::path;
use crate::finding::Problem;

/// A file to read.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) name: Vec<u8>,
    pub(crate) is_link: bool,
    pub(crate) algorithms: Algorithms,
}

impl Task {
    pub(crate) fn path(&self, root: &Path) -> PathBuf {
        path(root, &self.name)
    }
}

/// Returns the outcomes of the tasks with their numbers, in order.
pub(crate) fn run(
    root: &Path,
    tasks: Vec<Task>,
    options: &engine::Options,
) -> impl Iterator<Item = (usize, Result<Hashed, Problem>)> + use<> {
    let root = root.to_owned();
    let mut options = options.clone();
    options.delivery = engine::Delivery::InOrder;
    let jobs = tasks.into_iter().enumerate().map(move |(context, task)| {
        let path = task.path(&root);
        let source = if task.is_link { Source::Path(path) } else { Source::Regular(path) };
        Job { source, algorithms: task.algorithms, context }
    });
    engine::run(&options, jobs).map(|Outcome { context, result, .. }| {
        let result = result.map_err(|error| match error {
            Error::Changed => Problem::ChangedWhileRead,
            error => Problem::Unreadable(error.to_string()),
        });
        (context, result)
    })
}
