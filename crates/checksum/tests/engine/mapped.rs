//! Mapped files, and the signal that reading them can raise.

use std::ffi::{c_int, c_void};
use std::mem::{MaybeUninit, transmute};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus};
use std::sync::atomic::AtomicUsize;
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

/// Truncates many long files to zero while they are in their lanes.
#[test]
fn many_files_truncated_at_once_are_errors() {
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
        let mut options = on(Io::Mmap, threads);
        options.progress = Some(Arc::clone(&progress));
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
fn a_foreign_fault_still_kills() {
    if std::env::var_os(VICTIM).is_some() {
        return touch_what_is_not_there();
    }
    let ended = run_as_victim("a_foreign_fault_still_kills");
    assert_eq!(ended.signal(), Some(Signal::BUS.as_raw()), "{ended:?}");
}

/// How this test ends in a child process.
fn run_as_victim(test: &str) -> ExitStatus {
    let run = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("mapped::{test}")])
        .env(VICTIM, "1")
        .output()
        .unwrap();
    run.status
}

fn touch_what_is_not_there() {
    let folder = Folder::new();
    run_and(&folder, || touch_nothing(&folder));
}

/// Has a file mapped, and does something while the engine's handler is there.
fn run_and(folder: &Folder, act: impl Fn() + Sync) {
    let job = folder.job("a", &bytes(1 << 20));
    // A worker waits for another job.
    let (end, ended) = std::sync::mpsc::channel();
    let mut run = engine::run(&on(Io::Mmap, 1), std::iter::once(job).chain(ended));
    assert!(run.next().unwrap().result.is_ok());
    act();
    drop(end);
    assert!(run.next().is_none());
}

#[expect(unsafe_code, reason = "a fault of our own")]
fn touch_nothing(folder: &Folder) {
    let Source::Path(path) = folder.job("empty", b"").source else { panic!("a path") };
    let file = File::open(path).unwrap();
    // SAFETY: the mapping is new; that reading it raises a signal is the purpose.
    unsafe {
        let page = mmap(ptr::null_mut(), 4096, ProtFlags::READ, MapFlags::PRIVATE, &file, 0);
        page.unwrap().cast::<u8>().read_volatile();
    }
}

type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// How often the handler was called that goes on to another one, and which one that is.
static CALLS: AtomicU64 = AtomicU64::new(0);
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// The exit code of a process in which one fault came to each handler once.
const EACH_ONCE: c_int = 7;

/// One that is installed between two runs, goes on to the engine's of the first run, and stays.
/// That one's must go on to what was there before it, though the engine's is on top again.
#[test]
fn chained_handlers_do_not_loop() {
    if std::env::var_os(VICTIM).is_some() {
        let folder = Folder::new();
        install(last);
        run_and(&folder, || NEXT.store(install(between), Ordering::Relaxed));
        return run_and(&folder, || touch_nothing(&folder));
    }
    let ended = run_as_victim("chained_handlers_do_not_loop");
    assert_eq!(ended.code(), Some(EACH_ONCE), "{ended:?}");
}

/// Installs a handler. Returns the previous one.
#[expect(unsafe_code, reason = "handlers of a program that uses the engine")]
fn install(handler: Handler) -> usize {
    // SAFETY: all zeros is an action, and each handler is one of three arguments.
    unsafe {
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        let mut before: libc::sigaction = MaybeUninit::zeroed().assume_init();
        assert_eq!(libc::sigaction(libc::SIGBUS, &raw const action, &raw mut before), 0);
        before.sa_sigaction
    }
}

#[expect(unsafe_code, reason = "goes on as handlers do")]
extern "C" fn between(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    if CALLS.fetch_add(1, Ordering::Relaxed) > 0 {
        last(signal, info, context);
    }
    // SAFETY: it is the engine's, of three arguments.
    let next = unsafe { transmute::<usize, Handler>(NEXT.load(Ordering::Relaxed)) };
    next(signal, info, context);
}

#[expect(unsafe_code, reason = "ends the process as a handler may")]
extern "C" fn last(_: c_int, _: *mut libc::siginfo_t, _: *mut c_void) {
    let code = if CALLS.load(Ordering::Relaxed) == 1 { EACH_ONCE } else { 1 };
    // SAFETY: the process needs no more cleanup.
    unsafe { libc::_exit(code) }
}
