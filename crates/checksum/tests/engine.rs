//! The engine over real files: digests, order, and files that change while they are read.

use std::fs::{self, File, FileTimes};
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use lanesum_checksum::engine::{self, Options, Progress};
use lanesum_checksum::{Algorithm, Algorithms, Error, Job, Outcome, Source};
use lanesum_md5::Backend;
use rustix::fs::{CWD, FileType, Mode, mknodat};

/// MD5 by an independent implementation, in hexadecimal digits.
fn md5(content: &[u8]) -> String {
    use ::md5::Digest as _;
    ::md5::Md5::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes that differ between neighbours and between blocks.
fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i % 251) as u8).collect()
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file; gives the job of hashing it.
    fn job(&self, name: &str, content: &[u8]) -> Job<String> {
        fs::write(self.path(name), content).unwrap();
        self.job_of(name)
    }

    fn job_of(&self, name: &str) -> Job<String> {
        let source = Source::Path(self.path(name));
        Job { source, algorithms: Algorithm::Md5.into(), context: name.to_owned() }
    }
}

fn on(threads: usize) -> Options {
    Options { threads, ..Options::default() }
}

/// An outcome in words: the context, and the digests or why there are none.
fn words(outcome: Outcome<String>) -> String {
    let result = match outcome.result {
        Ok(hashed) => {
            let digests: Vec<_> = hashed.digests.iter().map(ToString::to_string).collect();
            digests.join(" ")
        }
        Err(error) => error.to_string(),
    };
    format!("{}: {result}", outcome.context)
}

fn run(options: &Options, jobs: impl Iterator<Item = Job<String>> + Send) -> Vec<String> {
    let mut all = Vec::new();
    engine::run(options, jobs, words, |outcome| {
        all.push(outcome);
        ControlFlow::Continue(())
    });
    all
}

#[test]
fn digests_are_right_on_every_backend_with_any_number_of_threads() {
    let folder = Folder::new();
    // More files than any backend has lanes, of lengths around the edges of blocks and buffers.
    let lengths = (0..200).chain([4096, (128 << 10) - 1, 128 << 10, (128 << 10) + 1, 1_000_003]);
    let contents: Vec<_> = lengths.map(bytes).collect();
    let mut expected = Vec::new();
    let mut jobs = Vec::new();
    for (index, content) in contents.iter().enumerate() {
        let name = format!("{index:03}");
        jobs.push(folder.job(&name, content));
        expected.push(format!("{name}: {}", md5(content)));
    }
    for backend in Backend::available() {
        for threads in 1..=4 {
            let options = Options { backend, ..on(threads) };
            assert_eq!(run(&options, jobs.iter().cloned()), expected, "{backend}, {threads}");
        }
    }
}

#[test]
fn jobs_without_a_source_and_failures_keep_their_places() {
    let folder = Folder::new();
    let nothing = |context: &str| Job {
        source: Source::Nothing,
        algorithms: Algorithms::NONE,
        context: context.to_owned(),
    };
    let abc = "900150983cd24fb0d6963f7d28e17f72";
    let long = bytes(2_000_000);
    let jobs = [
        nothing("first"),
        folder.job("long", &long),
        nothing("second"),
        folder.job("short", b"abc"),
        folder.job_of("missing"),
        folder.job_of("short/x"),
        folder.job_of("short"),
        folder.job_of("."),
        nothing("last"),
    ];
    let expected = [
        "first: ".to_owned(),
        format!("long: {}", md5(&long)),
        "second: ".to_owned(),
        format!("short: {abc}"),
        "missing: No such file or directory".to_owned(),
        "short/x: Not a directory".to_owned(),
        format!("short: {abc}"),
        ".: Is a directory".to_owned(),
        "last: ".to_owned(),
    ];
    for threads in 1..=4 {
        assert_eq!(run(&on(threads), jobs.iter().cloned()), expected, "{threads}");
    }
}

