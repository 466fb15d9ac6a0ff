//! Interruptions: whole lines, no half file, and an end by the signal itself.
//!
//! The program is known to wait when the FIFO that it was given opens at our end. It reads the FIFO
//! when all that came before is out, so that has happened when it took more than a pipe holds.

use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;

use super::*;

/// More than a pipe holds, in bytes.
pub const MORE_THAN_A_PIPE: usize = 1 << 17;

/// `lanesum`, also when whoever runs the tests was told to ignore signals (by nohup, or in the
/// background of a shell), as its children then are.
fn interruptible(folder: &Folder, args: &[&str]) -> Command {
    let mut command = folder.command("env");
    command.arg("--default-signal").arg(PROGRAM).args(args);
    command
}

/// All that somebody may send to end a program, and limits of time.
const ENDING: [Signal; 10] = [
    Signal::INT,
    Signal::TERM,
    Signal::HUP,
    Signal::QUIT,
    Signal::ALARM,
    Signal::USR1,
    Signal::USR2,
    Signal::VTALARM,
    Signal::PROF,
    Signal::XCPU,
];

/// What a run says that had nothing to keep yet.
const NOTHING_KEPT: &str =
    "lanesum: interrupted before the first file was finished; nothing is kept\n";

/// Holds what a run printed that died of a signal against what is expected.
#[track_caller]
fn expect_death(output: &Output, signal: Signal, stdout: impl AsRef<[u8]>) {
    expect_last_words(output, signal, stdout, "");
}

/// The same, with words on standard error.
#[track_caller]
fn expect_last_words(output: &Output, signal: Signal, stdout: impl AsRef<[u8]>, words: &str) {
    assert_eq!(text(&output.stderr), words, "standard error");
    assert_eq!(text(&output.stdout), text(stdout.as_ref()), "standard output");
    assert_eq!(output.status.signal(), Some(signal.as_raw()), "{:?}", output.status);
}

#[test]
fn an_interruption_leaves_whole_lines() {
    let folder = Folder::of(&["a"]);
    folder.fifo("fifo");
    for signal in ENDING {
        let running = start(&mut interruptible(&folder, &["-j", "1", "a", "fifo"]));
        let mut fifo = folder.writer("fifo");
        fifo.write_all(&[0; MORE_THAN_A_PIPE]).unwrap();
        running.signal(signal);
        expect_death(&running.finish(), signal, lines(&["a"]));
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
    expect_death(&running.finish(), Signal::INT, "a: OK\n");
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
        expect_last_words(&running.finish(), Signal::INT, "", NOTHING_KEPT);
        assert_eq!(folder.names(), ["a", "fifo"]);
    }
}

