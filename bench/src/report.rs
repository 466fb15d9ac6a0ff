//! Tables for people, CSV for programs; both from the same rows.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use comfy_table::{CellAlignment, Table, presets};

use crate::rig::{DiskFigures, Figures, Measured};

/// `peak_mib` is empty where the run was no process of its own, what follows it where no disk is
/// simulated.
const CSV_HEADER: [&str; 17] = [
    "scenario",
    "case",
    "implementation",
    "median_s",
    "min_s",
    "p90_s",
    "bytes",
    "items",
    "gb_per_s",
    "cycles_per_byte",
    "ns_per_item",
    "ratio_to_baseline",
    "peak_mib",
    "requests",
    "seeks",
    "disk_mb",
    "busy_s",
];

/// What a column of a table says of a row.
struct Column {
    head: &'static str,
    cell: fn(&Measured, &Figures) -> String,
}

const fn column(head: &'static str, cell: fn(&Measured, &Figures) -> String) -> Column {
    Column { head, cell }
}

const ROUNDS: Column = column("rounds", |_, figures| figures.rounds.to_string());
const MEDIAN: Column = column("median s", |_, figures| four_digits(figures.median_s));
const MIN: Column = column("min s", |_, figures| four_digits(figures.min_s));
const P90: Column = column("p90 s", |_, figures| four_digits(figures.p90_s));
const SPREAD: Column = column("spread", |_, figures| {
    format!("{:.1} %", (figures.p90_s - figures.min_s) / figures.median_s * 100.0)
});
const RATIO: Column =
    column("x baseline", |_, figures| format!("{:.3}", figures.ratio_to_baseline));
const PEAK: Column = column("peak_mib", |_, figures| peak_mib(figures));

/// Of every table but those of [`DISK_COLUMNS`].
const COLUMNS: [Column; 10] = [
    ROUNDS,
    MEDIAN,
    MIN,
    P90,
    SPREAD,
    column("GB/s", |measured, figures| format!("{:.3}", gb_per_s(measured, figures))),
    column("cycles/B", |_, figures| format!("{:.3}", figures.cycles_per_byte)),
    column("ns/item", |measured, figures| format!("{:.0}", ns_per_item(measured, figures))),
    RATIO,
    PEAK,
];

/// Where disks are simulated, what they did says more than what the CPU did.
const DISK_COLUMNS: [Column; 11] = [
    ROUNDS,
    MEDIAN,
    MIN,
    P90,
    column("MB/s", |measured, figures| format!("{:.1}", gb_per_s(measured, figures) * 1e3)),
    column("requests", |_, figures| of_disk(figures, |disk| disk.requests, 0)),
    column("seeks", |_, figures| of_disk(figures, |disk| disk.seeks, 0)),
    column("disk MB", |_, figures| of_disk(figures, |disk| disk.bytes / 1e6, 1)),
    column("busy s", |_, figures| of_disk(figures, |disk| disk.busy_s, 3)),
    RATIO,
    PEAK,
];

/// Takes cases as they are measured.
pub struct Report {
    csv: Option<(PathBuf, csv::Writer<File>)>,
    failures: usize,
}

impl Report {
    /// `csv` is created at once, so that a wrong path is known before minutes are spent.
    pub fn new(csv: Option<&Path>) -> Result<Self> {
        let csv = csv
            .map(|path| {
                let mut writer =
                    csv::Writer::from_path(path).with_context(|| path.display().to_string())?;
                writer.write_record(CSV_HEADER)?;
                anyhow::Ok((path.to_owned(), writer))
            })
            .transpose()?;
        Ok(Self { csv, failures: 0 })
    }

    /// Names what is left out, with a word why.
    pub fn skip(&self, what: &str, why: &str) {
        println!("skipped   {what}: {why}");
    }

    /// Prints a case's table and writes its rows; rows that failed are counted.
    pub fn add(&mut self, measured: &Measured) -> Result<()> {
        println!("\n{}\n{}", title(measured), table(measured));
        for row in &measured.rows {
            if let Err(reason) = &row.outcome {
                println!("failed    {}: {reason}", row.implementation);
                self.failures += 1;
            }
        }
        let Some((path, writer)) = &mut self.csv else { return Ok(()) };
        for record in records(measured) {
            writer.write_record(record)?;
        }
        writer.flush().with_context(|| path.display().to_string())
    }

    /// How many rows failed.
    pub fn finish(self) -> Result<usize> {
        if let Some((path, mut writer)) = self.csv {
            writer.flush().with_context(|| path.display().to_string())?;
        }
        Ok(self.failures)
    }
}

fn title(measured: &Measured) -> String {
    let (low, high) = measured.clock;
    format!(
        "{} {}: {} items, {:.1} MB, clock {:.2} to {:.2} GHz",
        measured.scenario,
        measured.case,
        measured.items,
        measured.bytes as f64 / 1e6,
        low / 1e9,
        high / 1e9,
    )
}

