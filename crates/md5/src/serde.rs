//! Serializes and deserializes digests.

use core::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::{DIGEST_LEN, Md5Digest};

impl Serialize for Md5Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            self.0.serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for Md5Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_str(Hex)
        } else {
            <[u8; DIGEST_LEN]>::deserialize(deserializer).map(Self)
        }
    }
}

struct Hex;

impl Visitor<'_> for Hex {
    type Value = Md5Digest;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the 32 hexadecimal digits of an MD5 digest")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Md5Digest, E> {
        text.parse().map_err(E::custom)
    }
}
