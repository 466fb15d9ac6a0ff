//! `lanesum bag update`: changes are listed and recorded, except possible damage.

use std::time::{Duration, SystemTime};

use super::bag_validate::validate;
use super::*;

/// A bag `b` that was made an hour ago.
fn bag(args: &str) -> Folder {
    let folder = Folder::of(&["b/a", "b/keep", "b/sub/b"]);
    let run = folder.run(&format!("bag create {args} b"));
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    let found = output(folder.command("find").args(["b", "-type", "f"]));
    for name in text(&found.stdout).lines() {
        made(&folder, name, -3600);
    }
    folder
}

/// Says that a file was written so many seconds from now.
fn made(folder: &Folder, name: &str, seconds: i64) {
    let time = match u64::try_from(seconds) {
        Ok(later) => SystemTime::now() + Duration::from_secs(later),
        Err(_) => SystemTime::now() - Duration::from_secs(seconds.unsigned_abs()),
    };
    File::open(folder.path(name)).unwrap().set_modified(time).unwrap();
}

/// Writes to a file as somebody does who edits it.
fn edit(folder: &Folder, name: &str, content: &str) {
    folder.write(name, content);
    made(folder, name, -60);
}

#[test]
fn changes_are_listed_and_recorded() {
    let folder = bag("-a md5,sha1 --info Contact-Name=Edna");
    edit(&folder, "b/data/a", "edited");
    edit(&folder, "b/data/new", "new");
    fs::rename(folder.path("b/data/sub/b"), folder.path("b/data/moved")).unwrap();
    folder.write("b/notes.txt", "a tag file");
    let run = folder.run("bag update --info contact-name=Egon --info Bag-Count=1 b");
    let told = "b/data/a: changed\nb/data/moved: moved from b/data/sub/b\nb/data/new: new\nb/notes.txt: new\n\
                b/bag-info.txt: contact-name replaced\nb/bag-info.txt: Bag-Count added\n";
    expect(
        &run,
        0,
        told,
        "lanesum: b/data/sub: warning: an empty directory, which manifests cannot hold\n\
         lanesum: b: recorded 2 new, 1 changed, 1 moved; payload: 4 files, 22 B\n",
    );
    let (_, warnings) = validate(&folder, 0);
    assert_eq!(warnings.lines().count(), 1, "{warnings}");
    let info = folder.read("b/bag-info.txt");
    let end = "contact-name: Egon\nBag-Count: 1\nPayload-Oxum: 22.4\n";
    assert!(info.ends_with(end) && !info.contains("Edna"), "{info}");
    assert!(folder.read("b/tagmanifest-sha1.txt").contains("  notes.txt\n"));
    fs::remove_file(folder.path("b/data/keep")).unwrap();
    let words = "not updated: payload files are missing\n\
                 hint: restore the files from a backup, or record the loss: --accept";
    let told = "b/data/keep: missing\n";
    let run = folder.run("bag update b");
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(1), told.to_owned()));
    assert!(text(&run.stderr).ends_with(&format!("lanesum: b: {words}\n")), "{run:?}");
    validate(&folder, 1);
    let run = folder.run("bag update --accept b");
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), told.to_owned()));
    assert!(text(&run.stderr).contains("b: recorded 1 missing; "), "{}", text(&run.stderr));
    let run = folder.run("bag update b");
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), String::new()));
    assert!(text(&run.stderr).contains("no file changed"), "{}", text(&run.stderr));
}

#[test]
fn possible_damage_is_not_recorded() {
    let folder = bag("-a md5");
    folder.write("b/data/a", "rot");
    made(&folder, "b/data/a", -7200);
    edit(&folder, "b/data/new", "new");
    let before = folder.read("b/manifest-md5.txt");
    let told = "b/data/a: changed, but its time is not newer than the manifest (damaged?)\nb/data/new: new\n";
    let words = "not updated: files changed, but their times are not newer than the manifest\n\
                 hint: restore the files from a backup, or record all as they are: --accept";
    expect(&folder.run("bag update b"), 1, told, format!("lanesum: b: {words}\n"));
    assert_eq!(folder.read("b/manifest-md5.txt"), before);
    validate(&folder, 1);
    let run = folder.run("bag update --accept b");
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), told.to_owned()));
    validate(&folder, 0);
}

