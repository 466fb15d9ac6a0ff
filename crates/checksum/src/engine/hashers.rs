//! The algorithms, computed one after another over the same bytes: those beside MD5 in a lane, and
//! all of them where there is no lane.

use lanesum_siphash::{SipHash13, SipHash24, SipHasher, SipHasher128};

use crate::{Algorithm, Algorithms, Digest, Error, Key};

/// One computation for each of several algorithms; none by default.
#[derive(Default)]
pub(super) struct Hashers(Vec<Hasher>);

/// The large states live on the heap, so that the small ones need no room for them.
enum Hasher {
    Md5(lanesum_md5::Md5),
    Sha1(sha1::Sha1),
    Sha256(sha2::Sha256),
    Sha512(sha2::Sha512),
    Blake3(Box<blake3::Hasher>),
    Xxh3(Box<xxhash_rust::xxh3::Xxh3>),
    Crc32c(u32),
    Siphash24(SipHasher<2, 4>),
    Siphash13(SipHasher<1, 3>),
    Siphash24Wide(SipHasher128<2, 4>),
    Siphash13Wide(SipHasher128<1, 3>),
}

impl Hashers {
    /// # Errors
    /// [`Error::NoKey`] where an algorithm cannot do with the key, or not without one.
    pub(super) fn new(algorithms: Algorithms, key: Option<&Key>) -> Result<Self, Error> {
        algorithms
            .iter()
            .map(|algorithm| Hasher::new(algorithm, key))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.0.iter_mut().for_each(|hasher| hasher.update(bytes));
    }

    /// Appends the digests in the order of [`Algorithm::ALL`].
    pub(super) fn finalize(self, digests: &mut Vec<Digest>) {
        digests.extend(self.0.into_iter().map(Hasher::finalize));
    }
}

impl Hasher {
    fn new(algorithm: Algorithm, key: Option<&Key>) -> Result<Self, Error> {
        let of_16 = || key.and_then(Key::of_16).ok_or(Error::NoKey(algorithm));
        Ok(match algorithm {
            Algorithm::Md5 => Self::Md5(lanesum_md5::Md5::new()),
            Algorithm::Sha1 => Self::Sha1(sha1::Sha1::default()),
            Algorithm::Sha256 => Self::Sha256(sha2::Sha256::default()),
            Algorithm::Sha512 => Self::Sha512(sha2::Sha512::default()),
            Algorithm::Blake3 => Self::Blake3(Box::new(match key {
                None => blake3::Hasher::new(),
                Some(key) => blake3::Hasher::new_keyed(key.of_32().ok_or(Error::NoKey(algorithm))?),
            })),
            Algorithm::Xxh3 => Self::Xxh3(Box::default()),
            Algorithm::Crc32c => Self::Crc32c(0),
            Algorithm::Siphash24 => Self::Siphash24(SipHash24::new(of_16()?).hasher()),
            Algorithm::Siphash13 => Self::Siphash13(SipHash13::new(of_16()?).hasher()),
            Algorithm::Siphash24Wide => Self::Siphash24Wide(SipHash24::new(of_16()?).hasher128()),
            Algorithm::Siphash13Wide => Self::Siphash13Wide(SipHash13::new(of_16()?).hasher128()),
        })
    }

    fn update(&mut self, bytes: &[u8]) {
        use sha2::Digest as _;
        match self {
            Self::Md5(state) => state.update(bytes),
            Self::Sha1(state) => state.update(bytes),
            Self::Sha256(state) => state.update(bytes),
            Self::Sha512(state) => state.update(bytes),
            Self::Blake3(state) => {
                state.update(bytes);
            }
            Self::Xxh3(state) => state.update(bytes),
            Self::Crc32c(state) => *state = crc32c::crc32c_append(*state, bytes),
            Self::Siphash24(state) => state.update(bytes),
            Self::Siphash13(state) => state.update(bytes),
            Self::Siphash24Wide(state) => state.update(bytes),
            Self::Siphash13Wide(state) => state.update(bytes),
        }
    }

