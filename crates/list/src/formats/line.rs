//! The common parts of tagged and untagged lines: line endings, escaped names, and comments.
//!
//! The rules are those of GNU md5sum. Blanks before the digits are skipped, digits have either
//! case, and a carriage return before the newline is ignored. A NUL makes a line invalid. With
//! [`Dialect::only`] it ends the name, as in md5sum.

use std::borrow::Cow;

use super::{CannotHold, Line, escape};
use crate::{Dialect, Digest, Ending, Record, start};

/// The relevant text of a line that is neither blank nor certainly invalid.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    /// The text from the tag or the first digit on.
    pub(super) bytes: &'a [u8],
    /// Whether the line is marked as having an escaped name.
    is_escaped: bool,
}

/// The unescaped name and the digest of a line. It becomes a [`Line`] after all formats were tried.
pub(super) type Found<'a> = (Cow<'a, [u8]>, Digest);

/// A line that needs no format to read it.
pub(super) enum Settled {
    Blank,
    Malformed,
}

impl From<Settled> for Line<'_> {
    fn from(settled: Settled) -> Self {
        match settled {
            Settled::Blank => Line::Blank,
            Settled::Malformed => Line::Malformed,
        }
    }
}

/// Returns the name and digest found as a line.
pub(super) fn line((name, digest): Found<'_>, is_tagged: bool) -> Line<'_> {
    let record = Record { name, digests: digest.into(), ..Record::default() };
    Line::Record { record, is_tagged }
}

impl<'a> Text<'a> {
    /// # Errors
    /// Returns the line as an error if it needs no format to read it.
    pub(super) fn of(line: &'a [u8], dialect: &Dialect) -> Result<Self, Settled> {
        let line = match dialect.ending() {
            Ending::Newline => line.strip_suffix(b"\r").unwrap_or(line),
            Ending::Nul => line,
        };
        let line = if dialect.is_lenient { without_mark(line) } else { line };
        if matches!(line.first(), None | Some(b'#')) {
            return Err(Settled::Blank);
        }
        if !dialect.nul_ends_names && memchr::memchr(b'\0', line).is_some() {
            return Err(Settled::Malformed);
        }
        let bytes = skip_blanks(line);
        Ok(match bytes.split_first() {
            Some((&escape::MARK, bytes)) if dialect.ending() == Ending::Newline => {
                Self { bytes, is_escaped: true }
            }
            _ => Self { bytes, is_escaped: false },
        })
    }

    /// Returns the unescaped name. Returns `None` if the name is not escaped as the line claims.
    pub(super) fn name(&self, name: &'a [u8]) -> Option<Cow<'a, [u8]>> {
        Some(match (memchr::memchr(b'\0', name), self.is_escaped) {
            (None, false) => Cow::Borrowed(name),
            (None, true) => Cow::Owned(escape::unescape(name)?),
            (Some(end), false) => Cow::Borrowed(&name[..end]),
            // The name would be wrong, and no program escapes names with NUL.
            (Some(_), true) => return None,
        })
    }

    /// Returns the text from the tag or the first digit on, and skips a mark of an escaped name
    /// even if it has no meaning.
    pub(super) fn unmarked(&self) -> &'a [u8] {
        self.bytes.strip_prefix(&[escape::MARK]).filter(|_| !self.is_escaped).unwrap_or(self.bytes)
    }
}

/// Appends a line for each digest of a record. `write` appends the line without its ending, and
/// gets the name, escaped if necessary.
pub(super) fn write(
    format: &'static str,
    out: &mut Vec<u8>,
    ending: Ending,
    record: &Record<'_>,
    write: impl Fn(&mut Vec<u8>, &[u8], &Digest),
) -> Result<(), CannotHold> {
    if record.digests.is_empty() {
        return Err(CannotHold::NoDigest(format));
    }
    let name = match ending {
        Ending::Newline => escape::escape(&record.name),
        Ending::Nul => Cow::Borrowed(&*record.name),
    };
    for digest in record.digests.iter() {
        if matches!(name, Cow::Owned(_)) {
            out.push(escape::MARK);
        }
        write(out, &name, digest);
        out.push(ending.byte());
    }
    Ok(())
}

/// Returns the name as written in a line. Appends the mark for escaped names if the name needs it.
pub(super) fn mark_and_escape<'a>(
    out: &mut Vec<u8>,
    ending: Ending,
    name: &'a [u8],
) -> Cow<'a, [u8]> {
    let name = match ending {
        Ending::Newline => escape::escape(name),
        Ending::Nul => Cow::Borrowed(name),
    };
    if matches!(name, Cow::Owned(_)) {
        out.push(escape::MARK);
    }
    name
}

/// Returns the first line of a list that is neither empty nor a comment.
pub(super) fn first(head: &[u8], ending: Ending) -> &[u8] {
    let mut lines = head.split(|&byte| byte == ending.byte());
    let says_something = |line: &&[u8]| !matches!(line, [] | [b'\r'] | [b'#', ..]);
    lines.find(says_something).unwrap_or_default()
}

/// Returns the text without leading spaces and tabs.
pub(super) fn skip_blanks(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take_while(|&&byte| is_blank(byte)).count();
    &text[blanks..]
}

/// Returns whether a byte is a space or a tab, like `isblank` in C.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Returns the line without the carriage return of Windows at its end.
pub(super) fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Returns the line without a byte order mark before it. A list joined from several, as by `cat`,
/// has marks in its middle.
pub(super) fn without_mark(line: &[u8]) -> &[u8] {
    line.strip_prefix(start::MARK).unwrap_or(line)
}

/// Parses decimal digits. Other characters are invalid.
pub(super) fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    str::from_utf8(digits).ok()?.parse().ok()
}

/// Refuses a name that would read back differently, or as several lines, when it is written
/// unescaped at the end of a line.
pub(super) fn refuse_broken(format: &'static str, name: &[u8]) -> Result<(), CannotHold> {
    if name.is_empty() {
        return Err(CannotHold::EmptyName(format));
    }
    if name.contains(&b'\n') || name.ends_with(b"\r") {
        let what = "with a line end in it, or a carriage return at its end";
        return Err(CannotHold::Name { format, what });
    }
    Ok(())
}

/// Appends a number in decimal digits.
pub(super) fn write_number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}
