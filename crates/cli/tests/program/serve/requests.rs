//! The update of each day, and what users request.

use super::*;

/// Hours that begin in two hours.
fn closed_hours() -> Settings {
    let hour = |hours: i64| (now() / 3600 + hours).rem_euclid(24);
    let mut settings = Settings::default();
    settings.every_days = 1;
    settings.window = Some(format!("{}:00-{}:00", hour(2), hour(4).max(1)).parse().unwrap());
    settings
}

fn files(folder: &Folder) -> u64 {
    status(folder).files
}

#[test]
fn the_update_of_the_day_records_new_edited_and_moved_files() {
    let folder = Folder::of(&["one/a", "one/b", "two/c"]);
    add(&folder, &["one", "two"], &Settings::default(), now);
    folder.write("one/new", "new");
    folder.write("one/a", "edited content");
    fs::rename(folder.path("one/b"), folder.path("two/b")).unwrap();
    let daemon = Daemon::start(&folder);
    until("a heartbeat", || has_heartbeat(&folder));
    let all = Catalog::look(&catalog_of(&folder)).unwrap().status(now()).unwrap();
    let counts: Vec<_> = all.iter().map(|it| (it.files, it.new, it.standing.clone())).collect();
    assert_eq!(counts, [(2, 0, [(Class::Ok, 2)].into()), (2, 0, [(Class::Ok, 2)].into())]);
    // A file of today waits for the next update.
    folder.write("one/later", "later");
    thread::sleep(Duration::from_secs(3));
    assert_eq!(files(&folder), 2);
    control(&folder).request(&root(&folder), false, now()).unwrap();
    until("the new file is recorded", || files(&folder) == 3);
    drop(daemon);
    assert_eq!(lines(&folder, "calls"), [""; 0]);
}

#[test]
fn a_request_is_answered_outside_of_the_hours() {
    let folder = Folder::of(&["tree/a", "tree/b"]);
    add(&folder, &["tree"], &closed_hours(), long_ago);
    folder.write("tree/new", "new");
    let daemon = Daemon::start(&folder);
    thread::sleep(Duration::from_secs(3));
    assert_eq!((files(&folder), status(&folder).due), (2, 2), "its hours are closed");
    assert!(!has_heartbeat(&folder));
    control(&folder).request(&root(&folder), false, now()).unwrap();
    until("the request is answered", || root(&folder).steering.requested.is_none());
    assert_eq!(files(&folder), 3);
    assert!(is_all_read(&folder));
    drop(daemon);
}

#[test]
fn a_request_for_everything_reads_files_that_are_not_due() {
    let folder = Folder::of(&["tree/a", "tree/b"]);
    let path = folder.path("tree/a");
    let before = SystemTime::now() - Duration::from_secs(60);
    File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
    add(&folder, &["tree"], &Settings::default(), now);
    damage(&path, b"TREE/A");
    let daemon = Daemon::start(&folder);
    until("a heartbeat", || has_heartbeat(&folder));
    assert_eq!(standing(&folder, Class::Damaged), 0);
    control(&folder).request(&root(&folder), true, now()).unwrap();
    until("the request is answered", || root(&folder).steering.requested.is_none());
    assert_eq!(standing(&folder, Class::Damaged), 1);
    until("the call", || !lines(&folder, "calls").is_empty());
    assert_eq!(lines(&folder, "calls"), ["damaged a"]);
    drop(daemon);
}

#[test]
fn a_pause_and_a_signal_interrupt_a_request_for_everything() {
    let folder = all_due(40, 500_000);
    run_beside(&folder, &Task::Verify, now);
    set_rate(&folder, Some(1_000_000));
    control(&folder).request(&root(&folder), true, now()).unwrap();
    let is_verifying = || {
        let it = status(&folder);
        it.is_running && it.last.is_some_and(|run| run.verb == Verb::Verify)
    };
    let daemon = Daemon::start(&folder);
    until("it verifies", is_verifying);
    control(&folder).pause(&root(&folder), now()).unwrap();
    until("it is paused", || !status(&folder).is_running);
    assert!(root(&folder).steering.requested.is_some());
    control(&folder).resume(&root(&folder)).unwrap();
    until("it begins again", is_verifying);
    daemon.end();
    set_rate(&folder, None);
    let daemon = Daemon::start(&folder);
    until("the request is answered", || root(&folder).steering.requested.is_none());
    let catalog = Catalog::look(&catalog_of(&folder)).unwrap();
    let mut outcomes = Vec::new();
    let mut take = |run: lanesum_catalog::Run| {
        outcomes.extend((run.verb == Verb::Verify).then_some(run.outcome));
        Ok(())
    };
    catalog.runs(0, &mut take).unwrap();
    assert_eq!(outcomes[0], Outcome::Complete);
    assert!(outcomes[1..3].iter().all(|it| *it == Outcome::Limited), "{outcomes:?}");
    drop(daemon);
}
