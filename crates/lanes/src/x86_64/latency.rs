//! How many cycles a vector operation takes: one, as on Intel's CPUs; one, but two for a rotation,
//! as on AMD's Zen 4; or two for each, as on AMD's Zen 5, where two start in each cycle.
//!
//! Few streams are bound by that latency. A step of MD5 in one register of AVX-512 is a chain of
//! ternary logic, sum, rotation and sum, in one lane as in four. Cycles for a step:
//!
//! | | one scalar chain | one register | one register with the shortest step |
//! |---|---|---|---|
//! | one cycle each (counted, not measured) | 4.5 | 4 | 4 |
//! | rotations two (Zen 4, family 19h, measured) | 4.53 | 5.6 | 4.03 |
//! | each two (Zen 5, family 1Ah, measured) | 4.52 | 8.6 | |
//!
//! So a register is the fastest from the first stream on, except on Zen 5, where up to four streams
//! are fastest in scalar lanes (four of them take 7.4 cycles for a step, three 5.3).
//!
//! Many streams fill the cycles in which one chain waits. Two sets of 512 bits, enough for CPUs
//! with a latency of one, take 8.4 cycles a step on Zen 5 and leave half of the units idle; four
//! take 10.9, which is 1.56 times as many lanes in the same time.

use core::arch::x86_64::__cpuid;
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

use crate::Backend;

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
    /// One, but for those of AVX-512 that rotate words of 32 bits.
    TwoToRotate,
    /// Two.
    Two,
}

/// That of this CPU as a number; 0 before it has been asked.
static ANSWER: AtomicU8 = AtomicU8::new(0);

impl Latency {
    /// All.
    pub const ALL: [Self; 3] = [Self::One, Self::TwoToRotate, Self::Two];

    /// Lets this process choose as a CPU of this latency would. For tests, since what is chosen on
    /// other CPUs would never run on this one. Backends that are there already stay as they are.
    pub fn pretend(self) {
        ANSWER.store(self as u8, Relaxed);
        Backend::forget_best();
    }

    /// Asks once: CPUID takes microseconds under a hypervisor.
    pub(crate) fn of_this_cpu() -> Self {
        let answer = ANSWER.load(Relaxed);
        Self::ALL.into_iter().find(|latency| *latency as u8 == answer).unwrap_or_else(|| {
            let latency = match amd_family() {
                Some(ZEN_4) => Self::TwoToRotate,
                Some(ZEN_5) => Self::Two,
                _ => Self::One,
            };
            ANSWER.store(latency as u8, Relaxed);
            latency
        })
    }
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
