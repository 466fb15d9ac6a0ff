//! `lanesum serve`: the daemon, which reads what is due when it is due.
//!
//! ```text
//! an event system wakes the worker          when a file is due, hours begin, a day does; by the
//!                                           wall's clock, so a machine that slept is right
//! and looks every two seconds               whether the catalog was written to, or the clock set
//! the worker reads part after part          worker.rs; it holds the catalog only while it reads
//! whoever asked to be called is called      calls.rs, in a thread of its own; commands.rs
//! how it goes                               live.rs, for systemd and the page: page.rs, a thread of
//!                                           its own
//! ```
//!
//! Whoever steers writes to the catalog (`lanesum pause` and the like), and nothing else does: what
//! the daemon knows is in there, or computed from it.

mod calls;
mod commands;
mod live;
#[cfg(feature = "page")]
mod page;
mod told;
mod worker;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use lanesum_catalog::{Catalog, CatalogError};
use lanesum_events::{ActionId, Cancel, EventSystem, Every};
use sd_notify::NotifyState;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::args::Serve;
use crate::catalog::{Spoken, fail, path};
use crate::console::{self, Console, locale_of_process, lock};
use crate::counts::files;
use crate::failure::Usage;
use calls::Calls;
use commands::Commands;
use live::Live;
use worker::{Step, Worker};

/// Between two looks whether somebody wrote to the catalog, or set the clock.
const LOOK: Duration = Duration::from_secs(2);
/// The daemon is gone so long after it was told to end, whatever it does.
const PATIENCE: Duration = Duration::from_millis(1700);
/// A wall's clock that is off by more than this since the last look was set.
const SET: Duration = Duration::from_secs(30);
/// What fails without fault of the catalog is tried again after this time.
const AGAIN: Duration = Duration::from_secs(60);

#[cfg(feature = "page")]
use page::Wanted;
#[cfg(not(feature = "page"))]
type Wanted = std::convert::Infallible;

/// What wakes the worker.
enum Wake {
    /// What it waited for is due.
    Due,
    /// It is time to look around.
    Look,
    /// The daemon is to end.
    End,
}

/// Serves until it is told to end.
///
/// # Errors
/// What keeps it from beginning.
pub fn run(args: &Serve) -> anyhow::Result<ExitCode> {
    let console = Console::new(b"lanesum", locale_of_process()).context("standard output")?;
    let console = Arc::new(Mutex::new(console));
    let is_ending = Arc::new(AtomicBool::new(false));
    let (send, wakes) = mpsc::channel();
    let commands = Commands::default();
    end_on_signals(&is_ending, send.clone(), &commands)?;
    lanesum_startup::give_way();
    let path = path(&args.place)?;
    require_folder(args.heartbeat_file.as_deref())?;
    #[cfg(feature = "page")]
    let page = page::wanted(&args.page)?;
    #[cfg(not(feature = "page"))]
    let page = None;
    let served = Catalog::serve_alone(&path).and_then(|_alone| {
        serve(args, path, page, &console, &is_ending, &commands, (send, &wakes))
    });
    commands.end();
    Ok(match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error, &args.place, &mut lock(&console)),
    })
}

/// That a file can be written when a day is done: that it cannot would show only then.
fn require_folder(heartbeat_file: Option<&Path>) -> Result<(), Usage> {
    let Some(file) = heartbeat_file else { return Ok(()) };
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    if folder.is_none_or(Path::is_dir) {
        return Ok(());
    }
    Err(Usage(format!("--heartbeat-file {}: its folder is not there", console::shown(file))))
}

