//! What is meant by a command line that is almost right.

use super::*;

/// A link gives the program the name of another tool.
#[test]
fn other_program_names_are_refused() {
    let folder = Folder::of(&["a"]);
    for (name, words) in [
        (
            "sha256sum",
            "called as sha256sum, which lanesum does not replace\nhint: lanesum -a sha256",
        ),
        ("b3sum", "called as b3sum, which lanesum does not replace\nhint: lanesum -a blake3"),
        ("cksum", "called as cksum, whose algorithms lanesum does not have"),
    ] {
        folder.link(env!("CARGO_BIN_EXE_lanesum"), name);
        let refused = output(folder.command(folder.path(name)).arg("a"));
        expect(&refused, 2, "", format!("lanesum: {words}\n"));
    }
    folder.link(env!("CARGO_BIN_EXE_lanesum"), "checksum");
    let run = output(folder.command(folder.path("checksum")).arg("a"));
    expect(&run, 0, line("a", "a"), "");
}

/// Control characters of a name begin no line of their own.
#[test]
fn name_in_an_error_forges_no_line() {
    let folder = Folder::of(&["a"]);
    let name = "no\u{1b}[31m\nlanesum: fake";
    let below = format!("{name}/list");
    for args in [["check", "--root", name], ["check", "--key-file", name], ["a", "-o", &below]] {
        let run = output(&mut folder.lanesum(args));
        let told = text(&run.stderr);
        assert!(!told.contains('\u{1b}') && !told.contains("\nlanesum: fake"), "{args:?}: {told}");
        assert_ne!(run.status.code(), Some(0));
    }
}

#[test]
fn check_option_of_md5sum_gives_a_tip() {
    let folder = Folder::of(&["a"]);
    folder.write("list", lines(&["a"]));
    for args in ["-c list", "--check list", "-z -c list", "sum -c list", "check -c list"] {
        let run = folder.run(args);
        assert_eq!((run.status.code(), text(&run.stdout).as_str()), (Some(2), ""), "{args}");
        let told = text(&run.stderr);
        assert!(told.contains("tip: 'lanesum check LIST' checks lists\n"), "{told}");
        assert!(!told.contains("as a value"), "{told}");
    }
}

/// Before anything is done: else what is meant for the command would be hashed.
#[test]
fn misspelt_command_gives_a_hint() {
    let folder = Folder::of(&["a", "chekc"]);
    for (word, command) in [
        ("cehck", "check"),
        ("Check", "check"),
        ("md5sums", "md5sum"),
        ("verfiy", "verify"),
        ("helo", "help"),
        ("create", "bag create"),
        ("validate", "bag validate (of a list: lanesum check LIST)"),
        ("remove", "forget"),
        ("rename", "relocate"),
        ("hash", "sum"),
        ("md5", "-a md5"),
        ("sha256sum", "-a sha256"),
    ] {
        let told = format!(
            "lanesum: {word}: neither a file nor a command\nhint: did you mean lanesum {command}?\n"
        );
        for args in [word.to_owned(), format!("{word} a"), format!("-j 1 {word} a")] {
            expect(&folder.run(&args), 2, "", &told);
        }
    }
    // What there is, what does not come first, and what is like no command.
    expect(&folder.run("chekc a"), 0, lines(&["chekc", "a"]), "");
    for word in ["cehck", "rename"] {
        let told = format!("lanesum: {word}: No such file or directory\n");
        expect(&folder.run(&format!("a {word}")), 1, lines(&["a"]), &told);
        expect(&folder.run(&format!("sum {word}")), 1, "", &told);
        expect(&folder.run(&format!("-- {word} a")), 1, lines(&["a"]), &told);
    }
}

