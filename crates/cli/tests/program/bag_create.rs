//! `lanesum bag create`: what a new bag is, what cannot be one, and what a run leaves that was cut
//! off.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use super::bag_validate::{DECLARATION, validate};
use super::*;

/// A folder `b` of three files.
fn folder() -> Folder {
    Folder::of(&["b/a", "b/data/c", "b/sub/b"])
}

/// The names of all files below `b`, sorted.
fn all(folder: &Folder) -> Vec<String> {
    let run = output(folder.command("find").args(["b", "-type", "f"]));
    let mut names: Vec<_> = text(&run.stdout).lines().map(str::to_owned).collect();
    names.sort();
    names
}

/// It cannot be a bag for this reason, and is as it was.
#[track_caller]
fn refused(folder: &Folder, args: &str, stdout: &str, stderr: &str) {
    let before = all(folder);
    expect(&folder.run(&format!("bag create {args} b")), 1, stdout, stderr);
    assert_eq!(all(folder), before);
    assert!(!exists(folder.path("b/.lanesum-bag")));
}

/// The hint that a new bag ends with.
fn undo(folder: &str) -> String {
    format!(
        "hint: to undo: (cd {folder} && rm bagit.txt bag-info.txt manifest-*.txt tagmanifest-*.txt \
         && mv data .lanesum-undo && find .lanesum-undo -mindepth 1 -maxdepth 1 -exec mv {{}} . \\; \
         && rmdir .lanesum-undo)\n"
    )
}

#[test]
fn told_command_undoes_a_bag() {
    let folder = folder();
    folder.write("b/.hidden/x", "x");
    folder.write("b/bagit.txt.old", "x");
    let before = all(&folder);
    let run = folder.run("bag create -a md5,sha256 --include-hidden b");
    let hint = text(&run.stderr).lines().last().unwrap().replace("\\\\", "\\");
    let command = hint.strip_prefix("hint: to undo: ").unwrap();
    let run = output(folder.command("sh").args(["-c", command]));
    assert!(run.status.success(), "{run:?}");
    assert_eq!(all(&folder), before);
    assert_eq!(folder.read("b/data/c"), "b/data/c");
}

#[test]
fn home_directory_is_refused() {
    let folder = Folder::of(&["home/u/a", "home/u/b/c"]);
    let home = folder.path("home/u");
    for (args, words) in [
        ("home/u", "your home directory"),
        ("home", "contains your home directory"),
        ("home/u/.", "your home directory"),
        ("/", "the root directory cannot be a bag"),
    ] {
        let run = output(folder.lanesum(["bag", "create", args]).env("HOME", &home));
        assert_eq!(run.status.code(), Some(1), "{args}");
        assert!(text(&run.stderr).contains(words), "{args}: {}", text(&run.stderr));
    }
    assert_eq!(folder.names_in("home/u"), ["a", "b"]);
    let run = output(folder.lanesum(["bag", "create", "home/u/b"]).env("HOME", &home));
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
}

#[test]
fn hidden_files_are_refused_unless_included() {
    for hidden in ["b/.ssh/id", "b/sub/.git/config", "b/.x"] {
        let folder = folder();
        folder.write(hidden, "x");
        let name = hidden.strip_prefix("b/").unwrap();
        let told = format!(
            "lanesum: b: has a hidden file: {name}\nhint: move hidden files elsewhere, or include them: \
             --include-hidden\n"
        );
        refused(&folder, "", "", &told);
        let run = folder.run("bag create --include-hidden b");
        assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    }
}

