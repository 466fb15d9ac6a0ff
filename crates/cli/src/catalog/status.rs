//! `lanesum status`.

use std::array;
use std::cmp::Reverse;
use std::process::ExitCode;

use indicatif::{DecimalBytes, HumanCount};
use lanesum_catalog::{Class, Overview, Run, Severity, Unseen};
use serde_json::{Map, Value, json};

use super::print::{SCHEMA, insert_path, line, unseen, unseen_objects, way_back};
use super::{
    Asked, Spoken, code_of, command, command_about, console, fail, look, moment, name,
    nothing_cataloged, now,
};
use crate::args::{Status, Where};
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
    let place = &args.of.place;
    let looked = match look(place)? {
        Ok(catalog) => {
            let asked =
                Asked::of(&catalog, &args.of.folders, &Spoken { place, console: &console })?;
            asked.and_then(|asked| asked.overviews(&catalog, now))
        }
        Err(error) => Err(error),
    };
    let overviews = match looked {
        Ok(overviews) => overviews,
        Err(error) => return Ok(fail(&error, place, &mut console)),
    };
    let worst = overviews.iter().map(Overview::severity).max();
    if args.quiet && worst == Some(Severity::AsCataloged) {
        return Ok(ExitCode::SUCCESS);
    }
    for overview in &overviews {
        let text =
            if args.json { line(object(overview)) } else { text(overview, now, place, &console) };
        if let Err(error) = console.line(&text) {
            return Ok(fail_to_write(&error, &mut console));
        }
    }
    if let Err(error) = console.flush() {
        return Ok(fail_to_write(&error, &mut console));
    }
    Ok(code_of(&overviews).unwrap_or_else(|| {
        let words = nothing_cataloged(place, &console);
        console.message(words.as_bytes());
        ExitCode::from(2)
    }))
}

/// Whether all was looked at that was to be, and will be.
fn is_all_done(it: &Overview) -> bool {
    let is_left = it.root.suspended.is_some() || it.manners.paused.is_some();
    let is_busy = it.not_well.keys().any(|status| status.severity() == Severity::NotAllDone);
    let is_known = it.never == 0 && it.late == 0 && it.is_taken_up && it.files > 0;
    !is_left && it.undone.is_empty() && is_known && !is_busy
}

/// What a folder lacks, each in words and with the way out.
pub(super) fn lacks(it: &Overview, place: &Where, console: &Console) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    let say = |verb: &str| command(place, verb, console);
    if let Some(why) = &it.root.suspended {
        let back = way_back(&it.root.path, why, |verb| say(verb), console);
        lines.push((format!("SUSPENDED: {why}"), back));
    }
    if let Some(since) = it.manners.paused {
        let words = format!("PAUSED since {}: nothing is scrubbed", moment(since));
        lines.push((words, say("resume")));
    }
    if !it.unseen.is_empty() {
        let words = format!("NOT LOOKED AT: {}", unseen(&it.unseen, console));
        lines.push((words, way_to_look(&it.unseen, &say("audit"))));
    }
    lines.extend(known(it).into_iter().map(|(words, remedy)| (words, say(remedy))));
    let days = it.root.policy.late_after_days();
    let read = say(&format!("scrub --older-than {days}d"));
    if it.late > it.ahead {
        let late = files(it.late - it.ahead);
        lines.push((format!("LATE: {late} not read for longer than {days} d"), read.clone()));
    }
    if it.ahead > 0 {
        let ahead = files(it.ahead);
        let words = format!(
            "LATE: {ahead} checked later than now: the clock is behind, or was ahead; when is not known"
        );
        lines.push((words, format!("set the clock, or {read}")));
    }
    if !it.is_taken_up {
        let words = "NOT TAKEN UP: no add or update of it came to its end";
        lines.push((words.to_owned(), say("update")));
    }
    if it.never > 0 {
        lines.push((format!("NEVER READ: {}, of lists", files(it.never)), say("update")));
    }
    if it.has_no_file() {
        let words = "NOTHING CATALOGED: no regular file was in it, or all were forgotten since; is its disk \
                     mounted?";
        let forget = command_about(place, "forget", &it.root.path, console);
        let remedy = format!("{}; or, if it is to be empty, {forget}", say("update"));
        lines.push((words.to_owned(), remedy));
    }
    lines
}

/// What the catalog says of what something is mounted over begins so.
const MOUNTED: &str = "something is mounted over ";

/// What to do about what could not be looked at.
fn way_to_look(unseen: &[Unseen], audit: &str) -> String {
    if unseen.iter().any(|it| it.why == "Permission denied") {
        format!("give lanesum's user the permission to read it, then {audit}")
    } else if unseen.iter().any(|it| it.why.starts_with(MOUNTED)) {
        format!("unmount it, then {audit}; or forget what it hides")
    } else {
        audit.to_owned()
    }
}

