//! The bar on standard error: bytes done of all bytes, rate, time left, files done.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};
use lanesum_checksum::engine::Progress;
use lanesum_checksum::walk::Count;

use crate::args::When;

/// Work that is done before this shows no bar.
const PATIENCE: Duration = Duration::from_millis(400);
/// How often the bar is drawn.
const INTERVAL: Duration = Duration::from_millis(100);

/// While the total is not known yet.
const COUNTING: &str = "{spinner} {bytes} ({bytes_per_sec}), {msg}";
const BAR: &str = "{wide_bar} {bytes} of {total_bytes} ({bytes_per_sec}, {eta} left), {msg}";

/// A bar that follows a run until it is dropped.
pub struct Display {
    pub bar: ProgressBar,
    pub progress: Arc<Progress>,
    /// Dropped to end the thread.
    end: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Display {
    /// Begins to show how far a run is, when it is to be shown. `paths` yields the files that the
    /// run will read, for the total; they are looked at in a thread of their own. Where it is none,
    /// the total is unknown.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub fn start<P>(
        when: When,
        paths: Option<impl FnOnce() -> P + Send + 'static>,
    ) -> io::Result<Option<Self>>
    where
        P: Iterator<Item = PathBuf> + Send + 'static,
    {
        let target = match when {
            When::Never => return Ok(None),
            When::Auto if !io::stderr().is_terminal() => return Ok(None),
            _ if io::stderr().is_terminal() => ProgressDrawTarget::stderr(),
            _ => ProgressDrawTarget::term_like(Box::new(Plain)),
        };
        let bar = ProgressBar::with_draw_target(None, target).with_style(style(COUNTING));
        let progress = Arc::new(Progress::default());
        let count = paths.map(|paths| Count::start(paths())).transpose()?;
        let (end, ended) = mpsc::channel::<()>();
        let follow = {
            let (bar, progress) = (bar.clone(), Arc::clone(&progress));
            move || follow(&bar, &progress, count.as_ref(), &ended)
        };
        let thread = std::thread::Builder::new().name("progress".into()).spawn(follow)?;
        Ok(Some(Self { bar, progress, end: Some(end), thread: Some(thread) }))
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // It panics only if drawing does, and then there is no bar to clear.
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}

/// Takes what the run counts over into the bar until told to end.
fn follow(
    bar: &ProgressBar,
    progress: &Progress,
    count: Option<&Count>,
    ended: &mpsc::Receiver<()>,
) {
    let mut wait = PATIENCE;
    while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
        wait = INTERVAL;
        let files = HumanCount(progress.files.load(Relaxed));
        match count.and_then(Count::complete) {
            Some(totals) => {
                if bar.length().is_none() {
                    bar.set_style(style(BAR));
                    bar.set_length(totals.bytes);
                }
                bar.set_message(format!("{files} of {} files", HumanCount(totals.files)));
            }
            None => bar.set_message(format!("{files} files")),
        }
        bar.set_position(progress.bytes.load(Relaxed));
        bar.tick();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates are right: a test draws them")
}

/// Standard error that is no terminal, for those who ask for a bar all the same: a terminal of 80
/// columns is assumed at its other end.
#[derive(Debug)]
struct Plain;

impl Plain {
    fn write(&self, text: &str) -> io::Result<()> {
        io::stderr().write_all(text.as_bytes())
    }
}

impl TermLike for Plain {
    fn width(&self) -> u16 {
        80
    }
    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        if n > 0 { self.write(&format!("\x1b[{n}A")) } else { Ok(()) }
    }
    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        if n > 0 { self.write(&format!("\x1b[{n}B")) } else { Ok(()) }
    }
    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        if n > 0 { self.write(&format!("\x1b[{n}C")) } else { Ok(()) }
    }
    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        if n > 0 { self.write(&format!("\x1b[{n}D")) } else { Ok(()) }
    }
    fn write_line(&self, line: &str) -> io::Result<()> {
        self.write(&format!("{line}\n"))
    }
    fn write_str(&self, text: &str) -> io::Result<()> {
        self.write(text)
    }
    fn clear_line(&self) -> io::Result<()> {
        self.write("\r\x1b[2K")
    }
    fn flush(&self) -> io::Result<()> {
        io::stderr().flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_templates_draw() {
        let terminal = indicatif::InMemoryTerm::new(5, 100);
        let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
        let bar = ProgressBar::with_draw_target(None, target).with_style(style(COUNTING));
        bar.set_message("3 files");
        bar.set_position(1 << 20);
        bar.tick();
        assert!(terminal.contents().contains("1.00 MiB"), "{}", terminal.contents());
        assert!(terminal.contents().ends_with(", 3 files"), "{}", terminal.contents());
        bar.set_style(style(BAR));
        bar.set_length(4 << 20);
        bar.tick();
        assert!(terminal.contents().contains("1.00 MiB of 4.00 MiB"), "{}", terminal.contents());
        assert!(terminal.contents().contains(" left), 3 files"), "{}", terminal.contents());
    }
}
