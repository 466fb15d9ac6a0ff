//! Small files: read one behind the other into one memory, and hashed many at a time.
//!
//! A file that is there whole need not be a stream of a lane, which says piece by piece what comes
//! next and stops the others when it ends. In memory ([`md5_many_into_with`]) many are sorted by
//! their lengths and hashed in few large steps.
//!
//! ```text
//! read a file behind those that are there
//!   small and whole: it stays
//!   otherwise:       what was read moves into the buffer of a lane
//! as many as the widest kernel has lanes, or nothing more to read: hash them
//! ```
//!
//! After a file that was not small the next one is read into the buffer of a lane, and moves here
//! if it is small. So nothing is moved where files of a kind follow each other.

use std::io;
use std::ops::Range;

use lanesum_md5::{Backend, Md5Digest, md5_many_into_with};
use rustix::fd::OwnedFd;
use rustix::io::retry_on_intr;

use super::buffer::{Buffer, zeros};
use super::read::is_memory_left;
use crate::Error;

/// Bytes of the largest file that counts as small.
pub(super) const SMALL: usize = 32 << 10;

/// How many files are hashed at a time: as many as the widest kernel has lanes.
const MOST: usize = 64;

/// Bytes behind which none begins: what is more would leave the second-level cache before it is
/// hashed.
const ROOM: usize = 512 << 10;

/// For how many bytes of other files small ones wait for their like: a few milliseconds' worth.
const PATIENCE: u64 = 8 << 20;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Small files that are read and not yet hashed. `T` is whatever the outcome of a file needs.
pub(super) struct Batch<T> {
    /// Empty before the first file.
    memory: Box<[u8]>,
    /// Each with the place of its bytes.
    files: Vec<(T, Range<usize>)>,
    /// Whether the file before was small, so that the next one may be as well.
    expects_more: bool,
    /// What the worker had read, in bytes, when the first of these files came.
    since: u64,
}

