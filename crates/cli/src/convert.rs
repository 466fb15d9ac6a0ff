//! `lanesum convert`: writes lists in another format.
//!
//! Records pass through one by one. A format with a header needs to know all columns first, so the
//! lists are read twice. A list from a pipe is kept in a temporary file for that.

use std::env;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader, IsTerminal as _, Seek as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use anyhow::{Context as _, anyhow, bail};
use lanesum_checksum::check::{FormatOfList, List, ListError, Options};
use lanesum_checksum::list::{self, ListReader, OneFolder, Snapshot};
use lanesum_list::formats::{CannotHold, Format, Invocation, Kind, Layout, Line, Wrong};
use lanesum_list::{Algorithm, Algorithms, Dialect, Digest, Ending, Record};

use crate::args::Convert;
use crate::check::of_no_object;
use crate::console::{self, Console, fail_to_write, locale_of_process, shown};
use crate::counts::counted;
use crate::hints::Problem;
use crate::output::{NotPlaced, Output, Target};
use crate::{failure, hints, signals, stdin};

/// Writes the records of the lists.
///
/// # Errors
/// The first invalid line of a list, or a record that the format cannot hold. Then no output file
/// changes.
pub fn run(args: &Convert) -> anyhow::Result<ExitCode> {
    let options = options(args);
    let only = args.only.iter().copied().collect();
    let mut layout = layout(args);
    if !args.to.has_header() {
        // Options that no list can satisfy are reported before any list is read.
        layout.algorithms = args.to.algorithms();
        args.to.writer(&layout).map_err(failure::usage)?;
    }
    let target = Target::of(args.output.as_deref())?;
    target.refuse_as_input(args.lists.iter().map(PathBuf::as_path))?;
    let mut inputs = inputs(args)?;
    if args.to.has_header() {
        inputs = inputs.into_iter().map(Input::keep).collect::<Result<_, _>>()?;
        survey(&mut inputs, &options, only, &mut layout)?;
    }
    let signals = signals::catch_while(inputs.iter().any(Input::is_stdin));
    let output = target.open(false)?;
    let console = Arc::new(Mutex::new(match output.file()? {
        None => Console::new(b"lanesum", locale_of_process()).context("standard output")?,
        Some(file) => Console::with_output(b"lanesum", locale_of_process(), file),
    }));
    let interruptions = signals.handle(&console, output.unfinished());
    let writer = args.to.writer(&layout)?;
    let mut printer = Printer::new(&*writer, &console, only);
    let printed = printer.all(&mut inputs, &options).and_then(|()| printer.flush());
    if let Err(failure) = printed {
        return no_list(args, failure, &output, &mut printer);
    }
    let Printer { etags, folder, algorithms, of_windows, .. } = printer;
    let name = args.output.as_deref().unwrap_or(Path::new("-"));
    output.finish(&interruptions).with_context(|| shown(name))?;
    let mut console = console::lock(&console);
    tell_left_out(args, etags, &mut console);
    for list in &of_windows {
        hints::of_backslashes(list, &from_stdin(args, list)).print(list.name(), &mut console);
    }
    if args.to == Kind::Gnu || (args.to == Kind::BagIt && !is_in_a_bag(name)) {
        tell_algorithms(algorithms, &mut console);
    }
    let says_folder = args.to == Kind::Hashdeep && layout.invocation.is_some();
    if let Some(folder) = folder.into_first().filter(|_| !says_folder) {
        tell_folder(&folder, &mut console);
    }
    Ok(ExitCode::SUCCESS)
}

/// Stops if the list is incomplete. Standard output has only whole lines.
fn no_list(
    args: &Convert,
    failure: Failure,
    output: &Output,
    printer: &mut Printer<'_>,
) -> anyhow::Result<ExitCode> {
    let is_stdout = matches!(output, Output::Stdout);
    let why = match failure {
        Failure::Output(why) => why,
        Failure::List(error) => match printer.flush() {
            Err(Failure::Output(why)) if is_stdout => why,
            _ => return Err(error),
        },
    };
    if is_stdout {
        return Ok(fail_to_write(&why, &mut console::lock(printer.console)));
    }
    let name = args.output.as_deref().unwrap_or(Path::new("-"));
    Err(NotPlaced::AsItWas(why)).with_context(|| shown(name))
}

