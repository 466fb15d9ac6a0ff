//! The features `digest` and `serde`.

use digest::common::hazmat::SerializableState;
use hmac::{Hmac, KeyInit, Mac};
use lanesum_md5::{Md5, Md5Digest, md5};
use proptest::collection::vec;
use proptest::prelude::*;

/// RFC 2202, section 2: key, message and result, and a key longer than a block.
#[test]
fn hmac_agrees_with_the_rfc() {
    let cases: [(&[u8], &[u8], &str); 4] = [
        (&[0x0b; 16], b"Hi There", "9294727a3638bb1c13f48ef8158bfc9d"),
        (b"Jefe", b"what do ya want for nothing?", "750c783e6ab0b503eaa86e310a5db738"),
        (&[0xaa; 16], &[0xdd; 50], "56be34521d144c88dbb8c733f0e8b3f6"),
        (
            &[0xaa; 80],
            b"Test Using Larger Than Block-Size Key - Hash Key First",
            "6b1ab7fe4bd7bf8f0b62e6ce61b9d0cd",
        ),
    ];
    for (key, message, expected) in cases {
        let mut mac = Hmac::<Md5>::new_from_slice(key).unwrap();
        mac.update(message);
        let tag: [u8; 16] = mac.finalize().into_bytes().into();
        assert_eq!(Md5Digest::from(tag), expected.parse::<Md5Digest>().unwrap());
    }
}

proptest! {
    #[test]
    fn hmac_agrees_with_the_crate_md_5(
        key in vec(any::<u8>(), 0..200),
        chunks in vec(vec(any::<u8>(), 0..200), 0..6),
    ) {
        let mut own = Hmac::<Md5>::new_from_slice(&key).unwrap();
        let mut peer = Hmac::<md5_peer::Md5>::new_from_slice(&key).unwrap();
        for chunk in &chunks {
            own.update(chunk);
            peer.update(chunk);
        }
        prop_assert_eq!(own.finalize().into_bytes(), peer.finalize().into_bytes());
    }

    /// A state goes on where it was kept, in the crate md-5 as well, and the other way round.
    #[test]
    fn serialized_states_round_trip(a in vec(any::<u8>(), 0..300), b in vec(any::<u8>(), 0..300)) {
        let mut before = Md5::new();
        before.update(&a);
        let kept = before.serialize();
        let mut peer = <md5_peer::Md5 as digest::Digest>::new();
        digest::Update::update(&mut peer, &a);
        prop_assert_eq!(kept, peer.serialize());
        let mut after = Md5::deserialize(&kept).unwrap();
        after.update(&b);
        prop_assert_eq!(after.finalize(), md5([a, b].concat()));
    }
}

#[test]
fn an_invalid_state_is_refused() {
    let mut bytes = Md5::new().serialize();
    bytes[24] = 64; // as many bytes behind the blocks: that would be a block
    assert!(Md5::deserialize(&bytes).is_err());
}

#[cfg(feature = "serde")]
#[test]
fn a_digest_round_trips_through_serde() {
    let digest = md5("abc");
    let json = serde_json::to_string(&digest).unwrap();
    assert_eq!(json, "\"900150983cd24fb0d6963f7d28e17f72\"");
    assert_eq!(serde_json::from_str::<Md5Digest>(&json.to_uppercase()).unwrap(), digest);
    for wrong in ["\"900150983cd24fb0\"", "7", "[1]"] {
        assert!(serde_json::from_str::<Md5Digest>(wrong).is_err(), "{wrong}");
    }
}

/// What users of the crates `md5` and `md-5` write.
#[test]
fn digests_are_used_as_arrays() {
    let digest = md5(b"abc");
    let array: [u8; 16] = *digest;
    assert!(digest == array && digest != [0; 16]);
    assert_eq!((digest[0], &digest[..2], digest.iter().count()), (array[0], &array[..2], 16));
    assert_eq!(<Md5 as lanesum_md5::Digest>::digest(b"abc")[..], array);
}

#[cfg(feature = "digest_0_10")]
#[test]
fn traits_of_digest_0_10_agree() {
    assert_eq!(<Md5 as digest_0_10::Digest>::digest(b"abc")[..], md5(b"abc")[..]);
    let mut hasher = <Md5 as digest_0_10::Digest>::new_with_prefix(b"not hashed");
    digest_0_10::Digest::reset(&mut hasher);
    digest_0_10::Digest::update(&mut hasher, b"abc");
    let digest = digest_0_10::Digest::finalize_reset(&mut hasher);
    assert_eq!(digest[..], md5(b"abc")[..]);
    assert_eq!(digest_0_10::Digest::finalize(hasher)[..], md5(b"")[..]);
}

#[cfg(feature = "oid")]
#[test]
fn object_identifier_is_that_of_the_peer() {
    use digest::const_oid::AssociatedOid;

    assert_eq!(Md5::OID.to_string(), "1.2.840.113549.2.5");
}

#[cfg(feature = "zeroize")]
#[test]
fn hashers_overwrite_their_contents() {
    fn is_overwritten<T: zeroize::ZeroizeOnDrop>() {}
    is_overwritten::<Md5>();
}
