//! The arguments of `lanesum etag`.

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueHint};
use lanesum_checksum::etag::{Client, PartSize};

use super::{Run, Walk};

#[derive(Debug, Args)]
pub struct Etag {
    /// How files are cut into parts: a size, or a client with its defaults. Several: all in one
    /// read. [default: aws-cli]
    ///
    /// 8MiB and 8M are 8,388,608 bytes (as K and G are binary), 8MB are 8,000,000, 8388608 are
    /// bytes; what the settings of aws-cli and s3cmd call MB is MiB. A file that fits one part of
    /// such a size is uploaded in one piece; with a client it is in parts from a file of its
    /// threshold on, so that of exactly 8MiB aws-cli makes one part, whose ETag ends with -1. S3
    /// takes parts of 5MiB to 5GiB. aws-cli and boto3: 8MiB, from a file of 8MiB on. rclone: 5MiB,
    /// from 200MiB on. s5cmd: 50MiB. s3cmd: 15MiB. mc: 16MiB, from 16MiB on. Where there would be
    /// more than 10,000 parts, clients take larger ones, but s3cmd fails.
    #[arg(
        short,
        long,
        value_name = "SIZE|CLIENT",
        value_delimiter = ',',
        action = ArgAction::Append
    )]
    part_size: Vec<PartSize>,

    /// End lines with NUL instead of newline, and leave names as they are.
    #[arg(short, long)]
    pub zero: bool,

    #[command(flatten)]
    pub trees: Walk,

    #[command(flatten)]
    pub run: Run,

    /// Files and folders; `-` or nothing is standard input, which is read in one thread.
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,
}

impl Etag {
    /// How files are cut, at least in one way, and in none twice.
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
