//! The futures, under the executor of tokio without its timers.

use std::future::{Future, pending, ready};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures_core::Stream;
use lanesum_events::{
    AddError, Closed, Context as ActionContext, Deadline, DelayClock, DueStream, EventSystem,
    Handle, Shutdown, TestClock, TimeoutError,
};

fn system() -> (TestClock, EventSystem) {
    let clock = TestClock::new();
    let system = EventSystem::builder().inline().test_clock(&clock).start().unwrap();
    (clock, system)
}

const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

async fn next<T>(stream: &mut DueStream<T>) -> Option<T> {
    let mut stream = pin!(stream);
    let due = std::future::poll_fn(|context| stream.as_mut().poll_next(context)).await;
    due.map(|due| due.item)
}

#[tokio::test]
async fn sleepers_are_woken_at_their_times() {
    let (clock, system) = system();
    let order = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let at = clock.wall() + millis(20);
    let sleeps = [
        (30, system.sleep(millis(30)).unwrap()),
        (10, system.sleep(millis(10)).unwrap()),
        (20, system.sleep_until(at).unwrap()),
    ];
    let tasks = sleeps.map(|(name, sleep)| {
        let order = order.clone();
        tokio::spawn(async move {
            sleep.await.unwrap();
            order.lock().unwrap().push(name);
        })
    });
    for seen in 0..3 {
        assert_eq!(order.lock().unwrap().len(), seen);
        clock.advance(millis(10));
        system.wait_idle();
        while order.lock().unwrap().len() == seen {
            tokio::task::yield_now().await;
        }
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(*order.lock().unwrap(), [10, 20, 30]);
}

#[tokio::test]
async fn a_real_sleep_wakes_its_task() {
    let system = EventSystem::start().unwrap();
    let start = std::time::Instant::now();
    system.sleep(millis(2)).unwrap().await.unwrap();
    assert!(start.elapsed() >= millis(2), "woken early");
}

#[test]
fn a_sleep_that_is_dropped_is_cancelled() {
    let (clock, system) = system();
    let sleep = system.sleep(millis(10)).unwrap();
    assert_eq!(system.len(), 1);
    drop(sleep);
    assert_eq!(system.len(), 0);
    // One that is over stays so.
    let mut sleep = pin!(system.sleep(millis(10)).unwrap());
    assert_eq!(poll(sleep.as_mut()), Poll::Pending);
    clock.advance(millis(10));
    system.wait_idle();
    assert_eq!(poll(sleep.as_mut()), Poll::Ready(Ok(())));
    assert_eq!(poll(sleep.as_mut()), Poll::Ready(Ok(())));
}

#[tokio::test]
async fn timeout_returns_the_result_or_an_error() {
    let (clock, system) = system();
    assert_eq!(system.timeout(millis(1), ready(7)).unwrap().await, Ok(7));
    assert!(system.is_empty(), "the limit of what was in time is cancelled");
    let late = tokio::spawn(system.timeout(millis(1), pending::<()>()).unwrap());
    clock.advance(millis(1));
    assert_eq!(late.await.unwrap(), Err(TimeoutError::Elapsed));
}

#[tokio::test]
async fn a_stream_yields_due_events_in_order() {
    let (clock, system) = system();
    let mut stream = system.due_stream();
    stream.add_after(millis(2), "second").unwrap();
    stream.add_at(clock.wall() + millis(1), "first").unwrap();
    let never = stream.add_after(millis(1), "cancelled").unwrap();
    stream.add_after(millis(9), "pending").unwrap();
    assert_eq!(stream.cancel(never), Some("cancelled"));
    assert_eq!(stream.cancel(never), None);
    clock.advance(millis(5));
    assert_eq!(next(&mut stream).await, Some("first"));
    assert_eq!(next(&mut stream).await, Some("second"));
    assert_eq!((stream.len(), system.len()), (1, 0));
    assert_eq!(poll(pin!(next(&mut stream))), Poll::Pending);
    assert_eq!(system.len(), 1, "the stream waits for its first item");
    drop(stream);
    assert!(system.is_empty());
}

#[test]
fn an_ended_system_refuses_additions() {
    let (_clock, system) = system();
    system.shutdown(Shutdown::Drain);
    assert_eq!(system.sleep(millis(1)).err(), Some(AddError::Closed));
}

/// Pending, or due and behind a busy action.
#[tokio::test]
async fn dropped_futures_are_ready_with_an_error() {
    let ends: [fn(EventSystem); 2] = [|system| system.shutdown(Shutdown::DropPending), drop];
    for end in ends {
        let (_clock, system) = system();
        let sleep = tokio::spawn(system.sleep(millis(1)).unwrap());
        let limited = tokio::spawn(system.timeout(millis(1), pending::<()>()).unwrap());
        let mut stream: DueStream<u8> = system.due_stream();
        stream.add_after(millis(1), 7).unwrap();
        let streamed = tokio::spawn(async move { next(&mut stream).await });
        // Until each has left its waker.
        tokio::task::yield_now().await;
        end(system);
        assert_eq!(sleep.await.unwrap(), Err(Closed));
        assert_eq!(limited.await.unwrap(), Err(TimeoutError::Closed));
        assert_eq!(streamed.await.unwrap(), None);
    }

    let (clock, system) = system();
    let handle = system.handle();
    let (begun, has_begun) = channel();
    let (release, released) = channel::<()>();
    let busy = move |_: &ActionContext<'_>| {
        begun.send(()).unwrap();
        let _ = released.recv();
    };
    system.add_after(millis(1), busy).unwrap();
    let mut sleep = pin!(system.sleep(millis(1)).unwrap());
    assert_eq!(poll(sleep.as_mut()), Poll::Pending);
    clock.advance(millis(1));
    has_begun.recv().unwrap();
    drop(system);
    release.send(()).unwrap();
    handle.shutdown(Shutdown::DropPending);
    assert_eq!(poll(sleep.as_mut()), Poll::Ready(Err(Closed)));
    assert_eq!(poll(sleep), Poll::Ready(Err(Closed)));
}