#[test]
fn new_algorithms_replace_the_old_ones() {
    let folder = bag("-a md5,sha1");
    // It is known by the old manifests alone.
    folder.write("b/data/a", "rot");
    made(&folder, "b/data/a", -7200);
    let run = folder.run("bag update -a sha256 b");
    let told = "b/data/a: changed, but its time is not newer than the manifest (damaged?)\n";
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(1), told.to_owned()));
    folder.write("b/data/a", "b/a");
    let run = folder.run("bag update -a sha256 b");
    let told = "b: manifests of sha256, before: md5 and sha1\n";
    expect(&run, 0, told, "lanesum: b: no file changed; payload: 3 files, 16 B\n");
    let names =
        ["bag-info.txt", "bagit.txt", "data", "manifest-sha256.txt", "tagmanifest-sha256.txt"];
    assert_eq!(folder.names_in("b"), names);
    assert_eq!(validate(&folder, 0), (String::new(), String::new()));
}

#[test]
fn unwritten_changes_are_not_printed() {
    let folder = bag("-a md5");
    let before = folder.read("b/manifest-md5.txt");
    let script = "trap '' XFSZ; ulimit -f 0; \"$0\" bag update -a sha256 --info X=1 b";
    let run = output(folder.command("sh").args(["-c", script, PROGRAM]));
    let words = text(&run.stderr);
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(1), String::new()), "{words}");
    assert!(words.contains("File too large"), "{words}");
    assert_eq!(folder.read("b/manifest-md5.txt"), before);
    assert_eq!(validate(&folder, 0), (String::new(), String::new()));
}

#[test]
fn unknown_manifest_is_refused_or_removed() {
    let folder = bag("-a md5");
    folder.write("b/manifest-whirlpool.txt", "");
    let run = folder.run("bag update b");
    assert_eq!(run.status.code(), Some(1));
    assert!(
        text(&run.stdout).contains("lanesum does not compute whirlpool"),
        "{}",
        text(&run.stdout)
    );
    let run = folder.run("bag update -a md5 b");
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    assert!(!exists(folder.path("b/manifest-whirlpool.txt")));
    assert_eq!(validate(&folder, 0).0, "");
}

#[test]
fn unverifiable_files_need_accept() {
    let folder = bag("-a md5");
    fs::rename(folder.path("b/manifest-md5.txt"), folder.path("b/manifest-ripemd160.txt")).unwrap();
    fs::remove_file(folder.path("b/tagmanifest-md5.txt")).unwrap();
    let before = folder.read("b/manifest-ripemd160.txt");
    let run = folder.run("bag update -a sha256 b");
    let told = "b/manifest-ripemd160.txt: would be removed, but lanesum cannot check files against it; check them with another program, then use --accept\n";
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(1), told.to_owned()));
    assert_eq!(folder.read("b/manifest-ripemd160.txt"), before);
    let run = folder.run("bag update -a sha256 --accept b");
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    assert!(!exists(folder.path("b/manifest-ripemd160.txt")));
    assert_eq!(validate(&folder, 0).0, "");
}

#[test]
fn old_version_becomes_the_newest() {
    let folder = bag("-a md5");
    fs::rename(folder.path("b/bag-info.txt"), folder.path("b/package-info.txt")).unwrap();
    edit(&folder, "b/package-info.txt", "Contact-Name  :   Edna\n");
    edit(&folder, "b/bagit.txt", "BagIt-Version: 0.95\nTag-File-Character-Encoding: UTF-8");
    let run = folder.run("bag update b");
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    let told = "b/bagit.txt: version 1.0, before: 0.95\n";
    assert!(text(&run.stdout).contains(told), "{}", text(&run.stdout));
    assert!(folder.read("b/bagit.txt").starts_with("BagIt-Version: 1.0\n"));
    assert_eq!(folder.read("b/bag-info.txt"), "Contact-Name: Edna\nPayload-Oxum: 16.3\n");
    assert_eq!(validate(&folder, 0), (String::new(), String::new()));
}

