//! Folders that need attention: damaged, missing and unchecked files, and what to do about them.

use lanesum_catalog::{Attention, Class, Outcome, Reason};
use maud::{Markup, html};

use crate::web::commands::{block, command, command_for};
use crate::web::folders::button;
use crate::web::rows;
use crate::web::view::{Away, Context, File, Folder, Lists};
use crate::web::words::{count, files, of};

pub fn section(context: &Context, folders: &[Folder], lists: &Lists) -> Markup {
    let needs = |folder: &&Folder| folder.attention >= Attention::Incomplete;
    let needing: Vec<_> = folders.iter().filter(needs).collect();
    html! {
        section #attention data-live hidden[needing.is_empty()] aria-labelledby="attention-head" {
            h2 #attention-head { "Needs attention" }
            @for folder in needing { (article(context, folder, lists)) }
        }
    }
}

fn article(context: &Context, folder: &Folder, lists: &Lists) -> Markup {
    let class = match (&folder.offline, folder.attention) {
        (Some(_), _) => "card off",
        (None, Attention::Problem) => "card problem",
        (None, _) => "card incomplete",
    };
    let shown: Vec<_> =
        folder.problems().map(|class| (class, lists.of(folder.id, class))).collect();
    html! {
        article class=(class) {
            h3 { a href={ "#folder-" (folder.id) } { (rows::path(&folder.path)) } }
            @if let Some(away) = &folder.offline { (offline(context, folder, away)) }
            (notices(context, folder))
            @for (class, list) in &shown {
                @if !list.is_empty() { (rows::list(context, list)) }
                (more(folder, *class, list))
            }
            (remedies(context, &shown))
        }
    }
}

/// A link to all files of a class, where not all of them are shown.
pub fn more(folder: &Folder, class: Class, list: &[File]) -> Markup {
    let all = folder.count(class);
    html! {
        @if all > list.len() as u64 && list.len() == Lists::MOST {
            p { a href={ "/files/" (folder.id) "/" (class) } { "All " (count(all)) " " (class) " files" } }
        }
    }
}

fn offline(context: &Context, folder: &Folder, away: &Away) -> Markup {
    let path = &folder.path;
    let for_folder = |verb| block(&command_for(&context.catalog, verb, &[path]));
    html! {
        p { (rows::badge(Class::Offline)) " " (why_offline(folder, away)) " Nothing in it is checked." }
        p { "Offline since " (context.time_and_age(away.since)) }
        @match away.reason {
            Reason::TooManyMissing => {
                p { "Restore the files. If you deleted them, run:" }
                (for_folder("update --max-gone 100"))
            }
            Reason::Unreadable => p { "Check the disk and the permissions of the folder." }
            Reason::OtherVolume => {
                p { "Connect the right disk. If the files were copied to this disk, run:" }
                (block(&command_for(&context.catalog, "relocate", &[path, path])))
            }
            _ => {
                p { "Connect the disk. If the folder has a new path, run:" }
                (block(&(command_for(&context.catalog, "relocate", &[path]) + " NEW_PATH")))
            }
        }
    }
}

/// Why a folder is offline, as a sentence.
pub fn why_offline(folder: &Folder, away: &Away) -> String {
    match away.reason {
        Reason::Empty => "The folder is empty.".to_owned(),
        Reason::OtherVolume => "A different disk or folder is at this path.".to_owned(),
        Reason::Unreadable => "The folder cannot be read.".to_owned(),
        Reason::TooManyMissing => format!(
            "{} of {} are missing, more than the allowed {} %.",
            count(away.missing),
            files(folder.files),
            folder.settings.max_gone
        ),
        _ => "The folder is missing.".to_owned(),
    }
}

/// Gaps that are not about single files.
fn notices(context: &Context, folder: &Folder) -> Markup {
    let for_folder = |verb| block(&command_for(&context.catalog, verb, &[&folder.path]));
    html! {
        @if folder.has_ended(Outcome::CatalogDamaged) {
            p { "The last run found the catalog itself damaged. To check it, run:" }
            (block(&command(&context.catalog, "catalog check")))
        }
        @if !folder.is_complete && !folder.is_running {
            p { "The first " code { "add" } " did not finish. Not all files are recorded. To continue, run:" }
            (for_folder("add"))
        }
        @if folder.has_ended(Outcome::TooManyEdits) {
            p { code { "update" } " stopped because it would record too many edits. If you made them, run:" }
            (for_folder("update --force"))
        }
        @if folder.unknown > 0 {
            p { (files(folder.unknown)) " could not be checked: they, or a folder above them, cannot be read." }
        }
        @if folder.overdue > 0 {
            p {
                (files(folder.overdue)) " overdue: last verified more than "
                (of(folder.settings.overdue_after_days().into(), "day")) " ago."
            }
            @if folder.steering.paused.is_none() { (button(context, folder, "check", "Verify due files")) }
        }
    }
}

/// The commands that help, once for all files.
fn remedies(context: &Context, shown: &[(Class, &[File])]) -> Markup {
    let of_class = |class| shown.iter().find(|(it, _)| *it == class).map_or(&[][..], |it| it.1);
    let (damaged, missing) = (of_class(Class::Damaged), of_class(Class::Missing));
    let unchecked = of_class(Class::Unchecked);
    // One file is named. Of several, the user names some.
    let for_files = |verb, list: &[File]| match list {
        [file] => command_for(&context.catalog, verb, &[file.place()]),
        _ => command(&context.catalog, verb) + " -- PATH",
    };
    html! {
        @if !damaged.is_empty() || !missing.is_empty() {
            p { "Restore from a backup, then run:" }
            (block(&command(&context.catalog, "update")))
        }
        @if !damaged.is_empty() {
            p { "Or keep a damaged file as it is now:" }
            (block(&for_files("accept", damaged)))
        }
        @if !missing.is_empty() {
            p { "Or delete the record of a missing file:" }
            (block(&for_files("forget", missing)))
        }
        @if !unchecked.is_empty() {
            p { "Fix what keeps unchecked files from being read. The next run tries again." }
        }
    }
}
