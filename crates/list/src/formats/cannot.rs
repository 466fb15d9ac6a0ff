//! The error for records that a format cannot hold.

use std::fmt;

use crate::{Algorithm, Algorithms};

/// The reason why a list of some format cannot hold a record or a setting. The caller adds the name
/// of the file.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum CannotHold {
    /// The format does not support the algorithm of a digest.
    #[error("the format {format} holds only {}, not {algorithm}", Names(*.known))]
    Algorithm {
        /// The name of the format.
        format: &'static str,
        /// The algorithm.
        algorithm: Algorithm,
        /// The algorithms that the format supports.
        known: Algorithms,
    },
    /// The record has digests of several algorithms, or of none.
    #[error("the format {0} holds exactly one digest of each file")]
    NotOne(&'static str),
    /// The record has no digest.
    #[error("no digest, and the format {0} needs one")]
    NoDigest(&'static str),
    /// The list has a column for an algorithm, and the record has no digest of it.
    #[error("no {algorithm} digest, and the format {format} needs it")]
    Lacks {
        /// The name of the format.
        format: &'static str,
        /// The algorithm.
        algorithm: Algorithm,
    },
    /// The record has no size.
    #[error("no size, and the format {0} needs it")]
    NoSize(&'static str),
    /// The name cannot be written.
    #[error("the format {format} cannot hold a name {what}")]
    Name {
        /// The name of the format.
        format: &'static str,
        /// The problem of the name, as text after "a name".
        what: &'static str,
    },
    /// The name is empty.
    #[error("the format {0} cannot hold an empty name")]
    EmptyName(&'static str),
    /// The format supports hexadecimal digests only.
    #[error("the format {0} cannot hold base64")]
    Base64(&'static str),
    /// The format supports newlines as line endings only.
    #[error("lines of the format {0} cannot end with NUL")]
    NulEnding(&'static str),
    /// The format can be read but not written.
    #[error("the format {0} can only be read")]
    ReadOnly(&'static str),
}

/// Writes algorithms as a sentence lists them.
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

/// Returns the single digest of a record.
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

/// Checks that there is a single algorithm, and that the format supports it.
pub(super) fn one_of(
    format: &'static str,
    algorithms: Algorithms,
    known: Algorithms,
) -> Result<(), CannotHold> {
    all_of(format, algorithms, known)?;
    if algorithms.iter().count() == 1 { Ok(()) } else { Err(CannotHold::NotOne(format)) }
}

/// Checks that a format supports all the algorithms.
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
