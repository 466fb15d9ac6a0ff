//! The amount to read of a root, and whether its limits allow that.

use std::path::Path;

use lanesum_checksum::engine::look_at;
use lanesum_checksum::walk::Entry;
use lanesum_list::Algorithms;
use rusqlite::Connection;

use crate::CatalogError;
use crate::root::Root;
use crate::settings::{DAY, Settings};
use crate::store::catalog::Catalog;
use crate::store::chunk::{LONG, in_one_go};
use crate::store::digests::set_of;
use crate::walk::walk_root;

/// Returns the bytes to read each day, with a tenth of the period in reserve.
fn a_day(bytes: u64, every_days: u32) -> u64 {
    let days = u128::from(every_days.max(1)) * 9;
    u64::try_from((u128::from(bytes) * 10).div_ceil(days)).unwrap_or(u64::MAX)
}

/// The amount to read of a root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Load {
    /// The bytes of its files.
    pub bytes: u64,
    /// The bytes that must be read at once: the longest file, or a chunk of it if its digests can
    /// be resumed.
    pub longest: u64,
}

impl Load {
    /// Checks that rate and hours of a root's settings are enough for this amount in its period.
    ///
    /// # Errors
    /// [`CatalogError::TooSlow`], [`CatalogError::TooShort`].
    pub fn check_capacity(&self, root: &Path, settings: &Settings) -> Result<(), CatalogError> {
        let (Self { bytes, longest }, every_days) = (*self, settings.every_days);
        let needed = a_day(bytes, every_days);
        let (Some(rate), Some(possible)) = (settings.rate, settings.bytes_a_day()) else {
            return Ok(());
        };
        let (root, window) = (root.to_owned(), settings.window);
        if possible < needed {
            return Err(CatalogError::TooSlow {
                root,
                bytes,
                every_days,
                needed,
                rate,
                window,
                possible,
            });
        }
        match window.filter(|window| window.seconds() < DAY) {
            Some(window) if possible < longest => {
                Err(CatalogError::TooShort { root, longest, rate, window, possible })
            }
            _ => Ok(()),
        }
    }

    fn with(self, size: i64, algorithms: Algorithms) -> Self {
        let (size, longest) = (size.max(0).cast_unsigned(), in_one_go(size, algorithms));
        Self { bytes: self.bytes.saturating_add(size), longest: self.longest.max(longest) }
    }

    /// Returns the amount of the records of a root.
    pub(crate) fn of(db: &Connection, root: &Root) -> Result<Self, CatalogError> {
        let longest = "SELECT f.algorithms, max(f.size), max(iif(f.size < ?2, f.size, 0)) \
                       FROM directory d JOIN file f ON f.directory = d.id WHERE d.root = ?1 \
                       GROUP BY 1";
        let mut statement = db.prepare_cached(longest)?;
        let mut rows = statement.query((root.id(), LONG))?;
        let mut load = Self::default();
        while let Some(row) = rows.next()? {
            let algorithms = set_of(row.get(0)?).unwrap_or(Algorithms::NONE);
            let algorithms = algorithms.union(root.settings.algorithms);
            load = load.with(row.get(1)?, algorithms).with(row.get(2)?, algorithms);
        }
        Ok(Self { bytes: root.bytes.max(0).cast_unsigned(), ..load })
    }

    /// Returns the amount of a directory that is not recorded, by a walk over it.
    ///
    /// # Errors
    /// A pattern of the settings is invalid.
    pub fn of_directory(directory: &Path, settings: &Settings) -> Result<Self, CatalogError> {
        let size = |entry| match entry {
            Entry::File(path) => look_at(&path).ok().map(|stat| stat.st_size),
            _ => None,
        };
        let Ok(directory) = directory.canonicalize() else { return Ok(Self::default()) };
        let sizes = walk_root(&directory, settings)?.filter_map(size);
        Ok(sizes.fold(Self::default(), |load, size| load.with(size, settings.algorithms)))
    }
}

impl Catalog {
    /// Returns the amount of the records of a root.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn load_of(&self, root: &Root) -> Result<Load, CatalogError> {
        Load::of(&self.db, root)
    }
}

#[cfg(test)]
mod tests {
    use lanesum_list::Algorithm;

    use super::*;

    #[test]
    fn capacity_counts_rate_hours_and_a_tenth_to_spare() {
        let window = Some("1:00-6:00".parse().unwrap());
        let settings = Settings { rate: Some(1_000_000), window, ..Settings::default() };
        assert_eq!(settings.bytes_a_day(), Some(18_000_000_000));
        // 18 GB on each of 81 days.
        let most = 18_000_000_000 * 81;
        let check = |settings: &Settings, bytes, longest| {
            Load { bytes, longest }.check_capacity(Path::new("/a"), settings).is_ok()
        };
        assert!(check(&settings, most, 18_000_000_000));
        assert!(!check(&settings, most + 81, 0));
        assert!(!check(&settings, most, 18_000_000_001), "a file has to fit the hours of a day");
        let all_day = Settings { window: None, ..settings.clone() };
        assert!(check(&all_day, most, u64::MAX));
        assert!(check(&Settings { rate: None, ..settings }, u64::MAX, u64::MAX));
    }

    #[test]
    fn a_long_file_is_read_in_chunks_where_its_digests_can_be_resumed() {
        let of = |size: i64, algorithm: Algorithm| {
            Load::default().with(1, algorithm.into()).with(size, algorithm.into()).longest
        };
        let long = LONG.cast_unsigned();
        assert_eq!(of(LONG - 1, Algorithm::Md5), long - 1);
        assert_eq!(of(LONG, Algorithm::Md5), 128 << 20);
        assert_eq!(of(LONG, Algorithm::Xxh128), long);
    }
}
