//! A file's beginning: what was opened, its first bytes, and a look at it.

use std::io::{self, ErrorKind};
use std::ops::Range;

use rustix::fd::OwnedFd;
use rustix::fs::{FileType, SeekFrom};
use rustix::io::Errno;

use super::hashers::Hashers;
use super::midstate::Midstate;
use super::read::lease;
use super::round::LaneShared;
use super::version::{FileVersion, is_made_up};
use super::{Options, inode_of};
use crate::{Algorithms, Error};

/// What a path leads to.
pub(super) enum Opened {
    /// A regular file.
    Regular(Begun),
    /// Something to be read alone: a FIFO, a device, a terminal.
    Other(OwnedFd),
}

/// Looks at what was opened.
fn look(file: OwnedFd, Options { own_files, taken, .. }: &Options) -> Result<Opened, Error> {
    let stat = rustix::fs::fstat(&file).map_err(io::Error::from)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile if own_files.contains(&inode_of(&stat)) => Err(Error::OwnOutput),
        FileType::RegularFile => {
            let version = FileVersion::of(&stat);
            let (read, has_writer, part, behind) = (0..0, false, None, None);
            Ok(Opened::Regular(Begun { file, version, read, has_writer, part, behind }))
        }
        FileType::Directory => Err(io::Error::from(Errno::ISDIR).into()),
        _ if taken.contains(&inode_of(&stat)) => Err(Error::Taken),
        _ => Ok(Opened::Other(file)),
    }
}

/// A regular file that was looked at, and how much of it is in the buffer already.
pub(super) struct Begun {
    pub(super) file: OwnedFd,
    pub(super) version: FileVersion,
    pub(super) read: Range<usize>,
    /// Somebody may be writing to it.
    pub(super) has_writer: bool,
    /// Which bytes of it are to be read, where that is not all.
    pub(super) part: Option<Range<u64>>,
    /// What the computations over it begin with, where it is read over several days.
    pub(super) behind: Option<Box<Midstate>>,
}

impl Begun {
    /// Whether all is read: as much as the size says, unless it is a pseudo file, whose size says
    /// nothing. (A file of nothing but a hole looks like one.)
    pub(super) fn is_whole(&self) -> bool {
        let length = self.read.len() as u64;
        length > 0 && length == self.version.size() && self.version.has_blocks()
    }

    /// Which bytes are to be read, as far as its size says.
    pub(super) fn range(&self) -> Range<u64> {
        self.part.clone().unwrap_or(0..self.version.size())
    }

    /// What is computed over it by itself.
    ///
    /// # Errors
    /// As of [`Hashers::behind`]; also where it is not known where one of them stands that is
    /// computed in a lane.
    pub(super) fn hashers(
        &self,
        algorithms: Algorithms,
        options: &Options,
    ) -> Result<Hashers, Error> {
        let nothing = Midstate::default();
        let behind = self.behind.as_deref().unwrap_or(&nothing);
        Hashers::behind(algorithms, options.key.as_ref(), behind)
    }

    /// Where reading goes on, in bytes from the beginning of the file.
    pub(super) fn position(&self) -> u64 {
        self.part.as_ref().map_or(self.read.len() as u64, |part| part.start)
    }
}

/// Looks at a file of which a part is to be read, and goes to where that begins.
///
/// # Errors
/// The system's, [`Error::OwnOutput`], and [`Error::Changed`] of a file that ends before a stretch
/// of it begins.
pub(super) fn look_at_part(
    file: OwnedFd,
    part: &Range<u64>,
    behind: Option<&Midstate>,
    shared: &LaneShared,
    options: &Options,
) -> Result<Begun, Error> {
    let Opened::Regular(mut begun) = look(file, options)? else {
        return Err(no_parts());
    };
    // Its size says nothing of where a part of it would be.
    if !begun.version.has_blocks() && is_made_up(&begun.file) {
        return Err(no_parts());
    }
    if options.detect_changes {
        if !shared.is_settled(&begun.version, &begun.file) {
            shared.await_clock(&begun.version, &begun.file);
        }
        begun.has_writer = lease::has_writer(&begun.file);
    }
    // What begins behind the end is empty, wherever that is.
    let size = begun.version.size();
    let part = part.start.min(size)..part.end.min(size);
    rustix::fs::seek(&begun.file, SeekFrom::Start(part.start)).map_err(io::Error::from)?;
    if part.is_empty() && behind.is_some_and(|behind| behind.bytes() > 0) {
        return Err(Error::Changed);
    }
    let behind = behind.cloned().map(Box::new);
    Ok(Begun { part: Some(part), behind, ..begun })
}

