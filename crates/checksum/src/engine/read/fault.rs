//! What happens when a mapped file is cut off: SIGBUS, and a handler that survives it.
//!
//! Whoever touches a page of a mapped file that lies beyond the file's end, or cannot be read from
//! the medium, gets SIGBUS, which ends a process that has no answer. The answer here is that of
//! libwayland's server and of systemd's journal: zeros are mapped over the rest of the window, a
//! note is made that they are, and the instruction is done again. The hash goes on over the zeros,
//! and the lane reports the file, or has it read again, when it asks for more.
//!
//! The handler runs between any two instructions of the thread that touched the page, so it may use
//! nothing that could be half done at that moment. It uses atomic numbers and two system calls. It
//! is installed while there are workers that map, and what was there before gets what is not about
//! them.
//!
//! # Why it replaces no other memory
//!
//! 1. The kernel chooses where a window lies ([`Window`](super::map::Window)), so a mapping that
//!    fails leaves no hole, and one that succeeds replaces nothing. The handler's is the only
//!    MAP_FIXED.
//! 2. A window is [entered](Guard::enter) once it is mapped and before anybody touches it, and
//!    [left](Guard::leave) before it is unmapped. So all addresses of a window that is entered are
//!    ours.
//! 3. The handler looks at the windows of its own thread only. What it reads there no other thread
//!    changes; and its own thread is at the instruction that reads the window, not within `enter`
//!    or `leave`, which touch no window. (Of other threads' entries it reads the owner, whom only a
//!    thread itself enters and takes away.)
//! 4. When zeros cannot be mapped, the kernel may have unmapped the rest of the window, and other
//!    threads' memory may come to lie there at any time. Then the process dies, before the
//!    instruction is done again.
//!
//! Another way would be to have the kernel copy (process_vm_readv of our own memory fails instead
//! of raising a signal). Then mapping would save nothing over read, which copies as well.

#![expect(unsafe_code, reason = "installs a handler for a signal")]

use std::ffi::{c_int, c_void};
use std::io;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicU64, AtomicUsize, Ordering, compiler_fence};
use std::sync::{Mutex, PoisonError};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use rustix::thread::gettid;

use super::memory::page_size;

/// The most windows of a worker: as many as a number has bits.
pub(super) const MAX_LANES: usize = u64::BITS as usize;

/// The windows of one worker, as the handler knows them.
struct WorkerWindows {
    /// The id of the worker's thread; 0 if the entry is free.
    owner: AtomicI32,
    windows: [Addresses; MAX_LANES],
    /// A bit for each window that has zeros instead of its file.
    hits: AtomicU64,
}

/// From where to where a window goes, in bytes; nowhere (0 to 0) if nothing is mapped.
struct Addresses {
    start: AtomicUsize,
    end: AtomicUsize,
}

/// As many as there may be workers, for a handler can wait for no lock.
static ENTRIES: [WorkerWindows; 1024] = [const { WorkerWindows::new() }; 1024];

impl WorkerWindows {
    const fn new() -> Self {
        Self {
            owner: AtomicI32::new(0),
            windows: [const { Addresses { start: AtomicUsize::new(0), end: AtomicUsize::new(0) } };
                MAX_LANES],
            hits: AtomicU64::new(0),
        }
    }
}

/// Keeps faults in the windows of a worker from ending the process, as long as it lives.
pub(super) struct Guard {
    entry: &'static WorkerWindows,
    /// Whether the thread had SIGBUS blocked.
    was_blocked: bool,
    /// Not for another thread: the entry and the mask are this one's.
    thread: PhantomData<*const ()>,
}

