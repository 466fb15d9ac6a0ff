//! Iterators over all entries of a map, in an order that depends on the key of the map.

use core::fmt;
use core::iter::FusedIterator;

use hashbrown::hash_table;

use super::FloodSafeMap;

/// An iterator over entries by reference. Made by [`FloodSafeMap::iter`].
pub struct Iter<'a, K, V>(hash_table::Iter<'a, (K, V)>);

/// An iterator over entries with mutable values. Made by [`FloodSafeMap::iter_mut`].
pub struct IterMut<'a, K, V>(hash_table::IterMut<'a, (K, V)>);

/// An iterator over entries removed from a map. Made by [`FloodSafeMap::drain`].
pub struct Drain<'a, K, V>(hash_table::Drain<'a, (K, V)>);

/// An iterator over the entries of a consumed map.
pub struct IntoIter<K, V>(hash_table::IntoIter<(K, V)>);

/// An iterator over keys. Made by [`FloodSafeMap::keys`].
pub struct Keys<'a, K, V>(Iter<'a, K, V>);

/// An iterator over values. Made by [`FloodSafeMap::values`].
pub struct Values<'a, K, V>(Iter<'a, K, V>);

/// An iterator over values by mutable reference. Made by [`FloodSafeMap::values_mut`].
pub struct ValuesMut<'a, K, V>(IterMut<'a, K, V>);

/// An iterator over the keys of a consumed map. Made by [`FloodSafeMap::into_keys`].
pub struct IntoKeys<K, V>(IntoIter<K, V>);

/// An iterator over the values of a consumed map. Made by [`FloodSafeMap::into_values`].
pub struct IntoValues<K, V>(IntoIter<K, V>);

impl<K, V, S> FloodSafeMap<K, V, S> {
    /// Returns all entries, in unspecified order.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter(self.table.iter())
    }

    /// Returns all entries with mutable values, in unspecified order.
    #[must_use]
    pub fn iter_mut(&mut self) -> IterMut<'_, K, V> {
        IterMut(self.table.iter_mut())
    }

    /// Returns all keys, in unspecified order.
    #[must_use]
    pub fn keys(&self) -> Keys<'_, K, V> {
        Keys(self.iter())
    }

    /// Returns all values, in the order of [`keys`](Self::keys).
    #[must_use]
    pub fn values(&self) -> Values<'_, K, V> {
        Values(self.iter())
    }

    /// Returns all values by mutable reference.
    #[must_use]
    pub fn values_mut(&mut self) -> ValuesMut<'_, K, V> {
        ValuesMut(self.iter_mut())
    }

    /// Consumes the map and returns all keys.
    #[must_use]
    pub fn into_keys(self) -> IntoKeys<K, V> {
        IntoKeys(self.into_iter())
    }

    /// Consumes the map and returns all values.
    #[must_use]
    pub fn into_values(self) -> IntoValues<K, V> {
        IntoValues(self.into_iter())
    }

    /// Removes all entries and keeps the allocated memory. Entries that the iterator does not
    /// return are dropped.
    pub fn drain(&mut self) -> Drain<'_, K, V> {
        Drain(self.table.drain())
    }
}

/// Defines an iterator that maps the items of another one.
macro_rules! iterator {
    ($name:ident<$($lifetime:lifetime,)? $($type:ident),+>, $item:ty, |$entry:pat_param| $made:expr) => {
        impl<$($lifetime,)? $($type),+> Iterator for $name<$($lifetime,)? $($type),+> {
            type Item = $item;

            #[inline]
            fn next(&mut self) -> Option<$item> {
                self.0.next().map(|$entry| $made)
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                self.0.size_hint()
            }

            fn fold<B, F: FnMut(B, $item) -> B>(self, start: B, mut add: F) -> B {
                self.0.fold(start, |sum, $entry| add(sum, $made))
            }
        }

        impl<$($lifetime,)? $($type),+> ExactSizeIterator for $name<$($lifetime,)? $($type),+> {}
        impl<$($lifetime,)? $($type),+> FusedIterator for $name<$($lifetime,)? $($type),+> {}

        /// Shows how many items remain.
        impl<$($lifetime,)? $($type),+> fmt::Debug for $name<$($lifetime,)? $($type),+> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("len", &self.len()).finish_non_exhaustive()
            }
        }
    };
}
pub(super) use iterator;

iterator! { Iter<'a, K, V>, (&'a K, &'a V), |(key, value)| (key, value) }
iterator! { IterMut<'a, K, V>, (&'a K, &'a mut V), |(key, value)| (&*key, value) }
iterator! { Drain<'a, K, V>, (K, V), |entry| entry }
iterator! { IntoIter<K, V>, (K, V), |entry| entry }
iterator! { Keys<'a, K, V>, &'a K, |(key, _)| key }
iterator! { Values<'a, K, V>, &'a V, |(_, value)| value }
iterator! { ValuesMut<'a, K, V>, &'a mut V, |(_, value)| value }
iterator! { IntoKeys<K, V>, K, |(key, _)| key }
iterator! { IntoValues<K, V>, V, |(_, value)| value }

/// Makes iterators without items.
macro_rules! empty {
    ($($name:ty),+) => {
        $(impl<K, V> Default for $name {
            fn default() -> Self {
                Self(Default::default())
            }
        })+
    };
}
empty!(Iter<'_, K, V>, IterMut<'_, K, V>, IntoIter<K, V>, Keys<'_, K, V>, Values<'_, K, V>);
empty!(ValuesMut<'_, K, V>, IntoKeys<K, V>, IntoValues<K, V>);

/// Copies iterators, whatever their items are.
macro_rules! copied {
    ($($name:ty),+) => {
        $(impl<K, V> Clone for $name {
            fn clone(&self) -> Self {
                Self(self.0.clone())
            }
        })+
    };
}
copied!(Iter<'_, K, V>, Keys<'_, K, V>, Values<'_, K, V>);

impl<K, V, S> IntoIterator for FloodSafeMap<K, V, S> {
    type Item = (K, V);
    type IntoIter = IntoIter<K, V>;

    fn into_iter(self) -> IntoIter<K, V> {
        IntoIter(self.table.into_iter())
    }
}

impl<'a, K, V, S> IntoIterator for &'a FloodSafeMap<K, V, S> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Iter<'a, K, V> {
        self.iter()
    }
}

impl<'a, K, V, S> IntoIterator for &'a mut FloodSafeMap<K, V, S> {
    type Item = (&'a K, &'a mut V);
    type IntoIter = IterMut<'a, K, V>;

    fn into_iter(self) -> IterMut<'a, K, V> {
        self.iter_mut()
    }
}
