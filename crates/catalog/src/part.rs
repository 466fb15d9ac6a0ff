//! Parts of a day's scrub. Between two parts, a daemon lets other commands use the catalog.

use jiff::tz::TimeZone;

use crate::CatalogError;
pub use crate::due::Position;
use crate::due::{Most, plan};
use crate::model::midnight;
use crate::options::Selection;
use crate::root::Root;
use crate::store::catalog::Catalog;

/// Due files of a root that one run reads: at most ten thousand, or 8 GiB.
#[derive(Debug)]
#[non_exhaustive]
pub struct Part {
    /// Its files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Whether another part follows at once.
    pub goes_on: bool,
    /// The number of due files that the day's budget leaves for another day.
    pub left: u64,
    /// The position of its last file.
    pub end: Position,
    pub(crate) ids: Vec<i64>,
}

impl Catalog {
    /// Chooses the next part of a root's due files, after the end of the last part and within the
    /// budget of the day, which starts at midnight of the time zone.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn next_part(
        &self,
        root: &Root,
        after: Position,
        zone: &TimeZone,
        now: i64,
    ) -> Result<Part, CatalogError> {
        let span = (midnight(now, zone) - 1, now);
        let plan = plan(self, root, &Selection::default(), span, Most::part(after))?;
        Ok(Part {
            files: plan.ids.len() as u64,
            bytes: plan.bytes.max(0).cast_unsigned(),
            goes_on: plan.goes_on,
            left: plan.left,
            end: plan.end,
            ids: plan.ids,
        })
    }
}
