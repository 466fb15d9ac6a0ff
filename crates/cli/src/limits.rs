//! The limits of a run when memory is limited by `ulimit -v` or `ulimit -d`.
//!
//! A refused allocation usually makes a run slower and does not fail it. But a thread that starts
//! with the last addresses has no memory for its own first steps, and then the process ends. So
//! there are only as many threads as fit.

use std::fs;
use std::io;
use std::num::NonZero;
use std::thread;

use lanesum_checksum::engine::Io;
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

const MIB: u64 = 1 << 20;

/// The memory for everything but the workers: waiting outcomes, jobs, and the threads of the bar,
/// of signals and of standard output.
const REST: u64 = 24 * MIB;

/// The memory that must remain for a further thread: its stack and the minimum of everything else.
const ENOUGH: u64 = 12 * MIB;

/// Called once, before there is a second thread.
pub fn prepare() {
    if is_limited(Resource::As) || is_limited(Resource::Data) {
        crate::startup::keep_one_arena();
    }
}

/// Returns the number of workers for a requested number, as in
/// [`threads`](lanesum_checksum::engine::Options::threads), where 0 is one for each CPU.
pub fn threads(asked: Option<usize>, io: Io) -> usize {
    let Some(left) = left() else { return asked.unwrap_or(0) };
    let each_cpu = || thread::available_parallelism().map_or(1, NonZero::get);
    fitting(asked.unwrap_or_else(each_cpu), left, io)
}

/// Returns the method to read files. If memory is limited, there is no trial of the fastest method.
/// Methods that only improve speed are not used if there is no memory for one worker.
pub fn way(asked: Io) -> Io {
    left().map_or(asked, |left| affordable(asked, left))
}

fn affordable(asked: Io, left: u64) -> Io {
    match asked {
        Io::Auto => Io::Read,
        Io::Mmap | Io::Uring if left < REST + worker(asked) => Io::Read,
        // `--io direct` must bypass the cache or fail.
        _ => asked,
    }
}

/// Starts a thread that is optional.
///
/// # Errors
/// The system refuses it, or too little memory would remain.
pub fn spawn(
    name: &str,
    work: impl FnOnce() + Send + 'static,
) -> io::Result<thread::JoinHandle<()>> {
    if left().is_some_and(|left| left < ENOUGH) {
        return Err(Errno::NOMEM.into());
    }
    thread::Builder::new().name(name.into()).spawn(work)
}

fn fitting(asked: usize, left: u64, io: Io) -> usize {
    let fit = left.saturating_sub(REST) / worker(io);
    asked.min(usize::try_from(fit).unwrap_or(usize::MAX)).max(1)
}

/// Returns the maximum memory of a worker in bytes: its stack and that of the serial thread, the
/// buffers of its lanes, its memory for small files, and that of the read method.
const fn worker(io: Io) -> u64 {
    const USUAL: u64 = 14 * MIB;
    match io {
        Io::Auto | Io::Read => USUAL,
        Io::Direct | Io::Uring => USUAL + 10 * MIB,
        // Mapped windows; other methods need less.
        _ => USUAL + 32 * MIB,
    }
}

/// Returns the bytes that the process may still allocate, or None without a limit.
fn left() -> Option<u64> {
    [(Resource::As, "VmSize:"), (Resource::Data, "VmData:")]
        .into_iter()
        .filter_map(|(resource, used)| {
            Some(getrlimit(resource).current?.saturating_sub(memory(used)))
        })
        .min()
}

fn is_limited(resource: Resource) -> bool {
    getrlimit(resource).current.is_some()
}

/// Returns the bytes of this process from a line of `/proc/self/status`.
fn memory(line: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    // About the size at the start of the process.
    in_status(&status, line).unwrap_or(16 * MIB)
}

fn in_status(status: &str, line: &str) -> Option<u64> {
    let rest = status.lines().find_map(|it| it.strip_prefix(line))?;
    Some(rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_workers_as_fit_but_one() {
        assert_eq!(fitting(8, 1000 * MIB, Io::Read), 8);
        assert_eq!(fitting(8, 100 * MIB, Io::Read), 5);
        assert_eq!(fitting(8, 100 * MIB, Io::Mmap), 1);
        assert_eq!(fitting(8, 0, Io::Direct), 1);
        assert_eq!(fitting(1, u64::MAX, Io::Auto), 1);
        assert_eq!(affordable(Io::Mmap, 100 * MIB), Io::Mmap);
        assert_eq!(affordable(Io::Mmap, 60 * MIB), Io::Read);
        assert_eq!(affordable(Io::Direct, 0), Io::Direct);
    }

    #[test]
    fn memory_of_the_process_is_read() {
        let status = "Name:\tx\nVmPeak:\t    9 kB\nVmSize:\t    4404 kB\n";
        assert_eq!(in_status(status, "VmSize:"), Some(4404 << 10));
        assert_eq!(in_status(status, "VmData:"), None);
        assert!(in_status(&fs::read_to_string("/proc/self/status").unwrap(), "VmData:").is_some());
    }
}