#[test]
fn an_empty_stream_ends_and_resumes_after_an_addition() {
    let (clock, system) = system();
    let mut stream = system.due_stream();
    assert_eq!(poll(pin!(next(&mut stream))), Poll::Ready(None));
    for n in 0..2 {
        let id = stream.add_after(millis(1), n).unwrap();
        let other = system.add_after(millis(1), |_| {}).unwrap();
        assert_eq!(poll(pin!(next(&mut stream))), Poll::Pending);
        assert_eq!(stream.cancel(other), None, "it is not of this stream");
        assert!(system.is_pending(other));
        clock.advance(millis(1));
        system.wait_idle();
        assert_eq!(poll(pin!(next(&mut stream))), Poll::Ready(Some(n)));
        assert_eq!(poll(pin!(next(&mut stream))), Poll::Ready(None));
        assert_eq!(stream.cancel(id), None);
    }
    let id = stream.add_after(millis(1), 9).unwrap();
    assert_eq!(stream.cancel(id), Some(9));
    assert_eq!(poll(pin!(next(&mut stream))), Poll::Ready(None));
}

/// Counts how often a task is woken.
#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn items_have_their_id_and_deadline() {
    for delays in [DelayClock::Boot, DelayClock::Monotonic] {
        let clock = TestClock::new();
        let builder = EventSystem::builder().inline().test_clock(&clock).delay_clock(delays);
        let system = builder.start().unwrap();
        clock.suspend(millis(1_000));
        clock.advance(millis(500));
        let mut stream = system.due_stream();
        let (wall, instant) = (clock.wall() + millis(20), clock.instant() + millis(10));
        let past = clock.instant() - millis(300);
        let second = stream.add_at(wall, "wall").unwrap();
        let first = stream.add_at_instant(instant, "instant").unwrap();
        let late = stream.add_at_instant(past, "past").unwrap();
        let expected = [
            (late, Deadline::Delay(past), "past"),
            (first, Deadline::Delay(instant), "instant"),
            (second, Deadline::Wall(wall), "wall"),
        ];
        let peeked = stream.peek().map(|due| (due.id, due.deadline, *due.item));
        assert_eq!(peeked, Some(expected[0]));
        clock.advance(millis(20));
        let mut context = Context::from_waker(Waker::noop());
        let due = [(); 3].map(|()| match stream.poll_due(&mut context) {
            Poll::Ready(Some(due)) => (due.id, due.deadline, due.item),
            other => panic!("{other:?}"),
        });
        assert_eq!(due, expected, "{delays:?}");
        assert_eq!(stream.poll_due(&mut context), Poll::Ready(None));
    }
}

