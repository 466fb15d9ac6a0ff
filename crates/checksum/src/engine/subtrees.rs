//! BLAKE3 of a file that is read in [chunks](CHUNK_LEN). Each chunk is a subtree. Only
//! the chaining values of previous subtrees are kept (section 5.1.2 of the paper).

use blake3::hazmat::{
    ChainingValue, HasherExt as _, Mode, merge_subtrees_non_root, merge_subtrees_root,
};
use blake3::{Hasher, OUT_LEN};

/// The size of a [chunk](super::Source::Chunk) in bytes: a power of two, so that it is a
/// subtree in BLAKE3.
pub const CHUNK_LEN: u64 = 128 << 20;

/// BLAKE3 without a key, after some whole chunks.
pub(super) struct Subtrees {
    /// The chaining values of the largest possible subtrees, the largest first: one for each bit of
    /// the number of chunks.
    values: Vec<ChainingValue>,
    chunks: u64,
    /// The bytes after them, at most a chunk.
    rest: Hasher,
    rest_len: u64,
}

impl Subtrees {
    pub(super) fn new() -> Self {
        Self { values: Vec::new(), chunks: 0, rest: Hasher::new(), rest_len: 0 }
    }

    /// Loads the bytes of [`save`](Self::save).
    pub(super) fn load(bytes: &[u8]) -> Option<Self> {
        let (chunks, values) = bytes.split_first_chunk()?;
        let chunks = u64::from_le_bytes(*chunks);
        let (values, others) = values.as_chunks::<OUT_LEN>();
        let is_whole = others.is_empty() && values.len() == chunks.count_ones() as usize;
        let offset = chunks.checked_mul(CHUNK_LEN)?;
        is_whole.then(|| Self {
            values: values.to_vec(),
            chunks,
            rest: behind(offset),
            rest_len: 0,
        })
    }

    /// Returns the state after a whole chunk.
    pub(super) fn save(&self) -> Option<Vec<u8>> {
        let (values, chunks) = match self.rest_len {
            0 => (self.values.clone(), self.chunks),
            CHUNK_LEN => self.with_rest(),
            _ => return None,
        };
        let mut bytes = chunks.to_le_bytes().to_vec();
        values.iter().for_each(|value| bytes.extend(value));
        Some(bytes)
    }

    pub(super) fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.rest_len == CHUNK_LEN {
                (self.values, self.chunks) = self.with_rest();
                (self.rest, self.rest_len) = (behind(self.chunks * CHUNK_LEN), 0);
            }
            let room = usize::try_from(CHUNK_LEN - self.rest_len).unwrap_or(usize::MAX);
            let (taken, left) = bytes.split_at(room.min(bytes.len()));
            self.rest.update(taken);
            self.rest_len += taken.len() as u64;
            bytes = left;
        }
    }

    /// Returns the digest of all bytes.
    ///
    /// # Panics
    /// Panics if no bytes followed a loaded state, because the last chunk of a file must not be a
    /// finished subtree.
    pub(super) fn finalize(self) -> [u8; OUT_LEN] {
        let mut values = self.values;
        let Some(first) = values.pop() else { return *self.rest.finalize().as_bytes() };
        let mut right = self.rest.finalize_non_root();
        let mut left = first;
        while let Some(next) = values.pop() {
            right = merge_subtrees_non_root(&left, &right, Mode::Hash);
            left = next;
        }
        *merge_subtrees_root(&left, &right, Mode::Hash).as_bytes()
    }

    /// Returns the values and their number, including the rest, which is a whole chunk.
    fn with_rest(&self) -> (Vec<ChainingValue>, u64) {
        let mut values = self.values.clone();
        let mut value = self.rest.finalize_non_root();
        // As when adding one to a binary number.
        for _ in 0..self.chunks.trailing_ones() {
            let left = values.pop().expect("a value for each bit that is one");
            value = merge_subtrees_non_root(&left, &value, Mode::Hash);
        }
        values.push(value);
        (values, self.chunks + 1)
    }
}

fn behind(offset: u64) -> Hasher {
    let mut hasher = Hasher::new();
    hasher.set_input_offset(offset);
    hasher
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cut at every chunk, with ends around the borders.
    #[test]
    fn cut_inputs_have_the_digest_of_the_whole() {
        const CHUNKS: usize = 5;
        let content = (0..=250).collect::<Vec<u8>>().repeat(CHUNK_LEN as usize / 251 + 2);
        let (chunk, byte) = content[..=CHUNK_LEN as usize].split_at(CHUNK_LEN as usize);
        let (mut whole, mut subtrees) = (Hasher::new(), Subtrees::new());
        let digest = |subtrees: &Subtrees, more: &[u8]| {
            let mut subtrees = Subtrees::load(&subtrees.save().unwrap()).unwrap();
            subtrees.update(more);
            subtrees.finalize()
        };
        assert_eq!(Subtrees::new().finalize(), *blake3::hash(b"").as_bytes());
        for number in 1..=CHUNKS {
            whole.update(chunk);
            let saved = subtrees.save().unwrap();
            assert_eq!(digest(&subtrees, chunk), *whole.finalize().as_bytes(), "{number}");
            for part in chunk.chunks(CHUNK_LEN as usize / 3 + 1) {
                subtrees.update(part);
            }
            assert_ne!(subtrees.save().unwrap(), saved);
            let mut more = whole.clone();
            assert_eq!(digest(&subtrees, byte), *more.update(byte).finalize().as_bytes());
        }
        assert_eq!(subtrees.finalize(), *whole.finalize().as_bytes());
    }

    #[test]
    fn an_invalid_state_is_not_loaded() {
        let mut subtrees = Subtrees::new();
        let saved = subtrees.save().unwrap();
        assert!(Subtrees::load(&saved).is_some() && Subtrees::load(&saved[1..]).is_none());
        subtrees.update(b"abc");
        assert_eq!(subtrees.save(), None, "no whole chunk");
        for values in [0, 2] {
            let mut one = 1_u64.to_le_bytes().to_vec();
            one.resize(8 + values * OUT_LEN, 7);
            assert!(Subtrees::load(&one).is_none(), "{values}");
        }
    }
}
