//! The formats of checksum lists.
//!
//! | format | a line | written by |
//! |---|---|---|
//! | [`Gnu`] | `d41d8cd98f00b204e9800998ecf8427e  name` | GNU md5sum, b3sum, xxhsum |
//! | [`Tag`] | `MD5 (name) = d41d8cd98f00b204e9800998ecf8427e` | BSD md5, `md5sum --tag` |
//! | [`Mixed`] | any of the two above, detected line by line | |
//! | [`Hashdeep`] | `3,900150983cd24fb0d6963f7d28e17f72,name`, under a header | hashdeep |
//! | [`Md5deep`] | <code>         3  900150983cd24fb0d6963f7d28e17f72  name</code> | md5deep -z |
//! | [`BagIt`] | `900150983cd24fb0d6963f7d28e17f72  data/100%25` | bagit.py, RFC 8493 |
//! | [`Sfv`] | `name 352441C2` | cfv, RHash |
//! | [`Csv`] | `name,3,2023-11-14T22:13:20Z,900150983cd24fb0d6963f7d28e17f72`, under a header | spreadsheets, databases |
//! | [`Json`] | `{"path":"name","size":3,"md5":"900150983cd24fb0d6963f7d28e17f72"}` | programs |
//! | [`Side`] | `900150983cd24fb0d6963f7d28e17f72` | Picard, Maven |
//! | [`Wheel`] | `name,sha256=ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0,3` | pip |
//! | [`AscMhl`] | `<path size="3">name</path> <md5>900150983cd24fb0d6963f7d28e17f72</md5>` | tools of film sets |
//! | [`Inventory`] | read only | S3 Inventory |
//! | [`Mtree`] | `./name type=file size=3 md5digest=900150983cd24fb0d6963f7d28e17f72` | BSD mtree, bsdtar, pacman |
//! | [`Xml`] | read only | Internet Archive, MHL, FCIV, No-Intro |
//! | [`Debian`] | read only | `.dsc`, `.changes`, `Release` |
//! | [`Gpg`] | read only | `gpg --print-md` |
//! | [`Irods`] | read only | `ichksum` |
//! | [`LfsList`], [`LfsPointer`] | read only | Git LFS |
//! | [`S3cmd`] | read only | `s3cmd ls --list-md5` |
//! | [`S3`] | read only | `aws s3api`, `rclone lsjson`, `mc ls --json` |
//!
//! A [`Kind`] names a format, and [`recognise`] detects the format of a list.

mod asc_mhl;
mod bagit;
mod cannot;
mod closest;
mod csv;
mod debian;
mod digests;
mod escape;
mod foreign;
mod gnu;
mod gpg;
mod hashdeep;
mod inventory;
mod irods;
mod json;
mod kind;
mod lfs;
mod line;
mod md5deep;
mod mixed;
mod mtree;
mod s3;
mod s3cmd;
mod sfv;
mod side;
mod tag;
mod wheel;
mod wrong;
mod xml;

use std::fmt;

use crate::{Algorithms, Record};

pub use asc_mhl::{AscMhl, Creation};
pub use bagit::BagIt;
pub use cannot::CannotHold;
pub use closest::{Closest, closest};
pub use csv::{Csv, write_cell};
pub use debian::Debian;
pub use gnu::Gnu;
pub use gpg::Gpg;
pub use hashdeep::{Hashdeep, Invocation};
pub use inventory::Inventory;
pub use irods::Irods;
pub use json::Json;
pub use kind::{Kind, Layout, UnknownKind, recognise};
pub use lfs::{LfsList, LfsPointer};
pub use md5deep::Md5deep;
pub use mixed::Mixed;
pub use mtree::Mtree;
pub use s3::S3;
pub use s3cmd::S3cmd;
pub use sfv::Sfv;
pub use side::{Side, side_file};
pub use tag::Tag;
pub use wheel::Wheel;
pub use wrong::Wrong;
pub use xml::Xml;

/// A format of lists: how records are written and read.
///
/// A format works in memory and does not access files. A value reads one list, because the meaning
/// of a line may depend on previous lines.
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
    /// Appends the text before the first record.
    fn begin(&self, _out: &mut Vec<u8>) {}

    /// Checks whether a list can hold files with a digest of each of these algorithms.
    ///
    /// # Errors
    ///
    /// Fails with [`CannotHold`], which lists the supported algorithms.
    fn can_hold(&self, algorithms: Algorithms) -> Result<(), CannotHold>;

    /// Appends a record. Records may be made in any order and on any thread before they are joined.
    ///
    /// # Errors
    ///
    /// Fails if the format cannot hold the name, or if the record lacks a required value. Then
    /// nothing was appended.
    fn record(&self, out: &mut Vec<u8>, record: &Record<'_>) -> Result<(), CannotHold>;

    /// Returns the text between two records.
    fn separator(&self) -> &'static [u8] {
        b""
    }

    /// Appends the text after the last record.
    fn end(&self, _out: &mut Vec<u8>) {}

    /// Returns whether a list that starts with these bytes has this format. The bytes may be cut
    /// anywhere.
    fn detect(&self, head: &[u8]) -> bool;

    /// Returns the position of the byte that ends the next record. The bytes continue those of the
    /// previous call. A format with quotes or brackets keeps track of them between calls.
    fn find_end(&mut self, bytes: &[u8]) -> Option<usize>;

    /// Parses the next text, which reaches up to the byte that ends it or to the end of the list.
    fn next<'a>(&mut self, text: &'a [u8]) -> Line<'a>;

    /// Returns whether the last text has another record. Then [`next`](Self::next) must be called
    /// again with the same text.
    fn has_more(&self) -> bool {
        false
    }

    /// Returns whether the list may end after the bytes passed to [`find_end`](Self::find_end). If
    /// not, the list is truncated, even if every record in it is complete.
    fn may_end(&self) -> bool {
        true
    }

    /// Returns the byte that line numbers are counted by, independent of the end of a record.
    fn ends_lines(&self) -> u8 {
        b'\n'
    }

    /// Returns whether each record is one line that can be read alone. Only then can a list be read
    /// from its middle.
    fn is_of_lines(&self) -> bool {
        false
    }

    /// Returns the directory that relative names refer to, once the list has named one.
    fn folder(&self) -> Option<&[u8]> {
        None
    }
}

/// The meaning of a line, or of the text of a record that is not a line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "nearly every line is a record")]
pub enum Line<'a> {
    /// A file and its digests.
    Record {
        /// The file. Its name contains no NUL. It is empty only in a tagged line, or if a NUL ends
        /// names.
        record: Record<'a>,
        /// Whether the list names the algorithms. If not, the [`Dialect`](crate::Dialect) defines
        /// them.
        is_tagged: bool,
    },
    /// An empty line, or a comment: one whose first byte is `#`.
    Blank,
    /// A line with an unsupported algorithm, and its name for the algorithm. With
    /// [`Dialect::only`](crate::Dialect::only) such a line is invalid, as in md5sum.
    Unknown(&'a str),
    /// An invalid line in a format of independent lines.
    Malformed,
    /// An invalid entry in a format with a fixed structure.
    Wrong(Wrong),
}
