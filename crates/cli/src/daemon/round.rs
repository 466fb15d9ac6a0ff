//! Chooses the next action of the daemon for a root: a pure function of the root's state and of
//! what was done today.
//!
//! | the root | next |
//! |---|---|
//! | is paused | nothing |
//! | went offline, or is back | a scan, which records that |
//! | has a request to verify it as a whole | a verification of all files |
//! | has a request, or is in its hours, and was not updated today | an update |
//! | the same, and it is online and was not read today | the due files, part after part |
//! | otherwise | nothing |
//!
//! A day is identified by its start in seconds since 1970.

use lanesum_catalog::{Halt, Position, Reason, Root, Steering, Summary, Verb};

/// The reason why a root is offline, and the number of its missing files.
type Away = (Reason, u64);

fn away(root: &Root) -> Option<Away> {
    root.offline.as_ref().map(|it| (it.reason, it.missing))
}

/// The state of a root.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    pub steering: Steering,
    /// The stored state.
    offline: Option<Away>,
    /// The reason why the directory is not the recorded one now, if so.
    why_offline: Option<Reason>,
    /// Whether the time is within its hours.
    is_open: bool,
    today: i64,
}

impl Standing {
    /// Returns the current state of a root.
    pub fn of(root: &Root, is_open: bool, today: i64) -> Self {
        let why_offline = root.why_offline();
        // Such a root may be empty.
        let may_be_empty = root.settings.max_gone >= 100;
        let why_offline = why_offline.filter(|why| !(*why == Reason::Empty && may_be_empty));
        Self { steering: root.steering, offline: away(root), why_offline, is_open, today }
    }

    /// Returns whether an update may read the root now, within its hours or not.
    pub fn may_be_updated(&self) -> bool {
        self.steering.paused.is_none() && self.why_offline.is_none()
    }

    /// Returns whether the root may be read now.
    fn may_be_read(&self) -> bool {
        let is_time = self.is_open || self.steering.requested.is_some();
        is_time && self.may_be_updated()
    }
}

/// The next action for a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Todo {
    Nothing,
    Scan,
    Update,
    Verify,
    /// Reads a part of the due files.
    Due,
}

/// The result of a run over a root.
#[derive(Clone, Copy, Debug)]
pub struct Ran {
    verb: Verb,
    offline: Option<Away>,
    halt: Option<Halt>,
}

impl Ran {
    pub fn of(summary: &Summary) -> Self {
        Self { verb: summary.verb, offline: away(&summary.root), halt: summary.halt }
    }

    const fn is_complete(self) -> bool {
        self.offline.is_none() && self.halt.is_none()
    }
}

/// The actions for a root today.
#[derive(Debug, Default)]
pub struct Round {
    /// The day of the last update.
    updated: Option<i64>,
    /// Whether that update was complete.
    is_whole: bool,
    /// The day on which all due files were read.
    read: Option<i64>,
    /// The end of today's last part.
    pub after: Position,
    /// The request that is being handled.
    request: Option<i64>,
    /// The number of missing files when the root was left alone because of them.
    missing: Option<u64>,
}

impl Round {
    /// Restarts the day for a new request. Returns whether there is one.
    pub fn accept(&mut self, steering: &Steering) -> bool {
        let is_new = steering.requested.is_some() && steering.requested != self.request;
        self.request = steering.requested;
        if is_new {
            (self.updated, self.read) = (None, None);
        }
        is_new
    }

    /// Returns the next action.
    pub fn next(&mut self, it: &Standing) -> Todo {
        let is_away = it.why_offline.is_some() && it.why_offline == it.offline.map(|it| it.0);
        if it.steering.paused.is_some() || is_away {
            return Todo::Nothing;
        }
        let is_known = match it.offline {
            // Only a scan shows whether the files are back, and one scan is enough.
            Some((Reason::TooManyMissing, missing)) => self.missing == Some(missing),
            offline => offline.is_none(),
        };
        let (steering, is_online) = (&it.steering, it.offline.is_none());
        if it.why_offline.is_some() || !is_known {
            Todo::Scan
        } else if steering.requested.is_some() && steering.requests_everything && is_online {
            Todo::Verify
        } else if it.may_be_read() && self.updated != Some(it.today) {
            Todo::Update
        } else if it.may_be_read() && is_online && self.read != Some(it.today) {
            Todo::Due
        } else {
            Todo::Nothing
        }
    }

    /// Records the result of a run on this day.
    pub fn note(&mut self, ran: Ran, today: i64) {
        let missing = ran.offline.filter(|(reason, _)| *reason == Reason::TooManyMissing);
        self.missing = missing.map(|(_, missing)| missing);
        match ran.verb {
            // An interrupted run is repeated, but not one with too many edits.
            Verb::Update if matches!(ran.halt, None | Some(Halt::TooManyEdits { .. })) => {
                (self.updated, self.is_whole) = (Some(today), ran.is_complete());
                self.after = Position::default();
            }
            Verb::Scrub if ran.is_complete() => self.read = Some(today),
            _ => {}
        }
    }

