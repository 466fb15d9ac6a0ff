//! Any inputs, in any batch, under any key: on every backend and by every way in, each has the hash
//! that it has alone, and that is the crate siphasher's.
//!
//! The bytes are the key, 16 of them; then inputs, each a byte for its length, or 255 and a 16-bit
//! one, and its bytes. What is missing at the end is left out.

#![no_main]

use lanesum_siphash::{Backend, SipHash, WithBackend};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((key, bytes)) = bytes.split_first_chunk::<16>() else { return };
    let (buffer, offsets) = inputs(bytes);
    check(SipHash::<1, 3>::new(key), &buffer, &offsets);
    let sip = SipHash::<2, 4>::new(key);
    check(sip, &buffer, &offsets);
    // Each length and each number of rounds is kernels of its own, which take seconds to compile.
    for backend in Backend::available() {
        records::<5>(&sip, sip.with_backend(backend), &buffer);
        records::<20>(&sip, sip.with_backend(backend), &buffer);
    }

    let (words, _) = key.as_chunks();
    let [k0, k1] = [u64::from_le_bytes(words[0]), u64::from_le_bytes(words[1])];
    for ends in offsets.windows(2) {
        let input = &buffer[ends[0] as usize..ends[1] as usize];
        let peer = siphasher::sip::SipHasher24::new_with_keys(k0, k1).hash(input);
        assert_eq!(SipHash::<2, 4>::new(key).hash(input), peer);
        let peer = siphasher::sip128::SipHasher13::new_with_keys(k0, k1).hash(input);
        assert_eq!(SipHash::<1, 3>::new(key).hash128(input), peer.as_u128());
    }
});

/// The inputs side by side, and where each of them begins and ends.
fn inputs(mut bytes: &[u8]) -> (Vec<u8>, Vec<u32>) {
    let (mut buffer, mut offsets) = (Vec::new(), vec![0]);
    while let Some((&length, rest)) = bytes.split_first() {
        let (length, rest) = match (length, rest) {
            (255, &[low, high, ref rest @ ..]) => {
                (usize::from(u16::from_le_bytes([low, high])), rest)
            }
            _ => (usize::from(length), rest),
        };
        let (input, rest) = rest.split_at(length.min(rest.len()));
        buffer.extend_from_slice(input);
        offsets.push(buffer.len() as u32);
        bytes = rest;
    }
    (buffer, offsets)
}

fn check<const C: usize, const D: usize>(sip: SipHash<C, D>, buffer: &[u8], offsets: &[u32]) {
    let inputs: Vec<&[u8]> =
        offsets.windows(2).map(|ends| &buffer[ends[0] as usize..ends[1] as usize]).collect();
    let alone: Vec<u64> = inputs.iter().map(|input| sip.hash(input)).collect();
    let alone128: Vec<u128> = inputs.iter().map(|input| sip.hash128(input)).collect();
    for (place, input) in inputs.iter().enumerate() {
        // Cut at some place that the neighbour decides.
        let cut = inputs[place.saturating_sub(1)].len().min(input.len());
        let mut hasher = sip.hasher();
        hasher.update(&input[..cut]);
        hasher.update(&input[cut..]);
        assert_eq!(hasher.finalize(), alone[place]);
    }
    for backend in Backend::available() {
        let lanes = sip.with_backend(backend);
        let mut hashes = vec![0; inputs.len()];
        lanes.hash_many(&inputs, &mut hashes);
        assert_eq!(hashes, alone, "{backend}");
        let mut hashes = vec![0; inputs.len()];
        lanes.hash_offsets(buffer, offsets, &mut hashes);
        assert_eq!(hashes, alone, "{backend}");
        let mut hashes = vec![0; inputs.len()];
        lanes.hash_many(&inputs, &mut hashes);
        assert_eq!(hashes, alone128, "{backend}");
    }
}

/// The whole buffer as records of one length, and as numbers.
fn records<const N: usize>(sip: &SipHash<2, 4>, lanes: WithBackend<2, 4>, buffer: &[u8]) {
    let (records, _) = buffer.as_chunks::<N>();
    let mut hashes = vec![0_u64; records.len()];
    lanes.hash_records(records, &mut hashes);
    assert!(records.iter().zip(&hashes).all(|(record, &hash)| hash == sip.hash(record)));
    let words = buffer.as_chunks().0.iter().copied();
    let numbers: Vec<u64> = words.map(u64::from_le_bytes).collect();
    let mut hashes = vec![0_u64; numbers.len()];
    lanes.hash_u64s(&numbers, &mut hashes);
    assert!(numbers.iter().zip(&hashes).all(|(&number, &hash)| hash == sip.hash_u64(number)));
}
