//! A hash table that is safe from flooding and looks up many keys at once.
//!
//! | you have | you want | use |
//! |---|---|---|
//! | keys, with or without values | a table | [`FloodSafeMap`], [`FloodSafeSet`] |
//! | many keys | to look them up | [`FloodSafeMap::get_many`], [`contains_many`](FloodSafeMap::contains_many) |
//! | many entries | to insert them | [`FloodSafeMap::insert_many`], or `collect` and `extend` |
//! | many items with borrowed keys | to count or collect them by key | [`FloodSafeMap::fold_many`] |
//! | one key | to look it up or insert it | the methods of the standard library's map, including [`entry`](FloodSafeMap::entry) |
//! | your own key type | to use it in a table | an `impl` of [`Key`], with [`JoinedBytes`] for several parts |
//! | no `std`, or reproducible hashes | a table with a given key | [`FloodSafeMap::with_hasher`] |
//! | a key type of another crate | to use it in a table | [`ByHash`] |
//! | a table | to store it | the feature `serde` |
//! | a large table | to work on it with several threads | the feature `rayon` |
//!
//! An attacker who chooses the keys of a table with a known hash function can make all keys
//! collide. Every operation then walks through all entries. This table hashes with SipHash under a
//! secret random key, so an attacker cannot know which keys collide.
//!
//! For one key at a time SipHash takes three times as long as unsafe hash functions. For many keys
//! at once it costs nothing: the keys are hashed in parallel in SIMD lanes, and the memory accesses
//! for their entries overlap.
//!
//! ```
//! use lanesum_table::FloodSafeMap;
//!
//! let mut ages: FloodSafeMap<String, u32> = FloodSafeMap::new();
//! ages.insert_many([("Ada".to_owned(), 36), ("Grace".to_owned(), 85)]);
//! let found: Vec<_> = ages.get_many(["Grace", "Alan", "Ada"]).collect();
//! assert_eq!(found, [Some(&85), None, Some(&36)]);
//!
//! // One key at a time it is used as the standard library's.
//! *ages.entry("Ada".to_owned()).or_default() += 1;
//! assert_eq!(ages["Ada"], 37);
//! ```
//!
//! The table is that of hashbrown, as in the standard library. Only the hashing differs. `key/`
//! defines which types can be keys, and `batch.rs` looks up many of them.

#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod batch;
mod entry;
mod hasher;
mod iter;
mod key;
#[cfg(feature = "rayon")]
mod rayon;
#[cfg(feature = "serde")]
mod serde;
pub mod set;
mod traits;

use core::borrow::Borrow;
use core::fmt;
use core::mem;

use hashbrown::HashTable;
use hashbrown::hash_table;

use lanesum_siphash::SipHash13;

pub use batch::{BATCH, GetMany};
pub use entry::{Entry, EntryRef, OccupiedEntry, OccupiedError, VacantEntry, VacantEntryRef};
pub use hasher::KeyedHash;
pub use iter::{Drain, IntoIter, IntoKeys, IntoValues, Iter, IterMut, Keys, Values, ValuesMut};
pub use key::{ByHash, Element, JoinedBytes, Key, KeyBytes};
#[cfg(feature = "rayon")]
pub use rayon::{IntoParIter, ParIter, ParIterMut, SetIntoParIter, SetParIter};
pub use set::FloodSafeSet;

/// Tests the examples in the README.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../README.md")]
struct Readme;

/// A hash map that hashes with SipHash under its own key.
///
/// All methods behave as in [`std::collections::HashMap`]. The methods ending in `_many` do for
/// each key what the method without this ending does for one. See the [crate].
///
/// `S` is the hash function with its key, usually SipHash-1-3; see [`KeyedHash`].
pub struct FloodSafeMap<K, V, S = SipHash13> {
    table: HashTable<(K, V)>,
    sip: S,
}

#[cfg(feature = "std")]
impl<K, V> FloodSafeMap<K, V> {
    /// Makes an empty map with a random key. It allocates no memory until the first insertion.
    ///
    /// # Panics
    /// Panics in the same cases as [`SipHash13::random`](lanesum_siphash::SipHash::random).
    #[must_use]
    pub fn new() -> Self {
        Self::with_capacity(0)
    }

