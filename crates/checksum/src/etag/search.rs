//! Finds the part size of an ETag from the size of the file and the number of parts.
//!
//! A part of a file of `size` bytes in `parts` parts has at least `size / parts` bytes and less
//! than `size / (parts - 1)`. For 1 GiB in 128 parts that is a single number of whole MiB, and for
//! 1 GiB in two parts it is 512 numbers. All likely sizes are computed in one read, because lanes
//! are cheap: first the sizes of clients, then whole MiB, round numbers first, then whole MB, at
//! most [`MOST`] in total. A size that matched another file is tried alone first.
//!
//! A part size that gives the ETag proves the content like its MD5. If no size gives it, that
//! proves nothing unless all possible sizes were tried.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lanesum_list::Etag;

use super::part_size::{MIB, MOST_PARTS};
use super::parts::{Cut, FileParts, Gatherer};
use super::seen::{Seen, Since};
use super::{Client, PartSize, Upload};
use crate::Error;
use crate::engine::{self, Delivery};

/// The largest number of part sizes that are tried for a file.
pub const MOST: usize = 64;

/// The largest number of them that are whole MiB or sizes of clients. The rest may be whole MB.
const MOST_OF_MIB: usize = 52;

/// The largest number of sizes that are tried first: one round of lanes for a file of few parts.
const FIRST: usize = 6;

/// The sizes to try after those of clients: those of other libraries, common settings and the S3
/// web console.
const COMMON: [u64; 10] = [
    5 * MIB,
    10 * MIB,
    16 * MIB,
    17_179_870,
    32 * MIB,
    64 * MIB,
    100 * MIB,
    128 * MIB,
    256 * MIB,
    512 * MIB,
];

/// The steps of whole numbers, the roundest first.
const MIB_STEPS: [u64; 17] = [1024, 512, 256, 128, 100, 64, 50, 32, 25, 20, 16, 10, 8, 5, 4, 2, 1];
const MB_STEPS: [u64; 9] = [1000, 500, 250, 100, 50, 25, 10, 5, 1];

/// Part sizes that the user gave or that matched previous files, shared by all searches.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedSizes(Arc<Mutex<KnownSizes>>);

#[derive(Debug, Default)]
struct KnownSizes {
    given: Vec<PartSize>,
    /// The latest one first.
    held: Vec<u64>,
}

impl SharedSizes {
    pub(crate) fn given(part_sizes: &[PartSize]) -> Self {
        let known = KnownSizes { given: part_sizes.to_vec(), held: Vec::new() };
        Self(Arc::new(Mutex::new(known)))
    }

    fn note(&self, part_size: u64) {
        let held = &mut self.lock().held;
        held.retain(|&size| size != part_size);
        held.insert(0, part_size);
        held.truncate(FIRST);
    }

    /// Returns the known sizes for a file of `size` bytes.
    fn sizes(&self, size: u64) -> Vec<u64> {
        let known = self.lock();
        let given = known.given.iter().map(|given| match given.of(size) {
            Ok(Upload::Parts(bytes)) => bytes.get(),
            _ => given.bytes(),
        });
        given.chain(known.held.iter().copied()).collect()
    }

    /// Returns the state, which is consistent even after a panic.
    fn lock(&self) -> MutexGuard<'_, KnownSizes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The part sizes to try.
#[derive(Debug, PartialEq, Eq)]
struct Candidates {
    sizes: Vec<u64>,
    /// The number of them that matched elsewhere.
    known: usize,
    /// Whether no other sizes are possible.
    are_all: bool,
}

impl Candidates {
    fn of(size: u64, parts: u32, known: &[u64]) -> Self {
        let parts = u64::from(parts);
        if parts == 1 {
            // Any size covers the whole file.
            return Self { sizes: vec![size.max(1)], known: 0, are_all: true };
        }
        let (least, most) =
            (size.div_ceil(parts).max(1), size.div_ceil(parts - 1).saturating_sub(1));
        let mut sizes = Vec::new();
        let mut add = |part_size: u64, limit: usize| {
            let is_possible = (least..=most).contains(&part_size);
            if is_possible && sizes.len() < limit && !sizes.contains(&part_size) {
                sizes.push(part_size);
            }
            sizes.len()
        };
        let known = known.iter().fold(0, |_, &size| add(size, MOST));
        let clients = Client::ALL.into_iter().map(|client| client.part_size_for(size));
        clients.chain(COMMON).for_each(|part_size| _ = add(part_size, MOST));
        // The even division, and the size of s5cmd and its library for large files.
        for part_size in [least, size / u64::from(MOST_PARTS) + 1, least.next_multiple_of(MIB)] {
            add(part_size, MOST);
        }
        let steps = MIB_STEPS.map(|step| (step * MIB, MOST_OF_MIB)).into_iter();
        for (step, limit) in steps.chain(MB_STEPS.map(|step| (step * 1_000_000, MOST))) {
            let mut part_size = least.next_multiple_of(step);
            while part_size <= most && add(part_size, limit) < limit {
                part_size += step;
            }
        }
        let possible = (most + 1).saturating_sub(least);
        let are_all = sizes.len() as u64 == possible;
        Self { sizes, known, are_all }
    }
}

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Parts of this number of bytes give the ETag.
    Held(u64),
    /// None of this number of part sizes gives the ETag, and there may be others.
    NoneOf(usize),
    /// No possible part size gives the ETag.
    Impossible,
}

