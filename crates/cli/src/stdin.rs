//! Standard input that several inputs share by mistake.

use std::io::{self, IsTerminal as _};
use std::path::Path;

use lanesum_checksum::check::List;
use lanesum_checksum::engine::inode_of;
use lanesum_list::Inode;
use rustix::fs::{FileType, Stat, fstat, stat};
use rustix::process::getpgrp;
use rustix::termios::tcgetpgrp;

/// Returns whether a path leads to standard input and its bytes can be read only once. This is
/// `/dev/stdin` or similar if it is a pipe, a socket or a terminal. A reader of such a path takes
/// bytes from the other reader.
pub fn is(path: &Path) -> bool {
    let Ok(stdin) = fstat(io::stdin()) else { return false };
    // /dev/null may be read any number of times.
    let gives_once = gives_once(&stdin) || io::stdin().is_terminal();
    gives_once && stat(path).is_ok_and(|there| inode_of(&there) == inode_of(&stdin))
}

/// Returns the inodes of inputs that can be read only once and that the program reads itself:
/// standard input with `stdin_is`, and the targets of the paths. No file can come from there.
pub fn taken<'a>(stdin_is: bool, paths: impl Iterator<Item = &'a Path>) -> Vec<Inode> {
    let stdin = stdin_is.then(|| fstat(io::stdin()).ok()).flatten();
    let others = paths.filter_map(|path| stat(path).ok()).filter(gives_once);
    stdin.into_iter().chain(others).map(|stat| inode_of(&stat)).collect()
}

fn gives_once(stat: &Stat) -> bool {
    matches!(FileType::from_raw_mode(stat.st_mode), FileType::Fifo | FileType::Socket)
}

/// Returns whether reading it would stop this process, because it is in the background of the
/// terminal.
pub fn would_stop() -> bool {
    tcgetpgrp(io::stdin()).is_ok_and(|foreground| foreground != getpgrp())
}

/// Returns the list for an argument.
pub fn list(argument: &Path) -> List {
    if is_meant_by(argument) { List::Stdin } else { List::Path(argument.to_owned()) }
}

/// Returns whether an argument means standard input, by its name or its target.
pub fn is_meant_by(argument: &Path) -> bool {
    argument == Path::new("-") || is(argument)
}
