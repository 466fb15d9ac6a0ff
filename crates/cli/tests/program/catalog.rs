//! The commands that scan, read and record files: add, scan, update, verify, scrub, nightly.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Output;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::*;

/// Runs a command with a catalog in the folder, in UTC.
#[track_caller]
pub fn run(folder: &Folder, args: &str) -> Output {
    output(&mut command(folder, args))
}

pub fn command(folder: &Folder, args: &str) -> Command {
    let mut command = folder.lanesum(args.split_whitespace());
    command.env("LANESUM_CATALOG", folder.path("state/catalog.db")).env("TZ", "UTC");
    command
}

/// Runs a command that is to end with this code.
#[track_caller]
pub fn ends(folder: &Folder, args: &str, code: i32) -> Output {
    let ran = run(folder, args);
    assert_eq!(ran.status.code(), Some(code), "{args}: {ran:?}");
    ran
}

/// What a command that ends with this code prints, both streams.
#[track_caller]
pub fn told(folder: &Folder, args: &str, code: i32) -> String {
    let ran = ends(folder, args, code);
    shown(folder, &ran.stdout) + &shown(folder, &ran.stderr)
}

/// What is printed, without the path of the folder.
pub fn shown(folder: &Folder, bytes: &[u8]) -> String {
    let root = folder.path("").canonicalize().unwrap();
    text(bytes).replace(&format!("{}/", root.display()), "")
}

/// The lines of standard output.
#[track_caller]
pub fn findings(folder: &Folder, args: &str, code: i32) -> Vec<String> {
    let ran = ends(folder, args, code);
    shown(folder, &ran.stdout).lines().map(str::to_owned).collect()
}

/// The JSON objects that a command prints.
#[track_caller]
pub fn objects(folder: &Folder, args: &str, code: i32) -> Vec<Value> {
    let ran = ends(folder, args, code);
    let lines = ran.stdout.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

/// Writes files that hold their own paths and were modified an hour ago, so that a read of them
/// settles their records.
pub fn write_old(folder: &Folder, paths: &[&str]) {
    for path in paths {
        folder.write(path, path);
        set_old(folder, path);
    }
}

fn set_old(folder: &Folder, path: &str) {
    let file = File::options().write(true).open(folder.path(path)).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
}

/// A folder with these files in its directory `tree`, which is in a catalog.
#[track_caller]
pub fn cataloged(paths: &[&str]) -> Folder {
    let folder = Folder::new();
    let paths: Vec<_> = paths.iter().map(|path| format!("tree/{path}")).collect();
    write_old(&folder, &paths.iter().map(String::as_str).collect::<Vec<_>>());
    ends(&folder, "add tree", 0);
    folder
}

/// Gives a file another content, and leaves its modification time.
pub fn damage(folder: &Folder, path: &str, content: &str) {
    let time = fs::metadata(folder.path(path)).unwrap().modified().unwrap();
    fs::write(folder.path(path), content).unwrap();
    File::options().write(true).open(folder.path(path)).unwrap().set_modified(time).unwrap();
}

/// Runs something as a user who may not read what a mode forbids.
pub fn limited<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let limited = scope.spawn(|| {
            obey_modes();
            run()
        });
        limited.join().unwrap()
    })
}

