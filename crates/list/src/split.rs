//! Splits a list that arrives in pieces into the texts of its records, in bounded memory.

use crate::Dialect;
use crate::formats::{Format, Line, Mixed, Wrong};

/// The length of the longest line that is read, in bytes without its ending: 1 MiB. A name has at
/// most `PATH_MAX`, 4096 bytes, so a longer line is not part of a checksum list.
pub const MAX_LINE: usize = 1 << 20;

/// An unparsed line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawLine<'a> {
    /// The line number, from 1. A record of several lines has the number of its first line that is
    /// not blank.
    pub number: u64,
    /// The line or the text of a record without its ending, or `None` if it is longer than
    /// [`MAX_LINE`].
    pub text: Option<&'a [u8]>,
    /// Whether the line has an ending. The last line of many lists has none.
    pub is_ended: bool,
}

impl<'a> RawLine<'a> {
    /// Makes a line with an ending.
    #[must_use]
    pub const fn whole(number: u64, text: &'a [u8]) -> Self {
        Self { number, text: Some(text), is_ended: true }
    }

    /// Parses the line. A line that is too long is invalid.
    ///
    /// ```
    /// use lanesum_list::formats::{Line, Mixed};
    /// use lanesum_list::{Dialect, RawLine};
    ///
    /// let mut format = Mixed::new(Dialect::any());
    /// assert_eq!(RawLine::whole(1, b"#").parse(&mut format), Line::Blank);
    /// let too_long = RawLine { number: 2, text: None, is_ended: true };
    /// assert_eq!(too_long.parse(&mut format), Line::Malformed);
    /// ```
    pub fn parse(self, format: &mut (impl Format + ?Sized)) -> Line<'a> {
        match self.text {
            Some(text) => format.next(text),
            None if format.is_of_lines() => Line::Malformed,
            None => Line::Wrong(Wrong::TooLong),
        }
    }

    /// Parses the line like [`parse`](Self::parse), but returns [`Wrong::CutOff`] for a truncated
    /// last line if the list `has_lines` before it. A file without valid lines is not a list, so
    /// its last line is not reported as truncated.
    ///
    /// ```
    /// use lanesum_list::formats::{Line, Mixed, Wrong};
    /// use lanesum_list::{Dialect, RawLine};
    ///
    /// let mut format = Mixed::new(Dialect::any());
    /// let cut = RawLine { number: 7, text: Some(b"d41d8cd98f00"), is_ended: false };
    /// assert_eq!(cut.parse_behind(true, &mut format), Line::Wrong(Wrong::CutOff));
    /// assert_eq!(cut.parse_behind(false, &mut format), Line::Malformed);
    /// let ended = RawLine { is_ended: true, ..cut };
    /// assert_eq!(ended.parse_behind(true, &mut format), Line::Malformed);
    /// ```
    pub fn parse_behind(self, has_lines: bool, format: &mut (impl Format + ?Sized)) -> Line<'a> {
        match self.parse(format) {
            Line::Malformed if has_lines && self.is_cut() => Line::Wrong(Wrong::CutOff),
            line => line,
        }
    }

    /// Returns whether the list was truncated within this invalid line. Such a line is
    /// the last one, has no ending, and is not a line of another format.
    fn is_cut(self) -> bool {
        let Some(text) = self.text else { return !self.is_ended };
        let says_something = |text: &[u8]| text.iter().any(|&byte| byte > b' ' && byte != 0x7f);
        let is_of_another_list = || match Mixed::new(Dialect::any()).next(text) {
            // The text before a name looks like a line in the reversed BSD form.
            Line::Record { record, .. } => record.name.iter().any(|byte| !b" *".contains(byte)),
            line => matches!(line, Line::Unknown(_)),
        };
        !self.is_ended && says_something(text) && !is_of_another_list()
    }
}

/// Joins the pieces of a list, of any sizes, into lines.
///
/// ```
/// use lanesum_list::formats::{Line, Mixed};
/// use lanesum_list::{Dialect, Splitter};
///
/// let mut format = Mixed::new(Dialect::any());
/// let mut splitter = Splitter::default();
/// let mut names = Vec::new();
/// for mut piece in [&b"e30692"[..], b"83  a\ne3069283  b\ne306", b"9283  last"] {
///     while !piece.is_empty() {
///         let taken = splitter.push(&mut format, piece);
///         piece = &piece[taken..];
///         let line = splitter.line().map(|line| line.parse(&mut format));
///         if let Some(Line::Record { record, .. }) = line {
///             names.push(record.into_owned().name);
///         }
///     }
/// }
/// let last = splitter.finish(&format).unwrap();
/// assert_eq!((last.number, last.text), (3, Some(&b"e3069283  last"[..])));
/// assert_eq!(names, [&b"a"[..], b"b"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Splitter {
    text: Vec<u8>,
    /// Whether any byte of the line has arrived.
    is_begun: bool,
    is_too_long: bool,
    is_whole: bool,
    is_ended: bool,
    count: Count,
}

