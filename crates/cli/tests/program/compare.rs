//! `lanesum compare`: lists and trees, in every form, and what its exit code means.

use super::*;

/// Two trees that differ in every way, and a list of the first.
fn folder() -> Folder {
    let folder = Folder::new();
    for (name, content) in [
        ("same", "same"),
        ("edited", "old"),
        ("gone", "gone"),
        ("name", "moved"),
        ("original", "copied"),
        ("sub/deep/1", "one"),
        ("sub/2", "two"),
    ] {
        folder.write(format!("a/{name}"), content);
    }
    for (name, content) in [
        ("same", "same"),
        ("edited", "new"),
        ("a name", "moved"),
        ("original", "copied"),
        ("other", "copied"),
        ("fresh", "fresh"),
        ("folder/deep/1", "one"),
        ("folder/2", "two"),
    ] {
        folder.write(format!("b/{name}"), content);
    }
    expect(&folder.run("-o a.md5 a"), 0, "", "");
    folder
}

const TEXT: &str = "\
    moved name -> 'a name'\n\
    changed edited: different digest\n\
    directory sub -> folder, 2 files\n\
    new fresh\n\
    missing gone\n\
    copied original -> other\n";

#[test]
fn lists_and_trees_compare_alike() {
    let folder = folder();
    let of_trees = "lanesum: 9 files: 2 equal (10 B), 1 changed (3 B), 3 moved (11 B), 1 copied \
                    (6 B), 1 new (5 B), 1 missing (4 B); before: a, after: b\n";
    expect(&folder.run("compare a b"), 1, TEXT, of_trees);
    // The list knows no sizes.
    let seen_from = "lanesum: a.md5: its names are compared without a/\n";
    let of_list = seen_from.to_owned()
        + &of_trees.replace("1 missing (4 B); before: a,", "1 missing; before: a.md5,");
    expect(&folder.run("compare --strip a.md5 b"), 1, TEXT, of_list);
    expect(&folder.run("-o b.md5 b"), 0, "", "");
    let of_lists = "lanesum: a.md5: its names are compared without a/\n\
                    lanesum: b.md5: its names are compared without b/\n\
                    lanesum: 9 files: 2 equal, 1 changed, 3 moved, 1 copied, 1 new, 1 missing; \
                    before: a.md5, after: b.md5\n";
    expect(&folder.run("compare --strip a.md5 b.md5"), 1, TEXT, of_lists);
    // Two folders are not the same before somebody says so.
    let output = folder.run("compare a.md5 b.md5");
    assert_eq!(output.status.code(), Some(1));
    let told = "lanesum: a.md5: more file names match if a/ is removed from them\nhint: --strip removes a/\n";
    assert!(text(&output.stderr).starts_with(told), "{}", text(&output.stderr));
}

/// All of a list may lie deeper than what its folder was called.
#[test]
fn strip_removes_the_fitting_prefix() {
    let folder = Folder::of(&["c1/2018/x/a", "c1/2018/x/b"]);
    folder.write("list", folder.run("c1").stdout);
    fs::rename(folder.path("c1"), folder.path("c2")).unwrap();
    let run = folder.run("compare list c2");
    assert_eq!(run.status.code(), Some(1));
    let told = "lanesum: list: more file names match if c1/ is removed from them\nhint: --strip";
    assert!(text(&run.stderr).starts_with(told), "{}", text(&run.stderr));
    let told = "lanesum: list: its names are compared without c1/\nlanesum: 2 files: 2 equal";
    for (tree, told) in [("c2", told.to_owned()), ("c2/2018", told.replace("c1/", "c1/2018/"))] {
        let run = folder.run(&format!("compare --strip list {tree}"));
        assert_eq!(run.status.code(), Some(0), "{tree}: {}", text(&run.stderr));
        assert!(text(&run.stderr).starts_with(&told), "{tree}: {}", text(&run.stderr));
    }
}

