//! Streams that have nothing yet, are taken out before their end, fail or panic.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

use lanesum_md5::{Backend, Chunks, Lanes, Md5Digest, Reader, Stream, md5};
use proptest::collection::vec;
use proptest::prelude::*;

/// A stream that yields one answer after the other; `None` is "not yet", and then it ends.
#[derive(Debug)]
struct Script {
    index: usize,
    answers: VecDeque<Option<Vec<u8>>>,
    consumed: usize,
}

impl Script {
    fn new(index: usize, answers: impl IntoIterator<Item = Option<Vec<u8>>>) -> Self {
        let not_empty = |answer: &Option<Vec<u8>>| answer.as_ref().is_none_or(|it| !it.is_empty());
        Self { index, answers: answers.into_iter().filter(not_empty).collect(), consumed: 0 }
    }

    fn message(&self) -> Vec<u8> {
        self.answers.iter().flatten().flatten().copied().collect()
    }
}

impl Stream for Script {
    fn chunk(&mut self) -> Poll<&[u8]> {
        if self.answers.front().is_some_and(Option::is_none) {
            self.answers.pop_front();
            return Poll::Pending;
        }
        Poll::Ready(match self.answers.front() {
            Some(Some(bytes)) => &bytes[self.consumed..],
            _ => &[],
        })
    }

    fn consume(&mut self, count: usize) {
        self.consumed += count;
        if self.answers.front().is_some_and(|it| it.as_ref().unwrap().len() == self.consumed) {
            self.answers.pop_front();
            self.consumed = 0;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Wherever streams have nothing yet, and wherever one is taken out, the others have the
    /// digests that they have alone, on every backend.
    #[test]
    fn waiting_streams_do_not_delay_others(
        scripts in vec(vec(prop::option::weighted(0.6, vec(any::<u8>(), 0..300)), 0..12), 1..70),
        taken_out in any::<prop::sample::Index>(),
    ) {
        let taken_out = taken_out.index(2 * scripts.len());
        for backend in Backend::available() {
            let scripts = scripts.iter().enumerate();
            let scripts = scripts.map(|(index, answers)| Script::new(index, answers.clone()));
            let mut waiting: VecDeque<Script> = scripts.collect();
            let expected: Vec<Md5Digest> = waiting.iter().map(|it| md5(it.message())).collect();
            let (mut digests, mut removed) = (vec![None; expected.len()], None);
            let mut lanes = Lanes::with_backend(backend);
            loop {
                while !lanes.is_full() && let Some(script) = waiting.pop_front() {
                    lanes.push(script);
                }
                match lanes.pop() {
                    Some((script, digest)) => digests[script.index] = Some(digest),
                    None if lanes.is_empty() => break,
                    None => removed = removed.or(lanes.remove(|it| it.index == taken_out)),
                }
            }
            let removed = removed.map(|script| script.index);
            for (index, (digest, expected)) in digests.iter().zip(&expected).enumerate() {
                let is_removed = removed == Some(index);
                prop_assert_eq!(*digest, (!is_removed).then_some(*expected), "{} {}", backend, index);
            }
        }
    }
}

/// A message that arrives when the test passes it.
#[derive(Default)]
struct Fed {
    bytes: Vec<u8>,
    is_at_end: bool,
}

impl Stream for Fed {
    fn chunk(&mut self) -> Poll<&[u8]> {
        if self.bytes.is_empty() && !self.is_at_end {
            return Poll::Pending;
        }
        Poll::Ready(&self.bytes)
    }

    fn consume(&mut self, count: usize) {
        self.bytes.drain(..count);
    }
}

/// 19 that are ready end while the twentieth has nothing; that one is fed then, and ends as well.
#[test]
fn ready_streams_end_before_a_waiting_one() {
    for backend in Backend::available() {
        let mut lanes: Lanes<Box<dyn Stream>> = Lanes::with_backend(backend);
        let few = lanes.capacity().min(20);
        lanes.push(Box::new(Fed::default()));
        (1..few).for_each(|_| lanes.push(Box::new(&[7; 1000][..])));
        let digests: Vec<_> =
            std::iter::from_fn(|| lanes.pop()).map(|(_, digest)| digest).collect();
        assert_eq!(digests, vec![md5([7; 1000]); few - 1]);
        assert_eq!(lanes.len(), 1);
        assert!(!lanes.advance() && lanes.take_finished().is_none() && lanes.pop().is_none());
    }
    let mut slow = Lanes::new();
    slow.push(Fed::default());
    assert!(slow.pop().is_none());
    for byte in 0..200 {
        slow.iter_mut().for_each(|stream| stream.bytes.push(byte));
        assert!(slow.pop().is_none() && slow.len() == 1);
    }
    slow.iter_mut().for_each(|stream| stream.is_at_end = true);
    assert_eq!(slow.pop().unwrap().1, md5((0..200).collect::<Vec<u8>>()));
    assert!(slow.pop().is_none() && slow.is_empty());
}

/// A stream behind a reference stays its owner's.
#[test]
fn borrowed_streams_are_hashed() {
    let (mut a, mut b) = (Chunks::new(["a"].iter()), Chunks::new(["b", "c"].iter()));
    let mut lanes = Lanes::new();
    lanes.push(&mut a);
    lanes.push(&mut b);
    assert_eq!(lanes.iter().len(), 2);
    let mut digests: Vec<_> = std::iter::from_fn(|| lanes.pop()).map(|(_, it)| it).collect();
    digests.sort_unstable();
    let mut expected = [md5("a"), md5("bc")];
    expected.sort_unstable();
    assert_eq!(digests, expected);
}

/// Panics when the bytes of a message are consumed up to a place.
struct Panics<'a>(&'a [u8], usize);

impl Stream for Panics<'_> {
    fn chunk(&mut self) -> Poll<&[u8]> {
        Poll::Ready(self.0)
    }

