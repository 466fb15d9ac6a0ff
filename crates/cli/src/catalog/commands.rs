//! Commands in hints, with the catalog in use, quoted for the shell.

use std::path::{self, Path};

use crate::args::Where;
use crate::console::Console;

/// Formats the commands of hints.
#[derive(Clone, Copy)]
pub struct Commands<'a> {
    pub place: &'a Where,
    pub console: &'a Console,
}

impl Commands<'_> {
    /// Returns `lanesum VERB`, with the catalog if the command line names it.
    pub fn of(&self, verb: &str) -> String {
        let mut words = format!("lanesum {verb}");
        if let Some(path) = &self.place.catalog {
            words += &format!(" --catalog {}", self.operand(path));
        }
        words
    }

    /// Returns `lanesum VERB PATH`.
    pub fn about(&self, verb: &str, path: &Path) -> String {
        format!("{} {}", self.of(verb), self.operand(path))
    }

    /// Returns `lanesum relocate OLD NEW`.
    pub fn relocate(&self, old: &Path, new: &Path) -> String {
        format!("{} {}", self.about("relocate", old), self.operand(new))
    }

    /// Returns a path as an operand, absolute so that the command works in every directory.
    fn operand(&self, path: &Path) -> String {
        self.console.shown(path::absolute(path).unwrap_or_else(|_| path.to_owned()))
    }
}
