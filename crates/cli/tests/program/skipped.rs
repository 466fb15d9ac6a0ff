//! Lines that `lanesum check` must not skip in silence, and lists that look like others.

use super::*;

/// Digits of no file.
const Z: &str = "00000000000000000000000000000000";

/// A file `f` with `abc`, `g` with `d`, and a list.
fn folder(list: impl AsRef<[u8]>) -> Folder {
    let folder = Folder::new();
    folder.write("f", "abc");
    folder.write("g", "d");
    folder.write("l", list);
    folder
}

fn check(list: impl AsRef<[u8]>) -> (Option<i32>, String, String) {
    let run = folder(list).run("check l");
    (run.status.code(), text(&run.stdout), text(&run.stderr))
}

/// The line of this number is skipped, is told, and makes the exit code 1.
#[track_caller]
fn assert_skipped(list: impl AsRef<[u8]>, number: u64) {
    let (code, _, stderr) = check(list);
    let told = format!("lanesum: l: line {number}: contains a digest");
    assert!(stderr.contains(&told), "{stderr}");
    assert_eq!(code, Some(1), "{stderr}");
}

#[test]
fn one_blank_behind_two_fails() {
    let list = line("d", "g") + &format!("{Z} f\n");
    assert_skipped(&list, 2);
    let folder = folder(&list);
    assert_eq!(folder.run("check --status l").status.code(), Some(1));
    assert_eq!(folder.run("check --quiet l").status.code(), Some(1));
    // As GNU md5sum does.
    let run = folder.run("md5sum -c l");
    assert_eq!((run.status.code(), &*run.stdout), (Some(0), &b"g: OK\n"[..]));
}

#[test]
fn lines_in_other_forms_fail() {
    let groups = "f: 90 01 50 98 3C D2 4F B0  D6 96 3F 7D 28 E1 7F 72";
    for other in [
        format!("f {Z}"),
        format!("f  {Z}"),
        format!("f: {Z}"),
        format!("f\t{Z}"),
        format!("3,{Z},f"),
        format!("\"f\",\"{Z}\""),
        format!("{{\"path\":\"f\",\"md5\":\"{Z}\"}}"),
        format!("{Z}0  f"),
        format!("{Z}\tf"),
        format!("0x{Z}  f"),
        "f kAFQmDzST7DWlj99KOF/cg==".to_owned(),
        groups.to_owned(),
    ] {
        for number in [1, 2] {
            let good = line("d", "g");
            let list =
                if number == 2 { format!("{good}{other}\n") } else { format!("\n{other}\n{good}") };
            // A list of another format, of which the good line is none.
            let (code, ..) = check(&list);
            assert_eq!(code, Some(1), "{list}");
            if number == 2 {
                assert_skipped(&list, 2);
            }
        }
    }
    let utf16: Vec<u8> = format!("{Z}  f\n").bytes().flat_map(|byte| [byte, 0]).collect();
    assert_skipped([line("d", "g").into_bytes(), utf16].concat(), 2);
}

#[test]
fn short_digests_of_files_fail() {
    let crc = "98dd4acc  g\n";
    for other in ["f 352441c2\n", "352441C2 f\n", "f NSRBwg==\n"] {
        let folder = folder(format!("{crc}{other}"));
        let run = folder.run("check -a crc32 l");
        assert_eq!(run.status.code(), Some(1), "{other}: {}", text(&run.stderr));
        // A list of MD5s with a line of SFV, about a file that exists.
        let folder = Folder::of(&["f"]);
        folder.write("g", "d");
        folder.write("l", line("d", "g") + "f 352441C2\n");
        assert_eq!(folder.run("check l").status.code(), Some(1), "{other}");
    }
}

#[test]
fn other_text_is_skipped() {
    for text in ["Backup of 20261120", "build deadbeef", "see the manual", "TIMESTAMP = 1763600000"]
    {
        let (code, stdout, stderr) = check(line("d", "g") + text + "\n");
        assert_eq!((code, &*stdout), (Some(0), "g: OK\n"), "{text}: {stderr}");
    }
    // A signature around a list.
    let signed = format!(
        "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n{}-----BEGIN PGP SIGNATURE-----\n\n\
         iQIzBAEBCgAdFiEEZKdVR5YFkPHTKoHwIhQ2fC1zpj4FAmcAAAAACgkQIhQ2fC1z\npj4Zxg==\n=aB3d\n\
         -----END PGP SIGNATURE-----\n",
        line("d", "g")
    );
    assert_eq!(check(signed).0, Some(0));
}

