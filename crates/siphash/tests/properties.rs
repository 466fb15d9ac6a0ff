//! Properties of any input, cut anywhere, and of any batch.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hash, Hasher};

use lanesum_siphash::{RandomState, SipHash, SipHash13, SipHash24, SipHash48};
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #[test]
    fn updates_may_be_cut_anywhere(
        key: [u8; 16],
        pieces in vec(vec(any::<u8>(), 0..40), 0..12),
    ) {
        fn check<const C: usize, const D: usize>(key: &[u8; 16], pieces: &[Vec<u8>]) {
            let sip = SipHash::<C, D>::new(key);
            let (mut narrow, mut wide) = (sip.hasher(), sip.hasher128());
            for piece in pieces {
                narrow.update(piece);
                wide.update(piece);
            }
            assert_eq!(narrow.finalize(), sip.hash(&pieces.concat()));
            assert_eq!(wide.finalize(), sip.hash128(&pieces.concat()));
        }
        check::<1, 3>(&key, &pieces);
        check::<2, 4>(&key, &pieces);
        check::<4, 8>(&key, &pieces);
    }

    #[test]
    fn numbers_hash_as_their_little_endian_bytes(
        key: [u8; 16],
        start in vec(any::<u8>(), 0..9),
        numbers: (u8, u16, u32, u64, u128, i8, i16, i32, i64, i128),
        size: usize,
    ) {
        let sip = SipHash24::new(&key);
        let mut hasher = sip.build_hasher();
        hasher.write(&start);
        numbers.hash(&mut hasher);
        hasher.write_usize(size);
        hasher.write_isize(size.cast_signed());
        let (a, b, c, d, e, f, g, h, i, j) = numbers;
        let bytes = [
            &start[..], &a.to_le_bytes(), &b.to_le_bytes(), &c.to_le_bytes(), &d.to_le_bytes(),
            &e.to_le_bytes(), &f.to_le_bytes(), &g.to_le_bytes(), &h.to_le_bytes(),
            &i.to_le_bytes(), &j.to_le_bytes(), &size.to_le_bytes(), &size.to_le_bytes(),
        ].concat();
        prop_assert_eq!(hasher.finish(), sip.hash(&bytes));
    }

    /// The other numbers of rounds, and hashes of 128 bits, are in tests/backends.rs.
    #[test]
    fn many_agree_with_one_by_one(key: [u8; 16], inputs in vec(vec(any::<u8>(), 0..90), 0..200)) {
        let sip = SipHash48::new(&key);
        let mut hashes = vec![0_u64; inputs.len()];
        sip.hash_many(&inputs, &mut hashes);
        for (input, hash) in inputs.iter().zip(hashes) {
            prop_assert_eq!(hash, sip.hash(input));
        }
    }

    #[test]
    fn columns_of_numbers_agree_with_one_by_one(key: [u8; 16], numbers in vec(any::<u64>(), 0..100)) {
        let sip = SipHash13::new(&key);
        let mut hashes = vec![0_u64; numbers.len()];
        sip.hash_u64s(&numbers, &mut hashes);
        for (number, hash) in numbers.iter().zip(hashes) {
            prop_assert_eq!(hash, sip.hash(&number.to_le_bytes()));
            prop_assert_eq!(hash, sip.hash_u64(*number));
        }
    }

    /// A key as words equals the key as bytes, and the hash depends on every bit.
    #[test]
    fn every_bit_of_the_key_changes_the_hash(k0: u64, k1: u64, bit in 0..128_u32) {
        let key = u128::from(k0) | u128::from(k1) << 64;
        let sip = SipHash48::from_words(k0, k1);
        prop_assert_eq!(sip.hash(b"lanesum"), SipHash48::new(&key.to_le_bytes()).hash(b"lanesum"));
        let other = SipHash48::new(&(key ^ 1 << bit).to_le_bytes());
        prop_assert_ne!(sip.hash(b"lanesum"), other.hash(b"lanesum"));
    }

    /// The RustCrypto traits give what the plain methods give.
    #[cfg(feature = "digest")]
    #[test]
    fn traits_agree(key: [u8; 16], message in vec(any::<u8>(), 0..100), cut: prop::sample::Index) {
        use digest::{KeyInit, Mac};
        use lanesum_siphash::{SipHasher, SipHasher128};

        fn tag<M: Mac + KeyInit>(key: &[u8], parts: [&[u8]; 2]) -> Vec<u8> {
            let mut mac = <M as KeyInit>::new_from_slice(key).unwrap();
            parts.iter().for_each(|part| mac.update(part));
            mac.finalize().into_bytes().to_vec()
        }
        let (a, b) = message.split_at(cut.index(message.len() + 1));
        let sip = SipHash24::new(&key);
        prop_assert_eq!(tag::<SipHasher<2, 4>>(&key, [a, b]), sip.hash(&message).to_le_bytes());
        prop_assert_eq!(tag::<SipHasher128<2, 4>>(&key, [a, b]), sip.hash128(&message).to_le_bytes());
        let mut mac = <SipHasher128<2, 4> as KeyInit>::new_from_slice(&key).unwrap();
        Mac::update(&mut mac, &message);
        // The `finalize` of a hasher returns a number, for any order of traits in scope.
        prop_assert_eq!(mac.clone().finalize(), sip.hash128(&message));
        prop_assert!(mac.clone().verify_slice(&sip.hash128(&message).to_le_bytes()).is_ok());
        prop_assert!(mac.verify_slice(&[0; 16]).is_err());
        prop_assert!(<SipHasher<2, 4> as KeyInit>::new_from_slice(&key[1..]).is_err());
    }
}