pub fn set_mode(folder: &Folder, name: &str, mode: u32) {
    fs::set_permissions(folder.path(name), fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn add_records_files_and_creates_the_catalog() {
    let folder = Folder::new();
    write_old(&folder, &["tree/a", "tree/d/b"]);
    symlink("a", folder.path("tree/link")).unwrap();
    folder.write("tree/x.tmp", "excluded");
    let words = told(&folder, "add tree", 0);
    assert!(words.contains("lanesum: state/catalog.db: created the catalog\n"), "{words}");
    let summary = "lanesum: tree: add: 2 recorded; 2 files read, 14 B; skipped: 1 symbolic link, \
                   1 excluded name\n";
    assert!(words.ends_with(summary), "{words}");
    let mode = fs::metadata(folder.path("state/catalog.db")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn dry_run_shows_what_add_would_record_and_changes_nothing() {
    let folder = Folder::of(&["tree/a", "tree/d/b", "tree/x.tmp", "tree/skip/c"]);
    symlink("a", folder.path("tree/link")).unwrap();
    let lines = findings(&folder, "add --dry-run --exclude skip/ tree", 0);
    assert_eq!(
        lines,
        [
            "tree: 2 files, 14 B would be recorded",
            "  tree/skip (excluded)",
            "  tree/x.tmp (excluded)",
            "  tree/link (symbolic link, skipped)",
        ]
    );
    assert_eq!(folder.names(), ["tree"]);
    ends(&folder, "add tree", 0);
    let words = told(&folder, "add --dry-run tree", 0);
    assert!(
        words.contains("tree: 3 files, 25 B would be compared with their records\n"),
        "{words}"
    );
    assert!(words.ends_with("hint: to list new and edited files: lanesum scan tree\n"), "{words}");
}

#[test]
fn excludes_of_options_and_ignore_files_are_not_recorded() {
    let folder = Folder::of(&["tree/a", "tree/b.o", "tree/d/c", "tree/d/log", "tree/Thumbs.db"]);
    folder.write("tree/d/.lanesumignore", "log\n");
    ends(&folder, "add --exclude *.o tree", 0);
    let files = || -> Vec<String> {
        let list = shown(&folder, &ends(&folder, "catalog export --relative tree", 0).stdout);
        list.lines().map(|line| line.split("  ").nth(1).unwrap().to_owned()).collect()
    };
    assert_eq!(files(), ["a", "d/.lanesumignore", "d/c"]);
    ends(&folder, "add --no-default-excludes tree", 0);
    assert!(files().contains(&"Thumbs.db".to_owned()));
    assert!(!files().contains(&"b.o".to_owned()), "the pattern is kept");
}

#[test]
fn add_again_replaces_only_the_named_settings() {
    let folder = cataloged(&["a"]);
    ends(&folder, "add --every 30d --profile working tree", 0);
    ends(&folder, "add -a sha256 --max-gone 20 tree", 0);
    let status = &objects(&folder, "status --json", 0)[0];
    assert_eq!(
        (&status["every_days"], &status["profile"], &status["algorithms"]),
        (&30.into(), &"working".into(), &["sha256"][..].into())
    );
    let words = told(&folder, "limit", 0);
    assert!(words.contains("tree: working, sha256, every 30 d") && words.contains("max-gone 20 %"));
}

#[test]
fn add_of_an_empty_directory_fails_and_leaves_no_catalog() {
    let folder = Folder::of(&["tree/"]);
    let words = told(&folder, "add tree", 2);
    assert_eq!(
        words,
        "lanesum: tree: the directory has no files to record\nhint: is its disk mounted?\n"
    );
    assert_eq!(folder.names(), ["tree"]);
    folder.write("tree/x.tmp", "excluded");
    ends(&folder, "add tree", 2);
    ends(&folder, "add tree/x.tmp", 2);
    ends(&folder, "add nowhere", 2);
    assert_eq!(folder.names(), ["tree"]);
}

#[test]
fn add_of_a_renamed_or_overlapping_directory_names_the_command() {
    let folder = cataloged(&["a", "d/b"]);
    for args in ["add tree/d", "add --dry-run tree/d"] {
        let words = told(&folder, args, 2);
        let overlaps = "lanesum: tree/d: already recorded as part of tree\n";
        assert!(words.starts_with(overlaps), "{words}");
    }
    let words = told(&folder, "add tree/d", 2);
    assert!(words.ends_with("hint: lanesum update tree\n"), "{words}");
    fs::rename(folder.path("tree"), folder.path("new")).unwrap();
    let words = told(&folder, "add new", 2);
    assert!(words.contains("new: in the catalog as tree\n"), "{words}");
    assert!(words.ends_with("hint: lanesum relocate tree new\n"), "{words}");
}

#[test]
fn scan_reads_nothing_and_says_so() {
    let folder = cataloged(&["a", "b"]);
    damage(&folder, "tree/a", "TREE/A");
    let words = told(&folder, "scan", 0);
    assert_eq!(
        words,
        "lanesum: tree: scan: 2 with the recorded size and time; contents not checked\n"
    );
    folder.write("tree/new", "new");
    assert_eq!(findings(&folder, "scan", 0), ["new      tree/new"]);
    assert_eq!(findings(&folder, "scan --changes", 1), ["new      tree/new"]);
    assert!(told(&folder, "scan nowhere", 2).contains("nowhere: No such file or directory"));
    assert!(told(&folder, "scan tree/a", 2).ends_with("hint: name the whole directory: tree\n"));
}

#[test]
fn verify_finds_damage_that_update_never_records() {
    let folder = cataloged(&["a", "b"]);
    damage(&folder, "tree/a", "TREE/A");
    for args in ["verify", "update", "scrub --bad", "verify tree/a"] {
        let damaged = ["damaged  tree/a (rewritten, time unchanged)"];
        assert_eq!(findings(&folder, args, 1), damaged, "{args}");
    }
    let words = told(&folder, "update", 1);
    assert!(
        words.ends_with("hint: what to do about damaged files: lanesum report tree\n"),
        "{words}"
    );
    folder.write("tree/a", "edited later");
    ends(&folder, "update", 1);
    folder.write("tree/a", "tree/a");
    let restored = ["ok       tree/a (restored; was damaged)"];
    assert_eq!(findings(&folder, "verify", 0), restored);
    assert_eq!(findings(&folder, "verify", 0), [""; 0]);
}

#[test]
fn update_records_edited_moved_and_new_files() {
    let folder = cataloged(&["a", "d/b", "d/c"]);
    folder.write("tree/a", "edited");
    folder.write("tree/new", "new");
    fs::rename(folder.path("tree/d"), folder.path("tree/e")).unwrap();
    let mut lines = findings(&folder, "update", 0);
    lines.sort();
    let expected =
        ["edited   tree/a", "moved    tree/d/ -> tree/e/ (2 files)", "new      tree/new"];
    assert_eq!(lines, expected);
    assert_eq!(findings(&folder, "update --changes", 0), [""; 0]);
    folder.write("tree/a", "edited again");
    ends(&folder, "update --changes", 1);
}

#[test]
fn missing_file_is_a_problem_in_an_archive_and_a_change_in_a_working_root() {
    let folder = cataloged(&["a", "b"]);
    fs::remove_file(folder.path("tree/a")).unwrap();
    let words = told(&folder, "update", 1);
    assert!(words.starts_with("missing  tree/a\n"), "{words}");
    let hint =
        "hint: if deletions are normal in this directory: lanesum add --profile working tree\n";
    assert!(words.ends_with(hint), "{words}");
    ends(&folder, "scan", 1);
    ends(&folder, "add --profile working tree", 0);
    ends(&folder, "update", 0);
    ends(&folder, "status", 0);
    let deleted = told(&folder, "report --deleted", 0);
    assert!(deleted.contains(&format!("tree/a (md5:{})\n", md5("tree/a"))), "{deleted}");
    assert!(deleted.ends_with("lanesum: 1 file deleted in the last 90 d\n"), "{deleted}");
    assert!(told(&folder, "report --deleted --csv", 0).contains("tree,tree/a,"));
    let object = &objects(&folder, "report --deleted --json", 0)[0];
    assert_eq!(object["recorded"]["digests"]["md5"], md5("tree/a"));
}

#[test]
fn verify_of_paths_reads_only_these() {
    let folder = cataloged(&["a", "b", "d/c"]);
    let words = told(&folder, "verify tree/a tree/d", 0);
    assert!(words.contains("verify: 2 ok; 2 files read, 14 B\n"), "{words}");
    let words = told(&folder, "verify elsewhere", 2);
    assert!(words.contains("elsewhere: No such file"), "{words}");
    let words = told(&folder, "verify state", 2);
    assert!(words.contains("state: not in the catalog\nhint: lanesum add state\n"), "{words}");
    let words = told(&folder, "verify .", 2);
    assert!(words.ends_with("hint: directories in it are: tree\n"), "{words}");
}

#[test]
fn scrub_that_stops_at_its_limit_is_incomplete() {
    let folder = cataloged(&["a", "b", "c"]);
    let words = told(&folder, "scrub --percent 100 --max-bytes 1", 3);
    assert!(
        words.contains("scrub: incomplete (stopped at its limit): 1 ok; 1 file read"),
        "{words}"
    );
    let words = told(&folder, "scrub --percent 100", 0);
    assert!(words.contains("scrub: 3 ok; 3 files read"), "{words}");
    let words = told(&folder, "scrub --older-than 1d", 0);
    assert!(words.contains("0 files read"), "{words}");
    folder.write("tree/new", "new");
    assert_eq!(findings(&folder, "scrub --changes", 1), ["new      tree/new"]);
}

#[test]
fn nightly_prints_only_what_needs_attention() {
    let folder = cataloged(&["a", "b", "c"]);
    folder.write("tree/a", "edited");
    folder.write("tree/new", "new");
    fs::rename(folder.path("tree/b"), folder.path("tree/moved")).unwrap();
    assert_eq!(told(&folder, "nightly", 0), "");
    assert_eq!(objects(&folder, "nightly --json", 0)[0]["attention"], "nothing");
    assert_eq!(told(&folder, "nightly --quiet", 0), "");
    assert_eq!(told(&folder, "nightly --json --quiet", 0), "");
    let help = text(&ends(&folder, "nightly -h", 0).stdout);
    assert!(help.contains("With --json, summarize only directories with problems\n"), "{help}");
    assert!(told(&folder, "status", 0).starts_with("4 files ok\n"), "they are recorded");
    fs::remove_file(folder.path("tree/c")).unwrap();
    folder.write("tree/a", "edited again");
    let words = told(&folder, "nightly", 1);
    assert!(words.starts_with("missing  tree/c\nlanesum: tree: nightly: 1 missing, "), "{words}");
    assert_eq!(words.lines().count(), 3, "with a hint: {words}");
    let objects = objects(&folder, "nightly --json", 1);
    assert_eq!((&objects[0]["class"], &objects[1]["verb"]), (&"missing".into(), &"nightly".into()));
    assert_eq!(told(&folder, "nightly --json --quiet", 1).lines().count(), 2);
}

#[test]
fn json_has_a_line_for_each_finding_and_a_summary_last() {
    let folder = cataloged(&["a", "b"]);
    damage(&folder, "tree/a", "TREE/A");
    folder.write(b"tree/\xff", "new");
    let objects = objects(&folder, "verify --json", 1);
    let find = |class: &str| objects.iter().find(|it| it["class"] == class).unwrap();
    let damaged = find("damaged");
    assert_eq!((&damaged["schema"], &damaged["event"]), (&1.into(), &"finding".into()));
    assert_eq!((&damaged["reason"], &damaged["files"]), (&"rewritten".into(), &1.into()));
    assert_eq!(damaged["recorded"]["digests"]["md5"], md5("tree/a"));
    assert_eq!(damaged["found"]["digests"]["md5"], md5("TREE/A"));
    assert!(damaged["recorded"]["mtime"].as_str().unwrap().ends_with('Z'), "{damaged}");
    assert!(damaged["path"].as_str().unwrap().ends_with("/tree/a"));
    assert!(find("new")["path_base64"].is_string() && find("new")["path"].is_null());
    let summary = objects.last().unwrap();
    assert_eq!((&summary["event"], &summary["attention"]), (&"summary".into(), &"problem".into()));
    assert_eq!(summary["counts"]["damaged"], 1, "{summary}");
}

#[test]
fn quiet_prints_no_summary_unless_something_needs_attention() {
    let folder = cataloged(&["a"]);
    for args in ["scan -q", "update -q", "verify -q", "scrub -q", "add -q tree", "status -q"] {
        assert_eq!(told(&folder, args, 0), "", "{args}");
    }
    fs::remove_file(folder.path("tree/a")).unwrap();
    folder.write("tree/b", "b");
    assert!(told(&folder, "scan -q", 1).contains("scan: 1 missing, 1 new"));
}
