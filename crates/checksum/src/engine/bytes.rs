//! Digests of bytes in memory.

use super::hashers::Hashers;
use lanesum_list::Digests;

use crate::{Algorithms, Error, Key};

/// Returns the digests of some bytes, in the order of [`Algorithm::ALL`](crate::Algorithm::ALL).
///
/// # Errors
/// Fails with [`Error::NoKey`] if an algorithm needs a key and `key` is missing or has the wrong
/// length.
///
/// ```
/// use lanesum_checksum::{Algorithm, Key, digests_of};
///
/// let algorithms = [Algorithm::Crc32c, Algorithm::Md5].into_iter().collect();
/// let digests = digests_of(algorithms, None, b"abc")?;
/// assert_eq!(digests[0].to_string(), "900150983cd24fb0d6963f7d28e17f72");
/// assert_eq!(digests[1].to_string(), "364b3fb7");
///
/// let key = Key::from_bytes(b"sixteen bytes...").unwrap();
/// let digests = digests_of(Algorithm::Siphash24.into(), Some(&key), b"abc")?;
/// assert_eq!(digests[0].as_bytes().len(), 8);
/// assert!(digests_of(Algorithm::Siphash24.into(), None, b"abc").is_err());
/// # Ok::<(), lanesum_checksum::Error>(())
/// ```
pub fn digests_of(
    algorithms: Algorithms,
    key: Option<&Key>,
    bytes: &[u8],
) -> Result<Digests, Error> {
    let mut hashers = Hashers::new(algorithms, key)?;
    hashers.update(bytes);
    let mut digests = Digests::default();
    hashers.finalize(&mut digests);
    Ok(digests)
}
