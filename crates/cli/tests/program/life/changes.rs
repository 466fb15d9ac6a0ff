//! Edits, renames and moves: nothing that needs attention.

use super::*;

#[test]
fn rename_directory_then_edit_is_moved_and_edited() {
    let folder = recorded(&["d/2019/1", "d/2019/2", "d/2019/3", "d/2019/4", "d/keep"]);
    rename(&folder, "d/2019", "d/2019-Rome");
    edit(&folder, "d/2019-Rome/3");
    let scan = expect(&folder, "scan", 0, &["moved", "2019-Rome/", "contents not checked"]);
    assert!(!scan.contains("missing"), "{scan}");
    let update = expect(&folder, "update", 0, &["moved", "edited", "2019-Rome/3"]);
    assert!(!update.contains("missing"), "{update}");
    expect(&folder, "verify", 0, &[]);
    expect(&folder, "scan --changes", 0, &[]);
}

#[test]
fn renamed_and_edited_is_not_missing() {
    let folder = recorded(&["d/1", "d/2", "d/3"]);
    rename(&folder, "d/1", "d/final");
    edit(&folder, "d/final");
    let path = |name: &str| folder.path(name).display().to_string();
    let moved = format!("edited   {} -> {}", path("d/1"), path("d/final"));
    expect(&folder, "verify", 0, &[&moved]);
    let update = expect(&folder, "update", 0, &["d/final"]);
    assert!(!update.contains("missing"), "{update}");
    expect(&folder, "scan --changes", 0, &[]);
    expect(&folder, "verify", 0, &[]);
}

#[test]
fn mv_over_is_moved() {
    let folder = recorded(&["d/1", "d/2", "d/3"]);
    rename(&folder, "d/1", "d/2");
    let update = expect(&folder, "update", 0, &["moved"]);
    assert!(!update.contains("missing"), "{update}");
    expect(&folder, "scan --changes", 0, &[]);
    expect(&folder, "verify", 0, &[]);
}

#[test]
fn swapped_names_are_not_damaged() {
    let folder = recorded(&["d/1", "d/2", "d/3"]);
    rename(&folder, "d/1", "d/t");
    rename(&folder, "d/2", "d/1");
    rename(&folder, "d/t", "d/2");
    expect(&folder, "update", 0, &[]);
    expect(&folder, "verify", 0, &[]);
    expect(&folder, "scan --changes", 0, &[]);
}

#[test]
fn moved_by_copy_stays_moved_after_scrub() {
    let folder = recorded(&["d/1", "d/2", "d/3"]);
    folder.write("d/one", "content of d/1");
    remove(&folder, "d/1");
    let verify = expect(&folder, "verify", 0, &["moved", "d/one"]);
    assert!(!verify.contains("missing"), "{verify}");
    expect(&folder, "scrub --percent 100", 0, &[]);
    let verify = expect(&folder, "verify", 0, &["moved", "d/one"]);
    assert!(!verify.contains("missing"), "{verify}");
    let report = expect(&folder, "report", 0, &[]);
    assert!(!report.contains("missing") && !report.contains("estore"), "{report}");
    expect(&folder, "update", 0, &["moved"]);
    expect(&folder, "scan --changes", 0, &[]);
}

#[test]
fn move_between_roots_is_moved() {
    let folder = Folder::new();
    for path in ["inbox/1", "inbox/2", "archive/a"] {
        write_old(&folder, path, format!("content of {path}"));
    }
    expect(&folder, "add inbox archive", 0, &[]);
    rename(&folder, "inbox/1", "archive/1");
    let update = expect(&folder, "update", 0, &["moved", "archive/1"]);
    assert!(!update.contains("missing"), "{update}");
    expect(&folder, "status", 0, &[]);
    expect(&folder, "scan --changes", 0, &[]);
}

#[test]
fn update_that_records_everything_exits_0() {
    let folder = recorded(&["d/a", "d/b", "d/c"]);
    folder.write("d/new", "new");
    edit(&folder, "d/a");
    rename(&folder, "d/b", "d/moved");
    expect(&folder, "update", 0, &["new", "edited", "moved"]);
    expect(&folder, "update --changes", 0, &[]);
    edit(&folder, "d/a");
    expect(&folder, "update --changes", 1, &["edited"]);
}

#[test]
fn older_version_is_edited() {
    let folder = recorded(&["d/a", "d/b"]);
    folder.write("d/a", "an older version");
    set_time(&folder, "d/a", UNIX_EPOCH + LONG_AGO / 2);
    expect(&folder, "update", 0, &["edited", "older", "d/a"]);
    expect(&folder, "verify", 0, &[]);
}

