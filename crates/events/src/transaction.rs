//! Transactions: buffers of changes that are committed under all locks, or dropped.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::time::{Duration, SystemTime};

use crate::job::{Action, Repeat, Repeated};
use crate::outcome::{ActionId, AddError, Base, Change, Refused};
use crate::settings::Every;
use crate::worker::shard_hint;
use crate::{Context, Handle, unix_nanos};

/// The reason why a transaction had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransactionError {
    /// An event to cancel or move has begun in the meantime. The transaction can be repeated
    /// without it.
    Conflict(ActionId),
    /// The closure of a transaction has started another transaction, of the same or another system.
    Nested,
    /// An addition was refused. [`AddError::Closed`] and [`AddError::Forked`] also occur without an
    /// addition.
    Refused(AddError),
}

impl From<AddError> for TransactionError {
    fn from(error: AddError) -> Self {
        TransactionError::Refused(error)
    }
}

impl fmt::Display for TransactionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TransactionError::Conflict(_) => f.write_str(
                "an event that was to be cancelled or moved has begun: try again without it",
            ),
            TransactionError::Nested => f.write_str(
                "a transaction cannot begin within another: make its changes in the outer one",
            ),
            TransactionError::Refused(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TransactionError {}

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// The changes of a transaction. Made by [`Handle::transaction`].
pub struct Transaction<'a> {
    system: &'a Handle,
    /// At most one change of each event.
    changes: Vec<Change>,
    /// The positions of events in `changes`.
    places: HashMap<ActionId, usize>,
    committed: bool,
}

impl fmt::Debug for Transaction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transaction").field("changes", &self.changes.len()).finish_non_exhaustive()
    }
}

impl<'a> Transaction<'a> {
    pub(crate) fn run<R, E: From<TransactionError>>(
        system: &'a Handle,
        changes: impl FnOnce(&mut Self) -> Result<R, E>,
    ) -> Result<R, E> {
        if INSIDE.replace(true) {
            return Err(TransactionError::Nested.into());
        }
        // Dropped at every exit, also if the closure panics.
        let mut transaction =
            Transaction { system, changes: Vec::new(), places: HashMap::new(), committed: false };
        let result = changes(&mut transaction)?;
        let core = system.core().ok_or(TransactionError::Refused(AddError::Forked))?;
        let (wake, taken) = core.commit(&transaction.changes).map_err(|refused| match refused {
            Refused::Closed => TransactionError::Refused(AddError::Closed),
            Refused::Conflict(id) => TransactionError::Conflict(id),
        })?;
        transaction.committed = true;
        drop(transaction);
        system.notify(wake);
        system.discard_all(taken);
        Ok(result)
    }

    /// Adds an event as [`Handle::add_at`] does. The id is valid after the commit.
    ///
    /// # Errors
    /// Fails with [`AddError::Full`], [`AddError::Closed`] or [`AddError::Forked`], and drops the
    /// action.
    pub fn add_at(
        &mut self,
        at: SystemTime,
        action: impl FnOnce(&Context<'_>) + Send + 'static,
    ) -> Result<ActionId, AddError> {
        self.add(Base::Wall, unix_nanos(at), Action::Once(Box::new(action)), None)
    }

    /// Adds an event as [`Handle::add_after`] does. The delay counts from now, not from the commit.
    ///
    /// # Errors
    /// Fails with [`AddError::Full`], [`AddError::Closed`] or [`AddError::Forked`], and drops the
    /// action.
    pub fn add_after(
        &mut self,
        delay: Duration,
        action: impl FnOnce(&Context<'_>) + Send + 'static,
    ) -> Result<ActionId, AddError> {
        let at = self.system.in_nanos(delay);
        self.add(Base::Steady, at, Action::Once(Box::new(action)), None)
    }

    /// Adds a repetition as [`Handle::repeat_at`] does. The id is valid after the commit.
    ///
    /// # Errors
    /// Fails with [`AddError::NoInterval`], [`AddError::Full`], [`AddError::Closed`] or
    /// [`AddError::Forked`].
    pub fn repeat_at(
        &mut self,
        first: SystemTime,
        every: Every,
        action: impl FnMut(&Context<'_>) + Send + 'static,
    ) -> Result<ActionId, AddError> {
        self.repeat(Base::Wall, unix_nanos(first), every, Box::new(action))
    }

    /// Adds a repetition as [`Handle::repeat_after`] does. The delay counts from now, not from the
    /// commit.
    ///
    /// # Errors
    /// Fails with [`AddError::NoInterval`], [`AddError::Full`], [`AddError::Closed`] or
    /// [`AddError::Forked`].
    pub fn repeat_after(
        &mut self,
        first: Duration,
        every: Every,
        action: impl FnMut(&Context<'_>) + Send + 'static,
    ) -> Result<ActionId, AddError> {
        self.repeat(Base::Steady, self.system.in_nanos(first), every, Box::new(action))
    }

    fn repeat(
        &mut self,
        base: Base,
        first: u64,
        every: Every,
        action: Repeated,
    ) -> Result<ActionId, AddError> {
        // The jitter is added at the commit.
        self.add(base, first, Action::Repeated(action), Some(every.starting(first)?))
    }

    fn add(
        &mut self,
        base: Base,
        time: u64,
        action: Action,
        repeat: Option<Box<Repeat>>,
    ) -> Result<ActionId, AddError> {
        let core = self.system.core().ok_or(AddError::Forked)?;
        let (id, _) = core.add(shard_hint(), base, None, action, repeat)?;
        self.push(id, Change::Arm(id, time));
        Ok(id)
    }

    /// Cancels an addition and drops its action.
    fn forget(&self, id: ActionId) {
        let job = self.system.core().and_then(|core| core.forget(id));
        self.system.discard(id, job);
    }

    /// Cancels an event, which this transaction may have added. Returns false without effect if the
    /// event is not pending. If the event begins between now and the commit, the transaction fails.
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
                self.forget(id);
                true
            }
            Change::Reschedule(..) => {
                self.changes[place] = Change::Cancel(id);
                true
            }
            Change::Cancel(_) | Change::None => false,
        }
    }

    /// Moves an event as [`Handle::reschedule_at`] does. This transaction may have added the event.
    pub fn reschedule_at(&mut self, id: ActionId, at: SystemTime) -> bool {
        id.is_on(Base::Wall) && self.reschedule(id, unix_nanos(at))
    }

    /// Moves an event as [`Handle::reschedule_after`] does. This transaction may have added the
    /// event.
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
                    self.forget(*id);
                }
            }
        }
    }
}
