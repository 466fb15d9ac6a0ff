//! `s3cmd ls --list-md5`: the time, the size, the ETag and `s3://BUCKET/KEY`. Read only.
//!
//! The ETag is in 35 columns. `--long-listing` adds the storage class behind it. A list without
//! ETags proves only sizes. Names are keys, so all objects must be in one bucket. A line `DIR`
//! stands for objects that are not listed. Source: `subcmd_bucket_list` of s3cmd.

use super::line::{self, is_blank, skip_blanks, without_return};
use super::{CannotHold, Format, Line, Wrong};
use crate::{Algorithms, Dialect, Etag, Record};

const NAME: &str = "s3cmd";

/// The width of a time in minutes: `2026-11-28 20:14`.
const TIME: usize = 16;

/// A list of objects.
///
/// ```
/// use lanesum_list::formats::{Line, S3cmd};
/// use lanesum_list::{Dialect, lines};
///
/// let list = b"2026-11-28 20:14            3  900150983cd24fb0d6963f7d28e17f72     s3://b/d/a b\n";
/// let read: Vec<_> = lines(list, &mut S3cmd::new(Dialect::any())).collect();
/// let [(1, Line::Record { record, .. })] = &*read else { panic!("{read:?}") };
/// assert_eq!((&*record.name, record.size), (&b"d/a b"[..], Some(3)));
/// assert!(record.etag.is_some());
/// ```
#[derive(Clone, Debug)]
pub struct S3cmd {
    dialect: Dialect,
    /// The bucket of the first object.
    bucket: Option<Vec<u8>>,
}

/// The size in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    Bytes(u64),
    /// In KiB, MiB, GiB or TiB, rounded.
    Rounded,
    /// The line stands for the objects of a directory, which are not listed.
    Directory,
    /// The object is a directory.
    DirectoryObject,
}

/// The parts of a line.
struct Object<'a> {
    size: Size,
    etag: Option<Etag>,
    bucket: &'a [u8],
    key: &'a [u8],
}

impl S3cmd {
    /// Makes a list of a dialect.
    #[must_use]
    pub const fn new(dialect: Dialect) -> Self {
        Self { dialect, bucket: None }
    }

    fn read<'a>(&mut self, text: &'a [u8]) -> Result<Line<'a>, Wrong> {
        let Object { size, etag, bucket, key } = split(text).ok_or(Wrong::Form(NAME))?;
        let size = match size {
            Size::Directory => return Err(Wrong::Prefixes),
            Size::DirectoryObject => return Ok(Line::Blank),
            Size::Bytes(size) => Some(size),
            Size::Rounded => None,
        };
        let is_of_this_bucket = *self.bucket.get_or_insert_with(|| bucket.to_vec()) == bucket;
        if !is_of_this_bucket || key.is_empty() || key.contains(&0) {
            return Err(Wrong::Name);
        }
        let record = Record { size, etag, ..Record::new(key) };
        Ok(Line::Record { record, is_tagged: true })
    }
}

fn split(text: &[u8]) -> Option<Object<'_>> {
    let (time, rest) = text.split_at_checked(TIME)?;
    let rest = skip_blanks(rest.strip_prefix(b" ")?);
    let end = rest.iter().position(|&byte| is_blank(byte))?;
    let size = match &rest[..end] {
        b"DIR" => Size::Directory,
        b"DIROBJ" => Size::DirectoryObject,
        [digits @ .., b'K' | b'M' | b'G' | b'T'] if line::number(digits).is_some() => Size::Rounded,
        digits => Size::Bytes(line::number(digits)?),
    };
    let is_known = match size {
        Size::Directory => time.iter().all(|&byte| byte == b' '),
        _ => is_time(time),
    };
    // Keys may have blanks, and what stands before them has no slash.
    let uri = memchr::memmem::find(rest, b"  s3://").filter(|_| is_known)?;
    let (_, key) = rest.split_at(uri + b"  s3://".len());
    let slash = memchr::memchr(b'/', key)?;
    let mut words = rest[end..uri].split(|&byte| is_blank(byte)).filter(|word| !word.is_empty());
    let etag = words.next().and_then(Etag::parse);
    Some(Object { size, etag, bucket: &key[..slash], key: &key[slash + 1..] })
}

