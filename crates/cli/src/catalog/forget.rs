//! `lanesum forget`.

use std::path::Path;
use std::process::ExitCode;

use lanesum_catalog::{Catalog, CatalogError, Options};

use super::{console, fail, name, open, worse};
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
        Err(error) => return Ok(fail(&error, &args.place, &mut lock(&console))),
    };
    let mut worst = ExitCode::SUCCESS;
    for path in &args.paths {
        let bad = not_well(&catalog, path);
        let forgotten = bad.and_then(|bad| {
            catalog.forget(path, &Options::default()).map(|finding| (finding, bad))
        });
        let mut console = lock(&console);
        match forgotten {
            Ok((finding, bad)) => {
                let mut words = format!("{} forgotten", files(finding.files));
                if bad > 0 {
                    words += &format!(", {bad} of them not well");
                }
                // That of a root tells its whole path.
                if finding.path.starts_with(b"/") {
                    words += "; the folder is cataloged no more";
                }
                console.about(name(path), &words);
            }
            Err(error) if error.is_of_catalog() => {
                return Ok(fail(&error, &args.place, &mut console));
            }
            // The others are done all the same.
            Err(error) => worst = worse(worst, fail(&error, &args.place, &mut console)),
        }
    }
    Ok(worst)
}

/// How many files at a path or below it are not well.
fn not_well(catalog: &Catalog, path: &Path) -> Result<usize, CatalogError> {
    let (root, below) = catalog.root_of(path)?;
    let whole = root.path_of(&below);
    Ok(catalog.not_well()?.iter().filter(|file| file.path.starts_with(&whole)).count())
}
