//! A machine that goes down at any moment, and processes that are killed: each result that was
//! reported is in the catalog afterwards.
//!
//! A process writes a catalog under a preloaded library (`record.c`), which keeps every write and
//! every sync in their order, and each result that the process reports. The log is cut anywhere.
//! Synced writes are on the medium; of the other writes all are there, or none, or pieces of 512
//! bytes. Then the catalog is opened: it must be whole and have all results before the cut.
//!
//! The same log without its syncs, as `synchronous=OFF` writes it, shows that the test can fail.

use std::collections::{BTreeMap, HashSet};
use std::env;
use std::fs::{self, File, FileTimes};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use lanesum_catalog::{Catalog, Finding, Options, Root, Settings, Target, Task};

/// Cuts of the log.
const CUTS: u64 = 1000;

/// A write takes its place in pieces of so many bytes.
const SECTOR: usize = 512;

/// Processes that are killed.
const KILLS: u32 = 200;

/// Set for the process that writes: the directory that it works in, and for how many rounds.
const WRITER: &str = "LANESUM_TEST_CRASH_WRITER";
const ROUNDS: &str = "LANESUM_TEST_CRASH_ROUNDS";

/// The words of a finding, which its event in the log gives again.
fn words(finding: &Finding) -> String {
    let found = finding.found.as_ref().and_then(|it| it.digests.first());
    let digest = found.map(ToString::to_string).unwrap_or_default();
    format!("{} {} {digest}", finding.class, finding.path.escape_ascii())
}

/// Writes the catalog of a tree of 20 files that change from round to round, and acknowledges what
/// each run reports.
fn write(directory: &Path, rounds: u32) {
    let (tree, state) = (directory.join("tree"), directory.join("state"));
    fs::create_dir_all(&tree).unwrap();
    let mut acknowledged = File::create(state.join("acknowledged")).unwrap();
    let path = state.join("catalog.db");
    for round in 0..rounds {
        for file in 0..20 {
            if file % 7 == round % 7 || round == 0 {
                let path = tree.join(format!("{file}"));
                fs::write(&path, format!("{round} {file}").repeat(50)).unwrap();
                let time = UNIX_EPOCH + Duration::from_secs(1_600_000_000 + u64::from(round));
                let times = FileTimes::new().set_modified(time);
                File::options().write(true).open(path).unwrap().set_times(times).unwrap();
            }
        }
        // As a process of its own, as far as the catalog knows.
        let mut catalog = Catalog::open(&path, "test").unwrap();
        let root = catalog.add_roots(&[(&tree, Settings::default())]).unwrap().remove(0);
        let task = if round == 0 { Task::Add } else { Task::Update };
        let mut take = |_: &Root, finding: &Finding| {
            acknowledged.write_all(format!("{}\n", words(finding)).as_bytes())
        };
        catalog.run(&[Target::whole(root)], &task, &Options::default(), &mut take).unwrap();
    }
}