/// What is known of files that are not as cataloged, and what to do: one line for each way out.
fn known(it: &Overview) -> Vec<(String, &'static str)> {
    let mut lines = Vec::new();
    for (severity, what, remedy) in [
        (Severity::Damage, "NOT WELL", "report --bad"),
        (Severity::Differences, "NOT TAKEN UP", "update"),
        (Severity::NotAllDone, "NOT READ when it was to be", "audit"),
    ] {
        let rows = it.not_well.iter().filter(|(status, _)| status.severity() == severity);
        let rows = rows.map(|(status, count)| (status.name(), *count));
        let others = it.not_taken_up.iter().filter(|_| severity == Severity::Differences);
        let others = others.map(|(class, count): (&Class, &u64)| (class.name(), *count));
        let counts: Vec<_> = rows
            .chain(others)
            .map(|(name, count)| format!("{} {name}", HumanCount(count)))
            .collect();
        if counts.is_empty() {
            continue;
        }
        let counts = counts.join(", ");
        // To take up what rotted would make it well.
        lines.push(match may_be_rot(it).filter(|_| severity == Severity::Differences) {
            Some(words) => (format!("{what}: {counts}; {words}"), "report --bad"),
            None => (format!("{what}: {counts}"), remedy),
        });
    }
    lines
}

/// How many files are changed so that an edit cannot be told from rot.
fn may_be_rot(it: &Overview) -> Option<String> {
    (it.may_be_rot > 0).then(|| format!("{} may have rotted", HumanCount(it.may_be_rot)))
}

/// The runs that left something undone, each with the way out. Of a folder that is suspended now,
/// that is told.
pub(super) fn undone<'it>(
    it: &'it Overview,
    place: &Where,
    console: &Console,
) -> impl Iterator<Item = (&'it Run, String)> {
    let is_suspended = it.root.suspended.is_some();
    let runs = it.undone.iter();
    let runs = runs.filter(move |run| !is_suspended || run.outcome.as_deref() != Some("suspended"));
    let runs: Vec<_> = runs
        .map(|run| {
            let verb = match &*run.verb {
                "add" => "update",
                "audit" if run.is_of_all => "audit --all",
                verb => verb,
            };
            let again = command(place, verb, console);
            let remedy = match run.outcome.as_deref() {
                _ if run.found_damage() => command(place, "catalog check", console),
                Some("paused") if it.manners.paused.is_some() => command(place, "resume", console),
                Some("closed") if it.manners.window.is_some() => {
                    format!("in its hours, or {again} --now")
                }
                _ => again,
            };
            (run, remedy)
        })
        .collect();
    runs.into_iter()
}

/// So many in a hundred of all of them together, rounded so that they make a hundred; what is some
/// is not said to be none, nor less than all to be all.
pub(super) fn percents(parts: [u64; 4]) -> [String; 4] {
    let of = parts.iter().map(|part| u128::from(*part)).sum::<u128>().max(1);
    let mut whole = parts.map(|part| u128::from(part) * 100 / of);
    let rest = parts.map(|part| u128::from(part) * 100 % of);
    let is_rounded = |&place: &usize| match whole[place] {
        0 => rest[place] * 2 >= of,
        percent => percent < 99,
    };
    let mut places: Vec<_> = (0..parts.len()).filter(is_rounded).collect();
    places.sort_by_key(|&place| Reverse(rest[place]));
    let lacking = 100_usize.saturating_sub(whole.iter().sum::<u128>() as usize);
    places.into_iter().take(lacking).for_each(|place| whole[place] += 1);
    array::from_fn(|place| match whole[place] {
        0 if parts[place] > 0 => "under 1 %".to_owned(),
        percent => format!("{percent} %"),
    })
}

/// A part of the period, as people say it.
pub(super) fn part_of_period(every_days: u32, thirds: i64) -> String {
    let hours = i64::from(every_days) * 24 * thirds / 3;
    if hours % 24 == 0 || hours > 240 { format!("{} d", hours / 24) } else { format!("{hours} h") }
}

/// How much is read of the long files that are begun.
pub(super) fn begun(it: &Overview) -> Option<String> {
    let begun = it.begun?;
    let (read, of) = (DecimalBytes(begun.read), DecimalBytes(begun.of));
    Some(format!("{}, of which {read} of {of} are read", files(begun.files)))
}

