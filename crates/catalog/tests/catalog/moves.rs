//! Matching records to files: renames, moves, links, swaps, and moves between roots.

use std::fs;

use lanesum_catalog::{Attention, Reason};

use super::*;

/// Whether the file system says when files were made, so that a renamed file is known after an
/// edit.
fn has_births(archive: &Archive) -> bool {
    let is_known = fs::metadata(archive.tree()).unwrap().created().is_ok();
    if !is_known {
        skip("the file system does not say when files were made");
    }
    is_known
}

/// Expects that a run reports these lines as changes, and that the next one has nothing to do.
fn expect_changes(archive: &Archive, lines: &[&str]) {
    let report = archive.update();
    assert_eq!(report.lines(), lines);
    assert_eq!(report.summary.attention(), Attention::Changes);
    expect_nothing_to_do(archive);
    assert_eq!(archive.stored(), [""; 0]);
    let report = archive.scrub();
    assert_eq!((report.lines(), report.summary.attention()), (vec![], Attention::Nothing));
    assert_eq!(archive.look().check().unwrap(), [""; 0]);
}

fn expect_nothing_to_do(archive: &Archive) {
    let report = archive.update();
    assert_eq!((report.lines(), report.summary.files), (vec![], 0));
    assert_eq!(report.summary.attention(), Attention::Nothing);
}

#[test]
fn renamed_file_is_moved_without_being_read() {
    let archive = Archive::recorded(&["a", "d/b"]);
    let id = archive.file("a").id;
    archive.rename("a", "e/renamed");
    archive.rename("d/b", "d/c");
    for task in [Task::Scan, Task::Update] {
        let report = archive.run(&task);
        assert_eq!(report.lines(), ["moved a -> e/renamed", "moved d/b -> d/c"], "{task:?}");
        assert_eq!(report.summary.files, 0, "{task:?}");
        assert_eq!(report.summary.attention(), Attention::Changes, "{task:?}");
    }
    assert_eq!(archive.file("e/renamed").id, id, "the record follows the file");
    assert_eq!((archive.stored(), archive.files().len()), (vec![], 2));
    expect_nothing_to_do(&archive);
}

#[test]
fn move_that_is_not_recorded_yet_is_stored_with_its_new_path() {
    for task in [Task::Scan, Task::Verify, Task::Scrub(everything())] {
        let archive = Archive::recorded(&["a", "b"]);
        archive.rename("a", "renamed");
        let report = archive.run(&task);
        assert_eq!(report.lines(), ["moved a -> renamed"], "{task:?}");
        assert_eq!(archive.stored(), ["moved a -> renamed"], "{task:?}");
        assert_eq!(archive.file("a").moved_to, Some(archive.path("renamed")), "{task:?}");
        archive.rename("renamed", "a");
        archive.run(&task);
        assert_eq!(archive.stored(), [""; 0], "{task:?}: it is back");
    }
}

#[test]
fn renamed_directory_is_one_finding() {
    let archive = Archive::recorded(&["old/1", "old/2", "old/x/3", "one"]);
    archive.rename("old", "new");
    archive.rename("one", "uno");
    let lines = ["moved old/ -> new/ (3)", "moved one -> uno"];
    assert_eq!(archive.scan().lines(), lines);
    let report = archive.update();
    assert_eq!((report.lines(), report.summary.files), (lines.map(String::from).to_vec(), 0));
    assert_eq!(report.count(Class::Moved), 4);
    assert_eq!(archive.digest("new/x/3"), md5("old/x/3"));
    expect_nothing_to_do(&archive);
}

#[test]
fn renamed_and_edited_file_is_no_alarm() {
    for is_working in [false, true] {
        let archive = if is_working { Archive::working } else { Archive::recorded }(&["a", "b"]);
        if !has_births(&archive) {
            return;
        }
        let id = archive.file("a").id;
        archive.rename("a", "renamed");
        archive.write("renamed", "and edited");
        let report = archive.update();
        assert_eq!(report.summary.attention(), Attention::Changes, "{:?}", report.lines());
        assert_eq!(report.of(Class::Missing).len() + report.of(Class::New).len(), 0);
        assert_eq!((archive.file("renamed").id, archive.stored()), (id, vec![]));
        assert_eq!(archive.digest("renamed"), md5("and edited"));
        expect_nothing_to_do(&archive);
    }
}

