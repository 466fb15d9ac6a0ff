//! SFV: `name CRC32`, as cfv and RHash write it. Comments start with `;`.
//!
//! The last blank of a line is before the digits, so a name may contain blanks. It cannot end with
//! one, because programs align the digits with any number of blanks.

use std::borrow::Cow;

use super::line::{is_blank, without_mark, without_return};
use super::{CannotHold, Format, Line, Mixed, Tag, Wrong, cannot};
use crate::{Algorithm, Algorithms, Dialect, Digest, Record, start};

const NAME: &str = "sfv";

/// An SFV list.
///
/// ```
/// use lanesum_list::formats::{Format, Line, Sfv};
/// use lanesum_list::{Algorithm, Dialect, Digest, Record};
///
/// let digest = Digest::from_hex(Algorithm::Crc32, b"352441c2").unwrap();
/// let record = Record::new("a b").with(digest);
/// let mut list = Sfv::new(Dialect::any());
/// let mut line = Vec::new();
/// list.record(&mut line, &record)?;
/// assert_eq!(line, b"a b 352441C2\n");
/// assert_eq!(list.next(b"; by hand"), Line::Blank);
/// assert_eq!(list.next(b"a b   352441c2"), Line::Record { record, is_tagged: true });
/// # Ok::<(), lanesum_list::formats::CannotHold>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sfv {
    dialect: Dialect,
}

impl Sfv {
    /// Makes a list of a dialect.
    #[must_use]
    pub const fn new(dialect: Dialect) -> Self {
        Self { dialect }
    }

    fn is_line(&self, line: &[u8]) -> bool {
        let is_digest = |word: &[u8]| Digest::from_hex(Algorithm::Crc32, word).is_some();
        let mut words = line.rsplit(|&byte| is_blank(byte)).filter(|word| !word.is_empty());
        // Groups of eight digits are parts of one digest, as gpg prints it.
        let is_grouped = words.by_ref().take(5).filter(|word| is_digest(word)).count() == 5;
        let is_unknown = matches!(Tag::new(self.dialect).next(line), Line::Unknown(_));
        !is_grouped && !is_unknown && matches!(self.clone().next(line), Line::Record { .. })
    }

    /// Returns whether a line has a digest before its name. Lines like those of SFV before it are
    /// then titles: `Backup of 20261120`.
    fn is_of_others(&self, line: &[u8]) -> bool {
        let is_record = || matches!(Mixed::new(self.dialect).next(line), Line::Record { .. });
        is_record() && !self.is_line(line)
    }
}

impl Format for Sfv {
    fn can_hold(&self, algorithms: Algorithms) -> Result<(), CannotHold> {
        cannot::all_of(NAME, algorithms, Algorithm::Crc32.into())
    }

    fn record(&self, out: &mut Vec<u8>, record: &Record<'_>) -> Result<(), CannotHold> {
        let digest = cannot::the_digest(NAME, record)?;
        self.can_hold(digest.algorithm().into())?;
        let name = &*record.name;
        let Some(&last) = name.last() else { return Err(CannotHold::EmptyName(NAME)) };
        let what = if is_blank(last) {
            Some("that ends with a space")
        } else if name[0] == b';' || start::begins_with_mark(name) {
            Some("that begins with a semicolon or a byte order mark (write ./ before it)")
        } else {
            name.contains(&b'\n').then_some("with a newline in it")
        };
        if let Some(what) = what {
            return Err(CannotHold::Name { format: NAME, what });
        }
        out.extend_from_slice(name);
        out.push(b' ');
        let digits = out.len();
        digest.write_hex(out);
        out[digits..].make_ascii_uppercase();
        out.push(b'\n');
        Ok(())
    }

    fn detect(&self, head: &[u8]) -> bool {
        let lines = head.split(|&byte| byte == b'\n').map(without_return);
        let (mut has_comment, mut lines) = (false, lines.filter(|line| !line.is_empty()));
        let first = lines.find(|line| {
            has_comment |= line[0] == b';';
            line[0] != b';'
        });
        match first {
            // More comments than are examined, and a part of the next line.
            Some(first) if has_comment && head.len() >= start::HEAD && head.ends_with(first) => {
                true
            }
            // Other formats may have such lines, which are malformed there.
            Some(first) => self.is_line(first) && !lines.any(|line| self.is_of_others(line)),
            None => has_comment,
        }
    }

    fn find_end(&mut self, bytes: &[u8]) -> Option<usize> {
        memchr::memchr(b'\n', bytes)
    }

