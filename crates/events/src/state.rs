//! The state that threads share, and every lock.
//!
//! ```text
//! add        take the lock of one shard
//! cancel     take the lock of the shard that the id names
//! claim, commit, close, queries
//!            take the locks of all shards, in order of their numbers
//! expired    is taken after shards, or alone; never a shard after it
//! ```
//!
//! An event is in one place from the time it is added until its action has ended: in its slot,
//! under the lock of its shard, and its [`Phase`] says where it stands. The queue of expired events
//! holds ids only. So whoever first takes the lock decides between "cancelled" and "ran", and
//! between due and done there is no moment in which an event could be dropped.
//!
//! Whoever takes an id from the queue and finds its event moved or gone leaves it alone.
//!
//! An action is run, and dropped, with no lock held: it may use the system itself.
//!
//! The scheduler sleeps until `alarm`. It sets it with all shards locked; who adds reads it after
//! taking the lock of one of them. So an addition is either seen by the scheduler before it sleeps,
//! or sees how long it will, and wakes it if that is too long.

use crate::expired::Expired;
use crate::job::{Action, Job, Phase, Repeat};
use crate::lock::{lock, wait};
use crate::outcome::{ActionId, AddError, Base, Cancel, Change, Life, Next, Refused, Times, Wake};
use crate::shard::{self, Shard};
use crate::sync::{AtomicU64, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering};

/// Events claimed under one holding of the locks.
const BATCH: usize = 256;

pub(crate) struct Core {
    shards: Box<[(Mutex<Shard>, Condvar)]>,
    pub(crate) expired: Expired,
    /// How long the scheduler sleeps, on each clock. Zero while it is awake.
    alarm: [AtomicU64; 2],
    orders: AtomicU64,
    /// Events that have a slot. Counted only if there is a bound: every thread writes here.
    held: AtomicUsize,
    bound: usize,
}

impl Core {
    /// At most 256 shards; `bound` events at a time.
    pub(crate) fn new(shards: usize, bound: usize) -> Self {
        let shard = |_| (Mutex::new(Shard::new()), Condvar::new());
        Core {
            shards: (0..shards.clamp(1, 256)).map(shard).collect(),
            expired: Expired::new(),
            alarm: [AtomicU64::new(0), AtomicU64::new(0)],
            orders: AtomicU64::new(0),
            held: AtomicUsize::new(0),
            bound,
        }
    }

