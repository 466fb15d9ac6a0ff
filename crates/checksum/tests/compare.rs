//! Comparisons held against what is known of both sides.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use lanesum_checksum::check::List;
use lanesum_checksum::compare::{
    Basis, Class, Comparison, Difference, Differences, Input, Options,
};
use lanesum_checksum::{Algorithm, engine};
use proptest::collection::btree_map;
use proptest::prelude::*;

/// Names, and numbers that stand for contents; 0 is that of an empty file.
type Files = BTreeMap<String, u8>;

fn digest(content: u8) -> String {
    if content == 0 {
        "d41d8cd98f00b204e9800998ecf8427e".to_owned()
    } else {
        format!("{content:032x}")
    }
}

fn write_list(files: &Files, path: &Path) -> Input {
    let line = |(name, &content): (&String, &u8)| format!("{}  {name}\n", digest(content));
    fs::write(path, files.iter().map(line).collect::<String>()).unwrap();
    Input::List(List::Path(path.to_owned()))
}

fn write_tree(files: &Files, root: &Path) -> Input {
    fs::create_dir_all(root).unwrap();
    for (name, &content) in files {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content_of(content)).unwrap();
    }
    Input::Tree(root.to_owned())
}

/// Some are of one size, so that sizes alone tell nothing.
fn content_of(content: u8) -> Vec<u8> {
    if content == 0 {
        Vec::new()
    } else {
        [vec![content], vec![b'.'; usize::from(content % 3)]].concat()
    }
}

fn compare(sides: [Input; 2], options: &Options) -> Differences {
    let mut comparison = Comparison::prepare(&sides, options).unwrap();
    comparison.read(&engine::Options::default());
    comparison.finish()
}

fn found(differences: &Differences) -> Vec<(Class, String, Option<String>)> {
    let text = |name: &[u8]| String::from_utf8(name.to_vec()).unwrap();
    let one = |it: Difference<'_>| (it.class, text(it.name), it.from.map(text));
    differences.iter().map(one).collect()
}

/// Directories and files of few names, so that all that can happen does.
fn files() -> impl Strategy<Value = Files> {
    let name = "[ab]/[cd]/[ef]|[abg]/[e-h]|[x-z]";
    btree_map(name, 0..8_u8, 0..12).prop_map(|files| {
        // No file is where another one has its directory; with the root's own names, since lists
        // are seen from the directory that all names lie in.
        files.into_iter().chain([("top".to_owned(), 99)]).collect()
    })
}

