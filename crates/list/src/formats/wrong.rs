//! Errors in lists with a fixed structure.

use crate::Algorithm;

/// The reason why a text is not a valid record of the format of its list. The caller adds the name
/// of the list and the line number.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wrong {
    /// The text does not look like a record of the named format.
    #[error("not a line in the format {0}")]
    Form(&'static str),
    /// The number of columns differs from that of the header.
    #[error("columns: {found}, expected: {expected}")]
    Columns {
        /// The number of columns of the record.
        found: usize,
        /// The number of columns of the header.
        expected: usize,
    },
    /// The header is invalid, lacks a required column, or repeats it.
    #[error("the header needs one column {0:?}")]
    Header(&'static str),
    /// The header has no column of file names.
    #[error(
        "no column \"path\" in the header (or filename, file, name), separated by commas, tabs or \
         semicolons"
    )]
    NoPath,
    /// The header has no column of digests or sizes.
    #[error("no column of the header is a digest or a size")]
    NothingInHeader,
    /// The digest of the algorithm is invalid.
    #[error("invalid {0} digest")]
    Digest(Algorithm),
    /// The column with the algorithm of the digest names an unsupported algorithm.
    #[error("unknown algorithm")]
    Algorithm,
    /// The size is not a number of bytes.
    #[error("invalid size")]
    Size,
    /// The time is not in RFC 3339 format.
    #[error("invalid time (expected RFC 3339)")]
    Modified,
    /// The name is empty, contains a NUL, or is incorrectly encoded.
    #[error("invalid file name")]
    Name,
    /// The record has no name, as in the output of `aws s3api head-object` and in LFS pointers.
    #[error("no file name: no path, Key or Path")]
    NoName,
    /// The list of the store is empty.
    #[error("no objects")]
    NoObject,
    /// The line has an ETag, a part size and a name, as in lists with several part sizes.
    #[error("an ETag with a part size before the name")]
    PartSize,
    /// The line is not a checksum line, but [contains a digest](crate::has_digest).
    #[error("contains a digest, but is not a checksum line like the others")]
    Skipped,
    /// The objects in a member of the record may be files, and are not read.
    #[error("contains files in nested objects, which are not read")]
    Nested,
    /// The record has neither a digest nor a size to compare.
    #[error("neither a digest nor a size")]
    NothingKnown,
    /// The text is not JSON, or a member is repeated.
    #[error("not a JSON object that describes a file")]
    Json,
    /// The text is not XML, is not that of a known list, or declares entities.
    #[error("not the XML of a known list of files")]
    Xml,
    /// There are objects in other members than the one that is read.
    #[error("objects outside of one array")]
    OtherObjects,
    /// The program that lists the store reported an error.
    #[error("the program that made the list reports an error here")]
    Reported,
    /// The list of the store is truncated: the store has more objects.
    #[error("the list is truncated")]
    Truncated,
    /// The list of the store has prefixes instead of the objects below them.
    #[error("the list leaves out objects below a directory (CommonPrefixes)")]
    Prefixes,
    /// The record is longer than [`MAX_LINE`](crate::MAX_LINE).
    #[error("longer than 1 MiB")]
    TooLong,
    /// The list ends before the record does.
    #[error("the list is cut off here")]
    CutOff,
}
