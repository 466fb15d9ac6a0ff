//! Files that cannot be checked: they stay as they were, and the run is incomplete.

use std::fs;
use std::fs::File;
use std::os::unix::fs::FileExt as _;

use lanesum_catalog::{Attention, Control, GoesOn, Halt, Reason};

use super::*;

#[test]
fn file_that_may_not_be_read_is_unchecked_and_keeps_its_record() {
    let archive = Archive::recorded(&["a", "b"]);
    archive.write("a", "edited");
    set_mode(&archive.path("a"), 0);
    for task in [Task::Update, Task::Verify, Task::Scrub(everything())] {
        let report = archive.limited(|archive| archive.run(&task));
        assert_eq!(report.lines(), ["unchecked a"], "{task:?}");
        let finding = report.finding("a");
        assert_eq!(finding.reason, Some(Reason::Permission), "{task:?}");
        assert!(finding.error.as_deref().is_some_and(|it| it.contains("denied")), "{finding:?}");
        assert_eq!(report.summary.attention(), Attention::Incomplete, "{task:?}");
        assert_eq!(archive.stored(), ["unchecked a"], "{task:?}");
        assert_eq!(archive.digest("a"), md5("a"), "{task:?}");
    }
    set_mode(&archive.path("a"), 0o600);
    assert_eq!(archive.update().lines(), ["edited a"]);
    assert_eq!(archive.stored(), [""; 0]);
}

#[test]
fn unreadable_file_that_is_readable_again_is_ok() {
    let archive = Archive::recorded(&["a"]);
    set_mode(&archive.path("a"), 0);
    archive.limited(Archive::verify);
    assert_eq!(archive.stored(), ["unchecked a"]);
    set_mode(&archive.path("a"), 0o600);
    for task in [Task::Update, Task::Update] {
        assert_eq!(archive.run(&task).summary.attention(), Attention::Nothing);
    }
    assert_eq!(archive.stored(), [""; 0]);
}

#[test]
fn new_file_that_may_not_be_read_is_unchecked_and_recorded_later() {
    let archive = Archive::recorded(&["a"]);
    archive.write("new", "new");
    set_mode(&archive.path("new"), 0);
    let report = archive.limited(Archive::update);
    assert_eq!(report.lines(), ["unchecked new"]);
    assert_eq!(report.summary.attention(), Attention::Incomplete);
    assert_eq!(archive.files().len(), 1);
    set_mode(&archive.path("new"), 0o600);
    assert_eq!(archive.update().lines(), ["new new"]);
}

#[test]
fn damaged_file_that_may_not_be_read_stays_damaged() {
    let archive = Archive::recorded(&["a", "b"]);
    archive.damage("a");
    archive.verify();
    set_mode(&archive.path("a"), 0);
    for task in [Task::Update, Task::Verify, Task::Scrub(everything())] {
        let report = archive.limited(|archive| archive.run(&task));
        assert_eq!(report.summary.attention(), Attention::Problem, "{task:?}");
    }
    set_mode(&archive.path("a"), 0o600);
    archive.touch("a");
    archive.update();
    assert_eq!((archive.stored(), archive.digest("a")), (vec!["damaged a".into()], md5("a")));
}

#[test]
fn files_of_an_unreadable_directory_are_unknown_and_not_missing() {
    let archive = Archive::recorded(&["a", "d/b", "d/e/c"]);
    set_mode(&archive.path("d"), 0);
    for task in [Task::Scan, Task::Update, Task::Verify, Task::Scrub(everything())] {
        let report = archive.limited(|archive| archive.run(&task));
        assert_eq!(report.of(Class::Missing), [""; 0], "{task:?}");
        assert_eq!(report.lines(), ["unchecked d/ (2)"], "{task:?}");
        let unchecked = report.count(Class::Unchecked);
        assert_eq!((report.summary.unknown, unchecked), (2, 2), "{task:?}");
        assert_eq!(report.summary.attention(), Attention::Incomplete, "{task:?}");
        let pending = archive.look().pending(&archive.root()).unwrap();
        assert_eq!(pending.len(), 1, "{task:?}");
        let row = (pending[0].class, pending[0].reason, pending[0].files);
        assert_eq!(row, (Class::Unchecked, Some(Reason::Permission), 2), "{task:?}");
        let status = archive.status();
        assert_eq!((status.unknown, status.attention()), (2, Attention::Incomplete), "{task:?}");
    }
    set_mode(&archive.path("d"), 0o700);
    let report = archive.update();
    assert_eq!(report.lines(), ["ok d/b", "ok d/e/c"]);
    assert_eq!(report.summary.attention(), Attention::Nothing);
    assert_eq!((archive.stored(), archive.status().unknown), (vec![], 0));
}