/// Reports how many ETags the new format cannot hold.
fn tell_left_out(args: &Convert, etags: u64, console: &mut Console) {
    if etags == 0 {
        return;
    }
    let etags = counted(etags, "ETag", "ETags");
    let words =
        format!("left out {etags} of several parts: the format {} cannot hold them", args.to);
    console.message(words.as_bytes());
}

/// Reports the algorithm of untagged lines, if their digits do not identify it.
fn tell_algorithms(written: Algorithms, console: &mut Console) {
    let (by_any, keyed) = (Dialect::any(), Dialect::keyed(Algorithms::ALL));
    for algorithm in written.iter() {
        let reader = if algorithm.needs_key() { &keyed } else { &by_any };
        if !reader.identifies(algorithm) {
            let words = format!("the new list does not name its algorithm, {algorithm}");
            console.message(words.as_bytes());
            console.hint(&format!("check it with -a {algorithm}"));
        }
    }
}

/// Returns whether a name is that of a manifest, which contains the algorithm.
fn is_in_a_bag(list: &Path) -> bool {
    let list = List::Path(list.to_owned());
    FormatOfList::new(&list, b"", &Options::default()).folder.is_some()
}

/// Reports the directory of the files, which the new list does not contain.
fn tell_folder(folder: &[u8], console: &mut Console) {
    let folder = console.shown(OsStr::from_bytes(folder));
    console.message(format!("the names are relative to {folder}").as_bytes());
    console.hint(&format!("check the new list with --root {folder}"));
}

fn options(args: &Convert) -> Options {
    let ending = if args.zero { Ending::Nul } else { Ending::Newline };
    let dialect = args.algorithm.map_or_else(Dialect::any, Dialect::untagged_as);
    let mut options = Options::default();
    options.dialect = dialect.with_ending(ending);
    options.from = args.from;
    options.name = args.name.as_ref().map(|name| name.as_bytes().to_vec());
    options
}

fn layout(args: &Convert) -> Layout {
    let mut layout = Layout::new(Algorithms::NONE);
    layout.creation = Some(list::creation());
    if args.base64 {
        layout.dialect = layout.dialect.in_base64();
    }
    if args.zero && matches!(args.to, Kind::Gnu | Kind::Tag) {
        layout.dialect = layout.dialect.with_ending(Ending::Nul);
    }
    layout
}

/// Returns this command, with a list from standard input.
fn from_stdin(args: &Convert, list: &List) -> String {
    let reading = hints::reading(args.algorithm, args.from, args.zero);
    let only: Vec<_> = args.only.iter().map(ToString::to_string).collect();
    let options = [
        args.name.as_ref().map(|name| format!(" --name={}", shown(name))),
        (!only.is_empty()).then(|| format!(" --only {}", only.join(","))),
        args.base64.then(|| " --base64".to_owned()),
        args.output.as_ref().map(|file| format!(" -o {}", hints::value(file))),
    ];
    let operand = |path: &PathBuf| match stdin::list(path) == *list {
        true => " -".to_owned(),
        false => format!(" {}", hints::value(path)),
    };
    let operands =
        if args.lists.len() > 1 { args.lists.iter().map(operand).collect() } else { String::new() };
    let options: String = options.into_iter().flatten().collect();
    format!("convert --to {}{reading}{options}{operands}", args.to)
}

/// An open list.
pub struct Input {
    list: List,
    /// The command that reads the list from standard input, for hints.
    command: String,
    file: File,
    /// The state of the file at that time.
    snapshot: Snapshot,
}

/// Returns the lists in order. If the user must type one, prints a message.
fn inputs(args: &Convert) -> anyhow::Result<Vec<Input>> {
    let stdin_alone = [PathBuf::from("-")];
    let paths = if args.lists.is_empty() { &stdin_alone[..] } else { &args.lists };
    let inputs = paths.iter().map(|path| {
        let list = stdin::list(path);
        Input::open(list.clone(), from_stdin(args, &list))
    });
    let inputs = inputs.collect::<anyhow::Result<Vec<_>>>()?;
    if inputs.iter().any(Input::is_stdin) && io::stdin().is_terminal() {
        let console = Console::new(b"lanesum", locale_of_process());
        console.context("standard output")?.tell_list_is_awaited();
    }
    Ok(inputs)
}

