//! XML lists: `_files.xml` of the Internet Archive, MHL 1.1 and ASC MHL, FCIV of Windows, and DAT
//! files of No-Intro and Redump. [`AscMhl`](super::AscMhl) writes ASC MHL.
//!
//! The lists differ in the names of elements and attributes, but no name has two meanings, so one
//! reader handles all of them. Entities are those of XML itself.

mod scan;

use std::borrow::Cow;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::{CannotHold, Format, Line, Wrong, digests, line};
use crate::{Algorithm, Algorithms, Dialect, Record, Time, Times};
use scan::{Piece, SHAPES, Scan};

const NAME: &str = "xml";

/// A list in XML.
///
/// ```
/// use lanesum_list::formats::{Line, Xml};
/// use lanesum_list::{Dialect, lines};
///
/// let list = br#"<files><file name="a&amp;b"><size>3</size>
///     <md5>900150983cd24fb0d6963f7d28e17f72</md5></file></files>"#;
/// let read: Vec<_> = lines(list, &mut Xml::new(Dialect::any())).collect();
/// let [(1, Line::Record { record, .. }), (2, Line::Blank)] = &*read else { panic!("{read:?}") };
/// assert_eq!((&*record.name, record.size), (&b"a&b"[..], Some(3)));
/// ```
#[derive(Clone, Debug)]
pub struct Xml {
    dialect: Dialect,
    scan: Scan,
}

impl Xml {
    /// Makes a list of a dialect.
    #[must_use]
    pub const fn new(dialect: Dialect) -> Self {
        Self { dialect, scan: Scan::new() }
    }

    /// Parses the text up to the end of a record, which lacks its last byte.
    fn read(&self, text: &[u8], record: &str) -> Result<Line<'static>, Wrong> {
        let mut text = str::from_utf8(text).map_err(|_| Wrong::Name)?.to_owned();
        text.push('>');
        let mut reader = Reader::from_str(&text);
        // The root begins in the first text and ends in the last one.
        reader.config_mut().allow_unmatched_ends = true;
        let mut file = File::default();
        // The elements around the current text, in the record.
        let mut depth = 0;
        loop {
            match reader.read_event().map_err(|_| Wrong::Xml)? {
                Event::Start(start) => {
                    depth += u32::from(depth > 0 || is(&start, record));
                    file.start(&start, depth)?;
                }
                Event::Empty(start) if depth > 0 || is(&start, record) => {
                    file.start(&start, depth + 1)?;
                    file.end(depth + 1)?;
                }
                Event::End(_) if depth > 0 => {
                    file.end(depth)?;
                    depth -= 1;
                }
                Event::Text(text) if depth > 1 => file.text.push_str(&text.xml10_content()),
                Event::CData(text) if depth > 1 => file.text.push_str(&text.xml10_content()),
                Event::GeneralRef(reference) if depth > 1 => {
                    let entity = quick_xml::escape::unescape(&format!("&{};", &*reference))
                        .map_err(|_| Wrong::Xml)?
                        .into_owned();
                    file.text.push_str(&entity);
                }
                Event::Eof => break,
                _ => {}
            }
        }
        file.line(&self.dialect)
    }
}

fn is(start: &BytesStart<'_>, name: &str) -> bool {
    start.local_name().into_inner() == name
}

/// The values of a file so far.
#[derive(Debug, Default)]
struct File {
    /// The name of the current child, and its text.
    child: String,
    text: String,
    name: Option<String>,
    size: Option<u64>,
    modified: Option<Time>,
    digests: Vec<(Algorithm, String)>,
    is_skipped: bool,
}

