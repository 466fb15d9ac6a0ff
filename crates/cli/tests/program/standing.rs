//! Stored state: status in its forms, and reports.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use super::catalog::{
    cataloged, command, damage, ends, limited, objects, run, set_mode, shown, told, write_old,
};
use super::*;

/// A folder with a damaged, a missing and a new file.
fn troubled() -> Folder {
    let folder = cataloged(&["a", "b", "c", "d"]);
    damage(&folder, "tree/a", "TREE/A");
    fs::remove_file(folder.path("tree/b")).unwrap();
    folder.write("tree/new", "new");
    ends(&folder, "verify", 1);
    folder
}

#[test]
fn status_begins_with_the_verdict_and_a_table() {
    let folder = cataloged(&["a", "b"]);
    let words = shown(&folder, &ends(&folder, "status", 0).stdout);
    let lines: Vec<_> = words.lines().collect();
    assert_eq!((lines[0], lines[1], lines.len()), ("2 files ok", "", 4), "{words}");
    let header: Vec<_> = lines[2].split("  ").filter(|it| !it.is_empty()).map(str::trim).collect();
    let columns = ["DIRECTORY", "FILES", "SIZE", "OK", "PROBLEMS", "OLDEST CHECK", "NEXT DUE"];
    assert_eq!(header, columns);
    let row: Vec<_> = lines[3].split("  ").filter(|it| !it.is_empty()).map(str::trim).collect();
    assert_eq!(row[..5], ["tree", "2", "12 B", "2", "0"], "{words}");
    assert!(row[6].ends_with(" +00:00"), "{words}");
}

#[test]
fn status_has_a_line_and_a_command_for_each_problem() {
    let folder = troubled();
    let words = told(&folder, "status", 1);
    assert!(words.starts_with("1 damaged, 1 missing, 1 new; 2 ok\n\nDIRECTORY"), "{words}");
    let problems = "
damaged  tree/a (rewritten, time unchanged)
  restore it from a backup, then: lanesum verify tree/a
  if it is right as it is: lanesum accept tree/a
missing  tree/b
  restore it, or: lanesum forget tree/b
tree: 1 new
  lanesum update tree
";
    assert!(words.ends_with(problems), "{words}");
    assert_eq!(told(&folder, "status -q", 1), words);
}

#[test]
fn status_names_ten_files_of_a_class_and_counts_the_others() {
    let names: Vec<_> = (10..35).map(|name| name.to_string()).collect();
    let folder = cataloged(&names.iter().map(String::as_str).collect::<Vec<_>>());
    names.iter().for_each(|name| damage(&folder, &format!("tree/{name}"), "damaged"));
    ends(&folder, "verify", 1);
    let words = told(&folder, "status", 1);
    assert_eq!(words.matches("\ndamaged  tree/").count(), 10, "{words}");
    assert!(words.ends_with("... and 15 more\n  lanesum report\n"), "{words}");
    assert_eq!(told(&folder, "report", 1).matches("\ndamaged  tree/").count(), 25);
}

#[test]
fn status_of_some_directories_leaves_out_the_others() {
    let folder = troubled();
    write_old(&folder, &["other/x"]);
    ends(&folder, "add other", 0);
    assert!(told(&folder, "status", 1).starts_with("1 damaged, 1 missing, 1 new; 3 ok\n"));
    assert!(told(&folder, "status other", 0).starts_with("1 file ok\n"));
    assert!(told(&folder, "report other", 0).starts_with("lanesum: 1 file ok - other\n"));
    assert!(
        told(&folder, "report", 1).starts_with("lanesum: 1 damaged, 1 missing, 1 new - tree\n")
    );
    ends(&folder, "status nowhere", 2);
    ends(&folder, "report tree/a", 2);
}

#[test]
fn status_shows_local_time_and_json_utc() {
    let folder = cataloged(&["a"]);
    let status = output(command(&folder, "status").env("TZ", "<+0530>-5:30"));
    assert!(text(&status.stdout).ends_with(" +05:30\n"), "{status:?}");
    let status = &objects(&folder, "status --json", 0)[0];
    for key in ["next_due", "oldest_verification"] {
        assert!(status[key].as_str().unwrap().ends_with('Z'), "{status}");
    }
    assert_eq!(status["last_run"]["verb"], "add");
    assert_eq!((&status["schema"], &status["event"]), (&1.into(), &"status".into()));
}

