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
    #[error("is no folder")]
    NotAFolder,
    /// The directory is in the payload of a bag.
    #[error(
        "is in the payload of the bag {}, which would not be valid any more; make a bag outside of it",
        .0.display()
    )]
    InPayload(PathBuf),
    /// The directory is not writable.
    #[error("nothing can be written in it: {}", message(.0))]
    Unwritable(io::Error),
    /// The directory is a bag.
    #[error("is a bag already; lanesum bag update takes up what has changed in it")]
    IsABag,
    /// The directory is not a bag.
    #[error("is no bag, for it has no bagit.txt; lanesum bag create makes it one")]
    NotABag,
    /// A run that created a bag was interrupted.
    #[error("an interrupted lanesum bag create left it half done; run that again")]
    HalfDone,
    /// The root directory cannot become a bag.
    #[error("the root of all files cannot be a bag")]
    Root,
    /// Another run is working on the directory.
    #[error("another lanesum bag is at work there; wait until it is done")]
    Busy,
    /// BagIt has no manifests of an algorithm.
    #[error("no manifest is made of {0}; take md5, sha1, sha224, sha256 or sha512")]
    Algorithm(Algorithm),
    /// The tag files are not in UTF-8, which is the encoding of written ones.
    #[error("its tag files are not in UTF-8; convert them and say so in bagit.txt first")]
    Encoding,
    /// An object is in the way of a file.
    #[error("{} is in the way; look at it, and move it elsewhere", .0.display())]
    InTheWay(PathBuf),
    /// The directory contains objects that a bag cannot hold or that cannot be read.
    #[error("cannot be a bag as it is; nothing was changed")]
    Findings(Vec<Finding>),
    /// The contents or tag files of the bag prevent the update.
    #[error("cannot be updated as it is; nothing was changed")]
    NotUpdated(Vec<Finding>),
    /// The bag has no payload manifest to compare the files with.
    #[error(
        "has no payload manifest that lanesum can read, so nothing tells what its files should be; put it back from a copy or, if all files are as they should be, give -a and --accept. Nothing was changed"
    )]
    NoManifest,
    /// Payload manifests or metadata are missing or have changed.
    #[error(
        "what tells what its files should be, or its metadata, is gone or not as it was; put that back from a copy or, if everything is as it should be, take it with --accept. Nothing was changed"
    )]
    Lost,
    /// Files changed although their modification times did not.
    #[error(
        "files changed whose times say that they were not written to; if they are as they should be, take them with --accept. Nothing was changed"
    )]
    Doubtful,
    /// Files of the payload are missing, and were not renamed.
    #[error(
        "files of its payload are gone; put them back from a copy or, if they are to be, take that up with --accept. Nothing was changed"
    )]
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
    #[error("{0}; run the same command again, which goes on from there")]
    Unfinished(Box<Self>),
    /// A system call failed, and undoing the previous steps failed as well.
    #[error(
        "{why}; and {undo}, so some files are still in {}: remedy that and run the same command again",
        .staging.display()
    )]
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

/// The supported algorithms of RFC 8493, section 2.4.
const REGISTERED: Algorithms = Algorithms::NONE
    .with(Algorithm::Md5)
    .with(Algorithm::Sha1)
    .with(Algorithm::Sha224)
    .with(Algorithm::Sha256)
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