#[test]
fn changed_permissions_and_times_are_ok() {
    let folder = recorded(&["d/a", "d/b"]);
    set_time(&folder, "d/a", SystemTime::now());
    let mut mode = fs::metadata(folder.path("d/b")).unwrap().permissions();
    mode.set_readonly(true);
    fs::set_permissions(folder.path("d/b"), mode).unwrap();
    expect(&folder, "update --changes", 0, &[]);
    expect(&folder, "verify --changes", 0, &[]);
}

#[test]
fn download_in_parts_is_new_once() {
    let folder = recorded(&["d/a"]);
    folder.write("d/film.part", "half a film");
    let update = expect(&folder, "update", 0, &[]);
    assert!(!update.contains("film"), "{update}");
    rename(&folder, "d/film.part", "d/film");
    expect(&folder, "update", 0, &["new", "d/film"]);
    expect(&folder, "scan --changes", 0, &[]);
}

#[test]
fn ignored_files_are_not_recorded() {
    let folder = Folder::new();
    for path in ["d/a", "d/cache/b", "d/build/c", "d/sub/build/c", "d/notes.txt~"] {
        write_old(&folder, path, path);
    }
    folder.write("d/.lanesumignore", "cache/\n*~\n");
    expect(&folder, "add --exclude build/ d", 0, &[]);
    let list = expect(&folder, "catalog export d", 0, &["d/a"]);
    for path in ["cache", "build", "notes"] {
        assert!(!list.contains(path), "{list}");
    }
}

#[test]
fn invalid_pattern_of_an_ignore_file_is_reported_once() {
    let folder = Folder::of(&["d/a", "d/b.log"]);
    folder.write("d/.lanesumignore", "# logs\n*.log\n[a\n[b\n");
    let told = "d/.lanesumignore: warning: line 3: invalid pattern '[a': unclosed [";
    for command in ["add --dry-run d", "add d", "scan", "update"] {
        let printed = expect(&folder, command, 0, &[told]);
        assert_eq!(printed.matches("invalid pattern").count(), 1, "{printed}");
    }
    let list = expect(&folder, "catalog export d", 0, &["d/a", "d/.lanesumignore"]);
    assert!(!list.contains("b.log"), "{list}");
    expect_silence(&folder, "nightly");
}

#[test]
fn excluded_path_is_named_with_its_pattern() {
    let folder = Folder::of(&["d/a", "d/build/c", "d/x.log", "d/y.tmp", "d/new"]);
    folder.write("d/.lanesumignore", "*.log\n");
    expect(&folder, "add --exclude build/ d", 0, &[]);
    folder.write("d/later", "");
    for (path, told) in [
        (
            "d/build/c",
            "excluded by the pattern build/\nhint: to change the patterns: lanesum add --exclude GLOB DIR",
        ),
        ("d/build", "excluded by the pattern build/\n"),
        (
            "d/y.tmp",
            "excluded by the pattern '*.tmp'\nhint: to change the patterns: lanesum add --no-default-excludes DIR",
        ),
        ("d/x.log", "excluded by .lanesumignore\nhint: edit that file\n"),
        ("d/later", "not recorded\nhint: record new files: lanesum update\n"),
        ("d/none", "not recorded in the catalog\nhint: lanesum status\n"),
    ] {
        expect(&folder, &format!("verify {path}"), 2, &[path, told]);
        expect(&folder, &format!("accept {path}"), 2, &[told]);
    }
    folder.link("a", "d/link");
    expect(&folder, "verify d/link", 2, &["not recorded: not a regular file\n"]);
}

#[test]
fn files_that_are_read_again_are_explained() {
    let folder = Folder::of(&["d/a", "d/b"]);
    expect(&folder, "add d", 0, &["2 files read, 6 B\n"]);
    folder.write("d/c", "new");
    let told =
        "3 files read, 9 B; 2 of them again, because they were written just before their last read";
    expect(&folder, "update", 0, &[told]);
}

#[test]
fn scan_says_contents_not_checked() {
    let folder = recorded(&["d/a", "d/b"]);
    rewrite(&folder, "d/a", "content of d/X");
    expect(&folder, "scan", 0, &["contents not checked"]);
    expect(&folder, "verify", 1, &["damaged", "d/a"]);
}

#[test]
fn verify_reads_only_the_paths_named() {
    let folder = recorded(&["d/x/a", "d/y/b"]);
    rewrite(&folder, "d/x/a", "content of d/x/X");
    rewrite(&folder, "d/y/b", "content of d/y/X");
    let verify = expect(&folder, "verify d/x", 1, &["damaged", "d/x/a"]);
    assert!(!verify.contains("d/y/b"), "{verify}");
    expect(&folder, "verify d/y/b", 1, &["damaged", "d/y/b"]);
}
