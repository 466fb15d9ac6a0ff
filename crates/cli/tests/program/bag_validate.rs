//! `lanesum bag validate`: complete and valid bags, and every way in which one is not.

use serde_json::{Value, json};

use super::*;

pub const DECLARATION: &str = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n";

/// A valid bag called `b`, with two files, manifests of MD5 and a tag manifest.
pub fn bag() -> Folder {
    let folder = Folder::of(&["b/data/a", "b/data/sub/b"]);
    folder.write("b/bagit.txt", DECLARATION);
    let payload = of_bag(&["data/a", "data/sub/b"]);
    folder.write("b/manifest-md5.txt", payload);
    list_tags(&folder);
    folder
}

/// The lines of files that hold their own paths, with `b/` before.
fn of_bag(names: &[&str]) -> String {
    names.iter().map(|name| line(format!("b/{name}"), name)).collect()
}

/// Makes the tag manifest anew.
fn list_tags(folder: &Folder) {
    let mut list = String::new();
    for name in folder.names_in("b") {
        if name.ends_with(".txt") && !name.starts_with("tagmanifest") {
            list += &line(folder.read(&format!("b/{name}")), &name);
        }
    }
    folder.write("b/tagmanifest-md5.txt", list);
}

impl Folder {
    /// The names in a folder in it, sorted.
    pub fn names_in(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// What is printed about `b`, without its name, and about warnings.
#[track_caller]
pub fn validate(folder: &Folder, code: i32) -> (String, String) {
    let run = folder.run("bag validate -q b");
    assert_eq!(run.status.code(), Some(code), "{} {}", text(&run.stdout), text(&run.stderr));
    assert_eq!(code == 0, run.stdout.is_empty(), "{}", text(&run.stdout));
    let run_in_full = text(&folder.run("bag validate b").stderr);
    let warnings = run_in_full.lines().filter(|line| line.contains(": warning: "));
    let warnings = warnings.map(|line| line.replace("lanesum: ", "") + "\n").collect();
    (text(&run.stdout), warnings)
}

/// The bag is not valid for this reason alone.
#[track_caller]
fn fails(folder: &Folder, errors: &str) {
    let (found, _) = validate(folder, 1);
    let count = errors.lines().count();
    let plural = if count == 1 { "" } else { "s" };
    assert_eq!(found, format!("{errors}b: NOT VALID: {count} error{plural}\n"));
}

/// The names are those of RFC 8493, with letters and digits alone, or those of Python's hashlib.
#[test]
fn manifests_of_new_algorithms_are_checked() {
    for (algorithm, manifest) in [
        ("sha384", "manifest-sha384.txt"),
        ("sha3-256", "manifest-sha3256.txt"),
        ("sha3-512", "manifest-sha3_512.txt"),
        ("blake2b", "manifest-blake2b.txt"),
    ] {
        let folder = Folder::of(&["b/data/a"]);
        folder.write("b/bagit.txt", "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n");
        let list = folder.run(&format!("-a {algorithm} --untagged b/data/a")).stdout;
        folder.write(format!("b/{manifest}"), text(&list).replace("b/data", "data"));
        assert_eq!(folder.run("bag validate b").status.code(), Some(0), "{manifest}");
        assert_eq!(folder.run(&format!("check b/{manifest}")).status.code(), Some(0), "{manifest}");
        folder.write("b/data/a", "A");
        assert_eq!(folder.run("bag validate b").status.code(), Some(1), "{manifest}");
        assert_eq!(folder.run(&format!("check b/{manifest}")).status.code(), Some(1), "{manifest}");
    }
}

#[test]
fn valid_bag_passes() {
    let folder = bag();
    let run = folder.run("bag validate b");
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), "b: valid\n".to_owned()));
    assert!(text(&run.stderr).starts_with("lanesum: b: 4 files, "), "{}", text(&run.stderr));
    expect(&folder.run("bag validate -q b"), 0, "", "");
    expect(&folder.run("bag validate --quiet b/ b"), 0, "", "");
    folder.write("b/data/a", "rotten..");
    let run = folder.run("bag validate b gone");
    let expected = "b/data/a: changed: differs from manifest-md5.txt\nb: NOT VALID: 1 error\ngone: NOT VALID\n";
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(1), expected.to_owned()));
    assert!(text(&run.stderr).ends_with("lanesum: gone: No such file or directory\n"));
    // Nothing was read of what is no bag.
    folder.write("c/a", "");
    let why = "c/bagit.txt: missing, so this is not a bag\nc: NOT VALID: 1 error\n";
    expect(&folder.run("bag validate c"), 1, why, "");
    let why = "lanesum: gone: No such file or directory\n";
    expect(&folder.run("bag validate --fast -q gone"), 1, "gone: NOT VALID\n", why);
}

