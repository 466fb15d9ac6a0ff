//! Files that change while they are read.
//!
//! Nothing here depends on time. One worker takes the file into its lane and reads a first part;
//! then it takes the FIFO, which this test sees because its own end of it opens; then it waits for
//! what comes next, which only this test can give it: another name through a pipe, another list
//! that is a FIFO. All that is long before the file is read to its end.

use std::fs::FileTimes;
use std::time::SystemTime;

use super::*;

const LENGTH: usize = 8 << 20;

/// A folder with the file `long`, last written in 1970, and the FIFO `fifo`.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("long", bytes(LENGTH));
    let times = FileTimes::new().set_modified(SystemTime::UNIX_EPOCH);
    long(&folder).set_times(times).unwrap();
    folder.fifo("fifo");
    folder
}

fn long(folder: &Folder) -> File {
    File::options().append(true).open(folder.path("long")).unwrap()
}

/// Sums `long` and then `fifo`, and does something when `long` is partly read.
fn sum_and(folder: &Folder, change: impl FnOnce()) -> Output {
    let mut command = folder.lanesum(["-j", "1", "--files0-from", "-"]);
    let mut running = start(command.stdin(Stdio::piped()));
    let mut names = running.stdin();
    names.write_all(b"long\0fifo\0").unwrap();
    let mut fifo = folder.writer("fifo");
    change();
    fifo.write_all(b"abc").unwrap();
    drop((fifo, names));
    running.finish()
}

/// Checks `long` and then `fifo`, and does something when `long` is partly read.
fn check_and(folder: &Folder, change: impl FnOnce()) -> Output {
    folder.write("list", line(bytes(LENGTH), "long") + &line("abc", "fifo"));
    folder.fifo("next-list");
    let running = start(&mut folder.lanesum(["check", "-j", "1", "list", "next-list"]));
    let mut fifo = folder.writer("fifo");
    change();
    fifo.write_all(b"abc").unwrap();
    drop((fifo, folder.writer("next-list")));
    running.finish()
}

/// `sum` says that `long` changed and gives no digest; `check` says that it has none, although the
/// digest in the list is the one that it had.
fn is_noticed(change: impl Fn(&Folder)) {
    let folder = folder();
    let run = sum_and(&folder, || change(&folder));
    expect(&run, 1, line("abc", "fifo"), "lanesum: long: changed while it was read\n");

    let folder = self::folder();
    let run = check_and(&folder, || change(&folder));
    assert_eq!(run.status.code(), Some(1));
    assert_eq!(text(&run.stdout), "long: FAILED open or read\nfifo: OK\n");
    let message = "lanesum: long: changed while it was read\n";
    assert!(text(&run.stderr).starts_with(message), "{}", text(&run.stderr));
}

#[test]
fn a_file_that_stays_as_it_is_has_its_digest() {
    let folder = folder();
    let expected = line(bytes(LENGTH), "long") + &line("abc", "fifo");
    expect(&sum_and(&folder, || ()), 0, &expected, "");
    let folder = self::folder();
    let run = check_and(&folder, || ());
    assert_eq!((run.status.code(), text(&run.stdout).as_str()), (Some(0), "long: OK\nfifo: OK\n"));
}

#[test]
fn growing_is_noticed() {
    is_noticed(|folder| long(folder).write_all(b"more").unwrap());
}

#[test]
fn shrinking_is_noticed() {
    is_noticed(|folder| long(folder).set_len(LENGTH as u64 - 1).unwrap());
    is_noticed(|folder| long(folder).set_len(0).unwrap());
}

#[test]
fn replacement_is_noticed() {
    is_noticed(|folder| {
        folder.write("new", bytes(LENGTH));
        fs::rename(folder.path("new"), folder.path("long")).unwrap();
    });
}

#[test]
fn removal_is_noticed() {
    is_noticed(|folder| fs::remove_file(folder.path("long")).unwrap());
}

#[test]
fn writing_in_place_is_noticed() {
    use std::os::unix::fs::FileExt as _;
    is_noticed(|folder| {
        let file = File::options().write(true).open(folder.path("long")).unwrap();
        file.write_all_at(b"x", LENGTH as u64 - 1).unwrap();
    });
}

#[test]
fn a_touch_is_noticed() {
    is_noticed(|folder| long(folder).set_modified(SystemTime::now()).unwrap());
}
