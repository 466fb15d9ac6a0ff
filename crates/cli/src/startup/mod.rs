//! Shows what Rust's runtime and the C library hide about how a process was started.
//!
//! | you have | you want | use |
//! |---|---|---|
//! | results to print, or input to read | an error if the stream is closed | [`keep_closed_streams_closed`], [`Stream::was_closed`] |
//! | a reader that may exit early (`program \| head`) | to end by SIGPIPE, as other programs do | [`restore_sigpipe`], [`sigpipe_was_ignored`] |
//! | names to print | to know whether the locale is in UTF-8 | [`locale_is_utf8`] |
//! | many threads | less reserved memory | [`keep_one_arena`] |
//! | background work | not to slow down other programs | [`give_way`] |
//!
//! Before `main`, Rust's runtime opens `/dev/null` for each closed standard stream, and ignores
//! SIGPIPE. A program then prints to `/dev/null` and succeeds, or reads an empty input. So this
//! module has a function that the loader calls before the runtime. It records the state of both:
//!
//! ```text
//! loader       records which of descriptors 0 to 2 are closed, and whether SIGPIPE is ignored
//! runtime      opens /dev/null, and ignores SIGPIPE
//! main         keep_closed_streams_closed(): reads and writes fail again, as in a C program
//! ```
//!
//! The module also has three functions that the standard library lacks: for the locale, the number
//! of `malloc` arenas, and the priority of the process.
//!
//! # `unsafe`
//!
//! `unsafe` is used for calls of the C library, with a note on their memory at each, and for one
//! entry of the loader's table (`LOOK`).

#![expect(unsafe_code, reason = "calls the C library, and is called by the loader")]

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::{AsRawFd as _, OwnedFd};
use rustix::fs::{Mode, OFlags, open};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

/// One of the three standard streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard input.
    Stdin = 0,
    /// Standard output.
    Stdout = 1,
    /// Standard error.
    Stderr = 2,
}

impl Stream {
    /// All three streams, in the order of their descriptors.
    pub const ALL: [Self; 3] = [Self::Stdin, Self::Stdout, Self::Stderr];

