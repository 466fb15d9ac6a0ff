//! The queue of the ids of due events, which any thread of the system may run.

use std::collections::VecDeque;

use crate::lock::{lock, wait};
use crate::outcome::ActionId;
use crate::sync::{Condvar, Mutex};

struct State {
    queue: VecDeque<ActionId>,
    /// The number of claimed events that have not ended: in the queue, or with a thread.
    in_flight: usize,
    /// The number of threads that wait for `idle`. A notification costs a system call even if no
    /// thread waits.
    onlookers: usize,
}

pub(crate) struct Expired {
    state: Mutex<State>,
    /// Notified when `in_flight` becomes zero.
    idle: Condvar,
}

impl Expired {
    pub(crate) fn new() -> Self {
        let state = State { queue: VecDeque::new(), in_flight: 0, onlookers: 0 };
        Expired { state: Mutex::new(state), idle: Condvar::new() }
    }

    /// Queues events in order. Returns the number of events in the queue.
    pub(crate) fn push(&self, claimed: &[ActionId]) -> usize {
        let mut state = lock(&self.state);
        state.in_flight += claimed.len();
        state.queue.extend(claimed);
        state.queue.len()
    }

    /// Returns the next event.
    pub(crate) fn take(&self) -> Option<ActionId> {
        lock(&self.state).queue.pop_front()
    }

    /// Ends an event that was taken from the queue.
    pub(crate) fn settle(&self) {
        let mut state = lock(&self.state);
        state.in_flight -= 1;
        if state.in_flight == 0 && state.onlookers > 0 {
            self.idle.notify_all();
        }
    }

    /// Returns whether any claimed event has not ended.
    pub(crate) fn is_busy(&self) -> bool {
        lock(&self.state).in_flight > 0
    }

    /// Waits until no event is in flight.
    pub(crate) fn wait_idle(&self) {
        let mut state = lock(&self.state);
        state.onlookers += 1;
        while state.in_flight > 0 {
            state = wait(&self.idle, state);
        }
        state.onlookers -= 1;
    }
}
