//! The RustCrypto traits: code written against `digest::Digest` works with [`Md5`] unchanged.
//!
//! ```
//! use digest::Digest;
//!
//! fn hex<D: Digest>(bytes: &[u8]) -> String {
//!     D::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
//! }
//!
//! assert_eq!(hex::<lanesum_md5::Md5>(b"abc"), "900150983cd24fb0d6963f7d28e17f72");
//! ```

use digest::common::BlockSizeUser;
use digest::consts::{U16, U64};
use digest::{FixedOutput, FixedOutputReset, HashMarker, Output, OutputSizeUser, Reset, Update};

use crate::Md5;

impl HashMarker for Md5 {}

impl OutputSizeUser for Md5 {
    type OutputSize = U16;
}

impl BlockSizeUser for Md5 {
    type BlockSize = U64;
}

impl Update for Md5 {
    fn update(&mut self, bytes: &[u8]) {
        Md5::update(self, bytes);
    }
}

impl Reset for Md5 {
    fn reset(&mut self) {
        Md5::reset(self);
    }
}

impl FixedOutput for Md5 {
    fn finalize_into(self, out: &mut Output<Self>) {
        out.copy_from_slice(self.finalize().as_ref());
    }
}

impl FixedOutputReset for Md5 {
    fn finalize_into_reset(&mut self, out: &mut Output<Self>) {
        out.copy_from_slice(self.finalize_reset().as_ref());
    }
}
