//! The files that are missing in a list.

use crate::console::Console;

/// The maximum number of names in the message.
const TOLD: usize = 10;

/// The files that could not be read.
#[derive(Debug, Default)]
pub struct Missing {
    count: u64,
    /// The first ones.
    names: Vec<Vec<u8>>,
    /// Whether some may be directories, with everything below them.
    has_folders: bool,
    /// Whether further files are unknown.
    has_unknown: bool,
}

/// The missing files after a read error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    File,
    /// A file, or a directory with everything below it.
    Tree,
    /// All files that an input would have named.
    Unknown,
}

impl Missing {
    /// Records that the file or directory `name` could not be read.
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

    /// Prints the message about the list `list`.
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
            (1, false) => "1 file was",
            (1, true) => "1 file or directory was",
            (count, false) => &format!("{count} files were"),
            (count, true) => &format!("{count} files or directories were"),
        };
        let at_least = if self.has_unknown { "at least " } else { "" };
        format!("incomplete: {at_least}{things} left out")
    }
}
