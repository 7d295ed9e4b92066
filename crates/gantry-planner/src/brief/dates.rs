//! Dates as people write them, as the first and last day they may mean.
//!
//! `2027` is the whole year, `Q4 2029` a quarter, `late March` ten days, `summer` three months of the half of the earth the
//! place lies in. Without a year the next such day, month or season from today on is meant. `3/12/2027` is left alone:
//! half the world reads March, half December.

use jiff::ToSpan;
use jiff::civil::{Date, Weekday};

use super::page::Page;
use super::tokens::{Kind, is_hyphen};
use super::words::among;

/// The days a phrase may mean, and the token behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Days {
    pub first: Date,
    pub last: Date,
    pub next: usize,
    /// Whether the phrase is a bare year, which is a date only in the right words.
    pub bare_year: bool,
    /// Whether the phrase is a season, which one reaches when it begins.
    pub season: bool,
    /// Whether a month is named without its year.
    pub yearless: bool,
    /// Whether all of the days are meant, from the first to the last: `3 to 17 July`.
    pub all: bool,
}

impl Days {
    pub fn new(first: Date, last: Date, next: usize) -> Self {
        Self { first, last, next, bare_year: false, season: false, yearless: false, all: false }
    }
}

/// What dates depend on.
#[derive(Clone, Copy)]
pub(super) struct Calendar {
    pub today: Date,
    /// Whether the place lies south of the equator.
    pub south: bool,
}

impl Calendar {
    /// The date that begins at a token: a day, a month, a season, a year, or a part of one.
    pub fn date(self, page: &Page<'_>, at: usize) -> Option<Days> {
        self.part(page, at).or_else(|| self.whole(page, at))
    }

    /// `3 to 17 July 2027`, `28 June – 5 July`: all of the days between two.
    pub fn stay(self, page: &Page<'_>, at: usize) -> Option<Days> {
        const DAYS_MAX: i32 = 92;
        let joined = |at: usize| among(page.word(at), "to until till through") || is_hyphen(page.word(at));
        let day = |days: &Days| days.first == days.last;
        let number = page.tokens.get(at).filter(|token| token.kind == Kind::Number && token.text.len() <= 2);
        let bare = number.and_then(|number| integer(number.text)).filter(|number| (1..=31).contains(number));
        let (first, last) = if let Some(number) = bare.filter(|_| joined(at + 1)) {
            let last = self.date(page, at + 2).filter(day)?;
            let first = date_of(last.first.year(), i16::from(last.first.month()), number)?;
            (first, last)
        } else {
            let first = self.date(page, at).filter(day).filter(|first| joined(first.next))?;
            let last = self.date(page, first.next + 1).filter(day)?;
            // The year stands behind the last day.
            let year = if first.yearless { last.first.year() } else { first.first.year() };
            (date_of(year, i16::from(first.first.month()), i16::from(first.first.day()))?, last)
        };
        let length = (last.first - first).get_days();
        (1..=DAYS_MAX).contains(&length).then_some(Days { first, all: true, ..last })
    }

    /// `the end of June`, `mid-2027`, `late March 2026`, `the end of the year`.
    fn part(self, page: &Page<'_>, at: usize) -> Option<Days> {
        let named = |at: usize| among(page.word(at), "end start beginning middle early mid late");
        let inner = at + usize::from(page.word(at) == "the" && named(at + 1));
        if !named(inner) {
            return None;
        }
        let mut next = inner + 1;
        if page.word(next) == "of" || is_hyphen(page.word(next)) {
            next += 1;
        }
        if page.word(next) == "the" {
            next += 1;
        }
        let this_year = page.word(next) == "year" && page.word(inner) == "end";
        let whole = if this_year { whole_year(self.today.year(), next + 1) } else { self.whole(page, next) };
        Some(third(page.word(inner), whole?))
    }

    fn whole(self, page: &Page<'_>, at: usize) -> Option<Days> {
        let token = page.tokens.get(at)?;
        if token.glued && at > 0 && page.tokens[at - 1].kind != Kind::Mark {
            return None;
        }
        match token.kind {
            Kind::Number => self.numeric(page, at),
            Kind::Word => self.worded(page, at),
            Kind::Mark | Kind::Break => None,
        }
    }

