//! What a bench that was killed left mounted.
//!
//! Its disks cannot be read any more, since they are not served; whoever looks at one gets an
//! error. So they are told from those of a bench that runs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Result;
use nix::errno::Errno;

use super::mounted::{detach, unmount};
use super::served::{FILE, SOURCE};

/// Removes it, and says so.
pub fn remove() -> Result<()> {
    let mounts = fs::read_to_string("/proc/self/mounts")?;
    for dead in mounted_from(&mounts, SOURCE).into_iter().filter(|folder| is_dead(folder)) {
        let file = dead.join(FILE);
        for device in devices_on(&file)? {
            for folder in mounted_from(&mounts, &device) {
                unmount(&folder);
            }
            detach(&device);
        }
        unmount(&dead);
        eprintln!("lanesum-bench: removed a disk that a killed run left at {}", dead.display());
    }
    Ok(())
}

fn is_dead(folder: &Path) -> bool {
    let is_dead = |error: io::Error| error.raw_os_error() == Some(Errno::ENOTCONN as i32);
    fs::metadata(folder).err().is_some_and(is_dead)
}

/// Where the file systems of a device are mounted.
fn mounted_from(mounts: &str, device: &str) -> Vec<PathBuf> {
    let folder = |line: &str| {
        let (own, rest) = line.split_once(' ')?;
        let (folder, _) = rest.split_once(' ')?;
        (own == device).then(|| unescape(folder))
    };
    mounts.lines().filter_map(folder).collect()
}

/// As the kernel writes blanks and backslashes: three octal digits.
fn unescape(text: &str) -> PathBuf {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        plain += before;
        let code = after.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        plain.push(code.map_or('\\', char::from));
        rest = if code.is_some() { &after[3..] } else { after };
    }
    PathBuf::from(plain + rest)
}

/// The loop devices that are made of `file`.
fn devices_on(file: &Path) -> io::Result<Vec<String>> {
    let mut devices = Vec::new();
    for entry in fs::read_dir("/sys/block")? {
        let name = entry?.file_name();
        let backing = Path::new("/sys/block").join(&name).join("loop/backing_file");
        if fs::read_to_string(backing).is_ok_and(|own| Path::new(own.trim_end()) == file) {
            devices.push(format!("/dev/{}", name.to_string_lossy()));
        }
    }
    Ok(devices)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "tmpfs /dev/shm tmpfs rw 0 0\n\
        lanesum-bench /dev/shm/a\\040b/devices/0 fuse rw 0 0\n\
        /dev/loop0 /dev/shm/a\\040b/roots/0 ext4 ro 0 0\n\
        sshfs /mnt fuse.sshfs rw 0 0\n";

    #[test]
    fn own_disks_and_what_is_on_them_are_found() {
        assert_eq!(mounted_from(MOUNTS, SOURCE), [Path::new("/dev/shm/a b/devices/0")]);
        assert_eq!(mounted_from(MOUNTS, "/dev/loop0"), [Path::new("/dev/shm/a b/roots/0")]);
        assert!(mounted_from(MOUNTS, "/dev/loop1").is_empty());
    }

    #[test]
    fn escapes_of_the_kernel_are_undone() {
        assert_eq!(unescape("a\\040b\\134c"), Path::new("a b\\c"));
        assert_eq!(unescape("a\\9"), Path::new("a\\9"));
    }

    #[test]
    fn a_folder_that_can_be_read_is_not_dead() {
        assert!(!is_dead(Path::new("/")) && !is_dead(Path::new("/nowhere/to/be/found")));
    }
}
