//! Every function that has many lanes, on every backend that this CPU has or can pretend to have, in
//! threads of 1 MiB and without optimisation: `make test-stranger`.

use std::task::Poll;
use std::thread;

use lanesum_md5::{
    Backend, Lanes, Md5, Md5Digest, Reader, Stream, md5, md5_many, md5_many_into, md5_many_into_with,
    md5_many_with,
};
use lanesum_siphash::SipHash24;
use lanesum_table::{FloodSafeMap, FloodSafeSet};

const STACK: usize = 1 << 20;

fn main() {
    #[cfg(target_arch = "x86_64")]
    for latency in lanesum_lanes::Latency::ALL {
        latency.pretend();
        call_on_all_backends(&format!("{latency:?}"));
    }
    #[cfg(not(target_arch = "x86_64"))]
    call_on_all_backends("of this CPU");
}

fn call_on_all_backends(latency: &str) {
    for backend in Backend::available() {
        let call = move || {
            hash_by_md5(backend);
            hash_by_siphash(backend);
            look_up();
        };
        thread::Builder::new().stack_size(STACK).spawn(call).unwrap().join().unwrap();
        println!("latency {latency}, {backend}: ok");
    }
}

fn hash_by_md5(backend: Backend) {
    let uneven: Vec<Vec<u8>> = (0..300).map(|length| vec![length as u8; 7 * length]).collect();
    let even: Vec<Vec<u8>> = (0..200).map(|byte| vec![byte as u8; 100]).collect();
    let expected: Vec<_> = uneven.iter().map(|message| md5(message)).collect();
    assert_eq!(md5_many_with(backend, &uneven), expected);
    assert_eq!(md5_many_with(backend, uneven.clone()), expected);
    assert_eq!(md5_many(&uneven), expected);
    for count in 0..=even.len() {
        let mut digests = vec![[0; 16]; count];
        md5_many_into_with(backend, &even[..count], &mut digests);
        assert!(digests.iter().zip(&even).all(|(digest, message)| *digest == md5(message).0));
    }
    let mut digests = vec![Md5Digest::default(); uneven.len()];
    md5_many_into(&uneven, &mut digests);
    assert_eq!(digests, expected);
    let mut state = Md5::new();
    uneven.iter().for_each(|message| state.update(message));
    assert_eq!(state.finalize(), md5(uneven.concat()));
    let from_hex = |it: &Md5Digest| Md5Digest::from_hex(format!("{it:X}")) == Ok(*it);
    assert!(expected.iter().all(from_hex));
    let mut lanes = Lanes::with_backend(backend);
    let mut digests = Vec::new();
    for message in &uneven {
        if lanes.is_full() {
            digests.extend(lanes.pop().map(|(_, digest)| digest));
        }
        lanes.push(&message[..]);
    }
    digests.extend(std::iter::from_fn(|| lanes.pop()).map(|(_, digest)| digest));
    assert!(digests.len() == expected.len() && expected.iter().all(|it| digests.contains(it)));
    feed(backend, &uneven[150]);
}

/// Streams of several kinds, some that are ready and one that has nothing yet.
fn feed(backend: Backend, message: &[u8]) {
    let mut lanes: Lanes<Box<dyn Stream + '_>> = Lanes::with_backend(backend);
    lanes.push(Box::new(NotYet));
    lanes.push(Box::new(message));
    lanes.push(Box::new(Reader::new(message)));
    for _ in 0..2 {
        assert_eq!(lanes.pop().expect("two end").1, md5(message));
    }
    assert!(lanes.pop().is_none() && !lanes.advance());
    assert!(lanes.iter().len() == 1 && lanes.iter_mut().len() == 1);
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

fn hash_by_siphash(backend: Backend) {
    let sip = SipHash24::new(b"sixteen bytes...");
    let lanes = sip.lanes(backend);
    let inputs: Vec<Vec<u8>> = (0..300).map(|length| vec![length as u8; length]).collect();
    let (mut hashes, mut wide) = (vec![0_u64; 300], vec![0_u128; 300]);
    lanes.hash_many(&inputs, &mut hashes);
    lanes.hash_many(&inputs, &mut wide);
    for (place, input) in inputs.iter().enumerate() {
        assert_eq!((hashes[place], wide[place]), (sip.hash(input), sip.hash128(input)));
    }
    lanes.hash_u64s(&[7; 300], &mut hashes);
    assert_eq!(hashes, [sip.hash_u64(7); 300]);
    lanes.hash_records(&[[7; 20]; 300], &mut hashes);
    assert_eq!(hashes, [sip.hash(&[7; 20]); 300]);
    let offsets: Vec<u32> = (0..=300).map(|place| 3 * place).collect();
    lanes.hash_offsets(&[1; 900], &offsets, &mut hashes);
    assert_eq!(hashes, [sip.hash(&[1; 3]); 300]);
}

fn look_up() {
    let mut table = FloodSafeMap::new();
    table.insert_many((0..1000_u64).map(|key| (key, key * key)));
    assert!(table.get_many(&[3, 1000, 30]).eq([Some(&9), None, Some(&900)]));
    table.try_reserve(5000).expect("there is memory");
    assert_eq!(table.extract_if(|key, _| key % 2 == 1).count(), 500);
    let mut set: FloodSafeSet<(&str, Option<bool>)> = FloodSafeSet::new();
    set.insert_many([("a", None), ("b", Some(true)), ("a", None)]);
    assert!(set.len() == 2 && set.contains_many(&[("b", Some(true))]).all(|is_there| is_there));
}
