//! All entries of a map, in an order that the key of the map decides.

use core::fmt;
use core::iter::FusedIterator;

use hashbrown::hash_table;

use super::FloodSafeMap;

/// Entries by reference: [`FloodSafeMap::iter`].
pub struct Iter<'a, K, V>(hash_table::Iter<'a, (K, V)>);

/// Entries whose values may be changed: [`FloodSafeMap::iter_mut`].
pub struct IterMut<'a, K, V>(hash_table::IterMut<'a, (K, V)>);

/// Entries taken out of a map that stays: [`FloodSafeMap::drain`].
pub struct Drain<'a, K, V>(hash_table::Drain<'a, (K, V)>);

/// Entries of a map that is used up.
pub struct IntoIter<K, V>(hash_table::IntoIter<(K, V)>);

impl<K, V, const C: usize, const D: usize> FloodSafeMap<K, V, C, D> {
    /// All entries, in no order that could be relied on.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter(self.table.iter())
    }

    /// All entries; their values may be changed.
    #[must_use]
    pub fn iter_mut(&mut self) -> IterMut<'_, K, V> {
        IterMut(self.table.iter_mut())
    }

    /// All keys.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &K> + FusedIterator + Clone {
        self.iter().map(|(key, _)| key)
    }

    /// All values, in the order of the keys.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &V> + FusedIterator + Clone {
        self.iter().map(|(_, value)| value)
    }

    /// All values, to be changed.
    pub fn values_mut(&mut self) -> impl ExactSizeIterator<Item = &mut V> + FusedIterator {
        self.iter_mut().map(|(_, value)| value)
    }

    /// All keys, taken out of the map.
    pub fn into_keys(self) -> impl ExactSizeIterator<Item = K> + FusedIterator {
        self.into_iter().map(|(key, _)| key)
    }

    /// All values, taken out of the map.
    pub fn into_values(self) -> impl ExactSizeIterator<Item = V> + FusedIterator {
        self.into_iter().map(|(_, value)| value)
    }

    /// Takes all entries out and keeps the room. Those that are not asked for are dropped.
    pub fn drain(&mut self) -> Drain<'_, K, V> {
        Drain(self.table.drain())
    }
}

/// An iterator that changes the items of another.
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

        /// Shows how many entries are to come.
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
