//! The traits that the map of the standard library implements.

use core::borrow::Borrow;
use core::fmt;
use core::ops::Index;

use super::{FloodSafeMap, Key};

/// Makes a copy with the same hash key.
impl<K: Clone, V: Clone, const C: usize, const D: usize> Clone for FloodSafeMap<K, V, C, D> {
    fn clone(&self) -> Self {
        Self { table: self.table.clone(), sip: self.sip }
    }

    fn clone_from(&mut self, source: &Self) {
        self.table.clone_from(&source.table);
        self.sip = source.sip;
    }
}

impl<K: fmt::Debug, V: fmt::Debug, const C: usize, const D: usize> fmt::Debug
    for FloodSafeMap<K, V, C, D>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

/// Maps with equal entries are equal, even if their hash keys differ.
impl<K: Key, V: PartialEq, const C: usize, const D: usize> PartialEq for FloodSafeMap<K, V, C, D> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len()
            && self
                .iter()
                .zip(other.get_many(self.keys()))
                .all(|((_, own), other)| Some(own) == other)
    }
}

impl<K: Key, V: Eq, const C: usize, const D: usize> Eq for FloodSafeMap<K, V, C, D> {}

impl<K, Q, V, const C: usize, const D: usize> Index<&Q> for FloodSafeMap<K, V, C, D>
where
    K: Key + Borrow<Q>,
    Q: Key + ?Sized,
{
    type Output = V;

    /// Returns the value of a key.
    ///
    /// # Panics
    /// Panics if the map does not contain the key.
    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("the map has the key")
    }
}

impl<K: Key, V, const C: usize, const D: usize> Extend<(K, V)> for FloodSafeMap<K, V, C, D> {
    /// Inserts entries as [`insert_many`](FloodSafeMap::insert_many) does.
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        self.insert_many(entries);
    }
}

impl<'a, K, V, const C: usize, const D: usize> Extend<(&'a K, &'a V)> for FloodSafeMap<K, V, C, D>
where
    K: Key + Copy,
    V: Copy,
{
    fn extend<I: IntoIterator<Item = (&'a K, &'a V)>>(&mut self, entries: I) {
        self.insert_many(entries.into_iter().map(|(&key, &value)| (key, value)));
    }
}

#[cfg(feature = "std")]
mod random {
    use super::{FloodSafeMap, Key};
    use lanesum_siphash::SipHash;

    /// Makes an empty map with a random key.
    impl<K, V, const C: usize, const D: usize> Default for FloodSafeMap<K, V, C, D> {
        fn default() -> Self {
            Self::with_hasher(SipHash::random())
        }
    }

    impl<K: Key, V, const C: usize, const D: usize> FromIterator<(K, V)> for FloodSafeMap<K, V, C, D> {
        fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
            let mut map = Self::default();
            map.insert_many(entries);
            map
        }
    }

    impl<K: Key, V, const N: usize> From<[(K, V); N]> for FloodSafeMap<K, V> {
        fn from(entries: [(K, V); N]) -> Self {
            entries.into_iter().collect()
        }
    }
}
