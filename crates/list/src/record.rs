//! Records: the data about a file in a line of a list.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU32;
use std::ops::Deref;

use crate::{Algorithm, Algorithms, Digest};

/// A file and the known data about it. Everything but the name may be missing.
///
/// ```
/// use lanesum_list::{Algorithm, Digest, Record};
///
/// let digest = Digest::from_hex(Algorithm::Crc32c, b"e3069283").unwrap();
/// let record = Record::new(b"a").with(digest);
/// assert_eq!(record.digest(Algorithm::Crc32c), Some(&digest));
/// assert_eq!((record.size, record.digest(Algorithm::Md5)), (None, None));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record<'a> {
    /// The unescaped name, byte for byte.
    pub name: Cow<'a, [u8]>,
    /// The name as written in the list, if it looks escaped and some programs do not escape names
    /// in this format. Try it if there is no file with the unescaped name. Formats read this field
    /// and do not write it.
    pub raw_name: Option<Cow<'a, [u8]>>,
    /// The length in bytes.
    pub size: Option<u64>,
    /// The times of the file.
    pub times: Times,
    /// The inode, which identifies the file on its machine under all its names.
    pub inode: Option<Inode>,
    /// The digests, of different algorithms.
    pub digests: Digests,
    /// The ETag of an object store, or its checksum of parts. Formats read this field and do not
    /// write it.
    pub etag: Option<Etag>,
}

/// The ETag of an object in S3 or a similar store, if it is computed with MD5, or its composite
/// checksum: the digest of the joined digests of its parts.
///
/// A store that encrypts with customer or KMS keys returns ETags that look the same but are not
/// MD5.
///
/// ```
/// use lanesum_list::Etag;
///
/// let whole = Etag::parse(br#""d41d8cd98f00b204e9800998ecf8427e""#).unwrap();
/// assert_eq!((whole.parts, whole.digest.to_string()), (None, "d41d8cd98f00b204e9800998ecf8427e".into()));
/// let parts = Etag::parse(b"d41d8cd98f00b204e9800998ecf8427e-12").unwrap();
/// assert_eq!(parts.parts.unwrap().get(), 12);
/// assert_eq!(Etag::parse(b"0x8D4BCC2E4835CD0"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Etag {
    /// The digest of the content or, for a multipart upload, that of the joined digests of the
    /// parts. ETags have MD5, and composite checksums any algorithm.
    pub digest: Digest,
    /// The number of parts, or `None` for an upload in one piece.
    pub parts: Option<NonZeroU32>,
}

impl Etag {
    /// Parses an ETag, with or without quotation marks. Returns `None` if it is not computed with
    /// MD5.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        let text = text.strip_prefix(b"W/").unwrap_or(text);
        let text = text.strip_prefix(b"\"").and_then(|it| it.strip_suffix(b"\"")).unwrap_or(text);
        let (hex, rest) = text.split_at_checked(32)?;
        let parts = match rest {
            [] => None,
            [b'-', number @ ..] if number.iter().all(u8::is_ascii_digit) => {
                Some(str::from_utf8(number).ok()?.parse().ok()?)
            }
            _ => return None,
        };
        Some(Self { digest: Digest::from_hex(Algorithm::Md5, hex)?, parts })
    }
}

/// Writes the ETag without quotation marks.
///
/// ```
/// use lanesum_list::Etag;
///
/// let text = "d41d8cd98f00b204e9800998ecf8427e-12";
/// assert_eq!(Etag::parse(text.as_bytes()).unwrap().to_string(), text);
/// ```
impl fmt::Display for Etag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parts {
            None => write!(f, "{}", self.digest),
            Some(parts) => write!(f, "{}-{parts}", self.digest),
        }
    }
}

/// The times of a file.
///
/// ```
/// use lanesum_list::{Inode, Record, Time, Times};
///
/// let modified = Some(Time { seconds: 1_700_000_000, nanoseconds: 500 });
/// let record = Record {
///     size: Some(42),
///     times: Times { modified, ..Times::default() },
///     inode: Some(Inode { device: 1, number: 2 }),
///     ..Record::new("a")
/// };
/// assert!(record.times.modified > Some(Time { seconds: 0, nanoseconds: 0 }));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Times {
    /// The time of the last change of the content: `mtime`, which the owner can set.
    pub modified: Option<Time>,
    /// The time of the last change of content, mode, owner, names or times: `ctime`, which the
    /// kernel sets.
    pub changed: Option<Time>,
}

/// A POSIX time, as file systems store it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Time {
    /// Seconds since 1970-01-01 00:00 UTC, negative before.
    pub seconds: i64,
    /// Nanoseconds after that second, less than 10^9.
    pub nanoseconds: u32,
}

/// The device and inode number of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Inode {
    /// The device number, `st_dev`.
    pub device: u64,
    /// The inode number on the device, `st_ino`.
    pub number: u64,
}

impl<'a> Record<'a> {
    /// Makes a record with a name only.
    #[must_use]
    pub fn new<N: AsRef<[u8]> + ?Sized>(name: &'a N) -> Self {
        Self { name: Cow::Borrowed(name.as_ref()), ..Self::default() }
    }

    /// Returns the record with one more digest.
    #[must_use]
    pub fn with(mut self, digest: Digest) -> Self {
        self.digests.push(digest);
        self
    }

    /// Returns the digest of an algorithm.
    #[must_use]
    pub fn digest(&self, algorithm: Algorithm) -> Option<&Digest> {
        self.digests.iter().find(|digest| digest.algorithm() == algorithm)
    }

