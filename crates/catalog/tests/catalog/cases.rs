//! Every row of the table of cases, on real files.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt as _, symlink};

use lanesum_catalog::{Change, Control, Import, Imported, Reread, Severity, Status};
use lanesum_list::Record;

use super::*;

#[test]
fn what_is_as_it_was_is_not_read() {
    let archive = Archive::of(&["a", "b/c"]);
    let told = archive.run(Verb::Add);
    assert_eq!((told.summary.files, told.summary.severity()), (2, Severity::AsCataloged));
    assert_eq!(told.lines(), [""; 0]);
    for verb in [Verb::Update, Verb::Audit] {
        let told = archive.run(verb);
        assert_eq!((told.summary.files, told.summary.same), (0, 2), "{verb:?}");
        assert_eq!(told.summary.severity(), Severity::AsCataloged);
    }
    let told = archive.run_with(Verb::Audit, |options| options.reread = Reread::All);
    assert_eq!((told.summary.files, told.counts()[&Class::Ok]), (2, 2));
}

#[test]
fn a_chmod_a_link_and_a_time_are_touches() {
    let archive = Archive::of(&["a", "b", "c"]);
    archive.run(Verb::Add);
    fs::set_permissions(archive.path("a"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::hard_link(archive.path("b"), archive.state.path().join("link")).err();
    set_time(&archive.path("c"), UNIX_EPOCH);
    let told = archive.run(Verb::Audit);
    assert_eq!(told.summary.severity(), Severity::AsCataloged);
    assert!(told.counts()[&Class::Touched] >= 2, "{:?}", told.counts());
    // The stat is renewed, so that it is read once.
    assert_eq!(archive.run(Verb::Audit).summary.files, 0);
}

#[test]
fn edits_are_taken_up_by_update_alone() {
    let archive = Archive::of(&["a", "b", "c"]);
    archive.run(Verb::Add);
    archive.write("a", "x");
    archive.write("b", "longer than before");
    archive.write_at("c", "y", 1_000_000);
    let lines = ["changed a", "changed b", "older c"];
    for _ in 0..2 {
        let told = archive.run(Verb::Audit);
        assert_eq!(told.lines(), lines);
        assert_eq!(told.summary.severity(), Severity::Differences);
    }
    assert_eq!(archive.scrub(everything()).lines(), lines);
    let told = archive.run(Verb::Update);
    assert_eq!(
        (told.lines(), told.summary.severity()),
        (lines.map(str::to_owned).to_vec(), Severity::Differences)
    );
    assert_eq!(archive.run(Verb::Update).lines(), [""; 0]);
}

#[test]
fn another_content_under_the_same_time_is_altered() {
    let archive = Archive::new();
    for name in ["same size", "longer", "empty"] {
        archive.write_at(name, "content", 1_000_000_000);
    }
    archive.run(Verb::Add);
    archive.write_at("same size", "CONTENT", 1_000_000_000);
    archive.write_at("longer", "content and more", 1_000_000_000);
    archive.write_at("empty", "", 1_000_000_000);
    let lines = ["altered longer", "altered same size", "emptied empty"];
    for verb in [Verb::Update, Verb::Audit, Verb::Update] {
        let told = archive.run(verb);
        assert_eq!(
            (told.lines(), told.summary.severity()),
            (lines.map(str::to_owned).to_vec(), Severity::Damage),
            "{verb:?}"
        );
    }
    // What is edited since is no less damaged: nobody knows what it was edited from.
    archive.write("longer", "something else");
    assert_eq!(archive.run(Verb::Update).lines(), lines);
    // Put back, it is well.
    archive.write("same size", "content");
    let lines = ["altered longer", "emptied empty", "ok same size"];
    assert_eq!(archive.run(Verb::Update).lines()[..2], lines[..2]);
    let mut catalog = archive.open();
    let finding = catalog.accept(&archive.path("empty"), &options()).unwrap();
    assert_eq!(finding.class, Class::Accepted);
    catalog.accept(&archive.path("longer"), &options()).unwrap();
    drop(catalog);
    let told = archive.run(Verb::Audit);
    assert_eq!((told.lines(), told.summary.severity()), (vec![], Severity::AsCataloged));
}

#[test]
fn rot_is_found_by_whoever_reads_and_never_accepted() {
    let archive = Archive::of(&["a", "b", "c"]);
    archive.run(Verb::Add);
    archive.rot("b");
    // Nobody reads what looks as it was.
    assert_eq!(archive.run(Verb::Audit).lines(), [""; 0]);
    let told = archive.scrub(everything());
    assert_eq!(
        (told.lines(), told.summary.severity()),
        (vec!["rotted b".to_owned()], Severity::Damage)
    );
    let finding = &told.findings[0];
    assert_ne!(finding.before, finding.after);
    for verb in [Verb::Audit, Verb::Update, Verb::Add] {
        let told = archive.run(verb);
        assert_eq!(
            (told.lines(), told.summary.severity()),
            (vec!["rotted b".to_owned()], Severity::Damage),
            "{verb:?}"
        );
    }
    // Restored, with other times and another number.
    fs::remove_file(archive.path("b")).unwrap();
    archive.write("b", "b");
    let told = archive.run(Verb::Update);
    assert_eq!(
        (told.lines(), told.summary.severity()),
        (vec!["touched b".to_owned()], Severity::AsCataloged)
    );
    assert_eq!(archive.run(Verb::Audit).lines(), [""; 0]);
}

#[test]
fn what_is_not_well_is_read_whatever_the_budget_and_told_whatever_the_limit() {
    let paths: Vec<_> = (0..200).map(|number| number.to_string()).collect();
    let archive = Archive::of(&paths.iter().map(|path| &**path).collect::<Vec<_>>());
    archive.run(Verb::Add);
    archive.rot("7");
    assert_eq!(archive.scrub(everything()).lines(), ["rotted 7"]);
    // That was more than a day's budget.
    for _ in 0..2 {
        let told = archive.scrub(Due::default());
        assert_eq!((told.lines(), told.summary.files), (vec!["rotted 7".to_owned()], 1));
        assert_eq!(told.summary.severity(), Severity::Damage);
    }
    // Nothing that was chosen is rotted, and yet it is known.
    let mut due = Due::default();
    due.older_than_days = Some(1000);
    let told = archive.scrub(due);
    assert_eq!((told.lines(), told.summary.files), (vec![], 0));
    assert_eq!((told.summary.not_well(), told.summary.severity()), (1, Severity::Damage));
}

/// Behind a link there may be the same bytes, and still the file is gone.
#[test]
fn links_and_pipes_are_no_files_to_scrub_and_accept_either() {
    let archive = Archive::of(&["a", "d/e/b", "link", "folder", "pipe"]);
    archive.run(Verb::Add);
    for name in ["link", "folder", "pipe"] {
        fs::remove_file(archive.path(name)).unwrap();
    }
    let elsewhere = archive.state.path().join("elsewhere");
    fs::create_dir_all(elsewhere.join("e")).unwrap();
    fs::write(elsewhere.join("e/b"), "d/e/b").unwrap();
    fs::write(elsewhere.join("link"), "link").unwrap();
    fs::remove_dir_all(archive.path("d")).unwrap();
    symlink(&elsewhere, archive.path("d")).unwrap();
    symlink(elsewhere.join("link"), archive.path("link")).unwrap();
    fs::create_dir(archive.path("folder")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(archive.path("pipe")).status();
    assert!(made.is_ok_and(|status| status.success()));
    let lines = ["missing d/e/b", "missing folder", "missing link", "missing pipe"];
    assert_eq!(archive.scrub(everything()).lines(), lines);
    assert_eq!(archive.run(Verb::Audit).lines(), lines);
    let mut catalog = archive.open();
    for name in ["d/e/b", "link", "folder", "pipe"] {
        let error = catalog.accept(&archive.path(name), &options()).unwrap_err();
        assert!(!error.is_of_catalog(), "{error}");
    }
}

#[test]
fn what_was_hashed_while_it_may_have_been_written_is_no_rot() {
    let archive = Archive::of(&["a"]);
    AHEAD.with(|ahead| ahead.store(0, Ordering::Relaxed));
    archive.run(Verb::Add);
    days_pass(1);
    archive.rot("a");
    assert_eq!(archive.scrub(everything()).lines(), ["changed a"]);
    for _ in 0..2 {
        let told = archive.run_with(Verb::Update, |it| it.reread = Reread::All);
        assert_eq!(told.lines(), ["changed a"], "an update takes up nothing that may be rot");
    }
    let may_be_rot = || archive.open().overviews(clock()).unwrap()[0].may_be_rot;
    assert_eq!(may_be_rot(), 1);
    // Nor once it was touched, or edited.
    set_time(&archive.path("a"), SystemTime::now());
    let why = |told: &Told| told.findings[0].why().map(str::to_owned);
    for content in [None, Some("an edit")] {
        content.iter().for_each(|content| archive.write("a", content));
        for verb in [Verb::Audit, Verb::Update] {
            let told = archive.run(verb);
            assert_eq!(told.lines(), ["changed a"], "{content:?}");
            assert!(why(&told).unwrap().contains("could not be told from rot"), "{content:?}");
            assert_eq!(may_be_rot(), 1);
        }
    }
    archive.open().accept(&archive.path("a"), &options()).unwrap();
    assert_eq!(may_be_rot(), 0);
    days_pass(1);
    assert_eq!(archive.run(Verb::Audit).lines(), [""; 0]);
    // Now it is settled.
    archive.rot("a");
    assert_eq!(archive.scrub(everything()).lines(), ["rotted a"]);
}

/// What an edit did under two names cannot be told, so it is not taken up either.
#[test]
fn what_was_moved_is_altered_though_it_was_new_when_it_was_hashed() {
    let archive = Archive::of(&["a", "b"]);
    AHEAD.with(|ahead| ahead.store(0, Ordering::Relaxed));
    archive.run(Verb::Add);
    archive.rot("a");
    fs::rename(archive.path("a"), archive.path("moved")).unwrap();
    let told = archive.run(Verb::Update);
    assert_eq!((told.lines(), told.summary.files), (vec!["moved a -> moved".to_owned()], 0));
    days_pass(1);
    for _ in 0..2 {
        let told = archive.run_with(Verb::Update, |it| it.reread = Reread::All);
        assert_eq!(told.lines(), ["altered moved"]);
    }
}

/// A file may take longer than a minute to read: it is at rest only if it was before that.
#[test]
fn a_long_reading_settles_nothing() {
    let archive = Archive::of(&["a"]);
    AHEAD.with(|ahead| ahead.store(0, Ordering::Relaxed));
    // A day goes by whenever somebody asks for the time.
    let slow = || {
        let now = clock();
        days_pass(1);
        now
    };
    archive.run_with(Verb::Add, |options| options.clock = slow);
    archive.rot("a");
    assert_eq!(archive.scrub(everything()).lines(), ["changed a"]);
}

/// What was copied and added at once is read again by an audit once it is at rest, and is settled.
#[test]
fn an_audit_settles_what_was_added_while_it_was_new() {
    let archive = Archive::of(&["a"]);
    AHEAD.with(|ahead| ahead.store(0, Ordering::Relaxed));
    archive.run(Verb::Add);
    assert_eq!(archive.run(Verb::Audit).summary.files, 0, "it is not at rest yet");
    days_pass(1);
    assert_eq!(archive.run(Verb::Audit).summary.files, 1);
    assert_eq!(archive.run(Verb::Audit).summary.files, 0);
    archive.rot("a");
    let told = archive.run_with(Verb::Update, |it| it.reread = Reread::All);
    assert_eq!(told.lines(), ["rotted a"]);
}

/// Where clocks were ahead, no file is ever old. One that looks as it did a minute before is at
/// rest all the same; what was edited within that minute is no rot.
#[test]
fn what_has_times_in_the_future_is_settled_by_a_second_reading() {
    for is_of_content in [false, true] {
        let archive = Archive::of(&["a", "edited"]);
        if !is_of_content {
            let past = UNIX_EPOCH + Duration::from_secs(1_600_000_000);
            ["a", "edited"].iter().for_each(|name| set_time(&archive.path(name), past));
        }
        let seconds_pass = |seconds| AHEAD.with(|it| it.fetch_add(seconds, Ordering::Relaxed));
        AHEAD.with(|ahead| ahead.store(-86_400, Ordering::Relaxed));
        archive.run(Verb::Add);
        seconds_pass(30);
        archive.rot("edited");
        assert_eq!(archive.run(Verb::Audit).summary.files, 0, "it is too early");
        seconds_pass(32);
        let told = archive.run(Verb::Audit);
        assert_eq!((told.lines(), told.summary.files), (vec!["changed edited".to_owned()], 2));
        archive.open().accept(&archive.path("edited"), &options()).unwrap();
        seconds_pass(62);
        assert_eq!(archive.run(Verb::Audit).summary.files, 1, "each is read once");
        assert_eq!(archive.run(Verb::Audit).summary.files, 0);
        ["a", "edited"].iter().for_each(|name| archive.rot(name));
        let rotted = ["rotted a", "rotted edited"];
        assert_eq!(archive.scrub(everything()).lines(), rotted);
        assert_eq!(archive.run(Verb::Update).lines(), rotted, "it is not taken up");
    }
}

/// A scrub settles, too; but nothing that was moved since it was read, nor by a clock set back.
#[test]
fn what_has_times_in_the_future_is_not_settled_by_less() {
    let archive = Archive::of(&["a", "b/moved", "b/1"]);
    AHEAD.with(|ahead| ahead.store(-86_400, Ordering::Relaxed));
    archive.run(Verb::Add);
    AHEAD.with(|ahead| ahead.store(-90_000, Ordering::Relaxed));
    archive.scrub(everything());
    archive.rot("a");
    assert_eq!(archive.scrub(everything()).lines(), ["changed a"]);
    AHEAD.with(|ahead| ahead.store(-86_000, Ordering::Relaxed));
    archive.open().accept(&archive.path("a"), &options()).unwrap();
    fs::rename(archive.path("b/moved"), archive.path("moved")).unwrap();
    archive.run(Verb::Update);
    AHEAD.with(|ahead| ahead.store(-80_000, Ordering::Relaxed));
    archive.scrub(everything());
    ["moved", "a", "b/1"].iter().for_each(|name| archive.rot(name));
    assert_eq!(archive.scrub(everything()).lines(), ["changed moved", "rotted a", "rotted b/1"]);
}

/// Each night's part is another, whatever chooses the files: what was read comes last.
#[test]
fn limited_scrubs_come_to_every_file() {
    let names: Vec<_> = (0..20).map(|number| format!("f{number:02}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    for is_by_age in [false, true] {
        let archive = Archive::of(&names);
        archive.run(Verb::Add);
        days_pass(2);
        archive.rot("f19");
        let mut read = 0;
        let mut told = Vec::new();
        for _ in 0..6 {
            let mut due = if is_by_age { Due::default() } else { everything() };
            due.older_than_days = is_by_age.then_some(1);
            // Of files of three bytes.
            due.max_bytes = Some(15);
            let scrub = archive.scrub(due);
            read += scrub.summary.files;
            told.extend(scrub.lines());
            days_pass(2);
        }
        assert!(read < 60, "limits hold: {read}");
        assert!(told.contains(&"rotted f19".to_owned()), "{is_by_age} {told:?} {read}");
    }
}

#[test]
fn what_somebody_writes_to_is_busy() {
    let archive = Archive::of(&["a"]);
    archive.run(Verb::Add);
    archive.rot("a");
    let writer = File::options().append(true).open(archive.path("a")).unwrap();
    if archive.scrub(everything()).lines() == ["rotted a"] {
        skip("no leases on this file system");
        return;
    }
    let told = archive.scrub(everything());
    assert_eq!(
        (told.lines(), told.summary.severity()),
        (vec!["busy a".to_owned()], Severity::NotAllDone)
    );
    drop(writer);
    assert_eq!(archive.scrub(everything()).lines(), ["rotted a"]);
}

#[test]
fn moves_are_known_without_reading() {
    let archive = Archive::of(&["old/1", "old/2", "old/x/3", "one"]);
    archive.run(Verb::Add);
    fs::rename(archive.path("old"), archive.path("new")).unwrap();
    fs::rename(archive.path("one"), archive.path("uno")).unwrap();
    let lines = ["moved old/ -> new/ (3)", "moved one -> uno"];
    for verb in [Verb::Audit, Verb::Update] {
        let told = archive.run(verb);
        assert_eq!(
            (told.lines(), told.summary.files),
            (lines.map(str::to_owned).to_vec(), 0),
            "{verb:?}"
        );
        assert_eq!(told.summary.severity(), Severity::Differences);
    }
    assert_eq!(archive.run(Verb::Update).lines(), [""; 0]);
    // What rots after that is rot: a move makes nothing unsettled.
    archive.rot("new/2");
    assert_eq!(archive.scrub(everything()).lines(), ["rotted new/2"]);
}

/// Who wants everything read gets it, under whatever name; and what is known not to be well is read
/// there, too.
#[test]
fn what_moved_is_read_where_all_is_and_where_it_is_not_well() {
    let archive = Archive::of(&["a", "b", "c", "d"]);
    archive.run(Verb::Add);
    for name in ["a", "b", "c"] {
        fs::rename(archive.path(name), archive.path(&format!("new {name}"))).unwrap();
    }
    archive.rot("new b");
    let put = set_aside_time(&archive, "new c", "C");
    let all = |options: &mut Options| options.reread = Reread::All;
    let lines = ["altered b -> new b", "altered c -> new c", "moved a -> new a"];
    for _ in 0..2 {
        let told = archive.run_with(Verb::Audit, all);
        assert_eq!((told.lines(), told.summary.files), (lines.map(str::to_owned).to_vec(), 4));
        assert_eq!(told.summary.severity(), Severity::Damage);
    }
    let quick = |options: &mut Options| options.reread = Reread::Nothing;
    let told = archive.run_with(Verb::Audit, quick);
    assert_eq!((told.lines(), told.summary.files), (lines.map(str::to_owned).to_vec(), 0));
    assert_eq!(told.summary.severity(), Severity::Damage);
    // Now two of them are known not to be well: they are read without being asked for. An update
    // takes up their new names, and nothing else.
    let new_names = ["altered new b", "altered new c"];
    // What moved alone is read once by the audit after that.
    for (verb, lines, files) in [
        (Verb::Audit, &lines[..2], 2),
        (Verb::Update, &lines[..2], 2),
        (Verb::Update, &new_names, 2),
        (Verb::Audit, &new_names, 3),
        (Verb::Audit, &new_names, 2),
    ] {
        let told = archive.run(verb);
        assert_eq!(told.summary.severity(), Severity::Damage, "{verb:?}");
        assert_eq!(told.lines()[..2], *lines, "{verb:?}");
        assert_eq!((told.summary.files, told.summary.not_well()), (files, 2), "{verb:?}");
    }
    archive.rot("new b");
    put("c");
    let told = archive.run(Verb::Update);
    assert_eq!(told.lines(), ["touched new b", "touched new c"]);
    assert_eq!(told.summary.not_well(), 0);
    let told = archive.run_with(Verb::Audit, all);
    assert_eq!((told.lines(), told.counts()[&Class::Ok]), (vec![], 4));
}

/// What a scrub does not find in its place it reads under its other name. That is a check, but the
/// row stays as it is until `update`; and what is not due is left alone.
#[test]
fn a_scrub_reads_what_has_another_name() {
    let archive = Archive::of(&["old/a", "old/b", "old/c", "d", "e"]);
    archive.run(Verb::Add);
    archive.rot("old/b");
    fs::rename(archive.path("old"), archive.path("new")).unwrap();
    fs::remove_file(archive.path("new/c")).unwrap();
    let lines = ["missing old/c", "moved old/a -> new/a", "rotted old/b -> new/b"];
    let told = archive.scrub(everything());
    assert_eq!((told.lines(), told.summary.files), (lines.map(str::to_owned).to_vec(), 4));
    assert_eq!(told.summary.severity(), Severity::Damage);
    let overview = || archive.open().overviews(clock()).unwrap().remove(0);
    let not_taken_up = || overview().not_taken_up.into_iter().collect::<Vec<_>>();
    assert_eq!(not_taken_up(), [(Class::Moved, 1)]);
    // A narrower one tells what it read, and the name is not forgotten for that.
    let told = archive.scrub(due(|it| it.bad = true));
    assert_eq!(told.lines(), ["missing old/c", "rotted old/b -> new/b"]);
    let told = archive.scrub(due(|it| it.new = true));
    assert_eq!((told.lines(), told.summary.files), (vec![], 0), "all of it was read before");
    assert_eq!(not_taken_up(), [(Class::Moved, 1)]);

    fs::remove_file(archive.path("new/a")).unwrap();
    let told = archive.scrub(everything());
    assert_eq!(told.lines(), ["missing old/a", "missing old/c", "rotted old/b -> new/b"]);
    // It is as it was, and that is known from now on, whatever it is called.
    archive.rot("new/b");
    let told = archive.scrub(everything());
    let lines = ["missing old/a", "missing old/c", "moved old/b -> new/b", "ok old/b -> new/b"];
    assert_eq!((told.lines(), told.summary.not_well()), (lines.map(str::to_owned).to_vec(), 2));
    archive.rot("new/b");
    let told = archive.scrub(everything());
    assert_eq!(told.lines(), ["missing old/a", "missing old/c", "rotted old/b -> new/b"]);
    archive.write("new/a", "old/a");
    let told = archive.run(Verb::Update);
    assert_eq!(told.lines(), ["missing old/c", "moved old/a -> new/a", "rotted old/b -> new/b"]);
    assert_eq!(not_taken_up(), []);
}

/// What has another name counts in a day's budget, and stops at a limit, as all else does.
#[test]
fn what_has_another_name_obeys_limits() {
    let archive = Archive::new();
    (0..50).for_each(|number| archive.write(&format!("old/{number}"), [number; 20_000]));
    archive.run(Verb::Add);
    fs::rename(archive.path("old"), archive.path("new")).unwrap();
    days_pass(200);
    let told = archive.scrub(Due::default());
    let (moved, left) = (told.counts()[&Class::Moved], told.summary.left);
    assert!((1..10).contains(&moved) && moved + left == 50, "{moved} read, {left} left");
    assert_eq!(told.summary.severity(), Severity::NotAllDone);
    let told = archive.scrub(Due::default());
    assert_eq!((told.summary.files, told.summary.left), (0, left), "the day's budget is spent");
    let told = archive.scrub(due(|it| (it.percent, it.max_bytes) = (Some(100.0), Some(100_000))));
    assert!(told.counts()[&Class::Moved] <= 6, "{:?}", told.counts());
    assert_eq!(told.summary.severity(), Severity::NotAllDone);
}

/// Writes something else under the same time; what is given back writes under it, too.
fn set_aside_time(archive: &Archive, name: &str, content: &str) -> impl Fn(&str) {
    let path = archive.path(name);
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    let write = move |content: &str| {
        fs::write(&path, content).unwrap();
        set_time(&path, time);
    };
    write(content);
    write
}

#[test]
fn moves_to_another_number_are_known_by_their_content() {
    let archive = Archive::of(&["a", "b"]);
    archive.write("empty", "");
    archive.run(Verb::Add);
    fs::copy(archive.path("a"), archive.path("dir")).unwrap();
    for name in ["a", "empty"] {
        fs::remove_file(archive.path(name)).unwrap();
    }
    archive.write("other empty", "");
    let lines = ["missing empty", "moved a -> dir", "new other empty"];
    assert_eq!(archive.run(Verb::Audit).lines(), lines);
    assert_eq!(archive.run(Verb::Update).lines(), lines);
}

#[test]
fn copies_and_new_files_are_told_apart() {
    let archive = Archive::of(&["a"]);
    archive.run(Verb::Add);
    fs::copy(archive.path("a"), archive.path("copy")).unwrap();
    archive.write("new", "something");
    let told = archive.run(Verb::Audit);
    assert_eq!(
        (told.lines(), told.summary.files),
        (vec!["new copy".to_owned(), "new new".to_owned()], 0)
    );
    let told = archive.run(Verb::Update);
    assert_eq!(told.lines(), ["copied a -> copy", "new new"]);
    assert_eq!(told.summary.severity(), Severity::Differences);
    // What is damaged has another content than it should.
    archive.rot("new");
    archive.scrub(everything());
    archive.write("good", "something");
    assert_eq!(archive.run(Verb::Update).lines(), ["new good", "rotted new"]);
}

#[test]
fn what_is_missing_stays_until_it_is_forgotten() {
    let archive = Archive::of(&["a", "b", "d/c"]);
    archive.run(Verb::Add);
    fs::remove_file(archive.path("a")).unwrap();
    fs::remove_dir_all(archive.path("d")).unwrap();
    for (verb, severity) in [
        (Verb::Update, Severity::Differences),
        (Verb::Audit, Severity::Damage),
        (Verb::Update, Severity::Differences),
    ] {
        let told = archive.run(verb);
        assert_eq!(
            (told.lines(), told.summary.severity()),
            (vec!["missing a".to_owned(), "missing d/c".to_owned()], severity),
            "{verb:?}"
        );
    }
    // Back again, by the table.
    archive.write("a", "a");
    assert_eq!(archive.run(Verb::Update).lines(), ["missing d/c", "touched a"]);
    let mut catalog = archive.open();
    let finding = catalog.forget(&archive.path("d"), &options()).unwrap();
    assert_eq!((finding.class, finding.files), (Class::Forgotten, 1));
    assert!(catalog.forget(&archive.path("d"), &options()).is_err());
    drop(catalog);
    assert_eq!(archive.run(Verb::Audit).lines(), [""; 0]);
}

#[test]
fn a_link_or_a_folder_in_the_place_of_a_file_is_not_the_file() {
    let archive = Archive::of(&["a", "b"]);
    archive.run(Verb::Add);
    fs::remove_file(archive.path("a")).unwrap();
    symlink("b", archive.path("a")).unwrap();
    fs::remove_file(archive.path("b")).unwrap();
    fs::create_dir(archive.path("b")).unwrap();
    archive.write("c", "c");
    assert_eq!(archive.run(Verb::Audit).lines(), ["missing a", "missing b", "new c"]);
}

#[test]
fn another_folder_and_an_empty_one_suspend_the_root() {
    let archive = Archive::of(&["photos/a", "photos/b"]);
    let photos = archive.path("photos");
    let mut catalog = archive.open();
    let root = catalog.add_root(&photos, Policy::default()).unwrap();
    let run = |catalog: &mut Catalog, verb| {
        catalog.run(&root, verb, &options(), &mut |_| Ok(())).unwrap()
    };
    run(&mut catalog, Verb::Add);
    let rows = |catalog: &Catalog| catalog.roots().unwrap()[0].bytes;
    let before = rows(&catalog);

    fs::rename(&photos, archive.path("away")).unwrap();
    for verb in [Verb::Update, Verb::Audit, Verb::Scrub] {
        let summary = run(&mut catalog, verb);
        assert!(summary.suspended.is_some(), "{verb:?}");
        assert_eq!(summary.severity(), Severity::NotAllDone);
    }
    fs::create_dir(&photos).unwrap();
    let why = run(&mut catalog, Verb::Update).suspended.unwrap();
    assert!(why.contains("another"), "{why}");
    assert!(catalog.roots().unwrap()[0].suspended.is_some());
    fs::remove_dir(&photos).unwrap();

    fs::rename(archive.path("away"), &photos).unwrap();
    let summary = run(&mut catalog, Verb::Audit);
    assert_eq!((summary.severity(), summary.same), (Severity::AsCataloged, 2));
    assert!(catalog.roots().unwrap()[0].suspended.is_none());

    for name in ["a", "b"] {
        fs::rename(photos.join(name), archive.path(name)).unwrap();
    }
    let why = run(&mut catalog, Verb::Update).suspended.unwrap();
    assert!(why.contains("nothing"), "{why}");
    assert_eq!(rows(&catalog), before);
}

#[test]
fn too_many_missing_files_suspend_the_root() {
    let names: Vec<_> = (0..300).map(|number| format!("{number}")).collect();
    let archive = Archive::of(&names.iter().map(String::as_str).collect::<Vec<_>>());
    archive.run(Verb::Add);
    names[..101].iter().for_each(|name| fs::remove_file(archive.path(name)).unwrap());
    let told = archive.run(Verb::Update);
    assert!(told.summary.suspended.is_some());
    assert_eq!(told.lines(), ["suspended "]);
    let told = archive.run_with(Verb::Update, |options| options.max_gone = Some(50));
    assert_eq!(told.counts()[&Class::Missing], 101);
}

#[test]
fn what_cannot_be_read_is_unreadable_and_what_is_below_unknown() {
    let archive = Archive::of(&["a", "d/b", "d/c"]);
    archive.run(Verb::Add);
    let mode = |name: &str, mode| {
        fs::set_permissions(archive.path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("a", 0);
    mode("d", 0);
    let told = archive.limited(|archive| archive.run(Verb::Update));
    mode("a", 0o600);
    mode("d", 0o700);
    assert_eq!(told.lines(), ["unreadable a", "unreadable d"]);
    assert_eq!((told.summary.unknown, told.summary.severity()), (2, Severity::Damage));
    assert_eq!(archive.run(Verb::Update).lines(), ["touched a"]);
}

#[test]
fn a_look_alone_reads_nothing() {
    let archive = Archive::of(&["a", "b"]);
    archive.run(Verb::Add);
    archive.write("a", "longer");
    archive.write("c", "c");
    let told = archive.run_with(Verb::Audit, |options| options.reread = Reread::Nothing);
    assert_eq!(told.lines(), ["changed a", "new c"]);
    assert_eq!((told.summary.files, told.summary.severity()), (0, Severity::NotAllDone));
}

#[test]
fn a_clock_that_was_set_back_is_told_and_makes_files_due() {
    let archive = Archive::of(&["a"]);
    days_pass(30);
    archive.run(Verb::Add);
    days_pass(-30);
    for is_behind in [true, false] {
        let told = archive.scrub(Due::default());
        assert_eq!(told.summary.clock_is_behind, is_behind, "only until it is read anew");
        assert_eq!(told.summary.files, u64::from(is_behind));
    }
}

/// A machine without a battery begins in 1970, or before.
#[test]
fn what_was_read_at_the_beginning_of_time_was_read() {
    let archive = Archive::of(&["a"]);
    archive.run_with(Verb::Add, |options| options.clock = || 0);
    let looked = archive.open().overviews(0).unwrap();
    assert_eq!((looked[0].files, looked[0].never), (1, 0));
}

#[test]
fn a_catalog_in_its_own_root_leaves_itself_out() {
    let archive = Archive::of(&["a"]);
    let path = archive.path("catalog.db");
    let mut catalog = Catalog::open(&path, "test").unwrap();
    let root = archive.root(&mut catalog);
    for verb in [Verb::Add, Verb::Update, Verb::Audit] {
        let told = Told::of(|tell| catalog.run(&root, verb, &options(), tell));
        let came = (told.findings.len(), told.summary.severity());
        assert_eq!(came, (0, Severity::AsCataloged), "{verb:?}");
    }
    assert!(Catalog::open(&path, "other").unwrap_err().is_of_catalog());
}

#[test]
fn roots_do_not_overlap() {
    let archive = Archive::of(&["a/b/c"]);
    let mut catalog = archive.open();
    catalog.add_root(&archive.path("a"), Policy::default()).unwrap();
    for name in ["a/b", ""] {
        catalog.add_root(&archive.path(name), Policy::default()).unwrap_err();
    }
    assert!(catalog.add_root(&archive.path("a/b/c"), Policy::default()).is_err());
    assert_eq!(catalog.roots().unwrap().len(), 1);
}

#[test]
fn a_first_run_that_was_interrupted_goes_on() {
    let archive = Archive::of(&["a", "b"]);
    let mut catalog = archive.open();
    let root = archive.root(&mut catalog);
    // One that took up nothing of what is there, since it came later.
    fs::remove_file(archive.path("a")).unwrap();
    let mut options = options();
    options.max_gone = Some(100);
    catalog.run(&root, Verb::Audit, &options, &mut |_| Ok(())).unwrap();
    drop(catalog);
    archive.write("a", "a");
    let told = archive.run(Verb::Add);
    assert_eq!((told.lines(), told.summary.severity()), (vec![], Severity::AsCataloged));
    archive.write("c", "c");
    assert_eq!(archive.run(Verb::Add).lines(), ["new c"]);
}

#[test]
fn a_root_that_is_forgotten_leaves_nothing_but_its_events() {
    let archive = Archive::of(&["one/a", "one/b", "two/c"]);
    let mut catalog = archive.open();
    for name in ["one", "two"] {
        let root = catalog.add_root(&archive.path(name), Policy::default()).unwrap();
        catalog.run(&root, Verb::Add, &options(), &mut |_| Ok(())).unwrap();
    }
    let finding = catalog.forget(&archive.path("two"), &options()).unwrap();
    assert_eq!(finding.files, 1);
    assert_eq!(catalog.check().unwrap(), [""; 0]);
    assert_eq!(catalog.roots().unwrap().len(), 1);
    let root = catalog.add_root(&archive.path("two"), Policy::default()).unwrap();
    let told = catalog.run(&root, Verb::Add, &options(), &mut |_| Ok(())).unwrap();
    assert_eq!(told.counts[&Class::New], 1);
    let mut roots = Vec::new();
    let mut take = |event: &lanesum_catalog::Event| {
        roots.push((event.finding.class, event.root.clone()));
        Ok(())
    };
    catalog.events(0, &mut take).unwrap();
    assert_eq!(roots, [(Class::Forgotten, None)], "a new root has not the events of the old one");
}

/// Whoever steers may have looked a root up before it was forgotten.
#[test]
fn a_root_that_is_forgotten_is_steered_no_more() {
    let archive = Archive::of(&["a"]);
    archive.run(Verb::Add);
    let mut catalog = archive.open();
    let root = catalog.roots().unwrap().remove(0);
    let mut control = Control::open(&archive.catalog_path()).unwrap();
    control.pause(&root, clock()).unwrap();
    catalog.forget(&root.path, &options()).unwrap();
    let mut slower = Change::default();
    slower.rate = Some(Some(1_000_000));
    for refused in [
        control.pause(&root, clock()).map(drop),
        control.resume(&root).map(drop),
        control.check_now(&root, clock()),
        control.limit(&root, &slower).map(drop),
    ] {
        assert!(matches!(refused, Err(CatalogError::NoRoot(_))), "{refused:?}");
    }
    control.was_checked(&root, clock()).unwrap();
    assert_eq!(catalog.check().unwrap(), [""; 0]);
}

/// What lists say, by the paths of an archive; the digests are those of these contents.
fn import_of(archive: &Archive, files: &[(&str, &str)]) -> Import {
    let mut import = Import::default();
    for (name, content) in files {
        import.add(archive.path(name), &record(name, content));
    }
    import
}

fn imported(catalog: &mut Catalog, import: Import) -> Vec<(String, Imported)> {
    let mut all = Vec::new();
    let mut tell = |path: &std::path::Path, imported| {
        all.push((path.file_name().unwrap().to_str().unwrap().to_owned(), imported));
        Ok(())
    };
    catalog.import(import, &options(), &mut tell).unwrap();
    all.sort();
    all
}

#[test]
fn what_lists_say_is_held_against_files_by_whoever_reads_next() {
    let archive = Archive::of(&["right", "wrong", "later", "moved", "also", "twice"]);
    let mut catalog = archive.open();
    archive.root(&mut catalog);
    symlink("right", archive.path("link")).unwrap();
    let mut import = import_of(
        &archive,
        &[
            ("right", "right"),
            ("wrong", "as it was once"),
            ("later", "before"),
            ("moved", "as it was once"),
            ("link", "right"),
            ("twice", "x"),
            ("twice", "y"),
        ],
    );
    // A list that tells a time knows that it was edited since.
    let later = Record {
        times: lanesum_list::Times {
            modified: Some(lanesum_list::Time { seconds: 1, nanoseconds: 0 }),
            changed: None,
        },
        ..Record::new("later")
    };
    import.add(archive.path("later"), &later);
    import.add("/elsewhere".into(), &Record::new("elsewhere"));
    // The same file by another path.
    import.add(
        archive.path("../").join(archive.tree.path().file_name().unwrap()).join("right"),
        &record("right", "right"),
    );
    let expected = [
        ("elsewhere", Imported::NoRoot),
        ("later", Imported::Taken),
        ("link", Imported::NoFile),
        ("moved", Imported::Taken),
        ("right", Imported::Taken),
        ("twice", Imported::Contradicted),
        ("wrong", Imported::Taken),
    ];
    let expected = expected.map(|(name, imported)| (name.to_owned(), imported));
    assert_eq!(imported(&mut catalog, import), expected);
    let overview = catalog.overviews(clock()).unwrap().remove(0);
    assert_eq!((overview.files, overview.never, overview.oldest), (5, 5, None));
    assert_eq!(overview.due, 5);
    assert_eq!(catalog.check().unwrap(), [""; 0]);
    drop(catalog);

    let quick = |options: &mut Options| options.reread = Reread::Nothing;
    let told = archive.run_with(Verb::Audit, quick);
    assert_eq!((told.lines(), told.summary.unread), (vec!["new also".to_owned()], 6));
    assert_eq!(told.summary.severity(), Severity::NotAllDone);

    fs::rename(archive.path("moved"), archive.path("elsewhere")).unwrap();
    let told = archive.run(Verb::Audit);
    let lines = [
        "altered moved -> elsewhere",
        "altered twice",
        "altered wrong",
        "changed later",
        "new also",
    ];
    assert_eq!(
        (told.lines(), told.summary.severity()),
        (lines.map(str::to_owned).to_vec(), Severity::Damage)
    );
    let told = archive.run(Verb::Update);
    assert_eq!(told.lines()[..4], lines[..4]);
    let lines = ["altered elsewhere", "altered twice", "altered wrong"];
    assert_eq!(archive.run(Verb::Update).lines(), lines);
    let mut catalog = archive.open();
    let overview = catalog.overviews(clock()).unwrap().remove(0);
    // Those that are not as the lists say were read, and stand as what they were found to be.
    assert_eq!((overview.files, overview.never), (6, 0));
    let not_well = catalog.not_well().unwrap();
    assert!(not_well.iter().all(|file| file.last_good == 0) && not_well.len() == 3, "{not_well:?}");
    let import = import_of(&archive, &[("right", "right"), ("wrong", "wrong"), ("also", "also")]);
    let known =
        [("also", Imported::Known), ("right", Imported::Known), ("wrong", Imported::Differs)];
    assert_eq!(imported(&mut catalog, import), known.map(|(name, it)| (name.to_owned(), it)));
    catalog.accept(&archive.path("wrong"), &options()).unwrap();
    drop(catalog);
    assert_eq!(archive.run(Verb::Audit).lines(), lines[..2]);
}

/// What is in no place that a list names is lost, as far as anybody knows.
#[test]
fn what_lists_name_and_is_not_there_is_missing_until_it_is_back_or_forgotten() {
    let archive = Archive::of(&["here", "other name", "lies"]);
    let mut catalog = archive.open();
    archive.root(&mut catalog);
    let names = [
        ("here", "here"),
        ("sub/old name", "other name"),
        ("lost", "lost"),
        ("for good", "x"),
        ("lies", "lies"),
        ("kept", "kept"),
    ];
    // A list without sizes, as md5sum's is, and one that knows them.
    let mut import = import_of(&archive, &names[..4]);
    for (name, content) in &names[4..] {
        let size = Some(content.len() as u64);
        import.add(archive.path(name), &Record { size, ..record(name, content) });
    }
    fs::rename(archive.path("lies"), archive.path("too")).unwrap();
    // Five of six: it may be the list of another folder.
    let is_told = |(_, it): &&(String, Imported)| *it == Imported::NoFile;
    let all = imported(&mut catalog, import_of(&archive, &names));
    assert_eq!((all.len(), all.iter().filter(is_told).count()), (6, 5));
    assert_eq!(catalog.not_well().unwrap().len(), 0);
    archive.write("lost", "lost");
    archive.write("kept", "kept");
    fs::rename(archive.path("too"), archive.path("lies")).unwrap();
    ["lost", "kept"].iter().for_each(|name| fs::remove_file(archive.path(name)).unwrap());
    archive.write("more", "more");
    import.add(archive.path("more"), &record("more", "more"));
    archive.write("again", "more");
    import.add(archive.path("again"), &record("again", "more"));
    let expected = [
        ("again", Imported::Taken),
        ("for good", Imported::Missing),
        ("here", Imported::Known),
        ("kept", Imported::Missing),
        ("lies", Imported::Taken),
        ("lost", Imported::Missing),
        ("more", Imported::Taken),
        ("old name", Imported::Missing),
    ];
    let expected = expected.map(|(name, imported)| (name.to_owned(), imported));
    assert_eq!(imported(&mut catalog, import), expected);
    let not_well = catalog.not_well_after(0, 100).unwrap();
    let mut sizes: Vec<_> = not_well.iter().map(|it| (it.status, it.size)).collect();
    sizes.sort_by_key(|(_, size)| *size);
    assert_eq!(sizes, [-1, -1, -1, 4].map(|size| (Status::Missing, size)));
    let found = not_well[0].found.as_ref().unwrap();
    assert!(found.finding.before.as_ref().unwrap().starts_with("size=unknown mtime=unknown md5="));
    assert_eq!(catalog.check().unwrap(), [""; 0]);
    // Told of again, it is as missing as before.
    let again = imported(&mut catalog, import_of(&archive, &[("here", "here"), ("lost", "lost")]));
    assert_eq!(again[1], ("lost".to_owned(), Imported::Missing));
    let root = catalog.roots().unwrap().remove(0);
    let mut listed = Vec::new();
    let mut take = |record: Record<'_>| {
        listed.push((record.size, record.times.modified.is_some()));
        Ok(())
    };
    catalog.records(&root, &mut take).unwrap();
    assert_eq!(listed.iter().filter(|it| **it == (None, false)).count(), 3);
    drop(catalog);

    let lines = |also: &[&str]| -> Vec<String> {
        let mut lines: Vec<_> =
            ["missing for good"].iter().chain(also).map(ToString::to_string).collect();
        lines.sort();
        lines
    };
    let told = archive.run(Verb::Audit);
    let moved = "moved sub/old name -> other name";
    assert_eq!(told.lines(), lines(&["missing kept", "missing lost", moved]));
    assert_eq!(told.summary.severity(), Severity::Damage);
    let told = archive.run(Verb::Update);
    assert_eq!(told.lines(), lines(&["missing kept", "missing lost", moved]));
    // One is back as it was, the other is not.
    archive.write("lost", "lost");
    archive.write("kept", "kepT");
    let told = archive.run(Verb::Audit);
    assert_eq!(told.lines(), lines(&["altered kept", "ok lost"]));
    let mut catalog = archive.open();
    // It is back, and nobody has looked yet.
    archive.write("for good", "x");
    let files = |catalog: &mut Catalog| {
        catalog.forget_missing(archive.tree.path(), &options()).unwrap().files
    };
    assert_eq!(files(&mut catalog), 0);
    fs::remove_file(archive.path("for good")).unwrap();
    assert_eq!(files(&mut catalog), 1);
    assert_eq!(catalog.check().unwrap(), [""; 0]);
    let not_well = catalog.not_well().unwrap();
    assert!(not_well.len() == 1 && not_well[0].status == Status::Altered, "{not_well:?}");
}

/// Whatever a list leaves out, what comes back is held against what it tells, and is known by what
/// it is once it was read.
#[test]
fn what_a_list_named_and_is_back_is_as_any_other() {
    let archive = Archive::of(&["here", "away", "empty", "gone"]);
    let mut catalog = archive.open();
    archive.root(&mut catalog);
    // The time of a list has seconds, that of the file has more.
    let seconds = 1_500_000_000;
    let at = |name: &str| set_time(&archive.path(name), UNIX_EPOCH + Duration::new(seconds, 123));
    ["here", "away"].iter().for_each(|name| at(name));
    let mut import = import_of(&archive, &[("empty", ""), ("gone", "gone")]);
    for name in ["here", "away"] {
        let times = lanesum_list::Times {
            modified: Some(lanesum_list::Time { seconds: seconds as i64, nanoseconds: 0 }),
            changed: None,
        };
        import.add(archive.path(name), &Record { times, ..record(name, name) });
    }
    fs::remove_file(archive.path("empty")).unwrap();
    fs::remove_file(archive.path("away")).unwrap();
    assert_eq!(imported(&mut catalog, import)[0].1, Imported::Missing);
    drop(catalog);
    // No other empty file is the one that is gone; and damage is no edit.
    archive.write("another", "");
    archive.write("away", "awaY");
    at("away");
    let told = archive.run(Verb::Audit);
    assert_eq!(told.lines(), ["altered away", "missing empty", "new another"]);
    archive.write("away", "away");
    archive.scrub(everything());
    // Read well, it is known by what it is: an edit is one, and a new name is seen.
    archive.write("away", "edited, and longer");
    assert!(archive.run(Verb::Audit).lines().contains(&"changed away".to_owned()));
    archive.run(Verb::Update);
    fs::rename(archive.path("away"), archive.path("new name")).unwrap();
    assert!(archive.run(Verb::Audit).lines().contains(&"moved away -> new name".to_owned()));
    // What is gone since the last look is missing for a list, too.
    archive.run(Verb::Update);
    fs::remove_file(archive.path("gone")).unwrap();
    let mut catalog = archive.open();
    let again = import_of(&archive, &[("gone", "gone"), ("here", "here")]);
    assert_eq!(imported(&mut catalog, again)[0].1, Imported::Missing);
    assert_eq!(catalog.check().unwrap(), [""; 0]);
    let standing = catalog.not_well().unwrap();
    assert!(standing.iter().any(|it| it.path == archive.path("gone")), "{standing:?}");
}

/// What was damaged, and is gone since, is told as missing, and is forgotten so; not what lies
/// elsewhere.
#[test]
fn what_was_damaged_and_is_gone_is_forgotten_with_what_is_missing() {
    let archive = Archive::of(&["file", "renamed", "there", "other"]);
    archive.run(Verb::Add);
    ["file", "renamed", "there"].iter().for_each(|name| cut(&archive, name));
    archive.run(Verb::Audit);
    fs::remove_file(archive.path("file")).unwrap();
    let told = archive.run(Verb::Audit);
    assert!(told.lines().contains(&"missing file".to_owned()), "{:?}", told.lines());
    rename(&archive, "renamed", "new name");
    // Not looked for since: as where all of a folder is away for a while.
    let away = archive.tree.path().with_extension("away");
    fs::rename(archive.path("there"), &away).unwrap();
    let mut catalog = archive.open();
    let standing = catalog.not_well_after(0, 9).unwrap();
    let standing: Vec<_> = standing.iter().map(|file| (file.standing(), file.is_gone)).collect();
    let is_there = ("altered".into(), false);
    assert_eq!(standing, [("altered and gone".into(), true), is_there.clone(), is_there]);
    let forgotten = catalog.forget_missing(archive.tree.path(), &options()).unwrap().files;
    drop(catalog);
    assert_eq!(forgotten, 1, "the one that is gone");
    fs::rename(&away, archive.path("there")).unwrap();
    let told = archive.run(Verb::Audit);
    assert_eq!(told.lines(), ["altered renamed -> new name", "altered there"]);
}

/// What is back under another name is not gone, and is held against its row by whoever looks next.
#[test]
fn what_has_another_name_is_not_forgotten_with_what_is_missing() {
    let archive = Archive::of(&["file", "other", "gone"]);
    archive.run(Verb::Add);
    let away = archive.tree.path().with_extension("away");
    fs::rename(archive.path("file"), &away).unwrap();
    fs::remove_file(archive.path("gone")).unwrap();
    archive.run(Verb::Audit);
    fs::rename(&away, archive.path("new name")).unwrap();
    cut(&archive, "new name");
    let forgotten = archive.open().forget_missing(archive.tree.path(), &options()).unwrap().files;
    assert_eq!(forgotten, 1, "the one that is gone");
    assert_eq!(archive.run(Verb::Update).lines(), ["altered file -> new name"]);
}

/// A copy is worth to be named only where it looks as cataloged.
#[test]
fn what_cannot_have_the_content_is_named_as_no_copy() {
    let archive = Archive::new();
    ["lost", "edited", "copy"].iter().for_each(|name| archive.write(name, "the same"));
    archive.write("other", "other");
    archive.run(Verb::Add);
    fs::remove_file(archive.path("lost")).unwrap();
    archive.run(Verb::Audit);
    archive.write("edited", "edited since");
    let copies = || {
        let catalog = archive.open();
        let mut files = catalog.not_well_after(0, 100).unwrap();
        catalog.find_copies(&mut files).unwrap();
        files.into_iter().filter_map(|file| file.copy).collect::<Vec<_>>()
    };
    let found = copies();
    assert!(!found.is_empty() && found.iter().all(|it| *it == archive.path("copy")), "{found:?}");
    fs::remove_file(archive.path("copy")).unwrap();
    assert!(copies().is_empty());
}

/// A list that was made of damage makes it no better, wherever its file is when it is imported.
#[test]
fn a_list_of_damage_whose_file_was_away_makes_it_no_better() {
    let archive = Archive::of(&["file", "other"]);
    archive.run(Verb::Add);
    archive.rot("file");
    archive.scrub(everything());
    let rotten = fs::read(archive.path("file")).unwrap();
    let mut catalog = archive.open();
    catalog.forget(&archive.path("file"), &options()).unwrap();
    let away = archive.tree.path().with_extension("away");
    fs::rename(archive.path("file"), &away).unwrap();
    let mut import = import_of(&archive, &[("other", "other")]);
    import.add(archive.path("file"), &record("file", &rotten));
    assert_eq!(imported(&mut catalog, import)[0].1, Imported::Missing);
    drop(catalog);
    fs::rename(&away, archive.path("file")).unwrap();
    for _ in 0..2 {
        let told = audit_all(&archive);
        assert!(told.lines().iter().any(|it| it.ends_with(" file")), "{:?}", told.lines());
        assert_eq!(told.summary.severity(), Severity::Damage);
    }
}

/// A good copy that another program put there by a new name is known by its own time from then on:
/// rot in it is no edit, whatever looks there.
#[test]
fn what_a_scrub_reads_well_under_a_new_number_rots_as_any_other() {
    let archive = Archive::of(&["file", "other"]);
    archive.run(Verb::Add);
    archive.write("copy", "file");
    fs::rename(archive.path("copy"), archive.path("file")).unwrap();
    for _ in 0..2 {
        days_pass(100);
        archive.scrub(everything());
    }
    archive.rot("file");
    let told = archive.run(Verb::Update);
    assert_eq!(told.summary.severity(), Severity::AsCataloged, "nothing looks otherwise");
    days_pass(100);
    assert_eq!(archive.scrub(everything()).lines(), ["rotted file"]);
    assert_eq!(archive.run(Verb::Update).lines(), ["rotted file"]);
}

/// Many tools write whole seconds. That a file's time has more does not make an edit of its rot.
#[test]
fn a_time_of_whole_seconds_is_the_time_of_the_file() {
    let archive = Archive::of(&["rot", "edit"]);
    let seconds = 1_000_000_000;
    let set = |name: &str, time: u64| {
        set_time(&archive.path(name), UNIX_EPOCH + Duration::new(time, 123_456_789));
    };
    let mut import = import_of(&archive, &[("rot", "as it was"), ("edit", "as it was")]);
    for name in ["rot", "edit"] {
        let record = Record {
            times: lanesum_list::Times {
                modified: Some(lanesum_list::Time { seconds: seconds as i64, nanoseconds: 0 }),
                changed: None,
            },
            ..Record::new(name)
        };
        import.add(archive.path(name), &record);
    }
    set("rot", seconds);
    set("edit", seconds + 1);
    let mut catalog = archive.open();
    archive.root(&mut catalog);
    let taken = |(_, imported): &(String, Imported)| *imported == Imported::Taken;
    let both = imported(&mut catalog, import);
    assert!(both.len() == 2 && both.iter().all(taken), "{both:?}");
    drop(catalog);
    assert_eq!(archive.run(Verb::Audit).lines(), ["altered rot", "changed edit"]);
}

fn due(choose: impl FnOnce(&mut Due)) -> Due {
    let mut due = Due::default();
    choose(&mut due);
    due
}

/// Nobody may forget what was told: neither a narrower scrub nor how things stand.
#[test]
fn what_was_told_to_differ_stays_known_until_it_is_taken_up() {
    let archive = Archive::of(&["a", "b"]);
    let ahead = AHEAD.with(|ahead| ahead.swap(0, Ordering::Relaxed));
    archive.run(Verb::Add);
    AHEAD.with(|it| it.store(ahead, Ordering::Relaxed));
    archive.rot("a");
    let checked = || archive.open().overviews(clock()).unwrap().remove(0).oldest;
    let before = checked();
    days_pass(1);
    let told = archive.scrub(due(|it| it.percent = Some(50.0)));
    assert_eq!(told.lines(), ["changed a"], "it was written a moment before it was cataloged");
    assert_eq!(checked(), before, "what differs is no good check");
    for narrow in [Due::default(), due(|it| it.new = true)] {
        let told = archive.scrub(narrow);
        assert_eq!(told.summary.severity(), Severity::Differences);
        assert_eq!(told.summary.known[&Status::Changed], 1);
    }
    let overview = archive.open().overviews(clock()).unwrap().remove(0);
    assert_eq!(
        (overview.severity(), overview.not_well[&Status::Changed]),
        (Severity::Differences, 1)
    );
    assert_eq!(archive.run(Verb::Audit).lines(), ["changed a"], "although it looks as it did");
    assert_eq!(archive.run(Verb::Update).lines(), ["changed a"], "it may be rot");
    archive.open().accept(&archive.path("a"), &options()).unwrap();
    assert_eq!(archive.open().overviews(clock()).unwrap()[0].severity(), Severity::AsCataloged);
    let told = archive.run_with(Verb::Audit, |options| options.reread = Reread::All);
    assert_eq!(told.summary.severity(), Severity::AsCataloged);
}

#[test]
fn a_time_in_the_future_hides_no_rot() {
    let archive = Archive::of(&["a", "b"]);
    set_time(&archive.path("a"), SystemTime::now() + std::time::Duration::from_secs(1 << 31));
    archive.run(Verb::Add);
    archive.rot("a");
    let told = archive.scrub(everything());
    assert_eq!(
        (told.lines(), told.summary.severity()),
        (vec!["rotted a".into()], Severity::Damage)
    );
    assert_eq!(archive.run(Verb::Update).lines(), ["rotted a"], "it is not taken up");
}

#[test]
fn what_was_busy_stays_known_until_it_is_read() {
    let archive = Archive::of(&["a", "b"]);
    archive.run(Verb::Add);
    archive.rot("a");
    let writer = File::options().append(true).open(archive.path("a")).unwrap();
    let told = archive.scrub(everything());
    assert_eq!(
        (told.lines(), told.summary.severity()),
        (vec!["busy a".into()], Severity::NotAllDone)
    );
    // Nothing is chosen, and nothing is better for that.
    let nothing = due(|it| it.new = true);
    assert_eq!(archive.scrub(nothing).summary.severity(), Severity::NotAllDone);
    let severity = || archive.open().overviews(clock()).unwrap()[0].severity();
    assert_eq!(severity(), Severity::NotAllDone);
    drop(writer);
    assert_eq!(archive.run(Verb::Audit).lines(), ["rotted a"]);
    assert_eq!(severity(), Severity::Damage);
}

/// One large file that is edited, and not taken up, must not use up the days of the others.
#[test]
fn what_is_not_well_does_not_starve_the_rest() {
    for case in ["edited", "gone", "busy"] {
        let archive = Archive::new();
        archive.write("large", vec![b'x'; 100_000]);
        (0..5).for_each(|number| archive.write(&format!("f{number}"), "small"));
        archive.run(Verb::Add);
        let mut writer = None;
        match case {
            "edited" => archive.write("large", vec![b'y'; 100_000]),
            "gone" => fs::remove_file(archive.path("large")).unwrap(),
            _ => {
                archive.rot("large");
                writer = Some(File::options().append(true).open(archive.path("large")).unwrap());
            }
        }
        days_pass(100);
        let late = || archive.open().overviews(clock()).unwrap()[0].late;
        assert!(late() >= 5, "{case}");
        assert!(archive.open().overviews(clock()).unwrap()[0].severity() >= Severity::NotAllDone);
        for _ in 0..6 {
            days_pass(1);
            archive.scrub(Due::default());
        }
        assert_eq!(late(), 0, "{case}");
        days_pass(100);
        let told = archive.scrub(due(|it| it.max_bytes = Some(10)));
        assert!(told.counts()[&Class::Ok] >= 1, "{case}: {:?}", told.counts());
        drop(writer);
    }
}

/// A root that was emptied, or has lost too much, is left alone by scrubs as by all others.
#[test]
fn a_scrub_suspends_what_an_audit_does() {
    let archive = Archive::new();
    (0..130).for_each(|number| archive.write(&format!("f{number}"), number.to_string()));
    archive.run(Verb::Add);
    let severity = || archive.open().overviews(clock()).unwrap()[0].severity();
    let rows = || {
        let overview = archive.open().overviews(clock()).unwrap().remove(0);
        (overview.files, overview.not_well)
    };
    let before = rows();
    let elsewhere = Archive::new();
    let aside = elsewhere.tree.path();
    let away = |from: usize| {
        for number in from..130 {
            let name = format!("f{number}");
            fs::rename(archive.path(&name), aside.join(name)).unwrap();
        }
    };
    away(1);
    let told = archive.scrub(everything());
    assert!(told.summary.suspended.is_some() && rows() == before, "{:?}", rows());
    // Nothing is due, and it is not better for that.
    for narrow in [Due::default(), due(|it| it.new = true)] {
        let told = archive.scrub(narrow);
        assert!(told.summary.suspended.is_some() && severity() == Severity::NotAllDone);
    }
    fs::rename(archive.path("f0"), aside.join("f0")).unwrap();
    let told = archive.scrub(Due::default());
    assert_eq!(told.summary.suspended.as_deref(), Some("nothing is in it"));
    for number in 0..130 {
        let name = format!("f{number}");
        fs::rename(aside.join(&name), archive.path(&name)).unwrap();
    }
    assert!(archive.scrub(everything()).summary.suspended.is_none());
    assert_eq!((rows(), severity()), (before, Severity::AsCataloged));
}

/// Another content that was told, and then went out of sight, is not well under another name.
#[test]
fn what_comes_back_under_another_name_is_read() {
    let archive = Archive::of(&["a", "b"]);
    archive.run(Verb::Add);
    archive.rot("a");
    let writer = File::options().append(true).open(archive.path("a")).unwrap();
    assert_eq!(archive.scrub(everything()).lines(), ["busy a"]);
    drop(writer);
    let elsewhere = Archive::new();
    let aside = elsewhere.path("aside");
    fs::rename(archive.path("a"), &aside).unwrap();
    assert_eq!(archive.run(Verb::Audit).lines(), ["missing a"]);
    fs::rename(&aside, archive.path("c")).unwrap();
    let told = archive.run(Verb::Update);
    assert_eq!(told.summary.severity(), Severity::Damage, "{:?}", told.lines());
}

/// A number is given again: who is new is not who is gone, be size and time the same.
#[test]
fn a_number_that_is_given_again_is_no_move() {
    use std::os::unix::fs::MetadataExt as _;
    // In memory numbers are not given again.
    let tree = tempfile::tempdir().unwrap();
    let archive = Archive { tree, ..Archive::new() };
    archive.write_at("a", "content", 1_000_000_000);
    archive.write_at("b", "another", 1_000_000_000);
    archive.run(Verb::Add);
    let number = |name: &str| fs::metadata(archive.path(name)).unwrap().ino();
    let before = number("b");
    fs::remove_file(archive.path("b")).unwrap();
    let name = (0..100).map(|count| format!("c{count}")).find(|name| {
        archive.write_at(name, "CONTENT", 1_000_000_000);
        let is_it = number(name) == before;
        is_it || fs::rename(archive.path(name), archive.state.path().join(name)).is_err()
    });
    let Some(name) = name.filter(|name| number(name) == before) else {
        return skip("this file system gives no number again");
    };
    if fs::metadata(archive.path(&name)).unwrap().created().is_err() {
        return skip("this file system does not say when a file was made");
    }
    let lines = ["missing b".to_owned(), format!("new {name}")];
    assert_eq!(archive.run(Verb::Audit).lines(), lines);
    assert_eq!(archive.run(Verb::Update).lines(), lines);
}

#[test]
fn a_row_is_named_by_its_own_path_whatever_is_there_now() {
    let archive = Archive::of(&["old/a", "old/b", "new/a", "new/b"]);
    archive.run(Verb::Add);
    fs::remove_dir_all(archive.path("old")).unwrap();
    symlink("new", archive.path("old")).unwrap();
    assert_eq!(archive.run(Verb::Audit).lines(), ["missing old/a", "missing old/b"]);
    let mut catalog = archive.open();
    let root = archive.root(&mut catalog);
    let below = |catalog: &Catalog, path: &str| catalog.root_of(&archive.path(path)).unwrap().1;
    for (path, expected) in [
        ("old/a", "old/a"),
        ("old", "old"),
        ("new/../old/b", "old/b"),
        // As the system goes: out of what the link leads to.
        ("old/../old/b", "old/b"),
        ("./new//a", "new/a"),
    ] {
        assert_eq!(below(&catalog, path), expected.as_bytes(), "{path}");
    }
    // Another way to the root is followed.
    let way = archive.state.path().join("way");
    symlink(archive.tree.path(), &way).unwrap();
    assert_eq!(catalog.root_of(&way.join("old/a")).unwrap(), (root, b"old/a".to_vec()));
    assert!(catalog.root_of(&way).unwrap().1.is_empty());

    catalog.accept(&archive.path("old/b"), &options()).unwrap_err();
    catalog.forget(&archive.path("old/a"), &options()).unwrap();
    drop(catalog);
    assert_eq!(archive.run(Verb::Audit).lines(), ["missing old/b"]);
    archive.open().forget(&archive.path("old"), &options()).unwrap();
    let told = archive.run_with(Verb::Audit, |options| options.reread = Reread::All);
    assert_eq!((told.lines(), told.counts()[&Class::Ok]), (vec![], 2));
}

#[test]
fn nothing_is_accepted_of_what_is_mounted_over_a_root() {
    let archive = Archive::of(&["file", "other"]);
    archive.run(Verb::Add);
    // As good as a mount: another folder under the same name.
    let (tree, aside) = (archive.tree.path().to_owned(), archive.tree.path().with_extension("a"));
    fs::rename(&tree, &aside).unwrap();
    archive.write("file", "of another disk");
    let refused = archive.open().accept(&archive.path("file"), &options()).unwrap_err();
    assert!(matches!(refused, CatalogError::NotThere { .. }), "{refused}");
    fs::remove_dir_all(&tree).unwrap();
    fs::rename(&aside, &tree).unwrap();
    let told = archive.run_with(Verb::Audit, |options| options.reread = Reread::All);
    assert_eq!((told.lines(), told.counts()[&Class::Ok]), (vec![], 2));
}

#[test]
fn what_is_at_rest_stays_so_when_its_mode_alone_is_another() {
    let archive = Archive::of(&["chmod", "renamed"]);
    archive.run(Verb::Add);
    let path = archive.path("chmod");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    fs::rename(archive.path("renamed"), archive.path("moved")).unwrap();
    AHEAD.with(|ahead| ahead.store(0, Ordering::Relaxed));
    archive.run_with(Verb::Update, |options| options.reread = Reread::All);
    days_pass(1);
    archive.rot("chmod");
    archive.rot("moved");
    assert_eq!(archive.scrub(everything()).lines(), ["rotted chmod", "rotted moved"]);
    assert_eq!(archive.run(Verb::Update).lines(), ["rotted chmod", "rotted moved"]);
}

#[test]
fn what_rotted_and_then_went_is_one_event_more() {
    let archive = Archive::of(&["file", "other"]);
    archive.run(Verb::Add);
    archive.rot("file");
    archive.scrub(everything());
    fs::remove_file(archive.path("file")).unwrap();
    for _ in 0..3 {
        days_pass(1);
        assert_eq!(archive.scrub(Due::default()).lines(), ["missing file"]);
    }
    let mut classes = Vec::new();
    let mut take = |event: &lanesum_catalog::Event| {
        classes.push(event.finding.class);
        Ok(())
    };
    archive.open().events(0, &mut take).unwrap();
    assert_eq!(classes, [Class::Rotted, Class::Missing]);
}

#[test]
fn a_catalog_has_one_lock_by_whatever_name_it_is_opened() {
    let archive = Archive::of(&["file"]);
    archive.run(Verb::Add);
    let link = archive.path("link.db");
    symlink(archive.catalog_path(), &link).unwrap();
    let catalog = archive.open();
    let refused = Catalog::open(&link, "another").unwrap_err();
    assert!(matches!(refused, CatalogError::Locked { .. }), "{refused}");
    drop(catalog);
    assert_eq!(
        Catalog::look(&link).unwrap().path(),
        archive.catalog_path().canonicalize().unwrap()
    );

    // In its own root, under a link that is in it as well: none of its files is taken up.
    let (inside, link) = (archive.path("inside/catalog.db"), archive.path("own.db"));
    fs::create_dir(archive.path("inside")).unwrap();
    symlink(&inside, &link).unwrap();
    let refused = Catalog::open(&link, "test").unwrap_err();
    assert!(refused.to_string().contains("link to nothing"), "{refused}");
    drop(Catalog::open(&inside, "test").unwrap());
    let mut catalog = Catalog::open(&link, "test").unwrap();
    let root = archive.root(&mut catalog);
    let summary = catalog.run(&root, Verb::Add, &options(), &mut |_| Ok(())).unwrap();
    assert_eq!(summary.counts, BTreeMap::from([(Class::New, 1)]));
}

#[test]
fn a_scrub_of_what_was_never_taken_up_whole_is_not_all_done() {
    let archive = Archive::of(&["file"]);
    let mut catalog = archive.open();
    archive.root(&mut catalog);
    drop(catalog);
    let told = archive.scrub(everything());
    assert_eq!(told.summary.severity(), Severity::NotAllDone);
    archive.run(Verb::Add);
    let told = archive.scrub(everything());
    assert_eq!(told.summary.severity(), Severity::AsCataloged);
}

#[test]
fn a_look_that_finds_a_move_makes_no_row_well() {
    for is_rotted in [false, true] {
        let archive = Archive::of(&["a", "other"]);
        archive.run(Verb::Add);
        let good = fs::read(archive.path("a")).unwrap();
        if is_rotted {
            archive.rot("a");
            archive.scrub(everything());
        }
        fs::remove_file(archive.path("a")).unwrap();
        assert_eq!(archive.run(Verb::Audit).lines(), ["missing a"]);
        archive.write("b", good);
        archive.run(Verb::Audit);
        let not_well = archive.open().not_well().unwrap();
        let expected = if is_rotted { Status::Rotted } else { Status::Missing };
        assert_eq!(not_well.iter().map(|it| it.status).collect::<Vec<_>>(), [expected]);
        fs::remove_file(archive.path("b")).unwrap();
        days_pass(1);
        assert_eq!(archive.scrub(Due::default()).summary.severity(), Severity::Damage);
        // Whoever accepts takes the row along.
        archive.write("b", "a");
        archive.run(Verb::Update);
        assert!(archive.open().not_well().unwrap().is_empty());
    }
}

/// The name that is told is the one to accept; the row goes with it.
#[test]
fn what_has_another_name_is_accepted_under_that() {
    let archive = Archive::of(&["a", "other"]);
    archive.run(Verb::Add);
    let time = fs::metadata(archive.path("a")).unwrap().modified().unwrap();
    fs::rename(archive.path("a"), archive.path("c")).unwrap();
    archive.write("c", "b");
    set_time(&archive.path("c"), time);
    let told = archive.run_with(Verb::Audit, |options| options.reread = Reread::All);
    assert_eq!(told.lines(), ["altered a -> c"]);
    let known = archive.open().not_well_after(0, 10).unwrap();
    assert_eq!(known.len(), 1);
    assert!(known[0].found.is_some(), "what was told of it is found by its other name");
    let accepted = archive.open().accept(&archive.path("c"), &options()).unwrap();
    assert_eq!(accepted.other.as_deref(), Some(&b"a"[..]));
    assert!(archive.open().not_well().unwrap().is_empty());
    let told = archive.run_with(Verb::Audit, |options| options.reread = Reread::All);
    assert_eq!(told.lines(), [""; 0]);
    assert_eq!(told.summary.severity(), Severity::AsCataloged);
}

/// A new file with a number that was given again is no other file's.
#[test]
fn a_new_file_is_accepted_beside_what_is_missing() {
    let archive = Archive::of(&["a", "other"]);
    archive.run(Verb::Add);
    fs::remove_file(archive.path("a")).unwrap();
    archive.write("c", "something else");
    archive.open().accept(&archive.path("c"), &options()).unwrap();
    assert_eq!(archive.run(Verb::Audit).lines(), ["missing a"]);
}

/// What an audit calls moved by its content is accepted with the row of its old name.
#[test]
fn a_file_that_moved_by_a_copy_is_accepted_with_its_row() {
    let archive = Archive::of(&["a", "other", "kept"]);
    archive.run(Verb::Add);
    fs::copy(archive.path("a"), archive.path("c")).unwrap();
    fs::remove_file(archive.path("a")).unwrap();
    assert_eq!(archive.run(Verb::Audit).lines(), ["moved a -> c"]);
    let accepted = archive.open().accept(&archive.path("c"), &options()).unwrap();
    assert_eq!((accepted.path, accepted.other), (b"c".to_vec(), Some(b"a".to_vec())));
    // A copy of what is there leaves that alone.
    fs::copy(archive.path("kept"), archive.path("copy")).unwrap();
    let accepted = archive.open().accept(&archive.path("copy"), &options()).unwrap();
    assert_eq!(accepted.other, None);
    assert_eq!(archive.run(Verb::Audit).lines(), [""; 0]);
    // Also where the folder has another algorithm since.
    let mut archive = archive;
    archive.policy.algorithms = lanesum_list::Algorithm::Sha256.into();
    fs::copy(archive.path("other"), archive.path("o")).unwrap();
    fs::remove_file(archive.path("other")).unwrap();
    assert_eq!(archive.run(Verb::Audit).lines(), ["moved other -> o"]);
    let accepted = archive.open().accept(&archive.path("o"), &options()).unwrap();
    assert_eq!(accepted.other, Some(b"other".to_vec()));
    assert_eq!(archive.open().check().unwrap(), [""; 0]);
}

/// Whichever digests a row and a file have in common tell that they are the same.
#[test]
fn moves_are_known_by_any_digest() {
    use lanesum_list::Algorithm::{Md5, Sha256};
    let mut archive = Archive::of(&["a", "other"]);
    archive.policy.algorithms = [Md5, Sha256].into_iter().collect();
    archive.run(Verb::Add);
    archive.policy.algorithms = Sha256.into();
    fs::copy(archive.path("a"), archive.path("b")).unwrap();
    fs::remove_file(archive.path("a")).unwrap();
    assert_eq!(archive.run(Verb::Update).lines(), ["moved a -> b"]);
    // Also where the folder has others by now.
    archive.policy.algorithms = Md5.into();
    archive.write("c", "c");
    archive.run(Verb::Update);
    archive.policy.algorithms = Sha256.into();
    fs::copy(archive.path("c"), archive.path("d")).unwrap();
    fs::remove_file(archive.path("c")).unwrap();
    assert_eq!(archive.run(Verb::Update).lines(), ["moved c -> d"]);
}

#[test]
fn a_file_is_forgotten_without_the_folder_that_has_its_name_now() {
    let archive = Archive::of(&["b", "c"]);
    archive.run(Verb::Add);
    fs::remove_file(archive.path("b")).unwrap();
    archive.write("b/x", "x");
    archive.write("b/y", "y");
    archive.run(Verb::Update);
    let mut catalog = archive.open();
    let mut forget = |path: &str| catalog.forget(&archive.path(path), &options()).unwrap().files;
    assert_eq!(forget("b"), 1);
    assert_eq!(forget("b/"), 2);
    assert_eq!(forget("c"), 1);
}

/// Another folder in the place of a root, with files of the same names.
#[test]
fn what_comes_over_a_root_while_it_is_read_is_not_taken_for_it() {
    for verb in [Verb::Update, Verb::Audit] {
        let archive = Archive::of(&["a", "b", "c"]);
        archive.run(Verb::Add);
        for name in ["a", "b", "c"] {
            archive.write(name, "edited");
        }
        let tree = archive.tree.path().to_owned();
        let aside = tree.with_extension("aside");
        let is_swapped = std::sync::atomic::AtomicBool::new(false);
        let (from, to) = (tree.clone(), aside.clone());
        let told = archive.run_with(verb, |options| {
            options.goes_on = Some(lanesum_catalog::GoesOn::new(move || {
                if !is_swapped.swap(true, Ordering::Relaxed) {
                    fs::rename(&from, &to).unwrap();
                    fs::create_dir(&from).unwrap();
                    for name in ["a", "b", "c"] {
                        fs::write(from.join(name), "of another").unwrap();
                    }
                }
                true
            }));
        });
        assert!(told.summary.suspended.is_some(), "{verb:?}: {:?}", told.lines());
        assert_eq!(told.lines(), ["suspended "], "{verb:?}");
        fs::remove_dir_all(&tree).unwrap();
        fs::rename(&aside, &tree).unwrap();
        let told = archive.run(Verb::Audit);
        assert_eq!(told.lines(), ["changed a", "changed b", "changed c"], "{verb:?}");
    }
}

/// Runs a command of `mount` or `umount`; whether it did what it was to.
fn mount(args: &[&std::ffi::OsStr]) -> bool {
    let (command, args) = args.split_first().unwrap();
    let mut command = std::process::Command::new(command);
    command.args(args).stderr(std::process::Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Until a look sees below it again, a scrub is not all done either.
#[test]
fn what_a_mount_hid_from_a_look_is_named_until_one_sees_it() {
    for verb in [Verb::Audit, Verb::Update] {
        let archive = Archive::of(&["a", "sub/b", "sub/c"]);
        archive.run(Verb::Add);
        let other = tempfile::tempdir_in(archive.tree.path().parent().unwrap()).unwrap();
        let sub = archive.path("sub");
        if !mount(&["mount".as_ref(), "--bind".as_ref(), other.path().as_ref(), sub.as_ref()]) {
            skip("nothing can be bound here");
            return;
        }
        let looked = archive.run(verb);
        let scrubbed = archive.scrub(Due::default()).summary;
        let unseen = archive.open().overviews(clock()).unwrap().remove(0).unseen;
        assert!(mount(&["umount".as_ref(), sub.as_ref()]));
        assert_eq!((looked.lines(), looked.summary.unknown), (vec![], 2), "{verb:?}");
        assert_eq!(scrubbed.severity(), Severity::NotAllDone, "{verb:?}");
        assert_eq!(unseen.len(), 1, "{verb:?}");
        assert_eq!(unseen[0].path, sub, "{verb:?}");
        assert_eq!(unseen[0].why, "something is mounted over 2 files of the catalog");
        assert_eq!(archive.run(verb).lines(), [""; 0], "{verb:?}");
        assert_eq!(archive.scrub(Due::default()).summary.severity(), Severity::AsCataloged);
    }
}

/// What is bound over a file hides it from a scrub, too; and what was forgotten below a mount is no
/// better for that.
#[test]
fn what_is_hidden_is_not_well_known() {
    let archive = Archive::of(&["a", "b", "sub/bad"]);
    archive.run(Verb::Add);
    days_pass(1);
    cut(&archive, "sub/bad");
    archive.run(Verb::Audit);
    archive.open().forget(&archive.path("sub/bad"), &options()).unwrap();
    let other = tempfile::tempdir_in(archive.tree.path().parent().unwrap()).unwrap();
    let bind = |from: &Path, to: &str| {
        mount(&["mount".as_ref(), "--bind".as_ref(), from.as_ref(), archive.path(to).as_ref()])
    };
    let unbind = |of: &str| assert!(mount(&["umount".as_ref(), archive.path(of).as_ref()]));
    if !bind(other.path(), "sub") {
        skip("nothing can be bound here");
        return;
    }
    let not_well = archive.open().not_well().unwrap().len();
    unbind("sub");
    assert_eq!(not_well, 1);
    assert!(bind(&archive.path("b"), "a"));
    let looked = archive.run(Verb::Audit).summary;
    let scrubbed = archive.scrub(Due::default()).summary;
    unbind("a");
    assert_eq!((looked.unknown, looked.known.get(&Status::Hidden)), (1, Some(&1)));
    assert!(!scrubbed.is_all_seen() && scrubbed.known[&Status::Hidden] == 1);
    archive.run(Verb::Audit);
    assert!(archive.scrub(Due::default()).summary.is_all_seen());
}

/// Another folder of the same file system, bound over one of the root while it is taken up: no
/// device tells.
#[test]
fn what_is_bound_over_a_folder_while_it_is_read_is_not_taken_for_it() {
    for verb in [Verb::Add, Verb::Update] {
        let archive = Archive::of(&["a"]);
        if verb == Verb::Update {
            archive.run(Verb::Add);
        }
        ["sub/b", "sub/c"].iter().for_each(|path| archive.write(path, path));
        let other = tempfile::tempdir_in(archive.tree.path().parent().unwrap()).unwrap();
        ["b", "c"].iter().for_each(|name| fs::write(other.path().join(name), "other").unwrap());
        let (from, to) = (other.path().to_owned(), archive.path("sub"));
        let is_bound = std::sync::Arc::new(std::sync::OnceLock::new());
        let told = archive.run_with(verb, |options| {
            let is_bound = std::sync::Arc::clone(&is_bound);
            options.goes_on = Some(lanesum_catalog::GoesOn::new(move || {
                let bind = ["mount".as_ref(), "--bind".as_ref(), from.as_ref(), to.as_ref()];
                is_bound.get_or_init(|| mount(&bind));
                true
            }));
        });
        if is_bound.get() != Some(&true) {
            println!("skipped: nothing can be bound here");
            return;
        }
        assert!(mount(&["umount".as_ref(), archive.path("sub").as_ref()]));
        assert_eq!(told.lines(), [""; 0], "{verb:?}");
        assert_eq!(told.summary.mounts.len(), 1, "{verb:?}");
        assert_eq!(archive.run(Verb::Audit).lines(), ["new sub/b", "new sub/c"], "{verb:?}");
    }
}

/// Where the layers of an overlay are of two file systems, its files have another device than its
/// folders, and nothing is mounted over them.
#[test]
fn files_of_an_overlay_of_two_file_systems_are_in_their_place() {
    let (lower, upper) = (tempfile::tempdir().unwrap(), tempfile::tempdir_in("/dev/shm").unwrap());
    let archive = Archive::new();
    let lower = lower.path();
    ["a", "b", "c"].iter().for_each(|name| fs::write(lower.join(name), name).unwrap());
    let [upper, work] = ["up", "work"].map(|name| upper.path().join(name));
    [&upper, &work].iter().for_each(|folder| fs::create_dir(folder).unwrap());
    let [lower, upper, work] = [lower, &upper, &work].map(Path::display);
    let layers = format!("lowerdir={lower},upperdir={upper},workdir={work},xino=off");
    let overlay = ["mount", "-t", "overlay", "overlay", "-o", &layers].map(AsRef::as_ref);
    if !mount(&[&overlay[..], &[archive.tree.path().as_ref()]].concat()) {
        skip("no overlay can be mounted here");
        return;
    }
    let told = std::panic::catch_unwind(|| {
        let device = |name: &str| fs::metadata(archive.path(name)).unwrap().dev();
        if device("a") == device("") {
            skip("files of an overlay have its device here");
        }
        let added = archive.run(Verb::Add);
        let all = archive.run_with(Verb::Audit, |options| options.reread = Reread::All);
        archive.write("a", "edited");
        archive.write("new", "new");
        fs::rename(archive.path("b"), archive.path("moved")).unwrap();
        let updated = archive.run(Verb::Update);
        let scrubbed = archive.scrub(everything());
        (added.summary.files, all.lines(), updated.lines(), scrubbed.lines(), scrubbed.counts())
    });
    assert!(mount(&["umount".as_ref(), archive.tree.path().as_ref()]));
    let (added, all, updated, scrubbed, counts) = told.unwrap();
    assert_eq!((added, all), (3, vec![]));
    assert_eq!(updated, ["changed a", "moved b -> moved", "new new"]);
    assert_eq!((scrubbed, counts), (vec![], BTreeMap::from([(Class::Ok, 4)])));
}

/// The log is short when a run ended, also while somebody looks into the catalog.
#[test]
fn what_a_run_found_is_in_its_place_while_somebody_has_the_catalog_open() {
    let archive = Archive::of(&["a", "b"]);
    archive.run(Verb::Add);
    let looking = Catalog::look(&archive.catalog_path()).unwrap();
    archive.rot("a");
    assert_eq!(archive.scrub(everything()).lines(), ["rotted a"]);
    // As if whoever looks was killed, and the log was lost.
    let copy = archive.state.path().join("copy.db");
    fs::copy(archive.catalog_path(), &copy).unwrap();
    drop(looking);
    assert_eq!(Catalog::look(&copy).unwrap().not_well().unwrap().len(), 1);
}

#[test]
fn what_was_told_to_be_missing_suspends_nothing_again() {
    let names: Vec<_> = (0..400).map(|number| format!("f{number}")).collect();
    let archive = Archive::of(&names.iter().map(String::as_str).collect::<Vec<_>>());
    archive.run(Verb::Add);
    for name in &names[..150] {
        fs::remove_file(archive.path(name)).unwrap();
    }
    assert!(archive.run(Verb::Audit).summary.suspended.is_some());
    let told = archive.run_with(Verb::Update, |options| options.max_gone = Some(100));
    assert_eq!(told.counts()[&Class::Missing], 150);
    archive.rot("f399");
    let told = archive.scrub(everything());
    assert_eq!((told.summary.suspended.as_deref(), told.counts()[&Class::Rotted]), (None, 1));
    assert!(archive.run(Verb::Audit).summary.suspended.is_none());
    // As many again are another matter.
    for name in &names[150..300] {
        fs::remove_file(archive.path(name)).unwrap();
    }
    assert!(archive.scrub(everything()).summary.suspended.is_some());
}

#[test]
fn a_root_that_was_moved_and_linked_is_called_by_both_names() {
    let archive = Archive::of(&["a", "b"]);
    archive.run(Verb::Add);
    let (tree, big) = (archive.tree.path().to_owned(), archive.tree.path().with_extension("big"));
    fs::rename(&tree, &big).unwrap();
    symlink(&big, &tree).unwrap();
    let mut catalog = archive.open();
    let id = catalog.roots().unwrap()[0].id();
    for (path, below) in [(tree.clone(), ""), (tree.join("a"), "a"), (big.join("b"), "b")] {
        let (root, found) = catalog.root_of(&path).unwrap();
        assert_eq!((root.id(), &*found), (id, below.as_bytes()), "{}", path.display());
    }
    assert_eq!(catalog.add_root(&tree, Policy::default()).unwrap().id(), id);
    assert_eq!(catalog.roots().unwrap().len(), 1);
    fs::remove_file(&tree).unwrap();
    fs::rename(&big, &tree).unwrap();
}

#[test]
fn what_an_audit_saw_stays_known_until_it_is_taken_up() {
    let archive = Archive::of(&["a", "b"]);
    archive.run(Verb::Add);
    let seen = || archive.open().overviews(clock()).unwrap().remove(0);
    assert!(seen().not_taken_up.is_empty());
    archive.write("new", "n");
    fs::rename(archive.path("a"), archive.path("moved")).unwrap();
    archive.run(Verb::Audit);
    archive.scrub(Due::default());
    assert_eq!(seen().not_taken_up, BTreeMap::from([(Class::Moved, 1), (Class::New, 1)]));
    assert_eq!(seen().severity(), Severity::Differences);
    archive.run(Verb::Update);
    assert_eq!((seen().not_taken_up.len(), seen().severity()), (0, Severity::AsCataloged));
}

#[test]
fn a_root_without_files_is_not_well() {
    let archive = Archive::new();
    symlink("nowhere", archive.path("link")).unwrap();
    let not_all = Severity::NotAllDone;
    assert_eq!(archive.run(Verb::Add).summary.severity(), not_all);
    assert_eq!(archive.run(Verb::Audit).summary.severity(), not_all);
    assert_eq!(archive.scrub(everything()).summary.severity(), not_all);
    assert_eq!(archive.open().overviews(clock()).unwrap()[0].severity(), not_all);
    archive.write("file", "f");
    assert_eq!(archive.run(Verb::Update).lines(), ["new file"]);
    assert_eq!(archive.run(Verb::Audit).summary.severity(), Severity::AsCataloged);
}

/// A rename and an edit between two looks, with the time of the content set back.
#[test]
fn what_was_edited_while_it_moved_is_altered_and_not_rotted() {
    let archive = Archive::of(&["a", "b"]);
    archive.run(Verb::Add);
    let time = fs::metadata(archive.path("a")).unwrap().modified().unwrap();
    fs::rename(archive.path("a"), archive.path("moved")).unwrap();
    archive.write("moved", "b");
    set_time(&archive.path("moved"), time);
    fs::rename(archive.path("b"), archive.path("and moved")).unwrap();
    assert_eq!(archive.run(Verb::Update).lines(), ["moved a -> moved", "moved b -> and moved"]);
    assert_eq!(archive.scrub(everything()).lines(), ["altered moved"]);
    // What was read where it is now can rot.
    archive.rot("and moved");
    let lines = archive.scrub(everything()).lines();
    assert_eq!(lines, ["altered moved", "rotted and moved"]);
}

/// To rename a folder moves no time of its files: one of another time was edited beside that.
#[test]
fn what_was_edited_before_its_folder_moved_is_altered() {
    let archive = Archive::of(&["a/1", "a/2", "a/x/3", "a/4", "b"]);
    archive.run(Verb::Add);
    let edited = archive.path("a/1");
    let time = fs::metadata(&edited).unwrap().modified().unwrap();
    archive.write("a/1", "X/1");
    set_time(&edited, time);
    fs::set_permissions(archive.path("a/4"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::rename(archive.path("a"), archive.path("a2")).unwrap();
    fs::rename(archive.path("b"), archive.path("c")).unwrap();
    let told = archive.run_with(Verb::Audit, |options| options.reread = Reread::Nothing);
    let unread: Vec<_> = told.lines().into_iter().filter(|it| it.starts_with("changed")).collect();
    assert_eq!(unread, ["changed a/1 -> a2/1", "changed a/4 -> a2/4"]);
    for verb in [Verb::Audit, Verb::Update] {
        let told = archive.run(verb);
        let lines = ["altered a/1 -> a2/1", "moved a/ -> a2/ (3)", "moved b -> c"];
        assert_eq!((told.lines(), told.summary.files), (lines.map(str::to_owned).to_vec(), 2));
    }
    assert_eq!(archive.run(Verb::Update).lines(), ["altered a2/1"]);
}

#[test]
fn a_percentage_is_of_what_is_well() {
    let names: Vec<_> = (0..50).map(|number| format!("f{number:02}")).collect();
    let archive = Archive::of(&names.iter().map(String::as_str).collect::<Vec<_>>());
    archive.run(Verb::Add);
    for name in &names[..10] {
        archive.write(name, "edited");
    }
    archive.run(Verb::Audit);
    archive.rot("f45");
    let part = || {
        days_pass(1);
        archive.scrub(due(|due| due.percent = Some(10.0))).lines()
    };
    let is_found = (0..10).any(|_| part().contains(&"rotted f45".to_owned()));
    assert!(is_found);
}

#[test]
fn empty_files_have_their_turn() {
    let names: Vec<_> = (0..300).map(|number| format!("f{number}")).collect();
    let archive = Archive::new();
    names.iter().for_each(|name| archive.write(name, ""));
    archive.write("not empty", "some bytes");
    archive.run(Verb::Add);
    for _ in 0..100 {
        days_pass(1);
        archive.scrub(Due::default());
    }
    let overview = archive.open().overviews(clock()).unwrap().remove(0);
    assert_eq!((overview.late, overview.fresh), (0, 0));
}

/// What was checked later than now is known as such, and is not the oldest check.
#[test]
fn a_clock_that_was_ahead_is_told() {
    let archive = Archive::of(&["a", "b"]);
    archive.run(Verb::Add);
    let now = clock();
    let catalog = archive.open();
    let overview = |now| catalog.overviews(now).unwrap().remove(0);
    assert_eq!((overview(now).ahead, overview(now).oldest.is_some()), (0, true));
    let before = overview(now - 39 * 86_400);
    assert_eq!((before.ahead, before.late, before.oldest), (2, 2, None));
    assert_eq!(before.severity(), Severity::NotAllDone);
}

/// The names of a root lead to its own rows, also where they are links into another one.
#[test]
fn roots_that_are_links_to_one_another_keep_their_rows() {
    let archive = Archive::of(&["a/f", "a/g", "b/f", "b/g"]);
    let mut catalog = archive.open();
    for name in ["a", "b"] {
        let root = catalog.add_root(&archive.path(name), Policy::default()).unwrap();
        catalog.run(&root, Verb::Add, &options(), &mut |_| Ok(())).unwrap();
    }
    fs::remove_dir_all(archive.path("a")).unwrap();
    symlink("b", archive.path("a")).unwrap();
    let of = |catalog: &Catalog, name: &str| {
        let (root, below) = catalog.root_of(&archive.path(name)).unwrap();
        (root.path.file_name().unwrap().to_owned(), below)
    };
    for name in ["a", "b"] {
        assert_eq!(of(&catalog, name), (name.into(), vec![]));
        assert_eq!(of(&catalog, &format!("{name}/f")), (name.into(), b"f".to_vec()));
        let forgotten = catalog.forget(&archive.path(&format!("{name}/f")), &options());
        // Of a folder that is not there, a part is not forgotten.
        assert_eq!(forgotten.is_ok(), name == "b");
        assert_eq!(of(&catalog, &format!("{name}/g")), (name.into(), b"g".to_vec()));
    }
}

/// Two copies to one name at once: one of them is there, and whole.
#[test]
fn copies_to_one_name_do_not_meet() {
    let archive = Archive::of(&["a", "b"]);
    archive.run(Verb::Add);
    let to = archive.state.path().join("copy.db");
    let beside = archive.state.path().join("copy.db.unfinished");
    fs::write(&beside, "somebody's").unwrap();
    let copied: Vec<_> = std::thread::scope(|scope| {
        let copy = || Catalog::look(&archive.catalog_path()).unwrap().backup(&to);
        let both = [scope.spawn(copy), scope.spawn(copy)];
        both.into_iter().map(|it| it.join().unwrap()).collect()
    });
    assert!(copied.iter().any(Result::is_ok), "{copied:?}");
    assert!(Catalog::look(&to).unwrap().check().unwrap().is_empty());
    assert_eq!(fs::read(&beside).unwrap(), b"somebody's");
    assert_eq!(
        fs::read_dir(archive.state.path())
            .unwrap()
            .filter(|it| {
                it.as_ref().unwrap().file_name().to_string_lossy().contains("unfinished")
            })
            .count(),
        1
    );
}

/// Whoever shows what is not well names the place where it is now, however often that changes.
#[test]
fn what_lies_elsewhere_is_told_each_time_that_it_goes_elsewhere() {
    let archive = Archive::of(&["d/f", "d/other"]);
    archive.run(Verb::Add);
    alter(&archive, "d/f");
    let go = |from: &str, to: &str| fs::rename(archive.path(from), archive.path(to)).unwrap();
    let known = || {
        let known = archive.open().not_well_after(0, 10).unwrap().remove(0);
        let below = |path: std::path::PathBuf| {
            path.strip_prefix(archive.tree.path()).unwrap().to_str().unwrap().to_owned()
        };
        (below(known.path.clone()), known.elsewhere.clone().map(below), known.is_gone)
    };
    let events = || {
        let mut count = 0;
        let mut take = |_: &lanesum_catalog::Event| {
            count += 1;
            Ok(())
        };
        archive.open().events(0, &mut take).unwrap();
        count
    };
    let check = |verb, told: &str, at: (&str, Option<&str>, bool)| {
        let lines = archive.run(verb).lines();
        let lines: Vec<_> = lines.iter().filter(|it| !it.starts_with("moved")).collect();
        assert_eq!(lines, [told], "{verb:?}");
        assert_eq!(known(), (at.0.to_owned(), at.1.map(str::to_owned), at.2), "{told}");
        let before = events();
        archive.run(Verb::Audit);
        assert_eq!(events(), before, "{told}: it is no news again");
    };
    check(Verb::Audit, "altered d/f", ("d/f", None, false));
    go("d", "e");
    check(Verb::Audit, "altered d/f -> e/f", ("d/f", Some("e/f"), false));
    go("e/f", "g");
    check(Verb::Audit, "altered d/f -> g", ("d/f", Some("g"), false));
    go("e", "d");
    go("g", "d/f");
    check(Verb::Audit, "altered d/f", ("d/f", None, false));
    go("d/f", "g");
    check(Verb::Audit, "altered d/f -> g", ("d/f", Some("g"), false));

    // Forgotten, it would be taken up as new.
    let refused = archive.open().forget(&archive.path("d/f"), &options()).unwrap_err();
    assert!(refused.to_string().contains("is altered, and lies at "), "{refused}");
    let refused = archive.open().forget(&archive.path("d"), &options()).unwrap_err();
    assert!(matches!(refused, CatalogError::Elsewhere { .. }), "{refused}");

    check(Verb::Update, "altered d/f -> g", ("g", None, false));
    check(Verb::Update, "altered g", ("g", None, false));
    go("g", "h");
    check(Verb::Audit, "altered g -> h", ("g", Some("h"), false));
    let aside = archive.state.path().join("aside");
    if fs::rename(archive.path("h"), &aside).is_ok() {
        check(Verb::Audit, "missing g", ("g", None, true));
        fs::rename(&aside, archive.path("h")).unwrap();
        check(Verb::Audit, "altered g -> h", ("g", Some("h"), false));
    }
    archive.open().accept(&archive.path("h"), &options()).unwrap();
    assert_eq!(archive.run(Verb::Update).lines(), [""; 0]);
}

/// What was found to be gone and is back in its place is told to be there.
#[test]
fn what_is_back_in_its_place_is_gone_no_more() {
    let archive = Archive::of(&["f", "other"]);
    archive.run(Verb::Add);
    alter(&archive, "f");
    archive.run(Verb::Audit);
    let bytes = fs::read(archive.path("f")).unwrap();
    let time = fs::metadata(archive.path("f")).unwrap().modified().unwrap();
    fs::remove_file(archive.path("f")).unwrap();
    let is_gone = || archive.open().not_well_after(0, 10).unwrap()[0].is_gone;
    assert_eq!((archive.run(Verb::Audit).lines(), is_gone()), (vec!["missing f".to_owned()], true));
    archive.write("f", bytes);
    set_time(&archive.path("f"), time);
    assert_eq!(
        (archive.run(Verb::Audit).lines(), is_gone()),
        (vec!["altered f".to_owned()], false)
    );
}

/// The time that a move gives an inode hides what else moved it, so the file is read once more; of
/// a folder that was renamed nothing is.
#[test]
fn what_moved_alone_is_read_once_by_an_audit() {
    let archive = Archive::of(&["a", "b", "d/1", "d/2"]);
    archive.run(Verb::Add);
    alter(&archive, "a");
    for (from, to) in [("a", "a moved"), ("b", "b moved"), ("d", "e")] {
        fs::rename(archive.path(from), archive.path(to)).unwrap();
    }
    let lines = ["moved a -> a moved", "moved b -> b moved", "moved d/ -> e/ (2)"];
    for verb in [Verb::Audit, Verb::Update] {
        let told = archive.run(verb);
        assert_eq!((told.lines(), told.summary.files), (lines.map(str::to_owned).to_vec(), 0));
    }
    let first = archive.run(Verb::Audit);
    assert_eq!((first.lines(), first.summary.files), (vec!["altered a moved".to_owned()], 2));
    assert_eq!(archive.run(Verb::Audit).summary.files, 1, "what is not well is read each time");
}

/// Of times after 2262 no more is known than that: an edit of such a file is no damage, and no
/// date of it is told.
#[test]
fn times_without_numbers_of_their_own_make_no_damage() {
    const YEARS: [u64; 2] = [10_413_792_000, 11_991_628_800];
    let archive = Archive::of(&["other"]);
    archive.write_at("a", "a", YEARS[0]);
    if fs::metadata(archive.path("a")).unwrap().mtime() != YEARS[0].cast_signed() {
        return skip("files have no times after 2262 here");
    }
    archive.run(Verb::Add);
    assert_eq!(archive.run(Verb::Audit).summary.files, 0);
    for content in ["b", "an edit", ""] {
        archive.write_at("a", content, YEARS[1]);
        let told = archive.run(Verb::Update);
        assert_eq!(told.lines(), ["changed a"]);
        let [before, after] = [&told.findings[0].before, &told.findings[0].after];
        let is_told = |words: &Option<String>| words.as_deref().unwrap().contains("after-2262");
        assert!(is_told(before) && is_told(after), "{before:?} {after:?}");
    }
    archive.write_at("a", "at rest", YEARS[0]);
    archive.run(Verb::Update);
    let mut catalog = archive.open();
    let root = archive.root(&mut catalog);
    let mut times = Vec::new();
    let mut take = |record: Record<'_>| {
        times.push(record.times.modified.is_some());
        Ok(())
    };
    catalog.records(&root, &mut take).unwrap();
    drop(catalog);
    assert_eq!(times, [false, true]);
    archive.rot("a");
    assert_eq!(archive.scrub(everything()).lines(), ["rotted a"]);
    // A list told no time that an edit could have moved.
    archive.write_at("listed", "not so", YEARS[0]);
    let import = import_of(&archive, &[("listed", "listed")]);
    assert_eq!(imported(&mut archive.open(), import), [("listed".to_owned(), Imported::Taken)]);
    assert_eq!(archive.run(Verb::Update).lines(), ["altered listed", "rotted a"]);
}

/// What cannot be looked at has no row that says how it stands, so each look tells of it: whoever
/// is called for findings is called once, and once more when it was seen meanwhile.
#[test]
fn what_each_look_tells_is_told_as_repeated() {
    let archive = Archive::of(&["a"]);
    archive.run(Verb::Add);
    archive.write("d/b", "b");
    let mut last = 0;
    for (mode, expected) in [(0, vec![false]), (0, vec![true]), (0o700, vec![]), (0, vec![false])] {
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(archive.path("d"), permissions).unwrap();
        archive.limited(|archive| archive.run(Verb::Audit));
        let catalog = archive.open();
        let mut events = Vec::new();
        let mut take = |id: i64, _: &lanesum_catalog::Event| {
            events.push(id);
            Ok(())
        };
        catalog.events_after(last, &mut take).unwrap();
        last = events.last().copied().unwrap_or(last);
        let repeated: Vec<_> = events.iter().map(|&id| catalog.is_repeated(id).unwrap()).collect();
        assert_eq!(repeated, expected, "{mode:o}");
    }
    fs::set_permissions(archive.path("d"), fs::Permissions::from_mode(0o700)).unwrap();
}

/// However the lists write its path, the first of them counts.
#[test]
fn the_first_list_counts_of_those_that_contradict_one_another() {
    for (first, second) in [("file", "d/../file"), ("d/../file", "file")] {
        let archive = Archive::of(&["file", "d/other"]);
        let mut catalog = archive.open();
        archive.root(&mut catalog);
        let mut import = Import::default();
        import.add(archive.path(first), &record("file", "file"));
        import.add(archive.path(second), &record("file", "another"));
        assert_eq!(imported(&mut catalog, import), [("file".to_owned(), Imported::Contradicted)]);
        drop(catalog);
        assert!(archive.run(Verb::Update).lines().iter().all(|line| !line.contains("altered")));
    }
}