/// A line counter.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    /// The number of lines that ended before the text.
    before: u64,
    /// The number of lines that ended in the leading blanks of the text, or `None` after the first
    /// other byte.
    leading: Option<u64>,
    /// Returns the number of the line that the text starts in.
    begin: u64,
    /// The number of lines that ended in the text.
    inside: u64,
}

impl Count {
    /// Starts a new text.
    fn begin(&mut self) {
        self.before += std::mem::take(&mut self.inside);
        (self.leading, self.begin) = (Some(0), self.before + 1);
    }

    /// Counts the lines of a piece of the text. Lines end with `newline`. If that byte is not a
    /// newline, no line ends within a text.
    fn take(&mut self, piece: &[u8], newline: u8) {
        if newline != b'\n' {
            return;
        }
        self.inside += memchr::memchr_iter(newline, piece).count() as u64;
        if let Some(leading) = &mut self.leading {
            let blanks = piece.iter().position(|byte| !byte.is_ascii_whitespace());
            let blank = &piece[..blanks.unwrap_or(piece.len())];
            *leading += memchr::memchr_iter(newline, blank).count() as u64;
            self.begin = self.before + 1 + *leading;
            if blanks.is_some() {
                self.leading = None;
            }
        }
    }

    /// Counts the byte that ends the text.
    fn end(&mut self, byte: u8, newline: u8) {
        self.inside += u64::from(byte == newline);
    }
}

impl Splitter {
    /// Takes the bytes up to the end of the line, which the format finds, or all bytes. Returns the
    /// number of bytes taken. If the last line [has more](Format::has_more) records, takes none,
    /// and [`line`](Self::line) returns that line again.
    pub fn push(&mut self, format: &mut (impl Format + ?Sized), bytes: &[u8]) -> usize {
        if self.is_whole && format.has_more() {
            return 0;
        }
        self.forget();
        let end = format.find_end(bytes);
        let piece = &bytes[..end.unwrap_or(bytes.len())];
        if !self.is_begun && !bytes.is_empty() {
            self.is_begun = true;
            self.count.begin();
        }
        self.is_too_long |= piece.len() > MAX_LINE - self.text.len();
        if !self.is_too_long {
            self.text.extend_from_slice(piece);
        }
        self.is_whole = end.is_some();
        self.is_ended = self.is_whole;
        let newline = format.ends_lines();
        self.count.take(piece, newline);
        if let Some(&byte) = end.and_then(|end| bytes.get(end)) {
            self.count.end(byte, newline);
        }
        piece.len() + usize::from(self.is_whole)
    }

    /// Returns the line if it is complete. It is valid until the next bytes are pushed.
    #[must_use]
    pub fn line(&self) -> Option<RawLine<'_>> {
        let text = (!self.is_too_long).then_some(&self.text[..]);
        let is_ended = self.is_ended;
        self.is_whole.then_some(RawLine { number: self.count.begin, text, is_ended })
    }

    /// Returns the last line if the list ended without a line ending. Such a line is valid, as in
    /// GNU md5sum. Call it until it returns `None`, because a line may have several records.
    pub fn finish(&mut self, format: &(impl Format + ?Sized)) -> Option<RawLine<'_>> {
        if self.is_whole && format.has_more() {
            return self.line();
        }
        self.forget();
        (self.is_whole, self.is_ended) = (self.is_begun, false);
        self.line()
    }

    /// Drops a complete line.
    fn forget(&mut self) {
        if self.is_whole {
            self.text.clear();
            (self.is_begun, self.is_too_long, self.is_whole) = (false, false, false);
        }
    }
}

