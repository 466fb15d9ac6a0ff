//! Runs that go on where one before was interrupted.

use std::os::unix::process::ExitStatusExt as _;

use super::*;
use signals::MORE_THAN_A_PIPE;

/// Files that changed last before any test began: what changed later is not kept.
const OLD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");

/// The list that an undisturbed run writes.
fn whole(folder: &Folder, args: &str) -> String {
    expect(&folder.run(&format!("{args} -o whole {OLD} fifo")), 0, "", "");
    folder.read("whole")
}

/// Starts a run that has hashed the old files, and waits for the FIFO.
fn at_the_fifo(folder: &Folder, args: &str) -> (Running, File) {
    let words = format!("--default-signal {PROGRAM} {args} -o list {OLD} fifo");
    let running = start(folder.command("env").args(words.split_whitespace()));
    let mut fifo = folder.writer("fifo");
    fifo.write_all(&[0; MORE_THAN_A_PIPE]).unwrap();
    (running, fifo)
}

/// How many files the journal of the list holds, by what a run without `--resume` would drop.
#[track_caller]
fn kept(words: &str) -> u64 {
    let count = words.split(" records ").nth(1).and_then(|words| words.split(' ').next());
    count.unwrap_or_else(|| panic!("{words}")).replace(',', "").parse().unwrap()
}

#[test]
fn interrupted_list_is_continued() {
    let folder = Folder::new();
    folder.fifo("fifo");
    for args in ["", "--format csv -a sha256,md5"] {
        let feed = || {
            std::thread::spawn({
                let path = folder.path("fifo");
                move || fs::write(path, "abc")
            })
        };
        let fed = feed();
        let expected = whole(&folder, args);
        fed.join().unwrap().unwrap();

        let (running, fifo) = at_the_fifo(&folder, args);
        running.signal(Signal::INT);
        let output = running.finish();
        drop(fifo);
        assert_eq!(output.status.signal(), Some(Signal::INT.as_raw()));
        let words = text(&output.stderr);
        let files = expected.lines().count() as u64 - 1 - u64::from(args.contains("csv"));
        assert_eq!(kept(&words), files, "{words}");
        assert!(words.ends_with("\nhint: --resume continues from there\n"), "{words}");
        assert_eq!(folder.names(), ["fifo", "list.partial", "whole"]);

        let fed = feed();
        let output = folder.run(&format!("{args} --resume -o list {OLD} fifo"));
        fed.join().unwrap().unwrap();
        let words = format!(
            "lanesum: list.partial: {files} files are unchanged and were not read again; \
             last written at 20"
        );
        assert!(text(&output.stderr).starts_with(&words), "{}", text(&output.stderr));
        assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
        assert_eq!(folder.read("list"), expected);
        assert_eq!(folder.names(), ["fifo", "list", "whole"], "nobody needs list.partial any more");
        fs::remove_file(folder.path("list")).unwrap();
    }
}

#[test]
fn killed_list_is_continued() {
    let folder = Folder::new();
    folder.fifo("fifo");
    let (running, fifo) = at_the_fifo(&folder, "");
    // What is kept is written before long, whatever else happens.
    let head = 40;
    while fs::metadata(folder.path("list.partial")).unwrap().len() < head {
        std::thread::yield_now();
    }
    running.signal(Signal::KILL);
    running.finish();
    drop(fifo);
    assert_eq!(folder.names(), [".lanesum-list", "fifo", "list.partial"]);

    fs::remove_file(folder.path("fifo")).unwrap();
    folder.write("fifo", "abc");
    let output = folder.run(&format!("--resume -o list {OLD} fifo"));
    assert!(text(&output.stderr).contains("were not read again"), "{}", text(&output.stderr));
    assert_eq!(output.status.code(), Some(0));
    let list = folder.read("list");
    assert_eq!(list, whole(&folder, ""));
    assert_eq!(folder.names(), ["fifo", "list", "whole"]);
}

