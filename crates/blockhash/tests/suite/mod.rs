//! The tests that hold for each hash function. The crates of hash functions include this file.

use std::task::Poll;

use lanesum_blockhash::{
    Backend, BlockHash, Bytes, Chunks, Digest, Hasher, Lanes, Midstate, Plan, Stream, digest_of,
    many, many_into,
};
use lanesum_lanes::{Blocks, MAX_LANES, other_cpus};

/// An independent implementation.
pub type Peer = fn(&[u8]) -> Vec<u8>;

/// Bytes that differ between neighbours and between blocks.
fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 31 % 251) as u8).collect()
}

fn block_len<H: BlockHash>() -> usize {
    H::Tail::LEN / 2
}

/// The widths of all kernels that a CPU like this chooses.
fn widths<H: BlockHash>(backend: Backend) -> Vec<usize> {
    let mut widths: Vec<_> = (1..=MAX_LANES).map(|lanes| H::width(backend, lanes)).collect();
    widths.sort_unstable();
    widths.dedup();
    widths
}

/// Every width, with blocks at equal and different page offsets, one and two parts, a shared last
/// block, and arbitrary and initial states.
pub fn kernels_agree_with_one_lane<H: BlockHash>() {
    other_cpus::pretend();
    let length = block_len::<H>();
    let units = length / 64;
    let memory = bytes(MAX_LANES * 4096 + 4 * length);
    let last = bytes(3 * length).split_off(2 * length);
    let padding = H::padding(&last);
    let other: Vec<H::State> = (0..2 * MAX_LANES)
        .map(|lane| {
            let mut state = H::State::ZEROS;
            let places = state.as_mut().iter_mut().enumerate();
            places.for_each(|(place, byte)| *byte = (place * 99 + lane) as u8);
            state
        })
        .collect();
    for (distance, initial) in
        [(3 * length, other.clone()), (4096, other), (192, vec![H::INITIAL; 2 * MAX_LANES])]
    {
        let part = |from: usize, count: usize| -> Vec<&[u8]> {
            let start = |lane: usize| lane * distance + from * length;
            (0..MAX_LANES).map(|lane| &memory[start(lane)..][..count * length]).collect()
        };
        let (first, second) = (part(0, 2), part(2, 1));
        for is_shared in [false, true] {
            let last = is_shared.then_some(&padding);
            let expected: Vec<Vec<u8>> = (0..MAX_LANES)
                .map(|lane| {
                    let mut hasher = vec![initial[lane]];
                    let mut messages = vec![first[lane], second[lane]];
                    if is_shared {
                        messages.push(&memory[2 * length..3 * length]);
                    }
                    // In plain Rust, a block at a time.
                    for message in messages {
                        let inputs = [message];
                        let blocks = Blocks::new(&inputs, message.len() / 64);
                        let plan = Plan {
                            blocks: &[[blocks, Blocks::NONE]],
                            last: None,
                            states: &mut hasher,
                        };
                        H::run(plan, Backend::PORTABLE, 1);
                    }
                    hasher[0].as_ref().to_vec()
                })
                .collect();
            for backend in Backend::available() {
                for width in widths::<H>(backend) {
                    let mut states = initial.clone();
                    let blocks = [Blocks::new(&first, 2 * units), Blocks::new(&second, units)];
                    let plan = Plan { blocks: &[blocks], last, states: &mut states };
                    H::run(plan, backend, width);
                    for (lane, state) in states.iter().enumerate() {
                        let expected =
                            if lane < width { &expected[lane][..] } else { initial[lane].as_ref() };
                        assert_eq!(
                            state.as_ref(),
                            expected,
                            "{backend} {width} {is_shared}: lane {lane}"
                        );
                    }
                }
            }
        }
    }
}

/// Every length from 0 to several blocks past the widest kernel, in all lanes.
pub fn every_length_agrees<H: BlockHash>(peer: Peer) {
    other_cpus::pretend();
    let longest = 6 * block_len::<H>() + 3;
    let memory = bytes(longest + MAX_LANES);
    let expected: Vec<Vec<u8>> = (0..=longest).map(|length| peer(&memory[..length])).collect();
    for (length, expected) in expected.iter().enumerate() {
        assert_eq!(digest_of::<H>(&memory[..length]).as_ref(), expected, "{length}");
        let mut hasher = Hasher::<H>::new();
        memory[..length].chunks(1 + length % 97).for_each(|chunk| hasher.update(chunk));
        assert_eq!(hasher.finalize().as_ref(), expected, "{length}: in chunks");
    }
    for backend in Backend::available() {
        for (length, expected) in expected.iter().enumerate() {
            // More than all lanes, and as many as leave some idle.
            let count = MAX_LANES + 1 + length % 70;
            let messages: Vec<&[u8]> = (0..count).map(|_| &memory[..length]).collect();
            for digest in many::<H, _>(backend, &messages) {
                assert_eq!(digest.as_ref(), expected, "{backend}: {length}");
            }
        }
        // Each length in each lane, next to other lengths.
        let mixed = (0..2 * MAX_LANES)
            .flat_map(|turn| (0..=longest).map(move |it| (it * 7919 + turn) % (longest + 1)));
        let lengths: Vec<usize> = mixed.collect();
        let messages = lengths.iter().map(|&length| &memory[..length]);
        for (digest, &length) in many::<H, _>(backend, messages).iter().zip(&lengths) {
            assert_eq!(digest.as_ref(), expected[length], "{backend}: {length} among others");
        }
    }
}

