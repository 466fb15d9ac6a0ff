//! The error of creating or updating a bag.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lanesum_checksum::error::message;
use lanesum_checksum::{Algorithm, Algorithms};

use crate::finding::{Finding, Problem};

/// The reason why a bag was not created or updated. Nothing was changed, unless the error says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BagError {
    /// The path is not a directory.
    #[error("not a directory")]
    NotAFolder,
    /// The directory is in the payload of a bag.
    #[error("in the payload of the bag {}", .0.display())]
    InPayload(PathBuf),
    /// The directory is not writable.
    #[error("not writable: {}", message(.0))]
    Unwritable(io::Error),
    /// The directory is a bag.
    #[error("already a bag")]
    IsABag,
    /// The directory is not a bag.
    #[error("not a bag: bagit.txt is missing")]
    NotABag,
    /// The directory is a bag whose `bagit.txt` is missing.
    #[error("a bag without bagit.txt")]
    NoDeclaration,
    /// The directory has a manifest of a bag, but neither `bagit.txt` nor a payload.
    #[error("has {0}, but no bagit.txt and no data/")]
    OnlyManifest(String),
    /// A run that created a bag was interrupted.
    #[error("incomplete: `lanesum bag create` was interrupted")]
    HalfDone,
    /// The root directory cannot become a bag.
    #[error("the root directory cannot be a bag")]
    Root,
    /// Another run is working on the directory.
    #[error("in use by another `lanesum bag`")]
    Busy,
    /// BagIt has no manifests of an algorithm.
    #[error("bags cannot have manifests of {0}")]
    Algorithm(Algorithm),
    /// The tag files are not in UTF-8, which is the encoding of written ones.
    #[error("tag files are not in UTF-8")]
    Encoding,
    /// An object is in the way of a file.
    #[error("{} exists already", .0.display())]
    InTheWay(PathBuf),
    /// The directory contains objects that a bag cannot hold or that cannot be read.
    #[error("cannot become a bag; nothing was changed")]
    Findings(Vec<Finding>),
    /// The contents or tag files of the bag prevent the update.
    #[error("cannot be updated; nothing was changed")]
    NotUpdated(Vec<Finding>),
    /// The bag has no payload manifest to compare the files with.
    #[error("not updated: no payload manifest that lanesum can read")]
    NoManifest,
    /// A payload manifest or the metadata file is missing.
    #[error("not updated: {0} is missing")]
    Lost(String),
    /// No tag manifest has the digest of a payload manifest.
    #[error("not updated: the digest of {0} is not in the tag manifests")]
    Untrusted(String),
    /// Files changed although their modification times are not newer than the manifest.
    #[error("not updated: files changed, but their times are not newer than the manifest")]
    Doubtful,
    /// Files of the payload are missing, and were not renamed.
    #[error("not updated: payload files are missing")]
    Gone,
    /// A system call failed.
    #[error("{}: {}", .path.display(), message(.error))]
    Io {
        /// The path of the failed operation.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// A system call failed after all files were complete, when they were moved to their places.
    #[error("{0}")]
    Unfinished(Box<Self>),
    /// A system call failed, and undoing the previous steps failed as well.
    #[error("{why}, and then {undo}; some files are still in {}", .staging.display())]
    Stuck {
        /// The first error.
        why: Box<Self>,
        /// The error of undoing.
        undo: Box<Self>,
        /// The places of the files.
        staging: PathBuf,
    },
}

impl BagError {
    /// Returns an error for findings, if there are any.
    pub(crate) fn unless_none(findings: Vec<Finding>) -> Result<(), Self> {
        if findings.is_empty() { Ok(()) } else { Err(Self::Findings(findings)) }
    }

    /// Returns an error for findings about a bag to update, if there are any.
    pub(crate) fn of_update(self) -> Self {
        match self {
            Self::Findings(findings) => Self::NotUpdated(findings),
            other => other,
        }
    }
}

/// Returns the path of a directory without links.
pub(crate) fn root(folder: &Path) -> Result<PathBuf, BagError> {
    let root = fs::canonicalize(folder).map_err(at(folder))?;
    if root.is_dir() { Ok(root) } else { Err(BagError::NotAFolder) }
}

/// Adds a path to a system error.
pub(crate) fn at(path: &Path) -> impl Fn(io::Error) -> BagError + use<> {
    let path = path.to_owned();
    move |error| BagError::Io { path: path.clone(), error }
}

/// The supported algorithms of RFC 8493, section 2.4. Bags with others are validated, not made.
const REGISTERED: Algorithms = Algorithms::NONE
    .with(Algorithm::Md5)
    .with(Algorithm::Sha1)
    .with(Algorithm::Sha224)
    .with(Algorithm::Sha256)
    .with(Algorithm::Sha384)
    .with(Algorithm::Sha512);

/// Checks that a bag can have these algorithms.
pub(crate) fn allow(algorithms: Algorithms) -> Result<(), BagError> {
    match algorithms.difference(REGISTERED).iter().next() {
        Some(other) => Err(BagError::Algorithm(other)),
        None => Ok(()),
    }
}

/// Returns the error for a file that changed after it was read.
pub(crate) fn changed(name: &[u8]) -> Finding {
    Finding::error(name, Problem::ChangedWhileRead)
}
