//! What happens when a mapped file is cut off: SIGBUS, and a handler that survives it.
//!
//! Who touches a page of a mapped file that lies beyond the file's end, or cannot be read from the
//! medium, gets SIGBUS, which ends a process that has no answer. The answer here is that of
//! libwayland's server and of systemd's journal: zeros are mapped over the rest of the window, a
//! note is made that they are, and the instruction is done again. The hash goes on over the zeros,
//! and the lane reports the file, or has it read anew, when it asks for more.
//!
//! The handler runs between any two instructions of the thread that touched the page, so it may use
//! nothing that could be half done at that moment. It uses atomic numbers and one system call. It
//! is installed while there are windows, and what was there before gets what is not about them.
//!
//! Another way would be to have the kernel copy (process_vm_readv of our own memory fails instead of
//! raising a signal). Then mapping would save nothing over read, which copies as well.

#![expect(unsafe_code, reason = "installs a handler for a signal")]

use std::ffi::{c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};

use super::map::{WINDOW, WINDOWS};
use super::memory::{PAGE, Region};

/// The most windows of a worker: as many as a number has bits.
pub(super) const MAX_LANES: usize = u64::BITS as usize;

/// The windows of one worker, as the handler knows them.
struct Entry {
    /// The address of the first one; 0 if the entry is free. All entries are [`WINDOWS`] long, so
    /// that this one number says all, at any moment.
    start: AtomicUsize,
    /// A bit for each window that has zeros instead of its file.
    hits: AtomicU64,
}

/// As many as there may be workers, for a handler can wait for no lock.
static ENTRIES: [Entry; 1024] =
    [const { Entry { start: AtomicUsize::new(0), hits: AtomicU64::new(0) } }; 1024];

