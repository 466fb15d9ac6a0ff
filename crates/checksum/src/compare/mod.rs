//! Compares two sides, each a list or a directory, and finds changed, moved, copied, new and
//! missing files.
//!
//! ```text
//! read both sides into memory, packed and sorted             input.rs, side.rs
//! make the names of a list relative to the directory         align.rs
//! pair files with the same name                              plan.rs
//! read the files that the result depends on, by the engine   plan.rs
//! find moved and copied files by their contents              matches.rs
//! ```
//!
//! Two lists are compared without reading files. In two directories, files with the same name and
//! size are read. Files that may have been moved or copied are read as well: those whose size
//! occurs among the files that only the other side has. All files are read for a list without
//! sizes.
//!
//! A file of a directory is compared with a multipart ETag by trying likely part sizes
//! (`etags.rs`).
//!
//! Files are equal only if a digest of both sides matches. Without reading files, the [`Basis`]
//! tells what was compared.

mod align;
mod etags;
mod folders;
mod input;
mod matches;
mod patience;
mod plan;
mod side;

use std::collections::BTreeMap;
use std::iter;
use std::path::PathBuf;

use lanesum_list::Dialect;
use lanesum_list::formats::Kind;

use crate::check::{List, ListError};
use crate::engine;
use crate::etag::PartSize;
use crate::walk::WalkOptions;
use crate::{Algorithm, Algorithms};

use etags::PartSizes;
pub use folders::{FolderMove, FolderMoves};
pub use input::Doubts;
use matches::Matches;
use plan::{NONE, Pair};
use side::{Number, Side, State};

/// A side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Input {
    /// A list. Its files are not read, unless the other side is a directory.
    List(List),
    /// A directory with all files below it.
    Tree(PathBuf),
}

/// The options of a comparison. Start from [`Options::default`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Whether to compare only names, sizes and, if both sides have them, times, without reading
    /// files.
    pub quick: bool,
    /// The algorithm to compare two directories by. The default is MD5.
    pub algorithms: Algorithms,
    /// Whether to remove the innermost common directory from the names of a list, for lists of
    /// another copy. The path of the compared directory is always removed.
    pub strip: bool,
    /// The lines that lists may contain.
    pub dialect: Dialect,
    /// The format of the lists. Without it the format of each list is detected by its start.
    pub from: Option<Kind>,
    /// Part sizes to try first for multipart ETags, before those of known clients.
    /// Empty by default.
    pub part_sizes: Vec<PartSize>,
    /// How directories are walked.
    pub walk: WalkOptions,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            quick: false,
            strip: false,
            algorithms: Algorithm::Md5.into(),
            dialect: Dialect::any(),
            from: None,
            part_sizes: Vec::new(),
            walk: WalkOptions::default(),
        }
    }
}

/// The class of a file in a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Class {
    /// Both sides have the file, with equal digests.
    Equal,
    /// Both sides have the file, and the data compared with [`Options::quick`] are equal. The
    /// [`Basis`] tells which data. The contents may differ.
    Alike,
    /// Both sides have a file of this name, and the files differ.
    Changed,
    /// The file was moved: the first side has its content under a name that the second side lacks.
    Moved,
    /// The file is a copy: only the second side has the name, and the first side has its content
    /// under another name.
    Copied,
    /// Only the second side has the file.
    New,
    /// Only the first side has the file.
    Missing,
    /// The file, or a directory above it, could not be read.
    Unreadable,
    /// A directory, not a file. It could not be read.
    UnreadableFolder,
    /// The file changed while it was read.
    ChangedWhileRead,
    /// Both sides have the file, and there are no data to compare.
    NotCompared,
}

impl Class {
    /// All classes.
    pub const ALL: [Self; 11] = [
        Self::Equal,
        Self::Alike,
        Self::Changed,
        Self::Moved,
        Self::Copied,
        Self::New,
        Self::Missing,
        Self::Unreadable,
        Self::UnreadableFolder,
        Self::ChangedWhileRead,
        Self::NotCompared,
    ];

    /// Returns the name of the class, such as `changed while read`.
    ///
    /// ```
    /// assert_eq!(lanesum_checksum::compare::Class::Moved.name(), "moved");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Alike => "alike",
            Self::Changed => "changed",
            Self::Moved => "moved",
            Self::Copied => "copied",
            Self::New => "new",
            Self::Missing => "missing",
            Self::Unreadable => "unreadable",
            Self::UnreadableFolder => "unreadable directory",
            Self::ChangedWhileRead => "changed while read",
            Self::NotCompared => "not compared",
        }
    }
}

