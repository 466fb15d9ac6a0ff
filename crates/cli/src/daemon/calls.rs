//! `--on-finding`: calls a command once for each event that needs attention, whichever command
//! found it.
//!
//! The catalog stores the last event with a call. So at its start the daemon also calls for
//! findings of other processes, and for those while no daemon ran. If the end of the daemon
//! interrupts a call, it is repeated. The very first start calls for all files and roots that have
//! problems. If the daemon ends during these calls, the next start repeats all of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use lanesum_catalog::{
    Attention, Catalog, CatalogError, Class, Control, Event, FileFilter, FileStatus, Reason, Root,
};

use serde_json::{Map, Value};

use super::AGAIN;
use super::commands::Commands;
use crate::args::Where;
use crate::catalog::{json, utc};
use crate::console::{Console, lock};

/// The number of events that are read from the catalog at a time.
const SOME: usize = 1000;

/// The thread that calls.
pub struct Calls(Sender<()>);

impl Calls {
    /// Calls for each event that had no call yet, and for each new event.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn start(
        path: &Path,
        place: &Where,
        command: String,
        commands: &Commands,
        console: &Arc<Mutex<Console>>,
    ) -> Result<Self, CatalogError> {
        let control = Control::open(path)?;
        let last = control.called()?;
        let (send, wakes) = mpsc::channel::<()>();
        let mut caller = Caller {
            path: path.to_owned(),
            place: Where { catalog: place.catalog.clone() },
            command,
            commands: commands.clone(),
            notes: Box::new(control),
            last,
            is_noted: true,
            console: Arc::clone(console),
        };
        let call = move || caller.listen(&wakes, AGAIN);
        let spawned = thread::Builder::new().name("calls".into()).spawn(call);
        spawned.map_err(|error| CatalogError::Io { path: "a thread for calls".into(), error })?;
        let calls = Self(send);
        calls.wake();
        Ok(calls)
    }

    /// Notifies the thread of possible new events.
    pub fn wake(&self) {
        // The thread exists unless it panicked.
        let _ = self.0.send(());
    }
}

/// The subject of a call.
struct Call {
    class: Class,
    reason: Option<Reason>,
    path: PathBuf,
    root: PathBuf,
    /// The finding as `--json` prints it.
    json: Vec<u8>,
}

/// The key under which the number of the last event with a call is stored.
trait Notes: Send {
    /// Returns the newest event of the catalog.
    fn newest(&self) -> Result<i64, CatalogError>;

    fn note(&mut self, event: i64) -> Result<(), CatalogError>;
}

impl Notes for Control {
    fn newest(&self) -> Result<i64, CatalogError> {
        self.last_event()
    }

    fn note(&mut self, event: i64) -> Result<(), CatalogError> {
        self.set_called(event)
    }
}

struct Caller {
    path: PathBuf,
    place: Where,
    command: String,
    commands: Commands,
    notes: Box<dyn Notes>,
    /// The last event with a call, or none before the very first calls.
    last: Option<i64>,
    /// Whether the catalog stores it.
    is_noted: bool,
    console: Arc<Mutex<Console>>,
}

impl Caller {
    /// Calls whenever it is notified, and tries again after a while if that failed.
    fn listen(&mut self, wakes: &Receiver<()>, again: Duration) {
        let mut has_failed = false;
        loop {
            let woken = if has_failed {
                wakes.recv_timeout(again)
            } else {
                wakes.recv().map_err(|_| RecvTimeoutError::Disconnected)
            };
            if woken == Err(RecvTimeoutError::Disconnected) {
                return;
            }
            let result = self.call_and_note();
            // Reported once, however often it is tried.
            if let Err(error) = result.as_ref()
                && !has_failed
            {
                super::tell_retried(error, &self.place, &mut lock(&self.console));
            }
            has_failed = result.is_err();
        }
    }

    /// Calls for all new events, and stores the last one, even if that failed before.
    fn call_and_note(&mut self) -> Result<(), CatalogError> {
        self.call_for_all()?;
        match self.last.filter(|_| !self.is_noted) {
            Some(last) => self.note(last),
            None => Ok(()),
        }
    }

