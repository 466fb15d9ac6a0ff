//! Standard input, which some inputs share by mistake.

use std::io::{self, IsTerminal as _};
use std::path::Path;

use lanesum_checksum::engine::FileId;
use rustix::fs::{FileType, fstat, stat};

/// Whether a path leads to what standard input is, where that gives its bytes only once: `/dev/stdin`
/// and its like when it is a pipe, a socket or a terminal. What reads such a path takes from
/// whoever reads standard input.
pub fn is(path: &Path) -> bool {
    let Ok(stdin) = fstat(io::stdin()) else { return false };
    let gives_once = match FileType::from_raw_mode(stdin.st_mode) {
        FileType::Fifo | FileType::Socket => true,
        // Not /dev/null, which anybody may read as often as they like.
        FileType::CharacterDevice => io::stdin().is_terminal(),
        _ => false,
    };
    gives_once && stat(path).is_ok_and(|there| FileId::from(&there) == FileId::from(&stdin))
}

/// Whether an argument stands for standard input, by its name or by where it leads.
pub fn is_meant_by(argument: &Path) -> bool {
    argument == Path::new("-") || is(argument)
}
