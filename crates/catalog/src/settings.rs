//! How a root is looked after: its settings, and what steers a scrub that runs.
//!
//! They are rows of their own, which a second process writes beside the one that scrubs; that one
//! reads them some times a second. So they survive whatever happens to either.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use lanesum_checksum::walk::Exclude;
use lanesum_list::{Algorithm, Algorithms};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use crate::CatalogError;
use crate::model::{Profile, Window};
use crate::store::digests::{number_of, set_of};
use crate::store::table::{SETTING, blob, int, or_null};

/// Seconds of a day.
pub(crate) const DAY: u32 = 24 * 60 * 60;

/// Names that programs leave for moments, and directories that file systems and systems keep.
pub const DEFAULT_EXCLUDES: [&str; 13] = [
    "@eaDir/",
    ".DS_Store",
    "Thumbs.db",
    "/lost+found/",
    "*.part",
    "*.crdownload",
    "*.tmp",
    "~$*",
    ".~lock.*#",
    ".*.sw[a-p]",
    "*-wal",
    "*-shm",
    "*-journal",
];

/// The name of the files whose patterns exclude what is in their directories.
pub const IGNORE_FILE: &str = ".lanesumignore";

/// How a root is looked after.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// How it treats deletions and replaced files.
    pub profile: Profile,
    /// The algorithms, all computed in one read. The default is MD5.
    pub algorithms: Algorithms,
    /// Each file is verified once in so many days. The default is 90.
    pub every_days: u32,
    /// The root is offline when more than this share of its files is missing, in percent, and more
    /// than 100. The default is 10; 100 allows everything.
    pub max_gone: u32,
    /// Patterns of what is left out, beside the default ones.
    pub exclude: Vec<OsString>,
    /// Whether [`DEFAULT_EXCLUDES`] are left out.
    pub default_excludes: bool,
    /// A scrub reads no more bytes in a second.
    pub rate: Option<u64>,
    /// A scrub reads in these hours alone.
    pub window: Option<Window>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            profile: Profile::Archive,
            algorithms: Algorithm::Md5.into(),
            every_days: 90,
            max_gone: 10,
            exclude: Vec::new(),
            default_excludes: true,
            rate: None,
            window: None,
        }
    }
}

/// What steers the scrubs of a root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Steering {
    /// Since when they are paused, in seconds since 1970.
    pub paused: Option<i64>,
    /// Since when a verification is asked for.
    pub requested: Option<i64>,
    /// Whether that one is to read everything, not what is due.
    pub requests_everything: bool,
}

/// Some settings to change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SettingsPatch {
    /// In place of the profile.
    pub profile: Option<Profile>,
    /// In place of the algorithms.
    pub algorithms: Option<Algorithms>,
    /// In place of the period.
    pub every_days: Option<u32>,
    /// In place of the share that may be missing.
    pub max_gone: Option<u32>,
    /// In place of the patterns.
    pub exclude: Option<Vec<OsString>>,
    /// In place of whether the default patterns count.
    pub default_excludes: Option<bool>,
    /// In place of the rate; none inside takes it away.
    pub rate: Option<Option<u64>>,
    /// In place of the hours; none inside takes them away.
    pub window: Option<Option<Window>>,
}

impl SettingsPatch {
    /// Whether nothing is to be changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The settings with these changes.
    #[must_use]
    pub fn apply(&self, settings: &Settings) -> Settings {
        Settings {
            profile: self.profile.unwrap_or(settings.profile),
            algorithms: self.algorithms.unwrap_or(settings.algorithms),
            every_days: self.every_days.unwrap_or(settings.every_days),
            max_gone: self.max_gone.unwrap_or(settings.max_gone),
            exclude: self.exclude.clone().unwrap_or_else(|| settings.exclude.clone()),
            default_excludes: self.default_excludes.unwrap_or(settings.default_excludes),
            rate: self.rate.unwrap_or(settings.rate),
            window: self.window.unwrap_or(settings.window),
        }
    }
}

impl Settings {
    /// A file is overdue that was not verified for more than so many days: the period, and a tenth
    /// of it or two days to catch up.
    #[must_use]
    pub fn overdue_after_days(&self) -> u32 {
        self.every_days.saturating_add((self.every_days / 10).max(2))
    }

    /// Bytes that may be read in a day; none without a rate.
    #[must_use]
    pub fn bytes_a_day(&self) -> Option<u64> {
        let seconds = self.window.map_or(DAY, Window::seconds);
        Some(self.rate?.saturating_mul(seconds.into()))
    }

