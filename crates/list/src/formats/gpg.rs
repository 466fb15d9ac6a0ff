//! `gpg --print-md`: `name: BA7816BF 8F01CFEA ...`, or `name: SHA256 = ...` with all algorithms.
//! Read only.
//!
//! A long digest continues in indented lines, so a record ends at the first byte of the next one.

use super::line::{self, is_blank};
use super::{CannotHold, Format, Line, Wrong};
use crate::{Algorithm, Algorithms, Dialect, Digest, Record};

const NAME: &str = "gpg";

/// A list of digests in groups.
///
/// ```
/// use lanesum_list::formats::{Gpg, Line};
/// use lanesum_list::{Dialect, lines};
///
/// let list = b"a b: 90 01 50 98 3C D2 4F B0  D6 96 3F 7D 28 E1 7F 72\n";
/// let read: Vec<_> = lines(list, &mut Gpg::new(Dialect::any())).collect();
/// let [(1, Line::Record { record, .. })] = &*read else { panic!("{read:?}") };
/// assert_eq!(&*record.name, b"a b");
/// ```
#[derive(Clone, Debug)]
pub struct Gpg {
    dialect: Dialect,
    is_at_start: bool,
    /// The first byte of the next text, and that of the text after it.
    first: Option<u8>,
    second: Option<u8>,
}

impl Gpg {
    /// Makes a list of a dialect.
    #[must_use]
    pub const fn new(dialect: Dialect) -> Self {
        Self { dialect, is_at_start: false, first: None, second: None }
    }

    fn read(&self, text: &[u8]) -> Result<Line<'static>, Wrong> {
        let (name, algorithm, digits) = split(text).ok_or(Wrong::Form(NAME))?;
        let (digest, is_tagged) = match algorithm {
            // Other lines may have a known digest of the file.
            Some(algorithm) => match str::from_utf8(algorithm).ok().and_then(Algorithm::called) {
                Some(it) if self.dialect.tagged.contains(it) => {
                    (Digest::from_hex(it, &digits).ok_or(Wrong::Digest(it))?, true)
                }
                _ => return Ok(Line::Blank),
            },
            None => {
                let mut read =
                    self.dialect.untagged.iter().filter_map(|it| Digest::from_hex(it, &digits));
                (read.next().ok_or(Wrong::Form(NAME))?, false)
            }
        };
        let record = Record::new(name).with(digest).into_owned();
        Ok(Line::Record { record, is_tagged })
    }
}

/// The name, the name of the algorithm if there is one, and the digits without blanks.
type Parts<'a> = (&'a [u8], Option<&'a [u8]>, Vec<u8>);

fn split(text: &[u8]) -> Option<Parts<'_>> {
    let colon = memchr::memmem::rfind(text, b": ")?;
    let (name, rest) = (&text[..colon], line::skip_blanks(&text[colon + 2..]));
    let (algorithm, groups) = match memchr::memmem::find(rest, b" = ") {
        Some(end) => (Some(rest[..end].trim_ascii()), &rest[end + 3..]),
        None => (None, rest),
    };
    let mut digits = Vec::with_capacity(groups.len());
    digits.extend(groups.iter().filter(|byte| !byte.is_ascii_whitespace()));
    let is_valid = digits.len() >= 32
        && digits.iter().all(u8::is_ascii_hexdigit)
        && groups.iter().any(|&byte| is_blank(byte))
        && !name.is_empty()
        && !name.contains(&0);
    is_valid.then_some((name, algorithm, digits))
}

impl Format for Gpg {
    fn can_hold(&self, _: Algorithms) -> Result<(), CannotHold> {
        Err(CannotHold::ReadOnly(NAME))
    }

    fn record(&self, _: &mut Vec<u8>, _: &Record<'_>) -> Result<(), CannotHold> {
        Err(CannotHold::ReadOnly(NAME))
    }

    fn detect(&self, head: &[u8]) -> bool {
        split(line::first(head, self.dialect.ending)).is_some()
    }

    fn find_end(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if std::mem::take(&mut self.is_at_start) && !byte.is_ascii_whitespace() {
                self.second = Some(byte);
                return Some(at);
            }
            let end = memchr::memchr(b'\n', &bytes[at..])?;
            (self.is_at_start, at) = (true, at + end + 1);
        }
        None
    }

    fn next<'a>(&mut self, text: &'a [u8]) -> Line<'a> {
        let first = std::mem::replace(&mut self.first, self.second.take());
        let text = [first.as_slice(), text].concat();
        if text.trim_ascii().is_empty() || text.starts_with(b"#") {
            return Line::Blank;
        }
        self.read(text.trim_ascii_end()).unwrap_or_else(Line::Wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines;

    fn read(list: &str) -> Vec<(u64, Line<'_>)> {
        let lines: Vec<_> = lines(list.as_bytes(), &mut Gpg::new(Dialect::any())).collect();
        lines.into_iter().filter(|(_, line)| *line != Line::Blank).collect()
    }

    /// As GnuPG 2.2.40 writes them.
    #[test]
    fn continued_digests_are_joined() {
        let sha512 = "a: DDAF35A1 93617ABA CC417349 AE204131 12E6FA4E 89A97EA2 0A9EEEE6 4B55D39A\n\
                      \x20  2192992A 274FC1A8 36BA3C23 A3FEEBBD 454D4423 643CE80E 2A9AC94F A54CA49F\n";
        let all = [
            "b c:    MD5 = 90 01 50 98 3C D2 4F B0  D6 96 3F 7D 28 E1 7F 72\n",
            "b c:   SHA1 = A999 3E36 4706 816A BA3E  2571 7850 C26C 9CD0 D89D\n",
            "b c: RMD160 = 8EB2 08F7 E05D 987A 9B04  4A8E 98C6 B087 F15A 0BFC\n",
        ];
        let all = all.concat();
        let list = format!("{sha512}{all}xy\n{sha512}");
        let read = read(&list);
        let algorithm = |line: &Line<'_>| match line {
            Line::Record { record, .. } => Some(record.digests[0].algorithm()),
            _ => None,
        };
        let found: Vec<_> = read.iter().map(|(number, line)| (*number, algorithm(line))).collect();
        use Algorithm::{Md5, Sha1, Sha512};
        let expected =
            [(1, Some(Sha512)), (3, Some(Md5)), (4, Some(Sha1)), (6, None), (7, Some(Sha512))];
        assert_eq!(found, expected);
    }

    #[test]
    fn other_lines_are_wrong() {
        for (line, wrong) in [
            ("a", Wrong::Form(NAME)),
            ("a: 90 01", Wrong::Form(NAME)),
            ("a: 90 01 50 98 3C D2 4F B0  D6 96 3F 7D 28 E1 7F 72 00", Wrong::Form(NAME)),
            (
                "a: MD5 = 90 01 50 98 3C D2 4F B0  D6 96 3F 7D 28 E1 7F 72 00",
                Wrong::Digest(Algorithm::Md5),
            ),
        ] {
            assert_eq!(read(line), [(1, Line::Wrong(wrong))], "{line}");
        }
        for list in ["", "a: b\n", "a: 900150983cd24fb0d6963f7d28e17f72\n", "a 352441C2\n"] {
            assert!(!Gpg::new(Dialect::any()).detect(list.as_bytes()), "{list}");
        }
    }
}
