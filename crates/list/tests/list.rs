//! Whole lists: written lists are read back, and lists of other programs are read correctly.

use lanesum_list::formats::{Format, Gnu, Line, Mixed, Tag};
use lanesum_list::start::{self, NotAList};
use lanesum_list::{Algorithm, Dialect, Digest, Ending, RawLine, Record, Splitter, lines};
use proptest::collection::vec;
use proptest::prelude::*;

/// How a list is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Untagged,
    Binary,
    Tagged,
}

const STYLES: [Style; 3] = [Style::Untagged, Style::Binary, Style::Tagged];
const ENDINGS: [Ending; 2] = [Ending::Newline, Ending::Nul];

/// Pieces of the formats, to build names.
const PIECES: &[&[u8]] = &[
    b"a",
    b"\n",
    b"\r",
    b"\\",
    b"\\n",
    b" ",
    b"\t",
    b"*",
    b"(",
    b")",
    b") = ",
    b"#",
    b"MD5 (",
    b"MD5(f)= ",
    b"e3069283",
    b"d41d8cd98f00b204e9800998ecf8427e  ",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\xc3\xbc",
];

/// Nonempty names of any bytes except NUL.
fn name() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        vec(1..=255u8, 1..60),
        vec(prop::sample::select(PIECES), 1..8).prop_map(|pieces| pieces.concat()),
    ]
}

fn digest(algorithm: Algorithm) -> impl Strategy<Value = Digest> {
    vec(any::<u8>(), algorithm.digest_len())
        .prop_map(move |bytes| Digest::new(algorithm, &bytes).unwrap())
}

/// A record of one digest.
fn any_record() -> impl Strategy<Value = Record<'static>> {
    let digest = prop::sample::select(&Algorithm::ALL[..]).prop_flat_map(digest);
    (name(), digest).prop_map(|(name, digest)| Record::new(&name).with(digest).into_owned())
}

fn algorithm(record: &Record<'_>) -> Algorithm {
    record.digests[0].algorithm()
}

impl Style {
    fn format(self, ending: Ending) -> Box<dyn Format> {
        let dialect = Dialect::any().with_ending(ending);
        match self {
            Self::Untagged => Box::new(Gnu::new(dialect)),
            Self::Binary => Box::new(Gnu::new(dialect).binary()),
            Self::Tagged => Box::new(Tag::new(dialect)),
        }
    }

    /// Returns the line that is read from a record written in this style.
    fn line(self, record: &Record<'_>) -> Line<'static> {
        let record = record.clone().into_owned();
        // xxhsum and lanesum write its name even in untagged lines.
        let is_named = record.digest(Algorithm::Xxh3_64).is_some();
        Line::Record { record, is_tagged: self == Self::Tagged || is_named }
    }
}

fn write(records: &[Record<'_>], style: Style, ending: Ending) -> Vec<u8> {
    let format = style.format(ending);
    let mut list = Vec::new();
    format.begin(&mut list);
    for (index, record) in records.iter().enumerate() {
        if index > 0 {
            list.extend_from_slice(format.separator());
        }
        format.record(&mut list, record).unwrap();
    }
    format.end(&mut list);
    list
}

/// Reads the lines of a list in memory and in pieces, and checks their numbers.
fn read(list: &[u8], dialect: Dialect) -> Vec<Line<'_>> {
    let whole: Vec<_> = lines(list, &mut Mixed::new(dialect)).collect();
    let mut format = Mixed::new(dialect);
    let mut splitter = Splitter::default();
    let mut expected = (1..).zip(&whole);
    let mut compare = |line: RawLine<'_>| {
        let (number, (known, whole)) = expected.next().unwrap();
        assert_eq!((line.number, *known), (number, number));
        assert_eq!(line.parse(&mut format), *whole);
    };
    for mut piece in list.chunks(64) {
        while !piece.is_empty() {
            piece = &piece[splitter.push(&mut Mixed::new(dialect), piece)..];
            splitter.line().into_iter().for_each(&mut compare);
        }
    }
    splitter.finish(&Mixed::new(dialect)).into_iter().for_each(&mut compare);
    assert_eq!(expected.next(), None);
    whole.into_iter().map(|(_, line)| line).collect()
}

fn all_lines(records: &[Record<'_>], style: Style) -> Vec<Line<'static>> {
    records.iter().map(|record| style.line(record)).collect()
}

fn md5_of(name: &[u8], is_tagged: bool) -> Line<'_> {
    let digest = Digest::from_hex(Algorithm::Md5, b"d41d8cd98f00b204e9800998ecf8427e").unwrap();
    Line::Record { record: Record::new(name).with(digest), is_tagged }
}

fn md5(name: &[u8]) -> Line<'_> {
    md5_of(name, false)
}

fn tagged_md5(name: &[u8]) -> Line<'_> {
    md5_of(name, true)
}

