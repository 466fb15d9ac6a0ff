//! `--format` and `--from`: lists of other programs, written and checked.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use super::*;

/// Files with names that each format can hold, and one with none it could not.
fn folder() -> Folder {
    let folder = Folder::of(&["t/a", "t/b,c", "t/d e"]);
    folder.write(b"t/\xff\"", "x");
    folder
}

const FORMATS: [&str; 12] = [
    "gnu", "tag", "hashdeep", "md5deep", "bagit", "sfv", "csv", "tsv", "wheel", "mtree", "json",
    "jsonl",
];

/// Checks a list; gives exit code, standard output and messages without a summary.
fn check(folder: &Folder, args: &str, list: impl AsRef<[u8]>) -> (Option<i32>, String, String) {
    folder.write("list", list);
    let run = folder.run(&format!("check {args} list"));
    let messages = text(&run.stderr);
    let messages = messages.lines().filter(|line| !line.contains("/s): "));
    let messages: String = messages.map(|line| format!("{line}\n")).collect();
    (run.status.code(), text(&run.stdout), messages)
}

#[test]
fn every_written_format_is_checked() {
    for format in FORMATS {
        let folder = folder();
        let run = folder.run(&format!("--format {format} -o list t"));
        expect(&run, 0, "", "");
        let from = if format == "bagit" { "--from bagit" } else { "" };
        let run = folder.run(&format!("check --quiet {from} list"));
        assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), String::new()), "{format}");
        assert!(text(&run.stderr).contains("4 files"), "{format}");
        // As long as before.
        folder.write("t/b,c", "t/B,C");
        let run = folder.run(&format!("check --quiet {from} list"));
        let failed = (Some(1), "t/b,c: FAILED\n".to_owned());
        assert_eq!((run.status.code(), text(&run.stdout)), failed, "{format}");
        // And through a pipe.
        let list = fs::read(folder.path("list")).unwrap();
        let run = folder.run_with_stdin(&format!("check --quiet {from}"), list);
        assert_eq!((run.status.code(), text(&run.stdout)), failed, "{format}");
    }
}

