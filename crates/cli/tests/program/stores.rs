//! Lists of object stores and archives: their checksums, as the stores print them.

use super::*;

/// Checks the file `a`, which contains `abc`, by the output of a store. A changed file fails.
#[track_caller]
fn assert_proves(args: &str, list: &str) {
    let folder = Folder::new();
    folder.write("list", list);
    folder.write("a", "abc");
    let run = folder.run(&format!("check {args} list"));
    assert_eq!(
        (run.status.code(), text(&run.stdout)),
        (Some(0), "a: OK\n".to_owned()),
        "{list}: {run:?}"
    );
    folder.write("a", "abd");
    let run = folder.run(&format!("check {args} list"));
    assert_eq!(
        (run.status.code(), text(&run.stdout)),
        (Some(1), "a: FAILED\n".to_owned()),
        "{list}"
    );
}

/// The values are by Python: `sha256(sha256(b"ab") + sha256(b"c"))`, and the same with CRC-32.
#[test]
fn checksums_of_s3_are_checked() {
    for head in [
        r#"{"ChecksumCRC64NVME": "BeXKuz/B+us=", "ChecksumType": "FULL_OBJECT"}"#,
        r#"{"ChecksumSHA256": "EVMj5WLEpP33zqztymYNxLvhOJ2rkyOq0IRAkHx0JtA=-2", "ChecksumType": "COMPOSITE", "ContentLength": 3}"#,
        r#"{"ChecksumCRC32": "UDaNYg==-2", "ChecksumType": "COMPOSITE", "ContentLength": 3}"#,
        r#"{"Checksum": {"ChecksumSHA256": "EVMj5WLEpP33zqztymYNxLvhOJ2rkyOq0IRAkHx0JtA=", "ChecksumType": "COMPOSITE"},
            "ObjectParts": {"TotalPartsCount": 2}, "ObjectSize": 3}"#,
    ] {
        assert_proves("--name a", head);
    }
}

#[test]
fn composite_checksums_are_compared() {
    let folder = Folder::new();
    folder.write("t/a", "abc");
    let object = r#"{"Key": "a", "Size": 3, "ETag": "x", "ChecksumSHA256": "EVMj5WLEpP33zqztymYNxLvhOJ2rkyOq0IRAkHx0JtA=-2"}"#;
    folder.write("list", object);
    let run = folder.run("compare list t");
    assert_eq!((run.status.code(), &*run.stdout), (Some(0), &b""[..]), "{run:?}");
    folder.write("t/a", "abd");
    assert_eq!(folder.run("compare list t").status.code(), Some(1));
}

#[test]
fn tables_of_services_are_checked() {
    for list in [
        format!("id\tfilename\tmd5\tsize\tstate\nu1\ta\t{ABC}\t3\treleased\n"),
        format!("Hash,Path\n{ABC},a\n"),
        format!("run_accession\tfastq_ftp\tfastq_md5\nE\tftp.x/v/a\t{ABC}\n"),
        format!("file_name;checksum\na;md5:{ABC}\n"),
        format!("md5:{ABC}  a\n"),
        "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=  a\n".to_owned(),
        "x.pyc,,\na,sha256=ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0,3\n".to_owned(),
        format!("\"b\",\"a\",\"3\",\"2026-11-28T00:00:00.000Z\",\"{ABC}\"\n"),
    ] {
        assert_proves("", &list);
    }
}

#[test]
fn the_record_of_a_package_names_files_beside_its_directory() {
    let folder = Folder::new();
    folder.write("site/p/a", "abc");
    let row = "p/a,sha256=ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0,3\n";
    folder.write("site/p-1.dist-info/RECORD", row);
    let run = folder.run("check site/p-1.dist-info/RECORD");
    expect(&run, 0, "p/a: OK\n", "");
    folder.write("RECORD", row);
    expect(&folder.run("check --root site RECORD"), 0, "p/a: OK\n", "");
}

