//! What is not well, and one file.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use lanesum_catalog::{Catalog, CatalogError, Event, Known, Status};
use maud::{Markup, html};

use crate::pages;
use crate::words::{ago, bytes, command, digests, moment, shown};

/// Files of a page.
const FILES: usize = 20;
/// Findings of a file.
const EVENTS: usize = 50;

/// The files that are not well whose ids are greater than `after`.
pub fn section(catalog: &Catalog, after: i64, now: i64) -> Result<Markup, CatalogError> {
    let mut files = catalog.not_well_after(after, FILES + 1)?;
    let more = files.len() > FILES;
    files.truncate(FILES);
    let last = files.last().map(|file| file.id);
    let roots = if after == 0 { catalog.roots()? } else { Vec::new() };
    let suspended: Vec<_> =
        roots.iter().filter_map(|root| Some((root, root.suspended.as_deref()?))).collect();
    Ok(html! {
        section #bad data-live aria-labelledby="bad-head" {
            @if files.is_empty() && after == 0 && suspended.is_empty() {
                h2 #bad-head { "No file is known to be damaged or missing" }
                p { "This says nothing of what was not looked at: see each folder." }
            } @else {
                h2 #bad-head class="bad" { "Not well" }
                @if after != 0 { p { a href="/" { "To the first ones" } } }
                @if files.is_empty() && after != 0 { p { "There are no more." } }
                @for (root, why) in &suspended {
                    article {
                        h3 {
                            span class="badge" { "suspended" } " "
                            a href={ "#folder-" (root.id()) } { bdi { (shown(root.path.as_os_str().as_bytes())) } }
                        }
                        p {
                            (shown(why.as_bytes())) ". Nothing of it is read. Mount or put back what belongs there. "
                            "If that is as it is to be, this tells what to do: "
                            code { (command(catalog.path(), "status", Some(&root.path))) }
                        }
                    }
                }
                @for file in &files { (article(catalog.path(), file, now)) }
                @if let Some(last) = last.filter(|_| more) {
                    p { a href={ "/?after=" (last) } { "More that is not well" } }
                }
            }
        }
    })
}

fn article(catalog: &Path, file: &Known, now: i64) -> Markup {
    html! {
        article {
            h3 { span class="badge" { (file.standing()) } " " (link(file)) }
            (facts(catalog, file, now))
        }
    }
}

fn link(file: &Known) -> Markup {
    html! { a href={ "/file/" (file.id) } { (names(file)) } }
}

/// What it is cataloged by, and where it is now if that is elsewhere.
fn names(file: &Known) -> Markup {
    let name = |path: &Path| html! { bdi { (shown(path.as_os_str().as_bytes())) } };
    html! {
        (name(&file.path))
        @if let Some(place) = &file.elsewhere { " → " (name(place)) }
    }
}

/// When it was well, what it was, what it is, what to do.
fn facts(catalog: &Path, file: &Known, now: i64) -> Markup {
    let after = file.found.as_ref().and_then(|it| it.finding.after.as_deref());
    let found = after.map(digests).unwrap_or_default();
    html! {
        dl {
            dt { "Last good" }
            dd {
                @if file.last_good == 0 { "never read before" }
                @else { (moment(file.last_good)) ", " (ago(file.last_good, now)) }
            }
            @if let Some(event) = &file.found {
                dt { "Found" } dd { (moment(event.at)) }
                @if let Some(why) = event.finding.why() { dt { "Because" } dd { (shown(why.as_bytes())) } }
            }
            @for digest in file.digests.iter() {
                @let name = digest.algorithm().to_string();
                dt { (name) " cataloged" } dd { code { (digest) } }
                @if let Some((_, value)) = found.iter().find(|(it, _)| *it == name) {
                    dt { (name) " found" } dd { code class="bad" { (shown(value.as_bytes())) } }
                }
            }
        }
        @if !file.status.is_good() {
            p class="do" { (remedy(catalog, file)) }
        }
    }
}

/// What to do with a file that is not well.
fn remedy(catalog: &Path, file: &Known) -> Markup {
    let run = |verb| html! { code { (command(catalog, verb, None)) } };
    let of_file = |verb, path: &Path| html! { code { (command(catalog, verb, Some(path))) } };
    html! {
        @match file.status {
            Status::Changed if file.found.as_ref().is_some_and(|it| it.finding.may_be_rot()) => {
                "Hold it against a copy. If it is right as it is: " (of_file("accept", file.place()))
                " If it has rotted, put back a good copy, and run: " (run("audit"))
            }
            Status::Changed => { "It is taken up by " (run("update")) }
            Status::Busy | Status::Hidden => { "It is read again by " (run("audit")) }
            Status::Missing => {
                "Put back a good copy, and run: " (run("update"))
                " If it is gone for good: " (of_file("forget", &file.path))
            }
            Status::Unreadable => {
                "Mend what keeps it from being read, or put back a good copy, and run: "
                (run("update")) " If it is right as it is: " (of_file("accept", file.place()))
            }
            _ if file.is_gone => {
                "It is gone. Put back a good copy, and run: " (run("update"))
                " If it is gone for good: " (of_file("forget", &file.path))
            }
            _ => {
                "Put back a good copy, and run: " (run("update"))
                " If it is right as it is: " (of_file("accept", file.place()))
            }
        }
    }
}

/// The page of a file, if it is cataloged.
pub fn file(catalog: &Catalog, id: i64, now: i64) -> Result<Option<Markup>, CatalogError> {
    let Some(file) = catalog.known_file(id)? else { return Ok(None) };
    let events = catalog.events_of(&file, EVENTS)?;
    let is_good = file.status.is_good();
    Ok(Some(html! {
        (pages::begin("A file - lanesum", false))
        main {
            p { a href="/" { "To the page" } }
            h1 { (names(&file)) }
            p {
                span class=(if is_good { "badge good" } else { "badge" }) { (file.standing()) }
                @if let Ok(size) = file.size.try_into() { " " (bytes(size)) " as cataloged" }
            }
            (facts(catalog.path(), &file, now))
            h2 { "Found of it" }
            @if events.is_empty() { p { "Nothing, under this name, among the newest 100,000 findings." } }
            @else { (table(&events)) }
        }
        (pages::end())
    }))
}

fn table(events: &[Event]) -> Markup {
    let words = |words: &Option<String>| shown(words.as_deref().unwrap_or_default().as_bytes());
    html! {
        div class="scroll" tabindex="0" role="region" aria-label="What was found" {
            table {
                thead { tr { th { "When" } th { "What" } th { "Before" } th { "After" } } }
                tbody {
                    @for event in events {
                        tr {
                            td data-label="When" { (moment(event.at)) }
                            td data-label="What" class=[event.finding.class.is_damage().then_some("bad")] { (event.finding.class) }
                            td data-label="Before" { code { (words(&event.finding.before)) } }
                            td data-label="After" { code { (words(&event.finding.after)) } }
                        }
                    }
                }
            }
        }
    }
}
