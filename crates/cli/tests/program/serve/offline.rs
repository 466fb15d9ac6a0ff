//! Roots that go away, come back, or lose too many files.

use lanesum_catalog::Reason;

use super::*;

#[test]
fn a_root_that_goes_away_is_offline_and_read_when_it_is_back() {
    let folder = all_due(40, 500_000);
    set_rate(&folder, Some(1_000_000));
    let daemon = Daemon::start(&folder);
    until("files are read", || status(&folder).due < 40);
    fs::rename(folder.path("tree"), folder.path("away")).unwrap();
    until("it is offline", || root(&folder).offline.is_some());
    assert_eq!(root(&folder).offline.unwrap().reason, Reason::Missing);
    set_rate(&folder, None);
    thread::sleep(Duration::from_secs(3));
    let it = status(&folder);
    assert!(!it.standing.contains_key(&Class::Missing), "{it:?}");
    assert!(!it.standing.contains_key(&Class::Unchecked), "{it:?}");
    assert!(!has_heartbeat(&folder), "offline is not complete");
    fs::rename(folder.path("away"), folder.path("tree")).unwrap();
    until("all is read", || has_heartbeat(&folder));
    assert_eq!(root(&folder).offline, None);
    until("the calls", || lines(&folder, "calls").len() >= 3);
    assert_eq!(lines(&folder, "calls"), ["damaged 0000", "damaged 0001", "offline tree"]);
    drop(daemon);
}

/// Another process may find a root offline in a moment in which the daemon does not look.
#[test]
fn a_root_that_another_process_found_offline_is_scanned_again() {
    let folder = all_due(5, 1000);
    let daemon = Daemon::start(&folder);
    until("all is read", || has_heartbeat(&folder));
    fs::rename(folder.path("tree"), folder.path("away")).unwrap();
    run_beside(&folder, &Task::Scan, now);
    fs::rename(folder.path("away"), folder.path("tree")).unwrap();
    until("it is back", || root(&folder).offline.is_none());
    drop(daemon);
}

#[test]
fn a_root_with_too_many_missing_files_is_left_alone() {
    let folder = all_due(130, 10);
    for name in 1..130 {
        fs::remove_file(folder.path(format!("tree/{name:04}"))).unwrap();
    }
    let _daemon = Daemon::start(&folder);
    until("it is offline", || root(&folder).offline.is_some());
    let last = || status(&folder).last.unwrap().id;
    thread::sleep(Duration::from_secs(2));
    let before = last();
    thread::sleep(Duration::from_secs(3));
    assert_eq!(last(), before, "it is scanned again and again");
    assert_eq!(root(&folder).offline.unwrap().reason, Reason::TooManyMissing);
    assert_eq!(standing(&folder, Class::Missing), 0);
}
