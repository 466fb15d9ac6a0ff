//! A settable wall clock for the code that waits for the kernel clock.
//!
//! No test may set the system clock, and a time namespace has no wall clock. So this module
//! imitates the kernel side of a timerfd for a whole running system: `gettime`, and `settime` with
//! `TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET` as in timerfd_create(2). The timer becomes
//! readable when it expires and when the clock is set. In the latter case the next `settime` fails
//! once.

use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, SystemTime};

use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::time::{Itimerspec, Timespec};

use super::{DelayClock, SECOND, Source, Timer, TimerFds, TimerfdTimerFlags};
use crate::clock::Clock;
use crate::state::{Core, Pace};
use crate::worker::Shared;
use crate::{Cancel, Context, EventSystem, nanos, unix_nanos};

#[derive(Debug)]
struct State {
    now: u64,
    /// `None` while disarmed.
    expires: Option<u64>,
    /// The clock was set, and the timer has not reported it yet.
    cancelled: bool,
    /// The number of times that the timer was set.
    settings: usize,
}

#[derive(Debug)]
pub(super) struct FakeClock {
    state: Mutex<State>,
    set: Condvar,
    /// The other end of the descriptor that the timer polls.
    ring: OwnedFd,
}

impl FakeClock {
    fn ring(&self) {
        rustix::io::write(&self.ring, &1_u64.to_ne_bytes()).unwrap();
    }

    pub(super) fn gettime(&self) -> Timespec {
        let now = self.state.lock().unwrap().now;
        Timespec { tv_sec: (now / SECOND) as i64, tv_nsec: (now % SECOND) as i64 }
    }

    pub(super) fn settime(&self, spec: &Itimerspec) -> Result<(), Errno> {
        let mut state = self.state.lock().unwrap();
        if std::mem::take(&mut state.cancelled) {
            return Err(Errno::CANCELED);
        }
        let at = spec.it_value.tv_sec as u64 * SECOND + spec.it_value.tv_nsec as u64;
        state.expires = (at > 0).then_some(at);
        state.settings += 1;
        if state.expires.is_some_and(|at| at <= state.now) {
            self.ring();
        }
        self.set.notify_all();
        Ok(())
    }

    /// Sets the clock, and waits until the system has read it and set its timer again.
    fn set_to(&self, now: u64) {
        let mut state = self.state.lock().unwrap();
        state.now = now;
        state.cancelled = true;
        let before = state.settings;
        self.ring();
        while state.settings == before {
            state = self.set.wait(state).unwrap();
        }
    }

    /// Lets the time pass until the timer expires.
    fn expire(&self) {
        let mut state = self.state.lock().unwrap();
        state.now = state.expires.take().expect("the timer is not set");
        self.ring();
    }

    /// Waits until the timer is armed for a time.
    fn await_timer(&self, at: u64) {
        let mut state = self.state.lock().unwrap();
        while state.expires != Some(at) {
            state = self.set.wait(state).unwrap();
        }
    }
}

fn system(now: u64, slack: Duration) -> (EventSystem, Arc<FakeClock>) {
    let fd = eventfd(0, EventfdFlags::NONBLOCK).unwrap();
    let ring = rustix::io::dup(&fd).unwrap();
    let state = State { now, expires: None, cancelled: false, settings: 0 };
    let clock = Arc::new(FakeClock { state: Mutex::new(state), set: Condvar::new(), ring });
    let flags = TimerfdTimerFlags::empty();
    let wall = Timer { fd, clock: Source::Fake(clock.clone()), flags };
    let timers = TimerFds::with(wall, DelayClock::Boot).unwrap();
    let pace = Pace { slack: nanos(slack), pause: 0, alone: true };
    let core = Core::new(0, 2, usize::MAX, pace);
    let shared = Shared::new(core, Clock::System(Arc::new(timers)), Box::new(|_| {}));
    (EventSystem::spawn(shared.unwrap(), 1).unwrap(), clock)
}

const DAY: Duration = Duration::from_secs(24 * 3600);
const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

#[test]
fn the_wall_clock_is_set_back_a_day_and_forward_a_year() {
    let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let (system, clock) = system(unix_nanos(start), Duration::ZERO);
    let (send, ran) = channel();
    let say = |text: &'static str| {
        let send = send.clone();
        move |_: &Context<'_>| send.send(text).unwrap()
    };
    let soon = start + Duration::from_secs(10);
    system.add_at(start + YEAR, say("in a year")).unwrap();
    system.add_at(soon, say("soon")).unwrap();
    let never = system.add_at(start + 2 * YEAR, say("never")).unwrap();
    clock.await_timer(unix_nanos(soon));

    // A day back: the system checks and sleeps again until the same time.
    clock.set_to(unix_nanos(start - DAY));
    clock.await_timer(unix_nanos(soon));
    assert_eq!((ran.try_recv().ok(), system.len()), (None, 3));
    // A delay is not affected.
    system.add_after(Duration::from_micros(1), say("delay")).unwrap();
    assert_eq!(ran.recv(), Ok("delay"));

    // A year forward: due events run at once, in order.
    clock.set_to(unix_nanos(start + YEAR));
    assert_eq!((ran.recv(), ran.recv()), (Ok("soon"), Ok("in a year")));
    clock.await_timer(unix_nanos(start + 2 * YEAR));
    assert_eq!(system.cancel(never), Cancel::Cancelled);
    assert_eq!(system.shared.ran.load(Ordering::Relaxed), 3);
}

/// One setting of the timer serves all events that are due within the slack, and none runs early.
#[test]
fn events_within_the_slack_share_a_wake_up() {
    let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let slack = Duration::from_millis(10);
    let (system, clock) = system(unix_nanos(start), slack);
    let (send, ran) = channel();
    let first = start + Duration::from_secs(1);
    for millis in [0, 4, 10, 11] {
        let send = send.clone();
        system
            .add_at(first + Duration::from_millis(millis), move |_| send.send(millis).unwrap())
            .unwrap();
    }
    clock.await_timer(unix_nanos(first + slack));
    let before = clock.state.lock().unwrap().settings;
    clock.expire();
    assert_eq!([(); 3].map(|()| ran.recv().unwrap()), [0, 4, 10]);
    clock.await_timer(unix_nanos(first + Duration::from_millis(11) + slack));
    assert_eq!(clock.state.lock().unwrap().settings, before + 1);
    assert!(ran.try_recv().is_err(), "an event ran before its time");
}
