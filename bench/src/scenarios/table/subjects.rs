//! The tables, and what their keys are.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};

use lanesum_siphash::{SipHash13, SipHash24};
use lanesum_table::{BATCH, FloodSafeMap, Key, KeyedHash};
use siphasher::sip::SipHasher24;

use super::Found;

/// A type of keys.
pub trait Kind: Key + Hash + Clone {
    /// Bytes in a key.
    const LENGTH: usize;

    /// The key of a random number.
    fn of(number: u64) -> Self;
}

impl Kind for String {
    const LENGTH: usize = 17;

    fn of(number: u64) -> Self {
        format!("{number:017x}")
    }
}

impl Kind for u64 {
    const LENGTH: usize = 8;

    fn of(number: u64) -> Self {
        number
    }
}

/// A table from keys to numbers.
pub trait Table<K> {
    /// A table that grows as these entries are put in, one after the other or 64 at a time.
    fn of(entries: Vec<(K, u64)>) -> Self;

    /// What it has for these keys.
    fn find(&self, keys: &[K]) -> Found;
}

pub type Std<K> = HashMap<K, u64>;
pub type AHash<K> = HashMap<K, u64, ahash::RandomState>;
pub type FoldHash<K> = HashMap<K, u64, foldhash::fast::RandomState>;
pub type SipHasher<K> = HashMap<K, u64, SipHasherState>;
pub type Map13<K> = FloodSafeMap<K, u64, SipHash13>;
pub type Map24<K> = FloodSafeMap<K, u64, SipHash24>;

impl<K: Kind, S: BuildHasher + Default> Table<K> for HashMap<K, u64, S> {
    fn of(entries: Vec<(K, u64)>) -> Self {
        let mut table = Self::default();
        for (key, value) in entries {
            table.insert(key, value);
        }
        table
    }

    fn find(&self, keys: &[K]) -> Found {
        let mut found = Found::default();
        keys.iter().filter_map(|key| self.get(key)).for_each(|&value| found.add(value));
        found
    }
}

impl<K: Kind, S: KeyedHash + Default> Table<K> for FloodSafeMap<K, u64, S> {
    fn of(entries: Vec<(K, u64)>) -> Self {
        let mut table = Self::default();
        let mut entries = entries.into_iter();
        while entries.len() > 0 {
            table.insert_many(entries.by_ref().take(BATCH));
        }
        table
    }

    fn find(&self, keys: &[K]) -> Found {
        let mut found = Found::default();
        for keys in keys.chunks(BATCH) {
            self.get_many(keys).flatten().for_each(|&value| found.add(value));
        }
        found
    }
}

/// lanesum's map with one key at a time.
pub struct OneByOne<K>(Map13<K>);

impl<K: Kind> Table<K> for OneByOne<K> {
    fn of(entries: Vec<(K, u64)>) -> Self {
        let mut table = Map13::default();
        for (key, value) in entries {
            table.insert(key, value);
        }
        Self(table)
    }

    fn find(&self, keys: &[K]) -> Found {
        let mut found = Found::default();
        keys.iter().filter_map(|key| self.0.get(key)).for_each(|&value| found.add(value));
        found
    }
}

/// siphasher's SipHash-2-4 with a key for each table.
pub struct SipHasherState([u64; 2]);

impl Default for SipHasherState {
    fn default() -> Self {
        Self([fastrand::u64(..), fastrand::u64(..)])
    }
}

impl BuildHasher for SipHasherState {
    type Hasher = SipHasher24;

    fn build_hasher(&self) -> SipHasher24 {
        SipHasher24::new_with_keys(self.0[0], self.0[1])
    }
}
