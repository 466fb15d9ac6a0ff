//! Splits a list into the texts of its records, in bounded memory, as its bytes come.

use crate::formats::{Format, Line};

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

impl<'a> RawLine<'a> {
    /// What the line says. One that is too long is malformed.
    ///
    /// ```
    /// use lanesum_list::formats::{Line, Mixed};
    /// use lanesum_list::{Dialect, RawLine};
    ///
    /// let mut format = Mixed::new(Dialect::any());
    /// assert_eq!(RawLine { number: 1, text: Some(b"#") }.parse(&mut format), Line::Blank);
    /// assert_eq!(RawLine { number: 2, text: None }.parse(&mut format), Line::Malformed);
    /// ```
    pub fn parse(self, format: &mut (impl Format + ?Sized)) -> Line<'a> {
        self.text.map_or(Line::Malformed, |text| format.next(text))
    }
}

/// Puts lines together from the pieces in which a list comes, of whatever sizes.
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
/// let last = splitter.finish().unwrap();
/// assert_eq!((last.number, last.text), (3, Some(&b"e3069283  last"[..])));
/// assert_eq!(names, [&b"a"[..], b"b"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Splitter {
    text: Vec<u8>,
    /// Whether any byte of the line has come.
    is_begun: bool,
    is_too_long: bool,
    is_whole: bool,
    number: u64,
}

impl Splitter {
    /// Takes the bytes up to the end of the line, whose place the format finds, or all. Returns how
    /// many it took.
    pub fn push(&mut self, format: &mut (impl Format + ?Sized), bytes: &[u8]) -> usize {
        self.forget();
        let end = format.find_end(bytes);
        let piece = &bytes[..end.unwrap_or(bytes.len())];
        self.is_begun |= !bytes.is_empty();
        self.is_too_long |= piece.len() > MAX_LINE - self.text.len();
        if !self.is_too_long {
            self.text.extend_from_slice(piece);
        }
        self.is_whole = end.is_some();
        self.number += u64::from(self.is_whole);
        piece.len() + usize::from(self.is_whole)
    }

    /// The line, if it is whole; until more is taken.
    #[must_use]
    pub fn line(&self) -> Option<RawLine<'_>> {
        let text = (!self.is_too_long).then_some(&self.text[..]);
        self.is_whole.then_some(RawLine { number: self.number, text })
    }

    /// The last line, where the list ended without an ending: it is a line, as it is to GNU md5sum.
    pub fn finish(&mut self) -> Option<RawLine<'_>> {
        self.forget();
        self.is_whole = self.is_begun;
        self.number += u64::from(self.is_whole);
        self.line()
    }

    /// Forgets a line that was whole.
    fn forget(&mut self) {
        if self.is_whole {
            self.text.clear();
            (self.is_begun, self.is_too_long, self.is_whole) = (false, false, false);
        }
    }
}

/// The lines of a list in memory and what they say: `(number, line)`, numbers from 1.
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
    let (mut rest, mut number) = (list, 0);
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = format.find_end(rest).unwrap_or(rest.len());
        let text = &rest[..end];
        rest = rest.get(end + 1..).unwrap_or_default();
        number += 1;
        let line = RawLine { number, text: (end <= MAX_LINE).then_some(text) };
        Some((number, line.parse(format)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::Mixed;
    use crate::{Dialect, Ending};

    /// The lines, in pieces of so many bytes.
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
        splitter.finish().into_iter().for_each(&mut keep);
        assert_eq!(splitter.finish(), None);
        all
    }

    #[test]
    fn lines_do_not_depend_on_the_pieces() {
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
    fn a_line_that_is_too_long_is_not_gathered() {
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
        assert_eq!(splitter.finish(), Some(RawLine { number: 1, text: None }));
        assert!(splitter.text.capacity() <= 2 * MAX_LINE, "{}", splitter.text.capacity());
    }
}
