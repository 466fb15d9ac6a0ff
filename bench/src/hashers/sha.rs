//! Everything that computes SHA-1, SHA-256 and SHA-512 in this process. OpenSSL first, as the
//! baseline; then lanesum and the other peers.

use lanesum_sha1::{Backend, sha1_many_into_with};
use lanesum_sha2::{sha256_many_into_with, sha512_many_into_with};
use ring::digest::{self, Algorithm};
use rustcrypto_sha1::Sha1;
use rustcrypto_sha2::{Digest as _, Sha256, Sha512};

use super::{Batch, Digest, held, one_by_one, openssl};

/// What every other SHA-1 is verified against: a plain implementation by others, as for the others.
pub fn reference_1(message: &[u8]) -> Digest<20> {
    Sha1::digest(message).into()
}

pub fn reference_256(message: &[u8]) -> Digest<32> {
    Sha256::digest(message).into()
}

pub fn reference_512(message: &[u8]) -> Digest<64> {
    Sha512::digest(message).into()
}

pub fn batches_1<'message>() -> Vec<Batch<'message, 20>> {
    let mut all = vec![one_by_one("openssl", openssl("SHA1"))];
    all.extend(lanesum(|backend, messages, digests| {
        sha1_many_into_with(backend, messages, digests)
    }));
    all.push(one_by_one("rustcrypto", reference_1));
    all.push(one_by_one("ring", |message| ring(&digest::SHA1_FOR_LEGACY_USE_ONLY, message)));
    all
}

pub fn batches_256<'message>() -> Vec<Batch<'message, 32>> {
    let mut all = vec![one_by_one("openssl", openssl("SHA256"))];
    all.extend(lanesum(|backend, messages, digests| {
        sha256_many_into_with(backend, messages, digests)
    }));
    all.push(one_by_one("rustcrypto", reference_256));
    all.push(one_by_one("ring", |message| ring(&digest::SHA256, message)));
    all.push(Batch { name: "tape-sha256", digests: Box::new(tape_sha256::hash_many) });
    all
}

pub fn batches_512<'message>() -> Vec<Batch<'message, 64>> {
    let mut all = vec![one_by_one("openssl", openssl("SHA512"))];
    all.extend(lanesum(|backend, messages, digests| {
        sha512_many_into_with(backend, messages, digests)
    }));
    all.push(one_by_one("rustcrypto", reference_512));
    all.push(one_by_one("ring", |message| ring(&digest::SHA512, message)));
    all
}

/// Lanesum with the best backend, and held to each lesser one.
fn lanesum<'message, const N: usize>(
    many: fn(Backend, &[&[u8]], &mut [Digest<N>]),
) -> impl Iterator<Item = Batch<'message, N>> {
    let best = std::iter::once(("lanesum", Backend::best()));
    best.chain(held()).map(move |(name, backend)| Batch {
        name,
        digests: Box::new(move |messages, digests| many(backend, messages, digests)),
    })
}

fn ring<const N: usize>(algorithm: &'static Algorithm, message: &[u8]) -> Digest<N> {
    digest::digest(algorithm, message).as_ref().try_into().expect("the length of the algorithm")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<const N: usize>(
        batches: fn() -> Vec<Batch<'static, N>>,
        reference: fn(&[u8]) -> Digest<N>,
    ) {
        let contents: Vec<Vec<u8>> = (0..200).map(|length| vec![length as u8; length]).collect();
        let slices: Vec<&'static [u8]> =
            contents.into_iter().map(|content| &*content.leak()).collect();
        let expected: Vec<Digest<N>> = slices.iter().map(|message| reference(message)).collect();
        for mut each in batches() {
            let mut digests = vec![[0; N]; slices.len()];
            (each.digests)(&slices, &mut digests);
            assert_eq!(digests, expected, "{}", each.name);
        }
    }

    #[test]
    fn every_batch_has_the_digests_in_order() {
        check(batches_1, reference_1);
        check(batches_256, reference_256);
        check(batches_512, reference_512);
    }
}
