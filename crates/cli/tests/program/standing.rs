//! What the catalog says of how folders stand: nothing is well that was not looked at, and each
//! word has its way out.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::Value;

use super::serve::run;
use super::*;

/// A folder whose tree has these files, cataloged.
fn cataloged(paths: &[&str]) -> Folder {
    let folder = Folder::new();
    paths.iter().for_each(|path| folder.write(format!("tree/{path}"), path));
    expect(&folder, "add tree", 0, &[]);
    folder
}

/// Runs a verb, which is to end with this code and to say these words.
#[track_caller]
fn expect(folder: &Folder, args: &str, code: i32, words: &[&str]) -> String {
    let ran = run(folder, args);
    let told = text(&ran.stdout) + &text(&ran.stderr);
    assert_eq!(ran.status.code(), Some(code), "{args}: {told}");
    for words in words {
        assert!(told.contains(words), "{args}: {words} is not in {told}");
    }
    told
}

/// A link in a folder leads `forget` to no other file.
#[test]
fn names_below_a_folder_are_taken_as_they_are_written() {
    let folder = cataloged(&["2023/f1", "2023/f2", "archive/f1", "archive/f2"]);
    for name in ["archive/f1", "archive/f2"] {
        folder.write(format!("tree/{name}"), format!("another {name}"));
    }
    expect(&folder, "update", 3, &[]);
    fs::remove_dir_all(folder.path("tree/2023")).unwrap();
    symlink("archive", folder.path("tree/2023")).unwrap();
    expect(&folder, "update", 3, &["missing "]);
    expect(&folder, "accept tree/2023/f2", 1, &["2023/f2: there is no regular file"]);
    expect(&folder, "forget tree/2023/f1", 0, &["1 file forgotten"]);
    expect(&folder, "status", 1, &["3 files", "NOT WELL: 1 missing"]);
    expect(&folder, "forget tree/2023", 0, &["1 file forgotten, 1 of them not well"]);
    let list = expect(&folder, "catalog export tree", 0, &["tree/archive/f1", "tree/archive/f2"]);
    assert_eq!(list.lines().count(), 2, "{list}");
    // A link in place of the folder itself is another way to it.
    fs::rename(folder.path("tree"), folder.path("real")).unwrap();
    symlink("real", folder.path("tree")).unwrap();
    expect(&folder, "audit tree", 0, &["audit complete"]);
    expect(&folder, "audit", 0, &["audit complete"]);
}

/// What an audit told of holds until it is taken up.
#[test]
fn what_an_audit_found_is_known_until_it_is_taken_up() {
    let folder = cataloged(&["a", "b"]);
    folder.write("tree/new", "new");
    fs::rename(folder.path("tree/a"), folder.path("tree/c")).unwrap();
    expect(&folder, "audit", 3, &["new ", "moved "]);
    for _ in 0..2 {
        let line = "NOT TAKEN UP: 1 moved, 1 new";
        expect(&folder, "status", 3, &[line, "-> lanesum update\n"]);
        expect(&folder, "report", 3, &["lanesum: 1 moved, 1 new - tree\n", line]);
        expect(&folder, "report --html", 3, &[line]);
        let status: Value = serde_json::from_slice(&run(&folder, "status --json").stdout).unwrap();
        assert_eq!(status["not_taken_up"]["new"], 1, "{status}");
        expect(&folder, "audit", 3, &[]);
    }
    // A scrub looks for nothing new, and what it misses has another name until that is taken up.
    for _ in 0..2 {
        expect(&folder, "scrub --percent 100", 3, &["moved ", "2 files read"]);
        expect(&folder, "status", 3, &["NOT TAKEN UP: 1 moved, 1 new"]);
    }
    expect(&folder, "audit", 3, &["moved "]);
    expect(&folder, "update", 3, &[]);
    for verb in ["status", "report", "audit"] {
        expect(&folder, verb, 0, &[]);
    }
}

/// A check of nothing is not well: the disk may not be mounted.
/// As a rule its disk is not mounted, so that comes before `accept`.
#[test]
fn a_disk_that_is_not_mounted_is_to_be_mounted() {
    let folder = cataloged(&["a"]);
    fs::rename(folder.path("tree"), folder.path("away")).unwrap();
    folder.write("tree/a", "a");
    let words = ["mount or put back what belongs there; if its files are on this one", "accept"];
    expect(&folder, "audit", 4, &words);
    expect(&folder, "status", 4, &words);
}

