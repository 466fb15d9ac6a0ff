//! The entry API: the place of one key.

use core::fmt;
use core::mem;

use hashbrown::hash_table;

/// The place of a key in a map. Made by [`FloodSafeMap::entry`](super::FloodSafeMap::entry).
pub enum Entry<'a, K, V> {
    /// The map contains the key.
    Occupied(OccupiedEntry<'a, K, V>),
    /// The map does not contain the key.
    Vacant(VacantEntry<'a, K, V>),
}

/// The place of a key that is in the map.
pub struct OccupiedEntry<'a, K, V>(hash_table::OccupiedEntry<'a, (K, V)>);

/// The place of a key that is not in the map.
pub struct VacantEntry<'a, K, V> {
    key: K,
    place: hash_table::VacantEntry<'a, (K, V)>,
}

impl<'a, K, V> Entry<'a, K, V> {
    /// Inserts a value if the key is missing, and returns the value of the key.
    #[inline]
    pub fn or_insert(self, default: V) -> &'a mut V {
        self.or_insert_with(|| default)
    }

    /// Inserts the result of a function if the key is missing, and returns the value of the key.
    #[inline]
    pub fn or_insert_with(self, default: impl FnOnce() -> V) -> &'a mut V {
        self.or_insert_with_key(|_| default())
    }

    /// Inserts the result of a function of the key if the key is missing, and returns the value of
    /// the key.
    #[inline]
    pub fn or_insert_with_key(self, default: impl FnOnce(&K) -> V) -> &'a mut V {
        match self {
            Self::Occupied(entry) => entry.into_mut(),
            Self::Vacant(entry) => {
                let value = default(&entry.key);
                entry.insert(value)
            }
        }
    }

    /// Inserts the default value if the key is missing, and returns the value of the key.
    #[inline]
    pub fn or_default(self) -> &'a mut V
    where
        V: Default,
    {
        self.or_insert_with(V::default)
    }

    /// Changes the value if the map contains the key.
    #[inline]
    #[must_use]
    pub fn and_modify(mut self, change: impl FnOnce(&mut V)) -> Self {
        if let Self::Occupied(entry) = &mut self {
            change(entry.get_mut());
        }
        self
    }

    /// Returns the key.
    pub fn key(&self) -> &K {
        match self {
            Self::Occupied(entry) => entry.key(),
            Self::Vacant(entry) => entry.key(),
        }
    }
}

impl<'a, K, V> OccupiedEntry<'a, K, V> {
    #[inline]
    pub(super) fn new(place: hash_table::OccupiedEntry<'a, (K, V)>) -> Self {
        Self(place)
    }

    /// Returns the key that is stored in the map.
    pub fn key(&self) -> &K {
        &self.0.get().0
    }

    /// Returns the value.
    pub fn get(&self) -> &V {
        &self.0.get().1
    }

    /// Returns the value by mutable reference.
    pub fn get_mut(&mut self) -> &mut V {
        &mut self.0.get_mut().1
    }

    /// Returns the value by mutable reference for as long as the map is borrowed.
    #[must_use]
    pub fn into_mut(self) -> &'a mut V {
        &mut self.0.into_mut().1
    }

    /// Sets the value, and returns the previous one.
    pub fn insert(&mut self, value: V) -> V {
        mem::replace(self.get_mut(), value)
    }

    /// Removes the key, and returns its value.
    pub fn remove(self) -> V {
        self.remove_entry().1
    }

    /// Removes the key, and returns it with its value.
    pub fn remove_entry(self) -> (K, V) {
        self.0.remove().0
    }
}

impl<'a, K, V> VacantEntry<'a, K, V> {
    #[inline]
    pub(super) fn new(key: K, place: hash_table::VacantEntry<'a, (K, V)>) -> Self {
        Self { key, place }
    }

    /// Returns the key.
    pub fn key(&self) -> &K {
        &self.key
    }

    /// Returns the key by value.
    pub fn into_key(self) -> K {
        self.key
    }

    /// Inserts the key with a value, and returns the value by mutable reference.
    #[inline]
    pub fn insert(self, value: V) -> &'a mut V {
        &mut self.place.insert((self.key, value)).into_mut().1
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for Entry<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Occupied(entry) => entry.fmt(f),
            Self::Vacant(entry) => entry.fmt(f),
        }
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for OccupiedEntry<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (key, value) = self.0.get();
        f.debug_struct("OccupiedEntry").field("key", key).field("value", value).finish()
    }
}

impl<K: fmt::Debug, V> fmt::Debug for VacantEntry<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("VacantEntry").field(&self.key).finish()
    }
}
