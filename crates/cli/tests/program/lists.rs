//! What `check` takes for a list, and what it says of what is none.

use super::*;

fn folder() -> Folder {
    Folder::of(&["a", "b"])
}

/// Checks a list; gives exit code, standard output and messages without a summary.
fn check(folder: &Folder, args: &str, list: impl AsRef<[u8]>) -> (Option<i32>, String, String) {
    folder.write("list", list);
    let run = folder.run(&format!("check {args} list"));
    let messages = text(&run.stderr);
    let messages = messages.lines().filter(|line| !line.contains("/s): "));
    let messages: String = messages.map(|line| format!("{line}\n")).collect();
    (run.status.code(), text(&run.stdout), messages)
}

#[track_caller]
fn assert_ok(args: &str, list: impl AsRef<[u8]>) {
    assert_eq!(check(&folder(), args, list), (Some(0), "a: OK\nb: OK\n".into(), String::new()));
}

#[track_caller]
fn assert_refused(args: &str, list: impl AsRef<[u8]>, words: &str) {
    let message = format!("lanesum: list: {words}\n");
    assert_eq!(check(&folder(), args, list), (Some(1), String::new(), message));
}

fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(to_bytes).collect()
}

#[test]
fn lists_of_windows_are_read() {
    let list = lines(&["a", "b"]).replace('\n', "\r\n");
    assert_ok("--strict", &list);
    assert_ok("--strict", format!("\u{feff}{list}"));
    assert_ok("--strict", format!("\u{feff}{}", lines(&["a", "b"])));
    assert_ok("--strict", lines(&["a", "b"]).replace("  ", " *"));
}

#[test]
fn utf16_list_fails_with_a_hint() {
    type ToBytes = fn(u16) -> [u8; 2];
    let orders = [(u16::to_le_bytes as ToBytes, "UTF-16LE"), (u16::to_be_bytes, "UTF-16BE")];
    let folder = folder();
    for (to_bytes, unmarked) in orders {
        for (mark, from) in [("", unmarked), ("\u{feff}", "UTF-16")] {
            let filter = format!("iconv -f {from} -t UTF-8");
            let words =
                format!("looks like UTF-16, not UTF-8\nhint: {filter} <list | lanesum check");
            let list = format!("{mark}{}", lines(&["a", "b"]));
            assert_refused("", utf16(&list, to_bytes), &words);
            // What is to be typed works.
            folder.write("li st", utf16(&format!("{mark}{}", lines(&["a"])), to_bytes));
            assert_told_works(&folder, &filter);
        }
    }
}

/// Holds each verb to the filter that it tells of the list `li st`, of the file `a`.
fn assert_told_works(folder: &Folder, filter: &str) {
    for (args, words, result) in [
        (&["check", "--root", ".", "li st"][..], " | lanesum check --root .", "a: OK\n"),
        (&["compare", "li st", "t"], " | lanesum compare - t", ""),
        (&["convert", "--to", "tag", "li st"], " | lanesum convert --to tag", "MD5 (a) = "),
    ] {
        let told = String::from_utf8(output(&mut folder.lanesum(args)).stderr).unwrap();
        assert!(told.contains(&format!("{filter} <'li st'{words}\n")), "{args:?}: {told}");
        let script = told.split(&format!("{filter} ")).nth(1).unwrap();
        let script = script.trim_end().replace("lanesum ", &format!("'{PROGRAM}' "));
        let ran = output(folder.command("sh").args(["-c", &format!("{filter} {script}")]));
        assert!(text(&ran.stdout).starts_with(result), "{args:?}: {ran:?}");
    }
}

#[test]
fn compressed_list_fails_with_a_hint() {
    let folder = folder();
    folder.write("it", lines(&["a"]));
    let compressed = output(folder.command("gzip").args(["-c", "it"]));
    folder.write("it.gz", compressed.stdout);
    let told = output(&mut folder.lanesum(["check", "it.gz"]));
    assert_eq!(told.status.code(), Some(1), "{told:?}");
    let told = String::from_utf8(told.stderr).unwrap();
    let script = told.split_once("zcat").unwrap_or_else(|| panic!("{told}")).1;
    let script = format!("zcat{script}").replace("lanesum ", &format!("'{PROGRAM}' "));
    let ran = output(folder.command("sh").args(["-c", &script]));
    assert_eq!(text(&ran.stdout), "a: OK\n", "{script}: {ran:?}");
}

