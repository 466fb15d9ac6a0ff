//! Digests in the cells and members of lists whose form is fixed.

use super::Wrong;
use crate::{Algorithm, Algorithms, Digest, digits};

/// Reads a digest of an algorithm, in hexadecimal or base64. Its algorithm may stand before it.
pub(super) fn of(algorithm: Algorithm, text: &[u8]) -> Result<Digest, Wrong> {
    let wrong = Wrong::Digest(algorithm);
    if let Some(digest) = digits::read(algorithm, text, true) {
        return Ok(digest);
    }
    match digits::named(text) {
        Some(Ok(digest)) if digest.algorithm() == algorithm => Ok(digest),
        _ => digits::read_unpadded(algorithm, text).ok_or(wrong),
    }
}

/// Reads a digest whose algorithm stands before it or, of one of `untagged`, follows from its
/// length. Returns whether the algorithm was named.
pub(super) fn of_any(text: &[u8], untagged: Algorithms) -> Result<(Digest, bool), Wrong> {
    if let Some(named) = digits::named(text) {
        return named.map(|digest| (digest, true)).map_err(Wrong::Digest);
    }
    let mut read = untagged.iter().filter_map(|algorithm| digits::read(algorithm, text, true));
    read.next().map(|digest| (digest, false)).ok_or(Wrong::Algorithm)
}
