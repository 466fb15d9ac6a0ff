//! The algorithms of other crates, which hash one message after the other, and SipHash.

use lanesum_siphash::{KEY_LEN, SipHash, SipHasher, SipHasher128};
use xxhash_rust::xxh3;

use crate::backend;
use crate::digests::Places;
use crate::hashes::{Hashes, Object, Offsets, State};

/// An algorithm that hashes one message after the other. A value is the state before the first
/// byte.
pub(crate) trait Single: State + Sync {
    const DIGEST_LEN: usize;
    const BLOCK_LEN: usize;

    /// Makes the state under a key of a valid length.
    fn new(key: Option<&[u8]>) -> Self;

    /// Writes the digest of a whole message.
    fn write(&self, message: &[u8], place: &mut [u8]);
}

impl<S: Single> Hashes for S {
    fn group(&self, messages: &[&[u8]], places: Places<'_>) {
        for (message, place) in messages.iter().zip(places.bytes(S::DIGEST_LEN)) {
            self.write(message, place);
        }
    }

    fn object(&self) -> Box<dyn Object> {
        Box::new(self.clone())
    }
}

/// BLAKE3, also under a key.
#[derive(Clone)]
pub(crate) struct Blake3 {
    key: Option<[u8; blake3::KEY_LEN]>,
    state: blake3::Hasher,
}

impl Single for Blake3 {
    const DIGEST_LEN: usize = blake3::OUT_LEN;
    const BLOCK_LEN: usize = blake3::BLOCK_LEN;

    fn new(key: Option<&[u8]>) -> Self {
        let key = key.map(|key| key.try_into().expect("the length in the table"));
        Self {
            key,
            state: key.as_ref().map_or_else(blake3::Hasher::new, blake3::Hasher::new_keyed),
        }
    }

    fn write(&self, message: &[u8], place: &mut [u8]) {
        let hash = match &self.key {
            None => blake3::hash(message),
            Some(key) => blake3::keyed_hash(key, message),
        };
        place.copy_from_slice(hash.as_bytes());
    }
}

impl State for Blake3 {
    fn update(&mut self, bytes: &[u8]) {
        self.state.update(bytes);
    }

    fn finalize(self, with: &mut dyn FnMut(&[u8])) {
        with(self.state.finalize().as_bytes());
    }
}

/// XXH3 of 128 bits.
#[derive(Clone)]
pub(crate) struct Xxh128(xxh3::Xxh3);

impl Single for Xxh128 {
    const DIGEST_LEN: usize = 16;
    const BLOCK_LEN: usize = 64;

    fn new(_: Option<&[u8]>) -> Self {
        Self(xxh3::Xxh3::new())
    }

    fn write(&self, message: &[u8], place: &mut [u8]) {
        place.copy_from_slice(&xxh3::xxh3_128(message).to_be_bytes());
    }
}

impl State for Xxh128 {
    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finalize(self, with: &mut dyn FnMut(&[u8])) {
        with(&self.0.digest128().to_be_bytes());
    }
}

/// XXH3 of 64 bits.
#[derive(Clone)]
pub(crate) struct Xxh3(xxh3::Xxh3);

impl Single for Xxh3 {
    const DIGEST_LEN: usize = 8;
    const BLOCK_LEN: usize = 64;

    fn new(_: Option<&[u8]>) -> Self {
        Self(xxh3::Xxh3::new())
    }

    fn write(&self, message: &[u8], place: &mut [u8]) {
        place.copy_from_slice(&xxh3::xxh3_64(message).to_be_bytes());
    }
}

impl State for Xxh3 {
    fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finalize(self, with: &mut dyn FnMut(&[u8])) {
        with(&self.0.digest().to_be_bytes());
    }
}

/// CRC-32C, whose state is the CRC so far.
#[derive(Clone)]
pub(crate) struct Crc32c(u32);

impl Single for Crc32c {
    const DIGEST_LEN: usize = 4;
    const BLOCK_LEN: usize = 1;

    fn new(_: Option<&[u8]>) -> Self {
        Self(0)
    }

    fn write(&self, message: &[u8], place: &mut [u8]) {
        place.copy_from_slice(&crc32c::crc32c(message).to_be_bytes());
    }
}

impl State for Crc32c {
    fn update(&mut self, bytes: &[u8]) {
        self.0 = crc32c::crc32c_append(self.0, bytes);
    }

    fn finalize(self, with: &mut dyn FnMut(&[u8])) {
        with(&self.0.to_be_bytes());
    }
}

/// SipHash of 64 bits.
pub(crate) struct Sip<const C: usize, const D: usize>(SipHash<C, D>);

/// SipHash of 128 bits.
pub(crate) struct WideSip<const C: usize, const D: usize>(SipHash<C, D>);

/// Makes SipHash under a key of a valid length.
fn siphash<const C: usize, const D: usize>(key: Option<&[u8]>) -> SipHash<C, D> {
    let key: [u8; KEY_LEN] = key.unwrap_or_default().try_into().expect("the length in the table");
    SipHash::new(&key)
}

impl<const C: usize, const D: usize> Sip<C, D> {
    pub(crate) fn new(key: Option<&[u8]>) -> Self {
        Self(siphash(key))
    }
}

impl<const C: usize, const D: usize> WideSip<C, D> {
    pub(crate) fn new(key: Option<&[u8]>) -> Self {
        Self(siphash(key))
    }
}

impl<const C: usize, const D: usize> Hashes for Sip<C, D> {
    fn group(&self, messages: &[&[u8]], places: Places<'_>) {
        self.0.with_backend(backend::current()).hash_many(messages, places.numbers());
    }

    fn offsets(&self, buffer: &[u8], offsets: Offsets<'_>, places: Places<'_>) {
        let lanes = self.0.with_backend(backend::current());
        match offsets {
            Offsets::Small(offsets) => lanes.hash_offsets(buffer, offsets, places.numbers()),
            Offsets::Large(offsets) => lanes.hash_offsets(buffer, offsets, places.numbers()),
        }
    }

    fn numbers(&self, numbers: &[u64], places: Places<'_>) {
        self.0.with_backend(backend::current()).hash_u64s(numbers, places.numbers());
    }

    fn object(&self) -> Box<dyn Object> {
        Box::new(self.0.hasher())
    }
}

impl<const C: usize, const D: usize> Hashes for WideSip<C, D> {
    fn group(&self, messages: &[&[u8]], places: Places<'_>) {
        let mut hashes = vec![0_u128; messages.len()];
        self.0.with_backend(backend::current()).hash_many(messages, &mut hashes);
        for (hash, place) in hashes.iter().zip(places.bytes(size_of::<u128>())) {
            place.copy_from_slice(&hash.to_le_bytes());
        }
    }

    fn object(&self) -> Box<dyn Object> {
        Box::new(self.0.hasher128())
    }
}

impl<const C: usize, const D: usize> State for SipHasher<C, D> {
    fn update(&mut self, bytes: &[u8]) {
        SipHasher::update(self, bytes);
    }

    fn finalize(self, with: &mut dyn FnMut(&[u8])) {
        with(&SipHasher::finalize(self).to_le_bytes());
    }
}

impl<const C: usize, const D: usize> State for SipHasher128<C, D> {
    fn update(&mut self, bytes: &[u8]) {
        SipHasher128::update(self, bytes);
    }

    fn finalize(self, with: &mut dyn FnMut(&[u8])) {
        with(&SipHasher128::finalize(self).to_le_bytes());
    }
}
