//! Lists against files: what is told, and in which order.

use std::fs;
use std::iter;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use lanesum_checksum::check::{Event, List, Options, Recognition, Verdict, check, files};
use lanesum_checksum::{Algorithm, engine};
use lanesum_list::Dialect;

const MD5_ABC: &str = "900150983cd24fb0d6963f7d28e17f72";
const MD5_EMPTY: &str = "d41d8cd98f00b204e9800998ecf8427e";
const SHA256_ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

/// A directory with the files `abc` and `empty`, and options that look names up in it.
fn setting() -> (tempfile::TempDir, Options) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("abc"), "abc").unwrap();
    fs::write(folder.path().join("empty"), "").unwrap();
    let mut options = Options::default();
    options.root = Some(folder.path().to_owned());
    options.engine.threads = 2;
    (folder, options)
}

fn write_list(folder: &Path, name: &str, text: impl AsRef<[u8]>) -> List {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    List::Path(path)
}

/// One line for each event, after the list's file name.
fn events(lists: impl IntoIterator<Item = List>, options: &Options) -> Vec<String> {
    let mut events = Vec::new();
    let lists: Vec<_> = lists.into_iter().collect();
    for (list, event) in check(lists.into_iter(), options) {
        events.push(format!("{}: {}", list_name(&list), told(&event)));
    }
    events
}

fn list_name(list: &List) -> String {
    match list {
        List::Stdin => "-".into(),
        List::Path(path) => path.file_name().unwrap().to_string_lossy().into_owned(),
    }
}

fn told(event: &Event) -> String {
    match event {
        Event::Malformed { line } => format!("line {line} is malformed"),
        Event::Wrong { line, why } => format!("line {line}: {why}"),
        Event::StandardInput => "standard input follows".to_owned(),
        Event::PartSize { part_size } => format!("parts of {part_size}"),
        Event::NotEncoded { name } => format!("{} is not encoded", name.escape_ascii()),
        Event::Unknown { line, algorithm } => format!("line {line} is of {algorithm}"),
        Event::Checked { name, verdict, .. } => {
            let name = name.escape_ascii();
            match verdict {
                Verdict::Match => format!("{name} is well"),
                Verdict::Mismatch => format!("{name} differs"),
                Verdict::OtherSize { listed, found } => {
                    format!("{name} has {found} bytes, not {listed}")
                }
                Verdict::Unproven => format!("{name} has its size"),
                Verdict::Missing => format!("{name} is missing"),
                Verdict::OtherParts { tried } => format!("{name} is of none of {tried} part sizes"),
                Verdict::Unreadable(error) => format!("{name}: {error}"),
            }
        }
        Event::End { tally, error: None } => format!(
            "{} entries, {} well, {} malformed, {} bytes",
            tally.entries(),
            tally.matched,
            tally.malformed,
            tally.bytes
        ),
        Event::End { error: Some(error), .. } => error.to_string(),
    }
}

#[test]
fn events_come_in_the_order_of_the_lines() {
    let (folder, options) = setting();
    let text = format!(
        "bad\n{MD5_ABC}  abc\n# comment\n\nbad\nbad\n{MD5_ABC}  empty\n{MD5_EMPTY}  gone\nbad\n"
    );
    let list = write_list(folder.path(), "list", text);
    assert_eq!(
        events([list], &options),
        [
            "list: line 1 is malformed",
            "list: abc is well",
            "list: line 5 is malformed",
            "list: line 6 is malformed",
            "list: empty differs",
            "list: gone: No such file or directory",
            "list: line 9 is malformed",
            "list: 3 entries, 1 well, 4 malformed, 3 bytes",
        ]
    );
}

/// Also where the engine is told to give outcomes as they come: a long file is behind short ones.
#[test]
fn a_list_ends_after_its_lines() {
    let (folder, mut options) = setting();
    options.engine.delivery = engine::Delivery::AsTheyCome;
    fs::write(folder.path().join("long"), vec![0; 32 << 20]).unwrap();
    let text = format!("{MD5_ABC}  long\n{MD5_ABC}  abc\n{MD5_EMPTY}  empty\n");
    let list = write_list(folder.path(), "list", text);
    assert_eq!(
        events([list], &options),
        [
            "list: long differs",
            "list: abc is well",
            "list: empty is well",
            "list: 3 entries, 2 well, 0 malformed, 33554435 bytes",
        ]
    );
}