impl Input {
    /// Opens a list. `command` is the command that reads it from standard input, for hints.
    ///
    /// # Errors
    /// Errors of the system, with the name of the list.
    pub fn open(list: List, command: String) -> anyhow::Result<Self> {
        let opened = list.open().and_then(|file| Snapshot::of(&file).map(|it| (file, it)));
        let (file, snapshot) = opened.with_context(|| called(&list))?;
        Ok(Self { list, command, file, snapshot })
    }

    fn is_stdin(&self) -> bool {
        self.list == List::Stdin
    }

    /// Returns the records of the list unchanged, one by one, with its format.
    ///
    /// # Errors
    /// The first invalid line, with its number and the name of the list.
    pub fn each(
        &mut self,
        options: &Options,
        mut each: impl FnMut(Record<'_>, &FormatOfList),
    ) -> anyhow::Result<()> {
        let given = self.records(options, false, |record, format| {
            each(record, format);
            Ok(())
        });
        given.map_err(|failure| match failure {
            Failure::List(error) => error,
            Failure::Output(error) => error.into(),
        })
    }

    /// The name in messages.
    pub fn name(&self) -> String {
        called(&self.list)
    }

    /// The list, which can be read from its start any number of times.
    fn keep(mut self) -> anyhow::Result<Self> {
        if self.snapshot.is_regular() && self.file.rewind().is_ok() {
            return Ok(self);
        }
        let name = self.name();
        let mut kept = tempfile::tempfile().context("a temporary file")?;
        io::copy(&mut self.file, &mut kept).with_context(|| name)?;
        kept.rewind()?;
        Ok(Self { file: kept, ..self })
    }

    /// Returns the records of the list one by one. With `joins`, adjacent records about one file
    /// become one.
    fn records(
        &mut self,
        options: &Options,
        joins: bool,
        mut each: impl FnMut(Record<'_>, &FormatOfList) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let name = self.name();
        let in_list = |error: anyhow::Error| Failure::List(error.context(name.clone()));
        let file = BufReader::with_capacity(1 << 16, &mut self.file);
        let text = list::open(file, options.dialect.ending());
        let text = text.map_err(|error| {
            in_list(hints::of_unread(&self.list, &error.into(), &self.command).into())
        })?;
        let head = text.get_ref().0.get_ref();
        let mut of_list = FormatOfList::new(&self.list, head, options);
        // In other formats, a record has everything about a file.
        let joins = joins && of_list.format.is_of_lines();
        let mut lines = ListReader::new(text);
        let (mut last, mut waiting, mut folder) = (0, None, OneFolder::default());
        let mut has_lines = false;
        let mut has_name = options.name.is_none();
        loop {
            let line =
                lines.next_line(&mut *of_list.format).context("read error").map_err(in_list)?;
            let Some(line) = line else { break };
            last = line.number;
            let record = record(line.parse_behind(has_lines, &mut *of_list.format));
            let record = record.with_context(|| format!("line {last}")).map_err(in_list)?;
            if let Some(record) = &record {
                has_lines = true;
                has_name |= options.name.as_ref().is_some_and(|name| **name == *record.name);
                let one =
                    folder.take(of_list.format.folder()).with_context(|| format!("line {last}"));
                one.map_err(in_list)?;
            }
            match (record, waiting.take()) {
                (None, before) => waiting = before,
                (Some(record), None) if joins => waiting = Some(record.into_owned()),
                (Some(record), Some(before)) => match join(before, record) {
                    Ok(joined) => waiting = Some(joined),
                    Err(pair) => {
                        let (before, record) = *pair;
                        each(before, &of_list)?;
                        waiting = Some(record.into_owned());
                    }
                },
                (Some(record), None) => each(record, &of_list)?,
            }
        }
        if self.snapshot.has_changed() {
            return Err(in_list(ListError::Changed.into()));
        }
        if !of_list.format.may_end() {
            return Err(in_list(anyhow!("line {}: {}", last.max(1), Wrong::CutOff)));
        }
        if let Some(name) = options.name.as_ref().filter(|_| has_lines && !has_name) {
            return Err(in_list(of_no_object(OsStr::from_bytes(name)).into()));
        }
        waiting.map_or(Ok(()), |record| each(record, &of_list))
    }
}

/// Returns the name of a list in messages.
fn called(list: &List) -> String {
    shown(OsStr::from_bytes(list.name()))
}

/// Returns the directory of the relative names of a list, if it is not the working directory.
fn folder<'a>(of_list: &'a FormatOfList, working: &Path) -> Option<&'a [u8]> {
    let by_place =
        of_list.folder.as_deref().map(|folder| folder.strip_prefix(".").unwrap_or(folder));
    let by_place = by_place.map(|folder| folder.as_os_str().as_bytes());
    let told = of_list.format.folder().or(by_place);
    told.filter(|folder| !folder.is_empty() && *folder != working.as_os_str().as_bytes())
}