/// Holds what was found against both sides.
fn judge(a: &Files, b: &Files, differences: &Differences) -> Result<(), TestCaseError> {
    let all = found(differences);
    prop_assert!(all.is_sorted_by_key(|(_, name, _)| name.clone()), "{all:?}");
    let (mut before, mut now) = (HashSet::new(), HashSet::new());
    let (mut unmatched, mut new) = (BTreeSet::new(), Vec::new());
    for (class, name, from) in &all {
        let (was, is) = (a.get(name), b.get(name));
        match class {
            Class::Equal => prop_assert_eq!(was.unwrap(), is.unwrap()),
            Class::Changed => prop_assert_ne!(was.unwrap(), is.unwrap()),
            Class::New => {
                prop_assert!(was.is_none());
                new.push(is.unwrap());
            }
            Class::Missing => {
                prop_assert!(is.is_none());
                unmatched.insert(*was.unwrap());
            }
            Class::Moved => {
                let from = from.as_ref().unwrap();
                prop_assert!(was.is_none() && !b.contains_key(from));
                prop_assert_eq!(&a[from], is.unwrap());
                prop_assert!(before.insert(from.clone()), "{} went twice", from);
            }
            Class::Copied => {
                prop_assert!(was.is_none());
                prop_assert_eq!(&a[from.as_ref().unwrap()], is.unwrap());
                prop_assert_ne!(*is.unwrap(), 0, "nothing is a copy of nothing");
            }
            other => prop_assert!(false, "{other:?}"),
        }
        if was.is_some() {
            before.insert(name.clone());
        }
        if is.is_some() {
            now.insert(name.clone());
        }
    }
    prop_assert_eq!(before.len(), a.len());
    prop_assert_eq!(now.len(), b.len());
    // What could have been found was found; empty files are not told apart.
    for content in new.into_iter().filter(|&&content| content != 0) {
        prop_assert!(!a.values().any(|known| known == content), "{content} is not new");
        prop_assert!(!unmatched.contains(content));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_file_gets_its_class(a in files(), b in files()) {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let options = Options::default();
        let lists = [write_list(&a, &path("a.md5")), write_list(&b, &path("b.md5"))];
        judge(&a, &b, &compare(lists, &options))?;
        let trees = [write_tree(&a, &path("a")), write_tree(&b, &path("b"))];
        judge(&a, &b, &compare(trees.clone(), &options))?;

        // A list of the first directory, against the second; and the other way round.
        let line = |(name, &content): (&String, &u8)| {
            let digests = lanesum_checksum::digests_of(options.algorithms, None, &content_of(content));
            format!("{}  ./{name}\n", digests.unwrap()[0])
        };
        fs::write(path("true.md5"), a.iter().map(line).collect::<String>()).unwrap();
        let list = Input::List(List::Path(path("true.md5")));
        let [_, tree] = trees;
        judge(&a, &b, &compare([list.clone(), tree.clone()], &options))?;
        judge(&b, &a, &compare([tree, list], &options))?;
    }
}

#[test]
fn a_renamed_directory_is_reported_once() {
    let folder = tempfile::tempdir().unwrap();
    let old: Files = (0..50).map(|n| (format!("a/b/{}/f{n}", n % 3), n)).collect();
    let mut new: Files = old.iter().map(|(name, &n)| (name.replace("a/b", "c"), n)).collect();
    let path = |name: &str| folder.path().join(name);
    let moves = |new: &Files| {
        let lists = [write_list(&old, &path("old")), write_list(new, &path("new"))];
        let moves = compare(lists, &Options::default()).folder_moves();
        moves.iter().map(|it| (it.from.clone(), it.to.clone(), it.files)).collect::<Vec<_>>()
    };
    new.insert("top".to_owned(), 60);
    assert_eq!(moves(&new), [(b"a/b".to_vec(), b"c".to_vec(), 50)]);
    // Not the directory was renamed: some of it is there still.
    new.insert("a/b/left".to_owned(), 61);
    assert_eq!(moves(&new), []);
}

#[test]
fn list_names_are_relative_to_the_directory() {
    let folder = tempfile::tempdir().unwrap();
    let files = Files::from([("x/1".to_owned(), 0), ("y/2".to_owned(), 0)]);
    let tree = write_tree(&files, &folder.path().join("photos"));
    let absolute = format!("{}/photos/", folder.path().display());
    let are_equal = |prefix: &str, options: &Options| {
        let seen = |(name, &content): (&String, &u8)| (format!("{prefix}{name}"), content);
        let list = write_list(&files.iter().map(seen).collect(), &folder.path().join("list"));
        compare([list, tree.clone()], options).iter().all(|it| it.class == Class::Equal)
    };
    let mut options = Options::default();
    for prefix in ["", "./", &absolute] {
        assert!(are_equal(prefix, &options), "{prefix}");
    }
    // Of another directory, until somebody says that it is the same.
    for prefix in ["photos/", "/elsewhere/"] {
        assert!(!are_equal(prefix, &options), "{prefix}");
    }
    options.strip = true;
    for prefix in ["photos/", "/elsewhere/"] {
        assert!(are_equal(prefix, &options), "{prefix}");
    }
}

#[test]
fn names_outside_the_directory_do_not_match() {
    let folder = tempfile::tempdir().unwrap();
    let inside = Files::from([("x".to_owned(), 1), ("y".to_owned(), 2)]);
    let tree = write_tree(&inside, &folder.path().join("photos"));
    let mut given = Vec::new();
    for (name, content) in &inside {
        let digest = lanesum_checksum::digests_of(
            Options::default().algorithms,
            None,
            &content_of(*content),
        );
        let digest = digest.unwrap()[0];
        given.push(format!("{digest}  {}/photos/{name}\n", folder.path().display()));
        given.push(format!("{digest}  {name}\n"));
    }
    let path = folder.path().join("list");
    fs::write(&path, given.concat()).unwrap();
    let list = Input::List(List::Path(path));
    let classes = |sides| -> Vec<_> {
        let differences = compare(sides, &Options::default());
        differences.iter().map(|it| it.class).collect()
    };
    // Seen from the directory, or from where they stand; two of them are elsewhere.
    assert_eq!(classes([list.clone(), tree.clone()]).len(), 4);
    let classes = classes([list, tree]);
    assert!(classes.contains(&Class::Missing), "{classes:?}");
}

#[test]
fn files_in_an_unreadable_directory_are_not_judged() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
    let old = Files::from([("in/f".to_owned(), 1), ("in/g".to_owned(), 2)]);
    let new: Files =
        old.clone().into_iter().chain([("c/f".to_owned(), 1), ("c/g".to_owned(), 2)]).collect();
    let sides = [write_tree(&old, &a), write_tree(&new, &b)];
    fs::set_permissions(b.join("in"), fs::Permissions::from_mode(0o0)).unwrap();
    let could_read = fs::read_dir(b.join("in")).is_ok();
    let differences = compare(sides, &Options::default());
    fs::set_permissions(b.join("in"), fs::Permissions::from_mode(0o700)).unwrap();
    assert!(differences.iter().all(|it| it.class != Class::Moved), "{differences:?}");
    assert_eq!(differences.iter().filter(|it| it.class == Class::Copied).count(), 2);
    let count = |class| differences.iter().filter(|it| it.class == class).count();
    let unreadable = [Class::Unreadable, Class::UnreadableFolder].map(count);
    assert_eq!(unreadable, if could_read { [0, 0] } else { [2, 1] });
}

