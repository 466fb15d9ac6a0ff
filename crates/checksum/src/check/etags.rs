//! Lines that know nothing of their file but the ETag of its parts: their part size is looked for.

use std::path::PathBuf;

use lanesum_list::Etag;

use super::jobs::{Expected, Note};
use crate::engine::Job;
use crate::etag::{FileParts, Known, PartNote, Search, Seen};
use crate::{Algorithms, Source};

/// What a job has to do with such a line.
pub(super) enum EtagNote {
    /// Another size than that in the list, so that nothing is read.
    OtherSize(Expected, u64),
    /// A part of its file.
    Part(PartNote<Box<(Search, Expected)>>),
}

/// The jobs of the line that comes next.
pub(super) struct EtagJobs(FileParts<Box<(Search, Expected)>>);

impl EtagJobs {
    pub(super) fn next(&mut self) -> Option<Job<Note>> {
        let Job { source, algorithms, context } = self.0.next()?;
        Some(Job { source, algorithms, context: Note::Etag(Box::new(EtagNote::Part(context))) })
    }
}

/// How the file of a line is read.
pub(super) enum ReadAs {
    /// In these parts.
    Jobs(Box<EtagJobs>),
    /// By this one job.
    Job(Box<Job<Note>>),
}

/// Begins with the file of a line, at this path; none where that is standard input.
pub(super) fn begin(
    path: Option<PathBuf>,
    etag: Etag,
    expected: Expected,
    known: &Known,
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
        // To read a part of it fails for the reason that it cannot be looked at or has none.
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
