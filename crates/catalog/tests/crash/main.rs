//! A machine that goes down at any moment: what was told is in the catalog afterwards.
//!
//! A process writes a catalog under a preloaded library (`record.c`), which keeps every write and
//! every sync in their order, and what the process told in between. The log is cut anywhere: what
//! was synced by then is on the medium, what was not is there, or not, or in pieces of 512 bytes.
//! Then the catalog is opened, is whole, and has all that was told before the cut.
//!
//! That the harness bites is shown by the same log with its syncs left out, as if the catalog had
//! been written without them.

use std::collections::{BTreeMap, HashSet};
use std::env;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use lanesum_catalog::{Catalog, Event, Finding, Options, Policy, Verb};

/// Cuts of the log.
const CUTS: u64 = 1000;

/// A write takes its place in pieces of so many bytes.
const SECTOR: usize = 512;

/// Set for the process that writes: the folder that it works in.
const WRITER: &str = "LANESUM_TEST_CRASH_WRITER";

/// What is told of a finding, and found again in its event.
fn words(finding: &Finding) -> String {
    let path = finding.path.escape_ascii();
    format!("{} {path} {}", finding.class, finding.after.as_deref().unwrap_or_default())
}

/// The process that writes; nothing where the tests run.
#[test]
fn writer() {
    let Some(folder) = env::var_os(WRITER).map(PathBuf::from) else { return };
    let (tree, told) = (folder.join("tree"), folder.join("told"));
    fs::create_dir_all(&tree).unwrap();
    let mut acknowledged = File::create(told.join("acknowledged")).unwrap();
    let path = told.join("catalog.db");
    for round in 0..40 {
        for file in 0..20 {
            if file % 7 == round % 7 || round == 0 {
                fs::write(tree.join(format!("{file}")), format!("{round} {file}").repeat(50))
                    .unwrap();
            }
        }
        // A process for itself each time, as far as the catalog can tell.
        let mut catalog = Catalog::open(&path, "test").unwrap();
        let root = catalog.add_root(&tree, Policy::default()).unwrap();
        let verb = if round == 0 { Verb::Add } else { Verb::Update };
        let mut tell =
            |finding: &Finding| acknowledged.write_all(format!("{}\n", words(finding)).as_bytes());
        catalog.run(&root, verb, &Options::default(), &mut tell).unwrap();
    }
}

/// What the process did to a file.
enum Done {
    Write(u64, Vec<u8>),
    Truncate(u64),
    Sync,
    Unlink,
    Rename(String),
    Acknowledge(String),
}

/// The log, in order: what was done to which file.
fn read_log(log: &Path) -> Vec<(String, Done)> {
    let bytes = fs::read(log).unwrap();
    let mut rest = &bytes[..];
    let mut take = |length: usize| {
        let (taken, behind) = rest.split_at_checked(length)?;
        rest = behind;
        Some(taken.to_vec())
    };
    let mut log = Vec::new();
    while let Some(kind) = take(1) {
        let mut number = |length| {
            let mut bytes = [0; 8];
            bytes[..length].copy_from_slice(&take(length).unwrap());
            u64::from_le_bytes(bytes)
        };
        let (path, offset, length) = (number(4), number(8), number(4));
        let path = String::from_utf8(take(path as usize).unwrap()).unwrap();
        let data = take(length as usize).unwrap();
        let done = match kind[0] {
            b'w' => Done::Write(offset, data),
            b't' => Done::Truncate(offset),
            b's' => Done::Sync,
            b'u' => Done::Unlink,
            b'r' => Done::Rename(String::from_utf8(data).unwrap()),
            b'a' => Done::Acknowledge(String::from_utf8(data).unwrap().trim_end().to_owned()),
            kind => panic!("a record of kind {kind}"),
        };
        log.push((path, done));
    }
    log
}

/// Numbers that look random, and are the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// What becomes of writes that were not synced.
#[derive(Clone, Copy, Debug)]
enum Unsynced {
    Lost,
    Kept,
    Torn,
}

/// A file, and the writes to it that are not synced yet.
#[derive(Default)]
struct Image<'log> {
    medium: Vec<u8>,
    pending: Vec<&'log Done>,
}

impl Image<'_> {
    fn apply(medium: &mut Vec<u8>, done: &Done, mut keeps: impl FnMut() -> bool) {
        match done {
            Done::Write(offset, data) => {
                for (number, sector) in data.chunks(SECTOR).enumerate() {
                    let at = *offset as usize + number * SECTOR;
                    if keeps() {
                        medium.resize(medium.len().max(at + sector.len()), 0);
                        medium[at..at + sector.len()].copy_from_slice(sector);
                    }
                }
            }
            Done::Truncate(size) if keeps() => medium.resize(*size as usize, 0),
            _ => {}
        }
    }

    fn settle(mut self, unsynced: Unsynced, random: &mut Random) -> Vec<u8> {
        for done in self.pending {
            Self::apply(&mut self.medium, done, || match unsynced {
                Unsynced::Lost => false,
                Unsynced::Kept => true,
                Unsynced::Torn => random.below(2) == 0,
            });
        }
        self.medium
    }
}

