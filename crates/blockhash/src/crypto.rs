//! The RustCrypto traits for [`Hasher`].
//!
//! Code written against `digest::Digest` and `Hmac<D>` works unchanged. Serialized states
//! ([`SerializableState`]) are those of the crates `md-5`, `sha1` and `sha2`.

use core::fmt;

use digest::array::ArraySize;
use digest::block_api::{Buffer, BufferKindUser, CoreProxy, Eager, FixedOutputCore, UpdateCore};
use digest::block_buffer::BlockSizes;
use digest::common::hazmat::{DeserializeStateError, SerializableState, SerializedState};
use digest::common::{AlgorithmName, Block, BlockSizeUser};
use digest::{HashMarker, Output, OutputSizeUser, Reset};

use crate::Hasher;
use crate::hash::{BlockHash, Bytes as _, block_len};
use crate::padding::length_len;

/// The sizes of a hash function as types.
pub trait Sizes: BlockHash {
    /// Bytes in a digest.
    type OutputSize: ArraySize;
    /// Bytes in a block.
    type BlockSize: BlockSizes;
    /// Bytes in a state and a number of blocks.
    type CoreSize: ArraySize;
    /// Bytes in a state, a number of blocks, and a block.
    type SerializedSize: ArraySize;
    /// The object identifier, as X.509 and CMS have it.
    #[cfg(feature = "oid")]
    const OID: digest::const_oid::ObjectIdentifier;
}

/// Implements the traits that versions of the crate `digest` have in common, for sizes that such a
/// version takes.
macro_rules! traits {
    ($digest:ident, $common:ident, $size:path) => {
        impl<H: Sizes> $digest::HashMarker for Hasher<H> {}

        impl<H: Sizes<OutputSize: $size>> $digest::OutputSizeUser for Hasher<H> {
            type OutputSize = H::OutputSize;
        }

        impl<H: Sizes<BlockSize: $size>> $digest::$common::BlockSizeUser for Hasher<H> {
            type BlockSize = H::BlockSize;
        }

        impl<H: Sizes> $digest::Update for Hasher<H> {
            fn update(&mut self, bytes: &[u8]) {
                Self::update(self, bytes);
            }
        }

        impl<H: Sizes> $digest::Reset for Hasher<H> {
            fn reset(&mut self) {
                Self::reset(self);
            }
        }

        impl<H: Sizes<OutputSize: $size>> $digest::FixedOutput for Hasher<H> {
            fn finalize_into(self, out: &mut $digest::Output<Self>) {
                out.copy_from_slice(self.finalize().as_ref());
            }
        }

        impl<H: Sizes<OutputSize: $size>> $digest::FixedOutputReset for Hasher<H> {
            fn finalize_into_reset(&mut self, out: &mut $digest::Output<Self>) {
                out.copy_from_slice(self.finalize_reset().as_ref());
            }
        }
    };
}

traits!(digest, common, ArraySize);
// Without traits of blocks, so without `Hmac`.
#[cfg(feature = "digest_0_10")]
traits!(digest_0_10, crypto_common, digest_0_10::generic_array::ArrayLength<u8>);

impl<H: Sizes> AlgorithmName for Hasher<H> {
    fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(H::NAME)
    }
}

#[cfg(feature = "oid")]
impl<H: Sizes> digest::const_oid::AssociatedOid for Hasher<H> {
    const OID: digest::const_oid::ObjectIdentifier = H::OID;
}

impl<H: Sizes> CoreProxy for Hasher<H> {
    type Core = Core<H>;

    fn compose(core: Core<H>, buffer: Buffer<Core<H>>) -> Self {
        let mut hasher = core.0;
        hasher.update(buffer.get_data());
        hasher
    }

    fn decompose(self) -> (Core<H>, Buffer<Core<H>>) {
        let (state, length, rest) = self.parts();
        let core = Core(Self::from_parts(*state, length - rest.len() as u64));
        (core, Buffer::<Core<H>>::new(rest))
    }
}

/// The state and the number of whole blocks as [`Core`] has them, one byte with the number of bytes
/// after them, and these bytes with zeros up to a block.
impl<H: Sizes> SerializableState for Hasher<H> {
    type SerializedStateSize = H::SerializedSize;

