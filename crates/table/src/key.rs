//! Keys as bytes, so that many of them can be hashed at once.

use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A key that is, or can be made, a row of bytes: strings, byte strings, integers.
///
/// The standard library's `Hash` feeds a hasher piece by piece, one key after the other. Bytes that
/// are all there at once can be hashed beside those of other keys.
///
/// Two rules, on which no `unsafe` depends: equal keys have equal bytes, and a key has the bytes of
/// what it is [borrowed](core::borrow::Borrow) as. Different keys should have different bytes, or
/// their hashes are the same under every key of the map.
///
/// ```
/// use lanesum_table::{FloodSafeMap, Key};
///
/// #[derive(PartialEq, Eq)]
/// struct Point(i32, i32);
///
/// impl Key for Point {
///     type Bytes<'a> = [u8; 8];
///
///     fn bytes(&self) -> [u8; 8] {
///         let Self(x, y) = self;
///         (u64::from(x.cast_unsigned()) << 32 | u64::from(y.cast_unsigned())).to_le_bytes()
///     }
/// }
///
/// let mut map = FloodSafeMap::new();
/// map.insert(Point(3, -4), "here");
/// assert_eq!(map.get(&Point(3, -4)), Some(&"here"));
/// ```
pub trait Key: Eq {
    /// A slice of a key that has its bytes, an array of one that makes them.
    type Bytes<'a>: KeyBytes
    where
        Self: 'a;

    /// The bytes.
    fn bytes(&self) -> Self::Bytes<'_>;
}

/// The bytes of a key: `&[u8]` or `[u8; N]`.
pub trait KeyBytes: sealed::KeyBytes {}
impl KeyBytes for &[u8] {}
impl<const N: usize> KeyBytes for [u8; N] {}

pub(super) mod sealed {
    use lanesum_siphash::SipHash;

    pub trait KeyBytes: Copy + AsRef<[u8]> {
        /// Stands where there is no key. Not empty, so that a loop over keys that are not empty
        /// either has no branch to guess.
        const NO_KEY: Self;

        fn hash_many<const C: usize, const D: usize>(
            sip: &SipHash<C, D>,
            keys: &[Self],
            hashes: &mut [u64],
        );
    }

    impl KeyBytes for &[u8] {
        const NO_KEY: Self = &[0];

        #[inline]
        fn hash_many<const C: usize, const D: usize>(
            sip: &SipHash<C, D>,
            keys: &[Self],
            hashes: &mut [u64],
        ) {
            sip.hash_many(keys, hashes);
        }
    }

    impl<const N: usize> KeyBytes for [u8; N] {
        const NO_KEY: Self = [0; N];

        #[inline]
        fn hash_many<const C: usize, const D: usize>(
            sip: &SipHash<C, D>,
            keys: &[Self],
            hashes: &mut [u64],
        ) {
            sip.hash_records(keys, hashes);
        }
    }
}

/// Strings and byte strings as they are.
macro_rules! strings {
    ($($string:ty),*) => {
        $(impl Key for $string {
            type Bytes<'a> = &'a [u8];

            #[inline]
            fn bytes(&self) -> &[u8] {
                self.as_ref()
            }
        })*
    };
}
strings!([u8], str, String, Vec<u8>);

impl<const N: usize> Key for [u8; N] {
    type Bytes<'a> = [u8; N];

    #[inline]
    fn bytes(&self) -> [u8; N] {
        *self
    }
}

/// What stands for another key and borrows as that.
macro_rules! as_what_it_points_to {
    ($($pointer:ty),*) => {
        $(impl<T: Key + ?Sized> Key for $pointer {
            type Bytes<'a>
                = T::Bytes<'a>
            where
                Self: 'a;

            #[inline]
            fn bytes(&self) -> T::Bytes<'_> {
                (**self).bytes()
            }
        })*
    };
}
as_what_it_points_to!(&T, Box<T>, Rc<T>, Arc<T>);

impl<T: Key + ToOwned + ?Sized> Key for Cow<'_, T> {
    type Bytes<'a>
        = T::Bytes<'a>
    where
        Self: 'a;

    #[inline]
    fn bytes(&self) -> T::Bytes<'_> {
        (**self).bytes()
    }
}

/// Integers as their little-endian bytes.
macro_rules! integers {
    ($($integer:ident),*) => {
        $(impl Key for $integer {
            type Bytes<'a> = [u8; size_of::<$integer>()];

            #[inline]
            fn bytes(&self) -> [u8; size_of::<$integer>()] {
                self.to_le_bytes()
            }
        })*
    };
}
integers!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize);

impl Key for char {
    type Bytes<'a> = [u8; 4];

    #[inline]
    fn bytes(&self) -> [u8; 4] {
        u32::from(*self).to_le_bytes()
    }
}

impl Key for Ipv4Addr {
    type Bytes<'a> = [u8; 4];

    #[inline]
    fn bytes(&self) -> [u8; 4] {
        self.octets()
    }
}

impl Key for Ipv6Addr {
    type Bytes<'a> = [u8; 16];

    #[inline]
    fn bytes(&self) -> [u8; 16] {
        self.octets()
    }
}

/// The octets and which of the two it is.
impl Key for IpAddr {
    type Bytes<'a> = [u8; 17];

    #[inline]
    fn bytes(&self) -> [u8; 17] {
        let mut bytes = [0; 17];
        match self {
            Self::V4(address) => bytes[..4].copy_from_slice(&address.octets()),
            Self::V6(address) => {
                bytes[..16].copy_from_slice(&address.octets());
                bytes[16] = 6;
            }
        }
        bytes
    }
}
