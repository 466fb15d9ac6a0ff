//! Handles interruptions: only whole lines and no partial files remain. The program then dies of
//! the signal, so that its caller, for example a loop in a shell, notices and ends, too.

use std::path::PathBuf;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{
    SIGALRM, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM,
    SIGXCPU, SIGXFSZ,
};
use signal_hook::iterator::Signals;
use signal_hook::{flag, low_level};

use crate::console::{self, Console};
use crate::output::Partial;
use crate::{limits, stdin};

/// Signals by which users end programs, and limits of time. Other fatal signals mean a fault of the
/// program, or are not sent.
const ENDING: [i32; 11] = [
    SIGHUP, SIGINT, SIGQUIT, SIGALRM, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF, SIGXCPU, SIGIO,
];

/// The time for the last lines. They take longer with a full pipe. A pipe takes each write of the
/// console as a whole or not at all.
const PATIENCE: Duration = Duration::from_millis(500);

/// The message if a run could have kept its results to continue.
const NOTHING_KEPT: &[u8] = b"interrupted before the first file was finished; nothing is kept";

/// Caught signals, which do not end the program until they are handled.
pub struct Caught {
    thread: Option<(Signals, Sender<Handler>)>,
    partial: Option<Partial>,
    last_words: Option<&'static str>,
}

/// Keeps interruptions for [`Caught::handle`] from now on.
///
/// If the system refuses a thread or handlers, signals end the program as usual.
pub fn catch() -> Caught {
    catch_while(false)
}

/// The same for a run that may read standard input.
///
/// If reading would stop the process, signals end it as usual. A caught signal would have to wait
/// until the process continues. Then it would read again and be stopped again, before any thread
/// sees the signal. For example, `timeout` runs its command in the background of the terminal.
pub fn catch_while(reads_stdin: bool) -> Caught {
    let not_ignored = not_ignored();
    // Then exceeding a file size limit is a write error.
    if not_ignored(&SIGXFSZ) {
        let _ = flag::register(SIGXFSZ, Arc::default());
    }
    if reads_stdin && stdin::would_stop() {
        return Caught { thread: None, partial: None, last_words: None };
    }
    let (handler, handlers) = mpsc::channel::<Handler>();
    let wait = move || {
        if let Ok(handler) = handlers.recv() {
            handler.wait();
        }
    };
    // The thread is started first, because catching signals cannot be undone.
    let thread = limits::spawn("signals", wait);
    let signals = thread.and_then(|_| Signals::new(ENDING.into_iter().filter(not_ignored)));
    Caught {
        thread: signals.ok().map(|signals| (signals, handler)),
        partial: None,
        last_words: None,
    }
}

impl Caught {
    /// An interruption also writes the journal of the run.
    pub fn keeping(self, partial: Option<Partial>) -> Self {
        Self { partial, ..self }
    }

    /// An interruption prints this last.
    pub fn telling(self, last_words: Option<&'static str>) -> Self {
        Self { last_words, ..self }
    }

    /// From now on an interruption, or an earlier one, writes the pending lines, removes the
    /// unfinished file and ends the program.
    pub fn handle(
        self,
        console: &Arc<Mutex<Console>>,
        unfinished: Option<PathBuf>,
    ) -> Interruptions {
        let interruptions = Interruptions(Arc::new(Mutex::new(unfinished)));
        let Self { thread, partial, last_words } = self;
        if let Some((signals, thread)) = thread {
            let (console, unfinished) = (Arc::clone(console), interruptions.clone());
            // The thread exists, unless it panicked.
            let _ = thread.send(Handler { signals, console, unfinished, partial, last_words });
        }
        interruptions
    }
}

/// The file that an interruption removes.
#[derive(Clone, Default)]
pub struct Interruptions(Arc<Mutex<Option<PathBuf>>>);

impl Interruptions {
    /// An interruption waits for this lock, and then removes the file.
    pub fn hold(&self) -> MutexGuard<'_, Option<PathBuf>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The data of the thread.
struct Handler {
    signals: Signals,
    console: Arc<Mutex<Console>>,
    unfinished: Interruptions,
    partial: Option<Partial>,
    last_words: Option<&'static str>,
}

impl Handler {
    fn wait(mut self) {
        let Some(signal) = self.signals.forever().next() else { return };
        let (done, is_done) = mpsc::channel();
        let (console, partial) = (Arc::clone(&self.console), self.partial.take());
        let last_words = self.last_words;
        let last_lines = move || {
            // The holder of the console may wait for a pipe.
            let is_kept = partial.as_ref().and_then(Partial::save);
            let mut console = console::lock(&console);
            // The failure is reported now, because the process ends.
            let _ = console.flush();
            console.remove_bar();
            match (partial, is_kept) {
                (Some(partial), Some(true)) => partial.tell_kept(&mut console),
                (_, Some(false)) => console.message(NOTHING_KEPT),
                _ => {}
            }
            if let Some(words) = last_words {
                console.message(words.as_bytes());
            }
            let _ = done.send(());
            // Nothing is printed from now on.
            loop {
                thread::park();
            }
        };
        // In a separate thread, because this one must not wait for a reader.
        if thread::Builder::new().spawn(last_lines).is_ok() {
            let _ = is_done.recv_timeout(PATIENCE);
        }
        let unfinished = self.unfinished.hold();
        if let Some(path) = &*unfinished {
            // The file may be complete and renamed already.
            let _ = std::fs::remove_file(path);
        }
        // It knows all of these signals, and never returns.
        let _ = low_level::emulate_default_handler(signal);
    }
}

/// Returns the signals that this process does not ignore. `nohup` lets it ignore SIGHUP, and a
/// shell SIGINT in background processes.
fn not_ignored() -> impl Fn(&i32) -> bool {
    let ignored = std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| mask(&status))
        .unwrap_or(0);
    move |signal| ignored & (1 << (signal - 1)) == 0
}

/// Returns the mask of ignored signals in `/proc/PID/status`, with bit 0 for signal 1.
fn mask(status: &str) -> Option<u64> {
    let digits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(digits.trim(), 16).ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_mask_of_ignored_signals_is_read() {
        let status = "Name:\tx\nSigBlk:\t0000000000000001\nSigIgn:\t0000000000001000\n";
        assert_eq!(super::mask(status), Some(1 << (signal_hook::consts::SIGPIPE - 1)));
        assert_eq!(super::mask("Name:\tx\n"), None);
    }
}
