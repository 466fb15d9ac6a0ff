//! `lanesum check`: verdicts, exit codes, and what each option makes of them.

use std::io::BufRead as _;

use ::sha2::Digest as _;

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
const NONSENSE: &str = "lanesum: list: 1 line is not a checksum line\nhint: --warn shows it\n";

/// Holds a check against what is expected, without the summary; gives the summary.
#[track_caller]
fn expect_check(run: Output, code: i32, stdout: &str, messages: &str) -> String {
    let stderr = text(&run.stderr);
    let (told, summary) = match stderr.strip_suffix('\n') {
        None => ("", ""),
        Some(lines) => {
            let last = lines.rfind('\n').map_or(0, |end| end + 1);
            if lines[last..].contains("/s): ") { stderr.split_at(last) } else { (&*stderr, "") }
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
    assert!(summary.ends_with("/s): 1 FAILED, 1 could not be read, 1 skipped line\n"), "{summary}");
    for threads in 1..=4 {
        let run = folder.run(&format!("check -j {threads} list"));
        expect_check(run, 1, stdout, &[GONE, NONSENSE].concat());
    }
}

#[test]
fn matching_files_exit_with_0() {
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
fn warn_names_each_line_once() {
    let folder = folder();
    let stdout = "good: OK\nbad: FAILED\ngone: FAILED open or read\n";
    let warning = "lanesum: list: line 4: not a checksum line\n";
    for option in ["-w", "--warn"] {
        let run = folder.run(&format!("check {option} list"));
        let stderr = text(&run.stderr);
        assert!(stderr.starts_with(&[GONE, warning].concat()), "{stderr}");
        assert_eq!(stderr.matches("a checksum line").count(), 1, "{stderr}");
        assert_eq!((run.status.code(), text(&run.stdout).as_str()), (Some(1), stdout));
    }
}

#[test]
fn last_of_quiet_status_and_warn_wins() {
    let folder = folder();
    folder.write("list", lines(&["good"]) + "nonsense\n");
    let warning = "lanesum: list: line 2: not a checksum line\n";
    let run = folder.run("check --quiet --status --warn list");
    assert_eq!(text(&run.stdout), "good: OK\n");
    assert!(text(&run.stderr).starts_with(warning), "{}", text(&run.stderr));
    expect(&folder.run("check --warn --quiet --status list"), 0, "", "");
    let counted = "lanesum: list: 1 line is not a checksum line\nhint: --warn shows it\n";
    expect(&folder.run("check --warn --status --quiet list"), 0, "", counted);
}

#[test]
fn strict_fails_on_invalid_lines() {
    let folder = folder();
    folder.write("list", lines(&["good"]) + "nonsense\n" + &lines(&["bad"]) + "# a comment\n\n");
    let stdout = "good: OK\nbad: OK\n";
    expect_check(folder.run("check list"), 0, stdout, NONSENSE);
    let failing = NONSENSE.replace("line\n", "line, so --strict makes the exit code 1\n");
    expect_check(folder.run("check --strict list"), 1, stdout, &failing);
    let line = "lanesum: list: line 2: not a checksum line, so --strict makes the exit code 1\n";
    expect_check(folder.run("check --strict --warn list"), 1, stdout, line);
    expect(&folder.run("check --strict --status list"), 1, "", "");
    folder.write("list", lines(&["good", "bad"]) + "# a comment\n\n");
    expect_check(folder.run("check --strict list"), 0, stdout, "");
}

#[test]
fn ignore_missing_skips_missing_files() {
    let folder = folder();
    folder.write("list", line("x", "gone") + &lines(&["good"]) + &line("x", "good/x"));
    let run = folder.run("check --ignore-missing list");
    let message = "lanesum: good/x: Not a directory\n";
    expect_check(run, 1, "good: OK\ngood/x: FAILED open or read\n", message);
    folder.write("list", line("x", "gone") + &lines(&["good"]));
    expect_check(folder.run("check --ignore-missing list"), 0, "good: OK\n", "");
    expect_check(folder.run("check list"), 1, "gone: FAILED open or read\ngood: OK\n", GONE);
    // A check that checked nothing is not all well.
    folder.write("list", line("x", "gone"));
    let message = "lanesum: list: nothing was checked: all of its files are missing\n";
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
    let words = "a directory, not a checksum list\nhint: lanesum compare LIST dir";
    let message = format!("lanesum: dir: {words}\n");
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
                lanesum: b/../a: No such file or directory\n\
                lanesum: list: no untagged line matches as md5\n\
                hint: if the lines are xxh128: -a xxh128\n";
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

/// Of a list that is cut, or written anew, while it is read nobody knows what it said.
#[test]
fn changing_list_fails() {
    let folder = Folder::of(&["a"]);
    folder.fifo("fifo");
    // More than are read ahead of a job that is not done.
    let names = ["a", "./a"].map(|name| line("a", name)).concat();
    folder.write("list", line("abc", "fifo") + &names.repeat(100_000));
    let running = start(&mut folder.lanesum(["check", "--quiet", "list"]));
    let mut writer = folder.writer("fifo");
    fs::File::options().write(true).open(folder.path("list")).unwrap().set_len(0).unwrap();
    writer.write_all(b"abc").unwrap();
    drop(writer);
    let run = running.finish();
    assert_eq!(run.status.code(), Some(1));
    let words = "list: changed while it was read";
    assert!(text(&run.stderr).contains(words), "{}", text(&run.stderr));
}

/// As the lists that several algorithms in one read give.
#[test]
fn consecutive_lines_of_one_file_are_one_read() {
    let folder = Folder::of(&["a", "b"]);
    // What comes through a pipe can be read only once.
    let list = folder.run_with_stdin("-a md5,sha1,sha256", "abc").stdout;
    folder.write("list", list);
    for (content, code, verdict) in [("abc", 0, "-: OK\n"), ("abd", 1, "-: FAILED\n")] {
        let run = folder.run_with_stdin("check list", content);
        let summary = expect_check(run, code, &verdict.repeat(3), "");
        assert!(summary.starts_with("lanesum: 1 file (3 lines), 3 B in "), "{summary}");
    }

    folder.write("list", folder.run("-a md5,sha1,sha256 a b").stdout);
    let stdout = ["a: OK\n".repeat(3), "b: OK\n".repeat(3)].concat();
    let summary = expect_check(folder.run("check list"), 0, &stdout, "");
    assert!(summary.starts_with("lanesum: 2 files (6 lines), 2 B in "), "{summary}");
    // However much of it a pipe gives at once.
    let run = folder.run_with_stdin("check", folder.read("list"));
    let summary = expect_check(run, 0, &stdout, "");
    assert!(summary.starts_with("lanesum: 2 files (6 lines), 2 B in "), "{summary}");
    let gone = "lanesum: a: No such file or directory\n".repeat(3);
    fs::remove_file(folder.path("a")).unwrap();
    let stdout = ["a: FAILED open or read\n".repeat(3), "b: OK\n".repeat(3)].concat();
    let summary = expect_check(folder.run("check list"), 1, &stdout, &gone);
    assert!(summary.ends_with(": 3 could not be read\n"), "{summary}");
    let run = folder.run("check --ignore-missing list");
    let summary = expect_check(run, 0, &"b: OK\n".repeat(3), "");
    assert!(summary.ends_with(": no failures, 3 missing\n"), "{summary}");
}

/// Where no line has an algorithm of its own, nothing is planned.
#[test]
fn a_file_counts_again_after_another() {
    let folder = Folder::of(&["a", "b"]);
    // More than share a read.
    folder.write("list", lines(&["a"; 40]));
    let summary = expect_check(folder.run("check list"), 0, &"a: OK\n".repeat(40), "");
    assert!(summary.starts_with("lanesum: 1 file (40 lines), 1 B in "), "{summary}");
    folder.write("list", lines(&["a", "b"]).repeat(20));
    let summary = expect_check(folder.run("check list"), 0, &"a: OK\nb: OK\n".repeat(20), "");
    assert!(summary.starts_with("lanesum: 40 files, 40 B in "), "{summary}");
}

/// As MD5SUMS and SHA256SUMS beside each other, each with its own order, and both in one list.
#[test]
fn lines_far_apart_share_a_read() {
    let folder = Folder::of(&["a", "b"]);
    // What comes through a pipe can be read only once.
    folder.fifo("fifo");
    let content = "abc";
    let sha256 = |content: &str| hex(&::sha2::Sha256::digest(content));
    folder.write("MD5SUMS", lines(&["a", "b"]) + &line(content, "fifo"));
    let reversed = format!("{}  fifo\n{}  b\n{}  a\n", sha256(content), sha256("no"), sha256("a"));
    folder.write("SHA256SUMS", &reversed);
    folder.write("both", folder.read("MD5SUMS") + &reversed);
    let stdout = "a: OK\nb: OK\nfifo: OK\nfifo: OK\nb: FAILED\na: OK\n";
    for (lists, threads) in
        [("MD5SUMS SHA256SUMS", "1"), ("MD5SUMS SHA256SUMS", "2"), ("both", "2")]
    {
        let running = start(
            &mut folder.lanesum(["check", "-j", threads].into_iter().chain(lists.split(' '))),
        );
        folder.writer("fifo").write_all(content.as_bytes()).unwrap();
        let summary = expect_check(running.finish(), 1, stdout, "");
        assert!(summary.starts_with("lanesum: 3 files (6 lines), 5 B in "), "{summary}");
        assert!(summary.ends_with(": 1 FAILED\n"), "{summary}");
    }
    // A list that comes through a pipe is not waited for, and each of its lines has its own read.
    folder.write("MD5SUMS", lines(&["a", "b"]));
    folder.write("SHA256SUMS", format!("{}  a\n", sha256("a")));
    let run = folder.run_with_stdin("check MD5SUMS - SHA256SUMS", lines(&["b", "a"]));
    let summary = expect_check(run, 0, "a: OK\nb: OK\nb: OK\na: OK\na: OK\n", "");
    assert!(summary.starts_with("lanesum: 4 files (5 lines), 4 B in "), "{summary}");
}

/// It would take what is left of them, and may even find that well.
#[test]
fn a_file_is_not_what_is_left_of_a_list_or_a_key() {
    let folder = Folder::of(&["a"]);
    folder.link("/dev/stdin", "link");
    let why = "already in use as the list, the file names or the key";
    for name in ["-", "/dev/stdin", "/dev/./stdin", "/proc/thread-self/fd/0", "link"] {
        folder.write("list", line("", name) + &line("a", "a"));
        let message = format!("lanesum: {name}: {why}\n");
        let verdicts = format!("{name}: FAILED open or read\na: OK\n");
        let run = folder.run_with_stdin("check", folder.read("list"));
        expect_check(run, 1, &verdicts, &message);
        let run = folder.run_with_stdin("check list -", line("a", "a"));
        expect_check(run, 1, &[&verdicts, "a: OK\n"].concat(), &message);
        let run = folder.run_with_stdin("check - list", line("a", "a"));
        expect_check(run, 1, &["a: OK\n", &verdicts].concat(), &message);
        let key = [b'x'; 32];
        folder.write("list", format!("BLAKE3 ({name}) = {}\n", blake3::keyed_hash(&key, b"")));
        let run = folder.run_with_stdin("check --key-file /dev/stdin list", key);
        expect_check(run, 1, &format!("{name}: FAILED open or read\n"), &message);
        let run = folder.run_with_stdin("--files0-from -", format!("{name}\0"));
        assert_eq!((run.status.code(), text(&run.stdout)), (Some(1), String::new()), "{name}");
    }
    let run = folder.run_with_stdin("check --root /dev", line("", "stdin"));
    expect_check(run, 1, "stdin: FAILED open or read\n", &format!("lanesum: stdin: {why}\n"));
    // A list of a file, or of another pipe, may be checked.
    let bash = |script: &str| output(folder.command("bash").args(["-c", script, PROGRAM]));
    folder.write("list", line("abc", "-"));
    expect(&bash("echo -n abc | \"$0\" check <(cat list)"), 0, "-: OK\n", "");
    folder.write("list", line("", "/dev/fd/5"));
    let message = format!("lanesum: /dev/fd/5: {why}\n");
    let run = bash("\"$0\" check /dev/fd/5 5< <(cat list)");
    expect_check(run, 1, "/dev/fd/5: FAILED open or read\n", &message);
}

/// A pipe that brings nothing is a list that did not come, and not one of a package without files.
#[test]
fn list_that_does_not_arrive_fails() {
    let folder = Folder::of(&["a"]);
    folder.write("good", line("a", "a"));
    let bash = |script: &str| output(folder.command("bash").args(["-c", script, PROGRAM]));
    for script in [
        "\"$0\" check good <(true)",
        "true | \"$0\" check good -",
        "\"$0\" check good - </dev/null",
    ] {
        let run = bash(script);
        let stderr = text(&run.stderr);
        assert!(
            stderr.contains(
                ": no checksum lines received\nhint: check the command that writes the list\n"
            ),
            "{stderr}"
        );
        assert_eq!((run.status.code(), text(&run.stdout)), (Some(1), "a: OK\n".to_owned()));
    }
}

#[test]
fn unknown_algorithms_fail() {
    let folder = Folder::of(&["a"]);
    let unknown =
        "BLAKE2s (a) = 333fcb4ee1aa7c115355ec66ceac917c8bfd815bf7587d325aec1864edd24e34\n";
    folder.write("list", unknown.repeat(2) + &line("a", "a") + &format!("{}  a\n", "a".repeat(48)));
    let words = "lanesum: list: not checked: 3 lines of unknown algorithms (BLAKE2s, Tiger)\n";
    let summary = expect_check(folder.run("check list"), 1, "a: OK\n", words);
    assert!(summary.is_empty(), "{summary}");
    expect_check(folder.run("check --status list"), 1, "", words);
    let lines: String = [(1, "BLAKE2s"), (2, "BLAKE2s"), (4, "Tiger")]
        .map(|(line, of)| {
            format!("lanesum: list: line {line}: unknown algorithm {of}, not checked\n")
        })
        .concat();
    expect_check(folder.run("check --warn list"), 1, "a: OK\n", &[&lines, words].concat());
    folder.write("list", unknown);
    let words = "lanesum: list: not checked: 1 line of unknown algorithms (BLAKE2s)\n";
    expect_check(folder.run("check list"), 1, "", words);
}

/// The commonest mistake: lists are checked from where they were made.
#[test]
fn files_next_to_their_list_give_a_hint() {
    let folder = Folder::of(&["iso/a", "iso/b"]);
    folder.write("iso/SUMS", line("iso/a", "a") + &line("iso/b", "b"));
    let gone =
        ["a", "b"].map(|name| format!("lanesum: {name}: No such file or directory\n")).concat();
    let verdicts = "a: FAILED open or read\nb: FAILED open or read\n";
    let remedy = "lanesum: iso/SUMS: its files are in the directory of the list\nhint: use --beside, or --root iso\n";
    expect_check(folder.run("check iso/SUMS"), 1, verdicts, &[&gone, remedy].concat());
    expect_check(folder.run("check --root iso iso/SUMS"), 0, "a: OK\nb: OK\n", "");
    fs::remove_file(folder.path("iso/a")).unwrap();
    let elsewhere = "lanesum: iso/SUMS: all of its 2 files are missing\nhint: --root DIR names the directory of the files\n";
    expect_check(folder.run("check iso/SUMS"), 1, verdicts, &[&gone, elsewhere].concat());

    // The remedy is no option.
    let folder = Folder::of(&["-iso/a"]);
    folder.write("-iso/SUMS", line("-iso/a", "a"));
    let remedy = "lanesum: -iso/SUMS: its files are in the directory of the list\nhint: use --beside, or --root ./-iso";
    let run = folder.run("check -- -iso/SUMS");
    assert!(text(&run.stderr).contains(remedy), "{}", text(&run.stderr));
    expect_check(folder.run("check --root ./-iso -- -iso/SUMS"), 0, "a: OK\n", "");
}

/// Twenty years of folders, with a list in each.
#[test]
fn beside_looks_names_up_next_to_the_list() {
    let folder = Folder::of(&["old/1/a", "old/2/a", "a", "-"]);
    folder.write("old/1/MD5SUMS", line("old/1/a", "a"));
    folder.write("old/2/MD5SUMS", line("other", "a") + &line("x", "gone"));
    folder.write("MD5SUMS", line("a", "a") + &line("-", "-"));
    let verdicts = "old/1/a: OK\nold/2/a: FAILED\nold/2/gone: FAILED open or read\na: OK\n-: OK\n";
    let told = "lanesum: old/2/gone: No such file or directory\n";
    let lists = "check --beside old/1/MD5SUMS old/2/MD5SUMS MD5SUMS";
    expect_check(folder.run(lists), 1, verdicts, told);
    // Also where a list says another folder: it came here with its files.
    let hashdeep = "%%%% HASHDEEP-1.0\n%%%% size,md5,filename\n## Invoked from: /srv\n";
    folder.write("old/1/deep", format!("{hashdeep}7,{},a\n", md5("old/1/a")));
    expect_check(folder.run("check --beside old/1/deep"), 0, "old/1/a: OK\n", "");
    folder.write("deep", format!("{hashdeep}1,{},a\n", md5("a")));
    expect_check(folder.run("check --beside deep"), 0, "a: OK\n", "");
    for args in ["check --beside", "check --beside MD5SUMS -"] {
        let run = folder.run_with_stdin(args, line("a", "a"));
        let words = "lanesum: --beside: a list on standard input is not in a directory\n\
                     hint: use --root DIR\n";
        expect(&run, 2, "", words);
    }
    assert_eq!(folder.run("check --beside --root old MD5SUMS").status.code(), Some(2));
}

/// A list of hashdeep that came from another machine.
#[test]
fn directory_of_hashdeep_is_reported() {
    let folder = Folder::of(&["d/a", "b"]);
    let header = "%%%% HASHDEEP-1.0\n%%%% size,md5,filename\n## Invoked from: /no/such\n";
    let says = "its files were in /no/such";
    for (list, name, words) in [
        (
            "list",
            "d/a",
            format!("{says}\nhint: the files are in the current directory: --root .\n"),
        ),
        ("list", "x", format!("{says}\nhint: --root DIR names the directory of the files\n")),
        (
            "d/list",
            "a",
            format!(
                "{says}\nlanesum: d/list: its files are in the directory of the list\nhint: use --beside"
            ),
        ),
    ] {
        folder.write(list, format!("{header}3,{},{name}\n", md5("d/a")));
        let told = text(&folder.run(&format!("check {list}")).stderr);
        assert!(told.contains(&format!("lanesum: {list}: {words}")), "{told}");
    }
    folder.write("list", format!("{header}3,{},d/a\n", md5("d/a")));
    expect_check(folder.run("check --root . list"), 0, "d/a: OK\n", "");
    let told = text(&folder.run("check --root d list").stderr);
    assert!(!told.contains(says), "{told}");
}

#[test]
fn each_line_of_one_file_is_judged_by_itself() {
    let folder = folder();
    let list = line("x", "good") + &line("good", "good") + "# and\n" + &line("y", "good");
    folder.write("list", &list);
    let stdout = "good: FAILED\ngood: OK\ngood: FAILED\n";
    expect_check(folder.run("check list"), 1, stdout, "");
    // More than share one read.
    folder.write("list", line("good", "good").repeat(100) + &line("bad", "bad"));
    let stdout = "good: OK\n".repeat(100) + "bad: OK\n";
    let summary = expect_check(folder.run("check list"), 0, &stdout, "");
    assert!(summary.starts_with("lanesum: 2 files (101 lines), 7 B in "), "{summary}");
}

#[test]
fn a_verdict_does_not_wait_for_the_next_line() {
    let folder = Folder::of(&["a"]);
    let list = folder.run("-a md5,sha1,sha256 a").stdout;
    for threads in ["1", "2"] {
        let mut command = folder.lanesum(["check", "-j", threads]);
        let mut running = start(command.stdin(Stdio::piped()));
        let (mut writer, mut stdout) = (running.stdin(), running.stdout());
        // Each comes with the first letter of the next one, which holds nothing up.
        let mut sent = 0;
        for end in (0..list.len()).filter(|&at| list[at] == b'\n') {
            let next = list.len().min(end + 2);
            writer.write_all(&list[sent..next]).unwrap();
            sent = next;
            let mut verdict = String::new();
            stdout.read_line(&mut verdict).unwrap();
            assert_eq!(verdict, "a: OK\n");
        }
        drop(writer);
        assert_eq!(running.finish().status.code(), Some(0));
    }
}

/// The last line says all that made the exit code 1, and what was passed over.
#[test]
fn the_summary_leaves_nothing_out() {
    let folder = folder();
    folder.write("list", lines(&["good", "bad"]) + "nonsense\n" + &line("x", "gone"));
    folder.write("nonsense", "nonsense\n");
    let ending = |args: &str| {
        let stderr = text(&folder.run(args).stderr);
        stderr.trim_end().rsplit_once("/s): ").map(|(_, words)| words.to_owned()).unwrap()
    };
    assert_eq!(ending("check list"), "1 could not be read, 1 skipped line");
    let ignoring = |more| ending(&format!("check --ignore-missing {more}"));
    assert_eq!(ignoring("list"), "no failures, 1 missing, 1 skipped line");
    assert_eq!(ignoring("--strict list"), "1 skipped line, 1 missing");
    assert_eq!(ignoring("list nonsense"), "1 bad list, 1 missing, 2 skipped lines");
    let strict = ending("check --strict list nowhere nonsense");
    assert_eq!(strict, "1 could not be read, 2 bad lists, 2 skipped lines");
}

/// The list of 3,000 files, one of which is not as it was, comes whole by whatever way; nothing of
/// it is read for the bar.
#[test]
fn a_list_through_a_pipe_is_checked_to_its_end() {
    let folder = Folder::new();
    let (mut list, mut verdicts) = (String::new(), String::new());
    for number in 0..3000 {
        let name = format!("t/{number}");
        folder.write(&name, &name);
        let is_bad = number == 2900;
        list += &line(if is_bad { "other" } else { &name }, &name);
        verdicts += &format!("{name}: {}\n", if is_bad { "FAILED" } else { "OK" });
    }
    folder.fifo("list");
    let (first, rest) = list.split_at(list.find('\n').unwrap() + 1);
    for way in ["", "-", "/dev/stdin", "/dev/fd/3", "list"] {
        let script = format!("exec \"$0\" check --progress always {way} 3<&0");
        let mut command = folder.command("sh");
        let mut running = start(command.args(["-c", &script, PROGRAM]).stdin(Stdio::piped()));
        let (stdin, mut stderr) = (running.stdin(), running.stderr());
        let mut writer: Box<dyn io::Write> = match way {
            "list" => Box::new(folder.writer("list")),
            _ => Box::new(stdin),
        };
        writer.write_all(first.as_bytes()).unwrap();
        // Now whoever counts has begun, and there is most of the list to take from.
        let mut drawn = super::progress::drawn(&mut stderr, " file");
        writer.write_all(rest.as_bytes()).unwrap();
        drop(writer);
        drawn += &super::progress::rest(&mut stderr);
        assert!(!drawn.contains(" of "), "the whole is not known: {drawn}");
        assert!(drawn.contains("lanesum: 3,000 files, "), "{way}: {drawn}");
        expect(&running.finish(), 1, &verdicts, "");
    }
}

/// Names that differ in their normal form alone, of which one is lost: to read the list in the
/// other form would check its twin twice.
#[test]
fn twin_of_a_lost_file_gives_no_hint() {
    let folder = Folder::new();
    let (apart, in_one) = ("a\u{308}", "\u{e4}");
    folder.write(apart, "same");
    folder.write("list", line("same", in_one));
    let hinted = text(&folder.run("check list").stderr);
    assert!(hinted.contains("Unicode form"), "{hinted}");
    folder.write("list", line("same", in_one) + &line("same", apart));
    let lost = folder.run("check list");
    assert_eq!(lost.status.code(), Some(1));
    assert!(!text(&lost.stderr).contains("Unicode form"), "{}", text(&lost.stderr));
}

/// One verdict is told beside what was passed over.
#[test]
fn missing_files_are_counted_with_one_result() {
    let folder = Folder::of(&["a"]);
    folder.write("list", line("a", "a") + &line("a", "gone") + &line("a", "lost"));
    let told = folder.run("check --ignore-missing list");
    assert_eq!(told.status.code(), Some(0));
    assert!(text(&told.stderr).ends_with("no failures, 2 missing\n"), "{}", text(&told.stderr));
}

/// One line that is damaged hides nothing of a list whose others have sizes.
#[test]
fn md5deep_list_with_a_bad_first_line_is_read() {
    let folder = Folder::of(&["a", "b", "c"]);
    expect(&folder.run("--format md5deep -o list a b c"), 0, "", "");
    let list = folder.read("list");
    folder.write("list", list.trim_start().split_once("  ").unwrap().1.replacen(' ', "x", 1));
    folder.write("c", "C");
    let run = folder.run("check list");
    assert_eq!(run.status.code(), Some(1));
    assert_eq!(text(&run.stdout), "b: OK\nc: FAILED\n");
}
