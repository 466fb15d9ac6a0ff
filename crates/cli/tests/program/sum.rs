//! `lanesum [sum]`: which digests are printed, and for what.

use lanesum_md5::Backend;

use super::*;

/// Every algorithm's digest of a content, by the crates alone: name, tag, digits.
fn digests(content: &[u8]) -> [(&'static str, &'static str, String); 19] {
    use sha2::Digest as _;
    [
        ("md5", "MD5", md5(content)),
        ("sha1", "SHA1", hex(&sha1::Sha1::digest(content))),
        ("sha224", "SHA224", hex(&sha2::Sha224::digest(content))),
        ("sha256", "SHA256", hex(&sha2::Sha256::digest(content))),
        ("sha384", "SHA384", hex(&sha2::Sha384::digest(content))),
        ("sha512", "SHA512", hex(&sha2::Sha512::digest(content))),
        ("blake3", "BLAKE3", blake3::hash(content).to_string()),
        ("blake2b", "BLAKE2b", blake2b_simd::blake2b(content).to_hex().to_string()),
        ("sha512-256", "SHA512/256", hex(&sha2::Sha512_256::digest(content))),
        ("sha3-256", "SHA3-256", hex(&sha3::Sha3_256::digest(content))),
        ("sha3-512", "SHA3-512", hex(&sha3::Sha3_512::digest(content))),
        // A file of one block, or of none.
        ("dropbox", "DROPBOX", {
            let block = sha2::Sha256::digest(content);
            hex(&sha2::Sha256::digest(if content.is_empty() { &[][..] } else { &block }))
        }),
        // A file of one block.
        ("glacier", "GLACIER", hex(&sha2::Sha256::digest(content))),
        ("xxh128", "XXH128", format!("{:032x}", xxhash_rust::xxh3::xxh3_128(content))),
        ("xxh3-64", "XXH3", format!("{:016x}", xxhash_rust::xxh3::xxh3_64(content))),
        ("xxh64", "XXH64", format!("{:016x}", xxhash_rust::xxh64::xxh64(content, 0))),
        ("xxh32", "XXH32", format!("{:08x}", xxhash_rust::xxh32::xxh32(content, 0))),
        ("crc32c", "CRC32C", format!("{:08x}", crc32c::crc32c(content))),
        ("crc32", "CRC32", format!("{:08x}", crc32fast::hash(content))),
    ]
}

/// Lengths around the edges of blocks and of what is read at a time.
const LENGTHS: [usize; 8] = [0, 1, 55, 64, 4096, (128 << 10) - 1, 128 << 10, 700_001];

/// A folder of files of these lengths, and their names in byte order with their contents.
fn of_lengths() -> (Folder, Vec<(String, Vec<u8>)>) {
    let folder = Folder::new();
    let files: Vec<_> =
        LENGTHS.map(|length| (format!("t/{length:07}"), bytes(length))).into_iter().collect();
    files.iter().for_each(|(name, content)| folder.write(name, content));
    (folder, files)
}

#[test]
fn each_algorithm_gives_the_digests_of_its_crate() {
    let (folder, files) = of_lengths();
    for (index, (algorithm, tag, _)) in digests(b"").into_iter().enumerate() {
        let digest = |content: &[u8]| digests(content)[index].2.clone();
        let digests: Vec<_> = files.iter().map(|(name, content)| (name, digest(content))).collect();
        // As xxhsum writes it, because XXH64 has as many digits.
        let mark = if algorithm == "xxh3-64" { "XXH3_" } else { "" };
        let untagged: String =
            digests.iter().map(|(name, digest)| format!("{mark}{digest}  {name}\n")).collect();
        let tagged: String =
            digests.iter().map(|(name, digest)| format!("{tag} ({name}) = {digest}\n")).collect();
        // The others have as many digits, and their untagged lines would be taken for these.
        let is_told = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "xxh64", "crc32c"];
        let by_default = if is_told.contains(&algorithm) { &untagged } else { &tagged };
        expect(&folder.run(&format!("-a {algorithm} t")), 0, by_default, "");
        expect(&folder.run(&format!("-a {} t", algorithm.to_uppercase())), 0, by_default, "");
        expect(&folder.run(&format!("-a {algorithm} --untagged t")), 0, &untagged, "");
        expect(&folder.run(&format!("-a {algorithm} --tag t")), 0, &tagged, "");
    }
}

