//! Reads and writes checksum lists in memory, in the [formats] of common programs.
//!
//! | you have | you want | use |
//! |---|---|---|
//! | a list in memory | its records | [`lines`] |
//! | a list that arrives in pieces | its lines | [`Splitter`] |
//! | tagged or untagged lines | to parse them | [`formats::Mixed`] |
//! | a list of unknown format | its format | [`formats::recognise`] |
//! | records | to write a list | [`formats::Gnu`], [`formats::Tag`], [`formats::Kind`] |
//! | untagged lines | to choose the algorithms | [`Dialect`] |
//! | the start of a file | to know whether it is a list | [`start::of_text`] |
//! | hexadecimal digits | a digest | [`Digest::from_hex`] |
//!
//! A [`Record`] is a file with its digests, size and times. A [`Format`](formats::Format) writes
//! records to memory and parses lines. A [`Dialect`] defines which lines a list may contain.
//! [`start`] detects files that are not lists. Nothing in this crate does I/O.
//!
//! Some forms are read but not written: `MD5(name)= ...` and `SHA2-256(name)= ...` of OpenSSL, `MD5
//! (name) = ...` of RHash, and the reversed BSD form, an untagged line with one blank.
//!
//! # Which names a line can hold
//!
//! A line can hold any nonempty name of bytes other than NUL, as long as the line is not longer
//! than [`MAX_LINE`]. Reading returns the name byte for byte. The exceptions are:
//!
//! - A tagged line can also hold an empty name.
//! - An untagged line does not name its algorithm. [`Dialect::any`] takes 32 digits for MD5 and 64
//!   for SHA-256, so XXH128 and BLAKE3 need [`Dialect::untagged_as`]. [`Dialect::identifies`]
//!   returns whether the number of digits is enough.
//! - A list must be read with the [`Ending`] that it was written with.
//!
//! # Example
//!
//! ```
//! use lanesum_list::formats::{Format, Line, Mixed, Tag};
//! use lanesum_list::{Algorithm, Dialect, Digest, Record, lines};
//!
//! let digest = Digest::from_hex(Algorithm::Crc32c, b"e3069283").unwrap();
//! let record = Record::new("a\nb").with(digest);
//! let mut list = Vec::new();
//! Tag::new(Dialect::any()).record(&mut list, &record).unwrap();
//! assert_eq!(list, b"\\CRC32C (a\\nb) = e3069283\n");
//!
//! let mut format = Mixed::new(Dialect::any());
//! let read: Vec<_> = lines(&list, &mut format).collect();
//! assert_eq!(read, [(1, Line::Record { record, is_tagged: true })]);
//! ```

#![forbid(unsafe_code)]

pub mod algorithm;
mod algorithms;
mod called;
mod dialect;
mod digest;
mod digits;
pub mod formats;
mod record;
mod skipped;
mod split;
pub mod start;
mod time;

pub use algorithm::{Algorithm, UnknownAlgorithm};
pub use algorithms::Algorithms;
pub use called::algorithms_called;
pub use dialect::Dialect;
pub use digest::Digest;
pub use record::{Digests, Etag, Inode, Record, Time, Times};
pub use skipped::{has_digest, names_beside_short_digest};
pub use split::{MAX_LINE, RawLine, Splitter, lines};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The end of a line.
///
/// ```
/// use lanesum_list::formats::{Format, Gnu};
/// use lanesum_list::{Algorithm, Dialect, Digest, Ending, Record};
///
/// let digest = Digest::from_hex(Algorithm::Crc32c, b"e3069283").unwrap();
/// let record = Record::new("a\nb").with(digest);
/// for (ending, line) in [
///     (Ending::Newline, &b"\\e3069283  a\\nb\n"[..]),
///     (Ending::Nul, b"e3069283  a\nb\0"),
/// ] {
///     let mut out = Vec::new();
///     Gnu::new(Dialect::any().with_ending(ending)).record(&mut out, &record).unwrap();
///     assert_eq!(out, line);
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// A newline. A name with a backslash, newline or carriage return is escaped, and its line
    /// starts with a backslash. When reading, CR LF ends a line as well.
    #[default]
    Newline,
    /// A NUL. No name contains one, so no name is escaped.
    Nul,
}

impl Ending {
    /// Returns the byte that ends a line.
    #[must_use]
    pub const fn byte(self) -> u8 {
        match self {
            Self::Newline => b'\n',
            Self::Nul => b'\0',
        }
    }
}

/// Returns whether a name means standard input: `-`, or a path of the system for it. A list that is
/// itself read from standard input must not read such a file, which would consume the following
/// names.
///
/// ```
/// use lanesum_list::names_standard_input;
///
/// assert!(names_standard_input(b"-") && names_standard_input(b"/dev/stdin"));
/// assert!(!names_standard_input(b"./-"));
/// ```
#[must_use]
pub fn names_standard_input(name: &[u8]) -> bool {
    matches!(name, b"-" | b"/dev/stdin" | b"/dev/fd/0" | b"/proc/self/fd/0")
}
