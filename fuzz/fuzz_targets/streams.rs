//! Many streams of any lengths and in any chunks, put into lanes and taken out in any order: with
//! every hash function and on every backend each has the digest that it has alone. So have they
//! when they are in memory whole.
//!
//! An input is a plan: a 16-bit word, little-endian, for each chunk, as [`word`] names its parts.

#![no_main]

use std::task::Poll;
use std::vec::IntoIter;

use lanesum_blockhash::{Backend, BlockHash, Chunks, Digest, Lanes, Stream, digest_of, many};
use lanesum_md5::Md5Hash;
use lanesum_sha1::Sha1Hash;
use lanesum_sha2::{Sha256Hash, Sha512Hash};
use libfuzzer_sys::fuzz_target;

/// The parts of a plan's word.
mod word {
    /// The chunk begins another stream.
    pub const BEGINS: u16 = 1 << 15;
    /// Before a stream begins, one that has ended is waited for and taken out.
    pub const POP: u16 = 1 << 14;
    /// Before a stream begins, the lanes go forward once.
    pub const ADVANCE: u16 = 1 << 13;
    /// Where the chunk lies, in units of 21 bytes: at other alignments.
    pub const PLACE: u16 = 3 << LENGTH.count_ones();
    /// How long the chunk is, in bytes.
    pub const LENGTH: u16 = (1 << 11) - 1;
}

/// What the chunks are cut from. 251 is no divisor of a block, so that blocks differ.
static MEMORY: [u8; 2_111] = {
    let mut memory = [0; 2_111];
    let mut i = 0;
    while i < memory.len() {
        memory[i] = (i % 251) as u8;
        i += 1;
    }
    memory
};

fuzz_target!(|plan: &[u8]| {
    let plans = plans(plan);
    let messages: Vec<_> = plans.iter().map(|plan| plan.chunks.concat()).collect();
    agree::<Md5Hash>(&plans, &messages);
    agree::<Sha1Hash>(&plans, &messages);
    agree::<Sha256Hash>(&plans, &messages);
    agree::<Sha512Hash>(&plans, &messages);
});

fn agree<H: BlockHash>(plans: &[Plan], messages: &[Vec<u8>]) {
    let alone: Vec<_> = messages.iter().map(|message| digest_of::<H>(message)).collect();
    for backend in Backend::available() {
        let together = together::<H>(backend, plans);
        let expected: Vec<_> = alone.iter().copied().map(Some).collect();
        assert_eq!(together, expected, "{} {backend}", H::NAME);
        assert_eq!(many::<H, _>(backend, messages), alone, "{} {backend}, in memory", H::NAME);
    }
}

/// What happens to one stream.
struct Plan {
    pop_before: bool,
    advance_before: bool,
    chunks: Vec<&'static [u8]>,
}

fn plans(plan: &[u8]) -> Vec<Plan> {
    let mut plans: Vec<Plan> = Vec::new();
    for word in plan.as_chunks().0.iter().copied().map(u16::from_le_bytes) {
        let place = usize::from((word & word::PLACE) >> word::LENGTH.count_ones()) * 21;
        let chunk = &MEMORY[place..][..usize::from(word & word::LENGTH)];
        match plans.last_mut() {
            Some(last) if word & word::BEGINS == 0 => last.chunks.push(chunk),
            _ => plans.push(Plan {
                pop_before: word & word::POP != 0,
                advance_before: word & word::ADVANCE != 0,
                chunks: vec![chunk],
            }),
        }
    }
    plans
}

/// The digests of all streams, hashed in lanes.
fn together<H: BlockHash>(backend: Backend, plans: &[Plan]) -> Vec<Option<Digest<H>>> {
    let mut digests = vec![None; plans.len()];
    let mut lanes = Lanes::<H, _>::with_backend(backend);
    let mut take = |ended: Option<(Numbered, Digest<H>)>| {
        if let Some((stream, digest)) = ended {
            let before = digests[stream.index].replace(digest);
            assert_eq!(before, None, "{backend}: stream {} ended twice", stream.index);
        }
    };
    for (index, plan) in plans.iter().enumerate() {
        if plan.advance_before {
            lanes.advance();
            take(lanes.take_finished());
        }
        if plan.pop_before || lanes.is_full() {
            take(lanes.pop());
        }
        lanes.push(Numbered { index, chunks: Chunks::new(plan.chunks.clone().into_iter()) });
    }
    while !lanes.is_empty() {
        take(lanes.pop());
    }
    digests
}

/// A stream and its place in the plan.
struct Numbered {
    index: usize,
    chunks: Chunks<IntoIter<&'static [u8]>>,
}

impl Stream for Numbered {
    fn chunk(&mut self) -> Poll<&[u8]> {
        self.chunks.chunk()
    }

    fn consume(&mut self, count: usize) {
        self.chunks.consume(count);
    }
}
