//! `documents`: the tables of the three documents about MD5 that lanesum began with, rerun on this
//! machine beside lanesum.
//!
//! | document | its table | here |
//! |---|---|---|
//! | TomMD, MD5 in Haskell (2007) | a file of 200 MB and one of 2 GB; memory | `200MB`, `2GB` |
//! | Steve Hawley, MD5 in F# | 100 times 10 MB in memory: C#, F#, .NET's library | `100x10MB` |
//! | Perl's Digest::MD5 (2019) | 13 MB 500 times, read in four ways | `13MBx50`, `4KiB`, `1GiB` |
//!
//! The other two documents have scenarios of their own: `siphash` and `events`.
//!
//! Who stands for whom: `pureMD5` is the package that TomMD's program became; `openssl` and
//! `cryptohash-md5` have the place of nanoMD5, a binding to C. Java's MessageDigest (`java`) has
//! the place of .NET's library, Bouncy Castle for Java that of Bouncy Castle for C#, OpenSSL that
//! of C. The shapes of the F# program, table-driven and written out, are rows of the scenario
//! `one`. Rows whose runtime is not installed are skipped; `make bench-peers` installs all of them.
//!
//! As in the scenario `files`: everything lies in the page cache on a tmpfs, each program is bound
//! to one CPU and measured from its start to its end, so a JVM's start is in the rows `java` and
//! `bouncycastle`. Rows that end in `-memory` are not: the files are loaded first, and only the
//! digests are timed. The names of the files come from `xargs -0` or, for lanesum, as a list.
//!
//! The rows of the Perl document's cases, which are about how a file is read:
//!
//! - `lanesum` has all files of the case in its lanes at once, read as it chooses; `lanesum-read`,
//!   `-mmap`, `-direct` and `-uring` are the same with `--io`. `read-only` is the limit: open,
//!   read, close.
//! - `library-blksize`, `-buffer`, `-readahead`, `-direct` are the same loops around the crate
//!   lanesum-md5, one file after the other: reads of `st_blksize`, reads of 128 KiB, those after
//!   `posix_fadvise`, `O_DIRECT`.
//! - `perl-addfile`, `-blksize`, `-map`, `-system` are the document's four.
//! - `md5sum-call` and `lanesum-call` start the program anew for each file.
//!
//! On a tmpfs there is no medium, so `direct` reads from the page cache as well; `--scratch` names
//! a disk.

mod haskell;
mod java;
pub mod library;
mod perl;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;

use super::Scenario;
use super::programs::{self, Candidate};
use crate::launch::{Launch, allowed_cpus, pin};
use crate::options::Options;
use crate::peers;
use crate::read_only;
use crate::report::Report;
use crate::rig;
use crate::scratch::Scratch;
use crate::verifier::{Answer, Verifier};

pub const SCENARIO: Scenario = Scenario {
    name: "documents",
    about: "the tables of the Haskell, F# and Perl documents, with the libraries of those languages",
    cases: &["200MB", "2GB", "100x10MB", "13MBx50", "4KiB", "1GiB"],
    implementations: &[
        BASELINE,
        "read-only",
        "lanesum",
        "lanesum-md5sum",
        "openssl",
        "pureMD5",
        "cryptohash-md5",
        "java",
        "bouncycastle",
        "lanesum-memory",
        "openssl-memory",
        "java-memory",
        "bouncycastle-memory",
        "lanesum-read",
        "lanesum-mmap",
        "lanesum-direct",
        "lanesum-uring",
        "library-blksize",
        "library-buffer",
        "library-readahead",
        "library-direct",
        "perl-addfile",
        "perl-blksize",
        "perl-map",
        "perl-system",
        "md5sum-call",
        "lanesum-call",
    ],
    run,
};

const BASELINE: &str = "md5sum";

