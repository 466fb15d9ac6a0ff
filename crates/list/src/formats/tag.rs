//! Tagged lines: `MD5 (name) = hex`, as BSD `md5` and `md5sum --tag` write them.
//!
//! The forms of OpenSSL, `MD5(name)= hex`, and of RHash, `MD5   (name) = hex`, differ only in
//! blanks. The name ends at the last `)` of the line, so a name that contains `) = ` needs no
//! escape.

use super::line::{self, Found, Text, skip_blanks};
use super::{CannotHold, Format, Line, foreign};
use crate::{Algorithm, Algorithms, Dialect, Digest, Record, digits};

/// A list of tagged lines.
///
/// ```
/// use lanesum_list::formats::{Format, Line, Tag};
/// use lanesum_list::{Algorithm, Dialect, Digest, Record};
///
/// let digest = Digest::from_hex(Algorithm::Crc32c, b"e3069283").unwrap();
/// let record = Record::new("a b").with(digest);
/// let mut list = Tag::new(Dialect::any());
/// let mut line = Vec::new();
/// list.record(&mut line, &record)?;
/// assert_eq!(line, b"CRC32C (a b) = e3069283\n");
/// assert_eq!(list.next(b"CRC32C(a b)= E3069283"), Line::Record { record, is_tagged: true });
/// # Ok::<(), lanesum_list::formats::CannotHold>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tag {
    dialect: Dialect,
}

impl Tag {
    /// Makes a list of a dialect.
    #[must_use]
    pub const fn new(dialect: Dialect) -> Self {
        Self { dialect }
    }

    pub(super) const fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    pub(super) fn read<'a>(&self, text: Text<'a>) -> Option<Found<'a>> {
        let (name, digest) = read(text.bytes, self.dialect.tagged, self.dialect.is_lenient)?;
        Some((text.name(name)?, digest))
    }

    /// Reads the size of a file, as in `distinfo` of FreeBSD: `SIZE (name) = 123`. NetBSD adds
    /// `bytes`.
    pub(super) fn size<'a>(&self, text: Text<'a>) -> Option<Record<'a>> {
        if !self.dialect.is_lenient || !text.bytes.get(..4)?.eq_ignore_ascii_case(b"size") {
            return None;
        }
        let (tag, name, size) = split(text.bytes, true)?;
        let size = size.strip_suffix(b"bytes").unwrap_or(size).trim_ascii_end();
        let size = line::number(size).filter(|_| tag.eq_ignore_ascii_case(b"size"))?;
        Some(Record { name: text.name(name)?, size: Some(size), ..Record::default() })
    }

    /// Returns the line if it has an unsupported algorithm.
    pub(super) fn unknown<'a>(&self, text: Text<'a>) -> Option<&'a str> {
        if !self.dialect.is_lenient {
            return None;
        }
        let tag = foreign::by_tag(text.unmarked())?;
        // In any case, because a supported tag in the wrong case is malformed.
        let is_known = |it: Algorithm| it.tags().any(|known| known.eq_ignore_ascii_case(tag));
        (!Algorithm::ALL.into_iter().any(is_known)).then_some(tag)
    }
}

impl Format for Tag {
    fn can_hold(&self, _: Algorithms) -> Result<(), CannotHold> {
        Ok(())
    }

    fn record(&self, out: &mut Vec<u8>, record: &Record<'_>) -> Result<(), CannotHold> {
        line::write("tag", out, self.dialect.ending, record, |out, name, digest| {
            out.extend_from_slice(digest.algorithm().tag().as_bytes());
            out.extend_from_slice(b" (");
            out.extend_from_slice(name);
            out.extend_from_slice(b") = ");
            digits::write(out, digest, self.dialect.writes_base64);
        })
    }

    fn detect(&self, head: &[u8]) -> bool {
        let first = line::first(head, self.dialect.ending);
        matches!(self.clone().next(first), Line::Record { .. })
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
                Some(found) => line::line(found, true),
                None => match self.size(text) {
                    Some(record) => Line::Record { record, is_tagged: true },
                    None => self.unknown(text).map_or(Line::Malformed, Line::Unknown),
                },
            },
            Err(settled) => settled.into(),
        }
    }
}

