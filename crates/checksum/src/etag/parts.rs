//! Turns the parts of a file into jobs of the engine, and the outcomes into ETags.
//!
//! ```text
//! examine the file        its size determines the parts
//! a job for each part     of all part sizes together, in the order of their offsets
//! each outcome            must be of the examined version; its digest is added to the ETag
//! examine the file again  the ETags are valid if the version is the same
//! ```
//!
//! If a process may be writing to the file, or if its inode has changed, versions are not
//! sufficient: a long write has a single time, and parts may be read before and after it. Then the
//! whole file is read again. The ETags are valid if nothing changed in the second read, or if they
//! are the same.
//!
//! With several sizes the same bytes are read shortly after each other, the second time from the
//! cache. A disk that has to seek reads the file in one pass, because the engine reads parts in
//! order. Memory does not depend on the size of the file or the number of parts: each part size has
//! one state that absorbs the digests of its parts.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lanesum_list::{Digests, Etag};

use super::seen::{Seen, Since};
use crate::engine::{self, Delivery, Hashed, Hashers, Job, Source};
use crate::{Algorithm, Algorithms, Digest, Error};

/// One way to cut a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// The size of each part but the last one, at least one byte.
    pub(crate) part_size: u64,
    /// Whether the file is in one piece, so that its digest is the ETag.
    pub(crate) is_whole: bool,
}

impl Cut {
    pub(crate) fn in_parts_of(part_size: u64) -> Self {
        Self { part_size: part_size.max(1), is_whole: false }
    }

    pub(super) fn none(size: u64) -> Self {
        Self { part_size: size.max(1), is_whole: true }
    }
}

/// The role of a job for a file in parts. `C` is the data of the caller.
#[derive(Debug)]
pub(crate) enum PartNote<C> {
    Begin(Box<Gathering>),
    /// A part of the cut with this index.
    Part(usize),
    End(C),
}

/// The jobs of a file: its start, its parts, its end.
pub(crate) struct FileParts<C> {
    /// `None` once it was returned.
    gathering: Option<Box<Gathering>>,
    path: PathBuf,
    size: u64,
    algorithm: Algorithm,
    /// The start of the next part and the part size of each cut.
    next: Vec<(u64, u64)>,
    is_given_up: Arc<AtomicBool>,
    /// `None` once it was returned.
    context: Option<C>,
}

impl<C> FileParts<C> {
    /// Makes the jobs of an examined file that is cut in several ways.
    pub(crate) fn new(
        path: PathBuf,
        seen: Seen,
        algorithm: Algorithm,
        cuts: &[Cut],
        context: C,
    ) -> Self {
        let gathering = Gathering::new(path.clone(), seen, algorithm, cuts);
        Self {
            path,
            size: seen.size,
            algorithm,
            // An empty file has one empty part.
            next: cuts.iter().map(|cut| (0, cut.part_size)).collect(),
            is_given_up: Arc::clone(&gathering.is_given_up),
            gathering: Some(Box::new(gathering)),
            context: Some(context),
        }
    }

    /// Returns the next part: the one with the lowest start, and the shortest of several.
    fn next_part(&mut self) -> Option<(usize, Source)> {
        let size = self.size;
        let left = self.next.iter_mut().enumerate().filter(|(_, next)| next.0 < size.max(1));
        let (cut, (offset, part_size)) = left.min_by_key(|(_, next)| **next)?;
        let (begin, length) = (*offset, *part_size);
        // The last part ends there, even if the file has grown.
        let length = length.min(size - begin);
        *offset = offset.saturating_add(*part_size);
        Some((cut, Source::Extent { path: self.path.clone(), offset: begin, length }))
    }
}

impl<C> Iterator for FileParts<C> {
    type Item = Job<PartNote<C>>;

