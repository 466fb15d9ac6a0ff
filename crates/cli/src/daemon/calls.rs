//! Whoever wants to be called for a finding is: once for each event of the catalog that tells of
//! damage, of something missing, or of a folder that is not there.
//!
//! The first of all is called for whatever stands as found now, and not for what is well again.
//! From then on the catalog remembers the last event that was told. So a finding of another
//! process, an audit's for one, is told as well, and one that was found before the machine went off
//! is told after. Only where the daemon is killed during a call is that call made again.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::thread;

use lanesum_catalog::{Catalog, CatalogError, Class, Control, Event};

use super::commands::Commands;
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
        let first = match control.called()? {
            None => Some((standing(&Catalog::look(path)?)?, control.last_event()?)),
            Some(_) => None,
        };
        let (send, wakes) = mpsc::channel::<()>();
        let caller = Caller {
            path: path.to_owned(),
            command,
            commands: commands.clone(),
            control,
            first,
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
    /// What is not well at the first call of all, and the last event then.
    first: Option<(Vec<Event>, i64)>,
    console: Arc<Mutex<Console>>,
}

impl Caller {
    fn call_for_all(&mut self) -> Result<(), CatalogError> {
        let catalog = Catalog::look(&self.path)?;
        if let Some((events, last)) = self.first.take() {
            if !events.iter().all(|event| self.call(event)) {
                return Ok(());
            }
            self.control.set_called(last)?;
        }
        loop {
            let mut last = self.control.called()?.unwrap_or(0);
            let mut events = Vec::new();
            catalog.events_after(last, &mut |id, event| {
                events.push((id, event.clone()));
                Ok(())
            })?;
            if events.is_empty() {
                return Ok(());
            }
            let mut told = last;
            for (id, event) in events {
                last = id;
                if is_told(event.finding.class) && !catalog.is_repeated(id)? {
                    if !self.call(&event) {
                        return Ok(());
                    }
                    self.control.set_called(id)?;
                    told = id;
                }
            }
            if told != last {
                self.control.set_called(last)?;
            }
        }
    }

    /// Calls for one, and waits for that. Not where it was ended because the daemon ends.
    fn call(&self, event: &Event) -> bool {
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
        self.commands.run(command, ("--on-finding", &self.command), &self.console, || {})
    }
}

/// The findings that stand: of files that are not well, and of folders that are suspended.
fn standing(catalog: &Catalog) -> Result<Vec<Event>, CatalogError> {
    let files = catalog.not_well_after(0, usize::MAX)?.into_iter();
    let mut events: Vec<_> = files.filter_map(|file| file.told()).collect();
    let roots = catalog.roots()?;
    let suspended: Vec<_> = roots.iter().filter(|root| root.suspended.is_some()).collect();
    let mut last = vec![None; suspended.len()];
    catalog.events(0, &mut |event| {
        let place = suspended.iter().position(|root| event.root.as_ref() == Some(&root.path));
        if let Some(place) = place.filter(|_| event.finding.class == Class::Suspended) {
            last[place] = Some(event.clone());
        }
        Ok(())
    })?;
    events.extend(last.into_iter().flatten());
    events.retain(|event| is_told(event.finding.class));
    Ok(events)
}

/// Whether somebody is to be called for a class.
fn is_told(class: Class) -> bool {
    class.is_damage() || matches!(class, Class::Missing | Class::Suspended)
}