/// Returns whether this is a time: `2026-11-28 20:14`.
fn is_time(text: &[u8]) -> bool {
    let is_of = |(byte, form): (&u8, &u8)| match form {
        b'0' => byte.is_ascii_digit(),
        form => byte == form,
    };
    text.iter().zip(b"0000-00-00 00:00").all(is_of)
}

impl Format for S3cmd {
    fn can_hold(&self, _: Algorithms) -> Result<(), CannotHold> {
        Err(CannotHold::ReadOnly(NAME))
    }

    fn record(&self, _: &mut Vec<u8>, _: &Record<'_>) -> Result<(), CannotHold> {
        Err(CannotHold::ReadOnly(NAME))
    }

    fn detect(&self, head: &[u8]) -> bool {
        split(without_return(line::first(head, self.dialect.ending))).is_some()
    }

    fn find_end(&mut self, bytes: &[u8]) -> Option<usize> {
        memchr::memchr(b'\n', bytes)
    }

    fn next<'a>(&mut self, text: &'a [u8]) -> Line<'a> {
        let text = without_return(text);
        if text.is_empty() {
            return Line::Blank;
        }
        self.read(text).unwrap_or_else(Line::Wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines;

    const MD5: &str = "900150983cd24fb0d6963f7d28e17f72";

    fn read(list: &str) -> Vec<Line<'_>> {
        lines(list.as_bytes(), &mut S3cmd::new(Dialect::any())).map(|(_, line)| line).collect()
    }

    #[test]
    fn lines_with_each_option_are_read() {
        let parts = format!("{MD5}-2");
        for (line, size, etag) in [
            (format!("2026-11-28 20:14            3  {MD5:35}  s3://b/a  s3://c"), Some(3), 1),
            (format!("2026-11-28 20:14            3  {parts:35}  s3://b/a  s3://c"), Some(3), 2),
            (
                format!("2026-11-28 20:14            3  {MD5:35}  STANDARD     s3://b/a  s3://c\r"),
                Some(3),
                1,
            ),
            (format!("2026-11-28 20:14     3K  {MD5:35}  s3://b/a  s3://c"), None, 1),
            ("2026-11-28 20:14            3  s3://b/a  s3://c".to_owned(), Some(3), 0),
        ] {
            assert!(S3cmd::new(Dialect::any()).detect(line.as_bytes()), "{line}");
            let read = read(&line);
            let [Line::Record { record, .. }] = &*read else { panic!("{line}: {read:?}") };
            assert_eq!((&*record.name, record.size), (&b"a  s3://c"[..], size), "{line}");
            let found = record.etag.map(|etag| etag.parts.map_or(1, |parts| parts.get()));
            assert_eq!(found.unwrap_or_default(), etag, "{line}");
        }
    }

    #[test]
    fn other_lines_are_wrong() {
        let good = format!("2026-11-28 20:14            3  {MD5:35}  s3://b/a");
        let directory = format!("{:16} {:>12}  {:35}  s3://b/d/", "", "DIR", "");
        let object = format!("2026-11-28 20:14       DIROBJ  {MD5:35}  s3://b/d/");
        assert_eq!(read(&object), [Line::Blank]);
        for (line, wrong) in [
            (&*directory, Wrong::Prefixes),
            (&good.replace("s3://b/a", "s3://c/a"), Wrong::Name),
            (&good.replace("s3://b/a", "s3://b/"), Wrong::Name),
            (&good.replace("s3://b/a", "s3://b"), Wrong::Form(NAME)),
            (&good.replace("  3 ", " 3x "), Wrong::Form(NAME)),
            (&good[1..], Wrong::Form(NAME)),
            (&good[..40], Wrong::Form(NAME)),
            ("x", Wrong::Form(NAME)),
        ] {
            let list = format!("{good}\n{line}\n");
            assert_eq!(read(&list)[1], Line::Wrong(wrong), "{line}");
        }
        assert!(S3cmd::new(Dialect::any()).detect(directory.as_bytes()));
        for list in ["", "a\n", "2026-11-28 20:14:05       3 a\n", &format!("{MD5}  a\n")] {
            assert!(!S3cmd::new(Dialect::any()).detect(list.as_bytes()), "{list}");
        }
    }
}
