//! Why a bag is not made or updated.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lanesum_checksum::error::message;
use lanesum_checksum::{Algorithm, Algorithms};

use crate::finding::{Finding, Problem};

/// Why a bag is not made or updated. Nothing was changed, unless it says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BagError {
    /// What should be a directory is something else.
    #[error("is no folder")]
    NotAFolder,
    /// The directory is in the payload of a bag.
    #[error(
        "is in the payload of the bag {}, which would not be valid any more; make a bag outside of it",
        .0.display()
    )]
    InPayload(PathBuf),
    /// Nothing can be written in the directory.
    #[error("nothing can be written in it: {}", message(.0))]
    Unwritable(io::Error),
    /// The directory is a bag.
    #[error("is a bag already; lanesum bag update takes up what has changed in it")]
    IsABag,
    /// The directory is no bag.
    #[error("is no bag, for it has no bagit.txt; lanesum bag create makes it one")]
    NotABag,
    /// A run that made a bag was cut off.
    #[error("an interrupted lanesum bag create left it half done; run that again")]
    HalfDone,
    /// Nothing can be renamed around the root of all files.
    #[error("the root of all files cannot be a bag")]
    Root,
    /// Another run is at work there.
    #[error("another lanesum bag is at work there; wait until it is done")]
    Busy,
    /// Manifests of an algorithm are not for bags.
    #[error("no manifest is made of {0}; take md5, sha1, sha224, sha256 or sha512")]
    Algorithm(Algorithm),
    /// Tag files are in another encoding than UTF-8, which is what is written.
    #[error("its tag files are not in UTF-8; convert them and say so in bagit.txt first")]
    Encoding,
    /// Something is where a file belongs.
    #[error("{} is in the way; look at it, and move it elsewhere", .0.display())]
    InTheWay(PathBuf),
    /// The bag cannot hold what is there, or what is there cannot be read.
    #[error("cannot be a bag as it is; nothing was changed")]
    Findings(Vec<Finding>),
    /// What is there, or what stands in its tag files, keeps the bag from being updated.
    #[error("cannot be updated as it is; nothing was changed")]
    NotUpdated(Vec<Finding>),
    /// No payload manifest tells what the files should be.
    #[error(
        "has no payload manifest that lanesum can read, so nothing tells what its files should be; put it back from a copy or, if all files are as they should be, give -a and --accept. Nothing was changed"
    )]
    NoManifest,
    /// Payload manifests or metadata are gone, or are not what they were.
    #[error(
        "what tells what its files should be, or its metadata, is gone or not as it was; put that back from a copy or, if everything is as it should be, take it with --accept. Nothing was changed"
    )]
    Lost,
    /// Files changed although their times say that they were not written to.
    #[error(
        "files changed whose times say that they were not written to; if they are as they should be, take them with --accept. Nothing was changed"
    )]
    Doubtful,
    /// Files of the payload are not there any more, and under no other name.
    #[error(
        "files of its payload are gone; put them back from a copy or, if they are to be, take that up with --accept. Nothing was changed"
    )]
    Gone,
    /// The system refused something.
    #[error("{}: {}", .path.display(), message(.error))]
    Io {
        /// What it was about.
        path: PathBuf,
        /// Its reason.
        error: io::Error,
    },
    /// The system refused something when everything was whole, and only had to take its place.
    #[error("{0}; run the same command again, which goes on from there")]
    Unfinished(Box<Self>),
    /// The system refused something, and then to take back what was done before.
    #[error(
        "{why}; and {undo}, so some files are still in {}: remedy that and run the same command again",
        .staging.display()
    )]
    Stuck {
        /// The first reason.
        why: Box<Self>,
        /// The second.
        undo: Box<Self>,
        /// Where files are.
        staging: PathBuf,
    },
}

impl BagError {
    /// Says that there is something to be told about the files, if there is.
    pub(crate) fn unless_none(findings: Vec<Finding>) -> Result<(), Self> {
        if findings.is_empty() { Ok(()) } else { Err(Self::Findings(findings)) }
    }

    /// The same, where a bag was to be updated.
    pub(crate) fn of_update(self) -> Self {
        match self {
            Self::Findings(findings) => Self::NotUpdated(findings),
            other => other,
        }
    }
}

/// The path of a directory without links in it.
pub(crate) fn root(folder: &Path) -> Result<PathBuf, BagError> {
    let root = fs::canonicalize(folder).map_err(at(folder))?;
    if root.is_dir() { Ok(root) } else { Err(BagError::NotAFolder) }
}

/// Makes an error of the system one about a path.
pub(crate) fn at(path: &Path) -> impl Fn(io::Error) -> BagError + use<> {
    let path = path.to_owned();
    move |error| BagError::Io { path: path.clone(), error }
}

/// The algorithms that the registry of RFC 8493 section 2.4 has, as far as they are computed here.
const REGISTERED: Algorithms = Algorithms::NONE
    .with(Algorithm::Md5)
    .with(Algorithm::Sha1)
    .with(Algorithm::Sha224)
    .with(Algorithm::Sha256)
    .with(Algorithm::Sha512);

/// Refuses algorithms that a bag cannot have.
pub(crate) fn allow(algorithms: Algorithms) -> Result<(), BagError> {
    match algorithms.difference(REGISTERED).iter().next() {
        Some(other) => Err(BagError::Algorithm(other)),
        None => Ok(()),
    }
}

/// A file that is not what it was when it was read.
pub(crate) fn changed(name: &[u8]) -> Finding {
    Finding::error(name, Problem::ChangedWhileRead)
}
