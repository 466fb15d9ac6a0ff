//! What each verb reads and records; limits, interruptions, and files that are due.

use std::sync::atomic::AtomicBool;

use lanesum_catalog::{Attention, Control, GoesOn, Halt, Reason, SettingsPatch, Verb};

use super::*;

#[test]
fn scan_reads_nothing_and_records_no_content() {
    let archive = Archive::recorded(&["edited", "gone", "old", "same"]);
    archive.write("edited", "longer than before");
    archive.write("new", "new");
    archive.remove("gone");
    archive.rename("old", "renamed");
    for _ in 0..2 {
        let report = archive.scan();
        let lines = ["edited edited", "missing gone", "moved old -> renamed", "new new"];
        assert_eq!(report.lines(), lines);
        assert_eq!((report.summary.files, report.summary.bytes), (0, 0));
        assert_eq!(report.summary.attention(), Attention::Problem);
    }
    assert_eq!(archive.digest("edited"), md5("edited"));
    let names: Vec<_> = archive.files().iter().map(|file| archive.below(&file.path)).collect();
    assert_eq!(names, ["edited", "gone", "old", "same"]);
    let stored = archive.stored();
    for line in ["missing gone", "moved old -> renamed", "new new"] {
        assert!(stored.contains(&line.to_owned()), "{line} is not in {stored:?}");
    }
}

#[test]
fn scan_calls_a_file_damaged_that_changed_its_size_and_kept_its_time() {
    let archive = Archive::recorded(&["grown", "lost its end", "same"]);
    for (name, content) in [("grown", "grown by a tag"), ("lost its end", "lost")] {
        let time = archive.time(name);
        archive.write(name, content);
        set_time(&archive.path(name), time);
    }
    for report in [archive.scan(), archive.scan(), archive.update(), archive.verify()] {
        assert_eq!(report.lines(), ["damaged grown", "damaged lost its end"]);
        assert_eq!(report.summary.attention(), Attention::Problem);
    }
    let reasons = ["grown", "lost its end"].map(|name| archive.file(name).reason);
    assert_eq!(reasons, [Some(Reason::Size), Some(Reason::Truncated)]);
    assert_eq!(archive.file("same").class, Class::Ok);
}

#[test]
fn scan_says_nothing_of_content() {
    let archive = Archive::recorded(&["a", "b"]);
    archive.damage("a");
    let verified = archive.file("b").verified;
    days_pass(1);
    let report = archive.scan();
    assert_eq!((report.lines(), report.count(Class::Ok), report.summary.unread), (vec![], 0, 2));
    assert_eq!(archive.file("b").verified, verified, "nothing was verified");
}

#[test]
fn new_files_are_pending_until_update_records_them() {
    let archive = Archive::recorded(&["a"]);
    archive.write("d/new", "new");
    for task in [Task::Scan, Task::Verify, Task::Scrub(everything())] {
        let report = archive.run(&task);
        assert_eq!(report.lines(), ["new d/new"], "{task:?}");
        assert_eq!(report.summary.attention(), Attention::Changes, "{task:?}");
        assert_eq!(archive.stored(), ["new d/new"], "{task:?}");
        assert_eq!((archive.files().len(), archive.status().new), (1, 1), "{task:?}");
    }
    assert_eq!(archive.update().lines(), ["new d/new"]);
    assert_eq!((archive.stored(), archive.status().new), (vec![], 0));
    archive.write("gone again", "x");
    archive.scan();
    archive.remove("gone again");
    assert_eq!(archive.scan().lines(), [""; 0]);
    assert_eq!(archive.stored(), [""; 0]);
}

#[test]
fn verify_reads_everything() {
    let archive = Archive::recorded(&["a", "b", "c"]);
    archive.flip("b");
    archive.write("new", "new");
    let report = archive.verify();
    assert_eq!(report.lines(), ["damaged b", "new new"]);
    assert_eq!(report.count(Class::Ok), 2);
    assert_eq!((archive.root().is_complete, archive.files().len()), (true, 3));
}

