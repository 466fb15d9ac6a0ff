//! A run of the engine that its caller may end.

use std::iter;
use std::time::{Duration, Instant};

use crate::engine::{self, Job, Outcome};

/// How long it goes on before the caller is asked whether to.
const PATIENCE: Duration = Duration::from_millis(50);

/// Gives each outcome to `take`; none where `go_on`, if there is one, said no before the end.
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
    // Where there is one job alone, and the engine sees it, this thread would do it, for as long as
    // that takes.
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
