//! How a figure comes about.
//!
//! 1. Rounds: A B C, A B C, and so on, each competitor once a round, so that a machine that slows
//!    down slows all of them. The CPU's clock is taken at the start of each round.
//! 2. In the first round every answer is verified, outside the measured time. A competitor that
//!    fails, then or later, has no figures, only a reason.
//! 3. A competitor that needs long takes part in fewer rounds, spread evenly; the baseline (the
//!    first of the case) and what the case is about take part in all.
//!
//! There is no round for warming up: whoever makes a case sees to it that its files are in the page
//! cache.
//!
//! Speeds are compared within a round: the ratio of a row is the median, over its rounds, of
//! the baseline's seconds by its own. Cycles per byte are computed within a round as well.

use anyhow::Result;

use crate::disk::Work;
use crate::options::Interrupt;
use crate::statistics::{median, min, p90};

/// A competitor that would need more than this for its rounds takes part in fewer.
const BUDGET_SECONDS: f64 = 5.0;
/// But in no fewer than this, if there are so many, and unless the first takes all that alone.
const LEAST_ROUNDS: usize = 2;

/// One timed run.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub seconds: f64,
    /// What the run took altogether, `seconds` and what is not measured.
    pub cost_seconds: f64,
    /// Peak resident memory, where the run was a process of its own.
    pub peak_bytes: Option<u64>,
    /// What the disks did meanwhile, where they are simulated.
    pub disk: Option<Work>,
}

impl Sample {
    /// A run of which all is measured.
    pub const fn whole(seconds: f64) -> Self {
        Self { seconds, cost_seconds: seconds, peak_bytes: None, disk: None }
    }
}

/// One row of a case. In the first round `verify` follows `run`.
pub struct Competitor<'case> {
    pub name: &'static str,
    /// Whether it takes part in every round, however long it takes, as the baseline does anyway.
    pub every_round: bool,
    /// Does the whole work of the case once.
    pub run: Box<dyn FnMut() -> Result<Sample> + 'case>,
    /// Looks at the answer of the last run.
    pub verify: Box<dyn FnMut() -> Result<()> + 'case>,
}

/// What is measured together: the same work, done by each competitor.
pub struct Case<'case> {
    pub scenario: &'static str,
    pub name: String,
    /// Bytes of input of one run.
    pub bytes: u64,
    /// Inputs (files, messages) of one run.
    pub items: u64,
    /// The first is the baseline.
    pub competitors: Vec<Competitor<'case>>,
}

/// A case with its figures.
pub struct Measured {
    pub scenario: &'static str,
    pub case: String,
    pub bytes: u64,
    pub items: u64,
    /// Lowest and highest clock of the rounds, in Hz.
    pub clock: (f64, f64),
    pub rows: Vec<Row>,
}

pub struct Row {
    pub implementation: &'static str,
    /// The reason, if there are no figures.
    pub outcome: Result<Figures, String>,
}

#[derive(Debug)]
pub struct Figures {
    pub rounds: usize,
    pub median_s: f64,
    pub min_s: f64,
    pub p90_s: f64,
    pub cycles_per_byte: f64,
    /// Of speeds: above 1 is faster than the baseline.
    pub ratio_to_baseline: f64,
    /// The highest of all rounds.
    pub peak_bytes: Option<u64>,
    pub disk: Option<DiskFigures>,
}

/// What the simulated disks did in one run: medians over the rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiskFigures {
    pub requests: f64,
    pub seeks: f64,
    pub bytes: f64,
    pub busy_s: f64,
}

impl DiskFigures {
    fn of(rounds: &[Work]) -> Option<Self> {
        let median_of =
            |value: fn(&Work) -> f64| median(&rounds.iter().map(value).collect::<Vec<_>>());
        (!rounds.is_empty()).then(|| Self {
            requests: median_of(|work| work.requests as f64),
            seeks: median_of(|work| work.seeks as f64),
            bytes: median_of(|work| work.bytes as f64),
            busy_s: median_of(|work| work.busy.as_secs_f64()),
        })
    }
}

/// Measures `case` in at most `rounds` rounds, which is at least one; `clock` gives the CPU's clock
/// in Hz.
///
/// # Errors
///
/// If the baseline fails, or the run is interrupted. Other competitors that fail are rows
/// with a reason.
pub fn measure(
    case: Case<'_>,
    rounds: usize,
    interrupt: &Interrupt,
    mut clock: impl FnMut() -> f64,
) -> Result<Measured> {
    let Case { scenario, name, bytes, items, competitors } = case;
    let mut entries: Vec<Entry<'_>> =
        competitors.into_iter().map(|competitor| Entry::new(competitor, rounds)).collect();
    let mut clocks = Vec::new();
    for round in 0..rounds {
        clocks.push(clock());
        run_round(&mut entries, round, rounds, interrupt)?;
    }
    let baseline = entries[0].samples.clone();
    let rows = entries.into_iter().map(|entry| entry.row(bytes, &baseline, &clocks)).collect();
    let clock = (min(&clocks), clocks.iter().copied().fold(0.0, f64::max));
    Ok(Measured { scenario, case: name, bytes, items, clock, rows })
}

