//! Roots that are added, renamed, away or full of links.

use super::*;

#[test]
fn renamed_root_is_proposed_and_relocated() {
    let folder = recorded(&["d/a", "d/b"]);
    rename(&folder, "d", "e");
    rewrite(&folder, "e/a", "content of d/X");
    let relocate =
        format!("lanesum relocate {} {}", folder.path("d").display(), folder.path("e").display());
    expect(&folder, "scan", 3, &["offline", &relocate]);
    expect(&folder, "status", 3, &["offline", &relocate]);
    expect(&folder, "add e", 2, &[&relocate]);
    expect(&folder, "relocate d e", 0, &[]);
    expect(&folder, "verify", 1, &["damaged", "e/a"]);
}

#[test]
fn different_directory_is_not_relocated_to() {
    let folder = recorded(&["d/a", "d/b"]);
    rename(&folder, "d", "away");
    folder.write("e/a", "something different");
    expect(&folder, "relocate d e", 2, &["0 of"]);
    expect(&folder, "scan", 3, &["offline"]);
    rename(&folder, "away", "d");
    expect(&folder, "verify", 0, &[]);
}

#[test]
fn new_disk_at_the_same_path_is_adopted() {
    let folder = recorded(&["d/a", "d/b"]);
    rename(&folder, "d", "old");
    for path in ["d/a", "d/b"] {
        write_old(&folder, path, format!("content of {path}"));
    }
    expect(&folder, "update", 3, &["offline"]);
    expect(&folder, "relocate d d", 0, &[]);
    expect(&folder, "verify", 0, &[]);
    expect(&folder, "status", 0, &[]);
}

#[test]
fn empty_directory_is_not_added() {
    let folder = recorded(&["d/a"]);
    fs::create_dir(folder.path("empty")).unwrap();
    expect(&folder, "add empty", 2, &["empty", "no files"]);
    let status = expect(&folder, "status", 0, &[]);
    assert!(!status.contains("empty"), "{status}");
    expect(&folder, "scan", 0, &[]);
}

#[test]
fn disk_that_is_not_mounted_leaves_its_records_alone() {
    let folder = recorded(&["d/a", "d/b"]);
    rename(&folder, "d", "disk");
    fs::create_dir(folder.path("d")).unwrap();
    for verb in ["scan", "update", "verify", "scrub", "nightly"] {
        let printed = expect(&folder, verb, 3, &["offline"]);
        assert!(!printed.contains("missing"), "{printed}");
    }
    fs::remove_dir(folder.path("d")).unwrap();
    rename(&folder, "disk", "d");
    expect(&folder, "update --changes", 0, &[]);
    expect(&folder, "status", 0, &[]);
}

#[test]
fn most_of_a_root_missing_is_offline() {
    let paths = many(150);
    let folder = recorded(&paths.iter().map(String::as_str).collect::<Vec<_>>());
    paths[..120].iter().for_each(|path| remove(&folder, path));
    expect(&folder, "update", 3, &["offline", "--max-gone"]);
    expect(&folder, "update --max-gone 100", 1, &["120 missing"]);
}

#[test]
fn links_are_counted() {
    let folder = Folder::of(&["elsewhere/b"]);
    write_old(&folder, "d/a", "a");
    folder.link("../elsewhere", "d/2019");
    expect(&folder, "add d", 0, &["1 symbolic link"]);
    expect(&folder, "scan", 0, &["1 symbolic link"]);
}

#[test]
fn special_files_are_counted() {
    let folder = Folder::of(&["d/a"]);
    let pipe = std::process::Command::new("mkfifo").arg(folder.path("d/pipe")).status().unwrap();
    assert!(pipe.success());
    let told = "skipped: 1 special file (pipe, socket or device)";
    for command in ["add d", "scan", "update"] {
        expect(&folder, command, 0, &[told]);
    }
    expect(&folder, "add --dry-run d", 0, &["d/pipe (pipe, socket or device, skipped)"]);
}

#[test]
fn directory_around_a_root_is_not_added() {
    let folder = recorded(&["e/d/a", "d/b"]);
    let told = "contains";
    let hint = "hint: add the other directories in . one by one, or first remove ";
    expect(&folder, "add .", 2, &[told, hint]);
    expect(&folder, "add e", 0, &[]);
}

#[test]
fn file_that_is_not_a_catalog_is_named() {
    let folder = Folder::of(&["d/a"]);
    folder.write("notes", "not a catalog\n");
    let told =
        "notes: not a catalog, or damaged at its start\nhint: name the catalog with --catalog";
    expect(&folder, "status --catalog notes", 4, &[told]);
    let told = "d: a directory, not a catalog\nhint: name the file: --catalog FILE\n";
    expect(&folder, "status --catalog d", 2, &[told]);
    expect(&folder, "scan --catalog d", 2, &[told]);
}

#[test]
fn directory_called_like_a_command_has_a_way() {
    let folder = Folder::new();
    write_old(&folder, "verify/a", "a");
    expect(&folder, "add verify", 0, &[]);
    expect(&folder, "./verify", 0, &["verify/a"]);
}

#[test]
fn old_command_names_the_new_ones() {
    let folder = recorded(&["d/a"]);
    expect(&folder, "audit", 2, &["scan", "verify"]);
}

#[test]
fn damaged_catalog_is_restored_from_its_backup() {
    let folder = recorded(&["d/a", "d/b"]);
    expect(&folder, "catalog backup copy.db", 0, &[]);
    let catalog = folder.path("catalog.db");
    let length = fs::metadata(&catalog).unwrap().len();
    File::options().write(true).open(&catalog).unwrap().set_len(length / 2).unwrap();
    expect(&folder, "catalog check", 4, &[]);
    expect(&folder, "update", 4, &["damaged"]);
    for end in ["", "-wal", "-shm"] {
        // The last two are there only after a crash.
        let _ = fs::remove_file(folder.path(format!("catalog.db{end}")));
    }
    rename(&folder, "copy.db", "catalog.db");
    expect(&folder, "catalog check", 0, &[]);
    expect(&folder, "verify", 0, &[]);
}

/// As sudo runs it: root has no catalog, the user has one.
#[test]
fn catalog_of_the_other_user_is_named() {
    let of_root = "/var/lib/lanesum/catalog.db";
    if !rustix::process::geteuid().is_root() || exists(of_root) {
        return skip("only root without a catalog can be told of the one of a user");
    }
    let folder = Folder::of(&["d/a"]);
    let mut nightly = folder.lanesum(["nightly"]);
    nightly.env_remove("LANESUM_CATALOG").env("SUDO_USER", "alice");
    let output = output(&mut nightly);
    let printed = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{printed}");
    for words in [of_root, "--catalog ~alice/.local/state/lanesum/catalog.db"] {
        assert!(printed.contains(words), "{printed}");
    }
}
