//! The web page of the catalog's daemon: damaged and missing files, schedule, progress.
//!
//! | you want to | use |
//! |---|---|
//! | listen at an address or a socket | [`Door::open`] |
//! | serve the page there | [`Door::serve`], with a [`Daemon`] |
//!
//! Each page reads the catalog through its own read-only connection. Buttons pause, limit and
//! request scrubs as the commands do. `accept` and `forget` are commands only.
//!
//! ```text
//! interface to the caller                  daemon.rs, endpoint.rs, app.rs
//! address, socket, connections             door.rs, progress.rs
//! host names, origins, headers             guard.rs
//! codes, tokens, cookies                   login.rs
//! requests and answers                     routes.rs, steer.rs, live.rs, flow.rs
//! catalog -> plain data                    load.rs, view.rs
//! plain data -> HTML                       front.rs and its parts: verdict.rs, attention.rs,
//!                                          changes.rs, folders.rs, ages.rs, runs.rs, glossary.rs;
//!                                          file.rs, rows.rs, pages.rs, failure.rs
//! text                                     words.rs, commands.rs
//! static files                             style.css, script.js, icon.svg
//! ```
//!
//! Nothing here prints. The page has one thread, and up to four more that read the catalog.

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
#[cfg(test)]
mod tests;
mod verdict;
mod view;
mod words;

pub use daemon::{Daemon, Reading, Settings};
pub use door::Door;
pub use endpoint::Endpoint;
