//! The commands that change records: accept, forget, relocate, and import and export of lists.

use std::fs;

use super::catalog::{cataloged, damage, ends, findings, objects, run, told, write_old};
use super::*;

#[test]
fn accept_records_damaged_files_and_prints_both_digests() {
    let folder = cataloged(&["a", "b", "d/c", "d/e"]);
    damage(&folder, "tree/a", "TREE/A");
    damage(&folder, "tree/d/c", "TREE/D/C");
    ends(&folder, "verify", 1);
    let words = told(&folder, "accept tree/a", 0);
    let (old, new) = (&md5("tree/a")[..8], &md5("TREE/A")[..8]);
    let expected = format!("accepted tree/a (md5 {old} -> {new})\nlanesum: accepted 1 file\n");
    assert_eq!(words, expected);
    let words = told(&folder, "accept tree/d", 0);
    assert!(words.starts_with("accepted tree/d/c (md5 ") && !words.contains("d/e"), "{words}");
    ends(&folder, "verify", 0);
    assert!(told(&folder, "status", 0).starts_with("4 files ok\n"));
}

#[test]
fn accept_prints_twenty_files_then_a_count() {
    let names: Vec<_> = (10..35).map(|name| name.to_string()).collect();
    let folder = cataloged(&names.iter().map(String::as_str).collect::<Vec<_>>());
    names.iter().for_each(|name| damage(&folder, &format!("tree/{name}"), "damaged"));
    ends(&folder, "verify", 1);
    let words = told(&folder, "accept tree", 0);
    assert_eq!(words.matches("accepted tree/").count(), 20, "{words}");
    assert!(words.ends_with("... and 5 more\nlanesum: accepted 25 files\n"), "{words}");
}

#[test]
fn accept_reports_each_path_that_failed_and_accepts_the_others() {
    let folder = cataloged(&["a", "b"]);
    damage(&folder, "tree/a", "TREE/A");
    fs::remove_file(folder.path("tree/b")).unwrap();
    ends(&folder, "verify", 1);
    let words = told(&folder, "accept tree/a tree/b tree/none elsewhere", 2);
    assert!(words.contains("accepted tree/a "), "{words}");
    assert!(words.contains("lanesum: tree/b: missing\nhint: if it was deleted: lanesum"));
    assert!(words.contains("lanesum: tree/none: not recorded in the catalog\nhint: "), "{words}");
    assert!(words.contains("elsewhere: not in the catalog\nhint: "), "{words}");
    assert!(words.ends_with("lanesum: accepted 1 file\n"), "{words}");
}

#[test]
fn forget_deletes_records_and_says_what_is_still_there() {
    let folder = cataloged(&["a", "b", "d/c"]);
    fs::remove_file(folder.path("tree/a")).unwrap();
    ends(&folder, "update", 1);
    assert_eq!(told(&folder, "forget --missing tree", 0), "lanesum: tree: forgot 1 missing file\n");
    let words = told(&folder, "forget tree/d", 0);
    let expected = "lanesum: tree/d: forgot 1 file; 1 file still exists and will be new in the next \
                    update\n";
    assert_eq!(words, expected);
    assert_eq!(findings(&folder, "update", 0), ["new      tree/d/c"]);
    let words = told(&folder, "forget --missing tree/d", 0);
    let expected = "lanesum: tree/d: forgot 0 missing files\n\
                    hint: to look for missing files first: lanesum scan tree\n";
    assert_eq!(words, expected);
    fs::remove_file(folder.path("tree/d/c")).unwrap();
    fs::create_dir(folder.path("tree/d/c")).unwrap();
    assert_eq!(told(&folder, "forget tree/d/c", 0), "lanesum: tree/d/c: forgot 1 file\n");
    fs::create_dir(folder.path("other")).unwrap();
    for verb in ["forget", "accept"] {
        let words = told(&folder, &format!("{verb} other"), 2);
        let expected = "lanesum: other: not in the catalog\n\
                        hint: to list the directories in the catalog: lanesum status\n";
        assert_eq!(words, expected);
    }
    let words = told(&folder, "forget tree/none tree", 2);
    assert!(words.contains("tree/none: not recorded in the catalog"), "{words}");
    assert!(words.contains("tree: forgot 1 file; the directory is no longer in the catalog"));
    assert_eq!(fs::read_dir(folder.path("tree")).unwrap().count(), 2);
}

