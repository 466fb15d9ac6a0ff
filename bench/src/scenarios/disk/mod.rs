//! `disk`: files on disks that are simulated, by every program that is installed.
//!
//! A rotating disk has one head: what counts is how often it is moved. A far one, as behind a
//! network, has a latency and many hands: what counts is how many requests are under way. See
//! [`crate::disk`] for what is simulated and what is the kernel's own.
//!
//! Each disk has 24 files of 40 MB and 6,000 of 20 kB in 60 folders. The caches are dropped before
//! every run; then the programs that take part print their versions, so that what is read of them
//! and their libraries is not in the time. All CPUs are theirs, in every setting that is named.
//!
//! * `big`, `small`, `mixed`: a folder of a rotating disk with the big files, the small ones, both.
//! * `big-list`, `small-list`: the check of a list in another order than the disk's;
//!   `md5sum-sorted` checks the same in its order. One line is wrong and must be told.
//! * `two-disks`: the big files of two rotating disks. The baseline reads one disk after the other,
//!   so 2 is what both heads can do.
//! * `far-big`, `far-small`: the same folders of a far disk.
//!
//! The baseline is md5sum on names in byte order, fed by `xargs -0` from a list. A program has a
//! row for each setting that may suit it: threads, processes, names in order. `busy s` is what the
//! disks themselves needed, which does not depend on how loaded the machine is; of a far one it is
//! the sum over its hands.

mod rows;

use std::fs;
use std::ops::Add as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use nix::unistd::sync;

use super::installed::Installed;
use super::programs;
use super::{Scenario, program_of};
use crate::answers::Answers;
use crate::clock;
use crate::disk::{self, Content, Disk, FileOnDisk, Model, Work};
use crate::launch::allowed_cpus;
use crate::options::{Interrupted, Options};
use crate::peers;
use crate::report::Report;
use crate::rig::{self, Competitor, Sample};
use crate::scratch::Scratch;
use crate::verifier::Verifier;
use rows::{Rows, SORTED, lines};

pub const SCENARIO: Scenario = Scenario {
    name: "disk",
    about: "files on simulated disks, rotating and far, against the installed programs",
    cases: &["big", "big-list", "small", "small-list", "mixed", TWO_DISKS, "far-big", "far-small"],
    implementations: &[
        "md5sum",
        SORTED,
        "md5sum-P2",
        "md5sum-P32",
        "lanesum",
        "lanesum-j32",
        "md5deep",
        "md5deep-j0",
        "md5deep-j1",
        "md5deep-sorted",
        "md5deep-j32",
        "rhash",
        "rhash-sorted",
        "rhash-P32",
        "b3sum",
        "b3sum-sequential",
        "b3sum-P32",
        "rclone",
        "rclone-1",
        "rclone-32",
    ],
    run,
};

const TWO_DISKS: &str = "two-disks";

struct DiskCase {
    name: &'static str,
    files: Files,
    /// Whether a list is checked.
    list: bool,
    /// How many requests the disks serve at once.
    hands: usize,
}

#[derive(Clone, Copy)]
enum Files {
    Big,
    Small,
    Both,
}

const fn case(name: &'static str, files: Files, list: bool, hands: usize) -> DiskCase {
    DiskCase { name, files, list, hands }
}

const ROTATING: [DiskCase; 5] = [
    case("big", Files::Big, false, 1),
    case("big-list", Files::Big, true, 1),
    case("small", Files::Small, false, 1),
    case("small-list", Files::Small, true, 1),
    case("mixed", Files::Both, false, 1),
];
const TWO_ROTATING: [DiskCase; 1] = [case(TWO_DISKS, Files::Big, false, 2)];
const FAR: [DiskCase; 2] =
    [case("far-big", Files::Big, false, 32), case("far-small", Files::Small, false, 32)];

/// Name and model of a disk, and what its files are made from: they differ from disk to disk.
struct Make {
    name: &'static str,
    model: Model,
    seed: u64,
}

const FIRST: Make = Make { name: "a", model: disk::ROTATING, seed: 1 };
const SECOND: Make = Make { name: "b", model: disk::ROTATING, seed: 2 };
const FAR_AWAY: Make = Make { name: "far", model: disk::FAR, seed: 3 };

