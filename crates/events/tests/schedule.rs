//! The schedule against a model that is slow and obvious, and its promises about memory and ids.

use std::collections::BTreeMap;

use lanesum_events::{EventId, Schedule};
use proptest::prelude::*;

/// Events by deadline and number of the addition or move.
#[derive(Default)]
struct Model {
    order: BTreeMap<(u64, u64), usize>,
    place: BTreeMap<usize, (u64, u64)>,
    next: u64,
}

impl Model {
    fn put(&mut self, name: usize, deadline: u64) {
        self.take(name);
        self.order.insert((deadline, self.next), name);
        self.place.insert(name, (deadline, self.next));
        self.next += 1;
    }

    fn take(&mut self, name: usize) -> bool {
        self.place.remove(&name).is_some_and(|place| self.order.remove(&place).is_some())
    }

    fn first(&self) -> Option<(u64, usize)> {
        self.order.first_key_value().map(|(&(deadline, _), &name)| (deadline, name))
    }
}

#[derive(Clone, Debug)]
enum Op {
    Add(u64),
    /// `usize` selects one of all ids so far.
    Cancel(usize),
    Reschedule(usize, u64),
    Next,
    /// Pops up to `.1` events that are due at `.0`.
    Pop(u64, u8),
    Claim(u64),
    List,
}

/// Deadlines of every kind: clustered, equal, near, far, at both ends of time.
fn deadline() -> impl Strategy<Value = u64> {
    const BASE: u64 = 1_700_000_000_000_000_000;
    prop_oneof![
        4 => (0..10_000_000_000_u64).prop_map(|d| BASE + d),
        4 => (0..300_u64).prop_map(|d| BASE + 5_000_000_000 + d),
        2 => (0..10_u64).prop_map(|d| BASE + d * 1_000_000),
        2 => (0..64_u32, 0..3_u64).prop_map(|(bit, d)| (1 << bit) + d),
        1 => Just(u64::MAX),
        1 => Just(0),
        1 => any::<u64>(),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        10 => deadline().prop_map(Op::Add),
        3 => any::<usize>().prop_map(Op::Cancel),
        2 => (any::<usize>(), deadline()).prop_map(|(n, d)| Op::Reschedule(n, d)),
        2 => Just(Op::Next),
        2 => (deadline(), any::<u8>()).prop_map(|(now, n)| Op::Pop(now, n)),
        1 => deadline().prop_map(Op::Claim),
    ]
}

fn compare(ops: &[Op]) {
    let mut schedule = Schedule::new();
    let mut model = Model::default();
    let mut ids: Vec<EventId> = Vec::new();
    for op in ops {
        match *op {
            Op::Add(deadline) => {
                model.put(ids.len(), deadline);
                ids.push(schedule.add(deadline, ids.len()).unwrap());
            }
            Op::Cancel(pick) if !ids.is_empty() => {
                let name = pick % ids.len();
                let there = model.take(name);
                assert_eq!(schedule.cancel(ids[name]), there.then_some(name));
            }
            Op::Reschedule(pick, deadline) if !ids.is_empty() => {
                let name = pick % ids.len();
                let there = model.place.contains_key(&name);
                assert_eq!(schedule.is_pending(ids[name]), there);
                assert_eq!(schedule.reschedule(ids[name], deadline), there);
                if there {
                    model.put(name, deadline);
                }
            }
            Op::Next => assert_eq!(schedule.next_deadline(), model.first().map(|first| first.0)),
            Op::Pop(now, count) => {
                for _ in 0..count {
                    let due = model.first().filter(|first| first.0 <= now);
                    let popped = schedule.pop_due(now);
                    assert_eq!(popped.map(|(deadline, _, name)| (deadline, name)), due);
                    let Some((_, name)) = due else { break };
                    assert_eq!(popped.map(|popped| popped.1), Some(ids[name]));
                    model.take(name);
                }
            }
            Op::Claim(now) => {
                let due = model.first().filter(|first| first.0 <= now);
                let claim = schedule.claim_due(now).map(|claim| (claim.deadline, *claim.payload));
                assert_eq!(claim, due);
                if let Some((deadline, name)) = due {
                    // It is idle: in the schedule, but neither pending nor due. Half of them are
                    // rescheduled.
                    model.take(name);
                    assert!(!schedule.is_pending(ids[name]));
                    assert_eq!(schedule.get(ids[name]), Some(&name));
                    if deadline % 2 == 0 {
                        assert!(schedule.reschedule(ids[name], deadline ^ 1));
                        model.put(name, deadline ^ 1);
                    } else {
                        assert_eq!(schedule.cancel(ids[name]), Some(name));
                    }
                }
            }
            Op::List => {
                let listed = schedule.iter().map(|event| (event.deadline, *event.payload));
                let expected = model.order.iter().map(|(&(deadline, _), &name)| (deadline, name));
                assert!(listed.eq(expected));
            }
            Op::Cancel(_) | Op::Reschedule(..) => {}
        }
        assert_eq!(schedule.len(), model.order.len());
    }
    compare_rest(schedule, model);
}

