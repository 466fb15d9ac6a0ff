//! `lanesum-table`. It has no backend to choose: it takes the best.

use std::num::NonZero;

use lanesum_siphash::{SipHash, SipHash13};
use lanesum_table::{ByHash, Entry, EntryRef, FloodSafeMap, FloodSafeSet};

pub fn call() {
    let sip = SipHash13::from_words(1, 2);
    let mut map = FloodSafeMap::<u64, u64>::with_capacity_and_hasher(8, sip);
    many(&mut map);
    one_by_one(&mut map);
    sizes(&mut map);
    let mut counts = FloodSafeMap::<String, u64>::with_hasher(sip);
    counts.fold_many(["a", "b", "a"].map(|key| (key, 1)), |count, one| *count += one);
    assert!(counts["a"] == 2 && *counts.get("b").unwrap() == 1);
    set(FloodSafeSet::with_hasher(sip));
    keys();
    #[cfg(feature = "std")]
    with_std();
}

fn many(map: &mut FloodSafeMap<u64, u64>) {
    map.insert_many((0..1000_u64).map(|key| (key, key * key)));
    assert!(map.get_many(&[3, 1000, 30]).eq([Some(&9), None, Some(&900)]));
    assert!(map.contains_many(&[3, 1000]).eq([true, false]));
    assert_eq!(map.extract_if(|key, _| key % 2 == 1).count(), 500);
    map.retain(|key, _| key % 4 == 0);
    assert!(map.len() == 250 && !map.is_empty());
    map.values_mut().for_each(|value| *value += 1);
    map.iter_mut().for_each(|(_, value)| *value -= 1);
    assert_eq!(map.keys().sum::<u64>(), map.iter().map(|(key, _)| key).sum::<u64>());
    assert_eq!(map.values().sum::<u64>(), map.clone().into_values().sum::<u64>());
    assert!(map.clone().into_keys().len() == 250 && map.clone().into_iter().len() == 250);
    assert_eq!(map.clone(), *map);
}

fn one_by_one(map: &mut FloodSafeMap<u64, u64>) {
    assert_eq!((map.insert(1, 1), map.insert(1, 2)), (None, Some(1)));
    *map.get_mut(&1).unwrap() += 1;
    assert!(map.contains_key(&1) && map.get(&1) == Some(&3));
    assert_eq!(map.get_key_value(&1), Some((&1, &3)));
    assert_eq!((map.remove(&1), map.remove(&1)), (Some(3), None));
    *map.entry(1).or_insert(4) += 1;
    map.entry(1).and_modify(|value| *value += 1).or_default();
    map.entry(2).or_insert_with(|| 8);
    map.entry(3).or_insert_with_key(|key| 9 * key);
    assert_eq!([1, 2, 3].map(|key| map[&key]), [6, 8, 27]);
    let Entry::Occupied(mut entry) = map.entry(3) else { panic!("it is there") };
    *entry.get_mut() += 1;
    assert!(entry.insert(5) == 28 && *entry.get() == 5 && *entry.key() == 3);
    assert_eq!(entry.remove_entry(), (3, 5));
    let Entry::Vacant(entry) = map.entry(3) else { panic!("it is gone") };
    assert_eq!(*entry.key(), 3);
    entry.insert(1);
    if let Entry::Occupied(entry) = map.entry(3) {
        assert_eq!(entry.remove(), 1);
    }
    assert_eq!(*map.entry(4).key(), 4);
    assert_eq!(map.remove_entry(&2), Some((2, 8)));
    assert!(map.try_insert(2, 8).is_ok_and(|value| *value == 8));
    assert_eq!(map.try_insert(2, 9).map_err(|error| error.value), Err(9));
    assert_eq!(map.get_disjoint_mut([&2, &5]), [Some(&mut 8), None]);
    assert_eq!(*map.entry(2).insert_entry(7).get(), 7);
    map.entry_ref(&2).and_modify(|value| *value += 1).or_default();
    map.entry_ref(&5).or_insert_with(|| 4);
    if let EntryRef::Vacant(entry) = map.entry_ref(&6) {
        entry.insert(1);
    }
    assert_eq!([2, 5, 6].map(|key| map.remove(&key)), [Some(8), Some(4), Some(1)]);
}

