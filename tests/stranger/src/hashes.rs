//! `lanesum-md5`, `lanesum-sha1` and `lanesum-sha2`, whose functions are the same.

use std::task::Poll;

use lanesum_md5::Stream;

/// Makes a module that calls all functions of a hash function: [`lanesum_blockhash::api!`] names
/// them.
macro_rules! hash {
    (
        $module:ident: $package:ident, $len:literal, $lanes:ty, $hasher:ident, $digest:ident;
        $one:ident, $chunks:ident, $reader:ident, $many:ident, $many_with:ident, $many_into:ident,
        $many_into_with:ident; hmac: $hmac:literal
    ) => {
        pub mod $module {
            use $package::{
                Backend, Chunks, Stream, $chunks, $digest, $hasher, $many, $many_into,
                $many_into_with, $many_with, $one,
            };

            use super::{NotYet, messages};

            type Lanes<S> = $lanes;

            pub fn call(backend: Backend) {
                let messages = messages();
                let expected: Vec<$digest> = messages.iter().map($one).collect();
                one(&messages, &expected);
                many(backend, &messages, &expected);
                streams(backend, &messages, &expected);
                one_that_has_nothing_yet(backend, &messages[150]);
                #[cfg(feature = "std")]
                with_std(backend, &messages[150]);
                #[cfg(feature = "more")]
                with_more(&messages[150]);
            }

            fn one(messages: &[Vec<u8>], expected: &[$digest]) {
                let whole = $one(messages.concat());
                assert_eq!($chunks(messages), whole);
                let mut state = $hasher::new();
                messages.iter().for_each(|message| state.update(message));
                assert_eq!(state.clone().finalize(), whole);
                assert_eq!(state.finalize_reset(), whole);
                state.update("not hashed");
                state.reset();
                assert_eq!(state.finalize(), $hasher::default().finalize());
                for digest in expected {
                    let hex = format!("{digest:x}");
                    assert_eq!($digest::from_hex(&hex), Ok(*digest));
                    assert_eq!(format!("{digest:X}").parse(), Ok(*digest));
                    assert_eq!($digest::try_from(digest.as_ref()).unwrap(), *digest);
                    assert_eq!($digest::from(<[u8; $len]>::from(*digest)).as_bytes(), &digest.0);
                    assert!(digest.to_string() == hex && format!("{digest:?}").contains(&hex));
                }
                assert!(
                    $digest::from_hex("short")
                        .unwrap_err()
                        .to_string()
                        .contains(&(2 * $len).to_string())
                );
            }

            fn many(backend: Backend, messages: &[Vec<u8>], expected: &[$digest]) {
                assert_eq!($many_with(backend, messages), expected);
                assert_eq!($many_with(backend, messages.to_vec()), expected);
                assert_eq!($many(messages), expected);
                let mut digests = vec![$digest::default(); messages.len()];
                $many_into(messages, &mut digests);
                assert_eq!(digests, expected);
                let even: Vec<Vec<u8>> = (0..200).map(|byte| vec![byte; 100]).collect();
                for count in 0..=even.len() {
                    let mut digests = vec![[0; $len]; count];
                    $many_into_with(backend, &even[..count], &mut digests);
                    assert!(
                        digests
                            .iter()
                            .zip(&even)
                            .all(|(digest, message)| *digest == $one(message).0)
                    );
                }
            }

            fn streams(backend: Backend, messages: &[Vec<u8>], expected: &[$digest]) {
                let mut lanes = Lanes::with_backend(backend);
                let best = Lanes::new();
                assert!(lanes.capacity() > 0 && best.capacity() >= lanes.capacity());
                drop::<Lanes<&[u8]>>(best);
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
                assert!(
                    found.len() == expected.len() && expected.iter().all(|it| found.contains(it))
                );
            }

            /// Streams of several kinds, two that are ready and one that has nothing yet.
            fn one_that_has_nothing_yet(backend: Backend, message: &[u8]) {
                let mut borrowed = message;
                let mut lanes: Lanes<Box<dyn Stream + '_>> = Lanes::with_backend(backend);
                if lanes.capacity() < 3 {
                    return; // one message at a time, without lanes
                }
                lanes.push(Box::new(NotYet));
                lanes.push(Box::new(message));
                lanes.push(Box::new(&mut borrowed));
                for _ in 0..2 {
                    assert_eq!(lanes.pop().expect("two end").1, $one(message));
                }
                assert!(
                    lanes.pop().is_none() && !lanes.advance() && lanes.take_finished().is_none()
                );
                assert!(lanes.len() == 1 && lanes.iter().len() == 1 && lanes.iter_mut().len() == 1);
                assert!(lanes.remove(|_| false).is_none());
                assert!(lanes.remove(|_| true).is_some() && lanes.is_empty());
            }

            #[cfg(feature = "std")]
            fn with_std(backend: Backend, message: &[u8]) {
                use std::io::Write as _;
                use $package::{Reader, $reader};

                let mut state = $hasher::new();
                state.write_all(message).unwrap();
                assert_eq!(state.finalize(), $reader(message).unwrap());
                let mut lanes = Lanes::with_backend(backend);
                let mut reader = Reader::new(message);
                assert!(
                    reader.get_ref().len() == message.len()
                        && reader.get_mut().len() == message.len()
                );
                lanes.push(reader);
                let (reader, digest) = lanes.pop().expect("it ends");
                assert!(digest == $one(message) && reader.into_result().unwrap().is_empty());
            }

            #[cfg(feature = "more")]
            fn with_more(message: &[u8]) {
                use digest::common::hazmat::SerializableState;
                use digest::{Digest, KeyInit, Mac};

                let mut state = <$hasher as Digest>::new_with_prefix(message);
                let mut again = $hasher::deserialize(&state.serialize()).unwrap();
                Digest::update(&mut again, message);
                Digest::update(&mut state, message);
                assert_eq!(Digest::finalize(again), Digest::finalize(state));
                // RFC 2202 and 4231, test case 2.
                let mut mac = hmac::Hmac::<$hasher>::new_from_slice(b"Jefe").unwrap();
                mac.update(b"what do ya want for nothing?");
                let tag = $digest::try_from(&mac.finalize().into_bytes()[..]).unwrap();
                assert_eq!(tag.to_string(), $hmac);
                let json = serde_json::to_string(&tag).unwrap();
                assert_eq!(serde_json::from_str::<$digest>(&json).unwrap(), tag);
            }
        }
    };
}

