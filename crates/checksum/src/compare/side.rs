//! One side of a comparison in compact form: joined names, joined digests, and 48 bytes per entry.
//! Ten million entries fit into memory that a map of records would exceed.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::Arc;

use lanesum_list::{Digests, Etag, Record, Time};

use crate::{Algorithm, Algorithms, Digest};

/// The number of an entry on its side, in order of the names.
pub(super) type Number = u32;

/// The names of a side. The thread that reads the files shares them.
#[derive(Debug, Default)]
pub(super) struct Names {
    bytes: Vec<u8>,
    spans: Vec<Span>,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    at: u64,
    length: u32,
}

impl Names {
    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    pub(super) fn get(&self, number: Number) -> &[u8] {
        self.of(self.spans[number as usize])
    }

    fn of(&self, span: Span) -> &[u8] {
        &self.bytes[span.at as usize..][..span.length as usize]
    }

    /// Returns the position of the first name that is not less, among sorted names.
    fn lower_bound(&self, name: &[u8]) -> usize {
        self.spans.partition_point(|&span| self.of(span) < name)
    }

    fn find(&self, name: &[u8]) -> Option<Number> {
        let at = self.lower_bound(name);
        self.spans.get(at).is_some_and(|&span| self.of(span) == name).then_some(at as Number)
    }

    pub(super) fn contains(&self, name: &[u8]) -> bool {
        self.find(name).is_some()
    }

    /// Returns whether a name starts with these bytes.
    pub(super) fn has_prefix(&self, prefix: &[u8]) -> bool {
        let at = self.lower_bound(prefix);
        self.spans.get(at).is_some_and(|&span| self.of(span).starts_with(prefix))
    }

    /// Returns up to `count` names, evenly spread.
    pub(super) fn sample(&self, most: usize) -> impl Iterator<Item = &[u8]> {
        let step = self.spans.len().div_ceil(most).max(1);
        self.spans.iter().step_by(step).map(|&span| self.of(span))
    }

    fn push(&mut self, name: &[u8]) {
        let span = Span { at: self.bytes.len() as u64, length: name.len() as u32 };
        self.bytes.extend_from_slice(name);
        self.spans.push(span);
    }

    /// Replaces a name. The names must be sorted again.
    pub(super) fn rename(&mut self, number: Number, name: &[u8]) {
        self.spans[number as usize] =
            Span { at: self.bytes.len() as u64, length: name.len() as u32 };
        self.bytes.extend_from_slice(name);
    }

    /// Returns whether the prefix applies to all names: each one starts with it, or is absolute
    /// while the prefix is relative or the reverse.
    pub(super) fn may_be_seen_from(&self, prefix: &[u8]) -> bool {
        let is_absolute = prefix.starts_with(b"/");
        let mut others = self.spans.iter().map(|&span| self.of(span));
        others.all(|name| name.starts_with(prefix) || name.starts_with(b"/") || !is_absolute)
    }

    /// Makes the names relative to a directory. Removes its path from names that have it, and adds
    /// the path out of the directory to the others, so that none is taken for a name in it.
    pub(super) fn see_from(&mut self, prefix: &[u8]) {
        let depth = prefix.iter().filter(|&&byte| byte == b'/').count();
        for index in 0..self.spans.len() {
            let name = self.of(self.spans[index]);
            if name.starts_with(prefix) {
                let span = &mut self.spans[index];
                span.at += prefix.len() as u64;
                span.length -= prefix.len() as u32;
            } else if !name.starts_with(b"/") {
                let name = [&b"../".repeat(depth)[..], name].concat();
                let at = self.bytes.len() as u64;
                self.bytes.extend_from_slice(&name);
                self.spans[index] = Span { at, length: name.len() as u32 };
            }
        }
    }
}

/// The data of a file except its name.
#[derive(Clone, Copy, Debug)]
struct Facts {
    size: u64,
    seconds: i64,
    nanoseconds: u32,
    /// The range in the bytes of the digests.
    digests_length: u16,
    state: State,
    digests_at: u64,
}

/// Marks an unknown size. No file has this size, and a list that claims it is read as one byte
/// less.
const NO_SIZE: u64 = u64::MAX;
/// Marks an unknown time.
const NO_TIME: u32 = u32::MAX;

/// Whether the data of a file can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Comparable,
    /// The file could not be read. The side has the reason.
    Unreadable,
    /// A directory that could not be read. The side has the reason.
    UnreadableFolder,
    ChangedWhileRead,
    /// The list has contradictory lines about the file.
    Contradictory,
    /// The file is not compared: it is the list itself or excluded by a pattern.
    LeftOut,
    /// The file does not match the ETag of the other side with any part size.
    OtherEtag,
    /// The file does not match the ETag with any tried part size. The side has the number of tries.
    OtherParts,
    /// The list has the file, and the walk of the other side skipped it, for example a link.
    PassedOver,
}

