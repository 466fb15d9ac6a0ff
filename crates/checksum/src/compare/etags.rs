//! Compares files of a directory with multipart ETags in a list, by searching for the part size.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use lanesum_list::Etag;

use super::side::{Names, Number, Side, State};
use super::{input, patience};
use crate::engine::{self, Delivery, Job, Outcome, Source};
use crate::etag::{
    FileParts, Found, Gatherer, PartNote, PartSize, Search, Seen, SharedSizes, of_other_parts,
};
use crate::{Algorithms, Error};

/// A file of a directory to read for an ETag, in compact form.
#[derive(Clone, Copy, Debug)]
pub(super) struct EtagTask {
    /// The side of the directory, and the file on it.
    pub(super) side: u8,
    pub(super) number: Number,
    etag: Etag,
}

impl EtagTask {
    /// Makes a task for an ETag. Returns `None` if it is not a multipart ETag.
    pub(super) fn new(side: usize, number: Number, etag: Etag) -> Option<Self> {
        etag.parts?;
        Some(Self { side: side as u8, number, etag })
    }
}

/// The number of files whose ETag matched, by part size in bytes.
pub(super) type PartSizes = BTreeMap<u64, u64>;

/// Reads the files, and stores the results on their sides. Returns `None` if the caller stopped the
/// read.
pub(super) fn read(
    tasks: &Arc<[EtagTask]>,
    of: [(PathBuf, Arc<Names>); 2],
    sides: &mut [Side; 2],
    part_sizes: &[PartSize],
    options: &engine::Options,
    go_on: Option<&mut dyn FnMut() -> bool>,
) -> Option<PartSizes> {
    let mut held = PartSizes::new();
    if tasks.is_empty() {
        return Some(held);
    }
    let options = engine::Options { delivery: Delivery::InOrder, ..options.clone() };
    let known = SharedSizes::given(part_sizes);
    let jobs = Jobs { tasks: Arc::clone(tasks), next: 0, of, known: known.clone(), parts: None };
    let mut gatherer = Gatherer::default();
    let run = patience::run(&options, jobs, go_on, |Outcome { context, result, .. }| {
        let (task, found) = match context {
            PartOf::NoParts(task) => {
                options.count_file();
                (task, result.and(Err(Error::Changed)))
            }
            PartOf::Part(note) => match gatherer.take(note, result, &options) {
                None => return,
                Some((kept, etags)) => {
                    let (search, task) = *kept;
                    (task, search.conclude(etags, &known, &options))
                }
            },
        };
        let side = &mut sides[usize::from(task.side)];
        match found {
            Ok(Found::Held(part_size)) => {
                *held.entry(part_size).or_default() += 1;
                side.set_etag(task.number, &task.etag);
            }
            Ok(Found::Impossible) => side.fail(task.number, State::OtherEtag, None),
            Ok(Found::NoneOf(tried)) => {
                side.fail(task.number, State::OtherParts, Some(of_other_parts(tried)));
            }
            Err(Error::Changed) => side.fail(task.number, State::ChangedWhileRead, None),
            Err(error) => side.fail(task.number, State::Unreadable, Some(error.to_string())),
        }
    });
    run.map(|()| held)
}

enum PartOf {
    Part(PartNote<Box<(Search, EtagTask)>>),
    /// A file that has no parts or cannot be examined.
    NoParts(EtagTask),
}

struct Jobs {
    tasks: Arc<[EtagTask]>,
    next: usize,
    of: [(PathBuf, Arc<Names>); 2],
    known: SharedSizes,
    /// The jobs of the last started file.
    parts: Option<FileParts<Box<(Search, EtagTask)>>>,
}

impl Iterator for Jobs {
    type Item = Job<PartOf>;

    fn next(&mut self) -> Option<Job<PartOf>> {
        loop {
            if let Some(job) = self.parts.as_mut().and_then(Iterator::next) {
                let Job { source, algorithms, context } = job;
                return Some(Job { source, algorithms, context: PartOf::Part(context) });
            }
            let task = *self.tasks.get(self.next)?;
            self.next += 1;
            let (root, names) = &self.of[usize::from(task.side)];
            let path = input::path(root, names.get(task.number));
            let seen = Seen::at(&path).ok().flatten();
            let search =
                seen.and_then(|seen| Search::new(path.clone(), seen, task.etag, &self.known));
            let Some(search) = search else {
                // Reading a part of it fails for the same reason.
                let source = Source::Extent { path, offset: 0, length: 0 };
                let context = PartOf::NoParts(task);
                return Some(Job { source, algorithms: Algorithms::NONE, context });
            };
            self.parts = Some(search.jobs(task));
        }
    }
}
