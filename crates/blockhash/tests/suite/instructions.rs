//! How many instructions a block takes in every kernel, held to a record: a spilled register or a
//! vector instruction that the compiler no longer finds shows here, on any machine, without a
//! clock.
//!
//! A test starts its executable as a child that hashes [`SHORT`] blocks in each lane and then
//! [`LONG`], and counts the instructions of each by letting the child go one step at a time under
//! ptrace. The difference is the kernel's alone. Where valgrind is installed, its tool callgrind
//! counts one kernel a second time, and both must agree. It knows neither AVX-512 nor the SHA
//! instructions, hence the steps.
//!
//! A row of a record is a kernel and its count: `SHA-256 avx2 8 3442.0`. Which words run in AVX-512
//! depends on the CPU's latencies (`lanes/src/x86_64/latency.rs`), so its rows name one. Each child
//! chooses as such a CPU would, so that any CPU with AVX-512 counts for all of them.
//!
//! `make test-instructions` runs this with the optimisation of a release; only those counts mean
//! anything. `make record-instructions` writes the records again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::num::NonZero;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use lanesum_blockhash::{Backend, BlockHash, Bytes, Plan};
use lanesum_lanes::{Blocks, Latency, MAX_LANES, ShaInstructions};
use nix::errno::Errno;
use nix::sys::ptrace;
use nix::sys::signal::{Signal, raise};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, gettid};

/// Makes the tests of a crate: of some [`Kernels`], and the record in its file `instructions.txt`.
macro_rules! instructions {
    ($record:expr, $($kernels:expr),+) => {
        const KERNELS: &[instructions::Kernels] = &[$($kernels),+];

        #[test]
        fn a_block_takes_as_many_instructions_as_recorded() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/instructions.txt");
            instructions::compare(KERNELS, $record, path);
        }

        #[test]
        fn callgrind_counts_the_same() {
            instructions::compare_with_callgrind(KERNELS);
        }

        #[test]
        #[ignore = "only as the child of the tests above"]
        fn workload() {
            instructions::workload(KERNELS);
        }
    };
}

/// Blocks in each lane, in the two runs of a child. Few, as a step takes microseconds.
const SHORT: usize = 2;
const LONG: usize = 6;
/// The long run under callgrind, which counts whole processes: the thousands of instructions by
/// which these differ from one to the next must not matter.
const LONG_FOR_CALLGRIND: usize = 4_002;

/// The fraction by which a count may differ from the record of the same compiler, and of another
/// one.
const TOLERANCE: f64 = 0.02;
const TOLERANCE_OF_ANOTHER_COMPILER: f64 = 0.25;

/// Set for the child: the row to count.
const ROW: &str = "LANESUM_INSTRUCTIONS_ROW";
/// Set for a child under callgrind: the number of blocks.
const BLOCKS: &str = "LANESUM_INSTRUCTIONS_BLOCKS";

/// The name of a row's backend if the kernel is that of the SHA instructions.
const SHA: &str = "sha";

/// The kernels of a hash function.
#[derive(Clone, Copy)]
pub struct Kernels {
    name: &'static str,
    /// Whether one of them uses the SHA instructions.
    uses_sha: bool,
    width: fn(Backend, usize) -> usize,
    hash: fn(&[u8], Backend, usize, usize),
}

impl Kernels {
    pub const fn of<H: BlockHash>(uses_sha: bool) -> Self {
        Self { name: H::NAME, uses_sha, width: H::width, hash: hash::<H> }
    }

    /// Returns the widths that are used on the CPU that this process pretends to be.
    fn widths(self, backend: Backend) -> BTreeSet<usize> {
        (1..=MAX_LANES).map(|lanes| (self.width)(backend, lanes)).collect()
    }

