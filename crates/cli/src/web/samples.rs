//! Pages of invented folders, for tests. With `LANESUM_PAGES=DIR` they are written there, to be
//! looked at in a browser.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use jiff::tz::TimeZone;
use lanesum_catalog::{
    Attention, Class, Content, Outcome, Profile, Reason, Settings, Steering, Verb,
};
use lanesum_list::{Algorithm, Digest};

use crate::web::daemon::Reading;
use crate::web::front;
use crate::web::runs::Runs;
use crate::web::view::{Away, Context, File, Folder, Lists, Past};
use crate::web::words::DAY;

/// 2026-11-24 21:03:00 UTC.
const NOW: i64 = 1_795_554_180;

pub fn context() -> Context {
    Context {
        catalog: "/var/lib/lanesum/catalog.db".into(),
        host: "nas01".to_owned(),
        token: "0123".to_owned(),
        now: NOW,
        zone: TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap(),
    }
}

/// An archive of 6,549 files that are all `ok`.
pub fn folder(id: i64, path: &str) -> Folder {
    let mut by_age = [0; 31];
    (by_age[2], by_age[12], by_age[24]) = (3000, 2549, 1000);
    Folder {
        id,
        path: path.into(),
        files: 6549,
        bytes: 412_345_678_901,
        settings: Settings::default(),
        steering: Steering::default(),
        attention: Attention::Nothing,
        is_complete: true,
        offline: None,
        counts: BTreeMap::from([(Class::Ok, 6549)]),
        io_errors: 0,
        unknown: 0,
        by_age,
        oldest: Some(NOW - 71 * DAY),
        overdue: 0,
        due: 0,
        next_due: Some(NOW + DAY / 2),
        last: Some(past(id, Verb::Scrub, Outcome::Complete, &[(Class::Ok, 120)])),
        is_running: false,
        partly_read: None,
    }
}

/// Lets a folder have so many files of classes other than `ok`.
pub fn count(folder: &mut Folder, attention: Attention, counts: &[(Class, u64)]) {
    for (class, number) in counts {
        folder.counts.insert(*class, *number);
        if *class != Class::New {
            *folder.counts.get_mut(&Class::Ok).unwrap() -= number;
        }
    }
    folder.attention = folder.attention.max(attention);
}

fn with(mut folder: Folder, attention: Attention, counts: &[(Class, u64)]) -> Folder {
    count(&mut folder, attention, counts);
    folder
}

pub fn away() -> Away {
    Away { reason: Reason::Missing, since: NOW - 3 * DAY, missing: 0 }
}

fn past(root: i64, verb: Verb, outcome: Outcome, counts: &[(Class, u64)]) -> Past {
    let counts = counts.iter().copied().collect();
    let (started, files, bytes) = (NOW - 19 * 3600, 120, 7_654_321_000);
    Past { root, verb, started, outcome, counts, files, bytes }
}

pub fn file(root: &Folder, class: Class, reason: Option<Reason>, name: &str) -> File {
    let content = |byte| Content {
        size: 4_312_345,
        modified: 1_500_000_000_000_000_000,
        digests: Digest::new(Algorithm::Md5, &[byte; 16]).unwrap().into(),
    };
    let id = (class != Class::New).then_some(name.len() as i64 * 100 + root.id);
    let is_found = matches!(class, Class::Damaged | Class::Edited);
    File {
        id,
        class,
        reason,
        path: root.path.join(name),
        name: name.as_bytes().to_vec(),
        since: NOW - 19 * 3600,
        verified: NOW - 30 * DAY,
        recorded: id.map(|_| content(0x5a)),
        found: is_found.then(|| content(0xc3)),
        error: None,
        moved_to: None,
        files: 1,
    }
}

fn lists(root: &Folder, files: &[(Class, Option<Reason>, &str)]) -> Lists {
    let mut lists = Lists::default();
    for (class, reason, name) in files {
        lists.add(root.id, file(root, *class, *reason, name));
    }
    lists
}

/// A page with its name.
pub struct Sample {
    pub name: &'static str,
    pub page: String,
}

