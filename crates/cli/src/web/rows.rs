//! A row for each file, with its details folded.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use lanesum_catalog::{Class, Content, Reason};
use maud::{Markup, html};

use crate::web::commands::{block, command_for};
use crate::web::view::{Context, File};
use crate::web::words::{bytes, files, sentence, shown};

/// Rows of one class.
pub fn list(context: &Context, list: &[File]) -> Markup {
    html! {
        ul class="rows" {
            @for file in list { li { (row(context, file)) } }
        }
    }
}

/// The word of a class, in its colour.
pub fn badge(class: Class) -> Markup {
    html! { span class={ "badge " (class) } { (class) } }
}

/// A path, which may be of any direction and length.
pub fn path(path: &Path) -> Markup {
    html! { bdi { (shown(path.as_os_str().as_bytes())) } }
}

fn row(context: &Context, file: &File) -> Markup {
    let name = html! {
        (badge(file.class)) " "
        bdi class="name" { (shown(&file.name)) }
        @if let Some(words) = brief(file) { " " span class="brief" { (words) } }
    };
    html! {
        @match file.id {
            Some(id) => details id={ "file-" (id) } {
                summary { (name) }
                (details(context, file))
                p { a href={ "/file/" (id) } { (link_text(file.class)) } }
            }
            None => div class="row" { (name) }
        }
    }
}

/// The page of a file has its history, and a copy of lost content.
const fn link_text(class: Class) -> &'static str {
    match class {
        Class::Damaged | Class::Missing => "History and copies",
        _ => "History",
    }
}

/// Why, in some words.
fn brief(file: &File) -> Option<String> {
    if let (Class::Moved, Some(moved_to)) = (file.class, &file.moved_to) {
        return Some(format!("to {}", shown(moved_to.as_os_str().as_bytes())));
    }
    if file.files > 1 {
        return Some(format!("{} below it, {}", files(file.files), file.reason?));
    }
    let words = match file.reason? {
        Reason::Content => "content changed",
        Reason::Size => "size changed",
        Reason::Truncated => "truncated",
        Reason::Rewritten => "rewritten",
        Reason::Replaced => "replaced",
        Reason::Unstable => "two reads differ",
        Reason::Older => "older than recorded",
        Reason::Copy => "copy of a recorded file",
        Reason::Permission => "no permission to read",
        Reason::IoError => "I/O error",
        Reason::Busy => "in use",
        Reason::MountedOver => "mounted over",
        Reason::Listed => "differs from a list",
        reason => reason.name(),
    };
    Some(words.to_owned())
}

/// Why, as a sentence.
fn because(reason: Reason) -> Option<&'static str> {
    Some(match reason {
        Reason::Content => "The content changed. Size, time and inode did not.",
        Reason::Size => "The size changed. The modification time did not.",
        Reason::Truncated => "The file lost its end. The modification time did not change.",
        Reason::Rewritten => "A program wrote to the file and set its modification time back.",
        Reason::Replaced => "A different file with the recorded modification time is in its place.",
        Reason::Unstable => "Two reads returned different contents.",
        Reason::Older => "The modification time is older than the recorded one.",
        Reason::Permission => "lanesum has no permission to read the file.",
        Reason::IoError => "The disk returned an error.",
        Reason::Busy => "A program had the file open for writing, or it changed during the read.",
        Reason::MountedOver => "A file system is mounted over the file.",
        Reason::Listed => "The content differs from an imported list.",
        _ => return None,
    })
}

/// Reason, dates, contents and commands of a file.
pub fn details(context: &Context, file: &File) -> Markup {
    let differing = (file.recorded.as_ref(), file.found.as_ref());
    html! {
        dl {
            @if let Some(words) = file.reason.and_then(because) { dt { "Reason" } dd { (words) } }
            @if let Some(error) = &file.error { dt { "Error" } dd { (sentence(error)) } }
            @if let Some(moved_to) = &file.moved_to { dt { "Now at" } dd { (path(moved_to)) } }
            @if file.since > 0 { dt { "Since" } dd { (context.time_and_age(file.since)) } }
            dt { "Last verified" }
            dd { @if file.verified > 0 { (context.time_and_age(file.verified)) } @else { "never" } }
            @if let Some(recorded) = &file.recorded { dt { "Recorded" } dd { (content(context, recorded, None)) } }
            @if let (recorded, Some(found)) = differing { dt { "Found" } dd { (content(context, found, recorded)) } }
        }
        @for (words, verb) in remedies(file.class) {
            p { (words) }
            (block(&command_for(&context.catalog, verb, &[file.place()])))
        }
    }
}

/// Commands that are about one file.
const fn remedies(class: Class) -> &'static [(&'static str, &'static str)] {
    match class {
        Class::Damaged => &[("Keep the file as it is now:", "accept")],
        Class::Missing => &[("Delete the record:", "forget")],
        _ => &[],
    }
}

/// Size, time and digests; those that are not as recorded stand out.
pub fn content(context: &Context, it: &Content, recorded: Option<&Content>) -> Markup {
    let mark = |differs: bool| differs.then_some("differs");
    let is_other_time = recorded.is_some_and(|recorded| recorded.modified != it.modified);
    html! {
        span class=[mark(recorded.is_some_and(|recorded| recorded.size != it.size))] {
            (bytes(it.size.max(0).cast_unsigned()))
        }
        ", modified "
        span class=[mark(is_other_time)] { (context.modified(it.modified)) }
        @for digest in it.digests.iter() {
            @let is_other = recorded.is_some_and(|recorded| recorded.digests.iter().all(|it| it != digest));
            br; (digest.algorithm()) " " code class=[mark(is_other)] { (digest) }
        }
    }
}
