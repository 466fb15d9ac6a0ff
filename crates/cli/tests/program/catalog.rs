//! The verbs of the catalog, as their users see them.

use std::fs;
use std::io::{BufRead as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Output;

use serde_json::Value;

use super::*;

/// Runs a verb with a catalog in the folder.
#[track_caller]
fn run(folder: &Folder, args: &str) -> Output {
    let mut command = folder.lanesum(args.split_whitespace());
    output(command.env("LANESUM_CATALOG", folder.path("state/catalog.db")))
}

/// A folder with a tree of these files in it, and a catalog of that.
fn cataloged(paths: &[&str]) -> Folder {
    let folder = Folder::new();
    paths.iter().for_each(|path| folder.write(format!("tree/{path}"), path));
    let added = run(&folder, "add tree");
    assert_eq!(added.status.code(), Some(0), "{}", text(&added.stderr));
    folder
}

#[track_caller]
fn lines(folder: &Folder, output: &Output) -> Vec<String> {
    let root = folder.path("tree").canonicalize().unwrap();
    let out = text(&output.stdout).replace(&format!("{}/", root.display()), "");
    out.lines().map(str::to_owned).collect()
}

#[test]
fn a_tour() {
    let folder = cataloged(&["a", "d/b", "d/c"]);
    let audit = run(&folder, "audit");
    assert_eq!((audit.status.code(), lines(&folder, &audit)), (Some(0), vec![]));
    assert!(text(&audit.stderr).contains("audit complete: 3 looked as they were"));

    folder.write("tree/a", "edited");
    fs::rename(folder.path("tree/d"), folder.path("tree/e")).unwrap();
    let expected = ["changed a", "moved d/ -> e/ (2 files)"];
    for verb in ["audit", "update"] {
        let output = run(&folder, verb);
        assert_eq!(
            (output.status.code(), lines(&folder, &output)),
            (Some(3), expected.map(str::to_owned).to_vec())
        );
    }
    assert_eq!(run(&folder, "update").status.code(), Some(0));

    fs::remove_file(folder.path("tree/a")).unwrap();
    assert_eq!(run(&folder, "update").status.code(), Some(3));
    assert_eq!(run(&folder, "audit").status.code(), Some(1));
    let status = run(&folder, "status");
    assert_eq!(status.status.code(), Some(1));
    assert!(text(&status.stdout).contains("NOT WELL: 1 missing"));
    let report = run(&folder, "report");
    assert!(text(&report.stdout).starts_with("lanesum: 1 missing - tree\n"));
    assert_eq!(run(&folder, "forget tree/a").status.code(), Some(0));
    assert_eq!(run(&folder, "status").status.code(), Some(0));
    assert_eq!(run(&folder, "scrub --percent 100").status.code(), Some(0));
    assert_eq!(run(&folder, "catalog check").status.code(), Some(0));

    let list = run(&folder, "catalog export tree");
    folder.write("list.md5", &list.stdout);
    assert_eq!(folder.run("check --quiet list.md5").status.code(), Some(0));
    assert_eq!(run(&folder, "catalog backup copy.db").status.code(), Some(0));
    assert_eq!(folder.run("--version").status.code(), Some(0));
    let copy = folder.run("status --catalog copy.db");
    assert!(text(&copy.stdout).contains("2 files"), "{}", text(&copy.stderr));
    assert_eq!(run(&folder, "catalog backup copy.db").status.code(), Some(1));
}

#[test]
fn damage_is_told_and_not_taken_up() {
    let folder = cataloged(&["a", "b"]);
    let path = folder.path("tree/a");
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, "A").unwrap();
    File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    for verb in ["update", "audit", "scrub --bad", "update"] {
        let output = run(&folder, verb);
        assert_eq!(
            (output.status.code(), lines(&folder, &output)),
            (Some(1), vec!["altered a".to_owned()]),
            "{verb}"
        );
    }
    let bad = run(&folder, "report --bad --json");
    let object: Value = serde_json::from_slice(&bad.stdout).unwrap();
    assert_eq!((&object["class"], &object["schema"]), (&"altered".into(), &1.into()));
    assert!(text(&run(&folder, "report --bad --csv").stdout).contains(",altered,"));
    let accepted = run(&folder, "accept tree/a");
    assert_eq!(accepted.status.code(), Some(0));
    assert!(text(&accepted.stderr).contains("accepted: size=1"));
    assert_eq!(run(&folder, "audit").status.code(), Some(0));
}

/// Lists of many years become a catalog; what they say is not believed before it was read.
#[test]
fn lists_become_a_catalog() {
    let folder = Folder::new();
    ["a", "b", "d/c d"].iter().for_each(|path| folder.write(format!("tree/{path}"), path));
    let list = folder.run("--format tag tree/a tree/b");
    folder.write("old.md5", &list.stdout);
    folder.write("more.csv", format!("path,md5\r\ntree/d/c d,{}\r\n", md5("d/c d")));
    let import = run(&folder, "catalog import old.md5");
    assert_eq!(import.status.code(), Some(2), "{}", text(&import.stderr));
    let import = run(&folder, "catalog import --add tree old.md5 more.csv");
    assert_eq!(import.status.code(), Some(3), "{}", text(&import.stderr));
    assert!(text(&import.stderr).contains("import complete: 3 taken from lists, and not read yet"));
    for verb in ["status", "report"] {
        let stands = run(&folder, verb);
        assert_eq!(stands.status.code(), Some(4), "{verb}");
        assert!(
            text(&stands.stdout).contains("3 NEVER READ")
                || text(&stands.stdout).contains("NEVER READ: 3 files"),
            "{}",
            text(&stands.stdout)
        );
    }
    // All of them are read, and still nobody knows what else is there.
    let scrub = run(&folder, "scrub --percent 100");
    assert_eq!(scrub.status.code(), Some(4));
    assert!(text(&scrub.stderr).contains("not all files are known"), "{}", text(&scrub.stderr));
    for verb in ["status", "report"] {
        let stands = run(&folder, verb);
        assert_eq!(stands.status.code(), Some(4), "{verb}");
        assert!(text(&stands.stdout).contains("NOT TAKEN UP"), "{}", text(&stands.stdout));
    }
    folder.write("tree/b", "B");
    let set_back = run(&folder, "catalog import --add tree old.md5");
    assert_eq!(
        (set_back.status.code(), text(&set_back.stderr).contains("2 as cataloged")),
        (Some(0), true)
    );
    let update = run(&folder, "update");
    assert_eq!(
        (update.status.code(), lines(&folder, &update)),
        (Some(3), vec!["changed b".to_owned()])
    );
    assert_eq!(run(&folder, "status").status.code(), Some(0));

    folder.write("wrong.md5", format!("{}  tree/a\n{ABC}  tree/nothing\n", md5("other")));
    let import = run(&folder, "catalog import wrong.md5");
    let words = text(&import.stderr);
    assert_eq!(import.status.code(), Some(1), "{words}");
    assert!(
        words.contains("tree/a: DIFFERS") && words.contains("tree/nothing: MISSING"),
        "{words}"
    );
    assert!(words.contains("import complete: 1 DIFFERS"), "{words}");
    assert_eq!(run(&folder, "forget tree/nothing").status.code(), Some(0));
    folder.write("tree/none.txt", "x");
    folder.write("bad.md5", format!("{}  tree/none.txt\nthis is no line\n", md5("x")));
    let import = run(&folder, "catalog import bad.md5");
    assert_eq!(import.status.code(), Some(1));
    assert!(text(&import.stderr).contains("bad.md5: line 2"), "{}", text(&import.stderr));
    let audit = run(&folder, "audit");
    assert!(lines(&folder, &audit).contains(&"new none.txt".to_owned()), "nothing was taken");

    // What is exported comes back, in every format that has digests.
    let root = "tree";
    for format in ["gnu", "tag", "csv", "json", "hashdeep", "sfv"] {
        let export = run(&folder, &format!("catalog export --format {format} {root}"));
        if format == "sfv" {
            assert_eq!(export.status.code(), Some(2), "sfv holds CRC-32");
            continue;
        }
        assert_eq!(export.status.code(), Some(0), "{format}: {}", text(&export.stderr));
        folder.write("list", &export.stdout);
        let import = run(&folder, "catalog import list");
        assert_eq!(import.status.code(), Some(0), "{format}: {}", text(&import.stderr));
        assert!(text(&import.stderr).contains("import complete: 3 as cataloged"), "{format}");
    }
}

