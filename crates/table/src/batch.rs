//! Looks up many keys at once.
//!
//! A look-up waits for memory three times in sequence: for the control bytes of entries with this
//! hash, for the entry, and for key bytes stored elsewhere. So a batch takes each of the three
//! steps with all its keys, and the memory accesses of a step overlap:
//!
//! ```text
//! for each key:        compute the hash, in lanes
//! for each hash:       find the candidate in the control bytes: the first entry that may have it
//! for each candidate:  read the entry, which has the place of the key's bytes
//! for each entry:      read one byte of the key
//! for each key:        look it up alone and compare; all memory is in the cache now
//! ```
//!
//! All steps but the last only bring memory into the cache. The last step looks the key up again,
//! so it also works if the table has changed or if a batch has the same key twice.

use alloc::borrow::ToOwned;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;
use core::hint::black_box;
use core::iter::{Fuse, FusedIterator};
use core::mem;

use hashbrown::HashTable;

use super::key::sealed::KeyBytes as _;
use lanesum_siphash::SipHash13;

use super::{FloodSafeMap, Key, KeyedHash, TryReserveError, hash_entry, is};

/// The number of keys that are looked up together. Callers may pass any number, which is split into
/// batches.
pub const BATCH: usize = 64;

/// The largest number of entries of a small table. It is in the cache, so a batch would only take
/// time to set up: ten entries are inserted in a third of the time without.
const SMALL: usize = 32;

/// Marks that no entry has this hash.
const NONE: usize = usize::MAX;

/// A batch of keys that are being looked up.
struct Batch {
    len: usize,
    hashes: [u64; BATCH],
    /// The bucket of the first entry that may match the key, or [`NONE`].
    candidates: [usize; BATCH],
}

impl<K: Key, V, S: KeyedHash> FloodSafeMap<K, V, S> {
    /// Hashes up to [`BATCH`] keys, and brings the memory for their look-up into the cache.
    #[inline]
    fn approach<'k, Q: Key + ?Sized + 'k>(&self, keys: impl Iterator<Item = &'k Q>) -> Batch {
        let mut bytes = [Q::Bytes::NO_KEY; BATCH];
        let mut len = 0;
        for (bytes, key) in bytes.iter_mut().zip(keys) {
            *bytes = key.bytes();
            len += 1;
        }
        let mut batch = Batch { len, hashes: [0; BATCH], candidates: [NONE; BATCH] };
        Q::Bytes::hash_many(&self.sip, &bytes[..len], &mut batch.hashes[..len]);
        batch.find_candidates(&self.table);
        batch
    }

    /// Returns the entry of the key at a place of a batch.
    #[inline]
    fn arrive<Q>(&self, batch: &Batch, place: usize, key: &Q) -> Option<&(K, V)>
    where
        K: Borrow<Q>,
        Q: Key + ?Sized,
    {
        let candidate = batch.candidates[place];
        if candidate == NONE {
            return None;
        }
        match self.table.get_bucket(candidate) {
            Some(entry) if is(key)(entry) => Some(entry),
            _ => self.table.find(batch.hashes[place], is(key)),
        }
    }

