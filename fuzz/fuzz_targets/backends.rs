//! The same bytes through every backend, in every number of lanes that it has, by every hash
//! function, against the RustCrypto crates: all agree. Where `streams` is after the ways of streams
//! into lanes and out, this is after the arithmetic, with messages that the fuzzer writes itself.
//!
//! An input is a byte, by which the messages differ in length, and the bytes that they are cut
//! from.

#![no_main]

use std::task::Poll;

use lanesum_blockhash::{Backend, BlockHash, Lanes, Stream, digest_of};
use lanesum_md5::Md5Hash;
use lanesum_sha1::Sha1Hash;
use lanesum_sha2::{Sha256Hash, Sha512Hash};
use libfuzzer_sys::fuzz_target;
use sha2::Digest;

fuzz_target!(|input: &[u8]| {
    let Some((&step, bytes)) = input.split_first() else { return };
    let step = usize::from(step);
    for backend in Backend::available() {
        all_agree::<Md5Hash, md5_peer::Md5>(backend, step, bytes);
        all_agree::<Sha1Hash, sha1::Sha1>(backend, step, bytes);
        all_agree::<Sha256Hash, sha2::Sha256>(backend, step, bytes);
        all_agree::<Sha512Hash, sha2::Sha512>(backend, step, bytes);
    }
});

fn all_agree<H: BlockHash, P: Digest>(backend: Backend, step: usize, bytes: &[u8]) {
    let most = Lanes::<H, &[u8]>::with_backend(backend).capacity();
    for lanes in (1..=most).filter(|&lanes| lanes < 5 || lanes % 8 < 2) {
        agree::<H, P>(backend, &messages(bytes, step, lanes));
    }
}

/// As many messages, each by `step` bytes shorter than the one before, or, where there are no more,
/// as long as the first again.
fn messages(bytes: &[u8], step: usize, count: usize) -> Vec<&[u8]> {
    (0..count).map(|index| &bytes[index * step % (bytes.len() + 1)..]).collect()
}

fn agree<H: BlockHash, P: Digest>(backend: Backend, messages: &[&[u8]]) {
    let mut lanes = Lanes::<H, _>::with_backend(backend);
    for message in messages {
        lanes.push(Message { whole: message, rest: message });
    }
    for _ in messages {
        let (message, digest) = lanes.pop().expect("as many as were put in");
        let (expected, length) = (P::digest(message.whole), message.whole.len());
        assert_eq!(digest.as_ref(), &expected[..], "{} {backend}: {length} bytes", H::NAME);
        let alone = digest_of::<H>(message.whole);
        assert_eq!(alone.as_ref(), &expected[..], "{} alone: {length} bytes", H::NAME);
    }
    assert!(lanes.is_empty());
}

/// A message, and what of it is not hashed yet.
struct Message<'input> {
    whole: &'input [u8],
    rest: &'input [u8],
}

impl Stream for Message<'_> {
    fn chunk(&mut self) -> Poll<&[u8]> {
        Poll::Ready(self.rest)
    }

    fn consume(&mut self, count: usize) {
        self.rest = &self.rest[count..];
    }
}
