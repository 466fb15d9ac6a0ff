//! What lines with and without a tag have in common: their endings, escaped names, comments.
//!
//! The rules are GNU md5sum's: blanks before the digits are skipped, digits have either case, a
//! carriage return before the newline is ignored. A NUL makes a line malformed, but with
//! [`Dialect::only`], where it ends the name, as to md5sum.

use std::borrow::Cow;

use super::{CannotHold, Line, escape};
use crate::{Dialect, Digest, Ending, Record};

/// A line that is neither blank nor sure to be malformed, without what may stand around it.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    /// From the tag or the first digit on.
    pub(super) bytes: &'a [u8],
    /// Whether the line says that the name is escaped.
    is_escaped: bool,
}

/// A name as it was before it was escaped, and its digest: what a line says, which is made a
/// [`Line`] when all formats have looked.
pub(super) type Found<'a> = (Cow<'a, [u8]>, Digest);

/// A line that no format has to look at.
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

/// What was found as a line.
pub(super) fn line((name, digest): Found<'_>, is_tagged: bool) -> Line<'_> {
    let record = Record { name, digests: digest.into(), ..Record::default() };
    Line::Record { record, is_tagged }
}

impl<'a> Text<'a> {
    /// # Errors
    /// What the line is, if no format has to look at it.
    pub(super) fn of(line: &'a [u8], dialect: &Dialect) -> Result<Self, Settled> {
        let line = match dialect.ending() {
            Ending::Newline => line.strip_suffix(b"\r").unwrap_or(line),
            Ending::Nul => line,
        };
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

    /// The name that stands in the line so; `None` where it is not escaped as the line says.
    pub(super) fn name(&self, name: &'a [u8]) -> Option<Cow<'a, [u8]>> {
        Some(match (memchr::memchr(b'\0', name), self.is_escaped) {
            (None, false) => Cow::Borrowed(name),
            (None, true) => Cow::Owned(escape::unescape(name)?),
            (Some(end), false) => Cow::Borrowed(&name[..end]),
            // It would be the wrong name, and no tool escapes one that holds NUL.
            (Some(_), true) => return None,
        })
    }

    /// From the tag or the first digit on, also where a mark of an escaped name means nothing.
    pub(super) fn unmarked(&self) -> &'a [u8] {
        self.bytes.strip_prefix(&[escape::MARK]).filter(|_| !self.is_escaped).unwrap_or(self.bytes)
    }
}

/// Appends a line for each digest of a record; `write` appends it with the name that it is given,
/// which is escaped where it must be, and without its ending.
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

/// The name as a line holds it, after the mark at the line's beginning where that needs one.
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

/// The first line of a list that is neither empty nor a comment.
pub(super) fn first(head: &[u8], ending: Ending) -> &[u8] {
    let mut lines = head.split(|&byte| byte == ending.byte());
    let says_something = |line: &&[u8]| !matches!(line, [] | [b'\r'] | [b'#', ..]);
    lines.find(says_something).unwrap_or_default()
}

/// The text after the spaces and tabs at its start.
pub(super) fn skip_blanks(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take_while(|&&byte| is_blank(byte)).count();
    &text[blanks..]
}

/// Whether a byte is blank as C's `isblank` has it.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// The line without the carriage return that Windows puts at its end.
pub(super) fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The number that these decimal digits are, and nothing else.
pub(super) fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    str::from_utf8(digits).ok()?.parse().ok()
}

/// Refuses a name that would be another one, or several lines, if it stood as it is at the end of
/// a line.
pub(super) fn refuse_broken(format: &'static str, name: &[u8]) -> Result<(), CannotHold> {
    if name.is_empty() {
        return Err(CannotHold::EmptyName(format));
    }
    if name.contains(&b'\n') || name.ends_with(b"\r") {
        let what = "with a newline in it, or with a carriage return at its end";
        return Err(CannotHold::Name { format, what });
    }
    Ok(())
}

/// Appends a number in decimal digits.
pub(super) fn write_number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}
