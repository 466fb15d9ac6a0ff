//! JSON: one object per line (JSON Lines), or one array of objects.
//!
//! A name that is not UTF-8 cannot be a JSON string. It is written in base64 as `path_base64`.

mod members;
mod nested;
mod object;
mod scan;

use std::borrow::Cow;
use std::mem;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::ser::{SerializeMap as _, Serializer as _};

use super::{CannotHold, Format, Line, Wrong, line, s3};
use crate::{Algorithm, Algorithms, Dialect, Digests, Record, Time, digits};

pub(super) use object::{Object, Value};
pub(super) use scan::{Piece, Scanner};

const NAME: &str = "json";

/// A list in JSON. It reads both layouts, and the formats that [`S3`](super::S3) reads.
///
/// ```
/// use lanesum_list::formats::{Format, Json, Line};
/// use lanesum_list::{Algorithm, Dialect, Digest, Record, lines};
///
/// let digest = Digest::from_hex(Algorithm::Crc32c, b"e3069283").unwrap();
/// let record = Record { size: Some(9), ..Record::new("a") }.with(digest);
/// let format = Json::lines(Dialect::any()).writing(true, false);
/// let mut list = Vec::new();
/// format.record(&mut list, &record)?;
/// assert_eq!(list, b"{\"path\":\"a\",\"size\":9,\"crc32c\":\"e3069283\"}\n");
/// let read: Vec<_> = lines(&list, &mut Json::lines(Dialect::any())).collect();
/// assert_eq!(read, [(1, Line::Record { record, is_tagged: true })]);
/// # Ok::<(), lanesum_list::formats::CannotHold>(())
/// ```
#[derive(Clone, Debug)]
pub struct Json {
    dialect: Dialect,
    is_array: bool,
    writes_size: bool,
    writes_modified: bool,
    scanner: Scanner,
}

impl Json {
    /// Makes a list that is written as one object per line.
    #[must_use]
    pub const fn lines(dialect: Dialect) -> Self {
        Self {
            dialect,
            is_array: false,
            writes_size: false,
            writes_modified: false,
            scanner: Scanner::new(),
        }
    }

    /// Makes a list that is written as one array.
    #[must_use]
    pub const fn array(dialect: Dialect) -> Self {
        Self { is_array: true, ..Self::lines(dialect) }
    }

    /// Returns the format with or without the size and the modification time, which are written if
    /// they are known.
    #[must_use]
    pub fn writing(self, size: bool, modified: bool) -> Self {
        Self { writes_size: size, writes_modified: modified, ..self }
    }

    fn write(&self, out: &mut Vec<u8>, record: &Record<'_>) -> serde_json::Result<()> {
        let mut text = Vec::new();
        let mut serializer = serde_json::Serializer::new(out);
        let mut members = serializer.serialize_map(None)?;
        match str::from_utf8(&record.name) {
            Ok(name) => members.serialize_entry("path", name)?,
            Err(_) => members.serialize_entry("path_base64", &BASE64.encode(&record.name))?,
        }
        if let Some(size) = record.size.filter(|_| self.writes_size) {
            members.serialize_entry("size", &size)?;
        }
        if let Some(time) = record.times.modified.filter(|_| self.writes_modified)
            && time.write_rfc3339(&mut text)
        {
            members.serialize_entry("modified", ascii(&text))?;
        }
        for digest in record.digests.iter() {
            text.clear();
            digits::write(&mut text, digest, self.dialect.writes_base64);
            members.serialize_entry(digest.algorithm().name(), ascii(&text))?;
        }
        members.end()
    }
}

fn ascii(text: &[u8]) -> &str {
    str::from_utf8(text).expect("digits and times are ASCII")
}

