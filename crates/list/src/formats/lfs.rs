//! Git LFS: `git lfs ls-files --long`, and pointers. Read only.
//!
//! A line is the SHA-256, `*` or, where the file is a pointer, `-`, and the name. A pointer stands
//! in the repository instead of its file. Source: the specification and `git-lfs-ls-files(1)`.

use std::borrow::Cow;

use super::line::{self, without_return};
use super::{CannotHold, Format, Line, Wrong};
use crate::{Algorithm, Algorithms, Dialect, Digest, Record};

const LIST: &str = "git-lfs";
const POINTER: &str = "lfs-pointer";

/// The first line of a pointer.
const VERSION: &[u8] = b"version https://git-lfs.github.com/spec/v1";

/// The list of `git lfs ls-files --long`.
///
/// ```
/// use lanesum_list::formats::{Format, Line, LfsList};
/// use lanesum_list::Dialect;
///
/// let line = b"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad * a b";
/// let Line::Record { record, .. } = LfsList::new(Dialect::any()).next(line) else { panic!() };
/// assert_eq!(&*record.name, b"a b");
/// ```
#[derive(Clone, Debug)]
pub struct LfsList {
    dialect: Dialect,
}

impl LfsList {
    /// Makes a list of a dialect.
    #[must_use]
    pub const fn new(dialect: Dialect) -> Self {
        Self { dialect }
    }
}

/// Returns the digest and the name.
fn read(text: &[u8]) -> Option<(Digest, &[u8])> {
    let (digits, rest) = text.split_at_checked(2 * Algorithm::Sha256.digest_len())?;
    let name = rest.strip_prefix(b" * ").or_else(|| rest.strip_prefix(b" - "))?;
    let digest = Digest::from_hex(Algorithm::Sha256, digits)?;
    (!name.is_empty() && !name.contains(&0)).then_some((digest, name))
}

impl Format for LfsList {
    fn can_hold(&self, _: Algorithms) -> Result<(), CannotHold> {
        Err(CannotHold::ReadOnly(LIST))
    }

    fn record(&self, _: &mut Vec<u8>, _: &Record<'_>) -> Result<(), CannotHold> {
        Err(CannotHold::ReadOnly(LIST))
    }

    /// One line may be that of a file with a blank before its name in a list of `sha256sum -b`. So
    /// all lines must have this form.
    fn detect(&self, head: &[u8]) -> bool {
        let (whole, cut) = head.split_at(memchr::memrchr(b'\n', head).map_or(0, |end| end + 1));
        let lines = whole.split(|&byte| byte == b'\n').map(without_return);
        let mut lines = lines.filter(|line| !line.is_empty()).peekable();
        if lines.peek().is_none() {
            read(cut).is_some()
        } else {
            lines.all(|it| read(it).is_some())
        }
    }

    fn find_end(&mut self, bytes: &[u8]) -> Option<usize> {
        memchr::memchr(b'\n', bytes)
    }

    fn next<'a>(&mut self, text: &'a [u8]) -> Line<'a> {
        let text = without_return(text);
        match read(text) {
            _ if text.is_empty() => Line::Blank,
            Some((digest, name)) if self.dialect.tagged.contains(digest.algorithm()) => {
                Line::Record { record: Record::new(name).with(digest), is_tagged: true }
            }
            Some(_) => Line::Malformed,
            None => Line::Wrong(Wrong::Form(LIST)),
        }
    }

    fn is_of_lines(&self) -> bool {
        true
    }
}

/// A pointer, which does not name its file.
///
/// ```
/// use lanesum_list::formats::{Line, LfsPointer};
/// use lanesum_list::{Dialect, lines};
///
/// let pointer = b"version https://git-lfs.github.com/spec/v1\n\
///     oid sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\nsize 3\n";
/// let mut format = LfsPointer::new(Dialect::any()).named(b"a");
/// let Some((1, Line::Record { record, .. })) = lines(pointer, &mut format).next() else { panic!() };
/// assert_eq!((&*record.name, record.size), (&b"a"[..], Some(3)));
/// ```
#[derive(Clone, Debug)]
pub struct LfsPointer {
    dialect: Dialect,
    name: Option<Vec<u8>>,
}

impl LfsPointer {
    /// Makes a pointer of a dialect.
    #[must_use]
    pub const fn new(dialect: Dialect) -> Self {
        Self { dialect, name: None }
    }

