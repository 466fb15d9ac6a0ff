//! The system clocks, and threads that sleep until an exact time on either of two clocks.
//!
//! One timer uses the wall clock, the other one the delay clock. The kernel keeps both as
//! high-resolution timers, without a tick and without the 50 us slack of timeouts of `poll` and
//! futexes. The wall-clock timer follows the clock when it is set. `TFD_TIMER_CANCEL_ON_SET` also
//! ends the sleep then, so that all deadlines are checked again. Both timers catch up after a
//! suspend.
//!
//! The threads wait in `epoll_wait`. Events are edge-triggered: an expiry wakes one thread, and
//! nothing has to be read. So an event costs two system calls.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::event::epoll;
use rustix::io::Errno;
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};

use crate::clock::DelayClock;
use crate::outcome::{Base, Times};

const SECOND: u64 = 1_000_000_000;

#[derive(Debug)]
pub(crate) struct TimerFds {
    wall: Timer,
    steady: Timer,
    /// The times that the timers are set to, so that they are not set again. `None` if a timer has
    /// expired.
    set_to: Mutex<[Option<u64>; 2]>,
    epoll: OwnedFd,
}

#[derive(Debug)]
struct Timer {
    fd: OwnedFd,
    clock: Source,
    flags: TimerfdTimerFlags,
}

impl TimerFds {
    pub(crate) fn new(delays: DelayClock) -> io::Result<Self> {
        let follow = TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET;
        Self::with(Timer::new(TimerfdClockId::Realtime, ClockId::Realtime, follow)?, delays)
    }

    fn with(wall: Timer, delays: DelayClock) -> io::Result<Self> {
        let (steady, clock) = match delays {
            DelayClock::Boot => (TimerfdClockId::Boottime, ClockId::Boottime),
            DelayClock::Monotonic => (TimerfdClockId::Monotonic, ClockId::Monotonic),
        };
        let steady = Timer::new(steady, clock, TimerfdTimerFlags::ABSTIME)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        for (timer, base) in [(&wall, Base::Wall), (&steady, Base::Steady)] {
            let data = epoll::EventData::new_u64(base as u64);
            epoll::add(&epoll, &timer.fd, data, epoll::EventFlags::IN | epoll::EventFlags::ET)?;
        }
        Ok(TimerFds { wall, steady, set_to: Mutex::default(), epoll })
    }

    pub(crate) fn now(&self) -> Times {
        Times { wall: self.wall.now(), steady: self.steady.now() }
    }

    pub(crate) fn steady(&self) -> u64 {
        self.steady.now()
    }

    fn set_to(&self) -> MutexGuard<'_, [Option<u64>; 2]> {
        self.set_to.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the timers to the alarm, which is read under a lock. So the last caller sets the latest
    /// alarm.
    pub(crate) fn set(&self, alarm: &dyn Fn() -> Times) {
        let mut set_to = self.set_to();
        let alarm = alarm();
        for (timer, base) in [(&self.wall, Base::Wall), (&self.steady, Base::Steady)] {
            let (set_to, to) = (&mut set_to[base as usize], alarm.on(base));
            if *set_to != Some(to) {
                // If the wall clock was set, the first attempt reports it, and the second one
                // follows the clock.
                let set = timer.set(to).or_else(|_| timer.set(to));
                *set_to = set.is_ok().then_some(to);
            }
        }
    }

    /// Sleeps until a timer expires or the wall clock is set.
    pub(crate) fn sleep(&self) {
        let mut events = [const { MaybeUninit::uninit() }; 2];
        // A signal causes an early return, which is allowed.
        let Ok((events, _)) = epoll::wait(&self.epoll, &mut events, None) else { return };
        let mut set_to = self.set_to();
        for event in events {
            set_to[event.data.u64() as usize] = None;
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
        Ok(Timer { fd, clock, flags })
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
        // All zeros would disarm the timer, as "never" does. A signed number of seconds can hold
        // every deadline.
        let to = if to == u64::MAX { 0 } else { to.max(1) };
        let value = Timespec { tv_sec: (to / SECOND) as i64, tv_nsec: (to % SECOND) as i64 };
        let none = Timespec { tv_sec: 0, tv_nsec: 0 };
        let spec = Itimerspec { it_interval: none, it_value: value };
        match &self.clock {
            Source::Kernel(_) => timerfd_settime(&self.fd, self.flags, &spec).map(|_| ()),
            #[cfg(test)]
            Source::Fake(clock) => clock.settime(&spec),
        }
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
    fn a_past_alarm_wakes_the_next_sleep_again_and_again() {
        let timers = TimerFds::new(DelayClock::Boot).unwrap();
        // Also the earliest possible times, and the same one twice.
        for alarm in [Times { steady: 0, ..NEVER }, Times { wall: 1, ..NEVER }] {
            for _ in 0..2 {
                timers.set(&|| alarm);
                timers.sleep();
            }
        }
    }
}