#[test]
fn a_folder_without_files_is_not_well() {
    let folder = Folder::new();
    fs::create_dir(folder.path("tree")).unwrap();
    symlink("elsewhere", folder.path("tree/link")).unwrap();
    for args in ["add tree", "audit --all", "scrub --percent 100", "update"] {
        let words = ["NOT complete: nothing is cataloged: no regular file", "is its disk mounted?"];
        expect(&folder, args, 4, &words);
    }
    for args in ["status", "report", "report --html"] {
        expect(&folder, args, 4, &["NOTHING CATALOGED: no regular file is in it"]);
    }
    expect(&folder, "report", 4, &["1 without files"]);
    let status: Value = serde_json::from_slice(&run(&folder, "status --json").stdout).unwrap();
    assert_eq!(status["complete"], false, "{status}");
    folder.write("tree/a", "a");
    expect(&folder, "update", 3, &["1 new"]);
    expect(&folder, "status", 0, &[]);
    expect(&folder, "forget tree/a", 0, &[]);
    expect(&folder, "status", 4, &["NOTHING CATALOGED"]);
}

#[test]
fn an_empty_list_among_others_is_left_out() {
    let folder = Folder::new();
    folder.write("tree/a", "a");
    folder.write("tree/b", "b");
    let list = output(&mut folder.lanesum(["tree"]));
    folder.write("full.md5", list.stdout);
    folder.write("empty.md5", "");
    let none = "empty.md5: no checksum line in it";
    let words = [none, "Nothing was taken"];
    expect(&folder, "catalog import --add tree empty.md5", 1, &words);
    assert!(!folder.path("state/catalog.db").exists());
    let words = [none, "left out", "import NOT complete: 2 taken", "1 list without a line"];
    fs::create_dir(folder.path("state")).unwrap();
    expect(&folder, "catalog import --add tree empty.md5 full.md5", 4, &words);
    // What a list tells nothing of was not touched.
    let update = expect(&folder, "update", 0, &["2 ok"]);
    assert!(!update.contains("touched"), "{update}");
    expect(&folder, "status", 0, &["last: update of "]);
}

#[test]
fn a_folder_of_two_algorithms_is_exported() {
    let folder = cataloged(&["a", "b"]);
    let words = ["sha256 will be computed of each file when it is next read"];
    folder.write("tree/b", "edited");
    expect(&folder, "add tree -a sha256", 3, &words);
    let csv = expect(&folder, "catalog export tree --format csv", 0, &["tree/a,", "tree/b,"]);
    assert!(csv.contains("md5") && csv.contains("sha256"), "{csv}");
    expect(&folder, "catalog export tree --format gnu", 2, &["--algorithm chooses one"]);
    let words = ["tree/b", "tree: 1 file has no sha256 yet and is left out"];
    expect(&folder, "catalog export tree -a sha256", 1, &words);
    let words = ["tree: 2 files have no sha1 and are left out; `lanesum add -a sha1,sha256"];
    expect(&folder, "catalog export tree -a sha1", 1, &words);
    expect(&folder, "audit --all", 0, &[]);
    let list = expect(&folder, "catalog export tree -a sha256", 0, &["tree/a", "tree/b"]);
    assert_eq!(list.lines().count(), 2, "{list}");
    fs::remove_file(folder.path("tree/a")).unwrap();
    expect(&folder, "audit", 1, &[]);
    expect(&folder, "catalog export tree", 0, &["1 file is not well, or never read"]);
}

/// Commands that are printed mean what they are about, typed as they stand.
#[test]
fn commands_can_be_typed_as_they_are_printed() {
    let folder = Folder::new();
    folder.write("sp/f", "1");
    folder.write("sp ace/in/g", "2");
    let catalog = "--catalog other.db";
    let run = |args: &[&str], code: i32| {
        let mut command = folder.lanesum(args);
        let ran = output(command.args(["--catalog", "other.db"]));
        let told = text(&ran.stdout) + &text(&ran.stderr);
        assert_eq!(ran.status.code(), Some(code), "{args:?} {catalog}: {told}");
        told
    };
    run(&["add", "sp", "sp ace"], 0);
    let path = |name: &str| folder.path(name).display().to_string();
    let other = path("other.db");
    let told = run(&["add", "sp ace/in"], 1);
    assert!(told.contains(&format!("lanesum: '{}': overlaps", path("sp ace/in"))), "{told}");
    let forget = format!("`lanesum forget --catalog {other} '{}'`", path("sp ace"));
    assert!(told.contains(&forget), "{told}");
    for (args, code, verb) in [
        (&["pause"][..], 0, "resume"),
        (&["scrub"], 4, "resume"),
        (&["resume"], 0, ""),
        (&["audit", "sp/f"], 2, ""),
        (&["accept", "sp ace/none"], 1, "forget"),
        (&["catalog", "export", "sp", "-a", "sha1"], 1, "add -a md5,sha1"),
    ] {
        let told = run(args, code);
        let command = format!("lanesum {verb} --catalog {other}");
        assert!(verb.is_empty() || told.contains(&command), "{args:?}: {told}");
    }
    folder.write("sp/f", "edited");
    let told = run(&["audit", "sp"], 3);
    assert!(told.contains(&format!("`lanesum update --catalog {other}` does")), "{told}");
}