#[test]
fn digest_without_a_name_gives_a_command() {
    let folder = Folder::of(&["d/"]);
    let digest = md5("x");
    for name in ["x.bam", "a b", "d/y", "\u{fc}"] {
        folder.write(name, "x");
        for list in [format!("{digest} \n"), format!("\n{digest}\n"), format!("{digest} \r\n")] {
            folder.write(format!("{name}.md5"), &list);
            let args = ["check", &format!("{name}.md5")];
            let run = output(folder.lanesum(args).env("LC_ALL", "C.UTF-8"));
            let words = "contains a digest, but no name\nhint: ";
            let printed = if name.contains(' ') { format!("'{name}'") } else { name.to_owned() };
            assert_ran(&folder, &run, words, &format!("{printed}: OK\n"));
        }
    }
    // With the options of the command, and where that looks names up.
    folder.write("d/y.md5", format!("{digest} \n"));
    let run = folder.run("check -a md5 --root d --quiet d/y.md5");
    assert_ran(&folder, &run, "contains a digest, but no name\nhint: ", "");
    let run = folder.run("check --beside d/y.md5");
    assert_ran(&folder, &run, "contains a digest, but no name\nhint: ", "y: OK\n");
    folder.write("z.md5", format!("{digest}\0"));
    folder.write("z", "x");
    let run = folder.run("check --zero z.md5");
    assert_ran(&folder, &run, "contains a digest, but no name\nhint: ", "z: OK\n");
}

#[test]
fn digests_without_names_are_reported() {
    let folder = Folder::of(&["a", "b&", "c|"]);
    let digest = md5("x");
    let words = "expected \"DIGEST  NAME\"\n";
    for name in ["list", "gone.md5", "b&.md5", "c|.md5"] {
        folder.write(name, format!("{digest} \n"));
        let told = format!("contains a digest, but no name; {words}");
        let run = output(&mut folder.lanesum(["check", name]));
        assert!(run.stderr.ends_with(told.as_bytes()), "{run:?}");
        assert_eq!(run.status.code(), Some(1));
    }
    let run = folder.run_with_stdin("check", format!("{digest}\n"));
    let told = format!("lanesum: 'standard input': contains a digest, but no name; {words}");
    expect(&run, 1, "", told);
    folder.write("a.md5", format!("{digest}\n{digest}\n"));
    let told = format!("lanesum: a.md5: contains digests without file names; {words}");
    expect(&folder.run("check a.md5"), 1, "", told);
    // What is no digest, or of no algorithm that was asked for.
    for (args, list) in [("", "abc\n"), ("", &digest[1..]), ("-a sha1 ", &digest)] {
        folder.write("a.md5", list);
        let run = folder.run(&format!("check {args}a.md5"));
        assert!(!text(&run.stderr).contains("no name"), "{run:?}");
        assert_eq!(run.status.code(), Some(1));
    }
}

/// Runs the command that was told behind these words, and holds it to what it prints.
#[track_caller]
pub(super) fn assert_ran(folder: &Folder, told: &Output, words: &str, stdout: &str) {
    assert_eq!(told.status.code(), Some(1), "{told:?}");
    let told = String::from_utf8(told.stderr.clone()).unwrap();
    let script = told.split_once(words).unwrap_or_else(|| panic!("{told}")).1;
    let script = script.replace("lanesum ", &format!("'{PROGRAM}' "));
    let ran = output(folder.command("sh").args(["-c", &script]).env("LC_ALL", "C.UTF-8"));
    assert_eq!(ran.stdout, stdout.as_bytes(), "{script}: {ran:?}");
    assert_eq!(ran.status.code(), Some(0), "{script}: {ran:?}");
}

#[test]
fn binary_list_is_refused() {
    let words = "looks like binary data, not a checksum list";
    assert_refused("", fs::read(PROGRAM).unwrap(), words);
    assert_refused("", [0; 4096], words);
    let run = folder().run_with_stdin("check", [0; 4096]);
    expect(&run, 1, "", format!("lanesum: 'standard input': {words}\n"));
}

