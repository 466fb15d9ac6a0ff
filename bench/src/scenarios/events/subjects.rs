//! The schedulers that run in virtual time.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use hierarchical_hash_wheel_timer::IdOnlyTimerEntry;
use hierarchical_hash_wheel_timer::wheels::cancellable::QuadWheelWithOverflow;
use lanesum_events::{EventId, Schedule};
use tokio::runtime::Runtime;
use tokio::task::AbortHandle;
use tokio_util::time::{DelayQueue, delay_queue};

/// The events lie within this time, in steps of one millisecond.
const MILLISECONDS: u64 = 10_000;

/// In which order events are cancelled. Which ones are is the same in both.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Random,
    /// The order in which they were added.
    Added,
}

/// The millisecond of each event, and the events to be cancelled, in their order.
fn plan(events: usize, order: Order) -> (Vec<u64>, Vec<usize>) {
    let mut random = fastrand::Rng::with_seed(5);
    let times = (0..events).map(|_| random.u64(1..MILLISECONDS)).collect();
    let mut cancelled: Vec<usize> = (0..events).collect();
    random.shuffle(&mut cancelled);
    cancelled.truncate(events / 2);
    if order == Order::Added {
        cancelled.sort_unstable();
    }
    (times, cancelled)
}

/// How many events run, and the sum of their numbers.
pub fn expected(events: usize) -> (f64, f64) {
    let (times, cancelled) = plan(events, Order::Random);
    let all: u64 = (0..times.len() as u64).sum();
    let gone: u64 = cancelled.iter().map(|&event| event as u64).sum();
    ((events - cancelled.len()) as f64, (all - gone) as f64)
}

/// How far a run goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Until {
    Added,
    Fired,
}

/// Seconds to add, to cancel and to fire; resident bytes of all events; how many ran; their sum.
/// Zeros for what it does not come to.
pub fn measure(
    implementation: &str,
    events: usize,
    order: Order,
    until: Until,
) -> Result<Vec<f64>> {
    match implementation {
        "lanesum" => phases(Lanesum::default(), events, order, until),
        "delayqueue" => phases(Delay::new(events)?, events, order, until),
        "tokio-sleep" => phases(Sleeps::new()?, events, order, until),
        "wheel" => phases(Wheel::new(), events, order, until),
        "binaryheap" => phases(Heap::new(events), events, order, until),
        "document" => phases(Document::default(), events, order, until),
        _ => bail!("{implementation}: no such implementation"),
    }
}

/// A scheduler. An event's number is its payload.
trait Subject {
    type Id: Clone;
    /// Some id: the space for all is made, and touched, before memory is looked at.
    fn any_id(&mut self) -> Self::Id;
    fn add(&mut self, times: &[u64], ids: &mut [Self::Id]);
    fn cancel(&mut self, ids: Vec<Self::Id>);
    /// Runs all, millisecond by millisecond: how many there were, and the sum of their payloads.
    fn fire(&mut self) -> (u64, u64);
}

fn phases<S: Subject>(
    mut subject: S,
    events: usize,
    order: Order,
    until: Until,
) -> Result<Vec<f64>> {
    let (times, cancelled) = plan(events, order);
    let mut ids = vec![subject.any_id(); events];
    let before = resident()?;

    let start = Instant::now();
    subject.add(&times, &mut ids);
    let add = start.elapsed();

    let bytes = resident()?.saturating_sub(before);
    if until == Until::Added {
        return Ok(vec![add.as_secs_f64(), 0.0, 0.0, bytes as f64, 0.0, 0.0]);
    }
    let to_cancel = cancelled.iter().map(|&event| ids[event].clone()).collect();

    let start = Instant::now();
    subject.cancel(to_cancel);
    let cancel = start.elapsed();

    let start = Instant::now();
    let (ran, sum) = subject.fire();
    let fire = start.elapsed();

    let [add, cancel, fire] = [add, cancel, fire].map(|time| time.as_secs_f64());
    Ok(vec![add, cancel, fire, bytes as f64, ran as f64, sum as f64])
}

fn resident() -> Result<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm")?;
    let pages = statm.split_whitespace().nth(1).context("/proc/self/statm has no second field")?;
    Ok(pages.parse::<u64>()? * 4096)
}

#[derive(Default)]
struct Lanesum(Schedule<u64>);

impl Subject for Lanesum {
    type Id = EventId;

    #[expect(clippy::unwrap_used, reason = "it has no bound")]
    fn any_id(&mut self) -> EventId {
        let id = self.0.add(0, 0).unwrap();
        self.0.cancel(id);
        id
    }

