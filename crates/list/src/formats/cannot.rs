//! What formats cannot say.

use std::fmt;

use crate::{Algorithm, Algorithms};

/// Why a list of some format cannot hold something. The file's name is the caller's to add.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum CannotHold {
    /// A digest of an algorithm that the format does not have.
    #[error("the format {format} holds only {}, not {algorithm}", Names(*.known))]
    Algorithm {
        /// The name of the format.
        format: &'static str,
        /// The algorithm.
        algorithm: Algorithm,
        /// Those that it can hold.
        known: Algorithms,
    },
    /// Digests of several algorithms, or of none.
    #[error("the format {0} holds exactly one digest of each file")]
    NotOne(&'static str),
    /// No digest of the file is known.
    #[error("no digest, and the format {0} needs one")]
    NoDigest(&'static str),
    /// The digest of this algorithm is not known, and the list has a column for it.
    #[error("no {algorithm} digest, and the format {format} needs it")]
    Lacks {
        /// The name of the format.
        format: &'static str,
        /// The algorithm.
        algorithm: Algorithm,
    },
    /// The size is not known.
    #[error("no size, and the format {0} needs it")]
    NoSize(&'static str),
    /// The name cannot be written.
    #[error("the format {format} cannot hold a name {what}")]
    Name {
        /// The name of the format.
        format: &'static str,
        /// What is the matter with the name, behind "a name".
        what: &'static str,
    },
    /// The name is empty.
    #[error("the format {0} cannot hold an empty name")]
    EmptyName(&'static str),
    /// Digests are in hexadecimal there and nothing else.
    #[error("the format {0} cannot hold base64")]
    Base64(&'static str),
    /// Lines end with newlines there and nothing else.
    #[error("lines of the format {0} cannot end with NUL")]
    NulEnding(&'static str),
    /// Lists of the format are read and not written.
    #[error("the format {0} can only be read")]
    ReadOnly(&'static str),
}

/// Algorithms as a sentence names them.
struct Names(Algorithms);

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.0.iter().map(Algorithm::name).collect();
        match &*names {
            [others @ .., last] if !others.is_empty() => {
                write!(f, "{} and {last}", others.join(", "))
            }
            names => f.write_str(&names.concat()),
        }
    }
}

/// The one digest of a record.
pub(super) fn the_digest<'r>(
    format: &'static str,
    record: &'r crate::Record<'_>,
) -> Result<&'r crate::Digest, CannotHold> {
    match &*record.digests {
        [digest] => Ok(digest),
        [] => Err(CannotHold::NoDigest(format)),
        _ => Err(CannotHold::NotOne(format)),
    }
}

/// Whether there is one algorithm, of those that a format knows.
pub(super) fn one_of(
    format: &'static str,
    algorithms: Algorithms,
    known: Algorithms,
) -> Result<(), CannotHold> {
    all_of(format, algorithms, known)?;
    if algorithms.iter().count() == 1 { Ok(()) } else { Err(CannotHold::NotOne(format)) }
}

/// Whether a format knows all the algorithms.
pub(super) fn all_of(
    format: &'static str,
    algorithms: Algorithms,
    known: Algorithms,
) -> Result<(), CannotHold> {
    match algorithms.difference(known).iter().next() {
        Some(algorithm) => Err(CannotHold::Algorithm { format, algorithm, known }),
        None => Ok(()),
    }
}
