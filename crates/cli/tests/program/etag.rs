//! `lanesum etag`, and lists of S3 whose ETags are of several parts.

use super::*;

/// Bytes of [`bytes`], the part size, and the ETag: by Python's hashlib,
/// `md5(b"".join(md5(part).digest() for part in parts)).hexdigest()` and the number of parts; of a
/// file that fits one part its MD5.
const VECTORS: [(usize, &str, &str); 23] = [
    (0, "1048576", "d41d8cd98f00b204e9800998ecf8427e"),
    (1, "1", "93b885adfe0da089cdf634904fd59f71"),
    (1, "2", "93b885adfe0da089cdf634904fd59f71"),
    (1000, "1", "0710092e880f01c27000a2164ad1021f-1000"),
    (1000, "7", "c626112c79592f021631486fec71c423-143"),
    (1000, "333", "321a5ab0e71ee568fc06bc02c348d976-4"),
    (1000, "500", "f41074ca7f56680c7a47270b4a288f49-2"),
    (1000, "999", "8fbef08d067bf657b81ec002f6cab589-2"),
    (1000, "1000", "a24f1e3ef66950e1327f210e3997ba2c"),
    (200000, "65536", "0f49b74ae2641c6a4a7c6628a8c48a8a-4"),
    (200000, "131072", "da4ca89aad9d94a451ef4679c2f0034b-2"),
    (200000, "131073", "4943b9f5be312182c0c80682f9ea72aa-2"),
    (200000, "100000", "414c0596d059af872773d561395118f5-2"),
    (3145728, "1048576", "3a7b9940e276f39d543040feb3f22ab5-3"),
    (3145728, "1048577", "481b37887ce981c73c16a3f503f56ca4-3"),
    (3145728, "1000000", "21fdc86894e0a7738ff4b3f2f60eb61b-4"),
    (3145728, "4097", "17edb448687730e77bbe8490c67d9fc6-768"),
    (20971520, "5242880", "400d4ca0d30a4dd036b14f8dda2dac11-4"),
    (20971520, "8388608", "0e7f77975c09731444156f23125696f6-3"),
    (20971520, "15728640", "98ac91242204ca1bc4c9a8fefdedecbf-2"),
    (20971520, "16777216", "99a3e14bc7609cd28e5116c83e8e8fd8-2"),
    (20971520, "7000000", "4e23496cddbbc61a69ca8bd7936670dd-3"),
    (20971520, "17179870", "456ceef9694d7d3bf22cedab1a418edf-2"),
];

/// Of 20 MiB.
const SIZE: usize = 20 << 20;
const IN_PARTS: [(&str, &str); 8] = [
    ("5MiB", "400d4ca0d30a4dd036b14f8dda2dac11-4"),
    ("8MiB", "0e7f77975c09731444156f23125696f6-3"),
    ("9MiB", "9be5f843349e1da6f0cfbf46db9490a0-3"),
    ("13MB", "9a20e31d3c35f05c57d5123f3e677a0a-2"),
    ("15MiB", "98ac91242204ca1bc4c9a8fefdedecbf-2"),
    ("16MiB", "99a3e14bc7609cd28e5116c83e8e8fd8-2"),
    ("17179870", "456ceef9694d7d3bf22cedab1a418edf-2"),
    ("12345678", "f9c4cf7bb604153dfabb387ed0ca65f3-2"),
];

/// What is said of part sizes that S3 does not take.
fn of_other_stores(sizes: &str) -> String {
    format!(
        "lanesum: warning: S3 has no objects in parts of {sizes}: it allows only parts of 5MiB to 5GiB\n"
    )
}

