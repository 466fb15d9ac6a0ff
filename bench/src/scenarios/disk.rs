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
//! * `big-list`, `small-list`: the check of a list in another order than the disk's. One line of it
//!   is wrong and must be told.
//! * `two-disks`: the big files of two rotating disks. The baseline reads one disk after the other,
//!   so 2 is what both heads can do.
//! * `far-big`, `far-small`: the same folders of a far disk.
//!
//! The baseline is md5sum on names in byte order, fed by `xargs -0` from a list, or the check of a
//! list in that order. `busy s` is what the disks themselves needed, which does not depend on how
//! loaded the machine is; of a far one it is the sum over its hands.

use std::fs;
use std::ops::Add as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use nix::unistd::sync;

use super::Scenario;
use super::programs::{self, Candidate, candidates};
use crate::answers::Answers;
use crate::clock;
use crate::disk::{self, Content, Disk, FileOnDisk, Model, Work};
use crate::launch::{Launch, allowed_cpus};
use crate::options::{Interrupted, Options};
use crate::peers::{self, Found, Peer};
use crate::report::Report;
use crate::rig::{self, Competitor, Sample};
use crate::scratch::Scratch;
use crate::verifier::{Answer, Verifier};

pub const SCENARIO: Scenario = Scenario {
    name: "disk",
    about: "files on simulated disks, rotating and far, against the installed programs",
    cases: &["big", "big-list", "small", "small-list", "mixed", TWO_DISKS, "far-big", "far-small"],
    implementations: &["md5sum", "md5sum-shuffled", "lanesum"],
    run,
};

const TWO_DISKS: &str = "two-disks";

struct DiskCase {
    name: &'static str,
    files: Files,
    /// Whether a list is checked.
    list: bool,
}

#[derive(Clone, Copy)]
enum Files {
    Big,
    Small,
    Both,
}

const fn case(name: &'static str, files: Files, list: bool) -> DiskCase {
    DiskCase { name, files, list }
}

const ROTATING: [DiskCase; 5] = [
    case("big", Files::Big, false),
    case("big-list", Files::Big, true),
    case("small", Files::Small, false),
    case("small-list", Files::Small, true),
    case("mixed", Files::Both, false),
];
const TWO_ROTATING: [DiskCase; 1] = [case(TWO_DISKS, Files::Big, false)];
const FAR: [DiskCase; 2] =
    [case("far-big", Files::Big, false), case("far-small", Files::Small, false)];

const BASELINE: &str = "md5sum";

/// Name and model of a disk, and what its files are made from: they differ from disk to disk.
struct Make {
    name: &'static str,
    model: Model,
    seed: u64,
}

const FIRST: Make = Make { name: "a", model: disk::ROTATING, seed: 1 };
const SECOND: Make = Make { name: "b", model: disk::ROTATING, seed: 2 };
const FAR_AWAY: Make = Make { name: "far", model: disk::FAR, seed: 3 };

const PEERS: [Peer; 2] = [
    Peer { name: BASELINE, version_argument: "--version" },
    Peer { name: "xargs", version_argument: "--version" },
];

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
    /// The peers that are there.
    installed: Vec<Peer>,
    cpus: Vec<usize>,
}

/// A disk and what is on it.
struct Filled {
    disk: Disk,
    content: Content,
}

