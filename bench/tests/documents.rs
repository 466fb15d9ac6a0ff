//! The scenario `documents` with little data, through the program as one calls it.
//!
//! What is not installed is skipped, here as well; every row must be there or be named as skipped.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Output};

use tempfile::TempDir;

/// A file of 200 MB by this is one of 20 kB.
const SCALE: &str = "10000";

/// A shell script in the place of lanesum, which has no `--io`.
const LANESUM: &str = r#"#!/bin/sh
case "$*" in
    md5sum\ *) shift; exec md5sum "$@" ;;
    -j\ 1\ --files0-from\ *) exec xargs -0 -a "$4" md5sum ;;
    -j\ 1\ *) exec md5sum "$3" ;;
esac
echo "unexpected argument $1" >&2
exit 2
"#;

struct Trial {
    folder: TempDir,
}

impl Trial {
    fn new(lanesum: &str) -> Self {
        let trial = Self { folder: tempfile::tempdir().unwrap() };
        fs::write(trial.path("lanesum"), lanesum).unwrap();
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(trial.path("lanesum"), executable).unwrap();
        trial
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// One round of one case.
    fn run(&self, case: &str, more: &[&str]) -> Output {
        let scratch = self.path("scratch");
        fs::create_dir(&scratch).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_lanesum-bench"))
            .args(["documents", "--scale", SCALE, "--rounds", "1", "--only", case, "--csv"])
            .args([self.path("out.csv").as_path(), "--scratch".as_ref(), &scratch])
            .args(["--lanesum".as_ref(), self.path("lanesum").as_path()])
            .args(more)
            .output()
            .unwrap();
        assert_eq!(fs::read_dir(scratch).unwrap().count(), 0, "test files are left behind");
        output
    }

    /// The implementations that have figures, which are of as many bytes and items.
    fn rows(&self, bytes: &str, items: &str) -> BTreeSet<String> {
        let mut reader = csv::Reader::from_path(self.path("out.csv")).unwrap();
        let rows = reader.records().map(|record| {
            let record = record.unwrap();
            assert_eq!((&record[6], &record[7]), (bytes, items), "{record:?}");
            record[2].to_owned()
        });
        rows.collect()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What the lines `skipped   NAME: WHY` name.
fn skipped(stdout: &str) -> BTreeSet<String> {
    let names = stdout.lines().filter_map(|line| line.strip_prefix("skipped   "));
    names.map(|line| line.split_once(": ").expect("a word why").0.to_owned()).collect()
}

#[test]
fn every_row_is_measured_or_named_as_skipped() {
    for (case, bytes, items, rows) in [
        ("200MB", "20000", "1", "md5sum lanesum lanesum-md5sum openssl pureMD5 cryptohash-md5"),
        (
            "100x10MB",
            "100000",
            "100",
            "md5sum lanesum lanesum-md5sum openssl lanesum-memory openssl-memory java \
             bouncycastle java-memory bouncycastle-memory",
        ),
        (
            "13MBx50",
            "65000",
            "50",
            "md5sum lanesum lanesum-md5sum read-only lanesum-read lanesum-mmap lanesum-direct \
             lanesum-uring library-blksize library-buffer library-readahead library-direct \
             md5sum-call lanesum-call perl-addfile perl-blksize perl-map perl-system",
        ),
    ] {
        let trial = Trial::new(LANESUM);
        let output = trial.run(case, &[]);
        let stdout = text(&output.stdout);
        assert!(output.status.success(), "{stdout}{}", text(&output.stderr));
        let (measured, skipped) = (trial.rows(bytes, items), skipped(&stdout));
        let expected: BTreeSet<_> = rows.split_whitespace().map(str::to_owned).collect();
        assert_eq!(&measured | &skipped, expected, "{case}");
        assert_eq!(&measured & &skipped, BTreeSet::new(), "{case}");
        assert!(!skipped.contains("md5sum") && !skipped.contains("lanesum"), "{case}");
    }
}

#[test]
fn a_wrong_digest_has_no_figures() {
    let trial = Trial::new("#!/bin/sh\nxargs -0 -a \"$4\" md5sum | sed 's/^..../beef/'\n");
    let output = trial.run("200MB", &["--only", "lanesum"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("failed    lanesum: wrong answer: beef"));
    assert_eq!(trial.rows("20000", "1"), BTreeSet::from(["md5sum".to_owned()]));
}
