//! `python`: columns, surrogate keys, messages and objects, from Python's own side.
//!
//! `python/bench/columns.py` makes the rows and runs what it is asked for, in the virtual
//! environment of `make bench-python`, which has all peers, or of `make python`, and takes the
//! time; the rounds are the rig's. It holds the answers to one another before it begins. A million
//! rows of 12 or 36 bytes a run, no two alike; half as many of 200 bytes or of 1 to 200.
//!
//! `lanesum` gives bytes or numbers, `lanesum-hex` digits; `lanesum-many` is a list of digits for a
//! list of texts. `hashlib` is a loop, over BLAKE2b with a key in the cases of SipHash; `pandas` is
//! its `hash_array`, of objects that are not made categories first.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use super::Scenario;
use crate::clock;
use crate::launch::{allowed_cpus, pin};
use crate::options::Options;
use crate::report::Report;
use crate::rig::{self, Case, Competitor, Sample};

pub const SCENARIO: Scenario = Scenario {
    name: "python",
    about: "columns, surrogate keys, messages and objects in Python",
    cases: &[
        "md5-12",
        "md5-36",
        "md5-200",
        "md5-mixed",
        "siphash-12",
        "siphash-36",
        "pandas-hash-36",
        "surrogate-key-36",
        "object-1",
    ],
    implementations: &[
        "hashlib",
        "lanesum",
        "lanesum-hex",
        "lanesum-many",
        "lanesum-text",
        "chdb",
        "duckdb",
        "polars-hash",
        "siphash24",
        "pandas",
        "pandas-categories",
        "pandas-text",
    ],
    run,
};

/// Rows of a run, of which a scale of ten leaves a tenth.
const ROWS: usize = 1_000_000;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../python/bench/columns.py");

fn run(options: &Options, report: &mut Report) -> Result<()> {
    pin(&allowed_cpus()?[..1])?;
    // Beside the folder that the program is in.
    let folder = options.lanesum.parent().and_then(Path::parent).unwrap_or(Path::new("target"));
    let pythons = ["python-bench-venv", "python-venv"].map(|it| folder.join(it).join("bin/python"));
    let Some(python) = pythons.iter().find(|python| python.exists()) else {
        let why = format!("{} is not there: `make bench-python`", pythons[0].display());
        report.skip("python", &why);
        return Ok(());
    };
    let script = RefCell::new(Script::start(python)?);
    for &name in SCENARIO.cases.iter().filter(|name| options.only.case(name)) {
        let rows = rows(name) / options.scale;
        let there = script.borrow_mut().ask(name, "?", rows)?;
        let there: Vec<&str> = there.split('\t').collect();
        let baseline = there[0];
        let wanted =
            |name: &&&'static str| there.contains(*name) && options.only.row(name, baseline);
        let competitor = |&contestant: &&'static str| Competitor {
            name: contestant,
            every_round: contestant.starts_with("lanesum"),
            run: Box::new(|| {
                let seconds = script.borrow_mut().ask(name, contestant, rows)?;
                Ok(Sample::whole(seconds.parse().with_context(|| seconds.clone())?))
            }),
            // The script has compared all answers.
            verify: Box::new(|| Ok(())),
        };
        let mut competitors: Vec<_> =
            SCENARIO.implementations.iter().filter(wanted).map(competitor).collect();
        competitors.sort_by_key(|competitor| competitor.name != baseline);
        let case = Case {
            scenario: SCENARIO.name,
            name: name.to_owned(),
            bytes: (rows * width(name)) as u64,
            items: rows as u64,
            competitors,
        };
        report.add(&rig::measure(case, options.rounds, &options.interrupt, clock::hertz)?)?;
    }
    Ok(())
}

/// The mean length of a row.
fn width(case: &str) -> usize {
    case.rsplit('-').next().and_then(|width| width.parse().ok()).unwrap_or(100)
}

fn rows(case: &str) -> usize {
    if width(case) < 100 { ROWS } else { ROWS / 2 }
}

/// The script, which waits for what to run.
struct Script {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Script {
    fn start(python: &Path) -> Result<Self> {
        let mut process = Command::new(python)
            .args([SCRIPT, "--serve"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| python.display().to_string())?;
        let requests = process.stdin.take().context("piped")?;
        let answers = BufReader::new(process.stdout.take().context("piped")?);
        Ok(Self { process, requests, answers })
    }

    /// The line that answers a request.
    fn ask(&mut self, case: &str, contestant: &str, rows: usize) -> Result<String> {
        let mut answer = String::new();
        let told = writeln!(self.requests, "{case}\t{contestant}\t{rows}");
        if told.is_ok() {
            self.answers.read_line(&mut answer)?;
        }
        // It has said on stderr what is wrong.
        ensure!(answer.ends_with('\n'), "{SCRIPT} has ended at {case} of {contestant}");
        Ok(answer.trim_end().to_owned())
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        // Nothing is to be saved, and a run may take seconds.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_say_how_long_their_rows_are() {
        assert_eq!(width("md5-36"), 36);
        assert_eq!(width("md5-mixed"), 100);
        assert_eq!(rows("md5-200"), ROWS / 2);
        assert_eq!(rows("siphash-12"), ROWS);
    }
}
