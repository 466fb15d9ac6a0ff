//! Hints of `lanesum check` about lists with missing names, or names in another spelling.

use std::io::BufRead as _;

use super::lists::assert_ran;
use super::*;

#[test]
fn case_of_names_is_told() {
    let folder = Folder::new();
    folder.write("DCIM/IMG_1.JPG", "abc");
    for name in ["dcim/img_1.jpg", "DCIM/img_1.jpg", "./dcim/IMG_1.JPG"] {
        folder.write("l", line("abc", name));
        let run = folder.run("check l");
        assert_eq!(run.status.code(), Some(1));
        let words = "exists (upper and lower case differ)\n\
                     hint: rename the file, or correct the name in the list\n";
        assert!(text(&run.stderr).contains(words), "{}", text(&run.stderr));
        assert!(text(&run.stderr).contains("DCIM/IMG_1.JPG"), "{}", text(&run.stderr));
    }
    folder.write("d/l", line("abc", "img_1.jpg"));
    let run = folder.run("check --root DCIM d/l");
    assert!(text(&run.stderr).contains("IMG_1.JPG"), "{}", text(&run.stderr));
    // The file of another line.
    folder.write("l", line("abc", "dcim/img_1.jpg") + &line("abc", "DCIM/IMG_1.JPG"));
    assert!(!text(&folder.run("check l").stderr).contains("case"));
}

#[test]
fn list_for_another_directory_gives_a_hint() {
    let folder = Folder::new();
    folder.write("d/a", "a");
    folder.write("d/b", "b");
    folder.write("l", line("a", "a") + &line("b", "b"));
    let words = "lanesum: l: all of its 2 files are missing\n\
                 hint: --root DIR names the directory of the files\n";
    assert!(text(&folder.run("check l").stderr).contains(words));
    assert_eq!(folder.run("check --root d l").status.code(), Some(0));
    // One of them is here.
    folder.write("a", "a");
    assert!(!text(&folder.run("check l").stderr).contains("hint"));
}

#[test]
fn digest_and_blanks_have_no_name() {
    let folder = Folder::new();
    folder.write("f", "abc");
    for blanks in ["", " ", "  ", " \t", "  \r"] {
        folder.write("f.txt.list", format!("{}{blanks}\n", md5("abc")));
        let run = folder.run("check f.txt.list");
        assert_eq!(run.status.code(), Some(1));
        assert!(text(&run.stderr).contains("no name"), "{blanks:?}: {}", text(&run.stderr));
    }
    folder.write("f.md5", format!("{}  \n", md5("abc")));
    assert_ran(&folder, &folder.run("check f.md5"), "hint: ", "f: OK\n");
}

#[test]
fn utf16_digest_without_a_name_gives_a_command() {
    let folder = Folder::new();
    folder.write("f", "abc");
    type ToBytes = fn(u16) -> [u8; 2];
    for (mark, to_bytes) in [
        ("\u{feff}", u16::to_le_bytes as ToBytes),
        ("\u{feff}", u16::to_be_bytes),
        ("", u16::to_le_bytes),
    ] {
        let list = format!("{mark}{}\r\n", md5("abc").to_uppercase());
        folder.write("f.md5", list.encode_utf16().flat_map(to_bytes).collect::<Vec<u8>>());
        assert_ran(&folder, &folder.run("check f.md5"), "hint: ", "f: OK\n");
    }
}

#[test]
fn names_in_code_pages_give_a_command() {
    let folder = Folder::new();
    folder.write("\u{20ac} \u{fc}", "abc");
    folder.write("\u{e4}", "d");
    for (name, file, content) in
        [(&b"\x80 \xfc"[..], "\u{20ac} \u{fc}", "abc"), (b"\x84", "\u{e4}", "d")]
    {
        folder.write("l", [md5(content).as_bytes(), b"  ", name, b"\n"].concat());
        let run = output(folder.lanesum(["check", "l"]).env("LC_ALL", "C.UTF-8"));
        let hint = text(&run.stderr).lines().last().unwrap().to_owned();
        assert!(hint.contains("iconv -f CP"), "{file}: {hint}");
        let printed = if file.contains(' ') { format!("'{file}'") } else { file.to_owned() };
        assert_ran(&folder, &run, "hint: ", &format!("{printed}: OK\n"));
    }
}

#[test]
fn blanks_behind_names_give_a_command() {
    let folder = Folder::new();
    folder.write("a b", "abc");
    for name in ["a b ", "a b\t ", " a b", "  a b "] {
        folder.write("l", line("abc", name));
        assert_ran(&folder, &folder.run("check l"), "hint: ", "'a b': OK\n");
    }
}

/// `curl ... | sha256sum >f.sha256` has the name `-`.
#[test]
fn standard_input_on_a_terminal_is_told() {
    let folder = Folder::new();
    folder.write("f.md5", line("abc", "-"));
    let shell = format!("'{PROGRAM}' check f.md5");
    let mut command = folder.command("script");
    command.args(["-qec", &shell, "/dev/null"]).stdin(Stdio::piped());
    let Ok(mut child) = command.stdout(Stdio::piped()).spawn() else {
        return skip("no script, which makes a terminal");
    };
    let mut stdin = child.stdin.take().unwrap();
    let mut said = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let words = "has a line about standard input";
    while !said.contains(words) && stdout.read_line(&mut said).unwrap() > 0 {}
    assert!(said.contains(words), "{said}");
    // Ends the content without a newline.
    stdin.write_all(b"abc\x04\x04").unwrap();
    io::Read::read_to_string(&mut stdout, &mut said).unwrap();
    assert!(said.contains("-: OK"), "{said}");
    child.wait().unwrap();
    // Without a terminal there is nothing to wait for.
    let run = folder.run_with_stdin("check f.md5", "abc");
    expect(&run, 0, "-: OK\n", "");
}
