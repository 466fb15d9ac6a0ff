//! How a scrub behaves: how fast it reads, in which hours, and whether it is paused.
//!
//! They are rows of the catalog, which whoever steers writes beside the process that scrubs, in a
//! transaction of its own; that process reads them once a second. So they survive whatever happens
//! to either, and the machine.

use std::path::Path;

use lanesum_checksum::engine::look_at;
use lanesum_checksum::walk::Entry;
use lanesum_list::Algorithms;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, TransactionBehavior};

use crate::catalog::writer;
use crate::digests::set_of;
use crate::long::{LONG, in_one_go};
use crate::root::Root;
use crate::scan::walk_root;
use crate::table::{MANNER, int, or_null};
use crate::window::Window;
use crate::{Catalog, CatalogError};

/// Seconds of a day.
const DAY: u32 = 24 * 60 * 60;

/// What of a root has to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Load {
    /// Bytes of all of its files.
    pub bytes: u64,
    /// Bytes that have to be read in one go, or none of them counts: those of a file, or of a
    /// stretch of a long one.
    pub longest: u64,
}

impl Load {
    /// With one more file, of which these digests are known.
    fn with(self, size: i64, known: Algorithms) -> Self {
        let (size, longest) = (size.max(0).cast_unsigned(), in_one_go(size, known));
        Self { bytes: self.bytes.saturating_add(size), longest: self.longest.max(longest) }
    }

    fn of(db: &Connection, root: &Root) -> Result<Self, CatalogError> {
        let longest = "SELECT f.algorithms, max(f.size), max(iif(f.size < ?2, f.size, 0)) \
                       FROM folder d JOIN file f ON f.folder = d.id WHERE d.root = ?1 GROUP BY 1";
        let mut statement = db.prepare_cached(longest)?;
        let mut rows = statement.query((root.id, LONG))?;
        let mut load = Self::default();
        while let Some(row) = rows.next()? {
            let known = set_of(row.get(0)?).unwrap_or(Algorithms::NONE);
            let known = known.union(root.policy.algorithms);
            load = load.with(row.get(1)?, known).with(row.get(2)?, known);
        }
        Ok(Self { bytes: root.bytes.max(0).cast_unsigned(), ..load })
    }
}

/// How a root is scrubbed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Manners {
    /// Bytes that are read in a second at most.
    pub rate: Option<u64>,
    /// The hours of the day in which it may be read.
    pub window: Option<Window>,
    /// Since when nothing is read, if somebody said so: seconds since 1970.
    pub paused: Option<i64>,
    /// When somebody asked to have read what is due, whatever the hours: seconds since 1970.
    pub asked: Option<i64>,
}

/// What of the manners is to be another; the rest stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// In so many days each file is read once.
    pub every_days: Option<u32>,
    /// Bytes a second; of `Some(None)` there is no limit from then on.
    pub rate: Option<Option<u64>>,
    /// Hours of the day; of `Some(None)` any.
    pub window: Option<Option<Window>>,
}

impl Change {
    /// Whether nothing is to be another.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// What these become.
    #[must_use]
    pub fn of(&self, manners: Manners) -> Manners {
        Manners {
            rate: self.rate.unwrap_or(manners.rate),
            window: self.window.unwrap_or(manners.window),
            ..manners
        }
    }
}

impl Manners {
    /// Bytes that may be read in a day; any number without a rate.
    #[must_use]
    pub fn bytes_a_day(&self) -> Option<u64> {
        let seconds = self.window.map_or(DAY, Window::seconds);
        Some(self.rate?.saturating_mul(seconds.into()))
    }

