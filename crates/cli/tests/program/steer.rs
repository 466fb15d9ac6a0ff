//! How scrubs behave: rate, hours, pause.

use std::fs;
use std::process::Output;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::serve::run;
use super::*;

/// Hours of the day that it is not now: the clock is that of UTC.
fn other_hours() -> &'static str {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    if now.as_secs() / 3600 % 24 < 12 { "15:00-20:00" } else { "3:00-8:00" }
}

fn status(folder: &Folder) -> (Option<i32>, Value) {
    let status = run(folder, "status --json");
    (status.status.code(), serde_json::from_slice(&status.stdout).unwrap())
}

#[test]
fn what_rate_and_hours_cannot_hold_is_refused() {
    let folder = Folder::new();
    folder.write("tree/a", vec![0; 2_000_000]);
    let refused = run(&folder, "add tree --limit 10B --every 1d");
    assert_eq!(refused.status.code(), Some(2));
    let words = text(&refused.stderr);
    assert!(
        words.contains("2.22 MB a day, and 10 bytes a second are 864.00 kB a day"),
        "with the arithmetic: {words}"
    );
    assert!(text(&run(&folder, "status").stdout).is_empty(), "nothing was taken up");
    let refused = run(&folder, "add tree --limit 10k --between 3:00-3:02");
    assert_eq!(refused.status.code(), Some(2));
    let words = "2.00 MB of a file have to be read in one go, and 10.00 kB a second in 3:00-3:02 \
                 are 1.20 MB; give a higher --limit or longer hours";
    assert!(text(&refused.stderr).contains(words), "{}", text(&refused.stderr));

    let added = run(&folder, "add tree --limit 1M --between 1:00-6:00 --every 30d");
    assert_eq!(added.status.code(), Some(0), "{}", text(&added.stderr));
    let policy = "tree: scrubbed every 30 days, at most 1.00 MB a second, in 1:00-6:00\n";
    assert!(text(&added.stderr).contains(policy), "{}", text(&added.stderr));
    let told = |args: &str, expected: &str| {
        let told = run(&folder, args);
        assert_eq!(told.status.code(), Some(0), "{}", text(&told.stderr));
        // Who only asks is answered where it can be read on.
        let words = if args == "limit" { &told.stdout } else { &told.stderr };
        let gone = "; md5; left alone when more than 10 % of its files, and than 100, are gone (--max-gone 10)";
        let more = if args == "limit" { gone } else { "" };
        assert!(text(words).ends_with(&format!("tree: {expected}{more}\n")), "{told:?}");
    };
    told("limit", "scrubbed every 30 days, at most 1.00 MB a second, in 1:00-6:00");
    let refused = run(&folder, "limit --limit 1B");
    assert_eq!(refused.status.code(), Some(2));
    let refused = run(&folder, "limit --limit 10k --between 3:00-3:02");
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains(words), "{}", text(&refused.stderr));
    told("limit", "scrubbed every 30 days, at most 1.00 MB a second, in 1:00-6:00");
    told(
        "limit --limit none --every 7d",
        "scrubbed every 7 days, as fast as it goes, in 1:00-6:00",
    );
    told("limit --between any tree", "scrubbed every 7 days, as fast as it goes, at any hour");
    assert_eq!(run(&folder, "limit --between 6:00-6:00").status.code(), Some(2));
    assert_eq!(run(&folder, "limit nowhere").status.code(), Some(2));
    assert_eq!(status(&folder).1["every_days"], 7);
    assert_eq!(run(&folder, "catalog check").status.code(), Some(0));
}

#[test]
fn outside_of_its_hours_nothing_is_read_and_that_is_not_complete() {
    let folder = Folder::of(&["tree/a", "tree/b"]);
    run(&folder, "add tree");
    let limit = format!("limit --between {}", other_hours());
    assert_eq!(run(&folder, &limit).status.code(), Some(0));
    let scrub = run(&folder, "scrub --percent 100");
    assert_eq!(scrub.status.code(), Some(4));
    let words = text(&scrub.stderr);
    assert!(words.contains("scrub NOT complete, it is outside of its hours"), "{words}");
    assert!(words.contains("0 files read"), "{words}");
    assert_eq!(status(&folder).0, Some(4));
    let remedy = |expected: &str| {
        let words = text(&run(&folder, "status").stdout).to_owned();
        assert!(words.contains(expected), "{words}");
    };
    remedy("  -> in its hours, or lanesum scrub --now\n");
    run(&folder, "limit --between any");
    remedy("  -> lanesum scrub\n");
    assert_eq!(run(&folder, &limit).status.code(), Some(0));
    let scrub = run(&folder, "scrub --percent 100 --now");
    assert_eq!(scrub.status.code(), Some(0));
    assert!(text(&scrub.stderr).contains("scrub complete: 2 ok"));
    assert_eq!(status(&folder).0, Some(0));
}

