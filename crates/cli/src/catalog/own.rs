//! `lanesum catalog`: the catalog itself.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use lanesum_catalog::CatalogError;
use lanesum_list::Record;
use lanesum_list::formats::{Kind, Layout};

use super::print::whole;
use super::{OF_CATALOG, console, fail, import, look, name};
use crate::args::{CatalogArgs, CatalogVerb, Where};
use crate::console::{Console, lock};
use crate::failure::Usage;

/// Does what was asked for.
///
/// # Errors
/// What keeps it from beginning.
pub fn run(args: &CatalogArgs) -> anyhow::Result<ExitCode> {
    let console = console()?;
    let mut console = lock(&console);
    match &args.verb {
        CatalogVerb::Check { place } => check(place, &mut console),
        CatalogVerb::Backup { place, to } => backup(place, to, &mut console),
        CatalogVerb::Import(args) => import::run(args, &mut console),
        CatalogVerb::Export { format, place, folder } => {
            export(place, *format, folder, &mut console)
        }
    }
}

fn check(place: &Where, console: &mut Console) -> anyhow::Result<ExitCode> {
    let (catalog, wrong) = match look(place)?.and_then(|it| it.check().map(|wrong| (it, wrong))) {
        Ok(checked) => checked,
        Err(error) => return Ok(fail(&error, console)),
    };
    for words in &wrong {
        console.line(format!("{words}\n").as_bytes())?;
    }
    console.flush()?;
    let path = name(catalog.path());
    if wrong.is_empty() {
        console.about(path, "check complete: every row has its seal");
        return Ok(ExitCode::SUCCESS);
    }
    console.about(path, "the catalog is damaged; put back a copy that `catalog backup` made");
    Ok(ExitCode::from(OF_CATALOG))
}

fn backup(place: &Where, to: &Path, console: &mut Console) -> anyhow::Result<ExitCode> {
    match look(place)?.and_then(|catalog| catalog.backup(to)) {
        Ok(()) => {
            console.about(name(to), "the copy is complete, checked and on the medium");
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => Ok(fail(&error, console)),
    }
}

fn export(
    place: &Where,
    kind: Option<Kind>,
    folder: &Path,
    console: &mut Console,
) -> anyhow::Result<ExitCode> {
    let found = look(place)?.and_then(|catalog| {
        let (root, below) = catalog.root_of(folder)?;
        if below.is_empty() {
            Ok((catalog, root))
        } else {
            Err(CatalogError::NoRoot(folder.into()))
        }
    });
    let (catalog, root) = match found {
        Ok(found) => found,
        Err(error) => return Ok(fail(&error, console)),
    };
    let algorithms = root.policy.algorithms;
    let one = algorithms.iter().count() == 1;
    let kind = kind.unwrap_or(if one { Kind::Gnu } else { Kind::Tag });
    let format =
        kind.writer(&Layout::new(algorithms)).map_err(|cannot| Usage(cannot.to_string()))?;
    let mut text = Vec::new();
    format.begin(&mut text);
    let (mut is_first, mut failed) = (true, false);
    let mut take = |record: Record<'_>| -> io::Result<()> {
        let path = whole(folder, &record.name);
        let record = Record { name: path.as_slice().into(), ..record };
        if !is_first {
            text.extend_from_slice(format.separator());
        }
        match format.record(&mut text, &record) {
            Ok(()) => is_first = false,
            Err(cannot) => {
                failed = true;
                console.about(&record.name, &cannot.to_string());
            }
        }
        let written = console.line(&text);
        text.clear();
        written
    };
    let taken = catalog.records(&root, &mut take);
    format.end(&mut text);
    let written = taken.and_then(|()| {
        console.line(&text).and_then(|()| console.flush()).map_err(CatalogError::Told)
    });
    Ok(match written {
        Ok(()) if failed => ExitCode::FAILURE,
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error, console),
    })
}