    /// Returns the algorithms of the digests.
    #[must_use]
    pub fn algorithms(&self) -> Algorithms {
        self.digests.iter().map(Digest::algorithm).collect()
    }

    /// Returns the record with its ETag as MD5 digest, if the object was uploaded in one piece and
    /// the record has no MD5. A store that encrypts with customer or KMS keys returns ETags that
    /// are not MD5. Its files do not match then, even if they are equal.
    ///
    /// ```
    /// use lanesum_list::{Algorithm, Etag, Record};
    ///
    /// let etag = Etag::parse(b"d41d8cd98f00b204e9800998ecf8427e");
    /// let record = Record { etag, ..Record::new("a") }.with_etag_as_md5();
    /// assert!(record.digest(Algorithm::Md5).is_some());
    /// let etag = Etag::parse(b"d41d8cd98f00b204e9800998ecf8427e-2");
    /// assert!(Record { etag, ..Record::new("a") }.with_etag_as_md5().digests.is_empty());
    /// ```
    #[must_use]
    pub fn with_etag_as_md5(self) -> Self {
        match self.etag {
            Some(Etag { digest, parts: None }) if self.digest(digest.algorithm()).is_none() => {
                self.with(digest)
            }
            _ => self,
        }
    }

    /// Returns the record independent of the text that it was read from.
    #[must_use]
    pub fn into_owned(self) -> Record<'static> {
        let raw_name = self.raw_name.map(|name| Cow::Owned(name.into_owned()));
        Record { name: Cow::Owned(self.name.into_owned()), raw_name, ..self }
    }
}

/// A few digests. A single one needs no heap memory. Dereferences to a slice.
///
/// ```
/// use lanesum_list::{Algorithm, Digest, Digests};
///
/// let digest = Digest::from_hex(Algorithm::Crc32c, b"e3069283").unwrap();
/// let mut digests = Digests::from_iter([digest]);
/// digests.push(digest);
/// assert_eq!(*digests, [digest, digest]);
/// ```
#[derive(Clone, Debug)]
pub struct Digests(Inner);

#[derive(Clone, Debug)]
enum Inner {
    One([Digest; 1]),
    /// None or several digests.
    Many(Vec<Digest>),
}

impl Digests {
    /// Appends a digest.
    pub fn push(&mut self, digest: Digest) {
        self.0 = match std::mem::take(self).0 {
            Inner::Many(digests) if digests.is_empty() => Inner::One([digest]),
            Inner::One([first]) => Inner::Many(vec![first, digest]),
            Inner::Many(mut digests) => {
                digests.push(digest);
                Inner::Many(digests)
            }
        };
    }

    /// Sorts the digests by algorithm, in the order of [`Algorithm::ALL`](crate::Algorithm::ALL).
    pub fn sort(&mut self) {
        if let Inner::Many(digests) = &mut self.0 {
            digests.sort_unstable();
        }
    }
}

impl From<Digest> for Digests {
    fn from(digest: Digest) -> Self {
        Self(Inner::One([digest]))
    }
}

impl Default for Digests {
    fn default() -> Self {
        Self(Inner::Many(Vec::new()))
    }
}

impl Deref for Digests {
    type Target = [Digest];

    fn deref(&self) -> &[Digest] {
        match &self.0 {
            Inner::One(digest) => digest,
            Inner::Many(digests) => digests,
        }
    }
}

impl PartialEq for Digests {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Digests {}

impl From<Vec<Digest>> for Digests {
    fn from(digests: Vec<Digest>) -> Self {
        Self(Inner::Many(digests))
    }
}

impl Extend<Digest> for Digests {
    fn extend<I: IntoIterator<Item = Digest>>(&mut self, digests: I) {
        digests.into_iter().for_each(|digest| self.push(digest));
    }
}

impl FromIterator<Digest> for Digests {
    fn from_iter<I: IntoIterator<Item = Digest>>(digests: I) -> Self {
        let mut digests = digests.into_iter();
        Self(match (digests.next(), digests.next()) {
            (Some(first), None) => Inner::One([first]),
            (first, second) => {
                Inner::Many(first.into_iter().chain(second).chain(digests).collect())
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_behave_as_a_list() {
        let digest = |byte| Digest::new(Algorithm::Crc32c, &[byte; 4]).unwrap();
        for count in 0..5 {
            let list: Vec<_> = (0..count).map(digest).collect();
            let digests: Digests = list.iter().copied().collect();
            assert_eq!(*digests, *list);
            assert_eq!(digests, list.into());
        }
    }

    #[test]
    fn other_text_is_not_an_md5_etag() {
        let hex = "d41d8cd98f00b204e9800998ecf8427e";
        for wrong in ["", "\"", &hex[1..], &format!("{hex}-"), &format!("{hex}-0")] {
            assert_eq!(Etag::parse(wrong.as_bytes()), None, "{wrong}");
        }
        for wrong in ["-+1", "-4294967296", "0", "-1x", "\""] {
            assert_eq!(Etag::parse(format!("{hex}{wrong}").as_bytes()), None, "{wrong}");
        }
        let weak = Etag::parse(format!("W/\"{hex}-3\"").as_bytes()).unwrap();
        assert_eq!(weak.parts.map(NonZeroU32::get), Some(3));
    }

    #[test]
    fn a_record_outlives_its_text() {
        let text = b"name".to_vec();
        let record = Record { size: Some(4), ..Record::new(&text) };
        assert_eq!(record.clone().into_owned(), record);
    }
}