#[test]
fn edit_in_a_renamed_directory_is_no_alarm() {
    let archive = Archive::recorded(&["d/a", "d/b", "d/c", "e"]);
    if !has_births(&archive) {
        return;
    }
    archive.rename("d", "f");
    archive.write("f/b", "edited");
    let report = archive.update();
    assert_eq!(report.summary.attention(), Attention::Changes, "{:?}", report.lines());
    assert_eq!(report.of(Class::Missing).len() + report.of(Class::New).len(), 0);
    assert_eq!((archive.stored(), archive.digest("f/b")), (vec![], md5("edited")));
}

#[test]
fn file_that_was_copied_and_deleted_is_moved_by_its_content() {
    for task in [Task::Update, Task::Verify] {
        let archive = Archive::recorded(&["a", "b"]);
        archive.write("d/copy", "a");
        archive.remove("a");
        let report = archive.run(&task);
        assert_eq!(report.lines(), ["moved a -> d/copy"], "{task:?}");
        assert_eq!(report.summary.attention(), Attention::Changes, "{task:?}");
        assert!(archive.update().summary.attention() <= Attention::Changes, "{task:?}");
        assert_eq!((archive.stored(), archive.files().len()), (vec![], 2), "{task:?}");
        assert_eq!(archive.update().summary.attention(), Attention::Nothing, "{task:?}");
    }
}

#[test]
fn missing_file_that_is_found_elsewhere_later_is_moved() {
    let archive = Archive::recorded(&["a", "b"]);
    archive.remove("a");
    assert_eq!(archive.update().lines(), ["missing a"]);
    archive.write("elsewhere", "a");
    assert_eq!(archive.update().lines(), ["moved a -> elsewhere"]);
    assert_eq!(archive.stored(), [""; 0]);
}

#[test]
fn empty_files_are_not_matched_by_content() {
    let archive = Archive::of(&["b"]);
    archive.write("empty", "");
    archive.add();
    archive.remove("empty");
    archive.write("another", "");
    let report = archive.update();
    assert_eq!(report.lines(), ["missing empty", "new another"]);
}

#[test]
fn copy_of_a_recorded_file_is_new_and_names_the_original() {
    let archive = Archive::recorded(&["a", "b"]);
    archive.write("copy", "a");
    archive.write("new", "of its own");
    let report = archive.update();
    assert_eq!(report.of(Class::New), ["copy", "new"]);
    assert_eq!(report.summary.attention(), Attention::Changes);
    let copy = report.finding("copy");
    assert_eq!((copy.reason, copy.other.clone()), (Some(Reason::Copy), Some(archive.path("a"))));
    assert_eq!((report.finding("new").reason, archive.stored()), (None, vec![]));
}

#[test]
fn two_files_that_swap_their_names_are_edited() {
    let archive = Archive::recorded(&["a", "b"]);
    for (from, to) in [("a", "aside"), ("b", "a"), ("aside", "b")] {
        archive.rename(from, to);
    }
    let report = archive.update();
    assert_eq!(report.summary.attention(), Attention::Changes, "{:?}", report.lines());
    assert_eq!([archive.digest("a"), archive.digest("b")], [md5("b"), md5("a")]);
    assert_eq!((archive.stored(), archive.files().len()), (vec![], 2));
    expect_nothing_to_do(&archive);
    assert_eq!(archive.scrub().lines(), [""; 0]);
}

#[test]
fn file_renamed_over_a_recorded_one_is_no_alarm() {
    // With times of their own, and with the same time, as wheels and packages have.
    for is_same_time in [false, true] {
        let archive = Archive::of(&["a", "b", "c"]);
        if is_same_time {
            set_time(&archive.path("b"), archive.time("a"));
        }
        archive.add();
        archive.rename("a", "b");
        let report = archive.update();
        assert_eq!(report.summary.attention(), Attention::Changes, "{:?}", report.lines());
        assert_eq!(report.of(Class::Moved).len() + report.of(Class::Edited).len(), 2);
        assert_eq!((archive.stored(), archive.files().len()), (vec![], 2), "{is_same_time}");
        assert_eq!(archive.digest("b"), md5("a"), "{is_same_time}");
        expect_nothing_to_do(&archive);
        assert_eq!(archive.scrub().lines(), [""; 0]);
    }
}