/// A list whose names are doubled is no beginning: what rotted would be new.
#[test]
fn a_folder_of_which_no_file_is_in_the_lists_is_not_taken_up() {
    let folder = Folder::of(&["arch/1", "arch/2"]);
    fs::create_dir(folder.path("state")).unwrap();
    folder.write("old.md5", lines(&["arch/1", "arch/2"]));
    let words = ["arch: no file of the lists is in it, the first is arch/arch/1: is --root"];
    expect(&folder, "catalog import --add arch --root arch old.md5", 2, &words);
    expect(&folder, "catalog import --add nope old.md5", 2, &["nope: No such file or directory"]);
    assert!(!exists(folder.path("state/catalog.db")));
    expect(&folder, "catalog import --add arch --root . old.md5", 3, &["2 taken from lists"]);
    folder.write("more.md5", lines(&["arch/3"]));
    expect(&folder, "catalog import more.md5", 4, &["arch/3: NOT taken: there is no such file"]);
}

/// Whoever names several gets what can be done, and is told of the rest.
#[test]
fn what_can_be_done_of_several_is_done() {
    let folder = Folder::new();
    folder.write("large/a", vec![0; 2_000_000]);
    folder.write("small/a", "a");
    expect(&folder, "add large small", 0, &["state/catalog.db: a new catalog"]);
    let limit = "limit large small --every 1d --limit 10B";
    expect(&folder, limit, 2, &["large: 2.00 MB in 1 d", "small: scrubbed every day"]);
    let refused = expect(&folder, "limit large --every 1d --limit 1B", 2, &["1 byte a second"]);
    assert!(!refused.contains("1 bytes"), "{refused}");
    expect(&folder, "limit small --limit -5", 2, &["a number of bytes is wanted"]);
    expect(&folder, "limit small --max-gone 5", 2, &["lanesum add DIR --max-gone"]);
    expect(&folder, "accept large", 0, &[]);
    expect(&folder, "accept -rf large/a", 2, &["one by one"]);
    fs::create_dir(folder.path("small/d")).unwrap();
    let words = ["small/d: is a folder", "small/none: if it was cataloged and is gone for good"];
    let words = [&words[..], &["it is as it was cataloged"]].concat();
    expect(&folder, "accept small/d small/none small/a", 1, &words);
    expect(&folder, "catalog backup -", 2, &["standard output is none"]);
    assert!(!folder.path("-").exists());
    let words = "state/catalog.db: is there already, and stays; name another";
    expect(&folder, "catalog backup state/catalog.db", 1, &[words]);
    let refused =
        expect(&folder, "catalog backup nowhere/copy.db", 1, &["nowhere/copy.db: No such"]);
    assert!(!refused.contains("unfinished"), "{refused}");
    let late = folder.run("--catalog state/catalog.db catalog check");
    let words = "options come after the command: lanesum catalog VERB ...";
    assert!(text(&late.stderr).contains(words), "{late:?}");
    let words = ["1 file forgotten; the folder is cataloged no more"];
    expect(&folder, "forget small", 0, &words);
}

