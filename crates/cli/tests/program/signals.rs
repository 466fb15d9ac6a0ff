//! Interruptions: whole lines, no half file, and the signal in the exit code.
//!
//! The program is known to wait when the FIFO that it was given opens at our end. It reads the FIFO
//! when all that came before is out, so that has happened when it took more than a pipe holds.

use super::*;

/// More than a pipe holds, in bytes.
const MORE_THAN_A_PIPE: usize = 1 << 17;

/// `lanesum`, also when whoever runs the tests was told to ignore signals (by nohup, or in the
/// background of a shell), as its children then are.
fn interruptible(folder: &Folder, args: &[&str]) -> Command {
    let mut command = folder.command("env");
    command.arg("--default-signal=HUP,INT,TERM").arg(PROGRAM).args(args);
    command
}

#[test]
fn an_interruption_leaves_whole_lines() {
    let folder = Folder::of(&["a"]);
    folder.fifo("fifo");
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let running = start(&mut interruptible(&folder, &["-j", "1", "a", "fifo"]));
        let mut fifo = folder.writer("fifo");
        fifo.write_all(&[0; MORE_THAN_A_PIPE]).unwrap();
        running.signal(signal);
        expect(&running.finish(), code, lines(&["a"]), "");
    }
}

#[test]
fn an_interruption_of_a_check_leaves_whole_lines() {
    let folder = Folder::of(&["a"]);
    folder.write("list", lines(&["a"]) + &line("abc", "fifo"));
    folder.fifo("fifo");
    let running = start(&mut interruptible(&folder, &["check", "-j", "1", "list"]));
    let mut fifo = folder.writer("fifo");
    fifo.write_all(&[0; MORE_THAN_A_PIPE]).unwrap();
    running.signal(Signal::INT);
    expect(&running.finish(), 130, "a: OK\n", "");
}

#[test]
fn an_interruption_at_the_very_beginning_leaves_no_file() {
    let folder = Folder::of(&["a"]);
    folder.fifo("fifo");
    for _ in 0..50 {
        let running = start(&mut interruptible(&folder, &["fifo", "-o", "list"]));
        while folder.names().len() < 3 {
            std::thread::yield_now();
        }
        running.signal(Signal::INT);
        expect(&running.finish(), 130, "", "");
        assert_eq!(folder.names(), ["a", "fifo"]);
    }
}

#[test]
fn an_interruption_leaves_no_file() {
    let folder = Folder::of(&["a"]);
    folder.fifo("fifo");
    folder.write("old", "old");
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        for name in ["new", "old"] {
            let running = start(&mut interruptible(&folder, &["a", "fifo", "-o", name]));
            let _fifo = folder.writer("fifo");
            let unfinished = folder.names().iter().any(|name| name.starts_with(".lanesum-"));
            assert!(unfinished, "the list is written beside its target");
            running.signal(signal);
            expect(&running.finish(), code, "", "");
            assert_eq!(folder.names(), ["a", "fifo", "old"]);
            assert_eq!(folder.read("old"), "old");
        }
    }
}

#[test]
fn an_interruption_takes_the_bar_away() {
    let folder = Folder::new();
    folder.fifo("fifo");
    let running = start(&mut interruptible(&folder, &["--progress", "always", "fifo"]));
    let _fifo = folder.writer("fifo");
    running.signal(Signal::INT);
    let run = running.finish();
    assert_eq!(run.status.code(), Some(130));
    assert!(!run.stderr.contains(&b'\n'), "{}", text(&run.stderr));
}

#[test]
fn an_ignored_interruption_stays_ignored() {
    let folder = Folder::of(&["a"]);
    folder.fifo("fifo");
    let script = "trap '' INT HUP; exec \"$0\" a fifo";
    let running = start(folder.command("sh").args(["-c", script, PROGRAM]));
    let mut fifo = folder.writer("fifo");
    running.signal(Signal::INT);
    running.signal(Signal::HUP);
    fifo.write_all(b"abc").unwrap();
    drop(fifo);
    expect(&running.finish(), 0, lines(&["a"]) + &line("abc", "fifo"), "");
}

#[test]
fn a_second_signal_ends_what_ignores_the_first() {
    let folder = Folder::new();
    folder.fifo("fifo");
    let script = "trap '' INT; exec \"$0\" fifo";
    let running = start(folder.command("sh").args(["-c", script, PROGRAM]));
    let _fifo = folder.writer("fifo");
    running.signal(Signal::INT);
    running.signal(Signal::TERM);
    expect(&running.finish(), 143, "", "");
}
