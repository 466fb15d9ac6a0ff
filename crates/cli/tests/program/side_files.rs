//! Side files: `x.bam.md5` with the digest of `x.bam`.

use super::*;

#[test]
fn a_digest_alone_is_that_of_the_file_beside_the_list() {
    let folder = Folder::new();
    folder.write("d/x.bam", "abc");
    for (list, text) in [
        ("d/x.bam.md5", ABC.to_owned()),
        ("d/x.bam.md5", format!("{}\r\n", ABC.to_uppercase())),
        ("d/x.bam.crc32", "352441c2\n".to_owned()),
        ("d/x.bam.xxh128.txt", "06b05ab6733a618578af5f94892f3950\n".to_owned()),
    ] {
        folder.write(list, text);
        expect(&folder.run(&format!("check {list}")), 0, "d/x.bam: OK\n", "");
        expect(&folder.run(&format!("check --beside {list}")), 0, "d/x.bam: OK\n", "");
        expect(&folder.run(&format!("check --root d {list}")), 0, "x.bam: OK\n", "");
    }
    folder.write("d/x.bam", "abd");
    expect(&folder.run("check d/x.bam.md5"), 1, "d/x.bam: FAILED\n", "");
    // Converted, the digest has a name.
    expect(&folder.run("convert --to gnu d/x.bam.md5"), 0, format!("{ABC}  d/x.bam\n"), "");
}

#[test]
fn written_side_files_are_checked() {
    let folder = Folder::of(&["t/a", "t/d/b\nc", "t/d/e"]);
    let wrote = |words: &str| format!("lanesum: wrote {words}\n");
    expect(&folder.run("sum --side-files t"), 0, "", wrote("3 side files"));
    assert_eq!(fs::read_to_string(folder.path("t/d/e.md5")).unwrap(), line("t/d/e", "e"));
    let run = folder.run("check --quiet --side-files t");
    assert_eq!((run.status.code(), &*run.stdout), (Some(0), &b""[..]));
    folder.write("t/d/e", "T/D/E");
    folder.write("t/new", "");
    let run = folder.run("check --quiet --side-files t");
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(1), "t/d/e: FAILED\n".to_owned()));
    assert!(text(&run.stderr).starts_with("lanesum: t: 1 file has no side file\n"));
    // The digest of the damaged file stays, and side files have none themselves.
    let words = wrote("1 side file, 3 files have one already");
    expect(&folder.run("--side-files t"), 0, "", words);
    assert_eq!(fs::read_to_string(folder.path("t/d/e.md5")).unwrap(), line("t/d/e", "e"));
    assert!(!exists(folder.path("t/a.md5.md5")));
    let words = wrote("4 side files");
    expect(&folder.run("-a md5,blake3 --side-files t"), 0, "", words);
    let run = folder.run("check --side-files t");
    assert!(text(&run.stdout).contains("t/a: OK\nt/a: OK\n"), "{}", text(&run.stdout));
}

#[test]
fn side_file_without_its_file_is_skipped_with_a_warning() {
    let folder = Folder::of(&["t/a"]);
    folder.write("t/gone.md5", format!("{ABC}\n"));
    let told = "lanesum: t/gone.md5: skipped: named like a side file, but t/gone is missing\n";
    let wrote = format!("{told}lanesum: wrote 1 side file\n");
    expect(&folder.run("sum --side-files t"), 0, "", wrote);
    assert!(!exists(folder.path("t/gone.md5.md5")));
    let none = format!("{told}lanesum: no files; no side file was written\n");
    expect(&folder.run("sum --side-files t/gone.md5"), 1, "", none);
}

#[test]
fn side_files_and_lists_cannot_be_combined() {
    let folder = Folder::of(&["t/a"]);
    let run = folder.run("check --side-files t list");
    assert_eq!(run.status.code(), Some(2));
    let usage =
        "lanesum check [OPTIONS] [LIST]...\n       lanesum check [OPTIONS] --side-files <DIR>\n";
    assert!(text(&run.stderr).contains(usage), "{}", text(&run.stderr));
}

#[test]
fn directories_of_the_build_are_ignored_in_side_files() {
    let folder = Folder::new();
    folder.write("r/x.tar.gz", "abc");
    folder.write("r/x.tar.gz.md5", format!("{ABC}  dist/x.tar.gz\n"));
    folder.write("r/all.md5", format!("{ABC}  x.tar.gz\n"));
    let run = folder.run("check --side-files r");
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    assert_eq!(text(&run.stdout), "r/x.tar.gz: OK\nr/x.tar.gz: OK\n");
}

#[test]
fn no_side_files_are_a_failure() {
    let folder = Folder::of(&["t/a"]);
    let words = "lanesum: t: no side files, such as NAME.md5 or NAME.sha256\n";
    expect(&folder.run("check --side-files t"), 1, "", words);
    let run = folder.run("check --side-files none");
    expect(&run, 1, "", "lanesum: none: No such file or directory\n");
    assert_eq!(folder.run("sum --side-files").status.code(), Some(2));
    expect(
        &folder.run("sum --side-files none"),
        1,
        "",
        "lanesum: none: No such file or directory\nlanesum: wrote 0 side files\n",
    );
}
