//! The arguments of the commands that change records and settings, or show them.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::Where;
use super::measures::days;
use super::runs::Pace;

/// Some of the directories in the catalog.
#[derive(Debug, Args)]
pub struct Roots {
    #[command(flatten)]
    pub place: Where,

    /// Directories in the catalog; all by default.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub directories: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Limit {
    #[command(flatten)]
    pub pace: Pace,

    #[command(flatten)]
    pub roots: Roots,
}

#[derive(Debug, Args)]
pub struct Status {
    /// Print one line for Nagios, and exit with its codes.
    ///
    /// OK is 0, WARNING is 1 (a file was not checked), CRITICAL is 2 (damaged or missing files, or
    /// a damaged catalog), and UNKNOWN is 3 (no status).
    #[arg(long, conflicts_with_all = ["json", "prometheus", "quiet"])]
    pub nagios: bool,

    /// Write metrics for node_exporter into FILE, and print nothing.
    ///
    /// FILE is replaced in one step. node_exporter reads only files whose names end with .prom.
    #[arg(
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        conflicts_with_all = ["json", "quiet"]
    )]
    pub prometheus: Option<PathBuf>,

    /// Exit with 3 if a directory was not checked for this long: 2d, 1w.
    #[arg(long, value_name = "TIME", value_parser = days)]
    pub max_age: Option<u32>,

    /// Print one JSON object for each directory.
    #[arg(long)]
    pub json: bool,

    /// Print nothing if the exit code is 0.
    ///
    /// Paused directories and edited, moved or new files do not change the exit code.
    #[arg(short, long)]
    pub quiet: bool,

    #[command(flatten)]
    pub roots: Roots,
}

#[derive(Debug, Args)]
pub struct Report {
    /// Print a fixity report as CSV.
    #[arg(long, conflicts_with_all = ["json", "html"])]
    pub csv: bool,

    /// Print a fixity report as JSON, one object a line.
    #[arg(long, conflicts_with = "html")]
    pub json: bool,

    /// Print a fixity report as one self-contained HTML page.
    #[arg(long)]
    pub html: bool,

    /// List only files that need attention.
    #[arg(long)]
    pub bad: bool,

    /// List the files that were deleted from working directories.
    ///
    /// The catalog keeps their digests for 90 days.
    #[arg(long, conflicts_with_all = ["html", "bad"])]
    pub deleted: bool,

    /// Report the runs of the last 7d, 4w or 1y [default: 90d].
    #[arg(long, value_name = "TIME", value_parser = days)]
    pub since: Option<u32>,

    /// Print nothing if the exit code is 0.
    ///
    /// Paused directories and edited, moved or new files do not change the exit code.
    #[arg(short, long)]
    pub quiet: bool,

    #[command(flatten)]
    pub roots: Roots,
}

#[derive(Debug, Args)]
pub struct Accept {
    #[command(flatten)]
    pub place: Where,

    /// Files; a directory stands for all damaged files below it.
    #[arg(value_name = "PATH", required = true, value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Forget {
    /// Forget only missing files.
    #[arg(long)]
    pub missing: bool,

    #[command(flatten)]
    pub place: Where,

    /// Files and directories; a directory stands for everything below it.
    #[arg(value_name = "PATH", required = true, value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Relocate {
    #[command(flatten)]
    pub place: Where,

    /// The recorded path.
    #[arg(value_name = "OLD", value_hint = ValueHint::DirPath)]
    pub old: PathBuf,

    /// The current path; the same as OLD if only the disk is new.
    #[arg(value_name = "NEW", value_hint = ValueHint::DirPath)]
    pub new: PathBuf,
}
