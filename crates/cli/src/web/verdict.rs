//! One sentence at the top: how all folders stand.

use lanesum_catalog::{Attention, Class, Outcome};
use maud::{Markup, html};

use crate::web::commands::{block, command};
use crate::web::view::{Context, Folder};
use crate::web::words::{count, files, of};

/// The verdict over all folders.
#[derive(Debug, PartialEq, Eq)]
pub struct Verdict {
    /// None without files.
    attention: Option<Attention>,
    headline: String,
    /// Counts of edits, moves and new files.
    changes: String,
}

impl Verdict {
    pub fn of(folders: &[Folder]) -> Self {
        if folders.is_empty() {
            let headline = "No folder was added yet".to_owned();
            return Self { attention: None, headline, changes: String::new() };
        }
        let problems = problems(folders);
        // Overdue files are `ok` in the catalog, and counted apart here.
        let is_ok = |folder: &Folder| folder.count(Class::Ok).saturating_sub(folder.overdue);
        let ok: u64 = online(folders).map(is_ok).sum();
        let total: u64 = folders.iter().map(|folder| folder.files).sum();
        let headline = match (problems.is_empty(), total) {
            (true, 0) => "No file is recorded".to_owned(),
            (true, _) if ok == total => format!("All {} ok", files(ok)),
            (true, _) => format!("{} ok", files(ok)),
            (false, _) => format!("{}; {} ok", problems.join(", "), count(ok)),
        };
        let attention = folders.iter().map(|folder| folder.attention).max();
        let attention = attention.filter(|_| total > 0 || !problems.is_empty());
        Self { attention, headline, changes: changes(folders).join(", ") }
    }

    const fn class(&self) -> &'static str {
        match self.attention {
            None => "empty",
            Some(Attention::Nothing | Attention::Changes) => "ok",
            Some(Attention::Incomplete) => "incomplete",
            Some(Attention::Problem) => "problem",
        }
    }

    const fn meaning(&self) -> &'static str {
        match self.attention {
            None => "Nothing is checked",
            Some(Attention::Nothing | Attention::Changes) => "Nothing needs attention",
            Some(Attention::Incomplete) => "Not everything was checked",
            Some(Attention::Problem) => "Files need attention",
        }
    }
}

fn online(folders: &[Folder]) -> impl Iterator<Item = &Folder> {
    folders.iter().filter(|folder| folder.offline.is_none())
}

/// Counts of all that needs attention, the most important first.
fn problems(folders: &[Folder]) -> Vec<String> {
    let sum = |number: &dyn Fn(&Folder) -> u64| -> u64 { folders.iter().map(number).sum() };
    let needing = |class: Class| {
        sum(&|folder| match folder.attention_of(class) {
            Attention::Incomplete | Attention::Problem => folder.count(class),
            Attention::Nothing | Attention::Changes => 0,
        })
    };
    let errors = sum(&|folder| folder.io_errors);
    let unchecked = needing(Class::Unchecked).saturating_sub(errors);
    let counted = [
        (needing(Class::Damaged), "damaged"),
        (needing(Class::Missing), "missing"),
        (errors, "unreadable"),
        (unchecked + sum(&|folder| folder.unknown), "unchecked"),
        (sum(&|folder| folder.overdue), "overdue"),
    ];
    let counted = counted.into_iter().filter(|(number, _)| *number > 0);
    let mut parts: Vec<_> =
        counted.map(|(number, word)| format!("{} {word}", count(number))).collect();
    let offline = folders.iter().filter(|folder| folder.offline.is_some()).count() as u64;
    let unfinished = online(folders).filter(|folder| !folder.is_complete).count() as u64;
    let ended = |outcome| online(folders).filter(|folder| folder.has_ended(outcome)).count() as u64;
    if ended(Outcome::CatalogDamaged) > 0 {
        parts.insert(0, "catalog damaged".to_owned());
    }
    for (number, word) in [
        (offline, "offline"),
        (unfinished, "not fully added"),
        (ended(Outcome::TooManyEdits), "not updated"),
    ] {
        if number > 0 {
            parts.push(format!("{} {word}", of(number, "folder")));
        }
    }
    parts
}

fn changes(folders: &[Folder]) -> Vec<String> {
    let classes = [Class::Edited, Class::New, Class::Moved, Class::Missing];
    let number = |class: Class| -> u64 {
        let changing = |folder: &&Folder| folder.attention_of(class) == Attention::Changes;
        online(folders).filter(changing).map(|folder| folder.count(class)).sum()
    };
    let counted = classes.into_iter().map(|class| (class, number(class)));
    let counted = counted.filter(|(_, number)| *number > 0);
    counted.map(|(class, number)| format!("{} {}", count(number), class)).collect()
}

