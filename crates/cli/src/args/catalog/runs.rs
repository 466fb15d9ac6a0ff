//! The arguments of the commands that scan or read the files of a catalog.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, ValueEnum, ValueHint};
use lanesum_catalog::{Profile, SettingsPatch};
use lanesum_checksum::Algorithm;

use super::Where;
use super::measures::{Hours, Rate, bytes, days, hours, percent, rate, time, whole_percent};
use crate::args::Run;
use crate::args::values::keyless_algorithms;

/// How a run reads and prints.
#[derive(Debug, Args)]
pub struct Reading {
    /// Print one JSON object a line: findings, then a summary of each directory.
    #[arg(long)]
    pub json: bool,

    /// Print no summary for directories without problems.
    #[arg(short, long)]
    pub quiet: bool,

    #[command(flatten)]
    pub place: Where,

    #[command(flatten)]
    pub run: Run,
}

/// Whether changes make the exit code 1.
#[derive(Clone, Copy, Debug, Args)]
pub struct Changes {
    /// Exit with 1 if there are edited, moved or new files.
    #[arg(long)]
    pub changes: bool,
}

/// How a directory is scrubbed.
#[derive(Debug, Args)]
pub struct Pace {
    /// Verify each file once per TIME, such as 90d, 12w or 1y.
    ///
    /// The default for new directories is 90d.
    #[arg(long, value_name = "TIME", value_parser = days, allow_hyphen_values = true)]
    pub every: Option<u32>,

    /// Scrub at most this many bytes a second: 80M; `none` for no limit.
    ///
    /// Other commands, such as `add`, `update` and `verify`, read without a limit.
    #[arg(long, value_name = "BYTES", value_parser = rate, allow_hyphen_values = true)]
    pub limit: Option<Rate>,

    /// Scrub in these hours of the day: 1:00-6:00; `any` for all.
    #[arg(long, value_name = "HOURS", value_parser = hours)]
    pub between: Option<Hours>,
}

impl Pace {
    /// Returns the given settings.
    pub fn patch(&self) -> SettingsPatch {
        let mut patch = SettingsPatch::default();
        patch.every_days = self.every;
        patch.rate = self.limit.map(|limit| limit.0);
        patch.window = self.between.map(|between| between.0);
        patch
    }
}

/// How deletions are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProfileName {
    /// A deleted or replaced file needs attention.
    Archive,
    /// A deleted or replaced file is a normal change, like an edit.
    Working,
}

impl From<ProfileName> for Profile {
    fn from(name: ProfileName) -> Self {
        match name {
            ProfileName::Archive => Self::Archive,
            ProfileName::Working => Self::Working,
        }
    }
}

#[derive(Debug, Args)]
pub struct Add {
    /// Treat deletions as in an archive or a working directory [default: archive].
    #[arg(long, value_name = "NAME", value_enum)]
    pub profile: Option<ProfileName>,

    /// Exclude matching files and directories; may be repeated.
    ///
    /// A GLOB without `/` matches a name at any depth. A GLOB with `/` matches a path below DIR. A
    /// GLOB that ends with `/` matches only directories. A file `.lanesumignore` has further
    /// patterns for its directory.
    #[arg(long, value_name = "GLOB", action = ArgAction::Append)]
    pub exclude: Vec<OsString>,

    /// Record temporary and system files, too.
    ///
    /// By default, `add` excludes @eaDir, .DS_Store, Thumbs.db, lost+found, *.part, *.crdownload,
    /// *.tmp, ~$*, .~lock.*#, .*.sw[a-p], *-wal, *-shm and *-journal.
    #[arg(long)]
    pub no_default_excludes: bool,

    /// Compute digests of ALG, all in one read [default: md5].
    ///
    /// If files were recorded with fewer algorithms, their missing digests are added at the next
    /// read.
    #[arg(
        short,
        long = "algorithm",
        value_name = "ALG",
        value_delimiter = ',',
        value_parser = keyless_algorithms(),
        ignore_case = true,
        action = ArgAction::Append
    )]
    pub algorithm: Vec<Algorithm>,

    #[command(flatten)]
    pub pace: Pace,

    #[command(flatten)]
    pub gone: MaxGone,

    /// Show what would be recorded, and change nothing.
    #[arg(long)]
    pub dry_run: bool,

    #[command(flatten)]
    pub reading: Reading,

    /// Directories; mounted file systems in them need a separate `add`.
    #[arg(value_name = "DIR", required = true, value_hint = ValueHint::DirPath)]
    pub directories: Vec<PathBuf>,
}

