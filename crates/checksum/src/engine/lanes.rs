//! The files in the lanes of a worker.
//!
//! Each hash function has lanes of its own, and a file is in those of all its algorithms. The file
//! is read once: its buffer is filled again when all of them have used it up. A function that is
//! ahead of the others waits, as for a stream that has nothing yet.
//!
//! ```text
//! file 0: md5 lane 0, sha512 lane 0      read ....|........
//! file 1: md5 lane 1                           ^ md5   ^ the bytes in the buffer end here
//! file 2: md5 lane 2, sha512 lane 1         ^ sha512
//! ```
//!
//! An algorithm of blocks has lanes of SHA-256. When a block of a file ends, the next one begins in
//! a new lane, and the digest of the ended one is [joined](Blocks) to the previous ones.

use std::task::Poll;

use lanesum_blockhash::{Backend, BlockHash, LaneStates, Midstate, Stream, many};
use lanesum_md5::Md5Hash;

use super::blocks::Blocks;
use super::hashers;
use super::stream::FileStream;
use crate::{Algorithm, Algorithms, Digest};

/// The number of algorithms with lanes.
pub(super) const FUNCTIONS: usize = 9;

/// The algorithms with lanes.
pub(super) const IN_LANES: [Algorithm; FUNCTIONS] = [
    Algorithm::Md5,
    Algorithm::Sha1,
    Algorithm::Sha224,
    Algorithm::Sha256,
    Algorithm::Sha384,
    Algorithm::Sha512,
    Algorithm::Sha512_256,
    Algorithm::Dropbox,
    Algorithm::Glacier,
];

/// Returns the algorithms of a set that have lanes.
pub(super) fn in_lanes(algorithms: Algorithms) -> Algorithms {
    IN_LANES.into_iter().collect::<Algorithms>().intersection(algorithms)
}

/// Returns the hash function of the lanes of an algorithm.
fn function_of(algorithm: Algorithm) -> Algorithm {
    if Blocks::of(algorithm).is_some() { Algorithm::Sha256 } else { algorithm }
}

/// Calls a generic function with a hash function that has lanes.
macro_rules! with_hash {
    ($algorithm:expr, $function:ident $(::<$other:ty>)? ($($argument:expr),*)) => {
        match $algorithm {
            Algorithm::Md5 => Some($function::<lanesum_md5::Md5Hash $(, $other)?>($($argument),*)),
            Algorithm::Sha1 => Some($function::<lanesum_sha1::Sha1Hash $(, $other)?>($($argument),*)),
            Algorithm::Sha224 => Some($function::<lanesum_sha2::Sha224Hash $(, $other)?>($($argument),*)),
            Algorithm::Sha256 => Some($function::<lanesum_sha2::Sha256Hash $(, $other)?>($($argument),*)),
            Algorithm::Sha384 => Some($function::<lanesum_sha2::Sha384Hash $(, $other)?>($($argument),*)),
            Algorithm::Sha512 => Some($function::<lanesum_sha2::Sha512Hash $(, $other)?>($($argument),*)),
            Algorithm::Sha512_256 => Some($function::<lanesum_sha2::Sha512_256Hash $(, $other)?>($($argument),*)),
            _ => None,
        }
    };
}
pub(super) use with_hash;

/// Returns the digests of messages that are in memory, of at most one block of the algorithm.
///
/// # Panics
/// Panics if the algorithm has no lanes, or if a message is longer than a block.
pub(super) fn hash_many(algorithm: Algorithm, backend: Backend, messages: &[&[u8]]) -> Vec<Digest> {
    fn all<H: BlockHash>(
        algorithm: Algorithm,
        backend: Backend,
        messages: &[&[u8]],
    ) -> Vec<Digest> {
        let digests = many::<H, _>(backend, messages);
        let digest = |(it, message): (&lanesum_blockhash::Digest<H>, &&[u8])| {
            let Some(blocks) = Blocks::of(algorithm) else {
                return hashers::digest(algorithm, it.as_ref());
            };
            let digest = it.as_ref().try_into().expect("a digest of SHA-256");
            let joined = blocks.of_one(message.len(), digest);
            hashers::digest(algorithm, joined.as_ref())
        };
        digests.iter().zip(messages).map(digest).collect()
    }
    let digests = with_hash!(function_of(algorithm), all(algorithm, backend, messages));
    digests.expect("an algorithm with lanes")
}

/// The state of an algorithm after the last byte of a file, or of a chunk of it.
#[derive(Clone, Debug)]
pub(super) struct LaneState {
    pub(super) algorithm: Algorithm,
    pub(super) state: Vec<u8>,
}

impl LaneState {
    /// Returns the digest, if the state is that after the padding.
    pub(super) fn digest(&self) -> Digest {
        let length = self.algorithm.digest_len();
        hashers::digest(self.algorithm, &self.state[..length])
    }
}

/// The files in the lanes, and the lanes of each algorithm that a file had.
pub(super) struct FileLanes<T> {
    backend: Backend,
    /// In no particular order.
    files: Vec<FileStream<T>>,
    functions: [Option<Function<T>>; FUNCTIONS],
}

/// The lanes of an algorithm.
struct Function<T> {
    states: Box<dyn States<T>>,
    lanes: Vec<FileLane>,
}

/// The file of a lane, and its blocks if the algorithm has any.
struct FileLane {
    file: usize,
    blocks: Option<Blocks>,
}

