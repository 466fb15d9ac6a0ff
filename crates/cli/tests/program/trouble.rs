//! Runs that cannot check everything: offline roots, files that cannot be read, mounts,
//! interruptions.

use std::fs;

use super::catalog::{
    cataloged, command, ends, findings, limited, objects, run, set_mode, shown, told,
};
use super::*;

/// As ransomware or a failed restore would edit them.
#[test]
fn update_stops_at_too_many_edits_until_it_is_forced() {
    let names: Vec<_> = (0..120).map(|name| name.to_string()).collect();
    let folder = cataloged(&names.iter().map(String::as_str).collect::<Vec<_>>());
    names.iter().for_each(|name| folder.write(format!("tree/{name}"), "encrypted"));
    let words = told(&folder, "update", 3);
    let summary = "update: incomplete, nothing was recorded: 120 of 120 files were edited\n";
    assert!(words.contains(summary), "{words}");
    assert!(words.ends_with("hint: if the edits are right: lanesum update --force tree\n"));
    let words = told(&folder, "status", 3);
    assert!(words.contains("lanesum update --force tree"), "{words}");
    let verdict = "incomplete: 120 edited, 1 directory not updated; 0 ok
";
    assert!(words.starts_with(verdict), "{words}");
    assert!(words.contains("  incomplete  "), "in the column PROBLEMS: {words}");
    ends(&folder, "update --max-changed 100", 0);
    names.iter().for_each(|name| folder.write(format!("tree/{name}"), "once more"));
    ends(&folder, "update --force", 0);
    ends(&folder, "status", 0);
}

#[test]
fn offline_root_is_not_checked_and_the_hint_says_what_to_do() {
    let folder = cataloged(&["a", "b"]);
    let rename = |from: &str, to: &str| fs::rename(folder.path(from), folder.path(to)).unwrap();
    for (away, hint) in [
        ("elsewhere/tree", "connect or mount its disk"),
        ("renamed", "lanesum relocate tree renamed"),
    ] {
        fs::create_dir_all(folder.path("elsewhere")).unwrap();
        rename("tree", away);
        let told = told(&folder, "update", 3);
        let expected = format!(
            "offline  tree (missing)\nlanesum: tree: update: offline (missing); not checked\n\
             hint: {hint}\n"
        );
        assert_eq!(told, expected);
        rename(away, "tree");
    }
    rename("tree", "elsewhere/tree");
    fs::create_dir(folder.path("tree")).unwrap();
    let words = told(&folder, "scan", 3);
    assert!(words.contains("offline (empty)"), "{words}");
    assert!(words.ends_with("if all its files were deleted: lanesum forget tree\n"), "{words}");
    folder.write("tree/a", "tree/a");
    let words = told(&folder, "scan", 3);
    assert!(
        words.starts_with("offline  tree (a different disk or directory is there)\n"),
        "{words}"
    );
    assert!(words.contains("offline (a different disk or directory is there)"), "{words}");
    assert!(words.ends_with("or use this one: lanesum relocate tree tree\n"), "{words}");
    assert!(told(&folder, "status", 3).starts_with("incomplete: 1 directory offline; "));
}

#[test]
fn too_many_missing_files_make_a_root_offline() {
    let names: Vec<_> = (0..120).map(|name| format!("d/{name}")).collect();
    let mut all: Vec<_> = names.iter().map(String::as_str).collect();
    all.push("a");
    let folder = cataloged(&all);
    fs::remove_dir_all(folder.path("tree/d")).unwrap();
    let words = told(&folder, "update", 3);
    assert!(words.contains("offline (120 files missing); not checked"), "{words}");
    let command = "update --max-gone 100 tree";
    let forget = "forget --missing tree";
    let hint = format!("on purpose: lanesum {command}; lanesum {forget}\n");
    assert!(words.ends_with(&hint), "{words}");
    ends(&folder, command, 1);
    let words = told(&folder, "status", 1);
    let notice = "tree: 120 files missing; if all were deleted on purpose:\n  lanesum";
    assert!(words.contains(&format!("{notice} {forget}\n")), "{words}");
    let words = told(&folder, forget, 0);
    assert!(words.contains("forgot 120 missing files"), "{words}");
    ends(&folder, "status", 0);
}

