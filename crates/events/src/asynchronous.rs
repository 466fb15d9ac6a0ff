//! Futures over the event system. Each future adds an event that wakes its task. So futures work
//! under any executor and are as exact as the system.

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::{Duration, SystemTime};

use futures_core::Stream;

use crate::lock::lock;
use crate::outcome::{ActionId, AddError};
use crate::{Cancel, Context, Handle};

/// The items that events pass to a task, and the task to wake. The waker is user code: it is
/// cloned, woken and dropped without a lock held.
struct Mailbox<T> {
    items: VecDeque<T>,
    /// The number of events that have neither passed their item nor been dropped.
    senders: usize,
    waker: Option<Waker>,
}

/// The receiving end, in a future. It receives items and the end of the items.
struct Receiver<T>(Arc<Mutex<Mailbox<T>>>);

impl<T> Receiver<T> {
    fn new() -> Self {
        Receiver(Arc::new(Mutex::new(Mailbox { items: VecDeque::new(), senders: 0, waker: None })))
    }

    fn sender(&self) -> Sender<T> {
        lock(&self.0).senders += 1;
        Sender(Some(self.0.clone()))
    }

    /// Returns an item, or `None` if there is no item and no sender.
    fn poll(&self, context: &TaskContext<'_>) -> Poll<Option<T>> {
        let waker = context.waker().clone();
        let mut mailbox = lock(&self.0);
        let before = match mailbox.items.pop_front() {
            None if mailbox.senders > 0 => mailbox.waker.replace(waker),
            item => return Poll::Ready(item),
        };
        drop(mailbox);
        drop(before);
        Poll::Pending
    }

    /// Stops waking the task.
    fn close(&self) {
        let waker = lock(&self.0).waker.take();
        drop(waker);
    }
}

/// The sending end, in the action of an event. It reports if it is dropped without an item.
struct Sender<T>(Option<Arc<Mutex<Mailbox<T>>>>);

impl<T> Sender<T> {
    fn send(mut self, item: T) {
        self.leave(Some(item));
    }

    fn leave(&mut self, item: Option<T>) {
        let Some(mailbox) = self.0.take() else { return };
        let mut mailbox = lock(&mailbox);
        mailbox.senders -= 1;
        let waker =
            if item.is_some() || mailbox.senders == 0 { mailbox.waker.take() } else { None };
        mailbox.items.extend(item);
        drop(mailbox);
        waker.into_iter().for_each(Waker::wake);
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.leave(None);
    }
}

/// The error if the system was shut down or dropped before the time came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the event system has been shut down: start another one")
    }
}

impl std::error::Error for Closed {}

/// A future that is ready at its time. Made by [`Handle::sleep`]. Dropping it earlier cancels its
/// event.
#[must_use = "a future does nothing unless it is awaited"]
pub struct Sleep {
    system: Handle,
    id: ActionId,
    receiver: Receiver<()>,
    over: Option<Result<(), Closed>>,
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep")
            .field("id", &self.id)
            .field("over", &self.over)
            .finish_non_exhaustive()
    }
}

impl Future for Sleep {
    type Output = Result<(), Closed>;

    fn poll(mut self: Pin<&mut Self>, context: &mut TaskContext<'_>) -> Poll<Self::Output> {
        if self.over.is_none()
            && let Poll::Ready(item) = self.receiver.poll(context)
        {
            self.over = Some(item.ok_or(Closed));
        }
        self.over.map_or(Poll::Pending, Poll::Ready)
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if self.over.is_none() {
            self.receiver.close();
            let _: Cancel = self.system.cancel(self.id);
        }
    }
}

/// The reason why a [`Timeout`] ended before its future.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeoutError {
    /// The time passed before the future was ready.
    Elapsed,
    /// The system was shut down or dropped first.
    Closed,
}

impl fmt::Display for TimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TimeoutError::Elapsed => f.write_str("the time was up"),
            TimeoutError::Closed => Closed.fmt(f),
        }
    }
}

impl std::error::Error for TimeoutError {}

/// A future with a time limit. Made by [`Handle::timeout`].
#[must_use = "a future does nothing unless it is awaited"]
pub struct Timeout<F> {
    future: Pin<Box<F>>,
    sleep: Sleep,
}

impl<F> fmt::Debug for Timeout<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timeout").field("sleep", &self.sleep).finish_non_exhaustive()
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, TimeoutError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut TaskContext<'_>) -> Poll<Self::Output> {
        if let Poll::Ready(output) = self.future.as_mut().poll(context) {
            return Poll::Ready(Ok(output));
        }
        Pin::new(&mut self.sleep).poll(context).map(|slept| {
            Err(match slept {
                Ok(()) => TimeoutError::Elapsed,
                Err(Closed) => TimeoutError::Closed,
            })
        })
    }
}

