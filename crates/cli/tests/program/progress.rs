//! The bar: drawn on demand, and never where nobody sees it.

use std::io::Read as _;

use super::*;

/// A run that waits for the FIFO `fifo`, opened here for writing.
fn waiting(folder: &Folder, args: &str) -> (Running, File) {
    let running = start(&mut folder.lanesum(args.split_whitespace()));
    let fifo = folder.writer("fifo");
    (running, fifo)
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

#[test]
fn a_bar_is_drawn_on_demand() {
    let folder = Folder::of(&["t/a", "t/b"]);
    folder.fifo("fifo");
    let (mut running, fifo) = waiting(&folder, "--progress always t fifo");
    let mut stderr = running.stderr();
    let bar = drawn(&mut stderr, "6 B of 6 B (");
    assert!(bar.contains("\r\x1b[2K"), "{bar:?}");
    assert!(drawn(&mut stderr, "2 of 3 files").contains("B/s, "));
    drop(fifo);
    let rest = rest(&mut stderr);
    assert!(rest.ends_with("\r\x1b[2K"), "it is cleared in the end: {rest:?}");
    let list = lines(&["t/a", "t/b"]) + &format!("{EMPTY}  fifo\n");
    expect(&running.finish(), 0, list, "");
}

#[test]
fn a_check_has_a_bar_too() {
    let folder = Folder::of(&["a", "b"]);
    folder.fifo("fifo");
    folder.write("list", lines(&["a", "b"]) + &format!("{EMPTY}  fifo\n"));
    let (mut running, fifo) = waiting(&folder, "check --progress always list");
    let mut stderr = running.stderr();
    drawn(&mut stderr, "2 B of 2 B (");
    drawn(&mut stderr, "2 of 3 files");
    drop(fifo);
    let rest = rest(&mut stderr);
    assert!(rest.contains("\r\x1b[2Klanesum: 3 files, "), "{rest:?}");
    expect(&running.finish(), 0, "a: OK\nb: OK\nfifo: OK\n", "");
}

#[test]
fn nothing_is_drawn_where_nobody_sees_it() {
    let folder = Folder::of(&["t/a"]);
    folder.fifo("fifo");
    for args in ["--progress never t fifo", "--progress auto t fifo", "t fifo"] {
        let (quiet, fifo) = waiting(&folder, args);
        // Begun later, so that the first would have drawn by now.
        let (mut drawing, other_end) = waiting(&folder, "--progress always t fifo");
        drawn(&mut drawing.stderr(), "1 of 2 files");
        drop((fifo, other_end));
        expect(&quiet.finish(), 0, lines(&["t/a"]) + &format!("{EMPTY}  fifo\n"), "");
        assert_eq!(drawing.finish().status.code(), Some(0));
    }
}
