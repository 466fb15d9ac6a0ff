//! The rows of a finished CSV.

use std::path::Path;

use anyhow::{Context as _, Result};

/// One row: what was measured of an implementation in a case. Columns as `report` writes them.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub scenario: String,
    pub case: String,
    pub implementation: String,
    pub median_s: f64,
    pub min_s: f64,
    pub p90_s: f64,
    pub bytes: f64,
    pub gb_per_s: f64,
    pub cycles_per_byte: f64,
    pub ns_per_item: f64,
    pub ratio_to_baseline: f64,
    pub peak_mib: Option<f64>,
    pub disk: Option<Disk>,
}

/// What simulated disks did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disk {
    pub seeks: f64,
    pub busy_s: f64,
}

impl Row {
    /// From the fastest to the ninetieth of a hundred runs, in shares of the median.
    pub fn noise(&self) -> f64 {
        (self.p90_s - self.min_s) / self.median_s
    }
}

/// All rows of `file`, in its order.
///
/// # Errors
///
/// If it cannot be read, or is not what `report` writes.
pub fn read(file: &Path) -> Result<Vec<Row>> {
    let name = || file.display().to_string();
    let mut reader = csv::Reader::from_path(file).with_context(name)?;
    let header = reader.headers()?.clone();
    let rows = reader.records().map(|record| {
        let record = record?;
        let cell = |column: &str| {
            let place = header.iter().position(|name| name == column);
            let cell = place.and_then(|place| record.get(place));
            cell.with_context(|| format!("no column {column}"))
        };
        let number = |column: &str| -> Result<f64> {
            let text = cell(column)?;
            text.parse().with_context(|| format!("{column}: {text:?} is not a number"))
        };
        // Empty, or not there, in rows without one.
        let disk = |column: &str| cell(column).ok()?.parse().ok();
        Ok(Row {
            scenario: cell("scenario")?.to_owned(),
            case: cell("case")?.to_owned(),
            implementation: cell("implementation")?.to_owned(),
            median_s: number("median_s")?,
            min_s: number("min_s")?,
            p90_s: number("p90_s")?,
            bytes: number("bytes")?,
            gb_per_s: number("gb_per_s")?,
            cycles_per_byte: number("cycles_per_byte")?,
            ns_per_item: number("ns_per_item")?,
            ratio_to_baseline: number("ratio_to_baseline")?,
            peak_mib: cell("peak_mib")?.parse().ok(),
            disk: disk("seeks").zip(disk("busy_s")).map(|(seeks, busy_s)| Disk { seeks, busy_s }),
        })
    });
    rows.collect::<Result<_>>().with_context(name)
}

/// Each value once, in the order of its first appearance.
pub fn distinct<'text>(values: impl IntoIterator<Item = &'text str>) -> Vec<&'text str> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A row of which nothing is known but its speed.
    pub fn row(scenario: &str, case: &str, implementation: &str, gb_per_s: f64) -> Row {
        Row {
            scenario: scenario.to_owned(),
            case: case.to_owned(),
            implementation: implementation.to_owned(),
            median_s: 1.0 / gb_per_s,
            min_s: 0.9 / gb_per_s,
            p90_s: 1.1 / gb_per_s,
            bytes: 1e9,
            gb_per_s,
            cycles_per_byte: 4.0 / gb_per_s,
            ns_per_item: 1e9 / gb_per_s,
            ratio_to_baseline: gb_per_s,
            peak_mib: None,
            disk: None,
        }
    }

    #[test]
    fn the_csv_of_a_report_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bench.csv");
        let head = "scenario,case,implementation,median_s,min_s,p90_s,bytes,items,gb_per_s,\
                    cycles_per_byte,ns_per_item,ratio_to_baseline,peak_mib\n";
        std::fs::write(&path, format!("{head}a,b,c,0.5,0.25,0.75,100,1,2,3,4,5,\n")).unwrap();
        let rows = read(&path).unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].case.as_str(), rows[0].ratio_to_baseline), ("b", 5.0));
        assert_eq!((rows[0].noise(), rows[0].peak_mib, rows[0].disk), (1.0, None, None));

        let head_of_disk = head.replace('\n', ",requests,seeks,disk_mb,busy_s\n");
        let of_disk = "a,b,c,0.5,0.25,0.75,100,1,2,3,4,5,6,7,8,9,10.5\na,b,d,0.5,0.25,0.75,100,1,2,3,4,5,6,,,,\n";
        std::fs::write(&path, format!("{head_of_disk}{of_disk}")).unwrap();
        let rows = read(&path).unwrap();
        assert_eq!(rows[0].disk, Some(Disk { seeks: 8.0, busy_s: 10.5 }));
        assert_eq!(rows[1].disk, None);

        std::fs::write(&path, format!("{head}a,b,c,x,0.25,0.75,100,1,2,3,4,5,\n")).unwrap();
        let error = format!("{:#}", read(&path).unwrap_err());
        assert!(error.contains("bench.csv") && error.contains("median_s"), "{error}");
    }

    #[test]
    fn distinct_values_keep_their_order() {
        assert_eq!(distinct(["b", "a", "b", "c", "a"]), ["b", "a", "c"]);
    }
}
