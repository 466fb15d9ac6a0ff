//! The verbs that stand on the catalog.

pub mod accept;
pub mod add;
pub mod audit;
pub mod forget;
mod html;
mod import;
pub mod own;
pub mod print;
pub mod report;
pub mod scrub;
pub mod status;
pub mod steer;
pub mod update;

use std::env;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{self, Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use jiff::tz::TimeZone;
use lanesum_catalog::{
    Catalog, CatalogError, Finding, Options, Overview, Root, Run, Severity, Spelling, Summary, Verb,
};
use lanesum_checksum::Algorithms;
use lanesum_checksum::walk::{self, Entry, WalkOptions};

use crate::args::{Told, Where};
use crate::console::{self, Console, fail_to_write, locale_of_process};
use crate::failure::Usage;
use crate::progress::Display;
use crate::signals::{self, Caught};
use print::Printer;

/// The exit code for differences alone.
const DIFFERENCES: u8 = 3;
/// The exit code for what was not looked at.
const NOT_ALL_DONE: u8 = 4;
/// The exit code for the catalog's own damage, or its lock.
const OF_CATALOG: u8 = 5;

/// What is said where there is no folder.
fn nothing_cataloged(place: &Where, console: &Console) -> String {
    format!("nothing is cataloged; `{} DIR` takes a folder up", command(place, "add", console))
}

/// The catalog's file.
///
/// # Errors
/// Nothing says where it could be.
pub fn path(place: &Where) -> Result<PathBuf, Usage> {
    let variable = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(path) = place.catalog.clone().or_else(|| variable("LANESUM_CATALOG")) {
        return Ok(path);
    }
    let folder = if rustix::process::geteuid().is_root() {
        Some(PathBuf::from("/var/lib"))
    } else {
        let state = variable("XDG_STATE_HOME").filter(|path| path.is_absolute());
        state.or_else(|| Some(variable("HOME")?.join(".local/state")))
    };
    folder.map(|folder| folder.join("lanesum/catalog.db")).ok_or_else(|| {
        Usage("there is no HOME to keep the catalog in; say where with --catalog FILE".to_owned())
    })
}

/// The catalog to write to. Only `add` makes one, and the folder that it is in by default.
fn open(place: &Where, verb: &str) -> anyhow::Result<Result<Catalog, CatalogError>> {
    let path = path(place)?;
    if verb != "add" {
        return Ok(Catalog::open_existing(&path, verb));
    }
    if place.catalog.is_none()
        && let Some(folder) = path.parent()
        && !folder.as_os_str().is_empty()
    {
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.with_context(|| console::shown(folder))?;
    }
    Ok(Catalog::open(&path, verb))
}

/// The whole path of a folder that is to be taken up.
fn folder_at(folder: &Path) -> Result<PathBuf, CatalogError> {
    match folder.canonicalize() {
        Ok(path) if path.is_dir() => Ok(path),
        Ok(_) => Err(CatalogError::NotAFolder(folder.to_owned())),
        Err(error) => Err(CatalogError::Io { path: folder.to_owned(), error }),
    }
}

/// Tells why a path that was named is no folder to take up; the exit code.
fn no_folder(error: &CatalogError, place: &Where, console: &mut Console) -> ExitCode {
    fail(error, place, console);
    if let CatalogError::Io { path, .. } = error
        && let Some(words) = unit_alone(path)
    {
        console.message(words.as_bytes());
    }
    ExitCode::from(2)
}

/// What to say of a folder that is not there, and called as a unit is that was parted from its
/// number: a number of days is good without one, and would mean something else.
fn unit_alone(path: &Path) -> Option<&'static str> {
    let units = ["day", "days", "week", "weeks", "month", "months", "year", "years", "MB/s"];
    let is_unit = units.iter().any(|unit| path == Path::new(unit));
    is_unit.then_some("a unit follows its number without a blank: --every 90d, --limit 80M")
}

/// Whether there is a catalog already: one that is made is told of, for whoever mistyped its path.
fn is_there(place: &Where) -> anyhow::Result<bool> {
    Ok(path(place)?.symlink_metadata().is_ok())
}

