//! The catalog itself, and how scrubs behave: pause, resume, limit, locks and errors.

use std::fs;
use std::io::Write as _;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::catalog::{
    cataloged, command, ends, findings, limited, objects, run, set_mode, shown, told, write_old,
};
use super::*;

/// Hours of the day that it is not now, in UTC.
fn other_hours() -> &'static str {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    if now.as_secs() / 3600 % 24 < 12 { "15:00-20:00" } else { "3:00-8:00" }
}

fn status(folder: &Folder, code: i32) -> Value {
    objects(folder, "status --json", code).remove(0)
}

#[test]
fn pause_lasts_until_it_is_ended() {
    let folder = cataloged(&["a", "b"]);
    let words = told(&folder, "pause", 0);
    assert!(words.contains("tree: paused since ") && words.ends_with("resume: lanesum resume\n"));
    assert_eq!(told(&folder, "pause tree", 0), words, "since the first time");
    let words = told(&folder, "scrub --percent 100 --now", 3);
    assert!(words.contains("scrub: incomplete (paused since "), "{words}");
    assert!(words.ends_with("hint: lanesum resume tree\n"), "{words}");
    ends(&folder, "verify", 0);
    assert!(status(&folder, 0)["paused_since"].as_str().unwrap().ends_with('Z'));
    let words = told(&folder, "status", 0);
    assert!(words.contains("tree: paused since ") && words.contains("\n  lanesum resume tree\n"));
    assert!(told(&folder, "resume", 0).contains("tree: resumed; it was paused since "));
    assert!(told(&folder, "resume", 0).contains("tree: was not paused"));
    ends(&folder, "scrub --percent 100", 0);
}

#[test]
fn limit_shows_and_changes_settings() {
    let folder = cataloged(&["a"]);
    let words = "tree: archive, md5, every 90 d, no limit, at any hour, max-gone 10 %\n";
    assert_eq!(told(&folder, "limit", 0), words);
    let words = told(&folder, "limit --limit 1M --between 1:00-6:00 --every 30d tree", 0);
    assert!(
        words.ends_with("every 30 d, at most 1.00 MB/s, 1:00-6:00, max-gone 10 %\n"),
        "{words}"
    );
    let words = told(&folder, "limit --limit none --between any", 0);
    assert!(words.contains("every 30 d, no limit, at any hour"), "{words}");
    ends(&folder, "limit --between 6:00-6:00", 2);
    assert!(told(&folder, "limit nowhere", 2).contains("nowhere: No such file"));
}

#[test]
fn limits_that_leave_too_little_time_are_refused() {
    let folder = Folder::new();
    folder.write("tree/a", vec![0; 2_000_000]);
    let words = told(&folder, "add tree --limit 10B --every 1d", 2);
    let arithmetic = "2.00 MB in 1 d need 2.22 MB a day, but 10 B a second allow only 864.00 kB\n";
    assert!(words.contains(arithmetic), "{words}");
    assert_eq!(folder.names(), ["tree"]);
    let words = told(&folder, "add tree --limit 10k --between 3:00-3:02", 2);
    assert!(words.contains("2.00 MB must be read at once, but 10.00 kB a second in 3:00-3:02"));
    ends(&folder, "add tree --limit 1M", 0);
    ends(&folder, "limit --limit 10B --every 1d", 2);
    assert_eq!(status(&folder, 0)["bytes_per_second"], 1_000_000);
}

#[test]
fn limits_change_all_directories_or_none() {
    let folder = cataloged(&["a"]);
    folder.write("big/a", vec![0; 2_000_000]);
    ends(&folder, "add big", 0);
    let before = told(&folder, "limit", 0);
    let words = told(&folder, "limit --limit 10B --every 1d tree big", 2);
    assert!(words.starts_with("lanesum: big: 2.00 MB in 1 d need"), "{words}");
    assert_eq!(told(&folder, "limit", 0), before);
}

#[test]
fn scrub_outside_of_its_hours_reads_nothing() {
    let folder = cataloged(&["a", "b"]);
    ends(&folder, &format!("limit --between {}", other_hours()), 0);
    let words = told(&folder, "scrub --percent 100", 3);
    let summary = "scrub: incomplete (outside of its hours); 0 files read, 0 B\n";
    assert!(words.contains(summary), "{words}");
    assert!(words.ends_with("hint: lanesum scrub --now --percent 100 tree\n"), "{words}");
    ends(&folder, "pause", 0);
    let nothing_is_bad = "no damaged, missing or unchecked files";
    for (args, result) in [
        ("scrub --bad", nothing_is_bad),
        ("scrub", "nothing is due"),
        ("scrub --now", "nothing is due"),
    ] {
        let words = told(&folder, args, 0);
        let expected = format!("lanesum: tree: scrub: {result}; 0 files read, 0 B\n");
        assert_eq!(words, expected, "{args}");
    }
    assert_eq!(told(&folder, "nightly", 0), "");
    ends(&folder, "resume", 0);
    ends(&folder, "scrub --percent 100 --now", 0);
}

