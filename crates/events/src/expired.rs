//! The queue between the scheduler and the workers: the ids of events whose time has come.

use std::collections::VecDeque;

use crate::lock::{lock, wait};
use crate::outcome::{ActionId, Wake};
use crate::sync::{Condvar, Mutex, yield_now};

struct State {
    queue: VecDeque<ActionId>,
    /// Claimed and not ended: in the queue, or in the hands of a worker.
    in_flight: usize,
    /// The scheduler wants to know when nothing is in flight.
    draining: bool,
    /// No worker shall wait any more.
    stop: bool,
    /// Threads that wait for `filled`, and for `idle`. To notify costs a system call, also where
    /// no thread waits.
    workers: usize,
    onlookers: usize,
}

impl State {
    /// Whether there is nothing to take, and something may come.
    fn is_dry(&self) -> bool {
        self.queue.is_empty() && !self.stop
    }
}

pub(crate) struct Expired {
    state: Mutex<State>,
    /// The queue has got something, or workers shall stop.
    filled: Condvar,
    /// `in_flight` has become zero.
    idle: Condvar,
}

impl Expired {
    pub(crate) fn new() -> Self {
        let state = State {
            queue: VecDeque::new(),
            in_flight: 0,
            draining: false,
            stop: false,
            workers: 0,
            onlookers: 0,
        };
        Expired { state: Mutex::new(state), filled: Condvar::new(), idle: Condvar::new() }
    }

    /// Queues events, in this order.
    pub(crate) fn push(&self, claimed: &[ActionId]) {
        let mut state = lock(&self.state);
        state.in_flight += claimed.len();
        state.queue.extend(claimed);
        let wanted = claimed.len().min(state.workers);
        drop(state);
        match wanted {
            0 => {}
            1 => self.filled.notify_one(),
            _ => self.filled.notify_all(),
        }
    }

    /// The next event. Waits for one if it may; then `None` means that none will come.
    ///
    /// Before it waits it lets other threads run once: where events come one after the other and
    /// CPUs are few, the next one is often there by then, and no thread has to be woken for it.
    pub(crate) fn take(&self, may_wait: bool) -> Option<ActionId> {
        let mut state = lock(&self.state);
        if may_wait && state.is_dry() {
            drop(state);
            yield_now();
            state = lock(&self.state);
        }
        while may_wait && state.is_dry() {
            state.workers += 1;
            state = wait(&self.filled, state);
            state.workers -= 1;
        }
        state.queue.pop_front()
    }

    /// An event that was taken from the queue is done with.
    pub(crate) fn settle(&self) -> Wake {
        let mut state = lock(&self.state);
        state.in_flight -= 1;
        let quiet = state.in_flight == 0;
        if quiet && state.onlookers > 0 {
            self.idle.notify_all();
        }
        Wake(quiet && state.draining)
    }

    /// From now on the scheduler is to be woken when nothing is in flight.
    pub(crate) fn drain(&self) {
        lock(&self.state).draining = true;
    }

    /// Workers shall not wait any more.
    pub(crate) fn stop(&self) {
        lock(&self.state).stop = true;
        self.filled.notify_all();
    }

    /// Whether anything is claimed and has not ended.
    pub(crate) fn is_busy(&self) -> bool {
        lock(&self.state).in_flight > 0
    }

    /// Waits until nothing is in flight.
    pub(crate) fn wait_idle(&self) {
        let mut state = lock(&self.state);
        state.onlookers += 1;
        while state.in_flight > 0 {
            state = wait(&self.idle, state);
        }
        state.onlookers -= 1;
    }
}