#[test]
fn without_resume_everything_is_read_again() {
    let folder = Folder::new();
    folder.fifo("fifo");
    let (running, fifo) = at_the_fifo(&folder, "");
    running.signal(Signal::TERM);
    let files = kept(&text(&running.finish().stderr));
    drop(fifo);
    let told = format!(
        "lanesum: list.partial: records {files} files of a run that wrote no list; this run \
         reads them again\n\
         hint: --resume continues that run\n"
    );
    // Whoever forgot it still has them.
    let running = start(&mut folder.lanesum(["-o", "list", "fifo"]));
    let fifo = folder.writer("fifo");
    running.signal(Signal::TERM);
    let words = text(&running.finish().stderr);
    drop(fifo);
    assert_eq!((words.starts_with(&told), kept(&words[told.len()..])), (true, files), "{words}");
    expect(&folder.run(&format!("-o list {OLD}")), 0, "", told);
    assert_eq!(folder.names(), ["fifo", "list"]);
}

#[test]
fn unused_state_stays() {
    let folder = Folder::of(&["other"]);
    folder.fifo("fifo");
    let (running, fifo) = at_the_fifo(&folder, "");
    running.signal(Signal::TERM);
    let files = kept(&text(&running.finish().stderr));
    drop(fifo);
    for args in ["other".to_owned(), format!("-a sha1 {OLD}")] {
        let output = folder.run(&format!("--resume -o list {args}"));
        let words = format!(
            "lanesum: list.partial: kept, because none of its {files} files was used: changed, or \
             with other names or algorithms\n"
        );
        expect(&output, 0, "", words);
    }
    let output = folder.run(&format!("--resume -o list {OLD}"));
    assert!(text(&output.stderr).contains(" were not read again"), "{}", text(&output.stderr));
    assert_eq!(folder.names(), ["fifo", "list", "other"]);
}

#[test]
fn check_refuses_the_state_of_a_list() {
    let folder = Folder::of(&["a"]);
    folder.fifo("fifo");
    folder.write("sums", lines(&["a"]));
    let (running, fifo) = at_the_fifo(&folder, "");
    running.signal(Signal::TERM);
    running.finish();
    drop(fifo);
    let output = folder.run("check --resume list.partial sums");
    let words = "lanesum: list.partial: exists, but is not the state of an interrupted run\n\
                 hint: choose another name\n";
    expect(&output, 1, "", words);
}

#[test]
fn unwritten_list_keeps_its_state() {
    let folder = Folder::new();
    let args = format!("--resume --all-or-nothing -o list {OLD} missing");
    let output = folder.run(&args);
    assert_eq!(output.status.code(), Some(1));
    let words = text(&output.stderr);
    assert!(words.contains("list.partial: records "), "{words}");
    assert_eq!(folder.names(), ["list.partial"]);
    folder.write("missing", "now it is there");
    let output = folder.run(&args);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(folder.read("list").ends_with(&line("now it is there", "missing")));
    assert_eq!(folder.names(), ["list", "missing"]);
}

#[test]
fn state_of_another_key_is_refused() {
    let folder = Folder::new();
    folder.fifo("fifo");
    folder.write("key", [7; 32]);
    let (running, fifo) = at_the_fifo(&folder, "-a blake3 --key-file key");
    running.signal(Signal::INT);
    running.finish();
    drop(fifo);
    for begin in ["", "--resume"] {
        let output = folder.run(&format!("{begin} -a blake3 -o list {OLD}"));
        let words = "lanesum: list.partial: made with a different key, or without one\n\
                     hint: use the same key, or remove the file to start again\n";
        expect(&output, 1, "", words);
    }
}

#[test]
fn other_file_with_the_name_of_the_state_stays() {
    let folder = Folder::of(&["a"]);
    folder.write("list.partial", "my notes\n");
    let output = folder.run("-o list a");
    let words = "lanesum: list.partial: exists, but is not the state of an interrupted run\n\
         hint: choose another name\n";
    expect(&output, 1, "", words);
    assert_eq!(folder.read("list.partial"), "my notes\n");
    assert_eq!(folder.names(), ["a", "list.partial"]);
}

