//! `lanesum catalog import`: what lists say becomes the catalog's.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, IsTerminal as _};
use std::mem;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{self, Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;
use indicatif::HumanCount;
use lanesum_catalog::{Catalog, CatalogError, Import, Imported, Options, Policy};
use lanesum_checksum::Algorithms;
use lanesum_checksum::check::{self, FormatOfList, List};
use lanesum_list::{Dialect, Ending, Record};

use super::{
    DIFFERENCES, NOT_ALL_DONE, command, fail, folder_at, is_there, look, name, no_folder, open,
    tell_of_new,
};
use crate::args::ImportArgs;
use crate::console::Console;
use crate::convert::Input;
use crate::failure::Usage;
use crate::{hints, stdin};

/// Reads the lists, all of them before anything is written, and takes up what they say.
///
/// # Errors
/// What keeps it from beginning, and the first line of a list that is none.
pub fn run(args: &ImportArgs, console: &mut Console) -> anyhow::Result<ExitCode> {
    let (import, algorithms, empty) = read(args, console)?;
    if let Some(folder) = &args.add {
        // Else a wrong path would leave a catalog behind that knows of nothing.
        let whole = match folder_at(folder) {
            Ok(whole) => whole,
            Err(error) => return Ok(no_folder(&error, &args.place, console)),
        };
        require_below(args, (folder, &whole), &import, console)?;
    }
    let verb = if args.add.is_some() { "add" } else { "import" };
    let was_there = is_there(&args.place)?;
    let taken = open(&args.place, verb)?.and_then(|mut catalog| {
        tell_of_new(&catalog, was_there, console);
        if let Some(folder) = &args.add {
            add(&mut catalog, folder, algorithms)?;
        }
        let mut counts = BTreeMap::new();
        let mut tell = |path: &Path, imported: Imported| {
            *counts.entry(imported).or_insert(0_u64) += 1;
            if !imported.is_as_told() {
                console.about(name(path), words(args, imported, path));
            }
            Ok(())
        };
        catalog.import(import, &Options::default(), &mut tell)?;
        Ok(counts)
    });
    let counts = match taken {
        Ok(counts) => counts,
        Err(error) => return Ok(fail(&error, &args.place, console)),
    };
    let update = command(&args.place, "update", console);
    console.message(summary(&counts, empty, &update).as_bytes());
    let count = |imported| counts.get(&imported).copied().unwrap_or(0);
    Ok(if count(Imported::Differs) + count(Imported::Contradicted) > 0 {
        ExitCode::FAILURE
    } else if empty > 0 || counts.keys().any(|imported| !imported.is_as_told()) {
        ExitCode::from(NOT_ALL_DONE)
    } else if count(Imported::Taken) > 0 {
        ExitCode::from(DIFFERENCES)
    } else {
        ExitCode::SUCCESS
    })
}

/// That a folder which is to be taken up has a file that the lists name: else names are below
/// another folder than this program looks in, nothing of the lists would be in the catalog, and
/// whatever is there would be new.
fn require_below(
    args: &ImportArgs,
    (folder, whole): (&Path, &Path),
    import: &Import,
    console: &Console,
) -> anyhow::Result<()> {
    let is_in_it = |path: &Path| path.canonicalize().is_ok_and(|path| path.starts_with(whole));
    let is_below = |path: &Path| path::absolute(path).is_ok_and(|path| path.starts_with(whole));
    let is_cataloged = || {
        let roots = look(&args.place).ok()?.ok()?.roots().ok()?;
        Some(roots.iter().any(|root| root.path == whole))
    };
    if import.paths().any(is_in_it) || is_cataloged() == Some(true) {
        return Ok(());
    }
    let lacks = if import.paths().any(is_below) { "no file" } else { "no name" };
    let first = import.paths().next().unwrap_or(Path::new(""));
    let is_of_windows = hints::is_of_windows(name(first));
    let (folder, first) = (console.shown(folder), console.shown(first));
    let hint = match args.root {
        _ if is_of_windows => {
            "its name has backslashes, as Windows has them; tr '\\\\' / <LIST makes them slashes."
        }
        Some(_) => "is --root the folder that they are below?",
        None => "names are looked up in the current folder; --root DIR says where else.",
    };
    let words = format!("{lacks} of the lists is in it, the first is {first}: {hint}");
    Err(Usage(format!("{folder}: {words} Nothing was taken")).into())
}

/// Takes a folder up without reading it, to compute what the lists have.
fn add(catalog: &mut Catalog, folder: &Path, algorithms: Algorithms) -> Result<(), CatalogError> {
    match catalog.root_of(folder) {
        Ok((_, below)) if below.is_empty() => return Ok(()),
        Ok(_) | Err(CatalogError::NoRoot(_)) => {}
        Err(error) => return Err(error),
    }
    let keyless = algorithms.iter().filter(|algorithm| !algorithm.needs_key());
    let algorithms: Algorithms = keyless.collect();
    let mut policy = Policy::default();
    if !algorithms.is_empty() {
        policy.algorithms = algorithms;
    }
    catalog.add_root(folder, policy).map(drop)
}

/// What all lists say, the algorithms of their digests, and how many of the lists are empty.
fn read(args: &ImportArgs, console: &mut Console) -> anyhow::Result<(Import, Algorithms, usize)> {
    let dialect = args.algorithm.map_or_else(Dialect::any, Dialect::untagged_as);
    let ending = if args.zero { Ending::Nul } else { Ending::Newline };
    let mut options = check::Options::default();
    options.dialect = dialect.with_ending(ending);
    options.from = args.from;
    options.root.clone_from(&args.root);
    let (mut import, mut algorithms) = (Import::default(), Algorithms::NONE);
    let (mut raw_named, mut empty) = (Vec::new(), 0);
    for path in &args.lists {
        let list = stdin::list(path);
        if list == List::Stdin && io::stdin().is_terminal() {
            console.tell_list_is_awaited();
        }
        let mut input = Input::open(list)?;
        let mut is_empty = true;
        input.each(&options, |record, format| {
            is_empty = false;
            algorithms = algorithms.union(record.algorithms());
            match paths_of(&record, format, &options) {
                (path, None) => import.add(path, &record),
                (path, Some(raw)) => raw_named.push((path, raw, record.into_owned())),
            }
        })?;
        if is_empty {
            empty += 1;
            if empty == args.lists.len() {
                let words = "no checksum line in it; is it the right list, and whole?";
                bail!("{}: {words} Nothing was taken", input.name());
            }
            let words = "no checksum line in it, and left out; is it the right list, and whole?";
            console.message(format!("{}: {words}", input.name()).as_bytes());
        }
    }
    // What is the name of a line stands for no other.
    raw_named.iter_mut().for_each(|(path, raw, _)| {
        if !import.knows(raw) {
            mem::swap(path, raw);
        }
    });
    raw_named.into_iter().for_each(|(path, _, record)| import.add(path, &record));
    Ok((import, algorithms, empty))
}

/// Where the file of a record is, as to `lanesum check`; and where it is if its name is as it
/// stands, not encoded, where only that is there.
fn paths_of(
    record: &Record<'_>,
    format: &FormatOfList,
    options: &check::Options,
) -> (PathBuf, Option<PathBuf>) {
    let told = format.format.folder().map(|folder| Path::new(OsStr::from_bytes(folder)));
    let folder = told.or(format.folder.as_deref());
    let path = |name: &[u8]| match folder {
        Some(folder) if options.root.is_none() => folder.join(options.path(name)),
        _ => options.path(name),
    };
    let is_there = |path: &Path| path.symlink_metadata().is_ok();
    let whole = path(&record.name);
    let raw = record.raw_name.as_ref().filter(|_| !is_there(&whole)).map(|raw| path(raw));
    let raw = raw.filter(|raw| is_there(raw));
    (whole, raw)
}

fn words(args: &ImportArgs, imported: Imported, path: &Path) -> &'static str {
    let is_of_windows =
        || path.file_name().is_some_and(|name| hints::is_of_windows(name.as_bytes()));
    match imported {
        Imported::NoFile | Imported::NoRoot if is_of_windows() => {
            "NOT taken: its name has backslashes, as Windows has them; tr '\\\\' / <LIST makes them \
             slashes"
        }
        Imported::NoFile if path.symlink_metadata().is_err() => "NOT taken: there is no such file",
        Imported::Differs => {
            "DIFFERS: its cataloged digest, which stays, is another than that of the list"
        }
        Imported::NotComparable => "is cataloged with digests of other algorithms, which stay",
        Imported::Contradicted => "NOT taken: the lists contradict one another",
        Imported::NothingSaid => "NOT taken: the list has no digest of it that can be cataloged",
        Imported::NoFile => "NOT taken: there is no regular file, and links are not followed",
        Imported::Mounted => {
            "NOT taken: something is mounted there, which is no part of the folder"
        }
        Imported::NoRoot if args.add.is_some() => {
            "NOT taken: it is in no folder of the catalog, nor in that of --add; --root DIR says \
             where names are"
        }
        Imported::NoRoot => {
            "NOT taken: it is in no folder of the catalog; --add DIR takes one up, --root DIR says \
             where names are"
        }
        Imported::Suspended => "NOT taken: another volume or another folder is there",
        _ => "",
    }
}

/// All of it in a line; what is taken is never called well.
fn summary(counts: &BTreeMap<Imported, u64>, empty: usize, update: &str) -> String {
    let is_whole = empty == 0 && counts.keys().all(|imported| imported.is_as_told());
    let parts = counts.iter().map(|(imported, count)| {
        let words = match imported {
            Imported::Taken => {
                &format!("taken from lists, and not read yet: `{update}` reads them")
            }
            Imported::Known => "as cataloged",
            Imported::Differs => "DIFFER from what is cataloged",
            Imported::NotComparable => "cataloged with other algorithms",
            Imported::Contradicted => "contradicted",
            Imported::NoFile => "without a file",
            Imported::NoRoot => "in no folder of the catalog",
            _ => "not taken",
        };
        format!("{} {words}", HumanCount(*count))
    });
    let mut parts: Vec<_> = parts.collect();
    if empty > 0 {
        let word = if empty == 1 { "list" } else { "lists" };
        parts.push(format!("{empty} {word} without a line left out"));
    }
    let complete = if is_whole { "complete" } else { "NOT complete" };
    format!("import {complete}: {}", parts.join(", "))
}
