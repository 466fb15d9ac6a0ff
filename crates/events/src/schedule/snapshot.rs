//! Pending events outside a schedule.

use super::{EventId, Full, Pending, Schedule};

/// Pending events outside a schedule, to be stored: [`Schedule::snapshot`], [`Schedule::restore`].
///
/// With the feature `serde` it can be serialised if the payload can. Where and when it is stored is
/// the caller's business. Ids are not part of it: they name events of one schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Snapshot<T> {
    /// Deadline and payload of each event, in the order in which they are due.
    pub events: Vec<(u64, T)>,
}

impl<T> Schedule<T> {
    /// Copies of the pending events in order: what [`Snapshot`] can be stored and restored from.
    pub fn snapshot(&self) -> Snapshot<T>
    where
        T: Clone,
    {
        let copy = |event: Pending<'_, T>| (event.deadline, event.payload.clone());
        Snapshot { events: self.iter().map(copy).collect() }
    }

    /// Adds what a snapshot holds, in its order, and tells the new ids. Idle events were not in it.
    ///
    /// # Errors
    /// Gives back what is left when the bound is reached; what came before it has been added.
    pub fn restore(&mut self, snapshot: Snapshot<T>) -> Result<Vec<EventId>, Full<Snapshot<T>>> {
        let mut ids = Vec::with_capacity(snapshot.events.len());
        let mut events = snapshot.events.into_iter();
        while let Some((deadline, payload)) = events.next() {
            match self.add(deadline, payload) {
                Ok(id) => ids.push(id),
                Err(Full(payload)) => {
                    let left = std::iter::once((deadline, payload)).chain(events).collect();
                    return Err(Full(Snapshot { events: left }));
                }
            }
        }
        Ok(ids)
    }
}
