//! Adding directories, what is excluded from them, offline roots, and roots at another path.

use std::fs;
use std::os::unix::fs::symlink;

use lanesum_catalog::{Attention, Control, DEFAULT_EXCLUDES, IGNORE_FILE, Reason, SettingsPatch};

use super::*;

fn add(archive: &Archive, path: &Path) -> Result<Root, CatalogError> {
    let roots = archive.open().add_roots(&[(path, archive.settings.clone())])?;
    Ok(roots.into_iter().next().unwrap())
}

#[test]
fn directory_without_files_cannot_be_added() {
    let archive = Archive::new();
    fs::create_dir_all(archive.path("only/directories")).unwrap();
    archive.write("@eaDir/excluded", "x");
    archive.write("excluded.tmp", "x");
    let error = add(&archive, &archive.tree()).unwrap_err();
    assert!(matches!(error, CatalogError::EmptyDirectory(_)), "{error}");
    assert!(archive.open().roots().unwrap().is_empty());
    archive.write("a", "a");
    add(&archive, &archive.tree()).unwrap();
}

#[test]
fn file_or_nothing_cannot_be_added() {
    let archive = Archive::of(&["a"]);
    let error = add(&archive, &archive.path("a")).unwrap_err();
    assert!(matches!(error, CatalogError::NotADirectory(_)), "{error}");
    let error = add(&archive, &archive.path("nothing")).unwrap_err();
    assert!(matches!(error, CatalogError::Io { .. }), "{error}");
}

#[test]
fn roots_that_overlap_are_refused() {
    let archive = Archive::of(&["a/b/c", "d"]);
    add(&archive, &archive.path("a")).unwrap();
    for path in [archive.path("a/b"), archive.tree()] {
        let error = add(&archive, &path).unwrap_err();
        assert!(matches!(error, CatalogError::Overlaps { .. }), "{error}");
    }
    assert_eq!(archive.open().roots().unwrap().len(), 1);
}

#[test]
fn all_directories_are_added_or_none() {
    let archive = Archive::of(&["a/1", "b/1"]);
    let settings = &archive.settings;
    let (a, b, file) = (archive.path("a"), archive.path("b"), archive.path("a/1"));
    let all = [(&*a, settings.clone()), (&*b, settings.clone()), (&*file, settings.clone())];
    archive.open().add_roots(&all).unwrap_err();
    assert!(archive.open().roots().unwrap().is_empty());
    assert_eq!(archive.open().add_roots(&all[..2]).unwrap().len(), 2);
}

#[test]
fn add_again_replaces_the_settings() {
    let mut archive = Archive::recorded(&["a", "b"]);
    archive.settings.profile = Profile::Working;
    archive.settings.every_days = 7;
    archive.add();
    assert_eq!(archive.root().settings, archive.settings);
    assert_eq!(archive.open().roots().unwrap().len(), 1);
    archive.remove("a");
    assert_eq!(archive.update().summary.attention(), Attention::Changes);
}

#[test]
fn default_patterns_exclude_temporary_files() {
    let excluded =
        ["@eaDir/a", ".DS_Store", "d/Thumbs.db", "lost+found/a", "x.part", "d/.a.swp", "db-wal"];
    let mut archive = Archive::of(&[&["a", "d/b"], &excluded[..]].concat());
    let added = archive.add();
    assert_eq!(added.summary.files, 2);
    assert!(added.summary.skipped.excluded >= excluded.len() as u64, "{:?}", added.summary);
    assert_eq!(DEFAULT_EXCLUDES.len(), 13);
    archive.settings.default_excludes = false;
    let report = archive.add();
    assert_eq!(report.of(Class::New).len(), excluded.len(), "{:?}", report.lines());
}

#[test]
fn patterns_of_the_settings_exclude_files() {
    let mut archive = Archive::of(&["a", "b.bak", "cache/c", "d/cache/e", "d/f"]);
    archive.settings.exclude = vec!["*.bak".into(), "/cache/".into()];
    assert_eq!(archive.add().summary.files, 3);
    let names: Vec<_> = archive.files().iter().map(|file| archive.below(&file.path)).collect();
    assert_eq!(names, ["a", "d/cache/e", "d/f"]);
    archive.settings.exclude = vec!["[".into()];
    let error = add(&archive, &archive.tree()).unwrap_err();
    assert!(matches!(error, CatalogError::Pattern(_)), "{error}");
}

