//! Runs every row of the table in docs/check.md, and checks that the table has exactly these rows.

use super::*;

const DOCUMENT: &str = include_str!("../../../../docs/check.md");

/// A row: what is in `list`, and what `lanesum check` makes of it.
struct Row {
    what: &'static str,
    list: Vec<u8>,
    args: &'static str,
    stdin: &'static str,
    prints: &'static str,
    says: &'static str,
    code: i32,
}

impl Row {
    fn prints(self, prints: &'static str) -> Self {
        Self { prints, ..self }
    }

    fn says(self, says: &'static str) -> Self {
        Self { says, ..self }
    }

    fn is(self, code: i32) -> Self {
        Self { code, ..self }
    }

    /// As the document has it.
    fn text(&self) -> String {
        let code = |text: &str| match text {
            "" => "nothing".into(),
            text => format!("`{}`", text.replace('|', "\\|").replace('\n', "`<br>`")),
        };
        let cells = [self.what.into(), code(self.args), code(self.prints), code(self.says)];
        format!("| {} | {} |", cells.join(" | "), self.code)
    }

    /// Holds the program to it.
    fn try_it(&self) {
        let folder = Folder::of(&["b", "d/"]);
        folder.write("a", "abc");
        folder.write("good", line("abc", "a"));
        folder.write("a.md5", format!("{ABC}\n"));
        folder.write("key", [b'x'; 32]);
        fs::set_permissions(
            folder.path("key"),
            std::os::unix::fs::PermissionsExt::from_mode(0o600),
        )
        .unwrap();
        folder.write("list", &self.list);
        let run = folder.run_with_stdin(&format!("check {}", self.args), self.stdin);
        // Quotes and backslashes of a told command, which `text` escapes.
        let stderr = text(&run.stderr).replace("\\\"", "\"").replace("\\\\", "\\");
        let stdout = text(&run.stdout);
        let lines: Vec<_> = stderr.lines().collect();
        let (hint, messages) = match &*lines {
            [messages @ .., hint] if hint.starts_with("hint: ") => (format!("\n{hint}"), messages),
            messages => (String::new(), messages),
        };
        let last = messages.last().copied().unwrap_or_default();
        // Files, bytes and time of a summary are not told here.
        let last = last.rsplit_once("/s): ").map_or(last, |(_, words)| words);
        let last = last.strip_prefix("lanesum: ").unwrap_or(last).to_owned() + &hint;
        let printed = stdout.lines().collect::<Vec<_>>().join(", ");
        assert_eq!((&*printed, &*last), (self.prints, self.says), "{}", self.what);
        assert_eq!(run.status.code(), Some(self.code), "{}", self.what);
    }
}

fn row(what: &'static str, list: impl Into<Vec<u8>>, args: &'static str) -> Row {
    Row { what, list: list.into(), args, stdin: "", prints: "", says: "", code: 0 }
}

