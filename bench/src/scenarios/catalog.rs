//! `catalog`: a first run of programs that keep checksums, a run where nothing changed, and what
//! only `lanesum`'s catalog does.
//!
//! As in `files`, everything lies in the page cache on a tmpfs, so that a database waits for no
//! disk; each program is bound to one CPU and measured from its start to its end. [`keepers`] tells
//! how each is called.
//!
//! - `first-4KiB`: all files are read and put down, after what was put down before is removed.
//!   `lanesum-sum` computes the same digests and keeps nothing; `sum-and-rows` is what a catalog in
//!   SQLite cannot be faster than: that, and the same rows put down by SQLite alone.
//! - `unchanged`: `find` prints names, sizes and times. `lanesum-update` and `aide-times` look at
//!   no more, so read no file; `lanesum-all` and all others read every file again, as chkbit,
//!   bitrot and hashdeep know no other way.
//! - `status`: what the catalog says of itself.
//! - `moved`: the folder of all files has another name than in the catalog. `lanesum-scan` tells
//!   so, `lanesum-update` takes it up; neither reads a file.
//! - `scrub-1MiB`: every file is read and the catalog told, or compared with a list.
//!
//! chkbit and bitrot put down in the tree itself, so each has a tree of its own.

mod answers;
mod keepers;
mod peers;
mod rows;

use std::cell::{Cell, OnceCell};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result};

use self::keepers::{Desk, Step};
use self::peers::Peers;
use self::rows::Rows;
use super::Scenario;
use super::programs::ensure_built;
use crate::clock;
use crate::launch::{allowed_cpus, pin};
use crate::options::Options;
use crate::report::Report;
use crate::rig::{self, Case, Competitor, Measured, Sample};
use crate::scratch::Scratch;

pub const SCENARIO: Scenario = Scenario {
    name: "catalog",
    about: "checksums kept: a first run, one where nothing changed, a moved folder, a scrub",
    cases: &[FIRST, UNCHANGED, STATUS, MOVED, SCRUB],
    implementations: &[
        "lanesum-sum",
        SUM_AND_ROWS,
        "lanesum-add",
        "find",
        "lanesum-update",
        "lanesum-all",
        "lanesum-status",
        "lanesum-scan",
        "lanesum-check",
        "lanesum-scrub",
        "hashdeep",
        "chkbit",
        "chkbit-blake3",
        "bitrot",
        "aide",
        "aide-times",
    ],
    run,
};

/// The limit of a first run: see [`Rows`].
const SUM_AND_ROWS: &str = "sum-and-rows";

const FIRST: &str = "first-4KiB";
const UNCHANGED: &str = "unchanged";
const STATUS: &str = "status";
const MOVED: &str = "moved";
const SCRUB: &str = "scrub-1MiB";

const SMALL: Size = Size { files: 100_000, file_bytes: 4 << 10 };
/// As many as in the scenario `files`: what `make bench` takes of a tmpfs stays as it is.
const LARGE: Size = Size { files: 2_000, file_bytes: 1 << 20 };

/// A file that was written so long ago is recorded for good.
const SETTLED: Duration = Duration::from_millis(3_100);

/// The folder of all files goes by these names alternately.
const NAMES: [&str; 2] = ["a", "b"];

