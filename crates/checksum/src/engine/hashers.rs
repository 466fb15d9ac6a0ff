//! Computes several algorithms over the same bytes: those without lanes for a file in lanes, and
//! all algorithms for other files.

use std::fmt;
use std::io::{self, ErrorKind};

use crc_fast::CrcAlgorithm;
use lanesum_blockhash::{BlockHash, Hasher as BlockHasher};
use lanesum_list::Digests;
use lanesum_siphash::{SipHash13, SipHash24, SipHasher, SipHasher128};
use sha3::{Sha3_256, Sha3_512};
use xxhash_rust::xxh3::Xxh3;
use xxhash_rust::xxh32::Xxh32;
use xxhash_rust::xxh64::Xxh64;

use super::blocks::{BlockByBlock, Blocks};
use super::lanes::with_hash;
use super::midstate::Midstate;
use super::subtrees::Subtrees;
use crate::{Algorithm, Algorithms, Digest, Error, Key};

/// A set of computations, one per algorithm. Empty by default.
#[derive(Default)]
pub(crate) struct Hashers(Vec<(Algorithm, Box<dyn Hasher>)>);

impl Hashers {
    /// # Errors
    /// Fails with [`Error::NoKey`] if an algorithm needs a key and `key` is missing or has the
    /// wrong length.
    pub(crate) fn new(algorithms: Algorithms, key: Option<&Key>) -> Result<Self, Error> {
        Self::behind(algorithms, key, &Midstate::default())
    }

    /// Makes computations that continue after the first bytes of a file.
    ///
    /// # Errors
    /// Fails as [`new`](Self::new) does, and if the state of an algorithm is missing.
    pub(super) fn behind(
        algorithms: Algorithms,
        key: Option<&Key>,
        midstate: &Midstate,
    ) -> Result<Self, Error> {
        let bytes = midstate.bytes();
        let begin = |algorithm| {
            // An algorithm without a stored state gets an empty one, which no hasher accepts.
            let state = (bytes > 0).then(|| midstate.of(algorithm).unwrap_or_default());
            let behind = state.map(|state| Behind { state, bytes });
            Ok((algorithm, hasher(algorithm, key, behind)?))
        };
        algorithms.iter().map(begin).collect::<Result<_, _>>().map(Self)
    }

    /// Returns the state of each computation after whole chunks, or `None` if one has no
    /// storable state.
    pub(super) fn save(&self) -> Option<Vec<(Algorithm, Vec<u8>)>> {
        self.0.iter().map(|(algorithm, hasher)| Some((*algorithm, hasher.save()?))).collect()
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.iter_mut().for_each(|(_, hasher)| hasher.update(bytes));
    }

    /// Appends the digests in the order of [`Algorithm::ALL`].
    pub(crate) fn finalize(self, digests: &mut Digests) {
        digests.extend(self.0.into_iter().map(|(algorithm, hasher)| hasher.finalize(algorithm)));
    }
}

impl fmt::Debug for Hashers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(algorithm, _)| algorithm)).finish()
    }
}

/// The state of one computation after the first bytes of a file.
#[derive(Clone, Copy)]
struct Behind<'m> {
    state: &'m [u8],
    bytes: u64,
}

