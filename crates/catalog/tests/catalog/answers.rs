//! What people answer: accept, forget, and what checksum lists say.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::AtomicBool;

use lanesum_catalog::{Attention, Import, Imported};
use lanesum_list::Record;

use super::*;

/// Recorded files, of which these are damaged.
fn with_damage(names: &[&str], damaged: &[&str]) -> Archive {
    let archive = Archive::recorded(names);
    damaged.iter().for_each(|name| archive.damage(name));
    archive.verify();
    archive
}

#[test]
fn accepted_file_is_recorded_as_it_is() {
    let archive = with_damage(&["a", "b"], &["a", "b"]);
    let mut findings = Vec::new();
    let accepted = archive.open().accept(&[archive.path("a")], &options(), &mut |_, finding| {
        findings.push(finding.clone());
        Ok(())
    });
    let accepted = accepted.unwrap();
    assert_eq!((accepted.files, accepted.failed.len(), findings.len()), (1, 0, 1));
    let finding = &findings[0];
    assert_eq!((finding.class, finding.was), (Class::Ok, Some(Class::Damaged)));
    let digest = |content: &Option<lanesum_catalog::Content>| {
        content.as_ref().expect("a content").digests[0].to_string()
    };
    assert_eq!((digest(&finding.recorded), digest(&finding.found)), (md5("a"), md5("`")));
    assert_eq!((archive.stored(), archive.digest("a")), (vec!["damaged b".into()], md5("`")));
    assert_eq!(archive.digest("b"), md5("b"));
    archive.accept(&["b"]);
    let report = archive.verify();
    assert_eq!((report.lines(), report.summary.attention()), (vec![], Attention::Nothing));
    archive.damage("a");
    assert_eq!(archive.verify().lines(), ["damaged a"], "it is watched again");
}

#[test]
fn accepted_directory_stands_for_all_damaged_files_below_it() {
    let archive = with_damage(&["d/a", "d/e/b", "d/edited", "dd"], &["d/a", "d/e/b", "dd"]);
    archive.write("d/edited", "an edit");
    archive.verify();
    let accepted = archive.accept(&["d"]);
    assert_eq!((accepted.files, accepted.failed.len()), (2, 0));
    assert_eq!(archive.stored(), ["damaged dd", "edited d/edited"]);
    let accepted = archive.accept(&[""]);
    assert_eq!((accepted.files, archive.stored()), (1, vec!["edited d/edited".to_owned()]));
}

#[test]
fn accept_reads_the_file_before_any_verb_did() {
    let archive = Archive::recorded(&["a", "b"]);
    archive.damage("a");
    archive.write("b", "edited");
    let accepted = archive.accept(&["a", "b"]);
    assert_eq!((accepted.files, accepted.failed.len()), (2, 0));
    assert_eq!([archive.digest("a"), archive.digest("b")], [md5("`"), md5("edited")]);
    assert_eq!(archive.verify().lines(), [""; 0]);
}

#[test]
fn accepted_file_that_was_renamed_is_accepted_under_its_new_path() {
    let archive = with_damage(&["a", "b"], &["a"]);
    archive.rename("a", "renamed");
    archive.update();
    assert_eq!(archive.accept(&["renamed"]).files, 1);
    assert_eq!((archive.stored(), archive.digest("renamed")), (vec![], md5("`")));
}

#[test]
fn files_that_cannot_be_accepted_are_named_and_the_others_are_accepted() {
    let archive = with_damage(&["a", "gone", "locked", "d/b"], &["a", "locked"]);
    archive.remove("gone");
    archive.update();
    set_mode(&archive.path("locked"), 0);
    let paths = ["gone", "nothing", "locked", "d", "a"];
    let accepted = archive.limited(|archive| archive.accept(&paths));
    set_mode(&archive.path("locked"), 0o600);
    assert_eq!(accepted.files, 1);
    let failed = |name: &str| {
        let path = archive.path(name);
        let found = accepted.failed.iter().find(|(failed, _)| *failed == path);
        &found.unwrap_or_else(|| panic!("{name} did not fail")).1
    };
    assert!(matches!(failed("gone"), CatalogError::NotAFile(_)), "{}", failed("gone"));
    assert!(matches!(failed("nothing"), CatalogError::NotRecorded(_)), "{}", failed("nothing"));
    assert!(matches!(failed("locked"), CatalogError::Io { .. }), "{}", failed("locked"));
    assert_eq!(archive.stored(), ["damaged locked", "missing gone"]);
    assert_eq!(archive.digest("a"), md5("`"));
}

