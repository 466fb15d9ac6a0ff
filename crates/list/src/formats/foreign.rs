//! Valid lines of unsupported algorithms, which cannot be checked.

use super::line::{is_blank, skip_blanks, without_return};
use super::tag;
use crate::digits;

/// The algorithms that their number of hexadecimal digits alone identifies.
const BY_DIGITS: [(usize, &str); 2] = [(48, "Tiger"), (80, "RIPEMD-320")];

/// The length of the longest tag in bytes, about that of `BLAKE2SP-256` or `SHAKE128/256`.
const LONGEST_TAG: usize = 14;

/// Returns the tag of a text that may be a line of a list.
pub(super) fn by_tag(text: &[u8]) -> Option<&str> {
    let (tag, _, digits) = tag::split(text, true)?;
    if is_tag(tag) && digits::may_be(digits) { str::from_utf8(tag).ok() } else { None }
}

/// Returns the algorithm that the number of digits identifies, in a text that may be a line of a
/// list.
pub(super) fn by_digits(text: &[u8]) -> Option<&'static str> {
    let end = text.iter().position(|&byte| is_blank(byte))?;
    let is_hex = text[..end].iter().all(u8::is_ascii_hexdigit);
    let (_, name) = BY_DIGITS.into_iter().find(|&(digits, _)| is_hex && digits == end)?;
    (!skip_blanks(&text[end..]).is_empty()).then_some(name)
}

/// The widths in characters of digests in lists of rclone: in hexadecimal, from 8 for CRC-32 on,
/// and in base64.
const WIDTHS: [usize; 12] = [8, 12, 16, 24, 28, 32, 40, 44, 64, 88, 96, 128];

/// The width of an MD5 digest. Any line may start with fewer blanks.
const MD5_DIGITS: usize = 32;

/// Returns whether rclone writes this line for a file without a digest. Such a line has blanks,
/// `ERROR` or `UNSUPPORTED`, right-aligned to the width of a digest, then two blanks and the name.
pub(super) fn is_without_digest(line: &[u8]) -> bool {
    let blanks = line.iter().take_while(|&&byte| byte == b' ').count();
    let text = without_return(&line[blanks..]);
    for word in [&b"UNSUPPORTED"[..], b"ERROR"] {
        let Some(name) = text.strip_prefix(word).and_then(|rest| rest.strip_prefix(b"  ")) else {
            continue;
        };
        // A word that is longer than the digests is not cut.
        let is_longer = blanks == 0 && word.len() > WIDTHS[0];
        return !name.is_empty() && (is_longer || WIDTHS.contains(&(blanks + word.len())));
    }
    // Other text is indented by few blanks, and a name may start with one.
    let is_blank_digest = |width| width >= MD5_DIGITS && WIDTHS.contains(&width);
    let is_one = |before: usize| blanks.checked_sub(before).is_some_and(is_blank_digest);
    !text.is_empty() && (is_one(2) || is_one(3))
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
    fn lines_with_unsupported_algorithms_are_recognized() {
        let tiger = "3293ac630c13f0245f92bbb1766e16167a4e58492dde73f3";
        for (line, name) in [
            ("BLAKE2s (a) = ba80a53f981c4d0d", "BLAKE2s"),
            ("BLAKE2S-256(a b)= ba80a53f981c4d0d", "BLAKE2S-256"),
            ("SHA3-224 (a) = 3a985da74fe225b2", "SHA3-224"),
            ("SM3 (a) = ZsfwRifqWGU=", "SM3"),
            (&format!("TIGER (a) = {tiger}"), "TIGER"),
            (&format!("{tiger}  a"), "Tiger"),
            (&format!("{}  a", "0".repeat(80)), "RIPEMD-320"),
        ] {
            assert_eq!(algorithm(line.as_bytes()), Some(name), "{line}");
        }
    }

    #[test]
    fn rclone_lines_without_a_digest_are_recognized() {
        for width in [8, 32, 40, 44, 64, 128] {
            for word in ["", "ERROR", "UNSUPPORTED"] {
                if word.is_empty() && width == 8 {
                    continue;
                }
                let line = format!("{word:>width$}  d/a b\r");
                assert!(is_without_digest(line.as_bytes()), "{line:?}");
                assert!(!is_without_digest(format!("{word:>width$}  ").as_bytes()), "{width}");
            }
        }
        // A name that starts with a blank.
        assert!(is_without_digest(format!("{:32}   a", "").as_bytes()));
        for line in [
            "",
            "a",
            "  ",
            "   ERROR",
            "    a",
            "         3  a",
            &format!("{:10}indented", ""),
            &format!("{:38}indented", ""),
            "ERROR  a",
            "   ERROR: a",
            "ERRORS  a",
        ] {
            assert!(!is_without_digest(line.as_bytes()), "{line:?}");
        }
    }

    #[test]
    fn other_lines_are_not_foreign() {
        let tiger = "3293ac630c13f0245f92bbb1766e16167a4e58492dde73f3";
        for line in [
            "",
            "see (the manual) = page 5",
            "f (x) = 12345678",
            "see (there) = page12345",
            "BLAKE2s (a) = ba80",
            "BLAKE2s (a)",
            "a long sentence (with) = 0123456789",
            tiger,
            &format!("{tiger} "),
            &format!("{}  a", &tiger[1..]),
        ] {
            assert_eq!(algorithm(line.as_bytes()), None, "{line}");
        }
    }
}