    fn numeric(self, page: &Page<'_>, at: usize) -> Option<Days> {
        if page.word(at + 1).starts_with('년') || page.word(at + 1).starts_with('월') {
            return self.korean(page, at);
        }
        let part = |at: usize| {
            page.tokens.get(at).filter(|token| token.kind == Kind::Number).and_then(|token| integer(token.text))
        };
        let first = part(at)?;
        let mark = page.word(at + 1);
        let joined = |at: usize| page.tokens.get(at).is_some_and(|token| token.glued);
        if matches!(mark, "-" | "/" | ".") && page.word(at + 3) == mark && joined(at + 2) && joined(at + 4) {
            let (second, third) = (part(at + 2)?, part(at + 4)?);
            let year_first = page.tokens[at].text.len() == 4;
            let (year, month, day) = match mark {
                _ if year_first => (first, second, third),
                "." => (third, second, first),
                "/" if first > 12 => (third, second, first),
                "/" if second > 12 => (third, first, second),
                _ => return None,
            };
            return one_day(year, month, day, at + 5);
        }
        // `12 March 2027`, `1st of May`.
        let mut month_at = at + 1;
        if joined(month_at) && matches!(page.word(month_at), "st" | "nd" | "rd" | "th") {
            month_at += 1;
        }
        if page.word(month_at) == "of" {
            month_at += 1;
        }
        if (1..=31).contains(&first)
            && page.tokens[at].text.len() <= 2
            && let Some(month) = month(page, month_at)
        {
            let (year, next) = year_at(page, month_at + 1);
            let yearless = year.is_none();
            let year = year.unwrap_or_else(|| self.year_of(month, first));
            return one_day(year, month, first, next).map(|days| Days { yearless, ..days });
        }
        let year = year(page, at)?;
        whole_year(year, at + 1).map(|days| Days { bare_year: true, ..days })
    }

    fn worded(self, page: &Page<'_>, at: usize) -> Option<Days> {
        let word = page.word(at);
        if page.tokens[at].hangul() {
            return self.korean(page, at);
        }
        if let Some(number) = month(page, at) {
            return self.after_month(page, at, number);
        }
        let part_of_year =
            matches!(page.tokens[at].text, "Q" | "H") && page.tokens.get(at + 1).is_some_and(|token| token.glued);
        let name_goes_on = page.tokens.get(at + 2).is_some_and(|token| token.glued && token.kind == Kind::Word)
            || page.word(at + 2) == "fy";
        if part_of_year && !name_goes_on {
            let number = integer(page.word(at + 1))?;
            let length = if word == "q" { 3 } else { 6 };
            let (year, next) = year_at(page, at + 2);
            let first = date_of(year.unwrap_or(self.today.year()), (number - 1).checked_mul(length)? + 1, 1)?;
            (number >= 1 && number * length <= 12).then_some(())?;
            return months(first, length, next);
        }
        if page.says(at, "year end") || page.says(at, "year - end") || page.says(at, "christmas") {
            let next = at
                + if word == "christmas" {
                    1
                } else if page.word(at + 1) == "end" {
                    2
                } else {
                    3
                };
            let day = if word == "christmas" { 24 } else { 31 };
            return one_day(self.today.year(), 12, day, next);
        }
        self.relative(page, at)
    }

    fn after_month(self, page: &Page<'_>, at: usize, month: i16) -> Option<Days> {
        let named_day = page
            .tokens
            .get(at + 1)
            .filter(|token| token.kind == Kind::Number && token.text.len() <= 2)
            .and_then(|token| integer(token.text));
        if let Some(day) = named_day.filter(|day| (1..=31).contains(day)) {
            let mut next = at + 2;
            if matches!(page.word(next), "st" | "nd" | "rd" | "th") {
                next += 1;
            }
            let comma = usize::from(page.word(next) == ",");
            let (year, after) = year_at(page, next + comma);
            let (year, next) = if year.is_some() { (year, after) } else { (None, next) };
            let yearless = year.is_none();
            return one_day(year.unwrap_or_else(|| self.year_of(month, day)), month, day, next)
                .map(|days| Days { yearless, ..days });
        }
        // `Jan. 2027`, `November, 2027`.
        let mark = usize::from(matches!(page.word(at + 1), "." | ",") && year(page, at + 2).is_some());
        let (year, next) = year_at(page, at + 1 + mark);
        // `May` and `March` are words, too: alone they count only with a capital and after a word of time.
        let timely = among(
            page.back(at, 1),
            "in by before until of next this since from through late early mid - – ( during starting after",
        );
        if year.is_none() && !(timely && page.tokens[at].capital()) {
            return None;
        }
        let yearless = year.is_none();
        let first = date_of(year.unwrap_or_else(|| self.year_of(month, 28)), month, 1)?;
        months(first, 1, next).map(|days| Days { yearless, ..days })
    }

