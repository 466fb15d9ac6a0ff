//! Writes ASC MHL, the Media Hash List of the American Society of Cinematographers. [`Xml`] reads
//! it.
//!
//! A list is one generation of a history. The file of the history, `ascmhl_chain.xml`, and the
//! digests of directories are not written. Source: `ASCMHL.xsd` of version 2.0.

use super::{CannotHold, Format, Line, Xml, cannot, line};
use crate::{Algorithm, Algorithms, Dialect, Record, Time};

const NAME: &str = "asc-mhl";

/// When and where a list was made, which the format requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Creation {
    /// The time.
    pub time: Time,
    /// The name of the machine.
    pub host: String,
}

/// A list of ASC MHL.
///
/// ```
/// use lanesum_list::formats::{AscMhl, Format, Line};
/// use lanesum_list::{Algorithm, Dialect, Digest, Record, lines};
///
/// let digest = Digest::from_hex(Algorithm::Xxh64, b"44bc2cf5ad770999").unwrap();
/// let record = Record { size: Some(3), ..Record::new("a&b") }.with(digest);
/// let mut format = AscMhl::new(Dialect::any());
/// let mut list = Vec::new();
/// format.begin(&mut list);
/// format.record(&mut list, &record)?;
/// format.end(&mut list);
/// let (_, read) = lines(&list, &mut format).next().unwrap();
/// assert_eq!(read, Line::Record { record, is_tagged: true });
/// # Ok::<(), lanesum_list::formats::CannotHold>(())
/// ```
#[derive(Clone, Debug)]
pub struct AscMhl {
    xml: Xml,
    has_size: bool,
    has_time: bool,
    creation: Creation,
}

impl AscMhl {
    /// Makes a list of a dialect, without a machine and of 1970.
    #[must_use]
    pub const fn new(dialect: Dialect) -> Self {
        let time = Time { seconds: 0, nanoseconds: 0 };
        let creation = Creation { time, host: String::new() };
        Self { xml: Xml::new(dialect), has_size: true, has_time: true, creation }
    }

    /// Returns the format with what to write: sizes, modification times, and the origin.
    #[must_use]
    pub fn writing(self, has_size: bool, has_time: bool, creation: Option<Creation>) -> Self {
        let creation = creation.unwrap_or(self.creation);
        Self { has_size, has_time, creation, ..self }
    }
}

/// The elements of digests, in the order of the schema.
const ELEMENTS: [(Algorithm, &str); 5] = [
    (Algorithm::Md5, "md5"),
    (Algorithm::Sha1, "sha1"),
    (Algorithm::Xxh128, "xxh128"),
    (Algorithm::Xxh3_64, "xxh3"),
    (Algorithm::Xxh64, "xxh64"),
];

