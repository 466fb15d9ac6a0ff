//! What there is to measure against: programs that are installed, crates that are built in, each
//! with its version.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::process::Command;

/// What to do about a peer that is not there.
pub const REMEDY: &str = "`make bench-peers` installs it";

/// The lock file of the workspace: which version of each crate is built in.
const LOCK: &str = include_str!("../../Cargo.lock");

/// Crates that compute MD5.
const CRATES: [&str; 7] = ["openssl", "md-5", "md5", "fast-md5", "md5-many", "md5-simd", "md5-asm"];

/// Crates that compute SHA.
const SHA_CRATES: [&str; 5] = ["openssl", "sha1", "sha2", "ring", "tape-sha256"];

/// A line for each crate that is a peer of lanesum-md5: its name and its version.
pub fn crates() -> impl Iterator<Item = String> {
    versions(&CRATES)
}

/// The same for lanesum-sha1 and lanesum-sha2.
pub fn of_sha() -> impl Iterator<Item = String> {
    versions(&SHA_CRATES)
}

fn versions(names: &'static [&str]) -> impl Iterator<Item = String> {
    names.iter().map(|&name| {
        let version = locked_version(LOCK, name).unwrap_or("of an unknown version");
        match name {
            "openssl" => format!("{name:<9} {version}, {}", openssl::version::version()),
            _ => format!("{name:<9} {version}"),
        }
    })
}

/// The version of the package `name` in a lock file's text.
fn locked_version<'lock>(lock: &'lock str, name: &str) -> Option<&'lock str> {
    let (_, entry) = lock.split_once(&format!("name = \"{name}\"\nversion = \""))?;
    Some(entry.split_once('"')?.0)
}

/// Starts `program`, a name or a path, with the argument that makes it print its version.
///
/// # Errors
///
/// A word why it does not start.
pub fn version(program: impl AsRef<OsStr>, argument: &str) -> Result<String, String> {
    match Command::new(program).arg(argument).env("LC_ALL", "C").output() {
        Ok(output) => {
            let text = if output.stdout.is_empty() { output.stderr } else { output.stdout };
            Ok(first_line(&String::from_utf8_lossy(&text)))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(format!("not installed: {REMEDY}"))
        }
        Err(error) => Err(error.to_string()),
    }
}

/// The beginning of what a program says about its failure, on one line.
pub fn first_words(text: &[u8]) -> String {
    const MOST_LINES: usize = 3;
    let text = String::from_utf8_lossy(text);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).take(MOST_LINES);
    let words = lines.collect::<Vec<_>>().join(" ");
    if words.is_empty() { "it failed without a word".to_owned() } else { words }
}

fn first_line(text: &str) -> String {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("no version").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_reported_with_the_remedy() {
        let found = version("lanesum-no-such-program", "--version");
        assert_eq!(found, Err(format!("not installed: {REMEDY}")));
    }

    #[test]
    fn an_installed_program_reports_its_version() {
        let found = version("md5sum", "--version");
        assert!(found.expect("md5sum is installed").contains("md5sum"));
    }

    #[test]
    fn a_failure_is_quoted_on_one_line() {
        assert_eq!(
            first_words(b"\nMain.hs:4:1: error:\n    no module\n1\n2\n"),
            "Main.hs:4:1: error: no module 1"
        );
        assert_eq!(first_words(b" \n"), "it failed without a word");
    }

    #[test]
    fn every_crate_is_locked() {
        for name in CRATES.into_iter().chain(SHA_CRATES) {
            let version = locked_version(LOCK, name).expect(name);
            assert!(version.starts_with(|digit: char| digit.is_ascii_digit()), "{name} {version}");
        }
        assert_eq!(locked_version("name = \"a\"\nversion = \"1.2.3\"\n", "a"), Some("1.2.3"));
        assert_eq!(locked_version("name = \"ab\"\nversion = \"1.2.3\"\n", "b"), None);
    }

    #[test]
    fn the_version_is_the_first_line_with_text() {
        assert_eq!(first_line("\n  tool 1.2 \nmore"), "tool 1.2");
        assert_eq!(first_line(""), "no version");
    }
}
