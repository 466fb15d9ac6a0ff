//! A handler for SIGBUS, which a truncated mapped file causes.
//!
//! An access to a page of a mapped file that lies beyond the end of the file, or that cannot be
//! read from the medium, causes SIGBUS. The signal ends a process without a handler. The handler
//! here does the same as the libwayland server and the systemd journal: it maps zeros over the rest
//! of the window, records that, and returns to the instruction. The hash continues over the zeros.
//! When the lane asks for more bytes, it reports the file or reads it again.
//!
//! The handler runs between any two instructions of the thread, so it must not use data that may be
//! inconsistent at that moment. It uses atomic numbers and two system calls. It is installed while
//! workers map files, and passes other faults to the previous handler.
//!
//! # Why it replaces no other memory
//!
//! 1. The kernel chooses the address of a window ([`Window`](super::map::Window)), so a failed
//!    mapping leaves no hole, and a successful one replaces nothing. Only the handler uses
//!    MAP_FIXED.
//! 2. A window is [entered](Guard::enter) after it is mapped and before any access, and
//!    [left](Guard::leave) before it is unmapped. So this process owns all addresses of an entered
//!    window.
//! 3. The handler reads the windows of its own thread only, which no other thread changes. Its
//!    thread is at the instruction that reads the window, not within `enter` or `leave`, which do
//!    not access windows. From the entries of other threads it reads only the owner, which only the
//!    owning thread sets and clears.
//! 4. If zeros cannot be mapped, the kernel may have unmapped the rest of the window, and memory of
//!    other threads may be mapped there at any time. Then the process ends before the instruction
//!    is repeated.
//!
//! An alternative is a copy by the kernel: process_vm_readv fails instead of raising a signal. But
//! then mapping would not be faster than reading, which also copies.

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

/// The largest number of windows of a worker, one per bit of a number.
pub(super) const MAX_LANES: usize = u64::BITS as usize;

/// The windows of one worker, for the handler.
struct WorkerWindows {
    /// The thread id of the worker, or 0 for a free entry.
    owner: AtomicI32,
    windows: [Addresses; MAX_LANES],
    /// A bit for each window with zeros instead of its file.
    hits: AtomicU64,
}

/// The address range of each window, or 0 to 0 if nothing is mapped.
struct Addresses {
    start: AtomicUsize,
    end: AtomicUsize,
}

/// A fixed table for the largest number of workers, because a handler must not take a lock.
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

/// While it exists, faults in the windows of a worker do not end the process.
pub(super) struct Guard {
    entry: &'static WorkerWindows,
    /// Whether the thread had blocked SIGBUS.
    was_blocked: bool,
    /// Not `Send`, because the entry and the signal mask belong to this thread.
    thread: PhantomData<*const ()>,
}

