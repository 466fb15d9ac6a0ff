//! The commands on the catalog: their help, and in the submodules their arguments.

mod help;
mod measures;
mod own;
mod records;
mod runs;
mod serve;

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use own::CatalogArgs;
pub use own::{CatalogVerb, Export, ImportArgs};
pub use records::{Accept, Forget, Limit, Relocate, Report, Roots, Status};
pub use runs::{Add, Nightly, Reading, Scan, Scrub, Update, Verify};
#[cfg(feature = "page")]
pub use serve::Page;
pub use serve::Serve;

/// The option that names the catalog.
#[derive(Clone, Debug, Args)]
pub struct Where {
    /// Use this catalog.
    ///
    /// The default is the file in the variable LANESUM_CATALOG. If the variable is not set, the
    /// default is /var/lib/lanesum/catalog.db for root, and ~/.local/state/lanesum/catalog.db for
    /// other users. If XDG_STATE_HOME is set, it replaces ~/.local/state.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub catalog: Option<PathBuf>,
}

/// The commands on the catalog.
#[derive(Debug, Subcommand)]
pub enum CatalogCommand {
    /// Record the files of a directory in the catalog.
    ///
    /// `add` reads every regular file below DIR and records its path, size, modification time and
    /// digests. Later, `update` records changes, `scrub` verifies every file once per period, and
    /// `status` shows problems. If DIR is already in the catalog, `add` changes the given settings
    /// and records new files.
    #[command(after_help = help::ADD)]
    Add(Add),
    /// Compare names, sizes and times with the catalog.
    ///
    /// `scan` reads no contents. It finds new damage only if the size of a file changed. It lists
    /// missing, moved and new files, files with a changed size or time, and files with known
    /// damage. It records no new content.
    #[command(after_help = help::SCAN)]
    Scan(Scan),
    /// Record edited, moved and new files (never damaged ones).
    ///
    /// `update` reads only new files, and files with a changed size or time. To find damage in the
    /// other files, use `verify` or `scrub`. The record of a damaged file stays unchanged.
    #[command(after_help = help::UPDATE)]
    Update(Update),
    /// Read files and compare them with the catalog.
    ///
    /// `verify` reads all files, which takes about as long as copying them. It records no new
    /// content.
    #[command(after_help = help::VERIFY)]
    Verify(Verify),
    /// Verify the files that are due.
    ///
    /// Each file is due once per period. `add --every` and `limit --every` set the period. The due
    /// times are spread over it: with 90 days, about one 90th of all bytes is due each day. A scrub
    /// runs at low priority.
    ///
    /// With --percent, --older-than or --bad, `scrub` reads the selected files instead of the due
    /// ones.
    #[command(after_help = help::SCRUB)]
    Scrub(Scrub),
    /// Update and scrub, and print only problems (for cron).
    ///
    /// `nightly` runs `update` over all directories, then `scrub`. If nothing needs attention, it
    /// prints nothing. It never prints edited, moved or new files. With --json, it also prints a
    /// summary of each directory.
    #[command(after_help = help::NIGHTLY, mut_arg("quiet", help::quiet_of_nightly))]
    Nightly(Nightly),
    /// Run as a daemon that verifies files on schedule.
    ///
    /// Once a day, the daemon updates every directory and verifies its due files, in the hours of
    /// `limit --between`. `pause`, `resume` and `limit` control the running daemon. After SIGTERM,
    /// the daemon ends within two seconds.
    #[command(after_help = help::SERVE)]
    Serve(Serve),
    /// Pause scrubbing; the pause survives a reboot.
    ///
    /// A running scrub ends within two seconds and keeps its results.
    #[command(after_help = help::PAUSE)]
    Pause(Roots),
    /// Resume scrubbing of paused directories.
    #[command(after_help = help::RESUME)]
    Resume(Roots),
    /// Show or change how fast and how often files are scrubbed.
    ///
    /// Without options, `limit` shows the settings. A running scrub uses new settings within two
    /// seconds. If the limits leave too little time to verify every file once per period, `limit`
    /// fails and changes nothing.
    #[command(after_help = help::LIMIT)]
    Limit(Limit),
    /// Show the state of each directory, and what to do.
    ///
    /// `status` prints stored results and reads no files. It shows a verdict, a table of the
    /// directories, and the problems with the commands to run. A line about a problem ends with its
    /// reason, as in `unchecked /srv/a (permission)`.
    #[command(after_help = help::STATUS)]
    Status(Status),
    /// List problems, or all files with their digests.
    ///
    /// By default, `report` prints the text of a mail. The first line can be the subject. The text
    /// lists each damaged, missing or unchecked file with the recorded digest. --csv, --json and
    /// --html print a fixity report: every file with its digest and its last verification.
    #[command(after_help = help::REPORT)]
    Report(Report),
    /// Record files as they are now, even damaged ones.
    ///
    /// `accept` reads the files and records their content. It prints the old and the new digest of
    /// each file.
    #[command(after_help = help::ACCEPT)]
    Accept(Accept),
    /// Stop tracking files or directories (nothing on disk changes).
    #[command(after_help = help::FORGET)]
    Forget(Forget),
    /// Tell the catalog the new path of a directory.
    ///
    /// `relocate` reads some files at NEW, to make sure that they are the recorded files. If you
    /// replaced the disk and restored the files at the old path, give this path twice.
    #[command(after_help = help::RELOCATE)]
    Relocate(Relocate),
    /// Check, copy, import or export the catalog itself.
    #[command(
        subcommand_required = true,
        arg_required_else_help = true,
        long_about = help::CATALOG,
        after_help = help::EXIT_CODES,
    )]
    Catalog(CatalogArgs),
}

