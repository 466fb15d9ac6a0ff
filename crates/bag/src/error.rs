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
    /// What should be a folder is something else.
    #[error("not a directory")]
    NotAFolder,
    /// The folder is in the payload of a bag.
    #[error("in the payload of the bag {}", .0.display())]
    InPayload(PathBuf),
    /// Nothing can be written in the folder.
    #[error("not writable: {}", message(.0))]
    Unwritable(io::Error),
    /// The folder is a bag.
    #[error("already a bag")]
    IsABag,
    /// The folder is no bag.
    #[error("not a bag: bagit.txt is missing")]
    NotABag,
    /// A run that made a bag was cut off.
    #[error("incomplete: `lanesum bag create` was interrupted")]
    HalfDone,
    /// Nothing can be renamed around the root of all files.
    #[error("the root directory cannot be a bag")]
    Root,
    /// Another run is at work there.
    #[error("in use by another `lanesum bag`")]
    Busy,
    /// Manifests of an algorithm are not for bags.
    #[error("bags cannot have manifests of {0}")]
    Algorithm(Algorithm),
    /// Tag files are in another encoding than UTF-8, which is what is written.
    #[error("tag files are not in UTF-8")]
    Encoding,
    /// Something is where a file belongs.
    #[error("{} is in the way", .0.display())]
    InTheWay(PathBuf),
    /// The bag cannot hold what is there, or what is there cannot be read.
    #[error("cannot become a bag; nothing was changed")]
    Findings(Vec<Finding>),
    /// What is there, or what stands in its tag files, keeps the bag from being updated.
    #[error("cannot be updated; nothing was changed")]
    NotUpdated(Vec<Finding>),
    /// No payload manifest tells what the files should be.
    #[error("not updated: no payload manifest that lanesum can read")]
    NoManifest,
    /// Payload manifests or metadata are gone, or are not what they were.
    #[error(
        "not updated: a payload manifest or bag-info.txt is missing, or differs from the tag manifests"
    )]
    Lost,
    /// Files changed although their times say that they were not written to.
    #[error("not updated: files changed, but their times did not")]
    Doubtful,
    /// Files of the payload are not there any more, and under no other name.
    #[error("not updated: payload files are missing")]
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
    #[error("{0}")]
    Unfinished(Box<Self>),
    /// The system refused something, and then to take back what was done before.
    #[error("{why}, and then {undo}; some files are still in {}", .staging.display())]
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

/// The path of a folder without links in it.
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
