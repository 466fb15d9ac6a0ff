//! The formats of lists: one trait, a file for each.
//!
//! | format | a line | written by |
//! |---|---|---|
//! | [`Gnu`] | `d41d8cd98f00b204e9800998ecf8427e  name` | GNU md5sum, b3sum, xxhsum |
//! | [`Tag`] | `MD5 (name) = d41d8cd98f00b204e9800998ecf8427e` | BSD md5, `md5sum --tag` |
//! | [`Mixed`] | either, each line recognised by itself | |
//! | [`Hashdeep`] | `3,900150983cd24fb0d6963f7d28e17f72,name`, under a header | hashdeep |
//! | [`Md5deep`] | <code>         3  900150983cd24fb0d6963f7d28e17f72  name</code> | md5deep -z |
//! | [`BagIt`] | `900150983cd24fb0d6963f7d28e17f72  data/100%25` | bagit.py, RFC 8493 |
//! | [`Sfv`] | `name 352441C2` | cfv, RHash |
//! | [`Csv`] | `name,3,2023-11-14T22:13:20Z,900150983cd24fb0d6963f7d28e17f72`, under a header | spreadsheets, databases |
//! | [`Json`] | `{"path":"name","size":3,"md5":"900150983cd24fb0d6963f7d28e17f72"}` | programs |
//! | [`S3`] | what `aws s3api`, `rclone lsjson` and `mc ls --json` print; read only | |
//!
//! A [`Kind`] is one of them by its name, and [`recognise`] tells which a list is of.

mod bagit;
mod cannot;
mod csv;
mod escape;
mod foreign;
mod gnu;
mod hashdeep;
mod json;
mod kind;
mod line;
mod md5deep;
mod mixed;
mod s3;
mod sfv;
mod tag;
mod wrong;

use std::fmt;

use crate::{Algorithms, Record};

pub use bagit::BagIt;
pub use cannot::CannotHold;
pub use csv::{Csv, write_cell};
pub use gnu::Gnu;
pub use hashdeep::{Hashdeep, Invocation};
pub use json::Json;
pub use kind::{Kind, Layout, UnknownKind, recognise};
pub use md5deep::Md5deep;
pub use mixed::Mixed;
pub use s3::S3;
pub use sfv::Sfv;
pub use tag::Tag;
pub use wrong::Wrong;

/// A format of lists: how records are written, and how what stands in a list is read.
///
/// Nothing here reads or writes files: text is appended to memory, and comes in memory. A value
/// reads one list, since what a list says may depend on what stands before it.
///
/// ```
/// use lanesum_list::formats::{Format, Line, Tag};
/// use lanesum_list::{Algorithm, Dialect, Digest, Record};
///
/// let digest = Digest::from_hex(Algorithm::Crc32c, b"e3069283").unwrap();
/// let record = Record::new(b"a\nb").with(digest);
/// let mut format = Tag::new(Dialect::any());
/// let mut list = Vec::new();
/// format.begin(&mut list);
/// format.record(&mut list, &record)?;
/// format.end(&mut list);
/// assert_eq!(list, b"\\CRC32C (a\\nb) = e3069283\n");
///
/// assert!(format.detect(&list));
/// let end = format.find_end(&list).unwrap();
/// assert_eq!(format.next(&list[..end]), Line::Record { record, is_tagged: true });
/// assert!(format.may_end());
/// # Ok::<(), lanesum_list::formats::CannotHold>(())
/// ```
pub trait Format: fmt::Debug + Send + Sync {
    /// Appends what stands before the first record.
    fn begin(&self, _out: &mut Vec<u8>) {}

    /// Whether a list can hold files with a digest of each of these algorithms.
    ///
    /// # Errors
    ///
    /// [`CannotHold`] says which it can.
    fn can_hold(&self, algorithms: Algorithms) -> Result<(), CannotHold>;

    /// Appends a record. Records may be made in any order, and on any thread, before they are
    /// put together.
    ///
    /// # Errors
    ///
    /// The format cannot say it: the name, or without something that is not known of the file.
    /// Then nothing was appended.
    fn record(&self, out: &mut Vec<u8>, record: &Record<'_>) -> Result<(), CannotHold>;

    /// What stands between two records.
    fn separator(&self) -> &'static [u8] {
        b""
    }

    /// Appends what stands behind the last record.
    fn end(&self, _out: &mut Vec<u8>) {}

    /// Whether a list that begins with these bytes, which may be cut anywhere, is of this format.
    fn detect(&self, head: &[u8]) -> bool;

    /// Where the text of the next record ends in these bytes: the place of the byte that ends it.
    /// They go on where the text or the bytes before ended. A format in which that byte depends on
    /// those before it (on quotes, or brackets) keeps count of them from call to call.
    fn find_end(&mut self, bytes: &[u8]) -> Option<usize>;

    /// What the next text says: all up to the byte that ends it, or to the end of the list.
    fn next<'a>(&mut self, text: &'a [u8]) -> Line<'a>;

    /// Whether the list may end behind what was given to [`find_end`](Self::find_end). Where it may
    /// not it was cut off, even if every record in it is whole.
    fn may_end(&self) -> bool {
        true
    }

    /// The byte that lines are counted by, whatever ends a record.
    fn ends_lines(&self) -> u8 {
        b'\n'
    }

    /// Whether each line says something by itself, and ends where its record ends. Only then can a
    /// list be read from its middle.
    fn is_of_lines(&self) -> bool {
        false
    }

    /// The directory that the list says relative names are in, once that was read.
    fn folder(&self) -> Option<&[u8]> {
        None
    }
}

/// What a line says, or the text of a record where that is no line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "nearly every line is a record")]
pub enum Line<'a> {
    /// A file and its digests.
    Record {
        /// The file. Its name holds no NUL; it is empty only when a tagged line says so, or
        /// where a NUL ends names.
        record: Record<'a>,
        /// Whether the list names the algorithms. Where it does not, the
        /// [`Dialect`](crate::Dialect) says which they are.
        is_tagged: bool,
    },
    /// An empty line, or a comment: one whose first byte is `#`.
    Blank,
    /// What may be a file and its digest, of an algorithm that is not known here: what the line
    /// calls it. With [`Dialect::only`](crate::Dialect::only) it is malformed, as to md5sum.
    Unknown(&'a str),
    /// Anything else, in a list of lines that say what they are by themselves.
    Malformed,
    /// What must not stand in a list of its format.
    Wrong(Wrong),
}