/// They have no row.
const NOT_HERE: [&str; 7] =
    ["xxhsum", "openssl", "sha1sum", "sha256sum", "sha512sum", "sha1deep", "sha256deep"];

/// A run takes seconds to minutes, and of a disk the model decides: there is little to average.
const ROUNDS: usize = 1;

fn run(options: &Options, report: &mut Report) -> Result<()> {
    if let Some(why) = disk::missing() {
        report.skip(SCENARIO.name, &why);
        return Ok(());
    }
    disk::remove_leftovers()?;
    let bench = Bench::new(options, report)?;
    bench.rotating(report)?;
    bench.far(report)
}

/// What all cases share.
struct Bench<'run> {
    options: &'run Options,
    installed: Installed,
    cpus: Vec<usize>,
}

/// A disk and what is on it.
struct Filled {
    disk: Disk,
    content: Content,
}

impl<'run> Bench<'run> {
    fn new(options: &'run Options, report: &Report) -> Result<Self> {
        let installed = Installed::look_for(options, report, &NOT_HERE)?;
        Ok(Self { options, installed, cpus: allowed_cpus()? })
    }

    fn rotating(&self, report: &mut Report) -> Result<()> {
        let (one, two) = (self.wanted(&ROTATING), self.wanted(&TWO_ROTATING));
        if one.is_empty() && two.is_empty() {
            return Ok(());
        }
        let scratch = self.scratch(if two.is_empty() { 1 } else { 2 })?;
        let Some(first) = self.make(&FIRST, &scratch, report)? else {
            return Ok(());
        };
        let mut disks = vec![first];
        for case in one {
            self.measure(case, &disks, &scratch, report)?;
        }
        if !two.is_empty() {
            disks.extend(self.make(&SECOND, &scratch, report)?);
        }
        for case in two.into_iter().filter(|_| disks.len() == 2) {
            self.measure(case, &disks, &scratch, report)?;
        }
        Ok(())
    }

    fn far(&self, report: &mut Report) -> Result<()> {
        let cases = self.wanted(&FAR);
        if cases.is_empty() {
            return Ok(());
        }
        let scratch = self.scratch(1)?;
        let disks: Vec<Filled> = self.make(&FAR_AWAY, &scratch, report)?.into_iter().collect();
        for case in cases.into_iter().filter(|_| !disks.is_empty()) {
            self.measure(case, &disks, &scratch, report)?;
        }
        Ok(())
    }

