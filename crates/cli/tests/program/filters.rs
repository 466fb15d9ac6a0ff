//! What of a tree is read: links, patterns, file systems.

use rustix::fs::{OFlags, mkdirat, openat};

use super::*;

#[test]
fn links_in_a_tree_are_skipped_unless_followed() {
    let folder = Folder::of(&["t/a", "u/b"]);
    folder.link("a", "t/to-file");
    folder.link("../u", "t/to-folder");
    let told = "lanesum: skipped 2 links\nhint: --follow follows links\n";
    expect(&folder.run("t"), 0, lines(&["t/a"]), told);
    let told = "lanesum: skipped 1 link\nhint: --follow follows links\n";
    expect(&folder.run("--exclude to-file t"), 0, lines(&["t/a"]), told);
    let followed = lines(&["t/a"]) + &line("t/a", "t/to-file") + &line("u/b", "t/to-folder/b");
    expect(&folder.run("--follow t"), 0, followed, "");
}

#[test]
fn a_link_given_as_argument_is_always_followed() {
    let folder = Folder::of(&["a", "t/b"]);
    folder.link("a", "to-file");
    folder.link("t", "to-folder");
    let expected = line("a", "to-file") + &line("t/b", "to-folder/b");
    expect(&folder.run("to-file to-folder"), 0, expected, "");
}

#[test]
fn followed_broken_links_fail() {
    let folder = Folder::of(&["t/a"]);
    folder.link("nowhere", "t/gone");
    folder.link("self", "t/self");
    let told = "lanesum: skipped 2 links\nhint: --follow follows links\n";
    expect(&folder.run("t"), 0, lines(&["t/a"]), told);
    let messages = "lanesum: t/gone: No such file or directory\n\
                    lanesum: t/self: Too many levels of symbolic links\n";
    expect(&folder.run("--follow t"), 1, lines(&["t/a"]), messages);
}

#[test]
fn a_loop_of_links_is_told_and_ends() {
    let folder = Folder::of(&["t/a/x", "t/b/y"]);
    folder.link("../../t", "t/a/up");
    folder.link("../b", "t/b/self");
    folder.link("../b", "t/a/b");
    let run = folder.run("--follow t");
    let expected = line("t/b/y", "t/a/b/y") + &lines(&["t/a/x", "t/b/y"]);
    let message =
        |path| format!("lanesum: {path}: link back to a directory that contains it, skipped\n");
    let messages: String = ["t/a/b/self", "t/a/up", "t/b/self"].map(message).concat();
    expect(&run, 0, expected, messages);
}

#[test]
fn excluded_names_are_left_out() {
    let folder = Folder::of(&["t/a.o", "t/b.c", "t/d/c.o", "t/d/e", "t/o/d/f", "top.o"]);
    expect(&folder.run("--exclude *.o t"), 0, lines(&["t/b.c", "t/d/e", "t/o/d/f"]), "");
    let run = folder.run("--exclude d --exclude *.c t");
    expect(&run, 0, lines(&["t/a.o"]), "");
    // With a slash: below the argument only.
    let run = folder.run("--exclude /d t");
    expect(&run, 0, lines(&["t/a.o", "t/b.c", "t/o/d/f"]), "");
}

#[test]
fn gitignore_skips_ignored_files() {
    let folder = Folder::of(&["t/a", "t/b.log", "t/c/d.log", "t/c/keep.log", "t/.git/HEAD"]);
    folder.write("t/.gitignore", "*.log\n");
    folder.write("t/c/.gitignore", "!keep.log\n");
    // Without git the rules decide.
    let mut command = folder.lanesum(["--gitignore", "--exclude", ".gitignore", "t"]);
    let run = output(command.env("PATH", "nowhere"));
    expect(&run, 0, lines(&["t/a", "t/c/keep.log"]), "");
    let run = folder.run("--exclude .gitignore t");
    let all = ["t/.git/HEAD", "t/a", "t/b.log", "t/c/d.log", "t/c/keep.log"];
    expect(&run, 0, lines(&all), "");
}

#[test]
fn a_walk_can_stay_on_its_file_system() {
    let folder = Folder::of(&["t/a", "t/mounted/hidden", "t/z"]);
    let script = "mount -t tmpfs none t/mounted || exit 77
        printf other > t/mounted/other
        \"$0\" t && \"$0\" --one-file-system t && \"$0\" --one-file-system t/mounted";
    let mut command = folder.command("unshare");
    let run = output(command.args(["-rm", "sh", "-c", script, PROGRAM]));
    if run.stdout.is_empty() {
        return skip("this machine lets nobody mount anything");
    }
    let other = line("other", "t/mounted/other");
    let [a, z] = ["t/a", "t/z"].map(|path| line(path, path));
    expect(&run, 0, format!("{a}{other}{z}{a}{z}{other}"), "");
}

