//! Untagged lines: `hex  name` and `hex *name`, as GNU md5sum writes them.
//!
//! The reversed BSD form, `hex name` with one blank, is read as well. A name may start with a blank
//! or a star, so a single line does not show which form it has. The first untagged line of a list
//! decides for all lines. A list in standard form accepts no reversed line. In a reversed list
//! everything after the single blank is the name. If lists could mix the forms, anyone who can
//! rename files could choose the file that a line refers to.
//!
//! The ETag of a multipart upload, `hex-13  name`, is read if MD5 is. In GNU mode it is invalid, as
//! it is to md5sum.

use super::line::{self, Text, is_blank};
use super::{CannotHold, Format, Line, Wrong, cannot, foreign};
use crate::{Algorithm, Algorithms, Dialect, Digest, Ending, Etag, Record, digits};

const NAME: &str = "gnu";

/// A list of untagged lines.
///
/// ```
/// use lanesum_list::formats::{Format, Gnu, Line};
/// use lanesum_list::{Algorithm, Dialect, Digest, Record};
///
/// let digest = Digest::from_hex(Algorithm::Crc32c, b"e3069283").unwrap();
/// let record = Record::new("a b").with(digest);
/// let mut list = Gnu::new(Dialect::any());
/// let mut line = Vec::new();
/// list.record(&mut line, &record)?;
/// assert_eq!(line, b"e3069283  a b\n");
/// assert_eq!(list.next(b"E3069283 *a b"), Line::Record { record, is_tagged: false });
/// # Ok::<(), lanesum_list::formats::CannotHold>(())
/// ```
#[derive(Clone, Debug)]
pub struct Gnu {
    dialect: Dialect,
    /// Whether lines are written with a star.
    is_binary: bool,
    /// The form of the lines read.
    form: Option<Form>,
}

impl Gnu {
    /// Makes a list of a dialect.
    #[must_use]
    pub const fn new(dialect: Dialect) -> Self {
        Self { dialect, is_binary: false, form: None }
    }

    /// Returns the format with a star before written names, `hex *name`. The star means that the
    /// files were read in binary mode, the only mode on Unix.
    ///
    /// ```
    /// use lanesum_list::formats::{Format, Gnu};
    /// use lanesum_list::{Algorithm, Dialect, Digest, Record};
    ///
    /// let digest = Digest::from_hex(Algorithm::Crc32c, b"e3069283").unwrap();
    /// let mut line = Vec::new();
    /// let list = Gnu::new(Dialect::any()).binary();
    /// list.record(&mut line, &Record::new("a").with(digest))?;
    /// assert_eq!(line, b"e3069283 *a\n");
    /// # Ok::<(), lanesum_list::formats::CannotHold>(())
    /// ```
    #[must_use]
    pub const fn binary(self) -> Self {
        Self { is_binary: true, ..self }
    }

    /// Appends the line of an ETag: `etag  name`, or `etag  size  name` with a part size. Lines
    /// with a part size are [not read back](Wrong::PartSize). The name is escaped as in other
    /// lines.
    ///
    /// ```
    /// use lanesum_list::formats::Gnu;
    /// use lanesum_list::{Dialect, Etag};
    ///
    /// let etag = Etag::parse(b"d41d8cd98f00b204e9800998ecf8427e-2").unwrap();
    /// let (list, mut lines) = (Gnu::new(Dialect::any()), Vec::new());
    /// list.etag(&mut lines, &etag, None, b"a b");
    /// list.etag(&mut lines, &etag, Some("8MiB"), b"a\nb");
    /// assert_eq!(lines, b"d41d8cd98f00b204e9800998ecf8427e-2  a b\n\
    ///     \\d41d8cd98f00b204e9800998ecf8427e-2  8MiB  a\\nb\n");
    /// ```
    pub fn etag(&self, out: &mut Vec<u8>, etag: &Etag, parts: Option<&str>, name: &[u8]) {
        let ending = self.dialect.ending();
        let name = line::mark_and_escape(out, ending, name);
        out.extend_from_slice(etag.to_string().as_bytes());
        if let Some(word) = parts {
            out.extend_from_slice(b"  ");
            out.extend_from_slice(word.as_bytes());
        }
        out.extend_from_slice(b"  ");
        out.extend_from_slice(&name);
        out.push(ending.byte());
    }

    pub(super) fn read<'a>(&mut self, text: Text<'a>) -> Option<Line<'a>> {
        let (name, said) = read(text.bytes, &self.dialect, &mut self.form)?;
        let name = text.name(name)?;
        Some(match said {
            Said::Digest(digest) => line::line((name, digest), false),
            Said::Named(digest) => line::line((name, digest), true),
            Said::Etag(_) if begins_with_part_size(&name) => Line::Wrong(Wrong::PartSize),
            Said::Etag(etag) => {
                let record = Record { name, etag: Some(etag), ..Record::default() };
                Line::Record { record, is_tagged: true }
            }
        })
    }

    /// Returns the line if it has an unsupported algorithm.
    pub(super) fn unknown(&self, text: Text<'_>) -> Option<&'static str> {
        if self.dialect.is_lenient { foreign::by_digits(text.unmarked()) } else { None }
    }

    /// Returns whether a line that is otherwise invalid is one of a file without a digest.
    pub(super) fn is_without_digest(&self, line: &[u8]) -> bool {
        self.dialect.is_lenient && foreign::is_without_digest(line)
    }
}

