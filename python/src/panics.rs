//! Handles expected panics. Arrow panics if buffers are missing. Our code panics if another thread
//! writes to offsets that were checked.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether a panic of this thread becomes an exception, and is not printed.
    static IS_EXPECTED: Cell<bool> = const { Cell::new(false) };
}

/// Returns the result of a function, or None if it panics. Prints nothing. The caller must not use
/// anything that the function was building.
pub(crate) fn unless_it_panics<T>(take: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    // Only this library has this hook. Other Rust libraries have their own.
    HOOK.call_once(|| {
        let hook = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !IS_EXPECTED.get() {
                hook(panic);
            }
        }));
    });
    let before = IS_EXPECTED.replace(true);
    let taken = panic::catch_unwind(AssertUnwindSafe(take)).ok();
    IS_EXPECTED.set(before);
    taken
}
