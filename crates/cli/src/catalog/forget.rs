//! `lanesum forget`.

use std::path::Path;
use std::process::ExitCode;

use indicatif::HumanCount;
use lanesum_catalog::{Catalog, CatalogError, Options, Severity};

use super::{OF_CATALOG, console, fail, fail_at, name, open, worse};
use crate::args::Forget;
use crate::console::lock;
use crate::counts::{counted, files};

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
        let known = known(&catalog, path);
        let forgotten = known.and_then(|known| {
            let options = Options::default();
            let finding = match args.missing {
                true => catalog.forget_missing(path, &options),
                false => catalog.forget(path, &options),
            };
            finding.map(|finding| (finding, known))
        });
        let mut console = lock(&console);
        match forgotten {
            Ok((finding, _)) if args.missing => {
                let words = counted(finding.files, "missing file", "missing files");
                console.about(name(path), &format!("{words} forgotten"));
            }
            Ok((finding, Known { counts, damaged })) => {
                let mut words = format!("{} forgotten", files(finding.files));
                for (count, what) in counts.into_iter().filter(|(count, _)| *count > 0) {
                    words += &format!(", {} of them {what}", HumanCount(count as u64));
                }
                let is_of_root = finding.path.starts_with(b"/");
                let stays_known = || catalog.root_of(path).is_ok_and(|(it, _)| it.numbers_last());
                if !is_of_root && damaged > 0 && stays_known() {
                    words += "; what is damaged and there still stays so: `lanesum accept` takes it \
                              as it is";
                }
                // That of a root tells its whole path.
                if is_of_root {
                    words += "; the folder is cataloged no more";
                }
                let are_well = counts.iter().all(|(count, _)| *count == 0);
                if !is_of_root && are_well && path.symlink_metadata().is_ok() {
                    words += "; what is there is new to the next update";
                }
                // Of a damaged row nothing is known, and what is there is taken up as it is.
                if let Some(damage) = &finding.after {
                    words += &format!("; the catalog is damaged: {damage}");
                    worst = worse(worst, ExitCode::from(OF_CATALOG));
                }
                console.about(name(path), &words);
            }
            Err(error) if error.is_of_catalog() => {
                return Ok(fail(&error, &args.place, &mut console));
            }
            // The others are done all the same.
            Err(error) => {
                worst = worse(worst, fail_at(&error, &catalog, &args.place, &mut console));
            }
        }
    }
    Ok(worst)
}

/// Of files at a path and below it, how many are known not to be as cataloged.
struct Known {
    /// In the words of `status`.
    counts: [(usize, &'static str); 3],
    /// Those whose damage stays known.
    damaged: usize,
}

fn known(catalog: &Catalog, path: &Path) -> Result<Known, CatalogError> {
    let (root, below) = catalog.root_of(path)?;
    let whole = root.path_of(&below);
    let mut files = match catalog.not_well() {
        // What it is to take out may be that.
        Err(CatalogError::Damaged(_)) => Vec::new(),
        files => files?,
    };
    files.retain(|file| file.path.starts_with(&whole));
    let count = |severity| files.iter().filter(|it| it.status.severity() == severity).count();
    let counts = [
        (count(Severity::Damage), "not well"),
        (count(Severity::Differences), "not taken up"),
        (count(Severity::NotAllDone), "not read when it was to be"),
    ];
    let damaged = files.iter().filter(|file| file.status.is_kept()).count();
    Ok(Known { counts, damaged })
}
