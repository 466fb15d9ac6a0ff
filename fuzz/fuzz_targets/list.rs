//! Any bytes are a list: nothing panics, and every record, written in any format, is read back.

#![no_main]

use lanesum_list::formats::{Format, Gnu, Line, Mixed, Tag};
use lanesum_list::{Algorithm, Dialect, Ending, RawLine, Record, Splitter, lines, start};
use libfuzzer_sys::fuzz_target;

const ENDINGS: [Ending; 2] = [Ending::Newline, Ending::Nul];

fuzz_target!(|list: &[u8]| {
    let dialects =
        [Dialect::any(), Dialect::only(Algorithm::Md5), Dialect::untagged_as(Algorithm::Blake3)];
    for ending in ENDINGS {
        begins_with_text(list, ending);
        for dialect in dialects {
            let dialect = dialect.with_ending(ending);
            comes_in_pieces(list, dialect);
            let records = records(list, dialect);
            for algorithm in Algorithm::ALL {
                round_trips(algorithm, &records);
            }
        }
    }
});

/// The records of a list, whose lines count from one without a gap.
fn records(list: &[u8], dialect: Dialect) -> Vec<(Record<'_>, bool)> {
    let mut format = Mixed::new(dialect);
    let numbered = lines(list, &mut format).enumerate().map(|(index, (number, line))| {
        assert_eq!(number, index as u64 + 1);
        line
    });
    numbered
        .filter_map(|line| match line {
            Line::Record { record, is_tagged } => Some((record, is_tagged)),
            Line::Blank | Line::Unknown(_) | Line::Malformed => None,
        })
        .collect()
}

/// A list in pieces is the list in memory.
fn comes_in_pieces(list: &[u8], dialect: Dialect) {
    let mut whole = Mixed::new(dialect);
    let mut whole = lines(list, &mut whole);
    let mut format = Mixed::new(dialect);
    let mut same = |line: RawLine<'_>| {
        let number = line.number;
        assert_eq!(whole.next(), Some((number, line.parse(&mut format))));
    };
    let (mut splitter, mut ends) = (Splitter::default(), Mixed::new(dialect));
    for mut piece in list.chunks(7) {
        while !piece.is_empty() {
            piece = &piece[splitter.push(&mut ends, piece)..];
            splitter.line().into_iter().for_each(&mut same);
        }
    }
    splitter.finish().into_iter().for_each(&mut same);
    assert_eq!(whole.next(), None);
}

/// The records of one algorithm, as a list in each format, are the same when read.
fn round_trips(algorithm: Algorithm, records: &[(Record<'_>, bool)]) {
    for ending in ENDINGS {
        let any = Dialect::any().with_ending(ending);
        let (gnu, tag) = (Gnu::new(any), Tag::new(any));
        let formats: [(&dyn Format, bool); 3] =
            [(&tag, true), (&gnu, false), (&gnu.clone().binary(), false)];
        for (format, is_tagged) in formats {
            let is_kept = |record: &&Record<'_>| {
                record.digest(algorithm).is_some() && (is_tagged || !record.name.is_empty())
            };
            let kept: Vec<_> = records.iter().map(|(record, _)| record).filter(is_kept).collect();
            let mut list = Vec::new();
            for record in &kept {
                format.record(&mut list, record);
            }
            let expected: Vec<_> = kept.into_iter().map(|it| (it.clone(), is_tagged)).collect();
            for dialect in [Dialect::untagged_as(algorithm), Dialect::only(algorithm)] {
                let read = self::records(&list, dialect.with_ending(ending));
                assert_eq!(read, expected, "{}", list.escape_ascii());
            }
        }
    }
}

/// What is text begins at its first byte, or behind the mark.
fn begins_with_text(list: &[u8], ending: Ending) {
    let Ok(text) = start::of_text(list, ending) else { return };
    assert_eq!(&list[text..], list.strip_prefix(b"\xef\xbb\xbf").unwrap_or(list));
}
