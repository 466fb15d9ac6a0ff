//! Exclusion by options: patterns, rules of git, other devices.

use lanesum_checksum::walk::Count;

use super::*;

fn ignoring() -> WalkOptions {
    let mut options = plain();
    options.gitignore = true;
    options
}

#[test]
fn patterns_without_a_slash_match_names_at_any_depth() {
    let tree = Tree::of(&["a.tmp", "b", "d/a.tmp", "d/b", "x.tmp/inside", "y.tmpl"]);
    assert_eq!(tree.walk(&excluding(&["*.tmp"])), ["b", "d/b", "y.tmpl"]);
    assert_eq!(tree.walk(&excluding(&["?"])), ["a.tmp", "x.tmp/inside", "y.tmpl"]);
    assert_eq!(tree.walk(&excluding(&["{b,inside}", "[a].tmp"])), ["y.tmpl"]);
}

#[test]
fn patterns_with_a_slash_match_paths_below_the_argument() {
    let tree = Tree::of(&["t/a/b/c", "t/a/c", "t/b/c", "t/c"]);
    assert_eq!(tree.walk_in("t", &excluding(&["a/*"])), ["b/c", "c"]);
    assert_eq!(tree.walk_in("t", &excluding(&["/c"])), ["a/b/c", "a/c", "b/c"]);
    assert_eq!(tree.walk_in("t", &excluding(&["*/c"])), ["a/b/c", "c"]);
    assert_eq!(tree.walk_in("t", &excluding(&["a/**/c"])), ["b/c", "c"]);
    assert_eq!(tree.walk_in("t", &excluding(&["**/b/c"])), ["a/c", "c"]);
    assert_eq!(tree.walk_in("t", &excluding(&["t/*"])), ["a/b/c", "a/c", "b/c", "c"]);
}

#[test]
fn a_trailing_slash_restricts_a_pattern_to_directories() {
    let tree = Tree::of(&["a/x", "b", "d/a", "d/b/x", "l -> d"]);
    assert_eq!(tree.walk(&excluding(&["a/", "b/"])), ["b", "d/a"]);
    assert_eq!(tree.walk(&excluding(&["/d/"])), ["a/x", "b"]);
    let mut followed = excluding(&["l/", "d/b/"]);
    followed.follow = true;
    assert_eq!(tree.walk(&followed), ["a/x", "b", "d/a"]);
}

#[test]
fn excluded_entries_cause_no_warnings() {
    let tree = Tree::of(&["a", "dangling -> nowhere", "loop -> ."]);
    let mut options = excluding(&["dangling", "loop"]);
    options.follow = true;
    assert_eq!(tree.walk(&options), ["a"]);
}

#[test]
fn the_argument_itself_is_never_excluded() {
    let tree = Tree::of(&["d/x", ".gitignore"]);
    tree.write(".gitignore", "d\n");
    tree.add(".git/");
    assert_eq!(tree.walk_in("d", &excluding(&["d", "d/"])), ["x"]);
    assert_eq!(tree.walk_in("d", &ignoring()), ["x"]);
    assert_eq!(files(tree.path("d/x"), &excluding(&["x"])), [tree.path("d/x")]);
}

