//! Memory from the system, in whole pages.

#![expect(unsafe_code, reason = "system calls that change what memory there is")]

use std::io;
use std::ops::Range;
use std::ptr::{self, NonNull};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Returns the page size in bytes: 4 KiB on x86-64, up to 64 KiB on other machines.
pub(super) fn page_size() -> usize {
    rustix::param::page_size()
}

/// An owned range of addresses, unmapped on drop.
pub(super) struct Region {
    start: NonNull<u8>,
    length: usize,
}

impl Region {
    /// Maps zeroed memory that starts at a page. Untouched pages take no memory.
    pub(super) fn zeros(length: usize) -> io::Result<Self> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: the kernel chooses the address, so no existing memory is replaced.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), length, access, flags)? };
        let start = NonNull::new(start.cast()).expect("nothing is mapped at address 0");
        Ok(Self { start, length })
    }

    /// Returns the address of a byte.
    pub(super) fn at(&self, offset: usize) -> *mut u8 {
        assert!(offset <= self.length, "{offset} is beyond {}", self.length);
        self.start.as_ptr().wrapping_add(offset)
    }

    /// Returns bytes of the region.
    ///
    /// # Safety
    /// The bytes must be readable and initialized. Neither this process nor the kernel on its
    /// behalf may write to them while the slice is in use.
    #[inline]
    pub(super) unsafe fn bytes(&self, range: Range<usize>) -> &[u8] {
        assert!(range.start <= range.end && range.end <= self.length, "{range:?}");
        // SAFETY: the range is within the region, which lives as long as the slice. The caller
        // guarantees the rest.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().add(range.start), range.len()) }
    }

    /// Returns bytes of the region for writing.
    ///
    /// # Safety
    /// The bytes must be writable, and no other code may use them while the slice is in use.
    #[expect(clippy::mut_from_ref, reason = "who uses which bytes is for the caller to know")]
    pub(super) unsafe fn bytes_mut(&self, range: Range<usize>) -> &mut [u8] {
        assert!(range.start <= range.end && range.end <= self.length, "{range:?}");
        // SAFETY: as in `bytes`.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().add(range.start), range.len()) }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the region owns the addresses, and no slice of them outlives it. It fails only
        // for invalid addresses.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_starts_zeroed_and_keeps_writes() {
        let page = page_size();
        let region = Region::zeros(3 * page).unwrap();
        // SAFETY: only this test has the region, and each slice ends before the next begins.
        unsafe {
            assert_eq!(region.bytes(0..3 * page), vec![0; 3 * page]);
            region.bytes_mut(page..page + 3).copy_from_slice(b"abc");
            assert_eq!(region.bytes(page - 1..page + 4), b"\0abc\0");
        }
        assert_eq!(region.at(page).addr() % page, 0);
    }

    #[test]
    #[should_panic(expected = "100..102")]
    fn access_past_the_region_panics() {
        let region = Region::zeros(101).unwrap();
        // SAFETY: only this test has it.
        unsafe { region.bytes(100..102) };
    }
}
