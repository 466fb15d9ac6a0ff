//! The files of a root by when they are due, in memory.

use std::collections::BTreeSet;
use std::io;

use jiff::tz::TimeZone;
use lanesum_events::{EventId, Schedule};

use crate::CatalogError;
use crate::due::{BATCH, DAY, cost};
use crate::model::{midnight, next_midnight};
use crate::settings::{Settings, Steering};

/// Bytes of a part of a round.
const PART: i64 = 8 << 30;
/// Between the beginnings of two rounds.
pub(super) const ROUND: i64 = 60 * 60;

/// When a root has something to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Next {
    /// Now.
    Now,
    /// Not before this time in seconds since 1970.
    At(i64),
    /// Not before its scrubs are resumed.
    Paused,
}

/// The files of a root, by when they are due.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// Ids of the files that are ok, by their due times in seconds since 1970.
    schedule: Schedule<u32>,
    /// Ids of the others.
    bad: BTreeSet<u32>,
    /// The day whose first round was begun, by its midnight.
    pub(super) day: i64,
    /// The next round does not begin before.
    pub(super) rest: i64,
    /// Files that are due later than this are not held.
    pub(super) horizon: Option<i64>,
}

/// Files that are to be read now.
#[derive(Debug, Default)]
pub(super) struct Claimed {
    events: Vec<(EventId, u32)>,
    pub(super) bad: Vec<u32>,
    /// Of the files that are ok.
    pub(super) bytes: i64,
    /// Their share of the day's budget.
    pub(super) cost: i64,
}

impl Claimed {
    pub(super) fn files(&self) -> usize {
        self.events.len() + self.bad.len()
    }

    /// In the order in which they are read.
    pub(super) fn ids(&self) -> Vec<i64> {
        let mut ids: Vec<i64> = self.events.iter().map(|&(_, id)| i64::from(id)).collect();
        ids.sort_unstable();
        // Files that are not ok come last, so that they do not use up the hours. They are sorted.
        ids.extend(self.bad.iter().map(|&id| i64::from(id)));
        ids
    }
}

impl Queue {
    /// Holds a recorded file.
    pub(super) fn add(&mut self, id: u32, is_ok: bool, due: i64) -> Result<(), CatalogError> {
        if !is_ok {
            self.bad.insert(id);
        } else if self.horizon.is_none_or(|horizon| due < horizon) {
            self.schedule.add(seconds(due), id).map_err(|_| too_many())?;
        }
        Ok(())
    }

    /// When the first file is due.
    pub(super) fn head(&mut self) -> Option<i64> {
        self.schedule.next_deadline().map(|at| at.try_into().unwrap_or(i64::MAX))
    }

    /// Whether files are later than a day.
    pub(super) fn is_late(&mut self, now: i64) -> bool {
        self.head().is_some_and(|head| head < now - DAY)
    }

    /// When there is something to be read; `left` are bytes of the day's budget.
    pub(super) fn next(
        &mut self,
        (settings, steering): (&Settings, &Steering),
        is_asked: bool,
        now: i64,
        left: i64,
        zone: &TimeZone,
    ) -> Next {
        if steering.paused.is_some() {
            return Next::Paused;
        }
        if let Some(window) = settings.window.filter(|_| !is_asked) {
            let open = window.next_open(now, zone);
            if open > now {
                return Next::At(open);
            }
        }
        if self.day != midnight(now, zone) {
            return Next::Now;
        }
        let tomorrow = next_midnight(now, zone);
        let begins = match self.head() {
            Some(head) if left > 0 => head.max(self.rest),
            _ => tomorrow,
        };
        if begins <= now { Next::Now } else { Next::At(begins.min(tomorrow)) }
    }

    /// Takes files to be read now, as far as the budget goes and one file more. `size` gives none
    /// of a file that is not there. Files that are not ok do not count. Where `goes_on` says false,
    /// the part ends with those that were taken.
    pub(super) fn claim(
        &mut self,
        now: i64,
        left: i64,
        zone: &TimeZone,
        mut size: impl FnMut(u32) -> Result<Option<i64>, CatalogError>,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Claimed, CatalogError> {
        let mut claimed = Claimed::default();
        let today = midnight(now, zone);
        if self.day != today {
            self.day = today;
            claimed.bad = self.bad.iter().copied().collect();
        }
        let most = left.min(PART);
        while claimed.cost < most && claimed.events.len() < BATCH {
            if !claimed.events.is_empty() && !goes_on() {
                break;
            }
            let Some(claim) = self.schedule.claim_due(seconds(now)) else { break };
            let (event, id) = (claim.id, *claim.payload);
            if let Some(size) = size(id)? {
                claimed.bytes += size;
                claimed.cost += cost(size);
            }
            claimed.events.push((event, id));
        }
        Ok(claimed)
    }

    /// Puts claimed files back. `known` says of each whether it is ok, and when it is due; none of
    /// a file whose record is gone.
    pub(super) fn put_back(
        &mut self,
        claimed: Claimed,
        now: i64,
        was_whole: bool,
        mut known: impl FnMut(u32) -> Result<Option<(bool, i64)>, CatalogError>,
    ) -> Result<(), CatalogError> {
        if !was_whole {
            // The day's first round is to be done again.
            self.day = i64::MIN;
        }
        for (event, id) in claimed.events {
            match known(id)? {
                // Its record is gone.
                None => _ = self.schedule.cancel(event),
                Some((false, _)) => {
                    self.schedule.cancel(event);
                    self.bad.insert(id);
                }
                Some((true, due)) if due > now => {
                    if self.horizon.is_none_or(|horizon| due < horizon) {
                        self.schedule.reschedule(event, seconds(due));
                    } else {
                        self.schedule.cancel(event);
                    }
                }
                // It was not read, because it was not at its path, for example.
                Some((true, _)) if was_whole => {
                    _ = self.schedule.reschedule(event, seconds(now + ROUND));
                }
                Some((true, due)) => _ = self.schedule.reschedule(event, seconds(due)),
            }
        }
        for id in claimed.bad {
            match known(id)? {
                None => _ = self.bad.remove(&id),
                Some((false, _)) => {}
                Some((true, due)) => {
                    self.bad.remove(&id);
                    self.add(id, true, due)?;
                }
            }
        }
        Ok(())
    }

    /// The files that it holds.
    pub(super) fn files(&self) -> usize {
        self.schedule.len() + self.bad.len()
    }
}

fn seconds(at: i64) -> u64 {
    at.max(0).cast_unsigned()
}

pub(super) fn too_many() -> CatalogError {
    let why = "a daemon cannot hold more than four thousand million files";
    CatalogError::io("the catalog")(io::Error::other(why))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
