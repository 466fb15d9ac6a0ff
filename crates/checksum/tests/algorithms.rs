//! An entry in the table of algorithms is all that an algorithm needs beside the line that computes
//! it.

use lanesum_checksum::{Algorithm, Algorithms, Digest, Key, digests_of};
use lanesum_list::formats::{Format, Gnu, Line, Mixed, Tag};
use lanesum_list::{Dialect, Ending, Record, lines};

/// Returns a key of the length that the algorithm needs, if any.
fn key(algorithm: Algorithm) -> Option<Key> {
    let len = algorithm.key_len().filter(|_| algorithm.needs_key())?;
    Some(Key::from_bytes(&vec![7; len]).expect("the key file can hold one of this length"))
}

fn digest(algorithm: Algorithm, bytes: &[u8]) -> Digest {
    let digests = digests_of(algorithm.into(), key(algorithm).as_ref(), bytes).unwrap();
    assert_eq!(digests.len(), 1);
    digests[0]
}

#[test]
fn every_algorithm_is_computed() {
    for algorithm in Algorithm::ALL {
        let abc = digest(algorithm, b"abc");
        assert_eq!(abc.algorithm(), algorithm);
        assert_eq!(abc.as_bytes().len(), algorithm.digest_len());
        assert_eq!(abc, digest(algorithm, b"abc"));
        assert_ne!(abc, digest(algorithm, b"abd"), "{algorithm}");
    }
}

/// The check value of the catalogue of CRCs, which S3 has, too.
#[test]
fn crc64nvme_has_its_check_value() {
    assert_eq!(digest(Algorithm::Crc64Nvme, b"123456789").to_string(), "ae8b14860a799888");
}

#[test]
fn every_algorithm_parses_by_its_names() {
    for algorithm in Algorithm::ALL {
        for name in algorithm.aliases().iter().chain([&algorithm.name()]) {
            assert_eq!(name.parse(), Ok(algorithm));
        }
        assert!(algorithm.has_tag(algorithm.tag().as_bytes()));
    }
}

#[test]
fn every_algorithm_is_written_and_read_back() {
    for algorithm in Algorithm::ALL {
        let record = Record::new("a\nb (c) = d").with(digest(algorithm, b"abc"));
        for ending in [Ending::Newline, Ending::Nul] {
            let any = Dialect::any().with_ending(ending);
            let told = any.with_untagged(algorithm);
            // Its untagged lines have its name, as those of xxhsum.
            let untagged = line(&record, algorithm == Algorithm::Xxh3_64);
            assert_eq!(read_back(&record, &Tag::new(any), any), [(1, line(&record, true))]);
            assert_eq!(read_back(&record, &Gnu::new(any), told), [(1, untagged)]);
            let only = Dialect::only(algorithm).with_ending(ending);
            assert_eq!(read_back(&record, &Tag::new(any), only), [(1, line(&record, true))]);
        }
    }
}

#[test]
fn all_algorithms_share_one_read() {
    let unkeyed: Algorithms = Algorithm::ALL.into_iter().filter(|it| !it.needs_key()).collect();
    let together = digests_of(unkeyed, None, b"abc").unwrap();
    let alone: Vec<_> = unkeyed.iter().map(|algorithm| digest(algorithm, b"abc")).collect();
    assert_eq!(together, alone.into());
}

fn line(record: &Record<'_>, is_tagged: bool) -> Line<'static> {
    Line::Record { record: record.clone().into_owned(), is_tagged }
}

fn read_back(
    record: &Record<'_>,
    format: &dyn Format,
    dialect: Dialect,
) -> Vec<(u64, Line<'static>)> {
    let mut list = Vec::new();
    format.record(&mut list, record).unwrap();
    lines(&list, &mut Mixed::new(dialect))
        .map(|(number, line)| match line {
            Line::Record { record, is_tagged } => (number, self::line(&record, is_tagged)),
            other => panic!("{}: {other:?}", list.escape_ascii()),
        })
        .collect()
}
