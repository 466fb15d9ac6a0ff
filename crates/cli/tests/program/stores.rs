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
