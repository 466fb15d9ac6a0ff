//! Compares the map with that of the standard library: thousands of operations of every kind, on
//! keys so few that they meet, one at a time and in batches that hold the same key twice.

use std::collections::HashMap;

use lanesum_siphash::SipHash;
#[cfg(any(feature = "rayon", feature = "serde"))]
use lanesum_table::FloodSafeSet;
use lanesum_table::{BATCH, ByHash, Entry, EntryRef, FloodSafeMap, Key, KeyedHash};
use proptest::collection::vec;
use proptest::prelude::*;

/// An operation on a map. Keys are numbers, from which keys of each type are made.
#[derive(Clone, Debug)]
enum Operation {
    Insert(u16),
    InsertMany(Vec<u16>),
    FoldMany(Vec<u16>),
    Get(u16),
    GetMut(u16),
    GetMany(Vec<u16>),
    Remove(u16),
    RemoveAll(Vec<u16>),
    EntryOrInsert(u16),
    EntryRef(u16),
    TryInsert(u16),
    GetDisjointMut([u16; 3]),
    EntryRemove(u16),
    Retain(u16),
    Reserve(u16),
    ShrinkToFit,
    Clear,
    Drain,
    CloneFrom,
    Iterate,
}

fn operation() -> impl Strategy<Value = Operation> {
    use Operation::*;
    // Small numbers are frequent, so that operations meet; the larger ones make the map grow.
    let key = || prop_oneof![3 => 0..40_u16, 1 => 0..4_000_u16];
    let keys = move || vec(key(), 0..3 * BATCH);
    prop_oneof![
        4 => key().prop_map(Insert),
        6 => keys().prop_map(InsertMany),
        4 => keys().prop_map(FoldMany),
        2 => key().prop_map(Get),
        2 => key().prop_map(GetMut),
        8 => keys().prop_map(GetMany),
        4 => key().prop_map(Remove),
        3 => keys().prop_map(RemoveAll),
        2 => key().prop_map(EntryOrInsert),
        2 => key().prop_map(Operation::EntryRef),
        2 => key().prop_map(TryInsert),
        2 => [key(), key(), key()].prop_map(GetDisjointMut),
        2 => key().prop_map(EntryRemove),
        1 => (1..5_u16).prop_map(Retain),
        1 => (0..500_u16).prop_map(Reserve),
        1 => Just(ShrinkToFit),
        1 => prop_oneof![9 => Just(Iterate), 1 => Just(Clear), 1 => Just(Drain)],
        1 => Just(CloneFrom),
        2 => Just(Iterate),
    ]
}

/// A type of keys to run the operations on.
trait Made: Key + std::hash::Hash + Clone + Ord + std::fmt::Debug {
    fn of(number: u16) -> Self;
}

