//! Files that lines far apart name, in one list or in several (MD5SUMS and SHA256SUMS): each is
//! read once for all of them.
//!
//! The lists are read for such names before the check begins. Then the first line about a file is a
//! job for the algorithms of all its lines, and what came of it is kept for the others, which read
//! nothing and still have their verdicts where they stand. It is a plan and no more: where a list
//! says something else when it is checked, a file is read again.

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

/// More lists than this are of a directory each, as a rule, and share no files.
const MOST_LISTS: usize = 64;

/// Longer lists, in bytes together, are not planned for: the plan and what is kept take two or
/// three times as much memory as the lists.
const MOST_BYTES: u64 = 64 << 20;

/// At either end of a list its algorithms are looked for in so many bytes at most.
const END: u64 = 4096;

/// The files that have another line to come.
#[derive(Default)]
pub(super) struct SharedReads {
    /// By their paths, and not by their names: lists may be of different directories. Without one
    /// it is standard input.
    files: HashMap<Option<PathBuf>, SharedFile>,
    reads: usize,
}

struct SharedFile {
    /// Of all its lines.
    algorithms: Algorithms,
    /// Of all but the first job.
    later: Algorithms,
    /// Jobs about it that are to come.
    left: usize,
    /// The number of its read, once it has been given out.
    read: Option<usize>,
}

/// Which of the jobs about its file a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    /// The only one.
    Only,
    /// The first: what comes of the read is kept under this number, as far as it is for later ones.
    First { read: usize, later: Algorithms },
    /// One that takes what was kept under this number.
    Later { read: usize, is_last: bool },
}

impl SharedReads {
    /// Reads those of the lists that are regular files.
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
        // Lists of one algorithm, or of the same ones throughout, name no file twice as a rule.
        let mut algorithms =
            ends.iter().flat_map(|ends| ends.algorithms).filter(|found| !found.is_empty());
        let first = algorithms.next();
        if bytes > MOST_BYTES || algorithms.all(|other| Some(other) == first) {
            return shared;
        }
        let options = Options { journal: None, ..options.clone() };
        for job in Jobs::new(lists.into_iter(), &options, Self::default()) {
            // What has no parts to be read has its own line alone.
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

    /// The share of the next job about a file, and what it is to compute.
    pub(super) fn share(&mut self, source: &Source, algorithms: Algorithms) -> (Share, Algorithms) {
        let only = (Share::Only, algorithms);
        if self.files.is_empty() {
            return only;
        }
        let path = source.path().map(Path::to_owned);
        let Some(file) = self.files.get_mut(&path) else { return only };
        // A list may say something else by now.
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

/// What a look at both ends of a list tells.
struct Ends {
    /// How long it is.
    bytes: u64,
    algorithms: [Algorithms; 2],
}

/// None of what is no regular file, which gives its lines only once.
fn ends(list: &List, options: &Options) -> Option<Ends> {
    let List::Path(path) = list else { return None };
    // Before it is opened: to open a FIFO waits for its writer, and takes him from the check.
    let found = path.metadata().ok().filter(Metadata::is_file)?;
    let file = File::open(path).ok()?;
    let bytes = found.len();
    let head = piece(&file, 0, bytes.min(END))?;
    let mut format = FormatOfList::new(list, &head, options).format;
    if !format.is_of_lines() {
        // A record of it has all digests of its file.
        return None;
    }
    // The second half at most: short lists, too, may be of one algorithm first and then of another.
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

/// Those of the entries in a piece of a list.
fn algorithms(piece: &[u8], format: &mut dyn Format) -> Algorithms {
    lines(piece, format)
        .filter_map(|(_, line)| match line {
            Line::Record { record, .. } => Some(record.algorithms()),
            Line::Blank | Line::Unknown(_) | Line::Malformed | Line::Wrong(_) => None,
        })
        .fold(Algorithms::NONE, Algorithms::union)
}