    fn serialize(&self) -> SerializedState<Self> {
        let (state, length, rest) = self.parts();
        let mut bytes = SerializedState::<Self>::default();
        let (core, buffer) = bytes.split_at_mut(core_len::<H>());
        write_core::<H>(state, length, core);
        buffer[0] = rest.len() as u8;
        buffer[1..][..rest.len()].copy_from_slice(rest);
        bytes
    }

    fn deserialize(bytes: &SerializedState<Self>) -> Result<Self, DeserializeStateError> {
        let (core, buffer) = bytes.split_at(core_len::<H>());
        let mut hasher = read_core::<H>(core)?;
        let (rest, zeros) =
            buffer[1..].split_at_checked(buffer[0].into()).ok_or(DeserializeStateError)?;
        if zeros.iter().any(|&byte| byte != 0) {
            return Err(DeserializeStateError);
        }
        hasher.update(rest);
        Ok(hasher)
    }
}

/// A [`Hasher`] of whole blocks, as `Hmac` needs it.
#[derive(Clone, Debug, Default)]
pub struct Core<H: BlockHash>(Hasher<H>);

impl<H: Sizes> HashMarker for Core<H> {}

impl<H: Sizes> OutputSizeUser for Core<H> {
    type OutputSize = H::OutputSize;
}

impl<H: Sizes> BlockSizeUser for Core<H> {
    type BlockSize = H::BlockSize;
}

impl<H: Sizes> BufferKindUser for Core<H> {
    type BufferKind = Eager;
}

impl<H: Sizes> AlgorithmName for Core<H> {
    fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(H::NAME)
    }
}

impl<H: Sizes> Reset for Core<H> {
    fn reset(&mut self) {
        self.0.reset();
    }
}

impl<H: Sizes> UpdateCore for Core<H> {
    fn update_blocks(&mut self, blocks: &[Block<Self>]) {
        self.0.update(Block::<Self>::slice_as_flattened(blocks));
    }
}

impl<H: Sizes> FixedOutputCore for Core<H> {
    fn finalize_fixed_core(&mut self, buffer: &mut Buffer<Self>, out: &mut Output<Self>) {
        self.0.update(buffer.get_data());
        out.copy_from_slice(self.0.finalize_reset().as_ref());
    }
}

/// The words of the state and the number of blocks, all little-endian.
impl<H: Sizes> SerializableState for Core<H> {
    type SerializedStateSize = H::CoreSize;

    fn serialize(&self) -> SerializedState<Self> {
        let (state, length, _) = self.0.parts();
        let mut bytes = SerializedState::<Self>::default();
        write_core::<H>(state, length, &mut bytes);
        bytes
    }

    fn deserialize(bytes: &SerializedState<Self>) -> Result<Self, DeserializeStateError> {
        Ok(Self(read_core::<H>(bytes)?))
    }
}

/// Bytes in a state and a number of blocks, which is as long as the length in a padding.
const fn core_len<H: BlockHash>() -> usize {
    H::State::LEN + length_len::<H>()
}

/// Writes the words of a state and the number of blocks of a message, all little-endian.
fn write_core<H: BlockHash>(state: &H::State, length: u64, core: &mut [u8]) {
    let (words, blocks) = core.split_at_mut(H::State::LEN);
    words.copy_from_slice(state.as_ref());
    swap_words::<H>(words);
    blocks[..8].copy_from_slice(&(length / block_len::<H>() as u64).to_le_bytes());
}

/// Reads what [`write_core`] writes. Fails for a message of 2^64 bytes or more.
fn read_core<H: BlockHash>(core: &[u8]) -> Result<Hasher<H>, DeserializeStateError> {
    let (words, blocks) = core.split_at(H::State::LEN);
    let mut state = H::State::ZEROS;
    state.as_mut().copy_from_slice(words);
    swap_words::<H>(state.as_mut());
    let (low, high) = blocks.split_at(8);
    let low = u64::from_le_bytes(low.try_into().expect("eight bytes"));
    let length =
        low.checked_mul(block_len::<H>() as u64).filter(|_| high.iter().all(|&it| it == 0));
    Ok(Hasher::from_parts(state, length.ok_or(DeserializeStateError)?))
}

/// Converts the words of a state to little-endian, or back.
fn swap_words<H: BlockHash>(state: &mut [u8]) {
    if H::IS_BIG_ENDIAN {
        // A block has sixteen words.
        state.chunks_mut(block_len::<H>() / 16).for_each(<[u8]>::reverse);
    }
}