#[test]
fn a_directory_split_in_two_is_not_renamed() {
    let folder = tempfile::tempdir().unwrap();
    let old: Files = (0..4).map(|n| (format!("a/{n}"), n + 1)).collect();
    let new: Files =
        (0..4).map(|n| (format!("{}/{n}", ["b", "c"][usize::from(n) / 2]), n + 1)).collect();
    let path = |name: &str| folder.path().join(name);
    let differences =
        compare([write_tree(&old, &path("p")), write_tree(&new, &path("q"))], &Options::default());
    assert_eq!(differences.iter().filter(|it| it.class == Class::Moved).count(), 4);
    assert!(differences.folder_moves().is_empty(), "{differences:?}");
}

#[test]
fn moves_match_by_every_digest() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let list = |name: &str, text: String| {
        fs::write(path(name), text).unwrap();
        Input::List(List::Path(path(name)))
    };
    let tree = write_tree(&Files::from([("new".to_owned(), 1)]), &path("tree"));
    let content = content_of(1);
    let digest = |algorithm| lanesum_checksum::digests_of(algorithm, None, &content).unwrap()[0];
    let (md5, sha1) = (digest(Algorithm::Md5.into()), digest(Algorithm::Sha1.into()));
    let class =
        |sides| compare(sides, &Options::default()).iter().map(|it| it.class).collect::<Vec<_>>();
    let both = list("both", format!("MD5 (old) = {md5}\nSHA1 (old) = {sha1}\n"));
    assert_eq!(class([both, tree.clone()]), [Class::Moved]);
    let zeros = "0".repeat(40);
    let other = list("other", format!("MD5 (old) = {md5}\nSHA1 (old) = {zeros}\n"));
    assert_eq!(class([other, tree]), [Class::New, Class::Missing]);
    // By the algorithm that fewer have.
    let line = |name: &str| format!("{md5}  x\n{md5}  y\n{sha1}  {name}\n");
    let lists = [list("one", line("old")), list("two", line("new"))];
    assert_eq!(class(lists), [Class::Moved, Class::Equal, Class::Equal]);
}

#[test]
fn an_impossible_size_is_different() {
    let folder = tempfile::tempdir().unwrap();
    let tree = write_tree(&Files::from([("a".to_owned(), 0)]), &folder.path().join("tree"));
    let csv = folder.path().join("list.csv");
    fs::write(&csv, format!("path,size,md5\r\na,{},{}\r\n", u64::MAX, digest(0))).unwrap();
    let differences = compare([Input::List(List::Path(csv)), tree], &Options::default());
    assert_eq!(differences.iter().map(|it| it.class).collect::<Vec<_>>(), [Class::Changed]);
}

