//! The report: one page that needs no network, made of what the scenarios left in a folder.
//!
//! A run leaves there `bench.csv`, with all rows, and for each scenario `SCENARIO.txt`, what it
//! printed: its first lines tell of the machine, of versions, and of what was skipped and why.
//! Figures of other machines may lie in `hardware`.

mod hardware;
mod plots;
mod rows;
mod svg;
mod words;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use crate::scenarios;
use rows::{Row, distinct};
use svg::{escape, is_ours};

/// The file of all rows.
pub const CSV: &str = "bench.csv";

/// The file with what `scenario` printed.
pub fn printed_name(scenario: &str) -> String {
    format!("{scenario}.txt")
}

/// Makes `index.html` in `folder`, out of what lies there.
///
/// # Errors
///
/// If there are no rows, or a file cannot be read or written.
pub fn make(folder: &Path) -> Result<()> {
    let rows = rows::read(&folder.join(CSV))?;
    ensure!(!rows.is_empty(), "{}: no rows", folder.join(CSV).display());
    let sections: Vec<Section<'_>> = distinct(rows.iter().map(|row| row.scenario.as_str()))
        .into_iter()
        .map(|name| Section::new(name, &rows, folder))
        .collect();
    write(&folder.join("index.html"), &html(&sections, &hardware::section(folder)?))
}

/// Draws the plots with these names from the rows in `folder` into files `NAME.svg` of `into`.
///
/// # Errors
///
/// If there is no such plot, or nothing to draw for it.
pub fn draw(folder: &Path, names: &[String], into: &Path) -> Result<()> {
    let rows = rows::read(&folder.join(CSV))?;
    fs::create_dir_all(into).with_context(|| into.display().to_string())?;
    for name in names {
        let plot = plots::ALL.iter().find(|plot| plot.name == name).with_context(|| {
            let names: Vec<&str> = plots::ALL.iter().map(|plot| plot.name).collect();
            format!("{name}: no such plot; there are {}", names.join(", "))
        })?;
        let svg = plot.draw(&rows).with_context(|| {
            format!("{name}: no rows of scenario {} to draw it from", plot.scenario)
        })?;
        write(&into.join(name).with_extension("svg"), &svg)?;
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| path.display().to_string())
}

/// What one scenario left.
struct Section<'rows> {
    name: &'rows str,
    about: &'static str,
    rows: Vec<&'rows Row>,
    plots: Vec<String>,
    words: Option<String>,
    /// What it printed before its first table: the machine, then versions and what was skipped.
    machine: Vec<String>,
    notes: Vec<String>,
    /// All that it printed.
    printed: String,
}

/// The lines about the machine, by their first words; the same for every scenario of a run.
const MACHINE: [&str; 8] =
    ["machine", "cpu", "flags", "kernel", "compiler", "bench", "clock", "date"];

impl<'rows> Section<'rows> {
    fn new(name: &'rows str, rows: &'rows [Row], folder: &Path) -> Self {
        let printed = fs::read_to_string(folder.join(printed_name(name))).unwrap_or_default();
        let head = printed.split("\n\n").next().unwrap_or_default().lines();
        let (machine, notes) = head.map(str::to_owned).partition(|line: &String| {
            MACHINE.contains(&line.split_whitespace().next().unwrap_or_default())
        });
        Self {
            name,
            about: scenarios::ALL
                .iter()
                .find(|each| each.name == name)
                .map_or("", |each| each.about),
            rows: rows.iter().filter(|row| row.scenario == name).collect(),
            plots: plots::ALL
                .iter()
                .filter(|plot| plot.scenario == name)
                .filter_map(|plot| plot.draw(rows))
                .collect(),
            words: words::about(name, rows),
            machine,
            notes,
            printed,
        }
    }

    fn html(&self) -> String {
        let Self { name, about, .. } = self;
        let mut html =
            format!("<section id=\"{name}\">\n<h2>{name}</h2>\n<p>{}</p>\n", escape(about));
        for plot in &self.plots {
            html += &format!("<figure>{plot}</figure>\n");
        }
        if let Some(words) = &self.words {
            html += &format!("<p>{}</p>\n", escape(words));
        }
        html += &self.table();
        if !self.notes.is_empty() {
            html += &format!("<h3>Versions, and what was skipped</h3>\n{}", pre(&self.notes));
        }
        html += "<details><summary>As printed</summary>\n";
        html += &format!("<pre>{}</pre></details>\n</section>\n", escape(&self.printed));
        html
    }

