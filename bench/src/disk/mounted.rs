//! A simulated disk with a file system, mounted until dropped.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::model::{Model, Work};
use super::served::{FILE, Served};
use super::tools::{self, LOSETUP, MKFS, MOUNT, UMOUNT};
use crate::options::Interrupt;

/// Of every disk; what is on it takes a quarter.
const DISK_BYTES: u64 = 4 << 30;
/// As Linux has a SATA disk, and storage behind a network.
const READ_AHEAD_KB: u32 = 128;

/// Tried so many times, so far apart: whoever was interrupted may hold a file for a moment.
const UNMOUNT_TRIES: u32 = 50;
const BETWEEN_TRIES: Duration = Duration::from_millis(100);

/// Unmounted in the order of its fields.
pub struct Disk {
    files: Mounted,
    device: LoopDevice,
    served: Served,
    model: Model,
}

impl Disk {
    /// Makes the disk `name` with an empty file system in [`Self::root`], for `fill` to fill, which
    /// is mounted read-only after that: so no program pays for what another one changed, and all
    /// read the same.
    ///
    /// The disk's own file lies in a folder of `devices`, its file system in one of `roots`.
    pub fn new<T>(
        model: Model,
        name: &str,
        devices: &Path,
        roots: &Path,
        interrupt: &Interrupt,
        fill: impl FnOnce(&Path) -> Result<T>,
    ) -> Result<(Self, T)> {
        let (below, root) = (devices.join(name), roots.join(name));
        fs::create_dir_all(&below)?;
        fs::create_dir_all(&root)?;
        let served = Served::mount(model, DISK_BYTES, &below, interrupt)
            .with_context(|| format!("mounting a disk through FUSE at {}", below.display()))?;
        let device = LoopDevice::attach(&below.join(FILE))?;
        device.tune(model)?;
        let now = "lazy_itable_init=0,lazy_journal_init=0,nodiscard";
        tools::run(MKFS, ["-q", "-E", now, &device.path])?;
        let files = Mounted::mount(&device.path, &root, "rw")?;
        fs::remove_dir(root.join("lost+found"))?;
        let content = fill(&root)?;
        drop(files);
        let files = Mounted::mount(&device.path, &root, "ro")?;
        // Mounting sets some of it anew.
        device.tune(model)?;
        Ok((Self { files, device, served, model }, content))
    }

    /// The folder of its file system.
    pub fn root(&self) -> &Path {
        &self.files.folder
    }

    /// From now on the disk needs its time, and counts.
    pub fn begin(&self) {
        self.served.begin();
    }

    /// What it did since [`Self::begin`].
    pub fn end(&self) -> Work {
        self.served.end()
    }

    /// A line for whoever reads the figures.
    pub fn describe(&self) -> Result<String> {
        let model = match self.model {
            Model::Rotating { mean_seek, rotation, bytes_per_s } => format!(
                "one head, {mean_seek:?} mean seek, {rotation:?} rotation, {} MB/s",
                bytes_per_s / 1e6
            ),
            Model::Far { latency, bytes_per_s, hands } => {
                format!("{hands} requests at once, each {latency:?} and {} MB/s", bytes_per_s / 1e6)
            }
        };
        let queue = ["rotational", "scheduler", "read_ahead_kb", "nr_requests"]
            .map(|name| Ok(format!("{name} {}", self.device.setting(name)?)));
        let queue = queue.into_iter().collect::<Result<Vec<_>>>()?.join(", ");
        Ok(format!("{model}; ext4, {}: {queue}", self.device.path))
    }
}

/// A file system, mounted until dropped.
struct Mounted {
    folder: PathBuf,
}

impl Mounted {
    fn mount(device: &str, folder: &Path, mode: &str) -> Result<Self> {
        let folder = folder.to_owned();
        let words = ["-t", "ext4", "-o", mode, device].map(OsStr::new);
        tools::run(MOUNT, words.into_iter().chain([folder.as_os_str()]))?;
        Ok(Self { folder })
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        unmount(&self.folder);
    }
}

/// Unmounts what is mounted at `folder`; where it stays in use, detaches it, to go when it is
/// free.
pub fn unmount(folder: &Path) {
    for _ in 1..UNMOUNT_TRIES {
        if tools::run(UMOUNT, [folder]).is_ok() {
            return;
        }
        thread::sleep(BETWEEN_TRIES);
    }
    if let Err(error) = tools::run(UMOUNT, ["--lazy".as_ref(), folder]) {
        eprintln!("lanesum-bench: {}: {error:#}; unmount it by hand", folder.display());
    }
}

/// A block device made of a file, until dropped.
struct LoopDevice {
    path: String,
}

impl LoopDevice {
    fn attach(file: &Path) -> Result<Self> {
        let words = ["--find".as_ref(), "--show".as_ref(), "--direct-io=on".as_ref(), file];
        let path = tools::run(LOSETUP, words)?;
        Ok(Self { path })
    }

    /// As Linux has such a disk by default.
    fn tune(&self, model: Model) -> Result<()> {
        let (rotational, scheduler) =
            if model.is_rotating() { ("1", "mq-deadline") } else { ("0", "none") };
        self.set("rotational", rotational)?;
        self.set("scheduler", scheduler)?;
        self.set("read_ahead_kb", &READ_AHEAD_KB.to_string())
    }

    fn set(&self, name: &str, value: &str) -> Result<()> {
        let path = self.queue(name);
        fs::write(&path, value).with_context(|| format!("{value} to {}", path.display()))
    }

    /// What is set; of several values the chosen one.
    fn setting(&self, name: &str) -> Result<String> {
        let path = self.queue(name);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        Ok(chosen(text.trim()).to_owned())
    }

    fn queue(&self, name: &str) -> PathBuf {
        let device = Path::new(&self.path).file_name().unwrap_or_default();
        Path::new("/sys/block").join(device).join("queue").join(name)
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        detach(&self.path);
    }
}

pub fn detach(device: &str) {
    if let Err(error) = tools::run(LOSETUP, ["--detach", device]) {
        eprintln!("lanesum-bench: {error:#}; `losetup --detach {device}` detaches it");
    }
}

/// Of `one [two] three`, `two`.
fn chosen(text: &str) -> &str {
    let chosen = text.split_once('[').and_then(|(_, rest)| Some(rest.split_once(']')?.0));
    chosen.unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_value_stands_in_brackets() {
        assert_eq!(chosen("none [mq-deadline] kyber"), "mq-deadline");
        assert_eq!(chosen("128"), "128");
    }
}
