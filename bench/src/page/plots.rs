//! Which plots the report has. A new one is an entry in [`ALL`]: a scenario, what goes across, what
//! goes up.

use std::collections::BTreeMap;

use super::rows::{Row, distinct};
use super::svg::{Bar, Bars, Curve, Group, Line, Lines, Marked, is_ours};
use crate::quantity;
use crate::scenarios::program_of;
use crate::statistics::median;

/// A plot of one scenario's rows.
pub struct Plot {
    /// Its file is called so.
    pub name: &'static str,
    pub scenario: &'static str,
    pub title: &'static str,
    pub kind: Kind,
}

pub enum Kind {
    /// A line for each implementation, over the cases whose names are lengths or numbers.
    Lines {
        across: Across,
        up: Up,
        /// The implementations that are drawn; none means all.
        only: &'static [&'static str],
        limit: Option<Limit>,
    },
    /// A bar for each implementation in one case.
    Bars {
        case: &'static str,
        up: Up,
        /// The implementation that is drawn as a line, since nothing can be faster.
        limit: Option<&'static str>,
    },
    /// For each case a group with the row of lanesum and, of every other program, the one that
    /// takes the least time: the setting that suits it best. That of `limit` is drawn as a line.
    Best { cases: &'static [Named], up: Up, limit: Named },
    /// The same for some implementations in several cases, with names for whoever knows no bench.
    Groups { cases: &'static [Named], up: Up, only: &'static [Named], limit: Named },
}

/// What the rows call it, and what a plot calls it.
#[derive(Clone, Copy)]
pub struct Named(&'static str, &'static str);

