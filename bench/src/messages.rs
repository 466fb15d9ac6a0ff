//! Messages in memory, and competitors that hash them.

use std::cell::{Cell, RefCell};
use std::hint::black_box;
use std::rc::Rc;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};

use crate::hashers::go::{self, Go};
use crate::hashers::{Batch, Digest, OneShot};
use crate::rig::{Competitor, Sample};

/// Messages of pseudo-random content, the same in every run. Each is a vector of its own, as a
/// caller's would be: at equal distances of a power of two they would fight for the same sets of
/// the first-level cache.
pub struct Messages<const N: usize> {
    contents: Vec<Vec<u8>>,
    /// What the peers' answers must be.
    digests: Vec<Digest<N>>,
}

impl<const N: usize> Messages<N> {
    /// One of each length, in bytes. `reference` computes the digests that all must have.
    pub fn new(
        lengths: impl IntoIterator<Item = usize>,
        reference: fn(&[u8]) -> Digest<N>,
    ) -> Self {
        let mut random = fastrand::Rng::with_seed(0x6d64_3500);
        let content = |length| {
            let mut content = vec![0; length];
            random.fill(&mut content);
            content
        };
        let contents: Vec<Vec<u8>> = lengths.into_iter().map(content).collect();
        let digests = contents.iter().map(|message| reference(message)).collect();
        Self { contents, digests }
    }

    pub fn slices(&self) -> Vec<&[u8]> {
        self.contents.iter().map(Vec::as_slice).collect()
    }

    pub fn count(&self) -> usize {
        self.contents.len()
    }

    /// The bytes of all.
    pub fn bytes(&self) -> usize {
        self.contents.iter().map(Vec::len).sum()
    }

    /// Who hashes the first message `times` times, as if it were another each time.
    pub fn one<'case>(&'case self, one: OneShot<'case, N>, times: usize) -> Competitor<'case> {
        let OneShot { name, mut digest } = one;
        let message = &self.contents[0][..];
        let last = Rc::new(Cell::new([0; N]));
        let answer = Rc::clone(&last);
        let run = move || {
            let start = Instant::now();
            for _ in 0..times {
                last.set(digest(black_box(message)));
            }
            Ok(sample(start))
        };
        let verify = move || compare(&[answer.get()], &self.digests[..1]);
        Competitor { name, every_round: true, run: Box::new(run), verify: Box::new(verify) }
    }

    /// Who hashes all messages `times` times, one set after the other.
    pub fn many<'case>(&'case self, batch: Batch<'case, N>, times: usize) -> Competitor<'case> {
        let Batch { name, mut digests } = batch;
        let slices = self.slices();
        let last = Rc::new(RefCell::new(vec![[0; N]; slices.len()]));
        let answer = Rc::clone(&last);
        let run = move || {
            let mut last = last.borrow_mut();
            let start = Instant::now();
            for _ in 0..times {
                digests(black_box(&slices), &mut last);
            }
            Ok(sample(start))
        };
        let verify = move || compare(&answer.borrow(), &self.digests);
        Competitor { name, every_round: true, run: Box::new(run), verify: Box::new(verify) }
    }
}

impl Messages<16> {
    /// The same by the child, which is given the messages now.
    pub fn many_in_go<'case>(
        &'case self,
        go: &'case RefCell<Go>,
        times: usize,
    ) -> Result<Competitor<'case>> {
        go.borrow_mut().load(&self.slices()).with_context(|| go::NAME)?;
        let run = move || Ok(Sample::whole(go.borrow_mut().run(times)?));
        let verify = move || compare(&go.borrow_mut().digests(self.count())?, &self.digests);
        Ok(Competitor {
            name: go::NAME,
            every_round: true,
            run: Box::new(run),
            verify: Box::new(verify),
        })
    }
}

fn sample(start: Instant) -> Sample {
    Sample::whole(start.elapsed().as_secs_f64())
}

fn compare<const N: usize>(found: &[Digest<N>], expected: &[Digest<N>]) -> Result<()> {
    let differing = found.iter().zip(expected).position(|(found, expected)| found != expected);
    ensure!(differing.is_none(), "wrong digest of message {}", differing.unwrap_or_default());
    ensure!(found.len() == expected.len(), "{} digests of {}", found.len(), expected.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hashers::{DigestMany, reference};

    #[test]
    fn messages_have_their_lengths_and_are_the_same_in_every_run() {
        let messages = Messages::new([0, 3, 100], reference);
        let lengths: Vec<usize> = messages.slices().iter().map(|message| message.len()).collect();
        assert_eq!(lengths, [0, 3, 100]);
        assert_eq!((messages.count(), messages.bytes()), (3, 103));
        assert_eq!(messages.slices(), Messages::new([0, 3, 100], reference).slices());
        assert_ne!(messages.contents[2], [0; 100]);
    }

    fn outcome<'case>(messages: &'case Messages<16>, digests: DigestMany<'case, 16>) -> Result<()> {
        let mut competitor = messages.many(Batch { name: "test", digests }, 2);
        (competitor.run)().unwrap();
        (competitor.verify)()
    }

    #[test]
    fn wrong_digests_and_missing_ones_are_found() {
        let messages = Messages::new([1, 2], reference);
        let right = outcome(
            &messages,
            Box::new(|messages, digests| {
                for (digest, message) in digests.iter_mut().zip(messages) {
                    *digest = reference(message);
                }
            }),
        );
        right.unwrap();
        let half =
            outcome(&messages, Box::new(|messages, digests| digests[0] = reference(messages[0])));
        assert_eq!(half.unwrap_err().to_string(), "wrong digest of message 1");
        assert!(compare(&[], &messages.digests).is_err());
    }
}
