//! Memory stays flat however large a file or long a list is.

use std::io::BufRead as _;

use super::*;

/// What a run may take at most, in KiB, beside its code.
const LIMIT: u64 = 24 << 10;

/// MD5 of so many zeros, as `truncate -s 5G zeros; md5sum zeros` of coreutils gives it.
const FIVE_GIB_OF_ZEROS: (u64, &str) = (5 << 30, "ec4bcc8776ea04479b786e063a9ace45");
const HALF_A_GIB_OF_ZEROS: (u64, &str) = (512 << 20, "aa559b4e3523a6c931f08f4df52d58f2");
/// CRC-32 of the same, by Python's zlib. It shows as well as MD5 that all of it was read, in a
/// twentieth of the time.
const CRC_OF_FIVE_GIB: (u64, &str) = (5 << 30, "193838c3");

#[test]
fn a_sparse_file_of_5_gib() {
    a_sparse_file("read", FIVE_GIB_OF_ZEROS);
}

#[test]
fn a_sparse_file_of_5_gib_past_the_cache() {
    a_sparse_file("direct", CRC_OF_FIVE_GIB);
}

#[test]
fn a_sparse_file_of_5_gib_by_io_uring() {
    a_sparse_file("uring", CRC_OF_FIVE_GIB);
}

/// Who maps a hole makes the system fill it with pages of zeros, so this one is smaller. The pages
/// count while they are mapped, 2 MiB in each lane.
#[test]
fn a_sparse_file_that_is_mapped() {
    a_sparse_file("mmap", HALF_A_GIB_OF_ZEROS);
}

/// In 8,739 parts: their MD5s by Python's hashlib.
#[test]
fn a_file_in_parts() {
    const ETAG: &str = "a78029caec930757418794e3b5d1c592-8739";
    let folder = Folder::in_memory();
    folder.write("sparse", "");
    let file = File::options().write(true).open(folder.path("sparse")).unwrap();
    file.set_len(5 << 30).unwrap();
    // What somebody has open for writing is read twice.
    drop(file);
    folder.fifo("fifo");
    let mut running = start(&mut folder.lanesum(["etag", "-p", "600KiB", "sparse", "fifo"]));
    let mut stdout = running.stdout();
    let mut first = String::new();
    stdout.read_line(&mut first).unwrap();
    assert_eq!(first, format!("{ETAG}  sparse\n"));
    let peak = running.peak_memory();
    drop(folder.writer("fifo"));
    let mut second = String::new();
    stdout.read_line(&mut second).unwrap();
    assert_eq!(second, format!("{EMPTY}  fifo\n"));
    let told = "lanesum: warning: S3 has no objects in parts of 600KiB: it allows only parts of 5MiB to 5GiB\n";
    expect(&running.finish(), 0, "", told);
    assert!(peak <= LIMIT, "{peak} KiB");
}

fn a_sparse_file(io: &str, (length, digest): (u64, &str)) {
    let folder = Folder::in_memory();
    folder.write("sparse", "");
    let probe = folder.run(&format!("--io {io} sparse"));
    if !probe.status.success() {
        return skip(&text(&probe.stderr));
    }
    let file = File::options().write(true).open(folder.path("sparse")).unwrap();
    file.set_len(length).unwrap();
    drop(file);
    // The warning comes out after the line of the sparse file, and then the FIFO is waited for.
    folder.fifo("in a tree");
    folder.fifo("fifo");
    let mut command = folder.lanesum(["sparse", ".", "fifo", "--exclude", "[!i]*", "--io", io]);
    let is_crc = digest.len() == 8;
    if is_crc {
        command.args(["-a", "crc32"]);
    }
    let line = |digest: &str, name: &str| {
        if is_crc { format!("CRC32 ({name}) = {digest}\n") } else { format!("{digest}  {name}\n") }
    };
    let empty = if is_crc { "00000000" } else { EMPTY };
    let mut running = start(&mut command);
    let mut stdout = running.stdout();
    let mut first = String::new();
    stdout.read_line(&mut first).unwrap();
    assert_eq!(first, line(digest, "sparse"));
    let peak = running.peak_memory();
    drop(folder.writer("fifo"));
    let mut second = String::new();
    stdout.read_line(&mut second).unwrap();
    assert_eq!(second, line(empty, "fifo"));
    expect(&running.finish(), 0, "", "lanesum: './in a tree': named pipe, skipped\n");
    assert!(peak <= LIMIT, "{peak} KiB");
}

