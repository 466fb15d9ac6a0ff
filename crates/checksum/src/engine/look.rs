//! The start of a file: its kind, its first bytes, and its metadata.

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

/// The kind of an opened object.
pub(super) enum Opened {
    /// A regular file.
    Regular(Begun),
    /// An object to read alone: a FIFO, a device or a terminal.
    Other(OwnedFd),
}

/// Examines an opened object.
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

/// An examined regular file, and the number of its bytes in the buffer.
pub(super) struct Begun {
    pub(super) file: OwnedFd,
    pub(super) version: FileVersion,
    pub(super) read: Range<usize>,
    /// Whether another process may be writing to it.
    pub(super) has_writer: bool,
    /// The bytes to read, if not all.
    pub(super) part: Option<Range<u64>>,
    /// The initial state of the computations, for a file that is read in chunks.
    pub(super) behind: Option<Box<Midstate>>,
}

impl Begun {
    /// Returns whether the whole file is read: as many bytes as its size, unless it is a pseudo
    /// file, whose size is meaningless. A file that is only a hole looks like a pseudo file.
    pub(super) fn is_whole(&self) -> bool {
        let length = self.read.len() as u64;
        length > 0 && length == self.version.size() && self.version.has_blocks()
    }

    /// Returns the bytes to read, according to the size.
    pub(super) fn range(&self) -> Range<u64> {
        self.part.clone().unwrap_or(0..self.version.size())
    }

    /// Returns the computations outside of a lane.
    ///
    /// # Errors
    /// Fails as [`Hashers::behind`] does, and if the state of an algorithm in a lane is missing.
    pub(super) fn hashers(
        &self,
        in_lanes: Algorithms,
        others: Algorithms,
        options: &Options,
    ) -> Result<Hashers, Error> {
        let nothing = Midstate::default();
        let behind = self.behind.as_deref().unwrap_or(&nothing);
        if self.behind.is_some() {
            // Lanes take over the same states.
            Hashers::behind(in_lanes, None, behind)?;
        }
        Hashers::behind(others, options.key.as_ref(), behind)
    }

    /// Returns the position to read from, in bytes from the start of the file.
    pub(super) fn position(&self) -> u64 {
        self.part.as_ref().map_or(self.read.len() as u64, |part| part.start)
    }
}

/// Examines a file of which a part is to be read, and seeks to the start of the part.
///
/// # Errors
/// Fails with the error of the system, with [`Error::OwnOutput`], or with [`Error::Changed`] if the
/// file ends before the chunk starts.
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
    // The size of a pseudo file does not tell the position of a part.
    if !begun.version.has_blocks() && is_made_up(&begun.file) {
        return Err(no_parts());
    }
    if options.detect_changes {
        if !shared.is_settled(&begun.version, &begun.file) {
            shared.await_clock(&begun.version, &begun.file);
        }
        begun.has_writer = lease::has_writer(&begun.file);
    }
    // A part after the end of the file is empty.
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
    io::Error::new(ErrorKind::Unsupported, "not a regular file with a size, so it has no parts")
        .into()
}

/// Reads the first bytes of an opened object, and then examines it.
///
/// Most files are small, and examining them twice costs more than hashing them. A file is done if
/// its last change was before it was opened and its size equals the bytes read. If a file may have
/// changed meanwhile, the bytes read do not count. It is read again at a time at which a change
/// would show, and examined again at the end. FIFOs and terminals have no read position and keep
/// their bytes. If changes are ignored, the file is examined first.
///
/// Asking for writers costs half as much as all other work for a small file, which is read in
/// microseconds. So for a complete small file it is asked only if the file changed a moment ago.
///
/// `read_first` reads and returns the place of the bytes.
///
/// # Errors
/// Fails with the error of the system, or with [`Error::OwnOutput`].
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
        // A second read of a pseudo file may return nothing.
        None if !begun.version.has_blocks() => return Ok(Opened::Regular(begun)),
        None => read_first(&begun.file)?,
    };
    let mut begun = Begun { read, ..begun };
    if options.detect_changes && (!begun.is_whole() || begun.version.is_recent(shared.now.get())) {
        begun.has_writer = lease::has_writer(&begun.file);
        if begun.has_writer {
            // Read to its end, and examined at the end.
            begun.read = 0..0;
        }
    }
    if !begun.read.is_empty() && !begun.is_whole() {
        // It is read sequentially from there.
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
                assert!(begun.version.distinguishes(stamping_clock()), "{round}");
                // Only bytes read after that count.
                assert!(begun.read.is_empty() || begun.version.distinguishes(shared.now.get()));
            }
        }
    }
}