    /// That so much can be read in a period of so many days.
    ///
    /// # Errors
    /// [`CatalogError::TooSlow`] and [`CatalogError::TooShort`], with the arithmetic.
    pub fn hold(&self, root: &Path, load: Load, every_days: u32) -> Result<(), CatalogError> {
        let Load { bytes, longest } = load;
        let needed = a_day(bytes, every_days);
        let (Some(rate), Some(possible)) = (self.rate, self.bytes_a_day()) else { return Ok(()) };
        if possible < needed {
            return Err(CatalogError::TooSlow {
                root: root.to_owned(),
                bytes,
                every_days,
                needed,
                rate,
                window: self.window,
                possible,
            });
        }
        match self.window.filter(|window| window.seconds() < DAY) {
            Some(window) if possible < longest => {
                let root = root.to_owned();
                Err(CatalogError::TooShort { root, longest, rate, window, possible })
            }
            _ => Ok(()),
        }
    }

    fn put(&self, db: &Connection, root: i64) -> Result<(), CatalogError> {
        let [opens, closes] = match self.window.map(Window::minutes) {
            Some([opens, closes]) => [int(opens), int(closes)],
            None => [ValueRef::Null; 2],
        };
        let rate = self.rate.map(|rate| rate.try_into().unwrap_or(i64::MAX));
        let (paused, asked) = (or_null(self.paused, int), or_null(self.asked, int));
        MANNER.put(db, &[int(root), or_null(rate, int), opens, closes, paused, asked])
    }

    pub(crate) fn of(db: &Connection, root: i64) -> Result<Self, CatalogError> {
        // All of them: with a flipped bit in its key a pause would be another root's.
        let sql = format!("SELECT {} FROM manner t", MANNER.select("t"));
        let mut statement = db.prepare_cached(&sql)?;
        let mut rows = statement.query([])?;
        let mut manners = Self::default();
        while let Some(row) = rows.next()? {
            MANNER.verify(row, 0)?;
            if row.get::<_, i64>(0)? == root {
                manners = Self::read(row)?;
            }
        }
        Ok(manners)
    }

    fn read(row: &Row<'_>) -> Result<Self, CatalogError> {
        let root: i64 = row.get(0)?;
        let damaged = |what: &str| CatalogError::Damaged(format!("root {root} has {what}"));
        let rate: Option<i64> = row.get(1)?;
        let rate = rate.map(u64::try_from).transpose().map_err(|_| damaged("a negative rate"))?;
        let window = match (row.get::<_, Option<i64>>(2)?, row.get::<_, Option<i64>>(3)?) {
            (Some(opens), Some(closes)) => {
                Some(Window::new(opens, closes).ok_or_else(|| damaged("hours that are none"))?)
            }
            _ => None,
        };
        Ok(Self { rate, window, paused: row.get(4)?, asked: row.get(5)? })
    }
}

/// Bytes a day that a root has to be read with: its files come round in nine tenths of the period.
fn a_day(bytes: u64, every_days: u32) -> u64 {
    let days = u128::from(every_days.max(1)) * 9;
    u64::try_from((u128::from(bytes) * 10).div_ceil(days)).unwrap_or(u64::MAX)
}

impl Catalog {
    /// How a root is scrubbed.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn manners(&self, root: &Root) -> Result<Manners, CatalogError> {
        Manners::of(&self.db, root.id)
    }

    /// What of a root has to be read, as it is cataloged.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn load_of(&self, root: &Root) -> Result<Load, CatalogError> {
        Load::of(&self.db, root)
    }

    /// What of a folder would have to be read as it is now, for these digests, as far as its files
    /// can be looked at.
    #[must_use]
    pub fn load_in(folder: &Path, algorithms: Algorithms) -> Load {
        let size = |entry| match entry {
            Entry::File(path) => look_at(&path).ok().map(|stat| stat.st_size),
            _ => None,
        };
        let Ok(folder) = folder.canonicalize() else { return Load::default() };
        let sizes = walk_root(&folder).filter_map(size);
        sizes.fold(Load::default(), |load, size| load.with(size, algorithms))
    }
}

/// Steers scrubs of a catalog, also those of another process, which see it within a second or two.
///
/// It needs no lock, and waits for a commit of others for ten seconds at most. What a call did is
/// on the medium when it returns.
#[derive(Debug)]
pub struct Control {
    db: Connection,
}

