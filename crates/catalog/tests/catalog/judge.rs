//! Judging one file against its record: each row of the table, and how damage stays and ends.

use std::fs::{self, File};

use lanesum_catalog::{Attention, GoesOn, Reason};

use super::*;

#[test]
fn files_with_recorded_size_and_time_are_not_read() {
    let archive = Archive::of(&["a", "b/c"]);
    let added = archive.add();
    assert_eq!((added.summary.files, added.summary.attention()), (2, Attention::Nothing));
    assert!(added.summary.is_first && added.findings.is_empty(), "{:?}", added.lines());
    for task in [Task::Update, Task::Scan] {
        let report = archive.run(&task);
        assert_eq!((report.summary.files, report.summary.unread), (0, 2), "{task:?}");
        assert_eq!(report.lines(), [""; 0], "{task:?}");
        assert_eq!(report.summary.attention(), Attention::Nothing, "{task:?}");
        assert!(!report.summary.is_first && report.summary.is_complete(), "{task:?}");
    }
    for task in [Task::Verify, Task::Scrub(everything())] {
        let report = archive.run(&task);
        assert_eq!((report.summary.files, report.count(Class::Ok)), (2, 2), "{task:?}");
        assert_eq!(report.summary.attention(), Attention::Nothing, "{task:?}");
    }
}

#[test]
fn chmod_link_and_new_inode_cause_no_read() {
    let archive = Archive::recorded(&["chmod", "linked", "restored"]);
    set_mode(&archive.path("chmod"), 0o600);
    fs::hard_link(archive.path("linked"), archive.base.path().join("link")).unwrap();
    archive.replace_at("restored", "restored", archive.time("restored"));
    for task in [Task::Scan, Task::Update] {
        let report = archive.run(&task);
        assert_eq!((report.lines(), report.summary.files), (vec![], 0), "{task:?}");
    }
    let report = archive.verify();
    assert_eq!((report.lines(), report.count(Class::Ok)), (vec![], 3));
}

#[test]
fn touched_file_is_ok_and_its_record_is_refreshed() {
    for task in [Task::Update, Task::Verify, Task::Scrub(everything())] {
        let archive = Archive::recorded(&["a"]);
        archive.touch("a");
        let report = archive.run(&task);
        assert_eq!((report.summary.files, report.lines()), (1, vec![]), "{task:?}");
        assert_eq!(report.summary.attention(), Attention::Nothing, "{task:?}");
        assert_eq!(archive.update().summary.files, 0, "{task:?} refreshes the recorded time");
        assert_eq!(archive.stored(), [""; 0], "{task:?}");
    }
}

#[test]
fn edited_file_is_recorded_by_update_alone() {
    let archive = Archive::recorded(&["a", "b", "c"]);
    archive.write("a", "A");
    archive.write("b", "longer than before");
    archive.replace_at("c", "saved by renaming", next_time());
    let lines = ["edited a", "edited b", "edited c"];
    for task in [Task::Verify, Task::Scrub(everything())] {
        let report = archive.run(&task);
        assert_eq!(report.lines(), lines, "{task:?}");
        assert_eq!(report.summary.attention(), Attention::Changes, "{task:?}");
        assert_eq!(archive.stored(), lines, "{task:?}");
        assert_eq!(archive.digest("a"), md5("a"), "{task:?}");
        let found = archive.file("a").found.expect("what was read");
        assert_eq!(found.digests[0].to_string(), md5("A"), "{task:?}");
    }
    let report = archive.update();
    assert_eq!(report.lines(), lines);
    assert_eq!(report.summary.attention(), Attention::Changes);
    assert_eq!(archive.stored(), [""; 0]);
    assert_eq!(archive.digest("a"), md5("A"));
    assert!(archive.file("a").found.is_none());
    let report = archive.update();
    assert_eq!((report.lines(), report.summary.files), (vec![], 0));
    assert_eq!(report.summary.attention(), Attention::Nothing);
}

#[test]
fn edit_that_is_undone_is_ok_again() {
    let archive = Archive::recorded(&["a"]);
    archive.write("a", "edited");
    archive.verify();
    assert_eq!(archive.stored(), ["edited a"]);
    archive.write("a", "a");
    archive.verify();
    assert_eq!(archive.stored(), [""; 0]);
}

#[test]
fn edit_with_an_earlier_time_is_older() {
    let archive = Archive::recorded(&["a"]);
    archive.write_at("a", "restored from an old backup", UNIX_EPOCH);
    let report = archive.update();
    assert_eq!(report.lines(), ["edited a"]);
    assert_eq!(report.finding("a").reason, Some(Reason::Older));
    assert_eq!(report.summary.attention(), Attention::Changes);
}

