//! Long files, which scrubs read in chunks over several runs.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileExt as _;

use lanesum_catalog::{Attention, Control, Halt, SettingsPatch};
use lanesum_checksum::engine::CHUNK_LEN;
use lanesum_list::Algorithm;

use super::*;

/// Four chunks and a bit.
const SIZE: u64 = 4 * CHUNK_LEN + 7;
const CHUNKS: u64 = 5;
const BOTH_OK: [(Class, u64); 1] = [(Class::Ok, 2)];

/// A tree with a long file, of holes but for a few bytes, and a short one; recorded.
fn archive() -> Archive {
    let mut archive = Archive::of(&["short", "long"]);
    // Which algorithm it is matters to the engine alone, and this one is fast.
    archive.settings.algorithms = Algorithm::Crc32c.into();
    let file = File::options().write(true).open(archive.path("long")).unwrap();
    file.set_len(SIZE).unwrap();
    file.write_at(b"x", 2 * CHUNK_LEN).unwrap();
    archive.touch("long");
    archive.add();
    archive
}

/// A scrub of everything that reads a chunk, or goes on for so many bytes.
fn scrub_of(archive: &Archive, bytes: u64) -> Report {
    archive.run(&Task::Scrub(selection(|it| {
        it.percent = Some(100.0);
        it.max_bytes = Some(bytes);
    })))
}

/// How much was read of long files that were not read to their end.
fn partly_read(archive: &Archive) -> Option<[u64; 3]> {
    archive.status().partly_read.map(|it| [it.files, it.read, it.of])
}

#[test]
fn long_file_is_read_over_several_runs() {
    let archive = archive();
    days_pass(1);
    let began = clock();
    for run in 1..CHUNKS {
        let report = scrub_of(&archive, 1);
        assert_eq!(report.summary.halt, Some(Halt::Limit), "{run}");
        assert_eq!((report.summary.files, report.summary.bytes), (0, CHUNK_LEN), "{run}");
        assert!(archive.file("long").verified < began);
        assert_eq!(partly_read(&archive), Some([1, run * CHUNK_LEN, SIZE]));
        days_pass(1);
    }
    let report = scrub_of(&archive, 100);
    assert!(report.summary.is_complete(), "{:?}", report.summary);
    assert_eq!(report.summary.counts, BTreeMap::from(BOTH_OK));
    assert_eq!(report.summary.bytes, SIZE % CHUNK_LEN + 5);
    // All of it was right on the first day.
    assert!((began..began + 100).contains(&archive.file("long").verified));
    assert!(archive.file("short").verified >= began + 3 * 86_400);
    assert!(archive.look().check().unwrap().is_empty());
    assert_eq!(partly_read(&archive), None);

    // And from its beginning the next time.
    assert_eq!(scrub_of(&archive, 1).summary.bytes, CHUNK_LEN);
}

#[test]
fn damage_before_and_after_the_last_chunk_is_found() {
    for place in [0, 3 * CHUNK_LEN + 1] {
        let archive = archive();
        days_pass(1);
        scrub_of(&archive, 2 * CHUNK_LEN);
        flip_at(&archive.path("long"), place);
        if place == 0 {
            // What was read was right, and what is read now is.
            assert_eq!(archive.scrub().summary.counts, BTreeMap::from(BOTH_OK));
        }
        assert_eq!(archive.scrub().lines(), ["damaged long"]);
        // A damaged file holds up none of the others.
        let report = scrub_of(&archive, 1);
        assert_eq!((report.summary.files, report.summary.bytes), (1, 5));
    }
}