/// A folder may have one of its own name in it.
#[test]
fn ambiguous_names_are_reported() {
    let folder = Folder::of(&["photos/a", "photos/photos/a", "photos/b", "photos/photos/b"]);
    let told = |list: &[&str]| {
        folder.write("list", lines(list));
        let run = folder.run("compare list photos");
        assert_eq!(run.status.code(), Some(1), "{list:?}");
        let told = text(&run.stderr);
        let told = told.lines().find(|line| line.contains("its names are compared"));
        told.map(str::to_owned).unwrap_or_default()
    };
    let words = "lanesum: list: its names are compared as written; some also match without \
                 photos/";
    assert_eq!(told(&["photos/a", "photos/b"]), words);
    fs::remove_file(folder.path("photos/photos/b")).unwrap();
    folder.write("photos/c", "c");
    let words = "lanesum: list: its names are compared without photos/; some also match \
                 as written";
    folder.write("gone", "gone");
    assert_eq!(told(&["photos/a", "photos/b", "gone"]), words);
    assert_eq!(told(&["photos/a", "photos/b"]), "", "all are found in one way only");
    assert_eq!(told(&["photos/b"]), "");

    // More would be found without the folder that all lie in, but nobody asked for that.
    let folder = Folder::of(&["photos/x/a", "photos/a", "photos/b"]);
    folder.write("list", lines(&["photos/x/a"]) + &line("photos/b", "photos/x/b"));
    let run = folder.run("compare list photos");
    assert!(!text(&run.stdout).contains("missing x/a"), "{}", text(&run.stdout));
    assert!(text(&run.stderr).contains("hint: --strip"), "{}", text(&run.stderr));
}