    #[expect(clippy::unwrap_used, reason = "it has no bound")]
    fn add(&mut self, times: &[u64], ids: &mut [EventId]) {
        for (event, (time, id)) in times.iter().zip(ids).enumerate() {
            *id = self.0.add(time * 1_000_000, event as u64).unwrap();
        }
    }

    fn cancel(&mut self, ids: Vec<EventId>) {
        for id in ids {
            assert!(self.0.cancel(id).is_some());
        }
    }

    fn fire(&mut self) -> (u64, u64) {
        let (mut ran, mut sum) = (0, 0);
        for now in 0..=MILLISECONDS {
            while let Some((_, _, event)) = self.0.pop_due(now * 1_000_000) {
                ran += 1;
                sum += event;
            }
        }
        (ran, sum)
    }
}

/// A runtime whose time stands still until it is moved.
fn paused() -> Result<Runtime> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    Ok(builder.enable_time().start_paused(true).build()?)
}

struct Delay {
    runtime: Runtime,
    queue: DelayQueue<u64>,
}

impl Delay {
    fn new(events: usize) -> Result<Self> {
        let runtime = paused()?;
        let queue = runtime.block_on(async { DelayQueue::with_capacity(events) });
        Ok(Delay { runtime, queue })
    }
}

impl Subject for Delay {
    type Id = delay_queue::Key;

    fn any_id(&mut self) -> delay_queue::Key {
        let queue = &mut self.queue;
        self.runtime.block_on(async {
            let key = queue.insert(0, Duration::ZERO);
            queue.remove(&key);
            key
        })
    }

    fn add(&mut self, times: &[u64], ids: &mut [delay_queue::Key]) {
        let queue = &mut self.queue;
        self.runtime.block_on(async {
            let start = tokio::time::Instant::now();
            for (event, (&time, id)) in times.iter().zip(ids).enumerate() {
                *id = queue.insert_at(event as u64, start + Duration::from_millis(time));
            }
        });
    }

    fn cancel(&mut self, ids: Vec<delay_queue::Key>) {
        let queue = &mut self.queue;
        self.runtime.block_on(async {
            for id in &ids {
                queue.remove(id);
            }
        });
    }

    fn fire(&mut self) -> (u64, u64) {
        let queue = &mut self.queue;
        let (mut ran, mut sum) = (0, 0);
        let mut context = Context::from_waker(Waker::noop());
        self.runtime.block_on(async {
            // It rounds up to its own milliseconds.
            for _ in 0..=MILLISECONDS + 1 {
                let mut all_due = poll_fn(|_| {
                    while let Poll::Ready(Some(event)) = queue.poll_expired(&mut context) {
                        ran += 1;
                        sum += event.into_inner();
                    }
                    Poll::Ready(())
                });
                // Without this, tokio would make it pause after every 128 events.
                tokio::task::coop::unconstrained(&mut all_due).await;
                tokio::time::advance(Duration::from_millis(1)).await;
            }
        });
        (ran, sum)
    }
}

struct Sleeps {
    runtime: Runtime,
    counts: Arc<[AtomicU64; 2]>,
}

impl Sleeps {
    fn new() -> Result<Self> {
        Ok(Sleeps { runtime: paused()?, counts: Arc::default() })
    }
}

impl Subject for Sleeps {
    type Id = AbortHandle;

    fn any_id(&mut self) -> AbortHandle {
        self.runtime.spawn(async {}).abort_handle()
    }

    fn add(&mut self, times: &[u64], ids: &mut [AbortHandle]) {
        let counts = &self.counts;
        self.runtime.block_on(async {
            let start = tokio::time::Instant::now();
            for (event, (&time, id)) in times.iter().zip(ids).enumerate() {
                let counts = counts.clone();
                let task = tokio::spawn(async move {
                    tokio::time::sleep_until(start + Duration::from_millis(time)).await;
                    counts[0].fetch_add(1, Ordering::Relaxed);
                    counts[1].fetch_add(event as u64, Ordering::Relaxed);
                });
                *id = task.abort_handle();
                // Tasks that have begun wait for their time; that is part of adding them.
                if event % 128 == 127 {
                    tokio::task::yield_now().await;
                }
            }
            tokio::task::yield_now().await;
        });
    }

    fn cancel(&mut self, ids: Vec<AbortHandle>) {
        self.runtime.block_on(async {
            ids.iter().for_each(AbortHandle::abort);
            tokio::task::yield_now().await;
        });
    }