pub fn section(context: &Context, folders: &[Folder]) -> Markup {
    let verdict = Verdict::of(folders);
    let paused = folders.iter().filter(|it| it.steering.paused.is_some()).count() as u64;
    let oldest = online(folders).filter_map(|folder| folder.oldest).min();
    html! {
        div aria-live="polite" {
            section #verdict data-live class={ "verdict " (verdict.class()) } aria-labelledby="headline" {
                (icon(verdict.class()))
                div {
                    p class="meaning" { (verdict.meaning()) }
                    h1 #headline { (verdict.headline) }
                    @if folders.is_empty() {
                        p { "Add a folder. lanesum then reads all of its files and records their digests." }
                        (block(&(command(&context.catalog, "add") + " -- DIR")))
                    }
                    @if !verdict.changes.is_empty() {
                        p { "Changes: " a href="#changes" { (verdict.changes) } }
                    }
                    @if paused > 0 { p { "Scrubs of " (of(paused, "folder")) " are paused." } }
                    @if let Some(oldest) = oldest { p { "Oldest verification: " (context.time_and_age(oldest)) } }
                }
            }
        }
    }
}

/// A shape for each verdict, for users who do not see its colour.
fn icon(class: &str) -> Markup {
    let path = match class {
        "ok" => "M6.5 12.5l3.5 3.5 7.5-8",
        "problem" => "M8 8l8 8M16 8l-8 8",
        "incomplete" => "M12 6.5v7M12 16.5v1",
        _ => "M8 12h8",
    };
    html! {
        svg class="icon" viewBox="0 0 24 24" aria-hidden="true" {
            circle cx="12" cy="12" r="11" {}
            path d=(path) {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::samples;

    fn verdict(change: impl FnOnce(&mut Folder)) -> (&'static str, String, String) {
        let mut folder = samples::folder(1, "/a");
        change(&mut folder);
        let verdict = Verdict::of(&[folder]);
        (verdict.class(), verdict.headline, verdict.changes)
    }

    #[test]
    fn the_most_important_counts_come_first() {
        let (class, headline, changes) = verdict(|folder| {
            let counts = [(Class::Damaged, 2), (Class::Missing, 1), (Class::Edited, 3)];
            samples::count(folder, Attention::Problem, &counts);
        });
        assert_eq!((class, &*headline), ("problem", "2 damaged, 1 missing; 6,543 ok"));
        assert_eq!(changes, "3 edited");
    }

    #[test]
    fn io_errors_are_unreadable_and_not_counted_twice() {
        let (class, headline, _) = verdict(|folder| {
            samples::count(folder, Attention::Problem, &[(Class::Unchecked, 3)]);
            folder.io_errors = 1;
        });
        assert_eq!((class, &*headline), ("problem", "1 unreadable, 2 unchecked; 6,546 ok"));
    }

    #[test]
    fn overdue_files_are_not_ok() {
        let (class, headline, _) = verdict(|folder| {
            samples::count(folder, Attention::Incomplete, &[]);
            folder.overdue = 9;
        });
        assert_eq!((class, &*headline), ("incomplete", "9 overdue; 6,540 ok"));
    }

    #[test]
    fn files_of_an_offline_folder_are_not_ok() {
        let (class, headline, _) = verdict(|folder| {
            samples::count(folder, Attention::Incomplete, &[]);
            folder.offline = Some(samples::away());
        });
        assert_eq!((class, &*headline), ("incomplete", "1 folder offline; 0 ok"));
    }

    #[test]
    fn a_damaged_catalog_comes_first() {
        let (class, headline, _) = verdict(|folder| {
            samples::count(folder, Attention::Problem, &[(Class::Missing, 1)]);
            folder.last.as_mut().unwrap().outcome = Outcome::CatalogDamaged;
        });
        assert_eq!((class, &*headline), ("problem", "catalog damaged, 1 missing; 6,548 ok"));
    }

    #[test]
    fn a_folder_that_is_ok_is_all_ok() {
        assert_eq!(verdict(|_| {}), ("ok", "All 6,549 files ok".to_owned(), String::new()));
        assert_eq!(Verdict::of(&[]).class(), "empty");
    }
}
