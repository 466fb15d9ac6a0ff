//! Many inputs at once.

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

/// How many pieces are hashed as any inputs where one is not short, before the next are tried
/// again: so many that few lanes are left idle.
const OTHERS: usize = 16 * CHUNK;

/// A hash as a number: `u64` or, of the wider function, `u128`.
pub trait Output: Copy + Default + sealed::Output {}
impl Output for u64 {}
impl Output for u128 {}

mod sealed {
    use lanesum_lanes::{MAX_LANES_64, Word64};

    use crate::one::join;
    use crate::round::State;

    pub trait Output: Sized {
        /// The state before the first word.
        fn begin(state: State<u64>) -> State<u64>;
        /// The hashes of all lanes, after their last words.
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

/// [`SipHash`] of many inputs at once, in lanes of one backend: [`SipHash::with_backend`].
#[derive(Clone, Copy, Debug)]
pub struct WithBackend<const C: usize, const D: usize> {
    sip: SipHash<C, D>,
    backend: Backend,
}

impl<const C: usize, const D: usize> SipHash<C, D> {
    /// The same in lanes of this backend, for tests and comparisons; the methods of [`SipHash`]
    /// take the best.
    #[must_use]
    pub fn with_backend(&self, backend: Backend) -> WithBackend<C, D> {
        WithBackend { sip: *self, backend }
    }

    /// The hash of each input, in their order, into `hashes`: of 64 or of 128 bits, as its numbers
    /// are.
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
    /// Panics if there are not as many hashes as inputs.
    pub fn hash_many<T: AsRef<[u8]>, H: Output>(&self, inputs: &[T], hashes: &mut [H]) {
        self.with_backend(Backend::best()).hash_many(inputs, hashes);
    }

    /// The hash of each piece of a buffer: piece `i` lies from `offsets[i]` to `offsets[i + 1]`, as
    /// in Apache Arrow's columns of strings. Nothing beyond the pieces is read.
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
    /// Panics if there is not one offset more than hashes (no offset at all will do for none), or
    /// an offset is negative, less than the one before or beyond the buffer.
    pub fn hash_offsets<O: Offset, H: Output>(
        &self,
        buffer: &[u8],
        offsets: &[O],
        hashes: &mut [H],
    ) {
        self.with_backend(Backend::best()).hash_offsets(buffer, offsets, hashes);
    }

    /// The hash of each record of `N` bytes. A buffer becomes records by
    /// [`as_chunks`](slice::as_chunks).
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
    /// Panics if there are not as many hashes as records.
    pub fn hash_records<const N: usize, H: Output>(&self, records: &[[u8; N]], hashes: &mut [H]) {
        self.with_backend(Backend::best()).hash_records(records, hashes);
    }

    /// The hash of each number's eight bytes, little-endian.
    ///
    /// # Panics
    /// Panics if there are not as many hashes as numbers.
    pub fn hash_u64s<H: Output>(&self, numbers: &[u64], hashes: &mut [H]) {
        self.with_backend(Backend::best()).hash_u64s(numbers, hashes);
    }
}

impl<const C: usize, const D: usize> WithBackend<C, D> {
    /// Whose lanes they are.
    #[must_use]
    pub const fn backend(&self) -> Backend {
        self.backend
    }

    /// See [`SipHash::hash_many`].
    pub fn hash_many<T: AsRef<[u8]>, H: Output>(&self, inputs: &[T], hashes: &mut [H]) {
        same_number(inputs.len(), hashes.len());
        self.hash_all(inputs, hashes);
    }

    /// See [`SipHash::hash_offsets`].
    pub fn hash_offsets<O: Offset, H: Output>(
        &self,
        buffer: &[u8],
        offsets: &[O],
        hashes: &mut [H],
    ) {
        same_number(offsets.len().saturating_sub(1), hashes.len());
        let mut done = self.hash_short(buffer, offsets, hashes);
        if hashes.is_empty() || done < hashes.len() {
            // `hash_short` has looked at those that it hashed; here all are looked at.
            let pieces = Pieces::new(buffer, offsets);
            while done < hashes.len() {
                let other = OTHERS.min(hashes.len() - done);
                self.hash_all(pieces.range(done, other), &mut hashes[done..][..other]);
                done += other;
                done += self.hash_short(buffer, &offsets[done..], &mut hashes[done..]);
            }
        }
    }

    /// Short pieces, as long as there are such. Gives how many.
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

    /// See [`SipHash::hash_records`].
    pub fn hash_records<const N: usize, H: Output>(&self, records: &[[u8; N]], hashes: &mut [H]) {
        same_number(records.len(), hashes.len());
        let start = H::begin(self.sip.0);
        let (mut records, mut hashes) = (records, hashes);
        // The widest word as long as it is filled, and then the others for what is left.
        for &width in self.backend.widths_64().iter().rev() {
            let count = records.len() - records.len() % width;
            let (now, later) = records.split_at(count);
            let (filled, empty) = hashes.split_at_mut(count);
            let kernel = HashRecords::<H, N, C, D> { start, records: now, hashes: filled };
            self.backend.run_64(width, kernel);
            (records, hashes) = (later, empty);
        }
    }

    /// See [`SipHash::hash_u64s`].
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