#[test]
fn metadata_are_not_overwritten() {
    for has_both in [false, true] {
        let folder = bag("-a md5");
        fs::remove_file(folder.path("b/tagmanifest-md5.txt")).unwrap();
        folder.write("b/bag-info.txt", "Contact-Name: Edna\n");
        if has_both {
            folder.write("b/package-info.txt", "Bag-Count: 1\n");
        }
        folder.write("b/bagit.txt", "BagIt-Version: 0.95\nTag-File-Character-Encoding: UTF-8\n");
        let run = folder.run("bag update --accept b");
        let told = "b/bag-info.txt: not the metadata file of this version, and would be overwritten; move its content to package-info.txt, and remove it\n";
        assert_eq!((run.status.code(), text(&run.stdout)), (Some(1), told.to_owned()));
        assert_eq!(folder.read("b/bag-info.txt"), "Contact-Name: Edna\n");
        // As it says.
        folder.write("b/package-info.txt", "Bag-Count: 1\nContact-Name: Edna\n");
        fs::remove_file(folder.path("b/bag-info.txt")).unwrap();
        let run = folder.run("bag update b");
        assert_eq!(run.status.code(), Some(0), "{}", text(&run.stdout));
        let info = folder.read("b/bag-info.txt");
        assert_eq!(info, "Bag-Count: 1\nContact-Name: Edna\nPayload-Oxum: 16.3\n");
    }
}

#[test]
fn incomplete_bag_is_refused() {
    let folder = bag("-a md5");
    fs::create_dir(folder.path("c")).unwrap();
    let words = "not a bag: bagit.txt is missing\nhint: lanesum bag create c";
    expect(&folder.run("bag update c"), 1, "", format!("lanesum: c: {words}\n"));
    fs::remove_file(folder.path("b/data/a")).unwrap();
    folder.write("b/fetch.txt", "https://example.org/a - data/a\n");
    let run = folder.run("bag update b");
    let told = "b/data/a: missing, and to be fetched from https://example.org/a\n";
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(1), told.to_owned()));
    fs::remove_file(folder.path("b/fetch.txt")).unwrap();
    folder.write("b/manifest-md5.txt", "nonsense\n");
    let run = folder.run("bag update b");
    let words = NOT_UPDATED;
    assert_eq!(text(&run.stderr), words);
    assert!(text(&run.stdout).contains("line 1: not `DIGEST  NAME`"), "{}", text(&run.stdout));
    assert_eq!(
        (run.status.code(), folder.read("b/manifest-md5.txt")),
        (Some(1), "nonsense\n".into())
    );
}

const NOT_UPDATED: &str = "lanesum: b: cannot be updated; nothing was changed\n\
     hint: correct these problems first; --accept does not record them\n";

/// What is written is UTF-8, and holds what was understood.
#[test]
fn unsupported_tag_files_are_refused() {
    let folder = bag("-a md5");
    let info = folder.read("b/bag-info.txt");
    folder.write("b/bag-info.txt", format!("{info}no element\n"));
    let line = info.lines().count() + 1;
    let told = format!("b/bag-info.txt: line {line}: not `LABEL: VALUE`\n");
    let words = NOT_UPDATED;
    expect(&folder.run("bag update --accept b"), 1, told, words);
    folder.write("b/bag-info.txt", info);
    let words = "tag files are not in UTF-8";
    for (encoding, code) in [("ISO-8859-1", 1), ("US-ASCII", 0)] {
        let declaration = format!("BagIt-Version: 1.0\nTag-File-Character-Encoding: {encoding}\n");
        edit(&folder, "b/bagit.txt", &declaration);
        let run = folder.run("bag update b");
        assert_eq!(run.status.code(), Some(code), "{}", text(&run.stderr));
        assert_eq!(text(&run.stderr).contains(words), code == 1, "{}", text(&run.stderr));
    }
}

