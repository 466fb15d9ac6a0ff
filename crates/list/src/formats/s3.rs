//! JSON output of programs for object stores: `aws s3api list-objects-v2` and `head-object`,
//! `rclone lsjson --hash`, `mc ls --json`. Read only.
//!
//! The programs use different member names, but no name has two meanings, so one reader handles all
//! of them. Only `ModTime` of rclone is a modification time. The other programs have the time when
//! the object was stored.

use std::borrow::Cow;
use std::mem;
use std::num::NonZeroU32;

use super::json::{self, Object, Scanner, Value};
use super::{CannotHold, Format, Json, Line, Wrong, line};
use crate::{Algorithm, Algorithms, Dialect, Digest, Etag, Record, Time, digits};

const NAME: &str = "s3";

/// A list of objects.
///
/// ```
/// use lanesum_list::formats::{Line, S3};
/// use lanesum_list::{Dialect, lines};
///
/// let list = br#"{"Contents": [{"Key": "a/b", "LastModified": "2023-11-14T22:13:20+00:00",
///     "ETag": "\"8a1d6e5b1c1c4e0c1f0f3b6a5d4c3b2a-2\"", "Size": 16777216, "StorageClass": "STANDARD"}]}"#;
/// let read: Vec<_> = lines(list, &mut S3::new(Dialect::any())).collect();
/// let [_, (1, Line::Record { record, .. }), _] = &*read else { panic!("{read:?}") };
/// assert_eq!((&*record.name, record.size), (&b"a/b"[..], Some(16_777_216)));
/// assert_eq!(record.etag.unwrap().parts.unwrap().get(), 2);
///
/// let head = br#"{"ContentLength": 3, "ETag": "\"900150983cd24fb0d6963f7d28e17f72\""}"#;
/// let mut format = S3::new(Dialect::any()).named(b"b");
/// let Some((1, Line::Record { record, .. })) = lines(head, &mut format).next() else { panic!() };
/// assert_eq!(&*record.name, b"b");
/// ```
#[derive(Clone, Debug)]
pub struct S3 {
    dialect: Dialect,
    name: Option<Vec<u8>>,
    scanner: Scanner,
}

impl S3 {
    /// Makes a list of a dialect.
    #[must_use]
    pub const fn new(dialect: Dialect) -> Self {
        Self { dialect, name: None, scanner: Scanner::new() }
    }

    /// Returns the format with a name for the first object without a name, as `head-object` prints
    /// it. A second object without a name is invalid.
    #[must_use]
    pub fn named(self, name: &[u8]) -> Self {
        Self { name: Some(name.to_vec()), ..self }
    }
}

impl Format for S3 {
    fn can_hold(&self, _: Algorithms) -> Result<(), CannotHold> {
        Err(CannotHold::ReadOnly(NAME))
    }

    fn record(&self, _: &mut Vec<u8>, _: &Record<'_>) -> Result<(), CannotHold> {
        Err(CannotHold::ReadOnly(NAME))
    }

    fn detect(&self, head: &[u8]) -> bool {
        Json::lines(self.dialect).detect(head)
    }

    fn find_end(&mut self, bytes: &[u8]) -> Option<usize> {
        self.scanner.find_end(bytes)
    }

    fn next<'a>(&mut self, text: &'a [u8]) -> Line<'a> {
        let Self { dialect, name, scanner } = self;
        json::read(scanner, text, |object| {
            let is_nameless = object.key == Value::Nothing && object.name.is_none();
            let name = if is_nameless { name.take() } else { None };
            line(object, name, dialect)
        })
    }

    fn may_end(&self) -> bool {
        self.scanner.may_end()
    }
}

/// Reads an object. `name` is used if the object has no name.
pub(super) fn line<'a>(
    object: &mut Object<'a>,
    name: Option<Vec<u8>>,
    dialect: &Dialect,
) -> Line<'a> {
    if object.is_error {
        return Line::Wrong(Wrong::Reported);
    }
    if object.is_no_file {
        return Line::Blank;
    }
    if object.has_other_objects {
        return Line::Wrong(Wrong::OtherObjects);
    }
    if object.has_prefixes {
        return Line::Wrong(Wrong::Prefixes);
    }
    let is_empty =
        [&object.key, &object.size, &object.etag].iter().all(|it| **it == Value::Nothing);
    if object.is_listing && is_empty {
        return Line::Wrong(Wrong::NoObject);
    }
    match record(object, name, dialect) {
        // A placeholder for a directory, which object stores do not have.
        Ok((record, _)) if record.name.ends_with(b"/") && record.size.unwrap_or(0) == 0 => {
            Line::Blank
        }
        Ok((record, is_tagged)) => Line::Record { record, is_tagged },
        Err(wrong) => Line::Wrong(wrong),
    }
}