#[test]
fn file_that_changed_since_its_last_chunk_is_read_from_its_beginning() {
    let changes: [fn(&Path); 3] = [
        |path| set_time(path, UNIX_EPOCH + Duration::from_secs(1 << 30)),
        |path| set_mode(path, 0o640),
        |path| {
            let copy = path.with_extension("new");
            fs::copy(path, &copy).unwrap();
            set_time(&copy, fs::metadata(path).unwrap().modified().unwrap());
            fs::rename(copy, path).unwrap();
        },
    ];
    for change in changes {
        let archive = archive();
        scrub_of(&archive, 1);
        change(&archive.path("long"));
        let report = scrub_of(&archive, u64::MAX);
        // The next chunk is read before that shows.
        assert_eq!(report.summary.bytes, CHUNK_LEN + SIZE + 5);
        assert_eq!(report.summary.counts, BTreeMap::from(BOTH_OK), "{:?}", report.lines());
        assert_eq!(report.summary.attention(), Attention::Nothing);
    }
}

#[test]
fn file_that_was_verified_since_is_read_from_its_beginning() {
    let archive = archive();
    scrub_of(&archive, 1);
    days_pass(1);
    archive.verify();
    let now = clock();
    days_pass(1);
    assert_eq!(scrub_of(&archive, u64::MAX).summary.bytes, SIZE + 5);
    assert!(archive.file("long").verified > now);
}

#[test]
fn damage_that_was_found_in_a_part_that_was_read_before_stays() {
    let archive = archive();
    scrub_of(&archive, 2 * CHUNK_LEN);
    flip_at(&archive.path("long"), 0);
    assert_eq!(archive.verify().lines(), ["damaged long"]);
    let report = archive.scrub();
    assert_eq!(report.summary.attention(), Attention::Problem, "{:?}", report.lines());
    assert_eq!(archive.stored(), ["damaged long"]);
}

#[test]
fn file_that_was_accepted_is_read_from_its_beginning() {
    let archive = archive();
    days_pass(1);
    scrub_of(&archive, 2 * CHUNK_LEN);
    flip_at(&archive.path("long"), 0);
    archive.verify();
    assert_eq!(archive.accept(&["long"]).files, 1);
    assert_eq!(archive.scrub().summary.counts, BTreeMap::from(BOTH_OK));
}

/// A clock that was ahead when a file was verified does not keep scrubs from resuming it.
#[test]
fn file_that_was_verified_in_the_future_is_read_over_several_runs() {
    days_pass(400);
    let archive = archive();
    days_pass(-400);
    for run in 1..CHUNKS {
        scrub_of(&archive, 1);
        assert_eq!(partly_read(&archive).map(|it| it[1]), Some(run * CHUNK_LEN));
    }
    assert!(scrub_of(&archive, 100).summary.halt.is_none());
    assert!(archive.file("long").verified <= clock());
}

/// A long file that takes longer than each scrub may last does not keep the others from being read:
/// whether its digests cannot be resumed, or one chunk alone takes as long.
#[test]
fn long_file_that_cannot_be_read_in_time_does_not_starve_the_others() {
    for is_resumed in [false, true] {
        let mut archive = archive();
        if !is_resumed {
            archive.settings.algorithms = archive.settings.algorithms.with(Algorithm::Xxh128);
            archive.add();
            archive.verify();
        }
        let mut patch = SettingsPatch::default();
        patch.rate = Some(Some(CHUNK_LEN / 2));
        // New files get no XXH digest from now on, but the record of the long one keeps its own.
        patch.algorithms = Some(Algorithm::Crc32c.into());
        Control::open(&archive.catalog_path()).unwrap().set(&[archive.root()], &patch).unwrap();
        let task = Task::Scrub(selection(|it| {
            it.percent = Some(100.0);
            it.max_time = Some(Duration::from_secs(1));
        }));
        let scrub = || {
            days_pass(1);
            let summary = archive.run(&task).summary;
            assert_eq!(summary.halt, Some(Halt::Limit));
            summary.files
        };
        let read: Vec<_> = (0..4).map(|_| scrub()).collect();
        assert!(read.iter().sum::<u64>() >= 2, "{is_resumed}: {read:?}");
    }
}
