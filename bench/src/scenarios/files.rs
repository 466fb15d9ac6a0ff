//! `files`: digests of many small, some middling and few large files, and the check of
//! Debian's own lists, by every program that is installed.
//!
//! Everything lies in the page cache (on a tmpfs, unless `--scratch` says otherwise). Each program
//! is bound to one CPU and told to use one thread, writes to a file, and is measured from its start
//! to its end. Programs that walk a tree are given the tree; those that do not (md5sum, b3sum,
//! xxhsum, openssl) are fed by `xargs -0` from a sorted list of the files that was written before,
//! so that neither find nor sort is in their time. `lanesum-list` is given the same list.
//!
//! `read-only` is the limit: open, read, close. `b3sum` and `xxhsum` compute other digests, and
//! `lanesum-etag` ETags of parts of 8 MiB. Cases whose name ends in `sha1`, `sha256` or `sha512`
//! compute that digest, and their baseline is coreutils' program for it.

use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::Scenario;
use super::installed::{BASELINE, Installed};
use super::programs::{self, Candidate, candidates};
use crate::debian;
use crate::launch::{Launch, allowed_cpus, pin};
use crate::options::Options;
use crate::read_only;
use crate::report::Report;
use crate::rig;
use crate::scratch::Scratch;
use crate::verifier::{Answer, Verifier};

pub const SCENARIO: Scenario = Scenario {
    name: "files",
    about: "files of 4 KiB to 1 GiB and Debian's md5sums lists, against the installed programs",
    cases: &[
        "4KiB",
        "1MiB",
        "512MiB",
        "1GiB",
        "4KiB-sha1",
        "1MiB-sha1",
        "4KiB-sha256",
        "1MiB-sha256",
        "512MiB-sha256",
        "4KiB-sha512",
        "1MiB-sha512",
        "512MiB-sha512",
        DEBIAN,
    ],
    implementations: &[
        "md5sum",
        "read-only",
        "lanesum",
        "lanesum-j2",
        "lanesum-list",
        "lanesum-md5sum",
        "lanesum-etag",
        "md5deep",
        "rhash",
        "openssl",
        "b3sum",
        "b3sum-no-mmap",
        "xxhsum",
        "rclone",
        "sha1sum",
        "sha1deep",
        "sha256sum",
        "sha256deep",
        "sha512sum",
    ],
    run,
};

const DEBIAN: &str = "debian";

/// Bytes of the parts of `lanesum-etag`, as the AWS CLI takes.
const PART: usize = 8 << 20;

/// Files of equal size, made for the case.
struct Tree {
    case: &'static str,
    algorithm: &'static Algorithm,
    files: usize,
    file_bytes: usize,
    /// Whether lanesum is measured on two CPUs and with a list of the files as well.
    many: bool,
}

/// What the programs call a hash function.
struct Algorithm {
    name: &'static str,
    sum: &'static str,
    /// The program of hashdeep, if it has one.
    deep: Option<&'static str>,
    rhash: &'static str,
}

static MD5: Algorithm =
    Algorithm { name: "md5", sum: BASELINE, deep: Some("md5deep"), rhash: "--md5" };
static SHA1: Algorithm =
    Algorithm { name: "sha1", sum: "sha1sum", deep: Some("sha1deep"), rhash: "--sha1" };
static SHA256: Algorithm =
    Algorithm { name: "sha256", sum: "sha256sum", deep: Some("sha256deep"), rhash: "--sha256" };
static SHA512: Algorithm =
    Algorithm { name: "sha512", sum: "sha512sum", deep: None, rhash: "--sha512" };

const TREES: [Tree; 12] = [
    small("4KiB", &MD5),
    middling("1MiB", &MD5),
    large("512MiB", &MD5),
    Tree { case: "1GiB", algorithm: &MD5, files: 1, file_bytes: 1 << 30, many: false },
    small("4KiB-sha1", &SHA1),
    middling("1MiB-sha1", &SHA1),
    small("4KiB-sha256", &SHA256),
    middling("1MiB-sha256", &SHA256),
    large("512MiB-sha256", &SHA256),
    small("4KiB-sha512", &SHA512),
    middling("1MiB-sha512", &SHA512),
    large("512MiB-sha512", &SHA512),
];

const fn small(case: &'static str, algorithm: &'static Algorithm) -> Tree {
    Tree { case, algorithm, files: 100_000, file_bytes: 4 << 10, many: true }
}

const fn middling(case: &'static str, algorithm: &'static Algorithm) -> Tree {
    Tree { case, algorithm, files: 2_000, file_bytes: 1 << 20, many: true }
}

const fn large(case: &'static str, algorithm: &'static Algorithm) -> Tree {
    Tree { case, algorithm, files: 4, file_bytes: 512 << 20, many: false }
}