impl Made for u64 {
    fn of(number: u16) -> Self {
        u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

impl Made for u32 {
    fn of(number: u16) -> Self {
        number.into()
    }
}

impl Made for String {
    /// Strings of 0 to 36 bytes.
    fn of(number: u16) -> Self {
        match number {
            0 => Self::new(),
            _ => format!("{number}{}", "x".repeat(usize::from(number % 33))),
        }
    }
}

impl Made for Vec<u8> {
    fn of(number: u16) -> Self {
        String::of(number).into_bytes()
    }
}

impl Made for [u8; 20] {
    fn of(number: u16) -> Self {
        let mut key = [7; 20];
        key[9..11].copy_from_slice(&number.to_be_bytes());
        key
    }
}

type Model<K> = HashMap<K, u64>;

fn made<K: Made>(numbers: &[u16]) -> Vec<K> {
    numbers.iter().map(|&number| K::of(number)).collect()
}

fn sorted<K: Made>(entries: impl IntoIterator<Item = (K, u64)>) -> Vec<(K, u64)> {
    let mut entries: Vec<_> = entries.into_iter().collect();
    entries.sort();
    entries
}

/// Inserts by reference into both: a missing key, or a change of its value.
fn apply_entry_ref<K: Made, S: KeyedHash>(
    key: K,
    step: u64,
    map: &mut FloodSafeMap<K, u64, S>,
    model: &mut Model<K>,
) {
    assert_eq!(*map.entry_ref(&key).key(), key);
    match map.entry_ref(&key) {
        EntryRef::Occupied(entry) => assert_eq!(Some(entry.get()), model.get(&key)),
        EntryRef::Vacant(entry) => assert!(!model.contains_key(entry.key())),
    }
    let own = *map.entry_ref(&key).and_modify(|value| *value += 1).or_insert(step);
    let others = *model.entry(key.clone()).and_modify(|value| *value += 1).or_insert(step);
    assert_eq!(own, others);
    assert_eq!(*map.entry_ref(&key).insert_entry(step + 1).get(), step + 1);
    let entry = map.entry(key.clone()).insert_entry(step + 2);
    assert_eq!((entry.key(), *entry.get()), (&key, step + 2));
    model.insert(key, step + 2);
}

/// Does an operation on both and compares the results. `step` is the value to insert.
fn apply<K: Made, S: KeyedHash>(
    operation: &Operation,
    step: u64,
    map: &mut FloodSafeMap<K, u64, S>,
    model: &mut Model<K>,
) {
    match operation {
        Operation::Insert(key) => {
            let key = K::of(*key);
            assert_eq!(map.insert(key.clone(), step), model.insert(key, step));
        }
        Operation::InsertMany(keys) => {
            let entries = made::<K>(keys).into_iter().zip(step..);
            map.insert_many(entries.clone());
            model.extend(entries);
        }
        Operation::FoldMany(keys) => {
            let keys = made::<K>(keys);
            map.fold_many(keys.iter().zip(step..), |sum, item| *sum = *sum * 3 % 1009 + item);
            for (key, item) in keys.into_iter().zip(step..) {
                let sum = model.entry(key).or_default();
                *sum = *sum * 3 % 1009 + item;
            }
        }
        Operation::Get(key) => {
            let key = K::of(*key);
            assert_eq!(map.get(&key), model.get(&key));
            assert_eq!(map.get_key_value(&key), model.get_key_value(&key));
            assert_eq!(map.contains_key(&key), model.contains_key(&key));
        }
        Operation::GetMut(key) => {
            let key = K::of(*key);
            let (own, others) = (map.get_mut(&key), model.get_mut(&key));
            assert_eq!(own, others);
            if let (Some(own), Some(others)) = (own, others) {
                (*own, *others) = (step, step);
            }
        }
        Operation::GetMany(keys) => {
            let keys = made::<K>(keys);
            assert!(map.get_many(&keys).eq(keys.iter().map(|key| model.get(key))));
            assert_eq!(map.get_many(&keys).len(), keys.len());
            let contained = keys.iter().map(|key| model.contains_key(key));
            assert!(map.contains_many(&keys).eq(contained));
        }
        Operation::Remove(key) => {
            let key = K::of(*key);
            assert_eq!(map.remove_entry(&key), model.remove_entry(&key));
        }
        Operation::RemoveAll(keys) => {
            for key in made::<K>(keys) {
                assert_eq!(map.remove(&key), model.remove(&key));
            }
        }
        Operation::EntryOrInsert(key) => {
            let key = K::of(*key);
            let own = map.entry(key.clone()).and_modify(|value| *value += 1).or_insert(step);
            let others = model.entry(key).and_modify(|value| *value += 1).or_insert(step);
            assert_eq!(own, others);
        }
        Operation::EntryRef(key) => apply_entry_ref(K::of(*key), step, map, model),
        Operation::TryInsert(key) => {
            let key = K::of(*key);
            let own = match map.try_insert(key.clone(), step) {
                Ok(value) => Ok(*value),
                Err(error) => Err((*error.entry.get(), error.value)),
            };
            let others = match model.entry(key) {
                std::collections::hash_map::Entry::Occupied(entry) => Err((*entry.get(), step)),
                std::collections::hash_map::Entry::Vacant(entry) => Ok(*entry.insert(step)),
            };
            assert_eq!(own, others);
        }
        Operation::GetDisjointMut(keys) => {
            let [a, b, c] = *keys;
            if a != b && b != c && a != c {
                let keys = keys.map(K::of);
                let [a, b, c] = &keys;
                assert_eq!(map.get_disjoint_mut([a, b, c]), model.get_disjoint_mut([a, b, c]));
            }
        }
        Operation::EntryRemove(key) => {
            let key = K::of(*key);
            let own = match map.entry(key.clone()) {
                Entry::Occupied(entry) => Some(entry.remove()),
                Entry::Vacant(entry) => {
                    assert_eq!(entry.into_key(), key);
                    None
                }
            };
            assert_eq!(own, model.remove(&key));
        }
        Operation::Retain(divisor) => {
            let divisor = u64::from(*divisor);
            map.retain(|_, value| *value % divisor != 0);
            model.retain(|_, value| *value % divisor != 0);
        }
        Operation::Reserve(additional) => {
            map.reserve(usize::from(*additional));
            assert!(map.capacity() >= map.len() + usize::from(*additional));
        }
        Operation::ShrinkToFit => {
            map.shrink_to_fit();
            // The capacity of a new table of this length.
            let fresh = FloodSafeMap::<K, u64>::with_capacity(map.len());
            assert!(map.capacity() <= fresh.capacity());
        }
        Operation::Clear => {
            map.clear();
            model.clear();
        }
        Operation::Drain => assert_eq!(sorted(map.drain()), sorted(model.drain())),
        Operation::CloneFrom => {
            let copy = map.clone();
            assert!(copy == *map);
            // Another key for hashing, the same entries.
            let other: FloodSafeMap<_, _> = copy.into_iter().collect();
            assert!(other.len() == map.len() && map.iter().all(|(k, v)| other.get(k) == Some(v)));
        }
        Operation::Iterate => {
            for (_, value) in &mut *map {
                *value += 1;
            }
            model.values_mut().for_each(|value| *value += 1);
            let own = map.iter().map(|(key, &value)| (key.clone(), value));
            let others = model.iter().map(|(key, &value)| (key.clone(), value));
            assert_eq!(own.len(), model.len());
            assert_eq!(sorted(own), sorted(others));
        }
    }
    assert_eq!((map.len(), map.is_empty()), (model.len(), model.is_empty()));
}

fn run<K: Made, const C: usize, const D: usize>(operations: &[Operation], key: [u64; 2]) {
    let mut map = FloodSafeMap::with_hasher(SipHash::<C, D>::from_words(key[0], key[1]));
    let mut model = Model::<K>::new();
    for (operation, step) in operations.iter().zip(1..) {
        apply(operation, step, &mut map, &mut model);
    }
    assert_eq!(sorted(map), sorted(model));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn the_map_behaves_as_the_standard_one(
        operations in vec(operation(), 0..400),
        key in any::<[u64; 2]>(),
    ) {
        run::<u64, 2, 4>(&operations, key);
        run::<u32, 1, 3>(&operations, key);
        run::<[u8; 20], 1, 3>(&operations, key);
    }

    /// A separate test, because it takes as long as the one above.
    #[test]
    fn keys_of_several_lengths_behave_as_the_standard_ones(
        operations in vec(operation(), 0..400),
        key in any::<[u64; 2]>(),
    ) {
        run::<String, 1, 3>(&operations, key);
        run::<Vec<u8>, 4, 8>(&operations, key);
    }

    #[test]
    fn strings_are_found_by_borrowed_text(keys in vec(".{0,20}", 0..200)) {
        let map: FloodSafeMap<String, usize> = keys.iter().cloned().zip(0..).collect();
        let model: HashMap<String, usize> = keys.iter().cloned().zip(0..).collect();
        let slices = keys.iter().map(String::as_str);
        prop_assert!(map.get_many(slices.clone()).eq(slices.map(|key| model.get(key))));
        let boxed: FloodSafeMap<Box<str>, ()> = keys.iter().map(|key| (key.as_str().into(), ())).collect();
        prop_assert!(boxed.contains_many(keys.iter().map(String::as_str)).all(|found| found));
        prop_assert_eq!(boxed.len(), model.len());
    }
}

/// A batch may end anywhere. Only the requested items are taken from an iterator.
#[test]
fn keys_are_consumed_as_values_are_requested() {
    let map: FloodSafeMap<u16, u16> = (0..1000).map(|i| (i, i)).collect();
    let keys: Vec<u16> = (0..500).collect();
    for asked in [0, 1, BATCH - 1, BATCH, BATCH + 1, 3 * BATCH] {
        let mut taken = 0;
        let counted = keys.iter().inspect(|_| taken += 1);
        assert_eq!(map.get_many(counted).take(asked).flatten().count(), asked);
        assert_eq!(taken, asked.next_multiple_of(BATCH));
    }
    let mut values = map.get_many(&keys[..BATCH + 1]);
    assert_eq!(values.len(), BATCH + 1);
    values.next();
    assert_eq!(values.len(), BATCH);
    assert_eq!(values.by_ref().count(), BATCH);
    assert!(values.next().is_none() && values.next().is_none());
}

/// A table that is always full and always changing must not grow for what is long gone.
#[test]
fn a_full_map_reuses_removed_entries() {
    let mut map = FloodSafeMap::new();
    map.insert_many((0..1000_u64).map(|i| (i, ())));
    let capacity = map.capacity();
    for i in 0..100_000 {
        assert_eq!(map.remove(&i), Some(()));
        map.insert(i + 1000, ());
    }
    assert_eq!(map.len(), 1000);
    assert!(map.capacity() <= 2 * capacity, "{} of {capacity}", map.capacity());
}

#[test]
fn construction_and_debug_output_match_the_standard_map() {
    let map = FloodSafeMap::from([("a", 1)]);
    assert_eq!(format!("{map:?}"), r#"{"a": 1}"#);
    assert_eq!(format!("{:?}", map.iter()), "Iter { len: 1, .. }");
    assert_eq!(map["a"], 1);
    assert_eq!(map, [("a", 1)].into_iter().collect());
    assert_ne!(map, FloodSafeMap::from([("a", 2)]));
    assert_ne!(map, FloodSafeMap::from([("b", 1)]));
    assert_ne!(map, FloodSafeMap::default());
    let mut twice = map.clone();
    twice.extend([(&"b", &2)]);
    assert_eq!(twice.len(), 2);
    assert!(twice.keys().all(|key| ["a", "b"].contains(key)));
    assert_eq!(twice.values().sum::<i32>(), 3);
    twice.values_mut().for_each(|value| *value *= 10);
    assert_eq!(twice.into_values().sum::<i32>(), 30);
}

#[test]
fn empty_iterators_have_no_items() {
    use lanesum_table::{IntoIter, IntoKeys, IntoValues, Iter, IterMut, Keys, Values, ValuesMut};
    type Is = (u8, u8);
    let by_reference = Iter::<u8, u8>::default().len() + Keys::<u8, u8>::default().len();
    let mutable = IterMut::<u8, u8>::default().len() + ValuesMut::<u8, u8>::default().len();
    let owned = IntoKeys::<u8, u8>::default().len() + IntoValues::<u8, u8>::default().len();
    assert_eq!(by_reference + mutable + owned + Values::<u8, u8>::default().len(), 0);
    assert_eq!(IntoIter::<u8, u8>::default().collect::<Vec<Is>>(), []);
}

#[test]
fn existing_key_fails_to_insert() {
    let mut map = FloodSafeMap::from([("a", 1)]);
    let error = map.try_insert("a", 2).unwrap_err();
    assert_eq!(error.to_string(), r#"the map already contains the key "a""#);
    assert!(format!("{error:?}").contains("OccupiedEntry"), "{error:?}");
    assert_eq!(format!("{:?}", map.entry_ref("b")), r#"VacantEntryRef("b")"#);
}

#[test]
#[should_panic(expected = "duplicate keys")]
fn disjoint_values_of_the_same_key_panic() {
    FloodSafeMap::from([("a", 1)]).get_disjoint_mut(["a", "a"]);
}

#[test]
#[should_panic(expected = "the map has the key")]
fn index_by_a_missing_key_panics() {
    let _ = FloodSafeMap::from([("a", 1)])["b"];
}

#[test]
fn one_key_hashes_as_in_a_batch() {
    // A key inserted alone is found in a batch, and the reverse, for each kind of key.
    fn check<K: Key + Clone>(keys: Vec<K>) {
        let mut alone = FloodSafeMap::new();
        for key in &keys {
            alone.insert(key.clone(), ());
        }
        assert_eq!(alone.len(), keys.len());
        assert!(alone.contains_many(&keys).all(|found| found));
        let mut together = FloodSafeMap::new();
        together.insert_many(keys.iter().map(|key| (key.clone(), ())));
        assert!(keys.iter().all(|key| together.contains_key(key)));
    }
    let numbers = 0..200_u8;
    check(numbers.clone().collect());
    check(numbers.clone().map(u16::from).collect());
    check(numbers.clone().map(u32::from).collect());
    check(numbers.clone().map(u64::from).collect());
    check(numbers.clone().map(u128::from).collect());
    check(numbers.clone().map(usize::from).collect());
    check(numbers.clone().map(i16::from).collect());
    check(numbers.clone().map(|i| i64::from(i) - 100).collect());
    check(numbers.clone().map(char::from).collect());
    check(numbers.clone().map(|i| std::net::Ipv4Addr::new(10, 0, 0, i)).collect());
    check(numbers.clone().map(|i| std::net::Ipv6Addr::from(u128::from(i) << 64)).collect());
    let addresses = numbers.clone().flat_map(|i| {
        let four = std::net::Ipv4Addr::new(i, 0, 0, 0);
        let mut six = [0; 16];
        six[0] = i;
        [std::net::IpAddr::from(four), std::net::IpAddr::from(six)]
    });
    check(addresses.collect());
    check(numbers.clone().map(|i| i.to_string()).collect());
    check(numbers.clone().map(|i| std::rc::Rc::<str>::from(i.to_string())).collect());
    check(numbers.clone().map(|i| std::borrow::Cow::<str>::Owned(i.to_string())).collect());
    check(numbers.clone().map(|i| vec![0; usize::from(i)]).collect());
    check(numbers.clone().map(|i| vec![i.to_string(); 3]).collect());
    check(numbers.clone().map(|i| [u32::from(i); 4]).collect());
    check(numbers.clone().map(|i| std::time::Duration::from_millis(i.into())).collect());
    check(numbers.map(|i| ByHash((i, "a struct"))).collect());
}

#[cfg(feature = "serde")]
#[test]
fn a_map_round_trips_through_serde() {
    let map: FloodSafeMap<String, u32> = (0..100).map(|i| (i.to_string(), i)).collect();
    let json = serde_json::to_string(&map).unwrap();
    assert_eq!(serde_json::from_str::<FloodSafeMap<String, u32>>(&json).unwrap(), map);
    assert_eq!(serde_json::from_str::<HashMap<String, u32>>(&json).unwrap().len(), 100);
    let twice: FloodSafeMap<String, u32> = serde_json::from_str(r#"{"a": 1, "a": 2}"#).unwrap();
    assert_eq!(twice["a"], 2);
    let error = serde_json::from_str::<FloodSafeMap<String, u32>>("[1]").unwrap_err();
    assert!(error.to_string().contains("a map"), "{error}");
}

#[cfg(feature = "rayon")]
#[test]
fn parallel_iterators_have_all_entries() {
    use rayon::prelude::*;

    let mut map: FloodSafeMap<u32, u32> = (0..10_000).into_par_iter().map(|i| (i, i)).collect();
    map.par_extend((5_000..20_000_u32).into_par_iter().map(|i| (i, i + 1)));
    map.par_iter_mut().for_each(|(_, value)| *value += 1);
    assert_eq!((map.len(), map[&0], map[&19_999]), (20_000, 1, 20_001));
    let sum = map.par_iter().map(|(_, &value)| u64::from(value)).sum::<u64>();
    assert_eq!(sum, map.into_par_iter().map(|(_, value)| u64::from(value)).sum::<u64>());
    let mut set: FloodSafeSet<u32> = (0..1000).into_par_iter().collect();
    set.par_extend(500..1500_u32);
    assert_eq!((set.len(), set.par_iter().max()), (1500, Some(&1499)));
    assert_eq!(set.into_par_iter().map(u64::from).sum::<u64>(), 1499 * 750);
}

#[cfg(feature = "serde")]
#[test]
fn a_set_round_trips_through_serde() {
    let set: FloodSafeSet<String> = (0..100).map(|i: u32| i.to_string()).collect();
    let json = serde_json::to_string(&set).unwrap();
    assert_eq!(serde_json::from_str::<FloodSafeSet<String>>(&json).unwrap(), set);
    assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap().len(), 100);
    let keys: FloodSafeSet<ByHash<u8>> = serde_json::from_str("[7, 7]").unwrap();
    assert_eq!(serde_json::to_string(&keys).unwrap(), "[7]");
    let error = serde_json::from_str::<FloodSafeSet<u8>>("{}").unwrap_err();
    assert!(error.to_string().contains("a sequence"), "{error}");
}
