//! Each folder: how old its checks are, what is due, and what steers its scrubs.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use lanesum_catalog::{Class, Overview, Run, Severity};
use maud::{Markup, html};

use crate::login::Session;
use crate::pages;
use crate::svg::{Bar, bars};
use crate::words::{ago, bytes, command, count, files, manners, moment, of, outcome, shown};

/// Paths that are told one by one of those that could not be looked at.
const UNSEEN: usize = 5;

/// All of them.
pub fn section(all: &[Overview], catalog: &Path, session: &Session, now: i64) -> Markup {
    html! {
        section aria-labelledby="folders-head" {
            h2 #folders-head { "Folders" }
            @if all.is_empty() {
                p { "Nothing is cataloged. " code { (command(catalog, "add", None)) " DIR" } " takes a folder up." }
            }
            @for it in all { (folder(it, catalog, session, now)) }
        }
    }
}

fn folder(it: &Overview, catalog: &Path, session: &Session, now: i64) -> Markup {
    let id = it.root.id();
    html! {
        article id={ "folder-" (id) } {
            h3 { bdi { (shown(it.root.path.as_os_str().as_bytes())) } }
            div id={ "facts-" (id) } data-live {
                p { (files(it.files)) ", " (bytes(it.root.bytes.max(0).cast_unsigned())) }
                (not_done(it, catalog))
                @if it.files > 0 { (ages(it, now)) }
                p { (due(it)) }
                @if let Some(run) = &it.last { p { "Last: " (words(run, it.is_at_work, catalog)) "." } }
            }
            (steer(it, session))
        }
    }
}

/// What is wrong with the folder, or was not looked at.
fn not_done(it: &Overview, catalog: &Path) -> Markup {
    html! {
        ul class="bad" {
            @if let Some(why) = &it.root.suspended { li { "SUSPENDED: " (shown(why.as_bytes())) ". Nothing of it is read." } }
            @if let Some(since) = it.manners.paused { li { "PAUSED since " (moment(since)) ": nothing is scrubbed." } }
            @for unseen in it.unseen.iter().take(UNSEEN) {
                li {
                    "NOT LOOKED AT: " bdi { (shown(unseen.path.as_os_str().as_bytes())) }
                    " (" (shown(unseen.why.as_bytes())) "). "
                    code { (command(catalog, "audit", None)) }
                }
            }
            @if it.unseen.len() > UNSEEN {
                li { "NOT LOOKED AT: " (count((it.unseen.len() - UNSEEN) as u64)) " more." }
            }
            @for (words, verb) in known(it) {
                li { (words) @if let Some(verb) = verb { ". " code { (command(catalog, verb, None)) } } }
            }
            @if it.late > 0 {
                @let days = it.root.policy.late_after_days();
                li {
                    "LATE: " (files(it.late)) " not read for longer than " (of(days.into(), "day"))
                    @if it.ahead > 0 { ", or of a time later than now (" (count(it.ahead)) "): is the clock right?" }
                    @else { "." }
                    " " code { (command(catalog, &format!("scrub --older-than {days}d"), None)) }
                }
            }
            @if !it.is_taken_up {
                li { "NOT TAKEN UP: no add or update of it came to its end. " code { (command(catalog, "update", None)) } }
            }
            @if it.has_no_file() {
                li { "NOTHING CATALOGED: no regular file was in it, or all were forgotten since. Is its disk mounted?" }
            }
            @if it.never > 0 { li { "NEVER READ: " (files(it.never)) ", of lists. " code { (command(catalog, "update", None)) } } }
            @for run in &it.undone { li { (words(run, false, catalog)) "." } }
        }
    }
}

/// What is known of files that are not as cataloged, by what is to be done.
fn known(it: &Overview) -> Vec<(String, Option<&'static str>)> {
    let mut lines = Vec::new();
    for (severity, what, verb) in [
        (Severity::Damage, "NOT WELL", None),
        (Severity::Differences, "NOT TAKEN UP", Some("update")),
        (Severity::NotAllDone, "NOT READ when it was to be", Some("audit")),
    ] {
        let rows = it.not_well.iter().filter(|(status, _)| status.severity() == severity);
        let rows = rows.map(|(status, number)| (status.name(), *number));
        let others = it.not_taken_up.iter().filter(|_| severity == Severity::Differences);
        let others = others.map(|(class, number): (&Class, &u64)| (class.name(), *number));
        let counts: Vec<_> =
            rows.chain(others).map(|(name, number)| format!("{} {name}", count(number))).collect();
        if counts.is_empty() {
            continue;
        }
        let counts = counts.join(", ");
        // To take up what rotted would make it well.
        lines.push(if severity == Severity::Differences && it.may_be_rot > 0 {
            let words = format!("{what}: {counts}; {} may have rotted", count(it.may_be_rot));
            (words, Some("report --bad"))
        } else {
            (format!("{what}: {counts}"), verb)
        });
    }
    lines
}

