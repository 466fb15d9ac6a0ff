//! Serializes and deserializes digests.

use core::fmt;
use core::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeTuple as _, Serializer};

use crate::Digest;
use crate::hash::{BlockHash, Bytes as _};

impl<H: BlockHash> Serialize for Digest<H> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return serializer.collect_str(self);
        }
        // As serde does for arrays of up to 32 bytes.
        let mut bytes = serializer.serialize_tuple(H::Digest::LEN)?;
        self.as_ref().iter().try_for_each(|byte| bytes.serialize_element(byte))?;
        bytes.end()
    }
}

impl<'de, H: BlockHash> Deserialize<'de> for Digest<H> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_str(Digits(PhantomData))
        } else {
            deserializer.deserialize_tuple(H::Digest::LEN, Digits(PhantomData))
        }
    }
}

struct Digits<H>(PhantomData<H>);

impl<'de, H: BlockHash> Visitor<'de> for Digits<H> {
    type Value = Digest<H>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = H::Digest::LEN;
        write!(
            f,
            "the {} hexadecimal digits or {length} bytes of a digest of {}",
            2 * length,
            H::NAME
        )
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Digest<H>, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut bytes: A) -> Result<Digest<H>, A::Error> {
        let mut digest = Digest::<H>::default();
        for (place, byte) in digest.0.as_mut().iter_mut().enumerate() {
            *byte = bytes.next_element()?.ok_or_else(|| A::Error::invalid_length(place, &self))?;
        }
        Ok(digest)
    }
}
