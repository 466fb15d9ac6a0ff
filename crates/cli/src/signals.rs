//! What an interruption leaves behind: whole lines and no half file. The program then dies of the
//! signal, so that whoever started it, a shell with a loop for one, knows and ends as well.

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

/// What somebody may send to end a program, and limits of time. The others that end one tell of a
/// fault of its own, or are not sent.
const ENDING: [i32; 11] = [
    SIGHUP, SIGINT, SIGQUIT, SIGALRM, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF, SIGXCPU, SIGIO,
];

/// How long the last lines may take. They take longer where they go to a pipe that is full; a pipe
/// takes what the console writes whole or not at all.
const PATIENCE: Duration = Duration::from_millis(500);

/// Told where a run could have kept something, to go on from.
const NOTHING_KEPT: &[u8] = b"interrupted before the first file was finished; nothing is kept";

/// Signals that are caught: none of them ends the program until they are handled.
pub struct Caught {
    thread: Option<(Signals, Sender<Handler>)>,
    partial: Option<Partial>,
    last_words: Option<&'static str>,
}

/// From now on an interruption is kept for [`Caught::handle`].
///
/// Where the system gives no thread for that, or no handlers, signals end the program as they end
/// any other.
pub fn catch() -> Caught {
    catch_while(false)
}

/// The same for a run that may read standard input.
///
/// Where that stops the process, signals end it as well: a signal that is caught waits for it to go
/// on, which it does to read again and be stopped again, before any thread has looked at the
/// signal. `timeout` puts what it runs in the background of its terminal.
pub fn catch_while(reads_stdin: bool) -> Caught {
    let not_ignored = not_ignored();
    // A limit on the size of files then is an error of a write.
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
    // The thread comes first: once a signal is caught there is no way back.
    let thread = limits::spawn("signals", wait);
    let signals = thread.and_then(|_| Signals::new(ENDING.into_iter().filter(not_ignored)));
    Caught {
        thread: signals.ok().map(|signals| (signals, handler)),
        partial: None,
        last_words: None,
    }
}

impl Caught {
    /// An interruption writes what the run keeps, too.
    pub fn keeping(self, partial: Option<Partial>) -> Self {
        Self { partial, ..self }
    }

    /// An interruption tells this, after all else.
    pub fn telling(self, last_words: Option<&'static str>) -> Self {
        Self { last_words, ..self }
    }

    /// From now on an interruption, also one that came before, writes the lines that are pending,
    /// removes the unfinished file and ends the program.
    pub fn handle(
        self,
        console: &Arc<Mutex<Console>>,
        unfinished: Option<PathBuf>,
    ) -> Interruptions {
        let interruptions = Interruptions(Arc::new(Mutex::new(unfinished)));
        let Self { thread, partial, last_words } = self;
        if let Some((signals, thread)) = thread {
            let (console, unfinished) = (Arc::clone(console), interruptions.clone());
            // The thread is there, unless it panicked.
            let _ = thread.send(Handler { signals, console, unfinished, partial, last_words });
        }
        interruptions
    }
}

/// What an interruption would remove.
#[derive(Clone, Default)]
pub struct Interruptions(Arc<Mutex<Option<PathBuf>>>);

impl Interruptions {
    /// While this is held an interruption waits; then it removes what is in it.
    pub fn hold(&self) -> MutexGuard<'_, Option<PathBuf>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the thread needs.
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
            // Whoever holds the console may wait for a pipe.
            let is_kept = partial.as_ref().and_then(Partial::save);
            let mut console = console::lock(&console);
            // There is no better moment to tell that it failed.
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
            // Nothing is printed any more.
            loop {
                thread::park();
            }
        };
        // In another thread, since this one must not wait for whoever does not read.
        if thread::Builder::new().spawn(last_lines).is_ok() {
            let _ = is_done.recv_timeout(PATIENCE);
        }
        let unfinished = self.unfinished.hold();
        if let Some(path) = &*unfinished {
            // It may be complete and renamed already.
            let _ = std::fs::remove_file(path);
        }
        // It knows all of these signals, and returns from none.
        let _ = low_level::emulate_default_handler(signal);
    }
}

/// Which signals this process was not told to ignore, as `nohup` does with SIGHUP and a shell with
/// SIGINT for what it runs in the background.
fn not_ignored() -> impl Fn(&i32) -> bool {
    let ignored = std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| mask(&status))
        .unwrap_or(0);
    move |signal| ignored & (1 << (signal - 1)) == 0
}

/// The mask of ignored signals in a `/proc/PID/status`, bit 0 for signal 1.
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
