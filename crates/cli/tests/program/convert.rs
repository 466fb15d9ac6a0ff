//! `lanesum convert`: lists into one another.

use super::*;

fn folder() -> Folder {
    let folder = Folder::of(&["t/a", "t/b,c", "t/d e"]);
    folder.write(b"t/\xff\"", "x");
    folder
}

/// A list without the comments of hashdeep, which say how it came to be.
fn records(list: &[u8]) -> Vec<&[u8]> {
    list.split(|&byte| byte == b'\n').filter(|line| !line.starts_with(b"#")).collect()
}

#[test]
fn a_list_comes_back_through_formats_that_hold_all_of_it() {
    let folder = folder();
    for (format, through) in [
        ("csv", "jsonl json csv"),
        ("json", "csv jsonl json"),
        ("tag", "csv json tag"),
        ("gnu", "tag csv bagit jsonl gnu"),
        ("sfv", "tag csv json sfv"),
        ("hashdeep", "csv json hashdeep"),
        ("md5deep", "csv hashdeep json md5deep"),
    ] {
        let first = folder.run(&format!("--format {format} t")).stdout;
        let mut list = first.clone();
        for to in through.split(' ') {
            folder.write("list", &list);
            let run = folder.run(&format!("convert --to {to} list"));
            expect(&run, 0, &run.stdout, "");
            let piped = folder.run_with_stdin(&format!("convert --to {to}"), &list);
            expect(&piped, 0, &run.stdout, "");
            list = run.stdout;
        }
        assert_eq!(records(&list), records(&first), "{format} {through}");
    }
}

#[test]
fn lines_about_one_file_that_stand_together_are_one_record() {
    let folder = folder();
    for algorithms in ["md5,sha256", "md5,sha1,crc32"] {
        let list = folder.run(&format!("-a {algorithms} t")).stdout;
        folder.write("list", list);
        let run = folder.run("convert --to csv list");
        let expected = folder.run(&format!("-a {algorithms} --format csv t")).stdout;
        let expected = text(&expected).lines().map(|row| row.to_owned()).collect::<Vec<_>>();
        let without_size_and_time = |row: &String| {
            let cells: Vec<_> = row.rsplitn(algorithms.split(',').count() + 3, ',').collect();
            let (last, first) = (cells[..cells.len() - 3].iter().rev(), cells[cells.len() - 1]);
            [first].into_iter().chain(last.copied()).collect::<Vec<_>>().join(",")
        };
        let expected: Vec<_> = expected.iter().map(without_size_and_time).collect();
        assert_eq!(text(&run.stdout).lines().collect::<Vec<_>>(), expected);
    }
}

#[test]
fn several_lists_are_one() {
    let folder = folder();
    folder.write("one", folder.run("--format csv t/a").stdout);
    folder.write("two", folder.run("-a sha1 t/d").stdout);
    folder.write("two", folder.run("-a sha1 t/b,c").stdout);
    let run = folder.run("convert --to csv one two");
    let rows = text(&run.stdout).replace("\\r", "");
    let rows: Vec<_> = rows.lines().collect();
    assert_eq!((rows[0], rows.len()), ("path,size,modified,md5,sha1", 3));
    // Not known, and not made up.
    assert!(rows[1].ends_with(&format!("Z,{},", md5("t/a"))), "{rows:?}");
    assert!(rows[2].contains("t/b,c\\\",,,,"), "{rows:?}");
}

#[test]
fn missing_value_fails() {
    let folder = folder();
    folder.write("sums", folder.run("t/a").stdout);
    folder.write("sizes", "path,size\nt/a,3\n");
    folder.write("several", folder.run("-a md5,sha256 t/a").stdout);
    for (to, list, words) in [
        ("hashdeep", "sums", "no size, and the format hashdeep needs it"),
        ("md5deep", "sums", "no size, and the format md5deep needs it"),
        ("gnu", "sizes", "no digest, and the format gnu needs one"),
        ("sfv", "sums", "the format sfv holds only crc32, not md5"),
        (
            "gnu",
            "several",
            "the format gnu holds exactly one digest of each file\nhint: choose one: --only ALG",
        ),
    ] {
        folder.write("out", "as it was");
        let run = folder.run(&format!("convert --to {to} -o out {list}"));
        expect(&run, 1, "", format!("lanesum: {list}: t/a: {words}\n"));
        assert_eq!(folder.read("out"), "as it was");
    }
}