#[test]
fn other_content_with_the_same_time_is_damaged_with_its_reason() {
    let archive = Archive::of(&["content", "rewritten", "longer", "shorter", "empty", "replaced"]);
    archive.add();
    archive.flip("content");
    archive.damage("rewritten");
    write_keeping_time(&archive.path("longer"), "longer than it was");
    write_keeping_time(&archive.path("shorter"), "short");
    write_keeping_time(&archive.path("empty"), "");
    archive.replace_at("replaced", "REPLACED", archive.time("replaced"));
    let reasons = [
        ("content", Reason::Content),
        ("empty", Reason::Truncated),
        ("longer", Reason::Size),
        ("replaced", Reason::Replaced),
        ("rewritten", Reason::Rewritten),
        ("shorter", Reason::Truncated),
    ];
    for task in [Task::Verify, Task::Scrub(everything())] {
        let report = archive.run(&task);
        assert_eq!(report.of(Class::Damaged), reasons.map(|(path, _)| path), "{task:?}");
        for (path, reason) in reasons {
            assert_eq!(report.finding(path).reason, Some(reason), "{path}, {task:?}");
            assert_eq!(archive.file(path).reason, Some(reason), "{path}, {task:?}");
            assert_eq!(archive.digest(path), md5(path), "{path}, {task:?}");
        }
        assert_eq!(report.summary.attention(), Attention::Problem, "{task:?}");
    }
}

#[test]
fn damaged_finding_has_both_contents() {
    let archive = Archive::recorded(&["a"]);
    archive.damage("a");
    let report = archive.verify();
    let Finding { recorded, found, was, files, .. } = report.finding("a");
    let digest = |it: &Option<lanesum_catalog::Content>| {
        it.as_ref().expect("a content").digests[0].to_string()
    };
    assert_eq!((digest(recorded), digest(found)), (md5("a"), md5("`")));
    assert_eq!((*was, *files), (None, 1));
}

#[test]
fn update_finds_damage_that_changed_the_size() {
    let archive = Archive::recorded(&["a", "b"]);
    write_keeping_time(&archive.path("a"), "");
    archive.flip("b");
    let report = archive.update();
    assert_eq!(report.lines(), ["damaged a"], "update does not read b");
    assert_eq!(report.summary.attention(), Attention::Problem);
    assert_eq!(archive.digest("a"), md5("a"));
}

#[test]
fn update_never_records_damage() {
    let archive = Archive::recorded(&["a", "b"]);
    archive.damage("a");
    write_keeping_time(&archive.path("b"), "");
    archive.verify();
    for _ in 0..3 {
        for task in [Task::Update, Task::Add, Task::Verify, Task::Scan, Task::Scrub(everything())] {
            let report = archive.run(&task);
            assert_eq!(report.summary.attention(), Attention::Problem, "{task:?}");
            assert_eq!(archive.stored(), ["damaged a", "damaged b"], "{task:?}");
            assert_eq!(
                [archive.digest("a"), archive.digest("b")],
                [md5("a"), md5("b")],
                "{task:?}"
            );
        }
        days_pass(1);
    }
}

/// Does to a damaged file what does not restore it, and expects it to be damaged after each verb.
fn expect_damage_to_stay(change: impl Fn(&Archive), name: &str) {
    let tasks = [Task::Update, Task::Verify, Task::Scan, Task::Scrub(everything())];
    for first in tasks {
        let archive = Archive::recorded(&["a", "b"]);
        archive.damage("a");
        archive.verify();
        let before = archive.file("a");
        change(&archive);
        for task in [first, Task::Update, Task::Verify, Task::Update] {
            let report = archive.run(&task);
            assert_eq!(report.summary.attention(), Attention::Problem, "{task:?}");
        }
        assert_eq!(archive.stored(), [format!("damaged {name}")]);
        let file = archive.file(name);
        assert_eq!((file.id, file.since), (before.id, before.since));
        assert_eq!(file.recorded.digests, before.recorded.digests);
    }
}

#[test]
fn damage_stays_when_the_file_is_touched() {
    expect_damage_to_stay(|archive| archive.touch("a"), "a");
}

#[test]
fn damage_stays_when_the_mode_changes() {
    expect_damage_to_stay(|archive| set_mode(&archive.path("a"), 0o600), "a");
}