#[test]
fn state_is_not_in_the_list() {
    let folder = Folder::of(&["a"]);
    expect(&folder.run("-o list ."), 0, "", "");
    assert_eq!(folder.read("list"), line("a", "./a"));
    // Nor is what a killed run left of the list itself.
    folder.write(".lanesum-list", "half a li");
    expect(&folder.run("--resume -o list ."), 0, "", "");
    assert_eq!(folder.read("list"), line("a", "./a"));
    assert_eq!(folder.names(), ["a", "list"]);
}

#[test]
fn two_runs_do_not_write_one_list() {
    let folder = Folder::new();
    folder.fifo("fifo");
    let (running, fifo) = at_the_fifo(&folder, "");
    let output = folder.run(&format!("-o list {OLD}"));
    let words = "lanesum: list.partial: in use by another run\n\
                 hint: wait until that run ends, or choose another name\n";
    expect(&output, 1, "", words);
    drop(fifo);
    assert_eq!(running.finish().status.code(), Some(0));
    assert_eq!(folder.names(), ["fifo", "list"]);
}

#[test]
fn resume_needs_a_file() {
    let folder = Folder::of(&["a"]);
    assert_eq!(folder.run("--resume a").status.code(), Some(2));
    for list in ["-", "/dev/null"] {
        let output = folder.run(&format!("--resume -o {list} a"));
        expect(&output, 2, "", "lanesum: --resume needs a file: --output FILE\n");
    }
}

/// Where nothing can be made beside the list, nothing is kept, and the list is written.
#[test]
fn read_only_directory_keeps_no_state() {
    let folder = Folder::of(&["a", "kept/"]);
    let name = "n".repeat(250);
    expect(&folder.run(&format!("-o {name} a")), 0, "", "");
    assert_eq!(folder.read(&name), line("a", "a"));
    let output = folder.run(&format!("--resume -o {name} a"));
    expect(&output, 1, "", format!("lanesum: {name}.partial: File name too long\n"));
}

/// A check of the old files, of one that is not as its line says, and of a FIFO, which waits.
fn check_at_the_fifo(folder: &Folder) -> (Running, File) {
    let words = format!("--default-signal {PROGRAM} check --quiet --resume state list");
    let running = start(folder.command("env").args(words.split_whitespace()));
    let mut fifo = folder.writer("fifo");
    fifo.write_all(&[0; MORE_THAN_A_PIPE]).unwrap();
    (running, fifo)
}

#[test]
fn interrupted_check_is_continued() {
    let folder = Folder::of(&["bad"]);
    folder.fifo("fifo");
    let old = text(&folder.run(OLD).stdout);
    let files = old.lines().count();
    folder.write("list", format!("{old}{}{}", line("other", "bad"), line("abc", "fifo")));
    let (running, fifo) = check_at_the_fifo(&folder);
    running.signal(Signal::INT);
    let output = running.finish();
    drop(fifo);
    assert_eq!(text(&output.stdout), "bad: FAILED\n");
    assert_eq!(kept(&text(&output.stderr)), files as u64, "what failed is not kept");

    folder.write("bad", "other");
    fs::remove_file(folder.path("fifo")).unwrap();
    // What is not there keeps the state: somebody may forget to mount it.
    let output = folder.run("check --resume state list");
    assert_eq!(output.status.code(), Some(1));
    let words = text(&output.stderr);
    assert!(words.contains("fifo: No such file"), "{words}");
    assert!(words.contains(&format!("2 files and {files} read before")), "{words}");
    assert!(words.contains(&format!("state: records {files} files\nhint: ")), "{words}");

    folder.write("fifo", "abc");
    let output = folder.run("check --resume state list");
    let words = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{words}");
    assert!(
        words.contains(&format!("state: {files} files are unchanged and were not read again")),
        "{words}"
    );
    let names = old.lines().map(|line| line.split_once("  ").unwrap().1).chain(["bad", "fifo"]);
    let expected: String = names.map(|name| format!("{name}: OK\n")).collect();
    assert_eq!(text(&output.stdout), expected);
    assert_eq!(folder.names(), ["bad", "fifo", "list"], "the next check reads everything");
}