    /// The patterns of what is left out.
    ///
    /// # Errors
    /// One of them is none.
    pub(crate) fn excludes(&self) -> Result<Exclude, CatalogError> {
        let defaults = DEFAULT_EXCLUDES.iter().filter(|_| self.default_excludes);
        let all = defaults.map(OsString::from).chain(self.exclude.iter().cloned());
        Exclude::new(all).map_err(|error| CatalogError::Pattern(error.to_string()))
    }

    pub(crate) fn put(
        &self,
        steering: &Steering,
        db: &Connection,
        root: i64,
    ) -> Result<(), CatalogError> {
        let [opens, closes] = match self.window.map(Window::minutes) {
            Some([opens, closes]) => [int(opens), int(closes)],
            None => [ValueRef::Null; 2],
        };
        let rate = self.rate.map(|rate| rate.try_into().unwrap_or(i64::MAX));
        let exclude: Vec<_> = self.exclude.iter().map(|it| it.as_bytes()).collect();
        let exclude = exclude.join(&b'\n');
        SETTING.put(
            db,
            &[
                int(root),
                int(self.profile as i64),
                int(number_of(self.algorithms)?),
                int(self.every_days.into()),
                int(self.max_gone.into()),
                blob(&exclude),
                int(self.default_excludes.into()),
                or_null(rate, int),
                opens,
                closes,
                or_null(steering.paused, int),
                or_null(steering.requested, int),
                int(steering.requests_everything.into()),
            ],
        )
    }

    /// Those of a root. All rows are looked at: with a flipped bit in its key a pause would be
    /// another root's.
    pub(crate) fn of(db: &Connection, root: i64) -> Result<(Self, Steering), CatalogError> {
        let all = SETTING.query(db, "", [], |row| {
            let is_it = row.get::<_, i64>(0)? == root;
            is_it.then(|| Self::read(row)).transpose()
        })?;
        let found = all.into_iter().flatten().next();
        found.ok_or_else(|| CatalogError::Damaged(format!("root {root} has no settings")))
    }

    fn read(row: &Row<'_>) -> Result<(Self, Steering), CatalogError> {
        let root: i64 = row.get(0)?;
        let damaged = |what: &str| CatalogError::Damaged(format!("root {root} has {what}"));
        let number = |place| -> Result<u32, CatalogError> {
            row.get::<_, i64>(place)?.try_into().map_err(|_| damaged("a setting out of range"))
        };
        let rate: Option<i64> = row.get(7)?;
        let rate = rate.map(u64::try_from).transpose().map_err(|_| damaged("a negative rate"))?;
        let window = match (row.get::<_, Option<i64>>(8)?, row.get::<_, Option<i64>>(9)?) {
            (Some(opens), Some(closes)) => {
                Some(Window::new(opens, closes).ok_or_else(|| damaged("invalid hours"))?)
            }
            _ => None,
        };
        let exclude: Vec<u8> = row.get(5)?;
        let exclude = exclude.split(|&byte| byte == b'\n').filter(|it| !it.is_empty());
        let settings = Self {
            profile: Profile::from_number(row.get(1)?)
                .ok_or_else(|| damaged("an unknown profile"))?,
            algorithms: set_of(row.get(2)?).ok_or_else(|| damaged("unknown algorithms"))?,
            every_days: number(3)?,
            max_gone: number(4)?,
            exclude: exclude.map(|it| OsString::from_vec(it.to_vec())).collect(),
            default_excludes: row.get(6)?,
            rate,
            window,
        };
        let steering = Steering {
            paused: row.get(10)?,
            requested: row.get(11)?,
            requests_everything: row.get(12)?,
        };
        Ok((settings, steering))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_leaves_the_other_settings() {
        let settings = Settings { rate: Some(5), every_days: 7, ..Settings::default() };
        let patch = SettingsPatch { rate: Some(None), ..SettingsPatch::default() };
        assert_eq!(patch.apply(&settings), Settings { rate: None, ..settings });
        assert!(SettingsPatch::default().is_empty() && !patch.is_empty());
    }

    #[test]
    fn default_excludes_are_patterns() {
        let excludes = Settings::default().excludes().unwrap();
        for (path, is_directory) in [
            (&b"a/@eaDir"[..], true),
            (b"lost+found", true),
            (b"a/Thumbs.db", false),
            (b"x.part", false),
            (b"d/.~lock.a.odt#", false),
            (b"d/.notes.swp", false),
            (b"db-wal", false),
            (b"~$letter.docx", false),
        ] {
            assert!(excludes.matches(path, is_directory), "{}", path.escape_ascii());
        }
        for path in [&b"a/lost+found"[..], b"partly", b"a.parts", b"wal"] {
            assert!(!excludes.matches(path, true), "{}", path.escape_ascii());
        }
    }
}
