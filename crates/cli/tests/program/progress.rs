//! The bar: drawn on demand, and never where nobody sees it.

use std::io::Read as _;

use super::*;

/// A run that waits for the FIFO `fifo`, opened here for writing.
fn waiting(folder: &Folder, args: &str) -> (Running, File) {
    let running = start(&mut folder.lanesum(args.split_whitespace()));
    let fifo = folder.writer("fifo");
    (running, fifo)
}

/// A folder of files whose list is longer than a pipe holds, so that a run waits for its reader:
/// the paths.
fn many() -> (Folder, Vec<String>) {
    let folder = Folder::in_memory();
    let paths: Vec<_> = (0..1_000).map(|i| format!("t/{i:0200}")).collect();
    paths.iter().for_each(|path| folder.write(path, "abcdef"));
    (folder, paths)
}

/// Lets a run that drew this much end; gives the rest of what it draws.
fn end(mut running: Running, mut stderr: ChildStderr, code: i32, stdout: &str) -> String {
    let mut out = running.stdout();
    let drain = std::thread::spawn(move || io::read_to_string(&mut out).unwrap());
    let rest = rest(&mut stderr);
    assert_eq!(drain.join().unwrap(), stdout);
    assert_eq!(running.finish().status.code(), Some(code));
    rest
}

/// Reads what a run draws until it has these words.
pub(super) fn drawn(stderr: &mut ChildStderr, words: &str) -> String {
    let mut bytes = Vec::new();
    let mut byte = [0];
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if text.contains(words) {
            return text.into_owned();
        }
        stderr.read_exact(&mut byte).unwrap_or_else(|_| panic!("no {words:?} in {text:?}"));
        bytes.push(byte[0]);
    }
}

pub(super) fn rest(stderr: &mut ChildStderr) -> String {
    let mut bytes = Vec::new();
    stderr.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Where all of it is read, the bar has a whole.
#[test]
fn the_bar_of_a_catalogs_run_has_its_total() {
    let (folder, paths) = many();
    let command = |args: &str| {
        let mut command = folder.lanesum(args.split_whitespace());
        command.env("LANESUM_CATALOG", folder.path("state/catalog.db"));
        command
    };
    fs::create_dir(folder.path("state")).unwrap();
    assert_eq!(output(&mut command("add t")).status.code(), Some(0));
    paths.iter().for_each(|path| folder.write(path, "edited"));
    // It waits for its reader once it has read them.
    let mut running = start(&mut command("verify --progress always"));
    let mut stderr = running.stderr();
    drawn(&mut stderr, "6.00 kB of 6.00 kB");
    let mut out = running.stdout();
    let drain = std::thread::spawn(move || io::read_to_string(&mut out).unwrap());
    rest(&mut stderr);
    assert_eq!(drain.join().unwrap().matches("edited ").count(), 1_000);
    assert_eq!(running.finish().status.code(), Some(0));
}

#[test]
fn a_bar_is_drawn_on_demand() {
    let (folder, paths) = many();
    let list: String = paths.iter().map(|path| line("abcdef", path)).collect();
    folder.write("names", paths.iter().map(|path| format!("{path}\0")).collect::<String>());
    for args in ["t", "--files0-from names"] {
        let args = format!("--progress always {args}");
        let mut running = start(&mut folder.lanesum(args.split_whitespace()));
        let mut stderr = running.stderr();
        let bar = drawn(&mut stderr, " of 6.00 kB (");
        assert!(bar.contains("\r\x1b[2K"), "{bar:?}");
        assert!(drawn(&mut stderr, " of 1,000 files").contains(" left), "));
        let rest = end(running, stderr, 0, &list);
        assert!(rest.ends_with("\r\x1b[2K"), "it is cleared in the end: {rest:?}");
    }
}

#[test]
fn a_check_has_a_bar_too() {
    let (folder, paths) = many();
    folder.write("list", paths.iter().map(|path| line("abcdef", path)).collect::<String>());
    let results: String = paths.iter().map(|path| format!("{path}: OK\n")).collect();
    let mut running = start(&mut folder.lanesum(["check", "--progress", "always", "list"]));
    let mut stderr = running.stderr();
    drawn(&mut stderr, " of 6.00 kB (");
    drawn(&mut stderr, " of 1,000 files");
    let rest = end(running, stderr, 0, &results);
    assert!(rest.contains("\r\x1b[2Klanesum: 1,000 files, "), "{rest:?}");
}

#[test]
fn an_unknown_whole_is_not_shown() {
    let folder = Folder::of(&["t/a", "t/b"]);
    folder.fifo("fifo");
    folder.write("names", "t\0fifo\0");
    for args in ["t fifo", "--files0-from names"] {
        let (mut running, fifo) = waiting(&folder, &format!("--progress always {args}"));
        let mut stderr = running.stderr();
        let mut bar = drawn(&mut stderr, "6 B (");
        bar += &drawn(&mut stderr, "), 2 files");
        drop(fifo);
        bar += &end(running, stderr, 0, &(lines(&["t/a", "t/b"]) + &format!("{EMPTY}  fifo\n")));
        assert!(!bar.contains(" of ") && !bar.contains("left"), "{bar:?}");
    }
    // What comes through a pipe.
    for (args, input) in [("t -", "abc"), ("--files0-from -", "t/a\0t/b\0")] {
        let mut command = folder.lanesum(format!("--progress always {args}").split_whitespace());
        let mut running = start(command.stdin(Stdio::piped()));
        let mut pipe = running.stdin();
        pipe.write_all(input.as_bytes()).unwrap();
        let mut stderr = running.stderr();
        let mut bar = drawn(&mut stderr, "), 2 files");
        drop(pipe);
        let mut list = lines(&["t/a", "t/b"]);
        if args == "t -" {
            list += &format!("{ABC}  -\n");
        }
        bar += &end(running, stderr, 0, &list);
        assert!(!bar.contains(" of ") && !bar.contains("left"), "{bar:?}");
    }
}

#[test]
fn nothing_is_drawn_where_nobody_sees_it() {
    let folder = Folder::of(&["t/a"]);
    folder.fifo("fifo");
    for args in ["--progress never t fifo", "--progress auto t fifo", "t fifo"] {
        let (quiet, fifo) = waiting(&folder, args);
        // Begun later, so that the first would have drawn by now.
        let (mut drawing, other_end) = waiting(&folder, "--progress always t fifo");
        drawn(&mut drawing.stderr(), "), 1 file");
        drop((fifo, other_end));
        expect(&quiet.finish(), 0, lines(&["t/a"]) + &format!("{EMPTY}  fifo\n"), "");
        assert_eq!(drawing.finish().status.code(), Some(0));
    }
}

/// A terminal: our end, and that of the program.
fn terminal() -> (File, File) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs = File::options().read(true).write(true).open(OsStr::from_bytes(name.as_bytes()));
    (ours.into(), theirs.unwrap())
}