#[test]
fn missing_file_names_all_its_manifests() {
    let folder = bag();
    let names = ["data/a", "data/sub/b"];
    let sha = |name: &str| hex(&<sha1::Sha1 as sha1::Digest>::digest(format!("b/{name}")));
    let list: String = names.iter().map(|name| format!("{}  {name}\n", sha(name))).collect();
    folder.write("b/manifest-sha1.txt", list);
    list_tags(&folder);
    fs::remove_file(folder.path("b/data/a")).unwrap();
    fails(&folder, "b/data/a: missing (listed in manifest-md5.txt and manifest-sha1.txt)\n");
    fs::create_dir(folder.path("b/data/a")).unwrap();
    fails(
        &folder,
        "b/data/a: a directory, but listed as a file in manifest-md5.txt and manifest-sha1.txt\n",
    );
}

#[test]
fn every_failing_file_is_listed() {
    let folder = bag();
    folder.write("b/data/a", "other");
    fs::remove_file(folder.path("b/data/sub/b")).unwrap();
    folder.write("b/data/new", "");
    folder.write("b/manifest-md5.txt", of_bag(&["data/a", "data/sub/b"]) + "nonsense\n");
    fails(
        &folder,
        "b/manifest-md5.txt: line 3: not `DIGEST  NAME` with a digest of this algorithm\n\
         b/data/sub/b: missing (listed in manifest-md5.txt)\n\
         b/data/new: not listed in any payload manifest\n\
         b/data/a: changed: differs from manifest-md5.txt\n\
         b/manifest-md5.txt: changed: differs from tagmanifest-md5.txt\n",
    );
}

#[test]
fn file_must_be_in_every_manifest() {
    let folder = bag();
    let sha = hex(&<sha2::Sha256 as sha2::Digest>::digest("b/data/a"));
    folder.write("b/manifest-sha256.txt", format!("{sha}  data/a\n"));
    list_tags(&folder);
    fails(&folder, "b/data/sub/b: not listed in manifest-sha256.txt\n");
    // The drafts had it that one of them would do.
    folder.write("b/bagit.txt", DECLARATION.replace("1.0", "0.97"));
    list_tags(&folder);
    let (_, warnings) = validate(&folder, 0);
    assert_eq!(warnings, "b/data/sub/b: warning: not listed in manifest-sha256.txt\n");
    // Both are held against one reading.
    folder.write("b/data/a", "b/DATA/a");
    fails(&folder, "b/data/a: changed: differs from manifest-md5.txt and manifest-sha256.txt\n");
}

#[test]
fn file_listed_twice_is_reported() {
    let folder = bag();
    let twice = of_bag(&["data/a", "data/sub/b", "data/a"]);
    folder.write("b/manifest-md5.txt", &twice);
    list_tags(&folder);
    fails(&folder, "b/manifest-md5.txt: line 3: lists data/a twice\n");
    folder.write("b/bagit.txt", DECLARATION.replace("1.0", "0.97"));
    list_tags(&folder);
    let (_, warnings) = validate(&folder, 0);
    assert_eq!(warnings, "b/manifest-md5.txt: line 3: warning: lists data/a twice\n");
    let other = twice.replacen(&md5("b/data/a"), &md5("other"), 1);
    folder.write("b/manifest-md5.txt", other);
    list_tags(&folder);
    fails(
        &folder,
        "b/manifest-md5.txt: line 3: lists data/a twice, with different digests\n\
         b/data/a: changed: differs from manifest-md5.txt\n",
    );
}

#[test]
fn paths_out_of_the_bag_are_refused() {
    for (name, why) in [
        ("../a", "a path with `..` in it, which may lead out of the bag"),
        ("data/../../a", "a path with `..` in it, which may lead out of the bag"),
        ("/etc/passwd", "an absolute path, which leads out of the bag"),
        ("~root/a", "a path that begins with `~`, which may lead out of the bag"),
    ] {
        let folder = bag();
        folder.write("b/manifest-md5.txt", of_bag(&["data/a", "data/sub/b"]) + &line("", name));
        list_tags(&folder);
        fails(&folder, &format!("b/manifest-md5.txt: line 3: names {name}: {why}\n"));
        let folder = bag();
        folder.write("b/fetch.txt", format!("https://example.org/a - {name}\n"));
        list_tags(&folder);
        fails(&folder, &format!("b/fetch.txt: line 1: names {name}: {why}\n"));
    }
}

#[test]
fn links_out_of_the_bag_are_refused() {
    let folder = bag();
    folder.write("outside", "b/data/a");
    fs::remove_file(folder.path("b/data/a")).unwrap();
    folder.link("../../outside", "b/data/a");
    fails(&folder, "b/data/a: a link out of the bag, or behind one\n");
    // What it leads to would be right, but a bag that is sent on has nothing of it.
    fs::remove_file(folder.path("b/data/a")).unwrap();
    folder.write("elsewhere/sub/b", "b/data/sub/b");
    fs::remove_dir_all(folder.path("b/data/sub")).unwrap();
    folder.write("b/data/a", "b/data/a");
    folder.link("../../elsewhere/sub", "b/data/sub");
    fails(
        &folder,
        "b/data/sub/b: a link out of the bag, or behind one\n\
         b/data/sub: a link out of the bag, or behind one\n",
    );
    let folder = bag();
    fs::rename(folder.path("b/data/a"), folder.path("b/data/sub/c")).unwrap();
    folder.link("sub/c", "b/data/a");
    let lists = of_bag(&["data/a", "data/sub/b"]) + &line("b/data/a", "data/sub/c");
    folder.write("b/manifest-md5.txt", lists);
    list_tags(&folder);
    let (_, warnings) = validate(&folder, 0);
    assert_eq!(warnings, "b/data/a: warning: a link, which other systems may not keep\n");
}

