//! Ignore files of a chosen name in every directory, and the report of excluded entries.

use std::ffi::OsString;

use super::*;

const NAME: &str = ".lanesumignore";

/// Makes a tree of files, and ignore files with patterns in some directories.
fn tree(paths: &[&str], ignore_files: &[(&str, &str)]) -> Tree {
    let tree = Tree::of(paths);
    for (directory, patterns) in ignore_files {
        tree.write(&format!("{directory}{NAME}"), patterns);
    }
    tree
}

fn with_ignore_files() -> WalkOptions {
    let mut options = plain();
    options.ignore_file = Some(OsString::from(NAME));
    options
}

fn telling(mut options: WalkOptions) -> WalkOptions {
    options.report_excluded = true;
    options
}

/// The walk without its ignore files.
#[track_caller]
fn walks_to(tree: &Tree, options: &WalkOptions, expected: &[&str]) {
    let mut found = tree.walk(options);
    found.retain(|path| !path.ends_with(NAME));
    assert_eq!(found, expected);
}

#[test]
fn ignore_files_are_ordinary_files_without_the_option() {
    let tree = tree(&["a"], &[("", "a\n")]);
    assert_eq!(tree.walk(&plain()), [NAME, "a"]);
    assert_eq!(tree.walk(&with_ignore_files()), [NAME]);
    let mut other = plain();
    other.ignore_file = Some(OsString::from("another"));
    assert_eq!(tree.walk(&other), [NAME, "a"]);
    assert_eq!(tree.walk(&telling(plain())), [NAME, "a"]);
}

#[test]
fn an_ignore_file_applies_from_its_directory_down() {
    let tree = tree(&["a.o", "d/a.o", "d/b", "d/e/a.o", "z/a.o"], &[("d/", "*.o\n/b\n")]);
    walks_to(&tree, &with_ignore_files(), &["a.o", "z/a.o"]);
    // Those above the argument are not read.
    assert_eq!(tree.walk_in("d/e", &with_ignore_files()), ["a.o"]);
}

#[test]
fn the_innermost_ignore_file_with_a_match_decides() {
    let paths = ["a.o", "d/a.o", "d/e/a.o", "d/e/b.o", "d/keep.o", "z/a.o"];
    let tree = tree(&paths, &[("", "*.o\n!keep.o\n"), ("d/", "!a.o\n"), ("d/e/", "# no\n\na.o\n")]);
    walks_to(&tree, &with_ignore_files(), &["d/a.o", "d/keep.o"]);
}

#[test]
fn an_excluded_directory_is_not_entered() {
    let paths = ["in/keep", "in/x", "out/keep", "out/x"];
    let tree = tree(&paths, &[("", "out/\n!out/keep\nin/*\n!in/keep\n"), ("out/", "!*\n")]);
    walks_to(&tree, &with_ignore_files(), &["in/keep"]);
    assert_eq!(
        tree.walk(&telling(with_ignore_files())),
        [NAME, "in/keep", "in/x: Excluded", "out: Excluded"]
    );
}

#[test]
fn ignore_files_can_exclude_themselves_and_still_apply() {
    let tree = tree(&["a", "b"], &[("", "/a\n.lanesumignore\n")]);
    assert_eq!(tree.walk(&with_ignore_files()), ["b"]);
}

#[test]
fn git_has_no_effect_on_ignore_files() {
    let paths = [".git/config", "a.o", "a.x", "r/.git/config", "r/a.o", "r/a.x"];
    let tree = tree(&paths, &[("", "*.o\n")]);
    tree.write(".gitignore", "*.x\n!*.o\n");
    let mut options = with_ignore_files();
    // A repository in another is no reason to forget the patterns of the directories above it.
    walks_to(&tree, &options, &[".git/config", ".gitignore", "a.x", "r/.git/config", "r/a.x"]);
    options.gitignore = true;
    walks_to(&tree, &options, &[".gitignore", "r/a.x"]);
    // Only patterns and ignore files are reported, git's rules are not.
    let told = [".gitignore", "a.o: Excluded", "r/a.o: Excluded", "r/a.x"];
    walks_to(&tree, &telling(options), &told);
}

#[test]
fn excluded_entries_are_reported_in_the_order_of_their_paths() {
    let tree = tree(&["a/x", "a-b", "a.b", "c/d/x", "c/d.x", "link -> a"], &[("c/", "d\n")]);
    let mut options = with_ignore_files();
    options.exclude = Exclude::new(["a", "a.b", "link"]).unwrap();
    walks_to(&tree, &options, &["a-b", "c/d.x"]);
    let told = ["a: Excluded", "a-b", "a.b: Excluded", "c/d: Excluded", "c/d.x"];
    walks_to(&tree, &telling(options.clone()), &told);
    // A link is an entry, and can be excluded, if links are reported.
    options.report_links = true;
    let told = [&told[..], &["link: Excluded"]].concat();
    walks_to(&tree, &telling(options), &told);
}

#[test]
fn first_invalid_line_of_a_file_is_a_failure() {
    let tree = tree(&["a.o", "b", "d/c"], &[("", "# x\n*.o\n[b\n[c\n")]);
    let why = "unclosed [, unknown character class, or \\ at the end";
    let failed = format!("{NAME}: line 3: invalid pattern '[b': {why}");
    assert_eq!(tree.walk(&with_ignore_files()), [&*failed, NAME, "b", "d/c"]);
}

#[test]
fn only_a_regular_file_is_an_ignore_file() {
    let tree = Tree::of(&["a/x", "b/x", "b/.lanesumignore/y", "patterns"]);
    tree.write("patterns", "x\n");
    tree.add("a/.lanesumignore -> ../patterns");
    let mut options = with_ignore_files();
    assert_eq!(tree.walk(&options), ["a/x", "b/.lanesumignore/y", "b/x", "patterns"]);
    options.follow = true;
    let followed = ["a/.lanesumignore", "b/.lanesumignore/y", "b/x", "patterns"];
    assert_eq!(tree.walk(&options), followed);
}

/// Root may read any file on a disk, but no user can read the start of this one.
#[test]
fn an_ignore_file_that_cannot_be_read_fails() {
    let mut options = excluding(&["[!m]*", "m[!e]*"]);
    options.ignore_file = Some(OsString::from("mem"));
    let root = Path::new("/proc/self");
    let found: Vec<_> = walk(root, &options).map(|entry| words(&entry, root)).collect();
    assert_eq!(found, ["mem: Input/output error"]);
    // It is reported also if patterns exclude it.
    let mut options = excluding(&["*"]);
    options.ignore_file = Some(OsString::from("mem"));
    let found: Vec<_> = walk(root, &options).map(|entry| words(&entry, root)).collect();
    assert_eq!(found, ["mem: Input/output error"]);
}

#[test]
fn links_are_reported_only_with_report_links() {
    let tree = Tree::of(&["d/in -> ../f", "d/out -> /", "f", "gone -> nowhere", "to-d -> d"]);
    assert_eq!(tree.walk(&plain()), ["f"]);
    let mut options = plain();
    options.report_links = true;
    assert_eq!(tree.walk(&options), ["d/in: Link", "d/out: Link", "f", "gone: Link", "to-d: Link"]);
}
