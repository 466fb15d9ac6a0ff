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
    #[error("is not there, so this is no bag")]
    NoDeclaration,
    /// An earlier run was interrupted in the middle.
    #[error("an interrupted lanesum bag left it; run the same command again")]
    Interrupted,
    /// An earlier run was interrupted at its end.
    #[error("an interrupted lanesum bag left it, with nothing in it; remove it")]
    LeftEmpty,
    /// An object with the name of a tag file is not a regular file, and is not read.
    #[error("is {0}, and must be a file itself; put what it should say in its place")]
    NoRegularFile(String),
    /// `bagit.txt` is invalid.
    #[error(transparent)]
    Declaration(#[from] BadDeclaration),
    /// The directory `data` is missing.
    #[error("is no folder of the bag, and must be")]
    NoPayload,
    /// The payload has no files.
    #[error("no file is in it")]
    EmptyPayload,
    /// The bag has no payload manifest.
    #[error("has no payload manifest, so nothing tells what its files should be")]
    NoManifest,
    /// The bag has no tag manifest.
    #[error("has no tag manifest, so nothing tells whether its tag files changed")]
    NoTagManifest,

    /// A manifest has an unsupported algorithm.
    #[error("lanesum does not compute {0}, so whether files are as it says is unknown")]
    UnknownAlgorithm(String),
    /// An update would remove a manifest of an unsupported algorithm, and there is no other.
    #[error(
        "would go, and lanesum cannot hold files against it; once another program did, take them as they are with --accept"
    )]
    Unverifiable,
    /// The name of a manifest spells its algorithm differently than RFC 8493.
    #[error("its algorithm is to be called {0}: in small letters and digits alone")]
    AlgorithmForm(String),
    /// A tag file is not in the encoding declared in `bagit.txt`.
    #[error("is not in the encoding that bagit.txt says")]
    Encoding,
    /// A tag file starts with a byte order mark.
    #[error("begins with a byte order mark, which it should not")]
    ByteOrderMark,
    /// A line of a manifest is invalid.
    #[error("is not `DIGEST  NAME` with a digest of this algorithm")]
    ManifestLine,
    /// Names start with the star of `md5sum -b`.
    #[error("names begin with the star of md5sum, which is not of BagIt")]
    Star,
    /// Names contain `./` or doubled slashes.
    #[error("names have `./` or `//` in them, which they should not")]
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
    #[error("lists {}, which is no tag file", Shown(.0))]
    Payload(Vec<u8>),
    /// A tag manifest lists a tag manifest.
    #[error("lists {}, and no tag manifest is to be listed", Shown(.0))]
    TagManifest(Vec<u8>),
    /// A manifest lists a file twice.
    #[error("lists {} twice", Shown(.0))]
    Twice(Vec<u8>),
    /// A manifest lists a file twice, with different digests.
    #[error("lists {} twice, with different digests", Shown(.0))]
    Contradiction(Vec<u8>),

    /// A listed file is missing. The field holds the manifests that list it.
    #[error("is missing; listed in {0}")]
    Missing(String),
    /// A missing file is to be downloaded.
    #[error("is missing; fetch.txt says where it is: {}", Shown(.0))]
    ToFetch(Vec<u8>),
    /// A listed name is a directory. The field holds the manifests that list it.
    #[error("is a folder, and listed as a file in {0}")]
    Folder(String),
    /// A file of the payload that no manifest lists.
    #[error("no payload manifest lists it")]
    Unlisted,
    /// One manifest lists a file of the payload, another does not.
    #[error("{0} does not list it")]
    NotIn(String),
    /// A tag file that no tag manifest lists.
    #[error("no tag manifest lists it, so nothing tells whether it changed")]
    TagUnlisted,
    /// The file exists under another name that looks the same.
    #[error("is there as {}, the same name in another Unicode normal form", Shown(.0))]
    NormalForm(Vec<u8>),
    /// The content differs from the manifests.
    #[error("has changed: it is not as in {0}")]
    Changed(String),
    /// The file changed while it was read.
    #[error("changed while it was read")]
    ChangedWhileRead,
    /// The file cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// The file is or lies behind a link that leads out of the bag.
    #[error("is a link that leads out of the bag, or lies behind one")]
    LinkOut,
    /// The file is a link to a file of the bag.
    #[error("is a link, which other systems may not keep")]
    LinkToFile,
    /// The file is or lies behind a link to a directory.
    #[error("is a link to a folder, or lies behind one; no manifest can hold that")]
    LinkToFolder,
    /// The file is a link, which a new bag cannot hold.
    #[error(
        "is a link, which a bag does not keep; put what it leads to in its place, or remove it"
    )]
    Link,
    /// The file is a dangling link.
    #[error("is a link that leads nowhere")]
    BrokenLink,
    /// The object is not a file.
    #[error("is {0}, which no bag can hold")]
    Special(Special),
    /// Other systems do not distinguish this name from another one.
    #[error("differs from {} in case or Unicode normal form alone: some systems take them for one", Shown(.0))]
    Collision(Vec<u8>),
    /// An operating system creates such files by itself.
    #[error("is of the kind that systems put beside others by themselves; is it to be in the bag?")]
    OfASystem,
    /// An interrupted run of lanesum left the file.
    #[error("is of the kind that an interrupted run of lanesum leaves; is it to be in the bag?")]
    LeftOver,
    /// The name contains a percent sign, which manifests encode.
    #[error(
        "has a percent sign in its name, which manifests hold as %25: bagit.py (its issue 157) and others do not find such files"
    )]
    Percent,
    /// The name contains CR or LF, which manifests encode.
    #[error(
        "has the end of a line in its name, which manifests hold as %0D or %0A: some tools do not find such files"
    )]
    LineEnd,
    /// The name ends with a blank, which manifests do not encode.
    #[error("has a blank at the end of its name: bagit.py and others do not find such files")]
    TrailingBlank,

    /// A line of the metadata is not an element.
    #[error("is not `LABEL: VALUE`")]
    InfoLine,
    /// The size of the payload is repeated.
    #[error("has Payload-Oxum twice")]
    OxumTwice,
    /// The size of the payload is repeated with a different value.
    #[error("has Payload-Oxum twice, with different values")]
    OxumContradiction,
    /// The size of the payload is invalid.
    #[error(transparent)]
    OxumForm(#[from] BadOxum),
    /// The size of the payload differs from the metadata.
    #[error(
        "Payload-Oxum is {said}, but the payload has {}.{}: bytes.files", found.bytes, found.files
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
        "is not where this version has its metadata, and would be written over; put what it says into {0}, and remove it"
    )]
    OtherInfo(&'static str),
    /// The metadata do not contain the size of the payload.
    #[error("has no Payload-Oxum to go by; without --fast everything is looked at")]
    NoOxum,

    /// A line of `fetch.txt` is invalid.
    #[error("is not `URL LENGTH NAME`, with a length in bytes or `-`")]
    FetchLine,
    /// The URL is invalid.
    #[error("{} is no URL", Shown(.0))]
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
    #[error("is an empty folder, which a bag does not keep: no manifest can hold it")]
    EmptyFolder,
    /// The object was added while the directory became a bag.
    #[error(
        "came while this became a bag, and is not in it; move it into data/ and run lanesum bag update, or move it elsewhere"
    )]
    Beside,
    /// The name is not valid in a UTF-8 manifest.
    #[error("its name is not UTF-8, as names in a bag must be; rename it")]
    NotUtf8,
    /// The file or directory is on a different file system than the bag.
    #[error(
        "is on another file system, which does not move with a bag; unmount it, or copy what is in it"
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
