//! The front page.

use lanesum_catalog::{Catalog, CatalogError};
use maud::{Markup, PreEscaped, html};

use crate::web::daemon::{Daemon, Reading};
use crate::web::view::{Context, Folder, Lists};
use crate::web::{attention, changes, folders, glossary, live, load, pages, rows, runs, verdict};

/// All that comes before the catalog is read.
pub fn begin(context: &Context) -> Markup {
    html! {
        (pages::begin("lanesum", true))
        (pages::header(context))
        (PreEscaped("<main>"))
        p #lost role="status" hidden { "No answer from lanesum serve. This page may be out of date." }
    }
}

/// Reads the catalog, and gives each part of the page once it is read.
///
/// # Errors
/// Those of the catalog. The parts before the error were given.
pub fn parts(
    context: &Context,
    daemon: &dyn Daemon,
    put: &mut dyn FnMut(Markup),
) -> Result<(), CatalogError> {
    let catalog = Catalog::look(&context.catalog)?;
    let roots = load::folders(&catalog, context.now)?;
    let folders: Vec<_> = roots.iter().map(|(_, folder)| folder.clone()).collect();
    put(first(context, &folders, daemon.reading().as_ref()));
    put(second(context, &folders, &load::lists(&catalog, &roots, context.now)?));
    put(runs::section(context, &folders, &load::runs(&catalog, &roots, context.now)?));
    Ok(())
}

/// The verdict and the progress.
pub fn first(context: &Context, folders: &[Folder], reading: Option<&Reading>) -> Markup {
    html! { (verdict::section(context, folders)) (live::section(reading)) }
}

/// Files, and folders.
pub fn second(context: &Context, folders: &[Folder], lists: &Lists) -> Markup {
    html! {
        (attention::section(context, folders, lists))
        (changes::section(context, folders, lists))
        (folders::section(context, folders, lists))
    }
}

/// The end of the page.
pub fn end(context: &Context) -> Markup {
    html! {
        (glossary::section())
        (PreEscaped("</main>"))
        footer {
            p { "Catalog: " code { (rows::path(&context.catalog)) } }
            p { "lanesum " (env!("CARGO_PKG_VERSION")) }
        }
        (pages::end())
    }
}

/// The whole page, from plain data.
#[cfg(test)]
pub fn whole(
    context: &Context,
    folders: &[Folder],
    lists: &Lists,
    runs: &runs::Runs,
    reading: Option<&Reading>,
) -> String {
    let parts = [
        begin(context),
        first(context, folders, reading),
        second(context, folders, lists),
        runs::section(context, folders, runs),
        end(context),
    ];
    parts.into_iter().map(Markup::into_string).collect()
}
