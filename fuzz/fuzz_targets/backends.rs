//! The same bytes through every backend, in every number of lanes that it has, against the crate
//! md-5: all agree. Where `streams` is after the ways of streams into lanes and out, this is after
//! the arithmetic, with messages that the fuzzer writes itself.
//!
//! An input is a byte, by which the messages differ in length, and the bytes that they are cut
//! from.

#![no_main]

use std::task::Poll;

use lanesum_md5::{Backend, Lanes, Md5Digest, md5};
use libfuzzer_sys::fuzz_target;
use md5_peer::Digest as _;

fuzz_target!(|input: &[u8]| {
    let Some((&step, bytes)) = input.split_first() else { return };
    for backend in Backend::available() {
        let most = Lanes::<&[u8]>::with_backend(backend).capacity();
        for lanes in (1..=most).filter(|&lanes| lanes < 5 || lanes % 8 < 2) {
            agree(backend, &messages(bytes, usize::from(step), lanes));
        }
    }
});

/// As many messages, each by `step` bytes shorter than the one before, or, where there are no more,
/// as long as the first again.
fn messages(bytes: &[u8], step: usize, count: usize) -> Vec<&[u8]> {
    (0..count).map(|index| &bytes[index * step % (bytes.len() + 1)..]).collect()
}

fn agree(backend: Backend, messages: &[&[u8]]) {
    let mut lanes = Lanes::with_backend(backend);
    for message in messages {
        lanes.push(Message { whole: message, rest: message });
    }
    for _ in messages {
        let (message, digest) = lanes.pop().expect("as many as were put in");
        let expected = Md5Digest::from(<[u8; 16]>::from(md5_peer::Md5::digest(message.whole)));
        assert_eq!(digest, expected, "{backend}: {} bytes", message.whole.len());
        assert_eq!(md5(message.whole), expected, "alone: {} bytes", message.whole.len());
    }
    assert!(lanes.is_empty());
}

/// A message, and what of it is not hashed yet.
struct Message<'input> {
    whole: &'input [u8],
    rest: &'input [u8],
}

impl lanesum_md5::Stream for Message<'_> {
    fn chunk(&mut self) -> Poll<&[u8]> {
        Poll::Ready(self.rest)
    }

    fn consume(&mut self, count: usize) {
        self.rest = &self.rest[count..];
    }
}
