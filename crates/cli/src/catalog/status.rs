//! `lanesum status`.

use std::process::ExitCode;

use indicatif::{DecimalBytes, HumanCount};
use lanesum_catalog::{Overview, Run, Severity};
use serde_json::{Map, Value, json};

use super::print::{SCHEMA, insert_path, line};
use super::{NOTHING_CATALOGED, code, console, fail, look, moment, name, now};
use crate::args::Status;
use crate::console::{Console, fail_to_write, lock};
use crate::counts::files;

const DAY: i64 = 24 * 60 * 60;

/// Tells how each root stands.
///
/// # Errors
/// What keeps it from beginning.
pub fn run(args: &Status) -> anyhow::Result<ExitCode> {
    let console = console()?;
    let mut console = lock(&console);
    let now = now();
    let overviews = match look(&args.place)?.and_then(|catalog| catalog.overviews(now)) {
        Ok(overviews) => overviews,
        Err(error) => return Ok(fail(&error, &mut console)),
    };
    for overview in &overviews {
        let text = if args.json { line(object(overview)) } else { text(overview, now, &console) };
        if let Err(error) = console.line(&text) {
            return Ok(fail_to_write(&error, &mut console));
        }
    }
    if let Err(error) = console.flush() {
        return Ok(fail_to_write(&error, &mut console));
    }
    if overviews.is_empty() {
        console.message(NOTHING_CATALOGED.as_bytes());
        return Ok(ExitCode::from(2));
    }
    Ok(code(overviews.iter().map(Overview::severity).max().unwrap_or(Severity::AsCataloged)))
}

/// Whether all was looked at that was to be, and will be.
fn is_all_done(it: &Overview) -> bool {
    let is_left = it.root.suspended.is_some() || it.manners.paused.is_some();
    let is_busy = it.not_well.keys().any(|status| status.severity() == Severity::NotAllDone);
    !is_left
        && it.files > 0
        && it.undone.is_empty()
        && it.never == 0
        && it.late == 0
        && it.is_taken_up
        && !is_busy
}

/// What is known of files that are not as cataloged, and what to do: one line for each way out.
pub(super) fn known(it: &Overview) -> Vec<(String, &'static str)> {
    let mut lines = Vec::new();
    for (severity, what, remedy) in [
        (Severity::Damage, "NOT WELL", "lanesum report --bad"),
        (Severity::Differences, "NOT TAKEN UP", "lanesum update"),
        (Severity::NotAllDone, "NOT READ when it was to be", "lanesum audit"),
    ] {
        let counts = it.not_well.iter().filter(|(status, _)| status.severity() == severity);
        let counts: Vec<_> = counts
            .map(|(status, count)| format!("{} {}", HumanCount(*count), status.name()))
            .collect();
        if !counts.is_empty() {
            lines.push((format!("{what}: {}", counts.join(", ")), remedy));
        }
    }
    if !it.seen.is_empty() {
        let counts: Vec<_> = it
            .seen
            .iter()
            .map(|(class, count)| format!("{} {class}", HumanCount(*count)))
            .collect();
        let words = format!("NOT TAKEN UP, as the last audit saw: {}", counts.join(", "));
        lines.push((words, "lanesum update"));
    }
    if it.files == 0 {
        let words = "NOTHING CATALOGED: no regular file was in it; is its disk mounted?";
        lines.push((words.to_owned(), "lanesum update"));
    }
    if it.late > 0 {
        let words = format!(
            "LATE: {} not read for longer than {} d",
            files(it.late),
            it.root.policy.late_after_days()
        );
        lines.push((words, "lanesum scrub"));
    }
    lines
}

/// A part of the period, as people say it.
pub(super) fn part_of_period(every_days: u32, thirds: i64) -> String {
    let hours = i64::from(every_days) * 24 * thirds / 3;
    if hours % 24 == 0 || hours > 72 { format!("{} d", hours / 24) } else { format!("{hours} h") }
}