/// Starts to guard the entered windows of this thread.
///
/// # Errors
/// Fails if there are too many workers, or if no handler can be installed.
pub(super) fn guard() -> io::Result<Guard> {
    // Computed here first, so that the handler only reads the stored value.
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
    /// Guards window `index` at these addresses, where it must stay until it is left.
    pub(super) fn enter(&self, index: usize, addresses: Range<usize>) {
        self.forget(index);
        let window = &self.entry.windows[index];
        window.end.store(addresses.end, Ordering::Relaxed);
        window.start.store(addresses.start, Ordering::Relaxed);
        // The handler runs in this thread, so it is enough that no byte of the window is read
        // before.
        compiler_fence(Ordering::SeqCst);
    }

    /// Stops guarding window `index`.
    pub(super) fn leave(&self, index: usize) {
        // And that no byte is read after.
        compiler_fence(Ordering::SeqCst);
        let window = &self.entry.windows[index];
        window.start.store(0, Ordering::Relaxed);
        window.end.store(0, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
    }

    /// Returns whether window `index` has zeros instead of its file.
    pub(super) fn was_hit(&self, index: usize) -> bool {
        compiler_fence(Ordering::SeqCst);
        self.entry.hits.load(Ordering::Acquire) & 1 << index != 0
    }

    /// Clears this mark.
    fn forget(&self, index: usize) {
        self.entry.hits.fetch_and(!(1 << index), Ordering::AcqRel);
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.was_blocked {
            // Blocking cannot fail after unblocking succeeded.
            let _ = block(libc::SIG_BLOCK);
        }
        uninstall();
        self.entry.owner.store(0, Ordering::Release);
    }
}

/// Blocks or unblocks SIGBUS in this thread. Returns whether it was blocked. A fault with a blocked
/// signal ends the process in spite of the handler.
pub(super) fn block(how: c_int) -> io::Result<bool> {
    // SAFETY: zeroed memory is valid for a mask, which is filled in before it is read.
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

/// The number of handler functions. Other code may install a handler on top that continues to this
/// one, and keep it when this one should be removed. Then this one stays below, and the next run
/// installs another one on top. If both were the same function, a signal would loop, because the
/// handler could not determine its position in the chain.
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

/// The users of the handlers, and the previous action of each installed one.
struct Installed {
    users: usize,
    before: [Option<libc::sigaction>; LEVELS],
}

static INSTALLED: Mutex<Installed> =
    Mutex::new(Installed { users: 0, before: [const { None }; LEVELS] });

/// The previous handlers and their flags, for the handler, which must not take a lock.
static BEFORE: [AtomicUsize; LEVELS] = [const { AtomicUsize::new(libc::SIG_DFL) }; LEVELS];
static BEFORE_FLAGS: [AtomicI32; LEVELS] = [const { AtomicI32::new(0) }; LEVELS];

/// Returns which of these handlers an action is.
fn level_of(action: &libc::sigaction) -> Option<usize> {
    HANDLERS.iter().position(|&handler| handler as usize == action.sa_sigaction)
}

fn install() -> io::Result<()> {
    let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    if installed.users == 0 {
        let before = action(None)?;
        // Code that installed a handler on top may have restored this one since.
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
        // Another handler installed meanwhile continues to this one, which then does nothing.
        && let Some(level) = action(None).ok().as_ref().and_then(level_of)
        && let Some(before) = installed.before[level].take()
    {
        // Installing cannot fail after it succeeded once.
        let _ = action(Some(&before));
    }
}

/// Returns the action for SIGBUS, and installs a new one if given.
fn action(new: Option<&libc::sigaction>) -> io::Result<libc::sigaction> {
    let mut old = MaybeUninit::zeroed();
    let new = new.map_or(ptr::null(), ptr::from_ref);
    // SAFETY: both pointers are valid or null. The new handler is `on_sigbus` or a previous one.
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
    // SAFETY: the kernel passes valid signal information. A positive code is from the kernel, and
    // then there is an address.
    let fault = unsafe { ((*info).si_code > 0).then(|| (*info).si_addr().addr()) };
    match fault.map_or(Mended::NotOurs, mend) {
        Mended::Yes => {}
        Mended::NotOurs => pass_on(LEVEL, signal, info, context),
        Mended::No => die(signal),
    }
}

/// The result of handling a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mended {
    Yes,
    /// The address is not in a window of this thread.
    NotOurs,
    /// The system has no memory for zeros.
    No,
}

/// Maps zeros over the rest of the window that contains an address.
fn mend(address: usize) -> Mended {
    let thread = gettid().as_raw_nonzero().get();
    for entry in ENTRIES.iter().filter(|entry| entry.owner.load(Ordering::Acquire) == thread) {
        for (index, window) in entry.windows.iter().enumerate() {
            let window = window.start.load(Ordering::Relaxed)..window.end.load(Ordering::Relaxed);
            if let Some(rest) = rest_of(&window, address, page_size()) {
                let flags = MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE;
                let at = ptr::with_exposed_provenance_mut(rest.start);
                // SAFETY: these are pages of a window that this thread has mapped, see the module.
                // The replaced pages cannot be read, which caused the fault.
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

/// Returns the pages of a window from that of an address on, or `None` if the address is outside.
fn rest_of(window: &Range<usize>, address: usize, page: usize) -> Option<Range<usize>> {
    let last_page = window.end.next_multiple_of(page);
    window.contains(&address).then(|| address - address % page..last_page)
}

/// Makes the signal end the process as soon as the handler returns, before another instruction of
/// this thread.
fn die(signal: c_int) {
    // SAFETY: the default action is valid, and the signal is blocked within the handler.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

/// Passes the signal to the previous handler or action.
fn pass_on(level: usize, signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    type HandlerOfNumber = extern "C" fn(c_int);
    let before = BEFORE[level].load(Ordering::Acquire);
    // SAFETY: as in `on_sigbus`.
    let is_fault = unsafe { (*info).si_code > 0 };
    match before {
        libc::SIG_IGN if !is_fault => {}
        libc::SIG_DFL | libc::SIG_IGN if is_fault => {
            // SAFETY: the default action is valid. The fault happens again after the return.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        // A signal that a process has sent is not sent again.
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

    /// Only one test at a time installs the handler, because another test checks whether it is
    /// installed.
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
        // It ends within its last page, and the memory after it belongs to others.
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
