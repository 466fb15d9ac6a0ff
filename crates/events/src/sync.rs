//! The synchronization primitives of the locking code. The model test compiles that code against
//! other primitives, which try every order of operations.

pub(crate) use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
