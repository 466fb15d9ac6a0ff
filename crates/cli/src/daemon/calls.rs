//! Whoever wants to be called for a finding is: once for each event of the catalog that tells of
//! damage, of something missing, or of a folder that is not there.
//!
//! The first of all is called for whatever stands as found now, and not for what is well again.
//! From then on the catalog remembers the last event that was told, and before, how far these first
//! calls are (told.rs). So a finding of another process, an audit's for one, is told as well, and
//! one that was found before the machine went off is told after. Only where the daemon is killed
//! during a call, or has to end, is that call made again; and where it could not be noted by then.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use lanesum_catalog::{Catalog, CatalogError, Class, Control, Event, Root};

use super::AGAIN;
use super::commands::Commands;
use super::told::{Place, Told};
use crate::args::Where;
use crate::catalog::Spoken;
use crate::catalog::print::{finding_object, line};
use crate::console::{Console, lock};

/// The thread that calls.
pub struct Calls(Sender<()>);

impl Calls {
    /// Tells what is not told yet, and from now on whatever comes. The first call of all begins
    /// with what is not well then; what was so before, and is well again, is not told.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn start(
        path: &Path,
        place: &Where,
        command: String,
        commands: &Commands,
        console: &Arc<Mutex<Console>>,
    ) -> Result<Self, CatalogError> {
        let control = Control::open(path)?;
        let told = match control.called()? {
            Some(number) => Told::from_number(number),
            None => Told::First { last: control.last_event()?, place: Place::BEGIN },
        };
        let (send, wakes) = mpsc::channel::<()>();
        let mut caller = Caller {
            path: path.to_owned(),
            place: Where { catalog: place.catalog.clone() },
            command,
            commands: commands.clone(),
            control: Box::new(control),
            told,
            is_noted: true,
            console: Arc::clone(console),
        };
        let call = move || caller.listen(&wakes, AGAIN);
        let spawned = thread::Builder::new().name("calls".into()).spawn(call);
        spawned.map_err(|error| super::io_error("a thread for calls", error))?;
        let calls = Self(send);
        calls.wake();
        Ok(calls)
    }

    /// There may be something to tell.
    pub fn wake(&self) {
        // The thread is there unless it panicked.
        let _ = self.0.send(());
    }
}

/// Where it is noted what was called for.
trait Notes: Send {
    fn note(&mut self, number: i64) -> Result<(), CatalogError>;
}

impl Notes for Control {
    fn note(&mut self, number: i64) -> Result<(), CatalogError> {
        self.set_called(number)
    }
}

struct Caller {
    path: PathBuf,
    /// Which catalog was asked for, for what is to be typed.
    place: Where,
    command: String,
    commands: Commands,
    control: Box<dyn Notes>,
    /// What was called for, and whether the catalog says so.
    told: Told,
    is_noted: bool,
    console: Arc<Mutex<Console>>,
}