impl Control {
    /// Opens a catalog to steer what is done with it.
    ///
    /// # Errors
    /// As of [`Catalog::look`]; and that nothing can be written there.
    pub fn open(path: &Path) -> Result<Self, CatalogError> {
        // It is the right kind of file, and migrated.
        Catalog::look(path)?;
        Ok(Self { db: writer(path)? })
    }

    fn change<T>(
        &mut self,
        root: &Root,
        change: impl FnOnce(&Transaction<'_>, &mut Root, &mut Manners) -> Result<T, CatalogError>,
    ) -> Result<T, CatalogError> {
        let transaction = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let known = Root::find(&transaction, root.id)?;
        // Somebody may have forgotten it since it was looked up.
        let mut known = known.ok_or_else(|| CatalogError::NoRoot(root.path.clone()))?;
        let mut manners = Manners::of(&transaction, root.id)?;
        let before = (known.clone(), manners);
        let result = change(&transaction, &mut known, &mut manners)?;
        if known != before.0 {
            known.put(&transaction)?;
        }
        if manners != before.1 {
            manners.put(&transaction, root.id)?;
        }
        transaction.commit()?;
        Ok(result)
    }

    /// Lets nothing of a root be scrubbed until [`resume`](Self::resume), also after the machine
    /// was off. Since when, which is earlier than now where it was paused already.
    ///
    /// # Errors
    /// [`CatalogError::NoRoot`] where it was forgotten; and those of the catalog.
    pub fn pause(&mut self, root: &Root, now: i64) -> Result<i64, CatalogError> {
        self.change(root, |_, _, manners| Ok(*manners.paused.get_or_insert(now)))
    }

    /// Lets a root be scrubbed again; since when it was paused, if it was.
    ///
    /// # Errors
    /// [`CatalogError::NoRoot`] where it was forgotten; and those of the catalog.
    pub fn resume(&mut self, root: &Root) -> Result<Option<i64>, CatalogError> {
        self.change(root, |_, _, manners| Ok(manners.paused.take()))
    }

    /// Asks a daemon to read what is due of a root, whatever the hours.
    ///
    /// # Errors
    /// [`CatalogError::NoRoot`] where it was forgotten; and those of the catalog.
    pub fn check_now(&mut self, root: &Root, now: i64) -> Result<(), CatalogError> {
        self.change(root, |_, _, manners| {
            manners.asked = Some(now);
            Ok(())
        })
    }

    /// Notes that what was asked for is done; of a root that was forgotten since, nothing.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn was_checked(&mut self, root: &Root, asked: i64) -> Result<(), CatalogError> {
        let noted = self.change(root, |_, _, manners| {
            manners.asked = manners.asked.filter(|&at| at > asked);
            Ok(())
        });
        match noted {
            Err(CatalogError::NoRoot(_)) => Ok(()),
            noted => noted,
        }
    }

    /// Changes how a root is scrubbed, for a run that is at work as well.
    ///
    /// # Errors
    /// As of [`Manners::hold`], and then nothing is another; [`CatalogError::NoRoot`] where it was
    /// forgotten; and those of the catalog.
    pub fn limit(&mut self, root: &Root, change: &Change) -> Result<Manners, CatalogError> {
        self.change(root, |db, known, manners| {
            *manners = change.of(*manners);
            known.policy.every_days = change.every_days.unwrap_or(known.policy.every_days);
            if manners.rate.is_some() {
                manners.hold(&root.path, Load::of(db, known)?, known.policy.every_days)?;
            }
            Ok(*manners)
        })
    }

