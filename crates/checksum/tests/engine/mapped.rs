//! Mapped files, and the signal that reading them can raise.

use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;
use std::{ptr, thread};

use rustix::mm::{MapFlags, ProtFlags, mmap};
use rustix::process::Signal;

use super::*;

fn md5_of_zeros(length: u64) -> String {
    use ::md5::Digest as _;
    let mut hash = ::md5::Md5::new();
    let zeros = vec![0; 1 << 20];
    (0..length >> 20).for_each(|_| hash.update(&zeros));
    hex(&hash.finalize())
}

/// Cuts every one of many long files off while they are in their lanes, down to nothing.
#[test]
fn many_files_that_are_cut_off_at_once() {
    // Holes, so long that a thread that waits for its turn comes before their end.
    const LENGTH: u64 = 256 << 20;
    let folder = Folder::new();
    let names: Vec<_> = (0..40).map(|index| format!("{index:02}")).collect();
    let jobs: Vec<_> = names.iter().map(|name| folder.job(name, b"")).collect();
    let last = folder.job("last", b"abc");
    let whole = md5_of_zeros(LENGTH);
    let results = [whole.as_str(), "changed while it was read", &md5(b"")];
    let set_lengths = |length| {
        for name in &names {
            let file = File::options().write(true).open(folder.path(name)).unwrap();
            file.set_len(length).unwrap();
        }
    };
    for threads in [1, 3] {
        set_lengths(LENGTH);
        let progress = Arc::new(Progress::default());
        let options = Options { progress: Some(Arc::clone(&progress)), ..on(Io::Mmap, threads) };
        let outcomes = thread::scope(|scope| {
            scope.spawn(|| {
                while progress.bytes.load(Ordering::Relaxed) == 0 {
                    thread::yield_now();
                }
                set_lengths(0);
            });
            run(&options, jobs.iter().chain([&last]).cloned())
        });
        for (name, outcome) in names.iter().zip(&outcomes) {
            let expected = results.map(|result| format!("{name}: {result}"));
            assert!(expected.contains(outcome), "{outcome}");
        }
        let changed = outcomes.iter().filter(|outcome| outcome.contains("changed")).count();
        assert!(changed > 0, "some were in their lanes: {outcomes:?}");
        assert_eq!(outcomes.last().unwrap(), &format!("last: {}", md5(b"abc")));
    }
}

/// Says that this process is the one that is to be killed.
const VICTIM: &str = "LANESUM_TEST_VICTIM";

#[test]
fn a_fault_that_is_not_the_engines_still_kills() {
    if std::env::var_os(VICTIM).is_some() {
        return touch_what_is_not_there();
    }
    let run = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "mapped::a_fault_that_is_not_the_engines_still_kills"])
        .env(VICTIM, "1")
        .output()
        .unwrap();
    assert_eq!(run.status.signal(), Some(Signal::BUS.as_raw()), "{run:?}");
}

#[expect(unsafe_code, reason = "a fault of our own")]
fn touch_what_is_not_there() {
    let folder = Folder::new();
    let job = folder.job("a", &bytes(1 << 20));
    let empty = folder.job("empty", b"");
    let make = |outcome: Outcome<String>| {
        assert!(outcome.result.is_ok());
        let Source::Path(path) = &empty.source else { panic!("{empty:?}") };
        let file = File::open(path).unwrap();
        // SAFETY: the mapping is new; that reading it raises a signal is the purpose.
        unsafe {
            let page = mmap(ptr::null_mut(), 4096, ProtFlags::READ, MapFlags::PRIVATE, &file, 0);
            page.unwrap().cast::<u8>().read_volatile();
        }
    };
    engine::run(&on(Io::Mmap, 1), std::iter::once(job), make, |()| ControlFlow::Continue(()));
}
