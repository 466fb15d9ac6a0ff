//! `lanesum accept`.

use std::process::ExitCode;

use lanesum_catalog::Options;

use super::{console, fail, name, open};
use crate::args::Accept;
use crate::console::lock;

/// Accepts what is there, and says what it was.
///
/// # Errors
/// What keeps it from beginning.
pub fn run(args: &Accept) -> anyhow::Result<ExitCode> {
    let console = console()?;
    let mut catalog = match open(&args.place, "accept")? {
        Ok(catalog) => catalog,
        Err(error) => return Ok(fail(&error, &mut lock(&console))),
    };
    let mut worst = ExitCode::SUCCESS;
    for path in &args.paths {
        let accepted = catalog.accept(path, &Options::default());
        let mut console = lock(&console);
        match accepted {
            Ok(finding) => {
                let words = match (finding.before, finding.after) {
                    (Some(before), Some(after)) => format!("accepted: {after}; it was {before}"),
                    (_, after) => format!("accepted: {}", after.unwrap_or_default()),
                };
                console.about(name(path), &words);
            }
            Err(error) if error.is_of_catalog() => return Ok(fail(&error, &mut console)),
            // The others are done all the same.
            Err(error) => worst = fail(&error, &mut console),
        }
    }
    Ok(worst)
}