/// `lanesum FILE` needs no command, so a first word may be either.
#[test]
fn first_word_that_is_neither_a_file_nor_a_command_is_wrong_usage() {
    let folder = Folder::of(&["a"]);
    folder.link("nowhere", "dangling");
    let told = "lanesum: nope: neither a file nor a command\n\
                hint: to list the commands: lanesum --help\n";
    for args in ["nope", "nope a", "-a sha256 nope"] {
        expect(&folder.run(args), 2, "", told);
    }
    let named = output(&mut folder.lanesum(["two words"]));
    let told = "lanesum: 'two words': neither a file nor a command\n";
    assert!(text(&named.stderr).starts_with(told), "{named:?}");
    // Names with a slash or a dot, links and all later arguments are files, and so is each one of
    // `sum`.
    for args in ["./nope", "nope.iso", "d/nope", "sum nope", "-- nope", "dangling", "a nope"] {
        let name = args.split(' ').next_back().unwrap();
        let stdout = if args.starts_with("a ") { lines(&["a"]) } else { String::new() };
        let told = format!("lanesum: {name}: No such file or directory\n");
        expect(&folder.run(args), 1, stdout, told);
    }
    expect(&folder.run_with_stdin("-", "a"), 0, format!("{}  -\n", md5("a")), "");
}

#[test]
fn misspelt_subcommand_gives_a_tip() {
    let folder = Folder::of(&["a"]);
    for (args, meant) in [
        ("help chekc", "check"),
        ("help hash", "sum"),
        ("bag verify a", "bag validate"),
        ("bag udpate a", "bag update"),
        ("catalog chekc", "catalog check"),
        ("verfy --catalog c.db", "verify"),
    ] {
        let run = folder.run(args);
        let told = text(&run.stderr);
        assert_eq!(run.status.code(), Some(2), "{args}");
        assert!(told.contains(&format!("tip: did you mean lanesum {meant}?\n")), "{told}");
        assert_eq!(told.matches("tip: ").count(), 1, "{told}");
    }
    folder.write("validate", "validate");
    expect(&folder.run("validate a"), 0, lines(&["validate", "a"]), "");
}

#[test]
fn algorithms_are_known_in_any_case_and_with_a_hyphen() {
    let folder = Folder::of(&["a"]);
    let list = folder.run("-a sha256 a").stdout;
    for name in ["SHA256", "Sha256", "SHA-256"] {
        expect(&folder.run(&format!("-a {name} a")), 0, &list, "");
        let run = folder.run_with_stdin(&format!("check -a {name}"), &list);
        expect(&run, 0, "a: OK\n", "");
    }
    assert_eq!(folder.run("-a sha-257 a").status.code(), Some(2));
    let help = text(&folder.run("sum --help").stdout);
    assert!(help.contains("sha256") && !help.contains("SHA256"), "{help}");
}

#[test]
fn options_before_the_command_are_refused() {
    let folder = Folder::of(&["list"]);
    let told = "lanesum: options before the command check\nhint: lanesum check [OPTIONS] ...\n";
    for args in ["-a sha256 check list", "-j 1 check list"] {
        expect(&folder.run(args), 2, "", told);
    }
    // An option that only the command has.
    let run = folder.run("-j 1 check --quiet list");
    let told = text(&run.stderr);
    assert_eq!((run.status.code(), &*run.stdout), (Some(2), &b""[..]));
    assert!(told.contains("tip: options follow the command: lanesum check ...\n"), "{told}");
    // As a file that is named so.
    expect(
        &folder.run("list check"),
        1,
        lines(&["list"]),
        "lanesum: check: No such file or directory\nhint: the command comes first: lanesum check ...\n",
    );
    expect(&folder.run("sum check"), 1, "", "lanesum: check: No such file or directory\n");
    folder.write("check", "check");
    expect(&folder.run("./check"), 0, format!("{}  ./check\n", md5("check")), "");
}

/// A tip for a file is none where there is no such file.
#[test]
fn unknown_option_is_not_a_file() {
    let folder = Folder::of(&["-y"]);
    let tip = |args: &str| plain(folder.run(args)).contains("as a value");
    assert!(tip("status -y") && !tip("status -x") && !tip("check --vebose list"));
}

