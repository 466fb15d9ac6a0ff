//! Each folder: its files, the age of their verifications, its schedule, and buttons.

use lanesum_catalog::{Class, Window};
use maud::{Markup, html};

use crate::web::ages;
use crate::web::attention::why_offline;
use crate::web::commands::{block, command};
use crate::web::pages::token;
use crate::web::rows::{self, badge};
use crate::web::runs;
use crate::web::view::{CLASSES, Context, Folder, Gone, Lists};
use crate::web::words::{bytes, count, files, of, shown};

pub fn section(context: &Context, folders: &[Folder], lists: &Lists) -> Markup {
    html! {
        section aria-labelledby="folders-head" hidden[folders.is_empty()] {
            h2 #folders-head { "Folders" }
            @for folder in folders { (article(context, folder, lists.deleted(folder.id))) }
        }
    }
}

fn article(context: &Context, folder: &Folder, deleted: &[Gone]) -> Markup {
    let id = folder.id;
    let class = if folder.offline.is_some() { "card off" } else { "card" };
    html! {
        article id={ "folder-" (id) } data-live class=(class) {
            h3 { (rows::path(&folder.path)) }
            p class="facts" {
                (files(folder.files)) ", " (bytes(folder.bytes)) ", profile " (folder.settings.profile.name())
                @for algorithm in folder.settings.algorithms.iter() { ", " (algorithm) }
            }
            @if let Some(away) = &folder.offline {
                p { (badge(Class::Offline)) " " (why_offline(folder, away)) }
            }
            (counts(folder))
            @if folder.files > 0 { (ages::figure(folder)) }
            (schedule(context, folder))
            (list_deleted(context, folder, deleted))
            (steer(context, folder))
        }
    }
}

/// Files by class, each with its number.
fn counts(folder: &Folder) -> Markup {
    let counted = CLASSES.iter().map(|class| (*class, folder.count(*class)));
    html! {
        ul class="counts" {
            @if folder.offline.is_some() { li { "Last known:" } }
            @for (class, number) in counted.filter(|(_, number)| *number > 0) {
                li { b { (count(number)) } " " (class) }
            }
        }
    }
}

/// Files of a working folder whose records `update` deleted.
fn list_deleted(context: &Context, folder: &Folder, deleted: &[Gone]) -> Markup {
    html! {
        @if !deleted.is_empty() {
            details id={ "deleted-" (folder.id) } {
                summary { (files(deleted.len() as u64)) " deleted in the last " (runs::DAYS) " days" }
                ul class="rows" {
                    @for gone in deleted.iter().take(Lists::MOST) {
                        li { div class="row" { bdi { (shown(&gone.name)) } " " span class="brief" { (context.time(gone.at)) } } }
                    }
                }
                @if deleted.len() > Lists::MOST {
                    p { "The newest " (Lists::MOST) ". For all of them, run:" }
                    (block(&command(&context.catalog, "report --deleted")))
                }
            }
        }
    }
}

fn schedule(context: &Context, folder: &Folder) -> Markup {
    html! {
        dl {
            @if folder.due > 0 { dt { "Due now" } dd { (files(folder.due)) } }
            @else if let Some(next) = folder.next_due { dt { "Next due" } dd { (context.time(next)) } }
            @if let Some(last) = &folder.last {
                dt { "Last run" } dd { (runs::words(context, last, folder.is_running)) }
            }
            @if let Some(it) = folder.partly_read.filter(|it| it.files > 0) {
                dt { "Partly read" }
                dd { (of(it.files, "long file")) ", " (bytes(it.read)) " of " (bytes(it.of)) }
            }
            dt { "Schedule" } dd { (limits(folder)) }
        }
    }
}

/// The period and the limits: `every 90 days, at most 80.00 MB a second, in 1:00-6:00`.
fn limits(folder: &Folder) -> String {
    let settings = &folder.settings;
    let mut words = match settings.every_days {
        1 => "every day".to_owned(),
        days => format!("every {days} days"),
    };
    if let Some(rate) = settings.rate {
        words += &format!(", at most {} a second", bytes(rate));
    }
    if let Some(hours) = settings.window {
        words += &format!(", in {hours}");
    }
    words
}

/// A form of one button.
pub fn button(context: &Context, folder: &Folder, verb: &str, label: &str) -> Markup {
    html! {
        form method="post" action={ "/folder/" (folder.id) "/" (verb) } {
            (token(context)) button { (label) }
        }
    }
}

/// The buttons and forms of a folder. `accept` and `forget` are commands only.
fn steer(context: &Context, folder: &Folder) -> Markup {
    let steering = &folder.steering;
    let requested = if steering.requests_everything { "all" } else { "due" };
    html! {
        @if let Some(since) = steering.paused {
            p class="note" { "Scrubs are paused since " (context.time(since)) "." }
        } @else if let Some(at) = steering.requested {
            p class="note" { "Verification of " (requested) " files requested at " (context.time(at)) "." }
        }
        div id={ "steer-" (folder.id) } class="steer" {
            // Nothing is read while scrubs are paused.
            @if steering.paused.is_none() {
                (button(context, folder, "check", "Verify due files"))
                (button(context, folder, "verify", "Verify everything"))
                (button(context, folder, "pause", "Pause"))
            } @else {
                (button(context, folder, "resume", "Resume"))
            }
            details id={ "limits-" (folder.id) } { summary { "Change the schedule" } (form(context, folder)) }
        }
    }
}

fn form(context: &Context, folder: &Folder) -> Markup {
    let settings = &folder.settings;
    let rate = settings.rate.map(|rate| (rate as f64 / 1e6).to_string()).unwrap_or_default();
    let hours = settings.window.as_ref().map(Window::to_string).unwrap_or_default();
    html! {
        form method="post" action={ "/folder/" (folder.id) "/limit" } {
            (token(context))
            label {
                "Verify each file every ... days"
                input name="every" type="number" min="1" max="36500" required value=(settings.every_days);
            }
            label {
                "Read at most ... MB a second (empty: no limit)"
                input name="rate" inputmode="decimal" value=(rate);
            }
            label {
                "Read in these hours only, for example 1:00-6:00 (empty: any)"
                input name="between" value=(hours);
            }
            button { "Save" }
        }
    }
}