/// What a machine that goes down after so many records leaves behind; and what was told by then.
fn cut<'log>(
    log: &'log [(String, Done)],
    with_syncs: bool,
) -> (BTreeMap<&'log str, Image<'log>>, Vec<&'log str>) {
    let (mut files, mut told) = (BTreeMap::<&str, Image<'_>>::new(), Vec::new());
    for (path, done) in log {
        match done {
            Done::Acknowledge(words) => told.push(&**words),
            Done::Unlink => _ = files.remove(&**path),
            Done::Rename(to) => {
                if let Some(image) = files.remove(&**path) {
                    files.insert(to, image);
                }
            }
            Done::Sync if with_syncs => {
                let image = files.entry(path).or_default();
                for done in std::mem::take(&mut image.pending) {
                    Image::apply(&mut image.medium, done, || true);
                }
            }
            Done::Sync => {}
            done => files.entry(path).or_default().pending.push(done),
        }
    }
    (files, told)
}

/// What is wrong with what is left; nothing if the catalog is whole and has all that was told.
fn wrong(folder: &Path, told: &[&str]) -> Option<String> {
    let path = folder.join("catalog.db");
    let catalog = match Catalog::open(&path, "test") {
        Ok(catalog) => catalog,
        Err(error) => return Some(error.to_string()),
    };
    match catalog.check() {
        Ok(wrong) if wrong.is_empty() => {}
        Ok(wrong) => return Some(wrong.join("; ")),
        Err(error) => return Some(error.to_string()),
    }
    let mut known = HashSet::new();
    let mut take = |event: &Event| -> io::Result<()> {
        known.insert(words(&event.finding));
        Ok(())
    };
    if let Err(error) = catalog.events(0, &mut take) {
        return Some(error.to_string());
    }
    let lost = told.iter().find(|words| !known.contains(**words))?;
    Some(format!("lost: {lost}"))
}

/// Cuts the log so often, where the seed says, and gives what is wrong.
fn cuts(log: &[(String, Done)], cuts: u64, seed: u64, with_syncs: bool) -> Vec<String> {
    let (mut random, mut all) = (Random(seed), Vec::new());
    for number in 0..cuts {
        let length = random.below(log.len() as u64 + 1) as usize;
        let unsynced = [Unsynced::Lost, Unsynced::Kept, Unsynced::Torn][number as usize % 3];
        let (files, told) = cut(&log[..length], with_syncs);
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        for (path, image) in files {
            let name = Path::new(path).file_name().unwrap();
            // The memory that readers share is made anew by whoever comes first.
            if !path.ends_with("-shm") {
                fs::write(folder.path().join(name), image.settle(unsynced, &mut random)).unwrap();
            }
        }
        if let Some(wrong) = wrong(folder.path(), &told) {
            all.push(format!("cut at {length} of {}, {unsynced:?}: {wrong}", log.len()));
        }
    }
    all
}

#[test]
fn what_was_told_outlives_a_machine_that_goes_down() {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("record.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/crash/record.c");
    let built = Command::new("gcc")
        .args(["-shared", "-fPIC", "-O1", "-w", "-o"])
        .args([&library, &source])
        .arg("-ldl")
        .status();
    if !built.is_ok_and(|status| status.success()) {
        let _ = writeln!(io::stderr(), "skipped: no gcc to build the library that records writes");
        return;
    }
    let (told, log) = (folder.path().join("told"), folder.path().join("log"));
    fs::create_dir(&told).unwrap();
    let status = Command::new(env::current_exe().unwrap())
        .args(["--exact", "writer", "--nocapture"])
        .env(WRITER, folder.path())
        .env("LD_PRELOAD", &library)
        .env("RECORD_UNDER", told.canonicalize().unwrap())
        .env("RECORD_LOG", &log)
        .status()
        .unwrap();
    assert!(status.success());
    let log = read_log(&log);
    let syncs = log.iter().filter(|(_, done)| matches!(done, Done::Sync)).count();
    let told = log.iter().filter(|(_, done)| matches!(done, Done::Acknowledge(_))).count();
    assert!(syncs > 100 && told > 50, "{} records, {syncs} syncs, {told} told", log.len());

    let broken: Vec<String> = thread::scope(|scope| {
        let log = &log;
        let halves = [7, 8].map(|seed| scope.spawn(move || cuts(log, CUTS / 2, seed, true)));
        halves.into_iter().flat_map(|half| half.join().unwrap()).collect()
    });
    assert!(broken.is_empty(), "{} of {CUTS}: {:#?}", broken.len(), &broken[..broken.len().min(5)]);
    let broken = cuts(&log, CUTS / 5, 7, false);
    assert!(broken.len() as u64 > CUTS / 20, "the harness does not bite: {}", broken.len());
}