#[test]
fn file_renamed_over_a_recorded_one_is_no_alarm_to_verbs_that_record_nothing() {
    for task in [Task::Scan, Task::Verify, Task::Scrub(everything())] {
        let archive = Archive::recorded(&["a", "b", "c"]);
        archive.rename("a", "b");
        let report = archive.run(&task);
        let attention = report.summary.attention();
        assert_eq!(attention, Attention::Changes, "{task:?}: {:?}", report.lines());
        assert_eq!(archive.update().summary.attention(), Attention::Changes, "{task:?}");
        assert_eq!((archive.stored(), archive.digest("b")), (vec![], md5("a")), "{task:?}");
    }
}

#[test]
fn file_that_was_put_aside_for_a_new_one_is_no_alarm() {
    // As editors make backups: the old file gets a new name, and a new file its old name.
    let archive = Archive::recorded(&["a", "b"]);
    archive.rename("a", "a~");
    archive.write("a", "edited");
    let report = archive.update();
    assert_eq!(report.summary.attention(), Attention::Changes, "{:?}", report.lines());
    assert_eq!([archive.digest("a"), archive.digest("a~")], [md5("edited"), md5("a")]);
    expect_nothing_to_do(&archive);
}

#[test]
fn download_that_is_renamed_is_no_alarm() {
    let archive = Archive::recorded(&["a"]);
    archive.write("film.part", "the first");
    assert_eq!(archive.update().lines(), [""; 0], "excluded by default");
    archive.write("film.part", "the first half and the second");
    archive.rename("film.part", "film");
    expect_changes(&archive, &["new film"]);
}

#[test]
fn hard_link_of_a_recorded_file_is_new() {
    let archive = Archive::recorded(&["a"]);
    fs::hard_link(archive.path("a"), archive.path("link")).unwrap();
    let report = archive.update();
    assert_eq!(report.of(Class::New), ["link"]);
    assert_eq!(report.summary.attention(), Attention::Changes);
    expect_nothing_to_do(&archive);
}

#[test]
fn hard_links_that_are_renamed_together_keep_their_records() {
    let archive = Archive::of(&["d/a", "other"]);
    fs::hard_link(archive.path("d/a"), archive.path("d/b")).unwrap();
    archive.add();
    let [a, b] = ["d/a", "d/b"].map(|name| archive.file(name).id);
    archive.rename("d", "e");
    assert_eq!(archive.update().lines(), ["moved d/ -> e/ (2)"]);
    assert_eq!(["e/a", "e/b"].map(|name| archive.file(name).id), [a, b]);
    expect_nothing_to_do(&archive);
}

#[test]
fn hard_links_that_are_damaged_are_both_damaged() {
    let archive = Archive::of(&["a", "other"]);
    fs::hard_link(archive.path("a"), archive.path("b")).unwrap();
    archive.add();
    archive.damage("a");
    assert_eq!(archive.scrub().lines(), ["damaged a", "damaged b"]);
    archive.damage("b");
    archive.scrub();
    assert_eq!(archive.stored(), [""; 0]);
}

#[test]
fn hard_link_that_is_deleted_is_missing_in_an_archive() {
    let archive = Archive::of(&["a", "other"]);
    fs::hard_link(archive.path("a"), archive.path("b")).unwrap();
    archive.add();
    archive.remove("b");
    assert_eq!(archive.update().lines(), ["missing b"]);
    assert_eq!(archive.stored(), ["missing b"]);
}

#[test]
fn file_that_gets_the_inode_of_a_deleted_one_is_new() {
    // Tests beside this one may get the inode.
    for _ in 0..50 {
        let archive = Archive::on_disk(&["a", "b"]);
        if !has_births(&archive) {
            return;
        }
        archive.add();
        let inode = |name: &str| fs::metadata(archive.path(name)).unwrap().ino();
        let before = inode("a");
        archive.remove("a");
        archive.write("made later", "of its own");
        if inode("made later") == before {
            assert_eq!(archive.update().lines(), ["missing a", "new made later"]);
            assert_eq!(archive.stored(), ["missing a"]);
            return;
        }
    }
    skip("the file system gives no inode again");
}

