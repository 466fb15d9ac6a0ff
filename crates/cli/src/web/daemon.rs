//! The interface of the program that serves the page.

use std::path::PathBuf;
use std::time::Duration;

/// The daemon that the page belongs to.
pub trait Daemon: Send + Sync + 'static {
    /// Returns the progress of the current read, if there is one.
    fn reading(&self) -> Option<Reading>;

    /// Shows users the code to log in with, which is valid once. The page calls it from its own
    /// thread: at the start, and after each login.
    fn show_code(&self, code: &str);
}

/// The progress of a read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The root.
    pub root: PathBuf,
    /// Files to read.
    pub of_files: u64,
    /// Bytes to read.
    pub of_bytes: u64,
    /// Files that were read.
    pub files: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// Bytes per second, recently.
    pub rate: u64,
    /// The time left at this rate.
    pub left: Option<Duration>,
}

/// Settings of a page.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The catalog.
    pub catalog: PathBuf,
    /// Host names of the page beside those of the loopback address, for example that of a proxy.
    pub names: Vec<String>,
    /// A token to log in with, in place of codes.
    pub token: Option<String>,
}
