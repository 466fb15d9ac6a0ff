//! `lanesum status --nagios`: one line with performance data, and the exit codes of Nagios plugins.

use std::process::ExitCode;

use lanesum_catalog::{CatalogError, Class};

use super::commands::Commands;
use super::errors::{self, explain};
use super::standing::{Standing, blind_count};
use super::{Code, status};
use crate::args::Status;
use crate::console::Console;

/// The states of Nagios.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ok = 0,
    Warning = 1,
    Critical = 2,
    Unknown = 3,
}

impl State {
    const fn name(self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::Warning => "WARNING",
            Self::Critical => "CRITICAL",
            Self::Unknown => "UNKNOWN",
        }
    }
}

impl From<Code> for State {
    fn from(code: Code) -> Self {
        match code {
            Code::Nothing => Self::Ok,
            Code::Incomplete => Self::Warning,
            Code::Problem | Code::CatalogDamaged => Self::Critical,
            Code::CouldNotRun => Self::Unknown,
        }
    }
}

/// Prints the line. Returns the exit code.
///
/// # Errors
/// Errors of standard output.
pub fn run(args: &Status, console: &mut Console) -> Result<ExitCode, CatalogError> {
    let (state, words) = match status::read(args, console) {
        Ok((_, standing)) => (State::from(standing.code()), words(&standing)),
        Err(error) => of_error(&error, args, console),
    };
    let line = format!("LANESUM {} - {words}\n", state.name());
    console.line(line.as_bytes()).map_err(CatalogError::Output)?;
    console.flush().map_err(CatalogError::Output)?;
    Ok(ExitCode::from(state as u8))
}

/// Returns the verdict, and performance data after a bar.
fn words(standing: &Standing) -> String {
    // A bar would start the performance data.
    let counts = standing.counts();
    let count = |class| counts.get(&class).copied().unwrap_or(0);
    let oldest = standing.roots.iter().filter_map(|it| it.oldest).min();
    let age = oldest.map_or(0, |oldest| (standing.now - oldest).max(0));
    let files: u64 = standing.roots.iter().map(|it| it.files).sum();
    let bytes: u64 = standing.roots.iter().map(|it| it.root.bytes.cast_unsigned()).sum();
    standing.verdict()
        + &format!(
            " | damaged={};;0 missing={};;0 unchecked={};0 new={} overdue={};0 files={files} \
             bytes={bytes}B oldest_verification={age}s",
            count(Class::Damaged),
            count(Class::Missing),
            count(Class::Unchecked) + standing.roots.iter().map(blind_count).sum::<u64>(),
            count(Class::New),
            standing.overdue(),
        )
}

/// Returns the state for an error. A damaged catalog is critical.
fn of_error(error: &anyhow::Error, args: &Status, console: &Console) -> (State, String) {
    let place = &args.roots.place;
    let (state, words) = match error.downcast_ref::<CatalogError>() {
        Some(error) => {
            let problem = explain(error, Commands { place, console });
            let path = problem.path.map(|path| console.shown(path) + ": ").unwrap_or_default();
            let state = match errors::code(error) {
                Code::CatalogDamaged => State::Critical,
                _ => State::Unknown,
            };
            (state, path + &problem.words)
        }
        None => (State::Unknown, error.to_string()),
    };
    (state, words.replace('|', "/"))
}