    fn next(&mut self) -> Option<Job<PartNote<C>>> {
        let nothing = |note| {
            let (source, algorithms) = (Source::Nothing, Algorithms::NONE);
            Job { source, algorithms, context: note }
        };
        if let Some(gathering) = self.gathering.take() {
            return Some(nothing(PartNote::Begin(gathering)));
        }
        let is_given_up = self.is_given_up.load(Ordering::Relaxed);
        let part = if is_given_up { None } else { self.next_part() };
        match part {
            Some((cut, source)) => {
                let algorithms = self.algorithm.into();
                Some(Job { source, algorithms, context: PartNote::Part(cut) })
            }
            None => Some(nothing(PartNote::End(self.context.take()?))),
        }
    }
}

/// The results of the parts of a file so far.
#[derive(Debug)]
pub(crate) struct Gathering {
    path: PathBuf,
    seen: Seen,
    algorithm: Algorithm,
    cuts: Vec<Cut>,
    sums: Vec<Sum>,
    /// Whether versions do not prove that all parts are of one version.
    is_touched: bool,
    error: Option<Error>,
    /// After an error no further parts are read.
    is_given_up: Arc<AtomicBool>,
}

/// The results of one cut.
#[derive(Debug)]
struct Sum {
    hashers: Hashers,
    /// The digest of the last part.
    last: Option<Digest>,
    parts: u32,
    bytes: u64,
}

impl Sum {
    fn new(algorithm: Algorithm) -> Self {
        // No store uses a key. With such an algorithm reading the parts fails.
        let hashers = Hashers::new(algorithm.into(), None).unwrap_or_default();
        Self { hashers, last: None, parts: 0, bytes: 0 }
    }

    fn add(&mut self, digest: Digest, bytes: u64) {
        self.hashers.update(digest.as_bytes());
        self.last = Some(digest);
        self.parts += 1;
        self.bytes += bytes;
    }

    /// Returns the ETag of all these parts, or `None` without parts.
    fn etag(self, is_whole: bool) -> Option<Etag> {
        if is_whole {
            return Some(Etag { digest: self.last?, parts: None });
        }
        let mut digests = Digests::default();
        self.hashers.finalize(&mut digests);
        Some(Etag { digest: *digests.first()?, parts: Some(NonZeroU32::new(self.parts)?) })
    }
}

impl Gathering {
    fn new(path: PathBuf, seen: Seen, algorithm: Algorithm, cuts: &[Cut]) -> Self {
        Self {
            path,
            seen,
            algorithm,
            cuts: cuts.to_vec(),
            sums: cuts.iter().map(|_| Sum::new(algorithm)).collect(),
            is_touched: false,
            error: None,
            is_given_up: Arc::default(),
        }
    }

    fn fail(&mut self, error: Error) {
        self.is_given_up.store(true, Ordering::Relaxed);
        self.error.get_or_insert(error);
    }

    fn note(&mut self, since: Since) {
        match since {
            Since::Same => {}
            Since::Touched => self.is_touched = true,
            Since::Changed => self.fail(Error::Changed),
        }
    }

    fn take(&mut self, cut: usize, part: Result<Hashed, Error>, detects_changes: bool) {
        match part {
            Err(error) => self.fail(error),
            Ok(hashed) => {
                if detects_changes {
                    self.note(self.seen.compare_part(&hashed));
                }
                match hashed.digests.first() {
                    Some(digest) => self.sums[cut].add(*digest, hashed.bytes),
                    None => self.fail(Error::Changed),
                }
            }
        }
    }

    /// Returns the ETag of each cut, once all parts have arrived.
    fn finish(mut self, options: &engine::Options) -> Result<Vec<Etag>, Error> {
        if options.detect_changes && self.error.is_none() {
            self.note(self.seen.compare(Seen::at(&self.path)?));
        }
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let etags = etags(self.sums, &self.cuts, self.seen.size)?;
        if !self.is_touched {
            return Ok(etags);
        }
        read_again(&self.path, self.algorithm, &self.cuts, options, etags)
    }
}