impl File {
    fn start(&mut self, start: &BytesStart<'_>, depth: u32) -> Result<(), Wrong> {
        if depth == 2 {
            start.local_name().into_inner().clone_into(&mut self.child);
            self.text.clear();
        }
        for attribute in start.attributes().filter(|_| (1..=2).contains(&depth)) {
            let attribute = attribute.map_err(|_| Wrong::Xml)?;
            let value =
                attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|_| Wrong::Xml)?;
            match (depth, attribute.key.local_name().into_inner()) {
                (1, name) => self.set(name, &value)?,
                // ASC MHL: the digest of a damaged file.
                (_, "action") if value == "failed" => return Err(Wrong::Reported),
                (_, "size") if self.child == "path" => self.set("size", &value)?,
                // A time without an offset from UTC is unknown.
                (_, "lastmodificationdate") if self.child == "path" => {
                    self.modified = Time::from_rfc3339(value.as_bytes());
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn end(&mut self, depth: u32) -> Result<(), Wrong> {
        if depth != 2 {
            return Ok(());
        }
        let (child, text) = (std::mem::take(&mut self.child), std::mem::take(&mut self.text));
        self.set(&child, &text)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), Wrong> {
        match name {
            "name" | "file" | "path" => _ = self.name.get_or_insert_with(|| value.to_owned()),
            "size" => {
                self.size = Some(line::number(value.trim().as_bytes()).ok_or(Wrong::Size)?);
            }
            // The Internet Archive: the digest of this list itself, which is not its digest.
            "summation" => self.is_skipped = true,
            name => {
                let algorithm = match name {
                    "crc" => Some(Algorithm::Crc32),
                    "xxhash64be" => Some(Algorithm::Xxh64),
                    "xxh3" => Some(Algorithm::Xxh3_64),
                    name if name.bytes().any(|byte| byte.is_ascii_digit()) => {
                        Algorithm::called(name)
                    }
                    _ => None,
                };
                let value = value.trim().to_owned();
                self.digests.extend(algorithm.filter(|_| !value.is_empty()).map(|it| (it, value)));
            }
        }
        Ok(())
    }

    fn line(self, dialect: &Dialect) -> Result<Line<'static>, Wrong> {
        if self.is_skipped {
            return Ok(Line::Blank);
        }
        let name = self.name.ok_or(Wrong::NoName)?;
        if name.is_empty() || name.contains('\0') {
            return Err(Wrong::Name);
        }
        let name = Cow::Owned(name.into_bytes());
        let times = Times { modified: self.modified, changed: None };
        let mut record = Record { name, size: self.size, times, ..Record::default() };
        for (algorithm, text) in self.digests {
            let digest = digests::of(algorithm, text.as_bytes())?;
            match record.digest(algorithm) {
                Some(known) if *known != digest => return Err(Wrong::Digest(algorithm)),
                None if dialect.tagged.contains(algorithm) => record.digests.push(digest),
                _ => {}
            }
        }
        Ok(Line::Record { record, is_tagged: true })
    }
}

impl Format for Xml {
    fn can_hold(&self, _: Algorithms) -> Result<(), CannotHold> {
        Err(CannotHold::ReadOnly(NAME))
    }

    fn record(&self, _: &mut Vec<u8>, _: &Record<'_>) -> Result<(), CannotHold> {
        Err(CannotHold::ReadOnly(NAME))
    }

    fn detect(&self, head: &[u8]) -> bool {
        let mut scan = Scan::new();
        head.trim_ascii_start().starts_with(b"<") && {
            scan.find_end(head);
            scan.shape().is_some()
        }
    }

    fn find_end(&mut self, bytes: &[u8]) -> Option<usize> {
        self.scan.find_end(bytes)
    }

    fn next<'a>(&mut self, text: &'a [u8]) -> Line<'a> {
        let record = self.scan.shape().map(|shape| SHAPES[shape].1);
        let record = record.and_then(|record| str::from_utf8(record).ok());
        match (self.scan.piece(), record) {
            (Some(Piece::Record), Some(record)) => {
                self.read(text, record).unwrap_or_else(Line::Wrong)
            }
            (Some(_), _) => Line::Blank,
            _ if self.scan.is_broken() => Line::Wrong(Wrong::Xml),
            _ if !self.scan.may_end() => Line::Wrong(Wrong::CutOff),
            // Text outside of the root.
            _ if text.trim_ascii().is_empty() || self.scan.shape().is_some() => Line::Blank,
            _ => Line::Wrong(Wrong::Xml),
        }
    }

    fn may_end(&self) -> bool {
        self.scan.may_end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines;

    const MD5: &str = "900150983cd24fb0d6963f7d28e17f72";

    fn read(list: &str) -> Vec<Line<'static>> {
        let mut xml = Xml::new(Dialect::any());
        let owned = |line| match line {
            Line::Record { record, is_tagged } => {
                Line::Record { record: record.into_owned(), is_tagged }
            }
            Line::Wrong(wrong) => Line::Wrong(wrong),
            _ => Line::Blank,
        };
        let lines = lines(list.as_bytes(), &mut xml).map(|(_, line)| owned(line));
        lines.filter(|line| *line != Line::Blank).collect()
    }

    #[track_caller]
    fn assert_reads(list: &str, name: &str, size: Option<u64>, algorithms: &[Algorithm]) {
        assert!(Xml::new(Dialect::any()).detect(list.as_bytes()), "{list}");
        let read = read(list);
        let [Line::Record { record, .. }] = &*read else { panic!("{list}: {read:?}") };
        assert_eq!((&*record.name, record.size), (name.as_bytes(), size), "{list}");
        assert_eq!(record.algorithms(), algorithms.iter().copied().collect(), "{list}");
    }

