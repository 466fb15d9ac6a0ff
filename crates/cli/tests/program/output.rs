//! Where a list goes, and what is left when it cannot go there.

use std::io::{BufRead as _, Read as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::ExitStatusExt as _;

use super::*;

/// A folder with a tree whose list is longer than a pipe holds, and that list.
fn long_list() -> (Folder, String) {
    let folder = Folder::in_memory();
    let mut list = String::new();
    for i in 0..1_000 {
        let path = format!("t/{i:0200}");
        folder.write(&path, "");
        list += &format!("{EMPTY}  {path}\n");
    }
    (folder, list)
}

fn mode(folder: &Folder, name: &str) -> u32 {
    fs::metadata(folder.path(name)).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_reader_that_goes_away_ends_the_program_quietly() {
    let (folder, list) = long_list();
    let mut running = start(&mut folder.lanesum(["t"]));
    let mut stdout = running.stdout();
    let mut first = String::new();
    stdout.read_line(&mut first).unwrap();
    drop(stdout);
    let run = running.finish();
    assert_eq!(first, list[..=list.find('\n').unwrap()]);
    assert_eq!(text(&run.stderr), "");
    assert_eq!(run.status.signal(), Some(Signal::PIPE.as_raw()), "{:?}", run.status);

    folder.write("list", &list);
    let mut running = start(&mut folder.lanesum(["check", "list"]));
    drop(running.stdout());
    let run = running.finish();
    assert_eq!(text(&run.stderr), "");
    assert_eq!(run.status.signal(), Some(Signal::PIPE.as_raw()), "{:?}", run.status);
}

#[test]
fn a_full_standard_output_is_an_error() {
    let folder = Folder::of(&["a"]);
    folder.write("list", line("a", "a"));
    for args in ["a", "check list"] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let run = output(folder.lanesum(args.split_whitespace()).stdout(full));
        assert_eq!(run.status.code(), Some(1));
        assert_eq!(text(&run.stderr), "lanesum: write error: No space left on device\n");
    }
}

#[test]
fn a_list_appears_when_all_is_well() {
    let folder = Folder::of(&["t/a", "t/b"]);
    expect(&folder.run("-o list t"), 0, "", "");
    assert_eq!(folder.read("list"), lines(&["t/a", "t/b"]));
    expect(&folder.run("-o list t/b"), 0, "", "");
    assert_eq!(folder.read("list"), lines(&["t/b"]), "it is replaced");
    let list = folder.path("elsewhere");
    expect(&output(folder.lanesum(["t/a", "-o"]).arg(&list)), 0, "", "");
    assert_eq!(folder.read("elsewhere"), lines(&["t/a"]));
    assert_eq!(folder.names(), ["elsewhere", "list", "t"]);
}

#[test]
fn nothing_is_seen_of_a_list_before_it_is_whole() {
    let folder = Folder::of(&["a"]);
    folder.fifo("fifo");
    folder.write("old", "old");
    for name in ["new", "old"] {
        let running = start(&mut folder.lanesum(["a", "fifo", "-o", name]));
        let mut fifo = folder.writer("fifo");
        assert!(name == "old" || !exists(folder.path("new")));
        assert_eq!(folder.read("old"), "old");
        fifo.write_all(b"abc").unwrap();
        drop(fifo);
        expect(&running.finish(), 0, "", "");
        assert_eq!(folder.read(name), lines(&["a"]) + &line("abc", "fifo"));
    }
    assert_eq!(folder.names(), ["a", "fifo", "new", "old"]);
}

#[test]
fn list_without_unreadable_files_is_incomplete() {
    let folder = Folder::of(&["a", "t/b", "t/closed/c", "t/d e", "t/f"]);
    folder.write("old", "old");
    for closed in ["t/closed", "t/d e", "t/f"] {
        fs::set_permissions(folder.path(closed), fs::Permissions::from_mode(0o000)).unwrap();
    }
    obey_modes();
    let denied = |path| format!("lanesum: {path}: Permission denied\n");
    for name in ["new", "old"] {
        let run = folder.run(&format!("-o {name} a t/f"));
        let message =
            denied("t/f") + &format!("lanesum: {name}: incomplete: 1 file was left out: t/f\n");
        expect(&run, 1, "", message);
        assert_eq!(folder.read(name), lines(&["a"]));

        let run = folder.run(&format!("-o {name} a t"));
        let missing = "incomplete: 3 files or directories were left out: t/closed, 't/d e', t/f";
        let message = ["t/closed", "'t/d e'", "t/f"].map(denied).concat()
            + &format!("lanesum: {name}: {missing}\n");
        expect(&run, 1, "", message);
        assert_eq!(folder.read(name), lines(&["a", "t/b"]));
    }
    assert_eq!(folder.names(), ["a", "new", "old", "t"]);
}

#[test]
fn first_missing_files_are_named() {
    let folder = Folder::of(&["a"]);
    let missing: Vec<_> = (0..13).map(|i| format!("missing{i:02}")).collect();
    let run = folder.run(&format!("-o list a {}", missing.join(" ")));
    let told =
        format!("incomplete: 13 files were left out: {} and 3 more\n", missing[..10].join(", "));
    assert_eq!(text(&run.stderr).lines().count(), 14);
    assert!(text(&run.stderr).ends_with(&format!("lanesum: list: {told}")), "{run:?}");
    assert_eq!(folder.read("list"), lines(&["a"]));

    folder.write("names", "a\0\0");
    let run = folder.run("-o list --files0-from names");
    let message = "lanesum: names: name 2 is empty\n\
                   lanesum: list: incomplete: not all files could be read\n";
    expect(&run, 1, "", message);
    assert_eq!(folder.read("list"), lines(&["a"]));
}

#[test]
fn all_or_nothing_writes_no_incomplete_list() {
    let folder = Folder::of(&["a"]);
    folder.write("old", "old");
    let words = "not written: not all files could be read (--all-or-nothing)";
    for name in ["new", "old"] {
        let run = folder.run(&format!("--all-or-nothing -o {name} a missing"));
        let message =
            format!("lanesum: missing: No such file or directory\nlanesum: {name}: {words}\n");
        expect(&run, 1, "", message);
    }
    assert_eq!(folder.names(), ["a", "old"]);
    assert_eq!(folder.read("old"), "old");
    expect(&folder.run("--all-or-nothing -o old a"), 0, "", "");
    assert_eq!(folder.read("old"), lines(&["a"]));
    assert_eq!(folder.run("--all-or-nothing a").status.code(), Some(2));
}

#[test]
fn empty_list_replaces_nothing() {
    let folder = Folder::of(&["t/"]);
    folder.write("old", "old");
    for name in ["new", "old"] {
        let words = "not written: no file could be read";
        let message =
            format!("lanesum: missing: No such file or directory\nlanesum: {name}: {words}\n");
        expect(&folder.run(&format!("sum -o {name} missing")), 1, "", message);
    }
    assert_eq!(folder.read("old"), "old");
    assert_eq!(folder.names(), ["old", "t"]);
    // Nor where there is nothing: a disk that is not mounted leaves an empty folder.
    let nothing = "lanesum: old: not written: there are no files\n";
    for args in ["-o old t", "-o old --all-or-nothing t", "-o old --files0-from /dev/null"] {
        expect(&folder.run(args), 1, "", nothing);
        assert_eq!(folder.read("old"), "old");
    }
    expect(&folder.run("t"), 0, "", "lanesum: no files; the list is empty\n");
}

#[test]
fn list_does_not_replace_an_input() {
    let folder = Folder::of(&["a", "t/b"]);
    folder.link("a", "link");
    for (args, input) in [("-o a a", "a"), ("-o a t link", "link"), ("-o link ./a", "./a")] {
        let run = folder.run(args);
        assert_eq!(run.status.code(), Some(2), "{args}");
        let message = format!("lanesum: {input}: is an input, and would be replaced by the list");
        assert!(text(&run.stderr).starts_with(&message), "{}", text(&run.stderr));
        assert_eq!(folder.read("a"), "a");
    }
    // Also where it comes through standard input.
    for args in ["-o a -", "-o a t -", "-o a", "-o a --all-or-nothing t -", "-o a --files0-from -"]
    {
        let mut command = folder.lanesum(args.split(' '));
        let run = output(command.stdin(File::open(folder.path("a")).unwrap()));
        assert_eq!((run.status.code(), text(&run.stdout)), (Some(2), String::new()), "{args}");
        let message = "lanesum: -: is an input, and would be replaced by the list";
        assert!(text(&run.stderr).starts_with(message), "{}", text(&run.stderr));
        assert_eq!(folder.read("a"), "a");
    }
    // A list in the folder that it is of is what -o is for.
    expect(&folder.run("-o t/list t"), 0, "", "");
    expect(&folder.run("-o t/list t"), 0, "", "");
    assert_eq!(folder.read("t/list"), lines(&["t/b"]));
    expect(&folder.run("-o - a"), 0, lines(&["a"]), "");
    assert_eq!(folder.names(), ["a", "link", "t"]);
    for args in ["-o key -a blake3 --key-file key a", "--all-or-nothing -o /dev/stdout a"] {
        folder.write("key", [7; 32]);
        assert_eq!(folder.run(args).status.code(), Some(2), "{args}");
        assert_eq!(folder.read("key").as_bytes(), [7; 32]);
    }
}

#[test]
fn the_mode_is_the_old_one_or_as_the_umask_says() {
    let folder = Folder::of(&["a"]);
    for umask in ["022", "077", "002"] {
        let script = format!("umask {umask}; \"$0\" -o {umask} a");
        expect(&output(folder.command("sh").args(["-c", &script, PROGRAM])), 0, "", "");
        let umask = u32::from_str_radix(umask, 8).unwrap();
        assert_eq!(mode(&folder, &format!("{umask:03o}")), 0o666 & !umask);
    }
    folder.write("old", "old");
    fs::set_permissions(folder.path("old"), fs::Permissions::from_mode(0o640)).unwrap();
    expect(&folder.run("-o old a"), 0, "", "");
    assert_eq!((mode(&folder, "old"), folder.read("old")), (0o640, lines(&["a"])));
}

#[test]
fn a_list_in_the_tree_that_it_lists_is_left_out() {
    let folder = Folder::of(&["t/a", "t/u/list"]);
    for _ in 0..2 {
        expect(&folder.run("-o t/list t"), 0, "", "");
        assert_eq!(folder.read("t/list"), lines(&["t/a", "t/u/list"]));
    }
    expect(&folder.run("check --quiet --status t/list"), 0, "", "");
    // However its folder is called.
    folder.link("t", "link");
    expect(&folder.run("-o link/../t/./list ./t"), 0, "", "");
    let expected = line("t/a", "./t/a") + &line("t/u/list", "./t/u/list");
    assert_eq!(folder.read("t/list"), expected);
    let told = "lanesum: skipped 1 link\nhint: --follow follows links\n";
    expect(&folder.run("--progress never -o list ."), 0, "", told);
    assert!(!folder.read("list").contains("./list"), "{}", folder.read("list"));
}

#[test]
fn a_link_stays_and_what_it_leads_to_is_written() {
    let folder = Folder::of(&["a", "there/old"]);
    folder.link("there/old", "link");
    folder.link("there/new", "dangling");
    folder.link("dangling", "chain");
    for (link, target) in [("link", "there/old"), ("dangling", "there/new"), ("chain", "there/new")]
    {
        expect(&folder.run(&format!("-o {link} a")), 0, "", "");
        assert_eq!(folder.read(target), lines(&["a"]));
        assert!(fs::symlink_metadata(folder.path(link)).unwrap().is_symlink(), "{link}");
        fs::remove_file(folder.path(target)).unwrap();
    }
    folder.link("self", "self");
    let message = "lanesum: self: Too many levels of symbolic links\n";
    expect(&folder.run("-o self a"), 1, "", message);
}

#[test]
fn special_file_is_written_in_place() {
    let folder = Folder::of(&["a"]);
    folder.fifo("fifo");
    let running = start(&mut folder.lanesum(["-o", "fifo", "a"]));
    let mut list = String::new();
    File::open(folder.path("fifo")).unwrap().read_to_string(&mut list).unwrap();
    expect(&running.finish(), 0, "", "");
    assert_eq!(list, lines(&["a"]));
    expect(&folder.run("-o /dev/null a"), 0, "", "");
}

#[test]
fn a_list_goes_where_a_descriptor_leads() {
    let folder = Folder::of(&["t/a", "t/b"]);
    let list = lines(&["t/a", "t/b"]);
    let bash = |script: &str| output(folder.command("bash").args(["-c", script, PROGRAM]));
    expect(&bash("\"$0\" -o /dev/stdout t"), 0, &list, "");
    expect(&bash("\"$0\" -o /dev/fd/5 t 5>&1 >/dev/null"), 0, &list, "");
    expect(&bash("mkfifo wait; \"$0\" -o >(cat >got; echo >wait) t; cat wait"), 0, "\n", "");
    assert_eq!(folder.read("got"), list);
    // What is there stays where a shell adds to it.
    expect(&bash("echo old >added; \"$0\" -o /dev/stdout t >>added"), 0, "", "");
    assert_eq!(folder.read("added"), format!("old\n{list}"));
    // Whoever has the file open goes on behind the list.
    folder.write("open", "old\n");
    expect(&bash("(\"$0\" -o /dev/fd/5 t; echo end >&5) 5>>open"), 0, "", "");
    assert_eq!(folder.read("open"), format!("old\n{list}end\n"));
    // A file without a name.
    expect(&bash("exec 5>gone; rm gone; \"$0\" -o /dev/fd/5 t; cat /dev/fd/5"), 0, &list, "");
    assert_eq!(folder.names(), ["added", "got", "open", "t", "wait"]);
}

#[test]
fn a_list_goes_to_a_socket_that_is_standard_output() {
    let folder = Folder::of(&["a"]);
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let theirs = std::os::fd::OwnedFd::from(theirs);
    let run = output(folder.lanesum(["-o", "/dev/stdout", "a"]).stdout(theirs));
    expect(&run, 0, "", "");
    assert_eq!(io::read_to_string(ours).unwrap(), lines(&["a"]));
}

#[test]
fn a_list_that_may_not_be_written_is_told_before_anything_is_read() {
    let folder = Folder::of(&["a"]);
    folder.fifo("fifo");
    folder.write("list", "old");
    fs::set_permissions(folder.path("list"), fs::Permissions::from_mode(0o444)).unwrap();
    obey_modes();
    // Who opened the FIFO would wait for ever.
    expect(&folder.run("-o list fifo"), 1, "", "lanesum: list: Permission denied\n");
    assert_eq!((folder.read("list").as_str(), mode(&folder, "list")), ("old", 0o444));
    assert_eq!(folder.names(), ["a", "fifo", "list"]);
}

fn inode(folder: &Folder, name: &str) -> u64 {
    fs::metadata(folder.path(name)).unwrap().ino()
}

#[test]
fn a_list_keeps_its_owner() {
    let folder = Folder::of(&["a"]);
    fs::set_permissions(folder.path(""), fs::Permissions::from_mode(0o777)).unwrap();
    folder.write("list", "a longer list than what comes\n".repeat(3));
    fs::set_permissions(folder.path("list"), fs::Permissions::from_mode(0o646)).unwrap();
    if std::os::unix::fs::chown(folder.path("list"), Some(1), Some(2)).is_err() {
        return skip("only root may give files away");
    }
    let before = inode(&folder, "list");
    let owner = || {
        let list = fs::metadata(folder.path("list")).unwrap();
        (list.uid(), list.gid(), list.mode() & 0o7777)
    };
    expect(&folder.run("-o list a"), 0, "", "");
    assert_eq!((owner(), folder.read("list")), ((1, 2, 0o646), lines(&["a"])));
    assert_ne!(inode(&folder, "list"), before, "the whole list took its place");

    // Somebody who may write to it, and not give files away: it is overwritten.
    let before = inode(&folder, "list");
    let mut command = folder.command("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", PROGRAM]);
    let run = output(command.args(["-o", "list", "/dev/null"]));
    if text(&run.stderr).contains("setpriv") {
        return skip("somebody else may not run the program here");
    }
    expect(&run, 0, "", "");
    let list = format!("{EMPTY}  /dev/null\n");
    assert_eq!((owner(), folder.read("list")), ((1, 2, 0o646), list));
    assert_eq!(inode(&folder, "list"), before);
    assert_eq!(folder.names(), ["a", "list"]);
}

