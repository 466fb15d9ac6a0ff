//! The hash function of a table.

use lanesum_siphash::SipHash;

/// The hash function of a table, with its key: [`SipHash`] with any numbers of rounds.
///
/// The tables hash with [`SipHash13`](lanesum_siphash::SipHash13) unless their type names another
/// one. With `std`, the default value of a function has a random key:
///
/// ```
/// # #[cfg(feature = "std")] {
/// use lanesum_siphash::SipHash24;
/// use lanesum_table::FloodSafeMap;
///
/// let map: FloodSafeMap<&str, u32, SipHash24> = [("lane", 1)].into_iter().collect();
/// assert_eq!(map["lane"], 1);
/// # }
/// ```
pub trait KeyedHash: Copy + sealed::KeyedHash {}
impl<const C: usize, const D: usize> KeyedHash for SipHash<C, D> {}

pub(crate) mod sealed {
    use super::SipHash;

    pub trait KeyedHash {
        fn hash(&self, input: &[u8]) -> u64;
        fn hash_many<T: AsRef<[u8]>>(&self, inputs: &[T], hashes: &mut [u64]);
        fn hash_records<const N: usize>(&self, records: &[[u8; N]], hashes: &mut [u64]);
    }

    impl<const C: usize, const D: usize> KeyedHash for SipHash<C, D> {
        #[inline(always)]
        fn hash(&self, input: &[u8]) -> u64 {
            self.hash(input)
        }

        #[inline]
        fn hash_many<T: AsRef<[u8]>>(&self, inputs: &[T], hashes: &mut [u64]) {
            self.hash_many(inputs, hashes);
        }

        #[inline]
        fn hash_records<const N: usize>(&self, records: &[[u8; N]], hashes: &mut [u64]) {
            self.hash_records(records, hashes);
        }
    }
}
