//! Paths: their order, their form, names of any bytes.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use proptest::prelude::*;

use super::*;

/// The bytes of paths, without that of the tree.
fn below(tree: &Tree, paths: &[PathBuf]) -> Vec<Vec<u8>> {
    let root = tree.path("");
    paths
        .iter()
        .map(|path| path.strip_prefix(&root).unwrap().as_os_str().as_bytes().to_vec())
        .collect()
}

#[test]
fn directories_sort_by_name_with_a_slash() {
    let tree = Tree::of(&["a/x", "a/b/c", "a-b", "a.b", "a0", "A", "b", "a-/x", "aa/a"]);
    tree.add(b"a\xff");
    tree.add(b"a/\xff\n");
    let expected: [&[u8]; 11] = [
        b"A",
        b"a-/x",
        b"a-b",
        b"a.b",
        b"a/b/c",
        b"a/x",
        b"a/\xff\n",
        b"a0",
        b"aa/a",
        b"a\xff",
        b"b",
    ];
    assert_eq!(below(&tree, &files(tree.path(""), &plain())), expected);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// The walk's order is that of all paths sorted as byte strings, for trees of names that are
    /// often the beginning of one another and hold bytes on both sides of the slash.
    #[test]
    fn the_walk_is_sorted(
        paths in prop::collection::vec(
            prop::collection::vec(
                prop::collection::vec(prop::sample::select(b"a-.0A\n\xff".as_slice()), 1..4),
                1..5,
            ),
            0..40,
        )
    ) {
        let tree = Tree::in_memory();
        let mut expected = Vec::new();
        for parts in paths {
            if parts.iter().any(|part| part == b"." || part == b"..") {
                continue;
            }
            let path = parts.join(&b'/');
            // A name cannot be a file's and a directory's: the first comer has it.
            let full = tree.path(&path);
            if fs::create_dir_all(full.parent().unwrap()).is_ok() && fs::write(&full, "").is_ok() {
                expected.push(path);
            }
        }
        expected.sort();
        expected.dedup();
        prop_assert_eq!(below(&tree, &files(tree.path(""), &plain())), expected);
    }
}

#[test]
fn a_large_directory_is_complete_and_sorted() {
    let tree = Tree::new();
    // More than one buffer of directory entries.
    let mut expected: Vec<String> = (0..3_000).map(|n| format!("some-file-{n}")).collect();
    for name in &expected {
        tree.add(name);
    }
    expected.sort();
    assert_eq!(tree.walk(&plain()), expected);
}

#[test]
fn names_are_kept_byte_for_byte() {
    let longest = "n".repeat(255).into_bytes();
    let mut names: Vec<Vec<u8>> =
        vec![b"new\nline".into(), b"\xff\xfe".into(), b"-rf".into(), b"\\".into(), longest];
    // Every byte that a name may hold.
    names.extend((1..=255).filter(|byte| !b"/.".contains(byte)).map(|byte| vec![byte]));
    let tree = Tree::new();
    names.sort();
    names.dedup();
    for name in &names {
        tree.add(name);
        tree.add([b"folder-of-", &name[..name.len().min(240)], b"/", name].concat());
    }
    let found = below(&tree, &files(tree.path(""), &plain()));
    assert!(found.is_sorted());
    let mut expected: Vec<_> = names
        .iter()
        .map(|name| [b"folder-of-", &name[..name.len().min(240)], b"/", name].concat())
        .chain(names.iter().cloned())
        .collect();
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn paths_match_those_of_find() {
    let tree = Tree::of(&["d/x", "d/e/y"]);
    let argument = tree.path("d");
    let with_slash = |argument: &Path| {
        let mut path = argument.as_os_str().to_owned();
        path.push("/");
        PathBuf::from(path)
    };
    for argument in [argument.clone(), with_slash(&argument)] {
        let found: Vec<OsString> =
            files(&argument, &plain()).into_iter().map(PathBuf::into_os_string).collect();
        assert_eq!(found, [tree.path("d/e/y").into_os_string(), tree.path("d/x").into_os_string()]);
    }
    // The tests of a package run in its directory.
    for (argument, expected) in
        [(".", "./Cargo.toml"), ("./", "./Cargo.toml"), ("src/..", "src/../Cargo.toml")]
    {
        let found = files(argument, &plain());
        assert!(found.iter().any(|path| path.as_os_str() == expected), "{expected}: {found:?}");
    }
    let root = walk(Path::new("/"), &excluding(&["/*/"]));
    for entry in root.filter(|entry| matches!(entry, Entry::File(_))) {
        assert!(!entry.path().as_os_str().as_bytes().starts_with(b"//"), "{entry:?}");
    }
    assert_eq!(files("Cargo.toml", &plain()), [PathBuf::from("Cargo.toml")]);
    assert_eq!(
        files(PathBuf::from(OsString::from_vec(b"src//walk".to_vec())), &plain())[0].as_os_str(),
        "src//walk/count.rs"
    );
}
