//! `lanesum bag`: bags of BagIt, RFC 8493.

mod create;
mod machine;
mod update;
mod validate;

use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::ExitCode;

use lanesum_bag::{BagError, Element, Finding};

use crate::args::{Bag, BagVerb};
use crate::console::{Console, fail_to_write};
use crate::hints::{self, Problem};

/// Runs a command on bags.
///
/// # Errors
/// The command cannot start.
pub fn run(args: Bag) -> anyhow::Result<ExitCode> {
    match args.verb {
        BagVerb::Create(args) => create::run(&args),
        BagVerb::Update(args) => update::run(&args),
        BagVerb::Validate(args) => validate::run(&args),
    }
}

/// Prints an error or a warning.
fn tell(folder: &Path, finding: &Finding, console: &mut Console) -> io::Result<()> {
    let mut line = Vec::new();
    console.quote(&mut line, &path(folder, &finding.name));
    line.extend_from_slice(b": ");
    if let Some(number) = finding.line {
        line.extend_from_slice(format!("line {number}: ").as_bytes());
    }
    if !finding.is_error() {
        line.extend_from_slice(b"warning: ");
    }
    line.extend_from_slice(finding.problem.to_string().as_bytes());
    if finding.is_error() {
        line.push(b'\n');
        return console.line(&line);
    }
    console.message(&line);
    Ok(())
}

/// The metadata element that names this program.
fn software() -> Element {
    let name =
        concat!("lanesum ", env!("CARGO_PKG_VERSION"), " <", env!("CARGO_PKG_REPOSITORY"), ">");
    Element::new("Bag-Software-Agent", name).expect("a line of letters")
}

/// Prints why a bag is not created or updated.
fn fail(folder: &Path, error: &BagError, console: &mut Console) -> ExitCode {
    if let BagError::Findings(findings) | BagError::NotUpdated(findings) = error {
        for finding in findings {
            if let Err(error) = tell(folder, finding, console) {
                return fail_to_write(&error, console);
            }
        }
    }
    if let Err(error) = console.flush() {
        return fail_to_write(&error, console);
    }
    let words = match error {
        BagError::Io { path, error } if path == folder => lanesum_checksum::error::message(error),
        error => error.to_string(),
    };
    let hint = hints::of_bag(error, folder);
    Problem { words, hint }.print(folder.as_os_str().as_bytes(), console);
    if matches!(error, BagError::Algorithm(_)) { ExitCode::from(2) } else { ExitCode::FAILURE }
}

/// Returns the path of a file in a bag, or of the bag itself without a name.
fn path(folder: &Path, name: &[u8]) -> Vec<u8> {
    let mut path = folder.as_os_str().as_bytes().to_vec();
    if !name.is_empty() {
        if !path.ends_with(b"/") {
            path.push(b'/');
        }
        path.extend_from_slice(name);
    }
    path
}