#[test]
fn parts_of_any_size_give_what_python_gives() {
    let folder = Folder::in_memory();
    for length in [0, 1, 1000, 200_000, 3 << 20, SIZE] {
        folder.write("file", bytes(length));
        let vectors = VECTORS.iter().filter(|vector| vector.0 == length);
        let (mut sizes, mut all) = (Vec::new(), String::new());
        let mut small = Vec::new();
        for (_, size, etag) in vectors {
            let name = match *size {
                "1048576" => "1MiB",
                "5242880" => "5MiB",
                "8388608" => "8MiB",
                "15728640" => "15MiB",
                "16777216" => "16MiB",
                "1000000" => "1MB",
                "7000000" => "7MB",
                "65536" => "64KiB",
                "131072" => "128KiB",
                "1000" => "1kB",
                "100000" => "100kB",
                other => other,
            };
            let is_small = size.parse::<usize>().unwrap() < 5 << 20;
            let told = if is_small { of_other_stores(name) } else { String::new() };
            let line = format!("{etag}  file\n");
            expect(&folder.run(&format!("etag --part-size {size} file")), 0, &line, &told);
            expect(&folder.run(&format!("etag -j 1 --io read -p {size} file")), 0, line, &told);
            let piped = folder.run_with_stdin(&format!("etag --part-size {size}"), bytes(length));
            expect(&piped, 0, format!("{etag}  -\n"), told);
            sizes.push(*size);
            if is_small {
                small.push(name);
            }
            all.push_str(&format!("{etag}  {name}  file\n"));
        }
        let sizes = sizes.join(",");
        if sizes.contains(',') {
            let told =
                if small.is_empty() { String::new() } else { of_other_stores(&small.join(" or ")) };
            expect(&folder.run(&format!("etag -p {sizes} file")), 0, &all, &told);
            let piped = folder.run_with_stdin(&format!("etag -p {sizes} -"), bytes(length));
            expect(&piped, 0, all.replace("  file", "  -"), told);
        }
    }
}

/// As boto3 has it: from 8 MiB on in parts, also where that is one.
#[test]
fn without_a_size_it_is_what_the_aws_cli_does() {
    const PART: usize = 8 << 20;
    let folder = Folder::in_memory();
    for (length, etag) in [
        (PART - 1, "1acc725c3c7ab01db7fb5ab34863fb9a"),
        (PART, "e039da9ee1fa336ed66c53824ac058a7-1"),
        (PART + 1, "207d5ad937887dd79678eed060f706be-2"),
    ] {
        folder.write("file", bytes(length));
        expect(&folder.run("etag file"), 0, format!("{etag}  file\n"), "");
        let run = folder.run_with_stdin("etag -p aws-cli,BOTO3", bytes(length));
        expect(&run, 0, format!("{etag}  aws-cli  -\n{etag}  boto3  -\n"), "");
    }
    let run = folder.run("etag -p rclone,s5cmd,s3cmd file");
    let whole = md5(bytes(PART + 1));
    expect(
        &run,
        0,
        format!("{whole}  rclone  file\n{whole}  s5cmd  file\n{whole}  s3cmd  file\n"),
        "",
    );
}

#[test]
fn folders_are_walked_and_names_are_as_in_lists() {
    let folder = Folder::of(&["t/b", "t/a", "t/sub/c d", "t/e\nf"]);
    let line = |name: &str| format!("{}  {name}\n", md5(name));
    let escaped = format!("\\{}  t/e\\nf\n", md5("t/e\nf"));
    let all = [line("t/a"), line("t/b"), escaped, line("t/sub/c d")].concat();
    expect(&folder.run("etag t"), 0, all, "");
    let with_nul = format!("{}\0", line("t/e\nf").strip_suffix('\n').unwrap());
    expect(&folder.run("etag --zero t --exclude [!e]*"), 0, with_nul, "");
    let run = folder.run("etag -p 3B gone t/a");
    let told = of_other_stores("3") + "lanesum: gone: No such file or directory\n";
    assert_eq!((run.status.code(), text(&run.stderr)), (Some(1), told));
    folder.fifo("fifo");
    let running = start(&mut folder.lanesum(["etag", "-p", "2B", "fifo"]));
    folder.writer("fifo").write_all(b"abc").unwrap();
    expect(
        &running.finish(),
        0,
        "d833159094d1d7ad96ffcc78414e3682-2  fifo\n",
        of_other_stores("2"),
    );
}

