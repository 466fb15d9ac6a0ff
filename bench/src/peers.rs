//! Which of the programs to measure against are installed, and in which version.

use std::io::ErrorKind;
use std::process::Command;

/// A program that may be installed.
pub struct Peer {
    pub name: &'static str,
    /// What makes it print its version.
    pub version_argument: &'static str,
}

/// What became of looking for a [`Peer`].
pub struct Found {
    pub name: &'static str,
    /// Its version, or the word why it is skipped.
    pub version: Result<String, String>,
}

impl Found {
    /// Starts `peer` to see whether it is there.
    pub fn look_for(peer: &Peer) -> Self {
        let output = Command::new(peer.name).arg(peer.version_argument).env("LC_ALL", "C").output();
        let version = match output {
            Ok(output) => {
                let text = if output.stdout.is_empty() { output.stderr } else { output.stdout };
                Ok(first_line(&String::from_utf8_lossy(&text)))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Err("not installed".to_owned()),
            Err(error) => Err(error.to_string()),
        };
        Self { name: peer.name, version }
    }
}

fn first_line(text: &str) -> String {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("no version").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_installed_is_skipped_with_a_word() {
        let peer = Peer { name: "lanesum-no-such-program", version_argument: "--version" };
        let found = Found::look_for(&peer);
        assert_eq!(found.name, "lanesum-no-such-program");
        assert_eq!(found.version, Err("not installed".to_owned()));
    }

    #[test]
    fn what_is_installed_names_its_version() {
        let found = Found::look_for(&Peer { name: "md5sum", version_argument: "--version" });
        assert!(found.version.expect("md5sum is installed").contains("md5sum"));
    }

    #[test]
    fn the_version_is_the_first_line_with_text() {
        assert_eq!(first_line("\n  tool 1.2 \nmore"), "tool 1.2");
        assert_eq!(first_line(""), "no version");
    }
}
