//! What a line says, after the rules of the list it stands in.

use crate::{Algorithm, Algorithms, Digest, Ending, escape, foreign, gnu, skip_blanks, tag};

/// What a list says about one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The file's name, as it was before it was escaped. Never holds NUL; empty only when a tagged
    /// line says so, or where a NUL ends names.
    pub name: Vec<u8>,
    /// The digest it should have.
    pub digest: Digest,
    /// Whether the line names its algorithm. Where it does not, the [`Dialect`] says which it is.
    pub is_tagged: bool,
}

/// A line of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A file and its digest.
    Entry(Entry),
    /// An empty line, or a comment: one whose first byte is `#`.
    Blank,
    /// What may be a file and its digest, of an algorithm that is not known here: what the line calls it. With
    /// [`Dialect::only`] it is malformed, as to md5sum.
    Unknown(String),
    /// Anything else.
    Malformed,
}

/// Which lines a list may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The algorithms whose tagged lines are read.
    tagged: Algorithms,
    /// The algorithms that an untagged line may be of: the first that has as many digits.
    untagged: Algorithms,
    /// Also what GNU's programs for one algorithm do not read: digits in base64, a padded tag.
    is_lenient: bool,
    /// A NUL ends a name, as it ends a string in C; otherwise it makes a line malformed.
    nul_ends_names: bool,
    ending: Ending,
}

impl Dialect {
    /// Lines of one algorithm only, in hexadecimal, as GNU md5sum, sha256sum and their like read
    /// them: what follows a NUL in a name is not looked at.
    #[must_use]
    pub fn only(algorithm: Algorithm) -> Self {
        Self {
            tagged: algorithm.into(),
            untagged: algorithm.into(),
            is_lenient: false,
            nul_ends_names: true,
            ending: Ending::Newline,
        }
    }

    /// Lines of any algorithm, in hexadecimal or base64. An untagged line's algorithm is told by
    /// its number of hexadecimal digits: 8 CRC-32C, 32 MD5, 40 SHA-1, 64 SHA-256, 128 SHA-512.
    #[must_use]
    pub fn any() -> Self {
        const BY_LENGTH: Algorithms = Algorithms::NONE
            .with(Algorithm::Crc32c)
            .with(Algorithm::Md5)
            .with(Algorithm::Sha1)
            .with(Algorithm::Sha256)
            .with(Algorithm::Sha512);
        Self {
            tagged: Algorithm::ALL.into_iter().collect(),
            untagged: BY_LENGTH,
            is_lenient: true,
            nul_ends_names: false,
            ending: Ending::Newline,
        }
    }

    /// As [`any`](Self::any), but an untagged line may have as many digits as any algorithm's: for
    /// telling lists from other files.
    pub(crate) fn of_any_length() -> Self {
        Self { untagged: Algorithm::ALL.into_iter().collect(), ..Self::any() }
    }

    /// As [`any`](Self::any), but untagged lines are of this algorithm.
    #[must_use]
    pub fn untagged_as(algorithm: Algorithm) -> Self {
        Self::any().with_untagged(algorithm)
    }

    /// Lines of these algorithms, those that take a key, and no others: they would pass for proof
    /// that whoever wrote the list had the key. An untagged line's algorithm is told by its number
    /// of hexadecimal digits: 64 BLAKE3, 16 SipHash-2-4, 32 its form of 128 bits.
    #[must_use]
    pub fn keyed(algorithms: Algorithms) -> Self {
        const BY_LENGTH: Algorithms = Algorithms::NONE
            .with(Algorithm::Blake3)
            .with(Algorithm::Siphash24)
            .with(Algorithm::Siphash24Wide);
        Self {
            tagged: algorithms,
            untagged: BY_LENGTH.iter().filter(|&told| algorithms.contains(told)).collect(),
            ..Self::any()
        }
    }

    /// The same, but untagged lines are of this algorithm.
    #[must_use]
    pub fn with_untagged(self, algorithm: Algorithm) -> Self {
        Self { untagged: algorithm.into(), ..self }
    }

    /// The same with lines that end otherwise. It is [`Ending::Newline`] unless set.
    #[must_use]
    pub const fn with_ending(self, ending: Ending) -> Self {
        Self { ending, ..self }
    }

    /// What ends a line.
    #[must_use]
    pub const fn ending(&self) -> Ending {
        self.ending
    }

    /// Whether an untagged line of this algorithm is read as one.
    ///
    /// ```
    /// # use lanesum_list::{Algorithm, Dialect};
    /// assert!(Dialect::any().tells(Algorithm::Sha256));
    /// // As many digits as SHA-256, which it is taken for.
    /// assert!(!Dialect::any().tells(Algorithm::Blake3));
    /// ```
    #[must_use]
    pub fn tells(&self, algorithm: Algorithm) -> bool {
        let has_as_many = |other: &Algorithm| other.digest_len() == algorithm.digest_len();
        self.untagged.iter().find(has_as_many) == Some(algorithm)
    }

    /// The other algorithms of its lines that have as many digits as this one: what an untagged
    /// line may be of that is read as this.
    pub fn mistaken_for(&self, algorithm: Algorithm) -> impl Iterator<Item = Algorithm> {
        self.tagged
            .without(algorithm)
            .iter()
            .filter(move |other| other.digest_len() == algorithm.digest_len())
    }
}

/// Reads the lines of one list, in their order.
///
/// The rules are GNU md5sum's: blanks before the digits are skipped, digits have either case, a
/// carriage return before the newline is ignored. A NUL makes a line malformed, but with
/// [`Dialect::only`], where it ends the name, as to md5sum.
#[derive(Clone, Debug)]
pub struct Parser {
    dialect: Dialect,
    form: Option<gnu::Form>,
}

