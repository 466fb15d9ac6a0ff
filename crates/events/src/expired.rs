//! The queue of the ids of due events, between the scheduler and the workers.

use std::collections::VecDeque;

use crate::lock::{lock, wait};
use crate::outcome::{ActionId, Wake};
use crate::sync::{Condvar, Mutex, yield_now};

struct State {
    queue: VecDeque<ActionId>,
    /// The number of claimed events that have not ended: in the queue, or with a worker.
    in_flight: usize,
    /// Whether to wake the scheduler when no event is in flight.
    draining: bool,
    /// Whether workers must stop waiting.
    stop: bool,
    /// The number of threads that wait for `filled` and for `idle`. A notification costs a system
    /// call even if no thread waits.
    workers: usize,
    onlookers: usize,
}

impl State {
    /// Returns whether the queue is empty and may still be filled.
    fn is_dry(&self) -> bool {
        self.queue.is_empty() && !self.stop
    }
}

pub(crate) struct Expired {
    state: Mutex<State>,
    /// Notified when the queue is filled, or when workers must stop.
    filled: Condvar,
    /// Notified when `in_flight` becomes zero.
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

    /// Queues events in order.
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

    /// Returns the next event. If it may wait, `None` means that there are no further events.
    ///
    /// Yields to other threads once before it waits. With frequent events and few CPUs the next
    /// event is often queued by then, and no thread must be woken.
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

    /// Ends an event that was taken from the queue.
    pub(crate) fn settle(&self) -> Wake {
        let mut state = lock(&self.state);
        state.in_flight -= 1;
        let quiet = state.in_flight == 0;
        if quiet && state.onlookers > 0 {
            self.idle.notify_all();
        }
        Wake(quiet && state.draining)
    }

    /// Requests that the scheduler is woken when no event is in flight.
    pub(crate) fn drain(&self) {
        lock(&self.state).draining = true;
    }

    /// Makes workers stop waiting.
    pub(crate) fn stop(&self) {
        lock(&self.state).stop = true;
        self.filled.notify_all();
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
