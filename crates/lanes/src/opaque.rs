//! Memory of which the optimiser does not know what has been read from it or written to it before.
//!
//! It would otherwise load what lies side by side in one vector and then extract the numbers one by
//! one, or extract them from a vector that has just been stored. Loading each from memory costs
//! less: there are more units for loads than for moves out of vectors.

/// The same slice.
#[inline(always)]
#[must_use]
pub(crate) fn opaque<T>(slice: &[T]) -> &[T] {
    // SAFETY: the address has come through unchanged.
    unsafe { core::slice::from_raw_parts(opaque_address(slice.as_ptr().cast_mut()), slice.len()) }
}

/// The same address.
#[inline(always)]
fn opaque_address<T>(address: *mut T) -> *mut T {
    #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
    {
        let mut address = address;
        // SAFETY: no instruction, so nothing that could be violated.
        unsafe {
            core::arch::asm!("/* {0} */", inout(reg) address, options(nostack, preserves_flags));
        }
        address
    }
    #[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
    address
}
