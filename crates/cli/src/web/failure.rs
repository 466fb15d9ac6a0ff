//! Errors of the catalog as text, with the command that helps.

use std::path::Path;

use lanesum_catalog::CatalogError;
use maud::{Markup, html};

use crate::web::commands::{block, command};
use crate::web::words::{bytes, of, sentence, shown};

/// An error of this catalog, as a sentence.
pub fn text(error: &CatalogError) -> String {
    match error {
        CatalogError::TooSlow {
            bytes: all, every_days, needed, rate, window, possible, ..
        } => {
            let hours = window.map_or(String::new(), |window| format!(" in {window}"));
            format!(
                "To verify {} in {}, {} a day are needed. {} a second{hours} allow {} a day. Choose \
                 a longer period, a higher rate or longer hours.",
                bytes(*all),
                of((*every_days).into(), "day"),
                bytes(*needed),
                bytes(*rate),
                bytes(*possible)
            )
        }
        CatalogError::TooShort { longest, rate, window, possible, .. } => format!(
            "The longest file has {}. {} a second in {window} allow {} a day. Choose a higher rate \
             or longer hours.",
            bytes(*longest),
            bytes(*rate),
            bytes(*possible)
        ),
        CatalogError::NoRoot(path) => {
            use std::os::unix::ffi::OsStrExt as _;
            format!("{}: not in the catalog", shown(path.as_os_str().as_bytes()))
        }
        error => sentence(&error.to_string()),
    }
}

/// The command that helps with an error.
pub fn hint(catalog: &Path, error: &CatalogError) -> Option<String> {
    match error {
        CatalogError::Damaged(_) => Some(command(catalog, "catalog check")),
        CatalogError::Absent(_) => Some(command(catalog, "add") + " -- DIR"),
        _ => None,
    }
}

/// The place of a part of the page that could not be read from the catalog.
pub fn section(catalog: &Path, error: &CatalogError) -> Markup {
    html! {
        section class="verdict problem" {
            h2 { "This page is incomplete" }
            p role="alert" { (text(error)) }
            @if let Some(hint) = hint(catalog, error) { (block(&hint)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_catalog_names_its_check() {
        let error = CatalogError::Damaged("a\nb".to_owned());
        assert_eq!(text(&error), "the catalog is damaged: a\\nb");
        assert_eq!(
            hint(Path::new("/my catalog.db"), &error).unwrap(),
            "lanesum catalog check --catalog '/my catalog.db'"
        );
    }

    #[test]
    fn limits_that_are_too_low_name_the_numbers() {
        let error = CatalogError::TooSlow {
            root: "/a".into(),
            bytes: 9_000_000_000,
            every_days: 90,
            needed: 111_111_112,
            rate: 1000,
            window: "1:00-6:00".parse().ok(),
            possible: 18_000_000,
        };
        let words = text(&error);
        assert!(words.contains("9.00 GB in 90 days, 111.11 MB a day"), "{words}");
        assert!(words.contains("1.00 kB a second in 1:00-6:00 allow 18.00 MB a day"), "{words}");
    }
}