impl Format for Json {
    fn begin(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.is_array { b"[\n" } else { b"" });
    }

    fn can_hold(&self, _: Algorithms) -> Result<(), CannotHold> {
        Ok(())
    }

    fn record(&self, out: &mut Vec<u8>, record: &Record<'_>) -> Result<(), CannotHold> {
        if record.name.is_empty() {
            return Err(CannotHold::EmptyName(NAME));
        }
        self.write(out, record).expect("memory takes everything");
        out.extend_from_slice(if self.is_array { b"" } else { b"\n" });
        Ok(())
    }

    fn separator(&self) -> &'static [u8] {
        if self.is_array { b",\n" } else { b"" }
    }

    fn end(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.is_array { b"\n]\n" } else { b"" });
    }

    fn detect(&self, head: &[u8]) -> bool {
        let head = head.trim_ascii_start();
        let second = head.get(1..).unwrap_or_default().trim_ascii_start().first();
        match head.first() {
            Some(b'{') => matches!(second, None | Some(b'"' | b'}')),
            Some(b'[') => matches!(second, None | Some(b'{' | b']')),
            _ => false,
        }
    }

    fn find_end(&mut self, bytes: &[u8]) -> Option<usize> {
        self.scanner.find_end(bytes)
    }

    fn next<'a>(&mut self, text: &'a [u8]) -> Line<'a> {
        read(&mut self.scanner, text, |object| {
            if object.path == Value::Nothing && object.path_base64 == Value::Nothing {
                return s3::line(object, None, &self.dialect);
            }
            if object.is_no_file {
                return Line::Blank;
            }
            if object.key != Value::Nothing {
                // One file with two names.
                return Line::Wrong(Wrong::Json);
            }
            record(object, &self.dialect)
                .map_or_else(Line::Wrong, |(record, is_tagged)| Line::Record { record, is_tagged })
        })
    }

    fn may_end(&self) -> bool {
        self.scanner.may_end()
    }
}

/// Parses a text, and passes an object to `of_object`.
pub(super) fn read<'a>(
    scanner: &mut Scanner,
    text: &'a [u8],
    of_object: impl FnOnce(&mut Object<'a>) -> Line<'a>,
) -> Line<'a> {
    match scanner.piece() {
        Piece::Between => {
            let depth = scanner.depth_of_array();
            return around(text, depth).map_or(Line::Blank, Line::Wrong);
        }
        Piece::Broken => return Line::Wrong(Wrong::Json),
        Piece::Cut => return Line::Wrong(Wrong::CutOff),
        Piece::Object => {}
    }
    // The comma after the previous object, if blanks separate the two.
    let text = text.trim_ascii_start();
    let text = text.strip_prefix(b",").unwrap_or(text);
    let mut object = Object::default();
    match object.read(text) {
        Some(()) if object.has_nested => Line::Wrong(Wrong::Nested),
        Some(()) => of_object(&mut object),
        None => Line::Wrong(Wrong::Json),
    }
}

/// Returns the error in the text around the objects of a list. Only the enclosing objects of a
/// store can have one. `depth` is their number.
fn around(text: &[u8], depth: u32) -> Option<Wrong> {
    let text = text.trim_ascii();
    // The members before the objects, whose array is cut off here, or the members after the array.
    let members = match (text.first()?, text.strip_prefix(b",")) {
        (b'{', _) => [text, b"null", &b"}".repeat(depth as usize)].concat(),
        (_, Some(members)) if !members.is_empty() => behind(members, depth),
        // The ends of the objects inside.
        (b'}', _) if depth > 1 => behind(text, depth),
        _ => return Some(Wrong::Json),
    };
    let mut object = Object::default();
    match object.read(&members) {
        None => Some(Wrong::Json),
        Some(()) if object.has_other_objects => Some(Wrong::OtherObjects),
        Some(()) if object.is_truncated => Some(Wrong::Truncated),
        Some(()) => object.has_prefixes.then_some(Wrong::Prefixes),
    }
}

/// Returns the members behind the array as an object. Its objects begin before the array.
fn behind(members: &[u8], depth: u32) -> Vec<u8> {
    let begin = b"{\"\":".repeat(depth as usize - 1);
    [&begin, &b"{"[..], members, b"}"].concat()
}