#[test]
fn ignore_files_exclude_what_is_in_their_directories() {
    let archive = Archive::of(&["a.log", "d/a.log", "d/b", "d/e/c.log"]);
    archive.write(&format!("d/{IGNORE_FILE}"), "*.log\n# a comment\n");
    archive.add();
    let names: Vec<_> = archive.files().iter().map(|file| archive.below(&file.path)).collect();
    let ignore = format!("d/{IGNORE_FILE}");
    assert_eq!(names, ["a.log", &ignore, "d/b"]);
}

#[test]
fn files_that_are_excluded_later_are_no_alarm() {
    let archive = Archive::recorded(&["a", "cache/b", "cache/c"]);
    let mut patch = SettingsPatch::default();
    patch.exclude = Some(vec!["cache/".into()]);
    Control::open(&archive.catalog_path()).unwrap().set(&[archive.root()], &patch).unwrap();
    for task in [Task::Scan, Task::Verify, Task::Scrub(everything()), Task::Update, Task::Update] {
        let report = archive.run(&task);
        assert_eq!(report.of(Class::Missing), [""; 0], "{task:?}");
        assert!(report.summary.attention() <= Attention::Changes, "{task:?}");
    }
    assert_eq!((archive.files().len(), archive.stored()), (1, vec![]));
}

#[test]
fn symbolic_links_are_counted_and_not_followed() {
    let archive = Archive::of(&["a", "d/b"]);
    symlink("a", archive.path("link")).unwrap();
    symlink("d", archive.path("to directory")).unwrap();
    symlink("nowhere", archive.path("broken")).unwrap();
    let added = archive.add();
    assert_eq!((added.summary.files, added.summary.skipped.links), (2, 3));
    assert_eq!(archive.update().summary.skipped.links, 3);
    assert_eq!(archive.update().summary.attention(), Attention::Nothing);
}

#[test]
fn catalog_in_its_own_root_is_left_out() {
    let archive = Archive::of(&["a"]);
    let path = archive.path("catalog.db");
    let mut catalog = open(&path);
    let root = catalog.add_roots(&[(&archive.tree(), archive.settings.clone())]).unwrap().remove(0);
    for task in [Task::Add, Task::Update, Task::Verify, Task::Scrub(everything())] {
        let target = [Target::whole(root.clone())];
        let report = Report::all(&mut catalog, &target, &task, &options()).remove(0);
        assert_eq!((report.lines(), report.summary.attention()), (vec![], Attention::Nothing));
    }
    assert_eq!(catalog.status(clock()).unwrap()[0].files, 1);
}

/// What all verbs do to an offline root: nothing.
fn expect_offline(archive: &Archive, reason: Reason) {
    let look = || {
        let mut all = Vec::new();
        let mut filter = FileFilter::default();
        filter.root = Some(archive.root().id());
        let mut take = |file: FileStatus| {
            all.push((file.path, file.class, file.verified, file.recorded, file.since));
            Ok(())
        };
        archive.look().files(&filter, &mut take).unwrap();
        all
    };
    let before = look();
    let since = clock();
    for task in [Task::Scan, Task::Update, Task::Verify, Task::Scrub(everything()), Task::Add] {
        let report = archive.run(&task);
        assert_eq!(report.of(Class::Offline), [""], "{task:?}");
        assert_eq!(report.findings.len(), 1, "{task:?}: {:?}", report.lines());
        assert_eq!(report.findings[0].reason, Some(reason), "{task:?}");
        let offline = report.summary.offline().expect("an offline root");
        assert_eq!(offline.reason, reason, "{task:?}");
        assert_eq!(report.summary.attention(), Attention::Incomplete, "{task:?}");
        assert!(!report.summary.is_complete() && report.summary.files == 0, "{task:?}");
        let status = archive.status();
        let stored = status.root.offline.as_ref().expect("a stored reason");
        assert_eq!(stored.reason, reason, "{task:?}");
        assert!((since..since + 1000).contains(&stored.since), "{task:?}: {stored:?}");
        assert_eq!(status.attention(), Attention::Incomplete, "{task:?}");
        assert_eq!(look(), before, "{task:?}");
        assert_eq!(archive.look().check().unwrap(), [""; 0]);
    }
}

fn expect_online(archive: &Archive) {
    let report = archive.update();
    assert_eq!((report.lines(), report.summary.attention()), (vec![], Attention::Nothing));
    assert!(archive.root().offline.is_none());
    assert_eq!(archive.scrub().count(Class::Ok), 3);
}

/// Calls `replace` with the path of a recorded root whose directory is elsewhere, expects it to be
/// offline, and to be online once its directory is back.
fn expect_offline_while(replace: impl Fn(&Path), reason: Reason) {
    for is_working in [false, true] {
        let names = ["a", "d/b", "d/c"];
        let archive = if is_working { Archive::working } else { Archive::recorded }(&names);
        let away = archive.base.path().join("away");
        fs::rename(archive.tree(), &away).unwrap();
        replace(&archive.tree());
        expect_offline(&archive, reason);
        if archive.tree().exists() {
            fs::remove_dir_all(archive.tree()).unwrap();
        }
        fs::rename(&away, archive.tree()).unwrap();
        expect_online(&archive);
    }
}

