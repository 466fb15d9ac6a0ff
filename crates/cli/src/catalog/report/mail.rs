//! The report as a mail: the first line is the subject, and each problem follows with a hint.

use std::path::{Path, PathBuf};

use indicatif::HumanCount;
use lanesum_catalog::{Attention, Catalog, CatalogError, Class, Content, FileStatus, Root};
use lanesum_list::Digests;

use crate::args::Where;
use crate::catalog::commands::Commands;
use crate::catalog::json::hex;
use crate::catalog::print::name;
use crate::catalog::standing::{Standing, file_hints, file_line, pending_hint, pending_line};
use crate::catalog::status::hint;
use crate::catalog::times::{last_verified, moment};
use crate::console::Console;

/// Prints the mail.
///
/// # Errors
/// Errors of the catalog and of standard output.
pub fn print(
    place: &Where,
    catalog: &Catalog,
    standing: &Standing,
    console: &mut Console,
) -> Result<(), CatalogError> {
    let bad = standing.bad_files(catalog, usize::MAX)?;
    let copies = copies(catalog, &bad)?;
    let mut text = subject(standing, console);
    text.extend_from_slice(b"\n\n");
    for line in standing.table(console) {
        text.extend_from_slice(format!("{line}\n").as_bytes());
    }
    for (file, copy) in bad.iter().zip(&copies) {
        text.push(b'\n');
        problem(&mut text, file, copy.as_deref(), Commands { place, console });
        super::print_some(&mut text, super::AT_ONCE, console).map_err(CatalogError::Output)?;
    }
    for it in standing.unread_directories(catalog)? {
        text.push(b'\n');
        text.extend(pending_line(&it, console));
        hint(&mut text, &pending_hint(&it, Commands { place, console }));
    }
    for it in &standing.roots {
        for (words, command) in standing.notices(it, Commands { place, console }) {
            text.push(b'\n');
            console.quote(&mut text, name(&it.root.path));
            text.extend_from_slice(format!(": {words}\n").as_bytes());
            if let Some(command) = command {
                hint(&mut text, &command);
            }
        }
    }
    super::print_some(&mut text, 1, console).map_err(CatalogError::Output)
}

/// For each damaged or missing file, another recorded file with its content.
fn copies(catalog: &Catalog, bad: &[FileStatus]) -> Result<Vec<Option<PathBuf>>, CatalogError> {
    let is_lost = |file: &FileStatus| matches!(file.class, Class::Damaged | Class::Missing);
    let lost = bad.iter().filter(|file| is_lost(file));
    let digests: Vec<Digests> = lost.map(|file| file.recorded.digests.clone()).collect();
    let mut found = catalog.find_copies(&digests)?.into_iter();
    Ok(bad.iter().map(|file| if is_lost(file) { found.next().flatten() } else { None }).collect())
}

/// `lanesum: 2 damaged, 1 missing - photos`.
fn subject(standing: &Standing, console: &Console) -> Vec<u8> {
    let words = standing.problems().unwrap_or_else(|| standing.verdict());
    let mut subject = format!("lanesum: {words} - ").into_bytes();
    // Returns the roots of the mail, or all if none needs attention.
    let is_urgent = |it: &&lanesum_catalog::RootStatus| it.attention() > Attention::Nothing;
    let is_any_urgent = standing.roots.iter().any(|it| is_urgent(&it));
    let roots = standing.roots.iter().filter(|it| !is_any_urgent || is_urgent(it));
    for (place, it) in roots.enumerate() {
        if place > 0 {
            subject.extend_from_slice(b", ");
        }
        let last = last_name(&it.root);
        let same = standing.roots.iter().filter(|other| last_name(&other.root) == last);
        console.quote(&mut subject, name(if same.count() > 1 { &it.root.path } else { last }));
    }
    subject
}

/// Returns the last part of a root's path.
fn last_name(root: &Root) -> &Path {
    root.path.file_name().map_or(&*root.path, Path::new)
}

/// Prints a file: its record, the finding, and the hint.
fn problem(text: &mut Vec<u8>, file: &FileStatus, copy: Option<&Path>, commands: Commands<'_>) {
    let console = commands.console;
    text.extend(file_line(file, console));
    let since = match file.since {
        0 => String::new(),
        since => format!("; {} since {}", file.class, moment(since)),
    };
    let mut facts = vec![
        format!("recorded: {}", content(&file.recorded)),
        format!("verified: {}{since}", last_verified(file.verified)),
    ];
    facts.extend(file.found.as_ref().map(|found| format!("found: {}", content(found))));
    facts.extend(copy.map(|copy| format!("same content: {}", console.shown(copy))));
    for fact in facts {
        text.extend_from_slice(format!("  {fact}\n").as_bytes());
    }
    file_hints(file, commands).iter().for_each(|it| hint(text, it));
}

/// `1,234 bytes, modified 2026-11-24 21:03 +01:00, md5 900150983cd24fb0d6963f7d28e17f72`.
fn content(it: &Content) -> String {
    let (size, modified) = (HumanCount(it.size.max(0).cast_unsigned()), it.modified);
    let mut words =
        format!("{size} bytes, modified {}", moment(modified.div_euclid(1_000_000_000)));
    for digest in it.digests.iter() {
        words += &format!(", {} {}", digest.algorithm(), hex(digest));
    }
    words
}
