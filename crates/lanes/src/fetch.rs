//! Prefetch hints. A hint is not an access, so the address may be invalid.

/// Bytes in a cache line.
pub(crate) const LINE: usize = 64;

/// Prefetches `bytes` into the second-level cache, for memory that is read soon but not at once.
///
/// Useful for inputs that are reordered before they are read: the CPU itself only predicts
/// sequential reads. Does nothing on CPUs other than x86-64.
///
/// ```
/// use lanesum_lanes::fetch;
///
/// let messages = ["long", "short", "of any length"];
/// messages.iter().for_each(|message| fetch(message.as_bytes()));
/// assert_eq!(messages.iter().map(|message| message.len()).max(), Some(13));
/// ```
#[inline(always)]
pub fn fetch(bytes: &[u8]) {
    let (start, length) = (bytes.as_ptr(), bytes.len());
    let mut place = 0;
    while place < length {
        fetch_line::<2>(start.wrapping_add(place));
        place += LINE;
    }
    if length > 0 {
        // The last byte may lie in a different line than the start of the last piece.
        fetch_line::<2>(start.wrapping_add(length - 1));
    }
}

/// Prefetches the cache line of an address into the first-level or second-level cache.
#[inline(always)]
pub(crate) fn fetch_line<const LEVEL: u8>(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2", not(miri)))]
    // SAFETY: the target has SSE, and a hint does not access memory.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        if LEVEL == 1 {
            _mm_prefetch::<_MM_HINT_T0>(address.cast());
        } else {
            _mm_prefetch::<_MM_HINT_T1>(address.cast());
        }
    }
    let _ = address;
}
