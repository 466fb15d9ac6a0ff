//! Compares walks with git and walks by rules only with git itself.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::process::Command;

use proptest::prelude::*;

use super::*;

/// Whether there is git; says so if not.
fn git_is_there() -> bool {
    let is_there = Command::new("git").arg("--version").output().is_ok();
    if !is_there {
        eprintln!("skipped: there is no git");
    }
    is_there
}

/// Returns the output of git in a directory, without the configuration of the user.
#[track_caller]
fn git(folder: &Path, args: &[&str]) -> Vec<u8> {
    let mut command = Command::new("git");
    let no_user = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.excludesFile="];
    command.arg("-C").arg(folder).args(no_user).args(["-c", "protocol.file.allow=always"]);
    let output = command.args(args).output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {args:?} in {}: {words}", folder.display());
    output.stdout
}

fn asking() -> WalkOptions {
    let mut options = rules_alone();
    options.git = Some("git".into());
    options
}

fn rules_alone() -> WalkOptions {
    let mut options = plain();
    options.gitignore = true;
    options
}

/// The regular files that git lists in a directory, and in the repositories it lists there.
fn listed(folder: &Path, found: &mut Vec<PathBuf>) {
    let paths = git(folder, &["ls-files", "-z", "-co", "--exclude-standard"]);
    for path in paths.split(|&byte| byte == 0).filter(|path| !path.is_empty()) {
        let path = folder.join(OsString::from_vec(path.strip_suffix(b"/").unwrap_or(path).into()));
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_file() => found.push(path),
            Ok(metadata) if metadata.is_dir() && path.join(".git").exists() => listed(&path, found),
            _ => {}
        }
    }
}

/// The same in byte order, each once.
fn expected(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    listed(folder, &mut found);
    found.sort_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    found.dedup();
    found
}

/// Bytes that mean something in a pattern, and few that do not.
const BYTES: &[u8] = b"aab-.]![^\\ \t*?{}#\r0Z:\xff\x0b";

fn name() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(BYTES), 1..4)
        .prop_filter("a name", |name| name != b"." && name != b"..")
}

/// A path of a few parts.
fn path() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(name(), 1..4).prop_map(|parts| parts.join(&b'/'))
}

/// A part of a pattern.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let classes = ["alpha", "digit", "punct", "space", "graph", "cntrl", "none"];
    prop_oneof![
        6 => prop::sample::select(BYTES).prop_map(|byte| vec![byte]),
        2 => Just(b"/".to_vec()),
        2 => Just(b"*".to_vec()),
        2 => prop::sample::select(vec!["**", "**/", "/**", "/**/"]).prop_map(Vec::from),
        1 => prop::sample::select(vec!["[!", "[a-b]", "[]-a]", "[\\", "-Z]"]).prop_map(Vec::from),
        1 => prop::sample::select(classes.to_vec()).prop_map(|it| format!("[[:{it}:]]").into()),
    ]
}

/// A file of rules, some of which concern one of the paths.
fn rules(paths: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let some = prop_oneof![Just(Vec::new()), prop::sample::select(paths)];
    let pieces = prop::collection::vec(piece(), 0..5);
    let line = (prop::sample::select(vec!["", "", "!", "/"]), some, pieces, any::<bool>());
    let line = line.prop_map(|(first, path, pieces, path_first)| {
        let pieces = pieces.concat();
        let body = if path_first { [path, pieces] } else { [pieces, path] };
        [first.as_bytes(), &body.concat()].concat()
    });
    prop::collection::vec(line, 0..6).prop_map(|lines| lines.join(&b'\n'))
}

/// Files and rules of one directory.
fn folder() -> impl Strategy<Value = (Vec<Vec<u8>>, Vec<u8>)> {
    prop::collection::vec(path(), 1..12).prop_flat_map(|paths| (Just(paths.clone()), rules(paths)))
}

