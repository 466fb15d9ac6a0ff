//! Standard streams that are closed, and a SIGPIPE that is ignored, as a shell or a supervisor
//! leaves them.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::{ABC, expect, folder, write};

const STDIN: &str = "md5sum: standard input: Bad file descriptor\n";
const WRITE_ERROR: &str = "md5sum: write error: Bad file descriptor\n";

/// A line of the shell, in which `md5sum` is the program.
fn shell(folder: &TempDir, line: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    let line = format!("md5sum() {{ \"$PROGRAM\" md5sum \"$@\"; }}; {line}");
    command.arg("-c").arg(line).current_dir(folder).stdin(Stdio::null());
    command.env_clear().env("LC_ALL", "C").env("PROGRAM", env!("CARGO_BIN_EXE_lanesum"));
    command
}

fn run(folder: &TempDir, line: &str) -> Output {
    shell(folder, line).output().unwrap()
}

fn with_lists() -> TempDir {
    let folder = folder();
    write(&folder, "list", format!("{ABC}  abc\n"));
    write(&folder, "warns", format!("{ABC}  abc\nnonsense\n"));
    write(&folder, "names stdin", format!("{ABC}  -\n"));
    folder
}

#[test]
fn closed_standard_output_fails() {
    let folder = with_lists();
    for args in ["abc", "-c list", "--help", "--version", "abc -z empty", "- </dev/null"] {
        expect(&run(&folder, &format!("md5sum {args} >&-")), 1, "", WRITE_ERROR);
        expect(&run(&folder, &format!("md5sum {args} 2>&1 >&-")), 1, WRITE_ERROR, "");
    }
    // Open, but not for writing.
    expect(&run(&folder, "md5sum abc 1</dev/null"), 1, "", WRITE_ERROR);
}

#[test]
fn nothing_to_print_needs_no_stream() {
    let folder = with_lists();
    for args in ["-c --status list", "-c --quiet list"] {
        expect(&run(&folder, &format!("md5sum {args} <&- >&- 2>&-")), 0, "", "");
    }
    let missing = "md5sum: gone: No such file or directory\n";
    expect(&run(&folder, "md5sum gone >&-"), 1, "", missing);
    expect(&run(&folder, "md5sum -c --status gone >&-"), 1, "", missing);
}

#[test]
fn closed_standard_input_fails() {
    let folder = with_lists();
    let bad = format!("md5sum: -: Bad file descriptor\n{STDIN}");
    expect(&run(&folder, "md5sum <&-"), 1, "", &bad);
    let abc = format!("{ABC}  abc\n");
    expect(&run(&folder, "md5sum abc - abc <&-"), 1, &abc.repeat(2), &bad);
    expect(&run(&folder, "md5sum abc <&-"), 0, &abc, "");
    let list = format!("md5sum: 'standard input': read error\n{STDIN}");
    expect(&run(&folder, "md5sum -c <&-"), 1, "", &list);
    expect(&run(&folder, "md5sum -c list - <&-"), 1, "abc: OK\n", &list);
    expect(
        &run(&folder, "md5sum -c 'names stdin' <&-"),
        1,
        "-: FAILED open or read\n",
        &format!(
            "md5sum: -: Bad file descriptor\n\
             md5sum: WARNING: 1 listed file could not be read\n{STDIN}"
        ),
    );
    // Nor does another name of the stream lead to anything.
    let output = run(&folder, "md5sum /dev/stdin <&-");
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), &b""[..]));
}

#[test]
fn a_message_that_is_told_to_nobody_is_an_error() {
    let folder = with_lists();
    expect(&run(&folder, "md5sum -c warns 2>&-"), 1, "abc: OK\n", "");
    expect(&run(&folder, "md5sum -c --status warns 2>&-"), 0, "", "");
    expect(&run(&folder, "md5sum abc 2>&-"), 0, &format!("{ABC}  abc\n"), "");
}

/// Runs a line of the shell whose output nobody reads.
fn unread(folder: &TempDir, line: &str) -> Output {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    shell(folder, line).stdout(writer).output().unwrap()
}

#[test]
fn where_sigpipe_is_ignored_a_reader_that_went_away_is_an_error() {
    let folder = with_lists();
    let error = "md5sum: write error: Broken pipe\n";
    for args in ["abc", "-c list", "--help"] {
        expect(&unread(&folder, &format!("trap '' PIPE; md5sum {args}")), 1, "", error);
    }
}

#[test]
fn a_message_that_nobody_reads_ends_it_by_signal() {
    let folder = with_lists();
    let sigpipe = 13;
    for args in ["abc", "gone", "-c warns", "--nonsense"] {
        let line = format!("exec \"$PROGRAM\" md5sum {args} 2>&1");
        assert_eq!(unread(&folder, &line).status.signal(), Some(sigpipe), "{args}");
    }
}
