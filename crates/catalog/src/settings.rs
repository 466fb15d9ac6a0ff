//! The settings of a root, and the state that steers running scrubs.
//!
//! They are separate rows. A second process can write them while another one scrubs, which reads
//! them some times per second. So they survive crashes of both.

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

/// The number of seconds of a day.
pub(crate) const DAY: u32 = 24 * 60 * 60;

/// Names of temporary files, and of directories of file systems and systems.
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

/// The name of files with patterns that apply to their directories.
pub const IGNORE_FILE: &str = ".lanesumignore";

/// The settings of a root.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// How deletions and replaced files are treated.
    pub profile: Profile,
    /// The algorithms, all computed in one read. The default is MD5.
    pub algorithms: Algorithms,
    /// The period in days in which each file is verified once. The default is 90.
    pub every_days: u32,
    /// The root is offline if more than this percentage of its files, and more than 100, are
    /// missing. The default is 10; 100 allows everything.
    pub max_gone: u32,
    /// Patterns of excluded files, in addition to the default ones.
    pub exclude: Vec<OsString>,
    /// Whether [`DEFAULT_EXCLUDES`] are excluded.
    pub default_excludes: bool,
    /// The maximum number of bytes that a scrub reads per second.
    pub rate: Option<u64>,
    /// The hours in which a scrub reads.
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

/// The state that steers the scrubs of a root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Steering {
    /// The start of the pause in seconds since 1970, if they are paused.
    pub paused: Option<i64>,
    /// The time of a request to verify, if there is one.
    pub requested: Option<i64>,
    /// Whether the request is about all files instead of the due ones.
    pub requests_everything: bool,
}

/// Changes of settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SettingsPatch {
    /// The new profile.
    pub profile: Option<Profile>,
    /// The new algorithms.
    pub algorithms: Option<Algorithms>,
    /// The new period.
    pub every_days: Option<u32>,
    /// The new share of missing files.
    pub max_gone: Option<u32>,
    /// The new patterns.
    pub exclude: Option<Vec<OsString>>,
    /// Whether the default patterns apply.
    pub default_excludes: Option<bool>,
    /// The new rate. An inner none removes it.
    pub rate: Option<Option<u64>>,
    /// The new hours. An inner none removes them.
    pub window: Option<Option<Window>>,
}

impl SettingsPatch {
    /// Returns whether there are no changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the settings with these changes.
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
    /// Returns the age in days from which a file is overdue: the period, plus a tenth of it or two
    /// days to catch up.
    #[must_use]
    pub fn overdue_after_days(&self) -> u32 {
        self.every_days.saturating_add((self.every_days / 10).max(2))
    }

    /// Returns the bytes that may be read per day, or none without a rate.
    #[must_use]
    pub fn bytes_a_day(&self) -> Option<u64> {
        let seconds = self.window.map_or(DAY, Window::seconds);
        Some(self.rate?.saturating_mul(seconds.into()))
    }

    /// Returns the patterns of excluded files.
    ///
    /// # Errors
    /// A pattern is invalid.
    pub(crate) fn excludes(&self) -> Result<Exclude, CatalogError> {
        Exclude::new(self.patterns()).map_err(|error| CatalogError::Pattern(error.to_string()))
    }

    /// Returns the patterns, the default ones first.
    pub(crate) fn patterns(&self) -> Vec<OsString> {
        let defaults = DEFAULT_EXCLUDES.iter().filter(|_| self.default_excludes);
        defaults.map(OsString::from).chain(self.exclude.iter().cloned()).collect()
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

    /// Returns the settings of a root. All rows are verified, because a flipped bit in the key of a
    /// row could make it that of another root.
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
