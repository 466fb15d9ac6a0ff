//! The algorithms of hash objects, columns and keys, and how they are chosen by name.

use lanesum_blockhash::{BlockHash, Bytes as _};
use lanesum_list::Algorithm as OfFiles;
use lanesum_md5::Md5Hash;
use lanesum_sha1::Sha1Hash;
use lanesum_sha2::{Sha224Hash, Sha256Hash, Sha384Hash, Sha512_256Hash, Sha512Hash};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::bytes;
use crate::digests::Places;
use crate::hashes::{Hashes, Lanes, Object, Offsets, in_groups};
use crate::singles::{Blake3, Crc32c, Single, Sip, WideSip, Xxh3, Xxh128};

/// An algorithm with its properties, an entry of the table.
pub(crate) struct Algorithm {
    pub(crate) name: &'static str,
    /// The number of bytes in a digest.
    pub(crate) digest_len: usize,
    /// The number of bytes in a block.
    pub(crate) block_len: usize,
    /// Whether the algorithm also hashes numbers. Its digests have the lowest byte first.
    pub(crate) takes_numbers: bool,
    key: TakesKey,
    /// Makes the function. The key has a valid length.
    make: fn(Option<&[u8]>) -> Box<dyn Hashes>,
}

/// Whether an algorithm takes a key, and the length of the key in bytes.
#[derive(Clone, Copy)]
enum TakesKey {
    No,
    /// The algorithm also works without a key.
    Optional(usize),
    Required(usize),
    /// Any length except 0.
    AnyLength,
}

/// Every algorithm, in the order of messages.
static ALL: [Algorithm; 18] = [
    block_hash::<Md5Hash>("md5"),
    block_hash::<Sha1Hash>("sha1"),
    block_hash::<Sha224Hash>("sha224"),
    block_hash::<Sha256Hash>("sha256"),
    block_hash::<Sha384Hash>("sha384"),
    block_hash::<Sha512Hash>("sha512"),
    block_hash::<Sha512_256Hash>("sha512-256"),
    single::<Blake3>("blake3", TakesKey::Optional(blake3::KEY_LEN)),
    single::<Xxh128>("xxh128", TakesKey::No),
    single::<Xxh3>("xxh3-64", TakesKey::No),
    single::<Crc32c>("crc32c", TakesKey::No),
    hmac::<Sha1Hash>("hmac-sha1"),
    hmac::<Sha256Hash>("hmac-sha256"),
    hmac::<Sha512Hash>("hmac-sha512"),
    siphash("siphash24", 8, |key| Box::new(Sip::<2, 4>::new(key))),
    siphash("siphash13", 8, |key| Box::new(Sip::<1, 3>::new(key))),
    siphash("siphash24-128", 16, |key| Box::new(WideSip::<2, 4>::new(key))),
    siphash("siphash13-128", 16, |key| Box::new(WideSip::<1, 3>::new(key))),
];

const fn block_hash<H: BlockHash>(name: &'static str) -> Algorithm {
    Algorithm {
        name,
        digest_len: H::Digest::LEN,
        block_len: H::Tail::LEN / 2,
        takes_numbers: false,
        key: TakesKey::No,
        make: |_| Box::new(Lanes::<H>::new()),
    }
}

const fn hmac<H: BlockHash>(name: &'static str) -> Algorithm {
    let make: fn(Option<&[u8]>) -> Box<dyn Hashes> =
        |key| Box::new(Lanes::<H>::hmac(key.unwrap_or_default()));
    Algorithm { key: TakesKey::AnyLength, make, ..block_hash::<H>(name) }
}

const fn single<S: Single>(name: &'static str, key: TakesKey) -> Algorithm {
    Algorithm {
        name,
        digest_len: S::DIGEST_LEN,
        block_len: S::BLOCK_LEN,
        takes_numbers: false,
        key,
        make: |key| Box::new(S::new(key)),
    }
}

const fn siphash(
    name: &'static str,
    digest_len: usize,
    make: fn(Option<&[u8]>) -> Box<dyn Hashes>,
) -> Algorithm {
    let key = TakesKey::Required(lanesum_siphash::KEY_LEN);
    Algorithm { name, digest_len, block_len: 8, takes_numbers: true, key, make }
}

