//! Which day is this?
//!
//! Dates as people write them: `1971-06-24`, `1971/6/24`, `19710624`, `24.06.1971`, `24/06/1971`; where the last form
//! has a month above 12 it is taken as month, day, year. What follows a time's `T` or a blank does not count.

/// A day of the Gregorian calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// The date that a text is; none where it is no date.
    pub fn parse(text: &str) -> Option<Self> {
        Self::parse_as(text, false)
    }

    /// The date that a text is, of a column whose dates begin with the month or do not.
    pub fn parse_as(text: &str, month_first: bool) -> Option<Self> {
        let text = text.trim().split(['T', ' ']).next()?;
        if text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit()) {
            let number: u32 = text.parse().ok()?;
            return Self::new(number / 10_000, number / 100 % 100, number % 100);
        }
        let parts: Vec<&str> = text.split(['-', '/', '.']).collect();
        let [first, second, third] = parts[..] else { return None };
        let number = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse().ok().filter(|_: &u32| digits)
        };
        let numbers = (number(first)?, number(second)?, number(third)?);
        match (first.len(), third.len()) {
            (4, 1 | 2) => Self::new(numbers.0, numbers.1, numbers.2),
            (1 | 2, 4) => {
                let day_first = || Self::new(numbers.2, numbers.1, numbers.0);
                let month_first_of = || Self::new(numbers.2, numbers.0, numbers.1);
                match month_first {
                    true => month_first_of().or_else(day_first),
                    false => day_first().or_else(month_first_of),
                }
            }
            _ => None,
        }
    }

    /// Whether the dates of a column begin with the month: more of them can only be read so than can only be read the other
    /// way.
    pub fn month_first<'a>(values: impl IntoIterator<Item = &'a str>) -> bool {
        let (mut month, mut day) = (0usize, 0usize);
        for value in values {
            let parts: Vec<&str> = value.trim().split(['-', '/', '.', 'T', ' ']).take(3).collect();
            let [first, second, third] = parts[..] else { continue };
            let above =
                |text: &str| text.parse().is_ok_and(|number: u32| (13..32).contains(&number));
            if first.len() < 3 && third.len() == 4 {
                month += usize::from(above(second) && !above(first));
                day += usize::from(above(first) && !above(second));
            }
        }
        month > day
    }

    /// The date with these numbers; none where the calendar has no such day.
    pub fn new(year: u32, month: u32, day: u32) -> Option<Self> {
        let leap =
            year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let longest = match month {
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        let valid = (1..=9999).contains(&year) && (1..=longest).contains(&day);
        valid.then_some(Self { year: year as u16, month: month as u8, day: day as u8 })
    }

    /// Days since the first of March of the year 0.
    pub fn days(self) -> i32 {
        // Years that begin in March have their leap day at the end.
        let (year, month) = match self.month {
            3.. => (i32::from(self.year), i32::from(self.month) - 3),
            _ => (i32::from(self.year) - 1, i32::from(self.month) + 9),
        };
        let before_month = (153 * month + 2) / 5;
        365 * year + year / 4 - year / 100 + year / 400 + before_month + i32::from(self.day) - 1
    }

    /// How many of the eight digits differ; a swap of two neighbours counts as one, and so does one of day and month.
    pub fn differing(self, other: Self) -> u32 {
        let exchanged = |date: Self| Self { month: date.day, day: date.month, ..date };
        let swapped =
            digits_apart(self, exchanged(other)).min(digits_apart(exchanged(self), other));
        digits_apart(self, other).min(1 + swapped)
    }

    fn digits(self) -> [u8; 8] {
        let (year, month, day) = (self.year, u16::from(self.month), u16::from(self.day));
        let digits = [year / 1000, year / 100, year / 10, year, month / 10, month, day / 10, day];
        digits.map(|digit| (digit % 10) as u8)
    }
}

fn digits_apart(a: Date, b: Date) -> u32 {
    let (a, b) = (a.digits(), b.digits());
    let mut apart = 0;
    let mut at = 0;
    while at < 8 {
        if a[at] != b[at] {
            apart += 1;
            let swapped = at + 1 < 8 && a[at] == b[at + 1] && a[at + 1] == b[at];
            at += usize::from(swapped);
        }
        at += 1;
    }
    apart
}

impl std::fmt::Display for Date {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> Date {
        Date::parse(text).unwrap_or_else(|| panic!("{text} is a date"))
    }

    #[test]
    fn dates_are_read_as_people_write_them() {
        for text in
            ["1971-06-24", "1971/6/24", "19710624", "24.06.1971", "06/24/1971", "1971-06-24T10:00"]
        {
            assert_eq!(date(text).to_string(), "1971-06-24", "{text}");
        }
        for text in
            ["", "1971", "1971-13-01", "1971-02-29", "31/04/1971", "a-b-c", "+1/2/1971", "1/2/3"]
        {
            assert_eq!(Date::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_column_says_whether_the_month_comes_first() {
        let american = ["03/04/1958", "05/22/1963", "12/31/1999"];
        assert!(Date::month_first(american));
        let read = Date::parse_as(american[0], true).expect("a date");
        assert_eq!(read.to_string(), "1958-03-04");
        assert!(!Date::month_first(["03/04/1958", "22/05/1963"]));
        assert!(!Date::month_first(["1958-03-04", "1963-05-22"]));
        // One that has no month of this number is read the other way.
        assert_eq!(Date::parse_as("22/05/1963", true), Some(date("1963-05-22")));
    }

    #[test]
    fn days_follow_the_calendar() {
        for (a, b, apart) in [
            ("2000-02-28", "2000-03-01", 2),
            ("1900-02-28", "1900-03-01", 1),
            ("1999-12-31", "2000-01-01", 1),
            ("1970-01-01", "2026-11-16", 20_773),
        ] {
            assert_eq!(date(b).days() - date(a).days(), apart, "{a} {b}");
        }
    }

    #[test]
    fn digits_that_differ_are_counted() {
        for (a, b, apart) in [
            ("1971-06-24", "1971-06-24", 0),
            ("1971-06-24", "1971-05-24", 1),
            ("1971-06-24", "1917-06-24", 1),
            ("1971-06-04", "1971-04-06", 1),
            ("1971-06-24", "1982-07-11", 5),
        ] {
            assert_eq!(date(a).differing(date(b)), apart, "{a} {b}");
            assert_eq!(date(b).differing(date(a)), apart, "{b} {a}");
        }
    }
}
