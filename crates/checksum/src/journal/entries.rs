//! The entries of a journal when it was opened, by file name.

use std::hash::{BuildHasher as _, RandomState};

use hashbrown::HashTable;

use super::entry::{self, KnownFile};

/// The entries of a journal, the last one of each name.
#[derive(Debug, Default)]
pub(super) struct JournalEntries {
    /// The joined entries, as in the journal.
    entries: Vec<u8>,
    /// The start of each entry.
    places: HashTable<usize>,
    hash: RandomState,
}

impl JournalEntries {
    pub(super) fn new(entries: Vec<u8>) -> Self {
        let mut known = Self { entries, ..Self::default() };
        let Self { entries, places, hash } = &mut known;
        let name_at = |place: usize| entry::read(&entries[place..]).map(|(entry, _)| entry.name);
        let mut rest = &entries[..];
        while let Some((entry, behind)) = entry::read(rest) {
            let place = entries.len() - rest.len();
            let found = places.entry(
                hash.hash_one(entry.name),
                |&there| name_at(there) == Some(entry.name),
                |&there| hash.hash_one(name_at(there).unwrap_or_default()),
            );
            *found.or_insert(place).into_mut() = place;
            rest = behind;
        }
        known
    }

    /// Returns the number of files.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn get(&self, name: &[u8]) -> Option<KnownFile<'_>> {
        let at = |&place: &usize| entry::read(&self.entries[place..]).map(|(entry, _)| entry);
        let is_it = |place: &usize| at(place).is_some_and(|entry| entry.name == name);
        self.places.find(self.hash.hash_one(name), is_it).and_then(at)
    }
}
