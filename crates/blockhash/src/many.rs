//! Many messages that are in memory or made one by one. Calls the scheduler of `memory.rs`, which
//! is compiled once for messages of all types.

use alloc::vec::Vec;
use core::mem;

use lanesum_lanes::{BLOCK_LEN, Backend};

use crate::hash::{BlockHash, Bytes as _};
use crate::lockstep::{Lockstep, ROW};
use crate::{Digest, Midstate};

/// The largest number of messages for which memory is reserved before they are there.
const MOST_EXPECTED: usize = 1 << 16;

/// Returns the digests of many messages, in their order. The `_many` functions of the crates of
/// hash functions call this one.
#[must_use]
pub fn many<H: BlockHash, I>(backend: Backend, messages: I) -> Vec<Digest<H>>
where
    I: IntoIterator<Item: AsRef<[u8]>>,
{
    let messages = messages.into_iter();
    // A hint may be wrong.
    let mut states: Vec<H::State> = Vec::with_capacity(messages.size_hint().0.min(MOST_EXPECTED));
    hash_all::<H, _>(backend, messages, &mut &mut states);
    // In place, if a digest is as long as a state.
    states.into_iter().map(|state| Digest::of_state(&state)).collect()
}

/// Stores the digests of many messages in a column. The `_many_into` functions of the crates of
/// hash functions call this one.
///
/// # Panics
/// Panics if the number of digests differs from the number of messages.
pub fn many_into<H: BlockHash, I, D>(backend: Backend, messages: I, out: &mut [D])
where
    I: IntoIterator<Item: AsRef<[u8]>>,
    D: Output<H>,
{
    let count = out.len();
    let taken = hash_all::<H, _>(backend, messages.into_iter(), &mut D::column(out));
    assert_eq!(taken, count, "messages and digests");
}

/// Stores the last states of messages in memory, which all continue the state `start`. The first
/// bytes of a state are the digest of all bytes, also of those before `start`. For HMAC, whose
/// messages all begin with the same block.
///
/// # Panics
/// Panics if the number of states differs from the number of messages.
pub fn many_behind<H: BlockHash>(
    backend: Backend,
    start: Midstate<H>,
    mut messages: &[&[u8]],
    mut states: &mut [H::State],
) {
    assert_eq!(messages.len(), states.len(), "messages and states");
    let mut lockstep = Lockstep::new(backend, start);
    while !messages.is_empty() {
        let count = messages.len().min(ROW);
        if !H::hash_if_alike(&mut lockstep, &messages[..count], &mut states[..count]) {
            return H::hash_in_memory(backend, start, messages, states);
        }
        messages = &messages[count..];
        states = &mut states[count..];
    }
}

/// An element of a column of digests: [`Digest`], or an array of its bytes if these are the whole
/// state.
pub trait Output<H: BlockHash>: sealed::Output<H> {}
impl<H: BlockHash> Output<H> for Digest<H> {}
impl<H: BlockHash<State = [u8; N]>, const N: usize> Output<H> for [u8; N] {}

mod sealed {
    use super::{BlockHash, Column, Copied, Digest};

    pub trait Output<H: BlockHash>: Sized {
        fn column(out: &mut [Self]) -> impl Column<H>;
    }

    impl<H: BlockHash<State = [u8; N]>, const N: usize> Output<H> for [u8; N] {
        #[inline]
        fn column(out: &mut [Self]) -> impl Column<H> {
            out
        }
    }

    impl<H: BlockHash> Output<H> for Digest<H> {
        #[inline]
        fn column(out: &mut [Self]) -> impl Column<H> {
            Copied { out, states: super::Vec::new() }
        }
    }
}

/// A destination of states.
pub trait Column<H: BlockHash> {
    /// Calls `hash` with the places of the `count` messages from number `first` on. Returns its
    /// result.
    fn fill<R>(&mut self, first: usize, count: usize, hash: impl FnOnce(&mut [H::State]) -> R)
    -> R;
}

