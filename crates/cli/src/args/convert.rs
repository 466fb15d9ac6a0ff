//! The arguments of `lanesum convert`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, Args, ValueHint};
use lanesum_checksum::Algorithm;
use lanesum_list::formats::Kind;

use super::values::{algorithms, formats};

#[derive(Debug, Args)]
pub struct Convert {
    /// The format to write; docs/formats.md says what each can hold.
    #[arg(
        long,
        value_name = "FORMAT",
        value_parser = formats(Kind::is_written),
        ignore_case = true
    )]
    pub to: Kind,

    /// The format of the lists; by default each is recognised by its start.
    #[arg(long, value_name = "FORMAT", value_parser = formats(|_| true), ignore_case = true)]
    pub from: Option<Kind>,

    /// The file that `aws s3api head-object` does not name.
    #[arg(long, value_name = "NAME")]
    pub name: Option<OsString>,

    /// The algorithm of lines that do not name theirs, as for `lanesum check`.
    #[arg(short, long, value_name = "ALG", value_parser = algorithms(), ignore_case = true)]
    pub algorithm: Option<Algorithm>,

    /// Write no digests but those of these algorithms.
    ///
    /// For a format that holds one algorithm, of lists that have several. A file of which not one
    /// of them is known is an error.
    #[arg(
        long,
        value_name = "ALG",
        value_delimiter = ',',
        value_parser = algorithms(),
        ignore_case = true,
        action = ArgAction::Append
    )]
    pub only: Vec<Algorithm>,

    /// Write digests in base64.
    #[arg(long)]
    pub base64: bool,

    /// The lines of the lists end with NUL; those written do where the format can.
    #[arg(short, long)]
    pub zero: bool,

    /// Write the list to FILE, which appears when it is whole. `-` is standard output.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// Lists; `-` or nothing is standard input.
    #[arg(value_name = "LIST", value_hint = ValueHint::FilePath)]
    pub lists: Vec<PathBuf>,
}
