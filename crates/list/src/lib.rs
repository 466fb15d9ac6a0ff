//! Lists of checksums: the formats of their lines, written and read.
//!
//! | format | a line | written by |
//! |---|---|---|
//! | untagged | `d41d8cd98f00b204e9800998ecf8427e  name` | GNU md5sum, b3sum, xxhsum |
//! | tagged | `MD5 (name) = d41d8cd98f00b204e9800998ecf8427e` | BSD md5, `md5sum --tag` |
//!
//! Read, but not written: OpenSSL's `MD5(name)= ...` and `SHA2-256(name)= ...`, RHash's
//! `MD5   (name) = ...`, digests in base64 (`cksum --base64`), and the reversed BSD form, an untagged line with one blank.
//!
//! [`write_line`] writes a line. To read a list, [`Lines`] splits it, a [`Parser`] reads each line
//! after the rules of a [`Dialect`], and [`Entries`] does both; [`start::open`] stands before them
//! and refuses what is no text.
//!
//! # Which names a line can hold
//!
//! Any name of bytes other than NUL, of any length of at least one byte that keeps the line within
//! [`MAX_LINE`], comes back byte for byte from what [`write_line`] wrote. The exceptions are:
//!
//! - An untagged line cannot hold an empty name; a tagged one can.
//! - An untagged line does not say its algorithm. [`Dialect::any`] goes by the number of digits and
//!   takes 32 for MD5 and 64 for SHA-256, so XXH3 and BLAKE3 need [`Dialect::untagged_as`];
//!   [`Dialect::tells`] says for which algorithms the digits will do.
//! - A list must be read with the [`Ending`] it was written with.
//!
//! # Example
//!
//! ```
//! use lanesum_list::{Algorithm, Dialect, Digest, Ending, Line, Parser, Style, write_line};
//!
//! let digest = Digest::from_hex(Algorithm::Crc32c, b"e3069283").unwrap();
//! let mut list = Vec::new();
//! write_line(&mut list, Style::Tagged, Ending::Newline, b"a\nb", &digest);
//! assert_eq!(list, b"\\CRC32C (a\\nb) = e3069283\n");
//!
//! let mut parser = Parser::new(Dialect::any());
//! let Line::Entry(entry) = parser.parse(list.strip_suffix(b"\n").unwrap()) else { panic!() };
//! assert_eq!((entry.name.as_slice(), entry.digest), (&b"a\nb"[..], digest));
//! ```

#![forbid(unsafe_code)]

pub mod algorithm;
pub mod digest;
mod digits;
mod escape;
mod foreign;
mod gnu;
mod lines;
mod parser;
pub mod start;
mod tag;

use std::borrow::Cow;

pub use algorithm::{Algorithm, Algorithms};
pub use digest::Digest;
pub use lines::{Entries, Lines, MAX_LINE, RawLine};
pub use parser::{Dialect, Entry, Line, Parser};

/// The format of a line that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `hex  name`, or `hex *name` when `binary`: GNU md5sum's own. The star says that a file was
    /// read in binary mode, which on Unix is the only one.
    Untagged {
        /// Whether a star stands before the name.
        binary: bool,
    },
    /// `MD5 (name) = hex`: BSD's, and `md5sum --tag`'s.
    Tagged,
}

/// What ends a line.
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

/// Appends the line of one file, with its ending.
///
/// `name` must not hold NUL, and must not be empty in an untagged line: what is written then is
/// not read back (see the [module](self)).
///
/// ```
/// # use lanesum_list::*;
/// let digest = Digest::from_hex(Algorithm::Crc32c, b"e3069283").unwrap();
/// let mut line = Vec::new();
/// write_line(&mut line, Style::Untagged { binary: false }, Ending::Newline, b"a b", &digest);
/// assert_eq!(line, b"e3069283  a b\n");
/// ```
pub fn write_line(out: &mut Vec<u8>, style: Style, ending: Ending, name: &[u8], digest: &Digest) {
    let name = match ending {
        Ending::Newline => escape::escape(name),
        Ending::Nul => Cow::Borrowed(name),
    };
    if matches!(name, Cow::Owned(_)) {
        out.push(escape::MARK);
    }
    match style {
        Style::Untagged { binary } => gnu::write(out, binary, &name, digest),
        Style::Tagged => tag::write(out, &name, digest),
    }
    out.push(ending.byte());
}

/// Whether a name of a list stands for standard input: `-`, or a path that the system has for it. To
/// read it where the names themselves come from there would swallow those that follow.
#[must_use]
pub fn names_standard_input(name: &[u8]) -> bool {
    matches!(name, b"-" | b"/dev/stdin" | b"/dev/fd/0" | b"/proc/self/fd/0")
}

/// The text after the spaces and tabs at its start.
fn skip_blanks(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take_while(|&&byte| is_blank(byte)).count();
    &text[blanks..]
}

/// Whether a byte is blank as C's `isblank` has it.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}
