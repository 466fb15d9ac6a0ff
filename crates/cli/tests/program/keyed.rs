//! Keyed checksums: the digests, the lists, and what is said of key files that will not do.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

/// The key of BLAKE3's own test vectors.
const KEY: &[u8; 32] = b"whats the Elvish word for friend";

impl Folder {
    /// Writes a key file that only its owner may read.
    fn key(&self, name: &str, content: impl AsRef<[u8]>) {
        self.write(name, content);
        self.mode(name, 0o600);
    }

    fn mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }
}

/// A folder with files in `t`, which hold their own paths, and a key of 32 bytes in `key`.
fn folder() -> Folder {
    let folder = Folder::of(&["t/a", "t/b"]);
    folder.key("key", KEY);
    folder
}

fn blake3(content: &str) -> String {
    blake3::keyed_hash(KEY, content.as_bytes()).to_string()
}

#[test]
fn blake3_is_keyed_by_raw_bytes_or_digits() {
    let folder = folder();
    let untagged = ["t/a", "t/b"].map(|path| format!("{}  {path}\n", blake3(path))).concat();
    let tagged = ["t/a", "t/b"].map(|path| format!("BLAKE3 ({path}) = {}\n", blake3(path)));
    folder.key("digits", hex(KEY));
    folder.key("line", hex(KEY).to_uppercase() + "\n");
    for key in ["key", "digits", "line"] {
        let args = format!("-a blake3 --key-file {key} t");
        expect(&folder.run(&format!("--untagged {args}")), 0, &untagged, "");
        for tag in ["", "--tag "] {
            expect(&folder.run(&format!("{tag}{args}")), 0, tagged.concat(), "");
        }
    }
    let through_a_pipe = folder.run_with_stdin("-a blake3 --untagged --key-file key", "abc");
    expect(&through_a_pipe, 0, format!("{}  -\n", blake3("abc")), "");
}

#[test]
fn a_key_may_come_through_a_pipe() {
    let folder = folder();
    let digest = format!("BLAKE3 (t/a) = {}\n", blake3("t/a"));
    let run = folder.run_with_stdin("-a blake3 --key-file /dev/stdin t/a", KEY);
    expect(&run, 0, &digest, "");
}

/// Whoever reads first takes both.
#[test]
fn a_key_does_not_share_standard_input() {
    let folder = folder();
    for (args, what) in [
        ("-a blake3", "the data comes"),
        ("-a blake3 t/a -", "the data comes"),
        ("-a blake3 /dev/stdin", "the data comes"),
        ("-a blake3 --files0-from -", "the names come"),
        ("-a blake3 --files0-from /dev/fd/0", "the names come"),
        ("check", "a list comes"),
        ("check list -", "a list comes"),
        ("check /dev/stdin", "a list comes"),
    ] {
        let told = format!(
            "lanesum: /dev/stdin: the key cannot come from standard input when {what} from there\n\
             hint: use another descriptor: --key-file /dev/fd/3 3<FILE\n"
        );
        let run = folder.run_with_stdin(&format!("{args} --key-file /dev/stdin"), KEY);
        expect(&run, 2, "", told);
    }
    folder.write("paths", "t/a\0-\0");
    let run = folder.run_with_stdin("-a blake3 --key-file /dev/stdin --files0-from paths", KEY);
    let told =
        "lanesum: paths: when reading the key from standard input, no file name of '-' allowed\n";
    expect(&run, 1, format!("BLAKE3 (t/a) = {}\n", blake3("t/a")), told);
}

#[test]
fn lists_are_checked_with_the_key_they_were_made_with() {
    let folder = folder();
    let other = folder.path("other");
    folder.key("other", [7; 32]);
    for style in ["--untagged", "--tag"] {
        let made = folder.run(&format!("-a blake3 --key-file key {style} -o list t"));
        expect(&made, 0, "", "");
        for algorithm in ["", "-a blake3"] {
            let check = |key| folder.run(&format!("check {algorithm} --key-file {key} list"));
            let run = check("key");
            assert_eq!((run.status.code(), &*text(&run.stdout)), (Some(0), "t/a: OK\nt/b: OK\n"));
            let run = check(other.to_str().unwrap());
            let failed = "t/a: FAILED\nt/b: FAILED\n";
            assert_eq!((run.status.code(), &*text(&run.stdout)), (Some(1), failed));
        }
        let run = folder.run("check -a blake3 list");
        assert_eq!(run.status.code(), Some(1), "without the key nothing matches");
    }
}

