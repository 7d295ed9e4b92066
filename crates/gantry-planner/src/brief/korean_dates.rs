//! Dates in Korean.

use jiff::ToSpan;

use super::dates::{Calendar, Days, Year, date_of, integer, months, one_day, whole_year};
use super::page::Page;
use super::tokens::Kind;

impl Calendar {
    /// `2027년 3월 15일`, `내년 여름`, `올해 말`, `다음 달`, `내일`.
    pub fn korean(self, page: &Page<'_>, at: usize) -> Option<Days> {
        let mut at = at;
        let mut year = None;
        let number = |at: usize| {
            page.tokens.get(at).filter(|token| token.kind == Kind::Number).and_then(|token| integer(token.text))
        };
        if let Some(value) = number(at)
            && page.word(at + 1).starts_with('년')
        {
            if !(1900..=2200).contains(&value) {
                return None;
            }
            year = Some(value);
            at += 2;
        } else if let Some(by) =
            [("내년", 1), ("올해", 0), ("내후년", 2)].iter().find(|(word, _)| page.word(at).starts_with(word))
        {
            year = Some(self.today.year() + by.1);
            at += 1;
        }
        if let Some(month) = number(at).filter(|month| (1..=12).contains(month))
            && page.word(at + 1).starts_with('월')
        {
            at += 2;
            if let Some(day) = number(at).filter(|day| (1..=31).contains(day))
                && page.word(at + 1).starts_with('일')
            {
                return one_day(year.unwrap_or_else(|| self.year_of(month, day)), month, day, at + 2);
            }
            return months(date_of(year.unwrap_or_else(|| self.year_of(month, 28)), month, 1)?, 1, at);
        }
        let word = page.word(at);
        let seasons = [("봄", 0), ("여름", 1), ("가을", 2), ("겨울", 3)];
        if let Some((_, season)) = seasons.iter().find(|(name, _)| word.strip_prefix(name).is_some_and(korean_ending)) {
            return self.season(*season, year.map_or(Year::Next, Year::Is), at + 1);
        }
        let here = year.unwrap_or(self.today.year());
        if word.starts_with("상반기") {
            return months(date_of(here, 1, 1)?, 6, at + 1);
        }
        if word.starts_with("하반기") {
            return months(date_of(here, 7, 1)?, 6, at + 1);
        }
        if word.starts_with("연말") || year.is_some() && matches!(word, "말" | "말까지") {
            return one_day(here, 12, 31, at + 1);
        }
        if let Some(year) = year {
            return whole_year(year, at);
        }
        let day = |by: i64, next: usize| {
            let day = self.today.checked_add(by.days()).ok()?;
            Some(Days::new(day, day, next))
        };
        let morning = |next: usize| {
            next + usize::from(
                ["아침", "저녁", "오전", "오후", "밤"].iter().any(|part| page.word(next).starts_with(part)),
            )
        };
        match word {
            _ if word.starts_with("오늘") => day(0, morning(at + 1)),
            _ if word.starts_with("내일") => day(1, morning(at + 1)),
            _ if word.starts_with("모레") => day(2, morning(at + 1)),
            "다음" if page.word(at + 1).starts_with('달') => {
                months(self.today.first_of_month().checked_add(1.months()).ok()?, 1, at + 2)
            }
            "다음" if page.word(at + 1).starts_with('주') => {
                let monday = i64::from(self.today.weekday().to_monday_zero_offset());
                let first = self.today.checked_add((7 - monday).days()).ok()?;
                Some(Days::new(first, first.checked_add(6.days()).ok()?, at + 2))
            }
            _ => None,
        }
    }
}

/// Whether what follows a Korean noun is a particle or a word of time, so that `봄` is spring and `봄비` is not.
fn korean_ending(rest: &str) -> bool {
    matches!(rest, "" | "에" | "까지" | "전" | "전에" | "의" | "부터" | "이" | "은" | "을" | "안에" | "철")
}
