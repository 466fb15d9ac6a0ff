//! `all` and `page`: every scenario one after the other, and the report of what they found.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use clap::Parser;

use crate::options::Interrupt;
use crate::{page, scenarios};

/// Runs every scenario and writes the report: DIR/index.html and DIR/bench.csv.
#[derive(Parser)]
#[command(name = "lanesum-bench all")]
struct All {
    /// Where the report goes
    dir: PathBuf,
    /// What every scenario is called with, such as `--rounds 2 --scale 100` for a quick try
    #[arg(last = true, value_name = "OPTION")]
    options: Vec<OsString>,
}

/// Writes the report again from the rows of an earlier run.
#[derive(Parser)]
#[command(name = "lanesum-bench page")]
struct Page {
    /// Where the rows are and the report goes
    dir: PathBuf,
    /// Draw this plot into a file of its own (may be repeated)
    #[arg(long, value_name = "NAME")]
    plot: Vec<String>,
    /// Where plots of their own go
    #[arg(long, value_name = "DIR", default_value = ".")]
    into: PathBuf,
}

/// What every scenario's exit code is gathered into: the worst.
const FAILED: u8 = 1;

/// Each scenario runs in a process of its own, since some bind theirs to a CPU.
///
/// # Errors
///
/// If a signal ends a scenario, or the report cannot be written.
pub fn all(arguments: impl Iterator<Item = OsString>) -> Result<ExitCode> {
    let All { dir, options } = All::parse_from(named(arguments));
    let interrupt = Interrupt::on_signals()?;
    fs::create_dir_all(&dir).with_context(|| dir.display().to_string())?;
    let mut rows = String::new();
    let mut worst = 0;
    let mut took = Vec::new();
    for scenario in scenarios::ALL {
        println!("\n=== {}\n", scenario.name);
        let start = Instant::now();
        let csv = dir.join(scenario.name).with_extension("csv");
        let code = run(scenario.name, &csv, &dir, &options)?;
        interrupt.check()?;
        if code != 0 {
            eprintln!("lanesum-bench: {} ended with exit code {code}", scenario.name);
            worst = FAILED;
        }
        gather(&csv, &mut rows)?;
        took.push((scenario.name, start.elapsed()));
    }
    fs::write(dir.join(page::CSV), rows).with_context(|| dir.display().to_string())?;
    page::make(&dir)?;
    print_minutes(&took);
    println!("\nthe report is {}", dir.join("index.html").display());
    Ok(ExitCode::from(worst))
}

/// How long each scenario took, and all together.
fn print_minutes(took: &[(&str, Duration)]) {
    println!("\nminutes");
    let all = ("all", took.iter().map(|(_, time)| *time).sum());
    for (name, time) in took.iter().chain([&all]) {
        println!("{name:<10} {:.1}", time.as_secs_f64() / 60.0);
    }
}

/// # Errors
///
/// If there are no rows, or the report cannot be written.
pub fn page(arguments: impl Iterator<Item = OsString>) -> Result<ExitCode> {
    let Page { dir, plot, into } = Page::parse_from(named(arguments));
    if plot.is_empty() {
        page::make(&dir)?
    } else {
        page::draw(&dir, &plot, &into)?
    }
    Ok(ExitCode::SUCCESS)
}

/// With the program's name in front, as clap wants it.
fn named(arguments: impl Iterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    std::iter::once(OsString::from("lanesum-bench")).chain(arguments)
}

/// Runs one scenario; what it prints is shown and kept. Returns its exit code.
fn run(scenario: &str, csv: &Path, dir: &Path, options: &[OsString]) -> Result<i32> {
    let own = std::env::current_exe().context("the path of this executable")?;
    let mut child = Command::new(own)
        .arg(scenario)
        .arg("--csv")
        .arg(csv)
        .args(options)
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("starting {scenario}"))?;
    let kept = dir.join(page::printed_name(scenario));
    let mut file = File::create(&kept).with_context(|| kept.display().to_string())?;
    for line in BufReader::new(child.stdout.take().expect("standard output is piped")).lines() {
        let line = line?;
        println!("{line}");
        writeln!(file, "{line}")?;
    }
    Ok(child.wait()?.code().unwrap_or(i32::from(FAILED)))
}

/// Moves the rows of `csv`, if there are any, to the end of `rows`; the header is kept once.
fn gather(csv: &Path, rows: &mut String) -> Result<()> {
    let Ok(text) = fs::read_to_string(csv) else { return Ok(()) };
    let header_end = text.find('\n').map_or(text.len(), |end| end + 1);
    rows.push_str(if rows.is_empty() { &text } else { &text[header_end..] });
    fs::remove_file(csv).with_context(|| csv.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_gathered_under_one_header() {
        let folder = tempfile::tempdir().unwrap();
        let csv = folder.path().join("a.csv");
        let mut rows = String::new();
        for text in ["x,y\n1,2\n", "x,y\n", "x,y\n3,4\n5,6\n"] {
            fs::write(&csv, text).unwrap();
            gather(&csv, &mut rows).unwrap();
        }
        gather(&csv, &mut rows).unwrap();
        assert_eq!(rows, "x,y\n1,2\n3,4\n5,6\n");
    }
}