impl<'run> Bench<'run> {
    fn new(options: &'run Options, report: &Report) -> Result<Self> {
        let mut installed = Vec::new();
        for peer in PEERS {
            match Found::look_for(&peer).version {
                Ok(version) => {
                    println!("{:<9} {version}", peer.name);
                    installed.push(peer);
                }
                Err(why) => report.skip(peer.name, &why),
            }
        }
        for needed in [BASELINE, "xargs"] {
            ensure!(
                installed.iter().any(|peer| peer.name == needed),
                "{needed} is not installed, and nothing is measured without it"
            );
        }
        let version = peers::version(&options.lanesum, "--version");
        let version = version.unwrap_or_else(|why| why);
        println!("{:<9} {version}, {}", "lanesum", options.lanesum.display());
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
        let fill = |root: &Path| {
            let Options { scale, interrupt, .. } = self.options;
            Content::make(root, seed, *scale, interrupt)
        };
        match Disk::new(model, name, &devices, &roots, fill) {
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
        let (candidates, expected) = if case.list {
            self.checks(&files, scratch, &output)?
        } else {
            let expected = Answers::of_digests(&lines(&files), &prefix)?;
            (self.sums(&folders, &files, scratch, &output)?, expected)
        };
        let there = candidates.into_iter().filter(|each| self.is_there(each)).collect();
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
        for peer in self.installed.iter().filter(|peer| [program, "xargs"].contains(&peer.name)) {
            // Whether they run shows when they are measured.
            let _ = peers::version(peer.name, peer.version_argument);
        }
        if program == "lanesum" {
            let _ = peers::version(&self.options.lanesum, "--version");
        }
        Ok(())
    }

    /// The programs that compute the digests of these folders.
    fn sums(
        &self,
        folders: &[PathBuf],
        files: &[FileOnDisk],
        scratch: &Scratch,
        output: &Path,
    ) -> Result<Vec<Candidate>> {
        let paths: Vec<PathBuf> = files.iter().map(|file| file.path.clone()).collect();
        let list = scratch.write_list(&paths)?;
        let on_all = |program: &str| Launch::new(program, &self.cpus, output);
        let fed = |program: &'static str, words: &[&str]| {
            let xargs = on_all("xargs").args(["-0", "-a"]).args([&list]);
            (Some(program), xargs.args([program]).args(words))
        };
        let lanesum = |words: &[&str]| {
            let launch = Launch::new(&self.options.lanesum, &self.cpus, output);
            (None, launch.args(words).args(folders))
        };
        Ok(candidates(vec![
            ("md5sum", fed(BASELINE, &[]), Answer::Md5),
            ("lanesum", lanesum(&[]), Answer::Md5),
        ]))
    }

    /// The programs that check a list of these files, and what they must find.
    fn checks(
        &self,
        files: &[FileOnDisk],
        scratch: &Scratch,
        output: &Path,
    ) -> Result<(Vec<Candidate>, Answers)> {
        let sorted = scratch.path().join("sorted.md5");
        let shuffled = scratch.path().join("shuffled.md5");
        let (listed, wrong) = with_one_wrong(files);
        write(&sorted, &lines(&listed))?;
        write(&shuffled, &lines(&disk::shuffled(listed)))?;
        let check = |program: &Path, words: &[&str], list: &Path| {
            let launch = Launch::new(program, &self.cpus, output);
            launch.args(words).args([list]).accepting(&[1])
        };
        let md5sum = |list| (Some(BASELINE), check(Path::new(BASELINE), &["-c", "--quiet"], list));
        let lanesum = |words: &[&str]| {
            let words = [&["check", "--quiet"], words].concat();
            (None, check(&self.options.lanesum, &words, &shuffled))
        };
        let rows = candidates(vec![
            ("md5sum", md5sum(&sorted), Answer::Failures),
            ("md5sum-shuffled", md5sum(&shuffled), Answer::Failures),
            ("lanesum", lanesum(&[]), Answer::Failures),
        ]);
        Ok((rows, Answers::of_failures(&failure(&wrong))))
    }

    fn is_there(&self, candidate: &Candidate) -> bool {
        let is_there = |program| self.installed.iter().any(|peer| peer.name == program);
        candidate.needs.is_none_or(is_there)
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

/// The program of a row: what stands before its setting.
fn program_of(implementation: &str) -> &str {
    implementation.split('-').next().unwrap_or_default()
}

/// The same files, but one in the middle is said to have another digest; and that one's path.
fn with_one_wrong(files: &[FileOnDisk]) -> (Vec<FileOnDisk>, PathBuf) {
    let mut files = files.to_vec();
    let middle = files.len() / 2;
    let FileOnDisk { path, digest, .. } = &mut files[middle];
    *digest = "0".repeat(digest.len());
    let path = path.clone();
    (files, path)
}

/// As `md5sum --check` tells it.
fn failure(path: &Path) -> Vec<u8> {
    [path.as_os_str().as_bytes(), b": FAILED\n"].concat()
}

fn write(path: &Path, text: &[u8]) -> Result<()> {
    fs::write(path, text).with_context(|| path.display().to_string())
}

/// As md5sum writes them.
fn lines(files: &[FileOnDisk]) -> Vec<u8> {
    let mut text = Vec::new();
    for file in files {
        text.extend_from_slice(file.digest.as_bytes());
        text.extend_from_slice(b"  ");
        text.extend_from_slice(file.path.as_os_str().as_bytes());
        text.push(b'\n');
    }
    text
}
