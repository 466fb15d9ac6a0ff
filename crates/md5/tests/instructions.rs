//! How many instructions a block takes in every backend and width, held to a record: a spilled
//! register or a vector instruction that the compiler no longer finds shows here, on any machine,
//! without a clock.
//!
//! The test starts itself as a child that hashes [`SHORT`] blocks in each lane and then [`LONG`],
//! and counts the instructions of each by letting it go one step at a time under ptrace. The
//! difference is the kernel's alone. Where valgrind is installed, its tool callgrind counts the
//! widest of each backend a second time, and both must agree; AVX-512 it does not know, hence the
//! steps.
//!
//! Which words run a width depends on the CPU's latencies (`lanes/src/x86_64/latency.rs`). Each
//! child chooses as such a CPU would, so that any CPU with AVX-512 counts for all of them.
//!
//! `make test-instructions` runs this with the optimisation of a release; only those counts mean
//! anything. `make record-instructions` writes the record again.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::num::NonZero;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use lanesum_lanes::Latency;
use lanesum_md5::{Backend, Lanes, md5_many_into_with, most_streams};
use nix::errno::Errno;
use nix::sys::ptrace;
use nix::sys::signal::{Signal, raise};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, gettid};

/// The record, for the compiler in its first line.
const RECORD: &str = include_str!("instructions.txt");
const RECORD_PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/instructions.txt");

/// Blocks in each lane, in the two runs of a child. Few, as a step takes microseconds.
const SHORT: usize = 2;
const LONG: usize = 6;
/// The long run under callgrind, which counts whole processes: the thousands of instructions by
/// which these differ from one to the next must not matter.
const LONG_FOR_CALLGRIND: usize = 4_002;

/// The largest number of lanes of any backend.
const MAX_LANES: usize = 64;

/// The fraction by which a count may differ from the record of the same compiler, and of another
/// one.
const TOLERANCE: f64 = 0.02;
const TOLERANCE_OF_ANOTHER_COMPILER: f64 = 0.25;

/// Set for the child: the latency, the backend's name and the number of lanes.
const PLAN: &str = "LANESUM_INSTRUCTIONS_PLAN";

#[test]
fn a_block_takes_as_many_instructions_as_recorded() {
    if cfg!(debug_assertions) {
        println!("SKIPPED: only a release's instructions count; `make test-instructions` does");
        return;
    }
    let (compiler, recorded) = parse(RECORD);
    let mut counted = match count_all(rows()) {
        Ok(counted) => counted,
        Err(errno @ (Errno::EPERM | Errno::ENOSYS)) => {
            println!("SKIPPED: this machine does not let a process be stepped: {errno}");
            return;
        }
        Err(errno) => panic!("ptrace: {errno}"),
    };
    let own_compiler = rustc_version();
    println!("instructions for a block in every lane:\n{}", text(&own_compiler, &counted));
    if std::env::var_os("LANESUM_RECORD").is_some() {
        // The rows that this CPU cannot count stay.
        let mut all: BTreeMap<_, _> =
            recorded.into_iter().map(|(row, count)| (row.to_owned(), count)).collect();
        all.append(&mut counted);
        std::fs::write(RECORD_PATH, text(&own_compiler, &all)).unwrap();
        return;
    }
    assert!(counted.keys().any(|plan| recorded.contains_key(plan.as_str())), "nothing is recorded");
    let tolerance =
        if own_compiler == compiler { TOLERANCE } else { TOLERANCE_OF_ANOTHER_COMPILER };
    let mut wrong = String::new();
    for (plan, count) in counted {
        let Some(expected) = recorded.get(plan.as_str()) else {
            println!("no record of {plan}: `make record-instructions` on this machine makes one");
            continue;
        };
        let change = count / expected - 1.0;
        if change.abs() > tolerance {
            writeln!(wrong, "{plan}: {count:.1}, {:+.1} % of {expected}", change * 100.0).unwrap();
        }
    }
    assert!(
        wrong.is_empty(),
        "instructions for a block in every lane differ from tests/instructions.txt:\n{wrong}\
         more: look for spills (objdump -d); meant: `make record-instructions`"
    );
}

