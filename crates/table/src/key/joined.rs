//! The joined bytes of keys with several parts.

use alloc::vec::Vec;

use super::Key;
use super::sealed::KeyBytes as _;

/// The joined bytes of a key with several parts. Up to 46 bytes need no heap memory.
///
/// For your own key types:
///
/// ```
/// use lanesum_table::{FloodSafeMap, JoinedBytes, Key};
///
/// #[derive(PartialEq, Eq)]
/// struct Place {
///     country: String,
///     code: u32,
/// }
///
/// impl Key for Place {
///     type Bytes<'a> = JoinedBytes;
///
///     fn bytes(&self) -> JoinedBytes {
///         JoinedBytes::new().with(&self.country).with(&self.code)
///     }
/// }
///
/// let mut map = FloodSafeMap::new();
/// map.insert(Place { country: "fi".into(), code: 100 }, "Helsinki");
/// assert_eq!(map.get(&Place { country: "fi".into(), code: 100 }), Some(&"Helsinki"));
/// ```
#[derive(Clone, Debug)]
pub struct JoinedBytes {
    len: u8,
    near: [u8; Self::NEAR],
    /// All bytes, if there are more.
    far: Vec<u8>,
}

impl JoinedBytes {
    const NEAR: usize = 46;

    /// Makes an empty value.
    #[must_use]
    pub const fn new() -> Self {
        Self { len: 0, near: [0; Self::NEAR], far: Vec::new() }
    }

    /// Appends the bytes of another part. If their length may vary, appends the length first, so
    /// that different keys have different bytes.
    #[must_use]
    pub fn with<T: Key + ?Sized>(mut self, part: &T) -> Self {
        let bytes = part.bytes();
        let bytes = bytes.as_ref();
        if !T::Bytes::<'_>::IS_FIXED {
            self.push(&(bytes.len() as u64).to_le_bytes());
        }
        self.push(bytes);
        self
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let end = usize::from(self.len) + bytes.len();
        if self.far.is_empty() && end <= Self::NEAR {
            self.near[usize::from(self.len)..end].copy_from_slice(bytes);
            self.len = end as u8; // up to NEAR
            return;
        }
        if self.far.is_empty() {
            self.far.extend(&self.near[..usize::from(self.len)]);
        }
        self.far.extend(bytes);
    }
}

impl Default for JoinedBytes {
    fn default() -> Self {
        Self::new()
    }
}

impl AsRef<[u8]> for JoinedBytes {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        if self.far.is_empty() { &self.near[..usize::from(self.len)] } else { &self.far }
    }
}