/// As the services print them, without members that do not matter here.
#[test]
fn json_of_services_is_checked() {
    let (md5, crc, sha1) =
        ("kAFQmDzST7DWlj99KOF/cg==", "Nks/tw==", "a9993e364706816aba3e25717850c26c9cd0d89d");
    let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    for list in [
        // gcloud, the API and gsutil's names.
        format!(
            r#"[{{"name": "a", "size": 3, "crc32c_hash": "{crc}", "storage_url": "gs://b/a#1"}}]"#
        ),
        format!(
            r#"[{{"url": "gs://b/a#1", "type": "cloud_object", "metadata": {{"name": "a", "md5Hash": "{md5}", "size": "3"}}}}]"#
        ),
        format!(
            r#"{{"kind": "storage#objects", "items": [{{"name": "a", "size": "3", "md5Hash": "{md5}", "crc32c": "{crc}"}}]}}"#
        ),
        // Azure.
        format!(
            r#"[{{"name": "d", "metadata": {{"hdi_isfolder": "true"}}, "properties": {{"contentLength": 0}}}},
            {{"deleted": null, "name": "a", "metadata": null, "properties": {{"contentLength": 3,
            "contentSettings": {{"contentMd5": "{md5}"}}, "etag": "0x8D4B2AE97754E88"}}}}]"#
        ),
        // Backblaze.
        format!(
            r#"[{{"action": "folder", "fileName": "d/"}}, {{"action": "upload", "fileName": "a", "contentLength": 3, "contentSha1": "unverified:{sha1}"}}]"#
        ),
        format!(
            r#"[{{"fileName": "a", "contentSha1": "none", "fileInfo": {{"large_file_sha1": "{sha1}"}}}}]"#
        ),
        // Hugging Face.
        format!(
            r#"[{{"type": "directory", "oid": "x", "size": 0, "path": "d"}}, {{"type": "file", "oid": "x", "size": 3, "lfs": {{"oid": "{sha256}", "size": 3, "pointerSize": 130}}, "path": "a"}}]"#
        ),
        format!(
            r#"{{"id": "m", "siblings": [{{"rfilename": "a", "lfs": {{"sha256": "{sha256}"}}}}], "spaces": []}}"#
        ),
        // Zenodo, its older API, and its list of files.
        format!(
            r#"{{"metadata": {{"creators": [{{"name": "x"}}]}}, "files": [{{"id": "u", "key": "a", "size": 3, "checksum": "md5:{ABC}"}}], "state": "done"}}"#
        ),
        format!(r#"[{{"filename": "a", "filesize": 3, "checksum": "{ABC}"}}]"#),
        format!(
            r#"{{"enabled": true, "entries": [{{"key": "a", "checksum": "md5:{ABC}"}}], "links": {{}}}}"#
        ),
        // figshare.
        format!(
            r#"{{"files": [{{"id": 1, "name": "a", "size": 3, "supplied_md5": "", "computed_md5": "{ABC}"}}], "authors": [{{"id": 1}}]}}"#
        ),
        // Dataverse.
        format!(
            r#"{{"status": "OK", "data": {{"id": 1, "latestVersion": {{"files": [{{"label": "a", "dataFile": {{"filename": "x",
            "filesize": 3, "md5": "{ABC}", "checksum": {{"type": "MD5", "value": "{ABC}"}}}}}}], "license": {{}}}}}}}}"#
        ),
        format!(
            r#"{{"status": "OK", "data": [{{"label": "a", "dataFile": {{"checksum": {{"type": "SHA-1", "value": "{sha1}"}}}}}}]}}"#
        ),
    ] {
        assert_proves("", &list);
    }
}

#[test]
fn a_directory_of_dataverse_is_a_part_of_the_name() {
    let folder = Folder::new();
    folder.write("d/e/a", "abc");
    let list = format!(
        r#"{{"data": [{{"label": "a", "directoryLabel": "d/e", "dataFile": {{"md5": "{ABC}"}}}}]}}"#
    );
    expect(&folder.run_with_stdin("check", list), 0, "d/e/a: OK\n", "");
}