    fn finalize(self) -> Digest {
        use sha2::Digest as _;
        match self {
            Self::Md5(state) => md5_digest(state.finalize()),
            Self::Sha1(state) => digest(Algorithm::Sha1, &state.finalize()),
            Self::Sha256(state) => digest(Algorithm::Sha256, &state.finalize()),
            Self::Sha512(state) => digest(Algorithm::Sha512, &state.finalize()),
            Self::Blake3(state) => digest(Algorithm::Blake3, state.finalize().as_bytes()),
            Self::Xxh3(state) => digest(Algorithm::Xxh3, &state.digest128().to_be_bytes()),
            Self::Crc32c(state) => digest(Algorithm::Crc32c, &state.to_be_bytes()),
            Self::Siphash24(state) => siphash(Algorithm::Siphash24, state.finalize()),
            Self::Siphash13(state) => siphash(Algorithm::Siphash13, state.finalize()),
            Self::Siphash24Wide(state) => siphash_wide(Algorithm::Siphash24Wide, state.finalize()),
            Self::Siphash13Wide(state) => siphash_wide(Algorithm::Siphash13Wide, state.finalize()),
        }
    }
}

/// An MD5 digest as a digest of any algorithm.
pub(super) fn md5_digest(md5: lanesum_md5::Digest) -> Digest {
    digest(Algorithm::Md5, md5.as_ref())
}

fn siphash(algorithm: Algorithm, hash: u64) -> Digest {
    digest(algorithm, &hash.to_le_bytes())
}

fn siphash_wide(algorithm: Algorithm, hash: u128) -> Digest {
    digest(algorithm, &hash.to_le_bytes())
}

fn digest(algorithm: Algorithm, bytes: &[u8]) -> Digest {
    Digest::new(algorithm, bytes).expect("the crates know how long their digests are")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Digests of "abc" as published: RFC 1321, FIPS 180-4's examples, BLAKE3's test vectors are
    /// for other inputs, so `b3sum`, `xxhsum -H2` and RFC 3720's polynomial by `cksum -a crc32c`.
    const ABC: [(Algorithm, &str); 7] = [
        (Algorithm::Md5, "900150983cd24fb0d6963f7d28e17f72"),
        (Algorithm::Sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (Algorithm::Sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            Algorithm::Sha512,
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
             2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        ),
        (Algorithm::Blake3, "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85"),
        (Algorithm::Xxh3, "06b05ab6733a618578af5f94892f3950"),
        (Algorithm::Crc32c, "364b3fb7"),
    ];

    #[test]
    fn digests_are_the_published_ones_however_the_bytes_come() {
        let mut hashers =
            Hashers::new(ABC.map(|(algorithm, _)| algorithm).into_iter().collect(), None).unwrap();
        hashers.update(b"");
        hashers.update(b"a");
        hashers.update(b"bc");
        let mut digests = Vec::new();
        hashers.finalize(&mut digests);
        let digests: Vec<_> = digests.iter().map(|d| (d.algorithm(), d.to_string())).collect();
        assert_eq!(digests, ABC.map(|(algorithm, digest)| (algorithm, digest.to_owned())));
    }

    fn keyed(algorithm: Algorithm, key: &[u8], content: &[u8]) -> Result<String, Error> {
        let mut hashers = Hashers::new(algorithm.into(), Key::from_file(key).as_ref())?;
        hashers.update(content);
        let mut digests = Vec::new();
        hashers.finalize(&mut digests);
        Ok(digests[0].to_string())
    }

    /// The inputs of no byte and of one in BLAKE3's own test_vectors.json, `keyed_hash`.
    #[test]
    fn keyed_blake3_is_as_published() {
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
    fn siphash_is_openssls() {
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
    fn a_key_that_does_not_fit_is_never_left_out() {
        for algorithm in Algorithm::ALL {
            let mut hashers = Hashers::new(algorithm.into(), None);
            assert_eq!(hashers.is_err(), algorithm.needs_key(), "{algorithm}");
            let key = Key::from_file(&[b'x'; 32]);
            hashers = Hashers::new(algorithm.into(), key.as_ref());
            assert_eq!(hashers.is_err(), algorithm.key_len() == Some(16), "{algorithm}");
        }
        let error = keyed(Algorithm::Blake3, &[1; 16], b"abc").unwrap_err();
        assert!(matches!(error, Error::NoKey(Algorithm::Blake3)), "{error}");
        // Those without a key do not mind one.
        assert_eq!(keyed(Algorithm::Md5, &[1; 16], b"abc").unwrap(), ABC[0].1);
    }
}