#[test]
fn a_dumb_terminal_has_no_bar() {
    let folder = Folder::of(&["t/a"]);
    folder.fifo("fifo");
    let begin = |term: &str| {
        let (ours, theirs) = terminal();
        let mut command = folder.lanesum(["t", "fifo"]);
        let running = start(command.env("TERM", term).stderr(theirs));
        (running, folder.writer("fifo"), ours)
    };
    let (dumb, fifo, mut ours) = begin("dumb");
    // Begun later, so that the first would have drawn by now.
    let (other, other_end, mut of_other) = begin("xterm");
    let mut byte = [0];
    of_other.read_exact(&mut byte).unwrap();
    drop((fifo, other_end));
    let list = lines(&["t/a"]) + &format!("{EMPTY}  fifo\n");
    for running in [dumb, other] {
        assert_eq!(text(&running.finish().stdout), text(list.as_bytes()));
    }
    // Without another end a read of what is left fails in the end.
    let mut drawn = Vec::new();
    let _ = ours.read_to_end(&mut drawn);
    assert_eq!(text(&drawn), "");
}

#[test]
fn a_bar_is_in_the_characters_of_the_locale() {
    let folder = Folder::of(&["t/a"]);
    folder.fifo("fifo");
    for (locale, is_ascii) in [("C", true), ("C.UTF-8", false)] {
        let mut command = folder.lanesum(["--progress", "always", "t", "fifo"]);
        let mut running = start(command.env("LC_ALL", locale));
        let fifo = folder.writer("fifo");
        let mut stderr = running.stderr();
        let bar = drawn(&mut stderr, "), 1 file");
        assert_eq!(bar.is_ascii(), is_ascii, "{bar}");
        drop(fifo);
        end(running, stderr, 0, &(lines(&["t/a"]) + &format!("{EMPTY}  fifo\n")));
    }
}

/// Reads from a terminal to the end of a line.
fn line_of(terminal: &mut File) -> String {
    let mut line = Vec::new();
    while line.last() != Some(&b'\n') {
        let mut byte = [0];
        terminal.read_exact(&mut byte).unwrap();
        line.push(byte[0]);
    }
    String::from_utf8(line).unwrap()
}

#[test]
fn reading_a_terminal_is_announced() {
    let folder = Folder::new();
    let told = "lanesum: reading standard input; Ctrl-D ends it";
    for args in [&[][..], &["sum"], &["-"]] {
        let (mut ours, theirs) = terminal();
        let mut command = folder.lanesum(args);
        command.stdin(theirs.try_clone().unwrap());
        command.stdout(theirs.try_clone().unwrap()).stderr(theirs);
        let running = start(&mut command);
        drop(command);
        if !args.contains(&"-") {
            assert_eq!(line_of(&mut ours), format!("{told}\r\n"));
            assert_eq!(line_of(&mut ours), "hint: lanesum --help\r\n");
        }
        // Ctrl-D twice ends a line and the input.
        ours.write_all(b"abc\x04\x04").unwrap();
        let echo_and_line = line_of(&mut ours);
        assert!(echo_and_line.ends_with(&format!("abc{ABC}  -\r\n")), "{echo_and_line:?}");
        assert_eq!(running.finish().status.code(), Some(0));
    }
    // Not where something else is read.
    expect(&folder.run_with_stdin("", "abc"), 0, format!("{ABC}  -\n"), "");
}