#[test]
fn unexpected_line_ending_gives_a_hint() {
    let (newlines, nuls) = (lines(&["a", "b"]), lines(&["a", "b"]).replace('\n', "\0"));
    assert_ok("-z --strict", &nuls);
    assert_ok("--zero --strict", nuls.trim_end_matches('\0'));
    assert_refused("", &nuls, "its lines end with NUL\nhint: use --zero");
    assert_refused(
        "-z",
        &newlines,
        "its lines end with newlines, not with NUL\nhint: leave out --zero",
    );
}

#[test]
fn a_nul_in_a_line_spoils_that_line_only() {
    let list = lines(&["a"]) + &line("a", "a\0b") + &lines(&["b"]);
    let (code, stdout, messages) = check(&folder(), "--warn", &list);
    assert_eq!((code, stdout.as_str()), (Some(1), "a: OK\nb: OK\n"));
    assert!(messages.starts_with("lanesum: list: line 2: contains a digest"), "{messages}");
}

#[test]
fn a_list_that_ends_within_a_line_is_read_up_to_it() {
    let list = lines(&["a", "b"]);
    assert_ok("--strict", list.trim_end());
    let words = "list: line 2: the list is cut off here";
    // Within the digest of the second line, before its name, and within its tag.
    let tags = format!("MD5 (a) = {}\nMD5 (b) = {}\n", md5("a"), md5("b"));
    let (of_tag, of_digest) = (tags.len() / 2 + 5, tags.len() - 3);
    for cut in
        [&list[..50], &list[..38], &list[..68], &list[..70], &tags[..of_tag], &tags[..of_digest]]
    {
        let folder = folder();
        let (code, stdout, messages) = check(&folder, "--quiet", cut);
        assert_eq!((code, stdout.as_str()), (Some(1), ""), "{cut}");
        assert_eq!(messages, format!("lanesum: {words}\n"), "{cut}");
        for other in ["compare list .", "compare --quick . list", "convert --to csv list"] {
            let run = folder.run(other);
            assert_eq!(run.status.code(), Some(1), "{other}: {cut}");
            assert!(text(&run.stderr).contains(words), "{other}: {cut}: {}", text(&run.stderr));
        }
        // GNU's has no such thing.
        assert_eq!(folder.run("md5sum --check list").status.code(), Some(0), "{cut}");
    }
    // None of these was cut, so nothing is missing.
    for whole in ["\u{1a}", "# the end", "  "] {
        assert_eq!(check(&folder(), "", list.clone() + whole).0, Some(0), "{whole:?}");
    }
    let other = format!("{}{}  c", list, "0".repeat(40));
    assert!(!check(&folder(), "--warn -a md5", other).2.contains("middle"));
}

/// Or a list that did not arrive would pass for one whose files are all well.
#[test]
fn check_of_nothing_fails() {
    let words = "no checksum lines; nothing was checked";
    for list in ["", "\n", "# nothing\n\n"] {
        for args in ["", "--quiet", "--status", "--ignore-missing"] {
            assert_refused(args, list, words);
        }
    }
    let folder = folder();
    let told = "lanesum: 'standard input': no checksum lines received\nhint: check the command that writes the list\n";
    for args in ["check", "check -", "check --status"] {
        expect(&folder.run(args), 1, "", told);
        expect(&folder.run_with_stdin(args, ""), 1, "", told);
    }
    folder.write("empty", "");
    let told = "lanesum: no checksum lines in any of the lists; nothing was checked\n";
    expect(&folder.run("check empty empty"), 1, "", told);
}

/// As the lists of Debian's packages that bring no files.
#[test]
fn empty_list_among_others_passes() {
    let folder = folder();
    folder.write("empty", "");
    folder.write("good", lines(&["a"]));
    let run = folder.run("check empty good empty");
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), "a: OK\n".to_owned()));
    assert!(text(&run.stderr).ends_with("/s): no failures, 2 empty lists\n"), "{run:?}");
    let run = folder.run("check --strict empty good");
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(1), "a: OK\n".to_owned()));
    let told = "lanesum: empty: no checksum lines\n";
    assert!(text(&run.stderr).starts_with(told), "{run:?}");
    assert!(text(&run.stderr).ends_with("/s): 1 empty list\n"), "{run:?}");
}

