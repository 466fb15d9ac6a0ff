//! Ordinary life with a catalog: what people do to their files, and what they are told.

mod changes;
mod nights;
mod problems;
mod roots;

use std::fs::{self, File};
use std::process::Output;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::*;

/// 2020-01-01, long before any test.
const LONG_AGO: Duration = Duration::from_secs(1_577_836_800);

/// Runs `lanesum` with the catalog of the folder.
#[track_caller]
fn run(folder: &Folder, args: &str) -> Output {
    let mut command = folder.lanesum(args.split_whitespace());
    output(command.env("LANESUM_CATALOG", folder.path("catalog.db")).env("TZ", "UTC"))
}

/// Runs a command that exits with this code and prints these words, in either stream.
#[track_caller]
fn expect(folder: &Folder, args: &str, code: i32, words: &[&str]) -> String {
    let output = run(folder, args);
    let printed = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{args}: {printed}");
    for words in words {
        assert!(printed.contains(words), "{args}: `{words}` is not in {printed}");
    }
    printed
}

/// Runs a command that exits with 0 and prints nothing.
#[track_caller]
fn expect_silence(folder: &Folder, args: &str) {
    assert_eq!(expect(folder, args, 0, &[]), "", "{args}");
}

/// Writes a file that was last modified in 2020, each name at a time of its own.
fn write_old(folder: &Folder, name: &str, content: impl AsRef<[u8]>) {
    folder.write(name, content);
    let seconds = name.bytes().map(u64::from).sum();
    set_time(folder, name, UNIX_EPOCH + LONG_AGO + Duration::from_secs(seconds));
}

fn set_time(folder: &Folder, name: &str, time: SystemTime) {
    let file = File::options().write(true).open(folder.path(name)).unwrap();
    file.set_modified(time).unwrap();
}

fn time(folder: &Folder, name: &str) -> SystemTime {
    fs::metadata(folder.path(name)).unwrap().modified().unwrap()
}

/// Writes into a file and sets its time back.
fn rewrite(folder: &Folder, name: &str, content: &str) {
    let time = time(folder, name);
    folder.write(name, content);
    set_time(folder, name, time);
}

/// Puts a different file with the same time in the place of a file.
fn replace(folder: &Folder, name: &str, content: &str) {
    let time = time(folder, name);
    let other = format!("{name}.replacement");
    folder.write(&other, content);
    set_time(folder, &other, time);
    rename(folder, &other, name);
}

/// Adds to a file now.
fn edit(folder: &Folder, name: &str) {
    let content = folder.read(name) + "edited";
    folder.write(name, content);
}

fn rename(folder: &Folder, from: &str, to: &str) {
    fs::rename(folder.path(from), folder.path(to)).unwrap();
}

fn remove(folder: &Folder, name: &str) {
    fs::remove_file(folder.path(name)).unwrap();
}

/// Files at these paths, whose directory `d` is recorded with these options.
#[track_caller]
fn recorded_with(options: &str, paths: &[&str]) -> Folder {
    let folder = Folder::new();
    paths.iter().for_each(|path| write_old(&folder, path, format!("content of {path}")));
    expect(&folder, &format!("add {options} d"), 0, &[]);
    folder
}

/// The same, as an archive.
#[track_caller]
fn recorded(paths: &[&str]) -> Folder {
    recorded_with("", paths)
}

/// So many files in the directory `d`.
fn many(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("d/{number:03}")).collect()
}
