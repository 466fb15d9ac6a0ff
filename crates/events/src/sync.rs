//! The primitives of the locking code, by one name each: the model test compiles that code against
//! others, which try out every order of events.

pub(crate) use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
pub(crate) use std::thread::yield_now;
