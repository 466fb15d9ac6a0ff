//! The payload of an event: its action, its phase, and its repetition.

use crate::handle::Context;

pub(crate) type Once = Box<dyn FnOnce(&Context<'_>) + Send>;
pub(crate) type Repeated = Box<dyn FnMut(&Context<'_>) + Send>;

/// The action of an event.
pub(crate) enum Action {
    Once(Once),
    Repeated(Repeated),
}

/// The phase of an event. An event moves down this list, and a repeating one returns from the last
/// phase to `Pending`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Added by a transaction that is not committed yet.
    Uncommitted,
    /// Waits for its deadline.
    Pending,
    /// Due and in the queue of expired events. It can still be cancelled.
    Queued,
    /// The action has begun.
    Running,
}

pub(crate) struct Job {
    /// The number of the addition in the whole system. Events with equal deadlines run in this
    /// order.
    pub(crate) order: u64,
    pub(crate) phase: Phase,
    /// `None` while the action runs.
    pub(crate) action: Option<Action>,
    pub(crate) repeat: Option<Box<Repeat>>,
}

/// How to handle missed runs of a repeating action. Runs are missed if the machine was suspended,
/// the clock was set, or the previous run took too long.
///
/// An action is due at 10, 20, 30 and so on, and cannot run from 15 to 45. It runs at 10 and then
/// at:
///
/// ```text
/// Skip      45   50   60
/// RunAll    45   45   45   50   60
/// Omit      50   60
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Missed {
    /// One late run replaces all missed runs, and the next run is at a regular time. Like
    /// `MissedTickBehavior::Skip` of tokio.
    #[default]
    Skip,
    /// All missed runs happen, one after the other. Like `MissedTickBehavior::Burst` of tokio.
    RunAll,
    /// Missed runs are skipped. A run that is late by less than the interval still happens.
    Omit,
}

pub(crate) struct Repeat {
    pub(crate) every: u64,
    pub(crate) jitter: u64,
    pub(crate) missed: Missed,
    /// The regular time of the pending run without jitter, so that jitter does not add up.
    pub(crate) grid: u64,
    /// The state of the random generator of the jitter.
    pub(crate) random: u64,
}

impl Repeat {
    /// Returns whether a due run takes place. Accounts for missed runs. Call it when the run is
    /// due.
    pub(crate) fn falls_due(&mut self, deadline: u64, now: u64) -> bool {
        let missed = (now - deadline) / self.every;
        match self.missed {
            Missed::RunAll => true,
            Missed::Skip => {
                self.grid = self.grid.saturating_add(missed * self.every);
                true
            }
            Missed::Omit => {
                self.grid = self.grid.saturating_add(missed * self.every);
                missed == 0
            }
        }
    }

    /// Returns the deadline of the next run.
    pub(crate) fn next(&mut self) -> u64 {
        self.grid = self.grid.saturating_add(self.every);
        self.jittered()
    }

    /// Moves the pending run to a regular time, and returns its deadline.
    pub(crate) fn move_to(&mut self, grid: u64) -> u64 {
        self.grid = grid;
        self.jittered()
    }

    /// Returns the deadline of the run at the regular time `grid`.
    pub(crate) fn jittered(&mut self) -> u64 {
        let late = match self.jitter.checked_add(1) {
            Some(span) => self.random() % span,
            None => self.random(),
        };
        self.grid.saturating_add(late)
    }

    /// Splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
    fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
