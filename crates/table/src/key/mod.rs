//! Keys as bytes, so that many keys can be hashed at once. This file has the keys of one piece.

mod by_hash;
mod joined;
#[cfg(feature = "std")]
mod of_std;
mod sequences;

use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::CStr;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use core::num::NonZero;
use core::time::Duration;

pub use by_hash::ByHash;
pub use joined::JoinedBytes;

/// A key that has a byte representation: strings, byte strings, paths, numbers, addresses, times,
/// and tuples, `Option`s, vectors, slices and arrays of them. [`ByHash`] makes a key of any other
/// value.
///
/// `Hash` of the standard library passes the pieces of one key after the other to a hasher. Keys
/// with all bytes at once can be hashed in parallel.
///
/// An implementation must follow two rules. No `unsafe` code relies on them.
///
/// - Equal keys have equal bytes.
/// - A key has the same bytes as its [borrowed](core::borrow::Borrow) form.
///
/// Different keys should have different bytes. Otherwise they collide under every secret key.
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
    /// A slice for a key that stores its bytes, or an array for a key that computes them.
    type Bytes<'a>: KeyBytes
    where
        Self: 'a;

    /// Returns the bytes of the key.
    fn bytes(&self) -> Self::Bytes<'_>;
}

/// A key that can also be an element: `Vec<T>`, `[T]` and `[T; N]` are keys then. All sized keys of
/// this crate are elements, except `u8`, because slices of `u8` are byte strings.
///
/// ```
/// use lanesum_table::{Element, FloodSafeSet, Key};
///
/// #[derive(PartialEq, Eq)]
/// struct Id(u32);
///
/// impl Key for Id {
///     type Bytes<'a> = [u8; 4];
///
///     fn bytes(&self) -> [u8; 4] {
///         self.0.bytes()
///     }
/// }
///
/// impl Element for Id {}
///
/// let mut set: FloodSafeSet<Vec<Id>> = FloodSafeSet::new();
/// set.insert(vec![Id(3), Id(4)]);
/// assert!(set.contains(&[Id(3), Id(4)][..]));
/// ```
pub trait Element: Key {}

/// Makes elements of keys without type parameters.
macro_rules! elements {
    ($($key:ty),*) => { $(impl Element for $key {})* };
}
use elements;

/// The bytes of a key: `&[u8]`, `[u8; N]`, or [`JoinedBytes`] for a key with several parts.
pub trait KeyBytes: sealed::KeyBytes {}
impl KeyBytes for &[u8] {}
impl<const N: usize> KeyBytes for [u8; N] {}
impl KeyBytes for JoinedBytes {}

pub(super) mod sealed {
    use crate::hasher::KeyedHash;

    use super::JoinedBytes;

    pub trait KeyBytes: AsRef<[u8]> + Sized {
        /// Whether all keys with these bytes have the same length, so the next part starts at a
        /// fixed offset.
        const IS_FIXED: bool = false;

        /// A placeholder for a missing key. It is not empty, so that a loop over nonempty keys has
        /// no unpredictable branch.
        const NO_KEY: Self;

        fn hash_many<S: KeyedHash>(sip: &S, keys: &[Self], hashes: &mut [u64]);
    }

    impl KeyBytes for &[u8] {
        const NO_KEY: Self = &[0];

        #[inline]
        fn hash_many<S: KeyedHash>(sip: &S, keys: &[Self], hashes: &mut [u64]) {
            sip.hash_many(keys, hashes);
        }
    }

    impl<const N: usize> KeyBytes for [u8; N] {
        const IS_FIXED: bool = true;

        const NO_KEY: Self = [0; N];

        #[inline]
        fn hash_many<S: KeyedHash>(sip: &S, keys: &[Self], hashes: &mut [u64]) {
            sip.hash_records(keys, hashes);
        }
    }

    impl KeyBytes for JoinedBytes {
        const NO_KEY: Self = Self::new();

        #[inline]
        fn hash_many<S: KeyedHash>(sip: &S, keys: &[Self], hashes: &mut [u64]) {
            sip.hash_many(keys, hashes);
        }
    }
}

/// Strings and byte strings, unchanged.
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
elements!(String, Vec<u8>);

