//! Many messages that are in memory whole, or made one by one: what calls the scheduler of
//! `memory.rs`, which is compiled once, for messages of any type.

use alloc::vec::Vec;
use core::mem;

use lanesum_lanes::{BLOCK_LEN, Backend};

use crate::kernel::State;
use crate::lockstep::{Lockstep, ROW};
use crate::{Digest, memory};

/// The MD5 of each of many messages, in their order.
///
/// Messages are taken before the first of them is hashed, since the longest go first: up to 65,536
/// references at a time. Of messages that own their bytes up to 4,096 are taken, of 64 MiB at most,
/// the last one not counted, and dropped once they are hashed. So owned messages of 8 MiB are
/// hashed in eight lanes: give references, as in `md5_many(&messages)`, to those that are in memory
/// anyway. They take all lanes whatever their length.
///
/// ```
/// let digests = lanesum_md5::md5_many(["a", "", "abc"]);
/// assert_eq!(digests[2].to_string(), "900150983cd24fb0d6963f7d28e17f72");
/// ```
#[must_use]
pub fn md5_many<I>(messages: I) -> Vec<Digest>
where
    I: IntoIterator<Item: AsRef<[u8]>>,
{
    md5_many_with(Backend::best(), messages)
}

/// [`md5_many`] with a given backend.
///
/// ```
/// use lanesum_md5::{Backend, md5_many, md5_many_with};
///
/// for backend in Backend::available() {
///     assert_eq!(md5_many_with(backend, ["a", "b"]), md5_many(["a", "b"]));
/// }
/// ```
#[must_use]
pub fn md5_many_with<I>(backend: Backend, messages: I) -> Vec<Digest>
where
    I: IntoIterator<Item: AsRef<[u8]>>,
{
    let messages = messages.into_iter();
    let mut digests: Vec<State> = Vec::with_capacity(messages.size_hint().0);
    hash_all(backend, messages, &mut digests);
    digests.into_iter().map(Digest).collect()
}

/// [`md5_many_with`] into a column of 16-byte values. From bytes it comes by
/// [`as_chunks_mut`](slice::as_chunks_mut).
///
/// ```
/// use lanesum_md5::{Backend, md5, md5_many_into};
///
/// let mut column = [0; 2 * 16];
/// let (digests, _) = column.as_chunks_mut();
/// md5_many_into(Backend::best(), ["a", "b"], digests);
/// assert_eq!(column[16..], md5(b"b").0);
/// ```
///
/// # Panics
/// When there are not as many digests as messages.
pub fn md5_many_into<I>(backend: Backend, messages: I, digests: &mut [[u8; 16]])
where
    I: IntoIterator<Item: AsRef<[u8]>>,
{
    let count = digests.len();
    let taken = hash_all(backend, messages.into_iter(), &mut *digests);
    assert_eq!(taken, count, "messages and digests");
}

/// Where digests go.
trait Column {
    /// The places of the messages from number `first` on, `count` of them.
    fn places(&mut self, first: usize, count: usize) -> &mut [State];
}

impl Column for [State] {
    #[inline]
    fn places(&mut self, first: usize, count: usize) -> &mut [State] {
        let most = self.len();
        self.get_mut(first..first + count).unwrap_or_else(|| panic!("more messages than {most}"))
    }
}

impl Column for Vec<State> {
    #[inline]
    fn places(&mut self, first: usize, count: usize) -> &mut [State] {
        self.resize(first + count, [0; 16]);
        &mut self[first..]
    }
}

/// How many are taken at a time otherwise: of references, and of messages that own their bytes, of
/// which there may be so many.
const REFERENCES: usize = 1 << 16;
const OWNED: usize = 1 << 12;
const OWNED_BYTES: usize = 64 << 20;

/// Puts the digest of each message into its place. Gives how many messages there were.
#[inline]
fn hash_all<M: AsRef<[u8]>>(
    backend: Backend,
    mut messages: impl Iterator<Item = M>,
    digests: &mut (impl Column + ?Sized),
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
        if !lockstep.hash_if_alike(&row[..count], digests.places(done, count)) {
            take(&mut taken, &mut messages, if is_owned::<M>() { OWNED } else { REFERENCES });
            let slices: Vec<&[u8]> = taken.iter().map(AsRef::as_ref).collect();
            memory::hash(backend, &slices, digests.places(done, slices.len()));
        }
        done += taken.len();
    }
}

/// Takes messages until there are so many, or those that own their bytes are of [`OWNED_BYTES`].
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

/// Whether it takes memory to keep messages: what has nothing to drop and is small refers to bytes
/// of something else.
const fn is_owned<M>() -> bool {
    mem::needs_drop::<M>() || size_of::<M>() > BLOCK_LEN
}
