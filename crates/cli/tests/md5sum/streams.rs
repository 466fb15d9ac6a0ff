//! The output streams: full disks, readers that leave, order, promptness.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::{ABC, EMPTY, expect, folder, md5sum, write};

fn full() -> File {
    OpenOptions::new().write(true).open("/dev/full").unwrap()
}

#[test]
fn a_full_disk_ends_the_run() {
    let folder = folder();
    write(&folder, "list", format!("{ABC}  abc\n{ABC}  gone\n{ABC}  abc\n"));
    for args in ["abc", "-c --status abc -w list"] {
        let output = md5sum(&folder).args(args.split(' ')).stdout(full()).output().unwrap();
        let last = "md5sum: write error: No space left on device\n";
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.ends_with(last), "{stderr}");
        assert_eq!(stderr.matches("write error").count(), 1, "{stderr}");
        assert_eq!(output.status.code(), Some(1));
    }
}

#[test]
fn a_reader_that_went_away_ends_it_by_signal() {
    let folder = folder();
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let output = md5sum(&folder).arg("abc").stdout(writer).output().unwrap();
    let sigpipe = 13;
    assert_eq!((output.status.signal(), output.stderr.as_slice()), (Some(sigpipe), &b""[..]));
}

#[test]
fn a_message_that_is_lost_shows_in_the_exit_code() {
    let folder = folder();
    write(&folder, "list", format!("{ABC}  abc\nnonsense\n"));
    let output = md5sum(&folder).args(["-c", "list"]).stderr(full()).output().unwrap();
    expect(&output, 1, "abc: OK\n", "");
}

#[test]
fn both_streams_in_one_file_keep_their_order() {
    let folder = folder();
    write(&folder, "list", format!("{ABC}  abc\n{ABC}  gone\nnonsense\n{EMPTY}  empty\n"));
    let log = File::create(folder.path().join("log")).unwrap();
    let status = md5sum(&folder)
        .args(["-cw", "list"])
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(1));
    assert_eq!(
        fs::read_to_string(folder.path().join("log")).unwrap(),
        "abc: OK\n\
         md5sum: gone: No such file or directory\n\
         gone: FAILED open or read\n\
         md5sum: list: 3: improperly formatted MD5 checksum line\n\
         empty: OK\n\
         md5sum: WARNING: 1 line is improperly formatted\n\
         md5sum: WARNING: 1 listed file could not be read\n"
    );
}

/// The ends of a pipe of which a test reads lines while the program runs. The timeout is only
/// so that a line that never comes fails the test instead of hanging it.
fn watched_pipe() -> (BufReader<UnixStream>, OwnedFd) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    (BufReader::new(ours), theirs.into())
}

fn next_line(reader: &mut impl BufRead) -> String {
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    line
}

#[test]
fn a_line_is_there_as_soon_as_its_file_is_done() {
    let folder = folder();
    let (mut reader, writer) = watched_pipe();
    let (input, mut feed) = io::pipe().unwrap();
    let mut child =
        md5sum(&folder).args(["abc", "empty", "-"]).stdin(input).stdout(writer).spawn().unwrap();
    assert_eq!(next_line(&mut reader), format!("{ABC}  abc\n"));
    assert_eq!(next_line(&mut reader), format!("{EMPTY}  empty\n"));
    feed.write_all(b"abc").unwrap();
    drop(feed);
    assert_eq!(next_line(&mut reader), format!("{ABC}  -\n"));
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_line_of_a_list_is_checked_before_the_next_is_written() {
    let folder = folder();
    let (mut reader, writer) = watched_pipe();
    let (input, mut feed) = io::pipe().unwrap();
    let mut child = md5sum(&folder)
        .arg("-c")
        .stdin(input)
        .stdout(writer)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    for (digest, name, result) in [(ABC, "abc", "OK"), (ABC, "empty", "FAILED")] {
        feed.write_all(format!("{digest}  {name}\n").as_bytes()).unwrap();
        assert_eq!(next_line(&mut reader), format!("{name}: {result}\n"));
    }
    drop(feed);
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

/// Several that write to one pipe must not mix their lines: a write of at most `PIPE_BUF`
/// bytes is never torn. A datagram socket shows the writes one by one.
#[test]
fn lines_are_written_whole_and_in_pieces_that_a_pipe_keeps_together() {
    const FILES: usize = 2000;
    const PIPE_BUF: usize = 4096;
    let folder = folder();
    let (ours, theirs) = UnixDatagram::pair().unwrap();
    // Only so that a lost line fails the test instead of hanging it.
    ours.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut child =
        md5sum(&folder).args(["abc"; FILES]).stdout(OwnedFd::from(theirs)).spawn().unwrap();
    let mut printed = Vec::new();
    let mut piece = [0; 1 << 16];
    while printed.iter().filter(|&&byte| byte == b'\n').count() < FILES {
        let length = match ours.recv(&mut piece) {
            // A call with a time limit is not restarted when the process was stopped for a moment.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            received => received.unwrap(),
        };
        assert!(length <= PIPE_BUF && piece[..length].ends_with(b"\n"), "{length}");
        printed.write_all(&piece[..length]).unwrap();
    }
    assert!(child.wait().unwrap().success());
    assert_eq!(printed, format!("{ABC}  abc\n").repeat(FILES).as_bytes());
}

/// Many inputs that are no regular files wait for their turn, with fewer descriptors than there are
/// of them.
#[test]
fn more_devices_than_descriptors() {
    let folder = folder();
    let line = "ulimit -n 64; exec \"$0\" md5sum \"$@\"";
    let output = Command::new("/bin/sh")
        .args(["-c", line, env!("CARGO_BIN_EXE_lanesum")])
        .args(["/dev/null"; 500])
        .current_dir(&folder)
        .output()
        .unwrap();
    expect(&output, 0, &format!("{EMPTY}  /dev/null\n").repeat(500), "");
}