fn table(measured: &Measured) -> Table {
    let outcomes = || measured.rows.iter().filter_map(|row| row.outcome.as_ref().ok());
    let has_disk = outcomes().any(|figures| figures.disk.is_some());
    let columns: &[Column] = if has_disk { &DISK_COLUMNS } else { &COLUMNS };
    let mut table = Table::new();
    let heads = columns.iter().map(|column| column.head);
    table.load_style(presets::NOTHING).set_header(std::iter::once("implementation").chain(heads));
    for row in &measured.rows {
        let cells = match &row.outcome {
            Ok(figures) => columns.iter().map(|column| (column.cell)(measured, figures)).collect(),
            Err(_) => vec!["failed".to_owned()],
        };
        table.add_row(std::iter::once(row.implementation.to_owned()).chain(cells));
    }
    table.column_iter_mut().skip(1).for_each(|each| each.set_cell_alignment(CellAlignment::Right));
    table
}

/// In the order of [`CSV_HEADER`]; rows without figures are left out.
fn records(measured: &Measured) -> impl Iterator<Item = [String; CSV_HEADER.len()]> {
    measured.rows.iter().filter_map(|row| {
        let figures = row.outcome.as_ref().ok()?;
        Some([
            measured.scenario.to_owned(),
            measured.case.clone(),
            row.implementation.to_owned(),
            figures.median_s.to_string(),
            figures.min_s.to_string(),
            figures.p90_s.to_string(),
            measured.bytes.to_string(),
            measured.items.to_string(),
            format!("{:.6}", gb_per_s(measured, figures)),
            format!("{:.6}", figures.cycles_per_byte),
            format!("{:.3}", ns_per_item(measured, figures)),
            format!("{:.6}", figures.ratio_to_baseline),
            peak_mib(figures),
            of_disk(figures, |disk| disk.requests, 0),
            of_disk(figures, |disk| disk.seeks, 0),
            of_disk(figures, |disk| disk.bytes / 1e6, 3),
            of_disk(figures, |disk| disk.busy_s, 6),
        ])
    })
}

/// With at least four significant digits, as rows of a case take about as long as each other.
fn four_digits(seconds: f64) -> String {
    let before_the_first = if seconds > 0.0 { -seconds.log10().floor() } else { 0.0 };
    format!("{seconds:.*}", before_the_first.clamp(1.0, 9.0) as usize + 3)
}

fn gb_per_s(measured: &Measured, figures: &Figures) -> f64 {
    measured.bytes as f64 / figures.median_s / 1e9
}

fn ns_per_item(measured: &Measured, figures: &Figures) -> f64 {
    figures.median_s * 1e9 / measured.items as f64
}

/// Empty where no disk is simulated.
fn of_disk(figures: &Figures, value: fn(&DiskFigures) -> f64, decimals: usize) -> String {
    figures.disk.as_ref().map_or(String::new(), |disk| format!("{:.*}", decimals, value(disk)))
}

fn peak_mib(figures: &Figures) -> String {
    figures.peak_bytes.map_or(String::new(), |bytes| format!("{:.1}", bytes as f64 / 1_048_576.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::Row;

    fn example() -> Measured {
        let figures = Figures {
            rounds: 5,
            median_s: 0.5,
            min_s: 0.25,
            p90_s: 0.75,
            cycles_per_byte: 2.0,
            ratio_to_baseline: 3.0,
            peak_bytes: Some(3 << 20),
            disk: None,
        };
        let rows = vec![
            Row { implementation: "good", outcome: Ok(figures) },
            Row { implementation: "bad", outcome: Err("digests differ".to_owned()) },
        ];
        let (case, clock) = ("1MiB+16KiB".to_owned(), (3.5e9, 4.0e9));
        Measured { scenario: "test", case, bytes: 1_000_000_000, items: 1000, clock, rows }
    }

    #[test]
    fn csv_has_the_header_and_the_rows_with_figures() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        let mut report = Report::new(Some(&path)).unwrap();
        report.add(&example()).unwrap();
        assert_eq!(report.finish().unwrap(), 1);
        assert_eq!(
            std::fs::read_to_string(path).unwrap(),
            "scenario,case,implementation,median_s,min_s,p90_s,bytes,items,gb_per_s,\
             cycles_per_byte,ns_per_item,ratio_to_baseline,peak_mib,requests,seeks,disk_mb,busy_s\n\
             test,1MiB+16KiB,good,0.5,0.25,0.75,1000000000,1000,2.000000,2.000000,500000.000,\
             3.000000,3.0,,,,\n"
        );
    }

    #[test]
    fn a_csv_that_cannot_be_written_is_named_at_once() {
        let error = Report::new(Some(Path::new("/nowhere/out.csv"))).err().expect("fails");
        assert!(error.to_string().contains("/nowhere/out.csv"));
    }

    #[test]
    fn short_times_keep_their_digits() {
        let shown = [12.0, 1.25, 0.5, 0.001_127_4, 0.000_001_5].map(four_digits);
        assert_eq!(shown, ["12.0000", "1.2500", "0.5000", "0.001127", "0.000001500"]);
    }

    #[test]
    fn the_table_shows_figures_and_failures() {
        let text = table(&example()).to_string();
        let row = |name: &str| {
            let line = text.lines().find(|line| line.trim().starts_with(name));
            line.expect(name).split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(row("good"), "good 5 0.5000 0.2500 0.7500 100.0 % 2.000 2.000 500000 3.000 3.0");
        assert_eq!(row("bad"), "bad failed");
        assert!(title(&example()).contains("clock 3.50 to 4.00 GHz"));
    }
}
