//! Errors in lists with a fixed structure.

use crate::Algorithm;

/// The reason why a text is not a valid record of the format of its list. The caller adds the name
/// of the list and the line number.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wrong {
    /// The text does not look like a record of the named format.
    #[error("not a line of a list in the format {0}")]
    Form(&'static str),
    /// The number of columns differs from that of the header.
    #[error("columns: {found}, where the header has {expected}")]
    Columns {
        /// The number of columns of the record.
        found: usize,
        /// The number of columns of the header.
        expected: usize,
    },
    /// The header is invalid, lacks a required column, or repeats it.
    #[error("the header must have one column {0:?}")]
    Header(&'static str),
    /// The header has no column of file names.
    #[error(
        "the header must have one column \"path\" (or filename, file, name), and commas between columns"
    )]
    NoPath,
    /// The header has no column of digests or sizes.
    #[error(
        "no column of the header is a digest or a size; these are called md5, sha256, ... and size, or algorithm and hash"
    )]
    NothingInHeader,
    /// The digest of the algorithm is invalid.
    #[error("what should be its {0} is none")]
    Digest(Algorithm),
    /// The column with the algorithm of the digest names an unsupported algorithm.
    #[error("its algorithm is none that lanesum computes")]
    Algorithm,
    /// The size is not a number of bytes.
    #[error("its size is no number")]
    Size,
    /// The time is not in RFC 3339 format.
    #[error("its time is not as RFC 3339 has it")]
    Modified,
    /// The name is empty, contains a NUL, or is incorrectly encoded.
    #[error("its name is no name of a file")]
    Name,
    /// The record has no name, as in the output of `aws s3api head-object`.
    #[error(
        "it names no file: no path, Key or Path; where it is of one object say which with --name"
    )]
    NoName,
    /// The list of the store is empty.
    #[error("it lists no object: the bucket may be empty, or nothing is under the prefix")]
    NoObject,
    /// The line has an ETag, a part size and a name, as in lists with several part sizes.
    #[error(
        "the part size of an ETag stands before its name; a list that can be checked is of one part \
         size: lanesum etag -p SIZE"
    )]
    PartSize,
    /// The record has neither a digest nor a size to compare.
    #[error("neither a digest nor a size of the file")]
    NothingKnown,
    /// The text is not JSON, or a member is repeated.
    #[error("not a JSON object of a file")]
    Json,
    /// There are objects in other members than the one that is read.
    #[error(
        "it lists objects under Versions, or twice: only one array Contents is read; list-objects-v2 prints that"
    )]
    OtherObjects,
    /// The program that lists the store reported an error.
    #[error("whatever made the list reports an error here")]
    Reported,
    /// The list of the store is truncated: the store has more objects.
    #[error("the list says that it is truncated; list all, aws without --max-items")]
    Truncated,
    /// The list of the store has prefixes instead of the objects below them.
    #[error(
        "the list leaves out what is below its CommonPrefixes; list all, aws without --delimiter"
    )]
    Prefixes,
    /// The record is longer than [`MAX_LINE`](crate::MAX_LINE).
    #[error("longer than 1 MiB")]
    TooLong,
    /// The list ends before the record does.
    #[error("the list ends in the middle; is it cut off?")]
    CutOff,
}
