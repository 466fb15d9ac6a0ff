//! Any bytes are a list: nothing panics, and every record, written in any format, is read back.

#![no_main]

use lanesum_list::formats::{CannotHold, Format, Kind, Layout, Line, Mixed, Side, recognise};
use lanesum_list::{
    Algorithm, Algorithms, Dialect, Digests, Ending, RawLine, Record, Splitter, lines, start,
};
use libfuzzer_sys::fuzz_target;

const ENDINGS: [Ending; 2] = [Ending::Newline, Ending::Nul];

fuzz_target!(|list: &[u8]| {
    let dialects =
        [Dialect::any(), Dialect::only(Algorithm::Md5), Dialect::untagged_as(Algorithm::Blake3)];
    for ending in ENDINGS {
        begins_with_text(list, ending);
        for dialect in dialects {
            let dialect = dialect.with_ending(ending);
            let mixed = || Box::new(Mixed::new(dialect)) as Box<dyn Format>;
            every_format_holds(&records(list, mixed));
            drop(recognise(list, dialect));
            every_format_holds(&records(list, || Box::new(Side::new(dialect, b"d/a"))));
        }
    }
    for kind in Kind::ALL {
        every_format_holds(&records(list, || kind.reader(Dialect::any())));
    }
});

/// The records of a list, which are the same in memory and in pieces.
fn records(list: &[u8], reader: impl Fn() -> Box<dyn Format>) -> Vec<Record<'_>> {
    let mut format = reader();
    let whole: Vec<_> = lines(list, &mut *format).collect();
    let (mut format, mut splitter) = (reader(), Splitter::default());
    let mut expected = whole.iter();
    let mut compare = |line: RawLine<'_>, format: &mut dyn Format| {
        let (number, line) = (line.number, line.parse(format));
        assert_eq!(expected.next(), Some(&(number, line)));
    };
    for mut piece in list.chunks(7) {
        while !piece.is_empty() {
            piece = &piece[splitter.push(&mut *format, piece)..];
            splitter.line().into_iter().for_each(|line| compare(line, &mut *format));
        }
    }
    while let Some(line) = splitter.finish(&*format) {
        compare(line, &mut *format);
    }
    // But for the one that says that the list is cut off.
    assert!(expected.len() <= usize::from(!format.may_end()));
    let record =
        |(_, line)| if let Line::Record { record, .. } = line { Some(record) } else { None };
    whole.into_iter().filter_map(record).collect()
}

/// The records as a list in each format, as far as it can hold them, are the same when read.
fn every_format_holds(records: &[Record<'_>]) {
    for kind in Kind::ALL.into_iter().filter(|kind| kind.is_written()) {
        for base64 in [false, true] {
            // Those of one set of algorithms; a format of columns has the same of each.
            let mut sets: Vec<Algorithms> = records.iter().map(Record::algorithms).collect();
            sets.dedup();
            for algorithms in sets {
                let mut layout = Layout::new(algorithms);
                if base64 {
                    layout.dialect = layout.dialect.in_base64();
                }
                let Ok(format) = kind.writer(&layout) else { continue };
                let records = records.iter().filter(|it| it.algorithms() == algorithms);
                round_trips(kind, &*format, algorithms, records);
            }
        }
    }
}

fn round_trips<'r>(
    kind: Kind,
    format: &dyn Format,
    algorithms: Algorithms,
    records: impl Iterator<Item = &'r Record<'r>>,
) {
    let (mut list, mut expected) = (Vec::new(), Vec::new());
    format.begin(&mut list);
    for record in records {
        let before = list.len();
        if !expected.is_empty() {
            list.extend_from_slice(format.separator());
        }
        match format.record(&mut list, record) {
            Ok(()) => expected.push(record),
            Err(CannotHold::ReadOnly(_)) => unreachable!("{kind} was to be written"),
            Err(_) => list.truncate(before),
        }
    }
    format.end(&mut list);
    let untagged = algorithms.iter().next().unwrap_or(Algorithm::Md5);
    let read = self::records(&list, || kind.reader(Dialect::untagged_as(untagged)));
    if kind == Kind::Tag {
        // A line for each digest.
        let lines: usize = expected.iter().map(|record| record.digests.len()).sum();
        assert_eq!(read.len(), lines, "{}", list.escape_ascii());
        return;
    }
    assert_eq!(read.len(), expected.len(), "{kind}: {}", list.escape_ascii());
    for (read, written) in read.iter().zip(expected) {
        assert_eq!(read.name, written.name, "{kind}: {}", list.escape_ascii());
        let sorted = |digests: &Digests| {
            let mut digests = digests.to_vec();
            digests.sort_unstable();
            digests
        };
        assert_eq!(sorted(&read.digests), sorted(&written.digests), "{kind}");
        assert!(read.size.is_none() || read.size == written.size, "{kind}");
        let (times, known) = (read.times.modified, written.times.modified);
        assert!(times.is_none() || times == known, "{kind}");
    }
}

/// What is text begins at its first byte, or behind the mark.
fn begins_with_text(list: &[u8], ending: Ending) {
    let Ok(text) = start::of_text(list, ending) else { return };
    assert_eq!(&list[text..], list.strip_prefix(b"\xef\xbb\xbf").unwrap_or(list));
}
