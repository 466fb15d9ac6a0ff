//! Pairs names of both sides, and plans which files to read.

use std::cmp::Ordering;
use std::path::PathBuf;
use std::sync::Arc;

use lanesum_list::Time;

use super::etags::{self, EtagTask, PartSizes};
use super::matches::Matches;
use super::side::{Names, Number, Side, State};
use super::{Input, Options, input, patience};
use crate::engine::{self, Job, Outcome, Source};
use crate::etag::PartSize;
use crate::{Algorithms, Error};

/// A number that is not an entry.
pub(super) const NONE: Number = Number::MAX;

/// An entry of the first side, an entry of the second side, or a pair of both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) a: Number,
    pub(super) b: Number,
    pub(super) link: Link,
}

/// The reason why two entries are paired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    Name,
    Moved,
    Copied,
}

/// All entries in order of their names, with equal names paired.
pub(super) fn pairs([a, b]: &[Side; 2]) -> Vec<Pair> {
    let mut pairs = Vec::with_capacity(a.len().max(b.len()) as usize);
    let (mut one, mut other) = (0, 0);
    let link = Link::Name;
    loop {
        let order = match (one < a.len(), other < b.len()) {
            (true, true) => a.name(one).cmp(b.name(other)),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => break,
        };
        let pair = match order {
            Ordering::Less => Pair { a: one, b: NONE, link },
            Ordering::Greater => Pair { a: NONE, b: other, link },
            Ordering::Equal => Pair { a: one, b: other, link },
        };
        one += Number::from(pair.a != NONE);
        other += Number::from(pair.b != NONE);
        // The list itself is not a file of its directory, unless it contains its own name.
        let is_left_out =
            |side: &Side, number| number == NONE || side.state(number) == State::LeftOut;
        if !(is_left_out(a, pair.a) && is_left_out(b, pair.b)) {
            pairs.push(pair);
        }
    }
    pairs
}

/// Joins moved and copied files into pairs, at the place of the name on the second side.
pub(super) fn join(pairs: &mut Vec<Pair>, sides: &[Side; 2], found: &Matches) {
    if found.moved.is_empty() && found.copied.is_empty() {
        return;
    }
    let mut gone = vec![false; sides[0].len() as usize];
    let mut from = vec![(NONE, Link::Name); sides[1].len() as usize];
    for &(a, b) in &found.moved {
        gone[a as usize] = true;
        from[b as usize] = (a, Link::Moved);
    }
    for &(a, b) in &found.copied {
        from[b as usize] = (a, Link::Copied);
    }
    pairs.retain_mut(|pair| {
        if pair.a == NONE {
            (pair.a, pair.link) = from[pair.b as usize];
        }
        pair.b != NONE || !gone[pair.a as usize]
    });
}

/// Returns whether two times are equal at the coarser precision.
pub(super) fn same_time(one: Time, other: Time) -> bool {
    let is_coarse = one.nanoseconds == 0 || other.nanoseconds == 0;
    one.seconds == other.seconds && (is_coarse || one.nanoseconds == other.nanoseconds)
}

/// A file to read.
#[derive(Clone, Copy, Debug)]
struct Task {
    number: Number,
    side: u8,
    algorithms: Algorithms,
}

/// The files to read, in order of their names.
#[derive(Debug)]
pub(super) struct Plan {
    tasks: Arc<[Task]>,
    /// The files to read in parts.
    etags: Arc<[EtagTask]>,
}

impl Plan {
    pub(super) fn new(
        inputs: &[Input; 2],
        sides: &[Side; 2],
        pairs: &[Pair],
        options: &Options,
    ) -> Self {
        if options.quick {
            return Self { tasks: Arc::default(), etags: Arc::default() };
        }
        let is_tree = inputs.each_ref().map(|input| matches!(input, Input::Tree(_)));
        let search = Search::of(sides, is_tree, pairs, options.algorithms);
        let (mut tasks, mut etags) = (Vec::new(), Vec::new());
        for &Pair { a, b, .. } in pairs {
            let numbers = [a, b];
            let needed = if a != NONE && b != NONE {
                by_name(sides, numbers, is_tree, options.algorithms)
            } else {
                [Algorithms::NONE; 2]
            };
            if a != NONE && b != NONE {
                etags.extend(by_etag(sides, numbers, is_tree));
            }
            for side in [0, 1] {
                let number = numbers[side];
                if !is_tree[side]
                    || number == NONE
                    || sides[side].state(number) != State::Comparable
                {
                    continue;
                }
                let mut algorithms = needed[side];
                if algorithms.is_empty() {
                    algorithms = search.algorithms(sides, side, numbers);
                }
                if !algorithms.is_empty() {
                    tasks.push(Task { number, side: side as u8, algorithms });
                }
            }
        }
        Self { tasks: tasks.into(), etags: etags.into() }
    }

