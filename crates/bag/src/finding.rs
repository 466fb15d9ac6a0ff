//! What is found in a bag that is not as it should be.

use std::fmt;

use crate::contents::Special;
use crate::declaration::BadDeclaration;
use crate::info::{BadOxum, Oxum};
use crate::names::Unsafe;

/// Something in a bag that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The name of the file in the bag, byte for byte. Empty where it is the bag's.
    pub name: Vec<u8>,
    /// The line of that file, from 1.
    pub line: Option<u64>,
    /// Whether the bag can be valid all the same.
    pub severity: Severity,
    /// What is wrong.
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

    /// An error where `is_error`, a warning otherwise.
    pub(crate) fn error_if(is_error: bool, name: impl Into<Vec<u8>>, problem: Problem) -> Self {
        if is_error { Self::error(name, problem) } else { Self::warning(name, problem) }
    }

    /// Whether the bag is not valid for it.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Whether a bag can be valid with what was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It can: somebody should know all the same.
    Warning,
    /// It cannot.
    Error,
}

/// What can be wrong. Displays as the words behind the file's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// There is no `bagit.txt`.
    #[error("is not there, so this is no bag")]
    NoDeclaration,
    /// An earlier run was cut off in the middle.
    #[error("an interrupted lanesum bag left it; run the same command again")]
    Interrupted,
    /// An earlier run was cut off when all was done.
    #[error("an interrupted lanesum bag left it, with nothing in it; remove it")]
    LeftEmpty,
    /// What is called as a tag file is something else, and is not read.
    #[error("is {0}, and must be a file itself; put what it should say in its place")]
    NoRegularFile(String),
    /// `bagit.txt` is not as it must be.
    #[error(transparent)]
    Declaration(#[from] BadDeclaration),
    /// There is no directory `data`.
    #[error("is no folder of the bag, and must be")]
    NoPayload,
    /// The payload has no file.
    #[error("no file is in it")]
    EmptyPayload,
    /// There is no payload manifest.
    #[error("has no payload manifest, so nothing tells what its files should be")]
    NoManifest,
    /// There is no tag manifest.
    #[error("has no tag manifest, so nothing tells whether its tag files changed")]
    NoTagManifest,

    /// A manifest is of an algorithm that is not computed here.
    #[error("lanesum does not compute {0}, so whether files are as it says is unknown")]
    UnknownAlgorithm(String),
    /// A manifest of an algorithm that is not computed here is to go, and there is no other.
    #[error(
        "would go, and lanesum cannot hold files against it; once another program did, take them as they are with --accept"
    )]
    Unverifiable,
    /// A manifest calls its algorithm otherwise than RFC 8493 wants.
    #[error("its algorithm is to be called {0}: in small letters and digits alone")]
    AlgorithmForm(String),
    /// A tag file is not in the encoding that `bagit.txt` says.
    #[error("is not in the encoding that bagit.txt says")]
    Encoding,
    /// A tag file begins with a byte order mark.
    #[error("begins with a byte order mark, which it should not")]
    ByteOrderMark,
    /// A line of a manifest is none.
    #[error("is not `DIGEST  NAME` with a digest of this algorithm")]
    ManifestLine,
    /// Names begin with the star of `md5sum -b`.
    #[error("names begin with the star of md5sum, which is not of BagIt")]
    Star,
    /// Names have `./` or doubled slashes in them.
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
        /// Why it must not be followed.
        why: Unsafe,
    },
    /// A payload manifest or `fetch.txt` lists what is not in `data/`.
    #[error("lists {}, which is not in data/", Shown(.0))]
    NotPayload(Vec<u8>),
    /// A tag manifest lists what is in `data/`.
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

    /// A file that manifests list, these of them, is not there.
    #[error("is missing; listed in {0}")]
    Missing(String),
    /// A file that is not there is to be fetched.
    #[error("is missing; fetch.txt says where it is: {}", Shown(.0))]
    ToFetch(Vec<u8>),
    /// What manifests list, these of them, is a directory.
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
    /// It is there under another name, which looks the same.
    #[error("is there as {}, the same name in another Unicode normal form", Shown(.0))]
    NormalForm(Vec<u8>),
    /// Its content is not what manifests say.
    #[error("has changed: it is not as in {0}")]
    Changed(String),
    /// It changed while it was read.
    #[error("changed while it was read")]
    ChangedWhileRead,
    /// It cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// It is a link, or lies behind one, that leads out of the bag.
    #[error("is a link that leads out of the bag, or lies behind one")]
    LinkOut,
    /// It is a link to a file of the bag.
    #[error("is a link, which other systems may not keep")]
    LinkToFile,
    /// It is a link to a directory, or lies behind one.
    #[error("is a link to a folder, or lies behind one; no manifest can hold that")]
    LinkToFolder,
    /// It is a link, and is to be in a new bag.
    #[error(
        "is a link, which a bag does not keep; put what it leads to in its place, or remove it"
    )]
    Link,
    /// It is a link that leads nowhere.
    #[error("is a link that leads nowhere")]
    BrokenLink,
    /// It is something else than a file.
    #[error("is {0}, which no bag can hold")]
    Special(Special),
    /// Other systems take it and another file for one.
    #[error("differs from {} in case or Unicode normal form alone: some systems take them for one", Shown(.0))]
    Collision(Vec<u8>),
    /// A system puts such files there by itself.
    #[error("is of the kind that systems put beside others by themselves; is it to be in the bag?")]
    OfASystem,
    /// An interrupted run of lanesum left it there.
    #[error("is of the kind that an interrupted run of lanesum leaves; is it to be in the bag?")]
    LeftOver,
    /// A percent sign in a name, which manifests encode.
    #[error(
        "has a percent sign in its name, which manifests hold as %25: bagit.py (its issue 157) and others do not find such files"
    )]
    Percent,
    /// CR or LF in a name, which manifests encode.
    #[error(
        "has the end of a line in its name, which manifests hold as %0D or %0A: some tools do not find such files"
    )]
    LineEnd,
    /// A blank at the end of a name, which manifests hold as it is.
    #[error("has a blank at the end of its name: bagit.py and others do not find such files")]
    TrailingBlank,

    /// A line of the metadata is no element.
    #[error("is not `LABEL: VALUE`")]
    InfoLine,
    /// The size of the payload is told twice.
    #[error("has Payload-Oxum twice")]
    OxumTwice,
    /// The size of the payload is told twice, and each time it is another.
    #[error("has Payload-Oxum twice, with different values")]
    OxumContradiction,
    /// The size of the payload is no size.
    #[error(transparent)]
    OxumForm(#[from] BadOxum),
    /// The size of the payload is another.
    #[error(
        "Payload-Oxum is {said}, but the payload has {}.{}: bytes.files", found.bytes, found.files
    )]
    Oxum {
        /// What the metadata say.
        said: Oxum,
        /// What there is.
        found: Oxum,
    },
    /// What an update would write over is there, though the metadata of this version lie elsewhere.
    #[error(
        "is not where this version has its metadata, and would be written over; put what it says into {0}, and remove it"
    )]
    OtherInfo(&'static str),
    /// The metadata do not tell the size of the payload.
    #[error("has no Payload-Oxum to go by; without --fast everything is looked at")]
    NoOxum,

    /// A line of `fetch.txt` is none.
    #[error("is not `URL LENGTH NAME`, with a length in bytes or `-`")]
    FetchLine,
    /// What should be a URL is none.
    #[error("{} is no URL", Shown(.0))]
    Url(Vec<u8>),
    /// A payload manifest does not list a file that is to be fetched.
    #[error("names {name}, which {manifest} does not list", name = Shown(.name))]
    FetchNotIn {
        /// The file.
        name: Vec<u8>,
        /// The manifest.
        manifest: String,
    },

    /// A directory without a file in it.
    #[error("is an empty folder, which a bag does not keep: no manifest can hold it")]
    EmptyFolder,
    /// It was put into a directory while that became a bag.
    #[error(
        "came while this became a bag, and is not in it; move it into data/ and run lanesum bag update, or move it elsewhere"
    )]
    Beside,
    /// A name that a manifest in UTF-8 cannot hold.
    #[error("its name is not UTF-8, as names in a bag must be; rename it")]
    NotUtf8,
    /// A file or directory on another file system than the bag.
    #[error(
        "is on another file system, which does not move with a bag; unmount it, or copy what is in it"
    )]
    OtherFileSystem,
}

/// A name or other text of somebody else's, with nothing in it that a terminal would obey.
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
