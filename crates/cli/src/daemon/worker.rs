//! The worker: what is to be done next, and the doing of it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use jiff::tz::TimeZone;
use lanesum_catalog::{
    Agenda, Catalog, CatalogError, Control, Finding, GoesOn, Halt, Next, Options, Part, Root,
};
use lanesum_checksum::engine::Progress;
use sd_notify::NotifyState;

use super::calls::Calls;
use super::commands::Commands;
use super::live::Live;
use super::{SET, notify};
use crate::args::{Serve, Where};
use crate::catalog::now;
use crate::catalog::print::Printer;
use crate::console::{Console, lock};

/// So often in seconds folders are looked for, whether they are there.
const POLL: i64 = 10;
/// Between two words to systemd how far it is.
const STATUS: Duration = Duration::from_secs(2);
/// How long it may take to look at the files of a part: so much later a pause is heeded.
const PLANNING: Duration = Duration::from_secs(2);

/// What comes next.
pub enum Step {
    /// There may be more to do at once.
    Again,
    /// Nothing is before this time in seconds since 1970.
    Wait(i64),
}

pub struct Worker {
    path: PathBuf,
    console: Arc<Mutex<Console>>,
    is_ending: Arc<AtomicBool>,
    live: Live,
    calls: Option<Calls>,
    commands: Commands,
    heartbeat: Option<String>,
    heartbeat_file: Option<PathBuf>,
    /// Which catalog was asked for, for what is to be typed.
    place: Where,
    threads: usize,
    /// Looks into the catalog, beside whoever writes.
    catalog: Catalog,
    /// That catalog when it was looked at last.
    version: i64,
    agenda: Agenda,
    zone: TimeZone,
    files: u64,
    /// The wall's clock at the last look, and one that is never set.
    clocks: (SystemTime, Duration),
    /// The root that was read last: the others go first.
    last: Option<PathBuf>,
    /// Of each root the day on which all was done that was to be.
    done: BTreeMap<PathBuf, i64>,
    /// What somebody asked for, and is being read.
    asked: BTreeMap<PathBuf, i64>,
    /// Of each root that somebody suspended and that is there, why: it was looked at once for that.
    looked: BTreeMap<PathBuf, String>,
    /// The day of the last heartbeat.
    beat: Option<i64>,
    /// The version of the catalog with which something was not seen, so that there was none.
    unseen_at: Option<i64>,
    /// Whoever has the catalog, once that was told.
    holder: Option<String>,
}

