//! `lanesum etag`: prints the ETags that S3 gives to files.

use std::io::{self, IsTerminal as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use anyhow::Context as _;
use lanesum_checksum::Source;
use lanesum_checksum::engine::Io;
use lanesum_checksum::etag::{self, EtagsOfFile, Input, Outcome, PartSize};
use lanesum_list::formats::Gnu;
use lanesum_list::{Dialect, Ending};

use crate::args::Etag;
use crate::console::{self, Console, fail_to_write, locale_of_process};
use crate::failure::{self, Hinted};
use crate::hints::{self, Problem};
use crate::paths::{About, Paths, Trees};
use crate::progress::Display;
use crate::signals;

/// Prints a line for each file and part size, and a message for each file without an ETag.
///
/// # Errors
/// The run cannot start: an invalid pattern, or a read method without support for parts.
pub fn run(args: Etag) -> anyhow::Result<ExitCode> {
    if args.run.io == Io::Direct {
        return Err(Hinted::new("--io direct cannot read parts", "leave out --io direct").into());
    }
    let trees = Trees { walk: args.trees.options()? };
    let mut console = Console::new(b"lanesum", locale_of_process()).context("standard output")?;
    if args.paths.is_empty() {
        console.tell_who_waits();
    }
    let part_sizes = args.part_sizes();
    warn_of_sizes(&part_sizes, &mut console);
    let console = Arc::new(Mutex::new(console));
    let paths = paths(&args);
    signals::catch_while(paths.iter().any(|path| path == Path::new("-"))).handle(&console, None);
    let display = start_display(&args, paths.clone(), &part_sizes, &trees);
    console::lock(&console).set_bar(display.as_ref().map(|display| display.bar.clone()));

    let items = paths.into_iter().flat_map(move |path| {
        let stdin = (path == Path::new("-")).then_some((Source::Stdin, About::File));
        let below = if stdin.is_some() { None } else { Some(trees.items(path)) };
        let below = below.into_iter().flatten().map(|item| (item.source, item.about));
        stdin.into_iter().chain(below)
    });
    let inputs = items.map(|(source, context)| Input { source, context });
    let options = args.run.engine(display.as_ref());
    let mut etags = etag::etags(&options, &part_sizes, inputs);
    let mut printer = Printer::new(&args, part_sizes);
    let flush = || console::lock(&console).flush();
    let printed = loop {
        match etags.next_or_wait(flush) {
            Ok(Some(outcome)) => match printer.take(outcome, &mut console::lock(&console)) {
                Ok(()) => {}
                Err(error) => break Err(error),
            },
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    drop((etags, display));

    let mut console = console::lock(&console);
    console.set_bar(None);
    if let Err(error) = printed.and_then(|()| console.flush()) {
        return Ok(fail_to_write(&error, &mut console));
    }
    Ok(if printer.has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Warns of part sizes that S3 does not allow. Only files in one piece have the printed ETags.
fn warn_of_sizes(part_sizes: &[PartSize], console: &mut Console) {
    let others: Vec<_> =
        part_sizes.iter().filter(|size| !size.is_for_s3()).map(PartSize::to_string).collect();
    if others.is_empty() {
        return;
    }
    let words = format!(
        "warning: S3 has no objects in parts of {}: it allows only parts of {} to {}",
        others.join(" or "),
        etag::size_name(etag::LEAST_PART),
        etag::size_name(etag::LARGEST_PART),
    );
    console.message(words.as_bytes());
}

fn paths(args: &Etag) -> Vec<PathBuf> {
    if args.paths.is_empty() { vec![PathBuf::from("-")] } else { args.paths.clone() }
}

/// A bar, but not if the user types the input. With several part sizes all bytes are hashed several
/// times, which no total shows.
fn start_display(
    args: &Etag,
    paths: Vec<PathBuf>,
    part_sizes: &[PartSize],
    trees: &Trees,
) -> Option<Display> {
    let paths = Paths::Arguments(paths.into_iter());
    let is_typed = paths.read_stdin() && io::stdin().is_terminal();
    let files = || paths.files_to_count(trees).filter(|_| part_sizes.len() == 1);
    Display::start_unless(is_typed, args.run.progress, files)
}

/// Prints the results of files.
struct Printer {
    format: Gnu,
    /// The names of the part sizes, if there are several.
    sizes: Vec<Option<String>>,
    /// Reused for each file.
    lines: Vec<u8>,
    has_failed: bool,
}

impl Printer {
    fn new(args: &Etag, part_sizes: Vec<PartSize>) -> Self {
        let ending = if args.zero { Ending::Nul } else { Ending::Newline };
        let are_several = part_sizes.len() > 1;
        let name = |size: PartSize| are_several.then(|| size.to_string());
        Self {
            format: Gnu::new(Dialect::any().with_ending(ending)),
            sizes: part_sizes.into_iter().map(name).collect(),
            lines: Vec::new(),
            has_failed: false,
        }
    }

    fn take(&mut self, outcome: Outcome<About>, console: &mut Console) -> io::Result<()> {
        let Outcome { source, context, result, .. } = outcome;
        match context {
            About::Skipped(path, why) => {
                let hint = hints::of_skip(&path, why);
                let problem = Problem { words: why.to_string(), hint };
                problem.print(path.as_os_str().as_bytes(), console);
                return Ok(());
            }
            About::Failed(_, name, why) => {
                self.fail(&name, why, None, console);
                return Ok(());
            }
            About::File | About::Unseen => {}
        }
        let name = source.path().map_or(&b"-"[..], |path| path.as_os_str().as_bytes());
        match result {
            Ok(etags) => self.print(name, &etags, console),
            Err(error) => {
                self.fail(name, error.to_string(), None, console);
                Ok(())
            }
        }
    }

    fn print(&mut self, name: &[u8], found: &EtagsOfFile, console: &mut Console) -> io::Result<()> {
        self.lines.clear();
        let mut too_many = Vec::new();
        for (etag, size) in found.etags.iter().zip(&self.sizes) {
            match etag {
                Ok(etag) => self.format.etag(&mut self.lines, etag, size.as_deref(), name),
                Err(error) => too_many.push(error),
            }
        }
        if !self.lines.is_empty() {
            console.line(&self.lines)?;
        }
        for why in too_many {
            let hint = format!("use parts of {} or more", etag::size_name(why.least()));
            self.fail(name, why.to_string(), Some(hint), console);
        }
        Ok(())
    }

    fn fail(&mut self, name: &[u8], words: String, hint: Option<String>, console: &mut Console) {
        let hint = hint.or_else(|| failure::did_you_mean(name));
        self.has_failed = true;
        Problem { words, hint }.print(name, console);
    }
}