#[test]
fn unsupported_values_fail_before_reading() {
    let folder = folder();
    for (args, words) in [
        ("--format sfv -a md5", "the format sfv holds only crc32, not md5"),
        (
            "--format hashdeep -a md5,blake3",
            "the format hashdeep holds only md5, sha1 and sha256, not blake3",
        ),
        (
            "--format bagit -a md5,sha256",
            "the format bagit holds exactly one digest of each file\nhint: use one algorithm, or --format tag, csv or jsonl",
        ),
        (
            "--format sfv --base64",
            "the format sfv cannot hold base64\nhint: the formats gnu, tag, csv, json and jsonl can hold it",
        ),
        (
            "--format csv --zero",
            "lines of the format csv cannot end with NUL\nhint: lines of the formats gnu and tag can",
        ),
    ] {
        let run = folder.run(&format!("{args} -o list t no-such-file"));
        expect(&run, 2, "", format!("lanesum: {words}\n"));
        assert!(!exists(folder.path("list")));
    }
    for wrong in ["--format s3 t", "--format zip t", "--format csv --tag t"] {
        assert_eq!(folder.run(wrong).status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn unsupported_name_is_missing_and_reported() {
    let folder = Folder::of(&["t/a", "t/b\nc", "t/d"]);
    for (format, lines) in [("sfv", 2), ("md5deep", 2), ("hashdeep", 7)] {
        let run = folder.run(&format!("--format {format} t"));
        assert_eq!(run.status.code(), Some(1));
        assert_eq!(text(&run.stdout).lines().count(), lines, "{format}");
        let words = format!("''c': the format {format} cannot hold a name");
        assert!(text(&run.stderr).contains(&words), "{}", text(&run.stderr));
    }
    let run = folder.run("--format json t");
    expect(&run, 0, &run.stdout, "");
    let list: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(list[1]["path"], "t/b\nc");
    assert_eq!(
        (list[1]["size"].as_u64(), list[1]["md5"].as_str()),
        (Some(5), Some(&*md5("t/b\nc")))
    );
}

#[test]
fn the_first_of_an_array_has_no_comma_before_it() {
    let folder = Folder::of(&["b"]);
    let run = folder.run("sum --format json a b");
    let list: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(list.as_array().unwrap().len(), 1);
    let run = folder.run("sum --format json a");
    let list: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(list.as_array().unwrap().len(), 0);
}

/// As `cksum --base64` of coreutils 9.4 writes it, and as Google's storage has CRC-32C.
#[test]
fn digests_in_base64_are_cksums() {
    let folder = Folder::new();
    folder.write("a", "abc");
    let md5 = "kAFQmDzST7DWlj99KOF/cg==";
    expect(&folder.run("--base64 a"), 0, format!("MD5 (a) = {md5}\n"), "");
    expect(&folder.run("--base64 --untagged a"), 0, format!("{md5}  a\n"), "");
    expect(&folder.run("--base64 -a crc32c a"), 0, "CRC32C (a) = Nks/tw==\n", "");
    for format in ["tag", "gnu", "csv", "json", "jsonl"] {
        let list = folder.run(&format!("--base64 --format {format} a")).stdout;
        assert!(text(&list).contains(md5), "{format}");
        assert_eq!(check(&folder, "", list), (Some(0), "a: OK\n".into(), String::new()));
    }
}

#[test]
fn a_file_of_another_size_fails_whatever_its_digest() {
    let folder = Folder::new();
    folder.write("a", "abc");
    let list = format!("path,size,md5\na,4,{ABC}\n");
    let told = "lanesum: a: its size is 3 bytes, but 4 in the list\n".to_owned();
    assert_eq!(check(&folder, "", list), (Some(1), "a: FAILED\n".into(), told));
    assert_eq!(check(&folder, "", "path,size\na,4\n").0, Some(1));
}

#[test]
fn file_without_digest_is_not_checked() {
    let folder = Folder::new();
    folder.write("a", "abc");
    let told = "lanesum: list: not checked: 1 file has a size, but no digest\n";
    let size = "a: size OK, not checked\n";
    assert_eq!(check(&folder, "", "path,size\na,3\n"), (Some(1), size.into(), told.into()));
    let told = "lanesum: list: line 2: neither a digest nor a size\n";
    for list in ["path,size,md5\na,,\n", "{}\n{\"path\":\"a\"}\n"] {
        let (code, stdout, messages) = check(&folder, "", list);
        assert_eq!((code, &*stdout), (Some(1), ""), "{list}");
        assert!(messages.contains(told), "{messages}");
    }
}

#[test]
fn several_digests_are_one_line_and_one_read() {
    let folder = Folder::new();
    folder.write("a", "abc");
    let list = folder.run("--format csv -a md5,sha256,crc32 a").stdout;
    folder.write("list", &list);
    let run = folder.run("check list list");
    assert_eq!(text(&run.stdout), "a: OK\n".repeat(2));
    let one = String::from_utf8(list).unwrap().replace("352441c2", "352441c3");
    assert_eq!(check(&folder, "", one), (Some(1), "a: FAILED\n".into(), String::new()));
}

#[test]
fn names_of_hashdeep_are_in_the_folder_it_names_unless_told_otherwise() {
    let folder = Folder::of(&["t/a", "t/b"]);
    let mut write = folder.lanesum(["--format", "hashdeep", "a", "b"]);
    let list = output(write.current_dir(folder.path("t"))).stdout;
    folder.write("list", &list);
    expect_ok(&folder.run("check list"), "a: OK\nb: OK\n");
    expect_ok(&folder.run("check --root t list"), "a: OK\nb: OK\n");
    assert_eq!(folder.run("check --root . list").status.code(), Some(1));
}

/// Each line of lists that were put one behind the other is of the folder that its own header
/// tells.
#[test]
fn a_list_of_several_folders_is_held_against_each() {
    let folder = Folder::of(&["t/f", "u/f"]);
    let list = |name: &str| {
        let mut write = folder.lanesum(["--format", "hashdeep", "f"]);
        output(write.current_dir(folder.path(name))).stdout
    };
    let (t, u) = (list("t"), list("u"));
    folder.write("good", [&t[..], &u].concat());
    expect_ok(&folder.run("check good"), "f: OK\nf: OK\n");
    // One that tells no folder is of the one that we are in.
    let bare: String = text(&u)
        .lines()
        .filter(|line| !line.starts_with("##"))
        .map(|line| format!("{line}\n"))
        .collect();
    folder.write("bare", [&t[..], bare.as_bytes()].concat());
    let run = folder.run("check bare");
    let words = "f: OK\nf: FAILED open or read\n";
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(1), words.to_owned()));
    // Of either order one is wrong, though each file is as one of the lines says.
    folder.write("u/f", "t/f");
    for (list, words) in [([&t[..], &u], "f: OK\nf: FAILED\n"), ([&u, &t], "f: FAILED\nf: OK\n")] {
        folder.write("list", list.concat());
        let run = folder.run("check list");
        assert_eq!((run.status.code(), text(&run.stdout)), (Some(1), words.to_owned()));
    }
}

/// What one list says of a file is nothing to a file of the same name in another list's folder.
#[test]
fn lists_of_several_folders_share_no_file() {
    let folder = Folder::new();
    for bag in ["one", "two"] {
        folder.write(format!("{bag}/data/f"), bag);
        folder.write(
            format!("{bag}/bagit.txt"),
            "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n",
        );
    }
    let manifest = |bag: &str, algorithm: &str| {
        let mut sum = folder.lanesum(["-a", algorithm, "--untagged", "data/f"]);
        output(sum.current_dir(folder.path(bag))).stdout
    };
    folder.write("one/manifest-md5.txt", manifest("one", "md5"));
    folder.write("two/manifest-sha256.txt", manifest("two", "sha256"));
    let check = || folder.run("check one/manifest-md5.txt two/manifest-sha256.txt");
    expect_ok(&check(), "data/f: OK\ndata/f: OK\n");
    folder.write("two/manifest-sha256.txt", manifest("one", "sha256"));
    let run = check();
    let words = "data/f: OK\ndata/f: FAILED\n";
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(1), words.to_owned()));
}

