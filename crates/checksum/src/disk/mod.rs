//! Information about directories from the system: mounts below them, their volume, and the kind of
//! an object at a path.

mod directory;
mod mounts;
mod network;
mod probe;

pub use directory::DirectoryId;
pub use mounts::{MOUNT_TABLE, MountTable, Mounts, MountsError};
pub use network::network_of;
pub use probe::{PathState, Probe};
