//! A hash table that cannot be flooded, and that looks up many keys at once.
//!
//! | you have | take |
//! |---|---|
//! | keys with values, or keys alone | [`FloodSafeMap`], [`FloodSafeSet`] |
//! | many keys to look up | [`FloodSafeMap::get_many`], [`contains_many`](FloodSafeMap::contains_many) |
//! | many entries to put in | [`FloodSafeMap::insert_many`], or `collect` and `extend` |
//! | many things to count or to gather, by borrowed keys | [`FloodSafeMap::fold_many`] |
//! | one key at a time | what the standard library's map calls it, [`entry`](FloodSafeMap::entry) too |
//! | keys of a type of your own | an `impl` of [`Key`], with [`JoinedBytes`] where it has several parts |
//! | no `std`, or hashes that are to be the same again | [`FloodSafeMap::with_hasher`] |
//! | a table to store | the feature `serde` |
//!
//! Whoever may choose the keys of a table without a secret key, and its hash function is known, can
//! make all of them collide; every operation then walks through all entries. Under SipHash with a
//! random key, which keys collide is as secret as the key.
//!
//! That costs time with one key after another: SipHash takes three times as long as the hashes
//! that can be flooded. With many keys in memory it does not: they are hashed side by side in the
//! lanes of SIMD registers, and while one entry is on its way from memory the next is asked for.
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
//! It is hashbrown's table, as the standard library's is; what differs is who hashes. `key.rs` says
//! what can be a key, `batch.rs` how many are looked up.

#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod batch;
mod entry;
mod iter;
mod key;
#[cfg(feature = "serde")]
mod serde;
mod set;
mod traits;

use core::borrow::Borrow;
use core::fmt;
use core::mem;

use hashbrown::HashTable;
use hashbrown::hash_table;

use lanesum_siphash::SipHash;

pub use batch::{BATCH, GetMany};
pub use entry::{Entry, OccupiedEntry, VacantEntry};
pub use iter::{Drain, IntoIter, Iter, IterMut};
pub use key::{JoinedBytes, Key, KeyBytes};
pub use set::FloodSafeSet;

/// The examples of the page on the registry, tested.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../README.md")]
struct Readme;

/// A hash map under SipHash-`C`-`D` with a key of its own.
///
/// Everything has the meaning that it has in [`std::collections::HashMap`], and the methods ending
/// in `_many` do with each key what their namesakes do with one. See the [crate].
pub struct FloodSafeMap<K, V, const C: usize = 1, const D: usize = 3> {
    table: HashTable<(K, V)>,
    sip: SipHash<C, D>,
}

#[cfg(feature = "std")]
impl<K, V> FloodSafeMap<K, V> {
    /// An empty map with a random key. Takes no memory until something is inserted.
    ///
    /// # Panics
    /// Panics in the same cases as [`SipHash::random`].
    #[must_use]
    pub fn new() -> Self {
        Self::with_capacity(0)
    }

    /// An empty map with a random key and room for so many entries.
    ///
    /// # Panics
    /// Panics in the same cases as [`SipHash::random`], and if so many are more than memory can
    /// hold.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self::with_capacity_and_hasher(capacity, SipHash::random())
    }
}

impl<K, V, const C: usize, const D: usize> FloodSafeMap<K, V, C, D> {
    /// An empty map under this key. It is flood-safe as long as the key is a secret.
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
    pub const fn with_hasher(sip: SipHash<C, D>) -> Self {
        Self { table: HashTable::new(), sip }
    }

    /// An empty map under this key with room for so many entries.
    ///
    /// # Panics
    /// Panics if so many are more than memory can hold.
    #[must_use]
    pub fn with_capacity_and_hasher(capacity: usize, sip: SipHash<C, D>) -> Self {
        Self { table: HashTable::with_capacity(capacity), sip }
    }

    /// The function that hashes the keys.
    #[must_use]
    pub const fn hasher(&self) -> &SipHash<C, D> {
        &self.sip
    }

    /// The number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// How many entries there is room for, those that are there included.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.table.capacity()
    }

    /// Removes all entries and keeps the room.
    pub fn clear(&mut self) {
        self.table.clear();
    }

    /// Keeps the entries that the function says yes to.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        self.table.retain(|(key, value)| keep(key, value));
    }

    /// Takes out the entries that the function says yes to, as the iterator is advanced. What it
    /// has not come to stays.
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