/// One table of a document.
struct Table {
    case: &'static str,
    document: Document,
    files: usize,
    file_bytes: usize,
    /// How often each file is hashed in one run.
    passes: usize,
    /// Unless others are asked for; fewer where a round takes long.
    rounds: usize,
    /// What the document found, to be read beside the figures.
    then: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Document {
    Haskell,
    FSharp,
    Perl,
}

use Document::{FSharp, Haskell, Perl};

const TABLES: [Table; 6] = [
    Table {
        case: "200MB",
        document: Haskell,
        files: 1,
        file_bytes: 200_000_000,
        passes: 1,
        rounds: 3,
        then: "md5sum 0.78 s; nanoMD5 1.15, unrolled Haskell 2.9 (first 6), rolled 21 to 58 times as long",
    },
    Table {
        case: "2GB",
        document: Haskell,
        files: 1,
        file_bytes: 2_000_000_000,
        passes: 1,
        rounds: 2,
        then: "md5sum 81.3 s, Haskell 82.7 s: both waited for the disk",
    },
    Table {
        case: "100x10MB",
        document: FSharp,
        files: 100,
        file_bytes: 10_000_000,
        passes: 1,
        rounds: 2,
        then: ".NET's library 2.1 s; F# 5.1 s (first 20 % more than C#), Bouncy Castle in C# 5.7 s",
    },
    Table {
        case: "13MBx50",
        document: Perl,
        files: 1,
        file_bytes: 13_000_000,
        // The document had 500, for which the rows would need ten seconds each.
        passes: 50,
        rounds: 2,
        then: "500 passes: mmap 10 s, addfile 12 s, reads of st_blksize 12 s, a call of md5sum each 16 s",
    },
    Table {
        case: "4KiB",
        document: Perl,
        files: 2_000,
        file_bytes: 4 << 10,
        passes: 1,
        rounds: 5,
        then: "13 MB was all it measured",
    },
    Table {
        case: "1GiB",
        document: Perl,
        files: 1,
        file_bytes: 1 << 30,
        passes: 1,
        rounds: 2,
        then: "Digest::MD5 was said to be wrong on mapped scalars above 1 GB",
    },
];

/// A program of a document: it prints the digests of the files that are named after its own
/// arguments.
struct Program {
    implementation: &'static str,
    /// What has to be installed for it.
    needs: &'static str,
    /// Program and first arguments, or a word why there is none.
    command: Result<Vec<OsString>, String>,
    times_itself: bool,
}

fn run(options: &Options, report: &mut Report) -> Result<()> {
    let bench = Bench::new(options, report)?;
    let tables = TABLES.iter().filter(|table| options.only.case(table.case));
    for table in tables.clone() {
        println!("{:<9} {}: {}", "then", table.case, table.then);
    }
    for table in tables {
        let measured =
            bench.table(table, report).with_context(|| format!("case {}", table.case))?;
        report.add(&measured)?;
    }
    println!(
        "\nSipHash and the event system of the other documents: scenarios `siphash` and `events`"
    );
    Ok(())
}

/// What all tables share.
struct Bench<'run> {
    options: &'run Options,
    /// The one that all programs are bound to, and the bench itself, so that the clock is that
    /// CPU's.
    cpu: [usize; 1],
    programs: Vec<(Document, Program)>,
    /// Where they were compiled.
    _folder: TempDir,
}

impl<'run> Bench<'run> {
    fn new(options: &'run Options, report: &Report) -> Result<Self> {
        for needed in [BASELINE, "xargs"] {
            let version = peers::version(needed, "--version");
            ensure!(
                version.is_ok(),
                "{needed} is not installed, and nothing is measured without it"
            );
            println!("{needed:<9} {}", version.unwrap_or_default());
        }
        let folder = tempfile::Builder::new().prefix("lanesum-bench-programs.").tempdir()?;
        let wanted = |document| {
            TABLES.iter().any(|table| table.document == document && options.only.case(table.case))
        };
        let mut programs = Vec::new();
        for (document, prepare) in PREPARE {
            if wanted(document) {
                programs.extend(prepare(folder.path()).into_iter().map(|each| (document, each)));
            }
        }
        for (_, program) in &programs {
            if let (Err(why), true) =
                (&program.command, options.only.implementation(program.implementation))
            {
                report.skip(program.implementation, why);
            }
        }
        let cpu = [allowed_cpus()?[0]];
        pin(&cpu)?;
        println!("{:<9} to CPU {}", "pinned", cpu[0]);
        Ok(Self { options, cpu, programs, _folder: folder })
    }