/// The inode of a missing file is given to a second one that looks the same, which is recorded and
/// renamed.
#[test]
fn renamed_file_with_the_inode_of_a_missing_one_is_not_taken_for_it() {
    for _ in 0..50 {
        let archive = Archive::on_disk(&["1/x", "b"]);
        if !has_births(&archive) {
            return;
        }
        let time = UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        set_time(&archive.path("1/x"), time);
        archive.add();
        let inode = |name: &str| fs::metadata(archive.path(name)).unwrap().ino();
        let before = inode("1/x");
        archive.remove("1/x");
        archive.update();
        archive.write("2/x", "yyy");
        set_time(&archive.path("2/x"), time);
        if inode("2/x") == before {
            assert_eq!(archive.update().lines(), ["missing 1/x", "new 2/x"]);
            archive.rename("2", "3");
            assert_eq!(archive.update().lines(), ["missing 1/x", "moved 2/x -> 3/x"]);
            assert_eq!(archive.verify().lines(), ["missing 1/x"]);
            return;
        }
    }
    skip("the file system gives no inode again");
}

/// Two recorded roots of one file system.
fn two_roots() -> [Archive; 2] {
    let one = Archive::recorded(&["d/a", "d/b", "stays"]);
    let two = one.beside("two", &["other", "others"]);
    two.add();
    [one, two]
}

#[test]
fn file_that_moves_between_roots_in_one_run_is_moved() {
    for is_reversed in [false, true] {
        let [one, two] = two_roots();
        fs::rename(one.path("d/a"), two.path("a")).unwrap();
        let order = if is_reversed { [&two, &one] } else { [&one, &two] };
        let reports = run_roots(&order, &Task::Update);
        let lines: Vec<_> = reports.iter().flat_map(Report::lines).collect();
        assert_eq!(lines, ["moved root/d/a -> a"], "{is_reversed}");
        for report in &reports {
            assert!(report.summary.attention() <= Attention::Changes, "{:?}", report.lines());
            assert_eq!(report.summary.files, 0);
        }
        assert_eq!((one.stored(), two.stored()), (vec![], vec![]));
        assert_eq!((one.files().len(), two.files().len()), (2, 3));
        assert_eq!(two.digest("a"), md5("d/a"));
        run_roots(&order, &Task::Update).iter().for_each(|report| {
            assert_eq!(report.summary.attention(), Attention::Nothing, "{:?}", report.lines());
        });
        assert_eq!(one.look().check().unwrap(), [""; 0]);
    }
}

#[test]
fn file_that_moved_to_another_root_is_accepted_there() {
    for is_damaged in [false, true] {
        let [one, two] = two_roots();
        if is_damaged {
            one.flip("d/a");
            one.verify();
        }
        fs::rename(one.path("d/a"), two.path("a")).unwrap();
        run_roots(&[&one, &two], &Task::Verify);
        let accepted = two.accept(&["a"]);
        assert_eq!((accepted.files, accepted.failed.len()), (1, 0));
        assert_eq!((one.files().len(), two.files().len()), (2, 3));
        assert_eq!(one.look().check().unwrap(), [""; 0]);
        for report in run_roots(&[&one, &two], &Task::Verify) {
            assert_eq!(report.summary.attention(), Attention::Nothing, "{:?}", report.lines());
        }
    }
}

#[test]
fn directory_that_moves_between_roots_is_moved_with_all_files() {
    let [one, two] = two_roots();
    fs::rename(one.path("d"), two.path("e")).unwrap();
    let reports = run_roots(&[&one, &two], &Task::Update);
    let lines: Vec<_> = reports.iter().flat_map(Report::lines).collect();
    assert_eq!(lines, ["moved root/d/ -> e/ (2)"]);
    assert_eq!((one.files().len(), two.files().len()), (1, 4));
    assert_eq!((one.stored(), two.stored()), (vec![], vec![]));
}

#[test]
fn scan_and_verify_of_both_roots_know_a_move_between_them() {
    for task in [Task::Scan, Task::Verify] {
        let [one, two] = two_roots();
        fs::rename(one.path("d/a"), two.path("a")).unwrap();
        for report in run_roots(&[&one, &two], &task) {
            let attention = report.summary.attention();
            assert!(attention <= Attention::Changes, "{task:?}: {:?}", report.lines());
        }
        for report in run_roots(&[&one, &two], &Task::Update) {
            let attention = report.summary.attention();
            assert!(attention <= Attention::Changes, "{task:?}: {:?}", report.lines());
        }
        assert_eq!((one.stored(), two.stored()), (vec![], vec![]), "{task:?}");
    }
}