/// The entries of a side. They are first [pushed](Self::push) and then [sorted](Self::sort). After
/// that a [`Number`] counts them in order of their names.
#[derive(Debug, Default)]
pub(super) struct Side {
    names: Arc<Names>,
    facts: Vec<Facts>,
    /// For each digest, the index of its algorithm in [`Algorithm::ALL`], and its bytes.
    digests: Vec<u8>,
    /// The reasons why entries could not be read.
    reasons: HashMap<Number, String>,
}

impl Side {
    pub(super) fn push(&mut self, record: &Record<'_>) {
        let digests_at = self.digests.len() as u64;
        record.digests.iter().for_each(|digest| pack(&mut self.digests, digest));
        if let (true, Some(etag)) = (record.digests.is_empty(), &record.etag) {
            pack_etag(&mut self.digests, etag);
        }
        let time = record.times.modified;
        self.names_mut().push(&record.name);
        self.facts.push(Facts {
            size: record.size.map_or(NO_SIZE, |size| size.min(NO_SIZE - 1)),
            seconds: time.map_or(0, |time| time.seconds),
            nanoseconds: time.map_or(NO_TIME, |time| time.nanoseconds),
            digests_at,
            digests_length: (self.digests.len() as u64 - digests_at) as u16,
            state: State::Comparable,
        });
    }

    /// Must be called before the names are shared.
    pub(super) fn names_mut(&mut self) -> &mut Names {
        Arc::get_mut(&mut self.names).expect("names are shared once they are sorted")
    }

    /// Sorts the entries by name, and merges those with equal names.
    pub(super) fn sort(&mut self) {
        let names = &self.names;
        if (1..names.len()).all(|index| names.get(index as u32 - 1) < names.get(index as u32)) {
            return;
        }
        let mut order: Vec<Number> = (0..names.len() as Number).collect();
        order.sort_by(|&one, &other| names.get(one).cmp(names.get(other)));
        let mut facts: Vec<Facts> = Vec::with_capacity(order.len());
        let mut spans: Vec<Span> = Vec::with_capacity(order.len());
        let mut reasons = HashMap::new();
        for number in order {
            let span = names.spans[number as usize];
            let next = self.facts[number as usize];
            match (spans.last(), facts.last_mut()) {
                (Some(&last), Some(facts)) if names.of(last) == names.of(span) => {
                    merge(facts, next, &mut self.digests);
                }
                _ => {
                    spans.push(span);
                    facts.push(next);
                }
            }
            let place = spans.len() as Number - 1;
            reasons.extend(self.reasons.remove(&number).map(|reason| (place, reason)));
        }
        (self.facts, self.reasons) = (facts, reasons);
        self.names_mut().spans = spans;
    }

    pub(super) fn len(&self) -> Number {
        self.names.len() as Number
    }

    pub(super) fn names(&self) -> &Arc<Names> {
        &self.names
    }

    pub(super) fn name(&self, number: Number) -> &[u8] {
        self.names.get(number)
    }

    fn facts(&self, number: Number) -> &Facts {
        &self.facts[number as usize]
    }

    pub(super) fn size(&self, number: Number) -> Option<u64> {
        let size = self.facts(number).size;
        (size != NO_SIZE).then_some(size)
    }

    pub(super) fn modified(&self, number: Number) -> Option<Time> {
        let &Facts { seconds, nanoseconds, .. } = self.facts(number);
        (nanoseconds != NO_TIME).then_some(Time { seconds, nanoseconds })
    }

    pub(super) fn state(&self, number: Number) -> State {
        self.facts(number).state
    }

    pub(super) fn reason(&self, number: Number) -> Option<&str> {
        self.reasons.get(&number).map(String::as_str)
    }

    /// Returns why a directory, or one of its parents, could not be read, if so.
    pub(super) fn unread_folder(&self, name: &[u8]) -> Option<&str> {
        if self.reasons.is_empty() {
            return None;
        }
        let folders = memchr::memrchr_iter(b'/', name).map(|slash| &name[..slash]);
        folders.filter_map(|folder| self.names.find(folder)).find_map(|number| self.reason(number))
    }

    fn packed(&self, number: Number) -> &[u8] {
        let &Facts { digests_at, digests_length, .. } = self.facts(number);
        &self.digests[digests_at as usize..][..usize::from(digests_length)]
    }

