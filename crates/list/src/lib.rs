//! Lists of checksums as values, without I/O: algorithms, digests, records, and the
//! [formats] in which they are written and read.
//!
//! | you have | take |
//! |---|---|
//! | a list in memory | [`lines`] |
//! | a list in pieces | [`Splitter`] |
//! | lines of any kind to read | [`formats::Mixed`] |
//! | records to write | [`formats::Gnu`], [`formats::Tag`] |
//! | lines that may be of few algorithms, or whose digits do not tell theirs | a [`Dialect`] |
//! | the beginning of a file that may be no list | [`start::of_text`] |
//! | a digest in hexadecimal digits | [`Digest::from_hex`] |
//!
//! A [`Record`] is a file and what is known of it. A [`Format`](formats::Format) appends records to
//! memory and says what the text of a line means; a [`Dialect`] tells it which lines a list may
//! hold. [`lines`] reads a list in memory, a [`Splitter`] one that comes in pieces. [`start`] tells
//! what is no list at all.
//!
//! Read, but not written: OpenSSL's `MD5(name)= ...` and `SHA2-256(name)= ...`, RHash's
//! `MD5   (name) = ...`, digests in base64 (`cksum --base64`), and the reversed BSD form, an
//! untagged line with one blank.
//!
//! # Which names a line can hold
//!
//! Any name of bytes other than NUL, of any length of at least one byte that keeps the line within
//! [`MAX_LINE`], comes back byte for byte from what was written. The exceptions are:
//!
//! - An untagged line cannot hold an empty name; a tagged one can.
//! - An untagged line does not say its algorithm. [`Dialect::any`] goes by the number of digits and
//!   takes 32 for MD5 and 64 for SHA-256, so XXH128 and BLAKE3 need [`Dialect::untagged_as`];
//!   [`Dialect::tells`] says for which algorithms the digits will do.
//! - A list must be read with the [`Ending`] it was written with.
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
mod dialect;
mod digest;
mod digits;
pub mod formats;
mod record;
mod split;
pub mod start;
mod time;

pub use algorithm::{Algorithm, UnknownAlgorithm};
pub use algorithms::Algorithms;
pub use dialect::Dialect;
pub use digest::Digest;
pub use record::{Digests, Etag, Inode, Record, Time, Times};
pub use split::{MAX_LINE, RawLine, Splitter, lines};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// What ends a line.
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
    /// A newline. A name that holds a backslash, newline or carriage return is escaped, and a
    /// backslash at the start of the line says so. When reading, CR LF ends a line as well.
    #[default]
    Newline,
    /// A NUL, which no name holds: nothing is escaped.
    Nul,
}

impl Ending {
    /// The byte that ends a line.
    #[must_use]
    pub const fn byte(self) -> u8 {
        match self {
            Self::Newline => b'\n',
            Self::Nul => b'\0',
        }
    }
}

/// Whether a name of a list stands for standard input: `-`, or a path that the system has for it.
/// To read it where the names themselves come from there would swallow those that follow.
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
