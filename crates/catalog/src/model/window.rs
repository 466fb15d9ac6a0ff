//! Hours of the day, in local time.

use std::fmt;
use std::str::FromStr;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// Minutes of a day.
const DAY: u16 = 24 * 60;

/// Hours of the day in which a root may be scrubbed: `1:00-6:00`, or `22:00-6:00` over midnight.
///
/// They are in local time. An hour that is skipped in spring does not occur that day, and an hour
/// that is repeated in autumn occurs twice.
///
/// ```
/// let hours: lanesum_catalog::Window = "22:00-6:30".parse()?;
/// assert_eq!(hours.to_string(), "22:00-6:30");
/// assert_eq!(hours.seconds(), 8 * 3600 + 1800);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The start in minutes after midnight.
    opens: u16,
    /// The end: the first minute after it.
    closes: u16,
}

impl Window {
    /// Makes hours from a start to an end in minutes after midnight. Returns none for invalid or
    /// equal times.
    pub(crate) fn new(opens: i64, closes: i64) -> Option<Self> {
        let [opens, closes] = [opens, closes].map(|at| u16::try_from(at).ok());
        let (opens, closes) = (opens?, closes?);
        let is_right = opens < DAY && closes <= DAY && opens != closes && closes > 0;
        is_right.then_some(Self { opens, closes })
    }

    /// Returns the start and the end in minutes after midnight.
    pub(crate) fn minutes(self) -> [i64; 2] {
        [self.opens.into(), self.closes.into()]
    }

    /// Returns its length in seconds on an ordinary day.
    #[must_use]
    pub fn seconds(self) -> u32 {
        let minutes = (self.closes + DAY - self.opens) % DAY;
        60 * u32::from(if minutes == 0 { DAY } else { minutes })
    }

    /// Returns whether it includes a time in seconds since 1970.
    #[must_use]
    pub fn is_open(self, at: i64, zone: &TimeZone) -> bool {
        let time = zoned(at, zone).time();
        let minute =
            u16::from(time.hour().unsigned_abs()) * 60 + u16::from(time.minute().unsigned_abs());
        if self.opens < self.closes {
            (self.opens..self.closes).contains(&minute)
        } else {
            minute >= self.opens || minute < self.closes
        }
    }
}

/// Returns the start of the local day of a time, both in seconds since 1970.
#[must_use]
pub fn midnight(at: i64, zone: &TimeZone) -> i64 {
    zoned(at, zone).start_of_day().map_or(at, |start| start.timestamp().as_second())
}

fn zoned(at: i64, zone: &TimeZone) -> Zoned {
    let at = at.clamp(Timestamp::MIN.as_second(), Timestamp::MAX.as_second());
    Timestamp::from_second(at).unwrap_or_default().to_zoned(zone.clone())
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [opens, closes] = [self.opens, self.closes].map(|at| (at / 60, at % 60));
        write!(f, "{}:{:02}-{}:{:02}", opens.0, opens.1, closes.0, closes.1)
    }
}

impl FromStr for Window {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let minutes = |text: &str| -> Option<i64> {
            let (hours, minutes) = text.split_once(':').unwrap_or((text, "00"));
            let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
            if minutes.len() != 2 || !is_number(hours) || !is_number(minutes) {
                return None;
            }
            let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
            (hours <= 24 && minutes < 60).then_some(hours * 60 + minutes)
        };
        text.split_once('-')
            .and_then(|(opens, closes)| Self::new(minutes(opens)?, minutes(closes)?))
            .ok_or_else(|| "expected hours of the day, such as 1:00-6:00 or 22:00-6:00".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> i64 {
        text.parse::<Timestamp>().unwrap().as_second()
    }

    #[test]
    fn hours_are_parsed_and_printed() {
        for text in ["1:00-6:00", "22:00-6:00", "0:00-24:00", "0:05-0:06"] {
            assert_eq!(text.parse::<Window>().unwrap().to_string(), text);
        }
        assert_eq!("1-6".parse::<Window>().unwrap().to_string(), "1:00-6:00");
        for text in [
            "",
            "1:00",
            "1:00-1:00",
            "25:00-1:00",
            "1:60-2:00",
            "1:0-2:00",
            "24:00-6:00",
            "-1:00-2:00",
            "6:00-0:00",
            ":00-1:00",
        ] {
            assert!(text.parse::<Window>().is_err(), "{text}");
        }
        assert_eq!("0:00-24:00".parse::<Window>().unwrap().seconds(), 86_400);
        assert_eq!("22:00-6:00".parse::<Window>().unwrap().seconds(), 8 * 3600);
    }

    #[test]
    fn hours_and_days_are_those_of_the_time_zone() {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let open = |text: &str, time| text.parse::<Window>().unwrap().is_open(at(time), &zone);
        assert!(
            open("1:00-6:00", "2026-01-10T00:00:00Z") && open("1:00-6:00", "2026-07-10T03:59:59Z")
        );
        assert!(
            !open("1:00-6:00", "2026-01-10T05:00:00Z")
                && !open("1:00-6:00", "2026-07-09T22:59:00Z")
        );
        assert!(
            open("22:00-2:30", "2026-07-10T20:00:00Z")
                && open("22:00-2:30", "2026-07-10T00:29:00Z")
        );
        assert!(!open("22:00-2:30", "2026-07-10T00:30:00Z"));
        // The hour is skipped in spring, and comes twice in autumn.
        let opens = |day: &str| {
            let start = at(&format!("{day}T00:00:00Z"));
            let quarters = (-8..80).map(|quarter| start + quarter * 900);
            let hours: Window = "2:00-3:00".parse().unwrap();
            quarters.filter(|time| hours.is_open(*time, &zone)).count()
        };
        let counts = ["2026-03-28", "2026-03-29", "2026-10-25"].map(opens);
        assert_eq!(counts, [4, 0, 8]);
        assert_eq!(midnight(at("2026-03-29T12:00:00Z"), &zone), at("2026-03-28T23:00:00Z"));
    }
}
