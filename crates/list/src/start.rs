//! What a list is, told by its start: text, or something that only looks like no checksums.
//!
//! PowerShell's `>` writes UTF-16, editors add a byte order mark, and a glob hands over an archive.
//! Without this each of them is "no properly formatted lines", with it the reader learns the cure.
//! GNU md5sum does not look, so neither does whoever follows it to the letter.

use std::io::{self, BufRead, Chain, Cursor, Read as _, Take};

use crate::{Dialect, Ending, Line, Parser};

/// The byte order mark in UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// How much of a list is looked at, in bytes.
const HEAD: usize = 1024;

/// How a list begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// As text should. It may still hold no checksums.
    Text,
    /// Text after a byte order mark in UTF-8, 3 bytes long.
    Marked,
    /// UTF-16 of either byte order, with a mark or without.
    Utf16,
    /// The first line ends with NUL where newlines were expected.
    NulEnded,
    /// The first line ends with a newline where NULs were expected, and none is in sight.
    NewlineEnded,
    /// No text: control characters abound.
    Binary,
}

impl Start {
    /// Tells by the first bytes of a list whose lines are expected to have this ending.
    #[must_use]
    pub fn of(head: &[u8], ending: Ending) -> Self {
        if head.starts_with(MARK) {
            Self::Marked
        } else if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
            Self::Utf16
        } else if ending == Ending::Nul && !head.contains(&0) && has_newlines(head) {
            Self::NewlineEnded
        } else if is_entry(head.split(|&byte| byte == ending.byte()).next(), ending) {
            // Names may hold any bytes, so an entry settles it.
            Self::Text
        } else if ending == Ending::Newline && begins(head, Ending::Nul) {
            Self::NulEnded
        } else if is_utf16(head) {
            Self::Utf16
        } else if is_binary(head, ending) {
            Self::Binary
        } else {
            Self::Text
        }
    }
}

/// Whether a line holds a checksum of any kind.
fn is_entry(line: Option<&[u8]>, ending: Ending) -> bool {
    let mut parser = Parser::new(Dialect::of_any_length().with_ending(ending));
    line.is_some_and(|line| matches!(parser.parse(line), Line::Entry(_)))
}

/// Whether the first line has this ending and holds a checksum.
fn begins(head: &[u8], ending: Ending) -> bool {
    is_entry(memchr::memchr(ending.byte(), head).map(|end| &head[..end]), ending)
}

/// Whether each of the first two lines that end with a newline, or the only one, holds a checksum. The name in a line that ends with
/// NUL may hold a newline, and what comes behind that looks like no line.
fn has_newlines(head: &[u8]) -> bool {
    let mut lines = head.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    begins(head, Ending::Newline)
        && is_entry(lines.next(), Ending::Newline)
        && lines.next().is_none_or(|second| is_entry(Some(second), Ending::Newline))
}

/// Whether every other byte is NUL, as it is in UTF-16 of ASCII: at least four characters, and
/// nine in ten of them.
fn is_utf16(head: &[u8]) -> bool {
    let characters = head.len() / 2;
    let nuls = |half: usize| head.iter().skip(half).step_by(2).filter(|&&byte| byte == 0).count();
    let (even, odd) = (nuls(0), nuls(1));
    characters >= 4 && even.max(odd) * 10 >= characters * 9 && even.min(odd) * 10 <= characters
}