#[test]
fn directory_becomes_a_bag() {
    let folder = folder();
    let inode = fs::metadata(folder.path("b/sub/b")).unwrap().ino();
    fs::set_permissions(folder.path("b"), fs::Permissions::from_mode(0o750)).unwrap();
    let run = folder.run("bag create -a md5,sha512 --info Contact-Name=Edna b");
    expect(&run, 0, "", "lanesum: b: now a bag: 3 files, 18 B\n".to_owned() + &undo("b"));
    let manifests = ["b/manifest-md5.txt", "b/manifest-sha512.txt"];
    let tags = ["b/tagmanifest-md5.txt", "b/tagmanifest-sha512.txt"];
    let payload = ["b/data/a", "b/data/data/c", "b/data/sub/b"];
    let names = [&["b/bag-info.txt", "b/bagit.txt"][..], &payload, &manifests, &tags].concat();
    assert_eq!(all(&folder), names);
    assert_eq!(folder.read("b/bagit.txt"), DECLARATION);
    let manifest =
        line("b/a", "data/a") + &line("b/data/c", "data/data/c") + &line("b/sub/b", "data/sub/b");
    assert_eq!(folder.read("b/manifest-md5.txt"), manifest);
    let listed = ["bag-info.txt", "bagit.txt", "manifest-md5.txt", "manifest-sha512.txt"];
    let listed = listed.map(|name| line(folder.read(&format!("b/{name}")), name)).concat();
    assert_eq!(folder.read("b/tagmanifest-md5.txt"), listed);
    let info = folder.read("b/bag-info.txt");
    let labels: Vec<_> = info.lines().filter_map(|line| Some(line.split_once(':')?.0)).collect();
    assert_eq!(labels, ["Contact-Name", "Bag-Software-Agent", "Bagging-Date", "Payload-Oxum"]);
    assert!(
        info.contains("Contact-Name: Edna\n") && info.ends_with("Payload-Oxum: 18.3\n"),
        "{info}"
    );
    // Moved, not copied.
    assert_eq!(fs::metadata(folder.path("b/data/sub/b")).unwrap().ino(), inode);
    assert_eq!(fs::metadata(folder.path("b/data")).unwrap().mode() & 0o777, 0o750);
    assert_eq!(validate(&folder, 0), (String::new(), String::new()));
}

#[test]
fn sha512_is_the_default() {
    let folder = folder();
    expect(
        &folder.run("bag create b/."),
        0,
        "",
        "lanesum: b/.: now a bag: 3 files, 18 B\n".to_owned() + &undo("b/."),
    );
    assert!(exists(folder.path("b/manifest-sha512.txt")));
    assert_eq!(folder.names_in("b").len(), 5);
}

#[test]
fn line_ends_in_names_are_encoded() {
    let folder = Folder::new();
    for name in ["100%", "a\nb", "c\rd", "e%0Af", "*g", " h"] {
        folder.write(format!("b/{name}"), name);
    }
    let run = folder.run("bag create -a md5 b");
    let percent = "its name contains `%`, written as %25 in manifests: bagit.py (its issue 157) and others do not find such files";
    let end = "its name contains a line end, written as %0D or %0A in manifests: some tools do not find such files";
    let warnings = |of: [&str; 4], words: [&str; 4]| -> String {
        let lines = of.into_iter().zip(words);
        lines.map(|(name, words)| format!("lanesum: {name}: warning: {words}\n")).collect()
    };
    let quoted = ["b/100%", "'b/a'$'\\n''b'", "'b/c'$'\\r''d'", "b/e%0Af"];
    let told = warnings(quoted, [percent, end, end, percent]);
    let done = "lanesum: b: now a bag: 6 files, 19 B\n";
    expect(&run, 0, "", told.clone() + done + &undo("b"));
    folder.write("b/data/new", "");
    let run = folder.run("bag update b");
    let told = told.replace("b/", "b/data/");
    assert!(run.stderr.starts_with(told.as_bytes()), "{}", text(&run.stderr));
    fs::remove_file(folder.path("b/data/new")).unwrap();
    folder.run("bag update --accept b");
    let manifest = folder.read("b/manifest-md5.txt");
    let names: Vec<_> = manifest.lines().map(|line| line.split_once("  ").unwrap().1).collect();
    let encoded = ["data/ h", "data/*g", "data/100%25", "data/a%0Ab", "data/c%0Dd", "data/e%250Af"];
    assert_eq!(names, encoded);
    assert_eq!(validate(&folder, 0), (String::new(), String::new()));
}

