//! The actions of the page: pause, resume, limit, request a verification.

use std::collections::HashMap;
use std::path::Path;

use lanesum_catalog::{Catalog, CatalogError, Control, SettingsPatch};

use crate::web::words::now;

/// Why nothing was done.
pub enum Refusal {
    /// No folder has this id, or no action has this name.
    Unknown,
    /// A field is invalid.
    Invalid(String),
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

/// Does an action with the folder of this id, with the fields of a form.
///
/// # Errors
/// See [`Refusal`].
pub fn steer(
    catalog: &Path,
    id: i64,
    action: &str,
    form: &HashMap<String, String>,
) -> Result<(), Refusal> {
    let root = Catalog::look(catalog)?.root(id)?.ok_or(Refusal::Unknown)?;
    let control = || Control::open(catalog);
    match action {
        "pause" => _ = control()?.pause(&root, now())?,
        "resume" => _ = control()?.resume(&root)?,
        "check" => control()?.request(&root, false, now())?,
        "verify" => control()?.request(&root, true, now())?,
        "limit" => {
            let patch = patch(form).map_err(Refusal::Invalid)?;
            control()?.set(&[root], &patch)?;
        }
        _ => return Err(Refusal::Unknown),
    }
    Ok(())
}

/// The settings that a form changes. An empty field is no limit.
fn patch(form: &HashMap<String, String>) -> Result<SettingsPatch, String> {
    let field = |name: &str| form.get(name).map(|value| value.trim());
    let mut patch = SettingsPatch::default();
    if let Some(days) = field("every") {
        let days = days.parse().ok().filter(|days| (1..=36_500).contains(days));
        patch.every_days = Some(days.ok_or("Type a number of days from 1 to 36500.")?);
    }
    if let Some(rate) = field("rate") {
        patch.rate = Some(if rate.is_empty() { None } else { Some(bytes(rate)?) });
    }
    if let Some(hours) = field("between") {
        let invalid = |_| "Type hours like 1:00-6:00 or 22:00-6:00.".to_owned();
        let hours = || hours.parse().map(Some).map_err(invalid);
        patch.window = Some(if field("between") == Some("") { None } else { hours()? });
    }
    Ok(patch)
}

/// Megabytes as bytes.
fn bytes(text: &str) -> Result<u64, String> {
    let number: Option<f64> = text.replace(',', ".").parse().ok();
    // An f64 holds larger numbers only with gaps.
    let number = number.map(|number| (number * 1e6).round()).filter(|it| (1.0..=9e15).contains(it));
    number.map(|number| number as u64).ok_or_else(|| {
        "Type a number of megabytes a second, for example 80 or 0.5. To stop reading, use Pause."
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(fields: &[(&str, &str)]) -> Result<SettingsPatch, String> {
        patch(&fields.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    #[test]
    fn empty_fields_remove_limits() {
        assert!(of(&[]).unwrap().is_empty());
        let patch = of(&[("every", "30"), ("rate", "0,5"), ("between", " 1:00-6:00 ")]).unwrap();
        assert_eq!((patch.every_days, patch.rate), (Some(30), Some(Some(500_000))));
        assert_eq!(patch.window.unwrap().unwrap().to_string(), "1:00-6:00");
        let patch = of(&[("rate", ""), ("between", "")]).unwrap();
        assert_eq!((patch.rate, patch.window), (Some(None), Some(None)));
    }

    #[test]
    fn invalid_fields_are_refused() {
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
    }

    #[test]
    fn a_rate_that_the_form_shows_is_the_stored_one() {
        for rate in [1_u64, 999, 12_345_678, 80_000_000, 9_000_000_000_000_000] {
            assert_eq!(bytes(&(rate as f64 / 1e6).to_string()), Ok(rate));
        }
    }
}
