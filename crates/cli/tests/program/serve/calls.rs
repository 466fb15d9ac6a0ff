//! `--on-finding`.

use super::*;

/// A root with two damaged files and a missing one, which no daemon called for.
fn bad() -> Folder {
    let folder = all_due(9, 1000);
    fs::remove_file(folder.path("tree/0004")).unwrap();
    run_beside(&folder, &Task::Verify, now);
    assert_eq!(standing(&folder, Class::Damaged), 2);
    folder
}

const ALL: [&str; 3] = ["damaged 0000", "damaged 0001", "missing 0004"];

#[test]
fn the_first_start_calls_for_the_problems_of_then() {
    let folder = bad();
    for _ in 0..2 {
        let daemon = Daemon::start(&folder);
        until("the calls", || lines(&folder, "calls").len() == 3);
        until("a heartbeat", || has_heartbeat(&folder));
        fs::remove_file(folder.path("heartbeat")).unwrap();
        daemon.end();
        assert_eq!(lines(&folder, "calls"), ALL);
    }
}

#[test]
fn first_calls_that_were_interrupted_are_repeated_and_later_findings_follow() {
    let folder = bad();
    let start =
        |call| Daemon::spawn(&folder, &mut lanesum(&folder, &["serve", "--on-finding", call]));
    let daemon = start(
        r#"case $LANESUM_PATH in *1) touch begun; sleep 1000;; esac; echo "${LANESUM_PATH##*/}" >> calls"#,
    );
    until("a call", || folder.path("begun").exists());
    assert_eq!(lines(&folder, "calls"), ["0000"]);
    fs::remove_file(folder.path("tree/0007")).unwrap();
    run_beside(&folder, &Task::Scan, now);
    daemon.end();
    let daemon = start(r#"echo "${LANESUM_PATH##*/}" >> calls"#);
    until("the calls", || lines(&folder, "calls").len() >= 5);
    assert_eq!(lines(&folder, "calls"), ["0000", "0000", "0001", "0004", "0007"]);
    drop(daemon);
}

#[test]
fn a_call_gets_class_reason_paths_and_json() {
    let folder = all_due(2, 10);
    let call = r#"echo "$LANESUM_CLASS $LANESUM_REASON $LANESUM_ROOT" >> calls; echo "$LANESUM_JSON" >> json"#;
    let daemon = Daemon::spawn(&folder, &mut lanesum(&folder, &["serve", "--on-finding", call]));
    until("the calls", || lines(&folder, "json").len() == 2);
    drop(daemon);
    let tree = folder.path("tree").canonicalize().unwrap();
    let [one, other] = &lines(&folder, "calls")[..] else { panic!() };
    assert_eq!(one, other);
    assert!(one.starts_with("damaged ") && one.ends_with(&format!(" {}", tree.display())), "{one}");
    for json in lines(&folder, "json") {
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!((&json["event"], &json["class"]), (&"finding".into(), &"damaged".into()));
        assert!(json["path"].as_str().unwrap().starts_with(tree.to_str().unwrap()), "{json}");
        assert!(json["recorded"]["digests"]["md5"].is_string(), "{json}");
        assert!(json["time"].as_str().unwrap().ends_with('Z'), "{json}");
    }
}

#[test]
fn commands_that_fail_are_reported_with_their_options() {
    let folder = all_due(2, 10);
    let mut command = lanesum(&folder, &["serve", "--heartbeat", "false"]);
    let daemon = Daemon::spawn(&folder, command.args(["--on-finding", "exit 3"]));
    for words in [
        "lanesum: --heartbeat false: exit status: 1",
        "lanesum: --on-finding 'exit 3': exit status: 3",
    ] {
        until(words, || folder.read("errors").contains(words));
    }
    drop(daemon);
}