impl<T> Batch<T> {
    pub(super) fn new() -> Self {
        let files = Vec::with_capacity(MOST);
        Self { memory: Box::default(), files, expects_more: false, since: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Whether the next file is to be read here.
    pub(super) fn expects_more(&self) -> bool {
        self.expects_more
    }

    /// Whether these are to be hashed before another file comes.
    pub(super) fn is_full(&self) -> bool {
        self.files.len() == MOST || self.end() > ROOM
    }

    /// Whether these have waited for others for long enough, now that the worker has read so many
    /// bytes.
    pub(super) fn is_late(&self, bytes: u64) -> bool {
        !self.is_empty() && bytes - self.since > PATIENCE
    }

    /// Where the next file begins: at a cache line, and at another one of its page than its
    /// neighbours of the same length. If they all began at the same one, the lines that the kernel
    /// reads at a time would push each other out of the first-level cache.
    fn end(&self) -> usize {
        match self.files.last() {
            None => self.memory.as_ptr().align_offset(LINE).min(LINE),
            Some((_, place)) => place.start + (place.len() / LINE + 2) * LINE,
        }
    }

    /// Takes the memory for these files, if there is none yet; whether there is some now.
    pub(super) fn reserve(&mut self) -> bool {
        if self.memory.is_empty()
            && is_memory_left()
            && let Ok(memory) = zeros(ROOM + Buffer::CAPACITY)
        {
            self.memory = memory;
        }
        !self.memory.is_empty()
    }

    /// Where the next file goes: where its bytes begin, and [`Buffer::CAPACITY`] bytes from there
    /// on.
    fn room(&mut self) -> (usize, &mut [u8]) {
        assert!(self.reserve(), "there is memory before a file is to come here");
        let end = self.end();
        (end, &mut self.memory[end..][..Buffer::CAPACITY])
    }

    /// Reads the first bytes of a file, whose position stays at its beginning; gives their place.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn read_first(&mut self, file: &OwnedFd) -> Result<Range<usize>, Error> {
        let (start, room) = self.room();
        let read =
            retry_on_intr(|| rustix::io::pread(file, &mut *room, 0)).map_err(io::Error::from)?;
        Ok(start..start + read)
    }

    /// Takes the bytes of a small file that was read elsewhere; gives their place.
    pub(super) fn bring(&mut self, bytes: &[u8]) -> Range<usize> {
        let (start, room) = self.room();
        room[..bytes.len()].copy_from_slice(bytes);
        start..start + bytes.len()
    }

    /// What was read here of a file that is not small.
    pub(super) fn give_back(&mut self, place: Range<usize>) -> &[u8] {
        self.expects_more = false;
        &self.memory[place]
    }

    /// Adds a small file whose bytes were read or brought here; `bytes` is what the worker has read
    /// in all.
    pub(super) fn push(&mut self, file: T, place: Range<usize>, bytes: u64) {
        if self.is_empty() {
            self.since = bytes;
        }
        self.expects_more = true;
        self.files.push((file, place));
    }

    /// Hashes all files and takes them out; gives each with its bytes and its digest, in their
    /// order.
    pub(super) fn hash(&mut self, backend: Backend, mut each: impl FnMut(T, &[u8], Md5Digest)) {
        if self.is_empty() {
            return;
        }
        let Self { memory, files, .. } = self;
        let messages = files.iter().map(|(_, place)| &memory[place.clone()]);
        let digests = &mut [[0; 16]; MOST][..files.len()];
        md5_many_into_with(backend, messages, digests);
        for ((file, place), digest) in files.drain(..).zip(digests) {
            each(file, &memory[place], Md5Digest(*digest));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn content(length: usize) -> Vec<u8> {
        (0..length).map(|index| (index * 31 % 251 + length) as u8).collect()
    }

    /// A file of this content.
    fn file(content: &[u8]) -> OwnedFd {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        file.into()
    }

    #[test]
    fn a_batch_returns_digests_in_order() {
        let lengths = [5, 0, 4096, 4096, 55, 56, 64, SMALL, 1, 9000, SMALL - 1, 4095];
        for backend in Backend::available() {
            let mut batch = Batch::new();
            for round in 0..3 {
                let mut expected = Vec::new();
                for (number, length) in lengths.into_iter().cycle().take(MOST).enumerate() {
                    assert!(!batch.is_full(), "{number}");
                    let content = content(length + round);
                    let place = match number % 3 {
                        0 => batch.bring(&content),
                        _ => batch.read_first(&file(&content)).unwrap(),
                    };
                    batch.push(number, place, 0);
                    expected.push((number, lanesum_md5::md5(&content), content));
                }
                assert!(batch.is_full());
                let mut found = Vec::new();
                batch.hash(backend, |number, bytes, md5| found.push((number, md5, bytes.to_vec())));
                assert_eq!(found, expected, "{backend}");
                assert!(batch.is_empty() && !batch.is_full());
            }
        }
    }

    #[test]
    fn a_batch_has_room_until_it_is_full() {
        for length in [SMALL - 64, SMALL] {
            let (mut batch, mut count) = (Batch::new(), 0);
            while !batch.is_full() {
                assert_eq!(batch.room().1.len(), Buffer::CAPACITY);
                let place = batch.bring(&vec![7; length]);
                batch.push((), place, 0);
                count += 1;
            }
            assert!((ROOM / SMALL..MOST).contains(&count), "{count}");
        }
    }

    #[test]
    fn neighbours_of_equal_length_start_at_different_cache_lines() {
        for length in [1, 64, 1000, 4096, 8192] {
            let mut batch = Batch::new();
            let mut lines: Vec<_> = (0..MOST)
                .map(|_| {
                    let place = batch.bring(&vec![7; length]);
                    let address = batch.memory[place.start..].as_ptr().addr();
                    assert_eq!(address % LINE, 0);
                    batch.push((), place, 0);
                    address % 4096
                })
                .collect();
            lines.sort_unstable();
            lines.dedup();
            assert!(lines.len() >= MOST / 4, "{length}: {}", lines.len());
        }
    }

    #[test]
    fn the_next_file_is_expected_to_resemble_the_last() {
        let mut batch = Batch::new();
        assert!(!batch.expects_more());
        let place = batch.bring(b"abc");
        batch.push((), place, 100);
        assert!(batch.expects_more());
        let long = content(Buffer::CAPACITY + 1);
        let place = batch.read_first(&file(&long)).unwrap();
        assert_eq!(batch.give_back(place), &long[..Buffer::CAPACITY]);
        assert!(!batch.expects_more());
        assert!(!batch.is_late(100 + PATIENCE) && batch.is_late(101 + PATIENCE));
        batch.hash(Backend::best(), |(), bytes, _| assert_eq!(bytes, b"abc"));
        assert!(!batch.is_late(u64::MAX));
    }
}