/// The data by which files were compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Basis {
    /// The digests.
    Digest,
    /// The sizes. Files of different sizes are different, and files of equal sizes may be
    /// different.
    Size,
    /// The sizes and modification times, with [`Options::quick`].
    SizeAndTime,
    /// Only the names, with [`Options::quick`].
    Name,
}

/// The result for a file of one or both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference<'a> {
    /// The class of the file.
    pub class: Class,
    /// The name on the second side, or on the first side if only that has the file. Names in a
    /// directory are relative to it.
    pub name: &'a [u8],
    /// The name on the first side, for moved and copied files.
    pub from: Option<&'a [u8]>,
    /// The size on the first side in bytes, if known.
    pub size_before: Option<u64>,
    /// The size on the second side in bytes, if known.
    pub size: Option<u64>,
    /// The compared data of equal, similar and changed files.
    pub basis: Option<Basis>,
    /// The reason why the file could not be read or compared.
    pub reason: Option<&'a str>,
}

/// The error of a side that could not be read.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
#[non_exhaustive]
pub struct SideError {
    /// 0 for the first side, 1 for the second.
    pub side: usize,
    /// The reason, without the name of the list.
    pub error: ListError,
}

/// A comparison of two sides whose names are known. First files are [read](Self::read), then the
/// results are [returned](Self::finish).
///
/// ```
/// use std::fs;
/// use lanesum_checksum::compare::{Class, Comparison, Input, Options};
/// use lanesum_checksum::engine;
///
/// let folder = tempfile::tempdir()?;
/// let [old, new] = ["old", "new"].map(|name| folder.path().join(name));
/// for side in [&old, &new] {
///     fs::create_dir(side)?;
///     fs::write(side.join("same"), "1")?;
/// }
/// fs::write(old.join("before"), "2")?;
/// fs::write(new.join("after"), "2")?;
///
/// let sides = [old, new].map(Input::Tree);
/// let mut comparison = Comparison::prepare(&sides, &Options::default())?;
/// comparison.read(&engine::Options::default());
/// let found = comparison.finish();
/// let moved: Vec<_> = found.iter().filter(|it| it.class != Class::Equal).collect();
/// assert_eq!(moved.len(), 1);
/// assert_eq!((moved[0].class, moved[0].name), (Class::Moved, &b"after"[..]));
/// assert_eq!(moved[0].from, Some(&b"before"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Comparison {
    inputs: [Input; 2],
    sides: [Side; 2],
    doubts: [Doubts; 2],
    pairs: Vec<Pair>,
    plan: plan::Plan,
    part_sizes: PartSizes,
    options: Options,
}

impl Comparison {
    /// Reads lists and walks directories, lists first.
    ///
    /// # Errors
    /// Fails if a list cannot be read or is not a list. Errors within a directory are entries.
    pub fn prepare(inputs: &[Input; 2], options: &Options) -> Result<Self, SideError> {
        let [a, b] = align::read(inputs, options)?;
        let (sides, doubts) = ([a.side, b.side], [a.doubts, b.doubts]);
        let pairs = plan::pairs(&sides);
        let plan = plan::Plan::new(inputs, &sides, &pairs, options);
        let (inputs, part_sizes, options) = (inputs.clone(), PartSizes::new(), options.clone());
        Ok(Self { inputs, sides, doubts, pairs, plan, part_sizes, options })
    }

    /// Returns the data of each side that could not be used.
    #[must_use]
    pub const fn doubts(&self) -> &[Doubts; 2] {
        &self.doubts
    }

    /// Returns the number of entries of each side.
    #[must_use]
    pub fn entries(&self) -> [usize; 2] {
        self.sides.each_ref().map(|side| side.len() as usize)
    }

