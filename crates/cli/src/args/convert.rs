//! The arguments of `lanesum convert`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, Args, ValueHint};
use lanesum_checksum::Algorithm;
use lanesum_list::formats::Kind;

use super::values::{algorithms, formats};

#[derive(Debug, Args)]
pub struct Convert {
    /// Write this format.
    ///
    /// docs/formats.md describes the limits of each format.
    #[arg(
        long,
        value_name = "FORMAT",
        value_parser = formats(Kind::is_written),
        ignore_case = true
    )]
    pub to: Kind,

    /// Read the lists in this format.
    ///
    /// By default, the format of each list is detected.
    #[arg(long, value_name = "FORMAT", value_parser = formats(|_| true), ignore_case = true)]
    pub from: Option<Kind>,

    /// Write this name for one object of S3.
    ///
    /// The output of `aws s3api head-object` does not contain the name of the object.
    #[arg(long, value_name = "NAME")]
    pub name: Option<OsString>,

    /// Read untagged lines (`DIGEST  NAME`) as this algorithm.
    ///
    /// `lanesum check --help` lists the algorithms that need this option.
    #[arg(short, long, value_name = "ALG", value_parser = algorithms(), ignore_case = true)]
    pub algorithm: Option<Algorithm>,

    /// Write only digests of ALG.
    ///
    /// Use this option if the list has several algorithms and the new format holds only one. A file
    /// without any of the chosen digests is an error.
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

    /// Read and write lines that end with NUL.
    ///
    /// Only the formats `gnu` and `tag` are written with NUL.
    #[arg(short, long)]
    pub zero: bool,

    /// Write the list to FILE once it is complete.
    ///
    /// `-` is standard output.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// Checksum lists; `-` or nothing is standard input.
    #[arg(value_name = "LIST", value_hint = ValueHint::FilePath)]
    pub lists: Vec<PathBuf>,
}