/// Returns the message for a file whose ETag none of the tried part sizes gives.
///
/// ```
/// let words = lanesum_checksum::etag::of_other_parts(3);
/// assert!(words.starts_with("its ETag matches none of the 3 part sizes tried: "));
/// ```
#[must_use]
pub fn of_other_parts(tried: usize) -> String {
    let tried = match tried {
        1 => "does not match the part size tried".to_owned(),
        _ => format!("matches none of the {tried} part sizes tried"),
    };
    format!(
        "its ETag {tried}: it may have changed, have different parts (use --part-size), or be \
         encrypted with KMS or customer keys"
    )
}

/// A search for the part size of a file.
#[derive(Debug)]
pub(crate) struct Search {
    path: PathBuf,
    seen: Seen,
    etag: Etag,
    candidates: Candidates,
}

impl Search {
    /// Makes a search for the ETag of an examined file. Returns `None` if it is not a multipart
    /// ETag.
    pub(crate) fn new(path: PathBuf, seen: Seen, etag: Etag, known: &SharedSizes) -> Option<Self> {
        let candidates = Candidates::of(seen.size, etag.parts?.get(), &known.sizes(seen.size));
        Some(Self { path, seen, etag, candidates })
    }

    /// Returns the size of the file in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.seen.size
    }

    /// Returns the number of sizes to try first.
    fn first(&self) -> usize {
        match self.candidates.known {
            0 => self.candidates.sizes.len().min(FIRST),
            known => known,
        }
    }

    fn cuts(sizes: &[u64]) -> Vec<Cut> {
        sizes.iter().copied().map(Cut::in_parts_of).collect()
    }

    /// Returns the jobs that try the first sizes. `context` is returned with the search.
    pub(crate) fn jobs<C>(self, context: C) -> FileParts<Box<(Self, C)>> {
        let cuts = Self::cuts(&self.candidates.sizes[..self.first()]);
        let algorithm = self.etag.digest.algorithm();
        let path = self.path.clone();
        FileParts::new(path, self.seen, algorithm, &cuts, Box::new((self, context)))
    }

    /// Returns the result of these jobs. If no size matched, reads the file for all other sizes.
    ///
    /// # Errors
    /// Fails if the file cannot be read or has changed.
    pub(crate) fn conclude(
        self,
        first: Result<Vec<Etag>, Error>,
        known: &SharedSizes,
        options: &engine::Options,
    ) -> Result<Found, Error> {
        let (first, sizes) = (first?, &self.candidates.sizes);
        let (tried, others) = sizes.split_at(first.len());
        let held = match self.holding(&first, tried) {
            None if others.is_empty() => None,
            None => self.holding(&self.read(others, options)?, others),
            held => held,
        };
        Ok(match held {
            Some(part_size) => {
                known.note(part_size);
                Found::Held(part_size)
            }
            None if self.candidates.are_all => Found::Impossible,
            None => Found::NoneOf(sizes.len()),
        })
    }

    fn holding(&self, etags: &[Etag], sizes: &[u64]) -> Option<u64> {
        let mut both = etags.iter().zip(sizes);
        both.find_map(|(etag, size)| (*etag == self.etag).then_some(*size))
    }

    /// Reads the file again for other part sizes.
    fn read(&self, sizes: &[u64], options: &engine::Options) -> Result<Vec<Etag>, Error> {
        let now = Seen::at(&self.path)?;
        let Some(now) = now.filter(|_| self.seen.compare(now) != Since::Changed) else {
            return Err(Error::Changed);
        };
        let options = engine::Options {
            delivery: Delivery::InOrder,
            // This is the thread of the caller, which must keep its descriptor table.
            own_descriptors: false,
            ..options.clone()
        };
        let algorithm = self.etag.digest.algorithm();
        let cuts = Self::cuts(sizes);
        let jobs = FileParts::new(self.path.clone(), now, algorithm, &cuts, ());
        let uncounted = engine::Options { progress: None, ..options.clone() };
        let mut gatherer = Gatherer::default();
        let ended = engine::run(&options, jobs).find_map(|outcome| {
            let engine::Outcome { context, result, .. } = outcome;
            // The file was counted at the first read.
            gatherer.take(context, result, &uncounted)
        });
        let (_, etags) = ended.expect("a run that is not stopped comes to its end");
        etags
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::etag::part_size::GIB;
    use proptest::prelude::*;

    #[test]
    fn likely_sizes_come_first() {
        let of = |size, parts| Candidates::of(size, parts, &[]).sizes;
        assert_eq!(of(GIB, 128), [8 * MIB]);
        assert_eq!(of(20 * MIB, 3)[..2], [8 * MIB, 20 * MIB / 3 + 1]);
        assert_eq!(of(20 * MIB, 4)[0], 5 * MIB);
        assert_eq!(of(20 * MIB, 2)[..3], [15 * MIB, 16 * MIB, 10 * MIB]);
        assert_eq!(of(100 * GIB, 9310)[0], 11 * MIB);
        let halves = of(GIB, 2);
        assert_eq!((halves.len(), halves[0]), (MOST, 512 * MIB));
        for round in [600 * MIB, 768 * MIB, 1000 * MIB, 600_000_000, 1_000_000_000] {
            assert!(halves.contains(&round), "{round}: {halves:?}");
        }
    }

    #[test]
    fn known_sizes_come_first() {
        let known = SharedSizes::given(&["rclone".parse().unwrap(), "9MiB".parse().unwrap()]);
        known.note(11 * MIB);
        known.note(10 * MIB);
        assert_eq!(known.sizes(1), [5 * MIB, 9 * MIB, 10 * MIB, 11 * MIB]);
        let candidates = Candidates::of(20 * MIB, 3, &known.sizes(20 * MIB));
        assert_eq!((candidates.sizes[0], candidates.known), (9 * MIB, 1));
        let candidates = Candidates::of(20 * MIB, 2, &known.sizes(20 * MIB));
        assert_eq!((&candidates.sizes[..2], candidates.known), (&[10 * MIB, 11 * MIB][..], 2));
    }

    #[test]
    fn a_single_candidate_is_certain() {
        for (size, parts, sizes) in [(0, 1, &[1][..]), (7, 1, &[7]), (7, 7, &[1]), (7, 3, &[3])] {
            let candidates = Candidates::of(size, parts, &[]);
            assert_eq!((&*candidates.sizes, candidates.are_all), (sizes, true), "{size} {parts}");
        }
        for (size, parts) in [(0, 2), (3, 5), (7, 6)] {
            let candidates = Candidates::of(size, parts, &[]);
            assert_eq!((&*candidates.sizes, candidates.are_all), (&[][..], true), "{size} {parts}");
        }
        assert!(!Candidates::of(20 * MIB, 3, &[]).are_all);
    }

    proptest! {
        #[test]
        fn candidates_are_possible_and_unique(size in 0..8u64 << 40, parts in 1..=MOST_PARTS, known: [u64; 3]) {
            let Candidates { mut sizes, known, .. } = Candidates::of(size, parts, &known);
            prop_assert!(known <= sizes.len() && sizes.len() <= MOST);
            for part_size in &sizes {
                prop_assert_eq!(size.div_ceil(*part_size).max(1), u64::from(parts), "{}", part_size);
            }
            let count = sizes.len();
            sizes.sort_unstable();
            sizes.dedup();
            prop_assert_eq!(sizes.len(), count);
        }

        #[test]
        fn client_sizes_are_among_the_first_candidates(size in 1..4u64 << 40, client in 0..Client::ALL.len()) {
            let client = PartSize::Client(Client::ALL[client]);
            if let Ok(Upload::Parts(part_size)) = client.of(size) {
                let parts = size.div_ceil(part_size.get());
                let candidates = Candidates::of(size, parts as u32, &[]);
                let is_first = candidates.sizes[..candidates.sizes.len().min(FIRST)].contains(&part_size.get());
                prop_assert!(is_first || parts == 1);
            }
        }
    }
}
