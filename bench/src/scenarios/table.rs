//! `table`: looking keys up in a hash table and putting them in, under hashes that can be flooded
//! and hashes that cannot.
//!
//! Tables of 10^4 to 10^6 strings of 17 bytes, each with a place of its own on the heap, and of
//! numbers. `hit` looks up keys that are there, in random order, `miss` keys that are not, `insert`
//! fills an empty table, which grows by itself. A run takes at least 10^6 keys, in as many rounds
//! of the small tables as that takes. The strings asked for are others than those in the table, in
//! the order in which they lie in memory.
//!
//! `lanesum` and `lanesum-2-4` are its map under SipHash-1-3 and -2-4, called with 64 keys at a
//! time; `lanesum-one` is the first with one key at a time. The others are the standard library's
//! map with the hash function of their name; `std` with its own, SipHash-1-3, which is the
//! baseline.

mod subjects;

use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

use anyhow::{Result, ensure};

use super::Scenario;
use crate::clock;
use crate::launch::{allowed_cpus, pin};
use crate::options::Options;
use crate::report::Report;
use crate::rig::{self, Case, Competitor, Sample};
use subjects::{AHash, FoldHash, Kind, Map13, Map24, OneByOne, SipHasher, Std, Table};

pub const SCENARIO: Scenario = Scenario {
    name: "table",
    about: "hash tables of 10^4 to 10^6 keys: looking up and inserting",
    cases: &[
        "hit-1e4",
        "miss-1e4",
        "insert-1e4",
        "hit-1e5",
        "miss-1e5",
        "insert-1e5",
        "hit-1e6",
        "miss-1e6",
        "insert-1e6",
        "hit-u64-1e6",
        "miss-u64-1e6",
        "insert-u64-1e6",
    ],
    implementations: &[
        BASELINE,
        "lanesum",
        "lanesum-2-4",
        "lanesum-one",
        "siphasher-2-4",
        "ahash",
        "foldhash",
    ],
    run,
};

const BASELINE: &str = "std";

/// The least number of keys of a run.
const KEYS_PER_RUN: usize = 1_000_000;

fn run(options: &Options, report: &mut Report) -> Result<()> {
    pin(&allowed_cpus()?[..1])?;
    for (entries, digits) in [(10_000, "1e4"), (100_000, "1e5"), (1_000_000, "1e6")] {
        let cases = ["hit", "miss", "insert"].map(|work| (work, format!("{work}-{digits}")));
        measure::<String>(options, report, entries, cases)?;
    }
    let cases = ["hit", "miss", "insert"].map(|work| (work, format!("{work}-u64-1e6")));
    measure::<u64>(options, report, 1_000_000, cases)
}

/// Measures tables of so many entries.
fn measure<K: Kind>(
    options: &Options,
    report: &mut Report,
    entries: usize,
    cases: [(&str, String); 3],
) -> Result<()> {
    let entries = (entries / options.scale).max(1);
    let times = (KEYS_PER_RUN / options.scale / entries).max(1);
    for (work, name) in cases.into_iter().filter(|(_, name)| options.only.case(name)) {
        let keys = Keys::<K>::new(entries, work == "miss");
        let wanted = |name: &&&str| options.only.row(name, BASELINE);
        let competitors = SCENARIO.implementations.iter().filter(wanted).map(|&name| match name {
            "std" => competitor::<K, Std<K>>(name, work, &keys, times),
            "lanesum" => competitor::<K, Map13<K>>(name, work, &keys, times),
            "lanesum-2-4" => competitor::<K, Map24<K>>(name, work, &keys, times),
            "lanesum-one" => competitor::<K, OneByOne<K>>(name, work, &keys, times),
            "siphasher-2-4" => competitor::<K, SipHasher<K>>(name, work, &keys, times),
            "ahash" => competitor::<K, AHash<K>>(name, work, &keys, times),
            "foldhash" => competitor::<K, FoldHash<K>>(name, work, &keys, times),
            other => unreachable!("{other} is not in the scenario"),
        });
        let case = Case {
            scenario: SCENARIO.name,
            name,
            bytes: (entries * times * K::LENGTH) as u64,
            items: (entries * times) as u64,
            competitors: competitors.collect(),
        };
        report.add(&rig::measure(case, options.rounds, &options.interrupt, clock::hertz)?)?;
    }
    Ok(())
}

/// What is in a table, and what it is asked for.
struct Keys<K> {
    entries: Vec<(K, u64)>,
    asked: Vec<K>,
    /// What there is to find for one round of `asked`.
    expected: Found,
}

/// How many values were found, and their sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Found {
    count: u64,
    sum: u64,
}

impl Found {
    fn add(&mut self, value: u64) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(value);
    }
}

impl<K: Kind> Keys<K> {
    /// The same in every run.
    fn new(entries: usize, absent: bool) -> Self {
        let mut random = fastrand::Rng::with_seed(17);
        let entries: Vec<_> =
            (0..entries as u64).map(|value| (K::of(random.u64(..)), value)).collect();
        let mut expected = Found::default();
        let asked = (0..entries.len()).map(|_| {
            if absent {
                return K::of(random.u64(..));
            }
            let (key, value) = &entries[random.usize(..entries.len())];
            expected.add(*value);
            key.clone()
        });
        let asked = asked.collect();
        Self { entries, asked, expected }
    }
}

fn competitor<'case, K: Kind, T: Table<K> + 'case>(
    name: &'static str,
    work: &str,
    keys: &'case Keys<K>,
    times: usize,
) -> Competitor<'case> {
    let found = Rc::new(Cell::new(Found::default()));
    let last = Rc::clone(&found);
    let is_insert = work == "insert";
    let run: Box<dyn FnMut() -> Result<Sample>> = if is_insert {
        Box::new(move || Ok(fill::<K, T>(keys, times, &found)))
    } else {
        let table = T::of(keys.entries.clone());
        Box::new(move || {
            let start = Instant::now();
            for _ in 0..times {
                found.set(table.find(&keys.asked));
            }
            Ok(Sample::whole(start.elapsed().as_secs_f64()))
        })
    };
    Competitor {
        name,
        every_round: true,
        run,
        verify: Box::new(move || {
            let all = Found {
                count: keys.entries.len() as u64,
                sum: keys.entries.iter().map(|(_, value)| value).sum(),
            };
            let expected = if is_insert { all } else { keys.expected };
            ensure!(last.get() == expected, "found {:?}, not {expected:?}", last.get());
            Ok(())
        }),
    }
}

/// Fills an empty table. Neither making the keys nor dropping the table is in the time.
fn fill<K: Kind, T: Table<K>>(keys: &Keys<K>, times: usize, found: &Cell<Found>) -> Sample {
    let mut seconds = 0.0;
    for round in 0..times {
        let entries = keys.entries.clone();
        let start = Instant::now();
        let table = T::of(entries);
        seconds += start.elapsed().as_secs_f64();
        if round == 0 {
            let mut all = Found::default();
            keys.entries.iter().for_each(|(key, _)| {
                let one = table.find(std::slice::from_ref(key));
                all = Found { count: all.count + one.count, sum: all.sum.wrapping_add(one.sum) };
            });
            found.set(all);
        }
    }
    Sample::whole(seconds)
}