/// A name that is not encoded stands for its file, but not for the file of another line.
#[test]
fn what_a_list_names_is_taken_for_no_other() {
    let folder = Folder::of(&["tree/a%25", "tree/b%25"]);
    let line = |content: &str, name: &str| format!("{}  tree/{name}\n", md5(content));
    let lists =
        [line("gone", "a%25"), line("tree/a%25", "a%2525"), line("tree/b%25", "b%25")].concat();
    folder.write("manifest-md5.txt", lists);
    let import = run(&folder, "catalog import --from bagit --add tree manifest-md5.txt");
    let words = text(&import.stderr);
    assert_eq!(import.status.code(), Some(1), "{words}");
    assert!(words.contains("tree/a%: MISSING: there is no such file"), "{words}");
    assert!(words.contains("import complete: 2 taken from lists"), "{words}");
    let update = run(&folder, "update");
    let words = text(&update.stderr);
    assert!(
        words.contains("update complete: 2 ok, 1 missing, 1 known not to be well; 2 files read"),
        "{words}"
    );
}

/// Digits that are as many as another algorithm's are exported with its name.
#[test]
fn what_is_exported_says_its_algorithm() {
    for algorithm in ["md5", "sha256", "blake3", "xxh128", "xxh64", "crc32", "crc32c"] {
        let folder = Folder::new();
        folder.write("tree/a", "a");
        run(&folder, &format!("add tree -a {algorithm}"));
        folder.write("list", run(&folder, "catalog export tree").stdout);
        assert_eq!(run(&folder, "catalog import list").status.code(), Some(0), "{algorithm}");
        run(&folder, "forget tree");
        assert_eq!(run(&folder, "catalog import --add tree list").status.code(), Some(3));
        assert_eq!(run(&folder, "update").status.code(), Some(0), "{algorithm}");
    }
}

/// Of what was only looked at, of what was not taken up, and of what was never there.
#[test]
fn what_is_not_known_is_not_said() {
    let folder = cataloged(&["a", "b"]);
    folder.write("tree/a", "an edit");
    let quick = run(&folder, "audit --quick");
    assert_eq!(lines(&folder, &quick), ["changed a: not read"]);
    assert_eq!(quick.status.code(), Some(4));
    for verb in ["status", "audit"] {
        let told = run(&folder, &format!("{verb} none"));
        assert!(text(&told.stderr).contains("none: No such file"), "{}", text(&told.stderr));
        assert_eq!(told.status.code(), Some(2));
        let told = run(&folder, &format!("{verb} tree/a"));
        assert_eq!(told.status.code(), Some(2));
        assert!(text(&told.stderr).contains("name that"), "{}", text(&told.stderr));
    }
    let told = run(&folder, "add tree/..");
    assert!(text(&told.stderr).contains("lanesum forget"), "{}", text(&told.stderr));
    run(&folder, "forget tree");
    let root = folder.path("tree");
    run(&folder, &format!("add {}", root.display()));
    // A file that was put back is told as well.
    fs::rename(root.join("b"), folder.path("b")).unwrap();
    assert_eq!(run(&folder, "audit").status.code(), Some(1));
    fs::rename(folder.path("b"), root.join("b")).unwrap();
    let back = run(&folder, "audit");
    assert_eq!(lines(&folder, &back), ["touched b (its content is as cataloged again)"]);
    assert_eq!(back.status.code(), Some(0));
}

/// A folder whose first run was interrupted is not without files.
#[test]
fn files_that_are_not_cataloged_yet_are_new() {
    let folder = Folder::new();
    fs::create_dir(folder.path("tree")).unwrap();
    run(&folder, "add tree");
    folder.write("tree/a", "a");
    let audit = run(&folder, "audit");
    let words = "1 new, none of its files is cataloged yet";
    assert!(text(&audit.stderr).contains(words), "{}", text(&audit.stderr));
    assert_eq!(audit.status.code(), Some(4));
}

/// A page of hostile names runs nothing, and has all that the mail has.
#[test]
fn the_page_is_whole_and_runs_nothing() {
    let folder = cataloged(&["a", "<script>alert(1)</script>", "\"onload=x'&"]);
    let hostile = folder.path("tree/<script>alert(1)<");
    fs::remove_file(hostile.join("script>")).unwrap();
    folder.write("tree/a", "an edit");
    run(&folder, "update");
    let report = run(&folder, "report --html");
    let page = text(&report.stdout);
    assert_eq!(report.status.code(), Some(1), "{page}");
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert!(page.contains("<title>lanesum: 1 missing - tree</title>"), "{page}");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;</bdi>"), "{page}");
    assert!(page.contains("lanesum forget -- "), "{page}");
    assert!(page.contains(">changed<"), "{page}");
    for wrong in ["<script", "onload=x'", "http://", "https://", "src=", "href="] {
        assert!(!page.contains(wrong), "{wrong}: {page}");
    }
    let bad = text(&run(&folder, "report --html --bad").stdout);
    assert!(bad.contains("1 missing") && !bad.contains(">changed<") && bad.ends_with("</html>\n"));
    assert_eq!(run(&folder, "report --html --csv").status.code(), Some(2));
    // A folder's name is no line of the mail.
    [&b"t\nBcc: x/a"[..], b"t\nBcc: x/b"].into_iter().for_each(|path| folder.write(path, "a"));
    let folder_name = folder.path(b"t\nBcc: x");
    let mut add = folder.lanesum(["add"]);
    output(add.arg(&folder_name).env("LANESUM_CATALOG", folder.path("state/catalog.db")));
    fs::remove_file(folder_name.join("a")).unwrap();
    run(&folder, "audit");
    let mail = text(&run(&folder, "report").stdout);
    assert!(mail.starts_with("lanesum: 2 missing - tree, ") && !mail.contains("\nBcc"), "{mail}");
}

#[test]
fn json_is_a_line_for_each_finding_and_a_summary() {
    let folder = cataloged(&["a"]);
    folder.write("tree/new", "new");
    folder.write(b"tree/\xff", "no UTF-8");
    let output = run(&folder, "update --json");
    assert_eq!(text(&output.stderr), "");
    let lines: Vec<Value> =
        output.stdout.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    assert!(lines.iter().all(|line| line["schema"] == 1));
    assert!(lines.iter().any(|line| line["path_base64"].is_string()));
    let summary = lines.last().unwrap();
    assert_eq!(
        (&summary["event"], &summary["severity"]),
        (&"summary".into(), &"differences".into())
    );
    assert_eq!((&summary["counts"]["new"], &summary["complete"]), (&2.into(), &true.into()));
    let status: Value = serde_json::from_slice(&run(&folder, "status --json").stdout).unwrap();
    assert_eq!((&status["files"], &status["last"]["outcome"]), (&3.into(), &"complete".into()));
}

#[test]
fn what_is_not_all_done_is_told_as_such() {
    let folder = cataloged(&["a", "b"]);
    fs::rename(folder.path("tree"), folder.path("away")).unwrap();
    fs::create_dir(folder.path("tree")).unwrap();
    for verb in ["update", "audit", "scrub"] {
        let output = run(&folder, verb);
        assert_eq!(output.status.code(), Some(4), "{verb}");
        assert!(text(&output.stderr).contains("NOT done"), "{verb}");
    }
    let status = run(&folder, "status");
    assert_eq!(status.status.code(), Some(4));
    assert!(text(&status.stdout).contains("SUSPENDED"));
    fs::remove_dir(folder.path("tree")).unwrap();
    fs::rename(folder.path("away"), folder.path("tree")).unwrap();
    assert_eq!(run(&folder, "audit").status.code(), Some(0));
    let scrub = run(&folder, "scrub --percent 100 --max-bytes 1");
    assert_eq!(scrub.status.code(), Some(4));
    assert!(text(&scrub.stderr).contains("scrub NOT complete"), "{}", text(&scrub.stderr));
}