#[test]
fn list_without_checksum_lines_fails() {
    assert_refused("", "one\ntwo\n", "no checksum lines\nhint: check that it is a checksum list");
    assert_refused(
        "--status",
        "one\ntwo\n",
        "no checksum lines\nhint: check that it is a checksum list",
    );
    // Beside another that is good.
    let folder = folder();
    folder.write("good", lines(&["a"]));
    folder.write("bad", "nonsense\n");
    let message = "lanesum: bad: no checksum lines\nhint: check that it is a checksum list\n";
    expect(&folder.run("check bad good"), 1, "a: OK\n", message);
}

#[test]
fn overlong_line_is_not_a_checksum_line() {
    let list = lines(&["a"]) + &line("x", &"l".repeat(3 << 20)) + &lines(&["b"]);
    let (code, stdout, messages) = check(&folder(), "--warn", list);
    assert_eq!((code, stdout.as_str()), (Some(1), "a: OK\nb: OK\n"));
    assert!(messages.starts_with("lanesum: list: line 2: longer than 1 MiB\n"), "{messages}");
}

#[test]
fn the_closest_format_of_an_unknown_list_is_named() {
    let folder = folder();
    let title =
        format!("Made by hand\n%%%% HASHDEEP-1.0\n%%%% size,md5,filename\n1,{},a\n", md5("a"));
    folder.write("list", &title);
    let told = "lanesum: list: no checksum lines: line 1 is not of the format hashdeep, which \
                begins in line 2\nhint: tail -n +2 list | lanesum check\n";
    let run = folder.run("check list");
    assert_eq!((run.status.code(), text(&run.stderr).as_str()), (Some(1), told));
    let cut = format!("{}  a\n", &md5("a")[1..]);
    let (code, _, messages) = check(&folder, "", cut);
    let told = "list: no checksum lines: line 1 looks like the format gnu, but no algorithm has digests of 31 digits";
    assert_eq!(code, Some(1));
    assert!(messages.contains(told), "{messages}");
}

/// Those that take no key.
const ALGORITHMS: [&str; 20] = [
    "md5",
    "sha1",
    "sha224",
    "sha256",
    "sha384",
    "sha512",
    "blake3",
    "blake2b",
    "sha512-256",
    "sha3-256",
    "sha3-512",
    "dropbox",
    "glacier",
    "xxh128",
    "xxh3-64",
    "xxh64",
    "xxh32",
    "crc32c",
    "crc32",
    "crc64nvme",
];

#[test]
fn a_list_of_all_algorithms_is_read_back() {
    let folder = folder();
    let all = ALGORITHMS.join(",");
    let list = folder.run(&format!("-a {all} a b")).stdout;
    let (code, stdout, messages) = check(&folder, "--strict", &list);
    let expected =
        ["a: OK\n".repeat(ALGORITHMS.len()), "b: OK\n".repeat(ALGORITHMS.len())].concat();
    assert_eq!((code, stdout, messages), (Some(0), expected, String::new()));
    folder.write("b", "B");
    let (code, stdout, _) = check(&folder, "--quiet", &list);
    assert_eq!((code, stdout), (Some(1), "b: FAILED\n".repeat(ALGORITHMS.len())));
}

#[test]
fn untagged_lines_are_of_the_algorithm_that_is_named_or_that_their_length_tells() {
    let folder = folder();
    let list = |algorithm| folder.run(&format!("-a {algorithm} --untagged a b")).stdout;
    let ok = |args: &str, list: Vec<u8>| check(&folder, args, list).0 == Some(0);
    for algorithm in ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "xxh64", "crc32c"] {
        assert!(ok("--strict", list(algorithm)), "{algorithm}");
    }
    for algorithm in ALGORITHMS {
        assert!(ok(&format!("--strict -a {algorithm}"), list(algorithm)), "{algorithm}");
    }
    // As long as those of SHA-256 and MD5.
    assert!(!ok("", list("blake3")) && !ok("", list("xxh3")) && !ok("-a blake3", list("sha256")));
}

