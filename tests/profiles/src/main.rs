//! `profiles CASE COUNT`: hashes the inputs of a case so many times. See `compare.sh`.

use std::hint::black_box;

use lanesum_md5::{Md5Digest, md5_many_into};
use lanesum_siphash::SipHash24;

const INPUTS: usize = 4_800;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [case, count] = &args[..] else { panic!("usage: profiles CASE COUNT") };
    let (kind, lengths) = case.split_once('-').expect("a kind and lengths");
    let (shortest, longest) = lengths.split_once('-').expect("two lengths");
    let inputs = Inputs::new(shortest.parse().unwrap(), longest.parse().unwrap());
    for _ in 0..count.parse().unwrap() {
        inputs.hash(kind);
    }
}

/// Strings of random lengths in one buffer, and as slices.
struct Inputs<'a> {
    buffer: &'a [u8],
    offsets: Vec<i32>,
    slices: Vec<&'a [u8]>,
}

impl Inputs<'static> {
    fn new(shortest: usize, longest: usize) -> Self {
        let (mut lengths, mut random) = (Vec::new(), 88_172_645_463_325_252_u64);
        for _ in 0..INPUTS {
            // Marsaglia's xorshift64.
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            lengths.push(shortest + (random >> 33) as usize % (longest - shortest + 1));
        }
        let buffer: &[u8] = Box::leak(vec![7; lengths.iter().sum()].into_boxed_slice());
        let (mut offsets, mut slices, mut rest) = (vec![0], Vec::new(), buffer);
        for length in lengths {
            let slice;
            (slice, rest) = rest.split_at(length);
            slices.push(slice);
            offsets.push((buffer.len() - rest.len()) as i32);
        }
        Self { buffer, offsets, slices }
    }

    fn hash(&self, kind: &str) {
        let sip = SipHash24::from_words(1, 2);
        let mut hashes = vec![0_u64; INPUTS];
        match kind {
            "offsets" => sip.hash_offsets(black_box(self.buffer), &self.offsets, &mut hashes),
            "many" => sip.hash_many(black_box(&self.slices), &mut hashes),
            "records" => {
                let (records, _) = self.buffer.as_chunks::<12>();
                sip.hash_records(black_box(records), &mut hashes[..records.len()]);
            }
            "md5" => {
                let mut digests = vec![Md5Digest::default(); INPUTS];
                md5_many_into(black_box(&self.slices), &mut digests);
                black_box(&digests);
            }
            _ => panic!("not a kind: {kind}"),
        }
        black_box(&hashes);
    }
}