/// What the name of a case says, which goes across on a logarithmic scale.
pub enum Across {
    /// `PREFIX16KiB`: bytes.
    Length { prefix: &'static str, longest: u64 },
    /// `PREFIX8x16KiB`: the number of messages of so many bytes each.
    Streams { prefix: &'static str, each: u64 },
}

pub enum Up {
    GbPerS,
    /// Millions of items in a second.
    MillionsPerS,
    /// The speed of a row by the speed of the same case's row of this implementation.
    SpeedOver(&'static str),
    /// The speed of a row by the speed of the same case's baseline, which a plot calls so.
    SpeedOverBaseline(&'static str),
    /// What takes less is better.
    Seconds,
    /// What the heads of simulated disks did, which is better if it is less.
    Seeks,
    BusySeconds,
}

/// A curve that no implementation crosses.
pub struct Limit {
    pub label: &'static str,
    /// Cycles per byte at a place across.
    pub cycles_per_byte: fn(f64) -> f64,
}

/// Cycles per byte at which one stream is bound by the latency of its 64 steps a block: four
/// dependent operations of one cycle each in a step.
const LATENCY_BOUND: f64 = 4.0;
/// Cycles per byte at which any number of streams is bound by the throughput of two 512-bit units,
/// bringing the words of sixteen messages into their lanes included.
const THROUGHPUT_BOUND: f64 = 0.22;

/// Lanesum and its peers in memory, without the rows held to an instruction set and the
/// incarnations.
const PEERS: &[&str] = &[
    "lanesum",
    "openssl",
    "md-5",
    "md5",
    "fast-md5",
    "md5-many",
    "md5-simd",
    "md5-asm",
    "minio-md5-simd",
];

const fn files(name: &'static str, case: &'static str, title: &'static str) -> Plot {
    let kind = Kind::Bars { case, up: Up::GbPerS, limit: Some("read-only") };
    Plot { name, scenario: "files", title, kind }
}

const fn documents(name: &'static str, case: &'static str, title: &'static str) -> Plot {
    let kind = Kind::Bars { case, up: Up::GbPerS, limit: Some("read-only") };
    Plot { name, scenario: "documents", title, kind }
}

const fn per_item(
    name: &'static str,
    scenario: &'static str,
    case: &'static str,
    title: &'static str,
) -> Plot {
    let kind = Kind::Bars { case, up: Up::MillionsPerS, limit: None };
    Plot { name, scenario, title, kind }
}

const fn disk(name: &'static str, up: Up, cases: &'static [Named], title: &'static str) -> Plot {
    let limit = Named("md5sum-sorted", "md5sum, list in order");
    Plot { name, scenario: "disk", title, kind: Kind::Best { cases, up, limit } }
}

const fn sha(name: &'static str, prefix: &'static str, title: &'static str) -> Plot {
    let across = Across::Streams { prefix, each: 16 << 10 };
    let only = &["lanesum", "openssl", "rustcrypto", "ring", "tape-sha256"];
    let kind = Kind::Lines { across, up: Up::GbPerS, only, limit: None };
    Plot { name, scenario: "sha", title, kind }
}

const ROTATING: &[Named] = &[
    Named("big", "24 files of 40 MB"),
    Named("small", "6,000 files of 20 kB"),
    Named("mixed", "Both"),
];
const LISTS: &[Named] =
    &[Named("big-list", "24 files of 40 MB"), Named("small-list", "6,000 files of 20 kB")];
const TWO_DISKS: &[Named] = &[Named("two-disks", "24 files of 40 MB on each of two disks")];
const FAR: &[Named] =
    &[Named("far-big", "24 files of 40 MB"), Named("far-small", "6,000 files of 20 kB")];

pub const ALL: &[Plot] = &[
    Plot {
        name: "one-by-size",
        scenario: "one",
        title: "One message: speed by its size",
        kind: Kind::Lines {
            across: Across::Length { prefix: "", longest: u64::MAX },
            up: Up::GbPerS,
            only: PEERS,
            limit: None,
        },
    },
    Plot {
        name: "one-shapes",
        scenario: "one",
        title: "One message of 16 KiB: every row",
        kind: Kind::Bars { case: "16KiB", up: Up::GbPerS, limit: None },
    },
    Plot {
        name: "many-by-count",
        scenario: "many",
        title: "Messages of 16 KiB at once on one core: speed by their number",
        kind: Kind::Lines {
            across: Across::Streams { prefix: "", each: 16 << 10 },
            up: Up::GbPerS,
            only: PEERS,
            limit: Some(Limit {
                label: "ideal",
                cycles_per_byte: |streams| (LATENCY_BOUND / streams).max(THROUGHPUT_BOUND),
            }),
        },
    },
    sha("sha1-by-count", "sha1-", "SHA-1 of messages of 16 KiB: speed by their number"),
    sha("sha256-by-count", "sha256-", "SHA-256 of messages of 16 KiB: speed by their number"),
    sha("sha512-by-count", "sha512-", "SHA-512 of messages of 16 KiB: speed by their number"),
    Plot {
        name: "files",
        scenario: "files",
        title: "Checksums of files in the page cache, on one CPU",
        kind: Kind::Groups {
            cases: &[
                Named("4KiB", "MD5: 100,000 files of 4 KiB"),
                Named("1MiB", "MD5: 2,000 files of 1 MiB"),
                Named("1GiB", "MD5: one file of 1 GiB"),
                Named("4KiB-sha256", "SHA-256: 100,000 files of 4 KiB"),
                Named("1MiB-sha256", "SHA-256: 2,000 files of 1 MiB"),
            ],
            up: Up::SpeedOverBaseline("md5sum or sha256sum"),
            only: &[
                Named("lanesum", "lanesum"),
                Named("b3sum", "b3sum (BLAKE3)"),
                Named("md5deep", "md5deep (hashdeep)"),
                Named("sha256deep", "sha256deep (hashdeep)"),
                Named("openssl", "OpenSSL"),
                Named("md5sum", "md5sum"),
                Named("sha256sum", "sha256sum"),
            ],
            limit: Named("read-only", "reading alone"),
        },
    },
    files("files-4KiB", "4KiB", "Files of 4 KiB; one CPU, -j2 two"),
    files("files-1MiB", "1MiB", "Files of 1 MiB; one CPU, -j2 two"),
    files("files-512MiB", "512MiB", "Files of 512 MiB; one CPU"),
    files("files-1GiB", "1GiB", "One file of 1 GiB; one CPU"),
    files("files-4KiB-sha256", "4KiB-sha256", "SHA-256 of files of 4 KiB; one CPU, -j2 two"),
    files("files-1MiB-sha256", "1MiB-sha256", "SHA-256 of files of 1 MiB; one CPU, -j2 two"),
    files("files-1MiB-sha512", "1MiB-sha512", "SHA-512 of files of 1 MiB; one CPU, -j2 two"),
    files("files-1MiB-sha1", "1MiB-sha1", "SHA-1 of files of 1 MiB; one CPU, -j2 two"),
    files("files-debian", "debian", "The check of Debian's own lists; one CPU"),
    Plot {
        name: "catalog-first",
        scenario: "catalog",
        title: "A first run over files of 4 KiB: digests kept; one CPU",
        kind: Kind::Bars { case: "first-4KiB", up: Up::Seconds, limit: Some("lanesum-sum") },
    },
    Plot {
        name: "catalog-unchanged",
        scenario: "catalog",
        title: "A run where nothing changed; one CPU",
        kind: Kind::Bars { case: "unchanged", up: Up::Seconds, limit: Some("find") },
    },
    disk("disk-busy", Up::BusySeconds, ROTATING, "A rotating disk: the time that it needs"),
    disk("disk-seeks", Up::Seeks, ROTATING, "A rotating disk: how often its head is moved"),
    disk(
        "disk-list-busy",
        Up::BusySeconds,
        LISTS,
        "A rotating disk, a shuffled list checked: the time that it needs",
    ),
    disk(
        "disk-list-seeks",
        Up::Seeks,
        LISTS,
        "A rotating disk, a shuffled list checked: how often its head is moved",
    ),
    disk("disk-two", Up::Seconds, TWO_DISKS, "Two rotating disks: how long it takes"),
    disk(
        "disk-far",
        Up::Seconds,
        FAR,
        "A disk 1 ms away that serves 32 at once: how long it takes",
    ),
    documents("documents-200MB", "200MB", "The Haskell document: a file of 200 MB"),
    documents("documents-2GB", "2GB", "The Haskell document: a file of 2 GB"),
    documents("documents-100x10MB", "100x10MB", "The F# document: 10 MB, a hundred times"),
    documents(
        "documents-13MBx50",
        "13MBx50",
        "The Perl document: a file of 13 MB, again and again",
    ),
    documents("documents-4KiB", "4KiB", "Its ways of reading, with files of 4 KiB"),
    documents("documents-1GiB", "1GiB", "Its ways of reading, with a file of 1 GiB"),
    Plot {
        name: "siphash-over-fnv1",
        scenario: "siphash",
        title: "The SipHash document: speed relative to FNV-1, by the size of the input",
        kind: Kind::Lines {
            across: Across::Length { prefix: "one-", longest: 4096 },
            up: Up::SpeedOver("fnv1"),
            only: &[
                "lanesum-2-4",
                "lanesum-1-3",
                "siphasher-2-4",
                "siphasher-1-3",
                "libsodium",
                "fnv1",
            ],
            limit: None,
        },
    },
    per_item("siphash-many-u64", "siphash", "many-u64", "Hashes of a column of numbers"),
    per_item("siphash-mixed-1-16", "siphash", "mixed-1-16", "Hashes of strings of 1 to 16 bytes"),
    per_item("events-add-1e6", "events", "add-1e6", "Events added, until there are 10^6"),
    per_item("events-cancel-1e6", "events", "cancel-1e6", "Events cancelled, of 10^6"),
    per_item("events-fire-1e6", "events", "fire-1e6", "Events run, of 10^6"),
    per_item("python-md5-36", "python", "md5-36", "Python: MD5 of a column, 36 bytes a row"),
    per_item("python-siphash-12", "python", "siphash-12", "Python: SipHash of 12 bytes a row"),
];

impl Plot {
    /// The picture, as SVG; none where the rows have nothing to draw.
    pub fn draw(&self, rows: &[Row]) -> Option<String> {
        let rows: Vec<&Row> = rows.iter().filter(|row| row.scenario == self.scenario).collect();
        match &self.kind {
            Kind::Lines { across, up, only, limit } => {
                self.lines(&rows, across, up, only, limit.as_ref())
            }
            Kind::Bars { case, up, limit } => {
                let limit = limit.map(|limit| Named(limit, limit));
                self.bars(group(Named(case, ""), &rows, up, &[], limit), up)
            }
            Kind::Best { cases, up, limit } => {
                let best = best_of_each_program(&rows, limit.0);
                let groups =
                    cases.iter().filter_map(|case| group(*case, &best, up, &[], Some(*limit)));
                self.bars(groups, up)
            }
            Kind::Groups { cases, up, only, limit } => {
                let groups =
                    cases.iter().filter_map(|case| group(*case, &rows, up, only, Some(*limit)));
                self.bars(groups, up)
            }
        }
    }

    fn lines(
        &self,
        rows: &[&Row],
        across: &Across,
        up: &Up,
        only: &[&str],
        limit: Option<&Limit>,
    ) -> Option<String> {
        let drawn = |row: &&&Row| only.is_empty() || only.contains(&row.implementation.as_str());
        let points: Vec<(f64, f64, &Row)> = rows
            .iter()
            .filter(drawn)
            .filter_map(|row| Some((across.place(&row.case)?, up.value(row, rows)?, *row)))
            .collect();
        if points.is_empty() {
            return None;
        }
        let names = distinct(points.iter().map(|(_, _, row)| row.implementation.as_str()));
        let mut others = 0;
        let lines: Vec<Line<'_>> = names
            .into_iter()
            .map(|name| {
                let own = points.iter().filter(|(_, _, row)| row.implementation == name);
                let colour = next_colour(name, &mut others);
                Line { name, colour, points: own.map(|(x, y, _)| (*x, *y)).collect() }
            })
            .filter(|line| line.points.len() > 1)
            .collect();
        let limit = limit.map(|limit| {
            // The clock of each row's own rounds, since speed is clock by cycles.
            let clocks = points.iter().map(|(_, _, row)| row.gb_per_s * row.cycles_per_byte);
            let gigahertz = median(&clocks.collect::<Vec<_>>());
            let y = move |x| gigahertz / (limit.cycles_per_byte)(x);
            Curve { label: limit.label, y: Box::new(y) }
        });
        (!lines.is_empty()).then(|| {
            Lines {
                title: self.title,
                across: across.label(),
                up: up.label(),
                tick: |x| across.tick(x),
                lines,
                limit,
            }
            .draw()
        })
    }

    fn bars<'row>(
        &'row self,
        groups: impl IntoIterator<Item = Group<'row>>,
        up: &Up,
    ) -> Option<String> {
        let groups: Vec<Group<'_>> = groups.into_iter().collect();
        let some = !groups.is_empty();
        some.then(|| Bars { title: self.title, up: up.label(), groups }.draw())
    }
}

/// The bars of one case, the fastest first; none where there are no rows of it. Without names in
/// `only` all implementations have one.
fn group<'row>(
    Named(case, name): Named,
    rows: &[&'row Row],
    up: &Up,
    only: &[Named],
    limit: Option<Named>,
) -> Option<Group<'row>> {
    let mut bars = Vec::new();
    let mut line = None;
    for row in rows.iter().filter(|row| row.case == case) {
        let value = up.value(row, rows)?;
        let own = row.implementation.as_str();
        if let Some(Named(_, name)) = limit.filter(|limit| limit.0 == own) {
            line = Some(Marked { name, value });
            continue;
        }
        let name = match only.iter().find(|shown| shown.0 == own) {
            Some(Named(_, name)) => name,
            None if only.is_empty() => own,
            None => continue,
        };
        bars.push(Bar { row: own, name, value, spread: up.spread(row, value) });
    }
    bars.sort_by(|a, b| b.value.total_cmp(&a.value));
    if up.less_is_better() {
        bars.reverse();
    }
    (!bars.is_empty()).then_some(Group { name, bars, limit: line })
}

/// The rows of lanesum as it is and of `limit`, and of every other program in each case the one of
/// its settings that takes the least time.
fn best_of_each_program<'row>(rows: &[&'row Row], limit: &str) -> Vec<&'row Row> {
    let (mut best, others): (Vec<_>, Vec<_>) =
        rows.iter().copied().partition(|row| ["lanesum", limit].contains(&&*row.implementation));
    let mut by_program: BTreeMap<_, &Row> = BTreeMap::new();
    for row in others.into_iter().filter(|row| !is_ours(&row.implementation)) {
        let program = (&row.case, program_of(&row.implementation));
        let fastest = by_program.entry(program).or_insert(row);
        if row.median_s < fastest.median_s {
            *fastest = row;
        }
    }
    best.extend(by_program.into_values());
    best
}

