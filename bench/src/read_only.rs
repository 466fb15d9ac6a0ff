//! The limit of every file tool: open, read into one reused buffer, close, and nothing else.
//!
//! It runs in a process of its own (this executable, called with the hidden word [`WORD`]), so that
//! it is pinned, timed and charged for its memory as the programs beside it are.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::buffer::Buffer;

/// The first argument that makes this executable the reader.
pub const WORD: &str = "__read-only";

const BUFFER_BYTES: usize = 128 * 1024;

/// Reads every file named in a list (names ended by NUL) and prints how many bytes that were.
pub fn serve(mut arguments: impl Iterator<Item = OsString>) -> Result<()> {
    let list = arguments.next().context("the reader is called by the bench alone")?;
    println!("{}", read_list(Path::new(&list))?);
    Ok(())
}

/// Reads every file named in `list`; returns how many bytes that were.
pub fn read_list(list: &Path) -> Result<u64> {
    let names = File::open(list).with_context(|| list.display().to_string())?;
    read_all(BufReader::new(names))
}

fn read_all(mut names: impl BufRead) -> Result<u64> {
    let mut buffer = Buffer::new(BUFFER_BYTES);
    let mut name = Vec::new();
    let mut total = 0;
    while names.read_until(0, &mut name)? > 0 {
        let path = Path::new(OsStr::from_bytes(name.strip_suffix(&[0]).unwrap_or(&name)));
        total += read_one(path, buffer.bytes()).with_context(|| path.display().to_string())?;
        name.clear();
    }
    Ok(total)
}

fn read_one(path: &Path, buffer: &mut [u8]) -> std::io::Result<u64> {
    let mut file = File::open(path)?;
    let mut total = 0;
    loop {
        match file.read(buffer)? {
            0 => return Ok(total),
            bytes => total += bytes as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_bytes_of_all_files() {
        let folder = tempfile::tempdir().unwrap();
        let mut names = Vec::new();
        for (name, bytes) in [("a", 0), ("b", 5), ("c\nd", BUFFER_BYTES * 2 + 1)] {
            let path = folder.path().join(name);
            std::fs::write(&path, vec![7; bytes]).unwrap();
            names.extend_from_slice(path.as_os_str().as_bytes());
            names.push(0);
        }
        assert_eq!(read_all(&names[..]).unwrap(), 5 + 2 * BUFFER_BYTES as u64 + 1);
    }

    #[test]
    fn names_the_file_that_is_missing() {
        let error = read_all(&b"/nowhere/to/be/found\0"[..]).unwrap_err();
        assert!(error.to_string().contains("/nowhere/to/be/found"));
    }
}
