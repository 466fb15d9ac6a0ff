//! Runs of the daemon: their options, and early ends.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use lanesum_catalog::{Catalog, CatalogError, GoesOn, Root};
use lanesum_checksum::engine::Pace;
use sd_notify::NotifyState;

use super::live::{self, Live};
use super::notify;

/// The interval between messages to systemd about the progress.
const STATUS: Duration = Duration::from_secs(2);
/// The interval at which pauses are checked.
const LOOK: Duration = Duration::from_millis(500);

/// Tells systemd that the daemon is alive and what it reads. Returns false when the daemon ends or
/// a root is paused.
pub fn goes_on(live: &Live, is_ending: &Arc<AtomicBool>, steered: Option<Steered>) -> GoesOn {
    let (live, is_ending) = (live.clone(), Arc::clone(is_ending));
    let told = Mutex::new(Instant::now());
    GoesOn::new(move || {
        notify(&[NotifyState::Watchdog]);
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.elapsed() >= STATUS {
            *told = Instant::now();
            if let Some(reading) = live.reading() {
                notify(&[NotifyState::Status(&live::words(&reading))]);
            }
        }
        !is_ending.load(Ordering::Relaxed) && steered.as_ref().is_none_or(Steered::goes_on)
    })
}

/// The roots of an update or a verification. The library does not pause or limit these runs, but in
/// the daemon a pause ends them, and the rate limits a verification.
pub struct Steered {
    roots: Vec<i64>,
    pace: Option<Pace>,
    seen: Mutex<Seen>,
}

/// The time of the last check of the catalog.
struct Seen {
    catalog: Catalog,
    at: Instant,
    is_paused: bool,
}

impl Steered {
    /// # Errors
    /// Errors of the catalog.
    pub fn new(path: &Path, roots: &[Root], pace: Option<Pace>) -> Result<Self, CatalogError> {
        let catalog = Catalog::look(path)?;
        let ids = roots.iter().map(Root::id).collect();
        let seen = Seen { catalog, at: Instant::now(), is_paused: false };
        let steered = Self { roots: ids, pace, seen: Mutex::new(seen) };
        steered.set_rate(roots);
        Ok(steered)
    }

    fn set_rate(&self, roots: &[Root]) {
        let rates = roots.iter().filter_map(|root| root.settings.rate);
        if let Some(pace) = &self.pace {
            pace.set_rate(rates.min());
        }
    }

    fn goes_on(&self) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.at.elapsed() >= LOOK {
            seen.at = Instant::now();
            // If the catalog cannot be read, the run itself reports that.
            if let Ok(mut roots) = seen.catalog.roots() {
                roots.retain(|root| self.roots.contains(&root.id()));
                self.set_rate(&roots);
                seen.is_paused = roots.iter().any(|root| root.steering.paused.is_some());
            }
        }
        !seen.is_paused
    }
}
