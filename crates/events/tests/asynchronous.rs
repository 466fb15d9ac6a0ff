//! The futures, under tokio's executor and with nothing of its timers.

use std::future::{Future, pending, ready};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_core::Stream;
use lanesum_events::{AddError, Closed, DueStream, EventSystem, Shutdown, TestClock, TimeoutError};

fn system() -> (TestClock, EventSystem) {
    let clock = TestClock::new();
    let system = EventSystem::builder().inline().test_clock(&clock).start().unwrap();
    (clock, system)
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

async fn next<T>(stream: &mut DueStream<T>) -> Option<T> {
    let mut stream = pin!(stream);
    std::future::poll_fn(|context| stream.as_mut().poll_next(context)).await
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
async fn a_future_is_in_time_or_not() {
    let (clock, system) = system();
    assert_eq!(system.timeout(millis(1), ready(7)).unwrap().await, Ok(7));
    assert!(system.is_empty(), "the limit of what was in time is cancelled");
    let late = tokio::spawn(system.timeout(millis(1), pending::<()>()).unwrap());
    clock.advance(millis(1));
    assert_eq!(late.await.unwrap(), Err(TimeoutError::Elapsed));
}

#[tokio::test]
async fn a_stream_yields_what_is_due_in_order() {
    let (clock, system) = system();
    let mut stream = system.due_stream();
    stream.add_after(millis(2), "second").unwrap();
    stream.add_at(clock.wall() + millis(1), "first").unwrap();
    let never = stream.add_after(millis(1), "cancelled").unwrap();
    stream.add_after(millis(9), "pending").unwrap();
    assert!(stream.cancel(never));
    assert!(!stream.cancel(never));
    clock.advance(millis(5));
    assert_eq!(next(&mut stream).await, Some("first"));
    assert_eq!(next(&mut stream).await, Some("second"));
    assert_eq!(system.len(), 1);
    assert_eq!(poll(pin!(next(&mut stream))), Poll::Pending);
    drop(stream);
    assert!(system.is_empty());
}

#[test]
fn a_system_that_has_ended_refuses() {
    let (_clock, system) = system();
    system.shutdown(Shutdown::Drain);
    assert_eq!(system.sleep(millis(1)).err(), Some(AddError::Closed));
}
