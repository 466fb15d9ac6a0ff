//! Tests of internals: wrapping counters and reused slots.

use super::*;

/// An old event exists when the era and the tags wrap.
#[test]
fn ids_stay_unique_when_counters_wrap() {
    let mut schedule = Schedule::new();
    let early = schedule.add(1_000_000, u64::MAX).unwrap();
    schedule.next_seq = (1 << 32) - 5_000;
    schedule.next_tag = Tag::new(u32::MAX - 7_000).unwrap();
    let mut ids = vec![early];
    let mut gone = Vec::new();
    for n in 0..10_000 {
        ids.push(schedule.add(n % 1_000, n).unwrap());
        if n % 3 == 0 {
            let id = ids.swap_remove(n as usize % ids.len());
            assert!(schedule.cancel(id).is_some());
            gone.push(id);
        }
        if n % 5 == 0 {
            assert!(schedule.reschedule(ids[n as usize % ids.len()], n % 777));
        }
    }
    assert!(schedule.next_seq > 1 << 32 && schedule.next_tag.get() < 10_000);
    let mut all: Vec<_> = ids.iter().chain(&gone).collect();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), ids.len() + gone.len(), "two additions have the same id");
    assert!(gone.iter().all(|&id| schedule.get(id).is_none() && !schedule.reschedule(id, 0)));
    assert_eq!(schedule.len(), ids.len());
    let mut popped: Vec<_> = std::iter::from_fn(|| schedule.pop_due(u64::MAX)).collect();
    assert!(popped.is_sorted_by_key(|due| due.0));
    popped.sort_by_key(|due| due.1);
    ids.sort();
    assert!(popped.iter().map(|due| due.1).eq(ids));
}

/// A stale entry whose slot was reused must not match the new event.
#[test]
fn a_stale_entry_does_not_match_a_new_event() {
    let mut schedule = Schedule::new();
    let first = schedule.add(10, 'a').unwrap();
    schedule.cancel(first);
    let second = loop {
        let id = schedule.add(20, 'b').unwrap();
        if id.slot == first.slot {
            break id;
        }
        schedule.cancel(id);
    };
    assert_eq!(schedule.pop_due(15), None);
    // Moved away and back: the first entry at 20 is stale, although the event is due at 20 again.
    assert!(schedule.reschedule(second, 5) && schedule.reschedule(second, 20));
    assert_eq!(schedule.pop_due(5), None);
    assert_eq!(schedule.next_deadline(), Some(20));
    assert_eq!(schedule.pop_due(20), Some((20, second, 'b')));
    assert_eq!(schedule.pop_due(u64::MAX), None);
    assert_eq!(schedule.queue.len(), 0);
}