#[test]
fn nothing_is_accepted_of_an_offline_root_or_of_none() {
    let archive = with_damage(&["a", "b"], &["a"]);
    let away = archive.base.path().join("away");
    fs::rename(archive.tree(), &away).unwrap();
    fs::create_dir(archive.tree()).unwrap();
    fs::write(archive.path("a"), "of another directory").unwrap();
    let accepted = archive.accept(&["a"]);
    assert!(matches!(accepted.failed[0].1, CatalogError::Offline { .. }), "{accepted:?}");
    assert_eq!((accepted.files, archive.digest("a")), (0, md5("a")));
    let elsewhere = archive.open().accept(&["/nowhere/a".into()], &options(), &mut |_, _| Ok(()));
    assert!(matches!(elsewhere.unwrap().failed[0].1, CatalogError::NoRoot(_)));
}

#[test]
fn file_that_changes_while_it_is_read_is_not_accepted() {
    let archive = Archive::recorded(&["a", "b"]);
    let file = fs::File::options().write(true).open(archive.path("a")).unwrap();
    file.set_len(256 << 20).unwrap();
    let is_read = AtomicBool::new(false);
    let accepted = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_read.load(Ordering::Relaxed) {
                file.write_at(b"x", 1 << 20).unwrap();
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let accepted = archive.accept(&["a"]);
        is_read.store(true, Ordering::Relaxed);
        accepted
    });
    assert!(matches!(accepted.failed[0].1, CatalogError::Busy(_)), "{accepted:?}");
    assert_eq!((accepted.files, archive.digest("a")), (0, md5("a")));
}

#[test]
fn missing_file_is_forgotten() {
    let archive = Archive::recorded(&["a", "b", "d/c", "d/e"]);
    ["a", "d/c"].iter().for_each(|name| archive.remove(name));
    archive.update();
    let forgotten = archive.forget(&["a", "d"]);
    let counts: Vec<_> = forgotten.paths.iter().map(|it| (it.files, it.still_there)).collect();
    assert_eq!((counts, forgotten.failed.len()), (vec![(1, 0), (2, 1)], 0));
    assert_eq!((archive.stored(), archive.files().len()), (vec![], 1));
    let report = archive.update();
    assert_eq!(report.lines(), ["new d/e"], "its record was deleted, too");
    assert_eq!(report.summary.attention(), Attention::Changes);
    assert_eq!(archive.update().summary.attention(), Attention::Nothing);
}

#[test]
fn only_missing_files_are_forgotten_if_asked() {
    let archive = with_damage(&["a", "d/b", "d/c", "d/e"], &["d/c"]);
    ["a", "d/b"].iter().for_each(|name| archive.remove(name));
    archive.update();
    let forgotten = archive.open().forget(&[archive.path("d")], true, &options()).unwrap();
    assert_eq!((forgotten.paths[0].files, forgotten.paths[0].still_there), (1, 0));
    assert_eq!(archive.stored(), ["damaged d/c", "missing a"]);
    let forgotten = archive.open().forget(&[archive.tree()], true, &options()).unwrap();
    assert_eq!((forgotten.paths[0].files, forgotten.paths[0].is_root), (1, false));
    assert_eq!((archive.stored(), archive.files().len()), (vec!["damaged d/c".into()], 2));
}