fn record<'a>(
    object: &mut Object<'a>,
    name: Option<Vec<u8>>,
    dialect: &Dialect,
) -> Result<(Record<'a>, bool), Wrong> {
    let key = match (mem::take(&mut object.key), object.name.take()) {
        (Value::Nothing, Some((_, name))) => name,
        (key, _) => key,
    };
    let name = match (key, name) {
        (Value::Text(key), _) => json::bytes(key),
        (Value::Nothing, Some(name)) => Cow::Owned(name),
        (Value::Nothing, None) => return Err(Wrong::NoName),
        _ => return Err(Wrong::Name),
    };
    let name = match object.directory.text() {
        Some(directory) if !directory.is_empty() => {
            Cow::Owned([directory.as_bytes(), b"/", &name].concat())
        }
        _ => name,
    };
    if name.is_empty() || name.contains(&0) {
        return Err(Wrong::Name);
    }
    let (digests, is_tagged) = json::digests(object, dialect)?;
    let mut record = Record { name, etag: etag(object), digests, ..Record::default() };
    record.size = match &object.size {
        // rclone: unknown size.
        Value::MinusOne => None,
        size => json::size(size)?,
    };
    let time = object.mod_time.text();
    record.times.modified = time.and_then(|time| Time::from_rfc3339(time.as_bytes()));
    for (algorithm, value) in &object.stored {
        match stored(*algorithm, value, object).ok_or(Wrong::Digest(*algorithm))? {
            _ if !dialect.tagged.contains(*algorithm) => {}
            Stored::Nothing => {}
            Stored::Whole(digest) if record.digest(*algorithm).is_none() => {
                record.digests.push(digest);
            }
            Stored::Whole(_) => {}
            // Unlike an ETag, it does not depend on the encryption.
            Stored::OfParts(checksum) => record.etag = Some(checksum),
        }
    }
    Ok((record, is_tagged))
}

/// Returns the ETag, unless it proves nothing: with a key of KMS or of the customer it is not MD5.
/// Some programs do not print the encryption. A checksum of the store then decides.
fn etag(object: &Object<'_>) -> Option<Etag> {
    let is_known = match object.encryption.text() {
        Some(encryption) => encryption == "AES256",
        None => object.stored.iter().all(|(_, value)| *value == Value::Nothing),
    };
    let etag = object.etag.text().filter(|_| is_known && !object.has_key)?;
    Etag::parse(etag.as_bytes())
}

/// A checksum that the store keeps.
enum Stored {
    Nothing,
    Whole(Digest),
    OfParts(Etag),
}

