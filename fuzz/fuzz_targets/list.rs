//! Any bytes are a list: nothing panics, and every entry, written in any style, is read back.

#![no_main]

use std::io::Read as _;

use lanesum_list::{
    Algorithm, Dialect, Ending, Entries, Entry, Line, Style, start, write_line,
};
use libfuzzer_sys::fuzz_target;

const ENDINGS: [Ending; 2] = [Ending::Newline, Ending::Nul];
const STYLES: [Style; 3] =
    [Style::Tagged, Style::Untagged { binary: false }, Style::Untagged { binary: true }];

fuzz_target!(|list: &[u8]| {
    opens_whole(list);
    let dialects =
        [Dialect::any(), Dialect::only(Algorithm::Md5), Dialect::untagged_as(Algorithm::Blake3)];
    for dialect in dialects {
        for ending in ENDINGS {
            let entries = entries(list, dialect.with_ending(ending));
            for algorithm in Algorithm::ALL {
                round_trips(algorithm, &entries);
            }
        }
    }
});

/// The entries of a list, whose lines count from one without a gap.
fn entries(list: &[u8], dialect: Dialect) -> Vec<Entry> {
    let lines = Entries::new(list, dialect).enumerate().map(|(index, line)| {
        let (number, line) = line.expect("memory is read without errors");
        assert_eq!(number, index as u64 + 1);
        line
    });
    lines
        .filter_map(|line| match line {
            Line::Entry(entry) => Some(entry),
            Line::Blank | Line::Unknown(_) | Line::Malformed => None,
        })
        .collect()
}

/// The entries of one algorithm, as a list in each style, are the same when read.
fn round_trips(algorithm: Algorithm, entries: &[Entry]) {
    for style in STYLES {
        let is_kept = |entry: &&Entry| {
            entry.digest.algorithm() == algorithm
                && (style == Style::Tagged || !entry.name.is_empty())
        };
        let is_tagged = style == Style::Tagged;
        let as_written = |entry: &Entry| Entry { is_tagged, ..entry.clone() };
        let kept: Vec<_> = entries.iter().filter(is_kept).map(as_written).collect();
        for ending in ENDINGS {
            let mut list = Vec::new();
            for entry in &kept {
                write_line(&mut list, style, ending, &entry.name, &entry.digest);
            }
            let dialects = [Dialect::untagged_as(algorithm), Dialect::only(algorithm)];
            for dialect in dialects {
                let read = self::entries(&list, dialect.with_ending(ending));
                assert_eq!(read, kept, "{}", list.escape_ascii());
            }
        }
    }
}

/// Looking at the start of a list takes nothing away but the mark.
fn opens_whole(list: &[u8]) {
    for ending in ENDINGS {
        let Ok(mut text) = start::open(list, ending) else { continue };
        let mut whole = Vec::new();
        text.read_to_end(&mut whole).expect("memory is read without errors");
        assert_eq!(whole, list.strip_prefix(b"\xef\xbb\xbf").unwrap_or(list));
    }
}
