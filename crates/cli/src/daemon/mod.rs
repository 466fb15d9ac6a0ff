//! `lanesum serve`: the daemon. Once a day it updates the roots and verifies due files.
//!
//! ```text
//! clock.rs                  checks every two seconds whether the catalog or the clock changed
//! round.rs                  decides every ten seconds what to do next with a root
//! worker.rs, run.rs         do it; they hold the catalog only while they read files
//! calls.rs, commands.rs     run --on-finding in a separate thread
//! heartbeat.rs              --heartbeat and --heartbeat-file
//! live.rs                   the progress, for systemd and the page
//! page.rs                   serves the page in a separate thread
//! ```
//!
//! Users steer it by rows of the catalog, for example with `lanesum pause`. The daemon stores no
//! other state: it derives everything from the catalog.

mod calls;
mod clock;
mod commands;
mod heartbeat;
mod live;
#[cfg(feature = "page")]
mod page;
mod round;
mod run;
mod worker;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use lanesum_catalog::{Catalog, CatalogError};
use lanesum_checksum::error::message;
use sd_notify::NotifyState;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::args::{Serve, Where};
use crate::catalog::errors::{Problem, explain, print_hint};
use crate::catalog::{self, fail, path};
use crate::console::{self, Console, locale_of_process, lock};
use crate::counts::{counted, files};
use crate::failure::Usage;
use calls::Calls;
use commands::Commands;
use live::Live;
use worker::{Step, Worker};

/// The interval at which the catalog and the clock are checked.
const LOOK: Duration = Duration::from_secs(2);
/// The daemon always ends this long after a signal.
const PATIENCE: Duration = Duration::from_millis(1700);
/// The time after which a failed step is repeated, unless the catalog itself is at fault.
const AGAIN: Duration = Duration::from_secs(60);

#[cfg(feature = "page")]
use page::Wanted;
#[cfg(not(feature = "page"))]
type Wanted = std::convert::Infallible;

/// Runs the daemon until a signal ends it.
///
/// # Errors
/// Invalid options, and errors of the system before it starts.
pub fn run(args: &Serve) -> anyhow::Result<ExitCode> {
    let console = Console::new(b"lanesum", locale_of_process()).context("standard output")?;
    let console = Arc::new(Mutex::new(console));
    let is_ending = Arc::new(AtomicBool::new(false));
    let (end, ended) = mpsc::channel();
    let commands = Commands::default();
    end_on_signals(&is_ending, end, &commands)?;
    crate::startup::give_way();
    let path = path(&args.place)?;
    require_directory(args.heartbeat_file.as_deref())?;
    #[cfg(feature = "page")]
    let page = page::wanted(&args.page)?;
    #[cfg(not(feature = "page"))]
    let page = None;
    let _alone = match Catalog::serve_alone(&path) {
        Ok(alone) => alone,
        Err(CatalogError::Locked { holder }) => {
            return Ok(refuse_second(&path, &holder, &mut lock(&console)));
        }
        Err(error) => return Ok(fail(&error, &args.place, &mut lock(&console))),
    };
    let served = serve(args, path, page, &console, &is_ending, &commands, &ended);
    commands.end();
    let Err(error) = served else { return Ok(ExitCode::SUCCESS) };
    let code = fail(&error, &args.place, &mut lock(&console));
    // systemd restarts a daemon that ends with this code.
    let may_be_repeated = matches!(error, CatalogError::Replaced(_) | CatalogError::Io { .. });
    Ok(if may_be_repeated { ExitCode::FAILURE } else { code })
}

/// Only one daemon serves a catalog.
fn refuse_second(path: &Path, holder: &str, console: &mut Console) -> ExitCode {
    let process = holder.trim_end_matches(" (daemon)");
    console.about(path.as_os_str().as_encoded_bytes(), &format!("already served by {process}"));
    let number = process.trim_start_matches("process ");
    print_hint(&format!("end that daemon first: kill {number}"), console);
    ExitCode::from(2)
}

/// Refuses a file in a missing directory, which the daemon would notice only at the end of a day.
fn require_directory(heartbeat_file: Option<&Path>) -> Result<(), Usage> {
    let Some(file) = heartbeat_file else { return Ok(()) };
    let directory = file.parent().filter(|it| !it.as_os_str().is_empty());
    let Some(directory) = directory else { return Ok(()) };
    // The dot makes the system refuse a file.
    fs::metadata(directory.join(".")).map(drop).map_err(|error| {
        Usage(format!("--heartbeat-file {}: {}", console::shown(file), message(&error)))
    })
}

