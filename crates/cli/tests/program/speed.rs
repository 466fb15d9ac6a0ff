//! `lanesum speed PATH`: what it tells of storage.

use super::*;

#[test]
fn measurement_and_failures_are_printed() {
    let folder = Folder::new();
    for number in 0..5 {
        folder.write(format!("tree/{number}"), bytes(200_000));
    }
    let run = folder.run("speed tree");
    let words = text(&run.stdout);
    assert_eq!((run.status.code(), text(&run.stderr).as_str()), (Some(0), ""));
    assert!(words.starts_with("5 files, 1.00 MB in "), "{words}");
    let (_, found) = words.split_once('\n').expect("lines");
    let beginnings = ["all data came from memory", "first reads take "];
    assert!(beginnings.iter().any(|words| found.starts_with(words)), "{found}");

    obey_modes();
    folder.write("tree/closed/x", "abc");
    fs::set_permissions(
        folder.path("tree/closed"),
        std::os::unix::fs::PermissionsExt::from_mode(0o000),
    )
    .unwrap();
    let run = folder.run("speed tree missing");
    fs::set_permissions(
        folder.path("tree/closed"),
        std::os::unix::fs::PermissionsExt::from_mode(0o700),
    )
    .unwrap();
    assert_eq!(run.status.code(), Some(1));
    assert!(text(&run.stdout).starts_with("5 files, 1.00 MB in "), "{}", text(&run.stdout));
    let stderr = text(&run.stderr);
    let mut messages: Vec<_> = stderr.lines().collect();
    messages.sort_unstable();
    let [missing, closed] =
        ["missing: No such file or directory", "tree/closed: Permission denied"];
    assert_eq!(messages, [format!("lanesum: {missing}"), format!("lanesum: {closed}")]);
}

#[test]
fn nothing_to_read_fails() {
    let folder = Folder::of(&["empty"]);
    fs::write(folder.path("empty"), "").unwrap();
    fs::create_dir(folder.path("folder")).unwrap();
    folder.fifo("fifo");
    let nothing = "lanesum: nothing was read\nhint: name files that are not empty, or directories of such files\n";
    let fifo = format!("lanesum: fifo: not a regular file, skipped\n{nothing}");
    for (path, words) in [("empty", nothing), ("folder", nothing), ("fifo", &fifo)] {
        expect(&folder.run(&format!("speed {path}")), 1, "", words);
    }
}
