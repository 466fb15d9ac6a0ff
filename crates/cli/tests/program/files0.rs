//! `--files0-from`: paths from a file.

use super::*;

#[test]
fn paths_come_from_a_file_or_from_standard_input() {
    let folder = Folder::of(&["a", "t/b", "t/c", "new\nline"]);
    folder.write("paths", "t\0a\0new\nline\0");
    let mut list = lines(&["t/b", "t/c", "a"]);
    list += &format!("\\{}  new\\nline\n", md5("new\nline"));
    expect(&folder.run("--files0-from paths"), 0, &list, "");
    expect(&folder.run_with_stdin("--files0-from -", "t\0a\0new\nline\0"), 0, &list, "");
    expect(&folder.run_with_stdin("--files0-from -", "t\0a\0new\nline"), 0, &list, "");
    expect(&folder.run("--files0-from /dev/null"), 0, "", "");
}

#[test]
fn an_empty_name_is_an_error_and_the_rest_goes_on() {
    let folder = Folder::of(&["a", "b"]);
    folder.write("paths", "a\0\0b\0");
    let run = folder.run("--files0-from paths");
    expect(&run, 1, lines(&["a", "b"]), "lanesum: paths: name 2 is empty\n");
}

#[test]
fn paths_are_not_arguments_too() {
    let folder = Folder::of(&["a"]);
    folder.write("paths", "a\0");
    let run = folder.run("--files0-from paths a");
    assert_eq!((run.status.code(), text(&run.stdout).as_str()), (Some(2), ""));
    assert!(text(&run.stderr).contains("cannot be used with"), "{}", text(&run.stderr));
}

#[test]
fn a_file_that_cannot_be_read_is_told_once() {
    let folder = Folder::of(&["t/"]);
    let run = folder.run("--files0-from nowhere");
    expect(&run, 1, "", "lanesum: nowhere: No such file or directory\n");
    expect(&folder.run("--files0-from t"), 1, "", "lanesum: t: Is a directory\n");
}
