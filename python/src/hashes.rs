//! How an algorithm hashes many messages at once, and one message that arrives in pieces.

use lanesum_blockhash::{BlockHash, Bytes as _, Hasher, Midstate, digest_of, many_behind};

use crate::backend;
use crate::digests::Places;

/// The number of messages that are hashed at a time. There are enough of them to fill the lanes,
/// also with mixed lengths, and their slices stay in the L2 cache.
const GROUP: usize = 4096;

/// The offsets of an Arrow array.
pub(crate) enum Offsets<'a> {
    Small(&'a [i32]),
    Large(&'a [i64]),
}

/// An algorithm, with its key if it takes one.
pub(crate) trait Hashes: Send + Sync {
    /// Writes the digests of at most [`GROUP`] messages.
    fn group(&self, messages: &[&[u8]], places: Places<'_>);

    /// Writes the digests of the pieces of a buffer between adjacent offsets.
    fn offsets(&self, buffer: &[u8], offsets: Offsets<'_>, places: Places<'_>) {
        match offsets {
            Offsets::Small(offsets) => {
                let pieces = offsets.windows(2);
                let pieces = pieces.map(|ends| &buffer[ends[0] as usize..ends[1] as usize]);
                in_groups(self, pieces, places);
            }
            Offsets::Large(offsets) => {
                let pieces = offsets.windows(2);
                let pieces = pieces.map(|ends| &buffer[ends[0] as usize..ends[1] as usize]);
                in_groups(self, pieces, places);
            }
        }
    }

    /// Writes the digests of the eight little-endian bytes of each number.
    fn numbers(&self, numbers: &[u64], places: Places<'_>) {
        let numbers: Vec<[u8; 8]> = numbers.iter().map(|number| number.to_le_bytes()).collect();
        in_groups(self, numbers.iter().map(|bytes| &bytes[..]), places);
    }

    /// Returns the hash of a message that arrives in pieces.
    fn object(&self) -> Box<dyn Object>;
}

/// Hashes messages group by group.
///
/// # Panics
/// If the number of places differs.
pub(crate) fn in_groups<'a, H: Hashes + ?Sized>(
    hashes: &H,
    mut messages: impl ExactSizeIterator<Item = &'a [u8]>,
    mut places: Places<'_>,
) {
    assert_eq!(messages.len(), places.count(), "messages and digests");
    let mut group = Vec::with_capacity(GROUP.min(places.count()));
    while places.count() > 0 {
        group.clear();
        group.extend(messages.by_ref().take(GROUP));
        hashes.group(&group, places.take_first(GROUP));
    }
}

/// The hash of a message that arrives in pieces.
pub(crate) trait Object: Send {
    fn update(&mut self, bytes: &[u8]);

    /// Passes the digest of all bytes so far.
    fn digest(&self, with: &mut dyn FnMut(&[u8]));

    fn copy(&self) -> Box<dyn Object>;
}

/// The state of a hash of one message.
pub(crate) trait State: Clone + Send + 'static {
    fn update(&mut self, bytes: &[u8]);

    fn finalize(self, with: &mut dyn FnMut(&[u8]));
}

impl<S: State> Object for S {
    fn update(&mut self, bytes: &[u8]) {
        State::update(self, bytes);
    }

    fn digest(&self, with: &mut dyn FnMut(&[u8])) {
        self.clone().finalize(with);
    }

    fn copy(&self) -> Box<dyn Object> {
        Box::new(self.clone())
    }
}

/// A hash function in lanes, or its HMAC (RFC 2104).
pub(crate) struct Lanes<H: BlockHash> {
    /// The state that all messages continue.
    start: Midstate<H>,
    /// For HMAC: the state that the digests of all messages continue.
    outer: Option<Midstate<H>>,
}

impl<H: BlockHash> Lanes<H> {
    pub(crate) const fn new() -> Self {
        Self { start: Midstate::INITIAL, outer: None }
    }

    /// Returns the HMAC under a key. The block before all messages is hashed here, once.
    pub(crate) fn hmac(key: &[u8]) -> Self {
        let block_len = H::Tail::LEN / 2;
        let digest;
        let key = if key.len() > block_len {
            digest = digest_of::<H>(key);
            digest.as_ref()
        } else {
            key
        };
        let behind = |pad: u8| {
            let mut block = vec![pad; block_len];
            block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
            let mut hasher = Hasher::<H>::new();
            hasher.update(block);
            hasher.midstate().expect("a whole block")
        };
        Self { start: behind(0x36), outer: Some(behind(0x5c)) }
    }

    /// Returns the digest that a last state begins with.
    fn digest(state: &H::State) -> &[u8] {
        &state.as_ref()[..H::Digest::LEN]
    }
}

impl<H: BlockHash> Hashes for Lanes<H> {
    fn group(&self, messages: &[&[u8]], places: Places<'_>) {
        let backend = backend::current();
        let mut states = vec![H::State::ZEROS; messages.len()];
        many_behind(backend, self.start, messages, &mut states);
        if let Some(outer) = self.outer {
            let inner = states.clone();
            let digests: Vec<&[u8]> = inner.iter().map(Self::digest).collect();
            many_behind(backend, outer, &digests, &mut states);
        }
        for (place, state) in places.bytes(H::Digest::LEN).zip(&states) {
            place.copy_from_slice(Self::digest(state));
        }
    }

    fn object(&self) -> Box<dyn Object> {
        let message = Hasher::from(self.start);
        match self.outer {
            None => Box::new(message),
            Some(outer) => Box::new(Hmac { message, outer }),
        }
    }
}

impl<H: BlockHash> State for Hasher<H> {
    fn update(&mut self, bytes: &[u8]) {
        Hasher::update(self, bytes);
    }

    fn finalize(self, with: &mut dyn FnMut(&[u8])) {
        with(Hasher::finalize(self).as_ref());
    }
}

/// The HMAC of a message that arrives in pieces.
#[derive(Clone)]
struct Hmac<H: BlockHash> {
    message: Hasher<H>,
    outer: Midstate<H>,
}

impl<H: BlockHash> State for Hmac<H> {
    fn update(&mut self, bytes: &[u8]) {
        self.message.update(bytes);
    }

    fn finalize(self, with: &mut dyn FnMut(&[u8])) {
        let mut outer = Hasher::from(self.outer);
        outer.update(self.message.finalize());
        with(outer.finalize().as_ref());
    }
}
