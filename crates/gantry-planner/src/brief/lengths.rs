//! Lengths of time, and how surely each holds for the whole project.

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

use super::page::{Count, Page};
use super::tokens::{Kind, is_hyphen};
use super::words::{self, among};
use super::{Length, Unit};

/// The length of time at a place: `3-year`, `10–15+ years`, `two weeks`, `6개월`, `72 hours`.
pub(super) fn length(page: &Page<'_>, at: usize) -> Option<(Length, usize)> {
    let glued = page.tokens[at].glued
        && at > 0
        && !matches!(page.tokens[at - 1].text, "(" | "~" | "—" | "\"" | "“" | "≤" | "<" | ">");
    if glued {
        return None;
    }
    let count = page.count(at).or_else(|| one(page, at))?;
    let mut unit_at = count.next;
    if is_hyphen(page.word(unit_at)) {
        unit_at += 1;
    }
    if among(page.word(unit_at), "quarter quarters") && !among(page.word(unit_at + 1), "of past to") {
        let three = |value: Decimal| value.checked_mul(Decimal::from(3));
        let low = count.low.and_then(three);
        return Some((exact(Count { high: three(count.high)?, low, ..count }, Unit::Months)?, unit_at + 1));
    }
    let (unit, next) = unit(page, unit_at)?;
    Some((exact(count, unit)?, next))
}

/// `a year`, `half a year` are counts, too.
fn one(page: &Page<'_>, at: usize) -> Option<Count> {
    let timely = matches!(page.back(at, 1), "in" | "within" | "over" | "for");
    (matches!(page.word(at), "a" | "an") && timely).then_some(Count {
        low: None,
        high: Decimal::ONE,
        open: false,
        next: at + 1,
    })
}

fn unit(page: &Page<'_>, at: usize) -> Option<(Unit, usize)> {
    let word = page.word(at);
    let unit = match word {
        "minute" | "minutes" | "min" | "mins" => Unit::Minutes,
        "hour" | "hours" | "hr" | "hrs" => Unit::Hours,
        // `11h00` is a time of day.
        "h" if page.tokens[at].glued
            && !page.tokens.get(at + 1).is_some_and(|next| next.glued && next.kind == Kind::Number) =>
        {
            Unit::Hours
        }
        "day" | "days" => Unit::Days,
        "week" | "weeks" => Unit::Weeks,
        "month" | "months" => Unit::Months,
        "year" | "years" | "yr" | "yrs" => Unit::Years,
        _ if word.starts_with("분") && korean_length(&word["분".len()..]) => Unit::Minutes,
        _ if word.starts_with("시간") && korean_length(&word["시간".len()..]) => Unit::Hours,
        _ if word.starts_with("일") && korean_length(&word["일".len()..]) => Unit::Days,
        _ if word.starts_with("주") && korean_length(&word["주".len()..]) => Unit::Weeks,
        _ if word.starts_with("개월") && korean_length(&word["개월".len()..]) => Unit::Months,
        _ if word.starts_with("달") && korean_length(&word["달".len()..]) => Unit::Months,
        _ if word.starts_with("년") && korean_length(&word["년".len()..]) => Unit::Years,
        _ => return None,
    };
    Some((unit, at + 1))
}

fn korean_length(rest: &str) -> bool {
    matches!(
        rest,
        "" | "간"
            | "동안"
            | "안에"
            | "내"
            | "내에"
            | "이내"
            | "이내에"
            | "짜리"
            | "만에"
            | "간의"
            | "의"
            | "일"
    )
}

/// A length in whole units: `1.5 years` are 18 months.
fn exact(count: Count, unit: Unit) -> Option<Length> {
    let whole = |value: Decimal| value.is_integer().then(|| value.to_u32()).flatten();
    let low = count.low.unwrap_or(count.high);
    if let (Some(high), Some(low)) = (whole(count.high), whole(low)) {
        return Some(Length { count: high, from: count.low.is_some().then_some(low), unit, open: count.open });
    }
    let (factor, smaller) = match unit {
        Unit::Years => (12, Unit::Months),
        Unit::Months => (30, Unit::Days),
        Unit::Weeks => (7, Unit::Days),
        Unit::Days => (24, Unit::Hours),
        Unit::Hours => (60, Unit::Minutes),
        Unit::Minutes => return None,
    };
    let times = |value: Decimal| value.checked_mul(Decimal::from(factor)).map(|value| value.round());
    Some(Length {
        count: whole(times(count.high)?)?,
        from: count.low.and_then(|low| whole(times(low)?)),
        unit: smaller,
        open: count.open,
    })
}

