//! Every format: what is written is read back, in memory and in pieces, and what cannot be written
//! is refused and leaves nothing behind.

use lanesum_list::formats::{CannotHold, Format, Kind, Layout, Line, Mixed, Wrong, recognise};
use lanesum_list::start;
use lanesum_list::{
    Algorithm, Algorithms, Dialect, Digest, Digests, Ending, RawLine, Record, Splitter, Time,
    Times, lines,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// Pieces of the formats, to build names.
const PIECES: &[&[u8]] = &[
    b"a",
    b"\n",
    b"\r",
    b"\r\n",
    b"\\",
    b" ",
    b"\t",
    b"*",
    b",",
    b"\"",
    b"\"\"",
    b";",
    b"#",
    b"%",
    b"%0A",
    b"%25",
    b"{",
    b"}",
    b"[",
    b"]",
    b"%%%% ",
    b"## ",
    b"Contents",
    b"path,md5",
    b"path\tmd5",
    b"#mtree\n",
    b"<files>",
    b"<file name='a' md5='900150983cd24fb0d6963f7d28e17f72'",
    b"/>",
    b"</files>",
    b"<!--",
    b"-->",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\xc3\xbc",
    b"\x01",
    b" 352441C2",
    b"352441C2",
];

/// Nonempty names of any bytes except NUL.
fn name() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        vec(1..=255u8, 1..40),
        vec(prop::sample::select(PIECES), 1..8).prop_map(|pieces| pieces.concat()),
    ]
}

/// A file with all values that any format can hold.
#[derive(Clone, Debug)]
struct File {
    name: Vec<u8>,
    size: u64,
    modified: Time,
    seed: u8,
}

fn file() -> impl Strategy<Value = File> {
    // RFC 3339's years.
    let time = (-62_167_219_200i64..253_402_207_200, 0..1_000_000_000u32)
        .prop_map(|(seconds, nanoseconds)| Time { seconds, nanoseconds });
    (name(), any::<u64>(), time, any::<u8>()).prop_map(|(name, size, modified, seed)| File {
        name,
        size,
        modified,
        seed,
    })
}

impl File {
    fn record(&self, algorithms: Algorithms) -> Record<'_> {
        let digest = |algorithm: Algorithm| {
            let bytes: Vec<_> = (0..algorithm.digest_len())
                // Not all bytes are equal: base64 of zeros may be hexadecimal digits.
                .map(|at| (at as u8).wrapping_mul(self.seed | 1).wrapping_add(self.seed))
                .collect();
            Digest::new(algorithm, &bytes).unwrap()
        };
        Record {
            size: Some(self.size),
            times: Times { modified: Some(self.modified), changed: None },
            digests: algorithms.iter().map(digest).collect(),
            ..Record::new(&self.name)
        }
    }
}

/// A list, and the records that the format can hold.
fn write<'f>(
    format: &dyn Format,
    files: &'f [File],
    algorithms: Algorithms,
) -> (Vec<u8>, Vec<Record<'f>>) {
    let (mut list, mut held) = (Vec::new(), Vec::new());
    format.begin(&mut list);
    for file in files {
        let (before, record) = (list.len(), file.record(algorithms));
        if !held.is_empty() {
            list.extend_from_slice(format.separator());
        }
        match format.record(&mut list, &record) {
            Ok(()) => held.push(record),
            Err(cannot) => {
                assert!(matches!(cannot, CannotHold::Name { .. }), "{cannot}");
                list.truncate(before);
            }
        }
    }
    format.end(&mut list);
    (list, held)
}

/// Returns the record as a list of this format returns it.
fn read_back(kind: Kind, record: Record<'_>) -> Record<'static> {
    let mut record = record.into_owned();
    record.size = record.size.filter(|_| kind.has_sizes());
    record.times.modified = record.times.modified.filter(|_| kind.has_times());
    record
}

/// Reads the records of a list, in memory and in pieces.
fn read(list: &[u8], reader: impl Fn() -> Box<dyn Format>) -> Vec<Record<'static>> {
    let keep = |line: Line<'_>| match line {
        Line::Record { record, .. } => Some(Record { raw_name: None, ..record.into_owned() }),
        Line::Blank => None,
        other => panic!("{other:?} in {}", list.escape_ascii()),
    };
    let whole: Vec<_> = lines(list, &mut *reader()).collect();
    for size in [1, 7, 64] {
        let (mut format, mut splitter) = (reader(), Splitter::default());
        let mut expected = whole.iter();
        let mut compare = |line: RawLine<'_>, format: &mut dyn Format| {
            let (number, line) = (line.number, line.parse(format));
            assert_eq!(expected.next(), Some(&(number, line)), "in pieces of {size}");
        };
        for mut piece in list.chunks(size) {
            while !piece.is_empty() {
                piece = &piece[splitter.push(&mut *format, piece)..];
                splitter.line().into_iter().for_each(|line| compare(line, &mut *format));
            }
        }
        while let Some(line) = splitter.finish(&*format) {
            compare(line, &mut *format);
        }
        assert!(format.may_end() && expected.next().is_none());
    }
    whole.into_iter().filter_map(|(_, line)| keep(line)).collect()
}

fn written() -> impl Iterator<Item = Kind> {
    Kind::ALL.into_iter().filter(|kind| kind.is_written())
}

