//! Lists from readers: files, pipes and terminals. [`lanesum_list`] parses the lines.

use std::fs::{File, Metadata};
use std::io::{self, BufRead, Chain, Cursor, Read as _, Take};
use std::os::unix::fs::MetadataExt as _;
use std::time::{SystemTime, UNIX_EPOCH};

use lanesum_list::formats::{Creation, Format, Mixed};
use lanesum_list::start::{self, NotAList};
use lanesum_list::{Dialect, Ending, RawLine, Splitter, Time};

/// The reason why a list cannot be opened. The caller adds the name of the list.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file is not text.
    #[error(transparent)]
    NotAList(#[from] NotAList),
    /// The start of the list could not be read.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A list after its start was examined. The examined bytes are read again, without the byte order
/// mark.
pub type Text<R> = Chain<Cursor<Vec<u8>>, Take<R>>;

/// Returns the present time in seconds and the name of this machine, for a list that must say both.
///
/// ```
/// assert!(lanesum_checksum::list::creation().time.seconds > 1_700_000_000);
/// ```
#[must_use]
pub fn creation() -> Creation {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = now.as_secs().try_into().unwrap_or_default();
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    Creation { time: Time { seconds, nanoseconds: 0 }, host }
}

/// The directory of all relative names of a list. A list that was joined from two lists may name
/// two directories.
///
/// ```
/// use lanesum_checksum::list::OneFolder;
///
/// let mut folder = OneFolder::default();
/// assert!(folder.take(Some(b"/a")).is_ok());
/// assert!(folder.take(Some(b"/b")).is_err());
/// ```
#[derive(Clone, Debug, Default)]
pub struct OneFolder {
    first: Option<Option<Vec<u8>>>,
}

/// The error for a list whose names are in different directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("its names are in a different directory than those before")]
pub struct AnotherFolder;

impl OneFolder {
    /// Adds the directory of a record, as returned by [`Format::folder`].
    ///
    /// # Errors
    /// Fails if it differs from that of the first record.
    pub fn take(&mut self, folder: Option<&[u8]>) -> Result<(), AnotherFolder> {
        match &self.first {
            None => self.first = Some(folder.map(<[u8]>::to_vec)),
            Some(first) if first.as_deref() != folder => return Err(AnotherFolder),
            Some(_) => {}
        }
        Ok(())
    }

    /// Returns the directory of the first record.
    #[must_use]
    pub fn into_first(self) -> Option<Vec<u8>> {
        self.first.flatten()
    }
}

/// The state of the file of a list when it was opened. After reading the list, the caller can check
/// whether the file has changed.
///
/// ```
/// use std::io::Write as _;
/// use lanesum_checksum::list::Snapshot;
///
/// let mut file = tempfile::tempfile()?;
/// let snapshot = Snapshot::of(&file)?;
/// assert!(!snapshot.has_changed());
/// file.write_all(b"more")?;
/// assert!(snapshot.has_changed());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Snapshot {
    /// `None` if it is not a regular file, because a pipe can be read only once.
    file: Option<(File, Facts)>,
}

/// The length and the modification time of a file.
type Facts = (u64, i64, i64);

fn facts(metadata: &Metadata) -> Facts {
    (metadata.len(), metadata.mtime(), metadata.mtime_nsec())
}

impl Snapshot {
    /// Takes a snapshot of an open file.
    ///
    /// # Errors
    /// Fails with the error of the system.
    pub fn of(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        let is_regular = metadata.is_file();
        let file = is_regular.then(|| Ok::<_, io::Error>((file.try_clone()?, facts(&metadata))));
        Ok(Self { file: file.transpose()? })
    }

    /// Returns whether the file is a regular file.
    #[must_use]
    pub const fn is_regular(&self) -> bool {
        self.file.is_some()
    }

    /// Returns whether the file was truncated or written to since.
    #[must_use]
    pub fn has_changed(&self) -> bool {
        let is_same = |file: &File, before: &Facts| {
            file.metadata().is_ok_and(|metadata| facts(&metadata) == *before)
        };
        self.file.as_ref().is_some_and(|(file, before)| !is_same(file, before))
    }
}

