//! Damaged, missing and unreadable files, and the ways out.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

#[test]
fn damaged_file_is_ok_once_it_is_restored() {
    let folder = recorded(&["d/a", "d/b"]);
    rewrite(&folder, "d/a", "content of d/X");
    expect(&folder, "verify", 1, &["damaged", "rewritten", "d/a"]);
    expect(&folder, "status", 1, &["1 damaged"]);
    expect(&folder, "update", 1, &["damaged"]);
    write_old(&folder, "d/a", "content of d/a");
    expect(&folder, "scrub --bad", 0, &["d/a"]);
    expect(&folder, "status", 0, &[]);
}

#[test]
fn damaged_file_stays_damaged_when_it_is_edited() {
    let folder = recorded(&["d/a", "d/b"]);
    rewrite(&folder, "d/a", "content of d/X");
    expect(&folder, "verify", 1, &["damaged"]);
    edit(&folder, "d/a");
    expect(&folder, "update", 1, &["damaged", "d/a"]);
    rename(&folder, "d/a", "d/renamed");
    expect(&folder, "update", 1, &["damaged", "d/renamed"]);
    expect(&folder, "accept d/renamed", 0, &[]);
    expect(&folder, "status", 0, &[]);
    expect(&folder, "verify", 0, &[]);
}

#[test]
fn damaged_file_stays_damaged_when_it_is_renamed_and_scanned() {
    let folder = recorded(&["d/x/a", "d/x/b", "d/c"]);
    rewrite(&folder, "d/x/a", "content of d/x/X");
    expect(&folder, "verify", 1, &["damaged", "d/x/a"]);
    rename(&folder, "d/x", "d/y");
    expect(&folder, "scan", 1, &[]);
    expect(&folder, "update", 1, &["damaged", "d/y/a"]);
    expect(&folder, "status", 1, &["1 damaged"]);
}

#[test]
fn damaged_file_that_went_and_came_back_is_damaged() {
    let folder = recorded(&["d/a", "d/b"]);
    rewrite(&folder, "d/a", "content of d/X");
    expect(&folder, "verify", 1, &["damaged"]);
    rename(&folder, "d/a", "outside");
    expect(&folder, "update", 1, &["missing"]);
    rename(&folder, "outside", "d/z");
    expect(&folder, "scan", 1, &[]);
    expect(&folder, "update", 1, &["damaged", "d/z"]);
}

#[test]
fn directory_replaced_by_link_is_missing() {
    let folder = recorded(&["d/x/a", "d/b"]);
    rename(&folder, "d/x", "elsewhere");
    folder.link("../elsewhere", "d/x");
    expect(&folder, "update", 1, &["missing", "d/x/a"]);
}

#[test]
fn missing_file_is_ok_once_it_is_back() {
    let folder = recorded(&["d/a", "d/b"]);
    remove(&folder, "d/a");
    expect(&folder, "scan", 1, &["missing", "d/a"]);
    expect(&folder, "update", 1, &["missing", "d/a"]);
    expect(&folder, "status", 1, &["1 missing"]);
    folder.write("d/a", "content of d/a");
    expect(&folder, "update", 0, &[]);
    expect(&folder, "status", 0, &[]);
}

#[test]
fn missing_files_are_forgotten_with_one_command() {
    let folder = recorded(&["d/x/a", "d/x/b", "d/c"]);
    fs::remove_dir_all(folder.path("d/x")).unwrap();
    expect(&folder, "update", 1, &["missing"]);
    expect(&folder, "forget --missing d", 0, &["2"]);
    expect(&folder, "status", 0, &[]);
    let list = expect(&folder, "catalog export d", 0, &["d/c"]);
    assert!(!list.contains("d/x"), "{list}");
}

#[test]
fn copy_of_a_missing_file_is_named() {
    let folder = Folder::new();
    for path in ["d/a", "e/copy", "d/b"] {
        write_old(&folder, path, if path == "d/b" { "different" } else { "the same content" });
    }
    expect(&folder, "add d e", 0, &[]);
    remove(&folder, "d/a");
    expect(&folder, "update", 1, &["missing", "d/a"]);
    expect(&folder, "report", 1, &["d/a", "e/copy"]);
}

#[test]
fn tagged_photos_are_accepted_with_one_command() {
    let folder = recorded(&["d/2020/1", "d/2020/2", "d/2020/3", "d/2020/4", "d/2021/5"]);
    for name in ["d/2020/1", "d/2020/2", "d/2020/3", "d/2020/4"] {
        rewrite(&folder, name, &format!("content of {name}, tagged"));
    }
    expect(&folder, "update", 1, &["damaged", "d/2020/1", "d/2020/4"]);
    expect(&folder, "report", 1, &["lanesum accept"]);
    expect(&folder, "accept d/2020", 0, &["4"]);
    expect(&folder, "status", 0, &[]);
    expect(&folder, "verify", 0, &[]);
}

