//! The model: records, entries, classes, and the two decisions, as pure functions without I/O.

mod class;
mod finding;
mod judge;
mod pair;
mod renamed;
mod stat;
mod window;

pub use class::{Attention, Class, Profile, Reason};
pub use finding::{Content, Finding};
pub(crate) use judge::{Known, Read, Second, Verdict, judge};
pub(crate) use pair::{Entry, Loose, Pairing, agree, match_content, pair};
pub(crate) use renamed::Renamed;
pub use stat::Stat;
pub(crate) use stat::nanoseconds;
pub use window::{Window, midnight};