/// Examines the start of a list, and returns the whole list without a byte order mark.
///
/// Reads at most up to the end of the first relevant line, and at most [`start::HEAD`] bytes. So a
/// list that arrives line by line through a pipe is not delayed.
///
/// ```
/// use lanesum_checksum::list::{ListReader, open};
/// use lanesum_list::formats::{Line, Mixed};
/// use lanesum_list::{Dialect, Ending};
///
/// let text = open(&b"\xef\xbb\xbfe3069283  a\n"[..], Ending::Newline)?;
/// let mut list = ListReader::new(text);
/// let mut format = Mixed::new(Dialect::any());
/// let line = list.next_line(&mut format)?.unwrap();
/// assert!(matches!(line.parse(&mut format), Line::Record { .. }));
///
/// let error = open(&b"\xff\xfee\x003\x00"[..], Ending::Newline).unwrap_err();
/// assert!(error.to_string().contains("UTF-16"));
/// # Ok::<(), lanesum_checksum::list::OpenError>(())
/// ```
///
/// # Errors
///
/// Fails with [`OpenError`] if the list is not text or cannot be read.
pub fn open<R: BufRead>(mut reader: R, ending: Ending) -> Result<Text<R>, OpenError> {
    let (mut head, mut rest) = (Vec::new(), u64::MAX);
    while head.len() < 4 || (head.len() < start::HEAD && !has_line(&head, ending)) {
        let buffer = match reader.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        if buffer.is_empty() {
            // On a terminal the user types the end only once.
            rest = 0;
            break;
        }
        let taken = buffer.len().min(start::HEAD - head.len());
        head.extend_from_slice(&buffer[..taken]);
        reader.consume(taken);
    }
    let text = start::of_text(&head, ending)?;
    head.drain(..text);
    Ok(Cursor::new(head).chain(reader.take(rest)))
}

/// Returns whether there are the complete lines that show the format: one that is neither empty nor
/// a comment, and the one behind it if it may be a title.
fn has_line(head: &[u8], ending: Ending) -> bool {
    let is_end = |&byte: &u8| byte == ending.byte();
    let says_something = |line: &[u8]| !matches!(line, [] | [b'\r'] | [b'#' | b';', ..]);
    let whole = head.iter().rposition(is_end).map_or(&[][..], |end| &head[..end]);
    let mut lines = whole.split(is_end).filter(|line| says_something(line));
    // The line behind a title shows that it is not a line of SFV.
    lines.next().is_some_and(|first| !may_be_title(first) || lines.next().is_some())
}

/// Returns whether a line is one of SFV, or a title that ends in a date or a commit.
fn may_be_title(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    let words = || line.rsplit(u8::is_ascii_whitespace);
    let last = words().next().unwrap_or_default();
    let is_short = last.len() == 8 && last.iter().all(u8::is_ascii_hexdigit);
    is_short && words().nth(1).is_some() && !Mixed::new(Dialect::any()).detect(line)
}

/// Reads the lines of a list, or the texts of its records.
///
/// A last line without a line ending is valid, as in GNU md5sum.
#[derive(Debug)]
pub struct ListReader<R> {
    reader: R,
    splitter: Splitter,
    /// The number of buffered bytes after the last line.
    buffered: usize,
}

impl<R: BufRead> ListReader<R> {
    /// Makes a reader of the lines of a list.
    pub fn new(reader: R) -> Self {
        Self { reader, splitter: Splitter::default(), buffered: 0 }
    }

