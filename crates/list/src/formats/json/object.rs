//! The members of objects, as lanesum and other programs write them.

use std::borrow::Cow;
use std::fmt;

use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

use super::members;
use super::nested::Nested;
use crate::Algorithm;

/// The relevant members of an object of any program.
#[derive(Debug, Default)]
pub(in super::super) struct Object<'a> {
    /// `path` of lanesum or `relpath` of DVC, and the base64 of a path that is not UTF-8.
    pub(in super::super) path: Value<'a>,
    pub(in super::super) path_base64: Value<'a>,
    /// `Path` of rclone, `Key` of aws, `key` of mc.
    pub(in super::super) key: Value<'a>,
    /// The name that other services have, with its rank, and the directory of it.
    pub(in super::super) name: Option<(u8, Value<'a>)>,
    pub(in super::super) directory: Value<'a>,
    /// A digest, and its algorithm if it is a member of its own.
    pub(in super::super) hash: Value<'a>,
    pub(in super::super) hash_type: Value<'a>,
    pub(in super::super) size: Value<'a>,
    pub(in super::super) modified: Value<'a>,
    /// `ModTime` of rclone. Other programs only have the time when the object was stored.
    pub(in super::super) mod_time: Value<'a>,
    pub(in super::super) etag: Value<'a>,
    /// Digests under the algorithm names of lanesum, in `Hashes` of rclone, in `Hash` and
    /// `Algorithm` of PowerShell, and under the checksum names of aws.
    pub(in super::super) digests: Vec<(Algorithm, Value<'a>)>,
    pub(in super::super) stored: Vec<(Algorithm, Value<'a>)>,
    /// The number of parts in `ObjectParts` of `get-object-attributes`.
    pub(in super::super) parts: Option<u64>,
    pub(in super::super) checksum_type: Value<'a>,
    /// The encryption by the store: `AES256`, `aws:kms`.
    pub(in super::super) encryption: Value<'a>,
    /// Whether the store encrypts with a key of KMS or of the customer.
    pub(in super::super) has_key: bool,
    /// Whether a member that is not read contains objects that may be files.
    pub(in super::super) has_nested: bool,
    /// A directory or a deleted object.
    pub(in super::super) is_no_file: bool,
    /// aws: the object has `RequestCharged`, the only member of an empty list.
    pub(in super::super) is_listing: bool,
    /// mc: an error.
    pub(in super::super) is_error: bool,
    /// aws: there are objects in another member than the one that is read.
    pub(in super::super) has_other_objects: bool,
    /// aws: the list is truncated.
    pub(in super::super) is_truncated: bool,
    /// aws: the list has prefixes instead of the objects below them.
    pub(in super::super) has_prefixes: bool,
}

/// The value of a member.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) enum Value<'a> {
    /// `null`, or a missing member.
    #[default]
    Nothing,
    Text(Cow<'a, str>),
    Whole(u64),
    /// -1, the size that rclone writes for objects without a size.
    MinusOne,
    Is(bool),
    /// An object, like `Hashes`.
    Map(Vec<(Cow<'a, str>, Value<'a>)>),
    /// An empty array.
    Empty,
    Other,
}

impl<'a> Value<'a> {
    pub(in super::super) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// Returns the value that these names lead to.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Value<'a>> {
        let Some((name, path)) = path.split_first() else { return Some(self) };
        let Self::Map(members) = self else { return None };
        members.iter().find(|(known, _)| known == name)?.1.at(path)
    }
}

/// Returns the algorithm with this name in rclone.
fn of_rclone(name: &str) -> Option<Algorithm> {
    // The algorithm with this name in lanesum has 128 bits.
    if name == "xxh3" { Some(Algorithm::Xxh3_64) } else { name.parse().ok() }
}

/// Returns the algorithm of a member of `aws s3api head-object`.
fn of_aws(name: &str) -> Option<Algorithm> {
    Some(match name {
        "ChecksumCRC32" => Algorithm::Crc32,
        "ChecksumCRC32C" => Algorithm::Crc32c,
        "ChecksumSHA1" => Algorithm::Sha1,
        "ChecksumSHA256" => Algorithm::Sha256,
        "ChecksumCRC64NVME" => Algorithm::Crc64Nvme,
        "ChecksumSHA512" => Algorithm::Sha512,
        "ChecksumMD5" => Algorithm::Md5,
        "ChecksumXXHASH64" => Algorithm::Xxh64,
        "ChecksumXXHASH3" => Algorithm::Xxh3_64,
        "ChecksumXXHASH128" => Algorithm::Xxh128,
        _ => return None,
    })
}

/// Returns whether a header says that the store encrypts with a key of KMS or of the customer.
fn is_key(header: &str, value: &Value<'_>) -> bool {
    match header.to_ascii_lowercase().as_str() {
        "x-amz-server-side-encryption" => value.text().is_some_and(|it| it != "AES256"),
        "x-amz-server-side-encryption-customer-algorithm" => true,
        _ => false,
    }
}

impl<'de> Object<'de> {
    /// Parses an object. Returns `None` if the text is not an object.
    pub(in super::super) fn read(&mut self, text: &'de [u8]) -> Option<()> {
        let mut deserializer = serde_json::Deserializer::from_slice(text);
        self.deserialize(&mut deserializer).ok()?;
        deserializer.end().ok()
    }
}

/// Parses in place, because moving the object takes longer than reading a short one.
impl<'de> DeserializeSeed<'de> for &mut Object<'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Object<'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let object = self;
        // As Get-FileHash of PowerShell writes them.
        let (mut algorithm, mut hash) = (Value::Nothing, Value::Nothing);
        while let Some(Name(name)) = entries.next_key()? {
            let place = match &*name {
                // As in the `.dir` files of DVC.
                "path" | "relpath" => &mut object.path,
                "path_base64" => &mut object.path_base64,
                "size" | "Size" | "ContentLength" | "ObjectSize" => &mut object.size,
                "modified" => &mut object.modified,
                "Path" | "Key" | "key" => &mut object.key,
                "ModTime" => &mut object.mod_time,
                "ETag" | "etag" => &mut object.etag,
                "ServerSideEncryption" => &mut object.encryption,
                "SSECustomerAlgorithm" | "SSECustomerKeyMD5" | "SSEKMSKeyId" => {
                    object.has_key |= entries.next_value::<Value<'_>>()? != Value::Nothing;
                    continue;
                }
                "Algorithm" => &mut algorithm,
                "Hash" => &mut hash,
                "ChecksumType" => &mut object.checksum_type,
                "IsDir" | "isDeleteMarker" => {
                    object.is_no_file |= entries.next_value::<Value<'_>>()? == Value::Is(true);
                    continue;
                }
                // Headers in `mc stat --json`.
                "metadata" => {
                    let metadata = entries.next_value()?;
                    if let Value::Map(headers) = &metadata {
                        object.has_key |= headers.iter().any(|(name, value)| is_key(name, value));
                    }
                    members::take(object, "metadata", metadata);
                    continue;
                }
                "RequestCharged" => {
                    object.is_listing = true;
                    entries.next_value::<IgnoredAny>()?;
                    continue;
                }
                "Versions" | "DeleteMarkers" | "Contents" | "items" | "files" | "entries"
                | "siblings" => {
                    let objects = entries.next_value::<Value<'_>>()?;
                    object.has_other_objects |= !matches!(objects, Value::Nothing | Value::Empty);
                    continue;
                }
                "IsTruncated"
                | "NextToken"
                | "NextContinuationToken"
                | "NextMarker"
                | "nextMarker"
                | "nextPageToken"
                | "has_more" => {
                    let more = entries.next_value::<Value<'_>>()?;
                    object.is_truncated |= !matches!(more, Value::Nothing | Value::Is(false));
                    continue;
                }
                "CommonPrefixes" | "prefixes" => {
                    let prefixes = entries.next_value::<Value<'_>>()?;
                    object.has_prefixes |= !matches!(prefixes, Value::Nothing | Value::Empty);
                    continue;
                }
                "status" => {
                    object.is_error |= entries.next_value::<Value<'_>>()?.text() == Some("error");
                    continue;
                }
                "Checksum" => {
                    let Value::Map(checksums) = entries.next_value()? else { continue };
                    for (name, value) in checksums {
                        if let Some(algorithm) = of_aws(&name) {
                            object.stored.push((algorithm, value));
                        } else if name == "ChecksumType" {
                            object.checksum_type = value;
                        }
                    }
                    continue;
                }
                "ObjectParts" => {
                    let Value::Map(parts) = entries.next_value()? else { continue };
                    let count = parts.into_iter().find(|(name, _)| name == "TotalPartsCount");
                    if let Some((_, Value::Whole(count))) = count {
                        object.parts = Some(count);
                    }
                    continue;
                }
                "Hashes" => {
                    if let Value::Map(hashes) = entries.next_value()? {
                        let known = hashes.into_iter().filter_map(|(name, value)| {
                            of_rclone(&name).map(|algorithm| (algorithm, value))
                        });
                        object.digests.extend(known);
                    }
                    continue;
                }
                name => {
                    if let Some(algorithm) = of_aws(name) {
                        object.stored.push((algorithm, entries.next_value()?));
                    } else if members::is_known(name) {
                        let value = entries.next_value()?;
                        members::take(object, name, value);
                    } else if let Some(algorithm) = members::algorithm(name) {
                        object.digests.push((algorithm, entries.next_value()?));
                    } else {
                        object.has_nested |= entries.next_value::<Nested>()?.has_file;
                    }
                    continue;
                }
            };
            if *place != Value::Nothing {
                return Err(de::Error::custom("a member stands there twice"));
            }
            *place = entries.next_value()?;
        }
        if let Some(Ok(algorithm)) = algorithm.text().map(str::parse) {
            object.digests.push((algorithm, hash));
        }
        Ok(())
    }
}