#[test]
fn every_list_ends_even_after_errors() {
    let (folder, mut options) = setting();
    let good = write_list(folder.path(), "good", format!("{MD5_ABC}  abc\n"));
    let empty = write_list(folder.path(), "nothing", "");
    let gone = List::Path(folder.path().join("gone"));
    fs::create_dir(folder.path().join("folder")).unwrap();
    let directory = List::Path(folder.path().join("folder"));
    let lists = [good.clone(), gone, empty, directory, good];
    for recognition in [Recognition::Examined, Recognition::Gnu] {
        options.recognition = recognition;
        assert_eq!(
            events(lists.clone(), &options),
            [
                "good: abc is well",
                "good: 1 entries, 1 well, 0 malformed, 3 bytes",
                "gone: No such file or directory",
                "nothing: 0 entries, 0 well, 0 malformed, 0 bytes",
                "folder: read error: Is a directory",
                "good: abc is well",
                "good: 1 entries, 1 well, 0 malformed, 3 bytes",
            ]
        );
    }
}

#[test]
fn names_are_looked_up_under_the_root() {
    let (folder, options) = setting();
    fs::create_dir(folder.path().join("sub")).unwrap();
    fs::write(folder.path().join("sub/x"), "abc").unwrap();
    fs::write(folder.path().join("-"), "abc").unwrap();
    let text = ["sub/x", "/sub/x", "./sub/x", "//abc", "-", "sub"]
        .map(|name| format!("{MD5_ABC}  {name}\n"))
        .concat();
    let list = write_list(folder.path(), "list", text);
    assert_eq!(
        events([list], &options),
        [
            "list: sub/x is well",
            "list: /sub/x is well",
            "list: ./sub/x is well",
            "list: //abc is well",
            "list: - is well",
            "list: sub: Is a directory",
            "list: 6 entries, 5 well, 0 malformed, 15 bytes",
        ]
    );
}

#[test]
fn only_missing_files_are_ignored_as_missing() {
    let (folder, options) = setting();
    let mut options = options;
    options.ignore_missing = true;
    let text = format!("{MD5_ABC}  gone\n{MD5_ABC}  abc/below\n{MD5_ABC}  abc\n");
    let list = write_list(folder.path(), "list", text);
    assert_eq!(
        events([list], &options),
        [
            "list: gone is missing",
            "list: abc/below: Not a directory",
            "list: abc is well",
            "list: 3 entries, 1 well, 0 malformed, 3 bytes",
        ]
    );
}

#[test]
fn a_list_may_mix_algorithms_and_names_may_be_any_bytes() {
    let (folder, options) = setting();
    fs::write(folder.path().join("a\nb"), "abc").unwrap();
    let text = format!(
        "SHA256 (abc) = {SHA256_ABC}\n{MD5_ABC}  abc\n\\{SHA256_ABC}  a\\nb\nMD5 (abc) = {MD5_EMPTY}\n"
    );
    let list = write_list(folder.path(), "list", text);
    assert_eq!(
        events([list], &options),
        [
            "list: abc is well",
            "list: abc is well",
            r"list: a\nb is well",
            "list: abc differs",
            "list: 4 entries, 3 well, 0 malformed, 6 bytes",
        ]
    );
}

#[test]
fn consecutive_lines_of_one_file_share_a_read() {
    let (folder, mut options) = setting();
    let text = format!(
        "{MD5_ABC}  abc\nSHA256 (abc) = {SHA256_ABC}\n# comment\nMD5 (abc) = {MD5_EMPTY}\n\
         {MD5_EMPTY}  empty\n{MD5_ABC}  abc\n"
    );
    let list = write_list(folder.path(), "list", text);
    // The last line stands apart, and takes what the first ones read.
    for (recognition, files, bytes, of_list) in
        [(Recognition::Examined, 2, 3, 3), (Recognition::Gnu, 5, 12, 6)]
    {
        let progress = Arc::new(engine::Progress::default());
        options.engine.progress = Some(Arc::clone(&progress));
        options.recognition = recognition;
        assert_eq!(
            events([list.clone()], &options),
            [
                "list: abc is well",
                "list: abc is well",
                "list: abc differs",
                "list: empty is well",
                "list: abc is well",
                &format!("list: 5 entries, 4 well, 0 malformed, {of_list} bytes"),
            ]
        );
        assert_eq!(progress.files.load(Relaxed), files, "{recognition:?}");
        assert_eq!(progress.bytes.load(Relaxed), bytes, "{recognition:?}");
    }
    let gone = List::Path(folder.path().join("gone"));
    options.recognition = Recognition::Examined;
    let files: Vec<_> = files([gone, list.clone(), list].into_iter(), &options).collect();
    assert_eq!(files, ["abc", "empty"].map(|name| folder.path().join(name)));
}