#[track_caller]
fn expect_ok(run: &Output, stdout: &str) {
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), stdout.to_owned()));
}

#[test]
fn a_manifest_in_a_bag_is_known_by_its_name() {
    let folder = Folder::of(&["bag/data/100%", "bag/data/%25", "bag/data/a\rb"]);
    let md5 = |name: &str| md5(format!("bag/data/{name}"));
    let encoded = format!("{}  data/100%25\n{}\tdata/a%0db\n", md5("100%"), md5("a\rb"));
    // bagit.py does not encode the percent sign.
    let raw = format!("{encoded}{}  data/%25\n", md5("%25"));
    folder.write("bag/manifest-md5.txt", &raw);
    // Without the declaration it is a list of md5sum.
    assert_eq!(folder.run("check --root bag bag/manifest-md5.txt").status.code(), Some(1));
    folder.write("bag/bagit.txt", "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n");
    let run = folder.run("check bag/manifest-md5.txt");
    let expected = "data/100%: OK\n'data/a'$'\\\\r''b': OK\ndata/%25: OK\n";
    expect_ok(&run, expected);
    let told = "data/%25: read by its name as written; BagIt requires % to be encoded";
    assert!(text(&run.stderr).contains(told), "{}", text(&run.stderr));
    // The one that the format means comes first.
    folder.write("bag/data/%", "bag/data/%25");
    let run = folder.run("check bag/manifest-md5.txt");
    assert!(text(&run.stdout).ends_with("data/%: OK\n") && !text(&run.stderr).contains(told));
}

#[test]
fn the_name_of_a_manifest_tells_its_algorithm() {
    let folder = Folder::of(&["data/a", "bagit.txt"]);
    let list = folder.run("--format bagit -a blake3 data").stdout;
    folder.write("manifest-blake3.txt", &list);
    expect_ok(&folder.run("check manifest-blake3.txt"), "data/a: OK\n");
    folder.write("manifest-sha256.txt", &list);
    assert_eq!(folder.run("check manifest-sha256.txt").status.code(), Some(1));
}

#[test]
fn lists_of_object_stores_are_checked() {
    let folder = Folder::new();
    folder.write("a", "abc");
    let aws = |etag: &str, size: u64| {
        format!(
            "{{\"Contents\": [\n{{\"Key\": \"a\", \"Size\": {size}, \"ETag\": \"\\\"{etag}\\\"\"}}\n]}}\n"
        )
    };
    let ok = (Some(0), "a: OK\n".to_owned(), String::new());
    assert_eq!(check(&folder, "", aws(ABC, 3)), ok);
    assert_eq!(check(&folder, "--from s3", aws(ABC, 3)), ok);
    assert_eq!(check(&folder, "", aws(EMPTY, 3)).0, Some(1));
    assert_eq!(check(&folder, "", aws(ABC, 4)).0, Some(1));
    // Of two parts of two bytes and one.
    let two = "d833159094d1d7ad96ffcc78414e3682-2";
    assert_eq!(check(&folder, "--quiet", aws(two, 3)), (Some(0), String::new(), String::new()));
    let (code, stdout, _) = check(&folder, "", aws(&format!("{ABC}-2"), 3));
    assert_eq!((code, &*stdout), (Some(1), "a: FAILED\n"));
    let head = format!("{{\"ContentLength\": 3, \"ETag\": \"\\\"{ABC}\\\"\"}}");
    assert_eq!(check(&folder, "--name a", &head), ok);
    let told = "lanesum: list: line 1: no file name: no path, Key or Path\n\
                hint: for `aws s3api head-object` or a pointer of Git LFS: --name NAME\n";
    assert_eq!(check(&folder, "", &head), (Some(1), String::new(), told.into()));
}