#[test]
fn a_list_of_several_names_keeps_them() {
    let folder = Folder::of(&["t/a"]);
    folder.write("list", "a longer list than what comes\n".repeat(3));
    fs::hard_link(folder.path("list"), folder.path("t/link")).unwrap();
    expect(&folder.run("-o list t"), 0, "", "");
    assert_eq!(folder.read("list"), lines(&["t/a"]), "without its other name");
    assert_eq!(inode(&folder, "list"), inode(&folder, "t/link"));
    assert_eq!(folder.names(), ["list", "t"]);
}

#[test]
fn a_list_keeps_what_is_attached_to_it() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    let folder = Folder::of(&["a"]);
    // The version; then kind, rights and number of each entry: user 2 may read.
    let entries: [(u16, u16, u32); 5] =
        [(1, 6, !0), (2, 4, 2), (4, 4, !0), (0x10, 4, !0), (0x20, 0, !0)];
    let mut acl = 2_u32.to_le_bytes().to_vec();
    for (kind, rights, number) in entries {
        acl.extend([kind.to_le_bytes(), rights.to_le_bytes()].concat());
        acl.extend(number.to_le_bytes());
    }
    for (name, value) in [("user.note", b"abc".to_vec()), ("system.posix_acl_access", acl)] {
        folder.write("list", "old");
        let list = folder.path("list");
        if setxattr(&list, name, &value, XattrFlags::empty()).is_err() {
            return skip("this file system has no such attributes");
        }
        expect(&folder.run("-o list a"), 0, "", "");
        assert_eq!(folder.read("list"), lines(&["a"]));
        let mut kept = [0; 100];
        let length = getxattr(&list, name, &mut kept[..]).unwrap();
        assert_eq!(kept[..length], value, "{name}");
        fs::remove_file(list).unwrap();
    }
}

