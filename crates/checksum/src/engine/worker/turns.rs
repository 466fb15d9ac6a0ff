//! Turns of a device: a long file that is not in the cache is begun when its device has room for
//! one more reader (`devices.rs`). Until then it waits at the head of the worker's jobs, opened.

use std::ops::Range;

use rustix::fd::OwnedFd;
use rustix::fs::FileType;

use super::Worker;
use crate::engine::buffer::Buffer;
use crate::engine::devices::Turn;
use crate::engine::look::Begun;
use crate::engine::read::cold;

impl Worker<'_> {
    /// Whether a file may be read now: what is long and not in the cache takes a turn of its
    /// device.
    pub(super) fn may_read(&mut self, file: &OwnedFd, extent: Option<&Range<u64>>) -> bool {
        if !self.is_cold || !self.reader.reads_anywhere() || self.turn.is_some() {
            return true;
        }
        let Ok(stat) = rustix::fs::fstat(file) else { return true };
        let all = 0..stat.st_size.cast_unsigned();
        let part = extent.unwrap_or(&all);
        let is_long = all.end.min(part.end).saturating_sub(part.start) > Buffer::CAPACITY as u64;
        let is_regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        if is_long && is_regular && !cold::is_cached(file, part.start) {
            self.turn = self.core.devices.try_turn(stat.st_dev);
            self.refused = self.turn.is_none().then_some(stat.st_dev);
        }
        self.refused.is_none()
    }

    /// Asks once more for the turn that was refused, and waits for it where there is nothing else
    /// to do; false where there still is none.
    pub(super) fn ask_again(&mut self) -> bool {
        let Some(device) = self.refused else { return true };
        if self.is_idle() || self.core.queue.has_waiting() {
            self.keep_the_first();
        }
        self.turn = if self.is_idle() {
            self.shared.closing.borrow_mut().close();
            Some(self.core.devices.wait_for_turn(device))
        } else {
            self.core.devices.try_turn(device)
        };
        if self.turn.is_some() {
            self.refused = None;
        }
        self.refused.is_none()
    }

    /// The turn of a file that goes into a lane.
    pub(super) fn turn_of(&mut self, begun: &Begun) -> Option<Turn> {
        let turn = self.turn.take();
        if begun.is_whole() || turn.is_some() || !self.reader.reads_anywhere() {
            return turn;
        }
        // Where its beginning came from the medium, so will the rest, though nobody asked.
        self.cold_reads.are_new().then(|| {
            (self.came_from_medium, self.is_cold) = (true, true);
            self.core.devices.take_turn(begun.version.device())
        })
    }

    /// Gives back all jobs but the first, which waits for its device.
    pub(super) fn keep_the_first(&mut self) {
        let (job, pre_opened) = (self.jobs.pop_front(), self.pre_opened.pop_front());
        self.give_back();
        self.jobs.extend(job);
        self.pre_opened.extend(pre_opened);
    }
}