#[test]
fn invalid_patterns_are_reported_with_the_reason() {
    for (pattern, reason) in [
        (OsStr::new("[a"), "invalid pattern '[a': "),
        (OsStr::new("{a"), "invalid pattern '{a': "),
        (OsStr::new(""), "invalid pattern '': it names nothing"),
        (OsStr::new("/"), "invalid pattern '/': it names nothing"),
        (OsStr::new("{a,}"), "invalid pattern '{a,}': it names nothing"),
        (OsStr::new("[[:vowel:]]"), "unknown character class"),
        (OsStr::new("a\\"), "\\ at the end"),
    ] {
        let error = Exclude::new([pattern]).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    assert!(Exclude::new([""; 0]).unwrap().is_empty());
    let tree = Tree::of(&["b"]);
    tree.add(b"a\xff");
    assert_eq!(tree.walk(&excluding(&["a?"])), ["b"]);
    let mut options = plain();
    options.exclude = Exclude::new([OsStr::from_bytes(b"a\xff")]).unwrap();
    assert_eq!(tree.walk(&options), ["b"]);
    assert_eq!(tree.walk(&excluding(&["!a?"])).len(), 2);
}

#[test]
fn gitignore_files_apply_only_with_the_option() {
    let tree = Tree::of(&["a.o", "b.c", ".git/config"]);
    tree.write(".gitignore", "*.o\n");
    assert_eq!(tree.walk(&plain()), [".git/config", ".gitignore", "a.o", "b.c"]);
    assert_eq!(tree.walk(&ignoring()), [".gitignore", "b.c"]);
}

#[test]
fn the_innermost_gitignore_with_a_match_decides() {
    let tree = Tree::of(&["a.o", "d/a.o", "d/e/a.o", "d/e/b.o", "d/keep.o", "z/a.o"]);
    tree.write(".gitignore", "*.o\n!keep.o\n");
    tree.write("d/.gitignore", "!a.o\n");
    tree.write("d/e/.gitignore", "a.o\n");
    assert_eq!(
        tree.walk(&ignoring()),
        [".gitignore", "d/.gitignore", "d/a.o", "d/e/.gitignore", "d/keep.o"]
    );
}

#[test]
fn files_below_an_ignored_directory_stay_ignored() {
    let tree = Tree::of(&["out/x", "out/keep", "in/x", "in/keep"]);
    tree.write(".gitignore", "out/\n!out/keep\nin/*\n!in/keep\n");
    assert_eq!(tree.walk(&ignoring()), [".gitignore", "in/keep"]);
}

#[test]
fn gitignore_patterns_follow_git() {
    let names = ["a/b/c", "b/c", "c", "foo ", "#x", "!y", "x{1,2}", "x1", "n/t/t", "t"];
    for (rules, kept) in [
        ("c", vec!["!y", "#x", "foo ", "n/t/t", "t", "x1", "x{1,2}"]),
        ("/c", vec!["!y", "#x", "a/b/c", "b/c", "foo ", "n/t/t", "t", "x1", "x{1,2}"]),
        ("b/c", vec!["!y", "#x", "a/b/c", "c", "foo ", "n/t/t", "t", "x1", "x{1,2}"]),
        ("**/b", vec!["!y", "#x", "c", "foo ", "n/t/t", "t", "x1", "x{1,2}"]),
        ("a/**", vec!["!y", "#x", "b/c", "c", "foo ", "n/t/t", "t", "x1", "x{1,2}"]),
        ("# no rule\n\nfoo\\   \r\nt  \n", vec!["!y", "#x", "a/b/c", "b/c", "c", "x1", "x{1,2}"]),
        ("\\#x\n\\!y\n", vec!["a/b/c", "b/c", "c", "foo ", "n/t/t", "t", "x1", "x{1,2}"]),
        ("x{1,2}", vec!["!y", "#x", "a/b/c", "b/c", "c", "foo ", "n/t/t", "t", "x1"]),
        ("x[1{]", vec!["!y", "#x", "a/b/c", "b/c", "c", "foo ", "n/t/t", "t", "x{1,2}"]),
        ("t/", vec!["!y", "#x", "a/b/c", "b/c", "c", "foo ", "t", "x1", "x{1,2}"]),
        ("\u{feff}[a-c]", vec!["!y", "#x", "foo ", "n/t/t", "t", "x1", "x{1,2}"]),
    ] {
        let tree = Tree::of(&names);
        tree.write(".gitignore", rules);
        let found: Vec<_> =
            tree.walk(&ignoring()).into_iter().filter(|path| path != ".gitignore").collect();
        assert_eq!(found, kept, "{rules:?}");
    }
}

#[test]
fn parent_rules_apply_up_to_the_repository() {
    let tree =
        Tree::of(&["r/.git/", "r/d/e/a.o", "r/d/e/a.x", "r/d/e/a.y", "r/d/e/f/a.z", "r/d/e/a.w"]);
    tree.write(".gitignore", "*.w\n");
    tree.write("r/.gitignore", "*.o\n/d/e/f\n");
    tree.write("r/d/.gitignore", "*.x\n/e/a.y\n");
    assert_eq!(tree.walk_in("r/d/e", &ignoring()), ["a.w"]);
    assert_eq!(tree.walk_in("r/d/e/", &ignoring()), ["a.w"]);
    // Without a repository nothing above the argument is looked at.
    fs::remove_dir(tree.path("r/.git")).unwrap();
    assert_eq!(tree.walk_in("r/d/e", &ignoring()), ["a.o", "a.w", "a.x", "a.y", "f/a.z"]);
}

#[test]
fn a_nested_repository_ignores_outer_rules() {
    let tree = Tree::of(&[".git/", "sub/.git/", "sub/a.o", "sub/d/a.o", "sub/a.x", "a.o"]);
    tree.write(".gitignore", "*.o\n");
    tree.write("sub/.gitignore", "*.x\n");
    assert_eq!(tree.walk(&ignoring()), [".gitignore", "sub/.gitignore", "sub/a.o", "sub/d/a.o"]);
}

#[test]
fn the_exclude_file_has_the_lowest_priority() {
    let tree = Tree::of(&["r/a", "r/b", "r/d/a", "r/d/b"]);
    tree.write("r/.git/info/exclude", "a\nb\n");
    tree.write("r/.gitignore", "!a\n");
    assert_eq!(tree.walk_in("r", &ignoring()), [".gitignore", "a", "d/a"]);
    assert_eq!(tree.walk_in("r/d", &ignoring()), ["a"]);
    // A worktree: `.git` is a file that says where the repository keeps the worktree's things.
    tree.write("w/.git", "gitdir: ../r/.git/worktrees/w\n");
    tree.write("r/.git/worktrees/w/commondir", "../..\n");
    tree.add("w/b");
    tree.add("w/c");
    assert_eq!(tree.walk_in("w", &ignoring()), ["c"]);
}

#[test]
fn unreadable_rules_are_reported() {
    let tree = Tree::of(&["a", "d/.gitignore -> nowhere", "d/b", "e/.gitignore/f"]);
    tree.add(b"b\xff");
    tree.write(".gitignore", b"b\xff\na\n");
    assert_eq!(
        tree.walk(&ignoring()),
        [".gitignore", "d/.gitignore: Too many levels of symbolic links", "d/b", "e/.gitignore/f",]
    );
}

#[test]
fn other_devices_are_not_entered() {
    let tree = Tree::of(&["a", "proc -> /proc"]);
    let mut options = following();
    options.one_file_system = true;
    assert_eq!(tree.walk(&options), ["a"]);
    options.report_mounts = true;
    assert_eq!(tree.walk(&options), ["a", "proc: OtherDevice"]);
    // The walk stays on the device of the argument.
    assert_eq!(files(tree.path("a"), &options), [tree.path("a")]);
}

#[test]
fn a_count_sums_sizes_and_skips_unreadable_entries() {
    let tree = Tree::of(&["a/b", "a/c.tmp", "d"]);
    let count = |paths: Vec<PathBuf>| {
        let totals = Count::start(|| paths.into_iter()).unwrap().wait();
        totals.map(|totals| (totals.files, totals.bytes))
    };
    // Each file holds its own path.
    let names = ["a/b", "a/c.tmp", "d"];
    let bytes = names.map(|path| path.len() as u64).iter().sum();
    assert_eq!(count(names.map(|name| tree.path(name)).into()), Some((3, bytes)));
    let nothing = count(vec![tree.path("missing"), tree.path("a")]);
    assert_eq!(nothing, Some((2, 0)));
    // The size of a device is unknown.
    assert_eq!(count(vec![tree.path("d"), "/dev/null".into()]), None);
}