impl<T: 'static> FileLanes<T> {
    pub(super) fn new(backend: Backend) -> Self {
        Self { backend, files: Vec::new(), functions: [const { None }; FUNCTIONS] }
    }

    /// Returns the number of files that keep the CPU busy, whatever their algorithms are.
    pub(super) fn capacity(&self) -> usize {
        Md5Hash::most_streams(self.backend)
    }

    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Adds a file, at least one of whose algorithms has lanes.
    pub(super) fn push(&mut self, file: FileStream<T>) {
        for (function, algorithm) in self.functions.iter_mut().zip(IN_LANES) {
            if file.algorithms_in_lanes().contains(algorithm) {
                let function = function.get_or_insert_with(|| {
                    let states = with_hash!(function_of(algorithm), states::<T>(self.backend));
                    Function { states: states.expect("it has lanes"), lanes: Vec::new() }
                });
                function.states.push(file.behind(algorithm));
                let (file, blocks) = (self.files.len(), Blocks::of(algorithm));
                function.lanes.push(FileLane { file, blocks });
            }
        }
        self.files.push(file);
    }

    /// Hashes what the files have, until one needs new bytes.
    pub(super) fn advance(&mut self) {
        let Self { files, functions, .. } = self;
        for (number, function) in functions.iter_mut().enumerate() {
            if let Some(Function { states, lanes }) = function
                && !lanes.is_empty()
            {
                states.advance(&mut views(files, lanes, number));
            }
        }
    }

    /// Removes a file that has ended and is hashed by all its algorithms. Reads more of the others.
    pub(super) fn take_finished(&mut self) -> Option<FileStream<T>> {
        for (number, algorithm) in IN_LANES.into_iter().enumerate() {
            let Some(function) = &mut self.functions[number] else { continue };
            while !function.lanes.is_empty()
                && let views = &mut views(&mut self.files, &mut function.lanes, number)
                && let Some(lane) = function.states.finished(views)
            {
                let mut state = function.states.swap_remove(lane);
                let FileLane { file: place, blocks } = function.lanes.swap_remove(lane);
                if let Some(mut blocks) = blocks {
                    if blocks.end_lane(&state) {
                        function.states.push(None);
                        function.lanes.push(FileLane { file: place, blocks: Some(blocks) });
                        continue;
                    }
                    state = blocks.finalize().as_ref().to_vec();
                }
                let file = &mut self.files[place];
                file.add_state(LaneState { algorithm, state });
                if file.has_all_states() {
                    return Some(self.remove(place));
                }
            }
        }
        None
    }

    /// Removes a file that has no lanes left. The last one moves into its place.
    fn remove(&mut self, place: usize) -> FileStream<T> {
        let last = self.files.len() - 1;
        for function in self.functions.iter_mut().flatten() {
            let moved = function.lanes.iter_mut().filter(|it| it.file == last);
            moved.for_each(|it| it.file = place);
        }
        self.files.swap_remove(place)
    }
}

/// Returns what a function sees of the files in its lanes.
fn views<'f, T>(
    files: &'f mut [FileStream<T>],
    lanes: &'f mut [FileLane],
    function: usize,
) -> Vec<View<'f, T>> {
    let mut files: Vec<_> = files.iter_mut().map(Some).collect();
    let view = |lane: &'f mut FileLane| {
        let file = files[lane.file].take().expect("a file is in one lane of a function");
        View { file, function, blocks: lane.blocks.as_mut() }
    };
    lanes.iter_mut().map(view).collect()
}

/// A file, or a block of it, as the stream of one of its functions.
struct View<'f, T> {
    file: &'f mut FileStream<T>,
    function: usize,
    blocks: Option<&'f mut Blocks>,
}

impl<T> Stream for View<'_, T> {
    #[inline]
    fn chunk(&mut self) -> Poll<&[u8]> {
        let chunk = self.file.chunk(self.function);
        match &self.blocks {
            None => chunk,
            Some(blocks) => chunk.map(|chunk| blocks.cut(chunk)),
        }
    }

    #[inline]
    fn consume(&mut self, count: usize) {
        self.file.consume(self.function, count);
        if let Some(blocks) = &mut self.blocks {
            blocks.consume(count);
        }
    }

    fn is_cut(&self) -> bool {
        self.blocks.as_ref().map_or_else(|| self.file.is_cut(), |blocks| blocks.is_whole())
    }
}

/// [`LaneStates`] of any hash function.
trait States<T> {
    /// Adds a lane, perhaps for a message that continues after so many bytes with this state.
    fn push(&mut self, behind: Option<(&[u8], u64)>);
    fn advance(&mut self, views: &mut [View<'_, T>]);
    fn finished(&mut self, views: &mut [View<'_, T>]) -> Option<usize>;
    fn swap_remove(&mut self, lane: usize) -> Vec<u8>;
}

fn states<H: BlockHash, T>(backend: Backend) -> Box<dyn States<T>> {
    Box::new(LaneStates::<H>::with_backend(backend))
}

impl<T, H: BlockHash> States<T> for LaneStates<H> {
    fn push(&mut self, behind: Option<(&[u8], u64)>) {
        match behind {
            None => self.push(),
            Some((state, bytes)) => {
                let midstate = Midstate::from_slice(state, bytes);
                self.push_behind(midstate.expect("the state was checked before the file began"));
            }
        }
    }

    fn advance(&mut self, views: &mut [View<'_, T>]) {
        self.advance(views);
    }

    fn finished(&mut self, views: &mut [View<'_, T>]) -> Option<usize> {
        self.finished(views)
    }

    fn swap_remove(&mut self, lane: usize) -> Vec<u8> {
        self.swap_remove(lane).as_ref().to_vec()
    }
}
