//! Long files, read in stretches over several runs.

use std::os::unix::fs::{FileExt as _, PermissionsExt as _};

use lanesum_catalog::{Halt, Reading};
use lanesum_checksum::engine::STRETCH;
use lanesum_list::Algorithm;

use super::*;

/// Four stretches and a bit.
const SIZE: u64 = 4 * STRETCH + 7;
const STRETCHES: u64 = 5;

/// A tree with a long file, of holes but for a few bytes, and a short one; cataloged.
fn archive() -> Archive {
    let mut archive = Archive::of(&["short", "long"]);
    // Which algorithm it is matters to the engine, and this one is fast.
    archive.policy.algorithms = Algorithm::Crc32c.into();
    let file = File::options().write(true).open(archive.path("long")).unwrap();
    file.set_len(SIZE).unwrap();
    file.write_at(b"x", 2 * STRETCH).unwrap();
    archive.run(Verb::Add);
    archive
}

/// A scrub of everything that reads a stretch, or goes on for so many bytes.
fn a_part(archive: &Archive, bytes: u64) -> Told {
    let mut due = everything();
    due.max_bytes = Some(bytes);
    archive.scrub(due)
}

/// When a file was checked last.
fn checked(archive: &Archive, name: &str) -> i64 {
    let catalog = archive.open();
    let mut files = (1..=2).filter_map(|id| catalog.known_file(id).unwrap());
    files.find(|file| file.path == archive.path(name)).unwrap().last_good
}

#[test]
fn a_long_file_is_read_over_several_runs() {
    let archive = archive();
    days_pass(1);
    let began = clock();
    for run in 1..STRETCHES {
        let told = a_part(&archive, 1);
        assert!(!told.summary.is_complete && told.summary.halt != Some(Halt::More), "{run}");
        assert_eq!((told.summary.files, told.summary.bytes), (0, STRETCH), "{run}");
        assert!(checked(&archive, "long") < began);
        let begun = archive.open().overviews(clock()).unwrap()[0].begun;
        let begun = begun.map(|begun| [begun.files, begun.read, begun.of]);
        assert_eq!(begun, Some([1, run * STRETCH, SIZE]));
        days_pass(1);
    }
    let told = a_part(&archive, 100);
    assert!(told.summary.is_complete, "{:?}", told.summary);
    assert_eq!(told.counts(), BTreeMap::from([(Class::Ok, 2)]));
    assert_eq!(told.summary.bytes, SIZE % STRETCH + 5);
    // All of it was right on the first day.
    assert!((began..began + 100).contains(&checked(&archive, "long")));
    assert!(checked(&archive, "short") >= began + 3 * 86_400);
    assert!(archive.open().check().unwrap().is_empty());
    assert_eq!(archive.open().overviews(clock()).unwrap()[0].begun, None);

    // And from its beginning the next time.
    assert_eq!(a_part(&archive, 1).summary.bytes, STRETCH);
}

#[test]
fn rot_before_and_behind_where_it_was_left_is_found() {
    for place in [0, 3 * STRETCH + 1] {
        let archive = archive();
        days_pass(1);
        a_part(&archive, 2 * STRETCH);
        rot_at(&archive.path("long"), place);
        let told = archive.scrub(everything());
        if place == 0 {
            // What was read was right, and what is read now is.
            assert_eq!(told.counts(), BTreeMap::from([(Class::Ok, 2)]));
            let told = archive.scrub(everything());
            assert_eq!(told.lines(), ["rotted long"]);
        } else {
            assert_eq!(told.lines(), ["rotted long"]);
        }
        // One that is not well holds up none of the others.
        let told = a_part(&archive, 1);
        assert_eq!((told.summary.files, told.summary.bytes), (1, 5));
    }
}

#[test]
fn a_file_that_is_not_as_it_was_is_read_from_its_beginning() {
    let changes: [fn(&Path); 3] = [
        |path| set_time(path, UNIX_EPOCH + Duration::from_secs(1 << 30)),
        |path| fs::set_permissions(path, fs::Permissions::from_mode(0o640)).unwrap(),
        |path| {
            fs::copy(path, path.with_extension("new")).unwrap();
            fs::rename(path.with_extension("new"), path).unwrap();
        },
    ];
    for change in changes {
        let archive = archive();
        a_part(&archive, 1);
        change(&archive.path("long"));
        let told = a_part(&archive, u64::MAX);
        // The stretch behind is read before that shows.
        assert_eq!(told.summary.bytes, STRETCH + SIZE + 5);
        assert_eq!(told.summary.counts.values().sum::<u64>(), 2, "{:?}", told.summary);
        assert!(told.summary.is_complete && told.findings.iter().all(|it| !it.class.is_damage()));
    }
}

#[test]
fn what_was_read_otherwise_since_is_read_from_its_beginning() {
    let archive = archive();
    a_part(&archive, 1);
    days_pass(1);
    archive.run_with(Verb::Audit, |options| options.reading = Reading::All);
    let now = clock();
    days_pass(1);
    assert_eq!(a_part(&archive, u64::MAX).summary.bytes, SIZE + 5);
    assert!(checked(&archive, "long") > now);
}

/// Lets a byte rot, as [`Archive::rot`] does the first one.
fn rot_at(path: &Path, place: u64) {
    let script = "import mmap,sys\n\
                  f=open(sys.argv[1],'r+b')\n\
                  m=mmap.mmap(f.fileno(),0)\n\
                  m[int(sys.argv[2])]^=1\n";
    let mut python = std::process::Command::new("python3");
    let status = python.arg("-c").arg(script).arg(path).arg(place.to_string()).status();
    assert!(status.is_ok_and(|status| status.success()), "python3 is needed to make a file rot");
}
