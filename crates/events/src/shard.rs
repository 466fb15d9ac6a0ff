//! A part of the events under its own lock: two schedules, one for each clock.

use std::cmp::Reverse;

use crate::job::{Job, Phase};
use crate::outcome::{ActionId, Base, Life};
use crate::{EventId, Schedule};

pub(crate) struct Shard {
    pub(crate) wall: Schedule<Job>,
    pub(crate) steady: Schedule<Job>,
    pub(crate) life: Life,
    /// The number of threads that wait for an action of this shard to end.
    pub(crate) waiting: usize,
}

impl Shard {
    pub(crate) fn new() -> Self {
        Shard { wall: Schedule::new(), steady: Schedule::new(), life: Life::Open, waiting: 0 }
    }

    pub(crate) fn on(&mut self, base: Base) -> &mut Schedule<Job> {
        match base {
            Base::Wall => &mut self.wall,
            Base::Steady => &mut self.steady,
        }
    }

    pub(crate) fn job(&mut self, id: ActionId) -> Option<&mut Job> {
        self.on(id.base).get_mut(id.id)
    }

    /// Returns the job of an event that has not begun.
    pub(crate) fn waiting_job(&mut self, id: ActionId) -> Option<&mut Job> {
        self.job(id).filter(|job| matches!(job.phase, Phase::Pending | Phase::Queued))
    }

    /// Moves an event that has not begun. Returns its deadline, which includes the jitter, or
    /// `None` if there is no such event.
    pub(crate) fn arm(&mut self, id: ActionId, time: u64, order: u64) -> Option<u64> {
        let job = self.waiting_job(id)?;
        job.order = order;
        job.phase = Phase::Pending;
        let deadline = job.repeat.as_mut().map_or(time, |repeat| repeat.move_to(time));
        self.on(id.base).reschedule(id.id, deadline).then_some(deadline)
    }
}

/// The order of due first events. The one that is longest overdue is the smallest.
pub(crate) fn head(schedule: &mut Schedule<Job>, now: u64) -> Option<(Reverse<u64>, u64)> {
    let (deadline, job) = schedule.peek_due(now)?;
    Some((Reverse(now - deadline), job.order))
}

/// Queues the first event of a schedule, which is due. If the event skips this run, moves it to the
/// next one.
pub(crate) fn claim_one(schedule: &mut Schedule<Job>, now: u64) -> Option<EventId> {
    let claim = schedule.claim_due(now)?;
    let job = claim.payload;
    if let Some(repeat) = &mut job.repeat
        && !repeat.falls_due(claim.deadline, now)
    {
        let (id, next) = (claim.id, repeat.next());
        schedule.reschedule(id, next);
        return None;
    }
    job.phase = Phase::Queued;
    Some(claim.id)
}
