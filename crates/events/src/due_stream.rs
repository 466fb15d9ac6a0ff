//! A queue of items that come out when they are due, as a stream.
//!
//! The items are in two schedules of the stream, one for each clock. So adding and cancelling take
//! no lock and no allocation. A waiting stream has at most one event in the system for each clock,
//! at the earliest deadline.

use std::cmp::Reverse;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant, SystemTime};

use futures_core::Stream;

use crate::asynchronous::Sleep;
use crate::outcome::{ActionId, AddError, Base, Times};
use crate::settings::system_number;
use crate::{EventId, Handle, Schedule, unix_nanos};

/// The time at which an item is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Deadline {
    /// A time of the wall clock, from [`DueStream::add_at`].
    Wall(SystemTime),
    /// A time of the delay clock, from [`DueStream::add_after`] or [`DueStream::add_at_instant`].
    /// It is converted from the [delay clock](crate::Builder::delay_clock) by reading both clocks,
    /// and so can differ by some nanoseconds from the time that was passed.
    Delay(Instant),
}

/// An item with its id and its deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Due<T> {
    /// The id that the addition returned.
    pub id: ActionId,
    /// The time at which the item is due.
    pub deadline: Deadline,
    /// The item.
    pub item: T,
}

/// A queue that yields items when they are due. Made by [`Handle::due_stream`].
///
/// Items can be added, moved and cancelled at any time. An item that is due comes out at the next
/// poll: the item that is longest overdue first, and items with equal deadlines in order of adding.
///
/// The stream ends when it is empty, and continues after an addition. If the system is shut down or
/// dropped, the stream yields due items and ends, also if other items are left. With
/// [`Shutdown::Drain`](crate::Shutdown::Drain) the system waits only for the first item of a stream
/// that was polled.
///
/// ```
/// use std::future::poll_fn;
/// use std::time::{Duration, Instant};
/// use lanesum_events::{Deadline, EventSystem};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let system = EventSystem::start()?;
/// let mut retries = system.due_stream();
/// let first = retries.add_at_instant(Instant::now(), "GET /a")?;
/// let second = retries.add_after(Duration::from_secs(3600), "GET /b")?;
/// let third = retries.add_after(Duration::from_secs(3600), "GET /c")?;
///
/// assert_eq!(retries.len(), 3);
/// assert_eq!(retries.peek().map(|due| due.id), Some(first));
/// assert_eq!(retries.cancel(second), Some("GET /b"));
/// assert!(retries.reschedule_after(third, Duration::from_millis(1)));
///
/// let due = poll_fn(|context| retries.poll_due(context)).await.unwrap();
/// assert_eq!((due.id, due.item), (first, "GET /a"));
/// assert!(matches!(due.deadline, Deadline::Delay(at) if at <= Instant::now()));
/// let due = poll_fn(|context| retries.poll_due(context)).await.unwrap();
/// assert_eq!((due.id, due.item), (third, "GET /c"));
/// assert!(poll_fn(|context| retries.poll_due(context)).await.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DueStream<T> {
    system: Handle,
    /// Part of each id, so that ids of other streams and systems are unknown.
    number: u32,
    queues: [Queue<T>; 2],
    bound: usize,
    /// The task that waits for the stream.
    waker: Option<Waker>,
}

/// The items on one clock.
struct Queue<T> {
    items: Schedule<T>,
    /// The deadline of an event in the system, which wakes the task.
    alarm: Option<(u64, Sleep)>,
}

impl<T> Queue<T> {
    fn new() -> Self {
        Queue { items: Schedule::new(), alarm: None }
    }

    /// Sets the alarm to the first deadline, and returns whether the time has come. Fails if the
    /// system has ended.
    fn wait(
        &mut self,
        system: &Handle,
        base: Base,
        context: &mut Context<'_>,
    ) -> Result<bool, Ended> {
        let Some(first) = self.items.next_deadline() else {
            self.alarm = None;
            return Ok(false);
        };
        if self.alarm.as_ref().is_none_or(|alarm| alarm.0 != first) {
            self.alarm = Some((first, system.sleep_on(base, first).map_err(|_| Ended)?));
        }
        let Some((_, sleep)) = &mut self.alarm else { return Ok(false) };
        match std::future::Future::poll(Pin::new(sleep), context) {
            Poll::Pending => Ok(false),
            Poll::Ready(over) => {
                self.alarm = None;
                over.map(|()| true).map_err(|_| Ended)
            }
        }
    }
}

/// The system has ended.
struct Ended;

impl<T> fmt::Debug for DueStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DueStream").field("pending", &self.len()).finish_non_exhaustive()
    }
}

