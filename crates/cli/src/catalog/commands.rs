//! Commands as hints show them: with the catalog that is in use, quoted for the shell.

use std::path::{self, Path};

use crate::args::Where;
use crate::console::Console;

/// Writes the commands of hints.
#[derive(Clone, Copy)]
pub struct Commands<'a> {
    pub place: &'a Where,
    pub console: &'a Console,
}

impl Commands<'_> {
    /// `lanesum VERB`, with the catalog if the command line named it.
    pub fn of(&self, verb: &str) -> String {
        let mut words = format!("lanesum {verb}");
        if let Some(path) = &self.place.catalog {
            let absolute = path::absolute(path).unwrap_or_else(|_| path.clone());
            words += " --catalog ";
            words += &self.console.shown(absolute);
        }
        words
    }

    /// `lanesum VERB PATH`.
    pub fn about(&self, verb: &str, path: &Path) -> String {
        format!("{} {}", self.of(verb), self.operand(path))
    }

    /// `lanesum relocate OLD NEW`.
    pub fn relocate(&self, old: &Path, new: &Path) -> String {
        format!("{} {}", self.about("relocate", old), self.operand(new))
    }

    /// A path as an operand. One that begins with a dash would be an option.
    fn operand(&self, path: &Path) -> String {
        let is_dashed = path.as_os_str().as_encoded_bytes().starts_with(b"-");
        self.console.shown(if is_dashed { Path::new(".").join(path) } else { path.to_owned() })
    }
}