fn compare_rest(mut schedule: Schedule<usize>, mut model: Model) {
    let listed: Vec<_> = schedule.iter().map(|event| (event.deadline, *event.payload)).collect();
    let mut popped = Vec::new();
    while let Some((deadline, _, name)) = schedule.pop_due(u64::MAX) {
        assert_eq!(model.first(), Some((deadline, name)));
        model.take(name);
        popped.push((deadline, name));
    }
    assert_eq!(model.first(), None);
    assert_eq!(listed, popped);
    assert_eq!((schedule.len(), schedule.idle()), (0, 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2))]

    #[test]
    fn agrees_with_a_map_over_1e5_operations(ops in prop::collection::vec(op(), 100_000)) {
        compare(&ops);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn agrees_with_a_map(ops in prop::collection::vec(op(), 1..10_000)) {
        compare(&ops);
    }

    /// So few events that they never leave the sorted line, and so many that they always do.
    #[test]
    fn agrees_with_a_map_when_small(ops in prop::collection::vec(op(), 1..200)) {
        compare(&ops);
        let lists = ops.iter().flat_map(|op| [op.clone(), Op::List]).collect::<Vec<_>>();
        compare(&lists);
    }
}

/// Enough events in one stretch of time that the wheel distributes them over and over, the cursor
/// turns back across large parts of it, and stashes are laid aside and taken up again.
#[test]
fn agrees_with_a_map_when_large() {
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = move |below: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % below
    };
    let base = 1_700_000_000_000_000_000;
    let mut ops = Vec::new();
    for round in 0..20 {
        let start = base + next(1 << 40);
        for _ in 0..5_000 {
            ops.push(Op::Add(start + next(1 << (12 + round))));
            if next(3) == 0 {
                ops.push(Op::Cancel(next(u64::MAX) as usize));
            }
        }
        ops.push(Op::Next);
        // Before everything that has been sorted out so far.
        for _ in 0..50 {
            ops.push(Op::Add(base - 1 - next(1 << 50)));
            ops.push(Op::Next);
            ops.push(Op::Pop(base, 1));
        }
        ops.push(Op::Pop(start + (1 << (11 + round)), 255));
    }
    ops.push(Op::List);
    assert!(ops.len() > 100_000);
    compare(&ops);
}

/// Ten million equal deadlines would be quadratic if ties were kept by inserting.
#[test]
fn equal_deadlines_run_in_order_of_adding() {
    let mut schedule = Schedule::new();
    for n in 0..300_000_u32 {
        schedule.add(if n % 2 == 0 { 7 } else { 1 << 40 }, n).unwrap();
    }
    let order: Vec<u32> =
        std::iter::from_fn(|| schedule.pop_due(u64::MAX)).map(|due| due.2).collect();
    let expected: Vec<u32> = (0..300_000).step_by(2).chain((1..300_000).step_by(2)).collect();
    assert!(order == expected);
}

/// A known bug of such systems: an alarm that is set for an earlier time, while older events are
/// taken out to be run, loses them.
#[test]
fn adding_an_earlier_event_during_expiry_loses_none() {
    let mut schedule = Schedule::new();
    let mut ran = vec![0_u8; 3_000_000];
    let mut added = 0;
    for n in 0..1_000_000_usize {
        schedule.add(1_000 + 3 * n as u64, n).unwrap();
        added += 1;
    }
    let mut now = 0;
    while let Some(deadline) = schedule.next_deadline() {
        now = now.max(deadline);
        let (_, _, name) = schedule.pop_due(now).unwrap();
        ran[name] += 1;
        // During expiry: an event before all others, and one just before the next.
        if added < ran.len() {
            schedule.add(now / 2, added).unwrap();
            schedule.add(now + 1, added + 1).unwrap();
            added += 2;
        }
    }
    assert!(ran.iter().all(|&times| times == 1));
}

#[test]
fn a_stale_id_cancels_nothing() {
    let mut schedule = Schedule::new();
    let first = schedule.add(5, 'a').unwrap();
    assert_eq!(schedule.cancel(first), Some('a'));
    // The slot is used again.
    let second = schedule.add(5, 'b').unwrap();
    assert_ne!(first, second);
    assert_eq!(schedule.cancel(first), None);
    assert!(!schedule.reschedule(first, 1));
    assert_eq!(schedule.get(first), None);
    assert_eq!(schedule.pop_due(5).map(|due| due.2), Some('b'));
    assert_eq!(schedule.cancel(second), None);
}