/// Returns the record of a line, if it has one.
fn record(line: Line<'_>) -> anyhow::Result<Option<Record<'_>>> {
    match line {
        Line::Record { record, .. } => Ok(Some(record.with_etag_as_md5())),
        Line::Blank => Ok(None),
        Line::Unknown(algorithm) => bail!("unknown algorithm {algorithm}"),
        Line::Malformed => bail!("not a checksum line"),
        Line::Wrong(wrong) => Err(wrong.into()),
    }
}

/// Joins two records if they are about the same file and have different fields.
fn join<'a>(
    mut before: Record<'static>,
    record: Record<'a>,
) -> Result<Record<'static>, Box<(Record<'static>, Record<'a>)>> {
    let are_new = before.algorithms().intersection(record.algorithms()).is_empty();
    let is_same = before.name == record.name
        && before.size == record.size
        && before.times == record.times
        && before.etag == record.etag;
    if !is_same || !are_new || record.digests.is_empty() {
        return Err(Box::new((before, record)));
    }
    before.digests.extend(record.digests.iter().copied());
    Ok(before)
}

/// Finds out which columns there are, and rewinds the lists.
fn survey(
    inputs: &mut [Input],
    options: &Options,
    only: Algorithms,
    layout: &mut Layout,
) -> anyhow::Result<()> {
    (layout.size, layout.modified) = (false, false);
    let mut folders = Vec::new();
    for input in inputs {
        let mut folder = None;
        let surveyed = input.records(options, false, |record, format| {
            layout.algorithms = layout.algorithms.union(wanted(only, record.algorithms()));
            layout.size |= record.size.is_some();
            layout.modified |= record.times.modified.is_some();
            if folder.is_none() {
                folder = format.format.folder().map(<[u8]>::to_vec);
            }
            Ok(())
        });
        match surveyed {
            Err(Failure::List(error)) => return Err(error),
            Err(Failure::Output(error)) => return Err(error.into()),
            Ok(()) => input.file.rewind()?,
        }
        folders.push(folder);
    }
    // If all relative names are in one directory, a hashdeep list can contain it.
    if let [Some(folder), others @ ..] = &*folders
        && others.iter().all(|other| other.as_ref() == Some(folder))
    {
        let command = "lanesum convert".into();
        let is_root = rustix::process::geteuid().is_root();
        layout.invocation = Some(Invocation { folder: folder.clone(), command, is_root });
    }
    Ok(())
}

fn with_remedy(cannot: CannotHold, record: &Record<'_>) -> anyhow::Error {
    let is_in_parts = record.etag.is_some_and(|etag| etag.parts.is_some());
    match cannot {
        CannotHold::NotOne(_) => Problem::new(cannot.to_string(), "choose one: --only ALG").into(),
        CannotHold::NoDigest(_) | CannotHold::Lacks { .. } if is_in_parts => Problem::new(
            format!("{cannot}; an ETag of several parts is not a digest"),
            "--to csv, json or jsonl leaves it out",
        )
        .into(),
        cannot => cannot.into(),
    }
}

/// Returns the algorithms to write.
fn wanted(only: Algorithms, algorithms: Algorithms) -> Algorithms {
    if only.is_empty() { algorithms } else { only.intersection(algorithms) }
}

/// Returns the names of algorithms, with a word between them.
fn names(algorithms: Algorithms, between: &str) -> String {
    algorithms.iter().map(Algorithm::name).collect::<Vec<_>>().join(between)
}

