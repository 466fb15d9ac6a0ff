//! The key file of keyed checksums. Its contents are never printed.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use lanesum_checksum::{Algorithm, Algorithms, Key};
use lanesum_list::names_standard_input;

use crate::console::{Console, shown};
use crate::failure::Hinted;
use crate::hints;
use crate::stdin;

/// Permission to read or write for the group or others.
const OPEN_TO_OTHERS: u32 = 0o066;

/// A key, and a warning about its file.
pub struct KeyFile {
    path: PathBuf,
    pub key: Key,
    /// The mode of the file, if other users have access.
    open_mode: Option<u32>,
}

impl KeyFile {
    /// Reads the key for the requested algorithms, or for any algorithm if the list is empty.
    ///
    /// # Errors
    /// An algorithm needs a key but no file is given, or a file is given but no algorithm needs it,
    /// or the file cannot be read, or has no suitable key.
    pub fn open(path: Option<&Path>, algorithms: Algorithms) -> Result<Option<Self>, Hinted> {
        let Some(path) = path else {
            return algorithms
                .iter()
                .find(|algorithm| algorithm.needs_key())
                .map_or(Ok(None), |algorithm| Err(missing(algorithm)));
        };
        if let Some(unkeyed) = algorithms.iter().find(|algorithm| algorithm.key_len().is_none()) {
            // A key of the wrong length would be refused next.
            let key = read(path).ok().and_then(|(content, _)| Key::from_bytes(&content));
            let keyed = keyed(key.as_ref());
            let words = format!("{unkeyed} takes no key");
            return Err(Hinted::new(words, format!("with --key-file, use {keyed}")));
        }
        let about = |words: String, algorithms| {
            Hinted::new(format!("{}: {words}", shown(path)), holds(algorithms))
        };
        let (content, metadata) = read(path)
            .map_err(|error| about(lanesum_checksum::error::message(&error), algorithms))?;
        let length = length(content.len());
        let key = Key::from_bytes(&content)
            .ok_or_else(|| about(format!("{length} not a key"), algorithms))?;
        if let Some(unfit) = algorithms.iter().find(|&algorithm| !key.fits(algorithm)) {
            return Err(about(format!("{length} not a key for {unfit}"), unfit.into()));
        }
        Ok(Some(Self { path: path.to_owned(), key, open_mode: open_mode(&metadata) }))
    }

    /// Warns if other users can read the file, because they could make the same checksums.
    pub fn warn(&self, console: &mut Console) {
        if let Some(mode) = self.open_mode {
            let may = match (mode & 0o044 > 0, mode & 0o022 > 0) {
                (true, false) => "read",
                (false, _) => "replace",
                (true, true) => "read or replace",
            };
            let words = format!("warning: mode {mode:04o} lets other users {may} the key");
            console.about(self.path.as_os_str().as_bytes(), &words);
            console.hint(&format!("chmod 600 {}", hints::value(&self.path)));
        }
    }
}

/// Refuses a key from standard input if another input comes from there. The first reader would take
/// both.
///
/// # Errors
/// It does. `shared` is the other input.
pub fn refuse_shared(path: Option<&Path>, shared: Option<&str>) -> Result<(), Hinted> {
    match (path, shared) {
        (Some(path), Some(shared)) if comes_from_there(path) => Err(Hinted::new(
            format!(
                "{}: the key cannot come from standard input when {shared} from there",
                shown(path)
            ),
            "use another descriptor: --key-file /dev/fd/3 3<FILE",
        )),
        _ => Ok(()),
    }
}

/// Returns whether the key comes from standard input. A path such as `/dev/stdin` counts, too.
fn comes_from_there(key: &Path) -> bool {
    stdin::is(key) || names_standard_input(key.as_os_str().as_bytes())
}

/// Returns the error of an algorithm without its key.
fn missing(algorithm: Algorithm) -> Hinted {
    let holds = holds(algorithm.into());
    Hinted::new(format!("{algorithm} needs a key"), format!("--key-file FILE; {holds}"))
}

/// Reads only as much of the file as needed to see whether it has a key.
fn read(path: &Path) -> io::Result<(Vec<u8>, Metadata)> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    let mut content = Vec::new();
    file.take(Key::MAX_FILE_LEN as u64 + 1).read_to_end(&mut content)?;
    Ok((content, metadata))
}

/// Returns the mode of a file that other users can read or write. The mode of a pipe says nothing.
fn open_mode(metadata: &Metadata) -> Option<u32> {
    let mode = metadata.permissions().mode() & 0o7777;
    (metadata.is_file() && mode & OPEN_TO_OTHERS != 0).then_some(mode)
}

fn length(bytes: usize) -> String {
    match bytes {
        1 => "1 byte is".to_owned(),
        0..=Key::MAX_FILE_LEN => format!("{bytes} bytes are"),
        _ => format!("more than {} bytes are", Key::MAX_FILE_LEN),
    }
}

/// Returns the expected contents of a key file for these algorithms, or for any.
fn holds(algorithms: Algorithms) -> String {
    let any = Algorithm::ALL.into_iter().collect();
    let algorithms = if algorithms.is_empty() { any } else { algorithms };
    let mut lengths: Vec<_> = algorithms.iter().filter_map(Algorithm::key_len).collect();
    lengths.sort_unstable();
    lengths.dedup();
    let either = |factor: usize| {
        let numbers: Vec<_> = lengths.iter().map(|length| (factor * length).to_string()).collect();
        numbers.join(" or ")
    };
    let (bytes, digits) = (either(1), either(2));
    format!(
        "a key file contains {bytes} bytes (for example from /dev/urandom), or {digits} \
         hexadecimal digits"
    )
}

/// Returns the option that selects an algorithm with a key: this one, if there is one.
fn keyed(key: Option<&Key>) -> String {
    let takes_it = |algorithm: &Algorithm| match key {
        Some(key) => key.fits(*algorithm),
        None => algorithm.key_len().is_some(),
    };
    let names = Algorithm::ALL.into_iter().filter(takes_it);
    names.map(|algorithm| format!("-a {algorithm}")).collect::<Vec<_>>().join(" or ")
}
