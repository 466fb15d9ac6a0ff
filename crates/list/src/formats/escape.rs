//! Escaped names: a newline is `\n`, a carriage return `\r`, and a backslash `\\`.
//!
//! A backslash is escaped too, so that further escapes can be added.

use std::borrow::Cow;

/// The first byte of a line with an escaped name.
pub(super) const MARK: u8 = b'\\';

/// Returns the name as written in a line. The result is owned if the name needs escapes.
pub(super) fn escape(name: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = memchr::memchr3(b'\\', b'\n', b'\r', name) else {
        return Cow::Borrowed(name);
    };
    let mut escaped = Vec::with_capacity(name.len() + 8);
    escaped.extend_from_slice(&name[..first]);
    for &byte in &name[first..] {
        match byte {
            b'\\' => escaped.extend_from_slice(b"\\\\"),
            b'\n' => escaped.extend_from_slice(b"\\n"),
            b'\r' => escaped.extend_from_slice(b"\\r"),
            _ => escaped.push(byte),
        }
    }
    Cow::Owned(escaped)
}

/// Decodes an escaped name. Returns `None` if a backslash is not followed by `n`, `r` or a
/// backslash.
pub(super) fn unescape(escaped: &[u8]) -> Option<Vec<u8>> {
    let mut name = Vec::with_capacity(escaped.len());
    let mut rest = escaped;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        name.extend_from_slice(&rest[..at]);
        name.push(match rest.get(at + 1)? {
            b'\\' => b'\\',
            b'n' => b'\n',
            b'r' => b'\r',
            _ => return None,
        });
        rest = &rest[at + 2..];
    }
    name.extend_from_slice(rest);
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_names_round_trip() {
        for (name, escaped) in [
            (&b"\\"[..], &b"\\\\"[..]),
            (b"a\nb", b"a\\nb"),
            (b"\r\n\\n", b"\\r\\n\\\\n"),
            (b"\xff\\\xfe", b"\xff\\\\\xfe"),
        ] {
            assert_eq!(escape(name), Cow::<[u8]>::Owned(escaped.to_vec()));
            assert_eq!(unescape(escaped).as_deref(), Some(name));
        }
        assert!(matches!(escape(b"plain \t'name'"), Cow::Borrowed(b"plain \t'name'")));
    }

    #[test]
    fn unknown_escapes_are_invalid() {
        for bad in [&b"\\"[..], b"a\\", b"\\\\\\", b"\\t", b"\\\xff", b"\\ "] {
            assert_eq!(unescape(bad), None, "{bad:?}");
        }
        assert_eq!(unescape(b"").as_deref(), Some(&b""[..]));
    }
}