impl CatalogCommand {
    /// Returns the option that names the catalog.
    pub const fn place(&self) -> &Where {
        match self {
            Self::Add(args) => &args.reading.place,
            Self::Scan(args) => &args.reading.place,
            Self::Update(args) => &args.reading.place,
            Self::Verify(args) => &args.reading.place,
            Self::Scrub(args) => &args.reading.place,
            Self::Nightly(args) => &args.reading.place,
            Self::Serve(args) => &args.place,
            Self::Pause(roots) | Self::Resume(roots) => &roots.place,
            Self::Limit(args) => &args.roots.place,
            Self::Status(args) => &args.roots.place,
            Self::Report(args) => &args.roots.place,
            Self::Accept(args) => &args.place,
            Self::Forget(args) => &args.place,
            Self::Relocate(args) => &args.place,
            Self::Catalog(args) => match &args.verb {
                CatalogVerb::Check { place } | CatalogVerb::Backup { place, .. } => place,
                CatalogVerb::Import(args) => &args.place,
                CatalogVerb::Export(args) => &args.place,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use crate::args::Cli;

    /// Each command on the catalog has a short first line, an example and the exit codes.
    #[test]
    fn help_is_short_and_has_examples() {
        let cli = Cli::command();
        let catalog = cli.find_subcommand("catalog").unwrap();
        let names = [
            "add", "scan", "update", "verify", "scrub", "nightly", "serve", "pause", "resume",
            "limit", "status", "report", "accept", "forget", "relocate",
        ];
        let verbs = names.iter().map(|name| cli.find_subcommand(name).unwrap());
        for command in verbs.chain(catalog.get_subcommands()) {
            let name = command.get_name();
            let about = command.get_about().unwrap().to_string();
            assert!(about.len() <= 62 && !about.ends_with('.'), "{name}: {about}");
            let help = command.clone().render_long_help().to_string();
            assert!(help.contains("Examples:\n  lanesum "), "{name}: {help}");
            assert!(help.contains("Exit codes:"), "{name}: {help}");
            for line in help.lines().filter(|line| line.starts_with("  lanesum ")) {
                assert!(line.contains(name), "{name}: {line}");
            }
        }
    }
}