#[test]
fn what_cannot_be_done_is_told_with_its_remedy() {
    let folder = Folder::new();
    for (args, code, words) in [
        ("status", 2, "lanesum add"),
        ("audit", 2, "lanesum add"),
        ("add nowhere", 2, "nowhere"),
        ("catalog import --add nowhere tree/list.md5", 2, "nowhere"),
        ("add tree/a", 2, "no folder"),
        ("add -a siphash24 tree", 2, "key"),
    ] {
        folder.write("tree/a", "a");
        folder.write("tree/list.md5", format!("{}  tree/a\n", md5("a")));
        let output = run(&folder, args);
        assert_eq!(output.status.code(), Some(code), "{args}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(words), "{args}: {}", text(&output.stderr));
    }
    run(&folder, "add tree");
    for (args, code, words) in [
        ("accept elsewhere", 2, "no folder of the catalog"),
        ("forget tree/none", 1, "no such file"),
        ("update tree/sub", 2, "only a part"),
        ("scrub --percent 101", 2, "from 0 to 100"),
        ("add --every 5 parsecs tree", 2, "parsecs"),
        ("add --limit 80 tree", 2, "80M, or 80B if"),
    ] {
        let output = run(&folder, args);
        assert_eq!(output.status.code(), Some(code), "{args}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(words), "{args}: {}", text(&output.stderr));
    }
    folder.write("state/notes.db", "my own notes");
    let output = folder.run("add tree --catalog state/notes.db");
    assert_eq!(output.status.code(), Some(5));
    assert_eq!(folder.read("state/notes.db"), "my own notes");
}

#[test]
fn a_wrong_path_makes_no_catalog_and_another_file_is_a_damaged_one() {
    let folder = cataloged(&["a"]);
    let verbs = [
        "status",
        "report",
        "audit",
        "update",
        "scrub",
        "accept tree/a",
        "forget tree/a",
        "catalog check",
        "catalog backup copy.db",
    ];
    for verb in verbs {
        let output = folder.run(&format!("{verb} --catalog state/typo.db"));
        assert_eq!(output.status.code(), Some(2), "{verb}: {}", text(&output.stderr));
        let words = text(&output.stderr);
        assert!(words.contains("no catalog at") && words.contains("lanesum add"), "{words}");
        assert!(!folder.path("state/typo.db").exists(), "{verb}");
        assert!(!folder.path("state/typo.db-lock").exists(), "{verb}");
    }
    folder.write("state/empty.db", "");
    for verb in verbs {
        let output = folder.run(&format!("{verb} --catalog state/empty.db"));
        assert_eq!(output.status.code(), Some(5), "{verb}: {}", text(&output.stderr));
        assert!(!text(&output.stderr).contains("complete"), "{verb}");
        assert_eq!(folder.read("state/empty.db"), "", "{verb}");
    }
    // Nor does a check advise itself of one that is cut off.
    let whole = fs::read(folder.path("state/catalog.db")).unwrap();
    folder.write("state/short.db", &whole[..whole.len() / 2]);
    let output = folder.run("catalog check --catalog state/short.db");
    let words = text(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{words}");
    assert!(words.contains("catalog backup") && !words.contains("catalog check"), "{words}");
    // As one is whose first bytes are others.
    folder.write("state/notes.db", "my own notes");
    for verb in verbs {
        let output = folder.run(&format!("{verb} --catalog state/notes.db"));
        assert_eq!(output.status.code(), Some(5), "{verb}: {}", text(&output.stderr));
        let words = text(&output.stderr);
        assert!(words.contains("notes.db: is no catalog of lanesum; name another"), "{words}");
        assert_eq!(folder.read("state/notes.db"), "my own notes", "{verb}");
    }
}

/// It is its owner's, who can use it, with its lock.
#[test]
fn a_catalog_is_made_whatever_the_umask() {
    let folder = Folder::of(&["tree/a"]);
    let codes = std::thread::scope(|scope| {
        let limited = scope.spawn(|| {
            obey_modes();
            let script = "umask 777; exec \"$0\" add tree --catalog made.db";
            let first = output(folder.command("sh").args(["-c", script, PROGRAM]));
            let next = folder.run("update --catalog made.db");
            [first, next].map(|ran| (ran.status.code(), text(&ran.stderr)))
        });
        limited.join().unwrap()
    });
    assert!(codes.iter().all(|(code, _)| *code == Some(0)), "{codes:?}");
    for name in ["made.db", "made.db-lock"] {
        let mode = fs::metadata(folder.path(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn a_catalog_that_is_damaged_or_locked_is_5() {
    let folder = cataloged(&["a", "b"]);
    let path = folder.path("state/catalog.db");
    let held = {
        let lock = File::options()
            .read(true)
            .write(true)
            .open(folder.path("state/catalog.db-lock"))
            .unwrap();
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
        lock.set_len(0).unwrap();
        (&lock).write_all(b"process 1 (scrub)\n").unwrap();
        lock
    };
    let output = run(&folder, "update");
    assert_eq!(output.status.code(), Some(5));
    assert!(
        text(&output.stderr).contains("locked by process 1 (scrub)"),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(run(&folder, "status").status.code(), Some(0), "looking needs no lock");
    drop(held);

    // The digest of a file, somewhere in the middle of the catalog.
    let mut bytes = fs::read(&path).unwrap();
    let digest: Vec<u8> = md5("a")
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect();
    let at = bytes.windows(16).position(|window| window == digest).unwrap();
    bytes[at] ^= 1;
    fs::write(&path, bytes).unwrap();
    for verb in ["audit", "scrub --percent 100", "catalog check", "catalog backup copy.db"] {
        let output = run(&folder, verb);
        assert_eq!(output.status.code(), Some(5), "{verb}: {}", text(&output.stderr));
        assert!(!text(&output.stdout).contains("rotted"), "{verb}");
    }
    // That is what ended them, and what the mail says.
    for form in ["", " --html"] {
        let report = run(&folder, &format!("report{form}"));
        let words = text(&report.stdout);
        assert_eq!(report.status.code(), Some(5), "{words}");
        for expected in ["lanesum: the catalog is DAMAGED, ", "itself is damaged", "catalog check"]
        {
            assert!(words.contains(expected), "{expected}: {words}");
        }
        assert!(!words.contains("interrupted") && !words.contains("lanesum audit"), "{words}");
    }
    let status = run(&folder, "status");
    assert!(text(&status.stdout).contains("  -> lanesum catalog check"));
    assert_eq!(status.status.code(), Some(5));
    // Nothing was known of it, so what is there now counts.
    let forgotten = run(&folder, "forget tree");
    let words = text(&forgotten.stderr);
    assert_eq!(forgotten.status.code(), Some(5), "{words}");
    assert!(words.contains("the catalog is damaged: 1 row was not as written"), "{words}");
}

/// Each form of the report names the place where a damaged file is now, and no command that is
/// printed ends with its content cataloged as good.
#[test]
fn what_is_damaged_and_renamed_is_named_where_it_is() {
    let folder = cataloged(&["f1", "f2"]);
    let [from, to] = ["tree/f1", "tree/g1"].map(|name| folder.path(name));
    fs::rename(&from, &to).unwrap();
    let time = fs::metadata(&to).unwrap().modified().unwrap();
    fs::write(&to, "F1").unwrap();
    File::options().write(true).open(&to).unwrap().set_modified(time).unwrap();
    let audit = run(&folder, "audit --all");
    assert_eq!(lines(&folder, &audit), ["altered f1 -> g1"]);
    let tree = folder.path("tree").canonicalize().unwrap();
    let tree = tree.display();
    let mail = text(&run(&folder, "report --bad").stdout);
    assert!(mail.contains(&format!("altered {tree}/f1 -> {tree}/g1, last good")), "{mail}");
    assert!(mail.contains("accepted under the name behind the arrow"), "{mail}");
    let page = text(&run(&folder, "report --html --bad").stdout);
    let arrow = text("→".as_bytes());
    assert!(page.contains(&format!("{tree}/f1</bdi> {arrow} <bdi>{tree}/g1</bdi>")), "{page}");
    assert!(page.contains(&format!("lanesum accept -- {tree}/g1<")), "{page}");
    assert!(!page.contains("forget"), "{page}");
    let object: Value =
        serde_json::from_slice(&run(&folder, "report --bad --json").stdout).unwrap();
    assert_eq!(object["path"], format!("{tree}/g1"), "{object}");
    assert_eq!(object["other"], format!("{tree}/f1"), "{object}");
    let table = text(&run(&folder, "report --bad --csv").stdout);
    assert!(table.contains(&format!(",altered,{tree}/g1,{tree}/f1,1,")), "{table}");

    let accepted = run(&folder, "accept tree/f1");
    assert_eq!(accepted.status.code(), Some(1));
    let words = text(&accepted.stderr);
    assert!(words.contains(&format!("another name now: `lanesum accept {tree}/g1`")), "{words}");
    let forgotten = run(&folder, "forget tree/f1");
    let words = text(&forgotten.stderr);
    assert_eq!(forgotten.status.code(), Some(1), "{words}");
    assert!(words.contains(&format!("is altered, and lies at {tree}/g1 now")), "{words}");
    assert_eq!(lines(&folder, &run(&folder, "audit")), ["altered f1 -> g1"]);
    assert_eq!(run(&folder, "accept tree/g1").status.code(), Some(0));
    assert_eq!(run(&folder, "update").status.code(), Some(0));

    // Where nobody looked for it since, it is looked for before it is forgotten.
    fs::write(&to, "X1").unwrap();
    File::options().write(true).open(&to).unwrap().set_modified(time).unwrap();
    run(&folder, "audit");
    fs::rename(&to, folder.path("tree/h1")).unwrap();
    let page = text(&run(&folder, "report --html --bad").stdout);
    assert!(page.contains("It is looked for by: <code>lanesum audit<"), "{page}");
    assert!(text(&run(&folder, "accept tree/g1").stderr).contains("may have another name now"));
}

/// One file has all its names.
#[test]
fn accept_says_how_many_names_of_a_file_it_took() {
    let folder = cataloged(&["a", "b"]);
    let path = folder.path("tree/a");
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, "c").unwrap();
    File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    fs::hard_link(&path, folder.path("tree/link")).unwrap();
    assert_eq!(run(&folder, "update").status.code(), Some(1));
    let accepted = run(&folder, "accept tree/link");
    assert!(text(&accepted.stderr).trim_end().ends_with("; with it 1 other name of the file"));
    assert_eq!(run(&folder, "audit --all").status.code(), Some(0));
}

/// What was emptied is not said to be empty when somebody wrote into it since.
#[test]
fn what_has_content_again_was_emptied() {
    let folder = cataloged(&["a", "b"]);
    let path = folder.path("tree/a");
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, "").unwrap();
    File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    assert_eq!(lines(&folder, &run(&folder, "audit")), ["emptied a"]);
    folder.write("tree/a", "content again");
    assert_eq!(lines(&folder, &run(&folder, "audit")), ["was emptied a"]);
    assert!(text(&run(&folder, "report").stdout).contains("\nwas emptied "));
    assert!(text(&run(&folder, "report --html").stdout).contains(">was emptied<"));
}

/// However a scrub ends, the next one goes on inside of the file, and says so.
#[test]
fn a_long_file_goes_on_where_it_was_left() {
    let folder = Folder::new();
    folder.write("tree/long", "content");
    let long = fs::File::options().write(true).open(folder.path("tree/long")).unwrap();
    long.set_len(600_000_000).unwrap();
    assert_eq!(run(&folder, "add tree -a crc32c").status.code(), Some(0));
    let begun = || {
        let status = run(&folder, "status --json");
        let status: Value = serde_json::from_slice(&status.stdout).unwrap();
        status["begun"]["read"].as_u64()
    };
    assert_eq!(begun(), None);
    let stretch = 128 << 20;
    for part in 1..=3 {
        let scrub = run(&folder, "scrub --percent 100 --max-bytes 1");
        assert_eq!(scrub.status.code(), Some(4));
        let words = "no file was read to its end; 0 files read, 134.22 MB";
        assert!(text(&scrub.stderr).contains(words), "{}", text(&scrub.stderr));
        assert_eq!(begun(), Some(part * stretch));
    }
    let status = text(&run(&folder, "status").stdout);
    assert!(status.contains("begun: 1 file, of which 402.65 MB of 600.00 MB are read"), "{status}");

    let mut command = folder.lanesum(["scrub", "--percent", "100"]);
    command.env("LANESUM_CATALOG", folder.path("state/catalog.db"));
    let running = start(&mut command);
    running.signal(Signal::KILL);
    running.finish();
    assert!(begun().is_none_or(|read| read >= 3 * stretch));
    assert_eq!(run(&folder, "catalog check").status.code(), Some(0));
    let scrub = run(&folder, "scrub --percent 100");
    assert_eq!(scrub.status.code(), Some(0), "{}", text(&scrub.stderr));
    assert!(text(&scrub.stderr).contains("scrub complete: 1 ok"));
    assert_eq!(begun(), None);
}

/// Killed anywhere, the catalog is whole, and whoever comes next goes on.
#[test]
fn kill_9_at_any_moment_leaves_a_whole_catalog() {
    let folder = Folder::new();
    let mut random = 88_172_645_463_325_252_u64;
    let mut verbs = ["add tree", "update", "scrub --percent 100"].iter().cycle();
    for file in 0..300 {
        folder.write(format!("tree/d{}/{file}", file % 7), format!("{file}").repeat(200));
    }
    let (mut is_made, mut interrupted) = (false, 0);
    // As long as a run takes here and now; to make a catalog takes longer.
    let mut longest = Duration::from_millis(300);
    for round in 0..200 {
        for _ in 0..5 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let file = random % 300;
            folder.write(format!("tree/d{}/{file}", file % 7), format!("{round} {file}"));
        }
        let verb = verbs.next().unwrap();
        let mut command = folder.lanesum(verb.split_whitespace());
        command.env("LANESUM_CATALOG", folder.path("state/catalog.db"));
        let running = start(&mut command);
        std::thread::sleep(longest.mul_f64((random % 1000) as f64 / 1000.0));
        running.signal(Signal::KILL);
        running.finish();
        let began = std::time::Instant::now();
        let check = run(&folder, "catalog check");
        let took = began.elapsed();
        let code = check.status.code();
        // It is there with its tables, or not at all.
        is_made |= code == Some(0);
        if is_made {
            longest = took * 4;
        }
        let is_whole = code == Some(0) || !is_made && code == Some(2);
        assert!(is_whole, "{verb}: {}", text(&check.stderr));
        // Nobody calls a look whole that was not.
        let status = run(&folder, "status --json");
        let is_interrupted = serde_json::from_slice(&status.stdout).is_ok_and(|it: Value| {
            it["last"]["outcome"].is_null() && it["last"]["verb"] != "scrub"
        });
        assert!(!is_interrupted || status.status.code() == Some(4), "{}", text(&status.stdout));
        interrupted += u32::from(is_interrupted);
    }
    assert!(interrupted > 0);
    assert!(run(&folder, "add tree").status.code().is_some_and(|code| code == 0 || code == 3));
    assert_eq!(run(&folder, "audit --all").status.code(), Some(0));
    assert!(text(&run(&folder, "status").stdout).contains("300 files"));
}

#[test]
fn what_cannot_be_read_is_damage_and_what_is_below_is_unknown() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = cataloged(&["a", "b", "d/c", "d/e"]);
    let mode = |name: &str, mode| {
        fs::set_permissions(folder.path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    ["tree/a", "tree/d"].into_iter().for_each(|name| mode(name, 0));
    let limited = std::thread::scope(|scope| {
        let limited = scope.spawn(|| {
            obey_modes();
            run(&folder, "update")
        });
        limited.join().unwrap()
    });
    mode("tree/a", 0o600);
    mode("tree/d", 0o700);
    let words = text(&limited.stderr);
    assert_eq!(limited.status.code(), Some(1), "{words}");
    let mut told = lines(&folder, &limited);
    told.sort();
    assert_eq!(told, ["unreadable a: Permission denied", "unreadable d: Permission denied"]);
    assert!(
        words.contains("update NOT complete") && words.contains("2 could not be looked at"),
        "{words}"
    );
    // Nothing was forgotten meanwhile.
    let update = run(&folder, "update");
    assert_eq!(update.status.code(), Some(0), "{}", text(&update.stderr));
    assert!(text(&run(&folder, "status").stdout).contains("4 files"));
}

/// What was printed of a run is what is known of it later, until another run looks again.
#[test]
fn what_could_not_be_looked_at_stays_known() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    folder.write("tree/a", "a");
    folder.write("tree/d/b", "b");
    let mode = |name: &str, mode| {
        fs::set_permissions(folder.path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    let limited = |args: &str| {
        std::thread::scope(|scope| {
            let limited = scope.spawn(|| {
                obey_modes();
                run(&folder, args)
            });
            limited.join().unwrap()
        })
    };
    let stands = |code| {
        for verb in ["status", "report"] {
            let output = run(&folder, verb);
            assert_eq!(output.status.code(), Some(code), "{verb}: {}", text(&output.stdout));
            assert_eq!(text(&output.stdout).contains("NOT complete"), code == 4, "{verb}");
        }
    };
    mode("tree/d", 0);
    let added = limited("add tree");
    assert!(text(&added.stderr).contains("add NOT complete"), "{}", text(&added.stderr));
    stands(4);
    let named = || {
        let path = folder.path("tree/d").canonicalize().unwrap();
        let words = format!("NOT LOOKED AT: {} (Permission denied)", path.display());
        let told = |args: &str, words: &str| text(&run(&folder, args).stdout).contains(words);
        assert!(told("status", &words) && told("report", &words), "{words}");
        let path = path.display();
        let json = format!(r#""not_looked_at":[{{"path":"{path}","why":"Permission denied"}}]"#);
        let status = run(&folder, "status --json").stdout;
        let status = String::from_utf8_lossy(&status);
        assert!(status.contains(&json), "{json}: {status}");
    };
    named();
    // Neither of these looks at it.
    assert_eq!(run(&folder, "accept tree/a").status.code(), Some(0));
    assert_eq!(limited("scrub").status.code(), Some(4));
    stands(4);
    named();
    mode("tree/d", 0o700);
    run(&folder, "update");
    stands(0);
    assert!(!text(&run(&folder, "status").stdout).contains("NOT LOOKED AT"));
    // What is new and cannot be read is not only new, neither to an audit.
    folder.write("tree/secret", "secret");
    mode("tree/secret", 0);
    for verb in ["update", "audit"] {
        let output = limited(verb);
        assert_eq!(output.status.code(), Some(1), "{verb}: {}", text(&output.stderr));
        assert!(text(&output.stdout).contains("secret: Permission denied"), "{verb}");
        stands(4);
    }
    mode("tree/secret", 0o600);
    run(&folder, "update");
    stands(0);
    mode("tree", 0);
    let audit = limited("audit");
    assert!(text(&audit.stderr).contains("audit NOT complete"), "{}", text(&audit.stderr));
    mode("tree", 0o700);
    stands(4);
    assert_eq!(run(&folder, "audit").status.code(), Some(0));
    stands(0);
}

/// What is mounted in a folder is no part of it, and what it hides is not missing.
#[test]
fn what_is_mounted_in_a_folder_is_told_and_left_out() {
    if !rustix::process::geteuid().is_root() {
        return skip("only root can mount a file system");
    }
    let folder = cataloged(&["a", "disk/b", "disk/hidden"]);
    let disk = folder.path("tree/disk");
    let mount = |command: &str, args: &[&str]| {
        let mut command = std::process::Command::new(command);
        command.args(args).arg(&disk).stderr(Stdio::null()).status().is_ok_and(|it| it.success())
    };
    if !mount("mount", &["-t", "tmpfs", "-o", "size=100k", "none"]) {
        return skip("nothing can be mounted here");
    }
    folder.write("tree/disk/other", "of another file system");
    folder.write("tree/disk/b", "disk/b");
    let update = run(&folder, "update");
    let scrub = run(&folder, "scrub --percent 100");
    let narrow = run(&folder, "scrub --new");
    let [status, report] = ["status", "report"].map(|verb| run(&folder, verb).status.code());
    let accepted = ["b", "hidden"].map(|name| run(&folder, &format!("accept tree/disk/{name}")));
    let added = run(&folder, "add tree/disk");
    assert!(mount("umount", &[]));
    assert_eq!((update.status.code(), lines(&folder, &update)), (Some(4), vec![]));
    assert!(text(&update.stderr).contains("something is mounted there"));
    assert_eq!((scrub.status.code(), lines(&folder, &scrub)), (Some(4), vec![]));
    assert!(text(&scrub.stderr).contains("something is mounted there"));
    // Nobody could look at it, and that is known to whoever looks less.
    assert_eq!((narrow.status.code(), status, report), (Some(4), Some(4), Some(4)));
    for accepted in accepted {
        assert_eq!(accepted.status.code(), Some(1));
        assert!(text(&accepted.stderr).contains("something is mounted there"));
    }
    assert_eq!(added.status.code(), Some(0), "{}", text(&added.stderr));
    assert_eq!(run(&folder, "update tree").status.code(), Some(0));
}

/// Of one file system, no number of a device tells that it is another folder or file.
#[test]
fn folders_and_files_that_are_bound_there_are_no_part_of_a_folder() {
    if !rustix::process::geteuid().is_root() {
        return skip("only root can bind a folder elsewhere");
    }
    let folder = cataloged(&["a", "b", "sub/c", "sub/d", "e f"]);
    folder.write("other/c", "of another folder");
    let bind = |from: &str, to: &str| {
        let mut command = std::process::Command::new("mount");
        command.arg("--bind").args([folder.path(from), folder.path(to)]).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let unbind = |at: &str| {
        let done = std::process::Command::new("umount").arg(folder.path(at)).status();
        assert!(done.is_ok_and(|status| status.success()), "{at}");
    };
    if !bind("other", "tree/sub") {
        return skip("nothing can be bound here");
    }
    assert!(bind("other/c", "tree/a") && bind("other/c", "tree/e f"));
    let runs: Vec<_> = ["update", "audit --all", "scrub --percent 100", "accept tree/a", "status"]
        .into_iter()
        .map(|args| (args, run(&folder, args)))
        .collect();
    let first = folder.run("add tree --catalog first.db");
    let inner = folder.run("add tree/sub --catalog first.db");
    ["tree/sub", "tree/a", "tree/e f"].into_iter().for_each(unbind);
    for (args, output) in runs {
        let code = if args.starts_with("accept") { 1 } else { 4 };
        let words = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args}: {words}");
        if args != "status" {
            assert_eq!(lines(&folder, &output), [""; 0], "{args}");
            assert!(words.contains("something is mounted there"), "{args}: {words}");
            // A file is no folder to add.
            let adds = words.lines().filter(|line| line.contains("lanesum add"));
            assert!(adds.clone().all(|line| line.contains("tree/sub: ")), "{args}: {words}");
            assert_eq!(adds.count(), usize::from(!args.starts_with("accept")), "{args}: {words}");
        }
    }
    assert_eq!(inner.status.code(), Some(0), "{}", text(&inner.stderr));
    let words = text(&first.stderr);
    assert!(
        words.contains("1 new") && words.matches("something is mounted").count() == 3,
        "{words}"
    );
    for args in ["audit --all", "update", "scrub --percent 100", "status"] {
        let output = run(&folder, args);
        assert_eq!(output.status.code(), Some(0), "{args}: {}", text(&output.stderr));
    }
}

/// Where the system tells of no mounts, what one hides is not taken for what is there.
#[test]
fn without_a_table_of_mounts_nothing_is_taken() {
    let folder = cataloged(&["a", "sub/b"]);
    folder.write("other/b", "of another folder");
    let script = "mount --bind other tree/sub && mount -t tmpfs none /proc || exit 99
        for verb in audit update 'scrub --percent 100' 'accept tree/sub/b' 'add new'; do
            \"$0\" $verb; echo \"$verb: $?\"
        done";
    fs::create_dir(folder.path("new")).unwrap();
    let mut command = folder.command("unshare");
    command.args(["-rm", "sh", "-c", script, PROGRAM]);
    command.env("LANESUM_CATALOG", folder.path("state/catalog.db"));
    let ran = output(&mut command);
    let words = text(&ran.stderr);
    if ran.status.code() != Some(0) {
        return skip(&format!("nothing can be mounted here: {words}"));
    }
    let verbs = ["audit", "update", "scrub --percent 100", "accept tree/sub/b", "add new"];
    let codes: String = verbs.iter().map(|verb| format!("{verb}: 1\n")).collect();
    assert_eq!(text(&ran.stdout), codes, "{words}");
    let named = "/proc/self/mountinfo: No such file or directory, and nothing else tells";
    assert_eq!(words.matches(named).count(), verbs.len(), "{words}");
    assert_eq!(run(&folder, "audit --all tree").status.code(), Some(0));
    assert_eq!(run(&folder, "catalog check").status.code(), Some(0));
}

/// Where the file system does not say when a file was made, its number may be that of another one:
/// what has another name is read, and what is gone is missing.
#[test]
fn a_number_alone_is_no_move_where_files_have_no_time_of_birth() {
    if !rustix::process::geteuid().is_root() {
        return skip("only root can mount a file system without times of birth");
    }
    let folder = Folder::of(&["tree/"]);
    let mut mount = std::process::Command::new("mount");
    mount.args(["-t", "ramfs", "none"]).arg(folder.path("tree")).stderr(Stdio::null());
    if !mount.status().is_ok_and(|status| status.success()) {
        return skip("nothing can be mounted here");
    }
    folder.write("tree/a", "a");
    folder.write("tree/b", "b");
    folder.write("tree/c", "c");
    let add = run(&folder, "add tree");
    fs::rename(folder.path("tree/a"), folder.path("tree/moved")).unwrap();
    // With the number, size and time of what was `b`, and another content: as if the number had
    // been given again.
    let modified = fs::metadata(folder.path("tree/b")).unwrap().modified().unwrap();
    fs::rename(folder.path("tree/b"), folder.path("tree/other")).unwrap();
    folder.write("tree/other", "x");
    let other = fs::File::options().write(true).open(folder.path("tree/other")).unwrap();
    other.set_modified(modified).unwrap();
    // Or nothing could be unmounted.
    drop(other);
    let audit = run(&folder, "audit");
    let done = std::process::Command::new("umount").arg(folder.path("tree")).status();
    assert!(done.is_ok_and(|status| status.success()));
    assert_eq!(add.status.code(), Some(0), "{}", text(&add.stderr));
    assert_eq!(audit.status.code(), Some(1), "{}", text(&audit.stderr));
    let mut found = lines(&folder, &audit);
    found.sort();
    assert_eq!(found, ["missing b", "moved a -> moved", "new other"]);
    assert!(text(&audit.stderr).contains("2 files read"), "{}", text(&audit.stderr));
}

/// A disk that is full is not a catalog that is damaged.
#[test]
fn a_backup_to_a_full_disk_says_so() {
    if !rustix::process::geteuid().is_root() {
        return skip("only root can mount a small file system");
    }
    let folder = cataloged(&["a", "b"]);
    fs::create_dir(folder.path("small")).unwrap();
    let mut mount = std::process::Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "size=16k", "none"]).arg(folder.path("small"));
    if !mount.stderr(Stdio::null()).status().is_ok_and(|status| status.success()) {
        return skip("nothing can be mounted here");
    }
    let backup = run(&folder, "catalog backup small/copy.db");
    let left: Vec<_> = fs::read_dir(folder.path("small")).unwrap().collect();
    let done = std::process::Command::new("umount").arg(folder.path("small")).status();
    assert!(done.is_ok_and(|status| status.success()));
    let words = text(&backup.stderr);
    assert_eq!(backup.status.code(), Some(1), "{words}");
    assert!(words.contains("is there room for the copy?") && !words.contains("damaged"), "{words}");
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(run(&folder, "catalog check").status.code(), Some(0));
}

/// Nothing is left of a full disk but what was committed before.
#[test]
fn a_full_disk_and_a_read_only_one() {
    if !rustix::process::geteuid().is_root() {
        return skip("only root can mount a small file system");
    }
    let folder = cataloged(&["a", "b"]);
    fs::create_dir(folder.path("small")).unwrap();
    let small = folder.path("small");
    let mount = |options: &str| {
        let mut command = std::process::Command::new("mount");
        command.args(["-t", "tmpfs", "-o", options, "none"]).arg(&small);
        command.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    if !mount("size=300k") {
        return skip("nothing can be mounted here");
    }
    let filled = {
        let database = folder.path("small/catalog.db");
        let with = |args: &str| {
            output(folder.lanesum(args.split_whitespace()).env("LANESUM_CATALOG", &database))
        };
        let first = with("add tree");
        for file in 0..3000 {
            folder.write(format!("tree/{file}"), format!("{file}"));
        }
        let full = with("update");
        let check = with("catalog check");
        let remounted = mount("remount,ro");
        let status = remounted.then(|| with("status"));
        [Some(first), Some(full), Some(check), status]
    };
    std::process::Command::new("umount").arg(&small).status().unwrap();
    let [first, full, check, status] =
        filled.map(|it| it.map(|it| (it.status.code(), text(&it.stderr), text(&it.stdout))));
    assert_eq!(first.unwrap().0, Some(0));
    let (code, words, _) = full.unwrap();
    assert_eq!(code, Some(1), "{words}");
    assert!(words.contains("no room is left"), "{words}");
    assert_eq!(check.as_ref().unwrap().0, Some(0), "{check:?}");
    if let Some((code, words, out)) = status {
        assert!(code == Some(4) && out.contains("2 files"), "{words}");
        assert!(out.contains("NOT complete: interrupted"), "{out}");
    }
}

#[test]
fn help_tells_the_tour() {
    let help = folder_help();
    for class in lanesum_catalog::Class::ALL {
        assert!(help.contains(&format!(" {class} {} ", class.meaning())), "{class}: {help}");
    }
    for words in
        ["lanesum add ~/photos", "lanesum audit", "LANESUM_CATALOG", "Exit codes: 0 as cataloged"]
    {
        assert!(help.contains(words), "{words}: {help}");
    }
}

fn folder_help() -> String {
    let help = text(&Folder::new().run("help catalog").stdout);
    help.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a run told holds for whoever comes next, until the remedy that was told is followed.
#[test]
fn what_was_told_is_not_forgotten_by_less() {
    let folder = cataloged(&["a", "b"]);
    folder.write("tree/a", "edited");
    assert_eq!(run(&folder, "scrub --percent 100").status.code(), Some(3));
    for verb in ["scrub", "scrub --new", "status", "report", "audit"] {
        let output = run(&folder, verb);
        assert_eq!(output.status.code(), Some(3), "{verb}: {}", text(&output.stderr));
    }
    assert!(text(&run(&folder, "status").stdout).contains("1 changed  -> lanesum update"));
    let report = run(&folder, "report");
    assert!(text(&report.stdout).contains("`lanesum update` takes up what is changed"));
    assert!(!text(&report.stdout).contains("nothing known"), "{}", text(&report.stdout));
    assert_eq!(run(&folder, "update").status.code(), Some(3));
    for verb in ["status", "report", "audit", "scrub"] {
        assert_eq!(run(&folder, verb).status.code(), Some(0), "{verb}");
    }
}

/// Ended by a limit, by somebody, or killed: what is left is left, and told.
#[test]
fn a_scrub_that_was_broken_off_is_not_complete() {
    use std::time::{Duration, Instant};
    let folder = Folder::new();
    for number in 0..3 {
        folder.write(format!("tree/{number}"), vec![number; 300_000]);
    }
    assert_eq!(run(&folder, "add tree --limit 20k").status.code(), Some(0));
    // SIGINT is ignored where it was when this began, as in the background of a script.
    for signal in ["TERM", "KILL"] {
        let mut command = folder.lanesum(["scrub", "--percent", "100"]);
        command.env("LANESUM_CATALOG", folder.path("state/catalog.db"));
        let mut scrub = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let until = Instant::now() + Duration::from_secs(20);
        while !text(&run(&folder, "status").stdout).contains("last: scrub") {
            assert!(Instant::now() < until, "it does not begin");
            std::thread::sleep(Duration::from_millis(20));
        }
        let sent = std::process::Command::new("kill")
            .args(["-s", signal, &scrub.id().to_string()])
            .status();
        assert!(sent.is_ok_and(|it| it.success()));
        scrub.wait().unwrap();
        for verb in ["status", "report"] {
            let output = run(&folder, verb);
            assert_eq!(output.status.code(), Some(4), "{verb} after {signal}");
        }
        assert_eq!(run(&folder, "limit tree --limit none").status.code(), Some(0));
        assert_eq!(run(&folder, "scrub --percent 100").status.code(), Some(0));
        assert_eq!(run(&folder, "status").status.code(), Some(0));
        assert_eq!(run(&folder, "update").status.code(), Some(0));
        assert_eq!(run(&folder, "limit tree --limit 20k").status.code(), Some(0));
    }
}

#[test]
fn a_folder_that_was_emptied_is_suspended_by_a_scrub_too_and_the_remedy_works() {
    let folder = cataloged(&["a", "b"]);
    for name in ["a", "b"] {
        fs::remove_file(folder.path("tree").join(name)).unwrap();
    }
    for verb in ["scrub", "scrub --percent 100", "audit", "scrub", "status", "report"] {
        assert_eq!(run(&folder, verb).status.code(), Some(4), "{verb}");
    }
    let told = run(&folder, "scrub");
    let tree = folder.path("tree").canonicalize().unwrap();
    let remedy = format!("lanesum update --max-gone 100 {}", tree.display());
    assert!(text(&told.stderr).contains(&remedy), "{}", text(&told.stderr));
    assert!(text(&told.stderr).contains("then `lanesum forget --missing "));
    for verb in ["status", "report"] {
        let told = text(&run(&folder, verb).stdout);
        assert!(told.contains(&remedy), "{verb}: {told}");
    }
    assert_eq!(run(&folder, "update --max-gone 100 tree").status.code(), Some(3));
    // That all are gone stands from then on, and suspends nothing again.
    for (verb, code) in [("scrub", 1), ("audit", 1), ("update", 3), ("status", 1)] {
        let told = run(&folder, verb);
        assert_eq!(told.status.code(), Some(code), "{verb}: {}", text(&told.stderr));
        assert!(!text(&told.stderr).contains("suspended"), "{verb}: {}", text(&told.stderr));
    }
    let report = run(&folder, "report --html");
    assert!(text(&report.stdout).contains("If it is gone for good: <code>lanesum forget -- "));
    let paths = format!("forget {0}/a {0}/none {0}/b", folder.path("tree").display());
    assert_eq!(run(&folder, &paths).status.code(), Some(1), "one of them is not known");
    folder.write("tree/c", "c");
    assert_eq!(run(&folder, "update").status.code(), Some(3));
    assert_eq!(run(&folder, "scrub").status.code(), Some(0));
    assert_eq!(run(&folder, "status").status.code(), Some(0));
}

#[test]
fn a_catalog_of_nothing_is_not_well() {
    let folder = Folder::new();
    assert_eq!(run(&folder, "add nowhere").status.code(), Some(2));
    assert!(!folder.path("state/catalog.db").exists());
    folder.write("tree/a", "a");
    assert_eq!(run(&folder, "add tree").status.code(), Some(0));
    assert_eq!(run(&folder, "forget tree").status.code(), Some(0));
    for verb in ["status", "report", "audit", "scrub"] {
        let output = run(&folder, verb);
        assert_eq!(output.status.code(), Some(2), "{verb}");
        assert!(text(&output.stderr).contains("nothing is cataloged"), "{verb}");
    }
    let tree = folder.path("tree").canonicalize().unwrap();
    let report = run(&folder, "report");
    assert!(text(&report.stdout).contains(&format!("forgotten {}", tree.display())));
    for args in ["add tree --catalog tree", "status --catalog tree"] {
        let output = folder.run(args);
        assert_eq!(output.status.code(), Some(1), "{args}");
        assert!(
            text(&output.stderr).contains("tree: a catalog is a file"),
            "{}",
            text(&output.stderr)
        );
    }
}

/// What a run printed of itself, status, report and page say of it.
#[test]
fn a_run_over_nothing_is_complete_nowhere() {
    let folder = Folder::new();
    fs::create_dir(folder.path("tree")).unwrap();
    for verb in ["add tree", "update", "audit", "scrub"] {
        let output = run(&folder, verb);
        assert!(text(&output.stderr).contains("NOT complete"), "{verb}: {output:?}");
        for look in ["status", "status --json", "report", "report --html"] {
            let looked = run(&folder, look).stdout;
            let looked = String::from_utf8_lossy(&looked).replace("NOT complete", "");
            let is_complete = [", complete", r#""outcome":"complete""#, r#""complete":true"#];
            assert!(is_complete.iter().all(|it| !looked.contains(it)), "{verb}, {look}: {looked}");
        }
    }
    folder.write("tree/a", "a");
    assert_eq!(run(&folder, "update").status.code(), Some(3));
    let status = run(&folder, "status");
    assert_eq!(status.status.code(), Some(0), "{}", text(&status.stdout));
    assert!(text(&status.stdout).contains(", complete; 1 file read"), "{status:?}");
}

/// A list that is taken up from elsewhere names nothing in the folder, which would be taken up
/// as it is, without the list.
#[test]
fn names_of_a_list_are_below_the_folder_that_is_added() {
    let folder = Folder::new();
    folder.write("p/tree/a", "a");
    folder.write("list", format!("{}  a\n", md5("a")));
    folder.write("a", "another");
    let refused = run(&folder, "catalog import --add p/tree list");
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let words = text(&refused.stderr);
    assert!(words.contains("p/tree: no name of the lists is in it, the first is a"), "{words}");
    assert!(words.contains("--root DIR says where else. Nothing was taken"), "{words}");
    assert!(!folder.path("state/catalog.db").exists());
    let wrong = run(&folder, "catalog import --add p/tree --root p list");
    assert!(text(&wrong.stderr).contains("is --root the folder that they are below"), "{wrong:?}");
    let taken = run(&folder, "catalog import --add p/tree --root p/tree list");
    assert_eq!(taken.status.code(), Some(3), "{taken:?}");
}

/// What is cataloged by a list alone is not all that there is.
#[test]
fn a_scrub_of_what_was_never_taken_up_is_complete_nowhere() {
    let folder = Folder::new();
    folder.write("tree/a", "a");
    folder.write("list", format!("{}  tree/a\n", md5("a")));
    assert_eq!(run(&folder, "catalog import --add tree list").status.code(), Some(3));
    let scrubbed = run(&folder, "scrub");
    assert_eq!(scrubbed.status.code(), Some(4), "{scrubbed:?}");
    let status = text(&run(&folder, "status").stdout).to_owned();
    assert!(status.contains("NOT TAKEN UP: no add or update"), "{status}");
    assert!(status.contains("NOT complete: not all files are known"), "{status}");
    // What is left is the update's, and no other scrub's.
    assert_eq!(run(&folder, "update").status.code(), Some(0));
    assert_eq!(run(&folder, "status").status.code(), Some(0));
}

/// Cron mails what is said.
#[test]
fn quiet_says_nothing_where_all_is_well() {
    let folder = Folder::new();
    folder.write("state/log", "");
    folder.write("tree/a", "a");
    folder.write("other/b", "b");
    run(&folder, "add other");
    for verb in ["add tree --quiet", "update -q", "audit --all -q", "scrub -q", "audit -q --json"] {
        let output = run(&folder, verb);
        let said = (text(&output.stdout), text(&output.stderr));
        assert_eq!((output.status.code(), said), (Some(0), (String::new(), String::new())));
    }
    fs::remove_file(folder.path("tree/a")).unwrap();
    folder.write("tree/c", "c");
    let audit = run(&folder, "audit --quiet --max-gone 100");
    assert_eq!(audit.status.code(), Some(1));
    assert_eq!(lines(&folder, &audit), ["new c", "missing a"]);
    let words = text(&audit.stderr);
    assert!(words.contains("/tree: audit complete: 1 new, 1 missing"), "{words}");
    assert!(!words.contains("/other"), "{words}");
}

#[test]
fn an_interruption_says_what_is_kept() {
    let folder = Folder::new();
    folder.write("tree/a", vec![1; 3_000_000]);
    let mut command = folder.lanesum("add --limit 1k --every 100y tree".split(' '));
    command.env("LANESUM_CATALOG", folder.path("state/catalog.db"));
    assert_eq!(output(&mut command).status.code(), Some(0));
    let mut command = folder.lanesum("scrub --percent 100".split(' '));
    command.env("LANESUM_CATALOG", folder.path("state/catalog.db"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    // It is on the medium that it has begun.
    while !text(&run(&folder, "status").stdout).contains("scrub of") {
        std::thread::sleep(Duration::from_millis(20));
    }
    // SIGINT is ignored where it was when this began, as in the background of a script.
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let output = child.wait_with_output().unwrap();
    let words = text(&output.stderr);
    assert_eq!(words.lines().count(), 1, "{words}");
    assert!(words.contains("interrupted: what was checked is kept"), "{words}");
}

/// Files that are edited or new do not fill a mail, and each that is damaged is told.
#[test]
fn a_mail_sums_up_and_names_what_it_is_about() {
    let folder = Folder::new();
    folder.write("well/a", "a");
    folder.write("tree/a", "a");
    run(&folder, "add well tree");
    assert!(text(&run(&folder, "report").stdout).starts_with("lanesum: nothing known to be"));
    for number in 100..150 {
        folder.write(format!("tree/{number}"), number.to_string());
    }
    assert_eq!(run(&folder, "update").status.code(), Some(3));
    (100..150).for_each(|number| fs::remove_file(folder.path(format!("tree/{number}"))).unwrap());
    assert_eq!(run(&folder, "audit").status.code(), Some(1));
    let report = text(&run(&folder, "report").stdout).to_owned();
    assert!(report.starts_with("lanesum: 50 missing - tree\n"), "{report}");
    assert_eq!(report.matches(" new ").count(), 20, "{report}");
    assert!(report.contains("\n... new: 30 files more (report --csv has each)\n"), "{report}");
    assert_eq!(report.matches("Z missing ").count(), 50, "{report}");
    assert_eq!(text(&run(&folder, "report --csv").stdout).matches(",new,").count(), 50);
}

/// Copies among new files do not part these.
#[test]
fn a_mail_sums_up_behind_all_that_was_found_together() {
    let folder = cataloged(&["a"]);
    for number in 100..150 {
        let content = if number % 5 == 0 { "a".to_owned() } else { number.to_string() };
        folder.write(format!("tree/{number}"), content);
    }
    assert_eq!(run(&folder, "update").status.code(), Some(3));
    let report = text(&run(&folder, "report").stdout);
    let sum = "\n... new: 20 files more (report --csv has each)\n";
    assert!(report.ends_with(sum), "{report}");
    assert_eq!((report.matches("Z new ").count(), report.matches("Z copied ").count()), (20, 10));
}

#[test]
fn a_catalog_that_is_damaged_is_named() {
    let folder = cataloged(&["a"]);
    let bytes = fs::read(folder.path("state/catalog.db")).unwrap();
    folder.write("half.db", &bytes[..bytes.len() / 2]);
    let audit = folder.run("audit --catalog half.db");
    assert_eq!(audit.status.code(), Some(5));
    let words = text(&audit.stderr);
    assert!(words.starts_with("lanesum: half.db: the catalog is damaged: "), "{words}");
    assert!(words.contains("catalog backup"), "{words}");
}

/// Some folders of several, as all verbs take them.
#[test]
fn how_some_folders_stand() {
    let folder = Folder::new();
    for name in ["one/a", "one/z", "two/b", "three/c"] {
        folder.write(name, name);
    }
    // All of them are taken up, or none.
    let added = run(&folder, "add one two two/../one/. three one/a");
    assert_ne!(added.status.code(), Some(0));
    assert_eq!(run(&folder, "status").status.code(), Some(2));
    fs::create_dir(folder.path("two/in")).unwrap();
    let added = run(&folder, "add one two two/in three");
    assert!(text(&added.stderr).contains("overlaps"), "{}", text(&added.stderr));
    assert_eq!(run(&folder, "status").status.code(), Some(2));

    assert_eq!(run(&folder, "add one two three").status.code(), Some(0));
    fs::remove_file(folder.path("one/a")).unwrap();
    folder.write("two/b", "another");
    assert_eq!(run(&folder, "audit").status.code(), Some(1));
    for (folders, code, among, not_among) in [
        ("one", 1, &["one/a"][..], &["/two", "/three"][..]),
        ("two", 3, &["two/b"], &["/one", "/three"]),
        ("three", 0, &[], &["one/a", "two/b"]),
        ("three two", 3, &["two/b"], &["/one"]),
    ] {
        let status = run(&folder, &format!("status {folders}"));
        assert_eq!(status.status.code(), Some(code), "{folders}");
        let out = text(&status.stdout);
        let told = out.lines().filter(|line| !line.starts_with(' ')).count();
        assert_eq!(told, folders.split(' ').count(), "{out}");
        for form in ["--text", "--json", "--csv", "--html"] {
            let report = run(&folder, &format!("report {form} {folders}"));
            assert_eq!(report.status.code(), Some(code), "{form} {folders}");
            let out = text(&report.stdout);
            assert!(among.iter().all(|path| out.contains(path)), "{form} {folders}: {out}");
            assert!(!not_among.iter().any(|path| out.contains(path)), "{form} {folders}: {out}");
        }
    }
    for verb in ["status", "report"] {
        let refused = run(&folder, &format!("{verb} nowhere"));
        assert_eq!((refused.status.code(), &*refused.stdout), (Some(2), &b""[..]));
    }
}

/// What a list calls otherwise than its file is called, as Windows does, is not lost: once the list
/// is read as its hint tells, nothing is left of the first try.
#[test]
fn a_name_that_is_written_otherwise_is_not_missing() {
    let folder = Folder::of(&["tree/a", "tree/b", "tree/c", "tree/sub/d"]);
    fs::create_dir(folder.path("state")).unwrap();
    let list = ["a", "b", "c", "sub/d"].map(|name| line(format!("tree/{name}"), name)).concat();
    folder.write("windows", list.replace('/', "\\"));
    let imported = run(&folder, "catalog import --add tree --root tree windows");
    assert_eq!(imported.status.code(), Some(4), "{imported:?}");
    let words = text(&imported.stderr);
    assert!(words.contains("NOT taken: there is no") && !words.contains("MISSING"), "{words}");
    assert!(words.contains("tr '"), "{words}");
    folder.write("list", list);
    assert_eq!(run(&folder, "catalog import --root tree list").status.code(), Some(3));
    assert_eq!(run(&folder, "update").status.code(), Some(0));
    assert_eq!(run(&folder, "status").status.code(), Some(0));
    // But where a list names both, one of them is.
    let both = line("lost", "sub\\d").replace('\\', "\\\\");
    folder.write("both", format!("\\{both}{}", folder.read("list")));
    let imported = run(&folder, "catalog import --root tree both");
    assert_eq!(imported.status.code(), Some(1), "{imported:?}");
    assert!(text(&imported.stderr).contains("MISSING: there is no such file"), "{imported:?}");
}

#[test]
fn who_accepts_is_told_which_name_goes() {
    let folder = Folder::of(&["tree/a", "tree/b"]);
    fs::create_dir(folder.path("state")).unwrap();
    assert_eq!(run(&folder, "add tree").status.code(), Some(0));
    fs::rename(folder.path("tree/a"), folder.path("tree/c")).unwrap();
    let accepted = run(&folder, "accept tree/c tree/b");
    let words = text(&accepted.stderr);
    assert_eq!(words.matches("/tree/a is no longer cataloged\n").count(), 1, "{words}");
    assert_eq!(run(&folder, "status").status.code(), Some(0));
}
