//! `lanesum compare`: prints the differences between two lists, two trees, or a list and a tree.

mod form;

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::io::{self, IsTerminal as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use anyhow::Context as _;
use indicatif::{DecimalBytes, HumanCount};
use lanesum_checksum::Algorithm;
use lanesum_checksum::check::List;
use lanesum_checksum::compare::{
    Basis, Class, Comparison, Difference, Differences, Doubts, Input, Options,
};
use lanesum_checksum::hints::Written;
use lanesum_checksum::walk::Skip;
use lanesum_list::{Dialect, Ending};

use crate::args::Compare;
use crate::check::in_parts;
use crate::console::{self, Console, fail_to_write, locale_of_process};
use crate::counts::{counted, files};
use crate::failure::{Hinted, Usage};
use crate::hints::{self, Problem, SAYS};
use crate::progress::Display;
use crate::{signals, stdin};

/// Compares the two sides.
///
/// # Errors
/// The comparison cannot start.
pub fn run(args: Compare) -> anyhow::Result<ExitCode> {
    let inputs = [&args.before, &args.now].map(|path| input(path));
    if inputs.iter().all(|input| *input == Input::List(List::Stdin)) {
        return Err(Usage("only one side can be standard input".to_owned()).into());
    }
    let options = options(&args)?;
    let mut console = Console::new(b"lanesum", locale_of_process()).context("standard output")?;
    let reads_stdin = inputs.contains(&Input::List(List::Stdin));
    if reads_stdin && io::stdin().is_terminal() {
        console.tell_list_is_awaited();
    }
    let console = Arc::new(Mutex::new(console));
    signals::catch_while(reads_stdin).handle(&console, None);
    let dialect = options.dialect;

    let mut comparison = match Comparison::prepare(&inputs, &options) {
        Ok(comparison) => comparison,
        Err(why) => {
            let mut console = console::lock(&console);
            let problem = match &inputs[why.side] {
                Input::List(list) => {
                    hints::of_unread(list, &why.error, &from_stdin(&args, why.side, &console))
                }
                _ => Problem { words: why.to_string(), hint: None },
            };
            problem.print(name(&inputs[why.side]), &mut console);
            return Ok(ExitCode::FAILURE);
        }
    };
    let is_usable = tell_doubts(&args, &inputs, &comparison, &mut console::lock(&console));
    if !is_usable {
        return Ok(ExitCode::FAILURE);
    }
    let files = comparison.files();
    let display = Display::start_unless(false, args.run.progress, || Some(move || Box::new(files)));
    console::lock(&console).set_bar(display.as_ref().map(|display| display.bar.clone()));
    comparison.read(&args.run.engine(display.as_ref()));
    drop(display);

    let mut console = console::lock(&console);
    console.set_bar(None);
    let differences = comparison.finish();
    let printed = form::print(&args, &differences, &mut console);
    if let Err(error) = printed.and_then(|()| console.flush()) {
        return Ok(fail_to_write(&error, &mut console));
    }
    tell_other_algorithms(&args, &inputs, &differences, dialect, &mut console);
    if !differences.part_sizes().is_empty() {
        let words = format!("ETags match with parts of {}", in_parts(differences.part_sizes()));
        console.message(words.as_bytes());
    }
    let summary = Summary::of(&differences);
    if !summary.is_all_equal() {
        let is_told = tell_backslashes(&args, &inputs, &differences, &mut console);
        tell_written(&args, &inputs, &differences, is_told, &mut console);
    }
    let passed_over = passed_over(&inputs, &differences, &console);
    let has_differences = !summary.classes.is_empty() && !summary.is_all_equal();
    let sides = if has_differences { sides(&inputs, &console) } else { String::new() };
    console.message((summary.words(&args) + &sides + &passed_over).as_bytes());
    let are_doubts = differences.doubts().iter().any(Doubts::are_there);
    Ok(if summary.is_all_equal() && !are_doubts { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A directory is a tree, and any other file is a list.
fn input(path: &Path) -> Input {
    match stdin::list(path) {
        List::Path(path) if path.is_dir() => Input::Tree(path),
        list => Input::List(list),
    }
}

fn name(input: &Input) -> &[u8] {
    match input {
        Input::List(list) => list.name(),
        Input::Tree(path) => path.as_os_str().as_bytes(),
        _ => b"",
    }
}

fn options(args: &Compare) -> anyhow::Result<Options> {
    let mut options = Options::default();
    if args.algorithm.is_some_and(|algorithm| algorithm.needs_key()) {
        let hint = "lanesum check --key-file FILE LIST";
        return Err(Hinted::new("keyed checksums cannot be compared", hint).into());
    }
    options.quick = args.quick;
    options.strip = args.strip;
    if let Some(algorithm) = args.algorithm {
        options.algorithms = algorithm.into();
        options.dialect = Dialect::untagged_as(algorithm);
    }
    if args.zero {
        options.dialect = options.dialect.with_ending(Ending::Nul);
    }
    options.from = args.from;
    options.part_sizes.clone_from(&args.part_size);
    options.walk = args.trees.options()?;
    Ok(options)
}

/// Reports problems of the sides. Returns whether both are usable.
fn tell_doubts(
    args: &Compare,
    inputs: &[Input; 2],
    comparison: &Comparison,
    console: &mut Console,
) -> bool {
    let mut is_usable = true;
    for ((input, doubts), entries) in
        inputs.iter().zip(comparison.doubts()).zip(comparison.entries())
    {
        for (path, why) in &doubts.skipped {
            let hint = hints::of_skip(path, *why);
            let problem = Problem { words: why.to_string(), hint };
            problem.print(path.as_os_str().as_bytes(), console);
        }
        if !doubts.would_be_seen_from.is_empty() {
            let prefix = console.shown(OsStr::from_bytes(&doubts.would_be_seen_from));
            let words = format!("more file names match if {prefix} is removed from them");
            Problem::new(words, format!("--strip removes {prefix}")).print(name(input), console);
        }
        let is_told = doubts.may_be_seen_from.is_some();
        if !doubts.seen_from.is_empty() && !is_told && !is_of_a_folder(&doubts.seen_from, inputs) {
            let prefix = console.shown(OsStr::from_bytes(&doubts.seen_from));
            console.about(name(input), &format!("its names are compared without {prefix}"));
        }
        if let Some(other) = &doubts.may_be_seen_from {
            tell_other_way(name(input), &doubts.seen_from, other, console);
        }
        if doubts.unknown > 0 {
            let algorithms: Vec<_> = doubts.unknown_algorithms.iter().map(String::as_str).collect();
            let words = format!(
                "not compared: {} of unknown algorithms ({})",
                counted(doubts.unknown, "line", "lines"),
                algorithms.join(", ")
            );
            console.about(name(input), &words);
        }
        if let Some((line, why)) = &doubts.first_malformed {
            let problem = match doubts.malformed {
                _ if entries > 0 || why != "not a checksum line" => None,
                _ => Some(match args.algorithm {
                    Some(algorithm) => Problem::new(
                        format!("no line has as many digits as {algorithm}"),
                        "leave out -a to detect the algorithm",
                    ),
                    None => Problem::new(
                        "no checksum lines",
                        "A and B are checksum lists or directories",
                    ),
                }),
            };
            let problem = problem.unwrap_or_else(|| {
                let words = match doubts.malformed {
                    1 => format!("line {line}: {why}"),
                    lines => format!("{lines} invalid lines; the first is line {line}: {why}"),
                };
                Problem { words, hint: None }
            });
            problem.print(name(input), console);
        }
        let is_list = matches!(input, Input::List(_));
        if is_list && entries == 0 && !doubts.are_there() {
            console.about(name(input), "no checksum lines; nothing was compared");
        }
        is_usable &= entries > 0 || !is_list;
    }
    is_usable
}

/// Reports how names of a list are read, if other readings also match files.
fn tell_other_way(list: &[u8], taken: &[u8], other: &[u8], console: &mut Console) {
    let way = |prefix: &[u8]| {
        let mut words = if prefix.is_empty() { "as written" } else { "without " }.into();
        if !prefix.is_empty() {
            console.quote(&mut words, prefix);
        }
        String::from_utf8_lossy(&words).into_owned()
    };
    let (taken, other) = (way(taken), way(other));
    let words = format!("its names are compared {taken}; some also match {other}");
    console.about(list, &words);
}

/// Reports a list of which no digest matches. It may have another algorithm or key.
fn tell_other_algorithms(
    args: &Compare,
    inputs: &[Input; 2],
    differences: &Differences,
    dialect: Dialect,
    console: &mut Console,
) {
    let doubtful = differences.doubtful();
    for (input, doubts) in inputs.iter().zip(differences.doubts()) {
        let Input::List(list) = input else { continue };
        for taken_for in doubts.untagged.intersection(doubtful).iter() {
            if args.algorithm.is_none()
                && let Some(doubt) = SAYS.of_untagged(list, dialect, taken_for, false)
            {
                Problem::from(doubt).print(name(input), console);
            }
        }
        if doubtful.contains(Algorithm::Blake3) {
            let hint = "if they were made with a key: lanesum check --key-file FILE LIST";
            Problem::new("no BLAKE3 digest matches", hint).print(name(input), console);
        }
    }
}

/// Reports a list with Windows paths, unless the other side has them, too. Returns whether it did.
fn tell_backslashes(
    args: &Compare,
    inputs: &[Input; 2],
    differences: &Differences,
    console: &mut Console,
) -> bool {
    let [before, now] = differences.doubts().each_ref().map(|doubts| doubts.has_backslashes);
    let side = match (before, now) {
        (true, false) => 0,
        (false, true) => 1,
        _ => return false,
    };
    let Input::List(list) = &inputs[side] else { return false };
    hints::of_backslashes(list, &from_stdin(args, side, console)).print(list.name(), console);
    true
}

/// Returns this command, with one side from standard input.
fn from_stdin(args: &Compare, side: usize, console: &Console) -> String {
    let mut operands = [&args.before, &args.now].map(|path| console.shown(path));
    operands[side] = "-".to_owned();
    let reading = hints::reading(args.algorithm, args.from, args.zero);
    let (strip, quick) = (args.strip, args.quick);
    let options =
        [(strip, " --strip"), (quick, " --quick")].map(|(is, it)| if is { it } else { "" });
    format!("compare{}{reading} {}", options.concat(), operands.join(" "))
}

/// Reports similar names that only one side has, because they are spelled differently. Windows
/// paths may have been reported already.
fn tell_written(
    args: &Compare,
    inputs: &[Input; 2],
    differences: &Differences,
    is_of_windows_told: bool,
    console: &mut Console,
) {
    let mut alone = [HashSet::new(), HashSet::new()];
    for Difference { class, name, from, .. } in differences.iter() {
        let (before, now) = match class {
            Class::Missing => (Some(name), None),
            Class::New | Class::Copied => (None, Some(name)),
            Class::Moved => (from, Some(name)),
            _ => continue,
        };
        for (side, name) in alone.iter_mut().zip([before, now]) {
            side.extend(name.filter(|name| !name.is_ascii()));
        }
    }
    let written = |side: usize| {
        let is_there = |path: &Path| alone[1 - side].contains(path.as_os_str().as_bytes());
        let told = |name: &&[u8]| Some((Written::of(name, is_there)?, name.to_vec()));
        // The first name in order, so that each run reports the same one.
        alone[side].iter().filter_map(told).min_by(|(_, one), (_, other)| one.cmp(other))
    };
    let lists = [0, 1].map(|side| match &inputs[side] {
        Input::List(list) => Some((side, list)),
        _ => None,
    });
    if let Some((side, list)) = lists.into_iter().flatten().next() {
        if let Some((written, name)) = written(side) {
            let problem = hints::of_written(&written, list, &from_stdin(args, side, console));
            match written {
                Written::OfWindows(_) if is_of_windows_told => {}
                Written::OfWindows(_) => problem.print(list.name(), console),
                _ => problem.print(&name, console),
            }
        }
    } else if let Some((Written::Apart | Written::InOne, name)) = written(0) {
        let words = "names are in different Unicode forms on the two sides (NFD, as on macOS, and \
                     NFC)";
        console.about(&name, words);
    }
}

/// Returns the name of each side, for users who exchange the two.
fn sides(inputs: &[Input; 2], console: &Console) -> String {
    let [before, after] = inputs.each_ref().map(|it| console.shown(OsStr::from_bytes(name(it))));
    format!("; before: {before}, after: {after}")
}

/// Returns the skipped entries of each side: `; skipped: 2 links in a, 1 special file in b`.
fn passed_over(inputs: &[Input; 2], differences: &Differences, console: &Console) -> String {
    let is_special = |why: &Skip| {
        matches!(
            why,
            Skip::Fifo | Skip::Socket | Skip::BlockDevice | Skip::CharDevice | Skip::Unknown
        )
    };
    let sides = inputs.iter().zip(differences.doubts()).filter_map(|(input, doubts)| {
        let Input::Tree(folder) = input else { return None };
        let special = doubts.skipped.iter().filter(|(_, why)| is_special(why)).count() as u64;
        let kinds = [(doubts.links, "link", "links"), (special, "special file", "special files")];
        let kinds = kinds.into_iter().filter(|(count, ..)| *count > 0);
        let told: Vec<_> = kinds.map(|(count, one, many)| counted(count, one, many)).collect();
        let folder = console.shown(folder);
        (!told.is_empty()).then(|| format!("{} in {folder}", told.join(" and ")))
    });
    let sides: Vec<_> = sides.collect();
    match sides.is_empty() {
        true => String::new(),
        false => format!("; skipped: {}", sides.join(", ")),
    }
}

/// Returns whether a prefix comes from where the list was made, inside or outside of the directory
/// that is compared. Then users need no message.
fn is_of_a_folder(prefix: &[u8], inputs: &[Input; 2]) -> bool {
    let prefix = Path::new(OsStr::from_bytes(prefix));
    inputs.iter().any(|input| match input {
        Input::Tree(root) => {
            root == prefix || std::path::absolute(root).is_ok_and(|root| root == prefix)
        }
        _ => false,
    })
}

/// The number of files in each class, and their bytes as far as they are known. Unreadable
/// directories are a class, but no files.
struct Summary {
    classes: BTreeMap<Class, (u64, u64)>,
    /// The weakest basis of equal files.
    basis: Option<Basis>,
}

impl Summary {
    fn of(differences: &Differences) -> Self {
        let mut summary = Self { classes: BTreeMap::new(), basis: None };
        for Difference { class, size, size_before, basis, .. } in differences.iter() {
            let (count, bytes) = summary.classes.entry(class).or_default();
            *count += 1;
            *bytes = bytes.saturating_add(size.or(size_before).unwrap_or(0));
            if class == Class::Alike {
                summary.basis = summary.basis.max(basis);
            }
        }
        summary
    }

    /// With `--quick` all files are alike. Two sides without files are not equal.
    fn is_all_equal(&self) -> bool {
        let is_same = |class: &Class| matches!(class, Class::Equal | Class::Alike);
        !self.classes.is_empty() && self.classes.keys().all(is_same)
    }

    fn words(&self, args: &Compare) -> String {
        if self.classes.is_empty() {
            return "no files on either side; nothing was compared".to_owned();
        }
        let alike = match self.basis {
            Some(Basis::SizeAndTime) => "alike in name, size and time",
            Some(Basis::Size) => "alike in name and size",
            Some(Basis::Name) => "alike in name",
            _ => "alike",
        };
        let words = |(&class, &(count, bytes)): (&Class, &(u64, u64))| {
            let class = if class == Class::Alike { alike } else { class.name() };
            let bytes =
                if bytes > 0 { format!(" ({})", DecimalBytes(bytes)) } else { String::new() };
            format!("{} {class}{bytes}", HumanCount(count))
        };
        let mut of_files = self.classes.clone();
        let folders = of_files.remove(&Class::UnreadableFolder).map_or(0, |(count, _)| count);
        let all: u64 = of_files.values().map(|(count, _)| count).sum();
        let mut summary = files(all);
        if !of_files.is_empty() {
            summary += &format!(": {}", of_files.iter().map(words).collect::<Vec<_>>().join(", "));
        }
        if folders > 0 {
            let folders = counted(folders, "unreadable directory", "unreadable directories");
            summary += &format!("; {folders}");
        }
        let contents = if args.quick { "; contents were not read" } else { "" };
        summary + contents
    }
}