fn words(run: &Run, is_at_work: bool, catalog: &Path) -> String {
    let outcome = if is_at_work { "at work now".to_owned() } else { outcome(run, catalog) };
    let mut words = format!("{} of {}, {outcome}", run.verb, moment(run.started));
    // Of the others it is not counted.
    if matches!(&*run.verb, "add" | "update" | "audit" | "scrub") {
        words += &format!("; {} read", files(run.files.max(0).cast_unsigned()));
    }
    words
}

/// How long ago the files were checked, against the period.
fn ages(it: &Overview, now: i64) -> Markup {
    let every = u64::from(it.root.policy.every_days);
    let most = it.by_age.iter().copied().max().unwrap_or(0).max(1) as f64;
    let last = it.by_age.len() - 1;
    let drawn: Vec<_> = it
        .by_age
        .iter()
        .enumerate()
        .map(|(place, &number)| {
            let (class, when) = if place == last {
                ("late", format!("longer ago than {}, or never", of(every, "day")))
            } else {
                let days =
                    |place: usize| format!("{:.1}", every as f64 * place as f64 / last as f64);
                (
                    ["young", "middle", "old"][place / 10],
                    format!("{} to {} days ago", days(place), days(place + 1)),
                )
            };
            Bar { share: number as f64 / most, class, title: format!("{}: {when}", files(number)) }
        })
        .collect();
    let late = it.by_age[last];
    let within = share(it.files - late, it.files);
    let summary = format!("{within} of the files were checked within {}", of(every, "day"));
    html! {
        p {
            (summary)
            @if late > 0 { ", " strong class="bad" { (files(late)) " longer ago or never" } }
            @if let Some(oldest) = it.oldest { "; the oldest check: " (ago(oldest, now)) }
        }
        (bars(&drawn, &summary))
        p class="axis" aria-hidden="true" {
            span { "now" } span { (of(every, "day")) " ago | longer, or never" }
        }
    }
}

/// What is said of less than all is less than 100 %.
fn share(part: u64, of: u64) -> String {
    let percent = (u128::from(part) * 100).checked_div(of.into()).unwrap_or(0);
    if part > 0 && percent == 0 { "less than 1 %".to_owned() } else { format!("{percent} %") }
}

fn due(it: &Overview) -> String {
    let begun = it.begun.map_or(String::new(), |it| {
        let (read, of) = (bytes(it.read), bytes(it.of));
        format!(" Begun: {}, of which {read} of {of} are read.", files(it.files))
    });
    let due = match it.next_due {
        _ if it.due > 0 => format!("Due: {}.", files(it.due)),
        Some(next) => format!("Due: nothing until {}.", moment(next)),
        None => "Due: nothing.".to_owned(),
    };
    due + &begun
}

/// What may be done from here. To accept or to forget is for commands alone.
fn steer(it: &Overview, session: &Session) -> Markup {
    let id = it.root.id();
    let (verb, label) = match it.manners.paused {
        Some(_) => ("resume", "Resume"),
        None => ("pause", "Pause"),
    };
    let rate = it.manners.rate.map(|rate| (rate as f64 / 1e6).to_string()).unwrap_or_default();
    let window = it.manners.window.map(|hours| hours.to_string()).unwrap_or_default();
    html! {
        div id={ "steer-" (id) } data-live class="steer" {
            p { "Scrubbed " (manners(&it.manners, it.root.policy.every_days)) "." }
            form method="post" action={ "/folder/" (id) "/" (verb) } { (pages::token(session)) button { (label) } }
            // While it is paused nothing is read, whoever asks.
            @if it.manners.paused.is_none() {
                form method="post" action={ "/folder/" (id) "/check" } {
                    (pages::token(session))
                    button title="Read what is due, whatever the hours" { "Check now" }
                }
            }
            @if it.manners.asked.is_some() && it.manners.paused.is_none() { p { "Asked for: what is due is read as soon as it can be." } }
            details {
                summary { "How it is scrubbed" }
                form method="post" action={ "/folder/" (id) "/limit" } {
                    (pages::token(session))
                    label { "Every so many days" input name="every" type="number" min="1" max="36500" required value=(it.root.policy.every_days); }
                    label { "At most so many MB a second (empty: no limit)" input name="rate" inputmode="decimal" value=(rate); }
                    label { "In these hours, such as 1:00-6:00 (empty: any)" input name="between" value=(window); }
                    button { "Change" }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_one_is_not_all() {
        assert_eq!(share(999_999, 1_000_000), "99 %");
        assert_eq!(
            (share(7, 7), share(1, 1000), share(0, 7)),
            ("100 %".into(), "less than 1 %".into(), "0 %".into())
        );
    }
}
