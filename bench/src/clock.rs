//! The CPU's clock, taken from chains of operations of known latency.
//!
//! The clock of a shared machine drifts within the hour, so cycles per byte need the clock of the
//! same round. The time-stamp counter does not tell it: it ticks at a constant rate whatever the
//! core does. What does tell it is a chain in which each operation needs the result of the one
//! before: its time is its length times its latency, whatever else the core could do at once.
//!
//! The chain is `x = (x + k) rotl 7` on 32-bit words: an add and a rotate between registers, one
//! cycle each on every x86-64 core since 2008. Two details keep it a chain. `k` comes out of
//! `black_box`, so it sits in a register: Intel's newest cores fold chains of `add reg, immediate`
//! at rename. And an add and a rotate cannot be merged with the next pair, as two adds or two
//! rotates would be.
//!
//! It is checked against a second chain, `x = (x * k) rotl 7`, with the multiplication's latency
//! of three cycles in the place of the addition's one. If a compiler shortened either chain, or a
//! CPU had other latencies, the two would name different clocks. [`Reading::agrees`] compares them
//! and the report prints both.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Long enough (milliseconds) that reading the time does not count.
const STEPS: u32 = 2_000_000;
/// Interrupts only ever lengthen a chain, so the shortest of a few is the one to believe.
const TRIES: usize = 5;
/// The two chains may differ by this share before the clock is called doubtful.
const TOLERANCE: f64 = 0.03;

const ADD_ROTATE_CYCLES: u32 = 2;
const MULTIPLY_ROTATE_CYCLES: u32 = 4;

/// The clock of the CPU this thread runs on, in Hz, from the chain of adds and rotates.
pub fn hertz() -> f64 {
    hertz_of(add_rotate, ADD_ROTATE_CYCLES)
}

/// What both chains say, in Hz.
pub struct Reading {
    pub add_rotate: f64,
    pub multiply_rotate: f64,
}

impl Reading {
    pub fn take() -> Self {
        let multiply_rotate = hertz_of(multiply_rotate, MULTIPLY_ROTATE_CYCLES);
        Self { add_rotate: hertz(), multiply_rotate }
    }

    /// Whether the chains name the same clock, so that their latencies are as assumed.
    pub fn agrees(&self) -> bool {
        (self.add_rotate / self.multiply_rotate - 1.0).abs() <= TOLERANCE
    }
}

fn hertz_of(chain: fn(u32, u32) -> u32, cycles_per_step: u32) -> f64 {
    let shortest = (0..TRIES).map(|_| time(chain)).min().expect("at least one try");
    f64::from(STEPS) * f64::from(cycles_per_step) / shortest.as_secs_f64()
}

fn time(chain: fn(u32, u32) -> u32) -> Duration {
    let (seed, k) = (black_box(0x6745_2301), black_box(0x9e37_79b9));
    let start = Instant::now();
    black_box(chain(seed, k));
    start.elapsed()
}

#[inline(never)]
fn add_rotate(seed: u32, k: u32) -> u32 {
    (0..STEPS).fold(seed, |x, _| x.wrapping_add(k).rotate_left(7))
}

#[inline(never)]
fn multiply_rotate(seed: u32, k: u32) -> u32 {
    (0..STEPS).fold(seed, |x, _| x.wrapping_mul(k).rotate_left(7))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_agree_only_within_the_tolerance() {
        let reading = |add_rotate, multiply_rotate| Reading { add_rotate, multiply_rotate };
        assert!(reading(4.00e9, 4.10e9).agrees());
        assert!(!reading(4.00e9, 8.00e9).agrees());
        assert!(!reading(8.00e9, 4.00e9).agrees());
    }
}
