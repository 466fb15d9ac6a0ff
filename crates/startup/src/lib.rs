//! What a process was given by whoever started it, where Rust's runtime or the C library hide it.
//!
//! | you have | take |
//! |---|---|
//! | results to print, or input to read, that must not go astray | [`Stream::was_closed`], [`keep_closed_streams_closed`] |
//! | a reader that may go away (`program \| head`) | [`restore_sigpipe`], [`sigpipe_was_ignored`] |
//! | names to show | [`locale_is_utf8`] |
//! | memory that threads free and do not give back | [`keep_one_arena`] |
//! | work that is to be in no one's way | [`give_way`] |
//!
//! Before `main` Rust's runtime opens `/dev/null` in the place of each standard stream that is
//! closed, and ignores SIGPIPE. To a program that must tell its results that is a wrong answer:
//! what it prints is gone and it succeeds, and what it reads from nowhere is empty. So a function
//! that the loader calls before the runtime begins looks at both, and the program asks here:
//!
//! ```text
//! loader       looks which of descriptors 0 to 2 are closed, and whether SIGPIPE is ignored
//! runtime      opens /dev/null, ignores SIGPIPE
//! main         keep_closed_streams_closed(): reads and writes fail again, as they would in C
//! ```
//!
//! What the standard library has no words for at all is here as well: whether the locale of the
//! environment is in UTF-8, how many arenas `malloc` keeps, and whether others go first.
//!
//! # `unsafe`
//!
//! Calls of the C library that take no memory of ours but what is written down at each; and the
//! one entry of the loader's table (`LOOK`).

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::{AsRawFd as _, OwnedFd};
use rustix::fs::{Mode, OFlags, open};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

/// One of the three streams that every process should have.
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
    /// All three, by their descriptors.
    pub const ALL: [Self; 3] = [Self::Stdin, Self::Stdout, Self::Stderr];

    /// Whether it was closed when the process started.
    #[must_use]
    pub fn was_closed(self) -> bool {
        FOUND.load(Relaxed) & self.bit() != 0
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// What was found before `main`: [`Stream::bit`] of each that was closed, and [`SIGPIPE_IGNORED`].
static FOUND: AtomicU8 = AtomicU8::new(0);
const SIGPIPE_IGNORED: u8 = 1 << 3;

/// The loader calls what stands in this section, in the first thread, before `main` and so before
/// Rust's runtime.
// SAFETY: the section is a table of functions of C's calling convention. They are called with three
// arguments, which a function that takes none leaves where they are. The C library is ready by
// then; of Rust's runtime `look` needs nothing.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    let mut found = 0;
    for stream in Stream::ALL {
        // SAFETY: it asks for the flags of a number, and there is no memory in it.
        if unsafe { libc::fcntl(stream as libc::c_int, libc::F_GETFD) } == -1 {
            found |= stream.bit();
        }
    }
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: without a new action nothing changes, and there is room for the old one.
    let asked = unsafe { libc::sigaction(libc::SIGPIPE, ptr::null(), action.as_mut_ptr()) };
    // SAFETY: the call has filled it in when it succeeded.
    if asked == 0 && unsafe { action.assume_init() }.sa_sigaction == libc::SIG_IGN {
        found |= SIGPIPE_IGNORED;
    }
    FOUND.store(found, Relaxed);
}

/// Puts something into the place of each stream that was closed which can neither be read nor
/// written: either fails with EBADF, as with the closed one. No file that is opened later gets its
/// number.
///
/// The first thing to do in `main`. Where the system has nothing of the kind, the stream stays as
/// Rust's runtime left it.
pub fn keep_closed_streams_closed() {
    for stream in Stream::ALL {
        if stream.was_closed()
            && let Some(nothing) = nothing(stream)
        {
            // It can fail for a descriptor that is none, and this is one.
            let _ = match stream {
                Stream::Stdin => dup2_stdin(nothing),
                Stream::Stdout => dup2_stdout(nothing),
                Stream::Stderr => dup2_stderr(nothing),
            };
        }
    }
}

/// Something that can be neither read nor written, nor opened again as `/dev/stdin` or the like.
fn nothing(stream: Stream) -> Option<OwnedFd> {
    let place = |path: &str, flags| open(path, flags | OFlags::CLOEXEC, Mode::empty());
    // A place that is nothing but a place. This one has no path, so whoever looks where
    // /dev/stdout leads finds no file to write to.
    let nowhere = eventfd(0, EventfdFlags::CLOEXEC)
        .and_then(|event| place(&format!("/proc/self/fd/{}", event.as_raw_fd()), OFlags::PATH));
    // Without /proc there is no way to it but its number.
    let wrong_way = if stream == Stream::Stdin { OFlags::WRONLY } else { OFlags::RDONLY };
    nowhere.or_else(|_| place("/dev/null", wrong_way)).ok()
}

/// Whether SIGPIPE was ignored when the process started: then a pipe without a reader is an error
/// like any other, and not the end of the process.
#[must_use]
pub fn sigpipe_was_ignored() -> bool {
    FOUND.load(Relaxed) & SIGPIPE_IGNORED != 0
}

/// Lets SIGPIPE do again what it did when the process started. Unless it was ignored then, writing
/// to a pipe without a reader ends the process from now on.
pub fn restore_sigpipe() {
    if !sigpipe_was_ignored() {
        // SAFETY: no handler of ours is installed that could be wrong, but the system's default.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    }
}

/// Whether characters are in UTF-8 by the locale that the environment names; one that is not
/// installed is the C locale, as to every program that asks the C library.
#[must_use]
pub fn locale_is_utf8() -> bool {
    // SAFETY: the name ends with NUL; there is no locale to start from.
    let locale = unsafe { libc::newlocale(libc::LC_CTYPE_MASK, c"".as_ptr(), ptr::null_mut()) };
    if locale.is_null() {
        return false;
    }
    // SAFETY: the locale was just made.
    let codeset = unsafe { libc::nl_langinfo_l(libc::CODESET, locale) };
    // SAFETY: it is a string of the locale's, which is still there.
    let is_utf8 = unsafe { CStr::from_ptr(codeset) } == c"UTF-8";
    // SAFETY: no other code has the locale, and its string is not used any more.
    unsafe { libc::freelocale(locale) };
    is_utf8
}

/// From now on this thread, and whatever threads it starts, uses a disk and a CPU only when no
/// other wants to, as far as the system knows of such a thing: the idle class of `ionice -c 3`,
/// which the schedulers of disks heed that have classes, and a `nice` of 19.
pub fn give_way() {
    // Where the system refuses, it is in somebody's way, and as right.
    let _ = rustix::process::nice(19);
    #[cfg(target_os = "linux")]
    {
        const WHO_PROCESS: libc::c_long = 1;
        const CLASS_IDLE: libc::c_long = 3 << 13;
        // SAFETY: three numbers; 0 is the thread that calls.
        let _ = unsafe {
            libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0 as libc::c_long, CLASS_IDLE)
        };
    }
}

/// From now on `malloc` takes memory for all threads from one place. Otherwise glibc reserves 64
/// MiB of addresses for each thread, which is all there is where `ulimit -v` sets a limit.
pub fn keep_one_arena() {
    #[cfg(target_env = "gnu")]
    // SAFETY: two numbers; it may be called at any time.
    unsafe {
        // It can only fail for numbers that mean nothing.
        let _ = libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// The example of the page on the registry, tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