/// How each algorithm is computed. Its other properties are in [the
/// table](lanesum_list::algorithm).
fn hasher(
    algorithm: Algorithm,
    key: Option<&Key>,
    behind: Option<Behind<'_>>,
) -> Result<Box<dyn Hasher>, Error> {
    let no_key = || Error::NoKey(algorithm);
    let of_16 = || key.and_then(Key::of_16).ok_or_else(no_key);
    let state = behind.map(|behind| behind.state);
    if let Some(hasher) = with_hash!(algorithm, block_hash(behind)) {
        return hasher.ok_or_else(|| no_state(algorithm));
    }
    let hasher = match algorithm {
        Algorithm::Blake3 if key.is_none() => begin(state, Subtrees::new, Subtrees::load)
            .map(|tree| kept(tree, Subtrees::update, Subtrees::finalize, Subtrees::save)),
        Algorithm::Crc32 => begin(state, Default::default, crc32_behind).map(|crc| {
            let save = |crc: &crc32fast::Hasher| Some(finalize_crc32(crc.clone()).into());
            kept(crc, crc32fast::Hasher::update, finalize_crc32, save)
        }),
        Algorithm::Crc32c => begin(state, || 0, |crc| crc.try_into().ok().map(u32::from_be_bytes))
            .map(|crc| {
                let update =
                    |crc: &mut u32, bytes: &[u8]| *crc = crc32c::crc32c_append(*crc, bytes);
                kept(crc, update, u32::to_be_bytes, |crc| Some(crc.to_be_bytes().into()))
            }),
        Algorithm::Crc64Nvme => begin(state, crc64, crc64_behind)
            .map(|crc| kept(crc, crc_fast::Digest::update, finalize_crc64, save_crc64)),
        // The other algorithms have no storable state.
        _ if behind.is_some() => None,
        Algorithm::Blake3 => {
            let key = key.and_then(Key::of_32).ok_or_else(no_key)?;
            let update = |state: &mut blake3::Hasher, bytes: &[u8]| _ = state.update(bytes);
            Some(by(blake3::Hasher::new_keyed(key), update, |state| *state.finalize().as_bytes()))
        }
        Algorithm::Blake2b => {
            let update = |state: &mut blake2b_simd::State, bytes: &[u8]| _ = state.update(bytes);
            Some(by(blake2b_simd::State::new(), update, |state| *state.finalize().as_array()))
        }
        Algorithm::Sha3_256 => Some(sha3::<Sha3_256>()),
        Algorithm::Sha3_512 => Some(sha3::<Sha3_512>()),
        Algorithm::Dropbox | Algorithm::Glacier => Blocks::of(algorithm).map(|blocks| {
            by(BlockByBlock::new(blocks), BlockByBlock::update, BlockByBlock::finalize)
        }),
        Algorithm::Xxh128 => {
            Some(by(Xxh3::new(), Xxh3::update, |state| state.digest128().to_be_bytes()))
        }
        Algorithm::Xxh3_64 => {
            Some(by(Xxh3::new(), Xxh3::update, |state| state.digest().to_be_bytes()))
        }
        Algorithm::Xxh64 => {
            Some(by(Xxh64::new(0), Xxh64::update, |state| state.digest().to_be_bytes()))
        }
        Algorithm::Xxh32 => {
            Some(by(Xxh32::new(0), Xxh32::update, |state| state.digest().to_be_bytes()))
        }
        Algorithm::Siphash24 => Some(siphash(SipHash24::new(of_16()?).hasher())),
        Algorithm::Siphash13 => Some(siphash(SipHash13::new(of_16()?).hasher())),
        Algorithm::Siphash24Wide => Some(siphash_wide(SipHash24::new(of_16()?).hasher128())),
        Algorithm::Siphash13Wide => Some(siphash_wide(SipHash13::new(of_16()?).hasher128())),
        // Tests compute all algorithms of the table.
        other => unreachable!("{other} has no line here"),
    };
    hasher.ok_or_else(|| no_state(algorithm))
}

/// Returns the error for a stored state that is missing or cannot be used.
fn no_state(algorithm: Algorithm) -> Error {
    let why = format!("the stored state of {algorithm} is missing or damaged");
    io::Error::new(ErrorKind::InvalidInput, why).into()
}

/// Returns an initial state, or a stored one. Returns `None` for invalid stored bytes.
fn begin<B, S>(
    behind: Option<B>,
    new: impl FnOnce() -> S,
    load: impl FnOnce(B) -> Option<S>,
) -> Option<S> {
    match behind {
        None => Some(new()),
        Some(behind) => load(behind),
    }
}

/// Returns the computation of a hash function that has lanes, for files that are in none.
fn block_hash<H: BlockHash>(behind: Option<Behind<'_>>) -> Option<Box<dyn Hasher>> {
    let load = |Behind { state, bytes }: Behind<'_>| {
        lanesum_blockhash::Midstate::<H>::from_slice(state, bytes).map(BlockHasher::from)
    };
    let state = begin(behind, BlockHasher::new, load)?;
    let save = |state: &BlockHasher<H>| Some(state.midstate()?.to_bytes().as_ref().to_vec());
    Some(kept(state, |state, bytes| state.update(bytes), BlockHasher::finalize, save))
}

fn finalize_crc32(crc: crc32fast::Hasher) -> [u8; 4] {
    crc.finalize().to_be_bytes()
}

fn crc32_behind(state: &[u8]) -> Option<crc32fast::Hasher> {
    let crc = u32::from_be_bytes(state.try_into().ok()?);
    Some(crc32fast::Hasher::new_with_initial(crc))
}

