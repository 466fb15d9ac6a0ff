//! Keys as bytes, so that many keys can be hashed at once.

use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use core::num::NonZero;

use sealed::KeyBytes as _;

/// A key that has a byte representation: strings, byte strings, paths, numbers, addresses, and
/// tuples and `Option`s of them.
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

/// The bytes of a key: `&[u8]`, `[u8; N]`, or [`JoinedBytes`] for a key with several parts.
pub trait KeyBytes: sealed::KeyBytes {}
impl KeyBytes for &[u8] {}
impl<const N: usize> KeyBytes for [u8; N] {}
impl KeyBytes for JoinedBytes {}

pub(super) mod sealed {
    use lanesum_siphash::SipHash;

    use super::JoinedBytes;

    pub trait KeyBytes: AsRef<[u8]> + Sized {
        /// Whether all keys with these bytes have the same length, so the next part starts at a
        /// fixed offset.
        const IS_FIXED: bool = false;

        /// A placeholder for a missing key. It is not empty, so that a loop over nonempty keys has
        /// no unpredictable branch.
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
        const IS_FIXED: bool = true;

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

    impl KeyBytes for JoinedBytes {
        const NO_KEY: Self = Self::new();

        #[inline]
        fn hash_many<const C: usize, const D: usize>(
            sip: &SipHash<C, D>,
            keys: &[Self],
            hashes: &mut [u64],
        ) {
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

impl<const N: usize> Key for [u8; N] {
    type Bytes<'a> = [u8; N];

    #[inline]
    fn bytes(&self) -> [u8; N] {
        *self
    }
}

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
        })*
    };
}
integers!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize);

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

/// The joined bytes of a key with several parts. Up to 46 bytes need no heap memory.
///
/// For your own key types:
///
/// ```
/// use lanesum_table::{FloodSafeMap, JoinedBytes, Key};
///
/// #[derive(PartialEq, Eq)]
/// struct Place {
///     country: String,
///     code: u32,
/// }
///
/// impl Key for Place {
///     type Bytes<'a> = JoinedBytes;
///
///     fn bytes(&self) -> JoinedBytes {
///         JoinedBytes::new().with(&self.country).with(&self.code)
///     }
/// }
///
/// let mut map = FloodSafeMap::new();
/// map.insert(Place { country: "fi".into(), code: 100 }, "Helsinki");
/// assert_eq!(map.get(&Place { country: "fi".into(), code: 100 }), Some(&"Helsinki"));
/// ```
#[derive(Clone, Debug)]
pub struct JoinedBytes {
    len: u8,
    near: [u8; Self::NEAR],
    /// All bytes, if there are more.
    far: Vec<u8>,
}

impl JoinedBytes {
    const NEAR: usize = 46;

    /// Makes an empty value.
    #[must_use]
    pub const fn new() -> Self {
        Self { len: 0, near: [0; Self::NEAR], far: Vec::new() }
    }

    /// Appends the bytes of another part. If their length may vary, appends the length first, so
    /// that different keys have different bytes.
    #[must_use]
    pub fn with<T: Key + ?Sized>(mut self, part: &T) -> Self {
        let bytes = part.bytes();
        let bytes = bytes.as_ref();
        if !T::Bytes::<'_>::IS_FIXED {
            self.push(&(bytes.len() as u64).to_le_bytes());
        }
        self.push(bytes);
        self
    }

    fn push(&mut self, bytes: &[u8]) {
        let end = usize::from(self.len) + bytes.len();
        if self.far.is_empty() && end <= Self::NEAR {
            self.near[usize::from(self.len)..end].copy_from_slice(bytes);
            self.len = end as u8; // up to NEAR
            return;
        }
        if self.far.is_empty() {
            self.far.extend(&self.near[..usize::from(self.len)]);
        }
        self.far.extend(bytes);
    }
}

impl Default for JoinedBytes {
    fn default() -> Self {
        Self::new()
    }
}

impl AsRef<[u8]> for JoinedBytes {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        if self.far.is_empty() { &self.near[..usize::from(self.len)] } else { &self.far }
    }
}

/// A byte for `Some` or `None`, and the value.
impl<T: Key> Key for Option<T> {
    type Bytes<'a>
        = JoinedBytes
    where
        Self: 'a;

    #[inline]
    fn bytes(&self) -> JoinedBytes {
        let joined = JoinedBytes::new().with(&self.is_some());
        match self {
            Some(key) => joined.with(key),
            None => joined,
        }
    }
}

/// Tuples of up to six parts.
macro_rules! tuples {
    ($($($part:ident)+;)*) => {
        $(impl<$($part: Key),+> Key for ($($part,)+) {
            type Bytes<'a>
                = JoinedBytes
            where
                Self: 'a;

            #[inline]
            #[expect(non_snake_case, reason = "a part is called as its type")]
            fn bytes(&self) -> JoinedBytes {
                let ($($part,)+) = self;
                JoinedBytes::new()$(.with($part))+
            }
        })*
    };
}
tuples! { A; A B; A B C; A B C D; A B C D E; A B C D E F; }

#[cfg(feature = "std")]
mod paths {
    use std::ffi::{OsStr, OsString};
    use std::path::{Component, Path, PathBuf};

    use super::{JoinedBytes, Key};

    /// The bytes that the system uses.
    macro_rules! system_strings {
        ($($string:ty),*) => {
            $(impl Key for $string {
                type Bytes<'a> = &'a [u8];

                #[inline]
                fn bytes(&self) -> &[u8] {
                    self.as_encoded_bytes()
                }
            })*
        };
    }
    system_strings!(OsStr, OsString);

    /// The components. `a//b` and `a/./b/` are the same as `a/b`, as for `==`.
    macro_rules! paths {
        ($($path:ty),*) => {
            $(impl Key for $path {
                type Bytes<'a> = JoinedBytes;

                fn bytes(&self) -> JoinedBytes {
                    let mut joined = JoinedBytes::new();
                    for component in self.components() {
                        let name = component.as_os_str().as_encoded_bytes();
                        match component {
                            // On Windows `c:` is `C:`.
                            Component::Prefix(_) => joined.push(&name.to_ascii_uppercase()),
                            _ => joined.push(name),
                        }
                        // A byte that no component contains.
                        joined.push(b"/");
                    }
                    joined
                }
            })*
        };
    }
    paths!(Path, PathBuf);
}
