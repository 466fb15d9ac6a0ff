//! The clock of the system where this crate has no timers: it cannot be made.

use std::io::{Error, ErrorKind, Result};

use crate::clock::DelayClock;
use crate::outcome::Times;

#[derive(Debug)]
pub(crate) enum TimerFds {}

impl TimerFds {
    pub(crate) fn new(_: DelayClock) -> Result<Self> {
        let text =
            "an event system needs the timers of Linux: use Schedule, or a TestClock in tests";
        Err(Error::new(ErrorKind::Unsupported, text))
    }

    pub(crate) fn now(&self) -> Times {
        match *self {}
    }

    pub(crate) fn steady(&self) -> u64 {
        match *self {}
    }

    pub(crate) fn set(&self, _: &dyn Fn() -> Times) {
        match *self {}
    }

    pub(crate) fn sleep(&self) {
        match *self {}
    }
}
