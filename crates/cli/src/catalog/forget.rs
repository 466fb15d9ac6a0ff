//! `lanesum forget`.

use std::process::ExitCode;

use lanesum_catalog::Options;

use super::{console, fail, name, open};
use crate::args::Forget;
use crate::console::lock;
use crate::counts::files;

/// Takes files out of the catalog.
///
/// # Errors
/// What keeps it from beginning.
pub fn run(args: &Forget) -> anyhow::Result<ExitCode> {
    let console = console()?;
    let mut catalog = match open(&args.place, "forget")? {
        Ok(catalog) => catalog,
        Err(error) => return Ok(fail(&error, &mut lock(&console))),
    };
    let mut worst = ExitCode::SUCCESS;
    for path in &args.paths {
        let forgotten = catalog.forget(path, &Options::default());
        let mut console = lock(&console);
        match forgotten {
            Ok(finding) => {
                console.about(name(path), &format!("{} forgotten", files(finding.files)));
            }
            Err(error) if error.is_of_catalog() => return Ok(fail(&error, &mut console)),
            // The others are done all the same.
            Err(error) => worst = fail(&error, &mut console),
        }
    }
    Ok(worst)
}