#[test]
fn callgrind_counts_the_same() {
    if cfg!(debug_assertions) {
        println!("SKIPPED: only a release's instructions count; `make test-instructions` does");
        return;
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("SKIPPED: valgrind is not installed");
        return;
    }
    // Only the widest of each, because valgrind needs a second to start.
    let widest = Backend::available()
        .filter(|backend| backend.name() != "avx512")
        .map(|backend| format!("One {backend} {}", most_streams(backend)));
    for plan in widest.chain(["One portable 1".to_owned()]) {
        let Ok(stepped) = count_by_steps(&plan) else {
            println!("SKIPPED: this machine does not let a process be stepped");
            return;
        };
        let counted = count_by_callgrind(&plan);
        let difference = (counted / stepped - 1.0).abs();
        assert!(difference < TOLERANCE, "{plan}: callgrind {counted:.1}, stepped {stepped:.1}");
    }
}

/// `LATENCY BACKEND LANES` for every latency that this CPU can have, every backend and every width
/// that as many lanes run in, and `LATENCY one 1`, a message by itself.
fn plans() -> Vec<String> {
    let mut plans = Vec::new();
    for latency in Latency::ALL {
        latency.pretend();
        plans.push(format!("{latency:?} one 1"));
        for backend in Backend::available() {
            let widths = backend.widths().iter();
            plans.extend(widths.map(|width| format!("{latency:?} {backend} {width}")));
        }
    }
    plans
}

/// The rows of the record, each with the plan that is counted for it.
fn rows() -> BTreeMap<String, String> {
    let mut rows = BTreeMap::new();
    for plan in plans() {
        let (_, kernel) = plan.split_once(' ').unwrap();
        // One message by itself takes the best backend.
        let backend = if kernel.starts_with("one") { Backend::best().name() } else { kernel };
        let depends = backend.starts_with("avx512");
        let row = if depends { plan.clone() } else { kernel.to_owned() };
        rows.entry(row).or_insert(plan);
    }
    rows
}

/// Counts the instructions for one block in every lane, for all rows, by single steps on all CPUs.
fn count_all(rows: BTreeMap<String, String>) -> nix::Result<BTreeMap<String, f64>> {
    let rows = Mutex::new(rows.into_iter());
    let next = || rows.lock().unwrap().next();
    let work = || std::iter::from_fn(next).map(|(row, plan)| Ok((row, count_by_steps(&plan)?)));
    std::thread::scope(|scope| {
        let cpus = std::thread::available_parallelism().map_or(1, NonZero::get);
        let workers: Vec<_> =
            (0..cpus).map(|_| scope.spawn(|| work().collect::<nix::Result<Vec<_>>>())).collect();
        let counts = workers.into_iter().map(|worker| worker.join().unwrap());
        counts.collect::<nix::Result<Vec<_>>>().map(|all| all.into_iter().flatten().collect())
    })
}

/// The child's side.
#[test]
#[ignore = "only as the child of the tests above"]
fn workload() {
    let Ok(plan) = std::env::var(PLAN) else { return };
    let [latency, backend, lanes] = plan.split(' ').collect::<Vec<_>>().try_into().unwrap();
    let is_named = |other: &Latency| format!("{other:?}") == latency;
    Latency::ALL.into_iter().find(is_named).unwrap().pretend();
    let lanes: usize = lanes.parse().unwrap();
    let message = vec![7; 64 * (LONG_FOR_CALLGRIND + MAX_LANES)];
    let backend = Backend::from_name(backend);
    let hash = |blocks: usize| match backend {
        None => {
            std::hint::black_box(lanesum_md5::md5(&message[..64 * blocks]));
        }
        Some(backend) => {
            assert_eq!(backend.width_for(lanes), lanes);
            let messages = (0..lanes).map(|lane| &message[64 * lane..][..64 * blocks]);
            if lanes > most_streams(backend) {
                let mut digests = [[0; 16]; MAX_LANES];
                md5_many_into_with(backend, messages, &mut digests[..lanes]);
                std::hint::black_box(&mut digests);
                return;
            }
            let mut all = Lanes::with_backend(backend);
            messages.for_each(|message| all.push(message));
            all.advance();
            std::hint::black_box(&mut all);
        }
    };
    match std::env::var("LANESUM_INSTRUCTIONS_BLOCKS") {
        // Under valgrind: one run for each number.
        Ok(blocks) => hash(blocks.parse().unwrap()),
        Err(_) => {
            hash(LONG); // what is done once, such as asking the CPU
            eprintln!("{}", gettid());
            let mut go = String::new();
            std::io::stdin().read_line(&mut go).unwrap();
            for blocks in [SHORT, LONG] {
                raise(Signal::SIGSTOP).unwrap();
                hash(blocks);
            }
            raise(Signal::SIGSTOP).unwrap();
        }
    }
}