impl Format for Gnu {
    fn can_hold(&self, algorithms: Algorithms) -> Result<(), CannotHold> {
        cannot::one_of(NAME, algorithms, Algorithms::ALL)
    }

    fn record(&self, out: &mut Vec<u8>, record: &Record<'_>) -> Result<(), CannotHold> {
        if record.name.is_empty() && self.dialect.ending == Ending::Newline {
            return Err(CannotHold::EmptyName(NAME));
        }
        line::write(NAME, out, self.dialect.ending, record, |out, name, digest| {
            if digest.algorithm() == Algorithm::Xxh3_64 {
                out.extend_from_slice(digits::XXH3);
            }
            digits::write(out, digest, self.dialect.writes_base64);
            out.extend_from_slice(if self.is_binary { b" *" } else { b"  " });
            out.extend_from_slice(name);
        })
    }

    fn detect(&self, head: &[u8]) -> bool {
        let first = line::first(head, self.dialect.ending);
        matches!(Self::new(self.dialect).next(first), Line::Record { .. })
    }

    fn find_end(&mut self, bytes: &[u8]) -> Option<usize> {
        memchr::memchr(self.dialect.ending.byte(), bytes)
    }

    fn ends_lines(&self) -> u8 {
        self.dialect.ending.byte()
    }

    fn is_of_lines(&self) -> bool {
        true
    }

    fn next<'a>(&mut self, text: &'a [u8]) -> Line<'a> {
        match Text::of(text, &self.dialect) {
            Ok(read) => self.read(read).unwrap_or_else(|| match self.unknown(read) {
                Some(algorithm) => Line::Unknown(algorithm),
                None if self.is_without_digest(text) => Line::Wrong(Wrong::NothingKnown),
                None => Line::Malformed,
            }),
            Err(settled) => settled.into(),
        }
    }
}

/// The form of the untagged lines of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// A blank, a space or star, and the name.
    Standard,
    /// One blank and the name.
    Reversed,
}

/// The first field of a line.
#[derive(Clone, Copy, Debug)]
enum Said {
    Digest(Digest),
    /// A digest with its algorithm before it: `sha256:...`.
    Named(Digest),
    /// An ETag of several parts.
    Etag(Etag),
}

/// The clients whose names may replace a part size.
const CLIENTS: [&[u8]; 6] = [b"aws-cli", b"boto3", b"rclone", b"s5cmd", b"s3cmd", b"mc"];

/// Returns whether the name field holds a part size, two blanks and a name.
fn begins_with_part_size(name: &[u8]) -> bool {
    let Some(end) = memchr::memmem::find(name, b"  ") else { return false };
    let (word, behind) = (&name[..end], &name[end + 2..]);
    let is_size =
        word.first().is_some_and(u8::is_ascii_digit) && word.iter().all(u8::is_ascii_alphanumeric);
    (is_size || CLIENTS.contains(&word)) && !behind.is_empty()
}

/// Returns the still escaped name, and the digest of the first untagged algorithm with that many
/// digits, or the ETag. Sets the form if it is not set. A NUL ends the digits like a blank, because
/// GNU md5sum treats it as the end of a string and continues after it.
fn read<'a>(
    text: &'a [u8],
    dialect: &Dialect,
    form: &mut Option<Form>,
) -> Option<(&'a [u8], Said)> {
    let Dialect { tagged, untagged, is_lenient, .. } = *dialect;
    let end = text.iter().position(|&byte| is_blank(byte) || byte == b'\0')?;
    let digits = &text[..end];
    let digest = untagged.iter().find_map(|algorithm| digits::read(algorithm, digits, is_lenient));
    let said = match digest {
        Some(digest) => Said::Digest(digest),
        None if !is_lenient && !digits.starts_with(digits::XXH3) => return None,
        None => match digits::named(digits) {
            Some(Ok(digest)) if tagged.contains(digest.algorithm()) => Said::Named(digest),
            _ if tagged.contains(Algorithm::Md5) => Said::Etag(etag(digits)?),
            _ => return None,
        },
    };
    let rest = &text[end + 1..];
    let reads_as = match rest {
        [] => return None,
        // Digests of standard input without the dash for its name.
        [b' ' | b'*' | b'\t'] if is_lenient => return None,
        // The name has at least one byte, so a single space or star is the name itself.
        [b' ' | b'*', _, ..] => Form::Standard,
        _ => Form::Reversed,
    };
    match (*form.get_or_insert(reads_as), reads_as) {
        (Form::Standard, Form::Standard) => Some((&rest[1..], said)),
        (Form::Standard, Form::Reversed) => None,
        (Form::Reversed, _) => Some((rest, said)),
    }
}

