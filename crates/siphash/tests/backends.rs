//! Checks every backend against the crate siphasher.
//!
//! `LANESUM_BACKEND=NAME` holds the tests to one backend.

use lanesum_siphash::{Backend, SipHash, WithBackend};

const K0: u64 = 0x0706_0504_0302_0100;
const K1: u64 = 0x0f0e_0d0c_0b0a_0908;

/// The function under test and an independent one.
trait Peer {
    fn peer(input: &[u8]) -> u64;
    fn peer128(input: &[u8]) -> u128;
}

macro_rules! peer {
    ($name:ident, $c:literal, $d:literal, $peer:ident) => {
        impl Peer for SipHash<$c, $d> {
            fn peer(input: &[u8]) -> u64 {
                siphasher::sip::$peer::new_with_keys(K0, K1).hash(input)
            }
            fn peer128(input: &[u8]) -> u128 {
                siphasher::sip128::$peer::new_with_keys(K0, K1).hash(input).as_u128()
            }
        }
    };
}
peer!(SipHash13, 1, 3, SipHasher13);
peer!(SipHash24, 2, 4, SipHasher24);

/// Bytes that differ between neighbours and between words.
fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i % 251) as u8).collect()
}

/// Compares the hashes of inputs in lanes, in both hash widths, with those of the peer.
fn check<const C: usize, const D: usize>(lanes: WithBackend<C, D>, inputs: &[&[u8]], what: &str)
where
    SipHash<C, D>: Peer,
{
    let mut hashes = vec![0_u64; inputs.len()];
    lanes.hash_many(inputs, &mut hashes);
    let mut wide = vec![0_u128; inputs.len()];
    lanes.hash_many(inputs, &mut wide);
    for (place, input) in inputs.iter().enumerate() {
        let which = || format!("{}, {what}: input {place}, {} bytes", lanes.backend(), input.len());
        assert_eq!(hashes[place], SipHash::<C, D>::peer(input), "{}", which());
        assert_eq!(wide[place], SipHash::<C, D>::peer128(input), "{}", which());
    }
}

/// Every length from 0 to 300 in separate lanes, each at a different alignment.
fn every_length(backend: Backend) {
    const LONGEST: usize = 300;
    let widest = *backend.widths_64().last().unwrap();
    // Addresses modulo 64 are those of the places in the buffer.
    let memory = bytes(LONGEST + 128);
    let start = memory.as_ptr().align_offset(64);
    let at = |place: usize, length: usize| &memory[start + place % 64..][..length];
    for length in 0..=LONGEST {
        // All lanes, a number that leaves some idle, and one more than fit at once.
        for count in [1, 2, widest - 1, widest, widest + 1] {
            let inputs: Vec<&[u8]> = (0..count).map(|lane| at(lane + length, length)).collect();
            check(sip::<2, 4>().with_backend(backend), &inputs, "equal lengths");
            check(sip::<1, 3>().with_backend(backend), &inputs, "equal lengths");
        }
    }
}

/// One input of a different length, in each lane once.
fn every_lane(backend: Backend) {
    let widest = *backend.widths_64().last().unwrap();
    let memory = bytes(300);
    for odd in 0..widest {
        for lengths in [[16, 3], [16, 23], [5, 8], [0, 1], [7, 260], [64, 0], [256, 255]] {
            let length = |lane| lengths[usize::from(lane == odd)];
            let inputs: Vec<&[u8]> =
                (0..widest).map(|lane| &memory[lane..][..length(lane)]).collect();
            check(sip::<2, 4>().with_backend(backend), &inputs, "one odd length");
        }
    }
}

/// Mixes of lengths, among them empty inputs and long ones, as slices and as pieces of a buffer.
fn mixed(backend: Backend) {
    let mut random = Random(1);
    for (count, longest) in [(0, 1), (1, 9), (100, 16), (1_000, 64), (700, 300), (60, 70_000)] {
        let lengths: Vec<usize> = (0..count).map(|_| random.below(longest + 1)).collect();
        let buffer = bytes(lengths.iter().sum());
        let mut offsets = vec![0];
        for length in &lengths {
            offsets.push(offsets.last().unwrap() + length);
        }
        let inputs: Vec<&[u8]> = offsets.windows(2).map(|ends| &buffer[ends[0]..ends[1]]).collect();
        let lanes = sip::<2, 4>().with_backend(backend);
        check(lanes, &inputs, "mixed");

        let mut expected = vec![0_u64; count];
        lanes.hash_many(&inputs, &mut expected);
        macro_rules! by_offsets {
            ($($number:ty)*) => {
                $(let offsets: Vec<$number> =
                    offsets.iter().map(|&offset| offset.try_into().unwrap()).collect();
                let mut hashes = vec![0_u64; count];
                lanes.hash_offsets(&buffer, &offsets, &mut hashes);
                assert_eq!(hashes, expected, "{backend}, offsets of {}", stringify!($number));)*
            };
        }
        // How the other kinds are read is tested in lanes.
        by_offsets! { u32 i64 }
    }
}

