//! Lines with only a multipart ETag of their file. The check searches for their part size.

use std::path::PathBuf;

use lanesum_list::Etag;

use super::jobs::{Expected, Note};
use crate::engine::Job;
use crate::etag::{FileParts, PartNote, Search, Seen, SharedSizes};
use crate::{Algorithms, Source};

/// The role of a job for such a line.
pub(super) enum EtagNote {
    /// The size differs from the list, so the file is not read.
    OtherSize(Expected, u64),
    /// A part of the file.
    Part(PartNote<Box<(Search, Expected)>>),
}

/// The jobs of the next line.
pub(super) struct EtagJobs(FileParts<Box<(Search, Expected)>>);

impl EtagJobs {
    pub(super) fn next(&mut self) -> Option<Job<Note>> {
        let Job { source, algorithms, context } = self.0.next()?;
        Some(Job { source, algorithms, context: Note::Etag(Box::new(EtagNote::Part(context))) })
    }
}

/// How the file of a line is read.
pub(super) enum ReadAs {
    /// In parts.
    Jobs(Box<EtagJobs>),
    /// In a single job.
    Job(Box<Job<Note>>),
}

/// Starts with the file of a line. `path` is `None` for standard input.
pub(super) fn begin(
    path: Option<PathBuf>,
    etag: Etag,
    expected: Expected,
    known: &SharedSizes,
) -> ReadAs {
    let (algorithms, nothing) = (Algorithms::NONE, Source::Nothing);
    let seen = path.as_ref().map(|path| Seen::at(path));
    let search = match (path, seen) {
        (Some(path), Some(Ok(Some(seen)))) => match expected.first.size {
            Some(listed) if listed != seen.size => {
                let context = Note::Etag(Box::new(EtagNote::OtherSize(expected, seen.size)));
                return ReadAs::Job(Box::new(Job { source: nothing, algorithms, context }));
            }
            _ => Search::new(path, seen, etag, known),
        },
        // Reading a part fails with the reason why the file cannot be examined or has no parts.
        (path, _) => {
            let path = path.unwrap_or_else(|| PathBuf::from("/dev/stdin"));
            let source = Source::Extent { path, offset: 0, length: 0 };
            let job = Job { source, algorithms, context: Note::File(expected) };
            return ReadAs::Job(Box::new(job));
        }
    };
    let search = search.expect("such a line has the ETag of parts");
    ReadAs::Jobs(Box::new(EtagJobs(search.jobs(expected))))
}
