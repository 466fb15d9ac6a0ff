//! Lists with tagged and untagged lines in any order.

use super::line::{self, Text};
use super::{CannotHold, Format, Gnu, Line, Md5deep, Tag, Wrong};
use crate::{Algorithms, Dialect, Record};

/// A list whose lines are detected one by one. It reads tagged and untagged lines and those of
/// [`Md5deep`] in any order, and writes tagged lines.
///
/// ```
/// use lanesum_list::formats::{Format, Line, Mixed};
/// use lanesum_list::{Algorithm, Dialect};
///
/// let mut list = Mixed::new(Dialect::any());
/// for (line, algorithm) in [
///     ("e3069283  a", Algorithm::Crc32c),
///     ("MD5 (a) = d41d8cd98f00b204e9800998ecf8427e", Algorithm::Md5),
/// ] {
///     let Line::Record { record, .. } = list.next(line.as_bytes()) else { panic!("{line}") };
///     assert_eq!(record.digests[0].algorithm(), algorithm);
/// }
/// assert_eq!(list.next(b"SM3 (a) = 1ab21d8355cfa17f"), Line::Unknown("SM3"));
/// ```
#[derive(Clone, Debug)]
pub struct Mixed {
    tag: Tag,
    gnu: Gnu,
    sized: Md5deep,
}

impl Mixed {
    /// Makes a list of a dialect.
    #[must_use]
    pub const fn new(dialect: Dialect) -> Self {
        Self { tag: Tag::new(dialect), gnu: Gnu::new(dialect), sized: Md5deep::new(dialect) }
    }

    /// Reads a line of md5deep with a size.
    fn sized<'a>(&mut self, whole: &'a [u8]) -> Line<'a> {
        if self.tag.dialect().is_lenient { self.sized.next(whole) } else { Line::Malformed }
    }
}

impl Format for Mixed {
    fn can_hold(&self, algorithms: Algorithms) -> Result<(), CannotHold> {
        self.tag.can_hold(algorithms)
    }

    fn record(&self, out: &mut Vec<u8>, record: &Record<'_>) -> Result<(), CannotHold> {
        self.tag.record(out, record)
    }

    fn detect(&self, head: &[u8]) -> bool {
        self.tag.detect(head) || self.gnu.detect(head)
    }

    fn find_end(&mut self, bytes: &[u8]) -> Option<usize> {
        self.tag.find_end(bytes)
    }

    fn ends_lines(&self) -> u8 {
        self.tag.ends_lines()
    }

    fn is_of_lines(&self) -> bool {
        true
    }

