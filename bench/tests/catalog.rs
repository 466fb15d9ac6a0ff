//! The scenario `catalog` at its smallest, with a script in the place of lanesum.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

/// Runs the case `unchanged` with ten files; `update` is what lanesum says of them.
fn unchanged(folder: &Path, update: &str) -> Output {
    let lanesum = folder.join("lanesum");
    let script = format!(
        "#!/bin/sh\ncase $1 in\n\
         --version) echo 'lanesum trial' ;;\n\
         add) echo 'lanesum: /x: add: 10 recorded; 10 files read, 40.96 kB' >&2 ;;\n\
         update) echo 'lanesum: /x: update: {update}' >&2 ;;\n\
         esac\n"
    );
    fs::write(&lanesum, script).unwrap();
    fs::set_permissions(&lanesum, fs::Permissions::from_mode(0o755)).unwrap();
    let scratch = folder.join("scratch");
    fs::create_dir(&scratch).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_lanesum-bench"))
        .args(["catalog", "--scale", "10000", "--rounds", "2"])
        .args(["--only", "unchanged", "--only", "lanesum-update", "--scratch"])
        .arg(&scratch)
        .arg("--lanesum")
        .arg(&lanesum)
        .output()
        .unwrap();
    assert_eq!(fs::read_dir(scratch).unwrap().count(), 0, "test files are left behind");
    output
}

#[test]
fn update_without_changes_has_a_row() {
    let folder = tempfile::tempdir().unwrap();
    let output = unchanged(folder.path(), "no changes; 0 files read, 0 B");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    for part in ["catalog unchanged: 10 items", " find ", " lanesum-update "] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

#[test]
fn update_that_misses_a_file_has_no_row() {
    let folder = tempfile::tempdir().unwrap();
    let output = unchanged(folder.path(), "1 missing; 0 files read, 0 B");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("failed    lanesum-update: wrong answer: no "), "{text}");
}