    fn consume(&mut self, count: usize) {
        self.0 = &self.0[count..];
        assert!(self.0.len() > self.1, "as it was told to");
    }
}

/// No lane returns a digest after a panic in the middle of a step, and the streams can be taken
/// back.
#[test]
fn a_panic_causes_no_wrong_digest() {
    let message = [7; 1024];
    for at in 0..4 {
        let mut lanes = Lanes::with_backend(Backend::PORTABLE);
        for number in 0..4 {
            lanes.push(Panics(&message, if number == at { 900 } else { 0 }));
        }
        let first = catch_unwind(AssertUnwindSafe(|| lanes.pop().is_some()));
        assert_eq!(*first.unwrap_err().downcast::<&str>().unwrap(), "as it was told to");
        for _ in 0..2 {
            let next = catch_unwind(AssertUnwindSafe(|| lanes.pop().map(|(_, digest)| digest)));
            let text = *next.expect_err("a digest").downcast::<&str>().unwrap();
            assert_eq!(text, "a stream has panicked, so no digest can be trusted");
            assert!(catch_unwind(AssertUnwindSafe(|| lanes.advance())).is_err());
        }
        assert_eq!(std::iter::from_fn(|| lanes.remove(|_| true)).count(), 4);
    }
}

/// Yields one result a call.
struct Results(VecDeque<Result<&'static str, ErrorKind>>);

impl Read for Results {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let text = self.0.pop_front().unwrap_or(Ok(""))?;
        buffer[..text.len()].copy_from_slice(text.as_bytes());
        Ok(text.len())
    }
}

#[test]
fn a_reader_can_wait_be_interrupted_and_fail() {
    use ErrorKind::{ConnectionReset, Interrupted, WouldBlock};
    let reader = |results: &[_]| {
        Reader::new(BufReader::with_capacity(128, Results(results.iter().copied().collect())))
    };
    let mut lanes = Lanes::new();
    // Twice: by `take_finished` and by `advance`.
    let not_yet = Err(WouldBlock);
    lanes.push(reader(&[Ok("a"), Err(Interrupted), Ok("bc"), not_yet, not_yet, Ok("d")]));
    assert!(lanes.pop().is_none() && lanes.len() == 1);
    let (ended, digest) = lanes.pop().unwrap();
    assert_eq!((digest, ended.into_result().is_ok()), (md5("abcd"), true));
    lanes.push(reader(&[Ok("a"), Err(ConnectionReset), Ok("bc")]));
    let (mut ended, digest) = lanes.pop().unwrap();
    assert_eq!(digest, md5("a"));
    assert_eq!(ended.get_mut().fill_buf().unwrap(), b"bc");
    assert_eq!(ended.into_result().err().unwrap().kind(), ConnectionReset);
}
