//! The traits that the map of the standard library implements.

use core::borrow::Borrow;
use core::fmt;
use core::ops::Index;

use super::{FloodSafeMap, Key, KeyedHash};

/// Makes a copy with the same hash key.
impl<K: Clone, V: Clone, S: Clone> Clone for FloodSafeMap<K, V, S> {
    fn clone(&self) -> Self {
        Self { table: self.table.clone(), sip: self.sip.clone() }
    }

    fn clone_from(&mut self, source: &Self) {
        self.table.clone_from(&source.table);
        self.sip.clone_from(&source.sip);
    }
}

impl<K: fmt::Debug, V: fmt::Debug, S> fmt::Debug for FloodSafeMap<K, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

/// Maps with equal entries are equal, even if their hash keys differ.
impl<K: Key, V: PartialEq, S: KeyedHash> PartialEq for FloodSafeMap<K, V, S> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len()
            && self
                .iter()
                .zip(other.get_many(self.keys()))
                .all(|((_, own), other)| Some(own) == other)
    }
}

impl<K: Key, V: Eq, S: KeyedHash> Eq for FloodSafeMap<K, V, S> {}

impl<K, Q, V, S> Index<&Q> for FloodSafeMap<K, V, S>
where
    K: Key + Borrow<Q>,
    S: KeyedHash,
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

impl<K: Key, V, S: KeyedHash> Extend<(K, V)> for FloodSafeMap<K, V, S> {
    /// Inserts entries as [`insert_many`](FloodSafeMap::insert_many) does.
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        self.insert_many(entries);
    }
}

impl<'a, K, V, S> Extend<(&'a K, &'a V)> for FloodSafeMap<K, V, S>
where
    K: Key + Copy,
    V: Copy,
    S: KeyedHash,
{
    fn extend<I: IntoIterator<Item = (&'a K, &'a V)>>(&mut self, entries: I) {
        self.insert_many(entries.into_iter().map(|(&key, &value)| (key, value)));
    }
}

/// Makes an empty map with the default hash function, which has a random key.
impl<K, V, S: Default> Default for FloodSafeMap<K, V, S> {
    fn default() -> Self {
        Self::with_hasher(S::default())
    }
}

impl<K: Key, V, S: KeyedHash + Default> FromIterator<(K, V)> for FloodSafeMap<K, V, S> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::default();
        map.insert_many(entries);
        map
    }
}

#[cfg(feature = "std")]
mod of_std {
    use std::collections::HashMap;
    use std::hash::{BuildHasher, Hash};

    use lanesum_siphash::SipHash13;

    use super::{FloodSafeMap, Key, KeyedHash};

    impl<K: Key, V, const N: usize> From<[(K, V); N]> for FloodSafeMap<K, V, SipHash13> {
        fn from(entries: [(K, V); N]) -> Self {
            entries.into_iter().collect()
        }
    }

    /// Moves the entries to a map with a random hash key.
    ///
    /// ```
    /// use std::collections::HashMap;
    ///
    /// use lanesum_table::FloodSafeMap;
    ///
    /// let map: FloodSafeMap<&str, u32> = HashMap::from([("lane", 1)]).into();
    /// assert_eq!(HashMap::<_, _>::from(map)["lane"], 1);
    /// ```
    impl<K: Key, V, R, S: KeyedHash + Default> From<HashMap<K, V, R>> for FloodSafeMap<K, V, S> {
        fn from(map: HashMap<K, V, R>) -> Self {
            map.into_iter().collect()
        }
    }

    impl<K: Eq + Hash, V, R, S> From<FloodSafeMap<K, V, S>> for HashMap<K, V, R>
    where
        R: BuildHasher + Default,
    {
        fn from(map: FloodSafeMap<K, V, S>) -> Self {
            map.into_iter().collect()
        }
    }
}
