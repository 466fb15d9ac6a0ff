//! `check --side-files`: finds the side files of trees, such as `x.bam.md5` beside `x.bam`.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use lanesum_checksum::check::List;
use lanesum_checksum::walk::{Entry, WalkOptions, walk};
use lanesum_list::formats::side_file;

use crate::console::Console;
use crate::counts::files;

/// The side files of trees.
#[derive(Default)]
pub struct SideFiles {
    pub lists: Vec<List>,
    /// Whether a directory could not be read, so that side files may be missing.
    pub is_incomplete: bool,
}

impl SideFiles {
    /// Finds the side files, in the order of the trees and their paths. Prints how many other files
    /// have none, and which directories cannot be read.
    pub fn find(trees: &[PathBuf], console: &mut Console) -> Self {
        let mut found = Self::default();
        for tree in trees {
            let about = tree.as_os_str().as_bytes();
            let (mut named, mut others) = (HashSet::new(), Vec::new());
            let (before, mut is_read) = (found.lists.len(), true);
            for entry in walk(tree, &WalkOptions::default()) {
                match entry {
                    Entry::File(path) => match side_file(path.as_os_str().as_bytes()) {
                        Some((file, _)) => {
                            named.insert(file.to_vec());
                            found.lists.push(List::Path(path));
                        }
                        None => others.push(path),
                    },
                    Entry::Failed { path, error } => {
                        (found.is_incomplete, is_read) = (true, false);
                        let words = lanesum_checksum::error::message(&error);
                        console.about(path.as_os_str().as_bytes(), &words);
                    }
                    Entry::Skipped { .. } => {}
                }
            }
            others.retain(|path| !named.contains(path.as_os_str().as_bytes()));
            if found.lists.len() == before && is_read {
                found.is_incomplete = true;
                console.about(about, "no side files, such as NAME.md5 or NAME.sha256");
            } else if !others.is_empty() {
                let have = if others.len() == 1 { "has" } else { "have" };
                let words = format!("{} {have} no side file", files(others.len() as u64));
                console.about(about, &words);
            }
        }
        found
    }
}
