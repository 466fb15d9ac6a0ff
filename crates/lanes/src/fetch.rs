//! Hints that memory will be read soon. A hint is no access: there may be no memory.

/// Bytes in a line of the caches.
pub(crate) const LINE: usize = 64;

/// Hints at the line of an address, for the first-level cache.
#[inline(always)]
pub(crate) fn fetch_near(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: SSE is part of x86-64, and a hint does not access memory.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = address;
}

/// The same for the second level.
#[inline(always)]
#[cfg(target_arch = "x86_64")]
pub(crate) fn fetch_far(address: *const u8) {
    // SAFETY: SSE is part of x86-64, and a hint does not access memory.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T1>(address.cast());
    }
}
