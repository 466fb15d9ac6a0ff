//! What the members of an object say, ours and those of others.

use std::borrow::Cow;
use std::fmt;

use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

use crate::Algorithm;

/// The members that say something, of an object of any of the writers.
#[derive(Debug, Default)]
pub(in super::super) struct Object<'a> {
    /// `path`, ours, or `relpath`; and its base64 where it is not UTF-8.
    pub(in super::super) path: Value<'a>,
    pub(in super::super) path_base64: Value<'a>,
    /// `Path` of rclone, `Key` of aws, `key` of mc.
    pub(in super::super) key: Value<'a>,
    pub(in super::super) size: Value<'a>,
    pub(in super::super) modified: Value<'a>,
    /// `ModTime` of rclone. What the others have is when the object was stored.
    pub(in super::super) mod_time: Value<'a>,
    pub(in super::super) etag: Value<'a>,
    /// Digests by the names that we have for algorithms, those of rclone's `Hashes`, PowerShell's
    /// `Hash` of an `Algorithm`, and the checksums that aws knows by theirs.
    pub(in super::super) digests: Vec<(Algorithm, Value<'a>)>,
    pub(in super::super) stored: Vec<(Algorithm, Value<'a>)>,
    pub(in super::super) checksum_type: Value<'a>,
    /// A directory, or an object that is deleted.
    pub(in super::super) is_no_file: bool,
    /// aws: it has `RequestCharged`, which is all that a list of no object has.
    pub(in super::super) is_listing: bool,
    /// mc: something failed.
    pub(in super::super) is_error: bool,
    /// aws: it has objects in another member than the one whose array is read.
    pub(in super::super) has_other_objects: bool,
    /// aws: it says that there are more objects than those in it.
    pub(in super::super) is_truncated: bool,
    /// aws: it names prefixes, and not the objects below them.
    pub(in super::super) has_prefixes: bool,
}

/// A value of a member.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in super::super) enum Value<'a> {
    /// Or `null`, or no member at all.
    #[default]
    Nothing,
    Text(Cow<'a, str>),
    Whole(u64),
    /// -1, rclone's size of what has none.
    MinusOne,
    Is(bool),
    /// A map whose values are text, as `Hashes` has it.
    Map(Vec<(Cow<'a, str>, Value<'a>)>),
    /// An array of nothing.
    Empty,
    Other,
}

impl Value<'_> {
    pub(in super::super) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}

/// The algorithm that rclone calls so.
fn of_rclone(name: &str) -> Option<Algorithm> {
    // What lanesum calls so is of 128 bits.
    if name == "xxh3" { Some(Algorithm::Xxh3_64) } else { name.parse().ok() }
}

/// The algorithm of a member of `aws s3api head-object`.
fn of_aws(name: &str) -> Option<Algorithm> {
    Some(match name {
        "ChecksumCRC32" => Algorithm::Crc32,
        "ChecksumCRC32C" => Algorithm::Crc32c,
        "ChecksumSHA1" => Algorithm::Sha1,
        "ChecksumSHA256" => Algorithm::Sha256,
        _ => return None,
    })
}

impl<'de> Object<'de> {
    /// The object of a text; `None` where it is none.
    pub(in super::super) fn read(&mut self, text: &'de [u8]) -> Option<()> {
        let mut deserializer = serde_json::Deserializer::from_slice(text);
        self.deserialize(&mut deserializer).ok()?;
        deserializer.end().ok()
    }
}

/// In its place: to move it from hand to hand takes longer than to read a short one.
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

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let object = self;
        // As PowerShell's Get-FileHash has them.
        let (mut algorithm, mut hash) = (Value::Nothing, Value::Nothing);
        while let Some(Name(name)) = members.next_key()? {
            let place = match &*name {
                // As DVC lists a directory: .dir.
                "path" | "relpath" => &mut object.path,
                "path_base64" => &mut object.path_base64,
                "size" | "Size" | "ContentLength" => &mut object.size,
                "modified" => &mut object.modified,
                "Path" | "Key" | "key" => &mut object.key,
                "ModTime" => &mut object.mod_time,
                "ETag" | "etag" => &mut object.etag,
                "Algorithm" => &mut algorithm,
                "Hash" => &mut hash,
                "ChecksumType" => &mut object.checksum_type,
                "IsDir" | "isDeleteMarker" => {
                    object.is_no_file |= members.next_value::<Value<'_>>()? == Value::Is(true);
                    continue;
                }
                "type" => {
                    object.is_no_file |=
                        members.next_value::<Value<'_>>()?.text() == Some("folder");
                    continue;
                }
                "RequestCharged" => {
                    object.is_listing = true;
                    members.next_value::<IgnoredAny>()?;
                    continue;
                }
                "Versions" | "DeleteMarkers" | "Contents" => {
                    let objects = members.next_value::<Value<'_>>()?;
                    object.has_other_objects |= !matches!(objects, Value::Nothing | Value::Empty);
                    continue;
                }
                "IsTruncated" | "NextToken" | "NextContinuationToken" | "NextMarker" => {
                    let more = members.next_value::<Value<'_>>()?;
                    object.is_truncated |= !matches!(more, Value::Nothing | Value::Is(false));
                    continue;
                }
                "CommonPrefixes" => {
                    let prefixes = members.next_value::<Value<'_>>()?;
                    object.has_prefixes |= !matches!(prefixes, Value::Nothing | Value::Empty);
                    continue;
                }
                "status" => {
                    object.is_error |= members.next_value::<Value<'_>>()?.text() == Some("error");
                    continue;
                }
                "Hashes" => {
                    if let Value::Map(hashes) = members.next_value()? {
                        let known = hashes.into_iter().filter_map(|(name, value)| {
                            of_rclone(&name).map(|algorithm| (algorithm, value))
                        });
                        object.digests.extend(known);
                    }
                    continue;
                }
                name => {
                    if let Some(algorithm) = of_aws(name) {
                        object.stored.push((algorithm, members.next_value()?));
                    } else if let Ok(algorithm) = name.parse() {
                        object.digests.push((algorithm, members.next_value()?));
                    } else {
                        members.next_value::<IgnoredAny>()?;
                    }
                    continue;
                }
            };
            if *place != Value::Nothing {
                return Err(de::Error::custom("a member stands there twice"));
            }
            *place = members.next_value()?;
        }
        if let Some(Ok(algorithm)) = algorithm.text().map(str::parse) {
            object.digests.push((algorithm, hash));
        }
        Ok(())
    }
}

/// The name of a member, of the text itself where nothing in it is escaped.
struct Name<'a>(Cow<'a, str>);

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