#[test]
fn tag_file_must_be_a_file() {
    type Make = fn(&Folder, &str);
    let makes: [(Make, &str); 5] = [
        (|folder, name| folder.link("data/a", name), "a link"),
        (|folder, name| folder.link("nowhere", name), "a link"),
        (|folder, name| folder.fifo(name), "a named pipe"),
        (|folder, name| fs::create_dir(folder.path(name)).unwrap(), "a directory"),
        (|folder, name| folder.write(format!("{name}/k"), ""), "a directory"),
    ];
    let names = [
        "bag-info.txt",
        "package-info.txt",
        "fetch.txt",
        "manifest-sha1.txt",
        "manifest-sha3256.txt",
        "tagmanifest-sha1.txt",
        "bagit.txt",
    ];
    for name in names {
        for (make, kind) in makes {
            let folder = bag();
            let path = format!("b/{name}");
            if name == "bagit.txt" {
                fs::remove_file(folder.path(&path)).unwrap();
            }
            make(&folder, &path);
            let told = format!("{path}: is {kind}, not a file\n");
            let before = folder.read("b/manifest-md5.txt");
            for verb in ["validate", "validate --fast", "update"] {
                let run = folder.run(&format!("bag {verb} b"));
                let out = text(&run.stdout);
                assert_eq!((run.status.code(), out.matches(&told).count()), (Some(1), 1), "{out}");
                assert!(!out.contains("not a bag"), "{out}");
            }
            assert_eq!(folder.read("b/manifest-md5.txt"), before);
            assert!(!exists(folder.path("b/.lanesum-bag")));
        }
    }
}

#[test]
fn declaration_and_payload_are_required() {
    let folder = bag();
    fs::remove_file(folder.path("b/manifest-md5.txt")).unwrap();
    fs::remove_file(folder.path("b/tagmanifest-md5.txt")).unwrap();
    fails(&folder, "b: no payload manifest, so the digests of its files are unknown\n");
    fs::remove_dir_all(folder.path("b/data")).unwrap();
    folder.write("b/manifest-md5.txt", "");
    fails(&folder, "b/data: not a directory, but the bag needs it\n");
    folder.write("b/bagit.txt", "");
    let words = "must be two lines: `BagIt-Version: 1.0` and `Tag-File-Character-Encoding: UTF-8`";
    fails(&folder, &format!("b/bagit.txt: {words}\n"));
    fs::remove_file(folder.path("b/bagit.txt")).unwrap();
    fails(&folder, "b/bagit.txt: missing, so this is not a bag\n");
    fs::create_dir(folder.path("c")).unwrap();
    let run = folder.run("bag validate --fast b c");
    assert_eq!(run.status.code(), Some(1));
    assert!(!text(&run.stdout).contains("agrees"), "{}", text(&run.stdout));
}

#[test]
fn manifest_of_unknown_algorithm_fails() {
    let folder = bag();
    folder.write("b/manifest-whirlpool.txt", format!("{}  data/a\n", "0".repeat(128)));
    list_tags(&folder);
    let words = "lanesum does not compute whirlpool; not checked";
    fails(&folder, &format!("b/manifest-whirlpool.txt: {words}\n"));
    fs::remove_file(folder.path("b/manifest-md5.txt")).unwrap();
    list_tags(&folder);
    fails(&folder, &format!("b/manifest-whirlpool.txt: {words}\n"));
}

#[test]
fn unfetched_file_is_missing() {
    let folder = bag();
    fs::remove_file(folder.path("b/data/a")).unwrap();
    folder.write("b/fetch.txt", "https://example.org/a 8 data/a\nhttps://example.org/x - data/x\n");
    list_tags(&folder);
    fails(
        &folder,
        "b/fetch.txt: line 2: names data/x, which manifest-md5.txt does not list\n\
         b/data/a: missing, and to be fetched from https://example.org/a\n",
    );
    folder.write("b/fetch.txt", "https://example.org/a 8 data/a\nhttps://example.org/b - data/a\n");
    list_tags(&folder);
    // The first time that it is told.
    fails(&folder, "b/data/a: missing, and to be fetched from https://example.org/a\n");
}