#[test]
fn forgotten_damage_is_counted() {
    let archive = with_damage(&["a", "b"], &["a"]);
    let forgotten = archive.forget(&["a"]);
    let path = &forgotten.paths[0];
    assert_eq!((path.files, path.still_there, path.damaged, path.is_root), (1, 1, 1, false));
    assert_eq!(archive.files().len(), 1);
}

#[test]
fn path_without_a_record_is_not_forgotten() {
    let archive = Archive::recorded(&["a", "d/b"]);
    let forgotten = archive.forget(&["nothing", "a", "../elsewhere"]);
    assert_eq!(forgotten.paths.len(), 1);
    let errors: Vec<_> = forgotten.failed.iter().map(|(_, error)| error).collect();
    assert!(matches!(errors[0], CatalogError::NotRecorded(_)), "{errors:?}");
    assert!(matches!(errors[1], CatalogError::NoRoot(_)), "{errors:?}");
}

#[test]
fn forgotten_root_is_no_longer_in_the_catalog() {
    let archive = Archive::recorded(&["a", "d/b"]);
    let other = archive.beside("other", &["c"]);
    other.add();
    let first = archive.root().id();
    archive.damage("a");
    archive.verify();
    let forgotten = archive.forget(&[""]);
    assert_eq!((forgotten.paths[0].files, forgotten.paths[0].is_root), (2, true));
    assert_eq!(archive.open().roots().unwrap().len(), 1);
    assert_eq!(other.files().len(), 1);
    assert_eq!(other.update().summary.attention(), Attention::Nothing);
    assert_eq!(archive.look().check().unwrap(), [""; 0]);
    archive.add();
    assert_ne!(archive.root().id(), first, "the id of a root is never used again");
    assert_eq!((archive.stored(), archive.digest("a")), (vec![], md5("`")));
}

#[test]
fn forget_of_a_root_that_is_not_there_works() {
    let archive = Archive::recorded(&["a", "b"]);
    fs::remove_dir_all(archive.tree()).unwrap();
    archive.update();
    assert!(archive.forget(&[""]).paths[0].is_root);
    assert!(archive.open().roots().unwrap().is_empty());
}

/// What a list says of files with these contents.
fn list(archive: &Archive, files: &[(&str, &str)]) -> Import {
    let mut import = Import::default();
    for (name, content) in files {
        let md5 = lanesum_list::Algorithm::Md5.into();
        let digests = lanesum_checksum::digests_of(md5, None, content.as_bytes()).unwrap();
        let record = Record { digests, ..Record::new(name) };
        import.add(archive.path(name), &record);
    }
    import
}

fn import(archive: &Archive, files: &[(&str, &str)], replace: bool) -> Vec<(String, Imported)> {
    let mut results = Vec::new();
    let mut take = |path: &Path, result| {
        results.push((archive.below(path), result));
        Ok(())
    };
    let list = list(archive, files);
    archive.open().import(list, replace, &options(), &mut take).unwrap();
    results.sort();
    results
}

#[test]
fn listed_file_with_the_listed_content_is_recorded() {
    let archive = Archive::recorded(&["known"]);
    archive.write("new", "new");
    let results = import(&archive, &[("known", "known"), ("new", "new")], false);
    assert_eq!(results, [("known".into(), Imported::Known), ("new".into(), Imported::Recorded)]);
    assert_eq!((archive.digest("new"), archive.stored()), (md5("new"), vec![]));
    assert_eq!(archive.update().lines(), [""; 0]);
}

#[test]
fn listed_file_with_other_content_is_damaged_with_the_listed_digests() {
    let archive = Archive::recorded(&["known"]);
    archive.write("new", "changed since the list was made");
    let results = import(&archive, &[("new", "as it was")], false);
    assert_eq!(results, [("new".into(), Imported::Differs)]);
    assert_eq!((archive.stored(), archive.digest("new")), {
        (vec!["damaged new".to_owned()], md5("as it was"))
    });
    archive.update();
    assert_eq!(archive.stored(), ["damaged new"], "update does not record it");
    archive.write("new", "as it was");
    archive.update();
    assert_eq!(archive.stored(), [""; 0]);
}

