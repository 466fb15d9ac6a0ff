//! `lanesum accept`.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lanesum_catalog::{Catalog, CatalogError, Known, Options, Spelling as _, Status};

use super::{Spoken, command, console, fail, fail_at, name, open, worse};
use crate::args::Accept;
use crate::console::lock;
use crate::counts::counted;

/// Accepts what is there, and says what it was.
///
/// # Errors
/// What keeps it from beginning.
pub fn run(args: &Accept) -> anyhow::Result<ExitCode> {
    let console = console()?;
    let mut catalog = match open(&args.place, "accept")? {
        Ok(catalog) => catalog,
        Err(error) => return Ok(fail(&error, &args.place, &mut lock(&console))),
    };
    let mut worst = ExitCode::SUCCESS;
    for path in &args.paths {
        let was_there = is_folder_itself(&catalog, path);
        let accepted = catalog.accept(path, &Options::default());
        let mut console = lock(&console);
        match accepted {
            Ok(finding) => {
                let words = match (finding.before, finding.after) {
                    (_, Some(volume)) if was_there => format!(
                        "it is the folder that is cataloged, on {volume}, and nothing of it was to \
                         be accepted; `{}` tells how its files are",
                        command(&args.place, "audit", &console)
                    ),
                    // Of a folder the volume is told.
                    (_, Some(volume)) if finding.path.is_empty() => format!(
                        "accepted as the folder that is cataloged, on {volume}; `{}` tells how its \
                         files are",
                        command(&args.place, "audit", &console)
                    ),
                    (Some(before), Some(after)) if before == after => {
                        format!("accepted: it is as it was cataloged: {after}")
                    }
                    (Some(before), Some(after)) => format!("accepted: {after}; it was {before}"),
                    (_, after) => format!("accepted: {}", after.unwrap_or_default()),
                };
                let others = match finding.files {
                    0 | 1 => String::new(),
                    files => format!(
                        "; with it {} of the file",
                        counted(files - 1, "other name", "other names")
                    ),
                };
                // Its own row came along, or that of another file, which was not there any more.
                let before = finding.other.map_or_else(String::new, |other| {
                    let whole = catalog.root_of(path).map_or_else(
                        |_| PathBuf::from(OsStr::from_bytes(&other)),
                        |(root, _)| root.path_of(&other),
                    );
                    format!("; {} is no longer cataloged", console.shown(&whole))
                });
                console.about(name(path), &format!("{words}{others}{before}"));
            }
            Err(error) if error.is_of_catalog() => {
                return Ok(fail(&error, &args.place, &mut console));
            }
            // The others are done all the same.
            Err(error) => {
                let spoken = Spoken { place: &args.place, console: &console };
                let of = catalog.root_of(path).ok();
                let away =
                    of.and_then(|(root, _)| Some((catalog.why_not_there(&root).ok()??, root)));
                let error = match away {
                    Some((why, root)) => CatalogError::NotThere { path: root.path, why },
                    None => error,
                };
                let is_there = !matches!(error, CatalogError::NotThere { .. });
                let way_out = way_out(path, is_there, || known(&catalog, path), &spoken);
                match (&error, way_out) {
                    // What a mount hides is there, as far as anybody knows.
                    (CatalogError::Io { error, .. }, Some(words))
                        if error.kind() != ErrorKind::CrossesDevices =>
                    {
                        console.about(name(path), &words);
                        worst = worse(worst, ExitCode::FAILURE);
                    }
                    _ => worst = worse(worst, fail_at(&error, &catalog, &args.place, &mut console)),
                }
            }
        }
    }
    Ok(worst)
}

/// Whether a path is that of a folder that was added, and what is there is that folder.
fn is_folder_itself(catalog: &Catalog, path: &Path) -> bool {
    let of = catalog.root_of(path).ok().filter(|(_, below)| below.is_empty());
    of.is_some_and(|(root, _)| matches!(catalog.why_not_there(&root), Ok(None)))
}

/// The file at a path, if it is known not to be well.
fn known(catalog: &Catalog, path: &Path) -> Option<Known> {
    let (root, below) = catalog.root_of(path).ok()?;
    let whole = root.path_of(&below);
    catalog.not_well_after(0, usize::MAX).ok()?.into_iter().find(|file| file.path == whole)
}

/// What to do with a path that is no file, where its folder of the catalog is there.
fn way_out(
    path: &Path,
    is_there: bool,
    known: impl FnOnce() -> Option<Known>,
    spoken: &Spoken<'_>,
) -> Option<String> {
    let say = |verb: &str| spoken.command(verb, None);
    let known = || known().filter(|file| file.status != Status::Missing);
    match path.symlink_metadata() {
        Err(_) if !is_there => None,
        Ok(it) if it.is_dir() => Some(format!(
            "is a folder, and files are accepted by their names: `{} PATH...`; `{}` tells which \
             are not well",
            say("accept"),
            say("report --bad")
        )),
        Err(error) if error.kind() == ErrorKind::NotFound => Some(match known() {
            Some(Known { elsewhere: Some(place), .. }) => {
                format!(
                    "is not there, and has another name now: `{}`",
                    spoken.command("accept", Some(&place))
                )
            }
            Some(file) if !file.is_gone => {
                format!(
                    "is not there, and may have another name now: `{}` looks for it",
                    say("audit")
                )
            }
            _ => format!(
                "is not there; if it was cataloged and is gone for good, `{}` takes it out",
                say("forget")
            ),
        }),
        _ => None,
    }
}
