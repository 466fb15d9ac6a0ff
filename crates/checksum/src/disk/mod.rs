//! What file systems tell of directories: what is mounted in them, which volume they are on, and
//! what is at a path in them.

mod directory;
mod mounts;
mod network;
mod probe;

pub use directory::DirectoryId;
pub use mounts::{MOUNT_TABLE, MountTable, Mounts, MountsError};
pub use network::network_of;
pub use probe::{Probe, There};
