//! The error of one input.

use std::io;

use crate::Algorithm;

/// The reason why an input has no reliable digest. The job has the path.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system could not open or read the input.
    #[error("{}", message(.0))]
    Io(#[from] io::Error),
    /// The input changed while it was read: its size or times differ, its last name was removed, or
    /// two reads of it differ.
    #[error("changed while it was read")]
    Changed,
    /// The number of bytes read differs from the size of the file, although the file did not
    /// change.
    #[error("its size is {size} bytes, but {read} were read: the file system may be damaged")]
    Length {
        /// The size of the file in bytes.
        size: u64,
        /// The number of bytes read.
        read: u64,
    },
    /// The file system does not support direct reads.
    #[error("its file system cannot read past the cache (O_DIRECT)")]
    NoDirect,
    /// The input is one of the [`Options::own_files`](crate::engine::Options::own_files).
    #[error("skipped, because the output goes there")]
    OwnOutput,
    /// The input is one of [`Options::taken`](crate::engine::Options::taken): another reader uses
    /// it and would lose data, or has already read all of it.
    #[error("already in use as the list, the file names or the key")]
    Taken,
    /// The algorithm needs a key of a certain length, which the options lack.
    #[error("no key of the length that {0} needs")]
    NoKey(Algorithm),
}

impl Error {
    /// Returns whether the input does not exist.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Io(error) if error.kind() == io::ErrorKind::NotFound)
    }
}

/// Returns the message of the system as from `strerror`, without ` (os error 2)`.
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
