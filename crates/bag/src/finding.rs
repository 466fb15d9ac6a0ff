//! Problems of a bag.

use std::fmt;

use crate::contents::Special;
use crate::declaration::BadDeclaration;
use crate::info::{BadOxum, Oxum};
use crate::names::Unsafe;

/// A problem found in a bag.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The name of the file in the bag, byte for byte. Empty for the bag itself.
    pub name: Vec<u8>,
    /// The line number in the file, from 1.
    pub line: Option<u64>,
    /// Whether the bag can still be valid.
    pub severity: Severity,
    /// The problem.
    pub problem: Problem,
}

impl Finding {
    pub(crate) fn error(name: impl Into<Vec<u8>>, problem: Problem) -> Self {
        Self { name: name.into(), line: None, severity: Severity::Error, problem }
    }

    pub(crate) fn warning(name: impl Into<Vec<u8>>, problem: Problem) -> Self {
        Self { severity: Severity::Warning, ..Self::error(name, problem) }
    }

    pub(crate) fn at(self, line: u64) -> Self {
        Self { line: Some(line), ..self }
    }

    /// Returns an error if `is_error`, and a warning otherwise.
    pub(crate) fn error_if(is_error: bool, name: impl Into<Vec<u8>>, problem: Problem) -> Self {
        if is_error { Self::error(name, problem) } else { Self::warning(name, problem) }
    }

    /// Returns whether the finding makes the bag invalid.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Whether a bag with a finding can be valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A warning: the bag can be valid.
    Warning,
    /// An error: the bag is invalid.
    Error,
}