/// This executable as the child.
fn child(command: &mut Command, plan: &str) -> Child {
    command
        .args(["--exact", "workload", "--ignored", "--nocapture", "--test-threads=1"])
        .env(PLAN, plan)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Instructions for one block in every lane, by single steps.
fn count_by_steps(plan: &str) -> nix::Result<f64> {
    let mut child = child(&mut Command::new(std::env::current_exe().unwrap()), plan);
    let counts = step(&mut child);
    child.kill().unwrap();
    child.wait().unwrap();
    let [short, long] = counts?;
    Ok((long - short) as f64 / (LONG - SHORT) as f64)
}

/// The steps between the child's three stops. Its test may run in any thread, which it names.
fn step(child: &mut Child) -> nix::Result<[u64; 2]> {
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let thread = Pid::from_raw(line.trim().parse().unwrap());
    let wait = || waitpid(thread, Some(WaitPidFlag::__WALL));
    ptrace::attach(thread)?;
    wait()?;
    ptrace::cont(thread, None)?;
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    let mut counts = [0; 2];
    assert_eq!(wait()?, WaitStatus::Stopped(thread, Signal::SIGSTOP));
    for count in &mut counts {
        loop {
            ptrace::step(thread, None)?;
            match wait()? {
                WaitStatus::Stopped(_, Signal::SIGTRAP) => *count += 1,
                WaitStatus::Stopped(_, Signal::SIGSTOP) => break,
                other => panic!("the child did not stop but: {other:?}"),
            }
        }
    }
    // A thread that dies under its tracer would keep its process from being waited for.
    ptrace::detach(thread, Some(Signal::SIGKILL))?;
    Ok(counts)
}

/// Instructions for one block in every lane, as callgrind counts them.
fn count_by_callgrind(plan: &str) -> f64 {
    let [short, long] = [SHORT, LONG_FOR_CALLGRIND].map(|blocks| {
        let mut command = Command::new("valgrind");
        command
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(std::env::current_exe().unwrap())
            .env("LANESUM_INSTRUCTIONS_BLOCKS", blocks.to_string());
        let output = child(&mut command, plan).wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        let collected = text.lines().find_map(|line| line.split_once("Collected : "));
        let (_, count) = collected.unwrap_or_else(|| panic!("callgrind: {text}"));
        count.trim().parse::<f64>().unwrap()
    });
    (long - short) / (LONG_FOR_CALLGRIND - SHORT) as f64
}

/// A record: what [`parse`] reads.
fn text(compiler: &str, counts: &BTreeMap<String, f64>) -> String {
    let mut text = format!("{compiler}\n");
    for (row, count) in counts {
        writeln!(text, "{row} {count:.1}").unwrap();
    }
    text
}

/// The compiler and the counts of a record: a line `rustc VERSION`, then lines `[LATENCY ]BACKEND
/// LANES COUNT`.
fn parse(record: &str) -> (&str, BTreeMap<&str, f64>) {
    let mut lines = record.lines();
    let compiler = lines.next().unwrap_or_default();
    let counts = lines.map(|line| {
        let (plan, count) = line.rsplit_once(' ').unwrap();
        (plan, count.parse().unwrap())
    });
    (compiler, counts.collect())
}

/// `rustc 1.95.0`, without the hash and the date.
fn rustc_version() -> String {
    let output = Command::new("rustc").arg("--version").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_whitespace().take(2).collect::<Vec<_>>().join(" ")
}