    fn table(&self, table: &Table, report: &Report) -> Result<rig::Measured> {
        let file_bytes = (table.file_bytes / self.options.scale).max(1);
        let total = (table.files * file_bytes) as u64;
        eprintln!("making {} files for {} {}", table.files, SCENARIO.name, table.case);
        let scratch = Scratch::new(&self.options.scratch, total)?;
        let paths = scratch.make_files(table.files, file_bytes, &self.options.interrupt)?;
        let named: Vec<PathBuf> = (0..table.passes).flat_map(|_| paths.iter().cloned()).collect();
        let list = scratch.write_list(&named)?;
        let rows = Rows { bench: self, list: &list, output: &scratch.path().join("output") };
        let candidates = rows.candidates(table.document, &paths[0], report)?;
        let prefix = [scratch.tree().as_os_str().as_bytes(), b"/"].concat();
        let bytes = total * table.passes as u64;
        let verifier = Verifier::new(rows.output.to_owned(), prefix, named.len(), bytes);
        let rounds = self.options.rounds_or(table.rounds);
        programs::measure(self.options, SCENARIO.name, table.case, rounds, candidates, &verifier)
    }
}

/// What gets the programs of a document ready, in a folder of its own.
type Prepare = fn(&Path) -> Vec<Program>;

const PREPARE: [(Document, Prepare); 3] =
    [(Haskell, haskell::programs), (FSharp, java::programs), (Perl, perl::programs)];

/// Makes the rows of one table.
struct Rows<'table> {
    bench: &'table Bench<'table>,
    /// The names of the files, each ended by NUL, as often as they are to be hashed.
    list: &'table Path,
    output: &'table Path,
}

impl Rows<'_> {
    /// The baseline first. `sample` is one of the files.
    fn candidates(
        &self,
        document: Document,
        sample: &Path,
        report: &Report,
    ) -> Result<Vec<Candidate>> {
        let mut rows = vec![peer(BASELINE, BASELINE, self.fed([BASELINE]))];
        rows.extend(self.whole_program());
        match document {
            Haskell => rows.push(peer("openssl", "openssl", self.fed(["openssl", "md5", "-r"]))),
            FSharp => {
                rows.push(peer("openssl", "openssl", self.fed(["openssl", "md5", "-r"])));
                rows.push(ours("lanesum-memory", self.library("memory")?.timing_itself()));
                let openssl = self.library("openssl-memory")?.timing_itself();
                rows.push(peer("openssl-memory", "openssl", openssl));
            }
            Perl => {
                rows.push(self.read_only()?);
                rows.extend(self.ways_of_program(sample, report));
                rows.extend(self.ways_of_library(sample, report)?);
                rows.extend(self.calls());
            }
        }
        let programs = self.bench.programs.iter().filter(|(own, _)| *own == document);
        rows.extend(programs.filter_map(|(_, program)| self.program(program)));
        Ok(rows)
    }

    fn whole_program(&self) -> [Candidate; 2] {
        let lanesum = self.lanesum();
        [
            ours("lanesum", self.listed(&[])),
            ours("lanesum-md5sum", self.fed([lanesum, BASELINE.as_ref()])),
        ]
    }

    fn read_only(&self) -> Result<Candidate> {
        let launch = self.launch(own_path()?).args([read_only::WORD]).args([self.list]);
        Ok(Candidate { answer: Answer::Bytes, ..ours("read-only", launch) })
    }

    /// The ways to read that `--io` names, as far as they go here: io_uring may be forbidden.
    fn ways_of_program(&self, sample: &Path, report: &Report) -> Vec<Candidate> {
        let ways = [
            ("lanesum-read", "read"),
            ("lanesum-mmap", "mmap"),
            ("lanesum-direct", "direct"),
            ("lanesum-uring", "uring"),
        ];
        let candidate = |(name, way)| match tried(self.lanesum(), &["--io", way], sample) {
            Ok(()) => Some(ours(name, self.listed(&["--io", way]))),
            Err(why) => {
                report.skip(name, &why);
                None
            }
        };
        ways.into_iter().filter_map(candidate).collect()
    }

    fn ways_of_library(&self, sample: &Path, report: &Report) -> Result<Vec<Candidate>> {
        let mut rows = Vec::new();
        for (name, way) in [
            ("library-blksize", "blksize"),
            ("library-buffer", "buffer"),
            ("library-readahead", "readahead"),
            ("library-direct", "direct"),
        ] {
            match library::open_direct(sample) {
                Err(error) if way == "direct" => {
                    report.skip(name, &format!("no O_DIRECT on this file system: {error}"));
                }
                _ => rows.push(ours(name, self.library(way)?)),
            }
        }
        Ok(rows)
    }

    /// A process for each file.
    fn calls(&self) -> [Candidate; 2] {
        let each = |words: &[&OsStr]| {
            self.launch("xargs").args(["-0", "-n", "1", "-a"]).args([self.list]).args(words)
        };
        let lanesum = [self.lanesum(), "-j".as_ref(), "1".as_ref()];
        [
            peer("md5sum-call", BASELINE, each(&[BASELINE.as_ref()])),
            // Not in every round: it takes long, and is not what the case is about.
            peer("lanesum-call", "lanesum", each(&lanesum)),
        ]
    }

    fn program(&self, program: &Program) -> Option<Candidate> {
        let launch = self.fed(program.command.as_ref().ok()?);
        let launch = if program.times_itself { launch.timing_itself() } else { launch };
        Some(peer(program.implementation, program.needs, launch))
    }

    fn library(&self, way: &str) -> Result<Launch> {
        let own = own_path()?;
        Ok(self.fed([own.as_os_str(), library::WORD.as_ref(), way.as_ref()]))
    }

    /// lanesum on one thread, with the list for itself.
    fn listed(&self, words: &[&str]) -> Launch {
        let launch = self.launch(self.lanesum()).args(["-j", "1"]).args(words);
        launch.args(["--files0-from"]).args([self.list])
    }

    /// A program that gets the names of the list as arguments.
    fn fed<S: AsRef<OsStr>>(&self, command: impl IntoIterator<Item = S>) -> Launch {
        self.launch("xargs").args(["-0", "-a"]).args([self.list]).args(command)
    }

    fn launch(&self, program: impl AsRef<OsStr>) -> Launch {
        Launch::new(program, &self.bench.cpu, self.output)
    }

    fn lanesum(&self) -> &OsStr {
        self.bench.options.lanesum.as_os_str()
    }
}

