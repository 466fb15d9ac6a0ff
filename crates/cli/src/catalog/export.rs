//! `lanesum catalog export`: prints the records of a root as a checksum list.

use std::io;
use std::path::Path;

use lanesum_catalog::{Catalog, CatalogError, Class, Root};
use lanesum_checksum::Algorithms;
use lanesum_list::formats::{Format, Kind, Layout};
use lanesum_list::{Dialect, Record};

use super::commands::Commands;
use super::errors::print_hint;
use super::print::{name, path_below};
use super::targets::roots;
use super::{Code, now, place};
use crate::args::Export;
use crate::console::Console;
use crate::counts::files;
use crate::failure::Usage;

/// Prints a list.
///
/// # Errors
/// Errors of the catalog, and wrong usage.
pub fn run(args: &Export, console: &mut Console) -> anyhow::Result<Code> {
    let directory = args.directory.as_path();
    let catalog = place::look(&args.place)?;
    let commands = Commands { place: &args.place, console };
    let roots = roots(&catalog, std::slice::from_ref(&args.directory), commands)?;
    let root = roots.into_iter().next().expect("one was named");
    let algorithms = match args.algorithm {
        Some(algorithm) => algorithm.into(),
        None => algorithms(&catalog, &root)?,
    };
    let one = algorithms.iter().count() == 1;
    // The number of digits does not identify each algorithm.
    let is_told = algorithms.iter().all(|algorithm| Dialect::any().identifies(algorithm));
    let kind = args.format.unwrap_or(if one && is_told { Kind::Gnu } else { Kind::Tag });
    let format = kind.writer(&Layout::new(algorithms)).map_err(|cannot| {
        let more = if one { "" } else { "; choose one algorithm with --algorithm" };
        Usage(format!("{cannot}{more}"))
    })?;
    let before = if args.relative { Path::new("") } else { directory };
    let written = write_list(&catalog, &root, (before, algorithms), &*format, console)?;
    if written.lacking > 0 {
        let missing: Vec<_> = algorithms.iter().map(|it| it.to_string()).collect();
        let words =
            format!("{} without {} left out", files(written.lacking), missing.join(" and "));
        console.about(name(directory), &words);
        let commands = Commands { place: &args.place, console };
        let all = root.settings.algorithms.union(algorithms);
        let all: Vec<_> = all.iter().map(|it| it.to_string()).collect();
        let add = commands.about(&format!("add -a {}", all.join(",")), &root.path);
        let verify = commands.about("verify", &root.path);
        print_hint(&format!("to record these digests: {add} && {verify}"), console);
    }
    let doubtful = not_ok(&catalog, &root)?;
    if doubtful > 0 {
        let words =
            format!("the list has the recorded digests of {} with problems", files(doubtful));
        console.about(name(directory), &words);
    }
    let is_whole = written.lacking + written.unfit == 0;
    Ok(if is_whole { Code::Nothing } else { Code::Incomplete })
}

/// The numbers of files that are not in a list.
#[derive(Default)]
struct Written {
    /// Files without a digest of its algorithms.
    lacking: u64,
    /// Files that its format cannot hold.
    unfit: u64,
}

/// Writes the records of a root as a list, with digests of these algorithms, and with this path
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
        let path = path_below(before, &record.name);
        let digests = record.digests.iter().filter(|it| algorithms.contains(it.algorithm()));
        let digests = digests.copied().collect();
        let record = Record { name: name(&path).into(), digests, ..record };
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
    console.line(&text).and_then(|()| console.flush()).map_err(CatalogError::Output)?;
    Ok(written)
}

/// Returns all algorithms of the digests of a root's files.
fn algorithms(catalog: &Catalog, root: &Root) -> Result<Algorithms, CatalogError> {
    let mut all = root.settings.algorithms;
    catalog.records(root, &mut |record| {
        all = all.union(record.algorithms());
        Ok(())
    })?;
    Ok(all)
}

/// Returns the number of damaged, missing or unchecked files of a root.
fn not_ok(catalog: &Catalog, root: &Root) -> Result<u64, CatalogError> {
    let all = catalog.status(now())?;
    let it = all.iter().find(|it| it.root.id() == root.id());
    let bad = [Class::Damaged, Class::Missing, Class::Unchecked];
    Ok(it.map_or(0, |it| bad.iter().filter_map(|class| it.standing.get(class)).sum()))
}