    /// Returns the format with the name of the file.
    #[must_use]
    pub fn named(self, name: &[u8]) -> Self {
        Self { name: Some(name.to_vec()), ..self }
    }

    fn read(&mut self, text: &[u8]) -> Result<Record<'static>, Wrong> {
        let mut lines = text.split(|&byte| byte == b'\n').map(without_return);
        let no_pointer = Wrong::Form(POINTER);
        let mut record = Record::default();
        let is_version = lines.next().is_some_and(|line| line == VERSION);
        for line in lines.filter(|line| !line.is_empty()) {
            let space = memchr::memchr(b' ', line).ok_or(no_pointer)?;
            match (&line[..space], &line[space + 1..]) {
                (b"oid", oid) if record.digests.is_empty() => {
                    record.digests.push(super::digests::of_any(oid, Algorithms::NONE)?.0);
                }
                (b"size", size) if record.size.is_none() => {
                    record.size = Some(line::number(size).ok_or(Wrong::Size)?);
                }
                (key, _) if key.starts_with(b"ext-") => {}
                _ => return Err(no_pointer),
            }
        }
        if !is_version || record.size.is_none() || record.digests.is_empty() {
            return Err(no_pointer);
        }
        let known = self.dialect.tagged;
        record.digests =
            record.digests.iter().copied().filter(|it| known.contains(it.algorithm())).collect();
        record.name = Cow::Owned(self.name.take().ok_or(Wrong::NoName)?);
        Ok(record)
    }
}

impl Format for LfsPointer {
    fn can_hold(&self, _: Algorithms) -> Result<(), CannotHold> {
        Err(CannotHold::ReadOnly(POINTER))
    }

    fn record(&self, _: &mut Vec<u8>, _: &Record<'_>) -> Result<(), CannotHold> {
        Err(CannotHold::ReadOnly(POINTER))
    }

    fn detect(&self, head: &[u8]) -> bool {
        head.strip_prefix(VERSION).is_some_and(|rest| matches!(rest.first(), Some(b'\n' | b'\r')))
    }

    /// The whole file is one record.
    fn find_end(&mut self, _: &[u8]) -> Option<usize> {
        None
    }

    fn next<'a>(&mut self, text: &'a [u8]) -> Line<'a> {
        let read = self.read(text);
        read.map_or_else(Line::Wrong, |record| Line::Record { record, is_tagged: true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines;

    const SHA256: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn only_lists_of_git_lfs_are_detected() {
        let detect = |list: &str| LfsList::new(Dialect::any()).detect(list.as_bytes());
        let line = format!("{SHA256} * a\n{SHA256} - b\n");
        assert!(detect(&line) && detect(line.trim_end()) && detect(&line[..SHA256.len() + 4]));
        for list in ["", "\n", &format!("{SHA256}  a\n"), &format!("{line}{SHA256} *a\n")] {
            assert!(!detect(list), "{list}");
        }
    }

    #[test]
    fn other_lines_are_wrong() {
        for line in ["x", &SHA256[..10], SHA256, &format!("{SHA256} + a"), &format!("{SHA256} * ")]
        {
            let read = LfsList::new(Dialect::any()).next(line.as_bytes());
            assert_eq!(read, Line::Wrong(Wrong::Form(LIST)), "{line}");
        }
    }

    #[test]
    fn a_damaged_pointer_is_wrong() {
        let version = String::from_utf8(VERSION.to_vec()).unwrap();
        let form = Wrong::Form(POINTER);
        for (text, wrong) in [
            (format!("{version}\noid sha256:{SHA256}\nsize 3\n"), Wrong::NoName),
            (format!("{version}\noid sha256:{SHA256}\n"), form),
            (format!("{version}\nsize 3\n"), form),
            (format!("{version}\noid sha256:{SHA256}\nsize x\n"), Wrong::Size),
            (format!("{version}\noid sha256:00\nsize 3\n"), Wrong::Digest(Algorithm::Sha256)),
            (format!("{version}\noid sha256:{SHA256}\nsize 3\nsize 3\n"), form),
        ] {
            let mut pointer = LfsPointer::new(Dialect::any());
            let read: Vec<_> = lines(text.as_bytes(), &mut pointer).collect();
            assert_eq!(read, [(1, Line::Wrong(wrong))], "{text}");
        }
    }
}
