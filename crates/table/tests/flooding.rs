//! Keys made to collide under FNV-1 and under a polynomial cost tables under these a number of
//! comparisons that grows with the square of theirs, and a flood-safe map next to none. Counted,
//! not timed.

#[path = "../examples/flooding/collisions.rs"]
mod collisions;
#[path = "../examples/flooding/tables.rs"]
mod tables;

use std::collections::HashSet;

use lanesum_siphash::SipHash;

use collisions::{OFFSET, fnv1, for_fnv1, for_times_31, times_31};
use tables::{Fnv1, Times31, keyed, unkeyed};

#[test]
fn flood_keys_differ_and_collide() {
    // FNV-1 of "a" and "foobar", from the vectors of its authors (draft-eastlake-fnv).
    assert_eq!(fnv1(OFFSET, b"a"), 0xaf63_bd4c_8601_b7be);
    assert_eq!(fnv1(OFFSET, b"foobar"), 0x340d_8765_a4dd_a9c2);
    let all = for_fnv1(10);
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), 1 << 10);
    assert_eq!(all.iter().map(|key| fnv1(OFFSET, key)).collect::<HashSet<_>>().len(), 1);
    let all = for_times_31(10);
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), 1 << 10);
    assert_eq!(all.iter().map(|key| times_31(0, key)).collect::<HashSet<_>>().len(), 1);
}

#[test]
fn a_table_without_a_key_compares_all_pairs() {
    for doublings in [4, 8, 11] {
        let keys = 1_u64 << doublings;
        let pairs = keys * (keys - 1) / 2;
        assert_eq!(unkeyed::<Fnv1>(&for_fnv1(doublings)), pairs);
        assert_eq!(unkeyed::<Times31>(&for_times_31(doublings)), pairs);
    }
}

/// Entries are compared when seven bits of their hashes are the same and they are near each other.
/// By chance some are: one for each sixteen or more keys.
#[test]
fn flood_keys_do_not_collide_in_a_flood_safe_map() {
    for doublings in [8, 11, 13] {
        for keys in [for_fnv1(doublings), for_times_31(doublings)] {
            for word in 0..4 {
                let compared = keyed(&keys, SipHash::from_words(word, !word));
                let bound = (1 << doublings) / 4;
                assert!(compared < bound, "{compared} comparisons for {} keys", keys.len());
            }
        }
    }
}
