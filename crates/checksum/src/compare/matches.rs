//! Finds moved and copied files: entries on one side only whose content the other side has under
//! another name.
//!
//! Both sides are sorted by digest and merged. If several entries have the same content, an entry
//! is paired first with the one in the directory where the other files of its directory went, then
//! with one of the same file name, then with the next one. So a directory with many equal files is
//! still detected as renamed.

use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;

use super::side::{Number, Side, State};
use crate::{Algorithm, digests_of};

/// Shorter digests collide by chance: hundreds of times among a million files with 32-bit digests.
const ENOUGH: usize = 8;

/// Returns the algorithms to match contents by: those that entries of both sides have, the most
/// frequent one first.
fn algorithms(a: &Side, b: &Side) -> Vec<Algorithm> {
    let count = |side: &Side| {
        let mut counts = HashMap::<Algorithm, u32>::new();
        let all = (0..side.len()).flat_map(|number| side.digests(number));
        all.for_each(|(algorithm, _)| *counts.entry(algorithm).or_default() += 1);
        counts
    };
    let (a, b) = (count(a), count(b));
    let both = a.into_iter().filter_map(|(it, count)| Some((count.min(*b.get(&it)?), Reverse(it))));
    let mut both: Vec<_> = both.filter(|(_, it)| it.0.digest_len() >= ENOUGH).collect();
    both.sort_unstable_by(|one, other| other.cmp(one));
    both.into_iter().map(|(_, Reverse(algorithm))| algorithm).collect()
}

/// The matches of entries that are on one side only.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Matches {
    /// Moved files, from the first side to the second.
    pub(super) moved: Vec<(Number, Number)>,
    /// Copied files: the original on the first side, and the copy on the second.
    pub(super) copied: Vec<(Number, Number)>,
}

/// Finds matches among the entries that only one side has.
pub(super) fn find(a: &Side, missing: &[Number], b: &Side, new: &[Number]) -> Matches {
    let mut matches = Matches::default();
    let algorithms = algorithms(a, b);
    let search = |algorithm| Search { a, b, algorithm, empty: empty(algorithm) };
    let (mut missing, mut new) = (missing.to_vec(), new.to_vec());
    let mut is_found = [vec![false; a.len() as usize], vec![false; b.len() as usize]];
    for &algorithm in &algorithms {
        let before = matches.moved.len();
        search(algorithm).moved(&missing, &new, &mut matches.moved);
        for &(ours, theirs) in &matches.moved[before..] {
            (is_found[0][ours as usize], is_found[1][theirs as usize]) = (true, true);
        }
        missing.retain(|&number| !is_found[0][number as usize]);
        new.retain(|&number| !is_found[1][number as usize]);
    }
    for algorithm in algorithms {
        let before = matches.copied.len();
        search(algorithm).copied(&new, &mut matches.copied);
        matches.copied[before..].iter().for_each(|&(_, its)| is_found[1][its as usize] = true);
        new.retain(|&number| !is_found[1][number as usize]);
    }
    matches
}

fn empty(algorithm: Algorithm) -> Option<Vec<u8>> {
    if algorithm.needs_key() {
        return None;
    }
    let digests = digests_of(algorithm.into(), None, b"").ok()?;
    digests.first().map(|digest| digest.as_bytes().to_vec())
}

struct Search<'a> {
    a: &'a Side,
    b: &'a Side,
    algorithm: Algorithm,
    /// The digest of empty content. Empty files are equal, but not copies of each other.
    empty: Option<Vec<u8>>,
}