    /// Returns the files to read, for a total.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> + Send + use<> {
        self.plan.files(&self.inputs, &self.sides)
    }

    /// Returns the number of files to read.
    #[must_use]
    pub fn to_read(&self) -> usize {
        self.plan.len()
    }

    /// Reads the files that are needed to decide. Ignores [`delivery`](engine::Options::delivery).
    pub fn read(&mut self, engine: &engine::Options) {
        let all = self.read_with(engine, None);
        debug_assert!(all, "nothing stops it");
    }

    /// Reads the files like [`read`](Self::read), but calls `go_on` about twenty times per second
    /// on this thread, and stops if it returns false. Returns whether all files were read. If not,
    /// [`finish`](Self::finish) must not be called.
    #[must_use = "if false, not all files were read"]
    pub fn read_while(
        &mut self,
        engine: &engine::Options,
        mut go_on: impl FnMut() -> bool,
    ) -> bool {
        self.read_with(engine, Some(&mut go_on))
    }

    fn read_with(
        &mut self,
        engine: &engine::Options,
        go_on: Option<&mut dyn FnMut() -> bool>,
    ) -> bool {
        let delivery = engine::Delivery::AsTheyCome;
        let engine = engine::Options { delivery, ..engine.clone() };
        let Self { inputs, sides, options, plan, .. } = self;
        let parts = match go_on {
            None => plan
                .read(inputs, sides, &engine, None)
                .and_then(|()| plan.read_parts(inputs, sides, &options.part_sizes, &engine, None)),
            Some(go_on) => plan.read(inputs, sides, &engine, Some(go_on)).and_then(|()| {
                plan.read_parts(inputs, sides, &options.part_sizes, &engine, Some(go_on))
            }),
        };
        let is_read = parts.is_some();
        self.part_sizes = parts.unwrap_or_default();
        is_read
    }

    /// Returns the result of each file.
    #[must_use]
    pub fn finish(self) -> Differences {
        let Self { sides, mut pairs, doubts, part_sizes, options, .. } = self;
        // Files that may be in an unreadable directory of the other side are neither new nor
        // missing.
        let alone = |side: usize| -> Vec<Number> {
            let numbers = pairs.iter().map(|pair| [pair.a, pair.b]);
            let alone = numbers.filter(|pair| pair[1 - side] == NONE && pair[side] != NONE);
            let numbers = alone.map(|pair| pair[side]);
            let is_unread = |number: &Number| {
                sides[1 - side].unread_folder(sides[side].name(*number)).is_some()
            };
            numbers.filter(|number| !is_unread(number)).collect()
        };
        let (missing, new) = (alone(0), alone(1));
        let matches = if missing.is_empty() && new.is_empty() {
            Matches::default()
        } else {
            matches::find(&sides[0], &missing, &sides[1], &new)
        };
        plan::join(&mut pairs, &sides, &matches);
        Differences { sides, pairs, doubts, part_sizes, quick: options.quick }
    }
}

/// The results for all files of both sides.
#[derive(Debug)]
pub struct Differences {
    sides: [Side; 2],
    pairs: Vec<Pair>,
    doubts: [Doubts; 2],
    part_sizes: PartSizes,
    quick: bool,
}