/// Long pieces here and there among short ones, which go another way.
fn long_pieces_among_short_ones(backend: Backend) {
    let mut random = Random(2);
    for long in [vec![0], vec![600], vec![1_100, 9_000, 9_999]] {
        let length = |place| if long.contains(&place) { 500 } else { random.below(20) };
        let lengths: Vec<usize> = (0..10_000).map(length).collect();
        let buffer = bytes(lengths.iter().sum());
        let mut offsets = vec![0_u32];
        for &length in &lengths {
            offsets.push(offsets.last().unwrap() + u32::try_from(length).unwrap());
        }
        let mut hashes = vec![0_u64; lengths.len()];
        let mut wide = vec![0_u128; lengths.len()];
        let lanes = sip::<2, 4>().with_backend(backend);
        lanes.hash_offsets(&buffer, &offsets, &mut hashes);
        lanes.hash_offsets(&buffer, &offsets, &mut wide);
        for (place, ends) in offsets.windows(2).enumerate() {
            let piece = &buffer[ends[0] as usize..ends[1] as usize];
            assert_eq!(hashes[place], SipHash::<2, 4>::peer(piece), "{backend}: {place}");
            assert_eq!(wide[place], SipHash::<2, 4>::peer128(piece), "{backend}: {place}");
        }
    }
}

/// Records and columns of numbers.
///
/// Each length needs a kernel for each word of each backend, so there are few: of less than a word,
/// of whole words, and with a rest.
fn records(backend: Backend) {
    fn of<const N: usize>(lanes: WithBackend<2, 4>) {
        for count in [0, 1, 7, 64, 100] {
            let buffer = bytes(count * N);
            let (records, _) = buffer.as_chunks::<N>();
            let mut hashes = vec![0_u64; count];
            lanes.hash_records(records, &mut hashes);
            for (place, record) in records.iter().enumerate() {
                let which = format!("{}, {N} bytes, {place} of {count}", lanes.backend());
                assert_eq!(hashes[place], SipHash::<2, 4>::peer(record), "{which}");
            }
        }
    }
    let lanes = sip::<2, 4>().with_backend(backend);
    of::<4>(lanes);
    of::<16>(lanes);
    of::<23>(lanes);
    let buffer = bytes(100 * 20);
    let (records, _) = buffer.as_chunks::<20>();
    let mut wide = vec![0_u128; 100];
    lanes.hash_records(records, &mut wide);
    for (place, record) in records.iter().enumerate() {
        assert_eq!(wide[place], SipHash::<2, 4>::peer128(record), "{backend}: {place}");
    }

    for count in 0..100 {
        let numbers: Vec<u64> =
            (0..count).map(|i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let mut hashes = vec![0_u64; numbers.len()];
        lanes.hash_u64s(&numbers, &mut hashes);
        let mut wide = vec![0_u128; numbers.len()];
        lanes.hash_u64s(&numbers, &mut wide);
        for (place, number) in numbers.iter().enumerate() {
            let bytes = number.to_le_bytes();
            assert_eq!(hashes[place], SipHash::<2, 4>::peer(&bytes), "{backend}: {place}");
            assert_eq!(wide[place], SipHash::<2, 4>::peer128(&bytes), "{backend}: {place}");
        }
    }
}

/// The key of the peers.
fn sip<const C: usize, const D: usize>() -> SipHash<C, D> {
    SipHash::from_words(K0, K1)
}

/// A sequence of pseudo-random numbers (Marsaglia's xorshift64), the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

/// The backends to test: the one that `LANESUM_BACKEND` names, or all.
fn backends() -> Vec<Backend> {
    #[cfg(target_arch = "x86_64")]
    lanesum_lanes::other_cpus::pretend();
    match std::env::var("LANESUM_BACKEND") {
        Ok(name) => vec![Backend::from_name(&name).unwrap_or_else(|| {
            panic!("LANESUM_BACKEND={name}: not one of those that this CPU has: {:?}", all())
        })],
        Err(_) => all(),
    }
}

fn all() -> Vec<Backend> {
    Backend::available().collect()
}

/// Stamps the properties onto a backend, by name.
macro_rules! stamp {
    ($($module:ident)*) => {
        /// The backends that the tests below cover.
        const STAMPED: &[&str] = &[$(stringify!($module)),*];

        $(mod $module {
            fn run(test: fn(super::Backend)) {
                let backends = super::backends().into_iter();
                backends.filter(|backend| backend.name() == stringify!($module)).for_each(test);
            }

            #[test]
            fn every_length() {
                run(super::every_length);
            }

            #[test]
            fn every_lane() {
                run(super::every_lane);
            }

            #[test]
            fn mixed() {
                run(super::mixed);
            }

            #[test]
            fn long_pieces_among_short_ones() {
                run(super::long_pieces_among_short_ones);
            }

            #[test]
            fn records() {
                run(super::records);
            }
        })*
    };
}

stamp! { portable sse2 avx2 avx512 }

/// Says which backends run, and fails when one that the CPU offers does not.
#[test]
fn every_backend_of_the_cpu_is_covered() {
    println!("backends of this CPU: {:?}; tested: {:?}", all(), backends());
    for name in Backend::names() {
        assert!(STAMPED.contains(&name), "{name} is not stamped");
    }
    assert!(!backends().is_empty());
}

#[test]
fn one_at_a_time_agrees_with_the_peer() {
    let memory = bytes(364);
    for length in 0..=300 {
        let input = &memory[length % 64..][..length];
        assert_eq!(sip::<2, 4>().hash(input), SipHash::<2, 4>::peer(input), "{length} bytes");
        assert_eq!(sip::<1, 3>().hash(input), SipHash::<1, 3>::peer(input), "{length} bytes");
        assert_eq!(sip::<2, 4>().hash128(input), SipHash::<2, 4>::peer128(input), "{length}");
        assert_eq!(sip::<1, 3>().hash128(input), SipHash::<1, 3>::peer128(input), "{length}");
        if let Ok(&number) = input.try_into() {
            assert_eq!(
                sip::<2, 4>().hash_u64(u64::from_le_bytes(number)),
                SipHash::<2, 4>::peer(input)
            );
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn every_test_holds_for_other_cpus() {
    lanesum_lanes::other_cpus::test_each();
}
