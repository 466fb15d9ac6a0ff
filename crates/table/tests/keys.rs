//! Different keys, panics in keys, and sets.

use std::any::TypeId;
use std::cell::Cell;
use std::collections::HashSet;
use std::ffi::{CString, OsString};
use std::net::{SocketAddr, SocketAddrV6};
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant, UNIX_EPOCH};

use lanesum_table::{ByHash, FloodSafeMap, FloodSafeSet, JoinedBytes, Key};
use proptest::collection::vec;
use proptest::prelude::*;

/// Bytes are equal where keys are, and only there.
fn are_told_apart<K: Key + std::fmt::Debug>(keys: &[K]) {
    for a in keys {
        for b in keys {
            let (left, right) = (a.bytes(), b.bytes());
            assert_eq!(left.as_ref() == right.as_ref(), a == b, "{a:?} {b:?}");
        }
    }
}

proptest! {
    #[test]
    fn tuples_with_moved_borders_are_different_keys(
        keys in vec((".{0,3}", ".{0,60}", any::<Option<u8>>(), any::<Option<bool>>()), 2..20),
    ) {
        are_told_apart(&keys);
        let nested: Vec<_> = keys.iter().map(|(a, b, c, d)| ((a, b), Some((c, d)))).collect();
        are_told_apart(&nested);
        let foreign: Vec<_> = keys.into_iter().map(ByHash).collect();
        are_told_apart(&foreign);
    }

    #[test]
    fn sequences_with_moved_borders_are_different_keys(
        keys in vec(vec(vec(vec(any::<bool>(), 0..3), 0..3), 0..3), 2..20),
        texts in vec(vec(".{0,2}", 0..3), 2..20),
    ) {
        are_told_apart(&keys);
        are_told_apart(&texts);
        prop_assert!(keys.iter().all(|key| key.bytes().as_ref() == key[..].bytes().as_ref()));
    }

    #[test]
    fn equal_paths_have_equal_components(texts in vec("(/|a|b|\\.|\\.\\.){0,6}", 2..30)) {
        let paths: Vec<PathBuf> = texts.iter().map(PathBuf::from).collect();
        are_told_apart(&paths);
    }
}

#[test]
fn different_keys_of_each_type_hash_differently() {
    let addresses = ["1.2.3.4:80", "1.2.3.4:81", "[::1]:80", "[::]:80", "0.0.0.0:80"];
    are_told_apart(&addresses.map(|text| text.parse::<SocketAddr>().unwrap()));
    let [flow, scope] = [(1, 0), (0, 1)];
    let six = |(flow, scope)| SocketAddrV6::new([1; 8].into(), 80, flow, scope);
    are_told_apart(&[six(flow), six(scope), six((0, 0))]);
    are_told_apart(&[true, false]);
    are_told_apart(&[None, Some(0), Some(1)]);
    are_told_apart(&[None, Some(None), Some(Some(""))]);
    are_told_apart(&[0, 1, 1_000_000_000, u64::MAX].map(Duration::from_nanos));
    let times = [0, 1, 1_000_000_000].map(|nanos| UNIX_EPOCH + Duration::from_nanos(nanos));
    are_told_apart(&times);
    are_told_apart(&[times[0], times[0] - Duration::from_nanos(1)]);
    are_told_apart(&[Instant::now(), Instant::now() + Duration::from_nanos(1)]);
    are_told_apart(&[c"", c"a", c"ab"].map(CString::from));
    are_told_apart(&[TypeId::of::<u8>(), TypeId::of::<i8>()]);
    are_told_apart(&[[1_u32, 2], [2, 1], [0x102, 0]]);
    are_told_apart(&[1, 256, -1].map(|number| NonZero::new(number).unwrap()));
    are_told_apart(&["a", "b", ""].map(OsString::from));
    are_told_apart(&[(1_u32, 2_u32), (2, 1), (0, 0)]);
    are_told_apart(&[("ab", "c"), ("a", "bc"), ("", "abc")]);
    let mut map = FloodSafeMap::from([(PathBuf::from("a/b"), 1)]);
    map.insert("c".into(), 2);
    assert_eq!(map.get(Path::new("a//./b/")), Some(&1));
    assert!(map.contains_many([Path::new("c"), Path::new("a")]).eq([true, false]));
}

/// A key whose bytes cannot be had at times.
#[derive(Clone)]
struct Brittle(u64, Rc<Cell<bool>>);

impl PartialEq for Brittle {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Brittle {}

impl Key for Brittle {
    type Bytes<'a> = [u8; 8];

