//! How many cycles a vector operation takes:
//!
//! - one, as on Intel CPUs;
//! - one, but two for a rotation, as on AMD Zen 4;
//! - two, as on AMD Zen 5, where two operations start in each cycle.
//!
//! This latency limits the speed of few streams. A step of MD5 in one register of AVX-512 is a
//! chain of ternary logic, sum, rotation and sum, in one lane as in four. Cycles for a step:
//!
//! | | one scalar chain | one register | one register with the shortest step |
//! |---|---|---|---|
//! | one cycle each (counted, not measured) | 4.5 | 4 | 4 |
//! | rotations two (Zen 4, family 19h, measured) | 4.53 | 5.6 | 4.03 |
//! | each two (Zen 5, family 1Ah, measured) | 4.52 | 8.6 | |
//!
//! So one register is fastest even for a single stream. The exception is Zen 5, where up to four
//! streams are fastest in scalar lanes (5.3 cycles per step for three, 7.4 for four).
//!
//! Many streams fill the cycles in which one chain waits. Two sets of 512 bits are enough for CPUs
//! with a latency of one. On Zen 5 they take 8.4 cycles per step and leave half of the units idle.
//! Four sets take 10.9 cycles there, so they hash 56 % more lanes in the same time.

use core::arch::x86_64::__cpuid;
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

use crate::Backend;

/// AMD's family 19h: Zen 3, which has no AVX-512, and Zen 4.
const ZEN_4: u32 = 0x19;
/// AMD's family 1Ah: Zen 5.
const ZEN_5: u32 = 0x1a;

/// The number of cycles of a vector operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Latency {
    /// One cycle.
    One = 1,
    /// One cycle, but two for rotations of 32-bit words in AVX-512.
    TwoToRotate,
    /// Two cycles.
    Two,
}

/// The latency of this CPU as a number, or 0 before it was detected.
static ANSWER: AtomicU8 = AtomicU8::new(0);

impl Latency {
    /// All latencies.
    pub const ALL: [Self; 3] = [Self::One, Self::TwoToRotate, Self::Two];

    /// Makes this process choose backends as on a CPU of this latency. For tests, which would
    /// otherwise never run the choices for other CPUs. Existing [`Backend`](crate::Backend) values
    /// do not change.
    pub fn pretend(self) {
        ANSWER.store(self as u8, Relaxed);
        Backend::forget_best();
    }

    /// Asks the CPU only once, because CPUID takes microseconds under a hypervisor.
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

/// Returns whether the CPU is one of AMD's.
pub(crate) fn is_amd() -> bool {
    amd_family().is_some()
}

/// Returns the family of an AMD CPU, or `None` for other vendors.
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
