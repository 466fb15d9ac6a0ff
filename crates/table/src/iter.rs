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

impl<K, V, const C: usize, const D: usize> FloodSafeMap<K, V, C, D> {
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
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &K> + FusedIterator + Clone {
        self.iter().map(|(key, _)| key)
    }

    /// Returns all values, in the order of [`keys`](Self::keys).
    pub fn values(&self) -> impl ExactSizeIterator<Item = &V> + FusedIterator + Clone {
        self.iter().map(|(_, value)| value)
    }

    /// Returns all values by mutable reference.
    pub fn values_mut(&mut self) -> impl ExactSizeIterator<Item = &mut V> + FusedIterator {
        self.iter_mut().map(|(_, value)| value)
    }

    /// Consumes the map and returns all keys.
    pub fn into_keys(self) -> impl ExactSizeIterator<Item = K> + FusedIterator {
        self.into_iter().map(|(key, _)| key)
    }

    /// Consumes the map and returns all values.
    pub fn into_values(self) -> impl ExactSizeIterator<Item = V> + FusedIterator {
        self.into_iter().map(|(_, value)| value)
    }

    /// Removes all entries and keeps the allocated memory. Entries that the iterator does not
    /// return are dropped.
    pub fn drain(&mut self) -> Drain<'_, K, V> {
        Drain(self.table.drain())
    }
}

/// Defines an iterator that maps the items of another one.
macro_rules! iterator {
    ($name:ident<$($lifetime:lifetime)?>, $item:ty, |$entry:pat_param| $made:expr) => {
        impl<$($lifetime,)? K, V> Iterator for $name<$($lifetime,)? K, V> {
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

        impl<$($lifetime,)? K, V> ExactSizeIterator for $name<$($lifetime,)? K, V> {}
        impl<$($lifetime,)? K, V> FusedIterator for $name<$($lifetime,)? K, V> {}

        /// Shows how many entries remain.
        impl<$($lifetime,)? K, V> fmt::Debug for $name<$($lifetime,)? K, V> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("len", &self.len()).finish_non_exhaustive()
            }
        }
    };
}
iterator! { Iter<'a>, (&'a K, &'a V), |(key, value)| (key, value) }
iterator! { IterMut<'a>, (&'a K, &'a mut V), |(key, value)| (&*key, value) }
iterator! { Drain<'a>, (K, V), |entry| entry }
iterator! { IntoIter<>, (K, V), |entry| entry }

impl<K, V> Clone for Iter<'_, K, V> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K, V, const C: usize, const D: usize> IntoIterator for FloodSafeMap<K, V, C, D> {
    type Item = (K, V);
    type IntoIter = IntoIter<K, V>;

    fn into_iter(self) -> IntoIter<K, V> {
        IntoIter(self.table.into_iter())
    }
}

impl<'a, K, V, const C: usize, const D: usize> IntoIterator for &'a FloodSafeMap<K, V, C, D> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Iter<'a, K, V> {
        self.iter()
    }
}

impl<'a, K, V, const C: usize, const D: usize> IntoIterator for &'a mut FloodSafeMap<K, V, C, D> {
    type Item = (&'a K, &'a mut V);
    type IntoIter = IterMut<'a, K, V>;

    fn into_iter(self) -> IterMut<'a, K, V> {
        self.iter_mut()
    }
}
