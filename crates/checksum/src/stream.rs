//! Lines that are written while they are read: from a pipe, a terminal, a socket.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::list::Ending;

/// As much as a pipe holds, in bytes.
const BUFFER: usize = 1 << 16;

/// Reads lines of any file; the watch, which a regular file needs none of, tells whether the next one is there.
pub(crate) fn read(file: File, ending: Ending) -> (Box<dyn BufRead + Send>, Option<Watch>) {
    match file.metadata() {
        Ok(metadata) if metadata.is_file() => (Box::new(BufReader::new(file)), None),
        _ => {
            let (stream, watch) = open(file, ending);
            (Box::new(stream), Some(watch))
        }
    }
}

fn open(file: File, ending: Ending) -> (Stream, Watch) {
    let file = Arc::new(file);
    let holds_line = Arc::new(AtomicBool::new(false));
    let watch = Watch { file: Arc::clone(&file), holds_line: Arc::clone(&holds_line) };
    let reader = BufReader::with_capacity(BUFFER, file);
    (Stream { reader, ending: ending.byte(), holds_line }, watch)
}

/// The bytes of the stream.
struct Stream {
    reader: BufReader<Arc<File>>,
    ending: u8,
    /// Whether the buffer holds the end of a line.
    holds_line: Arc<AtomicBool>,
}

/// Looks at a stream that someone else reads.
pub(crate) struct Watch {
    file: Arc<File>,
    holds_line: Arc<AtomicBool>,
}

impl Watch {
    /// Whether whoever reads the next line has to wait for its writer. A line of which only the
    /// beginning was written is not noticed.
    pub(crate) fn would_block(&self) -> bool {
        if self.holds_line.load(Ordering::Relaxed) {
            return false;
        }
        let mut files = [PollFd::new(&self.file, PollFlags::IN)];
        matches!(poll(&mut files, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })), Ok(0))
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut available = self.fill_buf()?;
        let length = available.read(buffer)?;
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for Stream {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, length: usize) {
        self.reader.consume(length);
        let holds_line = memchr::memchr(self.ending, self.reader.buffer()).is_some();
        self.holds_line.store(holds_line, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::fd::OwnedFd;

    use super::*;

    #[test]
    fn a_line_that_is_not_written_yet_is_waited_for() {
        let (reader, mut writer) = io::pipe().unwrap();
        let (mut stream, watch) = open(OwnedFd::from(reader).into(), Ending::Newline);
        let mut line = String::new();
        assert!(watch.would_block());
        writer.write_all(b"one\ntwo\nthr").unwrap();
        for expected in ["one\n", "two\n"] {
            assert!(!watch.would_block());
            line.clear();
            stream.read_line(&mut line).unwrap();
            assert_eq!(line, expected);
        }
        assert!(watch.would_block(), "a part of a line is none");
        writer.write_all(b"ee\n").unwrap();
        assert!(!watch.would_block());
        line.clear();
        stream.read_line(&mut line).unwrap();
        assert_eq!(line, "three\n");
        assert!(watch.would_block());
        drop(writer);
        assert!(!watch.would_block(), "the end is there");
    }
}
