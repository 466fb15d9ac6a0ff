//! The program as its users see it: what it prints, its exit codes, and what it leaves behind.

mod bad_input;
mod bag_create;
mod bag_peers;
mod bag_update;
mod bag_validate;
mod catalog;
mod changes;
mod check;
mod check_doc;
mod closed;
mod compare;
mod convert;
mod etag;
mod files0;
mod filters;
mod formats;
mod generate;
mod keyed;
mod kinds;
mod life;
mod limits;
mod list_hints;
mod lists;
mod memory;
mod mistakes;
mod names;
mod output;
#[cfg(feature = "page")]
mod page;
mod peers;
mod progress;
mod records;
mod resume;
mod serve;
mod side_files;
mod signals;
mod skipped;
mod speed;
mod standing;
mod steer;
mod stores;
mod sum;
mod trouble;
mod units;
mod ways;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufReader, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process};

/// MD5 of the text `abc`, from RFC 1321.
const ABC: &str = "900150983cd24fb0d6963f7d28e17f72";
/// MD5 of nothing, from RFC 1321.
const EMPTY: &str = "d41d8cd98f00b204e9800998ecf8427e";

/// A program that hangs is killed after so long, far longer than any run here takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// A folder to run in, which goes away with the test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// In memory where the system offers that: for files whose blocks nobody needs on a disk.
    fn in_memory() -> Self {
        tempfile::tempdir_in("/dev/shm").map_or_else(|_| Self::new(), Self)
    }

    /// A folder of these files; each holds its own path. A path that ends in `/` is a folder.
    fn of(paths: &[&str]) -> Self {
        let folder = Self::new();
        for path in paths {
            match path.strip_suffix('/') {
                Some(path) => fs::create_dir_all(folder.path(path)).unwrap(),
                None => folder.write(path, path),
            }
        }
        folder
    }

    fn path(&self, name: impl AsRef<[u8]>) -> PathBuf {
        self.0.path().join(OsStr::from_bytes(name.as_ref()))
    }

    fn write(&self, name: impl AsRef<[u8]>, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn read(&self, name: &str) -> String {
        String::from_utf8(fs::read(self.path(name)).unwrap()).unwrap()
    }

    fn link(&self, target: &str, name: &str) {
        std::os::unix::fs::symlink(target, self.path(name)).unwrap();
    }

    fn fifo(&self, name: &str) {
        let mode = Mode::RUSR | Mode::WUSR;
        mknodat(CWD, self.path(name), FileType::Fifo, mode, 0).unwrap();
    }

    /// Opens a FIFO for writing once the program has opened it for reading.
    fn writer(&self, fifo: &str) -> File {
        File::options().write(true).open(self.path(fifo)).unwrap()
    }

    /// The names in the folder, sorted.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// A program that runs in the folder, in the C locale, and with nothing to read.
    fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.0).env_remove("LANESUM_BACKEND").env("LC_ALL", "C");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// `lanesum` with these arguments.
    fn lanesum<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Command {
        let mut command = self.command(PROGRAM);
        command.args(args);
        command
    }

    /// Runs `lanesum` with arguments that hold no blanks.
    #[track_caller]
    fn run(&self, args: &str) -> Output {
        output(&mut self.lanesum(args.split_whitespace()))
    }

    /// Runs `lanesum` with arguments that hold no blanks and this on standard input.
    #[track_caller]
    fn run_with_stdin(&self, args: &str, stdin: impl AsRef<[u8]> + Send) -> Output {
        let mut command = self.lanesum(args.split_whitespace());
        let mut running = start(command.stdin(Stdio::piped()));
        let mut pipe = running.stdin();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // The program need not read on once it knows enough.
                let _ = pipe.write_all(stdin.as_ref());
            });
            running.finish()
        })
    }
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_lanesum");

/// Runs a command to its end.
fn output(command: &mut Command) -> Output {
    start(command).finish()
}