/// Reads `BASE64`, or `BASE64-PARTS` of a multipart upload. `get-object-attributes` prints the
/// number of parts elsewhere. Returns `None` if the value is invalid.
fn stored(algorithm: Algorithm, value: &Value<'_>, object: &Object<'_>) -> Option<Stored> {
    let text = match value {
        Value::Nothing => return Some(Stored::Nothing),
        value => value.text()?,
    };
    // The alphabet of stores has no dash.
    let (digits, parts) = match text.split_once('-') {
        Some((digits, parts)) => (digits, Some(line::number(parts.as_bytes())?)),
        None => (text, None),
    };
    let digest = digits::read(algorithm, digits.as_bytes(), true)?;
    let is_of_parts = match object.checksum_type.text() {
        Some("COMPOSITE") => true,
        Some("FULL_OBJECT") => parts.is_some(),
        // Older programs do not print the type. Only this algorithm has no composite form.
        _ => parts.is_some() || (object.parts.is_some() && algorithm != Algorithm::Crc64Nvme),
    };
    if !is_of_parts {
        return Some(Stored::Whole(digest));
    }
    let etag = || object.etag.text().and_then(|etag| Etag::parse(etag.as_bytes())?.parts);
    let parts =
        parts.or(object.parts).map(|parts| u32::try_from(parts).ok().and_then(NonZeroU32::new));
    let parts = parts.unwrap_or_else(etag);
    // Without the number of parts nothing can be compared.
    Some(
        parts.map_or(Stored::Nothing, |parts| Stored::OfParts(Etag { digest, parts: Some(parts) })),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines;

    fn read(list: &str) -> Vec<Line<'_>> {
        let mut s3 = S3::new(Dialect::any());
        let lines: Vec<_> = lines(list.as_bytes(), &mut s3).map(|(_, line)| line).collect();
        lines.into_iter().filter(|line| *line != Line::Blank).collect()
    }

    fn records(list: &str) -> Vec<Record<'_>> {
        let record = |line| match line {
            Line::Record { record, .. } => record,
            other => panic!("{other:?}"),
        };
        read(list).into_iter().map(record).collect()
    }

    /// Like the examples in the reference of the AWS CLI.
    #[test]
    fn aws_lists_are_read() {
        let list = r#"{
            "Contents": [
                {
                    "LastModified": "2019-11-05T23:11:50.000Z",
                    "ETag": "\"621503c373607d548b37cff8778d992c\"",
                    "StorageClass": "STANDARD",
                    "Key": "doc1.rtf",
                    "Size": 391,
                    "ChecksumAlgorithm": ["CRC64NVME"],
                    "Owner": {"DisplayName": "x", "ID": "Contents"}
                },
                {"Key": "folder/", "Size": 0, "ETag": "\"d41d8cd98f00b204e9800998ecf8427e\""},
                {"Key": "big", "Size": 20000000, "ETag": "\"621503c373607d548b37cff8778d992c-3\""}
            ],
            "RequestCharged": null
        }"#;
        let read = records(list);
        assert_eq!(read.len(), 2);
        assert_eq!((&*read[0].name, read[0].size), (&b"doc1.rtf"[..], Some(391)));
        assert_eq!((read[0].times.modified, read[0].etag.unwrap().parts), (None, None));
        assert_eq!(read[1].etag.unwrap().parts.unwrap().get(), 3);
        assert!(records("{\"RequestCharged\": null, \"Contents\": []}").is_empty());
        let with_content = "{\"Contents\": [{\"Key\": \"x/\", \"Size\": 5}]}";
        assert_eq!(records(with_content).len(), 1);
    }

    #[test]
    fn a_list_without_objects_is_wrong() {
        assert_eq!(read("{\n    \"RequestCharged\": null\n}"), [Line::Wrong(Wrong::NoObject)]);
        let head = "{\"RequestCharged\": \"requester\", \"ContentLength\": 3}";
        assert_eq!(read(head), [Line::Wrong(Wrong::NoName)]);
    }

    #[test]
    fn objects_in_two_members_are_wrong() {
        let (a, b) = (r#"[{"Key": "a", "Size": 3}]"#, r#"[{"Key": "b", "Size": 3}]"#);
        for list in [
            format!("{{\"Contents\": {a}, \"Contents\": {b}}}"),
            format!("{{\"Contents\": {a}, \"RequestCharged\": null, \"Versions\": {b}}}"),
            format!("{{\"Versions\": {b}, \"Contents\": {a}}}"),
            format!("{{\"Versions\": {b}, \"RequestCharged\": null}}"),
        ] {
            assert!(read(&list).contains(&Line::Wrong(Wrong::OtherObjects)), "{list}");
        }
        let list = format!("{{\"Contents\": {a}, \"Contents\": [], \"Versions\": null}}");
        assert_eq!(records(&list).len(), 1);
        for list in [
            format!("{{\"x\" \"Contents\": {a}}}"),
            format!("{{\"Contents\": {a} \"x\": 1}}"),
            format!("{{\"Contents\": {a}, }}"),
            "{\"Contents\": [{\"Key\": \"a\", \"Size\": 3},]}".to_owned(),
        ] {
            let is_wrong = |line: &Line<'_>| matches!(line, Line::Wrong(_));
            assert!(read(&list).iter().any(is_wrong), "{list}");
        }
    }

    #[test]
    fn a_negative_size_is_wrong_except_rclones() {
        assert_eq!(records(r#"{"Path": "a", "Size": -1}"#)[0].size, None);
        assert_eq!(read(r#"{"Path": "a", "Size": -3}"#), [Line::Wrong(Wrong::Size)]);
    }

    #[test]
    fn a_truncated_listing_is_wrong() {
        let object = r#"{"Key": "a", "Size": 3}"#;
        for (before, behind) in [
            ("\"IsTruncated\" : true, ", ""),
            ("", ", \"IsTruncated\": true"),
            ("", ", \"NextToken\": \"x\""),
            ("\"NextContinuationToken\":\n\"x\",", ""),
            ("\"Is\\u0054runcated\": true, ", ""),
            ("", ", \"Next\\u004darker\": \"x\""),
        ] {
            let list = format!("{{{before}\"Contents\": [{object}]{behind}}}");
            assert!(read(&list).contains(&Line::Wrong(Wrong::Truncated)), "{list}");
        }
        // Text within a string is not a member.
        let prefix = r#""Prefix": "\"IsTruncated\":true", "x": ["NextToken", {"NextToken": "x"}]"#;
        let whole = format!(
            "{{\"IsTruncated\": false, \"Contents\": [{object}], {prefix}, \"NextToken\": null}}"
        );
        assert_eq!(records(&whole).len(), 1);
    }

    /// As `aws s3api list-objects-v2 --delimiter /` prints it.
    #[test]
    fn a_listing_with_common_prefixes_is_wrong() {
        let object = r#"{"Key": "a", "Size": 3}"#;
        let prefixes = r#""CommonPrefixes": [{"Prefix": "sub/"}]"#;
        for list in [
            format!("{{\"Contents\": [{object}], {prefixes}, \"RequestCharged\": null}}"),
            format!("{{{prefixes}, \"Contents\": [{object}]}}"),
        ] {
            let read = read(&list);
            assert!(read.contains(&Line::Wrong(Wrong::Prefixes)), "{list}");
            assert_eq!(read.len(), 2, "{list}");
        }
        for list in [format!("{{{prefixes}}}"), format!("{{{prefixes}, \"RequestCharged\": null}}")]
        {
            assert_eq!(read(&list), [Line::Wrong(Wrong::Prefixes)], "{list}");
        }
        for none in ["null", "[]"] {
            let list = format!("{{\"CommonPrefixes\": {none}, \"Contents\": [{object}]}}");
            assert_eq!(records(&list).len(), 1, "{list}");
        }
    }

    #[test]
    fn the_head_of_an_object_has_checksums_and_no_name() {
        let head = r#"{"AcceptRanges": "bytes", "ContentLength": 3, "ChecksumCRC32": "NSRBwg==",
            "ChecksumSHA256": "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=", "ETag": "\"x\"",
            "ChecksumType": "FULL_OBJECT", "Metadata": {}}"#;
        assert_eq!(read(head), [Line::Wrong(Wrong::NoName)]);
        let named = |head: &str| {
            let mut s3 = S3::new(Dialect::any()).named(b"a");
            let lines = lines(head.as_bytes(), &mut s3);
            let digests = lines.map(|(_, line)| match line {
                Line::Record { record, .. } => record.algorithms(),
                other => panic!("{other:?}"),
            });
            digests.last().unwrap()
        };
        assert_eq!(named(head), [Algorithm::Crc32, Algorithm::Sha256].into_iter().collect());
        // The number of parts is unknown.
        let parts = head.replace("FULL_OBJECT", "COMPOSITE");
        assert_eq!(named(&parts), Algorithms::NONE);
        let parts = head.replace("NSRBwg==", "NSRBwg==-4").replace("FULL_OBJECT", "");
        assert_eq!(named(&parts), Algorithm::Sha256.into());
    }

    /// `base64-N` is the checksum of the joined checksums of N parts. The values are made up.
    #[test]
    fn composite_checksums_have_their_number_of_parts() {
        let sha256 = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=";
        let parts = |head: &str| {
            let head = head.replace("{}", sha256);
            let mut s3 = S3::new(Dialect::any()).named(b"a");
            let line = lines(head.as_bytes(), &mut s3).next().unwrap().1;
            let Line::Record { record, .. } = line else { panic!("{head}: {line:?}") };
            let etag = record.etag.map(|it| (it.digest.algorithm(), it.parts.map(NonZeroU32::get)));
            (record.digests.len(), etag)
        };
        let (sha256, md5) = (Algorithm::Sha256, Algorithm::Md5);
        let etag = r#""ETag": "900150983cd24fb0d6963f7d28e17f72-2""#;
        for (head, digests, found) in [
            (r#"{"ChecksumSHA256": "{}-3", "ChecksumType": "COMPOSITE"}"#, 0, Some((sha256, 3))),
            (&format!(r#"{{{etag}, "ChecksumSHA256": "{{}}-3"}}"#), 0, Some((sha256, 3))),
            // As get-object-attributes prints them.
            (
                r#"{"Checksum": {"ChecksumSHA256": "{}", "ChecksumType": "COMPOSITE"},
                    "ObjectParts": {"TotalPartsCount": 4, "IsTruncated": true}, "ObjectSize": 9}"#,
                0,
                Some((sha256, 4)),
            ),
            (
                &format!(
                    r#"{{{etag}, "Checksum": {{"ChecksumSHA256": "{{}}", "ChecksumType": "COMPOSITE"}}}}"#
                ),
                0,
                Some((sha256, 2)),
            ),
            (
                r#"{"Checksum": {"ChecksumSHA256": "{}", "ChecksumType": "FULL_OBJECT"},
                    "ObjectParts": {"TotalPartsCount": 4}}"#,
                1,
                None,
            ),
            (
                r#"{"Checksum": {"ChecksumCRC64NVME": "rosUhgqHmIg="}, "ObjectParts": {"TotalPartsCount": 4}}"#,
                1,
                None,
            ),
            (&format!(r#"{{{etag}, "ChecksumSHA256": null}}"#), 0, Some((md5, 2))),
        ] {
            let found = found.map(|(algorithm, parts)| (algorithm, Some(parts)));
            assert_eq!(parts(head), (digests, found), "{head}");
        }
        for wrong in ["{}-x", "{}-", "x-3", "5", ""] {
            let head = format!(r#"{{"Key": "a", "ChecksumSHA256": "{wrong}"}}"#);
            assert_eq!(read(&head), [Line::Wrong(Wrong::Digest(Algorithm::Sha256))], "{head}");
        }
    }

    /// As rclone 1.60.1 prints it.
    #[test]
    fn rclone_lists_are_read() {
        let list = r#"[
{"Path":"a","Name":"a","Size":3,"MimeType":"application/octet-stream","ModTime":"2026-11-23T21:46:35.662888434Z","IsDir":false,"Hashes":{"crc32":"352441c2","md5":"900150983cd24fb0d6963f7d28e17f72","whirlpool":"4e","xxh3":"78af5f94892f3950","sha1":""}},
{"Path":"sub","Name":"sub","Size":-1,"MimeType":"inode/directory","ModTime":"2026-11-23T21:46:35Z","IsDir":true}
]
"#;
        let read = records(list);
        let [a] = &*read else { panic!("{read:?}") };
        assert_eq!(a.times.modified.unwrap().nanoseconds, 662_888_434);
        let known = [Algorithm::Crc32, Algorithm::Md5, Algorithm::Xxh3_64];
        assert_eq!(a.algorithms(), known.into_iter().collect());
    }

    #[test]
    fn mc_lists_are_read() {
        let list = r#"{"status":"success","type":"folder","lastModified":"2023-01-02T03:04:05Z","size":0,"key":"sub/","etag":"","url":"u"}
{"status":"success","type":"file","lastModified":"2023-01-02T03:04:05.6Z","size":3,"key":"a","etag":"900150983cd24fb0d6963f7d28e17f72","url":"u","versionOrdinal":1}
{"status":"error","error":{"message":"Unable to list folder.","cause":{"message":"Access Denied."}}}
"#;
        let read = read(list);
        let [Line::Record { record, .. }, Line::Wrong(Wrong::Reported)] = &*read else {
            panic!("{read:?}")
        };
        assert_eq!((&*record.name, record.times.modified), (&b"a"[..], None));
        assert_eq!(record.etag.unwrap().digest.algorithm(), Algorithm::Md5);
    }
}