#[test]
fn too_many_parts_fail_with_a_hint() {
    let folder = Folder::in_memory();
    folder.write("file", bytes(10_001));
    folder.write("other", "abc");
    let run = folder.run("etag --part-size 1,2B file other");
    let told = of_other_stores("1 or 2")
        + "lanesum: file: 10001 parts of 1, but S3 allows at most 10000\n\
           hint: use parts of 5MiB or more\n";
    assert_eq!((run.status.code(), text(&run.stderr)), (Some(1), told));
    let stdout = text(&run.stdout);
    assert_eq!(stdout.lines().filter(|line| line.ends_with("  2  file")).count(), 1, "{stdout}");
    assert_eq!(stdout.lines().filter(|line| line.ends_with("  other")).count(), 2, "{stdout}");
    for (wrong, why) in [
        ("8 MiB", "a size such as 8MiB"),
        ("ftp", "a size such as 8MiB"),
        ("1.5MiB", "a size such as 8MiB"),
        ("0", "expected at least 1 byte"),
        ("99999999TiB", "too large"),
        ("aws", "did you mean aws-cli?"),
        ("awscli", "did you mean aws-cli?"),
    ] {
        let run = output(&mut folder.lanesum(["etag", "--part-size", wrong, "file"]));
        assert_eq!(run.status.code(), Some(2), "{wrong}");
        assert!(text(&run.stderr).contains(why), "{}", text(&run.stderr));
    }
    let run = folder.run("etag -p 100T,8MiB,8M,8388608,100TiB other");
    let line = |size: &str| format!("{ABC}  {size}  other\n");
    expect(&run, 0, line("102400GiB") + &line("8MiB"), of_other_stores("102400GiB"));
    expect(&folder.run("etag -p 8MiB,8M other"), 0, format!("{ABC}  other\n"), "");
    let run = folder.run("etag --io direct file");
    let told = "lanesum: --io direct cannot read parts\nhint: leave out --io direct\n";
    expect(&run, 2, "", told);
}

fn list(entries: &[(&str, usize, &str)]) -> String {
    let entry = |(key, size, etag): &(&str, usize, &str)| {
        format!("{{\"Key\": \"{key}\", \"Size\": {size}, \"ETag\": \"\\\"{etag}\\\"\"}}")
    };
    let entries: Vec<_> = entries.iter().map(entry).collect();
    format!("{{\"Contents\": [{}]}}", entries.join(",\n"))
}

#[test]
fn check_finds_the_part_size_by_itself() {
    let folder = Folder::in_memory();
    folder.write("file", bytes(SIZE));
    for (size, etag) in IN_PARTS {
        folder.write("list", list(&[("file", SIZE, etag)]));
        let run = folder.run("check list");
        if size == "12345678" {
            // Nobody would think of it.
            let (stdout, told) = (text(&run.stdout), text(&run.stderr));
            assert_eq!((run.status.code(), stdout.as_str()), (Some(1), "file: FAILED\n"));
            assert!(told.starts_with("lanesum: file: its ETag matches none of the "), "{told}");
            assert!(told.contains("part sizes tried: it may have changed"), "{told}");
        } else {
            let told = format!("lanesum: list: ETags match with parts of {size} (1 file)\n");
            expect(&run, 0, "file: OK\n", told);
        }
        let told = format!("lanesum: list: ETags match with parts of {size} (1 file)\n");
        expect(&folder.run(&format!("check --part-size {size} list")), 0, "file: OK\n", told);
        expect(&folder.run(&format!("check --quiet --part-size {size} list")), 0, "", "");
    }
}

#[test]
fn changed_content_fails() {
    let folder = Folder::in_memory();
    let mut content = bytes(SIZE);
    for place in [0, SIZE / 2, SIZE - 1] {
        content[place] ^= 1;
        folder.write("file", &content);
        content[place] ^= 1;
        for (_, etag) in &IN_PARTS[..3] {
            let run = folder.run_with_stdin("check", list(&[("file", SIZE, etag)]));
            assert_eq!((run.status.code(), text(&run.stdout)), (Some(1), "file: FAILED\n".into()));
        }
    }
    // By its size alone, which takes no reading.
    folder.write("file", bytes(SIZE + 1));
    let run = folder.run_with_stdin("check --from s3", list(&[("file", SIZE, IN_PARTS[0].1)]));
    let told = format!("lanesum: file: its size is {} bytes, but {SIZE} in the list\n", SIZE + 1);
    expect(&run, 1, "file: FAILED\n", told);
    let run = folder.run_with_stdin("check", list(&[("gone", SIZE, IN_PARTS[0].1)]));
    let told = "lanesum: gone: No such file or directory\n";
    expect(&run, 1, "gone: FAILED open or read\n", told);
    // Of one part there is no doubt.
    folder.write("abc", "abc");
    let run = folder.run_with_stdin("check", list(&[("abc", 3, &format!("{ABC}-1"))]));
    expect(&run, 1, "abc: FAILED\n", NO_ETAG);
}

const NO_ETAG: &str = "lanesum: 'standard input': no ETag matches\n\
     hint: if the store encrypts with KMS or customer keys, its ETags prove nothing\n";

