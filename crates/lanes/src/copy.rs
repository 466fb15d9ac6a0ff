//! Copies bytes without a function in between.

/// Copies all bytes. `copy_from_slice` stays a call where a crate is compiled in parts without
/// link-time optimisation, and takes as long as the copy of a short message.
///
/// # Panics
/// Panics if the lengths differ.
#[inline(always)]
pub fn copy(from: &[u8], to: &mut [u8]) {
    assert!(from.len() == to.len(), "from and to the same number of bytes");
    // SAFETY: both slices have as many bytes, and an exclusive one overlaps no other.
    unsafe { core::ptr::copy_nonoverlapping(from.as_ptr(), to.as_mut_ptr(), to.len()) };
}
