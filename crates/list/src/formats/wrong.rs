//! What is wrong with a record of a list whose format leaves no doubt what it should be.

use crate::Algorithm;

/// Why a piece of a list is no record of the list's format. List and line are the caller's to add.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wrong {
    /// It does not look like a record of the format, whose name this is.
    #[error("not a line in the format {0}")]
    Form(&'static str),
    /// Its columns are not as many as those of the header.
    #[error("columns: {found}, expected: {expected}")]
    Columns {
        /// Those there are.
        found: usize,
        /// Those of the header.
        expected: usize,
    },
    /// The header is none, lacks a column that there must be, or has it twice.
    #[error("the header needs one column {0:?}")]
    Header(&'static str),
    /// No column of the header has a name that files are known by.
    #[error("no column \"path\" in the header (or filename, file, name), separated by commas")]
    NoPath,
    /// No column of the header has a digest or a size.
    #[error("no column of the header is a digest or a size")]
    NothingInHeader,
    /// What should be a digest of the algorithm is none.
    #[error("invalid {0} digest")]
    Digest(Algorithm),
    /// What its digest is of, by the column for that, is no algorithm that is known.
    #[error("unknown algorithm")]
    Algorithm,
    /// Its size is no number of bytes.
    #[error("invalid size")]
    Size,
    /// Its time is not as RFC 3339 has it.
    #[error("invalid time (expected RFC 3339)")]
    Modified,
    /// Its name is empty, holds a NUL or is not encoded as it should be.
    #[error("invalid file name")]
    Name,
    /// It names no file, as what `aws s3api head-object` prints.
    #[error("no file name: no path, Key or Path")]
    NoName,
    /// It is what a store says of no object.
    #[error("no objects")]
    NoObject,
    /// An ETag, a part size and a name, as lists of several part sizes have them.
    #[error("an ETag with a part size before the name")]
    PartSize,
    /// Nothing is known of the file that it could be compared with.
    #[error("neither a digest nor a size")]
    NothingKnown,
    /// It is not JSON, or something stands there twice.
    #[error("not a JSON object that describes a file")]
    Json,
    /// Objects stand in other members than the one that is read.
    #[error("objects outside of one array Contents")]
    OtherObjects,
    /// What lists a store says that it failed.
    #[error("the program that made the list reports an error here")]
    Reported,
    /// The list of a store says that there are more objects than it names.
    #[error("the list is truncated")]
    Truncated,
    /// The list of a store names prefixes, and not the objects below them.
    #[error("the list leaves out objects below its CommonPrefixes")]
    Prefixes,
    /// It is longer than a line may be: [`MAX_LINE`](crate::MAX_LINE).
    #[error("longer than 1 MiB")]
    TooLong,
    /// The list ends before the record does.
    #[error("the list is cut off here")]
    CutOff,
}
