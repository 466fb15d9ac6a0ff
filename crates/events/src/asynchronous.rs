//! Futures over the event system. Each adds an event that wakes its task; so they work under any
//! executor, and are as exact as the system itself.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, SystemTime};

use futures_core::Stream;

use crate::outcome::{ActionId, AddError};
use crate::worker::Shared;
use crate::{Cancel, EventSystem};

/// What an event leaves for a task, and the task to be woken.
struct Mailbox<T> {
    items: VecDeque<T>,
    waker: Option<Waker>,
}

/// Shared by a future and the actions of its events.
struct Post<T>(Arc<Mutex<Mailbox<T>>>);

impl<T> Clone for Post<T> {
    fn clone(&self) -> Self {
        Post(self.0.clone())
    }
}

impl<T> Post<T> {
    fn new() -> Self {
        Post(Arc::new(Mutex::new(Mailbox { items: VecDeque::new(), waker: None })))
    }

    fn lock(&self) -> MutexGuard<'_, Mailbox<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, item: T) {
        let mut mailbox = self.lock();
        mailbox.items.push_back(item);
        let waker = mailbox.waker.take();
        drop(mailbox);
        waker.into_iter().for_each(Waker::wake);
    }

    fn poll(&self, context: &mut Context<'_>) -> Poll<T> {
        let mut mailbox = self.lock();
        match mailbox.items.pop_front() {
            Some(item) => Poll::Ready(item),
            None => {
                let before = mailbox.waker.replace(context.waker().clone());
                drop(mailbox);
                drop(before);
                Poll::Pending
            }
        }
    }
}

/// A future that is ready at its time: see [`EventSystem::sleep`]. Dropped before, it cancels its
/// event.
#[must_use = "a future does nothing unless it is awaited"]
pub struct Sleep {
    system: Arc<Shared>,
    id: ActionId,
    post: Post<()>,
    over: bool,
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
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if !self.over {
            self.over = self.post.poll(context).is_ready();
        }
        if self.over { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if !self.over {
            let _: Cancel = self.system.core.cancel(self.id);
        }
    }
}

/// The time was up before the future was ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed;

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the time was up")
    }
}

impl std::error::Error for Elapsed {}

/// A future with a limit: see [`EventSystem::timeout`].
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
    type Output = Result<F::Output, Elapsed>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Poll::Ready(output) = self.future.as_mut().poll(context) {
            return Poll::Ready(Ok(output));
        }
        Pin::new(&mut self.sleep).poll(context).map(|()| Err(Elapsed))
    }
}

/// A stream of items that come when they are due: see [`EventSystem::due_stream`]. It never ends.
/// Dropped, it cancels what is pending.
pub struct DueStream<'a, T> {
    system: &'a EventSystem,
    post: Post<(ActionIdCell, T)>,
    pending: std::collections::HashSet<ActionId>,
}

/// The id of an event, which its action has to know and which exists only after it was added.
type ActionIdCell = Arc<std::sync::OnceLock<ActionId>>;

impl<T> fmt::Debug for DueStream<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DueStream").field("pending", &self.pending).finish_non_exhaustive()
    }
}

impl<T: Send + 'static> DueStream<'_, T> {
    /// Lets the stream yield an item at this time of the wall clock.
    ///
    /// # Errors
    /// [`AddError::Full`] or [`AddError::Closed`]; the item is dropped.
    pub fn add_at(&mut self, at: SystemTime, item: T) -> Result<ActionId, AddError> {
        self.add(item, |system, action| system.add_at(at, action))
    }

    /// Lets the stream yield an item after this time.
    ///
    /// # Errors
    /// [`AddError::Full`] or [`AddError::Closed`]; the item is dropped.
    pub fn add_after(&mut self, delay: Duration, item: T) -> Result<ActionId, AddError> {
        self.add(item, |system, action| system.add_after(delay, action))
    }

    fn add(
        &mut self,
        item: T,
        add: impl FnOnce(&EventSystem, Box<dyn FnOnce() + Send>) -> Result<ActionId, AddError>,
    ) -> Result<ActionId, AddError> {
        let cell = ActionIdCell::default();
        let (post, name) = (self.post.clone(), cell.clone());
        let id = add(self.system, Box::new(move || post.put((name, item))))?;
        // Nobody else sets it.
        let _ = cell.set(id);
        self.pending.insert(id);
        Ok(id)
    }

    /// Takes an item back; false if it was due.
    pub fn cancel(&mut self, id: ActionId) -> bool {
        self.system.cancel(id) == Cancel::Cancelled && self.pending.remove(&id)
    }
}

impl<T> Stream for DueStream<'_, T> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let this = self.get_mut();
        this.post.poll(context).map(|(name, item)| {
            // Set before the stream, which is borrowed while adding, can be polled.
            name.get().map(|id| this.pending.remove(id));
            Some(item)
        })
    }
}

impl<T> Drop for DueStream<'_, T> {
    fn drop(&mut self) {
        for &id in &self.pending {
            let _: Cancel = self.system.cancel(id);
        }
    }
}

impl EventSystem {
    /// A future that is ready when this time has passed, counted from now.
    ///
    /// # Errors
    /// [`AddError::Full`] or [`AddError::Closed`].
    pub fn sleep(&self, delay: Duration) -> Result<Sleep, AddError> {
        self.sleep_with(|action| self.add_after(delay, action))
    }

    /// A future that is ready when the wall clock shows this time.
    ///
    /// # Errors
    /// [`AddError::Full`] or [`AddError::Closed`].
    pub fn sleep_until(&self, at: SystemTime) -> Result<Sleep, AddError> {
        self.sleep_with(|action| self.add_at(at, action))
    }

    fn sleep_with(
        &self,
        add: impl FnOnce(Box<dyn FnOnce() + Send>) -> Result<ActionId, AddError>,
    ) -> Result<Sleep, AddError> {
        let post = Post::new();
        let waking = post.clone();
        let id = add(Box::new(move || waking.put(())))?;
        Ok(Sleep { system: self.shared.clone(), id, post, over: false })
    }

    /// Gives a future this much time, counted from now.
    ///
    /// # Errors
    /// [`AddError::Full`] or [`AddError::Closed`]. The future itself yields [`Elapsed`].
    pub fn timeout<F: Future>(&self, limit: Duration, future: F) -> Result<Timeout<F>, AddError> {
        Ok(Timeout { future: Box::pin(future), sleep: self.sleep(limit)? })
    }

    /// A stream to which items can be added with the times they are due at.
    pub fn due_stream<T: Send + 'static>(&self) -> DueStream<'_, T> {
        DueStream { system: self, post: Post::new(), pending: Default::default() }
    }
}