#[test]
fn invalid_line_fails_and_writes_nothing() {
    let folder = folder();
    let good = text(&folder.run("t/a").stdout);
    for (list, words) in [
        (format!("{good}nonsense\n"), "line 2: not a checksum line"),
        (format!("{good}SM3 (a) = 1ab21d8355cfa17f\n"), "line 2: unknown algorithm SM3"),
        ("path,md5\n\"x\n".to_owned(), "line 2: the list is cut off here"),
        (format!("[{{\"path\":\"a\",\"md5\":\"{ABC}\"}},"), "line 1: the list is cut off here"),
        ("path,md5\na\n".to_owned(), "line 2: columns: 1, expected: 2"),
    ] {
        folder.write("list", &list);
        for to in ["tag", "csv"] {
            let run = folder.run(&format!("convert --to {to} -o out list"));
            expect(&run, 1, "", format!("lanesum: list: {words}\n"));
            assert!(!exists(folder.path("out")), "{list}");
        }
    }
    assert_eq!(folder.names().iter().filter(|name| name.contains("out")).count(), 0);
    let run = folder.run("convert --to gnu t");
    expect(&run, 1, "", "lanesum: t: a directory, not a checksum list\n");
    folder.write("list", [0; 100]);
    let run = folder.run("convert --to csv list");
    let words = "lanesum: list: looks like binary data, not a checksum list\n";
    expect(&run, 1, "", words);
}

#[test]
fn ambiguous_untagged_lines_give_a_hint() {
    let folder = Folder::of(&["a"]);
    for algorithm in ["blake3", "crc32", "xxh64", "md5", "sha256", "crc32c"] {
        folder.run(&format!("-a {algorithm} -o list a"));
        let run = folder.run("convert --to gnu -o untagged list");
        let words = format!(
            "lanesum: the new list does not name its algorithm, {algorithm}\nhint: check it with -a {algorithm}\n"
        );
        let is_known = folder.run("check untagged").status.success();
        expect(&run, 0, "", if is_known { "" } else { &words });
        assert!(folder.run(&format!("check -a {algorithm} untagged")).status.success());
        let run = folder.run("convert --to bagit -o manifest list");
        expect(&run, 0, "", if is_known { "" } else { &words });
        assert!(folder.run(&format!("check -a {algorithm} manifest")).status.success());
    }
    // Where a manifest is, its name says it.
    folder.run("-a crc32 -o list a");
    folder.write("bag/bagit.txt", "");
    let run = folder.run("convert --to bagit -o bag/manifest-crc32.txt list");
    expect(&run, 0, "", "");
}

#[test]
fn impossible_format_is_wrong_usage() {
    let folder = folder();
    assert_eq!(folder.run("convert list").status.code(), Some(2));
    assert_eq!(folder.run("convert --to s3 list").status.code(), Some(2));
    let run = folder.run("convert --to sfv --base64 list");
    let words = "the format sfv cannot hold base64\n\
                 hint: the formats gnu, tag, csv, json and jsonl can hold it";
    expect(&run, 2, "", format!("lanesum: {words}\n"));
    folder.write("list", folder.run("t/a").stdout);
    let run = folder.run("convert --to tag -o list list");
    assert_eq!(run.status.code(), Some(2));
    assert_eq!(folder.read("list"), lines(&["t/a"]));
}

#[test]
fn names_of_hashdeep_stay_in_their_folder() {
    let folder = folder();
    let run = output(folder.lanesum(["--format", "hashdeep", "a"]).current_dir(folder.path("t")));
    folder.write("list", &run.stdout);
    folder.write("again", folder.run("convert --to hashdeep list").stdout);
    let run = folder.run("check again");
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), "a: OK\n".into()));
}

/// Only a list of hashdeep says in which folder its names are.
#[test]
fn lost_directory_of_names_is_reported() {
    let folder = folder();
    let run = output(folder.lanesum(["--format", "hashdeep", "a"]).current_dir(folder.path("t")));
    folder.write("list", &run.stdout);
    folder.write("bag/bagit.txt", "");
    folder.write("bag/manifest-md5.txt", line("abc", "data/a"));
    let of_hashdeep = folder.path("t").display().to_string();
    for (list, name, to, root) in [
        ("list", "a", "gnu", &*of_hashdeep),
        ("list", "a", "csv", &of_hashdeep),
        ("bag/manifest-md5.txt", "data/a", "gnu", "bag"),
    ] {
        let only = if to == "gnu" && list == "list" { "--only md5 " } else { "" };
        let run = folder.run(&format!("convert {only}--to {to} -o new {list}"));
        let words = format!(
            "lanesum: the names are relative to {root}\n\
             hint: check the new list with --root {root}\n"
        );
        expect(&run, 0, "", words);
        assert!(folder.read("new").contains(name));
    }
    folder.write("bag/manifest-sha1.txt", "a9993e364706816aba3e25717850c26c9cd0d89d  data/a\n");
    let both = folder.run("convert --to csv bag/manifest-md5.txt ./bag/manifest-sha1.txt");
    assert_eq!(both.status.code(), Some(0), "{}", text(&both.stderr));
    for (list, at) in [("../list", "t"), ("./manifest-md5.txt", "bag")] {
        let mut convert = folder.lanesum(["convert", "--to", "csv", list]);
        let run = output(convert.current_dir(folder.path(at)));
        assert_eq!((run.status.code(), text(&run.stderr)), (Some(0), String::new()), "{at}");
    }
}

