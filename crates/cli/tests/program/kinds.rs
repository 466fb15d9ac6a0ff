//! What is no regular file: FIFOs, sockets, devices, pseudo files.

use std::os::unix::net::UnixListener;

use super::*;

#[test]
fn blocking_files_are_skipped_with_a_warning() {
    let folder = Folder::of(&["t/a", "t/z"]);
    folder.fifo("t/fifo");
    let _socket = UnixListener::bind(folder.path("t/socket")).unwrap();
    let warnings = "lanesum: t/fifo: named pipe, skipped\n\
                    lanesum: t/socket: socket, skipped\n";
    expect(&folder.run("t"), 0, lines(&["t/a", "t/z"]), warnings);
    // Through a followed link too.
    folder.link("../t/fifo", "t/link");
    let run = folder.run("--follow t");
    let link = "lanesum: t/link: named pipe, skipped\n";
    let (fifo, socket) = warnings.split_at(warnings.find("lanesum: t/socket").unwrap());
    expect(&run, 0, lines(&["t/a", "t/z"]), [fifo, link, socket].concat());
}

#[test]
fn a_device_in_a_tree_is_skipped_with_a_warning() {
    let folder = Folder::of(&["t/a"]);
    // 1, 5 is /dev/zero, which never ends.
    let zero = rustix::fs::makedev(1, 5);
    let made = mknodat(CWD, folder.path("t/d"), FileType::CharacterDevice, Mode::RUSR, zero);
    if made.is_err() {
        return skip("only root may make a device");
    }
    let warning = "lanesum: t/d: character device, skipped\n";
    expect(&folder.run("t"), 0, lines(&["t/a"]), warning);
}

#[test]
fn a_device_is_read_when_it_is_asked_for() {
    let folder = Folder::new();
    expect(&folder.run("/dev/null"), 0, format!("{EMPTY}  /dev/null\n"), "");
}

#[test]
fn a_socket_as_argument_is_an_error() {
    let folder = Folder::of(&["a"]);
    let _socket = UnixListener::bind(folder.path("socket")).unwrap();
    let message = "lanesum: socket: No such device or address\n";
    expect(&folder.run("socket a"), 1, lines(&["a"]), message);
}

#[test]
fn a_fifo_as_argument_gives_what_is_written_to_it() {
    let folder = Folder::of(&["a"]);
    folder.fifo("fifo");
    // Several times what a pipe holds.
    let content = bytes(1_000_000);
    for threads in ["1", "2"] {
        let running = start(&mut folder.lanesum(["-j", threads, "fifo", "a"]));
        folder.writer("fifo").write_all(&content).unwrap();
        expect(&running.finish(), 0, line(&content, "fifo") + &lines(&["a"]), "");
    }
    let running = start(&mut folder.lanesum(["fifo"]));
    drop(folder.writer("fifo"));
    expect(&running.finish(), 0, format!("{EMPTY}  fifo\n"), "");
}

#[test]
fn two_fifos_of_one_writer_do_not_lock_each_other() {
    let folder = Folder::new();
    folder.fifo("a");
    folder.fifo("b");
    // Twice what a pipe holds goes through the first before the writer turns to the second ...
    let long = bytes(200_000);
    let running = start(&mut folder.lanesum(["-j", "2", "a", "b"]));
    folder.writer("a").write_all(&long).unwrap();
    folder.writer("b").write_all(b"abc").unwrap();
    expect(&running.finish(), 0, line(&long, "a") + &line("abc", "b"), "");
    // ... and what a pipe holds may wait for its turn.
    let running = start(&mut folder.lanesum(["-j", "2", "a", "b"]));
    folder.writer("b").write_all(b"abc").unwrap();
    folder.writer("a").write_all(&long).unwrap();
    expect(&running.finish(), 0, line(&long, "a") + &line("abc", "b"), "");
}

#[test]
fn regular_files_behind_a_fifo_keep_their_place() {
    let folder = Folder::new();
    folder.fifo("fifo");
    let mut expected = line("abc", "fifo");
    for i in 0..200 {
        let path = format!("t/{i:03}");
        folder.write(&path, &path);
        expected += &line(&path, &path);
    }
    let running = start(&mut folder.lanesum(["fifo", "t"]));
    folder.writer("fifo").write_all(b"abc").unwrap();
    expect(&running.finish(), 0, expected, "");
}

/// Files whose size is not what they hold: 0 in /proc, a page in /sys.
#[test]
fn pseudo_files_are_read_to_their_end() {
    let folder = Folder::new();
    let mut read = 0;
    for path in ["/proc/version", "/proc/filesystems", "/sys/devices/system/cpu/possible"] {
        let Ok(content) = fs::read(path) else {
            skip(path);
            continue;
        };
        assert_ne!(fs::metadata(path).unwrap().len(), content.len() as u64, "{path} is pseudo");
        expect(&folder.run(path), 0, line(&content, path), "");
        expect(
            &folder.run(&format!("-a crc32c,md5 {path}")).clone(),
            0,
            tagged(&content, path),
            "",
        );
        read += 1;
    }
    assert!(read > 0, "there is a /proc");
}

fn tagged(content: &[u8], path: &str) -> String {
    let crc = crc32c::crc32c(content);
    format!("MD5 ({path}) = {}\nCRC32C ({path}) = {crc:08x}\n", md5(content))
}
