//! What is wrong with a record of a list whose format leaves no doubt what it should be.

use crate::Algorithm;

/// Why a piece of a list is no record of the list's format. List and line are the caller's to add.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wrong {
    /// It does not look like a record of the format, whose name this is.
    #[error("not a line of a list in the format {0}")]
    Form(&'static str),
    /// Its columns are not as many as those of the header.
    #[error("columns: {found}, where the header has {expected}")]
    Columns {
        /// Those there are.
        found: usize,
        /// Those of the header.
        expected: usize,
    },
    /// The header is none, lacks a column that there must be, or has it twice.
    #[error("the header must have one column {0:?}")]
    Header(&'static str),
    /// No column of the header has a name that files are known by.
    #[error(
        "the header must have one column \"path\" (or filename, file, name), and commas between columns"
    )]
    NoPath,
    /// No column of the header has a digest or a size.
    #[error(
        "no column of the header is a digest or a size; these are called md5, sha256, ... and size, or algorithm and hash"
    )]
    NothingInHeader,
    /// What should be a digest of the algorithm is none.
    #[error("what should be its {0} is none")]
    Digest(Algorithm),
    /// What its digest is of, by the column for that, is no algorithm that is known.
    #[error("its algorithm is none that lanesum computes")]
    Algorithm,
    /// Its size is no number of bytes.
    #[error("its size is no number")]
    Size,
    /// Its time is not as RFC 3339 has it.
    #[error("its time is not as RFC 3339 has it")]
    Modified,
    /// Its name is empty, holds a NUL or is not encoded as it should be.
    #[error("its name is no name of a file")]
    Name,
    /// It names no file, as what `aws s3api head-object` prints.
    #[error(
        "it names no file: no path, Key or Path; where it is of one object say which with --name"
    )]
    NoName,
    /// It is what a store says of no object.
    #[error("it lists no object: the bucket may be empty, or nothing is under the prefix")]
    NoObject,
    /// An ETag, a part size and a name, as lists of several part sizes have them.
    #[error(
        "the part size of an ETag stands before its name; a list that can be checked is of one part \
         size: lanesum etag -p SIZE"
    )]
    PartSize,
    /// Nothing is known of the file that it could be compared with.
    #[error("neither a digest nor a size of the file")]
    NothingKnown,
    /// It is not JSON, or something stands there twice.
    #[error("not a JSON object of a file")]
    Json,
    /// Objects stand in other members than the one that is read.
    #[error(
        "it lists objects under Versions, or twice: only one array Contents is read; list-objects-v2 prints that"
    )]
    OtherObjects,
    /// What lists a store says that it failed.
    #[error("whatever made the list reports an error here")]
    Reported,
    /// The list of a store says that there are more objects than it names.
    #[error("the list says that it is truncated; list all, aws without --max-items")]
    Truncated,
    /// The list of a store names prefixes, and not the objects below them.
    #[error(
        "the list leaves out what is below its CommonPrefixes; list all, aws without --delimiter"
    )]
    Prefixes,
    /// It is longer than a line may be: [`MAX_LINE`](crate::MAX_LINE).
    #[error("longer than 1 MiB")]
    TooLong,
    /// The list ends before the record does.
    #[error("the list ends in the middle; is it cut off?")]
    CutOff,
}
