//! Aligns the names of a list with those of the other side.
//!
//! The names of a list are relative to the compared directory (`a`), relative to a parent
//! (`photos/a`), or absolute (`/home/me/photos/a`). The prefix that finds the most files in the
//! directory is used, and the shortest of several. If another prefix finds files as well, that is
//! reported. A list of a different directory cannot be detected. The user declares it with
//! [`Options::strip`].

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

use lanesum_list::Inode;

use super::input::{self, Given};
use super::side::{Names, Number, Side, State};
use super::{Input, List, ListError, Options, SideError};
use crate::check;
use crate::engine::{inode_of, look_at};
use crate::hints::lower;
use crate::walk::Exclude;

/// The number of names to try.
const SAMPLE: usize = 4096;

/// Reads and sorts both sides.
pub(super) fn read(inputs: &[Input; 2], options: &Options) -> Result<[Given; 2], SideError> {
    let reading = check::Options {
        dialect: options.dialect,
        from: options.from,
        ..check::Options::default()
    };
    let root = inputs.iter().find_map(|input| match input {
        Input::Tree(root) => Some(root.as_path()),
        Input::List(_) => None,
    });
    let list = |side: usize, list: &List| {
        let given = input::read_list(list, &reading, root);
        given.map_err(|error| SideError { side, error })
    };
    let no_tree = |side: usize| move |error| SideError { side, error: ListError::Open(error) };
    let mut given = match inputs {
        [Input::List(one), Input::List(other)] => {
            let mut given = [list(0, one)?, list(1, other)?];
            see_alike(&mut given, options.strip);
            given
        }
        [Input::Tree(one), Input::Tree(other)] => {
            let tree = |root| input::read_tree(root, &options.walk, true, None);
            [tree(one).map_err(no_tree(0))?, tree(other).map_err(no_tree(1))?]
        }
        [Input::List(one), Input::Tree(root)] => {
            let given = list(0, one)?;
            let (list, tree) = with_tree(given, one, root, options).map_err(no_tree(1))?;
            [list, tree]
        }
        [Input::Tree(root), Input::List(other)] => {
            let given = list(1, other)?;
            let (list, tree) = with_tree(given, other, root, options).map_err(no_tree(0))?;
            [tree, list]
        }
    };
    for side in [0, 1] {
        let [a, b] = &mut given;
        let (list, other) = if side == 0 { (a, b) } else { (b, a) };
        let Input::List(_) = &inputs[side] else { continue };
        list.side.sort();
        leave_out(list, &options.walk.exclude);
        if let Input::Tree(root) = &inputs[1 - side] {
            if let Some(algorithm) = list.side.keyed() {
                return Err(SideError { side, error: ListError::NoKey(algorithm) });
            }
            note_passed_over(list, &other.side, root);
        }
    }
    Ok(given)
}

/// Excludes the same names as a walk: those that match, and those in matching directories.
fn leave_out(list: &mut Given, exclude: &Exclude) {
    if exclude.is_empty() {
        return;
    }
    list.side.leave_out(|name| {
        let mut slashes = memchr::memchr_iter(b'/', name);
        exclude.matches(name, false) || slashes.any(|slash| exclude.matches(&name[..slash], true))
    });
}

/// Marks entries that are not missing although the walk did not find them: links and excluded
/// entries. The contents of unreadable directories are neither. Entries whose file the walk found
/// in other letters get its name.
fn note_passed_over(list: &mut Given, tree: &Side, root: &Path) {
    let is_inside = |name: &[u8]| {
        !name.starts_with(b"/") && name.split(|&byte| byte == b'/').all(|part| part != b"..")
    };
    let is_there = |name: &[u8]| {
        // The name is a directory, not a file.
        input::path(root, name).symlink_metadata().is_ok_and(|it| !it.is_dir())
    };
    let is_in_view = |name: &[u8]| is_inside(name) && tree.unread_folder(name).is_none();
    let is_passed_over =
        |name: &[u8]| is_in_view(name) && !tree.names().contains(name) && is_there(name);
    let is_comparable = |number: &Number| list.side.state(*number) == State::Comparable;
    let numbers = (0..list.side.len()).filter(is_comparable);
    let passed_over: Vec<_> =
        numbers.filter(|&number| is_passed_over(list.side.name(number))).collect();
    let walked = in_walked_case(&list.side, &passed_over, tree, root);
    for number in passed_over {
        match walked.get(&number) {
            Some(&walked) => list.side.names_mut().rename(number, tree.name(walked)),
            None => list.side.fail(number, State::PassedOver, None),
        }
    }
    if !walked.is_empty() {
        list.side.sort();
    }
}

/// Returns the walked files of entries whose names differ in the case of letters alone, if the file
/// system ignores it: both names lead to the same file.
fn in_walked_case(
    list: &Side,
    entries: &[Number],
    tree: &Side,
    root: &Path,
) -> HashMap<Number, Number> {
    let mut walked = HashMap::new();
    if entries.is_empty() {
        return walked;
    }
    let mut by_letters = HashMap::<Vec<u8>, Vec<Number>>::new();
    for &entry in entries {
        by_letters.entry(lower(list.name(entry))).or_default().push(entry);
    }
    let inode = |name: &[u8]| look_at(&input::path(root, name)).ok().map(|it| inode_of(&it));
    for number in 0..tree.len() {
        let entries = by_letters.get(&lower(tree.name(number))).map(Vec::as_slice);
        for &entry in entries.unwrap_or_default() {
            let found = inode(tree.name(number));
            if found.is_some() && found == inode(list.name(entry)) {
                walked.insert(entry, number);
            }
        }
    }
    walked
}