/// # Errors
/// Fails if the file was truncated while changes are ignored.
fn etags(sums: Vec<Sum>, cuts: &[Cut], size: u64) -> Result<Vec<Etag>, Error> {
    let etag = |(sum, cut): (Sum, &Cut)| {
        let read = sum.bytes;
        let etag = sum.etag(cut.is_whole).filter(|_| read == size);
        etag.ok_or(Error::Length { size, read })
    };
    sums.into_iter().zip(cuts).map(etag).collect()
}

/// Reads a file again if versions do not prove that all parts are of one version. `first` are the
/// ETags of the first read.
fn read_again(
    path: &Path,
    algorithm: Algorithm,
    cuts: &[Cut],
    options: &engine::Options,
    first: Vec<Etag>,
) -> Result<Vec<Etag>, Error> {
    let Some(seen) = Seen::at(path)? else { return Err(Error::Changed) };
    let quiet = engine::Options {
        progress: None,
        delivery: Delivery::InOrder,
        own_descriptors: false,
        ..options.clone()
    };
    let mut gathering = Gathering::new(path.to_owned(), seen, algorithm, cuts);
    let jobs = FileParts::new(path.to_owned(), seen, algorithm, cuts, ());
    for outcome in engine::run(&quiet, jobs) {
        if let PartNote::Part(cut) = outcome.context {
            gathering.take(cut, outcome.result, true);
        }
    }
    gathering.note(seen.compare(Seen::at(path)?));
    if let Some(error) = gathering.error.take() {
        return Err(error);
    }
    let again = etags(gathering.sums, cuts, seen.size)?;
    if again == first || !gathering.is_touched { Ok(again) } else { Err(Error::Changed) }
}

/// Collects the outcomes of the jobs of files in parts, in order.
#[derive(Debug, Default)]
pub(crate) struct Gatherer {
    current: Option<Box<Gathering>>,
}

impl Gatherer {
    /// Adds an outcome. After the last one of a file, counts the file, and returns the data of the
    /// caller with one ETag per cut. `options` are those of the run.
    pub(crate) fn take<C>(
        &mut self,
        note: PartNote<C>,
        result: Result<Hashed, Error>,
        options: &engine::Options,
    ) -> Option<(C, Result<Vec<Etag>, Error>)> {
        match note {
            PartNote::Begin(gathering) => self.current = Some(gathering),
            PartNote::Part(cut) => {
                if let Some(gathering) = &mut self.current {
                    gathering.take(cut, result, options.detect_changes);
                }
            }
            PartNote::End(context) => {
                let gathering = self.current.take().expect("a file begins before it ends");
                options.count_file();
                return Some((context, gathering.finish(options)));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::num::NonZeroU64;

    fn parts(size: u64, part_sizes: &[u64]) -> Vec<(usize, u64, u64)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::File::create(&path).unwrap().set_len(size).unwrap();
        let seen = Seen::at(&path).unwrap().unwrap();
        let cuts: Vec<_> = part_sizes.iter().map(|&size| Cut::in_parts_of(size)).collect();
        let jobs = FileParts::new(path, seen, Algorithm::Md5, &cuts, ());
        jobs.filter_map(|job| match (job.context, job.source) {
            (PartNote::Part(cut), Source::Extent { offset, length, .. }) => {
                Some((cut, offset, length))
            }
            _ => None,
        })
        .collect()
    }

    #[test]
    fn parts_are_ordered_by_start_then_length() {
        assert_eq!(
            parts(10, &[4, 3]),
            [(1, 0, 3), (0, 0, 4), (1, 3, 3), (0, 4, 4), (1, 6, 3), (0, 8, 2), (1, 9, 1)]
        );
        assert_eq!(parts(8, &[4]), [(0, 0, 4), (0, 4, 4)]);
        assert_eq!(parts(3, &[4]), [(0, 0, 3)]);
        assert_eq!(parts(0, &[4]), [(0, 0, 0)]);
    }

    #[test]
    fn the_maximum_number_of_parts_works() {
        let most = NonZeroU64::from(NonZeroU32::new(super::super::MOST_PARTS).unwrap()).get();
        let found = parts(5 * most - 2, &[5]);
        assert_eq!(found.len() as u64, most);
        assert_eq!(found.last(), Some(&(0, 5 * (most - 1), 3)));
    }

    /// A change between the first check of a file and the end of its parts.
    fn changed_by(change: impl FnOnce(&Path)) -> Result<Vec<Etag>, Error> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "0123456789").unwrap();
        let seen = Seen::at(&path).unwrap().unwrap();
        let options = engine::Options::default();
        let cuts = [Cut::in_parts_of(4)];
        let jobs = FileParts::new(path.clone(), seen, Algorithm::Md5, &cuts, ());
        let mut change = Some(change);
        let mut gatherer = Gatherer::default();
        // One thread and one job at a time, so that the change happens between two parts.
        for job in jobs {
            let is_second = matches!(job.source, Source::Extent { offset: 4, .. });
            if let Some(change) = change.take_if(|_| is_second) {
                change(&path);
            }
            for outcome in engine::run(&options, std::iter::once(job)) {
                let engine::Outcome { context, result, .. } = outcome;
                if let Some((_, etags)) = gatherer.take(context, result, &options) {
                    return etags;
                }
            }
        }
        unreachable!("it ends")
    }

