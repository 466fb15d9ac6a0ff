//! Names of any bytes: their order, and that a list of them is read back.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use super::*;

/// Names that some tool somewhere stumbles over.
fn tricky() -> Vec<Vec<u8>> {
    let mut names: Vec<Vec<u8>> = [
        &b"a"[..],
        b"a.b",
        b"a-b",
        b"a0",
        b"-a",
        b"--tag",
        b"-",
        b" leading",
        b"trailing ",
        b"*star",
        b"#comment",
        b"\\",
        b"\\n",
        b"new\nline",
        b"return\r",
        b"\r\n",
        b"back\\slash",
        b"comma,semi;colon:",
        b"'single'",
        b"\"double\"",
        b"$(echo)`echo`",
        b"MD5 (x) = y",
        b"x) = d41d8cd98f00b204e9800998ecf8427e",
        b"tab\tescape\x1b[31m",
        b"\x01\x7f",
        "\u{fc}\u{3b1}\u{1f600}".as_bytes(),
        b"\xff\xfe",
        b"no \xc3\x28 UTF-8",
        b"\xef\xbb\xbfmark",
    ]
    .map(<[u8]>::to_vec)
    .to_vec();
    names.push(vec![b'l'; 255]);
    names.push(vec![b'\n'; 255]);
    names
}

/// A tree of them at two depths, each file with a content of its own; and the paths, unsorted.
fn tree() -> (Folder, Vec<Vec<u8>>) {
    let folder = Folder::new();
    let mut paths = Vec::new();
    for name in tricky() {
        paths.push([b"t/", &name[..]].concat());
    }
    // `t/a/` sorts after `t/a-b` and `t/a.b`, but before `t/a0`: it cannot be beside the file `a`.
    paths.retain(|path| path != b"t/a" && path != b"t/\xff\xfe");
    for name in tricky() {
        paths.push([b"t/a/", &name[..]].concat());
        paths.push([b"t/\xff\xfe/", &name[..]].concat());
    }
    paths.iter().for_each(|path| folder.write(path, path));
    (folder, paths)
}

/// What is printed for files that hold their own paths, when nothing is escaped.
fn plain(paths: &[Vec<u8>], ending: u8) -> Vec<u8> {
    let mut list = Vec::new();
    for path in paths {
        list.extend([md5(path).as_bytes(), b"  ", path, &[ending]].concat());
    }
    list
}

#[test]
fn files_come_in_byte_order_of_their_whole_paths() {
    let (folder, mut paths) = tree();
    paths.sort();
    expect(&folder.run("-z t"), 0, plain(&paths, 0), "");
    for threads in 1..=4 {
        expect(&folder.run(&format!("-z -j {threads} t")), 0, plain(&paths, 0), "");
    }
    assert_eq!(folder.run("-z t/").stdout, plain(&paths, 0), "with a slash at the end");
}

#[test]
fn the_order_is_that_of_sort() {
    let folder = Folder::of(&["t/a.b", "t/a/b", "t/a-b", "t/a0", "t/a/a", "t/b", "t/Z"]);
    let sorted = ["t/Z", "t/a-b", "t/a.b", "t/a/a", "t/a/b", "t/a0", "t/b"];
    expect(&folder.run("t"), 0, lines(&sorted), "");
}

#[test]
fn a_list_of_any_names_is_read_back() {
    let (folder, paths) = tree();
    for (write, read) in [("", ""), ("--tag", ""), ("-z", "-z"), ("-z --tag", "-z")] {
        let list = folder.run(&format!("{write} t"));
        assert_eq!(list.status.code(), Some(0), "{write}");
        folder.write("list", &list.stdout);
        let checked = folder.run(&format!("check {read} --status list"));
        expect(&checked, 0, "", "");
        let checked = folder.run(&format!("check {read} list"));
        let ok = checked.stdout.split(|&byte| byte == b'\n').filter(|l| l.ends_with(b": OK"));
        assert_eq!(ok.count(), paths.len(), "{write}: {}", text(&checked.stdout));

        // It does look at each of them.
        let victim = paths.last().unwrap();
        folder.write(victim, "something else");
        let checked = folder.run(&format!("check {read} --quiet list"));
        assert_eq!(checked.status.code(), Some(1), "{write}");
        assert!(checked.stdout.ends_with(b": FAILED\n"), "{}", text(&checked.stdout));
        assert_eq!(checked.stdout.iter().filter(|&&byte| byte == b'\n').count(), 1);
        folder.write(victim, victim);
    }
}

#[test]
fn lines_are_escaped_as_md5sum_does() {
    let folder = Folder::new();
    folder.write("t/a\\b\nc\rd", "abc");
    expect(&folder.run("t"), 0, format!("\\{ABC}  t/a\\\\b\\nc\\rd\n"), "");
    expect(&folder.run("--tag t"), 0, format!("\\MD5 (t/a\\\\b\\nc\\rd) = {ABC}\n"), "");
    expect(&folder.run("-z t"), 0, format!("{ABC}  t/a\\b\nc\rd\0"), "");
}

#[test]
fn every_name_can_be_an_argument() {
    let folder = Folder::new();
    let mut names = tricky();
    names.retain(|name| name != b"-");
    names.iter().for_each(|name| folder.write(name, name));
    let args = names.iter().map(|name| OsString::from_vec(name.clone()));
    let list = output(&mut folder.lanesum(["-z".into(), "--".into()].into_iter().chain(args)));
    expect(&list, 0, plain(&names, 0), "");
    assert_eq!(folder.run("-- ./-a").stdout, line("-a", "./-a").into_bytes());
}

#[test]
fn messages_show_names_in_one_line() {
    let folder = Folder::new();
    let missing = output(&mut folder.lanesum(["sum", "a\nb"]));
    expect(&missing, 1, "", "lanesum: 'a'$'\\n''b': No such file or directory\n");
    folder.write("a\nb", "x");
    folder.write("list", format!("\\{ABC}  a\\nb\n"));
    expect(&folder.run("check --quiet -a md5 list"), 1, "'a'$'\\n''b': FAILED\n", "");
}

#[test]
fn messages_show_what_the_locale_can_show() {
    let folder = Folder::new();
    let escaped = "''$'\\303\\251'";
    // The last is not installed, and so it is the C locale.
    for (locale, shown) in [("C", escaped), ("C.UTF-8", "é"), ("xx_YY.UTF-8", escaped)] {
        let missing = output(folder.lanesum(["sum", "é"]).env("LC_ALL", locale));
        let words = format!("lanesum: {shown}: No such file or directory\n");
        expect(&missing, 1, "", words);
    }
}