fn run(options: &Options, report: &mut Report) -> Result<()> {
    let bench = Bench::new(options, report)?;
    for tree in TREES.iter().filter(|tree| options.only.case(tree.case)) {
        let measured = bench.tree(tree).with_context(|| format!("case {}", tree.case))?;
        report.add(&measured)?;
    }
    if options.only.case(DEBIAN) {
        let lists = debian::lists();
        if lists.is_empty() {
            report.skip(DEBIAN, &format!("no md5sums lists in {}", debian::FOLDER));
        } else {
            report.add(&bench.debian(&lists).context("case debian")?)?;
        }
    }
    Ok(())
}

/// What all cases share.
struct Bench<'run> {
    options: &'run Options,
    installed: Installed,
    /// The first one measures; the bench itself is bound to it, so that the clock is that CPU's.
    cpus: Vec<usize>,
}

impl<'run> Bench<'run> {
    fn new(options: &'run Options, report: &Report) -> Result<Self> {
        let installed = Installed::look_for(options, report, &[])?;
        let cpus = allowed_cpus()?;
        pin(&cpus[..1])?;
        println!("{:<9} to CPU {}", "pinned", cpus[0]);
        match cpus.get(..2) {
            Some(two) => println!("{:<9} to the CPUs {two:?}: lanesum-j2", "pinned"),
            None => report.skip("lanesum-j2", "one CPU only"),
        }
        Ok(Self { options, installed, cpus })
    }

    fn tree(&self, tree: &Tree) -> Result<rig::Measured> {
        let count = (tree.files / self.options.scale).max(1);
        let bytes = count as u64 * tree.file_bytes as u64;
        eprintln!("making {count} files for {} {}", SCENARIO.name, tree.case);
        let scratch = Scratch::new(&self.options.scratch, bytes)?;
        let paths = scratch.make_files(count, tree.file_bytes, &self.options.interrupt)?;
        let list = scratch.write_list(&paths)?;
        let output = scratch.path().join("output");
        let candidates = self.tree_candidates(tree, &scratch.tree(), &list, &output)?;
        let prefix = [scratch.tree().as_os_str().as_bytes(), b"/"].concat();
        let verifier = Verifier::new(output, prefix, paths.len(), bytes);
        self.measure(tree.case, candidates, &verifier)
    }

    fn debian(&self, lists: &[PathBuf]) -> Result<rig::Measured> {
        let names = debian::names_in(lists)?;
        // Some of a package's files may be gone, and some only root may read.
        let readable = |path: &PathBuf| path.is_file() && File::open(path).is_ok();
        let present: Vec<PathBuf> =
            names.iter().map(|name| Path::new("/").join(name)).filter(readable).collect();
        let scratch = Scratch::new(&self.options.scratch, 0)?;
        let output = scratch.path().join("output");
        let list = scratch.write_list(&present)?;
        eprintln!("reading the installed packages' files into the page cache");
        let bytes = read_only::read_list(&list)?;
        self.options.interrupt.check()?;
        let candidates = self.debian_candidates(lists, &list, &output)?;
        let verifier = Verifier::new(output, Vec::new(), names.len(), bytes);
        self.measure(DEBIAN, candidates, &verifier)
    }

