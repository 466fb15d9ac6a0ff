//! `lanesum catalog import`: what lists say becomes the catalog's.

use std::collections::{BTreeMap, HashSet};
use std::fs::Metadata;
use std::io::{self, ErrorKind, IsTerminal as _};
use std::mem;
use std::os::unix::fs::MetadataExt as _;
use std::path::{self, Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;
use indicatif::HumanCount;
use lanesum_catalog::{Catalog, CatalogError, Import, Imported, Options, Policy, Root};
use lanesum_checksum::Algorithms;
use lanesum_checksum::check::{self, FormatOfList, List};
use lanesum_checksum::hints::{Lookup, NotFound};
use lanesum_list::{Dialect, Ending, Record};

use super::{
    DIFFERENCES, NOT_ALL_DONE, command, commands_for, fail, folder_at, is_there, look, name,
    no_folder, open, tell_of_new,
};
use crate::args::ImportArgs;
use crate::check::refuse_beside_stdin;
use crate::console::Console;
use crate::convert::Input;
use crate::counts::counted;
use crate::failure::Usage;
use crate::hints;
use crate::stdin;

/// Reads the lists, all of them before anything is written, and takes up what they say.
///
/// # Errors
/// What keeps it from beginning, and the first line of a list that is none.
pub fn run(args: &ImportArgs, console: &mut Console) -> anyhow::Result<ExitCode> {
    let Said { import, algorithms, empty, lacking } = read(args, console)?;
    if let Some(folder) = &args.add {
        // Else a wrong path would leave a catalog behind that knows of nothing.
        let whole = match folder_at(folder) {
            Ok(whole) => whole,
            Err(error) => return Ok(no_folder(&error, &args.place, console)),
        };
        if let Err(usage) = require_below(args, (folder, &whole), &import, console) {
            lacking.iter().for_each(|list| list.tell(args, console));
            return Err(usage.into());
        }
    }
    let verb = if args.add.is_some() { "add" } else { "import" };
    let was_there = is_there(&args.place)?;
    let taken = open(&args.place, verb)?.and_then(|mut catalog| {
        tell_of_new(&catalog, was_there, console);
        if let Some(folder) = &args.add {
            add(&mut catalog, folder, algorithms)?;
        }
        let mut told = Told::default();
        let mut other = None;
        let mut tell = |path: &Path, imported: Imported| {
            if imported == Imported::NotComparable {
                other.get_or_insert_with(|| path.to_owned());
            }
            told.tell(args, imported, path, console);
            Ok(())
        };
        catalog.import(import, &Options::default(), &mut tell)?;
        if let Some(path) = other {
            told.remedy = Some(to_compare(&catalog.root_of(&path)?.0, algorithms, args, console));
        }
        Ok(told)
    });
    let told = match taken {
        Ok(told) => told,
        Err(error) => return Ok(fail(&error, &args.place, console)),
    };
    told.tell_more(console);
    lacking.iter().for_each(|list| list.tell(args, console));
    let counts = told.counts;
    let update = command(&args.place, "update", console);
    console.message(summary(&counts, empty, &update).as_bytes());
    let count = |imported| counts.get(&imported).copied().unwrap_or(0);
    let are_bad = [Imported::Differs, Imported::Contradicted, Imported::Missing];
    Ok(if are_bad.into_iter().any(|imported| count(imported) > 0) {
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
) -> Result<(), Usage> {
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
    let (folder, first) = (console.shown(folder), console.shown(first));
    let hint = match &args.root {
        None if args.beside => "names are looked up beside their lists.",
        Some(_) => "is --root the folder that they are below?",
        None => "names are looked up in the current folder; --root DIR says where else.",
    };
    let words = format!("{lacks} of the lists is in it, the first is {first}: {hint}");
    Err(Usage(format!("{folder}: {words} Nothing was taken")))
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

/// What all lists say.
#[derive(Default)]
struct Said {
    import: Import,
    /// The algorithms of the digests.
    algorithms: Algorithms,
    /// How many of the lists are empty.
    empty: usize,
    /// Those with names that are not there.
    lacking: Vec<Lacking>,
}

/// A list with names that are not there.
struct Lacking {
    list: List,
    entries: u64,
    names: NotFound,
}

impl Lacking {
    /// Tells what these have in common.
    fn tell(&self, args: &ImportArgs, console: &mut Console) {
        let mut words = command(&args.place, "catalog import", console);
        words.drain(.."lanesum ".len());
        words.extend(args.add.as_ref().map(|folder| format!(" --add {}", hints::value(folder))));
        words += &hints::reading(args.algorithm, args.from, args.zero);
        let again = hints::Command { words, operand: " -", compared: None };
        hints::tell(&self.names, place(args, &self.list), self.entries, &again, console);
    }
}

/// Where the names of a list are looked up.
fn place<'a>(args: &'a ImportArgs, list: &'a List) -> Lookup<'a> {
    Lookup { list, root: args.root.as_deref(), is_beside: args.beside }
}

/// What came of files, each told, but of those that are alike in what was not taken the first ones.
#[derive(Default)]
struct Told {
    counts: BTreeMap<Imported, u64>,
    /// What was said of the last one that was told of those that are not all told.
    capped: BTreeMap<Imported, &'static str>,
    /// What lets those be held against the catalog that could not be.
    remedy: Option<String>,
}

/// What gives files of a root the digests that lists have.
fn to_compare(root: &Root, of_lists: Algorithms, args: &ImportArgs, console: &Console) -> String {
    let keyless = of_lists.iter().filter(|algorithm| !algorithm.needs_key());
    let [add, audit] = commands_for(&args.place, root, keyless.collect(), console);
    format!(
        "so that lists and catalog have digests in common, where all is as it was: `{add}`, then \
         `{audit}`; then import them again"
    )
}

/// So many files of which the same is to be said are told by their names.
const MOST_ALIKE: u64 = 20;

impl Told {
    fn tell(&mut self, args: &ImportArgs, imported: Imported, path: &Path, console: &mut Console) {
        let count = self.counts.entry(imported).or_insert(0);
        *count += 1;
        if imported.is_as_told() {
            return;
        }
        let words = words(args, imported, path);
        // What may be damage is told of each.
        let is_doubt = matches!(imported, Imported::Differs | Imported::Contradicted);
        if is_doubt || *count <= MOST_ALIKE {
            return console.about(name(path), words);
        }
        self.capped.entry(imported).or_insert(words);
    }

    /// Tells how many were not told.
    fn tell_more(&self, console: &mut Console) {
        for (imported, words) in &self.capped {
            let more = counted(self.counts[imported] - MOST_ALIKE, "more file", "more files");
            console.message(format!("{more}: {words}").as_bytes());
        }
        if let Some(words) = &self.remedy {
            console.message(words.as_bytes());
        }
    }
}

/// # Errors
/// The first line of a list that is none, and that no list has one.
fn read(args: &ImportArgs, console: &mut Console) -> anyhow::Result<Said> {
    let dialect = args.algorithm.map_or_else(Dialect::any, Dialect::untagged_as);
    let ending = if args.zero { Ending::Nul } else { Ending::Newline };
    let mut options = check::Options::default();
    options.dialect = dialect.with_ending(ending);
    options.from = args.from;
    options.root.clone_from(&args.root);
    options.beside = args.beside;
    let lists: Vec<_> = args.lists.iter().map(|path| stdin::list(path)).collect();
    refuse_beside_stdin(args.beside, &lists)?;
    let (mut said, mut raw_named, mut written) = (Said::default(), Vec::new(), Vec::new());
    let count = lists.len();
    for list in lists {
        if list == List::Stdin && io::stdin().is_terminal() {
            console.tell_list_is_awaited();
        }
        let mut input = Input::open(list.clone())?;
        let mut lacking = Lacking { list, entries: 0, names: NotFound::default() };
        input.each(&options, |record, format| {
            lacking.entries += 1;
            said.algorithms = said.algorithms.union(record.algorithms());
            match paths_of(&record, format, &options) {
                (path, None) => {
                    if path.symlink_metadata().is_err() {
                        let (place, told) = (place(args, &lacking.list), format.format.folder());
                        lacking.names.note(&record.name, told, place);
                        let file = place.written_otherwise(&record.name, told);
                        written.extend(file.map(|file| {
                            (path.clone(), options.path_in(&file, told, format.folder.as_deref()))
                        }));
                    }
                    said.import.add(path, &record);
                }
                (path, Some(raw)) => raw_named.push((path, raw, record.into_owned())),
            }
        })?;
        if lacking.entries == 0 {
            said.empty += 1;
            if said.empty == count {
                let words = "no checksum line in it; is it the right list, and whole?";
                bail!("{}: {words} Nothing was taken", input.name());
            }
            let words = "no checksum line in it, and left out; is it the right list, and whole?";
            console.message(format!("{}: {words}", input.name()).as_bytes());
        }
        said.lacking.push(lacking);
    }
    // What is the name of a line stands for no other.
    raw_named.iter_mut().for_each(|(path, raw, _)| {
        if !said.import.knows(raw) {
            mem::swap(path, raw);
        }
    });
    raw_named.into_iter().for_each(|(path, _, record)| said.import.add(path, &record));
    // Nor does a file that a list names as it is called, by whatever path.
    if !written.is_empty() {
        let named: HashSet<_> = said.import.paths().filter_map(file_at).collect();
        written.retain(|(_, file): &(PathBuf, PathBuf)| {
            file_at(file).is_some_and(|file| !named.contains(&file))
        });
    }
    written.iter().for_each(|(path, _)| said.import.note_written_otherwise(path));
    Ok(said)
}

/// Which regular file is at a path.
fn file_at(path: &Path) -> Option<(u64, u64)> {
    let found = path.metadata().ok().filter(Metadata::is_file)?;
    Some((found.dev(), found.ino()))
}

/// Where the file of a record is, as to `lanesum check`; and where it is if its name is as it
/// stands, not encoded, where only that is there.
fn paths_of(
    record: &Record<'_>,
    format: &FormatOfList,
    options: &check::Options,
) -> (PathBuf, Option<PathBuf>) {
    let path =
        |name: &[u8]| options.path_in(name, format.format.folder(), format.folder.as_deref());
    let is_there = |path: &Path| path.symlink_metadata().is_ok();
    let whole = path(&record.name);
    let raw = record.raw_name.as_ref().filter(|_| !is_there(&whole)).map(|raw| path(raw));
    let raw = raw.filter(|raw| is_there(raw));
    (whole, raw)
}

fn words(args: &ImportArgs, imported: Imported, path: &Path) -> &'static str {
    match imported {
        Imported::NoFile => match path.symlink_metadata() {
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                "NOT taken: there is no such file"
            }
            Err(_) => "NOT taken: it cannot be looked at",
            Ok(_) => "NOT taken: there is no regular file, and links are not followed",
        },
        Imported::Missing => {
            "MISSING: there is no such file; it stands as missing until it is back, or forgotten"
        }
        Imported::Differs => {
            "DIFFERS: its cataloged digest, which stays, is another than that of the list"
        }
        Imported::NotComparable => "is cataloged with digests of other algorithms, which stay",
        Imported::Contradicted => {
            "the lists contradict one another: it is cataloged as the first of them has it"
        }
        Imported::NothingSaid => "NOT taken: the list has no digest of it that can be cataloged",
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
        Imported::Suspended => "NOT taken: the folder is not there, or another is in its place",
        _ => "",
    }
}

/// All of it in a line; what is taken is never called well.
fn summary(counts: &BTreeMap<Imported, u64>, empty: usize, update: &str) -> String {
    let is_whole = empty == 0 && counts.keys().all(|imported| imported.is_heard());
    let parts = counts.iter().map(|(imported, count)| {
        let words = match imported {
            Imported::Taken => {
                &format!("taken from lists, and not read yet: `{update}` reads them")
            }
            Imported::Known => "as cataloged",
            Imported::Differs if *count == 1 => "DIFFERS from what is cataloged",
            Imported::Differs => "DIFFER from what is cataloged",
            Imported::NotComparable => "cataloged with other algorithms",
            Imported::Contradicted => "contradicted",
            Imported::Missing => "MISSING",
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
