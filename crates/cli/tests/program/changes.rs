//! Files that change while they are read.
//!
//! Nothing here depends on time. The program is stopped, by SIGSTOP, when /proc tells that it has
//! read a part of the file; the file is changed; the program goes on. The file is so long that
//! there is much left to read when the signal comes, and should the program be through all the
//! same, it is begun once more.

use std::fs::FileTimes;
use std::io::{Seek as _, SeekFrom};
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::sync::OnceLock;
use std::time::SystemTime;

use super::*;

/// Most of it is a hole, so it takes no room.
const LENGTH: u64 = 64 << 20;

/// So much is read before the program is stopped: more than what it begins with, looking at the
/// file.
const PART: u64 = 1 << 20;

/// A folder with the file `long`, last written in 1970, and with a list of it.
fn folder() -> Folder {
    let folder = Folder::in_memory();
    folder.write("long", "long");
    let file = long(&folder);
    file.set_len(LENGTH).unwrap();
    file.set_times(FileTimes::new().set_modified(SystemTime::UNIX_EPOCH)).unwrap();
    folder.write("list", format!("{}  long\n", md5_of_long()));
    folder
}

fn long(folder: &Folder) -> File {
    File::options().append(true).open(folder.path("long")).unwrap()
}

/// What the content of `long` has, by an independent implementation.
fn md5_of_long() -> &'static str {
    use ::md5::Digest as _;
    static DIGEST: OnceLock<String> = OnceLock::new();
    DIGEST.get_or_init(|| {
        let zeros = vec![0; PART as usize];
        let mut md5 = ::md5::Md5::new_with_prefix("long");
        md5.update(&zeros[4..]);
        (1..LENGTH / PART).for_each(|_| md5.update(&zeros));
        hex(&md5.finalize())
    })
}

/// Runs the program, and does something when it has read a part of `long`.
fn run_and(args: &str, change: impl Fn(&Folder)) -> Output {
    loop {
        let folder = folder();
        let mut command = folder.lanesum(args.split_whitespace());
        // As the only descriptor of it, since that is where the position is looked for.
        if !args.contains("long") && !args.contains("list") {
            command.stdin(File::open(folder.path("long")).unwrap());
        }
        let running = start(&mut command);
        let path = folder.path("long");
        while running.state() != 'Z' && running.position_in(&path).is_none_or(|read| read < PART) {
            std::thread::yield_now();
        }
        if running.stop() && running.position_in(&path).is_some_and(|read| read < LENGTH) {
            change(&folder);
            running.signal(Signal::CONT);
            return running.finish();
        }
        running.signal(Signal::CONT);
        running.finish();
    }
}

impl Running {
    /// How far it has read a file that it has open.
    fn position_in(&self, path: &Path) -> Option<u64> {
        let threads = fs::read_dir(format!("/proc/{}/task", self.child.id())).ok()?.flatten();
        // Each may have descriptors of its own.
        threads.filter_map(|thread| position_in(path, &thread.path())).max()
    }
    /// Stops it between two instructions; false if it has ended before.
    fn stop(&self) -> bool {
        self.signal(Signal::STOP);
        loop {
            match self.state() {
                'T' => return true,
                'Z' => return false,
                _ => std::thread::yield_now(),
            }
        }
    }

    /// The letter that /proc has for its state: T is stopped, Z is ended but not asked for its exit
    /// code.
    fn state(&self) -> char {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        // It follows the name, which is in parentheses.
        stat.rsplit(") ").next().and_then(|rest| rest.chars().next()).unwrap()
    }
}

/// How far a file is read that a thread has open.
fn position_in(path: &Path, thread: &Path) -> Option<u64> {
    let mut open = fs::read_dir(thread.join("fd")).ok()?.flatten();
    let file = open.find(|file| fs::read_link(file.path()).is_ok_and(|it| it == path))?;
    let info = fs::read_to_string(thread.join("fdinfo").join(file.file_name())).ok()?;
    info.lines().find_map(|line| line.strip_prefix("pos:"))?.trim().parse().ok()
}

/// Standard input, which is `long` here, is looked at as well.
fn is_noticed_on_standard_input(change: impl Fn(&Folder)) {
    let message = "lanesum: -: changed while it was read\n";
    expect(&run_and("", &change), 1, "", message);
    expect(&run_and("-", &change), 1, "", message);
}

#[test]
fn changing_standard_input_fails() {
    is_noticed_on_standard_input(|folder| long(folder).set_len(0).unwrap());
    is_noticed_on_standard_input(|folder| {
        let file = File::options().write(true).open(folder.path("long")).unwrap();
        file.write_all_at(b"x", LENGTH - 1).unwrap();
    });
    // Also when its times are put back, by the second look.
    is_noticed_on_standard_input(|folder| {
        let file = File::options().write(true).open(folder.path("long")).unwrap();
        for at in [0, LENGTH - 1] {
            file.write_all_at(b"x", at).unwrap();
        }
        file.set_times(FileTimes::new().set_modified(SystemTime::UNIX_EPOCH)).unwrap();
    });
    let digest = format!("{}  -\n", md5_of_long());
    expect(&run_and("", |_| ()), 0, &digest, "");
    let chmod = |folder: &Folder| {
        fs::set_permissions(folder.path("long"), fs::Permissions::from_mode(0o400)).unwrap();
    };
    expect(&run_and("", chmod), 0, &digest, "");
}

/// Whoever had it before may have read some of it.
#[test]
fn standard_input_begins_where_it_is() {
    let folder = Folder::of(&[]);
    folder.write("a", "abcdef");
    for (at, rest) in [(3, "def"), (6, ""), (9, "")] {
        let mut file = File::open(folder.path("a")).unwrap();
        file.seek(SeekFrom::Start(at)).unwrap();
        let run = output(folder.lanesum(["-"]).stdin(file));
        expect(&run, 0, format!("{}  -\n", md5(rest)), "");
    }
}

/// `sum` says that `long` changed and gives no digest; `check` says that it has none, although the
/// digest in the list is the one that it had.
fn is_noticed(change: impl Fn(&Folder)) {
    let message = "lanesum: long: changed while it was read\n";
    expect(&run_and("long", &change), 1, "", message);
    expect(&run_and("check list", &change), 1, "long: FAILED open or read\n", message);
}

#[test]
fn a_file_that_stays_as_it_is_has_its_digest() {
    expect(&run_and("long", |_| ()), 0, format!("{}  long\n", md5_of_long()), "");
    expect(&run_and("check list", |_| ()), 0, "long: OK\n", "");
}

#[test]
fn growing_is_noticed() {
    is_noticed(|folder| long(folder).write_all(b"more").unwrap());
}

#[test]
fn shrinking_is_noticed() {
    is_noticed(|folder| long(folder).set_len(LENGTH - 1).unwrap());
    is_noticed(|folder| long(folder).set_len(0).unwrap());
}

#[test]
fn replacement_is_noticed() {
    is_noticed(|folder| {
        folder.write("new", "long");
        fs::rename(folder.path("new"), folder.path("long")).unwrap();
    });
}

#[test]
fn removal_is_noticed() {
    is_noticed(|folder| fs::remove_file(folder.path("long")).unwrap());
}

#[test]
fn writing_in_place_is_noticed() {
    is_noticed(|folder| {
        let file = File::options().write(true).open(folder.path("long")).unwrap();
        file.write_all_at(b"x", LENGTH - 1).unwrap();
    });
}

#[test]
fn a_touch_is_noticed() {
    is_noticed(|folder| long(folder).set_modified(SystemTime::now()).unwrap());
}
