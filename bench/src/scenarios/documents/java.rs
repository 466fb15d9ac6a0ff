//! The F# document's programs, on the Java platform: its own MessageDigest and Bouncy Castle's.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::Program;
use crate::peers;

const SOURCE: &str = include_str!("programs/Md5Files.java");

/// Where `make bench-peers` puts the archive.
const BOUNCY_CASTLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/cache/bcprov-jdk18on.jar");

/// What stands for the platform's own, and Bouncy Castle's class.
const PLATFORM: &str = "-";
const BOUNCY_CASTLE_DIGEST: &str = "org.bouncycastle.jcajce.provider.digest.MD5$Digest";

/// Compiles below `folder`; two programs that read files and two that time digests in memory.
pub fn programs(folder: &Path) -> Vec<Program> {
    let compiled = compile(folder);
    let bouncy_castle = compiled.clone().and_then(|()| bouncy_castle());
    let rows = [
        ("java", PLATFORM, "read", &compiled),
        ("bouncycastle", BOUNCY_CASTLE_DIGEST, "read", &bouncy_castle),
        ("java-memory", PLATFORM, "memory", &compiled),
        ("bouncycastle-memory", BOUNCY_CASTLE_DIGEST, "memory", &bouncy_castle),
    ];
    let class_path = OsString::from(format!("{}:{BOUNCY_CASTLE}", folder.display()));
    let program = |(implementation, digest, mode, found): (_, &str, &str, &Result<(), String>)| {
        let command = || {
            let words = ["java", "-cp"].map(OsString::from).into_iter();
            let arguments = ["Md5Files", digest, mode].map(OsString::from);
            words.chain([class_path.clone()]).chain(arguments).collect()
        };
        Program {
            implementation,
            needs: "java",
            command: found.clone().map(|()| command()),
            times_itself: mode == "memory",
        }
    };
    rows.into_iter().map(program).collect()
}

fn compile(folder: &Path) -> Result<(), String> {
    let version = peers::version("javac", "-version").map_err(|why| format!("javac: {why}"))?;
    println!("{:<9} {version}", "java");
    compile_with_javac(folder).map_err(|error| format!("{error:#}"))
}

fn compile_with_javac(folder: &Path) -> Result<()> {
    let source = folder.join("Md5Files.java");
    fs::write(&source, SOURCE)?;
    let output =
        Command::new("javac").arg("-d").args([folder, &source]).output().context("javac")?;
    ensure!(output.status.success(), "javac: {}", peers::first_words(&output.stderr));
    Ok(())
}

fn bouncy_castle() -> Result<(), String> {
    if Path::new(BOUNCY_CASTLE).is_file() {
        println!("{:<9} {BOUNCY_CASTLE}", "bcprov");
        return Ok(());
    }
    Err(format!("{BOUNCY_CASTLE} is not there: {}", peers::REMEDY))
}
