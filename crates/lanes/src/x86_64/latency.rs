//! What follows from how many cycles a vector operation takes: one, as on Intel's CPUs; one, but two for a
//! rotation, as on AMD's Zen 4; or two for each, as on AMD's Zen 5, where two start in each cycle.
//!
//! Few streams are bound by that latency. A step of MD5 in one register of AVX-512 is a chain of ternary
//! logic, sum, rotation and sum, in one lane as in four. Cycles for a step:
//!
//! | | one scalar chain | one register | one register with the shortest step (`avx512.rs`) |
//! |---|---|---|---|
//! | one cycle each (counted, not measured) | 4.5 | 4 | 4 |
//! | rotations two (Zen 4, family 19h, measured) | 4.53 | 5.6 | 4.03 |
//! | each two (Zen 5, family 1Ah, measured) | 4.52 | 8.6 | |
//!
//! So a register is the fastest from the first stream on, except on Zen 5. Zen 5 needs 7.4 cycles for four
//! interleaved scalar chains, which is as many registers as there are, and 5.3 for three: three streams
//! at a time, and four in turns, are fastest in scalar lanes; from eight lanes on the registers win
//! everywhere.
//!
//! Many streams fill the cycles in which one chain waits. Two sets of 512 bits, enough for CPUs with a
//! latency of one, take 8.4 cycles a step on Zen 5 and leave half of the units idle; three take 9.8 and
//! four 10.9, which is 1.29 and 1.56 times as many lanes in the same time.

use core::arch::x86_64::__cpuid;
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

use crate::backend::cpu_has;
use crate::{Kernel, Pair};

/// AMD's family 19h: Zen 3, which has no AVX-512, and Zen 4.
const ZEN_4: u32 = 0x19;
/// AMD's family 1Ah: Zen 5.
const ZEN_5: u32 = 0x1a;

/// How many cycles a vector operation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Latency {
    /// One.
    One = 1,
    /// One, but for those of AVX-512 that rotate.
    TwoToRotate,
    /// Two, of CPUs with BMI.
    Two,
}

impl Latency {
    /// Lets this process choose as a CPU of this latency would. For tests, since what is chosen on other CPUs
    /// would never run on this one.
    ///
    /// # Panics
    /// When it is not [possible](Self::possible).
    pub fn pretend(self) {
        assert!(self.is_possible());
        ANSWER.store(self as u8, Relaxed);
    }

    /// Those of CPUs for which what is chosen runs on this one, too.
    pub fn possible() -> impl Iterator<Item = Self> {
        [Self::One, Self::TwoToRotate, Self::Two]
            .into_iter()
            .filter(|latency| latency.is_possible())
    }

    fn is_possible(self) -> bool {
        self != Self::Two || can_run3()
    }
}

/// Whether vector operations take two cycles. True only of CPUs that can [`run3`].
#[inline]
pub(crate) fn vectors_take_two_cycles() -> bool {
    answer() == Latency::Two as u8
}

/// Whether of AVX-512's operations on 32-bit words those that rotate take two cycles, the others one.
#[inline]
pub(crate) fn rotations_take_two_cycles() -> bool {
    answer() == Latency::TwoToRotate as u8
}

/// A [`Latency`] as a number, once the CPU has been asked.
static ANSWER: AtomicU8 = AtomicU8::new(NOT_ASKED);
const NOT_ASKED: u8 = 0;

/// Asked once: CPUID takes microseconds under a hypervisor.
#[inline]
fn answer() -> u8 {
    match ANSWER.load(Relaxed) {
        NOT_ASKED => {
            let answer = ask() as u8;
            ANSWER.store(answer, Relaxed);
            answer
        }
        answer => answer,
    }
}

#[cold]
fn ask() -> Latency {
    match amd_family() {
        Some(ZEN_4) => Latency::TwoToRotate,
        Some(ZEN_5) if can_run3() => Latency::Two,
        _ => Latency::One,
    }
}

fn can_run3() -> bool {
    cpu_has!("bmi1", "bmi2")
}

/// The family of an AMD CPU; `None` for other makers.
#[allow(unused_unsafe, reason = "`__cpuid` is unsafe to call up to Rust 1.92, and safe since")]
fn amd_family() -> Option<u32> {
    // SAFETY: every x86-64 has CPUID and its leaf 0 ...
    let vendor = unsafe { __cpuid(0) };
    let name = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes);
    (name.as_flattened() == b"AuthenticAMD").then(|| {
        // SAFETY: ... and leaf 1.
        let version = unsafe { __cpuid(1) }.eax;
        let (base, extended) = (version >> 8 & 0xf, version >> 20 & 0xff);
        // AMD64 Architecture Programmer's Manual volume 3, CPUID Fn0000_0001_EAX.
        if base == 0xf { base + extended } else { base }
    })
}

/// Runs a kernel in three scalar lanes; BMI has the instructions that leave their operands alone.
#[target_feature(enable = "bmi1,bmi2")]
pub(crate) fn run3<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<Pair<Pair<u32, u32>, u32>>()
}

/// Makes a module with a test that runs all tests of its binary again as on CPUs of other latencies, in processes of their
/// own. Each of these tests must begin with `other_latencies::pretend()`.
#[doc(hidden)]
#[macro_export]
macro_rules! test_other_latencies {
    () => {
        mod other_latencies {
            use std::env;
            use std::process::Command;

            use $crate::Latency;

            const VARIABLE: &str = "LANESUM_TEST_LATENCY";

            /// In the child of the test below: chooses as such a CPU would.
            pub fn pretend() {
                if let Ok(name) = env::var(VARIABLE) {
                    let is_named = |latency: &Latency| format!("{latency:?}") == name;
                    Latency::possible().find(is_named).expect("a latency").pretend();
                }
            }

            #[test]
            fn every_test_holds() {
                if env::var_os(VARIABLE).is_some() {
                    return;
                }
                for latency in Latency::possible() {
                    let mut tests = Command::new(env::current_exe().unwrap());
                    let ended = tests.env(VARIABLE, format!("{latency:?}")).status().unwrap();
                    assert!(ended.success(), "{latency:?}");
                }
            }
        }
    };
}