/// Reads the members that lanesum writes.
fn record<'a>(object: &mut Object<'a>, dialect: &Dialect) -> Result<(Record<'a>, bool), Wrong> {
    let name = match (mem::take(&mut object.path), mem::take(&mut object.path_base64)) {
        (Value::Text(name), Value::Nothing) => bytes(name),
        (Value::Nothing, Value::Text(base64)) => {
            Cow::Owned(BASE64.decode(&*base64).map_err(|_| Wrong::Name)?)
        }
        _ => return Err(Wrong::Name),
    };
    if name.is_empty() || name.contains(&0) {
        return Err(Wrong::Name);
    }
    let (digests, is_tagged) = digests(object, dialect)?;
    let mut record = Record { name, digests, size: size(&object.size)?, ..Record::default() };
    record.times.modified = match &object.modified {
        Value::Nothing => None,
        Value::Text(time) => Some(Time::from_rfc3339(time.as_bytes()).ok_or(Wrong::Modified)?),
        _ => return Err(Wrong::Modified),
    };
    Ok((record, is_tagged))
}

/// Reads a number of bytes, which some services write as a string.
pub(super) fn size(value: &Value<'_>) -> Result<Option<u64>, Wrong> {
    match value {
        Value::Nothing => Ok(None),
        Value::Whole(size) => Ok(Some(*size)),
        Value::Text(digits) => line::number(digits.as_bytes()).map(Some).ok_or(Wrong::Size),
        _ => Err(Wrong::Size),
    }
}

