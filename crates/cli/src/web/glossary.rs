//! The eight words that the page uses for files and folders.

use lanesum_catalog::Class;
use maud::{Markup, html};

use crate::web::rows::badge;

/// The meaning of each class, and the commands that help.
const fn meaning(class: Class) -> [&'static str; 2] {
    match class {
        Class::Ok => ["The content is as recorded.", "Nothing."],
        Class::Edited => [
            "Content and modification time changed.",
            "Nothing, if it was you. `lanesum update` records it.",
        ],
        Class::New => ["The file is not recorded.", "`lanesum update` records it."],
        Class::Moved => {
            ["The file is recorded under a different path.", "`lanesum update` records it."]
        }
        Class::Missing => {
            ["The file is recorded and gone.", "Restore it, or run `lanesum forget`."]
        }
        Class::Damaged => [
            "The content changed and the modification time did not.",
            "Restore it from a backup, or run `lanesum accept`.",
        ],
        Class::Unchecked => {
            ["The file could not be verified.", "Fix the cause. The next run tries again."]
        }
        Class::Offline => [
            "The folder is missing, empty, is on a different disk, or lost too many files.",
            "Connect the disk. If the folder moved, run `lanesum relocate`.",
        ],
        _ => ["", ""],
    }
}

/// Text with commands between backticks.
fn marked(text: &str) -> Markup {
    html! {
        @for (place, part) in text.split('`').enumerate() {
            @if place % 2 == 0 { (part) } @else { code { (part) } }
        }
    }
}

pub fn section() -> Markup {
    html! {
        details #words {
            summary { "Meaning of the words" }
            table class="words" {
                thead { tr { th { "Word" } th { "Meaning" } th { "Action" } } }
                tbody {
                    @for class in Class::ALL {
                        @let [meaning, remedy] = meaning(class);
                        tr { td { (badge(class)) } td { (meaning) } td { (marked(remedy)) } }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_a_meaning() {
        for class in Class::ALL {
            assert!(meaning(class).iter().all(|text| text.ends_with('.')), "{class}");
        }
    }
}
