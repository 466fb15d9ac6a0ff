//! Files that another process has open for writing, or has a lease on.

use std::ffi::c_int;
use std::os::fd::AsRawFd as _;
use std::sync::atomic::AtomicBool;

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::ways::{LONG, hash_in_while, long};
use super::*;

/// In a tmpfs, where a store through a mapping to a page that it has written to before moves no
/// times.
fn in_memory() -> Folder {
    tempfile::tempdir_in("/dev/shm").map_or_else(|_| Folder::new(), Folder)
}

/// The mapped bytes of a file, for stores.
struct Mapping(*mut u8);

impl Mapping {
    fn of(file: &File, length: usize) -> Self {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: it is for the kernel to choose where.
        let start =
            unsafe { mmap(std::ptr::null_mut(), length, access, MapFlags::SHARED, file, 0) };
        Self(start.unwrap().cast())
    }

    /// Stores a byte. Unless it is ended the mapping lasts as long as the process, so that it has
    /// its writer.
    fn store(&self, at: usize, byte: u8) {
        // SAFETY: it is within the mapping, to which no reference exists.
        unsafe { self.0.add(at).write_volatile(byte) };
    }

    /// Ends it: the file has no writer any more.
    fn end(self, length: usize) {
        // SAFETY: the mapping has this length, and no reference to it exists.
        unsafe { munmap(self.0.cast(), length) }.unwrap();
    }
}

fn writer(folder: &Folder) -> File {
    File::options().read(true).write(true).open(folder.path("long")).unwrap()
}

fn path(folder: &Folder) -> Source {
    Source::Path(folder.path("long"))
}

#[test]
fn mapped_stores_give_no_mixed_digest() {
    for io in [Io::Read, Io::Mmap, Io::Auto] {
        let change = |folder: &Folder| {
            let mapping = Mapping::of(&writer(folder), LONG);
            // Of the first one the old value was read, and of the last one the new one will be.
            mapping.store(0, b'x');
            mapping.store(LONG - 1, b'x');
        };
        let result = hash_in_while(in_memory, path, change, &on(io, 1));
        assert!(matches!(result, Err(Error::Changed)), "{io}: {result:?}");
    }
}

/// Standard input of this process, which no other test here reads.
fn stdin(folder: &Folder) -> Source {
    rustix::stdio::dup2_stdin(File::open(folder.path("long")).unwrap()).unwrap();
    Source::Stdin
}

/// Whether a lease on a file there can be asked for.
fn has_leases(folder: &Folder) -> bool {
    folder.job("leased", b"abc");
    let file = File::open(folder.path("leased")).unwrap();
    fcntl(&file, libc::F_SETLEASE, libc::F_RDLCK) == 0
        // A child of another test may have it open for a moment.
        || std::io::Error::last_os_error().raw_os_error() == Some(libc::EAGAIN)
}

/// In a tmpfs a store to an already modified page changes no time. Only the lease at the start
/// detects such a writer if it is gone at the end, and only the second digest detects its change.
#[test]
fn an_earlier_writer_is_detected_by_lease() {
    if !has_leases(&in_memory()) {
        let _ = writeln!(std::io::stderr(), "skipped: no leases on this file system");
        return;
    }
    type Given = fn(&Folder) -> Source;
    let given: [(Io, Given); 3] = [(Io::Read, path), (Io::Auto, path), (Io::Auto, stdin)];
    // Files changed a moment ago are examined in a different way.
    let cases = [(true, true), (true, false), (false, true), (false, false)];
    for ((io, source), (is_new, stays)) in
        given.into_iter().flat_map(|it| cases.map(|case| (it, case)))
    {
        let held = std::cell::RefCell::new(None);
        let begin = |folder: &Folder| {
            let file = writer(folder);
            let mapping = Mapping::of(&file, LONG);
            mapping.store(0, b'l');
            mapping.store(LONG - 1, 0);
            file.set_times(FileTimes::new().set_modified(SystemTime::UNIX_EPOCH)).unwrap();
            held.replace(Some(mapping));
            if !is_new {
                std::thread::sleep(Duration::from_millis(30));
            }
            source(folder)
        };
        let change = |_: &Folder| {
            let mapping: Mapping = held.take().unwrap();
            mapping.store(0, b'x');
            mapping.store(LONG - 1, b'x');
            if !stays {
                mapping.end(LONG);
            }
        };
        let result = hash_in_while(in_memory, begin, change, &on(io, 1));
        assert!(matches!(result, Err(Error::Changed)), "{io} {is_new} {stays}: {result:?}");
    }
}

#[test]
fn an_idle_writer_is_harmless() {
    let held = std::cell::RefCell::new(Vec::new());
    let open = |folder: &Folder| held.borrow_mut().push(writer(folder));
    let digest = hash_in_while(in_memory, path, open, &on(Io::Auto, 1));
    assert_eq!(digest.unwrap(), md5(&long(LONG)));
}

/// A file that is read twice counts once.
#[test]
fn a_file_with_a_writer_is_counted_once() {
    const LENGTHS: [usize; 2] = [1000, 1 << 20];
    let folder = in_memory();
    let jobs = LENGTHS.map(|length| folder.job(&format!("{length}"), &bytes(length)));
    let writers = LENGTHS.map(|length| {
        File::options().append(true).open(folder.path(&format!("{length}"))).unwrap()
    });
    let progress = Arc::new(Progress::default());
    let mut options = on(Io::Auto, 1);
    options.progress = Some(Arc::clone(&progress));
    let outcomes = run(&options, jobs.into_iter());
    assert_eq!(outcomes, LENGTHS.map(|length| format!("{length}: {}", md5(&bytes(length)))));
    assert_eq!(progress.bytes.load(Ordering::Relaxed), LENGTHS.iter().sum::<usize>() as u64);
    drop(writers);
}

fn fcntl(file: &File, command: c_int, argument: c_int) -> c_int {
    // SAFETY: the commands used here take numbers.
    unsafe { libc::fcntl(file.as_raw_fd(), command, argument) }
}

/// As Samba and an NFS server have them on what their clients use.
#[test]
fn a_broken_lease_is_waited_for() {
    const F_SETSIG: c_int = 10;
    let folder = in_memory();
    let job = folder.job("leased", b"abc");
    let holder = File::options().read(true).write(true).open(folder.path("leased")).unwrap();
    // By default the signal would end the process.
    assert_eq!(fcntl(&holder, F_SETSIG, libc::SIGURG), 0);
    if fcntl(&holder, libc::F_SETLEASE, libc::F_WRLCK) != 0 {
        let _ = writeln!(std::io::stderr(), "skipped: no leases on this file system");
        return;
    }
    let was_asked = AtomicBool::new(false);
    let outcomes = std::thread::scope(|scope| {
        scope.spawn(|| {
            while fcntl(&holder, libc::F_GETLEASE, 0) == libc::F_WRLCK {
                std::thread::yield_now();
            }
            was_asked.store(true, Ordering::Relaxed);
            assert_eq!(fcntl(&holder, libc::F_SETLEASE, libc::F_UNLCK), 0);
        });
        run(&on(Io::Auto, 1), std::iter::once(job))
    });
    assert!(was_asked.into_inner());
    assert_eq!(outcomes, [format!("leased: {}", md5(b"abc"))]);
}
