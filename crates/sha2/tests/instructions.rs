//! The instructions of a block in every kernel, against the record in `instructions.txt`.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

#[macro_use]
#[path = "../../blockhash/tests/suite/instructions.rs"]
mod instructions;

use instructions::Kernels;

instructions!(
    include_str!("instructions.txt"),
    Kernels::of::<lanesum_sha2::Sha256Hash>(true),
    Kernels::of::<lanesum_sha2::Sha512Hash>(false)
);
