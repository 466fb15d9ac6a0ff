//! Lines that are not checksum lines, but contain a digest.
//!
//! The author of such a line wanted its file to be checked. So a check that skips it must not
//! succeed. The digests of most algorithms cannot be mistaken for something else. The short ones
//! can: a date and an abbreviated commit have 8 digits, too.

use crate::{Algorithm, Algorithms};

/// The hexadecimal digits of the shortest digest that text does not contain by chance.
const MANY: usize = 32;

/// Returns whether a line that is not a checksum line contains a digest, and something else that
/// may name its file. Digests of fewer than 32 hexadecimal digits count only if other lines of the
/// list, which have the algorithms `seen`, have as many.
///
/// ```
/// use lanesum_list::{Algorithm, Algorithms, has_digest};
///
/// let (none, crc32) = (Algorithms::NONE, Algorithm::Crc32.into());
/// assert!(has_digest(b"name d41d8cd98f00b204e9800998ecf8427e", none));
/// assert!(has_digest(b"name 1B2M2Y8AsgTpgAmY7PhCfg==", none));
/// assert!(!has_digest(b"d41d8cd98f00b204e9800998ecf8427e", none));
/// assert!(!has_digest(b"Backup of 20261120", none));
/// assert!(has_digest(b"name 352441c2", crc32));
/// ```
#[must_use]
pub fn has_digest(line: &[u8], seen: Algorithms) -> bool {
    // Text in UTF-16 within a list in UTF-8.
    let text: Vec<u8> = line.iter().copied().filter(|&byte| byte != 0).collect();
    let text = text.trim_ascii();
    let is_with_others = |digits: usize| digits < text.len();
    has_hex(text, seen, is_with_others)
        || has_groups(text)
        || Algorithm::ALL.into_iter().any(|it| has_base64(text, it, seen, is_with_others))
}

/// Returns the two names that a line with a short digest may have: the text before it, as in SFV,
/// and the text behind it. A list of names shows whether one of them is that of a file.
///
/// ```
/// use lanesum_list::names_beside_short_digest;
///
/// let names: Vec<_> = names_beside_short_digest(b"a b 352441C2").collect();
/// assert_eq!(names, [b"a b"]);
/// ```
pub fn names_beside_short_digest(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let line = line.trim_ascii();
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let is_short =
        |word: &[u8]| matches!(word.len(), 8 | 16) && word.iter().all(u8::is_ascii_hexdigit);
    let last = line.iter().rposition(is_blank).map(|at| (&line[at + 1..], &line[..at]));
    let first = line.iter().position(is_blank).map(|at| (&line[..at], &line[at + 1..]));
    let sides = [last, first].into_iter().flatten();
    sides.filter(move |(word, _)| is_short(word)).map(|(_, name)| name.trim_ascii())
}

/// Returns whether hexadecimal digits in a row are as many as those of a digest.
fn has_hex(text: &[u8], seen: Algorithms, is_with_others: impl Fn(usize) -> bool) -> bool {
    let is_of_seen = |digits: usize| seen.iter().any(|it| 2 * it.digest_len() == digits);
    let is_digest = |word: &[u8]| {
        let has_hex = |run: &[u8]| run.len() >= MANY && is_with_others(run.len());
        let is_short = word.iter().all(u8::is_ascii_hexdigit) && is_of_seen(word.len());
        (is_short && is_with_others(word.len()))
            || word.split(|byte| !byte.is_ascii_hexdigit()).any(has_hex)
    };
    text.split(|byte| !byte.is_ascii_alphanumeric()).any(is_digest)
}

/// Returns whether groups of two, four or eight hexadecimal digits, as gpg and OpenSSL print them,
/// have as many digits as a digest. Something else must be beside them.
fn has_groups(text: &[u8]) -> bool {
    let (mut length, mut digits, mut most, mut others) = (0, 0, 0, false);
    let words = text.split(|byte| b" \t:-".contains(byte)).filter(|word| !word.is_empty());
    for word in words {
        let is_group = matches!(word.len(), 2 | 4 | 8) && word.iter().all(u8::is_ascii_hexdigit);
        others |= !is_group;
        if !is_group || word.len() != length {
            digits = 0;
        }
        length = if is_group { word.len() } else { 0 };
        digits += length;
        most = most.max(digits);
    }
    most >= MANY && others
}

