//! `lanesum check`: checks files against lists, and prints the results.

mod side_files;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, IsTerminal as _};
use std::mem;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use indicatif::HumanCount;
use lanesum_checksum::Key;
use lanesum_checksum::check::{self, Event, List, ListError, Options, Tally, Verdict};
use lanesum_checksum::engine::Io;
use lanesum_checksum::etag::{self, PartSize, size_name};
use lanesum_checksum::hints::{Lookup, NotFound, closest_format, unknown_column};
use lanesum_list::{Dialect, Ending};
use rustix::io::Errno;

use crate::args::Check;
use crate::console::{self, Console, fail_to_write, locale_of_process, shown};
use crate::counts::{bytes_in, counted, files};
use crate::failure::Hinted;
use crate::hints::{self, Problem, SAYS};
use crate::key::{self, KeyFile};
use crate::output::Partial;
use crate::progress::Display;
use crate::{signals, stdin};
use side_files::SideFiles;

/// Checks the lists.
///
/// # Errors
/// The check cannot start.
pub fn run(args: Check) -> anyhow::Result<ExitCode> {
    let begin = Instant::now();
    let SideFiles { lists, is_incomplete } = lists(&args)?;
    refuse_beside_stdin(args.beside, &lists)?;
    if lists.is_empty() {
        return Ok(ExitCode::FAILURE);
    }
    let shared = lists.contains(&List::Stdin).then_some("a list comes");
    key::refuse_shared(args.key_file.as_deref(), shared)?;
    let algorithm = args.algorithm.into_iter().collect();
    let key_file = KeyFile::open(args.key_file.as_deref(), algorithm)?;
    let is_typed = lists.contains(&List::Stdin) && io::stdin().is_terminal();
    let console = Arc::new(Mutex::new(console(&args, key_file.as_ref(), is_typed)?));
    let signals = signals::catch_while(lists.contains(&List::Stdin));
    let mut options = options(&args, key_file.map(|file| file.key));
    let key = options.engine.key.as_ref();
    let partial = |state: &PathBuf| Partial::of_check(state, &lists, args.run.io, key);
    let partial = args.resume.as_ref().map(partial).transpose()?;
    options.journal = partial.as_ref().map(|partial| Arc::clone(partial.journal()));
    signals.keeping(partial.clone()).handle(&console, None);
    let taken = stdin::taken(shared.is_some(), paths_read(&args));
    let display =
        Display::start_unless(is_typed, args.run.progress, || files_to_count(&lists, &options));
    console::lock(&console).set_bar(display.as_ref().map(|display| display.bar.clone()));
    let key = options.engine.key.take();
    options.engine = args.run.engine(display.as_ref());
    (options.engine.key, options.engine.taken) = (key, taken);

    let mut report = Report::new(&args, options.dialect);
    report.bad_lists += u64::from(is_incomplete);
    let mut check = check::check(lists.clone().into_iter(), &options);
    let printed = print(&mut check, &mut report, &console);
    drop((check, display));

    let mut console = console::lock(&console);
    console.set_bar(None);
    if let Err(error) = printed.and_then(|()| console.flush()) {
        partial.iter().for_each(|partial| partial.failed(&mut console));
        return Ok(fail_to_write(&error, &mut console));
    }
    report.nothing_checked(&lists, &mut console);
    report.summary(begin.elapsed(), &mut console);
    if let Some(partial) = partial {
        report.end_partial(&partial, &mut console);
    }
    Ok(if report.all_well() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the console, after messages that users need before anything is read.
fn console(args: &Check, key_file: Option<&KeyFile>, is_typed: bool) -> anyhow::Result<Console> {
    let mut console = Console::new(b"lanesum", locale_of_process()).context("standard output")?;
    if let Some(key_file) = key_file {
        key_file.warn(&mut console);
    }
    if let Some(root) = &args.root {
        look_at_root(root).with_context(|| format!("--root {}", console::shown(root)))?;
    }
    if is_typed && !args.status {
        console.tell_list_is_awaited();
    }
    Ok(console)
}

/// Prints all events, or stops at the first write error.
fn print(
    check: &mut check::Check<impl Iterator<Item = List> + Send + 'static>,
    report: &mut Report<'_>,
    console: &Mutex<Console>,
) -> io::Result<()> {
    let flush = || console::lock(console).flush();
    while let Some((list, event)) = check.next_or_wait(flush)? {
        report.event(&list, event, &mut console::lock(console))?;
    }
    Ok(())
}

fn options(args: &Check, key: Option<Key>) -> Options {
    let dialect = key.as_ref().map_or_else(Dialect::any, |key| Dialect::keyed(key.algorithms()));
    let dialect = args.algorithm.map_or(dialect, |algorithm| dialect.with_untagged(algorithm));
    let ending = if args.zero { Ending::Nul } else { Ending::Newline };
    let mut options = Options::default();
    options.dialect = dialect.with_ending(ending);
    options.from = args.from;
    options.name = args.name.as_ref().map(|name| name.as_bytes().to_vec());
    options.part_sizes.clone_from(&args.part_size);
    options.root.clone_from(&args.root);
    options.side_files = !args.side_files.is_empty();
    options.beside = args.beside || options.side_files;
    options.ignore_missing = args.ignore_missing;
    options.engine = args.run.engine(None);
    options.engine.key = key;
    options
}

/// Returns the problem of a list without the name of `--name`.
pub fn of_no_object(name: &OsStr) -> Problem {
    Problem::new(format!("no entry is about {} (--name)", shown(name)), "leave out --name")
}

/// # Errors
/// `--beside` is given, and a list is not in a directory.
pub fn refuse_beside_stdin(is_beside: bool, lists: &[List]) -> Result<(), Hinted> {
    if is_beside && lists.contains(&List::Stdin) {
        return Err(Hinted::new(
            "--beside: a list on standard input is not in a directory",
            "use --root DIR",
        ));
    }
    Ok(())
}

/// # Errors
/// The root is not a directory, so no file would be found. Reported once instead of for each file.
fn look_at_root(root: &Path) -> io::Result<()> {
    if fs::metadata(root)?.is_dir() { Ok(()) } else { Err(Errno::NOTDIR.into()) }
}

/// Returns the inodes that this program reads itself.
fn paths_read(args: &Check) -> impl Iterator<Item = &Path> {
    args.lists.iter().chain(&args.key_file).map(PathBuf::as_path)
}

/// Returns the lists in order.
///
/// # Errors
/// Standard output cannot be used.
fn lists(args: &Check) -> anyhow::Result<SideFiles> {
    if !args.side_files.is_empty() {
        let mut console =
            Console::new(b"lanesum", locale_of_process()).context("standard output")?;
        return Ok(SideFiles::find(&args.side_files, &mut console));
    }
    let lists = match &*args.lists {
        [] => vec![List::Stdin],
        lists => lists.iter().map(|path| stdin::list(path)).collect(),
    };
    Ok(SideFiles { lists, is_incomplete: false })
}

/// Returns the files of the lists, for the total. Returns None if a list is not a regular file,
/// because it can be read only once.
fn files_to_count(
    lists: &[List],
    options: &Options,
) -> Option<impl FnOnce() -> Box<dyn Iterator<Item = PathBuf> + Send> + Send + use<>> {
    let gives_lines_again = |list: &List| match list {
        List::Stdin => false,
        // Directories and missing files cannot be read either, but the check fails for them as
        // well.
        List::Path(path) => fs::metadata(path).map_or(true, |list| list.is_file() || list.is_dir()),
    };
    lists.iter().all(gives_lines_again).then(|| {
        let (lists, options) = (lists.to_vec(), options.clone());
        move || {
            Box::new(check::files(lists.into_iter(), &options))
                as Box<dyn Iterator<Item = _> + Send>
        }
    })
}

/// Prints events, and collects the facts that decide the exit code.
struct Report<'a> {
    args: &'a Check,
    /// Reused for each line.
    line: Vec<u8>,
    total: Tally,
    /// The number of lists that could not be read, or of which no file was verified.
    bad_lists: u64,
    /// The number of empty lists, if there are several lists.
    empty_lists: u64,
    /// The options for reading lists.
    dialect: Dialect,
    /// The unknown algorithms of the list.
    unknown: BTreeSet<String>,
    /// The missing files of the list.
    not_found: NotFound,
    /// For each part size, the number of files whose ETag it gave.
    part_sizes: BTreeMap<u64, u64>,
    /// Whether the list has the file of `--name`.
    has_name: bool,
}

impl<'a> Report<'a> {
    fn new(args: &'a Check, dialect: Dialect) -> Self {
        Self {
            args,
            line: Vec::new(),
            total: Tally::default(),
            bad_lists: 0,
            empty_lists: 0,
            dialect,
            unknown: BTreeSet::new(),
            not_found: NotFound::default(),
            part_sizes: BTreeMap::new(),
            has_name: false,
        }
    }

    fn all_well(&self) -> bool {
        self.bad_lists == 0
            && self.total.entries() > 0
            && self.total.mismatched == 0
            && self.total.unproven == 0
            && self.total.wrong == 0
            && self.total.unreadable == 0
            && self.total.unknown == 0
            && !(self.is_strict() && self.total.malformed + self.empty_lists > 0)
    }

    /// Reports how much earlier runs have read, and keeps this if there is more to read.
    fn end_partial(&self, partial: &Partial, console: &mut Console) {
        partial.tell_taken(self.total.resumed, console);
        // Files that could not be read may be readable the next time.
        if self.total.unreadable == 0 && self.bad_lists == 0 {
            partial.done(self.total.resumed, console);
        } else {
            partial.failed(console);
        }
    }

    /// Returns where the names of a list are looked up.
    fn place<'list>(&self, list: &'list List) -> Lookup<'list>
    where
        'a: 'list,
    {
        Lookup { list, root: self.args.root.as_deref(), is_beside: self.args.is_beside() }
    }

    /// Returns the printed name of a file: the name in the list, and with --beside the directory,
    /// too.
    fn called<'name>(&self, list: &List, name: &'name [u8]) -> Cow<'name, [u8]> {
        match list.folder().filter(|_| self.args.is_beside()) {
            Some(folder) => {
                let path = folder.join(OsStr::from_bytes(name));
                Cow::Owned(path.into_os_string().into_vec())
            }
            None => Cow::Borrowed(name),
        }
    }

    /// Returns this command, for a list that a filter converts.
    fn command(&self) -> hints::Command {
        let Check { algorithm, from, zero, strict, name, key_file, run, .. } = self.args;
        let Check { quiet, status, warn, ignore_missing, part_size, .. } = self.args;
        let reading = hints::reading(*algorithm, *from, *zero);
        let sizes: Vec<_> = part_size.iter().map(PartSize::to_string).collect();
        let both = [
            (!sizes.is_empty()).then(|| format!(" --part-size {}", sizes.join(","))),
            (run.io != Io::Auto).then(|| format!(" --io {}", run.io)),
            run.jobs.map(|jobs| format!(" -j {jobs}")),
        ];
        let both: String = both.into_iter().flatten().collect();
        let mut words = format!("check{reading}{both}");
        for (is_given, flag) in [
            (quiet, " --quiet"),
            (status, " --status"),
            (warn, " --warn"),
            (strict, " --strict"),
            (ignore_missing, " --ignore-missing"),
        ] {
            words += if *is_given { flag } else { "" };
        }
        words.extend(name.as_ref().map(|name| format!(" --name={}", shown(name))));
        words.extend(key_file.as_ref().map(|key| format!(" --key-file {}", hints::value(key))));
        let compared = key_file.is_none().then(|| reading + &both);
        hints::Command { words, operand: "", compared }
    }

    fn is_strict(&self) -> bool {
        self.args.strict || self.args.key_file.is_some()
    }

    /// Returns the effect of a skipped line on the exit code, if it has one.
    fn fails(&self) -> &'static str {
        match (&self.args.key_file, self.args.strict) {
            (Some(_), _) => ", so --key-file makes the exit code 1",
            (None, true) => ", so --strict makes the exit code 1",
            (None, false) => "",
        }
    }

    /// Returns an additional requirement for lines.
    fn for_key(&self) -> &'static str {
        if self.args.key_file.is_some() { " for this key" } else { "" }
    }

    fn event(&mut self, list: &List, event: Event, console: &mut Console) -> io::Result<()> {
        match event {
            Event::Malformed { line } => {
                if self.args.warn {
                    let (for_key, fails) = (self.for_key(), self.fails());
                    let words = format!("line {line}: not a checksum line{for_key}{fails}");
                    console.about(list.name(), &words);
                }
                Ok(())
            }
            Event::Wrong { line, why } => {
                let hint = hints::of_wrong(&why).map(str::to_owned);
                Problem { words: format!("line {line}: {why}"), hint }.print(list.name(), console);
                Ok(())
            }
            Event::NotEncoded { name } => {
                let name = self.called(list, &name);
                let words = "read by its name as written; BagIt requires % to be encoded as %25";
                console.about(&name, words);
                Ok(())
            }
            Event::Unknown { line, algorithm } => {
                if self.args.warn {
                    console.about(
                        list.name(),
                        &format!("line {line}: unknown algorithm {algorithm}, not checked"),
                    );
                }
                self.unknown.insert(algorithm);
                Ok(())
            }
            Event::StandardInput => {
                if io::stdin().is_terminal() && !self.args.status {
                    let words = "has a line about standard input; waiting for its content";
                    Problem::new(words, "Ctrl-D ends it, and Ctrl-C the check")
                        .print(list.name(), console);
                }
                Ok(())
            }
            Event::PartSize { part_size } => {
                *self.part_sizes.entry(part_size).or_default() += 1;
                Ok(())
            }
            Event::Checked { name, folder, verdict } => {
                self.has_name |= self.args.name.as_ref().is_some_and(|it| it.as_bytes() == name);
                if let Verdict::Unreadable(error) = &verdict
                    && error.is_not_found()
                {
                    self.not_found.note(&name, folder.as_deref(), self.place(list));
                }
                self.checked(&self.called(list, &name), &verdict, console)
            }
            Event::End { tally, error } => {
                self.end(list, &tally, error.as_ref(), console);
                Ok(())
            }
        }
    }

    fn checked(&mut self, name: &[u8], verdict: &Verdict, console: &mut Console) -> io::Result<()> {
        let result = match verdict {
            Verdict::Missing => return Ok(()),
            Verdict::Match if self.args.quiet => return Ok(()),
            Verdict::Match => "OK",
            Verdict::Mismatch => "FAILED",
            Verdict::OtherSize { listed, found } => {
                let words = format!("its size is {found} bytes, but {listed} in the list");
                console.about(name, &words);
                "FAILED"
            }
            Verdict::OtherParts { tried } => {
                console.about(name, &etag::of_other_parts(*tried));
                "FAILED"
            }
            Verdict::Unproven => "size OK, not checked",
            Verdict::Unreadable(error) => {
                let hint = hints::of_file(error).map(str::to_owned);
                Problem { words: error.to_string(), hint }.print(name, console);
                "FAILED open or read"
            }
        };
        if self.args.status {
            return Ok(());
        }
        self.line.clear();
        console.quote(&mut self.line, name);
        self.line.extend_from_slice(b": ");
        self.line.extend_from_slice(result.as_bytes());
        self.line.push(b'\n');
        console.line(&self.line)
    }

    fn end(
        &mut self,
        list: &List,
        tally: &Tally,
        error: Option<&ListError>,
        console: &mut Console,
    ) {
        self.total += *tally;
        let unknown = mem::take(&mut self.unknown);
        let not_found = mem::take(&mut self.not_found);
        let part_sizes = mem::take(&mut self.part_sizes);
        let has_name = mem::take(&mut self.has_name);
        if let Some(error) = error {
            self.bad_lists += 1;
            let place = self.place(list);
            if let Some(problem) = hints::of_nameless_utf16(place, error, &self.command()) {
                return problem.print(list.name(), console);
            }
            if let Some(problem) = hints::of_folder(list, error) {
                return problem.print(list.name(), console);
            }
            let command = self.command().in_folder(place.folder());
            return hints::of_unread(list, error, &command).print(list.name(), console);
        }
        if !part_sizes.is_empty() && !self.args.status && !self.args.quiet {
            console.about(
                list.name(),
                &format!("ETags match with parts of {}", in_parts(&part_sizes)),
            );
        }
        if tally.unknown > 0 {
            console.about(list.name(), &of_unknown(tally.unknown, &unknown));
        }
        if tally.unproven > 0 {
            let files = files(tally.unproven);
            let of_others = unknown_column(list)
                .map(|title| format!(" that lanesum computes ({title} is unknown)"))
                .unwrap_or_default();
            let has = if tally.unproven == 1 { "has" } else { "have" };
            let words = format!("not checked: {files} {has} a size, but no digest{of_others}");
            console.about(list.name(), &words);
        }
        if tally.entries() + tally.unknown == 0 && tally.malformed > 0 {
            self.bad_lists += 1;
            let problem = match self.args.algorithm {
                _ if tally.nameless == tally.malformed => {
                    hints::of_nameless(self.place(list), tally.nameless, &self.command())
                }
                Some(algorithm) => {
                    let words = format!("no line has as many digits as {algorithm}");
                    Problem::new(words, "leave out -a to detect the algorithm")
                }
                None if self.args.key_file.is_some() => {
                    let words = format!("no checksum lines{}", self.for_key());
                    let hint = "if its digests were made without a key: leave out --key-file";
                    Problem::new(words, hint)
                }
                None => hints::of_unknown_format(list, closest_format(list, self.dialect)),
            };
            return problem.print(list.name(), console);
        }
        if tally.entries() + tally.unknown + tally.wrong == 0 {
            self.empty_lists += 1;
            if self.is_strict() && self.args.lists.len() > 1 {
                console.about(list.name(), "no checksum lines");
            }
        }
        if let Some(name) = &self.args.name
            && !has_name
            && tally.entries() > 0
        {
            self.bad_lists += 1;
            of_no_object(name).print(list.name(), console);
        }
        hints::tell(&not_found, self.place(list), tally.entries(), &self.command(), console);
        if not_found.is_encoded() && self.args.from.is_none() {
            let words = "some names look encoded, as in a BagIt manifest";
            Problem::new(words, SAYS.of_encoded()).print(list.name(), console);
        }
        if tally.entries() > 0 && tally.entries() == tally.missing {
            self.bad_lists += 1;
            console.about(list.name(), "nothing was checked: all of its files are missing");
        }
        // --warn has shown each of them.
        if tally.malformed > 0 && !self.args.status && !self.args.warn {
            let (for_key, fails) = (self.for_key(), self.fails());
            let (words, them) = match tally.malformed {
                1 => (format!("1 line is not a checksum line{for_key}{fails}"), "it"),
                lines => (format!("{lines} lines are not checksum lines{for_key}{fails}"), "them"),
            };
            Problem::new(words, format!("--warn shows {them}")).print(list.name(), console);
        }
        self.doubt(list, tally, console);
    }

    /// Reports lines that may have a different algorithm or key.
    fn doubt(&self, list: &List, tally: &Tally, console: &mut Console) {
        if self.args.status {
            return;
        }
        let Check { algorithm, key_file, .. } = self.args;
        let (is_told, has_key) = (algorithm.is_some(), key_file.is_some());
        for doubt in SAYS.of_doubtful(list, tally, self.dialect, is_told, has_key) {
            Problem::from(doubt).print(list.name(), console);
        }
    }

    /// Reports that no list had entries. This must not look like success.
    fn nothing_checked(&self, lists: &[List], console: &mut Console) {
        if self.total.entries() + self.total.unknown + self.total.wrong > 0 || self.bad_lists > 0 {
            return;
        }
        match lists {
            [list] => console.about(list.name(), "no checksum lines; nothing was checked"),
            _ => console.message(b"no checksum lines in any of the lists; nothing was checked"),
        }
    }

    /// Prints a summary of all lists, if there was more than one line.
    fn summary(&self, elapsed: Duration, console: &mut Console) {
        let total = &self.total;
        let lines = total.entries() - total.missing;
        let is_alone = lines == 1 && self.empty_lists == 0 && total.missing == 0;
        if self.args.status || lines == 0 || is_alone {
            return;
        }
        let lines = if lines == total.files + total.resumed {
            String::new()
        } else {
            format!(" ({} lines)", HumanCount(lines))
        };
        let resumed = match total.resumed {
            0 => String::new(),
            count => format!(" and {} read before", HumanCount(count)),
        };
        let words = format!(
            "{}{resumed}{lines}, {}: {}",
            files(total.files),
            bytes_in(total.bytes, elapsed),
            self.failures(),
        );
        console.message(words.as_bytes());
    }

    /// Returns all failures, which make the exit code 1, and the skipped lines.
    fn failures(&self) -> String {
        let total = &self.total;
        let plural = |count, one, many| if count == 1 { one } else { many };
        let skipped = (total.malformed, plural(total.malformed, "skipped line", "skipped lines"));
        let mut failures = vec![
            (total.mismatched, "FAILED"),
            (total.unproven, "not checked"),
            (total.wrong, plural(total.wrong, "invalid line", "invalid lines")),
            (total.unreadable, "could not be read"),
            (
                total.unknown,
                plural(total.unknown, "of an unknown algorithm", "of unknown algorithms"),
            ),
            (self.bad_lists, plural(self.bad_lists, "bad list", "bad lists")),
        ];
        let empty_lists = (self.empty_lists, plural(self.empty_lists, "empty list", "empty lists"));
        let mut passed_over = vec![(total.missing, "missing")];
        let of_strict = if self.is_strict() { &mut failures } else { &mut passed_over };
        of_strict.extend([empty_lists, skipped]);
        let told = |(count, what): (u64, &str)| {
            (count > 0).then(|| format!("{} {what}", HumanCount(count)))
        };
        let mut words: Vec<_> = failures.into_iter().filter_map(told).collect();
        if words.is_empty() {
            words.push("no failures".to_owned());
        }
        words.extend(passed_over.into_iter().filter_map(told));
        words.join(", ")
    }
}

/// Lists part sizes with their numbers of files, most frequent first: `8MiB (3 files), 5MiB (1
/// file)`.
pub fn in_parts(part_sizes: &BTreeMap<u64, u64>) -> String {
    let mut sizes: Vec<_> = part_sizes.iter().collect();
    sizes.sort_by_key(|&(size, count)| (Reverse(count), size));
    let words = |(&size, &count): (&u64, &u64)| format!("{} ({})", size_name(size), files(count));
    sizes.into_iter().map(words).collect::<Vec<_>>().join(", ")
}

/// Returns the message about lines of unknown algorithms.
fn of_unknown(lines: u64, algorithms: &BTreeSet<String>) -> String {
    let names: Vec<_> = algorithms.iter().map(String::as_str).collect();
    let lines = counted(lines, "line", "lines");
    format!("not checked: {lines} of unknown algorithms ({})", names.join(", "))
}
