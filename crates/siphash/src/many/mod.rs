//! Hashes of many inputs at once.

mod batch;
mod group;
mod hashes;
mod kernel;
mod records;
mod short;

use lanesum_lanes::{Backend, CHUNK, Column, MAX_LANES_64};

pub use lanesum_lanes::Offset;

pub use hashes::Output;

use crate::SipHash;
use crate::one::join;
use crate::round::State;
use crate::words::words;
use batch::{Batch, Slices};
use group::Grouping;
use hashes::Hashes;
use records::{HashNumbers, HashRecords};
use short::{HashPieces, HashSlices};

/// The number of inputs that are hashed as inputs of any length after one is not short, before
/// short inputs are tried again. It is large enough to leave few lanes idle.
const OTHERS: usize = 16 * CHUNK;

/// Fewer inputs than this are faster when hashed one by one.
const FEW: usize = 4;

/// Fewer inputs than this are not worth sorting.
const MANY: usize = 16 * MAX_LANES_64;

/// [`SipHash`] of many inputs at once in the lanes of one backend. Made by
/// [`SipHash::with_backend`].
#[derive(Clone, Copy, Debug)]
pub struct WithBackend<const C: usize, const D: usize> {
    sip: SipHash<C, D>,
    backend: Backend,
}

impl<const C: usize, const D: usize> SipHash<C, D> {
    /// Returns the same function in lanes of a given backend, for tests and comparisons. The
    /// methods of [`SipHash`] use the best backend.
    #[must_use]
    pub fn with_backend(&self, backend: Backend) -> WithBackend<C, D> {
        WithBackend { sip: *self, backend }
    }

    /// Stores the hash of each input in `hashes`, in order. The hashes have 64 or 128 bits,
    /// depending on the type of `hashes`.
    ///
    /// ```
    /// use lanesum_siphash::SipHash24;
    ///
    /// let sip = SipHash24::new(b"sixteen bytes...");
    /// let inputs = ["", "a", "many more"];
    /// let mut hashes = [0_u64; 3];
    /// sip.hash_many(&inputs, &mut hashes);
    /// assert_eq!(hashes[2], sip.hash(b"many more"));
    /// ```
    ///
    /// # Panics
    /// Panics if the number of hashes differs from the number of inputs.
    pub fn hash_many<T: AsRef<[u8]>, H: Output>(&self, inputs: &[T], hashes: &mut [H]) {
        self.with_backend(Backend::best()).hash_many(inputs, hashes);
    }

    /// Stores the hash of each piece of a buffer in `hashes`. Piece `i` lies from `offsets[i]` to
    /// `offsets[i + 1]`, as in string columns of Apache Arrow. Bytes outside of the pieces are not
    /// read.
    ///
    /// ```
    /// use lanesum_siphash::SipHash24;
    ///
    /// let sip = SipHash24::new(b"sixteen bytes...");
    /// let mut hashes = [0_u64; 3];
    /// sip.hash_offsets(b"amany more", &[0_i32, 0, 1, 10], &mut hashes);
    /// assert_eq!(hashes, [sip.hash(b""), sip.hash(b"a"), sip.hash(b"many more")]);
    /// ```
    ///
    /// # Panics
    /// Panics if there is not one offset more than hashes, or if an offset is negative, less than
    /// the previous one, or beyond the buffer. Zero hashes may have zero offsets.
    pub fn hash_offsets<O: Offset, H: Output>(
        &self,
        buffer: &[u8],
        offsets: &[O],
        hashes: &mut [H],
    ) {
        self.with_backend(Backend::best()).hash_offsets(buffer, offsets, hashes);
    }