/// Returns the column PROBLEMS of the first root.
fn problems_column(status: &str) -> &str {
    let row = status.lines().nth(3).unwrap();
    row.split("  ").filter(|it| !it.is_empty()).nth(4).unwrap().trim()
}

#[test]
fn status_says_why_it_is_incomplete_and_what_to_do() {
    let folder = cataloged(&["a", "b"]);
    fs::rename(folder.path("tree"), folder.path("away")).unwrap();
    ends(&folder, "update", 3);
    let words = told(&folder, "status", 3);
    assert!(words.starts_with("incomplete: 1 directory offline; 0 ok\n"), "{words}");
    assert_eq!(problems_column(&words), "offline", "{words}");
    assert!(words.ends_with(": renamed to away\n  lanesum relocate tree away\n"), "{words}");
    let subject = "lanesum: incomplete: 1 directory offline - tree\n";
    assert!(told(&folder, "report", 3).starts_with(subject));
}

#[test]
fn max_age_fails_when_no_run_has_finished() {
    let folder = Folder::new();
    write_old(&folder, &["tree/a"]);
    folder.write("list", line("tree/a", "tree/a"));
    ends(&folder, "catalog import --add tree list", 0);
    let words = told(&folder, "status --max-age 2d", 3);
    let verdict = "incomplete: 1 directory not fully recorded, 1 directory without a finished run in \
                   2 d; 1 ok\n";
    assert!(words.starts_with(verdict), "{words}");
    let notice = "tree: no run has finished in the last 2 d\n  lanesum update tree\n";
    assert!(words.ends_with(notice), "{words}");
    assert_eq!(problems_column(&words), "incomplete");
    let words = told(&folder, "status --max-age 2d --json", 3);
    assert!(words.ends_with("lanesum: tree: no run has finished in the last 2 d\n"), "{words}");
    let words = told(&folder, "status --max-age 2d --nagios", 1);
    assert!(words.starts_with(&format!("LANESUM WARNING - {}", verdict.trim_end())), "{words}");
    ends(&folder, "update", 0);
    assert!(!told(&folder, "status --max-age 2d", 0).contains("no run has finished"));
    fs::rename(folder.path("tree"), folder.path("away")).unwrap();
    ends(&folder, "update", 3);
    ends(&folder, "status --max-age 2d", 3);
}

#[test]
fn nagios_line_has_the_state_and_performance_data() {
    let folder = cataloged(&["a", "b"]);
    let words = told(&folder, "status --nagios", 0);
    let data = "LANESUM OK - 2 files ok | damaged=0;;0 missing=0;;0 unchecked=0;0 new=0 \
                overdue=0;0 files=2 bytes=12B oldest_verification=";
    assert!(words.starts_with(data) && words.ends_with("s\n"), "{words}");
    ends(&folder, "pause", 0);
    ends(&folder, "status --nagios", 0);
    damage(&folder, "tree/a", "TREE/A");
    ends(&folder, "verify", 1);
    let words = told(&folder, "status --nagios", 2);
    assert!(words.starts_with("LANESUM CRITICAL - 1 damaged"), "{words}");
    fs::rename(folder.path("tree"), folder.path("away")).unwrap();
    ends(&folder, "accept tree/a", 3);
    folder.write("state/catalog.db", "no database");
    let words = told(&folder, "status --nagios", 2);
    assert!(words.starts_with("LANESUM CRITICAL - state/catalog.db: not a catalog"), "{words}");
    fs::remove_file(folder.path("state/catalog.db")).unwrap();
    let words = told(&folder, "status --nagios", 3);
    assert!(words.starts_with("LANESUM UNKNOWN - ") && words.lines().count() == 1, "{words}");
}

