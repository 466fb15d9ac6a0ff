//! The system clocks, and a sleep that ends at an exact time on either of two clocks.
//!
//! One timer uses the wall clock, the other one the delay clock. The kernel keeps both as
//! high-resolution timers, without a tick and without the 50 us slack of timeouts of `poll` and
//! futexes. The wall-clock timer follows the clock when it is set. `TFD_TIMER_CANCEL_ON_SET` also
//! ends the sleep then, so that all deadlines are checked again. Both timers catch up after a
//! suspend.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::Errno;
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};

use crate::clock::DelayClock;
use crate::outcome::Times;

const SECOND: u64 = 1_000_000_000;

#[derive(Debug)]
pub(crate) struct TimerFds {
    wall: Timer,
    steady: Timer,
    /// The number of calls of `wake` that no sleep has answered.
    woken: OwnedFd,
}

#[derive(Debug)]
struct Timer {
    fd: OwnedFd,
    clock: Source,
    flags: TimerfdTimerFlags,
    /// The time that the timer is set to, so that it is not set again, or `u64::MAX` for none.
    set_to: AtomicU64,
}

impl TimerFds {
    pub(crate) fn new(delays: DelayClock) -> io::Result<Self> {
        let (steady, clock) = match delays {
            DelayClock::Boot => (TimerfdClockId::Boottime, ClockId::Boottime),
            DelayClock::Monotonic => (TimerfdClockId::Monotonic, ClockId::Monotonic),
        };
        let absolute = TimerfdTimerFlags::ABSTIME;
        let follow = absolute | TimerfdTimerFlags::CANCEL_ON_SET;
        Ok(TimerFds {
            wall: Timer::new(TimerfdClockId::Realtime, ClockId::Realtime, follow)?,
            steady: Timer::new(steady, clock, absolute)?,
            woken: eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?,
        })
    }

    pub(crate) fn now(&self) -> Times {
        Times { wall: self.wall.now(), steady: self.steady.now() }
    }

    pub(crate) fn steady(&self) -> u64 {
        self.steady.now()
    }

    pub(crate) fn wake(&self) {
        // It can fail only if 2^64 - 2 calls are unanswered.
        let _ = rustix::io::write(&self.woken, &1_u64.to_ne_bytes());
    }

    /// Must be called by one thread at a time.
    pub(crate) fn sleep(&self, until: Times) {
        // If the clock was set, read it first.
        if self.wall.set(until.wall).is_err() || self.steady.set(until.steady).is_err() {
            return;
        }
        let mut fds =
            [&self.woken, &self.wall.fd, &self.steady.fd].map(|fd| PollFd::new(fd, PollFlags::IN));
        // A signal causes an early return, which is allowed.
        let _ = poll(&mut fds, None);
        let [woken, wall, steady] = fds.map(|fd| !fd.revents().is_empty());
        if woken {
            let _ = rustix::io::read(&self.woken, &mut [0_u8; 8]);
        }
        if wall {
            self.wall.fired();
        }
        if steady {
            self.steady.fired();
        }
    }
}

/// The clock of the timer.
#[derive(Debug)]
enum Source {
    Kernel(ClockId),
    #[cfg(test)]
    Fake(std::sync::Arc<fake::FakeClock>),
}

impl Timer {
    fn new(id: TimerfdClockId, clock: ClockId, flags: TimerfdTimerFlags) -> io::Result<Self> {
        let fd = timerfd_create(id, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        let clock = Source::Kernel(clock);
        Ok(Timer { fd, clock, flags, set_to: AtomicU64::new(u64::MAX) })
    }

    /// Returns the time in nanoseconds, or zero before 1970.
    fn now(&self) -> u64 {
        let now = match &self.clock {
            Source::Kernel(clock) => clock_gettime(*clock),
            #[cfg(test)]
            Source::Fake(clock) => clock.gettime(),
        };
        let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
        seconds.saturating_mul(SECOND).saturating_add(now.tv_nsec as u64)
    }

    fn set(&self, to: u64) -> Result<(), Errno> {
        if self.set_to.swap(to, Ordering::Relaxed) == to {
            return Ok(());
        }
        // All zeros would disarm the timer, as "never" does. A signed number of seconds can hold
        // every deadline.
        let to = if to == u64::MAX { 0 } else { to.max(1) };
        let value = Timespec { tv_sec: (to / SECOND) as i64, tv_nsec: (to % SECOND) as i64 };
        let none = Timespec { tv_sec: 0, tv_nsec: 0 };
        let spec = Itimerspec { it_interval: none, it_value: value };
        let set = match &self.clock {
            Source::Kernel(_) => timerfd_settime(&self.fd, self.flags, &spec).map(|_| ()),
            #[cfg(test)]
            Source::Fake(clock) => clock.settime(&spec),
        };
        if set.is_err() {
            self.set_to.store(u64::MAX, Ordering::Relaxed);
        }
        set
    }

    /// Reads an expiry, or that the clock was set (`ECANCELED`). In both cases the timer must be
    /// set again.
    fn fired(&self) {
        let _ = rustix::io::read(&self.fd, &mut [0_u8; 8]);
        self.set_to.store(u64::MAX, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod fake;

#[cfg(test)]
mod tests {
    use super::*;

    const NEVER: Times = Times { wall: u64::MAX, steady: u64::MAX };

    fn settings(timer: &Timer) -> String {
        use std::os::fd::AsRawFd;
        std::fs::read_to_string(format!("/proc/self/fdinfo/{}", timer.fd.as_raw_fd())).unwrap()
    }

    /// Checks the settings in `/proc`: absolute, cancelled when the clock is set, and on the right
    /// clock.
    #[test]
    fn timers_are_absolute_and_follow_the_right_clock() {
        let timers = TimerFds::new(DelayClock::Boot).unwrap();
        timers.wall.set(u64::MAX - 1).unwrap();
        timers.steady.set(u64::MAX - 1).unwrap();
        // CLOCK_REALTIME is 0 and CLOCK_BOOTTIME 7; absolute is 1 and cancel-on-set 2.
        for (timer, clock, flags) in [(&timers.wall, 0, 3), (&timers.steady, 7, 1)] {
            let text = settings(timer);
            assert!(text.contains(&format!("clockid: {clock}\n")), "{text}");
            assert!(text.contains(&format!("settime flags: 0{flags}\n")), "{text}");
        }
        let monotonic = TimerFds::new(DelayClock::Monotonic).unwrap();
        assert!(settings(&monotonic.steady).contains("clockid: 1\n"));
    }

    #[test]
    fn an_early_wake_counts_once() {
        let timers = TimerFds::new(DelayClock::Boot).unwrap();
        timers.wake();
        timers.wake();
        timers.sleep(NEVER);
        // A past deadline ends the sleep as well, even the earliest possible one.
        timers.sleep(Times { steady: 0, ..NEVER });
        timers.sleep(Times { wall: 1, ..NEVER });
    }
}
