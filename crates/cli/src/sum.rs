//! `lanesum [sum]`: prints the checksums of files and trees.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::iter;
use std::ops::ControlFlow;
use std::os::fd::AsFd as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::vec;

use anyhow::Context as _;
use lanesum_checksum::list::{self, Ending, Style};
use lanesum_checksum::walk::{self, Entry, Exclude, Skip, WalkOptions};
use lanesum_checksum::{Algorithms, Digest, Error, Job, Outcome, Source, engine};

use crate::args::{Run, Sum};
use crate::console::{self, Console, fail_to_write, locale_of_process};
use crate::failure::Usage;
use crate::key::KeyFile;
use crate::output::{Output, OwnFiles, Target};
use crate::progress::Display;
use crate::signals;

/// Prints a line for each file and algorithm, and a message for each file that has none.
///
/// # Errors
/// What keeps it from beginning: a bad pattern, an output that cannot be made.
pub fn run(args: Sum) -> anyhow::Result<ExitCode> {
    let lines = Lines::of(&args);
    let walk = WalkOptions {
        follow: args.follow,
        one_file_system: args.one_file_system,
        gitignore: args.gitignore,
        exclude: Exclude::new(&args.exclude).map_err(|error| Usage(error.to_string()))?,
    };
    let key_file = KeyFile::open(args.key_file.as_deref(), args.algorithms())?;
    let target = Target::of(args.output.as_deref())?;
    // Before there is a file that an interruption would have to remove.
    let signals = signals::catch()?;
    let output = target.open()?;
    let locale = locale_of_process();
    let mut console = match output.file()? {
        None => Console::new(b"lanesum", locale).context("standard output")?,
        Some(file) => Console::with_output(b"lanesum", locale, file),
    };
    console.expect_many();
    let console = Arc::new(Mutex::new(console));
    signals.handle(&console, output.unfinished())?;
    if let Some(key_file) = &key_file {
        key_file.warn(&mut console::lock(&console));
    }

    let mut paths = Paths::of(&args)?;
    let own_files = output.own_files();
    let display = Display::start(args.run.progress, || paths.files_to_count(&walk, &own_files))?;
    console::lock(&console).set_bar(display.as_ref().map(|d| d.bar.clone()));
    let mut options = args.run.engine(display.as_ref());
    options.key = key_file.map(|file| file.key);

    let mut all_well = true;
    let mut printed = Ok(());
    engine::run(
        &options,
        paths.jobs(&walk, &own_files, args.algorithms()),
        |outcome| lines.make(outcome),
        |line| {
            let mut console = console::lock(&console);
            match line {
                Made::Lines(lines) => printed = console.line(&lines),
                Made::Skipped(path, why) => {
                    console.about(path.as_os_str().as_bytes(), &why.to_string())
                }
                Made::Failed(name, why) => {
                    all_well = false;
                    console.about(&name, &why);
                }
            }
            if printed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        },
    );
    drop(display);

    let mut console = console::lock(&console);
    console.set_bar(None);
    if let Err(error) = printed.and_then(|()| console.flush()) {
        return Ok(match &args.output {
            None => fail_to_write(&error, &mut console),
            Some(path) => {
                let mut words = lanesum_checksum::error::message(&error);
                if let Output::Replace { .. } = output {
                    words.push_str("; it is as it was");
                }
                console.about(path.as_os_str().as_bytes(), &words);
                ExitCode::FAILURE
            }
        });
    }
    end(all_well, output, args.output.as_deref(), &mut console)
}

