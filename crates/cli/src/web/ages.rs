//! A bar of the files of a folder by the age of their last verification.
//!
//! The page allows no style attributes, so each part is a rectangle with a class.

use maud::{Markup, html};

use crate::web::view::Folder;
use crate::web::words::{count, files};

/// Width of the bar, in its own units.
const WIDTH: u64 = 1000;
/// Between two parts, so that they are apart without colour.
const GAP: u64 = 3;

/// A part of the bar.
struct Part {
    class: &'static str,
    label: String,
    files: u64,
}

/// The ages as three thirds of the period and the files beyond it.
fn parts(folder: &Folder) -> [Part; 4] {
    let (by_age, days) = (&folder.by_age, f64::from(folder.settings.every_days));
    // Short periods are counted in hours.
    let (all, unit) = if days < 3.0 { (days * 24.0, "hours") } else { (days, "days") };
    let edge = |thirds: f64| {
        let text = format!("{:.1}", all * thirds / 3.0);
        text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
    };
    let between = |low, high| format!("{} to {} {unit}", edge(low), edge(high));
    let sum = |range: std::ops::Range<usize>| by_age[range].iter().sum();
    [
        Part { class: "young", label: format!("up to {} {unit}", edge(1.0)), files: sum(0..10) },
        Part { class: "middle", label: between(1.0, 2.0), files: sum(10..20) },
        Part { class: "old", label: between(2.0, 3.0), files: sum(20..30) },
        Part { class: "late", label: format!("over {} {unit}", edge(3.0)), files: sum(30..31) },
    ]
}

pub fn figure(folder: &Folder) -> Markup {
    let parts = parts(folder);
    let total = parts.iter().map(|part| part.files).sum::<u64>().max(1);
    let mut left = 0;
    let drawn = parts.iter().filter(|part| part.files > 0).map(|part| {
        let share = u128::from(part.files) * u128::from(WIDTH) / u128::from(total);
        // A single file of a million can be seen.
        let width = u64::try_from(share).unwrap_or(WIDTH).max(2 * GAP);
        let at = left.min(WIDTH - 2 * GAP);
        left += width;
        (part, at, width.min(WIDTH - at).saturating_sub(GAP))
    });
    let is_reliable = folder.offline.is_none() && folder.is_complete;
    html! {
        figure class=(if is_reliable { "ages" } else { "ages off" }) {
            figcaption { "Files by time since their last verification" }
            svg viewBox={ "0 0 " (WIDTH) " 16" } preserveAspectRatio="none" aria-hidden="true" {
                @for (part, at, width) in drawn {
                    rect class=(part.class) x=(at) y="0" width=(width) height="16" {
                        title { (part.label) ": " (files(part.files)) }
                    }
                }
            }
            ul class="legend" {
                @for part in parts.iter().filter(|part| part.files > 0) {
                    li { span class={ "swatch " (part.class) } {} (part.label) ": " b { (count(part.files)) } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::samples;

    fn labels(every_days: u32) -> Vec<String> {
        let mut folder = samples::folder(1, "/a");
        folder.settings.every_days = every_days;
        parts(&folder).map(|part| part.label).into()
    }

    #[test]
    fn short_periods_are_in_hours() {
        assert_eq!(labels(90), ["up to 30 days", "30 to 60 days", "60 to 90 days", "over 90 days"]);
        assert_eq!(labels(7)[1], "2.3 to 4.7 days");
        assert_eq!(
            labels(1),
            ["up to 8 hours", "8 to 16 hours", "16 to 24 hours", "over 24 hours"]
        );
    }

    #[test]
    fn one_file_of_a_million_is_visible() {
        let mut folder = samples::folder(1, "/a");
        folder.by_age = [0; 31];
        (folder.by_age[0], folder.by_age[30]) = (1_000_000, 1);
        let svg = figure(&folder).into_string();
        assert!(svg.contains("class=\"late\" x=\"994\" y=\"0\" width=\"3\""), "{svg}");
        assert!(svg.contains("over 90 days: <b>1</b>") && !svg.contains("style="), "{svg}");
    }

    #[test]
    fn an_offline_folder_has_a_grey_bar() {
        let mut folder = samples::folder(1, "/a");
        assert!(!figure(&folder).into_string().contains("off"));
        folder.offline = Some(samples::away());
        assert!(figure(&folder).into_string().contains("class=\"ages off\""));
        folder.offline = None;
        folder.is_complete = false;
        assert!(figure(&folder).into_string().contains("class=\"ages off\""));
    }
}