impl<T> DueStream<T> {
    /// Limits the number of items. Further ones are refused with [`AddError::Full`].
    ///
    /// ```
    /// # use std::time::Duration;
    /// use lanesum_events::{AddError, EventSystem};
    ///
    /// let system = EventSystem::start()?;
    /// let mut stream = system.due_stream().bounded(1);
    /// let id = stream.add_after(Duration::from_secs(1), 'a')?;
    /// assert_eq!(stream.add_after(Duration::from_secs(1), 'b'), Err(AddError::Full));
    /// stream.clear();
    /// assert!(stream.is_empty() && stream.cancel(id).is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use = "the stream is returned"]
    pub fn bounded(self, items: usize) -> Self {
        DueStream { bound: items, ..self }
    }

    /// Adds an item that is due at a time of the wall clock, and follows the clock if it is set.
    ///
    /// # Errors
    /// Fails with [`AddError::Full`], [`AddError::Closed`] or [`AddError::Forked`], and drops the
    /// item.
    pub fn add_at(&mut self, at: SystemTime, item: T) -> Result<ActionId, AddError> {
        self.add(Base::Wall, unix_nanos(at), item)
    }

    /// Adds an item that is due after a delay.
    ///
    /// # Errors
    /// Fails with [`AddError::Full`], [`AddError::Closed`] or [`AddError::Forked`], and drops the
    /// item.
    pub fn add_after(&mut self, delay: Duration, item: T) -> Result<ActionId, AddError> {
        self.add(Base::Steady, self.system.in_nanos(delay), item)
    }

    /// Adds an item that is due at an [`Instant`], like [`Handle::add_at_instant`].
    ///
    /// # Errors
    /// Fails with [`AddError::Full`], [`AddError::Closed`] or [`AddError::Forked`], and drops the
    /// item.
    pub fn add_at_instant(&mut self, at: Instant, item: T) -> Result<ActionId, AddError> {
        self.add(Base::Steady, self.system.at_instant(at), item)
    }

    fn add(&mut self, base: Base, deadline: u64, item: T) -> Result<ActionId, AddError> {
        if self.system.core().is_none() {
            return Err(AddError::Forked);
        }
        if self.system.shared.ended.load(Ordering::Relaxed) {
            return Err(AddError::Closed);
        }
        if self.len() >= self.bound {
            return Err(AddError::Full);
        }
        let added = self.queues[base as usize].items.add(deadline, item);
        let id = added.map_err(|_| AddError::Full)?;
        self.changed(base, Some(deadline));
        Ok(self.id(base, id))
    }

    /// Wakes a waiting task if it has to look again: at an earlier deadline, or at the end.
    fn changed(&mut self, base: Base, deadline: Option<u64>) {
        if self.waker.is_some() {
            let alarm = self.queues[base as usize].alarm.as_ref().map_or(u64::MAX, |alarm| alarm.0);
            if deadline.map_or_else(|| self.is_empty(), |deadline| deadline < alarm) {
                self.waker.take().into_iter().for_each(Waker::wake);
            }
        }
    }

    fn id(&self, base: Base, id: EventId) -> ActionId {
        ActionId { id, system: self.number, shard: 0, base }
    }

    /// Moves an item to another time of the wall clock. Returns false if the item is not in this
    /// stream or is on the delay clock.
    pub fn reschedule_at(&mut self, id: ActionId, at: SystemTime) -> bool {
        self.reschedule(Base::Wall, id, unix_nanos(at))
    }

    /// Moves an item to `delay` from now, for example to reset a timeout. Returns false if the item
    /// is not in this stream or is on the wall clock.
    pub fn reschedule_after(&mut self, id: ActionId, delay: Duration) -> bool {
        self.reschedule(Base::Steady, id, self.system.in_nanos(delay))
    }

    /// Moves an item to an [`Instant`]. Returns false if the item is not in this stream or is on
    /// the wall clock.
    pub fn reschedule_at_instant(&mut self, id: ActionId, at: Instant) -> bool {
        self.reschedule(Base::Steady, id, self.system.at_instant(at))
    }

    fn reschedule(&mut self, base: Base, id: ActionId, deadline: u64) -> bool {
        let moved = id.system == self.number
            && id.is_on(base)
            && self.queues[base as usize].items.reschedule(id.id, deadline);
        if moved {
            self.changed(base, Some(deadline));
        }
        moved
    }

    /// Cancels an item and returns it. Returns `None` if the stream has yielded the item or does
    /// not contain it.
    pub fn cancel(&mut self, id: ActionId) -> Option<T> {
        if id.system != self.number {
            return None;
        }
        let item = self.queues[id.base() as usize].items.cancel(id.id)?;
        self.changed(id.base(), None);
        Some(item)
    }

