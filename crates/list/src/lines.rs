//! Splits a list into its lines, in bounded memory.

use std::io::{self, BufRead};

use crate::{Dialect, Ending, Line, Parser};

/// The longest line that is read, in bytes without its ending: 1 MiB. A name has at most
/// `PATH_MAX`, 4096 bytes, and a longer line is nobody's list.
pub const MAX_LINE: usize = 1 << 20;

/// A line as it stands in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawLine<'a> {
    /// Counts from 1.
    pub number: u64,
    /// The line without its ending; `None` when it is longer than [`MAX_LINE`].
    pub text: Option<&'a [u8]>,
}

/// The lines of a list.
///
/// A last line without an ending is a line, as it is to GNU md5sum.
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    ending: u8,
    line: Vec<u8>,
    number: u64,
    /// Bytes that the reader had behind the last line: it gives them without reading.
    buffered: usize,
}

impl<R: BufRead> Lines<R> {
    /// The lines of what the reader still holds.
    pub const fn new(reader: R, ending: Ending) -> Self {
        Self { reader, ending: ending.byte(), line: Vec::new(), number: 0, buffered: 0 }
    }

    /// The next line; `None` at the end.
    ///
    /// # Errors
    ///
    /// The reader's. What was read of the line is lost; lines before it have been given out.
    pub fn next_line(&mut self) -> io::Result<Option<RawLine<'_>>> {
        self.line.clear();
        let mut begun = false;
        let mut too_long = false;
        loop {
            let buffer = match self.reader.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if buffer.is_empty() && !begun {
                return Ok(None);
            }
            begun = true;
            let end = memchr::memchr(self.ending, buffer);
            let piece = &buffer[..end.unwrap_or(buffer.len())];
            too_long |= piece.len() > MAX_LINE - self.line.len();
            if !too_long {
                self.line.extend_from_slice(piece);
            }
            let is_last = end.is_some() || buffer.is_empty();
            let used = piece.len() + usize::from(end.is_some());
            self.buffered = buffer.len() - used;
            self.reader.consume(used);
            if is_last {
                break;
            }
        }
        self.number += 1;
        Ok(Some(RawLine { number: self.number, text: (!too_long).then_some(&self.line) }))
    }

    /// Whether the whole next line is in the reader's buffer, so that reading it does not wait.
    pub fn has_next(&mut self) -> bool {
        self.buffered > 0
            && self
                .reader
                .fill_buf()
                .is_ok_and(|buffer| memchr::memchr(self.ending, buffer).is_some())
    }
}

/// The lines of a list and what they say: `(number, line)`, numbers from 1.
///
/// ```
/// use lanesum_list::{Dialect, Entries, Line};
///
/// let list = "# sums of today\ne3069283  a\nnonsense\n";
/// let lines = Entries::new(list.as_bytes(), Dialect::any()).collect::<Result<Vec<_>, _>>()?;
/// assert!(matches!(
///     lines.as_slice(),
///     [(1, Line::Blank), (2, Line::Entry(entry)), (3, Line::Malformed)] if entry.name == b"a"
/// ));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Entries<R> {
    lines: Lines<R>,
    parser: Parser,
}

impl<R: BufRead> Entries<R> {
    /// The lines of what the reader still holds, which is one list.
    pub const fn new(reader: R, dialect: Dialect) -> Self {
        Self { lines: Lines::new(reader, dialect.ending()), parser: Parser::new(dialect) }
    }
}

impl<R: BufRead> Iterator for Entries<R> {
    type Item = io::Result<(u64, Line)>;

    fn next(&mut self) -> Option<Self::Item> {
        let RawLine { number, text } = match self.lines.next_line() {
            Ok(line) => line?,
            Err(error) => return Some(Err(error)),
        };
        Some(Ok((number, text.map_or(Line::Malformed, |text| self.parser.parse(text)))))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read};

    use super::*;

    /// The lines, read through a buffer of so many bytes.
    fn lines(list: &[u8], ending: Ending, buffer: usize) -> Vec<(u64, Option<Vec<u8>>)> {
        let mut lines = Lines::new(BufReader::with_capacity(buffer, list), ending);
        let mut all = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            all.push((line.number, line.text.map(<[u8]>::to_vec)));
        }
        all
    }

    #[test]
    fn lines_do_not_depend_on_the_buffer() {
        let list = b"one\n\n\0three\r\nlast";
        for buffer in 1..=list.len() {
            let texts: Vec<_> = lines(list, Ending::Newline, buffer);
            let expected = [&b"one"[..], b"", b"\0three\r", b"last"];
            let expected: Vec<_> = (1..).zip(expected.map(|line| Some(line.to_vec()))).collect();
            assert_eq!(texts, expected, "{buffer}");
        }
        let expected = [(1, Some(b"one\n\n".to_vec())), (2, Some(b"three\r\nlast".to_vec()))];
        assert_eq!(lines(list, Ending::Nul, 4), expected);
        assert_eq!(lines(b"", Ending::Newline, 4), []);
        assert_eq!(lines(b"\n", Ending::Newline, 4), [(1, Some(Vec::new()))]);
    }

    #[test]
    fn a_line_that_is_too_long_is_not_gathered() {
        let mut list = vec![b'a'; MAX_LINE];
        list.extend_from_slice(b"\nb\n");
        assert_eq!(lines(&list, Ending::Newline, 1000)[0], (1, Some(vec![b'a'; MAX_LINE])));
        list.insert(0, b'a');
        for buffer in [1000, 1 << 22] {
            let expected = [(1, None), (2, Some(b"b".to_vec()))];
            assert_eq!(lines(&list, Ending::Newline, buffer), expected);
        }
        let endless = io::repeat(b'a').take(64 << 20);
        let mut lines = Lines::new(BufReader::with_capacity(1 << 16, endless), Ending::Newline);
        assert_eq!(lines.next_line().unwrap(), Some(RawLine { number: 1, text: None }));
        assert!(lines.line.capacity() <= 2 * MAX_LINE, "{}", lines.line.capacity());
        assert_eq!(lines.next_line().unwrap(), None);
    }

    /// Gives a line, is interrupted once, gives half a line, and fails.
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
    fn a_next_line_is_known_without_reading_on() {
        let mut lines = Lines::new(BufReader::new(Failing(1)), Ending::Newline);
        assert!(!lines.has_next(), "nothing was read yet");
        assert_eq!(lines.next_line().unwrap().unwrap().text, Some(&b"b"[..]));
        assert!(!lines.has_next(), "half a line");
        let list = b"one\ntwo\n\nhalf";
        let mut lines = Lines::new(BufReader::new(&list[..]), Ending::Newline);
        for is_next in [true, true, false, false] {
            assert!(lines.next_line().unwrap().is_some());
            assert_eq!(lines.has_next(), is_next);
        }
    }

    #[test]
    fn errors_of_the_reader_come_through() {
        let mut lines = Lines::new(BufReader::new(Failing(0)), Ending::Newline);
        assert_eq!(lines.next_line().unwrap().unwrap().text, Some(&b"ab"[..]));
        assert_eq!(lines.next_line().unwrap_err().raw_os_error(), Some(5));
    }
}
