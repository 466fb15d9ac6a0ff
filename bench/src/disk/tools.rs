//! What a simulated disk needs of the machine.

use std::env;
use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use nix::unistd::geteuid;

use crate::peers::{REMEDY, first_words};

pub const LOSETUP: &str = "losetup";
pub const MKFS: &str = "mkfs.ext4";
pub const MOUNT: &str = "mount";
pub const UMOUNT: &str = "umount";

/// Where they lie; a user's PATH may lack the folders of the administrator.
const FOLDERS: [&str; 2] = ["/usr/sbin", "/sbin"];

/// What is missing, with the remedy; none where disks can be made.
pub fn missing() -> Option<String> {
    if !geteuid().is_root() {
        return Some("no root: only root mounts; run it with sudo".to_owned());
    }
    for (device, module) in [("/dev/fuse", "fuse"), ("/dev/loop-control", "loop")] {
        if let Err(error) = File::options().read(true).write(true).open(device) {
            return Some(format!("no {device} ({error}): `modprobe {module}` brings it"));
        }
    }
    let tools = [LOSETUP, MKFS, MOUNT, UMOUNT];
    let missing = tools.into_iter().find(|tool| find(tool).is_none())?;
    Some(format!("no {missing}: {REMEDY}"))
}

/// Runs a tool and returns what it printed, without the end of its last line.
///
/// # Errors
///
/// With the tool's own words, if it fails.
pub fn run<S: AsRef<OsStr>>(tool: &str, arguments: impl IntoIterator<Item = S>) -> Result<String> {
    let path = find(tool).with_context(|| format!("no {tool}: {REMEDY}"))?;
    let output = Command::new(path)
        .args(arguments)
        .env("LC_ALL", "C")
        .output()
        .with_context(|| tool.to_owned())?;
    if !output.status.success() {
        bail!("{tool}: {}", first_words(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

fn find(tool: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(FOLDERS.map(PathBuf::from));
    folders.map(|folder| folder.join(tool)).find(|tool| Path::is_file(tool))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_fails_is_quoted() {
        let error = run("ls", ["/nowhere/to/be/found"]).unwrap_err().to_string();
        assert!(error.starts_with("ls: ") && error.contains("/nowhere/to/be/found"), "{error}");
        assert_eq!(run("echo", ["a", "b"]).unwrap(), "a b");
    }

    #[test]
    fn a_tool_that_is_missing_is_named_with_the_remedy() {
        let error = run("lanesum-no-such-tool", ["x"]).unwrap_err().to_string();
        assert!(error.contains("no lanesum-no-such-tool") && error.contains(REMEDY), "{error}");
    }
}
