//! The command line, and what every scenario is handed of it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, Result, anyhow, ensure};
use clap::Parser;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::scenarios::{self, Scenario};

/// Rounds of a case, where the scenario has no opinion of its own: of whole programs, so few that
/// all scenarios together end within 15 minutes on two CPUs.
const ROUNDS: usize = 3;

/// Measures lanesum beside its peers.
///
/// `list` in the place of SCENARIO names the scenarios, `all DIR` runs them all and writes a report
/// into DIR, `page DIR` writes that report again.
#[derive(Parser)]
#[command(name = "lanesum-bench", version)]
struct Arguments {
    /// The scenario to run
    scenario: String,
    /// Write the figures to FILE as well, one row per case and implementation
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Only this case or this implementation, beside the baseline (may be repeated)
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Rounds per case; slow rows take part in fewer of them [default: 3 for programs, more for
    /// what takes milliseconds]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    rounds: Option<usize>,
    /// Where test files are made; anything but a tmpfs measures the disk as well
    #[arg(long, value_name = "DIR", default_value = "/dev/shm")]
    scratch: PathBuf,
    /// The program to measure [default: `lanesum` beside this executable]
    #[arg(long, value_name = "PATH")]
    lanesum: Option<PathBuf>,
    /// Make N times fewer test files: to try the rig out, not to get figures
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = at_least_one)]
    scale: usize,
}

/// What every scenario is handed.
pub struct Options {
    pub csv: Option<PathBuf>,
    pub only: Only,
    /// At least one.
    pub rounds: usize,
    asked_rounds: Option<usize>,
    pub scratch: PathBuf,
    pub lanesum: PathBuf,
    /// The number of test files is divided by this, which is at least one.
    pub scale: usize,
    pub interrupt: Interrupt,
}

/// Reads the command line; exits with clap's own message where it is wrong or asks for help.
pub fn parse(arguments: impl Iterator<Item = OsString>) -> Result<(&'static Scenario, Options)> {
    let own_name = OsString::from("lanesum-bench");
    let given = Arguments::parse_from(std::iter::once(own_name).chain(arguments));
    let scenario =
        scenarios::ALL.iter().find(|each| each.name == given.scenario).ok_or_else(|| {
            anyhow!("{}: no such scenario; `lanesum-bench list` names them", given.scenario)
        })?;
    let options = Options {
        csv: given.csv,
        only: Only::new(given.only, scenario)?,
        rounds: given.rounds.unwrap_or(ROUNDS),
        asked_rounds: given.rounds,
        // Absolute, since competitors do not run in the current folder.
        scratch: std::path::absolute(given.scratch)?,
        lanesum: std::path::absolute(given.lanesum.map_or_else(beside_this_executable, Ok)?)?,
        scale: given.scale,
        interrupt: Interrupt::on_signals()?,
    };
    Ok((scenario, options))
}

fn at_least_one(text: &str) -> Result<usize> {
    let number = text.parse()?;
    ensure!(number >= 1, "must be at least 1");
    Ok(number)
}

fn beside_this_executable() -> Result<PathBuf> {
    let own = std::env::current_exe().context("the path of this executable")?;
    Ok(own.parent().unwrap_or(Path::new(".")).join("lanesum"))
}

impl Options {
    /// The rounds asked for, or else `own`, where a round takes so little that more can be had.
    pub fn rounds_or(&self, own: usize) -> usize {
        self.asked_rounds.unwrap_or(own)
    }
}

#[cfg(test)]
impl Options {
    /// Everything at its simplest.
    pub fn for_tests() -> Self {
        Self {
            csv: None,
            only: Only::default(),
            rounds: 1,
            asked_rounds: None,
            scratch: std::env::temp_dir(),
            lanesum: PathBuf::from("/nowhere/lanesum"),
            scale: 1,
            interrupt: Interrupt::default(),
        }
    }
}

/// The cases and implementations asked for; no name of a kind means all of that kind.
#[derive(Default)]
pub struct Only {
    cases: Vec<String>,
    implementations: Vec<String>,
}

impl Only {
    fn new(names: Vec<String>, scenario: &Scenario) -> Result<Self> {
        let is_case = |name: &String| scenario.cases.contains(&name.as_str());
        let (cases, implementations): (Vec<_>, Vec<_>) = names.into_iter().partition(is_case);
        for name in &implementations {
            ensure!(
                scenario.implementations.contains(&name.as_str()),
                "--only {name}: not in scenario {}; it has the cases {} and the implementations {}",
                scenario.name,
                scenario.cases.join(", "),
                scenario.implementations.join(", "),
            );
        }
        Ok(Self { cases, implementations })
    }

    pub fn case(&self, name: &str) -> bool {
        self.cases.is_empty() || self.cases.iter().any(|case| case == name)
    }

    /// Whether an implementation runs in a case with this baseline, which every ratio needs.
    pub fn row(&self, name: &str, baseline: &str) -> bool {
        name == baseline || self.implementation(name)
    }

    /// The baseline runs whether asked for or not: see [`row`](Self::row).
    pub fn implementation(&self, name: &str) -> bool {
        self.implementations.is_empty() || self.implementations.iter().any(|own| own == name)
    }
}

/// Raised by ctrl-C and the like; whoever works for long looks at it and unwinds, so that test
/// files are removed.
#[derive(Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

/// The error of a run that a signal ended.
#[derive(Debug)]
pub struct Interrupted;

impl std::fmt::Display for Interrupted {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

impl Interrupt {
    pub fn on_signals() -> Result<Self> {
        let interrupt = Self::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&interrupt.0))?;
        }
        Ok(interrupt)
    }

    pub fn check(&self) -> Result<(), Interrupted> {
        if self.0.load(Ordering::Relaxed) { Err(Interrupted) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(names: &[&str]) -> Result<Only> {
        let files = scenarios::ALL.iter().find(|each| each.name == "files").expect("files");
        Only::new(names.iter().map(ToString::to_string).collect(), files)
    }

    #[test]
    fn no_name_asks_for_everything() {
        let all = only(&[]).unwrap();
        assert!(all.case("4KiB") && all.implementation("lanesum"));
    }

    #[test]
    fn a_case_leaves_the_implementations_free_and_the_other_way_round() {
        let case = only(&["4KiB"]).unwrap();
        assert!(case.case("4KiB") && !case.case("1MiB") && case.implementation("lanesum"));
        let implementation = only(&["lanesum"]).unwrap();
        assert!(implementation.case("1MiB") && !implementation.implementation("rclone"));
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_names_there_are() {
        let message = only(&["4Kib"]).err().expect("refused").to_string();
        assert!(message.contains("4Kib") && message.contains("512MiB"), "{message}");
    }
}
