//! Notices that the process was forked, without a system call each time one asks.
//!
//! This has nothing to do with lanes. It is here because it needs `unsafe`, and the crates that
//! draw random keys may have none.

use core::sync::atomic::{AtomicUsize, Ordering};

/// The number of forks from the first call of [`forks`] to this process.
static FORKS: AtomicUsize = AtomicUsize::new(0);

/// Returns a number that is different in a process and in its forked child.
///
/// A secret that must not be used by both can be stored with this number, and drawn again when the
/// number has changed. A child made by `vfork` or by a bare `clone` system call, without the C
/// library's `fork`, keeps the number of its parent. Systems other than Unix do not fork.
///
/// ```
/// assert_eq!(lanesum_lanes::forks(), lanesum_lanes::forks()); // the same process
/// ```
///
/// # Panics
/// Panics if the system has no memory to register the handler of forks.
#[inline]
#[must_use]
pub fn forks() -> usize {
    #[cfg(unix)]
    handler::register();
    FORKS.load(Ordering::Relaxed)
}

#[cfg(unix)]
mod handler {
    use core::ffi::c_int;
    use core::sync::atomic::Ordering;
    use std::sync::Once;

    use super::FORKS;

    type Handler = Option<unsafe extern "C" fn()>;

    unsafe extern "C" {
        /// POSIX.1-2024. Returns 0 or an error number.
        fn pthread_atfork(prepare: Handler, parent: Handler, child: Handler) -> c_int;
    }

    static REGISTERED: Once = Once::new();

    #[inline]
    pub fn register() {
        REGISTERED.call_once(|| {
            // SAFETY: the handler runs in the child before `fork` returns. It only changes an
            // atomic number, which is safe in a signal handler, and it cannot unwind.
            let error = unsafe { pthread_atfork(None, None, Some(count)) };
            assert!(error == 0, "no memory to register a handler of forks");
        });
    }

    unsafe extern "C" fn count() {
        FORKS.fetch_add(1, Ordering::Relaxed);
    }
}