/// Some lines: what there is, what is not well, how old the checks are, what was done.
fn text(it: &Overview, now: i64, console: &Console) -> Vec<u8> {
    let mut text = Vec::new();
    console.quote(&mut text, name(&it.root.path));
    let mut add = |words: String| text.extend_from_slice(words.as_bytes());
    add(format!(": {}, {}\n", files(it.files), DecimalBytes(it.root.bytes.cast_unsigned())));
    if let Some(why) = &it.root.suspended {
        add(format!("  SUSPENDED: {why}\n"));
    }
    if let Some(since) = it.manners.paused {
        add(format!("  PAUSED since {}: nothing is scrubbed  -> lanesum resume\n", moment(since)));
    }
    for (words, remedy) in known(it) {
        add(format!("  {words}  -> {remedy}\n"));
    }
    if !it.is_taken_up {
        add("  NOT TAKEN UP: no look at all of it came to its end  -> lanesum update\n".to_owned());
    }
    if it.never > 0 {
        add(format!("  NEVER READ: {}, of lists  -> lanesum update\n", files(it.never)));
    }
    if it.files > 0 {
        let every = it.root.policy.every_days;
        let share = |count: u64| 100 * count / it.files;
        let [first, second, third, late] = it.ages.map(share);
        let oldest = it.oldest.map_or(String::new(), |oldest| {
            format!("; the oldest check is {} d old", (now - oldest).max(0) / DAY)
        });
        add(format!(
            "  checked within {} {first} %, {} {second} %, {every} d {third} %, longer ago \
             or never {late} %{oldest}\n",
            part_of_period(every, 1),
            part_of_period(every, 2)
        ));
        add(match it.next_due {
            _ if it.due > 0 => format!("  due: {}\n", files(it.due)),
            Some(next) => format!("  due: nothing until {}\n", moment(next)),
            None => String::new(),
        });
    }
    if let Some(last) = &it.last {
        add(format!("  last: {}\n", run_words(last)));
    }
    for run in it.undone.iter().filter(|run| it.last.as_ref() != Some(run)) {
        add(format!("  before: {}\n", run_words(run)));
    }
    text
}

/// What was done, and how far it came.
pub(super) fn run_words(run: &Run) -> String {
    let outcome = match run.outcome.as_deref() {
        Some("complete") => "complete",
        Some("paused") => "NOT complete: it was paused",
        Some("closed") => "NOT complete: its hours were over, or did not begin",
        Some("ended") => "NOT complete: it was ended; the next one goes on",
        Some("begun") => "NOT complete: a part, and more is due",
        Some("limited") => "NOT complete: it stopped at its limit",
        Some("partial") => "NOT complete: something could not be looked at, or was not read",
        Some("suspended") => "NOT done: suspended",
        _ => "NOT complete: interrupted, or at work now",
    };
    let read = files(run.files.cast_unsigned());
    format!("{} of {}, {outcome}; {read} read", run.verb, moment(run.started))
}

fn object(it: &Overview) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("schema".to_owned(), SCHEMA.into());
    insert_path(&mut object, "root", name(&it.root.path));
    let not_well: Map<String, Value> = it
        .not_well
        .iter()
        .map(|(status, count)| (status.name().to_owned(), (*count).into()))
        .collect();
    let seen: Map<String, Value> =
        it.seen.iter().map(|(class, count)| (class.name().to_owned(), (*count).into())).collect();
    let last = it.last.as_ref().map(|run| {
        json!({
            "verb": run.verb,
            "started": run.started,
            "ended": run.ended,
            "outcome": run.outcome,
            "files_read": run.files,
            "bytes_read": run.bytes,
        })
    });
    for (key, value) in [
        ("files", json!(it.files)),
        ("bytes", json!(it.root.bytes)),
        ("suspended", json!(it.root.suspended)),
        ("not_well", Value::Object(not_well)),
        ("fresh", json!(it.fresh)),
        ("never_read", json!(it.never)),
        ("taken_up", json!(it.is_taken_up)),
        ("seen", json!(seen)),
        ("every_days", json!(it.root.policy.every_days)),
        ("checked_within_thirds", json!(it.ages)),
        ("oldest_check", json!(it.oldest)),
        ("late", json!(it.late)),
        ("due", json!(it.due)),
        ("next_due", json!(it.next_due)),
        ("paused", json!(it.manners.paused)),
        ("bytes_a_second", json!(it.manners.rate)),
        ("hours", json!(it.manners.window.map(|hours| hours.to_string()))),
        ("last", json!(last)),
        ("complete", json!(is_all_done(it))),
    ] {
        object.insert(key.to_owned(), value);
    }
    object
}