#[test]
fn list_without_a_checksum_line_is_reported_once() {
    let list = format!("{Z}\u{a0}f\n").repeat(3);
    let (code, _, stderr) = check(list);
    assert_eq!(code, Some(1));
    assert_eq!(stderr.matches("lanesum:").count(), 1, "{stderr}");
}

#[test]
fn byte_order_mark_in_the_middle_is_skipped() {
    let list = line("d", "g") + "\u{feff}" + &line("abc", "f");
    let (code, stdout, _) = check(&list);
    assert_eq!((code, &*stdout), (Some(0), "g: OK\nf: OK\n"));
    let (code, stdout, _) = check(list.replace(&md5("abc"), Z));
    assert_eq!((code, &*stdout), (Some(1), "g: OK\nf: FAILED\n"));
    let (code, stdout, _) = check("g 98DD4ACC\n\u{feff}f 352441C2\n");
    assert_eq!((code, &*stdout), (Some(0), "g: OK\nf: OK\n"));
}

#[test]
fn md5deep_behind_md5sum_is_read() {
    let of_md5deep = |content, size| format!("{size:>10}  {}  f\n", md5(content));
    let (code, stdout, _) = check(line("d", "g") + &of_md5deep("abc", 3));
    assert_eq!((code, &*stdout), (Some(0), "g: OK\nf: OK\n"));
    for damaged in [of_md5deep("abd", 3), of_md5deep("abc", 4), of_md5deep("abc", 12_345_678)] {
        let (code, stdout, _) = check(line("d", "g") + &damaged);
        assert_eq!((code, &*stdout), (Some(1), "g: OK\nf: FAILED\n"), "{damaged}");
    }
}

#[test]
fn xxh3_prefix_of_xxhsum_is_read_and_written() {
    let (code, stdout, _) = check("XXH3_78af5f94892f3950  f\n");
    assert_eq!((code, &*stdout), (Some(0), "f: OK\n"));
    assert_eq!(check("XXH3_78af5f94892f3951  f\n").0, Some(1));
    assert_eq!(check(line("d", "g") + "XXH3_78af5f94892f3951  f\n").0, Some(1));
    let run = folder("").run("-a xxh3-64 --untagged f");
    expect(&run, 0, "XXH3_78af5f94892f3950  f\n", "");
}

#[test]
fn files_in_nested_objects_fail() {
    let inner = format!("{{\"name\":\"f\",\"md5\":\"{Z}\"}}");
    for outer in [
        format!("{{\"path\":\"g\",\"md5\":\"{}\",\"children\":[{inner}]}}\n", md5("d")),
        format!("{{\"path\":\"g\",\"md5\":\"{}\",\"x\":{{\"y\":[[{inner}]]}}}}\n", md5("d")),
        format!("{{\"path\":\"g\",\"md5\":\"{}\",\"parent\":{inner}}}\n", md5("d")),
    ] {
        let (code, _, stderr) = check(&outer);
        assert_eq!(code, Some(1), "{outer}");
        assert!(stderr.contains("line 1: contains files in nested objects"), "{stderr}");
    }
    let owner = format!("{{\"DisplayName\":\"x\",\"ID\":\"{Z}{Z}\"}}");
    let list = format!("{{\"path\":\"g\",\"md5\":\"{}\",\"Owner\":{owner}}}\n", md5("d"));
    assert_eq!(check(list).0, Some(0));
}

#[test]
fn sizes_of_distinfo_are_compared() {
    let digest = |content, name| format!("MD5 ({name}) = {}\n", md5(content));
    let files = digest("abc", "f") + &digest("d", "g");
    for (list, code) in [
        (digest("abc", "f") + "SIZE (f) = 3\n", 0),
        (digest("abc", "f") + "SIZE (f) = 4\n", 1),
        (digest("abc", "f") + "SIZE (f) = 12345678\n", 1),
        (digest("abc", "f") + "Size (f) = 3 bytes\n", 0),
        ("SIZE (f) = 3\n".to_owned() + &digest("abc", "f"), 0),
        (digest("abd", "f") + "SIZE (f) = 3\n", 1),
        // As in OpenBSD, which sorts the lines.
        (files.clone() + "SIZE (f) = 3\nSIZE (g) = 1\n", 0),
        (files + "SIZE (f) = 3\nSIZE (g) = 2\n", 1),
        // A size alone proves nothing.
        (digest("d", "g") + "SIZE (f) = 3\n", 1),
    ] {
        let (found, _, stderr) = check(&list);
        assert_eq!(found, Some(code), "{list}{stderr}");
    }
    let folder = folder("");
    fs::write(folder.path("f"), vec![0; 12_345_678]).unwrap();
    let digest = md5(vec![0; 12_345_678]);
    folder.write("l", format!("TIMESTAMP = 1763600000\nMD5 (f) = {digest}\nSIZE (f) = 12345678\n"));
    assert_eq!(folder.run("check l").status.code(), Some(0));
}