/// What the system's cache gave tells nothing of the medium.
#[test]
fn direct_check_continues_only_direct() {
    let folder = Folder::of(&["a"]);
    folder.write("list", text(&folder.run(OLD).stdout) + &line("abc", "gone"));
    let words = "lanesum: state: exists, but is not the state of an interrupted run\n\
                 hint: choose another name\n";
    for (first, other) in [("read", "direct"), ("direct", "read")] {
        let run = folder.run(&format!("check --io {first} --resume state list"));
        assert!(text(&run.stderr).contains("state: records "), "{}", text(&run.stderr));
        let run = folder.run(&format!("check --io {other} --resume state list"));
        expect(&run, 1, "", words);
        let run = folder.run(&format!("check --io {first} --resume state list"));
        assert!(text(&run.stderr).contains(" read before"), "{}", text(&run.stderr));
        fs::remove_file(folder.path("state")).unwrap();
    }
}

#[test]
fn direct_list_continues_only_direct() {
    let folder = Folder::new();
    folder.fifo("fifo");
    let words = "lanesum: list.partial: exists, but is not the state of an interrupted run\n\
                 hint: choose another name\n";
    for (first, other) in [("read", "direct"), ("direct", "read")] {
        let (running, fifo) = at_the_fifo(&folder, &format!("--io {first}"));
        running.signal(Signal::INT);
        running.finish();
        drop(fifo);
        let run = folder.run(&format!("--io {other} --resume -o list {OLD}"));
        expect(&run, 1, "", words);
        let run = folder.run(&format!("--io {first} --resume -o list {OLD}"));
        assert!(text(&run.stderr).contains("were not read again"), "{}", text(&run.stderr));
        fs::remove_file(folder.path("list")).unwrap();
    }
}

#[test]
fn complete_check_keeps_no_state() {
    let folder = Folder::of(&["a"]);
    folder.write("list", line("other", "a"));
    let output = folder.run("check --resume state list");
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), "a: FAILED\n".to_owned()));
    assert_eq!(folder.names(), ["a", "list"]);
    let output = folder.run("check --resume - list");
    expect(&output, 2, "", "lanesum: --resume cannot keep its state in standard input\n");
    // Who forgets STATE gives the list for it.
    folder.write("empty", "");
    for list in ["list", "empty"] {
        let output = folder.run(&format!("check --resume {list} ./{list}"));
        let words = format!(
            "lanesum: --resume {list}: is a list, not a state of a check\nhint: lanesum check --resume STATE LIST\n"
        );
        expect(&output, 2, "", words);
    }
    let output = folder.run("check --resume a list");
    let words = "lanesum: a: exists, but is not the state of an interrupted run\n\
                 hint: choose another name\n";
    expect(&output, 1, "", words);
    assert_eq!((folder.read("list"), folder.read("a")), (line("other", "a"), "a".to_owned()));
}

/// A state holds what files are, not what a list says of them.
#[test]
fn another_list_is_compared_with_what_was_read() {
    let folder = Folder::new();
    folder.fifo("fifo");
    let old = text(&folder.run(OLD).stdout);
    folder.write("list", format!("{old}{}", line("abc", "fifo")));
    let (running, fifo) = check_at_the_fifo(&folder);
    running.signal(Signal::INT);
    running.finish();
    drop(fifo);
    let first = old.lines().next().unwrap();
    let (digest, name) = first.split_once("  ").unwrap();
    folder.write("list", old.replacen(digest, &md5("other"), 1));
    let output = folder.run("check --quiet --resume state list");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout), format!("{name}: FAILED\n"));
}