    /// Makes an empty map with a random key and room for `capacity` entries.
    ///
    /// # Panics
    /// Panics if memory cannot hold that many entries, and in the same cases as
    /// [`SipHash13::random`](lanesum_siphash::SipHash::random).
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self::with_capacity_and_hasher(capacity, SipHash13::random())
    }
}

impl<K, V, S> FloodSafeMap<K, V, S> {
    /// Makes an empty map with the given key. It is safe from flooding as long as the key is
    /// secret.
    ///
    /// ```
    /// use lanesum_siphash::SipHash24;
    /// use lanesum_table::FloodSafeMap;
    ///
    /// let sip = SipHash24::new(b"sixteen bytes...");
    /// let mut map = FloodSafeMap::with_hasher(sip);
    /// assert_eq!(map.insert(7_u64, "seven"), None);
    /// ```
    #[must_use]
    pub const fn with_hasher(sip: S) -> Self {
        Self { table: HashTable::new(), sip }
    }

    /// Makes an empty map with the given key and room for `capacity` entries.
    ///
    /// # Panics
    /// Panics if memory cannot hold that many entries.
    #[must_use]
    pub fn with_capacity_and_hasher(capacity: usize, sip: S) -> Self {
        Self { table: HashTable::with_capacity(capacity), sip }
    }

    /// Returns the function that hashes the keys.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.sip
    }

    /// Returns the number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Returns whether the map has no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Returns the number of entries that fit without reallocation, including existing ones.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.table.capacity()
    }

    /// Removes all entries and keeps the allocated memory.
    pub fn clear(&mut self) {
        self.table.clear();
    }

    /// Keeps only the entries for which the function returns true.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        self.table.retain(|(key, value)| keep(key, value));
    }

    /// Removes the entries for which the function returns true, as the iterator is advanced.
    /// Entries that the iterator has not reached stay.
    ///
    /// ```
    /// use lanesum_table::FloodSafeMap;
    ///
    /// let mut map: FloodSafeMap<u32, u32> = (0..10).map(|i| (i, i * i)).collect();
    /// let odd: u32 = map.extract_if(|key, _| key % 2 == 1).map(|(_, square)| square).sum();
    /// assert_eq!((odd, map.len()), (1 + 9 + 25 + 49 + 81, 5));
    /// ```
    pub fn extract_if(
        &mut self,
        mut take: impl FnMut(&K, &mut V) -> bool,
    ) -> impl Iterator<Item = (K, V)> {
        self.table.extract_if(move |(key, value)| take(key, value))
    }
}

/// The error for more entries than memory can hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TryReserveError(());

impl fmt::Display for TryReserveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no memory for so many entries")
    }
}

impl core::error::Error for TryReserveError {}

impl<K: Key, V, S: KeyedHash> FloodSafeMap<K, V, S> {
    /// Returns the hash of a key.
    #[inline]
    fn hash<Q: Key + ?Sized>(&self, key: &Q) -> u64 {
        self.sip.hash(key.bytes().as_ref())
    }

    #[inline]
    fn find<Q>(&self, key: &Q) -> Option<&(K, V)>
    where
        K: Borrow<Q>,
        Q: Key + ?Sized,
    {
        if self.table.is_empty() {
            return None;
        }
        self.table.find(self.hash(key), is(key))
    }

    #[inline]
    fn find_entry<Q>(&mut self, key: &Q) -> Option<hash_table::OccupiedEntry<'_, (K, V)>>
    where
        K: Borrow<Q>,
        Q: Key + ?Sized,
    {
        let hash = self.hash(key);
        self.table.find_entry(hash, is(key)).ok()
    }

    /// Returns the value of a key.
    #[inline]
    pub fn get<Q>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Key + ?Sized,
    {
        self.find(key).map(|(_, value)| value)
    }

    /// Returns the value of a key, and the key that is stored in the map.
    #[inline]
    pub fn get_key_value<Q>(&self, key: &Q) -> Option<(&K, &V)>
    where
        K: Borrow<Q>,
        Q: Key + ?Sized,
    {
        self.find(key).map(|(key, value)| (key, value))
    }

