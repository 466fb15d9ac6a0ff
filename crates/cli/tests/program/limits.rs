//! Limits on memory and descriptors: they make a run slower, and end none.

use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};

use super::*;

/// A line of the shell under a limit of `ulimit`, in which `lanesum` is the program.
fn limited(folder: &Folder, limit: &str, line: &str) -> Output {
    let mut command = folder.command("/bin/sh");
    command.arg("-c").arg(format!("ulimit {limit}; lanesum() {{ \"$PROGRAM\" \"$@\"; }}; {line}"));
    output(command.env("PROGRAM", PROGRAM))
}

/// A tree of small and long files, its list, and one of the list's lines as GNU has it.
fn tree() -> (Folder, String) {
    let folder = Folder::in_memory();
    let mut list = String::new();
    for i in 0..150 {
        let content = bytes([0, 5, 4_000, 40_000, 100_000, 200_000, 700_000][i % 7]);
        let name = format!("t/{i:03}");
        folder.write(&name, &content);
        list += &line(&content, &name);
    }
    folder.write("list", &list);
    (folder, list)
}

/// The least limit on addresses, in KiB, under which the program starts.
fn least(folder: &Folder) -> usize {
    let starts = |limit: &usize| {
        limited(folder, &format!("-v {limit}"), "lanesum --version").status.success()
    };
    (1..).map(|i| i * 512).find(starts).unwrap()
}

#[test]
fn little_memory_ends_no_run() {
    let (folder, list) = tree();
    let least = least(&folder);
    // From what is needed beside the files' own buffers to what takes away nothing.
    let limits = (1..12).map(|i| least + 2048 * i).chain([60_000, 100_000, 160_000, 400_000]);
    for limit in limits {
        let run = |line: &str| limited(&folder, &format!("-v {limit}"), line);
        for io in ["auto", "read", "mmap", "uring"] {
            if io == "uring" && !folder.run("--io uring list").status.success() {
                continue;
            }
            for threads in [1, 8] {
                let sum = run(&format!("lanesum --io {io} -j {threads} t"));
                expect(&sum, 0, &list, "");
            }
        }
        // Past the cache means that or an error, with a name to it.
        let direct = run("lanesum --io direct t");
        assert_eq!(direct.status.signal(), None, "{limit}: {}", text(&direct.stderr));
        if direct.status.success() {
            assert_eq!(text(&direct.stdout), list);
        }
        expect(&run("lanesum md5sum -c --quiet list"), 0, "", "");
        expect(&run("lanesum check --quiet list 2>/dev/null"), 0, "", "");
        expect(&run("lanesum -o out --progress always t 2>/dev/null"), 0, "", "");
        assert!(folder.read("out") == list, "{limit}");
        // What is read alone, too.
        let alone = run("echo abc | lanesum t/000 - t/001");
        let lines = [line("", "t/000"), line("abc\n", "-"), line(bytes(5), "t/001")].concat();
        expect(&alone, 0, lines, "");
    }
}

#[test]
fn a_limit_on_data_ends_no_run() {
    let (folder, list) = tree();
    for limit in [8_000, 20_000, 80_000] {
        expect(&limited(&folder, &format!("-d {limit}"), "lanesum -j 8 t"), 0, &list, "");
    }
}

/// A limit on threads binds all but root.
#[test]
fn threads_that_are_refused_end_no_run() {
    let (folder, list) = tree();
    let nobody = 65_534;
    let mut command = folder.command("prlimit");
    if rustix::process::geteuid().is_root() {
        command.uid(nobody);
    }
    folder.write("abc", "abc\n");
    command.args(["--nproc=1:1", PROGRAM, "-j", "8", "--progress", "always", "-", "t"]);
    command.stdin(File::open(folder.path("abc")).unwrap()).stderr(Stdio::null());
    if let Err(error) = Command::new("prlimit").arg("--version").output() {
        return skip(&format!("prlimit: {error}"));
    }
    let run = output(&mut command);
    if matches!(run.status.code(), Some(126 | 127)) {
        return skip("nobody may not run the program where it was built");
    }
    expect(&run, 0, super::line("abc\n", "-") + &list, "");
}