#[test]
fn untagged_lines_of_several_algorithms_are_refused() {
    let folder = Folder::of(&["a"]);
    let told = "lanesum: lines of several algorithms must name them\nhint: leave out --untagged\n";
    expect(&folder.run("-a md5,sha1 --untagged -o list a"), 2, "", told);
    assert!(!exists(folder.path("list")), "nothing was begun");
    let run = folder.run("--tag --untagged a");
    assert_eq!((run.status.code(), text(&run.stdout).as_str()), (Some(2), ""));
    expect(&folder.run("-a md5,md5 --untagged a"), 0, lines(&["a"]), "");
}

#[test]
fn several_algorithms_in_one_read_imply_tags() {
    let (folder, files) = of_lengths();
    let tagged = |wanted: &[&str]| -> String {
        let line = |name: &str, content: &[u8]| -> String {
            let digests = digests(content).into_iter();
            digests
                .filter(|(algorithm, ..)| wanted.contains(algorithm))
                .map(|(_, tag, digest)| format!("{tag} ({name}) = {digest}\n"))
                .collect()
        };
        files.iter().map(|(name, content)| line(name, content)).collect()
    };
    // What it was called before there was one of 64 bits.
    expect(&folder.run("-a xxh3 t"), 0, tagged(&["xxh128"]), "");
    let all = digests(b"").map(|(algorithm, ..)| algorithm);
    expect(&folder.run(&format!("-a {} t", all.join(","))), 0, tagged(&all), "");
    expect(&folder.run("-a sha256 -a md5 t"), 0, tagged(&["md5", "sha256"]), "");
    expect(&folder.run("-a blake3,crc32c,blake3 t"), 0, tagged(&["blake3", "crc32c"]), "");
    // The same through a pipe, where there are no lanes.
    let output = folder.run_with_stdin("-a md5,sha512", "abc");
    let [(_, _, md5), .., (_, _, sha512)] = &digests(b"abc")[..6] else { unreachable!() };
    expect(&output, 0, format!("MD5 (-) = {md5}\nSHA512 (-) = {sha512}\n"), "");
}

#[test]
fn the_output_depends_neither_on_threads_nor_on_the_backend() {
    let folder = Folder::new();
    let contents: Vec<_> = (0..300).map(|i| bytes(i * i % 9_001)).collect();
    let mut expected = String::new();
    for (i, content) in contents.iter().enumerate() {
        let name = format!("t/{i:03}");
        folder.write(&name, content);
        expected += &line(content, &name);
    }
    for threads in 1..=4 {
        expect(&folder.run(&format!("-j {threads} t")), 0, &expected, "");
    }
    for backend in Backend::available().map(Backend::name) {
        expect(&folder.run(&format!("--backend {backend} t")), 0, &expected, "");
        let mut command = folder.lanesum(["t"]);
        expect(&output(command.env("LANESUM_BACKEND", backend)), 0, &expected, "");
    }
}

#[test]
fn a_backend_that_is_not_there_is_wrong_usage() {
    let folder = Folder::of(&["a"]);
    let by_option = folder.run("--backend mmx a");
    let by_environment = output(folder.lanesum(["a"]).env("LANESUM_BACKEND", "mmx"));
    for run in [by_option, by_environment] {
        assert_eq!(run.status.code(), Some(2));
        assert_eq!(text(&run.stdout), "");
        for backend in Backend::available().map(Backend::name) {
            assert!(text(&run.stderr).contains(backend), "{}", text(&run.stderr));
        }
    }
    // A variable that is set to nothing asks for none.
    let mut command = folder.lanesum(["a"]);
    expect(&output(command.env("LANESUM_BACKEND", "")), 0, lines(&["a"]), "");
    // The option is asked first.
    let mut command = folder.lanesum(["--backend", "portable", "a"]);
    expect(&output(command.env("LANESUM_BACKEND", "mmx")), 0, lines(&["a"]), "");
}

