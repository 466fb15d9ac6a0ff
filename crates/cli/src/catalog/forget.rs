//! `lanesum forget`: deletes records.

use indicatif::HumanCount;
use lanesum_catalog::{ForgottenPath, Options};

use super::accept::tell_failed;
use super::commands::Commands;
use super::errors::print_hint;
use super::print::name;
use super::{Code, place};
use crate::args::Forget;
use crate::console::Console;
use crate::counts::{counted, files};

/// Forgets files and directories.
///
/// # Errors
/// Errors of the catalog. Errors of single paths are printed.
pub fn run(args: &Forget, console: &mut Console) -> anyhow::Result<Code> {
    let mut catalog = place::open(&args.place, "forget")?;
    let forgotten = catalog.forget(&args.paths, args.missing, &Options::default())?;
    for it in &forgotten.paths {
        console.about(name(&it.path), &words(it, args.missing));
        if args.missing && it.files == 0 {
            let (root, _) = catalog.root_of(&it.path)?;
            let scan = Commands { place: &args.place, console }.about("scan", &root.path);
            print_hint(&format!("to look for missing files first: {scan}"), console);
        }
    }
    Ok(tell_failed(&forgotten.failed, &args.place, console))
}

fn words(it: &ForgottenPath, only_missing: bool) -> String {
    if only_missing {
        return format!("forgot {}", counted(it.files, "missing file", "missing files"));
    }
    let mut words = format!("forgot {}", files(it.files));
    if it.damaged > 0 {
        words += &format!(", {} of them damaged", HumanCount(it.damaged));
    }
    if it.is_root {
        return words + "; the directory is no longer in the catalog";
    }
    if it.still_there > 0 {
        let exist = counted(it.still_there, "file still exists", "files still exist");
        words += &format!("; {exist} and will be new in the next update");
    }
    words
}
