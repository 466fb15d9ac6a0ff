//! What the schedule carries for the running system: an action, where it stands, when it repeats.

use crate::handle::Context;

pub(crate) type Once = Box<dyn FnOnce(&Context<'_>) + Send>;
pub(crate) type Repeated = Box<dyn FnMut(&Context<'_>) + Send>;

/// What an event does.
pub(crate) enum Action {
    Once(Once),
    Repeated(Repeated),
}

/// Where an event stands. It moves down this list; a repeating one goes from the last to `Pending`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Made within a transaction that has not been committed.
    Uncommitted,
    /// Waits for its deadline.
    Pending,
    /// Due, and in the queue of expired events. Can still be cancelled.
    Queued,
    /// The action has begun.
    Running,
}

pub(crate) struct Job {
    /// The number of the addition in the whole system: equal deadlines run in this order.
    pub(crate) order: u64,
    pub(crate) phase: Phase,
    /// Away while it runs.
    pub(crate) action: Option<Action>,
    pub(crate) repeat: Option<Box<Repeat>>,
}

/// What to do about runs whose time passed while the action could not run: the machine slept, the
/// clock was set, or the run before took too long.
///
/// An action that is due at 10, 20, 30 ... and could not run from 15 to 45, runs at 10, and then:
///
/// ```text
/// Skip      45   50   60
/// RunAll    45   45   45   50   60
/// Omit      50   60
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Missed {
    /// One late run stands for all of them, the others are skipped, and the next is at a regular
    /// time: `MissedTickBehavior::Skip` of tokio.
    #[default]
    Skip,
    /// Each of them is made up for, one after the other: `MissedTickBehavior::Burst` of tokio.
    RunAll,
    /// None of them is made up for. A run that is late by less than the interval takes place.
    Omit,
}

pub(crate) struct Repeat {
    pub(crate) every: u64,
    pub(crate) jitter: u64,
    pub(crate) missed: Missed,
    /// The regular time of the run that is pending, without its jitter: so jitter does not add up.
    pub(crate) grid: u64,
    /// State of the generator of the jitter.
    pub(crate) random: u64,
}

impl Repeat {
    /// To be called when the run is due: whether it shall take place. Accounts for missed ones.
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

    /// The deadline of the run after this one.
    pub(crate) fn next(&mut self) -> u64 {
        self.grid = self.grid.saturating_add(self.every);
        self.jittered()
    }

    /// Moves the run that is pending to this regular time, and tells its deadline.
    pub(crate) fn move_to(&mut self, grid: u64) -> u64 {
        self.grid = grid;
        self.jittered()
    }

    /// The deadline of the run that is at `grid`.
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
