//! The file format of a journal: a head that identifies it, and frames of entries. Each frame
//! starts with its length and the CRC-32C of [`SALT`] and the entries.
//!
//! Only complete frames are valid. A crash may leave the last frame truncated or with wrong bytes.

use super::Purpose;
use crate::Key;

/// The bytes before the entries in the CRC-32C of a frame.
const SALT: &[u8] = b"lanesum frame 1";

/// The size of the head of a frame in bytes.
const PREFIX: usize = 2 * size_of::<u32>();

/// The number of bytes of a hash that identifies the key of a journal.
const KEY_CONTEXT: &str = "lanesum 2026-11-24 which key a partial list was made with";

/// The first bytes of a journal. Change the number with the format.
const fn magic(purpose: Purpose) -> &'static [u8] {
    match purpose {
        Purpose::List => b"lanesum partial list 1\n",
        Purpose::DirectList => b"lanesum partial direct list 1\n",
        Purpose::Check => b"lanesum partial check 1\n",
        Purpose::DirectCheck => b"lanesum partial direct check 1\n",
    }
}

/// Returns the head of a journal of digests under a key.
pub(super) fn head(purpose: Purpose, key: Option<&Key>) -> Vec<u8> {
    let key = match key {
        None => "none".to_owned(),
        Some(key) => {
            let mut hasher = blake3::Hasher::new_derive_key(KEY_CONTEXT);
            // A key of both lengths differs from a key of one length.
            for bytes in
                [key.of_16().map(<[u8; 16]>::as_slice), key.of_32().map(<[u8; 32]>::as_slice)]
            {
                hasher.update(&[bytes.map_or(0, <[u8]>::len) as u8]);
                hasher.update(bytes.unwrap_or_default());
            }
            hasher.finalize().to_hex()[..16].to_owned()
        }
    };
    [magic(purpose), b"key ", key.as_bytes(), b"\n"].concat()
}

/// The contents of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Empty, or an incomplete head.
    Nothing,
    /// Not a journal.
    Other,
    /// The journal of a run with a different key or without one.
    OtherKey,
    /// A journal.
    Journal {
        /// The joined entries of all complete frames.
        entries: Vec<u8>,
        /// The end of the last of those frames.
        end: usize,
    },
}

/// Returns the contents of a file for a run with a purpose and a key.
pub(super) fn read(bytes: &[u8], purpose: Purpose, key: Option<&Key>) -> Content {
    let (head, magic) = (&*head(purpose, key), magic(purpose));
    if bytes.len() < head.len() && (head.starts_with(bytes) || bytes.starts_with(magic)) {
        return Content::Nothing;
    }
    let Some(mut rest) = bytes.strip_prefix(head) else {
        return if bytes.starts_with(magic) { Content::OtherKey } else { Content::Other };
    };
    let mut entries = Vec::new();
    while let Some((frame, behind)) = frame(rest) {
        entries.extend_from_slice(frame);
        rest = behind;
    }
    Content::Journal { entries, end: bytes.len() - rest.len() }
}

/// Makes a buffer with room for the head of a frame before its entries.
pub(super) fn begin(frame: &mut Vec<u8>) {
    frame.clear();
    frame.resize(PREFIX, 0);
}

/// Returns whether a frame has no entries.
pub(super) fn is_empty(frame: &[u8]) -> bool {
    frame.len() <= PREFIX
}

/// Completes the frame.
pub(super) fn end(frame: &mut [u8]) {
    let (prefix, entries) = frame.split_at_mut(PREFIX);
    let (length, sum) = prefix.split_at_mut(PREFIX / 2);
    length.copy_from_slice(&(entries.len() as u32).to_le_bytes());
    sum.copy_from_slice(&sum_of(entries).to_le_bytes());
}

/// Returns the CRC-32C with a salt. Without it, the CRC-32C of four 0xff bytes, as in erased flash,
/// would be 0xffffffff.
fn sum_of(entries: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(SALT), entries)
}

fn frame(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (sum, rest) = rest.split_first_chunk()?;
    let (entries, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    // Zeros, which a file system may leave in unwritten parts, are not a frame.
    let is_whole = !entries.is_empty() && sum_of(entries) == u32::from_le_bytes(*sum);
    is_whole.then_some((entries, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: Purpose = Purpose::List;

    fn journal() -> (Vec<u8>, Vec<u8>, Vec<usize>) {
        let head = head(LIST, None);
        let (mut bytes, mut frame, mut ends) = (head.clone(), Vec::new(), vec![head.len()]);
        for entries in [&b"first"[..], &[7; 1000], b"last"] {
            begin(&mut frame);
            assert!(is_empty(&frame));
            frame.extend_from_slice(entries);
            end(&mut frame);
            bytes.extend_from_slice(&frame);
            ends.push(bytes.len());
        }
        (head, bytes, ends)
    }

    #[test]
    fn complete_frames_survive_a_bad_tail() {
        let (head, bytes, ends) = journal();
        let all = [&b"first"[..], &[7; 1000], b"last"].concat();
        for cut in 0..=bytes.len() {
            let expected = ends.iter().copied().rfind(|&end| end <= cut);
            for tail in [&b""[..], &[0; 100], &[0xff; 100]] {
                let found = read(&[&bytes[..cut], tail].concat(), LIST, None);
                match (found, expected) {
                    (Content::Nothing, None) if tail.is_empty() => {}
                    (Content::Other, None) if !tail.is_empty() => {}
                    (Content::OtherKey, None) if cut >= magic(LIST).len() => {}
                    (Content::Journal { entries, end }, Some(expected)) => {
                        assert_eq!(end, expected, "{cut}");
                        assert!(all.starts_with(&entries));
                    }
                    (found, _) => panic!("{cut} {found:?}"),
                }
            }
        }
        for place in head.len()..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[place] ^= 1;
            let Content::Journal { entries, end } = read(&damaged, LIST, None) else { panic!() };
            assert!(end <= place && all.starts_with(&entries), "{place}");
        }
    }

    #[test]
    fn a_different_key_is_reported() {
        let key = |byte| Key::from_bytes(&[byte; 32]).unwrap();
        let keys = [None, Some(key(1)), Some(key(2))];
        for one in &keys {
            for other in &keys {
                let bytes = head(LIST, one.as_ref());
                let found = read(&bytes, LIST, other.as_ref());
                // Shorter than a head with a key.
                let is_cut = one.is_none() && other.is_some();
                match found {
                    Content::Journal { entries, .. } => assert!(one == other && entries.is_empty()),
                    Content::Nothing => assert!(is_cut),
                    Content::OtherKey => assert!(one != other),
                    Content::Other => panic!(),
                }
            }
        }
        let list = b"d41d8cd98f00b204e9800998ecf8427e  a file\n";
        assert_eq!(read(list, LIST, None), Content::Other);
        assert_eq!(read(b"", LIST, None), Content::Nothing);
        let purposes = [LIST, Purpose::DirectList, Purpose::Check, Purpose::DirectCheck];
        for (its, other) in purposes.iter().flat_map(|it| purposes.map(|other| (*it, other))) {
            let is_other = read(&head(its, None), other, None) == Content::Other;
            assert_eq!(is_other, its != other, "{its:?} {other:?}");
        }
    }
}
