//! Keyed checksums: the digests, the lists, and what is said of key files that will not do.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

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
        expect(&folder.run(&args), 0, &untagged, "");
        expect(&folder.run(&format!("--tag {args}")), 0, tagged.concat(), "");
    }
    let through_a_pipe = folder.run_with_stdin("-a blake3 --key-file key", "abc");
    expect(&through_a_pipe, 0, format!("{}  -\n", blake3("abc")), "");
}

#[test]
fn a_key_may_come_through_a_pipe() {
    let folder = folder();
    let digest = format!("{}  t/a\n", blake3("t/a"));
    let run = folder.run_with_stdin("-a blake3 --key-file /dev/stdin t/a", KEY);
    expect(&run, 0, &digest, "");
}

#[test]
fn lists_are_checked_with_the_key_they_were_made_with() {
    let folder = folder();
    let other = folder.path("other");
    folder.key("other", [7; 32]);
    for style in ["", "--tag"] {
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
    let told = "lanesum: list: 1 line is no checksum line for this key; --warn tells which\n";
    expect(&folder.run("check --key-file key list"), 1, "t/a: OK\n", told);
    let which = "lanesum: list: line 2: not a checksum line for this key\n";
    let run = folder.run("check --warn --key-file key list");
    expect(&run, 1, "t/a: OK\n", [which, told].concat());
    folder.write("list", forged);
    let none = "lanesum: list: no checksum line for this key in it; is it a list?\n";
    expect(&folder.run("check --key-file key list"), 1, "", none);
}

#[test]
fn an_algorithm_without_a_key_is_wrong_usage() {
    let folder = folder();
    for args in ["t", "-a sha256 t", "-a blake3,md5 t", "check -a md5 list"] {
        let run = folder.run(&format!("{args} --key-file key"));
        assert_eq!((run.status.code(), text(&run.stdout)), (Some(2), String::new()), "{args}");
        let told = text(&run.stderr);
        assert!(told.contains(" takes no key; with --key-file say -a blake3"), "{told}");
    }
}

/// The file by its name, what is the matter, and what a key would be.
#[test]
fn a_file_that_is_no_key_is_told_with_the_remedy() {
    let folder = folder();
    for (content, length) in [
        (vec![], "0 bytes"),
        (vec![b'x'; 1], "1 byte"),
        (vec![b'x'; 31], "31 bytes"),
        (vec![b'x'; 33], "33 bytes"),
        (vec![b'x'; 64], "64 bytes"),
        (vec![b'a'; 66], "more than 65 bytes"),
        (bytes(1 << 20), "more than 65 bytes"),
        (vec![b'x'; 16], "16 bytes"),
    ] {
        folder.key("bad", &content);
        let remedy = "blake3 takes 32 bytes or 64 hexadecimal digits; \
                      `head -c N /dev/urandom` makes N bytes";
        let message = format!("lanesum: bad: no key in its {length}: {remedy}\n");
        for args in ["-a blake3 --key-file bad t", "check -a blake3 --key-file bad list"] {
            expect(&folder.run(args), 2, "", &message);
        }
    }
}

#[test]
fn a_file_that_cannot_be_read_is_told_with_the_remedy() {
    let folder = folder();
    folder.key("denied", KEY);
    folder.mode("denied", 0o000);
    obey_modes();
    for (path, reason) in [
        ("missing", "No such file or directory"),
        ("t", "Is a directory"),
        ("denied", "Permission denied"),
    ] {
        let message = format!(
            "lanesum: {path}: {reason}; --key-file needs a file with a key: blake3 takes 32 bytes \
             or 64 hexadecimal digits; `head -c N /dev/urandom` makes N bytes\n"
        );
        for args in ["-a blake3 -o list t", "check -a blake3 list"] {
            expect(&folder.run(&format!("{args} --key-file {path}")), 2, "", &message);
        }
    }
    assert!(!exists(folder.path("list")), "nothing was begun");
}

#[test]
fn a_file_that_others_may_read_is_warned_of() {
    let folder = folder();
    let list = folder.run("-a blake3 --key-file key t").stdout;
    folder.write("list", &list);
    for mode in [0o644, 0o640, 0o604, 0o620, 0o602, 0o666] {
        folder.mode("key", mode);
        let warning = format!(
            "lanesum: key: warning: mode {mode:04o} lets others read or replace this key; \
             make it 0600\n"
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
