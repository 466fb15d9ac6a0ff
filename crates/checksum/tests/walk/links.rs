//! Symbolic links, followed and not.

use super::*;

#[test]
fn a_link_given_as_argument_is_followed() {
    let tree = Tree::of(&["d/x", "f", "to-d -> d", "to-f -> f"]);
    assert_eq!(files(tree.path("to-d"), &plain()), [tree.path("to-d/x")]);
    assert_eq!(files(tree.path("to-f"), &plain()), [tree.path("to-f")]);
}

#[test]
fn links_in_a_tree_are_entries_only_when_followed() {
    let tree = Tree::of(&["t/d/x", "t/f", "t/to-d -> d", "t/to-f -> f", "t/out -> ../o", "o/y"]);
    assert_eq!(tree.walk_in("t", &plain()), ["d/x", "f"]);
    assert_eq!(tree.walk_in("t", &following()), ["d/x", "f", "out/y", "to-d/x", "to-f"]);
}

#[test]
fn a_followed_link_to_a_directory_sorts_as_a_directory() {
    let tree = Tree::of(&["t/a -> ../o", "t/a-", "t/a0", "o/y"]);
    assert_eq!(tree.walk_in("t", &following()), ["a-", "a/y", "a0"]);
}

#[test]
fn dangling_links_fail_only_when_followed() {
    let tree =
        Tree::of(&["a", "gone -> nowhere", "self -> self", "x -> y", "y -> x", "into -> a/b"]);
    assert_eq!(tree.walk(&plain()), ["a"]);
    assert_eq!(
        tree.walk(&following()),
        [
            "a",
            "gone: No such file or directory",
            "into: Not a directory",
            "self: Too many levels of symbolic links",
            "x: Too many levels of symbolic links",
            "y: Too many levels of symbolic links"
        ]
    );
}

#[test]
fn each_loop_is_reported_once_and_not_entered() {
    for (paths, expected) in [
        (vec!["a", "l -> ."], vec!["a", "l: Loop"]),
        (vec!["a", "l -> ./"], vec!["a", "l: Loop"]),
        (
            vec!["d/e/up -> ..", "d/e/upup -> ../..", "d/f"],
            vec!["d/e/up: Loop", "d/e/upup: Loop", "d/f"],
        ),
        // Two directories that lead into each other: each shows the other's files once.
        (
            vec!["a/to-b -> ../b", "a/x", "b/to-a -> ../a", "b/y"],
            vec!["a/to-b/to-a: Loop", "a/to-b/y", "a/x", "b/to-a/to-b: Loop", "b/to-a/x", "b/y"],
        ),
        // Two ways to one directory are no loop.
        (vec!["d/x", "l -> d", "m -> l"], vec!["d/x", "l/x", "m/x"]),
        // A link to a link to the directory it is in.
        (vec!["d/l -> ../m", "d/x", "m -> d"], vec!["d/l: Loop", "d/x", "m/l: Loop", "m/x"]),
    ] {
        let tree = Tree::of(&paths);
        assert_eq!(tree.walk(&following()), expected, "{paths:?}");
    }
}

#[test]
fn a_loop_through_the_argument_is_detected() {
    let tree = Tree::of(&["d/x", "d/back -> ../l", "l -> d"]);
    assert_eq!(tree.walk_in("l", &following()), ["back: Loop", "x"]);
    // From outside: the directory above contains the argument, which then is no loop until it is
    // met again.
    let tree = Tree::of(&["d/up -> ..", "x"]);
    assert_eq!(tree.walk_in("d", &following()), ["up/d: Loop", "up/x"]);
}

#[test]
fn a_directory_replaced_by_a_link_is_not_followed() {
    let tree = Tree::of(&["t/a", "t/d/x", "o/secret"]);
    let root = tree.path("t");
    let mut walk = walk(&root, &plain());
    assert_eq!(words(&walk.next().unwrap(), &root), "a");
    fs::remove_dir_all(tree.path("t/d")).unwrap();
    tree.add("t/d -> ../o");
    let rest: Vec<_> = walk.map(|entry| words(&entry, &root)).collect();
    assert_eq!(rest, ["d: Not a directory"]);
}