    /// Stores the hash of each record of `N` bytes in `hashes`. [`as_chunks`](slice::as_chunks)
    /// turns a buffer into records.
    ///
    /// ```
    /// use lanesum_siphash::SipHash24;
    ///
    /// let sip = SipHash24::new(b"sixteen bytes...");
    /// let (addresses, _) = b"\x7f\0\0\x01\xc0\xa8\0\x01".as_chunks::<4>();
    /// let mut hashes = [0_u64; 2];
    /// sip.hash_records(addresses, &mut hashes);
    /// assert_eq!(hashes[1], sip.hash(&[192, 168, 0, 1]));
    /// ```
    ///
    /// # Panics
    /// Panics if the number of hashes differs from the number of records.
    pub fn hash_records<const N: usize, H: Output>(&self, records: &[[u8; N]], hashes: &mut [H]) {
        self.with_backend(Backend::best()).hash_records(records, hashes);
    }

    /// Stores the hash of the eight little-endian bytes of each number in `hashes`.
    ///
    /// # Panics
    /// Panics if the number of hashes differs from the number of numbers.
    pub fn hash_u64s<H: Output>(&self, numbers: &[u64], hashes: &mut [H]) {
        self.with_backend(Backend::best()).hash_u64s(numbers, hashes);
    }
}

impl<const C: usize, const D: usize> WithBackend<C, D> {
    /// Returns the backend.
    #[must_use]
    pub const fn backend(&self) -> Backend {
        self.backend
    }

    /// Hashes slices; see [`SipHash::hash_many`].
    pub fn hash_many<T: AsRef<[u8]>, H: Output>(&self, inputs: &[T], hashes: &mut [H]) {
        same_number(inputs.len(), hashes.len());
        self.function::<H>().hash_slices(&inputs, H::hashes(hashes));
    }

    /// Hashes pieces of a buffer; see [`SipHash::hash_offsets`].
    pub fn hash_offsets<O: Offset, H: Output>(
        &self,
        buffer: &[u8],
        offsets: &[O],
        hashes: &mut [H],
    ) {
        same_number(offsets.len().saturating_sub(1), hashes.len());
        self.function::<H>().hash_column(Column::new(buffer, offsets), H::hashes(hashes));
    }

    /// Hashes records; see [`SipHash::hash_records`].
    pub fn hash_records<const N: usize, H: Output>(&self, records: &[[u8; N]], hashes: &mut [H]) {
        same_number(records.len(), hashes.len());
        self.function::<H>().hash_records(records.as_flattened(), N, H::hashes(hashes));
    }

    /// Hashes numbers; see [`SipHash::hash_u64s`].
    pub fn hash_u64s<H: Output>(&self, numbers: &[u64], hashes: &mut [H]) {
        same_number(numbers.len(), hashes.len());
        self.function::<H>().hash_numbers(numbers, H::hashes(hashes));
    }

    #[inline]
    fn function<H: Output>(&self) -> Function {
        let start = if H::IS_WIDE { self.sip.0.wide() } else { self.sip.0 };
        Function { start, rounds: Rounds { each: C, last: D }, backend: self.backend }
    }
}

/// The rounds for each word, and those in the end.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Rounds {
    each: usize,
    last: usize,
}

/// A [`WithBackend`] without types: the methods and the kernels below are compiled once, in this
/// crate.
#[derive(Clone, Copy)]
struct Function {
    /// The state before the first word.
    start: State<u64>,
    rounds: Rounds,
    backend: Backend,
}

impl Function {
    /// Stores the hash of one input at a place.
    fn hash_one(self, input: &[u8], place: usize, hashes: &mut Hashes<'_>) {
        let (words, last) = words(input);
        let state = self.start.absorb_all(self.rounds.each, words, last);
        match hashes {
            Hashes::U64(places) => places[place] = state.finish(self.rounds.last),
            Hashes::U128(places) => places[place] = join(state.finish_wide(self.rounds.last)),
        }
    }

