//! Futures over the event system. Each future adds an event that wakes its task. So futures work
//! under any executor and are as exact as the system.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::{Duration, SystemTime};

use crate::job::Action;
use crate::lock::lock;
use crate::outcome::{ActionId, AddError, Base};
use crate::{Cancel, Handle, unix_nanos};

/// How an event ended, and the task to wake then. The waker is user code: it is cloned, woken and
/// dropped without a lock held.
#[derive(Default)]
struct Ending {
    over: Option<Result<(), Closed>>,
    waker: Option<Waker>,
}

/// The receiving end, in a future.
struct Receiver(Arc<Mutex<Ending>>);

impl Receiver {
    fn over(&self) -> Option<Result<(), Closed>> {
        lock(&self.0).over
    }

    fn poll(&self, context: &TaskContext<'_>) -> Poll<Result<(), Closed>> {
        let waker = context.waker().clone();
        let mut ending = lock(&self.0);
        if let Some(over) = ending.over {
            drop(ending);
            return Poll::Ready(over);
        }
        let before = ending.waker.replace(waker);
        drop(ending);
        drop(before);
        Poll::Pending
    }

    /// Stops waking the task.
    fn close(&self) {
        let waker = lock(&self.0).waker.take();
        drop(waker);
    }
}

/// The sending end, in the action of an event. It reports if it is dropped before the action runs.
struct Sender(Arc<Mutex<Ending>>);

impl Sender {
    fn end(&self, how: Result<(), Closed>) {
        let mut ending = lock(&self.0);
        ending.over.get_or_insert(how);
        let waker = ending.waker.take();
        drop(ending);
        waker.into_iter().for_each(Waker::wake);
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.end(Err(Closed));
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
    receiver: Receiver,
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep")
            .field("id", &self.id)
            .field("over", &self.receiver.over())
            .finish_non_exhaustive()
    }
}

impl Future for Sleep {
    type Output = Result<(), Closed>;

    fn poll(self: Pin<&mut Self>, context: &mut TaskContext<'_>) -> Poll<Self::Output> {
        self.receiver.poll(context)
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if self.receiver.over().is_none() {
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
        self.sleep_on(Base::Steady, self.in_nanos(delay))
    }

    pub(crate) fn sleep_on(&self, base: Base, deadline: u64) -> Result<Sleep, AddError> {
        let receiver = Receiver(Arc::default());
        let sender = Sender(receiver.0.clone());
        let action = Action::Once(Box::new(move |_| sender.end(Ok(()))));
        let id = self.add(base, deadline, action, None)?;
        Ok(Sleep { system: self.clone(), id, receiver })
    }

    /// Returns a future that is ready once the wall clock shows `at`. Otherwise like
    /// [`sleep`](Self::sleep).
    ///
    /// # Errors
    /// Fails with [`AddError::Full`], [`AddError::Closed`] or [`AddError::Forked`].
    pub fn sleep_until(&self, at: SystemTime) -> Result<Sleep, AddError> {
        self.sleep_on(Base::Wall, unix_nanos(at))
    }

    /// Limits the time of a future to `limit`, counted from now.
    ///
    /// # Errors
    /// Fails with [`AddError::Full`], [`AddError::Closed`] or [`AddError::Forked`]. The future
    /// itself yields a [`TimeoutError`].
    pub fn timeout<F: Future>(&self, limit: Duration, future: F) -> Result<Timeout<F>, AddError> {
        Ok(Timeout { future: Box::pin(future), sleep: self.sleep(limit)? })
    }
}