/// The reason why there is no list.
enum Failure {
    /// A list cannot be read, or a record cannot be written.
    List(anyhow::Error),
    /// A write error.
    Output(io::Error),
}

struct Printer<'run> {
    format: &'run dyn Format,
    console: &'run Mutex<Console>,
    /// Reused for each record.
    text: Vec<u8>,
    /// The algorithms to write, or all if none were chosen.
    only: Algorithms,
    /// The algorithms of the records so far.
    algorithms: Algorithms,
    is_empty: bool,
    /// The number of skipped multipart ETags.
    etags: u64,
    /// The directory of the relative names so far.
    folder: OneFolder,
    /// The lists with such names.
    of_windows: Vec<List>,
}

impl<'run> Printer<'run> {
    fn new(format: &'run dyn Format, console: &'run Mutex<Console>, only: Algorithms) -> Self {
        Self {
            format,
            console,
            text: Vec::new(),
            only,
            algorithms: Algorithms::NONE,
            is_empty: true,
            etags: 0,
            folder: OneFolder::default(),
            of_windows: Vec::new(),
        }
    }

    fn all(&mut self, inputs: &mut [Input], options: &Options) -> Result<(), Failure> {
        let working = env::current_dir().unwrap_or_default();
        for input in &mut *inputs {
            let name = input.name();
            let (mut slashes, mut backslashes) = (false, false);
            input.records(options, true, |record, of_list| {
                slashes |= record.name.contains(&b'/');
                backslashes |= record.name.contains(&b'\\');
                if !record.name.starts_with(b"/") {
                    let one = self.folder.take(folder(of_list, &working));
                    let convert = |why| {
                        let words = format!("{name}: {why}");
                        anyhow::Error::from(Problem::new(words, "convert this list by itself"))
                    };
                    one.map_err(|why| Failure::List(convert(why)))?;
                }
                self.record(record, &name)
            })?;
            if backslashes && !slashes {
                self.of_windows.push(input.list.clone());
            }
        }
        if self.is_empty {
            let names: Vec<_> = inputs.iter().map(Input::name).collect();
            let words = "no checksum lines; nothing was written";
            return Err(Failure::List(anyhow!("{}: {words}", names.join(", "))));
        }
        self.text.clear();
        self.format.end(&mut self.text);
        self.print()
    }

    fn record(&mut self, mut record: Record<'_>, list: &str) -> Result<(), Failure> {
        let given = record.algorithms();
        let only = wanted(self.only, given);
        if only != given {
            let is_wanted = |digest: &Digest| only.contains(digest.algorithm());
            record.digests = record.digests.iter().copied().filter(is_wanted).collect();
        }
        let fail = |error: anyhow::Error| {
            let mut name = Vec::new();
            console::lock(self.console).quote(&mut name, &record.name);
            let name = String::from_utf8_lossy(&name);
            Failure::List(error.context(format!("{list}: {name}")))
        };
        if only.is_empty() && !self.only.is_empty() {
            let has = match given.is_empty() {
                true => String::new(),
                false => format!("; it has {}", names(given, " and ")),
            };
            return Err(fail(anyhow!(
                "has no digest of {} (--only){has}",
                names(self.only, " or ")
            )));
        }
        let algorithms = self.algorithms.union(only);
        if algorithms != self.algorithms {
            self.format
                .can_hold(algorithms)
                .map_err(|cannot| fail(with_remedy(cannot, &record)))?;
            self.algorithms = algorithms;
        }
        self.text.clear();
        if self.is_empty {
            self.format.begin(&mut self.text);
        } else {
            self.text.extend_from_slice(self.format.separator());
        }
        self.format
            .record(&mut self.text, &record)
            .map_err(|cannot| fail(with_remedy(cannot, &record)))?;
        self.is_empty = false;
        self.etags += u64::from(record.etag.is_some_and(|etag| etag.parts.is_some()));
        self.print()
    }

    fn print(&mut self) -> Result<(), Failure> {
        if self.text.is_empty() {
            return Ok(());
        }
        console::lock(self.console).line(&self.text).map_err(Failure::Output)
    }

    fn flush(&mut self) -> Result<(), Failure> {
        console::lock(self.console).flush().map_err(Failure::Output)
    }
}
