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

/// Gives a file another content, and leaves its time as it was.
fn alter(folder: &Folder, name: &str, content: &str) {
    let time = fs::metadata(folder.path(name)).unwrap().modified().unwrap();
    folder.write(name, content);
    let file = fs::File::options().write(true).open(folder.path(name)).unwrap();
    file.set_modified(time).unwrap();
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

/// What was damaged and is not there any more is both.
#[test]
fn what_was_damaged_and_is_gone_is_told_as_both() {
    let folder = cataloged(&["a", "b"]);
    alter(&folder, "tree/a", "A");
    expect(&folder, "audit", 1, &["altered "]);
    fs::remove_file(folder.path("tree/a")).unwrap();
    expect(&folder, "audit", 1, &["missing "]);
    expect(&folder, "report", 1, &["\naltered and gone ", "tree/a, last good"]);
    expect(&folder, "report --bad --json", 1, &["altered", "gone\\\":true"]);
    expect(&folder, "forget --missing tree", 0, &["1 missing file forgotten"]);
    expect(&folder, "status", 0, &[]);
}

/// In each form a report has the class that was told when it was found.
#[test]
fn reports_have_the_class_that_was_told() {
    let folder = cataloged(&["a", "b"]);
    let path = folder.path("tree/a");
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    folder.write("tree/a", "an older version");
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(time - std::time::Duration::from_secs(60)).unwrap();
    expect(&folder, "audit", 3, &["older "]);
    expect(&folder, "report", 3, &["\nolder ", "tree/a, last good"]);
    expect(&folder, "report --bad --json", 3, &["class\\\":\\\"older\\\""]);
    expect(&folder, "report --bad --csv", 3, &[",older,"]);
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
        expect(&folder, args, 4, &["NOTHING CATALOGED: no regular file was in it"]);
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

/// What a list knew and nobody finds is lost: it was told once, and `status` was 0.
#[test]
fn what_a_list_names_and_is_not_there_stays_known() {
    let folder = Folder::of(&["arch/1", "arch/2", "arch/3", "arch/4"]);
    fs::create_dir(folder.path("state")).unwrap();
    folder.write("old.md5", lines(&["arch/1", "arch/2", "arch/3", "arch/4"]));
    fs::remove_file(folder.path("arch/3")).unwrap();
    fs::rename(folder.path("arch/4"), folder.path("arch/new name")).unwrap();
    let words =
        ["arch/3: MISSING: there is no such file", "complete: 2 taken from lists", "2 MISSING"];
    expect(&folder, "catalog import --add arch old.md5", 1, &words);
    expect(&folder, "status", 1, &["4 files", "NOT WELL: 2 missing"]);
    expect(&folder, "update", 3, &["missing ", "moved ", "2 ok, 1 moved, 1 missing"]);
    expect(&folder, "status", 1, &["NOT WELL: 1 missing"]);
    expect(&folder, "report", 1, &["arch/3"]);
    let list = expect(&folder, "catalog export --format csv arch", 0, &["not well"]);
    assert!(list.lines().any(|line| line.contains(&format!(",,{}", md5("arch/3")))), "{list}");
    expect(&folder, "catalog check", 0, &[]);
    fs::remove_file(folder.path("arch/2")).unwrap();
    expect(&folder, "audit", 1, &["2 missing"]);
    expect(&folder, "forget --missing arch", 0, &["2 missing files forgotten"]);
    expect(&folder, "forget --missing arch", 0, &["0 missing files forgotten"]);
    expect(&folder, "audit --all", 0, &["audit complete: 2 ok"]);
    // The old list has old names.
    expect(&folder, "catalog import old.md5", 4, &["3 without a file"]);
    expect(&folder, "catalog check", 0, &[]);
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
    let words = [
        "small/d: is a folder",
        "small/none: is not there; if it was cataloged and is gone for good",
    ];
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

/// A list with other digests was looked at as a whole all the same.
#[test]
fn an_import_whose_digests_differ_is_told_as_such() {
    let folder = cataloged(&["a", "b"]);
    folder.write("l", format!("{}  tree/a\n{}  tree/b\n", md5("other"), md5("b")));
    expect(&folder, "catalog import l", 1, &["tree/a: DIFFERS", "import complete: 1 as cataloged"]);
    let words = "complete: a list has other digests than the catalog, which stay\n";
    let told = expect(&folder, "status", 0, &[words]);
    assert!(!told.contains("NOT"), "{told}");
    folder.write("l", line("gone", "tree/gone"));
    expect(&folder, "catalog import l", 4, &["import NOT complete"]);
    expect(&folder, "status", 0, &["NOT complete: something of the lists was not taken\n"]);
}

/// To accept a folder would accept what is not known of its files.
#[test]
fn a_folder_is_not_accepted() {
    let folder = cataloged(&["d/a", "b"]);
    let words = "`lanesum accept PATH...`; `lanesum report --bad` tells which are not well";
    expect(&folder, "accept tree/d", 1, &["files are accepted by their names", words]);
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

/// Runs something as whoever may not read what its mode forbids.
fn limited<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let limited = scope.spawn(|| {
            obey_modes();
            run()
        });
        limited.join().unwrap()
    })
}

fn set_mode(folder: &Folder, name: &str, mode: u32) {
    fs::set_permissions(folder.path(name), fs::Permissions::from_mode(mode)).unwrap();
}

fn json(folder: &Folder, args: &str) -> Value {
    let out = run(folder, args).stdout;
    serde_json::from_slice(&out).unwrap_or_else(|error| panic!("{args}: {error}: {}", text(&out)))
}

/// Whoever has only the scrub in cron hears of what may not be read.
#[test]
fn a_scrub_is_not_complete_where_the_last_look_could_not_see_all() {
    let folder = Folder::new();
    for name in ["a", "locked/b", "locked/c", "secret"] {
        folder.write(format!("tree/{name}"), name);
    }
    ["tree/locked", "tree/secret"].iter().for_each(|name| set_mode(&folder, name, 0));
    let added = limited(|| run(&folder, "add tree"));
    assert_eq!(added.status.code(), Some(1), "{added:?}");
    let words = ["scrub NOT complete: ", "not looked at: ", "/locked (Permission denied), "];
    for verb in ["scrub", "scrub --percent 100", "scrub --bad", "scrub -q", "scrub --max-bytes 1G"]
    {
        let words = [&words[..], &["/secret (Permission denied) (`lanesum audit` looks again)"]];
        let told = limited(|| expect(&folder, verb, 4, &words.concat()));
        assert!(!told.contains("nothing to do"), "{told}");
    }
    let remedy = "give lanesum's user the permission to read it, then lanesum audit";
    expect(&folder, "status", 4, &["scrub of ", "NOT complete: not all files are known", remedy]);
    let summary = limited(|| json(&folder, "scrub --json"));
    assert_eq!(
        (&summary["complete"], &summary["severity"]),
        (&false.into(), &"not all done".into())
    );
    assert_eq!(summary["not_looked_at"][1]["why"], "Permission denied", "{summary}");
    // What is accepted has a row; a look that is broken off sees nothing.
    set_mode(&folder, "tree/secret", 0o600);
    expect(&folder, "accept tree/secret", 0, &[]);
    let told = expect(&folder, "scrub", 4, &["/locked (Permission denied)"]);
    assert!(!told.contains("/secret"), "{told}");
    set_mode(&folder, "tree/locked", 0o700);
    expect(&folder, "scrub", 4, &["/locked (Permission denied)"]);
    expect(&folder, "audit", 3, &["2 new"]);
    expect(&folder, "scrub", 0, &["scrub complete: nothing to do"]);
    expect(&folder, "update", 3, &[]);
    expect(&folder, "status", 0, &[]);
}

/// What was new when it was cataloged may have been edited since, or have rotted: it is told that
/// this is not known.
#[test]
fn what_rots_before_it_is_at_rest_is_told_as_not_known() {
    let folder = Folder::in_memory();
    folder.write("tree/a", "aaaa");
    folder.write("tree/b", "bbbb");
    fs::create_dir(folder.path("state")).unwrap();
    expect(&folder, "add tree", 0, &[]);
    let flip = "import mmap,sys\nf=open(sys.argv[1],'r+b')\nm=mmap.mmap(f.fileno(),0)\nm[0]^=1\n";
    let python = Command::new("python3").arg("-c").arg(flip).arg(folder.path("tree/a")).status();
    assert!(python.is_ok_and(|status| status.success()), "python3 is needed to make a file rot");
    folder.write("tree/b", "edited");
    let why = "only its content is another; its times were less than a minute old when it was \
               cataloged, so an edit cannot be told from rot";
    let line = format!("/tree/a: {why}\n");
    let told = expect(&folder, "audit --all", 3, &["changed ", &line, "/tree/b\n"]);
    assert_eq!(told.matches(why).count(), 1, "{told}");
    let listed = "/tree/a, last good ";
    let report = expect(&folder, "report", 3, &[listed, &line]);
    assert_eq!(report.matches(why).count(), 2, "{report}");
    expect(&folder, "report --html", 3, &[why]);
    for args in ["audit --all --json", "report --json", "report --bad --json"] {
        let out = String::from_utf8(run(&folder, args).stdout).unwrap();
        assert!(out.contains(&format!(r#""why":"{why}""#)), "{args}: {out}");
        assert_eq!(out.matches(r#""why""#).count(), 1, "{args}: {out}");
    }
    // To take it up would make it well.
    expect(&folder, "status", 3, &["UP: 2 changed; 1 may have rotted  -> lanesum report --bad\n"]);
    assert!(report.contains("against a copy: `lanesum update` leaves it alone. If it is right"));
    let counted = "1 of them perhaps rotted (`lanesum report --bad` tells which)";
    let update = expect(&folder, "update", 3, &["changed ", counted]);
    assert_eq!(update.matches(why).count(), 1, "{update}");
    expect(&folder, "status", 3, &["UP: 1 changed; 1 may have rotted  -> lanesum report --bad\n"]);
    folder.write("tree/b", "edited once more");
    expect(&folder, "audit", 3, &[]);
    assert_eq!(json(&folder, "status --json")["may_be_rot"], 1);
    expect(&folder, "accept tree/a", 0, &[]);
    expect(&folder, "status", 3, &["NOT TAKEN UP: 1 changed  -> lanesum update\n"]);
    expect(&folder, "report", 3, &["`lanesum update` takes up what is changed.\n"]);
}

/// What is missing is not there, whatever is forgotten of it; what is damaged is, and stays so.
#[test]
fn forget_says_what_stays_damaged() {
    let folder = cataloged(&["a", "b", "c"]);
    fs::remove_file(folder.path("tree/a")).unwrap();
    expect(&folder, "audit", 1, &["missing"]);
    let told = expect(&folder, "forget tree/a", 0, &["1 file forgotten, 1 of them not well\n"]);
    assert!(!told.contains("stays so"), "{told}");
    alter(&folder, "tree/b", "");
    expect(&folder, "audit", 1, &["emptied"]);
    expect(&folder, "forget tree/b", 0, &["stays so: `lanesum accept`"]);
    expect(&folder, "status", 1, &["NOT WELL: 1 emptied"]);
    expect(&folder, "report", 1, &["emptied "]);
    expect(&folder, "scrub", 1, &["1 known not to be well"]);
    expect(&folder, "accept tree/b", 0, &[]);
    expect(&folder, "status", 0, &[]);
}

/// What is damaged or gone may be cataloged elsewhere as well.
#[test]
fn a_report_names_a_copy_of_what_is_lost() {
    let folder = cataloged(&["a", "b", "c", "d"]);
    folder.write("disk/copy of a", "a");
    folder.write("disk/b", "b");
    expect(&folder, "add disk", 0, &[]);
    fs::remove_file(folder.path("tree/a")).unwrap();
    fs::remove_file(folder.path("tree/b")).unwrap();
    fs::remove_file(folder.path("tree/c")).unwrap();
    // What is not well is no copy.
    fs::remove_file(folder.path("disk/b")).unwrap();
    expect(&folder, "audit", 1, &["missing"]);
    let told = expect(&folder, "report", 1, &[]);
    let copies: Vec<&str> = told.lines().filter(|line| line.contains("a copy should be")).collect();
    assert_eq!(copies.len(), 1, "{told}");
    assert!(copies[0].contains("/tree/a, ") && copies[0].ends_with("/disk/copy of a'"), "{told}");
    let out = String::from_utf8(run(&folder, "report --bad --json").stdout).unwrap();
    assert_eq!(out.matches(r#""copy":"#).count(), 1, "{out}");
}

/// A part of a folder that is not there is neither accepted nor forgotten.
#[test]
fn nothing_is_said_of_a_folder_that_is_away() {
    let folder = cataloged(&["a", "d/b"]);
    fs::rename(folder.path("tree"), folder.path("away")).unwrap();
    for args in ["accept tree", "accept tree/a", "forget tree/d", "forget tree/a"] {
        expect(&folder, args, 4, &["mount or put back what was there"]);
    }
    fs::rename(folder.path("away"), folder.path("tree")).unwrap();
    expect(&folder, "audit --all", 0, &[]);
    fs::rename(folder.path("tree"), folder.path("away")).unwrap();
    expect(&folder, "forget tree", 0, &["2 files forgotten"]);
}

/// What is accepted by itself is taken up, and nothing else is.
#[test]
fn what_is_accepted_of_what_an_audit_found_is_taken_up() {
    let folder = cataloged(&["a", "b"]);
    folder.write("tree/n1", "one");
    folder.write("tree/n2", "two");
    fs::rename(folder.path("tree/a"), folder.path("tree/moved")).unwrap();
    expect(&folder, "audit", 3, &["2 new"]);
    let stands = |counts: &str, json_counts: Value| {
        let code = if counts.is_empty() { 0 } else { 3 };
        let words = if counts.is_empty() { String::new() } else { format!("UP: {counts}  ->") };
        for verb in ["status", "report"] {
            let words = if verb == "report" { words.replace("  ->", "\n") } else { words.clone() };
            let told = expect(&folder, verb, code, &[&words]);
            assert_eq!(told.contains("NOT TAKEN UP"), code == 3, "{told}");
        }
        assert_eq!(json(&folder, "status --json")["not_taken_up"], json_counts);
    };
    stands("1 moved, 2 new", serde_json::json!({ "moved": 1, "new": 2 }));
    // It came later, so no audit counted it.
    folder.write("tree/n3", "three");
    expect(&folder, "accept tree/n1 tree/n3", 0, &[]);
    stands("1 moved, 1 new", serde_json::json!({ "moved": 1, "new": 1 }));
    expect(&folder, "accept tree/n1", 0, &[]);
    stands("1 moved, 1 new", serde_json::json!({ "moved": 1, "new": 1 }));
    expect(&folder, "scrub --percent 100", 3, &["moved "]);
    expect(&folder, "accept tree/moved", 0, &[]);
    stands("1 new", serde_json::json!({ "new": 1 }));
    expect(&folder, "accept tree/n2", 0, &[]);
    stands("", serde_json::json!({}));
    // It is as it was found.
    expect(&folder, "forget tree/n2", 0, &[]);
    stands("1 new", serde_json::json!({ "new": 1 }));
}

/// Under whatever name; another file in its old place is not it.
#[test]
fn what_moved_on_is_taken_up_with_its_row() {
    let folder = cataloged(&["a", "b"]);
    fs::rename(folder.path("tree/a"), folder.path("tree/moved")).unwrap();
    expect(&folder, "audit", 3, &["moved "]);
    fs::rename(folder.path("tree/moved"), folder.path("tree/further")).unwrap();
    expect(&folder, "accept tree/further", 0, &["tree/a is no longer cataloged"]);
    expect(&folder, "status", 0, &[]);
    fs::rename(folder.path("tree/further"), folder.path("tree/away")).unwrap();
    expect(&folder, "audit", 3, &["moved "]);
    folder.write("tree/further", "another");
    expect(&folder, "accept tree/further", 0, &[]);
    expect(&folder, "status", 3, &["NOT TAKEN UP: 1 moved"]);
}

/// Whatever became of its old name.
#[test]
fn what_moved_is_taken_up_as_new_once_its_old_name_is_forgotten() {
    let folder = cataloged(&["a", "b"]);
    fs::rename(folder.path("tree/a"), folder.path("tree/moved")).unwrap();
    expect(&folder, "audit", 3, &["moved "]);
    expect(&folder, "forget tree/a", 0, &[]);
    expect(&folder, "status", 3, &["NOT TAKEN UP: 1 moved"]);
    expect(&folder, "accept tree/moved", 0, &[]);
    expect(&folder, "status", 0, &[]);
}

/// What cannot be compared is not complete, and what is told lets it be.
#[test]
fn lists_of_another_algorithm_are_compared_as_is_told() {
    let folder = cataloged(&["a", "b"]);
    let list = folder.run("-a sha256 tree/a tree/b");
    folder.write("list", &list.stdout);
    let told = expect(&folder, "catalog import list", 4, &["NOT complete", "`lanesum add -a "]);
    expect(&folder, "status", 0, &["NOT complete: something of the lists was not taken"]);
    for command in told.split('`').filter_map(|it| it.strip_prefix("lanesum ")) {
        expect(&folder, command, 0, &[]);
    }
    expect(&folder, "catalog import list", 0, &["import complete: 2 as cataloged"]);
}

/// A folder that is suspended for what is gone from it is accepted by no word.
#[test]
fn the_folder_itself_is_nothing_to_accept() {
    let names: Vec<_> = (0..130).map(|number| format!("f{number}")).collect();
    let folder = cataloged(&names.iter().map(String::as_str).collect::<Vec<_>>());
    expect(&folder, "accept tree", 0, &["nothing of it was to be accepted; `lanesum audit"]);
    names[..120]
        .iter()
        .for_each(|name| fs::remove_file(folder.path(format!("tree/{name}"))).unwrap());
    expect(&folder, "audit", 4, &["suspended"]);
    expect(&folder, "accept tree", 0, &["nothing of it was to be accepted"]);
    expect(&folder, "status", 4, &["SUSPENDED: 120 of 130 files are gone"]);
    expect(&folder, "update --max-gone 100 tree", 3, &["missing "]);
    expect(&folder, "forget --missing tree", 0, &["120 missing files forgotten"]);
    expect(&folder, "forget tree/f129", 0, &["1 file forgotten; what is there is new to the next"]);
    expect(&folder, "forget tree", 0, &["the folder is cataloged no more"]);
    expect(&folder, "add tree", 0, &[]);
    expect(&folder, "report", 0, &["/tree (9 files): it is cataloged no more"]);
}

/// A remedy is not what just failed.
#[test]
fn what_is_not_there_is_not_told_to_be_accepted() {
    let folder = cataloged(&["a"]);
    fs::rename(folder.path("tree"), folder.path("away")).unwrap();
    let told = expect(&folder, "accept tree", 4, &["No such file or directory"]);
    assert!(!told.contains("lanesum accept"), "{told}");
    let told = expect(&folder, "accept tree/a", 4, &["if it is gone for good: `lanesum forget"]);
    assert!(!told.contains("lanesum accept"), "{told}");
    fs::create_dir(folder.path("tree")).unwrap();
    let told = expect(&folder, "accept tree", 4, &["nothing is in it"]);
    assert!(!told.contains("lanesum accept"), "{told}");
    folder.write("tree/b", "b");
    expect(&folder, "accept tree/a", 4, &["if its files are here from now on: `lanesum accept"]);
    expect(&folder, "accept tree", 0, &[]);
}

/// That a folder is empty is said only of one that was looked into.
#[test]
fn nothing_is_said_of_a_folder_that_could_not_be_looked_into() {
    let folder = Folder::new();
    folder.write("tree/a", "a");
    set_mode(&folder, "tree", 0);
    for args in ["add tree", "update", "audit", "scrub", "status", "report", "report --html"] {
        let ran = limited(|| run(&folder, args));
        let told = text(&ran.stdout) + &text(&ran.stderr);
        assert!(ran.status.code() != Some(0) && told.contains("Permission denied"), "{told}");
        assert!(!told.contains("no regular file") && !told.contains("mounted"), "{args}: {told}");
        assert!(!told.contains("lanesum forget"), "{args}: {told}");
    }
    set_mode(&folder, "tree", 0o700);
    // A list takes it up no further.
    fs::create_dir(folder.path("other")).unwrap();
    folder.write("other/b", "b");
    folder.write("list", folder.run("other").stdout);
    expect(&folder, "catalog import --add other list", 3, &[]);
    expect(&folder, "forget other/b", 0, &[]);
    let told =
        expect(&folder, "scrub other", 4, &["nothing of it is cataloged, not all files are"]);
    assert!(!told.contains("?,"), "{told}");
    // What an audit found is no empty folder's either.
    fs::create_dir(folder.path("third")).unwrap();
    expect(&folder, "add third", 4, &["no regular file is in it"]);
    folder.write("third/c", "c");
    expect(&folder, "audit third", 4, &["1 new"]);
    let told = expect(&folder, "status third", 4, &["NOT TAKEN UP: 1 new"]);
    assert!(!told.contains("no regular file"), "{told}");
}

/// Cron has no variables of a shell, and mails what is printed.
#[test]
fn cron_is_told_of_the_catalog_and_of_nothing_that_is_well() {
    let folder = Folder::new();
    for verb in ["scrub", "status"] {
        let words = ["no catalog at ", "--catalog FILE or LANESUM_CATALOG", "lanesum add"];
        expect(&folder, verb, 2, &words);
    }
    expect(&folder, "status -q", 2, &["no catalog at"]);
    let folder = cataloged(&["a"]);
    for args in ["status -q", "status --quiet --json", "report -q", "report --quiet --html"] {
        assert_eq!(expect(&folder, args, 0, &[]), "", "{args}");
    }
    folder.write("tree/a", "another");
    expect(&folder, "audit", 3, &[]);
    let said = |args: &str| text(&run(&folder, args).stdout);
    for verb in ["status", "report", "report --csv"] {
        assert!(said(verb).len() > 10 && said(verb) == said(&format!("{verb} -q")), "{verb}");
    }
}

#[test]
fn words_name_what_they_mean() {
    let folder = Folder::new();
    for name in ["one/same/a", "two/same/a", "alone/a"] {
        folder.write(name, name);
    }
    expect(&folder, "add one/same two/same alone", 0, &[]);
    let one = folder.path("one").canonicalize().unwrap();
    // A parent of folders, and what is in none.
    let words = "one: is no folder of the catalog, and has such in it; name these: ";
    let words = format!("{words}{}/same\n", one.display());
    for verb in ["forget", "catalog export", "accept"] {
        for (args, words) in [("one", &*words), ("nowhere", "`lanesum status` tells which")] {
            let told = expect(&folder, &format!("{verb} {args}"), 2, &[words]);
            assert!(!told.contains("lanesum add"), "{told}");
            assert_eq!(told.lines().count(), 1, "{told}");
        }
    }
    fs::create_dir(folder.path("one/same/sub")).unwrap();
    let told = expect(&folder, "accept one/same/sub", 1, &["is a folder, and files are accepted"]);
    assert_eq!(told.lines().count(), 1, "{told}");
    // Folders of one name are told apart.
    for name in ["one/same/a", "two/same/a", "alone/a"] {
        folder.write(name, "older");
        let old = std::time::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        File::options().write(true).open(folder.path(name)).unwrap().set_modified(old).unwrap();
    }
    expect(&folder, "audit", 3, &["older "]);
    let two = folder.path("two/same").canonicalize().unwrap();
    let subject = format!(" - {}/same, {}, alone\n", one.display(), two.display());
    expect(&folder, "report", 3, &[&subject, "\nolder "]);
    // A folder that is gone may lie elsewhere, which the program's own help tells about.
    fs::rename(folder.path("alone"), folder.path("elsewhere")).unwrap();
    expect(&folder, "audit alone", 4, &["if it lies elsewhere now, `lanesum help catalog` tells"]);
    expect(
        &folder,
        "help catalog",
        0,
        &["lanesum catalog import --add /new/photos --root /new/photos list"],
    );
}

/// What was never read as it is cataloged has no date.
#[test]
fn a_date_that_is_not_known_is_none() {
    let folder = Folder::new();
    folder.write("tree/a", "a");
    folder.write("tree/b", "b");
    folder.write("list", folder.run("tree").stdout);
    expect(&folder, "catalog import --add tree list", 3, &[]);
    fs::remove_file(folder.path("tree/a")).unwrap();
    expect(&folder, "audit", 1, &["missing "]);
    assert_eq!(json(&folder, "report --bad --json")["last_good"], Value::Null);
}

/// A run that is broken off is to be done again as it was.
#[test]
fn an_audit_of_all_that_was_broken_off_is_to_be_one_of_all() {
    let folder = Folder::new();
    folder.write("tree/a", "");
    File::options().write(true).open(folder.path("tree/a")).unwrap().set_len(500_000_000).unwrap();
    expect(&folder, "add tree", 0, &[]);
    let mut command = folder.lanesum("audit --all".split(' '));
    command.env("LANESUM_CATALOG", folder.path("state/catalog.db"));
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    while !text(&run(&folder, "status").stdout).contains("audit of") {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    if text(&run(&folder, "status").stdout).contains("interrupted") {
        expect(
            &folder,
            "status",
            4,
            &["NOT complete: interrupted; 0 files read  -> lanesum audit --all\n"],
        );
    } else {
        skip("the audit was done before it was killed");
    }
}
