//! Floods hash tables with keys that collide, and counts what that costs them.
//!
//! `cargo run --release -p lanesum-table --example flooding`
//!
//! The keys are made here, for FNV-1 and for the polynomial in 31 of Java's strings. A table under
//! the hash function they are made for compares each new key with all the others; under a secret
//! key such keys cannot be made, and the same ones are keys as any.

mod collisions;
mod tables;

use lanesum_siphash::SipHash;

use collisions::{for_fnv1, for_times_31};
use tables::{Fnv1, Times31, keyed, unkeyed};

fn main() {
    println!("keys compared while a table is filled with keys of one hash\n");
    println!(
        "{:>8}{:>16}{:>16}{:>16}{:>16}",
        "keys", "FNV-1's: FNV-1", "FloodSafeMap", "31's: times 31", "FloodSafeMap"
    );
    for doublings in 6..=13 {
        let (fnv1, times_31) = (for_fnv1(doublings), for_times_31(doublings));
        println!(
            "{:>8}{:>16}{:>16}{:>16}{:>16}",
            fnv1.len(),
            unkeyed::<Fnv1>(&fnv1),
            keyed(&fnv1, SipHash::random()),
            unkeyed::<Times31>(&times_31),
            keyed(&times_31, SipHash::random()),
        );
    }
}