impl Parser {
    /// A parser for one list: the first untagged line decides the form of the others.
    #[must_use]
    pub const fn new(dialect: Dialect) -> Self {
        Self { dialect, form: None }
    }

    /// What the list's next line says. The line comes without its newline or NUL; a carriage
    /// return that stood before the newline may still be there.
    pub fn parse(&mut self, line: &[u8]) -> Line {
        let line = match self.dialect.ending {
            Ending::Newline => line.strip_suffix(b"\r").unwrap_or(line),
            Ending::Nul => line,
        };
        match line.first() {
            None | Some(b'#') => Line::Blank,
            Some(_) => match self.entry(line) {
                Some(entry) => Line::Entry(entry),
                None => self.unknown(line).map_or(Line::Malformed, Line::Unknown),
            },
        }
    }

    fn unknown(&self, line: &[u8]) -> Option<String> {
        if !self.dialect.is_lenient || memchr::memchr(b'\0', line).is_some() {
            return None;
        }
        let text = skip_blanks(line);
        let named = foreign::algorithm(text.strip_prefix(&[escape::MARK]).unwrap_or(text))?;
        let is_known =
            Algorithm::ALL.iter().any(|&it| tag::is_of(named.to_ascii_uppercase().as_bytes(), it));
        (!is_known).then(|| named.to_owned())
    }

    fn entry(&mut self, line: &[u8]) -> Option<Entry> {
        let Dialect { tagged, untagged, is_lenient, nul_ends_names, ending } = self.dialect;
        if !nul_ends_names && memchr::memchr(b'\0', line).is_some() {
            return None;
        }
        let text = skip_blanks(line);
        let (text, escaped) = match text.split_first() {
            Some((&escape::MARK, rest)) if ending == Ending::Newline => (rest, true),
            _ => (text, false),
        };
        let tagged = tag::read(text, tagged, is_lenient);
        let is_tagged = tagged.is_some();
        let (name, digest) =
            tagged.or_else(|| gnu::read(text, untagged, is_lenient, &mut self.form))?;
        let name = match (memchr::memchr(b'\0', name), escaped) {
            (None, false) => name.to_vec(),
            (None, true) => escape::unescape(name)?,
            (Some(end), false) => name[..end].to_vec(),
            // It would be the wrong name, and nobody escapes one that holds NUL.
            (Some(_), true) => return None,
        };
        Some(Entry { name, digest, is_tagged })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MD5: &str = "d41d8cd98f00b204e9800998ecf8427e";

    fn one(dialect: Dialect, line: &[u8]) -> Line {
        Parser::new(dialect).parse(line)
    }

    fn name(dialect: Dialect, line: &str) -> Option<Vec<u8>> {
        match one(dialect, line.as_bytes()) {
            Line::Entry(entry) => Some(entry.name),
            Line::Blank | Line::Unknown(_) | Line::Malformed => None,
        }
    }

    fn algorithm(dialect: Dialect, line: &str) -> Option<Algorithm> {
        match one(dialect, line.as_bytes()) {
            Line::Entry(entry) => Some(entry.digest.algorithm()),
            Line::Blank | Line::Unknown(_) | Line::Malformed => None,
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
    fn blanks_before_and_a_return_after_are_ignored() {
        let md5 = Dialect::only(Algorithm::Md5);
        assert_eq!(name(md5, &format!(" \t {MD5}  a\r")).as_deref(), Some(&b"a"[..]));
        assert_eq!(name(md5, &format!("\t\\MD5 (a\\r) = {MD5}\r")).as_deref(), Some(&b"a\r"[..]));
        assert_eq!(name(md5, &format!("{MD5}  a\r\r")).as_deref(), Some(&b"a\r"[..]));
        assert_eq!(name(md5, &format!("\\ {MD5}  a")), None);
        let nul = md5.with_ending(Ending::Nul);
        assert_eq!(name(nul, &format!("{MD5}  a\r")).as_deref(), Some(&b"a\r"[..]));
    }

    #[test]
    fn a_nul_is_malformed_wherever_it_stands() {
        let line = format!("{MD5}  name");
        assert!(matches!(one(Dialect::any(), line.as_bytes()), Line::Entry(_)));
        for at in 0..line.len() {
            let mut line = line.clone().into_bytes();
            line[at] = 0;
            assert_eq!(one(Dialect::any(), &line), Line::Malformed, "at {at}");
        }
    }

    #[test]
    fn a_nul_ends_the_name_where_it_does_in_c() {
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
    fn names_are_escaped_only_after_a_backslash_and_before_a_newline() {
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
    fn the_dialect_says_which_algorithms() {
        use Algorithm::{Blake3, Crc32c, Md5, Sha1, Sha256, Sha512};
        let lengths = [(8, Crc32c), (32, Md5), (40, Sha1), (64, Sha256), (128, Sha512)];
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
    fn where_there_is_a_key_only_lines_that_need_it_count() {
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
    fn base64_and_padded_tags_are_not_gnu_md5sums() {
        let padded = format!("MD5   (f) = {MD5}");
        for line in ["MD5 (f) = 1B2M2Y8AsgTpgAmY7PhCfg==", "1B2M2Y8AsgTpgAmY7PhCfg==  f", &padded] {
            assert_eq!(algorithm(Dialect::any(), line), Some(Algorithm::Md5), "{line}");
            assert_eq!(algorithm(Dialect::only(Algorithm::Md5), line), None, "{line}");
        }
    }
}
