//! Part sizes: their text form, and the parts of a file.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use super::Client;

/// The largest number of parts of a file in S3.
pub const MOST_PARTS: u32 = 10_000;

/// The smallest part in S3 in bytes, except for the last part of a file.
pub const LEAST_PART: u64 = 5 * MIB;
/// The largest part in S3 in bytes.
pub const LARGEST_PART: u64 = 5 * GIB;

pub(super) const MIB: u64 = 1 << 20;
pub(super) const GIB: u64 = 1 << 30;

/// How a file is cut into parts.
///
/// Parses sizes as `8MiB`, `8M` (the same), `8MB` (8,000,000 bytes) or in bytes, and names of
/// clients.
///
/// ```
/// use lanesum_checksum::etag::{Client, PartSize, Upload};
///
/// let sizes = ["8MiB", "8m", "8388608", "8388608B"].map(|text| text.parse::<PartSize>().unwrap());
/// assert!(sizes.iter().all(|size| *size == sizes[0] && size.to_string() == "8MiB"));
/// assert_eq!("15MB".parse::<PartSize>()?.bytes(), 15_000_000);
/// assert_eq!("aws-cli".parse::<PartSize>()?, PartSize::Client(Client::AwsCli));
/// assert!("8 apples".parse::<PartSize>().is_err());
///
/// assert_eq!(sizes[0].of(8 << 20), Ok(Upload::Whole));
/// let Ok(Upload::Parts(bytes)) = sizes[0].of((8 << 20) + 1) else { panic!() };
/// assert_eq!(bytes.get(), 8 << 20);
/// assert!("1MiB".parse::<PartSize>()?.of(20 << 30).is_err());
/// # Ok::<(), lanesum_checksum::etag::NoPartSize>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PartSize {
    /// Parts of this number of bytes, with the rest in the last part. A file that fits into one
    /// part is uploaded in one piece.
    Bytes(NonZeroU64),
    /// The default of a client.
    Client(Client),
}

/// The upload of a file of a known size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Upload {
    /// In one piece. The ETag is the MD5.
    Whole,
    /// In one or more parts of this number of bytes, with the rest in the last part.
    Parts(NonZeroU64),
}

impl PartSize {
    /// Returns the size of a part in bytes, if the parts are not too many.
    #[must_use]
    pub fn bytes(self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.get(),
            Self::Client(client) => client.part_size(),
        }
    }

    /// Returns whether S3 accepts this part size. Other stores may have other limits.
    ///
    /// ```
    /// use lanesum_checksum::etag::PartSize;
    ///
    /// let is_for_s3 = |text: &str| text.parse().map(PartSize::is_for_s3);
    /// assert_eq!([is_for_s3("5MiB")?, is_for_s3("5MB")?, is_for_s3("6GiB")?], [true, false, false]);
    /// # Ok::<(), lanesum_checksum::etag::NoPartSize>(())
    /// ```
    #[must_use]
    pub fn is_for_s3(self) -> bool {
        (LEAST_PART..=LARGEST_PART).contains(&self.bytes())
    }

    /// Returns the upload of a file of `size` bytes.
    ///
    /// # Errors
    /// Fails if the file would have more than [`MOST_PARTS`] parts.
    pub fn of(self, size: u64) -> Result<Upload, TooManyParts> {
        let (is_whole, part_size) = match self {
            Self::Bytes(bytes) => (size <= bytes.get(), bytes.get()),
            Self::Client(client) => (size < client.threshold(), client.part_size_for(size)),
        };
        let parts = size.div_ceil(part_size);
        match NonZeroU64::new(part_size) {
            Some(part_size) if !is_whole && parts <= u64::from(MOST_PARTS) => {
                Ok(Upload::Parts(part_size))
            }
            _ if is_whole => Ok(Upload::Whole),
            _ => Err(TooManyParts { size, part_size, parts }),
        }
    }
}

/// The error if a file would have more parts than S3 accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{parts} parts of {}, but S3 allows at most {MOST_PARTS}",
    name(*.part_size)
)]
#[non_exhaustive]
pub struct TooManyParts {
    /// The size of the file in bytes.
    pub size: u64,
    /// The size of a part in bytes.
    pub part_size: u64,
    /// The number of parts.
    pub parts: u64,
}

impl TooManyParts {
    /// Returns the smallest sufficient part size in whole MiB, and at least [`LEAST_PART`].
    #[must_use]
    pub fn least(&self) -> u64 {
        self.size.div_ceil(u64::from(MOST_PARTS)).next_multiple_of(MIB).max(LEAST_PART)
    }
}

/// Units and their numbers of bytes. As in GNU programs, `M` is `MiB`.
const UNITS: [(&str, u64); 14] = [
    ("GiB", GIB),
    ("MiB", MIB),
    ("KiB", 1 << 10),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("TiB", 1 << 40),
    ("TB", 1_000_000_000_000),
    ("T", 1 << 40),
    ("G", GIB),
    ("M", MIB),
    ("K", 1 << 10),
    ("B", 1),
    ("", 1),
];

/// Displays a number of bytes in the form that is parsed: `8MiB`, `15MB`, `12345`.
///
/// ```
/// use lanesum_checksum::etag::size_name;
///
/// assert_eq!([8 << 20, 5 << 30, 15_000_000, 17_179_870].map(size_name), ["8MiB", "5GiB", "15MB", "17179870"]);
/// ```
#[must_use]
pub fn size_name(bytes: u64) -> String {
    name(bytes)
}