/// The position of the opening parenthesis after the longest tag and a space.
const OPENS_WITHIN: usize = 15;

/// Returns the still escaped name and the digest if the tag is that of one of `algorithms`. If
/// `is_lenient`, several spaces may follow the tag, and the digits may be base64.
fn read(text: &[u8], algorithms: Algorithms, is_lenient: bool) -> Option<(&[u8], Digest)> {
    let (tag, name, digits) = split(text, is_lenient)?;
    let algorithm = algorithms.iter().find(|algorithm| algorithm.has_tag(tag))?;
    Some((name, digits::read(algorithm, digits, is_lenient)?))
}

/// Returns the tag, the still escaped name and the digits of text that looks like a tagged line.
pub(super) fn split(text: &[u8], is_lenient: bool) -> Option<(&[u8], &[u8], &[u8])> {
    let open = text.iter().take(OPENS_WITHIN).position(|&byte| byte == b'(')?;
    let mut tag = text[..open].strip_suffix(b" ").unwrap_or(&text[..open]);
    while is_lenient && let Some(shorter) = tag.strip_suffix(b" ") {
        tag = shorter;
    }
    let rest = &text[open + 1..];
    let close = memchr::memrchr(b')', rest)?;
    let digits = skip_blanks(skip_blanks(&rest[close + 1..]).strip_prefix(b"=")?);
    Some((tag, &rest[..close], digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: fn() -> Algorithms = || Algorithm::ALL.into_iter().collect();

    #[test]
    fn bsd_and_openssl_lines_are_read() {
        let digest = Digest::from_hex(Algorithm::Crc32c, b"e3069283").unwrap();
        for line in [
            "CRC32C (a b) = e3069283",
            "CRC32C(a b)= E3069283",
            "CRC32C (a b)=e3069283",
            "CRC32C (a b)\t = \t e3069283",
            "CRC32C (a b) = 4waSgw==",
            "CRC32C   (a b) = e3069283",
        ] {
            assert_eq!(read(line.as_bytes(), ALL(), true), Some((&b"a b"[..], digest)), "{line}");
        }
    }

    #[test]
    fn a_name_may_contain_the_end_marker() {
        for (line, name) in [
            ("CRC32C (a) = b) = e3069283", "a) = b"),
            ("CRC32C () = e3069283", ""),
            ("CRC32C ()) = e3069283", ")"),
            ("CRC32C (() = e3069283", "("),
        ] {
            let read = read(line.as_bytes(), ALL(), false);
            assert_eq!(read.map(|(name, _)| name), Some(name.as_bytes()), "{line}");
        }
    }

    #[test]
    fn every_tag_and_alias_is_found() {
        let tags = |algorithm: Algorithm| algorithm.tags().map(move |tag| (tag, algorithm));
        for (tag, algorithm) in Algorithm::ALL.into_iter().flat_map(tags) {
            let digest = Digest::new(algorithm, &vec![7; algorithm.digest_len()]).unwrap();
            let line = format!("{tag} (f) = {digest}");
            assert_eq!(read(line.as_bytes(), ALL(), false), Some((&b"f"[..], digest)), "{line}");
            let others = ALL().iter().filter(|&other| other != algorithm).collect();
            assert_eq!(read(line.as_bytes(), others, false), None, "{line}");
        }
    }

    #[test]
    fn untagged_lines_have_no_tag() {
        for line in [
            "",
            "CRC32C",
            "CRC32C (",
            "CRC32C (a",
            "CRC32C (a)",
            "CRC32C (a) e3069283",
            "CRC32C (a) = ",
            "CRC32C (a) = e306928",
            "CRC32C (a) = e3069283 ",
            "crc32c (a) = e3069283",
            "CRC32C (a) = 4waSgw=",
            "CRC32C (a) = 4waSgw",
            "MD5 (a) = e3069283",
        ] {
            assert_eq!(read(line.as_bytes(), ALL(), true), None, "{line}");
        }
    }
}
