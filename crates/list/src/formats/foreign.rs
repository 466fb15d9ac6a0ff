//! Lines of algorithms that are not known here: good lines, which say something that cannot be
//! checked.

use super::line::{is_blank, skip_blanks};
use super::tag;
use crate::digits;

/// What is known by its number of hexadecimal digits alone.
const BY_DIGITS: [(usize, &str); 2] = [(48, "Tiger"), (96, "SHA-384")];

/// The longest tag, in bytes, is about as long as `BLAKE2SP-256` or `SHAKE128/256`.
const LONGEST_TAG: usize = 14;

/// The tag of what may be a line of a list.
pub(super) fn by_tag(text: &[u8]) -> Option<&str> {
    let (tag, _, digits) = tag::split(text, true)?;
    if is_tag(tag) && digits::may_be(digits) { str::from_utf8(tag).ok() } else { None }
}

/// The algorithm that the number of digits is enough for, in what may be a line of a list.
pub(super) fn by_digits(text: &[u8]) -> Option<&'static str> {
    let end = text.iter().position(|&byte| is_blank(byte))?;
    let is_hex = text[..end].iter().all(u8::is_ascii_hexdigit);
    let (_, name) = BY_DIGITS.into_iter().find(|&(digits, _)| is_hex && digits == end)?;
    (!skip_blanks(&text[end..]).is_empty()).then_some(name)
}

fn is_tag(tag: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"-/_".contains(byte);
    (2..=LONGEST_TAG).contains(&tag.len())
        && tag[0].is_ascii_alphabetic()
        && tag.iter().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn algorithm(text: &[u8]) -> Option<&str> {
        by_tag(text).or_else(|| by_digits(text))
    }

    #[test]
    fn lines_of_other_programs_algorithms_are_known() {
        let tiger = "3293ac630c13f0245f92bbb1766e16167a4e58492dde73f3";
        for (line, name) in [
            ("BLAKE2b (a) = ba80a53f981c4d0d", "BLAKE2b"),
            ("BLAKE2B-512(a b)= ba80a53f981c4d0d", "BLAKE2B-512"),
            ("SHA3-256 (a) = 3a985da74fe225b2", "SHA3-256"),
            ("SM3 (a) = ZsfwRifqWGU=", "SM3"),
            (&format!("TIGER (a) = {tiger}"), "TIGER"),
            (&format!("{tiger}  a"), "Tiger"),
            (&format!("{tiger}{tiger}  a"), "SHA-384"),
        ] {
            assert_eq!(algorithm(line.as_bytes()), Some(name), "{line}");
        }
    }

    #[test]
    fn anything_else_is_none() {
        let tiger = "3293ac630c13f0245f92bbb1766e16167a4e58492dde73f3";
        for line in [
            "",
            "see (the manual) = page 5",
            "f (x) = 12345678",
            "see (there) = page12345",
            "BLAKE2b (a) = ba80",
            "BLAKE2b (a)",
            "a long sentence (with) = 0123456789",
            tiger,
            &format!("{tiger} "),
            &format!("{}  a", &tiger[1..]),
        ] {
            assert_eq!(algorithm(line.as_bytes()), None, "{line}");
        }
    }
}
