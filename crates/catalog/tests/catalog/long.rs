//! Long files, read in stretches over several runs.

use std::os::unix::fs::{FileExt as _, PermissionsExt as _};

use lanesum_catalog::{Change, Control, Halt, Reread, Severity, Status};
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
    archive.run_with(Verb::Audit, |options| options.reread = Reread::All);
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

/// What another reading told of a part is not forgotten by one that goes on behind it.
#[test]
fn what_was_told_of_a_part_that_was_read_before_stays() {
    let audit = |archive: &Archive| {
        archive.run_with(Verb::Audit, |options| options.reread = Reread::All).lines()
    };
    let under_another_name = |archive: &Archive| {
        let (path, other) = (archive.path("long"), archive.path("other"));
        fs::rename(&path, &other).unwrap();
        let lines = archive.scrub(everything()).lines();
        fs::rename(&other, &path).unwrap();
        lines
    };
    for is_moved in [false, true] {
        let archive = archive();
        a_part(&archive, 2 * STRETCH);
        rot_at(&archive.path("long"), 0);
        let (lines, told) = match is_moved {
            false => (audit(&archive), "rotted long"),
            true => (under_another_name(&archive), "altered long -> other"),
        };
        assert_eq!(lines, [told]);
        let told = archive.scrub(everything());
        assert_eq!(told.summary.severity(), Severity::Damage, "{:?}", told.lines());
        assert_eq!(archive.open().overviews(clock()).unwrap()[0].severity(), Severity::Damage);
    }
}

#[test]
fn what_was_accepted_is_read_from_its_beginning() {
    let archive = archive();
    days_pass(1);
    a_part(&archive, 2 * STRETCH);
    rot_at(&archive.path("long"), 0);
    archive.run_with(Verb::Audit, |options| options.reread = Reread::All);
    archive.open().accept(&archive.path("long"), &options()).unwrap();
    assert_eq!(archive.scrub(everything()).counts(), BTreeMap::from([(Class::Ok, 2)]));
}

/// A clock that was ahead when a file was checked keeps nobody from going on in it.
#[test]
fn a_file_that_was_checked_in_the_future_is_read_over_several_runs() {
    days_pass(400);
    let archive = archive();
    days_pass(-400);
    for run in 1..STRETCHES {
        a_part(&archive, 1);
        let begun = archive.open().overviews(clock()).unwrap()[0].begun;
        assert_eq!(begun.map(|begun| begun.read), Some(run * STRETCH));
    }
    assert!(a_part(&archive, 100).summary.is_complete);
    assert!(checked(&archive, "long") <= clock());
}

/// The second reading, which takes as long as the file is long, obeys a pause; and that the file is
/// not as cataloged stays known.
#[test]
fn a_second_reading_that_was_ended_is_told() {
    let archive = archive();
    a_part(&archive, 4 * STRETCH);
    rot_at(&archive.path("long"), 4 * STRETCH + 1);
    let root = archive.root(&mut archive.open());
    let mut control = Control::open(&archive.catalog_path()).unwrap();
    let mut change = Change::default();
    change.rate = Some(Some(STRETCH / 2));
    control.limit(&root, &change).unwrap();
    let now = clock();
    let told = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(1500));
            control.pause(&root, now).unwrap();
        });
        archive.scrub(everything())
    });
    assert_eq!(told.lines(), ["busy long"]);
    assert!(matches!(told.summary.halt, Some(Halt::Paused(_))), "{:?}", told.summary);
    let overview = || archive.open().overviews(clock()).unwrap().remove(0);
    assert_eq!(overview().not_well, BTreeMap::from([(Status::Busy, 1)]));
    assert_eq!(overview().begun.map(|begun| begun.read), Some(4 * STRETCH));

    change.rate = Some(None);
    control.limit(&root, &change).unwrap();
    control.resume(&root).unwrap();
    assert_eq!(archive.scrub(everything()).lines(), ["rotted long"]);
}

/// A long file that takes longer than each scrub may last keeps nothing else from being read:
/// whether no state of it can be kept, or a stretch alone takes as long.
#[test]
fn a_long_file_that_cannot_be_read_in_time_does_not_starve_the_rest() {
    for is_resumed in [false, true] {
        let mut archive = archive();
        if !is_resumed {
            archive.policy.algorithms = archive.policy.algorithms.with(Algorithm::Xxh128);
            archive.run_with(Verb::Audit, |options| options.reread = Reread::All);
            // New files have no XXH digest from now on, but the row of the long one keeps its own.
            archive.policy.algorithms = Algorithm::Crc32c.into();
        }
        let root = archive.root(&mut archive.open());
        let mut change = Change::default();
        change.rate = Some(Some(STRETCH / 2));
        Control::open(&archive.catalog_path()).unwrap().limit(&root, &change).unwrap();
        let mut due = everything();
        due.max_time = Some(Duration::from_secs(1));
        let scrub = || {
            days_pass(1);
            let summary = archive.scrub(due.clone()).summary;
            assert!(!summary.is_complete);
            summary.files
        };
        let read: Vec<_> = (0..4).map(|_| scrub()).collect();
        assert_eq!(read, [0, 1, 0, 1], "{is_resumed}");
    }
}
