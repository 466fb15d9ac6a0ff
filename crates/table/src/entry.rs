//! The entry API: the place of one key.

use alloc::borrow::ToOwned;
use core::borrow::Borrow;
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

/// The place of a key that is borrowed, and copied only to insert it. Made by
/// [`FloodSafeMap::entry_ref`](super::FloodSafeMap::entry_ref).
pub enum EntryRef<'a, 'b, K, Q: ?Sized, V> {
    /// The map contains the key.
    Occupied(OccupiedEntry<'a, K, V>),
    /// The map does not contain the key.
    Vacant(VacantEntryRef<'a, 'b, K, Q, V>),
}

/// The place of a borrowed key that is not in the map.
pub struct VacantEntryRef<'a, 'b, K, Q: ?Sized, V> {
    key: &'b Q,
    place: hash_table::VacantEntry<'a, (K, V)>,
}

/// The error for a key that [`try_insert`](super::FloodSafeMap::try_insert) found in the map.
#[non_exhaustive]
pub struct OccupiedError<'a, K, V> {
    /// The entry in the map, which is unchanged.
    pub entry: OccupiedEntry<'a, K, V>,
    /// The value that was not inserted.
    pub value: V,
}

/// The methods of both kinds of entries that insert a value.
macro_rules! inserting {
    ($key:ty) => {
        /// Inserts a value if the key is missing, and returns the value of the key.
        #[inline]
        pub fn or_insert(self, default: V) -> &'a mut V {
            self.or_insert_with(|| default)
        }

        /// Inserts the result of a function if the key is missing, and returns the value of the
        /// key.
        #[inline]
        pub fn or_insert_with(self, default: impl FnOnce() -> V) -> &'a mut V {
            self.or_insert_with_key(|_| default())
        }

        /// Inserts the result of a function of the key if the key is missing, and returns the value
        /// of the key.
        #[inline]
        pub fn or_insert_with_key(self, default: impl FnOnce(&$key) -> V) -> &'a mut V {
            match self {
                Self::Occupied(entry) => entry.into_mut(),
                Self::Vacant(entry) => {
                    let value = default(entry.key());
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

        /// Sets the value of the key, and returns its entry.
        #[inline]
        pub fn insert_entry(self, value: V) -> OccupiedEntry<'a, K, V> {
            match self {
                Self::Occupied(mut entry) => {
                    entry.insert(value);
                    entry
                }
                Self::Vacant(entry) => entry.insert_entry(value),
            }
        }
    };
}

/// The methods of both kinds of entries that do not insert.
macro_rules! changing {
    () => {
        /// Changes the value if the map contains the key.
        #[inline]
        #[must_use]
        pub fn and_modify(mut self, change: impl FnOnce(&mut V)) -> Self {
            if let Self::Occupied(entry) = &mut self {
                change(entry.get_mut());
            }
            self
        }
    };
}

impl<'a, K, V> Entry<'a, K, V> {
    inserting!(K);
    changing!();

    /// Returns the key.
    pub fn key(&self) -> &K {
        match self {
            Self::Occupied(entry) => entry.key(),
            Self::Vacant(entry) => entry.key(),
        }
    }
}

impl<'a, K: Borrow<Q>, Q: ToOwned<Owned = K> + ?Sized, V> EntryRef<'a, '_, K, Q, V> {
    inserting!(Q);
}

impl<K: Borrow<Q>, Q: ?Sized, V> EntryRef<'_, '_, K, Q, V> {
    changing!();

    /// Returns the key.
    pub fn key(&self) -> &Q {
        match self {
            Self::Occupied(entry) => entry.key().borrow(),
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
        self.insert_entry(value).into_mut()
    }

    /// Inserts the key with a value, and returns its entry.
    #[inline]
    pub fn insert_entry(self, value: V) -> OccupiedEntry<'a, K, V> {
        OccupiedEntry(self.place.insert((self.key, value)))
    }
}

impl<'a, 'b, K, Q: ?Sized, V> VacantEntryRef<'a, 'b, K, Q, V> {
    #[inline]
    pub(super) fn new(key: &'b Q, place: hash_table::VacantEntry<'a, (K, V)>) -> Self {
        Self { key, place }
    }

    /// Returns the key.
    pub fn key(&self) -> &'b Q {
        self.key
    }

    /// Inserts a copy of the key with a value, and returns the value by mutable reference.
    #[inline]
    pub fn insert(self, value: V) -> &'a mut V
    where
        Q: ToOwned<Owned = K>,
        K: Borrow<Q>,
    {
        self.insert_entry(value).into_mut()
    }

    /// Inserts a copy of the key with a value, and returns its entry.
    #[inline]
    pub fn insert_entry(self, value: V) -> OccupiedEntry<'a, K, V>
    where
        Q: ToOwned<Owned = K>,
        K: Borrow<Q>,
    {
        OccupiedEntry(self.place.insert((self.key.to_owned(), value)))
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

impl<K: fmt::Debug, Q: fmt::Debug + ?Sized, V: fmt::Debug> fmt::Debug
    for EntryRef<'_, '_, K, Q, V>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Occupied(entry) => entry.fmt(f),
            Self::Vacant(entry) => entry.fmt(f),
        }
    }
}

impl<K, Q: fmt::Debug + ?Sized, V> fmt::Debug for VacantEntryRef<'_, '_, K, Q, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("VacantEntryRef").field(&self.key).finish()
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for OccupiedError<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entry, value } = self;
        f.debug_struct("OccupiedError").field("entry", entry).field("value", value).finish()
    }
}

impl<K: fmt::Debug, V> fmt::Display for OccupiedError<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the map already contains the key {:?}", self.entry.key())
    }
}

impl<K: fmt::Debug, V: fmt::Debug> core::error::Error for OccupiedError<'_, K, V> {}