/// Parses the lines of a list in memory. Returns `(number, line)`, with numbers from 1. If the list
/// is truncated, a last item with the number of the last line reports it.
///
/// ```
/// use lanesum_list::formats::{Line, Mixed};
/// use lanesum_list::{Dialect, lines};
///
/// let list = b"# sums of today\ne3069283  a\nnonsense\n";
/// let mut format = Mixed::new(Dialect::any());
/// let lines: Vec<_> = lines(list, &mut format).collect();
/// assert!(matches!(
///     lines.as_slice(),
///     [(1, Line::Blank), (2, Line::Record { record, .. }), (3, Line::Malformed)]
///         if record.name == &b"a"[..]
/// ));
/// ```
pub fn lines<'a, F: Format + ?Sized>(
    list: &'a [u8],
    format: &mut F,
) -> impl Iterator<Item = (u64, Line<'a>)> {
    let (mut rest, mut count) = (list, Count::default());
    let (mut is_at_end, mut last) = (false, None);
    std::iter::from_fn(move || {
        if let Some(RawLine { number, .. }) = last.filter(|_| format.has_more()) {
            return last.map(|line| (number, line.parse(format)));
        }
        let newline = format.ends_lines();
        if rest.is_empty() {
            let is_cut = !std::mem::replace(&mut is_at_end, true) && !format.may_end();
            return is_cut.then_some((count.begin, Line::Wrong(Wrong::CutOff)));
        }
        let end = format.find_end(rest);
        let (text, behind) = rest.split_at(end.unwrap_or(rest.len()));
        let is_ended = end.is_some();
        count.begin();
        count.take(text, newline);
        if let Some((&byte, after)) = behind.split_first() {
            count.end(byte, newline);
            rest = after;
        } else {
            rest = behind;
        }
        let text = (text.len() <= MAX_LINE).then_some(text);
        let line = RawLine { number: count.begin, text, is_ended };
        last = Some(line);
        let line = line.parse(format);
        // The truncation is already reported.
        is_at_end |= line == Line::Wrong(Wrong::CutOff);
        Some((count.begin, line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::Mixed;
    use crate::{Dialect, Ending};

    /// Returns the lines of a list that is split into pieces of a given size.
    fn split(list: &[u8], ending: Ending, piece: usize) -> Vec<(u64, Option<Vec<u8>>)> {
        let mut format = Mixed::new(Dialect::any().with_ending(ending));
        let mut splitter = Splitter::default();
        let mut all = Vec::new();
        let mut keep = |line: RawLine<'_>| all.push((line.number, line.text.map(<[u8]>::to_vec)));
        for mut piece in list.chunks(piece) {
            while !piece.is_empty() {
                let taken = splitter.push(&mut format, piece);
                assert!(taken > 0);
                piece = &piece[taken..];
                splitter.line().into_iter().for_each(&mut keep);
            }
        }
        splitter.finish(&format).into_iter().for_each(&mut keep);
        assert_eq!(splitter.finish(&format), None);
        all
    }

    #[test]
    fn lines_are_the_same_for_all_piece_sizes() {
        let list = b"one\n\n\0three\r\nlast";
        for piece in 1..=list.len() {
            let expected = [&b"one"[..], b"", b"\0three\r", b"last"];
            let expected: Vec<_> = (1..).zip(expected.map(|line| Some(line.to_vec()))).collect();
            assert_eq!(split(list, Ending::Newline, piece), expected, "{piece}");
        }
        let expected = [(1, Some(b"one\n\n".to_vec())), (2, Some(b"three\r\nlast".to_vec()))];
        assert_eq!(split(list, Ending::Nul, 4), expected);
        assert_eq!(split(b"", Ending::Newline, 4), []);
        assert_eq!(split(b"\n", Ending::Newline, 4), [(1, Some(Vec::new()))]);
    }

    #[test]
    fn an_overlong_line_is_not_buffered() {
        let mut list = vec![b'a'; MAX_LINE];
        list.extend_from_slice(b"\nb\n");
        assert_eq!(split(&list, Ending::Newline, 1000)[0], (1, Some(vec![b'a'; MAX_LINE])));
        list.insert(0, b'a');
        for piece in [1000, 1 << 22] {
            let expected = [(1, None), (2, Some(b"b".to_vec()))];
            assert_eq!(split(&list, Ending::Newline, piece), expected);
        }
        let mut splitter = Splitter::default();
        for _ in 0..64 << 4 {
            splitter.push(&mut Mixed::new(Dialect::any()), &[b'a'; 1 << 16]);
        }
        let last = RawLine { number: 1, text: None, is_ended: false };
        assert_eq!(splitter.finish(&Mixed::new(Dialect::any())), Some(last));
        assert!(splitter.text.capacity() <= 2 * MAX_LINE, "{}", splitter.text.capacity());
    }
}
