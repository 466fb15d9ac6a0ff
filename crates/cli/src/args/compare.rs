//! The arguments of `lanesum compare`.

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum, ValueHint};
use lanesum_checksum::Algorithm;
use lanesum_checksum::etag::PartSize;
use lanesum_list::formats::Kind;

use super::values::{algorithms, formats};
use super::{Run, Walk};

#[derive(Debug, Args)]
pub struct Compare {
    /// Compare names, sizes and times, and read no files.
    ///
    /// Times are compared if both sides have them.
    #[arg(long)]
    pub quick: bool,

    /// Remove the common directory of all names of a list.
    ///
    /// `photos/a` becomes `a`. Use this to compare the lists of two copies. If the other side is
    /// the directory DIR, `DIR/` is removed from the start of names even without this option.
    #[arg(long)]
    pub strip: bool,

    /// Print differences in this format.
    ///
    /// `csv` prints a header first. `json` prints one object per line.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Form::Text)]
    pub format: Form,

    /// Print equal files, too.
    #[arg(short, long)]
    pub verbose: bool,

    /// Read the lists in this format.
    ///
    /// By default, the format of each list is detected.
    #[arg(long, value_name = "FORMAT", value_parser = formats(|_| true), ignore_case = true)]
    pub from: Option<Kind>,

    /// Use this algorithm for trees and untagged lines.
    ///
    /// By default, two trees are compared by MD5. The number of digits gives the algorithm of
    /// untagged lines.
    #[arg(short, long, value_name = "ALG", value_parser = algorithms(), ignore_case = true)]
    pub algorithm: Option<Algorithm>,

    /// Try this part size first when comparing ETags.
    ///
    /// SIZE is, for example, 16MiB. CLIENT is an upload program, for example s5cmd, and stands for
    /// its default part size. `lanesum etag --help` lists the programs.
    #[arg(
        long,
        value_name = "SIZE|CLIENT",
        value_delimiter = ',',
        action = ArgAction::Append
    )]
    pub part_size: Vec<PartSize>,

    /// Read lists whose lines end with NUL.
    #[arg(short, long)]
    pub zero: bool,

    #[command(flatten)]
    pub trees: Walk,

    #[command(flatten)]
    pub run: Run,

    /// The old state: a list (`-` is standard input) or a directory.
    #[arg(value_name = "A", value_hint = ValueHint::AnyPath)]
    pub before: PathBuf,

    /// The new state: a list or a directory.
    #[arg(value_name = "B", value_hint = ValueHint::AnyPath)]
    pub now: PathBuf,
}

/// How differences are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Form {
    Text,
    Csv,
    #[value(alias = "jsonl")]
    Json,
}
