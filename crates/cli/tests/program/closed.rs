//! Standard streams that are closed or full, and a SIGPIPE that is ignored.

use std::os::unix::process::ExitStatusExt as _;

use super::*;

const WRITE_ERROR: &str = "lanesum: write error: Bad file descriptor\n";

/// A line of the shell, in which `lanesum` is the program.
fn shell(folder: &Folder, line: &str) -> Command {
    let mut command = folder.command("/bin/sh");
    command.arg("-c").arg(format!("lanesum() {{ \"$PROGRAM\" \"$@\"; }}; {line}"));
    command.env("PROGRAM", PROGRAM);
    command
}

#[track_caller]
fn run(folder: &Folder, line: &str) -> Output {
    output(&mut shell(folder, line))
}

fn with_list() -> Folder {
    let folder = Folder::of(&["a"]);
    folder.write("list", lines(&["a"]));
    folder
}

/// Everything that prints something.
const ALL: [&str; 9] = [
    "a",
    "- </dev/null",
    "check list",
    "speed",
    "--help",
    "check --help",
    "--version",
    "--generate man",
    "--generate bash",
];

#[test]
fn closed_standard_output_fails() {
    let folder = with_list();
    for args in ALL {
        expect(&run(&folder, &format!("lanesum {args} >&-")), 1, "", WRITE_ERROR);
    }
    // Open, but not for writing.
    expect(&run(&folder, "lanesum --help 1</dev/null"), 1, "", WRITE_ERROR);
    let full = "lanesum: write error: No space left on device\n";
    for args in ALL {
        expect(&run(&folder, &format!("lanesum {args} >/dev/full")), 1, "", full);
    }
}

#[test]
fn unused_standard_output_may_be_closed() {
    let folder = with_list();
    expect(&run(&folder, "lanesum check --status list <&- >&- 2>&-"), 0, "", "");
    expect(&run(&folder, "lanesum a -o out <&- >&- 2>&-"), 0, "", "");
    assert_eq!(folder.read("out"), lines(&["a"]));
    expect(&run(&folder, "lanesum a 2>&-"), 0, lines(&["a"]), "");
    expect(&run(&folder, "lanesum --nonsense 2>&-"), 2, "", "");
}

#[test]
fn closed_standard_input_fails() {
    let folder = with_list();
    let bad = "lanesum: -: Bad file descriptor\n";
    expect(&run(&folder, "lanesum - <&-"), 1, "", bad);
    expect(&run(&folder, "lanesum a - <&-"), 1, lines(&["a"]), bad);
    expect(&run(&folder, "lanesum --files0-from - <&-"), 1, "", bad);
    let list = "lanesum: 'standard input': read error: Bad file descriptor\n";
    expect(&run(&folder, "lanesum check - <&-"), 1, "", list);
    for line in ["lanesum /dev/stdin <&-", "lanesum check /dev/stdin <&-"] {
        let output = run(&folder, line);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), String::new()));
    }
}

/// What would be written to if the place of the stream were a file.
#[test]
fn a_closed_stream_leads_to_no_file() {
    let folder = with_list();
    let output = run(&folder, "lanesum a -o /dev/stdout >&-");
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), String::new()));
    assert_eq!(folder.names(), ["a", "list"]);
}

#[test]
fn a_reader_that_went_away_ends_it_as_whoever_started_it_has_it() {
    let folder = with_list();
    let unread = |line: String| {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        output(shell(&folder, &line).stdout(writer))
    };
    for args in ALL {
        let by_signal = unread(format!("exec \"$PROGRAM\" {args}"));
        assert_eq!(by_signal.status.signal(), Some(Signal::PIPE.as_raw()), "{args}");
        assert_eq!(text(&by_signal.stderr), "", "{args}");
        let told = "lanesum: write error: Broken pipe\n";
        expect(&unread(format!("trap '' PIPE; lanesum {args}")), 1, "", told);
    }
}

/// It waits for the next line of its list, and still notices that nobody reads what came of the
/// last.
#[test]
fn a_reader_that_went_away_ends_a_check_that_waits() {
    let folder = Folder::of(&["a"]);
    let mut check = folder.command("env");
    check.args(["--default-signal=PIPE", PROGRAM, "check"]).stdin(Stdio::piped());
    let mut running = start(&mut check);
    drop(running.child.stdout.take());
    let mut list = running.child.stdin.take().unwrap();
    list.write_all(lines(&["a"]).as_bytes()).unwrap();
    let run = running.finish();
    drop(list);
    assert_eq!(run.status.signal(), Some(Signal::PIPE.as_raw()), "{:?}", run.status);
}