#[test]
fn reset_moves_an_item_on_its_own_clock() {
    let (clock, system) = system();
    let mut stream = system.due_stream();
    let delayed = stream.add_after(millis(10), "delayed").unwrap();
    let timed = stream.add_at(clock.wall() + millis(10), "timed").unwrap();
    assert!(!stream.reschedule_after(timed, millis(1)), "it is on the wall clock");
    assert!(!stream.reschedule_at(delayed, clock.wall()), "it is on the delay clock");
    assert!(!system.due_stream::<()>().reschedule_after(delayed, millis(1)), "it is not there");
    assert!(poll(pin!(next(&mut stream))).is_pending());
    assert!(stream.reschedule_after(delayed, millis(30)));
    assert!(stream.reschedule_at(timed, clock.wall() + millis(20)));
    clock.advance(millis(19));
    system.wait_idle();
    assert!(poll(pin!(next(&mut stream))).is_pending());
    clock.advance(millis(1));
    assert_eq!(poll(pin!(next(&mut stream))), Poll::Ready(Some("timed")));
    assert!(stream.reschedule_at_instant(delayed, clock.instant()));
    assert_eq!(poll(pin!(next(&mut stream))), Poll::Ready(Some("delayed")));
    assert!(!stream.reschedule_after(delayed, millis(1)), "it was yielded");
}

/// An earlier item and the end wake the task that waits. Other changes do not.
#[test]
fn changes_wake_a_waiting_task_if_necessary() {
    let (_clock, system) = system();
    let mut stream = system.due_stream().bounded(4);
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(wakes.clone());
    let wait = |stream: &mut DueStream<u8>| {
        let polled = stream.poll_due(&mut Context::from_waker(&waker));
        assert!(polled.is_pending(), "{polled:?}");
    };
    let woken = || wakes.0.swap(0, Ordering::Relaxed);
    let first = stream.add_after(millis(10), 1).unwrap();
    wait(&mut stream);
    stream.add_after(millis(20), 2).unwrap();
    stream.add_after(millis(10), 3).unwrap();
    assert_eq!((stream.cancel(first), woken()), (Some(1), 0));
    stream.add_after(millis(9), 4).unwrap();
    assert_eq!(woken(), 1);
    wait(&mut stream);
    let at = std::time::SystemTime::now() + YEAR;
    stream.add_at(at, 5).unwrap();
    assert_eq!(woken(), 1, "the other clock has no alarm yet");
    assert_eq!(stream.add_at(at, 6), Err(AddError::Full));
    wait(&mut stream);
    assert!(stream.capacity() >= stream.len());
    stream.clear();
    assert_eq!((woken(), stream.len(), stream.peek()), (1, 0, None));
    assert_eq!(stream.poll_due(&mut Context::from_waker(&waker)), Poll::Ready(None));
}

/// A future or stream that may be dropped, by its own waker.
type Place = Arc<Mutex<Option<Box<dyn Send>>>>;

/// Whatever is done with it, the waker lets the event of its future run, waits for that, and drops
/// the future: each takes the lock between the two.
struct Meddler {
    clock: TestClock,
    system: Handle,
    place: Place,
    uses: Arc<AtomicUsize>,
}