#[test]
fn who_may_write_to_a_list_need_not_have_its_folder() {
    let folder = Folder::of(&["a", "t/list"]);
    fs::set_permissions(folder.path("t"), fs::Permissions::from_mode(0o500)).unwrap();
    obey_modes();
    let before = inode(&folder, "t/list");
    expect(&folder.run("-o t/list a"), 0, "", "");
    assert_eq!((folder.read("t/list"), inode(&folder, "t/list")), (lines(&["a"]), before));
}

#[test]
fn standard_output_is_left_out_of_what_it_holds() {
    let folder = Folder::of(&["t/a", "t/z"]);
    let list = lines(&["t/a", "t/z"]);
    let note = |name| format!("lanesum: {name}: skipped, because the output goes there\n");
    let to = |file: File, args: &[&str]| output(folder.lanesum(args).stdout(file));
    let make = || File::create(folder.path("t/list")).unwrap();
    let add = || File::options().append(true).open(folder.path("t/list")).unwrap();
    expect(&to(make(), &["t"]), 0, "", note("t/list"));
    assert_eq!(folder.read("t/list"), list);
    expect(&to(add(), &["t/a", "t/list"]), 0, "", note("t/list"));
    assert_eq!(folder.read("t/list"), format!("{list}{}", lines(&["t/a"])));
    fs::hard_link(folder.path("t/list"), folder.path("t/m")).unwrap();
    expect(&to(make(), &["t"]), 0, "", note("t/list") + &note("t/m"));
    assert_eq!(folder.read("t/list"), list);
    // With -o nothing goes there.
    folder.write("out", "");
    let run = to(File::create(folder.path("out")).unwrap(), &["-o", "t/list", "out"]);
    expect(&run, 0, "", "");
    assert_eq!(folder.read("t/list"), format!("{EMPTY}  out\n"));
}

