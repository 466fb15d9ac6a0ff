//! Values with units: times, bytes, percents, rates and hours.

use std::time::Duration;

use lanesum_catalog::Window;

/// Bytes per second, or no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate(pub Option<u64>);

/// Hours of the day, or any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hours(pub Option<Window>);

pub fn rate(text: &str) -> Result<Rate, String> {
    match text {
        "none" => Ok(Rate(None)),
        // A user who types 80 means megabytes, as a rule.
        text if text.parse().is_ok_and(|rate: u64| (1..1000).contains(&rate)) => {
            Err(format!("expected a number with a unit: {text}M, or {text}B for so few bytes"))
        }
        text => match bytes(text.strip_suffix("/s").unwrap_or(text))? {
            0 => Err("expected at least 1 byte a second; `lanesum pause` stops scrubs".to_owned()),
            rate => Ok(Rate(Some(rate))),
        },
    }
}

pub fn hours(text: &str) -> Result<Hours, String> {
    if text == "any" {
        return Ok(Hours(None));
    }
    // A day ends where the next one begins.
    let from_midnight = text.strip_prefix("24:00-").map(|end| format!("0:00-{end}"));
    from_midnight.as_deref().unwrap_or(text).parse().map(|hours| Hours(Some(hours)))
}

/// Splits a number from its unit.
fn measure(text: &str) -> Result<(u64, &str), String> {
    let digits = text.len() - text.trim_start_matches(|byte: char| byte.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let number = number.parse().map_err(|_| "expected a number with a unit".to_owned())?;
    Ok((number, unit.trim_start()))
}

/// Parses days: `90d`, `12w`, `1y`, `90 days`, or a number.
pub fn days(text: &str) -> Result<u32, String> {
    let wrong = || "expected a time in days, weeks or years: 90d, 12w, 1y".to_owned();
    let beyond = || "expected 1 day to 100 years: 1d, 90d, 100y".to_owned();
    let (number, unit) = measure(text).map_err(|_| wrong())?;
    let factor = match unit {
        "" | "d" | "day" | "days" => 1,
        "w" | "week" | "weeks" => 7,
        "y" | "year" | "years" => 365,
        "m" | "month" | "months" => return Err(wrong() + " (months differ in length)"),
        "h" | "hour" | "hours" => return Err(wrong() + " (24 hours are 1d)"),
        _ => return Err(wrong()),
    };
    let days = number.checked_mul(factor).filter(|days| (1..=36_500).contains(days));
    days.and_then(|days| days.try_into().ok()).ok_or_else(beyond)
}

/// Parses a time: `90s`, `30m`, `2h`, `1d`, `30 minutes`.
pub fn time(text: &str) -> Result<Duration, String> {
    let wrong =
        || "expected a time in seconds, minutes, hours or days: 90s, 30m, 2h, 1d".to_owned();
    let (number, unit) = measure(text).map_err(|_| wrong())?;
    let factor = match unit {
        "s" | "sec" | "second" | "seconds" => 1,
        "m" | "min" | "minute" | "minutes" => 60,
        "h" | "hour" | "hours" => 3600,
        "d" | "day" | "days" => 24 * 3600,
        _ => return Err(wrong()),
    };
    number.checked_mul(factor).map(Duration::from_secs).ok_or_else(wrong)
}

/// Parses bytes: `500M`, `20G`, `1.5MB`, `80 MiB`.
pub fn bytes(text: &str) -> Result<u64, String> {
    let wrong = || "expected a number of bytes: 500M, 1.5G, 80MiB".to_owned();
    let is_of_number = |byte: char| byte.is_ascii_digit() || byte == '.';
    let (number, unit) = text.split_at(text.len() - text.trim_start_matches(is_of_number).len());
    let unit = unit.trim_start();
    let unit = unit.strip_suffix('B').unwrap_or(unit);
    let (unit, base) = unit.strip_suffix('i').map_or((unit, 1000_u64), |unit| (unit, 1024));
    let power = match unit {
        "" if base == 1000 => 0,
        "k" | "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        "m" | "mb" | "g" | "gb" | "t" | "tb" if base == 1000 => {
            let letter = unit[..1].to_uppercase();
            return Err(format!("expected a capital letter: {number}{letter}"));
        }
        _ => return Err(wrong()),
    };
    let factor = base.pow(power);
    let (whole, rest) = number.split_once('.').unwrap_or((number, "0"));
    let part: f64 = format!("0.{rest}").parse().map_err(|_| wrong())?;
    if whole.is_empty() || rest.is_empty() {
        return Err(wrong());
    }
    let beyond = || "more bytes than any disk has".to_owned();
    let whole: u64 = whole.parse().map_err(|_| beyond())?;
    let bytes = whole.checked_mul(factor).ok_or_else(beyond)?;
    bytes.checked_add((part * factor as f64) as u64).ok_or_else(beyond)
}

