//! The page of one file, and the pages that list many.

use std::path::PathBuf;

use lanesum_catalog::{Class, Event, Reason};
use maud::{Markup, html};

use crate::web::pages;
use crate::web::rows::{self, badge, path};
use crate::web::view::{Context, File, Folder};
use crate::web::words::of;

/// Files on a page of a list.
pub const PAGE: usize = 50;

/// The page of a file.
pub fn page(context: &Context, file: &File, copy: Option<&PathBuf>, events: &[Event]) -> Markup {
    html! {
        (pages::begin("File - lanesum", false))
        (pages::header(context))
        main {
            p { a href="/" { "All folders" } }
            h1 class="path" { (badge(file.class)) " " (path(&file.path)) }
            section class="card" {
                (rows::details(context, file))
                @if let Some(copy) = copy.filter(|copy| **copy != file.path) {
                    p { "A file with the recorded content is recorded at:" }
                    p { (path(copy)) }
                }
            }
            section {
                h2 { "History" }
                @if events.is_empty() { p { "The log has no entry about this path." } }
                @else { ul class="rows" { @for event in events { li { (entry(context, event)) } } } }
            }
        }
        (pages::end())
    }
}

/// An entry of the log.
fn entry(context: &Context, event: &Event) -> Markup {
    let finding = &event.finding;
    let words = match (finding.class, finding.reason, finding.was) {
        (Class::Ok, Some(Reason::Hardware), _) => Some("the first of two reads was wrong"),
        (Class::Ok, _, Some(_)) => Some("as recorded again"),
        (_, reason, _) => reason.map(Reason::name),
    };
    let summary = html! {
        (badge(finding.class)) " " (context.time(event.at))
        @if let Some(words) = words { " " span class="brief" { (words) } }
    };
    let has_contents = finding.recorded.is_some() || finding.found.is_some();
    html! {
        @if has_contents || finding.error.is_some() || finding.other.is_some() {
            details {
                summary { (summary) }
                dl {
                    @if let Some(error) = &finding.error { dt { "Error" } dd { (crate::web::words::sentence(error)) } }
                    @if let Some(other) = &finding.other { dt { "Recorded at" } dd { (path(other)) } }
                    @if let Some(it) = &finding.recorded { dt { "Recorded" } dd { (rows::content(context, it, None)) } }
                    @if let Some(it) = &finding.found {
                        dt { "Found" } dd { (rows::content(context, it, finding.recorded.as_ref())) }
                    }
                }
            }
        } @else {
            div class="row" { (summary) }
        }
    }
}

/// A page of the files of one class in one folder, those that [`load::files`] gives `after`.
///
/// [`load::files`]: crate::web::load::files
pub fn list(
    context: &Context,
    folder: &Folder,
    class: Class,
    after: i64,
    files: &[File],
) -> Markup {
    let last = files.last().filter(|_| files.len() == PAGE);
    // Files without a record have no id, and are counted.
    let next = last.map(|file| file.id.unwrap_or(after + PAGE as i64));
    html! {
        (pages::begin("Files - lanesum", false))
        (pages::header(context))
        main {
            p { a href="/" { "All folders" } }
            h1 class="path" { (of(folder.count(class), &format!("{class} file"))) " in " (path(&folder.path)) }
            @if files.is_empty() { p { "These are all files." } }
            @else { (rows::list(context, files)) }
            @if let Some(next) = next {
                p { a href={ "/files/" (folder.id) "/" (class) "?after=" (next) } { "Next files" } }
            }
        }
        (pages::end())
    }
}
