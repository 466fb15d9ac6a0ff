//! The hash functions, and what they hash.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher};
use std::hint::black_box;
use std::rc::Rc;

use ahash::RandomState as AHash;
use anyhow::{Result, ensure};
use fnv::FnvHasher;
use fnv1::Fnv1Hasher;
use foldhash::fast::FixedState;
use lanesum_siphash::{Backend, SipHash};
use libsodium_rs::crypto_shorthash;
use rapidhash::v3::{RapidSecrets, rapidhash_v3_seeded};
use siphasher::sip::{SipHasher13, SipHasher24};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// One place for the hash of each input.
pub type Hashes = Rc<RefCell<Vec<u64>>>;

/// Puts the hash of each input into its place.
pub type Work<'i> = Box<dyn FnMut(&mut [u64]) + 'i>;

/// Pieces of one buffer.
pub struct Inputs {
    shape: Shape,
    buffer: Vec<u8>,
    /// Where each begins, and where the last one ends.
    offsets: Vec<i32>,
    /// The first eight bytes of each, where `shape` says so.
    numbers: Vec<u64>,
}

/// How the inputs come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// One by one.
    One,
    /// Of one length, many at once.
    Records,
    /// As numbers, many at once.
    Numbers,
    /// Of any lengths, many at once.
    Strings,
}

/// The inputs of `one` fill no more bytes than this, less than a first-level cache has.
const HOT_BYTES: usize = 32 << 10;
const MOST_ONES: usize = 1_024;
const RECORDS: usize = 4_096;

/// What is hashed one by one branches by the length, and a run hashes the same strings again and
/// again. A Zen 4 learns tens of thousands of random lengths by heart, but not 65,536 of them
/// (docs/decisions/siphash.md).
const STRINGS: usize = 131_072;

impl Inputs {
    /// The inputs that the name of a case stands for; the same in every run.
    pub fn of_case(case: &str) -> Option<Self> {
        let (kind, lengths) = case.split_once('-')?;
        let length = || {
            let (digits, unit) = lengths.split_at(lengths.find(|c: char| !c.is_ascii_digit())?);
            let unit = [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20)]
                .into_iter()
                .find(|(name, _)| *name == unit)?;
            Some(digits.parse::<usize>().ok()? * unit.1)
        };
        Some(match kind {
            "one" => {
                let length = length()?;
                let count = (HOT_BYTES / length).clamp(1, MOST_ONES);
                Self::new(Shape::One, std::iter::repeat_n(length, count))
            }
            "many" if lengths == "u64" => {
                Self::new(Shape::Numbers, std::iter::repeat_n(size_of::<u64>(), RECORDS))
            }
            "many" => Self::new(Shape::Records, std::iter::repeat_n(length()?, RECORDS)),
            "mixed" => {
                let (shortest, longest) = lengths.split_once('-')?;
                let lengths = shortest.parse::<usize>().ok()?..=longest.parse().ok()?;
                let mut random = fastrand::Rng::with_seed(2);
                Self::new(Shape::Strings, (0..STRINGS).map(|_| random.usize(lengths.clone())))
            }
            _ => return None,
        })
    }

    fn new(shape: Shape, lengths: impl Iterator<Item = usize>) -> Self {
        let mut offsets = vec![0];
        let mut end = 0;
        for length in lengths {
            end += length;
            offsets.push(i32::try_from(end).expect("less than 2 GiB"));
        }
        let mut buffer = vec![0; end];
        fastrand::Rng::with_seed(1).fill(&mut buffer);
        let numbers = match shape {
            Shape::Numbers => {
                buffer.as_chunks().0.iter().copied().map(u64::from_le_bytes).collect()
            }
            _ => Vec::new(),
        };
        Self { shape, buffer, offsets, numbers }
    }

    pub fn count(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Of all inputs together.
    pub fn bytes(&self) -> usize {
        self.buffer.len()
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.offsets.windows(2).map(|ends| &self.buffer[ends[0] as usize..ends[1] as usize])
    }

    /// Hashes one after the other.
    #[inline(always)]
    fn each<'i>(&'i self, hash: impl Fn(&[u8]) -> u64 + 'i) -> Work<'i> {
        Box::new(move |hashes| {
            for (hashed, input) in hashes.iter_mut().zip(black_box(self).iter()) {
                *hashed = hash(input);
            }
        })
    }

    /// The same by a [`Hasher`].
    fn each_by<'i, B: BuildHasher + 'i>(&'i self, build: B) -> Work<'i> {
        self.each(move |input| {
            let mut hasher = build.build_hasher();
            hasher.write(input);
            hasher.finish()
        })
    }

    /// The same by lanesum: many at once, if there are many.
    fn by_lanesum<'i, const C: usize, const D: usize>(
        &'i self,
        sip: SipHash<C, D>,
        backend: Backend,
    ) -> Work<'i> {
        fn records<const N: usize, const C: usize, const D: usize>(
            inputs: &Inputs,
            lanes: lanesum_siphash::WithBackend<C, D>,
        ) -> Work<'_> {
            let records = inputs.buffer.as_chunks::<N>().0;
            Box::new(move |hashes| lanes.hash_records(black_box(records), hashes))
        }
        let lanes = sip.with_backend(backend);
        match self.shape {
            Shape::One => self.each(move |input| sip.hash(input)),
            Shape::Records => match self.bytes() / self.count() {
                8 => records::<8, C, D>(self, lanes),
                16 => records::<16, C, D>(self, lanes),
                32 => records::<32, C, D>(self, lanes),
                64 => records::<64, C, D>(self, lanes),
                length => panic!("no case has records of {length} bytes"),
            },
            Shape::Numbers => {
                Box::new(move |hashes| lanes.hash_u64s(black_box(&self.numbers), hashes))
            }
            Shape::Strings => Box::new(move |hashes| {
                let inputs = black_box(self);
                lanes.hash_offsets(&inputs.buffer, &inputs.offsets, hashes);
            }),
        }
    }
}