#[test]
fn fast_check_is_not_a_validation() {
    let folder = bag();
    let fast = || folder.run("bag validate --fast b");
    expect(
        &fast(),
        1,
        "b/bag-info.txt: no Payload-Oxum to compare with; leave out --fast to check all files\n\
         b: FAILED; only sizes were compared\n",
        "",
    );
    folder.write("b/bag-info.txt", "Payload-Oxum: 20.2\n");
    let agrees = "b: size and count match Payload-Oxum (2 files, 20 B); contents not checked\n";
    expect(&fast(), 0, agrees, "");
    // The same length.
    folder.write("b/data/a", "b/DATA/a");
    expect(&fast(), 0, agrees, "");
    folder.write("b/data/a", "longer than it was");
    expect(
        &fast(),
        1,
        "b/bag-info.txt: Payload-Oxum is 20.2, but the payload has 30 bytes in 2 files: 30.2\n\
         b: FAILED; only sizes were compared\n",
        "",
    );
    let (errors, _) = validate(&folder, 1);
    assert!(errors.contains("Payload-Oxum is 20.2, but"), "{errors}");
    folder.write("b/bag-info.txt", "Payload-Oxum: 20\n");
    let run = fast();
    assert_eq!(run.status.code(), Some(1), "{}", text(&run.stdout));
}

#[test]
fn contradicting_sizes_fail_in_every_version() {
    let folder = bag();
    let twice = "Payload-Oxum: 20.2\nPayload-Oxum: ";
    for version in ["1.0", "0.97"] {
        folder.write("b/bagit.txt", DECLARATION.replace("1.0", version));
        for second in ["21.2", "nonsense"] {
            folder.write("b/bag-info.txt", format!("{twice}{second}\n"));
            list_tags(&folder);
            fails(&folder, "b/bag-info.txt: contains Payload-Oxum twice, with different values\n");
            let run = folder.run("bag validate --fast b");
            assert_eq!(run.status.code(), Some(1), "{}", text(&run.stdout));
        }
    }
    folder.write("b/bag-info.txt", format!("{twice}20.2\n"));
    list_tags(&folder);
    assert_eq!(validate(&folder, 0).1, "b/bag-info.txt: warning: contains Payload-Oxum twice\n");
    folder.write("b/bagit.txt", DECLARATION);
    list_tags(&folder);
    fails(&folder, "b/bag-info.txt: contains Payload-Oxum twice\n");
}

#[test]
fn names_of_other_tools_are_read_with_a_warning() {
    let folder = bag();
    let list = format!("{} *./data/a\r\n{}\t data//sub/b", md5("b/data/a"), md5("b/data/sub/b"));
    folder.write("b/manifest-md5.txt", list);
    list_tags(&folder);
    let (_, warnings) = validate(&folder, 0);
    assert_eq!(
        warnings,
        "b/manifest-md5.txt: line 1: warning: names contain `./` or `//`\n\
         b/manifest-md5.txt: line 1: warning: names begin with the `*` of md5sum, which is not part of BagIt\n"
    );
    // The one looks encoded, the other encodes nothing.
    for name in ["data/%25", "data/100%.txt"] {
        let folder = bag();
        fs::rename(folder.path("b/data/a"), folder.path(format!("b/{name}"))).unwrap();
        let list = line("b/data/a", name) + &line("b/data/sub/b", "data/sub/b");
        folder.write("b/manifest-md5.txt", list);
        list_tags(&folder);
        let (_, warnings) = validate(&folder, 0);
        assert_eq!(
            warnings,
            "b/manifest-md5.txt: warning: percent signs in names are not encoded as %25\n"
        );
    }
}

#[test]
fn colliding_names_are_warned_of() {
    let folder = bag();
    let names =
        ["data/a", "data/sub/b", "data/A", "data/u\u{308}", "data/\u{fc}", "data/.DS_Store"];
    for name in names {
        folder.write(format!("b/{name}"), format!("b/{name}"));
    }
    folder.write("b/manifest-md5.txt", of_bag(&names));
    list_tags(&folder);
    let (_, warnings) = validate(&folder, 0);
    let alike = |a: &str, b: &str| {
        format!(
            "{a}: warning: differs from {b} only in case or Unicode form, so some systems confuse them\n"
        )
    };
    assert!(warnings.contains(&alike("b/data/a", "data/A")), "{warnings}");
    assert_eq!(warnings.matches("differs from").count(), 2, "{warnings}");
    assert!(
        warnings.contains("b/data/.DS_Store: warning: created by the operating system"),
        "{warnings}"
    );
}

#[test]
fn name_in_a_different_unicode_form_is_found() {
    let folder = bag();
    folder.write("b/data/\u{fc}", "umlaut");
    let list = of_bag(&["data/a", "data/sub/b"]) + &line("umlaut", "data/u\u{308}");
    folder.write("b/manifest-md5.txt", list);
    list_tags(&folder);
    let (_, warnings) = validate(&folder, 0);
    assert!(warnings.contains("the same name in a different Unicode form"), "{warnings}");
    folder.write("b/data/\u{fc}", "other");
    let (errors, _) = validate(&folder, 1);
    assert!(errors.contains("changed: differs from manifest-md5.txt"), "{errors}");
}