/// A stream that yields items when they are due. Made by [`Handle::due_stream`].
///
/// The stream ends when no item is pending, also if the system has dropped the pending items. It
/// continues after an addition. Dropping the stream cancels all pending items.
pub struct DueStream<T> {
    system: Handle,
    receiver: Receiver<(ActionId, T)>,
    pending: HashSet<ActionId>,
}

impl<T> fmt::Debug for DueStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DueStream").field("pending", &self.pending).finish_non_exhaustive()
    }
}

impl<T: Send + 'static> DueStream<T> {
    /// Adds an item that the stream yields at a time of the wall clock.
    ///
    /// # Errors
    /// Fails with [`AddError::Full`], [`AddError::Closed`] or [`AddError::Forked`], and drops the
    /// item.
    pub fn add_at(&mut self, at: SystemTime, item: T) -> Result<ActionId, AddError> {
        let action = self.action(item);
        self.added(self.system.add_at(at, action))
    }

    /// Adds an item that the stream yields after a delay.
    ///
    /// # Errors
    /// Fails with [`AddError::Full`], [`AddError::Closed`] or [`AddError::Forked`], and drops the
    /// item.
    pub fn add_after(&mut self, delay: Duration, item: T) -> Result<ActionId, AddError> {
        let action = self.action(item);
        self.added(self.system.add_after(delay, action))
    }

    fn action(&self, item: T) -> impl FnOnce(&Context<'_>) + Send + use<T> {
        let sender = self.receiver.sender();
        move |context| sender.send((context.id(), item))
    }

    /// Records an id. The item cannot be yielded before, because that would borrow the stream.
    fn added(&mut self, added: Result<ActionId, AddError>) -> Result<ActionId, AddError> {
        self.pending.extend(added);
        added
    }

    /// Cancels an item. Returns false if the item was due or is not in this stream.
    pub fn cancel(&mut self, id: ActionId) -> bool {
        self.pending.contains(&id)
            && self.system.cancel(id) == Cancel::Cancelled
            && self.pending.remove(&id)
    }
}

impl<T> Stream for DueStream<T> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, context: &mut TaskContext<'_>) -> Poll<Option<T>> {
        let this = self.get_mut();
        this.receiver.poll(context).map(|due| match due {
            Some((id, item)) => {
                this.pending.remove(&id);
                Some(item)
            }
            None => {
                this.pending.clear();
                None
            }
        })
    }
}

impl<T> Drop for DueStream<T> {
    fn drop(&mut self) {
        self.receiver.close();
        for &id in &self.pending {
            let _: Cancel = self.system.cancel(id);
        }
    }
}

impl Handle {
    /// Returns a future that is ready once `delay` has passed from now. It ends with [`Closed`] if
    /// the system is shut down or dropped before.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lanesum_events::{Closed, EventSystem, TimeoutError};
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let system = EventSystem::start()?;
    /// assert_eq!(system.sleep(Duration::from_millis(1))?.await, Ok(()));
    /// let late = system.timeout(Duration::from_millis(1), std::future::pending::<()>())?;
    /// assert_eq!(late.await, Err(TimeoutError::Elapsed));
    /// let hour = system.sleep(Duration::from_secs(3600))?;
    /// drop(system);
    /// assert_eq!(hour.await, Err(Closed));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Fails with [`AddError::Full`], [`AddError::Closed`] or [`AddError::Forked`].
    pub fn sleep(&self, delay: Duration) -> Result<Sleep, AddError> {
        let receiver = Receiver::new();
        let sender = receiver.sender();
        let id = self.add_after(delay, |_| sender.send(()))?;
        Ok(Sleep { system: self.clone(), id, receiver, over: None })
    }

    /// Returns a future that is ready once the wall clock shows `at`. Otherwise like
    /// [`sleep`](Self::sleep).
    ///
    /// # Errors
    /// Fails with [`AddError::Full`], [`AddError::Closed`] or [`AddError::Forked`].
    pub fn sleep_until(&self, at: SystemTime) -> Result<Sleep, AddError> {
        let receiver = Receiver::new();
        let sender = receiver.sender();
        let id = self.add_at(at, |_| sender.send(()))?;
        Ok(Sleep { system: self.clone(), id, receiver, over: None })
    }

    /// Limits the time of a future to `limit`, counted from now.
    ///
    /// # Errors
    /// Fails with [`AddError::Full`], [`AddError::Closed`] or [`AddError::Forked`]. The future
    /// itself yields a [`TimeoutError`].
    pub fn timeout<F: Future>(&self, limit: Duration, future: F) -> Result<Timeout<F>, AddError> {
        Ok(Timeout { future: Box::pin(future), sleep: self.sleep(limit)? })
    }

    /// Returns a stream of items with the times at which they are due.
    ///
    /// The stream has a handle to the system and can outlive the function that made it:
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
    pub fn due_stream<T: Send + 'static>(&self) -> DueStream<T> {
        DueStream { system: self.clone(), receiver: Receiver::new(), pending: HashSet::new() }
    }
}
