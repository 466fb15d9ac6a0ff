//! Hashes of many inputs at once.

mod batch;
mod group;
mod kernel;
mod records;
mod short;

use lanesum_lanes::{Backend, CHUNK, Pieces};

pub use lanesum_lanes::Offset;

use crate::SipHash;
use batch::Batch;
use group::Grouping;
use records::{HashNumbers, HashRecords};
use short::HashShort;

/// The number of pieces that are hashed as inputs of any length after a piece is not short, before
/// short pieces are tried again. It is large enough to leave few lanes idle.
const OTHERS: usize = 16 * CHUNK;

/// A hash as a number: `u64`, or `u128` for hashes of 128 bits.
pub trait Output: Copy + Default + sealed::Output {}
impl Output for u64 {}
impl Output for u128 {}

mod sealed {
    use lanesum_lanes::{MAX_LANES_64, Word64};

    use crate::one::join;
    use crate::round::State;

    pub trait Output: Sized {
        /// Returns the state before the first word.
        fn begin(state: State<u64>) -> State<u64>;
        /// Computes the hashes of all lanes after their last words.
        fn finish<W: Word64, const D: usize>(state: State<W>, hashes: &mut [Self]);
    }

    impl Output for u64 {
        #[inline(always)]
        fn begin(state: State<u64>) -> State<u64> {
            state
        }

        #[inline(always)]
        fn finish<W: Word64, const D: usize>(state: State<W>, hashes: &mut [Self]) {
            state.finish::<D>().store(hashes);
        }
    }

    impl Output for u128 {
        #[inline(always)]
        fn begin(state: State<u64>) -> State<u64> {
            state.wide()
        }

        #[inline(always)]
        fn finish<W: Word64, const D: usize>(state: State<W>, hashes: &mut [Self]) {
            let halves = state.finish_wide::<D>().map(|half| {
                let mut lanes = [0; MAX_LANES_64];
                half.store(&mut lanes);
                lanes
            });
            for (lane, hash) in hashes[..W::LANES].iter_mut().enumerate() {
                *hash = join(halves.map(|half| half[lane]));
            }
        }
    }
}

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
        self.hash_all(inputs, hashes);
    }

    /// Hashes pieces of a buffer; see [`SipHash::hash_offsets`].
    pub fn hash_offsets<O: Offset, H: Output>(
        &self,
        buffer: &[u8],
        offsets: &[O],
        hashes: &mut [H],
    ) {
        same_number(offsets.len().saturating_sub(1), hashes.len());
        let mut done = self.hash_short(buffer, offsets, hashes);
        if hashes.is_empty() || done < hashes.len() {
            // `hash_short` checks only the offsets that it uses. This checks all of them.
            let pieces = Pieces::new(buffer, offsets);
            while done < hashes.len() {
                let other = OTHERS.min(hashes.len() - done);
                self.hash_all(pieces.range(done, other), &mut hashes[done..][..other]);
                done += other;
                done += self.hash_short(buffer, &offsets[done..], &mut hashes[done..]);
            }
        }
    }

    /// Hashes pieces up to the first one that is not short. Returns their number.
    fn hash_short<O: Offset, H: Output>(
        &self,
        buffer: &[u8],
        offsets: &[O],
        hashes: &mut [H],
    ) -> usize {
        let start = H::begin(self.sip.0);
        let width = self.backend.gathering_width_64();
        self.backend.run_64(width, HashShort::<O, H, C, D> { start, buffer, offsets, hashes })
    }

    /// Hashes records; see [`SipHash::hash_records`].
    pub fn hash_records<const N: usize, H: Output>(&self, records: &[[u8; N]], hashes: &mut [H]) {
        same_number(records.len(), hashes.len());
        let start = H::begin(self.sip.0);
        let (mut records, mut hashes) = (records, hashes);
        // The widest word as long as all its lanes are used, then narrower ones for the rest.
        for &width in self.backend.widths_64().iter().rev() {
            let count = records.len() - records.len() % width;
            let (now, later) = records.split_at(count);
            let (filled, empty) = hashes.split_at_mut(count);
            let kernel = HashRecords::<H, N, C, D> { start, records: now, hashes: filled };
            self.backend.run_64(width, kernel);
            (records, hashes) = (later, empty);
        }
    }

    /// Hashes numbers; see [`SipHash::hash_u64s`].
    pub fn hash_u64s<H: Output>(&self, numbers: &[u64], hashes: &mut [H]) {
        same_number(numbers.len(), hashes.len());
        let start = H::begin(self.sip.0);
        let (mut numbers, mut hashes) = (numbers, hashes);
        for &width in self.backend.widths_64().iter().rev() {
            let count = numbers.len() - numbers.len() % width;
            let (now, later) = numbers.split_at(count);
            let (filled, empty) = hashes.split_at_mut(count);
            let kernel = HashNumbers::<H, C, D> { start, numbers: now, hashes: filled };
            self.backend.run_64(width, kernel);
            (numbers, hashes) = (later, empty);
        }
    }

    fn hash_all<'a, H: Output>(&self, batch: impl Batch<'a>, hashes: &mut [H]) {
        let start = H::begin(self.sip.0);
        Grouping::<C, D> { start, backend: self.backend }.hash(&batch, hashes);
    }
}

#[track_caller]
fn same_number(inputs: usize, hashes: usize) {
    assert!(inputs == hashes, "{inputs} inputs, but room for {hashes} hashes");
}