    /// Returns the value of a key by mutable reference.
    #[inline]
    pub fn get_mut<Q>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
        Q: Key + ?Sized,
    {
        let hash = self.hash(key);
        self.table.find_mut(hash, is(key)).map(|(_, value)| value)
    }

    /// Returns whether the map contains the key.
    #[inline]
    pub fn contains_key<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Key + ?Sized,
    {
        self.find(key).is_some()
    }

    /// Inserts a key with a value, and returns the previous value. An existing key is not replaced.
    #[inline]
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        let hash = self.hash(&key);
        self.insert_hashed(hash, key, value)
    }

    #[inline]
    fn insert_hashed(&mut self, hash: u64, key: K, value: V) -> Option<V> {
        self.make_room();
        let sip = self.sip;
        match self.table.entry(hash, is(&key), |entry| hash_entry(&sip, entry)) {
            hash_table::Entry::Occupied(mut entry) => {
                Some(mem::replace(&mut entry.get_mut().1, value))
            }
            hash_table::Entry::Vacant(entry) => {
                entry.insert((key, value));
                None
            }
        }
    }

    /// Returns the place of a key, whether the map contains it or not.
    #[inline]
    pub fn entry(&mut self, key: K) -> Entry<'_, K, V> {
        self.make_room();
        let (hash, sip) = (self.hash(&key), self.sip);
        match self.table.entry(hash, is(&key), |entry| hash_entry(&sip, entry)) {
            hash_table::Entry::Occupied(place) => Entry::Occupied(OccupiedEntry::new(place)),
            hash_table::Entry::Vacant(place) => Entry::Vacant(VacantEntry::new(key, place)),
        }
    }

    /// Returns the place of a key, and copies the key only if the entry is inserted.
    ///
    /// ```
    /// use lanesum_table::FloodSafeMap;
    ///
    /// let mut counts: FloodSafeMap<String, u32> = FloodSafeMap::new();
    /// for word in ["lane", "sum", "lane"] {
    ///     *counts.entry_ref(word).or_default() += 1; // two strings are allocated
    /// }
    /// assert_eq!(counts["lane"], 2);
    /// ```
    #[inline]
    pub fn entry_ref<'b, Q>(&mut self, key: &'b Q) -> EntryRef<'_, 'b, K, Q, V>
    where
        K: Borrow<Q>,
        Q: Key + ?Sized,
    {
        self.make_room();
        let (hash, sip) = (self.hash(key), self.sip);
        match self.table.entry(hash, is(key), |entry| hash_entry(&sip, entry)) {
            hash_table::Entry::Occupied(place) => EntryRef::Occupied(OccupiedEntry::new(place)),
            hash_table::Entry::Vacant(place) => EntryRef::Vacant(VacantEntryRef::new(key, place)),
        }
    }

    /// Inserts a new key with a value, and returns the value by mutable reference.
    ///
    /// ```
    /// use lanesum_table::FloodSafeMap;
    ///
    /// let mut map = FloodSafeMap::from([("lane", 1)]);
    /// let error = map.try_insert("lane", 2).unwrap_err();
    /// assert_eq!((error.entry.get(), error.value), (&1, 2));
    /// ```
    ///
    /// # Errors
    /// Fails if the map contains the key. The error has its entry and the value.
    pub fn try_insert(&mut self, key: K, value: V) -> Result<&mut V, OccupiedError<'_, K, V>> {
        match self.entry(key) {
            Entry::Occupied(entry) => Err(OccupiedError { entry, value }),
            Entry::Vacant(entry) => Ok(entry.insert(value)),
        }
    }

    /// Returns the values of several keys by mutable reference.
    ///
    /// ```
    /// use lanesum_table::FloodSafeMap;
    ///
    /// let mut map = FloodSafeMap::from([("a", 1), ("b", 2)]);
    /// if let [Some(a), Some(b)] = map.get_disjoint_mut(["a", "b"]) {
    ///     std::mem::swap(a, b);
    /// }
    /// assert_eq!((map["a"], map["b"]), (2, 1));
    /// ```
    ///
    /// # Panics
    /// Panics if two of the keys are equal and the map contains them.
    pub fn get_disjoint_mut<Q, const N: usize>(&mut self, keys: [&Q; N]) -> [Option<&mut V>; N]
    where
        K: Borrow<Q>,
        Q: Key + ?Sized,
    {
        let hashes = keys.map(|key| self.hash(key));
        let found = self.table.get_disjoint_mut(hashes, |place, entry| is(keys[place])(entry));
        found.map(|entry| entry.map(|(_, value)| value))
    }

    /// Removes a key, and returns its value.
    #[inline]
    pub fn remove<Q>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Key + ?Sized,
    {
        self.remove_entry(key).map(|(_, value)| value)
    }

    /// Removes a key, and returns it with its value.
    #[inline]
    pub fn remove_entry<Q>(&mut self, key: &Q) -> Option<(K, V)>
    where
        K: Borrow<Q>,
        Q: Key + ?Sized,
    {
        self.find_entry(key).map(|entry| entry.remove().0)
    }

    /// Reserves room for `additional` more entries.
    ///
    /// # Panics
    /// Panics if memory cannot hold that many entries.
    pub fn reserve(&mut self, additional: usize) {
        if additional > self.table.capacity() - self.table.len() {
            let wanted = self.table.len().checked_add(additional).expect("capacity overflow");
            self.rebuild(wanted);
        }
    }

    /// Reserves room for `additional` more entries, or fails if memory is exhausted.
    ///
    /// ```
    /// use lanesum_table::FloodSafeMap;
    ///
    /// let mut map: FloodSafeMap<u64, u64> = FloodSafeMap::new();
    /// assert!(map.try_reserve(1000).is_ok() && map.capacity() >= 1000);
    /// assert!(map.try_reserve(usize::MAX).is_err());
    /// ```
    ///
    /// # Errors
    /// Fails if memory cannot hold that many entries. The map is unchanged.
    pub fn try_reserve(&mut self, additional: usize) -> Result<(), TryReserveError> {
        if additional <= self.table.capacity() - self.table.len() {
            return Ok(());
        }
        let wanted = self.table.len().checked_add(additional).ok_or(TryReserveError(()))?;
        self.try_rebuild(wanted)
    }

    /// Frees the memory that the entries do not need.
    pub fn shrink_to_fit(&mut self) {
        self.shrink_to(0);
    }

    /// Frees memory down to the larger of the number of entries and `capacity`.
    pub fn shrink_to(&mut self, capacity: usize) {
        let sip = self.sip;
        self.table.shrink_to(capacity, |entry| hash_entry(&sip, entry));
    }

    /// Makes sure that one more entry fits.
    #[inline]
    fn make_room(&mut self) {
        if self.table.len() == self.table.capacity() {
            // By half, so that a table that is full of removed entries keeps its size.
            self.rebuild((self.table.len() + 1).saturating_mul(3) / 2);
        }
    }
}

impl<K: Key, S: KeyedHash> FloodSafeMap<K, (), S> {
    /// Inserts a key, and returns the equal key that it replaces.
    fn replace_key(&mut self, key: K) -> Option<K> {
        self.make_room();
        let (hash, sip) = (self.hash(&key), self.sip);
        match self.table.entry(hash, is(&key), |entry| hash_entry(&sip, entry)) {
            hash_table::Entry::Occupied(mut entry) => {
                Some(mem::replace(&mut entry.get_mut().0, key))
            }
            hash_table::Entry::Vacant(entry) => {
                entry.insert((key, ()));
                None
            }
        }
    }
}

/// Returns a function that compares the key of an entry with `key`.
#[inline]
fn is<K, V, Q>(key: &Q) -> impl Fn(&(K, V)) -> bool
where
    K: Borrow<Q>,
    Q: Key + ?Sized,
{
    move |(other, _)| other.borrow() == key
}

/// Returns the hash of an entry of the table.
#[inline]
fn hash_entry<K: Key, V, S: KeyedHash>(sip: &S, (key, _): &(K, V)) -> u64 {
    sip.hash(key.bytes().as_ref())
}
