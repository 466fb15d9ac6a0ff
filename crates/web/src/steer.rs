//! What may be done from the page: pause, resume, limit, check now. Never accept, never forget.

use std::collections::HashMap;
use std::path::Path;

use lanesum_catalog::{Catalog, CatalogError, Change, Control};

use crate::words::now;

/// Why something was not done.
pub enum Refusal {
    /// No folder has this id, or nothing is called so.
    Unknown,
    /// What was typed is none.
    Wrong(String),
    Catalog(CatalogError),
}

impl From<CatalogError> for Refusal {
    fn from(error: CatalogError) -> Self {
        match error {
            // It was forgotten a moment ago.
            CatalogError::NoRoot(_) => Self::Unknown,
            error => Self::Catalog(error),
        }
    }
}

/// Does something with the folder of this id, as a form asks for.
pub fn steer(
    catalog: &Path,
    id: i64,
    verb: &str,
    form: &HashMap<String, String>,
) -> Result<(), Refusal> {
    let roots = Catalog::look(catalog)?.roots()?;
    let root = roots.into_iter().find(|root| root.id() == id).ok_or(Refusal::Unknown)?;
    let control = || Control::open(catalog);
    match verb {
        "pause" => _ = control()?.pause(&root, now())?,
        "resume" => _ = control()?.resume(&root)?,
        "check" => control()?.check_now(&root, now())?,
        "limit" => {
            let change = change(form).map_err(Refusal::Wrong)?;
            control()?.limit(&root, &change)?;
        }
        _ => return Err(Refusal::Unknown),
    }
    Ok(())
}

/// What a form asks to be another. An empty field is no limit.
fn change(form: &HashMap<String, String>) -> Result<Change, String> {
    let field = |name: &str| form.get(name).map(|value| value.trim());
    let mut change = Change::default();
    if let Some(days) = field("every") {
        let days = days.parse().ok().filter(|days| (1..=36_500).contains(days));
        change.every_days = Some(days.ok_or("A number of days from 1 to 36500 is wanted.")?);
    }
    if let Some(rate) = field("rate") {
        change.rate = Some(if rate.is_empty() { None } else { Some(bytes(rate)?) });
    }
    if let Some(hours) = field("between") {
        change.window = Some(if hours.is_empty() { None } else { Some(hours.parse()?) });
    }
    Ok(change)
}

/// Megabytes as bytes.
fn bytes(text: &str) -> Result<u64, String> {
    let number: Option<f64> = text.replace(',', ".").parse().ok();
    // Above that, numbers have no single bytes.
    let number = number.map(|number| (number * 1e6).round()).filter(|it| (1.0..=9e15).contains(it));
    number.map(|number| number as u64).ok_or_else(|| {
        "A number of megabytes a second is wanted, of a byte at least: 80, or 0.5. Pause stops it."
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(fields: &[(&str, &str)]) -> Result<Change, String> {
        change(&fields.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    #[test]
    fn fields_are_limits_and_empty_ones_none() {
        assert!(of(&[]).unwrap().is_nothing());
        let change = of(&[("every", "30"), ("rate", "0,5"), ("between", " 1:00-6:00 ")]).unwrap();
        assert_eq!((change.every_days, change.rate), (Some(30), Some(Some(500_000))));
        assert_eq!(change.window.unwrap().unwrap().to_string(), "1:00-6:00");
        let change = of(&[("rate", ""), ("between", "")]).unwrap();
        assert_eq!((change.rate, change.window), (Some(None), Some(None)));
        for (name, value) in [
            ("every", "0"),
            ("every", ""),
            ("every", "36501"),
            ("every", "-1"),
            ("rate", "0"),
            ("rate", "-5"),
            ("rate", "NaN"),
            ("rate", "inf"),
            ("rate", "fast"),
            ("rate", "1e300"),
            ("between", "1:00"),
            ("between", "x"),
        ] {
            assert!(of(&[(name, value)]).is_err(), "{name}={value}");
        }
        // What is shown is what is stored.
        for rate in [1_u64, 999, 12_345_678, 80_000_000, 9_000_000_000_000_000] {
            assert_eq!(bytes(&(rate as f64 / 1e6).to_string()), Ok(rate));
        }
    }
}