/// Keeps faults in the windows of a worker from ending the process, as long as it lives.
pub(super) struct Guard(&'static Entry);

/// Guards the windows in a region.
///
/// # Errors
/// When there are too many at once, or no handler can be installed.
pub(super) fn guard(windows: &Region) -> io::Result<Guard> {
    let start = windows.at(0).addr();
    let _ = windows.at(WINDOWS);
    let take = |entry: &&Entry| {
        entry.start.compare_exchange(0, start, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    };
    let entry = ENTRIES.iter().find(take).ok_or(io::ErrorKind::QuotaExceeded)?;
    entry.hits.store(0, Ordering::Relaxed);
    if let Err(error) = install() {
        entry.start.store(0, Ordering::Release);
        return Err(error);
    }
    Ok(Guard(entry))
}

impl Guard {
    /// Whether window `index` has zeros instead of its file.
    pub(super) fn was_hit(&self, index: usize) -> bool {
        self.0.hits.load(Ordering::Acquire) & 1 << index != 0
    }

    /// Forgets that it had.
    pub(super) fn forget(&self, index: usize) {
        self.0.hits.fetch_and(!(1 << index), Ordering::AcqRel);
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        uninstall();
        self.0.start.store(0, Ordering::Release);
    }
}

/// Who uses the handler, and what was there before.
struct Installed {
    users: usize,
    before: Option<libc::sigaction>,
}

static INSTALLED: Mutex<Installed> = Mutex::new(Installed { users: 0, before: None });

/// The handler from before and its flags, for the handler, which can take no lock.
static BEFORE: AtomicUsize = AtomicUsize::new(libc::SIG_DFL);
static BEFORE_FLAGS: AtomicI32 = AtomicI32::new(0);

fn install() -> io::Result<()> {
    let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    if installed.users == 0 {
        let before = action(None)?;
        BEFORE.store(before.sa_sigaction, Ordering::Release);
        BEFORE_FLAGS.store(before.sa_flags, Ordering::Release);
        // SAFETY: all zeros is an action: no flags, nobody's handler, an empty mask.
        let mut ours: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        ours.sa_sigaction = on_sigbus as *const () as usize;
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        action(Some(&ours))?;
        installed.before = Some(before);
    }
    installed.users += 1;
    Ok(())
}

fn uninstall() {
    let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    installed.users -= 1;
    let is_ours =
        || action(None).is_ok_and(|now| now.sa_sigaction == on_sigbus as *const () as usize);
    if installed.users == 0
        && let Some(before) = installed.before.take()
        // Who installed another one meanwhile goes on to ours, which then has nothing to say.
        && is_ours()
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

extern "C" fn on_sigbus(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes what it knows of the signal; a positive code is the kernel's own,
    // and then there is an address.
    let fault = unsafe { ((*info).si_code > 0).then(|| (*info).si_addr().addr()) };
    if !fault.is_some_and(mend) {
        pass_on(signal, info, context);
    }
}

/// Maps zeros from the page of an address to the end of its window; false if it is in none.
fn mend(address: usize) -> bool {
    let of = |entry: &&Entry| match entry.start.load(Ordering::Acquire) {
        0 => false,
        start => (start..start + WINDOWS).contains(&address),
    };
    let Some(entry) = ENTRIES.iter().find(of) else { return false };
    let start = entry.start.load(Ordering::Acquire);
    let window = (address - start) / WINDOW;
    let page = address - address % PAGE;
    let end = start + (window + 1) * WINDOW;
    let flags = MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE;
    let at = ptr::with_exposed_provenance_mut(page);
    // SAFETY: the thread that is at fault reads its own window, so the window is there, and what is
    // replaced is not: reading it is the fault.
    let zeros = unsafe { mmap_anonymous(at, end - page, ProtFlags::READ, flags) };
    if zeros.is_ok() {
        entry.hits.fetch_or(1 << window, Ordering::AcqRel);
    }
    zeros.is_ok()
}

/// Does what would have been done without us.
fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    type Handler = extern "C" fn(c_int);
    type HandlerOfInfo = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
    let before = BEFORE.load(Ordering::Acquire);
    // SAFETY: as in `on_sigbus`.
    let is_fault = unsafe { (*info).si_code > 0 };
    match before {
        libc::SIG_IGN if !is_fault => {}
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: the default action is one. A fault happens again when we return; a signal
            // that was sent does not, so it is sent again, and comes when we return.
            unsafe {
                libc::signal(signal, libc::SIG_DFL);
                if !is_fault {
                    libc::raise(signal);
                }
            }
        }
        handler if BEFORE_FLAGS.load(Ordering::Acquire) & libc::SA_SIGINFO != 0 => {
            // SAFETY: with this flag it is a handler of three arguments.
            let handler = unsafe { std::mem::transmute::<usize, HandlerOfInfo>(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: without it it is one of one argument.
            let handler = unsafe { std::mem::transmute::<usize, Handler>(handler) };
            handler(signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_handler_is_there_while_there_are_windows() {
        let handler = || action(None).unwrap().sa_sigaction;
        let ours = on_sigbus as *const () as usize;
        let regions = [(); 2].map(|()| Region::addresses(WINDOWS).unwrap());
        let before = handler();
        assert_ne!(before, ours);

        let first = guard(&regions[0]).unwrap();
        assert_eq!(handler(), ours);
        let second = guard(&regions[1]).unwrap();
        drop(first);
        assert_eq!(handler(), ours, "there are windows still");

        let in_its_third_window = regions[1].at(2 * WINDOW + PAGE + 1).expose_provenance();
        assert!(mend(in_its_third_window));
        // SAFETY: just mapped, and nobody writes to it.
        let zeros = unsafe { regions[1].bytes(2 * WINDOW + PAGE..3 * WINDOW) };
        assert!(zeros.iter().all(|byte| *byte == 0));
        let hits = || [1, 2, 3].map(|index| second.was_hit(index));
        assert_eq!(hits(), [false, true, false]);
        second.forget(2);
        assert_eq!(hits(), [false; 3]);
        assert!(!mend(regions[0].at(PAGE).addr()), "nobody's windows any more");

        drop(second);
        assert_eq!(handler(), before);
    }
}
