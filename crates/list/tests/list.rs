//! Lists as a whole: what is written is read back, and lists of others are read as they mean it.

use std::io::BufReader;

use lanesum_list::{
    Algorithm, Dialect, Digest, Ending, Entries, Entry, Line, Parser, Style, start, write_line,
};
use proptest::collection::vec;
use proptest::prelude::*;

const STYLES: [Style; 3] =
    [Style::Untagged { binary: false }, Style::Untagged { binary: true }, Style::Tagged];
const ENDINGS: [Ending; 2] = [Ending::Newline, Ending::Nul];

/// What the formats are made of, to make names of.
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

/// Names of any bytes but NUL, of at least one.
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

/// An entry of a tagged line.
fn any_entry() -> impl Strategy<Value = Entry> {
    let digest = prop::sample::select(&Algorithm::ALL[..]).prop_flat_map(digest);
    (name(), digest).prop_map(|(name, digest)| Entry { name, digest, is_tagged: true })
}

/// The entry as a line of a style has it.
fn styled(entry: &Entry, style: Style) -> Entry {
    Entry { is_tagged: style == Style::Tagged, ..entry.clone() }
}

fn write(entries: &[Entry], style: Style, ending: Ending) -> Vec<u8> {
    let mut list = Vec::new();
    for Entry { name, digest, .. } in entries {
        write_line(&mut list, style, ending, name, digest);
    }
    list
}

/// The lines of a list, its numbers checked.
fn read(list: &[u8], dialect: Dialect) -> Vec<Line> {
    Entries::new(BufReader::with_capacity(64, list), dialect)
        .zip(1..)
        .map(|(line, expected)| {
            let (number, line) = line.unwrap();
            assert_eq!(number, expected);
            line
        })
        .collect()
}

fn lines(entries: &[Entry], style: Style) -> Vec<Line> {
    entries.iter().map(|entry| Line::Entry(styled(entry, style))).collect()
}

fn md5_of(name: &[u8], is_tagged: bool) -> Line {
    let digest = Digest::from_hex(Algorithm::Md5, b"d41d8cd98f00b204e9800998ecf8427e").unwrap();
    Line::Entry(Entry { name: name.to_vec(), digest, is_tagged })
}

fn md5(name: &[u8]) -> Line {
    md5_of(name, false)
}

fn tagged_md5(name: &[u8]) -> Line {
    md5_of(name, true)
}

proptest! {
    #[test]
    fn every_line_is_read_back(entry in any_entry()) {
        let algorithm = entry.digest.algorithm();
        for style in STYLES {
            for ending in ENDINGS {
                let written = write(std::slice::from_ref(&entry), style, ending);
                let line = written.strip_suffix(&[ending.byte()]).unwrap();
                prop_assert!(!line.contains(&ending.byte()));
                for dialect in [Dialect::only(algorithm), Dialect::untagged_as(algorithm)] {
                    let read = Parser::new(dialect.with_ending(ending)).parse(line);
                    prop_assert_eq!(read, Line::Entry(styled(&entry, style)), "{:?} {:?}", style, ending);
                }
            }
        }
    }

    #[test]
    fn a_tagged_list_of_any_algorithms_is_read_back(entries in vec(any_entry(), 0..20)) {
        for ending in ENDINGS {
            let list = write(&entries, Style::Tagged, ending);
            let expected = lines(&entries, Style::Tagged);
            prop_assert_eq!(read(&list, Dialect::any().with_ending(ending)), expected);
        }
    }

    #[test]
    fn an_untagged_list_goes_by_the_number_of_digits(entries in vec(any_entry(), 0..20)) {
        let is_told = |entry: &Entry| {
            let algorithm = entry.digest.algorithm();
            let is_told =
                !matches!(algorithm, Algorithm::Blake3 | Algorithm::Xxh3) && !algorithm.needs_key();
            assert_eq!(Dialect::any().tells(algorithm), is_told, "{algorithm}");
            is_told
        };
        let entries: Vec<_> = entries.into_iter().filter(is_told).collect();
        for ending in ENDINGS {
            for style in STYLES {
                let list = write(&entries, style, ending);
                let expected = lines(&entries, style);
                prop_assert_eq!(read(&list, Dialect::any().with_ending(ending)), expected);
            }
        }
    }

    #[test]
    fn a_list_from_windows_is_the_same_list(entries in vec(any_entry(), 1..20)) {
        let list = write(&entries, Style::Tagged, Ending::Newline);
        // Names are escaped, so a newline is an ending.
        let windows: Vec<u8> = list
            .split_inclusive(|&byte| byte == b'\n')
            .flat_map(|line| [&line[..line.len() - 1], b"\r\n"].concat())
            .collect();
        let marked = [b"\xef\xbb\xbf", &windows[..]].concat();
        let text = start::open(&marked[..], Ending::Newline).unwrap();
        let read: Result<Vec<_>, _> = Entries::new(text, Dialect::any()).collect();
        let read: Vec<_> = read.unwrap().into_iter().map(|(_, line)| line).collect();
        prop_assert_eq!(read, lines(&entries, Style::Tagged));
    }

    #[test]
    fn what_is_written_passes_for_a_list(entries in vec(any_entry(), 0..20)) {
        for style in STYLES {
            for ending in ENDINGS {
                let list = write(&entries, style, ending);
                prop_assert_eq!(start::Start::of(&list, ending), start::Start::Text);
            }
        }
    }

    #[test]
    fn another_digit_is_another_entry(
        entry in any_entry(),
        at in any::<prop::sample::Index>(),
        to in any::<u8>(),
    ) {
        let style = Style::Untagged { binary: false };
        let mut line = write(std::slice::from_ref(&entry), style, Ending::Nul);
        line.pop();
        let at = at.index(2 * entry.digest.as_bytes().len());
        prop_assume!(!line[at].eq_ignore_ascii_case(&to));
        line[at] = to;
        let dialect = Dialect::untagged_as(entry.digest.algorithm()).with_ending(Ending::Nul);
        prop_assert_ne!(Parser::new(dialect).parse(&line), Line::Entry(styled(&entry, style)));
    }
}

#[test]
fn a_list_of_gnu_md5sum_is_read_as_md5sum_reads_it() {
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