    fn bytes(&self) -> [u8; 8] {
        assert!(!self.1.get() || self.0 != 77, "no bytes");
        self.0.to_le_bytes()
    }
}

/// Growing, by one key, by many, and on request, leaves what was there.
#[test]
fn a_panic_in_a_key_loses_no_entry() {
    type Grow = fn(&mut FloodSafeMap<Brittle, u64>, Brittle);
    let ways: [Grow; 4] = [
        // As many as it takes until it grows.
        |map, key| (100..300).for_each(|number| _ = map.insert(Brittle(number, key.1.clone()), 0)),
        |map, key| map.insert_many((100..300).map(|number| (Brittle(number, key.1.clone()), 0))),
        |map, _| map.reserve(1000),
        |map, _| _ = map.try_reserve(1000),
    ];
    for grow in ways {
        let is_broken = Rc::new(Cell::new(false));
        let keys = (0..100).map(|number| Brittle(number, Rc::clone(&is_broken)));
        let mut map: FloodSafeMap<_, _> = keys.clone().map(|key| (key.clone(), key.0)).collect();
        is_broken.set(true);
        let key = Brittle(1000, Rc::clone(&is_broken));
        let grown = catch_unwind(AssertUnwindSafe(|| grow(&mut map, key)));
        is_broken.set(false);
        assert!(grown.is_err() && map.len() >= 100, "{}", map.len());
        assert!(keys.into_iter().all(|key| map.get(&key) == Some(&key.0)));
    }
}

#[test]
fn failed_reservation_is_an_error() {
    let mut map: FloodSafeMap<u64, u64> = (0..100).map(|i| (i, i)).collect();
    for wanted in [usize::MAX, usize::MAX / 64, isize::MAX as usize / 32] {
        let error = map.try_reserve(wanted).unwrap_err();
        assert_eq!(error.to_string(), "there is no memory for so many entries");
    }
    assert_eq!((map.len(), map[&99]), (100, 99));
    map.try_reserve(1000).unwrap();
    assert!(map.capacity() >= 1100 && (0..100).all(|i| map[&i] == i));
}

#[test]
fn joined_bytes_of_any_length_are_complete() {
    for length in 0..200 {
        let bytes = vec![7_u8; length];
        let joined = JoinedBytes::new().with(&1_u16).with(&bytes).with(&[9_u8; 3]);
        let length = (length as u64).to_le_bytes();
        assert_eq!(joined.as_ref(), [&[1, 0], &length[..], &bytes, &[9; 3]].concat());
    }
}

proptest! {
    /// The set against the standard library's.
    #[test]
    fn a_set_behaves_as_the_standard_one(
        steps in vec((0..5_u8, 0..60_u16), 0..200), others in vec(0..60_u16, 0..100),
    ) {
        let (mut set, mut model) = (FloodSafeSet::new(), HashSet::new());
        for (what, item) in steps {
            match what {
                0 | 1 => prop_assert_eq!(set.insert(item), model.insert(item)),
                2 => prop_assert_eq!(set.remove(&item), model.remove(&item)),
                3 => prop_assert_eq!(set.take(&item), model.take(&item)),
                _ => {
                    let mut out: Vec<_> = set.extract_if(|it| it % 7 == item % 7).collect();
                    let mut expected: Vec<_> = model.extract_if(|it| it % 7 == item % 7).collect();
                    out.sort_unstable();
                    expected.sort_unstable();
                    prop_assert_eq!(out, expected);
                }
            }
            prop_assert_eq!((set.len(), set.contains(&item)), (model.len(), model.contains(&item)));
        }
        prop_assert!(set.iter().all(|item| model.contains(item)));
        let (other, other_model) = (FloodSafeSet::from_iter(others.clone()), HashSet::from_iter(others));
        prop_assert_eq!(set.is_subset(&other), model.is_subset(&other_model));
        prop_assert_eq!(set == other, model == other_model);
        prop_assert_eq!(set.is_superset(&other), model.is_superset(&other_model));
        prop_assert_eq!(set.is_disjoint(&other), model.is_disjoint(&other_model));
        prop_assert_eq!(HashSet::from(&set | &other), &model | &other_model);
        prop_assert_eq!(HashSet::from(&set & &other), &model & &other_model);
        prop_assert_eq!(HashSet::from(&set ^ &other), &model ^ &other_model);
        prop_assert_eq!(HashSet::from(&set - &other), &model - &other_model);
        let union: Vec<_> = set.union(&other).collect();
        prop_assert_eq!(union.len(), set.union(&other).clone().collect::<HashSet<_>>().len());
        prop_assert!(set.union(&other).size_hint().0 <= union.len());
        prop_assert!(set.difference(&other).size_hint().1 >= Some(set.difference(&other).count()));
        prop_assert_eq!(set.replace(7), model.replace(7));
        prop_assert_eq!(set.clone(), model.iter().copied().collect());
        set.retain(|item| item % 2 == 0);
        prop_assert!(set.into_iter().all(|item| item % 2 == 0 && model.contains(&item)));
    }
}
