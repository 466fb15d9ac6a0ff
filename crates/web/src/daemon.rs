//! What the page knows of the daemon that it belongs to, and what it is made with.

use std::path::PathBuf;
use std::time::Duration;

/// The daemon whose page it is.
pub trait Daemon: Send + Sync + 'static {
    /// What is read at the moment, if anything is.
    fn reading(&self) -> Option<Reading>;

    /// Tells whoever may log in the code that does it once. It is called when the page begins to be
    /// served, and whenever a code was used, from the page's own thread.
    fn tell_code(&self, code: &str);
}

/// How far a part is that is being read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The folder.
    pub root: PathBuf,
    /// Files that are read in this part.
    pub of_files: u64,
    /// Bytes of theirs.
    pub of_bytes: u64,
    /// Files that were read.
    pub files: u64,
    /// Bytes that were.
    pub bytes: u64,
    /// Bytes a second, lately.
    pub rate: u64,
    /// Until the part is read, if it goes on like this.
    pub left: Option<Duration>,
}

/// What a page is made with.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The catalog.
    pub catalog: PathBuf,
    /// Names that a browser may call the page by, beside those of this machine itself: of a proxy
    /// that forwards to it, for one.
    pub names: Vec<String>,
    /// What logs in, in place of codes that do it once.
    pub token: Option<String>,
}
