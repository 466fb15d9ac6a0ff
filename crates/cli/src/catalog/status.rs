//! `lanesum status`: the state of roots, from stored data only.

use indicatif::HumanCount;
use lanesum_catalog::{Catalog, CatalogError, Outcome, RootStatus, Run, Verb};
use serde_json::{Map, Value, json};

use super::commands::Commands;
use super::json::{attention, counts, extend, insert_path, line, object, offline};
use super::print::name;
use super::standing::{Standing, bad_count, file_hints, file_line, pending_hint, pending_line};
use super::times::{DAY, utc};
use super::{Code, now, place, prometheus};
use crate::args::{Status, Where};
use crate::console::Console;

/// The number of files of a class that are printed one by one.
const MOST: usize = 10;

/// Prints the state of roots.
///
/// # Errors
/// Errors of the catalog, and wrong usage.
pub fn run(args: &Status, console: &mut Console) -> anyhow::Result<Code> {
    let (catalog, standing) = read(args, console)?;
    let code = standing.code();
    if let Some(path) = &args.prometheus {
        prometheus::write(path, &standing)?;
        return Ok(code);
    }
    if args.quiet && code == Code::Nothing {
        return Ok(code);
    }
    if args.json {
        for it in &standing.roots {
            console.line(&line(root_object(it))).map_err(CatalogError::Output)?;
        }
        console.flush().map_err(CatalogError::Output)?;
        for it in standing.roots.iter().filter(|it| standing.is_stale(it)) {
            console.about(name(&it.root.path), &standing.stale_words());
        }
    } else {
        text(&args.roots.place, &catalog, &standing, console)?;
    }
    console.flush().map_err(CatalogError::Output)?;
    Ok(code)
}

/// Opens the catalog, and reads the state of the requested roots.
///
/// # Errors
/// Errors of the catalog, and wrong usage.
pub fn read(args: &Status, console: &Console) -> anyhow::Result<(Catalog, Standing)> {
    let place = &args.roots.place;
    let catalog = place::look(place)?;
    let commands = Commands { place, console };
    let mut standing = Standing::of(&catalog, &args.roots.directories, commands, now())?;
    if let Some(days) = args.max_age {
        standing.stale = stale(days, &catalog, &standing)?;
        standing.max_age = days;
    }
    Ok((catalog, standing))
}

/// Returns the ids of the roots in which no run has finished in the last days.
///
/// # Errors
/// Errors of the catalog.
fn stale(days: u32, catalog: &Catalog, standing: &Standing) -> Result<Vec<i64>, CatalogError> {
    let oldest = standing.now - i64::from(days) * DAY;
    let mut finished = Vec::new();
    // A run may take days.
    catalog.runs(oldest - 30 * DAY, &mut |run| {
        if has_finished(&run) && run.ended.is_some_and(|ended| ended >= oldest) {
            finished.push(run.root);
        }
        Ok(())
    })?;
    let roots = standing.roots.iter().map(|it| it.root.id());
    Ok(roots.filter(|root| !finished.contains(root)).collect())
}

/// Returns whether a run compared all files that it should with the catalog.
pub fn has_finished(run: &Run) -> bool {
    let verbs = [Verb::Add, Verb::Scan, Verb::Update, Verb::Verify, Verb::Scrub];
    let outcomes = [Outcome::Complete, Outcome::Partial, Outcome::Limited, Outcome::Part];
    run.ended.is_some() && verbs.contains(&run.verb) && outcomes.contains(&run.outcome)
}

/// Prints the verdict, the table, and problems with hints.
fn text(
    place: &Where,
    catalog: &Catalog,
    standing: &Standing,
    console: &mut Console,
) -> Result<(), CatalogError> {
    let output = CatalogError::Output;
    let print = |text: String, console: &mut Console| {
        console.line((text + "\n").as_bytes()).map_err(output)
    };
    print(standing.verdict() + "\n", console)?;
    for line in standing.table(console) {
        print(line, console)?;
    }
    let (bad, unread) = (standing.bad_files(catalog, MOST)?, standing.unread_directories(catalog)?);
    let mut text = Vec::new();
    for file in &bad {
        text.extend(file_line(file, console));
        let hints = file_hints(file, Commands { place, console });
        hints.iter().for_each(|it| hint(&mut text, it));
    }
    for it in unread.iter().take(MOST) {
        text.extend(pending_line(it, console));
        hint(&mut text, &pending_hint(it, Commands { place, console }));
    }
    let all = standing.roots.iter().map(bad_count).sum::<u64>() + unread.len() as u64;
    let more = all - (bad.len() + unread.len().min(MOST)) as u64;
    if more > 0 {
        text.extend_from_slice(format!("... and {} more\n", HumanCount(more)).as_bytes());
        hint(&mut text, &Commands { place, console }.of("report"));
    }
    for it in &standing.roots {
        for (words, command) in standing.notices(it, Commands { place, console }) {
            console.quote(&mut text, name(&it.root.path));
            text.extend_from_slice(format!(": {words}\n").as_bytes());
            if let Some(command) = command {
                hint(&mut text, &command);
            }
        }
    }
    if !text.is_empty() {
        text.insert(0, b'\n');
    }
    console.line(&text).map_err(output)
}

/// Prints a hint on a separate line.
pub fn hint(text: &mut Vec<u8>, words: &str) {
    text.extend_from_slice(format!("  {words}\n").as_bytes());
}

/// Returns the state of a root as an object.
pub fn root_object(it: &RootStatus) -> Map<String, Value> {
    let mut object = object("status");
    let settings = &it.root.settings;
    insert_path(&mut object, "root", &it.root.path);
    let partly =
        it.partly_read.map(|it| json!({ "files": it.files, "read": it.read, "of": it.of }));
    let algorithms: Vec<_> = settings.algorithms.iter().map(|it| it.to_string()).collect();
    extend(
        &mut object,
        [
            ("attention", json!(attention(it.attention()))),
            ("profile", json!(settings.profile.name())),
            ("algorithms", json!(algorithms)),
            ("files", json!(it.files)),
            ("bytes", json!(it.root.bytes)),
            ("standing", counts(&it.standing)),
            ("io_errors", json!(it.io_errors)),
            ("new", json!(it.new)),
            ("unknown", json!(it.unknown)),
            ("unreadable", json!(it.unreadable)),
            ("offline", offline(it.root.offline.as_ref())),
            ("complete", json!(it.root.is_complete)),
            ("every_days", json!(settings.every_days)),
            ("oldest_verification", json!(it.oldest.map(utc))),
            ("overdue", json!(it.overdue)),
            ("due", json!(it.due)),
            ("next_due", json!(it.next_due.map(utc))),
            ("paused_since", json!(it.root.steering.paused.map(utc))),
            ("bytes_per_second", json!(settings.rate)),
            ("hours", json!(settings.window.map(|hours| hours.to_string()))),
            ("partly_read", json!(partly)),
            ("running", json!(it.is_running)),
            ("last_run", json!(it.last.as_ref().map(run_object))),
        ],
    );
    object
}

/// Returns a run as an object.
pub fn run_object(run: &Run) -> Value {
    json!({
        "verb": run.verb.name(),
        "started": utc(run.started),
        "ended": run.ended.map(utc),
        "outcome": run.outcome.name(),
        "files_read": run.files,
        "bytes_read": run.bytes,
    })
}
