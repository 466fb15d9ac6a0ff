//! `--heartbeat` and `--heartbeat-file`: on which days there is none.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A daemon that may not read files against their modes, even if root runs it.
fn obedient(folder: &Folder) -> Daemon {
    thread::scope(|scope| {
        let limited = scope.spawn(|| {
            obey_modes();
            Daemon::start(folder)
        });
        limited.join().unwrap()
    })
}

#[track_caller]
fn has_none(folder: &Folder) {
    thread::sleep(Duration::from_secs(3));
    assert!(!has_heartbeat(folder), "{:?}", status(folder));
}

fn read_bad(folder: &Folder) {
    let mut selection = lanesum_catalog::Selection::default();
    selection.bad = true;
    run_beside(folder, &Task::Scrub(selection), now);
}

#[test]
fn an_unreadable_file_keeps_the_heartbeat_away_until_it_is_read() {
    let folder = all_due(5, 100);
    let path = folder.path("tree/0003");
    set_mode(&path, 0);
    let daemon = obedient(&folder);
    until("the others are read", || standing(&folder, Class::Unchecked) == 1);
    has_none(&folder);
    set_mode(&path, 0o600);
    read_bad(&folder);
    until("a heartbeat", || has_heartbeat(&folder));
    drop(daemon);
}

#[test]
fn an_unreadable_directory_keeps_the_heartbeat_away() {
    let folder = all_due(5, 100);
    folder.write("tree/in/new", "new");
    let path = folder.path("tree/in");
    set_mode(&path, 0);
    let daemon = obedient(&folder);
    until("the files are read", || is_all_read(&folder));
    has_none(&folder);
    let errors = folder.read("errors");
    assert!(errors.contains("/tree: update: incomplete"), "{errors}");
    set_mode(&path, 0o700);
    run_beside(&folder, &Task::Update, now);
    until("a heartbeat", || has_heartbeat(&folder));
    drop(daemon);
}

#[test]
fn a_file_that_a_program_writes_to_keeps_the_heartbeat_away() {
    let folder = all_due(5, 100);
    let path = folder.path("tree/0003");
    let writer = File::options().append(true).open(&path).unwrap();
    // Its content differs and its time does not: it is busy as long as it is open.
    damage(&path, b"different content");
    let daemon = Daemon::start(&folder);
    until("the others are read", || {
        status(&folder).last.is_some_and(|run| run.verb == Verb::Scrub)
    });
    if standing(&folder, Class::Unchecked) == 0 {
        return skip("this system does not say whether a file is open");
    }
    has_none(&folder);
    drop((daemon, writer));
}

#[test]
fn one_paused_root_keeps_the_heartbeat_away() {
    let folder = Folder::of(&["one/a", "two/b"]);
    add(&folder, &["one", "two"], &Settings::default(), now);
    control(&folder).pause(&root(&folder), now()).unwrap();
    let daemon = Daemon::start(&folder);
    has_none(&folder);
    control(&folder).resume(&root(&folder)).unwrap();
    until("a heartbeat", || has_heartbeat(&folder));
    drop(daemon);
}

#[test]
fn the_file_has_the_time() {
    let folder = all_due(1, 10);
    let daemon = Daemon::start(&folder);
    until("a heartbeat", || has_heartbeat(&folder));
    let time = folder.read("heartbeat");
    let time: jiff::Timestamp = time.trim_end().parse().unwrap();
    assert!((now() - time.as_second()).abs() < 60, "{time}");
    assert_eq!(fs::metadata(folder.path("heartbeat")).unwrap().permissions().mode() & 0o777, 0o644);
    drop(daemon);
}