fn tell_of_new(catalog: &Catalog, was_there: bool, console: &mut Console) {
    if !was_there {
        console.about(name(catalog.path()), "a new catalog");
    }
}

/// The catalog to look into.
fn look(place: &Where) -> anyhow::Result<Result<Catalog, CatalogError>> {
    Ok(Catalog::look(&path(place)?))
}

pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs().cast_signed())
}

/// The streams, and from now on interruptions end the program: what was committed is kept.
fn console() -> anyhow::Result<Arc<Mutex<Console>>> {
    console_with(signals::catch())
}

/// The same for a verb that reads standard input, if it does.
fn console_while(reads_stdin: bool) -> anyhow::Result<Arc<Mutex<Console>>> {
    console_with(signals::catch_while(reads_stdin))
}

/// The same, and an interruption tells this.
fn console_telling(last_words: Option<&'static str>) -> anyhow::Result<Arc<Mutex<Console>>> {
    console_with(signals::catch().telling(last_words))
}

fn console_with(caught: Caught) -> anyhow::Result<Arc<Mutex<Console>>> {
    let console = Console::new(b"lanesum", locale_of_process()).context("standard output")?;
    let console = Arc::new(Mutex::new(console));
    caught.handle(&console, None);
    Ok(console)
}

/// The worse of what came of several paths: damage of the catalog is worse than an error, that than
/// what is not there, and that than a path that was named wrongly.
pub fn worse(one: ExitCode, other: ExitCode) -> ExitCode {
    let [of_catalog, not_all, wrong] = [OF_CATALOG, NOT_ALL_DONE, 2].map(ExitCode::from);
    let worst = [of_catalog, ExitCode::FAILURE, not_all, wrong];
    worst.into_iter().find(|code| [one, other].contains(code)).unwrap_or(one)
}

/// Tells what kept the catalog from doing it; the exit code.
pub fn fail(error: &CatalogError, place: &Where, console: &mut Console) -> ExitCode {
    if let CatalogError::Told(error) = error {
        return fail_to_write(error, console);
    }
    let words = error.words(&Spoken { place, console });
    match path(place) {
        Ok(path) if error.is_of_catalog() => console.about(name(&path), &words),
        _ => console.message(words.as_bytes()),
    }
    match error {
        error if error.is_of_catalog() => ExitCode::from(OF_CATALOG),
        // A flipped bit in its first page makes it none.
        CatalogError::NotACatalog(_) => ExitCode::from(OF_CATALOG),
        CatalogError::NotThere { .. } => ExitCode::from(NOT_ALL_DONE),
        CatalogError::Absent(_)
        | CatalogError::NoRoot(_)
        | CatalogError::NotARoot { .. }
        | CatalogError::NotAFolder(_)
        | CatalogError::TooSlow { .. }
        | CatalogError::TooShort { .. }
        | CatalogError::Keyed(_) => ExitCode::from(2),
        _ => ExitCode::FAILURE,
    }
}

/// The same of a path that was to be cataloged already: whatever else may be meant by it.
fn fail_at(
    error: &CatalogError,
    catalog: &Catalog,
    place: &Where,
    console: &mut Console,
) -> ExitCode {
    let CatalogError::NoRoot(path) = error else { return fail(error, place, console) };
    let whole = path.canonicalize().or_else(|_| path::absolute(path)).unwrap_or_default();
    let mut inside = catalog.roots().unwrap_or_default();
    inside.retain(|root| root.path.starts_with(&whole));
    let inside: Vec<_> = inside.iter().map(|root| console.shown(&root.path)).collect();
    let words = match inside.is_empty() {
        true => format!(
            "is in no folder of the catalog; `{}` tells which there are",
            command(place, "status", console)
        ),
        false => format!(
            "is no folder of the catalog, and has such in it; name these: {}",
            inside.join(" ")
        ),
    };
    console.about(name(path), &words);
    ExitCode::from(2)
}