#[test]
fn a_list_is_known_through_a_mount() {
    let folder = Folder::of(&["t/a", "mount/", "old"]);
    let script = "mount --bind t mount || exit 77
        \"$0\" -o t/list mount; cat t/list; \"$0\" -o t/list mount; cat t/list
        touch place; mount --bind old place; \"$0\" -o place t/a; umount place; cat old";
    let run = output(folder.command("unshare").args(["-rm", "sh", "-c", script, PROGRAM]));
    if run.status.code() == Some(77) || run.stdout.is_empty() {
        return skip("this machine lets nobody mount anything");
    }
    let list = line("t/a", "mount/a");
    expect(&run, 0, list.clone() + &list + &lines(&["t/a"]), "");
    assert_eq!(fs::read_dir(folder.path("t")).unwrap().count(), 2);
}

#[test]
fn a_target_that_cannot_be_made_is_told() {
    let folder = Folder::of(&["a", "t/b"]);
    fs::set_permissions(folder.path("t"), fs::Permissions::from_mode(0o500)).unwrap();
    obey_modes();
    for (target, error) in [
        ("nowhere/list", "No such file or directory"),
        ("a/list", "Not a directory"),
        ("t/list", "Permission denied"),
        ("t", "is a directory; -o names the file for the list"),
        ("new/", "No such file or directory"),
        ("new/.", "No such file or directory"),
    ] {
        let run = folder.run(&format!("-o {target} a"));
        expect(&run, 1, "", format!("lanesum: {target}: {error}\n"));
    }
    assert_eq!(folder.names(), ["a", "t"]);
}

