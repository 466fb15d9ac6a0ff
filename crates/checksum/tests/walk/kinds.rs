//! Special files and unreadable files.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use rustix::process::{Uid, geteuid};
use rustix::thread::set_thread_res_uid;

use super::*;

fn make(path: &Path, file_type: FileType, device: u64) -> rustix::io::Result<()> {
    mknodat(CWD, path, file_type, Mode::RUSR | Mode::WUSR, device)
}

#[test]
fn pipes_and_sockets_in_a_tree_are_skipped_and_never_opened() {
    let tree = Tree::of(&["a", "z", "to-pipe -> pipe"]);
    make(&tree.path("pipe"), FileType::Fifo, 0).unwrap();
    let _socket = UnixListener::bind(tree.path("socket")).unwrap();
    assert_eq!(tree.walk(&plain()), ["a", "pipe: Fifo", "socket: Socket", "z"]);
    assert_eq!(
        tree.walk(&following()),
        ["a", "pipe: Fifo", "socket: Socket", "to-pipe: Fifo", "z"]
    );
}

#[test]
fn devices_in_a_tree_are_skipped() {
    let tree = Tree::of(&["null -> /dev/null"]);
    assert_eq!(tree.walk(&following()), ["null: CharDevice"]);
    // Only root makes devices, and not in every container.
    if make(&tree.path("char"), FileType::CharacterDevice, makedev(1, 3)).is_ok() {
        assert_eq!(tree.walk(&plain()), ["char: CharDevice"]);
    }
    if make(&tree.path("disk"), FileType::BlockDevice, makedev(7, 0)).is_ok() {
        assert_eq!(tree.walk(&plain()).last().unwrap(), "disk: BlockDevice");
    }
}

#[test]
fn special_files_given_by_name_are_files() {
    let tree = Tree::new();
    let pipe = tree.path("pipe");
    make(&pipe, FileType::Fifo, 0).unwrap();
    assert_eq!(files(&pipe, &plain()), [pipe]);
    assert_eq!(files("/dev/null", &plain()), [PathBuf::from("/dev/null")]);
}

#[test]
fn an_empty_directory_has_no_entries() {
    assert!(Tree::of(&["a/b/c/"]).walk(&plain()).is_empty());
}

#[test]
fn an_argument_that_cannot_be_reached_fails() {
    let tree = Tree::of(&["file", "self -> self", "gone -> nowhere"]);
    let long = "n".repeat(256);
    for (argument, error) in [
        ("missing", "No such file or directory"),
        ("gone", "No such file or directory"),
        ("self", "Too many levels of symbolic links"),
        ("file/x", "Not a directory"),
        ("file/", "Not a directory"),
        (&long, "File name too long"),
    ] {
        let root = tree.path("");
        let found: Vec<_> =
            walk(&tree.path(argument), &plain()).map(|entry| words(&entry, &root)).collect();
        assert_eq!(found, [format!("{}: {error}", argument.trim_end_matches('/'))]);
    }
    let entries: Vec<_> = walk(Path::new(""), &plain()).collect();
    assert!(matches!(entries.as_slice(), [Entry::Failed { .. }]), "{entries:?}");
}

#[test]
fn a_vanished_directory_fails_and_the_walk_continues() {
    let tree = Tree::of(&["a", "b/x", "c"]);
    let root = tree.path("");
    let mut walk = walk(&root, &plain());
    assert_eq!(words(&walk.next().unwrap(), &root), "a");
    fs::remove_dir_all(tree.path("b")).unwrap();
    let rest: Vec<_> = walk.map(|entry| words(&entry, &root)).collect();
    assert_eq!(rest, ["b: No such file or directory", "c"]);
}

#[test]
fn an_unreadable_directory_fails_and_the_walk_continues() {
    let tree = Tree::of(&["a", "b/x", "c"]);
    let mode = |mode| {
        fs::set_permissions(tree.path("b"), fs::Permissions::from_mode(mode)).unwrap();
    };
    fs::set_permissions(tree.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    mode(0o000);
    // Modes do not bind root, so that the walk is made by a thread that has given its rights away.
    let found = std::thread::scope(|scope| {
        let walk = || {
            if geteuid().is_root() {
                let nobody = Uid::from_raw(65534);
                set_thread_res_uid(None, nobody, None).unwrap();
            }
            tree.walk(&plain())
        };
        scope.spawn(walk).join().unwrap()
    });
    mode(0o700);
    assert_eq!(found, ["a", "b: Permission denied", "c"]);
}
