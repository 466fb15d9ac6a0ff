//! The programs that are measured beside lanesum here, as far as they are installed.

use std::path::{Path, PathBuf};

use crate::options::Options;
use crate::peers;
use crate::report::Report;

/// Where `make bench-peers` puts what comes from PyPI.
const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/cache/python/bin");

/// Their names, and what makes them print their versions.
const PEERS: [(&str, &str); 5] = [
    ("find", "--version"),
    ("hashdeep", "-V"),
    ("chkbit", "--version"),
    ("bitrot", "--version"),
    ("aide", "--version"),
];

/// Those that are there.
pub struct Peers(Vec<&'static str>);

impl Peers {
    /// Looks for all, and for lanesum; prints their versions.
    pub fn look_for(options: &Options, report: &Report) -> Self {
        let mut there = Vec::new();
        for (name, argument) in PEERS {
            match peers::version(program(name), argument) {
                Ok(version) => {
                    println!("{name:<9} {version}");
                    there.push(name);
                }
                Err(why) => report.skip(name, &why),
            }
        }
        let version = peers::version(&options.lanesum, "--version").unwrap_or_else(|why| why);
        println!("{:<9} {version}, {}", "lanesum", options.lanesum.display());
        Self(there)
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.contains(&name)
    }
}

/// The program of this name: of `make bench-peers`, or else what the search path has.
pub fn program(name: &str) -> PathBuf {
    let own = Path::new(PYTHON).join(name);
    if own.exists() { own } else { name.into() }
}
