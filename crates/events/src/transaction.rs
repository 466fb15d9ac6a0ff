//! Several changes at once: a buffer that is committed under all locks, or dropped.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::time::{Duration, SystemTime};

use crate::job::Action;
use crate::outcome::{ActionId, AddError, Base, Change, Refused};
use crate::worker::shard_hint;
use crate::{EventSystem, unix_nanos};

/// Why a transaction had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransactionError<E> {
    /// What the closure returned.
    Failed(E),
    /// An event that was to be cancelled or moved has begun since. The transaction can be tried
    /// again without it.
    Conflict(ActionId),
    /// The closure of one transaction has begun another.
    Nested,
    /// The system has been shut down.
    Closed,
}

impl<E: fmt::Display> fmt::Display for TransactionError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TransactionError::Failed(error) => error.fmt(f),
            TransactionError::Conflict(_) => f.write_str(
                "an event that was to be cancelled or moved has begun: try again without it",
            ),
            TransactionError::Nested => f.write_str(
                "a transaction cannot begin within another: make its changes in the outer one",
            ),
            TransactionError::Closed => {
                f.write_str("the event system has been shut down: start another one")
            }
        }
    }
}

impl<E: std::error::Error> std::error::Error for TransactionError<E> {}

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// The changes of one transaction: see [`EventSystem::transaction`].
pub struct Transaction<'a> {
    system: &'a EventSystem,
    /// At most one of each event.
    changes: Vec<Change>,
    /// Where in `changes` an event is.
    places: HashMap<ActionId, usize>,
    committed: bool,
}

impl fmt::Debug for Transaction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transaction").field("changes", &self.changes.len()).finish_non_exhaustive()
    }
}

impl<'a> Transaction<'a> {
    pub(crate) fn run<R, E>(
        system: &'a EventSystem,
        changes: impl FnOnce(&mut Self) -> Result<R, E>,
    ) -> Result<R, TransactionError<E>> {
        if INSIDE.replace(true) {
            return Err(TransactionError::Nested);
        }
        // Dropped on every way out, also when the closure panics.
        let mut transaction =
            Transaction { system, changes: Vec::new(), places: HashMap::new(), committed: false };
        let result = changes(&mut transaction).map_err(TransactionError::Failed)?;
        let wake =
            system.shared.core.commit(&transaction.changes).map_err(|refused| match refused {
                Refused::Closed => TransactionError::Closed,
                Refused::Conflict(id) => TransactionError::Conflict(id),
            })?;
        transaction.committed = true;
        system.shared.notify(wake);
        Ok(result)
    }

    /// As [`EventSystem::add_at`]. The id is valid after the commit.
    ///
    /// # Errors
    /// [`AddError::Full`] or [`AddError::Closed`]; the action is dropped.
    pub fn add_at(
        &mut self,
        at: SystemTime,
        action: impl FnOnce() + Send + 'static,
    ) -> Result<ActionId, AddError> {
        self.add(Base::Wall, unix_nanos(at), Box::new(action))
    }

    /// As [`EventSystem::add_after`]; the delay counts from now, not from the commit.
    ///
    /// # Errors
    /// [`AddError::Full`] or [`AddError::Closed`]; the action is dropped.
    pub fn add_after(
        &mut self,
        delay: Duration,
        action: impl FnOnce() + Send + 'static,
    ) -> Result<ActionId, AddError> {
        self.add(Base::Steady, self.system.in_nanos(delay), Box::new(action))
    }

    fn add(
        &mut self,
        base: Base,
        deadline: u64,
        action: Box<dyn FnOnce() + Send>,
    ) -> Result<ActionId, AddError> {
        let core = &self.system.shared.core;
        let (id, _) = core.add(shard_hint(), base, None, Action::Once(action), None)?;
        self.push(id, Change::Arm(id, deadline));
        Ok(id)
    }

    /// Cancels an event, or one that this transaction has added. False, and without effect, if it
    /// is not pending; if it begins between now and the commit, the transaction fails.
    pub fn cancel(&mut self, id: ActionId) -> bool {
        let Some(&place) = self.places.get(&id) else {
            let pending = self.system.is_pending(id);
            if pending {
                self.push(id, Change::Cancel(id));
            }
            return pending;
        };
        match self.changes[place] {
            Change::Arm(..) => {
                self.changes[place] = Change::None;
                self.system.shared.core.forget(id);
                true
            }
            Change::Reschedule(..) => {
                self.changes[place] = Change::Cancel(id);
                true
            }
            Change::Cancel(_) | Change::None => false,
        }
    }

    /// As [`EventSystem::reschedule_at`], for an event or one that this transaction has added.
    pub fn reschedule_at(&mut self, id: ActionId, at: SystemTime) -> bool {
        id.is_on(Base::Wall) && self.reschedule(id, unix_nanos(at))
    }

    /// As [`EventSystem::reschedule_after`], for an event or one that this transaction has added.
    pub fn reschedule_after(&mut self, id: ActionId, delay: Duration) -> bool {
        id.is_on(Base::Steady) && self.reschedule(id, self.system.in_nanos(delay))
    }

    fn reschedule(&mut self, id: ActionId, deadline: u64) -> bool {
        let Some(&place) = self.places.get(&id) else {
            let pending = self.system.is_pending(id);
            if pending {
                self.push(id, Change::Reschedule(id, deadline));
            }
            return pending;
        };
        match &mut self.changes[place] {
            Change::Arm(_, at) | Change::Reschedule(_, at) => {
                *at = deadline;
                true
            }
            Change::Cancel(_) | Change::None => false,
        }
    }

    fn push(&mut self, id: ActionId, change: Change) {
        self.places.insert(id, self.changes.len());
        self.changes.push(change);
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        INSIDE.set(false);
        if !self.committed {
            for change in &self.changes {
                if let Change::Arm(id, _) = change {
                    self.system.shared.core.forget(*id);
                }
            }
        }
    }
}