impl Differences {
    /// Returns all files, including equal ones, in byte order of their names.
    pub fn iter(&self) -> impl Iterator<Item = Difference<'_>> {
        self.pairs.iter().map(|pair| self.difference(pair))
    }

    /// Returns the data of each side that could not be used.
    #[must_use]
    pub const fn doubts(&self) -> &[Doubts; 2] {
        &self.doubts
    }

    /// Returns the number of files whose multipart ETag matched, by part size in bytes.
    #[must_use]
    pub const fn part_sizes(&self) -> &BTreeMap<u64, u64> {
        &self.part_sizes
    }

    /// Returns the directories that were renamed with all of their contents: nothing is left under
    /// the old name, and nothing existed under the new one.
    #[must_use]
    pub fn folder_moves(&self) -> FolderMoves {
        let [a, b] = &self.sides;
        let moved = self.iter().filter(|it| it.class == Class::Moved);
        folders::renamed(moved.filter_map(|it| Some((it.from?, it.name))), a.names(), b.names())
    }

    /// Returns the algorithms whose digests differ for all nonempty files. The digests of one side
    /// may have another algorithm or key.
    #[must_use]
    pub fn doubtful(&self) -> Algorithms {
        let [a, b] = &self.sides;
        let (mut same, mut other) = (Algorithms::NONE, Algorithms::NONE);
        let both = |pair: &&Pair| pair.link == plan::Link::Name && pair.a != NONE && pair.b != NONE;
        for &Pair { a: one, b: two, .. } in self.pairs.iter().filter(both) {
            if a.size(one).or(b.size(two)) == Some(0) {
                continue;
            }
            for (algorithm, digest) in a.digests(one) {
                match b.digest(two, algorithm) {
                    Some(its) if its == digest => same = same.with(algorithm),
                    Some(_) => other = other.with(algorithm),
                    None => {}
                }
            }
        }
        other.difference(same)
    }

    fn difference(&self, pair: &Pair) -> Difference<'_> {
        let [a, b] = &self.sides;
        let of =
            |side: &'_ Side, number: Number| (number != NONE).then(|| side.size(number)).flatten();
        let (class, basis, reason) = self.class(pair);
        let moved = matches!(class, Class::Moved | Class::Copied);
        let name = if pair.b == NONE { a.name(pair.a) } else { b.name(pair.b) };
        Difference {
            class,
            name,
            from: moved.then(|| a.name(pair.a)),
            size_before: of(a, pair.a),
            size: of(b, pair.b),
            basis,
            reason,
        }
    }

    fn class(&self, pair: &Pair) -> (Class, Option<Basis>, Option<&str>) {
        let [a, b] = &self.sides;
        let given = iter::once((a, pair.a)).chain(iter::once((b, pair.b)));
        for (side, number) in given.filter(|&(_, number)| number != NONE) {
            match side.state(number) {
                State::Comparable => {}
                State::LeftOut => return (Class::NotCompared, None, Some("this is the list")),
                State::PassedOver => {
                    let reason = "it exists, but is a link, or excluded";
                    return (Class::NotCompared, None, Some(reason));
                }
                State::OtherEtag => return (Class::Changed, Some(Basis::Digest), None),
                State::OtherParts => return (Class::NotCompared, None, side.reason(number)),
                State::Unreadable => return (Class::Unreadable, None, side.reason(number)),
                State::UnreadableFolder => {
                    let is_folder = |(side, number): (&Side, Number)| {
                        number == NONE || side.state(number) == State::UnreadableFolder
                    };
                    let are_folders = [(a, pair.a), (b, pair.b)].into_iter().all(is_folder);
                    let class =
                        if are_folders { Class::UnreadableFolder } else { Class::Unreadable };
                    return (class, None, side.reason(number));
                }
                State::ChangedWhileRead => return (Class::ChangedWhileRead, None, None),
                State::Contradictory => {
                    return (Class::NotCompared, None, Some("its list has contradictory entries"));
                }
            }
        }
        match pair.link {
            plan::Link::Moved => (Class::Moved, Some(Basis::Digest), None),
            plan::Link::Copied => (Class::Copied, Some(Basis::Digest), None),
            plan::Link::Name if pair.a == NONE => match a.unread_folder(b.name(pair.b)) {
                Some(reason) => (Class::Unreadable, None, Some(reason)),
                None => (Class::New, None, None),
            },
            plan::Link::Name if pair.b == NONE => match b.unread_folder(a.name(pair.a)) {
                Some(reason) => (Class::Unreadable, None, Some(reason)),
                None => (Class::Missing, None, None),
            },
            plan::Link::Name => self.both(pair),
        }
    }

    /// Returns the class of two files with the same name.
    fn both(&self, pair: &Pair) -> (Class, Option<Basis>, Option<&str>) {
        let [a, b] = &self.sides;
        let sizes = (a.size(pair.a), b.size(pair.b));
        let known = matches!(sizes, (Some(_), Some(_)));
        if known && sizes.0 != sizes.1 {
            return (Class::Changed, Some(Basis::Size), None);
        }
        let mut shared = a
            .digests(pair.a)
            .filter_map(|(algorithm, digest)| Some(digest == b.digest(pair.b, algorithm)?))
            .peekable();
        if shared.peek().is_some() {
            let class = if shared.all(|same| same) { Class::Equal } else { Class::Changed };
            return (class, Some(Basis::Digest), None);
        }
        match (a.etag(pair.a), b.etag(pair.b)) {
            (Some(one), Some(other)) if one == other => {
                return (Class::Equal, Some(Basis::Digest), None);
            }
            (Some(_), Some(_)) if !self.quick => {
                let reason = "the ETags differ, which different part sizes can cause";
                return (Class::NotCompared, None, Some(reason));
            }
            _ => {}
        }
        if !self.quick {
            return (Class::NotCompared, None, Some("no digest in common"));
        }
        match (a.modified(pair.a), b.modified(pair.b)) {
            (Some(one), Some(other)) if known => {
                let class = if plan::same_time(one, other) { Class::Alike } else { Class::Changed };
                (class, Some(Basis::SizeAndTime), None)
            }
            _ => (Class::Alike, Some(if known { Basis::Size } else { Basis::Name }), None),
        }
    }
}
