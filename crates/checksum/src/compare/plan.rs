//! Which names belong together, and which files have to be read to tell what became of them.

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

/// The number of no entry.
pub(super) const NONE: Number = Number::MAX;

/// An entry of the first side, one of the second, or one of each that belong together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) a: Number,
    pub(super) b: Number,
    pub(super) link: Link,
}

/// Why two entries belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    Name,
    Moved,
    Copied,
}

/// All entries in the order of their names, those of one name together.
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
        // The list itself is no file of its directory, unless it says so.
        let is_left_out =
            |side: &Side, number| number == NONE || side.state(number) == State::LeftOut;
        if !(is_left_out(a, pair.a) && is_left_out(b, pair.b)) {
            pairs.push(pair);
        }
    }
    pairs
}

/// Puts what was moved or copied into one pair, in the place of its name on the second side.
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

/// Whether two times are the same, as far as the coarser of them tells.
pub(super) fn same_time(one: Time, other: Time) -> bool {
    let is_coarse = one.nanoseconds == 0 || other.nanoseconds == 0;
    one.seconds == other.seconds && (is_coarse || one.nanoseconds == other.nanoseconds)
}

/// A file to be read.
#[derive(Clone, Copy, Debug)]
struct Task {
    number: Number,
    side: u8,
    algorithms: Algorithms,
}

/// The files to be read, in the order of their names.
#[derive(Debug)]
pub(super) struct Plan {
    tasks: Arc<[Task]>,
    /// Those that are read in parts.
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
                if !is_tree[side] || number == NONE || sides[side].state(number) != State::Known {
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

    /// The directories of the sides, and the names in them.
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

    /// Reads the files of which the other side knows an ETag of several parts.
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

    /// Reads the files, and notes on their sides what they are; none where it was not to go on.
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

/// The paths of the files to be read.
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

/// What of two files of one name has to be computed; nothing where their sizes tell already.
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

/// The file to be read where one of two files of one name is of an ETag of several parts.
fn by_etag(sides: &[Side; 2], numbers: [Number; 2], is_tree: [bool; 2]) -> Option<EtagTask> {
    let (tree, list) = match is_tree {
        [true, false] => (0, 1),
        [false, true] => (1, 0),
        _ => return None,
    };
    let sizes = [tree, list].map(|side: usize| sides[side].size(numbers[side]));
    let is_known = |side: usize| sides[side].state(numbers[side]) == State::Known;
    let may_be_alike = !matches!(sizes, [Some(one), Some(other)] if one != other);
    let etag = sides[list].etag(numbers[list]).filter(|_| may_be_alike)?;
    let task = EtagTask::new(tree, numbers[tree], etag);
    task.filter(|_| is_known(tree) && is_known(list))
}

/// What has to be known of files that one side alone has, so that they are found on the other.
struct Search {
    /// What to compute; none where nothing can be found.
    algorithms: Algorithms,
    /// Of each side the sizes of the entries that it alone has, and of all; sorted. None where some
    /// are not known.
    alone: [Sizes; 2],
    all: [Sizes; 2],
}

/// None: some are not known.
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

    /// What to compute of an entry that need not be read for its name.
    fn algorithms(&self, sides: &[Side; 2], side: usize, numbers: [Number; 2]) -> Algorithms {
        let is_alone = numbers[1 - side] == NONE;
        // What is new may be the copy of anything; what is there before may be the original of what
        // is new.
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