#[test]
fn title_with_a_date_is_not_sfv() {
    for title in [
        "MD5 checksums of backup 20261120",
        "Checksums of build deadbeef",
        "a 20261120\nb 20261121",
    ] {
        let list = format!("{title}\n{}", line("abc", "f"));
        let (code, stdout, stderr) = check(&list);
        assert_eq!((code, &*stdout), (Some(0), "f: OK\n"), "{stderr}");
        let run = folder("").run_with_stdin("check", &list);
        assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    }
    assert_eq!(check("f 352441C2\ng 98DD4ACC\n").0, Some(0));
    assert_eq!(check("f 352441C2\nand a line that is none\n").0, Some(1));
}

#[test]
fn tagged_and_grouped_digests_are_not_sfv() {
    let (code, _, stderr) = check("ADLER32 (f) = 024d0127\n");
    assert_eq!(code, Some(1));
    assert!(stderr.contains("of unknown algorithms (ADLER32)"), "{stderr}");
    let groups = "f: BA7816BF 8F01CFEA 414140DE 5DAE2223 B00361A3 96177A9C B410FF61\n   F20015AD\n";
    let (code, stdout, _) = check(groups);
    assert_eq!((code, &*stdout), (Some(0), "f: OK\n"));
    assert_eq!(check(groups.replace("AD\n", "AE\n")).0, Some(1));
}

#[test]
fn names_of_lists_say_the_algorithm() {
    let b3 = "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85";
    let folder = folder("");
    for (list, digits) in [
        ("B3SUMS", b3),
        ("l.b3", b3),
        ("l.blake3", b3),
        ("checksums-blake3.txt", b3),
        ("l.xxh128", "06b05ab6733a618578af5f94892f3950"),
        ("l.xxh3", "78af5f94892f3950"),
        ("l.xxh32", "32d153ff"),
        ("l.crc32", "352441c2"),
    ] {
        folder.write(list, format!("{digits}  f\n"));
        let run = output(&mut folder.lanesum(["check", list]));
        expect(&run, 0, "f: OK\n", "");
        let damaged = digits.replace('5', "6").replace("53ff", "54ff");
        folder.write(list, format!("{damaged}  f\n"));
        assert_eq!(output(&mut folder.lanesum(["check", list])).status.code(), Some(1), "{list}");
    }
    // The option decides.
    folder.write("l.b3", line("abc", "f"));
    assert_eq!(folder.run("check -a md5 l.b3").status.code(), Some(0));
}

#[test]
fn etags_of_encrypted_objects_are_not_compared() {
    let folder = folder("");
    let etag = format!("\"ContentLength\":3,\"ETag\":\"\\\"{Z}\\\"\"");
    let crc = "\"ChecksumCRC32\":\"NSRBwg==\",\"ChecksumType\":\"FULL_OBJECT\"";
    for (encryption, with_checksum, alone) in [
        ("\"ServerSideEncryption\":\"aws:kms\",\"SSEKMSKeyId\":\"k\"", 0, "size OK, not checked"),
        ("\"ServerSideEncryption\":\"aws:kms:dsse\"", 0, "size OK, not checked"),
        ("\"SSECustomerAlgorithm\":\"AES256\"", 0, "size OK, not checked"),
        ("\"ServerSideEncryption\":\"AES256\"", 1, "FAILED"),
    ] {
        folder.write("head", format!("{{{etag},{crc},{encryption}}}"));
        let run = folder.run("check --name f head");
        assert_eq!(run.status.code(), Some(with_checksum), "{encryption}");
        folder.write("head", format!("{{{etag},{encryption}}}"));
        let run = folder.run("check --name f head");
        assert_eq!(text(&run.stdout), format!("f: {alone}\n"), "{encryption}");
        assert_eq!(run.status.code(), Some(1), "{encryption}");
    }
    // get-object-attributes does not tell the encryption.
    let crc = "{\"ChecksumCRC32\":\"NSRBwg==\",\"ChecksumType\":\"FULL_OBJECT\"}";
    folder.write("head", format!("{{\"ETag\":\"{Z}\",\"Checksum\":{crc},\"ObjectSize\":3}}"));
    assert_eq!(folder.run("check --name f head").status.code(), Some(0));
}
