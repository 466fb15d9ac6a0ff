//! Runs without threads, and runs whose threads panic.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::Algorithms;
use crate::engine::Source;

/// The iterator may wait for an outcome before it returns the next job.
#[test]
fn without_threads_jobs_run_one_by_one() {
    let (out, is_out) = mpsc::channel();
    let job = |context| Job { source: Source::Nothing, algorithms: Algorithms::NONE, context };
    let rest = (1..5).inspect(move |_| is_out.recv().unwrap());
    let jobs = std::iter::once(0).chain(rest).map(job);
    let mut run = Run::here(&Options::default(), Box::new(jobs));
    let mut seen = Vec::new();
    for outcome in run.by_ref() {
        seen.push(outcome.context);
        out.send(()).unwrap();
    }
    assert_eq!(seen, [0, 1, 2, 3, 4]);
    assert_eq!(run.finish().unwrap().outcomes, 5);
}

/// Panics when it is dropped, unless its number was taken out.
struct Bomb(Option<usize>);

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.0.is_some() {
            panic_any(());
        }
    }
}

/// Makes a run whose workers panic one after the other in a given order.
fn run_that_panics(order: [usize; 3]) -> Run<()> {
    /// Ends a worker; then it is the next one's turn.
    struct End(Arc<Core>, usize, Arc<AtomicUsize>);
    impl Drop for End {
        fn drop(&mut self) {
            self.0.worker_ends(Some(self.1));
            self.2.fetch_add(1, Ordering::SeqCst);
        }
    }
    let core = Core::new(Options { threads: 3, ..Options::default() }, true);
    core.queue.all_are_started(0);
    let turn = Arc::new(AtomicUsize::new(0));
    let work = |number: usize| {
        let (core, turn) = (Arc::clone(&core), Arc::clone(&turn));
        let place = order.iter().position(|it| *it == number).unwrap();
        move || {
            core.panics.catch(|| {
                let end = End(Arc::clone(&core), number, turn);
                while end.2.load(Ordering::SeqCst) < place {
                    thread::yield_now();
                }
                panic_any(Bomb(Some(number)));
            });
        }
    };
    let workers = (0..3).map(|number| thread::spawn(work(number))).collect();
    Run::new(Threads::Started { core, puller: None, workers }, Run::no_contexts())
}

#[test]
fn the_first_of_several_panics_reaches_the_caller() {
    for order in [[0, 1, 2], [1, 2, 0], [2, 1, 0]] {
        let mut run = run_that_panics(order);
        let panic = catch_unwind(AssertUnwindSafe(|| run.next())).map(drop).unwrap_err();
        let number = panic.downcast::<Bomb>().expect("a worker's").0.take();
        assert_eq!(number, Some(order[0]));
        assert!(run.next().is_none() && run.is_at_end());
    }
}

/// It does not abort the process if the caller panics at the same time either.
#[test]
fn a_dropped_run_reports_no_panic() {
    drop(run_that_panics([0, 1, 2]));
    let callers = catch_unwind(|| {
        let _run = run_that_panics([2, 0, 1]);
        panic_any("the caller's");
    });
    assert_eq!(callers.unwrap_err().downcast_ref(), Some(&"the caller's"));
}
