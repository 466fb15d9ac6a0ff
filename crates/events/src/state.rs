//! The shared state of the threads, and the order of locks.
//!
//! ```text
//! add        locks one shard
//! cancel     locks the shard in the id
//! claim, commit, close, queries
//!            lock all shards, in the order of their numbers
//! expired    is locked after shards, or alone; no shard is locked after it
//! waits      is locked alone
//! ```
//!
//! An event stays in its slot, under the lock of its shard, from its addition until its action has
//! ended. Its [`Phase`] tells its state. The queue of expired events holds ids only. So the first
//! thread that takes the lock decides between "cancelled" and "ran", and no event is lost between
//! due and done.
//!
//! A worker ignores an id from the queue if its event was moved or removed.
//!
//! No action is run or dropped under a lock, because it may use the system and panic. Functions
//! that remove an action return it to a caller that holds no lock.
//!
//! All threads are alike. One that has nothing to do claims the due events, and stores with all
//! shards locked when the next thread has to do the same: the alarm. Then it sets the timer to the
//! alarm, and runs the claimed events or sleeps. An addition reads the alarm after taking the lock
//! of one shard. So either a claim sees the addition, or the addition sees the alarm, lowers it if
//! necessary, and sets the timer. The timer wakes one sleeping thread. So a thread that is woken
//! leaves another alarm behind before it runs an action, however long the action takes.

use crate::EventId;
use crate::expired::Expired;
use crate::job::{Action, Job, Phase, Repeat};
use crate::lock::{lock, wait};
use crate::outcome::{ActionId, AddError, Base, Cancel, Change, Life, Next, Refused, Times, Wake};
use crate::shard::{self, Shard};
use crate::sync::{AtomicU64, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering};
use crate::waits::Waits;

/// The number of events that are claimed in one locked section.
const BATCH: usize = 256;

/// Removed events.
pub(crate) type Taken = Vec<(ActionId, Job)>;

/// How much later than necessary the threads of a system may be, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// The time for which due events wait for others, so that one wake-up serves all of them.
    pub(crate) slack: u64,
    /// The time until the next wake-up. Meanwhile this thread runs events.
    pub(crate) pause: u64,
    /// Whether there is only one thread.
    pub(crate) alone: bool,
}

pub(crate) struct Core {
    /// The number of the system, which is part of each id.
    number: u32,
    shards: Box<[(Mutex<Shard>, Condvar)]>,
    pub(crate) expired: Expired,
    waits: Waits,
    pace: Pace,
    /// The time on each clock at which a thread has to claim events, or zero if one is about to.
    alarm: [AtomicU64; 2],
    orders: AtomicU64,
    /// The number of events with a slot. Counted only if there is a bound, because every thread
    /// writes here.
    pub(crate) held: AtomicUsize,
    bound: usize,
}

impl Core {
    /// Makes a state with at most 256 shards, for at most `bound` events at a time.
    pub(crate) fn new(number: u32, shards: usize, bound: usize, pace: Pace) -> Self {
        let shard = |_| (Mutex::new(Shard::new()), Condvar::new());
        Core {
            number,
            shards: (0..shards.clamp(1, 256)).map(shard).collect(),
            expired: Expired::new(),
            waits: Waits::new(),
            pace,
            alarm: [AtomicU64::new(0), AtomicU64::new(0)],
            orders: AtomicU64::new(0),
            held: AtomicUsize::new(0),
            bound,
        }
    }

    fn shard(&self, id: ActionId) -> &(Mutex<Shard>, Condvar) {
        &self.shards[usize::from(id.shard)]
    }

    fn id(&self, id: EventId, shard: usize, base: Base) -> ActionId {
        ActionId { id, system: self.number, shard: shard as u8, base }
    }

    /// Returns the shard of an id, or `None` if the id is of another system.
    fn own_shard(&self, id: ActionId) -> Option<&Mutex<Shard>> {
        (id.system == self.number).then(|| &self.shard(id).0)
    }

