//! The progress bar on standard error: bytes done of the total, rate, time left and files done.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use console::Term;
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use lanesum_checksum::engine::Progress;
use lanesum_checksum::walk::{Count, Totals};

use crate::args::When;
use crate::console::locale_of_process;
use crate::counts::files;
use crate::limits;
use crate::quote::Locale;

/// Work that ends earlier shows no bar.
const PATIENCE: Duration = Duration::from_millis(400);
/// The interval between updates of the bar.
const INTERVAL: Duration = Duration::from_millis(100);

/// The bar while the total is unknown.
const UNKNOWN: &str = "{spinner} {decimal_bytes} ({decimal_bytes_per_sec}), {wide_msg}";
/// With fewer columns, the text after the bar would leave no room for it.
const LEAST_COLUMNS: u16 = 72;
const NARROW: &str = "{decimal_bytes} of {decimal_total_bytes}, {wide_msg}";
const BAR: &str = "{wide_bar} {decimal_bytes} of {decimal_total_bytes} \
                   ({decimal_bytes_per_sec}, {eta} left), {msg}";

/// A bar that follows a run until it is dropped.
pub struct Display {
    pub bar: ProgressBar,
    pub progress: Arc<Progress>,
    /// Dropped to end the thread.
    end: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Display {
    /// Returns whether to show a bar.
    fn is_shown(when: When) -> bool {
        match when {
            When::Never => false,
            // A dumb terminal would print cursor movements as text.
            When::Auto => io::stderr().is_terminal() && !console::is_dumb(),
            When::Always => true,
        }
    }

    /// Starts to show the progress of a run, if it is to be shown. `files` returns the files that
    /// the run will read, for the total, or `None` if they are unknown. A separate thread examines
    /// them after the bar is drawn. Without a thread there is no bar.
    ///
    /// With `is_typed`, the user types the input on the terminal, where a bar would be in the way.
    pub fn start_unless<F, P>(
        is_typed: bool,
        when: When,
        files: impl FnOnce() -> Option<F>,
    ) -> Option<Self>
    where
        F: FnOnce() -> P + Send + 'static,
        P: Iterator<Item = PathBuf>,
    {
        if !Self::is_shown(when) || (is_typed && when == When::Auto) {
            return None;
        }
        // indicatif shows no bar without a terminal. With `--progress always` there is a bar, with
        // 80 columns.
        let target = ProgressDrawTarget::term_like(Box::new(Term::buffered_stderr()));
        let locale = locale_of_process();
        let bar = ProgressBar::hidden().with_style(style(UNKNOWN, locale));
        let progress = Arc::new(Progress::default());
        let files = files();
        let (end, ended) = mpsc::channel::<()>();
        let follow = {
            let (bar, progress) = (bar.clone(), Arc::clone(&progress));
            move || follow(&bar, target, locale, &progress, files, &ended)
        };
        let thread = limits::spawn("progress", follow).ok()?;
        Some(Self { bar, progress, end: Some(end), thread: Some(thread) })
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // It panics only if drawing does. Then there is no bar to clear.
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}

/// Copies the counters of the run to the bar until the end.
fn follow<F, P>(
    bar: &ProgressBar,
    target: ProgressDrawTarget,
    locale: Locale,
    progress: &Progress,
    files: Option<F>,
    ended: &mpsc::Receiver<()>,
) where
    F: FnOnce() -> P + Send + 'static,
    P: Iterator<Item = PathBuf>,
{
    let lasts = |time| ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
    if !lasts(PATIENCE) {
        return;
    }
    // The bar is hidden before, so that other output does not draw it.
    bar.set_draw_target(target);
    let mut counting = Counting::Not(files);
    loop {
        counting = counting.go_on(progress);
        let count = counting.count();
        let done = totals(progress.files.load(Relaxed), progress.bytes.load(Relaxed));
        let (_, columns) = Term::stderr().size();
        draw(bar, columns, locale, done, count.and_then(Count::complete));
        if !lasts(INTERVAL) {
            return;
        }
    }
}

/// Examines each file for the total. On a disk that must seek, this would take a seek per file. So
/// it starts there after the run has examined all files, and ends if it had started.
enum Counting<F> {
    Not(Option<F>),
    Yes(Count),
}

impl<F, P> Counting<F>
where
    F: FnOnce() -> P + Send + 'static,
    P: Iterator<Item = PathBuf>,
{
    fn go_on(self, progress: &Progress) -> Self {
        match (self, progress.seeks.load(Relaxed)) {
            // Without a thread there is no total.
            (Self::Not(Some(files)), false) => {
                Count::start(files).map_or(Self::Not(None), Self::Yes)
            }
            (Self::Yes(count), true) if count.complete().is_none() => Self::Not(None),
            (counting, _) => counting,
        }
    }

    fn count(&self) -> Option<&Count> {
        match self {
            Self::Not(_) => None,
            Self::Yes(count) => Some(count),
        }
    }
}

fn totals(files: u64, bytes: u64) -> Totals {
    let mut totals = Totals::default();
    (totals.files, totals.bytes) = (files, bytes);
    totals
}

/// Shows the progress, with the total if it is known. If more is done than the total, it is
/// ignored: files grow, and files in /proc have no size.
fn draw(bar: &ProgressBar, columns: u16, locale: Locale, done: Totals, whole: Option<Totals>) {
    let whole = whole.filter(|whole| done.bytes <= whole.bytes);
    match whole {
        Some(whole) => {
            // The width of the terminal may change.
            bar.set_style(style(if columns < LEAST_COLUMNS { NARROW } else { BAR }, locale));
            bar.set_length(whole.bytes);
            let all = files(whole.files.max(done.files));
            bar.set_message(format!("{} of {all}", HumanCount(done.files)));
        }
        None => {
            if bar.length().is_some() {
                bar.set_style(style(UNKNOWN, locale));
                bar.unset_length();
            }
            bar.set_message(files(done.files));
        }
    }
    bar.set_position(done.bytes);
    bar.tick();
}

/// Uses the characters that the locale has.
fn style(template: &str, locale: Locale) -> ProgressStyle {
    let style = ProgressStyle::with_template(template);
    let style = style.expect("the templates are right: a test draws them");
    match locale {
        Locale::Utf8 => style,
        Locale::C => style.progress_chars("#-").tick_chars(r"|/-\ "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_is_shown_where_it_is_known() {
        let terminal = indicatif::InMemoryTerm::new(5, 100);
        let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
        let bar =
            ProgressBar::with_draw_target(None, target).with_style(style(UNKNOWN, Locale::Utf8));
        let shown = |done, whole| {
            draw(&bar, 100, Locale::Utf8, done, whole);
            terminal.contents()
        };
        let (third, whole) = (totals(3, 1_000_000), totals(9, 3_000_000));
        for _ in 0..2 {
            let unknown = shown(third, None);
            assert!(unknown.contains("1.00 MB (") && unknown.ends_with(", 3 files"), "{unknown}");
            assert!(!unknown.contains(" of ") && !unknown.contains("left"), "{unknown}");
            let known = shown(third, Some(whole));
            assert!(known.contains("1.00 MB of 3.00 MB ("), "{known}");
            assert!(known.ends_with(" left), 3 of 9 files"), "{known}");
            assert!(shown(whole, Some(whole)).contains("3.00 MB of 3.00 MB"));
            // The file has grown, and the missing argument is done as well.
            let grown = shown(totals(9, 3_000_001), Some(whole));
            assert!(!grown.contains(" of ") && !grown.contains("left"), "{grown}");
            assert!(shown(totals(10, 3_000_000), Some(whole)).contains("10 of 10 files"));
        }
    }

    #[test]
    fn where_characters_are_not_in_utf8_the_bar_is_in_ascii() {
        for locale in [Locale::C, Locale::Utf8] {
            let terminal = indicatif::InMemoryTerm::new(5, 100);
            let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
            let bar =
                ProgressBar::with_draw_target(None, target).with_style(style(UNKNOWN, locale));
            for whole in [None, Some(totals(9, 3_000_000))] {
                draw(&bar, 100, locale, totals(3, 1_000_000), whole);
                let shown = terminal.contents();
                assert_eq!(shown.is_ascii(), locale == Locale::C, "{shown}");
            }
        }
    }

    #[test]
    fn a_narrow_terminal_has_one_line() {
        for columns in [30, 40, 60, LEAST_COLUMNS] {
            let terminal = indicatif::InMemoryTerm::new(5, columns);
            let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
            let bar = ProgressBar::with_draw_target(None, target)
                .with_style(style(UNKNOWN, Locale::Utf8));
            for whole in [None, Some(totals(123_456, 987_654_321_000))] {
                draw(&bar, columns, Locale::Utf8, totals(12_345, 123_456_789_000), whole);
                let shown = terminal.contents();
                assert_eq!(shown.lines().count(), 1, "{columns}: {shown}");
                assert!(shown.contains("123.46 GB"), "{columns}: {shown}");
            }
        }
    }

    #[test]
    fn on_a_disk_that_seeks_files_are_counted_once_their_places_are_known() {
        let progress = Progress::default();
        let two = || Some(|| ["/", "/"].map(PathBuf::from).into_iter());
        let has_begun =
            |progress: &Progress| matches!(Counting::Not(two()).go_on(progress), Counting::Yes(_));
        assert!(has_begun(&progress));
        progress.seeks.store(true, Relaxed);
        assert!(!has_begun(&progress));
        progress.seeks.store(false, Relaxed);

        // A total that has started stops if it would seek, but the part so far stays.
        let endless = || std::iter::repeat(PathBuf::from("/"));
        let counting = Counting::Not(Some(endless)).go_on(&progress);
        assert!(counting.count().is_some());
        let mut known = Counting::Not(two()).go_on(&progress);
        while known.count().is_some_and(|count| count.complete().is_none()) {
            std::thread::yield_now();
        }
        progress.seeks.store(true, Relaxed);
        assert!(counting.go_on(&progress).count().is_none());
        known = known.go_on(&progress);
        assert!(known.count().is_some_and(|count| count.complete().is_some()));
    }

    #[test]
    fn a_run_that_ends_soon_counts_nothing() {
        let (bar, progress) = (ProgressBar::hidden(), Progress::default());
        let (end, ended) = mpsc::channel();
        drop(end);
        let files = || -> std::iter::Empty<PathBuf> { panic!("the total is not shown") };
        follow(&bar, ProgressDrawTarget::hidden(), Locale::C, &progress, Some(files), &ended);
    }
}