#[test]
fn no_matching_etag_gives_a_hint() {
    let folder = Folder::of(&["a", "b"]);
    let other = "8a1d6e5b1c1c4e0c1f0f3b6a5d4c3b2a";
    let run = folder.run_with_stdin("check", list(&[("a", 1, other), ("b", 1, other)]));
    assert_eq!(text(&run.stderr).matches(NO_ETAG).count(), 1, "{}", text(&run.stderr));
    // One that does shows that it does not, as a rule.
    let run = folder.run_with_stdin("check", list(&[("a", 1, &md5("a")), ("b", 1, other)]));
    assert_eq!((run.status.code(), text(&run.stderr).contains("KMS")), (Some(1), false));
    let run = folder.run_with_stdin("check", format!("{other}  a\n"));
    assert!(!text(&run.stderr).contains("KMS"));
}

#[test]
fn list_without_objects_fails() {
    let folder = Folder::in_memory();
    let listing = "{\n    \"RequestCharged\": null\n}\n";
    let run = folder.run_with_stdin("check", listing);
    let told = "lanesum: 'standard input': line 1: no objects\n\
                hint: check the names of the bucket and the prefix\n";
    expect(&run, 1, "", told);
    let run = folder.run_with_stdin("compare - .", listing);
    let told = "lanesum: 'standard input': line 1: no objects\n";
    assert_eq!((run.status.code(), text(&run.stderr)), (Some(1), told.to_owned()));
}

/// What this command prints, `check` and `compare` take.
#[test]
fn a_list_of_etags_is_checked() {
    let folder = Folder::in_memory();
    folder.write("t/large", bytes(SIZE));
    folder.write("t/a\nb", bytes(SIZE + 1));
    folder.write("t/small", "abc");
    for (args, zero) in [("", ""), ("-z", "-z")] {
        let run = folder.run(&format!("etag {args} t"));
        folder.write("list", &run.stdout);
        let run = folder.run(&format!("check {zero} --quiet list"));
        assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), String::new()));
        assert!(text(&run.stderr).contains("3 files"), "{}", text(&run.stderr));
        let told = compared(&folder.run(&format!("compare {zero} list t")), 0, "");
        assert!(told.contains("3 files: 3 equal"), "{told}");
        let run = folder
            .run_with_stdin(&format!("check {zero} -"), fs::read(folder.path("list")).unwrap());
        assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    }
    folder.write("list", &folder.run("etag -p 9MiB t").stdout);
    folder.write("t/large", [bytes(SIZE - 1), vec![0]].concat());
    let run = folder.run("check list");
    assert_eq!(run.status.code(), Some(1));
    assert!(text(&run.stdout).contains("t/large: FAILED\n"), "{}", text(&run.stdout));
    assert_eq!(text(&run.stdout).matches(": OK\n").count(), 2);
    let told = compared(
        &folder.run("compare list t"),
        1,
        "not compared large: its ETag matches none of the 8 part sizes tried: it may have changed, \
         have different parts (use --part-size), or be encrypted with KMS or customer keys\n",
    );
    assert!(told.contains("2 equal"), "{told}");
    // As to md5sum.
    let run = folder.run_with_stdin("md5sum -c", format!("{}  t/large\n", IN_PARTS[0].1));
    assert_eq!(run.status.code(), Some(1));
    assert!(text(&run.stderr).contains("no properly formatted"), "{}", text(&run.stderr));
    // With several part sizes a line says which.
    let run = folder.run_with_stdin("check", folder.run("etag -p 5MiB,s3cmd t/large").stdout);
    let told = "an ETag with a part size before the name\n\
                hint: `lanesum etag -p SIZE`, with one size, prints lists that can be checked\n";
    let told =
        ["1", "2"].map(|line| format!("lanesum: 'standard input': line {line}: {told}")).concat();
    expect(&run, 1, "", told);
    // The ETag of a file in one part looks like an MD5.
    folder.write("t/small", "x");
    let run = folder.run_with_stdin("check -q", folder.run("etag -p 5MiB,s3cmd t/small").stdout);
    let told = text(&run.stderr);
    assert!(told.contains("part sizes before the names\nhint: `lanesum etag -p SIZE`"), "{told}");
}