#[test]
fn verify_of_paths_reads_these_alone() {
    let archive = Archive::recorded(&["a", "d/b", "d/e/c", "dd"]);
    ["a", "d/b", "d/e/c", "dd"].iter().for_each(|name| archive.flip(name));
    let report = archive.verify_paths(&["d/b"]);
    assert_eq!((report.lines(), report.summary.files), (vec!["damaged d/b".into()], 1));
    assert_eq!(archive.stored(), ["damaged d/b"]);
    let report = archive.verify_paths(&["d"]);
    assert_eq!((report.of(Class::Damaged), report.summary.files), {
        (vec!["d/b".into(), "d/e/c".into()], 2)
    });
    assert_eq!(archive.stored(), ["damaged d/b", "damaged d/e/c"]);
    assert_eq!(archive.verify_paths(&["dd", "a"]).summary.files, 2);
    assert_eq!(archive.verify_paths(&["d", "d", "d/b"]).summary.files, 2, "named twice");
}

#[test]
fn verify_of_paths_says_nothing_of_others() {
    let archive = Archive::recorded(&["a", "d/b", "gone"]);
    archive.remove("gone");
    archive.write("new", "new");
    let report = archive.verify_paths(&["d"]);
    assert_eq!(report.of(Class::Missing), [""; 0], "{:?}", report.lines());
    assert_eq!(report.summary.attention(), Attention::Nothing);
    archive.scan();
    archive.flip("a");
    archive.verify();
    let report = archive.verify_paths(&["d"]);
    assert_eq!(report.summary.standing, Counts::from([(Class::Ok, 1)]));
    assert_eq!(report.summary.attention(), Attention::Nothing);
    assert_eq!(archive.verify_paths(&["a"]).summary.attention(), Attention::Problem);
    archive.remove("d/b");
    archive.write("d/new", "new");
    assert_eq!(archive.verify_paths(&["d"]).of(Class::Missing), ["d/b"]);
}

#[test]
fn verify_of_paths_reads_no_moved_file_of_others() {
    let archive = Archive::recorded(&["x/a", "x/b", "y/a", "y/b"]);
    archive.rename("y/a", "y/moved");
    fs::rename(archive.path("y/b"), archive.path("x/a")).unwrap();
    let report = archive.verify_paths(&["x/b"]);
    assert_eq!((report.lines(), report.summary.files), (vec![], 1));
    // A moved file is known by either name.
    archive.scan();
    for name in ["y/a", "y/moved"] {
        let report = archive.verify_paths(&[name]);
        assert_eq!((report.lines(), report.summary.files), {
            (vec!["moved y/a -> y/moved".into()], 1)
        });
    }
}

#[test]
fn verify_of_a_path_without_a_record_is_refused() {
    let archive = Archive::recorded(&["a", "d/b"]);
    for paths in [&["nothing"][..], &["a", "nothing"], &["d/nothing", "a"], &["dd"]] {
        let target = [archive.target(paths)];
        let ended = archive.open().run(&target, &Task::Verify, &options(), &mut |_, _| Ok(()));
        let error = ended.map(|_| ()).unwrap_err();
        assert!(matches!(error, CatalogError::NotRecorded(_)), "{paths:?}: {error}");
    }
    assert_eq!((archive.stored(), archive.update().summary.attention()), {
        (vec![], Attention::Nothing)
    });
}

#[test]
fn run_of_a_root_that_was_forgotten_is_refused() {
    let archive = Archive::recorded(&["a"]);
    let target = [Target::whole(archive.root())];
    archive.forget(&[""]);
    let ended = archive.open().run(&target, &Task::Update, &options(), &mut |_, _| Ok(()));
    assert!(matches!(ended, Err(CatalogError::NoRoot(_))), "{ended:?}");
}

