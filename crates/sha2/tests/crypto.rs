//! The RustCrypto traits, against the crates `sha2` and `hmac`.

use sha2 as peer;

use digest::common::hazmat::SerializableState;
use digest::{Digest, KeyInit};
use hmac::{Hmac, Mac};
use lanesum_sha2::{Sha256, Sha384, Sha512, sha256};
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

/// What users of the crates `md5` and `md-5` write.
#[test]
fn digests_are_used_as_arrays() {
    let digest = sha256(b"abc");
    let array: [u8; 32] = *digest;
    assert!(digest == array && digest != [0; 32]);
    assert_eq!((digest[0], &digest[..2], digest.iter().count()), (array[0], &array[..2], 32));
    assert_eq!(<Sha256 as lanesum_sha2::Digest>::digest(b"abc")[..], array);
}

#[cfg(feature = "digest_0_10")]
#[test]
fn traits_of_digest_0_10_agree() {
    assert_eq!(<Sha256 as digest_0_10::Digest>::digest(b"abc")[..], sha256(b"abc")[..]);
    let mut hasher = <Sha256 as digest_0_10::Digest>::new_with_prefix(b"not hashed");
    digest_0_10::Digest::reset(&mut hasher);
    digest_0_10::Digest::update(&mut hasher, b"abc");
    let digest = digest_0_10::Digest::finalize_reset(&mut hasher);
    assert_eq!(digest[..], sha256(b"abc")[..]);
    assert_eq!(digest_0_10::Digest::finalize(hasher)[..], sha256(b"")[..]);
}

#[cfg(feature = "oid")]
#[test]
fn object_identifier_is_that_of_the_peer() {
    use digest::const_oid::AssociatedOid;

    assert_eq!(Sha256::OID.to_string(), "2.16.840.1.101.3.4.2.1");
}

#[cfg(feature = "zeroize")]
#[test]
fn hashers_overwrite_their_contents() {
    fn is_overwritten<T: zeroize::ZeroizeOnDrop>() {}
    is_overwritten::<Sha256>();
}

/// A count of blocks that no length in bytes has is an error, not another digest.
#[test]
fn states_past_2_64_bytes_are_refused() {
    let serialized = Sha512::new().serialize();
    for place in [71, 72, 79] {
        let mut bytes = serialized;
        bytes[place] = 0xff;
        assert!(Sha512::deserialize(&bytes).is_err(), "{place}");
    }
    assert!(Sha512::deserialize(&serialized).is_ok());
}
