//! `lanesum catalog`: the catalog itself.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use lanesum_catalog::{Catalog, CatalogError, Root};
use lanesum_checksum::Algorithms;

use lanesum_list::formats::{CannotHold, Format, Kind, Layout};
use lanesum_list::{Dialect, Record};

use super::print::whole;
use super::{
    OF_CATALOG, command, commands_for, console_while, fail, fail_at, import, look, name, path,
};
use crate::args::{CatalogArgs, CatalogVerb, Export, Where};
use crate::console::{Console, lock};
use crate::counts::{counted, files};
use crate::failure::Usage;
use crate::stdin;

/// Does what was asked for.
///
/// # Errors
/// What keeps it from beginning.
pub fn run(args: &CatalogArgs) -> anyhow::Result<ExitCode> {
    let reads_stdin = match &args.verb {
        CatalogVerb::Import(args) => args.lists.iter().any(|list| stdin::is_meant_by(list)),
        _ => false,
    };
    let console = console_while(reads_stdin)?;
    let mut console = lock(&console);
    match &args.verb {
        CatalogVerb::Check { place } => check(place, &mut console),
        CatalogVerb::Backup { place, to } => backup(place, to, &mut console),
        CatalogVerb::Import(args) => import::run(args, &mut console),
        CatalogVerb::Export(args) => export(args, &mut console),
    }
}

fn check(place: &Where, console: &mut Console) -> anyhow::Result<ExitCode> {
    let (catalog, wrong) = match look(place)?.and_then(|it| it.check().map(|wrong| (it, wrong))) {
        Ok(checked) => checked,
        // There is nothing more to tell.
        Err(CatalogError::Damaged(what)) => {
            return Ok(damaged(place, &path(place)?, &what, console));
        }
        Err(error) => return Ok(fail(&error, place, console)),
    };
    for words in &wrong {
        console.line(format!("{words}\n").as_bytes())?;
    }
    console.flush()?;
    if wrong.is_empty() {
        console.about(name(catalog.path()), "check complete: every row has its seal");
        return Ok(ExitCode::SUCCESS);
    }
    let findings = counted(wrong.len() as u64, "finding", "findings");
    Ok(damaged(place, catalog.path(), &findings, console))
}

fn damaged(place: &Where, path: &Path, what: &str, console: &mut Console) -> ExitCode {
    let words = format!(
        "the catalog is damaged: {what}; put back a copy that `{}` made, after you removed the \
         catalog, its -wal and its -shm",
        command(place, "catalog backup", console)
    );
    console.about(name(path), &words);
    ExitCode::from(OF_CATALOG)
}

