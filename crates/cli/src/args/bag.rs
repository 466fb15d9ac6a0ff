//! The arguments of `lanesum bag`.

use std::path::PathBuf;

use clap::{ArgAction, Args, Subcommand, ValueHint};
use lanesum_bag::Element;
use lanesum_checksum::Algorithm;

use super::values::algorithms;
use super::{Run, help};

#[derive(Debug, Args)]
pub struct Bag {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Turn a directory into a bag, in place.
    ///
    /// `create` moves the content of DIR into DIR/data and adds manifests. It first reads all
    /// files, then renames them, and copies nothing. DIR stays unchanged if it contains links,
    /// pipes, unreadable files or names that are not UTF-8. `create` lists all such files. If
    /// `create` is interrupted, run it again to finish or undo the change.
    ///
    /// `create` refuses your home directory, the directories above it, and a directory with
    /// manifests of a bag. At the end, it prints a command to undo the change.
    #[command(after_help = help::BAG_CREATE)]
    Create(Create),
    /// Record edited, moved and new files of a bag.
    #[command(long_about = help::BAG_UPDATE_ABOUT, after_help = help::BAG_UPDATE)]
    Update(Update),
    /// Check that bags are complete and valid.
    ///
    /// `validate` reads each file once, for all manifests, and prints each error with the name of
    /// the file. It supports BagIt 0.93 to 0.97 and 1.0. It does not fetch the files in fetch.txt.
    #[command(after_help = help::BAG_VALIDATE)]
    Validate(Validate),
}

#[derive(Debug, Args)]
pub struct Validate {
    /// Check only the number and total size of files in data/.
    ///
    /// bag-info.txt records both numbers as Payload-Oxum. --fast reads no file in data/, and does
    /// not replace a validation.
    #[arg(long)]
    pub fast: bool,

    /// Print errors only.
    #[arg(short, long)]
    pub quiet: bool,

    /// Print JSON: findings, then a summary of each bag.
    ///
    /// Each object is one line. A finding has the keys class, severity and message. A finding about
    /// a file also has the key path. docs/bag.md lists all keys.
    #[arg(long)]
    pub json: bool,

    /// Print a CSV row for each file in a manifest.
    ///
    /// The columns are bag, path, status, algorithms, expected, found and error. An error about the
    /// bag or about an unlisted file has a row, too. Warnings go to standard error.
    #[arg(long, conflicts_with_all = ["json", "fast"])]
    pub csv: bool,

    #[command(flatten)]
    pub run: Run,

    /// Bag directories.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath, required = true)]
    pub folders: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Create {
    /// Write a manifest for each ALG.
    ///
    /// The algorithms are md5, sha1, sha224, sha256, sha384 and sha512. Separate several algorithms
    /// with commas, or repeat -a. All digests are computed in one read.
    #[arg(
        short,
        long = "algorithm",
        value_name = "ALG",
        value_delimiter = ',',
        value_parser = algorithms(),
        hide_possible_values = true,
        ignore_case = true,
        default_value = "sha512",
        action = ArgAction::Append
    )]
    pub algorithm: Vec<Algorithm>,

    /// Add metadata to bag-info.txt.
    ///
    /// For example: --info Contact-Name='Edna Janssen'
    #[arg(long, value_name = "LABEL=VALUE", value_parser = element, action = ArgAction::Append)]
    pub info: Vec<Element>,

    /// Move hidden files into the bag, too.
    ///
    /// Without this option, `create` refuses a directory with hidden files. Hidden files have names
    /// like .profile, or are in directories with names like .git.
    #[arg(long)]
    pub include_hidden: bool,

    #[command(flatten)]
    pub run: Run,

    /// The directory.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folder: PathBuf,
}

#[derive(Debug, Args)]
pub struct Update {
    /// Write manifests of ALG, and remove all others.
    ///
    /// By default, the bag keeps its algorithms. To add an algorithm, name the old ones, too.
    /// Separate several algorithms with commas, or repeat -a.
    #[arg(
        short,
        long = "algorithm",
        value_name = "ALG",
        value_delimiter = ',',
        value_parser = algorithms(),
        hide_possible_values = true,
        ignore_case = true,
        action = ArgAction::Append
    )]
    pub algorithm: Vec<Algorithm>,

    /// Replace metadata in bag-info.txt.
    ///
    /// The value replaces all values with the same label.
    #[arg(long, value_name = "LABEL=VALUE", value_parser = element, action = ArgAction::Append)]
    pub info: Vec<Element>,

    /// Record changes even if they may be damage or loss.
    ///
    /// The start of this help lists such changes.
    #[arg(long)]
    pub accept: bool,

    #[command(flatten)]
    pub run: Run,

    /// The bag.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folder: PathBuf,
}

fn element(text: &str) -> Result<Element, String> {
    let (label, value) =
        text.split_once('=').ok_or("expected LABEL=VALUE, such as Contact-Name=Ada")?;
    Element::new(label, value).map_err(|why| why.to_string())
}
