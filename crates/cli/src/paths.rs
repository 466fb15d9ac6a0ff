//! The paths that `lanesum sum` gets, one after the other, with all files below directories.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::vec;

use anyhow::Context as _;
use lanesum_checksum::Source;
use lanesum_checksum::walk::{self, Entry, Exclude, Skip, WalkOptions};
use lanesum_list::names_standard_input;

use crate::args::{Sum, Walk};
use crate::console::shown;
use crate::failure::Usage;
use crate::output::Gap;
use crate::stdin;

/// The source of the paths.
pub enum Paths {
    Arguments(vec::IntoIter<PathBuf>),
    Names {
        /// None after an error, which would be repeated.
        names: Option<io::Split<BufReader<File>>>,
        /// The number of paths so far.
        count: u64,
        /// The name of the file with the paths.
        file: PathBuf,
        /// Whether the paths can be read twice.
        is_regular: bool,
        /// The reason why no path may be standard input, if so.
        refusal: Option<&'static str>,
    },
}

/// Returns the files that a run will read, on request.
pub type FilesToCount = Box<dyn FnOnce() -> Box<dyn Iterator<Item = PathBuf>> + Send>;

/// A path, or an error message.
type GivenPath = Result<PathBuf, (Vec<u8>, String)>;

impl Paths {
    /// Returns the paths of the command line.
    ///
    /// # Errors
    /// The file with the names cannot be opened.
    pub fn of(args: &Sum) -> anyhow::Result<Self> {
        let Some(from) = &args.files0_from else {
            let stdin = || vec![PathBuf::from("-")];
            let paths = if args.paths.is_empty() { stdin() } else { args.paths.clone() };
            return Ok(Self::Arguments(paths.into_iter()));
        };
        let is_stdin = stdin::is_meant_by(from);
        let file = if is_stdin {
            io::stdin().as_fd().try_clone_to_owned().map(File::from)
        } else {
            File::open(from)
        };
        let file = file.with_context(|| shown(from))?;
        let is_regular = file.metadata().is_ok_and(|it| it.is_file());
        let names = Some(BufReader::new(file).split(b'\0'));
        let has_key = args.key_file.as_deref().is_some_and(stdin::is);
        let refusal = if is_stdin {
            Some("when reading file names from standard input")
        } else {
            has_key.then_some("when reading the key from standard input")
        };
        Ok(Self::Names { names, count: 0, file: from.clone(), is_regular, refusal })
    }

    /// Returns whether standard input is read.
    pub fn read_stdin(&self) -> bool {
        match self {
            Self::Arguments(paths) => paths.as_slice().iter().any(|path| path.as_os_str() == "-"),
            Self::Names { file, .. } => file.as_os_str() == "-",
        }
    }

    /// Returns whether there are no paths, so that standard input is read.
    pub fn reads_only_stdin(args: &Sum) -> bool {
        args.paths.is_empty() && args.files0_from.is_none()
    }

    /// Returns what comes from standard input, as words of a message.
    pub fn from_stdin(args: &Sum) -> Option<&'static str> {
        match &args.files0_from {
            Some(from) => stdin::is_meant_by(from).then_some("the names come"),
            None => {
                let paths = &args.paths;
                let is_read = paths.is_empty() || paths.iter().any(|path| stdin::is_meant_by(path));
                is_read.then_some("the data comes")
            }
        }
    }

    /// Returns the files whose sizes make up the total, or `None` if they are unknown before the
    /// end, because a pipe can be read only once.
    pub fn files_to_count(&self, trees: &Trees) -> Option<FilesToCount> {
        if self.read_stdin() {
            return None;
        }
        let trees = trees.clone();
        Some(match self {
            Self::Arguments(paths) => {
                let paths = paths.as_slice().to_vec();
                Box::new(move || Box::new(trees.files(paths.into_iter())))
            }
            Self::Names { is_regular: false, .. } => return None,
            Self::Names { file, .. } => {
                let file = file.clone();
                Box::new(move || {
                    let names = File::open(file).map(BufReader::new).into_iter();
                    let names = names.flat_map(|file| file.split(b'\0')).map_while(Result::ok);
                    let paths = names.map(|name| PathBuf::from(OsString::from_vec(name)));
                    Box::new(trees.files(paths))
                })
            }
        })
    }

    /// Yields each path, or each file below it if it is a directory.
    pub fn items(
        self,
        trees: &Trees,
        looks: &Arc<Looks>,
    ) -> impl Iterator<Item = Item> + Send + use<> {
        let (trees, looks) = (trees.clone(), Arc::clone(looks));
        self.flat_map(move |path| {
            let (item, below) = match path {
                Err((place, why)) => (Some(Item::failed(Gap::Unknown, place, why)), None),
                Ok(path) if path.as_os_str() == "-" => (Some(Item::file(Source::Stdin)), None),
                Ok(path) if looks.are_needed() => (None, Some(trees.items(path))),
                Ok(path) => (Some(Item { source: Source::Path(path), about: About::Unseen }), None),
            };
            let looks = Arc::clone(&looks);
            let below = below.into_iter().flatten().inspect(move |item| {
                if let Source::Path(_) = item.source {
                    looks.found_file();
                }
            });
            item.into_iter().chain(below)
        })
    }
}

impl Iterator for Paths {
    type Item = GivenPath;

