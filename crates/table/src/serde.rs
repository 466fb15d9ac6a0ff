//! Serializes and deserializes maps and sets. The hash key is not serialized; a deserialized table
//! gets a new random key.

use core::fmt;
use core::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use super::{ByHash, FloodSafeMap, FloodSafeSet, Key, KeyedHash};

/// The largest number of entries to reserve room for before reading, because the announced number
/// is not trusted.
const CLAIMED_ROOM: usize = 4096;

impl<K: Serialize, V: Serialize, S> Serialize for FloodSafeMap<K, V, S> {
    fn serialize<R: Serializer>(&self, serializer: R) -> Result<R::Ok, R::Error> {
        serializer.collect_map(self)
    }
}

impl<'de, K, V, S> Deserialize<'de> for FloodSafeMap<K, V, S>
where
    K: Key + Deserialize<'de>,
    V: Deserialize<'de>,
    S: KeyedHash + Default,
{
    /// Deserializes a map with a random hash key. A repeated key keeps the last value.
    fn deserialize<T: Deserializer<'de>>(deserializer: T) -> Result<Self, T::Error> {
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

struct Entries<K, V, S>(PhantomData<(K, V, S)>);

impl<'de, K, V, S> Visitor<'de> for Entries<K, V, S>
where
    K: Key + Deserialize<'de>,
    V: Deserialize<'de>,
    S: KeyedHash + Default,
{
    type Value = FloodSafeMap<K, V, S>;

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

impl<T: Serialize, S> Serialize for FloodSafeSet<T, S> {
    fn serialize<R: Serializer>(&self, serializer: R) -> Result<R::Ok, R::Error> {
        serializer.collect_seq(self)
    }
}

impl<'de, T, S> Deserialize<'de> for FloodSafeSet<T, S>
where
    T: Key + Deserialize<'de>,
    S: KeyedHash + Default,
{
    /// Deserializes a set with a random hash key. A repeated item keeps the first one.
    fn deserialize<R: Deserializer<'de>>(deserializer: R) -> Result<Self, R::Error> {
        deserializer.deserialize_seq(Items(PhantomData))
    }
}

struct Items<T, S>(PhantomData<(T, S)>);

impl<'de, T, S> Visitor<'de> for Items<T, S>
where
    T: Key + Deserialize<'de>,
    S: KeyedHash + Default,
{
    type Value = FloodSafeSet<T, S>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut set = FloodSafeSet::default();
        set.reserve(items.size_hint().unwrap_or(0).min(CLAIMED_ROOM));
        while let Some(item) = items.next_element()? {
            set.insert(item);
        }
        Ok(set)
    }
}

/// Serializes as the value.
impl<T: Serialize + ?Sized> Serialize for ByHash<T> {
    fn serialize<R: Serializer>(&self, serializer: R) -> Result<R::Ok, R::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ByHash<T> {
    fn deserialize<R: Deserializer<'de>>(deserializer: R) -> Result<Self, R::Error> {
        T::deserialize(deserializer).map(Self)
    }
}
