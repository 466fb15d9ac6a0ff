//! The scenario `files` at its smallest, through the program as one calls it.
//!
//! Nothing here looks at a duration: whether rows, answers and exit codes are right is what counts.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// 100,000 files by this are ten.
const SCALE: &str = "10000";

struct Trial {
    folder: TempDir,
}

impl Trial {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A shell script in the place of lanesum. It is called as `-a md5 -j 1 DIR`, after `--version`
    /// is answered.
    fn lanesum(&self, script: &str) -> PathBuf {
        let path = self.path("lanesum");
        let version = r#"[ "$1" = --version ] && echo 'lanesum trial' && exit"#;
        fs::write(&path, format!("#!/bin/sh\n{version}\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// Runs the case 4KiB with ten files in two rounds, with the baseline, the limit and `more`.
    fn run(&self, lanesum: &Path, more: &[&str]) -> Output {
        let scratch = self.path("scratch");
        fs::create_dir(&scratch).unwrap();
        let output = bench()
            .args(["files", "--scale", SCALE, "--rounds", "2", "--only", "4KiB"])
            .args(["--only", "read-only", "--csv"])
            .args([self.path("out.csv")])
            .arg("--scratch")
            .arg(&scratch)
            .arg("--lanesum")
            .arg(lanesum)
            .args(more)
            .output()
            .unwrap();
        assert_eq!(fs::read_dir(scratch).unwrap().count(), 0, "test files are left behind");
        output
    }

    /// Implementation, bytes and items of every row.
    fn rows(&self) -> Vec<(String, String, String)> {
        let mut reader = csv::Reader::from_path(self.path("out.csv")).unwrap();
        let rows = reader.records().map(|record| {
            let record = record.unwrap();
            assert_eq!((&record[0], &record[1]), ("files", "4KiB"));
            (record[2].to_owned(), record[6].to_owned(), record[7].to_owned())
        });
        rows.collect()
    }
}

fn bench() -> Command {
    Command::new(env!("CARGO_BIN_EXE_lanesum-bench"))
}

fn row(implementation: &str) -> (String, String, String) {
    (implementation.to_owned(), "40960".to_owned(), "10".to_owned())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn baseline_and_limit_make_two_rows() {
    let trial = Trial::new();
    let output = trial.run(Path::new("/nowhere/lanesum"), &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(trial.rows(), [row("md5sum"), row("read-only")]);
    let table = text(&output.stdout);
    for word in ["kernel", "compiler", "rustc", "date", "files 4KiB: 10 items", "x baseline"] {
        assert!(table.contains(word), "{word} is not in {table}");
    }
}

#[test]
fn right_digests_in_any_order_make_a_row() {
    let trial = Trial::new();
    let lanesum = trial.lanesum(r#"find "$5" -type f -exec md5sum {} + | sort"#);
    let output = trial.run(&lanesum, &["--only", "lanesum"]);
    assert!(output.status.success(), "{}", text(&output.stdout));
    assert_eq!(trial.rows(), [row("md5sum"), row("read-only"), row("lanesum")]);
    assert!(text(&output.stdout).contains("lanesum   lanesum trial, "));
}

#[test]
fn a_wrong_digest_fails_the_row_and_the_run() {
    let trial = Trial::new();
    let lanesum =
        trial.lanesum(r#"find "$5" -type f -exec md5sum {} + | sort -k 2 | sed '1s/^..../beef/'"#);
    let output = trial.run(&lanesum, &["--only", "lanesum"]);
    assert_eq!(output.status.code(), Some(1));
    let table = text(&output.stdout);
    assert!(table.contains("failed    lanesum: wrong answer: beef"), "{table}");
    assert_eq!(trial.rows(), [row("md5sum"), row("read-only")]);
}

#[test]
fn a_program_that_fails_is_quoted() {
    let trial = Trial::new();
    let lanesum = trial.lanesum("echo out of lanes >&2; exit 3");
    let output = trial.run(&lanesum, &["--only", "lanesum"]);
    assert_eq!(output.status.code(), Some(1));
    let table = text(&output.stdout);
    assert!(table.contains("exit code 3: out of lanes"), "{table}");
}

#[test]
fn a_missing_lanesum_is_named_with_the_remedy() {
    let trial = Trial::new();
    let output = trial.run(Path::new("/nowhere/lanesum"), &["--only", "lanesum"]);
    assert_eq!(output.status.code(), Some(1));
    let table = text(&output.stdout);
    assert!(table.contains("/nowhere/lanesum is not there: build it with"), "{table}");
}

#[test]
fn a_signal_removes_the_test_files_and_ends_with_130() {
    let trial = Trial::new();
    // $PPID is the launcher; the fourth field of its stat is its parent, the bench.
    let lanesum = trial.lanesum("read -r _ _ _ bench _ </proc/$PPID/stat; kill -INT $bench");
    let output = trial.run(&lanesum, &["--only", "lanesum"]);
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
}

#[test]
fn the_list_names_the_scenario() {
    let output = bench().arg("list").output().unwrap();
    assert!(output.status.success());
    assert!(text(&output.stdout).lines().any(|line| line.starts_with("files ")));
}

#[test]
fn an_unknown_scenario_is_wrong_usage() {
    let output = bench().arg("flies").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("flies: no such scenario"));
}