    pub(super) fn digests(&self, number: Number) -> impl Iterator<Item = (Algorithm, &[u8])> {
        unpack(self.packed(number))
    }

    pub(super) fn digest(&self, number: Number, algorithm: Algorithm) -> Option<&[u8]> {
        self.digests(number).find(|(its, _)| *its == algorithm).map(|(_, digest)| digest)
    }

    /// Returns the multipart ETag, if there are no digests.
    pub(super) fn etag(&self, number: Number) -> Option<Etag> {
        let PackedValue::Etag(etag) = entries(self.packed(number)).next()? else { return None };
        Some(etag)
    }

    pub(super) fn algorithms(&self, number: Number) -> Algorithms {
        self.digests(number).map(|(algorithm, _)| algorithm).collect()
    }

    /// Excludes matching entries.
    pub(super) fn leave_out(&mut self, matches: impl Fn(&[u8]) -> bool) {
        for number in 0..self.len() {
            if matches(self.name(number)) {
                self.fail(number, State::LeftOut, None);
            }
        }
    }

    /// Returns the first algorithm that needs a key.
    pub(super) fn keyed(&self) -> Option<Algorithm> {
        let all = (0..self.len()).flat_map(|number| self.digests(number));
        all.map(|(algorithm, _)| algorithm).find(|algorithm| algorithm.needs_key())
    }

    pub(super) fn has_sizes(&self) -> bool {
        self.facts.iter().any(|facts| facts.size != NO_SIZE)
    }

    pub(super) fn set_digests(&mut self, number: Number, size: u64, digests: &Digests) {
        let at = self.digests.len() as u64;
        digests.iter().for_each(|digest| pack(&mut self.digests, digest));
        let length = (self.digests.len() as u64 - at) as u16;
        let facts = &mut self.facts[number as usize];
        (facts.digests_at, facts.digests_length, facts.size) = (at, length, size);
    }

    /// Adds an ETag to the data of a file.
    pub(super) fn set_etag(&mut self, number: Number, etag: &Etag) {
        let at = self.digests.len();
        pack_etag(&mut self.digests, etag);
        let &Facts { digests_at, digests_length, .. } = self.facts(number);
        let known = digests_at as usize..digests_at as usize + usize::from(digests_length);
        self.digests.extend_from_within(known);
        let facts = &mut self.facts[number as usize];
        facts.digests_at = at as u64;
        facts.digests_length = (self.digests.len() - at) as u16;
    }

    pub(super) fn fail(&mut self, number: Number, state: State, reason: Option<String>) {
        self.facts[number as usize].state = state;
        if let Some(reason) = reason {
            self.reasons.insert(number, reason);
        }
    }
}

fn pack(digests: &mut Vec<u8>, digest: &Digest) {
    let place = Algorithm::ALL.iter().position(|&its| its == digest.algorithm());
    digests.push(place.expect("all of them are there") as u8);
    digests.extend_from_slice(digest.as_bytes());
}

/// Marks an ETag instead of the index of an algorithm.
const ETAG: u8 = u8::MAX;

/// Packs a multipart ETag. Other ETags are not packed.
fn pack_etag(digests: &mut Vec<u8>, etag: &Etag) {
    if let Some(parts) = etag.parts {
        digests.push(ETAG);
        digests.extend_from_slice(&parts.get().to_le_bytes());
        pack(digests, &etag.digest);
    }
}

/// A packed value.
enum PackedValue<'a> {
    Digest(Algorithm, &'a [u8]),
    Etag(Etag),
}

fn entries(mut packed: &[u8]) -> impl Iterator<Item = PackedValue<'_>> {
    std::iter::from_fn(move || {
        let (&place, rest) = packed.split_first()?;
        if place == ETAG {
            let (parts, rest) = rest.split_first_chunk()?;
            let parts = NonZeroU32::new(u32::from_le_bytes(*parts));
            let (algorithm, digest, rest) = unpack_digest(rest)?;
            packed = rest;
            let digest = Digest::new(algorithm, digest)?;
            return Some(PackedValue::Etag(Etag { digest, parts }));
        }
        let (algorithm, digest, rest) = unpack_digest(packed)?;
        packed = rest;
        Some(PackedValue::Digest(algorithm, digest))
    })
}

/// Returns the first packed digest, and the bytes behind it.
fn unpack_digest(packed: &[u8]) -> Option<(Algorithm, &[u8], &[u8])> {
    let (&place, rest) = packed.split_first()?;
    let algorithm = Algorithm::ALL[usize::from(place)];
    let (digest, rest) = rest.split_at(algorithm.digest_len());
    Some((algorithm, digest, rest))
}