fn sizes(map: &mut FloodSafeMap<u64, u64>) {
    map.reserve(1000);
    map.try_reserve(5000).expect("there is memory");
    assert!(map.try_reserve(usize::MAX).is_err() && map.capacity() >= 5000);
    map.shrink_to(2000);
    map.shrink_to_fit();
    assert_eq!(map.hasher().hash(b""), SipHash::<1, 3>::from_words(1, 2).hash(b""));
    let count = map.len();
    assert_eq!(map.drain().count(), count);
    map.clear();
    assert!(map.is_empty());
}

fn set(mut set: FloodSafeSet<(&'static str, Option<bool>)>) {
    let [first, second] = [("a", None), ("b", Some(true))];
    set.insert_many([first, second, first]);
    assert!(set.len() == 2 && set.contains_many(&[second]).all(|is_there| is_there));
    assert!(set.contains(&first) && set.get(&first) == Some(&first) && !set.insert(first));
    assert!(set.remove(&first) && set.take(&second) == Some(second) && set.is_empty());
    set.extend([first, second]);
    set.reserve(10);
    set.try_reserve(10).expect("there is memory");
    assert_eq!(set.extract_if(|item| *item == first).count(), 1);
    set.retain(|item| *item == second);
    set.shrink_to_fit();
    assert!(set.is_subset(&set.clone()) && set.is_superset(&set.clone()) && set == set.clone() && set.capacity() > 0);
    assert!(set.iter().eq([&second]) && (&set).into_iter().eq([&second]));
    let other = set.clone();
    assert!(!set.is_disjoint(&other) && set.replace(second) == Some(second));
    assert!(set.union(&other).eq([&second]) && set.intersection(&other).eq([&second]));
    assert!(set.difference(&other).count() + set.symmetric_difference(&other).count() == 0);
    assert_eq!(set.drain().count(), 1);
    set.clear();
}

/// Of every kind that a table takes.
fn keys() {
    let mut set = FloodSafeSet::with_hasher(SipHash13::from_words(1, 2));
    let parts = (NonZero::new(7_u16).unwrap(), (Some(true), None::<i8>), b"bytes", 'c');
    set.insert(parts);
    assert!(set.contains(&parts));
    let mut set = FloodSafeSet::with_hasher(SipHash13::from_words(1, 2));
    set.insert((ByHash('c'), [1_u16, 2], vec!["a"]));
    assert!(set.contains(&(ByHash('c'), [1, 2], vec!["a"])));
}

#[cfg(feature = "std")]
fn with_std() {
    let address = "127.0.0.1:80".parse::<std::net::SocketAddr>().unwrap();
    let mut places = FloodSafeSet::new();
    places.insert((std::path::Path::new("a/b"), address));
    assert!(places.contains(&(std::path::Path::new("a//b"), address)));
    let map: FloodSafeMap<_, _> = (0..100_u32).map(|key| (key, key)).collect();
    let mut other = FloodSafeMap::new();
    other.extend(&map);
    assert_eq!((FloodSafeMap::from([(1_u8, 2)])[&1], other == map), (2, true));
    assert!(FloodSafeMap::<u8, u8>::with_capacity(10).capacity() >= 10);
    let of_std = std::collections::HashMap::<_, _>::from(map.clone());
    assert!(FloodSafeMap::from(of_std) == map);
    let set: FloodSafeSet<_> = (0..100_u32).collect();
    assert!(FloodSafeSet::from([1, 2]).is_subset(&set) && FloodSafeSet::<u8>::new().is_empty());
    assert!(
        FloodSafeSet::<u8>::with_capacity(10).capacity() >= 10 && set.into_iter().count() == 100
    );
    #[cfg(feature = "more")]
    {
        let json = serde_json::to_string(&map).unwrap();
        assert_eq!(serde_json::from_str::<FloodSafeMap<u32, u32>>(&json).unwrap(), map);
    }
}