/// The list and the directory.
fn with_tree(
    mut list: Given,
    from: &List,
    root: &Path,
    options: &Options,
) -> io::Result<(Given, Given)> {
    let wants_sizes = options.quick || list.side.has_sizes();
    let path = match from {
        List::Path(path) => Some(path.as_path()),
        List::Stdin => None,
    };
    let itself: Option<(Inode, &Path)> = list.inode.zip(path);
    let tree = input::read_tree(root, &options.walk, wants_sizes, itself)?;
    let views = Views::of(list.side.names(), tree.side.names(), root);
    match views.other {
        Some(other) if options.strip => list.see_from(other),
        other => {
            list.doubts.would_be_seen_from = other.unwrap_or_default();
            list.doubts.may_be_seen_from = views.also;
            if !views.own.is_empty() {
                list.see_from(views.own);
            }
        }
    }
    Ok((list, tree))
}

/// Removes the common directories from the names of two lists, if `strip`.
fn see_alike(given: &mut [Given; 2], strip: bool) {
    let folders =
        given.each_ref().map(|given| common_folder(given.side.names()).unwrap_or_default());
    let [a, b] = given;
    let [one, other] = &folders;
    if one == other {
        return;
    }
    if strip {
        given.iter_mut().zip(folders).for_each(|(given, folder)| given.see_from(folder));
    } else if !are_common(a.side.names(), b"", b.side.names(), b"")
        && are_common(a.side.names(), one, b.side.names(), other)
    {
        for (given, folder) in given.iter_mut().zip(folders) {
            given.doubts.would_be_seen_from = folder;
        }
    }
}

/// Returns whether two lists have a common name after these prefixes.
fn are_common(a: &Names, one: &[u8], b: &Names, other: &[u8]) -> bool {
    let below = |prefix| move |name: &'_ [u8]| name.strip_prefix(prefix).map(<[u8]>::to_vec);
    let known: HashSet<Vec<u8>> = a.sample(SAMPLE).filter_map(below(one)).collect();
    b.sample(usize::MAX)
        .filter_map(|name| name.strip_prefix(other))
        .any(|name| known.contains(name))
}

/// Candidates for the prefix of the names of a list that is compared with a directory.
struct Views {
    /// Either no prefix or the path of the directory: the one that finds more files, or the
    /// shorter one if equal.
    own: Vec<u8>,
    /// The other one if it also finds files, unless `own` finds all and this one fewer.
    also: Option<Vec<u8>>,
    /// The path of another directory that finds more files.
    other: Option<Vec<u8>>,
}

impl Views {
    fn of(names: &Names, tree: &Names, root: &Path) -> Self {
        let hits = |prefix: &[u8]| {
            let below = names.sample(SAMPLE).filter_map(|name| name.strip_prefix(prefix));
            below.filter(|name| tree.contains(name)).count()
        };
        let path = input::prefix(root);
        let path = path.strip_prefix(b"./").unwrap_or(&path).to_vec();
        let absolute = absolute(root).filter(|absolute| *absolute != path);
        let own = [Some(path), absolute].into_iter().flatten();
        let own = own.filter(|prefix| !prefix.is_empty() && names.may_be_seen_from(prefix));
        let own = [Vec::new()].into_iter().chain(own);
        let mut own: Vec<_> = own.map(|prefix| (hits(&prefix), prefix)).collect();
        own.sort_by_key(|(hits, _)| Reverse(*hits));
        let mut own = own.into_iter();
        let (most, best) = own.next().expect("nothing is a prefix");
        let finds_all = most == names.sample(SAMPLE).count();
        let also = own.next().filter(|(hits, _)| *hits == most || *hits > 0 && !finds_all);
        Self {
            own: best,
            also: also.filter(|_| most > 0).map(|(_, prefix)| prefix),
            other: fitting(common_folder(names).unwrap_or_default(), most, hits),
        }
    }
}

/// Returns the common directory whose removal finds the most files, the innermost of several, if it
/// finds more than a given number.
fn fitting(common: Vec<u8>, most: usize, hits: impl Fn(&[u8]) -> usize) -> Option<Vec<u8>> {
    let folders = memchr::memchr_iter(b'/', &common).map(|slash| &common[..=slash]);
    // Returns the last one of several with the same number.
    let (found, folder) = folders.map(|it| (hits(it), it)).max_by_key(|(hits, _)| *hits)?;
    (found > most).then(|| folder.to_vec())
}

fn absolute(root: &Path) -> Option<Vec<u8>> {
    std::path::absolute(root).ok().map(|root| input::prefix(&root))
}

/// Returns the innermost common directory of all names, with its slash.
fn common_folder(names: &Names) -> Option<Vec<u8>> {
    let mut common: Option<Cow<'_, [u8]>> = None;
    for name in names.sample(usize::MAX) {
        let folder = &name[..memchr::memrchr(b'/', name)? + 1];
        common = Some(match common {
            None => folder.into(),
            Some(common) => {
                let same =
                    common.iter().zip(folder).take_while(|(one, other)| one == other).count();
                let slash = memchr::memrchr(b'/', &folder[..same])?;
                folder[..=slash].to_vec().into()
            }
        });
    }
    common.map(Cow::into_owned)
}