#[test]
fn reports_for_programs_and_of_forgotten_folders_are_whole() {
    let folder = cataloged(&["a", "b"]);
    let tree = folder.path("tree").canonicalize().unwrap();
    let tree = tree.to_str().unwrap();
    fs::remove_file(folder.path("tree/b")).unwrap();
    expect(&folder, "update", 3, &[]);
    let row: Value = serde_json::from_slice(&run(&folder, "report --bad --json").stdout).unwrap();
    let before = row["before"].as_str().unwrap();
    assert!(before.contains(&format!("md5={}", md5("b"))), "{row}");
    let csv = expect(&folder, "report --bad --csv", 1, &["after,last_good", &md5("b")]);
    assert_eq!(csv.lines().nth(1).unwrap().split(',').count(), 8, "{csv}");

    fs::rename(folder.path("tree"), folder.path("away")).unwrap();
    expect(
        &folder,
        "audit",
        1,
        &["mount or put back what belongs there; if it lies elsewhere now"],
    );
    expect(&folder, "report --bad --csv", 1, &[&format!("suspended,{tree},")]);
    let rows = run(&folder, "report --bad --json").stdout;
    let first = rows.split(|&byte| byte == b'\n').next().unwrap();
    let first: Value = serde_json::from_slice(first).unwrap();
    assert_eq!((&first["class"], &first["path"]), (&"suspended".into(), &tree.into()));
    // With the catalog that is in use.
    let catalog = folder.path("state/catalog.db");
    let remedy = format!("lanesum forget --catalog {} {tree}", catalog.display());
    for verb in ["status", "report"] {
        let told = folder.run(&format!("{verb} --catalog state/catalog.db"));
        assert!(text(&told.stdout).contains(&remedy), "{told:?}");
    }
    expect(&folder, "forget tree", 0, &["2 files forgotten, 1 of them not well"]);
    let whole = format!("missing {tree}/b");
    expect(&folder, "report", 2, &["lanesum: nothing is cataloged\n", &whole]);
    expect(&folder, "report --csv", 2, &[&format!("missing,{tree}/b,")]);
}

/// What is forgotten is called what `status` calls it.
#[test]
fn what_was_changed_is_forgotten_as_not_taken_up() {
    let folder = cataloged(&["a", "b", "c"]);
    folder.write("tree/a", "edited");
    fs::remove_file(folder.path("tree/b")).unwrap();
    expect(&folder, "audit", 1, &[]);
    expect(&folder, "status", 1, &["NOT WELL: 1 missing", "NOT TAKEN UP: 1 changed"]);
    let words = ["3 files forgotten, 1 of them not well, 1 of them not taken up; the folder"];
    expect(&folder, "forget tree", 0, &words);
}

/// The catalog is named, and why it cannot be opened.
#[test]
fn another_users_catalog_is_told_as_such() {
    let folder = cataloged(&["a"]);
    let path = folder.path("state/catalog.db");
    let with_mode = |mode, args: &'static str| {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        std::thread::scope(|scope| {
            let ran = scope.spawn(|| {
                obey_modes();
                text(&run(&folder, args).stderr)
            });
            ran.join().unwrap()
        })
    };
    for (mode, args) in [
        (0, "status"),
        (0, "report"),
        (0, "catalog check"),
        (0, "pause"),
        (0o400, "pause"),
        (0o400, "update"),
        (0, "audit"),
    ] {
        let told = with_mode(mode, args);
        assert!(told.ends_with("state/catalog.db: Permission denied\n"), "{args}: {told}");
    }
}

/// What was left undone by a scrub is told with its way out, also by the mail.
#[test]
fn an_undone_scrub_has_a_remedy() {
    let folder = cataloged(&["a", "b"]);
    fs::rename(folder.path("tree"), folder.path("away")).unwrap();
    expect(&folder, "scrub", 4, &[]);
    fs::rename(folder.path("away"), folder.path("tree")).unwrap();
    expect(&folder, "update", 0, &[]);
    expect(&folder, "status", 4, &["NOT done: suspended; 0 files read  -> lanesum scrub\n"]);
    let words = ["1 NOT complete", "NOT done: suspended; 0 files read\n  -> lanesum scrub\n"];
    expect(&folder, "report", 4, &words);
    let words = ["NOT complete, it stopped at its limit: nothing was read"];
    expect(&folder, "scrub --percent 100 --max-time 0s", 4, &words);
    expect(&folder, "scrub", 0, &[]);
    expect(&folder, "status", 0, &[]);
}

/// What was left undone in one folder is known whatever is done in another one.
#[test]
fn a_scrub_of_another_folder_does_not_make_up_for_one_that_stopped() {
    let folder = Folder::of(&["one/a", "one/b", "two/c"]);
    for tree in ["one", "two"] {
        expect(&folder, &format!("add {tree}"), 0, &[]);
    }
    let words = ["NOT complete, it stopped at its limit"];
    expect(&folder, "scrub one --percent 100 --max-time 0s", 4, &words);
    expect(&folder, "scrub two --percent 100", 0, &[]);
    expect(&folder, "update two", 0, &[]);
    expect(&folder, "status two", 0, &[]);
    expect(&folder, "status one", 4, &["-> lanesum scrub"]);
    expect(&folder, "status", 4, &[]);
}