/// Whether at least one byte in ten is a control character that no list has between its names.
fn is_binary(head: &[u8], ending: Ending) -> bool {
    let is_odd = |&byte: &u8| {
        (byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r')) && byte != ending.byte()
    };
    let odd = head.iter().filter(|byte| is_odd(byte)).count();
    odd > 0 && odd * 10 >= head.len()
}

/// Why a list cannot be read at all. The list's name is the caller's to add.
#[derive(Debug, thiserror::Error)]
pub enum NotAList {
    /// It is in UTF-16.
    #[error("looks like UTF-16; convert it to UTF-8, e.g. iconv -f UTF-16 -t UTF-8")]
    Utf16,
    /// Its lines end with NUL.
    #[error("its lines end with NUL; check it with --zero")]
    NulEnded,
    /// Its lines end with newlines.
    #[error("its lines end with newlines; check it without --zero")]
    NewlineEnded,
    /// It is no text.
    #[error("looks like binary data, not a list of checksums")]
    Binary,
    /// Its start could not be read.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A list behind its start: what was looked at comes again, without the byte order mark.
pub type Text<R> = Chain<Cursor<Vec<u8>>, Take<R>>;

/// Looks at the start of a list and gives it back whole, without a byte order mark.
///
/// Reads no further than the first bytes that the reader has, so a list that comes through a pipe
/// line by line is not held up.
///
/// ```
/// use lanesum_list::{Dialect, Ending, Entries, start};
///
/// let text = start::open(&b"\xef\xbb\xbfe3069283  a\n"[..], Ending::Newline)?;
/// assert_eq!(Entries::new(text, Dialect::any()).count(), 1);
///
/// let error = start::open(&b"\xff\xfee\x003\x00"[..], Ending::Newline).unwrap_err();
/// assert!(error.to_string().contains("iconv"));
/// # Ok::<(), start::NotAList>(())
/// ```
///
/// # Errors
///
/// [`NotAList`] says what the list is instead of text, or why it cannot be read.
pub fn open<R: BufRead>(mut reader: R, ending: Ending) -> Result<Text<R>, NotAList> {
    let (mut head, mut rest) = (Vec::new(), u64::MAX);
    // The marks have at most three bytes; a fourth makes UTF-16 without one unlikely to be cut.
    while head.len() < 4 {
        let buffer = match reader.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        if buffer.is_empty() {
            // Whoever types the end on a terminal types it once.
            rest = 0;
            break;
        }
        let taken = buffer.len().min(HEAD);
        head.extend_from_slice(&buffer[..taken]);
        reader.consume(taken);
    }
    match Start::of(&head, ending) {
        Start::Text => {}
        Start::Marked => drop(head.drain(..MARK.len())),
        Start::Utf16 => return Err(NotAList::Utf16),
        Start::NulEnded => return Err(NotAList::NulEnded),
        Start::NewlineEnded => return Err(NotAList::NewlineEnded),
        Start::Binary => return Err(NotAList::Binary),
    }
    Ok(Cursor::new(head).chain(reader.take(rest)))
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    const LINE: &str = "d41d8cd98f00b204e9800998ecf8427e  name";

    fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    }

    #[test]
    fn text_is_text() {
        let escape = format!("{LINE}\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b\n");
        let windows = format!("{LINE}\r\n{LINE}\r\n");
        for text in ["", "\n", "a", "# comment\n", "not a list\n", LINE, &windows, &escape] {
            assert_eq!(Start::of(text.as_bytes(), Ending::Newline), Start::Text, "{text:?}");
        }
        let zero = format!("{LINE}\0{LINE}\0");
        assert_eq!(Start::of(zero.as_bytes(), Ending::Nul), Start::Text);
        assert_eq!(Start::of("\u{fc}\u{3b1}".as_bytes(), Ending::Newline), Start::Text);
    }

    #[test]
    fn one_nul_in_a_line_is_for_the_parser() {
        let text = format!("# a comment\0, and\n{LINE}\n");
        assert_eq!(Start::of(text.as_bytes(), Ending::Newline), Start::Text);
    }

    #[test]
    fn utf16_is_known_with_its_mark_and_without() {
        for to_bytes in [u16::to_le_bytes, u16::to_be_bytes] {
            for text in [LINE, "MD5 (name\u{3b1}) = d41d8cd98f00b204e9800998ecf8427e\r\n"] {
                for marked in ["", "\u{feff}"] {
                    let list = utf16(&format!("{marked}{text}"), to_bytes);
                    for ending in [Ending::Newline, Ending::Nul] {
                        assert_eq!(Start::of(&list, ending), Start::Utf16, "{list:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_list_with_the_other_ending_is_told_so() {
        let zero = format!("{LINE}\0{LINE}\0");
        assert_eq!(Start::of(zero.as_bytes(), Ending::Newline), Start::NulEnded);
        let lines = format!("{LINE}\n{LINE}\n");
        assert_eq!(Start::of(lines.as_bytes(), Ending::Nul), Start::NewlineEnded);
        let name_of_two_lines = format!("{LINE}\n{LINE}\0");
        assert_eq!(Start::of(name_of_two_lines.as_bytes(), Ending::Nul), Start::Text);
        // Cut within such a name, by a pipe or by what is looked at.
        let cut = format!("{LINE}\nthe second");
        assert_eq!(Start::of(cut.as_bytes(), Ending::Nul), Start::Text);
        let one = format!("{LINE}\n");
        assert_eq!(Start::of(one.as_bytes(), Ending::Nul), Start::NewlineEnded);
    }

    #[test]
    fn programs_and_pictures_are_binary() {
        let elf = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0\x01\0\0\0";
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10\0\0\0\x10\x08\x02\0\0\0";
        for data in [&elf[..], png, &[0; 100], b"\x1f\x8b\x08\0\0\0\0\0\0\x03"] {
            for ending in [Ending::Newline, Ending::Nul] {
                let zeros = ending == Ending::Nul && data == [0; 100];
                let expected = if zeros { Start::Text } else { Start::Binary };
                assert_eq!(Start::of(data, ending), expected, "{data:?}");
            }
        }
    }

    /// A terminal: its reader sees the end once, and then what is typed next.
    #[test]
    fn the_end_is_seen_once() {
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

    #[test]
    fn what_was_looked_at_comes_again() {
        let list = format!("{LINE}\n").repeat(100);
        let marked = [MARK, list.as_bytes()].concat();
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
