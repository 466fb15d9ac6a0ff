//! `lanesum relocate`: a root is at a new path, or on a new volume.

use lanesum_catalog::Options;

use super::commands::Commands;
use super::errors::print_hint;
use super::print::name;
use super::{Code, place};
use crate::args::Relocate;
use crate::console::Console;

/// Records the new path of a root.
///
/// # Errors
/// Errors of the catalog.
pub fn run(args: &Relocate, console: &mut Console) -> anyhow::Result<Code> {
    let mut catalog = place::open(&args.place, "relocate")?;
    let relocated = catalog.relocate(&args.old, &args.new, &Options::default())?;
    let path = &relocated.root.path;
    let words = format!(
        "relocated; {} of {} sampled files are as recorded",
        relocated.matching, relocated.checked
    );
    console.about(name(path), &words);
    let hint = Commands { place: &args.place, console }.about("verify", path);
    print_hint(&format!("to read all files: {hint}"), console);
    Ok(Code::Nothing)
}
