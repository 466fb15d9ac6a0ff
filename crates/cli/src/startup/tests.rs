//! Starts this test program again with closed streams, and reads its report.

use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::process::{Command, Stdio};
use std::{env, fs};

use super::{Stream, keep_closed_streams_closed, sigpipe_was_ignored};

/// Says to the process that it is the inner one, and where to leave what it found.
const REPORT: &str = "LANESUM_STARTUP_REPORT";

/// The inner process, when it is one.
#[test]
fn report() {
    let Some(path) = env::var_os(REPORT) else { return };
    let closed = Stream::ALL.map(Stream::was_closed);
    keep_closed_streams_closed();
    let mut byte = [0];
    let code = |result: std::io::Result<usize>| result.err().and_then(|e| e.raw_os_error());
    let mut file = |fd: std::os::fd::BorrowedFd<'_>| {
        let mut file = fs::File::from(fd.try_clone_to_owned().unwrap());
        [code(file.read(&mut byte)), code(file.write(b""))]
    };
    let errors = [
        file(std::io::stdin().as_fd()),
        file(std::io::stdout().as_fd()),
        file(std::io::stderr().as_fd()),
    ];
    let opens = ["stdin", "stdout"].map(|name| fs::File::open(format!("/dev/{name}")).is_ok());
    let found = format!("{closed:?} {} {errors:?} {opens:?}", sigpipe_was_ignored());
    fs::write(path, found).unwrap();
}

/// The report of the inner process, which a shell starts.
fn found(before: &str, redirections: &str) -> String {
    let folder = env::temp_dir().join(format!("lanesum-startup-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let report = folder.join("report");
    let line =
        format!("{before} exec \"$0\" --exact startup::tests::report --nocapture {redirections}");
    let status = Command::new("sh")
        .args(["-c", &line])
        .arg(env::current_exe().unwrap())
        .env(REPORT, &report)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    let found = fs::read_to_string(&report);
    fs::remove_dir_all(folder).unwrap();
    found.unwrap_or_else(|error| panic!("{error}, {status}"))
}

#[test]
fn closed_streams_and_an_ignored_sigpipe_are_found() {
    const BAD: &str = "[Some(9), Some(9)]";
    const OPEN: &str = "[None, None]";
    // The shell opens /dev/null for reading only, or for writing only.
    assert_eq!(
        found("", "<>/dev/null >/dev/null 1<>/dev/null 2<>/dev/null"),
        format!("[false, false, false] false [{OPEN}, {OPEN}, {OPEN}] [true, true]")
    );
    assert_eq!(
        found("trap '' PIPE;", "<&- 1<>/dev/null 2<>/dev/null"),
        format!("[true, false, false] true [{BAD}, {OPEN}, {OPEN}] [false, true]")
    );
    assert_eq!(
        found("", "<&- >&- 2>&-"),
        format!("[true, true, true] false [{BAD}, {BAD}, {BAD}] [false, false]")
    );
}
