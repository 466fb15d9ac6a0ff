//! The lists of an import, which are all read before anything is recorded.

use std::collections::HashSet;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use anyhow::bail;
use lanesum_checksum::Algorithms;
use lanesum_checksum::check::{self, FormatOfList, List};
use lanesum_checksum::hints::{Lookup, NotFound};
use lanesum_list::{Dialect, Ending, Record};

use crate::args::ImportArgs;
use crate::catalog::commands::Commands;
use crate::check::refuse_beside_stdin;
use crate::console::Console;
use crate::convert::Input;
use crate::{hints, stdin};

/// The contents of all lists.
#[derive(Default)]
pub struct Lists {
    /// Listed files by their paths.
    pub entries: Vec<(PathBuf, Record<'static>)>,
    /// The algorithms of the digests.
    pub algorithms: Algorithms,
    /// The number of empty lists.
    pub empty: usize,
    /// The lists, with their missing names.
    lists: Vec<Lacking>,
}

/// A list, and its missing names.
struct Lacking {
    list: List,
    entries: u64,
    names: NotFound,
}

impl Lists {
    /// Reads all lists.
    ///
    /// # Errors
    /// The first invalid line, or no list has a checksum line.
    pub fn read(args: &ImportArgs, console: &mut Console) -> anyhow::Result<Self> {
        let dialect = args.algorithm.map_or_else(Dialect::any, Dialect::untagged_as);
        let ending = if args.zero { Ending::Nul } else { Ending::Newline };
        let mut options = check::Options::default();
        options.dialect = dialect.with_ending(ending);
        options.from = args.from;
        options.root.clone_from(&args.root);
        options.beside = args.beside;
        let lists: Vec<_> = args.lists.iter().map(|path| stdin::list(path)).collect();
        refuse_beside_stdin(args.beside, &lists)?;
        let mut all = Self::default();
        let mut encoded = Vec::new();
        let count = lists.len();
        for list in lists {
            all.read_list(args, list, &options, &mut encoded, console)?;
            if all.empty == count {
                let name = args.lists.last().map(|list| console.shown(list)).unwrap_or_default();
                bail!("{name}: no checksum lines; nothing was recorded");
            }
        }
        all.take_encoded(encoded);
        Ok(all)
    }

    fn read_list(
        &mut self,
        args: &ImportArgs,
        list: List,
        options: &check::Options,
        encoded: &mut Vec<Encoded>,
        console: &mut Console,
    ) -> anyhow::Result<()> {
        if list == List::Stdin && io::stdin().is_terminal() {
            console.tell_list_is_awaited();
        }
        let folder = place(args, &list).folder().map(Path::to_owned);
        let command = again(args, console).in_folder(folder.as_deref());
        let mut input = Input::open(list.clone(), command)?;
        let mut lacking = Lacking { list, entries: 0, names: NotFound::default() };
        input.each(options, |record, format| {
            lacking.entries += 1;
            self.algorithms = self.algorithms.union(record.algorithms());
            let (path, raw) = paths_of(&record, format, options);
            if let Some(raw) = raw {
                return encoded.push(Encoded { path, raw, record: record.into_owned() });
            }
            if path.symlink_metadata().is_err() {
                let place = place(args, &lacking.list);
                lacking.names.note(&record.name, format.format.folder(), place);
            }
            self.entries.push((path, record.into_owned()));
        })?;
        if lacking.entries == 0 {
            self.empty += 1;
            console.message(format!("{}: no checksum lines", input.name()).as_bytes());
        }
        self.lists.push(lacking);
        Ok(())
    }

    /// Uses names that may be encoded unchanged, unless another line has the decoded name.
    fn take_encoded(&mut self, encoded: Vec<Encoded>) {
        let named: HashSet<PathBuf> = self.entries.iter().map(|(path, _)| path.clone()).collect();
        self.entries.extend(encoded.into_iter().map(|Encoded { path, raw, record }| {
            (if named.contains(&raw) { path } else { raw }, record)
        }));
    }

    /// The paths of listed files.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.entries.iter().map(|(path, _)| &**path)
    }

    /// Prints common causes of missing names.
    pub fn tell_lacking(&self, args: &ImportArgs, console: &mut Console) {
        for Lacking { list, entries, names } in &self.lists {
            let again = again(args, console);
            hints::tell(names, place(args, list), *entries, &again, console);
        }
    }
}

/// A file whose name may be encoded, and which exists only under the unchanged name.
struct Encoded {
    path: PathBuf,
    raw: PathBuf,
    record: Record<'static>,
}

/// Returns this command, for a list from standard input.
fn again(args: &ImportArgs, console: &Console) -> hints::Command {
    let mut words = Commands { place: &args.place, console }.of("catalog import");
    words.drain(.."lanesum ".len());
    words.extend(args.add.as_ref().map(|it| format!(" --add {}", hints::value(it))));
    words += if args.replace { " --replace" } else { "" };
    words += &hints::reading(args.algorithm, args.from, args.zero);
    hints::Command { words, operand: " -", compared: None }
}

/// The directory in which the names of a list are looked up.
fn place<'a>(args: &'a ImportArgs, list: &'a List) -> Lookup<'a> {
    Lookup { list, root: args.root.as_deref(), is_beside: args.beside }
}

/// Returns the path of a record as `lanesum check` finds it. Also returns the path of the unchanged
/// name, if only that file exists.
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