#[test]
fn tag_files_in_other_encodings_are_read() {
    let folder = bag();
    folder.write("b/data/\u{fc}", "umlaut");
    let list = of_bag(&["data/a", "data/sub/b"]) + &line("umlaut", "data/\u{fc}");
    let utf16: Vec<u8> = list.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let latin1: Vec<u8> = list.chars().map(|it| it as u8).collect();
    fs::remove_file(folder.path("b/tagmanifest-md5.txt")).unwrap();
    for (encoding, text) in
        [("UTF-16", [&b"\xff\xfe"[..], &utf16].concat()), ("ISO-8859-1", latin1)]
    {
        folder.write("b/bagit.txt", DECLARATION.replace("UTF-8", encoding));
        folder.write("b/manifest-md5.txt", text);
        validate(&folder, 0);
    }
    folder.write("b/bagit.txt", DECLARATION);
    let (errors, _) = validate(&folder, 1);
    assert!(
        errors.contains("b/manifest-md5.txt: not in the encoding that bagit.txt names\n"),
        "{errors}"
    );
    folder.write("b/bagit.txt", DECLARATION.replace("UTF-8", "Shift_JIS"));
    fails(
        &folder,
        "b/bagit.txt: tag files in Shift_JIS cannot be read; those in UTF-8, UTF-16, ISO-8859-1 and US-ASCII can\n",
    );
}

#[test]
fn unreadable_file_fails() {
    let folder = bag();
    fs::set_permissions(
        folder.path("b/data/a"),
        std::os::unix::fs::PermissionsExt::from_mode(0o000),
    )
    .unwrap();
    obey_modes();
    fails(&folder, "b/data/a: Permission denied\n");

    // Nor can what is in a folder: that is all that is known of it.
    let mode = |mode| {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        fs::set_permissions(folder.path("b/data/sub"), mode).unwrap();
    };
    for of_sub in [0, 0o300] {
        mode(of_sub);
        let (found, _) = validate(&folder, 1);
        mode(0o700);
        let names = ["b/data/sub/b", "b/data/sub", "b/data/a"];
        let errors = names.map(|name| format!("{name}: Permission denied\n")).concat();
        assert_eq!(found, format!("{errors}b: NOT VALID: 3 errors\n"));
    }
}

/// What a tag file says that cannot be read is not known, so nothing is held against it.
#[test]
fn unreadable_manifest_is_one_error() {
    let folder = bag();
    folder.write("b/bag-info.txt", "Payload-Oxum: 20.2\n");
    folder.write("b/readme", "");
    let sha1 = |names: &[&str]| -> String {
        let of = |name: &str| hex(&<sha1::Sha1 as sha1::Digest>::digest(folder.read(name)));
        names.iter().map(|name| format!("{}  {name}\n", of(&format!("b/{name}")))).collect()
    };
    folder.write("b/manifest-sha1.txt", sha1(&["data/a", "data/sub/b"]));
    list_tags(&folder);
    let tags = ["bag-info.txt", "bagit.txt", "manifest-md5.txt", "manifest-sha1.txt"];
    folder.write("b/tagmanifest-sha1.txt", sha1(&tags));
    let warning =
        "b/readme: warning: not listed in any tag manifest, so changes are not detected\n";
    assert_eq!(validate(&folder, 0).1, warning);

    obey_modes();
    let mode = |name: &str, mode| {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        fs::set_permissions(folder.path(format!("b/{name}")), mode).unwrap();
    };
    let denied = |names: &[&str]| -> String {
        names.iter().map(|name| format!("b/{name}: Permission denied\n")).collect()
    };
    let not_valid = |names: &[&str], warnings: &str| {
        names.iter().for_each(|name| mode(name, 0));
        let errors = denied(names);
        fails(&folder, &errors);
        assert_eq!(validate(&folder, 1).1, warnings, "{names:?}");
        let update = folder.run("bag update b");
        assert_eq!((update.status.code(), text(&update.stdout)), (Some(1), errors));
        names.iter().for_each(|name| mode(name, 0o600));
    };
    let by_md5 = "b/readme: warning: not listed in tagmanifest-md5.txt\n";
    not_valid(&["tagmanifest-sha1.txt"], by_md5);
    not_valid(&["tagmanifest-md5.txt", "tagmanifest-sha1.txt"], "");
    not_valid(&["manifest-md5.txt"], warning);
    not_valid(&["manifest-md5.txt", "manifest-sha1.txt"], warning);
    not_valid(&["bag-info.txt"], warning);
    folder.write("b/fetch.txt", "https://example.org/a 8 data/a\n");
    not_valid(&["fetch.txt"], warning);
    fs::remove_file(folder.path("b/fetch.txt")).unwrap();

    // What the others say is held against what is there.
    folder.write("b/data/new", "");
    mode("manifest-md5.txt", 0);
    let (found, _) = validate(&folder, 1);
    let words =
        ["b/data/new: not listed in manifest-sha1.txt\n", "b/bag-info.txt: Payload-Oxum is"];
    assert!(words.iter().all(|it| found.contains(it)), "{found}");
    assert!(!found.contains("not listed in any payload manifest"), "{found}");
    mode("manifest-md5.txt", 0o600);
    fs::remove_file(folder.path("b/data/new")).unwrap();

    // What is in there is not counted.
    let failed = "b: FAILED; only sizes were compared\n";
    for name in ["data/sub", "data", "bag-info.txt"] {
        mode(name, 0);
        let told = denied(&[name]) + failed;
        expect(&folder.run("bag validate --fast b"), 1, &told, "");
        let (found, _) = validate(&folder, 1);
        assert_eq!(found.matches(&denied(&[name])).count(), 1, "{found}");
        assert!(!found.contains("Payload-Oxum"), "{found}");
        mode(name, 0o700);
    }
    validate(&folder, 0);

    // Nor is it known where a link leads to that lies in there.
    folder.link("sub/b", "b/data/link");
    mode("data/sub", 0);
    let (found, _) = validate(&folder, 1);
    assert!(found.contains(&denied(&["data/link"])) && !found.contains("nowhere"), "{found}");
    mode("data/sub", 0o700);
}