    /// Cancels and drops all items.
    pub fn clear(&mut self) {
        self.queues.iter_mut().for_each(|queue| queue.items.clear());
        self.changed(Base::Wall, None);
    }

    /// Returns the first item, due or not, with its id and deadline. Takes `&mut self` because it
    /// may sort items.
    pub fn peek(&mut self) -> Option<Due<&T>> {
        let now = self.system.shared.clock.now();
        let left = |queue: &mut Queue<T>, now| {
            queue.items.next_deadline().map(|at| i128::from(at) - i128::from(now))
        };
        let [wall, steady] = &mut self.queues;
        let (wall, steady) = (left(wall, now.wall), left(steady, now.steady));
        let base = match (wall, steady) {
            (Some(wall), Some(steady)) if wall < steady => Base::Wall,
            (Some(_), None) => Base::Wall,
            _ => Base::Steady,
        };
        let (deadline, id, item) = self.queues[base as usize].items.peek()?;
        let deadline = deadline_on(&self.system, base, deadline);
        let id = ActionId { id, system: self.number, shard: 0, base };
        Some(Due { id, deadline, item })
    }

    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.queues.iter().map(|queue| queue.items.len()).sum()
    }

    /// Returns whether the stream has no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of items for which memory is allocated. The memory grows and shrinks with
    /// the number of items.
    pub fn capacity(&self) -> usize {
        self.queues.iter().map(|queue| queue.items.capacity()).sum()
    }

    /// Polls for the next due item, like [`Stream::poll_next`]. Returns `None` if the stream is
    /// empty or the system has ended.
    pub fn poll_due(&mut self, context: &mut Context<'_>) -> Poll<Option<Due<T>>> {
        loop {
            if let Some(due) = self.pop(self.system.shared.clock.now()) {
                return Poll::Ready(Some(due));
            }
            let mut again = false;
            for base in [Base::Wall, Base::Steady] {
                match self.queues[base as usize].wait(&self.system, base, context) {
                    Ok(due) => again |= due,
                    Err(Ended) => return Poll::Ready(None),
                }
            }
            if self.is_empty() {
                return Poll::Ready(None);
            }
            if !again {
                let before = self.waker.replace(context.waker().clone());
                drop(before);
                return Poll::Pending;
            }
        }
    }

    /// Removes the item that is longest overdue.
    fn pop(&mut self, now: Times) -> Option<Due<T>> {
        let late = |base: Base| {
            let queue = &mut self.queues[base as usize];
            let (deadline, _) = queue.items.peek_due(now.on(base))?;
            Some((now.on(base) - deadline, base))
        };
        let (_, base) = [Base::Wall, Base::Steady]
            .into_iter()
            .filter_map(late)
            .min_by_key(|&(late, _)| Reverse(late))?;
        let (deadline, id, item) = self.queues[base as usize].items.pop_due(now.on(base))?;
        let deadline = deadline_on(&self.system, base, deadline);
        Some(Due { id: self.id(base, id), deadline, item })
    }
}

fn deadline_on(system: &Handle, base: Base, deadline: u64) -> Deadline {
    match base {
        Base::Wall => Deadline::Wall(SystemTime::UNIX_EPOCH + Duration::from_nanos(deadline)),
        Base::Steady => Deadline::Delay(system.instant(deadline)),
    }
}

impl<T> Stream for DueStream<T> {
    type Item = Due<T>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Due<T>>> {
        self.get_mut().poll_due(context)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.len()))
    }
}

impl Handle {
    /// Returns an empty queue of items, which yields each item when it is due.
    ///
    /// The stream has a handle to the system and can outlive the function that made it. Its items
    /// do not count as events of the system, and [`DueStream::bounded`] limits them.
    ///
    /// ```
    /// # use std::time::Duration;
    /// use lanesum_events::{AddError, DueStream, EventSystem};
    ///
    /// fn countdown(system: &EventSystem) -> Result<DueStream<u32>, AddError> {
    ///     let mut stream = system.due_stream();
    ///     for n in 1..=3 {
    ///         stream.add_after(n * Duration::from_secs(1), 3 - n)?;
    ///     }
    ///     Ok(stream)
    /// }
    /// # assert!(countdown(&EventSystem::start()?).is_ok());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn due_stream<T>(&self) -> DueStream<T> {
        DueStream {
            system: self.clone(),
            number: system_number(),
            queues: [Queue::new(), Queue::new()],
            bound: usize::MAX,
            waker: None,
        }
    }
}
