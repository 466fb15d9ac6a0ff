//! The key file of keyed checksums. What is in it is never printed.

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
    /// An algorithm needs a key and no file is named, or takes none and one is, or the file cannot
    /// be read or holds no key that fits.
    pub fn open(path: Option<&Path>, algorithms: Algorithms) -> Result<Option<Self>, Hinted> {
        let Some(path) = path else {
            return algorithms
                .iter()
                .find(|algorithm| algorithm.needs_key())
                .map_or(Ok(None), |algorithm| Err(missing(algorithm)));
        };
        if let Some(unkeyed) = algorithms.iter().find(|algorithm| algorithm.key_len().is_none()) {
            // What does not fit the key would be refused next.
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

    /// Warns when others may read the file: their checksums would be as good as the owner's.
    pub fn warn(&self, console: &mut Console) {
        if let Some(mode) = self.open_mode {
            let words =
                format!("warning: mode {mode:04o} lets other users read or replace the key");
            console.about(self.path.as_os_str().as_bytes(), &words);
            console.hint(&format!("chmod 600 {}", hints::value(&self.path)));
        }
    }
}

/// Refuses a key that comes from standard input where something else does: whoever reads first
/// takes both.
///
/// # Errors
/// It does, and `shared` is what else comes from there.
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

/// Whether a key comes from standard input; as a file, too, which would give it once more as
/// something else.
fn comes_from_there(key: &Path) -> bool {
    stdin::is(key) || names_standard_input(key.as_os_str().as_bytes())
}

/// The error of an algorithm that has no key.
fn missing(algorithm: Algorithm) -> Hinted {
    let holds = holds(algorithm.into());
    Hinted::new(format!("{algorithm} needs a key"), format!("--key-file FILE; {holds}"))
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
        1 => "1 byte is".to_owned(),
        0..=Key::MAX_FILE_LEN => format!("{bytes} bytes are"),
        _ => format!("more than {} bytes are", Key::MAX_FILE_LEN),
    }
}

/// What a key file for these algorithms, or for any, has in it.
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

/// How to ask for an algorithm that takes a key: this one, if there is one.
fn keyed(key: Option<&Key>) -> String {
    let takes_it = |algorithm: &Algorithm| match key {
        Some(key) => key.fits(*algorithm),
        None => algorithm.key_len().is_some(),
    };
    let names = Algorithm::ALL.into_iter().filter(takes_it);
    names.map(|algorithm| format!("-a {algorithm}")).collect::<Vec<_>>().join(" or ")
}