    /// Returns whether the stream was closed when the process started.
    #[must_use]
    pub fn was_closed(self) -> bool {
        FOUND.load(Relaxed) & self.bit() != 0
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// The state found before `main`: [`Stream::bit`] of each closed stream, and [`SIGPIPE_IGNORED`].
static FOUND: AtomicU8 = AtomicU8::new(0);
const SIGPIPE_IGNORED: u8 = 1 << 3;

/// The loader calls the functions in this section in the first thread, before `main` and so before
/// Rust's runtime.
// SAFETY: the section is a table of functions with the C calling convention. They are called with
// three arguments, which a function without parameters ignores. The C library is initialized by
// then, and `look` does not need Rust's runtime.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    let mut found = 0;
    for stream in Stream::ALL {
        // SAFETY: the call reads the flags of a descriptor and accesses no memory.
        if unsafe { libc::fcntl(stream as libc::c_int, libc::F_GETFD) } == -1 {
            found |= stream.bit();
        }
    }
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: without a new action the call changes nothing, and there is room for the old one.
    let asked = unsafe { libc::sigaction(libc::SIGPIPE, ptr::null(), action.as_mut_ptr()) };
    // SAFETY: the call has initialized it if it succeeded.
    if asked == 0 && unsafe { action.assume_init() }.sa_sigaction == libc::SIG_IGN {
        found |= SIGPIPE_IGNORED;
    }
    FOUND.store(found, Relaxed);
}

/// Replaces each closed standard stream by a descriptor that can neither be read nor written. Reads
/// and writes fail with EBADF, as on the closed stream. No file that is opened later gets the
/// number of the stream.
///
/// Call it first in `main`. If the system does not support such a descriptor, the stream stays as
/// Rust's runtime left it.
pub fn keep_closed_streams_closed() {
    for stream in Stream::ALL {
        if stream.was_closed()
            && let Some(nothing) = nothing(stream)
        {
            // It fails only for an invalid descriptor, and this one is valid.
            let _ = match stream {
                Stream::Stdin => dup2_stdin(nothing),
                Stream::Stdout => dup2_stdout(nothing),
                Stream::Stderr => dup2_stderr(nothing),
            };
        }
    }
}

/// Returns a descriptor that can neither be read nor written, nor opened again as `/dev/stdin` or
/// similar.
fn nothing(stream: Stream) -> Option<OwnedFd> {
    let place = |path: &str, flags| open(path, flags | OFlags::CLOEXEC, Mode::empty());
    // A descriptor opened with O_PATH. An event descriptor has no path, so /dev/stdout does not
    // lead to a file to write to.
    let nowhere = eventfd(0, EventfdFlags::CLOEXEC)
        .and_then(|event| place(&format!("/proc/self/fd/{}", event.as_raw_fd()), OFlags::PATH));
    // Without /proc the event descriptor cannot be opened by a path.
    let wrong_way = if stream == Stream::Stdin { OFlags::WRONLY } else { OFlags::RDONLY };
    nowhere.or_else(|_| place("/dev/null", wrong_way)).ok()
}

/// Returns whether SIGPIPE was ignored when the process started. If so, writing to a pipe without a
/// reader is an error and does not end the process.
#[must_use]
pub fn sigpipe_was_ignored() -> bool {
    FOUND.load(Relaxed) & SIGPIPE_IGNORED != 0
}

/// Restores the action of SIGPIPE at the start of the process. Unless it was ignored then, writing
/// to a pipe without a reader ends the process.
pub fn restore_sigpipe() {
    if !sigpipe_was_ignored() {
        // SAFETY: the call installs the default action of the system, not a handler.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    }
}

/// Returns whether the locale in the environment uses UTF-8. A locale that is not installed counts
/// as the C locale, as in all programs that use the C library.
#[must_use]
pub fn locale_is_utf8() -> bool {
    // SAFETY: the name ends with NUL, and there is no base locale.
    let locale = unsafe { libc::newlocale(libc::LC_CTYPE_MASK, c"".as_ptr(), ptr::null_mut()) };
    if locale.is_null() {
        return false;
    }
    // SAFETY: the locale was just made.
    let codeset = unsafe { libc::nl_langinfo_l(libc::CODESET, locale) };
    // SAFETY: the string belongs to the locale, which still exists.
    let is_utf8 = unsafe { CStr::from_ptr(codeset) } == c"UTF-8";
    // SAFETY: no other code has the locale, and its string is no longer used.
    unsafe { libc::freelocale(locale) };
    is_utf8
}

/// Gives this thread, and all threads that it starts later, the lowest priority for disk and CPU:
/// the idle class of `ionice -c 3` and a `nice` value of 19. Disk schedulers without classes ignore
/// the idle class.
pub fn give_way() {
    // If the system refuses, the results are the same, only other programs are slowed down.
    let _ = rustix::process::nice(19);
    #[cfg(target_os = "linux")]
    {
        const WHO_PROCESS: libc::c_long = 1;
        const CLASS_IDLE: libc::c_long = 3 << 13;
        // SAFETY: the call takes three numbers. 0 is the calling thread.
        let _ = unsafe {
            libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0 as libc::c_long, CLASS_IDLE)
        };
    }
}

/// Makes `malloc` use one arena for all threads. Otherwise glibc reserves 64 MiB of address space
/// for each thread, which can exceed a limit of `ulimit -v`.
pub fn keep_one_arena() {
    #[cfg(target_env = "gnu")]
    // SAFETY: the call takes two numbers and is allowed at any time.
    unsafe {
        // It fails only for invalid numbers.
        let _ = libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

#[cfg(test)]
mod tests;