#[test]
fn lists_of_other_programs_are_read() {
    let (a, b) = (md5("a"), md5("b"));
    assert_ok("--strict", format!("{a} *a\n{b} *b\n"));
    assert_ok("--strict", format!("MD5 (a) = {a}\nMD5 (b) = {b}\n"));
    assert_ok("--strict", format!("MD5(a)= {a}\nMD5(b)= {b}\n"));
    assert_ok("--strict", format!("{a} a\n{b} b\n"));
    assert_ok("--strict", format!("{}  a\n{}  b\n", a.to_uppercase(), b.to_uppercase()));
}

/// What is written by default is read by default.
#[test]
fn a_list_of_any_algorithm_is_checked_without_saying_which() {
    let folder = folder();
    for algorithm in ALGORITHMS {
        let list = folder.run(&format!("-a {algorithm} a b")).stdout;
        let ok = (Some(0), "a: OK\nb: OK\n".to_owned(), String::new());
        assert_eq!(check(&folder, "--strict", list), ok, "{algorithm}");
    }
}

#[test]
fn ambiguous_untagged_lines_give_a_hint() {
    let folder = folder();
    let list = |algorithm| folder.run(&format!("-a {algorithm} --untagged a b")).stdout;
    let told = |taken_for, is, others| {
        format!(
            "lanesum: list: no untagged line matches as {taken_for}\n\
             hint: if the lines are {is}: -a {is}{others}\n"
        )
    };
    let (of_256, of_512) = (" (or sha512-256, sha3-256, dropbox, glacier)", " (or sha3-512)");
    for (taken_for, is, first, others) in [
        ("sha256", "blake3", "blake3", of_256),
        ("sha256", "dropbox", "blake3", of_256),
        ("sha512", "blake2b", "blake2b", of_512),
        ("md5", "xxh128", "xxh128", ""),
        ("xxh64", "crc64nvme", "xxh3-64", " (or crc64nvme)"),
    ] {
        let (code, _, messages) = check(&folder, "", list(is));
        assert_eq!((code, messages), (Some(1), told(taken_for, first, others)));
        assert_eq!(check(&folder, &format!("-a {is}"), list(is)).2, "");
        assert_eq!(check(&folder, "--status", list(is)).2, "");
        // One that matches settles it, and so does whoever says which it is.
        let one = [list(is), list(taken_for)].concat();
        assert_eq!(check(&folder, "", one).2, "");
        assert_eq!(check(&folder, &format!("-a {taken_for}"), list(is)).2, "");
    }
    let both = [list("xxh128"), list("blake3")].concat();
    let (_, _, messages) = check(&folder, "--quiet", both);
    assert_eq!(messages, told("md5", "xxh128", "") + &told("sha256", "blake3", of_256));
    // Lines that name theirs, and digits that only one algorithm has.
    folder.write("other", "other");
    let wrong = folder.run("-a xxh3,md5,sha256 --tag other").stdout;
    let wrong = String::from_utf8(wrong).unwrap().replace("(other)", "(a)");
    assert_eq!(check(&folder, "", wrong).2, "");
    let wrong = folder.run("-a sha1 other").stdout;
    let wrong = String::from_utf8(wrong).unwrap().replace("other", "a");
    assert_eq!(check(&folder, "", wrong), (Some(1), "a: FAILED\n".into(), String::new()));
}

/// As `rhash --bsd` writes them.
#[test]
fn tags_may_be_padded() {
    let folder = Folder::of(&[]);
    folder.write("a", "abc");
    folder.write(
        "list",
        format!("MD5   (a) = {ABC}\nSHA1  (a) = a9993e364706816aba3e25717850c26c9cd0d89d\n"),
    );
    let run = folder.run("check list");
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), "a: OK\na: OK\n".into()));
}

#[test]
fn an_empty_file_does_not_tell_what_lines_are_of() {
    let folder = Folder::of(&["a", "b"]);
    folder.write("empty", "");
    // Zeros, under both algorithms.
    let list = folder.run("-a crc32 --untagged a b empty").stdout;
    let (code, stdout, messages) = check(&folder, "", list);
    assert_eq!(code, Some(1));
    assert!(stdout.contains("empty: OK"), "{stdout}");
    assert!(
        messages.contains("matches as crc32c") && messages.contains("(or crc32)\n"),
        "{messages}"
    );
}
