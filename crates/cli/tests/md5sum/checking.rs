//! What the check of a list prints and how it ends.

use tempfile::TempDir;

use crate::{ABC, EMPTY, expect, folder, md5sum, run, write};

/// A folder with a list in which something of every kind is wrong.
fn troubled() -> TempDir {
    let folder = folder();
    let text = format!(
        "{ABC}  abc\nnonsense\n{ABC}  empty\n{ABC}  gone\n{ABC}  dir\n{EMPTY}  abc\nnonsense\n"
    );
    write(&folder, "list", text);
    folder
}

const FAILED: &str = "empty: FAILED\ngone: FAILED open or read\n\
                      dir: FAILED open or read\nabc: FAILED\n";
const UNREAD: &str = "md5sum: gone: No such file or directory\nmd5sum: dir: Is a directory\n";
const WARNINGS: &str = "md5sum: WARNING: 2 lines are improperly formatted\n\
                        md5sum: WARNING: 2 listed files could not be read\n\
                        md5sum: WARNING: 2 computed checksums did NOT match\n";

#[test]
fn everything_wrong_is_told_and_counted() {
    let stdout = format!("abc: OK\n{FAILED}");
    expect(&run(&troubled(), "-c list"), 1, &stdout, &format!("{UNREAD}{WARNINGS}"));
}

#[test]
fn one_is_not_many() {
    let folder = folder();
    write(&folder, "list", format!("{ABC}  empty\nnonsense\n{ABC}  gone\n"));
    expect(
        &run(&folder, "-c list"),
        1,
        "empty: FAILED\ngone: FAILED open or read\n",
        "md5sum: gone: No such file or directory\n\
         md5sum: WARNING: 1 line is improperly formatted\n\
         md5sum: WARNING: 1 listed file could not be read\n\
         md5sum: WARNING: 1 computed checksum did NOT match\n",
    );
}

#[test]
fn the_last_of_quiet_status_and_warn_wins() {
    let folder = troubled();
    let quiet = format!("{UNREAD}{WARNINGS}");
    expect(&run(&folder, "-cw --status --quiet list"), 1, FAILED, &quiet);
    expect(&run(&folder, "-cw --quiet --status list"), 1, "", UNREAD);
    let warned = format!(
        "md5sum: list: 2: improperly formatted MD5 checksum line\n{UNREAD}\
         md5sum: list: 7: improperly formatted MD5 checksum line\n{WARNINGS}"
    );
    let stdout = format!("abc: OK\n{FAILED}");
    expect(&run(&folder, "-c --status --quiet -w list"), 1, &stdout, &warned);
}

#[test]
fn a_line_that_is_none_fails_only_when_strict() {
    let folder = folder();
    write(&folder, "list", format!("{ABC}  abc\nnonsense\n"));
    let warning = "md5sum: WARNING: 1 line is improperly formatted\n";
    expect(&run(&folder, "-c list"), 0, "abc: OK\n", warning);
    expect(&run(&folder, "-c --strict list"), 1, "abc: OK\n", warning);
    expect(&run(&folder, "-c --strict --status list"), 1, "", "");
    write(&folder, "list", format!("# comment\n\n{ABC}  abc\r\n\r\n"));
    expect(&run(&folder, "-c --strict list"), 0, "abc: OK\n", "");
}

#[test]
fn missing_files_are_passed_over_when_asked() {
    let folder = folder();
    write(&folder, "list", format!("{ABC}  gone\n{ABC}  abc\n"));
    expect(&run(&folder, "-c --ignore-missing list"), 0, "abc: OK\n", "");
    write(&folder, "list", format!("{ABC}  gone\n"));
    let nothing = "md5sum: list: no file was verified\n";
    expect(&run(&folder, "-c --ignore-missing list"), 1, "", nothing);
    expect(&run(&folder, "-c --ignore-missing --status list"), 1, "", "");
    write(&folder, "list", format!("{ABC}  dir\n"));
    expect(
        &run(&folder, "-c --ignore-missing list"),
        1,
        "dir: FAILED open or read\n",
        "md5sum: dir: Is a directory\n\
         md5sum: WARNING: 1 listed file could not be read\n\
         md5sum: list: no file was verified\n",
    );
}

#[test]
fn names_are_quoted_as_the_locale_shows_them() {
    let folder = folder();
    let mut list = String::new();
    for name in ["a b", "it's", "a\nb", "é", "*c", "~"] {
        write(&folder, name, "");
        list += &format!("\\{EMPTY}  {}\n", name.replace('\n', "\\n"));
    }
    write(&folder, "list", list);
    let results = |e: &str| {
        format!("'a b': OK\n\"it's\": OK\n'a'$'\\n''b': OK\n{e}: OK\n'*c': OK\n'~': OK\n")
    };
    expect(&run(&folder, "-c list"), 0, &results(r"''$'\303\251'"), "");
    let output = md5sum(&folder).env("LC_ALL", "C.UTF-8").args(["-c", "list"]).output();
    expect(&output.unwrap(), 0, &results("é"), "");
    // One that is not installed is the C locale, whatever it is called.
    let output = md5sum(&folder).env("LC_ALL", "xx_YY.UTF-8").args(["-c", "list"]).output();
    expect(&output.unwrap(), 0, &results(r"''$'\303\251'"), "");
}

#[test]
fn printed_lines_can_be_checked() {
    let folder = folder();
    for name in ["a b", " a", "*a", "a\nb", "\\", "a) = b"] {
        write(&folder, name, name);
    }
    let names = ["abc", "a b", " a", "*a", "a\nb", "\\", "a) = b"];
    for style in ["-t", "-b", "--tag"] {
        let printed = md5sum(&folder).arg(style).args(names).output().unwrap();
        write(&folder, "list", &printed.stdout);
        expect(&run(&folder, "-c --strict --quiet list"), 0, "", "");
    }
}
