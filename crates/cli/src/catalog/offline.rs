//! Messages and hints for offline roots.

use std::path::Path;

use lanesum_catalog::{Offline, Profile, Reason, Root};

use super::commands::Commands;
use crate::counts::files;

/// The hint for what this user must not read.
pub const PERMISSION: &str = "give this user permission to read it";

/// Returns the reason why a root is offline.
pub fn words(offline: &Offline) -> String {
    match offline.reason {
        Reason::TooManyMissing => format!("{} missing", files(offline.missing)),
        reason => words_of(reason).to_owned(),
    }
}

/// Returns the same without a count.
pub const fn words_of(reason: Reason) -> &'static str {
    match reason {
        Reason::Missing => "missing",
        Reason::Empty => "empty",
        Reason::OtherVolume => "a different disk or directory is there",
        Reason::TooManyMissing => "too many files are missing",
        Reason::MountedOver => "a different file system is mounted over it",
        _ => "cannot be read",
    }
}

/// Returns the hint for an offline root.
pub fn hint(root: &Root, reason: Reason, commands: Commands<'_>) -> String {
    let path = &root.path;
    if reason == Reason::Missing
        && let Some(renamed) = root.find_renamed()
    {
        return commands.relocate(path, &renamed);
    }
    let hint = hint_for(path, reason, commands);
    match (reason, root.settings.profile) {
        // In a working root, the update deletes the records.
        (Reason::TooManyMissing, Profile::Archive) => {
            format!("{hint}; {}", commands.about("forget --missing", path))
        }
        _ => hint,
    }
}

/// Returns the same without searching for a renamed directory.
pub fn hint_for(path: &Path, reason: Reason, commands: Commands<'_>) -> String {
    match reason {
        Reason::Missing => "connect or mount its disk".to_owned(),
        Reason::Empty => format!(
            "connect or mount its disk; if all its files were deleted: {}",
            commands.about("forget", path)
        ),
        Reason::OtherVolume => {
            format!("bring back the right one, or use this one: {}", commands.relocate(path, path))
        }
        Reason::TooManyMissing => format!(
            "if they were deleted on purpose: {}",
            commands.about("update --max-gone 100", path)
        ),
        Reason::MountedOver => "unmount that file system".to_owned(),
        _ => PERMISSION.to_owned(),
    }
}