/// The colour of a line: lanesum's own, the same in every plot for its [`PEERS`], one after
/// the other for others.
fn next_colour(name: &str, others: &mut usize) -> usize {
    if is_ours(name) {
        return 0;
    }
    PEERS.iter().position(|peer| *peer == name).unwrap_or_else(|| {
        *others += 1;
        *others
    })
}

impl Across {
    fn place(&self, case: &str) -> Option<f64> {
        match self {
            Self::Length { prefix, longest } => {
                let bytes = quantity::bytes(case.strip_prefix(prefix)?)?;
                (bytes <= *longest).then_some(bytes as f64)
            }
            Self::Streams { prefix, each } => {
                match quantity::streams(case.strip_prefix(prefix)?)? {
                    (count, bytes) if bytes == *each => Some(count as f64),
                    _ => None,
                }
            }
        }
    }

    fn label(&self) -> &'static str {
        match self {
            Self::Length { .. } => "length",
            Self::Streams { .. } => "number of messages",
        }
    }

    fn tick(&self, x: f64) -> String {
        match self {
            Self::Length { .. } => quantity::name_of(x as u64),
            Self::Streams { .. } => x.to_string(),
        }
    }
}

impl Up {
    fn value(&self, row: &Row, all: &[&Row]) -> Option<f64> {
        match self {
            Self::GbPerS => Some(row.gb_per_s),
            Self::MillionsPerS => Some(1e3 / row.ns_per_item),
            Self::SpeedOver(name) => {
                let is_base = |base: &&&Row| base.case == row.case && base.implementation == *name;
                let base = all.iter().find(is_base)?;
                Some(row.ratio_to_baseline / base.ratio_to_baseline)
            }
            Self::SpeedOverBaseline(_) => Some(row.ratio_to_baseline),
            Self::Seconds => Some(row.median_s),
            Self::Seeks => row.disk.map(|disk| disk.seeks),
            Self::BusySeconds => row.disk.map(|disk| disk.busy_s),
        }
    }