/// A problem of a bag. Displays as the text after the name of the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// `bagit.txt` is missing.
    #[error("missing, so this is not a bag")]
    NoDeclaration,
    /// An earlier run was interrupted in the middle.
    #[error("left by an interrupted `lanesum bag`; run the same command again")]
    Interrupted,
    /// An earlier run was interrupted at its end.
    #[error("left empty by an interrupted `lanesum bag`; remove it")]
    LeftEmpty,
    /// An object with the name of a tag file is not a regular file, and is not read.
    #[error("is {0}, not a file")]
    NoRegularFile(String),
    /// `bagit.txt` is invalid.
    #[error(transparent)]
    Declaration(#[from] BadDeclaration),
    /// The directory `data` is missing.
    #[error("not a directory, but the bag needs it")]
    NoPayload,
    /// The payload has no files.
    #[error("contains no files")]
    EmptyPayload,
    /// The bag has no payload manifest.
    #[error("no payload manifest, so the digests of its files are unknown")]
    NoManifest,
    /// The bag has no tag manifest.
    #[error("no tag manifest, so changes of tag files are not detected")]
    NoTagManifest,

    /// A manifest has an unsupported algorithm.
    #[error("lanesum does not compute {0}; not checked")]
    UnknownAlgorithm(String),
    /// An update would remove a manifest of an unsupported algorithm, and there is no other.
    #[error(
        "would be removed, but lanesum cannot check files against it; check them with another program, then use --accept"
    )]
    Unverifiable,
    /// The name of a manifest spells its algorithm differently than RFC 8493.
    #[error("the algorithm must be written {0}, in lower-case letters and digits")]
    AlgorithmForm(String),
    /// A tag file is not in the encoding declared in `bagit.txt`.
    #[error("not in the encoding that bagit.txt names")]
    Encoding,
    /// A tag file starts with a byte order mark.
    #[error("begins with a byte order mark")]
    ByteOrderMark,
    /// A line of a manifest is invalid.
    #[error("not `DIGEST  NAME` with a digest of this algorithm")]
    ManifestLine,
    /// Names start with the star of `md5sum -b`.
    #[error("names begin with the `*` of md5sum, which is not part of BagIt")]
    Star,
    /// Names contain `./` or doubled slashes.
    #[error("names contain `./` or `//`")]
    Dots,
    /// Names are not percent-encoded.
    #[error("percent signs in names are not encoded as %25")]
    NotEncoded,
    /// A name leads out of the bag.
    #[error("names {}: {why}", Shown(.name))]
    Unsafe {
        /// The name.
        name: Vec<u8>,
        /// The reason why it is unsafe.
        why: Unsafe,
    },
    /// A payload manifest or `fetch.txt` lists a file outside of `data/`.
    #[error("lists {}, which is not in data/", Shown(.0))]
    NotPayload(Vec<u8>),
    /// A tag manifest lists a file in `data/`.
    #[error("lists {}, which is not a tag file", Shown(.0))]
    Payload(Vec<u8>),
    /// A tag manifest lists a tag manifest.
    #[error("lists {}, but tag manifests must not be listed", Shown(.0))]
    TagManifest(Vec<u8>),
    /// A manifest lists a file twice.
    #[error("lists {} twice", Shown(.0))]
    Twice(Vec<u8>),
    /// A manifest lists a file twice, with different digests.
    #[error("lists {} twice, with different digests", Shown(.0))]
    Contradiction(Vec<u8>),

    /// A listed file is missing. The field holds the manifests that list it.
    #[error("missing (listed in {0})")]
    Missing(String),
    /// A missing file is to be downloaded.
    #[error("missing, and to be fetched from {}", Shown(.0))]
    ToFetch(Vec<u8>),
    /// A listed name is a directory. The field holds the manifests that list it.
    #[error("a directory, but listed as a file in {0}")]
    Folder(String),
    /// A file of the payload that no manifest lists.
    #[error("not listed in any payload manifest")]
    Unlisted,
    /// One manifest lists a file of the payload, another does not.
    #[error("not listed in {0}")]
    NotIn(String),
    /// A tag file that no tag manifest lists.
    #[error("not listed in any tag manifest, so changes are not detected")]
    TagUnlisted,
    /// The file exists under another name that looks the same.
    #[error("exists as {}, the same name in a different Unicode form", Shown(.0))]
    NormalForm(Vec<u8>),
    /// The content differs from the manifests.
    #[error("changed: differs from {0}")]
    Changed(String),
    /// The file changed while it was read.
    #[error("changed while it was read")]
    ChangedWhileRead,
    /// The file cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// The file is or lies behind a link that leads out of the bag.
    #[error("a link out of the bag, or behind one")]
    LinkOut,
    /// The file is a link to a file of the bag.
    #[error("a link, which other systems may not keep")]
    LinkToFile,
    /// The file is or lies behind a link to a directory.
    #[error("a link to a directory, or behind one; manifests cannot hold it")]
    LinkToFolder,
    /// The file is a link, which a new bag cannot hold.
    #[error("a link, which a bag cannot hold; replace it by its target, or remove it")]
    Link,
    /// The file is a dangling link.
    #[error("a link whose target is missing")]
    BrokenLink,
    /// The object is not a file.
    #[error("{0}, which a bag cannot hold")]
    Special(Special),
    /// Other systems do not distinguish this name from another one.
    #[error("differs from {} only in case or Unicode form, so some systems confuse them", Shown(.0))]
    Collision(Vec<u8>),
    /// An operating system creates such files by itself.
    #[error("created by the operating system; check that it belongs in the bag")]
    OfASystem,
    /// An interrupted run of lanesum left the file.
    #[error("left by an interrupted run of lanesum; check that it belongs in the bag")]
    LeftOver,
    /// The name contains a percent sign, which manifests encode.
    #[error(
        "its name contains `%`, written as %25 in manifests: bagit.py (its issue 157) and others do not find such files"
    )]
    Percent,
    /// The name contains CR or LF, which manifests encode.
    #[error(
        "its name contains a line end, written as %0D or %0A in manifests: some tools do not find such files"
    )]
    LineEnd,
    /// The name ends with a blank, which manifests do not encode.
    #[error("its name ends with a space: bagit.py and others do not find such files")]
    TrailingBlank,

    /// A line of the metadata is not an element.
    #[error("not `LABEL: VALUE`")]
    InfoLine,
    /// The size of the payload is repeated.
    #[error("contains Payload-Oxum twice")]
    OxumTwice,
    /// The size of the payload is repeated with a different value.
    #[error("contains Payload-Oxum twice, with different values")]
    OxumContradiction,
    /// The size of the payload is invalid.
    #[error(transparent)]
    OxumForm(#[from] BadOxum),
    /// The size of the payload differs from the metadata.
    #[error(
        "Payload-Oxum is {said}, but the payload has {} bytes in {} files: {found}", found.bytes, found.files
    )]
    Oxum {
        /// The size in the metadata.
        said: Oxum,
        /// The actual size.
        found: Oxum,
    },
    /// An update would overwrite an existing file. In this version of BagIt the metadata have
    /// another name.
    #[error(
        "not the metadata file of this version, and would be overwritten; move its content to {0}, and remove it"
    )]
    OtherInfo(&'static str),
    /// The metadata do not contain the size of the payload.
    #[error("no Payload-Oxum to compare with; leave out --fast to check all files")]
    NoOxum,

    /// A line of `fetch.txt` is invalid.
    #[error("not `URL LENGTH NAME`, with a length in bytes or `-`")]
    FetchLine,
    /// The URL is invalid.
    #[error("{} is not a URL", Shown(.0))]
    Url(Vec<u8>),
    /// A payload manifest does not list a file to download.
    #[error("names {name}, which {manifest} does not list", name = Shown(.name))]
    FetchNotIn {
        /// The file.
        name: Vec<u8>,
        /// The manifest.
        manifest: String,
    },

    /// The directory has no files.
    #[error("an empty directory, which manifests cannot hold")]
    EmptyFolder,
    /// The object was added while the directory became a bag.
    #[error(
        "added while this became a bag, and not part of it; move it into data/ and run `lanesum bag update`, or move it elsewhere"
    )]
    Beside,
    /// The name is not valid in a UTF-8 manifest.
    #[error("its name is not UTF-8, as a bag requires; rename it")]
    NotUtf8,
    /// The file or directory is on a different file system than the bag.
    #[error(
        "on a different file system, which cannot move into a bag; unmount it, or copy its content"
    )]
    OtherFileSystem,
}

/// Displays untrusted text with escaped control characters.
pub(crate) struct Shown<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            for character in chunk.valid().chars() {
                if character.is_control() {
                    write!(f, "{}", character.escape_default())?;
                } else {
                    write!(f, "{character}")?;
                }
            }
            write!(f, "{}", chunk.invalid().escape_ascii())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        let shown = Shown(b"a\x1b[2J\n\xffb\xc3\xa4").to_string();
        assert_eq!(shown, r"a\u{1b}[2J\n\xffbä");
        let problem = Problem::Twice(b"data/\r".to_vec());
        assert_eq!(problem.to_string(), r"lists data/\r twice");
    }
}