    #[test]
    fn lists_of_each_program_are_read() {
        use Algorithm::{Crc32, Md5, Sha1, Xxh64};
        let sha1 = "a9993e364706816aba3e25717850c26c9cd0d89d";
        let archive = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<files>\n  <file name=\"d/a b\" source=\"original\">\n\
             <mtime>1</mtime><size>3</size><md5>{MD5}</md5><crc32>352441c2</crc32><sha1>{sha1}</sha1>\
             <format>x</format></file>\n<file name=\"i_files.xml\"><md5>0</md5><summation>md5</summation></file></files>"
        );
        assert_reads(&archive, "d/a b", Some(3), &[Md5, Crc32, Sha1]);
        let mhl = format!(
            "<hashlist version=\"1.1\"><creatorinfo><name>x</name></creatorinfo><!-- <hash> > --><hash>\n\
             <file>A/a.mov</file><size>3</size><xxhash64be>44bc2cf5ad770999</xxhash64be><md5>{MD5}</md5>\
             <hashdate>2026-11-28T00:00:00Z</hashdate></hash></hashlist>\n"
        );
        assert_reads(&mhl, "A/a.mov", Some(3), &[Md5, Xxh64]);
        let asc = format!(
            "<hashlist version=\"2.0\" xmlns=\"urn:ASC:MHL:v2.0\"><processinfo><process>in-place</process>\
             </processinfo><hashes><hash><path size=\"3\" lastmodificationdate=\"x\">a&amp;b</path>\
             <xxh64 action=\"original\" hashdate=\"x\">44bc2cf5ad770999</xxh64><c4>c4x</c4></hash>\
             <directoryhash><path>d</path><content><md5>{MD5}</md5></content></directoryhash></hashes></hashlist>"
        );
        assert_reads(&asc, "a&b", Some(3), &[Xxh64]);
        let fciv = "<?xml version=\"1.0\"?><FCIV><FILE_ENTRY><name>d\\a</name>\
             <MD5>kAFQmDzST7DWlj99KOF/cg==</MD5><SHA1>qZk+NkcGgWq6PiVxeFDCbJzQ2J0=</SHA1></FILE_ENTRY></FCIV>";
        assert_reads(fciv, "d\\a", None, &[Md5, Sha1]);
        let dat = format!(
            "<?xml version=\"1.0\"?>\n<!DOCTYPE datafile PUBLIC \"-//Logiqx//DTD ROM Management Datafile//EN\" \
             \"http://www.logiqx.com/Dats/datafile.dtd\">\n<datafile><header><name>x</name></header>\
             <game name=\"g\"><rom name='a>b.bin' size=\"3\" crc=\"352441C2\" md5=\"{MD5}\" status=\"verified\"/></game></datafile>"
        );
        assert_reads(&dat, "a>b.bin", Some(3), &[Md5, Crc32]);
    }

    #[test]
    fn damaged_records_are_wrong() {
        for (file, wrong) in [
            (
                format!("<file name='a'><md5>{}</md5></file>", &MD5[1..]),
                Wrong::Digest(Algorithm::Md5),
            ),
            (format!("<file><md5>{MD5}</md5></file>"), Wrong::NoName),
            (format!("<file name=''><md5>{MD5}</md5></file>"), Wrong::Name),
            ("<file name='a'><size>x</size></file>".to_owned(), Wrong::Size),
            ("<file name='&x;'></file>".to_owned(), Wrong::Xml),
            ("<file name='a'><md5>&x;</md5></file>".to_owned(), Wrong::Xml),
            ("<file name='a'><md5></sha1></file>".to_owned(), Wrong::Xml),
            ("<file name='a' name='b'></file>".to_owned(), Wrong::Xml),
        ] {
            let list = format!("<files>{file}<file name='b' md5='{MD5}'/></files>");
            let read = read(&list);
            assert_eq!(read[0], Line::Wrong(wrong), "{list}");
            assert!(matches!(&read[1], Line::Record { .. }), "{list}");
        }
        let failed = format!(
            "<hashlist><hash><path>a</path><md5 action='failed'>{MD5}</md5></hash></hashlist>"
        );
        assert_eq!(read(&failed), [Line::Wrong(Wrong::Reported)]);
    }

    #[test]
    fn truncated_and_hostile_lists_are_wrong() {
        let file = format!("<file name='a' md5='{MD5}'/>");
        for (list, wrong) in [
            (format!("<files>{file}"), Wrong::CutOff),
            (format!("<files>{file}<file na"), Wrong::CutOff),
            (format!("<files>{file}</files>{file}"), Wrong::Xml),
            (format!("<files>{file}</files></x>"), Wrong::Xml),
            ("<!DOCTYPE files [<!ENTITY a \"x\">]><files>&a;</files>".to_owned(), Wrong::Xml),
            (format!("<files>{}", "<d>".repeat(100_000)), Wrong::Xml),
            (format!("<x>{file}</x>"), Wrong::Xml),
            ("<files".to_owned(), Wrong::CutOff),
            ("<>".to_owned(), Wrong::Xml),
        ] {
            let read = read(&list);
            assert_eq!(read.last(), Some(&Line::Wrong(wrong)), "{}", &list[..list.len().min(100)]);
        }
        for list in ["<html><body>", "<files", "files", ""] {
            assert!(!Xml::new(Dialect::any()).detect(list.as_bytes()), "{list}");
        }
    }
}
