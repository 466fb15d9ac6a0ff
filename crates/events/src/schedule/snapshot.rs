//! Snapshots of pending events.

use super::{EventId, Full, Pending, Schedule};

/// Copies of pending events, to be stored. See [`Schedule::snapshot`] and [`Schedule::restore`].
///
/// With the feature `serde` it can be serialised if the payload can. The caller stores it. It does
/// not contain ids, which are valid in one schedule only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Snapshot<T> {
    /// The deadline and payload of each event, in the order in which they are due.
    pub events: Vec<(u64, T)>,
}

impl<T> Schedule<T> {
    /// Returns copies of the pending events in order.
    pub fn snapshot(&self) -> Snapshot<T>
    where
        T: Clone,
    {
        let copy = |event: Pending<'_, T>| (event.deadline, event.payload.clone());
        Snapshot { events: self.iter().map(copy).collect() }
    }

    /// Adds the events of a snapshot in order, and returns their new ids. A snapshot has no idle
    /// events.
    ///
    /// # Errors
    /// Fails if the bound is reached, and returns the remaining events. The previous ones are
    /// added.
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