    pub(super) fn len(&self) -> usize {
        self.tasks.len() + self.etags.len()
    }

    /// Returns the directories of the sides, and their names.
    fn of(inputs: &[Input; 2], sides: &[Side; 2]) -> [(PathBuf, Arc<Names>); 2] {
        [0, 1].map(|side: usize| match &inputs[side] {
            Input::Tree(root) => (root.clone(), Arc::clone(sides[side].names())),
            Input::List(_) => (PathBuf::new(), Arc::default()),
        })
    }

    fn paths(&self, inputs: &[Input; 2], sides: &[Side; 2]) -> Paths {
        Paths { tasks: Arc::clone(&self.tasks), next: 0, of: Self::of(inputs, sides) }
    }

    pub(super) fn files(
        &self,
        inputs: &[Input; 2],
        sides: &[Side; 2],
    ) -> impl Iterator<Item = PathBuf> + Send + use<> {
        let (etags, of) = (Arc::clone(&self.etags), Self::of(inputs, sides));
        let in_parts = (0..etags.len()).map(move |place| {
            let (root, names) = &of[usize::from(etags[place].side)];
            input::path(root, names.get(etags[place].number))
        });
        self.paths(inputs, sides).map(|(path, _)| path).chain(in_parts)
    }

    /// Reads the files for which the other side has a multipart ETag.
    pub(super) fn read_parts(
        &self,
        inputs: &[Input; 2],
        sides: &mut [Side; 2],
        part_sizes: &[PartSize],
        options: &engine::Options,
        go_on: Option<&mut dyn FnMut() -> bool>,
    ) -> Option<PartSizes> {
        etags::read(&self.etags, Self::of(inputs, sides), sides, part_sizes, options, go_on)
    }

    /// Reads the files, and stores the results on their sides. Returns `None` if the caller stopped
    /// the read.
    pub(super) fn read(
        &self,
        inputs: &[Input; 2],
        sides: &mut [Side; 2],
        options: &engine::Options,
        go_on: Option<&mut dyn FnMut() -> bool>,
    ) -> Option<()> {
        let jobs = self.paths(inputs, sides).map(|(path, task)| Job {
            source: Source::Regular(path),
            algorithms: task.algorithms,
            context: task,
        });
        patience::run(options, jobs, go_on, |outcome| {
            let Outcome { context: Task { number, side, .. }, result, .. } = outcome;
            let side = &mut sides[usize::from(side)];
            match result {
                Ok(hashed) => side.set_digests(number, hashed.bytes, &hashed.digests),
                Err(Error::Changed) => side.fail(number, State::ChangedWhileRead, None),
                Err(error) => side.fail(number, State::Unreadable, Some(error.to_string())),
            }
        })
    }
}

/// Returns the paths of the files to read.
struct Paths {
    tasks: Arc<[Task]>,
    next: usize,
    of: [(PathBuf, Arc<Names>); 2],
}

impl Iterator for Paths {
    type Item = (PathBuf, Task);

    fn next(&mut self) -> Option<(PathBuf, Task)> {
        let task = *self.tasks.get(self.next)?;
        self.next += 1;
        let (root, names) = &self.of[usize::from(task.side)];
        Some((input::path(root, names.get(task.number)), task))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.tasks.len() - self.next;
        (left, Some(left))
    }
}

/// Returns the algorithms to compute for two files of the same name. Empty if their sizes differ.
fn by_name(
    sides: &[Side; 2],
    numbers: [Number; 2],
    is_tree: [bool; 2],
    algorithms: Algorithms,
) -> [Algorithms; 2] {
    let [a, b] = [0, 1].map(|side: usize| sides[side].size(numbers[side]));
    if a.is_some() && b.is_some() && a != b {
        return [Algorithms::NONE; 2];
    }
    match is_tree {
        [true, true] => [algorithms; 2],
        [true, false] => [sides[1].algorithms(numbers[1]), Algorithms::NONE],
        [false, true] => [Algorithms::NONE, sides[0].algorithms(numbers[0])],
        [false, false] => [Algorithms::NONE; 2],
    }
}