fn no_parts() -> Error {
    io::Error::new(ErrorKind::Unsupported, "only a regular file with a size has parts").into()
}

/// Reads the first bytes of what was opened, and looks at it then.
///
/// Most files are small, and looking at them twice costs more than hashing them. If the last change
/// was before it was opened, and its size is what was read, it is done with. Of a file that may
/// have changed meanwhile nothing counts as read: it is read again from a time on at which a change
/// shows, and looked at again in the end. What is read as it comes, a FIFO or a terminal, has no
/// place to read from, and keeps what it holds. Where changes do not matter, it is looked at first.
///
/// Whether somebody may be writing to it is asked where there is time for that: to ask costs half
/// as much as all the rest with a small file, and such a one is read in some microseconds. So of
/// what is whole it is asked only when it changed a moment ago.
///
/// `read_first` reads and gives the place of what it read.
///
/// # Errors
/// The system's, and [`Error::OwnOutput`].
pub(super) fn read_and_look(
    file: OwnedFd,
    mut read_first: impl FnMut(&OwnedFd) -> Result<Range<usize>, Error>,
    shared: &LaneShared,
    options: &Options,
) -> Result<Opened, Error> {
    let early = options.detect_changes.then(|| read_first(&file));
    let mut begun = match look(file, options)? {
        Opened::Regular(begun) => begun,
        other => return Ok(other),
    };
    let read = match early {
        Some(read) if shared.is_settled(&begun.version, &begun.file) => read?,
        Some(_) => {
            shared.await_clock(&begun.version, &begun.file);
            begun.has_writer = lease::has_writer(&begun.file);
            return Ok(Opened::Regular(begun));
        }
        // What is read of a pseudo file may not be there a second time.
        None if !begun.version.has_blocks() => return Ok(Opened::Regular(begun)),
        None => read_first(&begun.file)?,
    };
    let mut begun = Begun { read, ..begun };
    if options.detect_changes && (!begun.is_whole() || begun.version.is_recent(shared.now.get())) {
        begun.has_writer = lease::has_writer(&begun.file);
        if begun.has_writer {
            // To be read as it comes, and looked at in the end.
            begun.read = 0..0;
        }
    }
    if !begun.read.is_empty() && !begun.is_whole() {
        // From there on it is read as it comes.
        let next = SeekFrom::Start(begun.read.len() as u64);
        rustix::fs::seek(&begun.file, next).map_err(io::Error::from)?;
    }
    Ok(Opened::Regular(begun))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::buffer::Buffer;
    use crate::engine::read::LaneReader;
    use crate::engine::version::stamping_clock;

    #[test]
    fn a_fresh_file_is_read_only_after_the_clock_ticks() {
        let shared = LaneShared::new(&std::sync::Arc::default(), None, None);
        let mut buffer = Buffer::new(0, LaneReader::Read);
        for round in 0..20 {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(&file, "abc").unwrap();
            shared.look_at_clock();
            let read_first = |file: &OwnedFd| buffer.read_first(file);
            let Opened::Regular(begun) =
                read_and_look(file.into_file().into(), read_first, &shared, &Options::default())
                    .unwrap()
            else {
                panic!("a regular file")
            };
            if shared.is_stamped_here(begun.version.device(), &begun.file) {
                assert!(begun.version.tells_from(stamping_clock()), "{round}");
                // Only what was read after that counts.
                assert!(begun.read.is_empty() || begun.version.tells_from(shared.now.get()));
            }
        }
    }
}