/// The process that writes; nothing where the tests run.
#[test]
fn writer() {
    let Some(directory) = env::var_os(WRITER).map(PathBuf::from) else { return };
    let rounds = env::var(ROUNDS).map_or(40, |rounds| rounds.parse().unwrap());
    write(&directory, rounds);
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

/// The files that a machine leaves behind which goes down after these records, and the results that
/// were reported by then.
fn cut<'log>(
    log: &'log [(String, Done)],
    with_syncs: bool,
) -> (BTreeMap<&'log str, Image<'log>>, Vec<&'log str>) {
    let (mut files, mut reported) = (BTreeMap::<&str, Image<'_>>::new(), Vec::new());
    for (path, done) in log {
        match done {
            Done::Acknowledge(words) => reported.push(&**words),
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
    (files, reported)
}

/// What is wrong with what is left; nothing if the catalog is whole and has all that was reported.
fn wrong(directory: &Path, reported: &[&str]) -> Option<String> {
    let path = directory.join("catalog.db");
    let catalog = match Catalog::open(&path, "test") {
        Ok(catalog) => catalog,
        Err(error) => return Some(error.to_string()),
    };
    match catalog.check() {
        Ok(wrong) if wrong.is_empty() => {}
        Ok(wrong) => return Some(wrong.join("; ")),
        Err(error) => return Some(error.to_string()),
    }
    match catalog.events_after(0, usize::MAX >> 1) {
        Ok(events) => {
            let known: HashSet<_> = events.iter().map(|event| words(&event.finding)).collect();
            let lost = reported.iter().find(|words| !known.contains(**words))?;
            Some(format!("lost: {lost}"))
        }
        Err(error) => Some(error.to_string()),
    }
}

/// Cuts the log so often, where the seed says, and gives what is wrong.
fn cuts(log: &[(String, Done)], cuts: u64, seed: u64, with_syncs: bool) -> Vec<String> {
    let (mut random, mut all) = (Random(seed), Vec::new());
    for number in 0..cuts {
        let length = random.below(log.len() as u64 + 1) as usize;
        let unsynced = [Unsynced::Lost, Unsynced::Kept, Unsynced::Torn][number as usize % 3];
        let (files, reported) = cut(&log[..length], with_syncs);
        let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        for (path, image) in files {
            let name = Path::new(path).file_name().unwrap();
            // The first process that opens it makes the memory that readers share.
            if !path.ends_with("-shm") {
                fs::write(directory.path().join(name), image.settle(unsynced, &mut random))
                    .unwrap();
            }
        }
        if let Some(wrong) = wrong(directory.path(), &reported) {
            all.push(format!("cut at {length} of {}, {unsynced:?}: {wrong}", log.len()));
        }
    }
    all
}

/// Cuts the log of a catalog that was written with its syncs.
fn expect_nothing_lost(log: &[(String, Done)]) {
    let broken: Vec<String> = thread::scope(|scope| {
        let halves = [7, 8].map(|seed| scope.spawn(move || cuts(log, CUTS / 2, seed, true)));
        halves.into_iter().flat_map(|half| half.join().unwrap()).collect()
    });
    assert!(broken.is_empty(), "{} of {CUTS}: {:#?}", broken.len(), &broken[..broken.len().min(5)]);
}

#[test]
fn reported_results_survive_a_machine_that_goes_down() {
    let directory = tempfile::tempdir().unwrap();
    let library = directory.path().join("record.so");
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
    let (state, log) = (directory.path().join("state"), directory.path().join("log"));
    fs::create_dir(&state).unwrap();
    let status = Command::new(env::current_exe().unwrap())
        .args(["--exact", "writer", "--nocapture"])
        .env(WRITER, directory.path())
        .env("LD_PRELOAD", &library)
        .env("RECORD_UNDER", state.canonicalize().unwrap())
        .env("RECORD_LOG", &log)
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let log = read_log(&log);
    let syncs = log.iter().filter(|(_, done)| matches!(done, Done::Sync)).count();
    let reported = log.iter().filter(|(_, done)| matches!(done, Done::Acknowledge(_))).count();
    assert!(
        syncs > 100 && reported > 50,
        "{} records, {syncs} syncs, {reported} reported",
        log.len()
    );
    expect_nothing_lost(&log);
    // As if it had been written with `synchronous=OFF`.
    let broken = cuts(&log, CUTS / 5, 7, false);
    assert!(broken.len() as u64 > CUTS / 20, "the harness does not bite: {}", broken.len());
}

/// Starts a process that writes, and waits for its first acknowledgement.
fn start_writer(directory: &Path) -> std::process::Child {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "writer", "--nocapture"])
        .env(WRITER, directory)
        .env(ROUNDS, "1000000")
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let acknowledged = directory.join("state/acknowledged");
    while !fs::metadata(&acknowledged).is_ok_and(|it| it.len() > 0) {
        assert_eq!(child.try_wait().unwrap(), None, "it ended by itself");
        thread::sleep(Duration::from_millis(1));
    }
    child
}

#[test]
fn reported_results_survive_kill_9() {
    let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let mut random = Random(9);
    let state = directory.path().join("state");
    fs::create_dir(&state).unwrap();
    for kill in 0..KILLS {
        // A catalog of some length is written on by the next process.
        if kill % 20 == 0 {
            fs::remove_dir_all(&state).unwrap();
            fs::create_dir(&state).unwrap();
        }
        let _ = fs::remove_file(state.join("acknowledged"));
        let mut child = start_writer(directory.path());
        thread::sleep(Duration::from_micros(random.below(40_000)));
        child.kill().unwrap();
        child.wait().unwrap();
        let reported = fs::read_to_string(state.join("acknowledged")).unwrap();
        // The last line may be torn.
        let reported: Vec<_> =
            reported.split_inclusive('\n').filter_map(|it| it.strip_suffix('\n')).collect();
        let wrong = wrong(&state, &reported);
        assert_eq!(wrong, None, "kill {kill}");
    }
}