    /// The last event that somebody was called for, if [`set_called`](Self::set_called) said so.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn called(&self) -> Result<Option<i64>, CatalogError> {
        let found = crate::catalog::get(&self.db, CALLED)?;
        found
            .map(|bytes| {
                let bytes: [u8; 8] = bytes.try_into().map_err(|_| {
                    CatalogError::Damaged(format!("`{CALLED}` in the table meta is no number"))
                })?;
                Ok(i64::from_le_bytes(bytes))
            })
            .transpose()
    }

    /// Notes that somebody was called for all events up to this.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn set_called(&mut self, event: i64) -> Result<(), CatalogError> {
        use crate::table::{META, blob, text};
        META.put(&self.db, &[text(CALLED), blob(&event.to_le_bytes())])
    }

    /// The number of the last event.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn last_event(&self) -> Result<i64, CatalogError> {
        let sql = "SELECT max(id) FROM event";
        let found: Option<Option<i64>> = self.db.query_row(sql, [], |row| row.get(0)).optional()?;
        Ok(found.flatten().unwrap_or(0))
    }
}

/// The key of the last event that somebody was called for.
const CALLED: &str = "called";

#[cfg(test)]
mod tests {
    use lanesum_list::Algorithm;

    use super::*;

    #[test]
    fn what_rate_and_hours_cannot_hold_is_refused_with_the_arithmetic() {
        let window = Some("1:00-6:00".parse().unwrap());
        let manners = Manners { rate: Some(1_000_000), window, ..Manners::default() };
        assert_eq!(manners.bytes_a_day(), Some(18_000_000_000));
        // 18 GB on each of 81 days.
        let most = 18_000_000_000 * 81;
        let hold = |manners: &Manners, bytes, longest| {
            manners.hold(Path::new("/a"), Load { bytes, longest }, 90).map_err(|it| it.to_string())
        };
        assert_eq!(hold(&manners, most, 0), Ok(()));
        let refused = hold(&manners, most + 81, 0).unwrap_err();
        assert_eq!(
            refused,
            "/a: 1.46 TB in 90 d, a tenth of them to spare, are 18.00 GB a day, and 1.00 MB a second \
             in 1:00-6:00 are 18.00 GB a day; give a higher --limit, longer hours or a longer --every"
        );
        assert_eq!(hold(&Manners { rate: None, ..manners }, u64::MAX, u64::MAX), Ok(()));
        // A file counts only if it is read to its end in the hours of one day.
        assert_eq!(hold(&manners, most, 18_000_000_000), Ok(()));
        assert_eq!(
            hold(&manners, most, 18_000_000_001).unwrap_err(),
            "/a: 18.00 GB of a file have to be read in one go, and 1.00 MB a second in 1:00-6:00 are \
             18.00 GB; give a higher --limit or longer hours"
        );
        for window in [None, "0:00-24:00".parse().ok()] {
            assert_eq!(hold(&Manners { window, ..manners }, most, u64::MAX), Ok(()));
        }
        let all_day = Manners { window: None, ..manners };
        assert_eq!(all_day.bytes_a_day(), Some(86_400_000_000));
    }

    #[test]
    fn a_long_file_is_not_read_in_one_go_where_a_state_of_its_digests_can_be_kept() {
        let of = |size: i64, algorithm: Algorithm| {
            Load::default().with(1, algorithm.into()).with(size, algorithm.into()).longest
        };
        let (long, stretch) = (LONG.cast_unsigned(), 128 << 20);
        assert_eq!(of(LONG - 1, Algorithm::Md5), long - 1);
        assert_eq!(of(LONG, Algorithm::Md5), stretch);
        assert_eq!(of(LONG, Algorithm::Xxh128), long);
        assert_eq!(of(0, Algorithm::Md5), 1);
    }

    #[test]
    fn a_change_leaves_the_rest() {
        let manners = Manners { rate: Some(5), paused: Some(7), ..Manners::default() };
        let window = "1:00-2:00".parse().ok();
        let change = Change { window: Some(window), ..Change::default() };
        assert_eq!(change.of(manners), Manners { window, ..manners });
        let none = Change { rate: Some(None), ..Change::default() };
        assert_eq!(none.of(manners), Manners { rate: None, ..manners });
        assert!(Change::default().is_nothing() && !none.is_nothing());
    }
}
