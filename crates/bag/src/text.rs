//! The encodings and lines of tag files.

use std::borrow::Cow;

/// The encoding of the tag files of a bag, except for `bagit.txt`, which is always UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Utf8,
    /// In the byte order of its mark, or big-endian without one.
    Utf16,
    Utf16Le,
    Utf16Be,
    Latin1,
    Ascii,
}

impl Encoding {
    /// Returns the encoding with an IANA name, in any case.
    pub(crate) fn of(name: &str) -> Option<Self> {
        Some(match &*name.to_ascii_uppercase() {
            "UTF-8" | "UTF8" => Self::Utf8,
            "UTF-16" => Self::Utf16,
            "UTF-16LE" => Self::Utf16Le,
            "UTF-16BE" => Self::Utf16Be,
            "ISO-8859-1" | "ISO8859-1" | "ISO_8859-1" | "LATIN1" | "L1" => Self::Latin1,
            "US-ASCII" | "ASCII" => Self::Ascii,
            _ => return None,
        })
    }

    /// Decodes text. Returns `None` if it is not in this encoding.
    pub(crate) fn decode(self, bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
        match self {
            Self::Utf8 => str::from_utf8(bytes).ok().map(|text| Cow::Borrowed(text.as_bytes())),
            Self::Ascii => bytes.is_ascii().then_some(Cow::Borrowed(bytes)),
            Self::Latin1 => {
                let text: String = bytes.iter().map(|&byte| char::from(byte)).collect();
                Some(Cow::Owned(text.into_bytes()))
            }
            Self::Utf16 => match bytes {
                [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
                [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
                _ => utf16(bytes, u16::from_be_bytes),
            },
            Self::Utf16Le => utf16(bytes, u16::from_le_bytes),
            Self::Utf16Be => utf16(bytes, u16::from_be_bytes),
        }
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<Cow<'static, [u8]>> {
    let (pairs, []) = bytes.as_chunks::<2>() else { return None };
    let characters = char::decode_utf16(pairs.iter().map(|&pair| unit(pair)));
    let text: String = characters.collect::<Result<_, _>>().ok()?;
    Some(Cow::Owned(text.into_bytes()))
}

/// The byte order mark of UTF-8, which some editors write.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns the lines of a text, ended by LF, CR or CRLF, and their numbers from 1. The last line
/// may have no ending.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let (mut rest, mut number) = (text, 0);
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        number += 1;
        let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let line = &rest[..end.unwrap_or(rest.len())];
        rest = match &rest[line.len()..] {
            [b'\r', b'\n', rest @ ..] | [_, rest @ ..] => rest,
            [] => &[],
        };
        Some((number, line))
    })
}

/// Returns the text without surrounding spaces and tabs.
pub(crate) fn trim(text: &[u8]) -> &[u8] {
    let is_text = |byte: &u8| !is_blank(*byte);
    let Some(begin) = text.iter().position(is_text) else { return &[] };
    let end = text.iter().rposition(is_text).map_or(begin, |last| last + 1);
    &text[begin..end]
}

/// Returns whether a byte is linear whitespace in RFC 8493.
pub(crate) const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_in_three_ways() {
        let all = |text: &'static str| lines(text.as_bytes()).collect::<Vec<_>>();
        assert_eq!(all("a\nb\r\n\rc"), [(1, &b"a"[..]), (2, b"b"), (3, b""), (4, b"c")]);
        assert_eq!(all("a\n"), all("a"));
        assert_eq!(all(""), []);
    }

    #[test]
    fn texts_are_decoded_or_refused() {
        let decode = |name: &str, bytes: &'static [u8]| {
            let text = Encoding::of(name).unwrap().decode(bytes)?;
            Some(String::from_utf8(text.into_owned()).unwrap())
        };
        let umlaut = Some("ä".to_owned());
        assert_eq!(decode("utf-8", b"\xc3\xa4"), umlaut);
        assert_eq!(decode("ISO-8859-1", b"\xe4"), umlaut);
        assert_eq!(decode("UTF-16", b"\xff\xfe\xe4\0"), umlaut);
        assert_eq!(decode("UTF-16", b"\xfe\xff\0\xe4"), umlaut);
        assert_eq!(decode("UTF-16", b"\0\xe4"), umlaut);
        assert_eq!(decode("UTF-16LE", b"\xe4\0"), umlaut);
        assert_eq!(decode("UTF-16BE", b"\0\xe4"), umlaut);
        for (name, bytes) in [
            ("UTF-8", &b"\xe4"[..]),
            ("US-ASCII", b"\xe4"),
            ("UTF-16", b"a"),
            ("UTF-16", b"\xd8\0"),
        ] {
            assert_eq!(decode(name, bytes), None, "{name}");
        }
        assert_eq!(Encoding::of("Shift_JIS"), None);
    }

    #[test]
    fn surrounding_blanks_are_trimmed() {
        assert_eq!(trim(b" \ta b\t"), b"a b");
        assert_eq!(trim(b" \t"), b"");
    }
}
