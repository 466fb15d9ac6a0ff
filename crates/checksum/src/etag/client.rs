//! Programs that upload files to S3, and their default part sizes.

use std::fmt;
use std::str::FromStr;

use super::part_size::{GIB, MIB, MOST_PARTS};

/// A program or library that uploads files, with its defaults.
///
/// ```
/// use lanesum_checksum::etag::Client;
///
/// let client: Client = "rclone".parse()?;
/// assert_eq!((client, client.part_size(), client.threshold()), (Client::Rclone, 5 << 20, 200 << 20));
/// assert!("ftp".parse::<Client>().is_err());
/// # Ok::<(), lanesum_checksum::etag::UnknownClient>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Client {
    /// `aws s3 cp` and similar commands: 8 MiB, also for a file of exactly that size. Doubled until
    /// the parts are not too many.
    AwsCli,
    /// The Python library that the AWS CLI uses.
    Boto3,
    /// 5 MiB for files from 200 MiB on. If those are too many, the smallest sufficient number of
    /// whole MiB.
    Rclone,
    /// 50 MiB for larger files. If those are too many, 1/10,000 of the file plus one byte.
    S5cmd,
    /// 15 MiB for larger files, and never more.
    S3cmd,
    /// The client of MinIO and its Go library: 16 MiB, also for a file of exactly that size. If
    /// those are too many, a multiple.
    Mc,
}

/// The defaults of a client.
struct Defaults {
    client: Client,
    name: &'static str,
    /// The size of a part in bytes.
    part_size: u64,
    /// Returns the size of the smallest file that is uploaded in parts, in bytes.
    threshold: u64,
}

/// The defaults, one entry per client: `multipart_threshold` and `multipart_chunksize` of the AWS
/// CLI and boto3, `--s3-upload-cutoff` and `--s3-chunk-size` of rclone, `--part-size` of s5cmd,
/// `--multipart-chunk-size-mb` of s3cmd (which are MiB), `minPartSize` of minio-go.
const TABLE: [Defaults; 6] = [
    of(Client::AwsCli, "aws-cli", 8 * MIB, 8 * MIB),
    of(Client::Boto3, "boto3", 8 * MIB, 8 * MIB),
    of(Client::Rclone, "rclone", 5 * MIB, 200 * MIB),
    of(Client::S5cmd, "s5cmd", 50 * MIB, 50 * MIB + 1),
    of(Client::S3cmd, "s3cmd", 15 * MIB, 15 * MIB + 1),
    of(Client::Mc, "mc", 16 * MIB, 16 * MIB),
];

const fn of(client: Client, name: &'static str, part_size: u64, threshold: u64) -> Defaults {
    Defaults { client, name, part_size, threshold }
}

impl Client {
    /// All clients.
    pub const ALL: [Self; 6] =
        [Self::AwsCli, Self::Boto3, Self::Rclone, Self::S5cmd, Self::S3cmd, Self::Mc];

    fn defaults(self) -> &'static Defaults {
        TABLE.iter().find(|it| it.client == self).expect("each has its entry: a test says so")
    }

    /// Returns the name on the command line: `aws-cli`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.defaults().name
    }

    /// Returns the size of a part in bytes, if the parts are not too many.
    #[must_use]
    pub fn part_size(self) -> u64 {
        self.defaults().part_size
    }

    /// The size of the smallest file that is uploaded in parts, in bytes.
    #[must_use]
    pub fn threshold(self) -> u64 {
        self.defaults().threshold
    }

    /// Returns the size of the parts of a file of `size` bytes, which may still be too many.
    pub(super) fn part_size_for(self, size: u64) -> u64 {
        let (most, part) = (u64::from(MOST_PARTS), self.part_size());
        let is_enough = size.div_ceil(part) <= most;
        match self {
            Self::AwsCli | Self::Boto3 => {
                let mut part = part;
                while size.div_ceil(part) > most && part < 5 * GIB {
                    part = (2 * part).min(5 * GIB);
                }
                part
            }
            Self::S5cmd if size / part >= most => size / most + 1,
            Self::Rclone if !is_enough => {
                let least = (size / most).next_multiple_of(MIB);
                if size / least == most && !size.is_multiple_of(most) { least + MIB } else { least }
            }
            Self::Mc => (size / most).next_multiple_of(part).max(part),
            Self::Rclone | Self::S5cmd | Self::S3cmd => part,
        }
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Client {
    type Err = UnknownClient;

    /// Parses the name, in upper or lower case.
    fn from_str(name: &str) -> Result<Self, UnknownClient> {
        let is_meant = |client: &Self| client.name().eq_ignore_ascii_case(name);
        Self::ALL.into_iter().find(is_meant).ok_or(UnknownClient)
    }
}

/// The error for a name that is not a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown client; the clients are aws-cli, boto3, rclone, s5cmd, s3cmd and mc")]
#[non_exhaustive]
pub struct UnknownClient;

#[cfg(test)]
mod tests {
    use super::*;
    use lanesum_list::formats::{Format as _, Gnu, Line, Wrong};
    use lanesum_list::{Dialect, Etag};

    #[test]
    fn each_client_parses_and_is_named_in_the_error() {
        for client in Client::ALL {
            assert_eq!(client.name().parse(), Ok(client));
            assert!(UnknownClient.to_string().contains(client.name()), "{client}");
        }
    }

    /// Otherwise a part size would be read as a part of a name.
    #[test]
    fn each_client_is_read_back_from_a_list() {
        for client in Client::ALL {
            let mut lines = Vec::new();
            let etag = Etag::parse(b"d41d8cd98f00b204e9800998ecf8427e-2").unwrap();
            Gnu::new(Dialect::any()).etag(&mut lines, &etag, Some(client.name()), b"a");
            let read = Gnu::new(Dialect::any()).next(lines.trim_ascii_end());
            assert_eq!(read, Line::Wrong(Wrong::PartSize), "{client}");
        }
    }

    /// How each client handles files of more than 10,000 parts, according to its source code.
    #[test]
    fn part_sizes_grow_as_in_each_client() {
        let most = u64::from(MOST_PARTS);
        for (client, size, expected) in [
            (Client::AwsCli, 8 * MIB * most, 8 * MIB),
            (Client::AwsCli, 8 * MIB * most + 1, 16 * MIB),
            (Client::Boto3, 5 * GIB * most, 5 * GIB),
            (Client::Rclone, 5 * MIB * most, 5 * MIB),
            (Client::Rclone, 5 * MIB * most + 1, 6 * MIB),
            (Client::Rclone, 100 * GIB, 11 * MIB),
            (Client::S5cmd, 50 * MIB * most - 1, 50 * MIB),
            (Client::S5cmd, 50 * MIB * most, 50 * MIB + 1),
            (Client::S5cmd, 600 * GIB, 600 * GIB / most + 1),
            (Client::S3cmd, 15 * MIB * most + 1, 15 * MIB),
            (Client::Mc, 16 * MIB * most, 16 * MIB),
            (Client::Mc, 17 * MIB * most, 32 * MIB),
        ] {
            assert_eq!(client.part_size_for(size), expected, "{client} {size}");
        }
    }
}