/// What is shown on a screen by Windows' own programs.
#[test]
fn output_of_windows_tools_gives_a_hint() {
    let folder = Folder::of(&["a"]);
    let sum = md5("a").to_uppercase();
    let table =
        format!("\r\nAlgorithm  Hash  Path\r\n---------  ----  ----\r\nMD5  {sum}  C:\\a\r\n");
    let list = format!("\r\nAlgorithm : MD5\r\nHash      : {sum}\r\nPath      : C:\\a\r\n");
    let certutil = format!("MD5 hash of a:\r\n{sum}\r\nCertUtil: -hashfile command completed.\r\n");
    for shown in [table, list, certutil] {
        folder.write("list", &shown);
        for args in ["check list", "compare list .", "convert --to gnu list"] {
            let run = folder.run(args);
            assert_eq!(run.status.code(), Some(1), "{args}");
            let told = plain(run);
            assert!(told.contains("list: output of Get-FileHash or certutil"), "{told}");
            assert!(told.contains("Export-Csv"), "{told}");
        }
        let run = folder.run_with_stdin("check", &shown);
        assert!(plain(run).contains("Export-Csv"), "{shown}");
    }
}

#[test]
fn options_of_other_programs_give_a_tip() {
    let folder = Folder::of(&["a"]);
    for (option, tip) in [
        ("-r", "directories are always read recursively: leave it out"),
        ("--recursive", "directories are always read recursively: leave it out"),
        ("-b", "files are always read as bytes: leave it out"),
        ("--sha256", "use -a sha256"),
        ("--verbose", "all messages are always printed: leave it out"),
    ] {
        let run = folder.run(&format!("{option} a"));
        assert_eq!((run.status.code(), &*run.stdout), (Some(2), &b""[..]), "{option}");
        let told = text(&run.stderr);
        assert!(told.contains(&format!("tip: {tip}\n")), "{told}");
        assert!(!told.contains("--resume") && !told.contains("as a value"), "{told}");
    }
}

/// An option that another command has, or that none needs.
#[test]
fn option_in_the_wrong_place_gives_a_tip() {
    let folder = Folder::of(&["a"]);
    let of_limit = |option| format!("'lanesum limit {option} ... DIR' sets it for a directory");
    for (args, tip) in [
        ("scan --limit 80M", &*of_limit("--limit")),
        ("scrub --every 9d", &of_limit("--every")),
        ("serve --between 1:00-6:00", &of_limit("--between")),
        ("status --all", "all directories are shown by default: leave it out"),
        ("report -o page.html", "--csv, --json or --html: ... >FILE"),
        ("report --format csv", "--csv, --json or --html: ... >FILE"),
        ("sum -q a", "there is nothing to silence: leave it out"),
        ("sum -v a", "all messages are always printed: leave it out"),
        ("catalog --catalog c.db check", "options follow the command: lanesum catalog check ..."),
        ("bag --fast validate b", "options follow the command: lanesum bag validate ..."),
        ("catalog --catalog c.db", "options follow the command: lanesum catalog VERB ..."),
    ] {
        let run = folder.run(args);
        assert_eq!((run.status.code(), &*run.stdout), (Some(2), &b""[..]), "{args}");
        let told = plain(run);
        assert!(told.contains("tip: ") && told.contains(tip), "{args}: {told}");
        assert_eq!(told.matches("tip: ").count(), 1, "{args}: {told}");
    }
}

/// A number of days is one without its unit, which then looks like a folder.
#[test]
fn a_unit_that_is_parted_from_its_number_is_told() {
    let folder = Folder::of(&["tree/a"]);
    let words = "hint: a unit follows its number without a space: --every 90d, --limit 80M\n";
    let add = folder.run("add --catalog c.db tree --every 3 months");
    assert_eq!(add.status.code(), Some(2));
    assert!(plain(add).ends_with(words));
    assert!(!exists(folder.path("c.db")));
    assert_eq!(folder.run("add --catalog c.db tree").status.code(), Some(0));
    let limit = folder.run("limit --catalog c.db --every 3 months tree");
    assert_eq!(limit.status.code(), Some(2));
    assert!(plain(limit).ends_with(words));
}

#[test]
fn help_is_found_wherever_it_is_asked_for() {
    let folder = Folder::of(&["a"]);
    for args in ["help --help", "help -h"] {
        let run = folder.run(args);
        assert_eq!((run.status.code(), &run.stdout), (Some(0), &folder.run("--help").stdout));
    }
    for group in ["bag", "catalog"] {
        let run = folder.run(&format!("{group} help --help"));
        let help = folder.run(&format!("{group} --help")).stdout;
        assert_eq!((run.status.code(), run.stdout), (Some(0), help));
    }
    for command in ["add", "check", "sum"] {
        let told = format!("help: No such file or directory\nhint: lanesum help {command}");
        expect(&folder.run(&format!("{command} help")), 2, "", format!("lanesum: {told}\n"));
    }
    let told = "neither a file nor a command\nhint: did you mean lanesum";
    expect(&folder.run("version"), 2, "", format!("lanesum: version: {told} --version?\n"));
    let meant = "status (or sum PATH, to make a list)";
    expect(&folder.run("list"), 2, "", format!("lanesum: list: {told} {meant}?\n"));
    folder.write("help", "help");
    expect(&folder.run("sum help"), 0, lines(&["help"]), "");
}

