//! Small files: read one after the other into one buffer, and hashed many at a time.
//!
//! A file that is completely in memory need not be a stream in a lane, which passes on pieces and
//! stops the other lanes when it ends. [`hash_many`] sorts many messages by length and hashes them
//! in few large steps.
//!
//! ```text
//! read the next file after the previous ones in the buffer
//!   small and complete: it stays in the buffer
//!   otherwise:          its bytes move to the buffer of a lane
//! if the widest kernel's lanes are full, or no further files come: hash all small files
//! ```
//!
//! After a file that is not small, the next one is read into the buffer of a lane, and is moved
//! here if it is small. So no bytes are moved among files of similar size.

use std::io;
use std::ops::Range;

use lanesum_blockhash::Backend;
use lanesum_list::Digests;
use rustix::fd::OwnedFd;
use rustix::io::retry_on_intr;

use super::buffer::{Buffer, zeros};
use super::lanes::{IN_LANES, hash_many};
use super::read::is_memory_left;
use crate::{Algorithms, Error};

/// The size of the largest small file in bytes.
pub(super) const SMALL: usize = 32 << 10;

/// The number of files that are hashed at a time: the number of lanes of the widest kernel.
const MOST: usize = 64;

/// The offset after which no file starts. More bytes would leave the second-level cache before they
/// are hashed.
const ROOM: usize = 512 << 10;

/// The number of bytes of other files that small ones wait for: a few milliseconds.
const PATIENCE: u64 = 8 << 20;

/// The size of a cache line in bytes.
const LINE: usize = 64;

/// Small files that are read and not yet hashed. `T` is the data for the outcome of a file.
pub(super) struct Batch<T> {
    /// Empty before the first file.
    memory: Box<[u8]>,
    /// The files, each with the place of its bytes.
    files: Vec<(T, Range<usize>)>,
    /// Whether the previous file was small, so that the next one is probably small as well.
    expects_more: bool,
    /// The number of bytes that the worker had read before the first of these files.
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

    /// Returns whether to read the next file into the batch.
    pub(super) fn expects_more(&self) -> bool {
        self.expects_more
    }

    /// Returns whether to hash the files before the next one is read.
    pub(super) fn is_full(&self) -> bool {
        self.files.len() == MOST || self.end() > ROOM
    }

    /// Returns whether the files have waited long enough, given the number of bytes that the worker
    /// has read.
    pub(super) fn is_late(&self, bytes: u64) -> bool {
        !self.is_empty() && bytes - self.since > PATIENCE
    }

    /// Returns the start of the next file: a cache line at a different page offset than those of
    /// its neighbours of the same length. At equal offsets, the lines that the kernel reads at a
    /// time would evict each other from the first-level cache.
    fn end(&self) -> usize {
        match self.files.last() {
            None => self.memory.as_ptr().align_offset(LINE).min(LINE),
            Some((_, place)) => place.start + (place.len() / LINE + 2) * LINE,
        }
    }

    /// Allocates the memory for the files on first use. Returns whether there is memory.
    pub(super) fn reserve(&mut self) -> bool {
        if self.memory.is_empty()
            && is_memory_left()
            && let Ok(memory) = zeros(ROOM + Buffer::CAPACITY)
        {
            self.memory = memory;
        }
        !self.memory.is_empty()
    }

    /// Returns the start of the next file, and [`Buffer::CAPACITY`] bytes from there on.
    fn room(&mut self) -> (usize, &mut [u8]) {
        assert!(self.reserve(), "there is memory before a file is to come here");
        let end = self.end();
        (end, &mut self.memory[end..][..Buffer::CAPACITY])
    }

    /// Reads the first bytes of a file without moving its position. Returns their place.
    ///
    /// # Errors
    /// Fails with the error of the system.
    pub(super) fn read_first(&mut self, file: &OwnedFd) -> Result<Range<usize>, Error> {
        let (start, room) = self.room();
        let read =
            retry_on_intr(|| rustix::io::pread(file, &mut *room, 0)).map_err(io::Error::from)?;
        Ok(start..start + read)
    }

    /// Copies the bytes of a small file that was read elsewhere. Returns their place.
    pub(super) fn bring(&mut self, bytes: &[u8]) -> Range<usize> {
        let (start, room) = self.room();
        room[..bytes.len()].copy_from_slice(bytes);
        start..start + bytes.len()
    }

    /// Returns the bytes that were read here of a file that is not small.
    pub(super) fn give_back(&mut self, place: Range<usize>) -> &[u8] {
        self.expects_more = false;
        &self.memory[place]
    }

    /// Adds a small file whose bytes are in the batch. `bytes` is the total number that the worker
    /// has read.
    pub(super) fn push(&mut self, file: T, place: Range<usize>, bytes: u64) {
        if self.is_empty() {
            self.since = bytes;
        }
        self.expects_more = true;
        self.files.push((file, place));
    }

    /// Hashes and removes all files. Passes on each with its bytes and its digests, in order.
    pub(super) fn hash(
        &mut self,
        backend: Backend,
        algorithms: impl Fn(&T) -> Algorithms,
        mut each: impl FnMut(T, &[u8], Digests),
    ) {
        let Self { memory, files, .. } = self;
        let mut digests: Vec<Digests> = files.iter().map(|_| Digests::default()).collect();
        for algorithm in IN_LANES {
            let is_for = |(file, _): &(T, Range<usize>)| algorithms(file).contains(algorithm);
            let (messages, places): (Vec<&[u8]>, Vec<&mut Digests>) = files
                .iter()
                .zip(&mut digests)
                .filter(|(file, _)| is_for(file))
                .map(|((_, place), digests)| (&memory[place.clone()], digests))
                .unzip();
            if messages.is_empty() {
                continue;
            }
            for (place, digest) in places.into_iter().zip(hash_many(algorithm, backend, &messages))
            {
                place.push(digest);
            }
        }
        for ((file, place), digests) in files.drain(..).zip(digests) {
            each(file, &memory[place], digests);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Algorithm;
    use std::io::Write as _;

    fn content(length: usize) -> Vec<u8> {
        (0..length).map(|index| (index * 31 % 251 + length) as u8).collect()
    }

    /// Makes a file with a given content.
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
                    expected.push((number, lanesum_md5::md5(&content).to_string(), content));
                }
                assert!(batch.is_full());
                let mut found = Vec::new();
                batch.hash(
                    backend,
                    |_| Algorithm::Md5.into(),
                    |number, bytes, md5| found.push((number, md5[0].to_string(), bytes.to_vec())),
                );
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
        let md5 = |(): &()| Algorithm::Md5.into();
        batch.hash(Backend::best(), md5, |(), bytes, _| assert_eq!(bytes, b"abc"));
        assert!(!batch.is_late(u64::MAX));
    }
}
