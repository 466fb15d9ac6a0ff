//! Serializes and deserializes maps. The hash key is not serialized; a deserialized map gets a new
//! random key.

use core::fmt;
use core::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use super::{FloodSafeMap, Key};

/// The largest number of entries to reserve room for before reading, because the announced number
/// is not trusted.
const CLAIMED_ROOM: usize = 4096;

impl<K: Serialize, V: Serialize, const C: usize, const D: usize> Serialize
    for FloodSafeMap<K, V, C, D>
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self)
    }
}

impl<'de, K, V, const C: usize, const D: usize> Deserialize<'de> for FloodSafeMap<K, V, C, D>
where
    K: Key + Deserialize<'de>,
    V: Deserialize<'de>,
{
    /// Deserializes a map with a random hash key. A repeated key keeps the last value.
    fn deserialize<T: Deserializer<'de>>(deserializer: T) -> Result<Self, T::Error> {
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

struct Entries<K, V, const C: usize, const D: usize>(PhantomData<(K, V)>);

impl<'de, K, V, const C: usize, const D: usize> Visitor<'de> for Entries<K, V, C, D>
where
    K: Key + Deserialize<'de>,
    V: Deserialize<'de>,
{
    type Value = FloodSafeMap<K, V, C, D>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut map = FloodSafeMap::default();
        map.reserve(entries.size_hint().unwrap_or(0).min(CLAIMED_ROOM));
        while let Some((key, value)) = entries.next_entry()? {
            map.insert(key, value);
        }
        Ok(map)
    }
}