    fn call_for_all(&mut self) -> Result<(), CatalogError> {
        let catalog = Catalog::look(&self.path)?;
        let mut last = match self.last {
            Some(last) => last,
            None => {
                let last = self.notes.newest()?;
                for call in standing(&catalog)? {
                    if !self.call(&call, None) {
                        return Ok(());
                    }
                }
                let _ = self.note(last);
                last
            }
        };
        loop {
            let events = catalog.events_after(last, SOME)?;
            let Some(newest) = events.last() else { return Ok(()) };
            last = newest.id;
            let roots = roots(&catalog)?;
            for event in &events {
                if let Some(call) = call_of(event, &roots)
                    && !self.call(&call, Some(event.id))
                {
                    return Ok(());
                }
            }
            if self.last != Some(last) {
                let _ = self.note(last);
            }
        }
    }

    /// Calls, waits, and stores the event. Returns false if the daemon ends.
    fn call(&mut self, call: &Call, event: Option<i64>) -> bool {
        let mut command = Command::new("sh");
        command.arg("-c").arg(&self.command);
        command.env("LANESUM_CLASS", call.class.name());
        command.env("LANESUM_REASON", call.reason.map_or("", Reason::name));
        command.env("LANESUM_PATH", &call.path).env("LANESUM_ROOT", &call.root);
        command.env("LANESUM_JSON", String::from_utf8_lossy(&call.json).trim_end());
        let (commands, console) = (self.commands.clone(), Arc::clone(&self.console));
        let words = self.command.clone();
        let note = || {
            if let Some(event) = event {
                let _ = self.note(event);
            }
        };
        commands.run(command, ("--on-finding", &words), &console, note)
    }

    /// Stores the last event with a call. If that fails, it is stored later.
    fn note(&mut self, event: i64) -> Result<(), CatalogError> {
        self.last = Some(event);
        let noted = self.notes.note(event);
        self.is_noted = noted.is_ok();
        noted
    }
}

fn roots(catalog: &Catalog) -> Result<BTreeMap<i64, Root>, CatalogError> {
    Ok(catalog.roots()?.into_iter().map(|root| (root.id(), root)).collect())
}

/// Returns whether a class or reason needs a call.
fn is_wanted(class: Class, attention: Attention) -> bool {
    attention == Attention::Problem || class == Class::Offline
}

/// Returns the call for an event, if it needs one. The log of a forgotten root needs none.
fn call_of(event: &Event, roots: &BTreeMap<i64, Root>) -> Option<Call> {
    let (root, finding) = (roots.get(&event.root)?, &event.finding);
    let attention = finding.attention(root.settings.profile);
    if !is_wanted(finding.class, attention) {
        return None;
    }
    let mut object = json::finding_object(&root.path, finding);
    object.insert("time".to_owned(), utc(event.at).into());
    Some(Call {
        class: finding.class,
        reason: finding.reason,
        path: root.path_of(&finding.path),
        root: root.path.clone(),
        json: json::line(object),
    })
}

/// Calls for the files and roots that have problems now.
fn standing(catalog: &Catalog) -> Result<Vec<Call>, CatalogError> {
    let roots = roots(catalog)?;
    let mut filter = FileFilter::default();
    filter.only_bad = true;
    let mut calls = Vec::new();
    catalog.files(&filter, &mut |file: FileStatus| {
        let Some(root) = roots.get(&file.root) else { return Ok(()) };
        let attention = Attention::of(file.class, file.reason, root.settings.profile);
        if is_wanted(file.class, attention) {
            calls.push(call_of_file(file, root));
        }
        Ok(())
    })?;
    let is_offline = |root: &Root| Some((root.clone(), root.offline.clone()?));
    for (root, offline) in roots.values().filter_map(is_offline) {
        let (class, reason) = (Class::Offline, Some(offline.reason));
        let path = root.path.clone();
        calls.push(call_of_standing(&root, (class, reason, path), offline.since, Map::new()));
    }
    Ok(calls)
}