impl Meddler {
    fn meddle(&self) {
        self.uses.fetch_add(1, Ordering::Relaxed);
        self.clock.advance(millis(10));
        self.system.wait_idle();
        let future = self.place.lock().unwrap().take();
        drop(future);
    }
}

impl Wake for Meddler {
    fn wake(self: Arc<Self>) {
        self.meddle();
    }
}

impl Drop for Meddler {
    fn drop(&mut self) {
        self.meddle();
    }
}

struct World {
    clock: TestClock,
    system: EventSystem,
    place: Place,
    uses: Arc<AtomicUsize>,
}

impl World {
    fn waker(&self) -> Waker {
        let (clock, system) = (self.clock.clone(), self.system.handle());
        let (place, uses) = (self.place.clone(), self.uses.clone());
        Waker::from(Arc::new(Meddler { clock, system, place, uses }))
    }

    fn uses(&self) -> usize {
        self.uses.swap(0, Ordering::Relaxed)
    }

    fn poll<F: Future + Unpin>(&self, future: &mut F) -> Poll<F::Output> {
        Pin::new(future).poll(&mut Context::from_waker(&self.waker()))
    }
}

#[test]
fn a_waker_may_use_the_system_and_the_future() {
    let meddle: [fn(&World); 6] = [
        // Another takes its place, which drops it, before the event has run.
        |world| {
            let mut sleep = world.system.sleep(millis(10)).unwrap();
            assert!(world.poll(&mut sleep).is_pending());
            assert!(world.poll(&mut sleep).is_pending());
            assert!(world.poll(&mut sleep).is_ready());
        },
        // It is woken, and dropped after that.
        |world| {
            let mut sleep = world.system.sleep(millis(10)).unwrap();
            assert!(world.poll(&mut sleep).is_pending());
            *world.place.lock().unwrap() = Some(Box::new(sleep));
            world.clock.advance(millis(10));
            world.system.wait_idle();
        },
        // It is dropped with the future.
        |world| {
            let mut sleep = world.system.sleep(millis(10)).unwrap();
            assert!(world.poll(&mut sleep).is_pending());
        },
        // With the stream; and items that have such wakers are.
        |world| {
            let mut stream = world.system.due_stream();
            for _ in 0..2 {
                stream.add_after(millis(10), world.waker()).unwrap();
            }
            assert!(poll(pin!(next(&mut stream))).is_pending());
            let polled = Pin::new(&mut stream).poll_next(&mut Context::from_waker(&world.waker()));
            assert!(polled.is_pending() || polled.is_ready());
        },
        // It is woken when the system drops the event.
        |world| {
            let mut sleep = world.system.sleep(millis(10)).unwrap();
            assert!(world.poll(&mut sleep).is_pending());
            *world.place.lock().unwrap() = Some(Box::new(sleep));
            world.system.shutdown(Shutdown::DropPending);
        },
        // It is woken when the stream takes its last item back.
        |world| {
            let mut stream = world.system.due_stream();
            let id = stream.add_after(millis(10), ()).unwrap();
            let polled = Pin::new(&mut stream).poll_next(&mut Context::from_waker(&world.waker()));
            assert!(polled.is_pending());
            assert!(stream.cancel(id).is_some());
        },
    ];
    for (n, meddle) in meddle.into_iter().enumerate() {
        let (end, has_ended) = channel();
        let test = std::thread::spawn(move || {
            let (clock, system) = system();
            let (place, uses) = (Place::default(), Arc::default());
            let world = World { clock, system, place, uses };
            meddle(&world);
            assert!(world.uses() > 0, "{n}: nothing was done with the waker");
            end.send(()).unwrap();
        });
        let ended = has_ended.recv_timeout(Duration::from_secs(60));
        assert_ne!(ended, Err(RecvTimeoutError::Timeout), "{n} hangs");
        test.join().unwrap();
    }
}
