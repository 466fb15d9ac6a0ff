//! `--files0-from`: paths from a file.

use std::io::BufRead as _;

use super::*;

#[test]
fn paths_come_from_a_file_or_from_standard_input() {
    let folder = Folder::of(&["a", "t/b", "t/c", "new\nline"]);
    folder.write("paths", "t\0a\0new\nline\0");
    let mut list = lines(&["t/b", "t/c", "a"]);
    list += &format!("\\{}  new\\nline\n", md5("new\nline"));
    expect(&folder.run("--files0-from paths"), 0, &list, "");
    expect(&folder.run_with_stdin("--files0-from -", "t\0a\0new\nline\0"), 0, &list, "");
    expect(&folder.run_with_stdin("--files0-from -", "t\0a\0new\nline"), 0, &list, "");
    let told = "lanesum: no files; the list is empty\n";
    expect(&folder.run("--files0-from /dev/null"), 0, "", told);
}

#[test]
fn folders_among_files_are_walked_in_their_places() {
    let folder = Folder::of(&["d/b", "d/c", "d/e/f", "e/"]);
    let (mut paths, mut list) = (String::new(), String::new());
    for number in 0..3000 {
        let name = format!("f/{number}");
        folder.write(&name, bytes(number));
        paths += &format!("{name}\0");
        list += &line(bytes(number), &name);
        // None at first, then many, and not only where nobody looks any more.
        if number > 100 && number % 7 == 0 {
            paths += "d\0e\0";
            list += &lines(&["d/b", "d/c", "d/e/f"]);
        }
    }
    folder.write("paths", paths + "d/\0f/0\0nowhere\0d/e\0");
    list += &(lines(&["d/b", "d/c", "d/e/f"]) + &line(bytes(0), "f/0") + &lines(&["d/e/f"]));
    for io in ["read", "mmap"] {
        for threads in [1, 4] {
            let run = folder.run(&format!("-j {threads} --io {io} --files0-from paths"));
            expect(&run, 1, &list, "lanesum: nowhere: No such file or directory\n");
        }
    }
    let run = folder.run("d/b e d d/e/f d/");
    expect(&run, 0, lines(&["d/b", "d/b", "d/c", "d/e/f", "d/e/f", "d/b", "d/c", "d/e/f"]), "");
}

#[test]
fn output_is_not_in_the_list() {
    let folder = Folder::of(&["a", "b", "t/c"]);
    folder.write("paths", "a\0list\0b\0./list\0t\0");
    folder.write("list", "as it was");
    // As find names it, too.
    let words = ["list", "./list"]
        .map(|name| format!("lanesum: {name}: skipped, because the output goes there\n"));
    expect(&folder.run("-o list --files0-from paths"), 0, "", words.concat());
    assert_eq!(folder.read("list"), lines(&["a", "b", "t/c"]));
}

#[test]
fn an_empty_name_is_an_error_and_the_rest_goes_on() {
    let folder = Folder::of(&["a", "b"]);
    folder.write("paths", "a\0\0b\0");
    let run = folder.run("--files0-from paths");
    expect(&run, 1, lines(&["a", "b"]), "lanesum: paths: name 2 is empty\n");
}

/// It would take the names that follow for its content.
#[test]
fn standard_input_is_not_read_for_names_and_as_a_file() {
    let folder = Folder::of(&["a", "b"]);
    for name in ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"] {
        let message = format!(
            "lanesum: {name}: when reading file names from standard input, no file name of '{name}' \
             allowed\n"
        );
        for from in ["-", "/dev/stdin"] {
            let names = format!("a\0{name}\0b\0");
            let run = folder.run_with_stdin(&format!("--files0-from {from}"), names);
            let message = message.replacen(name, from, 1);
            expect(&run, 1, lines(&["a", "b"]), message);
        }
    }
    folder.write("paths", "a\0-\0b\0");
    let list = lines(&["a"]) + &format!("{ABC}  -\n") + &lines(&["b"]);
    expect(&folder.run_with_stdin("--files0-from paths", "abc"), 0, list, "");
}

#[test]
fn paths_are_not_arguments_too() {
    let folder = Folder::of(&["a"]);
    folder.write("paths", "a\0");
    let run = folder.run("--files0-from paths a");
    assert_eq!((run.status.code(), text(&run.stdout).as_str()), (Some(2), ""));
    assert!(text(&run.stderr).contains("cannot be used with"), "{}", text(&run.stderr));
}

#[test]
fn a_file_that_cannot_be_read_is_told_once() {
    let folder = Folder::of(&["t/"]);
    let run = folder.run("--files0-from nowhere");
    expect(&run, 1, "", "lanesum: nowhere: No such file or directory\n");
    expect(&folder.run("--files0-from t"), 1, "", "lanesum: t: Is a directory\n");
}

#[test]
fn a_digest_does_not_wait_for_the_next_path() {
    let folder = Folder::new();
    // One that a single read takes, and one that fills its lane many times.
    let contents = [("short", bytes(9)), ("long", bytes(8 << 20))];
    for (name, content) in &contents {
        folder.write(name, content);
    }
    for threads in ["1", "2"] {
        let mut command = folder.lanesum(["-j", threads, "--files0-from", "-"]);
        let mut running = start(command.stdin(Stdio::piped()));
        let (mut names, mut stdout) = (running.stdin(), running.stdout());
        // Each comes with the first letter of the next one, which holds nothing up.
        let next = ["long", "short", "long", "missing"].map(|name| &name[..1]);
        names.write_all(b"s").unwrap();
        for ((name, content), next) in contents.iter().cycle().zip(next) {
            names.write_all(format!("{}\0{next}", &name[1..]).as_bytes()).unwrap();
            let mut first = String::new();
            stdout.read_line(&mut first).unwrap();
            assert_eq!(first, line(content, name));
        }
        names.write_all(b"issing\0long\0short\0").unwrap();
        let mut both = String::new();
        for _ in 0..2 {
            stdout.read_line(&mut both).unwrap();
        }
        assert_eq!(both, line(bytes(8 << 20), "long") + &line(bytes(9), "short"));
        drop(names);
        expect(&running.finish(), 1, "", "lanesum: missing: No such file or directory\n");
    }
}