#[test]
fn scrub_finds_missing_and_new_files_too() {
    let archive = Archive::recorded(&["a", "b"]);
    archive.remove("a");
    archive.write("c", "c");
    let report = archive.run(&Task::Scrub(Selection::default()));
    assert_eq!(report.lines(), ["missing a", "new c"]);
    assert_eq!(archive.stored(), ["missing a", "new c"]);
}

#[test]
fn scrub_after_a_scan_looks_for_no_names() {
    let archive = Archive::recorded(&["a", "b"]);
    archive.update();
    archive.write("new", "new");
    archive.flip("a");
    let task = Task::Scrub(selection(|it| {
        it.percent = Some(100.0);
        it.is_updated = true;
    }));
    assert_eq!(archive.run(&task).lines(), ["damaged a"]);
}

/// Only a scan or a read says that a file is as recorded again.
#[test]
fn scrub_after_a_scan_keeps_what_the_scan_found() {
    let archive = Archive::recorded(&["edited", "gone", "moved", "same"]);
    archive.write("edited", "an edit");
    archive.rename("moved", "elsewhere");
    archive.remove("gone");
    archive.write("new", "new");
    archive.scan();
    let stored = archive.stored();
    let task = Task::Scrub(selection(|it| {
        it.older_than_days = Some(1000);
        it.is_updated = true;
    }));
    let report = archive.run(&task);
    assert_eq!((report.lines(), report.summary.files), (vec![], 0));
    assert_eq!(archive.stored(), stored);
    assert_eq!(report.summary.attention(), Attention::Problem);
}

