//! Many messages that are in memory or made one by one. Calls the scheduler of `memory.rs`, which
//! is compiled once for messages of all types.

use alloc::vec::Vec;
use core::mem;

use lanesum_lanes::{BLOCK_LEN, Backend};

use crate::kernel::State;
use crate::lockstep::{Lockstep, ROW};
use crate::{Md5Digest, memory};

/// Returns the MD5 digests of many messages, in their order.
///
/// Takes a group of messages before it hashes the first one, because the longest go first. A group
/// is one of:
///
/// - up to 65,536 references;
/// - up to 4,096 messages that own their bytes. A group ends when these have 64 MiB together. They
///   are dropped once they are hashed.
///
/// So owned messages of 8 MiB are hashed in eight lanes only. For messages that stay in memory pass
/// references, as in `md5_many(&messages)`, which use all lanes at any length.
///
/// ```
/// let digests = lanesum_md5::md5_many(["a", "", "abc"]);
/// assert_eq!(digests[2].to_string(), "900150983cd24fb0d6963f7d28e17f72");
/// ```
#[must_use]
pub fn md5_many<I>(messages: I) -> Vec<Md5Digest>
where
    I: IntoIterator<Item: AsRef<[u8]>>,
{
    md5_many_with(Backend::best(), messages)
}

/// Computes [`md5_many`] with a given backend.
///
/// ```
/// use lanesum_md5::{Backend, md5_many, md5_many_with};
///
/// for backend in Backend::available() {
///     assert_eq!(md5_many_with(backend, ["a", "b"]), md5_many(["a", "b"]));
/// }
/// ```
#[must_use]
pub fn md5_many_with<I>(backend: Backend, messages: I) -> Vec<Md5Digest>
where
    I: IntoIterator<Item: AsRef<[u8]>>,
{
    let messages = messages.into_iter();
    let mut digests: Vec<State> = Vec::with_capacity(messages.size_hint().0);
    hash_all(backend, messages, &mut &mut digests);
    digests.into_iter().map(Md5Digest).collect()
}

/// Computes [`md5_many`] into a column of [`Md5Digest`]s or of 16-byte values.
/// [`as_chunks_mut`](slice::as_chunks_mut) turns a byte slice into such a column.
///
/// ```
/// use lanesum_md5::{Md5Digest, md5, md5_many_into};
///
/// let mut digests = [Md5Digest::default(); 2];
/// md5_many_into(["a", "b"], &mut digests);
/// assert_eq!(digests[1], md5("b"));
///
/// let mut column = [0; 2 * 16];
/// md5_many_into(["a", "b"], column.as_chunks_mut().0);
/// assert_eq!(column[16..], md5("b").0);
/// ```
///
/// # Panics
/// Panics if the number of digests differs from the number of messages.
pub fn md5_many_into<I, D>(messages: I, out: &mut [D])
where
    I: IntoIterator<Item: AsRef<[u8]>>,
    D: Output,
{
    md5_many_into_with(Backend::best(), messages, out);
}

/// Computes [`md5_many_into`] with a given backend.
///
/// ```
/// use lanesum_md5::{Backend, Md5Digest, md5, md5_many_into_with};
///
/// let mut digests = [Md5Digest::default(); 2];
/// md5_many_into_with(Backend::PORTABLE, ["a", "b"], &mut digests);
/// assert_eq!(digests[1], md5("b"));
/// ```
///
/// # Panics
/// Panics if the number of digests differs from the number of messages.
pub fn md5_many_into_with<I, D>(backend: Backend, messages: I, out: &mut [D])
where
    I: IntoIterator<Item: AsRef<[u8]>>,
    D: Output,
{
    let count = out.len();
    let taken = hash_all(backend, messages.into_iter(), &mut D::column(out));
    assert_eq!(taken, count, "messages and digests");
}

/// An element of a column of digests: [`Md5Digest`] or `[u8; 16]`.
pub trait Output: sealed::Output {}
impl Output for Md5Digest {}
impl Output for State {}

mod sealed {
    use super::{Column, Copied, Md5Digest, State};

    pub trait Output: Sized {
        fn column(out: &mut [Self]) -> impl Column;
    }

