//! The arguments of `lanesum bag`.

use std::path::PathBuf;

use clap::{ArgAction, Args, Subcommand, ValueHint};
use lanesum_bag::Element;
use lanesum_checksum::Algorithm;

use super::Run;
use super::values::algorithms;

const CODES: &str = "Exit codes: 0 done, 1 not done, for a reason that is told, 2 wrong usage.";

const VALIDATE_CODES: &str =
    "Exit codes: 0 every bag is valid, 1 a bag is not valid or cannot be read, 2 wrong usage.
With --fast: 0 Payload-Oxum agrees, 1 it does not agree or is missing.";

const VALIDATE_EXAMPLES: &str = "Examples:
  lanesum bag validate BAG
  lanesum bag validate --csv /srv/bags/* > fixity.csv
  lanesum bag validate --json BAG | jq -r 'select(.class == \"changed\").path'";

#[derive(Debug, Args)]
pub struct Bag {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Make a folder a bag, in place: what is in it moves into DIR/data, and manifests are added.
    ///
    /// Everything is read before anything moves, and nothing is copied. A folder with links, pipes
    /// or names that are not UTF-8 is left as it is, and all of these are named; where there are
    /// none, so is a folder with files that cannot be read. A run that was cut off is taken back,
    /// or finished, by the next.
    #[command(after_help = CODES)]
    Create(Create),
    /// Take up what has changed in a bag: new manifests, Payload-Oxum and tag manifests.
    ///
    /// Prints what is not as the old manifests have it. A file that changed though its time is not
    /// newer than the manifest may be damaged, and one of the payload that is gone may be lost:
    /// then nothing is written without --accept. Nor is it where a payload manifest or bag-info.txt
    /// is gone, or a payload manifest is not what the tag manifests say. Metadata stay, but for
    /// Payload-Oxum and what --info replaces.
    #[command(after_help = CODES)]
    Update(Update),
    /// Check that bags are complete and valid.
    ///
    /// Reads each file once, for all manifests, and prints each error with the name of the file.
    /// Reads bags of BagIt 0.93 to 0.97 and 1.0. Does not fetch the files in fetch.txt.
    #[command(
        after_help = VALIDATE_CODES,
        after_long_help = format!("{VALIDATE_CODES}\n\n{VALIDATE_EXAMPLES}")
    )]
    Validate(Validate),
}

#[derive(Debug, Args)]
pub struct Validate {
    /// Compare only the number and sizes of files with Payload-Oxum.
    ///
    /// This is quick, but it is not a validation: no file of the payload is read.
    #[arg(long)]
    pub fast: bool,

    /// Print errors only.
    #[arg(short, long)]
    pub quiet: bool,

    /// Print a JSON object for each finding, and a summary of each bag.
    ///
    /// Each object is one line. A finding has class, severity, message and, if it is about a file,
    /// path. docs/bag.md lists all keys.
    #[arg(long)]
    pub json: bool,

    /// Print a CSV row for each file that a manifest lists.
    ///
    /// The columns are bag, path, status, algorithms, expected, found and error. An error that is
    /// not about a listed file has a row, too. Warnings go to standard error.
    #[arg(long, conflicts_with_all = ["json", "fast"])]
    pub csv: bool,

    #[command(flatten)]
    pub run: Run,

    /// Bags.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath, required = true)]
    pub folders: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Create {
    /// Algorithms of the manifests, all computed in one read: md5, sha1, sha224, sha256, sha512.
    /// Several are parted by commas, or -a is given several times.
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

    /// Metadata for bag-info.txt, such as Contact-Name='Edna Janssen'.
    #[arg(long, value_name = "LABEL=VALUE", value_parser = element, action = ArgAction::Append)]
    pub info: Vec<Element>,

    #[command(flatten)]
    pub run: Run,

    /// The folder.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folder: PathBuf,
}

#[derive(Debug, Args)]
pub struct Update {
    /// Algorithms that the bag has manifests of from now on, in place of those that it has; by
    /// default those that it has. Old manifests of others are removed: to add one, name the old
    /// ones, too. Several are parted by commas, or -a is given several times.
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

    /// Metadata that take the place of those of the same label.
    #[arg(long, value_name = "LABEL=VALUE", value_parser = element, action = ArgAction::Append)]
    pub info: Vec<Element>,

    /// Take up, too, files that changed though their times are not newer than the manifest, files
    /// of the payload that are gone, and those of a bag whose payload manifests or bag-info.txt are
    /// gone or, for manifests, changed.
    #[arg(long)]
    pub accept: bool,

    #[command(flatten)]
    pub run: Run,

    /// The bag.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folder: PathBuf,
}

fn element(text: &str) -> Result<Element, String> {
    let (label, value) = text.split_once('=').ok_or("LABEL=VALUE is wanted")?;
    Element::new(label, value).map_err(|why| why.to_string())
}
