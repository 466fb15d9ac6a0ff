//! Edited, new and moved files, which need no attention.

use lanesum_catalog::Class;
use maud::{Markup, html};

use crate::web::attention::more;
use crate::web::commands::{block, command};
use crate::web::rows;
use crate::web::view::{Context, Folder, Lists};
use crate::web::words::count;

pub fn section(context: &Context, folders: &[Folder], lists: &Lists) -> Markup {
    let changed: Vec<_> = folders.iter().filter(|folder| !counts(folder).is_empty()).collect();
    html! {
        section #changes data-live hidden[changed.is_empty()] aria-labelledby="changes-head" {
            h2 #changes-head { "Changes since the last update" }
            @if !changed.is_empty() {
                div class="card quiet" {
                    @for folder in &changed { (one(context, folder, lists)) }
                    p { "If you made these changes, nothing is wrong. To record them, run:" }
                    (block(&command(&context.catalog, "update")))
                }
            }
        }
    }
}

/// The classes that changed in a folder, with their counts.
fn counts(folder: &Folder) -> Vec<(Class, u64)> {
    let counted = folder.changes().map(|class| (class, folder.count(class)));
    counted.filter(|(_, number)| *number > 0).collect()
}

fn one(context: &Context, folder: &Folder, lists: &Lists) -> Markup {
    let counts = counts(folder);
    let words: Vec<_> =
        counts.iter().map(|(class, number)| format!("{} {class}", count(*number))).collect();
    html! {
        details id={ "changes-" (folder.id) } {
            summary { (rows::path(&folder.path)) ": " (words.join(", ")) }
            @for (class, _) in &counts {
                @let list = lists.of(folder.id, *class);
                (rows::list(context, list))
                (more(folder, *class, list))
            }
        }
    }
}