/// The bytes without the terminating zero.
macro_rules! c_strings {
    ($($string:ty),*) => {
        $(impl Key for $string {
            type Bytes<'a> = &'a [u8];

            #[inline]
            fn bytes(&self) -> &[u8] {
                self.to_bytes()
            }
        })*
    };
}
c_strings!(CStr, CString);
elements!(CString);

impl<const N: usize> Key for [u8; N] {
    type Bytes<'a> = [u8; N];

    #[inline]
    fn bytes(&self) -> [u8; N] {
        *self
    }
}

impl<const N: usize> Element for [u8; N] {}

/// Pointers to a key that borrow as this key.
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
        }

        impl<T: Key + ?Sized> Element for $pointer {})*
    };
}
as_what_it_points_to!(&T, Box<T>, Rc<T>, Arc<T>);

impl<T: Key + ToOwned + ?Sized> Element for Cow<'_, T> {}

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

/// Integers and nonzero integers as little-endian bytes.
macro_rules! integers {
    ($($integer:ident),*) => {
        $(impl Key for $integer {
            type Bytes<'a> = [u8; size_of::<$integer>()];

            #[inline]
            fn bytes(&self) -> [u8; size_of::<$integer>()] {
                self.to_le_bytes()
            }
        }

        impl Key for NonZero<$integer> {
            type Bytes<'a> = [u8; size_of::<$integer>()];

            #[inline]
            fn bytes(&self) -> [u8; size_of::<$integer>()] {
                self.get().to_le_bytes()
            }
        }

        impl Element for NonZero<$integer> {})*
    };
}
integers!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize);
elements!(u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, bool, char, Duration);
elements!(Ipv4Addr, Ipv6Addr, IpAddr, SocketAddrV4, SocketAddrV6, SocketAddr);

impl Key for bool {
    type Bytes<'a> = [u8; 1];

    #[inline]
    fn bytes(&self) -> [u8; 1] {
        [u8::from(*self)]
    }
}

impl Key for char {
    type Bytes<'a> = [u8; 4];

    #[inline]
    fn bytes(&self) -> [u8; 4] {
        u32::from(*self).to_le_bytes()
    }
}

/// The seconds and the nanoseconds.
impl Key for Duration {
    type Bytes<'a> = [u8; 12];

    #[inline]
    fn bytes(&self) -> [u8; 12] {
        let mut bytes = [0; 12];
        bytes[..8].copy_from_slice(&self.as_secs().to_le_bytes());
        bytes[8..].copy_from_slice(&self.subsec_nanos().to_le_bytes());
        bytes
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

/// Returns the bytes of an IPv4 or IPv6 address, padded with zeros, and the version as the last
/// byte.
#[inline]
fn of_either<const N: usize>(address: &[u8], version: u8) -> [u8; N] {
    let mut bytes = [0; N];
    bytes[..address.len()].copy_from_slice(address);
    bytes[N - 1] = version;
    bytes
}

/// The octets and the IP version.
impl Key for IpAddr {
    type Bytes<'a> = [u8; 17];

    #[inline]
    fn bytes(&self) -> [u8; 17] {
        match self {
            Self::V4(address) => of_either(&address.bytes(), 0),
            Self::V6(address) => of_either(&address.bytes(), 6),
        }
    }
}

impl Key for SocketAddrV4 {
    type Bytes<'a> = [u8; 6];

    #[inline]
    fn bytes(&self) -> [u8; 6] {
        let ([a, b, c, d], [low, high]) = (self.ip().octets(), self.port().to_le_bytes());
        [a, b, c, d, low, high]
    }
}

/// The octets, the port, the flow and the scope.
impl Key for SocketAddrV6 {
    type Bytes<'a> = [u8; 26];

    #[inline]
    fn bytes(&self) -> [u8; 26] {
        let mut bytes = [0; 26];
        bytes[..16].copy_from_slice(&self.ip().octets());
        bytes[16..18].copy_from_slice(&self.port().to_le_bytes());
        bytes[18..22].copy_from_slice(&self.flowinfo().to_le_bytes());
        bytes[22..].copy_from_slice(&self.scope_id().to_le_bytes());
        bytes
    }
}

/// The bytes of the address and the IP version.
impl Key for SocketAddr {
    type Bytes<'a> = [u8; 27];

    #[inline]
    fn bytes(&self) -> [u8; 27] {
        match self {
            Self::V4(address) => of_either(&address.bytes(), 0),
            Self::V6(address) => of_either(&address.bytes(), 6),
        }
    }
}
