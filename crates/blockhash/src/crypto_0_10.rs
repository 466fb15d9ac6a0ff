//! The RustCrypto traits of digest 0.10 for [`Hasher`], for crates that have not moved to 0.11.
//!
//! The sizes are the types of both versions. `SimpleHmac<Md5>` of the crate `hmac` 0.12 works;
//! `Hmac` needs traits of blocks, which are in 0.11 only.

use digest_0_10::crypto_common::BlockSizeUser;
use digest_0_10::generic_array::ArrayLength;
use digest_0_10::{
    FixedOutput, FixedOutputReset, HashMarker, Output, OutputSizeUser, Reset, Update,
};

use crate::Hasher;
use crate::crypto::Sizes;

impl<H: Sizes> HashMarker for Hasher<H> {}

impl<H: Sizes<OutputSize: ArrayLength<u8>>> OutputSizeUser for Hasher<H> {
    type OutputSize = H::OutputSize;
}

impl<H: Sizes<BlockSize: ArrayLength<u8>>> BlockSizeUser for Hasher<H> {
    type BlockSize = H::BlockSize;
}

impl<H: Sizes> Update for Hasher<H> {
    fn update(&mut self, bytes: &[u8]) {
        Self::update(self, bytes);
    }
}

impl<H: Sizes> Reset for Hasher<H> {
    fn reset(&mut self) {
        Self::reset(self);
    }
}

impl<H: Sizes<OutputSize: ArrayLength<u8>>> FixedOutput for Hasher<H> {
    fn finalize_into(self, out: &mut Output<Self>) {
        out.copy_from_slice(self.finalize().as_ref());
    }
}

impl<H: Sizes<OutputSize: ArrayLength<u8>>> FixedOutputReset for Hasher<H> {
    fn finalize_into_reset(&mut self, out: &mut Output<Self>) {
        out.copy_from_slice(self.finalize_reset().as_ref());
    }
}