impl Caller {
    /// Calls for what there is whenever it is woken, and again after a while where that failed.
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
            let failure = self.call_and_note();
            // Once, however often it is tried.
            if let Some(words) = failure.as_ref().filter(|_| !has_failed) {
                lock(&self.console).message(words.as_bytes());
            }
            has_failed = failure.is_some();
        }
    }

    /// Calls for all that there is; what failed, if anything did.
    fn call_and_note(&mut self) -> Option<String> {
        let called = self.call_for_all();
        // It is not called for again, at least by this daemon.
        let noted = if self.is_noted { Ok(()) } else { self.note(self.told) };
        let (what, error) = match (called, noted) {
            (Err(error), _) => ("the findings to call for could not be read", error),
            (_, Err(error)) => (
                "the calls for findings could not be noted, so another daemon may repeat them",
                error,
            ),
            _ => return None,
        };
        let console = lock(&self.console);
        let error = error.words(&Spoken { place: &self.place, console: &console });
        Some(format!("{what}: {error}; it is tried again each minute"))
    }

    fn call_for_all(&mut self) -> Result<(), CatalogError> {
        let catalog = Catalog::look(&self.path)?;
        if let Told::First { last, place } = self.told {
            // Whatever comes after is told, also where these calls do not come to their end.
            let _ = self.note(self.told);
            let later = found_after(&catalog, last)?;
            for (place, event) in standing(&catalog, place)? {
                // What was found once more is called for below.
                let is_later = later.contains(&(event.path(), event.finding.class));
                if !is_later && !self.call(&event, Told::First { last, place }) {
                    return Ok(());
                }
            }
            let _ = self.note(Told::Event(last));
        }
        while let Told::Event(last) = self.told {
            let events = events_after(&catalog, last)?;
            let Some((last, _)) = events.last() else { break };
            let last = Told::Event(*last);
            for (id, event) in &events {
                if is_new(&catalog, *id, event)? && !self.call(event, Told::Event(*id)) {
                    return Ok(());
                }
            }
            if self.told != last {
                let _ = self.note(last);
            }
        }
        Ok(())
    }

    /// Calls for one, waits for that, and notes it. Not where it was ended because the daemon ends.
    fn call(&mut self, event: &Event, told: Told) -> bool {
        let root = event.root.clone().unwrap_or_default();
        let mut object = finding_object(&root, &event.finding);
        object.insert("event".to_owned(), "finding".into());
        object.insert("time".to_owned(), event.at.into());
        let json = line(object);
        let mut command = Command::new("sh");
        command.arg("-c").arg(&self.command);
        command.env("LANESUM_CLASS", event.finding.class.name());
        command.env("LANESUM_PATH", event.path()).env("LANESUM_ROOT", &root);
        command.env("LANESUM_JSON", String::from_utf8_lossy(&json).trim_end());
        let (commands, console) = (self.commands.clone(), Arc::clone(&self.console));
        let words = self.command.clone();
        let note = || _ = self.note(told);
        commands.run(command, ("--on-finding", &words), &console, note)
    }

    /// Notes what was called for. What cannot be noted now is later.
    fn note(&mut self, told: Told) -> Result<(), CatalogError> {
        self.told = told;
        let noted = told.number().map_or(Ok(()), |number| self.control.note(number));
        self.is_noted = noted.is_ok();
        noted
    }
}

/// Some of the events after one, oldest first; none where there is none.
fn events_after(catalog: &Catalog, last: i64) -> Result<Vec<(i64, Event)>, CatalogError> {
    let mut events = Vec::new();
    catalog.events_after(last, &mut |id, event| {
        events.push((id, event.clone()));
        Ok(())
    })?;
    Ok(events)
}

/// What is called for of the events after one: where it is, and what it is.
fn found_after(
    catalog: &Catalog,
    mut last: i64,
) -> Result<HashSet<(PathBuf, Class)>, CatalogError> {
    let mut found = HashSet::new();
    loop {
        let events = events_after(catalog, last)?;
        match events.last() {
            Some((id, _)) => last = *id,
            None => return Ok(found),
        }
        for (id, event) in events {
            if is_new(catalog, id, &event)? {
                found.insert((event.path(), event.finding.class));
            }
        }
    }
}

/// Whether somebody is to be called for an event.
fn is_new(catalog: &Catalog, id: i64, event: &Event) -> Result<bool, CatalogError> {
    Ok(is_told(event.finding.class) && !catalog.is_repeated(id)?)
}

/// The findings that stand behind a place: of files that are not well, and of folders that are
/// suspended.
fn standing(catalog: &Catalog, after: Place) -> Result<Vec<(Place, Event)>, CatalogError> {
    let files = catalog.not_well_after(after.file(), usize::MAX)?.into_iter();
    let mut events: Vec<_> =
        files.filter_map(|file| Some((Place::of_file(file.id), file.told()?))).collect();
    let mut roots = catalog.roots()?;
    roots.retain(|root| root.suspended.is_some() && Place::of_folder(root.id()) > after);
    roots.sort_by_key(Root::id);
    let mut last = vec![None; roots.len()];
    catalog.events(0, &mut |event| {
        let index = roots.iter().position(|root| event.root.as_ref() == Some(&root.path));
        if let Some(index) = index.filter(|_| event.finding.class == Class::Suspended) {
            last[index] = Some((Place::of_folder(roots[index].id()), event.clone()));
        }
        Ok(())
    })?;
    events.extend(last.into_iter().flatten());
    events.retain(|(_, event)| is_told(event.finding.class));
    Ok(events)
}