fn ours(implementation: &'static str, launch: Launch) -> Candidate {
    Candidate { implementation, needs: None, launch, answer: Answer::Digests }
}

fn peer(implementation: &'static str, program: &'static str, launch: Launch) -> Candidate {
    Candidate { needs: Some(program), ..ours(implementation, launch) }
}

fn own_path() -> Result<PathBuf> {
    std::env::current_exe().context("the path of this executable")
}

/// Whether a program does with these arguments what it should, or the word why not.
fn tried(program: &OsStr, arguments: &[&str], file: &Path) -> Result<(), String> {
    let output = Command::new(program).args(arguments).arg(file).stdin(Stdio::null()).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(peers::first_words(&output.stderr)),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(document: Document) -> Vec<&'static str> {
        let options = Options::for_tests();
        let folder = tempfile::tempdir().unwrap();
        let sample = folder.path().join("sample");
        std::fs::write(&sample, "").unwrap();
        let programs = Vec::new();
        let bench = Bench { options: &options, cpu: [0], programs, _folder: folder };
        let rows = Rows { bench: &bench, list: &sample, output: &sample };
        let candidates = rows.candidates(document, &sample, &Report::new(None).unwrap()).unwrap();
        candidates.iter().map(|each| each.implementation).collect()
    }

    #[test]
    fn every_case_and_row_has_its_name_in_the_scenario() {
        assert_eq!(TABLES.map(|table| table.case), SCENARIO.cases);
        let folder = tempfile::tempdir().unwrap();
        for (document, prepare) in PREPARE {
            let own = folder.path().join(format!("{document:?}"));
            std::fs::create_dir(&own).unwrap();
            let programs = prepare(&own).into_iter().map(|program| program.implementation);
            for name in names(document).into_iter().chain(programs) {
                assert!(SCENARIO.implementations.contains(&name), "{name}");
            }
        }
    }

    #[test]
    fn every_table_begins_with_the_baseline_and_lanesum() {
        for (document, _) in PREPARE {
            assert_eq!(names(document)[..3], [BASELINE, "lanesum", "lanesum-md5sum"]);
        }
    }

    #[test]
    fn a_program_that_is_not_there_or_refuses_says_why() {
        let file = Path::new("/dev/null");
        assert_eq!(tried("cat".as_ref(), &[], file), Ok(()));
        let refused = tried("cat".as_ref(), &["--io", "read"], file).unwrap_err();
        assert!(refused.contains("--io"), "{refused}");
        assert!(tried("/nowhere/cat".as_ref(), &[], file).is_err());
    }
}
