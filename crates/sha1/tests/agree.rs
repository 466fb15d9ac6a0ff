//! SHA-1 on every backend against the crate `sha1`.

#[path = "../../blockhash/tests/suite/mod.rs"]
mod suite;

use sha1 as peer;

use lanesum_sha1::Sha1Hash;

fn peer(message: &[u8]) -> Vec<u8> {
    <peer::Sha1 as peer::Digest>::digest(message).to_vec()
}

#[test]
fn all_tests_hold_on_other_cpus() {
    lanesum_lanes::other_cpus::test_each_with_sha();
}

#[test]
fn kernels_agree_with_one_lane() {
    suite::kernels_agree_with_one_lane::<Sha1Hash>();
}

#[test]
fn every_length_agrees() {
    suite::every_length_agrees::<Sha1Hash>(peer);
}

#[test]
fn streams_agree() {
    suite::streams_agree::<Sha1Hash>(peer);
}

#[test]
fn columns_agree() {
    suite::columns_agree::<Sha1Hash>(peer);
}

#[test]
fn a_message_past_4_gib_agrees() {
    suite::a_message_past_4_gib_agrees::<Sha1Hash, peer::Sha1>();
}
