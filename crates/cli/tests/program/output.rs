//! Where a list goes, and what is left when it cannot go there.

use std::io::{BufRead as _, Read as _};
use std::os::unix::fs::PermissionsExt as _;
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
fn a_list_that_would_lack_a_file_is_not_written() {
    let folder = Folder::of(&["a"]);
    folder.write("old", "old");
    let words = "not written, since not all could be read; \
                 --exclude what cannot, or do without -o";
    for name in ["new", "old"] {
        let run = folder.run(&format!("-o {name} a missing"));
        let message =
            format!("lanesum: missing: No such file or directory\nlanesum: {name}: {words}\n");
        expect(&run, 1, "", message);
    }
    assert_eq!(folder.names(), ["a", "old"]);
    assert_eq!(folder.read("old"), "old");
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
    expect(&folder.run("--progress never -o list ."), 0, "", "");
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
fn what_is_no_regular_file_is_written_to_as_it_is() {
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
fn a_target_that_cannot_be_made_is_told() {
    let folder = Folder::of(&["a", "t/b"]);
    fs::set_permissions(folder.path("t"), fs::Permissions::from_mode(0o500)).unwrap();
    obey_modes();
    for (target, error) in [
        ("nowhere/list", "No such file or directory"),
        ("a/list", "Not a directory"),
        ("t/list", "Permission denied"),
        ("t", "Is a directory"),
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
        cat disk/old; ls -A disk";
    let run = output(folder.command("unshare").args(["-rm", "sh", "-c", script, PROGRAM]));
    if run.status.code() == Some(77) || run.stdout.is_empty() {
        return skip("this machine lets nobody mount anything");
    }
    let message =
        |name| format!("lanesum: disk/{name}: No space left on device; it is as it was\n");
    expect(&run, 0, "1\n1\noldold\n", message("old") + &message("new"));
}

#[test]
fn a_file_size_limit_leaves_no_half_list() {
    let (folder, _) = long_list();
    // Blocks of 512 bytes or of a KiB, as the shell has it: the list takes more than 200 KB.
    let script = "trap '' XFSZ; ulimit -f 64; \"$0\" -o list t";
    let run = output(folder.command("sh").args(["-c", script, PROGRAM]));
    expect(&run, 1, "", "lanesum: list: File too large; it is as it was\n");
    assert_eq!(folder.names(), ["t"]);
}