/// Guards the windows of this thread that are entered.
///
/// # Errors
/// When there are too many workers at once, or no handler can be installed.
pub(super) fn guard() -> io::Result<Guard> {
    // Asked here for the first time, so that the handler finds the answer.
    let _ = page_size();
    let thread = gettid().as_raw_nonzero().get();
    let take = |entry: &&WorkerWindows| {
        entry.owner.compare_exchange(0, thread, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    };
    let entry = ENTRIES.iter().find(take).ok_or(io::ErrorKind::QuotaExceeded)?;
    let installed = install().and_then(|()| block(libc::SIG_UNBLOCK).inspect_err(|_| uninstall()));
    match installed {
        Ok(was_blocked) => Ok(Guard { entry, was_blocked, thread: PhantomData }),
        Err(error) => {
            entry.owner.store(0, Ordering::Release);
            Err(error)
        }
    }
}

impl Guard {
    /// Guards window `index`, which lies at these addresses and stays there until it has left.
    pub(super) fn enter(&self, index: usize, addresses: Range<usize>) {
        self.forget(index);
        let window = &self.entry.windows[index];
        window.end.store(addresses.end, Ordering::Relaxed);
        window.start.store(addresses.start, Ordering::Relaxed);
        // The handler runs in this thread: all that matters is that nothing of the window is read
        // before.
        compiler_fence(Ordering::SeqCst);
    }

    /// Window `index` is nowhere from now on.
    pub(super) fn leave(&self, index: usize) {
        // And nothing after.
        compiler_fence(Ordering::SeqCst);
        let window = &self.entry.windows[index];
        window.start.store(0, Ordering::Relaxed);
        window.end.store(0, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
    }

    /// Whether window `index` has zeros instead of its file.
    pub(super) fn was_hit(&self, index: usize) -> bool {
        compiler_fence(Ordering::SeqCst);
        self.entry.hits.load(Ordering::Acquire) & 1 << index != 0
    }

    /// Forgets that it had.
    fn forget(&self, index: usize) {
        self.entry.hits.fetch_and(!(1 << index), Ordering::AcqRel);
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.was_blocked {
            // What could be unblocked can be blocked.
            let _ = block(libc::SIG_BLOCK);
        }
        uninstall();
        self.entry.owner.store(0, Ordering::Release);
    }
}

/// Blocks or unblocks SIGBUS in this thread; whether it was blocked. A fault whose signal is
/// blocked ends the process whatever the handler.
pub(super) fn block(how: c_int) -> io::Result<bool> {
    // SAFETY: all zeros is memory for a mask, which is filled in before it is looked at.
    let [mut bus, mut old] = [(); 2].map(|()| unsafe { MaybeUninit::zeroed().assume_init() });
    // SAFETY: all pointers are to masks.
    let failed = unsafe {
        libc::sigemptyset(&raw mut bus);
        libc::sigaddset(&raw mut bus, libc::SIGBUS);
        libc::pthread_sigmask(how, &raw const bus, &raw mut old)
    };
    match failed {
        // SAFETY: as before.
        0 => Ok(unsafe { libc::sigismember(&raw const old, libc::SIGBUS) == 1 }),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// How many handlers of ours there are. Whoever installs one on top of ours may have it go on to
/// ours, and stay when ours would go. Then ours stays below, and the next run installs another one
/// on top of that. If both were the same function, which goes on to which could not be told, and a
/// signal would go in a circle.
const LEVELS: usize = 8;

type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

static HANDLERS: [Handler; LEVELS] = [
    on_sigbus::<0>,
    on_sigbus::<1>,
    on_sigbus::<2>,
    on_sigbus::<3>,
    on_sigbus::<4>,
    on_sigbus::<5>,
    on_sigbus::<6>,
    on_sigbus::<7>,
];

/// Who uses the handlers, and what was there before each that is installed.
struct Installed {
    users: usize,
    before: [Option<libc::sigaction>; LEVELS],
}

static INSTALLED: Mutex<Installed> =
    Mutex::new(Installed { users: 0, before: [const { None }; LEVELS] });

/// The handlers from before and their flags, for ours, which can take no lock.
static BEFORE: [AtomicUsize; LEVELS] = [const { AtomicUsize::new(libc::SIG_DFL) }; LEVELS];
static BEFORE_FLAGS: [AtomicI32; LEVELS] = [const { AtomicI32::new(0) }; LEVELS];

/// Which one of ours an action is.
fn level_of(action: &libc::sigaction) -> Option<usize> {
    HANDLERS.iter().position(|&handler| handler as usize == action.sa_sigaction)
}

fn install() -> io::Result<()> {
    let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    if installed.users == 0 {
        let before = action(None)?;
        // Who came on top of ours may have put it back since.
        if level_of(&before).is_none() {
            let level = installed.before.iter().position(Option::is_none);
            let level = level.ok_or(io::ErrorKind::QuotaExceeded)?;
            BEFORE[level].store(before.sa_sigaction, Ordering::Release);
            BEFORE_FLAGS[level].store(before.sa_flags, Ordering::Release);
            // SAFETY: all zeros is an action: no flags, no handler, an empty mask.
            let mut ours: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
            ours.sa_sigaction = HANDLERS[level] as usize;
            ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            action(Some(&ours))?;
            installed.before[level] = Some(before);
        }
    }
    installed.users += 1;
    Ok(())
}

fn uninstall() {
    let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    installed.users -= 1;
    if installed.users == 0
        // Who installed another one meanwhile goes on to ours, which then has nothing to say.
        && let Some(level) = action(None).ok().as_ref().and_then(level_of)
        && let Some(before) = installed.before[level].take()
    {
        // What could be installed once can be again.
        let _ = action(Some(&before));
    }
}

/// The action for SIGBUS; takes another one in its place, if there is one.
fn action(new: Option<&libc::sigaction>) -> io::Result<libc::sigaction> {
    let mut old = MaybeUninit::zeroed();
    let new = new.map_or(ptr::null(), ptr::from_ref);
    // SAFETY: both are valid or null; the new handler is `on_sigbus` or was there before.
    match unsafe { libc::sigaction(libc::SIGBUS, new, old.as_mut_ptr()) } {
        // SAFETY: the call has filled it in.
        0 => Ok(unsafe { old.assume_init() }),
        _ => Err(io::Error::last_os_error()),
    }
}

extern "C" fn on_sigbus<const LEVEL: usize>(
    signal: c_int,
    info: *mut libc::siginfo_t,
    context: *mut c_void,
) {
    // SAFETY: the kernel passes what it knows of the signal; a positive code is the kernel's own,
    // and then there is an address.
    let fault = unsafe { ((*info).si_code > 0).then(|| (*info).si_addr().addr()) };
    match fault.map_or(Mended::NotOurs, mend) {
        Mended::Yes => {}
        Mended::NotOurs => pass_on(LEVEL, signal, info, context),
        Mended::No => die(signal),
    }
}

/// What became of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mended {
    Yes,
    /// It is in no window of this thread.
    NotOurs,
    /// The system has no memory even for zeros.
    No,
}

/// Maps zeros over what is left of the window that an address is in.
fn mend(address: usize) -> Mended {
    let thread = gettid().as_raw_nonzero().get();
    for entry in ENTRIES.iter().filter(|entry| entry.owner.load(Ordering::Acquire) == thread) {
        for (index, window) in entry.windows.iter().enumerate() {
            let window = window.start.load(Ordering::Relaxed)..window.end.load(Ordering::Relaxed);
            if let Some(rest) = rest_of(&window, address, page_size()) {
                let flags = MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE;
                let at = ptr::with_exposed_provenance_mut(rest.start);
                // SAFETY: these are pages of a window that this thread has mapped, see the module.
                // What is replaced is not there: reading it is the fault.
                let zeros = unsafe { mmap_anonymous(at, rest.len(), ProtFlags::READ, flags) };
                if zeros.is_err() {
                    return Mended::No;
                }
                entry.hits.fetch_or(1 << index, Ordering::AcqRel);
                return Mended::Yes;
            }
        }
    }
    Mended::NotOurs
}

/// The pages of a window from that of an address on; `None` if the address lies elsewhere.
fn rest_of(window: &Range<usize>, address: usize, page: usize) -> Option<Range<usize>> {
    let last_page = window.end.next_multiple_of(page);
    window.contains(&address).then(|| address - address % page..last_page)
}

/// Has the signal end the process as soon as the handler returns, before another instruction of
/// this thread.
fn die(signal: c_int) {
    // SAFETY: the default action is one; within the handler the signal is blocked.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

/// Does what would have been done without us.
fn pass_on(level: usize, signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    type HandlerOfNumber = extern "C" fn(c_int);
    let before = BEFORE[level].load(Ordering::Acquire);
    // SAFETY: as in `on_sigbus`.
    let is_fault = unsafe { (*info).si_code > 0 };
    match before {
        libc::SIG_IGN if !is_fault => {}
        libc::SIG_DFL | libc::SIG_IGN if is_fault => {
            // SAFETY: the default action is one. The fault happens again when we return.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        // What was sent is not sent again.
        libc::SIG_DFL => die(signal),
        handler if BEFORE_FLAGS[level].load(Ordering::Acquire) & libc::SA_SIGINFO != 0 => {
            // SAFETY: with this flag it is a handler of three arguments.
            let handler = unsafe { std::mem::transmute::<usize, Handler>(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: without it it is one of one argument.
            let handler = unsafe { std::mem::transmute::<usize, HandlerOfNumber>(handler) };
            handler(signal);
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::MutexGuard;

    use super::*;
    use crate::engine::read::memory::Region;

    /// Only one test at a time has the handler installed, since another one looks whether it is.
    pub(in crate::engine::read) fn alone() -> MutexGuard<'static, ()> {
        static ALONE: Mutex<()> = Mutex::new(());
        ALONE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[test]
    fn the_handler_is_installed_while_workers_map() {
        let _alone = alone();
        let handler = || level_of(&action(None).unwrap());
        assert_eq!(handler(), None);
        let first = guard().unwrap();
        assert_eq!(handler(), Some(0));
        let second = guard().unwrap();
        drop(first);
        assert_eq!(handler(), Some(0), "there are windows still");
        drop(second);
        assert_eq!(handler(), None);
    }

    #[test]
    fn only_entered_windows_become_zeros_after_a_fault() {
        let _alone = alone();
        let page = page_size();
        let guard = guard().unwrap();
        let window = Region::zeros(4 * page).unwrap();
        // SAFETY: only this test has it.
        unsafe { window.bytes_mut(0..4 * page) }.fill(1);
        let address = |offset| window.at(offset).expose_provenance();
        let fault = address(2 * page + 1);
        let hits = || [1, 2, 3].map(|index| guard.was_hit(index));

        assert_eq!(mend(fault), Mended::NotOurs);
        // It ends within its last page, and what lies behind is another's.
        guard.enter(2, address(page)..address(3 * page - 7));
        for outside in [address(page) - 1, address(3 * page - 7)] {
            assert_eq!(mend(outside), Mended::NotOurs);
        }
        let elsewhere = std::thread::scope(|scope| scope.spawn(|| mend(fault)).join().unwrap());
        assert_eq!(elsewhere, Mended::NotOurs, "another thread's window");
        assert_eq!(hits(), [false; 3]);

        assert_eq!(mend(fault), Mended::Yes);
        assert_eq!(hits(), [false, true, false]);
        // SAFETY: it is not written to.
        let bytes = unsafe { window.bytes(0..4 * page) };
        let (zeros, others) = (2 * page..3 * page, [0..2 * page, 3 * page..4 * page]);
        assert!(bytes[zeros].iter().all(|byte| *byte == 0));
        assert!(others.into_iter().all(|range| bytes[range].iter().all(|byte| *byte == 1)));

        guard.leave(2);
        assert_eq!(mend(fault), Mended::NotOurs, "no window of ours any more");
        guard.enter(2, address(0)..address(page));
        assert_eq!(hits(), [false; 3]);
        guard.leave(2);
    }

    #[test]
    fn zeroed_remainders_are_whole_pages() {
        for page in [4 << 10, 16 << 10, 64 << 10] {
            let start = 7 * page;
            let window = start..start + 3 * page - 5;
            let rest = |address| rest_of(&window, address, page);
            assert_eq!(rest(start - 1), None);
            assert_eq!(rest(window.end), None);
            for (address, first) in [
                (start, start),
                (start + 4096 % page, start + 4096 % page / page * page),
                (start + page - 1, start),
                (start + page, start + page),
                (window.end - 1, start + 2 * page),
            ] {
                assert_eq!(rest(address), Some(first..start + 3 * page), "{page} {address}");
            }
        }
    }

    #[test]
    fn a_mapping_thread_unblocks_the_signal() {
        let _alone = alone();
        let is_blocked = || {
            let blocked = block(libc::SIG_UNBLOCK).unwrap();
            if blocked {
                block(libc::SIG_BLOCK).unwrap();
            }
            blocked
        };
        for blocked in [false, true] {
            block(if blocked { libc::SIG_BLOCK } else { libc::SIG_UNBLOCK }).unwrap();
            let guard = guard().unwrap();
            assert!(!is_blocked());
            drop(guard);
            assert_eq!(is_blocked(), blocked);
        }
    }
}