#[test]
fn names_without_nul_give_a_hint() {
    let folder = Folder::of(&["a", "b"]);
    let run = folder.run_with_stdin("--files0-from -", "a\nb\n");
    assert_eq!(run.status.code(), Some(1));
    assert!(text(&run.stderr).contains("names must end with NUL: find -print0"), "{run:?}");
}

/// What is told, as it stands.
fn plain(run: Output) -> String {
    String::from_utf8(run.stderr).unwrap()
}

#[test]
fn windows_and_bagit_names_give_a_hint() {
    let folder = Folder::of(&["a"]);
    let list = format!("{}  d\\a\n", md5("a"));
    let words = "names have backslashes, as on Windows\nhint: ";
    let told = plain(folder.run_with_stdin("check -", &list));
    let piped = format!("standard input': {words}convert it first: tr '\\\\' / | lanesum check\n");
    assert!(told.contains(&piped), "{told}");
    folder.write("my list", &list);
    folder.write("d/a", "a");
    for (args, command) in [
        (&["check", "my list"][..], "check"),
        (&["convert", "--to", "gnu", "my list"], "convert --to gnu"),
        (&["compare", "my list", "d"], "compare - d"),
        (&["compare", "d", "my list"], "compare d -"),
    ] {
        let told = plain(output(&mut folder.lanesum(args)));
        let hint = format!("'my list': {words}tr '\\\\' / <'my list' | lanesum {command}\n");
        assert!(told.contains(&hint), "{args:?}: {told}");
    }
    // What is no ASCII may be written in many ways, and this one is told once.
    folder.write("d/\u{e4}", "a");
    folder.write("of windows", format!("{}  d\\\u{e4}\n", md5("a")));
    let told = plain(output(&mut folder.lanesum(["compare", "of windows", "."])));
    let hint = format!("'of windows': {words}tr '\\\\' / <'of windows' | lanesum compare - .\n");
    assert_eq!((told.matches("tr '").count(), told.contains(&hint)), (1, true), "{told}");
    fs::remove_file(folder.path("d/\u{e4}")).unwrap();
    fs::remove_file(folder.path("of windows")).unwrap();
    let catalog = ["catalog", "import", "--catalog", "c.db", "--add", ".", "my list"];
    let told = plain(output(&mut folder.lanesum(catalog)));
    let command = "lanesum catalog import --catalog ";
    let hint = format!("'my list': {words}tr '\\\\' / <'my list' | {command}");
    assert!(told.contains(&hint) && told.contains("c.db --add . -\n"), "{told}");
    folder.write("50%", "x");
    let run = folder.run_with_stdin("check -", format!("{}  50%25\n", md5("x")));
    assert_eq!(run.status.code(), Some(1));
    let told = text(&run.stderr);
    assert!(told.contains("hint: if the list is a BagIt manifest: --from bagit\n"), "{told}");
    expect(
        &folder.run_with_stdin("check --from bagit -", format!("{}  50%25\n", md5("x"))),
        0,
        "50%: OK\n",
        "",
    );
}

#[test]
fn invalid_root_is_reported_once() {
    let folder = Folder::of(&["a", "b"]);
    folder.write("list", lines(&["a", "b"]));
    for (root, why) in [("gone", "No such file or directory"), ("a", "Not a directory")] {
        for more in ["", "--ignore-missing "] {
            let run = folder.run(&format!("check {more}--root {root} list"));
            expect(&run, 1, "", format!("lanesum: --root {root}: {why}\n"));
        }
    }
}

