//! The output of `md5deep -z`, `sha1deep -z` and `sha256deep -z`: the size first, in ten columns.

use std::borrow::Cow;

use super::line::{self, is_blank, skip_blanks, without_mark, without_return};
use super::{CannotHold, Format, Line, Wrong, cannot};
use crate::{Algorithm, Algorithms, Dialect, Digest, Record, digits};

const NAME: &str = "md5deep";

/// The minimum width of the size.
const SIZE_WIDTH: usize = 10;

/// A list of lines with sizes.
///
/// ```
/// use lanesum_list::formats::{Format, Line, Md5deep};
/// use lanesum_list::{Algorithm, Dialect, Digest, Record};
///
/// let digest = Digest::from_hex(Algorithm::Md5, b"900150983cd24fb0d6963f7d28e17f72").unwrap();
/// let record = Record { size: Some(3), ..Record::new("a") }.with(digest);
/// let mut list = Md5deep::new(Dialect::any());
/// let mut line = Vec::new();
/// list.record(&mut line, &record)?;
/// assert_eq!(line, b"         3  900150983cd24fb0d6963f7d28e17f72  a\n");
/// let line = line.strip_suffix(b"\n").unwrap();
/// assert_eq!(list.next(line), Line::Record { record, is_tagged: false });
/// # Ok::<(), lanesum_list::formats::CannotHold>(())
/// ```
#[derive(Clone, Debug)]
pub struct Md5deep {
    dialect: Dialect,
}

impl Md5deep {
    /// Makes a list of a dialect.
    #[must_use]
    pub const fn new(dialect: Dialect) -> Self {
        Self { dialect }
    }

    /// Returns whether a line begins with a size in its column. Fewer columns may be the digits of
    /// a checksum.
    pub(super) fn may_be(line: &[u8]) -> bool {
        let blanks = line.iter().take_while(|&&byte| byte == b' ').count();
        let digits = line[blanks..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        blanks + digits >= SIZE_WIDTH
    }
}

impl Format for Md5deep {
    fn can_hold(&self, algorithms: Algorithms) -> Result<(), CannotHold> {
        let known = [Algorithm::Md5, Algorithm::Sha1, Algorithm::Sha256].into_iter().collect();
        cannot::one_of(NAME, algorithms, known)
    }

    fn record(&self, out: &mut Vec<u8>, record: &Record<'_>) -> Result<(), CannotHold> {
        let digest = cannot::the_digest(NAME, record)?;
        self.can_hold(digest.algorithm().into())?;
        let size = record.size.ok_or(CannotHold::NoSize(NAME))?;
        line::refuse_broken(NAME, &record.name)?;
        let begin = out.len();
        line::write_number(out, size);
        let blanks = SIZE_WIDTH.saturating_sub(out.len() - begin);
        out.splice(begin..begin, std::iter::repeat_n(b' ', blanks));
        out.extend_from_slice(b"  ");
        digest.write_hex(out);
        out.extend_from_slice(b"  ");
        out.extend_from_slice(&record.name);
        out.push(b'\n');
        Ok(())
    }

    fn detect(&self, head: &[u8]) -> bool {
        let first = line::first(head, self.dialect.ending);
        Self::may_be(first) && matches!(self.clone().next(first), Line::Record { .. })
    }

    fn find_end(&mut self, bytes: &[u8]) -> Option<usize> {
        memchr::memchr(b'\n', bytes)
    }

    fn next<'a>(&mut self, text: &'a [u8]) -> Line<'a> {
        let text = without_mark(without_return(text));
        if text.is_empty() {
            return Line::Blank;
        }
        match read(skip_blanks(text), self.dialect.untagged) {
            Some((size, digest, name)) => {
                let record =
                    Record { size: Some(size), name: Cow::Borrowed(name), ..Record::default() };
                Line::Record { record: record.with(digest), is_tagged: false }
            }
            None => Line::Wrong(Wrong::Form(NAME)),
        }
    }

    fn is_of_lines(&self) -> bool {
        true
    }
}

/// Returns the size, the digest and the name, after leading blanks.
fn read(text: &[u8], algorithms: Algorithms) -> Option<(u64, Digest, &[u8])> {
    let end = text.iter().position(|&byte| is_blank(byte))?;
    let size = line::number(&text[..end])?;
    let text = text[end..].strip_prefix(b"  ")?;
    let end = text.iter().position(|&byte| is_blank(byte))?;
    let digest = algorithms.iter().find_map(|it| digits::read(it, &text[..end], false))?;
    let name = text[end..].strip_prefix(b"  ").or_else(|| text[end..].strip_prefix(b" *"))?;
    (!name.is_empty() && !name.contains(&0)).then_some((size, digest, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MD5: &str = "900150983cd24fb0d6963f7d28e17f72";

    #[test]
    fn a_size_wider_than_its_column_is_read() {
        for size in [0, 9_999_999_999, 12_345_678_901, u64::MAX] {
            let line = format!("{size:>10}  {MD5}   a b ");
            let list = Md5deep::new(Dialect::any());
            assert!(list.detect(line.as_bytes()), "{line}");
            let Line::Record { record, .. } = list.clone().next(line.as_bytes()) else { panic!() };
            assert_eq!((record.size, &*record.name), (Some(size), &b" a b "[..]));
        }
    }

    #[test]
    fn a_crc_is_not_taken_for_a_size() {
        assert!(!Md5deep::new(Dialect::any()).detect(format!("12345678  {MD5}  a\n").as_bytes()));
    }

    #[test]
    fn other_lines_are_wrong() {
        for line in
            ["a", "         3", &format!("         3  {MD5}"), &format!("         3 {MD5}  a")]
        {
            let read = Md5deep::new(Dialect::any()).next(line.as_bytes());
            assert_eq!(read, Line::Wrong(Wrong::Form(NAME)), "{line}");
        }
    }
}
