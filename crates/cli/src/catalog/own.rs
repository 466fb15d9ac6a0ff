//! `lanesum catalog check` and `backup`: the catalog itself.

use std::path::Path;

use lanesum_catalog::CatalogError;

use super::errors::print_hint;
use super::print::name;
use super::{Code, place};
use crate::args::Where;
use crate::console::Console;
use crate::counts::counted;
use crate::failure::Usage;

/// Checks the catalog, and prints its damage.
///
/// # Errors
/// Errors of the catalog.
pub fn check(place: &Where, console: &mut Console) -> anyhow::Result<Code> {
    let catalog = place::look(place)?;
    let wrong = catalog.check()?;
    for words in &wrong {
        console.line(format!("{words}\n").as_bytes()).map_err(CatalogError::Output)?;
    }
    console.flush().map_err(CatalogError::Output)?;
    if wrong.is_empty() {
        console.about(name(catalog.path()), "the catalog is not damaged");
        return Ok(Code::Nothing);
    }
    let findings = counted(wrong.len() as u64, "finding", "findings");
    console.about(name(catalog.path()), &format!("the catalog is damaged: {findings}"));
    print_hint("replace it with a copy made by `lanesum catalog backup`", console);
    Ok(Code::CatalogDamaged)
}

/// Writes a checked copy.
///
/// # Errors
/// Errors of the catalog, and wrong usage.
pub fn backup(place: &Where, to: &Path, console: &mut Console) -> anyhow::Result<Code> {
    if to == Path::new("-") {
        let words = "-: a backup needs a file and cannot go to standard output";
        return Err(Usage(words.to_owned()).into());
    }
    place::look(place)?.backup(to)?;
    console.about(name(to), "the backup is complete and checked");
    Ok(Code::Nothing)
}
