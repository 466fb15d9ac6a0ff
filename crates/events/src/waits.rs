//! A graph of waiting actions, so that no action waits for itself through others.

use crate::lock::lock;
use crate::outcome::ActionId;
use crate::sync::Mutex;

/// Pairs, of which the first waits for the second. Each action runs in one thread and so waits for
/// at most one other. `begin` prevents cycles, so every path along the pairs ends.
pub(crate) struct Waits(Mutex<Vec<(ActionId, ActionId)>>);

impl Waits {
    pub(crate) fn new() -> Self {
        Waits(Mutex::new(Vec::new()))
    }

    /// Notes that `waiter` is going to wait for `target`. Returns false if that would close a
    /// cycle.
    pub(crate) fn begin(&self, waiter: ActionId, target: ActionId) -> bool {
        let mut waits = lock(&self.0);
        let mut at = target;
        while at != waiter {
            match waits.iter().find(|wait| wait.0 == at) {
                Some(wait) => at = wait.1,
                None => {
                    waits.push((waiter, target));
                    return true;
                }
            }
        }
        false
    }

    /// Notes that `waiter` has stopped waiting.
    pub(crate) fn end(&self, waiter: ActionId) {
        lock(&self.0).retain(|wait| wait.0 != waiter);
    }
}
