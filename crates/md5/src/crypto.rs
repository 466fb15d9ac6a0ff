//! The RustCrypto traits for [`Md5`].
//!
//! Code written against `digest::Digest` and `Hmac<Md5>` works unchanged. Serialized states
//! ([`SerializableState`]) are those of the crate `md-5`.
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

use core::fmt;

use digest::block_api::{Buffer, BufferKindUser, CoreProxy, Eager, FixedOutputCore, UpdateCore};
use digest::common::hazmat::{DeserializeStateError, SerializableState, SerializedState};
use digest::common::{AlgorithmName, Block, BlockSizeUser};
use digest::consts::{U16, U24, U64, U88};
use digest::{FixedOutput, FixedOutputReset, HashMarker, Output, OutputSizeUser, Reset, Update};
use lanesum_lanes::BLOCK_LEN;

use crate::Md5;
use crate::kernel::State;

impl HashMarker for Md5 {}

impl OutputSizeUser for Md5 {
    type OutputSize = U16;
}

impl BlockSizeUser for Md5 {
    type BlockSize = U64;
}

impl AlgorithmName for Md5 {
    fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Md5")
    }
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

impl CoreProxy for Md5 {
    type Core = Md5Core;

    fn compose(core: Md5Core, buffer: Buffer<Md5Core>) -> Self {
        let mut md5 = core.0;
        md5.update(buffer.get_data());
        md5
    }

    fn decompose(self) -> (Md5Core, Buffer<Md5Core>) {
        let (state, length, rest) = self.parts();
        let core = Md5Core(Self::from_parts(*state, length - rest.len() as u64));
        (core, Buffer::<Md5Core>::new(rest))
    }
}

/// Serializes to 88 bytes: 16 bytes of state, 8 bytes with the number of whole blocks
/// (little-endian), one byte with the number of bytes after them, and 63 bytes with these bytes and
/// zeros.
impl SerializableState for Md5 {
    type SerializedStateSize = U88;

    fn serialize(&self) -> SerializedState<Self> {
        let (core, buffer) = self.clone().decompose();
        core.serialize().concat(buffer.serialize())
    }

    fn deserialize(bytes: &SerializedState<Self>) -> Result<Self, DeserializeStateError> {
        let (core, buffer) = bytes.split_ref::<U24>();
        let buffer = Buffer::<Md5Core>::deserialize(buffer).map_err(|_| DeserializeStateError)?;
        Ok(Self::compose(Md5Core::deserialize(core)?, buffer))
    }
}

/// [`Md5`] of whole blocks of 64 bytes, as `Hmac<Md5>` needs it.
#[derive(Clone, Debug, Default)]
pub struct Md5Core(Md5);

impl HashMarker for Md5Core {}

impl OutputSizeUser for Md5Core {
    type OutputSize = U16;
}

impl BlockSizeUser for Md5Core {
    type BlockSize = U64;
}

impl BufferKindUser for Md5Core {
    type BufferKind = Eager;
}

impl AlgorithmName for Md5Core {
    fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Md5::write_alg_name(f)
    }
}

impl Reset for Md5Core {
    fn reset(&mut self) {
        self.0.reset();
    }
}

impl UpdateCore for Md5Core {
    fn update_blocks(&mut self, blocks: &[Block<Self>]) {
        self.0.update(Block::<Self>::slice_as_flattened(blocks));
    }
}

impl FixedOutputCore for Md5Core {
    fn finalize_fixed_core(&mut self, buffer: &mut Buffer<Self>, out: &mut Output<Self>) {
        self.0.update(buffer.get_data());
        out.copy_from_slice(self.0.finalize_reset().as_ref());
    }
}

impl SerializableState for Md5Core {
    type SerializedStateSize = U24;

    fn serialize(&self) -> SerializedState<Self> {
        let (state, length, _) = self.0.parts();
        let mut bytes = SerializedState::<Self>::default();
        bytes[..16].copy_from_slice(state);
        bytes[16..].copy_from_slice(&(length / BLOCK_LEN as u64).to_le_bytes());
        bytes
    }

    fn deserialize(bytes: &SerializedState<Self>) -> Result<Self, DeserializeStateError> {
        let (state, blocks) = bytes.split_ref::<U16>();
        let length = u64::from_le_bytes((*blocks).into()).wrapping_mul(BLOCK_LEN as u64);
        Ok(Self(Md5::from_parts(State::from(*state), length)))
    }
}
