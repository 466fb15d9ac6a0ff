//! What comes from a medium: planned first (`plan.rs`), then taken with a turn of its device
//! (`devices.rs`).

use std::time::Duration;

use super::Worker;
use crate::engine::devices::{self, Turn};
use crate::engine::look::Begun;
use crate::engine::plan::{Round, places_of};
use crate::engine::queue::{Planned, Task};
use crate::engine::read::cold;

impl Worker<'_> {
    /// Looks where the jobs that wait lie, if files come from a medium that has to seek, or long ones
    /// from any. (Where short ones come from one that does not, they are as fast in any order, and
    /// to look costs more than to open them.)
    pub(super) fn plan(&mut self) {
        let devices = &self.core.devices;
        if !self.is_cold || !(devices.have_seeks() || devices.are_read()) {
            return;
        }
        let mut jobs = self.core.queue.take_unplanned(self.number);
        if jobs.is_empty() {
            return;
        }
        // Folder by folder, and within one as its inodes lie.
        jobs.sort_by(|one, other| path(one).cmp(path(other)));
        let places = places_of(&jobs, &self.core.stop);
        self.core.queue.plan(self.number, jobs.into_iter().zip(places));
        self.core.devices.tell();
    }

    /// Takes planned jobs, with a turn of their device: whoever planned them had seen that files
    /// come from it.
    pub(super) fn take_planned(&mut self) -> Planned<Turn> {
        self.seen = self.core.devices.changes();
        let most = self.round.saturating_sub(self.lanes.len()).max(1);
        let devices = &self.core.devices;
        let room = |device| devices.try_turn(device);
        self.core.queue.take_planned(self.number, most, room, &mut self.jobs)
    }

    /// Opens the files of a round, and asks for what is short.
    pub(super) fn open_round(&mut self, Round { room: turn, bytes, is_long }: Round<Turn>) {
        match turn {
            Some(mut turn) if !is_long => {
                turn.ask(bytes, true, || self.open_jobs(true));
                self.turn = Some(turn);
            }
            turn => {
                self.open_jobs(false);
                self.turn = turn;
            }
        }
    }

    /// Notes how long a first read of a round took, which may have had to seek.
    pub(super) fn note_first_read(&mut self, took: Duration) {
        if took >= devices::SEEK && self.cold_reads.are_new() {
            self.came_from_medium = true;
            self.core.devices.note_seek();
        }
    }

    /// The turn of a file that goes into a lane: none if the rest of it is in the cache.
    pub(super) fn turn_of(&mut self, begun: &Begun) -> Option<Turn> {
        // One of a round of short ones leaves the turn to those that follow.
        if begun.is_whole() {
            return None;
        }
        let may_be_cold = self.turn.is_some() || self.came_from_medium;
        let is_cold = self.cold_reads.are_new()
            || (may_be_cold && !cold::is_cached(&begun.file, begun.position()));
        if !is_cold {
            return None;
        }
        (self.came_from_medium, self.is_cold) = (true, true);
        let turn = self.turn.take_if(|turn| turn.is_asking());
        let turn = turn.unwrap_or_else(|| self.core.devices.take_turn(begun.version.device()));
        Some(turn.for_stream())
    }
}

fn path(job: &Task) -> &[u8] {
    job.source.path().map_or(b"", |path| path.as_os_str().as_encoded_bytes())
}