proptest! {
    #[test]
    fn every_line_is_read_back(record in any_record()) {
        let algorithm = algorithm(&record);
        for style in STYLES {
            for ending in ENDINGS {
                let written = write(std::slice::from_ref(&record), style, ending);
                let line = written.strip_suffix(&[ending.byte()]).unwrap();
                prop_assert!(!line.contains(&ending.byte()));
                for dialect in [Dialect::only(algorithm), Dialect::untagged_as(algorithm)] {
                    let dialect = dialect.with_ending(ending);
                    let read = Mixed::new(dialect).next(line);
                    prop_assert_eq!(read, style.line(&record), "{:?} {:?}", style, ending);
                    let mut alone: Box<dyn Format> = match style {
                        Style::Tagged => Box::new(Tag::new(dialect)),
                        Style::Untagged | Style::Binary => Box::new(Gnu::new(dialect)),
                    };
                    prop_assert!(alone.detect(&written));
                    prop_assert_eq!(alone.next(line), style.line(&record));
                }
            }
        }
    }

    #[test]
    fn a_tagged_list_of_any_algorithms_is_read_back(records in vec(any_record(), 0..20)) {
        for ending in ENDINGS {
            let list = write(&records, Style::Tagged, ending);
            let expected = all_lines(&records, Style::Tagged);
            prop_assert_eq!(read(&list, Dialect::any().with_ending(ending)), expected);
        }
    }

    #[test]
    fn untagged_lines_are_typed_by_their_length(records in vec(any_record(), 0..20)) {
        let is_identified = |record: &Record<'_>| {
            let algorithm = algorithm(record);
            use Algorithm::{Crc32c, Md5, Sha1, Sha224, Sha256, Sha384, Sha512, Xxh64};
            let is_identified = [Md5, Sha1, Sha224, Sha256, Sha384, Sha512, Xxh64, Crc32c]
                .contains(&algorithm);
            assert_eq!(Dialect::any().identifies(algorithm), is_identified, "{algorithm}");
            is_identified
        };
        let records: Vec<_> = records.into_iter().filter(is_identified).collect();
        for ending in ENDINGS {
            for style in STYLES {
                let list = write(&records, style, ending);
                let expected = all_lines(&records, style);
                prop_assert_eq!(read(&list, Dialect::any().with_ending(ending)), expected);
            }
        }
    }

    #[test]
    fn windows_line_endings_are_accepted(records in vec(any_record(), 1..20)) {
        let list = write(&records, Style::Tagged, Ending::Newline);
        // Names are escaped, so a newline is an ending.
        let windows: Vec<u8> = list
            .split_inclusive(|&byte| byte == b'\n')
            .flat_map(|line| [&line[..line.len() - 1], b"\r\n"].concat())
            .collect();
        let marked = [b"\xef\xbb\xbf", &windows[..]].concat();
        let text = start::of_text(&marked, Ending::Newline).unwrap();
        prop_assert_eq!(read(&marked[text..], Dialect::any()), all_lines(&records, Style::Tagged));
    }

    #[test]
    fn written_lists_pass_the_text_check(records in vec(any_record(), 0..20)) {
        for style in STYLES {
            for ending in ENDINGS {
                let list = write(&records, style, ending);
                prop_assert_eq!(start::of_text(&list, ending), Ok::<_, NotAList>(0));
            }
        }
    }

    #[test]
    fn a_changed_digit_changes_the_record(
        record in any_record(),
        at in any::<prop::sample::Index>(),
        to in any::<u8>(),
    ) {
        let mut line = write(std::slice::from_ref(&record), Style::Untagged, Ending::Nul);
        line.pop();
        let at = at.index(2 * record.digests[0].as_bytes().len());
        prop_assume!(!line[at].eq_ignore_ascii_case(&to));
        line[at] = to;
        let dialect = Dialect::untagged_as(algorithm(&record)).with_ending(Ending::Nul);
        prop_assert_ne!(Mixed::new(dialect).next(&line), Style::Untagged.line(&record));
    }
}

#[test]
fn gnu_mode_reads_lists_as_md5sum_does() {
    let list = b"# comment\n\
        d41d8cd98f00b204e9800998ecf8427e  standard\n\
        \n\
        D41D8CD98F00B204E9800998ECF8427E *upper\r\n\
        \t  d41d8cd98f00b204e9800998ecf8427e  indented \n\
        \\d41d8cd98f00b204e9800998ecf8427e  new\\nline\n\
        MD5 (tagged) = d41d8cd98f00b204e9800998ecf8427e\n\
        MD5(openssl)= d41d8cd98f00b204e9800998ecf8427e\n\
        SHA1 (other) = da39a3ee5e6b4b0d3255bfef95601890afd80709\n\
        d41d8cd98f00b204e9800998ecf8427e reversed\n\
        d41d8cd98f00b204e9800998ecf8427\0  nul\n\
        d41d8cd98f00b204e9800998ecf8427e  last";
    let expected = [
        Line::Blank,
        md5(b"standard"),
        Line::Blank,
        md5(b"upper"),
        md5(b"indented "),
        md5(b"new\nline"),
        tagged_md5(b"tagged"),
        tagged_md5(b"openssl"),
        Line::Malformed,
        Line::Malformed,
        Line::Malformed,
        md5(b"last"),
    ];
    assert_eq!(read(list, Dialect::only(Algorithm::Md5)), expected);
}

#[test]
fn a_reversed_list_stays_reversed() {
    let list = b"\
        MD5 (tags decide nothing) = d41d8cd98f00b204e9800998ecf8427e\n\
        d41d8cd98f00b204e9800998ecf8427e first\n\
        d41d8cd98f00b204e9800998ecf8427e  blank\n\
        d41d8cd98f00b204e9800998ecf8427e *star\n\
        \\d41d8cd98f00b204e9800998ecf8427e a\\\\b\n";
    let tagged = tagged_md5(b"tags decide nothing");
    let expected = [tagged, md5(b"first"), md5(b" blank"), md5(b"*star"), md5(b"a\\b")];
    assert_eq!(read(list, Dialect::only(Algorithm::Md5)), expected);
}