#[test]
fn arguments_come_in_their_order() {
    let folder = Folder::of(&["z", "t/b", "t/a", "u/c"]);
    expect(&folder.run("z t u/c t/a"), 0, lines(&["z", "t/a", "t/b", "u/c", "t/a"]), "");
    expect(&folder.run("sum z t"), 0, lines(&["z", "t/a", "t/b"]), "");
    expect(&folder.run("./t"), 0, line("t/a", "./t/a") + &line("t/b", "./t/b"), "");
    let dot: Vec<_> =
        ["t/a", "t/b", "u/c", "z"].map(|path| line(path, &format!("./{path}"))).into();
    expect(&folder.run("."), 0, dot.concat(), "");
}

#[test]
fn standard_input_is_read_where_there_is_no_path() {
    let folder = Folder::of(&["a"]);
    let stdin = format!("{ABC}  -\n");
    expect(&folder.run_with_stdin("", "abc"), 0, &stdin, "");
    expect(&folder.run_with_stdin("sum", "abc"), 0, &stdin, "");
    expect(&folder.run_with_stdin("-", "abc"), 0, &stdin, "");
    let all = lines(&["a"]) + &stdin + &lines(&["a"]);
    expect(&folder.run_with_stdin("a - a", "abc"), 0, all, "");
    expect(&folder.run("-"), 0, format!("{EMPTY}  -\n"), "");
    let long = bytes(3_000_000);
    expect(&folder.run_with_stdin("-", &long), 0, line(&long, "-"), "");
    let file = || File::open(folder.path("a")).unwrap();
    expect(&output(folder.lanesum(["-"]).stdin(file())), 0, line("a", "-"), "");
    expect(&output(folder.lanesum(["/dev/stdin"]).stdin(file())), 0, line("a", "/dev/stdin"), "");
    expect(&folder.run_with_stdin("/dev/stdin", "abc"), 0, format!("{ABC}  /dev/stdin\n"), "");
}

#[test]
fn nothing_to_hash_is_no_error() {
    let folder = Folder::of(&["t/", "u/v/w/"]);
    folder.write("empty", "");
    expect(&folder.run("empty"), 0, format!("{EMPTY}  empty\n"), "");
    for args in ["t", "u t"] {
        expect(&folder.run(args), 0, "", "lanesum: no files; the list is empty\n");
    }
}

#[test]
fn a_list_may_hold_a_mixture_of_kinds() {
    let folder = Folder::of(&["a", "t/b"]);
    folder.fifo("fifo");
    let running = start(&mut folder.lanesum(["a", "fifo", "t", "-", "a"]));
    folder.writer("fifo").write_all(b"abc").unwrap();
    let between = format!("{ABC}  fifo\n{}{EMPTY}  -\n", lines(&["t/b"]));
    expect(&running.finish(), 0, lines(&["a"]) + &between + &lines(&["a"]), "");
}

#[test]
fn wrong_usage_exits_with_2() {
    let folder = Folder::of(&["a"]);
    for (args, names) in [
        ("--no-such-option a", "--no-such-option"),
        ("-a md6 a", "md6"),
        ("-a md5,md6 a", "md6"),
        ("-a", "--algorithm"),
        ("-j 0 a", "1 to 1024"),
        ("-j many a", "1 to 1024"),
        ("--progress sometimes a", "sometimes"),
        ("--exclude [ a", "'['"),
        ("--generate csh", "csh"),
        ("check --no-such-option", "--no-such-option"),
        ("check -a md6", "md6"),
        ("--files0-from a a", "--files0-from"),
        ("-o", "--output"),
    ] {
        let run = folder.run(args);
        assert_eq!(run.status.code(), Some(2), "{args}");
        assert_eq!(text(&run.stdout), "", "{args}");
        assert!(text(&run.stderr).contains(names), "{args}: {}", text(&run.stderr));
    }
    let unknown = text(&folder.run("-a md6 a").stderr);
    for (algorithm, ..) in digests(b"") {
        assert!(unknown.contains(algorithm), "{unknown}");
    }
}