/// A competitor on its way through the rounds.
struct Entry<'case> {
    competitor: Competitor<'case>,
    /// How many rounds it takes part in, or why in none any more.
    state: Result<usize, String>,
    /// By round; none where it did not take part.
    samples: Vec<Option<Sample>>,
}

fn run_round(
    entries: &mut [Entry<'_>],
    round: usize,
    rounds: usize,
    interrupt: &Interrupt,
) -> Result<()> {
    for (place, entry) in entries.iter_mut().enumerate() {
        let outcome = entry.run(round, rounds);
        interrupt.check()?;
        if let Err(error) = outcome {
            if place == 0 {
                let name = entry.competitor.name;
                return Err(error.context(format!("the baseline {name} failed")));
            }
            entry.state = Err(format!("{error:#}"));
        } else if place > 0 && !entry.competitor.every_round && round == 0 {
            entry.limit_rounds(rounds);
        }
    }
    Ok(())
}

impl<'case> Entry<'case> {
    fn new(competitor: Competitor<'case>, rounds: usize) -> Self {
        Self { competitor, state: Ok(rounds), samples: Vec::new() }
    }

    /// Takes part in `round`, if it is one of its own.
    fn run(&mut self, round: usize, rounds: usize) -> Result<()> {
        let takes_part = matches!(self.state, Ok(own) if takes_part(round, own, rounds));
        let sample = takes_part.then(|| (self.competitor.run)()).transpose()?;
        if round == 0 {
            (self.competitor.verify)()?;
        }
        self.samples.push(sample);
        Ok(())
    }

    /// Settles, after the first round, in how many it takes part.
    fn limit_rounds(&mut self, rounds: usize) {
        if let [Some(first)] = self.samples[..] {
            self.state = Ok(rounds_for(first.cost_seconds, rounds));
        }
    }

    fn row(self, bytes: u64, baseline: &[Option<Sample>], clocks: &[f64]) -> Row {
        let implementation = self.competitor.name;
        let outcome = self.state.map(|_| figures(bytes, &self.samples, baseline, clocks));
        Row { implementation, outcome }
    }
}

/// `samples`, `baseline` and `clocks` go by round; the baseline has a sample in each.
fn figures(
    bytes: u64,
    samples: &[Option<Sample>],
    baseline: &[Option<Sample>],
    clocks: &[f64],
) -> Figures {
    let mut seconds = Vec::new();
    let mut ratios = Vec::new();
    let mut cycles = Vec::new();
    for ((own, base), clock) in samples.iter().zip(baseline).zip(clocks) {
        if let (Some(own), Some(base)) = (own, base) {
            seconds.push(own.seconds);
            ratios.push(base.seconds / own.seconds);
            cycles.push(own.seconds * clock / bytes as f64);
        }
    }
    let disk: Vec<Work> = samples.iter().flatten().filter_map(|sample| sample.disk).collect();
    Figures {
        rounds: seconds.len(),
        median_s: median(&seconds),
        min_s: min(&seconds),
        p90_s: p90(&seconds),
        cycles_per_byte: median(&cycles),
        ratio_to_baseline: median(&ratios),
        peak_bytes: samples.iter().flatten().filter_map(|sample| sample.peak_bytes).max(),
        disk: DiskFigures::of(&disk),
    }
}

/// The number of rounds for a competitor whose first round took `seconds` altogether.
fn rounds_for(seconds: f64, rounds: usize) -> usize {
    let affordable = (BUDGET_SECONDS / seconds) as usize;
    let least = if seconds > BUDGET_SECONDS { 1 } else { LEAST_ROUNDS };
    affordable.max(least).min(rounds)
}

/// Whether a competitor with `own` rounds of `all` takes part in `round` (from 0). The `own`, if
/// any, are spread evenly and begin with the first.
fn takes_part(round: usize, own: usize, all: usize) -> bool {
    round * own % all < own
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::{anyhow, bail};
    use std::cell::RefCell;

    /// A competitor whose runs take the given seconds, one after the other, and are put down in
    /// `log`.
    fn scripted<'case>(
        name: &'static str,
        seconds: &'case [f64],
        log: &'case RefCell<Vec<&'static str>>,
    ) -> Competitor<'case> {
        let mut script = seconds.iter();
        let run = move || {
            log.borrow_mut().push(name);
            let seconds = *script.next().ok_or_else(|| anyhow!("{name} ran too often"))?;
            Ok(Sample { peak_bytes: Some((seconds * 10.0) as u64), ..Sample::whole(seconds) })
        };
        Competitor { name, every_round: false, run: Box::new(run), verify: Box::new(|| Ok(())) }
    }

    fn measured(competitors: Vec<Competitor<'_>>, rounds: usize) -> Result<Measured> {
        let name = "case".to_owned();
        let case = Case { scenario: "test", name, bytes: 100, items: 10, competitors };
        let mut hertz = 0.0;
        measure(case, rounds, &Interrupt::default(), || {
            hertz += 100.0;
            hertz
        })
    }

    #[test]
    fn rounds_interleave_and_ratios_are_taken_within_a_round() {
        let log = RefCell::default();
        // The machine slows down tenfold in the last round: the ratio of medians would be 3.
        let a = scripted("a", &[2.0, 6.0, 40.0], &log);
        let b = scripted("b", &[1.0, 2.0, 20.0], &log);
        let measured = measured(vec![a, b], 3).unwrap();
        assert_eq!(log.borrow().concat(), "ababab");
        assert_eq!(measured.clock, (100.0, 300.0));
        let figures: Vec<&Figures> =
            measured.rows.iter().map(|row| row.outcome.as_ref().unwrap()).collect();
        assert_eq!(figures[0].ratio_to_baseline, 1.0);
        let b = figures[1];
        assert_eq!((b.rounds, b.median_s, b.min_s, b.p90_s), (3, 2.0, 1.0, 20.0));
        assert_eq!(b.ratio_to_baseline, 2.0);
        // 1 s x 100 Hz, 2 s x 200 Hz and 20 s x 300 Hz, by 100 bytes.
        assert_eq!(b.cycles_per_byte, 4.0);
        assert_eq!(b.peak_bytes, Some(200));
    }

    #[test]
    fn a_slow_competitor_takes_part_in_fewer_rounds_unless_told_otherwise() {
        let log = RefCell::default();
        let baseline = scripted("a", &[3.0; 6], &log);
        let slow = scripted("b", &[3.0; 2], &log);
        let mut ours = scripted("c", &[3.0; 6], &log);
        ours.every_round = true;
        let measured = measured(vec![baseline, slow, ours], 6).unwrap();
        let rounds = measured.rows.iter().map(|row| row.outcome.as_ref().unwrap().rounds);
        assert_eq!(rounds.collect::<Vec<_>>(), [6, 2, 6]);
        assert_eq!(log.borrow().concat(), "abcacacabcacac");
    }

    #[test]
    fn rounds_taken_part_in_are_exactly_the_own_ones() {
        for all in 1..12 {
            for own in 0..=all {
                let taken = (0..all).filter(|&round| takes_part(round, own, all)).count();
                assert_eq!(taken, own, "{own} of {all}");
                assert!(own == 0 || takes_part(0, own, all), "{own} of {all}");
            }
        }
        assert_eq!(rounds_for(0.001, 5), 5);
        assert_eq!(rounds_for(4.0, 5), 2);
        assert_eq!(rounds_for(4.0, 1), 1);
        assert_eq!(rounds_for(6.0, 5), 1);
    }

    #[test]
    fn a_wrong_answer_costs_a_row_its_figures_but_not_the_others() {
        let log = RefCell::default();
        let mut wrong = scripted("b", &[1.0; 9], &log);
        wrong.verify = Box::new(|| bail!("digests differ"));
        let rows = vec![scripted("a", &[1.0; 9], &log), wrong, scripted("c", &[1.0; 9], &log)];
        let measured = measured(rows, 2).unwrap();
        assert_eq!(measured.rows[1].outcome.as_ref().unwrap_err(), "digests differ");
        assert!(measured.rows[0].outcome.is_ok() && measured.rows[2].outcome.is_ok());
        assert_eq!(log.borrow().concat(), "abcac");
    }

    #[test]
    fn a_failure_in_a_later_round_is_a_failure() {
        let log = RefCell::default();
        let rows = vec![scripted("a", &[1.0; 9], &log), scripted("b", &[1.0; 1], &log)];
        let measured = measured(rows, 3).unwrap();
        assert_eq!(measured.rows[1].outcome.as_ref().unwrap_err(), "b ran too often");
    }

    #[test]
    fn without_a_baseline_there_is_no_case() {
        let log = RefCell::default();
        let error = measured(vec![scripted("a", &[], &log)], 1).err().expect("fails");
        assert_eq!(format!("{error:#}"), "the baseline a failed: a ran too often");
    }
}