fn crc64() -> crc_fast::Digest {
    crc_fast::Digest::new(CrcAlgorithm::Crc64Nvme)
}

fn finalize_crc64(crc: crc_fast::Digest) -> [u8; 8] {
    crc.finalize().to_be_bytes()
}

/// The state is kept as the CRC so far.
fn crc64_behind(state: &[u8]) -> Option<crc_fast::Digest> {
    let crc = u64::from_be_bytes(state.try_into().ok()?);
    // The register has the bits of the CRC inverted.
    Some(crc_fast::Digest::new_with_init_state(CrcAlgorithm::Crc64Nvme, !crc))
}

fn save_crc64(crc: &crc_fast::Digest) -> Option<Vec<u8>> {
    Some(crc.finalize().to_be_bytes().into())
}

fn sha3<H: sha3::Digest + Send + 'static>() -> Box<dyn Hasher> {
    by(H::new(), |state: &mut H, bytes: &[u8]| state.update(bytes), H::finalize)
}

fn siphash<const C: usize, const D: usize>(state: SipHasher<C, D>) -> Box<dyn Hasher> {
    by(state, SipHasher::update, |state| state.finalize().to_le_bytes())
}

fn siphash_wide<const C: usize, const D: usize>(state: SipHasher128<C, D>) -> Box<dyn Hasher> {
    by(state, SipHasher128::update, |state| state.finalize().to_le_bytes())
}

/// The computation of an algorithm.
trait Hasher: Send {
    fn update(&mut self, bytes: &[u8]);

    /// Returns the digest of the algorithm.
    fn finalize(self: Box<Self>, algorithm: Algorithm) -> Digest;

    /// Returns the state after a whole chunk, if it can be stored.
    fn save(&self) -> Option<Vec<u8>>;
}

/// A computation of another crate, with its functions.
struct By<S, U, F, K> {
    state: S,
    update: U,
    finalize: F,
    save: K,
}

fn kept<S, U, F, K, D>(state: S, update: U, finalize: F, save: K) -> Box<dyn Hasher>
where
    S: Send + 'static,
    U: FnMut(&mut S, &[u8]) + Send + 'static,
    F: FnOnce(S) -> D + Send + 'static,
    K: Fn(&S) -> Option<Vec<u8>> + Send + 'static,
    D: AsRef<[u8]> + 'static,
{
    Box::new(By { state, update, finalize, save })
}

fn by<S, U, F, D>(state: S, update: U, finalize: F) -> Box<dyn Hasher>
where
    S: Send + 'static,
    U: FnMut(&mut S, &[u8]) + Send + 'static,
    F: FnOnce(S) -> D + Send + 'static,
    D: AsRef<[u8]> + 'static,
{
    kept(state, update, finalize, |_| None)
}

impl<S, U, F, K, D> Hasher for By<S, U, F, K>
where
    S: Send,
    U: FnMut(&mut S, &[u8]) + Send,
    F: FnOnce(S) -> D + Send,
    K: Fn(&S) -> Option<Vec<u8>> + Send,
    D: AsRef<[u8]>,
{
    fn update(&mut self, bytes: &[u8]) {
        (self.update)(&mut self.state, bytes);
    }

    fn finalize(self: Box<Self>, algorithm: Algorithm) -> Digest {
        digest(algorithm, (self.finalize)(self.state).as_ref())
    }

    fn save(&self) -> Option<Vec<u8>> {
        (self.save)(&self.state)
    }
}