/// From now on SIGTERM and SIGINT end the daemon: what is done is committed. Where that takes too
/// long it ends all the same, as if it was killed: the catalog loses two seconds of checks at most.
fn end_on_signals(
    is_ending: &Arc<AtomicBool>,
    send: Sender<Wake>,
    commands: &Commands,
) -> anyhow::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT]).context("signals")?;
    let (is_ending, commands) = (Arc::clone(is_ending), commands.clone());
    let wait = move || {
        if signals.forever().next().is_some() {
            is_ending.store(true, Ordering::Relaxed);
            // Where the receiver has gone it has ended.
            let _ = send.send(Wake::End);
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
    (send, wakes): (Sender<Wake>, &mpsc::Receiver<Wake>),
) -> Result<(), CatalogError> {
    // A place that is taken is told before anything else is done.
    #[cfg(feature = "page")]
    let page = page.map(page::open).transpose()?;
    let live = Live::default();
    let start = |command| Calls::start(&path, &args.place, command, commands, console);
    let calls = args.on_finding.clone().map(start);
    let calls = calls.transpose()?;
    let mut worker = Worker::new(args, &path, console, is_ending, live.clone(), calls, commands)?;
    let (in_files, folders) = (files(worker.files()), worker.folders()?);
    let of = if folders == 1 { "folder" } else { "folders" };
    let words = format!("serves {in_files} of {folders} {of}");
    lock(console).about(worker.path().as_os_str().as_encoded_bytes(), &words);
    #[cfg(feature = "page")]
    let _socket = page.map(|page| page::show(page, worker.path(), &live, console)).transpose()?;
    #[cfg(not(feature = "page"))]
    drop((live, page));
    let system = EventSystem::builder().workers(1).start();
    let system = system.map_err(|error| io_error("the event system", error))?;
    let looks = send.clone();
    let look = move |_: &lanesum_events::Context<'_>| drop(looks.send(Wake::Look));
    system.repeat_after(LOOK, Every::new(LOOK), look).map_err(refused)?;
    notify(&[NotifyState::Ready]);
    let mut alarm = Alarm { system, send, id: None };
    while !is_ending.load(Ordering::Relaxed) {
        let step = match worker.step() {
            Ok(step) => step,
            Err(error) if is_final(&error) => return Err(error),
            Err(error) => {
                let mut console = lock(console);
                let words = error.words(&Spoken { place: &args.place, console: &console });
                console.message(format!("{words}; it is tried again in a minute").as_bytes());
                Step::Wait(worker.now() + AGAIN.as_secs().cast_signed())
            }
        };
        match step {
            Step::Again => {}
            Step::Wait(until) => {
                alarm.set(until)?;
                wait(wakes, &mut worker)?;
            }
        }
    }
    notify(&[NotifyState::Stopping]);
    Ok(())
}

/// Waits until there is something to be done.
fn wait(wakes: &mpsc::Receiver<Wake>, worker: &mut Worker) -> Result<(), CatalogError> {
    loop {
        match wakes.recv_timeout(AGAIN) {
            Ok(Wake::Due | Wake::End) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Ok(Wake::Look) => {
                notify(&[NotifyState::Watchdog]);
                match worker.look() {
                    Ok(false) => {}
                    Ok(true) => return Ok(()),
                    Err(error) if is_final(&error) => return Err(error),
                    // If it lasts, the next step tells of it.
                    Err(_) => return Ok(()),
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// The event that wakes the worker.
struct Alarm {
    system: EventSystem,
    send: Sender<Wake>,
    id: Option<ActionId>,
}

impl Alarm {
    /// At this time of the wall's clock, in place of any other.
    fn set(&mut self, at: i64) -> Result<(), CatalogError> {
        if let Some(id) = self.id.take()
            && self.system.cancel(id) == Cancel::Running
        {
            // It wakes the worker once for nothing.
        }
        let send = self.send.clone();
        let at = UNIX_EPOCH.checked_add(Duration::from_secs(at.max(0).cast_unsigned()));
        let at = at.unwrap_or_else(|| SystemTime::now() + AGAIN);
        let id = self.system.add_at(at, move |_| drop(send.send(Wake::Due))).map_err(refused)?;
        self.id = Some(id);
        Ok(())
    }
}

fn refused(error: lanesum_events::AddError) -> CatalogError {
    io_error("the event system", std::io::Error::other(error))
}

fn io_error(what: &str, error: std::io::Error) -> CatalogError {
    CatalogError::Io { path: what.into(), error }
}

/// Whether to try again would only repeat it.
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

/// Tells systemd, where it listens.
fn notify(state: &[NotifyState<'_>]) {
    // Elsewhere there is no systemd.
    let _ = sd_notify::notify(state);
}
