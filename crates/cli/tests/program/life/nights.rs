//! What runs every night, and what others are told by it.

use lanesum_catalog::{Catalog, Options, Settings, Target, Task};

use super::*;

#[test]
fn nightly_is_silent_without_findings() {
    let folder = recorded(&["d/a", "d/b", "d/c"]);
    expect_silence(&folder, "nightly");
    edit(&folder, "d/a");
    rename(&folder, "d/b", "d/moved");
    folder.write("d/new", "new");
    expect_silence(&folder, "nightly");
    expect(&folder, "scan --changes", 0, &[]);
}

#[test]
fn nightly_prints_a_summary_of_each_directory_as_json() {
    let folder = recorded(&["d/a", "e/b"]);
    expect(&folder, "add e", 0, &[]);
    let printed = run(&folder, "nightly --json").stdout;
    let objects = serde_json::Deserializer::from_slice(&printed).into_iter();
    let objects: Vec<serde_json::Value> = objects.map(Result::unwrap).collect();
    assert_eq!(objects.len(), 2, "{objects:?}");
    for object in objects {
        assert_eq!((&object["event"], &object["verb"]), (&"summary".into(), &"nightly".into()));
    }
}

#[test]
fn nightly_prints_what_needs_attention_and_no_more() {
    let folder = recorded(&["d/a", "d/b", "d/c"]);
    edit(&folder, "d/a");
    remove(&folder, "d/b");
    let nightly = expect(&folder, "nightly", 1, &["missing", "d/b"]);
    assert!(!nightly.contains("d/a"), "{nightly}");
}

#[test]
fn nightly_reads_each_file_once() {
    let folder = recorded(&["d/a", "d/b", "d/c"]);
    rewrite(&folder, "d/a", "content of d/X");
    expect(&folder, "verify", 1, &["damaged", "d/a"]);
    // The update reads the damaged file, and the scrub no file: none is due.
    expect(&folder, "nightly", 1, &["1 damaged; 1 file read"]);
}

#[test]
fn new_file_is_watched_from_the_next_nightly() {
    let folder = recorded(&["d/a"]);
    write_old(&folder, "d/photo.jpg", "photo");
    expect(&folder, "scrub", 0, &[]);
    expect(&folder, "status", 0, &["1 new"]);
    expect_silence(&folder, "nightly");
    rewrite(&folder, "d/photo.jpg", "phot0");
    expect(&folder, "verify", 1, &["damaged", "d/photo.jpg"]);
}

#[test]
fn deletion_in_working_root_is_silent() {
    let working = recorded_with("--profile working", &["d/a", "d/b"]);
    remove(&working, "d/a");
    expect(&working, "scan", 0, &["missing", "d/a"]);
    expect_silence(&working, "nightly");
    expect(&working, "status", 0, &[]);
    expect(&working, "report --deleted", 0, &["d/a", &md5("content of d/a")]);
    let archive = recorded(&["d/a", "d/b"]);
    remove(&archive, "d/a");
    expect(&archive, "nightly", 1, &["missing", "d/a", "--profile working"]);
}

#[test]
fn profile_is_changed_by_adding_again() {
    let folder = recorded_with("--every 30d", &["d/a", "d/b"]);
    remove(&folder, "d/a");
    expect(&folder, "update", 1, &["missing"]);
    expect(&folder, "add --profile working d", 0, &[]);
    expect(&folder, "update", 0, &[]);
    expect(&folder, "limit", 0, &["30"]);
    expect(&folder, "status", 0, &[]);
}

#[test]
fn lock_files_and_journals_come_and_go_in_silence() {
    let names = ["d/.~lock.a.odt#", "d/places.sqlite-wal", "d/.notes.swp", "d/x.tmp"];
    let folder = recorded(&["d/a"]);
    for name in names {
        folder.write(name, name);
    }
    expect_silence(&folder, "nightly");
    for name in names {
        remove(&folder, name);
    }
    expect_silence(&folder, "nightly");
}

