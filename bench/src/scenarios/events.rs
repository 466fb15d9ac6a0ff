//! `events`: adding, cancelling and running events, against timers in use and the document's own
//! shape.
//!
//! 10^5 to 10^7 events, at random times within 10 s in steps of 1 ms (the finest that all of them
//! know), half of them cancelled, the others run in virtual time, on one CPU. The cases `add`,
//! `cancel` and `fire` of one size share their runs. The ids to be cancelled are put in order
//! before the clock starts, so that looking them up is not in the time. Whoever can be told the
//! number of events beforehand is told.
//!
//! `cancel` is in random order, which is hard on the memory: each event was not
//! touched since it was added. `cancel-in-turn` cancels the same events in the order in which they
//! were added, as a server does whose requests take equally long. What a user sees lies between the
//! two.
//!
//! All rounds of all implementations take place in this process. So most of them find memory that
//! has been used before; in a fresh process the kernel's clearing of pages adds some 10 ns to each
//! addition, whoever makes it.
//!
//! Memory (`peak_mib` of the cases `add`, and in bytes after each size) is the growth of the
//! resident set from before the first addition to after the last, in a process of its own: what an
//! allocator needs for itself is included.
//!
//! `run-1e5`, the document's own test, `threads` and `lateness` are in real time, on all CPUs, each
//! run in a process of its own.

mod real_time;
mod subjects;

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::process::Command;
use std::rc::Rc;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};

use super::Scenario;
use crate::clock;
use crate::launch::{allowed_cpus, pin};
use crate::options::Options;
use crate::report::Report;
use crate::rig::{self, Case, Competitor, Sample};
use subjects::{Order, Until};

pub const SCENARIO: Scenario = Scenario {
    name: "events",
    about: "adding, cancelling and running 10^5 to 10^7 events, and how late they run",
    cases: &[
        "add-1e5",
        "cancel-1e5",
        "cancel-in-turn-1e5",
        "fire-1e5",
        "add-1e6",
        "cancel-1e6",
        "cancel-in-turn-1e6",
        "fire-1e6",
        "add-1e7",
        "cancel-1e7",
        "fire-1e7",
        "run-1e5",
        "threads",
        "lateness-p50",
        "lateness-p99",
    ],
    implementations: &[
        "delayqueue",
        "lanesum",
        "tokio-sleep",
        "wheel",
        "binaryheap",
        "document",
        "sorted-list",
        "lanesum-1-thread",
        "lanesum-4-threads",
    ],
    run,
};

/// The first argument that makes this program the child of an `events` run.
pub const WORD: &str = "events-run";

/// The cases of a size: adding, cancelling, firing, and cancelling in turn, which takes runs of its
/// own: too long among 10^7.
const SIZES: [(usize, &[&str]); 3] = [
    (100_000, &["add-1e5", "cancel-1e5", "fire-1e5", "cancel-in-turn-1e5"]),
    (1_000_000, &["add-1e6", "cancel-1e6", "fire-1e6", "cancel-in-turn-1e6"]),
    (10_000_000, &["add-1e7", "cancel-1e7", "fire-1e7"]),
];
/// Where in an answer the time of cancelling is.
const CANCEL: usize = 1;

const NAMES: [&str; 6] =
    ["delayqueue", "lanesum", "tokio-sleep", "wheel", "binaryheap", "document"];

/// A task for each of 10^7 sleeps would be 4 GB.
const TOKIO_SLEEP_LIMIT: usize = 1_000_000;

/// The document's own figures.
pub const DOCUMENT: &str = "\
    The document's table, of 2008: 100,000 events added and run by Control.Event in 3 s, by Control.Timeout in 12 s, by \
    Control.Event.Timeout in 58 s; 10,000 by the first version, on a list, in 38 s.";

fn run(options: &Options, report: &mut Report) -> Result<()> {
    let cpus = allowed_cpus()?;
    for (events, cases) in SIZES {
        if cases.iter().any(|case| options.only.case(case)) {
            pin(&cpus[..1])?;
            virtual_time(options, report, events, cases)?;
        }
    }
    pin(&cpus)?;
    real_time::run(options, report)
}

/// What a child prints: some numbers, which mean what its case says.
type Answer = Vec<f64>;

/// Starts this program again as the child for `words`.
fn child(words: &[&str], events: usize) -> Result<Answer> {
    let output = Command::new(std::env::current_exe()?)
        .args([WORD])
        .args(words)
        .arg(events.to_string())
        .output()
        .with_context(|| format!("starting the run of {}", words.join(" ")))?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(
        output.status.success(),
        "{}: {}: {}",
        words.join(" "),
        output.status,
        String::from_utf8_lossy(&output.stderr).trim_end()
    );
    let numbers = text.split_whitespace().map(str::parse).collect::<Result<_, _>>();
    numbers.with_context(|| format!("{} answered {text:?}", words.join(" ")))
}

