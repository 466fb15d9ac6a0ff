//! The memory of the process. It is the only test in this file, so that no other test allocates
//! meanwhile.

use lanesum_events::{EventId, Schedule};

/// Returns the resident bytes without a file.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<usize>().unwrap() * 1024
}

/// What has been given back to the allocator the allocator may keep, for the next one who asks:
/// glibc does, if small pieces that a thread holds on to lie above it. So the first time shows what
/// the events take, and the next one that nothing is lost.
#[test]
#[cfg_attr(sanitized, ignore = "sanitizers take memory for each byte, and keep what is freed")]
fn ten_million_cancelled_events_leak_no_memory() {
    const EVENTS: usize = 10_000_000;
    // The list of ids is allocated and touched before the first measurement.
    let mut schedule = Schedule::new();
    let some = schedule.add(0, 0_u64).unwrap();
    schedule.cancel(some);
    let mut ids: Vec<EventId> = vec![some; EVENTS];
    let before = resident();
    let mut peaks = Vec::new();
    let mut deadline = 1_u64;
    for round in 0..2 {
        for (n, id) in ids.iter_mut().enumerate() {
            deadline = deadline.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            *id = schedule.add(deadline >> 20, n as u64).unwrap();
        }
        peaks.push(resident() - before);
        // The last time after they have been sorted in.
        assert!(round < 1 || schedule.next_deadline().is_some());
        for (n, &id) in ids.iter().enumerate() {
            assert_eq!(schedule.cancel(id), Some(n as u64));
        }
        assert!(schedule.heap_size() < 64 * 1024, "{} bytes are kept", schedule.heap_size());
    }
    // 48 bytes each are allowed; less than 24 would mean that this does not look at the events.
    assert!((24 * EVENTS..48 * EVENTS).contains(&peaks[0]), "{peaks:?} bytes");
    assert!(peaks[1] < peaks[0] + EVENTS, "{peaks:?} bytes");
}