#[test]
fn links_and_pipes_are_listed_before_anything_moves() {
    let folder = folder();
    folder.link("a", "b/link");
    folder.fifo("b/sub/pipe");
    folder.write(b"b/\xff", "");
    refused(
        &folder,
        "",
        "b/link: a link, which a bag cannot hold; replace it by its target, or remove it\n\
         b/sub/pipe: a named pipe, which a bag cannot hold\n\
         'b/'$'\\377': its name is not UTF-8, as a bag requires; rename it\n",
        "lanesum: b: cannot become a bag; nothing was changed\n",
    );
}

#[test]
fn unreadable_file_leaves_the_directory_unchanged() {
    let folder = folder();
    let mode = |name: &str, mode| {
        fs::set_permissions(folder.path(name), fs::Permissions::from_mode(mode)).unwrap()
    };
    mode("b/a", 0o000);
    obey_modes();
    let why = "lanesum: b: cannot become a bag; nothing was changed\n";
    refused(&folder, "", "b/a: Permission denied\n", why);
    mode("b/a", 0o600);
    mode("b/sub", 0o000);
    expect(&folder.run("bag create b"), 1, "b/sub: Permission denied\n", why);
    // It can be read, but not be moved: what has moved before goes back.
    mode("b/sub", 0o500);
    let before = all(&folder);
    let run = folder.run("bag create b");
    assert_eq!(run.status.code(), Some(1), "{}", text(&run.stderr));
    assert!(text(&run.stderr).ends_with("b/sub: Permission denied\n"), "{}", text(&run.stderr));
    assert_eq!(all(&folder), before);
    assert!(!exists(folder.path("b/.lanesum-bag")));
    mode("b/sub", 0o700);
    // Nothing can be made in it.
    mode("b", 0o500);
    let run = folder.run("bag create b");
    assert_eq!(run.status.code(), Some(1), "{}", text(&run.stderr));
    let words = text(&run.stderr);
    assert_eq!(words, "lanesum: b: not writable: Permission denied\n");
    mode("b", 0o700);
    assert_eq!(all(&folder), before);
}

#[test]
fn mounted_file_system_prevents_a_bag() {
    let folder = Folder::of(&["b/a", "b/sub/mount/", "b/top/"]);
    let script = "mount -t tmpfs none b/sub/mount && mount -t tmpfs none b/top || exit 77
        mkdir b/sub/mount/c && touch b/sub/mount/c/d; \"$0\" bag create b";
    let run = output(folder.command("unshare").args(["-rm", "sh", "-c", script, PROGRAM]));
    if run.status.code() == Some(77) || run.stdout.is_empty() {
        return skip("this machine lets nobody mount anything");
    }
    let words =
        "on a different file system, which cannot move into a bag; unmount it, or copy its content";
    let told = format!("b/sub/mount: {words}\nb/top: {words}\n");
    expect(&run, 1, told, "lanesum: b: cannot become a bag; nothing was changed\n");
    assert_eq!(folder.names_in("b"), ["a", "sub", "top"]);
}

#[test]
fn empty_directories_are_warned_of() {
    let folder = Folder::of(&["b/a", "b/empty/"]);
    let words = "an empty directory, which manifests cannot hold";
    let told = format!("lanesum: b/empty: warning: {words}\nlanesum: b: now a bag: 1 file, 3 B\n");
    expect(&folder.run("bag create b"), 0, "", told.to_owned() + &undo("b"));
    let folder = Folder::of(&["b/"]);
    let told = "lanesum: b: warning: contains no files\nlanesum: b: now a bag: 0 files, 0 B\n";
    expect(&folder.run("bag create b"), 0, "", told.to_owned() + &undo("b"));
    validate(&folder, 0);
}

#[test]
fn bag_is_not_created_twice() {
    let folder = folder();
    folder.run("bag create b");
    let words = "already a bag\nhint: lanesum bag update b";
    refused(&folder, "", "", &format!("lanesum: b: {words}\n"));
}

#[test]
fn bag_without_declaration_is_restored_by_the_hint() {
    let folder = folder();
    assert_eq!(folder.run("bag create b").status.code(), Some(0));
    fs::remove_file(folder.path("b/bagit.txt")).unwrap();
    let declaration = r"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n";
    let command = format!("printf '{declaration}' >b/bagit.txt");
    let told =
        format!("lanesum: b: a bag without bagit.txt\nhint: to restore bagit.txt: {command}\n");
    refused(&folder, "--include-hidden", "", &told);
    expect(&folder.run("bag update b"), 1, "", &told);
    assert!(output(folder.command("sh").args(["-c", &command])).status.success());
    assert_eq!(validate(&folder, 0), (String::new(), String::new()));
}

