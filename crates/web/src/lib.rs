//! The page of the catalog's daemon: what is not well, what is due, how it goes.
//!
//! | you want | take |
//! |---|---|
//! | an endpoint to be reached at | [`Door::open`]: an address or a socket |
//! | the page there | [`Door::serve`], with what the daemon is, a [`Daemon`] |
//!
//! Everything is read from the catalog through connections that cannot write, one for each page
//! that is made. What steers scrubs goes the way of `lanesum pause` and the like; to accept what is
//! there, or to forget it, is for commands alone.
//!
//! ```text
//! what the caller gives and is told       daemon.rs, endpoint.rs, app.rs
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

mod ages;
mod app;
mod attention;
mod changes;
mod commands;
mod daemon;
mod door;
mod endpoint;
mod failure;
mod file;
mod flow;
mod folders;
mod front;
mod glossary;
mod guard;
mod live;
mod load;
mod login;
mod pages;
mod progress;
mod routes;
mod rows;
mod runs;
#[cfg(test)]
mod samples;
mod steer;
mod verdict;
mod view;
mod words;

pub use daemon::{Daemon, Reading, Settings};
pub use door::Door;
pub use endpoint::Endpoint;

/// The example of the page on the registry, tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
