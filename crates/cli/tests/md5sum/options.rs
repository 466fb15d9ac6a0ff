//! The command line: what is refused, in which words, and what the program is called.

use std::os::unix::process::CommandExt as _;

use crate::{ABC, TRY_HELP, expect, folder, md5sum, run, write};

#[test]
fn unknown_option_is_refused() {
    let folder = folder();
    for (args, words) in [
        ("--foo", "unrecognized option '--foo'"),
        ("--foo=bar abc", "unrecognized option '--foo=bar'"),
        ("abc -cx", "invalid option -- 'x'"),
        ("--check=abc", "option '--check' doesn't allow an argument"),
        ("--bin=1", "option '--binary' doesn't allow an argument"),
        ("--st", "option '--st' is ambiguous; possibilities: '--status' '--strict'"),
        ("--t", "option '--t' is ambiguous; possibilities: '--tag' '--text'"),
    ] {
        expect(&run(&folder, args), 1, "", &format!("md5sum: {words}\n{TRY_HELP}"));
    }
}

#[test]
fn contradicting_options_are_refused() {
    let folder = folder();
    for (args, words) in [
        ("-cz abc", "the --zero option is not supported when verifying checksums"),
        ("-c --tag abc", "the --tag option is meaningless when verifying checksums"),
        ("-bc abc", "the --binary and --text options are meaningless when verifying checksums"),
        (
            "--ignore-missing abc",
            "the --ignore-missing option is meaningful only when verifying checksums",
        ),
        ("--status abc", "the --status option is meaningful only when verifying checksums"),
        ("-w abc", "the --warn option is meaningful only when verifying checksums"),
        ("--quiet abc", "the --quiet option is meaningful only when verifying checksums"),
        ("--strict abc", "the --strict option is meaningful only when verifying checksums"),
        // In either order, and last, unlike md5sum 9.9.
        ("--tag --text abc", "--tag does not support --text mode"),
        ("-t --tag abc", "--tag does not support --text mode"),
        ("-cz --tag -t abc", "the --zero option is not supported when verifying checksums"),
    ] {
        expect(&run(&folder, args), 1, "", &format!("md5sum: {words}\n{TRY_HELP}"));
    }
}

#[test]
fn names_of_options_may_be_cut_and_stand_anywhere() {
    let folder = folder();
    write(&folder, "list", format!("{ABC}  abc\n"));
    expect(&run(&folder, "list --che"), 0, "abc: OK\n", "");
    expect(&run(&folder, "abc --ta"), 0, &format!("MD5 (abc) = {ABC}\n"), "");
    expect(&run(&folder, "-- --tag"), 1, "", "md5sum: --tag: No such file or directory\n");
}

#[test]
fn the_first_file_ends_the_options_under_posixly_correct() {
    let folder = folder();
    let output =
        md5sum(&folder).env("POSIXLY_CORRECT", "").args(["-b", "abc", "--tag"]).output().unwrap();
    let stdout = format!("{ABC} *abc\n");
    expect(&output, 1, &stdout, "md5sum: --tag: No such file or directory\n");
}

#[test]
fn the_program_has_the_name_it_was_called_by() {
    let folder = folder();
    let called = |args: &[&str]| md5sum(&folder).arg0("/opt/md5sum").args(args).output();
    expect(
        &called(&["-x"]).unwrap(),
        1,
        "",
        "/opt/md5sum: invalid option -- 'x'\n\
         Try '/opt/md5sum --help' for more information.\n",
    );
    expect(
        &called(&["--strict"]).unwrap(),
        1,
        "",
        "md5sum: the --strict option is meaningful only when verifying checksums\n\
         Try '/opt/md5sum --help' for more information.\n",
    );
    expect(&called(&["gone"]).unwrap(), 1, "", "md5sum: gone: No such file or directory\n");
}

#[test]
fn it_is_a_command_of_lanesum_too() {
    let folder = folder();
    let called = |args: &[&str]| md5sum(&folder).arg0("lanesum").arg("md5sum").args(args).output();
    let stdout = format!("{ABC} *abc\n");
    let stderr = "md5sum: gone: No such file or directory\n";
    expect(&called(&["abc", "gone", "-b"]).unwrap(), 1, &stdout, stderr);
    let stderr = format!("md5sum: unrecognized option '--foo'\n{TRY_HELP}");
    expect(&called(&["--foo"]).unwrap(), 1, "", &stderr);
}

#[test]
fn help_and_version_are_printed_on_standard_output() {
    let folder = folder();
    for (args, start) in [
        ("--help --foo", "Usage: md5sum [OPTION]... [FILE]...\n"),
        ("-cz --version", concat!("md5sum (lanesum) ", env!("CARGO_PKG_VERSION"), "\n")),
    ] {
        let output = run(&folder, args);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.starts_with(start), "{text}");
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
    }
}
