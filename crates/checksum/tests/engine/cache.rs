//! Reading past the cache leaves the cache as it was.

#![expect(unsafe_code, reason = "mincore is asked what of a file is in the cache")]

use std::path::Path;
use std::ptr;

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::*;

const PAGE: usize = 4096;

/// For each page of a file, whether it is in the cache.
fn cached(path: &Path) -> Vec<bool> {
    let file = File::open(path).unwrap();
    let length = usize::try_from(file.metadata().unwrap().len()).unwrap();
    let mut pages = vec![0_u8; length.div_ceil(PAGE)];
    // SAFETY: the mapping is new and not accessed, and mincore writes one byte per page.
    let result = unsafe {
        let flags = MapFlags::PRIVATE;
        let at = mmap(ptr::null_mut(), length, ProtFlags::READ, flags, &file, 0).unwrap();
        let result = libc::mincore(at, length, pages.as_mut_ptr());
        munmap(at, length).unwrap();
        result
    };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
    pages.iter().map(|page| page & 1 == 1).collect()
}

/// Drops a file from the cache.
fn forget(path: &Path) {
    let file = File::open(path).unwrap();
    file.sync_all().unwrap();
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
}

/// Makes a file on a disk that is not in the cache. Returns `None` if the build directory is in
/// memory.
fn uncached(content: &[u8]) -> Option<Folder> {
    // Beside the build, for the system's directory for such things is often in memory.
    let folder = Folder(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap());
    fs::write(folder.path("a"), content).unwrap();
    forget(&folder.path("a"));
    let is_forgotten = !cached(&folder.path("a")).contains(&true);
    if !is_forgotten {
        let _ = writeln!(std::io::stderr(), "skipped: files of the build stay in the cache");
    }
    is_forgotten.then_some(folder)
}

#[test]
fn the_cache_is_left_as_it_was() {
    let content = bytes((3 << 20) + 100);
    let Some(folder) = uncached(&content) else { return };
    let path = folder.path("a");
    let hash = |io: Io| {
        for source in [Source::Path(path.clone()), Source::Regular(path.clone())] {
            let job = Job { source, ..folder.job_of("a") };
            let outcomes = run(&on(io, 1), std::iter::once(job));
            if outcomes != [format!("a: {}", md5(&content))] {
                assert_eq!(outcomes, [format!("a: {}", Error::NoDirect)]);
                return false;
            }
        }
        true
    };
    if !hash(Io::Direct) {
        let _ = writeln!(std::io::stderr(), "skipped: no O_DIRECT where the build stands");
        return;
    }
    assert!(!cached(&path).contains(&true), "what was not cached still is not");

    // The system drops pages for reasons of its own, now and then; a reader that does so does it
    // every time.
    let stays = |io| {
        assert!(hash(Io::Read));
        let is_cached = !cached(&path).contains(&false);
        assert!(hash(io));
        is_cached && !cached(&path).contains(&false)
    };
    assert!((0..10).any(|_| stays(Io::Direct)), "what was cached still is");
}

/// A copy that was just made may be in the cache only.
#[test]
fn unwritten_pages_are_flushed_before_direct_reads() {
    let folder = Folder(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap());
    for length in [1, PAGE, (1 << 20) + 1] {
        let content = bytes(length);
        let outcomes = run(&on(Io::Direct, 1), std::iter::once(folder.job("a", &content)));
        if outcomes == [format!("a: {}", Error::NoDirect)] {
            let _ = writeln!(std::io::stderr(), "skipped: no O_DIRECT where the build stands");
            return;
        }
        assert_eq!(outcomes, [format!("a: {}", md5(&content))]);
    }
}

#[test]
fn files_that_are_not_in_the_cache_come_in_order() {
    let folder = Folder(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap());
    let mut jobs = Vec::new();
    let mut expected = Vec::new();
    for index in 0..400 {
        let content = bytes(40_000 + index);
        let name = format!("{index:03}");
        jobs.push(folder.job(&name, &content));
        expected.push(format!("{name}: {}", md5(&content)));
    }
    // Late ones, when several are begun at a time.
    for (index, name, outcome) in [
        (300, "missing", "No such file or directory"),
        (301, ".", "Is a directory"),
        (302, "398/x", "Not a directory"),
    ] {
        jobs.insert(index, folder.job_of(name));
        expected.insert(index, format!("{name}: {outcome}"));
    }
    for io in Io::ALL {
        for threads in [1, 3] {
            jobs.iter().for_each(|job| {
                let Source::Path(path) = &job.source else { return };
                if path.is_file() {
                    forget(path);
                }
            });
            let outcomes = run(&on(io, threads), jobs.iter().cloned());
            if !outcomes.contains(&format!("000: {}", Error::NoDirect)) {
                assert_eq!(outcomes, expected, "{io}, {threads}");
            }
        }
    }
}

/// Each worker may have to wait for its turn, and those in the cache stand between.
#[test]
fn long_files_that_are_not_in_the_cache_come_in_order() {
    let folder = Folder(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap());
    let lengths = [3 << 20, 5 << 20, 40_000, (128 << 10) + 1, 128 << 10, 1, 2 << 20];
    let (mut jobs, mut expected) = (Vec::new(), Vec::new());
    for index in 0..42 {
        let content = bytes(lengths[index % lengths.len()] + index);
        let name = format!("{index:02}");
        jobs.push(folder.job(&name, &content));
        expected.push(format!("{name}: {}", md5(&content)));
    }
    for io in Io::ALL {
        for threads in 1..=4 {
            for job in jobs.iter().step_by(threads) {
                let Source::Path(path) = &job.source else { continue };
                forget(path);
            }
            let outcomes = run(&on(io, threads), jobs.iter().cloned());
            if !outcomes.contains(&format!("00: {}", Error::NoDirect)) {
                assert_eq!(outcomes, expected, "{io}, {threads}");
            }
        }
    }
}
