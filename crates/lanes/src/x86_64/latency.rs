//! What follows from AMD's Zen 5, where a vector operation takes two cycles and two start in each.
//!
//! Few streams are bound by that latency. A register of four lanes takes 4 dependent operations a
//! step of MD5, of one cycle each on most CPUs. Here, in cycles a step (measured on family 1Ah, model
//! 02h): a register of four 8.6, four interleaved scalar chains 7.4, which is as many registers as
//! there are, and three 5.3. So three streams at a time, and four in turns, are fastest in scalar
//! lanes; from eight lanes on the registers win everywhere.
//!
//! Many streams fill the cycles in which one chain waits. Two sets of 512 bits, enough for CPUs with a
//! latency of one, take 8.4 cycles a step here and leave half of the units idle; three take 9.8 and
//! four 10.9, which is 1.29 and 1.56 times as many lanes in the same time.

use core::arch::x86_64::__cpuid;
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

use crate::backend::cpu_has;
use crate::{Kernel, Pair};

/// AMD's family 1Ah: Zen 5.
const ZEN_5: u32 = 0x1a;

/// Whether vector operations take two cycles. True only of CPUs that can [`run3`].
#[inline]
pub(crate) fn vectors_take_two_cycles() -> bool {
    /// 0: not asked yet (CPUID takes microseconds under a hypervisor), 1: no, 2: yes.
    static ANSWER: AtomicU8 = AtomicU8::new(0);
    match ANSWER.load(Relaxed) {
        0 => {
            let answer = amd_family() == Some(ZEN_5) && cpu_has!("bmi1", "bmi2");
            ANSWER.store(1 + u8::from(answer), Relaxed);
            answer
        }
        answer => answer == 2,
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

/// Runs a kernel in three scalar lanes; BMI has the instructions that leave their operands alone.
#[target_feature(enable = "bmi1,bmi2")]
pub(crate) fn run3<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<Pair<Pair<u32, u32>, u32>>()
}