impl<'a> Search<'a> {
    fn digest(&self, side: &'a Side, number: Number) -> &'a [u8] {
        side.digest(number, self.algorithm).unwrap_or_default()
    }

    fn is_empty(&self, digest: &[u8]) -> bool {
        self.empty.as_deref() == Some(digest)
    }

    /// Returns the entries with a digest, sorted by digest and then by name.
    fn sorted(&self, side: &'a Side, numbers: &[Number]) -> Vec<Number> {
        let is_known = |number: &Number| {
            side.state(*number) == State::Comparable && !self.digest(side, *number).is_empty()
        };
        let mut numbers: Vec<_> = numbers.iter().copied().filter(is_known).collect();
        numbers.sort_by(|&one, &other| {
            self.digest(side, one).cmp(self.digest(side, other)).then(one.cmp(&other))
        });
        numbers
    }

    /// Returns the number of leading entries with the digest of the first one.
    fn run(&self, side: &'a Side, numbers: &[Number]) -> usize {
        let first = numbers.first().map(|&number| self.digest(side, number));
        numbers.iter().take_while(|&&number| Some(self.digest(side, number)) == first).count()
    }

    /// Returns whether all known data of both entries are equal.
    fn agree(&self, a: Number, b: Number) -> bool {
        let sizes = (self.a.size(a), self.b.size(b));
        let same_size = !matches!(sizes, (Some(one), Some(other)) if one != other);
        same_size
            && self.a.digests(a).all(|(algorithm, digest)| {
                self.b.digest(b, algorithm).is_none_or(|other| other == digest)
            })
    }

    /// Pairs entries with the same content.
    fn moved(&self, missing: &[Number], new: &[Number], moved: &mut Vec<(Number, Number)>) {
        let (missing, new) = (self.sorted(self.a, missing), self.sorted(self.b, new));
        let (mut missing, mut new) = (&missing[..], &new[..]);
        let mut ambiguous = Vec::new();
        while let (Some(&a), Some(&b)) = (missing.first(), new.first()) {
            match self.digest(self.a, a).cmp(self.digest(self.b, b)) {
                Ordering::Less => missing = &missing[1..],
                Ordering::Greater => new = &new[1..],
                Ordering::Equal => {
                    let (ours, theirs);
                    (ours, missing) = missing.split_at(self.run(self.a, missing));
                    (theirs, new) = new.split_at(self.run(self.b, new));
                    let is_empty = self.is_empty(self.digest(self.a, a));
                    match (ours, theirs) {
                        ([a], [b]) if self.agree(*a, *b) && !is_empty => moved.push((*a, *b)),
                        _ => ambiguous.push((ours, theirs)),
                    }
                }
            }
        }
        let folders = Folders::of(self, moved);
        for (ours, theirs) in ambiguous {
            self.moved_alike(ours, theirs, &folders, moved);
        }
    }

    /// Pairs entries if several have the same content.
    fn moved_alike(
        &self,
        ours: &[Number],
        theirs: &[Number],
        folders: &Folders<'_>,
        moved: &mut Vec<(Number, Number)>,
    ) {
        let (mut rest, mut taken) = (Vec::new(), vec![false; theirs.len()]);
        for &a in ours {
            let place = folders
                .expected(self.a.name(a))
                .map(|name| (theirs.partition_point(|&b| *self.b.name(b) < *name), name));
            match place {
                Some((place, name))
                    if theirs.get(place).is_some_and(|&b| *self.b.name(b) == *name)
                        && !taken[place]
                        && self.agree(a, theirs[place]) =>
                {
                    taken[place] = true;
                    moved.push((a, theirs[place]));
                }
                _ => rest.push(a),
            }
        }
        let theirs = theirs.iter().zip(taken).filter(|(_, is_taken)| !is_taken);
        let mut theirs: Vec<_> = theirs.map(|(&b, _)| b).collect();
        let by_file_name = |side: &'a Side, numbers: &mut Vec<Number>| {
            numbers.sort_by_key(|&number| (file_name(side.name(number)), number));
        };
        by_file_name(self.a, &mut rest);
        by_file_name(self.b, &mut theirs);
        let (rest, theirs) = self.pair(rest, theirs, moved, |a, b| a.cmp(b));
        if rest.first().is_some_and(|&a| !self.is_empty(self.digest(self.a, a))) {
            self.pair(rest, theirs, moved, |_, _| Ordering::Equal);
        }
    }

    /// Pairs sorted entries with equal file names, and returns the others.
    fn pair(
        &self,
        ours: Vec<Number>,
        theirs: Vec<Number>,
        moved: &mut Vec<(Number, Number)>,
        order: impl Fn(&[u8], &[u8]) -> Ordering,
    ) -> (Vec<Number>, Vec<Number>) {
        let (mut our_rest, mut their_rest) = (Vec::new(), Vec::new());
        let (mut ours, mut theirs) = (ours.into_iter().peekable(), theirs.into_iter().peekable());
        while let (Some(&a), Some(&b)) = (ours.peek(), theirs.peek()) {
            match order(file_name(self.a.name(a)), file_name(self.b.name(b))) {
                Ordering::Less => our_rest.extend(ours.next()),
                Ordering::Greater => their_rest.extend(theirs.next()),
                Ordering::Equal => {
                    ours.next();
                    theirs.next();
                    if self.agree(a, b) {
                        moved.push((a, b));
                    } else {
                        our_rest.push(a);
                        their_rest.push(b);
                    }
                }
            }
        }
        our_rest.extend(ours);
        their_rest.extend(theirs);
        (our_rest, their_rest)
    }

