//! A run of the engine that its caller can end.

use std::iter;
use std::time::{Duration, Instant};

use crate::engine::{self, Job, Outcome};

/// The time after which the caller is asked whether to continue.
const PATIENCE: Duration = Duration::from_millis(50);

/// Passes each outcome to `take`. Returns `None` if `go_on` returned false before the end.
pub(super) fn run<T, I>(
    options: &engine::Options,
    jobs: I,
    go_on: Option<&mut dyn FnMut() -> bool>,
    mut take: impl FnMut(Outcome<T>),
) -> Option<()>
where
    T: Send + 'static,
    I: Iterator<Item = Job<T>> + Send + 'static,
{
    let Some(go_on) = go_on else {
        engine::run(options, jobs).for_each(take);
        return Some(());
    };
    // If the engine knew that there is a single job, it would run the job on this thread, which
    // could not be interrupted.
    let mut jobs = jobs;
    let mut run = engine::run(options, iter::from_fn(move || jobs.next()));
    let mut asked = Instant::now();
    loop {
        let outcome = run.next_within(PATIENCE.saturating_sub(asked.elapsed()));
        let is_at_end = outcome.is_none() && run.is_at_end();
        outcome.into_iter().for_each(&mut take);
        if is_at_end {
            return Some(());
        }
        if asked.elapsed() >= PATIENCE {
            if !go_on() {
                return None;
            }
            asked = Instant::now();
        }
    }
}