    /// A group of rows for each case; the first of each is its baseline.
    fn table(&self) -> String {
        let has_disk = self.rows.iter().any(|row| row.disk.is_some());
        let header = if has_disk { DISK_HEADER } else { HEADER };
        let mut html =
            format!("<table>\n<thead><tr>{}</tr></thead>\n", header.map(head_cell).concat());
        for case in distinct(self.rows.iter().map(|row| row.case.as_str())) {
            let _ = writeln!(
                html,
                "<tbody><tr class=\"case\"><th colspan=\"{}\">{}</th></tr>",
                header.len(),
                escape(case)
            );
            for row in self.rows.iter().filter(|row| row.case == case) {
                html += &table_row(row);
            }
            html += "</tbody>\n";
        }
        html + "</table>\n"
    }
}

const HEADER: [&str; 8] = [
    "implementation",
    "× baseline",
    "GB/s",
    "cycles/byte",
    "ns/item",
    "median",
    "noise",
    "peak memory",
];

/// The same where disks are simulated: what they did says more than what the CPU did.
const DISK_HEADER: [&str; 8] = [
    "implementation",
    "× baseline",
    "GB/s",
    "seeks",
    "disk busy",
    "median",
    "noise",
    "peak memory",
];

fn head_cell(name: &str) -> String {
    format!("<th>{name}</th>")
}

fn table_row(row: &Row) -> String {
    let [fourth, fifth] = match row.disk {
        Some(disk) => [format!("{:.0}", disk.seeks), duration(disk.busy_s)],
        None => [format!("{:.3}", row.cycles_per_byte), format!("{:.1}", row.ns_per_item)],
    };
    let cells = [
        escape(&row.implementation),
        format!("{:.3}", row.ratio_to_baseline),
        format!("{:.3}", row.gb_per_s),
        fourth,
        fifth,
        duration(row.median_s),
        format!("{:.1} %", row.noise() * 100.0),
        row.peak_mib.map_or(String::new(), |mib| format!("{mib:.1} MiB")),
    ];
    let cells = cells.map(|cell| format!("<td>{cell}</td>")).concat();
    format!(
        "<tr{}>{cells}</tr>\n",
        if is_ours(&row.implementation) { " class=\"ours\"" } else { "" }
    )
}

fn duration(seconds: f64) -> String {
    match seconds {
        seconds if seconds >= 1.0 => format!("{seconds:.3} s"),
        seconds if seconds >= 1e-3 => format!("{:.3} ms", seconds * 1e3),
        seconds => format!("{:.3} µs", seconds * 1e6),
    }
}