/// More files than two workers have lanes, each longer than what a lane takes at a time.
#[test]
fn many_long_files() {
    let folder = Folder::in_memory();
    let content = bytes(700_000);
    let mut expected = String::new();
    for i in 0..150 {
        let path = format!("t/{i:03}");
        folder.write(&path, &content);
        expected += &line(&content, &path);
    }
    folder.fifo("fifo");
    expected += &format!("{EMPTY}  fifo\n");
    for io in ["read", "direct", "uring"] {
        if !folder.run(&format!("--io {io} t/000")).status.success() {
            skip(io);
            continue;
        }
        let running =
            start(&mut folder.lanesum(["--io", io, "-j", "2", "t", "fifo", "-o", "list"]));
        let fifo = folder.writer("fifo");
        let peak = running.peak_memory();
        drop(fifo);
        expect(&running.finish(), 0, "", "");
        assert!(folder.read("list") == expected, "{io}");
        assert!(peak <= LIMIT, "{io}: {peak} KiB");
    }
}

#[test]
fn a_list_of_a_million_lines() {
    let folder = Folder::in_memory();
    folder.write("a", "abc");
    const EACH: usize = 250_000;
    // A read for each of these, and one for many of the others.
    let good = |i| if i % 2 == 0 { format!("{ABC}  a\n") } else { format!("{ABC}  ./a\n") };
    let good: String = (0..EACH).map(good).collect();
    let bad = format!("{EMPTY}  a\n");
    let gone = format!("{ABC}  gone\n");
    let list = [&bad, &gone, "no checksum line\n"].map(|line| line.repeat(EACH)).concat();
    folder.write("list", good + &list);
    folder.fifo("end");
    let mut command = folder.lanesum(["check", "--quiet", "--ignore-missing", "list", "end"]);
    // Into a file, since nobody reads from a pipe meanwhile.
    let run = start(command.stdout(File::create(folder.path("out")).unwrap()));
    // Nearly everything is done when the second list is opened.
    let mut end = folder.writer("end");
    let peak = run.peak_memory();
    end.write_all(format!("{ABC}  a\n").as_bytes()).unwrap();
    drop(end);
    let run = run.finish();
    assert_eq!(run.status.code(), Some(1));
    assert!(folder.read("out") == "a: FAILED\n".repeat(EACH), "one line for each mismatch");
    let stderr = text(&run.stderr);
    assert!(stderr.contains("250000 lines are not checksum lines"), "{stderr}");
    assert!(stderr.contains("lanesum: 250,002 files (500,001 lines), "), "{stderr}");
    assert!(
        stderr.ends_with(": 250,000 FAILED, 250,000 missing, 250,000 skipped lines\n"),
        "{stderr}"
    );
    assert!(peak <= LIMIT, "{peak} KiB");
}

#[test]
fn a_tree_of_many_files() {
    let folder = Folder::in_memory();
    let mut expected = String::new();
    for i in 0..20_000 {
        let path = format!("t/{i:05}");
        folder.write(&path, "");
        expected += &format!("{EMPTY}  {path}\n");
    }
    folder.fifo("fifo");
    let running = start(&mut folder.lanesum(["t", "fifo", "-o", "list"]));
    let fifo = folder.writer("fifo");
    let peak = running.peak_memory();
    drop(fifo);
    expect(&running.finish(), 0, "", "");
    assert!(folder.read("list") == expected + &format!("{EMPTY}  fifo\n"));
    assert!(peak <= LIMIT, "{peak} KiB");
}