#[test]
fn running_scrub_obeys_pause_and_limit() {
    let folder = Folder::in_memory();
    (0..40).for_each(|name| folder.write(format!("tree/{name:02}"), vec![name; 1_000_000]));
    ends(&folder, "add tree", 0);
    // It would take 80 seconds.
    ends(&folder, "limit --limit 500k", 0);
    let scrub = |args: &str| {
        let child = start(&mut command(&folder, "scrub --percent 100 --threads 1"));
        let began = Instant::now();
        std::thread::sleep(Duration::from_secs(2));
        let stat = fs::read_to_string(format!("/proc/{}/stat", child.child.id())).unwrap();
        assert_eq!(stat.split(' ').nth(18), Some("19"), "nice: {stat}");
        ends(&folder, args, 0);
        (child.finish(), began.elapsed())
    };
    let (paused, took) = scrub("pause");
    assert_eq!(paused.status.code(), Some(3), "{paused:?}");
    assert!(text(&paused.stderr).contains("incomplete (paused since "), "{paused:?}");
    assert!(took < Duration::from_secs(20), "{took:?}");
    ends(&folder, "resume", 0);
    let (faster, took) = scrub("limit --limit none --every 30d");
    assert_eq!(faster.status.code(), Some(0), "{faster:?}");
    assert!(took < Duration::from_secs(40), "{took:?}");
    assert_eq!(status(&folder, 0)["every_days"], 30);
}

#[test]
fn catalog_in_use_names_the_process() {
    let folder = cataloged(&["a"]);
    let lock = folder.path("state/catalog.db-lock");
    let mut held = File::options().write(true).truncate(true).open(&lock).unwrap();
    held.write_all(b"process 4711 (scrub)\n").unwrap();
    held.lock().unwrap();
    for args in ["update", "verify", "nightly", "accept tree/a", "forget tree"] {
        let words = told(&folder, args, 2);
        let expected = "lanesum: state/catalog.db: in use by process 4711 (scrub)\nhint: try again \
                        when it has ended\n";
        assert_eq!(words, expected, "{args}");
    }
    ends(&folder, "status", 0);
    ends(&folder, "pause", 0);
}

#[test]
fn missing_catalog_names_the_path() {
    let folder = Folder::of(&["tree/a"]);
    for args in ["status", "report", "update", "catalog check", "pause", "accept tree/a"] {
        let words = told(&folder, args, 2);
        let path = folder.path("state/catalog.db");
        let expected = format!(
            "lanesum: {}: No such file or directory\nhint: to create a catalog: lanesum add",
            path.display()
        );
        assert!(text(&run(&folder, args).stderr).starts_with(&expected), "{words}");
    }
    let mut command = folder.lanesum(["status"]);
    command.env_remove("LANESUM_CATALOG");
    command.env_remove("HOME").env_remove("XDG_STATE_HOME").env("SUDO_USER", "anna");
    let ran = output(&mut command);
    let words = text(&ran.stderr);
    if !rustix::process::geteuid().is_root() {
        assert!(words.ends_with("hint: name it with --catalog FILE\n"), "{words}");
    } else if !exists("/var/lib/lanesum/catalog.db") {
        assert!(words.starts_with("lanesum: /var/lib/lanesum/catalog.db: No such file"), "{words}");
        assert!(words.ends_with("--catalog ~anna/.local/state/lanesum/catalog.db\n"), "{words}");
    }
    assert_eq!(ran.status.code(), Some(2));
}

#[test]
fn catalog_without_directories_says_so() {
    let folder = cataloged(&["a"]);
    ends(&folder, "forget tree", 0);
    for args in ["status", "report", "nightly", "scrub"] {
        let words = told(&folder, args, 2);
        assert!(words.contains("the catalog has no directories\nhint: lanesum add DIR"), "{words}");
    }
}