    fn lock_all(&self) -> Vec<MutexGuard<'_, Shard>> {
        self.shards.iter().map(|(shard, _)| lock(shard)).collect()
    }

    fn reserve(&self) -> Result<(), AddError> {
        if self.bound == usize::MAX {
            return Ok(());
        }
        if self.held.fetch_add(1, Ordering::Relaxed) < self.bound {
            return Ok(());
        }
        self.release(1);
        Err(AddError::Full)
    }

    fn release(&self, events: usize) {
        if self.bound != usize::MAX {
            self.held.fetch_sub(events, Ordering::Relaxed);
        }
    }

    /// Adds an event to the shard `hint` modulo the number of shards. Without a deadline the event
    /// is uncommitted.
    pub(crate) fn add(
        &self,
        hint: usize,
        base: Base,
        deadline: Option<u64>,
        action: Action,
        repeat: Option<Box<Repeat>>,
    ) -> Result<(ActionId, Wake), AddError> {
        let phase = if deadline.is_some() { Phase::Pending } else { Phase::Uncommitted };
        self.reserve()?;
        let order = self.orders.fetch_add(1, Ordering::Relaxed);
        let job = Job { order, phase, action: Some(action), repeat };
        let number = hint % self.shards.len();
        let mut shard = lock(&self.shards[number].0);
        let added = match (shard.life, deadline) {
            (Life::Draining | Life::Closed, _) => Err((AddError::Closed, job)),
            (Life::Open, Some(at)) => {
                shard.on(base).add(at, job).map_err(|full| (AddError::Full, full.0))
            }
            (Life::Open, None) => {
                shard.on(base).add_idle(job).map_err(|full| (AddError::Full, full.0))
            }
        };
        drop(shard);
        match added {
            Ok(id) => {
                let id = self.id(id, number, base);
                Ok((id, deadline.map_or(Wake(false), |at| self.alert(base, at))))
            }
            Err((error, job)) => {
                self.release(1);
                drop(job);
                Err(error)
            }
        }
    }

    /// Lowers the alarm to a new deadline. Returns whether it was later.
    fn alert(&self, base: Base, deadline: u64) -> Wake {
        let alarm = &self.alarm[base as usize];
        let latest = deadline.saturating_add(self.pace.slack);
        // Only the first of several callers sets the timer.
        Wake(
            latest < alarm.load(Ordering::Relaxed)
                && latest < alarm.fetch_min(latest, Ordering::Relaxed),
        )
    }

    /// Returns the time on each clock at which a thread has to claim events.
    pub(crate) fn alarm(&self) -> Times {
        let [wall, steady] = [Base::Wall, Base::Steady]
            .map(|base| self.alarm[base as usize].load(Ordering::Relaxed));
        Times { wall, steady }
    }

    fn set_alarm(&self, to: Times) {
        for base in [Base::Wall, Base::Steady] {
            self.alarm[base as usize].store(to.on(base), Ordering::Relaxed);
        }
    }

    /// Makes a sleeping thread claim events now.
    pub(crate) fn rouse(&self) {
        self.set_alarm(Times { wall: 0, steady: 0 });
    }

    /// Cancels an event. The caller drops the cancelled action. A thread must be woken if all sleep
    /// until the last event has run.
    pub(crate) fn cancel(&self, id: ActionId) -> (Cancel, Option<Action>, Wake) {
        const GONE: (Cancel, Option<Action>, Wake) = (Cancel::Gone, None, Wake(false));
        let Some(shard) = self.own_shard(id) else { return GONE };
        let mut shard = lock(shard);
        let Some(job) = shard.job(id) else { return GONE };
        match job.phase {
            Phase::Uncommitted => GONE,
            Phase::Running => {
                let repeat = job.repeat.take();
                drop(shard);
                drop(repeat);
                (Cancel::Running, None, Wake(false))
            }
            Phase::Pending | Phase::Queued => {
                let job = shard.on(id.base).cancel(id.id);
                let draining = shard.life == Life::Draining;
                drop(shard);
                self.release(1);
                if draining {
                    self.rouse();
                }
                (Cancel::Cancelled, job.and_then(|job| job.action), Wake(draining))
            }
        }
    }

    /// Removes an event of an uncommitted transaction. The caller drops it.
    pub(crate) fn forget(&self, id: ActionId) -> Option<Job> {
        let job = lock(&self.shard(id).0).on(id.base).cancel(id.id)?;
        self.release(1);
        Some(job)
    }

    /// Moves a pending event. Returns `None` if it is no longer pending.
    pub(crate) fn reschedule(&self, id: ActionId, time: u64) -> Option<Wake> {
        let mut shard = lock(self.own_shard(id)?);
        let order = self.orders.fetch_add(1, Ordering::Relaxed);
        let moved = shard.arm(id, time, order);
        drop(shard);
        moved.map(|deadline| self.alert(id.base, deadline))
    }

    /// Waits until the action of `id` is not running. Returns at once if that action waits,
    /// directly or through others, for `waiter`, the action of this thread.
    pub(crate) fn wait_for(&self, waiter: Option<ActionId>, id: ActionId) -> Cancel {
        if waiter.is_some_and(|waiter| !self.waits.begin(waiter, id)) {
            return Cancel::Running;
        }
        let (mutex, ended) = self.shard(id);
        let mut shard = lock(mutex);
        shard.waiting += 1;
        while shard.job(id).is_some_and(|job| job.phase == Phase::Running) {
            shard = wait(ended, shard);
        }
        shard.waiting -= 1;
        drop(shard);
        waiter.into_iter().for_each(|waiter| self.waits.end(waiter));
        Cancel::Ended
    }

    pub(crate) fn is_pending(&self, id: ActionId) -> bool {
        self.own_shard(id).is_some_and(|shard| lock(shard).waiting_job(id).is_some())
    }

    /// Returns the number of events that wait for their time.
    pub(crate) fn len(&self) -> usize {
        self.lock_all().iter().map(|shard| shard.wall.len() + shard.steady.len()).sum()
    }

    /// Returns the id, the deadline and the repetition of all waiting events, in order on each
    /// clock.
    pub(crate) fn pending(&self) -> Vec<(ActionId, u64, bool)> {
        let shards = self.lock_all();
        let mut all = Vec::new();
        for (number, shard) in shards.iter().enumerate() {
            for (base, schedule) in [(Base::Wall, &shard.wall), (Base::Steady, &shard.steady)] {
                all.extend(schedule.iter().map(|event| {
                    let id = self.id(event.id, number, base);
                    let job = event.payload;
                    (base, event.deadline, job.order, id, job.repeat.is_some())
                }));
            }
        }
        drop(shards);
        all.sort_unstable_by_key(|&(base, deadline, order, ..)| (base, deadline, order));
        all.into_iter().map(|(_, deadline, _, id, repeats)| (id, deadline, repeats)).collect()
    }

    /// Applies all changes or none. The caller drops the cancelled actions.
    pub(crate) fn commit(&self, changes: &[Change]) -> Result<(Wake, Taken), Refused> {
        let mut shards = self.lock_all();
        if shards[0].life != Life::Open {
            return Err(Refused::Closed);
        }
        for change in changes {
            if let Change::Cancel(id) | Change::Reschedule(id, _) = *change
                && shards[usize::from(id.shard)].waiting_job(id).is_none()
            {
                return Err(Refused::Conflict(id));
            }
        }
        let mut taken = Vec::new();
        let mut wake = false;
        for change in changes {
            let order = self.orders.fetch_add(1, Ordering::Relaxed);
            match *change {
                Change::None => {}
                Change::Cancel(id) => {
                    let job = shards[usize::from(id.shard)].on(id.base).cancel(id.id);
                    taken.extend(job.map(|job| (id, job)));
                }
                Change::Arm(id, time) | Change::Reschedule(id, time) => {
                    let shard = &mut shards[usize::from(id.shard)];
                    if let Some(job) = shard.job(id) {
                        job.phase = Phase::Pending;
                    }
                    let deadline = shard.arm(id, time, order);
                    wake |= deadline.is_some_and(|deadline| self.alert(id.base, deadline).0);
                }
            }
        }
        drop(shards);
        self.release(taken.len());
        Ok((Wake(wake), taken))
    }

    /// Moves due events from pending to queued, and stores the alarm. The longest overdue comes
    /// first, and equal ones are in order of adding.
    pub(crate) fn claim(&self, now: Times) -> Next {
        let mut shards = self.lock_all();
        let life = shards[0].life;
        // The first due event of each schedule: how long it is overdue, and its order among equals.
        let mut heads = Vec::new();
        for (number, shard) in shards.iter_mut().enumerate() {
            for base in [Base::Wall, Base::Steady] {
                let first = shard::head(shard.on(base), now.on(base));
                heads.extend(first.map(|first| (first, number, base)));
            }
        }
        let mut claimed = Vec::new();
        while claimed.len() < BATCH {
            let Some(at) = (0..heads.len()).min_by_key(|&at| heads[at].0) else { break };
            let (_, number, base) = heads[at];
            let schedule = shards[number].on(base);
            if let Some(id) = shard::claim_one(schedule, now.on(base)) {
                claimed.push(self.id(id, number, base));
            }
            match shard::head(schedule, now.on(base)) {
                Some(next) => heads[at].0 = next,
                None => drop(heads.swap_remove(at)),
            }
        }
        let queued = self.expired.push(&claimed);
        if queued > 0 && self.pace.alone {
            // This thread claims again before it sleeps.
            self.rouse();
            return Next::Run(Wake(false));
        }
        let next = first_deadlines(&mut shards);
        if queued == 0 && life != Life::Open && next == [None; 2] && !self.expired.is_busy() {
            return Next::Stop;
        }
        let before = self.alarm();
        let alarm = |base: Base| {
            let first = next[base as usize].unwrap_or(u64::MAX);
            let soon = now.on(base).saturating_add(self.pace.pause);
            let latest = first.saturating_add(self.pace.slack).max(soon);
            match queued {
                // The timer need not be set again.
                0 if (first..=latest).contains(&before.on(base)) => before.on(base),
                0 | 1 => latest,
                // Another thread runs the other claimed events if this one does not finish in time.
                _ => soon,
            }
        };
        self.set_alarm(Times { wall: alarm(Base::Wall), steady: alarm(Base::Steady) });
        if queued > 0 { Next::Run(Wake(true)) } else { Next::Sleep }
    }

    /// Returns the earliest deadline on each clock.
    pub(crate) fn first_deadlines(&self) -> [Option<u64>; 2] {
        first_deadlines(&mut self.lock_all())
    }

    /// Returns the action of a queued event, to be run. Returns an error if the event was cancelled
    /// or moved. After closing, the error has the event, and the caller drops it.
    pub(crate) fn begin(&self, id: ActionId) -> Result<Action, Option<Job>> {
        let mut shard = lock(&self.shard(id).0);
        let closed = shard.life == Life::Closed;
        let job = shard.job(id).filter(|job| job.phase == Phase::Queued).ok_or(None)?;
        if closed {
            let job = shard.on(id.base).cancel(id.id);
            drop(shard);
            self.release(1);
            return Err(job);
        }
        job.phase = Phase::Running;
        job.action.take().ok_or(None)
    }

    /// Stores a repeating action for its next run. If there is no next run, returns the action to
    /// the caller, who drops it and then calls `end`.
    pub(crate) fn repeat(&self, id: ActionId, action: Action) -> Result<Wake, Action> {
        let mut shard = lock(&self.shard(id).0);
        let open = shard.life == Life::Open;
        let Some(job) = shard.job(id) else { return Err(action) };
        let Some(repeat) = job.repeat.as_mut().filter(|_| open) else { return Err(action) };
        let deadline = repeat.next();
        job.action = Some(action);
        job.phase = Phase::Pending;
        shard.on(id.base).reschedule(id.id, deadline);
        drop(shard);
        Ok(self.alert(id.base, deadline))
    }

    /// Ends an event whose action was dropped.
    pub(crate) fn end(&self, id: ActionId) {
        let (mutex, ended) = self.shard(id);
        let mut shard = lock(mutex);
        let job = shard.on(id.base).cancel(id.id);
        debug_assert!(
            job.as_ref().is_some_and(|job| job.action.is_none()),
            "{id:?} is not running"
        );
        if shard.waiting > 0 {
            ended.notify_all();
        }
        drop(shard);
        self.release(1);
    }

    /// Refuses further additions. With `Life::Closed` it also removes pending events, which the
    /// caller drops.
    pub(crate) fn close(&self, life: Life) -> Taken {
        let mut shards = self.lock_all();
        let mut taken = Vec::new();
        for (number, shard) in shards.iter_mut().enumerate() {
            shard.life = shard.life.max(life);
            if life == Life::Closed {
                for base in [Base::Wall, Base::Steady] {
                    let ids: Vec<_> = shard.on(base).iter().map(|event| event.id).collect();
                    taken.extend(ids.into_iter().filter_map(|id| {
                        let job = shard.on(base).cancel(id)?;
                        Some((self.id(id, number, base), job))
                    }));
                }
            }
        }
        self.rouse();
        drop(shards);
        self.release(taken.len());
        taken
    }

    /// Returns whether any event is due, or claimed and not ended.
    pub(crate) fn is_busy(&self, now: Times) -> bool {
        // Locked to the end, because a running action may add a due event and end.
        let mut shards = self.lock_all();
        let [wall, steady] = first_deadlines(&mut shards);
        wall.is_some_and(|at| at <= now.wall)
            || steady.is_some_and(|at| at <= now.steady)
            || self.expired.is_busy()
    }
}

fn first_deadlines(shards: &mut [MutexGuard<'_, Shard>]) -> [Option<u64>; 2] {
    [Base::Wall, Base::Steady]
        .map(|base| shards.iter_mut().filter_map(|shard| shard.on(base).next_deadline()).min())
}