#[test]
fn manifest_without_payload_is_refused() {
    let folder = Folder::of(&["b/a", "b/tagmanifest-md5.txt"]);
    let told = "lanesum: b: has tagmanifest-md5.txt, but no bagit.txt and no data/\n\
                hint: restore them, or move the manifest elsewhere\n";
    refused(&folder, "", "", told);
    expect(&folder.run("bag update b"), 1, "", told);
    // The manifest of a ship is content.
    fs::rename(folder.path("b/tagmanifest-md5.txt"), folder.path("b/manifest-ship.txt")).unwrap();
    assert_eq!(folder.run("bag create b").status.code(), Some(0));
}

#[test]
fn bag_in_a_payload_is_refused() {
    let folder = folder();
    folder.run("bag create b");
    let before = all(&folder);
    for inner in ["b/data", "b/data/sub"] {
        let run = folder.run(&format!("bag create {inner}"));
        assert_eq!((run.status.code(), text(&run.stdout)), (Some(1), String::new()));
        let words = text(&run.stderr);
        assert!(
            words.starts_with(&format!("lanesum: {inner}: in the payload of the bag /")),
            "{words}"
        );
        let end = "/b\nhint: create the bag outside of it\n";
        assert!(words.ends_with(end), "{words}");
    }
    assert_eq!(all(&folder), before);
    validate(&folder, 0);
    // A folder of a bag that is not of its payload, and one called data of something else.
    for (outer, inner) in [("b/tags/a", "b/tags"), ("c/data/a", "c/data")] {
        folder.write(outer, "");
        let run = folder.run(&format!("bag create {inner}"));
        assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    }
}

#[test]
fn leftovers_of_an_interrupted_run_are_warned_of() {
    let folder = folder();
    folder.write("b/list.md5.partial", "lanesum partial list 1\n");
    folder.write("b/sub/.lanesum-list.md5", "");
    folder.write("b/other.partial", "of something else, and longer than a head");
    let warning = |name: &str| {
        let words = "left by an interrupted run of lanesum; check that it belongs in the bag";
        format!("lanesum: b/{name}: warning: {words}\n")
    };
    let run = folder.run("bag create --include-hidden b");
    let told = warning("sub/.lanesum-list.md5") + &warning("list.md5.partial");
    expect(&run, 0, "", told + "lanesum: b: now a bag: 6 files, 82 B\n" + &undo("b"));
    let told = text(&folder.run("bag validate b").stderr);
    assert!(told.starts_with(&warning("data/sub/.lanesum-list.md5")), "{told}");
}

#[test]
fn wrong_arguments_fail_with_a_hint() {
    let folder = folder();
    for (args, words) in [
        ("-a blake3", "b: bags cannot have manifests of blake3"),
        ("--info Contact", "expected LABEL=VALUE"),
        ("--info =x", "invalid label"),
        ("--info a:b=x", "invalid label"),
        ("--info a=", "invalid value: empty"),
        ("--info payload-oxum=1.1", "lanesum computes Payload-Oxum; leave it out"),
    ] {
        let run = folder.run(&format!("bag create {args} b"));
        assert_eq!((run.status.code(), run.stdout.len()), (Some(2), 0), "{args}");
        assert!(text(&run.stderr).contains(words), "{}", text(&run.stderr));
    }
    expect(&folder.run("bag create gone"), 1, "", "lanesum: gone: No such file or directory\n");
    for verb in ["create", "update"] {
        let run = folder.run(&format!("bag {verb} b/a"));
        expect(&run, 1, "", "lanesum: b/a: not a directory\n");
    }
    expect(&folder.run("bag create /"), 1, "", "lanesum: /: the root directory cannot be a bag\n");
    assert_eq!(all(&folder), ["b/a", "b/data/c", "b/sub/b"]);
}

