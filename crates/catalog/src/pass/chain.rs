//! Long files whose chunks are being read, and those whose next one may be.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lanesum_checksum::engine::Media;

use super::row::Row;
use crate::CatalogError;
use crate::store::chunk::ResumePoint;

/// So many are read at once, one in a lane: the fewer, the sooner one of them is done. It is one
/// where the medium has to seek, and until that is known; and half as many where a chunk takes
/// longer than `LONGEST`, since an interruption loses what is read of each.
const AT_ONCE: usize = 16;
const LONGEST: Duration = Duration::from_secs(2);

/// A long file, and where its reading stands.
pub(crate) struct Chunk {
    pub(crate) row: Row,
    /// None before the first chunk.
    pub(super) from: Option<ResumePoint>,
    /// How often it was begun.
    pub(super) tries: u32,
}

/// The files of which a chunk is being read, and those whose next one may be.
#[derive(Default)]
pub(crate) struct Chain {
    links: Mutex<Links>,
    /// Notified of each change.
    changed: Condvar,
}

struct Links {
    ready: VecDeque<Chunk>,
    under_way: usize,
    /// As many may be, and as many where the medium does not have to seek.
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
        // No panic leaves it half changed.
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what is known of the media by now, where a chunk was read.
    pub(crate) fn note(&self, media: &Media) {
        let mut links = self.lock();
        links.at_once = if media.seek.is_some() { 1 } else { links.most };
        self.changed.notify_all();
    }

    /// The next file that goes on, or of which `next` gives the first chunk; none once all are
    /// done.
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

/// A chunk of a file is under way.
pub(crate) struct Ticket {
    chain: Arc<Chain>,
    began: Instant,
}

impl Ticket {
    /// Lets the chunk after this one be read.
    pub(crate) fn give_back(&self, chunk: Chunk) {
        self.chain.lock().ready.push_front(chunk);
    }
}

/// The chunk was read, or will not be.
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