/// A row: what it does, and how its answers are known to be right.
pub struct Subject<'i> {
    pub name: &'static str,
    pub hash: Work<'i>,
    pub expected: Expected,
}

/// What the hashes must be.
pub enum Expected {
    /// SipHash-2-4 and 1-3 under [`KEY`], by the crate siphasher.
    Sip24,
    Sip13,
    /// SipHash-1-3 under a key of zeros, as `DefaultHasher::new` documents.
    Sip13OfZero,
    /// Equal for equal inputs, and different for different ones: an accident in 2^64 aside.
    Distinct,
}

impl Expected {
    pub fn check(&self, inputs: &Inputs, hashes: &[u64]) -> Result<()> {
        let check = |hash: &dyn Fn(&[u8]) -> u64| {
            for (place, (input, found)) in inputs.iter().zip(hashes).enumerate() {
                let expected = hash(input);
                ensure!(*found == expected, "input {place}: {found:016x}, not {expected:016x}");
            }
            Ok(())
        };
        let [k0, k1] = words(&KEY);
        match self {
            Self::Sip24 => check(&|input| SipHasher24::new_with_keys(k0, k1).hash(input)),
            Self::Sip13 => check(&|input| SipHasher13::new_with_keys(k0, k1).hash(input)),
            Self::Sip13OfZero => check(&|input| SipHasher13::new().hash(input)),
            Self::Distinct => {
                let mut by_input = HashMap::new();
                for (input, hash) in inputs.iter().zip(hashes) {
                    let first = *by_input.entry(input).or_insert(*hash);
                    ensure!(first == *hash, "one input has two hashes");
                }
                let distinct: HashSet<&u64> = by_input.values().collect();
                ensure!(distinct.len() == by_input.len(), "two inputs have one hash");
                Ok(())
            }
        }
    }
}

const KEY: [u8; 16] = *b"lanesum's bench.";

fn words(key: &[u8; 16]) -> [u64; 2] {
    let (words, _) = key.as_chunks();
    [u64::from_le_bytes(words[0]), u64::from_le_bytes(words[1])]
}

/// The row of this name; none where it would be the same as another, or the CPU cannot.
pub fn subject<'i>(name: &'static str, inputs: &'i Inputs) -> Option<Subject<'i>> {
    // Keys that the compiler cannot know.
    let key = black_box(KEY);
    let [k0, k1] = words(&key);
    let avx2 = || Backend::from_name("avx2").filter(|_| inputs.shape != Shape::One);
    let (hash, expected) = match name {
        "siphasher-2-4" => {
            let sip = SipHasher24::new_with_keys(k0, k1);
            (inputs.each(move |input| sip.hash(input)), Expected::Sip24)
        }
        "siphasher-1-3" => {
            let sip = SipHasher13::new_with_keys(k0, k1);
            (inputs.each(move |input| sip.hash(input)), Expected::Sip13)
        }
        "lanesum-2-4" => {
            (inputs.by_lanesum(SipHash::<2, 4>::new(&key), Backend::best()), Expected::Sip24)
        }
        "lanesum-1-3" => {
            (inputs.by_lanesum(SipHash::<1, 3>::new(&key), Backend::best()), Expected::Sip13)
        }
        "lanesum-2-4-avx2" => {
            (inputs.by_lanesum(SipHash::<2, 4>::new(&key), avx2()?), Expected::Sip24)
        }
        "lanesum-1-3-avx2" => {
            (inputs.by_lanesum(SipHash::<1, 3>::new(&key), avx2()?), Expected::Sip13)
        }
        "libsodium" => {
            let key = crypto_shorthash::Key::from_bytes(&key).ok()?;
            let hash =
                move |input: &[u8]| u64::from_le_bytes(crypto_shorthash::shorthash(input, &key));
            (inputs.each(hash), Expected::Sip24)
        }
        "std" => {
            let build = std::hash::BuildHasherDefault::<std::hash::DefaultHasher>::new();
            (inputs.each_by(build), Expected::Sip13OfZero)
        }
        "fnv1" => {
            let build = std::hash::BuildHasherDefault::<Fnv1Hasher>::new();
            (inputs.each_by(build), Expected::Distinct)
        }
        "fnv1a" => {
            let build = std::hash::BuildHasherDefault::<FnvHasher>::new();
            (inputs.each_by(build), Expected::Distinct)
        }
        "ahash" => (inputs.each_by(AHash::with_seeds(k0, k1, k0, k1)), Expected::Distinct),
        "foldhash" => (inputs.each_by(FixedState::with_seed(k0)), Expected::Distinct),
        "xxh3" => (inputs.each(move |input| xxh3_64_with_seed(input, k0)), Expected::Distinct),
        "rapidhash" => {
            // Its `Hasher` leaves the length to the callers: `a` and `aa` would be the same.
            let secrets = RapidSecrets::seed(k0);
            let hash = move |input: &[u8]| rapidhash_v3_seeded(input, &secrets);
            (inputs.each(hash), Expected::Distinct)
        }
        _ => return None,
    };
    Some(Subject { name, hash, expected })
}