#[test]
fn parts_are_not_read_past_the_cache() {
    let folder = Folder::in_memory();
    folder.write("file", bytes(SIZE));
    let run = folder.run_with_stdin("check --io direct", list(&[("file", SIZE, IN_PARTS[0].1)]));
    let told = "lanesum: file: parts of a file cannot be read past the cache\n";
    expect(&run, 1, "file: FAILED open or read\n", told);
}

#[test]
fn convert_tells_which_etags_it_leaves_out() {
    let folder = Folder::in_memory();
    let entries = [("a", SIZE, IN_PARTS[0].1), ("b", 3, ABC), ("c", SIZE, IN_PARTS[1].1)];
    let csv = format!("path,size,md5\r\na,{SIZE},\r\nb,3,{ABC}\r\nc,{SIZE},\r\n");
    let told = "lanesum: left out 2 ETags of several parts: the format csv cannot hold them\n";
    expect(&folder.run_with_stdin("convert --to csv", list(&entries)), 0, csv, told);
    let run = folder.run_with_stdin("convert --to json", list(&entries[..1]));
    assert!(text(&run.stderr).starts_with("lanesum: left out 1 ETag of several parts"));
    for kind in ["gnu", "tag", "hashdeep", "bagit", "md5deep"] {
        let run = folder.run_with_stdin(&format!("convert --to {kind}"), list(&entries));
        assert_eq!(run.status.code(), Some(1), "{kind}");
        let told = text(&run.stderr);
        let remedy = "; an ETag of several parts is not a digest\n\
                      hint: --to csv, json or jsonl leaves it out\n";
        assert!(told.starts_with("lanesum: 'standard input': a: "), "{kind}: {told}");
        assert!(told.ends_with(remedy), "{kind}: {told}");
    }
}

#[test]
fn a_list_with_a_prefix_is_compared_without_it() {
    let folder = Folder::in_memory();
    folder.write("t/a", bytes(SIZE));
    folder.write("t/sub/b", "abc");
    let entries = [("pre/fix/sub/b", 3, ABC), ("pre/fix/a", SIZE, IN_PARTS[1].1)];
    folder.write("list", list(&entries));
    let run = folder.run("check --root t list");
    let told = "lanesum: list: its files are in t, but their names in the list begin with pre/fix/\nhint: lanesum compare --strip list t\n";
    assert!(text(&run.stderr).contains(told), "{}", text(&run.stderr));
    compared(&folder.run("compare --strip list t"), 0, "");
    folder.write("t/sub/b", "");
    let run = folder.run_with_stdin("check --root t", list(&[("gone/c", 3, ABC)]));
    assert!(!text(&run.stderr).contains("--strip"), "{}", text(&run.stderr));
}

#[test]
fn matching_part_size_is_tried_for_other_files() {
    let folder = Folder::in_memory();
    folder.write("one", "abc");
    folder.write("nothing", "");
    ["a", "b", "c"].iter().for_each(|name| folder.write(name, bytes(SIZE)));
    let entries = [
        ("a", SIZE, IN_PARTS[2].1),
        ("one", 3, "af5da9f45af7a300e3aded972f8ff687-1"),
        ("b", SIZE, IN_PARTS[2].1),
        ("nothing", 0, "59adb24ef3cdbe0297f05b395827453f-1"),
        ("c", SIZE, IN_PARTS[1].1),
        ("one", 3, ABC),
    ];
    let run = folder.run_with_stdin("check -", list(&entries));
    let stdout: String = entries.iter().map(|(name, ..)| format!("{name}: OK\n")).collect();
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), stdout));
    let told = text(&run.stderr);
    assert!(
        told.contains(
            "ETags match with parts of 9MiB (2 files), 1 (1 file), 3 (1 file), 8MiB (1 file)\n"
        ),
        "{told}"
    );
    assert!(told.contains("6 files") || told.contains("5 files"), "{told}");
}

/// Where each line of a comparison stands, but for the summary of all files.
#[track_caller]
fn compared(run: &Output, code: i32, stdout: &str) -> String {
    assert_eq!((run.status.code(), text(&run.stdout).as_str()), (Some(code), stdout));
    text(&run.stderr)
}

