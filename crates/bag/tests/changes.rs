//! Files that change between the moment they are read and the one in which the bag is written.

use std::fs::{self, File};
use std::path::Path;

use lanesum_bag::{
    BagError, CreateOptions, Creation, Prepared, Problem, QuickLook, Update, UpdateOptions,
    Validation,
};
use lanesum_checksum::engine;

fn write(root: &Path, name: &str, content: &str) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// A directory of two files that have been read, to be made a bag.
fn creation(root: &Path) -> Creation {
    write(root, "a", "a");
    write(root, "sub/b", "b");
    let Prepared::New(mut creation) = Creation::prepare(root, &CreateOptions::default()).unwrap()
    else {
        panic!("nothing was there before")
    };
    creation.read(&engine::Options::default()).unwrap();
    creation
}

fn create(root: &Path) {
    creation(root).finish().unwrap();
}

fn is_valid(root: &Path) -> bool {
    let validation = Validation::prepare(root).unwrap();
    validation.read(&engine::Options::default(), |_| {}).is_valid()
}

/// Changes a file and puts its time back, as who wants to deceive would.
fn change_secretly(path: &Path) {
    let modified = fs::metadata(path).unwrap().modified().unwrap();
    fs::write(path, "x").unwrap();
    File::open(path).unwrap().set_modified(modified).unwrap();
}

/// The names of what changed.
fn changed(error: BagError) -> Vec<String> {
    let (BagError::Findings(findings) | BagError::NotUpdated(findings)) = error else {
        panic!("{error}")
    };
    assert!(findings.iter().all(|it| it.problem == Problem::ChangedWhileRead), "{findings:?}");
    findings.into_iter().map(|it| String::from_utf8(it.name).unwrap()).collect()
}

type Step = fn(&Path);

const STEPS: [(&str, Step); 5] = [
    ("a", |root| fs::write(root.join("a"), "longer").unwrap()),
    ("a", |root| change_secretly(&root.join("a"))),
    ("sub/b", |root| change_secretly(&root.join("sub/b"))),
    ("sub/b", |root| fs::remove_file(root.join("sub/b")).unwrap()),
    ("new", |root| fs::write(root.join("new"), "").unwrap()),
];

#[test]
fn creating_a_bag_fails_if_files_change() {
    for (name, step) in STEPS {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let creation = creation(root);
        step(root);
        assert_eq!(changed(creation.finish().unwrap_err()), [name]);
        let mut names: Vec<_> =
            fs::read_dir(root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.retain(|name| name != "new");
        names.sort();
        assert_eq!(names, ["a", "sub"]);
    }
}

#[test]
fn updating_a_bag_fails_if_files_change() {
    for (name, step) in STEPS {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        create(root);
        let manifest = fs::read(root.join("manifest-sha512.txt")).unwrap();
        write(root, "data/c", "c");
        let mut update = Update::prepare(root, &UpdateOptions::default()).unwrap();
        update.read(&engine::Options::default()).unwrap();
        step(&root.join("data"));
        assert_eq!(changed(update.finish().unwrap_err()), [format!("data/{name}")]);
        assert_eq!(fs::read(root.join("manifest-sha512.txt")).unwrap(), manifest);
        assert!(!root.join(".lanesum-bag").exists());
    }
}

#[test]
fn concurrent_runs_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let creation = creation(folder.path());
    let second = Creation::prepare(folder.path(), &CreateOptions::default());
    assert!(matches!(second, Err(BagError::Busy)));
    creation.finish().unwrap();
    let first = Update::prepare(folder.path(), &UpdateOptions::default()).unwrap();
    let second = Update::prepare(folder.path(), &UpdateOptions::default());
    assert!(matches!(second, Err(BagError::Busy)));
    drop(first);
    assert!(is_valid(folder.path()));
}

#[test]
fn a_new_bag_is_valid_only_after_its_last_rename() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    create(root);
    assert!(is_valid(root) && QuickLook::at(root).unwrap().agrees());
    fs::remove_file(root.join("bagit.txt")).unwrap();
    assert!(!is_valid(root) && !QuickLook::at(root).unwrap().agrees());
}