    /// Returns the value of each key, in order.
    ///
    /// Takes the keys in batches of [`BATCH`] as the iterator is advanced.
    ///
    /// ```
    /// use lanesum_table::FloodSafeMap;
    ///
    /// let squares: FloodSafeMap<u64, u64> = (0..100).map(|i| (i, i * i)).collect();
    /// let found: Vec<_> = squares.get_many(&[7, 100, 99]).collect();
    /// assert_eq!(found, [Some(&49), None, Some(&9801)]);
    /// ```
    pub fn get_many<'m, 'k, Q, I>(&'m self, keys: I) -> GetMany<'m, K, V, I::IntoIter, S>
    where
        K: Borrow<Q>,
        Q: Key + ?Sized + 'k,
        I: IntoIterator<Item = &'k Q>,
    {
        GetMany { map: self, keys: keys.into_iter().fuse(), found: [None; BATCH], next: 0, len: 0 }
    }

    /// Returns for each key whether the map contains it, in order.
    ///
    /// ```
    /// use lanesum_table::FloodSafeMap;
    ///
    /// let seen: FloodSafeMap<&str, ()> = [("a", ()), ("b", ())].into();
    /// assert!(seen.contains_many(["b", "c", "a"]).eq([true, false, true]));
    /// ```
    pub fn contains_many<'k, Q, I>(&self, keys: I) -> impl Iterator<Item = bool>
    where
        K: Borrow<Q>,
        Q: Key + ?Sized + 'k,
        I: IntoIterator<Item = &'k Q>,
    {
        self.get_many(keys).map(|value| value.is_some())
    }

    /// Inserts each key with its value, in order. A repeated key keeps the last value.
    ///
    /// ```
    /// use lanesum_table::FloodSafeMap;
    ///
    /// let mut map = FloodSafeMap::new();
    /// map.insert_many((0_u32..1000).map(|i| (i % 10, i)));
    /// assert_eq!((map.len(), map[&3]), (10, 993));
    /// ```
    pub fn insert_many(&mut self, entries: impl IntoIterator<Item = (K, V)>) {
        let mut entries = entries.into_iter();
        self.reserve_for(entries.size_hint().0);
        if self.stays_small(entries.size_hint().1) {
            return entries.for_each(|(key, value)| _ = self.insert(key, value));
        }
        let mut taken = Vec::with_capacity(BATCH);
        loop {
            taken.extend(entries.by_ref().take(BATCH));
            if taken.is_empty() {
                return;
            }
            let batch = self.approach(taken.iter().map(|(key, _)| key));
            for ((key, value), hash) in taken.drain(..).zip(batch.hashes) {
                self.insert_hashed(hash, key, value);
            }
        }
    }

    /// Returns whether the table is small with so many more entries at most.
    fn stays_small(&self, additional: Option<usize>) -> bool {
        additional.is_some_and(|additional| additional <= SMALL && self.len() + additional <= SMALL)
    }

    /// Reserves room as the standard library does: for half of the new entries, since others may
    /// exist already.
    fn reserve_for(&mut self, entries: usize) {
        self.reserve(if self.is_empty() { entries } else { entries.div_ceil(2) });
    }

    /// Folds each item into the value of its key, in order. A missing key starts with the default
    /// value. Use it to count, sum or collect by key.
    ///
    /// ```
    /// use lanesum_table::FloodSafeMap;
    ///
    /// let mut counts: FloodSafeMap<String, u32> = FloodSafeMap::new();
    /// let words = "the lane and the sum".split(' ');
    /// counts.fold_many(words.map(|word| (word, 1)), |count, one| *count += one);
    /// assert_eq!(counts["the"], 2);
    /// ```
    pub fn fold_many<'k, Q, T>(
        &mut self,
        items: impl IntoIterator<Item = (&'k Q, T)>,
        mut add: impl FnMut(&mut V, T),
    ) where
        K: Borrow<Q>,
        V: Default,
        Q: Key + ToOwned<Owned = K> + ?Sized + 'k,
    {
        let mut items = items.into_iter();
        if self.stays_small(items.size_hint().1) {
            return items.for_each(|(key, item)| add(self.entry_ref(key).or_default(), item));
        }
        let mut taken = Vec::with_capacity(BATCH);
        loop {
            taken.extend(items.by_ref().take(BATCH));
            if taken.is_empty() {
                return;
            }
            let batch = self.approach(taken.iter().map(|&(key, _)| key));
            for (place, (key, item)) in taken.drain(..).enumerate() {
                add(self.arrive_mut(&batch, place, key), item);
            }
        }
    }

    /// Returns the value of the key at a place of a batch.
    #[inline]
    fn arrive_mut<Q>(&mut self, batch: &Batch, place: usize, key: &Q) -> &mut V
    where
        K: Borrow<Q>,
        V: Default,
        Q: Key + ToOwned<Owned = K> + ?Sized,
    {
        self.make_room();
        let sip = self.sip;
        let entry = self
            .table
            .entry(batch.hashes[place], is(key), |entry| hash_entry(&sip, entry))
            .or_insert_with(|| (key.to_owned(), V::default()));
        &mut entry.into_mut().1
    }

    /// Moves all entries to a table with room for `capacity` entries, in batches.
    #[cold]
    pub(super) fn rebuild(&mut self, capacity: usize) {
        let table = HashTable::with_capacity(capacity);
        if self.len() <= SMALL {
            let mut hashes = [0; SMALL];
            for (hash, entry) in hashes.iter_mut().zip(&self.table) {
                *hash = hash_entry(&self.sip, entry);
            }
            return self.move_to(table, hashes);
        }
        let hashes = self.hash_all(Vec::with_capacity(self.len()));
        self.move_to(table, hashes);
    }

    /// Does the same, or fails if memory is exhausted.
    #[cold]
    pub(super) fn try_rebuild(&mut self, capacity: usize) -> Result<(), TryReserveError> {
        let (mut hashes, mut table) = (Vec::new(), HashTable::new());
        hashes.try_reserve_exact(self.len()).map_err(|_| TryReserveError(()))?;
        table.try_reserve(capacity, |_| 0).map_err(|_| TryReserveError(()))?;
        let hashes = self.hash_all(hashes);
        self.move_to(table, hashes);
        Ok(())
    }

    /// Returns the hashes of all entries in order, before any entry is moved. If a key panics, the
    /// table is unchanged.
    fn hash_all(&self, mut hashes: Vec<u64>) -> Vec<u64> {
        let mut entries = self.table.iter();
        while hashes.len() < self.len() {
            let mut bytes = [K::Bytes::NO_KEY; BATCH];
            let mut len = 0;
            for (bytes, (key, _)) in bytes.iter_mut().zip(&mut entries) {
                *bytes = key.bytes();
                len += 1;
            }
            let bytes = &bytes[..len];
            touch(bytes);
            let first = hashes.len();
            hashes.resize(first + len, 0);
            K::Bytes::hash_many(&self.sip, bytes, &mut hashes[first..]);
        }
        hashes
    }

    /// Moves all entries to a table that has room for them. `hashes` are their hashes.
    fn move_to(&mut self, table: HashTable<(K, V)>, hashes: impl IntoIterator<Item = u64>) {
        let sip = self.sip;
        for (entry, hash) in mem::replace(&mut self.table, table).into_iter().zip(hashes) {
            self.table.insert_unique(hash, entry, |entry| hash_entry(&sip, entry));
        }
    }
}

impl Batch {
    /// Finds the candidates, and brings their entries and keys into the cache.
    #[inline]
    fn find_candidates<K: Key, V>(&mut self, table: &HashTable<(K, V)>) {
        let candidates = &mut self.candidates[..self.len];
        for (candidate, &hash) in candidates.iter_mut().zip(&self.hashes) {
            *candidate = table.iter_hash_buckets(hash).next().unwrap_or(NONE);
        }
        let mut bytes = [K::Bytes::NO_KEY; BATCH];
        for (bytes, &candidate) in bytes.iter_mut().zip(&*candidates) {
            if let Some((key, _)) = table.get_bucket(candidate) {
                *bytes = key.bytes();
            }
        }
        touch(&bytes[..self.len]);
    }
}

/// Reads a byte of each key, so that all keys are loaded from memory at the same time.
#[inline]
fn touch<B: AsRef<[u8]>>(keys: &[B]) {
    let first = |key: &B| key.as_ref().first().copied().unwrap_or(0);
    // The compiler would remove reads whose results are unused.
    black_box(keys.iter().map(first).fold(0, |all, byte| all ^ byte));
}

/// An iterator over the values of many keys. Made by [`FloodSafeMap::get_many`].
pub struct GetMany<'m, K, V, I, S = SipHash13> {
    map: &'m FloodSafeMap<K, V, S>,
    keys: Fuse<I>,
    /// The values of the current batch. Those from `next` to `len` are not returned yet.
    found: [Option<&'m V>; BATCH],
    next: usize,
    len: usize,
}

impl<'m, 'k, K, V, Q, I, S> GetMany<'m, K, V, I, S>
where
    K: Key + Borrow<Q>,
    S: KeyedHash,
    Q: Key + ?Sized + 'k,
    I: Iterator<Item = &'k Q>,
{
    /// Looks up the next keys.
    fn look_up(&mut self) {
        let mut keys = [None; BATCH];
        let mut len = 0;
        for (place, key) in keys.iter_mut().zip(&mut self.keys) {
            *place = Some(key);
            len += 1;
        }
        let keys = &keys[..len];
        let batch = self.map.approach(keys.iter().flatten().copied());
        for (place, &key) in keys.iter().flatten().enumerate() {
            self.found[place] = self.map.arrive(&batch, place, key).map(|(_, value)| value);
        }
        (self.next, self.len) = (0, len);
    }
}

impl<'m, 'k, K, V, Q, I, S> Iterator for GetMany<'m, K, V, I, S>
where
    K: Key + Borrow<Q>,
    S: KeyedHash,
    Q: Key + ?Sized + 'k,
    I: Iterator<Item = &'k Q>,
{
    type Item = Option<&'m V>;

    #[inline]
    fn next(&mut self) -> Option<Option<&'m V>> {
        if self.next == self.len {
            self.look_up();
            if self.len == 0 {
                return None;
            }
        }
        let value = self.found[self.next];
        self.next += 1;
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let here = self.len - self.next;
        let (low, high) = self.keys.size_hint();
        (low.saturating_add(here), high.and_then(|high| high.checked_add(here)))
    }
}

impl<'k, K, V, Q, I, S> ExactSizeIterator for GetMany<'_, K, V, I, S>
where
    K: Key + Borrow<Q>,
    S: KeyedHash,
    Q: Key + ?Sized + 'k,
    I: ExactSizeIterator<Item = &'k Q>,
{
}

impl<'k, K, V, Q, I, S> FusedIterator for GetMany<'_, K, V, I, S>
where
    K: Key + Borrow<Q>,
    S: KeyedHash,
    Q: Key + ?Sized + 'k,
    I: Iterator<Item = &'k Q>,
{
}

impl<K, V, I: Clone, S> Clone for GetMany<'_, K, V, I, S> {
    fn clone(&self) -> Self {
        Self { keys: self.keys.clone(), ..*self }
    }
}

/// Shows how many values of the current batch remain.
impl<K, V, I, S> fmt::Debug for GetMany<'_, K, V, I, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GetMany").field("ready", &(self.len - self.next)).finish_non_exhaustive()
    }
}
