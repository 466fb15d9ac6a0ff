//! `lanesum catalog import`: records the digests of checksum lists.

mod lists;

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};

use indicatif::HumanCount;
use jiff::tz::TimeZone;
use lanesum_catalog::{Catalog, Import, Imported, Options, Settings};
use lanesum_checksum::Algorithms;

use super::commands::Commands;
use super::errors::print_hint;
use super::print::name;
use super::{Code, add, place};
use crate::args::ImportArgs;
use crate::console::Console;
use crate::counts::counted;
use crate::failure::Hinted;
use crate::hints;
use lists::Lists;

/// The number of files with the same result that are printed one by one.
const MOST: u64 = 20;

/// Reads all lists, then records their digests.
///
/// # Errors
/// Errors of the catalog, wrong usage, and the first invalid line of a list.
pub fn run(args: &ImportArgs, console: &mut Console) -> anyhow::Result<Code> {
    let lists = Lists::read(args, console)?;
    if let Some(directory) = &args.add {
        add::require_directories(std::slice::from_ref(directory))?;
        if let Err(error) = require_below(args, directory, &lists, console) {
            lists.tell_lacking(args, console);
            return Err(error);
        }
    }
    let mut catalog = match &args.add {
        Some(directory) => open_with(args, directory, lists.algorithms, console)?,
        None => place::open(&args.place, "import")?,
    };
    let mut import = Import::default();
    let here = env::current_dir().unwrap_or_default();
    lists.entries.iter().for_each(|(path, record)| import.add(here.join(path), record));
    let mut options = Options::default();
    options.zone = TimeZone::system();
    let mut results = Results::default();
    catalog.import(import, args.replace, &options, &mut |path, imported| {
        // The name in the list.
        results.tell(imported, path.strip_prefix(&here).unwrap_or(path), console);
        Ok(())
    })?;
    results.tell_more(console);
    lists.tell_lacking(args, console);
    console.message(results.summary(lists.empty).as_bytes());
    if let Some(hint) = results.hint(args, console) {
        print_hint(&hint, console);
    }
    Ok(results.code(lists.empty))
}

/// Opens the catalog with this directory as a root. An existing root keeps its settings.
fn open_with(
    args: &ImportArgs,
    directory: &Path,
    algorithms: Algorithms,
    console: &mut Console,
) -> anyhow::Result<Catalog> {
    let mut catalog = place::ForAdd::open(&args.place)?;
    if add::known(catalog.catalog(), directory)?.is_none() {
        let mut settings = Settings::default();
        let keyless = algorithms.iter().filter(|algorithm| !algorithm.needs_key());
        let keyless: Algorithms = keyless.collect();
        if !keyless.is_empty() {
            settings.algorithms = keyless;
        }
        catalog.catalog().add_roots(&[(directory, settings)])?;
    }
    if let Some(path) = catalog.created() {
        console.about(name(path), "created the catalog");
    }
    Ok(catalog.keep())
}

/// Checks that the lists name a file in the directory to add. Otherwise names are looked up in the
/// wrong directory, and every file would be new.
fn require_below(
    args: &ImportArgs,
    directory: &Path,
    lists: &Lists,
    console: &Console,
) -> anyhow::Result<()> {
    let whole = directory.canonicalize().unwrap_or_default();
    let is_in_it = |path: &Path| path.canonicalize().is_ok_and(|path| path.starts_with(&whole));
    if lists.paths().any(is_in_it) {
        return Ok(());
    }
    let first = lists.paths().next().unwrap_or(Path::new(""));
    let hint = match &args.root {
        None if args.beside => "names are looked up beside their lists",
        Some(_) => "names are looked up in the directory of --root",
        None => "names are looked up in the current directory; --root DIR names another",
    };
    let (directory, first) = (console.shown(directory), console.shown(first));
    let words = format!("{directory}: contains none of the listed files; the first is {first}");
    Err(Hinted { words, hint: hint.to_owned() }.into())
}

/// Prints the results of the listed files.
#[derive(Default)]
struct Results {
    counts: BTreeMap<Imported, u64>,
    /// The first files whose content differs from their records.
    changed: Vec<PathBuf>,
}

/// Returns whether each file with this result is printed.
const fn is_printed_always(imported: Imported) -> bool {
    matches!(imported, Imported::Differs | Imported::Conflict | Imported::Changed)
}

