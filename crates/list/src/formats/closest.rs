//! The format that an unknown list resembles most.

use std::fmt;

use super::kind::{self, Kind};
use super::line::{is_blank, without_return};
use super::tag;
use crate::{Algorithm, Dialect};

/// The format that an unknown list resembles most, and what is wrong in which line.
///
/// ```
/// use lanesum_list::Dialect;
/// use lanesum_list::formats::closest;
///
/// let cut = b"\n900150983cd24fb0d6963f7d28e17f7  a\n";
/// let found = closest(cut, Dialect::any()).unwrap();
/// assert_eq!(found.to_string(), "line 2 looks like the format gnu, but no algorithm has digests of 31 digits");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closest {
    line: u64,
    kind: Kind,
    why: Why,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Why {
    /// The text is a web page, often that of an error of the server.
    Html,
    Root,
    Digits(usize),
    NotHex,
    OfAlgorithm(Algorithm),
    /// The format begins in this line.
    BeginsIn(u64),
}

impl Closest {
    /// Returns the line that the list begins in, if lines before it are not of its format.
    #[must_use]
    pub const fn begins_in(&self) -> Option<u64> {
        if let Why::BeginsIn(line) = self.why { Some(line) } else { None }
    }
}

impl fmt::Display for Closest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, kind, why } = self;
        if let Why::BeginsIn(first) = why {
            return write!(
                f,
                "line {line} is not of the format {kind}, which begins in line {first}"
            );
        }
        if *why == Why::Html {
            return write!(f, "line {line} begins an HTML page");
        }
        write!(f, "line {line} looks like the format {kind}, but ")?;
        match why {
            Why::Root => f.write_str("its root element is unknown, or it declares entities"),
            Why::Digits(digits) => write!(f, "no algorithm has digests of {digits} digits"),
            Why::NotHex => f.write_str("its digest has other characters than hexadecimal digits"),
            Why::OfAlgorithm(algorithm) => {
                write!(f, "its digest is not a valid {algorithm} digest")
            }
            Why::Html | Why::BeginsIn(_) => Ok(()),
        }
    }
}

/// The lines in which a list may begin behind other text.
const LINES: usize = 32;

/// Returns the format that an unknown list resembles most. `head` is the start of the list, which
/// may be cut anywhere. Returns `None` if it resembles no format.
#[must_use]
pub fn closest(head: &[u8], dialect: Dialect) -> Option<Closest> {
    let mut starts = memchr::memchr_iter(b'\n', head).map(|end| end + 1);
    let starts = std::iter::once(0).chain(starts.by_ref());
    let line = |start: usize| head[start..].split(|&byte| byte == b'\n').next().unwrap_or_default();
    let says_something =
        |&(_, start): &(u64, usize)| !matches!(without_return(line(start)), [] | [b'#', ..]);
    let mut lines = (1..).zip(starts).filter(says_something).take(LINES);
    let (first, start) = lines.next()?;
    if let Some((kind, why)) = of_line(without_return(line(start))) {
        return Some(Closest { line: first, kind, why });
    }
    lines.find_map(|(number, start)| {
        let kind = kind::detected(&head[start..], dialect)?;
        Some(Closest { line: first, kind, why: Why::BeginsIn(number) })
    })
}

/// Returns what is wrong in a line of a format.
fn of_line(line: &[u8]) -> Option<(Kind, Why)> {
    if let text @ [b'<', ..] = line.trim_ascii_start() {
        let is = |start: &[u8]| {
            text.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start))
        };
        let is_html = is(b"<!doctype html") || is(b"<html") || is(b"<head");
        return Some((Kind::Xml, if is_html { Why::Html } else { Why::Root }));
    }
    if let Some((tag, ..)) = tag::split(line, true) {
        let is_called = |it: &Algorithm| it.tags().any(|known| known.as_bytes() == tag);
        let algorithm = Algorithm::ALL.into_iter().find(is_called)?;
        return Some((Kind::Tag, Why::OfAlgorithm(algorithm)));
    }
    let end = line.iter().position(|&byte| is_blank(byte))?;
    let (word, name) = line.split_at(end);
    let hex = word.iter().filter(|byte| byte.is_ascii_hexdigit()).count();
    let is_known = Algorithm::ALL.into_iter().any(|it| 2 * it.digest_len() == end);
    // A word or a date is shorter, and other text has other letters.
    let is_digest = end > 16 && 4 * hex >= 3 * end && !name.trim_ascii().is_empty();
    match (is_digest, is_known) {
        (true, true) => Some((Kind::Gnu, Why::NotHex)),
        (true, false) => Some((Kind::Gnu, Why::Digits(end))),
        (false, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MD5: &str = "900150983cd24fb0d6963f7d28e17f72";

    #[test]
    fn the_closest_format_and_the_line_are_named() {
        for (list, told) in [
            (
                format!("{}  a\n", &MD5[1..]),
                "line 1 looks like the format gnu, but no algorithm has digests of 31 digits",
            ),
            (
                format!("# of today\r\n{}x  a\n", &MD5[1..]),
                "line 2 looks like the format gnu, but its digest has other characters than hexadecimal digits",
            ),
            (
                format!("MD5 (a) = {}\n", &MD5[1..]),
                "line 1 looks like the format tag, but its digest is not a valid md5 digest",
            ),
            (
                "<?xml version=\"1.0\"?>\n<html>".to_owned(),
                "line 1 looks like the format xml, but its root element is unknown, or it declares entities",
            ),
            (" <!DOCTYPE html>\n<html><body>404".to_owned(), "line 1 begins an HTML page"),
            (
                format!("Made by hand\n\n%%%% HASHDEEP-1.0\n%%%% size,md5,filename\n3,{MD5},a\n"),
                "line 1 is not of the format hashdeep, which begins in line 3",
            ),
        ] {
            let found = closest(list.as_bytes(), Dialect::any()).map(|it| it.to_string());
            assert_eq!(found.as_deref(), Some(told), "{list}");
        }
        for list in
            ["", "\n", "Dear reader,\nthis is a letter.\n", "20261128 backup\n", "cafe au lait\n"]
        {
            assert_eq!(closest(list.as_bytes(), Dialect::any()), None, "{list}");
        }
    }
}
