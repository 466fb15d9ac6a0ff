//! The order of the outcomes, and how many jobs are under way.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use lanesum_checksum::engine::Delivery;

use super::*;

#[test]
fn more_jobs_than_the_window_come_in_order() {
    const JOBS: usize = 200_000;
    let jobs = (0..JOBS).map(|context| Job {
        source: Source::Nothing,
        algorithms: Algorithms::NONE,
        context,
    });
    for threads in [1, 3] {
        let run = engine::run(&on(Io::default(), threads), jobs.clone());
        assert!(run.map(|outcome| outcome.context).eq(0..JOBS));
        let mut as_they_come = on(Io::default(), threads);
        as_they_come.delivery = Delivery::AsTheyCome;
        let mut run = engine::run(&as_they_come, jobs.clone());
        let mut contexts: Vec<_> = run.by_ref().map(|outcome| outcome.context).collect();
        contexts.sort_unstable();
        assert!(contexts.into_iter().eq(0..JOBS));
        assert_eq!(run.finish().unwrap().outcomes, JOBS as u64);
    }
}

/// Unordered: a finished job does not wait for an earlier unfinished one.
#[test]
fn outcomes_come_unordered_on_request() {
    let folder = Folder::new();
    mknodat(CWD, folder.path("fifo"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let jobs = [folder.job_of("fifo"), folder.job("a", b"abc"), folder.job("b", b"xyz")];
    for threads in [1, 3] {
        let mut options = on(Io::default(), threads);
        options.delivery = Delivery::AsTheyCome;
        let mut run = engine::run(&options, jobs.clone().into_iter());
        let mut first: Vec<_> = run.by_ref().take(2).map(words).collect();
        first.sort_unstable();
        assert_eq!(first, [format!("a: {}", md5(b"abc")), format!("b: {}", md5(b"xyz"))]);
        assert!(run.next_within(Duration::from_millis(1)).is_none() && !run.is_at_end());
        let mut waited = false;
        let write = || fs::write(folder.path("fifo"), b"fifo").unwrap();
        let last = run.next_or_wait(|| {
            waited = true;
            write();
            Ok::<_, ()>(())
        });
        assert_eq!(
            (waited, words(last.unwrap().unwrap())),
            (true, format!("fifo: {}", md5(b"fifo")))
        );
        assert!(run.next().is_none() && run.is_at_end());
        let totals = run.finish().unwrap();
        assert_eq!((totals.outcomes, totals.failed, totals.bytes), (3, 0, 10));
    }
}

/// A FIFO without a writer or a terminal does not block a run that was stopped.
#[test]
fn a_stop_interrupts_a_wait_for_input() {
    let folder = Folder::new();
    mknodat(CWD, folder.path("fifo"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let fifo = folder.job_of("fifo");
    for count in [1, 2] {
        let mut run = engine::run(&on(Io::default(), 2), std::iter::repeat_n(fifo.clone(), count));
        let stopper = run.stopper();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                std::thread::sleep(Duration::from_millis(20));
                stopper.stop();
            });
            assert!(run.next().is_none());
        });
        assert!(run.finish().is_err());
        // Nor does a run that is dropped.
        let mut run = engine::run(&on(Io::default(), 2), std::iter::repeat_n(fifo.clone(), 2));
        assert!(run.next_within(Duration::from_millis(20)).is_none() && !run.is_at_end());
    }
}