/// A stream with its number, which is pending every other time.
struct Slow<'a> {
    number: usize,
    rest: &'a [u8],
    piece: usize,
    is_ready: bool,
    is_cut: bool,
}

impl Stream for Slow<'_> {
    fn chunk(&mut self) -> Poll<&[u8]> {
        if !self.is_ready {
            self.is_ready = true;
            return Poll::Pending;
        }
        Poll::Ready(&self.rest[..self.piece.min(self.rest.len())])
    }

    fn consume(&mut self, count: usize) {
        self.rest = &self.rest[count..];
        self.is_ready = count < self.piece;
    }

    fn is_cut(&self) -> bool {
        self.is_cut
    }
}

/// Streams of many lengths in pieces of many lengths, some of them cut and continued.
pub fn streams_agree<H: BlockHash>(peer: Peer) {
    other_cpus::pretend();
    let longest = 40 * block_len::<H>();
    let memory = bytes(longest);
    let message = |number: usize| &memory[..number * 271 % longest];
    for backend in Backend::available() {
        let mut lanes = Lanes::<H, Slow<'_>>::with_backend(backend);
        let mut waiting = 0..300;
        let mut done = 0;
        loop {
            while !lanes.is_full()
                && let Some(number) = waiting.next()
            {
                let rest = message(number);
                let piece = 1 + number * 37 % 1000;
                lanes.push(Slow { number, rest, piece, is_ready: number % 2 == 0, is_cut: false });
            }
            let Some((slow, digest)) = lanes.take_finished() else {
                if lanes.is_empty() {
                    break;
                }
                lanes.advance();
                continue;
            };
            assert!(slow.rest.is_empty());
            assert_eq!(digest.as_ref(), peer(message(slow.number)), "{backend}: {}", slow.number);
            done += 1;
        }
        assert_eq!(done, 300, "{backend}");
        for number in (0..300).step_by(7) {
            let cut = message(number).len() / block_len::<H>() / 2 * block_len::<H>();
            let (first, rest) = message(number).split_at(cut);
            let mut hasher = Hasher::<H>::new();
            hasher.update(first);
            let midstate = hasher.midstate().expect("whole blocks");
            let midstate = Midstate::<H>::from_slice(midstate.to_bytes().as_ref(), cut as u64);
            let stream = Slow { number, rest, piece: 64, is_ready: true, is_cut: false };
            lanes.push_behind(midstate.expect("whole blocks"), stream);
            // It is pending now and then.
            let (_, digest) = (0..1000).find_map(|_| lanes.pop()).expect("it ends");
            assert_eq!(digest.as_ref(), peer(message(number)), "{backend}: {number} continued");
        }
    }
    assert!(Midstate::<H>::new(H::INITIAL, 1).is_none(), "no whole block");
    assert!(Midstate::<H>::from_slice(&[0; 3], 0).is_none(), "no state");
    let mut chunks = Lanes::<H, _>::new();
    chunks.push(Chunks::new(["a", "", "bc"].iter()));
    assert_eq!(chunks.pop().expect("it ends").1.as_ref(), peer(b"abc"));
}

/// Columns of digests, and their lengths.
pub fn columns_agree<H: BlockHash>(peer: Peer) {
    other_cpus::pretend();
    let memory = bytes(1000);
    let messages: Vec<&[u8]> = (0..500).map(|number| &memory[..number * 13 % 1000]).collect();
    let mut digests = vec![Digest::<H>::default(); messages.len()];
    many_into::<H, _, _>(Backend::best(), &messages, &mut digests);
    for (digest, message) in digests.iter().zip(&messages) {
        assert_eq!(digest.as_ref(), peer(message), "{}", message.len());
        let hex = digest.to_string();
        assert_eq!(hex.parse(), Ok(*digest));
        assert_eq!(Digest::<H>::from_hex(hex.to_uppercase()), Ok(*digest));
        assert!(Digest::<H>::from_hex(&hex[1..]).is_err());
        assert_eq!(format!("{digest:X}"), hex.to_uppercase());
    }
    for wrong in [499, 501] {
        let mut digests = vec![Digest::<H>::default(); wrong];
        let into = || many_into::<H, _, _>(Backend::best(), &messages, &mut digests);
        let into = std::panic::AssertUnwindSafe(into);
        assert!(std::panic::catch_unwind(into).is_err(), "{wrong}");
    }
}

/// A message past 4 GiB, whose number of bits does not fit into 32.
pub fn a_message_past_4_gib_agrees<H: BlockHash, P: crate::peer::Digest>() {
    if other_cpus::pretend() {
        return; // once is enough
    }
    let piece = bytes(1 << 20);
    let (mut hasher, mut peer) = (Hasher::<H>::new(), P::new());
    for _ in 0..4096 {
        hasher.update(&piece);
        peer.update(&piece);
    }
    hasher.update(&piece[..77]);
    peer.update(&piece[..77]);
    assert_eq!(hasher.finalize().as_ref(), &peer.finalize()[..]);
}
