//! Hides memory accesses from the optimiser.
//!
//! The optimiser would otherwise load adjacent numbers as one vector and extract them one by one,
//! or extract them from a vector that was just stored. Loading each number from memory is faster,
//! because a CPU has more units for loads than for moves out of vectors.

/// Returns the same slice, unknown to the optimiser.
#[inline(always)]
#[must_use]
pub(crate) fn opaque<T>(slice: &[T]) -> &[T] {
    // SAFETY: the address has come through unchanged.
    unsafe { core::slice::from_raw_parts(opaque_address(slice.as_ptr().cast_mut()), slice.len()) }
}

/// Returns the same address, unknown to the optimiser.
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