fn sample(name: &'static str, folders: &[Folder], lists: &Lists) -> Sample {
    let mut runs = Runs::default();
    for folder in folders {
        if folder.attention == Attention::Problem {
            let damaged = folder.count(Class::Damaged);
            let counts = [(Class::Ok, 118), (Class::Damaged, damaged), (Class::Edited, 3)];
            runs.add(past(folder.id, Verb::Scrub, Outcome::Complete, &counts), Profile::Archive);
        }
        for _ in 0..12 {
            runs.add(
                past(folder.id, Verb::Scrub, Outcome::Complete, &[(Class::Ok, 120)]),
                Profile::Archive,
            );
        }
    }
    let reading = (name == "reading").then(|| Reading {
        root: "/srv/photos".into(),
        of_files: 120,
        of_bytes: 7_654_321_000,
        files: 31,
        bytes: 2_123_456_789,
        rate: 180_000_000,
        left: Some(Duration::from_secs(31)),
    });
    Sample { name, page: front::whole(&context(), folders, lists, &runs, reading.as_ref()) }
}

const DAMAGED: [(Class, Option<Reason>, &str); 6] = [
    (Class::Damaged, Some(Reason::Content), "2019/08 Iceland/DSC_0412.NEF"),
    (Class::Damaged, Some(Reason::Content), "2019/08 Iceland/DSC_0413.NEF"),
    (Class::Damaged, Some(Reason::Truncated), "2019/08 Iceland/panorama of the long beach.tif"),
    (Class::Damaged, Some(Reason::Rewritten), "2020/catalogue.lrcat"),
    (Class::Damaged, Some(Reason::Replaced), "2021/12 Christmas/IMG_0001.JPG"),
    (Class::Damaged, Some(Reason::Unstable), "2021/12 Christmas/movie with everybody.mov"),
];

pub fn six_damaged() -> Sample {
    let photos = with(folder(1, "/srv/photos"), Attention::Problem, &[(Class::Damaged, 6)]);
    let files = lists(&photos, &DAMAGED);
    sample("damaged", &[photos, folder(2, "/srv/music")], &files)
}

pub fn all() -> Vec<Sample> {
    let photos = || folder(1, "/srv/photos");
    let none = Lists::default();
    let missing = with(photos(), Attention::Problem, &[(Class::Missing, 1), (Class::Damaged, 2)]);
    let missing_files =
        [(Class::Missing, None, "2019/08 Iceland/DSC_0499.NEF"), DAMAGED[0], DAMAGED[2]];
    let missing_files = lists(&missing, &missing_files);
    let mut home = folder(2, "/home/anna");
    home.settings.profile = Profile::Working;
    let counts = [(Class::Edited, 2), (Class::New, 1), (Class::Moved, 1), (Class::Missing, 1)];
    let home = with(home, Attention::Changes, &counts);
    let mut changed = lists(
        &home,
        &[
            (Class::Edited, None, "letters/2026-11-20.odt"),
            (Class::Edited, Some(Reason::Older), "notes.md"),
            (Class::New, None, "letters/2026-11-23.odt"),
            (Class::Missing, None, "old.txt"),
        ],
    );
    let mut moved = file(&home, Class::Moved, None, "inbox/scan.pdf");
    moved.moved_to = Some("/home/anna/papers/tax 2026/scan.pdf".into());
    changed.add(home.id, moved);
    let mut offline = with(photos(), Attention::Incomplete, &[]);
    offline.offline = Some(away());
    let mut unfinished = with(photos(), Attention::Incomplete, &[]);
    unfinished.is_complete = false;
    let mut overdue = with(photos(), Attention::Incomplete, &[]);
    (overdue.overdue, overdue.due, overdue.by_age[30]) = (52, 80, 80);
    overdue.by_age[2] -= 80;
    overdue.oldest = Some(NOW - 140 * DAY);
    let mut reading = photos();
    reading.is_running = true;
    reading.settings.rate = Some(180_000_000);
    let mut unchecked = with(photos(), Attention::Problem, &[(Class::Unchecked, 2)]);
    unchecked.io_errors = 1;
    let mut failing = file(&unchecked, Class::Unchecked, Some(Reason::IoError), "a/bad sector.iso");
    failing.error = Some("Input/output error (os error 5)".to_owned());
    let mut unread = lists(&unchecked, &[(Class::Unchecked, Some(Reason::Busy), "mail/inbox")]);
    unread.add(unchecked.id, failing);
    let mut paused = photos();
    paused.steering.paused = Some(NOW - DAY);
    vec![
        sample("ok", &[photos(), folder(2, "/srv/music")], &none),
        six_damaged(),
        sample("missing", &[missing, folder(2, "/srv/music")], &missing_files),
        sample("changes", &[photos(), home], &changed),
        sample("offline", &[offline, folder(2, "/srv/music")], &none),
        sample("unfinished", &[unfinished], &none),
        sample("overdue", &[overdue], &none),
        sample("reading", &[reading, folder(2, "/srv/music")], &none),
        sample("unchecked", &[unchecked], &unread),
        sample("paused", &[paused], &none),
        sample("empty", &[], &none),
    ]
}

