//! `lanesum [sum]`: prints the checksums of files and trees.

mod side_files;

use std::env;
use std::io::{self, ErrorKind, IsTerminal as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

use anyhow::Context as _;
use lanesum_checksum::engine::Hashed;
use lanesum_checksum::journal::Journal;
use lanesum_checksum::walk::Skip;
use lanesum_checksum::{Algorithms, Error, Job, Outcome, Source, engine};
use lanesum_list::Record;
use lanesum_list::formats::{Format, Invocation, Kind};

use crate::args::{Run, Sum, When};
use crate::console::{self, Console, fail_to_write, locale_of_process, shown};
use crate::counts::counted;
use crate::failure::{self, Usage};
use crate::hints::{self, Problem};
use crate::key::{self, KeyFile};
use crate::limits;
use crate::output::{Gap, Missing, Output, Partial, Target};
use crate::paths::{About, Item, Looks, Paths, Trees};
use crate::progress::Display;
use crate::signals::{self, Interruptions};
use crate::stdin;
use side_files::SideFiles;

/// Prints a line for each file and algorithm, and a message for each file that cannot be hashed.
///
/// # Errors
/// The run cannot start: an invalid pattern, or an output that cannot be created.
pub fn run(args: Sum) -> anyhow::Result<ExitCode> {
    let format = format(&args)?;
    if args.side_files && Paths::reads_only_stdin(&args) {
        return Err(Usage("--side-files needs a file or directory: PATH".to_owned()).into());
    }
    let mut trees = Trees { walk: args.trees.options()? };
    trees.walk.report_links = true;
    key::refuse_shared(args.key_file.as_deref(), Paths::from_stdin(&args))?;
    let key_file = KeyFile::open(args.key_file.as_deref(), args.algorithms())?;
    let target = Target::of(args.output.as_deref())?;
    target.refuse_as_input(inputs(&args))?;
    target.refuse_half(args.all_or_nothing)?;
    // Before there is a file that an interruption would have to remove.
    let signals = signals::catch_while(Paths::from_stdin(&args).is_some());
    let key = key_file.as_ref().map(|file| &file.key);
    let partial = Partial::of_list(&target, args.resume, args.run.io, key)?;
    let output = target.open(partial.is_some())?;
    let console = Arc::new(Mutex::new(console(&output)?));
    partial.iter().for_each(|partial| partial.begun(&mut console::lock(&console)));
    let interruptions = signals.keeping(partial.clone()).handle(&console, output.unfinished());
    if let Some(key_file) = &key_file {
        key_file.warn(&mut console::lock(&console));
    }

    let paths = Paths::of(&args)?;
    if Paths::reads_only_stdin(&args) {
        console::lock(&console).tell_who_waits();
    }
    let display = start_display(args.run.progress, &paths, &trees);
    console::lock(&console).set_bar(display.as_ref().map(|d| d.bar.clone()));
    let mut options = args.run.engine(display.as_ref());
    options.key = key_file.map(|file| file.key);
    options.own_files = output.own_files().context("output")?;
    options.own_files.extend(partial.iter().map(|partial| partial.journal().inode()));
    let names_come = args.files0_from.as_deref().is_some_and(stdin::is_meant_by);
    options.taken = stdin::taken(names_come, read_before(&args));

    let mut printer = Printer::new(&args, &trees, &options, &*format, &console, partial.as_ref());
    let items = paths.items(&trees, &printer.looks);
    printer.print_list(items);
    let (printed, taken, links) = (printer.printed, printer.taken, printer.links);
    let side_files = printer.side_files;
    drop(display);

    let mut console = console::lock(&console);
    console.set_bar(None);
    report_links(links, &mut console);
    partial.iter().for_each(|partial| partial.tell_taken(taken, &mut console));
    if let Some(side_files) = side_files {
        return Ok(end_side_files(&side_files, &printed, &mut console));
    }
    let ended = end(&args, printed, output, &interruptions, &mut console);
    partial.iter().for_each(|partial| match ended {
        Ok(Ended::Listed(_)) => partial.done(taken, &mut console),
        _ => partial.failed(&mut console),
    });
    ended.map(|(Ended::Listed(code) | Ended::NoList(code))| code)
}

/// Reports the number of links in trees, which the list may lack.
fn report_links(links: u64, console: &mut Console) {
    if links > 0 {
        console.message(format!("skipped {}", counted(links, "link", "links")).as_bytes());
        console.hint("--follow follows links");
    }
}

/// Prints what was written beside the files.
fn end_side_files(written: &SideFiles, printed: &Printed, console: &mut Console) -> ExitCode {
    written.warn(console);
    if printed.missing.is_none() && printed.is_empty && !written.are_complete() {
        console.message(b"no files; no side file was written");
        return ExitCode::FAILURE;
    }
    written.summary(console);
    if printed.missing.is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// How a run ended.
enum Ended {
    /// The list is at its destination.
    Listed(ExitCode),
    NoList(ExitCode),
}

/// Inputs that are read before the files.
fn read_before(args: &Sum) -> impl Iterator<Item = &Path> + Clone {
    [&args.key_file, &args.files0_from].into_iter().filter_map(|path| path.as_deref())
}

/// The files that the output must not overwrite.
fn inputs(args: &Sum) -> impl Iterator<Item = &Path> {
    let alone = Paths::reads_only_stdin(args).then_some(Path::new("-"));
    args.paths.iter().map(PathBuf::as_path).chain(read_before(args)).chain(alone)
}

fn console(output: &Output) -> anyhow::Result<Console> {
    let locale = locale_of_process();
    Ok(match output.file()? {
        None => Console::new(b"lanesum", locale).context("standard output")?,
        Some(file) => Console::with_output(b"lanesum", locale, file),
    })
}

/// A bar, but not if the user types the input.
fn start_display(when: When, paths: &Paths, trees: &Trees) -> Option<Display> {
    let is_typed = paths.read_stdin() && io::stdin().is_terminal();
    Display::start_unless(is_typed, when, || paths.files_to_count(trees))
}

/// Puts the list in its place, and reports missing files.
fn end(
    args: &Sum,
    printed: Printed,
    output: Output,
    interruptions: &Interruptions,
    console: &mut Console,
) -> anyhow::Result<Ended> {
    let name = args.output.as_deref().unwrap_or(Path::new("-"));
    let is_in_file = matches!(output, Output::File { .. });
    let Printed { missing, is_empty, outcome } = printed;
    if let Err(error) = outcome.and_then(|()| console.flush()) {
        if let Output::Stdout = output {
            return Ok(Ended::NoList(fail_to_write(&error, console)));
        }
        let mut words = lanesum_checksum::error::message(&error);
        if is_in_file {
            words.push_str("; the file is unchanged");
        }
        console.about(name.as_os_str().as_bytes(), &words);
        return Ok(Ended::NoList(ExitCode::FAILURE));
    }
    let why_not = match (missing.is_none(), is_empty) {
        (false, true) => Some("not written: no file could be read"),
        (false, false) if args.all_or_nothing => {
            Some("not written: not all files could be read (--all-or-nothing)")
        }
        (true, true) => Some("not written: there are no files"),
        _ => None,
    };
    if let Some(words) = why_not.filter(|_| is_in_file) {
        console.about(name.as_os_str().as_bytes(), words);
        return Ok(Ended::NoList(ExitCode::FAILURE));
    }
    if missing.is_none() && is_empty {
        console.message(b"no files; the list is empty");
    }
    output.finish(interruptions).with_context(|| shown(name))?;
    if missing.is_none() {
        return Ok(Ended::Listed(ExitCode::SUCCESS));
    }
    if is_in_file {
        missing.tell(name.as_os_str().as_bytes(), console);
    }
    Ok(Ended::Listed(ExitCode::FAILURE))
}

impl Run {
    /// Returns the options of the engine.
    pub fn engine(&self, display: Option<&Display>) -> engine::Options {
        let mut options = engine::Options::default();
        options.threads = limits::threads(self.jobs, self.io);
        options.io = limits::way(self.io);
        options.backend = self.backend.unwrap_or(options.backend);
        options.progress = display.map(|display| Arc::clone(&display.progress));
        options.own_descriptors = true;
        options
    }
}

/// The result of printing.
struct Printed {
    missing: Missing,
    /// Whether there were no lines.
    is_empty: bool,
    /// A write error.
    outcome: io::Result<()>,
}

/// Prints the outcomes of items.
struct Printer<'run> {
    trees: &'run Trees,
    algorithms: Algorithms,
    options: &'run engine::Options,
    format: &'run dyn Format,
    /// Where the digests go instead of a list.
    side_files: Option<SideFiles>,
    looks: Arc<Looks>,
    journal: Option<Arc<Journal>>,
    /// The number of files that the journal knew, so that they were not read again.
    taken: u64,
    /// The number of skipped links.
    links: u64,
    console: &'run Mutex<Console>,
    /// Whether a reader of the list may expect the list itself in it.
    tells_own_output: bool,
    /// Whether names are read from a file, each ended by NUL.
    names_end_with_nul: bool,
    /// A piece of the list, reused for each file.
    text: Vec<u8>,
    printed: Printed,
}

/// The context of a job.
enum Task {
    Item(About),
    /// An earlier run hashed it, and it is unchanged. Boxed, because this is rare and tasks are
    /// moved several times.
    Known(Box<(Source, Hashed)>),
}

impl<'run> Printer<'run> {
    fn new(
        args: &Sum,
        trees: &'run Trees,
        options: &'run engine::Options,
        format: &'run dyn Format,
        console: &'run Mutex<Console>,
        partial: Option<&Partial>,
    ) -> Self {
        Self {
            trees,
            algorithms: args.algorithms(),
            options,
            format,
            side_files: args.side_files.then(SideFiles::default),
            looks: Arc::default(),
            journal: partial.map(|partial| Arc::clone(partial.journal())),
            taken: 0,
            links: 0,
            console,
            tells_own_output: args.output.is_none(),
            names_end_with_nul: args.files0_from.is_some(),
            text: Vec::new(),
            printed: Printed { missing: Missing::default(), is_empty: true, outcome: Ok(()) },
        }
    }

    fn print_list(&mut self, items: impl Iterator<Item = Item> + Send + 'static) {
        self.append(|format, text| format.begin(text));
        self.print(items);
        self.append(|format, text| format.end(text));
    }

    fn print(&mut self, items: impl Iterator<Item = Item> + Send + 'static) {
        let (algorithms, journal) = (self.algorithms, self.journal.clone());
        let choose = self.side_files.as_ref().map(SideFiles::chooser);
        let items =
            items.filter(move |it| choose.as_ref().is_none_or(|them| them.takes(it, algorithms)));
        let jobs = items.map(move |Item { source, about }| {
            let known = source.path().zip(journal.as_deref().filter(|it| !it.is_empty()));
            let known = known.and_then(|(path, journal)| journal.known(path, algorithms));
            let (source, context) = match known {
                Some(hashed) => (Source::Nothing, Task::Known(Box::new((source, hashed)))),
                None => (source, Task::Item(about)),
            };
            Job { source, algorithms, context }
        });
        let mut run = engine::run(self.options, jobs);
        let console = self.console;
        while self.printed.outcome.is_ok() {
            match run.next_or_wait(|| console::lock(console).flush()) {
                Ok(Some(outcome)) => self.take(outcome),
                Ok(None) => break,
                Err(error) => self.printed.outcome = Err(error),
            }
        }
    }

    fn take(&mut self, outcome: Outcome<Task>) {
        let Outcome { source, context, result, .. } = outcome;
        let about = match context {
            Task::Item(about) => about,
            Task::Known(known) => {
                let (source, hashed) = *known;
                return self.take_known(&source, hashed);
            }
        };
        let console = || console::lock(self.console);
        let (name, is_named, error) = match (about, source, result) {
            (About::Skipped(_, Skip::Link), ..) => return self.links += 1,
            (About::Skipped(path, why), ..) => {
                let hint = hints::of_skip(&path, why);
                let problem = Problem { words: why.to_string(), hint };
                return problem.print(path.as_os_str().as_bytes(), &mut console());
            }
            (About::Failed(gap, name, why), ..) => return self.failed(gap, &name, why, None),
            (About::Unseen, Source::Path(path), Err(error)) if is_folder(&error) => {
                self.looks.found_folder();
                return self.walk(path);
            }
            (_, source, Ok(hashed)) => {
                if let (Some(journal), Some(path)) = (&self.journal, source.path()) {
                    journal.keep(path, &hashed);
                }
                return self.record(&source, &hashed.into_record(name(&source)));
            }
            (_, source, Err(error)) => {
                let is_named = !matches!(source, Source::Regular(_));
                (name(&source).to_vec(), is_named, error)
            }
        };
        match error {
            // A name that the user gave, which a reader of the list on standard output may miss. In
            // a tree the list itself is found by chance.
            Error::OwnOutput if is_named || self.tells_own_output => {
                console().about(&name, &error.to_string());
            }
            Error::OwnOutput => {}
            error => {
                let hint = hints::of_file(&error);
                self.failed(Gap::File, &name, error.to_string(), hint);
            }
        }
    }

    fn take_known(&mut self, source: &Source, hashed: Hashed) {
        self.taken += 1;
        if let Some(progress) = &self.options.progress {
            progress.files.fetch_add(1, Relaxed);
            progress.bytes.fetch_add(hashed.bytes, Relaxed);
        }
        self.record(source, &hashed.into_record(name(source)));
    }

    fn record(&mut self, source: &Source, record: &Record<'_>) {
        if let Some(side_files) = &mut self.side_files {
            self.printed.is_empty = false;
            if let Err(error) = side_files.write(source, record) {
                self.failed(Gap::File, &record.name, error.to_string(), None);
            }
            return;
        }
        self.text.clear();
        if !self.printed.is_empty {
            self.text.extend_from_slice(self.format.separator());
        }
        match self.format.record(&mut self.text, record) {
            Ok(()) => {
                self.printed.is_empty = false;
                self.print_text();
            }
            Err(cannot) => {
                let hint = hints::of_cannot(&cannot);
                self.failed(Gap::File, &record.name, cannot.to_string(), hint);
            }
        }
    }

    fn failed(&mut self, gap: Gap, name: &[u8], words: String, hint: Option<&str>) {
        self.printed.missing.note(gap, name);
        let mut hint = hint.map(str::to_owned).or_else(|| failure::did_you_mean(name));
        if self.names_end_with_nul && name.contains(&b'\n') {
            hint = Some("names must end with NUL: find -print0, or tr '\\n' '\\0'".to_owned());
        }
        Problem { words, hint }.print(name, &mut console::lock(self.console));
    }

    /// Prints a piece of the list, unless a previous one failed.
    fn append(&mut self, make: impl FnOnce(&dyn Format, &mut Vec<u8>)) {
        self.text.clear();
        make(self.format, &mut self.text);
        self.print_text();
    }

    fn print_text(&mut self) {
        if !self.text.is_empty() && self.printed.outcome.is_ok() {
            self.printed.outcome = console::lock(self.console).line(&self.text);
        }
    }

    /// Prints a directory that appeared among files, in a separate run.
    fn walk(&mut self, path: PathBuf) {
        if let Some(progress) = &self.options.progress {
            // Like a file.
            progress.files.fetch_sub(1, Relaxed);
        }
        self.print(self.trees.items(path));
    }
}

fn is_folder(error: &Error) -> bool {
    matches!(error, Error::Io(why) if why.kind() == ErrorKind::IsADirectory)
}

/// Returns the name of a source in lists and messages.
fn name(source: &Source) -> &[u8] {
    source.path().map_or(b"-", |path| path.as_os_str().as_bytes())
}

/// How the list is written.
fn format(args: &Sum) -> anyhow::Result<Box<dyn Format>> {
    let (kind, mut layout) = (args.kind()?, args.layout());
    if kind == Kind::Hashdeep {
        layout.invocation = Some(invocation());
    }
    kind.writer(&layout).map_err(failure::usage)
}

/// The command line of this process.
fn invocation() -> Invocation {
    let folder = env::current_dir().unwrap_or_default().into_os_string().into_vec();
    let words: Vec<_> = env::args_os().map(OsStringExt::into_vec).collect();
    Invocation { folder, command: words.join(&b' '), is_root: rustix::process::geteuid().is_root() }
}