/// Whether somebody is to be called for a class.
fn is_told(class: Class) -> bool {
    class.is_damage() || matches!(class, Class::Missing | Class::Suspended)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use lanesum_catalog::{Options, Policy, Verb};

    use super::*;
    use crate::console::{self, locale_of_process};

    /// Where there is no room for the first notes.
    struct Full {
        left: u32,
        noted: Sender<i64>,
    }

    impl Notes for Full {
        fn note(&mut self, number: i64) -> Result<(), CatalogError> {
            if self.left == 0 {
                self.noted.send(number).unwrap();
                return Ok(());
            }
            self.left -= 1;
            Err(CatalogError::Full)
        }
    }

    /// A catalog of two files that are gone, and whoever calls for them, with the last event.
    fn caller(folder: &Path, notes: Full) -> (Caller, i64) {
        let (tree, path) = (folder.join("tree"), folder.join("catalog.db"));
        fs::create_dir(&tree).unwrap();
        ["a", "b", "c"].iter().for_each(|name| fs::write(tree.join(name), name).unwrap());
        let mut catalog = Catalog::open(&path, "test").unwrap();
        let root = catalog.add_root(&tree, Policy::default()).unwrap();
        let mut run = |verb| catalog.run(&root, verb, &Options::default(), &mut |_| Ok(()));
        run(Verb::Add).unwrap();
        ["a", "b"].iter().for_each(|name| fs::remove_file(tree.join(name)).unwrap());
        run(Verb::Audit).unwrap();
        let console = Console::new(b"lanesum", locale_of_process()).unwrap();
        let calls = console::shown(folder.join("calls"));
        let caller = Caller {
            path: path.clone(),
            place: Where { catalog: None },
            command: format!(r#"echo "${{LANESUM_PATH##*/}}" >> {calls}"#),
            commands: Commands::default(),
            control: Box::new(notes),
            told: Told::Event(0),
            is_noted: true,
            console: Arc::new(Mutex::new(console)),
        };
        (caller, Control::open(&path).unwrap().last_event().unwrap())
    }

    #[test]
    fn what_has_no_room_is_noted_later_and_not_called_for_again() {
        let folder = tempfile::tempdir().unwrap();
        let (noted, notes) = mpsc::channel();
        // Two calls, and what is tried after them.
        let (mut caller, last) = caller(folder.path(), Full { left: 3, noted });
        let words = caller.call_and_note().unwrap();
        assert_eq!(
            words,
            "the calls for findings could not be noted, so another daemon may repeat them: no room \
             is left for the catalog; what was committed before is kept; it is tried again each \
             minute"
        );
        assert!(!caller.is_noted);
        assert_eq!(caller.call_and_note(), None);
        assert_eq!(notes.try_iter().collect::<Vec<_>>(), [last]);
        assert_eq!(fs::read_to_string(folder.path().join("calls")).unwrap(), "a\nb\n");
    }

    #[test]
    fn what_failed_is_tried_again_by_itself() {
        let folder = tempfile::tempdir().unwrap();
        let (noted, notes) = mpsc::channel();
        let (mut caller, last) = caller(folder.path(), Full { left: 5, noted });
        let (send, wakes) = mpsc::channel();
        send.send(()).unwrap();
        thread::spawn(move || caller.listen(&wakes, Duration::from_millis(1)));
        assert_eq!(notes.recv(), Ok(last));
        drop(send);
    }
}