/// The child's side: `IMPLEMENTATION CASE EVENTS`.
pub fn serve(arguments: impl Iterator<Item = OsString>) -> Result<()> {
    let words: Vec<String> = arguments.filter_map(|word| word.into_string().ok()).collect();
    let [implementation, case, events] = &words[..] else {
        bail!("{WORD} is called by the bench alone");
    };
    let events = events.parse()?;
    let answer = match case.as_str() {
        "memory" => subjects::measure(implementation, events, Order::Random, Until::Added)?,
        _ => real_time::measure(implementation, case, events)?,
    };
    println!("{}", answer.iter().map(f64::to_string).collect::<Vec<_>>().join(" "));
    Ok(())
}

/// Runs that several cases look at: by implementation, one a round.
type Runs = Rc<RefCell<HashMap<&'static str, Vec<Run>>>>;

struct Run {
    answer: Answer,
    cost_seconds: f64,
}

/// What a run of this round says: one that another case has had, or else a new one. A sample's
/// seconds are what the answer has at `at`.
fn sample(
    runs: &Runs,
    name: &'static str,
    round: usize,
    at: usize,
    run: impl FnOnce() -> Result<Answer>,
) -> Result<Sample> {
    let mut runs = runs.borrow_mut();
    let runs = runs.entry(name).or_default();
    if runs.len() == round {
        let start = Instant::now();
        let answer = run()?;
        runs.push(Run { answer, cost_seconds: start.elapsed().as_secs_f64() });
    }
    let Run { answer, cost_seconds } = &runs[round];
    let seconds = *answer.get(at).context("the run answered nothing")?;
    Ok(Sample { cost_seconds: *cost_seconds, ..Sample::whole(seconds) })
}

fn virtual_time(
    options: &Options,
    report: &mut Report,
    events: usize,
    cases: &[&'static str],
) -> Result<()> {
    let events = (events / options.scale).max(1);
    let runs = Runs::default();
    let mut bytes = Vec::new();
    for (phase, case) in cases.iter().enumerate().filter(|each| options.only.case(each.1)) {
        let wanted = NAMES.iter().copied();
        let wanted = wanted.filter(|&n| options.only.row(n, NAMES[0]));
        let fits = |name: &&str| events <= TOKIO_SLEEP_LIMIT || *name != "tokio-sleep";
        let mut competitors = Vec::new();
        for name in wanted.filter(fits) {
            options.interrupt.check()?;
            let run = match phase {
                0 => {
                    let resident = child(&[name, "memory"], events)?[3];
                    bytes.push((name, resident / events as f64));
                    Phase { order: Order::Random, at: phase, bytes: Some(resident as u64) }
                }
                3 => Phase { order: Order::Added, at: CANCEL, bytes: None },
                _ => Phase { order: Order::Random, at: phase, bytes: None },
            };
            // What cancels in turn has runs of its own.
            let runs = if phase == 3 { Runs::default() } else { runs.clone() };
            competitors.push(competitor(name, run, events, &runs));
        }
        // All but the additions concern half of the events.
        let items = if phase == 0 { events } else { events / 2 } as u64;
        let case = Case {
            scenario: SCENARIO.name,
            name: (*case).to_owned(),
            bytes: items * size_of::<u64>() as u64,
            items,
            competitors,
        };
        report.add(&rig::measure(case, options.rounds, &options.interrupt, clock::hertz)?)?;
    }
    if !bytes.is_empty() {
        println!("\nbytes per pending event, payload of 8 included, among {events}");
    }
    for (name, bytes) in bytes {
        println!("{name:<16} {bytes:.1}");
    }
    Ok(())
}

/// What of its runs a case looks at.
struct Phase {
    order: Order,
    /// Where in an answer its time is.
    at: usize,
    /// What the events take, if that is what the case tells.
    bytes: Option<u64>,
}

fn competitor(name: &'static str, phase: Phase, events: usize, runs: &Runs) -> Competitor<'static> {
    let mut round = 0;
    let (done, seen) = (runs.clone(), runs.clone());
    Competitor {
        name,
        every_round: name == "lanesum",
        run: Box::new(move || {
            let measure = || subjects::measure(name, events, phase.order, Until::Fired);
            let sample = sample(&done, name, round, phase.at, measure)?;
            round += 1;
            Ok(Sample { peak_bytes: phase.bytes, ..sample })
        }),
        verify: Box::new(move || {
            let answer = &seen.borrow()[name][0].answer;
            let expected = subjects::expected(events);
            let found = (answer[4], answer[5]);
            ensure!(found == expected, "ran {found:?} (events, their sum), not {expected:?}");
            Ok(())
        }),
    }
}