/// Some lines: what there is, what is not well, how old the checks are, what was done.
fn text(it: &Overview, now: i64, place: &Where, console: &Console) -> Vec<u8> {
    let mut text = Vec::new();
    console.quote(&mut text, name(&it.root.path));
    let mut add = |words: String| text.extend_from_slice(words.as_bytes());
    add(format!(": {}, {}\n", files(it.files), DecimalBytes(it.root.bytes.cast_unsigned())));
    for (words, remedy) in lacks(it, place, console) {
        add(format!("  {words}  -> {remedy}\n"));
    }
    if it.files > 0 {
        let every = it.root.policy.every_days;
        let [first, second, third, late] = percents(it.ages);
        let oldest = it.oldest.map_or(String::new(), |oldest| {
            format!("; the oldest check is {} d old", (now - oldest).max(0) / DAY)
        });
        let [third_of, two] = [1, 2].map(|thirds| part_of_period(every, thirds));
        add(format!(
            "  last checked: up to {third_of} ago {first}, to {two} {second}, to {every} d {third}, \
             longer ago or never {late}{oldest}\n"
        ));
        add(match it.next_due {
            _ if it.due > 0 => format!("  due: {}\n", files(it.due)),
            Some(next) => format!("  due: nothing until {}\n", moment(next)),
            None => String::new(),
        });
        if let Some(words) = begun(it) {
            add(format!("  begun: {words}\n"));
        }
    }
    if let Some(last) = &it.last {
        let mut words = run_words(last, it.is_at_work);
        let again = undone(it, place, console).find(|(run, _)| *run == last && !it.is_at_work);
        if let Some((_, remedy)) = again {
            words += &format!("  -> {remedy}");
        }
        add(format!("  last: {words}\n"));
    }
    for (run, remedy) in undone(it, place, console) {
        if it.last.as_ref() != Some(run) {
            add(format!("  before: {}  -> {remedy}\n", run_words(run, false)));
        }
    }
    text
}

/// What was done, and how far it came.
pub(super) fn run_words(run: &Run, is_at_work: bool) -> String {
    let outcome = match run.outcome.as_deref() {
        Some("complete") => "complete",
        Some("paused") => "NOT complete: it was paused",
        Some("closed") => "NOT complete: its hours were over, or did not begin",
        Some("ended") => "NOT complete: it was ended; the next one goes on",
        Some("begun") => "NOT complete: a part, and more is due",
        Some("limited") => "NOT complete: it stopped at its limit",
        Some("differs") => "complete: a list has other digests than the catalog, which stay",
        Some("partial") if run.verb == "import" => {
            "NOT complete: something of the lists was not taken"
        }
        Some("partial") => "NOT complete: something could not be looked at, or was not read",
        Some("empty") => "NOT complete: no file of it is cataloged",
        Some("unlisted") => "NOT complete: not all files are known",
        Some("suspended") => "NOT done: suspended",
        Some("damaged") => "NOT complete: the catalog itself is damaged",
        _ if is_at_work => "at work now",
        _ => "NOT complete: interrupted",
    };
    let mut words = format!("{} of {}, {outcome}", run.verb, moment(run.started));
    // Of the others it is not counted, nor of one that is not at its end.
    if !is_at_work && matches!(&*run.verb, "add" | "update" | "audit" | "scrub") {
        words += &format!("; {} read", files(run.files.cast_unsigned()));
    }
    words
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
    let not_taken_up: Map<String, Value> = it
        .not_taken_up
        .iter()
        .map(|(class, count)| (class.name().to_owned(), (*count).into()))
        .collect();
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
    let begun = it.begun.map(|it| json!({ "files": it.files, "read": it.read, "bytes": it.of }));
    for (key, value) in [
        ("files", json!(it.files)),
        ("bytes", json!(it.root.bytes)),
        ("suspended", json!(it.root.suspended)),
        ("not_well", Value::Object(not_well)),
        ("may_be_rot", json!(it.may_be_rot)),
        ("not_taken_up", Value::Object(not_taken_up)),
        ("not_looked_at", unseen_objects(&it.unseen)),
        ("fresh", json!(it.fresh)),
        ("never_read", json!(it.never)),
        ("taken_up", json!(it.is_taken_up)),
        ("every_days", json!(it.root.policy.every_days)),
        ("checked_within_thirds", json!(it.ages)),
        ("oldest_check", json!(it.oldest)),
        ("late", json!(it.late)),
        ("checked_later_than_now", json!(it.ahead)),
        ("due", json!(it.due)),
        ("next_due", json!(it.next_due)),
        ("begun", json!(begun)),
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

#[cfg(test)]
mod tests {
    use super::percents;

    #[test]
    fn parts_make_a_hundred_and_some_is_not_none() {
        for (parts, expected) in [
            ([0, 7, 0, 0], ["0 %", "100 %", "0 %", "0 %"]),
            ([2, 0, 0, 19], ["10 %", "0 %", "0 %", "90 %"]),
            ([1, 1, 1, 0], ["34 %", "33 %", "33 %", "0 %"]),
            ([19_997, 3, 0, 0], ["99 %", "under 1 %", "0 %", "0 %"]),
            ([19_996, 2, 2, 0], ["99 %", "under 1 %", "under 1 %", "0 %"]),
            ([0; 4], ["0 %"; 4]),
        ] {
            assert_eq!(percents(parts), expected, "{parts:?}");
        }
    }
}
