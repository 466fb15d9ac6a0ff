//! The runs of the last ninety days.

use lanesum_catalog::{Class, Outcome, Profile};
use maud::{Markup, html};

use crate::web::rows;
use crate::web::view::{CLASSES, Context, Folder, Past};
use crate::web::words::{bytes, count, files, of};

/// Days that are shown.
pub const DAYS: i64 = 90;
/// Runs that are listed of each kind.
const MOST: usize = 20;

/// The newest runs, apart: those that need attention, and the others.
#[derive(Debug, Default)]
pub struct Runs {
    problems: Vec<Past>,
    problems_total: u64,
    others: Vec<Past>,
    others_total: u64,
}

impl Runs {
    /// Adds a run over a root of this profile. The newest come first.
    pub fn add(&mut self, run: Past, profile: Profile) {
        let (list, total) = match run.needs_attention(profile) {
            true => (&mut self.problems, &mut self.problems_total),
            false => (&mut self.others, &mut self.others_total),
        };
        *total += 1;
        if list.len() < MOST {
            list.push(run);
        }
    }
}

pub fn section(context: &Context, folders: &[Folder], runs: &Runs) -> Markup {
    html! {
        section #runs data-live aria-labelledby="runs-head" hidden[folders.is_empty()] {
            h2 #runs-head { "Runs of the last " (DAYS) " days" }
            @if runs.problems_total == 0 { p { "No run found problems." } }
            @else {
                (table(context, folders, &runs.problems))
                @if runs.problems_total > MOST as u64 {
                    p { "The newest " (MOST) " of " (of(runs.problems_total, "run")) " with problems." }
                }
            }
            @if runs.others_total > 0 {
                details #other-runs {
                    summary { (of(runs.others_total, "run")) " without problems" }
                    @if runs.others_total > MOST as u64 { p { "The newest " (MOST) ":" } }
                    (table(context, folders, &runs.others))
                }
            }
        }
    }
}

fn table(context: &Context, folders: &[Folder], runs: &[Past]) -> Markup {
    html! {
        table {
            thead { tr { th { "Started" } th { "Run" } th { "Folder" } th { "Read" } th { "Found" } } }
            tbody { @for run in runs { (row(context, folders, run)) } }
        }
    }
}

fn row(context: &Context, folders: &[Folder], run: &Past) -> Markup {
    let folder = folders.iter().find(|folder| folder.id == run.root);
    let newest = folder.and_then(|folder| folder.last.as_ref().filter(|_| folder.is_running));
    let is_running = newest.is_some_and(|newest| newest.started == run.started);
    let outcome = outcome(run, is_running);
    html! {
        tr {
            td data-label="Started" { (context.time(run.started)) }
            td data-label="Run" { (run.verb.name()) @if let Some(words) = outcome { ", " (words) } }
            td data-label="Folder" {
                @match folder { Some(folder) => (rows::path(&folder.path)), None => "no longer in the catalog" }
            }
            td data-label="Read" { (files(run.files)) ", " (bytes(run.bytes)) }
            td data-label="Found" { (found(run)) }
        }
    }
}

/// Files that are not `ok`, by class. Damaged and missing ones are red.
fn found(run: &Past) -> Markup {
    let number = |class: &Class| run.counts.get(class).copied().unwrap_or(0);
    // Offline is how the run ended.
    let is_shown = |class: &&Class| !matches!(class, Class::Ok | Class::Offline);
    let counted = CLASSES.iter().filter(is_shown).filter(|class| number(class) > 0);
    let counted: Vec<_> = counted.map(|class| (*class, number(class))).collect();
    let is_bad = |class| matches!(class, Class::Damaged | Class::Missing);
    html! {
        @if counted.is_empty() { "nothing" }
        @for (place, (class, number)) in counted.into_iter().enumerate() {
            @if place > 0 { ", " }
            span class=[is_bad(class).then_some("bad")] { (count(number)) " " (class) }
        }
    }
}

/// A run in one line: `scrub, 2026-11-24 21:03 +01:00, stopped at a limit, 512 files read`.
pub fn words(context: &Context, run: &Past, is_running: bool) -> Markup {
    html! {
        (run.verb.name()) ", " (context.time(run.started))
        @if let Some(words) = outcome(run, is_running) { ", " (words) }
        ", " (files(run.files)) " read"
    }
}

/// How a run ended, unless it is complete.
fn outcome(run: &Past, is_running: bool) -> Option<&'static str> {
    Some(match run.outcome {
        Outcome::Complete => return None,
        Outcome::Begun if is_running => "in progress",
        Outcome::Begun => "interrupted",
        Outcome::Partial => "some files unchecked",
        Outcome::Offline => "folder offline",
        Outcome::Limited => "stopped at a limit",
        Outcome::Paused => "paused",
        Outcome::Part => "one part",
        Outcome::TooManyEdits => "stopped: too many edits",
        Outcome::CatalogDamaged => "stopped: catalog damaged",
        outcome => outcome.name(),
    })
}