    /// Finds for the remaining entries the first entry of the first side with their content.
    fn copied(&self, left: &[Number], copied: &mut Vec<(Number, Number)>) {
        /// The largest number of entries with this digest but a different size that are examined.
        /// Such entries are collisions, or come from a forged list.
        const MOST_OTHERS: usize = 64;
        let left = self.sorted(self.b, left);
        if left.is_empty() {
            return;
        }
        let mut originals = vec![None; left.len()];
        for a in 0..self.a.len() {
            let digest = self.digest(self.a, a);
            if digest.is_empty() || self.a.state(a) != State::Comparable || self.is_empty(digest) {
                continue;
            }
            let first = left.partition_point(|&b| self.digest(self.b, b) < digest);
            let mut others = 0;
            for (place, &b) in left.iter().enumerate().skip(first) {
                let is_known = originals[place].is_some();
                if self.digest(self.b, b) != digest || is_known || others == MOST_OTHERS {
                    break;
                }
                originals[place] = self.agree(a, b).then_some(a);
                others += usize::from(originals[place].is_none());
            }
        }
        copied.extend(originals.iter().zip(&left).filter_map(|(a, &b)| Some(((*a)?, b))));
    }
}

fn file_name(name: &[u8]) -> &[u8] {
    memchr::memrchr(b'/', name).map_or(name, |slash| &name[slash + 1..])
}

/// The new places of directories, from files with unique content.
struct Folders<'a>(HashMap<&'a [u8], &'a [u8]>);

impl<'a> Folders<'a> {
    fn of(search: &Search<'a>, moved: &[(Number, Number)]) -> Self {
        let mut counts = HashMap::<_, u32>::new();
        for &(a, b) in moved {
            *counts.entry(folders(search.a.name(a), search.b.name(b))).or_default() += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_unstable_by_key(|&(folders, count)| (count, folders));
        // The directory where most files went is last and is kept.
        Self(counts.into_iter().map(|((from, to), _)| (from, to)).collect())
    }

    /// Returns the expected new name of a file.
    fn expected(&self, name: &[u8]) -> Option<Vec<u8>> {
        let mut end = name.len();
        loop {
            end = memchr::memrchr(b'/', &name[..end])?;
            if let Some(to) = self.0.get(&name[..end]) {
                return Some([to, &name[end..]].concat());
            }
        }
    }
}

/// Returns the directories of two names without their common trailing directories. For `a/b/x/f`
/// and `c/x/f` these are `a/b` and `c`.
pub(super) fn folders<'a>(from: &'a [u8], to: &'a [u8]) -> (&'a [u8], &'a [u8]) {
    let (mut from_end, mut to_end) = (from.len(), to.len());
    loop {
        let slash = |name: &[u8]| memchr::memrchr(b'/', name);
        match (slash(&from[..from_end]), slash(&to[..to_end])) {
            (Some(one), Some(other)) if from[one..from_end] == to[other..to_end] => {
                (from_end, to_end) = (one, other);
            }
            // A renamed file gives no information about its directory.
            _ if from_end == from.len() => return (b"", b""),
            _ => return (&from[..from_end], &to[..to_end]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_move_stops_at_the_first_different_name() {
        for (from, to, expected) in [
            ("a/b/x/f", "c/x/f", ("a/b", "c")),
            ("a/f", "b/f", ("a", "b")),
            ("a/f", "a/g", ("", "")),
            ("f", "a/f", ("", "")),
            ("x/a/f", "x/b/f", ("x/a", "x/b")),
        ] {
            let (one, other) = folders(from.as_bytes(), to.as_bytes());
            assert_eq!((one, other), (expected.0.as_bytes(), expected.1.as_bytes()), "{from}");
        }
    }
}