#[test]
fn damage_stays_when_the_file_is_edited() {
    expect_damage_to_stay(|archive| archive.write("a", "an edit of the damaged file"), "a");
}

#[test]
fn damage_stays_when_the_file_is_saved_by_renaming() {
    expect_damage_to_stay(|archive| archive.replace_at("a", "saved", next_time()), "a");
}

#[test]
fn damage_stays_when_the_file_is_renamed_in_its_root() {
    expect_damage_to_stay(|archive| archive.rename("a", "d/renamed"), "d/renamed");
}

#[test]
fn damage_stays_when_the_file_is_renamed_and_edited() {
    let change = |archive: &Archive| {
        archive.rename("a", "renamed");
        archive.write("renamed", "edited");
    };
    expect_damage_to_stay(change, "renamed");
}

#[test]
fn damage_stays_when_the_file_is_edited_twice() {
    let change = |archive: &Archive| {
        archive.write("a", "once");
        archive.update();
        archive.write("a", "twice");
        archive.scrub();
    };
    expect_damage_to_stay(change, "a");
}

#[test]
fn damage_stays_when_another_file_takes_the_path() {
    // The record of `b` goes where its file went.
    expect_damage_to_stay(|archive| archive.rename("b", "a"), "a");
}

#[test]
fn damage_that_is_renamed_before_it_is_found_is_found_there() {
    let archive = Archive::recorded(&["a", "d/b", "d/c"]);
    ["a", "d/b"].iter().for_each(|name| archive.damage(name));
    archive.rename("a", "renamed");
    archive.rename("d", "e");
    let report = archive.update();
    assert_eq!(report.of(Class::Missing), [""; 0]);
    assert_eq!(archive.scrub().of(Class::Damaged), ["e/b", "renamed"]);
    assert_eq!(archive.stored(), ["damaged e/b", "damaged renamed"]);
    assert_eq!(archive.digest("renamed"), md5("a"));
}

#[test]
fn verify_finds_damage_in_a_renamed_file_before_update_records_the_rename() {
    let archive = Archive::recorded(&["a", "b"]);
    archive.damage("a");
    archive.rename("a", "renamed");
    let report = archive.verify();
    assert_eq!(report.summary.attention(), Attention::Problem, "{:?}", report.lines());
    assert_eq!(archive.update().summary.attention(), Attention::Problem);
    assert_eq!(archive.stored(), ["damaged renamed"]);
    assert_eq!(archive.digest("renamed"), md5("a"));
}

/// Restores a damaged file in some way, and expects it to be ok after each verb that reads it.
fn expect_restored(restore: impl Fn(&Archive)) {
    for task in [Task::Update, Task::Verify, Task::Scrub(everything())] {
        let archive = Archive::recorded(&["a"]);
        archive.damage("a");
        archive.verify();
        restore(&archive);
        let report = archive.run(&task);
        let finding = report.finding("a");
        assert_eq!((finding.class, finding.was), (Class::Ok, Some(Class::Damaged)), "{task:?}");
        assert_eq!(report.summary.attention(), Attention::Nothing, "{task:?}");
        assert_eq!(archive.stored(), [""; 0], "{task:?}");
        let file = archive.file("a");
        assert!(file.found.is_none() && file.reason.is_none() && file.since == 0, "{file:?}");
        assert_eq!(archive.update().lines(), [""; 0], "{task:?}: reported once");
    }
}

#[test]
fn damaged_file_is_ok_when_a_backup_with_its_time_is_back() {
    expect_restored(|archive| archive.replace_at("a", "a", archive.time("a")));
}

#[test]
fn damaged_file_is_ok_when_its_content_is_back_with_a_new_time() {
    expect_restored(|archive| archive.write("a", "a"));
    expect_restored(|archive| archive.replace_at("a", "a", next_time()));
}

#[test]
fn damaged_file_is_ok_when_the_bytes_are_set_back() {
    expect_restored(|archive| archive.damage("a"));
    expect_restored(|archive| archive.flip("a"));
}

#[test]
fn damaged_file_that_was_edited_is_ok_when_its_content_is_back() {
    expect_restored(|archive| {
        archive.write("a", "edited");
        archive.update();
        archive.write("a", "a");
    });
}

#[test]
fn damaged_file_that_moved_is_ok_when_its_content_is_back() {
    let archive = Archive::recorded(&["a"]);
    archive.damage("a");
    archive.verify();
    archive.rename("a", "b");
    archive.update();
    archive.write("b", "a");
    archive.update();
    assert_eq!(archive.stored(), [""; 0]);
    assert_eq!(archive.digest("b"), md5("a"));
}