/// A disk that is plugged in once a year, as if it had been added 370 days ago.
fn added_last_year(files: usize) -> Folder {
    let folder = Folder::new();
    many(files).iter().for_each(|path| write_old(&folder, path, path));
    let mut catalog = Catalog::open(&folder.path("catalog.db"), "test").unwrap();
    let directory = folder.path("d");
    let roots = catalog.add_roots(&[(&*directory, Settings::default())]).unwrap();
    let targets: Vec<_> = roots.into_iter().map(Target::whole).collect();
    let mut options = Options::default();
    options.clock = || {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        (now.as_secs() - 370 * 86_400).cast_signed()
    };
    catalog.run(&targets, &Task::Add, &options, &mut |_, _| Ok(())).unwrap();
    folder
}

#[test]
fn yearly_disk_is_told_how_to_read_all() {
    let folder = added_last_year(300);
    expect(&folder, "status", 3, &["300", "verify"]);
    expect(&folder, "scrub", 3, &["verify"]);
    expect(&folder, "verify", 0, &["300"]);
    expect(&folder, "status", 0, &[]);
}

#[test]
fn locked_is_not_damaged() {
    let folder = Folder::in_memory();
    for name in ["d/1", "d/2", "d/3", "d/4"] {
        write_old(&folder, name, vec![7; 4 << 20]);
    }
    expect(&folder, "add --limit 1M d", 0, &[]);
    let mut scrub = folder.lanesum(["scrub", "--percent", "100"]);
    scrub.env("LANESUM_CATALOG", folder.path("catalog.db"));
    let mut scrub = scrub.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let holder = format!("process {}", scrub.id());
    let is_refused = |_| {
        std::thread::sleep(Duration::from_millis(50));
        let update = run(&folder, "update");
        let printed = text(&update.stderr);
        update.status.code() == Some(2) && printed.contains(&holder) && printed.contains("again")
    };
    let is_refused = (0..100).any(is_refused);
    scrub.kill().unwrap();
    scrub.wait().unwrap();
    assert!(is_refused, "{:?}", run(&folder, "update"));
    expect(&folder, "update", 0, &[]);
}

#[test]
fn monitors_are_told_in_their_own_codes() {
    let folder = recorded(&["d/a", "d/b"]);
    let line = expect(&folder, "status --nagios", 0, &["OK", "|"]);
    assert_eq!(line.lines().count(), 1, "{line}");
    expect(&folder, "status --prometheus metrics.prom", 0, &[]);
    assert!(folder.read("metrics.prom").contains("lanesum_"), "{}", folder.read("metrics.prom"));
    remove(&folder, "d/a");
    expect(&folder, "scan", 1, &[]);
    expect(&folder, "status --nagios", 2, &["CRITICAL", "1 missing"]);
    let folder = recorded(&["d/a"]);
    rename(&folder, "d", "away");
    expect(&folder, "scan", 3, &["offline"]);
    expect(&folder, "status --nagios", 1, &["WARNING", "offline"]);
    let folder = Folder::new();
    expect(&folder, "status --nagios", 3, &["UNKNOWN"]);
}

#[test]
fn report_is_in_every_form() {
    let folder = recorded(&["d/a", "d/b"]);
    rewrite(&folder, "d/a", "content of d/X");
    expect(&folder, "verify", 1, &["damaged"]);
    let report = expect(&folder, "report", 1, &["damaged", "d/a"]);
    let first = report.lines().next().unwrap();
    assert!(first.starts_with("lanesum: 1 damaged"), "the subject: {first}");
    for form in ["--html", "--csv", "--json"] {
        expect(&folder, &format!("report {form}"), 1, &["damaged", "d/a", "d/b"]);
    }
    expect(&folder, "report --quiet", 1, &["damaged"]);
    folder.write("d/a", "content of d/a");
    expect(&folder, "update", 0, &[]);
    expect_silence(&folder, "report --quiet");
}