#[test]
fn root_that_is_not_there_is_offline() {
    expect_offline_while(|_| {}, Reason::Missing);
}

#[test]
fn empty_root_is_offline() {
    expect_offline_while(|path| fs::create_dir(path).unwrap(), Reason::Empty);
    let with_repairs = |path: &Path| fs::create_dir_all(path.join("lost+found")).unwrap();
    expect_offline_while(with_repairs, Reason::Empty);
}

#[test]
fn other_directory_in_the_place_of_a_root_is_offline() {
    let replace = |path: &Path| {
        fs::create_dir(path).unwrap();
        fs::write(path.join("a"), "of another directory").unwrap();
    };
    expect_offline_while(replace, Reason::OtherVolume);
}

#[test]
fn other_file_system_mounted_over_a_root_is_offline() {
    let archive = Archive::recorded(&["a", "b", "c"]);
    let other = tempfile::tempdir().unwrap();
    fs::write(other.path().join("a"), "of another volume").unwrap();
    let Some(bound) = Bound::over(archive.tree(), other.path()) else { return };
    expect_offline(&archive, Reason::OtherVolume);
    drop(bound);
    expect_online(&archive);
}

#[test]
fn root_that_lost_all_its_files_is_offline() {
    let archive = Archive::recorded(&["a", "d/b"]);
    let away = archive.base.path().join("away");
    fs::create_dir(&away).unwrap();
    ["a", "d"].iter().for_each(|it| fs::rename(archive.path(it), away.join(it)).unwrap());
    expect_offline(&archive, Reason::Empty);
    let report = archive.run_with(&Task::Update, |options| options.max_gone = Some(100));
    assert_eq!(report.of(Class::Missing), ["a", "d/b"]);
}

#[test]
fn damage_of_an_offline_root_stays_known() {
    let archive = Archive::recorded(&["a", "b"]);
    archive.damage("a");
    archive.verify();
    let away = archive.base.path().join("away");
    fs::rename(archive.tree(), &away).unwrap();
    assert_eq!(archive.update().summary.attention(), Attention::Problem);
    assert_eq!(archive.status().attention(), Attention::Problem);
    fs::rename(&away, archive.tree()).unwrap();
    archive.update();
    assert_eq!(archive.stored(), ["damaged a"]);
}

/// An archive of 300 files without these many of them.
fn with_missing(count: usize) -> Archive {
    let names: Vec<_> = (0..300).map(|number| format!("{number:03}")).collect();
    let archive = Archive::recorded(&names.iter().map(String::as_str).collect::<Vec<_>>());
    names[..count].iter().for_each(|name| archive.remove(name));
    archive
}

#[test]
fn too_many_missing_files_make_a_root_offline() {
    let archive = with_missing(101);
    expect_offline(&archive, Reason::TooManyMissing);
    assert_eq!(archive.root().offline.map(|it| it.missing), Some(101));
    let report = archive.run_with(&Task::Update, |options| options.max_gone = Some(50));
    assert_eq!((report.count(Class::Missing), report.summary.offline()), (101, None));
    assert_eq!(report.summary.attention(), Attention::Problem);
    let report = archive.update();
    assert_eq!(report.summary.offline(), None, "files that are known to be missing do not count");
    assert_eq!(archive.stored().len(), 101);
}

#[test]
fn hundred_missing_files_make_no_root_offline() {
    assert_eq!(with_missing(100).update().count(Class::Missing), 100);
}

#[test]
fn renamed_files_are_not_missing_from_a_root() {
    let archive = with_missing(0);
    for number in 0..250 {
        archive.rename(&format!("{number:03}"), &format!("d/renamed {number}"));
    }
    let report = archive.update();
    assert_eq!((report.summary.offline(), report.count(Class::Moved)), (None, 250));
    assert_eq!(report.summary.files, 0);
}

#[test]
fn renamed_root_is_refused_by_add_and_proposed() {
    let archive = Archive::recorded(&["a", "b"]);
    let renamed = archive.base.path().join("renamed");
    fs::rename(archive.tree(), &renamed).unwrap();
    archive.update();
    assert_eq!(archive.root().find_renamed(), Some(renamed.clone()));
    let error = add(&archive, &renamed).unwrap_err();
    let CatalogError::Renamed { recorded, .. } = error else { panic!("{error}") };
    assert_eq!(recorded, archive.tree());
    assert_eq!(archive.open().roots().unwrap().len(), 1);
}

