//! What is on every disk: a few big files and many small ones, and their digests.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use rustcrypto_md5::{Digest as _, Md5};

use crate::options::Interrupt;

const BIG: &str = "big";
const SMALL: &str = "small";

const BIG_FILES: usize = 24;
const BIG_BYTES: usize = 40_000_000;
const SMALL_FILES: usize = 6000;
const SMALL_BYTES: usize = 20_000;
const SMALL_PER_FOLDER: usize = 100;

const SHUFFLE_SEED: u64 = 0x6469_736b;

/// A file that was written.
#[derive(Clone, Debug, PartialEq)]
pub struct FileOnDisk {
    pub path: PathBuf,
    pub bytes: u64,
    /// MD5 of what was written, in hex.
    pub digest: String,
}

/// The files of a disk, in byte order of their paths.
pub struct Content {
    files: Vec<FileOnDisk>,
    root: PathBuf,
}

impl Content {
    /// Makes the files below `root`, `scale` times fewer than there are by default. Two disks with
    /// the same seed hold the same.
    pub fn make(root: &Path, seed: u64, scale: usize, interrupt: &Interrupt) -> Result<Self> {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut files = Vec::new();
        let mut make = |path: PathBuf, bytes| -> Result<()> {
            interrupt.check()?;
            fs::create_dir_all(path.parent().unwrap_or(root))?;
            let mut data = vec![0; bytes];
            random.fill(&mut data);
            fs::write(&path, &data).with_context(|| path.display().to_string())?;
            let digest = hex_md5(&data);
            files.push(FileOnDisk { path, bytes: bytes as u64, digest });
            Ok(())
        };
        let (big, small) = counts(scale);
        for index in 0..big {
            make(root.join(BIG).join(format!("{index:02}")), BIG_BYTES)?;
        }
        for index in 0..small {
            let folder = format!("{:02}", index / SMALL_PER_FOLDER);
            make(root.join(SMALL).join(folder).join(format!("{index:04}")), SMALL_BYTES)?;
        }
        Ok(Self { files, root: root.to_owned() })
    }

    /// What the files take.
    pub fn bytes(scale: usize) -> u64 {
        let (big, small) = counts(scale);
        (big * BIG_BYTES + small * SMALL_BYTES) as u64
    }

    /// The folder of the big files.
    pub fn big(&self) -> PathBuf {
        self.root.join(BIG)
    }

    /// The folder of the small files.
    pub fn small(&self) -> PathBuf {
        self.root.join(SMALL)
    }

    /// The files below `folder`, in byte order of their paths.
    pub fn below(&self, folder: &Path) -> Vec<FileOnDisk> {
        let is_below = |file: &&FileOnDisk| file.path.starts_with(folder);
        self.files.iter().filter(is_below).cloned().collect()
    }
}

fn hex_md5(data: &[u8]) -> String {
    Md5::digest(data).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// How many big and small files there are, at least one of each.
fn counts(scale: usize) -> (usize, usize) {
    ((BIG_FILES / scale).max(1), (SMALL_FILES / scale).max(1))
}

/// In an order that has nothing to do with the one on the disk, the same in every run.
pub fn shuffled(mut files: Vec<FileOnDisk>) -> Vec<FileOnDisk> {
    fastrand::Rng::with_seed(SHUFFLE_SEED).shuffle(&mut files);
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_in_order_and_have_the_digests_of_their_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let content = Content::make(folder.path(), 1, 1000, &Interrupt::default()).unwrap();
        let all = content.below(folder.path());
        assert_eq!(all.len(), 1 + 6);
        assert!(all.is_sorted_by_key(|file| file.path.clone()));
        assert_eq!(content.below(&content.big()), all[..1]);
        assert_eq!(content.below(&content.small()), all[1..]);
        assert_ne!(all[1].digest, all[2].digest);
        for file in all {
            let data = fs::read(&file.path).unwrap();
            assert_eq!(data.len() as u64, file.bytes);
            assert_eq!(hex_md5(&data), file.digest);
        }
    }

    #[test]
    fn the_same_seed_makes_the_same_files() {
        let digests = |seed| {
            let folder = tempfile::tempdir().unwrap();
            let content = Content::make(folder.path(), seed, 6000, &Interrupt::default()).unwrap();
            let files = content.below(&content.small());
            files.into_iter().map(|file| file.digest).collect::<Vec<_>>()
        };
        assert_eq!(digests(1), digests(1));
        assert_ne!(digests(1), digests(2));
    }

    #[test]
    fn shuffling_keeps_every_file_and_is_the_same_every_time() {
        let files: Vec<FileOnDisk> = (0..100)
            .map(|index| FileOnDisk {
                path: PathBuf::from(format!("{index:02}")),
                bytes: 1,
                digest: String::new(),
            })
            .collect();
        let list = shuffled(files.clone());
        assert_eq!(list, shuffled(files.clone()));
        let steps = list.windows(2).filter(|pair| pair[0].path < pair[1].path).count();
        assert!((30..70).contains(&steps), "{steps} of 99 go forward");
        let mut sorted = list;
        sorted.sort_by_key(|file| file.path.clone());
        assert_eq!(sorted, files);
    }
}