/// A tag file in another encoding than `bagit.txt` says tells as little.
#[test]
fn badly_encoded_manifest_is_one_error() {
    let folder = bag();
    folder.write("b/bag-info.txt", "Payload-Oxum: 20.2\n");
    for name in ["bag-info.txt", "manifest-md5.txt", "tagmanifest-md5.txt"] {
        let path = format!("b/{name}");
        let before = folder.read(&path);
        folder.write(&path, [before.as_bytes(), b"\xe4\n"].concat());
        if name != "tagmanifest-md5.txt" {
            let text = fs::read(folder.path(&path)).unwrap();
            let others = ["bagit.txt", "bag-info.txt", "manifest-md5.txt"];
            let others = others.into_iter().filter(|other| *other != name);
            let list: String =
                others.map(|other| line(folder.read(&format!("b/{other}")), other)).collect();
            folder.write("b/tagmanifest-md5.txt", list + &line(text, name));
        }
        let told = format!("{path}: not in the encoding that bagit.txt names\n");
        fails(&folder, &told);
        if name == "bag-info.txt" {
            let told = told + "b: FAILED; only sizes were compared\n";
            expect(&folder.run("bag validate --fast b"), 1, &told, "");
        }
        folder.write(&path, before);
        list_tags(&folder);
    }
    validate(&folder, 0);
}

#[test]
fn each_file_is_read_once_for_all_manifests() {
    let folder = bag();
    let names = ["data/a", "data/sub/b"];
    let sha = |name: &str| hex(&<sha1::Sha1 as sha1::Digest>::digest(format!("b/{name}")));
    let list: String = names.iter().map(|name| format!("{}  {name}\n", sha(name))).collect();
    folder.write("b/manifest-sha1.txt", list);
    list_tags(&folder);
    let run = folder.run("bag validate b");
    let tags = ["bagit.txt", "manifest-md5.txt", "manifest-sha1.txt"];
    let sizes = tags.map(|name| folder.read(&format!("b/{name}")).len());
    let bytes = sizes.iter().sum::<usize>() + 20;
    let words = format!("lanesum: b: 5 files, {bytes} B in ");
    assert!(text(&run.stderr).starts_with(&words), "{words} {}", text(&run.stderr));
}

/// A file that is listed itself stands for no other one that is gone, however alike their names.
#[test]
fn listed_file_does_not_replace_another() {
    for (gone, left, lines) in
        [("caf\u{e9}", "cafe\u{301}", ["caf\u{e9}", "cafe\u{301}"]), ("%", "%25", ["%25", "%2525"])]
    {
        let folder = Folder::new();
        for name in [gone, left] {
            folder.write(format!("b/data/{name}"), "same");
        }
        folder.write("b/bagit.txt", DECLARATION.replace("1.0", "0.97"));
        folder.write(
            "b/manifest-md5.txt",
            lines.map(|name| line("same", &format!("data/{name}"))).concat(),
        );
        list_tags(&folder);
        validate(&folder, 0);
        fs::remove_file(folder.path(format!("b/data/{gone}"))).unwrap();
        let (found, _) = validate(&folder, 1);
        assert!(found.contains("missing (listed in manifest-md5.txt)"), "{found}");
        if gone == "%" {
            let check = folder.run("check b/manifest-md5.txt");
            assert_eq!(check.status.code(), Some(1));
            assert!(text(&check.stdout).starts_with("data/%: FAILED open or read\n"));
            let compare = folder.run("compare b/manifest-md5.txt b");
            assert!(text(&compare.stdout).contains("missing data/%\n"), "{compare:?}");
        }
    }
}

