//! Bags of others: bagit.py, where it is installed, and the Library of Congress's conformance
//! suite, where `LANESUM_BAGIT_SUITE` says that it is.

use super::bag_validate::validate;
use super::peers::peer;
use super::*;

const NAMES: [&str; 5] = ["b/a", "b/b c", "b/data/d", "b/sub/\u{fc}", "b/line\nend"];

#[test]
fn bagit_py_validates_what_is_made_here() {
    let folder = Folder::of(&NAMES);
    let run = folder.run("bag create -a md5,sha1,sha224,sha256,sha512 --info Contact-Name=Edna b");
    assert!(run.status.success(), "{}", text(&run.stderr));
    let Some(theirs) = peer(&folder, "bagit.py", &["--validate", "b"]) else { return };
    assert!(theirs.status.success(), "{}", text(&theirs.stderr));
    folder.write("b/data/new", "new");
    assert!(!peer(&folder, "bagit.py", &["--validate", "b"]).unwrap().status.success());
    assert!(folder.run("bag update b").status.success());
    assert!(peer(&folder, "bagit.py", &["--validate", "b"]).unwrap().status.success());
    assert!(peer(&folder, "bagit.py", &["--validate", "--fast", "b"]).unwrap().status.success());
}

#[test]
fn bags_of_bagit_py_are_valid() {
    let folder = Folder::of(&NAMES);
    folder.write("b/100%25", "a name that bagit.py does not encode");
    let args = ["--md5", "--sha512", "--contact-name", "Edna", "b"];
    let Some(theirs) = peer(&folder, "bagit.py", &args) else { return };
    assert!(theirs.status.success(), "{}", text(&theirs.stderr));
    let (_, warnings) = validate(&folder, 0);
    let warning = |of: &str| {
        format!("b/manifest-{of}.txt: warning: percent signs in names are not encoded as %25\n")
    };
    assert_eq!(warnings, warning("md5") + &warning("sha512"));
    assert!(folder.run("bag validate --fast b").status.success());
    folder.write("b/data/sub/\u{fc}", "other");
    validate(&folder, 1);
}

#[test]
fn the_conformance_suite_holds() {
    let Some(suite) = std::env::var_os("LANESUM_BAGIT_SUITE").map(PathBuf::from) else {
        skip("LANESUM_BAGIT_SUITE is no checkout of LibraryOfCongress/bagit-conformance-suite");
        return;
    };
    let folders = |path: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.is_dir()).collect()
    };
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let mut bags = 0;
    let versions = folders(&suite).into_iter().filter(|path| name(path).starts_with('v'));
    for kind in versions.flat_map(|version| folders(&version)) {
        for bag in folders(&kind) {
            let args = ["bag", "validate", "--quiet"].map(OsStr::new);
            let run = output(&mut Folder::new().lanesum([&args[..], &[bag.as_os_str()]].concat()));
            let is_right = match (name(&kind).as_str(), run.status.code()) {
                ("valid", code) => code == Some(0),
                ("invalid" | "linux-only", code) => code == Some(1),
                ("warning", _) => !run.stderr.is_empty(),
                _ => continue,
            };
            assert!(is_right, "{}: {} {}", bag.display(), text(&run.stdout), text(&run.stderr));
            bags += 1;
        }
    }
    assert!(bags > 50, "{bags} bags");
}
