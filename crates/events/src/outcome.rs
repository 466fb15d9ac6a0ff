//! The arguments and results of the locking code: ids, times, changes, outcomes.

/// The clock of a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Base {
    /// Nanoseconds since 1970 on the wall clock.
    Wall,
    /// Nanoseconds on the monotonic or the boot-time clock.
    Steady,
}

/// The time on both clocks, or a deadline on each, with `u64::MAX` for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) wall: u64,
    pub(crate) steady: u64,
}

impl Times {
    pub(crate) fn on(&self, base: Base) -> u64 {
        match base {
            Base::Wall => self.wall,
            Base::Steady => self.steady,
        }
    }
}

/// The id of an event in one [`EventSystem`](crate::EventSystem). Ids are never reused, and are
/// unknown to other systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ActionId {
    pub(crate) id: crate::EventId,
    /// The number of the system in this process.
    pub(crate) system: u32,
    pub(crate) shard: u8,
    pub(crate) base: Base,
}

impl ActionId {
    pub(crate) fn base(self) -> Base {
        self.base
    }

    pub(crate) fn is_on(self, base: Base) -> bool {
        self.base == base
    }
}

/// The result of [`cancel`](crate::Handle::cancel) and
/// [`cancel_and_wait`](crate::Handle::cancel_and_wait).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "an action that was not cancelled in time may be running"]
pub enum Cancel {
    /// The action had not begun and will not run. If it repeats, no further run begins.
    Cancelled,
    /// The action is running. If it repeats, it will not run again.
    Running,
    /// The action was running, and the call has waited for its end.
    Ended,
    /// The id is unknown: the event has run, or was cancelled before.
    Gone,
}

/// The reason why an event was not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AddError {
    /// The maximum number of events is pending or running.
    Full,
    /// The system has been shut down.
    Closed,
    /// The interval of a repetition is zero.
    NoInterval,
    /// This is a child process made by `fork`, without the threads of the system.
    Forked,
}

impl std::fmt::Display for AddError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            AddError::Full => "too many events are pending: raise max_pending, or cancel some",
            AddError::Closed => "the event system has been shut down: start another one",
            AddError::NoInterval => "an event cannot repeat every 0 ns: give a longer interval",
            AddError::Forked => {
                "the threads of the event system stayed in the parent process: start a system here"
            }
        })
    }
}

impl std::error::Error for AddError {}

/// A change of a transaction.
pub(crate) enum Change {
    /// Adds an event of the transaction at this deadline.
    Arm(ActionId, u64),
    Cancel(ActionId),
    Reschedule(ActionId, u64),
    /// An addition that the transaction has cancelled.
    None,
}

/// The reason why a transaction was not committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    Closed,
    Conflict(ActionId),
}

/// The life of a system, which only moves down this list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Life {
    Open,
    /// Pending events still run, and no events are added.
    Draining,
    /// No action begins.
    Closed,
}

/// The next step of a thread of the system.
pub(crate) enum Next {
    /// Set the timer if necessary, and run the claimed events.
    Run(Wake),
    /// Set the timer, and sleep.
    Sleep,
    /// No event will be due.
    Stop,
}

/// Whether to set the timer to the alarm, which a change has made earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the timer may have to be set"]
pub(crate) struct Wake(pub(crate) bool);
