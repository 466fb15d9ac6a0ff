//! Times in RFC 3339 format.

use jiff::civil::DateTime;
use jiff::fmt::temporal::{DateTimePrinter, Pieces};
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};

use crate::Time;

/// 0000-01-01 00:00 UTC, and the last second of the year 9999. RFC 3339 has four digits for the
/// year.
const YEARS: std::ops::RangeInclusive<i64> = -62_167_219_200..=253_402_300_799;

/// The crate `jiff` has no timestamps on the last day of the year 9999, only dates and times of
/// day. Such a time is handled as one that is this number of seconds earlier.
const SHIFT: i64 = 2 * 24 * 60 * 60;

impl Time {
    /// Appends the time in RFC 3339 format, in UTC with nine digits after the second:
    /// `2023-11-14T22:13:20.000000500Z`. Appends nothing and returns false if the year is before 0
    /// or after 9999.
    ///
    /// ```
    /// use lanesum_list::Time;
    ///
    /// let mut text = Vec::new();
    /// let time = Time { seconds: 1_700_000_000, nanoseconds: 500 };
    /// assert!(time.write_rfc3339(&mut text));
    /// assert_eq!(text, b"2023-11-14T22:13:20.000000500Z");
    /// assert_eq!(Time::from_rfc3339(&text), Some(time));
    /// ```
    pub fn write_rfc3339(&self, out: &mut Vec<u8>) -> bool {
        // In `jiff` the nanoseconds have the sign of the seconds.
        let nanoseconds = i64::from(self.nanoseconds).try_into().ok();
        let shift = if self.seconds > LAST { SHIFT } else { 0 };
        let moment = nanoseconds
            .filter(|_| YEARS.contains(&self.seconds))
            .and_then(|nanoseconds: i32| Timestamp::new(self.seconds - shift, nanoseconds).ok());
        let Some(moment) = moment else { return false };
        const PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(9));
        if shift == 0 {
            PRINTER.print_timestamp(&moment, out).expect("memory takes everything");
            return true;
        }
        let civil = Offset::UTC.to_datetime(moment).checked_add(SignedDuration::from_secs(shift));
        let Ok(civil) = civil else { return false };
        PRINTER.print_datetime(&civil, &mut *out).expect("memory takes everything");
        out.push(b'Z');
        true
    }

    /// Parses a time in RFC 3339 format with any offset from UTC and up to nine digits after the
    /// second. Returns `None` for other text.
    #[must_use]
    pub fn from_rfc3339(text: &[u8]) -> Option<Self> {
        // `jiff` accepts more: dates with a time zone name, and weeks.
        let is_part = |byte: &u8| byte.is_ascii_digit() || b"-+:.TZtz ".contains(byte);
        if !text.iter().all(is_part) {
            return None;
        }
        let text = str::from_utf8(text).ok()?;
        let Ok(moment) = text.parse::<Timestamp>() else { return of_last_day(text) };
        let nanoseconds = moment.subsec_nanosecond();
        let (borrow, carried) = if nanoseconds < 0 { (1, 1_000_000_000) } else { (0, 0) };
        Some(Self {
            seconds: moment.as_second() - borrow,
            nanoseconds: (nanoseconds + carried).try_into().ok()?,
        })
    }
}

/// The last second that `jiff` supports.
const LAST: i64 = 253_402_207_200;

/// A later time.
fn of_last_day(text: &str) -> Option<Time> {
    let pieces = Pieces::parse(text).ok()?;
    let offset = i64::from(pieces.to_numeric_offset()?.seconds());
    let civil = DateTime::from_parts(pieces.date(), pieces.time()?);
    let earlier = civil.checked_sub(SignedDuration::from_secs(SHIFT)).ok()?;
    let moment = Offset::UTC.to_timestamp(earlier).ok()?;
    let seconds = moment.as_second() + SHIFT - offset;
    let nanoseconds = moment.subsec_nanosecond().try_into().ok()?;
    YEARS.contains(&seconds).then_some(Time { seconds, nanoseconds }).filter(|_| seconds > LAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(seconds: i64, nanoseconds: u32) -> String {
        let mut text = Vec::new();
        Time { seconds, nanoseconds }.write_rfc3339(&mut text);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn times_round_trip() {
        for (seconds, nanoseconds, expected) in [
            (0, 0, "1970-01-01T00:00:00.000000000Z"),
            (-1, 1, "1969-12-31T23:59:59.000000001Z"),
            (-1, 999_999_999, "1969-12-31T23:59:59.999999999Z"),
            (*YEARS.start(), 1, "0000-01-01T00:00:00.000000001Z"),
            (253_402_207_200, 0, "9999-12-30T22:00:00.000000000Z"),
            (253_402_207_201, 1, "9999-12-30T22:00:01.000000001Z"),
            (253_402_214_400, 0, "9999-12-31T00:00:00.000000000Z"),
            (*YEARS.end(), 999_999_999, "9999-12-31T23:59:59.999999999Z"),
        ] {
            assert_eq!(text(seconds, nanoseconds), expected);
            let time = Some(Time { seconds, nanoseconds });
            assert_eq!(Time::from_rfc3339(expected.as_bytes()), time);
        }
        for seconds in [YEARS.start() - 1, YEARS.end() + 1, i64::MIN, i64::MAX] {
            assert_eq!(text(seconds, 0), "");
        }
    }

    #[test]
    fn time_zones_are_applied_and_invalid_times_refused() {
        let moment = Some(Time { seconds: 1_700_000_000, nanoseconds: 500_000_000 });
        for same in ["2023-11-14T22:13:20.5Z", "2023-11-15T00:13:20.500+02:00"] {
            assert_eq!(Time::from_rfc3339(same.as_bytes()), moment, "{same}");
        }
        let last = Some(Time { seconds: 253_402_214_400, nanoseconds: 0 });
        for same in
            ["9999-12-31T00:00:00Z", "9999-12-31T01:00:00+01:00", "9999-12-30T22:00:00-02:00"]
        {
            assert_eq!(Time::from_rfc3339(same.as_bytes()), last, "{same}");
        }
        for wrong in [
            "",
            "9999-12-31",
            "9999-12-31T00:00:00",
            "9999-12-31T23:59:59-01:00",
            "9999-12-32T00:00:00Z",
            "2023-11-14",
            "2023-11-14T22:13:20",
            "2023-11-14T22:13:20Z[UTC]",
            "1700000000",
            "x",
        ] {
            assert_eq!(Time::from_rfc3339(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