#[test]
fn names_of_two_directories_are_not_mixed() {
    let folder = Folder::new();
    let list = |from: &str, name: &str| {
        format!(
            "%%%% HASHDEEP-1.0\n%%%% size,md5,filename\n## Invoked from: {from}\n3,{ABC},{name}\n"
        )
    };
    folder.write("x", list("/x", "a"));
    folder.write("y", list("/y", "a"));
    folder.write("absolute", list("/z", "/a"));
    folder.write("none", line("abc", "a"));
    let words = "its names are in a different directory than those before\n\
                 hint: convert this list by itself";
    for to in ["csv", "gnu", "jsonl"] {
        for other in ["y", "none"] {
            let run = folder.run(&format!("convert --to {to} -o new x absolute {other}"));
            expect(&run, 1, "", format!("lanesum: {other}: {words}\n"));
            assert!(!exists(folder.path("new")), "{to} {other}");
        }
        assert_eq!(folder.run(&format!("convert --to {to} x absolute")).status.code(), Some(0));
    }
}

/// A part of a list is none.
#[test]
fn changing_list_fails() {
    let folder = Folder::new();
    folder.write("list", line("abc", "a"));
    ["one", "other"].iter().for_each(|name| folder.fifo(name));
    for to in ["gnu", "csv"] {
        let args = ["convert", "--to", to, "-o", "new", "one", "list", "other"];
        let running = start(&mut folder.lanesum(args));
        // All are open then, and the first is waited for.
        let [mut one, mut other] = ["one", "other"].map(|name| folder.writer(name));
        let mut list = fs::File::options().append(true).open(folder.path("list")).unwrap();
        list.write_all(b"\n").unwrap();
        one.write_all(line("abc", "b").as_bytes()).unwrap();
        drop(one);
        other.write_all(line("abc", "c").as_bytes()).unwrap();
        drop(other);
        let words = "lanesum: list: changed while it was read\nhint: try again when no program writes to it\n";
        expect(&running.finish(), 1, "", words);
        assert!(!exists(folder.path("new")), "{to}");
    }
}

#[test]
fn empty_list_fails() {
    let folder = Folder::new();
    folder.write("empty", "");
    folder.write("header.csv", "path,md5\r\n");
    folder.write("good", "good");
    for (args, name) in [
        ("convert --to json empty", "empty"),
        ("convert --to gnu -o good header.csv", "header.csv"),
        ("convert --to csv -o good", "'standard input'"),
    ] {
        let words = format!("lanesum: {name}: no checksum lines; nothing was written\n");
        expect(&folder.run(args), 1, "", words);
        assert_eq!(folder.read("good"), "good", "{args}");
    }
}

#[test]
fn list_of_two_directories_fails() {
    let folder = Folder::new();
    let list = |from: &str| {
        format!("%%%% HASHDEEP-1.0\n%%%% size,md5,filename\n## Invoked from: {from}\n3,{ABC},a\n")
    };
    folder.write("two", list("/x") + &list("/y"));
    let words = "lanesum: two: line 8: its names are in a different directory than those before\n";
    expect(&folder.run("convert --to hashdeep two"), 1, "", words);
    folder.write("x/a", "abc");
    let compared = "lanesum: two: line 8: its names are in a different directory than those before\n\
                    lanesum: 1 file: 1 equal (3 B)\n";
    expect(&folder.run("compare two x"), 1, "", compared);
}

#[test]
fn only_selects_algorithms() {
    let folder = folder();
    let md5 = folder.run("t").stdout;
    for format in ["csv", "tag", "jsonl", "json"] {
        let list = folder.run(&format!("-a md5,sha256 --format {format} t")).stdout;
        folder.write("list", list);
        expect(&folder.run("convert --only md5 --to gnu list"), 0, &md5, "");
        let both = folder.run("convert --only sha256,md5 --to csv list");
        expect(&folder.run("convert --to csv list"), 0, &both.stdout, "");
        let refused = folder.run("convert --to gnu list");
        assert!(
            text(&refused.stderr).contains("hint: choose one: --only ALG\n"),
            "{}",
            text(&refused.stderr)
        );
        // A file of which it is not known must not be missing in silence.
        let lacks = folder.run("convert --only sha1 --to gnu list");
        assert_eq!(lacks.status.code(), Some(1));
        let words = "t/a: has no digest of sha1 (--only); it has md5 and sha256\n";
        assert!(text(&lacks.stderr).ends_with(words), "{}", text(&lacks.stderr));
        assert_eq!(text(&lacks.stdout), "");
    }
}

/// What a list does not have is no wrong usage, whatever it is.
#[test]
fn missing_values_exit_with_1() {
    let folder = Folder::new();
    folder.write("list", line("a", "a"));
    for (format, words) in [
        ("sfv", "holds only crc32, not md5"),
        ("hashdeep", "no size, and the format"),
        ("md5deep", "no size, and the format"),
    ] {
        let run = folder.run(&format!("convert --to {format} list"));
        assert_eq!(run.status.code(), Some(1), "{format}");
        assert!(text(&run.stderr).contains(words), "{}", text(&run.stderr));
    }
}
