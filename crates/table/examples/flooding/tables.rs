//! How many keys a table compares while it is filled.

use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

use lanesum_siphash::SipHash;
use lanesum_table::{FloodSafeMap, Key};

use super::collisions::{OFFSET, fnv1, times_31};

/// A key that counts how often it is compared with another.
pub struct Counting<'a> {
    bytes: &'a [u8],
    comparisons: &'a Cell<u64>,
}

impl PartialEq for Counting<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.comparisons.set(self.comparisons.get() + 1);
        self.bytes == other.bytes
    }
}

impl Eq for Counting<'_> {}

impl Hash for Counting<'_> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write(self.bytes);
    }
}

impl Key for Counting<'_> {
    type Bytes<'b>
        = &'b [u8]
    where
        Self: 'b;

    fn bytes(&self) -> &[u8] {
        self.bytes
    }
}

/// FNV-1 for the standard library's map.
pub struct Fnv1(u64);

impl Default for Fnv1 {
    fn default() -> Self {
        Self(OFFSET)
    }
}

impl Hasher for Fnv1 {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = fnv1(self.0, bytes);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The polynomial in 31 for the standard library's map.
#[derive(Default)]
pub struct Times31(u64);

impl Hasher for Times31 {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = times_31(self.0, bytes);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Comparisons while the standard library's map is filled under this hash function.
#[expect(clippy::mutable_key_type, reason = "the counter is no part of what is compared")]
pub fn unkeyed<H: Hasher + Default>(keys: &[Vec<u8>]) -> u64 {
    let comparisons = Cell::new(0);
    let mut map = HashMap::<_, (), BuildHasherDefault<H>>::default();
    for bytes in keys {
        map.insert(Counting { bytes, comparisons: &comparisons }, ());
    }
    assert_eq!(map.len(), keys.len(), "the keys are different ones");
    comparisons.get()
}

/// Comparisons while a flood-safe map is filled.
pub fn keyed(keys: &[Vec<u8>], sip: SipHash<1, 3>) -> u64 {
    let comparisons = Cell::new(0);
    let mut map = FloodSafeMap::with_hasher(sip);
    map.insert_many(keys.iter().map(|bytes| (Counting { bytes, comparisons: &comparisons }, ())));
    assert_eq!(map.len(), keys.len(), "the keys are different ones");
    comparisons.get()
}