    fn relative(self, page: &Page<'_>, at: usize) -> Option<Days> {
        let today = self.today;
        let word = page.word(at);
        let day = |by: i64, mut next: usize| {
            if matches!(page.word(next), "morning" | "evening" | "afternoon" | "night" | "noon") {
                next += 1;
            }
            let day = today.checked_add(by.days()).ok()?;
            Some(Days::new(day, day, next))
        };
        match word {
            "today" | "tonight" => return day(0, at + 1),
            "tomorrow" => return day(1, at + 1),
            _ => {}
        }
        if let Some((month, half)) = term(page, at) {
            let (year, next) = year_at(page, at + 2 + usize::from(page.word(at + 2) == "of"));
            let month = if half && self.south { (month + 5) % 12 + 1 } else { month };
            let first = date_of(year.unwrap_or_else(|| self.year_of(month, 1)), month, 1)?;
            return months(first, 6, next).map(|days| Days { season: true, ..days });
        }
        let (step, noun) = match word {
            "next" => (1, at + 1),
            "this" => (0, at + 1),
            _ => (0, at),
        };
        if let Some(season) = season(page.word(noun)) {
            // A season is a time only in words of time: `in summer`, `before winter 2027`.
            let (year, next) = year_at(page, noun + 1 + usize::from(page.word(noun + 1) == "of"));
            let timely = noun > at || among(page.back(at, 1), "by before until the in during after of early late");
            return (year.is_some() || timely).then(|| self.season(season, year.map_or(Year::Next, Year::Is), next))?;
        }
        if let Some(weekday) = weekday(page.word(noun)) {
            let by = (i64::from(weekday.to_monday_zero_offset()) - i64::from(today.weekday().to_monday_zero_offset()))
                .rem_euclid(7);
            let timely = noun > at || matches!(page.back(at, 1), "by" | "on" | "before" | "until");
            return timely.then(|| day(if by == 0 { 7 } else { by }, noun + 1))?;
        }
        if noun == at {
            return None;
        }
        let first = match page.word(noun) {
            "year" => date_of(today.year() + step, 1, 1)?,
            "month" => today.first_of_month().checked_add(i64::from(step).months()).ok()?,
            "weekend" => {
                let monday = i64::from(today.weekday().to_monday_zero_offset());
                today.checked_add((i64::from(step) * 7 - monday + 5).days()).ok()?
            }
            "week" => {
                let monday = i64::from(today.weekday().to_monday_zero_offset());
                today.checked_add((i64::from(step) * 7 - monday).days()).ok()?
            }
            _ => return None,
        };
        match page.word(noun) {
            "year" => months(first, 12, noun + 1),
            "month" => months(first, 1, noun + 1),
            "weekend" => Some(Days::new(first, first.tomorrow().ok()?, noun + 1)),
            _ => Some(Days::new(first, first.checked_add(6.days()).ok()?, noun + 1)),
        }
    }

    /// The year in which a month and day come next.
    pub fn year_of(self, month: i16, day: i16) -> i16 {
        let this = (i16::from(self.today.month()), i16::from(self.today.day()));
        self.today.year() + i16::from((month, day) < this)
    }

    /// Spring, summer, autumn, winter as 0 to 3; three months each from March on in the north.
    pub fn season(self, season: i16, year: Year, next: usize) -> Option<Days> {
        let month = [3, 6, 9, 12][usize::try_from((season + if self.south { 2 } else { 0 }) % 4).ok()?];
        let first = match year {
            Year::Is(year) => date_of(year, month, 1)?,
            Year::Next => {
                let first = date_of(self.today.year(), month, 1)?;
                if first <= self.today { date_of(self.today.year() + 1, month, 1)? } else { first }
            }
        };
        months(first, 3, next).map(|days| Days { season: true, ..days })
    }
}

