//! What the catalog keeps: deleted files, runs, the log, counts of a root, copies of lost files.

use std::fs;

use lanesum_catalog::{Attention, Outcome, Run, Scope, Verb};

use super::*;

#[test]
fn deletion_is_a_problem_in_an_archive_and_a_change_in_a_working_root() {
    let archive = Archive::recorded(&["a", "b"]);
    archive.remove("a");
    let report = archive.update();
    assert_eq!(report.lines(), ["missing a"]);
    assert_eq!(report.summary.attention(), Attention::Problem);
    assert_eq!((archive.stored(), archive.files().len()), (vec!["missing a".into()], 2));
    assert!(archive.look().deleted(&archive.root(), 0).unwrap().is_empty());

    let working = Archive::working(&["a", "b"]);
    working.remove("a");
    for task in [Task::Scan, Task::Verify, Task::Scrub(everything())] {
        let report = working.run(&task);
        assert_eq!(report.lines(), ["missing a"], "{task:?}");
        assert_eq!(report.summary.attention(), Attention::Changes, "{task:?}");
        assert_eq!(working.status().attention(), Attention::Changes, "{task:?}");
        assert_eq!(working.stored(), ["missing a"], "{task:?}");
    }
    let report = working.update();
    assert_eq!((report.lines(), report.summary.attention()), {
        (vec!["missing a".to_owned()], Attention::Changes)
    });
    assert_eq!((working.stored(), working.files().len()), (vec![], 1));
    assert_eq!(working.update().summary.attention(), Attention::Nothing);
}

#[test]
fn deleted_files_are_listed_for_ninety_days() {
    let archive = Archive::working(&["a", "b", "c"]);
    archive.remove("a");
    let at = clock();
    archive.update();
    days_pass(1);
    archive.remove("b");
    archive.update();
    let root = archive.root();
    let deleted = archive.look().deleted(&root, 0).unwrap();
    let names: Vec<_> = deleted.iter().map(|it| archive.below(&it.path)).collect();
    assert_eq!(names, ["b", "a"], "newest first");
    assert_eq!(deleted[1].recorded.digests[0].to_string(), md5("a"));
    assert!((at..at + 100).contains(&deleted[1].at));
    assert_eq!(archive.look().deleted(&root, at + 3600).unwrap().len(), 1);
    days_pass(90);
    archive.update();
    let deleted = archive.look().deleted(&root, 0).unwrap();
    assert_eq!(deleted.len(), 1, "a was deleted 91 days ago");
    days_pass(2);
    archive.update();
    assert!(archive.look().deleted(&root, 0).unwrap().is_empty());
}

#[test]
fn damaged_file_that_is_deleted_from_a_working_root_is_a_change() {
    let archive = Archive::working(&["a", "b"]);
    archive.damage("a");
    archive.verify();
    archive.remove("a");
    assert_eq!(archive.update().summary.attention(), Attention::Changes);
    assert_eq!(archive.look().deleted(&archive.root(), 0).unwrap().len(), 1);
}

fn runs(archive: &Archive) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut take = |run| {
        runs.push(run);
        Ok(())
    };
    archive.look().runs(0, &mut take).unwrap();
    runs
}

#[test]
fn runs_are_kept_with_what_they_covered_and_found() {
    let archive = Archive::recorded(&["a", "b"]);
    archive.write("a", "edited");
    archive.damage("b");
    archive.scan();
    archive.verify_paths(&["b"]);
    archive.update();
    archive.verify();
    archive.run(&Task::Scrub(Selection::default()));
    let all = runs(&archive);
    let kinds: Vec<_> = all.iter().map(|run| (run.verb, run.scope)).collect();
    assert_eq!(
        kinds,
        [
            (Verb::Scrub, Scope::Due),
            (Verb::Verify, Scope::Everything),
            (Verb::Update, Scope::Changes),
            (Verb::Verify, Scope::Named),
            (Verb::Scan, Scope::Names),
            (Verb::Add, Scope::Changes),
        ]
    );
    for run in &all {
        assert_eq!((run.outcome, run.root), (Outcome::Complete, archive.root().id()), "{run:?}");
        assert!(run.ended.is_some_and(|ended| ended >= run.started), "{run:?}");
    }
    assert_eq!((all[1].files, all[1].counts.get(&Class::Damaged)), (2, Some(&1)));
    assert_eq!(all[2].counts.get(&Class::Edited), Some(&1));
    assert_eq!(archive.status().last.map(|run| run.id), Some(all[0].id));
}

#[test]
fn outcomes_say_how_runs_ended() {
    let archive = Archive::recorded(&["a", "b"]);
    let last = || runs(&archive).remove(0).outcome;
    set_mode(&archive.path("a"), 0);
    archive.limited(Archive::verify);
    assert_eq!(last(), Outcome::Partial);
    set_mode(&archive.path("a"), 0o600);
    let limit =
        |it: &mut Selection| (it.percent, it.max_time) = (Some(100.0), Some(Duration::ZERO));
    archive.run(&Task::Scrub(selection(limit)));
    assert_eq!(last(), Outcome::Limited);
    let away = archive.base.path().join("away");
    fs::rename(archive.tree(), &away).unwrap();
    archive.update();
    assert_eq!(last(), Outcome::Offline);
    fs::rename(&away, archive.tree()).unwrap();
    archive.update();
    assert_eq!(last(), Outcome::Complete);
}