/// Makes a digest of the bytes that an algorithm has returned.
pub(super) fn digest(algorithm: Algorithm, bytes: &[u8]) -> Digest {
    Digest::new(algorithm, bytes).expect("the table knows how long each digest is")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published digests of "abc": RFC 1321 and the examples of FIPS 180-4. The test vectors of
    /// BLAKE3 have other inputs, so the rest is from `b3sum`, `xxhsum -H2`, `-H3`, `-H1` and `-H0`,
    /// `cksum -a crc32c` (the polynomial of RFC 3720), `rhash --crc32`, and Python's hashlib.
    const ABC: [(Algorithm, &str); 19] = [
        (Algorithm::Md5, "900150983cd24fb0d6963f7d28e17f72"),
        (Algorithm::Sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (Algorithm::Sha224, "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
        (Algorithm::Sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            Algorithm::Sha384,
            "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed\
             8086072ba1e7cc2358baeca134c825a7",
        ),
        (
            Algorithm::Sha512,
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
             2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        ),
        (Algorithm::Blake3, "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85"),
        (
            Algorithm::Blake2b,
            "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1\
             7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923",
        ),
        (Algorithm::Sha512_256, "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
        (Algorithm::Sha3_256, "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"),
        (
            Algorithm::Sha3_512,
            "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e\
             10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0",
        ),
        (Algorithm::Dropbox, "4f8b42c22dd3729b519ba6f68d2da7cc5b2d606d05daed5ad5128cc03e6c6358"),
        (Algorithm::Glacier, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (Algorithm::Xxh128, "06b05ab6733a618578af5f94892f3950"),
        (Algorithm::Xxh3_64, "78af5f94892f3950"),
        (Algorithm::Xxh64, "44bc2cf5ad770999"),
        (Algorithm::Xxh32, "32d153ff"),
        (Algorithm::Crc32c, "364b3fb7"),
        (Algorithm::Crc32, "352441c2"),
    ];

    #[test]
    fn digests_match_test_vectors_for_all_piece_sizes() {
        let mut hashers =
            Hashers::new(ABC.map(|(algorithm, _)| algorithm).into_iter().collect(), None).unwrap();
        hashers.update(b"");
        hashers.update(b"a");
        hashers.update(b"bc");
        let mut digests = Digests::default();
        hashers.finalize(&mut digests);
        let digests: Vec<_> = digests.iter().map(|d| (d.algorithm(), d.to_string())).collect();
        assert_eq!(digests, ABC.map(|(algorithm, digest)| (algorithm, digest.to_owned())));
    }

    fn keyed(algorithm: Algorithm, key: &[u8], content: &[u8]) -> Result<String, Error> {
        let mut hashers = Hashers::new(algorithm.into(), Key::from_bytes(key).as_ref())?;
        hashers.update(content);
        let mut digests = Digests::default();
        hashers.finalize(&mut digests);
        Ok(digests[0].to_string())
    }

    /// The inputs of zero and one byte in `keyed_hash` of test_vectors.json of BLAKE3.
    #[test]
    fn keyed_blake3_matches_its_test_vectors() {
        let key = b"whats the Elvish word for friend";
        for (content, digest) in [
            (&b""[..], "92b2b75604ed3c761f9d6f62392c8a9227ad0ea3f09573e783f1498a4ed60d26"),
            (&b"\0"[..], "6d7878dfff2f485635d39013278ae14f1454b8c0a3a2d34bc1ab38228a80c95b"),
        ] {
            assert_eq!(keyed(Algorithm::Blake3, key, content).unwrap(), digest);
        }
    }

    /// `openssl mac -macopt hexkey:000102030405060708090a0b0c0d0e0f -macopt size:8 SIPHASH`, and
    /// with `size:16`, of "abc"; with `-macopt c-rounds:1 -macopt d-rounds:3` for the others.
    #[test]
    fn siphash_agrees_with_openssl() {
        let key: [u8; 16] = std::array::from_fn(|i| i as u8);
        for (algorithm, digest) in [
            (Algorithm::Siphash24, "a50720aa53fabc5d"),
            (Algorithm::Siphash24Wide, "bb96c3a813c9903e3325ef616045abb8"),
            (Algorithm::Siphash13, "eb4681afe824ce6f"),
            (Algorithm::Siphash13Wide, "43753f1546fa1ee8b2d4d501495fd601"),
        ] {
            assert_eq!(keyed(algorithm, &key, b"abc").unwrap(), digest);
        }
    }

    #[test]
    fn a_key_of_the_wrong_length_is_an_error() {
        for algorithm in Algorithm::ALL {
            let mut hashers = Hashers::new(algorithm.into(), None);
            assert_eq!(hashers.is_err(), algorithm.needs_key(), "{algorithm}");
            let key = Key::from_bytes(&[b'x'; 32]);
            hashers = Hashers::new(algorithm.into(), key.as_ref());
            assert_eq!(hashers.is_err(), algorithm.key_len() == Some(16), "{algorithm}");
        }
        let error = keyed(Algorithm::Blake3, &[1; 16], b"abc").unwrap_err();
        assert!(matches!(error, Error::NoKey(Algorithm::Blake3)), "{error}");
        // Algorithms without a key ignore it.
        assert_eq!(keyed(Algorithm::Md5, &[1; 16], b"abc").unwrap(), ABC[0].1);
    }
}