    impl Output for State {
        #[inline]
        fn column(out: &mut [Self]) -> impl Column {
            out
        }
    }

    impl Output for Md5Digest {
        #[inline]
        fn column(out: &mut [Self]) -> impl Column {
            Copied { out, states: super::Vec::new() }
        }
    }
}

/// A destination of digests.
pub trait Column {
    /// Calls `hash` with the places of the `count` messages from number `first` on. Returns its
    /// result.
    fn fill<R>(&mut self, first: usize, count: usize, hash: impl FnOnce(&mut [State]) -> R) -> R;
}

impl Column for &mut [State] {
    #[inline]
    fn fill<R>(&mut self, first: usize, count: usize, hash: impl FnOnce(&mut [State]) -> R) -> R {
        hash(places(self, first, count))
    }
}

/// A column of digests, and a buffer of states that are copied there.
struct Copied<'a> {
    out: &'a mut [Md5Digest],
    states: Vec<State>,
}

impl Column for Copied<'_> {
    #[inline]
    fn fill<R>(&mut self, first: usize, count: usize, hash: impl FnOnce(&mut [State]) -> R) -> R {
        let places = places(self.out, first, count);
        self.states.resize(count, [0; 16]);
        let done = hash(&mut self.states);
        for (place, state) in places.iter_mut().zip(&self.states) {
            place.0 = *state;
        }
        done
    }
}

impl Column for &mut Vec<State> {
    #[inline]
    fn fill<R>(&mut self, first: usize, count: usize, hash: impl FnOnce(&mut [State]) -> R) -> R {
        self.resize(first + count, [0; 16]);
        hash(&mut self[first..])
    }
}

/// Returns the places in a column of the messages from number `first` on.
#[inline]
fn places<D>(column: &mut [D], first: usize, count: usize) -> &mut [D] {
    let most = column.len();
    column.get_mut(first..first + count).unwrap_or_else(|| panic!("more messages than {most}"))
}

/// The largest group of references, the largest group of messages that own their bytes, and the
/// total bytes of the latter.
const REFERENCES: usize = 1 << 16;
const OWNED: usize = 1 << 12;
const OWNED_BYTES: usize = 64 << 20;

/// Stores the digest of each message at its place. Returns the number of messages.
#[inline]
fn hash_all<M: AsRef<[u8]>>(
    backend: Backend,
    mut messages: impl Iterator<Item = M>,
    digests: &mut impl Column,
) -> usize {
    let mut lockstep = Lockstep::new(backend);
    let mut taken: Vec<M> = Vec::new();
    let mut done = 0;
    loop {
        taken.clear();
        take(&mut taken, &mut messages, ROW);
        if taken.is_empty() {
            return done;
        }
        let mut row = [&[][..]; ROW];
        for (slice, message) in row.iter_mut().zip(&taken) {
            *slice = message.as_ref();
        }
        let count = taken.len();
        let row = &row[..count];
        if !digests.fill(done, count, |places| lockstep.hash_if_alike(row, places)) {
            take(&mut taken, &mut messages, if is_owned::<M>() { OWNED } else { REFERENCES });
            let slices: Vec<&[u8]> = taken.iter().map(AsRef::as_ref).collect();
            digests.fill(done, slices.len(), |places| memory::hash(backend, &slices, places));
        }
        done += taken.len();
    }
}

/// Takes messages until there are `most` of them, or until those that own their bytes have
/// [`OWNED_BYTES`].
#[inline]
fn take<M: AsRef<[u8]>>(taken: &mut Vec<M>, messages: &mut impl Iterator<Item = M>, most: usize) {
    if !is_owned::<M>() {
        return taken.extend(messages.take(most - taken.len()));
    }
    let mut bytes: usize = taken.iter().map(|message| message.as_ref().len()).sum();
    while taken.len() < most
        && bytes < OWNED_BYTES
        && let Some(message) = messages.next()
    {
        bytes = bytes.saturating_add(message.as_ref().len());
        taken.push(message);
    }
}

/// Returns whether messages own memory. A small type without drop glue only refers to bytes
/// elsewhere.
const fn is_owned<M>() -> bool {
    mem::needs_drop::<M>() || size_of::<M>() > BLOCK_LEN
}
