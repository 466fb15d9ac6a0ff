//! Test files: made from a fixed seed, gone when their owner is dropped.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use nix::sys::statvfs::statvfs;
use tempfile::TempDir;

use crate::options::Interrupt;

const SEED: u64 = 0x6c61_6e65_7375_6d00;
const CHUNK_BYTES: usize = 1 << 20;
const FILES_PER_FOLDER: usize = 1000;
/// Room for what the competitors print, and to spare.
const MARGIN_BYTES: u64 = 256 << 20;

/// A folder of its own below the scratch folder, removed with all that is in it when dropped, so
/// after an error or a signal as well.
pub struct Scratch {
    folder: TempDir,
}

impl Scratch {
    /// # Errors
    ///
    /// If the file system of `parent` has no room for `bytes`, or memory has none where that is a
    /// tmpfs.
    pub fn new(parent: &Path, bytes: u64) -> Result<Self> {
        let named = || format!("scratch folder {}", parent.display());
        let status = statvfs(parent).with_context(named)?;
        let room = status.blocks_available() * status.fragment_size();
        require("free there", bytes + MARGIN_BYTES, room).with_context(named)?;
        if is_tmpfs(parent)? {
            require("of memory available", bytes + MARGIN_BYTES, available_memory()?)
                .with_context(named)?;
        }
        let folder = tempfile::Builder::new()
            .prefix("lanesum-bench.")
            .tempdir_in(parent)
            .with_context(named)?;
        Ok(Self { folder })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The folder that [`Self::make_files`] fills.
    pub fn tree(&self) -> PathBuf {
        self.path().join("tree")
    }

    /// Makes `count` files of `bytes` bytes each in folders of a thousand below [`Self::tree`];
    /// returns their paths, in byte order.
    pub fn make_files(
        &self,
        count: usize,
        bytes: usize,
        interrupt: &Interrupt,
    ) -> Result<Vec<PathBuf>> {
        let mut random = fastrand::Rng::with_seed(SEED);
        let mut chunk = vec![0; CHUNK_BYTES.min(bytes)];
        let mut paths = Vec::with_capacity(count);
        for index in 0..count {
            let folder = self.tree().join(format!("{:03}", index / FILES_PER_FOLDER));
            if index % FILES_PER_FOLDER == 0 {
                fs::create_dir_all(&folder)?;
            }
            let path = folder.join(format!("{:03}.bin", index % FILES_PER_FOLDER));
            fill(&path, bytes, &mut chunk, &mut random, interrupt)
                .with_context(|| path.display().to_string())?;
            paths.push(path);
        }
        Ok(paths)
    }

    /// Writes the names, each ended by NUL, for `xargs -0` and its like; returns the list's path.
    pub fn write_list(&self, paths: &[PathBuf]) -> Result<PathBuf> {
        let list = self.path().join("list");
        let mut text = Vec::new();
        for path in paths {
            text.extend_from_slice(path.as_os_str().as_bytes());
            text.push(0);
        }
        fs::write(&list, text).with_context(|| list.display().to_string())?;
        Ok(list)
    }
}

fn fill(
    path: &Path,
    bytes: usize,
    chunk: &mut [u8],
    random: &mut fastrand::Rng,
    interrupt: &Interrupt,
) -> Result<()> {
    let mut file = File::create(path)?;
    let mut left = bytes;
    while left > 0 {
        interrupt.check()?;
        let part = left.min(chunk.len());
        random.fill(&mut chunk[..part]);
        file.write_all(&chunk[..part])?;
        left -= part;
    }
    Ok(())
}

fn require(what: &str, needed: u64, there: u64) -> Result<()> {
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    ensure!(
        needed <= there,
        "{} MiB needed, {} MiB {what}: {} MiB missing; make room, name another with --scratch, or \
         leave the case out with --only",
        mib(needed),
        mib(there),
        mib(needed - there),
    );
    Ok(())
}

/// Whether `folder` lies on a tmpfs, by the longest mount point above it.
fn is_tmpfs(folder: &Path) -> Result<bool> {
    let mounts = fs::read_to_string("/proc/self/mounts").context("/proc/self/mounts")?;
    let folder = folder.canonicalize()?;
    Ok(file_system_of(&folder, &mounts) == Some("tmpfs"))
}

fn file_system_of<'text>(folder: &Path, mounts: &'text str) -> Option<&'text str> {
    mounts
        .lines()
        .filter_map(|line| {
            let mut fields = line.split_ascii_whitespace().skip(1);
            Some((Path::new(fields.next()?), fields.next()?))
        })
        .filter(|(point, _)| folder.starts_with(point))
        // The last of equals, since a later mount covers an earlier one.
        .max_by_key(|(point, _)| point.as_os_str().len())
        .map(|(_, kind)| kind)
}

fn available_memory() -> Result<u64> {
    let meminfo = fs::read_to_string("/proc/meminfo").context("/proc/meminfo")?;
    let kib = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))
        .and_then(|value| value.trim().strip_suffix(" kB"))
        .context("/proc/meminfo has no MemAvailable")?;
    Ok(kib.parse::<u64>()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_their_size_and_differ_and_go_with_their_owner() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(parent.path(), 0).unwrap();
        let interrupt = Interrupt::default();
        let paths = scratch.make_files(1001, 33, &interrupt).unwrap();
        assert!(paths.is_sorted());
        assert_eq!(paths[1000], scratch.tree().join("001/000.bin"));
        let contents: Vec<_> = paths.iter().map(|path| fs::read(path).unwrap()).collect();
        assert!(contents.iter().all(|content| content.len() == 33));
        assert_ne!(contents[0], contents[1]);
        let list = fs::read(scratch.write_list(&paths).unwrap()).unwrap();
        assert_eq!(list.split(|&byte| byte == 0).count(), 1002);
        drop(scratch);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_size_beyond_one_chunk_is_reached() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(parent.path(), 0).unwrap();
        let paths = scratch.make_files(1, CHUNK_BYTES + 5, &Interrupt::default()).unwrap();
        assert_eq!(fs::metadata(&paths[0]).unwrap().len(), CHUNK_BYTES as u64 + 5);
    }

    #[test]
    fn missing_room_is_counted() {
        let parent = tempfile::tempdir().unwrap();
        let error = format!("{:#}", Scratch::new(parent.path(), 1 << 60).err().expect("no room"));
        assert!(error.contains("1099511628032 MiB needed"), "{error}");
        assert!(error.contains(&parent.path().display().to_string()), "{error}");
    }

    #[test]
    fn the_innermost_and_latest_mount_counts() {
        let mounts = "dev / ext4 rw 0 0\ntmpfs /dev/shm tmpfs rw 0 0\ndev /dev ext4 rw 0 0\n\
                      dev /mnt ext4 rw 0 0\ntmpfs /mnt tmpfs rw 0 0\n";
        let kind = |folder| file_system_of(Path::new(folder), mounts);
        assert_eq!(kind("/dev/shm/x"), Some("tmpfs"));
        assert_eq!(kind("/dev/shmoo"), Some("ext4"));
        assert_eq!(kind("/mnt"), Some("tmpfs"));
        assert_eq!(kind("/home"), Some("ext4"));
    }
}