/// Parses the ETag of several parts. Quotation marks are not accepted, because lists have none.
fn etag(digits: &[u8]) -> Option<Etag> {
    let is_bare = digits.first().is_some_and(u8::is_ascii_hexdigit);
    Etag::parse(digits).filter(|etag| is_bare && etag.parts.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names that the lines of a list are read as.
    fn names(list: &[&str]) -> Vec<Option<String>> {
        let mut form = None;
        list.iter()
            .map(|line| {
                let read = read(line.as_bytes(), &Dialect::only(Algorithm::Crc32c), &mut form);
                read.map(|(name, _)| String::from_utf8(name.to_vec()).unwrap())
            })
            .collect()
    }

    fn some(names: &[&str]) -> Vec<Option<String>> {
        names.iter().map(|name| Some((*name).to_owned())).collect()
    }

    #[test]
    fn the_first_line_decides_the_form() {
        assert_eq!(names(&["e3069283 a", "e3069283  b", "e3069283 *c"]), some(&["a", " b", "*c"]));
        assert_eq!(
            names(&["e3069283  a", "e3069283 b", "e3069283 *c", "e3069283\t d"]),
            [Some("a".into()), None, Some("c".into()), Some("d".into())]
        );
    }

    #[test]
    fn a_single_byte_after_the_blank_is_a_reversed_name() {
        assert_eq!(names(&["e3069283  ", "e3069283 *", "e3069283   "]), some(&[" ", "*", "  "]));
        assert_eq!(names(&["e3069283  a", "e3069283  ", "e3069283 *"])[1..], [None, None]);
    }

    #[test]
    fn an_invalid_line_does_not_decide_the_form() {
        let list = ["e306928 a", "e3069283", "e3069283 ", "g3069283 a", "", "e3069283  a"];
        let read = names(&list);
        assert_eq!(read[..5], [const { None }; 5]);
        assert_eq!(read[5..], some(&["a"]));
    }

    #[test]
    fn blanks_in_names_are_kept() {
        assert_eq!(names(&["e3069283   a ", "e3069283 * \t"]), some(&[" a ", " \t"]));
    }

    #[test]
    fn etags_are_read_except_in_gnu_mode() {
        const ETAG: &str = "d41d8cd98f00b204e9800998ecf8427e-13";
        let read = |dialect, line: &str| match Gnu::new(dialect).next(line.as_bytes()) {
            Line::Record { record, .. } => {
                assert!(record.digests.is_empty(), "{line}");
                Ok((record.name.into_owned(), record.etag.unwrap().to_string()))
            }
            Line::Wrong(Wrong::PartSize) => Err(true),
            Line::Malformed => Err(false),
            other => panic!("{other:?}"),
        };
        for (line, name) in [
            (format!("{ETAG}  a b"), "a b"),
            (format!("{ETAG} *a"), "a"),
            (format!("{ETAG} a"), "a"),
            (format!("\\{ETAG}  a\\nb"), "a\nb"),
            (format!("{ETAG}  a  b"), "a  b"),
            (format!("{ETAG}  8MiB b"), "8MiB b"),
            (format!("{ETAG}  8MiB  "), "8MiB  "),
        ] {
            let expected = Ok((name.as_bytes().to_vec(), ETAG.to_owned()));
            assert_eq!(read(Dialect::any(), &line), expected, "{line}");
            assert_eq!(read(Dialect::untagged_as(Algorithm::Sha1), &line), expected, "{line}");
            assert_eq!(read(Dialect::only(Algorithm::Md5), &line), Err(false), "{line}");
            let keyed = Dialect::keyed(Algorithm::Blake3.into());
            assert_eq!(read(keyed, &line), Err(false), "{line}");
        }
        for word in ["8MiB", "17179870", "aws-cli", "mc"] {
            assert_eq!(read(Dialect::any(), &format!("{ETAG}  {word}  a")), Err(true), "{word}");
        }
        for wrong in [format!("\"{ETAG}\"  a"), format!("{ETAG}x  a"), format!("W/\"{ETAG}\"  a")] {
            assert_eq!(read(Dialect::any(), &wrong), Err(false), "{wrong}");
        }
    }

    #[test]
    fn lines_equal_those_of_md5sum() {
        let digest = Digest::from_hex(Algorithm::Crc32c, b"E3069283").unwrap();
        let mut out = Vec::new();
        let gnu = Gnu::new(Dialect::any());
        gnu.record(&mut out, &Record::new("a").with(digest)).unwrap();
        gnu.binary().record(&mut out, &Record::new("b").with(digest)).unwrap();
        assert_eq!(out, b"e3069283  a\ne3069283 *b\n");
    }
}