#[test]
fn relocate_takes_the_records_along() {
    let folder = cataloged(&["a", "b"]);
    write_old(&folder, &["other/x", "other/y"]);
    fs::rename(folder.path("tree"), folder.path("new")).unwrap();
    let words = told(&folder, "relocate tree other", 2);
    assert!(words.contains("other: not the recorded directory: 0 of 2 sampled files"), "{words}");
    let words = told(&folder, "relocate tree new", 0);
    assert!(words.contains("new: relocated; 2 of 2 sampled files are as recorded\n"), "{words}");
    assert_eq!(findings(&folder, "verify", 0), [""; 0]);
    // A restore to another disk has other inodes.
    let mut copy = folder.command("cp");
    assert!(output(copy.args(["-rp", "new", "copy"])).status.success());
    fs::rename(folder.path("new"), folder.path("broken")).unwrap();
    fs::rename(folder.path("copy"), folder.path("new")).unwrap();
    ends(&folder, "scan", 3);
    ends(&folder, "relocate new new", 0);
    folder.write("second/file", "recorded, too");
    ends(&folder, "add second", 0);
    let words = told(&folder, "relocate new second", 2);
    let told =
        "lanesum: second: is itself a directory of the catalog, so no other can be relocated";
    assert!(words.starts_with(told) && !words.contains("hint"), "{words}");
    assert_eq!(findings(&folder, "verify", 0), [""; 0]);
}

#[test]
fn import_records_listed_files_that_have_the_listed_content() {
    let folder = Folder::new();
    write_old(&folder, &["tree/a", "tree/b", "tree/d/c d"]);
    let list = folder.run("--format tag tree/a tree/b");
    folder.write("old.md5", &list.stdout);
    folder.write("more.csv", format!("path,md5\r\ntree/d/c d,{}\r\n", md5("tree/d/c d")));
    ends(&folder, "catalog import old.md5", 2);
    let words = told(&folder, "catalog import --add tree old.md5 more.csv", 0);
    assert!(words.ends_with("lanesum: import: 3 recorded\n"), "{words}");
    let words = told(&folder, "catalog import old.md5", 0);
    assert!(words.ends_with("lanesum: import: 2 as recorded\n"), "{words}");
    let words = told(&folder, "status", 3);
    let notice = "tree: 3 files recorded so far; to record all others:\n  lanesum update tree\n";
    assert!(words.contains(notice), "{words}");
    ends(&folder, "update", 0);
    ends(&folder, "status", 0);
    folder.write("elsewhere.md5", format!("{}  old.md5\n", md5(&list.stdout)));
    let words = told(&folder, "catalog import elsewhere.md5", 3);
    assert!(words.contains("lanesum: old.md5: not in a directory of the catalog\n"), "{words}");
    assert!(
        words.contains("\nhint: to record the listed files: --add DIR, and --root DIR if the list's names are relative to DIR"),
        "{words}"
    );
}

#[test]
fn import_of_other_content_records_the_file_as_damaged() {
    let folder = Folder::new();
    write_old(&folder, &["tree/a", "tree/b"]);
    let list =
        format!("{}  tree/a\n{}  tree/b\n{ABC}  tree/none\n", md5("original"), md5("tree/b"));
    folder.write("list", list);
    let words = told(&folder, "catalog import --add tree list", 1);
    let line = "lanesum: tree/a: damaged: its content differs from the list\n";
    assert!(words.contains(line), "{words}");
    assert!(words.contains("lanesum: tree/none: missing\n"), "{words}");
    assert!(words.contains("lanesum: import: 1 recorded, 1 damaged, 1 missing\n"), "{words}");
    let words = told(&folder, "status", 1);
    let line = "damaged  tree/a (content differs from an imported list)\n";
    assert!(words.contains(line), "{words}");
    ends(&folder, "update", 1);
    folder.write("tree/a", "original");
    assert_eq!(findings(&folder, "verify", 0), ["ok       tree/a (restored; was damaged)"]);
}

#[test]
fn import_replaces_recorded_digests_only_on_demand() {
    let folder = cataloged(&["a", "b"]);
    folder.write("list", format!("{}  tree/a\n{}  tree/b\n", md5("original"), md5("tree/b")));
    let words = told(&folder, "catalog import list", 1);
    let line = "tree/a: its content and its record differ from the list; not changed\n";
    assert!(words.contains(line), "{words}");
    assert!(words.contains("import: 1 as recorded, 1 in conflict\n"), "{words}");
    let command = "lanesum catalog import --replace list\n";
    assert!(words.ends_with(&format!("hint: if the lists are right: {command}")), "{words}");
    ends(&folder, "status", 0);
    ends(&folder, "catalog import --replace list", 1);
    assert!(told(&folder, "status", 1).starts_with("1 damaged; 1 ok\n"));
}

