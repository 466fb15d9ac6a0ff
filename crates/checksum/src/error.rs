//! What can go wrong with one input.

use std::io;

use crate::Algorithm;

/// Why an input has no digest that one could trust. The path is the job's; messages name it there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused to open or read it.
    #[error("{}", message(.0))]
    Io(#[from] io::Error),
    /// Size or time stamps before and after reading differ, its last name is gone, or two readings
    /// of it differ.
    #[error("changed while it was read")]
    Changed,
    /// It ended before or behind the end that its size says, though it did not change.
    #[error("its size is {size} bytes, but {read} were read; its file system may be at fault")]
    Length {
        /// What the file system says, in bytes.
        size: u64,
        /// Bytes that were read.
        read: u64,
    },
    /// It was to be read past the cache, and its file system has no way to do that.
    #[error("its file system cannot read past the cache (O_DIRECT); read it through the cache")]
    NoDirect,
    /// It is one of the caller's own files, as of
    /// [`Options::own_files`](crate::engine::Options::own_files).
    #[error("is where the output goes; left out")]
    OwnOutput,
    /// Somebody else reads it, as of [`Options::taken`](crate::engine::Options::taken), and would
    /// be robbed; or has read it, and nothing is left.
    #[error("a list, names or the key come from there, so no file can")]
    Taken,
    /// The algorithm takes a key, and there is none of its length.
    #[error("there is no key of the length that {0} takes")]
    NoKey(Algorithm),
}

impl Error {
    /// Whether the input does not exist.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Io(error) if error.kind() == io::ErrorKind::NotFound)
    }
}

/// The system's own words, as `strerror` has them: without Rust's ` (os error 2)`.
#[must_use]
pub fn message(error: &io::Error) -> String {
    let text = error.to_string();
    match (error.raw_os_error(), text.rfind(" (os error ")) {
        (Some(_), Some(end)) => text[..end].to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_those_of_the_system() {
        let missing = Error::from(io::Error::from_raw_os_error(2));
        assert_eq!(missing.to_string(), "No such file or directory");
        assert!(missing.is_not_found());
        let denied = Error::from(io::Error::from_raw_os_error(13));
        assert_eq!(denied.to_string(), "Permission denied");
        assert!(!denied.is_not_found() && !Error::Changed.is_not_found());
        assert_eq!(message(&io::Error::other("own words (os error x)")), "own words (os error x)");
    }
}
