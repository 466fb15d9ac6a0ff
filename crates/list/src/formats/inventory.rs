//! S3 Inventory in CSV: `"bucket","key","size","time","etag",...` without a header. Read only.
//!
//! The fields after the key are chosen by the owner of the bucket, and `manifest.json` names them.
//! Their order is fixed, so each is found without it: the versions are Booleans, the size is a
//! number before the time, and the ETag follows. Keys are encoded as in URLs. Source: "Amazon S3
//! Inventory list" of the user guide.

use std::borrow::Cow;

use super::csv::rows::Rows;
use super::line::{self, without_return};
use super::{CannotHold, Format, Line, Wrong};
use crate::{Algorithms, Dialect, Etag, Record, Time};

const NAME: &str = "s3-inventory";

/// More fields than an inventory has.
const MOST: usize = 32;

/// An inventory of a bucket.
///
/// ```
/// use lanesum_list::formats::{Inventory, Line};
/// use lanesum_list::{Dialect, lines};
///
/// let list = b"\"b\",\"a%20b\",\"3\",\"2026-11-28T00:00:00.000Z\",\"900150983cd24fb0d6963f7d28e17f72\"\n";
/// let read: Vec<_> = lines(list, &mut Inventory::new(Dialect::any())).collect();
/// let [(1, Line::Record { record, .. })] = &*read else { panic!("{read:?}") };
/// assert_eq!((&*record.name, record.size), (&b"a b"[..], Some(3)));
/// assert!(record.etag.is_some());
/// ```
#[derive(Clone, Debug)]
pub struct Inventory {
    dialect: Dialect,
    rows: Rows,
}

impl Inventory {
    /// Makes a list of a dialect.
    #[must_use]
    pub fn new(dialect: Dialect) -> Self {
        Self { dialect, rows: Rows::new(NAME) }
    }

    fn read(&mut self, text: &[u8]) -> Result<Line<'static>, Wrong> {
        self.rows.split(text, MOST)?;
        let fields: Vec<_> = self.rows.cells().collect();
        let [_bucket, key, fields @ ..] = &*fields else { return Err(Wrong::Form(NAME)) };
        let is = |field: &&[u8], word: &[u8]| field.eq_ignore_ascii_case(word);
        // IsLatest and IsDeleteMarker, after the version of the object.
        let (versions, fields) = match fields {
            [_, latest, deleted, fields @ ..] if is_boolean(latest) && is_boolean(deleted) => {
                (Some((latest, deleted)), fields)
            }
            fields => (None, fields),
        };
        if versions.is_some_and(|(latest, deleted)| is(latest, b"false") || is(deleted, b"true")) {
            return Ok(Line::Blank);
        }
        let name = decode(key).filter(|name| !name.is_empty() && !name.contains(&0));
        let name = Cow::Owned(name.ok_or(Wrong::Name)?);
        let mut record = Record { name, ..Record::default() };
        let time = fields.iter().position(|field| Time::from_rfc3339(field).is_some());
        if let Some(size) = fields.first().filter(|_| time != Some(0)) {
            record.size = Some(line::number(size).ok_or(Wrong::Size)?);
        }
        // The ETags of other encryption are not MD5.
        let is_encrypted = fields
            .iter()
            .any(|field| is(field, b"SSE-KMS") || is(field, b"DSSE-KMS") || is(field, b"SSE-C"));
        if !is_encrypted {
            record.etag = fields.iter().find_map(|field| Etag::parse(field));
        }
        let is_directory = record.name.ends_with(b"/") && record.size == Some(0);
        Ok(if is_directory { Line::Blank } else { Line::Record { record, is_tagged: true } })
    }
}

fn is_boolean(field: &[u8]) -> bool {
    field.eq_ignore_ascii_case(b"true") || field.eq_ignore_ascii_case(b"false")
}

/// Decodes a key. Returns `None` if a percent sign is not followed by two digits.
fn decode(key: &[u8]) -> Option<Vec<u8>> {
    let mut name = Vec::with_capacity(key.len());
    let mut rest = key;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        name.push(match byte {
            b'+' => b' ',
            b'%' => {
                let (digits, after) = rest.split_at_checked(2)?;
                rest = after;
                let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
                u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok().filter(|_| is_hex)?
            }
            byte => byte,
        });
    }
    Some(name)
}

impl Format for Inventory {
    fn can_hold(&self, _: Algorithms) -> Result<(), CannotHold> {
        Err(CannotHold::ReadOnly(NAME))
    }