    fn next<'a>(&mut self, text: &'a [u8]) -> Line<'a> {
        let text = without_mark(text);
        if text.starts_with(b";") {
            return Line::Blank;
        }
        let is_blank_or_return = |&byte: &u8| is_blank(byte) || byte == b'\r';
        let Some(end) = text.iter().rposition(|byte| !is_blank_or_return(byte)) else {
            return Line::Blank;
        };
        match read(&text[..=end]) {
            Ok(_) if !self.dialect.tagged.contains(Algorithm::Crc32) => Line::Malformed,
            Ok((name, digest)) => {
                let record = Record { name: Cow::Borrowed(name), ..Record::default() };
                Line::Record { record: record.with(digest), is_tagged: true }
            }
            Err(wrong) => Line::Wrong(wrong),
        }
    }
}

fn read(text: &[u8]) -> Result<(&[u8], Digest), Wrong> {
    let no_line = Wrong::Form(NAME);
    let blank = text.iter().rposition(|&byte| is_blank(byte)).ok_or(no_line)?;
    let digest = Digest::from_hex(Algorithm::Crc32, &text[blank + 1..]).ok_or(no_line)?;
    let end = text[..blank].iter().rposition(|&byte| !is_blank(byte)).ok_or(Wrong::Name)?;
    let name = &text[..=end];
    if name.contains(&0) { Err(Wrong::Name) } else { Ok((name, digest)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(line: &[u8]) -> Result<Vec<u8>, Box<Line<'_>>> {
        match Sfv::new(Dialect::any()).next(line) {
            Line::Record { record, .. } => Ok(record.name.into_owned()),
            other => Err(Box::new(other)),
        }
    }

    /// As RHash 1.4.3 writes them.
    #[test]
    fn rhash_lists_are_read() {
        let list = b"; Generated by RHash v1.4.3 on 2026-11-23 at 21:46.35\n;\n\
            ;            3  21:46.35 2026-11-23 b,c\nb,c EB8EBA67\n";
        assert!(Sfv::new(Dialect::any()).detect(list));
        assert!(Sfv::new(Dialect::any()).detect(b"b,c EB8EBA67\n"));
        assert!(Sfv::new(Dialect::any()).detect(b"\r\n; nothing yet\n"));
        for length in [start::HEAD - 9, start::HEAD - 2, start::HEAD - 1, start::HEAD] {
            let comments = "; by hand and long\n".repeat(1000);
            let list = format!("{}\nb,c EB8EBA67\n", &comments[..length]);
            assert!(Sfv::new(Dialect::any()).detect(&list.as_bytes()[..start::HEAD]), "{length}");
        }
        let md5sums = b"; by hand\n900150983cd24fb0d6963f7d28e17f72  a\n";
        assert!(!Sfv::new(Dialect::any()).detect(md5sums));
        for (line, expected) in [
            (&b"b,c EB8EBA67"[..], &b"b,c"[..]),
            (b"b,c EB8EBA67\r", b"b,c"),
            (b" a  b \t eb8eba67 ", b" a  b"),
            (b"\xff\r EB8EBA67", b"\xff\r"),
        ] {
            assert_eq!(name(line).unwrap(), expected);
        }
    }

    #[test]
    fn other_lines_are_wrong() {
        for blank in [&b""[..], b" \t", b"\r", b"; a EB8EBA67"] {
            assert_eq!(name(blank), Err(Box::new(Line::Blank)), "{blank:?}");
        }
        for wrong in [&b"a"[..], b"EB8EBA67", b"a EB8EBA6", b"a EB8EBA670", b"a EB8EBA6G"] {
            assert_eq!(name(wrong), Err(Box::new(Line::Wrong(Wrong::Form(NAME)))), "{wrong:?}");
        }
        for wrong in [&b" EB8EBA67"[..], b"a\0 EB8EBA67"] {
            assert_eq!(name(wrong), Err(Box::new(Line::Wrong(Wrong::Name))), "{wrong:?}");
        }
    }

    #[test]
    fn names_that_would_read_back_differently_are_refused() {
        let digest = Digest::from_hex(Algorithm::Crc32, b"EB8EBA67").unwrap();
        let marks = [&b"\xef\xbb\xbfa"[..], b"\xff\xfea", b"\xfe\xffa"];
        let mut out = Vec::new();
        let mut written =
            |name| Sfv::new(Dialect::any()).record(&mut out, &Record::new(name).with(digest));
        for name in [&b";a"[..], b"a ", b"a\t", b"a\nb"].into_iter().chain(marks) {
            assert!(matches!(written(name), Err(CannotHold::Name { .. })), "{name:?}");
        }
        assert_eq!(written(b""), Err(CannotHold::EmptyName(NAME)));
        assert!(out.is_empty());
    }
}
