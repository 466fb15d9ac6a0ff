//! Times: local with the offset for people, UTC as RFC 3339 for programs.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// Returns when a file was last verified. A file of a list may never have been.
pub fn last_verified(seconds: i64) -> String {
    if seconds > 0 { moment(seconds) } else { "never".to_owned() }
}

/// The number of seconds of a day.
pub const DAY: i64 = 24 * 60 * 60;

/// Returns the current time in seconds since 1970.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs().cast_signed())
}

/// Returns a time for people: `2026-11-24 21:03 +01:00`.
pub fn moment(seconds: i64) -> String {
    moment_in(seconds, &TimeZone::system())
}

fn moment_in(seconds: i64, zone: &TimeZone) -> String {
    let Ok(time) = Timestamp::from_second(seconds) else { return "an unknown time".to_owned() };
    time.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M %:z").to_string()
}

/// Returns a time for programs: `2026-11-24T20:03:07Z`.
pub fn utc(seconds: i64) -> String {
    Timestamp::from_second(seconds).map_or_else(|_| seconds.to_string(), |time| time.to_string())
}

/// Returns a modification time in nanoseconds since 1970 for programs: `2026-11-24T20:03:07.5Z`.
pub fn utc_of_nanoseconds(nanoseconds: i64) -> String {
    let time = Timestamp::UNIX_EPOCH.checked_add(SignedDuration::from_nanos(nanoseconds));
    time.map_or_else(|_| nanoseconds.to_string(), |time| time.to_string())
}

/// Returns a duration or age: `12 d`, `5 h`, `3 min`, `20 s`.
pub fn age(seconds: i64) -> String {
    let seconds = seconds.max(0);
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / DAY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_see_local_time_with_its_offset_and_programs_utc() {
        let time = 1_795_550_587;
        let zone = TimeZone::fixed(jiff::tz::offset(1));
        assert_eq!(moment_in(time, &zone), "2026-11-24 21:03 +01:00");
        assert_eq!(utc(time), "2026-11-24T20:03:07Z");
        assert_eq!(utc_of_nanoseconds(time * 1_000_000_000 + 5), "2026-11-24T20:03:07.000000005Z");
        assert_eq!(utc_of_nanoseconds(-500_000_000), "1969-12-31T23:59:59.5Z");
        assert_eq!(moment_in(i64::MAX, &zone), "an unknown time");
    }

    #[test]
    fn ages_have_one_unit() {
        let ages = [-5, 59, 150, 7_200, 40 * 3600, 12 * DAY].map(age);
        assert_eq!(ages, ["0 s", "59 s", "2 min", "2 h", "40 h", "12 d"]);
    }
}
