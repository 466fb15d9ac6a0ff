//! Tagged lines: `MD5 (name) = hex`, as the md5 of the BSDs and `md5sum --tag` write them.
//!
//! OpenSSL's `MD5(name)= hex` differs in its blanks only, and so does RHash's `MD5   (name) = hex`. The name ends at the last `)` of the
//! line, and no digit is one, so a name that holds `) = ` needs no escape.

use crate::{Algorithm, Algorithms, Digest, digits, skip_blanks};

/// What OpenSSL 3 and GNU cksum call an algorithm beside its own tag.
const ALIASES: [(&[u8], Algorithm); 2] =
    [(b"SHA2-256", Algorithm::Sha256), (b"SHA2-512", Algorithm::Sha512)];

/// Within how many bytes the parenthesis opens, were the tag the longest, with a space after it.
const OPENS_WITHIN: usize = 15;

/// Appends the line without its ending; the name is escaped where it must be.
pub(crate) fn write(out: &mut Vec<u8>, name: &[u8], digest: &Digest) {
    out.extend_from_slice(digest.algorithm().tag().as_bytes());
    out.extend_from_slice(b" (");
    out.extend_from_slice(name);
    out.extend_from_slice(b") = ");
    digest.write_hex(out);
}

/// The name, still escaped, and the digest, when the tag is that of one of `algorithms`. If `is_lenient`,
/// several spaces may follow the tag, and the digits may be base64.
pub(crate) fn read(
    text: &[u8],
    algorithms: Algorithms,
    is_lenient: bool,
) -> Option<(&[u8], Digest)> {
    let (tag, name, digits) = split(text, is_lenient)?;
    let algorithm = algorithms.iter().find(|&algorithm| is_of(tag, algorithm))?;
    Some((name, digits::read(algorithm, digits, is_lenient)?))
}

/// Whether a tag is the one of an algorithm.
pub(crate) fn is_of(tag: &[u8], algorithm: Algorithm) -> bool {
    algorithm.tag().as_bytes() == tag || ALIASES.contains(&(tag, algorithm))
}

/// Tag, name, still escaped, and digits of what has the shape of a tagged line.
pub(crate) fn split(text: &[u8], is_lenient: bool) -> Option<(&[u8], &[u8], &[u8])> {
    let open = text.iter().take(OPENS_WITHIN).position(|&byte| byte == b'(')?;
    let mut tag = text[..open].strip_suffix(b" ").unwrap_or(&text[..open]);
    while is_lenient && let Some(shorter) = tag.strip_suffix(b" ") {
        tag = shorter;
    }
    let rest = &text[open + 1..];
    let close = memchr::memrchr(b')', rest)?;
    let digits = skip_blanks(skip_blanks(&rest[close + 1..]).strip_prefix(b"=")?);
    Some((tag, &rest[..close], digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: fn() -> Algorithms = || Algorithm::ALL.into_iter().collect();

    #[test]
    fn bsd_and_openssl_are_read() {
        let digest = Digest::from_hex(Algorithm::Crc32c, b"e3069283").unwrap();
        for line in [
            "CRC32C (a b) = e3069283",
            "CRC32C(a b)= E3069283",
            "CRC32C (a b)=e3069283",
            "CRC32C (a b)\t = \t e3069283",
            "CRC32C (a b) = 4waSgw==",
            "CRC32C   (a b) = e3069283",
        ] {
            assert_eq!(read(line.as_bytes(), ALL(), true), Some((&b"a b"[..], digest)), "{line}");
        }
    }

    #[test]
    fn a_name_may_hold_what_ends_a_name() {
        for (line, name) in [
            ("CRC32C (a) = b) = e3069283", "a) = b"),
            ("CRC32C () = e3069283", ""),
            ("CRC32C ()) = e3069283", ")"),
            ("CRC32C (() = e3069283", "("),
        ] {
            let read = read(line.as_bytes(), ALL(), false);
            assert_eq!(read.map(|(name, _)| name), Some(name.as_bytes()), "{line}");
        }
    }

    #[test]
    fn every_tag_and_alias_is_found() {
        let own = Algorithm::ALL.map(|algorithm| (algorithm.tag().as_bytes(), algorithm));
        for (tag, algorithm) in own.into_iter().chain(ALIASES) {
            let digest = Digest::new(algorithm, &vec![7; algorithm.digest_len()]).unwrap();
            let line = format!("{} (f) = {digest}", String::from_utf8_lossy(tag));
            assert_eq!(read(line.as_bytes(), ALL(), false), Some((&b"f"[..], digest)), "{line}");
            let others = ALL().iter().filter(|&other| other != algorithm).collect();
            assert_eq!(read(line.as_bytes(), others, false), None, "{line}");
        }
    }

    #[test]
    fn what_is_not_a_tagged_line_is_none() {
        for line in [
            "",
            "CRC32C",
            "CRC32C (",
            "CRC32C (a",
            "CRC32C (a)",
            "CRC32C (a) e3069283",
            "CRC32C (a) = ",
            "CRC32C (a) = e306928",
            "CRC32C (a) = e3069283 ",
            "crc32c (a) = e3069283",
            "CRC32C (a) = 4waSgw=",
            "CRC32C (a) = 4waSgw",
            "MD5 (a) = e3069283",
        ] {
            assert_eq!(read(line.as_bytes(), ALL(), true), None, "{line}");
        }
    }
}