/// The exit code of what was found.
fn code(severity: Severity) -> ExitCode {
    match severity {
        Severity::AsCataloged => ExitCode::SUCCESS,
        Severity::Differences => ExitCode::from(DIFFERENCES),
        Severity::NotAllDone => ExitCode::from(NOT_ALL_DONE),
        Severity::Damage => ExitCode::FAILURE,
    }
}

/// The exit code of how folders stand; none where there are none.
fn code_of(all: &[Overview]) -> Option<ExitCode> {
    let worst = all.iter().map(Overview::severity).max()?;
    let is_damaged = all.iter().any(|it| it.undone.iter().any(Run::found_damage));
    Some(if is_damaged { ExitCode::from(OF_CATALOG) } else { code(worst) })
}

/// The roots that these paths are; all where there are none.
fn roots(
    catalog: &Catalog,
    paths: &[PathBuf],
    spoken: &Spoken<'_>,
) -> anyhow::Result<Result<Vec<Root>, CatalogError>> {
    let all = match catalog.roots() {
        Ok(all) => all,
        Err(error) => return Ok(Err(error)),
    };
    if paths.is_empty() {
        if all.is_empty() {
            return Err(Usage(nothing_cataloged(spoken.place, spoken.console)).into());
        }
        return Ok(Ok(all));
    }
    let mut chosen = Vec::new();
    for path in paths {
        match catalog.root_of(path) {
            Ok((root, below)) if below.is_empty() => {
                if chosen.iter().all(|other: &Root| other.id() != root.id()) {
                    chosen.push(root);
                }
            }
            Ok((root, _)) => {
                let (path, root) = (path.clone(), root.path);
                return Ok(Err(CatalogError::NotARoot { path, root }));
            }
            // As it is misspelt, rather than not cataloged.
            Err(CatalogError::NoRoot(path)) => {
                if let Err(error) = path.symlink_metadata() {
                    let unit = unit_alone(&path).map(|words| format!("; {words}"));
                    let words = CatalogError::Io { path, error }.words(spoken);
                    return Err(Usage(words + &unit.unwrap_or_default()).into());
                }
                return Ok(Err(CatalogError::NoRoot(path)));
            }
            Err(error) => return Ok(Err(error)),
        }
    }
    Ok(Ok(chosen))
}

/// Those of all folders that somebody asks for; all where there are none.
struct Asked(Option<Vec<Root>>);

impl Asked {
    fn of(
        catalog: &Catalog,
        paths: &[PathBuf],
        spoken: &Spoken<'_>,
    ) -> anyhow::Result<Result<Self, CatalogError>> {
        if paths.is_empty() {
            return Ok(Ok(Self(None)));
        }
        Ok(roots(catalog, paths, spoken)?.map(|roots| Self(Some(roots))))
    }

    /// Whether one of them is it.
    fn is_any(&self, is_it: impl Fn(&Root) -> bool) -> bool {
        self.0.as_ref().is_none_or(|roots| roots.iter().any(is_it))
    }

    /// How they stand.
    fn overviews(&self, catalog: &Catalog, now: i64) -> Result<Vec<Overview>, CatalogError> {
        let mut all = catalog.overviews(now)?;
        all.retain(|it| self.is_any(|root| root.id() == it.root.id()));
        Ok(all)
    }
}

/// Whoever is told of a finding.
type Tell<'a> = &'a mut dyn FnMut(&Finding) -> io::Result<()>;

/// Whether a run reads all files of its roots, as far as is known before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reads {
    All,
    Some,
}

/// The files of the roots that are there, for the total of a run that reads all of them.
fn files_of(
    catalog: &Catalog,
    roots: &[Root],
) -> impl FnOnce() -> Box<dyn Iterator<Item = PathBuf>> + Send + use<> {
    let is_there = |root: &&Root| catalog.why_not_there(root).is_ok_and(|why| why.is_none());
    let folders: Vec<_> = roots.iter().filter(is_there).map(|root| root.path.clone()).collect();
    move || {
        let mut options = WalkOptions::default();
        options.one_file_system = true;
        let entries = folders.into_iter().flat_map(move |folder| walk::walk(&folder, &options));
        Box::new(entries.filter_map(|entry| match entry {
            Entry::File(path) => Some(path),
            _ => None,
        }))
    }
}