hash! {
    md5: lanesum_md5, 16, lanesum_md5::Lanes<S>, Md5, Md5Digest;
    md5, md5_chunks, md5_reader, md5_many, md5_many_with, md5_many_into, md5_many_into_with;
    hmac: "750c783e6ab0b503eaa86e310a5db738"
}

hash! {
    sha1: lanesum_sha1, 20, lanesum_sha1::Lanes<S>, Sha1, Sha1Digest;
    sha1, sha1_chunks, sha1_reader, sha1_many, sha1_many_with, sha1_many_into, sha1_many_into_with;
    hmac: "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"
}

hash! {
    sha256: lanesum_sha2, 32, lanesum_sha2::Lanes<lanesum_sha2::Sha256Hash, S>, Sha256, Sha256Digest;
    sha256, sha256_chunks, sha256_reader, sha256_many, sha256_many_with, sha256_many_into,
    sha256_many_into_with;
    hmac: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
}

hash! {
    sha512: lanesum_sha2, 64, lanesum_sha2::Lanes<lanesum_sha2::Sha512Hash, S>, Sha512, Sha512Digest;
    sha512, sha512_chunks, sha512_reader, sha512_many, sha512_many_with, sha512_many_into,
    sha512_many_into_with;
    hmac: "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"
}

use super::messages;

/// Has nothing yet.
struct NotYet;

impl Stream for NotYet {
    fn chunk(&mut self) -> Poll<&[u8]> {
        Poll::Pending
    }

    fn consume(&mut self, _: usize) {}
}
