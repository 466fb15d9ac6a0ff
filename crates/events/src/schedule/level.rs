//! One level of the wheel: 256 buckets, selected by one byte of a deadline.

use super::bucket::Bucket;

/// The number of bits of a deadline that select a bucket: a digit.
const BITS: u32 = 8;
const FAN: usize = 1 << BITS;
/// The number of levels, one for each digit of a deadline.
pub(super) const LEVELS: u32 = u64::BITS / BITS;

/// Returns the digit of a deadline that selects a bucket of a level.
#[inline]
pub(super) fn digit(deadline: u64, level: u32) -> usize {
    (deadline >> (BITS * level)) as usize & (FAN - 1)
}

/// Returns the deadline with its lowest `level` digits zeroed, and 0 for `LEVELS`.
#[inline]
pub(super) fn prefix(deadline: u64, level: u32) -> u64 {
    if level == LEVELS { 0 } else { deadline >> (BITS * level) << (BITS * level) }
}

/// Returns the first deadline of bucket `index` of a level, for a position of the cursor.
#[inline]
pub(super) fn stretch(cursor: u64, level: u32, index: usize) -> u64 {
    prefix(cursor, level + 1) | (index as u64) << (BITS * level)
}

/// Returns the number of lowest digits that contain all differences between two deadlines.
/// `difference` is their exclusive or.
#[inline]
pub(super) fn width(difference: u64) -> u32 {
    (u64::BITS - difference.leading_zeros()).div_ceil(BITS)
}

pub(super) struct Level {
    buckets: [Bucket; FAN],
    /// A bit for each bucket that may be nonempty.
    occupied: [u64; FAN / 64],
}

impl Level {
    #[cold]
    pub(super) fn new() -> Box<Self> {
        let buckets = std::array::from_fn(|_| Bucket::default());
        Box::new(Level { buckets, occupied: [0; FAN / 64] })
    }

    /// Returns the first nonempty bucket.
    pub(super) fn first(&self) -> Option<usize> {
        let word = self.occupied.iter().position(|&bits| bits != 0)?;
        Some(word * 64 + self.occupied[word].trailing_zeros() as usize)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.occupied == [0; FAN / 64]
    }

    /// Returns a bucket to put an entry into.
    #[inline]
    pub(super) fn fill(&mut self, index: usize) -> &mut Bucket {
        self.occupied[index / 64] |= 1 << (index % 64);
        &mut self.buckets[index]
    }

    pub(super) fn take(&mut self, index: usize) -> Bucket {
        self.occupied[index / 64] &= !(1 << (index % 64));
        std::mem::take(&mut self.buckets[index])
    }

    /// Returns the nonempty buckets in order.
    pub(super) fn buckets(&self) -> impl Iterator<Item = &Bucket> {
        let occupied = |index: usize| self.occupied[index / 64] >> (index % 64) & 1 == 1;
        (0..FAN).filter(move |&index| occupied(index)).map(|index| &self.buckets[index])
    }

    /// Changes each nonempty bucket, which may become empty.
    pub(super) fn for_each_mut(&mut self, change: &mut dyn FnMut(&mut Bucket)) {
        for (index, bucket) in self.buckets.iter_mut().enumerate() {
            let bit = 1 << (index % 64);
            if self.occupied[index / 64] & bit != 0 {
                change(bucket);
                if bucket.is_empty() {
                    self.occupied[index / 64] &= !bit;
                }
            }
        }
    }

    pub(super) fn heap_size(&self) -> usize {
        size_of::<Self>() + self.buckets.iter().map(Bucket::heap_size).sum::<usize>()
    }
}