/// A list that was made after the damage must not replace the record.
#[test]
fn import_reports_a_recorded_file_with_other_content() {
    let folder = cataloged(&["a", "b"]);
    let before = folder.run("tree/a tree/b").stdout;
    damage(&folder, "tree/a", "TREE/A");
    folder.write("before", before);
    folder.write("after", folder.run("-a sha256 tree/a tree/b").stdout);
    folder.write("contradictory", lines(&["tree/b"]) + &line("other", "tree/b"));
    for list in ["before", "after"] {
        let words = told(&folder, &format!("catalog import {list}"), 1);
        let expected = "lanesum: tree/a: its content differs from its record; not changed\n\
                        lanesum: import: 1 as recorded, 1 changed\n\
                        hint: to find out whether it is damage: lanesum verify tree/a\n";
        assert_eq!(words, expected, "{list}");
    }
    assert_eq!(
        findings(&folder, "verify tree/a", 1),
        ["damaged  tree/a (rewritten, time unchanged)"]
    );
    let words = told(&folder, "catalog import --replace before", 1);
    assert!(words.contains("import: 1 as recorded, 1 changed\n"), "{words}");
    let words = told(&folder, "catalog import contradictory", 1);
    let expected = "lanesum: tree/b: the lists contradict each other; not changed\n\
                    lanesum: import: 1 in conflict\n";
    assert_eq!(words, expected);
}

#[test]
fn import_of_an_invalid_or_empty_list_records_nothing() {
    let folder = Folder::of(&["tree/a"]);
    folder.write("bad", format!("{}  tree/a\nthis is not a line\n", md5("tree/a")));
    let words = told(&folder, "catalog import --add tree bad", 2);
    assert!(words.contains("bad: line 2"), "{words}");
    folder.write("empty", "");
    assert!(told(&folder, "catalog import --add tree empty", 2).contains("no checksum lines"));
    folder.write("other", format!("{ABC}  elsewhere/a\n"));
    let words = told(&folder, "catalog import --add tree other", 2);
    let expected =
        "lanesum: tree: contains none of the listed files; the first is elsewhere/a\nhint: ";
    assert!(words.starts_with(expected), "{words}");
    assert!(!exists(folder.path("state/catalog.db")));
    folder.write("good", format!("{}  tree/a\n", md5("tree/a")));
    let words = told(&folder, "catalog import --add tree empty good", 3);
    assert!(words.contains("import: 1 recorded, 1 empty list\n"), "{words}");
}

/// A name that is not encoded stands for its file, but not for the file of another line.
#[test]
fn import_takes_encoded_names_as_check_does() {
    let folder = Folder::new();
    write_old(&folder, &["tree/a%25", "tree/b%25"]);
    let line = |content: &str, name: &str| format!("{}  tree/{name}\n", md5(content));
    let lists =
        [line("gone", "a%25"), line("tree/a%25", "a%2525"), line("tree/b%25", "b%25")].concat();
    folder.write("manifest-md5.txt", lists);
    let words = told(&folder, "catalog import --from bagit --add tree manifest-md5.txt", 1);
    assert!(words.contains("tree/a%: missing\n"), "{words}");
    assert!(words.contains("import: 2 recorded, 1 missing\n"), "{words}");
}

#[test]
fn exported_lists_are_checked_and_imported_again() {
    let folder = cataloged(&["a", "d/c d"]);
    for format in ["gnu", "tag", "csv", "json", "jsonl", "hashdeep"] {
        folder.write(
            "list",
            ends(&folder, &format!("catalog export --format {format} tree"), 0).stdout,
        );
        assert_eq!(folder.run("check --quiet list").status.code(), Some(0), "{format}");
        let words = told(&folder, "catalog import list", 0);
        assert!(words.ends_with("import: 2 as recorded\n"), "{format}: {words}");
    }
    ends(&folder, "catalog export --format sfv tree", 2);
    let list = text(&ends(&folder, "catalog export --relative tree", 0).stdout);
    assert_eq!(list, format!("{}  a\n{}  d/c d\n", md5("tree/a"), md5("tree/d/c d")));
    damage(&folder, "tree/a", "TREE/A");
    ends(&folder, "verify", 1);
    let words = told(&folder, "catalog export tree", 0);
    assert!(
        words.contains(&md5("tree/a"))
            && words.contains("tree: the list has the recorded digests of 1 file with problems")
    );
}

#[test]
fn export_names_algorithms_that_digits_do_not_identify() {
    for algorithm in ["sha256", "blake3", "xxh128", "crc32c"] {
        let folder = Folder::new();
        write_old(&folder, &["tree/a"]);
        ends(&folder, &format!("add tree -a {algorithm}"), 0);
        folder.write("list", ends(&folder, "catalog export tree", 0).stdout);
        ends(&folder, "forget tree", 0);
        ends(&folder, "catalog import --add tree list", 0);
        assert_eq!(objects(&folder, "status --json", 3)[0]["algorithms"][0], algorithm);
    }
    let folder = cataloged(&["a"]);
    ends(&folder, "add -a md5,sha256 tree", 0);
    let words = told(&folder, "catalog export -a sha256 tree", 3);
    assert!(
        words.contains("tree: 1 file without sha256 left out\nhint: to record these"),
        "{words}"
    );
    ends(&folder, "verify", 0);
    let export = run(&folder, "catalog export tree");
    assert_eq!(text(&export.stdout).lines().count(), 2, "{export:?}");
}
