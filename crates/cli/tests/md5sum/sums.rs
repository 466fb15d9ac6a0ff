//! Digests of files: lines, styles, names, what cannot be read.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;

use lanesum_md5::Backend;

use crate::{ABC, EMPTY, expect, folder, from_file, md5sum, run, write};

#[test]
fn lines_come_in_the_order_of_the_arguments() {
    let folder = folder();
    expect(
        &run(&folder, "empty abc empty ./abc"),
        0,
        &format!("{EMPTY}  empty\n{ABC}  abc\n{EMPTY}  empty\n{ABC}  ./abc\n"),
        "",
    );
}

#[test]
fn lines_have_the_style_that_is_asked_for() {
    let folder = folder();
    for (args, line) in [
        ("-t abc", format!("{ABC}  abc\n")),
        ("-b abc", format!("{ABC} *abc\n")),
        ("-bt abc", format!("{ABC}  abc\n")),
        ("-tb abc", format!("{ABC} *abc\n")),
        ("-z abc", format!("{ABC}  abc\0")),
        ("--tag abc", format!("MD5 (abc) = {ABC}\n")),
        ("--tag -b abc", format!("MD5 (abc) = {ABC}\n")),
        ("--tag -z abc", format!("MD5 (abc) = {ABC}\0")),
    ] {
        expect(&run(&folder, args), 0, &line, "");
    }
}

#[test]
fn a_name_that_would_break_the_line_is_escaped() {
    let folder = folder();
    let name = "a\nb\rc\\d é";
    write(&folder, name, "");
    for (option, line) in [
        ("-t", format!("\\{EMPTY}  a\\nb\\rc\\\\d é\n")),
        ("--tag", format!("\\MD5 (a\\nb\\rc\\\\d é) = {EMPTY}\n")),
        ("-z", format!("{EMPTY}  {name}\0")),
    ] {
        expect(&md5sum(&folder).args([option, name]).output().unwrap(), 0, &line, "");
    }
}

#[test]
fn a_name_is_bytes() {
    let folder = folder();
    let name = OsStr::from_bytes(b"\xff\x01\t");
    File::create(folder.path().join(name)).unwrap();
    let output = md5sum(&folder).arg(name).output().unwrap();
    assert_eq!(output.stdout, [EMPTY.as_bytes(), b"  \xff\x01\t\n"].concat());
}

#[test]
fn unreadable_file_does_not_stop_the_rest() {
    let folder = folder();
    let args = ["gone", "abc", "dir", "", "a b", "a:b", "empty"];
    expect(
        &md5sum(&folder).args(args).output().unwrap(),
        1,
        &format!("{ABC}  abc\n{EMPTY}  empty\n"),
        "md5sum: gone: No such file or directory\n\
         md5sum: dir: Is a directory\n\
         md5sum: '': No such file or directory\n\
         md5sum: 'a b': No such file or directory\n\
         md5sum: 'a:b': No such file or directory\n",
    );
}

#[test]
fn standard_input_is_called_dash() {
    let folder = folder();
    for args in [&[][..], &["-"], &["--"]] {
        let output = md5sum(&folder).args(args).stdin(from_file(&folder, "abc")).output().unwrap();
        expect(&output, 0, &format!("{ABC}  -\n"), "");
    }
    let twice = md5sum(&folder).args(["-", "-"]).stdin(from_file(&folder, "abc")).output();
    expect(&twice.unwrap(), 0, &format!("{ABC}  -\n{EMPTY}  -\n"), "");
    let output = md5sum(&folder).stdin(from_file(&folder, "dir")).output().unwrap();
    expect(&output, 1, "", "md5sum: -: Is a directory\n");
}

#[test]
fn the_backend_is_chosen_by_the_environment() {
    let folder = folder();
    write(&folder, "list", format!("{ABC}  abc\n"));
    let with = |backend: &str, args: &[&str]| {
        md5sum(&folder).env("LANESUM_BACKEND", backend).args(args).output().unwrap()
    };
    for backend in Backend::available().map(Backend::name) {
        expect(&with(backend, &["abc"]), 0, &format!("{ABC}  abc\n"), "");
        expect(&with(backend, &["-c", "list"]), 0, "abc: OK\n", "");
    }
    // A variable that is set to nothing asks for none.
    expect(&with("", &["abc"]), 0, &format!("{ABC}  abc\n"), "");
    expect(&with("", &["-c", "list"]), 0, "abc: OK\n", "");
    let names: Vec<_> = Backend::available().map(Backend::name).collect();
    let words = format!(
        "md5sum: LANESUM_BACKEND=mmx: expected a backend of this CPU: {}\n",
        names.join(", ")
    );
    expect(&with("mmx", &["abc"]), 1, "", &words);
    expect(&with("mmx", &["-c", "list"]), 1, "", &words);
    assert!(with("mmx", &["--help"]).status.success(), "help needs no backend");
}