#[test]
fn relocated_root_has_nothing_to_do() {
    let archive = Archive::recorded(&["a", "d/b"]);
    archive.damage("a");
    archive.verify();
    let before = archive.root();
    fs::rename(archive.tree(), archive.base.path().join("renamed")).unwrap();
    let renamed = Archive { name: "renamed", ..archive.clone() };
    let relocated = archive.open().relocate(&archive.tree(), &renamed.tree(), &options()).unwrap();
    assert_eq!((relocated.root.id(), &*relocated.root.path), (before.id(), &*renamed.tree()));
    assert!(relocated.checked > 0 && relocated.matching > 0, "{relocated:?}");
    assert_eq!(renamed.stored(), ["damaged a"]);
    let report = renamed.update();
    assert_eq!(report.of(Class::New).len() + report.of(Class::Missing).len(), 0);
    assert_eq!(renamed.files().len(), 2);
    renamed.write("a", "a");
    assert_eq!(renamed.update().summary.attention(), Attention::Nothing);
}

#[test]
fn relocate_to_other_files_is_refused() {
    let archive = Archive::recorded(&["a", "d/b"]);
    let other = Archive { name: "other", ..archive.clone() };
    fs::create_dir(other.tree()).unwrap();
    for (content, names) in [("of another directory", ["a", "d/b"]), ("x", ["c", "e"])] {
        names.iter().for_each(|name| other.write(name, content));
        let result = archive.open().relocate(&archive.tree(), &other.tree(), &options());
        let error = result.unwrap_err();
        assert!(matches!(error, CatalogError::OtherFiles { matching: 0, .. }), "{error}");
        assert_eq!(archive.root().path, archive.tree());
    }
    assert_eq!(archive.update().summary.attention(), Attention::Nothing);
}

#[test]
fn relocate_of_a_path_that_is_no_root_is_refused() {
    let archive = Archive::recorded(&["a", "d/b"]);
    let mut catalog = archive.open();
    let nowhere = archive.base.path().join("nowhere");
    assert!(catalog.relocate(&nowhere, &archive.tree(), &options()).is_err());
    assert!(catalog.relocate(&archive.path("d"), &archive.tree(), &options()).is_err());
    assert!(catalog.relocate(&archive.tree(), &nowhere, &options()).is_err());
    assert_eq!(catalog.roots().unwrap()[0].path, archive.tree());
}

#[test]
fn copy_on_another_volume_is_adopted_at_the_same_path() {
    let archive = Archive::recorded(&["a", "d/b", "d/c"]);
    let copy = archive.base.path().join("copy");
    let copied = Command::new("cp").arg("-a").args([archive.tree(), copy.clone()]).status();
    assert!(copied.is_ok_and(|status| status.success()));
    fs::remove_dir_all(archive.tree()).unwrap();
    fs::rename(&copy, archive.tree()).unwrap();
    assert_eq!(archive.update().lines(), ["offline "]);
    let tree = archive.tree();
    let relocated = archive.open().relocate(&tree, &tree, &options()).unwrap();
    assert_eq!(relocated.checked, relocated.matching);
    let report = archive.update();
    assert_eq!((report.lines(), report.summary.attention()), (vec![], Attention::Nothing));
    assert_eq!(archive.scrub().count(Class::Ok), 3);
    archive.rename("d/b", "e");
    assert_eq!(archive.update().lines(), ["moved d/b -> e"], "inodes are those of the copy");
}

#[test]
fn path_in_a_root_is_found_through_links_above_it() {
    let archive = Archive::recorded(&["d/a"]);
    let link = archive.base.path().join("link");
    symlink(archive.tree(), &link).unwrap();
    let (root, below) = archive.look().root_of(&link.join("d/a")).unwrap();
    assert_eq!((root.path, &*below), (archive.tree(), &b"d/a"[..]));
    let error = archive.look().root_of(archive.state.path()).unwrap_err();
    assert!(matches!(error, CatalogError::NoRoot(_)), "{error}");
}

/// Patterns that appear in an ignore file delete no record of a damaged file, and not all others.
#[test]
fn excluded_damage_stays_and_a_pattern_for_everything_is_offline() {
    let archive = Archive::recorded(&["a.log", "b", "c"]);
    archive.damage("a.log");
    assert_eq!(archive.verify().lines(), ["damaged a.log"]);
    archive.write(".lanesumignore", "*.log\n");
    archive.update();
    assert_eq!(archive.file("a.log").class, Class::Damaged);
    assert_eq!(archive.update().summary.attention(), Attention::Problem);
}
