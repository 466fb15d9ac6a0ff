//! Control files of Debian: `.dsc`, `.changes`, `Release` and `InRelease`. Read only.
//!
//! Fields such as `Checksums-Sha256` and `SHA256` have a line for each file: the digest, the size
//! and the name, which `Files` of `.changes` has behind a section and a priority. Signatures around
//! the file are not checked. Sources: deb-changes(5), dsc(5), the format of repositories.

use super::line::{self, without_return};
use super::{CannotHold, Format, Line, Wrong};
use crate::{Algorithm, Algorithms, Dialect, Digest, Record};

const NAME: &str = "debian";

/// The fields of files.
const FIELDS: [(&str, Algorithm); 9] = [
    ("files", Algorithm::Md5),
    ("md5sum", Algorithm::Md5),
    ("sha1", Algorithm::Sha1),
    ("sha256", Algorithm::Sha256),
    ("sha512", Algorithm::Sha512),
    ("checksums-md5", Algorithm::Md5),
    ("checksums-sha1", Algorithm::Sha1),
    ("checksums-sha256", Algorithm::Sha256),
    ("checksums-sha512", Algorithm::Sha512),
];

/// A control file.
///
/// ```
/// use lanesum_list::formats::{Debian, Line};
/// use lanesum_list::{Dialect, lines};
///
/// let list = b"Format: 3.0 (quilt)\nFiles:\n 900150983cd24fb0d6963f7d28e17f72 3 a\n";
/// let read: Vec<_> = lines(list, &mut Debian::new(Dialect::any())).collect();
/// let [(1, Line::Blank), (2, Line::Blank), (3, Line::Record { record, .. })] = &*read else { panic!() };
/// assert_eq!((&*record.name, record.size), (&b"a"[..], Some(3)));
/// ```
#[derive(Clone, Debug)]
pub struct Debian {
    dialect: Dialect,
    /// The algorithm of the field around, if it lists files.
    field: Option<Algorithm>,
}

impl Debian {
    /// Makes a control file of a dialect.
    #[must_use]
    pub const fn new(dialect: Dialect) -> Self {
        Self { dialect, field: None }
    }
}

/// Returns the algorithm of a line that begins a list of files.
fn field(text: &[u8]) -> Option<Algorithm> {
    let title = str::from_utf8(text.trim_ascii_end().strip_suffix(b":")?).ok()?;
    let (_, algorithm) = FIELDS.into_iter().find(|(name, _)| title.eq_ignore_ascii_case(name))?;
    Some(algorithm)
}

fn read(algorithm: Algorithm, text: &[u8]) -> Result<(Digest, u64, &[u8]), Wrong> {
    let words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let words: Vec<_> = words.take(6).collect();
    let (digits, size, name) = match *words {
        [digits, size, name] | [digits, size, _, _, name] => (digits, size, name),
        _ => return Err(Wrong::Form(NAME)),
    };
    let digest = Digest::from_hex(algorithm, digits).ok_or(Wrong::Digest(algorithm))?;
    let size = line::number(size).ok_or(Wrong::Size)?;
    if name.contains(&0) { Err(Wrong::Name) } else { Ok((digest, size, name)) }
}

impl Format for Debian {
    fn can_hold(&self, _: Algorithms) -> Result<(), CannotHold> {
        Err(CannotHold::ReadOnly(NAME))
    }

    fn record(&self, _: &mut Vec<u8>, _: &Record<'_>) -> Result<(), CannotHold> {
        Err(CannotHold::ReadOnly(NAME))
    }

    /// All lines up to the first list of files are fields.
    fn detect(&self, head: &[u8]) -> bool {
        let mut lines = head.split(|&byte| byte == b'\n').map(without_return);
        let is_field = |line: &[u8]| match memchr::memchr(b':', line) {
            _ if line.is_empty()
                || line.starts_with(b" ")
                || line.starts_with(b"-----BEGIN PGP SIGNED") =>
            {
                true
            }
            Some(colon) => {
                colon > 0
                    && line[..colon]
                        .iter()
                        .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
            }
            None => false,
        };
        lines.find_map(|line| match field(line) {
            Some(_) => Some(true),
            None if is_field(line) => None,
            None => Some(false),
        }) == Some(true)
    }

    fn find_end(&mut self, bytes: &[u8]) -> Option<usize> {
        memchr::memchr(b'\n', bytes)
    }

    fn next<'a>(&mut self, text: &'a [u8]) -> Line<'a> {
        let text = without_return(text);
        if !text.starts_with(b" ") && !text.starts_with(b"\t") {
            self.field = field(text);
            return Line::Blank;
        }
        match self.field {
            Some(algorithm) if !text.trim_ascii().is_empty() => match read(algorithm, text) {
                Ok(_) if !self.dialect.tagged.contains(algorithm) => Line::Malformed,
                Ok((digest, size, name)) => {
                    let record = Record { size: Some(size), ..Record::new(name) }.with(digest);
                    Line::Record { record, is_tagged: true }
                }
                Err(wrong) => Line::Wrong(wrong),
            },
            _ => Line::Blank,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines;

    const MD5: &str = "900150983cd24fb0d6963f7d28e17f72";

    fn read(list: &str) -> Vec<(u64, Line<'_>)> {
        let lines: Vec<_> = lines(list.as_bytes(), &mut Debian::new(Dialect::any())).collect();
        lines.into_iter().filter(|(_, line)| *line != Line::Blank).collect()
    }

    #[test]
    fn each_field_has_its_algorithm() {
        let sha1 = "a9993e364706816aba3e25717850c26c9cd0d89d";
        let list = format!(
            "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\nFormat: 1.8\nChanges:\n x (1) unstable;\n .\n   * New.\n\
             Checksums-Sha1:\n {sha1} 3 a.dsc\nFiles:\n {MD5} 3 misc optional a.dsc\n\n-----BEGIN PGP SIGNATURE-----\n\nx\n"
        );
        assert!(Debian::new(Dialect::any()).detect(list.as_bytes()));
        let found = read(&list);
        let [(10, Line::Record { record: one, .. }), (12, Line::Record { record: two, .. })] =
            &*found
        else {
            panic!("{found:?}")
        };
        assert_eq!(
            (one.digests[0].algorithm(), two.digests[0].algorithm()),
            (Algorithm::Sha1, Algorithm::Md5)
        );
        assert_eq!((&*two.name, two.size), (&b"a.dsc"[..], Some(3)));
        let release = format!(
            "Origin: Debian\r\nMD5Sum:\r\n {MD5}                3 main/a\r\nAcquire-By-Hash: yes\r\n"
        );
        assert!(
            matches!(&*read(&release), [(3, Line::Record { record, .. })] if *record.name == *b"main/a")
        );
    }

    #[test]
    fn damaged_lines_are_wrong() {
        for (line, wrong) in [
            (format!("{} 3 a", &MD5[1..]), Wrong::Digest(Algorithm::Md5)),
            (format!("{MD5} x a"), Wrong::Size),
            (format!("{MD5} 3"), Wrong::Form(NAME)),
            (format!("{MD5} 3 misc a"), Wrong::Form(NAME)),
        ] {
            let list = format!("Files:\n {line}\n");
            assert_eq!(read(&list), [(2, Line::Wrong(wrong))], "{line}");
        }
        for list in ["", "a: b\n", "Files:x\n", &format!("{MD5}  Files:\n"), "a text\nFiles:\n"] {
            assert!(!Debian::new(Dialect::any()).detect(list.as_bytes()), "{list}");
        }
    }
}
