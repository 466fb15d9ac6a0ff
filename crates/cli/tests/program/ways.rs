//! The ways to read files: `--io`.

use super::*;

const WAYS: [&str; 5] = ["auto", "read", "mmap", "direct", "uring"];

/// Those ways that this system has for the files of tests; tells which it has not.
fn ways(folder: &Folder) -> Vec<&'static str> {
    folder.write("probe", "abc");
    let has = |way: &&str| {
        let run = folder.run(&format!("--io {way} probe"));
        let has = run.status.success();
        if !has {
            skip(&text(&run.stderr));
        }
        has
    };
    let ways: Vec<_> = WAYS.into_iter().filter(has).collect();
    assert!(ways.starts_with(&["auto", "read", "mmap"]), "these are everywhere");
    ways
}

#[test]
fn every_way_gives_the_same() {
    let folder = Folder::new();
    let ways = ways(&folder);
    let mut expected = String::new();
    let lengths = [0, 1, 4096, 131_072, 131_073, 600_000, 2 << 20, (5 << 20) + 17];
    for (index, length) in lengths.into_iter().enumerate() {
        let content = bytes(length);
        let name = format!("t/{index}");
        folder.write(&name, &content);
        expected += &line(&content, &name);
    }
    for index in 0..300 {
        let name = format!("t/small/{index:03}");
        folder.write(&name, &name);
        expected += &line(&name, &name);
    }
    folder.write("list", &expected);
    for way in ways {
        for jobs in [1, 3] {
            expect(&folder.run(&format!("--io {way} -j {jobs} t")), 0, &expected, "");
            let run = folder.run(&format!("check --status --io {way} -j {jobs} list"));
            expect(&run, 0, "", "");
        }
    }
}

#[test]
fn names_of_any_bytes_and_failures_among_others() {
    let folder = Folder::new();
    let ways = ways(&folder);
    fs::create_dir(folder.path("t")).unwrap();
    folder.write(b"t/\xff\x01 x", "abc");
    folder.write("t/zz", "abc");
    obey_modes();
    fs::set_permissions(folder.path("t/zz"), std::os::unix::fs::PermissionsExt::from_mode(0o000))
        .unwrap();
    for way in ways {
        let run = folder.run(&format!("--io {way} t missing"));
        assert_eq!(run.status.code(), Some(1), "{way}");
        let expected = [ABC.as_bytes(), b"  t/\xff\x01 x\n"].concat();
        assert_eq!(text(&run.stdout), text(&expected), "{way}");
        assert_eq!(
            text(&run.stderr),
            "lanesum: t/zz: Permission denied\nlanesum: missing: No such file or directory\n",
            "{way}"
        );
    }
}

/// What has no medium cannot be read from one, and nobody is told otherwise.
#[test]
fn direct_fails_without_o_direct() {
    let path = "/proc/version";
    if !exists(path) {
        return skip(path);
    }
    let words = "lanesum: /proc/version: its file system cannot read past the cache (O_DIRECT)\n\
                 hint: leave out --io direct\n";
    let folder = Folder::new();
    expect(&folder.run(&format!("--io direct {path}")), 1, "", words);
}

#[test]
fn an_unknown_way_is_wrong_usage() {
    let run = Folder::new().run("--io tape x");
    assert_eq!(run.status.code(), Some(2));
    let words = text(&run.stderr);
    for way in WAYS {
        assert!(words.contains(way), "{words}");
    }
}

#[test]
fn a_mapped_file_that_is_cut_off_is_reported() {
    let folder = Folder::new();
    folder.write("long", bytes(16 << 20));
    folder.fifo("fifo");
    let mut command = folder.lanesum(["--io", "mmap", "-j", "1", "--files0-from", "-"]);
    let mut running = start(command.stdin(Stdio::piped()));
    let mut names = running.stdin();
    names.write_all(b"long\0fifo\0").unwrap();
    // As in `changes`: when the FIFO is open for reading, the file is partly read.
    let mut fifo = folder.writer("fifo");
    File::options().write(true).open(folder.path("long")).unwrap().set_len(0).unwrap();
    fifo.write_all(b"abc").unwrap();
    drop((fifo, names));
    let words = "lanesum: long: changed while it was read\n";
    expect(&running.finish(), 1, line("abc", "fifo"), words);
}

/// Files of the kernel have sizes that let them be mapped, and then most cannot be.
#[test]
fn unmappable_file_is_read() {
    const FOLDER: &str = "/sys/kernel";
    if !Path::new(FOLDER).is_dir() {
        return skip("there is no /sys");
    }
    let folder = Folder::new();
    for _ in 0..8 {
        let run = folder.run(&format!("--io mmap -j 4 {FOLDER}"));
        assert!(run.status.code().is_some(), "{:?}: {}", run.status, text(&run.stderr));
    }
}
