//! The programs that `files` and `disk` measure, as far as they are installed.

use std::path::Path;

use anyhow::{Result, ensure};

use super::programs::Candidate;
use crate::options::Options;
use crate::peers::{self, REMEDY};
use crate::report::Report;

/// What everything is compared with.
pub const BASELINE: &str = "md5sum";

/// Those without which nothing is measured.
const NEEDED: [&str; 2] = [BASELINE, "xargs"];

/// A program, and what makes it print its version.
pub struct Peer {
    pub name: &'static str,
    version_argument: &'static str,
}

const PEERS: [Peer; 13] = [
    Peer { name: BASELINE, version_argument: "--version" },
    Peer { name: "xargs", version_argument: "--version" },
    Peer { name: "md5deep", version_argument: "-v" },
    Peer { name: "sha1sum", version_argument: "--version" },
    Peer { name: "sha256sum", version_argument: "--version" },
    Peer { name: "sha512sum", version_argument: "--version" },
    Peer { name: "sha1deep", version_argument: "-v" },
    Peer { name: "sha256deep", version_argument: "-v" },
    Peer { name: "rhash", version_argument: "--version" },
    Peer { name: "b3sum", version_argument: "--version" },
    Peer { name: "xxhsum", version_argument: "--version" },
    Peer { name: "openssl", version_argument: "version" },
    Peer { name: "rclone", version_argument: "version" },
];

impl Peer {
    /// Its version, or the word why it is skipped.
    pub fn version(&self) -> Result<String, String> {
        peers::version(self.name, self.version_argument)
    }
}

/// Those that are there.
pub struct Installed(Vec<&'static Peer>);

impl Installed {
    /// Looks for all but those named, and for lanesum; prints their versions.
    ///
    /// # Errors
    /// One that is needed is missing.
    pub fn look_for(options: &Options, report: &Report, but: &[&str]) -> Result<Self> {
        let mut installed = Self(Vec::new());
        for peer in PEERS.iter().filter(|peer| !but.contains(&peer.name)) {
            match peer.version() {
                Ok(version) => {
                    println!("{:<9} {version}", peer.name);
                    installed.0.push(peer);
                }
                Err(why) => report.skip(peer.name, &why),
            }
        }
        for needed in NEEDED {
            ensure!(
                installed.has(needed),
                "{needed} is not there, and nothing is measured without it: {REMEDY}"
            );
        }
        println!("{:<9} {}", "lanesum", lanesum(&options.lanesum));
        Ok(installed)
    }

    #[cfg(test)]
    pub fn only(names: &[&str]) -> Self {
        Self(PEERS.iter().filter(|peer| names.contains(&peer.name)).collect())
    }

    pub fn has(&self, program: &str) -> bool {
        self.0.iter().any(|peer| peer.name == program)
    }

    pub fn peers(&self) -> impl Iterator<Item = &Peer> {
        self.0.iter().copied()
    }

    /// The candidates that need nothing that is missing.
    pub fn there(&self, candidates: Vec<Candidate>) -> Vec<Candidate> {
        let is_there = |each: &Candidate| each.needs.is_none_or(|program| self.has(program));
        candidates.into_iter().filter(is_there).collect()
    }
}

/// The version of the program at this path, which need not be there, and the path.
fn lanesum(program: &Path) -> String {
    let version = peers::version(program, "--version").unwrap_or_else(|why| why);
    format!("{version}, {}", program.display())
}
