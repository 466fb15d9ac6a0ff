//! What a fixity report begins with.

use std::collections::BTreeMap;
use std::fs;

use lanesum_catalog::{Catalog, CatalogError, FileFilter};
use lanesum_checksum::Algorithms;

use crate::catalog::standing::Standing;
use crate::catalog::status::has_finished;
use crate::catalog::times::DAY;

/// Days that a report covers by default.
const PERIOD: u32 = 90;

/// Period, host, version, and how the roots stand.
pub struct Head<'a> {
    /// Seconds since 1970 at which the period begins; it ends now.
    pub from: i64,
    pub host: String,
    pub version: &'static str,
    pub standing: &'a Standing,
    /// By the ids of roots, what was read in the period.
    reads: BTreeMap<i64, Reads>,
}

/// What was read in a period.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reads {
    /// Runs that ended.
    pub runs: u64,
    pub files: u64,
    pub bytes: u64,
}

impl<'a> Head<'a> {
    /// Reads it from the catalog.
    ///
    /// # Errors
    /// Those of the catalog.
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

    /// What was read of a root in the period.
    pub fn reads(&self, root: i64) -> Reads {
        self.reads.get(&root).copied().unwrap_or_default()
    }
}

/// The name of this machine.
fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname");
    let name = name.map(|name| name.trim().to_owned()).ok().filter(|name| !name.is_empty());
    name.unwrap_or_else(|| "unknown".to_owned())
}

/// All algorithms of recorded digests.
///
/// # Errors
/// Those of the catalog.
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