/// What a verb does with a root.
fn doing(
    verb: Verb,
) -> impl Fn(&mut Catalog, &Root, &Options, Tell<'_>) -> Result<Summary, CatalogError> {
    move |catalog, root, options, tell| catalog.run(root, verb, options, tell)
}

/// Does something with each of these roots, and prints what comes of it.
fn over(
    catalog: &mut Catalog,
    (roots, reads): (&[Root], Reads),
    told: &Told,
    change: impl FnOnce(&mut Options),
    console: &Arc<Mutex<Console>>,
    run: impl Fn(&mut Catalog, &Root, &Options, Tell<'_>) -> Result<Summary, CatalogError>,
) -> ExitCode {
    let files = || (reads == Reads::All).then(|| files_of(catalog, roots));
    let display = Display::start_unless(false, told.run.progress, files);
    console::lock(console).set_bar(display.as_ref().map(|display| display.bar.clone()));
    let mut options = Options::default();
    options.engine = told.run.engine(display.as_ref());
    options.zone = TimeZone::system();
    change(&mut options);
    let mut worst = Severity::AsCataloged;
    let mut ended = Ok(());
    for root in roots {
        let (json, quiet) = (told.json, told.quiet);
        let printer = Printer { root: &root.path, json, quiet, place: &told.place };
        let mut tell = |finding: &Finding| {
            let mut console = console::lock(console);
            printer.finding(finding, &mut console)?;
            console.flush()
        };
        ended = run(catalog, root, &options, &mut tell).and_then(|summary| {
            worst = worst.max(summary.severity());
            let mut console = console::lock(console);
            printer.summary(&summary, &mut console).map_err(CatalogError::Told)
        });
        if ended.is_err() {
            break;
        }
    }
    drop(display);
    let mut console = console::lock(console);
    console.set_bar(None);
    match ended {
        Ok(()) => code(worst),
        Err(error) => fail(&error, &told.place, &mut console),
    }
}

/// A command as it is to be typed, in whatever folder, with the catalog that is in use.
pub fn command(place: &Where, verb: &str, console: &Console) -> String {
    let mut words = format!("lanesum {verb}");
    if let Some(path) = &place.catalog {
        let absolute = path::absolute(path).unwrap_or_else(|_| path.clone());
        words += " --catalog ";
        words += &console.shown(absolute);
    }
    words
}

/// A command about a path, as it is to be typed.
fn command_about(place: &Where, verb: &str, path: &Path, console: &Console) -> String {
    format!("{} {}", command(place, verb, console), console.shown(path))
}

/// The commands that let a root's files have digests of these algorithms as well.
fn commands_for(
    place: &Where,
    root: &Root,
    algorithms: Algorithms,
    console: &Console,
) -> [String; 2] {
    let all = root.policy.algorithms.union(algorithms);
    let all: Vec<_> = all.iter().map(|algorithm| algorithm.to_string()).collect();
    [format!("add -a {}", all.join(",")), "audit --all".to_owned()]
        .map(|verb| command_about(place, &verb, &root.path, console))
}

/// Paths and commands as the console shows them.
pub struct Spoken<'a> {
    pub place: &'a Where,
    pub console: &'a Console,
}

impl Spelling for Spoken<'_> {
    fn path(&self, path: &Path) -> String {
        self.console.shown(path)
    }

    fn command(&self, verb: &str, path: Option<&Path>) -> String {
        let Self { place, console } = self;
        match path {
            None => command(place, verb, console),
            Some(path) => command_about(place, verb, path, console),
        }
    }
}

/// A moment as messages show it: `2026-11-24 21:03:07Z`.
pub fn moment(seconds: i64) -> String {
    let mut text = Vec::new();
    lanesum_list::Time { seconds, nanoseconds: 0 }.write_rfc3339(&mut text);
    let text = String::from_utf8_lossy(&text);
    let whole = text.split('.').next().unwrap_or_default().replacen('T', " ", 1);
    if whole.is_empty() { "at no known time".to_owned() } else { whole + "Z" }
}

/// A path as bytes.
fn name(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}