    #[test]
    fn parts_of_different_versions_are_an_error() {
        let whole = changed_by(|_| ()).unwrap();
        let digests = ["0123", "4567", "89"].map(|part| *lanesum_md5::md5(part).as_bytes());
        let expected = format!("{}-3", lanesum_md5::md5(digests.concat()));
        assert_eq!(whole.iter().map(Etag::to_string).collect::<Vec<_>>(), [expected]);

        let is_changed = |change: fn(&Path)| matches!(changed_by(change), Err(Error::Changed));
        assert!(is_changed(|path| fs::write(path, "0123456780").unwrap()));
        assert!(is_changed(|path| fs::write(path, "01234567890").unwrap()));
        assert!(is_changed(|path| fs::write(path, "012345678").unwrap()));
        // Another file of the same name and the same metadata where possible.
        assert!(is_changed(|path| {
            let modified = fs::metadata(path).unwrap().modified().unwrap();
            let other = path.with_extension("new");
            fs::write(&other, "0123456780").unwrap();
            fs::File::options().write(true).open(&other).unwrap().set_modified(modified).unwrap();
            fs::rename(other, path).unwrap();
        }));
        // Equal metadata, changed in place: the second read is completely of the new version.
        let replaced = changed_by(|path| {
            let modified = fs::metadata(path).unwrap().modified().unwrap();
            let file = fs::File::options().write(true).open(path).unwrap();
            std::os::unix::fs::FileExt::write_all_at(&file, b"9876543210", 0).unwrap();
            file.set_modified(modified).unwrap();
        });
        let digests = ["9876", "5432", "10"].map(|part| *lanesum_md5::md5(part).as_bytes());
        let expected = format!("{}-3", lanesum_md5::md5(digests.concat()));
        assert_eq!(replaced.unwrap()[0].to_string(), expected);
        // The second read is of one version.
        let touched = changed_by(|path| {
            fs::hard_link(path, path.with_extension("link")).unwrap();
        });
        assert_eq!(touched.unwrap(), whole);
        // A process may be writing to it, but does not.
        let mut writer = None;
        let open = changed_by(|path| {
            writer = fs::File::options().write(true).open(path).ok();
        });
        assert_eq!(open.unwrap(), whole);
        assert!(writer.is_some());
        let gone = changed_by(|path| fs::remove_file(path).unwrap());
        assert!(gone.unwrap_err().is_not_found());
    }
}