pub fn whole_percent(text: &str) -> Result<u32, String> {
    let number = text.strip_suffix('%').unwrap_or(text).parse().ok();
    let number = number.filter(|number| (0..=100).contains(number));
    number.ok_or_else(|| "expected a whole number from 0 to 100, such as 20".to_owned())
}

pub fn percent(text: &str) -> Result<f64, String> {
    let text = text.strip_suffix('%').unwrap_or(text).trim_end();
    let number = text.parse().ok().filter(|number| (0.0..=100.0).contains(number));
    number.ok_or_else(|| "expected a number from 0 to 100, such as 5".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_take_units_of_fixed_length() {
        assert_eq!(["90d", "12w", "1y", "7"].map(|it| days(it).unwrap()), [90, 84, 365, 7]);
        let spelled = ["90days", "12 weeks", "1year", "1 day"].map(|it| days(it).unwrap());
        assert_eq!(spelled, [90, 84, 365, 1]);
        for wrong in ["", "d", "0d", "90m", "1000y", "99999999999999999999d", "-1d"] {
            assert!(days(wrong).is_err(), "{wrong}");
        }
        assert!(days("3 months").unwrap_err().ends_with("(months differ in length)"));
        assert!(days("24h").unwrap_err().ends_with("(24 hours are 1d)"));
        assert!(["0d", "1000y"].iter().all(|it| days(it).unwrap_err().contains("100 years")));
    }

    #[test]
    fn times_need_a_unit() {
        assert_eq!(["90s", "30m", "2h"].map(|it| time(it).unwrap().as_secs()), [90, 1800, 7200]);
        assert_eq!(["1d", "30 min"].map(|it| time(it).unwrap().as_secs()), [86_400, 1800]);
        assert!(["", "90", "2w"].iter().all(|it| time(it).is_err()));
    }

    #[test]
    fn bytes_take_decimal_and_binary_units() {
        assert_eq!(["7", "5k", "20G"].map(|it| bytes(it).unwrap()), [7, 5000, 20_000_000_000]);
        let same = ["80M", "80MB", "80 MB", "80.0M", "0.08G", "80000000B"];
        assert!(same.iter().all(|it| bytes(it) == Ok(80_000_000)));
        assert_eq!(bytes("80MiB"), Ok(80 << 20));
        let small = ["80m", "80 mB", "80mb"];
        assert!(small.iter().all(|it| bytes(it).unwrap_err().ends_with(": 80M")));
        let wrong = ["", "G", "99999999T", "1X", "1.", ".5M", "1.2.3M", "1iB", "-5"];
        assert!(wrong.iter().all(|it| bytes(it).is_err()));
        assert!(bytes("99999999T").unwrap_err().contains("more bytes than any disk"));
    }

    #[test]
    fn rates_hours_and_percents_are_read() {
        let same = ["80M", "80M/s", "80 MB/s"];
        assert!(same.iter().all(|it| rate(it) == Ok(Rate(Some(80_000_000)))));
        assert_eq!((rate("none"), hours("any")), (Ok(Rate(None)), Ok(Hours(None))));
        assert_eq!(rate("80B"), Ok(Rate(Some(80))));
        assert!(rate("80").unwrap_err().contains("80M, or 80B"));
        assert!(["0", "", "80M/m", "fast"].iter().all(|it| rate(it).is_err()));
        assert!(hours("1:00-6:00").is_ok() && hours("1:00").is_err());
        assert_eq!(hours("24:00-6:00"), hours("0:00-6:00"));
        assert_eq!(["8.5", "8.5%", "8.5 %"].map(percent), [Ok(8.5), Ok(8.5), Ok(8.5)]);
        assert!(["101", "-1", "nan", "x"].iter().all(|it| percent(it).is_err()));
        assert_eq!(["8", "8%"].map(whole_percent), [Ok(8), Ok(8)]);
        assert!(["101", "8.5", "x"].iter().all(|it| whole_percent(it).is_err()));
    }
}