    fn fire(&mut self) -> (u64, u64) {
        self.runtime.block_on(async {
            for _ in 0..=MILLISECONDS + 1 {
                tokio::time::advance(Duration::from_millis(1)).await;
                tokio::task::yield_now().await;
            }
        });
        let [ran, sum] = &*self.counts;
        (ran.load(Ordering::Relaxed), sum.load(Ordering::Relaxed))
    }
}

struct Wheel(QuadWheelWithOverflow<IdOnlyTimerEntry<u64>>);

impl Wheel {
    fn new() -> Self {
        Wheel(QuadWheelWithOverflow::new())
    }
}

impl Subject for Wheel {
    type Id = u64;

    fn any_id(&mut self) -> u64 {
        0
    }

    fn add(&mut self, times: &[u64], ids: &mut [u64]) {
        for (event, (&time, id)) in times.iter().zip(ids).enumerate() {
            *id = event as u64;
            let added = self.0.insert(IdOnlyTimerEntry::new(*id, Duration::from_millis(time)));
            assert!(added.is_ok());
        }
    }

    fn cancel(&mut self, ids: Vec<u64>) {
        ids.iter().for_each(|id| assert!(self.0.cancel(id).is_ok()));
    }

    fn fire(&mut self) -> (u64, u64) {
        let (mut ran, mut sum) = (0, 0);
        for _ in 0..=MILLISECONDS {
            for event in self.0.tick() {
                ran += 1;
                sum += event.id;
            }
        }
        (ran, sum)
    }
}

/// The standard library's heap; an event is cancelled by a flag, which it finds by its number.
struct Heap {
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    payloads: Vec<Option<u64>>,
}

impl Heap {
    fn new(events: usize) -> Self {
        Heap { heap: BinaryHeap::with_capacity(events), payloads: Vec::with_capacity(events) }
    }
}

impl Subject for Heap {
    type Id = u32;

    fn any_id(&mut self) -> u32 {
        0
    }

    fn add(&mut self, times: &[u64], ids: &mut [u32]) {
        for (event, (&time, id)) in times.iter().zip(ids).enumerate() {
            *id = event as u32;
            self.payloads.push(Some(event as u64));
            self.heap.push(Reverse((time, *id)));
        }
    }

    fn cancel(&mut self, ids: Vec<u32>) {
        ids.iter().for_each(|&id| assert!(self.payloads[id as usize].take().is_some()));
    }

    fn fire(&mut self) -> (u64, u64) {
        let (mut ran, mut sum) = (0, 0);
        for now in 0..=MILLISECONDS {
            while let Some(Reverse((time, id))) = self.heap.peek().copied()
                && time <= now
            {
                self.heap.pop();
                if let Some(event) = self.payloads[id as usize].take() {
                    ran += 1;
                    sum += event;
                }
            }
        }
        (ran, sum)
    }
}

type Actions = BTreeMap<u64, Box<dyn FnOnce()>>;

/// As the document has it: a map from times to the next number and a map of numbers to actions.
#[derive(Default)]
struct Document {
    events: BTreeMap<u64, (u64, Actions)>,
    counts: Rc<(Cell<u64>, Cell<u64>)>,
}

impl Subject for Document {
    type Id = (u64, u64);

    fn any_id(&mut self) -> (u64, u64) {
        (0, 0)
    }

    fn add(&mut self, times: &[u64], ids: &mut [(u64, u64)]) {
        for (event, (&time, id)) in times.iter().zip(ids).enumerate() {
            let counts = self.counts.clone();
            let action = move || {
                counts.0.set(counts.0.get() + 1);
                counts.1.set(counts.1.get() + event as u64);
            };
            let (next, actions) = self.events.entry(time).or_default();
            *id = (time, *next);
            actions.insert(*next, Box::new(action));
            *next += 1;
        }
    }

    fn cancel(&mut self, ids: Vec<(u64, u64)>) {
        for (time, number) in ids {
            let actions = self.events.get_mut(&time).map(|(_, actions)| actions);
            assert!(actions.is_some_and(|actions| actions.remove(&number).is_some()));
        }
    }

    fn fire(&mut self) -> (u64, u64) {
        for now in 0..=MILLISECONDS {
            while let Some(first) = self.events.first_entry()
                && *first.key() <= now
            {
                first.remove().1.into_values().for_each(|action| action());
            }
        }
        (self.counts.0.get(), self.counts.1.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_runs_what_was_not_cancelled() {
        for name in ["lanesum", "delayqueue", "tokio-sleep", "wheel", "binaryheap", "document"] {
            for order in [Order::Random, Order::Added] {
                let answer = measure(name, 5_000, order, Until::Fired).unwrap();
                assert_eq!((answer[4], answer[5]), expected(5_000), "{name}");
            }
        }
    }
}
