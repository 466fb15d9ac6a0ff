//! The arguments of `lanesum catalog`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use lanesum_checksum::Algorithm;
use lanesum_list::formats::Kind;

use super::{Where, help};
use crate::args::values::{algorithms, formats};

#[derive(Debug, Args)]
pub struct CatalogArgs {
    #[command(subcommand)]
    pub verb: CatalogVerb,
}

#[derive(Debug, Subcommand)]
pub enum CatalogVerb {
    /// Check the catalog itself for damage.
    ///
    /// Each row has a checksum, which is called its seal. The command lists wrong seals and lost
    /// rows. Other commands find damage only in the parts of the catalog that they read. `status`
    /// shows only the damage that the last run found.
    #[command(after_help = help::CHECK)]
    Check {
        #[command(flatten)]
        place: Where,
    },
    /// Copy the catalog to a file, and check the copy.
    ///
    /// The copy is a complete catalog. Do not use cp, because it misses the newest results.
    #[command(after_help = help::BACKUP)]
    Backup {
        #[command(flatten)]
        place: Where,

        /// The copy, which must not exist yet.
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        to: PathBuf,
    },
    /// Record the digests of checksum lists.
    ///
    /// The command accepts the lists of `lanesum check`, and reads the listed files. A new file
    /// with the listed content is recorded. A new file with different content is recorded as
    /// damaged, with the digests of the list.
    ///
    /// A recorded file is also compared with its record. If the record, the list and the content do
    /// not all agree, the record is changed only with --replace. If a list has an invalid line,
    /// nothing is recorded.
    #[command(after_help = help::IMPORT)]
    Import(ImportArgs),
    /// Print the records of a directory as a checksum list.
    ///
    /// Damaged, missing and unchecked files are listed with their recorded digests.
    #[command(after_help = help::EXPORT)]
    Export(Export),
}

#[derive(Debug, Args)]
pub struct Export {
    /// Write the list in this format, as `lanesum sum` does.
    #[arg(
        long,
        value_name = "FORMAT",
        value_parser = formats(Kind::is_written),
        ignore_case = true
    )]
    pub format: Option<Kind>,

    /// Write digests of this algorithm only; by default of all recorded ones.
    #[arg(short, long, value_name = "ALG", value_parser = algorithms(), ignore_case = true)]
    pub algorithm: Option<Algorithm>,

    #[command(flatten)]
    pub place: Where,

    /// Write names relative to the directory.
    #[arg(long)]
    pub relative: bool,

    /// A directory in the catalog; printed names begin with this path.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub directory: PathBuf,
}

#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Add this directory to the catalog first.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub add: Option<PathBuf>,

    /// Look up file names in this directory; by default in the current one.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub root: Option<PathBuf>,

    /// Look up file names in the directory of each list.
    #[arg(long, conflicts_with = "root")]
    pub beside: bool,

    /// Replace records that differ from the list.
    #[arg(long)]
    pub replace: bool,

    /// Read lists of this format; by default, the format is detected.
    #[arg(long, value_name = "FORMAT", value_parser = formats(|_| true), ignore_case = true)]
    pub from: Option<Kind>,

    /// Read untagged lines (`DIGEST  NAME`) as this algorithm.
    #[arg(short, long, value_name = "ALG", value_parser = algorithms(), ignore_case = true)]
    pub algorithm: Option<Algorithm>,

    /// Read lists whose lines end with NUL.
    #[arg(short, long)]
    pub zero: bool,

    #[command(flatten)]
    pub place: Where,

    /// Lists; `-` is standard input.
    #[arg(value_name = "LIST", required = true, value_hint = ValueHint::FilePath)]
    pub lists: Vec<PathBuf>,
}