/// Whoever changes a file can write its MD5 into the list, but not what needs the key.
#[test]
fn lines_without_a_key_prove_nothing() {
    let folder = folder();
    let keyed = format!("BLAKE3 (t/a) = {}\n", blake3("t/a"));
    let forged = format!("MD5 (t/b) = {}\n", md5("t/b"));
    folder.write("list", keyed.clone() + &forged);
    let told = "lanesum: list: 1 line is not a checksum line for this key, so --key-file makes the \
                exit code 1\nhint: --warn shows it\n";
    expect(&folder.run("check --key-file key list"), 1, "t/a: OK\n", told);
    let which = "lanesum: list: line 2: not a checksum line for this key, so --key-file makes the \
                 exit code 1\n";
    expect(&folder.run("check --warn --key-file key list"), 1, "t/a: OK\n", which);
    folder.write("list", forged);
    let none = "lanesum: list: no checksum lines for this key\nhint: if its digests were made without a key: leave out --key-file\n";
    expect(&folder.run("check --key-file key list"), 1, "", none);
}

#[test]
fn siphash_is_keyed_by_raw_bytes_or_digits() {
    let folder = folder();
    let key: [u8; 16] = std::array::from_fn(|i| i as u8);
    folder.key("raw", key);
    folder.key("digits", hex(&key));
    folder.key("line", hex(&key) + "\n");
    // As `openssl mac` has them, in the order of the library's tests.
    for (algorithm, tag, digest) in [
        ("siphash24", "SIPHASH24", "a50720aa53fabc5d"),
        ("siphash13", "SIPHASH13", "eb4681afe824ce6f"),
        ("siphash24-128", "SIPHASH24-128", "bb96c3a813c9903e3325ef616045abb8"),
        ("siphash13-128", "SIPHASH13-128", "43753f1546fa1ee8b2d4d501495fd601"),
    ] {
        for file in ["raw", "digits", "line"] {
            folder.write("abc", "abc");
            let args = format!("-a {algorithm} --key-file {file} abc");
            let untagged = folder.run(&format!("--untagged {args}"));
            expect(&untagged, 0, format!("{digest}  abc\n"), "");
            let tagged = folder.run(&args);
            expect(&tagged, 0, format!("{tag} (abc) = {digest}\n"), "");
            folder.write("list", tagged.stdout);
            let check = format!("check --key-file {file} list");
            expect(&folder.run(&check), 0, "abc: OK\n", "");
            folder.write("abc", "abd");
            expect(&folder.run(&check), 1, "abc: FAILED\n", "");
        }
    }
}

#[test]
fn untagged_lines_are_told_by_their_digits() {
    let folder = folder();
    folder.key("short", [1; 16]);
    for (algorithm, told) in [
        ("siphash24", true),
        ("siphash24-128", true),
        ("siphash13", false),
        ("siphash13-128", false),
    ] {
        let made = folder.run(&format!("-a {algorithm} --untagged --key-file short -o list t"));
        expect(&made, 0, "", "");
        let run = folder.run("check --status --key-file short list");
        assert_eq!(run.status.success(), told, "{algorithm}");
        let run = folder.run("check --key-file short list");
        let remedy = format!("if the lines are {algorithm}: -a {algorithm}");
        assert_eq!(!text(&run.stderr).contains(&remedy), told, "{algorithm}");
        let run = folder.run(&format!("check --status -a {algorithm} --key-file short list"));
        expect(&run, 0, "", "");
    }
}

#[test]
fn several_algorithms_may_share_a_key() {
    let folder = folder();
    folder.key("short", [1; 16]);
    let run = folder.run("-a siphash24,siphash13-128 --key-file short -o list t");
    expect(&run, 0, "", "");
    let tags: Vec<_> = ["SIPHASH24 ", "SIPHASH13-128 "].into_iter().cycle().take(4).collect();
    let list = folder.read("list");
    assert!(list.lines().zip(&tags).all(|(line, tag)| line.starts_with(tag)), "{list}");
    let run = folder.run("check --key-file short list");
    assert_eq!(text(&run.stdout), "t/a: OK\nt/a: OK\nt/b: OK\nt/b: OK\n");
    // 32 digits without a newline are a key of either length.
    folder.key("digits", "00112233445566778899aabbccddeeff");
    let made = folder.run("-a siphash24,blake3 --key-file digits -o list t/a");
    expect(&made, 0, "", "");
    let run = folder.run("check --key-file digits list");
    assert_eq!(text(&run.stdout), "t/a: OK\nt/a: OK\n");
}

/// How much a key file has to hold, as messages say it.
fn holds(bytes: &str, digits: &str) -> String {
    format!(
        "a key file contains {bytes} bytes (for example from /dev/urandom), or {digits} \
         hexadecimal digits"
    )
}

#[test]
fn algorithm_without_its_key_fails() {
    let folder = folder();
    for algorithm in ["siphash24", "siphash13", "siphash24-128", "siphash13-128"] {
        let holds = holds("16", "32");
        let told = format!("lanesum: {algorithm} needs a key\nhint: --key-file FILE; {holds}\n");
        for args in ["-o list t", "--tag t", "check list"] {
            expect(&folder.run(&format!("{args} -a {algorithm}")), 2, "", &told);
        }
    }
    assert!(!exists(folder.path("list")), "nothing was begun");
}