#[test]
fn damaged_catalog_ends_with_4() {
    let folder = cataloged(&["a", "b"]);
    ends(&folder, "catalog backup copy.db", 0);
    let path = folder.path("state/catalog.db");
    // The path of the root is in its row and in an index.
    let needle = format!("{}/tree", folder.path("").canonicalize().unwrap().display());
    let mut bytes = fs::read(&path).unwrap();
    let places = bytes.windows(needle.len()).enumerate();
    let places = places.filter(|(_, it)| *it == needle.as_bytes());
    let places: Vec<_> = places.map(|(at, _)| at).collect();
    assert!(!places.is_empty());
    places.iter().for_each(|at| bytes[at + needle.len() - 1] ^= 1);
    fs::write(&path, &bytes).unwrap();
    let check = told(&folder, "catalog check", 4);
    assert!(check.contains("state/catalog.db: the catalog is damaged: "), "{check}");
    assert!(check.ends_with("hint: replace it with a copy made by `lanesum catalog backup`\n"));
    ends(&folder, "status", 4);
    fs::write(&path, "no database").unwrap();
    let words = told(&folder, "update", 4);
    assert!(words.contains("state/catalog.db: not a catalog, or damaged at its start"), "{words}");
    fs::copy(folder.path("copy.db"), &path).unwrap();
    ends(&folder, "catalog check", 0);
    ends(&folder, "verify", 0);
}

#[test]
fn device_or_empty_file_is_not_a_catalog() {
    let folder = Folder::of(&["tree/a"]);
    folder.write("empty", "");
    let words = "lanesum: empty: the catalog is damaged: the file is empty\n\
                 hint: restore a copy of the catalog, or delete the file if it is new\n";
    expect(&folder.run("add --catalog empty tree"), 4, "", words);
    for args in ["add --catalog /dev/null tree", "status --catalog /dev/null"] {
        let words = "lanesum: /dev/null: not a regular file, so not a catalog\n";
        expect(&folder.run(args), 2, "", words);
    }
}

#[test]
fn backup_never_replaces_a_file() {
    let folder = cataloged(&["a"]);
    let words = told(&folder, "catalog backup copy.db", 0);
    assert_eq!(words, "lanesum: copy.db: the backup is complete and checked\n");
    ends(&folder, "catalog backup copy.db", 2);
    ends(&folder, "catalog backup -", 2);
    let words = told(&folder, "status --catalog copy.db", 0);
    assert!(words.starts_with("1 file ok"), "{words}");
}

#[test]
fn catalog_that_this_user_may_not_read_is_named() {
    let folder = cataloged(&["a"]);
    for (mode, args) in [(0, "status"), (0, "catalog check"), (0o400, "pause"), (0o400, "update")] {
        set_mode(&folder, "state/catalog.db", mode);
        let ran = limited(|| run(&folder, args));
        let words = shown(&folder, &ran.stderr);
        assert_eq!(words, "lanesum: state/catalog.db: Permission denied\n", "{args}");
        assert_eq!(ran.status.code(), Some(2), "{args}");
    }
}

#[test]
fn audit_names_scan_and_verify() {
    let expected = "lanesum: audit: neither a file nor a command\nhint: did you mean lanesum verify \
                    (or scan, to compare only names, sizes and times)?\n";
    expect(&Folder::new().run("audit"), 2, "", expected);
}

#[test]
fn hints_name_the_catalog_that_the_command_line_named() {
    let folder = Folder::new();
    write_old(&folder, &["my tree/a"]);
    let add = ["add", "--catalog", "my.db", "my tree"];
    assert_eq!(output(&mut folder.lanesum(add)).status.code(), Some(0));
    fs::remove_file(folder.path("my tree/a")).unwrap();
    folder.write("my tree/b", "b");
    let ran = folder.run("update --catalog my.db");
    let root = folder.path("").canonicalize().unwrap();
    let hint = format!(
        "lanesum add --profile working --catalog {0}/my.db '{0}/my tree'\n",
        root.display()
    );
    assert!(text(&ran.stderr).ends_with(&hint), "{ran:?}");
}

#[test]
fn long_file_continues_where_a_scrub_left_it() {
    let folder = Folder::new();
    folder.write("tree/long", "content");
    let long = File::options().write(true).open(folder.path("tree/long")).unwrap();
    long.set_len(600_000_000).unwrap();
    drop(long);
    ends(&folder, "add tree -a crc32c", 0);
    for part in 1..=2 {
        ends(&folder, "scrub --percent 100 --max-bytes 1", 3);
        assert_eq!(status(&folder, 0)["partly_read"]["read"], part * (128 << 20));
    }
    let words = told(&folder, "status", 0);
    assert!(words.contains("tree: 1 file partly verified: 268.44 MB of 600.00 MB"), "{words}");
    assert_eq!(findings(&folder, "scrub --percent 100", 0), [""; 0]);
    assert_eq!(status(&folder, 0)["partly_read"], Value::Null);
}
