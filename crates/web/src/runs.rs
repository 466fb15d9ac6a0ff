//! The runs of the last ninety days.

use lanesum_catalog::{Class, Outcome};
use maud::{Markup, html};

use crate::rows;
use crate::view::{CLASSES, Context, Folder, Past};
use crate::words::{bytes, count, files, of};

/// Days that are shown.
pub const DAYS: i64 = 90;
/// Runs that are listed of each kind.
const MOST: usize = 20;

/// The newest runs, apart: those with findings, and the others.
#[derive(Debug, Default)]
pub struct Runs {
    notable: Vec<Past>,
    notable_total: u64,
    usual: Vec<Past>,
    usual_total: u64,
}

impl Runs {
    /// Adds a run. The newest come first.
    pub fn add(&mut self, run: Past) {
        let (list, total) = match run.is_notable() {
            true => (&mut self.notable, &mut self.notable_total),
            false => (&mut self.usual, &mut self.usual_total),
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
            @if runs.notable_total == 0 { p { "No run found anything." } }
            @else {
                (table(context, folders, &runs.notable))
                @if runs.notable_total > MOST as u64 {
                    p { "The newest " (MOST) " of " (of(runs.notable_total, "run")) " with findings." }
                }
            }
            @if runs.usual_total > 0 {
                details #usual-runs {
                    summary { (of(runs.usual_total, "run")) " without findings" }
                    @if runs.usual_total > MOST as u64 { p { "The newest " (MOST) ":" } }
                    (table(context, folders, &runs.usual))
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

/// Files by class but `ok`, the damaged and missing ones in red.
fn found(run: &Past) -> Markup {
    let number = |class: &Class| run.counts.get(class).copied().unwrap_or(0);
    let counted = CLASSES.iter().filter(|class| **class != Class::Ok && number(class) > 0);
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

/// A run in one line: `scrub of 2026-11-24 21:03 +01:00, stopped at a limit, 512 files read`.
pub fn words(context: &Context, run: &Past, is_running: bool) -> Markup {
    html! {
        (run.verb.name()) " of " (context.time(run.started))
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
