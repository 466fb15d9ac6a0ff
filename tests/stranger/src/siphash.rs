//! `lanesum-siphash`.

use std::hash::{BuildHasher, Hasher};

use lanesum_siphash::{Backend, SipHash, SipHash13, SipHash24, SipHash48};

pub fn call(backend: Backend) {
    let key = b"sixteen bytes...";
    on(backend, SipHash13::new(key));
    on(backend, SipHash24::new(key));
    on(backend, SipHash48::new(key));
    #[cfg(feature = "std")]
    {
        use lanesum_siphash::RandomState;
        let state = RandomState::new();
        assert_eq!(state.hash_one(7), state.clone().hash_one(7));
        assert_ne!(SipHash24::random().hash(b"a"), RandomState::default().hash_one("a"));
    }
    #[cfg(feature = "more")]
    {
        use digest::{KeyInit, Mac};
        use lanesum_siphash::SipHasher128;
        let mut mac = SipHasher128::<2, 4>::new(key.into());
        Mac::update(&mut mac, b"a");
        let tag = SipHash24::new(key).hash128(b"a").to_le_bytes();
        assert_eq!(Mac::finalize(mac).into_bytes()[..], tag);
    }
}

fn on<const C: usize, const D: usize>(backend: Backend, sip: SipHash<C, D>) {
    let lanes = sip.with_backend(backend);
    assert_eq!(lanes.backend(), backend);
    let inputs: Vec<Vec<u8>> = (0..300).map(|length| vec![length as u8; length]).collect();
    let (mut hashes, mut wide) = (vec![0_u64; 300], vec![0_u128; 300]);
    lanes.hash_many(&inputs, &mut hashes);
    lanes.hash_many(&inputs, &mut wide);
    for (place, input) in inputs.iter().enumerate() {
        assert_eq!((hashes[place], wide[place]), (sip.hash(input), sip.hash128(input)));
        let (mut one, mut two) = (sip.hasher(), sip.hasher128());
        for piece in input.chunks(7) {
            one.update(piece);
            two.update(piece);
        }
        assert_eq!((one.finalize(), two.finalize()), (hashes[place], wide[place]));
        assert_eq!((one_by_trait(&sip, input), sip.hash(input)), (hashes[place], hashes[place]));
    }
    lanes.hash_u64s(&[7; 300], &mut hashes);
    assert_eq!(hashes, [sip.hash_u64(7); 300]);
    lanes.hash_records(&[[7; 20]; 300], &mut hashes);
    assert_eq!(hashes, [sip.hash(&[7; 20]); 300]);
    let offsets: Vec<u32> = (0..=300).map(|place| 3 * place).collect();
    lanes.hash_offsets(&[1; 900], &offsets, &mut hashes);
    assert_eq!(hashes, [sip.hash(&[1; 3]); 300]);
    // The same on the best backend.
    sip.hash_many(&["a"; 300], &mut hashes);
    assert_eq!(hashes, [sip.hash(b"a"); 300]);
    sip.hash_u64s(&[7; 300], &mut hashes);
    sip.hash_records(&[[7; 20]; 300], &mut wide);
    assert_eq!((hashes[299], wide[299]), (sip.hash_u64(7), sip.hash128(&[7; 20])));
    sip.hash_offsets(&[1; 900], &offsets, &mut wide);
    assert_eq!(wide, [sip.hash128(&[1; 3]); 300]);
    assert_eq!(SipHash::<C, D>::from_words(0, 1).hash(b""), {
        let mut key = [0; 16];
        key[8] = 1;
        SipHash::<C, D>::new(&key).hash(b"")
    });
}

fn one_by_trait(state: &impl BuildHasher, input: &[u8]) -> u64 {
    let mut hasher = state.build_hasher();
    hasher.write(input);
    hasher.finish()
}
