//! `lanesum check`: verdicts, exit codes, and what each option makes of them.

use std::io::BufRead as _;

use super::*;

/// A folder with one file of each fate, and a list that holds them all.
fn folder() -> Folder {
    let folder = Folder::of(&["good", "bad"]);
    let list = line("good", "good") + &line("other", "bad") + &line("x", "gone") + "nonsense\n";
    folder.write("list", list);
    folder.write("good list", lines(&["good", "good"]));
    folder
}

const GONE: &str = "lanesum: gone: No such file or directory\n";
const NONSENSE: &str = "lanesum: list: 1 line is no checksum line; --warn tells which\n";

/// Holds a check against what is expected, without the summary; gives the summary.
#[track_caller]
fn expect_check(run: Output, code: i32, stdout: &str, messages: &str) -> String {
    let stderr = text(&run.stderr);
    let (told, summary) = match stderr.strip_suffix('\n') {
        None => ("", ""),
        Some(lines) => {
            let last = lines.rfind('\n').map_or(0, |end| end + 1);
            if lines[last..].contains(" files, ") { stderr.split_at(last) } else { (&*stderr, "") }
        }
    };
    assert_eq!(told, messages, "messages");
    assert_eq!(text(&run.stdout), stdout, "standard output");
    assert_eq!(run.status.code(), Some(code), "exit code");
    summary.to_owned()
}

#[test]
fn each_file_has_its_verdict() {
    let folder = folder();
    let stdout = "good: OK\nbad: FAILED\ngone: FAILED open or read\n";
    let summary = expect_check(folder.run("check list"), 1, stdout, &[GONE, NONSENSE].concat());
    assert!(summary.starts_with("lanesum: 3 files, 7 B in "), "{summary}");
    assert!(summary.ends_with("/s): 1 FAILED, 1 could not be read\n"), "{summary}");
    for threads in 1..=4 {
        let run = folder.run(&format!("check -j {threads} list"));
        expect_check(run, 1, stdout, &[GONE, NONSENSE].concat());
    }
}

#[test]
fn all_well_is_0() {
    let folder = folder();
    folder.write("list", lines(&["good"]));
    expect(&folder.run("check list"), 0, "good: OK\n", "");
    let stdin = lines(&["good", "bad"]);
    let run = folder.run_with_stdin("check", &stdin);
    let summary = expect_check(run, 0, "good: OK\nbad: OK\n", "");
    assert!(summary.starts_with("lanesum: 2 files, 7 B in "), "{summary}");
    assert!(summary.ends_with("/s): no failures\n"), "{summary}");
    let run = folder.run_with_stdin("check -", &stdin);
    expect_check(run, 0, "good: OK\nbad: OK\n", "");
}

#[test]
fn quiet_prints_failures_only() {
    let folder = folder();
    let stdout = "bad: FAILED\ngone: FAILED open or read\n";
    expect_check(folder.run("check --quiet list"), 1, stdout, &[GONE, NONSENSE].concat());
    folder.write("list", lines(&["good"]));
    expect(&folder.run("check --quiet list"), 0, "", "");
}

#[test]
fn status_prints_no_verdict() {
    let folder = folder();
    expect(&folder.run("check --status list"), 1, "", GONE);
    folder.write("list", lines(&["good", "bad"]));
    expect(&folder.run("check --status list"), 0, "", "");
    folder.write("list", line("x", "good"));
    expect(&folder.run("check --status list"), 1, "", "");
}

#[test]
fn warn_names_the_lines() {
    let folder = folder();
    let stdout = "good: OK\nbad: FAILED\ngone: FAILED open or read\n";
    let warning = "lanesum: list: line 4: not a checksum line\n";
    for option in ["-w", "--warn"] {
        let run = folder.run(&format!("check {option} list"));
        let stderr = text(&run.stderr);
        assert!(stderr.starts_with(&[GONE, warning].concat()), "{stderr}");
        assert_eq!((run.status.code(), text(&run.stdout).as_str()), (Some(1), stdout));
    }
}

#[test]
fn the_last_of_quiet_status_and_warn_wins() {
    let folder = folder();
    folder.write("list", lines(&["good"]) + "nonsense\n");
    let warning = "lanesum: list: line 2: not a checksum line\n";
    let run = folder.run("check --quiet --status --warn list");
    assert_eq!(text(&run.stdout), "good: OK\n");
    assert!(text(&run.stderr).starts_with(warning), "{}", text(&run.stderr));
    expect(&folder.run("check --warn --quiet --status list"), 0, "", "");
    let counted = "lanesum: list: 1 line is no checksum line; --warn tells which\n";
    expect(&folder.run("check --warn --status --quiet list"), 0, "", counted);
}