#[test]
fn interrupted_run_is_undone_first() {
    let folder = folder();
    // As it is after the first of three renames.
    fs::create_dir_all(folder.path("b/.lanesum-bag/data")).unwrap();
    fs::rename(folder.path("b/data"), folder.path("b/.lanesum-bag/data/data")).unwrap();
    folder.write("b/.lanesum-bag/manifest-sha512.txt", "half a li");
    let words = "undid an interrupted run";
    let done = format!("lanesum: b: {words}\nlanesum: b: now a bag: 3 files, 18 B\n");
    let (errors, _) = validate(&folder, 1);
    assert!(errors.contains("b/.lanesum-bag: left by an interrupted `lanesum bag`"), "{errors}");
    let update = "lanesum: b: incomplete: `lanesum bag create` was interrupted\n\
                  hint: lanesum bag create b\n";
    expect(&folder.run("bag update b"), 1, "", update);
    expect(&folder.run("bag create b"), 0, "", done + &undo("b"));
    assert_eq!(validate(&folder, 0), (String::new(), String::new()));
    assert_eq!(folder.read("b/data/data/c"), "b/data/c");
}

#[test]
fn nearly_complete_run_is_finished() {
    let folder = folder();
    folder.run("bag create b");
    // As it is after two of the last renames.
    fs::create_dir(folder.path("b/.lanesum-bag")).unwrap();
    for name in ["bagit.txt", "tagmanifest-sha512.txt", "bag-info.txt"] {
        fs::rename(folder.path(format!("b/{name}")), folder.path(format!("b/.lanesum-bag/{name}")))
            .unwrap();
    }
    validate(&folder, 1);
    folder.write("b/late", "put there before the next run");
    folder.write("b/new/c", "likewise");
    let run = folder.run("bag create -a md5 b");
    assert_eq!(run.status.code(), Some(1), "{}", text(&run.stderr));
    let words = "warning: added while this became a bag, and not part of it; move it into data/ and run `lanesum bag update`, or move it elsewhere";
    let told =
        format!("lanesum: b/late: {words}\nlanesum: b/new: {words}\nlanesum: b: now a bag: ");
    assert!(text(&run.stderr).starts_with(&told), "{}", text(&run.stderr));
    let words =
        "finished an interrupted run, with the -a and --info of that run\nhint: lanesum bag";
    assert!(text(&run.stderr).contains(words), "{}", text(&run.stderr));
    fs::remove_file(folder.path("b/late")).unwrap();
    fs::remove_dir_all(folder.path("b/new")).unwrap();
    assert_eq!(validate(&folder, 0), (String::new(), String::new()));
    assert_eq!(folder.names_in("b").len(), 5);
}

#[test]
fn files_of_other_programs_stay() {
    let folder = folder();
    folder.write("b/.lanesum-bag/notes", "mine");
    let run = folder.run("bag create b");
    assert_eq!(run.status.code(), Some(1), "{}", text(&run.stderr));
    assert!(
        text(&run.stderr).contains("/b/.lanesum-bag/notes exists already"),
        "{}",
        text(&run.stderr)
    );
    assert_eq!(folder.read("b/.lanesum-bag/notes"), "mine");

    // No run seals what has no payload or no manifest.
    for more in ["b/a", "b/data/c"] {
        let folder = Folder::of(&[more]);
        folder.write("b/.lanesum-bag/bagit.txt", DECLARATION);
        let run = folder.run("bag create b");
        assert_eq!(run.status.code(), Some(1), "{}", text(&run.stderr));
        assert!(text(&run.stderr).contains("/b/.lanesum-bag exists already"));
        assert_eq!(all(&folder), ["b/.lanesum-bag/bagit.txt", more]);
    }
}

#[test]
fn empty_staging_directory_is_reported_and_removed() {
    let folder = folder();
    folder.run("bag create b");
    let left = folder.path("b/.lanesum-bag");
    fs::create_dir(&left).unwrap();
    let words = "left empty by an interrupted `lanesum bag`; remove it";
    let told = format!("b/.lanesum-bag: warning: {words}\n");
    assert_eq!(validate(&folder, 0).1, told);
    let run = folder.run("bag create b");
    assert!(text(&run.stderr).contains("already a bag"), "{}", text(&run.stderr));
    assert!(!exists(left));
}
