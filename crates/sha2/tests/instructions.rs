//! The instructions of a block in every kernel, against the record in `instructions.txt`.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

#[path = "../../blockhash/tests/suite/instructions.rs"]
mod instructions;

use instructions::Kernels;
use lanesum_sha2::{Sha256Hash, Sha512Hash};

const KERNELS: &[Kernels] = &[Kernels::of::<Sha256Hash>(true), Kernels::of::<Sha512Hash>(false)];

#[test]
fn a_block_takes_as_many_instructions_as_recorded() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/instructions.txt");
    instructions::compare(KERNELS, include_str!("instructions.txt"), path);
}

#[test]
fn callgrind_counts_the_same() {
    instructions::compare_with_callgrind(KERNELS);
}

#[test]
#[ignore = "only as the child of the tests above"]
fn workload() {
    instructions::workload(KERNELS);
}