#[test]
fn strict_makes_bad_lines_a_failure() {
    let folder = folder();
    folder.write("list", lines(&["good"]) + "nonsense\n" + &lines(&["bad"]) + "# a comment\n\n");
    let stdout = "good: OK\nbad: OK\n";
    expect_check(folder.run("check list"), 0, stdout, NONSENSE);
    expect_check(folder.run("check --strict list"), 1, stdout, NONSENSE);
    expect(&folder.run("check --strict --status list"), 1, "", "");
    folder.write("list", lines(&["good", "bad"]) + "# a comment\n\n");
    expect_check(folder.run("check --strict list"), 0, stdout, "");
}

#[test]
fn missing_files_can_be_passed_over() {
    let folder = folder();
    folder.write("list", line("x", "gone") + &lines(&["good"]) + &line("x", "good/x"));
    let run = folder.run("check --ignore-missing list");
    let message = "lanesum: good/x: Not a directory\n";
    expect_check(run, 1, "good: OK\ngood/x: FAILED open or read\n", message);
    folder.write("list", line("x", "gone") + &lines(&["good"]));
    expect(&folder.run("check --ignore-missing list"), 0, "good: OK\n", "");
    expect_check(folder.run("check list"), 1, "gone: FAILED open or read\ngood: OK\n", GONE);
    // A check that checked nothing is not all well.
    folder.write("list", line("x", "gone"));
    let message = "lanesum: list: no file was verified: none of those it names exists\n";
    expect(&folder.run("check --ignore-missing list"), 1, "", message);
    expect(&folder.run("check --ignore-missing --status list"), 1, "", message);
}

#[test]
fn several_lists_are_checked_in_their_order() {
    let folder = folder();
    folder.write("1", lines(&["good"]));
    folder.write("2", lines(&["bad"]));
    let run = folder.run("check 1 2 1");
    let summary = expect_check(run, 0, "good: OK\nbad: OK\ngood: OK\n", "");
    assert!(summary.starts_with("lanesum: 3 files, 11 B in "), "{summary}");
    let message = "lanesum: nowhere: No such file or directory\n";
    expect_check(folder.run("check 1 nowhere 2"), 1, "good: OK\nbad: OK\n", message);
    let run = folder.run_with_stdin("check 1 - 2", lines(&["good"]));
    expect_check(run, 0, "good: OK\ngood: OK\nbad: OK\n", "");
    fs::create_dir(folder.path("dir")).unwrap();
    let message = "lanesum: dir: read error: Is a directory\n";
    expect(&folder.run("check dir 1"), 1, "good: OK\n", message);
}

#[test]
fn names_are_looked_up_in_the_root() {
    let folder = Folder::of(&["root/a", "root/b/c", "a"]);
    let list = line("root/a", "a") + &line("root/b/c", "/b/c") + &line("root/a", "b/../a");
    folder.write("list", &list);
    let stdout = "a: OK\n/b/c: OK\nb/../a: OK\n";
    expect_check(folder.run("check --root root list"), 0, stdout, "");
    let run = folder.run_with_stdin("check --root root/", &list);
    expect_check(run, 0, stdout, "");
    let mut command = folder.lanesum(["check", "list", "--root"]);
    expect_check(output(command.arg(folder.path("root"))), 0, stdout, "");
    let gone = "lanesum: /b/c: No such file or directory\n\
                lanesum: b/../a: No such file or directory\n";
    let stdout = "a: FAILED\n/b/c: FAILED open or read\nb/../a: FAILED open or read\n";
    expect_check(folder.run("check list"), 1, stdout, gone);
}

#[test]
fn a_file_called_minus_is_standard_input_or_a_file_of_the_root() {
    let folder = Folder::of(&["root/-"]);
    folder.write("list", line("abc", "-"));
    expect(&folder.run_with_stdin("check list", "abc"), 0, "-: OK\n", "");
    folder.write("list", line("root/-", "-"));
    expect(&folder.run("check --root root list"), 0, "-: OK\n", "");
}

#[test]
fn a_verdict_does_not_wait_for_the_next_list() {
    let folder = Folder::of(&["a", "b"]);
    folder.write("list", lines(&["a"]));
    folder.fifo("fifo");
    for threads in ["1", "2"] {
        let mut running = start(&mut folder.lanesum(["check", "-j", threads, "list", "fifo"]));
        let mut stdout = running.stdout();
        let mut verdict = String::new();
        stdout.read_line(&mut verdict).unwrap();
        assert_eq!(verdict, "a: OK\n");
        folder.writer("fifo").write_all(lines(&["b"]).as_bytes()).unwrap();
        verdict.clear();
        stdout.read_line(&mut verdict).unwrap();
        assert_eq!(verdict, "b: OK\n");
        assert_eq!(running.finish().status.code(), Some(0));
    }
}
