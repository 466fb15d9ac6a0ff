//! lanesum-md5 as a library: the digests of files, got in several ways; and OpenSSL's in one.
//!
//! It runs in a process of its own (this executable, called with the hidden word [`WORD`]), so that
//! it is pinned, timed and charged for its memory as the programs beside it are.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use lanesum_md5::{Md5, Md5Digest, md5_many};
use nix::fcntl::{OFlag, PosixFadviseAdvice, posix_fadvise};
use openssl::hash::MessageDigest;

use crate::buffer::Buffer;

/// The first argument that makes this executable the library's program: `WORD WAY FILE...`.
pub const WORD: &str = "__library";

const BUFFER_BYTES: usize = 128 * 1024;
/// A disk is asked for more at a time, since the system does not read ahead.
const DIRECT_BYTES: usize = 1 << 20;

/// Prints the digest of each file, as md5sum does.
pub fn serve(mut arguments: impl Iterator<Item = OsString>) -> Result<()> {
    let way = arguments.next().context("the library's program is called by the bench alone")?;
    let names: Vec<OsString> = arguments.collect();
    let way = way.to_string_lossy();
    let digests = if way == "memory" {
        in_memory(&names, |contents| md5_many(contents))?
    } else if way == "openssl-memory" {
        in_memory(&names, |contents| contents.iter().map(|content| openssl(content)).collect())?
    } else {
        let digest = |name| {
            digest(&way, Path::new(name)).with_context(|| Path::new(name).display().to_string())
        };
        names.iter().map(digest).collect::<Result<_>>()?
    };
    let mut lines = Vec::new();
    for (digest, name) in digests.iter().zip(&names) {
        write!(lines, "{digest}  ")?;
        lines.extend_from_slice(name.as_bytes());
        lines.push(b'\n');
    }
    Ok(io::stdout().write_all(&lines)?)
}

/// Loads all files, then times their digests, and says how long they took.
fn in_memory(
    names: &[OsString],
    digests: impl FnOnce(&[Vec<u8>]) -> Vec<Md5Digest>,
) -> Result<Vec<Md5Digest>> {
    let load = |name: &OsString| {
        std::fs::read(name).with_context(|| Path::new(name).display().to_string())
    };
    let contents: Vec<Vec<u8>> = names.iter().map(load).collect::<Result<_>>()?;
    let start = Instant::now();
    let digests = digests(&contents);
    eprintln!("seconds {}", start.elapsed().as_secs_f64());
    Ok(digests)
}

/// What stands for C, as a function that is called with all bytes at once.
fn openssl(content: &[u8]) -> Md5Digest {
    let digest = openssl::hash::hash(MessageDigest::md5(), content).expect("OpenSSL has MD5");
    Md5Digest::try_from(digest.as_ref()).expect("16 bytes")
}

/// The digest of one file, read in one of the ways.
fn digest(way: &str, path: &Path) -> Result<Md5Digest> {
    match way {
        "blksize" => {
            let file = File::open(path)?;
            let bytes = file.metadata()?.blksize() as usize;
            read(file, &mut vec![0; bytes])
        }
        "buffer" => read(File::open(path)?, Buffer::new(BUFFER_BYTES).bytes()),
        "readahead" => {
            let file = File::open(path)?;
            for advice in
                [PosixFadviseAdvice::POSIX_FADV_SEQUENTIAL, PosixFadviseAdvice::POSIX_FADV_WILLNEED]
            {
                // A length of 0 means up to the end.
                posix_fadvise(&file, 0, 0, advice)?;
            }
            read(file, Buffer::new(BUFFER_BYTES).bytes())
        }
        "direct" => read(open_direct(path)?, Buffer::new(DIRECT_BYTES).bytes()),
        _ => bail!("{way}: no such way"),
    }
}

/// Opens a file for reads that go past the page cache.
pub fn open_direct(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(OFlag::O_DIRECT.bits()).open(path)
}

/// Up to the length that the file has: after a last piece of odd length a direct read would be
/// refused.
fn read(mut file: File, buffer: &mut [u8]) -> Result<Md5Digest> {
    let mut left = file.metadata()?.len();
    let mut md5 = Md5::new();
    while left > 0 {
        let bytes = file.read(buffer)?;
        anyhow::ensure!(bytes > 0, "it became shorter");
        md5.update(&buffer[..bytes]);
        left = left.saturating_sub(bytes as u64);
    }
    Ok(md5.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Not a multiple of any buffer, nor of a block of a medium.
    const LENGTHS: [usize; 4] = [0, 5, BUFFER_BYTES, DIRECT_BYTES + BUFFER_BYTES + 5];

    #[test]
    fn every_way_has_the_same_digest() {
        let folder = tempfile::tempdir().unwrap();
        for length in LENGTHS {
            let content: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
            let path = folder.path().join(length.to_string());
            std::fs::write(&path, &content).unwrap();
            let expected = lanesum_md5::md5(&content);
            for way in ["blksize", "buffer", "readahead"] {
                assert_eq!(digest(way, &path).unwrap(), expected, "{way}, {length} bytes");
            }
            if open_direct(&path).is_ok() {
                assert_eq!(digest("direct", &path).unwrap(), expected, "direct, {length} bytes");
            }
            let names = [path.into_os_string()];
            assert_eq!(in_memory(&names, |contents| md5_many(contents)).unwrap(), [expected]);
            assert_eq!(openssl(&content), expected);
        }
        assert!(digest("sideways", folder.path()).is_err());
    }
}