impl<H: BlockHash> Column<H> for &mut [H::State] {
    #[inline]
    fn fill<R>(
        &mut self,
        first: usize,
        count: usize,
        hash: impl FnOnce(&mut [H::State]) -> R,
    ) -> R {
        hash(places(self, first, count))
    }
}

/// A column of digests, and a buffer of states that are copied there.
struct Copied<'a, H: BlockHash> {
    out: &'a mut [Digest<H>],
    states: Vec<H::State>,
}

impl<H: BlockHash> Column<H> for Copied<'_, H> {
    #[inline]
    fn fill<R>(
        &mut self,
        first: usize,
        count: usize,
        hash: impl FnOnce(&mut [H::State]) -> R,
    ) -> R {
        let places = places(self.out, first, count);
        self.states.resize(count, H::State::ZEROS);
        let done = hash(&mut self.states);
        for (place, state) in places.iter_mut().zip(&self.states) {
            *place = Digest::of_state(state);
        }
        done
    }
}

impl<H: BlockHash> Column<H> for &mut Vec<H::State> {
    #[inline]
    fn fill<R>(
        &mut self,
        first: usize,
        count: usize,
        hash: impl FnOnce(&mut [H::State]) -> R,
    ) -> R {
        self.resize(first + count, H::State::ZEROS);
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

/// Stores the last state of each message at its place. Returns the number of messages.
#[inline]
fn hash_all<H: BlockHash, M: AsRef<[u8]>>(
    backend: Backend,
    mut messages: impl Iterator<Item = M>,
    states: &mut impl Column<H>,
) -> usize {
    let mut lockstep = Lockstep::new(backend, Midstate::INITIAL);
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
        if !states.fill(done, count, |places| H::hash_if_alike(&mut lockstep, row, places)) {
            take(&mut taken, &mut messages, if is_owned::<M>() { OWNED } else { REFERENCES });
            let slices: Vec<&[u8]> = taken.iter().map(AsRef::as_ref).collect();
            states.fill(done, slices.len(), |places| {
                H::hash_in_memory(backend, Midstate::INITIAL, &slices, places);
            });
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Hasher;
    use crate::toy::Toy;

    #[test]
    fn messages_behind_a_midstate_hash_like_whole_messages() {
        let bytes: Vec<u8> = (0..3000_u32).map(|index| (index * 31 % 251) as u8).collect();
        let mut common = Hasher::<Toy>::new();
        common.update(&bytes[..256]);
        let start = common.midstate().unwrap();
        // Equal lengths with whole blocks and without, then mixed ones.
        let equal = [0, 128, 200].into_iter().flat_map(|length| [length; 300]);
        let mixed = (0..1000).map(|index| index * 7919 % 2200);
        for lengths in [equal.collect::<Vec<_>>(), mixed.collect()] {
            let places = lengths.iter().enumerate();
            let messages: Vec<&[u8]> =
                places.map(|(at, &length)| &bytes[at % 64..][..length]).collect();
            let mut states = alloc::vec![[0xee; 8]; messages.len()];
            many_behind::<Toy>(Backend::PORTABLE, start, &messages, &mut states);
            for (state, message) in states.iter().zip(&messages) {
                let mut whole = common.clone();
                whole.update(message);
                assert_eq!(state[..6], whole.finalize().0, "{} bytes", message.len());
            }
        }
    }

    /// Two messages, and a hint of more than fit into memory.
    struct Hint(usize);

    impl Iterator for Hint {
        type Item = [u8; 3];

        fn next(&mut self) -> Option<[u8; 3]> {
            self.0 = self.0.checked_sub(1)?;
            Some([7; 3])
        }

        fn size_hint(&self) -> (usize, Option<usize>) {
            (usize::MAX, None)
        }
    }

    #[test]
    fn a_wrong_hint_reserves_little_memory() {
        assert_eq!(many::<Toy, _>(Backend::PORTABLE, Hint(2)).len(), 2);
    }
}
