//! Manifests of BagIt, RFC 8493 section 2.1.3: `digest  data/path`.
//!
//! Only carriage returns, newlines and percent signs of a name are percent-encoded. bagit.py 1.9
//! and other programs do not encode the percent sign, so a name that looks encoded may be literal.
//! [`Record::raw_name`] holds the literal name.

use std::borrow::Cow;

use super::line::{is_blank, skip_blanks, without_return};
use super::{CannotHold, Format, Line, Wrong, cannot, foreign};
use crate::{Algorithms, Dialect, Digest, Record, digits};

const NAME: &str = "bagit";

/// The manifest of a bag.
///
/// The algorithm is in the name of the file, not in the lines. Read a manifest with
/// [`Dialect::untagged_as`].
///
/// ```
/// use lanesum_list::formats::{BagIt, Format, Line};
/// use lanesum_list::{Algorithm, Dialect, Digest, Record};
///
/// let digest = Digest::from_hex(Algorithm::Md5, b"900150983cd24fb0d6963f7d28e17f72").unwrap();
/// let mut list = BagIt::new(Dialect::untagged_as(Algorithm::Md5));
/// let mut line = Vec::new();
/// list.record(&mut line, &Record::new("data/100%").with(digest))?;
/// assert_eq!(line, b"900150983cd24fb0d6963f7d28e17f72  data/100%25\n");
/// let Line::Record { record, .. } = list.next(line.strip_suffix(b"\n").unwrap()) else { panic!() };
/// assert_eq!(&*record.name, b"data/100%");
/// assert_eq!(record.raw_name.as_deref(), Some(&b"data/100%25"[..]));
/// # Ok::<(), lanesum_list::formats::CannotHold>(())
/// ```
#[derive(Clone, Debug)]
pub struct BagIt {
    dialect: Dialect,
}

impl BagIt {
    /// Makes a manifest of a dialect.
    #[must_use]
    pub const fn new(dialect: Dialect) -> Self {
        Self { dialect }
    }
}

impl Format for BagIt {
    fn can_hold(&self, algorithms: Algorithms) -> Result<(), CannotHold> {
        cannot::one_of(NAME, algorithms, Algorithms::ALL)
    }

    fn record(&self, out: &mut Vec<u8>, record: &Record<'_>) -> Result<(), CannotHold> {
        let digest = cannot::the_digest(NAME, record)?;
        match record.name.first() {
            None => return Err(CannotHold::EmptyName(NAME)),
            Some(b' ' | b'\t' | b'*') => {
                let what = "that begins with a space or an asterisk";
                return Err(CannotHold::Name { format: NAME, what });
            }
            Some(_) => {}
        }
        digest.write_hex(out);
        out.extend_from_slice(b"  ");
        for &byte in &*record.name {
            match byte {
                b'\n' => out.extend_from_slice(b"%0A"),
                b'\r' => out.extend_from_slice(b"%0D"),
                b'%' => out.extend_from_slice(b"%25"),
                _ => out.push(byte),
            }
        }
        out.push(b'\n');
        Ok(())
    }

    /// A manifest looks like a list of md5sum. Only the name of the file identifies it.
    fn detect(&self, _: &[u8]) -> bool {
        false
    }

    fn find_end(&mut self, bytes: &[u8]) -> Option<usize> {
        memchr::memchr(b'\n', bytes)
    }

    fn next<'a>(&mut self, text: &'a [u8]) -> Line<'a> {
        let text = without_return(text);
        if text.is_empty() {
            return Line::Blank;
        }
        match read(text, self.dialect.untagged) {
            Ok((digest, raw)) => {
                let record = match decode(raw) {
                    Cow::Borrowed(name) => Record::new(name),
                    name => {
                        Record { name, raw_name: Some(Cow::Borrowed(raw)), ..Record::default() }
                    }
                };
                Line::Record { record: record.with(digest), is_tagged: false }
            }
            Err(wrong) => foreign::by_digits(text).map_or(Line::Wrong(wrong), Line::Unknown),
        }
    }

    fn is_of_lines(&self) -> bool {
        true
    }
}

/// Returns the digest and the name, without decoding.
fn read(text: &[u8], algorithms: Algorithms) -> Result<(Digest, &[u8]), Wrong> {
    let no_line = Wrong::Form(NAME);
    let end = text.iter().position(|&byte| is_blank(byte)).ok_or(no_line)?;
    let read = |algorithm| digits::read(algorithm, &text[..end], false);
    let digest = algorithms.iter().find_map(read).ok_or(no_line)?;
    // The star of md5sum, which tools older than the RFC used. bagit.py skips it as well.
    let name = skip_blanks(&text[end..]);
    let name = name.strip_prefix(b"*").unwrap_or(name);
    if name.is_empty() || name.contains(&0) { Err(Wrong::Name) } else { Ok((digest, name)) }
}

/// Decodes carriage returns, newlines and percent signs of a name. The result is owned if there
/// were any.
fn decode(raw: &[u8]) -> Cow<'_, [u8]> {
    let mut name = Vec::new();
    let mut rest = raw;
    let mut from = 0;
    while let Some(found) = memchr::memchr(b'%', &rest[from..]) {
        let at = from + found;
        let byte = match rest.get(at + 1..at + 3) {
            Some(b"0A" | b"0a") => b'\n',
            Some(b"0D" | b"0d") => b'\r',
            Some(b"25") => b'%',
            _ => {
                from = at + 1;
                continue;
            }
        };
        name.extend_from_slice(&rest[..at]);
        name.push(byte);
        (rest, from) = (&rest[at + 3..], 0);
    }
    if name.is_empty() {
        return Cow::Borrowed(raw);
    }
    name.extend_from_slice(rest);
    Cow::Owned(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Algorithm;

    #[test]
    fn only_three_bytes_are_encoded() {
        for (raw, name) in [
            ("data/a", "data/a"),
            ("data/%0a%0D%25%0A%0d", "data/\n\r%\n\r"),
            ("data/%20%2F%41%", "data/%20%2F%41%"),
            ("data/%2525", "data/%25"),
            ("%%0A%", "%\n%"),
            ("%2", "%2"),
        ] {
            assert_eq!(decode(raw.as_bytes()), name.as_bytes(), "{raw}");
            assert_eq!(matches!(decode(raw.as_bytes()), Cow::Owned(_)), raw != name);
        }
    }

    #[test]
    fn any_blanks_may_separate_digest_and_name() {
        let mut list = BagIt::new(Dialect::untagged_as(Algorithm::Crc32));
        for line in ["352441c2 data/a", "352441C2 \t data/a\r", "352441c2 *data/a"] {
            let Line::Record { record, .. } = list.next(line.as_bytes()) else { panic!("{line}") };
            assert_eq!((&*record.name, &record.raw_name), (&b"data/a"[..], &None));
            assert_eq!(record.digests[0].algorithm(), Algorithm::Crc32);
        }
        for line in ["352441c2", "352441c  data/a", "x", "\\352441c2  data/a"] {
            assert_eq!(list.next(line.as_bytes()), Line::Wrong(Wrong::Form(NAME)), "{line}");
        }
        assert_eq!(list.next(b"352441c2  "), Line::Wrong(Wrong::Name));
        let tiger = format!("{}  data/a", "0".repeat(48));
        assert_eq!(list.next(tiger.as_bytes()), Line::Unknown("Tiger"));
    }
}
