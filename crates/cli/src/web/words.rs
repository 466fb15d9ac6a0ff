//! Numbers, times and names as text.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Seconds of a day.
pub const DAY: i64 = 24 * 60 * 60;

/// The time in seconds since 1970.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs().cast_signed())
}

/// Local time to the minute, with its offset: `2026-11-24 21:03 +01:00`.
pub fn minute(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M %:z").to_string()
}

/// Local time to the second, with its offset: `2026-11-24 21:03:07 +01:00`.
pub fn second(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S %:z").to_string()
}

/// `412,008`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 file`, `6,000 files`.
pub fn files(number: u64) -> String {
    of(number, "file")
}

/// `1 day`, `90 days`.
pub fn of(number: u64, one: &str) -> String {
    let several = if number == 1 { "" } else { "s" };
    format!("{} {one}{several}", count(number))
}

/// `80.00 MB`.
pub fn bytes(number: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if number < 1000 {
        return format!("{number} B");
    }
    let (mut value, mut unit) = (number as f64 / 1000.0, 0);
    while value >= 999.995 && unit + 1 < UNITS.len() {
        (value, unit) = (value / 1000.0, unit + 1);
    }
    format!("{value:.2} {}", UNITS[unit])
}

/// `8 seconds`, `5 minutes`, `3 hours`: in the largest unit that gives at least 2.
pub fn time(time: Duration) -> String {
    let seconds = time.as_secs();
    let units = [(DAY.cast_unsigned(), "day"), (3600, "hour"), (60, "minute")];
    let unit = units.into_iter().find(|(unit, _)| seconds >= 2 * unit);
    let (unit, name) = unit.unwrap_or((1, "second"));
    of((seconds + unit / 2) / unit, name)
}

/// `just now`, `5 minutes ago`, `89 days ago`.
pub fn ago(at: i64, now: i64) -> String {
    match u64::try_from(now - at) {
        Ok(0..60) => "just now".to_owned(),
        Ok(age) => time(Duration::from_secs(age)) + " ago",
        Err(_) => "in the future".to_owned(),
    }
}

/// Whether a character is invisible, or reorders the text around it.
pub fn is_hidden(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    ) || character.is_control()
}

/// A name as text. Bytes that are not UTF-8 become U+FFFD, and hidden characters become escapes.
pub fn shown(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len());
    for character in String::from_utf8_lossy(name).chars() {
        match character {
            '\\' => text += "\\\\",
            character if is_hidden(character) => text.extend(character.escape_default()),
            character => text.push(character),
        }
    }
    text
}

/// A sentence of the program as text: as [`shown`], but backslashes stay as they are.
pub fn sentence(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match is_hidden(character) {
            true => shown.extend(character.escape_default()),
            false => shown.push(character),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_units() {
        assert_eq!([0, 999, 1000, 412_008].map(count), ["0", "999", "1,000", "412,008"]);
        assert_eq!([1, 2].map(files), ["1 file", "2 files"]);
        assert_eq!(
            [0, 999, 1000, 999_994, 999_999, 80_000_000].map(bytes),
            ["0 B", "999 B", "1.00 kB", "999.99 kB", "1.00 MB", "80.00 MB"]
        );
        assert_eq!(bytes(u64::MAX), "18.45 EB");
        let seconds = [0, 1, 119, 120, 7199, 7200, 172_800].map(Duration::from_secs);
        let expected = [
            "0 seconds",
            "1 second",
            "119 seconds",
            "2 minutes",
            "120 minutes",
            "2 hours",
            "2 days",
        ];
        assert_eq!(seconds.map(time), expected);
    }

    #[test]
    fn ages_have_units() {
        let ages = [0, 59, 60, 3 * 3600, DAY, 2 * DAY, -1].map(|age| ago(0, age));
        let expected = [
            "just now",
            "just now",
            "60 seconds ago",
            "3 hours ago",
            "24 hours ago",
            "2 days ago",
            "in the future",
        ];
        assert_eq!(ages, expected);
    }

    #[test]
    fn times_are_local_and_have_an_offset() {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let [winter, summer] = [1_793_000_000, 1_780_000_000].map(Timestamp::from_second);
        assert_eq!(minute(winter.unwrap(), &zone), "2026-10-26 08:33 +01:00");
        assert_eq!(second(summer.unwrap(), &zone), "2026-05-28 22:26:40 +02:00");
    }

    #[test]
    fn hidden_characters_of_names_are_escaped() {
        for (name, text) in [
            (&b"/a/b-1.jpg"[..], "/a/b-1.jpg"),
            (b"a b's", "a b's"),
            ("\u{e4}".as_bytes(), "\u{e4}"),
            (b"a\nb\x1b[2J'", "a\\nb\\u{1b}[2J'"),
            ("gpj\u{202e}exe".as_bytes(), "gpj\\u{202e}exe"),
            (b"\xff\\", "\u{fffd}\\\\"),
            (b"", ""),
        ] {
            assert_eq!(shown(name), text);
        }
        assert_eq!(sentence("a\\b\nc"), "a\\b\\nc");
    }
}