#[test]
fn list_without_its_key_fails() {
    let folder = folder();
    folder.key("short", [1; 16]);
    let made = folder.run("-a siphash24 --tag --key-file short -o list t");
    expect(&made, 0, "", "");
    let told = "lanesum: list: siphash24 needs the key that made the list\nhint: lanesum check --key-file FILE\n";
    expect(&folder.run("check list"), 1, "", told);
}

#[test]
fn key_for_unkeyed_algorithm_is_wrong_usage() {
    let folder = folder();
    let takes_no = "takes no key\nhint: with --key-file, use";
    for (args, algorithm) in [
        ("t", "md5"),
        ("-a sha256 t", "sha256"),
        ("-a blake3,md5 t", "md5"),
        ("check -a md5 list", "md5"),
    ] {
        let run = folder.run(&format!("{args} --key-file key"));
        expect(&run, 2, "", format!("lanesum: {algorithm} {takes_no} -a blake3\n"));
    }
    let all = "-a blake3 or -a siphash24 or -a siphash13 or -a siphash24-128 or -a siphash13-128";
    let told = format!("lanesum: md5 {takes_no} {all}\n");
    expect(&folder.run("t --key-file missing"), 2, "", told);
}

/// The file by its name, what is the matter, and what a key would be.
#[test]
fn invalid_key_file_fails_with_a_hint() {
    let folder = folder();
    for (content, length) in [
        (vec![], "0 bytes"),
        (vec![b'x'; 1], "1 byte"),
        (vec![b'x'; 15], "15 bytes"),
        (vec![b'x'; 17], "17 bytes"),
        (vec![b'x'; 31], "31 bytes"),
        (vec![b'x'; 33], "33 bytes"),
        (vec![b'x'; 64], "64 bytes"),
        (vec![b'a'; 66], "more than 65 bytes"),
        (bytes(1 << 20), "more than 65 bytes"),
    ] {
        folder.key("bad", &content);
        for (args, bytes, digits) in [
            ("-a blake3 t", "32", "64"),
            ("-a siphash24 t", "16", "32"),
            ("check -a blake3 list", "32", "64"),
            ("check list", "16 or 32", "32 or 64"),
        ] {
            let run = folder.run(&format!("{args} --key-file bad"));
            let holds = holds(bytes, digits);
            let are = if length == "1 byte" { "is" } else { "are" };
            expect(&run, 2, "", format!("lanesum: bad: {length} {are} not a key\nhint: {holds}\n"));
        }
    }
}

#[test]
fn key_of_wrong_length_fails_with_a_hint() {
    let folder = folder();
    folder.key("short", [1; 16]);
    for (args, told, bytes, digits) in [
        ("-a blake3 --key-file short t", "short: 16 bytes are not a key for blake3", "32", "64"),
        ("-a siphash13 --key-file key t", "key: 32 bytes are not a key for siphash13", "16", "32"),
    ] {
        let holds = holds(bytes, digits);
        expect(&folder.run(args), 2, "", format!("lanesum: {told}\nhint: {holds}\n"));
    }
}

#[test]
fn hint_lists_algorithms_that_fit_the_key() {
    let folder = folder();
    folder.key("short", [1; 16]);
    let told = |args: &str| text(&folder.run(args).stderr);
    let words = "lanesum: md5 takes no key\nhint: with --key-file, use -a siphash24 or ";
    let told = told("--key-file short t");
    assert!(told.starts_with(words) && !told.contains("blake3"), "{told}");
}

#[test]
fn unreadable_key_file_fails_with_a_hint() {
    let folder = folder();
    folder.key("denied", KEY);
    folder.mode("denied", 0o000);
    obey_modes();
    for (path, reason) in [
        ("missing", "No such file or directory"),
        ("t", "Is a directory"),
        ("denied", "Permission denied"),
    ] {
        let message = format!("lanesum: {path}: {reason}\nhint: {}\n", holds("32", "64"));
        for args in ["-a blake3 -o list t", "check -a blake3 list"] {
            expect(&folder.run(&format!("{args} --key-file {path}")), 2, "", &message);
        }
    }
    assert!(!exists(folder.path("list")), "nothing was begun");
}

#[test]
fn readable_key_file_is_warned_of() {
    let folder = folder();
    let list = folder.run("-a blake3 --key-file key t").stdout;
    folder.write("list", &list);
    for (mode, may) in [
        (0o644, "read"),
        (0o640, "read"),
        (0o604, "read"),
        (0o620, "replace"),
        (0o602, "replace"),
        (0o666, "read or replace"),
    ] {
        folder.mode("key", mode);
        let warning = format!(
            "lanesum: key: warning: mode {mode:04o} lets other users {may} the key\n\
             hint: chmod 600 key\n"
        );
        expect(&folder.run("-a blake3 --key-file key t"), 0, &list, &warning);
        let run = folder.run("check --status --key-file key list");
        expect(&run, 0, "", &warning);
    }
    for mode in [0o600, 0o400, 0o700, 0o711] {
        folder.mode("key", mode);
        expect(&folder.run("-a blake3 --key-file key t"), 0, &list, "");
    }
}