#[test]
fn list_from_a_terminal_is_announced() {
    let folder = Folder::of(&["a"]);
    let words = "lanesum: reading a checksum list from standard input; Ctrl-D ends it";
    let on_terminal = |args: &str| {
        let command = format!("exec '{PROGRAM}' {args}");
        let mut script = folder.command("script");
        script.args(["-qec", &command, "/dev/null"]).stdin(Stdio::piped());
        let mut child = script.spawn().ok()?;
        // Ctrl-D, which stands in the terminal until somebody reads.
        child.stdin.as_mut().unwrap().write_all(b"\x04").unwrap();
        Some(child.wait_with_output().unwrap())
    };
    let Some(run) = on_terminal("check") else { return skip("no script, which makes a terminal") };
    assert!(text(&run.stdout).contains(words), "{}", text(&run.stdout));
    for args in ["check -", "convert --to csv", "compare - a"] {
        let run = on_terminal(args).unwrap();
        assert!(text(&run.stdout).contains(words), "{}", text(&run.stdout));
    }
    for args in ["check --status", "check a"] {
        let run = on_terminal(args).unwrap();
        assert!(!text(&run.stdout).contains(words), "{}", text(&run.stdout));
    }
    assert!(!text(&folder.run("check").stderr).contains(words));
}

#[test]
fn fitting_strip_gives_a_command() {
    let folder = Folder::of(&["ph/2019/a", "ph/2020/b"]);
    let list = line("ph/2019/a", "/mnt/old/ph/2019/a") + &line("ph/2020/b", "/mnt/old/ph/2020/b");
    folder.write("l", &list);
    let told = "its files are in the current directory, but their names in the list begin with /mnt/old/\nhint: ";
    let run = text(&folder.run("check l").stderr);
    assert!(run.contains(&format!("l: {told}lanesum compare --strip l ph\n")), "{run}");
    assert_eq!(folder.run("compare --strip l ph").status.code(), Some(0));
    let run = text(&folder.run_with_stdin("check", &list).stderr);
    assert!(run.contains(&format!("{told}pipe it into lanesum compare --strip - ph\n")), "{run}");
    assert_eq!(folder.run_with_stdin("compare --strip - ph", &list).status.code(), Some(0));
    // With what this command has, as far as it matters there.
    folder.write("z", list.replace('\n', "\0"));
    let run = text(&folder.run("check -z --io read -j 1 z").stderr);
    let options = "compare --zero --io read -j 1 --strip";
    assert!(run.contains(&format!("{told}lanesum {options} z ph\n")), "{run}");
    assert_eq!(folder.run(&format!("{options} z ph")).status.code(), Some(0));
    // Of keyed checksums it knows nothing.
    folder.write("key", [7; 32]);
    let run = text(&folder.run("check --key-file key l").stderr);
    assert!(!run.contains("compare"), "{run}");
    // It takes less off than would have to be.
    folder.write("l", line("ph/2019/a", "old/x/ph/2019/a") + &line("ph/2020/b", "old/y/b"));
    let run = text(&folder.run("check l").stderr);
    let told = "l: its files are in the current directory, but their names in the list begin with old/x/\n";
    assert!(run.contains(told), "{run}");
}

#[test]
fn foreign_table_is_explained() {
    let folder = Folder::of(&["a"]);
    let sum = md5("a");
    for (list, words) in [
        (format!("a,{sum}\n"), "no column \"path\" in the header"),
        (format!("Pfad;Hash\r\na;{sum}\r\n"), "separated by commas, tabs or semicolons"),
        (format!("Pfad,MD5\na,{sum}\n"), "no column \"path\" in the header"),
        (format!("path,md4sum\na,{sum}\n"), "hint: name the columns md5, sha256 or size"),
    ] {
        folder.write("list", &list);
        for verb in ["check list", "compare list .", "convert --to gnu list"] {
            let run = folder.run(verb);
            assert_eq!(run.status.code(), Some(1), "{verb}: {list}");
            let told = plain(run);
            let words = if verb.starts_with("compare") { "no column" } else { words };
            assert!(told.contains("line 1: ") && told.contains(words), "{verb}: {list}: {told}");
        }
    }
    let list =
        format!("\"Algorithm\",\"Hash\",\"Path\"\r\n\"MD5\",\"{}\",\"a\"\r\n", sum.to_uppercase());
    folder.write("list", list);
    expect(&folder.run("check list"), 0, "a: OK\n", "");
}