/// Lets SIGTERM and SIGINT end the daemon after it has committed its results. If that takes too
/// long, it ends anyway, as if it was killed. The catalog then loses at most two seconds of
/// verifications.
fn end_on_signals(
    is_ending: &Arc<AtomicBool>,
    end: Sender<()>,
    commands: &Commands,
) -> anyhow::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT]).context("signals")?;
    let (is_ending, commands) = (Arc::clone(is_ending), commands.clone());
    let wait = move || {
        if signals.forever().next().is_some() {
            is_ending.store(true, Ordering::Relaxed);
            // Without a receiver the daemon has ended.
            let _ = end.send(());
            thread::sleep(PATIENCE);
            commands.kill();
            std::process::exit(0);
        }
    };
    thread::Builder::new().name("signals".into()).spawn(wait).context("a thread for signals")?;
    Ok(())
}

fn serve(
    args: &Serve,
    path: PathBuf,
    page: Option<Wanted>,
    console: &Arc<Mutex<Console>>,
    is_ending: &Arc<AtomicBool>,
    commands: &Commands,
    ended: &Receiver<()>,
) -> Result<(), CatalogError> {
    // Reports an address in use before anything else happens.
    #[cfg(feature = "page")]
    let page = page.map(page::open).transpose()?;
    let live = Live::default();
    let start = |command| Calls::start(&path, &args.place, command, commands, console);
    let calls = args.on_finding.clone().map(start);
    let calls = calls.transpose()?;
    let mut worker = Worker::new(args, &path, console, is_ending, live.clone(), calls, commands)?;
    let (recorded, roots) = worker.counts()?;
    let roots = counted(roots, "directory", "directories");
    let words = format!("serving {} in {roots}", files(recorded));
    lock(console).about(worker.path().as_os_str().as_encoded_bytes(), &words);
    #[cfg(feature = "page")]
    let _socket = page.map(|page| page::show(page, worker.path(), &live, console)).transpose()?;
    #[cfg(not(feature = "page"))]
    drop((live, page));
    notify(&[NotifyState::Ready]);
    while !is_ending.load(Ordering::Relaxed) {
        let step = match worker.step() {
            Ok(step) => step,
            Err(error) if is_final(&error) => return Err(error),
            Err(error) => {
                tell_retried(&error, &args.place, &mut lock(console));
                Step::Wait(AGAIN)
            }
        };
        if let Step::Wait(time) = step {
            wait(time, ended, &mut worker)?;
        }
    }
    notify(&[NotifyState::Stopping]);
    Ok(())
}

/// Prints an error that does not end the daemon.
fn tell_retried(error: &CatalogError, place: &Where, console: &mut Console) {
    let commands = catalog::commands::Commands { place, console };
    let Problem { path, words, .. } = explain(error, commands);
    match path {
        Some(path) => console.about(path.as_os_str().as_encoded_bytes(), &words),
        None => console.message(words.as_bytes()),
    }
    print_hint("the daemon tries again each minute", console);
}

/// Waits this long, or until there may be work.
fn wait(time: Duration, ended: &Receiver<()>, worker: &mut Worker) -> Result<(), CatalogError> {
    let begun = Instant::now();
    loop {
        let left = time.saturating_sub(begun.elapsed());
        if left.is_zero() || ended.recv_timeout(LOOK.min(left)).is_ok() {
            return Ok(());
        }
        notify(&[NotifyState::Watchdog]);
        match worker.look() {
            Ok(false) => {}
            Ok(true) => return Ok(()),
            Err(error) if is_final(&error) => return Err(error),
            // If the error persists, the next step reports it.
            Err(_) => return Ok(()),
        }
    }
}

/// Returns whether a repetition would fail again.
fn is_final(error: &CatalogError) -> bool {
    matches!(
        error,
        CatalogError::Damaged(_)
            | CatalogError::NotACatalog(_)
            | CatalogError::Absent(_)
            | CatalogError::Replaced(_)
            | CatalogError::Newer { .. }
    )
}

/// Notifies systemd, if it runs the daemon.
fn notify(state: &[NotifyState<'_>]) {
    // Without systemd there is nothing to do.
    let _ = sd_notify::notify(state);
}