proptest! {
    #[test]
    fn written_lists_round_trip(files in vec(file(), 0..12), base64 in any::<bool>()) {
        for kind in written() {
            for algorithms in [kind.algorithms(), Algorithm::Sha256.into(), Algorithms::ALL] {
                let mut layout = Layout::new(algorithms);
                if base64 {
                    layout.dialect = layout.dialect.in_base64();
                }
                let Ok(format) = kind.writer(&layout) else { continue };
                let (list, held) = write(&*format, &files, algorithms);
                let expected: Vec<_> = held.into_iter().map(|it| read_back(kind, it)).collect();
                let algorithm = algorithms.iter().next().unwrap();
                let read = read(&list, || kind.reader(Dialect::untagged_as(algorithm)));
                // Each digest has its own line in these formats.
                if kind == Kind::Tag {
                    let digests = expected.iter().flat_map(|record| {
                        let one = |digest| Record { digests: Digests::from(digest), ..record.clone() };
                        record.digests.iter().copied().map(one).collect::<Vec<_>>()
                    });
                    prop_assert_eq!(read, digests.collect::<Vec<_>>());
                } else {
                    prop_assert_eq!(read, expected, "{} {}", kind, list.escape_ascii());
                }
            }
        }
    }

    /// All formats but BagIt, which is detected by the file name.
    #[test]
    fn written_lists_are_detected(files in vec(file(), 1..4)) {
        for kind in written().filter(|&kind| kind != Kind::BagIt) {
            let algorithms = kind.algorithms();
            let format = kind.writer(&Layout::new(algorithms)).unwrap();
            let (list, held) = write(&*format, &files, algorithms);
            // An SFV name that looks like a digest makes its line ambiguous.
            let is_like_gnu = kind == Kind::Sfv && Mixed::new(Dialect::any()).detect(&list);
            // So does one that looks like the start of XML, also in a wheel.
            let is_like_xml =
                kind != Kind::AscMhl && Kind::Xml.reader(Dialect::any()).detect(&list);
            if held.is_empty() || is_like_gnu || is_like_xml {
                continue;
            }
            prop_assert_eq!(start::of_text(&list, Ending::Newline), Ok(0));
            let head = &list[..list.len().min(start::HEAD)];
            let reader = || recognise(head, Dialect::any()).unwrap();
            let expected: Vec<_> = held.into_iter().map(|it| read_back(kind, it)).collect();
            let read: Vec<_> = read(&list, reader);
            if kind != Kind::Tag {
                prop_assert_eq!(read, expected, "{} {}", kind, list.escape_ascii());
            }
        }
    }

    /// A part of a list does not pass for the whole list, and no cut makes a different record.
    #[test]
    fn truncation_changes_no_complete_record(files in vec(file(), 1..4), at in any::<prop::sample::Index>()) {
        for kind in [Kind::Json, Kind::Csv] {
            let algorithms = kind.algorithms();
            let format = kind.writer(&Layout::new(algorithms)).unwrap();
            let (list, held) = write(&*format, &files, algorithms);
            let expected: Vec<_> = held.into_iter().map(|it| read_back(kind, it)).collect();
            let cut = &list[..at.index(list.len() + 1)];
            let lines: Vec<_> = lines(cut, &mut *kind.reader(Dialect::any())).collect();
            let mut expected = expected.iter();
            for (_, line) in &lines {
                match line {
                    // A cut row has only its name.
                    Line::Record { record, .. } if record.digests.is_empty() => {}
                    Line::Record { record, .. } => prop_assert_eq!(Some(record), expected.next()),
                    Line::Blank | Line::Wrong(_) => {}
                    other => panic!("{other:?}"),
                }
            }
            let tells = lines.iter().any(|(_, line)| matches!(line, Line::Wrong(_)));
            // But for the newline at its end.
            prop_assert!(kind != Kind::Json || tells || list.len() - cut.len() <= 1 || cut.is_empty());
        }
    }

    #[test]
    fn arbitrary_bytes_can_be_read(list in vec(prop::sample::select(PIECES), 0..60)) {
        let list = list.concat();
        for kind in Kind::ALL {
            for (_, line) in lines(&list, &mut *kind.reader(Dialect::any())) {
                if let Line::Record { record, .. } = line {
                    prop_assert!(!record.name.contains(&0));
                }
            }
        }
    }
}

#[test]
fn an_overlong_record_is_wrong() {
    let long = "x".repeat(lanesum_list::MAX_LINE);
    for (kind, list) in [
        (Kind::Csv, format!("path,size\n{long},1\na,2\n")),
        (Kind::JsonLines, format!("{{\"path\":\"{long}\"}}\n{{\"path\":\"a\",\"size\":2}}\n")),
        (Kind::Sfv, format!("{long} 352441C2\na 352441C2\n")),
    ] {
        let read: Vec<_> = lines(list.as_bytes(), &mut *kind.reader(Dialect::any()))
            .map(|(_, line)| line)
            .filter(|line| *line != Line::Blank)
            .collect();
        assert_eq!(read[0], Line::Wrong(Wrong::TooLong), "{kind}");
        assert!(matches!(&read[1], Line::Record { record, .. } if *record.name == *b"a"), "{kind}");
    }
}
