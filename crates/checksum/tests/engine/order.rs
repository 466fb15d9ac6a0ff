//! The order of the outcomes, and how many jobs are under way.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use std::sync::{Condvar, Mutex};

use super::*;

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
            &on(Io::default(), threads),
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

/// As `tail -f` feeds names: whoever writes the next one may wait for what came of the last.
#[test]
fn an_iterator_that_waits_holds_up_no_outcome() {
    let folder = Folder::new();
    let jobs = ["a", "b", "c"].map(|name| folder.job(name, name.as_bytes()));
    for threads in [1, 3] {
        let (out, is_out) = std::sync::mpsc::channel();
        let mut left = jobs.iter().cloned();
        let first = left.next();
        let rest = std::iter::from_fn(|| {
            is_out.recv().unwrap();
            left.next()
        });
        let mut seen = Vec::new();
        engine::run(&on(Io::default(), threads), first.into_iter().chain(rest), words, |words| {
            seen.push(words);
            out.send(()).unwrap();
            ControlFlow::Continue(())
        });
        assert_eq!(seen, ["a", "b", "c"].map(|name| format!("{name}: {}", md5(name.as_bytes()))));
    }
}

/// They wait for their like, but not as long as there are other files.
#[test]
fn small_files_do_not_wait_for_all_the_long_ones() {
    const LONG: usize = 1 << 20;
    let folder = Folder::new();
    let small = folder.job("small", b"abc");
    let long = folder.job("long", &bytes(LONG));
    std::thread::sleep(Duration::from_millis(30));
    let progress = Arc::new(Progress::default());
    let options = Options { progress: Some(Arc::clone(&progress)), ..on(Io::default(), 1) };
    let mut read = None;
    let jobs = std::iter::once(small).chain(std::iter::repeat_n(long, 200));
    engine::run(&options, jobs, words, |_| {
        read.get_or_insert_with(|| progress.bytes.load(Ordering::Relaxed));
        ControlFlow::Continue(())
    });
    // Of 200 MiB.
    assert!(read.unwrap() < 32 << 20, "{read:?}");
}

/// Where a worker has taken many jobs that promised to be short, and one of them is not, the others do not wait for it.
#[test]
fn long_files_do_not_stick_to_the_worker_that_met_the_first() {
    const LONG: usize = 60;
    /// As many of the long ones at most are under way together with the first.
    const BEGUN: usize = 8;
    /// So many jobs are there before a worker goes on from its first one: it may take many at once.
    const PULLED: usize = 1000;
    let folder = Folder::new();
    let short = folder.job("short", b"abc");
    let long = folder.job("long", &bytes(1 << 20));
    let gate = Job { source: Source::Nothing, ..folder.job_of("gate") };
    std::thread::sleep(Duration::from_millis(30));
    let (pulled, are_there) = (Mutex::new(0), Condvar::new());
    // Rounds of 64, after a gate and a short one for each worker, have all the long ones in one.
    let jobs = std::iter::repeat_n(gate, 2)
        .chain(std::iter::repeat_n(short.clone(), 2 + 6 * 64))
        .chain(std::iter::repeat_n(long, LONG))
        .chain(std::iter::repeat_n(short, 4000))
        .inspect(|_| {
            *pulled.lock().unwrap() += 1;
            are_there.notify_all();
        });
    let (made, others_done) = (Mutex::new(0), Condvar::new());
    let make = |outcome: Outcome<String>| {
        match &outcome.context[..] {
            "short" => return true,
            "gate" => {
                let few = |pulled: &mut usize| *pulled < PULLED;
                drop(are_there.wait_while(pulled.lock().unwrap(), few).unwrap());
                return true;
            }
            _ => {}
        }
        let mut made = made.lock().unwrap();
        *made += 1;
        others_done.notify_all();
        if *made > 1 {
            return true;
        }
        // The first one goes no further before the other worker has done the others.
        let few = |made: &mut usize| *made < LONG - BEGUN;
        !others_done.wait_timeout_while(made, Duration::from_secs(60), few).unwrap().1.timed_out()
    };
    let mut all_well = true;
    engine::run(&on(Io::Read, 2), jobs, make, |is_well| {
        all_well &= is_well;
        ControlFlow::Continue(())
    });
    assert!(all_well, "the others waited for the worker that had the first long file");
}

/// A job that is known to be the only one is done by the calling thread, which needs no other for it.
#[test]
fn a_single_job_is_done_here() {
    let folder = Folder::new();
    for (name, has_digest) in [("a", true), ("missing", false)] {
        if has_digest {
            folder.job(name, b"abc");
        }
        let mut threads = Vec::new();
        engine::run(
            &on(Io::default(), 3),
            std::iter::once(folder.job_of(name)),
            |outcome| (outcome.result.is_ok(), std::thread::current().id()),
            |outcome| {
                threads.push(outcome);
                ControlFlow::Continue(())
            },
        );
        assert_eq!(threads, [(has_digest, std::thread::current().id())]);
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
        engine::run(&on(Io::default(), 2), jobs, words, |_| {
            out.fetch_add(1, Ordering::Relaxed);
            ControlFlow::Continue(())
        });
    });
    assert_eq!(out.into_inner(), 2 * WINDOW);
}

/// Says how many threads are to do without memory in this process.
const POOR: &str = "LANESUM_TEST_POOR";

/// What is read past the cache needs memory at a stroke. Where there is none for any worker, each job has an
/// error; the run neither panics nor hangs.
#[test]
fn without_memory_every_job_has_an_error() {
    if let Some(threads) = std::env::var_os(POOR) {
        return run_without_memory(threads.to_str().unwrap().parse().unwrap());
    }
    for threads in ["1", "4"] {
        let run = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "order::without_memory_every_job_has_an_error"])
            .env(POOR, threads)
            .output()
            .unwrap();
        assert!(run.status.success(), "{threads}: {run:?}");
    }
}

/// There is address space for some stacks (2 MiB each), but not for the lanes of a worker (some 9).
fn run_without_memory(threads: usize) {
    let folder = Folder::new();
    let jobs: Vec<_> =
        (0..100).map(|index| folder.job(&format!("{index:02}"), &[index; 9])).collect();
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:")?.strip_suffix("kB"));
    let size = size.unwrap().trim().parse::<u64>().unwrap() << 10;
    let limit = Rlimit { current: Some(size + (8 << 20)), ..getrlimit(Resource::As) };
    setrlimit(Resource::As, limit).unwrap();
    let progress = Arc::new(Progress::default());
    let options = Options { progress: Some(Arc::clone(&progress)), ..on(Io::Direct, threads) };
    let outcomes = run(&options, jobs.iter().cloned());
    assert_eq!(progress.files.load(Ordering::Relaxed), 100, "failed ones included");
    let expected = jobs.iter().map(|job| format!("{}: Cannot allocate memory", job.context));
    assert!(outcomes.iter().cloned().eq(expected), "{outcomes:?}");
}
