//! What cannot be read: an error with the system's words, exit code 1, and the rest goes on.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

#[test]
fn unopenable_files_are_reported_in_order() {
    let folder = Folder::of(&["a", "z", "t/b"]);
    folder.link("self", "self");
    folder.link("nowhere", "dangling");
    let long = "l".repeat(256);
    let deep = "d/".repeat(2_048);
    for (path, error) in [
        ("missing", "No such file or directory"),
        ("dangling", "No such file or directory"),
        ("a/b", "Not a directory"),
        ("self", "Too many levels of symbolic links"),
        (&long, "File name too long"),
        (&deep, "No such file or directory"),
    ] {
        for threads in [1, 2] {
            let run = folder.run(&format!("-j {threads} a {path} z"));
            expect(&run, 1, lines(&["a", "z"]), format!("lanesum: {path}: {error}\n"));
        }
    }
    // An empty path is no path: more often than not a variable of a script that was not set.
    let run = output(&mut folder.lanesum(["a", "", "t"]));
    assert_eq!((run.status.code(), text(&run.stdout).as_str()), (Some(2), ""));
}

#[test]
fn unreadable_files_are_reported_in_order() {
    let folder = Folder::of(&["t/a", "t/b", "t/c/d", "t/e"]);
    let mode = |path, mode| {
        fs::set_permissions(folder.path(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("t/b", 0o000);
    mode("t/c", 0o000);
    obey_modes();
    let denied = "lanesum: t/b: Permission denied\nlanesum: t/c: Permission denied\n";
    expect(&folder.run("t"), 1, lines(&["t/a", "t/e"]), denied);
    mode("t/c", 0o700);
    let denied = "lanesum: t/b: Permission denied\n";
    expect(&folder.run("t/a t/b"), 1, lines(&["t/a"]), denied);
    folder.write("list", lines(&["t/a", "t/b"]));
    let checked = folder.run("check --quiet list");
    assert_eq!(checked.status.code(), Some(1));
    assert_eq!(text(&checked.stdout), "t/b: FAILED open or read\n");
    assert!(text(&checked.stderr).starts_with(denied), "{}", text(&checked.stderr));
}

/// The program's own memory begins with a page that nobody can read: the kernel says EIO.
#[test]
fn an_error_in_reading_is_told_in_its_place() {
    let folder = Folder::of(&["a", "z"]);
    let message = "lanesum: /proc/self/mem: Input/output error\n";
    for algorithms in ["md5", "sha256", "md5,sha256"] {
        let expected = folder.run(&format!("-a {algorithms} a z")).stdout;
        let run = folder.run(&format!("-a {algorithms} a /proc/self/mem z"));
        expect(&run, 1, expected, message);
    }
    // Through standard input, which is not read in a lane.
    let memory = File::open("/proc/self/mem").unwrap();
    let run = output(folder.lanesum(["a", "-", "z"]).stdin(memory));
    expect(&run, 1, lines(&["a", "z"]), "lanesum: -: Input/output error\n");
    folder.write("list", format!("{ABC}  /proc/self/mem\n"));
    let run = folder.run("check list");
    expect(&run, 1, "/proc/self/mem: FAILED open or read\n", message);
}

#[test]
fn a_folder_on_standard_input_is_an_error() {
    let folder = Folder::of(&["t/a"]);
    let run = output(folder.lanesum(["-"]).stdin(File::open(folder.path("t")).unwrap()));
    expect(&run, 1, "", "lanesum: -: Is a directory\n");
}

/// Nobody can be told then; the exit code stays what it is.
#[test]
fn messages_that_nobody_takes_do_not_change_the_exit_code() {
    let folder = Folder::of(&["a"]);
    let full = || File::options().write(true).open("/dev/full").unwrap();
    for (args, code) in [
        (&["--exclude", "[", "a"][..], 2),
        (&["--key-file", "gone", "-a", "blake3", "a"], 2),
        (&["--files0-from", "gone"], 1),
        (&["--nonsense"], 2),
        (&["sum", "gone"], 1),
    ] {
        let run = output(folder.lanesum(args).stderr(full()));
        assert_eq!(run.status.code(), Some(code), "{args:?}");
    }
    for args in ["--help", "--version", "check --help", "--generate man"] {
        let run = output(folder.lanesum(args.split(' ')).stdout(full()));
        assert_eq!(run.status.code(), Some(1), "{args}");
    }
}

/// So large a stack has no room in any address space.
#[test]
fn where_no_thread_can_be_started_one_does_it_all() {
    let folder = Folder::of(&["a"]);
    let without_threads = |args: &[&str]| {
        output(folder.lanesum(args).env("RUST_MIN_STACK", (1_u64 << 50).to_string()))
    };
    // More than are pulled ahead of the workers.
    let names = [&["md5sum"][..], &["a"; 2_500], &["missing", "a"]].concat();
    let expected = lines(&["a"]).repeat(2_501);
    let missing = "md5sum: missing: No such file or directory\n";
    expect(&without_threads(&names), 1, expected, missing);
    let list = lines(&["a"]).repeat(2);
    expect(&without_threads(&["a", "a"]), 0, &list, "");
    // No bar, and nobody to clean up after an interruption.
    expect(&without_threads(&["--progress", "always", "-o", "list", "a", "a"]), 0, "", "");
    assert_eq!(folder.read("list"), list);
    let check = without_threads(&["check", "--progress", "always", "--quiet", "list"]);
    assert_eq!((check.status.code(), text(&check.stdout)), (Some(0), String::new()));
}