/// Starts a command under a watch: should it hang, it is killed and the tests end, since some test
/// waits for what it does.
fn start(command: &mut Command) -> Running {
    let child = command.spawn().unwrap();
    let (watch, end) = mpsc::channel();
    let (pid, words) = (pid(&child), format!("{command:?} hangs"));
    std::thread::spawn(move || {
        if end.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
            let _ = kill_process(pid, Signal::KILL);
            // Past what the test run holds back, or it would go with it.
            let _ = writeln!(io::stderr(), "{words}");
            std::process::exit(1);
        }
    });
    Running { child, _watch: watch }
}

/// A program under a watch, which ends with this value.
struct Running {
    child: Child,
    _watch: mpsc::Sender<()>,
}

impl Running {
    fn finish(self) -> Output {
        self.child.wait_with_output().unwrap()
    }

    fn stdin(&mut self) -> ChildStdin {
        self.child.stdin.take().unwrap()
    }

    fn stdout(&mut self) -> BufReader<ChildStdout> {
        BufReader::new(self.child.stdout.take().unwrap())
    }

    fn stderr(&mut self) -> ChildStderr {
        self.child.stderr.take().unwrap()
    }

    fn signal(&self, signal: Signal) {
        kill_process(pid(&self.child), signal).unwrap();
    }

    /// The most memory that the program has had resident so far, in KiB, less what of its code and
    /// of other files on a disk is mapped now: how much of that is resident is up to the system.
    fn peak_memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let of = |name: &str| -> u64 {
            let words = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            words.trim().strip_suffix(" kB").unwrap().parse().unwrap()
        };
        of("VmHWM:") - of("RssFile:")
    }
}

fn pid(child: &Child) -> Pid {
    Pid::from_child(child)
}

/// Holds what a run printed and its exit code against what is expected.
#[track_caller]
fn expect(output: &Output, code: i32, stdout: impl AsRef<[u8]>, stderr: impl AsRef<[u8]>) {
    assert_eq!(text(&output.stderr), text(stderr.as_ref()), "standard error");
    assert_eq!(text(&output.stdout), text(stdout.as_ref()), "standard output");
    assert_eq!(output.status.code(), Some(code), "exit code");
}

/// Bytes as something to read in the message of an assertion.
fn text(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string().replace("\\n", "\n").replace("\\'", "'")
}

/// MD5 by an independent implementation, in hexadecimal digits.
fn md5(content: impl AsRef<[u8]>) -> String {
    use ::md5::Digest as _;
    hex(&::md5::Md5::digest(content))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The untagged line of a file of such a content.
fn line(content: impl AsRef<[u8]>, name: &str) -> String {
    format!("{}  {name}\n", md5(content))
}

/// The lines of files that hold their own paths.
fn lines(paths: &[&str]) -> String {
    paths.iter().map(|path| line(path, path)).collect()
}

/// Bytes that differ between neighbours and between blocks.
fn bytes(length: usize) -> Vec<u8> {
    // Without optimisation, megabytes take seconds one by one.
    let mut bytes = (0..251).collect::<Vec<u8>>().repeat(length / 251 + 1);
    bytes.truncate(length);
    bytes
}

/// Takes away from what this thread runs what root may do with any file, whatever its mode.
fn obey_modes() {
    use rustix::thread::{CapabilitySet, remove_capability_from_bounding_set};
    if rustix::process::geteuid().is_root() {
        for right in [CapabilitySet::DAC_OVERRIDE, CapabilitySet::DAC_READ_SEARCH] {
            remove_capability_from_bounding_set(right).unwrap();
        }
    }
}

/// Tells why a test proves nothing on this machine, past what the test run holds back.
fn skip(why: &str) {
    // There is nobody else to tell.
    let _ = writeln!(io::stderr(), "skipped: {why}");
}

/// Whether a path is there, a link that leads nowhere included.
fn exists(path: impl AsRef<Path>) -> bool {
    fs::symlink_metadata(path).is_ok()
}