fn name(bytes: u64) -> String {
    let is_whole = |unit: u64| bytes > 0 && bytes.is_multiple_of(unit);
    match UNITS.iter().take(6).find(|(_, unit)| is_whole(*unit)) {
        Some((name, unit)) => format!("{}{name}", bytes / unit),
        None => bytes.to_string(),
    }
}

impl fmt::Display for PartSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => f.write_str(&name(bytes.get())),
            Self::Client(client) => f.write_str(client.name()),
        }
    }
}

impl FromStr for PartSize {
    type Err = NoPartSize;

    fn from_str(text: &str) -> Result<Self, NoPartSize> {
        if let Ok(client) = text.parse() {
            return Ok(Self::Client(client));
        }
        if ["aws", "awscli", "aws_cli"].iter().any(|name| name.eq_ignore_ascii_case(text)) {
            return Err(NoPartSize::Like(Client::AwsCli));
        }
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let (_, bytes) = UNITS
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(unit))
            .ok_or(NoPartSize::Form)?;
        if number.is_empty() {
            return Err(NoPartSize::Form);
        }
        let number = number.parse().ok().and_then(|number: u64| number.checked_mul(*bytes));
        let bytes = NonZeroU64::new(number.ok_or(NoPartSize::TooLarge)?);
        bytes.map(Self::Bytes).ok_or(NoPartSize::Zero)
    }
}

/// The error for text that is not a part size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoPartSize {
    /// The text is neither a number of bytes nor a client.
    #[error(
        "expected a size such as 8MiB, 8M, 8MB or 8388608, or a client: aws-cli, boto3, rclone, \
         s5cmd, s3cmd, mc"
    )]
    Form,
    /// The size is zero.
    #[error("expected at least 1 byte")]
    Zero,
    /// The size exceeds 64 bits.
    #[error("too large")]
    TooLarge,
    /// The text is similar to the name of a client.
    #[error("did you mean {0}?")]
    Like(Client),
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn invalid_sizes_are_refused() {
        for wrong in ["", "MiB", "-1", "+1", "1.5MiB", "8 MiB", "8MiBs", "8Mi", " 8", "aws "] {
            assert_eq!(wrong.parse::<PartSize>(), Err(NoPartSize::Form), "{wrong:?}");
        }
        for wrong in ["0", "0MiB", "000"] {
            assert_eq!(wrong.parse::<PartSize>(), Err(NoPartSize::Zero), "{wrong:?}");
        }
        for wrong in ["99999999999TiB", "184467440737095516160"] {
            assert_eq!(wrong.parse::<PartSize>(), Err(NoPartSize::TooLarge), "{wrong:?}");
        }
        for wrong in ["aws", "AWSCLI"] {
            assert_eq!(wrong.parse::<PartSize>(), Err(NoPartSize::Like(Client::AwsCli)));
        }
        for client in Client::ALL {
            assert!(NoPartSize::Form.to_string().contains(client.name()), "{client}");
        }
    }

    #[test]
    fn each_client_starts_multipart_at_its_threshold() {
        for (client, whole, parts) in [
            (Client::AwsCli, 8 * MIB - 1, 8 * MIB),
            (Client::Rclone, 200 * MIB - 1, 200 * MIB),
            (Client::S5cmd, 50 * MIB, 50 * MIB + 1),
            (Client::S3cmd, 15 * MIB, 15 * MIB + 1),
            (Client::Mc, 16 * MIB - 1, 16 * MIB),
        ] {
            let client = PartSize::Client(client);
            assert_eq!(client.of(0), Ok(Upload::Whole));
            assert_eq!(client.of(whole), Ok(Upload::Whole));
            assert_eq!(client.of(parts).map(|it| it != Upload::Whole), Ok(true), "{client}");
        }
    }

    #[test]
    fn too_many_parts_suggest_a_size() {
        let of = |text: &str, size| text.parse::<PartSize>().unwrap().of(size);
        assert!(of("1MiB", 10_000 * MIB).is_ok());
        let error = of("1MiB", 10_000 * MIB + 1).unwrap_err();
        assert_eq!(error.to_string(), "10001 parts of 1MiB, but S3 allows at most 10000");
        assert_eq!(name(error.least()), "5MiB");
        assert!(of("2MiB", 10_000 * MIB + 1).is_ok());
        assert!(of("s3cmd", 15 * MIB * 10_000 + 1).is_err());
    }

    proptest! {
        #[test]
        fn part_sizes_round_trip(bytes in 1u64.., unit in 0usize..6) {
            let bytes = (bytes % (1 << 20) + 1) * UNITS[unit].1;
            let size = PartSize::Bytes(NonZeroU64::new(bytes).unwrap());
            prop_assert_eq!(size.to_string().parse(), Ok(size));
        }

        #[test]
        fn parts_cover_the_file_within_the_limit(size: u64, part in 1u64..1 << 40, client in 0usize..7) {
            let client = Client::ALL.get(client).map(|&client| PartSize::Client(client));
            let part_size = client.unwrap_or(PartSize::Bytes(NonZeroU64::new(part).unwrap()));
            if let Ok(Upload::Parts(bytes)) = part_size.of(size % (60 << 40)) {
                let parts = (size % (60 << 40)).div_ceil(bytes.get());
                prop_assert!((1..=u64::from(MOST_PARTS)).contains(&parts));
            }
        }
    }
}
