//! Keys of which only `Hash` knows the bytes.

use core::any::TypeId;
use core::hash::{Hash, Hasher};

use super::{Element, JoinedBytes, Key, elements};

/// A key of any type with `Hash`, for types of other crates.
///
/// Its bytes are those that `Hash` passes to a hasher. They are collected first, which takes more
/// time than the bytes of a [`Key`]. Look it up by a value of the same type; a `ByHash<&T>` makes
/// one of a reference.
///
/// ```
/// use lanesum_table::{ByHash, FloodSafeMap};
///
/// #[derive(Hash, PartialEq, Eq)] // in another crate
/// enum Shape {
///     Circle(u32),
///     Square(u32),
/// }
///
/// let mut map = FloodSafeMap::new();
/// map.insert(ByHash(Shape::Circle(3)), "round");
/// assert_eq!(map.get(&ByHash(Shape::Circle(3))), Some(&"round"));
/// assert_eq!(map.get(&ByHash(Shape::Square(3))), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByHash<T: ?Sized>(pub T);

impl<T: Hash + Eq + ?Sized> Key for ByHash<T> {
    type Bytes<'a>
        = JoinedBytes
    where
        Self: 'a;

    #[inline]
    fn bytes(&self) -> JoinedBytes {
        bytes_by_hash(&self.0)
    }
}

impl<T: Hash + Eq> Element for ByHash<T> {}

impl<T> From<T> for ByHash<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

/// Collects the bytes that a value passes to a hasher.
struct Collect(JoinedBytes);

impl Hasher for Collect {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.0.push(bytes);
    }

    fn finish(&self) -> u64 {
        unreachable!("values do not finish hashers")
    }
}

#[inline]
pub(super) fn bytes_by_hash<T: Hash + ?Sized>(value: &T) -> JoinedBytes {
    let mut collect = Collect(JoinedBytes::new());
    value.hash(&mut collect);
    collect.0
}

/// Makes keys of types of `std` that do not show their bytes.
macro_rules! by_hash {
    ($($key:ty),*) => {
        $(impl Key for $key {
            type Bytes<'a> = JoinedBytes;

            #[inline]
            fn bytes(&self) -> JoinedBytes {
                super::by_hash::bytes_by_hash(self)
            }
        })*
    };
}
#[cfg(feature = "std")]
pub(super) use by_hash;

by_hash!(TypeId);
elements!(TypeId);