#[test]
fn names_in_another_encoding_give_a_command() {
    let (apart, in_one, latin1) = ("a\u{308}".as_bytes(), "\u{e4}".as_bytes(), &b"\xe4"[..]);
    for (listed, file, words) in [
        (
            apart,
            in_one,
            "NFD (as on macOS), those of the files in NFC\nhint: uconv -x any-nfc <list",
        ),
        (in_one, apart, "of the files in NFD (as on macOS)\nhint: uconv -x any-nfd <list"),
        (latin1, in_one, "in Latin-1, those of the files in UTF-8\nhint: iconv -f LATIN1 -t UTF-8"),
        (in_one, latin1, "in UTF-8, those of the files in Latin-1\nhint: iconv -f UTF-8 -t LATIN1"),
    ] {
        let folder = Folder::new();
        folder.write(file, "abc");
        folder.write("list", [ABC.as_bytes(), b"  ", listed, b"\n"].concat());
        let run = folder.run("check list");
        assert_eq!(run.status.code(), Some(1));
        assert!(text(&run.stderr).contains(words), "{}", text(&run.stderr));
        folder.write(listed, "abc");
        assert_eq!(text(&folder.run("check list").stderr), "");
    }
}

/// Runs the command that was told behind its filter, as somebody does who pastes it.
fn paste(folder: &Folder, told: &str) -> Output {
    let begins = ["hint: tr ", "hint: sed ", "hint: iconv "]
        .into_iter()
        .filter_map(|it| told.find(it))
        .min();
    let command =
        told[begins.unwrap_or_else(|| panic!("{told}")) + "hint: ".len()..].lines().next().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_lanesum")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    output(folder.command("sh").args(["-c", command]).env("PATH", path))
}

#[test]
fn utf16_list_to_import_gives_a_command() {
    let folder = Folder::of(&["tree/a"]);
    let list = format!("\u{feff}{}  a\n", md5("tree/a"));
    folder.write("list", list.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>());
    let refused = folder.run("catalog import --catalog c.db --add tree --root tree list");
    assert_eq!(refused.status.code(), Some(2));
    let imported = paste(&folder, &plain(refused));
    assert_eq!(imported.status.code(), Some(0), "{imported:?}");
}

#[test]
fn hinted_commands_work() {
    let folder = Folder::of(&["old tree/d/x", "old tree/README", "old tree/\u{e4}"]);
    let sum = |name: &str| md5(format!("old tree/{name}"));
    let names = |names: [(&str, &str); 2]| {
        let line = |(name, file)| format!("{}  {name}\n", sum(file));
        names.map(line).concat().into_bytes()
    };
    let latin1 = [sum("\u{e4}").as_bytes(), b"  \xe4\n"].concat();
    let windows = names([("README", "README"), ("d\\x", "d/x")]);
    let with_nul = windows.iter().map(|&byte| if byte == b'\n' { 0 } else { byte }).collect();
    for (args, list) in [
        ("", windows.clone()),
        ("-z", with_nul),
        ("-a md5 --strict", windows),
        ("", names([("C:\\data\\README", "README"), ("C:\\data\\d\\x", "d/x")])),
        ("", names([("D:\\d\\x", "d/x"), ("D:\\README", "README")])),
        ("", format!("\\{}  d\\\\x\n", sum("d/x")).into_bytes()),
        ("", format!("\\{}  C:\\\\d\\\\x\n", sum("d/x")).into_bytes()),
        ("", latin1),
    ] {
        folder.write("my list", &list);
        let mut args: Vec<_> = args.split(' ').filter(|it| !it.is_empty()).collect();
        args.splice(0..0, ["check", "--root", "old tree"]);
        args.push("my list");
        let checked = output(&mut folder.lanesum(&args));
        assert_eq!(checked.status.code(), Some(1), "{checked:?}");
        let told = plain(checked);
        let again = paste(&folder, &told);
        assert_eq!(again.status.code(), Some(0), "{told}: {again:?}");
        for option in args.iter().filter(|it| it.starts_with("--s") || it.starts_with("-a")) {
            assert!(told.contains(&format!(" {option}")), "{told}");
        }
        // With a list beside its files nothing has to be said.
        folder.write("old tree/list", &list);
        if !args.contains(&"-z") {
            let told = plain(output(&mut folder.lanesum(["check", "old tree/list"])));
            assert_eq!(paste(&folder, &told).status.code(), Some(0), "{told}");
        }
        fs::remove_file(folder.path("old tree/list")).unwrap();
        let import = ["catalog", "import", "--catalog", "c.db", "--add", "old tree", "--root"];
        let zero = args.iter().filter(|it| **it == "-z").copied();
        let import = import.into_iter().chain(["old tree"]).chain(zero).chain(["my list"]);
        let told = plain(output(&mut folder.lanesum(import)));
        let again = paste(&folder, &told);
        assert_eq!(again.status.code(), Some(0), "{told}: {again:?}");
        fs::remove_file(folder.path("c.db")).unwrap();
    }
    // What is not simple is said without a command.
    folder.write("list", format!("{}  C:\\it's [mine]\\d\\x\n", sum("d/x")));
    let told = plain(output(&mut folder.lanesum(["check", "--root", "old tree", "list"])));
    assert!(told.contains("unlike those of the files\n") && !told.contains("sed"), "{told}");
}