pub(super) enum Year {
    Is(i16),
    Next,
}

pub(super) fn integer(text: &str) -> Option<i16> {
    text.parse().ok()
}

pub(super) fn date_of(year: i16, month: i16, day: i16) -> Option<Date> {
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

pub(super) fn one_day(year: i16, month: i16, day: i16, next: usize) -> Option<Days> {
    if !(1000..=2999).contains(&year) {
        return None;
    }
    let day = date_of(year, month, day)?;
    Some(Days::new(day, day, next))
}

pub(super) fn months(first: Date, count: i16, next: usize) -> Option<Days> {
    let last = first.checked_add(i64::from(count).months()).ok()?.yesterday().ok()?;
    Some(Days::new(first, last, next))
}

pub(super) fn whole_year(year: i16, next: usize) -> Option<Days> {
    let (first, last) = (date_of(year, 1, 1)?, date_of(year, 12, 31)?);
    Some(Days::new(first, last, next))
}

/// The first, middle or last third of some days; the end of a span of days is its last day.
fn third(part: &str, days: Days) -> Days {
    let length = (days.last - days.first).get_days();
    let add = |by: i32| days.first.checked_add(i64::from(by).days()).unwrap_or(days.last);
    match part {
        "start" | "beginning" | "early" => Days { last: add(length / 3), bare_year: false, ..days },
        "middle" | "mid" => Days { first: add(length / 3), last: add(length * 2 / 3), bare_year: false, ..days },
        "end" => Days { first: days.last, bare_year: false, ..days },
        _ => Days { first: add(length * 2 / 3), bare_year: false, ..days },
    }
}

/// The year a four-digit number means.
fn year(page: &Page<'_>, at: usize) -> Option<i16> {
    let token = page.tokens.get(at).filter(|token| token.kind == Kind::Number && token.text.len() == 4)?;
    let year = integer(token.text).filter(|year| (1900..=2200).contains(year))?;
    let era = matches!(page.word(at + 1), "bc" | "bce" | "ad" | "%");
    (!era).then_some(year)
}

/// The year at a place and the token behind it; `'08` is a year, too.
fn year_at(page: &Page<'_>, at: usize) -> (Option<i16>, usize) {
    let short =
        page.tokens.get(at + 1).filter(|token| token.kind == Kind::Number && token.glued && token.text.len() == 2);
    if let Some(short) = short.filter(|_| matches!(page.word(at), "'" | "’")).and_then(|token| integer(token.text)) {
        return (Some(2000 + short), at + 2);
    }
    match year(page, at) {
        Some(year) => (Some(year), at + 1),
        None => (None, at),
    }
}

fn month(page: &Page<'_>, at: usize) -> Option<i16> {
    const NAMES: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let token = page.tokens.get(at).filter(|token| token.capital())?;
    let whole = NAMES.iter().position(|name| *name == token.lower);
    let short = || {
        NAMES.iter().position(|name| {
            token.lower.len() == 3 && name.starts_with(&token.lower) || token.lower == "sept" && *name == "september"
        })
    };
    whole.or_else(short).and_then(|place| i16::try_from(place + 1).ok())
}

/// The month in which something begins that people set dates by, and whether it does so half a year later in the south.
fn term(page: &Page<'_>, at: usize) -> Option<(i16, bool)> {
    let second = page.word(at + 1);
    match page.word(at) {
        "heating" if second == "season" => Some((10, true)),
        "ski" | "skiing" if second == "season" => Some((12, true)),
        "school" | "academic" if second == "year" => Some((9, false)),
        _ => None,
    }
}

fn season(word: &str) -> Option<i16> {
    match word {
        "spring" => Some(0),
        "summer" => Some(1),
        "autumn" | "fall" => Some(2),
        "winter" => Some(3),
        _ => None,
    }
}

fn weekday(word: &str) -> Option<Weekday> {
    let day = match word {
        "monday" => Weekday::Monday,
        "tuesday" => Weekday::Tuesday,
        "wednesday" => Weekday::Wednesday,
        "thursday" => Weekday::Thursday,
        "friday" => Weekday::Friday,
        "saturday" => Weekday::Saturday,
        "sunday" => Weekday::Sunday,
        _ => return None,
    };
    Some(day)
}
