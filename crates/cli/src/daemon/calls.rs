//! Whoever wants to be called for a finding is: once for each event of the catalog that tells of
//! damage, of something missing, or of a folder that is not there.
//!
//! The first of all is called for whatever stands as found now, and not for what is well again.
//! From then on the catalog remembers the last event that was told, and before, how far these first
//! calls are (told.rs). So a finding of another process, an audit's for one, is told as well, and
//! one that was found before the machine went off is told after. Only where the daemon is killed
//! during a call, or has to end, is that call made again.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::thread;

use lanesum_catalog::{Catalog, CatalogError, Class, Control, Event, Root};

use super::commands::Commands;
use super::told::{Place, Told};
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
        let caller = Caller {
            path: path.to_owned(),
            command,
            commands: commands.clone(),
            control,
            told,
            console: Arc::clone(console),
        };
        let call = move || {
            let mut caller = caller;
            while wakes.recv().is_ok() {
                if let Err(error) = caller.call_for_all() {
                    let words = format!("no command could be called for findings: {error}");
                    lock(&caller.console).message(words.as_bytes());
                }
            }
        };
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

struct Caller {
    path: PathBuf,
    command: String,
    commands: Commands,
    control: Control,
    /// What was called for.
    told: Told,
    console: Arc<Mutex<Console>>,
}

impl Caller {
    fn call_for_all(&mut self) -> Result<(), CatalogError> {
        let catalog = Catalog::look(&self.path)?;
        if let Told::First { last, place } = self.told {
            // Whatever comes after is told, also where these calls do not come to their end.
            self.note(self.told)?;
            let later = found_after(&catalog, last)?;
            for (place, event) in standing(&catalog, place)? {
                // What was found once more is called for below.
                let is_later = later.contains(&(event.path(), event.finding.class));
                if !is_later && !self.call(&event, Told::First { last, place })? {
                    return Ok(());
                }
            }
            self.note(Told::Event(last))?;
        }
        while let Told::Event(last) = self.told {
            let events = events_after(&catalog, last)?;
            let Some((last, _)) = events.last() else { break };
            let last = Told::Event(*last);
            for (id, event) in &events {
                if is_new(&catalog, *id, event)? && !self.call(event, Told::Event(*id))? {
                    return Ok(());
                }
            }
            if self.told != last {
                self.note(last)?;
            }
        }
        Ok(())
    }

    /// Calls for one, waits for that, and notes it. Not where it was ended because the daemon ends.
    fn call(&mut self, event: &Event, told: Told) -> Result<bool, CatalogError> {
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
        let mut noted = Ok(());
        let note = || noted = self.note(told);
        let is_over = commands.run(command, ("--on-finding", &words), &console, note);
        noted.map(|()| is_over)
    }

    fn note(&mut self, told: Told) -> Result<(), CatalogError> {
        self.told = told;
        told.number().map_or(Ok(()), |number| self.control.set_called(number))
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
