//! A script of operations on a flood-safe map against the same on the standard library's: one key
//! at a time and many, with keys of chosen bytes, under a key for hashing that the script chooses
//! as well.

#![no_main]

use std::collections::HashMap;

use lanesum_siphash::SipHash13;
use lanesum_table::FloodSafeMap;
use libfuzzer_sys::fuzz_target;

/// Reads the script: bytes, and zero when it is over.
struct Script<'a>(&'a [u8]);

impl<'a> Script<'a> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    fn word(&mut self) -> u64 {
        (0..8).fold(0, |word, _| word << 8 | u64::from(self.byte()))
    }

    /// The next bytes, fewer where the script ends.
    fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (bytes, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        bytes
    }

    /// A key of its own, or one of few that all scripts share.
    fn key(&mut self) -> Vec<u8> {
        match self.byte() {
            length @ 0..64 => self.bytes(length.into()).to_vec(),
            shared => vec![shared; usize::from(shared % 20)],
        }
    }

    /// Keys for a batch: some from the script, and a run of numbers, so that tables grow.
    fn keys(&mut self) -> Vec<Vec<u8>> {
        let (few, from, many) = (self.byte() % 32, u16::from(self.byte()), u16::from(self.byte()));
        let mut keys: Vec<_> = (0..few).map(|_| self.key()).collect();
        keys.extend((16 * from..).take(many.into()).map(|i| i.to_be_bytes().to_vec()));
        keys
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut script = Script(bytes);
    let sip = SipHash13::from_words(script.word(), script.word());
    let mut map = FloodSafeMap::<Vec<u8>, u32>::with_hasher(sip);
    let mut model = HashMap::new();
    let mut step = 0;
    while !script.0.is_empty() {
        step += 1000;
        match script.byte() % 10 {
            0 => {
                let key = script.key();
                assert_eq!(map.insert(key.clone(), step), model.insert(key, step));
            }
            1 | 2 => {
                let entries: Vec<_> = script.keys().into_iter().zip(step..).collect();
                map.insert_many(entries.iter().cloned());
                model.extend(entries);
            }
            3 => {
                let keys = script.keys();
                map.fold_many(keys.iter().zip(step..), |sum, item| *sum = *sum * 3 % 1009 + item);
                for (key, item) in keys.into_iter().zip(step..) {
                    let sum = model.entry(key).or_default();
                    *sum = *sum * 3 % 1009 + item;
                }
            }
            4 | 5 => {
                let keys = script.keys();
                assert!(map.get_many(&keys).eq(keys.iter().map(|key| model.get(key))));
            }
            6 => {
                for key in script.keys() {
                    assert_eq!(map.remove(&key), model.remove(&key));
                }
            }
            7 => {
                let key = script.key();
                assert_eq!(
                    map.entry(key.clone()).or_insert(step),
                    model.entry(key).or_insert(step)
                );
            }
            8 => {
                map.shrink_to_fit();
                map.reserve(usize::from(script.byte()));
            }
            _ => {
                let divisor = u32::from(script.byte() % 4) + 1;
                map.retain(|_, value| *value % divisor != 0);
                model.retain(|_, value| *value % divisor != 0);
            }
        }
        assert_eq!(map.len(), model.len());
    }
    assert!(map.iter().all(|(key, value)| model.get(key) == Some(value)));
    assert!(map.contains_many(model.keys()).all(|found| found));
});