fn call_of_file(file: FileStatus, root: &Root) -> Call {
    let mut more = Map::new();
    more.insert("recorded".to_owned(), json::content(&file.recorded));
    more.extend(file.found.map(|found| ("found".to_owned(), json::content(&found))));
    more.extend(file.error.map(|error| ("error".to_owned(), error.into())));
    call_of_standing(root, (file.class, file.reason, file.path), file.since, more)
}

/// Returns the call for a problem from before the very first start.
fn call_of_standing(
    root: &Root,
    (class, reason, path): (Class, Option<Reason>, PathBuf),
    since: i64,
    more: Map<String, Value>,
) -> Call {
    let mut object = json::object("finding");
    object.insert("class".to_owned(), class.name().into());
    object.extend(reason.map(|reason| ("reason".to_owned(), reason.name().into())));
    json::insert_path(&mut object, "root", &root.path);
    json::insert_path(&mut object, "path", &path);
    object.insert("files".to_owned(), 1.into());
    object.extend(more);
    object.insert("time".to_owned(), utc(since).into());
    Call { class, reason, path, root: root.path.clone(), json: json::line(object) }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use lanesum_catalog::{Options, Settings, Target, Task};

    use super::*;
    use crate::console::{self, locale_of_process};

    /// A catalog that cannot store the first events.
    struct Full {
        left: u32,
        noted: Sender<i64>,
    }

    impl Notes for Full {
        fn newest(&self) -> Result<i64, CatalogError> {
            Ok(0)
        }

        fn note(&mut self, event: i64) -> Result<(), CatalogError> {
            if self.left == 0 {
                self.noted.send(event).unwrap();
                return Ok(());
            }
            self.left -= 1;
            Err(CatalogError::Full)
        }
    }

    /// A catalog with two missing files, a caller for them, and the number of the last event.
    fn caller(directory: &Path, notes: Full) -> (Caller, i64) {
        let (tree, path) = (directory.join("tree"), directory.join("catalog.db"));
        fs::create_dir(&tree).unwrap();
        ["a", "b", "c"].iter().for_each(|name| fs::write(tree.join(name), name).unwrap());
        let mut catalog = Catalog::open(&path, "test").unwrap();
        let roots = catalog.add_roots(&[(&tree, Settings::default())]).unwrap();
        let targets: Vec<_> = roots.into_iter().map(Target::whole).collect();
        let mut run = |task| {
            catalog.run(&targets, &task, &Options::default(), &mut |_, _| Ok(())).unwrap();
        };
        run(Task::Add);
        ["a", "b"].iter().for_each(|name| fs::remove_file(tree.join(name)).unwrap());
        run(Task::Scan);
        let console = Console::new(b"lanesum", locale_of_process()).unwrap();
        let calls = console::shown(directory.join("calls"));
        let caller = Caller {
            path: path.clone(),
            place: Where { catalog: None },
            command: format!(r#"echo "${{LANESUM_PATH##*/}}" >> {calls}"#),
            commands: Commands::default(),
            notes: Box::new(notes),
            last: Some(0),
            is_noted: true,
            console: Arc::new(Mutex::new(console)),
        };
        (caller, Control::open(&path).unwrap().last_event().unwrap())
    }

    #[test]
    fn a_note_without_space_is_repeated_and_its_call_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let (noted, notes) = mpsc::channel();
        // Two calls, and then the stored event.
        let (mut caller, last) = caller(directory.path(), Full { left: 3, noted });
        assert!(matches!(caller.call_and_note(), Err(CatalogError::Full)));
        assert!(!caller.is_noted);
        caller.call_and_note().unwrap();
        assert_eq!(notes.try_iter().collect::<Vec<_>>(), [last]);
        assert_eq!(fs::read_to_string(directory.path().join("calls")).unwrap(), "a\nb\n");
    }

    #[test]
    fn a_failed_note_is_tried_again_without_a_new_event() {
        let directory = tempfile::tempdir().unwrap();
        let (noted, notes) = mpsc::channel();
        let (mut caller, last) = caller(directory.path(), Full { left: 5, noted });
        let (send, wakes) = mpsc::channel();
        send.send(()).unwrap();
        thread::spawn(move || caller.listen(&wakes, Duration::from_millis(1)));
        assert_eq!(notes.recv(), Ok(last));
        drop(send);
    }
}