    fn shard(&self, id: ActionId) -> &(Mutex<Shard>, Condvar) {
        &self.shards[usize::from(id.shard)]
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

    /// Adds to the shard of number `hint`, modulo their number. With no deadline, uncommitted.
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
                let id = ActionId { id, shard: number as u8, base };
                Ok((id, deadline.map_or(Wake(false), |at| self.alert(base, at))))
            }
            Err((error, job)) => {
                drop(job);
                self.release(1);
                Err(error)
            }
        }
    }

    /// Whether a deadline that has come up lies before the time the scheduler sleeps to.
    fn alert(&self, base: Base, deadline: u64) -> Wake {
        let alarm = &self.alarm[base as usize];
        // Only the first of several callers with the same cause wakes it.
        Wake(
            deadline < alarm.load(Ordering::Relaxed)
                && deadline < alarm.fetch_min(deadline, Ordering::Relaxed),
        )
    }

    pub(crate) fn cancel(&self, id: ActionId) -> Cancel {
        let mut shard = lock(&self.shard(id).0);
        let Some(job) = shard.job(id) else { return Cancel::Gone };
        match job.phase {
            Phase::Uncommitted => Cancel::Gone,
            Phase::Running => {
                let repeat = job.repeat.take();
                drop(shard);
                drop(repeat);
                Cancel::Running
            }
            Phase::Pending | Phase::Queued => {
                let job = shard.on(id.base).cancel(id.id);
                drop(shard);
                drop(job);
                self.release(1);
                Cancel::Cancelled
            }
        }
    }

    /// Drops an event of a transaction that is not committed.
    pub(crate) fn forget(&self, id: ActionId) {
        let job = lock(&self.shard(id).0).on(id.base).cancel(id.id);
        if job.is_some() {
            self.release(1);
        }
    }

    /// Moves a pending event. False if it is no longer pending.
    pub(crate) fn reschedule(&self, id: ActionId, deadline: u64) -> Option<Wake> {
        let mut shard = lock(&self.shard(id).0);
        let order = self.orders.fetch_add(1, Ordering::Relaxed);
        let moved = shard.arm(id, deadline, order);
        drop(shard);
        moved.then(|| self.alert(id.base, deadline))
    }

    /// Until the action that `id` names is not running.
    pub(crate) fn wait_for(&self, id: ActionId) {
        let (mutex, ended) = self.shard(id);
        let mut shard = lock(mutex);
        shard.waiting += 1;
        while shard.job(id).is_some_and(|job| job.phase == Phase::Running) {
            shard = wait(ended, shard);
        }
        shard.waiting -= 1;
    }

    pub(crate) fn is_pending(&self, id: ActionId) -> bool {
        let mut shard = lock(&self.shard(id).0);
        shard.waiting_job(id).is_some()
    }

    /// Events that wait for their time.
    pub(crate) fn len(&self) -> usize {
        self.lock_all().iter().map(|shard| shard.wall.len() + shard.steady.len()).sum()
    }

    /// What waits for its time: id, deadline, whether it repeats. In order on each clock.
    pub(crate) fn pending(&self) -> Vec<(ActionId, u64, bool)> {
        let shards = self.lock_all();
        let mut all = Vec::new();
        for (number, shard) in shards.iter().enumerate() {
            for (base, schedule) in [(Base::Wall, &shard.wall), (Base::Steady, &shard.steady)] {
                all.extend(schedule.iter().map(|event| {
                    let id = ActionId { id: event.id, shard: number as u8, base };
                    let job = event.payload;
                    (base, event.deadline, job.order, id, job.repeat.is_some())
                }));
            }
        }
        drop(shards);
        all.sort_unstable_by_key(|&(base, deadline, order, ..)| (base, deadline, order));
        all.into_iter().map(|(_, deadline, _, id, repeats)| (id, deadline, repeats)).collect()
    }

    /// Applies all changes, or none.
    pub(crate) fn commit(&self, changes: &[Change]) -> Result<Wake, Refused> {
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
        let mut dropped = Vec::new();
        let mut wake = false;
        for change in changes {
            let order = self.orders.fetch_add(1, Ordering::Relaxed);
            match *change {
                Change::None => {}
                Change::Cancel(id) => {
                    dropped.extend(shards[usize::from(id.shard)].on(id.base).cancel(id.id));
                }
                Change::Arm(id, deadline) | Change::Reschedule(id, deadline) => {
                    let shard = &mut shards[usize::from(id.shard)];
                    if let Some(job) = shard.job(id) {
                        job.phase = Phase::Pending;
                    }
                    shard.arm(id, deadline, order);
                    wake |= self.alert(id.base, deadline).0;
                }
            }
        }
        drop(shards);
        self.release(dropped.len());
        Ok(Wake(wake))
    }

    /// Moves what is due from pending to queued, in order: the longer overdue first, among equals
    /// the earlier added. If nothing is due, sets the alarm.
    pub(crate) fn claim(&self, now: Times) -> Next {
        let mut shards = self.lock_all();
        let life = shards[0].life;
        // The first of each schedule that has something due: how long it is overdue, and its place
        // among equals.
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
                claimed.push(ActionId { id, shard: number as u8, base });
            }
            match shard::head(schedule, now.on(base)) {
                Some(next) => heads[at].0 = next,
                None => drop(heads.swap_remove(at)),
            }
        }
        if !claimed.is_empty() {
            self.alarm.iter().for_each(|alarm| alarm.store(0, Ordering::Relaxed));
            self.expired.push(&claimed);
            return Next::Claimed;
        }
        let mut next = |base| {
            let first = |shard: &mut MutexGuard<'_, Shard>| shard.on(base).next_deadline();
            shards.iter_mut().filter_map(first).min()
        };
        let (wall, steady) = (next(Base::Wall), next(Base::Steady));
        let stop = match life {
            Life::Open => false,
            Life::Draining => wall.is_none() && steady.is_none() && !self.expired.is_busy(),
            Life::Closed => true,
        };
        if stop {
            return Next::Stop;
        }
        let until = Times { wall: wall.unwrap_or(u64::MAX), steady: steady.unwrap_or(u64::MAX) };
        self.alarm[Base::Wall as usize].store(until.wall, Ordering::Relaxed);
        self.alarm[Base::Steady as usize].store(until.steady, Ordering::Relaxed);
        Next::Sleep(until)
    }

    /// The action of a queued event, to be run now; `None` if it has been cancelled or moved.
    pub(crate) fn begin(&self, id: ActionId) -> Option<Action> {
        let mut shard = lock(&self.shard(id).0);
        let closed = shard.life == Life::Closed;
        let job = shard.job(id).filter(|job| job.phase == Phase::Queued)?;
        if closed {
            let job = shard.on(id.base).cancel(id.id);
            drop(shard);
            drop(job);
            self.release(1);
            return None;
        }
        job.phase = Phase::Running;
        job.action.take()
    }

    /// The action has ended. A repeating one is given back for its next run.
    pub(crate) fn end(&self, id: ActionId, action: Option<Action>) -> Wake {
        let (mutex, ended) = self.shard(id);
        let mut shard = lock(mutex);
        let again = shard.life == Life::Open;
        let next = match (action, shard.job(id)) {
            (Some(action), Some(job)) if again => job.repeat.as_mut().map(|repeat| {
                job.action = Some(action);
                job.phase = Phase::Pending;
                repeat.next()
            }),
            _ => None,
        };
        let mut left = None;
        match next {
            Some(deadline) => {
                shard.on(id.base).reschedule(id.id, deadline);
            }
            None => left = shard.on(id.base).cancel(id.id),
        }
        if shard.waiting > 0 {
            ended.notify_all();
        }
        drop(shard);
        if left.is_some() {
            self.release(1);
        }
        next.map_or(Wake(false), |deadline| self.alert(id.base, deadline))
    }

    /// Refuses further additions. With `Life::Closed`, drops what has not begun.
    pub(crate) fn close(&self, life: Life) {
        let mut shards = self.lock_all();
        let mut dropped = Vec::new();
        for shard in &mut shards {
            shard.life = shard.life.max(life);
            if life == Life::Closed {
                for base in [Base::Wall, Base::Steady] {
                    let ids: Vec<_> = shard.on(base).iter().map(|event| event.id).collect();
                    dropped.extend(ids.into_iter().filter_map(|id| shard.on(base).cancel(id)));
                }
            }
        }
        self.expired.drain();
        drop(shards);
        self.release(dropped.len());
    }

    /// Whether anything is due, or claimed and not ended.
    pub(crate) fn is_busy(&self, now: Times) -> bool {
        let mut shards = self.lock_all();
        let due = shards.iter_mut().any(|shard| {
            shard.wall.next_deadline().is_some_and(|at| at <= now.wall)
                || shard.steady.next_deadline().is_some_and(|at| at <= now.steady)
        });
        due || self.expired.is_busy()
    }
}
