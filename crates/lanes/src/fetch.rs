//! Hints that memory will be read soon. A hint is no access: there may be no memory.

/// Bytes in a line of the caches.
pub(crate) const LINE: usize = 64;

/// Hints that all of this will be read soon, but not at once: into the second-level cache.
///
/// For what is put in order before it is read, since the CPU sees only those reads coming that go
/// on where others were. On CPUs other than x86-64 nothing happens.
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
    // The last line may be another one than that in which the last piece begins.
    let lines = bytes.chunks(LINE).map(<[u8]>::as_ptr).chain(bytes.last().map(core::ptr::from_ref));
    lines.for_each(fetch_line::<2>);
}

/// Hints at the line of an address, for the cache of a level, the first or the second.
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