/// The refusal of a bag whose manifest or metadata are missing or changed.
fn refused(why: &str) -> String {
    format!(
        "lanesum: b: not updated: {why}\n\
         hint: restore it from a backup, or accept the bag as it is: --accept\n"
    )
}

const UNTRUSTED: &str = "b/manifest-md5.txt: its digest is not in the tag manifests (changed?)\n";
const NOT_IN_TAG_MANIFESTS: &str = "the digest of manifest-md5.txt is not in the tag manifests";

#[test]
fn emptied_manifest_needs_accept() {
    let new = "b/data/a: new\nb/data/keep: new\nb/data/sub/b: new\n";
    // Its time is newer than the tag manifest's; so is that of an emptied tag manifest, which tells
    // nothing of it.
    for (emptied, others) in [
        (&["manifest"][..], ""),
        (&["manifest", "tagmanifest"], "b/bag-info.txt: new\nb/bagit.txt: new\n"),
    ] {
        let folder = bag("-a md5");
        emptied.iter().for_each(|name| edit(&folder, &format!("b/{name}-md5.txt"), ""));
        let told = format!("{others}{new}{UNTRUSTED}");
        expect(&folder.run("bag update b"), 1, &told, refused(NOT_IN_TAG_MANIFESTS));
        assert_eq!(folder.read("b/manifest-md5.txt"), "");
        let run = folder.run("bag update --accept b");
        assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), told));
        validate(&folder, 0);
    }
}

#[test]
fn changed_manifest_accuses_no_file() {
    let folder = bag("-a md5,sha256");
    let manifest = folder.read("b/manifest-md5.txt");
    let digest = md5("b/a");
    assert!(manifest.contains(&digest), "{manifest}");
    folder.write("b/manifest-md5.txt", manifest.replace(&digest, &md5("other")));
    let run = folder.run("bag update b");
    expect(&run, 1, UNTRUSTED, refused(NOT_IN_TAG_MANIFESTS));
    // The trusted manifest shows the damage.
    folder.write("b/data/a", "rot");
    made(&folder, "b/data/a", -7200);
    let told = format!(
        "b/data/a: changed, but its time is not newer than the manifest (damaged?)\n{UNTRUSTED}"
    );
    expect(&folder.run("bag update b"), 1, told, refused(NOT_IN_TAG_MANIFESTS));
    folder.write("b/data/a", "b/a");
    let run = folder.run("bag update --accept b");
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), UNTRUSTED.to_owned()));
    assert_eq!(folder.read("b/manifest-md5.txt"), manifest);
    validate(&folder, 0);
}

#[test]
fn missing_manifest_needs_accept() {
    let folder = bag("-a md5,sha1");
    fs::remove_file(folder.path("b/manifest-sha1.txt")).unwrap();
    let told = "b/manifest-sha1.txt: missing\n";
    expect(&folder.run("bag update b"), 1, told, refused("manifest-sha1.txt is missing"));
    let folder = bag("-a md5");
    fs::remove_file(folder.path("b/manifest-md5.txt")).unwrap();
    let words = "not updated: no payload manifest that lanesum can read\n\
                 hint: restore the manifest, or accept all files as they are: -a ALG --accept";
    for args in ["", "-a md5", "--accept"] {
        let run = folder.run(&format!("bag update {args} b"));
        expect(&run, 1, "", format!("lanesum: b: {words}\n"));
    }
    let run = folder.run("bag update -a md5 --accept b");
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    validate(&folder, 0);
}

#[test]
fn missing_metadata_need_accept() {
    let folder = bag("-a md5 --info Contact-Name=Edna");
    fs::remove_file(folder.path("b/bag-info.txt")).unwrap();
    let told = "b/bag-info.txt: missing\n";
    expect(&folder.run("bag update b"), 1, told, refused("bag-info.txt is missing"));
    assert!(!exists(folder.path("b/bag-info.txt")));
    let run = folder.run("bag update --accept b");
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), told.to_owned()));
    assert_eq!(folder.read("b/bag-info.txt"), "Payload-Oxum: 16.3\n");
    // Nothing tells that there were any.
    ["bag-info.txt", "tagmanifest-md5.txt"]
        .iter()
        .for_each(|name| fs::remove_file(folder.path(format!("b/{name}"))).unwrap());
    let run = folder.run("bag update b");
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), String::new()));
}