#[test]
fn files_without_a_common_digest_are_not_equal() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let list = |name: &str, text: &str| {
        fs::write(path(name), text).unwrap();
        Input::List(List::Path(path(name)))
    };
    let sha1 = list("sha1", "da39a3ee5e6b4b0d3255bfef95601890afd80709  a\n");
    let md5 = list("md5", "d41d8cd98f00b204e9800998ecf8427e  a\n");
    let both =
        "MD5 (a) = d41d8cd98f00b204e9800998ecf8427e\nMD5 (a) = d41d8cd98f00b204e9800998ecf8427f\n";
    let contradictory = list("both", both);
    for sides in [[sha1, md5.clone()], [md5.clone(), contradictory.clone()], [contradictory, md5]] {
        let differences = compare(sides, &Options::default());
        let classes: Vec<_> = differences.iter().map(|it| it.class).collect();
        assert_eq!(classes, [Class::NotCompared]);
    }
}

#[test]
fn an_unreadable_directory_makes_nothing_missing() {
    let folder = tempfile::tempdir().unwrap();
    let files =
        Files::from([("in/1".to_owned(), 1), ("in/2".to_owned(), 2), ("out".to_owned(), 3)]);
    let list = write_list(&files, &folder.path().join("list"));
    let tree = write_tree(&files, &folder.path().join("tree"));
    let closed = folder.path().join("tree/in");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o0)).unwrap();
    let options = Options::default();
    let classes = |differences: Differences| -> BTreeSet<Class> {
        differences.iter().map(|it| it.class).collect()
    };
    let found = [
        classes(compare([list.clone(), tree.clone()], &options)),
        classes(compare([tree, list], &options)),
    ];
    let could_read = fs::read_dir(&closed).is_ok();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    for classes in found {
        // Root reads it all the same.
        assert_eq!(classes.contains(&Class::Unreadable), !could_read, "{classes:?}");
        assert!(
            !classes.contains(&Class::Missing) && !classes.contains(&Class::New),
            "{classes:?}"
        );
    }
}

#[test]
fn a_quick_comparison_reports_its_evidence() {
    let folder = tempfile::tempdir().unwrap();
    let files = Files::from([("a".to_owned(), 1), ("b".to_owned(), 3)]);
    let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
    let trees = [write_tree(&files, &one), write_tree(&files, &other)];
    let set = |path: &Path, seconds| {
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        fs::File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
    };
    [&one, &other]
        .into_iter()
        .for_each(|root| ["a", "b"].iter().for_each(|name| set(&root.join(name), 5)));
    let mut options = Options::default();
    options.quick = true;
    let told = |options: &Options| -> Vec<_> {
        let differences = compare(trees.clone(), options);
        differences.iter().map(|it| (it.class, it.basis.unwrap())).collect()
    };
    let same = (Class::Alike, Basis::SizeAndTime);
    assert_eq!(told(&options), [same, same]);
    set(&other.join("b"), 6);
    assert_eq!(told(&options), [same, (Class::Changed, Basis::SizeAndTime)]);
    fs::write(other.join("a"), "longer than that").unwrap();
    assert_eq!(told(&options)[0], (Class::Changed, Basis::Size));
    options.quick = false;
    assert_eq!(told(&options), [(Class::Changed, Basis::Size), (Class::Equal, Basis::Digest)]);
}

/// Whoever asks may end the reading; whoever goes on has what reading to the end has.
#[test]
fn reading_continues_until_the_caller_stops_it() {
    let folder = tempfile::tempdir().unwrap();
    let files = Files::from([("a".to_owned(), 1), ("b".to_owned(), 2)]);
    let sides = [
        write_tree(&files, &folder.path().join("a")),
        write_tree(&files, &folder.path().join("b")),
    ];
    let prepare = || Comparison::prepare(&sides, &Options::default()).unwrap();
    let mut comparison = prepare();
    assert!(comparison.read_while(&engine::Options::default(), || true));
    assert_eq!(found(&comparison.finish()), found(&compare(sides.clone(), &Options::default())));

    // More than can be read before somebody is asked for the first time.
    for side in ["a", "b"] {
        fs::File::create(folder.path().join(side).join("long")).unwrap().set_len(1 << 40).unwrap();
    }
    let mut asked = 0;
    let is_read = prepare().read_while(&engine::Options::default(), || {
        asked += 1;
        asked < 3
    });
    assert_eq!((is_read, asked), (false, 3));
}
