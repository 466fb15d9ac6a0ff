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
    /// Look at names, sizes and, where both sides have them, times; read no file.
    #[arg(long)]
    pub quick: bool,

    /// Take the folder that all names of a list lie in off them: for lists of another copy.
    ///
    /// The path of the folder that a list is compared with is taken off in any case.
    #[arg(long)]
    pub strip: bool,

    /// How differences are printed: text; csv, with a header; json, an object a line.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Form::Text)]
    pub format: Form,

    /// Print what is equal, or with --quick alike, too.
    #[arg(short, long)]
    pub verbose: bool,

    /// The format of both lists; by default each is recognised by its start.
    #[arg(long, value_name = "FORMAT", value_parser = formats(|_| true), ignore_case = true)]
    pub from: Option<Kind>,

    /// What two folders are compared by, and the algorithm of lines that do not name theirs.
    ///
    /// By default MD5, and what the number of digits tells.
    #[arg(short, long, value_name = "ALG", value_parser = algorithms(), ignore_case = true)]
    pub algorithm: Option<Algorithm>,

    /// A size of parts, or a client's, to try first for ETags of several parts: 16MiB, s5cmd.
    ///
    /// As for `lanesum check`.
    #[arg(
        long,
        value_name = "SIZE|CLIENT",
        value_delimiter = ',',
        action = ArgAction::Append
    )]
    pub part_size: Vec<PartSize>,

    /// The lines of the lists end with NUL.
    #[arg(short, long)]
    pub zero: bool,

    #[command(flatten)]
    pub trees: Walk,

    #[command(flatten)]
    pub run: Run,

    /// What was there: a list (`-`: standard input) or a folder.
    #[arg(value_name = "A", value_hint = ValueHint::AnyPath)]
    pub before: PathBuf,

    /// What is there now: a list or a folder.
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