    /// Returns whether the day's work is done: the update was complete, and all due files were
    /// read.
    pub fn is_done(&self, today: i64) -> bool {
        self.is_whole && self.updated == Some(today) && self.read == Some(today)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TODAY: i64 = 86_400;
    const LOST: Away = (Reason::TooManyMissing, 200);

    fn open() -> Standing {
        Standing { is_open: true, today: TODAY, ..Standing::default() }
    }

    fn requested(at: i64, requests_everything: bool) -> Steering {
        let mut steering = Steering::default();
        (steering.requested, steering.requests_everything) = (Some(at), requests_everything);
        steering
    }

    fn ran(verb: Verb, halt: Option<Halt>) -> Ran {
        Ran { verb, offline: None, halt }
    }

    #[test]
    fn a_day_is_an_update_and_then_parts() {
        let mut round = Round::default();
        assert_eq!(round.next(&open()), Todo::Update);
        round.note(ran(Verb::Update, Some(Halt::Stopped)), TODAY);
        assert_eq!(round.next(&open()), Todo::Update, "it was interrupted");
        round.note(ran(Verb::Update, None), TODAY);
        assert_eq!(round.next(&open()), Todo::Due);
        round.note(ran(Verb::Scrub, Some(Halt::Part)), TODAY);
        assert!(!round.is_done(TODAY));
        assert_eq!(round.next(&open()), Todo::Due);
        round.note(ran(Verb::Scrub, None), TODAY);
        assert!(round.is_done(TODAY));
        assert_eq!(round.next(&open()), Todo::Nothing);
        let tomorrow = Standing { today: 2 * TODAY, ..open() };
        assert_eq!(round.next(&tomorrow), Todo::Update);
        assert!(!round.is_done(2 * TODAY));
    }

    #[test]
    fn hours_count_unless_a_run_is_requested() {
        let mut round = Round::default();
        let mut closed = Standing { is_open: false, ..open() };
        assert_eq!(round.next(&closed), Todo::Nothing);
        closed.steering = requested(7, false);
        assert!(round.accept(&closed.steering) && !round.accept(&closed.steering));
        assert_eq!(round.next(&closed), Todo::Update);
        round.note(ran(Verb::Update, None), TODAY);
        assert_eq!(round.next(&closed), Todo::Due);
        // A second request on the same day.
        closed.steering = requested(8, false);
        assert!(round.accept(&closed.steering));
        assert_eq!(round.next(&closed), Todo::Update);
    }

    #[test]
    fn a_request_for_everything_comes_before_the_update() {
        let mut round = Round::default();
        let standing = Standing { steering: requested(7, true), ..open() };
        assert_eq!(round.next(&standing), Todo::Verify);
    }

    #[test]
    fn a_paused_root_is_left_alone() {
        let mut round = Round::default();
        let mut steering = requested(7, true);
        steering.paused = Some(8);
        assert_eq!(round.next(&Standing { steering, ..open() }), Todo::Nothing);
    }

    #[test]
    fn a_root_that_goes_and_comes_back_is_scanned_once_each() {
        let mut round = Round::default();
        let absent = Some(Reason::Missing);
        let gone = Standing { why_offline: absent, ..open() };
        assert_eq!(round.next(&gone), Todo::Scan);
        let away = Some((Reason::Missing, 0));
        round.note(Ran { verb: Verb::Scan, offline: away, halt: None }, TODAY);
        assert_eq!(round.next(&Standing { offline: away, ..gone }), Todo::Nothing);
        let other = Standing { why_offline: Some(Reason::Empty), offline: away, ..open() };
        assert_eq!(round.next(&other), Todo::Scan);
        assert_eq!(round.next(&Standing { offline: away, ..open() }), Todo::Scan);
    }

    #[test]
    fn a_root_with_too_many_missing_files_is_tried_once_a_day() {
        let mut round = Round::default();
        let lost = Standing { offline: Some(LOST), ..open() };
        assert_eq!(round.next(&lost), Todo::Scan, "the files may be back");
        round.note(Ran { verb: Verb::Scan, offline: Some(LOST), halt: None }, TODAY);
        assert_eq!(round.next(&lost), Todo::Update);
        round.note(Ran { verb: Verb::Update, offline: Some(LOST), halt: None }, TODAY);
        assert_eq!(round.next(&lost), Todo::Nothing);
        assert_eq!(round.next(&Standing { today: 2 * TODAY, ..lost }), Todo::Update);
    }

    #[test]
    fn an_update_with_too_many_edits_is_not_repeated_and_no_day_is_done() {
        let mut round = Round::default();
        let halt = Some(Halt::TooManyEdits { edited: 200, of: 200 });
        round.note(ran(Verb::Update, halt), TODAY);
        assert_eq!(round.next(&open()), Todo::Due);
        round.note(ran(Verb::Scrub, None), TODAY);
        assert!(!round.is_done(TODAY));
    }
}
