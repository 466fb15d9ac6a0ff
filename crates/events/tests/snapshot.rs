//! Pending events, out and in again.

use lanesum_events::{Schedule, Snapshot};

#[test]
fn a_snapshot_round_trips_through_json_in_order() {
    let mut schedule = Schedule::new();
    for (n, name) in ["c", "a", "b", "gone", "d"].into_iter().enumerate() {
        schedule.add([u64::MAX, 5, 5, 5, u64::MAX][n], name.to_owned()).unwrap();
    }
    let gone = schedule.iter().find(|event| event.payload == "gone").unwrap().id;
    schedule.cancel(gone);
    let text = serde_json::to_string(&schedule.snapshot()).unwrap();
    assert_eq!(
        text,
        r#"{"events":[[5,"a"],[5,"b"],[18446744073709551615,"c"],[18446744073709551615,"d"]]}"#
    );

    let snapshot: Snapshot<String> = serde_json::from_str(&text).unwrap();
    let mut restored = Schedule::new();
    let ids = restored.restore(snapshot).unwrap();
    assert_eq!(restored.get(ids[1]).map(String::as_str), Some("b"));
    assert_eq!(restored.snapshot(), schedule.snapshot());
}

#[test]
fn restore_returns_events_beyond_the_bound() {
    let events = vec![(3, 'x'), (4, 'y'), (5, 'z')];
    let mut small = Schedule::with_bound(2);
    let left = small.restore(Snapshot { events }).unwrap_err().0;
    assert_eq!(left.events, [(5, 'z')]);
    assert_eq!(small.snapshot().events, [(3, 'x'), (4, 'y')]);
}
