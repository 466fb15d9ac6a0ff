//! What was done in ninety days.

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use lanesum_catalog::{Catalog, CatalogError, Class, Overview, Run};
use maud::{Markup, html};

use crate::svg::{Bar, bars};
use crate::words::{DAY, bytes, files, moment, outcome, shown};

const DAYS: usize = 90;
/// Runs that are told of one by one.
const RUNS: usize = 20;

#[derive(Clone, Default)]
struct Day {
    files: u64,
    bytes: u64,
    /// Files that were found damaged or missing.
    damaged: u64,
}

/// A bar for each day, by UTC, and the newest runs.
pub fn section(catalog: &Catalog, all: &[Overview], now: i64) -> Result<Markup, CatalogError> {
    let first = now.div_euclid(DAY) - (DAYS as i64 - 1);
    let mut days = vec![Day::default(); DAYS];
    let mut newest: Vec<(i64, Run)> = Vec::new();
    catalog.runs_since(first * DAY, &mut |root, run| {
        let place = usize::try_from(run.started.div_euclid(DAY) - first).unwrap_or(DAYS);
        if let Some(day) = days.get_mut(place) {
            day.files += run.files.max(0).cast_unsigned();
            day.bytes += run.bytes.max(0).cast_unsigned();
            day.damaged += damaged(&run);
        }
        if newest.len() < RUNS {
            newest.push((root, run));
        }
    })?;
    let names: HashMap<i64, String> =
        all.iter().map(|it| (it.root.id(), shown(it.root.path.as_os_str().as_bytes()))).collect();
    let most = days.iter().map(|day| day.bytes).max().unwrap_or(0).max(1) as f64;
    let drawn: Vec<_> =
        days.iter().enumerate().map(|(place, day)| bar(first + place as i64, day, most)).collect();
    let total = days.iter().fold(Day::default(), |sum, day| Day {
        files: sum.files + day.files,
        bytes: sum.bytes + day.bytes,
        damaged: sum.damaged + day.damaged,
    });
    let summary = format!("{} and {} were read", files(total.files), bytes(total.bytes));
    Ok(html! {
        section #history data-live aria-labelledby="history-head" {
            h2 #history-head { "The last " (DAYS) " days" }
            p { (summary) ". Red: a day on which damage was found." }
            (bars(&drawn, &summary))
            p class="axis" aria-hidden="true" { span { (DAYS) " days ago" } span { "today" } }
            div class="scroll" tabindex="0" role="region" aria-label="The newest runs" {
                table {
                    thead { tr { th { "Began" } th { "What" } th { "Folder" } th { "Came to" } th { "Read" } th { "Damaged, missing" } } }
                    tbody { @for (root, run) in &newest { (row(run, names.get(root), catalog.path())) } }
                }
            }
        }
    })
}

/// What is missing is damage to those that take nothing up.
fn damaged(run: &Run) -> u64 {
    let is_missing = |class| class == Class::Missing && matches!(&*run.verb, "audit" | "scrub");
    let damage = run.counts.iter().filter(|&(&class, _)| class.is_damage() || is_missing(class));
    damage.map(|(_, number)| number).sum()
}

fn bar(day: i64, it: &Day, most: f64) -> Bar {
    let date = moment(day * DAY);
    let date = date.split(' ').next().unwrap_or_default();
    let mut title = format!("{date}: {}, {}", files(it.files), bytes(it.bytes));
    if it.damaged > 0 {
        title += &format!(", {} damaged or missing", it.damaged);
    }
    let share = it.bytes as f64 / most;
    // Damage is seen on whatever day.
    let (share, class) = if it.damaged > 0 { (share.max(0.2), "late") } else { (share, "young") };
    Bar { share, class, title }
}

fn row(run: &Run, folder: Option<&String>, catalog: &Path) -> Markup {
    let damaged = damaged(run);
    html! {
        tr {
            td data-label="Began" { (moment(run.started)) }
            td data-label="What" { (run.verb) }
            td data-label="Folder" { @match folder { Some(name) => bdi { (name) }, None => "one that is forgotten" } }
            td data-label="Came to" { (outcome(run, catalog)) }
            td data-label="Read" { (files(run.files.max(0).cast_unsigned())) ", " (bytes(run.bytes.max(0).cast_unsigned())) }
            td data-label="Damaged, missing" class=[(damaged > 0).then_some("bad")] { (damaged) }
        }
    }
}