/// Runs git in a folder, apart from the configuration of whoever runs this; false if there is none.
fn git(folder: &Folder, args: &str) -> bool {
    let mut command = folder.command("git");
    let command = command.args(args.split(' ')).env("GIT_CONFIG_GLOBAL", "/dev/null");
    match command.output() {
        Ok(output) => output.status.success(),
        Err(_) => {
            skip("there is no git");
            false
        }
    }
}

#[test]
fn tracked_files_are_not_ignored() {
    let folder = Folder::of(&["t/a.o", "t/b.o", "t/c", "t/d/e.o", "other/x"]);
    folder.write("t/.gitignore", "*.o\n.gitignore\n");
    if !(git(&folder, "init -q t") && git(&folder, "-C t add -f b.o d/e.o")) {
        return;
    }
    let all = lines(&["t/b.o", "t/c", "t/d/e.o"]);
    expect(&folder.run("--gitignore t"), 0, &all, "");
    expect(&folder.run("--gitignore t/d"), 0, lines(&["t/d/e.o"]), "");
    // What leads git elsewhere does not lead lanesum there.
    assert!(git(&folder, "init -q other"));
    let mut command = folder.lanesum(["--gitignore", "t"]);
    for (name, value) in [
        ("GIT_DIR", "other/.git"),
        ("GIT_WORK_TREE", "other"),
        ("GIT_INDEX_FILE", "other/index"),
        ("GIT_LITERAL_PATHSPECS", "x"),
        ("GIT_TRACE", "1"),
    ] {
        command.env(name, value);
    }
    expect(&output(&mut command), 0, &all, "");
    // Without git.
    let mut command = folder.lanesum(["--gitignore", "t"]);
    expect(&output(command.env("PATH", "other")), 0, lines(&["t/c"]), "");
    // A repository that git does not read.
    folder.write("t/.git/HEAD", "");
    let run = folder.run("--gitignore t");
    let message = "lanesum: t/.git: git does not list tracked files; the .gitignore files alone \
                   decide\nhint: git -C t status\n";
    expect(&run, 0, lines(&["t/c"]), message);
}

#[test]
fn paths_longer_than_the_system_takes_go_into_a_list_and_are_checked() {
    let folder = Folder::of(&["t/a", "t/z"]);
    let name = "d".repeat(255);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let mut deepest = openat(CWD, folder.path("t"), flags, Mode::empty()).unwrap();
    for _ in 0..20 {
        mkdirat(&deepest, name.as_str(), Mode::RWXU).unwrap();
        deepest = openat(&deepest, name.as_str(), flags, Mode::empty()).unwrap();
    }
    let create = |name: &str, content: &[u8]| {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
        let file = openat(&deepest, name, flags, Mode::RUSR | Mode::WUSR).unwrap();
        rustix::io::write(file, content).unwrap();
    };
    let names = ["x", "y", "z"];
    names.iter().for_each(|name| create(name, b"abc"));
    let deep = format!("t/{}", format!("{name}/").repeat(20));
    let deep_lines: String = names.map(|name| format!("{ABC}  {deep}{name}\n")).concat();
    let run = folder.run("t");
    expect(&run, 0, lines(&["t/a"]) + &deep_lines + &lines(&["t/z"]), "");
    for args in [format!("{deep}x {deep}y {deep}z"), deep.clone(), format!("{deep}//")] {
        let run = folder.run(&args);
        assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
        assert_eq!(run.stdout.len(), deep_lines.len() + 3 * usize::from(args.ends_with("//")) * 2);
    }
    folder.write("list", &run.stdout);
    for io in ["auto", "read", "mmap"] {
        expect(&folder.run(&format!("check --status --io {io} list")), 0, "", "");
    }
    create("y", b"abd");
    let run = folder.run("check --quiet list");
    assert_eq!(run.status.code(), Some(1));
    assert_eq!(String::from_utf8(run.stdout).unwrap(), format!("{deep}y: FAILED\n"));
    // One that is not there, and a name that is too long in itself.
    let run = folder.run(&format!("{deep}w"));
    expect(&run, 1, "", format!("lanesum: {deep}w: No such file or directory\n"));
    let long = "x".repeat(5_000);
    let run = folder.run(&long);
    expect(&run, 1, "", format!("lanesum: {long}: File name too long\n"));
}