    /// Returns the row of every kernel that this CPU can run.
    fn rows(self) -> BTreeSet<String> {
        let mut rows = BTreeSet::new();
        ShaInstructions::None.pretend();
        for latency in Latency::ALL {
            latency.pretend();
            for backend in Backend::available() {
                let depends = backend.name() == "avx512";
                let latency = if depends { format!("{latency:?} ") } else { String::new() };
                let widths = self.widths(backend).into_iter();
                rows.extend(
                    widths.map(|width| format!("{} {latency}{backend} {width}", self.name)),
                );
            }
        }
        for instructions in ShaInstructions::ALL.into_iter().filter(|_| self.uses_sha) {
            instructions.pretend();
            for backend in Backend::available() {
                let is_by_sha = |width: &usize| backend.sha_streams().contains(width);
                let widths = self.widths(backend).into_iter().filter(is_by_sha);
                rows.extend(widths.map(|width| format!("{} {SHA} {width}", self.name)));
            }
        }
        rows
    }
}

/// Hashes some blocks of a message in as many lanes as the kernel has.
fn hash<H: BlockHash>(message: &[u8], backend: Backend, width: usize, blocks: usize) {
    let units = H::Tail::LEN / 128;
    let mut inputs = [&message[..0]; MAX_LANES];
    let lanes = inputs.iter_mut().enumerate();
    lanes.for_each(|(lane, input)| *input = &message[64 * lane..][..64 * units * blocks]);
    let mut states = [H::INITIAL; MAX_LANES];
    let blocks = &[[Blocks::new(&inputs, blocks * units), Blocks::NONE]];
    H::run(Plan { blocks, last: None, states: &mut states[..width] }, backend, width);
    std::hint::black_box(&mut states);
}

/// Counts the instructions of all kernels, and compares them with the record in a file, whose
/// contents are `record`.
pub fn compare(all: &[Kernels], record: &str, path: &str) {
    if cfg!(debug_assertions) {
        println!("SKIPPED: only a release's instructions count; `make test-instructions` does");
        return;
    }
    let (compiler, recorded) = parse(record);
    let counted = match count_all(all.iter().flat_map(|kernels| kernels.rows()).collect()) {
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
        all.extend(counted);
        std::fs::write(path, text(&own_compiler, &all)).unwrap();
        return;
    }
    assert!(counted.keys().any(|row| recorded.contains_key(row.as_str())), "nothing is recorded");
    let tolerance =
        if own_compiler == compiler { TOLERANCE } else { TOLERANCE_OF_ANOTHER_COMPILER };
    let mut wrong = String::new();
    for (row, count) in counted {
        let Some(expected) = recorded.get(row.as_str()) else {
            println!("no record of {row}: `make record-instructions` on this machine makes one");
            continue;
        };
        let change = count / expected - 1.0;
        if change.abs() > tolerance {
            writeln!(wrong, "{row}: {count:.1}, {:+.1} % of {expected}", change * 100.0).unwrap();
        }
    }
    assert!(
        wrong.is_empty(),
        "instructions for a block in every lane differ from tests/instructions.txt:\n{wrong}\
         more: look for spills (objdump -d); meant: `make record-instructions`"
    );
}

/// Counts one kernel of each hash function a second time, by callgrind.
pub fn compare_with_callgrind(all: &[Kernels]) {
    if cfg!(debug_assertions) {
        println!("SKIPPED: only a release's instructions count; `make test-instructions` does");
        return;
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("SKIPPED: valgrind is not installed");
        return;
    }
    ShaInstructions::None.pretend();
    let mut backends = Backend::available().filter(|backend| backend.name() != "avx512");
    let backend = backends.next_back().expect("a backend");
    for kernels in all {
        let row = format!("{} {backend} {}", kernels.name, (kernels.width)(backend, MAX_LANES));
        let Ok(stepped) = count_by_steps(&row) else {
            println!("SKIPPED: this machine does not let a process be stepped");
            return;
        };
        let counted = count_by_callgrind(&row);
        let difference = (counted / stepped - 1.0).abs();
        assert!(difference < TOLERANCE, "{row}: callgrind {counted:.1}, stepped {stepped:.1}");
    }
}