#[test]
fn import_names_what_missing_names_have_in_common() {
    let folder = Folder::of(&["tree/a"]);
    let gone: String = (0..164).map(|it| format!("{}  store/{it}\n", md5("x"))).collect();
    let there = format!("{}  store/a\n", md5("tree/a"));
    folder.write("list", format!("{there}{gone}"));
    let import = |args: &str| folder.run(&format!("catalog import --catalog c.db {args}"));
    let refused = import("--add tree --root tree list");
    assert_eq!(refused.status.code(), Some(2));
    let told = plain(refused);
    let hint = "list: its files are in tree, but their names in the list begin with store/\nhint: sed 's|store/||' <list | lanesum catalog import";
    assert!(told.contains(hint), "{told}");
    let taken = paste(&folder, &told);
    assert_eq!(taken.status.code(), Some(1));
    let told = plain(taken);
    assert_eq!(told.matches(": missing\n").count(), 21, "{told}");
    assert!(told.contains("lanesum: 144 more files: missing\n"), "{told}");
    // Damage is printed to the last file.
    let names = (0..30).map(|it| format!("tree/{it}")).collect::<Vec<_>>();
    names.iter().for_each(|name| folder.write(name, name));
    folder.write("bad", names.iter().map(|it| format!("{ABC}  {it}\n")).collect::<String>());
    let differs = import("bad");
    assert_eq!(differs.status.code(), Some(1));
    assert_eq!(plain(differs).matches(": damaged: ").count(), 30);
}

#[test]
fn lists_beside_their_files_become_a_catalog() {
    let folder = Folder::of(&["old/1/a", "old/2/a"]);
    for year in ["old/1", "old/2"] {
        folder.write(format!("{year}/SUMS"), format!("{}  a\n", md5(format!("{year}/a"))));
    }
    let import = |args: &str| {
        let lists = "--catalog c.db --add old old/1/SUMS old/2/SUMS";
        folder.run(&format!("catalog import {args} {lists}"))
    };
    let refused = import("");
    assert_eq!(refused.status.code(), Some(2));
    let told = plain(refused);
    assert!(
        told.contains("old/2/SUMS: its files are in the directory of the list\nhint: use --beside"),
        "{told}"
    );
    let taken = import("--beside");
    assert_eq!(taken.status.code(), Some(0), "{taken:?}");
    assert!(plain(taken).contains("import: 2 recorded\n"));
    assert_eq!(import("--beside --root old").status.code(), Some(2));
    let piped = folder.run_with_stdin("catalog import --catalog c.db --beside -", "");
    assert_eq!(piped.status.code(), Some(2), "{piped:?}");
}

/// A file that has changed makes no other algorithm likely.
#[test]
fn a_list_whose_name_says_its_algorithm_is_not_doubted() {
    let folder = Folder::of(&["a"]);
    for name in ["list.md5", "MD5SUMS", "list"] {
        folder.write(name, line("before", "a"));
        let told = text(&folder.run(&format!("check {name}")).stderr);
        assert_eq!(told.contains("xxh128"), name == "list", "{told}");
    }
}
