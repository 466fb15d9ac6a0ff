//! Groups moved files: one line for a directory that was renamed with all its contents.

use std::collections::BTreeMap;

/// The paths before and after a move, below one root.
#[derive(Debug, Default)]
pub(crate) struct Renamed(Vec<(Vec<u8>, Vec<u8>)>);

/// A directory whose files were moved under their old names, or a single file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Move {
    /// The path of a directory is empty or ends in `/`.
    pub(crate) from: Vec<u8>,
    pub(crate) to: Vec<u8>,
    pub(crate) files: u64,
}

impl Renamed {
    pub(crate) fn add(&mut self, from: Vec<u8>, to: Vec<u8>) {
        self.0.push((from, to));
    }

    /// All moves, sorted by their new paths.
    pub(crate) fn into_moves(self) -> impl Iterator<Item = Move> {
        let mut directories: BTreeMap<[Vec<u8>; 2], (u64, Vec<u8>)> = BTreeMap::new();
        for (from, to) in self.0 {
            let key = directories_of(&from, &to).map(<[u8]>::to_vec);
            let rest = to[key[0].len()..].to_vec();
            let (count, last) = directories.entry(key).or_default();
            *count += 1;
            *last = rest;
        }
        directories.into_iter().map(|([to, from], (files, rest))| {
            let whole = |path: Vec<u8>| if files == 1 { [&*path, &*rest].concat() } else { path };
            Move { from: whole(from), to: whole(to), files }
        })
    }
}

/// Returns the directories before and after a move, without the common names at the ends of both
/// paths.
fn directories_of<'p>(from: &'p [u8], to: &'p [u8]) -> [&'p [u8]; 2] {
    let mut shared = shared_end(from, to);
    let rest = &to[to.len() - shared..];
    // A directory that moved into or out of the root is not the root itself.
    if let Some(slash) = rest.iter().position(|&byte| byte == b'/')
        && (shared == from.len() || shared == to.len())
    {
        shared -= slash + 1;
    }
    [&to[..to.len() - shared], &from[..from.len() - shared]]
}

/// Returns the length of the common names at the ends of both paths, without a leading slash:
/// `a/b/c` and `d/b/c` share `b/c`.
fn shared_end(from: &[u8], to: &[u8]) -> usize {
    let pairs = from.iter().rev().zip(to.iter().rev());
    let same = pairs.take_while(|(one, other)| one == other).count();
    let begins =
        |path: &[u8], shared: usize| path.len() == shared || path[path.len() - shared - 1] == b'/';
    (0..=same).rev().find(|&shared| begins(from, shared) && begins(to, shared)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renamed_directory_is_one_move() {
        let mut renamed = Renamed::default();
        for (from, to) in [
            ("a/x/1", "b/x/1"),
            ("a/2", "b/2"),
            ("c", "d"),
            ("e/one", "f/one"),
            ("top", "deep/top"),
            ("top2", "deep/top2"),
            ("h/3", "deep/h/3"),
            ("h/x/4", "deep/h/x/4"),
        ] {
            renamed.add(from.into(), to.into());
        }
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let lines: Vec<_> = renamed
            .into_moves()
            .map(|it| format!("{} -> {} ({})", text(it.from), text(it.to), it.files))
            .collect();
        assert_eq!(
            lines,
            [
                "a/ -> b/ (2)",
                "c -> d (1)",
                " -> deep/ (2)",
                "h/ -> deep/h/ (2)",
                "e/one -> f/one (1)"
            ]
        );
    }

    #[test]
    fn only_whole_names_are_shared() {
        for (from, to, shared) in [
            ("a/b", "c/b", 1),
            ("ab", "cb", 0),
            ("a/b/c", "b/c", 3),
            ("a", "b/a", 1),
            ("x", "y", 0),
        ] {
            assert_eq!(shared_end(from.as_bytes(), to.as_bytes()), shared, "{from} {to}");
        }
    }
}