#[test]
fn name_for_a_list_with_names_is_refused() {
    let folder = Folder::new();
    folder.write("a", "abc");
    let object = format!("{{\"Key\": \"a\", \"ETag\": \"\\\"{ABC}\\\"\"}}\n");
    let told =
        |name: &str| format!("list: no entry is about {name} (--name)\nhint: leave out --name\n");
    for list in [object, format!("{ABC}  a\n")] {
        let ok = "a: OK\n".to_owned();
        let refused = (Some(1), ok.clone(), format!("lanesum: {}", told("b")));
        assert_eq!(check(&folder, "--name b", &list), refused);
        assert_eq!(check(&folder, "--name a", &list), (Some(0), ok, String::new()));
        let run = folder.run("convert --to gnu --name b list -o converted");
        assert_eq!(run.status.code(), Some(1));
        assert!(text(&run.stderr).contains(&told("b").replace("list: ", "")), "{run:?}");
        assert!(!exists(folder.path("converted")));
    }
}

/// As `aws s3api list-objects-v2 --delimiter /` prints it.
#[test]
fn listing_with_common_prefixes_fails() {
    let folder = Folder::new();
    folder.write("a", "abc");
    let object = format!("{{\"Key\": \"a\", \"Size\": 3, \"ETag\": \"\\\"{ABC}\\\"\"}}");
    let prefixes = "\"CommonPrefixes\": [{\"Prefix\": \"sub/\"}]";
    let list = format!("{{\"Contents\": [{object}], {prefixes}}}");
    let why = "the list leaves out objects below a directory (CommonPrefixes)";
    let (code, stdout, stderr) = check(&folder, "", &list);
    assert_eq!((code, &*stdout), (Some(1), "a: OK\n"));
    assert!(stderr.starts_with(&format!("lanesum: list: line 1: {why}\n")), "{stderr}");
    let run = folder.run("convert --to gnu list -o converted");
    assert_eq!(run.status.code(), Some(1));
    assert!(text(&run.stderr).contains(why), "{}", text(&run.stderr));
    assert!(!exists(folder.path("converted")));
}

#[test]
fn invalid_record_fails_and_others_are_checked() {
    let folder = Folder::new();
    folder.write("a", "abc");
    for (list, words) in [
        (format!("path,md5\na,{ABC}\nb\n"), "line 3: columns: 1, expected: 2"),
        (format!("path,md5\na,{ABC}\n\"b"), "line 3: the list is cut off here"),
        (
            format!("{{\"path\":\"a\",\"md5\":\"{ABC}\"}}\n{{\"path\":"),
            "line 2: the list is cut off here",
        ),
        (format!("[\n{{\"path\":\"a\",\"md5\":\"{ABC}\"}},\n"), "line 3: the list is cut off here"),
        ("; by hand\na 352441C2\nb\n".into(), "line 3: not a line in the format sfv"),
        (
            format!("%%%% HASHDEEP-1.0\n%%%% size,md5,filename\n3,{ABC},a\n3,{ABC}\n"),
            "line 4: columns: 2, expected: 3",
        ),
        (format!("         3  {ABC}  a\nb\n"), "line 2: not a line in the format md5deep"),
    ] {
        let (code, stdout, messages) = check(&folder, "", &list);
        assert_eq!((code, &*stdout), (Some(1), "a: OK\n"), "{list}");
        assert_eq!(messages, format!("lanesum: list: {words}\n"), "{list}");
    }
}

#[test]
fn with_a_key_digests_that_need_none_prove_nothing() {
    let folder = Folder::new();
    folder.write("a", "abc");
    folder.write("key", [7; 32]);
    fs::set_permissions(folder.path("key"), Permissions::from_mode(0o600)).unwrap();
    let list = folder.run("--key-file key -a blake3 --format csv a").stdout;
    let ok = (Some(0), "a: OK\n".to_owned(), String::new());
    assert_eq!(check(&folder, "--key-file key", list), ok);
    for list in [
        format!("path,md5\na,{ABC}\n"),
        format!("{{\"path\":\"a\",\"size\":3,\"md5\":\"{ABC}\"}}\n"),
        "a 352441C2\n".to_owned(),
        format!("{{\"Key\":\"a\",\"ETag\":\"{ABC}\",\"Size\":3}}\n"),
    ] {
        let (code, stdout, _) = check(&folder, "--key-file key", &list);
        assert!(code == Some(1) && !stdout.contains("a: OK"), "{list}");
    }
}