/// Returns the bytes of a string, borrowed from the list if possible.
pub(super) fn bytes(text: Cow<'_, str>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

/// Returns the digests of an object for the algorithms of the dialect, and whether it names their
/// algorithms.
pub(super) fn digests(object: &Object<'_>, dialect: &Dialect) -> Result<(Digests, bool), Wrong> {
    let mut digests = Digests::default();
    for (algorithm, value) in &object.digests {
        let text = match value {
            Value::Nothing => continue,
            // rclone writes an empty string for a hash that it did not compute, and B2 "none".
            Value::Text(text) if text.is_empty() || *text == "none" => continue,
            // B2 did not compare it, but the check does.
            Value::Text(text) => text.strip_prefix("unverified:").unwrap_or(text),
            _ => return Err(Wrong::Digest(*algorithm)),
        };
        let digest = super::digests::of(*algorithm, text.as_bytes())?;
        match digests.iter().find(|known| known.algorithm() == *algorithm) {
            Some(known) if *known != digest => return Err(Wrong::Digest(*algorithm)),
            None if dialect.tagged.contains(*algorithm) => digests.push(digest),
            _ => {}
        }
    }
    match object.hash.text() {
        Some(hash) if digests.is_empty() && !hash.is_empty() => {
            let (digest, is_tagged) = match object.hash_type.text() {
                Some(name) => {
                    let algorithm = Algorithm::called(name).ok_or(Wrong::Algorithm)?;
                    (super::digests::of(algorithm, hash.as_bytes())?, true)
                }
                None => super::digests::of_any(hash.as_bytes(), dialect.untagged)?,
            };
            digests.extend(Some(digest).filter(|it| dialect.tagged.contains(it.algorithm())));
            Ok((digests, is_tagged))
        }
        _ => Ok((digests, true)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Digest, lines};

    fn read(list: &str) -> Vec<(u64, Line<'_>)> {
        let mut json = Json::lines(Dialect::any());
        let lines: Vec<_> = lines(list.as_bytes(), &mut json).collect();
        lines.into_iter().filter(|(_, line)| *line != Line::Blank).collect()
    }

    #[test]
    fn members_come_in_any_order_and_unknown_ones_are_skipped() {
        let list = "\n[\n  {\"x\": [1, {\"path\": 2}], \"md5\": \"900150983CD24FB0D6963F7D28E17F72\",\
            \"sha1\": null, \"modified\": \"2023-11-14T22:13:20Z\", \"path\": \"a\\n\\u00fc\"},\n\n\
            {\"path_base64\": \"/w==\", \"size\": 18446744073709551615}\n]\n";
        let read = read(list);
        let [(3, Line::Record { record: a, .. }), (5, Line::Record { record: b, .. })] = &*read
        else {
            panic!("{read:?}")
        };
        assert_eq!((&*a.name, a.size, a.digests.len()), ("a\n\u{fc}".as_bytes(), None, 1));
        assert_eq!(a.times.modified.unwrap().seconds, 1_700_000_000);
        assert_eq!((&*b.name, b.size), (&b"\xff"[..], Some(u64::MAX)));
    }

    #[test]
    fn invalid_rows_are_reported_with_their_lines() {
        for (object, wrong) in [
            (r#"{"path":"a","relpath":"b"}"#, Wrong::Json),
            (r#"{"path":"a","path":"b"}"#, Wrong::Json),
            (
                r#"{"path":"a","md5":"900150983cd24fb0d6963f7d28e17f7"}"#,
                Wrong::Digest(Algorithm::Md5),
            ),
            (r#"{"path":"a","md5":5}"#, Wrong::Digest(Algorithm::Md5)),
            (r#"{"path":"a","size":-1}"#, Wrong::Size),
            (r#"{"path":"a","size":1.5}"#, Wrong::Size),
            (r#"{"path":"a","modified":"today"}"#, Wrong::Modified),
            (r#"{"path":"","size":1}"#, Wrong::Name),
            (r#"{"path":"\u0000","size":1}"#, Wrong::Name),
            (r#"{"path":"a","path_base64":"YQ==","size":1}"#, Wrong::Name),
            (r#"{"path_base64":"YQ=","size":1}"#, Wrong::Name),
            (r#"{"size":1}"#, Wrong::NoName),
            (r#"{"path":"a",}"#, Wrong::Json),
            (r#"{"path":"a""#, Wrong::CutOff),
            ("nonsense", Wrong::Json),
        ] {
            let list = format!("{{\"path\":\"a\",\"size\":1}}\n{object}\n");
            let read = read(&list);
            assert!(matches!(read[0], (1, Line::Record { .. })));
            assert_eq!(read[1..], [(2, Line::Wrong(wrong))], "{object}");
        }
    }

    #[test]
    fn an_array_without_its_bracket_is_incomplete() {
        assert_eq!(read("[{\"path\":\"a\",\"size\":1}\n")[1..], [(1, Line::Wrong(Wrong::CutOff))]);
    }

    #[test]
    fn dvc_directory_lists_are_read() {
        let list = br#"[{"md5": "900150983cd24fb0d6963f7d28e17f72", "relpath": "a/b"}]"#;
        let mut json = Json::lines(Dialect::any());
        let lines: Vec<_> = lines(list, &mut json).map(|(_, line)| line).collect();
        let digest = Digest::from_hex(Algorithm::Md5, b"900150983cd24fb0d6963f7d28e17f72").unwrap();
        let record = Record::new("a/b").with(digest);
        assert!(lines.contains(&Line::Record { record, is_tagged: true }), "{lines:?}");
    }

    #[test]
    fn powershell_hashes_are_read() {
        let of = |algorithm: &str| {
            format!(
                r#"[{{"Algorithm":"{algorithm}","Hash":"900150983CD24FB0D6963F7D28E17F72","Path":"a"}}]"#
            )
        };
        let digest = Digest::from_hex(Algorithm::Md5, b"900150983cd24fb0d6963f7d28e17f72").unwrap();
        let record = Record::new("a").with(digest);
        let found = [(1, Line::Record { record, is_tagged: true })];
        assert_eq!(read(&of("MD5")), found);
        // There is no digest of another algorithm, and the check reports that.
        let found = [(1, Line::Record { record: Record::new("a"), is_tagged: true })];
        assert_eq!(read(&of("MACTripleDES")), found);
    }

    #[test]
    fn json_is_detected_by_its_first_two_tokens() {
        for (head, is) in [
            ("{\"path\"", true),
            (" [ {", true),
            ("[", true),
            ("[]", true),
            ("{", true),
            ("[section]", false),
            ("{a}", false),
            ("", false),
        ] {
            assert_eq!(Json::lines(Dialect::any()).detect(head.as_bytes()), is, "{head}");
        }
    }
}
