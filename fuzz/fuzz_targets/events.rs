//! A script of operations on a schedule against the same on a map: what is due, in which order, and
//! what an id still names.

#![no_main]

use std::collections::BTreeMap;

use lanesum_events::{EventId, Schedule};
use libfuzzer_sys::fuzz_target;

/// Reads the script: bytes, and zero when it is over.
struct Script<'a>(&'a [u8]);

impl Script<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// A deadline: one digit of an earlier one changed, so that all levels of the wheel are met.
    fn deadline(&mut self, last: u64) -> u64 {
        let shift = 8 * u32::from(self.byte() % 9);
        let digit = u64::from(self.byte());
        match shift {
            64 => u64::MAX - digit,
            _ => last & !(0xff << shift) | digit << shift,
        }
    }
}

/// Events by deadline and number of the addition or move; the map's value is an index of `ids`.
#[derive(Default)]
struct Model {
    events: BTreeMap<(u64, usize), usize>,
    /// Where each event is, if it is pending.
    places: Vec<Option<(u64, usize)>>,
    moves: usize,
}

impl Model {
    fn put(&mut self, event: usize, deadline: u64) {
        let place = (deadline, self.moves);
        self.moves += 1;
        self.events.insert(place, event);
        self.places[event] = Some(place);
    }

    fn take(&mut self, event: usize) -> bool {
        self.places[event].take().is_some_and(|place| self.events.remove(&place).is_some())
    }

    fn first(&self) -> Option<(u64, usize)> {
        self.events.first_key_value().map(|(place, &event)| (place.0, event))
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut script = Script(bytes);
    let (mut schedule, mut model) = (Schedule::new(), Model::default());
    let mut ids: Vec<EventId> = Vec::new();
    let mut last = 1_700_000_000_000_000_000;
    while !script.0.is_empty() {
        let operation = script.byte();
        let pick = usize::from(script.byte()) << 8 | usize::from(script.byte());
        match operation % 8 {
            // Many at a time, or a script would have to be long to fill a bucket.
            0..=2 => {
                last = script.deadline(last);
                let step = u64::from(script.byte());
                for n in 0..=(pick as u64 % 300) {
                    let deadline = last.wrapping_add(n * step * step);
                    model.places.push(None);
                    model.put(ids.len(), deadline);
                    ids.push(schedule.add(deadline, ids.len()).expect("it has no bound"));
                }
            }
            3 if !ids.is_empty() => {
                for n in 0..=pick % 64 {
                    let event = (pick + n * 7) % ids.len();
                    let there = model.take(event);
                    assert_eq!(schedule.cancel(ids[event]), there.then_some(event));
                }
            }
            4 if !ids.is_empty() => {
                let event = pick % ids.len();
                last = script.deadline(last);
                let there = model.take(event);
                assert_eq!(schedule.reschedule(ids[event], last), there);
                if there {
                    model.put(event, last);
                }
            }
            5 => assert_eq!(schedule.next_deadline(), model.first().map(|first| first.0)),
            6 => {
                let now = script.deadline(last);
                for _ in 0..=pick % 512 {
                    let due = model.first().filter(|first| first.0 <= now);
                    let popped =
                        schedule.pop_due(now).map(|(deadline, _, event)| (deadline, event));
                    assert_eq!(popped, due);
                    let Some((_, event)) = due else { break };
                    model.take(event);
                }
            }
            _ => {
                let listed = schedule.iter().map(|event| (event.deadline, *event.payload));
                assert!(listed.eq(model.events.iter().map(|(place, &event)| (place.0, event))));
            }
        }
        assert_eq!(schedule.len(), model.events.len());
        if ids.len() > 20_000 {
            break;
        }
    }
    while let Some((deadline, _, event)) = schedule.pop_due(u64::MAX) {
        assert_eq!(model.first(), Some((deadline, event)));
        model.take(event);
    }
    assert_eq!(model.first(), None);
});