#[test]
fn a_page_of_a_service_is_not_the_whole_list() {
    let folder = Folder::new();
    folder.write("a", "abc");
    let item = format!(r#"{{"name": "a", "size": "3", "md5Hash": "{ABC}"}}"#);
    for (list, words) in [
        (format!(r#"{{"items": [{item}], "nextPageToken": "x"}}"#), "the list is truncated"),
        (format!(r#"{{"nextPageToken": "x", "items": [{item}]}}"#), "the list is truncated"),
        (format!(r#"{{"prefixes": ["d/"], "items": [{item}]}}"#), "leaves out objects"),
        (format!(r#"{{"items": [{item}], "files": [{item}]}}"#), "objects outside of one array"),
        (format!(r#"{{"data": {{"latestVersion": {{"files": [{item}]}}"#), "cut off"),
        (
            format!(r#"{{"data": {{"latestVersion": {{"files": [{item}]}}, x}}}}"#),
            "not a JSON object",
        ),
        (r#"{"files": [{"key": "a", "checksum": "md5:90"}]}"#.to_owned(), "invalid md5 digest"),
        (r#"{"files": [{"key": "a", "checksum": "md6:90"}]}"#.to_owned(), "unknown algorithm"),
        (r#"{"files": [{"key": "a", "checksum": ""}]}"#.to_owned(), "neither a digest nor a size"),
    ] {
        let run = folder.run_with_stdin("check", &*list);
        assert_eq!(run.status.code(), Some(1), "{list}: {run:?}");
        assert!(text(&run.stderr).contains(words), "{list}: {}", text(&run.stderr));
    }
}

#[test]
fn lists_and_pointers_of_git_lfs_are_checked() {
    let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_proves("", &format!("{sha256} * a\n"));
    let pointer =
        format!("version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize 3\n");
    assert_proves("--name a", &pointer);
    let run = Folder::new().run_with_stdin("check", pointer);
    assert!(text(&run.stderr).contains("--name NAME"), "{run:?}");
}

#[test]
fn lists_of_distributions_and_gpg_are_checked() {
    let groups = "90 01 50 98 3C D2 4F B0  D6 96 3F 7D 28 E1 7F 72";
    for list in [
        format!("Format: 3.0 (quilt)\nSource: x\nFiles:\n {ABC} 3 a\n"),
        format!("Origin: Debian\nMD5Sum:\n {ABC}    3 a\n"),
        format!("a: {groups}\n"),
        "C- /z/c:\n    a    sha2:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=\n".to_owned(),
        format!("a:    MD5 = {groups}\na: RMD160 = {groups} 00 00 00 00\n"),
    ] {
        assert_proves("", &list);
    }
}

#[test]
fn xml_of_archives_is_checked() {
    let dat =
        format!("<datafile><game name='g'><rom name='a' size='3' md5='{ABC}'/></game></datafile>");
    for list in [
        format!(
            "<files><file name=\"a\"><size>3</size><md5>{ABC}</md5></file>\n\
             <file name=\"i_files.xml\"><md5>{EMPTY}</md5><summation>md5</summation></file></files>\n"
        ),
        format!("<hashlist><hash><file>a</file><md5>{ABC}</md5></hash></hashlist>"),
        format!(
            "<hashlist><hashes><hash><path size='3'>a</path><md5>{ABC}</md5></hash></hashes></hashlist>"
        ),
        "<FCIV><FILE_ENTRY><name>a</name><MD5>kAFQmDzST7DWlj99KOF/cg==</MD5></FILE_ENTRY></FCIV>"
            .to_owned(),
        dat.clone(),
    ] {
        assert_proves("", &list);
    }
    let folder = Folder::new();
    folder.write("a", "abc");
    let run = folder.run_with_stdin("check", &dat[..dat.len() - 12]);
    assert_eq!(run.status.code(), Some(1));
    assert!(text(&run.stderr).contains("the list is cut off here"), "{run:?}");
}

#[test]
fn lock_files_of_packages_are_refused() {
    let sha512 = "sha512-AAAA";
    for (list, by) in [
        ("x==1.0 \\\n    --hash=sha256:00\n".to_owned(), "pip"),
        (
            format!(
                "{{\"name\": \"x\", \"lockfileVersion\": 3, \"packages\": {{\"a\": {{\"integrity\": \"{sha512}\"}}}}}}"
            ),
            "npm",
        ),
        ("example.org/x v1.0.0 h1:AAAA=\n".to_owned(), "Go"),
        (
            "version = 4\n\n[[package]]\nname = \"x\"\nchecksum = \"00\"\n".to_owned(),
            "Cargo, Poetry or uv",
        ),
    ] {
        let run = Folder::new().run_with_stdin("check", &*list);
        assert_eq!(run.status.code(), Some(1), "{list}");
        let words = format!("a lock file of {by}: it lists packages, not files\nhint: ");
        assert!(text(&run.stderr).contains(&words), "{list}: {}", text(&run.stderr));
    }
}

/// As s3cmd 2.4 prints it.
#[test]
fn lists_of_s3cmd_are_checked() {
    let line = format!("2026-11-28 20:14            3  {ABC:35}  s3://bucket/a\n");
    assert_proves("", &line);
    let folder = Folder::of(&["a"]);
    folder.write("list", format!("{line}{:16} {:>12}  {:35}  s3://bucket/d/\n", "", "DIR", ""));
    let run = folder.run("check list");
    let told = text(&run.stderr);
    assert!(told.contains("list: line 2: the list leaves out objects below a directory"), "{told}");
    assert_eq!(run.status.code(), Some(1));
}

/// The schema has the element `tool` with the version behind `hostname`.
#[test]
fn lists_of_asc_mhl_are_written_and_checked() {
    let folder = Folder::of(&["card/DCIM/a&b"]);
    let run = folder.run("--format asc-mhl -a md5,xxh64 -o 0001.mhl card");
    expect(&run, 0, "", "");
    let list = folder.read("0001.mhl");
    let year = list.split("<creationdate>").nth(1).and_then(|rest| rest.get(..4)).unwrap();
    assert!(year > "2025", "{list}");
    // Names in the directory `ascmhl` of a card are relative to the card.
    folder.write("card/ascmhl/0001.mhl", list.replace("card/DCIM", "DCIM"));
    let ok = "'DCIM/a&b': OK\n".to_owned();
    let run = folder.run("check card/ascmhl/0001.mhl");
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), ok), "{run:?}");
    let run = folder.run("convert --to csv --only md5 card/ascmhl/0001.mhl -o list.csv");
    let told =
        "lanesum: the names are relative to card\nhint: check the new list with --root card\n";
    expect(&run, 0, "", told);
    expect(&folder.run("convert --to asc-mhl list.csv -o again.mhl"), 0, "", "");
    assert!(folder.read("again.mhl").contains("DCIM/a&amp;b</path>"));
    folder.write("card/DCIM/a&b", "damaged");
    assert_eq!(folder.run("check card/ascmhl/0001.mhl").status.code(), Some(1));
}

/// As `rclone hashsum` prints them. Python's `sha256(sha256(b"abc").digest())` is the first one.
#[test]
fn lists_of_rclone_have_the_algorithm_in_their_name_or_by_option() {
    let dropbox = "4f8b42c22dd3729b519ba6f68d2da7cc5b2d606d05daed5ad5128cc03e6c6358  a\n";
    let folder = Folder::new();
    for content in ["abc", "abd"] {
        folder.write("a", content);
        let code = Some(i32::from(content != "abc"));
        for (name, args, list) in [
            ("list", "-a dropbox", dropbox),
            ("sums.dropbox", "", dropbox),
            ("sums.xxh3", "", "78af5f94892f3950  a\n"),
            ("sums.xxh128", "", "06b05ab6733a618578af5f94892f3950  a\n"),
            ("sums.crc32", "", "352441c2  a\n"),
        ] {
            folder.write(name, list);
            let run = folder.run(&format!("check {args} {name}"));
            assert_eq!(run.status.code(), code, "{name}: {run:?}");
        }
    }
}
