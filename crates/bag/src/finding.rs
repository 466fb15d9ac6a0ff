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
    #[error("missing, so this is not a bag")]
    NoDeclaration,
    /// An earlier run was cut off in the middle.
    #[error("left by an interrupted `lanesum bag`; run the same command again")]
    Interrupted,
    /// An earlier run was cut off when all was done.
    #[error("left empty by an interrupted `lanesum bag`; remove it")]
    LeftEmpty,
    /// What called as a tag file is something else, and is not read.
    #[error("is {0}, not a file")]
    NoRegularFile(String),
    /// `bagit.txt` is not as it must be.
    #[error(transparent)]
    Declaration(#[from] BadDeclaration),
    /// There is no folder `data`.
    #[error("not a directory, but the bag needs it")]
    NoPayload,
    /// The payload has no file.
    #[error("contains no files")]
    EmptyPayload,
    /// There is no payload manifest.
    #[error("no payload manifest, so the digests of its files are unknown")]
    NoManifest,
    /// There is no tag manifest.
    #[error("no tag manifest, so changes of tag files are not detected")]
    NoTagManifest,

    /// A manifest is of an algorithm that is not computed here.
    #[error("lanesum does not compute {0}; not checked")]
    UnknownAlgorithm(String),
    /// A manifest of an algorithm that is not computed here is to go, and there is no other.
    #[error(
        "would be removed, but lanesum cannot check files against it; check them with another program, then use --accept"
    )]
    Unverifiable,
    /// A manifest calls its algorithm otherwise than RFC 8493 wants.
    #[error("the algorithm must be written {0}, in lower-case letters and digits")]
    AlgorithmForm(String),
    /// A tag file is not in the encoding that `bagit.txt` says.
    #[error("not in the encoding that bagit.txt names")]
    Encoding,
    /// A tag file begins with a byte order mark.
    #[error("begins with a byte order mark")]
    ByteOrderMark,
    /// A line of a manifest is none.
    #[error("not `DIGEST  NAME` with a digest of this algorithm")]
    ManifestLine,
    /// Names begin with the star of `md5sum -b`.
    #[error("names begin with the `*` of md5sum, which is not part of BagIt")]
    Star,
    /// Names have `./` or doubled slashes in them.
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
        /// Why it must not be followed.
        why: Unsafe,
    },
    /// A payload manifest or `fetch.txt` lists what is not in `data/`.
    #[error("lists {}, which is not in data/", Shown(.0))]
    NotPayload(Vec<u8>),
    /// A tag manifest lists what is in `data/`.
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

    /// A file that manifests list, these of them, is not there.
    #[error("missing (listed in {0})")]
    Missing(String),
    /// A file that is not there is to be fetched.
    #[error("missing, and to be fetched from {}", Shown(.0))]
    ToFetch(Vec<u8>),
    /// What manifests list, these of them, is a folder.
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
    /// It is there under another name, which looks the same.
    #[error("exists as {}, the same name in a different Unicode form", Shown(.0))]
    NormalForm(Vec<u8>),
    /// Its content is not what manifests say.
    #[error("changed: differs from {0}")]
    Changed(String),
    /// It changed while it was read.
    #[error("changed while it was read")]
    ChangedWhileRead,
    /// It cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// It is a link, or lies behind one, that leads out of the bag.
    #[error("a link out of the bag, or behind one")]
    LinkOut,
    /// It is a link to a file of the bag.
    #[error("a link, which other systems may not keep")]
    LinkToFile,
    /// It is a link to a folder, or lies behind one.
    #[error("a link to a directory, or behind one; manifests cannot hold it")]
    LinkToFolder,
    /// It is a link, and is to be in a new bag.
    #[error("a link, which a bag cannot hold; replace it by its target, or remove it")]
    Link,
    /// It is a link that leads nowhere.
    #[error("a link whose target does not exist")]
    BrokenLink,
    /// It is something else than a file.
    #[error("{0}, which a bag cannot hold")]
    Special(Special),
    /// Other systems take it and another file for one.
    #[error("differs from {} only in case or Unicode form, so some systems confuse them", Shown(.0))]
    Collision(Vec<u8>),
    /// A system puts such files there by itself.
    #[error("created by the operating system; check that it belongs in the bag")]
    OfASystem,
    /// An interrupted run of lanesum left it there.
    #[error("left by an interrupted run of lanesum; check that it belongs in the bag")]
    LeftOver,
    /// A percent sign in a name, which manifests encode.
    #[error(
        "its name contains `%`, written as %25 in manifests: bagit.py (its issue 157) and others do not find such files"
    )]
    Percent,
    /// CR or LF in a name, which manifests encode.
    #[error(
        "its name contains a line end, written as %0D or %0A in manifests: some tools do not find such files"
    )]
    LineEnd,
    /// A blank at the end of a name, which manifests hold as it is.
    #[error("its name ends with a space: bagit.py and others do not find such files")]
    TrailingBlank,

    /// A line of the metadata is no element.
    #[error("not `LABEL: VALUE`")]
    InfoLine,
    /// The size of the payload is told twice.
    #[error("contains Payload-Oxum twice")]
    OxumTwice,
    /// The size of the payload is told twice, and each time it is another.
    #[error("contains Payload-Oxum twice, with different values")]
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
        "not the metadata file of this version, and would be overwritten; move its content to {0}, and remove it"
    )]
    OtherInfo(&'static str),
    /// The metadata do not tell the size of the payload.
    #[error("no Payload-Oxum; leave out --fast to check all files")]
    NoOxum,

    /// A line of `fetch.txt` is none.
    #[error("not `URL LENGTH NAME`, with a length in bytes or `-`")]
    FetchLine,
    /// What should be a URL is none.
    #[error("{} is not a URL", Shown(.0))]
    Url(Vec<u8>),
    /// A payload manifest does not list a file that is to be fetched.
    #[error("names {name}, which {manifest} does not list", name = Shown(.name))]
    FetchNotIn {
        /// The file.
        name: Vec<u8>,
        /// The manifest.
        manifest: String,
    },

    /// A folder without a file in it.
    #[error("an empty directory, which manifests cannot hold")]
    EmptyFolder,
    /// It was put into a folder while that became a bag.
    #[error(
        "added while this became a bag, and not part of it; move it into data/ and run `lanesum bag update`, or move it elsewhere"
    )]
    Beside,
    /// A name that a manifest in UTF-8 cannot hold.
    #[error("its name is not UTF-8, as a bag requires; rename it")]
    NotUtf8,
    /// A file or folder on another file system than the bag.
    #[error(
        "on a different file system, which cannot move into a bag; unmount it, or copy its content"
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
    fn nothing_that_a_terminal_obeys_is_shown() {
        let shown = Shown(b"a\x1b[2J\n\xffb\xc3\xa4").to_string();
        assert_eq!(shown, r"a\u{1b}[2J\n\xffbä");
        let problem = Problem::Twice(b"data/\r".to_vec());
        assert_eq!(problem.to_string(), r"lists data/\r twice");
    }
}