fn run(options: &Options, report: &mut Report) -> Result<()> {
    let cpus = allowed_cpus()?;
    pin(&cpus[..1])?;
    println!("{:<9} to CPU {}", "pinned", cpus[0]);
    let peers = Peers::look_for(options, report);
    let bench = Bench { options, peers, cpus: cpus[..1].to_vec() };
    if [FIRST, UNCHANGED, STATUS, MOVED].iter().any(|case| options.only.case(case)) {
        bench.small(report)?;
    }
    if options.only.case(SCRUB) {
        bench.scrub(report).context(SCRUB)?;
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct Size {
    files: usize,
    file_bytes: usize,
}

/// A folder with one folder in it, which holds all files.
struct Tree {
    scratch: Scratch,
    files: usize,
    bytes: u64,
}

impl Tree {
    fn new(options: &Options, size: Size) -> Result<Self> {
        let files = (size.files / options.scale).max(1);
        let bytes = files as u64 * size.file_bytes as u64;
        eprintln!("making {files} files for {}", SCENARIO.name);
        let scratch = Scratch::new(&options.scratch, bytes)?;
        scratch.make_files(files, size.file_bytes, &options.interrupt)?;
        let tree = Self { scratch, files, bytes };
        fs::create_dir(tree.root())?;
        fs::rename(tree.scratch.tree(), tree.root().join(NAMES[0]))?;
        // Records of files that were just written are read again by the first update.
        std::thread::sleep(SETTLED);
        Ok(tree)
    }

    fn root(&self) -> PathBuf {
        self.scratch.path().join("root")
    }
}

struct Bench<'run> {
    options: &'run Options,
    peers: Peers,
    cpus: Vec<usize>,
}

impl Bench<'_> {
    /// What starts programs over `tree`.
    fn desk(&self, tree: &Tree) -> Desk<'_> {
        Desk {
            lanesum: &self.options.lanesum,
            cpus: &self.cpus,
            files: tree.files,
            root: tree.root(),
            aside: tree.scratch.path().to_owned(),
            output: tree.scratch.path().join("output"),
        }
    }

    /// The cases of the same small files.
    fn small(&self, report: &mut Report) -> Result<()> {
        let wanted = |case: &&str| self.options.only.case(case);
        let tree = Tree::new(self.options, SMALL)?;
        if [FIRST, UNCHANGED].iter().any(wanted) {
            self.keepers(&tree, report)?;
        }
        if self.options.only.case(STATUS) {
            self.status(&tree, report)?;
        }
        if self.options.only.case(MOVED) {
            self.moved(&tree, report)?;
        }
        Ok(())
    }

    /// `first-4KiB` and `unchanged`: whoever keeps checksums, in both cases.
    fn keepers(&self, tree: &Tree, report: &mut Report) -> Result<()> {
        let desk = self.desk(tree);
        let (sums, put_down) = (OnceCell::new(), OnceCell::new());
        let mut keepers = vec![desk.lanesum(), desk.lanesum_all()];
        keepers.extend([desk.hashdeep(&sums), desk.aide(), desk.aide_times()]);
        let of_chkbit = self.tree_of("chkbit", &["chkbit", "chkbit-blake3"])?;
        if let Some(tree) = &of_chkbit {
            let desk = self.desk(tree);
            keepers.extend([desk.chkbit("chkbit", "md5"), desk.chkbit("chkbit-blake3", "blake3")]);
        }
        let of_bitrot = self.tree_of("bitrot", &["bitrot"])?;
        if let Some(tree) = &of_bitrot {
            keepers.push(self.desk(tree).bitrot());
        }
        keepers.retain(|keeper| keeper.needs.is_none_or(|program| self.peers.has(program)));

        if self.options.only.case(FIRST) {
            let sum = desk.sum(&sums);
            let mut rows = vec![self.competitor(&sum, || Ok(()))];
            rows.push(self.sum_and_rows(&sum, &put_down, tree));
            let first = keepers.iter().filter(|keeper| keeper.reads_all);
            rows.extend(first.map(|keeper| self.competitor(&keeper.first, || (keeper.forget)())));
            let measured = self.measured(FIRST, tree, rows)?;
            if let Some(bytes) = desk.catalog_bytes_a_file() {
                println!("{:<9} {bytes:.0} bytes a file", "catalog");
            }
            report.add(&measured)?;
        }
        if self.options.only.case(UNCHANGED) {
            let find = desk.find();
            let mut rows = vec![self.competitor(&find, || Ok(()))];
            let again = keepers.iter();
            rows.extend(again.map(|it| self.competitor(&it.again, || it.record_once())));
            self.measure(UNCHANGED, tree, rows, report)?;
        }
        Ok(())
    }

    /// The row of what `sum` does and, in this process on the same CPU, of what SQLite does.
    fn sum_and_rows<'case>(
        &'case self,
        sum: &'case Step<'_>,
        rows: &'case OnceCell<Rows>,
        tree: &'case Tree,
    ) -> Competitor<'case> {
        Competitor {
            name: SUM_AND_ROWS,
            every_round: true,
            run: Box::new(move || {
                if rows.get().is_none() {
                    let folder = tree.root().join(NAMES[0]);
                    let made = Rows::of(&folder, tree.scratch.path().join("rows.db"))?;
                    rows.get_or_init(|| made);
                }
                let summed = sum.launch.run()?;
                let rows = rows.get().context("the rows")?;
                Ok(Sample::whole(summed.seconds + rows.put()?))
            }),
            verify: Box::new(move || {
                let rows = rows.get().context("the rows")?;
                answers::expect("rows", tree.files, rows.count()?)
            }),
        }
    }

    /// Files of its own for `program`, if it is there and one of its rows is wanted.
    fn tree_of(&self, program: &str, rows: &[&str]) -> Result<Option<Tree>> {
        let only = &self.options.only;
        let wanted = self.peers.has(program) && rows.iter().any(|row| only.implementation(row));
        wanted.then(|| Tree::new(self.options, SMALL)).transpose()
    }

    fn status(&self, tree: &Tree, report: &mut Report) -> Result<()> {
        let desk = self.desk(tree);
        let (keeper, status) = (desk.lanesum(), desk.status());
        let rows = vec![self.competitor(&status, || keeper.record_once())];
        self.measure(STATUS, tree, rows, report)
    }

    fn moved(&self, tree: &Tree, report: &mut Report) -> Result<()> {
        let desk = self.desk(tree);
        let (keeper, find) = (desk.lanesum(), desk.find());
        let (scan, update) = (desk.scan_moved(), desk.update_moved());
        // Places in `NAMES`: where the files are, and where the catalog has them.
        let (place, known) = (Cell::new(0), Cell::new(0));
        let away = || {
            keeper.record_once()?;
            if place.get() == known.get() {
                let to = 1 - place.get();
                let path = |place: usize| desk.root.join(NAMES[place]);
                fs::rename(path(place.get()), path(to)).context("renaming the folder")?;
                place.set(to);
            }
            Ok(())
        };
        let rows = vec![
            self.competitor(&find, || Ok(())),
            self.competitor(&scan, &away),
            self.competitor(&update, || {
                away()?;
                known.set(place.get());
                Ok(())
            }),
        ];
        self.measure(MOVED, tree, rows, report)
    }

    fn scrub(&self, report: &mut Report) -> Result<()> {
        let tree = Tree::new(self.options, LARGE)?;
        let desk = self.desk(&tree);
        let (keeper, scrub, check) = (desk.lanesum(), desk.scrub(), desk.check());
        let mut listed = false;
        let rows = vec![
            self.competitor(&check, || {
                if !listed {
                    desk.list()?;
                    listed = true;
                }
                Ok(())
            }),
            self.competitor(&scrub, || keeper.record_once()),
        ];
        self.measure(SCRUB, &tree, rows, report)
    }

    /// The row of `step`; `before` is not in its time.
    fn competitor<'case>(
        &'case self,
        step: &'case Step<'_>,
        mut before: impl FnMut() -> Result<()> + 'case,
    ) -> Competitor<'case> {
        let is_lanesum = step.name.starts_with("lanesum");
        Competitor {
            name: step.name,
            every_round: is_lanesum,
            run: Box::new(move || {
                if is_lanesum {
                    ensure_built(&self.options.lanesum)?;
                }
                before().context("before the run")?;
                step.launch.run()
            }),
            verify: Box::new(|| (step.verify)()),
        }
    }

    fn measure(
        &self,
        case: &str,
        tree: &Tree,
        rows: Vec<Competitor<'_>>,
        report: &mut Report,
    ) -> Result<()> {
        report.add(&self.measured(case, tree, rows)?)
    }

    /// Measures the rows that `--only` leaves, and the first in any case: it is the baseline.
    fn measured(&self, case: &str, tree: &Tree, rows: Vec<Competitor<'_>>) -> Result<Measured> {
        let baseline = rows[0].name;
        let wanted = |row: &Competitor<'_>| self.options.only.row(row.name, baseline);
        let case = Case {
            scenario: SCENARIO.name,
            name: case.to_owned(),
            bytes: tree.bytes,
            items: tree.files as u64,
            competitors: rows.into_iter().filter(wanted).collect(),
        };
        rig::measure(case, self.options.rounds, &self.options.interrupt, clock::hertz)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_its_name_in_the_scenario() {
        let options = Options::for_tests();
        let folder = std::path::PathBuf::from("/x");
        let desk = Desk {
            lanesum: &options.lanesum,
            cpus: &[0],
            files: 1,
            root: folder.clone(),
            aside: folder.clone(),
            output: folder,
        };
        let sums = OnceCell::new();
        let mut names = Vec::new();
        for keeper in [
            desk.lanesum(),
            desk.lanesum_all(),
            desk.hashdeep(&sums),
            desk.aide(),
            desk.aide_times(),
            desk.chkbit("chkbit", "md5"),
            desk.chkbit("chkbit-blake3", "blake3"),
            desk.bitrot(),
        ] {
            if keeper.reads_all {
                names.push(keeper.first.name);
            }
            names.push(keeper.again.name);
        }
        let steps = [desk.status(), desk.scan_moved(), desk.update_moved(), desk.scrub()];
        names.extend(steps.map(|step| step.name));
        names.extend([desk.sum(&sums), desk.find(), desk.check()].map(|step| step.name));
        names.push(SUM_AND_ROWS);
        names.sort_unstable();
        names.dedup();
        let mut expected = SCENARIO.implementations.to_vec();
        expected.sort_unstable();
        assert_eq!(names, expected);
    }
}