    fn record(&self, _: &mut Vec<u8>, _: &Record<'_>) -> Result<(), CannotHold> {
        Err(CannotHold::ReadOnly(NAME))
    }

    /// Every field is quoted, and there is a time or an ETag.
    fn detect(&self, head: &[u8]) -> bool {
        let first = without_return(line::first(head, self.dialect.ending));
        let mut reader = Self::new(self.dialect);
        let is_quoted = first.starts_with(b"\"") && first.ends_with(b"\"");
        is_quoted
            && reader.rows.split(first, MOST).is_ok()
            && reader.rows.len() >= 4
            && reader
                .rows
                .cells()
                .skip(2)
                .any(|field| Time::from_rfc3339(field).is_some() || Etag::parse(field).is_some())
            && reader.read(first).is_ok()
    }

    fn find_end(&mut self, bytes: &[u8]) -> Option<usize> {
        self.rows.find_end(bytes)
    }

    fn next<'a>(&mut self, text: &'a [u8]) -> Line<'a> {
        Rows::line(self.rows.is_cut(), text, |text| self.read(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines;

    const MD5: &str = "900150983cd24fb0d6963f7d28e17f72";

    fn read(row: &str) -> Line<'static> {
        let list = format!("\"b\",{}\n", row.replace("{}", MD5));
        let mut lines =
            lines(list.as_bytes(), &mut Inventory::new(Dialect::any())).collect::<Vec<_>>();
        match lines.pop().unwrap().1 {
            Line::Record { record, is_tagged } => {
                Line::Record { record: record.into_owned(), is_tagged }
            }
            Line::Blank => Line::Blank,
            Line::Wrong(wrong) => Line::Wrong(wrong),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn fields_are_found_in_any_selection() {
        for (row, size, parts) in [
            (
                r#""a","3","2026-11-28T00:00:00.000Z","{}","STANDARD","false","","NOT-SSE""#,
                Some(3),
                Some(None),
            ),
            (
                r#""a","v","true","false","3","2026-11-28T00:00:00.000Z","{}-2""#,
                Some(3),
                Some(Some(2)),
            ),
            (r#""a","3","2026-11-28T00:00:00.000Z","{}","STANDARD","SSE-KMS""#, Some(3), None),
            (r#""a","2026-11-28T00:00:00.000Z","{}""#, None, Some(None)),
        ] {
            let Line::Record { record, .. } = read(row) else { panic!("{row}") };
            let found = record.etag.map(|etag| etag.parts.map(std::num::NonZeroU32::get));
            assert_eq!((&*record.name, record.size, found), (&b"a"[..], size, parts), "{row}");
        }
        for row in [
            r#""a","v","false","false","3","2026-11-28T00:00:00.000Z","{}""#,
            r#""a","v","true","true","","2026-11-28T00:00:00.000Z","""#,
            r#""d/","0","2026-11-28T00:00:00.000Z","{}""#,
        ] {
            assert_eq!(read(row), Line::Blank, "{row}");
        }
    }

    #[test]
    fn damaged_rows_are_wrong() {
        for (row, wrong) in [
            (r#""a%2","3","2026-11-28T00:00:00.000Z""#, Wrong::Name),
            (r#""","3","2026-11-28T00:00:00.000Z""#, Wrong::Name),
            (r#""a%00","3","2026-11-28T00:00:00.000Z""#, Wrong::Name),
            (r#""a","x","2026-11-28T00:00:00.000Z""#, Wrong::Size),
            (r#""a","3","2026"#, Wrong::CutOff),
        ] {
            assert_eq!(read(row), Line::Wrong(wrong), "{row}");
        }
    }

    #[test]
    fn keys_are_encoded_as_in_urls() {
        assert_eq!(decode(b"a%2Fb+c%2B%C3%BC").unwrap(), "a/b c+\u{fc}".as_bytes());
        for wrong in ["%", "%1", "%+1", "%1g"] {
            assert_eq!(decode(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn tables_are_not_inventories() {
        let detect = |list: &str| Inventory::new(Dialect::any()).detect(list.as_bytes());
        assert!(detect(&format!("\"b\",\"a\",\"3\",\"2026-11-28T00:00:00.000Z\",\"{MD5}\"\r\n")));
        for list in
            ["", "\"a\"\n", "\"path\",\"md5\",\"size\",\"x\"\n", "b,a,3,2026-11-28T00:00:00.000Z\n"]
        {
            assert!(!detect(list), "{list}");
        }
    }
}