/// Returns the file to read if one of two files of the same name has a multipart ETag.
fn by_etag(sides: &[Side; 2], numbers: [Number; 2], is_tree: [bool; 2]) -> Option<EtagTask> {
    let (tree, list) = match is_tree {
        [true, false] => (0, 1),
        [false, true] => (1, 0),
        _ => return None,
    };
    let sizes = [tree, list].map(|side: usize| sides[side].size(numbers[side]));
    let is_known = |side: usize| sides[side].state(numbers[side]) == State::Comparable;
    let may_be_alike = !matches!(sizes, [Some(one), Some(other)] if one != other);
    let etag = sides[list].etag(numbers[list]).filter(|_| may_be_alike)?;
    let task = EtagTask::new(tree, numbers[tree], etag);
    task.filter(|_| is_known(tree) && is_known(list))
}

/// The data needed to find files of one side only on the other side.
struct Search {
    /// The algorithms to compute, or none if nothing can be found.
    algorithms: Algorithms,
    /// The sorted sizes of each side: of the entries that only it has, and of all. `None` if some
    /// sizes are unknown.
    alone: [Sizes; 2],
    all: [Sizes; 2],
}

/// `None`, because some are unknown.
type Sizes = Option<Vec<u64>>;

impl Search {
    fn of(sides: &[Side; 2], is_tree: [bool; 2], pairs: &[Pair], algorithms: Algorithms) -> Self {
        let count =
            |is_alone: fn(&Pair) -> bool| pairs.iter().filter(|pair| is_alone(pair)).count();
        let new = count(|pair| pair.a == NONE);
        let of_list = |side: usize| -> Algorithms {
            let all = (0..sides[side].len()).map(|number| sides[side].algorithms(number));
            all.fold(Algorithms::NONE, Algorithms::union)
        };
        let algorithms = match is_tree {
            _ if new == 0 || sides[0].len() == 0 => Algorithms::NONE,
            [true, true] => algorithms,
            [true, false] => of_list(1),
            [false, true] => of_list(0),
            [false, false] => Algorithms::NONE,
        };
        let sizes = |side: usize, is_alone: bool| -> Sizes {
            let numbers = pairs.iter().map(|pair| ([pair.a, pair.b][side], [pair.b, pair.a][side]));
            let wanted =
                numbers.filter(|&(its, other)| its != NONE && (!is_alone || other == NONE));
            let mut sizes: Vec<u64> =
                wanted.map(|(number, _)| sides[side].size(number)).collect::<Option<_>>()?;
            sizes.sort_unstable();
            sizes.dedup();
            Some(sizes)
        };
        if algorithms.is_empty() {
            return Self { algorithms: Algorithms::NONE, alone: [None, None], all: [None, None] };
        }
        Self {
            algorithms,
            alone: [sizes(0, true), sizes(1, true)],
            all: [sizes(0, false), sizes(1, false)],
        }
    }

    /// Returns the algorithms to compute for an entry that is not paired by name.
    fn algorithms(&self, sides: &[Side; 2], side: usize, numbers: [Number; 2]) -> Algorithms {
        let is_alone = numbers[1 - side] == NONE;
        // A new file may be a copy of any file, and an existing file may be the original of a new
        // one.
        let candidates = match side {
            1 if !is_alone => return Algorithms::NONE,
            1 => &self.all[0],
            _ => &self.alone[1],
        };
        let size = sides[side].size(numbers[side]);
        let is_candidate = match (candidates, size) {
            (Some(sizes), Some(size)) => sizes.binary_search(&size).is_ok(),
            _ => true,
        };
        if is_candidate { self.algorithms } else { Algorithms::NONE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_compared_at_the_coarser_precision() {
        let time = |seconds, nanoseconds| Time { seconds, nanoseconds };
        assert!(same_time(time(1, 5), time(1, 5)) && same_time(time(1, 0), time(1, 5)));
        assert!(!same_time(time(1, 4), time(1, 5)) && !same_time(time(1, 0), time(2, 0)));
    }
}
