//! SHA-2 on every backend against the crate `sha2`.

#[path = "../../blockhash/tests/suite/mod.rs"]
mod suite;

use sha2 as peer;

use lanesum_sha2::{Sha224Hash, Sha256Hash, Sha384Hash, Sha512_256Hash, Sha512Hash};

fn peer<D: peer::Digest>(message: &[u8]) -> Vec<u8> {
    D::digest(message).to_vec()
}

#[test]
fn all_tests_hold_on_other_cpus() {
    lanesum_lanes::other_cpus::test_each_with_sha();
}

#[test]
fn kernels_agree_with_one_lane() {
    suite::kernels_agree_with_one_lane::<Sha256Hash>();
    suite::kernels_agree_with_one_lane::<Sha512Hash>();
    suite::kernels_agree_with_one_lane::<Sha224Hash>();
    suite::kernels_agree_with_one_lane::<Sha384Hash>();
    suite::kernels_agree_with_one_lane::<Sha512_256Hash>();
}

#[test]
fn every_length_of_sha256_agrees() {
    suite::every_length_agrees::<Sha256Hash>(peer::<peer::Sha256>);
}

#[test]
fn every_length_of_sha512_agrees() {
    suite::every_length_agrees::<Sha512Hash>(peer::<peer::Sha512>);
}

#[test]
fn every_length_of_the_truncations_agrees() {
    suite::every_length_agrees::<Sha224Hash>(peer::<peer::Sha224>);
    suite::every_length_agrees::<Sha384Hash>(peer::<peer::Sha384>);
    suite::every_length_agrees::<Sha512_256Hash>(peer::<peer::Sha512_256>);
}

#[test]
fn streams_agree() {
    suite::streams_agree::<Sha256Hash>(peer::<peer::Sha256>);
    suite::streams_agree::<Sha512Hash>(peer::<peer::Sha512>);
}

#[test]
fn columns_agree() {
    suite::columns_agree::<Sha256Hash>(peer::<peer::Sha256>);
    suite::columns_agree::<Sha512Hash>(peer::<peer::Sha512>);
    suite::columns_agree::<Sha384Hash>(peer::<peer::Sha384>);
}

#[test]
fn messages_past_4_gib_agree() {
    suite::a_message_past_4_gib_agrees::<Sha256Hash, peer::Sha256>();
}