/// Counts the instructions for one block in every lane, for all rows, by single steps on all CPUs.
fn count_all(rows: BTreeSet<String>) -> nix::Result<BTreeMap<String, f64>> {
    let rows = Mutex::new(rows.into_iter());
    let next = || rows.lock().unwrap().next();
    let work = || std::iter::from_fn(next).map(|row| count_by_steps(&row).map(|n| (row, n)));
    std::thread::scope(|scope| {
        let cpus = std::thread::available_parallelism().map_or(1, NonZero::get);
        let workers: Vec<_> =
            (0..cpus).map(|_| scope.spawn(|| work().collect::<nix::Result<Vec<_>>>())).collect();
        let counts = workers.into_iter().map(|worker| worker.join().unwrap());
        counts.collect::<nix::Result<Vec<_>>>().map(|all| all.into_iter().flatten().collect())
    })
}

/// The child's side: the test `workload`.
pub fn workload(all: &[Kernels]) {
    let Ok(row) = std::env::var(ROW) else { return };
    let words: Vec<_> = row.split(' ').collect();
    let (name, [.., backend, width]) = (words[0], &words[..]) else { panic!("{row}") };
    let is_named = |latency: &Latency| words.contains(&format!("{latency:?}").as_str());
    Latency::ALL.into_iter().find(is_named).unwrap_or(Latency::One).pretend();
    let backend = if *backend == SHA {
        // Any number of streams.
        ShaInstructions::ForFour.pretend();
        Backend::best()
    } else {
        ShaInstructions::None.pretend();
        Backend::from_name(backend).expect("a backend of this CPU")
    };
    let kernels = all.iter().find(|kernels| kernels.name == name).expect("a hash function");
    let message = vec![7; 128 * LONG_FOR_CALLGRIND + 64 * MAX_LANES];
    let width = width.parse().unwrap();
    let hash = |blocks| (kernels.hash)(&message, backend, width, blocks);
    match std::env::var(BLOCKS) {
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

/// Starts this executable as the child.
fn child(command: &mut Command, row: &str) -> Child {
    command
        .args(["--exact", "workload", "--ignored", "--nocapture", "--test-threads=1"])
        .env(ROW, row)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Counts the instructions for one block in every lane, by single steps.
fn count_by_steps(row: &str) -> nix::Result<f64> {
    let mut child = child(&mut Command::new(std::env::current_exe().unwrap()), row);
    let counts = step(&mut child);
    child.kill().unwrap();
    child.wait().unwrap();
    let [short, long] = counts?;
    Ok((long - short) as f64 / (LONG - SHORT) as f64)
}

/// Counts the steps between the child's three stops. Its test may run in any thread, which it
/// names.
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

/// Returns the instructions for one block in every lane, as callgrind counts them.
fn count_by_callgrind(row: &str) -> f64 {
    let [short, long] = [SHORT, LONG_FOR_CALLGRIND].map(|blocks| {
        let mut command = Command::new("valgrind");
        command
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(std::env::current_exe().unwrap())
            .env(BLOCKS, blocks.to_string());
        let output = child(&mut command, row).wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        let collected = text.lines().find_map(|line| line.split_once("Collected : "));
        let (_, count) = collected.unwrap_or_else(|| panic!("callgrind: {text}"));
        count.trim().parse::<f64>().unwrap()
    });
    (long - short) / (LONG_FOR_CALLGRIND - SHORT) as f64
}

/// Returns a record: what [`parse`] reads.
fn text(compiler: &str, counts: &BTreeMap<String, f64>) -> String {
    let mut text = format!("{compiler}\n");
    for (row, count) in counts {
        writeln!(text, "{row} {count:.1}").unwrap();
    }
    text
}

/// Returns the compiler and the counts of a record: a line `rustc VERSION`, then lines `HASH
/// [LATENCY ]BACKEND LANES COUNT`.
fn parse(record: &str) -> (&str, BTreeMap<&str, f64>) {
    let mut lines = record.lines();
    let compiler = lines.next().unwrap_or_default();
    let counts = lines.map(|line| {
        let (row, count) = line.rsplit_once(' ').unwrap();
        (row, count.parse().unwrap())
    });
    (compiler, counts.collect())
}

/// Returns `rustc 1.95.0`, without the hash and the date.
fn rustc_version() -> String {
    let output = Command::new("rustc").arg("--version").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_whitespace().take(2).collect::<Vec<_>>().join(" ")
}