/// Returns whether base64 digits in a row, with their padding, are as many as those of a digest.
fn has_base64(
    text: &[u8],
    algorithm: Algorithm,
    seen: Algorithms,
    is_with_others: impl Fn(usize) -> bool,
) -> bool {
    let digest = algorithm.digest_len();
    if 2 * digest < MANY && !seen.iter().any(|it| it.digest_len() == digest) {
        return false;
    }
    let padding = (3 - digest % 3) % 3;
    let expected = base64::encoded_len(digest, true).unwrap_or(usize::MAX);
    if padding == 0 {
        return is_with_others(expected) && has_bare_base64(text, expected);
    }
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte);
    let ends = memchr::memchr_iter(b'=', text).filter(|&at| at == 0 || text[at - 1] != b'=');
    ends.into_iter().any(|at| {
        let pads = text[at..].iter().take_while(|&&byte| byte == b'=').count();
        let begin = (at + padding).checked_sub(expected);
        let Some(begin) = begin.filter(|_| pads == padding) else { return false };
        // The alphabet of URLs has a dash, which other programs write before a digest.
        let is_begin = begin == 0 || !text[begin - 1].is_ascii_alphanumeric();
        is_begin && is_with_others(expected) && text[begin..at].iter().all(is_digit)
    })
}

/// Returns whether that many base64 digits without padding stand in a row, as those of SHA-384.
/// Text rarely has capital letters, small letters and digits without a blank among so many.
fn has_bare_base64(text: &[u8], expected: usize) -> bool {
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/".contains(byte);
    let kinds = [u8::is_ascii_uppercase, u8::is_ascii_lowercase, u8::is_ascii_digit];
    let mut runs = text.split(|byte| !is_digit(byte)).filter(|run| run.len() == expected);
    runs.any(|run| kinds.iter().all(|is| run.iter().any(is)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MD5: &str = "d41d8cd98f00b204e9800998ecf8427e";

    #[test]
    fn digests_in_other_text_are_found() {
        for line in [
            format!("{MD5} name"),
            format!("name {MD5}"),
            format!("name\t{MD5}"),
            format!("name: {MD5}"),
            format!("name,3,{MD5}"),
            format!("0x{MD5}  name"),
            format!("{MD5}0  name"),
            format!("\u{feff}{MD5}"),
            format!("{MD5}\0  name"),
            "d\x004\x001\0d\x008\0c\0d\x009\x008\0f\x000\x000\0b\x002\x000\x004\0e\x009\x008\x000\x000\x009\x009\x008\0e\0c\0f\x008\x004\x002\x007\0e\0 \0f\0".to_owned(),
            "name: D4 1D 8C D9 8F 00 B2 04  E9 80 09 98 EC F8 42 7E".to_owned(),
            "MD5(name)= d4:1d:8c:d9:8f:00:b2:04:e9:80:09:98:ec:f8:42:7e".to_owned(),
            "name: A999 3E36 4706 816A BA3E  2571 7850 C26C 9CD0 D89D".to_owned(),
            "name 1B2M2Y8AsgTpgAmY7PhCfg==".to_owned(),
            "1B2M2Y8AsgTpgAmY7PhCfg== name".to_owned(),
            "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU= name".to_owned(),
            "name sha384-OLBgp1GsljhM2TJ+sbHjaiH9txEUvgdDTAzHv2P24donTt6/529l+9Ua0vFImLlb"
                .to_owned(),
        ] {
            assert!(has_digest(line.as_bytes(), Algorithms::NONE), "{line:?}");
        }
    }

    #[test]
    fn other_text_has_no_digest() {
        for line in [
            "",
            MD5,
            &format!("  {MD5}\r"),
            "1B2M2Y8AsgTpgAmY7PhCfg==",
            "MD5 checksums of backup 20261120",
            "Checksums of build deadbeef",
            "-----BEGIN PGP SIGNED MESSAGE-----",
            "Hash: SHA512",
            "iQIzBAEBCgAdFiEEZKdVR5YFkPHTKoHwIhQ2fC1zpj4FAmcAAAAACgkQIhQ2fC1z",
            "pj4Zxg==",
            "=aB3d",
            "TIMESTAMP = 1763600000",
            "123e4567-e89b-12d3-a456-426614174000  id",
            "00:1a:2b:3c:4d:5e  card",
        ] {
            assert!(!has_digest(line.as_bytes(), Algorithms::NONE), "{line:?}");
        }
    }

    #[test]
    fn short_digests_count_beside_others_as_long() {
        let crc32 = Algorithm::Crc32.into();
        for line in ["name 352441c2", "352441C2 name", "name NSRBwg=="] {
            assert!(has_digest(line.as_bytes(), crc32), "{line}");
            assert!(!has_digest(line.as_bytes(), Algorithm::Md5.into()), "{line}");
        }
        assert!(!has_digest(b"name 352441c2352441c2", crc32));
        let names = |line| names_beside_short_digest(line).collect::<Vec<_>>();
        assert_eq!(names(b"a b  352441c2\r"), [b"a b"]);
        assert_eq!(names(b"352441c2 a"), [b"a"]);
        assert!(names(b"352441c2").is_empty() && names(b"a 352441c").is_empty());
    }
}