    fn tree_candidates(
        &self,
        tree: &Tree,
        folder: &Path,
        list: &Path,
        output: &Path,
    ) -> Result<Vec<Candidate>> {
        let one = &self.cpus[..1];
        let on_one = |program: &str| Launch::new(program, one, output);
        let walking = |program: &'static str, words: &[&str]| {
            (Some(program), on_one(program).args(words).args([folder]))
        };
        let fed = |program: &'static str, words: &[&str]| {
            let xargs = on_one("xargs").args(["-0", "-a"]).args([list]);
            (Some(program), xargs.args([program]).args(words))
        };
        let lanesum = |cpus: &[usize], words: &[&str]| {
            (None, Launch::new(&self.options.lanesum, cpus, output).args(words).args([folder]))
        };
        let Algorithm { name, sum, deep, rhash } = *tree.algorithm;
        let mut rows = vec![
            (sum, fed(sum, &[]), Answer::Digests),
            ("read-only", (None, self.read_only(list, output)?), Answer::Bytes),
            ("lanesum", lanesum(one, &["-a", name, "-j", "1"]), Answer::Digests),
        ];
        if tree.many {
            if let Some(two) = self.cpus.get(..2) {
                let lanesum = lanesum(two, &["-a", name, "-j", "2"]);
                rows.push(("lanesum-j2", lanesum, Answer::Digests));
            }
            let listed =
                Launch::new(&self.options.lanesum, one, output).args(["-a", name, "-j", "1"]);
            let listed = listed.args(["--files0-from"]).args([list]);
            rows.push(("lanesum-list", (None, listed), Answer::Digests));
        }
        if name == MD5.name {
            let lanesum_fed = on_one("xargs").args(["-0", "-a"]);
            let lanesum_fed = lanesum_fed.args([list, &self.options.lanesum]).args([BASELINE]);
            // Of what fits one part it is the MD5.
            let etags =
                if tree.file_bytes <= PART { Answer::Digests } else { Answer::OtherDigests };
            rows.extend([
                ("lanesum-md5sum", (None, lanesum_fed), Answer::Digests),
                ("lanesum-etag", lanesum(one, &["etag", "-j", "1", "-p", "8MiB"]), etags),
            ]);
        }
        if let Some(deep) = deep {
            rows.push((deep, walking(deep, &["-r", "-j0"]), Answer::Digests));
        }
        let openssl = ["dgst", &format!("-{name}"), "-r"];
        rows.extend([
            ("rhash", walking("rhash", &[rhash, "-r"]), Answer::Digests),
            ("openssl", fed("openssl", &openssl), Answer::Digests),
        ]);
        if name == MD5.name {
            let one_thread = ["--num-threads", "1", "--no-mmap"];
            let rclone = on_one("rclone")
                .env("GOMAXPROCS", "1")
                .args(["md5sum", "--checkers", "1", "--config", "/dev/null"])
                .args([folder]);
            rows.extend([
                ("b3sum", fed("b3sum", &one_thread[..2]), Answer::OtherDigests),
                ("b3sum-no-mmap", fed("b3sum", &one_thread), Answer::OtherDigests),
                ("xxhsum", fed("xxhsum", &["-H2"]), Answer::OtherDigests),
                ("rclone", (Some("rclone"), rclone), Answer::Digests),
            ]);
        }
        Ok(candidates(rows))
    }

    fn debian_candidates(
        &self,
        lists: &[PathBuf],
        present: &Path,
        output: &Path,
    ) -> Result<Vec<Candidate>> {
        // 1 is said by all of them when a file does not match, as some never do on a real machine.
        let check = |program: &Path, words: &[&str]| {
            let launch = Launch::new(program, &self.cpus[..1], output);
            launch.args(words).args(lists).accepting(&[0, 1])
        };
        let lanesum = |words: &[&str]| (None, check(&self.options.lanesum, words));
        let peer = |program: &'static str, words: &[&str]| {
            (Some(program), check(Path::new(program), words))
        };
        Ok(candidates(vec![
            ("md5sum", peer(BASELINE, &["-c", "--quiet"]), Answer::Failures),
            ("read-only", (None, self.read_only(present, output)?), Answer::Bytes),
            ("lanesum", lanesum(&["check", "-j", "1", "--quiet", "--root", "/"]), Answer::Failures),
            ("lanesum-md5sum", lanesum(&["md5sum", "-c", "--quiet"]), Answer::Failures),
            // Without --md5 it would try every digest that is as long as an MD5.
            ("rhash", peer("rhash", &["-c", "--md5", "--skip-ok"]), Answer::RhashFailures),
        ]))
    }

    fn read_only(&self, list: &Path, output: &Path) -> Result<Launch> {
        let own = std::env::current_exe().context("the path of this executable")?;
        let launch = Launch::new(own, &self.cpus[..1], output);
        Ok(launch.args([read_only::WORD]).args([list]))
    }

    fn measure(
        &self,
        case: &str,
        candidates: Vec<Candidate>,
        verifier: &Verifier,
    ) -> Result<rig::Measured> {
        let there = self.installed.there(candidates);
        let rounds = self.options.rounds;
        programs::measure(self.options, SCENARIO.name, case, rounds, there, verifier)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_and_row_has_its_name_in_the_scenario() {
        for tree in &TREES {
            assert!(SCENARIO.cases.contains(&tree.case), "{}", tree.case);
        }
        let options = Options::for_tests();
        let bench = Bench { options: &options, installed: Installed::only(&[]), cpus: vec![0, 1] };
        let path = Path::new("/x");
        let mut rows = bench.tree_candidates(&TREES[0], path, path, path).unwrap();
        assert_eq!(
            rows.iter().map(|row| row.implementation).collect::<Vec<_>>(),
            SCENARIO.implementations[..rows.len()]
        );
        for tree in &TREES[1..] {
            rows.extend(bench.tree_candidates(tree, path, path, path).unwrap());
        }
        rows.extend(bench.debian_candidates(&[], path, path).unwrap());
        for row in rows {
            assert!(SCENARIO.implementations.contains(&row.implementation));
        }
    }

    #[test]
    fn a_row_whose_program_is_not_installed_does_not_take_part() {
        let options = Options::for_tests();
        let installed = Installed::only(&["md5sum"]);
        let bench = Bench { options: &options, installed, cpus: vec![0] };
        let path = Path::new("/x");
        let rows = bench.tree_candidates(&TREES[0], path, path, path).unwrap();
        let there: Vec<_> =
            bench.installed.there(rows).iter().map(|row| row.implementation).collect();
        let expected =
            ["md5sum", "read-only", "lanesum", "lanesum-list", "lanesum-md5sum", "lanesum-etag"];
        assert_eq!(there, expected);
    }
}