#[test]
fn files_that_cannot_be_read_are_unchecked() {
    let folder = cataloged(&["a", "b", "d/c"]);
    folder.write("tree/a", "edited");
    set_mode(&folder, "tree/a", 0);
    set_mode(&folder, "tree/d", 0);
    let update = limited(|| run(&folder, "update"));
    let status = limited(|| run(&folder, "status"));
    set_mode(&folder, "tree/a", 0o600);
    set_mode(&folder, "tree/d", 0o700);
    assert_eq!(update.status.code(), Some(3), "{update:?}");
    let mut lines: Vec<_> = shown(&folder, &update.stdout).lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines, ["unchecked tree/a (permission)", "unchecked tree/d/ (permission)"]);
    let words = shown(&folder, &update.stderr);
    let summary = "update: incomplete (1 file in directories that cannot be read): 2 unchecked";
    assert!(words.contains(summary), "{words}");
    let words = shown(&folder, &status.stdout);
    let hint = "unchecked tree/a (permission)\n  give this user permission to read it, then: \
                lanesum verify tree/a\n";
    assert!(words.contains(hint), "{words}");
    let hint = "give this user permission to read it, then: lanesum update\n";
    assert!(words.contains(hint), "{words}");
    let mut lines = findings(&folder, "update", 0);
    lines.sort();
    assert_eq!(lines, ["edited   tree/a", "ok       tree/d/c (was unchecked)"]);
}

#[test]
fn mounted_file_systems_are_skipped_and_named() {
    if !rustix::process::geteuid().is_root() {
        return skip("only root can mount a file system");
    }
    let folder = cataloged(&["a", "disk/b"]);
    let disk = folder.path("tree/disk");
    let mut mount = Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "size=100k", "none"]).arg(&disk).stderr(Stdio::null());
    if !mount.status().is_ok_and(|status| status.success()) {
        return skip("nothing can be mounted here");
    }
    folder.write("tree/disk/b", "of another file system");
    let update = run(&folder, "update");
    let dry = run(&folder, "add --dry-run tree");
    let done = Command::new("umount").arg(&disk).status();
    assert!(done.is_ok_and(|status| status.success()));
    let words = shown(&folder, &update.stdout) + &shown(&folder, &update.stderr);
    assert_eq!(update.status.code(), Some(3), "{words}");
    assert!(words.contains("unchecked tree/disk/ (mounted-over)"), "{words}");
    assert!(words.contains("skipped: 1 mounted file system"), "{words}");
    assert!(shown(&folder, &dry.stdout).contains("tree/disk (mounted file system, needs its own"));
    ends(&folder, "update", 0);
}

#[test]
fn interruption_says_what_is_kept() {
    let folder = Folder::new();
    folder.write("tree/a", vec![1; 3_000_000]);
    ends(&folder, "add --limit 1k --every 100y tree", 0);
    let running = start(&mut command(&folder, "scrub --percent 100"));
    while objects(&folder, "status --json", 0)[0]["running"] != true {
        std::thread::sleep(Duration::from_millis(20));
    }
    // SIGINT is ignored where it was when this began, as in the background of a script.
    running.signal(Signal::TERM);
    let ended = running.finish();
    let words = text(&ended.stderr);
    assert_eq!(words, "lanesum: interrupted: results are kept; the next scrub continues\n");
}

/// Killed anywhere, a run leaves a catalog that is not damaged, and the next run goes on.
#[test]
fn kill_9_at_any_moment_leaves_a_whole_catalog() {
    let folder = Folder::new();
    let mut random = 88_172_645_463_325_252_u64;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    for file in 0..300 {
        folder.write(format!("tree/d{}/{file}", file % 7), format!("{file}").repeat(200));
    }
    let mut verbs = ["add tree", "update", "scrub --percent 100"].iter().cycle();
    let mut is_made = false;
    // As long as a run takes here; to create a catalog takes longer.
    let mut longest = Duration::from_millis(300);
    for round in 0..60 {
        for _ in 0..5 {
            let file = next() % 300;
            folder.write(format!("tree/d{}/{file}", file % 7), format!("{round} {file}"));
        }
        let verb = verbs.next().unwrap();
        let running = start(&mut command(&folder, verb));
        std::thread::sleep(longest.mul_f64((next() % 1000) as f64 / 1000.0));
        running.signal(Signal::KILL);
        running.finish();
        let began = std::time::Instant::now();
        let check = run(&folder, "catalog check");
        let code = check.status.code();
        is_made |= code == Some(0);
        if is_made {
            longest = began.elapsed() * 4;
        }
        let is_whole = code == Some(0) || !is_made && code == Some(2);
        assert!(is_whole, "{verb}: {}", text(&check.stderr));
    }
    ends(&folder, "add tree", 0);
    ends(&folder, "update", 0);
    ends(&folder, "verify", 0);
    assert!(told(&folder, "status", 0).starts_with("300 files ok"));
}
