//! Side files: the digest of one file, in a file of the same name with one more extension.
//!
//! Picard, Maven and archives of sequences write the digest alone. GitHub releases have a line of
//! md5sum, whose name may have directories of the machine that made it. The algorithm and the file
//! follow from the name of the side file: `x.bam.md5` has the MD5 of `x.bam`.

use std::borrow::Cow;

use super::line::without_return;
use super::{CannotHold, Format, Line, Mixed};
use crate::{Algorithm, Algorithms, Dialect, Digest, Ending, Record, digits};

const NAME: &str = "side file";

/// Splits the name of a side file into the name of its file and the algorithm. `.txt` may follow,
/// and `sum` as in `.sha256sum`. Returns `None` if the extension is not an algorithm.
///
/// ```
/// use lanesum_list::Algorithm;
/// use lanesum_list::formats::side_file;
///
/// assert_eq!(side_file(b"x.bam.md5"), Some((&b"x.bam"[..], Algorithm::Md5)));
/// assert_eq!(side_file(b"d/x.iso.SHA256.txt"), Some((&b"d/x.iso"[..], Algorithm::Sha256)));
/// assert_eq!(side_file(b"d/.md5"), None);
/// ```
#[must_use]
pub fn side_file(name: &[u8]) -> Option<(&[u8], Algorithm)> {
    let is_txt = |end: &[u8]| end.eq_ignore_ascii_case(b".txt");
    let name = match name.split_at_checked(name.len().wrapping_sub(4)) {
        Some((stem, end)) if is_txt(end) => stem,
        _ => name,
    };
    let dot = memchr::memrchr(b'.', name)?;
    let word = str::from_utf8(&name[dot + 1..]).ok()?.to_ascii_lowercase();
    let word = word.strip_suffix("sum").unwrap_or(&word);
    let algorithm = word.parse().ok()?;
    let stem = &name[..dot];
    (!stem.is_empty() && !stem.ends_with(b"/")).then_some((stem, algorithm))
}

/// A side file.
///
/// ```
/// use lanesum_list::formats::{Format, Line, Side};
/// use lanesum_list::{Algorithm, Dialect};
///
/// let dialect = Dialect::untagged_as(Algorithm::Md5);
/// for text in [&b"900150983cd24fb0d6963f7d28e17f72"[..],
///     b"900150983cd24fb0d6963f7d28e17f72  /build/x.bam"]
/// {
///     let Line::Record { record, .. } = Side::new(dialect, b"d/x.bam").next(text) else { panic!() };
///     assert_eq!(&*record.name, b"d/x.bam");
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Side {
    dialect: Dialect,
    lines: Mixed,
    name: Vec<u8>,
    /// Whether a digest without a name was read.
    is_read: bool,
}

impl Side {
    /// Makes a side file of the file `name`.
    #[must_use]
    pub fn new(dialect: Dialect, name: &[u8]) -> Self {
        let lines = Mixed::new(dialect);
        Self { dialect, lines, name: name.to_vec(), is_read: false }
    }

    /// Returns whether the whole text is one digest, perhaps with a newline.
    fn is_alone(&self, text: &[u8]) -> bool {
        self.digest(without_return(text.strip_suffix(b"\n").unwrap_or(text))).is_some()
    }

    fn digest(&self, text: &[u8]) -> Option<Digest> {
        let Dialect { untagged, is_lenient, .. } = self.dialect;
        untagged.iter().find_map(|algorithm| digits::read(algorithm, text, is_lenient))
    }

    fn last(name: &[u8]) -> &[u8] {
        name.rsplit(|&byte| byte == b'/').next().unwrap_or_default()
    }
}

impl Format for Side {
    fn can_hold(&self, _: Algorithms) -> Result<(), CannotHold> {
        Err(CannotHold::ReadOnly(NAME))
    }

    fn record(&self, _: &mut Vec<u8>, _: &Record<'_>) -> Result<(), CannotHold> {
        Err(CannotHold::ReadOnly(NAME))
    }