#[test]
fn damaged_file_that_was_away_is_damaged_when_it_is_back() {
    let archive = Archive::recorded(&["a", "b"]);
    archive.damage("a");
    archive.verify();
    let away = archive.base.path().join("away");
    fs::rename(archive.path("a"), &away).unwrap();
    archive.update();
    assert_eq!(archive.stored(), ["missing a"]);
    fs::rename(&away, archive.path("a")).unwrap();
    archive.update();
    archive.scrub();
    assert_eq!(archive.stored(), ["damaged a"]);
    assert_eq!(archive.digest("a"), md5("a"));
}

#[test]
fn missing_file_is_missing_until_it_is_back() {
    let archive = Archive::recorded(&["a", "b", "d/c"]);
    archive.remove("a");
    fs::remove_dir_all(archive.path("d")).unwrap();
    let tasks = [Task::Update, Task::Verify, Task::Scan, Task::Scrub(everything())];
    for task in &tasks {
        let report = archive.run(task);
        assert_eq!(report.summary.attention(), Attention::Problem, "{task:?}");
        assert_eq!(archive.stored(), ["missing a", "missing d/c"], "{task:?}");
    }
    for task in tasks {
        let archive = Archive::recorded(&["a", "b"]);
        let time = archive.time("a");
        archive.remove("a");
        assert_eq!(archive.run(&task).of(Class::Missing), ["a"], "{task:?}");
        archive.write_at("a", "a", time);
        let report = archive.run(&task);
        assert_eq!(report.summary.attention(), Attention::Nothing, "{task:?}");
        assert_eq!(archive.stored(), [""; 0], "{task:?}");
    }
}

#[test]
fn missing_file_that_comes_back_with_other_content_is_edited() {
    let archive = Archive::recorded(&["a", "b"]);
    archive.remove("a");
    archive.update();
    archive.write("a", "a newer one");
    assert_eq!(archive.update().lines(), ["edited a"]);
    assert_eq!((archive.stored(), archive.digest("a")), (vec![], md5("a newer one")));
}

#[test]
fn link_directory_or_pipe_in_the_place_of_a_file_makes_it_missing() {
    let archive = Archive::recorded(&["link", "directory", "pipe", "other"]);
    ["link", "directory", "pipe"].iter().for_each(|name| archive.remove(name));
    std::os::unix::fs::symlink("other", archive.path("link")).unwrap();
    fs::create_dir(archive.path("directory")).unwrap();
    let made = Command::new("mkfifo").arg(archive.path("pipe")).status();
    assert!(made.is_ok_and(|status| status.success()));
    for task in [Task::Scan, Task::Verify, Task::Scrub(everything()), Task::Update] {
        archive.run(&task);
        let lines = ["missing directory", "missing link", "missing pipe"];
        assert_eq!(archive.stored(), lines, "{task:?}");
    }
}

#[test]
fn replaced_file_is_damaged_in_an_archive_and_edited_in_a_working_root() {
    for content in ["A", "another size"] {
        let archive = Archive::recorded(&["a", "b"]);
        archive.replace_at("a", content, archive.time("a"));
        let report = archive.verify();
        assert_eq!(report.lines(), ["damaged a"]);
        assert_eq!(report.finding("a").reason, Some(Reason::Replaced));
        assert_eq!(report.summary.attention(), Attention::Problem);

        let working = Archive::working(&["a", "b"]);
        working.replace_at("a", content, working.time("a"));
        let report = working.verify();
        assert_eq!(report.lines(), ["edited a"], "{content}");
        assert_eq!(report.summary.attention(), Attention::Changes);
        let report = working.update();
        assert!(report.summary.attention() <= Attention::Changes, "{:?}", report.lines());
        assert_eq!(working.digest("a"), md5(content), "update records it");
        assert_eq!(working.update().summary.attention(), Attention::Nothing);
        assert_eq!(working.stored(), [""; 0]);
    }
}

/// A recorded root whose file `a` was deleted and made again with its inode and time. None where
/// inodes are not given again, or the file system does not say when files were made.
fn made_again(profile: Profile, content: &str) -> Option<Archive> {
    // Tests beside this one may get the inode.
    (0..50).find_map(|_| {
        let mut archive = Archive::on_disk(&["a", "b"]);
        archive.settings.profile = profile;
        archive.add();
        fs::metadata(archive.path("a")).unwrap().created().ok()?;
        archive.make_again("a", content, archive.time("a")).then_some(archive)
    })
}