    fn hash_slices(self, slices: &dyn Slices<'_>, mut hashes: Hashes<'_>) {
        if hashes.len() < FEW {
            for place in 0..hashes.len() {
                self.hash_one(slices.get(place), place, &mut hashes);
            }
            return;
        }
        let all = hashes.len();
        let sorts = self.backend.loads_by_mask() && all >= MANY;
        let mut done = 0;
        while done < all {
            let mut rest = hashes.range(done, all - done);
            let batch = Batch::Slices { slices, first: done };
            let grouping = Grouping { function: self, batch, sorts };
            done += grouping.hash_in_order(&mut rest);
            if done == all {
                return;
            }
            if sorts {
                done += self.hash_short_slices(slices, done, &mut hashes);
            }
            let others = if sorts { OTHERS.min(all - done) } else { all - done };
            let batch = Batch::Slices { slices, first: done };
            let grouping = Grouping { function: self, batch, sorts };
            grouping.hash_by_buckets(0, &mut hashes.range(done, others));
            done += others;
        }
    }

    /// Hashes slices from place `first` up to the first chunk with one that is not short. Returns
    /// their number.
    fn hash_short_slices(
        self,
        slices: &dyn Slices<'_>,
        first: usize,
        hashes: &mut Hashes<'_>,
    ) -> usize {
        let width = self.backend.gathering_width_64();
        let hashes = hashes.range(first, hashes.len() - first);
        self.backend.run_64(width, HashSlices { function: self, slices, first, hashes })
    }

    fn hash_column(self, column: Column<'_>, mut hashes: Hashes<'_>) {
        let mut done = self.hash_short_pieces(column, 0, &mut hashes);
        if hashes.len() == 0 || done < hashes.len() {
            // `hash_short_pieces` checks only the offsets that it uses. This checks all of them.
            let pieces = column.pieces();
            while done < hashes.len() {
                let others = OTHERS.min(hashes.len() - done);
                let batch = Batch::Pieces(pieces.range(done, others));
                let grouping = Grouping { function: self, batch, sorts: false };
                grouping.hash(&mut hashes.range(done, others));
                done += others;
                done += self.hash_short_pieces(column, done, &mut hashes);
            }
        }
    }

    /// Hashes pieces from piece `first` up to the first chunk with one that is not short. Returns
    /// their number.
    fn hash_short_pieces(self, column: Column<'_>, first: usize, hashes: &mut Hashes<'_>) -> usize {
        let count = hashes.len() - first;
        let width = self.backend.gathering_width_64();
        if count < width {
            return 0;
        }
        let (column, hashes) = (column.range(first, count), hashes.range(first, count));
        self.backend.run_64(width, HashPieces { function: self, column, hashes })
    }

    fn hash_records(self, bytes: &[u8], len: usize, mut hashes: Hashes<'_>) {
        let mut done = 0;
        // The widest word as long as all its lanes are used, then narrower ones for the rest, and
        // the last few one by one.
        for &width in self.backend.widths_64()[1..].iter().rev() {
            let (bytes, hashes) = (&bytes[done * len..], hashes.range(done, hashes.len() - done));
            if hashes.len() >= width {
                let kernel = HashRecords { function: self, bytes, len, hashes };
                done += self.backend.run_64(width, kernel);
            }
        }
        for place in done..hashes.len() {
            self.hash_one(&bytes[place * len..][..len], place, &mut hashes);
        }
    }

    fn hash_numbers(self, numbers: &[u64], mut hashes: Hashes<'_>) {
        let mut done = 0;
        for &width in self.backend.widths_64()[1..].iter().rev() {
            let (numbers, hashes) = (&numbers[done..], hashes.range(done, hashes.len() - done));
            if numbers.len() >= width {
                done += self.backend.run_64(width, HashNumbers { function: self, numbers, hashes });
            }
        }
        for place in done..hashes.len() {
            self.hash_one(&numbers[place].to_le_bytes(), place, &mut hashes);
        }
    }
}

#[track_caller]
fn same_number(inputs: usize, hashes: usize) {
    assert!(inputs == hashes, "{inputs} inputs, but room for {hashes} hashes");
}