#[test]
fn file_that_moves_between_roots_is_moved_when_only_the_new_root_is_updated() {
    let [one, two] = two_roots();
    fs::rename(one.path("d/a"), two.path("a")).unwrap();
    let report = two.update();
    assert_eq!(report.lines(), ["moved root/d/a -> a"]);
    assert_eq!(report.summary.attention(), Attention::Changes);
    let report = one.update();
    assert_eq!((report.lines(), report.summary.attention()), (vec![], Attention::Nothing));
    assert_eq!((one.stored(), two.stored()), (vec![], vec![]));
    assert_eq!((one.files().len(), two.files().len()), (2, 3));
}

#[test]
fn hard_links_that_move_to_another_root_keep_a_record_each() {
    for is_alone in [false, true] {
        let [one, two] = two_roots();
        fs::hard_link(one.path("d/a"), one.path("d/link")).unwrap();
        one.update();
        fs::rename(one.path("d"), two.path("e")).unwrap();
        let reports =
            if is_alone { vec![two.update()] } else { run_roots(&[&one, &two], &Task::Update) };
        let lines: Vec<_> = reports.iter().flat_map(Report::lines).collect();
        assert_eq!(lines, ["moved root/d/ -> e/ (3)"], "{is_alone}");
        assert_eq!((one.files().len(), two.files().len()), (1, 5), "{is_alone}");
        assert_eq!(one.update().summary.attention(), Attention::Nothing, "{is_alone}");
    }
}

#[test]
fn file_that_moves_between_roots_is_missing_until_the_new_root_is_updated() {
    let [one, two] = two_roots();
    fs::rename(one.path("d/a"), two.path("a")).unwrap();
    let report = one.update();
    assert_eq!(report.lines(), ["missing d/a"]);
    assert_eq!(report.summary.attention(), Attention::Problem);
    assert_eq!(two.update().lines(), ["moved root/d/a -> a"]);
    assert_eq!((one.stored(), two.stored()), (vec![], vec![]));
    assert_eq!(one.update().summary.attention(), Attention::Nothing);
    assert_eq!(two.update().summary.attention(), Attention::Nothing);
}

#[test]
fn file_that_moves_and_is_edited_between_roots_is_no_alarm() {
    let [one, two] = two_roots();
    if !has_births(&one) {
        return;
    }
    fs::rename(one.path("d/a"), two.path("a")).unwrap();
    two.write("a", "edited");
    for report in run_roots(&[&one, &two], &Task::Update) {
        assert!(report.summary.attention() <= Attention::Changes, "{:?}", report.lines());
    }
    assert_eq!((one.stored(), two.stored()), (vec![], vec![]));
    assert_eq!(two.digest("a"), md5("edited"));
}

#[test]
fn move_to_another_root_and_back_changes_nothing() {
    let [one, two] = two_roots();
    fs::rename(one.path("d/a"), two.path("a")).unwrap();
    run_roots(&[&one, &two], &Task::Update);
    fs::rename(two.path("a"), one.path("d/a")).unwrap();
    let reports = run_roots(&[&one, &two], &Task::Update);
    let lines: Vec<_> = reports.iter().flat_map(Report::lines).collect();
    assert_eq!(lines, ["moved two/a -> d/a"]);
    assert_eq!((one.files().len(), two.files().len()), (3, 2));
    assert_eq!((one.stored(), two.stored()), (vec![], vec![]));
    assert_eq!(one.scrub().lines(), [""; 0]);
}

#[test]
fn file_of_an_offline_root_is_not_moved_away_from_it() {
    let [one, two] = two_roots();
    two.write("copy", "d/a");
    let away = one.base.path().join("away");
    fs::rename(one.tree(), &away).unwrap();
    let report = two.update();
    assert_eq!(report.of(Class::New), ["copy"], "{:?}", report.lines());
    fs::rename(&away, one.tree()).unwrap();
    assert_eq!(one.update().lines(), [""; 0]);
    assert_eq!(one.files().len(), 3);
}

#[test]
fn rename_to_the_path_of_a_missing_record_is_no_damage() {
    let archive = Archive::recorded(&["a", "b", "c"]);
    archive.remove("a");
    archive.update();
    archive.rename("b", "a");
    let report = archive.update();
    assert_eq!(report.summary.attention(), Attention::Changes, "{:?}", report.lines());
    assert_eq!((archive.stored(), archive.digest("a")), (vec![], md5("b")));
}

