//! Measures lanesum beside its peers: `lanesum-bench SCENARIO` runs one scenario and prints its
//! tables, `lanesum-bench all DIR` runs them all and makes a page of them.
//!
//! How a figure comes about is told in [`rig`] (rounds and ratios), [`clock`] (cycles) and
//! [`launch`] (how a program is pinned, timed and its memory read).

#![forbid(unsafe_code)]

mod answers;
mod buffer;
mod clock;
mod debian;
mod disk;
mod hashers;
mod incarnations;
mod launch;
mod machine;
mod messages;
mod options;
mod page;
mod peers;
mod quantity;
mod read_only;
mod report;
mod rig;
mod scenarios;
mod scratch;
mod statistics;
mod verifier;
mod whole;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;

use options::{Interrupted, Options};
use report::Report;
use scenarios::Scenario;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let first = arguments.next();
    let outcome = match first.as_ref().and_then(|word| word.to_str()) {
        Some(launch::WORD) => launch::serve(arguments).map(|()| ExitCode::SUCCESS),
        Some(read_only::WORD) => read_only::serve(arguments).map(|()| ExitCode::SUCCESS),
        Some(scenarios::documents::library::WORD) => {
            scenarios::documents::library::serve(arguments).map(|()| ExitCode::SUCCESS)
        }
        Some(scenarios::events::WORD) => {
            scenarios::events::serve(arguments).map(|()| ExitCode::SUCCESS)
        }
        Some("all") => whole::all(arguments),
        Some("page") => whole::page(arguments),
        Some("list") => {
            scenarios::ALL.iter().for_each(|each| println!("{:<10} {}", each.name, each.about));
            Ok(ExitCode::SUCCESS)
        }
        _ => bench(first.into_iter().chain(arguments)),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("lanesum-bench: {error:#}");
        if error.is::<Interrupted>() { ExitCode::from(130) } else { ExitCode::from(2) }
    })
}

/// Runs one scenario; the exit code is 1 if a row of it failed.
fn bench(arguments: impl Iterator<Item = OsString>) -> Result<ExitCode> {
    let (scenario, options): (&Scenario, Options) = options::parse(arguments)?;
    let mut report = Report::new(options.csv.as_deref())?;
    print!("{}", machine::describe());
    (scenario.run)(&options, &mut report)?;
    let failures = report.finish()?;
    Ok(if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