#[test]
fn a_full_schedule_returns_the_payload() {
    let mut schedule = Schedule::with_bound(2);
    let one = schedule.add(1, "one").unwrap();
    schedule.add_idle("two").unwrap();
    assert_eq!(schedule.add(3, "three").map_err(|full| full.0), Err("three"));
    schedule.cancel(one);
    assert!(schedule.add(3, "three").is_ok());
    assert_eq!((schedule.len(), schedule.idle()), (1, 1));
}

#[test]
fn the_earliest_and_latest_deadlines_are_exact() {
    let mut schedule = Schedule::new();
    let year = 365 * 24 * 3600 * 1_000_000_000;
    for deadline in [u64::MAX, 500 * year + 1, 1, 500 * year, 0, u64::MAX - 1] {
        schedule.add(deadline, deadline).unwrap();
    }
    assert_eq!(schedule.pop_due(0).map(|due| due.2), Some(0));
    assert_eq!(schedule.pop_due(0), None);
    assert_eq!(schedule.pop_due(500 * year - 1).map(|due| due.2), Some(1));
    assert_eq!(schedule.pop_due(500 * year - 1), None);
    assert_eq!(schedule.pop_due(500 * year).map(|due| due.2), Some(500 * year));
    assert_eq!(schedule.pop_due(500 * year), None);
    assert_eq!(schedule.pop_due(u64::MAX - 2).map(|due| due.2), Some(500 * year + 1));
    assert_eq!(schedule.pop_due(u64::MAX - 2), None);
    assert_eq!(schedule.pop_due(u64::MAX).map(|due| due.2), Some(u64::MAX - 1));
    assert_eq!(schedule.pop_due(u64::MAX).map(|due| due.2), Some(u64::MAX));
}

#[test]
fn an_event_with_eight_bytes_takes_at_most_48() {
    let mut schedule = Schedule::new();
    for n in 0..1_000_000_u64 {
        schedule.add(n.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 10_000_000_000, n).unwrap();
    }
    assert!(schedule.heap_size() <= 48 * schedule.len(), "{} bytes", schedule.heap_size());
}

/// All memory is freed except what an empty schedule keeps for the next few events.
const KEPT: usize = 16 * 1024;

#[test]
fn ten_million_cancelled_events_leave_no_memory() {
    let mut schedule = Schedule::new();
    let mut ids = Vec::new();
    for round in 0..10 {
        for n in 0..1_000_000_u64 {
            ids.push(schedule.add(n * 10_000 + round, n).unwrap());
        }
        for id in ids.drain(..) {
            assert!(schedule.cancel(id).is_some());
        }
        assert!(schedule.heap_size() <= KEPT, "{} bytes, round {round}", schedule.heap_size());
    }
}

#[test]
fn short_lived_events_leak_no_memory() {
    let mut schedule = Schedule::new();
    for n in 0..1_000_000_u64 {
        // Far away each time: in a wheel that cancels by a mark they would pile up.
        let id = schedule.add(n << 40, n).unwrap();
        assert_eq!(schedule.cancel(id), Some(n));
    }
    assert!(schedule.heap_size() <= 64 * 1024, "{} bytes", schedule.heap_size());
    for n in 0..100_000_u64 {
        schedule.add(n << 20, n).unwrap();
    }
    while schedule.pop_due(u64::MAX).is_some() {}
    assert_eq!(schedule.next_deadline(), None);
    assert!(schedule.heap_size() <= KEPT, "{} bytes", schedule.heap_size());
}

/// The slots of a few are spread over all of memory; new events must not take more of it in
/// passing.
#[test]
fn short_lived_events_next_to_lasting_ones_take_no_more_memory() {
    let mut schedule = Schedule::new();
    let ids: Vec<_> = (0..300_000_u64).map(|n| schedule.add(n << 20, n).unwrap()).collect();
    for (n, &id) in ids.iter().enumerate() {
        assert!(n % 1_000 == 0 || schedule.cancel(id).is_some());
    }
    let few = schedule.heap_size();
    assert!(few < 300 * 6_000 + KEPT, "{few} bytes for 300 events");
    for n in 0..1_000_000_u64 {
        let id = schedule.add(n << 30, n).unwrap();
        assert_eq!(schedule.cancel(id), Some(n));
    }
    assert!(schedule.heap_size() < few + 64 * 1024, "{few}, {} bytes", schedule.heap_size());
}
