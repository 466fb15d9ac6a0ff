//! Quotes file names in messages for the shell, like GNU coreutils.
//!
//! [`file_name`] is `quotef` of coreutils. `cksum.c`, and so md5sum, uses it for every printed
//! name: in results (`'a b': OK`, since 9.11), before errors of the system (`md5sum: 'a b': No such
//! file or directory`) and for the list (`md5sum: 'a b': 3: improperly formatted MD5 checksum
//! line`). It also quotes names with a colon, because a colon ends the name there. Otherwise the
//! result is that of `ls --quoting-style=shell-escape` and `printf %q`. md5sum never uses `quote`,
//! the style that always quotes.
//!
//! A name without special characters is printed unchanged. Other names are in `'...'`, in which all
//! characters except `'` are unchanged. Characters that a terminal cannot show become `$'...'` with
//! C escapes. A name whose only special character is an apostrophe is in `"..."`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory as _};

/// The characters that can be shown, which depend on the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locale {
    /// The C or POSIX locale: only printable ASCII.
    C,
    /// A UTF-8 locale: every assigned character except control characters and separators of lines
    /// or paragraphs, as in glibc. The two may use different versions of Unicode.
    Utf8,
}

/// Appends a name as coreutils prints it before a colon.
pub fn file_name(out: &mut Vec<u8>, name: &[u8], locale: Locale) {
    append(out, name, locale, name.contains(&b':'));
}

/// Returns the same as text, with escapes for bytes that are not UTF-8.
pub fn shown(name: impl AsRef<OsStr>, locale: Locale) -> String {
    let mut words = Vec::new();
    file_name(&mut words, name.as_ref().as_bytes(), locale);
    String::from_utf8_lossy(&words).into_owned()
}

/// The quotes that a character needs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    /// None. It may be unquoted or in either kind of quotes.
    Nothing,
    /// Any quotes.
    Quotes,
    /// Single quotes.
    SingleQuotes,
    /// None, but other characters then need single quotes.
    BareOrSingleQuotes,
    /// An escape in `$'...'`.
    Escape,
}

fn append(out: &mut Vec<u8>, name: &[u8], locale: Locale, force: bool) {
    let mut bare = !force && !name.is_empty();
    let mut double = name.contains(&b'\'');
    for character in characters(name, locale) {
        bare &= matches!(character.need, Need::Nothing | Need::BareOrSingleQuotes);
        double &= matches!(character.need, Need::Nothing | Need::Quotes);
    }
    if bare {
        out.extend_from_slice(name);
    } else if double {
        out.push(b'"');
        out.extend_from_slice(name);
        out.push(b'"');
    } else {
        append_single_quoted(out, name, locale);
    }
}

/// Appends `'...'` with escapes: `'` closes the quotes for `\'`, and a run of escapes for `$'...'`.
fn append_single_quoted(out: &mut Vec<u8>, name: &[u8], locale: Locale) {
    let mut escaping = false;
    out.push(b'\'');
    for Character { bytes, need } in characters(name, locale) {
        if need == Need::Escape {
            if !escaping {
                out.extend_from_slice(b"'$'");
                escaping = true;
            }
            bytes.iter().for_each(|&byte| append_escape(out, byte));
            continue;
        }
        if bytes == b"'" {
            out.extend_from_slice(br"'\''");
        } else {
            if escaping {
                out.extend_from_slice(b"''");
            }
            out.extend_from_slice(bytes);
        }
        escaping = false;
    }
    out.push(b'\'');
}

/// Appends the C escape of a byte: a letter if there is one, and otherwise three octal digits.
fn append_escape(out: &mut Vec<u8>, byte: u8) {
    out.push(b'\\');
    match byte {
        0x07 => out.push(b'a'),
        0x08 => out.push(b'b'),
        b'\t' => out.push(b't'),
        b'\n' => out.push(b'n'),
        0x0b => out.push(b'v'),
        0x0c => out.push(b'f'),
        b'\r' => out.push(b'r'),
        _ => out.extend([byte >> 6, byte >> 3 & 7, byte & 7].map(|digit| b'0' + digit)),
    }
}

/// The bytes of a character and the quotes that it needs at its position.
struct Character<'a> {
    bytes: &'a [u8],
    need: Need,
}

/// Returns the characters of a name. An invalid byte counts as a character.
struct Characters<'a> {
    name: &'a [u8],
    at: usize,
    locale: Locale,
}

fn characters(name: &[u8], locale: Locale) -> Characters<'_> {
    Characters { name, at: 0, locale }
}

impl<'a> Iterator for Characters<'a> {
    type Item = Character<'a>;

    fn next(&mut self) -> Option<Character<'a>> {
        let rest = &self.name[self.at..];
        let first = *rest.first()?;
        let (len, need) = if first.is_ascii() {
            (1, self.ascii(first))
        } else {
            match (self.locale, first_char(rest)) {
                (Locale::Utf8, Some(found)) if is_printable(found) => {
                    (found.len_utf8(), Need::Nothing)
                }
                _ => (1, Need::Escape),
            }
        };
        self.at += len;
        Some(Character { bytes: &rest[..len], need })
    }
}

impl Characters<'_> {
    fn ascii(&self, byte: u8) -> Need {
        match byte {
            0..b' ' | 0x7f => Need::Escape,
            b' ' | b'\'' => Need::Quotes,
            b'#' | b'~' if self.at == 0 => Need::Quotes,
            b'{' | b'}' if self.name.len() == 1 => Need::Quotes,
            b'#' | b'~' | b'{' | b'}' => Need::BareOrSingleQuotes,
            b'!' | b'"' | b'$' | b'&' | b'(' | b')' | b'*' | b';' | b'<' | b'=' | b'>' | b'?'
            | b'[' | b'\\' | b'^' | b'`' | b'|' => Need::SingleQuotes,
            _ => Need::Nothing,
        }
    }
}

/// Returns the UTF-8 character at the start of the bytes.
fn first_char(bytes: &[u8]) -> Option<char> {
    let chunk = bytes[..bytes.len().min(4)].utf8_chunks().next()?;
    chunk.valid().chars().next()
}

/// Returns whether `iswprint` of glibc is true for a character beyond ASCII in a UTF-8 locale.
fn is_printable(character: char) -> bool {
    !matches!(
        character.general_category(),
        GeneralCategory::Control
            | GeneralCategory::Unassigned
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator
    )
}

#[cfg(test)]
mod tests;
