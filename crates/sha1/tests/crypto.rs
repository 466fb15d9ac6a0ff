//! The RustCrypto traits, against the crates `sha1` and `hmac`.

use sha1 as peer;

use digest::common::hazmat::SerializableState;
use digest::{Digest, KeyInit};
use hmac::{Hmac, Mac};
use lanesum_sha1::{Sha1, sha1};
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #[test]
    fn hmac_agrees_with_the_crate_sha1(
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
        check!(Sha1);
    }

    /// A state continues where it was stored, in the crate sha1 as well, and the other way round.
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
        check!(Sha1);
    }
}

/// What users of the crates `md5` and `md-5` write.
#[test]
fn digests_are_used_as_arrays() {
    let digest = sha1(b"abc");
    let array: [u8; 20] = *digest;
    assert!(digest == array && digest != [0; 20]);
    assert_eq!((digest[0], &digest[..2], digest.iter().count()), (array[0], &array[..2], 20));
    assert_eq!(<Sha1 as lanesum_sha1::Digest>::digest(b"abc")[..], array);
}

#[cfg(feature = "digest_0_10")]
#[test]
fn traits_of_digest_0_10_agree() {
    assert_eq!(<Sha1 as digest_0_10::Digest>::digest(b"abc")[..], sha1(b"abc")[..]);
    let mut hasher = <Sha1 as digest_0_10::Digest>::new_with_prefix(b"not hashed");
    digest_0_10::Digest::reset(&mut hasher);
    digest_0_10::Digest::update(&mut hasher, b"abc");
    let digest = digest_0_10::Digest::finalize_reset(&mut hasher);
    assert_eq!(digest[..], sha1(b"abc")[..]);
    assert_eq!(digest_0_10::Digest::finalize(hasher)[..], sha1(b"")[..]);
}

#[cfg(feature = "oid")]
#[test]
fn object_identifier_is_that_of_the_peer() {
    use digest::const_oid::AssociatedOid;

    assert_eq!(Sha1::OID.to_string(), "1.3.14.3.2.26");
}

#[cfg(feature = "zeroize")]
#[test]
fn hashers_overwrite_their_contents() {
    fn is_overwritten<T: zeroize::ZeroizeOnDrop>() {}
    is_overwritten::<Sha1>();
}
