//! The arguments of `lanesum etag`.

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueHint};
use lanesum_checksum::etag::{Client, PartSize};

use super::{Run, Walk};

#[derive(Debug, Args)]
pub struct Etag {
    /// Split files into parts of this size [default: aws-cli].
    ///
    /// With several sizes, all ETags are computed in one read. Write 8MiB or 8M for 8,388,608
    /// bytes, 8MB for 8,000,000 bytes, and a plain number for bytes. In settings of aws-cli and
    /// s3cmd, MB means MiB. S3 allows parts of 5MiB to 5GiB.
    ///
    /// CLIENT is an upload program, and stands for its default part size: 8MiB for aws-cli and
    /// boto3, 5MiB for rclone, 50MiB for s5cmd, 15MiB for s3cmd, 16MiB for mc. If a file would need
    /// more than 10,000 parts, clients use larger parts, but s3cmd fails.
    ///
    /// Clients do not split small files. rclone splits files of 200MiB or more. aws-cli, boto3 and
    /// mc split files that are as long as one part or longer. For example, aws-cli uploads a file
    /// of exactly 8MiB as one part, and its ETag ends with -1.
    #[arg(
        short,
        long,
        value_name = "SIZE|CLIENT",
        value_delimiter = ',',
        action = ArgAction::Append
    )]
    part_size: Vec<PartSize>,

    /// End lines with NUL, and do not escape file names.
    #[arg(short, long)]
    pub zero: bool,

    #[command(flatten)]
    pub trees: Walk,

    #[command(flatten)]
    pub run: Run,

    /// Files and directories; `-` or nothing is standard input.
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,
}

impl Etag {
    /// Returns the part sizes, at least one, without duplicates.
    pub fn part_sizes(&self) -> Vec<PartSize> {
        if self.part_size.is_empty() {
            return vec![PartSize::Client(Client::AwsCli)];
        }
        let mut sizes = Vec::new();
        for size in &self.part_size {
            if !sizes.contains(size) {
                sizes.push(*size);
            }
        }
        sizes
    }
}