    fn next<'a>(&mut self, whole: &'a [u8]) -> Line<'a> {
        let text = match Text::of(whole, self.tag.dialect()) {
            Ok(text) => text,
            Err(settled) => return settled.into(),
        };
        if let Some(found) = self.tag.read(text) {
            return line::line(found, true);
        }
        if let Some(record) = self.tag.size(text) {
            return Line::Record { record, is_tagged: true };
        }
        // Before an untagged line, because a size may have as many digits as a digest.
        if Md5deep::may_be(whole)
            && let record @ Line::Record { .. } = self.sized(whole)
        {
            return record;
        }
        // First, because such a line may look like a tagged line of an unsupported algorithm.
        if let Some(line) = self.gnu.read(text) {
            return line;
        }
        let unknown = self.tag.unknown(text).or_else(|| self.gnu.unknown(text));
        if let Some(algorithm) = unknown {
            return Line::Unknown(algorithm);
        }
        match self.sized(whole) {
            record @ Line::Record { .. } => record,
            _ if self.gnu.is_without_digest(whole) => Line::Wrong(Wrong::NothingKnown),
            _ => Line::Malformed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Algorithm, Ending};

    const MD5: &str = "d41d8cd98f00b204e9800998ecf8427e";

    fn one(dialect: Dialect, line: &[u8]) -> Line<'_> {
        Mixed::new(dialect).next(line)
    }

    fn name(dialect: Dialect, line: &str) -> Option<Vec<u8>> {
        match one(dialect, line.as_bytes()) {
            Line::Record { record, .. } => Some(record.name.into_owned()),
            Line::Blank | Line::Unknown(_) | Line::Malformed | Line::Wrong(_) => None,
        }
    }

    fn algorithm(dialect: Dialect, line: &str) -> Option<Algorithm> {
        match one(dialect, line.as_bytes()) {
            Line::Record { record, .. } => Some(record.digests[0].algorithm()),
            Line::Blank | Line::Unknown(_) | Line::Malformed | Line::Wrong(_) => None,
        }
    }

    #[test]
    fn comments_and_empty_lines_are_blank() {
        let md5 = Dialect::only(Algorithm::Md5);
        for blank in [&b""[..], b"\r", b"#", b"# d41d8", b"#\0"] {
            assert_eq!(one(md5, blank), Line::Blank, "{blank:?}");
        }
        for bad in [&b" "[..], b" #", b"\r\r", b"\\", b"\0"] {
            assert_eq!(one(md5, bad), Line::Malformed, "{bad:?}");
        }
        assert_eq!(one(md5.with_ending(Ending::Nul), b"\r"), Line::Malformed);
    }

    #[test]
    fn a_line_without_a_digest_is_wrong_except_in_gnu_mode() {
        for line in [format!("{:32}  a", ""), format!("{:>32}  a", "ERROR")] {
            let (any, md5) = (Dialect::any(), Dialect::only(Algorithm::Md5));
            assert_eq!(one(any, line.as_bytes()), Line::Wrong(Wrong::NothingKnown));
            assert_eq!(Gnu::new(any).next(line.as_bytes()), Line::Wrong(Wrong::NothingKnown));
            assert_eq!(one(md5, line.as_bytes()), Line::Malformed);
        }
        // GNU md5sum accepts a line at any indentation.
        assert!(name(Dialect::any(), &format!("{:32}  {MD5}  a", "")).is_some());
    }

    #[test]
    fn leading_blanks_and_trailing_returns_are_ignored() {
        let md5 = Dialect::only(Algorithm::Md5);
        assert_eq!(name(md5, &format!(" \t {MD5}  a\r")).as_deref(), Some(&b"a"[..]));
        assert_eq!(name(md5, &format!("\t\\MD5 (a\\r) = {MD5}\r")).as_deref(), Some(&b"a\r"[..]));
        assert_eq!(name(md5, &format!("{MD5}  a\r\r")).as_deref(), Some(&b"a\r"[..]));
        assert_eq!(name(md5, &format!("\\ {MD5}  a")), None);
        let nul = md5.with_ending(Ending::Nul);
        assert_eq!(name(nul, &format!("{MD5}  a\r")).as_deref(), Some(&b"a\r"[..]));
    }

    #[test]
    fn a_nul_anywhere_is_malformed() {
        let line = format!("{MD5}  name");
        assert!(matches!(one(Dialect::any(), line.as_bytes()), Line::Record { .. }));
        for at in 0..line.len() {
            let mut line = line.clone().into_bytes();
            line[at] = 0;
            assert_eq!(one(Dialect::any(), &line), Line::Malformed, "at {at}");
        }
    }

    #[test]
    fn a_nul_ends_the_name_as_in_c() {
        let md5 = Dialect::only(Algorithm::Md5);
        // GNU md5sum 9.12 opens these names.
        for (line, expected) in [
            ("{}  a\0b", Some("a")),
            ("{} *a\0b", Some("a")),
            ("{} a\0b", Some("a")),
            ("{}  \0b", Some("")),
            ("{}\0 a", Some("a")),
            ("{}\0\0", Some("")),
            ("{}\0a b", Some("a b")),
            ("{}\0", None),
            ("\0{}  a", None),
            (" \0{}  a", None),
            ("\\{}  a\0b", None),
            ("\\{}\0 a\\\\", Some("a\\")),
            ("MD5 (a\0b) = {}", Some("a")),
            ("MD5 (\0) = {}", Some("")),
            ("\\MD5 (a\0b) = {}", None),
            ("MD5 (a)\0= {}", None),
            ("MD5\0(a) = {}", None),
            ("MD5 (a) = {}\0", None),
        ] {
            let line = line.replace("{}", MD5);
            assert_eq!(name(md5, &line).as_deref(), expected.map(str::as_bytes), "{line:?}");
        }
        for at in 0..MD5.len() {
            let mut line = format!("{MD5}  name").into_bytes();
            line[at] = 0;
            assert_eq!(one(md5, &line), Line::Malformed, "at {at}");
        }
    }

    #[test]
    fn names_are_unescaped_only_after_a_backslash_and_before_a_newline() {
        let any = Dialect::any();
        let nul = any.with_ending(Ending::Nul);
        assert_eq!(name(any, &format!("{MD5}  a\\nb")).as_deref(), Some(&b"a\\nb"[..]));
        assert_eq!(name(any, &format!("\\{MD5}  a\\nb")).as_deref(), Some(&b"a\nb"[..]));
        assert_eq!(name(nul, &format!("{MD5}  a\\nb")).as_deref(), Some(&b"a\\nb"[..]));
        assert_eq!(name(nul, &format!("\\{MD5}  a\\nb")), None);
        for bad in ["a\\", "a\\t", "\\0"] {
            assert_eq!(name(any, &format!("\\{MD5}  {bad}")), None, "{bad}");
            assert_eq!(name(any, &format!("\\MD5 ({bad}) = {MD5}")), None, "{bad}");
        }
    }

    #[test]
    fn the_dialect_limits_the_algorithms() {
        use Algorithm::{Blake3, Crc32c, Md5, Sha1, Sha224, Sha256, Sha384, Sha512, Xxh64};
        let lengths = [
            (8, Crc32c),
            (16, Xxh64),
            (32, Md5),
            (40, Sha1),
            (56, Sha224),
            (64, Sha256),
            (96, Sha384),
            (128, Sha512),
        ];
        for digits in 0..200 {
            let line = format!("{}  f", "0".repeat(digits));
            let expected =
                lengths.iter().find(|&&(length, _)| length == digits).map(|&(_, found)| found);
            assert_eq!(algorithm(Dialect::any(), &line), expected, "{digits}");
            let blake3 = (digits == 64).then_some(Blake3);
            assert_eq!(algorithm(Dialect::untagged_as(Blake3), &line), blake3, "{digits}");
            let md5 = (digits == 32).then_some(Md5);
            assert_eq!(algorithm(Dialect::only(Md5), &line), md5, "{digits}");
        }
        let sha1 = format!("SHA1 (f) = {}", "0".repeat(40));
        assert_eq!(algorithm(Dialect::any(), &sha1), Some(Sha1));
        assert_eq!(algorithm(Dialect::untagged_as(Blake3), &sha1), Some(Sha1));
        assert_eq!(algorithm(Dialect::only(Md5), &sha1), None);
    }

    #[test]
    fn with_a_key_only_keyed_algorithms_match() {
        let key = |length| {
            let takes_it = |algorithm: &Algorithm| algorithm.key_len() == Some(length);
            Algorithm::ALL.into_iter().filter(takes_it).collect()
        };
        for digits in 0..200 {
            let line = format!("{}  f", "0".repeat(digits));
            let blake3 = (digits == 64).then_some(Algorithm::Blake3);
            assert_eq!(algorithm(Dialect::keyed(key(32)), &line), blake3, "{digits}");
            let siphash = match digits {
                16 => Some(Algorithm::Siphash24),
                32 => Some(Algorithm::Siphash24Wide),
                _ => None,
            };
            assert_eq!(algorithm(Dialect::keyed(key(16)), &line), siphash, "{digits}");
        }
        for tagged in Algorithm::ALL {
            let line = format!("{} (f) = {}", tagged.tag(), "0".repeat(2 * tagged.digest_len()));
            for length in [16, 32] {
                let expected = (tagged.key_len() == Some(length)).then_some(tagged);
                assert_eq!(algorithm(Dialect::keyed(key(length)), &line), expected, "{line}");
            }
        }
    }

    #[test]
    fn gnu_mode_rejects_base64_and_padded_tags() {
        let padded = format!("MD5   (f) = {MD5}");
        for line in ["MD5 (f) = 1B2M2Y8AsgTpgAmY7PhCfg==", "1B2M2Y8AsgTpgAmY7PhCfg==  f", &padded] {
            assert_eq!(algorithm(Dialect::any(), line), Some(Algorithm::Md5), "{line}");
            assert_eq!(algorithm(Dialect::only(Algorithm::Md5), line), None, "{line}");
        }
    }
}
