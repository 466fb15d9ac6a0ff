//! What an interruption leaves behind: whole lines, no half file, and 128 + its signal as exit
//! code (130 after ctrl-C).

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::console::Console;

/// How often, and how long in between, the console is tried. When it stays locked somebody writes to
/// a pipe that is full; a pipe takes what the console writes whole or not at all.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(25);

/// Signals that are caught: none of them ends the program until they are handled.
pub struct Caught(Signals);

/// From now on an interruption is kept for [`Caught::handle`].
///
/// # Errors
/// The system refuses handlers.
pub fn catch() -> io::Result<Caught> {
    Signals::new([SIGHUP, SIGINT, SIGTERM].into_iter().filter(not_ignored())).map(Caught)
}

impl Caught {
    /// From now on an interruption, also one that came before, writes the lines that are pending,
    /// removes the unfinished file and ends the program.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub fn handle(
        mut self,
        console: &Arc<Mutex<Console>>,
        unfinished: Option<PathBuf>,
    ) -> anyhow::Result<()> {
        let console = Arc::clone(console);
        let wait = move || {
            let Some(signal) = self.0.forever().next() else { return };
            for _ in 0..ATTEMPTS {
                if let Ok(mut console) = console.try_lock() {
                    console.set_bar(None);
                    // There is no better moment to tell that it failed.
                    let _ = console.flush();
                    end(signal, unfinished);
                }
                thread::sleep(PAUSE);
            }
            end(signal, unfinished);
        };
        let thread = thread::Builder::new().name("signals".into()).spawn(wait);
        thread.map(drop).context("no thread can be started; see ulimit -u and ulimit -v")
    }
}

/// Which signals this process was not told to ignore, as `nohup` does with SIGHUP and a shell with
/// SIGINT for what it runs in the background.
fn not_ignored() -> impl FnMut(&i32) -> bool {
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

fn end(signal: i32, unfinished: Option<PathBuf>) -> ! {
    if let Some(path) = unfinished {
        // It may be complete and renamed already.
        let _ = std::fs::remove_file(path);
    }
    std::process::exit(128 + signal);
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