fn unpack(packed: &[u8]) -> impl Iterator<Item = (Algorithm, &[u8])> {
    entries(packed).filter_map(|known| match known {
        PackedValue::Digest(algorithm, digest) => Some((algorithm, digest)),
        PackedValue::Etag(_) => None,
    })
}

/// Adds the data of another line with the same name.
fn merge(facts: &mut Facts, other: Facts, digests: &mut Vec<u8>) {
    let range = |facts: &Facts| {
        let at = facts.digests_at as usize;
        at..at + usize::from(facts.digests_length)
    };
    let at = digests.len();
    digests.extend_from_within(range(facts));
    let (known, more) = (range(facts), range(&other));
    let mut contradicts =
        facts.size != NO_SIZE && other.size != NO_SIZE && facts.size != other.size;
    let etag = |range: Range<usize>| {
        entries(&digests[range]).find_map(|known| match known {
            PackedValue::Etag(etag) => Some(etag),
            PackedValue::Digest(..) => None,
        })
    };
    let other_etag = etag(more.clone());
    if let (Some(one), Some(other)) = (etag(known.clone()), other_etag) {
        contradicts |= one != other;
    }
    let is_first = known.is_empty();
    let mut added = Vec::new();
    for (algorithm, digest) in unpack(&digests[more]) {
        match unpack(&digests[known.clone()]).find(|(its, _)| *its == algorithm) {
            None => added.extend(Digest::new(algorithm, digest)),
            Some((_, its)) => contradicts |= its.cmp(digest) != Ordering::Equal,
        }
    }
    if let (true, Some(etag)) = (is_first, other_etag) {
        pack_etag(digests, &etag);
    }
    added.iter().for_each(|digest| pack(digests, digest));
    facts.digests_at = at as u64;
    facts.digests_length = (digests.len() - at) as u16;
    facts.size = facts.size.min(other.size);
    if facts.nanoseconds == NO_TIME {
        (facts.seconds, facts.nanoseconds) = (other.seconds, other.nanoseconds);
    } else if other.nanoseconds != NO_TIME
        && (facts.seconds, facts.nanoseconds) != (other.seconds, other.nanoseconds)
    {
        contradicts = true;
    }
    if contradicts || other.state == State::Contradictory {
        facts.state = State::Contradictory;
    } else if facts.state == State::Comparable {
        facts.state = other.state;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(name: &'static str, algorithm: Algorithm, byte: u8) -> Record<'static> {
        let digest = Digest::new(algorithm, &vec![byte; algorithm.digest_len()]).unwrap();
        Record::new(name).with(digest)
    }

    #[test]
    fn entries_are_sorted_and_merged_by_name() {
        let mut side = Side::default();
        for (name, algorithm, byte) in [
            ("b", Algorithm::Md5, 1),
            ("a", Algorithm::Md5, 2),
            ("b", Algorithm::Sha1, 3),
            ("a", Algorithm::Md5, 2),
            ("c", Algorithm::Md5, 4),
            ("c", Algorithm::Md5, 5),
        ] {
            side.push(&record(name, algorithm, byte));
        }
        side.sort();
        let names: Vec<_> = (0..side.len()).map(|number| side.name(number)).collect();
        assert_eq!(names, [b"a", b"b", b"c"]);
        let states: Vec<_> = (0..3).map(|number| side.state(number)).collect();
        assert_eq!(states, [State::Comparable, State::Comparable, State::Contradictory]);
        assert_eq!(side.digests(0).count(), 1);
        assert_eq!(side.digest(1, Algorithm::Md5), Some(&[1; 16][..]));
        assert_eq!(side.digest(1, Algorithm::Sha1), Some(&[3; 20][..]));
        assert!(side.names().contains(b"b") && !side.names().contains(b"bb"));
        assert!(side.names().has_prefix(b"c") && !side.names().has_prefix(b"ca"));
    }

    #[test]
    fn two_sizes_of_one_name_conflict() {
        let of_size = |size| Record { size, ..Record::new("a") };
        for (sizes, size, state) in [
            ([Some(1), Some(1)], Some(1), State::Comparable),
            ([Some(1), None], Some(1), State::Comparable),
            ([None, Some(2)], Some(2), State::Comparable),
            ([Some(1), Some(2)], Some(1), State::Contradictory),
        ] {
            let mut side = Side::default();
            sizes.iter().for_each(|&size| side.push(&of_size(size)));
            side.sort();
            assert_eq!((side.len(), side.size(0), side.state(0)), (1, size, state));
        }
    }
}
