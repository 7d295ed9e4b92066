//! Dates as other tools write them beside our own: `Mon 3/2/26`, `3/2/26 8:00 AM`, `02.03.2026`, `NA`.

use jiff::civil::{Date, Time};

use crate::project::When;

/// Which number comes first where slashes stand between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slashes {
    /// As in `12/31/26`.
    Month,
    /// As in `31/12/26`.
    Day,
}

impl Slashes {
    /// The order in which all of these dates are dates, the month first if both would do; and the first date that would
    /// be another one if the day came first.
    pub fn of<'t>(texts: impl Iterator<Item = &'t str> + Clone) -> (Self, Option<&'t str>) {
        let mut written = texts.filter(|text| text.contains('/'));
        let all = |order| written.clone().all(|text| date_of(text, order).is_some());
        match (all(Self::Month), all(Self::Day)) {
            (true, true) => (Self::Month, written.find(|text| date_of(text, Self::Month) != date_of(text, Self::Day))),
            (false, true) => (Self::Day, None),
            (_, false) => (Self::Month, None),
        }
    }
}

/// The point in time that stands there; none where a tool writes that there is none.
pub fn read(text: &str, slashes: Slashes) -> Result<Option<When>, String> {
    if ["", "na", "n/a", "-"].contains(&text.to_lowercase().as_str()) {
        return Ok(None);
    }
    match text.parse::<When>() {
        Ok(when) => Ok(Some(when)),
        Err(wrong) => date_of(text, slashes).map(Some).ok_or(wrong),
    }
}

/// A day, perhaps with its name before it and a time of day behind it.
fn date_of(text: &str, slashes: Slashes) -> Option<When> {
    let mut words = text.split_whitespace().peekable();
    let weekday = words.next_if(|word| word.starts_with(char::is_alphabetic));
    let numbers = words.next()?;
    let separator = if numbers.contains('/') { '/' } else { '.' };
    let parts: Vec<i16> = numbers.split(separator).map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let [first, second, year] = parts[..] else { return None };
    let (day, month) = if separator == '/' && slashes == Slashes::Month { (second, first) } else { (first, second) };
    let year = if (0..100).contains(&year) { year + 2000 } else { year };
    let date = Date::new(year, month.try_into().ok()?, day.try_into().ok()?).ok()?;
    // A name in another language says nothing here.
    let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    let name = weekday.and_then(|word| word.get(..3)).map(str::to_lowercase);
    let named = name.and_then(|name| names.iter().position(|known| *known == name));
    if named.is_some_and(|at| i8::try_from(at) != Ok(date.weekday().to_monday_zero_offset())) {
        return None;
    }
    let Some(time) = words.next() else { return Some(When::Day(date)) };
    let (hour, minute) = time.split_once(':')?;
    let (hour, minute) = (hour.parse::<i8>().ok()?, minute.get(..2)?.parse().ok()?);
    let hour = match words.next().map(str::to_lowercase).as_deref() {
        Some("pm") if hour < 12 => hour + 12,
        Some("am") if hour == 12 => 0,
        _ => hour,
    };
    Some(When::Local(date.to_datetime(Time::new(hour, minute, 0, 0).ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str, slashes: Slashes) -> String {
        read(text, slashes).map_or_else(|wrong| wrong, |when| when.map_or("none".to_owned(), |when| when.to_string()))
    }

    #[test]
    fn dates_of_other_tools_are_dates() {
        for (text, date) in [
            ("Mon 3/2/26", "2026-03-02"),
            ("3/2/2026", "2026-03-02"),
            ("Mon 3/2/26 8:00 AM", "2026-03-02T08:00:00"),
            ("3/2/26 12:30 PM", "2026-03-02T12:30:00"),
            ("3/2/26 5:00 PM", "2026-03-02T17:00:00"),
            ("Mo 02.03.26", "2026-03-02"),
            ("02.03.2026 17:00", "2026-03-02T17:00:00"),
            ("2026-03-02", "2026-03-02"),
            ("12", "12"),
            ("NA", "none"),
        ] {
            assert_eq!(told(text, Slashes::Month), date, "{text}");
        }
        for wrong in ["Tue 3/2/26", "31/12/26", "3/2", "soon", "3/2/26 25:00", "3/2/26/1"] {
            assert!(told(wrong, Slashes::Month).contains("is not a point in time"), "{wrong}");
        }
    }

    #[test]
    fn what_comes_first_is_seen_from_all_dates() {
        let order = |texts: &[&'static str]| Slashes::of(texts.iter().copied());
        assert_eq!(order(&["3/2/26", "31/3/26"]), (Slashes::Day, None));
        assert_eq!(order(&["3/2/26", "3/31/26"]), (Slashes::Month, None));
        assert_eq!(order(&["Tue 3/2/26"]), (Slashes::Day, None), "the third of February was a Tuesday");
        assert_eq!(order(&["4/4/26", "3/2/26"]), (Slashes::Month, Some("3/2/26")));
        assert_eq!(told("31/12/26", Slashes::Day), "2026-12-31");
    }
}