#[test]
fn names_that_are_no_text_are_recorded() {
    use std::os::unix::ffi::OsStrExt as _;
    let archive = Archive::of(&["a\nb", "tab\tand \\ backslash"]);
    let name = std::ffi::OsStr::from_bytes(b"\xff\xfe");
    fs::write(archive.tree().join(name), "bytes").unwrap();
    assert_eq!(archive.add().summary.files, 3);
    fs::rename(archive.tree().join(name), archive.path("text")).unwrap();
    assert_eq!(archive.update().lines(), ["moved \\xff\\xfe -> text"]);
}

#[test]
fn file_that_moves_into_a_directory_of_its_own_name_is_moved() {
    let archive = Archive::recorded(&["a", "b/c", "d"]);
    archive.rename("a", "aside");
    archive.rename("aside", "a/a");
    archive.rename("b/c", "aside");
    fs::remove_dir(archive.path("b")).unwrap();
    archive.rename("aside", "b");
    expect_changes(&archive, &["moved a -> a/a", "moved b/c -> b"]);
}

#[test]
fn file_that_was_copied_to_another_root_and_deleted_is_no_alarm() {
    let [one, two] = two_roots();
    two.write("copy", "d/a");
    one.remove("d/a");
    for report in run_roots(&[&one, &two], &Task::Update) {
        assert!(report.summary.attention() <= Attention::Changes, "{:?}", report.lines());
    }
    assert_eq!((one.stored(), two.stored()), (vec![], vec![]));
    assert_eq!((one.files().len(), two.files().len()), (2, 3));
}

#[test]
fn tree_that_was_restored_from_a_backup_has_nothing_to_do() {
    let archive = Archive::recorded(&["a", "d/b", "d/c"]);
    let copy = archive.base.path().join("copy");
    let copied = Command::new("cp").arg("-a").args([archive.tree(), copy.clone()]).status();
    assert!(copied.is_ok_and(|status| status.success()));
    for name in ["a", "d"] {
        let gone = archive.base.path().join(format!("gone {name}"));
        fs::rename(archive.path(name), gone).unwrap();
        fs::rename(copy.join(name), archive.path(name)).unwrap();
    }
    expect_nothing_to_do(&archive);
    assert_eq!(archive.scrub().lines(), [""; 0]);
    // The records know the inodes of the copies now.
    archive.rename("d", "e");
    archive.write("e/b", "edited");
    let report = archive.update();
    assert_eq!(report.summary.attention(), Attention::Changes, "{:?}", report.lines());
    assert_eq!(report.of(Class::New).len() + report.of(Class::Missing).len(), 0);
}

#[test]
fn bad_copy_in_a_restored_tree_is_damaged() {
    let archive = Archive::recorded(&["a", "b", "c"]);
    for name in ["a", "b", "c"] {
        let content = if name == "b" { "B" } else { name };
        archive.replace_at(name, content, archive.time(name));
    }
    assert_eq!(archive.update().lines(), [""; 0], "sizes and times are as recorded");
    assert_eq!(archive.scrub().lines(), ["damaged b"]);
}

/// Where the layers of an overlay are of two file systems, its files have other devices than its
/// directories, and a file gets another inode when it is changed first.
#[test]
fn files_of_an_overlay_are_edited_moved_and_verified_as_any_other() {
    let archive = Archive::new();
    let (lower, upper) = (tempfile::tempdir().unwrap(), in_memory());
    ["a", "b", "c"].iter().for_each(|name| fs::write(lower.path().join(name), name).unwrap());
    let [up, work] = ["up", "work"].map(|name| upper.path().join(name));
    [&up, &work].iter().for_each(|directory| fs::create_dir(directory).unwrap());
    let [lower, up, work] = [lower.path(), &up, &work].map(Path::display);
    let layers = format!("lowerdir={lower},upperdir={up},workdir={work},xino=off");
    let overlay = ["mount", "-t", "overlay", "overlay", "-o", &layers].map(AsRef::as_ref);
    if !mount(&[&overlay[..], &[archive.tree().as_ref()]].concat()) {
        skip("no overlay can be mounted");
        return;
    }
    let _mounted = Bound(archive.tree());
    assert_eq!(archive.add().summary.files, 3);
    assert_eq!(archive.verify().lines(), [""; 0]);
    archive.write("a", "edited");
    archive.write("new", "new");
    archive.rename("b", "renamed");
    set_mode(&archive.path("c"), 0o600);
    expect_changes(&archive, &["edited a", "moved b -> renamed", "new new"]);
    archive.damage("c");
    assert_eq!(archive.scrub().lines(), ["damaged c"]);
}