impl Results {
    fn tell(&mut self, imported: Imported, path: &Path, console: &mut Console) {
        let count = self.counts.entry(imported).or_insert(0);
        *count += 1;
        if imported == Imported::Changed && *count <= MOST {
            self.changed.push(path.to_owned());
        }
        let is_printed = is_printed_always(imported) || *count <= MOST;
        if let Some(words) = problem(imported).filter(|_| is_printed) {
            console.about(name(path), words);
        }
    }

    /// Prints the number of files that were not printed.
    fn tell_more(&self, console: &mut Console) {
        for (imported, count) in &self.counts {
            let is_cut = !is_printed_always(*imported) && *count > MOST;
            if let Some(words) = problem(*imported).filter(|_| is_cut) {
                let more = counted(count - MOST, "more file", "more files");
                console.message(format!("{more}: {words}").as_bytes());
            }
        }
    }

    fn count(&self, imported: Imported) -> u64 {
        self.counts.get(&imported).copied().unwrap_or(0)
    }

    /// `import: 2 recorded, 1 damaged`.
    fn summary(&self, empty: usize) -> String {
        let mut parts: Vec<_> = self
            .counts
            .iter()
            .map(|(imported, count)| format!("{} {}", HumanCount(*count), word(*imported)))
            .collect();
        if empty > 0 {
            parts.push(counted(empty as u64, "empty list", "empty lists"));
        }
        format!("import: {}", parts.join(", "))
    }

    fn hint(&self, args: &ImportArgs, console: &Console) -> Option<String> {
        let commands = Commands { place: &args.place, console };
        if self.count(Imported::Changed) > 0 {
            // Many paths are no command to paste.
            let are_all = self.count(Imported::Changed) <= MOST;
            let paths = self.changed.iter().filter(|_| are_all);
            let paths: String = paths.map(|path| format!(" {}", hints::value(path))).collect();
            let verify = commands.of("verify");
            return Some(format!("to find out whether it is damage: {verify}{paths}"));
        }
        if self.count(Imported::Conflict) > 0 {
            let again = commands.of("catalog import --replace");
            return Some(format!("if the lists are right: {again}{}", operands(args, console)));
        }
        if self.count(Imported::Differs) > 0 {
            return Some(format!("what to do about damaged files: {}", commands.of("report")));
        }
        let hint = "to record the listed files: --add DIR, and --root DIR if the list's names are relative to DIR";
        (self.count(Imported::NoRoot) > 0).then(|| hint.to_owned())
    }

    fn code(&self, empty: usize) -> Code {
        let is_any = |all: &[Imported]| all.iter().any(|imported| self.count(*imported) > 0);
        let gaps = [Imported::NoRoot, Imported::Offline, Imported::Unreadable];
        let problems =
            [Imported::Differs, Imported::Conflict, Imported::Contradicted, Imported::Changed];
        if is_any(&problems) || is_any(&[Imported::Missing]) {
            Code::Problem
        } else if is_any(&gaps) || empty > 0 {
            Code::Incomplete
        } else {
            Code::Nothing
        }
    }
}

/// Returns the options and lists of the command line.
fn operands(args: &ImportArgs, console: &Console) -> String {
    let mut words = hints::reading(args.algorithm, args.from, args.zero);
    words.extend(args.root.as_ref().map(|root| format!(" --root {}", hints::value(root))));
    if args.beside {
        words += " --beside";
    }
    words.extend(args.lists.iter().map(|list: &PathBuf| format!(" {}", console.shown(list))));
    words
}

/// Returns the name of a result in the summary.
const fn word(imported: Imported) -> &'static str {
    match imported {
        Imported::Recorded => "recorded",
        Imported::Known => "as recorded",
        Imported::Replaced => "replaced",
        Imported::Differs => "damaged",
        Imported::Conflict | Imported::Contradicted => "in conflict",
        Imported::Changed => "changed",
        Imported::Missing => "missing",
        Imported::NoRoot => "outside of the catalog's directories",
        Imported::Offline => "offline",
        _ => "unreadable",
    }
}

/// Returns the problem of a listed file.
const fn problem(imported: Imported) -> Option<&'static str> {
    Some(match imported {
        Imported::Recorded | Imported::Known | Imported::Replaced => return None,
        Imported::Differs => "damaged: its content differs from the list",
        Imported::Conflict => "its content and its record differ from the list; not changed",
        Imported::Changed => "its content differs from its record; not changed",
        Imported::Contradicted => "the lists contradict each other; not changed",
        Imported::Missing => "missing",
        Imported::NoRoot => "not in a directory of the catalog",
        Imported::Offline => "its directory is offline",
        _ => "cannot be read, or is not a regular file",
    })
}
