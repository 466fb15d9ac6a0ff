//! `ichksum` of iRODS: the name, and behind it `sha2:BASE64`. Read only.
//!
//! Lines `C- /zone/collection:` name the collection of the next lines. Names are relative to the
//! first collection. The last line counts the checksums.

use std::borrow::Cow;

use super::line::{self, is_blank, without_return};
use super::{CannotHold, Format, Line, Wrong};
use crate::{Algorithm, Algorithms, Dialect, Digest, Record, digits};

const NAME: &str = "irods";

/// A list of data objects.
///
/// ```
/// use lanesum_list::formats::{Irods, Line};
/// use lanesum_list::{Dialect, lines};
///
/// let list = b"C- /zone/c:\n    a b    sha2:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=\n";
/// let read: Vec<_> = lines(list, &mut Irods::new(Dialect::any())).collect();
/// let [(1, Line::Blank), (2, Line::Record { record, .. })] = &*read else { panic!("{read:?}") };
/// assert_eq!(&*record.name, b"a b");
/// ```
#[derive(Clone, Debug)]
pub struct Irods {
    dialect: Dialect,
    /// The first collection, and the current one relative to it, with its slash.
    base: Option<Vec<u8>>,
    collection: Vec<u8>,
}

impl Irods {
    /// Makes a list of a dialect.
    #[must_use]
    pub const fn new(dialect: Dialect) -> Self {
        Self { dialect, base: None, collection: Vec::new() }
    }

    fn enter(&mut self, path: &[u8]) -> Result<(), Wrong> {
        let base = self.base.get_or_insert_with(|| path.to_vec());
        let below = path.strip_prefix(&**base).ok_or(Wrong::Name)?;
        self.collection = match below.split_first() {
            None => Vec::new(),
            Some((b'/', below)) => [below, b"/"].concat(),
            Some(_) => return Err(Wrong::Name),
        };
        Ok(())
    }
}

/// Returns the name and the digest. MD5 has no prefix.
fn read(text: &[u8]) -> Result<(&[u8], Digest), Wrong> {
    let form = Wrong::Form(NAME);
    let text = text.trim_ascii_end();
    let blank = text.iter().rposition(|&byte| is_blank(byte)).ok_or(form)?;
    let word = &text[blank + 1..];
    let digest = match digits::named(word) {
        Some(named) => named.map_err(Wrong::Digest)?,
        None => Digest::from_hex(Algorithm::Md5, word).ok_or(form)?,
    };
    let name = text[..blank].trim_ascii();
    if name.is_empty() || name.contains(&0) { Err(Wrong::Name) } else { Ok((name, digest)) }
}

/// Returns the path in a line that names a collection.
fn collection(text: &[u8]) -> Option<&[u8]> {
    let path = text.strip_prefix(b"C- ")?.trim_ascii_end().strip_suffix(b":")?;
    path.starts_with(b"/").then_some(path)
}

/// The first words of the last line.
const TOTAL: &[u8] = b"Total checksum performed";

impl Format for Irods {
    fn can_hold(&self, _: Algorithms) -> Result<(), CannotHold> {
        Err(CannotHold::ReadOnly(NAME))
    }

    fn record(&self, _: &mut Vec<u8>, _: &Record<'_>) -> Result<(), CannotHold> {
        Err(CannotHold::ReadOnly(NAME))
    }

    fn detect(&self, head: &[u8]) -> bool {
        let first = without_return(line::first(head, self.dialect.ending));
        let word = first.rsplit(|&byte| is_blank(byte)).next().unwrap_or_default();
        let is_entry = || first.starts_with(b"  ") && digits::named(word).is_some();
        collection(first).is_some() || (is_entry() && read(first).is_ok())
    }

    fn find_end(&mut self, bytes: &[u8]) -> Option<usize> {
        memchr::memchr(b'\n', bytes)
    }

    fn next<'a>(&mut self, text: &'a [u8]) -> Line<'a> {
        let text = without_return(text);
        if text.trim_ascii().is_empty() {
            return Line::Blank;
        }
        if let Some(path) = collection(text) {
            return self.enter(path).map_or_else(Line::Wrong, |()| Line::Blank);
        }
        if text.starts_with(TOTAL) {
            let has_failed = !text.trim_ascii_end().ends_with(b"Failed checksum = 0");
            return if has_failed { Line::Wrong(Wrong::Reported) } else { Line::Blank };
        }
        match read(text) {
            Ok((_, digest)) if !self.dialect.tagged.contains(digest.algorithm()) => Line::Malformed,
            Ok((name, digest)) => {
                let name = Cow::Owned([&self.collection, name].concat());
                let record = Record { name, ..Record::default() }.with(digest);
                Line::Record { record, is_tagged: true }
            }
            Err(wrong) => Line::Wrong(wrong),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines;

    const SHA2: &str = "sha2:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=";
    const MD5: &str = "900150983cd24fb0d6963f7d28e17f72";

    #[test]
    fn names_are_relative_to_the_first_collection() {
        let list = format!(
            "C- /z/c:\n    a b    {SHA2}\nC- /z/c/d:\n    e    {MD5}\n\
             Total checksum performed = 2, Failed checksum = 0\n"
        );
        assert!(Irods::new(Dialect::any()).detect(list.as_bytes()));
        let lines: Vec<_> = lines(list.as_bytes(), &mut Irods::new(Dialect::any())).collect();
        let names: Vec<_> = lines
            .into_iter()
            .filter_map(|(number, line)| match line {
                Line::Record { record, .. } => Some((number, record.name.into_owned())),
                Line::Blank => None,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(names, [(2, b"a b".to_vec()), (4, b"d/e".to_vec())]);
    }

    #[test]
    fn damaged_lines_are_wrong() {
        for (line, wrong) in [
            ("    a".to_owned(), Wrong::Form(NAME)),
            ("    a    sha2:ung".to_owned(), Wrong::Digest(Algorithm::Sha256)),
            (format!("    {SHA2}"), Wrong::Name),
            ("C- /x:".to_owned(), Wrong::Name),
            ("Total checksum performed = 2, Failed checksum = 1".to_owned(), Wrong::Reported),
        ] {
            let list = format!("C- /z/c:\n{line}\n");
            let read: Vec<_> = lines(list.as_bytes(), &mut Irods::new(Dialect::any())).collect();
            assert_eq!(read, [(1, Line::Blank), (2, Line::Wrong(wrong))], "{line}");
        }
        for list in ["", "a\n", &format!("    a    {MD5}\n"), &format!("{SHA2}  a\n"), "C- x\n"] {
            assert!(!Irods::new(Dialect::any()).detect(list.as_bytes()), "{list}");
        }
    }
}
