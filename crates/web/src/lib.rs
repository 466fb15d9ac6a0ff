//! The page of the catalog's daemon: what is not well, what is due, how it goes.
//!
//! | you want | take |
//! |---|---|
//! | a place to be reached at | [`Door::open`]: an address or a socket |
//! | the page there | [`Door::serve`], with what the daemon is, a [`Daemon`] |
//!
//! Everything is read from the catalog through connections that cannot write, one for each page
//! that is made. What steers scrubs goes the way of `lanesum pause` and the like; to accept what is
//! there, or to forget it, is for commands alone.
//!
//! ```text
//! an address or a socket, connections      door.rs
//! who may ask: Host, Origin, headers       guard.rs
//! who is logged in: codes, cookies         login.rs
//! what is answered                         routes.rs, steer.rs, live.rs, flow.rs
//! pages                                    pages.rs, bad.rs, folders.rs, history.rs, svg.rs,
//!                                          words.rs
//! what a browser fetches beside them       style.css, script.js, icon.svg
//! ```
//!
//! Nothing here prints. One thread is started, and up to four that read the catalog.

#![forbid(unsafe_code)]

mod bad;
mod door;
mod flow;
mod folders;
mod guard;
mod history;
mod live;
mod login;
mod pages;
mod routes;
mod steer;
mod svg;
mod words;

use std::path::PathBuf;
use std::time::Duration;

pub use door::{Door, Place};

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

/// The example of the page on the registry, tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