#[test]
fn an_interruption_leaves_no_file() {
    let folder = Folder::of(&["a"]);
    folder.fifo("fifo");
    folder.write("old", "old");
    for signal in ENDING {
        for name in ["new", "old"] {
            // What is at rest for a while is kept to go on from.
            folder.write("a", "a");
            let running = start(&mut interruptible(&folder, &["a", "fifo", "-o", name]));
            let _fifo = folder.writer("fifo");
            let unfinished = folder.names().iter().any(|name| name.starts_with(".lanesum-"));
            assert!(unfinished, "the list is written beside its target");
            running.signal(signal);
            expect_last_words(&running.finish(), signal, "", NOTHING_KEPT);
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
    assert_eq!(run.status.signal(), Some(Signal::INT.as_raw()));
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
    expect_death(&running.finish(), Signal::TERM, "");
}

#[test]
fn an_interruption_ends_the_loop_of_a_shell() {
    let folder = Folder::new();
    folder.fifo("fifo");
    // bash ends the loop if what it waits for dies of the signal, and goes on if that exits.
    let script = "for i in 1 2; do \"$0\" --progress never fifo; echo went on; done; exit 7";
    let mut command = folder.command("env");
    command.args(["--default-signal", "bash", "-c", script, PROGRAM]);
    let running = start(std::os::unix::process::CommandExt::process_group(&mut command, 0));
    let _fifo = folder.writer("fifo");
    rustix::process::kill_process_group(pid(&running.child), Signal::INT).unwrap();
    expect_death(&running.finish(), Signal::INT, "");
}

/// A run that has begun to write, to a pipe that is full soon and that nobody reads from.
fn stuck(folder: &Folder, command: &mut Command) -> (Running, impl io::Read + use<>) {
    (0..1_000).for_each(|i| folder.write(format!("t/{i:0200}"), ""));
    let mut running = start(command);
    let mut stdout = running.stdout();
    stdout.read_exact(&mut [0]).unwrap();
    (running, stdout)
}

#[test]
fn who_does_not_read_holds_up_no_interruption() {
    let folder = Folder::in_memory();
    for args in [&["t"][..], &["--progress", "always", "t"]] {
        let (running, mut stdout) = stuck(&folder, &mut interruptible(&folder, args));
        running.signal(Signal::TERM);
        assert_eq!(running.finish().status.signal(), Some(Signal::TERM.as_raw()));
        let mut rest = Vec::new();
        stdout.read_to_end(&mut rest).unwrap();
        assert_eq!(rest.last(), Some(&b'\n'), "the last line is whole");
    }
}

#[test]
fn without_a_thread_to_clean_up_signals_end_the_program_as_any_other() {
    let folder = Folder::in_memory();
    let mut command = interruptible(&folder, &["t"]);
    // So large a stack has no room in any address space.
    command.env("RUST_MIN_STACK", (1_u64 << 50).to_string());
    let (running, _stdout) = stuck(&folder, &mut command);
    running.signal(Signal::INT);
    assert_eq!(running.finish().status.signal(), Some(Signal::INT.as_raw()));
}

/// What became of the folder is told before the signal ends the program: no bag, or a whole one.
#[test]
fn interruption_waits_for_the_end_of_a_bag() {
    let names: Vec<_> = (0..2000).map(|number| format!("b/{number}")).collect();
    let folder = Folder::of(&names.iter().map(|name| &**name).collect::<Vec<_>>());
    let interrupt = |args: &[&str]| {
        let mut command = interruptible(&folder, args);
        let mut running = start(command.stderr(Stdio::piped()));
        while !exists(folder.path("b/.lanesum-bag")) {
            assert!(
                running.child.try_wait().unwrap().is_none(),
                "{}",
                text(&running.finish().stderr)
            );
            std::thread::yield_now();
        }
        running.signal(Signal::TERM);
        running.finish()
    };
    let words = "lanesum: b: now a bag: 2,000 files, ";
    let run = interrupt(&["bag", "create", "b"]);
    assert!(text(&run.stderr).starts_with(words), "{}", text(&run.stderr));
    assert_eq!(folder.run("bag validate b").status.code(), Some(0));

    let run = interrupt(&["bag", "update", "-a", "md5,sha256", "b"]);
    let words = "lanesum: b: no file changed; payload: 2,000 files, ";
    assert!(text(&run.stderr).starts_with(words), "{}", text(&run.stderr));
    assert_eq!(folder.run("bag validate b").status.code(), Some(0));
    let again = folder.run("bag create b");
    assert!(text(&again.stderr).contains("already a bag"), "{}", text(&again.stderr));
}

/// A shell with job control puts what it runs with `&` in the background of its terminal, as
/// `timeout` does, and a read of that stops it.
#[test]
fn background_read_of_the_terminal_ends() {
    let folder = Folder::of(&["a"]);
    let all = ["", "a -", "--files0-from -", "check", "convert --to tag", "compare - a", "etag -"];
    for (args, signal) in
        all.into_iter().zip([Signal::TERM, Signal::INT, Signal::HUP].iter().cycle())
    {
        let number = signal.as_raw();
        let script = format!(
            "set -m; '{PROGRAM}' {args} & wait $!; echo stopped $?; kill -{number} $!; \
             kill -CONT $!; while kill -0 $! 2>/dev/null; do :; done; wait $!; echo ended $?"
        );
        folder.write("script", script);
        let mut command = folder.command("script");
        // Whatever stays stopped is not waited for in vain.
        let shell = "exec timeout --foreground 60 env --default-signal bash script";
        command.args(["-qec", shell, "/dev/null"]).stdin(Stdio::piped());
        let Ok(run) = command.output() else { return skip("no script, which makes a terminal") };
        let said = text(&run.stdout);
        assert!(
            said.contains(&format!("stopped {}", 128 + Signal::TTIN.as_raw())),
            "{args}: {said}"
        );
        assert!(said.contains(&format!("ended {}", 128 + number)), "{args}: {said}");
    }
}
