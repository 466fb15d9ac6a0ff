//! `lanesum accept`: records files as they are now.

use std::sync::{Arc, Mutex};

use indicatif::HumanCount;
use jiff::tz::TimeZone;
use lanesum_catalog::{CatalogError, Content, Finding, Options, Root};

use super::commands::Commands;
use super::errors;
use super::print::name;
use super::{Code, json, place};
use crate::args::{Accept, Where};
use crate::console::{Console, lock};
use crate::counts::files;

/// The number of files that are printed one by one.
const MOST: u64 = 20;

/// Accepts files, and prints their old and new digests.
///
/// # Errors
/// Errors of the catalog. Errors of single paths are printed.
pub fn run(args: &Accept, console: &Arc<Mutex<Console>>) -> anyhow::Result<Code> {
    let mut catalog = place::open(&args.place, "accept")?;
    let mut options = Options::default();
    options.zone = TimeZone::system();
    let mut count = 0;
    let accepted = catalog.accept(&args.paths, &options, &mut |root, finding| {
        count += 1;
        if count > MOST {
            return Ok(());
        }
        let mut console = lock(console);
        let line = line(root, finding, &console);
        console.line(&line)?;
        console.flush()
    })?;
    let mut console = lock(console);
    if let Some(more) = count.checked_sub(MOST).filter(|more| *more > 0) {
        let words = format!("... and {} more\n", HumanCount(more));
        console.line(words.as_bytes()).map_err(CatalogError::Output)?;
    }
    console.flush().map_err(CatalogError::Output)?;
    let code = tell_failed(&accepted.failed, &args.place, &mut console);
    if accepted.files > 0 || code == Code::Nothing {
        let none = if accepted.files == 0 { ": no damaged file is known there" } else { "" };
        console.message(format!("accepted {}{none}", files(accepted.files)).as_bytes());
    }
    Ok(code)
}

/// Prints why paths failed. Returns the exit code.
pub fn tell_failed(
    failed: &[(std::path::PathBuf, CatalogError)],
    place: &Where,
    console: &mut Console,
) -> Code {
    let mut worst = Code::Nothing;
    for (path, error) in failed {
        let commands = Commands { place, console };
        let problem = match error {
            // Adding the directory would not help.
            CatalogError::NoRoot(_) => errors::not_in_catalog(path, commands),
            error => errors::explain(error, commands),
        };
        // Returns the path as the user typed it.
        console.about(name(path), &problem.words);
        if let Some(hint) = problem.hint {
            errors::print_hint(&hint, console);
        }
        worst = worst.max(errors::code(error));
    }
    worst
}

/// `accepted /srv/photos/a.jpg (md5 90015098 -> d41d8cd9)`.
fn line(root: &Root, finding: &Finding, console: &Console) -> Vec<u8> {
    let mut line = b"accepted ".to_vec();
    console.quote(&mut line, name(&root.path_of(&finding.path)));
    let before = finding.recorded.as_ref().and_then(short);
    let now = finding.found.as_ref().and_then(short);
    let words = match (before, now) {
        (Some((algorithm, before)), Some((_, now))) if before == now => {
            format!(" ({algorithm} {before}, as recorded)")
        }
        (Some((algorithm, before)), Some((_, now))) => format!(" ({algorithm} {before} -> {now})"),
        _ => String::new(),
    };
    line.extend_from_slice(words.as_bytes());
    line.push(b'\n');
    line
}

/// Returns the algorithm and the first digits of a content's first digest.
fn short(content: &Content) -> Option<(String, String)> {
    let digest = content.digests.first()?;
    let mut hex = json::hex(digest);
    hex.truncate(8);
    Some((digest.algorithm().to_string(), hex))
}
