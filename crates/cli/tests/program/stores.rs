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
