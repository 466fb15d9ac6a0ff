//! Which programs take part, and with which settings.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::roots;
use crate::answers::Answers;
use crate::disk::{self, FileOnDisk};
use crate::launch::Launch;
use crate::scenarios::installed::BASELINE;
use crate::scenarios::programs::{Candidate, candidates};
use crate::scratch::Scratch;
use crate::verifier::Answer;

/// The baseline where a list is checked, whose own list is in the order of the disk.
pub const SORTED: &str = "md5sum-sorted";

/// b3sum as one reader of whole files.
const SEQUENTIAL: [&str; 3] = ["b3sum", "--num-threads=1", "--no-mmap"];
const RCLONE: [&str; 3] = ["md5sum", "--config", "/dev/null"];

/// What the rows of a case are made of.
pub struct Rows<'case> {
    pub lanesum: &'case Path,
    pub has_b3sum: bool,
    pub cpus: &'case [usize],
    pub scratch: &'case Scratch,
    /// The file that every program writes to.
    pub output: &'case Path,
}

impl Rows<'_> {
    /// The programs that compute the digests of these folders, whose files have these paths.
    ///
    /// What reads one file at a time has a row `-P` where a disk serves more: so many processes,
    /// which xargs starts. What walks in the order of the folders has a row `-sorted` where that
    /// matters: it is fed as md5sum is. rclone computes as many digests at once as it has
    /// transfers.
    pub fn sums(
        &self,
        hands: usize,
        folders: &[PathBuf],
        paths: &[PathBuf],
    ) -> Result<Vec<Candidate>> {
        let list = self.scratch.write_list(paths)?;
        let on_all = |program: &str| Launch::new(program, self.cpus, self.output);
        let walking = |program: &'static str, words: &[&str]| {
            (Some(program), on_all(program).args(words).args(folders))
        };
        let lanesum = |words: &[&str]| {
            let launch = Launch::new(self.lanesum, self.cpus, self.output);
            (None, launch.args(words).args(folders))
        };
        let fed = |words: &[&'static str]| {
            (Some(words[0]), on_all("xargs").args(["-0", "-a"]).args([&list]).args(words))
        };
        let share = share(paths, hands).to_string();
        let shared = |words: &[&'static str]| {
            let several = ["-P", &hands.to_string(), "-n", &share];
            let xargs = on_all("xargs").args(["-0", "-a"]).args([&list]).args(several);
            (Some(words[0]), xargs.args(words))
        };
        let rclone = |words: &[&str]| {
            let launch = on_all("rclone").args(RCLONE).args(words);
            let launch = match folders {
                [folder] => launch.args([folder]),
                // It takes one folder only: the one above the disks.
                _ => launch.args(["--include", "/*/big/**"]).args([roots(self.scratch)]),
            };
            (Some("rclone"), launch)
        };
        let mut rows = vec![
            ("md5sum", fed(&[BASELINE]), Answer::Digests),
            ("lanesum", lanesum(&[]), Answer::Digests),
            ("md5deep", walking("md5deep", &["-r"]), Answer::Digests),
            ("md5deep-j0", walking("md5deep", &["-r", "-j0"]), Answer::Digests),
            ("md5deep-j1", walking("md5deep", &["-r", "-j1"]), Answer::Digests),
            ("rhash", walking("rhash", &["--md5", "-r"]), Answer::Digests),
            ("b3sum", fed(&["b3sum"]), Answer::OtherDigests),
            ("b3sum-sequential", fed(&SEQUENTIAL), Answer::OtherDigests),
            ("rclone", rclone(&[]), Answer::Digests),
            ("rclone-1", rclone(&["--checkers=1", "--transfers=1"]), Answer::Digests),
        ];
        let in_order = [
            ("md5deep-sorted", fed(&["md5deep", "-j0"]), Answer::Digests),
            ("rhash-sorted", fed(&["rhash", "--md5"]), Answer::Digests),
        ];
        match hands {
            1 => rows.extend(in_order),
            2 => {
                rows.extend(in_order);
                rows.push(("md5sum-P2", shared(&[BASELINE]), Answer::Digests));
            }
            _ => rows.extend([
                ("md5sum-P32", shared(&[BASELINE]), Answer::Digests),
                ("lanesum-j32", lanesum(&["-j", "32"]), Answer::Digests),
                ("md5deep-j32", walking("md5deep", &["-r", "-j32"]), Answer::Digests),
                ("rhash-P32", shared(&["rhash", "--md5"]), Answer::Digests),
                ("b3sum-P32", shared(&SEQUENTIAL), Answer::OtherDigests),
                ("rclone-32", rclone(&["--checkers=32", "--transfers=32"]), Answer::Digests),
            ]),
        }
        Ok(candidates(rows))
    }

    /// The programs that check a list of these files, which are all of a folder's, and what they
    /// must find.
    pub fn checks(
        &self,
        folders: &[PathBuf],
        files: &[FileOnDisk],
    ) -> Result<(Vec<Candidate>, Answers)> {
        let write = |name: &str, files: &[FileOnDisk], below: &Path| {
            let path = self.scratch.path().join(name);
            let written = fs::write(&path, lines(files, below));
            written.with_context(|| path.display().to_string()).map(|()| path)
        };
        let (listed, wrong) = with_one_wrong(files);
        let sorted = write("sorted.md5", &listed, Path::new(""))?;
        let listed = disk::shuffled(listed);
        let shuffled = write("shuffled.md5", &listed, Path::new(""))?;
        let relative = write("relative.md5", &listed, &folders[0])?;
        let blake3 = match self.blake3(files)? {
            Some(files) => {
                let listed = disk::shuffled(with_one_wrong(&files).0);
                write("shuffled.b3", &listed, Path::new(""))?
            }
            None => PathBuf::new(),
        };
        let check = |program: &Path, words: &[&str], list: &Path| {
            let launch = Launch::new(program, self.cpus, self.output);
            launch.args(words).args([list]).accepting(&[1])
        };
        let peer = |words: &[&'static str], list: &Path| {
            (Some(words[0]), check(Path::new(words[0]), &words[1..], list))
        };
        let lanesum = (None, check(self.lanesum, &["check", "--quiet"], &shuffled));
        let rclone = |words: &[&str]| {
            let words = [&["checksum", "--config", "/dev/null", "--combined", "-"], words].concat();
            let launch = check(Path::new("rclone"), &[&words[..], &["MD5"]].concat(), &relative);
            (Some("rclone"), launch.args(folders))
        };
        let quiet = ["-c", "--quiet"];
        let rows = candidates(vec![
            (SORTED, peer(&[BASELINE, "-c", "--quiet"], &sorted), Answer::Failures),
            ("md5sum", peer(&[BASELINE, "-c", "--quiet"], &shuffled), Answer::Failures),
            ("lanesum", lanesum, Answer::Failures),
            // Without --md5 it would try every digest that is as long as an MD5.
            (
                "rhash",
                peer(&["rhash", "-c", "--md5", "--skip-ok"], &shuffled),
                Answer::RhashFailures,
            ),
            ("b3sum", peer(&["b3sum", "-c", "--quiet"], &blake3), Answer::Failures),
            (
                "b3sum-sequential",
                peer(&[&SEQUENTIAL[..], &quiet].concat(), &blake3),
                Answer::Failures,
            ),
            ("rclone", rclone(&[]), Answer::RcloneFailures),
            ("rclone-1", rclone(&["--checkers=1"]), Answer::RcloneFailures),
        ]);
        Ok((rows, Answers::of_failures(&failure(&wrong))))
    }

    /// The files with their BLAKE3, which b3sum itself computes; none where it is not installed.
    fn blake3(&self, files: &[FileOnDisk]) -> Result<Option<Vec<FileOnDisk>>> {
        if !self.has_b3sum {
            return Ok(None);
        }
        let paths: Vec<PathBuf> = files.iter().map(|file| file.path.clone()).collect();
        let list = self.scratch.write_list(&paths)?;
        let launch = Launch::new("xargs", self.cpus, self.output).args(["-0", "-a"]).args([list]);
        launch.args(["b3sum", "--no-names"]).run()?;
        let digests = fs::read_to_string(self.output)?;
        let with_digest = |(file, digest): (&FileOnDisk, &str)| FileOnDisk {
            digest: digest.to_owned(),
            ..file.clone()
        };
        Ok(Some(files.iter().zip(digests.lines()).map(with_digest).collect()))
    }
}

