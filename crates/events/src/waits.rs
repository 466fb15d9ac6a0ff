//! Which action waits for which to end, so that none waits for itself by way of others.

use crate::lock::lock;
use crate::outcome::ActionId;
use crate::sync::Mutex;

/// Pairs: the first waits for the second. Each is in one thread, and so waits for one at most; and
/// `begin` lets no circle come about. So a way along the pairs has an end.
pub(crate) struct Waits(Mutex<Vec<(ActionId, ActionId)>>);

impl Waits {
    pub(crate) fn new() -> Self {
        Waits(Mutex::new(Vec::new()))
    }

    /// `waiter` is going to wait for `target`. False if that would close a circle.
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

    /// `waiter` waits no more.
    pub(crate) fn end(&self, waiter: ActionId) {
        lock(&self.0).retain(|wait| wait.0 != waiter);
    }
}