#[test]
fn only_equal_sides_succeed() {
    let folder = folder();
    let all = "lanesum: 7 files: 7 equal (28 B)\n";
    expect(&folder.run("compare a a"), 0, "", all);
    expect(&folder.run("compare a.md5 a"), 0, "", all);
    let list = folder.read("a.md5");
    expect(&folder.run_with_stdin("compare - a", &list), 0, "", all);
    let verbose = folder.run("compare -v a.md5 a");
    assert_eq!(verbose.stdout.iter().filter(|&&byte| byte == b'\n').count(), 7);
    assert!(verbose.stdout.starts_with(b"equal edited\nequal gone\n"));
    // Nobody knows what stands in the line that is none.
    folder.write("a.md5", list.clone() + "no checksum\n");
    let bad = "lanesum: a.md5: line 8: not a checksum line\n".to_owned() + all;
    expect(&folder.run("compare a.md5 a"), 1, "", bad);
    let unknown = format!("{list}SM3 (x) = 1ab21d8355cfa17f8e61194831e81a8f\n");
    folder.write("a.md5", unknown);
    let output = folder.run("compare a.md5 a");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("1 line of unknown algorithms (SM3)"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn empty_sides_fail() {
    let folder = Folder::of(&["x/", "y/"]);
    let words = "lanesum: no files on either side; nothing was compared\n";
    expect(&folder.run("compare x y"), 1, "", words);
    folder.write("prose", "a text\nof two lines\n");
    let words =
        "lanesum: prose: no checksum lines\nhint: A and B are checksum lists or directories\n";
    expect(&folder.run("compare prose y"), 1, "", words);
    let words = "lanesum: z: No such file or directory\n";
    expect(&folder.run("compare z y"), 1, "", words);
    expect(&folder.run("compare - -"), 2, "", "lanesum: only one side can be standard input\n");
}

#[test]
fn quick_reads_no_files() {
    let folder = Folder::of(&["a/x", "b/x"]);
    let time = fs::metadata(folder.path("a/x")).unwrap().modified().unwrap();
    File::options().append(true).open(folder.path("b/x")).unwrap().set_modified(time).unwrap();
    let same = "lanesum: 1 file: 1 alike in name, size and time (3 B); contents were not read\n";
    expect(&folder.run("compare --quick a b"), 0, "", same);
    folder.write("list", format!("{ABC}  x\n"));
    let by_name = "lanesum: 1 file: 1 alike in name (3 B); contents were not read\n";
    expect(&folder.run("compare --quick list b"), 0, "", by_name);
    folder.write("b/x", "b/y");
    let later = time + Duration::from_secs(1);
    File::options().append(true).open(folder.path("b/x")).unwrap().set_modified(later).unwrap();
    let changed = "lanesum: 1 file: 1 changed (3 B); contents were not read; before: a, \
                   after: b\n";
    expect(&folder.run("compare --quick a b"), 1, "changed x: different time\n", changed);
}

#[test]
fn csv_and_json_have_one_record_per_file() {
    let folder = Folder::of(&["a/1", "a/2"]);
    folder.write("b/1", "other");
    folder.write("b/a,\"b\"\n", "a/2");
    folder.write(b"b/\xff", "x");
    let csv = folder.run("compare --format csv a b");
    let rows = b"class,path,from,size,size_before,basis,reason\r\n\
        changed,1,,5,3,size,\r\n\
        moved,\"a,\"\"b\"\"\n\",2,3,3,digest,\r\n\
        new,\xff,,1,,,\r\n";
    assert_eq!(text(&csv.stdout), text(rows));
    let json = folder.run("compare --format json a b");
    let objects: Vec<serde_json::Value> = json
        .stdout
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    let expected = serde_json::json!([
        {"class": "changed", "path": "1", "size": 5, "size_before": 3, "basis": "size"},
        {"class": "moved", "path": "a,\"b\"\n", "from": "2", "size": 3, "size_before": 3, "basis": "digest"},
        {"class": "new", "path_base64": "/w==", "size": 1},
    ]);
    assert_eq!(serde_json::Value::from(objects), expected);
}

#[test]
fn list_is_not_a_file_of_its_directory() {
    let folder = Folder::of(&["x", "y"]);
    expect(&folder.run("-o list.md5 ."), 0, "", "");
    expect(&folder.run("compare list.md5 ."), 0, "", "lanesum: 2 files: 2 equal (2 B)\n");
}

#[test]
fn unreadable_files_are_reported() {
    let folder = Folder::of(&["a/x", "a/sub/y"]);
    expect(&folder.run("-o list a"), 0, "", "");
    let mode = std::os::unix::fs::PermissionsExt::from_mode;
    fs::set_permissions(folder.path("a/x"), mode(0)).unwrap();
    // With the right to search it, a file in it can be seen, and what is not there is not known.
    for of_sub in [0, 0o300] {
        fs::set_permissions(folder.path("a/sub"), mode(of_sub)).unwrap();
        let output = std::thread::scope(|scope| {
            let run = scope.spawn(|| {
                obey_modes();
                folder.run("compare list a")
            });
            run.join().unwrap()
        });
        fs::set_permissions(folder.path("a/sub"), mode(0o700)).unwrap();
        let lines = "unreadable directory sub: Permission denied\n\
                     unreadable sub/y: Permission denied\n\
                     unreadable x: Permission denied\n";
        let summary = "2 files: 2 unreadable; 1 unreadable directory";
        expect(&output, 1, lines, format!("lanesum: {summary}; before: list, after: a\n"));
    }
}

#[test]
fn excluded_files_are_not_missing() {
    let folder = Folder::of(&["a/x", "a/y.tmp", "a/cache/z"]);
    expect(&folder.run("-o list a"), 0, "", "");
    let one = "lanesum: 1 file: 1 equal (3 B)\n";
    expect(&folder.run("compare --exclude *.tmp --exclude cache/ list a"), 0, "", one);
    expect(
        &folder.run("compare --exclude *.tmp --exclude cache list list"),
        0,
        "",
        "lanesum: 1 file: 1 equal\n",
    );
    // A link is there, and whether its content is right nobody looked.
    fs::remove_file(folder.path("a/x")).unwrap();
    folder.link("y.tmp", "a/x");
    let line = "not compared x: it exists, but is a link, or excluded\n";
    let summary = "lanesum: 3 files: 2 equal (16 B), 1 not compared; before: list, after: a; skipped: 1 \
                   link in a\n";
    expect(&folder.run("compare list a"), 1, line, summary);
    let followed = "lanesum: 3 files: 2 equal (16 B), 1 changed (7 B); before: list, after: a\n";
    expect(&folder.run("compare --follow list a"), 1, "changed x: different digest\n", followed);
    // A folder is no file.
    fs::remove_file(folder.path("a/x")).unwrap();
    fs::create_dir(folder.path("a/x")).unwrap();
    let missing = folder.run("compare list a");
    assert_eq!((text(&missing.stdout).as_str(), missing.status.code()), ("missing x\n", Some(1)));
}

/// A hard link that the walk skips stands for the second name that a file has where the file system
/// ignores the case of letters.
#[test]
fn names_in_other_letters_are_equal_where_they_lead_to_the_same_file() {
    let folder = Folder::of(&["d/DCIM/IMG_1.JPG", "d/B"]);
    folder.write("d/.gitignore", "img_*\nb\n");
    fs::hard_link(folder.path("d/DCIM/IMG_1.JPG"), folder.path("d/DCIM/img_1.jpg")).unwrap();
    folder.write("d/b", "another file");
    let list = format!("{}  DCIM/img_1.jpg\n{}  b\n", md5("d/DCIM/IMG_1.JPG"), md5("d/B"));
    folder.write("list", list);
    let lines = "new .gitignore\nnew B\nnot compared b: it exists, but is a link, or excluded\n";
    let summary = "lanesum: 4 files: 1 equal (16 B), 2 new (11 B), 1 not compared; before: list, \
                   after: d\n";
    expect(&folder.run("compare --gitignore list d"), 1, lines, summary);
}

#[test]
fn other_algorithm_or_key_gives_a_hint() {
    let folder = Folder::of(&["a/x", "a/y"]);
    folder.write("a/empty", "");
    expect(&folder.run("-a blake3 --untagged -o list a"), 0, "", "");
    let words = "lanesum: list: no untagged line matches as sha256\nhint: if the lines are blake3: -a blake3 (or sha512-256, sha3-256, dropbox, glacier)\n\
                 lanesum: 3 files: 3 changed (6 B); before: list, after: a\n";
    let changed = "changed empty: different digest\nchanged x: different digest\nchanged y: different digest\n";
    expect(&folder.run("compare list a"), 1, changed, words);
    expect(&folder.run("compare -a blake3 list a"), 0, "", "lanesum: 3 files: 3 equal (6 B)\n");
    let words = "lanesum: list: no line has as many digits as md5\n\
                 hint: leave out -a to detect the algorithm\n";
    expect(&folder.run("compare -a md5 list a"), 1, "", words);
    folder.write("key", [7; 16]);
    let mode = std::os::unix::fs::PermissionsExt::from_mode;
    fs::set_permissions(folder.path("key"), mode(0o600)).unwrap();
    expect(&folder.run("-a siphash24 --key-file key -o keyed a"), 0, "", "");
    let words = "lanesum: keyed: siphash24 needs the key that made the list\nhint: lanesum check --key-file FILE\n";
    expect(&folder.run("compare keyed a"), 1, "", words);
}

#[test]
fn empty_list_fails() {
    let folder = Folder::of(&["a/x"]);
    folder.write("empty", "");
    let words = "lanesum: empty: no checksum lines; nothing was compared\n";
    expect(&folder.run("compare empty a"), 1, "", words);
    expect(&folder.run("compare a empty"), 1, "", words);
    folder.write("nul", format!("{ABC}  x\0"));
    assert_eq!(folder.run("compare --zero nul a").stdout, b"changed x: different digest\n");
}

/// Links and special files are no files, and are not equal either.
#[test]
fn skipped_files_are_counted() {
    let folder = Folder::of(&["a/x", "b/y"]);
    folder.write("b/x", "a/x");
    fs::remove_file(folder.path("b/y")).unwrap();
    folder.link("x", "a/link");
    folder.link("x", "a/other");
    folder.link("gone", "b/broken");
    folder.fifo("b/pipe");
    let told = "lanesum: b/pipe: named pipe, skipped\n\
                lanesum: 1 file: 1 equal (3 B); skipped: 2 links in a, 1 link and 1 special \
                file in b\n";
    expect(&folder.run("compare a b"), 0, "", told);
    folder.write("list", line("a/x", "x"));
    let told = "lanesum: 1 file: 1 equal (3 B); skipped: 2 links in a\n";
    expect(&folder.run("compare list a"), 0, "", told);
    let told = "lanesum: 1 file: 1 equal (3 B)\n";
    expect(&folder.run("compare --exclude l* --exclude o* list a"), 0, "", told);
    let summed = folder.run("a");
    expect(
        &summed,
        0,
        line("a/x", "a/x"),
        "lanesum: skipped 2 links\nhint: --follow follows links\n",
    );
}

/// Paths that are too long for one call of the system, in two trees.
#[test]
fn paths_of_any_length_are_compared() {
    let folder = Folder::new();
    for tree in ["a", "b"] {
        folder.write(format!("{tree}/file"), "content");
        // From within, since no call could name the innermost folder.
        for _ in 0..25 {
            fs::create_dir(folder.path("around")).unwrap();
            let within = folder.path("around").join("d".repeat(200));
            fs::rename(folder.path(tree), within).unwrap();
            fs::rename(folder.path("around"), folder.path(tree)).unwrap();
        }
    }
    expect(&folder.run("compare a b"), 0, "", "lanesum: 1 file: 1 equal (7 B)\n");
}

/// A list of macOS beside a tree of Linux: names that look alike are said to be written otherwise.
#[test]
fn names_in_a_different_unicode_form_give_a_hint() {
    let folder = Folder::of(&["tree/b", "mac/a\u{308}"]);
    folder.write("tree/\u{e4}", "mac/a\u{308}");
    folder.write("mac/b", "tree/b");
    folder.write("list", format!("{}  a\u{308}\n{}  b\n", md5("mac/a\u{308}"), md5("tree/b")));
    let nfd = "names are in the Unicode form NFD (as on macOS)";
    let command = "uconv -x any-nfc <list | lanesum compare";
    let either = "names are in different Unicode forms on the two sides";
    for (args, words) in [
        ("list tree", format!("{nfd}, those of the files in NFC\nhint: {command} - tree\n")),
        ("tree list", format!("{nfd}, those of the files in NFC\nhint: {command} tree -\n")),
        ("-a md5 list tree", format!("{command} -a md5 - tree\n")),
        ("mac tree", format!("{either} (NFD, as on macOS, and NFC)\n")),
    ] {
        let run = folder.run(&format!("compare {args}"));
        assert_eq!(run.status.code(), Some(1), "{args}");
        let told = String::from_utf8(run.stderr).unwrap();
        assert!(told.contains(&words), "{args}: {told}");
    }
    // Also where the content is another one.
    folder.write("tree/\u{e4}", "edited");
    let told = String::from_utf8(folder.run("compare list tree").stderr).unwrap();
    assert!(told.contains(command), "{told}");
    folder.write("same", format!("{}  \u{e4}\n{}  c\n", md5("edited"), md5("tree/b")));
    let told = text(&folder.run("compare same tree").stderr);
    assert!(!told.contains("Unicode form"), "{told}");
}

/// With the sides exchanged, files that came are `missing`: the summary says which side is which.
#[test]
fn reversed_sides_are_named() {
    let folder = Folder::new();
    folder.write("d/a", "a");
    folder.run("-o l d");
    fs::remove_file(folder.path("d/a")).unwrap();
    folder.write("d/b", "b");
    let run = folder.run("compare d l");
    assert_eq!(text(&run.stdout), "missing b\nnew d/a\n");
    assert!(text(&run.stderr).ends_with("; before: d, after: l\n"), "{}", text(&run.stderr));
}

#[test]
fn size_or_digest_of_changed_files_is_named() {
    let folder = Folder::new();
    for (name, before, after) in [("longer", "abc", "abcd"), ("same", "abc", "abd")] {
        folder.write(format!("a/{name}"), before);
        folder.write(format!("b/{name}"), after);
    }
    let run = folder.run("compare a b");
    let told = "changed longer: size changed from 3 to 4 bytes\nchanged same: different digest\n";
    assert_eq!(text(&run.stdout), told);
}