#[test]
fn files_of_a_directory_that_is_readable_again_are_unchecked_until_they_are_read() {
    let mut bad = Selection::default();
    bad.bad = true;
    let bad = Task::Scrub(bad);
    for task in [Task::Update, Task::Verify, bad.clone()] {
        let archive = Archive::recorded(&["a", "d/b", "d/e/c"]);
        set_mode(&archive.path("d"), 0);
        archive.limited(Archive::verify);
        set_mode(&archive.path("d"), 0o700);
        archive.damage("d/b");
        assert_eq!(archive.scan().of(Class::Unchecked), ["d/b", "d/e/c"]);
        assert_eq!(archive.stored(), ["unchecked d/b", "unchecked d/e/c"]);
        assert_eq!(archive.run(&task).lines(), ["damaged d/b", "ok d/e/c"], "{task:?}");
        assert_eq!(archive.stored(), ["damaged d/b"], "{task:?}");
    }
    let archive = Archive::recorded(&["a", "d/b"]);
    set_mode(&archive.path("d"), 0);
    archive.limited(Archive::verify);
    set_mode(&archive.path("d"), 0o700);
    archive.damage("d/b");
    assert_eq!(archive.run(&bad).lines(), ["damaged d/b"]);
}

#[test]
fn files_of_an_unreadable_directory_are_counted_once_by_a_scrub_after_an_update() {
    let archive = Archive::recorded(&["a", "d/b", "d/c"]);
    set_mode(&archive.path("d"), 0);
    archive.limited(Archive::update);
    let mut due = Selection::default();
    due.is_updated = true;
    archive.limited(|archive| archive.run(&Task::Scrub(due)));
    set_mode(&archive.path("d"), 0o700);
    // The directory, and not its files, too.
    assert_eq!(archive.stored(), ["unchecked d"]);
}

#[test]
fn working_root_keeps_the_records_of_an_unreadable_directory() {
    let archive = Archive::working(&["a", "d/b"]);
    set_mode(&archive.path("d"), 0);
    archive.limited(Archive::update);
    set_mode(&archive.path("d"), 0o700);
    assert_eq!(archive.files().len(), 2);
    assert_eq!(archive.update().lines(), ["ok d/b"]);
}

#[test]
fn root_that_may_not_be_read_is_offline() {
    let archive = Archive::recorded(&["a"]);
    set_mode(&archive.tree(), 0);
    let report = archive.limited(Archive::update);
    set_mode(&archive.tree(), 0o700);
    let reason = report.summary.offline().map(|it| it.reason);
    assert_eq!(reason, Some(Reason::Unreadable), "{:?}", report.lines());
    assert_eq!(report.summary.attention(), Attention::Incomplete);
    assert_eq!(archive.update().summary.attention(), Attention::Nothing);
}

#[test]
fn file_that_a_program_has_open_for_writing_is_busy() {
    let archive = Archive::recorded(&["a", "b"]);
    archive.damage("a");
    let writer = File::options().append(true).open(archive.path("a")).unwrap();
    let report = archive.scrub();
    if report.lines() == ["damaged a"] {
        skip("no leases on this file system");
        return;
    }
    assert_eq!(report.lines(), ["unchecked a"]);
    assert_eq!(report.finding("a").reason, Some(Reason::Busy));
    assert_eq!(report.summary.attention(), Attention::Incomplete);
    assert_eq!(archive.stored(), ["unchecked a"]);
    drop(writer);
    assert_eq!(archive.scrub().lines(), ["damaged a"]);
}

/// A log or a database is open for writing at all times, and must not alarm each night.
#[test]
fn file_that_is_open_for_writing_and_at_rest_is_read_as_any_other() {
    let archive = Archive::recorded(&["a", "b"]);
    let open = |name| File::options().append(true).open(archive.path(name)).unwrap();
    let _writers = [open("a"), open("b")];
    archive.write("a", "edited");
    let report = archive.update();
    assert_eq!(report.lines(), ["edited a"]);
    assert_eq!(report.summary.attention(), Attention::Changes);
    let report = archive.scrub();
    assert_eq!((report.lines(), report.count(Class::Ok)), (vec![], 2));
}

