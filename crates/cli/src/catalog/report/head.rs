//! The head of a fixity report.

use std::collections::BTreeMap;
use std::fs;

use lanesum_catalog::{Catalog, CatalogError, FileFilter};
use lanesum_checksum::Algorithms;

use crate::catalog::standing::Standing;
use crate::catalog::status::has_finished;
use crate::catalog::times::DAY;

/// The number of days that a report covers by default.
const PERIOD: u32 = 90;

/// Period, host, version, and the state of the roots.
pub struct Head<'a> {
    /// The start of the period in seconds since 1970. It ends now.
    pub from: i64,
    pub host: String,
    pub version: &'static str,
    pub standing: &'a Standing,
    /// The amounts read in the period, by the ids of roots.
    reads: BTreeMap<i64, Reads>,
}

/// The amounts read in a period.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reads {
    /// The number of ended runs.
    pub runs: u64,
    pub files: u64,
    pub bytes: u64,
}

impl<'a> Head<'a> {
    /// Reads the head from the catalog.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn of(
        catalog: &Catalog,
        standing: &'a Standing,
        days: Option<u32>,
    ) -> Result<Self, CatalogError> {
        let from = standing.now - i64::from(days.unwrap_or(PERIOD)) * DAY;
        let mut reads: BTreeMap<i64, Reads> = BTreeMap::new();
        catalog.runs(from, &mut |run| {
            let known = reads.entry(run.root).or_default();
            known.runs += u64::from(has_finished(&run));
            known.files += run.files;
            known.bytes += run.bytes;
            Ok(())
        })?;
        Ok(Self { from, host: host(), version: env!("CARGO_PKG_VERSION"), standing, reads })
    }

    /// Returns the amounts read of a root in the period.
    pub fn reads(&self, root: i64) -> Reads {
        self.reads.get(&root).copied().unwrap_or_default()
    }
}

/// Returns the name of this machine.
fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname");
    let name = name.map(|name| name.trim().to_owned()).ok().filter(|name| !name.is_empty());
    name.unwrap_or_else(|| "unknown".to_owned())
}

/// Returns all algorithms of recorded digests.
///
/// # Errors
/// Errors of the catalog.
pub fn algorithms(catalog: &Catalog, standing: &Standing) -> Result<Algorithms, CatalogError> {
    let mut all = Algorithms::NONE;
    for it in &standing.roots {
        all = all.union(it.root.settings.algorithms);
        let mut filter = FileFilter::default();
        filter.root = Some(it.root.id());
        catalog.files(&filter, &mut |file| {
            let digests = file.recorded.digests.iter();
            all = all.union(digests.map(lanesum_list::Digest::algorithm).collect());
            Ok(())
        })?;
    }
    Ok(all)
}
