//! The Haskell document's programs: the packages of today, each in a main of a few lines.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::Program;
use crate::peers;

/// Row, source and the Debian package that it imports.
const PROGRAMS: [(&str, &str, &str); 2] = [
    ("pureMD5", include_str!("programs/PureMd5.hs"), "libghc-puremd5-dev"),
    ("cryptohash-md5", include_str!("programs/CryptohashMd5.hs"), "libghc-cryptohash-md5-dev"),
];

/// Compiles them below `folder`.
pub fn programs(folder: &Path) -> Vec<Program> {
    let ghc = peers::version("ghc", "--version");
    if let Ok(version) = &ghc {
        println!("{:<9} {version}", "ghc");
    }
    let program = |(implementation, source, package)| {
        let compiled = ghc.clone().map_err(|why| format!("ghc: {why}")).and_then(|_| {
            compile(&folder.join(implementation), source)
                .map_err(|error| format!("{error:#}; it needs the package {package}"))
        });
        let command = compiled.map(|path| vec![path.into_os_string()]);
        Program { implementation, needs: "ghc", command, times_itself: false }
    };
    PROGRAMS.into_iter().map(program).collect()
}

/// Compiles a program in a folder made for it.
fn compile(folder: &Path, source: &str) -> Result<PathBuf> {
    fs::create_dir(folder)?;
    fs::write(folder.join("Main.hs"), source)?;
    let output = Command::new("ghc")
        .args(["-O2", "-v0", "-o", "program", "Main.hs"])
        .current_dir(folder)
        .output()
        .context("ghc")?;
    if !output.status.success() {
        bail!("ghc: {}", peers::first_words(&output.stderr));
    }
    Ok(folder.join("program"))
}
