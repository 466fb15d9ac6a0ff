//! SHA-1 against the vectors of NIST, and against a plain transcription of FIPS 180-4.

#[path = "../../blockhash/tests/suite/vectors.rs"]
mod vectors;

use lanesum_sha1::{Sha1Hash, sha1};

#[test]
fn short_messages_agree_with_nist() {
    vectors::short_messages::<Sha1Hash>(include_str!("cavp/SHA1ShortMsg.rsp"));
}

#[test]
fn a_hundred_thousand_digests_agree_with_nist() {
    vectors::monte_carlo::<Sha1Hash>(include_str!("cavp/SHA1Monte.rsp"));
}

/// FIPS 180-4, sections 5.1.1, 5.3.1 and 6.1.2, word for word. Shares nothing with the crate.
fn oracle(message: &[u8]) -> Vec<u8> {
    let mut padded = message.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((8 * message.len() as u64).to_be_bytes());
    let mut h: [u32; 5] = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];
    for block in padded.chunks_exact(64) {
        let mut w: Vec<u32> = block
            .chunks_exact(4)
            .map(|word| u32::from_be_bytes(word.try_into().unwrap()))
            .collect();
        for t in 16..80 {
            w.push((w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16]).rotate_left(1));
        }
        let [mut a, mut b, mut c, mut d, mut e] = h;
        for (t, word) in w.into_iter().enumerate() {
            let (f, k) = match t {
                0..20 => ((b & c) ^ (!b & d), 0x5a827999),
                20..40 => (b ^ c ^ d, 0x6ed9eba1),
                40..60 => ((b & c) ^ (b & d) ^ (c & d), 0x8f1bbcdc),
                _ => (b ^ c ^ d, 0xca62c1d6_u32),
            };
            let sum = [f, e, k, word].into_iter().fold(a.rotate_left(5), u32::wrapping_add);
            (e, d, c, b, a) = (d, c, b.rotate_left(30), a, sum);
        }
        for (h, value) in h.iter_mut().zip([a, b, c, d, e]) {
            *h = h.wrapping_add(value);
        }
    }
    h.iter().flat_map(|word| word.to_be_bytes()).collect()
}

#[test]
fn every_length_agrees_with_the_oracle() {
    let bytes: Vec<u8> = (0..300_u32).map(|place| (place * 31 % 251) as u8).collect();
    for length in 0..=bytes.len() {
        assert_eq!(sha1(&bytes[..length]).as_ref(), oracle(&bytes[..length]), "{length}");
    }
}