/// How surely a length holds for the whole project.
///
/// Strongest is a label ("Timeline:"), then a noun for the undertaking behind it ("3-year programme"), then "over" and
/// "within" near the start. Lengths of phases, of ages and of what has been count for nothing.
pub(super) fn weight(page: &Page<'_>, at: usize, next: usize) -> u32 {
    let sentence = page.around(at);
    let number = page.sentence_of(at).unwrap_or(0);
    let has = |words: &[&str]| sentence.clone().any(|at| words.contains(&page.word(at)));
    let follows =
        |words: &[&str], by: usize| (next..(next + by).min(sentence.end)).any(|at| words.contains(&page.word(at)));
    let topic = page.topic(at);
    if follows(&["ago", "old", "per", "experience", "lease", "later", "after", "earlier", "apart"], 2)
        || among(page.back(at, 1), "every per first last than nearly takes each least aged")
        || has(&["probability", "success", "scheduled", "lasts"])
        || topic.contains("success")
    {
        return 0;
    }
    let one_of_many = page.back(at, 1) == "(" && matches!(page.word(at.saturating_sub(2)), "phase")
        || (2..=3).any(|by| page.back(at, by) == "phase");
    if one_of_many {
        return 0;
    }
    let first_in_sentence = !(sentence.start..at).any(|at| length(page, at).is_some());
    let labels = ["timeline", "timeframe", "time frame", "duration", "schedule", "기간", "일정"];
    let labelled = page.sentence_of(at).is_some_and(|number| {
        let sentence = &page.sentences[number];
        let own = sentence.label.clone().map(|label| page.lower(label)).unwrap_or_default();
        labels.iter().any(|label| own.contains(label) || sentence.heading && topic_of(page, number).contains(label))
    });
    if labelled && first_in_sentence {
        return 10;
    }
    if has(&["timeline", "timeframe", "duration"]) && first_in_sentence {
        return 9;
    }
    let early = number <= 2;
    let undertaking = (next..(next + 9).min(sentence.end))
        .take_while(|at| !among(page.word(*at), "for of covering ( ; . that with"))
        .any(|at| {
            words::is_undertaking(page.word(at)) && page.word(at) != "pilot" || early && page.word(at) == "pilot"
        });
    let hyphen = is_hyphen(page.word(next.saturating_sub(2)));
    let adjacent = words::is_undertaking(page.word(next)) && page.word(next) != "pilot";
    if undertaking && (hyphen || early) || adjacent {
        return if early { 8 } else { 5 };
    }
    let bare = matches!(page.back(at, 1), "," | "(") && matches!(page.word(next), "," | ")" | "." | "");
    if number == 0 && bare {
        return 4;
    }
    if number == 0 && page.word(next) == "to" && has(&["have"]) {
        return 6;
    }
    let relative = page.word(next) == "of";
    let korean = page.tokens.get(next.saturating_sub(1)).is_some_and(super::tokens::Token::hangul);
    let sure =
        has(&["budget", "total", "plan", "project", "initiative", "program", "programme", "phases", "program's"]);
    match page.back(at, 1) {
        _ if relative => 0,
        _ if korean => 6,
        "over" => {
            if number == 0 || sure {
                6
            } else {
                3
            }
        }
        "within" | "in" | "next" if number == 0 => 6,
        "within"
            if at.checked_sub(1) == Some(sentence.start)
                || (sentence.start..at).any(|at| page.word(at) == "must")
                    && !(sentence.start..at).any(|at| page.word(at) == "first") =>
        {
            5
        }
        "for" if number == 0 => 4,
        _ => 0,
    }
}

fn topic_of(page: &Page<'_>, number: usize) -> String {
    page.lower(page.sentences[number].tokens.clone())
}