fn rows() -> Vec<Row> {
    const NOTHING: &str = "list: no checksum lines; nothing was checked";
    const NONE: &str = "list: no checksum lines\nhint: check that it is a checksum list";
    let good = line("abc", "a");
    let both = good.clone() + &line("b", "b");
    let one_blank = line("b", "b").replace("  ", " ");
    let gone = line("x", "gone");
    let wrong = line("x", "a");
    let sha1 = "SHA1 (a) = a9993e364706816aba3e25717850c26c9cd0d89d\n";
    let blake3 = format!("{}  a\n", blake3::hash(b"abc"));
    // BLAKE2b of `abc`, from RFC 7693, Appendix A.
    let blake2b = "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1\
                   7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923";
    let utf16: Vec<u8> = both.encode_utf16().flat_map(u16::to_le_bytes).collect();
    vec![
        row("unchanged files", &*both, "list")
            .prints("a: OK, b: OK")
            .says("no failures"),
        row("a changed file", wrong.clone() + &good, "list")
            .prints("a: FAILED, a: OK")
            .says("1 FAILED")
            .is(1),
        row("nothing", "", "list").says(NOTHING).is(1),
        row("only comments and empty lines", "# x\n\n", "list").says(NOTHING).is(1),
        row("nothing, beside a good list", "", "list good")
            .prints("a: OK")
            .says("no failures, 1 empty list"),
        row("the same", "", "--strict list good")
            .prints("a: OK")
            .says("1 empty list")
            .is(1),
        row("checksum lines, beside an empty standard input", &*both, "list -")
            .prints("a: OK, b: OK")
            .says("1 bad list")
            .is(1),
        row("(no list, and an empty standard input)", "", "")
            .says(
                "'standard input': no checksum lines received\nhint: check the command that writes the list",
            )
            .is(1),
        row("no checksum line", "x\ny\n", "list").says(NONE).is(1),
        row("(the MD5 of `a` alone, in `a.md5`)", "", "a.md5")
            .prints("a: OK"),
        row("digests without names", format!("{ABC}\n{ABC}\n"), "list")
            .says("list: contains digests without file names; expected \"DIGEST  NAME\"")
            .is(1),
        row("only lines of an unknown algorithm", format!("MD6 (a) = {ABC}\n"), "list")
            .says("list: not checked: 1 line of unknown algorithms (MD6)")
            .is(1),
        row("a line of an unknown algorithm, among others", format!("MD6 (a) = {ABC}\n{both}"), "list")
            .prints("a: OK, b: OK")
            .says("1 of an unknown algorithm")
            .is(1),
        row("a line of rclone without a digest, among others", format!("{both}{:32}  b\n", ""), "list")
            .prints("a: OK, b: OK")
            .says("1 invalid line")
            .is(1),
        row("only such a line", format!("{:>32}  b\n", "UNSUPPORTED"), "list")
            .says("list: line 1: neither a digest nor a size")
            .is(1),
        row("MD5s", &*both, "-a sha256 list")
            .says("list: no line has as many digits as sha256\nhint: leave out -a to detect the algorithm")
            .is(1),
        row("a line of keyed BLAKE3", format!("BLAKE3 (a) = {}\n", "0".repeat(64)), "list")
            .prints("a: FAILED")
            .says("list: no BLAKE3 line matches\nhint: if they were made with a key: --key-file FILE")
            .is(1),
        row("the same, with a different key", format!("BLAKE3 (a) = {}\n", "0".repeat(64)), "--key-file key list")
            .prints("a: FAILED")
            .says("list: no BLAKE3 line matches\nhint: check that this key made the list")
            .is(1),
        row("an invalid line, among others", both.clone() + "x\n", "list")
            .prints("a: OK, b: OK")
            .says("no failures, 1 skipped line"),
        row("the same", both.clone() + "x\n", "--strict list")
            .prints("a: OK, b: OK")
            .says("1 skipped line")
            .is(1),
        row("a line with one blank behind lines with two", good.clone() + &one_blank, "list")
            .prints("a: OK")
            .says(
                "list: line 2: contains a digest, but is not a checksum line like the others\n\
                 hint: write it as \"DIGEST  NAME\", with two spaces",
            )
            .is(1),
        row("a last line cut within its digest", &both.as_bytes()[..50], "list")
            .prints("a: OK")
            .says("list: line 2: the list is cut off here")
            .is(1),
        row("lines of several formats and algorithms", sha1.to_owned() + &both, "list")
            .prints("a: OK, a: OK, b: OK")
            .says("no failures"),
        row("one line twice", good.repeat(2), "list").prints("a: OK, a: OK").says("no failures"),
        row("one name with two MD5s", good.clone() + &wrong, "list")
            .prints("a: OK, a: FAILED")
            .says("1 FAILED")
            .is(1),
        row("untagged lines of BLAKE3", &*blake3, "list")
            .prints("a: FAILED")
            .says(
                "list: no untagged line matches as sha256\nhint: if the lines are blake3: -a blake3 (or sha512-256, sha3-256, dropbox, glacier)",
            )
            .is(1),
        row("the same", &*blake3, "-a blake3 list").prints("a: OK"),
        row("lines of b2sum", format!("{blake2b}  a\n"), "list")
            .prints("a: FAILED")
            .says(
                "list: no untagged line matches as sha512\nhint: if the lines are blake2b: -a blake2b (or sha3-512)",
            )
            .is(1),
        row("the same lines", format!("{blake2b}  a\n"), "-a blake2b list").prints("a: OK"),
        row("UTF-16 without a byte order mark", utf16, "list")
            .says("list: looks like UTF-16, not UTF-8\nhint: iconv -f UTF-16LE -t UTF-8 <list | lanesum check")
            .is(1),
        row("gzip data", *b"\x1f\x8b\x08\0\0\0\0\0\0\x03", "list")
            .says("list: compressed with gzip\nhint: zcat <list | lanesum check")
            .is(1),
        row("a `.dvc` of DVC", format!("outs:\n- md5: {}\n  path: a\n", &good[..32]), "list")
            .says(
                "list: a .dvc file of DVC, not a checksum list\nhint: dvc status",
            )
            .is(1),
        row("the screen output of Get-FileHash", "\r\nAlgorithm       Hash       Path\r\n", "list")
            .says(
                "list: output of Get-FileHash or certutil, not a checksum list\n\
                 hint: in PowerShell: Get-FileHash -A MD5 * | Export-Csv -Encoding UTF8 list.csv",
            )
            .is(1),
        row("binary data", [0; 999], "list")
            .says("list: looks like binary data, not a checksum list")
            .is(1),
        row("lines that end with NUL", both.replace('\n', "\0"), "list")
            .says("list: its lines end with NUL\nhint: use --zero")
            .is(1),
        row("lines that end with a newline", &*both, "-z list")
            .says("list: its lines end with newlines, not with NUL\nhint: leave out --zero")
            .is(1),
        row("(the list is a directory)", "", "d").says("d: a directory, not a checksum list\nhint: lanesum compare LIST d").is(1),
        row("(the list does not exist)", "", "nowhere")
            .says("nowhere: No such file or directory")
            .is(1),
        row("checksum lines, beside a list that does not exist", &*both, "list nowhere")
            .prints("a: OK, b: OK")
            .says("1 bad list")
            .is(1),
        row("a missing file", &*gone, "-a md5 list")
            .prints("gone: FAILED open or read")
            .says("gone: No such file or directory")
            .is(1),
        row("a missing file, among others", both.clone() + &gone, "--ignore-missing list")
            .prints("a: OK, b: OK")
            .says("no failures, 1 missing"),
        row("only missing files", &*gone, "--ignore-missing list")
            .says("list: nothing was checked: all of its files are missing")
            .is(1),
        row("a directory", line("x", "d"), "list")
            .prints("d: FAILED open or read")
            .says("d: Is a directory")
            .is(1),
        row("CSV with a wrong size", format!("path,size,md5\na,4,{ABC}\n"), "list")
            .prints("a: FAILED")
            .says("a: its size is 3 bytes, but 4 in the list")
            .is(1),
        row("CSV with only sizes", "path,size\na,3\n", "list")
            .prints("a: size OK, not checked")
            .says("list: not checked: 1 file has a size, but no digest")
            .is(1),
        row("CSV with sizes, and digests of an unknown algorithm", "path,size,sha3-384\na,3,00\n", "list")
            .prints("a: size OK, not checked")
            .says(
                "list: not checked: 1 file has a size, but no digest that lanesum computes (sha3-384 is unknown)",
            )
            .is(1),
        row(
            "CSV with a row that is too short, among others",
            format!("path,md5\na,{ABC}\nb\n"),
            "list",
        )
        .prints("a: OK")
        .says("list: line 3: columns: 1, expected: 2")
        .is(1),
        row("JSON that is cut off", format!("[{{\"path\":\"a\",\"md5\":\"{ABC}\"}},"), "list")
            .prints("a: OK")
            .says("list: line 1: the list is cut off here")
            .is(1),
        row("`/a`", line("abc", "/a"), "--root . list").prints("/a: OK"),
        row("`../a`, which leads out of the root", line("abc", "../a"), "--root d list")
            .prints("../a: OK"),
        Row { stdin: "abc", ..row("`-`", line("abc", "-"), "list").prints("-: OK") },
        row("a failure", wrong.clone() + &both, "--quiet list")
            .prints("a: FAILED")
            .says("1 FAILED")
            .is(1),
        row("a failure", wrong + &both, "--status list").is(1),
        row("lines of algorithms without a key", &*good, "--key-file key list")
            .says("list: no checksum lines for this key\nhint: if its digests were made without a key: leave out --key-file")
            .is(1),
        row("lines that need a key", "SIPHASH24 (a) = 0011223344556677\n", "list")
            .says("list: siphash24 needs the key that made the list\nhint: lanesum check --key-file FILE")
            .is(1),
    ]
}

#[test]
fn table_matches_the_program() {
    rows().iter().for_each(Row::try_it);
}

#[test]
fn document_has_the_table() {
    let expected: Vec<_> = rows().iter().map(Row::text).collect();
    let table = DOCUMENT.lines().skip_while(|line| !line.starts_with("|---|---|---|---|---|"));
    let rows: Vec<_> = table.skip(1).take_while(|line| line.starts_with('|')).collect();
    assert_eq!(rows.join("\n"), expected.join("\n"));
}