impl Add {
    /// Returns the given settings.
    pub fn patch(&self) -> SettingsPatch {
        let mut patch = self.pace.patch();
        patch.profile = self.profile.map(Into::into);
        if !self.algorithm.is_empty() {
            patch.algorithms = Some(self.algorithm.iter().copied().collect());
        }
        if !self.exclude.is_empty() {
            patch.exclude = Some(self.exclude.clone());
        }
        patch.default_excludes = self.no_default_excludes.then_some(false);
        patch.max_gone = self.gone.max_gone;
        patch
    }
}

/// The limit of missing files after which a directory is offline.
#[derive(Clone, Copy, Debug, Args)]
pub struct MaxGone {
    /// Stop if more than N percent of the files are missing [default: 10].
    ///
    /// The directory then counts as offline, as if its disk were not connected. Its records stay
    /// unchanged. A hundred missing files or fewer never stop the command. With --max-gone 100, the
    /// command never stops because of missing files.
    #[arg(long, value_name = "N", value_parser = whole_percent)]
    pub max_gone: Option<u32>,
}

#[derive(Debug, Args)]
pub struct Scan {
    #[command(flatten)]
    pub gone: MaxGone,

    #[command(flatten)]
    pub changes: Changes,

    #[command(flatten)]
    pub reading: Reading,

    /// Directories in the catalog; all by default.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub directories: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Update {
    #[command(flatten)]
    pub gone: MaxGone,

    /// Stop if more than N percent of the files were edited [default: 50].
    ///
    /// A hundred edited files or fewer never stop the command.
    #[arg(long, value_name = "N", value_parser = whole_percent)]
    pub max_changed: Option<u32>,

    /// Record all edited files, even more than --max-changed allows.
    #[arg(long, conflicts_with = "max_changed")]
    pub force: bool,

    #[command(flatten)]
    pub changes: Changes,

    #[command(flatten)]
    pub reading: Reading,

    /// Directories in the catalog; all by default.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub directories: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Verify {
    #[command(flatten)]
    pub gone: MaxGone,

    #[command(flatten)]
    pub changes: Changes,

    #[command(flatten)]
    pub reading: Reading,

    /// Files or directories in the catalog; everything by default.
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Scrub {
    /// Read the N percent of files that were verified longest ago.
    #[arg(long, value_name = "N", value_parser = percent)]
    pub percent: Option<f64>,

    /// Read files that were not verified for this long: 10d, 4w.
    #[arg(long, value_name = "TIME", value_parser = days)]
    pub older_than: Option<u32>,

    /// Read damaged, missing and unchecked files again.
    #[arg(long)]
    pub bad: bool,

    /// Stop after this time: 90s, 30m, 2h, 1d.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub max_time: Option<Duration>,

    /// Stop after this many bytes of each directory: 500M, 20G, 1T.
    ///
    /// The scrub first finishes its current file, or the current chunk of a long file.
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub max_bytes: Option<u64>,

    /// Read now, even outside of the directory's hours.
    #[arg(long)]
    pub now: bool,

    #[command(flatten)]
    pub changes: Changes,

    #[command(flatten)]
    pub reading: Reading,

    /// Directories in the catalog; all by default.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub directories: Vec<PathBuf>,
}

impl Scrub {
    /// Returns the options that choose files, as on the command line.
    pub fn chosen(&self) -> String {
        let percent = self.percent.map(|percent| format!(" --percent {percent}"));
        let older_than = self.older_than.map(|days| format!(" --older-than {days}d"));
        let bad = self.bad.then(|| " --bad".to_owned());
        [percent, older_than, bad].into_iter().flatten().collect()
    }
}

#[derive(Debug, Args)]
pub struct Nightly {
    #[command(flatten)]
    pub reading: Reading,

    /// Directories in the catalog; all by default.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub directories: Vec<PathBuf>,
}