/// The same files, but one in the middle is said to have another digest; and that one's path.
fn with_one_wrong(files: &[FileOnDisk]) -> (Vec<FileOnDisk>, PathBuf) {
    let mut files = files.to_vec();
    let middle = files.len() / 2;
    let FileOnDisk { path, digest, .. } = &mut files[middle];
    *digest = "0".repeat(digest.len());
    let path = path.clone();
    (files, path)
}

/// As `md5sum --check` tells it.
fn failure(path: &Path) -> Vec<u8> {
    [path.as_os_str().as_bytes(), b": FAILED\n"].concat()
}

/// How many files each process gets that xargs starts: that all hands have something to do, and
/// what a process prints is written at once, so that no line of another stands within one.
fn share(paths: &[PathBuf], hands: usize) -> usize {
    const PIPE: usize = 4096;
    const DIGEST: usize = 70;
    let longest = paths.iter().map(|path| path.as_os_str().len()).max().unwrap_or_default();
    (PIPE / (longest + DIGEST)).min(paths.len().div_ceil(hands)).max(1)
}

/// As md5sum writes them, with names as seen from the folder `below`.
pub fn lines(files: &[FileOnDisk], below: &Path) -> Vec<u8> {
    let mut text = Vec::new();
    for file in files {
        let name = file.path.strip_prefix(below).unwrap_or(&file.path);
        text.extend_from_slice(file.digest.as_bytes());
        text.extend_from_slice(b"  ");
        text.extend_from_slice(name.as_os_str().as_bytes());
        text.push(b'\n');
    }
    text
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn files(count: usize) -> Vec<FileOnDisk> {
        let file = |index| FileOnDisk {
            path: PathBuf::from(format!("/disk/{index}")),
            bytes: 1,
            digest: "a".repeat(32),
        };
        (0..count).map(file).collect()
    }

    #[test]
    fn one_line_of_a_list_is_wrong() {
        let files = files(3);
        let (listed, wrong) = with_one_wrong(&files);
        assert_eq!(wrong, Path::new("/disk/1"));
        let differing: Vec<_> = listed.iter().filter(|file| !files.contains(file)).collect();
        assert_eq!(differing.len(), 1);
        let text = String::from_utf8(lines(&listed, Path::new("/disk"))).unwrap();
        assert!(text.contains(&format!("{}  1\n", "0".repeat(32))), "{text}");
        let text = String::from_utf8(lines(&listed, Path::new(""))).unwrap();
        assert!(text.starts_with(&format!("{}  /disk/0\n", "a".repeat(32))), "{text}");
    }

    #[test]
    fn a_process_gets_its_share_and_prints_no_more_than_is_written_at_once() {
        let paths: Vec<PathBuf> = files(64).into_iter().map(|file| file.path).collect();
        assert_eq!(share(&paths, 2), 32);
        assert_eq!(share(&paths, 32), 2);
        assert_eq!(share(&paths, 1), 52, "4096 by 70 and 8");
        assert_eq!(share(&[], 32), 1);
    }
}
