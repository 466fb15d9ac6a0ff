//! Reads and hashes one input sequentially to its end.

use std::io;
use std::mem;
use std::sync::atomic::Ordering;

use rustix::fd::BorrowedFd;
use rustix::fs::{OFlags, fcntl_getfl};
use rustix::io::{Errno, retry_on_intr};

use super::buffer::Buffer;
use super::hashers::Hashers;
use super::read::LaneReader;
use super::stop::Stop;
use super::{Hashed, Options};
use crate::{Algorithms, Error};

/// Reads a file to its end, outside of a lane.
pub(super) fn hash(
    options: &Options,
    file: BorrowedFd<'_>,
    algorithms: Algorithms,
    stop: &Stop,
) -> Result<Hashed, Error> {
    let mut hashers = Hashers::new(algorithms, options.key.as_ref())?;
    let mut buffer = Buffer::new(0, LaneReader::Read);
    let room = buffer.room()?;
    let mut hashed = Hashed::default();
    let never_waits = fcntl_getfl(file).is_ok_and(|flags| flags.contains(OFlags::NONBLOCK));
    loop {
        let has_begun = hashed.bytes > 0 && never_waits;
        let read = read(file, room, has_begun, stop).map_err(io::Error::from)?;
        if read == 0 {
            break;
        }
        hashers.update(&room[..read]);
        hashed.bytes += read as u64;
        if let Some(progress) = &options.progress {
            progress.bytes.fetch_add(read as u64, Ordering::Relaxed);
        }
        if let Some(pace) = &options.pace {
            pace.take(read as u64, stop);
        }
    }
    hashers.finalize(&mut hashed.digests);
    Ok(hashed)
}

/// Reads available bytes. Waits for them if the file was opened without waiting.
///
/// A FIFO that no writer has opened yet reads as ended, but polls as not ready. After the last
/// writer has closed it, it polls as ready. So polling first finds the real end. The exception is a
/// writer that closed the FIFO before it was opened here and left bytes in it. Such a FIFO never
/// polls as ended, but once bytes were read, an end is real.
fn read(
    file: BorrowedFd<'_>,
    buffer: &mut [u8],
    mut has_begun: bool,
    stop: &Stop,
) -> Result<usize, Errno> {
    loop {
        if !mem::take(&mut has_begun) {
            stop.wait_for(file)?;
        } else if stop.is_set() {
            return Err(Errno::CANCELED);
        }
        match retry_on_intr(|| rustix::io::read(file, &mut *buffer)) {
            // Another reader has taken the bytes.
            Err(Errno::AGAIN) => {}
            read => return read,
        }
    }
}
