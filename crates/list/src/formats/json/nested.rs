//! Members that are not read: whether they contain files.
//!
//! A program may nest directories, as in `{"name": "d", "children": [{"name": "a", "md5": ...}]}`.
//! A check of the outer objects alone must not succeed.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::Algorithm;

/// A value that is not read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Nested {
    /// Whether the value is or contains an object with a name and a digest.
    pub(super) has_file: bool,
}

/// Returns whether programs write the name of a file in a member of this name.
fn is_name(member: &str) -> bool {
    let names = ["path", "path_base64", "relpath", "name", "key", "file", "filename", "file_name"];
    names.iter().any(|name| name.eq_ignore_ascii_case(member))
}

/// Returns whether programs write a digest in a member of this name.
fn is_digest(member: &str) -> bool {
    let names = ["hash", "hashes", "checksum", "checksums", "digest", "etag", "md5hash", "md5sum"];
    Algorithm::called(member).is_some()
        || member.starts_with("Checksum")
        || names.iter().any(|name| name.eq_ignore_ascii_case(member))
}

impl<'de> Deserialize<'de> for Nested {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NestedVisitor)
    }
}

struct NestedVisitor;

impl<'de> Visitor<'de> for NestedVisitor {
    type Value = Nested;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E>(self, _: &str) -> Result<Nested, E> {
        Ok(Nested::default())
    }

    fn visit_unit<E>(self) -> Result<Nested, E> {
        Ok(Nested::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Nested, E> {
        Ok(Nested::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Nested, E> {
        Ok(Nested::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Nested, E> {
        Ok(Nested::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Nested, E> {
        Ok(Nested::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Nested, A::Error> {
        let mut has_file = false;
        while let Some(value) = values.next_element::<Nested>()? {
            has_file |= value.has_file;
        }
        Ok(Nested { has_file })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Nested, A::Error> {
        let (mut has_file, mut has_name, mut has_digest) = (false, false, false);
        while let Some(super::object::Name(member)) = members.next_key()? {
            has_name |= is_name(&member);
            has_digest |= is_digest(&member);
            has_file |= members.next_value::<Nested>()?.has_file;
        }
        Ok(Nested { has_file: has_file || (has_name && has_digest) })
    }
}
