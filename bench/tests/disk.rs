//! The scenario `disk` with little data, through the program as one calls it.
//!
//! Where no disk can be made (without root, FUSE or loop devices, or in a container) the scenario
//! skips itself with a word, and so does what is tested here.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::TempDir;

/// 24 big files by this are one, 6,000 small ones are six.
const SCALE: &str = "1000";

/// One at a time: a run removes what another one left.
static ALONE: Mutex<()> = Mutex::new(());

struct Trial {
    folder: TempDir,
    _alone: MutexGuard<'static, ()>,
}

impl Trial {
    fn new() -> Self {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        Self { folder: tempfile::tempdir().unwrap(), _alone: alone }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A shell script in the place of lanesum.
    fn lanesum(&self, script: &str) {
        let path = self.path("lanesum");
        let version = r#"[ "$1" = --version ] && echo 'lanesum trial' && exit"#;
        fs::write(&path, format!("#!/bin/sh\n{version}\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Runs these cases with the baseline and lanesum; none where no disk can be made, after a
    /// word.
    fn run(&self, cases: &[&str]) -> Option<Output> {
        let scratch = self.path("scratch");
        fs::create_dir(&scratch).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_lanesum-bench"))
            .args(["disk", "--scale", SCALE, "--only", "lanesum", "--csv"])
            .args([self.path("out.csv").as_path(), "--scratch".as_ref(), &scratch])
            .args(["--lanesum".as_ref(), self.path("lanesum").as_path()])
            .args(cases.iter().flat_map(|case| ["--only", case]))
            .output()
            .unwrap();
        assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0, "something is left behind");
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
        assert!(!mounts.contains(scratch.to_str().unwrap()), "left mounted: {mounts}");
        let stdout = text(&output.stdout);
        let skipped = stdout.lines().find(|line| line.starts_with("skipped   disk"));
        if let Some(skipped) = skipped {
            assert!(output.status.success(), "{}", text(&output.stderr));
            eprintln!("not tested: {skipped}");
            return None;
        }
        Some(output)
    }

    fn rows(&self) -> Vec<Row> {
        let mut reader = csv::Reader::from_path(self.path("out.csv")).unwrap();
        let rows = reader.records().map(|record| {
            let record = record.unwrap();
            let number = |column: usize| record[column].parse().unwrap();
            Row {
                name: format!("{} {}", &record[1], &record[2]),
                bytes: number(6),
                seeks: number(14),
                disk_mb: number(15),
                busy_s: number(16),
            }
        });
        rows.collect()
    }
}

#[derive(Debug)]
struct Row {
    /// Case and implementation.
    name: String,
    bytes: f64,
    seeks: f64,
    disk_mb: f64,
    busy_s: f64,
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn every_case_reads_everything_from_its_disks_and_the_disks_are_gone_after_it() {
    let trial = Trial::new();
    trial.lanesum(
        r#"[ "$1" = check ] && exec md5sum -c --quiet "$3"
        find "$@" -type f -exec md5sum {} +"#,
    );
    let Some(output) = trial.run(&[]) else { return };
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    let rows = trial.rows();
    let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "big md5sum",
            "big lanesum",
            "big-list md5sum-sorted",
            "big-list lanesum",
            "small md5sum",
            "small lanesum",
            "small-list md5sum-sorted",
            "small-list lanesum",
            "mixed md5sum",
            "mixed lanesum",
            "two-disks md5sum",
            "two-disks lanesum",
            "far-big md5sum",
            "far-big lanesum",
            "far-small md5sum",
            "far-small lanesum",
        ]
    );
    for row in rows {
        assert!(row.disk_mb * 1e6 >= row.bytes, "not all comes from the disk: {row:?}");
        assert!(row.disk_mb * 1e6 < row.bytes + 4e6, "something is read twice: {row:?}");
        // What the model says, however long it takes: the least is the transfer.
        let far = row.name.starts_with("far");
        let rate = if far { 60.0 } else { 180.0 };
        assert!(row.busy_s > row.disk_mb / rate, "{row:?}");
        assert_eq!(row.seeks == 0.0, far, "{row:?}");
    }
}

#[test]
fn a_list_whose_wrong_line_is_not_told_fails_the_row() {
    let trial = Trial::new();
    trial.lanesum("exit 1");
    let Some(output) = trial.run(&["small-list"]) else { return };
    assert_eq!(output.status.code(), Some(1));
    let stdout = text(&output.stdout);
    assert!(stdout.contains("failed    lanesum: wrong answer: 0 names"), "{stdout}");
}

#[test]
fn a_signal_leaves_nothing_mounted_and_ends_with_130() {
    let trial = Trial::new();
    // $PPID is the launcher; the fourth field of its stat is its parent, the bench.
    trial.lanesum("read -r _ _ _ bench _ </proc/$PPID/stat; kill -INT $bench");
    let Some(output) = trial.run(&["small"]) else { return };
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
}

#[test]
fn a_disk_that_a_killed_run_left_is_removed_by_the_next() {
    let trial = Trial::new();
    trial.lanesum("read -r _ _ _ bench _ </proc/$PPID/stat; kill -KILL $bench");
    let scratch = trial.path("killed");
    fs::create_dir(&scratch).unwrap();
    let killed = Command::new(env!("CARGO_BIN_EXE_lanesum-bench"))
        .args(["disk", "--scale", SCALE, "--only", "small", "--only", "lanesum", "--lanesum"])
        .args([trial.path("lanesum").as_path(), "--scratch".as_ref(), &scratch])
        .output()
        .unwrap();
    let is_mounted = || {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
        mounts.contains(scratch.to_str().unwrap())
    };
    if killed.status.code().is_some() {
        eprintln!("not tested: {}", text(&killed.stdout));
        return;
    }
    assert!(is_mounted());
    trial.lanesum("exec find \"$@\" -type f -exec md5sum {} +");
    let output = trial.run(&["small"]).expect("a disk was made before");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("removed a disk that a killed run left"));
    assert!(!is_mounted());
}
