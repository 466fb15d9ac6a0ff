//! Disks to measure on that do not exist.
//!
//! ```text
//! a file system (ext4)      page cache, readahead: the kernel's own
//! a loop device             I/O scheduler: the kernel's own
//! one file, through FUSE    served.rs: answers when the model says so
//! the model                 model.rs: what a request costs; counts requests, seeks, bytes, time
//! the image                 image.rs: what is on the disk, in memory
//! ```
//!
//! The loop device opens the file for direct I/O, so nothing is cached below it. Only the disk
//! itself is simulated; everything that decides which requests it gets is real.

mod content;
mod image;
mod leftovers;
mod model;
mod mounted;
mod served;
mod tools;

pub use content::{Content, FileOnDisk, shuffled};
pub use leftovers::remove as remove_leftovers;
pub use model::{FAR, Model, ROTATING, Work};
pub use mounted::Disk;
pub use tools::missing;
