//! Trees deeper than paths may be long.

use std::fs::File;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, unlinkat};

use super::*;

/// A chain of directories below a tree's own, with a file in each. It is taken down level by level:
/// `remove_dir_all` would need a descriptor for each.
struct Chain {
    name: String,
    depth: usize,
    deepest: OwnedFd,
    _tree: Tree,
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl Chain {
    fn new(tree: Tree, name: &str, depth: usize) -> Self {
        let mut deepest = OwnedFd::from(File::open(tree.path("")).unwrap());
        for _ in 0..depth {
            mkdirat(&deepest, name, Mode::RWXU).unwrap();
            deepest = openat(&deepest, name, FOLDER, Mode::empty()).unwrap();
            openat(&deepest, "file", OFlags::CREATE | OFlags::WRONLY, Mode::RUSR).unwrap();
        }
        Self { name: name.to_owned(), depth, deepest, _tree: tree }
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        for _ in 0..self.depth {
            unlinkat(&self.deepest, "file", AtFlags::empty()).unwrap();
            self.deepest = openat(&self.deepest, "..", FOLDER, Mode::empty()).unwrap();
            unlinkat(&self.deepest, self.name.as_str(), AtFlags::REMOVEDIR).unwrap();
        }
    }
}

/// Walks a chain in a thread with a small stack. Returns the lengths of the paths below the root.
fn lengths(name: &str, depth: usize, options: WalkOptions) -> Vec<usize> {
    let tree = Tree::in_memory();
    let root = tree.path("");
    let _chain = Chain::new(tree, name, depth);
    let walk = move || {
        let root_len = root.as_os_str().len();
        let files = files(root, &options);
        files.iter().map(|path| path.as_os_str().len() - root_len).collect()
    };
    std::thread::Builder::new().stack_size(128 << 10).spawn(walk).unwrap().join().unwrap()
}

#[test]
fn five_thousand_levels_are_walked() {
    for options in [plain(), following()] {
        // `d/` sorts before `file`, so that the deepest file comes first.
        let expected: Vec<usize> =
            (1..=5_000).rev().map(|depth| 2 * depth + "file".len()).collect();
        assert_eq!(lengths("d", 5_000, options), expected);
    }
}

#[test]
fn paths_far_beyond_path_max_are_walked() {
    let name = "d".repeat(255);
    let expected: Vec<usize> = (1..=600).rev().map(|depth| 256 * depth + "file".len()).collect();
    assert_eq!(lengths(&name, 600, plain()), expected);
}