#[test]
fn scrub_of_a_share_reads_the_files_verified_longest_ago() {
    let names: Vec<_> = (0..20).map(|number| format!("f{number:02}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let archive = Archive::recorded(&names);
    days_pass(1);
    archive.verify_paths(&names[..10]);
    days_pass(1);
    let half = Task::Scrub(selection(|it| it.percent = Some(50.0)));
    names.iter().for_each(|name| archive.damage(name));
    let report = archive.run(&half);
    assert_eq!(report.of(Class::Damaged), names[10..]);
}

#[test]
fn scrub_of_old_verifications_reads_these_alone() {
    let archive = Archive::recorded(&["a", "b", "c"]);
    days_pass(10);
    archive.verify_paths(&["b"]);
    days_pass(1);
    let task = Task::Scrub(selection(|it| it.older_than_days = Some(5)));
    let report = archive.run(&task);
    assert_eq!((report.summary.files, report.count(Class::Ok)), (2, 2));
    assert_eq!(archive.run(&task).summary.files, 0);
}

#[test]
fn scrub_of_bad_files_reads_these_alone() {
    let archive = Archive::recorded(&["a", "b", "c"]);
    archive.damage("b");
    archive.verify();
    let task = Task::Scrub(selection(|it| it.bad = true));
    let report = archive.run(&task);
    assert_eq!((report.summary.files, report.of(Class::Damaged)), (1, vec!["b".to_owned()]));
    archive.write("b", "b");
    assert_eq!(archive.run(&task).summary.attention(), Attention::Nothing);
    assert_eq!(archive.run(&task).summary.files, 0);
}

#[test]
fn scrub_stops_at_its_limit_of_bytes_and_the_next_one_goes_on() {
    let names: Vec<_> = (0..20).map(|number| format!("f{number:02}")).collect();
    let archive = Archive::recorded(&names.iter().map(String::as_str).collect::<Vec<_>>());
    days_pass(2);
    archive.damage("f19");
    let mut found = Vec::new();
    for night in 0..4 {
        // Five files of three bytes.
        let task = Task::Scrub(selection(|it| {
            it.percent = Some(100.0);
            it.max_bytes = Some(15);
        }));
        let report = archive.run(&task);
        assert!((1..=7).contains(&report.summary.files), "night {night}: {:?}", report.summary);
        if night < 3 {
            assert_eq!(report.summary.halt, Some(Halt::Limit), "night {night}");
            assert!(report.summary.attention() >= Attention::Incomplete, "night {night}");
        }
        found.extend(report.of(Class::Damaged));
        days_pass(1);
    }
    found.dedup();
    assert_eq!(found, ["f19"], "each file is read once in four nights");
}

#[test]
fn scrub_without_time_stops_at_once() {
    let archive = Archive::recorded(&["a", "b"]);
    let task = Task::Scrub(selection(|it| {
        it.percent = Some(100.0);
        it.max_time = Some(Duration::ZERO);
    }));
    let report = archive.run(&task);
    assert_eq!(report.summary.halt, Some(Halt::Limit));
    assert_eq!(report.summary.attention(), Attention::Incomplete);
}

#[test]
fn daily_scrubs_verify_each_file_once_in_a_period() {
    let names: Vec<_> = (0..50).map(|number| format!("f{number:02}")).collect();
    let mut archive = Archive::of(&names.iter().map(String::as_str).collect::<Vec<_>>());
    archive.settings.every_days = 10;
    archive.add();
    let mut read = 0;
    for day in 0..40 {
        days_pass(1);
        let report = archive.run(&Task::Scrub(Selection::default()));
        read += report.summary.files;
        assert_eq!(report.summary.attention(), Attention::Nothing, "day {day}");
        let oldest = archive.files().iter().map(|file| file.verified).min().unwrap();
        assert!(clock() - oldest <= 11 * 86_400, "day {day}");
    }
    assert!((150..=250).contains(&read), "{read} reads of 50 files in 40 days");
}

#[test]
fn overdue_files_make_a_root_incomplete_until_they_are_verified() {
    let archive = Archive::recorded(&["a", "b"]);
    days_pass(200);
    let status = archive.status();
    assert_eq!((status.overdue, status.attention()), (2, Attention::Incomplete));
    assert_eq!(archive.update().summary.attention(), Attention::Incomplete);
    archive.verify();
    let status = archive.status();
    assert_eq!((status.overdue, status.attention()), (0, Attention::Nothing));
}

#[test]
fn paused_root_is_not_scrubbed_until_it_is_resumed() {
    let archive = Archive::recorded(&["a"]);
    let mut control = Control::open(&archive.catalog_path()).unwrap();
    let now = clock();
    control.pause(&archive.root(), now).unwrap();
    let report = archive.scrub();
    assert_eq!((report.summary.halt, report.summary.files), (Some(Halt::Paused(now)), 0));
    assert_eq!(report.summary.attention(), Attention::Incomplete);
    assert_eq!(archive.verify().summary.files, 1, "only scrubs are paused");
    control.resume(&archive.root()).unwrap();
    assert_eq!(archive.scrub().summary.files, 1);
}

#[test]
fn scrub_outside_its_hours_reads_nothing() {
    let mut archive = Archive::of(&["a"]);
    archive.settings.window = Some("1:00-2:00".parse().unwrap());
    archive.add();
    // Noon and half past one on some day.
    let at = |time: fn() -> i64, is_any_time: bool| {
        archive.run_with(&Task::Scrub(everything()), |options| {
            (options.clock, options.at_any_time) = (time, is_any_time);
        })
    };
    let noon = || 4_000_000_000 / 86_400 * 86_400 + 43_200;
    let night = || 4_000_000_000 / 86_400 * 86_400 + 86_400 + 5400;
    let report = at(noon, false);
    assert_eq!((report.summary.halt, report.summary.files), (Some(Halt::Hours), 0));
    assert_eq!(at(noon, true).summary.files, 1);
    assert_eq!(at(night, false).summary.files, 1);
}

/// An archive in which these many of two hundred files were edited.
fn with_edits(count: usize) -> Archive {
    let names: Vec<_> = (0..200).map(|number| format!("{number}")).collect();
    let archive = Archive::recorded(&names.iter().map(String::as_str).collect::<Vec<_>>());
    names[..count].iter().for_each(|name| archive.write(name, "encrypted"));
    archive.write("ransom.txt", "pay");
    archive
}

#[test]
fn too_many_edits_stop_update_and_change_nothing() {
    let archive = with_edits(120);
    for _ in 0..2 {
        let report = archive.update();
        let halt = Some(Halt::TooManyEdits { edited: 120, of: 200 });
        assert_eq!(report.summary.halt, halt);
        assert_eq!(report.summary.attention(), Attention::Incomplete);
        assert_eq!((archive.digest("7"), archive.files().len()), (md5("7"), 200));
        let status = archive.status();
        assert_eq!((status.attention(), status.standing[&Class::Edited]), {
            (Attention::Incomplete, 120)
        });
    }
    let report = archive.run_with(&Task::Update, |options| options.force = true);
    assert_eq!((report.summary.halt, report.count(Class::Edited)), (None, 120));
    assert_eq!((archive.digest("7"), archive.stored()), (md5("encrypted"), vec![]));
    assert_eq!(archive.status().attention(), Attention::Nothing);
}

#[test]
fn half_of_the_files_may_be_edited() {
    let archive = with_edits(100);
    let report = archive.update();
    assert_eq!((report.summary.halt, report.count(Class::Edited)), (None, 100));
    let archive = with_edits(120);
    let report = archive.run_with(&Task::Update, |options| options.max_changed = 60);
    assert_eq!((report.summary.halt, report.count(Class::Edited)), (None, 120));
}

#[test]
fn run_that_is_stopped_keeps_what_it_did_and_the_next_one_goes_on() {
    let archive = Archive::new();
    (0..60).for_each(|number| archive.write(&number.to_string(), [number; 30_000]));
    archive.open().add_roots(&[(&archive.tree(), archive.settings.clone())]).unwrap();
    let pace = lanesum_checksum::engine::Pace::default();
    pace.set_rate(Some(1_000_000));
    let asked = AtomicU64::new(0);
    let report = archive.run_with(&Task::Add, |options| {
        options.engine.pace = Some(pace);
        options.goes_on = Some(GoesOn::new(move || asked.fetch_add(1, Ordering::Relaxed) < 4));
    });
    assert_eq!(report.summary.halt, Some(Halt::Stopped));
    assert_eq!(report.summary.attention(), Attention::Incomplete);
    assert!(!archive.root().is_complete);
    let read = report.summary.files;
    assert!((1..60).contains(&read), "{read}");
    assert_eq!(archive.files().len() as u64, read, "what was read is recorded");
    let report = archive.run(&Task::Add);
    assert_eq!(report.summary.files, 60 - read, "and not read again");
    assert!(archive.root().is_complete && report.summary.is_complete());
    assert_eq!((archive.files().len(), archive.stored()), (60, vec![]));
}

#[test]
fn update_that_is_stopped_at_once_changes_nothing() {
    let archive = Archive::recorded(&["a", "b", "c"]);
    archive.write("a", "edited");
    archive.rename("b", "renamed");
    archive.remove("c");
    let stop = |options: &mut Options| options.goes_on = Some(GoesOn::new(|| false));
    let report = archive.run_with(&Task::Update, stop);
    assert_eq!(report.summary.halt, Some(Halt::Stopped));
    assert_eq!(archive.digest("a"), md5("a"));
    assert_eq!(archive.update().of(Class::Missing), ["c"]);
    assert_eq!((archive.digest("a"), archive.stored()), (md5("edited"), vec!["missing c".into()]));
}

#[test]
fn run_whose_caller_fails_keeps_what_it_reported() {
    let archive = Archive::recorded(&["a", "b", "c", "d"]);
    ["a", "b", "c"].iter().for_each(|name| archive.write(name, "edited"));
    archive.remove("d");
    let target = [Target::whole(archive.root())];
    let is_first = AtomicBool::new(true);
    let mut reported = String::new();
    let mut take = |_: &Root, finding: &Finding| {
        if is_first.swap(false, Ordering::Relaxed) {
            reported = finding.path.escape_ascii().to_string();
            return Ok(());
        }
        Err(std::io::ErrorKind::BrokenPipe.into())
    };
    let error = archive.open().run(&target, &Task::Update, &options(), &mut take).unwrap_err();
    assert!(matches!(error, CatalogError::Output(_)), "{error}");
    match &*reported {
        "d" => assert_eq!(archive.file("d").class, Class::Missing),
        name => assert_eq!(archive.digest(name), md5("edited"), "what was reported is recorded"),
    }
    archive.update();
    assert_eq!(archive.stored(), ["missing d"]);
    ["a", "b", "c"].iter().for_each(|name| assert_eq!(archive.digest(name), md5("edited")));
    assert_eq!(archive.look().check().unwrap(), [""; 0]);
}

#[test]
fn update_of_a_root_that_was_never_read_records_all() {
    let archive = Archive::of(&["a", "b"]);
    archive.open().add_roots(&[(&archive.tree(), archive.settings.clone())]).unwrap();
    assert_eq!(archive.scrub().summary.attention(), Attention::Incomplete);
    let report = archive.update();
    assert_eq!((report.summary.files, report.summary.is_first), (2, true));
    assert_eq!((archive.files().len(), archive.stored()), (2, vec![]));
    assert_eq!(report.summary.verb, Verb::Update);
}

#[test]
fn add_again_records_new_files_and_reports_them() {
    let archive = Archive::recorded(&["a"]);
    archive.write("b", "b");
    let report = archive.add();
    assert_eq!((report.lines(), report.summary.is_first), (vec!["new b".to_owned()], false));
}

#[test]
fn second_writer_learns_who_uses_the_catalog() {
    let archive = Archive::recorded(&["a"]);
    let held = archive.open();
    let error = Catalog::open(&archive.catalog_path(), "update").unwrap_err();
    let CatalogError::Locked { holder } = error else { panic!("{error}") };
    assert_eq!(holder, format!("process {} (test)", std::process::id()));
    assert_eq!(archive.files().len(), 1, "readers are not kept out");
    drop(held);
    archive.open();
}

#[test]
fn clock_that_was_set_back_is_reported_until_files_are_verified_again() {
    let archive = Archive::of(&["a"]);
    days_pass(30);
    archive.add();
    days_pass(-30);
    assert!(archive.update().summary.clock_is_behind);
    let report = archive.run(&Task::Scrub(Selection::default()));
    assert_eq!(report.summary.files, 1, "a time in the future is not believed");
    assert!(archive.file("a").verified <= clock());
    assert!(!archive.update().summary.clock_is_behind);
}

#[test]
fn algorithm_that_is_added_later_is_recorded_when_a_file_is_read() {
    let archive = Archive::recorded(&["a", "b"]);
    let mut patch = SettingsPatch::default();
    let algorithms = archive.settings.algorithms.with(lanesum_list::Algorithm::Sha256);
    patch.algorithms = Some(algorithms);
    Control::open(&archive.catalog_path()).unwrap().set(&[archive.root()], &patch).unwrap();
    archive.write("a", "edited");
    archive.write("new", "new");
    archive.update();
    assert_eq!(archive.file("a").recorded.digests.len(), 2);
    assert_eq!(archive.file("new").recorded.digests.len(), 2);
    archive.damage("b");
    assert_eq!(archive.verify().lines(), ["damaged b"]);
    assert_eq!(archive.digest("b"), md5("b"));
}

#[test]
fn root_that_becomes_a_working_one_loses_the_records_of_missing_files() {
    let archive = Archive::recorded(&["a", "b", "c"]);
    archive.damage("b");
    archive.remove("a");
    assert_eq!(archive.verify().summary.attention(), Attention::Problem);
    let mut patch = SettingsPatch::default();
    patch.profile = Some(Profile::Working);
    Control::open(&archive.catalog_path()).unwrap().set(&[archive.root()], &patch).unwrap();
    archive.update();
    assert_eq!((archive.stored(), archive.files().len()), (vec!["damaged b".into()], 2));
    assert_eq!(archive.look().deleted(&archive.root(), 0).unwrap().len(), 1);
}