#[test]
fn nagios_warns_when_a_directory_is_offline() {
    let folder = cataloged(&["a"]);
    fs::rename(folder.path("tree"), folder.path("away")).unwrap();
    ends(&folder, "update", 3);
    let words = told(&folder, "status --nagios", 1);
    assert!(
        words.starts_with("LANESUM WARNING - incomplete: 1 directory offline; 0 ok | "),
        "{words}"
    );
}

#[test]
fn prometheus_file_has_a_series_for_each_class() {
    let folder = troubled();
    folder.write("m.prom", "old");
    assert_eq!(told(&folder, "status --prometheus m.prom", 1), "");
    let metrics = shown(&folder, folder.read("m.prom").as_bytes()).replace('\\', "");
    for series in [
        "lanesum_files{root=\"tree\",class=\"damaged\"} 1",
        "lanesum_files{root=\"tree\",class=\"ok\"} 2",
        "lanesum_files{root=\"tree\",class=\"new\"} 1",
        "lanesum_bytes{root=\"tree\"} 24",
        "lanesum_overdue_files{root=\"tree\"} 0",
        "lanesum_offline{root=\"tree\"} 0",
        "lanesum_attention{root=\"tree\"} 3",
    ] {
        assert!(metrics.contains(&format!("{series}\n")), "{series}: {metrics}");
    }
    for name in ["lanesum_oldest_verification_seconds", "lanesum_last_run_seconds"] {
        assert!(metrics.contains(&format!("# TYPE {name} gauge\n{name}{{")), "{metrics}");
    }
    let mode = fs::metadata(folder.path("m.prom")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644);
    assert_eq!(folder.names(), ["m.prom", "state", "tree"], "no temporary file is left");
    ends(&folder, "status --prometheus nowhere/m.prom", 2);
}

#[test]
fn report_is_a_mail_with_what_to_do() {
    let folder = Folder::new();
    write_old(&folder, &["tree/a", "tree/b"]);
    folder.write("tree/copy", "tree/b");
    ends(&folder, "add tree", 0);
    damage(&folder, "tree/a", "TREE/A");
    fs::remove_file(folder.path("tree/b")).unwrap();
    ends(&folder, "verify", 1);
    let words = told(&folder, "report", 1);
    let lines: Vec<_> = words.lines().collect();
    assert_eq!(lines[..2], ["lanesum: 1 damaged, 1 missing - tree", ""], "{words}");
    let damaged =
        words.find("\ndamaged  tree/a (rewritten, time unchanged)\n  recorded: 6 bytes, ").unwrap();
    let missing = words.find("\nmissing  tree/b\n").unwrap();
    assert!(damaged < missing, "{words}");
    for fact in [
        format!(", md5 {}\n", md5("tree/a")),
        format!(", md5 {}\n", md5("TREE/A")),
        "  same content: tree/copy\n".to_owned(),
        "  restore it from a backup, then: lanesum verify tree/a\n".to_owned(),
        "  if it is right as it is: lanesum accept tree/a\n".to_owned(),
    ] {
        assert!(words.contains(&fact), "{fact}: {words}");
    }
}

#[test]
fn moved_copy_of_a_missing_file_is_no_problem() {
    let folder = cataloged(&["a", "b"]);
    fs::rename(folder.path("tree/a"), folder.path("tree/moved")).unwrap();
    ends(&folder, "scan", 0);
    let words = told(&folder, "status", 0);
    assert!(words.starts_with("1 moved; 1 ok\n") && words.ends_with("lanesum update tree\n"));
    assert!(told(&folder, "report", 0).starts_with("lanesum: 1 moved - tree\n"));
    assert_eq!(told(&folder, "report -q", 0), "");
}