/// Appends text. Readers of XML change line ends and tabs that are not encoded.
fn write_text(out: &mut Vec<u8>, text: &str) {
    for byte in text.bytes() {
        match byte {
            b'&' => out.extend_from_slice(b"&amp;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            b'\t' | b'\n' | b'\r' => out.extend_from_slice(format!("&#{byte};").as_bytes()),
            byte => out.push(byte),
        }
    }
}

/// Returns the text if XML 1.0 has its characters.
fn as_xml(text: &[u8]) -> Option<&str> {
    let is_character = |it: char| !matches!(it, '\0'..'\t' | '\x0b' | '\x0c' | '\x0e'..' ' | '\u{fffe}' | '\u{ffff}');
    str::from_utf8(text).ok().filter(|text| text.chars().all(is_character))
}

impl Format for AscMhl {
    fn begin(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(
            b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
              <hashlist version=\"2.0\" xmlns=\"urn:ASC:MHL:v2.0\">\n  <creatorinfo>\n    <creationdate>",
        );
        self.creation.time.write_rfc3339(out);
        out.extend_from_slice(b"</creationdate>\n    <hostname>");
        write_text(out, as_xml(self.creation.host.as_bytes()).unwrap_or_default());
        let version = env!("CARGO_PKG_VERSION");
        out.extend_from_slice(
            format!(
                "</hostname>\n    <tool version=\"{version}\">lanesum</tool>\n  </creatorinfo>\n  \
                 <processinfo>\n    <process>in-place</process>\n  </processinfo>\n  <hashes>\n"
            )
            .as_bytes(),
        );
    }

    fn can_hold(&self, algorithms: Algorithms) -> Result<(), CannotHold> {
        let known = ELEMENTS.into_iter().map(|(algorithm, _)| algorithm).collect();
        cannot::all_of(NAME, algorithms, known)
    }

    fn record(&self, out: &mut Vec<u8>, record: &Record<'_>) -> Result<(), CannotHold> {
        self.can_hold(record.algorithms())?;
        if record.digests.is_empty() {
            return Err(CannotHold::NoDigest(NAME));
        }
        if record.name.is_empty() {
            return Err(CannotHold::EmptyName(NAME));
        }
        let what = "that is not UTF-8, or has control characters";
        let name = as_xml(&record.name).ok_or(CannotHold::Name { format: NAME, what })?;
        out.extend_from_slice(b"    <hash>\n      <path");
        if let Some(size) = record.size.filter(|_| self.has_size) {
            out.extend_from_slice(b" size=\"");
            line::write_number(out, size);
            out.push(b'"');
        }
        if let Some(time) = record.times.modified.filter(|_| self.has_time) {
            let before = out.len();
            out.extend_from_slice(b" lastmodificationdate=\"");
            if time.write_rfc3339(out) {
                out.push(b'"');
            } else {
                out.truncate(before);
            }
        }
        out.push(b'>');
        write_text(out, name);
        out.extend_from_slice(b"</path>\n");
        for (algorithm, element) in ELEMENTS {
            if let Some(digest) = record.digest(algorithm) {
                out.extend_from_slice(format!("      <{element} action=\"original\">").as_bytes());
                digest.write_hex(out);
                out.extend_from_slice(format!("</{element}>\n").as_bytes());
            }
        }
        out.extend_from_slice(b"    </hash>\n");
        Ok(())
    }

    fn end(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"  </hashes>\n</hashlist>\n");
    }

    fn detect(&self, head: &[u8]) -> bool {
        self.xml.detect(head)
    }

    fn find_end(&mut self, bytes: &[u8]) -> Option<usize> {
        self.xml.find_end(bytes)
    }

    fn next<'a>(&mut self, text: &'a [u8]) -> Line<'a> {
        self.xml.next(text)
    }

    fn may_end(&self) -> bool {
        self.xml.may_end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Digest;

    #[test]
    fn the_list_has_the_elements_of_the_schema_in_its_order() {
        let digest = |it, hex: &str| Digest::from_hex(it, hex.as_bytes()).unwrap();
        let record = Record::new("d/\r<a>")
            .with(digest(Algorithm::Xxh64, "44bc2cf5ad770999"))
            .with(digest(Algorithm::Md5, "900150983cd24fb0d6963f7d28e17f72"));
        let time = Time { seconds: 1_700_000_000, nanoseconds: 0 };
        let creation = Creation { time, host: "a&b".to_owned() };
        let format = AscMhl::new(Dialect::any()).writing(true, true, Some(creation));
        let mut list = Vec::new();
        format.begin(&mut list);
        format.record(&mut list, &record).unwrap();
        format.end(&mut list);
        let list = String::from_utf8(list).unwrap();
        let expected = [
            "<creationdate>2023-11-14T22:13:20.000000000Z</creationdate>",
            "<hostname>a&amp;b</hostname>",
            "<tool version",
            "<process>in-place</process>",
            "<path>d/&#13;&lt;a&gt;</path>",
            "<md5 action=\"original\">900150983cd24fb0d6963f7d28e17f72</md5>",
            "<xxh64 action=\"original\">44bc2cf5ad770999</xxh64>",
            "</hashlist>\n",
        ];
        let places: Vec<_> = expected.iter().map(|it| list.find(it).expect(it)).collect();
        assert!(places.is_sorted(), "{list}");
    }

    #[test]
    fn names_that_xml_cannot_hold_are_refused() {
        let digest = Digest::new(Algorithm::Md5, &[0; 16]).unwrap();
        for name in [&b"\xff"[..], b"\x01", b"\x0b", b"\x1f", "\u{ffff}".as_bytes()] {
            let mut out = Vec::new();
            let record = Record::new(name).with(digest);
            let refused = AscMhl::new(Dialect::any()).record(&mut out, &record);
            assert!(matches!(refused, Err(CannotHold::Name { .. })) && out.is_empty(), "{name:?}");
        }
    }
}
