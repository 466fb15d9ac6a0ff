//! The frame of MD5 around a compression function: initial state, padding, digest.

use super::Digest;

pub type Block = [u8; 64];

const INITIAL: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];

/// The digest of `message` by a function that takes a state forward by whole blocks.
#[inline(always)]
pub fn digest(message: &[u8], mut compress: impl FnMut(&mut [u32; 4], &[Block])) -> Digest {
    let mut state = INITIAL;
    let (blocks, rest) = message.as_chunks();
    compress(&mut state, blocks);

    // RFC 1321 sections 3.1 and 3.2: a byte 0x80, zeros, the length in bits.
    let mut edge = [0; 128];
    edge[..rest.len()].copy_from_slice(rest);
    edge[rest.len()] = 0x80;
    let end = if rest.len() < 56 { 64 } else { 128 };
    edge[end - 8..end].copy_from_slice(&(message.len() as u64 * 8).to_le_bytes());
    compress(&mut state, edge[..end].as_chunks().0);

    let mut digest = Digest::default();
    for (bytes, word) in digest.as_chunks_mut().0.iter_mut().zip(state) {
        *bytes = word.to_le_bytes();
    }
    digest
}
