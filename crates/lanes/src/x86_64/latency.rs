//! Which form of four lanes is the faster one on this CPU.
//!
//! Four streams are bound by latency. One register of four lanes takes 4 dependent operations a
//! step of MD5, of one cycle each on most CPUs. On AMD's Zen 5 a vector operation takes two; there
//! four interleaved scalar chains need 7.3 cycles a step where the register needs 8.5 (measured on
//! family 1Ah model 02h: 1.83 and 2.14 cycles per byte). With eight lanes and more the registers
//! win everywhere.

use core::arch::x86_64::__cpuid;
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// AMD's family 1Ah: Zen 5.
const ZEN_5: u32 = 0x1a;

/// Whether four scalar lanes are faster than a register of four.
#[inline]
pub(crate) fn scalar_beats_four_lanes() -> bool {
    /// 0: not asked yet (CPUID takes microseconds under a hypervisor), 1: no, 2: yes.
    static ANSWER: AtomicU8 = AtomicU8::new(0);
    match ANSWER.load(Relaxed) {
        0 => {
            let answer = amd_family() == Some(ZEN_5);
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