#[test]
fn file_that_changes_while_it_is_read_is_busy_and_recorded_later() {
    let archive = Archive::recorded(&["a", "b"]);
    let file = File::options().write(true).open(archive.path("a")).unwrap();
    file.set_len(256 << 20).unwrap();
    let is_read = std::sync::atomic::AtomicBool::new(false);
    let report = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_read.load(Ordering::Relaxed) {
                file.write_at(b"x", 1 << 20).unwrap();
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let report = archive.update();
        is_read.store(true, Ordering::Relaxed);
        report
    });
    assert_eq!(report.lines(), ["unchecked a"]);
    assert_eq!(report.finding("a").reason, Some(Reason::Busy));
    assert_eq!(report.summary.attention(), Attention::Incomplete);
    assert_eq!((archive.stored(), archive.digest("a")), (vec!["unchecked a".into()], md5("a")));
    assert_eq!(archive.update().lines(), ["edited a"]);
    assert_eq!((archive.stored(), archive.update().summary.attention()), {
        (vec![], Attention::Nothing)
    });
}

#[test]
fn first_add_lists_the_files_that_it_could_not_read() {
    let archive = Archive::of(&["a", "locked", "d/b"]);
    set_mode(&archive.path("locked"), 0);
    set_mode(&archive.path("d"), 0);
    let report = archive.limited(Archive::add);
    set_mode(&archive.path("d"), 0o700);
    assert_eq!(report.lines(), ["unchecked d/", "unchecked locked"]);
    assert_eq!(report.summary.attention(), Attention::Incomplete);
    assert_eq!(archive.status().attention(), Attention::Incomplete);
    set_mode(&archive.path("locked"), 0o600);
    let report = archive.update();
    assert_eq!(report.lines(), ["new d/b", "new locked"]);
    assert_eq!(archive.update().summary.attention(), Attention::Nothing);
}

#[test]
fn files_below_a_mount_are_unchecked_and_not_missing() {
    let archive = Archive::recorded(&["a", "sub/b", "sub/c"]);
    let other = in_memory();
    fs::write(other.path().join("b"), "of another file system").unwrap();
    for task in [Task::Scan, Task::Update, Task::Verify, Task::Scrub(everything())] {
        let Some(bound) = Bound::over(archive.path("sub"), other.path()) else { return };
        let report = archive.run(&task);
        assert_eq!(report.of(Class::Missing), [""; 0], "{task:?}");
        assert_eq!((report.of(Class::Edited), report.of(Class::New)), (vec![], vec![]), "{task:?}");
        assert_eq!(report.summary.unknown, 2, "{task:?}");
        assert_eq!(report.summary.skipped.mounts, [b"sub".to_vec()], "{task:?}");
        assert_eq!(report.summary.attention(), Attention::Incomplete, "{task:?}");
        assert_eq!(archive.status().attention(), Attention::Incomplete, "{task:?}");
        let pending = archive.look().pending(&archive.root()).unwrap();
        let reasons: Vec<_> = pending.iter().map(|it| (it.class, it.reason, it.files)).collect();
        assert_eq!(reasons, [(Class::Unchecked, Some(Reason::MountedOver), 2)], "{task:?}");
        drop(bound);
        let report = archive.update();
        assert_eq!(report.lines(), ["ok sub/b", "ok sub/c"]);
        assert_eq!(report.summary.attention(), Attention::Nothing);
        assert_eq!(archive.files().len(), 3);
    }
}

#[test]
fn mount_without_recorded_files_is_skipped_and_listed() {
    let archive = Archive::recorded(&["a"]);
    fs::create_dir(archive.path("empty")).unwrap();
    let other = in_memory();
    fs::write(other.path().join("b"), "b").unwrap();
    let Some(_bound) = Bound::over(archive.path("empty"), other.path()) else { return };
    let report = archive.update();
    assert_eq!(report.summary.skipped.mounts, [b"empty".to_vec()]);
    assert_eq!((report.lines(), report.summary.attention()), (vec![], Attention::Nothing));
}

#[test]
fn file_that_is_mounted_over_is_unchecked() {
    let archive = Archive::recorded(&["a", "b"]);
    let other = archive.base.path().join("other");
    fs::write(&other, "another file").unwrap();
    let Some(bound) = Bound::over(archive.path("a"), &other) else { return };
    let report = archive.scrub();
    assert_eq!(report.of(Class::Damaged).len() + report.of(Class::Edited).len(), 0);
    assert_eq!((report.summary.unknown, report.summary.attention()), (1, Attention::Incomplete));
    let accepted = archive.accept(&["a"]);
    let error = &accepted.failed[0].1;
    assert!(matches!(error, CatalogError::Offline { reason: Reason::MountedOver, .. }), "{error}");
    drop(bound);
    assert_eq!(archive.scrub().lines(), ["ok a"]);
    assert_eq!(archive.stored(), [""; 0]);
}

