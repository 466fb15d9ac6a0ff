//! The RustCrypto traits, against the crates `sha2` and `hmac`.

use sha2 as peer;

use digest::common::hazmat::SerializableState;
use digest::{Digest, KeyInit};
use hmac::{Hmac, Mac};
use lanesum_sha2::{Sha256, Sha384, Sha512};
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #[test]
    fn hmac_agrees_with_the_crate_sha2(
        key in vec(any::<u8>(), 0..300),
        chunks in vec(vec(any::<u8>(), 0..200), 0..6),
    ) {
        macro_rules! check {
            ($($hash:ident)*) => {$(
                let mut own = Hmac::<$hash>::new_from_slice(&key).unwrap();
                let mut peer = Hmac::<peer::$hash>::new_from_slice(&key).unwrap();
                for chunk in &chunks {
                    own.update(chunk);
                    peer.update(chunk);
                }
                prop_assert_eq!(own.finalize().into_bytes(), peer.finalize().into_bytes());
            )*};
        }
        check!(Sha256 Sha384 Sha512);
    }

    /// A state continues where it was stored, in the crate sha2 as well, and the other way round.
    #[test]
    fn serialized_states_round_trip(a in vec(any::<u8>(), 0..600), b in vec(any::<u8>(), 0..300)) {
        macro_rules! check {
            ($($hash:ident)*) => {$(
                let mut before = $hash::new();
                before.update(&a);
                let stored = before.serialize();
                let mut peer = peer::$hash::new();
                Digest::update(&mut peer, &a);
                prop_assert_eq!(&stored[..], &peer.serialize()[..]);
                let mut after = $hash::deserialize(&stored).unwrap();
                after.update(&b);
                Digest::update(&mut peer, &b);
                let (after, peer) = (after.finalize(), peer.finalize());
                prop_assert_eq!(after.as_ref(), &peer[..]);
            )*};
        }
        check!(Sha256 Sha384 Sha512);
    }
}