/// As MD5SUMS and SHA256SUMS beside each other, and as both in one list.
#[test]
fn lines_far_apart_share_a_read() {
    let (folder, mut options) = setting();
    options.ignore_missing = true;
    let md5 = format!("{MD5_ABC}  abc\n{MD5_ABC}  gone\n{MD5_ABC}  empty\n{MD5_ABC}  abc\n");
    // Neither in the same order nor about the same files.
    let sha256 =
        format!("{SHA256_ABC}  gone\n{SHA256_ABC}  new\n{SHA256_ABC}  abc\n{SHA256_ABC}  empty\n");
    fs::write(folder.path().join("new"), "abc").unwrap();
    let lists =
        [write_list(folder.path(), "md5", &md5), write_list(folder.path(), "sha256", &sha256)];
    let progress = || {
        let progress = Arc::new(engine::Progress::default());
        let mut engine = engine::Options::default();
        engine.progress = Some(Arc::clone(&progress));
        (progress, engine)
    };

    let (read, engine) = progress();
    options.engine = engine;
    assert_eq!(
        events(lists.clone(), &options),
        [
            "md5: abc is well",
            "md5: gone is missing",
            "md5: empty differs",
            "md5: abc is well",
            "md5: 4 entries, 2 well, 0 malformed, 3 bytes",
            "sha256: gone is missing",
            "sha256: new is well",
            "sha256: abc is well",
            "sha256: empty differs",
            "sha256: 4 entries, 2 well, 0 malformed, 3 bytes",
        ]
    );
    assert_eq!((read.files.load(Relaxed), read.bytes.load(Relaxed)), (4, 6));
    let names = ["abc", "gone", "empty", "new"].map(|name| folder.path().join(name));
    assert_eq!(files(lists.into_iter(), &options).collect::<Vec<_>>(), names);

    let (read, engine) = progress();
    options.engine = engine;
    let both = write_list(folder.path(), "both", [md5, sha256].concat());
    let all = events([both], &options);
    assert_eq!(all.last().unwrap(), "both: 8 entries, 4 well, 0 malformed, 6 bytes");
    assert_eq!((read.files.load(Relaxed), read.bytes.load(Relaxed)), (4, 6));
}

/// What was found in the lists beforehand is a plan: the check goes by what they say now.
#[test]
fn a_list_changed_after_the_count_is_checked_as_it_is() {
    let (folder, options) = setting();
    let before = [format!("{MD5_ABC}  abc\n{MD5_EMPTY}  empty\n"), format!("{SHA256_ABC}  abc\n")];
    let sha1 = "a9993e364706816aba3e25717850c26c9cd0d89d";
    let after = [
        format!("{MD5_ABC}  abc\n{MD5_ABC}  abc\n{MD5_ABC}  empty\n"),
        format!("{sha1}  abc\n{MD5_ABC}  abc\n# \n{SHA256_ABC}  abc\n# \n{SHA256_ABC}  empty\n"),
    ];
    let path = folder.path().to_owned();
    let write = move |texts: &[String; 2]| {
        [("a", &texts[0]), ("b", &texts[1])].map(|(name, text)| write_list(&path, name, text))
    };
    let looks = Arc::new(AtomicUsize::new(0));
    let mut told = Vec::new();
    let seen = Arc::clone(&looks);
    let lists = write(&before).into_iter().inspect(move |_| {
        // Both were given once for the plan.
        if seen.fetch_add(1, Relaxed) == 2 {
            write(&after);
        }
    });
    for (list, event) in check(lists, &options) {
        told.push(format!("{}: {}", list_name(&list), self::told(&event)));
    }
    assert!(looks.load(Relaxed) > 2, "the plan took the lists");
    assert_eq!(
        told,
        [
            "a: abc is well",
            "a: abc is well",
            "a: empty differs",
            "a: 3 entries, 2 well, 0 malformed, 3 bytes",
            "b: abc is well",
            "b: abc is well",
            "b: abc is well",
            "b: empty differs",
            "b: 4 entries, 3 well, 0 malformed, 3 bytes",
        ]
    );
}

