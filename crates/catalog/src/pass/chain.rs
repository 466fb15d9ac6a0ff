//! Long files of which a chunk is being read, or may be read next.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lanesum_checksum::engine::Media;

use super::row::Row;
use crate::CatalogError;
use crate::store::chunk::ResumePoint;

/// The maximum number of files that are read at once, one per lane. With fewer files, the first one
/// is done sooner. It is one if the medium must seek, or until that is known. It is halved if a
/// chunk takes longer than `LONGEST`, because an interruption loses each unfinished chunk.
const AT_ONCE: usize = 16;
const LONGEST: Duration = Duration::from_secs(2);

/// A long file and the position in it.
pub(crate) struct Chunk {
    pub(crate) row: Row,
    /// None before the first chunk.
    pub(super) from: Option<ResumePoint>,
    /// The number of starts.
    pub(super) tries: u32,
}

/// The files of which a chunk is being read, and those that may be next.
#[derive(Default)]
pub(crate) struct Chain {
    links: Mutex<Links>,
    /// Notified of each change.
    changed: Condvar,
}

struct Links {
    ready: VecDeque<Chunk>,
    under_way: usize,
    /// The allowed number of files, and the number if the medium does not have to seek.
    at_once: usize,
    most: usize,
    has_ended: bool,
}

impl Default for Links {
    fn default() -> Self {
        Self { ready: VecDeque::new(), under_way: 0, at_once: 1, most: AT_ONCE, has_ended: false }
    }
}

impl Chain {
    fn lock(&self) -> MutexGuard<'_, Links> {
        // A panic leaves it consistent.
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Updates the knowledge about the media after a chunk was read.
    pub(crate) fn note(&self, media: &Media) {
        let mut links = self.lock();
        links.at_once = if media.seek.is_some() { 1 } else { links.most };
        self.changed.notify_all();
    }

    /// Returns the next file to continue, or the first chunk of a file from `next`. Returns none
    /// when all are done.
    pub(crate) fn take(
        self: &Arc<Self>,
        mut next: impl FnMut() -> Result<Option<Chunk>, CatalogError>,
    ) -> Result<Option<(Chunk, Ticket)>, CatalogError> {
        let mut links = self.lock();
        loop {
            let is_free = links.under_way < links.at_once && !links.has_ended;
            let chunk = if is_free { links.ready.pop_front() } else { None };
            let chunk = if is_free && chunk.is_none() { next()? } else { chunk };
            if let Some(chunk) = chunk {
                links.under_way += 1;
                let (chain, began) = (Arc::clone(self), Instant::now());
                return Ok(Some((chunk, Ticket { chain, began })));
            }
            if links.under_way == 0 || links.has_ended {
                return Ok(None);
            }
            links = self.changed.wait(links).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Records that a chunk of a file is under way.
pub(crate) struct Ticket {
    chain: Arc<Chain>,
    began: Instant,
}

impl Ticket {
    /// Allows the chunk after this one.
    pub(crate) fn give_back(&self, chunk: Chunk) {
        self.chain.lock().ready.push_front(chunk);
    }
}

/// Records that the chunk was read, or will not be read.
impl Drop for Ticket {
    fn drop(&mut self) {
        let mut links = self.chain.lock();
        links.under_way -= 1;
        if self.began.elapsed() > LONGEST {
            links.most = (links.at_once / 2).max(1);
        }
        self.chain.changed.notify_all();
    }
}

pub(crate) struct EndOnDrop(pub(crate) Arc<Chain>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.lock().has_ended = true;
        self.0.changed.notify_all();
    }
}
