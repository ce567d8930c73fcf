//! Times: ISO 8601 as ECMAScript's date-time string format has it, to Unix milliseconds.
//!
//! Without a zone a time is UTC (ECMAScript would take the local zone, which no reader of a shared file can know).

use std::time::{SystemTime, UNIX_EPOCH};

/// The first and the last millisecond that a `datetime` can hold: years 1 to 9999.
const RANGE: std::ops::RangeInclusive<i64> = -62_135_596_800_000..=253_402_300_799_999;

/// A number of milliseconds, cut to a whole one, if a `datetime` can hold it.
#[expect(clippy::cast_precision_loss, reason = "both ends are exact in a double")]
#[expect(clippy::cast_possible_truncation, reason = "within the range")]
pub(crate) fn cut(ms: f64) -> Option<i64> {
    (ms >= *RANGE.start() as f64 && ms < (*RANGE.end() + 1) as f64).then_some(ms as i64)
}

/// Reads a time; None if it is none, or none that a `datetime` can hold.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let mut reader = Reader { rest: text.as_bytes() };
    let (year, month, day) = reader.date()?;
    let time = if reader.eat(b'T') { reader.time()? } else { 0 };
    if !reader.rest.is_empty() {
        return None;
    }
    let ms = days_from_civil(year, month, day)? * 86_400_000 + time;
    RANGE.contains(&ms).then_some(ms)
}

/// Writes a time as session files have it: UTC, with milliseconds and `Z`.
#[must_use]
pub fn format(ms: i64) -> String {
    let (days, ms) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
    let (year, month, day) = civil_from_days(days);
    let (hour, minute, second, milli) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60, ms % 1000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

/// What time it is, in Unix milliseconds.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(*RANGE.end())
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn eat(&mut self, byte: u8) -> bool {
        let rest = self.rest.strip_prefix(&[byte]);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// A number of just `count` digits.
    fn digits(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.rest.split_at_checked(count)?;
        if !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        self.rest = rest;
        Some(digits.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
    }

    /// `YYYY`, `YYYY-MM` or `YYYY-MM-DD`, the year also as a sign and six digits.
    fn date(&mut self) -> Option<(i64, i64, i64)> {
        let year = if self.eat(b'+') {
            self.digits(6)?
        } else if self.eat(b'-') {
            -self.digits(6)?
        } else {
            self.digits(4)?
        };
        let month = if self.eat(b'-') { Some(self.digits(2)?) } else { None };
        let day = if month.is_some() && self.eat(b'-') { self.digits(2)? } else { 1 };
        Some((year, month.unwrap_or(1), day))
    }

    /// What follows the `T`, as milliseconds since midnight, UTC.
    fn time(&mut self) -> Option<i64> {
        let hour = self.digits(2)?;
        let minute = self.eat(b':').then(|| self.digits(2))??;
        let (second, milli) = if self.eat(b':') { (self.digits(2)?, self.fraction()?) } else { (0, 0) };
        let end_of_day = (hour, minute, second, milli) == (24, 0, 0, 0);
        if (hour > 23 && !end_of_day) || minute > 59 || second > 59 {
            return None;
        }
        Some(((hour * 60 + minute - self.zone()?) * 60 + second) * 1000 + milli)
    }

    /// Digits after a point, cut to milliseconds.
    fn fraction(&mut self) -> Option<i64> {
        if !self.eat(b'.') {
            return Some(0);
        }
        let mut milli = self.digits(1)? * 100;
        for scale in [10, 1] {
            milli += self.digits(1).unwrap_or_default() * scale;
        }
        let beyond = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.rest = &self.rest[beyond..];
        Some(milli)
    }

    /// The zone's minutes ahead of UTC.
    fn zone(&mut self) -> Option<i64> {
        let sign = match self.rest.first() {
            Some(b'+') => 1,
            Some(b'-') => -1,
            Some(b'Z') => 0,
            _ => return Some(0),
        };
        self.rest = &self.rest[1..];
        if sign == 0 {
            return Some(0);
        }
        let hours = self.digits(2)?;
        let minutes = self.eat(b':').then(|| self.digits(2))??;
        (hours <= 23 && minutes <= 59).then_some(sign * (hours * 60 + minutes))
    }
}

/// Days since 1970-01-01 in the proleptic Gregorian calendar; None for a day that it does not have.
///
/// Years are counted from March, so that a leap day ends its year and every month's first day follows from one formula.
fn days_from_civil(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(leap),
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(year * 365 + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468)
}

/// The reverse of [`days_from_civil`]: eras of 400 years, all equally long, then years counted from March.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let year = era * 400 + year_of_era;
    if month < 10 { (year, month + 3, day) } else { (year + 1, month - 9, day) }
}

#[cfg(test)]
mod tests {
    use super::{format, parse};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_reads_back(ms in super::RANGE) {
            prop_assert_eq!(parse(&format(ms)), Some(ms));
        }
    }

    #[test]
    fn reads_the_format() {
        for (text, ms) in [
            ("1970-01-01T00:00:00.000Z", 0),
            ("2024-12-03T14:00:00.000Z", 1_733_234_400_000),
            ("2024-12-03T14:00", 1_733_234_400_000),
            ("2024-12-03T16:00:00+02:00", 1_733_234_400_000),
            ("+002024-12-03T14:00:00.0009Z", 1_733_234_400_000),
            ("2024-12-03T14:00:00.00012345678901234567890", 1_733_234_400_000),
            ("2024-12-03T13:59:59.99Z", 1_733_234_399_990),
            ("2024-12-02T24:00:00Z", 1_733_184_000_000),
            ("2024-02-29", 1_709_164_800_000),
            ("2024", 1_704_067_200_000),
            ("0001-01-01", -62_135_596_800_000),
            ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
        ] {
            assert_eq!(parse(text), Some(ms), "{text}");
        }
    }

    #[test]
    fn refuses_the_rest() {
        for text in [
            "",
            "not a date",
            "2023-02-29",
            "2024-13-01",
            "2024-00-01",
            "2024-1-1",
            "20240101",
            "2024-01-01 10:00",
            "2024-01-01T10",
            "2024-01-01T10:00:60Z",
            "2024-01-01T24:00:01Z",
            "2024-01-01T10:00:00.Z",
            "2024-01-01T10:00z",
            "2024-01-01T10:00+0200",
            "2024-01-01T10:00Zx",
            "0000-01-01",
            "-000001-01-01",
            "+010000-01-01",
            "0001-01-01T00:00+00:01",
            "12345",
            "2024-01-01Z",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
