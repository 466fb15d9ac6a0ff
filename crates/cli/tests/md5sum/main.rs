//! The program in the place of GNU md5sum: every text here is what md5sum 9.11 prints.

mod checking;
mod closed;
mod lists;
mod options;
mod streams;
mod sums;

use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

const EMPTY: &str = "d41d8cd98f00b204e9800998ecf8427e";
const ABC: &str = "900150983cd24fb0d6963f7d28e17f72";
const TRY_HELP: &str = "Try 'md5sum --help' for more information.\n";

/// A folder to run in, with the files `abc` and `empty` and the folder `dir`.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("abc"), "abc").unwrap();
    fs::write(folder.path().join("empty"), "").unwrap();
    fs::create_dir(folder.path().join("dir")).unwrap();
    folder
}

/// The program as it is when called through a link, in the C locale and with nothing to read.
fn md5sum(folder: &TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lanesum"));
    command.arg0("md5sum").current_dir(folder).stdin(Stdio::null());
    command.env_clear().env("LC_ALL", "C");
    command
}

/// Runs with arguments that hold no blanks.
fn run(folder: &TempDir, args: &str) -> Output {
    md5sum(folder).args(args.split_whitespace()).output().unwrap()
}

/// Holds what a run printed and its exit code against what is expected.
#[track_caller]
fn expect(output: &Output, code: i32, stdout: &str, stderr: &str) {
    let text = |bytes: &[u8]| bytes.escape_ascii().to_string().replace("\\n", "\n");
    assert_eq!(text(&output.stdout), text(stdout.as_bytes()), "standard output");
    assert_eq!(text(&output.stderr), text(stderr.as_bytes()), "standard error");
    assert_eq!(output.status.code(), Some(code), "exit code");
}

fn write(folder: &TempDir, name: &str, text: impl AsRef<[u8]>) {
    fs::write(folder.path().join(name), text).unwrap();
}

/// Standard input from a file of the folder.
fn from_file(folder: &TempDir, name: impl AsRef<Path>) -> File {
    File::open(folder.path().join(name)).unwrap()
}