#[test]
fn list_that_contradicts_a_record_is_a_conflict_unless_it_replaces() {
    let archive = Archive::recorded(&["a"]);
    let listed = [("a", "as it was before")];
    assert_eq!(import(&archive, &listed, false), [("a".into(), Imported::Conflict)]);
    assert_eq!((archive.stored(), archive.digest("a")), (vec![], md5("a")));
    let [(_, result)] = &import(&archive, &listed, true)[..] else { panic!("one file") };
    assert!(matches!(result, Imported::Replaced | Imported::Differs), "{result:?}");
    assert_eq!((archive.stored(), archive.digest("a")), {
        (vec!["damaged a".to_owned()], md5("as it was before"))
    });
    archive.write("a", "as it was before");
    archive.update();
    assert_eq!(archive.stored(), [""; 0]);
}

#[test]
fn listed_files_that_cannot_be_read_are_named() {
    let archive = Archive::recorded(&["a"]);
    fs::create_dir(archive.path("directory")).unwrap();
    let files = [("missing", "x"), ("directory", "x"), ("../elsewhere", "x")];
    let results = import(&archive, &files, false);
    let of = |name: &str| results.iter().find(|(path, _)| path.ends_with(name)).unwrap().1;
    assert_eq!(of("missing"), Imported::Missing);
    assert_eq!(of("directory"), Imported::Unreadable);
    assert_eq!(of("elsewhere"), Imported::NoRoot);
    fs::rename(archive.tree(), archive.base.path().join("away")).unwrap();
    assert_eq!(import(&archive, &[("a", "a")], false)[0].1, Imported::Offline);
}

#[test]
fn lists_that_contradict_each_other_are_a_conflict() {
    let archive = Archive::recorded(&["a"]);
    archive.write("new", "new");
    fs::create_dir(archive.path("real")).unwrap();
    archive.write("real/b", "b");
    std::os::unix::fs::symlink("real", archive.path("link")).unwrap();
    let files = [("new", "new"), ("new", "x"), ("real/b", "b"), ("link/b", "x")];
    let results = import(&archive, &files, true);
    assert_eq!(
        results,
        [("new".into(), Imported::Contradicted), ("real/b".into(), Imported::Contradicted)]
    );
    assert_eq!(archive.files().len(), 1);
    // A link on the way stands for the directory that it leads to.
    assert_eq!(import(&archive, &[("link/b", "b")], false)[0].1, Imported::Recorded);
    assert_eq!(archive.digest("real/b"), md5("b"));
}

#[test]
fn imported_file_is_no_longer_new() {
    let archive = Archive::recorded(&["a"]);
    archive.write("new", "new");
    archive.scan();
    assert_eq!(archive.status().new, 1);
    import(&archive, &[("new", "new")], false);
    assert_eq!(archive.status().new, 0);
}

#[test]
fn listed_file_of_the_catalog_is_not_opened() {
    let mut archive = Archive::of(&["a"]);
    (archive.state, archive.name) = (archive.base.clone(), ".");
    archive.add();
    let results = import(&archive, &[("catalog.db", "x"), ("catalog.db-lock", "x")], false);
    assert!(results.iter().all(|(_, result)| *result == Imported::Unreadable), "{results:?}");
}

#[test]
fn exported_records_are_those_of_the_root_in_order() {
    let archive = Archive::recorded(&["b", "a/c", "a b"]);
    let mut names = Vec::new();
    let mut take = |record: Record<'_>| {
        let name = String::from_utf8(record.name.to_vec()).unwrap();
        assert_eq!((record.digests[0].to_string(), record.size), {
            (md5(&name), Some(name.len() as u64))
        });
        names.push(name);
        Ok(())
    };
    archive.look().records(&archive.root(), &mut take).unwrap();
    assert_eq!(names, ["a b", "a/c", "b"]);
}
