//! Everything that computes MD5 and, in `sha.rs`, SHA in this process, each called in the way its
//! documentation advises.

pub mod frame;
pub mod go;
pub mod sha;

use lanesum_md5::{Backend, Lanes, md5_many_into_with};
use md5_simd::Md5Engine;
use openssl::md::Md;
use openssl::md_ctx::MdCtx;
use rustcrypto_md5::Digest as _;

use crate::incarnations;

/// A digest of `N` bytes. Here all are MD5's.
pub type Digest<const N: usize = 16> = [u8; N];

/// From a message to its digest.
pub type DigestOne<'message, const N: usize = 16> =
    Box<dyn FnMut(&'message [u8]) -> Digest<N> + 'message>;

/// Computes the digest of one message.
pub struct OneShot<'message, const N: usize = 16> {
    pub name: &'static str,
    pub digest: DigestOne<'message, N>,
}

/// From messages to their digests, into as many places.
pub type DigestMany<'message, const N: usize = 16> =
    Box<dyn FnMut(&[&'message [u8]], &mut [Digest<N>]) + 'message>;

/// Computes the digests of many messages, in their order.
pub struct Batch<'message, const N: usize = 16> {
    pub name: &'static str,
    pub digests: DigestMany<'message, N>,
}

/// What every other is verified against: a plain implementation by others.
pub fn reference(message: &[u8]) -> Digest {
    rustcrypto_md5::Md5::digest(message).into()
}

/// The names of the rows of lanesum held to an instruction set, and its backend's name.
pub const HELD: [(&str, &str); 3] =
    [("lanesum-avx2", "avx2"), ("lanesum-sse2", "sse2"), ("lanesum-scalar", "portable")];

/// OpenSSL first, as the baseline; then lanesum, the other peers and the incarnations.
pub fn one_shots<'message>() -> Vec<OneShot<'message>> {
    let mut all = vec![
        OneShot { name: "openssl", digest: openssl("MD5") },
        one("lanesum", |message| lanesum_md5::md5(message).0),
    ];
    all.extend(held().map(|(name, backend)| OneShot { name, digest: in_one_lane(backend) }));
    all.extend([
        one("md-5", reference),
        one("md5", |message| md5::compute(message).0),
        one("fast-md5", fast_md5::digest),
        one("md5-many", md5_many::md5),
        one("md5-simd", md5_simd::digest),
        // Since md-5 0.11 no crate uses md5-asm; the frame around it is ours.
        one("md5-asm", |message| frame::digest(message, md5_asm::compress)),
    ]);
    all.extend(incarnations::all());
    all
}

/// md5-many first, as the baseline; then lanesum and the other peers.
pub fn batches<'message>() -> Vec<Batch<'message>> {
    let engine = md5_many::Md5Many::new();
    let mut all = vec![Batch {
        name: "md5-many",
        digests: Box::new(move |messages, digests| engine.hash_many(messages, digests)),
    }];
    let best = std::iter::once(("lanesum", Backend::best()));
    all.extend(best.chain(held()).map(|(name, backend)| Batch {
        name,
        digests: Box::new(move |messages, digests| md5_many_into_with(backend, messages, digests)),
    }));
    // `hash_many_grouped` would sort by length, which pays where many lengths are equal but stand
    // apart; in these cases they are adjacent, or all differ.
    let engine = Md5Engine::new();
    all.push(Batch {
        name: "md5-simd",
        digests: Box::new(move |messages, digests| engine.hash_many(messages, digests)),
    });
    all.push(one_by_one("openssl", openssl("MD5")));
    all
}

/// Hashes one message after the other.
fn one_by_one<'message, const N: usize>(
    name: &'static str,
    mut digest: impl FnMut(&'message [u8]) -> Digest<N> + 'message,
) -> Batch<'message, N> {
    Batch {
        name,
        digests: Box::new(move |messages, digests| {
            digests.iter_mut().zip(messages).for_each(|(place, message)| *place = digest(message));
        }),
    }
}

fn one<'message>(name: &'static str, digest: fn(&[u8]) -> Digest) -> OneShot<'message> {
    OneShot { name, digest: Box::new(digest) }
}

/// Through EVP, which is what the binding offers: the algorithm fetched and the context made
/// beforehand, as OpenSSL's manual advises for many short messages.
fn openssl<'message, const N: usize>(algorithm: &str) -> DigestOne<'message, N> {
    let algorithm = Md::fetch(None, algorithm, None).expect("OpenSSL's default provider has it");
    let mut context = MdCtx::new().expect("memory for a context");
    Box::new(move |message| {
        let mut digest = [0; N];
        context
            .digest_init(&algorithm)
            .and_then(|()| context.digest_update(message))
            .and_then(|()| context.digest_final(&mut digest))
            .expect("a digest does not fail");
        digest
    })
}

/// The rows of [`HELD`] whose instruction set this CPU has.
fn held() -> impl Iterator<Item = (&'static str, Backend)> {
    HELD.into_iter().filter_map(|(name, backend)| Some((name, Backend::from_name(backend)?)))
}

/// A message at a time in a lane of `backend`.
fn in_one_lane<'message>(backend: Backend) -> DigestOne<'message> {
    let mut lanes = Lanes::with_backend(backend);
    Box::new(move |message| {
        lanes.push(message);
        lanes.pop().expect("the message that was put in").1.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages() -> Vec<Vec<u8>> {
        (0..200).map(|length| (0..length).map(|byte| (byte * 7 + length) as u8).collect()).collect()
    }

    #[test]
    fn every_one_shot_has_the_digest_of_every_length() {
        let messages = messages();
        for mut each in one_shots() {
            for message in &messages {
                let digest = (each.digest)(message);
                assert_eq!(digest, reference(message), "{}: {} bytes", each.name, message.len());
            }
        }
    }

    #[test]
    fn every_batch_has_the_digests_in_order() {
        let messages = messages();
        let slices: Vec<&[u8]> = messages.iter().map(|message| &message[..]).collect();
        let expected: Vec<Digest> = slices.iter().map(|message| reference(message)).collect();
        for mut each in batches() {
            let mut digests = vec![Digest::default(); slices.len()];
            (each.digests)(&slices, &mut digests);
            assert_eq!(digests, expected, "{}", each.name);
        }
    }

    #[test]
    fn only_backends_of_the_cpu_are_listed() {
        let names: Vec<&str> = held().map(|(name, _)| name).collect();
        assert_eq!(names.last(), Some(&"lanesum-scalar"));
        assert_eq!(names.contains(&"lanesum-avx2"), std::arch::is_x86_feature_detected!("avx2"));
    }
}