    /// Returns the next line, whose end the format finds, or `None` at the end of the list.
    ///
    /// # Errors
    ///
    /// Fails with the error of the reader, after the previous lines were returned.
    pub fn next_line(
        &mut self,
        format: &mut (impl Format + ?Sized),
    ) -> io::Result<Option<RawLine<'_>>> {
        loop {
            let buffer = match self.reader.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if buffer.is_empty() {
                return Ok(self.splitter.finish(format));
            }
            let length = buffer.len();
            let taken = self.splitter.push(format, buffer);
            self.buffered = length - taken;
            self.reader.consume(taken);
            if self.splitter.line().is_some() {
                break;
            }
        }
        Ok(self.splitter.line())
    }

    /// Returns whether a line with this ending is in the buffer of the reader, so that reading it
    /// does not block.
    pub fn has_next(&mut self, ending: Ending) -> bool {
        self.buffered > 0
            && self
                .reader
                .fill_buf()
                .is_ok_and(|buffer| memchr::memchr(ending.byte(), buffer).is_some())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read};

    use lanesum_list::MAX_LINE;

    use super::*;

    fn format() -> Mixed {
        Mixed::new(Dialect::any())
    }

    #[test]
    fn an_overlong_line_is_not_buffered() {
        let mut list = vec![b'a'; MAX_LINE + 1];
        list.extend_from_slice(b"\nb\n");
        for buffer in [1000, 1 << 22] {
            let mut lines = ListReader::new(BufReader::with_capacity(buffer, &list[..]));
            let line = lines.next_line(&mut format()).unwrap();
            assert_eq!(line, Some(RawLine { number: 1, text: None, is_ended: true }));
            let line = lines.next_line(&mut format()).unwrap();
            assert_eq!(line, Some(RawLine::whole(2, b"b")));
            assert_eq!(lines.next_line(&mut format()).unwrap(), None);
        }
    }

    /// Returns a line, is interrupted once, returns half a line, and fails.
    struct Failing(u32);

    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0 += 1;
            let text: &[u8] = match self.0 {
                1 => b"a",
                2 => return Err(io::ErrorKind::Interrupted.into()),
                3 => b"b\nhalf",
                _ => return Err(io::Error::from_raw_os_error(5)),
            };
            buffer[..text.len()].copy_from_slice(text);
            Ok(text.len())
        }
    }

    #[test]
    fn has_next_does_not_read_ahead() {
        let newline = Ending::Newline;
        let mut lines = ListReader::new(BufReader::new(Failing(1)));
        assert!(!lines.has_next(newline), "nothing was read yet");
        assert_eq!(lines.next_line(&mut format()).unwrap().unwrap().text, Some(&b"b"[..]));
        assert!(!lines.has_next(newline), "half a line");
        let list = b"one\ntwo\n\nhalf";
        let mut lines = ListReader::new(BufReader::new(&list[..]));
        for is_next in [true, true, false, false] {
            assert!(lines.next_line(&mut format()).unwrap().is_some());
            assert_eq!(lines.has_next(newline), is_next);
        }
    }

    #[test]
    fn reader_errors_are_passed_on() {
        let mut lines = ListReader::new(BufReader::new(Failing(0)));
        assert_eq!(lines.next_line(&mut format()).unwrap().unwrap().text, Some(&b"ab"[..]));
        assert_eq!(lines.next_line(&mut format()).unwrap_err().raw_os_error(), Some(5));
    }

    /// A terminal: the reader sees the end once, and then the next input.
    #[test]
    fn the_end_is_read_once() {
        struct Terminal(usize);
        impl io::Read for Terminal {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.0 += 1;
                let typed: &[u8] = if self.0 == 1 { b"" } else { b"more\n" };
                buffer[..typed.len()].copy_from_slice(typed);
                Ok(typed.len())
            }
        }
        let mut text = String::new();
        let list = open(BufReader::new(Terminal(0)), Ending::Newline);
        list.unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "");
    }

    /// An SFV list is detected by its first line after the comments, for all buffer sizes.
    #[test]
    fn comments_are_read_to_their_end() {
        let list = b"; by hand\n# of today\na 352441C2\nb 352441C2\n";
        for buffer in 1..list.len() {
            let text = open(BufReader::with_capacity(buffer, &list[..]), Ending::Newline).unwrap();
            let head = text.get_ref().0.get_ref();
            assert!(head.starts_with(&list[..32]), "{buffer}");
        }
    }

    #[test]
    fn the_examined_start_is_read_again() {
        let list = "d41d8cd98f00b204e9800998ecf8427e  name\n".repeat(100);
        let marked = [b"\xef\xbb\xbf", list.as_bytes()].concat();
        for start in [list.as_bytes(), &marked] {
            for buffer in [1, 2, 3, 5, 4096, 1 << 16] {
                let reader = BufReader::with_capacity(buffer, start);
                let mut text = String::new();
                open(reader, Ending::Newline).unwrap().read_to_string(&mut text).unwrap();
                assert_eq!(text, list, "{buffer}");
            }
        }
    }
}