#[test]
fn binary_lists_are_reported_except_in_gnu_mode() {
    let (folder, mut options) = setting();
    let line = format!("{MD5_ABC}  abc\r\n");
    let utf16: Vec<u8> = line.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let lists = [
        write_list(folder.path(), "utf16", [&b"\xff\xfe"[..], &utf16].concat()),
        write_list(folder.path(), "marked", format!("\u{feff}{line}")),
    ];
    let examined = events(lists.clone(), &options);
    assert!(examined[0].starts_with("utf16: looks like UTF-16"), "{examined:?}");
    assert_eq!(
        examined[1..],
        ["marked: abc is well", "marked: 1 entries, 1 well, 0 malformed, 3 bytes"]
    );
    options.recognition = Recognition::Gnu;
    options.dialect = Dialect::only(Algorithm::Md5);
    assert_eq!(
        events(lists, &options),
        [
            "utf16: line 1 is malformed",
            "utf16: line 2 is malformed",
            "utf16: 0 entries, 0 well, 2 malformed, 0 bytes",
            "marked: line 1 is malformed",
            "marked: 0 entries, 0 well, 1 malformed, 0 bytes",
        ]
    );
}

#[test]
fn each_list_has_its_own_form_except_in_gnu_mode() {
    let (folder, options) = setting();
    let lists = [
        write_list(folder.path(), "standard", format!("{MD5_ABC}  abc\n")),
        write_list(folder.path(), "reversed", format!("{MD5_ABC} abc\n")),
    ];
    let reversed = |recognition| {
        let mut options = options.clone();
        options.recognition = recognition;
        events(lists.clone(), &options).split_off(2)
    };
    assert_eq!(
        reversed(Recognition::Examined),
        ["reversed: abc is well", "reversed: 1 entries, 1 well, 0 malformed, 3 bytes"]
    );
    assert_eq!(
        reversed(Recognition::Gnu),
        ["reversed: line 1 is malformed", "reversed: 0 entries, 0 well, 1 malformed, 0 bytes"]
    );
}

#[test]
fn lists_are_opened_as_needed() {
    let (folder, options) = setting();
    let list = write_list(folder.path(), "list", format!("{MD5_ABC}  abc\n"));
    let mut ends = 0;
    for (_, event) in check(iter::repeat(list), &options) {
        ends += usize::from(matches!(event, Event::End { .. }));
        if ends == 1000 {
            break;
        }
    }
    assert_eq!(ends, 1000);
}

#[test]
fn a_long_list_stays_in_order() {
    let (folder, options) = setting();
    let lines = 20_000_u32;
    let text: String = (0..lines)
        .map(|line| match line % 3 {
            0 => format!("{MD5_ABC}  abc\n"),
            1 => format!("{MD5_EMPTY}  empty\n"),
            _ => "bad\n".to_owned(),
        })
        .collect();
    let list = write_list(folder.path(), "list", text);
    let mut next = 0;
    for (_, event) in check([list].into_iter(), &options) {
        match (next % 3, &event) {
            _ if next == lines => assert!(matches!(event, Event::End { .. }), "{event:?}"),
            (0, Event::Checked { name, verdict: Verdict::Match, .. }) => assert_eq!(name, b"abc"),
            (1, Event::Checked { name, verdict: Verdict::Match, .. }) => assert_eq!(name, b"empty"),
            (2, Event::Malformed { line }) => assert_eq!(*line, u64::from(next) + 1),
            _ => panic!("line {next}: {event:?}"),
        }
        next += 1;
    }
    assert_eq!(next, lines + 1);
}