#[test]
fn replaced_files_with_fixed_times_are_edited_in_a_working_root() {
    let paths = ["d/node_modules/1", "d/node_modules/2", "d/node_modules/3"];
    let upgrade = |folder: &Folder| {
        for path in &paths[..2] {
            replace(folder, path, &format!("version 2 of {path}"));
        }
    };
    let working = recorded_with("--profile working", &paths);
    upgrade(&working);
    expect(&working, "update", 0, &["edited", "node_modules/1"]);
    expect(&working, "verify", 0, &[]);
    let archive = recorded(&paths);
    upgrade(&archive);
    expect(&archive, "update", 1, &["damaged", "replaced", "node_modules/1"]);
}

#[test]
fn mass_edit_stops_before_anything_is_recorded() {
    let paths = many(150);
    let folder = recorded(&paths.iter().map(String::as_str).collect::<Vec<_>>());
    let before = expect(&folder, "catalog export d", 0, &[]);
    paths[..120].iter().for_each(|path| edit(&folder, path));
    expect(&folder, "update", 3, &["nothing was recorded", "--force"]);
    assert_eq!(expect(&folder, "catalog export d", 0, &[]), before);
    expect(&folder, "status", 3, &[]);
    expect(&folder, "nightly", 3, &["nothing was recorded", "--force"]);
    expect(&folder, "update --max-changed 100", 0, &["120 edited"]);
    expect(&folder, "status", 0, &[]);
}

#[test]
fn unreadable_directory_is_unchecked_and_not_missing() {
    obey_modes();
    let folder = recorded(&["d/private/a", "d/private/b", "d/c"]);
    fs::set_permissions(folder.path("d/private"), fs::Permissions::from_mode(0o0)).unwrap();
    for verb in ["scan", "update", "verify", "nightly"] {
        let printed = expect(&folder, verb, 3, &["unchecked", "d/private"]);
        assert!(!printed.contains("missing"), "{printed}");
    }
    expect(&folder, "status", 3, &[]);
    fs::set_permissions(folder.path("d/private"), fs::Permissions::from_mode(0o755)).unwrap();
    expect(&folder, "update", 0, &[]);
    expect(&folder, "status", 0, &[]);
}

#[test]
fn unreadable_new_files_are_problems_until_an_update_reads_them() {
    obey_modes();
    let folder = Folder::new();
    ["d/ok", "d/no", "d/sub/a"].iter().for_each(|path| write_old(&folder, path, path));
    let set_mode = |name: &str, mode| {
        fs::set_permissions(folder.path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    ["d/no", "d/sub"].iter().for_each(|name| set_mode(name, 0));
    for verb in ["add d", "verify", "scan", "scrub", "nightly"] {
        let printed = expect(&folder, verb, 3, &["unchecked", "d/no (permission", "d/sub/"]);
        assert!(!printed.contains("new "), "{verb}: {printed}");
        let status = expect(&folder, "status", 3, &["2 unchecked; 1 ok\n"]);
        let row = status.lines().find(|line| line.starts_with('/')).unwrap();
        let cells: Vec<_> = row.split_whitespace().collect();
        assert_eq!((cells[1], cells[4], cells[5]), ("1", "1", "2"), "{verb}: {row}");
        expect(&folder, "status --nagios", 1, &["2 unchecked; 1 ok", "unchecked=2;0"]);
    }
    ["d/no", "d/sub"].iter().for_each(|name| set_mode(name, 0o700));
    expect(&folder, "update", 0, &["2 new"]);
    expect(&folder, "status", 0, &["3 files ok"]);
}

#[test]
fn scan_lists_damaged_files() {
    let folder = recorded(&["d/a", "d/b", "d/c"]);
    rewrite(&folder, "d/a", "content of d/X");
    expect(&folder, "verify", 1, &["damaged", "d/a"]);
    let words = ["damaged  ", "d/a (rewritten", "1 damaged, 2 with the recorded size and time"];
    expect(&folder, "scan", 1, &words);
}

#[test]
fn corrected_list_with_replace() {
    let folder = Folder::new();
    write_old(&folder, "d/a", "a");
    write_old(&folder, "d/b", "b");
    folder.write("list", format!("{}  a\n{}", "0".repeat(32), line("b", "b")));
    expect(&folder, "catalog import --add d --root d list", 1, &["d/a"]);
    expect(&folder, "status", 1, &["1 damaged"]);
    folder.write("corrected", line("a", "a") + &line("b", "b"));
    let conflict = run(&folder, "catalog import --root d corrected");
    assert_ne!(conflict.status.code(), Some(0), "{conflict:?}");
    assert!(text(&conflict.stderr).contains("differs from its record"), "{conflict:?}");
    expect(&folder, "status", 1, &["1 damaged"]);
    expect(&folder, "catalog import --replace --root d corrected", 0, &[]);
    expect(&folder, "update", 0, &[]);
    expect(&folder, "status", 0, &[]);
    expect(&folder, "verify", 0, &[]);
}

#[test]
fn edited_just_before_it_was_read_is_not_damage() {
    let folder = Folder::new();
    folder.write("d/a", "first");
    expect(&folder, "add d", 0, &[]);
    rewrite(&folder, "d/a", "other");
    expect(&folder, "verify", 0, &["edited", "d/a"]);
}