    fn detect(&self, head: &[u8]) -> bool {
        self.dialect.ending == Ending::Newline && self.is_alone(head)
    }

    fn find_end(&mut self, bytes: &[u8]) -> Option<usize> {
        self.lines.find_end(bytes)
    }

    fn ends_lines(&self) -> u8 {
        self.lines.ends_lines()
    }

    fn is_of_lines(&self) -> bool {
        true
    }

    fn next<'a>(&mut self, text: &'a [u8]) -> Line<'a> {
        let name = || Cow::Owned(self.name.clone());
        if let Some(digest) = self.digest(without_return(text)).filter(|_| !self.is_read) {
            self.is_read = true;
            let record = Record { name: name(), ..Record::default() };
            return Line::Record { record: record.with(digest), is_tagged: false };
        }
        match self.lines.next(text) {
            Line::Record { record, is_tagged }
                if Self::last(&record.name) == Self::last(&self.name) =>
            {
                Line::Record { record: Record { name: name(), ..record }, is_tagged }
            }
            line => line,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines;

    const MD5: &str = "900150983cd24fb0d6963f7d28e17f72";

    fn names(text: &str) -> Vec<Option<String>> {
        let mut side = Side::new(Dialect::untagged_as(Algorithm::Md5), b"d/x");
        let name = |line| match line {
            Line::Record { record, .. } => Some(String::from_utf8_lossy(&record.name).into_owned()),
            _ => None,
        };
        lines(text.as_bytes(), &mut side).map(|(_, line)| name(line)).collect()
    }

    #[test]
    fn extensions_name_the_algorithm() {
        for (name, expected) in [
            ("a.md5", Some(("a", Algorithm::Md5))),
            ("a.b.sha512", Some(("a.b", Algorithm::Sha512))),
            ("a.b3", Some(("a", Algorithm::Blake3))),
            ("a.b2sum", Some(("a", Algorithm::Blake2b))),
            ("a.sha3-256", Some(("a", Algorithm::Sha3_256))),
            ("a.sha1.txt", Some(("a", Algorithm::Sha1))),
            ("a.sha256sum", Some(("a", Algorithm::Sha256))),
            ("a.txt", None),
            (".txt", None),
            ("txt", None),
            (".md5", None),
            ("md5", None),
            ("a.", None),
            ("", None),
        ] {
            let expected = expected.map(|(stem, it)| (stem.as_bytes(), it));
            assert_eq!(side_file(name.as_bytes()), expected, "{name}");
        }
    }

    #[test]
    fn a_name_with_other_directories_is_that_of_the_side_file() {
        for text in
            [MD5, &format!("{MD5}\r\n"), &format!("{MD5}  /build/x\n"), &format!("{MD5}  x")]
        {
            assert_eq!(names(text), [Some("d/x".to_owned())], "{text:?}");
        }
        assert_eq!(names(&format!("MD5 (x) = {MD5}")), [Some("d/x".to_owned())]);
        // Other files keep their names, and a second digest has none.
        assert_eq!(names(&format!("{MD5}  e/y\n")), [Some("e/y".to_owned())]);
        assert_eq!(names(&format!("{MD5}\n{MD5}\n")), [Some("d/x".to_owned()), None]);
    }

    #[test]
    fn only_one_digest_alone_is_detected() {
        let side = Side::new(Dialect::untagged_as(Algorithm::Md5), b"x");
        for text in [MD5, &format!("{MD5}\n"), &format!("{MD5}\r\n"), "kAFQmDzST7DWlj99KOF/cg=="] {
            assert!(side.detect(text.as_bytes()), "{text:?}");
        }
        for text in ["", "\n", &MD5[1..], &format!("{MD5}\n{MD5}\n"), &format!("{MD5}  x")] {
            assert!(!side.detect(text.as_bytes()), "{text:?}");
        }
    }
}