#[test]
fn a_break_ends_an_endless_run() {
    let folder = Folder::new();
    let job = folder.job("a", b"abc");
    for threads in 1..=4 {
        let mut seen = 0;
        engine::run(&on(threads), std::iter::repeat(job.clone()), words, |_| {
            seen += 1;
            if seen == 1_000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!(seen, 1_000, "nothing comes after the break");
    }
}

#[test]
fn far_more_jobs_than_may_be_under_way_at_once_come_in_order() {
    const JOBS: usize = 200_000;
    let jobs = (0..JOBS).map(|context| Job {
        source: Source::Nothing,
        algorithms: Algorithms::NONE,
        context,
    });
    for threads in [1, 3] {
        let mut next = 0;
        engine::run(
            &on(threads),
            jobs.clone(),
            |outcome| outcome.context,
            |context| {
                assert_eq!(context, next);
                next += 1;
                ControlFlow::Continue(())
            },
        );
        assert_eq!(next, JOBS);
    }
}

#[test]
fn a_slow_job_does_not_let_the_others_run_away() {
    const WINDOW: u64 = 1 << 16;
    let folder = Folder::new();
    mknodat(CWD, folder.path("slow"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let (full, is_full) = std::sync::mpsc::channel();
    let out = AtomicU64::new(0);
    let slow = folder.job_of("slow");
    let jobs = (0..2 * WINDOW).map(|index| {
        assert!(index < out.load(Ordering::Relaxed) + WINDOW, "job {index} is too early");
        if index == WINDOW - 1 {
            full.send(()).unwrap();
        }
        let nothing = Source::Nothing;
        Job { source: if index == 0 { slow.source.clone() } else { nothing }, ..slow.clone() }
    });
    std::thread::scope(|scope| {
        let path = folder.path("slow");
        scope.spawn(move || {
            let mut slow = File::options().write(true).open(path).unwrap();
            is_full.recv().unwrap();
            // An engine that goes on beyond the window gets the opportunity.
            (0..10_000).for_each(|_| std::thread::yield_now());
            slow.write_all(b"abc").unwrap();
        });
        engine::run(&on(2), jobs, words, |_| {
            out.fetch_add(1, Ordering::Relaxed);
            ControlFlow::Continue(())
        });
    });
    assert_eq!(out.into_inner(), 2 * WINDOW);
}

#[test]
fn progress_counts_bytes_and_files() {
    let folder = Folder::new();
    let jobs = [folder.job("a", &bytes(300_000)), folder.job("b", b"abc"), folder.job_of("gone")];
    let progress = Arc::new(Progress::default());
    let options = Options { progress: Some(Arc::clone(&progress)), ..on(2) };
    assert_eq!(run(&options, jobs.into_iter()).len(), 3);
    assert_eq!(progress.bytes.load(Ordering::Relaxed), 300_003);
    assert_eq!(progress.files.load(Ordering::Relaxed), 3);
}

#[test]
fn a_panic_ends_the_run_instead_of_hanging_it() {
    let folder = Folder::new();
    let jobs: Vec<_> = (0..100).map(|i| folder.job(&format!("{i}"), b"abc")).collect();
    for threads in [1, 4] {
        let count = AtomicU64::new(0);
        let make = |outcome: Outcome<String>| {
            assert!(count.fetch_add(1, Ordering::Relaxed) != 50, "on purpose");
            outcome.context
        };
        let run = || {
            engine::run(&on(threads), jobs.iter().cloned(), make, |_| ControlFlow::Continue(()));
        };
        let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        assert!(unwound.is_err(), "{threads}");
    }
}

#[test]
fn fifos_are_read_in_the_order_of_the_jobs_without_holding_up_the_lanes() {
    let folder = Folder::new();
    for fifo in ["first", "second"] {
        mknodat(CWD, folder.path(fifo), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    }
    let job = folder.job("a", b"abc");
    let jobs = [folder.job_of("first"), job.clone(), folder.job_of("second"), job];
    let (done, a_is_done) = std::sync::mpsc::channel();
    let mut all = Vec::new();
    std::thread::scope(|scope| {
        let folder = &folder;
        scope.spawn(move || {
            let open = |name| File::options().write(true).open(folder.path(name)).unwrap();
            let mut first = open("first");
            // What lies behind the FIFO is hashed although nothing has come out of it yet.
            for _ in 0..2 {
                a_is_done.recv().unwrap();
            }
            first.write_all(&bytes(200_000)).unwrap();
            drop(first);
            open("second").write_all(b"xyz").unwrap();
        });
        let make = |outcome: Outcome<String>| {
            if outcome.context == "a" {
                done.send(()).unwrap();
            }
            words(outcome)
        };
        engine::run(&on(1), jobs.into_iter(), make, |outcome| {
            all.push(outcome);
            ControlFlow::Continue(())
        });
    });
    let a = format!("a: {}", md5(b"abc"));
    let first = format!("first: {}", md5(&bytes(200_000)));
    let second = format!("second: {}", md5(b"xyz"));
    assert_eq!(all, [first, a.clone(), second, a]);
}

/// Longer than what a lane reads before its worker asks for the next job.
const LONG: usize = 4 << 20;

/// Hashes a file that was last written in 1970 and is changed while it is read: the only worker has
/// read its first part when it asks for a second job.
fn hash_while(change: impl Fn(&Folder) + Sync, options: &Options) -> Result<String, Error> {
    let folder = Folder::new();
    let job = folder.job("long", &bytes(LONG));
    let times = FileTimes::new().set_modified(SystemTime::UNIX_EPOCH);
    writable(&folder).set_times(times).unwrap();
    let mut asked = 0;
    let jobs = std::iter::from_fn(|| {
        asked += 1;
        if asked == 2 {
            change(&folder);
        }
        (asked == 1).then(|| job.clone())
    });
    let mut results = Vec::new();
    engine::run(
        options,
        jobs,
        |outcome| outcome.result,
        |result| {
            results.push(result.map(|hashed| hashed.digests[0].to_string()));
            ControlFlow::Continue(())
        },
    );
    results.pop().unwrap()
}

fn writable(folder: &Folder) -> File {
    File::options().append(true).open(folder.path("long")).unwrap()
}

fn grow(folder: &Folder) {
    writable(folder).write_all(b"more").unwrap();
}

fn shrink(folder: &Folder) {
    writable(folder).set_len(LONG as u64 / 2).unwrap();
}

fn touch(folder: &Folder) {
    writable(folder).set_modified(SystemTime::now()).unwrap();
}

fn replace(folder: &Folder) {
    fs::write(folder.path("new"), bytes(LONG)).unwrap();
    fs::rename(folder.path("new"), folder.path("long")).unwrap();
}

fn remove(folder: &Folder) {
    fs::remove_file(folder.path("long")).unwrap();
}

#[test]
fn a_file_that_changes_has_no_digest() {
    for change in [grow, shrink, touch, replace, remove] {
        let result = hash_while(change, &on(1));
        assert!(matches!(result, Err(Error::Changed)), "{result:?}");
    }
    assert_eq!(hash_while(|_| (), &on(1)).unwrap(), md5(&bytes(LONG)));
}

#[test]
fn changes_are_overlooked_on_demand() {
    let options = Options { detect_changes: false, ..on(1) };
    assert_eq!(hash_while(touch, &options).unwrap(), md5(&bytes(LONG)));
    assert_eq!(hash_while(replace, &options).unwrap(), md5(&bytes(LONG)));
    let grown = [&bytes(LONG)[..], b"more"].concat();
    assert_eq!(hash_while(grow, &options).unwrap(), md5(&grown));
    assert_eq!(hash_while(shrink, &options).unwrap(), md5(&bytes(LONG / 2)));
}
