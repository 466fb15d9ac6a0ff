//! SHA-2 against the vectors of NIST, and against a plain transcription of FIPS 180-4.

#[path = "../../blockhash/tests/suite/vectors.rs"]
mod vectors;

use lanesum_sha2::{Sha224Hash, Sha256Hash, Sha384Hash, Sha512_256Hash, Sha512Hash, sha256};

#[test]
fn short_messages_agree_with_nist() {
    vectors::short_messages::<Sha256Hash>(include_str!("cavp/SHA256ShortMsg.rsp"));
    vectors::short_messages::<Sha512Hash>(include_str!("cavp/SHA512ShortMsg.rsp"));
}

#[test]
fn a_hundred_thousand_digests_agree_with_nist() {
    vectors::monte_carlo::<Sha224Hash>(include_str!("cavp/SHA224Monte.rsp"));
    vectors::monte_carlo::<Sha256Hash>(include_str!("cavp/SHA256Monte.rsp"));
    vectors::monte_carlo::<Sha384Hash>(include_str!("cavp/SHA384Monte.rsp"));
    vectors::monte_carlo::<Sha512Hash>(include_str!("cavp/SHA512Monte.rsp"));
    vectors::monte_carlo::<Sha512_256Hash>(include_str!("cavp/SHA512_256Monte.rsp"));
}

/// FIPS 180-4, sections 4.2.2, 5.1.1, 5.3.3 and 6.2.2, word for word, with the roots computed.
/// Shares nothing with the crate. SHA-512 differs in the numbers alone, and its roots have too many
/// digits for such a computation.
fn oracle(message: &[u8]) -> Vec<u8> {
    let primes = || (2..).filter(|n: &u32| (2..*n).all(|it| !n.is_multiple_of(it))).map(f64::from);
    let fraction = |root: f64| (root.fract() * 4_294_967_296.0) as u32;
    let k: Vec<u32> = primes().take(64).map(|prime| fraction(prime.cbrt())).collect();
    let mut h: Vec<u32> = primes().take(8).map(|prime| fraction(prime.sqrt())).collect();
    let mut padded = message.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((8 * message.len() as u64).to_be_bytes());
    let rotations =
        |x: u32, [a, b, c]: [u32; 3]| x.rotate_right(a) ^ x.rotate_right(b) ^ x.rotate_right(c);
    let with_shift = |x: u32, [a, b, c]: [u32; 3]| x.rotate_right(a) ^ x.rotate_right(b) ^ x >> c;
    let sum = |words: &[u32]| words.iter().fold(0_u32, |all, word| all.wrapping_add(*word));
    for block in padded.chunks_exact(64) {
        let mut w: Vec<u32> = block
            .chunks_exact(4)
            .map(|word| u32::from_be_bytes(word.try_into().unwrap()))
            .collect();
        for t in 16..64 {
            let (s1, s0) = (with_shift(w[t - 2], [17, 19, 10]), with_shift(w[t - 15], [7, 18, 3]));
            w.push(sum(&[s1, w[t - 7], s0, w[t - 16]]));
        }
        let mut v = h.clone();
        for t in 0..64 {
            let [a, b, c, d, e, f, g, last]: [u32; 8] = v.try_into().unwrap();
            let t1 = sum(&[last, rotations(e, [6, 11, 25]), (e & f) ^ (!e & g), k[t], w[t]]);
            let t2 = sum(&[rotations(a, [2, 13, 22]), (a & b) ^ (a & c) ^ (b & c)]);
            v = vec![sum(&[t1, t2]), a, b, c, sum(&[d, t1]), e, f, g];
        }
        h = h.iter().zip(&v).map(|(h, v)| sum(&[*h, *v])).collect();
    }
    h.iter().flat_map(|word| word.to_be_bytes()).collect()
}

#[test]
fn every_length_agrees_with_the_oracle() {
    let bytes: Vec<u8> = (0..300_u32).map(|place| (place * 31 % 251) as u8).collect();
    for length in 0..=bytes.len() {
        assert_eq!(sha256(&bytes[..length]).as_ref(), oracle(&bytes[..length]), "{length}");
    }
}