/// The objects that are printed.
#[track_caller]
fn objects(folder: &Folder, args: &str, code: i32) -> Vec<Value> {
    let run = folder.run(args);
    assert_eq!((run.status.code(), text(&run.stderr)), (Some(code), String::new()));
    let lines = run.stdout.split_inclusive(|&byte| byte == b'\n');
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

/// A bag with one error of each kind, and what its manifests say of `data/a`.
fn bad_bag() -> Folder {
    let folder = bag();
    let names = ["data/a", "data/sub/b", "data/c, \"d\""];
    folder.write("b/manifest-md5.txt", of_bag(&names) + "nonsense\n");
    folder.write("b/data/a", "damaged");
    folder.write("b/data/new", "");
    folder
}

#[test]
fn json_has_an_object_for_each_finding_and_a_summary() {
    let folder = bad_bag();
    fs::remove_file(folder.path("b/tagmanifest-md5.txt")).unwrap();
    let no_tags = "no tag manifest, so changes of tag files are not detected";
    let expected = |content: &str| json!([{"manifest": "manifest-md5.txt", "algorithm": "md5", "digest": md5(content)}]);
    let finding = |class: &str, severity: &str, message: &str, mut rest: Value| {
        let rest = rest.as_object_mut().unwrap();
        let mut all = json!({"schema": 1, "event": "finding", "bag": "b", "class": class,
            "severity": severity, "message": message});
        all.as_object_mut().unwrap().append(rest);
        all
    };
    let name = "data/c, \"d\"";
    let bytes: usize = ["damaged", "b/data/sub/b"].map(str::len).iter().sum();
    let summary = json!({"schema": 1, "event": "summary", "bag": "b", "valid": false, "errors": 4,
        "warnings": 1, "version": "1.0", "files_read": 2, "bytes_read": bytes,
        "payload_files": 3, "payload_bytes": bytes});
    let all = [
        finding("invalid", "warning", no_tags, json!({})),
        finding(
            "changed",
            "error",
            "changed: differs from manifest-md5.txt",
            json!({"path": "data/a", "expected": expected("b/data/a"),
                "found": {"md5": md5("damaged")}}),
        ),
        finding(
            "missing",
            "error",
            "missing (listed in manifest-md5.txt)",
            json!({"path": name, "expected": expected("b/data/c, \"d\"")}),
        ),
        finding(
            "unlisted",
            "error",
            "not listed in any payload manifest",
            json!({"path": "data/new"}),
        ),
        finding(
            "invalid",
            "error",
            "not `DIGEST  NAME` with a digest of this algorithm",
            json!({"path": "manifest-md5.txt", "line": 4}),
        ),
        summary,
    ];
    assert_eq!(objects(&folder, "bag validate --json b", 1), all);
    assert_eq!(objects(&folder, "bag validate --json -q b", 1), all[1..]);
}

#[test]
fn json_of_a_valid_bag_is_its_summary() {
    let folder = bag();
    let [summary] = &objects(&folder, "bag validate --json b", 0)[..] else { panic!() };
    assert_eq!((&summary["valid"], &summary["files_read"]), (&json!(true), &json!(4)));
    assert!(objects(&folder, "bag validate --json --quiet b", 0).is_empty());
}

#[test]
fn json_of_names_that_are_not_utf8_is_base64() {
    let folder = bag();
    let name = OsStr::from_bytes(b"b/data/\xff");
    fs::write(folder.path("").join(name), "").unwrap();
    let [finding, _] = &objects(&folder, "bag validate --json b", 1)[..] else { panic!() };
    assert_eq!((&finding["path"], &finding["path_base64"]), (&Value::Null, &json!("ZGF0YS//")));
}

#[test]
fn json_of_a_bag_that_cannot_be_read_says_so() {
    let folder = bag();
    let error = json!({"schema": 1, "event": "finding", "bag": "gone", "class": "unreadable",
        "severity": "error", "message": "No such file or directory"});
    let summary = |key: &str| {
        let mut summary = json!({"schema": 1, "event": "summary", "bag": "gone", "errors": 1,
            "warnings": 0});
        summary[key] = json!(false);
        summary
    };
    let all = objects(&folder, "bag validate --json b gone", 1);
    assert_eq!(all[1..], [error.clone(), summary("valid")]);
    let all = objects(&folder, "bag validate --json --fast gone", 1);
    assert_eq!(all, [error, summary("agrees")]);
}

#[test]
fn json_of_a_fast_check_has_agrees() {
    let folder = bag();
    folder.write("b/bag-info.txt", "Payload-Oxum: 20.2\n");
    let summary = |agrees: bool| {
        json!({"schema": 1, "event": "summary", "bag": "b", "agrees": agrees,
            "errors": u8::from(!agrees), "warnings": 0, "payload_files": 2, "payload_bytes": 20})
    };
    assert_eq!(objects(&folder, "bag validate --fast --json b", 0), [summary(true)]);
    folder.write("b/bag-info.txt", "Payload-Oxum: 21.2\n");
    let [finding, last] = &objects(&folder, "bag validate --fast --json b", 1)[..] else {
        panic!()
    };
    assert_eq!((&finding["class"], &finding["path"]), (&json!("invalid"), &json!("bag-info.txt")));
    assert_eq!(*last, summary(false));
}

const CSV_HEADER: &str = "bag,path,status,algorithms,expected,found,error\r\n";

/// The rows of CSV behind the header, and standard error without what was read.
#[track_caller]
fn rows(folder: &Folder, args: &str, code: i32) -> (String, String) {
    let run = folder.run(args);
    let (stdout, stderr) = [run.stdout, run.stderr].map(|it| String::from_utf8(it).unwrap()).into();
    assert_eq!(run.status.code(), Some(code), "{stdout}{stderr}");
    let rows = stdout.strip_prefix(CSV_HEADER).unwrap().to_owned();
    let told = stderr.lines().filter(|line| !line.contains(" B in "));
    (rows, told.map(|line| format!("{line}\n")).collect())
}

#[test]
fn csv_has_a_row_for_each_listed_file_and_each_error() {
    let folder = bad_bag();
    let row = |name: &str, content: &str, status: &str, found: &str, error: &str| {
        format!("b,{name},{status},md5,{},{found},{error}\r\n", md5(content))
    };
    let ok = |name: &str, content: &str| row(name, content, "ok", &md5(content), "");
    let manifest = md5(of_bag(&["data/a", "data/sub/b"]));
    let read = md5(folder.read("b/manifest-md5.txt"));
    let changed = |name: &str, content: &str, found: &str, by: &str| {
        row(name, content, "changed", &md5(found), &format!("changed: differs from {by}"))
    };
    let missing = "missing (listed in manifest-md5.txt)";
    let errors = [
        changed("data/a", "b/data/a", "damaged", "manifest-md5.txt"),
        row("\"data/c, \"\"d\"\"\"", "b/data/c, \"d\"", "missing", "", missing),
        "b,data/new,unlisted,,,,not listed in any payload manifest\r\n".to_owned(),
    ];
    let of_manifest = format!(
        "b,manifest-md5.txt,changed,md5,{manifest},{read},line 4: not `DIGEST  NAME` with a digest of this algorithm; changed: differs from tagmanifest-md5.txt\r\n"
    );
    let bagit = ok("bagit.txt", DECLARATION);
    let sub = ok("data/sub/b", "b/data/sub/b");
    let [a, c, new] = &errors;
    let verdict = "lanesum: b: NOT VALID: 5 errors\n".to_owned();
    assert_eq!(
        rows(&folder, "bag validate --csv b", 1),
        ([&bagit, a, c, new, &sub, &of_manifest].map(|it| &**it).concat(), verdict.clone())
    );
    assert_eq!(
        rows(&folder, "bag validate --csv --quiet b", 1),
        ([a, c, new, &of_manifest].map(|it| &**it).concat(), verdict)
    );
}

#[test]
fn csv_of_several_manifests_has_their_digests_in_one_order() {
    let folder = bag();
    let names = ["data/a", "data/sub/b"];
    let sha = |name: &str| hex(&<sha1::Sha1 as sha1::Digest>::digest(format!("b/{name}")));
    let list: String = names.iter().map(|name| format!("{}  {name}\n", sha(name))).collect();
    folder.write("b/manifest-sha1.txt", list);
    fs::remove_file(folder.path("b/tagmanifest-md5.txt")).unwrap();
    let row = |name: &str| {
        let digests = format!("{} {}", md5(format!("b/{name}")), sha(name));
        format!("b,{name},ok,md5 sha1,{digests},{digests},\r\n")
    };
    let warning =
        "lanesum: b: warning: no tag manifest, so changes of tag files are not detected\n";
    let told = format!("{warning}lanesum: b: valid\n");
    let all = names.map(row).concat();
    assert_eq!(rows(&folder, "bag validate --csv b", 0), (all, told));
    assert_eq!(rows(&folder, "bag validate --csv -q b", 0), Default::default());
}

#[test]
fn csv_has_rows_of_errors_about_a_bag_as_a_whole() {
    let folder = bag();
    fs::remove_file(folder.path("b/manifest-md5.txt")).unwrap();
    fs::remove_file(folder.path("b/tagmanifest-md5.txt")).unwrap();
    folder.write("c/a", "");
    let (found, told) = rows(&folder, "bag validate --csv -q b c gone", 1);
    assert_eq!(
        found,
        "b,,invalid,,,,\"no payload manifest, so the digests of its files are unknown\"\r\n\
         c,bagit.txt,invalid,,,,\"missing, so this is not a bag\"\r\n\
         gone,,unreadable,,,,No such file or directory\r\n"
    );
    let each = |bag: &str| format!("lanesum: {bag}: NOT VALID: 1 error\n");
    assert_eq!(told, ["b", "c"].map(each).concat() + "lanesum: gone: No such file or directory\n");
}

#[test]
fn csv_excludes_json_and_fast() {
    for other in ["--json", "--fast"] {
        let run = bag().run(&format!("bag validate --csv {other} b"));
        assert_eq!((run.status.code(), run.stdout.len()), (Some(2), 0), "{other}");
    }
}