#[test]
fn root_that_is_replaced_while_it_is_read_is_not_recorded() {
    for task in [Task::Update, Task::Verify] {
        let archive = Archive::recorded(&["a", "b", "c"]);
        ["a", "b", "c"].iter().for_each(|name| archive.write(name, "edited"));
        let (tree, aside) = (archive.tree(), archive.base.path().join("aside"));
        let is_swapped = std::sync::atomic::AtomicBool::new(false);
        let (from, to) = (tree.clone(), aside.clone());
        let report = archive.run_with(&task, |options| {
            options.goes_on = Some(GoesOn::new(move || {
                if !is_swapped.swap(true, Ordering::Relaxed) {
                    fs::rename(&from, &to).unwrap();
                    fs::create_dir(&from).unwrap();
                    for name in ["a", "b", "c"] {
                        fs::write(from.join(name), "of another directory").unwrap();
                    }
                }
                true
            }));
        });
        assert!(report.summary.attention() >= Attention::Incomplete, "{:?}", report.lines());
        let another = md5("of another directory");
        ["a", "b", "c"].iter().for_each(|name| assert_ne!(archive.digest(name), another));
        fs::remove_dir_all(&tree).unwrap();
        fs::rename(&aside, &tree).unwrap();
        archive.update();
        ["a", "b", "c"].iter().for_each(|name| assert_eq!(archive.digest(name), md5("edited")));
        assert_eq!(archive.stored(), [""; 0]);
    }
}

#[test]
fn mount_during_a_run_records_nothing_of_it() {
    let archive = Archive::recorded(&["a"]);
    ["sub/b", "sub/c"].iter().for_each(|path| archive.write(path, path));
    let other = archive.base.path().join("other");
    fs::create_dir(&other).unwrap();
    ["b", "c"].iter().for_each(|name| fs::write(other.join(name), "other").unwrap());
    let bound = Arc::new(std::sync::OnceLock::new());
    let report = archive.run_with(&Task::Update, |options| {
        let (bound, sub) = (Arc::clone(&bound), archive.path("sub"));
        options.goes_on = Some(GoesOn::new(move || {
            bound.get_or_init(|| Bound::over(sub.clone(), &other));
            true
        }));
    });
    match Arc::into_inner(bound).and_then(std::sync::OnceLock::into_inner) {
        Some(Some(bound)) => drop(bound),
        _ => return,
    }
    let recorded: Vec<_> = archive.files().iter().map(|it| it.recorded.digests.clone()).collect();
    assert!(recorded.iter().all(|it| it[0].to_string() != md5("other")), "{:?}", report.lines());
    let is_told = report.summary.halt == Some(Halt::MountsChanged)
        || !report.summary.skipped.mounts.is_empty();
    assert!(is_told, "{:?}", report.summary);
    archive.update();
    assert_eq!(["sub/b", "sub/c"].map(|it| archive.digest(it)), ["sub/b", "sub/c"].map(md5));
}

#[test]
fn mount_in_a_root_that_is_read_later_ends_its_part_of_the_run() {
    let one = Archive::recorded(&["a"]);
    let two = one.beside("two", &["sub/b", "sub/c"]);
    two.add();
    let other = one.base.path().join("other");
    fs::create_dir(&other).unwrap();
    ["b", "c"].iter().for_each(|name| fs::write(other.join(name), "other").unwrap());
    let (bound, calls) = (Arc::new(std::sync::OnceLock::new()), AtomicU64::new(0));
    let mut options = options();
    let (set, sub) = (Arc::clone(&bound), two.path("sub"));
    options.goes_on = Some(GoesOn::new(move || {
        // Both roots are scanned by then.
        if calls.fetch_add(1, Ordering::Relaxed) == 2 {
            set.get_or_init(|| Bound::over(sub.clone(), &other));
        }
        true
    }));
    let targets = [&one, &two].map(|it| Target::whole(it.root()));
    let reports = Report::all(&mut one.open(), &targets, &Task::Verify, &options);
    if !bound.get().is_some_and(Option::is_some) {
        skip("nothing can be mounted");
        return;
    }
    assert_eq!(reports[0].summary.attention(), Attention::Nothing);
    assert_eq!(reports[1].summary.halt, Some(Halt::MountsChanged), "{:?}", reports[1].lines());
    assert_eq!(two.stored(), [""; 0]);
}