/// Makes files, as far as others are not in their way.
fn fill(folder: &Path, paths: &[Vec<u8>], rules: &[u8]) {
    fs::create_dir_all(folder).unwrap();
    for path in paths {
        let path = folder.join(OsStr::from_bytes(path));
        let _ = fs::create_dir_all(path.parent().unwrap()).and_then(|()| fs::write(path, "x"));
    }
    fs::write(folder.join(".gitignore"), rules).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn rules_agree_with_git(folders in prop::collection::vec(folder(), 24)) {
        if !git_is_there() {
            return Ok(());
        }
        let tree = Tree::in_memory();
        let root = tree.path("");
        git(&root, &["init", "-q"]);
        for (number, (paths, rules)) in folders.iter().enumerate() {
            fill(&tree.path(format!("f{number}")), paths, rules);
        }
        let expected = expected(&root);
        prop_assert_eq!(files(&root, &rules_alone()), &expected[..]);
        prop_assert_eq!(files(&root, &asking()), expected);
    }

    #[test]
    fn walks_of_repositories_agree_with_git(
        outer in folder(),
        folders in prop::collection::vec((folder(), any::<bool>(), any::<bool>()), 1..6),
        exclude in rules(vec![b"f1".to_vec()]),
    ) {
        if !git_is_there() {
            return Ok(());
        }
        let tree = Tree::in_memory();
        let root = tree.path("");
        git(&root, &["init", "-q"]);
        fill(&root, &outer.0, &outer.1);
        fs::write(root.join(".git/info/exclude"), exclude).unwrap();
        for (number, ((paths, rules), is_repository, is_tracked)) in folders.iter().enumerate() {
            let folder = tree.path(format!("f{number}"));
            fill(&folder, paths, rules);
            if *is_repository {
                git(&folder, &["init", "-q"]);
                if *is_tracked {
                    git(&folder, &["commit", "-qm", "c", "--allow-empty"]);
                }
            }
            if *is_tracked {
                git(&root, &["add", "-f", &format!("f{number}")]);
            }
        }
        prop_assert_eq!(files(&root, &asking()), expected(&root));
        for number in 0..folders.len() {
            let folder = tree.path(format!("f{number}"));
            // One that is ignored is walked nevertheless.
            if !is_ignored(&root, &format!("f{number}")) {
                prop_assert_eq!(files(&folder, &asking()), expected(&folder));
            }
        }
    }
}

fn is_ignored(root: &Path, part: &str) -> bool {
    let mut command = Command::new("git");
    let command = command.arg("-C").arg(root).args(["check-ignore", "-q", "--no-index", part]);
    command.status().unwrap().success()
}

#[test]
fn tracked_files_are_listed_despite_ignore_rules() {
    if !git_is_there() {
        return;
    }
    let tree = Tree::of(&["a.o", "b.o", "d/e/c.o", "d/e/x.o", "d/f", "gone.o", "o/kept", "o/not"]);
    let root = tree.path("");
    tree.add(":(top)o/x");
    tree.write(".gitignore", "*.o\n*o/\n");
    git(&root, &["init", "-q"]);
    git(&root, &["add", "-f", "b.o", "d/e/c.o", "gone.o", "o/kept"]);
    fs::remove_file(tree.path("gone.o")).unwrap();
    let all = [".gitignore", "b.o", "d/e/c.o", "d/f", "o/kept"];
    assert_eq!(tree.walk(&asking()), all);
    assert_eq!(tree.walk(&rules_alone()), [".gitignore", "d/f"]);
    assert_eq!(tree.walk_in("d", &asking()), ["e/c.o", "f"]);
    assert_eq!(tree.walk_in("d/e/", &asking()), ["c.o"]);
    // By the rules alone, since these ignore the argument.
    assert_eq!(tree.walk_in("o", &asking()), ["kept", "not"]);
    assert_eq!(tree.walk_in(":(top)o", &asking()), ["x"]);
    let mut without = asking();
    without.git = Some("no such program".into());
    assert_eq!(tree.walk(&without), [".gitignore", "d/f"]);
}

#[test]
fn names_that_look_like_git_options_are_names() {
    if !git_is_there() {
        return;
    }
    for name in [":(top)x", "*", "-z", ":/", "a b\t", "é\"\\"] {
        let tree = Tree::of(&["other/x.o"]);
        tree.write(".gitignore", "*.o\n");
        for file in ["a.o", "b.o", "c"] {
            tree.add(format!("{name}/{file}"));
        }
        let root = tree.path("");
        git(&root, &["init", "-q"]);
        git(&root, &["--literal-pathspecs", "add", "-f", "--", &format!("{name}/a.o")]);
        let found = files(tree.path(name), &asking());
        assert_eq!(found, ["a.o", "c"].map(|file| tree.path(name).join(file)), "{name}");
    }
}

#[test]
fn nested_repositories_are_listed_by_git() {
    if !git_is_there() {
        return;
    }
    let tree = Tree::of(&["sub/a.o", "sub/b.o", "sub/c", "out/d", "empty.git/x", "bare/deep/e"]);
    let root = tree.path("");
    git(&root, &["init", "-q"]);
    tree.write(".gitignore", "*.o\nout/\n");
    for repository in ["sub", "out"] {
        git(&tree.path(repository), &["init", "-q"]);
    }
    tree.write("sub/.gitignore", "a.o\n");
    git(&tree.path("sub"), &["add", "-f", "a.o"]);
    git(&tree.path("sub"), &["commit", "-qm", "c"]);
    // As a submodule, and as one that is not there.
    git(&root, &["add", "sub"]);
    git(&root, &["clone", "-q", "sub", "module"]);
    git(&root, &["add", "module"]);
    fs::remove_dir_all(tree.path("module/.git")).unwrap();
    git(&tree.path("bare"), &["init", "-q", "--bare", "deep"]);
    let found = tree.walk(&asking());
    let is_bares = |path: &String| path.starts_with("bare/deep/") && !path.ends_with("/e");
    let (bares, others): (Vec<_>, Vec<_>) = found.into_iter().partition(is_bares);
    assert!(!bares.is_empty());
    assert_eq!(
        others,
        [
            ".gitignore",
            "bare/deep/e",
            "empty.git/x",
            "sub/.gitignore",
            "sub/a.o",
            "sub/b.o",
            "sub/c"
        ]
    );
    assert_eq!(files(&root, &asking()), expected(&root));
    // To git a repository without a work tree; to the one around it files like any.
    assert!(tree.walk_in("bare/deep", &asking()).contains(&"e".to_owned()));
    assert_eq!(tree.walk_in("sub", &asking()), [".gitignore", "a.o", "b.o", "c"]);
    assert_eq!(tree.walk_in("out", &asking()), ["d"]);
}

