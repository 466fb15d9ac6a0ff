//! Panics that are expected: Arrow panics where buffers are missing, and bounds do not hold where
//! somebody writes meanwhile.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether a panic of this thread becomes an exception, which says all that there is to say.
    static IS_EXPECTED: Cell<bool> = const { Cell::new(false) };
}

/// What a function gives; none where it panics, of which nothing is printed. Nothing of what was
/// being made is used after that.
pub(crate) fn unless_it_panics<T>(take: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    // That of this library, which has its own.
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