fn pre(lines: &[String]) -> String {
    format!("<pre>{}</pre>\n", escape(&lines.join("\n")))
}

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1c1f23;--quiet:#6b7280;--rule:#e3e5e8;--ours:#c2410c;--paper:#fff}\
@media(prefers-color-scheme:dark){:root{--ink:#e6e8ea;--quiet:#9aa3ad;--rule:#33383e;--ours:#fb923c;--paper:#16191d}}\
body{font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif;color:var(--ink);background:var(--paper);\
max-width:860px;margin:2rem auto;padding:0 1rem}\
h1{margin-bottom:0}h2{margin-top:3rem;border-top:1px solid var(--rule);padding-top:1.5rem}h3{font-size:1rem}\
nav a{margin-right:1em}a{color:inherit}figure{margin:1.5rem 0}figure svg{width:100%;height:auto}\
table{border-collapse:collapse;width:100%;font-size:13px;font-variant-numeric:tabular-nums}\
td,th{padding:2px 8px;text-align:right;font-weight:400}td:first-child,th:first-child{text-align:left}\
thead th{color:var(--quiet);border-bottom:1px solid var(--quiet);position:sticky;top:0;background:var(--paper)}\
.case th{font-weight:600;padding-top:1em;border-bottom:1px solid var(--rule);text-align:left}\
.ours td{color:var(--ours);font-weight:600}\
pre{font-size:12px;line-height:1.4;overflow-x:auto}summary{cursor:pointer;color:var(--quiet)}";

const INTRODUCTION: &str = "\
Each row is measured in rounds that interleave with those of the other rows of its case; a ratio is \
the median, over the rounds, of the baseline's time by the row's own in the same round, so above 1 is \
faster than the baseline, which is the first row of its case. Cycles are counted by the clock that a \
chain of dependent operations showed in that round. Noise is the time of the slowest run but one tenth, \
less that of the fastest, by the median.";

fn html(sections: &[Section<'_>], hardware: &str) -> String {
    let machine = sections.iter().find(|section| !section.machine.is_empty());
    let machine = machine.map_or(String::new(), |section| pre(&section.machine));
    let links = sections.iter().map(|section| format!("<a href=\"#{0}\">{0}</a>", section.name));
    let links: String = links.collect();
    let body: String = sections.iter().map(Section::html).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>lanesum: the bench</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1>lanesum: the bench</h1>\n<p>{INTRODUCTION}</p>\n\
         {machine}<nav>{links}</nav>\n{body}{hardware}</body>\n</html>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::rows::tests::row;
    use super::*;

    const HEADER: &str = "scenario,case,implementation,median_s,min_s,p90_s,bytes,items,gb_per_s,\
                          cycles_per_byte,ns_per_item,ratio_to_baseline,peak_mib\n";

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let mut csv = HEADER.to_owned();
        for (case, implementation, speed) in [
            ("2x16KiB", "md5-many", 1.0),
            ("2x16KiB", "lanesum", 2.0),
            ("4x16KiB", "md5-many", 1.5),
            ("4x16KiB", "lanesum", 3.0),
        ] {
            let seconds = 1.0 / speed;
            let _ = writeln!(
                csv,
                "many,{case},{implementation},{seconds},{seconds},{seconds},1,1,{speed},1,1,{speed},"
            );
        }
        fs::write(folder.path().join(CSV), csv).unwrap();
        let printed =
            "machine   a <box>\ndate      today\nskipped   go: not installed\n\nmany 2x16KiB";
        fs::write(folder.path().join("many.txt"), printed).unwrap();
        folder
    }

    #[test]
    fn the_page_has_machine_plots_rows_and_what_was_skipped() {
        let folder = folder();
        make(folder.path()).unwrap();
        let html = fs::read_to_string(folder.path().join("index.html")).unwrap();
        for text in [
            "<pre>machine   a &lt;box&gt;\ndate      today</pre>",
            "<pre>skipped   go: not installed</pre>",
            "<svg ",
            "<th colspan=\"8\">4x16KiB</th>",
            "<tr class=\"ours\"><td>lanesum</td><td>3.000</td>",
        ] {
            assert!(html.contains(text), "{text} is not in {html}");
        }
        for outside in ["http://", "https://", "src="] {
            let found = html.replace("http://www.w3.org/2000/svg", "");
            assert!(!found.contains(outside), "the page asks for {outside}");
        }
    }

    #[test]
    fn plots_are_drawn_by_name() {
        let folder = folder();
        let into = folder.path().join("plots");
        draw(folder.path(), &["many-by-count".to_owned()], &into).unwrap();
        let svg = fs::read_to_string(into.join("many-by-count.svg")).unwrap();
        assert!(svg.starts_with("<svg ") && svg.contains("ideal"));
        let error = |name: &str| {
            let names = [name.to_owned()];
            draw(folder.path(), &names, &into).unwrap_err().to_string()
        };
        assert!(error("nothing").contains("no such plot; there are one-by-size"));
        assert!(error("files-4KiB").contains("no rows of scenario files"));
    }

    #[test]
    fn the_plots_of_the_documents_are_drawn_as_this_code_draws() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/plots");
        let plots: Vec<_> =
            fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
        assert!(!plots.is_empty());
        for plot in plots {
            svg::check_colours(&fs::read_to_string(plot).unwrap());
        }
    }

    #[test]
    fn every_plot_is_of_a_name_of_its_own() {
        let names: Vec<&str> = plots::ALL.iter().map(|plot| plot.name).collect();
        assert_eq!(distinct(names.iter().copied()), names);
    }

    #[test]
    fn durations_have_the_unit_that_suits_them() {
        assert_eq!([2.5, 0.0025, 0.0000025].map(duration), ["2.500 s", "2.500 ms", "2.500 µs"]);
        assert!(table_row(&row("a", "b", "md5sum", 1.0)).starts_with("<tr><td>md5sum"));
        let disk = Some(rows::Disk { seeks: 12.0, busy_s: 3.5 });
        let text = table_row(&Row { disk, ..row("disk", "big", "md5sum", 1.0) });
        assert!(text.contains("<td>12</td><td>3.500 s</td>"), "{text}");
    }
}