    fn next(&mut self) -> Option<GivenPath> {
        let (name, number, file, refusal) = match self {
            Self::Arguments(paths) => return paths.next().map(Ok),
            Self::Names { names, count, file, refusal, .. } => {
                let name = names.as_mut()?.next()?;
                if name.is_err() {
                    *names = None;
                }
                *count += 1;
                (name, *count, file, refusal)
            }
        };
        let why = match (name, *refusal) {
            (Ok(name), _) if name.is_empty() => format!("name {number} is empty"),
            (Ok(name), Some(refusal)) if names_standard_input(&name) => {
                format!("{refusal}, no file name of '{}' allowed", name.escape_ascii())
            }
            (Ok(name), _) => return Some(Ok(PathBuf::from(OsString::from_vec(name)))),
            (Err(error), _) => lanesum_checksum::error::message(&error),
        };
        Some(Err((file.as_os_str().as_bytes().to_vec(), why)))
    }
}

/// A file to read, or an error, in the order of the paths.
#[derive(Debug, PartialEq, Eq)]
pub struct Item {
    pub source: Source,
    pub about: About,
}

/// The known facts about an item.
#[derive(Debug, PartialEq, Eq)]
pub enum About {
    /// It is not a directory.
    File,
    /// It was not examined.
    Unseen,
    Skipped(PathBuf, Skip),
    /// A file that may be missing, its name, and the error.
    Failed(Gap, Vec<u8>, String),
}

impl Item {
    fn file(source: Source) -> Self {
        Self { source, about: About::File }
    }

    fn failed(gap: Gap, name: Vec<u8>, why: String) -> Self {
        Self { source: Source::Nothing, about: About::Failed(gap, name, why) }
    }

    /// An entry of a tree.
    fn met(entry: Entry) -> Self {
        match entry {
            Entry::File(path) => Self::file(Source::Regular(path)),
            Entry::Skipped { path, why } => {
                Self { source: Source::Nothing, about: About::Skipped(path, why) }
            }
            Entry::Failed { path, error } => {
                let why = lanesum_checksum::error::message(&error);
                Self::failed(Gap::Tree, path.into_os_string().into_vec(), why)
            }
        }
    }
}

impl Walk {
    /// Returns the options of walks.
    ///
    /// # Errors
    /// A pattern is invalid.
    pub fn options(&self) -> Result<WalkOptions, Usage> {
        let mut options = WalkOptions::default();
        options.follow = self.follow;
        options.one_file_system = self.one_file_system;
        options.gitignore = self.gitignore;
        options.git = Some("git".into());
        options.exclude = Exclude::new(&self.exclude).map_err(|error| Usage(error.to_string()))?;
        Ok(options)
    }
}

/// The options of walks.
#[derive(Clone)]
pub struct Trees {
    pub walk: WalkOptions,
}

impl Trees {
    /// Yields the files below these paths.
    fn files(self, paths: impl Iterator<Item = PathBuf>) -> impl Iterator<Item = PathBuf> {
        paths.flat_map(move |path| walk::walk(&path, &self.walk)).filter_map(|entry| match entry {
            Entry::File(path) => Some(path),
            _ => None,
        })
    }

    /// Yields the entries below a path, or the path itself, for a run.
    pub fn items(&self, path: PathBuf) -> impl Iterator<Item = Item> + Send + use<> {
        walk::walk(&path, &self.walk).map(move |entry| match entry {
            // The argument itself, of any kind. Compares bytes instead of paths, whose parts need
            // not be split.
            Entry::File(file) if file.as_os_str() == path.as_os_str() => {
                Item::file(Source::Path(file))
            }
            entry => Item::met(entry),
        })
    }
}

/// Whether paths are examined before they are opened.
///
/// Examining a short file takes almost half as long as everything else. So after one file, the next
/// paths are not examined. If one of them is a directory, it is walked when its turn comes, in a
/// separate run that delays the following paths. From then on each path is examined.
#[derive(Default)]
pub struct Looks(AtomicU8);

impl Looks {
    const NEEDED: u8 = 0;
    const NOT_NEEDED: u8 = 1;
    const NEEDED_FOR_GOOD: u8 = 2;

    fn are_needed(&self) -> bool {
        self.0.load(Relaxed) != Self::NOT_NEEDED
    }

    /// The path is a file, so the next one is not examined.
    fn found_file(&self) {
        // Unless all paths must be examined.
        let _ = self.0.compare_exchange(Self::NEEDED, Self::NOT_NEEDED, Relaxed, Relaxed);
    }

    /// A directory that was not examined.
    pub fn found_folder(&self) {
        self.0.store(Self::NEEDED_FOR_GOOD, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn after_a_file_there_is_no_look_until_a_folder_comes_up() {
        let folder = tempfile::tempdir().unwrap();
        let [file, tree] = ["file", "tree"].map(|name| folder.path().join(name));
        fs::write(&file, "").unwrap();
        fs::create_dir(&tree).unwrap();
        fs::write(tree.join("below"), "").unwrap();
        let trees = Trees { walk: WalkOptions::default() };
        let looks = Arc::<Looks>::default();
        let paths = [&tree, &file, &file, &tree, &tree, &file, &file].map(PathBuf::clone);
        let paths = Paths::Arguments(Vec::from(paths).into_iter());
        let mut items = paths.items(&trees, &looks);
        let mut next = || items.next().unwrap();
        let below = || Item::file(Source::Regular(tree.join("below")));
        let argument = || Item::file(Source::Path(file.clone()));
        let unseen =
            |path: &PathBuf| Item { source: Source::Path(path.clone()), about: About::Unseen };
        assert_eq!(next(), below());
        assert_eq!(next(), argument());
        assert_eq!(next(), unseen(&file));
        assert_eq!(next(), unseen(&tree));
        looks.found_folder();
        assert_eq!(next(), below());
        assert_eq!(next(), argument());
        assert_eq!(next(), argument());
        assert!(items.next().is_none());
    }
}