#[test]
fn log_has_an_entry_for_each_change_of_a_file() {
    let archive = Archive::recorded(&["a", "b"]);
    archive.damage("a");
    for _ in 0..3 {
        archive.verify();
    }
    archive.damage("a");
    archive.verify();
    archive.remove("a");
    archive.update();
    archive.update();
    let catalog = archive.look();
    let events = catalog.events_of(archive.root().id(), b"a", 10).unwrap();
    let classes: Vec<_> = events.iter().map(|it| it.finding.class).collect();
    assert_eq!(classes, [Class::Missing, Class::Ok, Class::Damaged], "newest first");
    assert_eq!(events[1].finding.was, Some(Class::Damaged));
    assert!(catalog.events_of(archive.root().id(), b"b", 10).unwrap().is_empty());
    let all = catalog.events_after(0, 100).unwrap();
    assert!(all.windows(2).all(|two| two[0].id < two[1].id));
    assert_eq!(catalog.events_after(all[0].id, 1).unwrap()[0].id, all[1].id);
    assert_eq!(all[0].root_path, Some(archive.tree()));
}

#[test]
fn status_counts_the_files_of_each_root() {
    let archive = Archive::recorded(&["a", "b", "c", "d"]);
    let other = archive.beside("other", &["1", "2"]);
    other.add();
    archive.damage("a");
    archive.write("b", "edited");
    archive.remove("c");
    archive.write("new", "new");
    archive.verify();
    let status = archive.status();
    assert_eq!((status.files, status.new, status.root.bytes), (4, 1, 4));
    for class in [Class::Ok, Class::Damaged, Class::Edited, Class::Missing] {
        assert_eq!(status.standing.get(&class), Some(&1), "{class}");
    }
    assert_eq!(status.attention(), Attention::Problem);
    assert!(!status.is_running);
    let status = other.status();
    assert_eq!((status.files, status.attention()), (2, Attention::Nothing));
    assert_eq!(archive.look().status(clock()).unwrap().len(), 2);
}

#[test]
fn status_says_how_old_verifications_are() {
    let archive = Archive::recorded(&["a", "b", "c"]);
    let added = clock();
    days_pass(45);
    archive.verify_paths(&["a"]);
    let status = archive.status();
    assert_eq!(status.by_age.iter().sum::<u64>(), 3);
    assert_eq!((status.by_age[0], status.by_age[15]), (1, 2), "parts of three days");
    assert!(status.oldest.is_some_and(|oldest| (added - 100..=added).contains(&oldest)));
    assert_eq!((status.overdue, status.by_age[30]), (0, 0));
    days_pass(100);
    let status = archive.status();
    assert_eq!((status.overdue, status.by_age[30]), (3, 3));
    assert_eq!((status.due, status.next_due), (3, None), "none is due later");
}

#[test]
fn files_are_listed_in_pages_and_by_their_classes() {
    let archive = Archive::recorded(&["a", "b", "c", "d"]);
    ["b", "d"].iter().for_each(|name| archive.damage(name));
    archive.verify();
    let list = |change: &dyn Fn(&mut FileFilter)| {
        let mut filter = FileFilter::default();
        change(&mut filter);
        let mut files = Vec::new();
        let mut take = |file: FileStatus| {
            files.push((file.id, archive.below(&file.path)));
            Ok(())
        };
        archive.look().files(&filter, &mut take).unwrap();
        files
    };
    let all = list(&|_| {});
    assert_eq!(all.len(), 4);
    assert!(all.windows(2).all(|two| two[0].0 < two[1].0), "in the order of their ids");
    let page = list(&|it| (it.after, it.most) = (all[1].0, 1));
    assert_eq!(page, [all[2].clone()]);
    let bad = list(&|it| it.only_bad = true);
    assert_eq!(bad.iter().map(|it| &*it.1).collect::<Vec<_>>(), ["b", "d"]);
    let file = archive.look().file(bad[0].0).unwrap().expect("a file");
    assert_eq!((file.path, file.class), (archive.path("b"), Class::Damaged));
    assert!(archive.look().file(1000).unwrap().is_none());
}

#[test]
fn copies_of_lost_files_are_found() {
    let archive = Archive::recorded(&["a", "b"]);
    let other = archive.beside("other", &["c"]);
    other.write("copy of a", "a");
    other.add();
    let lost = ["a", "c"].map(|content| {
        let md5 = lanesum_list::Algorithm::Md5.into();
        lanesum_checksum::digests_of(md5, None, content.as_bytes()).unwrap()
    });
    archive.remove("a");
    archive.update();
    let copies = archive.look().find_copies(&lost).unwrap();
    assert_eq!(copies, [Some(other.path("copy of a")), Some(other.path("c"))]);
    other.damage("copy of a");
    other.verify();
    assert_eq!(archive.look().find_copies(&lost[..1]).unwrap(), [None], "it is damaged itself");
}

#[test]
fn log_of_a_forgotten_root_stays() {
    let archive = Archive::recorded(&["a", "b"]);
    archive.damage("a");
    archive.verify();
    let id = archive.root().id();
    archive.forget(&[""]);
    let events = archive.look().events_after(0, 10).unwrap();
    let damaged = events.iter().find(|it| it.finding.class == Class::Damaged).expect("its event");
    assert_eq!((damaged.root, &damaged.root_path), (id, &None));
}

#[test]
fn log_is_short_while_a_reader_has_the_catalog_open() {
    let archive = Archive::recorded(&["a", "b"]);
    let reader = archive.look();
    archive.damage("a");
    archive.verify();
    // As if the reader was killed, and the log was lost.
    let copy = archive.state.path().join("copy.db");
    fs::copy(archive.catalog_path(), &copy).unwrap();
    drop(reader);
    let catalog = Catalog::look(&copy).unwrap();
    let status = catalog.status(clock()).unwrap().remove(0);
    assert_eq!(status.standing.get(&Class::Damaged), Some(&1));
}