/// As packages are upgraded whose files all have one time: they are deleted and made again.
#[test]
fn file_that_is_made_again_with_its_inode_and_time_is_replaced() {
    for content in ["A", "another size"] {
        let made = [Profile::Archive, Profile::Working].map(|it| made_again(it, content));
        let [Some(archive), Some(working)] = made else {
            skip("the file system gives no inode again");
            return;
        };
        let report = archive.verify();
        assert_eq!(report.lines(), ["damaged a"], "{content}");
        assert_eq!(report.finding("a").reason, Some(Reason::Replaced), "{content}");
        assert_eq!(working.verify().lines(), ["edited a"], "{content}");
        assert!(working.update().summary.attention() <= Attention::Changes, "{content}");
        assert_eq!((working.stored(), working.digest("a")), (vec![], md5(content)));
    }
}

#[test]
fn file_that_is_rewritten_in_place_with_its_time_is_damaged_in_a_working_root() {
    let working = Archive::working(&["a"]);
    working.damage("a");
    let report = working.verify();
    assert_eq!(report.lines(), ["damaged a"]);
    assert_eq!(report.summary.attention(), Attention::Problem);
}

#[test]
fn unsettled_record_is_read_once_more() {
    set_ahead(0);
    let archive = Archive::of(&["a"]);
    set_time(&archive.path("a"), SystemTime::now());
    archive.add();
    assert_eq!(archive.update().summary.attention(), Attention::Nothing);
    days_pass(1);
    assert_eq!(archive.update().summary.files, 1, "it is settled now");
    assert_eq!(archive.update().summary.files, 0);
    archive.flip("a");
    assert_eq!(archive.verify().lines(), ["damaged a"]);
}

#[test]
fn unsettled_file_that_changed_within_its_time_is_edited() {
    for task in [Task::Update, Task::Verify, Task::Scrub(everything())] {
        set_ahead(0);
        let archive = Archive::of(&["a"]);
        set_time(&archive.path("a"), SystemTime::now());
        archive.add();
        archive.flip("a");
        days_pass(1);
        let report = archive.run(&task);
        assert_eq!(report.lines(), ["edited a"], "{task:?}");
        assert_eq!(report.summary.attention(), Attention::Changes, "{task:?}");
        archive.update();
        assert_eq!((archive.stored(), archive.digest("a")), (vec![], md5("`")), "{task:?}");
        archive.flip("a");
        assert_eq!(archive.verify().lines(), ["damaged a"], "{task:?}: it is settled now");
    }
}

#[test]
fn file_with_a_time_in_the_future_is_settled() {
    let archive = Archive::of(&["a"]);
    set_time(&archive.path("a"), SystemTime::now() + Duration::from_secs(10 * 365 * 86_400));
    archive.add();
    archive.flip("a");
    assert_eq!(archive.verify().lines(), ["damaged a"]);
}

/// The first byte is wrong while the file is read first, and right when it is read again.
#[test]
fn first_read_that_differs_from_the_second_is_a_hardware_warning() {
    let mut archive = Archive::new();
    archive.settings.algorithms = lanesum_list::Algorithm::Crc32c.into();
    archive.settings.rate = Some(32 << 20);
    archive.write("a", "a");
    File::options().write(true).open(archive.path("a")).unwrap().set_len(32 << 20).unwrap();
    archive.touch("a");
    archive.add();
    flip_at(&archive.path("a"), 0);
    // The rate keeps the first read at work for a second; the scan and the start of the read ask
    // whether to go on, too.
    let (path, asked) = (archive.path("a"), AtomicU64::new(0));
    let report = archive.run_with(&Task::Scrub(everything()), |options| {
        options.goes_on = Some(GoesOn::new(move || {
            if asked.fetch_add(1, Ordering::Relaxed) == 4 {
                flip_at(&path, 0);
            }
            true
        }));
    });
    if report.lines().is_empty() {
        skip("the byte was read after it was set back");
        return;
    }
    let finding = report.finding("a");
    assert_eq!((finding.class, finding.reason), (Class::Ok, Some(Reason::Hardware)));
    assert_eq!((report.summary.hardware_warnings, report.count(Class::Damaged)), (1, 0));
    assert_eq!(report.summary.attention(), Attention::Problem);
    assert_eq!(archive.stored(), [""; 0]);
    assert_eq!(archive.verify().summary.attention(), Attention::Nothing, "for that run alone");
}