#[test]
fn random_states_have_different_keys() {
    let mut table: HashMap<String, usize, RandomState> = HashMap::default();
    for n in 0..1_000 {
        table.insert(n.to_string(), n);
    }
    assert!((0..1_000).all(|n| table[&n.to_string()] == n));

    let hashes: HashSet<u64> = (0..100).map(|_| RandomState::new().hash_one("lane")).collect();
    assert_eq!(hashes.len(), 100, "a key is random");
    let sip = SipHash13::from_words(1, 2);
    let fixed: HashSet<u32, SipHash13> = HashSet::with_hasher(sip);
    assert_eq!(fixed.hasher().hash_one("lane"), sip.hash(b"lane\xff"));
}

#[test]
fn debug_output_hides_the_key() {
    let sip = SipHash24::from_words(0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210);
    let mut hasher = sip.hasher();
    hasher.update(b"secret");
    assert_eq!(format!("{sip:?} {hasher:?}"), "SipHash<2, 4> SipHasher { length: 6, .. }");
    assert_eq!(format!("{:?}", sip.hasher128()), "SipHasher128 { length: 0, .. }");
}

#[test]
#[should_panic(expected = "2 inputs, but room for 3 hashes")]
fn a_wrong_number_of_hashes_panics() {
    SipHash48::from_words(0, 0).hash_many(&["a", "b"], &mut [0_u64; 3]);
}

/// Returns the panic message of invalid offsets.
#[test]
fn invalid_offsets_panic() {
    let panic = |offsets: &[i32]| {
        let mut hashes = vec![0_u64; offsets.len() - 1];
        let refused = std::panic::catch_unwind(move || {
            SipHash24::from_words(0, 0).hash_offsets(b"abc", offsets, &mut hashes);
        });
        *refused.unwrap_err().downcast::<String>().unwrap()
    };
    let message =
        |place| format!("offsets {place} and {} are no range of a buffer of 3 bytes", place + 1);
    assert_eq!(panic(&[0, 1, 4]), message(1));
    assert_eq!(panic(&[2, 1]), message(0));
    assert_eq!(panic(&[0, 3, -1]), message(1));

    // Among many, where all but the invalid one are short and within the buffer.
    for place in [1, 2, 31, 479, 480, 481, 999] {
        for wrong in [-1, 0, 4, i32::MAX] {
            let mut offsets = vec![2; 1_001];
            offsets[0] = 1;
            offsets[place] = wrong;
            offsets[1_000] = 3;
            assert_eq!(panic(&offsets), message(place - 1));
        }
    }
    SipHash24::from_words(0, 0).hash_offsets::<i32, u64>(b"", &[], &mut []);
    SipHash24::from_words(0, 0).hash_offsets::<i32, u64>(b"abc", &[3], &mut []);
}