    fn wanted<'case>(&self, cases: &'case [DiskCase]) -> Vec<&'case DiskCase> {
        cases.iter().filter(|case| self.options.only.case(case.name)).collect()
    }

    fn scratch(&self, disks: u64) -> Result<Scratch> {
        Scratch::new(&self.options.scratch, disks * Content::bytes(self.options.scale))
    }

    /// Makes a disk; none, with a word, where this machine does not let us, as in a container.
    fn make(&self, make: &Make, scratch: &Scratch, report: &Report) -> Result<Option<Filled>> {
        let Make { name, model, seed } = *make;
        eprintln!("making disk {name} for {}", SCENARIO.name);
        let (devices, roots) = (scratch.path().join("devices"), roots(scratch));
        let Options { scale, interrupt, .. } = self.options;
        let fill = |root: &Path| Content::make(root, seed, *scale, interrupt);
        match Disk::new(model, name, &devices, &roots, interrupt, fill) {
            Ok((disk, content)) => {
                println!("{:<9} {name}: {}", "disk", disk.describe()?);
                Ok(Some(Filled { disk, content }))
            }
            Err(error) if error.is::<Interrupted>() => Err(error),
            Err(error) => {
                report.skip(&format!("disk {name}"), &format!("cannot be made: {error:#}"));
                Ok(None)
            }
        }
    }

    fn measure(
        &self,
        case: &DiskCase,
        disks: &[Filled],
        scratch: &Scratch,
        report: &mut Report,
    ) -> Result<()> {
        let name = case.name;
        let measured =
            self.measured(case, disks, scratch).with_context(|| format!("case {name}"))?;
        report.add(&measured)
    }

    fn measured(
        &self,
        case: &DiskCase,
        disks: &[Filled],
        scratch: &Scratch,
    ) -> Result<rig::Measured> {
        let folders: Vec<PathBuf> = disks.iter().map(|disk| disk.folder(case.files)).collect();
        let files: Vec<FileOnDisk> = disks
            .iter()
            .zip(&folders)
            .flat_map(|(disk, folder)| disk.content.below(folder))
            .collect();
        let output = scratch.path().join("output");
        let bytes = files.iter().map(|file| file.bytes).sum();
        // Some programs print names as seen from the one folder, or from the one above the disks.
        let prefix = if let [folder] = &folders[..] { folder } else { &roots(scratch) };
        let prefix = [prefix.as_os_str().as_bytes(), b"/"].concat();
        let verifier = Verifier::new(output.clone(), prefix.clone(), files.len(), bytes);
        let rows = self.rows(scratch, &output);
        let (candidates, expected) = if case.list {
            rows.checks(&folders, &files)?
        } else {
            let expected = Answers::of_digests(&lines(&files, Path::new("")), &prefix)?;
            let paths: Vec<PathBuf> = files.iter().map(|file| file.path.clone()).collect();
            (rows.sums(case.hands, &folders, &paths)?, expected)
        };
        let there = self.installed.there(candidates);
        let verifier = verifier.expecting(expected);
        let mut case = programs::case(self.options, SCENARIO.name, case.name, there, &verifier);
        case.competitors =
            case.competitors.into_iter().map(|each| self.cold(each, disks)).collect();
        let rounds = self.options.rounds_or(ROUNDS);
        rig::measure(case, rounds, &self.options.interrupt, clock::hertz)
    }

    /// The same competitor, whose runs begin with cold caches and have what the disks did.
    fn cold<'case>(
        &'case self,
        competitor: Competitor<'case>,
        disks: &'case [Filled],
    ) -> Competitor<'case> {
        let Competitor { name, every_round, mut run, verify } = competitor;
        let run = Box::new(move || {
            self.drop_caches(name)?;
            disks.iter().for_each(|each| each.disk.begin());
            let sample = run();
            let work = disks.iter().map(|each| each.disk.end()).fold(Work::default(), Work::add);
            Ok(Sample { disk: Some(work), ..sample? })
        });
        Competitor { name, every_round, run, verify }
    }

    /// Then has the programs that take part read again, but none of the files.
    fn drop_caches(&self, implementation: &str) -> Result<()> {
        const DROP: &str = "/proc/sys/vm/drop_caches";
        sync();
        fs::write(DROP, "3").context(DROP)?;
        let program = program_of(implementation);
        for peer in self.installed.peers().filter(|peer| [program, "xargs"].contains(&peer.name)) {
            // Whether they run shows when they are measured.
            let _ = peer.version();
        }
        if program == "lanesum" {
            let _ = peers::version(&self.options.lanesum, "--version");
        }
        Ok(())
    }

    fn rows<'case>(&'case self, scratch: &'case Scratch, output: &'case Path) -> Rows<'case> {
        Rows {
            lanesum: &self.options.lanesum,
            has_b3sum: self.installed.has("b3sum"),
            cpus: &self.cpus,
            scratch,
            output,
        }
    }
}

impl Filled {
    fn folder(&self, files: Files) -> PathBuf {
        match files {
            Files::Big => self.content.big(),
            Files::Small => self.content.small(),
            Files::Both => self.disk.root().to_owned(),
        }
    }
}

/// The folder of all file systems.
fn roots(scratch: &Scratch) -> PathBuf {
    scratch.path().join("roots")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_and_row_has_its_name_in_the_scenario() {
        let options = Options::for_tests();
        let bench = Bench { options: &options, installed: Installed::only(&[]), cpus: vec![0] };
        let scratch = bench.scratch(0).unwrap();
        let rows = bench.rows(&scratch, Path::new("/x"));
        let folders = [PathBuf::from("/disk")];
        let mut names = Vec::new();
        for case in ROTATING.iter().chain(&TWO_ROTATING).chain(&FAR) {
            assert!(SCENARIO.cases.contains(&case.name), "{}", case.name);
            names.extend(rows.sums(case.hands, &folders, &[]).unwrap());
        }
        names.extend(rows.checks(&folders, &rows::tests::files(3)).unwrap().0);
        let names: Vec<_> = names.iter().map(|row| row.implementation).collect();
        for name in &names {
            assert!(SCENARIO.implementations.contains(name), "{name}");
        }
        for name in SCENARIO.implementations {
            assert!(names.contains(name), "no row {name}");
        }
    }
}
