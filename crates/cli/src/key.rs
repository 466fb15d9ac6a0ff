//! The key file of keyed checksums. What is in it is never printed.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use lanesum_checksum::{Algorithm, Algorithms, Key};

use crate::console::Console;
use crate::failure::Usage;

/// Reading or writing by the group or by others.
const OPEN_TO_OTHERS: u32 = 0o066;

/// A key, and what is to be said about its file.
pub struct KeyFile {
    path: PathBuf,
    pub key: Key,
    /// The file's mode, when that lets others at it.
    open_mode: Option<u32>,
}

impl KeyFile {
    /// Reads the key for the algorithms asked for; for any algorithm where none is.
    ///
    /// # Errors
    /// An algorithm takes no key, or the file cannot be read or holds none that fits.
    pub fn open(path: &Path, algorithms: Algorithms) -> Result<Self, Usage> {
        if let Some(unkeyed) = algorithms.iter().find(|algorithm| algorithm.key_len().is_none()) {
            return Err(Usage(format!("{unkeyed} takes no key; with --key-file say {}", keyed())));
        }
        let wanted = wanted(algorithms);
        let path_shown = path.display();
        let (content, metadata) = read(path).map_err(|error| {
            let reason = lanesum_checksum::error::message(&error);
            Usage(format!("{path_shown}: {reason}; --key-file needs a file with a key: {wanted}"))
        })?;
        let key = Key::from_file(&content)
            .filter(|key| algorithms.iter().all(|algorithm| key.fits(algorithm)))
            .ok_or_else(|| {
                let length = length(content.len());
                Usage(format!("{path_shown}: no key in its {length}: {wanted}"))
            })?;
        Ok(Self { path: path.to_owned(), key, open_mode: open_mode(&metadata) })
    }

    /// Warns when others may read the file: their checksums would be as good as the owner's.
    pub fn warn(&self, console: &mut Console) {
        if let Some(mode) = self.open_mode {
            let words = format!(
                "warning: mode {mode:04o} lets others read or replace this key; make it 0600"
            );
            console.about(self.path.as_os_str().as_bytes(), &words);
        }
    }
}

/// No more of a file than shows whether it holds a key.
fn read(path: &Path) -> io::Result<(Vec<u8>, Metadata)> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    let mut content = Vec::new();
    file.take(Key::MAX_FILE_LEN as u64 + 1).read_to_end(&mut content)?;
    Ok((content, metadata))
}

/// The mode of a file that others may read or write. What a pipe says of itself tells nothing.
fn open_mode(metadata: &Metadata) -> Option<u32> {
    let mode = metadata.permissions().mode() & 0o7777;
    (metadata.is_file() && mode & OPEN_TO_OTHERS != 0).then_some(mode)
}

fn length(bytes: usize) -> String {
    match bytes {
        1 => "1 byte".to_owned(),
        0..=Key::MAX_FILE_LEN => format!("{bytes} bytes"),
        _ => format!("more than {} bytes", Key::MAX_FILE_LEN),
    }
}

/// The keys that these algorithms take, or that there are, and how to make one.
fn wanted(algorithms: Algorithms) -> String {
    let algorithms =
        if algorithms.is_empty() { Algorithm::ALL.into_iter().collect() } else { algorithms };
    let each = algorithms.iter().filter_map(|algorithm| Some((algorithm, algorithm.key_len()?)));
    let each: Vec<_> = each
        .map(|(algorithm, length)| {
            format!("{algorithm} takes {length} bytes or {} hexadecimal digits", 2 * length)
        })
        .collect();
    format!("{}; `head -c N /dev/urandom` makes N bytes", each.join(", "))
}

/// How to ask for an algorithm that takes a key.
fn keyed() -> String {
    let names = Algorithm::ALL.into_iter().filter(|algorithm| algorithm.key_len().is_some());
    names.map(|algorithm| format!("-a {algorithm}")).collect::<Vec<_>>().join(" or ")
}