#[test]
fn a_full_disk_leaves_no_half_list() {
    let (folder, _) = long_list();
    expect(&folder.run("-o /dev/full t"), 1, "", "lanesum: /dev/full: No space left on device\n");

    fs::create_dir(folder.path("disk")).unwrap();
    let script = "mount -t tmpfs -o size=64k none disk || exit 77
        printf old > disk/old
        for name in old new; do \"$0\" -o disk/$name t; echo $?; done
        cat disk/old; ls -A disk; ln disk/old disk/two; \"$0\" -o disk/old t; cat disk/two
        \"$0\" t | \"$0\" convert --to tag -o disk/old; cat disk/two";
    let run = output(folder.command("unshare").args(["-rm", "sh", "-c", script, PROGRAM]));
    if run.status.code() == Some(77) || run.stdout.is_empty() {
        return skip("this machine lets nobody mount anything");
    }
    let message =
        |name| format!("lanesum: disk/{name}: No space left on device; the file is unchanged\n");
    let messages = message("old") + &message("new") + &message("old") + &message("old");
    expect(&run, 0, "1\n1\noldold\noldold", messages);
}

#[test]
fn a_file_size_limit_leaves_no_half_list() {
    let (folder, _) = long_list();
    // Blocks of 512 bytes or of a KiB, as the shell has it: the list takes more than 200 KB.
    for script in ["ulimit -f 64; \"$0\" -o list t", "trap '' XFSZ; ulimit -f 64; \"$0\" -o list t"]
    {
        let run = output(folder.command("sh").args(["-c", script, PROGRAM]));
        expect(&run, 1, "", "lanesum: list: File too large; the file is unchanged\n");
        assert_eq!(folder.names(), ["t"]);
    }
}
