//! What the locking code takes and answers: ids, times, changes, outcomes.

/// Which clock a deadline is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Base {
    /// Nanoseconds since 1970 on the wall clock.
    Wall,
    /// Nanoseconds on the monotonic or the boot-time clock.
    Steady,
}

/// The time on both clocks; or a deadline on each, `u64::MAX` for none.
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

/// The name of an event in one [`EventSystem`](crate::EventSystem), never used again. Another
/// system does not know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ActionId {
    pub(crate) id: crate::EventId,
    /// The number of its system in this process.
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

/// What [`cancel`](crate::Handle::cancel) and [`cancel_and_wait`](crate::Handle::cancel_and_wait)
/// found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "an action that was not cancelled in time may be running"]
pub enum Cancel {
    /// The action had not begun and never will. Of a repeating one: no further run begins.
    Cancelled,
    /// The action had begun and has not ended. A repeating one will not run again after that.
    Running,
    /// The action had begun, and was waited for: nothing of it is left.
    Ended,
    /// Nothing by that id was left: it has run, or was cancelled before.
    Gone,
}

/// Why an event was not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AddError {
    /// As many events are pending, or have an action that runs, as may be.
    Full,
    /// The system has been shut down.
    Closed,
    /// A repetition needs an interval above zero.
    NoInterval,
    /// This is a child process, made by `fork`: the threads of the system stayed in the parent.
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

/// One change that a transaction makes.
pub(crate) enum Change {
    /// Of an event it has made: its deadline.
    Arm(ActionId, u64),
    Cancel(ActionId),
    Reschedule(ActionId, u64),
    /// An addition that was taken back.
    None,
}

/// Why a transaction was not committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    Closed,
    Conflict(ActionId),
}

/// It only moves down this list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Life {
    Open,
    /// What is pending still runs; nothing is added.
    Draining,
    /// Nothing begins any more.
    Closed,
}

/// What the scheduler has to do next.
pub(crate) enum Next {
    /// Events have been claimed; there may be more.
    Claimed,
    /// Nothing is due before these times.
    Sleep(Times),
    /// Nothing will ever be due.
    Stop,
}

/// What an operation changed may concern the sleeping scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the scheduler may have to be woken"]
pub(crate) struct Wake(pub(crate) bool);