#[test]
fn links_are_refused() {
    let folder = bag("-a md5");
    folder.link("a", "b/data/link");
    let refused = |name: &str, words: &str| {
        let stderr = NOT_UPDATED;
        expect(&folder.run("bag update b"), 1, format!("b/{name}: {words}\n"), stderr);
    };
    let words = "a link, which a bag cannot hold; replace it by its target, or remove it";
    refused("data/link", words);
    fs::remove_file(folder.path("b/data/link")).unwrap();
    // What it leads to is not read, so it would be taken for empty.
    fs::rename(folder.path("b/manifest-md5.txt"), folder.path("b/list.txt")).unwrap();
    folder.link("list.txt", "b/manifest-md5.txt");
    let words = "is a link, not a file";
    refused("manifest-md5.txt", words);
}

#[test]
fn changed_metadata_are_printed() {
    let folder = bag("-a md5 --info Contact-Name=Edna");
    let update = |args: &str| {
        let run = folder.run(&format!("bag update {args} b"));
        assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
        let words = text(&run.stderr);
        assert!(words.contains(": no file changed; "), "{words}");
        text(&run.stdout)
    };
    assert_eq!(update("--info Contact-Name=Edna"), "");
    let told = "b/bag-info.txt: Contact-Name replaced\nb/bag-info.txt: X added\n";
    let info = "--info Contact-Name=Egon --info X=1 --info X=2";
    assert_eq!(update(info), told);
    assert_eq!(update(info), "");
    assert_eq!(
        update("-a sha1,md5 --algorithm sha256"),
        "b: manifests of md5 and sha1 and sha256, before: md5\n"
    );
}

#[test]
fn interrupted_update_is_finished_or_undone() {
    let folder = bag("-a md5");
    // As it is before anything took its place, and not whole.
    folder.write("b/.lanesum-bag/manifest-md5.txt", "half a li");
    let (errors, _) = validate(&folder, 1);
    assert!(
        errors.contains("left by an interrupted `lanesum bag`; run the same command again"),
        "{errors}"
    );
    let recovered = "lanesum: b: finished or undid an interrupted run\n";
    let run = folder.run("bag update b");
    assert!(
        run.status.success() && text(&run.stderr).starts_with(recovered),
        "{}",
        text(&run.stderr)
    );
    assert_eq!(validate(&folder, 0), (String::new(), String::new()));

    // As it is in the midst of the last renames.
    let wholes = ["bagit.txt", "tagmanifest-md5.txt"];
    let texts = wholes.map(|name| folder.read(&format!("b/{name}")));
    folder.write("b/tagmanifest-md5.txt", "what was there before\n");
    for (name, text) in wholes.iter().zip(texts) {
        folder.write(format!("b/.lanesum-bag/{name}"), text);
    }
    validate(&folder, 1);
    let run = folder.run("bag update b");
    assert!(
        run.status.success() && text(&run.stderr).starts_with(recovered),
        "{}",
        text(&run.stderr)
    );
    assert_eq!(validate(&folder, 0), (String::new(), String::new()));
    assert!(!exists(folder.path("b/.lanesum-bag")));
}

#[test]
fn dry_run_points_to_validate() {
    let folder = bag("-a md5");
    let run = folder.run("bag update --dry-run b");
    let told = text(&run.stderr);
    assert_eq!(run.status.code(), Some(2));
    assert!(told.contains("tip: 'lanesum bag validate DIR' lists differences"), "{told}");
    // Of warnings it is silent where only errors are wanted.
    folder.write("b/data/Keep", "b/keep");
    assert_eq!(folder.run("bag update b").status.code(), Some(0));
    let run = folder.run("bag validate -q b");
    expect(&run, 0, "", "");
    let run = folder.run("bag validate b");
    assert!(text(&run.stderr).contains("warning: "), "{run:?}");
}