fn backup(place: &Where, to: &Path, console: &mut Console) -> anyhow::Result<ExitCode> {
    if to == Path::new("-") {
        let words = "-: a backup is a file, and standard output is none; name one";
        return Err(Usage(words.to_owned()).into());
    }
    match look(place)?.and_then(|catalog| catalog.backup(to)) {
        Ok(()) => {
            console.about(name(to), "the copy is complete, checked and on the medium");
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => Ok(fail(&error, place, console)),
    }
}

fn export(args: &Export, console: &mut Console) -> anyhow::Result<ExitCode> {
    let folder = args.folder.as_path();
    let catalog = match look(&args.place)? {
        Ok(catalog) => catalog,
        Err(error) => return Ok(fail(&error, &args.place, console)),
    };
    let found = catalog.root_of(folder).and_then(|(root, below)| match below.is_empty() {
        true => Ok(root),
        false => Err(CatalogError::NotARoot { path: folder.into(), root: root.path }),
    });
    let root = match found {
        Ok(root) => root,
        Err(error) => return Ok(fail_at(&error, &catalog, &args.place, console)),
    };
    let algorithms = match args.algorithm {
        Some(algorithm) => algorithm.into(),
        None => match algorithms(&catalog, &root) {
            Ok(algorithms) => algorithms,
            Err(error) => return Ok(fail(&error, &args.place, console)),
        },
    };
    let one = algorithms.iter().count() == 1;
    // Digits of another length, or of another algorithm's, do not tell of which they are.
    let is_told = algorithms.iter().all(|algorithm| Dialect::any().tells(algorithm));
    let kind = args.format.unwrap_or(if one && is_told { Kind::Gnu } else { Kind::Tag });
    let format =
        kind.writer(&Layout::new(algorithms)).map_err(|cannot| Usage(remedy(&cannot, !one)))?;
    let before = if args.relative { Path::new("") } else { folder };
    let written = write_list(&catalog, &root, (before, algorithms), &*format, console);
    if let Ok(Written { lacking: count @ 1.., .. }) = written {
        let commands = commands_for(&args.place, &root, algorithms, console);
        let words = without_digest(&root, algorithms, count, &commands);
        console.about(name(folder), &words);
    }
    let doubtful = written.as_ref().map_or(Ok(0), |_| doubtful(&catalog, &root));
    if let Ok(count @ 1..) = doubtful {
        let (files, are) = (files(count), if count == 1 { "is" } else { "are" });
        let words = format!(
            "{files} {are} not well, or never read: the list has what was cataloged of them last"
        );
        console.about(name(folder), &words);
    }
    Ok(match doubtful.and(written) {
        Ok(Written { lacking: 0, unfit: 0 }) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => fail(&error, &args.place, console),
    })
}

/// Files that are not in a list.
#[derive(Default)]
struct Written {
    /// Those without a digest of its algorithms.
    lacking: u64,
    /// Those that its format cannot hold.
    unfit: u64,
}

/// Writes what is cataloged of a root as a list, with digests of these algorithms and this path
/// before the names.
fn write_list(
    catalog: &Catalog,
    root: &Root,
    (before, algorithms): (&Path, Algorithms),
    format: &dyn Format,
    console: &mut Console,
) -> Result<Written, CatalogError> {
    let mut text = Vec::new();
    format.begin(&mut text);
    let (mut is_first, mut written) = (true, Written::default());
    let mut take = |record: Record<'_>| -> io::Result<()> {
        let path = whole(before, &record.name);
        let digests = record.digests.iter().filter(|it| algorithms.contains(it.algorithm()));
        let digests = digests.copied().collect();
        let record = Record { name: path.as_slice().into(), digests, ..record };
        if record.digests.is_empty() {
            written.lacking += 1;
            return Ok(());
        }
        if !is_first {
            text.extend_from_slice(format.separator());
        }
        match format.record(&mut text, &record) {
            Ok(()) => is_first = false,
            Err(cannot) => {
                written.unfit += 1;
                console.about(&record.name, &cannot.to_string());
            }
        }
        let printed = console.line(&text);
        text.clear();
        printed
    };
    catalog.records(root, &mut take)?;
    format.end(&mut text);
    console.line(&text).and_then(|()| console.flush()).map_err(CatalogError::Told)?;
    Ok(written)
}

/// Why so many files are in no list of these algorithms, and what adds their digests.
fn without_digest(
    root: &Root,
    algorithms: Algorithms,
    count: u64,
    [add, audit]: &[String; 2],
) -> String {
    let files = files(count);
    let (have, are) = if count == 1 { ("has", "is") } else { ("have", "are") };
    let lacking: Vec<_> = algorithms.iter().map(|it| it.to_string()).collect();
    let lacking = lacking.join(" and no ");
    let computed = root.policy.algorithms;
    if algorithms.iter().all(|algorithm| computed.contains(algorithm)) {
        return format!(
            "{files} {have} no {lacking} yet and {are} left out; `{audit}` adds it where all is as \
             it was"
        );
    }
    format!(
        "{files} {have} no {lacking} and {are} left out; `{add}`, then `{audit}` add it where all is \
         as it was"
    )
}

/// All algorithms that files of a root have digests of.
fn algorithms(catalog: &Catalog, root: &Root) -> Result<Algorithms, CatalogError> {
    let mut all = root.policy.algorithms;
    catalog.records(root, &mut |record| {
        all = all.union(record.algorithms());
        Ok(())
    })?;
    Ok(all)
}

/// How many files of a root are not well, or were never read.
fn doubtful(catalog: &Catalog, root: &Root) -> Result<u64, CatalogError> {
    let not_well = catalog.not_well()?;
    let not_well = not_well.iter().filter(|file| root.below(&file.path).is_some()).count();
    Ok(catalog.never_read(root)? + not_well as u64)
}

fn remedy(cannot: &CannotHold, is_of_several: bool) -> String {
    let more = if is_of_several { "; --algorithm chooses one" } else { "" };
    format!("{cannot}{more}")
}
