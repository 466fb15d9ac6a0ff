//! The heartbeat: once a day, and once after each start, when all due files were read.
//!
//! Findings do not stop it. It does not come while a root is paused or offline, or has files that
//! could not be checked. A monitor that waits for it raises an alarm then.

use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use lanesum_catalog::{Catalog, CatalogError, Class, RootStatus};

use super::commands::Commands;
use crate::args::Serve;
use crate::console::{Console, lock};

/// The heartbeat, if there is one.
pub struct Heartbeat {
    command: Option<String>,
    file: Option<PathBuf>,
    commands: Commands,
    console: Arc<Mutex<Console>>,
    /// The day of the last one.
    day: Option<i64>,
    /// The version of the catalog in which a file was unchecked. This remains true until a process
    /// writes to the catalog.
    gap: Option<i64>,
}

impl Heartbeat {
    pub fn new(args: &Serve, commands: &Commands, console: &Arc<Mutex<Console>>) -> Self {
        Self {
            command: args.heartbeat.clone(),
            file: args.heartbeat_file.clone(),
            commands: commands.clone(),
            console: Arc::clone(console),
            day: None,
            gap: None,
        }
    }

    /// Sends a heartbeat on a day on which all due files were read, unless it was already sent, or
    /// files could not be checked.
    ///
    /// # Errors
    /// Errors of the catalog.
    pub fn beat(&mut self, catalog: &Catalog, today: i64, now: i64) -> Result<(), CatalogError> {
        let is_wanted = self.command.is_some() || self.file.is_some();
        if !is_wanted || self.day == Some(today) {
            return Ok(());
        }
        let version = Some(catalog.version()?);
        if self.gap == version {
            return Ok(());
        }
        if catalog.status(now)?.iter().any(has_gap) {
            self.gap = version;
            return Ok(());
        }
        self.day = Some(today);
        self.write(now);
        self.call();
        Ok(())
    }

    fn write(&self, now: i64) {
        let Some(path) = &self.file else { return };
        if let Err(error) = write(path, now) {
            let mut console = lock(&self.console);
            let words = format!("--heartbeat-file {}: {error}", console.shown(path));
            console.message(words.as_bytes());
        }
    }

    fn call(&self) {
        let Some(words) = self.command.clone() else { return };
        let mut command = Command::new("sh");
        command.arg("-c").arg(&words);
        let (commands, console) = (self.commands.clone(), Arc::clone(&self.console));
        let call = move || commands.run(command, ("--heartbeat", &words), &console, || {});
        if let Err(error) = std::thread::Builder::new().name("heartbeat".into()).spawn(call) {
            lock(&self.console).about(b"--heartbeat", &error.to_string());
        }
    }
}

/// Returns whether a root has files that should have been checked but were not.
fn has_gap(it: &RootStatus) -> bool {
    let unchecked = it.standing.get(&Class::Unchecked).copied().unwrap_or(0);
    it.root.offline.is_some()
        || !it.root.is_complete
        || unchecked + it.unknown + it.unreadable + it.overdue > 0
}

/// Writes the time to a file, atomically.
fn write(path: &Path, now: i64) -> std::io::Result<()> {
    let directory = path.parent().filter(|it| !it.as_os_str().is_empty());
    let mut file = tempfile::NamedTempFile::new_in(directory.unwrap_or(Path::new(".")))?;
    writeln!(file, "{}", crate::catalog::utc(now))?;
    fs::set_permissions(file.path(), Permissions::from_mode(0o644))?;
    file.persist(path)?;
    Ok(())
}