/// As with names from `tail -f`: the writer may wait for the outcome of a name before it writes the
/// next one.
#[test]
fn a_waiting_iterator_does_not_delay_outcomes() {
    let folder = Folder::new();
    let jobs = ["a", "b", "c"].map(|name| folder.job(name, name.as_bytes()));
    for threads in [1, 3] {
        let (out, is_out) = std::sync::mpsc::channel();
        let mut left = jobs.clone().into_iter();
        let first = left.next();
        let rest = std::iter::from_fn(move || {
            is_out.recv().unwrap();
            left.next()
        });
        let mut seen = Vec::new();
        for outcome in engine::run(&on(Io::default(), threads), first.into_iter().chain(rest)) {
            seen.push(words(outcome));
            out.send(()).unwrap();
        }
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
    let mut options = on(Io::default(), 1);
    options.progress = Some(Arc::clone(&progress));
    let jobs = std::iter::once(small).chain(std::iter::repeat_n(long, 1000));
    let mut run = engine::run(&options, jobs);
    assert!(run.next().is_some());
    // Of 1,000 MiB, and the caller's thread may be late as well.
    let read = progress.bytes.load(Ordering::Relaxed);
    assert!(read < 500 << 20, "{read}");
}

/// A caller that only polls reaches the end, and a stop that comes later changes nothing.
#[test]
fn polling_reaches_the_end() {
    let folder = Folder::new();
    let job = folder.job("a", b"abc");
    for count in 0..4 {
        let mut run = engine::run(&on(Io::default(), 2), std::iter::repeat_n(job.clone(), count));
        let mut seen = 0;
        while !run.is_at_end() {
            match run.next_within(Duration::ZERO) {
                Some(_) => seen += 1,
                None => std::thread::yield_now(),
            }
        }
        run.stopper().stop();
        assert!(run.next().is_none());
        assert_eq!((seen, run.finish().unwrap().outcomes), (count, count as u64));
    }
}

/// A job that is known to be the only one is done by the calling thread, which needs no other for
/// it.
#[test]
fn a_single_job_runs_on_the_calling_thread() {
    let folder = Folder::new();
    for (name, has_digest) in [("a", true), ("missing", false)] {
        if has_digest {
            folder.job(name, b"abc");
        }
        let (pulled, pulled_by) = std::sync::mpsc::channel();
        let jobs = std::iter::once(folder.job_of(name))
            .inspect(move |_| pulled.send(std::thread::current().id()).unwrap());
        let mut run = engine::run(&on(Io::default(), 3), jobs);
        let mut waited = false;
        assert!(run.next_or_wait(|| Err("not yet")).is_err_and(|why| why == "not yet"));
        let wait = || {
            waited = true;
            Ok::<_, ()>(())
        };
        let outcome = run.next_or_wait(wait).unwrap().unwrap();
        assert_eq!((outcome.result.is_ok(), waited), (has_digest, true), "that was work");
        assert!(run.next().is_none());
        assert_eq!(pulled_by.try_iter().collect::<Vec<_>>(), [std::thread::current().id()]);
        let bytes = if has_digest { 3 } else { 0 };
        let failed = u64::from(!has_digest);
        let totals = run.finish().unwrap();
        assert_eq!((totals.outcomes, totals.failed, totals.bytes), (1, failed, bytes));
    }
}

#[test]
fn jobs_behind_a_slow_one_stay_within_the_window() {
    const WINDOW: u64 = 1 << 16;
    let folder = Folder::new();
    mknodat(CWD, folder.path("slow"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let (full, is_full) = std::sync::mpsc::channel();
    let out = Arc::new(AtomicU64::new(0));
    let slow = folder.job_of("slow");
    let seen = Arc::clone(&out);
    let jobs = (0..2 * WINDOW).map(move |index| {
        assert!(index < seen.load(Ordering::Relaxed) + WINDOW, "job {index} is too early");
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
        for _ in engine::run(&on(Io::default(), 2), jobs) {
            out.fetch_add(1, Ordering::Relaxed);
        }
    });
    assert_eq!(out.load(Ordering::Relaxed), 2 * WINDOW);
}

/// Says how many threads are to do without memory in this process.
const POOR: &str = "LANESUM_TEST_POOR";

/// What is read past the cache needs memory at a stroke. Where there is none for any worker, each
/// job has an error; the run neither panics nor hangs.
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
    let mut options = on(Io::Direct, threads);
    options.progress = Some(Arc::clone(&progress));
    let outcomes = run(&options, jobs.iter().cloned());
    assert_eq!(progress.files.load(Ordering::Relaxed), 100, "failed ones included");
    let expected = jobs.iter().map(|job| format!("{}: Cannot allocate memory", job.context));
    assert!(outcomes.iter().cloned().eq(expected), "{outcomes:?}");
}
