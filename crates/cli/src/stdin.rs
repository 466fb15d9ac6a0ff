//! Standard input, which some inputs share by mistake.

use std::io::{self, IsTerminal as _};
use std::path::Path;

use lanesum_checksum::check::List;
use lanesum_checksum::engine::inode_of;
use lanesum_list::Inode;
use rustix::fs::{FileType, Stat, fstat, stat};
use rustix::process::getpgrp;
use rustix::termios::tcgetpgrp;

/// Whether a path leads to what standard input is, where that gives its bytes only once:
/// `/dev/stdin` and its like when it is a pipe, a socket or a terminal. What reads such a path
/// takes from whoever reads standard input.
pub fn is(path: &Path) -> bool {
    let Ok(stdin) = fstat(io::stdin()) else { return false };
    // Not /dev/null, which anybody may read as often as they like.
    let gives_once = gives_once(&stdin) || io::stdin().is_terminal();
    gives_once && stat(path).is_ok_and(|there| inode_of(&there) == inode_of(&stdin))
}

/// What gives its bytes only once and is read by this program itself: standard input where
/// `stdin_is`, and what the paths lead to. No file can come from there.
pub fn taken<'a>(stdin_is: bool, paths: impl Iterator<Item = &'a Path>) -> Vec<Inode> {
    let stdin = stdin_is.then(|| fstat(io::stdin()).ok()).flatten();
    let others = paths.filter_map(|path| stat(path).ok()).filter(gives_once);
    stdin.into_iter().chain(others).map(|stat| inode_of(&stat)).collect()
}

fn gives_once(stat: &Stat) -> bool {
    matches!(FileType::from_raw_mode(stat.st_mode), FileType::Fifo | FileType::Socket)
}

/// Whether reading it would stop this process: it is a terminal in whose background that is.
pub fn would_stop() -> bool {
    tcgetpgrp(io::stdin()).is_ok_and(|foreground| foreground != getpgrp())
}

/// The list that an argument names.
pub fn list(argument: &Path) -> List {
    if is_meant_by(argument) { List::Stdin } else { List::Path(argument.to_owned()) }
}

/// Whether an argument stands for standard input, by its name or by where it leads.
pub fn is_meant_by(argument: &Path) -> bool {
    argument == Path::new("-") || is(argument)
}
