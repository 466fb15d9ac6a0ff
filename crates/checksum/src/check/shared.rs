//! Files in lines that are far apart, in one list or in several (MD5SUMS and SHA256SUMS). Each file
//! is read once for all of its lines.
//!
//! The lists are searched for such names before the check starts. Then the first line about a file
//! is a job for the algorithms of all its lines. The result is kept for the other lines, which read
//! nothing and get their verdicts at their own places. If a list has changed when it is checked, a
//! file is read again.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use lanesum_list::formats::{Format, Line};
use lanesum_list::lines;

use super::format::FormatOfList;
use super::jobs::{Jobs, Note};
use super::{List, Options, Recognition};
use crate::{Algorithms, Source};

/// More lists than this usually belong to one directory each and share no files.
const MOST_LISTS: usize = 64;

/// The largest total size of lists in bytes that are planned. The plan and the results take two to
/// three times the memory of the lists.
pub(super) const MOST_BYTES: u64 = 64 << 20;

/// The number of bytes at each end of a list that are searched for its algorithms.
const END: u64 = 4096;

/// The files that have further lines.
#[derive(Default)]
pub(super) struct SharedReads {
    /// The files by path, not by name, because lists may be in different directories. `None` is
    /// standard input.
    files: HashMap<Option<PathBuf>, SharedFile>,
    reads: usize,
}

struct SharedFile {
    /// The algorithms of all lines.
    algorithms: Algorithms,
    /// The algorithms of all jobs but the first.
    later: Algorithms,
    /// The number of remaining jobs about the file.
    left: usize,
    /// The number of its read, once its first job was returned.
    read: Option<usize>,
}

/// The share of a job in the reads of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    /// The only job of the file.
    Only,
    /// The first job. The results for later jobs are kept under this number.
    First { read: usize, later: Algorithms },
    /// A later job, which uses the result under this number.
    Later { read: usize, is_last: bool },
}

impl SharedReads {
    /// Reads the lists that are regular files.
    pub(super) fn find(lists: impl Iterator<Item = List>, options: &Options) -> Self {
        let lists: Vec<_> = lists.take(MOST_LISTS + 1).collect();
        let mut shared = Self::default();
        if lists.len() > MOST_LISTS || options.recognition == Recognition::Gnu {
            return shared;
        }
        let (lists, ends): (Vec<_>, Vec<_>) = lists
            .into_iter()
            .filter_map(|list| ends(&list, options).map(|ends| (list, ends)))
            .unzip();
        let bytes: u64 = ends.iter().map(|ends| ends.bytes).sum();
        // Lists with the same algorithms throughout usually name no file twice.
        let mut algorithms =
            ends.iter().flat_map(|ends| ends.algorithms).filter(|found| !found.is_empty());
        let first = algorithms.next();
        if bytes > MOST_BYTES || algorithms.all(|other| Some(other) == first) {
            return shared;
        }
        let options = Options { journal: None, ..options.clone() };
        for job in Jobs::new(lists.into_iter(), &options, Self::default()) {
            // A file without parts to read has only its own line.
            let path = match job.source {
                Source::Path(path) => Some(path),
                Source::Stdin => None,
                _ => continue,
            };
            if let Note::File(_) = job.context {
                let file = shared.files.entry(path).or_insert(SharedFile {
                    algorithms: Algorithms::NONE,
                    later: Algorithms::NONE,
                    left: 0,
                    read: None,
                });
                file.algorithms = file.algorithms.union(job.algorithms);
                if file.left > 0 {
                    file.later = file.later.union(job.algorithms);
                }
                file.left += 1;
            }
        }
        shared.files.retain(|_, file| file.left > 1);
        shared
    }

    /// Returns the share of the next job about a file, and the algorithms to compute.
    pub(super) fn share(&mut self, source: &Source, algorithms: Algorithms) -> (Share, Algorithms) {
        let only = (Share::Only, algorithms);
        if self.files.is_empty() {
            return only;
        }
        let path = source.path().map(Path::to_owned);
        let Some(file) = self.files.get_mut(&path) else { return only };
        // The list may have changed.
        let planned = if file.read.is_none() { file.algorithms } else { file.later };
        if !algorithms.difference(planned).is_empty() {
            return only;
        }
        file.left -= 1;
        let Some(read) = file.read else {
            let read = self.reads;
            self.reads += 1;
            file.read = Some(read);
            return (Share::First { read, later: file.later }, file.algorithms);
        };
        let is_last = file.left == 0;
        if is_last {
            self.files.remove(&path);
        }
        (Share::Later { read, is_last }, Algorithms::NONE)
    }
}

/// The properties of a list, found at both of its ends.
struct Ends {
    /// The length in bytes.
    bytes: u64,
    algorithms: [Algorithms; 2],
}

/// Returns `None` for pipes and similar files, which can be read only once.
fn ends(list: &List, options: &Options) -> Option<Ends> {
    let List::Path(path) = list else { return None };
    // Before it is opened, because opening a FIFO waits for its writer and would take the writer
    // from the check.
    let found = path.metadata().ok().filter(Metadata::is_file)?;
    let file = File::open(path).ok()?;
    let bytes = found.len();
    let head = piece(&file, 0, bytes.min(END))?;
    let mut format = FormatOfList::new(list, &head, options).format;
    if !format.is_of_lines() {
        // A record has all digests of its file.
        return None;
    }
    // At most the second half, because short lists may also have one algorithm first and then
    // another.
    let length = (bytes / 2).min(END);
    let tail = piece(&file, bytes - length, length)?;
    let mut format_of_tail = FormatOfList::new(list, &head, options).format;
    let cut = memchr::memchr(options.dialect.ending().byte(), &tail).unwrap_or(tail.len());
    let head = algorithms(&head, &mut *format);
    Some(Ends { bytes, algorithms: [head, algorithms(&tail[cut..], &mut *format_of_tail)] })
}

fn piece(file: &File, offset: u64, length: u64) -> Option<Vec<u8>> {
    let mut piece = vec![0; length as usize];
    file.read_exact_at(&mut piece, offset).ok()?;
    Some(piece)
}

/// Returns the algorithms of the entries in a piece of a list.
fn algorithms(piece: &[u8], format: &mut dyn Format) -> Algorithms {
    lines(piece, format)
        .filter_map(|(_, line)| match line {
            Line::Record { record, .. } => Some(record.algorithms()),
            Line::Blank | Line::Unknown(_) | Line::Malformed | Line::Wrong(_) => None,
        })
        .fold(Algorithms::NONE, Algorithms::union)
}
