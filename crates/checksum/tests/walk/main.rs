//! The walk over real trees.

mod deep;
mod filters;
mod git;
mod ignore_files;
mod kinds;
mod links;
mod order;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use lanesum_checksum::error::message;
use lanesum_checksum::walk::{Entry, Exclude, Skip, WalkOptions, walk};

/// A directory that goes away with the test.
struct Tree(tempfile::TempDir);

impl Tree {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// In memory where the system offers that: disks take seconds for thousands of nested
    /// directories.
    fn in_memory() -> Self {
        Self(tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap()))
    }

    /// A tree of these files; a path that ends in `/` is a directory, `a -> b` a link.
    fn of(paths: &[&str]) -> Self {
        let tree = Self::new();
        for path in paths {
            tree.add(path.as_bytes());
        }
        tree
    }

    fn add(&self, path: impl AsRef<[u8]>) {
        let path = path.as_ref();
        if let Some(arrow) = path.windows(4).position(|window| window == b" -> ") {
            let link = self.parent_made(&path[..arrow]);
            symlink(OsStr::from_bytes(&path[arrow + 4..]), link).unwrap();
        } else if path.ends_with(b"/") {
            fs::create_dir_all(self.path(path)).unwrap();
        } else {
            fs::write(self.parent_made(path), path).unwrap();
        }
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        fs::write(self.parent_made(path.as_bytes()), content).unwrap();
    }

    fn path(&self, path: impl AsRef<[u8]>) -> PathBuf {
        self.0.path().join(OsStr::from_bytes(path.as_ref()))
    }

    fn parent_made(&self, path: &[u8]) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    /// Returns the items of a walk of the whole tree, as text.
    fn walk(&self, options: &WalkOptions) -> Vec<String> {
        self.walk_in("", options)
    }

    /// Returns the items of a walk of a part of the tree, as text without the path of the part.
    fn walk_in(&self, part: &str, options: &WalkOptions) -> Vec<String> {
        let root = self.path(part);
        walk(&root, options).map(|entry| words(&entry, &root)).collect()
    }
}

/// An entry in words, its path relative to a directory.
fn words(entry: &Entry, root: &Path) -> String {
    let path = entry.path().strip_prefix(root).unwrap().display();
    match entry {
        Entry::File(_) => path.to_string(),
        Entry::Skipped { why, .. } => format!("{path}: {why:?}"),
        Entry::Failed { error, .. } => format!("{path}: {}", message(error)),
    }
}

/// Returns the paths of a walk that finds only files.
fn files(root: impl AsRef<Path>, options: &WalkOptions) -> Vec<PathBuf> {
    walk(root.as_ref(), options)
        .map(|entry| match entry {
            Entry::File(path) => path,
            other => panic!("not a file: {other:?}"),
        })
        .collect()
}

fn plain() -> WalkOptions {
    WalkOptions::default()
}

fn following() -> WalkOptions {
    let mut options = plain();
    options.follow = true;
    options
}

fn excluding(patterns: &[&str]) -> WalkOptions {
    let mut options = plain();
    options.exclude = Exclude::new(patterns).unwrap();
    options
}

fn assert_send<T: Send>(value: T) -> T {
    value
}

#[test]
fn a_walk_can_move_to_another_thread() {
    let tree = Tree::of(&["a"]);
    let walk = assert_send(walk(&tree.path(""), &plain()));
    assert_eq!(std::thread::spawn(move || walk.count()).join().unwrap(), 1);
}

#[test]
fn every_skip_reason_has_its_own_message() {
    let all = [
        Skip::Fifo,
        Skip::Socket,
        Skip::BlockDevice,
        Skip::CharDevice,
        Skip::Unknown,
        Skip::Link,
        Skip::Excluded,
        Skip::OtherDevice,
        Skip::Loop,
        Skip::ForeignGit,
        Skip::BrokenGit,
    ];
    let words: std::collections::BTreeSet<String> = all.iter().map(Skip::to_string).collect();
    assert_eq!(words.len(), all.len());
    let says_what_is_done =
        |words: &String| words.ends_with("skipped") || words.contains("alone decide");
    assert!(words.iter().all(says_what_is_done), "{words:?}");
}