impl Algorithm {
    /// Returns the algorithm with a name. `_` may stand for `-`, because Python's identifiers have
    /// no `-`.
    fn named(name: &str) -> PyResult<&'static Self> {
        let dashed = name.replace('_', "-");
        // Files have more names for some algorithms, such as xxh3.
        let usual = of_files(name).map(OfFiles::name);
        let found = ALL.iter().find(|it| it.name == dashed || Some(it.name) == usual);
        found.ok_or_else(|| unknown(name))
    }

    /// Returns whether a digest fits a number of 64 bits.
    pub(crate) const fn has_number(&self) -> bool {
        self.digest_len <= 8
    }

    /// Returns the number of a digest of at most 16 bytes.
    pub(crate) fn number(&self, digest: &[u8]) -> u64 {
        let add = |number, &byte| number << 8 | u64::from(byte);
        if self.takes_numbers {
            digest.iter().rev().fold(0, add)
        } else {
            digest.iter().fold(0, add)
        }
    }

    /// # Errors
    /// `TypeError` for a missing or useless key, `ValueError` for a key of the wrong length.
    fn key(&self, key: Key<'_, '_>) -> PyResult<Option<Vec<u8>>> {
        let name = self.name;
        let Some(key) = key else {
            let kind = match self.key {
                TakesKey::No | TakesKey::Optional(_) => return Ok(None),
                TakesKey::Required(len) => format!("a secret of {len} bytes"),
                TakesKey::AnyLength => "a secret of any length".to_owned(),
            };
            return Err(PyTypeError::new_err(format!("{name} needs key=, {kind}")));
        };
        if matches!(self.key, TakesKey::No) {
            return Err(PyTypeError::new_err(format!(
                "{name} takes no key; use hmac-sha256 or siphash24 for keyed hashes"
            )));
        }
        let bytes = bytes_of(key)?;
        match (self.key, bytes.len()) {
            (TakesKey::Optional(len) | TakesKey::Required(len), found) if found != len => Err(
                PyValueError::new_err(format!("{name} needs a key of {len} bytes, not {found}")),
            ),
            (_, 0) => Err(PyValueError::new_err(format!("{name} needs a key that is not empty"))),
            _ => Ok(Some(bytes)),
        }
    }
}

/// An algorithm with its key, if it takes one.
pub(crate) struct Function {
    pub(crate) algorithm: &'static Algorithm,
    hashes: Box<dyn Hashes>,
}

/// The key argument of a Python function.
pub(crate) type Key<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

impl Function {
    /// Returns the function with a name.
    ///
    /// # Errors
    /// `ValueError` for an unknown name or a key of the wrong length, `TypeError` for a missing or
    /// useless key.
    pub(crate) fn named(name: &str, key: Key<'_, '_>) -> PyResult<Self> {
        let algorithm = Algorithm::named(name)?;
        let key = algorithm.key(key)?;
        Ok(Self { algorithm, hashes: (algorithm.make)(key.as_deref()) })
    }

    /// Writes the digest of each row to its place.
    ///
    /// # Panics
    /// If the number of places differs, or they are not from
    /// [`Digests::new`](crate::digests::Digests::new) for this function.
    pub(crate) fn hash<'a>(
        &self,
        rows: impl ExactSizeIterator<Item = &'a [u8]>,
        places: Places<'_>,
    ) {
        in_groups(&*self.hashes, rows, places);
    }

    /// Like [`hash`](Self::hash), for the pieces of a buffer between adjacent offsets.
    ///
    /// # Panics
    /// As [`Function::hash`], and if offsets decrease or are outside the buffer.
    pub(crate) fn hash_offsets(&self, buffer: &[u8], offsets: Offsets<'_>, places: Places<'_>) {
        self.hashes.offsets(buffer, offsets, places);
    }

    /// Like [`hash`](Self::hash), for the eight little-endian bytes of each number.
    pub(crate) fn hash_numbers(&self, numbers: &[u64], places: Places<'_>) {
        self.hashes.numbers(numbers, places);
    }

    /// Returns the hash of a message that arrives in pieces.
    pub(crate) fn object(&self) -> Box<dyn Object> {
        self.hashes.object()
    }
}

/// Returns the names of all algorithms.
pub(crate) fn names() -> Vec<&'static str> {
    ALL.iter().map(|algorithm| algorithm.name).collect()
}

/// Returns the algorithm of files with a name. `_` may stand for `-`.
pub(crate) fn of_files(name: &str) -> Option<OfFiles> {
    name.parse().or_else(|_| name.replace('_', "-").parse()).ok()
}

fn unknown(name: &str) -> PyErr {
    let names = names();
    let (last, names) = names.split_last().expect("there are algorithms");
    let elsewhere = match of_files(name) {
        Some(_) => "; hash_files() and hash_tree() support it for files",
        None => "",
    };
    let names = names.join(", ");
    PyValueError::new_err(format!("unknown algorithm {name:?}; use {names} or {last}{elsewhere}"))
}

fn bytes_of(key: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    bytes::copy(key).map_err(|error| {
        if !error.is_instance_of::<PyTypeError>(key.py()) {
            return error;
        }
        match key.get_type().name() {
            Ok(class) => PyTypeError::new_err(format!("key must be bytes, not {class}")),
            Err(error) => error,
        }
    })
}