#[test]
fn second_read_that_is_interrupted_leaves_the_file_as_it_was() {
    let mut archive = Archive::new();
    archive.settings.algorithms = lanesum_list::Algorithm::Crc32c.into();
    archive.settings.rate = Some(32 << 20);
    archive.write("a", "a");
    File::options().write(true).open(archive.path("a")).unwrap().set_len(32 << 20).unwrap();
    archive.touch("a");
    archive.add();
    flip_at(&archive.path("a"), 0);
    let control = Control::open(&archive.catalog_path()).unwrap();
    let (root, now, control) = (archive.root(), clock(), std::sync::Mutex::new(control));
    // Each read takes a second, and asks five times whether to go on.
    let asked = AtomicU64::new(0);
    let report = archive.run_with(&Task::Scrub(everything()), |options| {
        let root = root.clone();
        options.goes_on = Some(GoesOn::new(move || {
            if asked.fetch_add(1, Ordering::Relaxed) == 9 {
                control.lock().unwrap().pause(&root, now).unwrap();
            }
            true
        }));
    });
    assert!(matches!(report.summary.halt, Some(Halt::Paused(_))), "{:?}", report.summary);
    assert_eq!(report.of(Class::Damaged), [""; 0]);
    assert!(report.summary.attention() >= Attention::Incomplete);
    Control::open(&archive.catalog_path()).unwrap().resume(&root).unwrap();
    assert_eq!(archive.scrub().lines(), ["damaged a"]);
}

/// A file system in a file, mounted until it is dropped.
struct Disk {
    image: PathBuf,
    device: String,
    at: PathBuf,
}

impl Disk {
    /// None where this user may not mount, or the programs are not there.
    fn mounted_at(at: PathBuf, image: PathBuf) -> Option<Self> {
        File::create(&image).unwrap().set_len(8 << 20).unwrap();
        let made = Command::new("mke2fs").args(["-q", "-F"]).arg(&image).output();
        let looped = Command::new("losetup").args(["--find", "--show"]).arg(&image).output();
        let (Ok(made), Ok(looped)) = (made, looped) else { return None };
        if !made.status.success() || !looped.status.success() {
            return None;
        }
        let device = String::from_utf8(looped.stdout).unwrap().trim_end().to_owned();
        let disk = Self { image, device, at };
        disk.mount("rw").then_some(disk)
    }

    fn mount(&self, mode: &str) -> bool {
        mount(&["mount", "-o", mode, &self.device, self.at.to_str().unwrap()].map(AsRef::as_ref))
    }

    /// Mounted again, no content of a file is in memory.
    fn mount_again(&self) {
        assert!(mount(&["umount".as_ref(), self.at.as_ref()]) && self.mount("ro"));
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        mount(&["umount".as_ref(), self.at.as_ref()]);
        let _ = Command::new("losetup").args(["--detach", &self.device]).status();
    }
}

#[test]
fn file_whose_read_fails_is_unchecked_with_the_error() {
    let archive = Archive::new();
    let image = archive.base.path().join("image");
    let Some(disk) = Disk::mounted_at(archive.tree(), image) else {
        skip("no file system in a file can be mounted");
        return;
    };
    ["a", "b"].iter().for_each(|name| archive.write(name, name.repeat(100_000)));
    disk.mount_again();
    archive.add();
    disk.mount_again();
    // Names and sizes stay in memory, and no block can be read from now on.
    archive.scan();
    File::options().write(true).open(&disk.image).unwrap().set_len(0).unwrap();
    for _ in 0..2 {
        let report = archive.verify();
        assert_eq!(report.lines(), ["unchecked a", "unchecked b"]);
        let finding = report.finding("a");
        assert_eq!(finding.reason, Some(Reason::IoError), "{finding:?}");
        assert!(finding.error.is_some() && report.summary.io_errors == 2, "{report:?}");
        assert_eq!(report.summary.attention(), Attention::Problem);
        assert_eq!(archive.status().attention(), Attention::Problem);
        assert_eq!(archive.file("a").error, finding.error);
    }
    assert_eq!(archive.stored(), ["unchecked a", "unchecked b"]);
}