/// A pause is a row of the catalog, so a process that starts later, or after the machine was off,
/// obeys it.
#[test]
fn a_pause_lasts_until_somebody_ends_it_and_is_never_complete() {
    let folder = Folder::of(&["tree/a", "tree/b"]);
    run(&folder, "add tree");
    let paused = run(&folder, "pause");
    assert_eq!(paused.status.code(), Some(0));
    assert!(text(&paused.stderr).contains("tree: paused since "));
    let again = run(&folder, "pause tree");
    assert_eq!(text(&again.stderr), text(&paused.stderr), "since the first time");

    let scrub = run(&folder, "scrub --percent 100 --now");
    assert_eq!(scrub.status.code(), Some(4));
    let words = text(&scrub.stderr);
    assert!(words.contains("scrub NOT complete, paused since "), "{words}");
    assert!(!words.contains("scrub complete"), "{words}");
    let words = run(&folder, "status");
    assert_eq!(words.status.code(), Some(4));
    assert!(text(&words.stdout).contains("  PAUSED since "), "{words:?}");
    let report = run(&folder, "report");
    assert_eq!(report.status.code(), Some(4));
    let words = text(&report.stdout);
    assert!(words.contains("1 PAUSED") && words.contains("tree: PAUSED since "), "{words}");
    let page = run(&folder, "report --html");
    assert!(text(&page.stdout).contains("PAUSED since "), "{page:?}");
    let (_, object) = status(&folder);
    assert_eq!((object["complete"].as_bool(), object["paused"].is_i64()), (Some(false), true));
    assert_eq!(run(&folder, "audit").status.code(), Some(0), "an audit is no scrub");
    assert_eq!(status(&folder).0, Some(4), "also after another complete run");

    assert!(text(&run(&folder, "resume").stderr).contains("resumed; it was paused since "));
    assert!(text(&run(&folder, "resume").stderr).contains("it was not paused"));
    assert_eq!(run(&folder, "scrub --percent 100").status.code(), Some(0));
    assert_eq!(status(&folder).0, Some(0));
    // A folder that is forgotten takes its manners along.
    run(&folder, "pause");
    run(&folder, "forget tree");
    assert_eq!(run(&folder, "catalog check").status.code(), Some(0));
    run(&folder, "add tree");
    assert_eq!(status(&folder).1["paused"], Value::Null);
}

#[test]
fn a_scrub_that_runs_obeys_at_once() {
    let folder = Folder::in_memory();
    (0..40).for_each(|name| folder.write(format!("tree/{name:02}"), vec![name; 1_000_000]));
    run(&folder, "add tree");
    // It would take 80 seconds.
    assert_eq!(run(&folder, "limit --limit 500k").status.code(), Some(0));
    let scrub = |and_then: &[&str]| -> (Output, Duration) {
        let mut command = folder.lanesum(["scrub", "--percent", "100", "--threads", "1"]);
        let child =
            command.env("LANESUM_CATALOG", folder.path("state/catalog.db")).spawn().unwrap();
        let began = Instant::now();
        std::thread::sleep(Duration::from_secs(3));
        let pid = child.id();
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        assert_eq!(stat.split(' ').nth(18), Some("19"), "nice: {stat}");
        // util-linux is nearly everywhere, but need not be.
        if let Ok(class) = Command::new("ionice").args(["-p", &pid.to_string()]).output() {
            assert_eq!(text(&class.stdout).trim(), "idle");
        }
        for args in and_then {
            assert_eq!(run(&folder, args).status.code(), Some(0));
        }
        (child.wait_with_output().unwrap(), began.elapsed())
    };
    let (paused, took) = scrub(&["pause"]);
    assert_eq!(paused.status.code(), Some(4));
    assert!(text(&paused.stderr).contains("NOT complete, paused since "));
    assert!(took < Duration::from_secs(20), "{took:?}");
    let (_, object) = status(&folder);
    let read = object["last"]["bytes_read"].as_i64().unwrap();
    assert!((100_000..5_000_000).contains(&read), "at the rate that was given: {read}");
    assert!(!text(&paused.stderr).contains("nothing was read"), "{}", text(&paused.stderr));

    run(&folder, "resume");
    let (closed, _) = scrub(&[&format!("limit --between {}", other_hours())]);
    assert_eq!(closed.status.code(), Some(4));
    assert!(text(&closed.stderr).contains("NOT complete, its hours are over"), "{closed:?}");
    run(&folder, "limit --between any");
    let (faster, took) = scrub(&["limit --limit none --every 30d"]);
    assert_eq!(faster.status.code(), Some(0), "{}", text(&faster.stderr));
    assert!(text(&faster.stderr).contains("scrub complete: 40 ok"));
    assert!(took < Duration::from_secs(40), "{took:?}");
    assert_eq!(status(&folder).1["every_days"], 30, "the scrub's own commits leave it");
    fs::remove_dir_all(folder.path("tree")).unwrap();
}