    /// The slow and the fast end of a row's `value`.
    fn spread(&self, row: &Row, value: f64) -> (f64, f64) {
        match self {
            Self::Seconds => (row.min_s, row.p90_s),
            // Of what is counted there is the median alone.
            Self::Seeks | Self::BusySeconds => (value, value),
            // In proportion, since these go with the speed.
            Self::GbPerS | Self::MillionsPerS | Self::SpeedOver(_) | Self::SpeedOverBaseline(_) => {
                (value * row.median_s / row.p90_s, value * row.median_s / row.min_s)
            }
        }
    }

    fn less_is_better(&self) -> bool {
        matches!(self, Self::Seconds | Self::Seeks | Self::BusySeconds)
    }

    fn label(&self) -> String {
        match self {
            Self::GbPerS => "GB/s".to_owned(),
            Self::MillionsPerS => "million per second".to_owned(),
            Self::SpeedOver(name) | Self::SpeedOverBaseline(name) => {
                format!("speed relative to {name}")
            }
            Self::Seconds => "seconds; less is better".to_owned(),
            Self::Seeks => "seeks; less is better".to_owned(),
            Self::BusySeconds => "seconds that the disk is busy; less is better".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::rows::Disk;
    use crate::page::rows::tests::row;
    use crate::page::svg;

    /// Rows of lanesum's, of a peer's and of the limit or base that `plot` may have.
    fn rows(plot: &Plot) -> Vec<Row> {
        let owned = |cases: &[&str]| cases.iter().map(|case| (*case).to_owned()).collect();
        let (cases, extra): (Vec<String>, &str) = match &plot.kind {
            Kind::Lines { across: Across::Length { prefix, .. }, up, .. } => {
                let base = if let Up::SpeedOver(base) = up { base } else { "openssl" };
                (["64B", "256B"].map(|bytes| format!("{prefix}{bytes}")).to_vec(), base)
            }
            Kind::Lines { across: Across::Streams { prefix, .. }, .. } => {
                (["2x16KiB", "4x16KiB"].map(|case| format!("{prefix}{case}")).to_vec(), "openssl")
            }
            Kind::Bars { case, limit, .. } => (owned(&[case]), limit.unwrap_or("openssl")),
            Kind::Groups { cases, limit, .. } => {
                (cases.iter().map(|case| case.0.to_owned()).collect(), limit.0)
            }
            Kind::Best { cases, limit, .. } => {
                (cases.iter().map(|case| case.0.to_owned()).collect(), limit.0)
            }
        };
        let ours = match &plot.kind {
            Kind::Lines { only, .. } => only.iter().copied().find(|name| is_ours(name)),
            _ => None,
        };
        let names = [(ours.unwrap_or("lanesum"), 4.0), ("md5sum", 1.0), (extra, 9.0)];
        let disk = |speed: f64| Some(Disk { seeks: 100.0 / speed, busy_s: 10.0 / speed });
        let of_case = |case: &String| {
            names.map(|(name, speed)| Row {
                disk: disk(speed),
                ..row(plot.scenario, case, name, speed)
            })
        };
        cases.iter().flat_map(of_case).collect()
    }

    #[test]
    fn every_plot_shows_its_colours_without_a_style_sheet() {
        for plot in ALL {
            svg::check_colours(&plot.draw(&rows(plot)).expect(plot.name));
        }
    }

    #[test]
    fn a_plot_in_groups_has_its_own_names_and_leaves_out_the_other_rows() {
        let plot = ALL.iter().find(|plot| plot.name == "files").unwrap();
        let mut rows = rows(plot);
        rows.push(row("files", "1GiB", "rhash", 2.0));
        let svg = plot.draw(&rows).unwrap();
        for text in
            ["MD5: 2,000 files of 1 MiB", "MD5: one file of 1 GiB", "reading alone  9.00", "4.00"]
        {
            assert!(svg.contains(&format!(">{text}</text>")), "{text} is not in {svg}");
        }
        assert!(!svg.contains("rhash"));
        rows.retain(|row| row.case != "1MiB");
        assert!(!plot.draw(&rows).unwrap().contains("MD5: 2,000 files of 1 MiB"));
    }

    #[test]
    fn of_each_program_but_lanesum_the_best_setting_is_drawn_the_least_first() {
        let of = |implementation, seconds, seeks| Row {
            disk: Some(Disk { seeks, busy_s: seconds }),
            ..row("disk", "big", implementation, 1.0 / seconds)
        };
        let rows = [
            of("md5sum-sorted", 1.0, 10.0),
            of("lanesum", 2.0, 22.0),
            of("lanesum-j32", 1.5, 44.0),
            of("md5deep", 9.0, 900.0),
            of("md5deep-j0", 4.0, 400.0),
            of("md5deep-j1", 5.0, 500.0),
            of("rhash", 3.0, 300.0),
        ];
        let plot = ALL.iter().find(|plot| plot.name == "disk-seeks").unwrap();
        let svg = plot.draw(&rows).unwrap();
        let place = |text: &str| svg.find(&format!(">{text}</text>")).expect(text);
        assert!(place("lanesum") < place("rhash") && place("rhash") < place("md5deep-j0"));
        assert!(place("22.0") < place("300") && place("300") < place("400"));
        for text in [">lanesum-j32<", ">md5deep<", ">md5deep-j1<", ">md5sum-sorted<", ">900<"] {
            assert!(!svg.contains(text), "{text} is in {svg}");
        }
        assert!(svg.contains("md5sum, list in order  10.0"));
    }
}