impl Worker {
    /// # Errors
    /// Those of the catalog.
    pub fn new(
        args: &Serve,
        path: &Path,
        console: &Arc<Mutex<Console>>,
        is_ending: &Arc<AtomicBool>,
        live: Live,
        calls: Option<Calls>,
        commands: &Commands,
    ) -> Result<Self, CatalogError> {
        let catalog = Catalog::look(path)?;
        let zone = TimeZone::system();
        let version = catalog.version()?;
        let agenda = Agenda::of(&catalog, now(), &zone)?;
        let files = agenda.files();
        Ok(Self {
            path: path.to_owned(),
            console: Arc::clone(console),
            is_ending: Arc::clone(is_ending),
            live,
            calls,
            commands: commands.clone(),
            heartbeat: args.heartbeat.clone(),
            heartbeat_file: args.heartbeat_file.clone(),
            place: Where { catalog: args.place.catalog.clone() },
            threads: args.jobs.unwrap_or(0),
            catalog,
            version,
            agenda,
            zone,
            files,
            clocks: clocks(),
            last: None,
            done: BTreeMap::new(),
            asked: BTreeMap::new(),
            looked: BTreeMap::new(),
            beat: None,
            unseen_at: None,
            holder: None,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn files(&self) -> u64 {
        self.files
    }

    pub fn folders(&self) -> Result<u64, CatalogError> {
        Ok(self.catalog.roots()?.len() as u64)
    }

    pub fn now(&self) -> i64 {
        now()
    }

    /// Looks around; whether there may be something to do.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn look(&mut self) -> Result<bool, CatalogError> {
        self.catalog.require_in_place()?;
        let was_set = self.was_set();
        if was_set {
            lock(&self.console).message(b"the clock was set: what is due is computed anew");
            self.agenda.load(&self.catalog, now())?;
        }
        let version = self.catalog.version()?;
        let is_other = version != self.version;
        self.version = version;
        if is_other {
            self.wake_calls();
        }
        Ok(was_set || is_other)
    }

    /// Whether the wall's clock went on otherwise than time did. A machine that slept is none.
    fn was_set(&mut self) -> bool {
        let (wall, steady) = clocks();
        let (wall_before, steady_before) = std::mem::replace(&mut self.clocks, (wall, steady));
        let expected = wall_before + steady.saturating_sub(steady_before);
        let drift = wall.duration_since(expected).unwrap_or_else(|error| error.duration());
        drift > SET
    }

    fn wake_calls(&self) {
        if let Some(calls) = &self.calls {
            calls.wake();
        }
    }

    /// Does what is to be done next.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn step(&mut self) -> Result<Step, CatalogError> {
        notify(&[NotifyState::Watchdog]);
        self.catalog.require_in_place()?;
        let now = now();
        self.agenda.refresh(&self.catalog, now)?;
        let mut roots = self.catalog.roots()?;
        // One after the other.
        let last = roots.iter().position(|root| Some(&root.path) == self.last.as_ref());
        // No more than there are.
        roots.rotate_left(last.map_or(0, |last| last + 1));
        let mut until = self.agenda.day(now) + 36 * 60 * 60;
        for root in &roots {
            let manners = self.catalog.manners(root)?;
            let asked = manners.asked;
            if asked.is_some() && self.asked.get(&root.path) != asked.as_ref() {
                self.agenda.begin_again(root);
                self.asked.extend(asked.map(|asked| (root.path.clone(), asked)));
            }
            if manners.paused.is_some() {
                self.done.remove(&root.path);
                continue;
            }
            let why = self.catalog.why_not_there(root)?;
            if why.is_some() || root.suspended.is_none() {
                self.looked.remove(&root.path);
            }
            if why.is_some() {
                self.done.remove(&root.path);
                if why == root.suspended {
                    continue;
                }
            }
            let next = match (&why, &root.suspended) {
                // It is told once.
                (Some(_), _) => Next::Now,
                // Perhaps it is as it was again.
                (None, Some(suspended)) if self.looked.get(&root.path) != Some(suspended) => {
                    self.looked.insert(root.path.clone(), suspended.clone());
                    self.agenda.begin_again(root);
                    Next::Now
                }
                (None, _) => self.agenda.next(&self.catalog, root, asked.is_some(), now)?,
            };
            match next {
                Next::Now => return self.read(root, asked),
                Next::At(at) => until = until.min(at),
                _ => {}
            }
        }
        self.beat_if_done(&roots, now)?;
        self.tell_status(&roots, until);
        // What a reader kept in the log when the last run ended.
        let _ = self.catalog.bring_home();
        // Folders come and go without a word.
        Ok(Step::Wait(until.min(now + POLL)))
    }

    /// Reads a part of what is due of a root.
    fn read(&mut self, root: &Root, asked: Option<i64>) -> Result<Step, CatalogError> {
        let mut catalog = match Catalog::open_existing(&self.path, "serve") {
            Ok(catalog) => catalog,
            Err(CatalogError::Locked { holder }) => {
                // A call that is noted has it for a moment.
                let is_own = holder.starts_with(&format!("process {} ", std::process::id()));
                if !is_own && self.holder.as_ref() != Some(&holder) {
                    let words = format!("waits for {holder}, which has the catalog");
                    lock(&self.console).message(words.as_bytes());
                    self.holder = Some(holder);
                }
                return Ok(Step::Wait(now() + 1));
            }
            Err(error) => return Err(error),
        };
        self.holder = None;
        self.last = Some(root.path.clone());
        let (is_ending, begun) = (Arc::clone(&self.is_ending), Instant::now());
        let mut goes_on = move || {
            notify(&[NotifyState::Watchdog]);
            begun.elapsed() < PLANNING && !is_ending.load(Ordering::Relaxed)
        };
        let part = catalog.next_part(&mut self.agenda, root, now(), &mut goes_on)?;
        let (goes_on, is_capped) = (part.goes_on, part.is_capped);
        let options = self.options(root, &part, asked.is_some());
        let place = Where { catalog: self.place.catalog.clone() };
        let printer = Printer { root: &root.path, json: false, quiet: false, place: &place };
        let (console, calls) = (Arc::clone(&self.console), self.calls.as_ref());
        let mut tell = |finding: &Finding| {
            let mut console = lock(&console);
            // The finding is in the catalog, whoever does not read this.
            let _ = printer.finding(finding, &mut console).and_then(|()| console.flush());
            calls.into_iter().for_each(Calls::wake);
            Ok(())
        };
        let read = catalog.scrub_part(&mut self.agenda, root, part, &options, &mut tell);
        self.live.end();
        drop(catalog);
        let mut summary = read?;
        self.version = self.catalog.version()?;
        self.wake_calls();
        if summary.suspended.is_none() {
            self.looked.remove(&root.path);
        }
        let is_worth_a_word = summary.files > 0 || !summary.is_all_done();
        if is_worth_a_word {
            let mut console = lock(&self.console);
            let _ = printer.summary(&summary, &mut console);
            if is_capped {
                console
                    .about(root.path.as_os_str().as_encoded_bytes(), "more is due, on another day");
            }
        }
        // What the day's budget left behind its time is not done.
        let is_late = || Ok::<_, CatalogError>(self.catalog.late(root, now())? > 0);
        // Whether that is so still is asked before there is a heartbeat.
        summary.unseen.clear();
        if summary.is_all_seen() && !goes_on && !is_late()? {
            self.done.insert(root.path.clone(), self.agenda.day(now()));
        } else {
            self.done.remove(&root.path);
        }
        let is_answered = summary.suspended.is_some() || summary.halt.is_none();
        if let Some(asked) = asked.filter(|_| is_answered) {
            Control::open(&self.path)?.was_checked(root, asked)?;
        }
        // Whoever waits for the catalog shall have it once.
        Ok(match summary.halt {
            Some(Halt::Ended) => Step::Wait(now()),
            _ => Step::Again,
        })
    }

    /// Whether all of a root is seen, as of now: the last look at names and the last scrub, of
    /// whatever process, did all that they were to, and no file is left that could not be read.
    fn is_all_seen(&self, root: &Root) -> Result<bool, CatalogError> {
        Ok(self.catalog.undone(root)?.is_empty() && self.catalog.unread(root)? == 0)
    }

    fn options(&self, root: &Root, part: &Part, at_any_time: bool) -> Options {
        let mut options = Options::default();
        let progress = Arc::new(Progress::default());
        options.engine.threads = self.threads;
        options.engine.progress = Some(Arc::clone(&progress));
        options.zone = self.zone.clone();
        (options.yields, options.at_any_time) = (true, at_any_time);
        self.live.begin(root.path.clone(), part.files, part.bytes, progress);
        let (is_ending, live) = (Arc::clone(&self.is_ending), self.live.clone());
        let told = Mutex::new(Instant::now());
        options.goes_on = Some(GoesOn::new(move || {
            notify(&[NotifyState::Watchdog]);
            let mut told = told.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if told.elapsed() >= STATUS {
                *told = Instant::now();
                if let Some(reading) = live.reading() {
                    notify(&[NotifyState::Status(&reading.words())]);
                }
            }
            !is_ending.load(Ordering::Relaxed)
        }));
        options
    }

    /// Tells whoever listens for it that all was done today that was to be: of every folder,
    /// whatever was found. None of them is paused, all are there, and all of them is seen.
    fn beat_if_done(&mut self, roots: &[Root], now: i64) -> Result<(), CatalogError> {
        let today = self.agenda.day(now);
        let is_done = roots.iter().all(|root| self.done.get(&root.path) == Some(&today));
        if !is_done || roots.is_empty() || self.beat == Some(today) {
            return Ok(());
        }
        // What was in the way stays there until somebody writes to the catalog.
        let version = self.catalog.version()?;
        if self.unseen_at == Some(version) {
            return Ok(());
        }
        for root in roots {
            if !self.is_all_seen(root)? {
                self.unseen_at = Some(version);
                return Ok(());
            }
        }
        self.beat = Some(today);
        if let Some(path) = &self.heartbeat_file
            && let Err(error) = write_heartbeat(path, now)
        {
            let mut console = lock(&self.console);
            let words = format!("--heartbeat-file {}: {error}", console.shown(path));
            console.message(words.as_bytes());
        }
        if let Some(words) = &self.heartbeat {
            let mut command = Command::new("sh");
            command.arg("-c").arg(words);
            let (words, console) = (words.clone(), Arc::clone(&self.console));
            let commands = self.commands.clone();
            let call = move || commands.run(command, ("--heartbeat", &words), &console, || {});
            if let Err(error) = std::thread::Builder::new().spawn(call) {
                lock(&self.console).about(b"heartbeat", &error.to_string());
            }
        }
        Ok(())
    }

    fn tell_status(&self, roots: &[Root], until: i64) {
        let away = roots.iter().filter(|root| root.suspended.is_some()).count();
        let mut words = format!("waits until {} at most", crate::catalog::moment(until));
        if away > 0 {
            words += &format!("; {away} suspended");
        }
        notify(&[NotifyState::Status(&words)]);
    }
}

/// The wall's clock, and one that goes on while the machine sleeps and is never set.
fn clocks() -> (SystemTime, Duration) {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let seconds = Duration::from_secs(time.tv_sec.max(0).cast_unsigned());
    (SystemTime::now(), seconds + Duration::from_nanos(time.tv_nsec.max(0).cast_unsigned()))
}

/// The time, in a file that is there whole or not at all.
fn write_heartbeat(path: &Path, now: i64) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    writeln!(file, "{}", crate::catalog::moment(now))?;
    fs::set_permissions(file.path(), std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
    file.persist(path)?;
    Ok(())
}
