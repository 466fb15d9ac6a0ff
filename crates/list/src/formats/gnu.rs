//! Untagged lines: `hex  name` and `hex *name`, as GNU md5sum writes them.
//!
//! The reversed BSD form, `hex name` with one blank, is read as well. Since a name may begin with a
//! blank or a star, a line alone does not say which of the two forms it has: the first untagged
//! line of a list decides for all of them. A list of the standard form takes no reversed line;
//! in a reversed list everything after the one blank is the name. Mixing them would let whoever
//! can rename files choose which file a line is about.

use super::line::{self, Found, Text, is_blank};
use super::{CannotHold, Format, Line, cannot, foreign};
use crate::{Algorithms, Dialect, Digest, Ending, Etag, Record, digits};

const NAME: &str = "gnu";

/// Lines without a tag, of one list.
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
    /// Of the lines read.
    form: Option<Form>,
}

impl Gnu {
    /// A list of this dialect.
    #[must_use]
    pub const fn new(dialect: Dialect) -> Self {
        Self { dialect, is_binary: false, form: None }
    }

    /// The same, with a star before names that are written, `hex *name`. It says that files were
    /// read in binary mode, which on Unix is the only one.
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

    /// Appends the line of an ETag, which is no checksum line: `etag  name`, and `etag  size  name`
    /// where it is to say what parts it is of. The name is as in other lines.
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

    pub(super) fn read<'a>(&mut self, text: Text<'a>) -> Option<Found<'a>> {
        let Dialect { untagged, is_lenient, .. } = self.dialect;
        let (name, digest) = read(text.bytes, untagged, is_lenient, &mut self.form)?;
        Some((text.name(name)?, digest))
    }

    /// What is a line of an algorithm that is not known.
    pub(super) fn unknown(&self, text: Text<'_>) -> Option<&'static str> {
        if self.dialect.is_lenient { foreign::by_digits(text.unmarked()) } else { None }
    }
}

impl Format for Gnu {
    fn can_hold(&self, algorithms: Algorithms) -> Result<(), CannotHold> {
        cannot::one_of(NAME, algorithms, Algorithms::ALL)
    }

    fn record(&self, out: &mut Vec<u8>, record: &Record<'_>) -> Result<(), CannotHold> {
        if record.name.is_empty() && self.dialect.ending == Ending::Newline {
            return Err(CannotHold::Name { format: NAME, what: "of no byte" });
        }
        line::write(NAME, out, self.dialect.ending, record, |out, name, digest| {
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
            Ok(text) => match self.read(text) {
                Some(found) => line::line(found, false),
                None => self.unknown(text).map_or(Line::Malformed, Line::Unknown),
            },
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

/// The name, still escaped, and the digest, of the first of `algorithms` that has one of as many
/// digits. Sets the form when none is set. A NUL ends the digits as a blank does: it is a string's
/// end to GNU, which goes on behind it as it does behind a blank.
fn read<'a>(
    text: &'a [u8],
    algorithms: Algorithms,
    base64: bool,
    form: &mut Option<Form>,
) -> Option<(&'a [u8], Digest)> {
    let end = text.iter().position(|&byte| is_blank(byte) || byte == b'\0')?;
    let digest =
        algorithms.iter().find_map(|algorithm| digits::read(algorithm, &text[..end], base64))?;
    let rest = &text[end + 1..];
    let reads_as = match rest {
        [] => return None,
        // The name has at least one byte, so a space or star alone is the name itself.
        [b' ' | b'*', _, ..] => Form::Standard,
        _ => Form::Reversed,
    };
    match (*form.get_or_insert(reads_as), reads_as) {
        (Form::Standard, Form::Standard) => Some((&rest[1..], digest)),
        (Form::Standard, Form::Reversed) => None,
        (Form::Reversed, _) => Some((rest, digest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Algorithm;

    /// The names that the lines of one list are read as.
    fn names(list: &[&str]) -> Vec<Option<String>> {
        let mut form = None;
        list.iter()
            .map(|line| {
                let read = read(line.as_bytes(), Algorithm::Crc32c.into(), false, &mut form);
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
    fn a_line_that_is_not_well_formed_decides_nothing() {
        let list = ["e306928 a", "e3069283", "e3069283 ", "g3069283 a", "", "e3069283  a"];
        let read = names(&list);
        assert_eq!(read[..5], [const { None }; 5]);
        assert_eq!(read[5..], some(&["a"]));
    }

    #[test]
    fn blanks_of_a_name_stay() {
        assert_eq!(names(&["e3069283   a ", "e3069283 * \t"]), some(&[" a ", " \t"]));
    }

    #[test]
    fn lines_are_md5sums() {
        let digest = Digest::from_hex(Algorithm::Crc32c, b"E3069283").unwrap();
        let mut out = Vec::new();
        let gnu = Gnu::new(Dialect::any());
        gnu.record(&mut out, &Record::new("a").with(digest)).unwrap();
        gnu.binary().record(&mut out, &Record::new("b").with(digest)).unwrap();
        assert_eq!(out, b"e3069283  a\ne3069283 *b\n");
    }
}
