//! What a list lacks.

use crate::console::Console;

/// As many names are told at most.
const TOLD: usize = 10;

/// What could not be read.
#[derive(Debug, Default)]
pub struct Missing {
    count: u64,
    /// The first ones.
    names: Vec<Vec<u8>>,
    /// Whether some of them may be folders, with everything below.
    has_folders: bool,
    /// Whether it is not known what else.
    has_unknown: bool,
}

/// What is missing where something could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    File,
    /// A file, or a folder with everything below.
    Tree,
    /// Whatever would have been named.
    Unknown,
}

impl Missing {
    /// Notes that what is at `name` could not be read.
    pub fn note(&mut self, gap: Gap, name: &[u8]) {
        if gap == Gap::Unknown {
            self.has_unknown = true;
            return;
        }
        self.has_folders |= gap == Gap::Tree;
        self.count += 1;
        if self.names.len() < TOLD {
            self.names.push(name.to_vec());
        }
    }

    pub fn is_none(&self) -> bool {
        self.count == 0 && !self.has_unknown
    }

    /// Says it of the list called `list`.
    pub fn tell(&self, list: &[u8], console: &mut Console) {
        let mut words = Vec::new();
        console.quote(&mut words, list);
        words.extend_from_slice(b": ");
        words.extend_from_slice(self.number().as_bytes());
        for (index, name) in self.names.iter().enumerate() {
            words.extend_from_slice(if index == 0 { b": " } else { b", " });
            console.quote(&mut words, name);
        }
        let untold = self.count - self.names.len() as u64;
        if untold > 0 {
            words.extend_from_slice(format!(" and {untold} more").as_bytes());
        }
        console.message(&words);
    }

    fn number(&self) -> String {
        let things = match (self.count, self.has_folders) {
            (0, _) => return "incomplete: not all files could be read".to_owned(),
            (1, false) => "1 file is",
            (1, true) => "1 file or directory is",
            (count, false) => &format!("{count} files are"),
            (count, true) => &format!("{count} files or directories are"),
        };
        let at_least = if self.has_unknown { "at least " } else { "" };
        format!("incomplete: {at_least}{things} missing")
    }
}