#[test]
fn compare_finds_the_part_size_too() {
    let folder = Folder::in_memory();
    folder.write("t/a", bytes(SIZE));
    folder.write("t/b", bytes(SIZE));
    for (size, etag) in &IN_PARTS[..7] {
        let entries = [("a", SIZE, *etag), ("b", SIZE, *etag)];
        folder.write("list", list(&entries));
        let told = compared(&folder.run("compare list t"), 0, "");
        assert!(told.contains(&format!("ETags match with parts of {size} (2 files)\n")), "{told}");
        assert!(told.contains("2 files: 2 equal"), "{told}");
        compared(&folder.run("compare -v t list"), 0, "equal a\nequal b\n");
        assert!(compared(&folder.run("compare list list"), 0, "").contains("2 equal"));
    }
    let (size, odd) = IN_PARTS[7];
    folder.write("list", list(&[("a", SIZE, odd), ("b", SIZE + 1, odd)]));
    let told = "not compared a: its ETag matches none of the 21 part sizes tried: it may have changed, \
                have different parts (use --part-size), or be encrypted with KMS or customer keys\n\
                changed b: size changed from 20,971,521 to 20,971,520 bytes\n";
    compared(&folder.run("compare list t"), 1, told);
    compared(
        &folder.run(&format!("compare --part-size {size} list t")),
        1,
        "changed b: size changed from 20,971,521 to 20,971,520 bytes\n",
    );
    folder.write("other", list(&[("a", SIZE, IN_PARTS[0].1), ("b", SIZE, &format!("{ABC}-1"))]));
    let told = "not compared a: the ETags differ, which different part sizes can cause\n\
                changed b: size changed from 20,971,521 to 20,971,520 bytes\n";
    compared(&folder.run("compare list other"), 1, told);
    // Of one part there is no other size.
    compared(&folder.run("compare other t"), 1, "changed b: different digest\n");
}

/// Uploads `file` by boto3 to moto's server in parts of so many MiB, and prints the objects as
/// `aws s3api list-objects-v2` does. Exits with 77 where Python lacks them.
const UPLOAD: &str = r#"
import json, sys
try:
    import boto3, boto3.s3.transfer
    from moto.server import ThreadedMotoServer
except ImportError:
    sys.exit(77)
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
s3 = boto3.client("s3", endpoint_url=f"http://{host}:{port}", region_name="us-east-1",
                  aws_access_key_id="x", aws_secret_access_key="x")
s3.create_bucket(Bucket="objects")
for name in sys.argv[1:]:
    size = name.split("-")[1]
    if size == "default":
        config = boto3.s3.transfer.TransferConfig()
    else:
        size = int(size) << 20
        config = boto3.s3.transfer.TransferConfig(multipart_threshold=size, multipart_chunksize=size)
    s3.upload_file(name, "objects", name, Config=config)
objects = s3.list_objects_v2(Bucket="objects")["Contents"]
print(json.dumps({"Contents": [{key: it[key] for key in ("Key", "Size", "ETag")} for it in objects]}))
server.stop()
"#;

#[test]
fn a_server_gives_the_same_etags() {
    let folder = Folder::in_memory();
    let sizes = ["5", "8", "15", "16", "default"];
    let lengths = [("long", SIZE + 12_345), ("even", 5 << 23), ("short", 1 << 20), ("empty", 0)];
    let mut names = Vec::new();
    for (kind, length) in lengths {
        for size in sizes {
            let name = format!("{kind}-{size}");
            folder.write(&name, bytes(length));
            names.push(name);
        }
    }
    // The parts of moto's server come through a proxy, if the environment names one.
    let mut python = folder.command("python3");
    python.args(["-c", UPLOAD]).args(&names).env("NO_PROXY", "*").env("no_proxy", "*");
    let objects = match python.output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return skip("there is no python3");
        }
        Ok(run) if run.status.code() == Some(77) => return skip("python3 has no moto and boto3"),
        run => run.unwrap(),
    };
    assert!(objects.status.success(), "{}", text(&objects.stderr));
    folder.write("objects.json", &objects.stdout);
    names.sort();
    let all: String = names.iter().map(|name| format!("{name}: OK\n")).collect();
    let run = folder.run("check objects.json");
    assert_eq!((run.status.code(), text(&run.stdout)), (Some(0), all), "{}", text(&run.stderr));
    let objects = text(&objects.stdout);
    for name in &names {
        let size = match name.split_once('-').unwrap().1 {
            "default" => "boto3".to_owned(),
            size => format!("{size}MiB"),
        };
        let run = folder.run(&format!("etag --part-size {size} {name}"));
        let line = text(&run.stdout);
        let (etag, _) = line.split_once("  ").unwrap();
        assert!(objects.contains(etag), "{etag} {name}: {objects}");
    }
}
