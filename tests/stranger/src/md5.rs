//! `lanesum-md5`.

use std::task::Poll;

use lanesum_md5::{
    Backend, Chunks, Lanes, Md5, Md5Digest, Stream, md5, md5_chunks, md5_many, md5_many_into,
    md5_many_into_with, md5_many_with, most_streams,
};

pub fn call(backend: Backend) {
    let messages = super::messages();
    let expected: Vec<Md5Digest> = messages.iter().map(md5).collect();
    one(&messages, &expected);
    many(backend, &messages, &expected);
    streams(backend, &messages, &expected);
    one_that_has_nothing_yet(backend, &messages[150]);
    #[cfg(feature = "std")]
    with_std(backend, &messages[150]);
    #[cfg(feature = "more")]
    with_more(&messages[150]);
}

fn one(messages: &[Vec<u8>], expected: &[Md5Digest]) {
    let whole = md5(messages.concat());
    assert_eq!(md5_chunks(messages), whole);
    let mut state = Md5::new();
    messages.iter().for_each(|message| state.update(message));
    assert_eq!(state.clone().finalize(), whole);
    assert_eq!(state.finalize_reset(), whole);
    state.update("not hashed");
    state.reset();
    assert_eq!(state.finalize(), Md5::default().finalize());
    for digest in expected {
        let hex = format!("{digest:x}");
        assert_eq!(Md5Digest::from_hex(&hex), Ok(*digest));
        assert_eq!(format!("{digest:X}").parse(), Ok(*digest));
        assert_eq!(Md5Digest::try_from(digest.as_ref()).unwrap(), *digest);
        assert_eq!(Md5Digest::from(<[u8; 16]>::from(*digest)).as_bytes(), &digest.0);
        assert!(digest.to_string() == hex && format!("{digest:?}").contains(&hex));
    }
    assert!(Md5Digest::from_hex("short").unwrap_err().to_string().contains("32"));
}

fn many(backend: Backend, messages: &[Vec<u8>], expected: &[Md5Digest]) {
    assert_eq!(md5_many_with(backend, messages), expected);
    assert_eq!(md5_many_with(backend, messages.to_vec()), expected);
    assert_eq!(md5_many(messages), expected);
    let mut digests = vec![Md5Digest::default(); messages.len()];
    md5_many_into(messages, &mut digests);
    assert_eq!(digests, expected);
    let even: Vec<Vec<u8>> = (0..200).map(|byte| vec![byte; 100]).collect();
    for count in 0..=even.len() {
        let mut digests = vec![[0; 16]; count];
        md5_many_into_with(backend, &even[..count], &mut digests);
        assert!(digests.iter().zip(&even).all(|(digest, message)| *digest == md5(message).0));
    }
}

fn streams(backend: Backend, messages: &[Vec<u8>], expected: &[Md5Digest]) {
    let mut lanes = Lanes::with_backend(backend);
    assert!(lanes.capacity() == most_streams(backend) && Lanes::<&[u8]>::new().capacity() > 0);
    let mut found = Vec::new();
    for message in messages {
        if lanes.is_full() {
            found.extend(lanes.pop());
        }
        lanes.push(Chunks::new(message.chunks(100)));
    }
    while !lanes.is_empty() {
        lanes.advance();
        found.extend(std::iter::from_fn(|| lanes.take_finished()));
    }
    let found: Vec<_> = found.into_iter().map(|(_, digest)| digest).collect();
    assert!(found.len() == expected.len() && expected.iter().all(|it| found.contains(it)));
}

/// Streams of several kinds, two that are ready and one that has nothing yet.
fn one_that_has_nothing_yet(backend: Backend, message: &[u8]) {
    let mut borrowed = message;
    let mut lanes: Lanes<Box<dyn Stream + '_>> = Lanes::with_backend(backend);
    lanes.push(Box::new(NotYet));
    lanes.push(Box::new(message));
    lanes.push(Box::new(&mut borrowed));
    for _ in 0..2 {
        assert_eq!(lanes.pop().expect("two end").1, md5(message));
    }
    assert!(lanes.pop().is_none() && !lanes.advance() && lanes.take_finished().is_none());
    assert!(lanes.len() == 1 && lanes.iter().len() == 1 && lanes.iter_mut().len() == 1);
    assert!(lanes.remove(|_| false).is_none());
    assert!(lanes.remove(|_| true).is_some() && lanes.is_empty());
}

/// Has nothing yet.
struct NotYet;

impl Stream for NotYet {
    fn chunk(&mut self) -> Poll<&[u8]> {
        Poll::Pending
    }

    fn consume(&mut self, _: usize) {}
}

#[cfg(feature = "std")]
fn with_std(backend: Backend, message: &[u8]) {
    use lanesum_md5::{Reader, md5_reader};
    use std::io::Write;

    let mut state = Md5::new();
    state.write_all(message).unwrap();
    assert_eq!(state.finalize(), md5_reader(message).unwrap());
    let mut lanes = Lanes::with_backend(backend);
    let mut reader = Reader::new(message);
    assert!(reader.get_ref().len() == message.len() && reader.get_mut().len() == message.len());
    lanes.push(reader);
    let (reader, digest) = lanes.pop().expect("it ends");
    assert!(digest == md5(message) && reader.into_result().unwrap().is_empty());
}

#[cfg(feature = "more")]
fn with_more(message: &[u8]) {
    use digest::common::hazmat::SerializableState;
    use digest::{Digest, KeyInit, Mac};

    let mut state = <Md5 as Digest>::new_with_prefix(message);
    let mut again = Md5::deserialize(&state.serialize()).unwrap();
    Digest::update(&mut again, message);
    Digest::update(&mut state, message);
    assert_eq!(Digest::finalize(again), Digest::finalize(state));
    // RFC 2202, test case 2.
    let mut mac = hmac::Hmac::<Md5>::new_from_slice(b"Jefe").unwrap();
    mac.update(b"what do ya want for nothing?");
    let tag = Md5Digest::try_from(&mac.finalize().into_bytes()[..]).unwrap();
    assert_eq!(tag.to_string(), "750c783e6ab0b503eaa86e310a5db738");
    let json = serde_json::to_string(&tag).unwrap();
    assert_eq!(serde_json::from_str::<Md5Digest>(&json).unwrap(), tag);
}