/// Puts the list in its place if all is well.
fn end(
    all_well: bool,
    output: Output,
    path: Option<&Path>,
    console: &mut Console,
) -> anyhow::Result<ExitCode> {
    if all_well {
        output.finish().with_context(|| path.unwrap_or(Path::new("-")).display().to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    if let (Output::Replace { .. }, Some(path)) = (output, path) {
        console.about(
            path.as_os_str().as_bytes(),
            "not written, since not all could be read; --exclude what cannot, or do without -o",
        );
    }
    Ok(ExitCode::FAILURE)
}

impl Run {
    /// How the engine runs.
    pub fn engine(&self, display: Option<&Display>) -> engine::Options {
        let default = engine::Options::default();
        engine::Options {
            threads: self.jobs.unwrap_or(default.threads),
            io: self.io,
            backend: self.backend.unwrap_or(default.backend),
            progress: display.map(|display| Arc::clone(&display.progress)),
            own_descriptors: true,
            ..default
        }
    }
}

/// Where the paths come from.
enum Paths {
    Arguments(vec::IntoIter<PathBuf>),
    Names {
        /// None after an error, which would come again.
        names: Option<io::Split<BufReader<File>>>,
        /// How many there were.
        count: u64,
        /// What their file is called.
        file: PathBuf,
    },
}

/// A path, or why there is none, ready for a message.
type GivenPath = Result<PathBuf, (Vec<u8>, String)>;

impl Paths {
    fn of(args: &Sum) -> anyhow::Result<Self> {
        let Some(from) = &args.files0_from else {
            let stdin = || vec![PathBuf::from("-")];
            let paths = if args.paths.is_empty() { stdin() } else { args.paths.clone() };
            return Ok(Self::Arguments(paths.into_iter()));
        };
        let file = if from == Path::new("-") {
            io::stdin().as_fd().try_clone_to_owned().map(File::from)
        } else {
            File::open(from)
        };
        let file = file.with_context(|| from.display().to_string())?;
        let names = Some(BufReader::new(file).split(b'\0'));
        Ok(Self::Names { names, count: 0, file: from.clone() })
    }

    /// The files whose sizes make up the total. Names that come through a pipe come only once.
    fn files_to_count(
        &self,
        walk: &WalkOptions,
        own_files: &OwnFiles,
    ) -> impl Iterator<Item = PathBuf> + Send + use<> {
        let arguments = match self {
            Self::Arguments(paths) => paths.as_slice().to_vec(),
            Self::Names { .. } => Vec::new(),
        };
        let (walk, own_files) = (walk.clone(), own_files.clone());
        arguments.into_iter().filter(|path| path != Path::new("-")).flat_map(move |path| {
            let own_files = own_files.clone();
            walk::walk(&path, &walk).filter_map(move |entry| match entry {
                Entry::File(path) if !own_files.contain(&path) => Some(path),
                _ => None,
            })
        })
    }

    /// A job for each path, and for each file below one that is a folder.
    fn jobs(
        &mut self,
        walk: &WalkOptions,
        own_files: &OwnFiles,
        algorithms: Algorithms,
    ) -> impl Iterator<Item = Job<Note>> + Send + use<'_> {
        let (walk, own_files) = (walk.clone(), own_files.clone());
        let items = self.flat_map(move |path| -> Box<dyn Iterator<Item = Item> + Send> {
            match path {
                Err((place, why)) => Box::new(iter::once(Item::Failed(place, why))),
                Ok(path) if path == Path::new("-") => Box::new(iter::once(Item::Stdin)),
                Ok(path) => {
                    let own_files = own_files.clone();
                    let entries = walk::walk(&path, &walk);
                    Box::new(entries.filter(move |entry| !own_files.contain(entry.path())).map(
                        move |entry| match entry {
                            // Not as paths: their parts need not be told apart.
                            Entry::File(file) if file.as_os_str() == path.as_os_str() => {
                                Item::Argument(file)
                            }
                            entry => Item::Entry(entry),
                        },
                    ))
                }
            }
        });
        items.map(move |item| {
            let (source, context) = item.job();
            Job { source, algorithms, context }
        })
    }
}

impl Iterator for Paths {
    type Item = GivenPath;

    fn next(&mut self) -> Option<GivenPath> {
        let (name, number, file) = match self {
            Self::Arguments(paths) => return paths.next().map(Ok),
            Self::Names { names, count, file } => {
                let name = names.as_mut()?.next()?;
                if name.is_err() {
                    *names = None;
                }
                *count += 1;
                (name, *count, file)
            }
        };
        let why = match name {
            Ok(name) if name.is_empty() => format!("name {number} is empty"),
            Ok(name) => return Some(Ok(PathBuf::from(OsString::from_vec(name)))),
            Err(error) => lanesum_checksum::error::message(&error),
        };
        Some(Err((file.as_os_str().as_bytes().to_vec(), why)))
    }
}

/// Something on the way to become a job.
enum Item {
    Stdin,
    /// An argument that is no folder, whatever else it is.
    Argument(PathBuf),
    Entry(Entry),
    Failed(Vec<u8>, String),
}

impl Item {
    fn job(self) -> (Source, Note) {
        match self {
            Self::Stdin => (Source::Stdin, Note::File),
            Self::Argument(path) => (Source::Path(path), Note::File),
            Self::Entry(Entry::File(path)) => (Source::Regular(path), Note::File),
            Self::Entry(Entry::Skipped { path, why }) => {
                (Source::Nothing, Note::Skipped(path, why))
            }
            Self::Entry(Entry::Failed { path, error }) => {
                let why = lanesum_checksum::error::message(&error);
                (Source::Nothing, Note::Failed(path.into_os_string().into_vec(), why))
            }
            Self::Failed(place, why) => (Source::Nothing, Note::Failed(place, why)),
        }
    }
}

/// What a job is about.
enum Note {
    File,
    Skipped(PathBuf, Skip),
    Failed(Vec<u8>, String),
}

/// What is printed for a job.
enum Made {
    Lines(Vec<u8>),
    Skipped(PathBuf, Skip),
    Failed(Vec<u8>, String),
}

/// How lines are written.
#[derive(Clone, Copy)]
struct Lines {
    style: Style,
    ending: Ending,
}

impl Lines {
    fn of(args: &Sum) -> Self {
        let style = if args.tagged() { Style::Tagged } else { Style::Untagged { binary: false } };
        Self { style, ending: if args.zero { Ending::Nul } else { Ending::Newline } }
    }

    fn make(self, outcome: Outcome<Note>) -> Made {
        match outcome.context {
            Note::Skipped(path, why) => Made::Skipped(path, why),
            Note::Failed(name, why) => Made::Failed(name, why),
            Note::File => {
                let name = match &outcome.source {
                    Source::Path(path) | Source::Regular(path) => path.as_os_str(),
                    Source::Stdin | Source::Nothing => OsStr::new("-"),
                };
                self.file(name.as_bytes(), outcome.result)
            }
        }
    }

    fn file(self, name: &[u8], result: Result<engine::Hashed, Error>) -> Made {
        match result {
            Ok(hashed) => {
                // Room for what a line has beside the name: digits, blanks, a tag.
                let around = |digest: &Digest| 2 * digest.as_bytes().len() + 16;
                let length = hashed.digests.iter().map(|digest| name.len() + around(digest)).sum();
                let mut lines = Vec::with_capacity(length);
                for digest in &hashed.digests {
                    list::write_line(&mut lines, self.style, self.ending, name, digest);
                }
                Made::Lines(lines)
            }
            Err(error) => Made::Failed(name.to_vec(), error.to_string()),
        }
    }
}