fn page(name: &str) -> String {
    all().into_iter().find(|sample| sample.name == name).expect(name).page
}

/// A part of a page from its beginning to its end.
fn part<'page>(page: &'page str, begin: &str, end: &str) -> &'page str {
    let (_, rest) = page.split_once(begin).expect(begin);
    rest.split_once(end).expect(end).0
}

#[test]
fn each_damaged_file_has_one_row_and_commands_come_once() {
    let page = page("damaged");
    let attention = part(&page, "<section id=\"attention\"", "</section>");
    assert_eq!(attention.matches("<details id=\"file-").count(), 6);
    assert_eq!(attention.matches("/srv/photos</bdi>").count(), 1, "the heading");
    assert_eq!(attention.matches(">lanesum update ").count(), 1);
    assert_eq!(
        attention.matches("accept --catalog /var/lib/lanesum/catalog.db -- PATH").count(),
        1
    );
    assert!(!attention.contains("forget"), "{attention}");
    assert!(!attention.contains("<details open"), "details are folded");
}

#[test]
fn times_are_local() {
    let page = page("ok");
    assert!(page.contains(">2026-11-24 22:03 +01:00</time>"), "{page}");
    assert!(page.contains("datetime=\"2026-11-24T21:03:00Z\""), "{page}");
}

#[test]
fn sections_without_content_are_hidden() {
    let page = page("ok");
    for id in ["reading", "attention", "changes"] {
        let tag = part(&page, &format!("<section id=\"{id}\""), ">");
        assert!(tag.contains(" hidden"), "{id}: {tag}");
    }
    assert_eq!(page.matches("<details open").count(), 0);
    assert!(page.contains("24 runs without problems") && page.contains("No run found problems."));
}

#[test]
fn an_offline_folder_has_no_coloured_bar() {
    let page = page("offline");
    let folder = part(&page, "id=\"folder-1\"", "</article>");
    assert!(folder.contains("class=\"ages off\"") && folder.contains("Last known:"), "{folder}");
    assert!(page.contains("Connect the disk."), "{page}");
}

#[test]
fn changes_are_apart_from_problems() {
    let page = page("changes");
    let changes = part(&page, "<section id=\"changes\"", "</section>");
    assert!(changes.contains("/home/anna</bdi>: 2 edited, 1 new, 1 moved, 1 missing"), "{changes}");
    assert!(changes.contains("to /home/anna/papers/tax 2026/scan.pdf"), "{changes}");
    assert!(page.contains("<section id=\"attention\" data-live hidden"), "{page}");
}

#[test]
fn an_error_of_the_disk_is_shown_with_its_text() {
    let page = page("unchecked");
    assert!(page.contains("Input/output error (os error 5)"), "{page}");
    assert!(page.contains("1 unreadable, 1 unchecked; 6,547 ok"), "{page}");
}

#[test]
fn samples_are_written_where_they_are_asked_for() {
    let Some(directory) = std::env::var_os("LANESUM_PAGES") else { return };
    for Sample { name, page } in all() {
        let page = page.replace("\"/style.css\"", "\"style.css\"");
        let page = page.replace("\"/script.js\"", "\"script.js\"");
        std::fs::write(Path::new(&directory).join(name).with_extension("html"), page).unwrap();
    }
}
