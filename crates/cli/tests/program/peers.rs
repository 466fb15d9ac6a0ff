//! Lists of other programs, where they are installed: theirs are checked here, and ours there.

use super::*;

/// Files with names that each of the programs can hold.
fn folder() -> Folder {
    let folder = Folder::of(&["t/a", "t/b,c", "t/d e", "t/sub/f"]);
    folder.write("t/empty", "");
    folder.write("t/long", bytes(300_000));
    folder
}

/// The output of a program that is installed; the test proves nothing where it is not.
pub fn peer(folder: &Folder, program: &str, args: &[&str]) -> Option<Output> {
    match folder.command(program).args(args).output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            skip(&format!("there is no {program}"));
            None
        }
        run => Some(run.unwrap()),
    }
}

/// Checks a list with `lanesum`, before and after a file changes.
#[track_caller]
fn check(folder: &Folder, list: &[u8], args: &str) {
    folder.write("t/a", "t/a");
    let run = folder.run_with_stdin(&format!("check --quiet {args}"), list);
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), String::new()), "{}", text(list));
    assert!(text(&run.stderr).contains("6 files"), "{}", text(&run.stderr));
    folder.write("t/a", "T/A");
    let run = folder.run_with_stdin(&format!("check --quiet {args}"), list);
    assert_eq!(run.status.code(), Some(1), "{}", text(list));
    assert!(text(&run.stdout).contains("a: FAILED\n"), "{}", text(&run.stdout));
    folder.write("t/a", "t/a");
}

/// The lines of a list without the one that has the command.
fn without_command(list: &[u8]) -> Vec<&[u8]> {
    let is_command = |line: &&[u8]| line.starts_with(b"## #") || line.starts_with(b"## $");
    list.split(|&byte| byte == b'\n').filter(|line| !is_command(line)).collect()
}

#[test]
fn hashdeep_writes_and_reads_the_same_lists() {
    let folder = folder();
    let files = ["t/a", "t/b,c", "t/d e", "t/empty", "t/long", "t/sub/f"];
    for columns in ["md5", "sha1", "md5,sha256", "md5,sha1,sha256", "md5,tiger,sha256,whirlpool"] {
        let args = [&["-l", "-j0", "-c", columns][..], &files].concat();
        let Some(theirs) = peer(&folder, "hashdeep", &args) else { return };
        check(&folder, &theirs.stdout, "");
        let algorithms = columns.replace("tiger,", "").replace(",whirlpool", "");
        let ours = folder.run(&format!("--format hashdeep -a {algorithms} t"));
        if algorithms == columns {
            assert_eq!(without_command(&ours.stdout), without_command(&theirs.stdout));
        }
        folder.write("ours", &ours.stdout);
        let audit = peer(&folder, "hashdeep", &["-l", "-r", "-a", "-k", "ours", "t"]).unwrap();
        expect(&audit, 0, "hashdeep: Audit passed\n", "");
    }
}

#[test]
fn md5deep_writes_the_same_lines() {
    let folder = folder();
    let files = ["t/a", "t/b,c", "t/d e", "t/empty", "t/long", "t/sub/f"];
    for algorithm in ["md5", "sha1", "sha256"] {
        let args = [&["-l", "-j0", "-z"][..], &files].concat();
        let Some(theirs) = peer(&folder, &format!("{algorithm}deep"), &args) else { return };
        let ours = folder.run(&format!("--format md5deep -a {algorithm} t"));
        assert_eq!(text(&ours.stdout), text(&theirs.stdout));
        check(&folder, &theirs.stdout, "");
    }
}

#[test]
fn rhash_reads_and_writes_the_same_lists() {
    let folder = folder();
    let Some(theirs) = peer(&folder, "rhash", &["--sfv", "-r", "t"]) else { return };
    check(&folder, &theirs.stdout, "");
    let ours = folder.run("--format sfv t").stdout;
    let is_line = |line: &&[u8]| !line.starts_with(b";") && !line.is_empty();
    let mut lines: Vec<_> = theirs.stdout.split(|&byte| byte == b'\n').filter(is_line).collect();
    lines.sort_unstable();
    let mut ours_sorted: Vec<_> = ours.split(|&byte| byte == b'\n').filter(is_line).collect();
    ours_sorted.sort_unstable();
    assert_eq!(ours_sorted, lines);
    folder.write("ours.sfv", &ours);
    assert_eq!(peer(&folder, "rhash", &["-c", "ours.sfv"]).unwrap().status.code(), Some(0));
    for algorithm in ["crc32", "crc32c", "md5"] {
        let option = format!("--{algorithm}");
        let theirs = peer(&folder, "rhash", &["--bsd", &option, "-r", "t"]).unwrap();
        check(&folder, &theirs.stdout, "");
    }
}

#[test]
fn xxhsum_reads_and_writes_the_same_lists() {
    let folder = folder();
    let files = ["t/a", "t/b,c", "t/d e", "t/empty", "t/long", "t/sub/f"];
    for (option, algorithm) in
        [("-H0", "xxh32"), ("-H1", "xxh64"), ("-H2", "xxh128"), ("-H3", "xxh3-64")]
    {
        let args = [&[option, "--tag"][..], &files].concat();
        let Some(theirs) = peer(&folder, "xxhsum", &args) else { return };
        let ours = folder.run(&format!("-a {algorithm} --tag t"));
        assert_eq!(text(&ours.stdout), text(&theirs.stdout));
        check(&folder, &theirs.stdout, "");
        folder.write("ours", &ours.stdout);
        let checked = peer(&folder, "xxhsum", &["-c", "-q", "ours"]).unwrap();
        assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stderr));
        let untagged = peer(&folder, "xxhsum", &[&[option][..], &files].concat()).unwrap();
        check(&folder, &untagged.stdout, &format!("-a {algorithm}"));
    }
}

#[test]
fn rclone_lists_are_checked() {
    let folder = folder();
    let args = ["--config", "", "lsjson", "--hash", "-R", "t"];
    let Some(theirs) = peer(&folder, "rclone", &args) else { return };
    check(&folder, &theirs.stdout, "--root t");
    folder.write("list", &theirs.stdout);
    let csv = folder.run("convert --to csv list");
    expect(&csv, 0, &csv.stdout, "");
    let converted = text(&csv.stdout);
    // Newer versions of rclone list more digests.
    let (_, algorithms) = converted.lines().next().unwrap().split_once("modified,").unwrap();
    assert!(algorithms.contains("sha1,sha256"), "{algorithms}");
    let known = folder.run(&format!("--format csv -a {algorithms} t/empty t/long")).stdout;
    for row in text(&known).lines().skip(1) {
        assert!(converted.contains(row.strip_prefix("t/").unwrap()), "{row} is not in {converted}");
    }
}
