//! `fetch.txt`, the list of payload files to download (RFC 8493, section 2.2.3). Nothing is
//! downloaded.

use lanesum_list::Dialect;
use lanesum_list::formats::{BagIt, Format as _, Line};

use crate::finding::{Finding, Problem};
use crate::names::{self, is_payload};
use crate::text::{is_blank, lines, trim};

/// The file's name.
pub(crate) const NAME: &str = "fetch.txt";

/// A file to download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToFetch {
    pub(crate) line: u64,
    pub(crate) url: Vec<u8>,
    pub(crate) name: Vec<u8>,
}

/// Parses `fetch.txt`. Errors become findings.
pub(crate) fn read(text: &[u8], findings: &mut Vec<Finding>) -> Vec<ToFetch> {
    let mut found = Vec::new();
    for (line, content) in lines(text) {
        if trim(content).is_empty() {
            continue;
        }
        match parse(content) {
            Ok((url, name)) => found.push(ToFetch { line, url: url.to_vec(), name }),
            Err(problem) => findings.push(Finding::error(NAME, problem).at(line)),
        }
    }
    found
}

/// Returns the URL and the name of a line.
fn parse(line: &[u8]) -> Result<(&[u8], Vec<u8>), Problem> {
    let (url, rest) = word(line).ok_or(Problem::FetchLine)?;
    let (length, name) = word(rest).ok_or(Problem::FetchLine)?;
    let is_length = length == b"-" || length.iter().all(u8::is_ascii_digit);
    if !is_length || name.is_empty() {
        return Err(Problem::FetchLine);
    }
    if !is_url(url) {
        return Err(Problem::Url(url.to_vec()));
    }
    let name = decode(name);
    let normal = names::normal(&name).map_err(|why| Problem::Unsafe { name: name.clone(), why })?;
    if !is_payload(&normal) {
        return Err(Problem::NotPayload(name));
    }
    Ok((url, normal.into_owned()))
}

/// Returns the first word, and the text after the following blanks.
fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text.iter().position(|&byte| is_blank(byte)).filter(|&end| end > 0)?;
    let blanks = text[end..].iter().take_while(|&&byte| is_blank(byte)).count();
    Some((&text[..end], &text[end + blanks..]))
}

/// Returns whether a text has a scheme and, except for file URLs, a host (RFC 3986, section 3).
fn is_url(text: &[u8]) -> bool {
    let Some(colon) = text.iter().position(|&byte| byte == b':') else { return false };
    let (scheme, rest) = (&text[..colon], &text[colon + 1..]);
    let is_scheme = scheme.first().is_some_and(u8::is_ascii_alphabetic)
        && scheme.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte));
    let host = rest.strip_prefix(b"//").unwrap_or_default();
    let has_host = host.first().is_some_and(|&byte| byte != b'/');
    is_scheme && (has_host || scheme.eq_ignore_ascii_case(b"file"))
}

/// Decodes a name as in manifests.
fn decode(name: &[u8]) -> Vec<u8> {
    // The format only reads complete lines, so a digest is added.
    let digest = lanesum_checksum::Algorithm::Crc32;
    let line = [b"00000000  ", name].concat();
    match BagIt::new(Dialect::untagged_as(digest)).next(&line) {
        Line::Record { record, .. } => record.name.into_owned(),
        _ => name.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fetch_lines_hold_url_length_and_name() {
        let mut findings = Vec::new();
        let text = "http://a/b%20c 12 data/b c\r\n\nfile:///x\t-  data/%0A%25\n";
        let found = read(text.as_bytes(), &mut findings);
        let found: Vec<_> = found.iter().map(|it| (it.line, &*it.url, &*it.name)).collect();
        assert_eq!(
            found,
            [(1, &b"http://a/b%20c"[..], &b"data/b c"[..]), (3, b"file:///x", b"data/\n%")]
        );
        assert_eq!(findings, []);
    }

    #[test]
    fn invalid_fetch_lines_are_reported() {
        for (line, expected) in [
            ("http://a", Problem::FetchLine),
            ("http://a data/a", Problem::FetchLine),
            ("http://a 12 ", Problem::FetchLine),
            ("http://a x data/a", Problem::FetchLine),
            (" http://a - data/a", Problem::FetchLine),
            ("a - data/a", Problem::Url(b"a".to_vec())),
            ("http:a - data/a", Problem::Url(b"http:a".to_vec())),
            ("http:// - data/a", Problem::Url(b"http://".to_vec())),
            ("http://a - bagit.txt", Problem::NotPayload(b"bagit.txt".to_vec())),
            (
                "http://a - data/../a",
                Problem::Unsafe { name: b"data/../a".to_vec(), why: names::Unsafe::Parent },
            ),
        ] {
            let mut findings = Vec::new();
            assert_eq!(read(line.as_bytes(), &mut findings), [], "{line}");
            assert_eq!(findings, [Finding::error(NAME, expected).at(1)]);
        }
    }
}