/// There is no memory for so many entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TryReserveError(());

impl fmt::Display for TryReserveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no memory for so many entries")
    }
}

impl core::error::Error for TryReserveError {}

impl<K: Key, V, const C: usize, const D: usize> FloodSafeMap<K, V, C, D> {
    /// The hash that decides where a key is.
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

    /// The value of a key.
    #[inline]
    pub fn get<Q>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Key + ?Sized,
    {
        self.find(key).map(|(_, value)| value)
    }

    /// The value of a key, and the key as it is in the map.
    #[inline]
    pub fn get_key_value<Q>(&self, key: &Q) -> Option<(&K, &V)>
    where
        K: Borrow<Q>,
        Q: Key + ?Sized,
    {
        self.find(key).map(|(key, value)| (key, value))
    }

    /// The value of a key, to be changed.
    #[inline]
    pub fn get_mut<Q>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
        Q: Key + ?Sized,
    {
        let hash = self.hash(key);
        self.table.find_mut(hash, is(key)).map(|(_, value)| value)
    }

    /// Whether the map has the key.
    #[inline]
    pub fn contains_key<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Key + ?Sized,
    {
        self.find(key).is_some()
    }

    /// Gives the key this value; returns the one it had. A key that is there stays as it is.
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

    /// The place of a key, whether it is there or not.
    #[inline]
    pub fn entry(&mut self, key: K) -> Entry<'_, K, V> {
        self.make_room();
        let (hash, sip) = (self.hash(&key), self.sip);
        match self.table.entry(hash, is(&key), |entry| hash_entry(&sip, entry)) {
            hash_table::Entry::Occupied(place) => Entry::Occupied(OccupiedEntry::new(place)),
            hash_table::Entry::Vacant(place) => Entry::Vacant(VacantEntry::new(key, place)),
        }
    }

    /// Takes a key out; returns its value.
    #[inline]
    pub fn remove<Q>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Key + ?Sized,
    {
        self.remove_entry(key).map(|(_, value)| value)
    }

    /// Takes a key out; returns it and its value.
    #[inline]
    pub fn remove_entry<Q>(&mut self, key: &Q) -> Option<(K, V)>
    where
        K: Borrow<Q>,
        Q: Key + ?Sized,
    {
        self.find_entry(key).map(|entry| entry.remove().0)
    }

    /// Makes room for so many more entries than there are.
    ///
    /// # Panics
    /// Panics if so many are more than memory can hold.
    pub fn reserve(&mut self, additional: usize) {
        if additional > self.table.capacity() - self.table.len() {
            let wanted = self.table.len().checked_add(additional).expect("capacity overflow");
            self.rebuild(wanted);
        }
    }

    /// Makes room for so many more entries than there are, if there is memory.
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
    /// So many are more than memory can hold. The map is as it was.
    pub fn try_reserve(&mut self, additional: usize) -> Result<(), TryReserveError> {
        if additional <= self.table.capacity() - self.table.len() {
            return Ok(());
        }
        let wanted = self.table.len().checked_add(additional).ok_or(TryReserveError(()))?;
        self.try_rebuild(wanted)
    }

    /// Gives back the room that the entries do not need.
    pub fn shrink_to_fit(&mut self) {
        self.shrink_to(0);
    }

    /// Gives back the room that neither the entries nor so many need.
    pub fn shrink_to(&mut self, capacity: usize) {
        let sip = self.sip;
        self.table.shrink_to(capacity, |entry| hash_entry(&sip, entry));
    }

    /// Sees to it that one more entry fits.
    #[inline]
    fn make_room(&mut self) {
        if self.table.len() == self.table.capacity() {
            // By half, so that a table that is full of removed entries keeps its size.
            self.rebuild((self.table.len() + 1).saturating_mul(3) / 2);
        }
    }
}

/// Whether an entry is that of the key.
#[inline]
fn is<K, V, Q>(key: &Q) -> impl Fn(&(K, V)) -> bool
where
    K: Borrow<Q>,
    Q: Key + ?Sized,
{
    move |(other, _)| other.borrow() == key
}

/// The hash of an entry that is in the table.
#[inline]
fn hash_entry<K: Key, V, const C: usize, const D: usize>(
    sip: &SipHash<C, D>,
    (key, _): &(K, V),
) -> u64 {
    sip.hash(key.bytes().as_ref())
}
