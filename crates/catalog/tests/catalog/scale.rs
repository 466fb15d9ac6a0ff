//! Work for many files, counted: no test waits on a clock.

use std::fs;

use lanesum_catalog::Attention;

use super::*;

const FILES: usize = 20_000;
const ACCEPTED: usize = 1000;
/// Files of the first directory: more than a page of rows.
const EACH: usize = 12_000;

fn directory_of(number: usize) -> &'static str {
    if number < EACH { "d0" } else { "d1" }
}

/// Bytes that this thread read so far, from files or the page cache.
fn bytes_read() -> Option<u64> {
    let counts = fs::read_to_string("/proc/thread-self/io").ok()?;
    let line = counts.lines().find_map(|line| line.strip_prefix("rchar: "))?;
    line.parse().ok()
}

/// Twenty thousand files, renamed, and a thousand of them accepted.
#[test]
fn many_renamed_files_are_not_read_and_accept_does_not_read_the_whole_catalog() {
    let archive = Archive::new();
    for number in 0..FILES {
        let (directory, name) = (directory_of(number), number.to_string());
        if number % EACH == 0 {
            fs::create_dir(archive.path(directory)).unwrap();
        }
        fs::write(archive.path(directory).join(&name), &name).unwrap();
    }
    assert_eq!(archive.add().summary.files, FILES as u64);

    archive.rename("d0", "directory");
    for number in EACH..FILES {
        let path = archive.path(&format!("{}/{number}", directory_of(number)));
        fs::rename(&path, path.with_file_name(format!("renamed {number}"))).unwrap();
    }
    let report = archive.update();
    assert_eq!((report.summary.files, report.summary.bytes), (0, 0));
    assert_eq!(report.count(Class::Moved), FILES as u64);
    assert_eq!(report.summary.attention(), Attention::Changes);
    assert_eq!(archive.update().summary.attention(), Attention::Nothing);

    let renamed = (EACH..EACH + ACCEPTED).map(|it| format!("{}/renamed {it}", directory_of(it)));
    let renamed: Vec<_> = renamed.collect();
    renamed.iter().for_each(|name| archive.damage(name));
    assert_eq!(archive.verify_paths(&["d1"]).count(Class::Damaged), ACCEPTED as u64);
    let paths: Vec<_> = renamed.iter().map(|name| archive.path(name)).collect();
    let mut catalog = archive.open();
    let before = bytes_read();
    let accepted = catalog.accept(&paths, &options(), &mut |_, _| Ok(())).unwrap();
    let after = bytes_read();
    assert_eq!((accepted.files, accepted.failed.len()), (ACCEPTED as u64, 0));
    drop(catalog);
    let size = fs::metadata(archive.catalog_path()).unwrap().len();
    if let Some((before, after)) = before.zip(after) {
        // A pass over the catalog for each path would read it a thousand times.
        assert!(after - before < 10 * size, "{} bytes of {size}", after - before);
    }
    assert_eq!(archive.update().summary.attention(), Attention::Nothing);
}