#[test]
fn followed_links_use_the_rules_without_git() {
    if !git_is_there() {
        return;
    }
    let tree = Tree::of(&["r/d/a.o", "r/d/b", "e/a.o", "e/b", "e/sub/a.o", "r/a.o"]);
    tree.write("r/.gitignore", "*.o\nignored\n");
    tree.write("e/.gitignore", "*.o\n");
    for link in ["r/to-d -> d", "r/to-e -> ../e", "r/ignored -> ../e", "r/to-file -> d/b"] {
        tree.add(link);
    }
    let root = tree.path("r");
    git(&root, &["init", "-q"]);
    git(&root, &["add", "-f", "d/a.o"]);
    let mut following = asking();
    following.follow = true;
    assert_eq!(
        tree.walk_in("r", &following),
        [
            ".gitignore",
            "d/a.o",
            "d/b",
            "to-d/a.o",
            "to-d/b",
            "to-e/.gitignore",
            "to-e/b",
            "to-file"
        ]
    );
    git(&tree.path("e"), &["init", "-q"]);
    git(&tree.path("e"), &["add", "-f", "a.o"]);
    let found = tree.walk_in("r", &following);
    assert!(found.contains(&"to-e/a.o".to_owned()), "{found:?}");
    assert_eq!(tree.walk_in("r", &asking()), [".gitignore", "d/a.o", "d/b"]);
}

/// A program that does as git would in some case.
///
/// Another program writes it: whatever another test starts meanwhile would hold it open for
/// writing, and what is being written cannot be executed.
fn git_that(tree: &Tree, script: &str) -> WalkOptions {
    let (text, program) = (tree.path("script"), tree.path("git"));
    fs::write(&text, format!("#!/bin/sh\n{script}\n")).unwrap();
    let mut install = Command::new("install");
    assert!(install.args(["-m", "755"]).args([&text, &program]).status().unwrap().success());
    let mut options = rules_alone();
    options.git = Some(program);
    options
}

#[test]
fn a_failing_git_is_reported_and_the_rules_apply() {
    let tree = Tree::of(&["r/.git/", "r/a.o", "r/b", "r/sub/.git/", "r/sub/c"]);
    tree.write("r/.gitignore", "*.o\n");
    let found = |script: &str| tree.walk_in("r", &git_that(&tree, script));
    let told = |why: &str| {
        let files = [".gitignore", "b", "sub/c"].map(str::to_owned);
        let [ignore, b, c] = files;
        vec![format!(".git: {why}"), ignore, b, format!("sub/.git: {why}"), c]
    };
    let foreign = "echo \"fatal: detected dubious ownership in repository at '/r'\" >&2; exit 128";
    assert_eq!(found(foreign), told("ForeignGit"));
    assert_eq!(found("echo fatal: not a git repository >&2; exit 128"), told("BrokenGit"));
    assert_eq!(found("kill -9 $$"), told("BrokenGit"));
    if git_is_there() {
        assert_eq!(tree.walk_in("r", &asking()), told("BrokenGit"));
    }
}

#[test]
fn directories_unreadable_to_git_are_errors() {
    let tree = Tree::of(&["r/.git/", "r/a", "r/b/c"]);
    let script = "printf 'a\\0'; echo \"warning: could not open directory 'b/': no\" >&2";
    assert_eq!(
        tree.walk_in("r", &git_that(&tree, script)),
        [": git: could not open directory 'b/': no", "a"]
    );
}

/// Like a worker that copies its descriptor table while git runs.
#[test]
fn other_holders_of_the_pipe_of_git_are_not_waited_for() {
    let tree = Tree::of(&["r/.git/", "r/a"]);
    let fifo = tree.path("fifo");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let options = git_that(&tree, &format!("read line < '{}' &\nprintf 'a\\0'", fifo.display()));
    let root = tree.path("r");
    let (done, is_done) = std::sync::mpsc::channel();
    std::thread::spawn(move || done.send(files(&root, &options)));
    let found = is_done.recv_timeout(std::time::Duration::from_secs(60));
    // Ends what holds it.
    drop(fs::File::options().write(true).open(fifo));
    assert_eq!(found, Ok(vec![tree.path("r/a")]));
}