/// Returns the name of a member, borrowed from the text if it has no escapes.
pub(super) struct Name<'a>(pub(super) Cow<'a, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_str(ValueVisitor)? {
            Value::Text(text) => Ok(Self(text)),
            _ => Err(de::Error::custom("no name")),
        }
    }
}

impl<'de> Deserialize<'de> for Value<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Value<'de>, E> {
        Ok(Value::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value<'de>, E> {
        Ok(Value::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Value<'de>, E> {
        Ok(Value::Nothing)
    }

    fn visit_bool<E>(self, is: bool) -> Result<Value<'de>, E> {
        Ok(Value::Is(is))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value<'de>, E> {
        Ok(Value::Whole(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value<'de>, E> {
        let negative = if number == -1 { Value::MinusOne } else { Value::Other };
        Ok(u64::try_from(number).map_or(negative, Value::Whole))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Value<'de>, E> {
        Ok(Value::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Value<'de>, A::Error> {
        if values.next_element::<IgnoredAny>()?.is_none() {
            return Ok(Value::Empty);
        }
        while values.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value<'de>, A::Error> {
        let mut map = Vec::new();
        while let Some(Name(name)) = members.next_key()? {
            map.push((name, members.next_value()?));
        }
        Ok(Value::Map(map))
    }
}
