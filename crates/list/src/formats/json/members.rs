//! The members of services for files, as data: what each is called, and where it is nested.
//!
//! | service | command or request |
//! |---|---|
//! | Google Cloud Storage | `gcloud storage objects list --format=json`, `gcloud storage ls --json`, `objects.list` |
//! | Azure | `az storage blob list` |
//! | Backblaze B2 | `b2 ls --json` |
//! | Hugging Face | `/api/models/ID/tree/main`, `/api/models/ID?blobs=true` |
//! | Zenodo | `/api/records/ID`, `/api/records/ID/files` |
//! | Dataverse | `/api/datasets/ID`, `/api/datasets/ID/versions/V/files` |
//! | figshare | `/v2/articles/ID`, `/v2/articles/ID/files` |

use super::object::{Object, Value};
use crate::Algorithm;

/// The meaning of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Member {
    /// A name of the file. If there are several, the one with the lowest number is the name.
    Name(u8),
    /// The directory of the name.
    Directory,
    Size,
    Digest(Algorithm),
    /// A digest with its algorithm before it, or of that in [`HashType`](Self::HashType).
    Hash,
    HashType,
    /// The object is not a file if the value is this one, or `true`.
    NoFile(&'static str),
}

use Member::{Digest, Directory, Hash, HashType, Name, NoFile, Size};

/// The members of an object, besides those that lanesum, S3 and rclone have.
const MEMBERS: &[(&str, Member)] = &[
    ("fileName", Name(0)),
    ("rfilename", Name(0)),
    ("filename", Name(1)),
    ("label", Name(1)),
    ("name", Name(2)),
    ("directoryLabel", Directory),
    ("filesize", Size),
    ("contentLength", Size),
    ("computed_md5", Digest(Algorithm::Md5)),
    ("supplied_md5", Digest(Algorithm::Md5)),
    ("checksum", Hash),
    ("hash", Hash),
    ("checksum_type", HashType),
    ("algorithm", HashType),
    ("action", NoFile("hide")),
    ("action", NoFile("folder")),
    ("action", NoFile("start")),
    ("deleted", NoFile("")),
    ("type", NoFile("directory")),
    ("type", NoFile("folder")),
];

/// The members of objects in an object.
const NESTED: &[(&[&str], Member)] = &[
    (&["properties", "contentLength"], Size),
    (&["properties", "contentMd5"], Digest(Algorithm::Md5)),
    (&["properties", "contentSettings", "contentMd5"], Digest(Algorithm::Md5)),
    (&["metadata", "hdi_isfolder"], NoFile("true")),
    (&["metadata", "name"], Name(3)),
    (&["metadata", "size"], Size),
    (&["metadata", "md5Hash"], Digest(Algorithm::Md5)),
    (&["metadata", "crc32c"], Digest(Algorithm::Crc32c)),
    (&["fileInfo", "large_file_sha1"], Digest(Algorithm::Sha1)),
    (&["lfs", "oid"], Digest(Algorithm::Sha256)),
    (&["lfs", "sha256"], Digest(Algorithm::Sha256)),
    (&["checksum", "value"], Hash),
    (&["checksum", "type"], HashType),
    (&["dataFile", "filename"], Name(3)),
    (&["dataFile", "filesize"], Size),
    (&["dataFile", "md5"], Digest(Algorithm::Md5)),
    (&["dataFile", "checksum", "value"], Hash),
    (&["dataFile", "checksum", "type"], HashType),
];

/// Words around the name of an algorithm: `md5Hash`, `crc32c_hash`, `contentSha1`.
const BEFORE: [&str; 1] = ["content"];
const AFTER: [&str; 2] = ["hash", "sum"];

/// Returns the algorithm in the name of a member.
pub(super) fn algorithm(name: &str) -> Option<Algorithm> {
    let cut = |before: &str| {
        let (start, rest) = name.split_at_checked(before.len())?;
        start.eq_ignore_ascii_case(before).then_some(rest)
    };
    let end = |after: &str| {
        let (rest, end) = name.split_at_checked(name.len().checked_sub(after.len())?)?;
        end.eq_ignore_ascii_case(after).then_some(rest)
    };
    let rest = BEFORE.into_iter().find_map(cut).or_else(|| AFTER.into_iter().find_map(end));
    Algorithm::called(rest.unwrap_or(name))
}

/// Returns whether a member of this name has a meaning.
pub(super) fn is_known(name: &str) -> bool {
    MEMBERS.iter().any(|(known, _)| *known == name)
        || NESTED.iter().any(|(path, _)| path[0] == name)
}

/// Adds the values of a member to an object.
pub(super) fn take<'a>(object: &mut Object<'a>, name: &str, value: Value<'a>) {
    let nested = NESTED.iter().filter(|(path, _)| path[0] == name);
    for (path, member) in nested {
        if let Some(value) = value.at(&path[1..]) {
            add(object, *member, value.clone());
        }
    }
    for (_, member) in MEMBERS.iter().filter(|(known, _)| *known == name) {
        add(object, *member, value.clone());
    }
}

fn add<'a>(object: &mut Object<'a>, member: Member, value: Value<'a>) {
    match member {
        _ if value == Value::Nothing => {}
        Name(rank) => {
            if object.name.as_ref().is_none_or(|(known, _)| rank < *known) {
                object.name = Some((rank, value));
            }
        }
        Directory => object.directory = value,
        Size if object.size == Value::Nothing => object.size = value,
        Size => {}
        // B2: the claim of a client, and no digest.
        Digest(algorithm) => object.digests.push((algorithm, value)),
        Hash if value.text().is_some() => object.hash = value,
        Hash => {}
        HashType => object.hash_type = value,
        NoFile(word) => {
            object.is_no_file |=
                value == Value::Is(true) || (!word.is_empty() && value.text() == Some(word));
        }
    }
}