#[test]
fn csv_report_lists_every_file_with_its_digest() {
    let folder = troubled();
    let csv =
        shown(&folder, &ends(&folder, "report --csv --since 7d", 1).stdout).replace("\\r", "");
    let lines: Vec<_> = csv.lines().collect();
    let version = env!("CARGO_PKG_VERSION");
    assert!(lines[0].starts_with(&format!("# lanesum {version} fixity report of ")), "{csv}");
    assert!(lines[1].starts_with("# period 20") && lines[1].ends_with('Z'), "{csv}");
    assert!(lines[2].starts_with("# root tree: md5; 4 files, 24 bytes; "), "{csv}");
    let header = "root,path,class,reason,size,modified,verified,since,moved_to,error,md5";
    assert_eq!(lines[3], header);
    assert!(lines[4].starts_with("tree,tree/a,damaged,rewritten,6,20"), "{csv}");
    assert!(lines[4].ends_with(&md5("tree/a")), "{csv}");
    assert_eq!(lines.len(), 9, "{csv}");
    let bad = shown(&folder, &ends(&folder, "report --csv --bad", 1).stdout);
    assert_eq!(bad.matches(",ok,").count() + bad.matches(",new,").count(), 0, "{bad}");
}

#[test]
fn json_report_has_the_report_the_roots_and_the_files() {
    let folder = troubled();
    let objects = objects(&folder, "report --json", 1);
    let events: Vec<_> = objects.iter().map(|it| it["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["report", "root", "file", "file", "file", "file", "file"]);
    assert_eq!(objects[0]["version"], env!("CARGO_PKG_VERSION"));
    assert!(objects[0]["host"].is_string() && objects[0]["from"].is_string());
    assert_eq!(objects[1]["standing"]["damaged"], 1);
    let damaged = objects.iter().find(|it| it["class"] == "damaged").unwrap();
    assert_eq!(damaged["recorded"]["digests"]["md5"], md5("tree/a"));
    assert_eq!(damaged["found"]["digests"]["md5"], md5("TREE/A"));
    assert!(damaged["verified"].as_str().unwrap().ends_with('Z'), "{damaged}");
}

#[test]
fn html_report_is_one_page_that_runs_nothing() {
    let folder = cataloged(&["<script>alert(1)</script>", "b"]);
    let page = text(&ends(&folder, "report --html", 0).stdout);
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</body></html>\n"), "{page}");
    assert!(page.contains("default-src \\'none\\'") || page.contains("default-src 'none'"));
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{page}");
    for loaded in ["<script", "://", "src=", "href="] {
        assert!(!page.contains(loaded), "{loaded}: {page}");
    }
    assert!(page.contains(&md5("tree/b")) && page.contains("2 files ok"), "{page}");
}

#[test]
fn unreadable_catalog_directory_of_reports_is_an_error() {
    let folder = cataloged(&["a"]);
    set_mode(&folder, "state", 0);
    let ran = limited(|| run(&folder, "report"));
    set_mode(&folder, "state", 0o700);
    assert_eq!(ran.status.code(), Some(2), "{ran:?}");
    assert!(text(&ran.stderr).contains("catalog.db: Permission denied\n"), "{ran:?}");
}

#[test]
fn status_says_that_a_run_is_at_work() {
    let folder = Folder::new();
    folder.write("tree/a", vec![1; 3_000_000]);
    ends(&folder, "add --limit 1k --every 100y tree", 0);
    let running = start(&mut command(&folder, "scrub --percent 100"));
    let status = loop {
        let status: Value = objects(&folder, "status --json", 0).remove(0);
        if status["running"] == true {
            break status;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let words = told(&folder, "status", 0);
    running.signal(Signal::TERM);
    running.finish();
    assert!(status["last_run"]["ended"].is_null(), "{status}");
    assert!(words.contains("tree: scrub is running since "), "{words}");
}

#[test]
fn quiet_status_leaves_out_a_pause_as_its_help_says() {
    let folder = cataloged(&["a"]);
    ends(&folder, "pause", 0);
    assert!(told(&folder, "status", 0).starts_with("1 directory paused; 1 ok\n"));
    for command in ["status", "report"] {
        assert_eq!(told(&folder, &format!("{command} --quiet"), 0), "");
        let help = text(&ends(&folder, &format!("help {command}"), 0).stdout);
        let help: Vec<_> = help.split_whitespace().collect();
        assert!(
            help.join(" ").contains("Paused directories and edited, moved or new files do not")
        );
    }
}
